"""The same content gives the same object, whoever holds it: a file, an address, a frame of any engine, a database."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nashboard as nb
from data.conftest import in_dask, in_duckdb_file, in_sqlite
from data.formats.reading import everything
from nashboard.data.read import read

Columns = dict[str, list[Any]]


def as_csv(columns: Columns, folder: Path) -> str:
    pl.DataFrame(columns).write_csv(folder / "table.csv")
    return str(folder / "table.csv")


def as_parquet(columns: Columns, folder: Path) -> str:
    pl.DataFrame(columns).write_parquet(folder / "table.parquet")
    return str(folder / "table.parquet")


def as_lines(columns: Columns, folder: Path) -> str:
    pl.DataFrame(columns).write_ndjson(folder / "table.jsonl")
    return str(folder / "table.jsonl")


HOLDERS: dict[str, Callable[[Columns, Path], Any]] = {
    "csv": as_csv,
    "file:// csv": lambda columns, folder: f"file://{as_csv(columns, folder)}",
    "parquet": as_parquet,
    "file:// parquet": lambda columns, folder: f"file://{as_parquet(columns, folder)}",
    "json lines": as_lines,
    "pandas": lambda columns, folder: pd.DataFrame(columns),
    "polars": lambda columns, folder: pl.DataFrame(columns),
    "arrow": lambda columns, folder: pa.table(columns),
    "duckdb": lambda columns, folder: duckdb.from_arrow(pa.table(columns)),
    "duckdb file": in_duckdb_file,
    "sqlite": in_sqlite,
    "dask": lambda columns, folder: in_dask(columns),
    "python columns": lambda columns, folder: columns,
    "python rows": lambda columns, folder: [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ],
}
every_holder = pytest.mark.parametrize(
    "holder", [pytest.param(name, marks=[pytest.mark.slow] * (name == "dask")) for name in HOLDERS]
)
names = st.sampled_from(["x", "y", "Zoë", "agent 4", "o'b"])
numbers = st.integers(-8, 8).map(lambda k: k / 4)


@st.composite
def logs(draw: st.DrawFn) -> Columns:
    games = draw(
        st.lists(
            st.tuples(names, names, st.sampled_from(["model_a", "model_b", "tie"]), st.sampled_from([0.5, 1.0, 2.0]))
            .filter(lambda game: game[0] != game[1]),
            min_size=1,
            max_size=12,
        )
    )  # fmt: skip
    a, b, winner, weight = map(list, zip(*games, strict=True))
    return {"model_a": a, "model_b": b, "winner": winner, "weight": weight}


@st.composite
def results(draw: st.DrawFn) -> Columns:
    games = draw(
        st.lists(
            st.tuples(names, names, st.integers(0, 3), st.integers(0, 3), st.booleans()).filter(lambda x: x[0] != x[1]),
            min_size=1,
            max_size=12,
        )
    )
    columns = zip(*games, strict=True)
    return dict(zip(("home_team", "away_team", "home_score", "away_score", "neutral"), map(list, columns), strict=True))


@st.composite
def wide(draw: st.DrawFn) -> Columns:
    agents = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    tasks = draw(st.lists(st.sampled_from(["go", "chess", "left", "right"]), min_size=1, max_size=4, unique=True))
    return {"model": agents} | {task: [draw(numbers) for _ in agents] for task in tasks}


@st.composite
def by_task(draw: st.DrawFn) -> Columns:
    agents = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    return {"game": ["go", "chess"]} | {agent: [draw(numbers) for _ in range(2)] for agent in agents}


@st.composite
def long(draw: st.DrawFn) -> Columns:
    agents = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    cells = [(agent, task, draw(numbers)) for agent in agents for task in ("go", "chess")]
    return dict(zip(("model", "task", "score"), map(list, zip(*cells, strict=True)), strict=True))


@st.composite
def runs(draw: st.DrawFn) -> Columns:
    agents = draw(st.lists(names, min_size=2, max_size=3, unique=True))
    score = st.floats(0, 1, allow_subnormal=False)
    cells = [
        (x, t, seed, step, draw(score)) for x in agents for t in ("go", "hex") for seed in (1, 2) for step in (5, 9)
    ]
    return dict(zip(("algo", "env", "seed", "step", "return"), map(list, zip(*cells, strict=True)), strict=True))


@st.composite
def matrices(draw: st.DrawFn) -> Columns:
    agents = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    upper = {(i, j): draw(numbers) for i in range(len(agents)) for j in range(i + 1, len(agents))}
    upper[0, 1] = upper[0, 1] or 1.0  # all zeros would be nothing
    payoff = [
        [upper.get((i, j), -upper.get((j, i), 0.0)) + 0.0 for j in range(len(agents))] for i in range(len(agents))
    ]
    return {"agent": agents} | {name: [row[k] for row in payoff] for k, name in enumerate(agents)}


def content(data: Any) -> dict[str, Any]:
    """Return everything but where it came from; counts of rows and what was left out must agree, too."""
    whole = everything(data)
    format_name, rows, left, notes, period = whole.pop("origin")
    notes = tuple(note for note in notes if not note.startswith("read table"))  # which one of a database
    names_format = format_name if format_name in KNOWN else "matches"  # frames are called by their engine
    return whole | {"format": names_format, "rows": rows, "left out": left, "notes": notes, "period": period}


KNOWN = ("scores-wide", "scores-by-task", "scores-long", "two-scores", "payoff-matrix (payoffs)", "pair-counts")


@every_holder
@pytest.mark.thin(5)
@pytest.mark.parametrize("shape", [logs, results, wide, by_task, long, runs, matrices])
def test_the_same_content_gives_the_same_object(shape: Any, holder: str, tmp_path: Path) -> None:
    @settings(max_examples=1 if holder == "dask" else 3, deadline=None, suppress_health_check=list(HealthCheck))
    @given(table=shape())
    def check(table: Columns) -> None:
        wanted = content(read(pl.DataFrame(table)))
        assert content(read(HOLDERS[holder](table, tmp_path))) == wanted

    check()


@every_holder
def test_a_matrix_is_payoffs_for_every_reader_and_holder(holder: str, tmp_path: Path) -> None:
    source = HOLDERS[holder]({"agent": ["x", "y", "z"], "x": [0, -1, 2], "y": [1, 0, -1], "z": [-2, 1, 0]}, tmp_path)
    assert isinstance(read(source), nb.Payoffs)
    assert nb.read_payoffs(source).A.tolist() == [[0, 1, -2], [-1, 0, 1], [2, -1, 0]]
    with pytest.raises(nb.InputError, match="contains payoffs with negative numbers"):
        nb.read_matches(source)


@every_holder
def test_tasks_may_be_called_like_sides_wherever_they_are(holder: str, tmp_path: Path) -> None:
    table: Columns = {"model": ["x", "y"], "left": [0.5, 1.0], "right": [0.25, 2.0]}
    assert nb.read_scores(HOLDERS[holder](table, tmp_path)).tasks == ("left", "right")


def test_a_weight_that_only_a_later_file_has_is_refused_alike(tmp_path: Path) -> None:
    first = pl.DataFrame({"a": ["x"], "b": ["y"], "winner": ["a"]})
    first.write_parquet(tmp_path / "1.parquet")
    first.with_columns(weight=pl.lit(2.0)).write_parquet(tmp_path / "2.parquet")
    for source in (f"{tmp_path}/*.parquet", f"file://{tmp_path}/*.parquet"):
        with pytest.raises(nb.InputError, match="1 row has a weight that is missing"):
            nb.read_matches(source)


def test_a_connection_stays_usable_after_reading(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table log (a text, b text, winner text)")
        connection.execute("insert into log values ('x', 'y', 'a')")
    assert nb.read_matches(f"sqlite:///{path}").n_games == 1
    connection.execute("insert into log values ('x', 'y', 'b')")
    connection.commit()
    assert nb.read_matches(f"sqlite:///{path}").n_games == 2
    connection.close()
