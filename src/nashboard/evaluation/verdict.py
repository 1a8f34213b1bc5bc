"""The verdict in a few sentences, and the warnings that belong to it."""

from math import floor
from typing import Any

import numpy as np

from nashboard._tables import count
from nashboard._text import listed, number_of, plural, shortened
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.origin import CHOSEN
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.table.columns import HIGH_IS_GOOD, is_called_low, spell_option
from nashboard.evaluation.board import Board, Mover
from nashboard.evaluation.posterior.matches import LARGE_CYCLES
from nashboard.evaluation.posterior.posterior import TIE
from nashboard.evaluation.posterior.scores import adjust_holm
from nashboard.evaluation.problem import LOG_ODDS, Problem
from nashboard.ratings.hierarchical.systems import DENSE
from nashboard.ratings.schedule import SIMILAR_OPPONENTS, choose_prior, pairs_similar_agents

FEW = 100  # draws below which the ends of intervals are rough
FEW_GAMES = 10  # of an agent: below, its place is hardly known
UNBEATEN = "never lost a game: only the prior limits the rating."
FEWEST_AGENTS = 5  # that can show a task to point the wrong way
UNITS = 10  # times the median task: from here on a task has another unit
NAMED = 5  # candidates named in the headline
LIKELY = 0.5  # nobody is called first below this probability
SURE = 0.95  # several agents are said to share first place from this probability of each on
STRONG = SURE / (1 - SURE)  # times its odds before any data: what the odds of the only agent called first must be
SMALL_CYCLES = 0.05  # log-odds, 9 Elo points: cycles whose standard deviation may be smaller are not claimed
CLOSE = 0.9  # correlation of gaps and ratings from which both are said to order alike
SMALL_SHARE = 0.1  # of the variance of the payoffs: a cyclic part below it hardly changes the order
MOST_COMPARED = 1000  # agents of which all pairs are compared
IDENTIFIED = 3  # agents and tasks from which a shared skill and what it leaves over can be told apart
MENTIONED = 0.05  # others are named from this probability on


def write_verdict(problem: Problem, board: Board, tasks: Board | None, movers: tuple[Mover, ...]) -> tuple[str, ...]:
    """Return the sentences of the verdict: who is first, why, what is open, and how much data there are."""
    found = [headline(board), few_games_sentence(board)]
    if isinstance(problem.data, Scores):
        found.append(direction_sentence(problem, tasks))
        found += [task_sentence(problem, tasks), noise_sentence(problem)]
    else:
        found.append(ladder_sentence(problem, board))
    found += [mover.sentence() for mover in movers]
    found += [pairs_sentence(problem), size_sentence(problem)]
    return tuple(line for line in found if line)


def headline(board: Board) -> str:
    """Return who is first, or who may be; copies and pooled entries have one name."""
    chances = class_chances(board)
    if len(chances) == 1 and len(board.names) > 1:
        return f"All {len(board.names):,} {board.call} are equivalent: nothing in these data separates them."
    first = likely_first(chances)
    if board.exact:
        if len(first) == 1:
            return f"{next(iter(first))} is first: it is the only member of the equilibrium."
        return f"{share_of(len(first), len(chances), board.call)} share first place: {listed(list(first), NAMED)}."
    leader = first or probably_first(chances)
    others = {name: p for name, p in chances.items() if name not in leader and p >= MENTIONED}
    rest = [p for name, p in chances.items() if name not in leader and name not in others]
    below = f" Everybody else is below {floor(100 * max(rest) + 1) / 100:.2f}." if others and rest else ""
    if not leader:
        named = others or dict(list(chances.items())[:NAMED])
        return f"First place is undecided: the candidates are {name_most(named)}.{below}"
    if len(first) > 1:
        return shared_headline(first, len(chances), board.call)
    name, p = next(iter(leader.items()))
    probably = "" if first else "probably "
    if not others:
        return f"{name} is {probably}first {f'(P = {p:.2f})' if p >= SURE else f'with P = {p:.2f}'}."
    following = f"next {'is' if len(others) == 1 else 'are'} {name_most(others, 3)}"
    return f"{name} is {probably}first with P = {p:.2f}; {following}.{below}"


