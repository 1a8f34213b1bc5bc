"""Real servers on loopback for the tests: PostgreSQL and Spark. What a machine lacks is skipped, with a reason."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

PASSWORD = "s3cret/of:the@test"  # with every character that an address has to quote
USER, DATABASE = "reader", "arena"


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's own programs, or None where it is not installed."""
    on_path = shutil.which("initdb")
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path(on_path or "/none").parent]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def as_owner() -> list[str]:
    """Return the words before a command that PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]


@contextlib.contextmanager
def postgres_server() -> Iterator[int]:
    """Start a server in a folder of its own, yield its port, and stop it by its process id."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: Debian's package is postgresql")
    owner = as_owner()
    with tempfile.TemporaryDirectory(prefix="nashboard-postgres-") as home:
        if owner:
            shutil.chown(home, "postgres", "postgres")
        secret, data, port = Path(home, "password"), Path(home, "data"), free_port()
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        made = [
            "--username",
            USER,
            "--pwfile",
            str(secret),
            "--auth",
            "scram-sha-256",
            "--encoding",
            "UTF8",
            "--no-sync",
        ]
        where = ["--pgdata", str(data), "--locale", "C.UTF-8"]
        subprocess.run([*owner, programs / "initdb", *made, *where], check=True, capture_output=True, cwd=home)
        settings = [
            f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={home}", "fsync=off",
            "shared_preload_libraries=pg_stat_statements",
        ]  # fmt: skip
        words = [word for setting in settings for word in ("-c", setting)]
        with Path(home, "log").open("w") as log:
            server = subprocess.Popen(
                [*owner, programs / "postgres", "-D", data, *words], stdout=log, stderr=log, cwd=home
            )
        try:
            create_database(server, port, Path(home, "log"))
            yield port
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def create_database(server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Create the database of the tests as soon as the server takes connections."""
    for _ in range(300):
        try:
            with connected(port, "postgres") as connection:
                connection.execute(f"create database {DATABASE}")
            return
        except psycopg.OperationalError:
            if server.poll() is not None:
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(0.1)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}")


def connected(port: int, database: str = DATABASE) -> "psycopg.Connection[Any]":
    """Return a connection that may write, for setting a test up."""
    return psycopg.connect(host="127.0.0.1", port=port, user=USER, password=PASSWORD, dbname=database, autocommit=True)


@contextlib.contextmanager
def statements(port: int) -> Iterator[list[tuple[str, int]]]:
    """Yield a list that holds, after the block, what the server was asked in it, and how many rows it answered."""
    asked: list[tuple[str, int]] = []
    with connected(port) as connection:
        connection.execute("create schema if not exists statistics")
        connection.execute("create extension if not exists pg_stat_statements with schema statistics")
        connection.execute("set search_path = public, statistics")
        connection.execute("select pg_stat_statements_reset()")
        yield asked
        asked += connection.execute("select query, rows from pg_stat_statements").fetchall()


def no_spark() -> str:
    """Return why Spark cannot run here, or nothing."""
    if find_spec("pyspark") is None:
        return "Spark is not installed: pip install 'nashboard[spark]'"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "Spark needs Java 17: Debian's package is openjdk-17-jre-headless"
    return ""


def no_dask() -> str:
    """Return why Dask cannot run here, or nothing."""
    return "" if find_spec("dask") and find_spec("distributed") else "pip install 'nashboard[dask]'"


def spark_session() -> Any:
    """Return a Spark session of two threads on this machine, which nothing outside can reach."""
    if absent := no_spark():
        pytest.skip(absent)
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.driver.memory": "1g",
        # compiled quickly rather than well: the session lives for seconds
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    builder: Any = SparkSession.builder.master("local[2]").appName("nashboard tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def address(port: int) -> str:
    """Return the address under which a test reads the server."""
    return f"postgresql://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/{DATABASE}"
