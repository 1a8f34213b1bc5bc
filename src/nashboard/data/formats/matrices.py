"""Matrices of agents by agents (payoffs, win rates, counts) and rliable's arrays of runs by tasks; never a pickle."""

import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.lib import format as npy

from nashboard._text import listed, number_of
from nashboard._types import Floats, floats
from nashboard.data.counting.cells import CELL, average_runs, make_scores, name_source
from nashboard.data.formats.format import Input, Leftovers
from nashboard.data.matches import ROUNDING, Matches
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.sources.paths import PlainFile, require_one_file
from nashboard.data.table.columns import (
    AGENT,
    OUTCOME,
    SCORE,
    TASK,
    find_agent_pairs,
    find_metadata,
    find_usual,
    is_average,
    is_rank,
)
from nashboard.data.table.files import read_head
from nashboard.data.table.values import as_text, is_number_or_missing, parse_number
from nashboard.errors import InputError

PERHAPS_PERCENTAGES = (
    "every pair adds up to 100: read as 100 games a pair; if these are percentages, divide them by 100, "
    "or the number of games is overstated",
)
PERHAPS_NO_WINS = ("every pair is even: if these are numbers of games, distances or similarities, they are no wins",)


def read_named_matrix(source: Input) -> tuple[tuple[str, ...], Floats, tuple[LeftOut, ...]]:
    """Return the agents, the matrix and what was left out; rows are put in the order of the columns.

    A bad row is left out together with the column of its agent.
    """
    table = source.table
    if table.kind == "delimited":
        table.explain()
        table = table.drop_blank_lines(table.schema.names())
    if table.nested:
        raise InputError(
            f"{table.name!r} is not a matrix: there are lists or objects instead of numbers in "
            f"{listed(table.nested, 3)}"
        )
    frame = table.collect(table.frame.select(*table.schema.names()))
    corner = find_row_names(source) or frame.columns[0]
    left = Leftovers()
    beside = [name for name in frame.columns if name != corner and name not in set(frame[corner])]
    totals = set(find_metadata(beside)) | {name for name in beside if is_average(name) or is_rank(name)}
    if corner != frame.columns[0] or (beside and totals >= set(beside)):  # a cross-table with ranks and points
        left.add("columns", "not an agent", *beside)
        frame = frame.select(corner, *(name for name in frame.columns if name not in (corner, *beside)))
    if source.options.skip_bad:
        frame = skip_bad_agents(frame, left)
        if len(frame) < 2:
            raise InputError(f"{table.name!r} has fewer than two agents without a bad row")
    rows = ["" if name is None else str(name) for name in frame[frame.columns[0]]]
    spelt = {name.strip(): name for name in rows}  # headers of text tables come without the white space around them
    known = set(rows)
    columns = [name if name in known else spelt.get(name, name) for name in frame.columns[1:]]
    if len(rows) != len(columns):
        raise InputError(
            f"{table.name!r} is not square: {number_of(len(rows), 'rows')} and "
            f"{number_of(len(columns), 'columns')} of agents"
        )
    for here, there, extra in (
        ("row", "column", set(rows) - set(columns)),
        ("column", "row", set(columns) - set(rows)),
    ):
        if extra:
            raise InputError(
                f"{table.name!r}: {listed(sorted(extra), 3)} has a {here} but no {there}; names must agree"
            )
    if len(set(rows)) < len(rows):
        raise InputError(f"{table.name!r}: agent {next(x for x in rows if rows.count(x) > 1)!r} has more than one row")
    cells = []
    for name, values in zip(rows, frame.drop(frame.columns[0]).rows(), strict=True):
        with left.skip_bad(source.options, name):
            where = f"{table.name!r}, row {name!r}, column"
            row = [parse_number(x, f"{where} {column!r}") for column, x in zip(columns, values, strict=True)]
            units = [0.01 if str(x).rstrip().endswith("%") else 1.0 for x in values]
            cells.append([None if x is None else x * unit for x, unit in zip(row, units, strict=True)])
    place = {name: k for k, name in enumerate(rows)}
    order = [place[name] for name in columns]
    return tuple(columns), np.array(cells, dtype=np.float64)[order], (*table.left_out, *left.entries())