def few_games_sentence(board: Board) -> str:
    """Return how many games those played who are first, or likeliest to be, where these are few: a count, no test."""
    first = np.flatnonzero(board.probability_top >= min(LIKELY, board.probability_top.max()))
    few = [k for k in first if board.games[k] < FEW_GAMES][:NAMED]
    said = [f"{board.names[k]} played {count(board.games[k])} {plural(board.games[k], 'games')}" for k in few]
    return f"{'; '.join(said)}." if said else ""


def likely_first(chances: dict[str, float]) -> dict[str, float]:
    """Return those who are called first.

    The only one must also have odds of `STRONG` times 1 to n - 1, those of each of n agents before any data: of few
    agents one has a probability of 1/2 by luck, of two always.
    """
    first = {name: p for name, p in chances.items() if p >= LIKELY}
    if len(first) == 1 < len(chances) and max(first.values()) < probability_needed(len(chances)):
        return {}
    return first


def probably_first(chances: dict[str, float]) -> dict[str, float]:
    """Return the only one with P(top) of at least 1/2 where nobody is called first; of two one always has that."""
    leader = {name: p for name, p in chances.items() if p >= LIKELY}
    return leader if len(leader) == 1 and len(chances) > 2 else {}


def probability_needed(agents: int) -> float:
    """Return from which P(top) on the only candidate is first without "probably": 0.95 of 2 agents, 0.83 of 5, 1/2
    from 20 on.
    """
    odds = STRONG / (agents - 1)
    return max(odds / (1 + odds), LIKELY)


def describe_first(board: Board) -> str:
    """Return who is first in a few words, no surer than the headline."""
    chances = class_chances(board)
    first = likely_first(chances)
    leader = first or probably_first(chances)
    if len(chances) == 1 < len(board.names):
        return f"All {len(board.names):,} {board.call} are equivalent"
    if not leader:
        return "First place is undecided"
    if len(leader) == 1:
        name, p = next(iter(leader.items()))
        chance = "" if p >= SURE else f" with P = {p:.2f}"
        return f"{shortened(name, 40)} is {'' if first else 'probably '}first{chance}"
    may = "" if min(first.values()) >= SURE else "may "
    return f"{len(first):,} {board.call} {may}share first place"


def shared_headline(first: dict[str, float], size: int, call: str) -> str:
    """Return who shares first place, and who may, where several are at the top with a probability of at least 1/2."""
    sure = {name: p for name, p in first.items() if p >= SURE}
    likely = {name: p for name, p in first.items() if p < SURE}
    if not sure:
        return (
            f"{len(first):,} of {size:,} {call} are at the top with a probability of at least 1/2: "
            f"{name_most(first)}. Whether they share first place is undecided."
        )
    open_end = f" {name_most(likely)} may share it." if likely else ""
    if len(sure) == 1:
        return f"{name_most(sure)} is first.{open_end}"
    return f"{share_of(len(sure), size, call)} share first place: {name_most(sure)}.{open_end}"


def share_of(count: int, size: int, call: str) -> str:
    """Return ``2 of 20 agents``, or ``All 3 agents``."""
    return f"All {size:,} {call}" if count == size else f"{count:,} of {size:,} {call}"


def name_most(chances: dict[str, float], most: int = NAMED) -> str:
    """Return the first few names with their probabilities, and how many more there are: ``a (0.41) and b (0.33)``."""
    said = [f"{name} ({p:.2f})" for name, p in list(chances.items())[:most]]
    if len(chances) > most:
        said.append(f"{len(chances) - most:,} more")
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def class_chances(board: Board) -> dict[str, float]:
    """Return P(top) by class, the likeliest first; a class has the name of its first member."""
    members: dict[int, list[str]] = {}
    chance: dict[int, float] = {}
    for k in board.order:
        members.setdefault(int(board.classes[k]), []).append(board.names[k])
        chance[int(board.classes[k])] = float(board.probability_top[k])
    order = sorted(members, key=lambda label: -chance[label])
    return {
        min(members[label]) + f" and {len(members[label]) - 1:,} alike" * (len(members[label]) > 1): chance[label]
        for label in order
    }


