"""The exceptions of nashboard.

::

    NashboardError
    ├── InputError (also a ValueError)         wrong input: a file, a value, an option
    ├── WriteError (also an OSError)           writing failed: a full disk, a read-only folder
    ├── ConvergenceError (also a RuntimeError) a solver missed its tolerance; nothing is returned
    └── MissingExtraError (also an ImportError) an optional package has to be installed first
"""

from collections.abc import Callable, Collection, Mapping

from nashboard._text import either, nearest, shortened

LONGEST = 2000  # characters of a message

Options = Mapping[str, object]
Spelling = Callable[[str, object], str | None]


class NashboardError(Exception):
    """Base class of all errors that nashboard raises on purpose; the message is one sentence on one line.

    Parameters
    ----------
    message
        One sentence: where, what is wrong, what is allowed.
    hint
        What to do about it. ``{name}`` is replaced by the option of that name, ``{option}`` by the only one.
    option
        The option that the hint is about, or a dictionary of options and suggested values (None: no value).
        Python spells ``components=``, the command line ``--components`` or ``-r separator=,``; a command that
        lacks the option leaves the hint out.

    Examples
    --------
    >>> from nashboard.errors import InputError
    >>> str(InputError("'log.csv' has two outcome columns", hint="choose one with {option}", option="outcome"))
    "'log.csv' has two outcome columns: choose one with outcome="
    """

    def __init__(self, message: str, hint: str | None = None, option: str | Options | None = None) -> None:
        self.message = message
        self.hint = hint
        self.options: Options = {option: None} if isinstance(option, str) else dict(option or {})
        super().__init__(self.render(spell_in_python))

    def render(self, spell: Spelling) -> str:
        """Return message and hint with every option spelled by ``spell``; without the hint if it returns None."""
        if self.hint is None:
            return one_line(self.message)
        spelled = {name: spell(name, value) for name, value in self.options.items()}
        if None in spelled.values():
            return one_line(self.message)
        hint = self.hint
        if len(spelled) == 1:
            spelled["option"] = next(iter(spelled.values()))
            if not any(f"{{{name}}}" in hint for name in spelled):
                hint += " ({option})"
        for name, text in spelled.items():
            hint = hint.replace(f"{{{name}}}", text or "")
        return one_line(f"{self.message}: {hint}")


class InputError(NashboardError, ValueError):
    """The input is wrong: a file, a value or an option."""


class WriteError(NashboardError, OSError):
    """Writing failed; the message says where and why."""


class ConvergenceError(NashboardError, RuntimeError):
    """A solver did not reach its tolerance; the message says what it reached."""


class MissingExtraError(NashboardError, ImportError):
    """An optional package is needed; the message contains the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'nashboard[{extra}]'")


def check_choice(value: str, allowed: Collection[str], what: str) -> str:
    """Return a value that is one of those allowed; else raise an error that lists them."""
    if value not in allowed:
        raise InputError(f"there is no {what} {value!r}{nearest(str(value), allowed)}: use {either(allowed)}")
    return value


def check_level(level: object) -> None:
    """Raise an error if a level is not a confidence level."""
    if not (isinstance(level, float) and 0.5 <= level < 1):
        raise InputError(f"the level is {level!r}: it is a confidence between 0.5 and 1, such as 0.95")


def spell_in_python(name: str, value: object) -> str:
    """Return ``name=`` or ``name='value'``."""
    return f"{name}=" if value is None else f"{name}={value!r}"


def one_line(message: str) -> str:
    """Return a message on one line, shortened if it is very long."""
    return shortened(" ".join(message.splitlines()), LONGEST)
