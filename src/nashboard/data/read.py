"""Reading: from whatever a user holds to `Matches`, `Scores` or `Payoffs`. One path for all sources:

source -> `open_source` (files, a table, or a document) -> `recognise` (a format) -> its reader -> the data.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import polars as pl
from narwhals.exceptions import NarwhalsError

from nashboard._files import ELSEWHERE, NO_ROOM, Workspace
from nashboard._text import either, first_line, listed, nearest, shortened
from nashboard.data.counting.outcomes import Rules
from nashboard.data.datasets import load_dataset
from nashboard.data.formats import find_format, recognise
from nashboard.data.formats.format import MOST_SEGMENTS, Data, Format, Input, Options
from nashboard.data.games import Games
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.segments import Segments, drop_rare_agents, read_each, split_components
from nashboard.data.sources.elsewhere import (
    fetch_files,
    find_address,
    is_parquet,
    local_path,
    name_remote_errors,
    open_database,
    open_remote,
)
from nashboard.data.sources.frames import READABLE, is_python_data, open_frame, open_python
from nashboard.data.sources.paths import DATABASES, PlainFile, find_scheme, hide_secrets, open_files
from nashboard.data.table.columns import find_sides
from nashboard.data.table.table import Table, name_errors
from nashboard.data.validation import HALF_CHARACTER
from nashboard.errors import InputError, WriteError

Kind = TypeVar("Kind", Matches, Scores, Payoffs)
DATASET = "dataset:"
CHOICES = {"self_matches": ("error", "drop"), "components": ("all", "largest"), "bad_rows": ("error", "skip")}
VERB: dict[type, str] = {Matches: "read_matches", Scores: "read_scores", Payoffs: "read_payoffs"}


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
    self_matches: Literal["error", "drop"] | None = None,
    where: Mapping[str, object] | None = None,
    min_games: float = 0,
    components: Literal["all", "largest"] = "all",
    bad_rows: Literal["error", "skip"] = "error",
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
        input, ``dataset:NAME``, a frame of pandas, Polars, PyArrow (table or dataset), DuckDB, Dask, PySpark or
        ibis, a list of ``(agent, agent, outcome)`` or of dictionaries, or a dictionary. Also an address: of a
        database (``sqlite:///games.db``, ``duckdb:///games.duckdb``, ``postgresql://user@host/arena``) or of files
        elsewhere (``s3://bucket/games/*.parquet``, ``gs://``, ``az://``, ``hf://``, ``https://``).
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
        ``"error"`` refuses matches of an agent with itself, ``"drop"`` leaves them out; by default they are bad rows.
    where
        Keep only rows with these values: ``{"language": ["English", "German"], "rated": True}``. They are compared as
        what the column holds (numbers, times, truths, text); None stands for what is missing.
    min_games
        Leave out agents with fewer games (or less total weight), again and again until all that are left have so many.
    components
        ``"largest"`` keeps only the largest group of agents that met, directly or through others.
    bad_rows
        ``"error"`` names the first row that cannot be used (a missing name, an unknown outcome, a weight below 0, a
        line with too few cells); ``"skip"`` leaves such rows out, and ``.origin.left_out`` counts and lists them.
    symmetrise
        For a matrix of win rates: average the two directions where they disagree.
    separator
        The separator of a text table: a character, or ``space`` for any white space; by default it is recognised.
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
        outcomes=outcomes or {}, self_matches=self_matches, where=where or {}, min_games=min_games,
        components=components, bad_rows=bad_rows, symmetrise=symmetrise, separator=separator, table=table, query=query,
    )  # fmt: skip
    return expect(read_source(source, options, format, wanted=Matches), Matches, source)


def read_scores(
    source: Any,
    *,
    format: str | None = None,
    agent: str | None = None,
    task: str | None = None,
    score: str | None = None,
    lower_is_better: bool | str | Sequence[str] | None = None,
    ignore: str | Sequence[str] = (),
    repeats: Literal["error", "runs"] | None = None,
    metric: str | None = None,
    where: Mapping[str, object] | None = None,
    bad_rows: Literal["error", "skip"] = "error",
    separator: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Scores:
    """Read scores of agents on tasks from whatever `read_matches` takes, or from a folder of results.

    Parameters
    ----------
    source
        As in `read_matches`; also a folder of results of lm-evaluation-harness, Inspect or Every Eval Ever.
    format
        The format by name; by default it is recognised, and ``.origin.format`` says which it was.
    agent, task, score
        Columns, where they have other than the usual names. With ``task`` and ``score`` the table is long
        (a row per score), otherwise wide (a row per agent, a column per task).
    lower_is_better
        True for all tasks, or the names of the tasks where a low score is good, or patterns such as ``"*_loss"``.
    ignore
        Columns of a wide table that are not tasks, or patterns of their names. Text, known metadata (size, date, cost,
        ...) and averages of the other columns are left out anyway, and ``.origin.left_out`` lists them.
    repeats
        ``"runs"`` averages the rows of an agent that stands several times in a wide table. In a long table
        repeated rows are always runs.
    metric
        The metric to read: of lm-evaluation-harness, where the usual one is not wanted, and of a long table
        that has a column of metrics.
    where
        Of a long table, keep only rows with these values: ``{"language": ["English", "German"]}``.
    bad_rows
        ``"error"`` names the first row without an agent or with a score that is not a number; ``"skip"`` leaves them
        out, and ``.origin.left_out`` counts and lists them.
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
        agent=agent, task=task, score=score, lower_is_better=lower_is_better,
        ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore), repeats=repeats, metric=metric,
        where=where or {}, bad_rows=bad_rows, separator=separator, table=table, query=query,
    )  # fmt: skip
    return expect(read_source(source, options, format, wanted=Scores), Scores, source)


