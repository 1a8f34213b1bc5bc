"""Every engine that a table can be in, made from plain columns: the same table, held by somebody else."""

import sqlite3
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import servers

Columns = dict[str, list[Any]]
Engine = Callable[[Columns], Any]
needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


def from_duckdb(columns: Columns) -> Any:
    return duckdb.from_arrow(pa.table(columns))


def with_categories(columns: Columns) -> pd.DataFrame:
    return pd.DataFrame(columns).astype(
        {name: "category" for name in columns if name in ("model_a", "winner", "model", "task")}
    )


def in_dask(columns: Columns) -> Any:
    import dask.dataframe

    from_pandas: Any = dask.dataframe.from_pandas
    frame = pd.DataFrame(columns)
    for name, cells in columns.items():  # Dask takes objects without a type for text
        if any(isinstance(cell, bool | date | Decimal) for cell in cells):
            array = pa.array(cells)
            frame[name] = pd.Series(array.to_pandas(types_mapper=pd.ArrowDtype), dtype=pd.ArrowDtype(array.type))
    return from_pandas(frame, npartitions=3)


IN_PROCESS: dict[str, Engine] = {
    "pandas": pd.DataFrame,
    "pandas with arrow types": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas with categories": with_categories,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "pyarrow dataset": lambda columns: pyarrow.dataset.dataset(pa.table(columns)),
    "duckdb": from_duckdb,
    "dask threads": in_dask,
}
FILES = ("polars scan", "sqlite", "duckdb file", "ibis")
# One process of the tests runs each server; Makefile's --dist loadgroup sees to it.
SERVERS = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("dask cluster", "postgresql", "spark")]
LOCAL = [*IN_PROCESS, *FILES]


FAST = ("pandas", "duckdb")  # a frame and an engine of SQL; files are read by Polars, so that all other tests try it


def with_slow(names: Sequence[str], *more: Any) -> list[Any]:
    """Return cases for engines, all but two kinds marked slow; `test_same_everywhere.py` reads through more."""
    return [pytest.param(name, *more, marks=[pytest.mark.slow] * (name not in FAST)) for name in names]


ENGINES = [*with_slow(LOCAL), *SERVERS]
every_engine = pytest.mark.parametrize("engine", ENGINES, indirect=True)
every_local_engine = pytest.mark.parametrize("engine", with_slow(LOCAL), indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Yield what puts columns into the engine of this name."""
    name: str = request.param
    if name in IN_PROCESS:
        yield IN_PROCESS[name]
    elif name in FILES:
        made = {"polars scan": in_scan, "sqlite": in_sqlite, "duckdb file": in_duckdb_file, "ibis": in_ibis}[name]
        with warnings.catch_warnings():
            if name == "ibis":  # it sets an option of pandas, and newer versions of pandas say that it is not needed
                warnings.filterwarnings("ignore", message="The 'future.infer_string' option")
            yield lambda columns: made(columns, tmp_path)
    elif name == "dask cluster":
        import dask

        with dask.config.set(scheduler=request.getfixturevalue("dask_client")):
            yield in_dask
    elif name == "postgresql":
        port = request.getfixturevalue("postgres_port")
        yield lambda columns: in_postgres(columns, port)
    else:
        session = request.getfixturevalue("spark")
        yield lambda columns: session.createDataFrame(pa.table(columns))


def in_scan(columns: Columns, folder: Path) -> pl.LazyFrame:
    pl.DataFrame(columns).write_parquet(folder / "log.parquet", row_group_size=3)
    return pl.scan_parquet(folder / "log.parquet")


def declared(columns: Columns) -> str:
    """Return the columns of a table as SQL declares them."""
    types = {bool: "boolean", float: "double precision", int: "bigint", str: "text"}
    types |= {date: "date", datetime: "timestamp", Decimal: "numeric(8, 2)"}
    kinds = {name: next((type(cell) for cell in cells if cell is not None), str) for name, cells in columns.items()}
    return ", ".join(f'"{name}" {types[kinds[name]]}' for name in columns)


def in_sqlite_file(cell: Any) -> Any:
    """Return a cell as SQLite keeps it, which has neither times nor decimals."""
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    return str(cell) if isinstance(cell, date | Decimal) else cell


def in_sqlite(columns: Columns, folder: Path) -> str:
    path = folder / "log.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"create table log ({declared(columns)})")
    places = ", ".join("?" * len(columns))
    kept = {name: list(map(in_sqlite_file, cells)) for name, cells in columns.items()}
    connection.executemany(f"insert into log values ({places})", list(zip(*kept.values(), strict=True)))
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


def in_duckdb_file(columns: Columns, folder: Path) -> str:
    path = folder / "log.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.from_arrow(pa.table(columns)).create("log")
    return f"duckdb:///{path}"


def in_ibis(columns: Columns, folder: Path) -> Any:
    import ibis

    in_sqlite(columns, folder)
    return ibis.sqlite.connect(folder / "log.db").table("log")


def in_postgres(columns: Columns, port: int) -> str:
    places = ", ".join(["%s"] * len(columns))
    with servers.connected(port) as connection:
        connection.execute("drop table if exists log")
        connection.execute(f"create table log ({declared(columns)})")
        with connection.cursor() as cursor:
            cursor.executemany(f"insert into log values ({places})", list(zip(*columns.values(), strict=True)))
    return servers.address(port)


@pytest.fixture(scope="session")
def postgres_port() -> Iterator[int]:
    with servers.postgres_server() as port:
        yield port


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    session = servers.spark_session()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A real scheduler with two worker processes, on loopback."""
    distributed = pytest.importorskip("distributed", reason="pip install 'nashboard[dask]'")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
