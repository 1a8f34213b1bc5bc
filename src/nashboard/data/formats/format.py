"""What a format is, and what its reader is given."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

import polars as pl

from nashboard._files import Workspace
from nashboard._text import listed
from nashboard.data.counting.cells import Cell, frame_cells, make_scores
from nashboard.data.counting.outcomes import SKIP, Rules
from nashboard.data.games import Games
from nashboard.data.matches import Matches
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.segments import Segments
from nashboard.data.sources.frames import find_records, flatten_objects
from nashboard.data.sources.paths import PlainFile, find_below
from nashboard.data.table.columns import Named, check_column
from nashboard.data.table.files import Kind, find_kind, is_one_line
from nashboard.data.table.json_lines import LARGEST_DOCUMENT, read_document
from nashboard.data.table.table import Table, name_files, open_table
from nashboard.errors import InputError

Data = Matches | Scores | Payoffs
MOST_SEGMENTS = 100  # boards that anybody would look at; a column with more values is probably not meant
TABLES = ("delimited", "parquet", "json lines", "json list")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything a user can say about a source; a reader takes what concerns it."""

    # matches
    a: str | None = None
    b: str | None = None
    outcome: str | None = None
    weight: Named = None
    time: Named = None
    cluster: Named = None
    neutral: Named = None
    outcomes: Rules = field(default_factory=dict)
    self_matches: Literal["error", "drop"] | None = None
    where: Mapping[str, object] = field(default_factory=dict)
    segment: str | None = None
    most_segments: int = MOST_SEGMENTS
    rows: tuple[str, ...] | None = None  # games one by one, with these columns, are wanted instead of counts
    grouped: bool = False  # of these, one row for all that are alike
    min_games: float = 0
    components: Literal["all", "largest"] = "all"
    # scores
    agent: str | None = None
    task: str | None = None
    score: str | None = None
    lower_is_better: bool | str | Sequence[str] | None = None
    ignore: str | Sequence[str] = ()
    repeats: Literal["error", "runs"] | None = None
    metric: str | None = None
    # matrices
    symmetrise: bool = False
    # any table
    bad_rows: Literal["error", "skip"] = "error"
    separator: str | None = None
    # databases
    table: str | None = None
    query: str | None = None

    @property
    def skip_bad(self) -> bool:
        """Whether rows that cannot be used are left out and counted, not an error."""
        return self.bad_rows == "skip"


