"""Databases behind an address: counted inside, read-only, and without a word about passwords."""

import gzip
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import nashboard as nb
import servers
from commands import run_process
from data.conftest import in_postgres, in_sqlite
from nashboard.data.sources import elsewhere
from nashboard.data.sources.paths import find_scheme, hide_secrets, scrub_secrets

LOG: dict[str, list[Any]] = {
    "model_a": ["x", "y", "z", "x"],
    "model_b": ["y", "z", "x", "z"],
    "winner": ["model_a", "tie", "model_b", "model_a"],
    "language": ["en", "de", "en", "en"],
    "elo": [1.5, 2.5, 3.5, 4.5],
}
EXPECTED = "Matches(3 agents, 3 of 3 pairs met, 4 games)"
postgres = pytest.mark.xdist_group("postgresql")


def test_a_table_or_a_query_of_a_sqlite_file_is_read(tmp_path: Path) -> None:
    address = in_sqlite(LOG, tmp_path)
    only = nb.read_matches(address)  # the only table needs no name
    assert (repr(only), only.origin.notes) == (EXPECTED, (f"read table 'log', the only one of {address}",))
    matches = nb.read_matches(address, table="log", where={"language": "en"})
    assert matches.origin.notes == ()
    assert matches.n_games == 3
    assert matches.origin.source == f"{address}, table log"
    assert matches.origin.format == "sqlite table"
    assert nb.read_matches(address, query="select * from log where language = 'de';").n_games == 1
    scores = nb.read_scores(address, query="select model_a as agent, model_b as task, elo as score from log")
    assert (scores.agents, scores.tasks) == (("x", "y", "z"), ("x", "y", "z"))


def test_a_duckdb_file_is_read_and_its_schemas_too(tmp_path: Path) -> None:
    path = tmp_path / "games.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema league")
        connection.execute("create table league.games as select 'x' as a, 'y' as b, 'x' as winner")
        connection.execute("create table other as select 1 as one")
    assert nb.read_matches(f"duckdb:///{path}", table="league.games").n_games == 1
    assert nb.read_matches(f"duckdb:///{path}", query="from league.games").n_games == 1


