"""What the name of a column says: a standard error of another one, a low score that is good, or metadata."""

import re
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from nashboard._text import listed, shortened
from nashboard.data.table.columns import fold, fold_words

Directions = bool | str | Sequence[str] | None  # what a user says: all tasks, or names and patterns of some
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


def find_errors(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that are by their names the standard errors of others, and of which."""
    return find_by_ending(ERROR_OF, columns)


def find_possible_errors(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that may by their names be the standard errors of others, and of which."""
    return find_by_ending(PERHAPS_ERROR_OF, columns)


def find_spreads(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that are by their names the standard deviations of others, and of which."""
    return find_by_ending(SPREAD_OF, columns)


def find_by_ending(pattern: re.Pattern[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the columns whose name is that of another one with such an ending, and of which."""
    there = {fold(name): name for name in columns}
    ends = {name: pattern.fullmatch(fold(name)) for name in columns}
    bases = {name: match["task"] + match["filter"] for name, match in ends.items() if match}
    return {name: there[base] for name, base in bases.items() if base in there}


def note_low_names(tasks: Iterable[str], asked: Directions, said: Container[str]) -> tuple[str, ...]:
    """Return the note about tasks where by their names a low score is good and nobody said so."""
    if isinstance(asked, bool):
        return ()
    patterns = [asked] if isinstance(asked, str) else list(asked or ())
    low = [
        task
        for task in tasks
        if task not in said and is_called_low(task) and not any(fnmatchcase(task, pattern) for pattern in patterns)
    ]
    if not low:
        return ()
    return (
        f"a high score counts as good on {listed(low)}: if a low one is, pass {spell_option('lower_is_better', low)}",
    )


def spell_option(name: str, values: list[str]) -> str:
    """Return how to pass names of columns or tasks: in Python, and on the command line as a shell takes it."""
    shown = [shortened(value) for value in values[:3]]
    dots = ", ..." if len(values) > len(shown) else ""
    in_python = f"{name}=[{', '.join(map(repr, shown))}{dots}]"
    if any("," in value for value in shown):  # there a comma separates names
        return in_python
    return f"{in_python} (on the command line -r {shlex.quote(name + '=' + ','.join(shown))}{dots.replace(' ', '')})"


def is_called_low(task: str) -> bool:
    """Return whether a task is called by something of which less is better."""
    words = re.sub(r"[\W_]+", " ", task.casefold()).split()
    if not LOW_IS_GOOD.isdisjoint(words):
        return True
    while words and words[-1] in UNITS:
        words.pop()
    return bool(words) and words[-1] in LOW_AT_THE_END


def note_errors(errors: Mapping[str, str]) -> tuple[str, ...]:
    """Return the note about columns that are read as standard errors of others."""
    if not errors:
        return ()
    columns = list(errors)
    what = f"column {listed(columns)} is" if len(columns) == 1 else f"columns {listed(columns)} are"
    them = "it" if len(columns) == 1 else "them"
    return (
        f"{what} taken for the standard errors of {listed(errors.values())}; {spell_option('ignore', columns)} leaves "
        f"{them} out",
    )


def note_counted(columns: Mapping[str, str], what: str) -> tuple[str, ...]:
    """Return the note about columns that are read as tasks, although they may be something else."""
    if not columns:
        return ()
    verb = "counts as a task" if len(columns) == 1 else "count as tasks"
    return (
        f"{listed(columns)} may hold {what} of {listed(columns.values())}, but {verb}: pass "
        f"{spell_option('ignore', list(columns))}, or give names that end in _stderr to standard errors",
    )


# Columns beside the scores that describe an agent or a row: whole names only, since tasks are called alike
# (date_understanding, length of stay, cost of living).
KINDS_OF = r"((total|avg|average|mean|max|median|api|estimated|inference|output|input|prompt|response|context|n|num) )*"
WORDS = {
    "parameters": r"(total |active |number of |num |n )?(params?|parameters)( b| m| billions?| in billions)?|"
    r"(model |parameter )?size( b| gb| mb)?",
    "owners": r"(model )?licen[cs]e|organi[sz]ation|org|provider|company|developer|creator|country",
    "dates": r"(release |submission |upload |eval |knowledge |training )?(date|year|month)( cutoff)?|"
    r"(knowledge )?cutoff( date)?|(created|updated|submitted|released)( at| on)?|timestamp",
    "links": r"url|link|homepage|paper|repo|repository|github|hf link|sha|revision|commit|(hub )?(likes|downloads)",
    "votes": r"(number of |num |n )?(votes|battles|games|matches|wins|losses|draws|ties)|n (wins base|total)",
    "costs": KINDS_OF + r"(cost|costs|price|pricing|spend)( usd| eur| per \w+| m| 1m| k| 1k| tokens| mtok| in| out)*",
    "tokens": KINDS_OF + r"(tokens?|tok)( used| count)?",
    "lengths": KINDS_OF + r"(length|len|context window|num chars|words)",
    "counts": r"(number of|num|n|total) (items|samples|questions|tasks|examples|instances|runs|seeds)|n|count",
    "emissions": r"co2( cost| emissions?)?( kg)?",
    "intervals": r"(95 )?ci( lower| upper| 95)?|(lower|upper)( bound| ci)?|confidence interval|rating q?(025|975)",
}
METADATA = {what: re.compile(pattern) for what, pattern in WORDS.items()}


def find_metadata(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns that by their names describe an agent or a row, and what they hold.

    >>> find_metadata(["avg_length", "n_total", "#Params (B)", "date_understanding", "win_rate"])
    {'avg_length': 'lengths', 'n_total': 'votes', '#Params (B)': 'parameters'}
    """
    found = {}
    for name in columns:
        words = fold_words(name)
        for what, pattern in METADATA.items():
            if pattern.fullmatch(words):
                found[name] = what
                break
    return found
