"""Reading: from whatever a user holds to `Matches`, `Scores` or `Payoffs`."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import narwhals as nw
import polars as pl
from narwhals.exceptions import NarwhalsError

from nashboard._files import ELSEWHERE, NO_ROOM, Workspace
from nashboard._text import first_line, listed, nearest, shortened
from nashboard.data.addresses import DATABASES, scheme_of, scrubbed, without_secrets
from nashboard.data.columns import OUTCOME, sides
from nashboard.data.columns import recognised as usual_columns
from nashboard.data.databases import database_relation
from nashboard.data.datasets import load_dataset
from nashboard.data.engines import READABLE, engine_of, lazy_frame, own_errors_named
from nashboard.data.formats import FRAME_FORMATS, named, recognised
from nashboard.data.formats.format import Data, Format, Input, Options
from nashboard.data.formats.long_scores import LONG_SCORES, is_long, scores_from_long
from nashboard.data.formats.match_tables import GENERIC_MATCHES, MATCH_TABLES, has_sides, matches_from
from nashboard.data.formats.payoff_matrix import as_matches, as_payoffs, named_matrix
from nashboard.data.formats.wide_scores import WIDE_SCORES, scores_from_wide
from nashboard.data.matches import Matches
from nashboard.data.names import HALF_CHARACTER
from nashboard.data.outcomes import Rules
from nashboard.data.payoffs import Payoffs
from nashboard.data.remote import remote_scan
from nashboard.data.scan import Scan
from nashboard.data.scores import Scores
from nashboard.data.segments import Segments, Split
from nashboard.data.sources import PlainFile, plain_files
from nashboard.errors import InputError, WriteError

Kind = TypeVar("Kind", Matches, Scores, Payoffs)
DATASET = "dataset:"
VERB = {Matches: "read_matches", Scores: "read_scores", Payoffs: "read_payoffs"}


def read_matches(
    source: Any,
    *,
    format: str | None = None,
    a: str | None = None,
    b: str | None = None,
    outcome: str | None = None,
    weight: str | Literal[False] | None = None,
    time: str | Literal[False] | None = None,
    cluster: str | Literal[False] | None = None,
    neutral: str | Literal[False] | None = None,
    outcomes: Rules | None = None,
    self_matches: Literal["error", "drop"] = "error",
    where: Mapping[str, object] | None = None,
    symmetrise: bool = False,
    separator: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Matches:
    """Read matches between agents from a file, a glob, standard input, a data frame, a database or an object store.

    Matches are counted where the data is, and only the counts per pair of agents come back, so a log may be far
    larger than memory.

    Parameters
    ----------
    source
        A path or glob (csv, tsv, parquet, json, json lines, PGN; plain, gzip or zstd), ``-`` for standard
        input, ``dataset:NAME``, or a frame of pandas, Polars, PyArrow (table or dataset), DuckDB, Dask, PySpark or
        ibis. Also an address: of a database (``sqlite:///games.db``, ``duckdb:///games.duckdb``,
        ``postgresql://user@host/arena``) or of files elsewhere (``s3://bucket/games/*.parquet``, ``gs://``, ``az://``,
        ``hf://``, ``https://``).
    format
        The format by name; by default it is recognised, and ``.origin.format`` says which it was.
    a, b, outcome, weight, time, cluster
        Columns, where they have other than the usual names. ``weight=False``, ``time=False`` and ``cluster=False``
        leave out a column that would be taken by its usual name (``.origin.notes`` say so of a weight); a row of
        weight 2 counts as two matches.
    neutral
        A column of true and false: whether a match was at a neutral place, so that neither agent was the first side.
        ``.sides`` of the result counts the other games by first side; ``neutral=False`` leaves the column out.
    outcomes
        Rules for outcome labels: ``{"player one": 1, "stalemate": 0.5, "aborted": None}``; None leaves rows out.
    self_matches
        ``"error"`` refuses matches of an agent with itself, ``"drop"`` leaves them out.
    where
        Keep only rows with these values: ``{"language": ["English", "German"], "rated": True}``. They are compared as
        what the column holds (numbers, times, truths, text); None stands for what is missing.
    symmetrise
        For a matrix of win rates: average the two directions where they disagree.
    separator
        The separator of a text table; by default it is recognised.
    table, query
        For a database: the table to count, or a query whose answer is counted, inside the database.

    Examples
    --------
    >>> import nashboard as nb, polars as pl
    >>> log = pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"]})
    >>> nb.read_matches(log)
    Matches(3 agents, 2 of 3 pairs met, 2 games)
    """
    options = Options(
        a=a, b=b, outcome=outcome, weight=weight, time=time, cluster=cluster, neutral=neutral,
        outcomes=outcomes or {}, self_matches=self_matches, where=where or {}, symmetrise=symmetrise,
        separator=separator, table=table, query=query,
    )  # fmt: skip
    return expect(from_anything(source, options, format, wanted=Matches), Matches, source)


def read_scores(
    source: Any,
    *,
    format: str | None = None,
    agent: str | None = None,
    task: str | None = None,
    score: str | None = None,
    lower_is_better: bool | str | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    repeats: Literal["error", "runs"] | None = None,
    metric: str | None = None,
    where: Mapping[str, object] | None = None,
    separator: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Scores:
    """Read scores of agents on tasks from whatever `read_matches` takes, or from a folder of results.

    Parameters
    ----------
    source
        As in `read_matches`; also a folder of lm-evaluation-harness or Every Eval Ever results.
    format
        The format by name; by default it is recognised, and ``.origin.format`` says which it was.
    agent, task, score
        Columns, where they have other than the usual names. With ``task`` and ``score`` the table is long
        (a row per score), otherwise wide (a row per agent, a column per task).
    lower_is_better
        True for all tasks, or the names of the tasks where a low score is good.
    ignore
        Columns of a wide table that are not tasks.
    repeats
        ``"runs"`` averages the rows of an agent that stands several times in a wide table. In a long table
        repeated rows are always runs.
    metric
        The metric to read: of lm-evaluation-harness, where the usual one is not wanted, and of a long table
        that has a column of metrics.
    where
        Of a long table, keep only rows with these values: ``{"language": ["English", "German"]}``.
    table, query
        For a database, as in `read_matches`.

    Examples
    --------
    >>> import nashboard as nb, polars as pl
    >>> table = pl.DataFrame({"model": ["x", "y"], "chess": [0.4, 0.6], "go": [0.9, 0.1]})
    >>> nb.read_scores(table)
    Scores(2 agents x 2 tasks, raw)
    """
    options = Options(
        agent=agent, task=task, score=score, lower_is_better=lower_is_better, ignore=tuple(ignore), repeats=repeats,
        metric=metric, where=where or {}, separator=separator, table=table, query=query,
    )  # fmt: skip
    return expect(from_anything(source, options, format, wanted=Scores), Scores, source)


def read_payoffs(
    source: Any, *, format: str | None = None, symmetrise: bool = False, separator: str | None = None
) -> Payoffs:
    """Read an antisymmetric matrix of payoffs, with agents as header and first column.

    ``symmetrise=True`` averages the two directions of a noisy cross-table.
    """
    options = Options(symmetrise=symmetrise, separator=separator)
    data = from_source(source, options, format or "payoff-matrix", wanted=Payoffs)
    return expect(data, Payoffs, source)


def read(source: Any, *, format: str | None = None, **options: Any) -> Data:
    """Read whatever a file holds: matches, scores or payoffs. Options as in the three other readers."""
    return from_anything(source, checked_options(options), format, wanted=None)


def checked_options(options: Mapping[str, Any]) -> Options:
    """Return the options of the readers by name, or say which there are."""
    known = {field.name for field in fields(Options)} - {"segment"}
    for name in options:
        if name not in known:
            raise InputError(
                f"there is no option {name!r}{nearest(name, known)}: there are {listed(sorted(known), 99)}"
            )
    return Options(**options)


def read_segments(source: Any, column: str, *, format: str | None = None, **options: Any) -> Segments:
    """Read the matches, or the long table of scores, of every value of a column: all are counted in one pass.

    Parameters
    ----------
    source
        As in `read_matches`: files, a frame of any engine, a database.
    column
        The column whose values make the segments, at most 100 of them. Rows without a value belong to none, and
        are counted in ``.without``.
    format, options
        As in `read_matches` and `read_scores`.

    Examples
    --------
    >>> import nashboard as nb, polars as pl
    >>> log = pl.DataFrame({"a": ["x", "y", "x"], "b": ["y", "z", "z"], "winner": ["x", "draw", "z"]})
    >>> segments = nb.read_segments(log.with_columns(language=pl.Series(["en", "en", None])), "language")
    >>> segments
    Segments(1 by 'language', 1 row without a value)
    >>> segments.parts["en"]
    Matches(3 agents, 2 of 3 pairs met, 2 games)
    """
    split = Split(column=column)
    if isinstance(source, str) and source.startswith(DATASET):
        raise InputError(f"segments are the values of a column of a table: {source!r} has no column {column!r}")
    from_anything(source, replace(checked_options(options), segment=split), format, wanted=None)
    return split.segments()


def from_anything(source: Any, options: Options, format: str | None, wanted: type[Data] | None) -> Data:
    """Read a frame, a database, an object store, or files."""
    if (frame := lazy_frame(source)) is not None:
        with own_errors_named("the frame cannot be read by its own library"):
            return from_frame(frame, options, format, wanted, name="frame", engine=engine_of(source))
    scheme = scheme_of(source)
    if scheme in DATABASES:
        plain = replace(options, table=None, query=None)
        with database_relation(source, options.table, options.query) as relation:
            return from_frame(relation.frame, plain, format, wanted, name=relation.name, engine=relation.format)
    if scheme is not None:
        try:
            return from_table(remote_scan(source, options.separator), options, format, wanted)
        except InputError as error:  # the signature of a web address must not stand in what a library says
            raise InputError(scrubbed(error.message, source), error.hint, error.options) from None
    return from_source(source, options, format, wanted)


def from_source(source: Any, options: Options, format: str | None, wanted: type[Data] | None) -> Data:
    """Read a path, a glob, standard input or a bundled data set."""
    if not isinstance(source, str | Path):
        raise InputError(f"cannot read a {type(source).__name__}: give {READABLE}")
    if isinstance(source, str) and source.startswith(DATASET):
        if options != Options() or format is not None:
            raise InputError(f"{source!r} is read as it is: it takes no options")
        return load_dataset(source.removeprefix(DATASET))
    with opened(source, options) as files, library_errors_named(files):
        entry = named(format) if format else fitting(files, wanted)
        if entry.name == "payoff-matrix" and wanted in (Matches, Payoffs):
            entry.refuse_unused(options)
            make = as_matches if wanted is Matches else as_payoffs
            return make(files, *named_matrix(files))
        refuse_other_kind(entry, wanted, files)
        entry.refuse_unused(options)
        return entry.read(files)


def fitting(files: Input, wanted: type[Data] | None) -> Format:
    """Return the format that fits; a table of scores may have tasks that are called like the sides of a match."""
    entry = recognised(files)
    if wanted is Scores and entry is GENERIC_MATCHES and not usual_columns(OUTCOME, files.columns):
        return LONG_SCORES if LONG_SCORES.fits(files) else WIDE_SCORES
    return entry


@contextlib.contextmanager
def library_errors_named(files: Input | PlainFile) -> Iterator[None]:
    """Turn what the libraries below raise about a file into one sentence about the file."""
    try:
        yield
    except WriteError:
        raise
    except UnicodeEncodeError as error:  # json may name what no text can hold
        raise InputError(f"{files.name!r}: the name {shortened(error.object)!a} {HALF_CHARACTER}: mend it") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, NarwhalsError, OSError) as error:
        reason = first_line(error)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise WriteError(f"no room for temporary files of {files.name!r}: {reason}; {ELSEWHERE}") from None
        raise InputError(f"{files.name!r} cannot be read: {reason}") from None


def refuse_other_kind(entry: Format, wanted: type[Data] | None, files: Input) -> None:
    """Raise an error for a table that is plainly something else than what was asked for."""
    makes = {"matches": Matches, "scores": Scores, "payoffs": Payoffs}[entry.makes]
    if wanted is not None and makes is not wanted and entry.name != "scores-wide":
        verb = "read_matches or read_payoffs" if makes is Payoffs else VERB[makes]
        raise InputError(f"{files.name!r} looks like {entry.name} ({entry.holds}): use {verb}")
    if wanted is Matches and entry.name == "scores-wide":
        sides(files.columns, files.name, None, None)  # says which columns are missing


@contextlib.contextmanager
def opened(source: str | Path, options: Options) -> Iterator[Input]:
    """Yield the files behind a source; temporary files live as long."""
    with Workspace() as workspace, plain_files(source, workspace) as files:
        yield Input(tuple(files), workspace, options)


def from_frame(
    frame: nw.LazyFrame[Any],
    options: Options,
    format: str | None,
    wanted: type[Data] | None,
    *,
    name: str,
    engine: str,
) -> Data:
    """Read a frame: as one of the public layouts where its columns say so, else by its usual columns."""
    if format is not None:
        raise InputError(f"format={format!r} is for files; name the columns of a {engine} instead")
    columns = tuple(frame.collect_schema().names())
    seen = Input(
        (), Workspace(), options, Scan(files=(), kind="parquet", columns=columns, frame=pl.LazyFrame(), label=name)
    )
    layout = next((entry for entry in FRAME_FORMATS if entry.fits(seen)), None)
    if layout is not None and options.a is None:
        refuse_other_kind(layout, wanted, seen)
        layout.refuse_unused(options)
        return layout.read(replace(seen, frame=frame))
    if wanted is Matches or (wanted is None and has_sides(columns, options)):
        GENERIC_MATCHES.refuse_unused(options)
        return matches_from(frame, options, source=name, format=engine)
    long = is_long(columns, options)
    (LONG_SCORES if long else WIDE_SCORES).refuse_unused(options)
    return (scores_from_long if long else scores_from_wide)(frame, options, source=name)


def from_table(table: Scan, options: Options, format: str | None, wanted: type[Data] | None) -> Data:
    """Read a table that is no file of this machine: it has columns to be recognised by, and no first bytes."""
    seen = Input((), Workspace(), options, table)
    by_columns = (*FRAME_FORMATS, *MATCH_TABLES, GENERIC_MATCHES, LONG_SCORES, WIDE_SCORES)
    entry = named(format) if format else next(entry for entry in by_columns if entry.fits(seen))
    if entry not in by_columns:
        raise InputError(f"format={format!r} is read from a file of this machine, not from {table.name!r}")
    refuse_other_kind(entry, wanted, seen)
    entry.refuse_unused(options)
    with library_errors_named(seen):
        return entry.read(seen)


def expect(data: Data, kind: type[Kind], source: Any) -> Kind:
    """Return the data if it is of the kind asked for."""
    if not isinstance(data, kind):
        name = without_secrets(source) if isinstance(source, str) else "frame"
        raise InputError(f"{str(name)!r} holds {type(data).__name__.lower()}: use {VERB[type(data)]}")
    return data
