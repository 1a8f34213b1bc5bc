"""Every sentence of verdict, warnings, audit and stress, produced from real data, and true of them.

`VERDICT`, `WARNINGS`, `CHECKS` and `STRESS` list the sentences as patterns, each with cases in which it must appear.
A sentence that matches no pattern fails: new sentences are added here.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from arenas import cloned, data_of, leads, play, played
from nashboard._types import Floats
from nashboard.charts.boards import describe_top
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.headline import headline
from nashboard.evaluation.board.verdict import describe_few_games

N = r"[\d,]+"
ONCE = "(, copies counted once,)?"
P = r"\d\.\d\d"
WHO = r"\S+( \d+)?"
SAME = rf"( = {WHO}| and {N} copies)?"
SHARED = "shared skills"
OPEN = r"( On \d+ tasks? without a shared skill the \w+ differ by more than .* numbers of items\.)?"
OPEN += r"( \d+ (is|are) uncertain and counts? in some of the draws\.)?"
REASON = "(differs? by less than|shows? no difference|shares? no skill with) .*"
NAMES = r".+ \(\d\.\d\d\)( and [\d,]+ more)?"
NEXT = f"; next (is|are) {NAMES}"
BELOW = f" All other [a-z]+ are below {P}\\."
THEN = rf"( Next (is|are) {NAMES}\.)?"


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


CYCLE = np.array([[0, 80, 20], [20, 0, 80], [80, 20, 0.0]])
STAR = np.array([0, 0.9, 0.5, 0.2, -0.1, -0.6, -1.1])
STEPS = np.linspace(1.2, -1.2, 8)
NEWCOMER = [[0, 28, 31, 33, 0], [22, 0, 27, 30, 0], [19, 23, 0, 26, 0], [17, 20, 24, 0, 0], [4, 4, 0, 0, 0]]
GROUPS = [[0, 18, 0, 0, 0], [12, 0, 16, 0, 0], [14, 0, 0, 0, 0], [0, 0, 0, 0, 3], [0, 0, 0, 0, 0]]


def neighbours(rng: np.random.Generator) -> nb.Matches:
    """Return games of agents that met others of similar strength only."""
    order = np.arange(20)
    near = np.abs(order[:, None] - order) <= 3
    strength = np.linspace(2, -2, 20)
    return play(np.subtract.outer(strength, strength), 20 * near, rng)


def shares(values: Floats, items: int = 400) -> nb.Scores:
    """Return shares of so many items."""
    return nb.Scores.from_array(values, n=np.full(np.shape(values), float(items)))


def rotation(rng: np.random.Generator) -> nb.Matches:
    rng = np.random.default_rng(3)
    return played(rng, leads(rng, 8, spread=0.3, cyclic=0.9), 20)


def inverted(rng: np.random.Generator) -> nb.Scores:
    skill = np.linspace(0.2, 0.9, 8)[:, None]
    return nb.Scores.from_array(np.hstack([skill + rng.normal(0, 0.02, (8, 5)), 1 - skill]))


def tasks_of_their_own(rng: np.random.Generator) -> nb.Scores:
    shared = rng.normal(size=(12, 1)) + 0.3 * rng.normal(size=(12, 10))
    return nb.Scores.from_array(np.hstack([shared, rng.normal(size=(12, 4))]))


def circle_in_a_ladder(rng: np.random.Generator) -> nb.Matches:
    """Return games of 14 agents on a ladder, three of whom beat each other in a circle."""
    leads = np.subtract.outer(np.linspace(0.8, -0.8, 14), np.linspace(0.8, -0.8, 14))
    for k in range(3):
        leads[k, (k + 1) % 3] += 0.9
        leads[(k + 1) % 3, k] -= 0.9
    return played(rng, leads, 60)


DATA: dict[str, Callable[[np.random.Generator], Any]] = {
    "ladder": lambda rng: ladder(STEPS, 60, 1),
    "steep": lambda rng: ladder(3 * STEPS, 300, 5),
    "close": lambda rng: ladder(np.array([0.4, 0.2, -1, -1.5, -2]), 30, 2),
    "even": lambda rng: ladder(np.zeros(8), 6, 8),
    "thin": lambda rng: ladder(np.linspace(0.5, -0.5, 5), 4, 9),
    "two": lambda rng: ladder(np.array([1.5, -1.5]), 60, 4),
    "star": lambda rng: ladder(STAR, 50, 7, met="first"),
    "newcomer": lambda rng: nb.Matches.from_counts(NEWCOMER),
    "inverted": inverted,
    "both directions": lambda rng: nb.Scores.from_array(rng.random((5, 4)), lower_is_better=[0, 0, 0, 1]),
    "units": lambda rng: nb.Scores.from_array(rng.random((5, 4)) * [1, 1, 1, 100]),
    "neighbours": neighbours,
    "draws": lambda rng: nb.Matches.from_counts(np.zeros((4, 4)), draws=10 * (1 - np.eye(4))),
    "cycle": lambda rng: nb.Matches.from_counts(CYCLE),
    "weak cycles": lambda rng: played(rng, leads(rng, 10, spread=1.2, cyclic=0.35), 400),
    "strong cycles": lambda rng: played(rng, leads(rng, 12, spread=0.8, cyclic=0.8), 400),
    "rotation": rotation,
    "exact": lambda rng: nb.Matches.from_counts(CYCLE),
    "exact ladder": lambda rng: ladder(STEPS, 60, 1),
    "rates": lambda rng: data_of("alphago"),
    "copies": lambda rng: cloned(ladder(STEPS, 60, 1), 2, 3),
    "alike": lambda rng: ladder(np.array([1.0, -1, 0.2, 0.2, 0.2, 0.2]), 4000, 3),
    "unbeaten": lambda rng: nb.Matches.from_counts([[0, 9, 3], [0, 0, 8], [0, 2, 0]]),
    "payoffs": lambda rng: data_of("roshambo"),
    "payoffs with errors": lambda rng: nb.Payoffs(
        agents=tuple("abcdefgh"), A=np.subtract.outer(STEPS, STEPS), stderr=np.full((8, 8), 0.2), scale="logit"
    ),
    "several equilibria": lambda rng: data_of("suite-4"),
    "groups": lambda rng: nb.Matches.from_counts(GROUPS),
    "probably": lambda rng: nb.Matches.from_counts([[0, 18, 20], [14, 0, 17], [12, 15, 0]]),
    "one cycle": lambda rng: circle_in_a_ladder(rng),
    "smaller circle": lambda rng: nb.Matches.from_counts([[0, 5, 2], [3, 0, 5], [4, 3, 0]]),
    "small circle": lambda rng: nb.Matches.from_counts([[0, 9, 0], [6, 0, 8], [7, 0, 0]]),
    "constant task": lambda rng: shares(np.insert(np.delete(table("plain").values, 1, axis=1), 1, 1.0, axis=1)),
    "task twice": lambda rng: shares(table("plain").values[:, [*range(6), 0]]),
    "guessed, noise unknown": lambda rng: nb.Scores.from_array(table("guessed").values),
    "tasks of their own": tasks_of_their_own,
    "noise": lambda rng: shares(rng.binomial(300, 0.5, (6, 4)) / 300, 300),
    "few": lambda rng: nb.Scores.from_array([[0.81, 0.70, 0.55], [0.78, 0.72, 0.50]]),
    "two alike": lambda rng: nb.Matches.from_counts([[0, 11], [9, 0]]),
    "one score": lambda rng: nb.Scores.from_array([[1200.0], [1100.0], [1150.0]]),
    "exact atari": lambda rng: data_of("atari"),
    "exact scores": lambda rng: data_of("suite-3"),
}
EXACT = ("exact", "exact ladder", "several equilibria", "exact atari", "exact scores")
MODELS = ("constant task", "plain", "guessed", "holes", "unknown", "mixed")
OPTIONS: dict[str, dict[str, Any]] = {
    "ladder": {"call": "players"},
    "unbeaten": {"n_resamples": 50},
    "groups": {"components": "largest"},
    **{case: {"noise": "none"} for case in EXACT},
    **{case: {"call": "models"} for case in MODELS},
}


@cache
def evaluation(case: str) -> nb.Evaluation:
    data = DATA[case](np.random.default_rng(17)) if case in DATA else table(case)
    return nb.evaluate(data, **OPTIONS.get(case, {}))


VERDICT = {
    rf"{WHO}{SAME} is first \(P = {P}\)({NEXT})?\.({BELOW})?": {
        "steep", "two", "payoffs with errors", "plain", "alike", "unbeaten", "mixed",
    },
    rf"{WHO}{SAME} is probably first \(P = {P}\){NEXT}\.({BELOW})?": {
        "ladder", "close", "star", "copies", "probably",
    },
    rf"{WHO} \({P}\) is first\. {NAMES} may share it\.{THEN}": {"groups"},
    rf"First place is undecided: the candidates are {NAMES}\.({BELOW})?": {
        "even", "thin", "two alike",
    },
    rf"({N} of|All) {N} \w+{ONCE} share first place: {NAMES}\.( {NAMES} may share it\.)?{THEN}": {"cycle"},
    rf"({N} of|All) {N} \w+{ONCE} may share first place: {NAMES}\.{THEN}": {
        "rotation",
    },
    rf"(agent {N} played \d games?(; )?)+\.": {"newcomer"},
    r"First place (may depend|depends) on 'task 6', .*: if a low one is, pass lower_is_better=\['task 6'\] .*\.": {
        "inverted",
    },
    r"All 4 agents are equivalent: nothing in these data separates them\.": {"draws"},
    rf"{WHO} is first: it is the only member of the equilibrium\.": {"exact ladder", "rates"},
    rf"({N} of|All) {N} agents{ONCE} share first place: [^(]*\.": {"exact", "payoffs", "exact scores"},
    r"A ladder explains these results: no cycles .*, so the order is close to that of (Elo|plain averages)\.": {
        "ladder", "steep", "copies", "payoffs with errors",
    },
    r"No cycles of more than 9 Elo points are shown, but these data could miss them; the order is close to .* Elo\.": {
        "thin", "even",
    },
    r"No cycles of more than 9 Elo points are shown, but these data could miss them\.": {"smaller circle"},
    r"These results cannot show cycles, since no agents form a loop of matches: the order is that of a ladder\.": {
        "star",
    },
    r"One cycle is beyond noise: .* beats .*, and .* beats .* \(\d+%\); a ladder explains the other results\.": {
        "one cycle",
    },
    r"One cycle is beyond noise: .* beats .*, and .* beats .* \(\d+%\)\.": {"small circle"},
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
    rf"It is uncertain whether any tasks measure {SHARED}\.( Set aside: ({N} {REASON}(; )?)+\.)?{OPEN}": {"few"},
    r"No single task tells the \w+ apart beyond noise\.": {"noise"},
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
    r"Tasks have different units, and the plain mean is dominated by 'task 4' \(.*\)\.": {"units"},
    r"Only the largest group of connected agents is evaluated; left out: .*\.": {"groups"},
    r"One group of (agents|tasks) has identical (data|results) \(.*\): each group counts once; the plain .*\.": {
        "copies",
        "task twice",
    },
    rf"Some agents are probably the same under several names \(P = {P}\); all numbers are averages .*\.": {"alike"},
    r"Probable near-duplicates are pooled and share their data: .*\. pool=False .* keeps them apart\.": {"alike"},
    r".* never lost a game: only the prior limits the rating\.": {"unbeaten"},
    r"The schedule may follow strength \(divisions, matchmaking\): .* may be too narrow\.": {"neighbours"},
    r"50 draws are few: a probability may be off by 0\.14, and the ends of intervals are rough below 100\.": {
        "unbeaten"
    },
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
        assert board.exact or max(board.probability_top) >= 0.95
    if "share first place:" in line and " may share it" not in line:
        assert line.startswith((f"{len(classes)} of ", f"All {len(classes)} "))
    if "undecided: the candidates" in line:
        assert not likely or len(set(board.classes.tolist())) == 2
    if " is probably first" in line:
        assert len(classes) == 1 < len(set(board.classes.tolist())) - 1
        assert line.split(" is probably")[0].split(" and ")[0] in likely
        assert max(board.probability_top) < 0.95
    if below := re.search(r"All other [a-z]+ are below (\d\.\d\d)", line):
        said = re.findall(r"\(\d\.\d\d\)|\(P = ", line)
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
        None: (r"\d+ of \d+ pairs .*|the noise .*|the data are taken .*", {"even", "exact", "rates", "unknown"}),
    },
    "same winner without copies of agents": {
        True: (r"there is nothing to merge|merging them changes no winner", {"steep", "alike"}),
        False: (r"merging them changes the winner of .*", set()),
        None: (r"no copies were found, and none can be ruled out", {"even"}),
    },
    "first place does not depend on one agent": {
        True: (r".* stays first whichever other agent is left out", {"ladder"}),
        False: (r"leaving out .* changes which of the other agents are first", {"cycle"}),
        None: (r"first place is undecided: .*|.* may be first, .*", {"even"}),
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
    (r"Nash average: did not move\. The largest change of any average is 0; .* within 1e-12\.", {}, "cycle"),
    (
        r"Noisy copies are not exact, and they can move the board: with .* of at least 1/2 changes in . of 2 draws\.",
        {"draws": 2},
        "ladder",
    ),
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


def with_chances(*chances: float) -> Board:
    """Return a board of agents that are at the top with these probabilities."""
    board = evaluation("cycle").board
    return replace(board, probability_top=np.array(chances))


def test_numbers_of_the_headline_agree_with_those_that_are_shown() -> None:
    assert headline(with_chances(0.6, 0.2, 0.035)).endswith(
        "All other agents are below 0.05."
    )  # 0.035 is shown as 0.04
    pooled = replace(with_chances(0.99, 0.97, 0.97), classes=np.array([0, 1, 1]))
    both = "agent 1 (0.99) and agent 2 = agent 3 (0.97)"
    assert headline(pooled) == f"All 2 agents, copies counted once, share first place: {both}."
    board = replace(with_chances(0.6, 0.2, 0.1), games=np.array([50.0, 1, 3]))
    assert describe_few_games(board) == "agent 2 played 1 game; agent 3 played 3 games."
    alike = replace(board, games=np.array([2.0, 2, 2]))
    assert describe_few_games(alike) == "agent 1, agent 2 and agent 3 played 2 games each."


def test_the_brief_headline_is_no_surer_than_the_headline() -> None:
    assert repr(evaluation("two alike")) == "Evaluation(2 agents: First place is undecided)"
    assert "may share first place" in repr(evaluation("rotation"))
    assert describe_top(with_chances(0.99, 0.97, 0.6)) == "2 agents share first place"
    assert describe_top(with_chances(0.99, 0.7, 0.6)) == "agent 1 is first"
    assert " first)" in repr(evaluation("steep"))


@pytest.mark.parametrize("case", ["steep", "close", "even", "ladder", "probably"])
def test_the_title_of_the_chart_begins_the_verdict(case: str) -> None:
    found = evaluation(case)
    assert found.verdict[0].startswith(describe_top(found.board))


def test_notes_on_reading_come_after_warnings() -> None:
    rows = [("ann", "bob", "win"), ("bob", "cid", "win"), ("ann", "cid", "win"), ("ann", "bob", "?")]
    said = nb.evaluate(nb.read_matches(rows * 3, bad_rows="skip"), n_resamples=5).warnings
    assert "never lost a game" in said[0]
    assert "bad rows left out" in said[-1]


def test_a_name_with_spaces_at_its_ends_is_quoted() -> None:
    found = nb.Matches.from_counts([[0, 30, 40], [5, 0, 30], [1, 5, 0]], agents=["top ", "b", "c"])
    assert nb.evaluate(found, n_resamples=20, call="models").verdict[0].startswith("'top ' is ")


def test_the_others_are_called_as_asked() -> None:
    board = replace(with_chances(0.6, 0.2, 0.035), call="models")
    assert headline(board).endswith("All other models are below 0.05.")
