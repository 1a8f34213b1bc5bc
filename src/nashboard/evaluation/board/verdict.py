"""The sentences of the verdict: who is first, why, what is open, and how much data there are."""

import numpy as np

from nashboard._tables import count, count_of
from nashboard._text import listed, number_of, plural, quote_spaces
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.scores import Scores
from nashboard.data.table.columns import HIGH_IS_GOOD, is_called_low, spell_option
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.contributions import Mover
from nashboard.evaluation.board.headline import LIKELY, MENTIONED, NAMED, SURE, headline
from nashboard.evaluation.board.warnings import as_sentence
from nashboard.evaluation.posterior.items import is_item_table
from nashboard.evaluation.posterior.matches import CYCLES_MATTER, LARGE_CYCLES
from nashboard.evaluation.posterior.posterior import TIE
from nashboard.evaluation.posterior.scores import adjust_holm
from nashboard.evaluation.problem import LOG_ODDS, Problem

FEW_GAMES = 10  # of an agent: below, its place is very uncertain
FEWEST_AGENTS = 5  # that can show a task to point the wrong way
SMALL_CYCLES = 0.05  # log-odds, 9 Elo points: cycles whose standard deviation may be smaller are not reported
CLOSE = 0.9  # correlation of gaps and ratings from which their orders are called close
FEWEST_IN_LADDER = 6  # agents from which most results are no part of a single cycle
MOST_COMPARED = 1000  # agents of which all pairs are compared
IDENTIFIED = 3  # agents and tasks from which a shared skill and its residual can be distinguished


def write_verdict(problem: Problem, board: Board, tasks: Board | None, movers: tuple[Mover, ...]) -> tuple[str, ...]:
    """Return the sentences of the verdict: who is first, why, what is open, and how much data there are."""
    sentences = [headline(board), describe_few_games(board)]
    if isinstance(problem.data, Scores):
        sentences.append(describe_directions(problem, tasks))
        sentences += [describe_tasks(problem, tasks), describe_noise(problem)]
    else:
        sentences.append(describe_ladder(problem, board))
    sentences += [mover.sentence() for mover in movers]
    sentences += [describe_pairs(problem), describe_size(problem)]
    return tuple(line for line in sentences if line)


def describe_few_games(board: Board) -> str:
    """Return how many games the candidates played, if these are few: a count, not a test."""
    first = np.flatnonzero(board.probability_top >= min(MENTIONED, board.probability_top.max()))
    few = [k for k in first[np.argsort(-board.probability_top[first], kind="stable")] if board.games[k] < FEW_GAMES]
    alike: dict[float, list[str]] = {}
    for k in few[:NAMED]:
        alike.setdefault(float(board.games[k]), []).append(quote_spaces(board.names[k]))
    parts = []
    for games, names in alike.items():
        who = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        each = " each" if len(names) > 1 else ""
        parts.append(f"{who} played {count(games)} {plural(games, 'games')}{each}")
    return f"{'; '.join(parts)}." if parts else ""


def describe_ladder(problem: Problem, board: Board) -> str:
    """Return whether ratings explain the results, from the facts of the model; empty if this cannot be asked."""
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
    share, small = float(facts["cyclic_share"]), f"no cycles of more than {small_cycle_size(problem)[1]} are shown"
    if not shows_cycles(problem):
        if isinstance(data, Matches) and (one := find_single_cycle(problem, data)):
            rest = "; a ladder explains the other results" if len(data.agents) >= FEWEST_IN_LADDER else ""
            return f"One cycle is beyond noise: {one}{rest}."
        if facts.get("tau_high", 0.0) > large_cycle_size(problem) or not facts["shows_cycles"]:
            return f"N{small[1:]}, but these data could miss them{f'; {order}' * close}."
        return f"A ladder explains these results: {small}{f', so {order}' * close}."
    if isinstance(data, Matches) and data.dependent:
        return "It is unknown whether there are cycles: rows that may be correlated were not taken as clusters."
    if share < CYCLES_MATTER:
        return f"A ladder explains most of these results; cycles are {share:.0%} of the variance of the payoffs."
    return f"Cycles matter here: they are {share:.0%} of the variance of the payoffs, and one rating cannot show them."


