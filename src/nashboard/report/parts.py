"""What a page is made of: sections, and in them sentences, facts, checks, folds and text to copy.

A part is plain data. The template that shows it has its name: ``Facts`` is shown by ``templates/facts.html``.
"""

from dataclasses import dataclass
from typing import ClassVar

from nashboard.evaluation.audit.checks import Check
from nashboard.report.grid import Grid
from nashboard.report.picture import Picture


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """A list of sentences; ``tone`` is ``"plain"``, ``"warning"`` or ``"missing"`` (why something is not here)."""

    template: ClassVar[str] = "sentences.html"
    lines: tuple[str, ...]
    tone: str = "plain"
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A number that stands for much, and what it is."""

    value: str
    name: str
    meaning: str = ""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A few numbers beside each other."""

    template: ClassVar[str] = "facts.html"
    facts: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True)
class Checks:
    """The list "can you trust this?"."""

    template: ClassVar[str] = "checks.html"
    checks: tuple[Check, ...]

    @property
    def ordered(self) -> tuple[Check, ...]:
        """What needs a look comes first."""
        return tuple(sorted(self.checks, key=lambda check: check.passed is True))


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Names and what they stand for, such as settings."""

    template: ClassVar[str] = "terms.html"
    rows: tuple[tuple[str, str], ...]
    caption: str


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Text that people copy as it is, such as an entry of a bibliography."""

    template: ClassVar[str] = "quote.html"
    key: str
    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Fold:
    """Parts that are shown when asked for."""

    template: ClassVar[str] = "fold.html"
    title: str
    parts: tuple["Part", ...]


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading between the parts of a section."""

    template: ClassVar[str] = "heading.html"
    text: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page under a heading of its own.

    Parameters
    ----------
    key
        Its address within the page.
    title, opening
        The heading, and a sentence that a person who never heard of Nash understands.
    how
        How to read it, paragraph by paragraph; shown when asked for.
    parts
        What it holds, in order.
    """

    key: str
    title: str
    opening: str
    how: tuple[str, ...]
    parts: tuple["Part", ...]


Part = Sentences | Facts | Checks | Terms | Quote | Fold | Heading | Grid | Picture