def skip_bad_agents(frame: pl.DataFrame, left: Leftovers) -> pl.DataFrame:
    """Return a matrix without the agents that have no row or column, two rows, or a cell that is not a number."""
    names = ["" if name is None else str(name).strip() for name in frame[frame.columns[0]]]
    sound = {
        name
        for name, (_, *cells) in zip(names, frame.rows(), strict=True)
        if name in frame.columns[1:] and names.count(name) == 1 and all(is_number_or_missing(cell) for cell in cells)
    }
    bad = list(dict.fromkeys(name for name in (*names, *frame.columns[1:]) if name not in sound))
    left.add("bad rows", "no row, no column, two rows, or a cell that is not a number", *bad)
    kept = frame.filter(pl.Series([name in sound for name in names], dtype=pl.Boolean))
    return kept.select(frame.columns[0], *(name for name in frame.columns[1:] if name in sound))


def is_named_matrix(source: Input) -> bool:
    """Return whether the header repeats the first column, nearly: a small slip must not turn it into scores."""
    columns = source.columns
    is_log = find_agent_pairs(columns) and find_usual(OUTCOME, columns)
    if is_log or all(find_usual(usual, columns) for usual in (AGENT, TASK, SCORE)):
        return False  # no need to look at the rows
    return 3 <= len(columns) <= 5000 and find_row_names(source) is not None


def find_row_names(source: Input) -> str | None:
    """Return the column whose names are most of the other columns, or all but a few beside: ranks, points, games."""
    table, columns = source.table, source.columns
    usual = [name for name in find_usual((*AGENT, "engine", "name"), columns[1:]) if name in columns[:4]]
    for name in (columns[0], *usual):
        if name in table.nested:
            continue
        cells = table.collect(table.frame.select(name=as_text(table.frame, name)).head(len(columns)))["name"]
        shared = set(cells) & set(columns) - {name}
        others = len(columns) - 1 if name == columns[0] else len(set(cells))
        if len(shared) > max(others / 2, 1):
            return name
    return None


def read_matrix(source: Input) -> Payoffs | Matches:
    """Read a matrix as what the user asked for, or as its numbers show."""
    agents, M, left_out = read_named_matrix(source)
    payoffs = source.wanted is Payoffs or (source.wanted is None and find_matrix_kind(M) == "payoffs")
    made = make_payoffs(source, agents, M) if payoffs else make_matches(source, agents, M)
    return replace(made, origin=replace(made.origin, left_out=left_out))


def make_payoffs(source: Input, agents: tuple[str, ...], M: Floats) -> Payoffs:
    """Return a matrix as payoffs."""
    if np.isnan(M).any():
        i, j = np.argwhere(np.isnan(M))[0]
        if i != j:
            raise InputError(
                f"{source.name!r}, row {agents[i]!r}, column {agents[j]!r} is empty: a payoff matrix must be complete"
            )
        np.fill_diagonal(M, 0.0)
        return make_payoffs(source, agents, M)
    kind = find_matrix_kind(M)
    if kind in ("win rates", "percentages") and not source.options.symmetrise:
        divided = " divide them by 100," if kind == "percentages" else ""
        raise InputError(
            f"{source.name!r} contains {kind}, not payoffs, which are negative for the loser:{divided} read them with "
            f"read_matches, and turn the matches into payoffs with payoffs(matches)"
        )
    with name_source(source.name):
        made = Payoffs.from_array(M, agents, symmetrise=source.options.symmetrise)
    return replace(made, origin=make_origin(source, len(agents), "payoffs"))