def ladder_sentence(problem: Problem, board: Board) -> str:
    """Return whether ratings explain the results, from the facts of the model; nothing where there is no question."""
    facts, data = problem.draws.facts, problem.merged
    if problem.literal or "cyclic_share" not in facts or len(data.agents) < 3:
        return ""
    if isinstance(data, Matches) and len(data.pairs) < len(data.agents):
        return (
            "These results cannot show cycles, since no agents form a loop of matches: the order is that of a ladder."
        )
    averages = board.uniform if board.rating is None else board.rating.values
    spread = min(np.ptp(averages), np.ptp(board.gaps)) > 0
    close = bool(spread and np.corrcoef(averages, -board.gaps)[0, 1] > CLOSE)
    order = f"the order is close to that of {'Elo' if isinstance(data, Matches) else 'plain averages'}"
    share, small = float(facts["cyclic_share"]), f"no cycles of more than {small_cycles(problem)} are shown"
    if not shows_cycles(problem):
        if facts.get("tau_high", 0.0) > LARGE_CYCLES * cycle_unit(problem) or not facts["shows_cycles"]:
            return f"N{small[1:]}, but these data could miss them{f'; {order}' * close}."
        return f"A ladder explains these results: {small}{f', so {order}' * close}."
    if isinstance(data, Matches) and data.dependent:
        return "It is unknown whether there are cycles: rows that may be correlated were not taken as clusters."
    if share < SMALL_SHARE:
        return f"A ladder explains most of these results; cycles are {share:.0%} of the variance of the payoffs."
    return f"Cycles matter here: they are {share:.0%} of the variance of the payoffs, and one rating cannot show them."


def shows_cycles(problem: Problem) -> bool:
    """Return whether the posterior of a model with ratings and cycles excludes that cycles are small."""
    return bool(problem.draws.facts.get("tau_low", 0.0) > SMALL_CYCLES * cycle_unit(problem))


def cycle_unit(problem: Problem) -> float:
    """Return what sizes of cycles are measured in: log-odds, or the spread of ratings for payoffs of another unit."""
    return 1.0 if problem.unit == LOG_ODDS else float(problem.draws.facts.get("sigma", 1.0))


def small_cycles(problem: Problem) -> str:
    """Return the standard deviation below which cycles are called small."""
    if problem.unit == LOG_ODDS:
        return f"{SMALL_CYCLES * POINTS_PER_LOGIT:.0f} Elo points"
    return f"{SMALL_CYCLES:.0%} of the spread of ratings"


def pairs_sentence(problem: Problem) -> str:
    """Return whether near-duplicates are shown, and of how many pairs it is open who is better."""
    n, call = len(problem.classes.first), problem.settings.call
    if problem.literal or not 3 <= n <= MOST_COMPARED:
        return ""
    compared = problem.draws.facts.get("noise") == "known" or (problem.alike is not None and problem.alike.tested)
    sought = compared and problem.settings.pool and n == len(problem.agents)
    found = ["no near-duplicates are shown"] if sought and "copies" not in problem.draws.facts else []
    unclear, tied = count_unclear(problem.draws.gaps, problem.settings.level)
    if unclear:
        once = ", copies counted once," if n < len(problem.agents) else ""
        found.append(f"{unclear:,} of {n * (n - 1) // 2:,} pairs of {call}{once} cannot be ordered with these data")
    elif not tied:
        found.append(f"all pairs of {call} can be ordered")
    return sentence("; ".join(found)) if found else ""


