"""Reading: from whatever a user holds to `Matches`, `Scores` or `Payoffs`."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypeVar

import narwhals as nw

from nashboard.data.columns import sides
from nashboard.data.datasets import load_dataset
from nashboard.data.formats import named, recognised
from nashboard.data.formats.format import Data, Format, Input, Options
from nashboard.data.formats.long_scores import is_long, scores_from_long
from nashboard.data.formats.match_tables import has_sides, matches_from
from nashboard.data.formats.payoff_matrix import as_matches, as_payoffs, named_matrix
from nashboard.data.formats.wide_scores import scores_from_wide
from nashboard.data.matches import Matches
from nashboard.data.outcomes import Rules
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.sources import plain_files
from nashboard.errors import InputError, listed, nearest

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
    weight: str | None = None,
    time: str | None = None,
    cluster: str | Literal[False] | None = None,
    outcomes: Rules | None = None,
    self_matches: Literal["error", "drop"] = "error",
    where: Mapping[str, object] | None = None,
    symmetrise: bool = False,
    separator: str | None = None,
) -> Matches:
    """Read matches between agents from a file, a glob, standard input or a data frame.

    Only the counts per pair of agents are kept, so a log may be far larger than memory.

    Parameters
    ----------
    source
        A path or glob (csv, tsv, parquet, json, json lines, PGN; plain, gzip or zstd), ``-`` for standard
        input, ``dataset:NAME``, or a frame of pandas, Polars, PyArrow or DuckDB.
    format
        The format by name; by default it is recognised, and ``.origin.format`` says which it was.
    a, b, outcome, weight, time, cluster
        Columns, where they have other than the usual names. ``cluster=False`` forgets the clusters that a
        format would keep.
    outcomes
        Rules for outcome labels: ``{"player one": 1, "stalemate": 0.5, "aborted": None}``; None leaves rows out.
    self_matches
        ``"error"`` refuses matches of an agent with itself, ``"drop"`` leaves them out.
    where
        Keep only rows with these values: ``{"language": ["English", "German"]}``.
    symmetrise
        For a matrix of win rates: average the two directions where they disagree.
    separator
        The separator of a text table; by default it is recognised.

    Examples
    --------
    >>> import nashboard as nb, polars as pl
    >>> log = pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"]})
    >>> nb.read_matches(log)
    Matches(3 agents, 2 of 3 pairs met, 2 games)
    """
    options = Options(
        a=a, b=b, outcome=outcome, weight=weight, time=time, cluster=cluster, outcomes=outcomes or {},
        self_matches=self_matches, where=where or {}, symmetrise=symmetrise, separator=separator,
    )  # fmt: skip
    if (frame := lazy_frame(source)) is not None:
        refuse_format(format)
        return matches_from(frame, options, source="frame", format=frame_format(source))
    data = from_source(source, options, format, wanted=Matches)
    return expect(data, Matches, source)


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
    separator: str | None = None,
) -> Scores:
    """Read scores of agents on tasks from a file, a folder, a glob, standard input or a data frame.

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

    Examples
    --------
    >>> import nashboard as nb, polars as pl
    >>> table = pl.DataFrame({"model": ["x", "y"], "chess": [0.4, 0.6], "go": [0.9, 0.1]})
    >>> nb.read_scores(table)
    Scores(2 agents x 2 tasks, raw)
    """
    options = Options(
        agent=agent, task=task, score=score, lower_is_better=lower_is_better, ignore=tuple(ignore), repeats=repeats,
        metric=metric, separator=separator,
    )  # fmt: skip
    if (frame := lazy_frame(source)) is not None:
        refuse_format(format)
        return frame_scores(frame, options)
    data = from_source(source, options, format, wanted=Scores)
    return expect(data, Scores, source)


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
    known = {field.name for field in fields(Options)}
    for name in options:
        if name not in known:
            raise InputError(
                f"there is no option {name!r}{nearest(name, known)}: there are {listed(sorted(known), 99)}"
            )
    chosen = Options(**options)
    if (frame := lazy_frame(source)) is not None:
        refuse_format(format)
        if has_sides(frame.collect_schema().names(), chosen):
            return matches_from(frame, chosen, source="frame", format=frame_format(source))
        return frame_scores(frame, chosen)
    return from_source(source, chosen, format, wanted=None)


def from_source(source: Any, options: Options, format: str | None, wanted: type[Data] | None) -> Data:
    """Read a path, a glob, standard input or a bundled data set."""
    if not isinstance(source, str | Path):
        raise InputError(
            f"cannot read a {type(source).__name__}: give a path or a frame of pandas, Polars, PyArrow or DuckDB"
        )
    if isinstance(source, str) and source.startswith(DATASET):
        return load_dataset(source.removeprefix(DATASET))
    with opened(source, options) as files:
        entry = named(format) if format else recognised(files)
        if entry.name == "payoff-matrix" and wanted in (Matches, Payoffs):
            make = as_matches if wanted is Matches else as_payoffs
            return make(files, *named_matrix(files))
        return entry.read(better(entry, wanted, files))


def better(entry: Format, wanted: type[Data] | None, files: Input) -> Input:
    """Return the files; a table that is plainly something else than what was asked for is an error."""
    makes = {"matches": Matches, "scores": Scores, "payoffs": Payoffs}[entry.makes]
    if wanted is not None and makes is not wanted and entry.name != "scores-wide":
        verb = "read_matches or read_payoffs" if makes is Payoffs else VERB[makes]
        raise InputError(f"{files.name!r} looks like {entry.name} ({entry.holds}): use {verb}")
    if wanted is Matches and entry.name == "scores-wide":
        sides(files.columns, files.name, None, None)  # says which columns are missing
    return files


@contextlib.contextmanager
def opened(source: str | Path, options: Options) -> Iterator[Input]:
    """Yield the files behind a source; temporary files live as long."""
    with plain_files(source) as files, tempfile.TemporaryDirectory(prefix="nashboard-") as folder:
        yield Input(tuple(files), Path(folder), options)


def lazy_frame(source: Any) -> nw.LazyFrame[Any] | None:
    """Return any data frame as a lazy one, or None if the source is none."""
    if isinstance(source, str | Path):
        return None
    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.lazy()
    return frame if isinstance(frame, nw.LazyFrame) else None


def frame_scores(frame: nw.LazyFrame[Any], options: Options) -> Scores:
    """Read the scores of a frame, long or wide."""
    reader = scores_from_long if is_long(frame.collect_schema().names(), options) else scores_from_wide
    return reader(frame, options, source="frame")


def frame_format(source: Any) -> str:
    """Name the library a frame belongs to."""
    return f"{type(source).__module__.partition('.')[0]} frame"


def refuse_format(format: str | None) -> None:
    """Say that a frame has no file format."""
    if format is not None:
        raise InputError(f"format={format!r} is for files; name the columns of a frame instead")


def expect(data: Data, kind: type[Kind], source: Any) -> Kind:
    """Return the data if it is of the kind asked for."""
    if not isinstance(data, kind):
        raise InputError(f"{str(source)!r} holds {type(data).__name__.lower()}: use {VERB[type(data)]}")
    return data
