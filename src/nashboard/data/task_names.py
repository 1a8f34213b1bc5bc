"""What the name of a task says: that it is the standard error of another one, or that a low score is good."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from nashboard._text import listed, shortened
from nashboard.data.columns import folded

# Ends of names, the part before them being a task; lm-evaluation-harness puts a filter behind a comma. The short ones
# may also be a language: their values decide.
ERROR_OF = re.compile(r"(?P<task>.+)_(stderr|std_err|standard_error)(?P<filter>(,.*)?)")
PERHAPS_ERROR_OF = re.compile(r"(?P<task>.+)_(se|sem)(?P<filter>)")
SPREAD_OF = re.compile(r"(?P<task>.+)_(std|sd|stdev|std_dev)(?P<filter>)")

LOW_IS_GOOD = frozenset(
    ("latency", "perplexity", "ppl", "runtime", "seconds", "milliseconds", "ms", "rmse", "mse", "mae", "wer")
)
# These also begin names of tasks where high is good (time series, error correction): only at the end, or before a unit.
LOW_AT_THE_END = frozenset(("loss", "error", "errors", "cost", "costs", "time", "duration", "regret"))
UNITS = frozenset(("rate", "s", "sec", "min", "minutes", "hours", "usd", "eur", "dollars", "percent", "mean", "avg"))


def errors_of(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that are by their names the standard errors of others, and of which."""
    return by_ending(ERROR_OF, columns)


def perhaps_errors_of(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that may by their names be the standard errors of others, and of which."""
    return by_ending(PERHAPS_ERROR_OF, columns)


def spreads_of(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that are by their names the standard deviations of others, and of which."""
    return by_ending(SPREAD_OF, columns)


def by_ending(pattern: re.Pattern[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the columns whose name is that of another one with such an ending, and of which."""
    there = {folded(name): name for name in columns}
    ends = {name: pattern.fullmatch(folded(name)) for name in columns}
    bases = {name: match["task"] + match["filter"] for name, match in ends.items() if match}
    return {name: there[base] for name, base in bases.items() if base in there}


def low_by_name(tasks: Iterable[str], asked: bool | str | Sequence[str] | None, said: Iterable[str]) -> tuple[str, ...]:
    """Return the note about tasks where by their names a low score is good and nobody said so."""
    if isinstance(asked, bool):
        return ()
    spoken = {*said, *([asked] if isinstance(asked, str) else asked or ())}
    low = [task for task in tasks if task not in spoken and names_what_is_low(task)]
    if not low:
        return ()
    return (f"a high score counts as good on {listed(low)}: if a low one is, pass {option('lower_is_better', low)}",)


def option(name: str, values: list[str]) -> str:
    """Return how to pass names of columns or tasks: in Python, and on the command line as a shell takes it."""
    shown = [shortened(value) for value in values[:3]]
    dots = ", ..." if len(values) > len(shown) else ""
    in_python = f"{name}=[{', '.join(map(repr, shown))}{dots}]"
    if any("," in value for value in shown):  # there a comma separates names
        return in_python
    return f"{in_python} (on the command line -r {shlex.quote(name + '=' + ','.join(shown))}{dots.replace(' ', '')})"


def names_what_is_low(task: str) -> bool:
    """Say whether a task is called by something of which less is better."""
    words = re.sub(r"[\W_]+", " ", task.casefold()).split()
    if not LOW_IS_GOOD.isdisjoint(words):
        return True
    while words and words[-1] in UNITS:
        words.pop()
    return bool(words) and words[-1] in LOW_AT_THE_END


def taken_for_errors(errors: Mapping[str, str]) -> tuple[str, ...]:
    """Return the note about columns that are read as standard errors of others."""
    if not errors:
        return ()
    columns = list(errors)
    what = f"column {listed(columns)} is" if len(columns) == 1 else f"columns {listed(columns)} are"
    them = "it" if len(columns) == 1 else "them"
    return (
        f"{what} taken for the standard errors of {listed(errors.values())}; {option('ignore', columns)} leaves {them} "
        f"out",
    )


def counted_as_tasks(columns: Mapping[str, str], what: str) -> tuple[str, ...]:
    """Return the note about columns that are read as tasks, although they may be something else."""
    if not columns:
        return ()
    verb = "counts as a task" if len(columns) == 1 else "count as tasks"
    return (
        f"{listed(columns)} may hold {what} of {listed(columns.values())}, but {verb}: pass "
        f"{option('ignore', list(columns))}, or give names that end in _stderr to standard errors",
    )