def read_payoffs(
    source: Any,
    *,
    format: str | None = None,
    symmetrise: bool = False,
    bad_rows: Literal["error", "skip"] = "error",
    separator: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Payoffs:
    """Read an antisymmetric matrix of payoffs, with agents as header and first column, from any table.

    ``symmetrise=True`` averages the two directions of a noisy cross-table; ``bad_rows="skip"`` leaves out agents whose
    row has a cell that is not a number.

    Examples
    --------
    >>> import nashboard as nb, polars as pl
    >>> nb.read_payoffs(pl.DataFrame({"agent": ["x", "y"], "x": [0, -1], "y": [1, 0]}))
    Payoffs(2 agents, given, largest 1)
    """
    options = Options(symmetrise=symmetrise, bad_rows=bad_rows, separator=separator, table=table, query=query)
    dataset = isinstance(source, str) and source.startswith(DATASET)
    data = read_source(source, options, format or (None if dataset else "payoff-matrix"), wanted=Payoffs)
    return expect(data, Payoffs, source)


def read(source: Any, *, format: str | None = None, **options: Any) -> Data:
    """Read whatever a file holds: matches, scores or payoffs. Options as in the three other readers."""
    data = read_source(source, check_options(options), format, wanted=None)
    assert not isinstance(data, Segments | Games)
    return data


def check_options(options: Mapping[str, Any]) -> Options:
    """Return the options of the readers by name, or raise an error that lists them."""
    known = {field.name for field in fields(Options)} - {"segment", "most_segments", "rows", "grouped"}
    for name in options:
        if name not in known:
            raise InputError(
                f"there is no option {name!r}{nearest(name, known)}: there are {listed(sorted(known), 99)}"
            )
    return Options(**options)


def read_games(
    source: Any,
    *,
    covariates: str | Sequence[str] = (),
    grouped: bool = False,
    format: str | None = None,
    **options: Any,
) -> Games:
    """Read games one by one, in their order: for covariates, for time, and for `OnlineElo.update_many`.

    Parameters
    ----------
    source
        As in `read_matches`; at least one row per game is needed, so tables of counts and win rates are refused.
    covariates
        Columns of numbers (or of true and false) that may sway a game, as an effect on the first agent.
    grouped
        Give games with the same agents, covariates and cluster as one row with their totals. They are summed up where
        the data is (in a database, by its own engine); their order and times are lost.
    format, options
        As in `read_matches`.

    Examples
    --------
    >>> import nashboard as nb, polars as pl
    >>> log = pl.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "winner": ["x", "tie"], "longer": [120.0, -40.0]})
    >>> nb.read_games(log, covariates="longer")
    Games(3 agents, 2 games, covariates longer)
    """
    names = (covariates,) if isinstance(covariates, str) else tuple(covariates)
    given = replace(check_options(options), rows=names, grouped=grouped)
    if given.min_games or given.components != "all":
        raise InputError("min_games= and components= are for counts of pairs: choose agents after reading games")
    if isinstance(source, str) and source.startswith(DATASET):
        raise InputError(f"{source!r} contains counts of pairs, not games one by one")
    data = read_source(source, given, format, wanted=Matches)
    if not isinstance(data, Games):
        raise InputError(f"{describe_source(source)!r} contains counts of pairs, not games one by one")
    return data


def describe_source(source: Any) -> str:
    """Return the name of a source for messages, without its secrets."""
    return str(hide_secrets(source)) if isinstance(source, str) else "frame"


def read_segments(
    source: Any, column: str, *, most: int = MOST_SEGMENTS, format: str | None = None, **options: Any
) -> Segments:
    """Read the matches, or the long table of scores, of every value of a column: all are counted in one pass.

    Parameters
    ----------
    source
        As in `read_matches`: files, a frame of any engine, a database.
    column
        The column whose values make the segments. Rows without a value belong to none, and are counted in
        ``.without``.
    most
        How many values there may be; a column with more is probably not meant, unless they are prompts.
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
    if isinstance(source, str) and source.startswith(DATASET):
        raise InputError(f"segments are the values of a column of a table: {source!r} has no column {column!r}")
    data = read_source(source, replace(check_options(options), segment=column, most_segments=most), format, wanted=None)
    assert isinstance(data, Segments)
    return data


def read_source(
    source: Any, options: Options, format: str | None, wanted: type[Data] | None
) -> Data | Segments | Games:
    """Read any source: the one dispatcher of all readers."""
    check_choices(options)
    if isinstance(source, str) and source.startswith(DATASET):
        if options != Options() or format is not None:
            raise InputError(f"{source!r} is read as it is: it takes no options")
        return load_dataset(source.removeprefix(DATASET))
    with open_source(source, options, wanted) as opened, name_library_errors(opened):
        entry, given = (find_format(format), opened) if format else recognise(opened)
        if given.opened is not None and not entry.on_frames:
            raise InputError(f"format={format!r} is read from files of this machine, not from {given.name!r}")
        refuse_other_kind(entry, wanted, given)
        entry.refuse_unused(given.options)
        return choose_agents(entry.read(given), options, [file.note for file in opened.files if file.note])


def check_choices(options: Options) -> None:
    """Raise an error for an option that has only a few values and is given another."""
    for name, allowed in CHOICES.items():
        value = getattr(options, name)
        if value not in (*allowed, getattr(Options, name)):
            raise InputError(f"{name!r} is {value!r}{nearest(str(value), allowed)}: use {either(allowed)}")


@contextlib.contextmanager
def open_source(source: Any, options: Options, wanted: type[Data] | None) -> Iterator[Input]:
    """Yield what a source holds: files, a table, or a document; temporary files and connections live as long."""
    with Workspace() as workspace, contextlib.ExitStack() as stack:

        def given(**parts: Any) -> Input:
            return Input(workspace=workspace, wanted=wanted, **({"options": options} | parts))

        if (table := open_frame(source)) is not None:
            yield given(opened=table)
        elif is_python_data(source):
            content = open_python(source)
            yield given(opened=content) if isinstance(content, Table) else given(content=content)
        elif not isinstance(source, str | Path):
            takers = "Payoffs.from_array, Matches.from_counts or Scores.from_array"
            array = f"; an array, which names no agents, goes to {takers}" * hasattr(source, "__array__")
            raise InputError(f"cannot read a {type(source).__name__}: give {READABLE}{array}")
        elif (scheme := find_scheme(source)) in DATABASES or find_address(source) is not None:
            address = find_address(source) or str(source)
            table = stack.enter_context(open_database(address, options.table, options.query))
            yield given(opened=table, options=replace(options, table=None, query=None))
        elif scheme is None:
            yield given(files=tuple(stack.enter_context(open_files(source, workspace))))
        elif scheme == "file":
            files = stack.enter_context(open_files(local_path(str(source)), workspace))
            yield given(files=tuple(replace(file, name=f"file://{file.name}") for file in files))
        else:
            with name_remote_errors(str(source)):
                if is_parquet(str(source)):
                    yield given(opened=open_remote(str(source)))
                else:
                    yield given(files=fetch_files(str(source), workspace))


@contextlib.contextmanager
def name_library_errors(source: Input | PlainFile) -> Iterator[None]:
    """Turn what the libraries below raise about a source into one sentence about it."""
    if isinstance(source, Input) and source.opened is not None and source.opened.kind is None:
        with name_errors("the frame cannot be read by its own library"):
            yield
        return
    try:
        yield
    except WriteError:
        raise
    except UnicodeEncodeError as error:  # json may name what no text can hold
        raise InputError(f"{source.name!r}: the name {shortened(error.object)!a} {HALF_CHARACTER}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, NarwhalsError, OSError) as error:
        reason = first_line(error)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise WriteError(f"no room for temporary files of {source.name!r}: {reason}; {ELSEWHERE}") from None
        raise InputError(f"{source.name!r} cannot be read: {reason}") from None


def refuse_other_kind(entry: Format, wanted: type[Data] | None, source: Input) -> None:
    """Raise an error for a source that is plainly something else than what was asked for."""
    makes = {"matches": Matches, "scores": Scores, "payoffs": Payoffs}[entry.makes]
    if wanted is None or makes is wanted or (makes is Payoffs and wanted is Matches):
        return
    if wanted is Matches and entry.name == "scores-wide":
        find_sides(source.columns, source.name, None, None)  # says which columns are missing
    verb = "read_matches or read_payoffs" if makes is Payoffs else VERB[makes]
    raise InputError(f"{source.name!r} looks like {entry.name} ({entry.holds}): use {verb}")


def choose_agents(
    data: Data | Segments | Games, options: Options, notes: Sequence[str] = ()
) -> Data | Segments | Games:
    """Leave out rare agents and smaller groups of agents, as asked, and add notes; in each segment apart."""
    if isinstance(data, Segments):

        def choose(value: str, part: Matches | Scores) -> Matches | Scores:
            chosen = choose_agents(part, options, notes)
            assert isinstance(chosen, Matches | Scores)
            return chosen

        parts, refused = read_each(data.parts, choose)
        return replace(data, parts=parts, refused=data.refused | refused)
    if notes:
        data = replace(data, origin=data.origin.noting(*notes))
    if not isinstance(data, Matches):
        return data
    if options.min_games:
        data = drop_rare_agents(data, options.min_games)
    return split_components(data, "largest")[0] if options.components == "largest" else data


def expect(data: Data | Segments | Games, kind: type[Kind], source: Any) -> Kind:
    """Return the data if it is of the kind asked for."""
    if not isinstance(data, kind):
        raise InputError(f"{describe_source(source)!r} contains {type(data).__name__.lower()}: use {VERB[type(data)]}")
    return data
