"""The columns of a wide table of scores: which are tasks, and which are agents, errors, averages or metadata.

Text and known metadata (size, license, date, cost, ...) are set aside with a note. A column called an average is left
out if its numbers are the averages of the others; otherwise it is a score like any other.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nashboard._text import listed
from nashboard._types import Floats
from nashboard.data.counting.cells import leave_out_averages
from nashboard.data.formats.format import Options
from nashboard.data.origin import LeftOut
from nashboard.data.table.columns import (
    AGENT,
    ERROR_BEFORE,
    ERROR_OF,
    HALF_OF,
    ITEMS_OF,
    PERHAPS_ERROR_OF,
    SCORE,
    STDERR,
    TASK,
    TIME,
    find_by_ending,
    find_column,
    find_metadata,
    find_usual,
    fold,
    fold_words,
    is_average,
    is_called_low,
    is_of_opponent,
    is_pattern,
    is_rank,
    list_names,
    match_names,
    spell_option,
    split_words,
)
from nashboard.data.table.delimited import COMMA_DECIMAL
from nashboard.data.table.table import ROW, Table
from nashboard.data.table.values import MISSING, is_number, parse_number
from nashboard.errors import InputError

# Columns that say which row it is; pandas writes its index without a name, and reads it back as "Unnamed: 0".
BOOKKEEPING = re.compile(
    r"seed|run|trial|index|(\w+ )*id( no| number)?|row|((global|training|env) )?(time)?steps?|epochs?|iterations?"
)
NAMELESS = re.compile(r"|unnamed: \d+", re.IGNORECASE)
SMALL = 0.25  # standard errors are less than this part of the largest score
# The only score of a finished leaderboard: what was computed from the matches or scores that are needed here.
RATING = re.compile(
    r"(arena |bt |bradley terry |glicko |trueskill )*(elo|rating|[srb]?rtn?g|score)( rating| score)?( elo)?|elo .*"
)
RATED = re.compile(
    r"[+\-±]|\+/-|error|score|points?|pts|tb ?\d|rtn?g\S*|perf(ormance)?|(avg? )?opp?\w*|los|%|draws?|wins?|loss(es)?|"
    r"s ?no|snr|start(ing)? (no|number|rank)|sb|bh|buchholz"
)
# Columns of standings: wins and losses of each agent against whoever it met, and what is worked out from them.
WON, LOST = frozenset(("w", "win", "wins", "won")), frozenset(("l", "loss", "losses", "lost"))
STANDING = re.compile(
    r"pos(ition)?|place|p|pld?|played|gp|mp|g|games|matches|[wdlt]|otl|wins?|won|draws?|drawn|ties?|tied|loss(es)?|lost|[gpr][fad]|"
    r"(goals?|points?|runs?) (for|against|diff(erence)?)|diff|pts|points|pct|win (rate|pct|percentage)|percent|gb|"
)
BOUNDS = {
    side: re.compile(rf"(?P<task>.+?)_(ci_|95_?ci_|ci_?95_)?({words})(_bound|_ci|_95)?(?P<filter>)")
    for side, words in (("low", "low|lower|lo|lb"), ("high", "high|upper|hi|ub"))
}
FINISHED_BESIDE = ("votes", "intervals")


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which column of a wide table is what."""

    agent: str
    tasks: list[str]
    errors: dict[str, str]  # columns of standard errors, and the tasks they belong to
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


def list_columns(head: pl.DataFrame) -> list[str]:
    """Return the columns of a table without the numbers of its rows."""
    return [name for name in head.columns if name != ROW]


