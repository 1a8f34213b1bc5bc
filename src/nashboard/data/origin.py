"""Where a data set came from, and what was done to it on the way in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nashboard._text import listed, number_of, shortened

MAY_BE_ALIKE = "rows that share one may be correlated"  # what a note says about clusters that were used, or should be
CHOSEN = "only rows where"  # how a note about the user's own choice begins


@dataclass(frozen=True)
class LeftOut:
    """Rows, columns or cells that were read but not used, and why."""

    what: str
    count: int
    why: str

    def __str__(self) -> str:
        return f"{number_of(self.count, self.what)} left out: {self.why}"


@dataclass(frozen=True)
class Fact:
    """A property of the data, its value as text, and what it means for the reader."""

    name: str
    value: str
    meaning: str


def columns_taken(roles: Mapping[str, str | tuple[str, ...] | None], columns: Sequence[str]) -> Fact:
    """Return which columns of a table were taken for what, and which were not used; a role may have several."""
    taken = {
        role: (names,) if isinstance(names, str) else names for role, names in roles.items() if names not in (None, ())
    }
    used = {name for names in taken.values() for name in names}
    others = [column for column in columns if column not in used]
    shown = ", ".join(f"{role} {', '.join(repr(shortened(name)) for name in names)}" for role, names in taken.items())
    return Fact(
        "columns",
        f"{len(columns) - len(others):,} of {len(columns):,}",
        shown + (f"; not used: {listed(others)}" if others else ""),
    )


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The file or frame, its format, how many rows it had, and everything worth telling a person.

    ``taken`` says which columns and labels were taken for what.
    """

    source: str = "memory"
    format: str = "array"
    rows: int = 0
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    period: tuple[str, str] | None = None
    taken: tuple[Fact, ...] = ()

    def noting(self, *notes: str) -> "Origin":
        """Return the same origin with more notes."""
        return replace(self, notes=(*self.notes, *(note for note in notes if note not in self.notes)))


MEMORY = Origin()