def count_unclear(gaps: Floats, level: float) -> tuple[int, int]:
    """Return how many pairs are neither ordered nor tied in most of the draws ``(S, C)``, and how many are tied.

    Examples
    --------
    >>> import numpy as np
    >>> count_unclear(np.array([[0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 2.0, 1.0]]), 0.95)
    (1, 1)
    """
    tie = TIE * gaps.max(axis=1, keepdims=True)
    unclear = tied = 0
    for k in range(gaps.shape[1] - 1):
        lead = gaps[:, k + 1 :] - gaps[:, k : k + 1]
        ahead, behind = (lead > tie).mean(axis=0), (lead < -tie).mean(axis=0)
        even = 1 - ahead - behind
        tied += int((even >= level).sum())
        unclear += int((np.maximum(np.maximum(ahead, behind), even) < level).sum())
    return unclear, tied


def direction_sentence(problem: Problem, tasks: Board | None) -> str:
    """Return which tasks first place depends on although a low score may be good on them, by name or correlation."""
    from nashboard.evaluation.audit.task_quality import correlations, negative_by_chance

    assert tasks is not None
    assert isinstance(problem.data, Scores)
    S = problem.scaled.values
    named = any(note.startswith(HIGH_IS_GOOD) for note in problem.given.origin.notes)
    enough = len(S) >= FEWEST_AGENTS and S.shape[1] > 2  # of two tasks, either may be wrong
    r = np.nan_to_num(correlations(S)) if enough else np.zeros(S.shape[1])
    negative = (r < 0) & (adjust_holm(negative_by_chance(r, len(S))) <= 1 - SURE)
    doubtful = [
        task
        for k, task in enumerate(tasks.names)
        if tasks.probability_top[k] >= LIKELY
        and not problem.data.lower_is_better[k]
        and (negative[k] or (named and is_called_low(task)))
    ]
    if not doubtful:
        return ""
    remedy = f"if a low one is, pass {spell_option('lower_is_better', doubtful)}"
    return f"First place depends on {listed(doubtful, 3)}, where a high score counts as good: {remedy}."


def task_sentence(problem: Problem, tasks: Board | None) -> str:
    """Return which tasks tell agents apart, or decide, and why the others were set aside."""
    assert tasks is not None
    n, call, facts = len(tasks.names), problem.settings.call, problem.draws.facts
    aside, told = list_tasks(problem, tasks, "set_aside"), list_tasks(problem, tasks, "told_apart")
    if not told and "told_apart" in facts:
        return f"No single task tells the {call} apart beyond noise."
    unrelated, alike, unclear = (len(list_tasks(problem, tasks, key)) for key in ("unrelated", "equivalent", "unclear"))
    doubtful = list_tasks(problem, tasks, "doubtful")
    if aside or unclear:
        reasons = {
            "{} differ{s} by less than the noise of one score": alike,
            "{} show{s} no difference beyond noise in these data": len(aside) - unrelated - alike,
            "{} share{s} no skill with the others": unrelated,
        }
        said = [text.format(f"{k:,}", s="s" * (k == 1)) for text, k in reasons.items() if k]
        does = f"tell{'s' * (len(told) == 1)} the {call} apart"
        if facts.get("noise") == "residual":
            does = f"measure{'s' * (len(told) == 1)} shared skills"
        found = f"{len(told):,} of {n:,} tasks {does}: {listed(told, 3)}."
        if said:
            found += f" Set aside: {'; '.join(said)}."
        if doubtful:
            found += (
                f" On {number_of(len(doubtful), 'tasks')} without a shared skill the {call} differ by more than the "
            )
            found += "noise elsewhere: if that is real, give standard errors or numbers of items."
        if unclear:
            verb = "is uncertain and counts" if unclear == 1 else "are uncertain and count"
            found += f" {unclear:,} {verb} in some of the draws."
        return found
    decide = [tasks.names[k] for k in np.argsort(-tasks.weights, kind="stable") if tasks.probability_top[k] >= LIKELY]
    if not decide or len(decide) == n:
        return ""
    verb = "decides" if len(decide) == 1 else "decide"
    draws = "" if problem.literal else " in at least half of the draws"
    return f"{len(decide):,} of {n:,} tasks {verb} who is first{draws}: {listed(decide, NAMED)}."