def find_roles(head: pl.DataFrame, agent: str, table: Table, options: Options) -> Roles:
    """Tell tasks from standard errors, averages, metadata, and what the user ignores."""
    source = table.name
    others = [name for name in list_columns(head) if name != agent]
    ignored = match_names(list_names(options.ignore), others, source, "column")
    asked = name_directions(options, others)  # whoever says that low is good on a column means a task
    open_ones = [name for name in others if name not in ignored]
    books = [name for name in open_ones if is_bookkeeping(head[name]) and name not in asked]
    words = [name for name in open_ones if name not in (*books, *asked) and is_text(head[name])]
    refuse_words(head, agent, words, source)
    numbers = [name for name in open_ones if name not in (*books, *words)]
    empty = [name for name in numbers if name not in asked and is_empty(head[name], source)]
    rest = [name for name in numbers if name not in empty]
    errors = {name: task for name, task in find_error_columns(head, [*rest, *ignored], source).items() if name in rest}
    details = {name: what for name, what in find_metadata(rest).items() if name not in asked and name not in errors}
    details |= {name: "intervals" for name in find_bounds(head, rest, source) if name not in asked}
    details |= {name: "counts" for name in find_by_ending(ITEMS_OF, rest) if name not in asked}
    details |= {name: "ranks" for name in rest if (is_rank(name) or is_numbering(head[name])) and name not in asked}
    details |= {name: "counts" for name in rest if is_same_total(head[name]) and name not in (*asked, *details)}
    tasks = [name for name in rest if name not in details and name not in errors]
    notes: list[str] = []
    if not tasks:
        tasks = [name for name, what in details.items() if what not in ("dates", "links", "ranks")]
        details = {name: what for name, what in details.items() if name not in tasks}
        notes += [f"{listed(tasks)} would be metadata beside other scores, and count as tasks here"] if tasks else []
    if not tasks:
        raise describe_layout(source, table.columns, f"a row per agent, {agent!r}, but no other column has scores")
    refuse_finished(tasks, details, source)
    if not find_usual(AGENT, [agent]) and agent.strip() and all(map(is_number, tasks)) and "." in "".join(tasks):
        raise describe_layout(source, table.columns, "scores without column names: the first line has numbers")
    averages = find_averages(head, tasks, ignored, source)
    if len(tasks) > 1 and (kept := [name for name in tasks if is_average(name) and name not in averages]):
        notes.append(
            f"{listed(kept)} {'is' if len(kept) == 1 else 'are'} not the average of the other columns, and "
            f"{'counts as a task' if len(kept) == 1 else 'count as tasks'}; {spell_option('ignore', kept)} leaves "
            f"{'it' if len(kept) == 1 else 'them'} out"
        )
    tasks = [name for name in tasks if name not in averages]
    stray = [name for name, task in errors.items() if task not in tasks]
    reasons = {
        "neither a name nor content": [name for name in books if head[name].null_count() == len(head)],
        "row labels, not scores": [name for name in books if head[name].null_count() < len(head)],
        "lists or objects, not numbers": table.nested,
        "text, not numbers": words,
        "empty": empty,
        "ignored as asked": ignored,
        "standard errors of what is left out": stray,
        "metadata by name": [name for name in details if details[name] != "ranks"],
        "ranks": [name for name in details if details[name] == "ranks"],
    }
    left_out = leave_out_averages(averages) + tuple(
        entry for why, which in reasons.items() for entry in leave_out(which, f"{why}: {listed(which)}")
    )
    return Roles(
        agent=agent,
        tasks=tasks,
        errors={name: task for name, task in errors.items() if task in tasks},
        left_out=left_out,
        notes=tuple(notes),
    )


def refuse_words(head: pl.DataFrame, agent: str, words: Sequence[str], source: str) -> None:
    """Raise an error where text shows that a table is a log of matches, or that its numbers are written otherwise."""
    for name in words:
        cells = [cell for cell in head[name].drop_nulls() if COMMA_DECIMAL.fullmatch(str(cell))]
        if 2 * len(cells) > len(head):
            raise InputError(
                f"{source!r}, column {name!r} has numbers with a comma, such as {cells[0]!r}, which may be decimals or "
                f"thousands: write a point, or no comma"
            )
    if fold(agent) in ("winner", "loser"):
        raise describe_layout(source, list_columns(head), f"a table of counts by winner and loser, {agent!r} being one")
    results = [name for name in words if fold_words(name) in ("winner", "loser", "result", "outcome")]
    if results and not find_usual(AGENT, [agent]):
        raise describe_layout(source, list_columns(head), f"a log of matches by {results[0]!r}, but without two agents")
    names = set(head[agent].drop_nulls())
    if headless := [name for name in words if name in names and not find_usual(AGENT, [agent])]:
        closest = f"a log of matches without column names: {headless[0]!r} is in the first line and below it"
        raise describe_layout(source, list_columns(head), closest)
    for name in words:
        same = len(names) > 1 and 2 * len(names & set(head[name].drop_nulls())) > len(names)
        if same or is_of_opponent(name):
            why = "which have the same names" if same else "but without an outcome"
            closest = f"a log of matches between {agent!r} and {name!r}, {why}"
            raise describe_layout(source, list_columns(head), closest)


def describe_layout(source: str, columns: Sequence[str], closest: str) -> InputError:
    """Return the error for a table whose layout is not known: what was looked for, and what is closest."""
    return InputError(
        f"{source!r} ({listed(columns, 8)}) is in no known layout (two agents and an outcome; agent, task and score; a "
        f"row per agent): closest is {closest}",
        hint="name columns with {a}, {b} and {outcome}, or with {agent}",
        option={"a": None, "b": None, "outcome": None, "agent": None},
    )


