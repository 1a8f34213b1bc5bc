"""Every sentence of verdict, warnings, audit and stress, produced from real data, and true of them.

`VERDICT`, `WARNINGS`, `CHECKS` and `STRESS` list the sentences as patterns, each with cases in which it must appear.
A sentence that matches no pattern fails: new sentences are added here.
"""

import re
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from evaluation.arenas import cloned, leads, played
from nashboard._types import Floats
from nashboard.charts.boards import describe_top

N = r"[\d,]+"
ONCE = "(, copies counted once,)?"
P = r"\d\.\d\d"
WHO = r"\S+( \d+)?"
SHARED = "shared skills"
OPEN = r"( On \d+ tasks? without a shared skill the \w+ differ by more than .* numbers of items\.)?"
OPEN += r"( \d+ (is|are) uncertain and counts? in some of the draws\.)?"
REASON = "(differs? by less than|shows? no difference|shares? no skill with) .*"
NAMES = r".+ \(\d\.\d\d\)( and [\d,]+ more)?"


def ladder(strengths: Floats, games: int, seed: int, *, met: str = "all") -> nb.Matches:
    """Return games of agents on a ladder: of all pairs, or of all with the first."""
    matches = played(np.random.default_rng(seed), np.subtract.outer(strengths, strengths), games)
    kept = (matches.pairs[:, 0] == 0) | (met == "all")
    counts = {name: getattr(matches, name)[kept] for name in ("pairs", "wins", "draws", "losses")}
    return nb.Matches(agents=matches.agents, **counts)