@dataclass(frozen=True, kw_only=True)
class Input:
    """A source, opened as far as a format needs it: files, a table that is not a file, or a document in memory.

    ``wanted`` is what the user asked for, None for whatever it is.
    """

    options: Options
    workspace: Workspace
    files: tuple[PlainFile, ...] = ()
    opened: Table | None = None
    content: Any = None
    wanted: type[Data] | None = None

    @property
    def name(self) -> str:
        """The name under which the user knows the source."""
        if self.opened is not None:
            return self.opened.name
        return name_files(self.files) if self.files else type(self.content).__name__

    @cached_property
    def kind(self) -> Kind | Literal["directory"] | None:
        """What the files are, by their first bytes; None where there are none."""
        if self.opened is not None:
            return self.opened.kind
        if not self.files:
            return None
        if any(file.path.is_dir() for file in self.files):
            if len(self.files) > 1:
                raise InputError(f"a folder is read on its own, not together with other files: {self.name!r}")
            return "directory"
        return find_kind(self.files[0])

    @cached_property
    def table(self) -> Table:
        """The source as one table."""
        if (given := self.opened or self.records) is not None:
            return given.with_row_numbers()
        if not self.files:
            raise InputError(f"{self.name!r} is not a table of rows and columns")
        skip = self.options.skip_bad
        return open_table(self.files, self.workspace, self.options.separator, skip_broken=skip).with_row_numbers()

    @cached_property
    def records(self) -> Table | None:
        """The records inside a json document, one level down; None where there are none."""
        document = self.document
        return None if document is None else find_records(document, self.name)

    @cached_property
    def flat(self) -> "Input | None":
        """The same table with the cells of objects as columns of their own; None where there are no objects."""
        if not self.columns or not self.table.nested:
            return None
        table = flatten_objects(self.table)
        return None if table is None else replace(self, files=(), content=None, opened=table)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table; none where the source is not a table."""
        is_table = self.opened is not None or self.kind in TABLES
        if is_table and not (self.is_document and self.records is not None):
            return self.table.columns
        return self.records.columns if self.records is not None else ()

    @property
    def plain_columns(self) -> tuple[str, ...]:
        """The columns without those of lists and objects."""
        nested = set(self.table.nested) if self.columns else set()
        return tuple(name for name in self.columns if name not in nested)

    @cached_property
    def document(self) -> Any:
        """A single json document, parsed; None where the source is none, or it is broken or too large."""
        if self.content is not None:
            return self.content
        if not self.is_document or self.files[0].path.stat().st_size > LARGEST_DOCUMENT:
            return None
        try:
            return read_document(self.files[0])
        except InputError:
            return None

    @cached_property
    def is_document(self) -> bool:
        """Whether the first file is a single json document; a log of json lines is never read whole to find out."""
        if self.opened is not None or not self.files:
            return self.content is not None
        return self.kind == "json" or (self.kind == "json lines" and is_one_line(self.files[0]))

    def require_document(self) -> Any:
        """Return the single json document, or raise an error that says why there is none."""
        if self.content is not None:
            return self.content
        if not self.files or self.kind == "directory":
            raise InputError(f"{self.name!r} is not a json document: name the json file")
        return read_document(self.files[0])

    def has(self, *columns: str) -> bool:
        """Return whether a table has all these columns."""
        return set(columns) <= set(self.columns)

    def require(self, *columns: str) -> None:
        """Raise an error that names the first of these columns that a table lacks: its format may be forced."""
        for name in columns:
            check_column(name, self.table.columns, self.name)


GAME_OPTIONS = (
    "a", "b", "outcome", "weight", "time", "cluster", "outcomes", "self_matches", "where", "min_games", "components",
    "bad_rows", "separator", "rows", "grouped",
)  # fmt: skip
MATCH_OPTIONS = (*GAME_OPTIONS, "neutral", "segment")
SCORE_OPTIONS = ("lower_is_better", "bad_rows", "separator")
WIDE_OPTIONS = ("agent", "ignore", "repeats", *SCORE_OPTIONS)
LONG_OPTIONS = ("agent", "task", "score", "metric", "where", "segment", *SCORE_OPTIONS)
HARNESS_OPTIONS = ("lower_is_better", "metric", "bad_rows")


@dataclass(frozen=True)
class Format:
    """A layout of files or tables."""

    # name, holds: its name, and what it is in words
    name: str
    makes: Literal["matches", "scores", "payoffs"]  # what is read from it
    holds: str
    # fits, read: how to recognise it, and how to read it
    fits: Callable[[Input], bool]
    read: Callable[[Input], Data | Segments | Games]
    options: tuple[str, ...] = MATCH_OPTIONS  # what can be said about it
    on_frames: bool = True  # whether it is a table, so that frames and databases can have it too; otherwise it is files

    def refuse_unused(self, options: Options) -> None:
        """Raise an error for an option that this format has no use for: it would be ignored silently."""
        plain = Options()
        given = [field.name for field in fields(Options) if getattr(options, field.name) != getattr(plain, field.name)]
        takes = [name for name in self.options if name not in ("rows", "grouped")]  # of read_games alone
        for name in given:
            if name not in (*self.options, "most_segments"):
                raise InputError(
                    f"{name!r} has no meaning for {self.name} ({self.holds}); it takes {listed(takes, 99)}"
                )


def has(*columns: str) -> Callable[[Input], bool]:
    """Return what recognises a table by its columns."""
    return lambda source: source.has(*columns)


# What readers of evaluation harnesses share: the files of a folder, how one is recognised, and what is left out.
LARGEST_RESULT = 64 << 20  # bytes; a result file is far smaller, a log of json lines may be far larger
MOST_LOOKED_AT = 20  # files of a folder that are looked at to tell what it holds
FURTHER = ("further metrics", "each task keeps one metric, not these")


@dataclass
class Leftovers:
    """Names of what was found but not used, by what it is and why."""

    names: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, what: str, why: str, *names: str) -> None:
        """Add what was not used."""
        if names:
            self.names.setdefault((what, why), []).extend(names)

    def add_once(self, what: str, why: str, *names: str) -> None:
        """Add what was not used, each name only once."""
        self.add(what, why, *(name for name in names if name not in self.names.get((what, why), ())))

    @contextmanager
    def skip_bad(self, options: Options, name: str, what: str = "bad rows") -> Iterator[None]:
        """Leave out what cannot be used, if bad rows are skipped; otherwise it is an error."""
        try:
            yield
        except InputError as error:
            if not options.skip_bad:
                raise InputError(
                    error.message, error.hint or "leave such rows out with {option}", error.options or SKIP
                ) from None
            self.add(what, "they cannot be read", name)

    def entries(self) -> tuple[LeftOut, ...]:
        """Return an entry for each reason."""
        return tuple(
            LeftOut(what, len(names), f"{why}: {listed(dict.fromkeys(names))}")
            for (what, why), names in self.names.items()
        )


def find_files(source: Input, *patterns: str) -> list[PlainFile]:
    """Return the files of a folder with such names, or the files named."""
    if source.kind != "directory":
        return list(source.files)
    folder = source.files[0].path
    paths = sorted({path for pattern in patterns for path in find_below(folder, pattern)})
    return [PlainFile(path=path, name=str(path)) for path in paths if path.is_file()]


def holds_any(source: Input, is_one: Callable[[Any], bool], *patterns: str) -> bool:
    """Return whether a json document is of a kind, or one of the first files of a folder."""
    if source.opened is not None or not source.files:
        return False
    if source.kind != "directory":
        return is_one(source.document)
    for file in find_files(source, *patterns)[:MOST_LOOKED_AT]:
        try:
            if file.path.stat().st_size <= LARGEST_RESULT and is_one(read_document(file)):
                return True
        except InputError:
            continue
    return False


def read_documents(
    source: Input, read: Callable[[PlainFile], Any], left: Leftovers, *patterns: str
) -> Iterator[tuple[PlainFile, Any]]:
    """Yield what is read from each file; one that cannot be read is an error, or left out where bad rows are."""
    for file in find_files(source, *patterns):
        content = []
        with left.skip_bad(source.options, file.name, "bad files"):
            content.append(read(file))
        for one in content:
            yield file, one


def finish_scores(
    source: Input,
    cells: Sequence[Cell] | pl.DataFrame,
    format: str,
    *,
    rows: int,
    left_out: Sequence[LeftOut] = (),
    notes: tuple[str, ...] = (),
    groups: Mapping[str, str] | None = None,
    in_order: bool = False,
) -> Scores:
    """Return the scores of single cells; agents and tasks are sorted, or stand in the order of the cells."""
    frame = cells if isinstance(cells, pl.DataFrame) else frame_cells(cells)
    return make_scores(
        frame.filter(pl.col("score").is_not_null()),
        agents=list(dict.fromkeys(frame["agent"])) if in_order else None,
        tasks=list(dict.fromkeys(frame["task"])) if in_order else None,
        source=source.name,
        origin=Origin(source=source.name, format=format, rows=rows, left_out=tuple(left_out), notes=notes),
        lower_is_better=source.options.lower_is_better,
        groups=groups,
    )


def note_replaced(number: int, what: str) -> tuple[LeftOut, ...]:
    """Return the entry for older results of the same agent and task."""
    return (LeftOut("results", number, f"a newer {what} has the same agent and task"),) if number else ()