def list_tasks(problem: Problem, tasks: Board, fact: str) -> list[str]:
    """Return the tasks, copies included, that a fact of the model lists."""
    assert isinstance(problem.merged, Scores)
    assert problem.tasks is not None
    listed_ = set(problem.draws.facts.get(fact, ()))
    return [
        name
        for name, k in zip(tasks.names, problem.tasks.label, strict=True)
        if problem.merged.tasks[int(k)] in listed_
    ]


NOISE = {
    "few": "No standard errors are given, and so few scores cannot show them: intervals rest on the model's prior.",
    "residual": "No standard errors are given: differences that {skills} not explain may be noise.",
    "mixed": "Standard errors are given for some tasks; on the others, differences that shared skills do not explain "
    "may be noise.",
}


def noise_sentence(problem: Problem) -> str:
    """Return which noise was assumed for scores."""
    facts = problem.draws.facts
    if problem.literal:
        return "The scores are taken as exact: there are no intervals." if len(problem.draws) == 1 else ""
    noise = str(facts.get("noise"))
    if noise == "residual" and min(problem.expected.shape) < IDENTIFIED:
        return NOISE["few"]
    least, most = (int(np.quantile(facts.get("ranks", (1,)), level, method="nearest")) for level in (0.05, 0.95))
    number = f"{least}" + f" to {most}" * (most > least)
    said = "one shared skill does" if number == "1" else f"{number} shared skills do"
    return NOISE.get(noise, "").format(skills=said)


def size_sentence(problem: Problem) -> str:
    """Return how much data there are, and what is missing."""
    data, call = problem.data, problem.settings.call
    n = len(data.agents)
    if isinstance(data, Matches):
        played = (
            f"{count(data.n_games)} games" if NO_COUNTS not in data.origin.notes else f"{len(data.pairs):,} win rates"
        )
        met = "every pair met" if data.coverage == 1 else f"{data.coverage:.0%} of the pairs met"
        return f"{n:,} {call}, {played}, {met}."
    if isinstance(data, Scores):
        holes = int(data.missing.sum())
        missing = f", {holes:,} of {data.missing.size:,} scores missing" if holes else ""
        return f"{n:,} {call}, {number_of(len(data.tasks), 'tasks')}{missing}."
    return f"{n:,} {call}, payoffs {'as given' if problem.literal else 'with errors'}."


def write_warnings(problem: Problem) -> tuple[str, ...]:
    """Return what to know before relying on the board."""
    data = problem.data
    found = [sentence(note) for note in problem.notes]
    what = "results" if isinstance(data, Matches) else "data"  # equal results of few games may be chance
    found += copy_warning(problem.exact.groups(data.agents), problem.settings.call, what)
    if problem.tasks is not None and isinstance(data, Scores):
        found += copy_warning(problem.tasks.groups(data.tasks), "tasks", "data")
    found += pool_warning(problem)
    found += [sentence(str(left)) for left in problem.given.origin.left_out]
    found += [
        sentence(note)
        for note in problem.given.origin.notes
        if not note.startswith(CHOSEN) and note != NO_COUNTS and note not in problem.notes
    ]
    found += mean_warning(data)
    if isinstance(data, Payoffs) and problem.literal and problem.settings.noise == "model":
        found.append("The payoffs have neither standard errors nor numbers of games: they are taken as exact.")
    if NO_COUNTS in problem.given.origin.notes:
        found.append(UNCOUNTED)
    if isinstance(data, Matches) and not problem.literal and 0 < len(data.unbeaten) < len(data.agents):
        found.append(f"{listed(data.unbeaten, 3)} {UNBEATEN}")
    if problem.draws.facts.get("around_opponents"):
        found.append(BY_STRENGTH)
    elif isinstance(data, Matches) and not problem.literal:
        if len(data.agents) > DENSE and choose_prior(data):
            found.append(RELIES_ON_PRIOR)
        elif pairs_similar_agents(data):
            found.append(SIMILAR_OPPONENTS)
    if problem.literal and not problem.equilibrium.unique:
        found.append("There are several equilibria: the weights are those of maximum entropy.")
    if 1 < len(problem.draws) < FEW:
        found.append(f"{len(problem.draws):,} draws are few: the ends of intervals are rough below {FEW}.")
    return tuple(dict.fromkeys(found))