def leave_out(columns: Sequence[str], why: str) -> tuple[LeftOut, ...]:
    """Return the entry for columns that are not used, if there are any."""
    return (LeftOut("columns", len(columns), why),) if columns else ()


def name_directions(options: Options, columns: Sequence[str]) -> list[str]:
    """Return the columns that the user names, without a pattern, as tasks where low is good."""
    asked = options.lower_is_better
    if asked is None or isinstance(asked, bool):
        return []
    return [name for name in list_names(asked) if name in columns and not is_pattern(name)]


def refuse_finished(tasks: Sequence[str], details: Mapping[str, str], source: str) -> None:
    """Raise an error for a finished leaderboard: one rating beside votes, ranks or intervals."""
    rated = [name for name in tasks if RATING.fullmatch(fold_words(name))]
    beside = [name for name, what in details.items() if what in FINISHED_BESIDE]
    alone = False
    if any(fold_words(name) != "score" for name in rated):
        beside += [name for name, what in details.items() if what == "ranks"]
        alone = len(tasks) == 1
    if (
        rated
        and (beside or alone)
        and all(name in rated or RATED.fullmatch(fold_words(name) or name.strip()) for name in tasks)
    ):
        raise InputError(
            f"{source!r} is a finished leaderboard ({listed([*tasks, *beside])}): ratings cannot be evaluated again, "
            f"read the matches or scores behind them",
            hint="the rating is a score with {option} for the other columns",
            option="ignore",
        )
    words = {fold_words(name) for name in (*tasks, *details)}
    if words & WON and words & LOST and all(STANDING.fullmatch(fold_words(name)) for name in tasks):
        raise InputError(
            f"{source!r} is a table of standings ({listed([*tasks, *details], 8)}): wins and losses of an agent do not "
            f"say against whom, read the matches behind them",
            hint="points are a score with {option} for the other columns",
            option="ignore",
        )


def is_same_total(column: pl.Series) -> bool:
    """Return whether a column called a total is the same for every agent: the number of items that all of them had."""
    return fold_words(column.name) == "total" and column.n_unique() == 1 < len(column)


def is_numbering(column: pl.Series) -> bool:
    """Return whether a column called ``No`` or ``Nr`` numbers the rows; Norwegian is called ``no`` as well."""
    named = fold_words(column.name) in ("no", "nr")
    return named and as_numbers(column, "").tolist() == [*range(1, len(column) + 1)]


def is_text(column: pl.Series) -> bool:
    """Return whether a column holds text: fewer than half of its cells are numbers."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return False
    if column.dtype != pl.String:
        return column.dtype != pl.Null
    there = [cell for cell in column if cell is not None and cell.strip().casefold() not in MISSING]
    return 2 * sum(map(is_number, there)) < len(there) if there else False


def is_empty(column: pl.Series, source: str) -> bool:
    """Return whether a column of a table with rows has no number at all."""
    return len(column) > 0 and bool(np.isnan(as_numbers(column, source)).all())


def find_averages(head: pl.DataFrame, tasks: Sequence[str], ignored: Sequence[str], source: str) -> list[str]:
    """Return the columns called averages whose numbers are the mean, median or sum of the others, as far as printed.

    Others are all other tasks, with or without those that are ignored, or those on which a high score is good; of a
    row with holes, what is there. An average may have been taken before the others were rounded.
    """
    named = [name for name in tasks if is_average(name)]
    plain = [name for name in tasks if name not in named]
    subsets = [plain, [name for name in plain if not is_called_low(name)], [*plain, *ignored]]
    found = []
    for name in named:
        values = as_numbers(head[name], source)
        exact, printed = 1e-9 * np.abs(values), 0.5001 * 10.0 ** -count_decimals(head[name])
        for subset in subsets:
            units = [0.5 * 10.0**-places if (places := count_decimals(head[other])) else 0.0 for other in subset]
            others = np.array([as_numbers(head[other], source) for other in subset])
            known = ~np.isnan(values) & ~np.isnan(others).all(axis=0) if subset else np.zeros(len(head), dtype=bool)
            if known.sum() < 2:
                continue
            candidates: Sequence[tuple[Any, float]] = (
                (np.nanmean, max(units)),
                (np.nanmedian, max(units)),
                (np.nansum, sum(units)),
            )
            # whole numbers that differ by no more than their rounding would agree with anything near them
            rounds = [
                printed + unit if printed + unit < 0.5 or np.ptp(values[known]) > 1 else 0.0 for _, unit in candidates
            ]
            if any(
                (np.abs(values[known] - average(others[:, known], axis=0)) <= exact[known] + rounding).all()
                for (average, _), rounding in zip(candidates, rounds, strict=True)
            ):
                found.append(name)
                break
    return found


def count_decimals(column: pl.Series) -> int:
    """Return how many decimals the numbers of a column are printed with."""
    words = [repr(cell) if isinstance(cell, float) else str(cell).strip() for cell in column.drop_nulls()]
    return max((len(word.rstrip("%").partition(".")[2]) for word in words if "e" not in word.lower()), default=0)


def as_numbers(column: pl.Series, source: str) -> Floats:
    """Return a column as an array, NaN where a cell is missing or no number."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    cells = [parse_number(cell, source) if is_number(cell) else None for cell in column]
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)


