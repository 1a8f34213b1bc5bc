"""Logs that are many files, files elsewhere, or larger than memory."""

import http.server
import io
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nashboard as nb
from commands import run, run_process
from data.conftest import needs_proc

LOG = pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"], "weight": [1.0, 2.0]})


@pytest.fixture
def partitioned(tmp_path: Path) -> Path:
    """A table as Spark, Polars and DuckDB write it: a folder for every value of a column."""
    for k, language in enumerate(["de", "en", "日本語"]):
        for month in (1, 2):
            folder = tmp_path / "games" / f"language={language}" / f"month={month}"
            folder.mkdir(parents=True)
            pl.concat([LOG] * (k + 1)).write_parquet(folder / "part-0.parquet")
    (tmp_path / "games" / "_SUCCESS").touch()
    return tmp_path / "games"


@pytest.mark.parametrize("pattern", ["", "/**/*.parquet", "/*/month=*/*.parquet"])
def test_the_folders_of_hive_partitions_are_columns(pattern: str, partitioned: Path) -> None:
    source = f"{partitioned}{pattern}"
    assert nb.read_matches(source).origin.rows == 24
    assert nb.read_matches(source, where={"language": "日本語"}).n_games == 6 * 3
    assert nb.read_matches(source, where={"language": ["de", "en"], "month": 2}).n_games == 3 + 6
    assert nb.read_matches(source, cluster="month").clusters is not None


@pytest.mark.slow
def test_each_partition_can_be_a_segment(partitioned: Path) -> None:
    done = run("evaluate", partitioned, "--segment", "language", "--resamples", 2, "--format", "csv")
    assert sorted({line.partition(",")[0] for line in done.stdout.splitlines()[1:]}) == ["de", "en", "日本語"]


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl"])
def test_an_address_is_read_as_the_file_it_names(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.{ending}"
    if ending == "parquet":
        LOG.write_parquet(path)
    elif ending == "jsonl":
        LOG.write_ndjson(path)
    else:
        LOG.write_csv(path, separator="\t" if ending == "tsv" else ",")
    here, there = nb.read_matches(path), nb.read_matches(f"file://{path}")
    assert (here.agents, here.wins.tolist(), here.draws.tolist()) == (
        there.agents,
        there.wins.tolist(),
        there.draws.tolist(),
    )
    assert there.origin.source == f"file://{path}"
    assert there.origin.rows == 2


def test_an_address_may_be_a_glob_with_partitions(partitioned: Path) -> None:
    matches = nb.read_matches(f"file://{partitioned}/**/*.parquet", where={"language": "en"})
    assert matches.n_games == 12


def test_scores_and_mistakes_of_an_address_are_told_as_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("model;task;score\nx;t;1\ny;t;2\n")
    assert nb.read_scores(f"file://{path}").values.tolist() == [[1], [2]]
    path.write_text("model,task,score\nx,t,1\ny,t,high\n")
    with pytest.raises(nb.InputError, match="data row 2 \\('y' on 't'\\), column 'score' is 'high', not a number"):
        nb.read_scores(f"file://{path}")
    with pytest.raises(nb.InputError, match="looks like scores-long"):
        nb.read_matches(f"file://{path}")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://host/x.csv", "'ftp://host/x.csv' is not an address that can be read.*object stores with 's3://'"),
        ("s3://bucket/games.xlsx", "must end in '.parquet'"),
        ("s3://bucket/games.csv.gz", "must end in '.parquet'"),
        ("file:///nowhere/games.parquet", "there is no file '/nowhere/games.parquet'"),
    ],
)
def test_an_address_that_cannot_be_read_is_refused_in_one_sentence(address: str, message: str) -> None:
    with pytest.raises(nb.InputError, match=message) as caught:
        nb.read_matches(address)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_command_that_follows_a_file_takes_no_address(tmp_path: Path) -> None:
    done = run("online", "s3://k:secret@bucket/x.csv", "--state", tmp_path / "league.npz", code=2)
    assert "'s3://k:***@bucket/x.csv' is an address: here a file of this machine is needed" in done.stderr