RELIES_ON_PRIOR = (
    "The schedule may follow strength (divisions, matchmaking), and in leagues of this size opponents are taken as met "
    "at random: those who are far apart may be further apart than shown."
)
BY_STRENGTH = (
    "The schedule may follow strength (divisions, matchmaking): each rating is learned around those of its opponents, "
    "and intervals between those who are far apart may be too narrow."
)
UNCOUNTED = "The win rates come without numbers of games: they are taken as exact, and there are no intervals."


def counts_are_known(warnings: tuple[str, ...]) -> bool:
    """Return whether games were counted, by the warnings of an evaluation: win rates may come without counts."""
    return UNCOUNTED not in warnings


def sentence(text: str) -> str:
    """Return a note as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def mean_warning(data: Any) -> list[str]:
    """Return why there is no mean column, or which tasks decide it because of their unit."""
    if not isinstance(data, Scores) or len(data.tasks) < 2:
        return []
    lower = data.lower_is_better
    if lower.any() and not lower.all():
        low = listed([task for task, is_low in zip(data.tasks, lower, strict=True) if is_low], 3)
        return [f"There is no mean column: on {low} a low score is good, and a mean cannot mix the two directions."]
    size = np.nanmax(np.abs(data.values), axis=0)
    width = np.nanmax(data.values, axis=0) - np.nanmin(data.values, axis=0)
    wide = (size >= UNITS * np.median(size)) & (width >= UNITS * np.median(width))
    if data.scaling != "raw" or width[wide].sum() <= width[~wide].sum():
        return []
    k = int(np.argmax(width))
    largest, middle = (f"{x:,.0f}" if x >= 100 else f"{x:.3g}" for x in (width[k], np.median(width)))
    most = listed([data.tasks[t] for t in np.argsort(-width, kind="stable") if wide[t]], 3)
    return [
        f"Tasks have different units, and most of the plain mean is {most} (scores differ by {largest} on "
        f"{data.tasks[k]!r}, by {middle} on the median task)."
    ]


def pool_warning(problem: Problem) -> list[str]:
    """Return which near-duplicates were pooled, and whether it is uncertain which entries are copies."""
    found = []
    if "copies" in problem.draws.facts:
        found.append(
            f"Some {problem.settings.call} are probably the same under several names "
            f"(P = {problem.draws.facts['copies']:.2f}); all numbers are averages over which ones these are."
        )
    if not problem.pools:
        return found
    groups = "; ".join(listed(group, 4) for group in problem.pools[:3])
    more = f"; and {len(problem.pools) - 3:,} more groups" if len(problem.pools) > 3 else ""
    apart = "pool=False (--no-pool) keeps them apart."
    return [*found, f"Probable near-duplicates are pooled and share their data: {groups}{more}. {apart}"]


def copy_warning(groups: tuple[tuple[str, ...], ...], call: str, what: str) -> list[str]:
    """Return that entries with identical results or data were found, and how they count."""
    if not groups:
        return []
    many = f"{len(groups):,} groups of {call} have" if len(groups) > 1 else f"One group of {call} has"
    first = f"{listed(groups[0], 3)}{' first' if len(groups) > 1 else ''}"
    return [f"{many} identical {what} ({first}): each group counts once; the plain average counts them as entered."]


def model_facts(problem: Problem) -> dict[str, Any]:
    """Return the facts of the model that json can contain."""
    found: dict[str, Any] = {}
    for key, value in problem.draws.facts.items():
        if isinstance(value, np.ndarray) or key == "ranks":
            continue
        if isinstance(value, tuple | list):
            found[key] = list(value)
        elif isinstance(value, str | bool | int | type(None)):
            found[key] = value
        elif isinstance(value, float | np.floating) and np.isfinite(value):
            found[key] = float(value)
    if problem.unit == LOG_ODDS:
        found.setdefault("unit", LOG_ODDS)
    return found