def find_error_columns(head: pl.DataFrame, columns: list[str], source: str) -> dict[str, str]:
    """Return the columns of standard errors, and the tasks they belong to; a short ending needs small numbers too."""
    found = find_by_ending(ERROR_BEFORE, columns) | find_by_ending(ERROR_OF, columns)
    nameless, tasks = find_usual(STDERR, columns), [name for name in columns if name not in found]
    scores = [name for name in tasks if name not in nameless and not find_metadata([name]) and not is_rank(name)]
    if len(nameless) == 1 and len(scores) == 1:  # the standard errors of the only task
        found |= {nameless[0]: scores[0]}
    for name, task in find_by_ending(PERHAPS_ERROR_OF, columns).items():
        if are_small(as_numbers(head[name], source), as_numbers(head[task], source)):
            found[name] = task
    return found


def find_bounds(head: pl.DataFrame, columns: list[str], source: str) -> list[str]:
    """Return the columns that are the ends of an interval around another one, as their numbers show."""
    low, high = (find_by_ending(BOUNDS[side], columns) for side in ("low", "high"))
    found: list[str] = []
    for lower, task in low.items():
        for upper in (name for name, other in high.items() if other == task):
            least, score, most = (as_numbers(head[name], source) for name in (lower, task, upper))
            if not ((least > score) | (score > most)).any():
                found += [lower, upper]
    halves = find_by_ending(HALF_OF, columns).items()
    values = {name: as_numbers(head[name], source) for pair in halves for name in pair}
    return found + [name for name, task in halves if are_small(values[name], values[task])]


def are_small(errors: Floats, scores: Floats) -> bool:
    """Return whether numbers can be the standard errors of scores: none is negative, and all are small beside them."""
    errors, scores = errors[~np.isnan(errors)], scores[~np.isnan(scores)]
    if not errors.size or not scores.size or (errors < 0).any():
        return False
    return bool((errors <= SMALL * np.abs(scores).max()).all())


def find_agent_column(head: pl.DataFrame, options: Options, source: str) -> str:
    """Return the column of agents: as named, by its usual name, or the first if it holds text."""
    named = options.agent
    columns = list_columns(head)
    if named is None and len(usual := find_usual(AGENT, columns)) > 1:
        texts = [name for name in usual if is_text(head[name]) and head[name].n_unique() == len(head)]
        named = texts[0] if len(texts) == 1 else None  # a model beside its system or method
    found = find_column("agent", AGENT, columns, source, named)
    if found is not None:
        return found
    usable = [
        name for name in columns if not (is_unnamed_index(head[name]) or find_usual(TIME, [name]) or is_rank(name))
    ]
    first = usable[0] if usable else columns[0]
    if head[first].dtype.is_numeric() or not head[first].cast(pl.String).cast(pl.Float64, strict=False).null_count():
        raise describe_layout(source, list_columns(head), "a row per agent, but no column has names")
    if find_usual(TASK, [first]) and find_usual(SCORE, columns):  # results of one agent: tasks are no agents
        closest = f"a row per task, {first!r}, of one agent, but no column names the agent"
        raise describe_layout(source, columns, closest)
    return first


def is_bookkeeping(column: pl.Series) -> bool:
    """Return whether a column tells rows apart and measures nothing, as a seed and an index do."""
    words = " ".join(split_words(column.name))
    return BOOKKEEPING.fullmatch(words) is not None or is_unnamed_index(column)


def is_unnamed_index(column: pl.Series) -> bool:
    """Return whether a column without a name holds nothing, or row numbers: a data frame's index beside the data."""
    if not NAMELESS.fullmatch(column.name.strip()):
        return False
    return not column.cast(pl.String).drop_nulls().cast(pl.Int64, strict=False).null_count()
