"""What a format is, and what its reader is given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import narwhals as nw

from nashboard._files import Workspace
from nashboard._text import listed
from nashboard.data.columns import Named, given
from nashboard.data.json_objects import document
from nashboard.data.kinds import Kind, kind_of, one_line
from nashboard.data.matches import Matches
from nashboard.data.outcomes import Rules
from nashboard.data.payoffs import Payoffs
from nashboard.data.scan import Scan, scan
from nashboard.data.scores import Scores
from nashboard.data.segments import Split
from nashboard.data.sources import PlainFile
from nashboard.errors import InputError

Data = Matches | Scores | Payoffs
TABLES = ("delimited", "parquet", "json lines", "json list")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything a user can say about a file; a reader takes what concerns it."""

    # matches
    a: str | None = None
    b: str | None = None
    outcome: str | None = None
    weight: Named = None
    time: Named = None
    cluster: Named = None
    neutral: Named = None
    outcomes: Rules = field(default_factory=dict)
    self_matches: Literal["error", "drop"] = "error"
    where: Mapping[str, object] = field(default_factory=dict)
    segment: Split | None = None
    # scores
    agent: str | None = None
    task: str | None = None
    score: str | None = None
    lower_is_better: bool | str | Sequence[str] | None = None
    ignore: Sequence[str] = ()
    repeats: Literal["error", "runs"] | None = None
    metric: str | None = None
    # matrices
    symmetrise: bool = False
    # text tables
    separator: str | None = None
    # databases
    table: str | None = None
    query: str | None = None


@dataclass(frozen=True)
class Input:
    """The files behind a source, opened as far as a format needs them; or a frame that is a table already."""

    files: tuple[PlainFile, ...]
    workspace: Workspace
    options: Options
    table: Scan | None = None
    frame: nw.LazyFrame[Any] | None = None  # a frame that stays in its own engine

    @property
    def name(self) -> str:
        """The name under which the user knows the source."""
        if self.table is not None:
            return self.table.name
        return self.files[0].name if len(self.files) == 1 else f"{self.files[0].name} and {len(self.files) - 1} more"

    @cached_property
    def kind(self) -> Kind | Literal["directory"]:
        """What the files are, by their first bytes."""
        if self.table is not None:
            return self.table.kind
        if any(file.path.is_dir() for file in self.files):
            if len(self.files) > 1:
                raise InputError(f"a folder is read on its own, not together with other files: {self.name!r}")
            return "directory"
        return kind_of(self.files[0])

    @cached_property
    def scan(self) -> Scan:
        """The files as one table."""
        return self.table if self.table is not None else scan(self.files, self.workspace, self.options.separator)

    @property
    def disk(self) -> Scan | None:
        """The files as one table, which knows the numbers of its rows; none for a frame in its own engine."""
        return self.scan if self.frame is None else None

    @property
    def rows(self) -> nw.LazyFrame[Any]:
        """The rows of the table, in whatever engine they are."""
        return nw.from_native(self.scan.frame) if self.frame is None else self.frame

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table; none where the files are no table."""
        return self.scan.columns if self.kind in TABLES else ()

    @cached_property
    def document(self) -> Any:
        """A single json file, parsed."""
        return document(self.files[0])

    @cached_property
    def is_document(self) -> bool:
        """Whether the first file is a single json document; a log of json lines is never read whole to find out."""
        return self.kind == "json" or (self.kind == "json lines" and one_line(self.files[0]))

    def has(self, *columns: str) -> bool:
        """Say whether a table has all these columns."""
        return set(columns) <= set(self.columns)

    def require(self, *columns: str) -> None:
        """Raise an error that names the first of these columns that a table lacks: its format may be forced."""
        for name in columns:
            given(name, self.scan.columns, self.name)


@dataclass(frozen=True, kw_only=True)
class Format:
    """A layout of files: its name, how to recognise it, and how to read it."""

    name: str
    makes: Literal["matches", "scores", "payoffs"]
    holds: str
    fits: Callable[[Input], bool]
    read: Callable[[Input], Data]

    def refuse_unused(self, options: Options) -> None:
        """Raise an error for an option that this format has no use for: it would be ignored silently."""
        plain = Options()
        said = [field.name for field in fields(Options) if getattr(options, field.name) != getattr(plain, field.name)]
        taken = TAKEN.get(self.name, TAKEN[self.makes])
        for name in said:
            if name not in taken:
                raise InputError(f"{name}= has no meaning for {self.name} ({self.holds}); it takes {listed(taken, 99)}")


GAME_OPTIONS = ("a", "b", "outcome", "weight", "time", "cluster", "outcomes", "self_matches", "where", "separator")
MATCH_OPTIONS = (*GAME_OPTIONS, "neutral", "segment")
# What can be said about a format, by its name, or else by what it makes.
TAKEN: dict[str, tuple[str, ...]] = {
    "matches": MATCH_OPTIONS,
    "pgn": GAME_OPTIONS,
    "cutechess": GAME_OPTIONS,
    "scores": ("lower_is_better", "separator"),
    "payoffs": ("symmetrise", "separator"),
    "scores-long": ("agent", "task", "score", "lower_is_better", "metric", "where", "separator", "segment"),
    "scores-wide": ("agent", "lower_is_better", "ignore", "repeats", "separator"),
    "open-llm-leaderboard": ("agent", "lower_is_better", "ignore", "repeats", "separator"),
    "lm-eval": ("lower_is_better", "metric"),
    "every-eval-ever": ("lower_is_better", "metric"),
}
