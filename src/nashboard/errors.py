"""The exceptions of nashboard.

::

    NashboardError
    ├── InputError (also a ValueError)         the user can mend it: a file, a value, an option
    ├── WriteError (also an OSError)           the machine refuses to write: a full disk, a read-only folder
    ├── ConvergenceError (also a RuntimeError) a solver missed its tolerance, nothing is returned
    ├── WorkerError (also a RuntimeError)      a worker process or machine was lost, nothing is returned
    └── MissingExtraError (also an ImportError) an optional package has to be installed first
"""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_WORD = 200
LONGEST = 2000  # characters of a message: one that repeats a whole file helps nobody


class NashboardError(Exception):
    """Anything that nashboard raises on purpose; its message is one sentence on one line."""

    def __init__(self, message: str) -> None:
        super().__init__(shortened(" ".join(message.splitlines()), LONGEST))


class InputError(NashboardError, ValueError):
    """The input is wrong; the message says where, what, what is allowed and what to do."""


class WriteError(NashboardError, OSError):
    """What was asked for is sound, but it could not be written; the message says where and why."""


class ConvergenceError(NashboardError, RuntimeError):
    """A solver did not reach its tolerance; the message says what it did reach."""


class WorkerError(NashboardError, RuntimeError):
    """A worker that took part in a computation was lost; the same call may succeed another time."""


class MissingExtraError(NashboardError, ImportError):
    """An optional package is needed; the message is the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'nashboard[{extra}]'")


def first_line(error: BaseException) -> str:
    """Return what an error of another library says in its first line."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def number_of(count: int, things: str) -> str:
    """Return ``1 row`` or ``1,401 rows`` of things that are many."""
    return f"{count:,} {things if count != 1 else things.removesuffix('s')}"


def rows_have(count: int, things: str = "rows") -> str:
    """Return ``1 row has`` or ``1,401 rows have``."""
    return f"{number_of(count, things)} {'have' if count != 1 else 'has'}"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known word that looks most like this one, or nothing."""
    close = closest(word, known)
    return "" if close is None else f" (did you mean {shortened(close)!r}?)"


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that looks most like this one, if any looks much like it."""
    if len(word) > LONGEST_WORD:  # comparing takes the square of the length
        return None
    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def shortened(text: str, most: int = 60) -> str:
    """Return a text of at most so many characters: a longer one keeps its two ends around an ellipsis."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - (most - 1) // 2 :]}"


def either(names: Iterable[object]) -> str:
    """Return ``'a', 'b' or 'c'``: all that can be chosen from."""
    *most, last = [repr(name) for name in names]
    return f"{', '.join(most)} or {last}" if most else last


def listed(names: Iterable[object], most: int = 5) -> str:
    """Return ``'a', 'b', 'c' and 4 more``: quoted names for a message, never a screenful."""
    quoted = [repr(shortened(name) if isinstance(name, str) else name) for name in names]
    if len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most:,} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