class Ranges(http.server.BaseHTTPRequestHandler):
    """A web server on loopback that answers byte ranges, as object stores do, and keeps what it was asked."""

    files: dict[str, bytes]
    asked: list[str]

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        self.asked.append(self.path)
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        content = self.files.get(self.path.partition("?")[0]) if "list-type" not in self.path else self.list_bucket()
        if content is None:
            self.send_error(404)
            return
        size = len(content)
        first, last = 0, size - 1
        if wanted:
            first = int(wanted[1]) if wanted[1] else max(size - int(wanted[2]), 0)
            last = min(int(wanted[2]), size - 1) if wanted[1] and wanted[2] else size - 1
        self.send_response(206 if wanted else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
        self.send_header("Content-Length", str(last - first + 1))
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        if body:
            self.wfile.write(content[first : last + 1])

    def list_bucket(self) -> bytes:
        """Return the names of all files, as S3 gives them."""
        moment = "<LastModified>2024-01-01T00:00:00.000Z</LastModified>"
        entries = (
            f"<Contents><Key>{path.removeprefix('/bucket/')}</Key><Size>{len(data)}</Size>{moment}</Contents>"
            for path, data in self.files.items()
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{''.join(entries)}</ListBucketResult>".encode()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")  # Polars keeps the connection to a bucket, and waits long for one that is gone
def web() -> Iterator[tuple[str, list[str]]]:
    LOG.write_parquet(games := io.BytesIO())
    Ranges.files, Ranges.asked = {"/games.parquet": games.getvalue()}, []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", Ranges.asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_web_address_is_read_and_its_signature_never_shown(web: tuple[str, list[str]]) -> None:
    host, asked = web
    matches = nb.read_matches(f"{host}/games.parquet?signature=verysecret")
    assert matches.n_games == 3
    assert matches.origin.source == f"{host}/games.parquet?***"
    assert any("verysecret" in path for path in asked)
    with pytest.raises(nb.InputError, match=re.escape(f"'{host}/none.parquet?***' cannot be read")) as caught:
        nb.read_matches(f"{host}/none.parquet?signature=verysecret")
    assert "verysecret" not in str(caught.value)


@pytest.fixture
def bucket(web: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files of ``s3://bucket``: the web server takes the place of the service."""
    for name, value in {
        "AWS_ENDPOINT_URL": web[0], "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    return Ranges.files


TEXTS = {
    "games.csv": 'sep=;\r\nmodel_a;model_b;winner\r\n\r\nx;"y";model_a\r\ny;z;tie',
    "notes.csv": "# made up\n# in 2024\nmodel,chess,go\nx,1,2\ny,3,4\n",
    "spaces.txt": "# made up\nmodel chess go\nx 1 2\ny 3 4\n",
    "numpy.txt": "# model chess go\nx 1 2\ny 3 4\n",
    "comma.csv": "model;chess;go\nx;1,5;2\ny;3;4,25\n",
    "log.jsonl": '{"model_a": "x", "model_b": "y", "winner": "x"}\n{"model_a": "x", "model_b": "z", "winner": "tie"}\n',
    "records.json": '{"made": 2024, "rows": [{"model": "x", "go": 1}, {"model": "y", "go": 3}]}',
    "table.md": "| model | go | chess |\n|---|---|---|\n| x | 1 | 2 |\n| y | 2 | 3 |\n",
    "short.csv": "model_a,model_b,winner\nx,y,model_a\nx\ny,z,tie\n",
}


def read_or_refuse(source: str, here: str) -> tuple[object, ...]:
    """Return what was read, or the error, without the name of the source."""
    try:
        data = nb.read(source)
    except nb.InputError as error:
        return (str(error).replace(source, here),)
    return str(data), data.origin.notes, data.origin.left_out, data.origin.format, data.origin.rows


@pytest.mark.parametrize("name", TEXTS)
def test_text_in_a_store_or_on_the_web_is_read_as_on_disk(
    name: str, web: tuple[str, list[str]], bucket: dict[str, bytes], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(TEXTS[name], newline="")
    bucket[f"/bucket/{name}"] = bucket[f"/{name}"] = path.read_bytes()
    here = read_or_refuse(str(path), name)
    assert read_or_refuse(f"s3://bucket/{name}", name) == here
    assert read_or_refuse(f"{web[0]}/{name}", name) == here
    assert read_or_refuse(f"file://{path}", name) == here


def test_a_pattern_names_several_files_of_a_store(bucket: dict[str, bytes]) -> None:
    bucket["/bucket/part-1.csv"] = b"model_a,model_b,winner\nx,y,model_a\n"
    bucket["/bucket/part-2.csv"] = b"model_a,model_b,winner,weight\ny,z,tie,2\n"
    matches = nb.read_matches("s3://bucket/part-*.csv", weight=False)
    assert (matches.n_games, matches.origin.source) == (2, "s3://bucket/part-1.csv and 1 more")
    assert "columns that some of the files do not have are empty there: 'weight'" in matches.origin.notes


def test_windows_letters_are_read_from_the_web_and_named_in_a_store(
    web: tuple[str, list[str]], bucket: dict[str, bytes]
) -> None:
    bucket["/bucket/old.csv"] = bucket["/old.csv"] = "model,go,chess\nJosé,1,2\ny,3,4\n".encode("cp1252")
    assert nb.read_scores(f"{web[0]}/old.csv").agents == ("José", "y")
    with pytest.raises(nb.InputError, match=r"'s3://bucket/old\.csv' is not UTF-8: download it and read"):
        nb.read_scores("s3://bucket/old.csv")


PEAK = """
import resource, sys, threading, time
most = int(sys.argv[2]) << 20
resource.setrlimit(resource.RLIMIT_DATA, (most, most))  # the kernel gives no more than this
most = [0]
def watch():
    while True:
        with open("/proc/self/status") as status:  # without the pages of the file itself
            most[0] = max(most[0], *(int(line.split()[1]) for line in status if line.startswith("RssAnon")))
        time.sleep(0.005)
threading.Thread(target=watch, daemon=True).start()
import nashboard as nb
matches = nb.read_matches(sys.argv[1])
print(int(matches.n_games), most[0] // 1024)
"""


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize(("kind", "blocks", "limit"), [("csv", 120, 900), ("jsonl", 60, 500)])
def test_a_log_larger_than_memory_is_streamed(kind: str, blocks: int, limit: int, tmp_path: Path) -> None:
    """A process that may not take as many megabytes as the file has counts it; reading it whole would fail."""
    path, prompt = tmp_path / f"log.{kind}", "p" * 10_000
    rows = [(f"agent {k % 20}", f"agent {(k + 1 + k // 20 % 19) % 20}", "tie") for k in range(1000)]
    if kind == "csv":
        head, block = "model_a,model_b,winner,prompt\n", "".join(f"{a},{b},{w},{prompt}\n" for a, b, w in rows)
    else:
        line = '{{"model_a": "{}", "model_b": "{}", "winner": "{}", "prompt": "{}"}}\n'
        head, block = "", "".join(line.format(a, b, w, prompt) for a, b, w in rows)
    with path.open("w") as stream:
        stream.write(head)
        for _ in range(blocks):
            stream.write(block)
    one_thread = os.environ | {"POLARS_MAX_THREADS": "1"}  # buffers grow with the number of threads
    done = run_process(path, limit, program=("-c", PEAK), check=True, env=one_thread)
    games, peak = map(int, done.stdout.split())
    size = path.stat().st_size >> 20
    path.unlink()
    assert games == 1000 * blocks
    assert size > 1.1 * limit
    assert peak < 400
