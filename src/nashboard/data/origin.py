"""Where a data set came from, and what was done to it on the way in."""

from dataclasses import dataclass, replace

from nashboard.errors import number_of


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Rows, columns or cells that were read but not used, and why."""

    what: str
    count: int
    why: str

    def __str__(self) -> str:
        return f"{number_of(self.count, self.what)} left out: {self.why}"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The file or frame, its format, how many rows it had, and everything worth telling a person."""

    source: str = "memory"
    format: str = "array"
    rows: int = 0
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    period: tuple[str, str] | None = None

    def noting(self, *notes: str) -> "Origin":
        """Return the same origin with more notes."""
        return replace(self, notes=(*self.notes, *(note for note in notes if note not in self.notes)))


MEMORY = Origin()