def table(kind: str, seed: int = 3) -> nb.Scores:
    """Return a table of twelve agents: one skill on six tasks, beside tasks on which everybody guesses or none."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.25, 0.85, 12)
    truth = np.column_stack([*[skill ** rng.uniform(0.5, 2) for _ in range(6)], *[np.full(12, 0.25)] * 8])
    if kind in ("plain", "holes", "unknown", "mixed"):
        truth = truth[:, :6]
    items = np.full(truth.shape, 400.0)
    values = rng.binomial(400, truth) / 400
    if kind == "holes":
        values[0, 0] = values[3, 2] = np.nan
    if kind == "mixed":
        items[:, :3] = np.nan
    return nb.Scores.from_array(values, n=None if kind == "unknown" else items)


def from_name(name: str) -> nb.Matches | nb.Scores | nb.Payoffs:
    return nb.load_dataset(name)


CYCLE = np.array([[0, 80, 20], [20, 0, 80], [80, 20, 0.0]])
STAR = np.array([0, 0.9, 0.5, 0.2, -0.1, -0.6, -1.1])


@cache
def evaluation(case: str) -> nb.Evaluation:
    rng = np.random.default_rng(17)
    steps = np.linspace(1.2, -1.2, 8)
    if case == "ladder":
        return nb.evaluate(ladder(steps, 60, 1), call="players")
    if case == "steep":
        return nb.evaluate(ladder(3 * steps, 300, 5))
    if case == "close":
        return nb.evaluate(ladder(np.array([0.4, 0.2, -1, -1.5, -2]), 30, 2))
    if case == "even":
        return nb.evaluate(ladder(np.zeros(8), 6, 8))
    if case == "thin":
        return nb.evaluate(ladder(np.linspace(0.5, -0.5, 5), 4, 9))
    if case == "two":
        return nb.evaluate(ladder(np.array([1.5, -1.5]), 60, 4))
    if case == "star":
        return nb.evaluate(ladder(STAR, 50, 7, met="first"))
    if case == "newcomer":
        won = [[0, 28, 31, 33, 0], [22, 0, 27, 30, 0], [19, 23, 0, 26, 0], [17, 20, 24, 0, 0], [4, 4, 0, 0, 0]]
        return nb.evaluate(nb.Matches.from_counts(won))
    if case == "inverted":
        skill = np.linspace(0.2, 0.9, 8)[:, None]
        return nb.evaluate(nb.Scores.from_array(np.hstack([skill + rng.normal(0, 0.02, (8, 5)), 1 - skill])))
    if case == "both directions":
        return nb.evaluate(nb.Scores.from_array(rng.random((5, 4)), lower_is_better=[False, False, False, True]))
    if case == "units":
        return nb.evaluate(nb.Scores.from_array(rng.random((5, 4)) * [1, 1, 1, 100]))
    if case == "neighbours":
        strength, order = np.linspace(2, -2, 20), np.arange(20)
        near = np.triu(np.abs(order[:, None] - order) <= 3, 1)
        taken = rng.binomial(20 * near, 1 / (1 + np.exp(strength - strength[:, None])))
        return nb.evaluate(nb.Matches.from_counts(taken + (20 * near - taken).T))
    if case == "draws":
        return nb.evaluate(nb.Matches.from_counts(np.zeros((4, 4)), draws=10 * (1 - np.eye(4))))
    if case == "cycle":
        return nb.evaluate(nb.Matches.from_counts(CYCLE))
    if case == "weak cycles":
        return nb.evaluate(played(rng, leads(rng, 10, spread=1.2, cyclic=0.35), 400))
    if case == "strong cycles":
        return nb.evaluate(played(rng, leads(rng, 12, spread=0.8, cyclic=0.8), 400))
    if case == "rotation":
        rng = np.random.default_rng(3)
        return nb.evaluate(played(rng, leads(rng, 8, spread=0.3, cyclic=0.9), 20))
    if case == "exact":
        return nb.evaluate(nb.Matches.from_counts(CYCLE), noise="none")
    if case == "exact ladder":
        return nb.evaluate(ladder(steps, 60, 1), noise="none")
    if case == "rates":
        return nb.evaluate(from_name("alphago"))
    if case == "copies":
        return nb.evaluate(cloned(ladder(steps, 60, 1), 2, 3))
    if case == "alike":
        return nb.evaluate(ladder(np.array([1.0, -1, 0.2, 0.2, 0.2, 0.2]), 300, 3))
    if case == "unbeaten":
        return nb.evaluate(nb.Matches.from_counts([[0, 9, 3], [0, 0, 8], [0, 2, 0]]), n_resamples=50)
    if case == "payoffs":
        return nb.evaluate(from_name("roshambo"))
    if case == "payoffs with errors":
        A = np.subtract.outer(steps, steps)
        return nb.evaluate(nb.Payoffs(agents=tuple("abcdefgh"), A=A, stderr=np.full(A.shape, 0.2), scale="logit"))
    if case == "several equilibria":
        return nb.evaluate(from_name("suite-4"), noise="none")
    if case == "groups":
        W = np.zeros((5, 5))
        W[0, 1], W[1, 0], W[1, 2], W[2, 0], W[3, 4] = 18, 12, 16, 14, 3
        return nb.evaluate(nb.Matches.from_counts(W), components="largest")
    if case == "probably":
        return nb.evaluate(nb.Matches.from_counts([[0, 18, 20], [14, 0, 17], [12, 15, 0]]))
    if case == "small circle":
        return nb.evaluate(nb.Matches.from_counts([[0, 9, 0], [6, 0, 8], [7, 0, 0]]))
    if case == "constant task":
        values = table("plain").values.copy()
        values[:, 1] = 1.0
        return nb.evaluate(nb.Scores.from_array(values, n=np.full(values.shape, 400.0)), call="models")
    if case == "task twice":
        plain = table("plain")
        values = np.column_stack([plain.values, plain.values[:, :1]])
        return nb.evaluate(nb.Scores.from_array(values, n=np.full(values.shape, 400.0)))
    if case == "guessed, noise unknown":
        return nb.evaluate(nb.Scores.from_array(table("guessed").values))
    if case == "tasks of their own":
        shared = rng.normal(size=(12, 1)) + 0.3 * rng.normal(size=(12, 10))
        return nb.evaluate(nb.Scores.from_array(np.hstack([shared, rng.normal(size=(12, 4))])))
    if case == "noise":
        return nb.evaluate(nb.Scores.from_array(rng.binomial(300, 0.5, (6, 4)) / 300, n=np.full((6, 4), 300.0)))
    if case == "few":
        return nb.evaluate(nb.Scores.from_array([[0.81, 0.70, 0.55], [0.78, 0.72, 0.50]]))
    if case == "two alike":
        return nb.evaluate(nb.Matches.from_counts([[0, 11], [9, 0]]))
    if case == "one score":
        return nb.evaluate(nb.Scores.from_array([[1200.0], [1100.0], [1150.0]]))
    if case == "exact atari":
        return nb.evaluate(from_name("atari"), noise="none")
    if case == "exact scores":
        return nb.evaluate(from_name("suite-3"), noise="none")
    return nb.evaluate(table(case), call="models")


VERDICT = {
    rf"{WHO}( and {N} alike)? is first \(P = {P}\)\.": {
        "steep", "two", "payoffs with errors", "plain", "alike", "unbeaten",
    },
    rf"{WHO}( and {N} alike)? is first with P = {P}; next (is|are) {NAMES}\.( Everybody else is below {P}\.)?": {
        "ladder", "close", "star", "copies",
    },
    rf"{WHO} is probably first with P = {P}; next (is|are) {NAMES}\.( Everybody else is below {P}\.)?": {"probably"},
    rf"{WHO} \({P}\) is first\. {NAMES} may share it\.": {"groups"},
    rf"First place is undecided: the candidates are {NAMES}\.( Everybody else is below {P}\.)?": {
        "even", "thin", "two alike",
    },
    rf"({N} of|All) {N} \w+ share first place: {NAMES}\.( {NAMES} may share it\.)?": {"cycle"},
    rf"{N} of {N} \w+ are at the top with a probability of at least 1/2: {NAMES}\. Whether .* is undecided\.": {
        "rotation",
    },
    rf"(agent {N} played \d games?(; )?)+\.": {"newcomer"},
    r"First place depends on 'task 6', .*: if a low one is, pass lower_is_better=\['task 6'\] \(.*\)\.": {"inverted"},
    r"All 4 agents are equivalent: nothing in these data separates them\.": {"draws"},
    rf"{WHO} is first: it is the only member of the equilibrium\.": {"exact ladder", "rates"},
    rf"({N} of|All) {N} agents share first place: [^(]*\.": {"exact", "payoffs", "exact scores"},
    r"A ladder explains these results: no cycles .*, so the order is close to that of (Elo|plain averages)\.": {
        "ladder", "steep", "copies", "payoffs with errors",
    },
    r"No cycles of more than 9 Elo points are shown, but these data could miss them; the order is close to .* Elo\.": {
        "thin", "even",
    },
    r"No cycles of more than 9 Elo points are shown, but these data could miss them\.": {"small circle"},
    r"These results cannot show cycles, since no agents form a loop of matches: the order is that of a ladder\.": {
        "star",
    },
    r"A ladder explains most of these results; cycles are \d+% of the variance of the payoffs\.": {"weak cycles"},
    r"Cycles matter here: they are \d+% of the variance of the payoffs, and one rating cannot show them\.": {"cycle"},
    r"No near-duplicates are shown\.": {"cycle"},
    rf"(No near-duplicates are shown; )?{N} of {N} pairs of \w+{ONCE} cannot be ordered with these data\.": {
        "ladder", "even", "copies",
    },
    r"(No near-duplicates are shown; all|All) pairs of \w+ can be ordered\.": {"steep"},
    rf"{N} of {N} tasks (tells? the \w+ apart|measures? {SHARED}): .*?\.( Set aside: ({N} {REASON}(; )?)+\.)?{OPEN}": {
        "guessed", "guessed, noise unknown", "tasks of their own",
    },
    r"No single task tells the \w+ apart beyond noise\.": {"noise", "few"},
    rf"{N} of {N} tasks decides? who is first(?: in at least half of the draws)?: .*\.": {"exact atari"},
    r"No standard errors are given: differences that (one shared .* does|.* shared skills do) not .* be noise\.": {
        "unknown", "guessed, noise unknown",
    },
    r"No standard errors are given, and so few scores cannot show them: intervals rest on the model's prior\.": {"few"},
    r"Standard errors are given for some tasks; on the others, differences that .* do not explain may be noise\.": {
        "mixed",
    },
    r"The scores are taken as exact: there are no intervals\.": {"exact scores"},
    rf"{WHO} is (higher|lower) on this board: place [\d-]+ by Nash average and [\d-]+ by (Elo|mean)(, mostly .*)?\.": {
        "strong cycles",
    },
    rf"{N} \w+, {N} (games|win rates), (every pair|\d+% of the pairs) met\.": {"ladder", "star", "rates"},
    rf"{N} \w+, {N} tasks?(, {N} of {N} scores missing)?\.": {"plain", "holes"},
    r"\d+ agents, payoffs (as given|with errors)\.": {"payoffs", "payoffs with errors"},
}  # fmt: skip
WARNINGS = {
    r"There is no mean column: on 'task 4' a low score is good, .*\.": {"both directions"},
    r"Tasks have different units, .* most of the plain mean is 'task 4' \(.*\)\.": {"units"},
    r"Only the largest group of connected agents is evaluated; left out: .*\.": {"groups"},
    r"One group of (agents|tasks) has identical (data|results) \(.*\): each group counts once; the plain .*\.": {
        "copies",
        "task twice",
    },
    rf"Some agents are probably the same under several names \(P = {P}\); all numbers are averages .*\.": {"alike"},
    r"Probable near-duplicates are pooled and share their data: .*\. pool=False .* keeps them apart\.": {"alike"},
    r".* never lost a game: only the prior limits the rating\.": {"unbeaten"},
    r"The schedule may follow strength \(divisions, matchmaking\): .* may be too narrow\.": {"neighbours"},
    r"50 draws are few: the ends of intervals are rough below 100\.": {"unbeaten"},
    r"There is one score per agent and nothing shows its noise: .* for intervals\.": {"one score"},
    r"The win rates come without numbers of games: they are taken as exact, and there are no intervals\.": {"rates"},
    r"The payoffs have neither standard errors nor numbers of games: they are taken as exact\.": {"payoffs"},
    r"There are several equilibria: the weights are those of maximum entropy\.": {"several equilibria"},
    r"Tasks with one score for everybody have no range and are left out: .*\.": {"constant task"},
}
CASES = sorted({case for cases in [*VERDICT.values(), *WARNINGS.values()] for case in cases})


def pattern_of(line: str, patterns: dict[str, set[str]]) -> str:
    """Return the only pattern that matches a sentence."""
    found = [pattern for pattern in patterns if re.fullmatch(pattern, line)]
    assert len(found) == 1, (line, found)
    return found[0]


@pytest.mark.thin(2)
@pytest.mark.parametrize("case", CASES)
def test_a_case_says_what_it_must_and_nothing_that_is_not_listed(case: str) -> None:
    found = evaluation(case)
    verdict = {pattern_of(line, VERDICT) for line in found.verdict}
    assert {pattern for pattern, cases in VERDICT.items() if case in cases} <= verdict
    bundled = found.data is not None and found.data.origin.source.startswith("dataset")
    warnings = {pattern_of(line, WARNINGS) for line in found.warnings if not bundled or "equilibria" in line}
    if not bundled:
        assert {pattern for pattern, cases in WARNINGS.items() if case in cases} <= warnings


@pytest.mark.parametrize("case", CASES)
def test_the_headline_is_true_of_the_board(case: str) -> None:
    found = evaluation(case)
    line, board = found.verdict[0], found.board
    likely = {name for name, p in zip(board.names, board.probability_top, strict=True) if p >= 0.5}
    classes = {int(board.classes[board.names.index(name)]) for name in likely}
    if " is first" in line and " may share it" not in line:
        assert len(classes) == 1
        assert re.split(r" is first| and | \(", line)[0] in likely
    if "share first place:" in line and " may share it" not in line:
        assert line.startswith((f"{len(classes)} of ", f"All {len(classes)} "))
    if "undecided: the candidates" in line:
        assert not likely or len(set(board.classes.tolist())) == 2
    if " is probably first" in line:
        n, p = len(set(board.classes.tolist())), max(board.probability_top)
        assert (len(classes), line.split(" is probably")[0]) == (1, *likely)
        assert p / (1 - p) < 19 / (n - 1)
    if below := re.search(r"Everybody else is below (\d\.\d\d)", line):
        said = re.findall(r"\(\d\.\d\d\)|with P = ", line)
        more = re.search(r"and (\d+) more", line)
        chances = sorted({int(c): p for c, p in zip(board.classes, board.probability_top, strict=True)}.values())
        named = len(said) + (int(more[1]) if more else 0)
        assert chances[-named - 1] < float(below[1])
    if "the order is close to that of" in " ".join(found.verdict):
        elo = board.uniform if board.rating is None else board.rating.values
        assert np.corrcoef(elo, -board.gaps)[0, 1] > 0.9
    for line in found.verdict:
        if match := re.search(rf"(\d+) of (\d+) pairs of \w+{ONCE} cannot be ordered", line):
            assert found.problem is not None
            assert bool(match[3]) is (len(set(board.classes.tolist())) < len(found.agents))
            gaps, unclear = found.problem.draws.gaps, 0
            for a, b in combinations(gaps.T, 2):
                above, below = (a < b - 1e-9).mean(), (b < a - 1e-9).mean()
                unclear += max(above, below, 1 - above - below) < board.level
            assert (int(match[1]), int(match[2])) == (unclear, gaps.shape[1] * (gaps.shape[1] - 1) // 2)


CHECKS: dict[str, dict[bool | None, tuple[str, set[str]]]] = {
    "agents are entered once": {
        True: (r"every two agents differ", {"steep"}),
        False: (r"(identical data|near-duplicates): .*", {"copies", "alike"}),
        None: (r"undecided: .*", {"even", "exact", "rates", "unknown"}),
    },
    "same winner without copies of agents": {
        True: (r"there is nothing to merge|merging them changes no winner", {"steep", "alike"}),
        False: (r"merging them changes the winner of .*", set()),
        None: (r"undecided: no copies were found, and none can be ruled out", {"even"}),
    },
    "first place survives the loss of one agent": {
        True: (r"removing any single agent does not change first place among the others", {"ladder"}),
        False: (r"removing .* changes first place among the others", {"cycle"}),
        None: (r"removing most agents does not change first place among the others; .*", set()),
    },
    "ratings are enough": {
        True: (r"ratings explain .*; the residual is within noise \(p = .*\)", {"ladder"}),
        False: (r"ratings explain .*; the residual is larger than noise \(p = .*\)", {"cycle", "weak cycles"}),
        None: (r"ratings .*; it is unknown whether the residual is noise: .*|ratings .*, but no cycles of more than .*",
               {"star", "rates", "two"}),
    },
    "coverage": {
        True: (r"every pair .* met: 28 of 28 pairs .*|the table is complete: 72 of 72 scores .*", {"ladder", "plain"}),
        False: (r"pairs .* that met: 6 of 21 .*; the others are filled by the model.*|.*: 70 of 72 .*", {"star"}),
    },
    "one equilibrium": {
        True: (r"there is one equilibrium, .*", {"ladder"}),
        False: (r"there are several equilibria; .*", {"several equilibria"}),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "passed", "case"),
    [
        (name, passed, case)
        for name, all_ in CHECKS.items()
        for passed, (_, cases) in all_.items()
        for case in sorted(cases)
    ],
)
def test_a_check_says_the_same_as_its_answer(name: str, passed: bool | None, case: str) -> None:
    found = next(one for one in evaluation(case).audit().checks if one.name == name)
    assert found.passed is passed
    assert re.fullmatch(CHECKS[name][passed][0], found.sentence)


STRESS: tuple[tuple[str, dict[str, Any], str], ...] = (
    (r"uniform average: with 1 copy \(of 1, 3 tried\) the winner changes from .* to .*\..*", {}, "cycle"),
    (r"Elo: with 1 copy \(of 1, 3 tried\) the winner changes from .* to .*\..*", {}, "cycle"),
    (r"Elo: the winner stays .*\. (No rank moves; scores move by up to .*|.* moves from rank .*)", {}, "steep"),
    (r"Nash average: did not move\. The largest change of any average is 0\.0e\+00; .*", {}, "cycle"),
    (r"Noisy copies are not exact, and they can move the board: with .*", {"draws": 2}, "ladder"),
    (r"no noisy copies: the noise of these data is unknown", {"draws": 2}, "rates"),
)


@pytest.mark.parametrize(("pattern", "options", "case"), STRESS)
def test_stress_says_what_happened(pattern: str, options: dict[str, Any], case: str) -> None:
    found = evaluation(case).stress(**{"copies": [1, 3], "targets": [], "draws": 0, **options})
    assert any(re.fullmatch(pattern, line) for line in (*found.verdict(), *found.notes)), found.verdict()


def test_where_copies_are_counted_stress_says_which_setting_counts_them() -> None:
    scores = nb.Scores.from_array(np.array([[3.0, 1, 2], [2, 3, 1], [1, 2, 3]]))
    ranked = nb.evaluate(scores, scaling="rank", noise="none").stress(kind="agents", copies=[2], targets=[], draws=0)
    said = " ".join(ranked.verdict())
    assert ("scaling='rank' counts copies" in said) is not ranked.nash_unmoved


def test_the_brief_headline_is_no_surer_than_the_headline() -> None:
    assert repr(evaluation("two alike")) == "Evaluation(2 agents: First place is undecided)"
    assert "may share first place" in repr(evaluation("rotation"))
    assert " first)" in repr(evaluation("steep"))


@pytest.mark.parametrize("case", ["steep", "close", "even", "ladder", "probably"])
def test_the_title_of_the_chart_begins_the_verdict(case: str) -> None:
    found = evaluation(case)
    assert found.verdict[0].startswith(describe_top(found.board))