def find_single_cycle(problem: Problem, matches: Matches) -> str:
    """Return a cycle of three agents beyond noise, in words: few agents in a circle hardly change tau."""
    from nashboard.evaluation.audit.transitivity import find_clear_cycle

    if len(matches.agents) > MOST_COMPARED:
        return ""
    cycle = find_clear_cycle(matches, 1 - problem.settings.level)
    return "" if cycle is None else cycle.sentence()


def shows_cycles(problem: Problem) -> bool:
    """Return whether the posterior of a model with ratings and cycles excludes small cycles."""
    return bool(problem.draws.facts.get("tau_low", 0.0) > small_cycle_size(problem)[0])


def large_cycle_size(problem: Problem) -> float:
    """Return the standard deviation from which cycles are called large."""
    return LARGE_CYCLES * (1.0 if problem.unit == LOG_ODDS else float(problem.draws.facts.get("sigma", 1.0)))


def small_cycle_size(problem: Problem) -> tuple[float, str]:
    """Return the standard deviation below which cycles are called small, as a number and in words.

    For payoffs that are not log-odds it is the one at which cycles are ``CYCLES_MATTER`` of the variance.
    """
    if problem.unit == LOG_ODDS:
        return SMALL_CYCLES, f"{SMALL_CYCLES * POINTS_PER_LOGIT:.0f} Elo points"
    ratio = (2 * CYCLES_MATTER / (1 - CYCLES_MATTER)) ** 0.5  # of tau to sigma
    return ratio * float(problem.draws.facts.get("sigma", 1.0)), f"{CYCLES_MATTER:.0%} of the variance of the payoffs"


def describe_pairs(problem: Problem) -> str:
    """Return whether near-duplicates are shown, and how many pairs cannot be ordered."""
    n, call = len(problem.classes.first), problem.settings.call
    if problem.literal or not 3 <= n <= MOST_COMPARED:
        return ""
    compared = problem.draws.facts.get("noise") == "known" or (problem.alike is not None and problem.alike.tested)
    sought = compared and problem.settings.pool and n == len(problem.agents)
    parts = ["no near-duplicates are shown"] if sought and "copies" not in problem.draws.facts else []
    unclear, tied = count_unclear(problem.draws.gaps, problem.settings.level)
    if unclear:
        once = ", copies counted once," if n < len(problem.agents) else ""
        parts.append(f"{unclear:,} of {n * (n - 1) // 2:,} pairs of {call}{once} cannot be ordered with these data")
    elif not tied:
        parts.append(f"all pairs of {call} can be ordered")
    return as_sentence("; ".join(parts)) if parts else ""


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


def describe_directions(problem: Problem, tasks: Board | None) -> str:
    """Return the tasks that decide first place and on which a low score may be good, by their name or correlation."""
    from nashboard.evaluation.audit.task_quality import correlate_with_rest, negative_p_values

    assert tasks is not None
    assert isinstance(problem.data, Scores)
    S = problem.scaled.values
    named = any(note.startswith(HIGH_IS_GOOD) for note in problem.given.origin.notes)
    enough = len(S) >= FEWEST_AGENTS and S.shape[1] > 2  # of two tasks, either may be wrong
    r = np.nan_to_num(correlate_with_rest(S)) if enough else np.zeros(S.shape[1])
    negative = (r < 0) & (adjust_holm(negative_p_values(r, len(S))) <= 1 - SURE)
    doubtful = [
        task
        for k, task in enumerate(tasks.names)
        if not problem.data.lower_is_better[k]
        and tasks.probability_top[k] >= (MENTIONED if negative[k] else LIKELY)
        and (negative[k] or (named and is_called_low(task)))
    ]
    if not doubtful:
        return ""
    remedy = f"if a low one is, pass {spell_option('lower_is_better', doubtful)}"
    decides = dict(zip(tasks.names, tasks.probability_top, strict=True))
    depends = "depends" if any(decides[task] >= LIKELY for task in doubtful) else "may depend"
    return f"First place {depends} on {listed(doubtful, 3)}, where a high score counts as good: {remedy}."