def make_matches(source: Input, agents: tuple[str, ...], M: Floats) -> Matches:
    """Return a matrix of win rates or of counts as matches."""
    kind = find_matrix_kind(M)
    if kind == "payoffs":
        raise InputError(
            f"{source.name!r} contains payoffs with negative numbers, not win rates or counts: use read_payoffs"
        )
    if kind == "percentages":
        raise InputError(f"{source.name!r} contains percentages, not win rates or counts: divide them by 100")
    with name_source(source.name):
        if kind == "win rates":
            made = Matches.from_win_rates(M, agents, symmetrise=source.options.symmetrise)
        else:
            np.fill_diagonal(M, np.nan_to_num(np.diag(M)))
            made = Matches.from_counts(M, agents)
    even = PERHAPS_NO_WINS if kind == "counts" and len(M) > 2 and np.array_equal(M, M.T, equal_nan=True) else ()
    perhaps = PERHAPS_PERCENTAGES if kind == "counts" and pairs_add_up(M, 100) else ()
    notes = (*source.table.notes, *made.origin.notes, *even, *perhaps)
    return replace(made, origin=replace(make_origin(source, len(agents), kind), notes=notes))


def find_matrix_kind(M: Floats) -> str:
    """Return payoffs (negative numbers), win rates (in [0, 1]), percentages (pairs add up to 100) or counts."""
    off = ~np.eye(len(M), dtype=bool) & ~np.isnan(M)
    if (M[off] < 0).any() or not M[off].any():
        return "payoffs"
    with np.errstate(invalid="ignore"):  # what is infinite is not a whole number, and is refused later
        parts = M[off] % 1
    if (M[off] <= 1 + ROUNDING).all() and ((parts != 0).any() or pairs_add_up(M, 1)):
        return "win rates"
    whole = not parts.any()
    return "percentages" if not whole and pairs_add_up(M, 100) else "counts"


def pairs_add_up(M: Floats, total: float) -> bool:
    """Return whether the two directions of every pair that met add up to this total."""
    off = ~np.eye(len(M), dtype=bool) & ~np.isnan(M)
    with np.errstate(over="ignore"):  # infinitely far from the total, which is an answer
        return np.allclose((M + M.T)[off & off.T], total)


def make_origin(source: Input, rows: int, kind: str) -> Origin:
    """Return where the matrix came from."""
    return Origin(source=source.name, format=f"payoff-matrix ({kind})", rows=rows, notes=source.table.notes)


LEAGUE = "league.json"  # among the arrays that nashboard online writes
LARGEST_ARRAY = 1 << 30  # bytes, unpacked
MOST = 1e100  # of a score: its square is still a number


def read_arrays(source: Input) -> Scores:
    """Average the runs of each agent on each task; their spread gives the standard error."""
    if source.kind == "directory":
        raise InputError(f"{source.name!r} is a folder: a score dictionary is one npz or json file")
    left, arrays = Leftovers(), dict[str, Floats]()
    for name, read in list_arrays(source).items():
        with left.skip_bad(source.options, name, "bad agents"):
            array = runs_by_tasks(read(), name, source.name)
            width = next((known.shape[1] for known in arrays.values()), array.shape[1])
            if array.shape[1] != width:
                widths = f"{array.shape[1]} and not {width}, as {listed(list(arrays)[:1])} has"
                raise InputError(f"{source.name!r}: every agent needs the same tasks, but {name!r} has {widths}")
            if np.nanmax(np.abs(array), initial=0.0) > MOST:
                raise InputError(f"{source.name!r}: {name!r} has scores above {MOST:g}: scale them")
            arrays[name] = array
    if len(arrays) < 2:  # before millions of tasks are named
        raise InputError(
            f"{source.name!r} has scores of one agent only ({listed(arrays)}): a comparison needs at least two"
        )
    tasks = [f"task {k + 1}" for k in range(next(iter(arrays.values())).shape[1])]
    runs = pl.DataFrame(schema=CELL).drop("runs")
    for name, array in arrays.items():
        cells = pl.DataFrame(array, schema=tasks, orient="row").unpivot(variable_name="task", value_name="score")
        runs = pl.concat([runs, cells.select(pl.lit(name).alias("agent"), "task", "score")], how="diagonal")
    runs = runs.filter(pl.col("score").is_not_nan())
    return make_scores(
        average_runs(runs),
        agents=list(arrays),
        tasks=tasks,
        source=source.name,
        origin=Origin(
            source=source.name,
            format="rliable",
            rows=sum(len(array) for array in arrays.values()),
            left_out=left.entries(),
            notes=("tasks have no names in this format: they are numbered",),
        ),
        lower_is_better=source.options.lower_is_better,
        single=runs,
    )