@postgres
def test_a_postgresql_server_counts_and_only_pairs_come_back(postgres_port: int) -> None:
    rows, agents = 30_000, 5
    names = [f"agent {k}" for k in range(agents)]
    log = {
        "model_a": [names[k % agents] for k in range(rows)],
        "model_b": [names[(k + 1 + k // agents % (agents - 1)) % agents] for k in range(rows)],
        "winner": [("model_a", "model_b", "tie")[k % 3] for k in range(rows)],
    }
    address = in_postgres(log, postgres_port)
    with servers.statements(postgres_port) as found:
        assert nb.read_matches(address).n_games == rows
    asked = [query for query, _ in found if '"log"' in query and "limit $1" not in query]
    assert len(asked) == 2  # which labels there are, and the pairs
    assert all("GROUP BY" in query for query in asked)
    fetched = sum(count for query, count in found if query.upper().startswith("FETCH") or query in asked)
    assert fetched == 3 + agents * (agents - 1)


@postgres
def test_postgresql_types_that_engines_do_not_know_are_their_text(postgres_port: int) -> None:
    with servers.connected(postgres_port) as connection:
        connection.execute("drop schema if exists league cascade; create schema league")
        connection.execute("create type league.ending as enum ('model_a', 'model_b', 'tie')")
        connection.execute(
            "create table league.games (model_a char(4), model_b varchar(9), winner league.ending, "
            "weight numeric(8, 2), time timestamptz, id uuid)"
        )
        connection.execute(
            "insert into league.games values ('x', 'y', 'tie', 1.25, '2024-01-01 00:00+00', gen_random_uuid()), "
            "('y', 'z', 'model_a', 2, '2024-02-01 00:00+00', gen_random_uuid())"
        )
    matches = nb.read_matches(servers.address(postgres_port), table="league.games")
    assert (matches.agents, matches.draws.tolist(), matches.wins.tolist()) == (("x", "y", "z"), [1.25, 0], [0, 2])
    assert matches.origin.period == ("2024-01-01 00:00:00+00:00", "2024-02-01 00:00:00+00:00")


@postgres
def test_the_commands_read_a_server_and_never_show_its_password(postgres_port: int, tmp_path: Path) -> None:
    address = in_postgres(LOG, postgres_port)
    evaluated = run_process("evaluate", address, "--table", "log", "--resamples", "5", "--format", "json")
    assert evaluated.returncode == 0, evaluated.stderr
    shown = f"postgresql://{servers.USER}:***@127.0.0.1:{postgres_port}/{servers.DATABASE}, table log"
    assert json.loads(evaluated.stdout)["input"]["source"] == shown
    wrong = run_process("inspect", address.replace("s3cret", "s4cret"))
    assert wrong.returncode == 2
    assert "password authentication failed" in wrong.stderr
    missing = run_process("inspect", address, "--table", "lgo")
    assert "has no table 'lgo' (did you mean 'log'?)" in missing.stderr
    for done in (evaluated, wrong, missing):
        assert "cret" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


@postgres
def test_a_query_to_a_server_gives_the_counts_of_the_same_rows_in_a_file(postgres_port: int, tmp_path: Path) -> None:
    address, path = in_postgres(LOG, postgres_port), tmp_path / "log.csv"
    frame = pl.DataFrame(LOG)
    frame.filter(pl.col("language") == "en").write_csv(path)
    asked = nb.read_matches(address, query="select model_a, model_b, winner from log where language = 'en';")
    filed = nb.read_matches(path)
    assert (asked.agents, asked.n_games) == (filed.agents, 3)
    for part in ("pairs", "wins", "losses", "draws"):
        assert getattr(asked, part).tolist() == getattr(filed, part).tolist()
    assert asked.origin.source.endswith(", query")
    assert asked.origin.format == "postgresql query"
    renamed = "with games as (select model_a as agent, model_b as task, elo as score from log) select * from games"
    frame.select(agent="model_a", task="model_b", score="elo").write_csv(path)
    scores, same = nb.read_scores(address, query=renamed), nb.read_scores(path)
    assert (scores.agents, scores.tasks) == (same.agents, same.tasks)
    np.testing.assert_array_equal(scores.values, same.values)


@postgres
def test_a_query_cannot_write_to_a_server(postgres_port: int) -> None:
    address = in_postgres(LOG, postgres_port)
    with pytest.raises(nb.InputError, match="one select statement"):
        nb.read_matches(address, query="delete from log returning *")
    with pytest.raises(nb.InputError, match="cannot be read"):
        nb.read_matches(address, query="with gone as (delete from log returning *) select * from gone")
    assert repr(nb.read_matches(address)) == EXPECTED


def test_a_query_cannot_write_to_a_file(tmp_path: Path) -> None:
    address = in_sqlite(LOG, tmp_path)
    before = (tmp_path / "log.db").read_bytes()
    with pytest.raises(nb.InputError, match="one select statement"):
        nb.read_matches(address, query="delete from log returning *")
    with duckdb.connect(str(tmp_path / "games.duckdb")) as connection:
        connection.execute("create table log as select 'x' as a, 'y' as b, 'x' as winner")
    for query in ("drop table log", f"copy log to '{tmp_path}/copy.csv'"):
        with pytest.raises(nb.InputError, match="one select statement"):
            nb.read_matches(f"duckdb:///{tmp_path}/games.duckdb", query=query)
    assert nb.read_matches(f"duckdb:///{tmp_path}/games.duckdb").n_games == 1
    assert (tmp_path / "log.db").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.duckdb", "log.db"]


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("sqlite:///{folder}/none.db", {}, "there is no database file .*for reading only"),
        ("sqlite:///", {}, "names no file: write sqlite:///games.db"),
        ("sqlite:///{folder}/two.db", {}, "contains the tables 'one' and 'two': pass table= or query="),
        ("sqlite:///{folder}/two.db", {"table": "ones"}, r"no table 'ones' \(did you mean 'one'\?\)"),
        ("sqlite:///{folder}/two.db", {"table": "one", "query": "select 1"}, "give table= or query=, not both"),
        ("sqlite:///{folder}/two.db", {"query": " ; "}, "the query is empty"),
        ("sqlite:///{folder}/two.db", {"query": "select * from three"}, "no such table: three"),
        (
            "sqlite:///{folder}/two.db",
            {"table": "one", "format": "pgn"},
            "format='pgn' is read from files of this machine",
        ),
        ("sqlite:///{folder}/text.db", {}, "file is not a database"),
        ("sqlite:///{folder}/empty.db", {}, "contains no table"),
        ("sqlite:///{folder}/empty.db", {"table": "one"}, "has no table 'one': it contains no table at all"),
        ("postgresql://u:pass%20word@127.0.0.1:1/db", {}, "postgresql://u:\\*\\*\\*@127.0.0.1:1/db' cannot be read: "),
        ("mysql://u:pass%20word@host/db", {}, "'mysql://u:\\*\\*\\*@host/db' is not an address that can be read"),
        ("{folder}/text.db", {"table": "one"}, "'table' has no meaning for"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_in_one_sentence(
    address: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    for name, tables in (("two.db", ("one", "two")), ("empty.db", ())):
        connection = sqlite3.connect(tmp_path / name)
        for table in tables:
            connection.execute(f"create table {table} (a text, b text, winner text)")
        connection.commit()
        connection.close()
    (tmp_path / "empty.db").write_bytes(b"")
    (tmp_path / "text.db").write_text("a,b,winner\nx,y,x\n" * 100)
    with pytest.raises(nb.InputError, match=message) as caught:
        nb.read_matches(address.format(folder=tmp_path), **options)
    assert "pass%20word" not in str(caught.value)
    assert "pass word" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://u:p@h:5432/d?sslmode=require", "postgresql://u:***@h:5432/d?***"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql://h/d?password=p&user=u", "postgresql://h/d?***"),
        ("postgresql://u:p@q?r/s@h/d", "postgresql://u:***@h/d"),
        ("https://host/games.parquet?sig=abc%3D", "https://host/games.parquet?***"),
        ("s3://key:secret@bucket/x.csv", "s3://key:***@bucket/x.csv"),
        ("games.csv", "games.csv"),
        ("C:/games.csv", "C:/games.csv"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address: str, shown: str) -> None:
    assert hide_secrets(address) == shown


def test_what_a_driver_says_is_scrubbed_of_every_spelling_of_a_secret() -> None:
    address = "postgresql://u:a%2Fb%20c@h/d?sslpassword=d%2Be"
    said = f"cannot connect to {address}: password 'a/b c' (a%2Fb%20c), key d+e (d%2Be)"
    assert scrub_secrets(said, address) == (
        "cannot connect to postgresql://u:***@h/d?***: password '***' (***), key *** (***)"
    )


def test_what_is_no_address_has_no_scheme() -> None:
    assert find_scheme("games.csv") is find_scheme(Path("s3:/x")) is find_scheme(3) is None
    assert find_scheme("S3://bucket/x.parquet") == "s3"


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = in_sqlite(LOG, tmp_path)
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(nb.MissingExtraError, match=r"pip install 'nashboard\[sql\]'"):
        nb.read_matches(address)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    (tmp_path / "g.duckdb").touch()
    with pytest.raises(nb.MissingExtraError, match=r"pip install 'nashboard\[sql\]'"):
        elsewhere.open_duckdb(f"duckdb:///{tmp_path}/g.duckdb", "g.duckdb")


def test_segments_of_a_database_are_its_values(tmp_path: Path) -> None:
    segments = nb.read_segments(in_sqlite(LOG, tmp_path), "language", table="log")
    assert list(segments.parts) == ["de", "en"]


def test_a_panic_over_what_a_database_holds_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panicking(source: str, name: str) -> elsewhere.Database:
        raise pl.exceptions.PanicException("text that is not text\nstack backtrace: ...")

    monkeypatch.setitem(elsewhere.OPENERS, "sqlite", panicking)
    with pytest.raises(nb.InputError, match=r"cannot be read: text that is not text$"):
        nb.read_matches(in_sqlite(LOG, tmp_path))


def both_databases(folder: Path) -> None:
    in_sqlite(LOG, folder)
    with duckdb.connect(str(folder / "games 1.duckdb")) as connection:
        connection.execute("create table games as select 'x' as a, 'y' as b, 'x' as winner")


@pytest.mark.parametrize("name", ["log.db", "games 1.duckdb"])
def test_a_database_given_as_a_file_is_read_like_its_address(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_databases(tmp_path)
    monkeypatch.chdir(tmp_path)
    address = f"{'duckdb' if 'duck' in name else 'sqlite'}:///{name}"
    assert str(nb.read_matches(name)) == str(nb.read_matches(Path(name))) == str(nb.read_matches(address))
    with pytest.raises(nb.InputError, match=r"has no table 'other'"):
        nb.read_matches(name, table="other")
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(Path(name).read_bytes()))
    with pytest.raises(nb.InputError, match=r"'packed.gz' is a .* database: give one plain file, or its address"):
        nb.read_matches("packed.gz")


def test_a_file_of_the_other_database_is_named(tmp_path: Path) -> None:
    both_databases(tmp_path)
    with pytest.raises(nb.InputError, match=r"log.db' is a SQLite file: write sqlite:/// instead of duckdb:///"):
        nb.read_matches(f"duckdb:///{tmp_path}/log.db")
    with pytest.raises(nb.InputError, match=r"is a DuckDB file: write duckdb:/// instead of sqlite:///"):
        nb.read_matches(f"sqlite:///{tmp_path}/games 1.duckdb")


def test_a_text_that_mentions_a_duck_is_still_a_text(tmp_path: Path) -> None:
    (tmp_path / "ducks.csv").write_text("a,b,win,DUCK\nx,y,1,0\n")
    assert (tmp_path / "ducks.csv").read_bytes()[8:12] == b"DUCK"
    assert nb.read_matches(tmp_path / "ducks.csv").n_games == 1


@pytest.fixture(params=["sqlite", "duckdb", pytest.param("postgresql", marks=postgres)])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database of each kind, which contains the table log."""
    if request.param == "postgresql":
        return in_postgres(LOG, request.getfixturevalue("postgres_port"))
    if request.param == "sqlite":
        return in_sqlite(LOG, tmp_path)
    with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
        connection.register("frame", pl.DataFrame(LOG))
        connection.execute("create table log as select * from frame")
    return f"duckdb:///{tmp_path}/log.duckdb"


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    "query",
    [
        "select * from log -- all of it",
        "select * from log; -- all of it; really",
        "-- all of it\nselect * from log /* ; */ ;;",
        "select * from log where model_a <> ';'",
        "select *, 'ü' as ö from log; -- ü;",
        "select * from log where model_a <> '-- no comment'",
        "with games as (select * from log) select * from games",
    ],
)
def test_a_query_may_have_comments_and_semicolons(query: str, anywhere: str) -> None:
    assert repr(nb.read_matches(anywhere, query=query)) == EXPECTED


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    "query",
    [
        "delete from log",
        "drop table log",
        "insert into log (model_a) values ('x')",
        "select * from log; select * from log",
        "select * from log; drop table log",
        "create table other as select * from log",
        "explain select * from log",
    ],
)
def test_every_database_says_that_a_query_must_be_one_select(query: str, anywhere: str) -> None:
    with pytest.raises(nb.InputError, match=r"': the query must be one select statement: databases are only read$"):
        nb.read_matches(anywhere, query=query)
    with pytest.raises(nb.InputError, match=r"': the query is empty$"):
        nb.read_matches(anywhere, query=" ; ; ")
    assert repr(nb.read_matches(anywhere)) == EXPECTED


def test_a_quote_that_is_not_closed_is_told_by_the_database(anywhere: str) -> None:
    with pytest.raises(nb.InputError, match=r"unrecognized token|unterminated (quoted )?string"):
        nb.read_matches(anywhere, query="select * from log where model_a = 'x")


def test_a_blob_in_the_place_of_a_name_is_one_sentence(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("create table log (a, b, winner)")
    connection.executemany("insert into log values (?, ?, ?)", [("x", "y", "x"), (b"\xff\xfe", "y", "tie")])
    connection.commit()
    connection.close()
    with pytest.raises(nb.InputError) as caught:
        nb.read_matches(f"sqlite:///{tmp_path}/log.db")
    assert str(caught.value).endswith(
        "cannot be counted: a cell contains b'\\xff\\xfe', which is not text: leave such rows out or cast them to "
        "text with a query"
    )
    query = "select a, b, winner from log where typeof(a) <> 'blob'"
    assert nb.read_matches(f"sqlite:///{tmp_path}/log.db", query=query).n_games == 1