def describe_tasks(problem: Problem, tasks: Board | None) -> str:
    """Return which tasks separate agents, or decide, and why the others are set aside."""
    assert tasks is not None
    n, call, facts = len(tasks.names), problem.settings.call, problem.draws.facts
    aside, separating = list_tasks(problem, tasks, "set_aside"), list_tasks(problem, tasks, "told_apart")
    residual = facts.get("noise") == "residual"
    if not separating and "told_apart" in facts and not residual:
        return f"No single task tells the {call} apart beyond noise."
    unrelated, alike, unclear = (len(list_tasks(problem, tasks, key)) for key in ("unrelated", "equivalent", "unclear"))
    doubtful = list_tasks(problem, tasks, "doubtful")
    if aside or unclear:
        reasons = {
            "{} differ{s} by less than the noise of one score": alike,
            "{} show{s} no difference beyond noise in these data": len(aside) - unrelated - alike,
            "{} share{s} no skill with the others": unrelated,
        }
        parts = [sentence.format(f"{k:,}", s="s" * (k == 1)) for sentence, k in reasons.items() if k]
        s = "s" * (len(separating) == 1)
        does = f"measure{s} shared skills" if residual else f"tell{s} the {call} apart"
        sentence = f"{len(separating):,} of {n:,} tasks {does}: {listed(separating, 3)}."
        if not separating:
            sentence = "It is uncertain whether any tasks measure shared skills."
        if parts:
            sentence += f" Set aside: {'; '.join(parts)}."
        if doubtful:
            sentence += (
                f" On {number_of(len(doubtful), 'tasks')} without a shared skill the {call} differ by more than the "
            )
            sentence += "noise elsewhere: if that is real, give standard errors or numbers of items."
        if unclear:
            verb = "is uncertain and counts" if unclear == 1 else "are uncertain and count"
            sentence += f" {unclear:,} {verb} in some of the draws."
        return sentence
    decide = [tasks.names[k] for k in np.argsort(-tasks.weights, kind="stable") if tasks.probability_top[k] >= LIKELY]
    if not decide or len(decide) == n:
        return ""
    verb = "decides" if len(decide) == 1 else "decide"
    draws = "" if problem.literal else " in at least half of the draws"
    return f"{len(decide):,} of {n:,} tasks {verb} who is first{draws}: {listed(decide, NAMED)}."


def list_tasks(problem: Problem, tasks: Board, fact: str) -> list[str]:
    """Return the tasks, including copies, that are listed in a fact of the model."""
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


def describe_noise(problem: Problem) -> str:
    """Return the assumption on the noise of scores."""
    facts = problem.draws.facts
    if problem.literal:
        return "The scores are taken as exact: there are no intervals." if len(problem.draws) == 1 else ""
    noise = str(facts.get("noise"))
    if noise == "residual" and min(problem.expected.shape) < IDENTIFIED:
        return NOISE["few"]
    least, most = (int(np.quantile(facts.get("ranks", (1,)), level, method="nearest")) for level in (0.05, 0.95))
    number = f"{least}" + f" to {most}" * (most > least)
    skills = "one shared skill does" if number == "1" else f"{number} shared skills do"
    return NOISE.get(noise, "").format(skills=skills)


def describe_size(problem: Problem) -> str:
    """Return how much data there are, and what is missing."""
    data, call = problem.data, problem.settings.call
    n = len(data.agents)
    if isinstance(data, Matches):
        played = (
            count_of(data.n_games, "games") if NO_COUNTS not in data.origin.notes else f"{len(data.pairs):,} win rates"
        )
        met = "every pair met" if data.coverage == 1 else f"{data.coverage:.0%} of the pairs met"
        return f"{n:,} {call}, {played}, {met}."
    if isinstance(data, Scores):
        holes = int(data.missing.sum())
        missing = f", {holes:,} of {data.missing.size:,} scores missing" if holes else ""
        tasks = number_of(len(data.tasks), "tasks")
        if not problem.literal and isinstance(problem.given, Scores) and is_item_table(problem.given):
            tasks += f" of {number_of(len(problem.given.tasks), 'items')}"
        return f"{n:,} {call}, {tasks}{missing}."
    return f"{n:,} {call}, payoffs {'as given' if problem.literal else 'with errors'}."