def list_arrays(source: Input) -> dict[str, Callable[[], Any]]:
    """Return how to read the array of each agent: of an npz file, or of a json object."""
    if source.kind == "zip":
        return npz_arrays(require_one_file(list(source.files), "a score dictionary"))
    content = source.require_document()
    if not isinstance(content, dict):
        raise InputError(f"{source.name!r} must be an object: agent -> list of runs, each a list of scores")
    return {agent: partial(json_array, agent, rows, source.name) for agent, rows in content.items()}


def npz_arrays(file: PlainFile) -> dict[str, Callable[[], Any]]:
    """Return how to read the arrays of an npz file, after a look at what their headers claim."""
    if read_head(file).startswith(npy.MAGIC_PREFIX):
        raise InputError(
            f"{file.name!r} is an npy file, which names no agents: in Python, pass the array to Payoffs.from_array or "
            f"Matches.from_counts; a dictionary in one is a pickle, which may run any code and is never opened: "
            f"save it with np.savez(path, **scores)"
        )
    try:
        with zipfile.ZipFile(file.path) as archive:
            other = [entry.filename for entry in archive.infolist() if not entry.filename.endswith(".npy")]
            if LEAGUE in other:
                raise InputError(
                    f"{file.name!r} is the state of an online league, not a table: nashboard predict {file.name} A B "
                    f"reads it, and in Python nb.OnlineMelo.load or nb.OnlineElo.load"
                )
            if any(name.startswith("xl/") for name in other):
                raise InputError(f"{file.name!r} is an Excel workbook, which is not read: save its sheet as csv")
            if other:
                raise InputError(
                    f"{file.name!r} is a zip file but no npz file: it contains {listed(other, 2)}, no array; unpack it"
                )
            return {
                entry.filename.removesuffix(".npy"): partial(npz_entry, entry, file) for entry in archive.infolist()
            }
    except InputError:
        raise
    except (zipfile.BadZipFile, ValueError, RuntimeError) as error:  # of a damaged list of entries
        raise InputError(f"{file.name!r} is damaged or not an npz file: {error}") from None


def npz_entry(entry: zipfile.ZipInfo, file: PlainFile) -> Any:
    """Return one array, never a pickle."""
    where = f"{file.name!r}, array {entry.filename!r}"
    try:
        with zipfile.ZipFile(file.path) as archive, archive.open(entry) as stream:
            if entry.file_size > LARGEST_ARRAY:
                raise InputError(f"{where} has {entry.file_size:,} bytes: more than {LARGEST_ARRAY >> 20} MB")
            values = npy.read_array(stream, allow_pickle=False)
    except InputError:
        raise
    # a header that claims more than there is ends in one of these, before memory is written to
    except (ValueError, OSError, EOFError, MemoryError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"{where} cannot be read: {error}") from None
    if values.dtype.kind not in "biuf":
        raise InputError(f"{where} contains {values.dtype}, not plain numbers")
    return values


def json_array(agent: str, rows: Any, name: str) -> Any:
    """Return the runs of one agent of a json object."""
    if not isinstance(rows, list) or not rows:
        raise InputError(
            f"{name!r} is not a score dictionary: {agent[:60]!r} must be a list of runs, each a list of scores, not "
            f"{str(rows)[:40]!r}"
        )
    return rows


def runs_by_tasks(values: Any, agent: str, name: str) -> Floats:
    """Return an array of runs by tasks; a single run may have one axis."""
    array = np.asarray(values, dtype=object) if isinstance(values, list) else values
    return floats(values if array.ndim == 2 else [values], f"{name!r}, agent {agent!r}: the scores", ndim=2)


def fits_arrays(source: Input) -> bool:
    """Return whether this is an npz file, or a json object of lists of numbers."""
    if source.kind == "zip":
        return True
    content = source.document
    return (
        isinstance(content, dict)
        and bool(content)
        and all(isinstance(rows, list) and rows and not isinstance(rows[0], dict | str) for rows in content.values())
    )
