"""Inputs that once came in silently wrong, or ended in a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nashboard as nb
import servers
from nashboard.data.inspection import inspected
from nashboard.data.table import json_lines
from nashboard.data.table.exact_sums import run_streaming
from nashboard.data.table.table import describe_error, name_errors

LOG = "model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"


def score(matches: nb.Matches, a: str, b: str) -> tuple[float, float, float]:
    two = matches.select([a, b])
    return float(two.wins[0]), float(two.draws[0]), float(two.losses[0])


@pytest.mark.parametrize("name", ["[1].csv", "a*.csv", "what?.csv"])
def test_a_name_with_glob_characters_is_that_file_and_no_other(name: str, tmp_path: Path) -> None:
    for other in ("1.csv", "ab.csv", "whats.csv"):
        (tmp_path / other).write_text(LOG.replace("x", "p"))
    (tmp_path / name).write_text(LOG)
    assert nb.read_matches(tmp_path / name).agents == ("x", "y", "z")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_one_hot_columns_of_win_draw_and_loss_are_counted(make: Any) -> None:
    columns = {"agent_a": ["x", "x", "x", "y"], "agent_b": ["y", "y", "y", "x"],
               "win": [1, 0, 0, 0], "draw": [0, 1, 1, 0], "loss": [0, 0, 0, 1]}  # fmt: skip
    assert score(nb.read_matches(make(columns)), "x", "y") == (2, 2, 0)


def test_a_column_that_appears_late_in_json_lines_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row: dict[str, Any] = {"a": "x", "b": "y", "winner": "a"}
    path = tmp_path / "log.jsonl"
    path.write_text(
        "".join(
            json.dumps(row | ({"weight": 3.0} if k > 1500 else {"weight": 1.0} if k > 1400 else {})) + "\n"
            for k in range(1510)
        )
    )
    with pytest.raises(nb.InputError, match="1,401 rows have a weight that is missing"):
        nb.read_matches(path)
    monkeypatch.setattr(json_lines, "SMALL", 100)
    with pytest.raises(nb.InputError, match="1,401 rows have a weight that is missing"):  # of a large file, too
        nb.read_matches(path)


def test_late_columns_of_large_json_lines_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "SMALL", 100)
    row: dict[str, Any] = {"model": "x", "task": "t", "score": 1.0}
    scores = [row | {"model": f"m{k % 7}", "task": f"t{k // 7}"} for k in range(1505)]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*scores, row | {"stderr": 0.25}]))
    assert np.nanmax(nb.read_scores(path).stderr) == 0.25
    log = [{"a": "x", "b": "y", "winner": "a"}] * 1500
    harmless = {"meta": {"weight": 3}, "text": 'a "weight": 3', "score": 3, "weight": None, "new": 1}  # no weight
    path.write_text("".join(json.dumps(line) + "\n" for line in [*log, log[0] | harmless]))
    assert nb.read_matches(path).n_games == 1501
    path.write_text(
        "".join(json.dumps(line, separators=(" , ", " : ")) + "\n" for line in [*log, log[0] | {"cluster": 3}])
    )
    for source in (path, f"file://{path}"):
        assert nb.read_matches(source).clusters is not None


@pytest.mark.parametrize("kind", ["csv", "frame of numbers"])
def test_agents_called_0_and_1_with_a_numeric_winner_are_ambiguous(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"model_a": [0, 0, 1], "model_b": [1, 1, 0], "winner": [0, 0, 0]})
    frame.write_csv(tmp_path / "log.csv")
    with pytest.raises(nb.InputError, match="is ambiguous: '0' may be a side or the name of an agent"):
        nb.read_matches(tmp_path / "log.csv" if kind == "csv" else frame)


def test_a_label_that_names_a_column_means_that_column() -> None:
    frame = pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"]})
    assert score(nb.read_matches(frame, a="model_b", b="model_a"), "x", "y") == (1, 0, 0)


def test_home_and_away_wins_have_their_letters() -> None:
    frame = pl.DataFrame({"home": ["A", "A", "C"], "away": ["B", "B", "A"], "result": ["H", "D", "A"]})
    matches = nb.read_matches(frame)
    assert score(matches, "A", "B") == (1, 1, 0)
    assert score(matches, "A", "C") == (1, 0, 0)


def test_a_frame_of_a_public_layout_is_read_as_its_file_is(tmp_path: Path) -> None:
    rows = [
        {"model_a": "x", "model_b": "y", "winner": "model_a", "anony": True, "dedup_tag": {"sampled": True}},
        {"model_a": "x", "model_b": "y", "winner": "model_b", "anony": False, "dedup_tag": {"sampled": True}},
        {"model_a": "x", "model_b": "y", "winner": "model_b", "anony": True, "dedup_tag": {"sampled": False}},
    ]
    (tmp_path / "arena.json").write_text(json.dumps(rows))
    for source in (tmp_path / "arena.json", pl.DataFrame(rows), pd.DataFrame(rows), pa.Table.from_pylist(rows)):
        matches = nb.read_matches(source)
        assert (matches.origin.format, score(matches, "x", "y")) == ("chatbot-arena", (1, 0, 0))
        assert [entry.count for entry in matches.origin.left_out] == [1, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nb.read("dataset:atari", metric="f1"), "is read as it is: it takes no options"),
        (lambda: nb.read(pl.DataFrame({"agent": ["x"], "t": [1]}), where={"s": 1}), "'where' has no meaning for scores-wide"),
        (lambda: nb.read_scores(pl.DataFrame({"agent": ["x"], "t": [1]}), metric="f1"), "'metric' has no meaning for scores-wide"),
        (lambda: nb.read(pl.DataFrame({"a": ["x"], "b": ["y"], "winner": ["a"]}), agent="a"), "'agent' has no meaning for matches"),
    ],
)  # fmt: skip
def test_an_option_that_would_be_ignored_is_refused(call: Any, message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        call()


def test_whole_numbers_are_one_agent_whatever_their_type() -> None:
    frame = pd.DataFrame({"model_a": [10, 20], "model_b": [20.0, 10.0], "winner": [10.0, 10.0]})
    matches = nb.read_matches(frame)
    assert matches.agents == ("10", "20")
    assert score(matches, "10", "20") == (2, 0, 0)


def test_fractions_keep_all_their_digits_beside_a_rule() -> None:
    frame = pl.DataFrame({"a": ["x"] * 3, "b": ["y"] * 3, "outcome": ["0.123456789", "0.49999999", "aborted"]})
    matches = nb.read_matches(frame, outcomes={"aborted": None})
    assert matches.wins[0] == pytest.approx(0.123456789 + 0.49999999, abs=1e-15)
    assert matches.draws[0] == 0


@pytest.mark.parametrize(
    ("dates", "period"),
    [
        (["15/12/2023", "02/01/2024"], None),
        (["2023-12-15", "2024-01-02"], ("2023-12-15", "2024-01-02")),
        (["999999999", "1700000000"], ("2001-09-09 01:46:39+00:00", "2023-11-14 22:13:20+00:00")),
    ],
)
def test_a_period_is_told_only_where_times_can_be_sorted(
    dates: list[str], period: tuple[str, str] | None, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("a,b,winner,date\n" + "".join(f"x,y,a,{date}\n" for date in dates))
    assert nb.read_matches(tmp_path / "log.csv").origin.period == period


def test_tasks_may_be_called_like_the_sides_of_a_match(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("agent,white,black\nx,1,2\ny,3,4\n")
    assert nb.read_scores(tmp_path / "s.csv").tasks == ("white", "black")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_rows_are_chosen_by_value_whatever_the_library(make: Any) -> None:
    frame = make({"a": ["x", "x"], "b": ["y", "y"], "winner": ["a", "b"], "ok": [True, False], "t": [1.0, 2.0]})
    assert nb.read_matches(frame, where={"ok": True}).n_games == 1
    assert nb.read_matches(frame, where={"t": 1}).n_games == 1


def test_json_lines_may_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"\xef\xbb\xbf" + b'{"a": "x", "b": "y", "winner": "a"}\n' * 2)
    assert nb.read_matches(tmp_path / "log.jsonl").n_games == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nb.read_matches(pd.DataFrame([["x", "y", "a"]])), "a column called 0: names of columns must be text"),
        (lambda: nb.read_matches(pd.DataFrame([[1, 2]], columns=["a", "a"])), "the frame has the column 'a' more than once: column names must be unique"),
        (lambda: nb.read_matches(pl.DataFrame({"a": ["x"], "b": ["y"], "winner": ["a"], "weight": ["two"]})), "a weight that is missing, negative or not finite"),
        (lambda: nb.read_matches("~nobody-of-this-name/x"), "is not a file name|there is no file"),
        (lambda: nb.read_matches(""), "the name of the file is empty"),
        (lambda: nb.Matches.from_counts([[0, 1], [1, 0]], ["a", "b"]).merge({"z": "ab"}), "must be a list of agents"),
    ],
)  # fmt: skip
def test_what_once_was_a_traceback_is_a_sentence(call: Any, message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        call()


@pytest.mark.parametrize("opened", [pl.scan_parquet, pl.scan_csv, pl.scan_ndjson])
def test_a_scan_of_a_file_that_is_not_there_is_one_sentence(opened: Any, tmp_path: Path) -> None:
    with pytest.raises(nb.InputError, match=r"the frame cannot be read: No such file or directory .*none"):
        nb.read_matches(opened(tmp_path / "none"))


def test_a_relation_whose_connection_is_closed_is_one_sentence() -> None:
    connection = duckdb.connect()
    games = connection.sql("select 'x' as a, 'y' as b, 'x' as winner")
    connection.close()
    for read in (nb.read_matches, nb.read_scores, nb.read):
        with pytest.raises(nb.InputError, match=r"the frame cannot be read: Connection Error: .*closed"):
            read(games)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 3, 4]], columns=["a", "a", "b", "b"]),
        pa.table([[1], [2], [3], [4]], names=["a", "a", "b", "b"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_columns_of_the_same_name_are_named(frame: Any) -> None:
    with pytest.raises(nb.InputError, match="the frame has the column 'a' and 'b' more than once"):
        nb.read_scores(frame)


def test_what_is_not_the_fault_of_a_frame_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": ["x"], "b": ["y"], "winner": ["a"]})

    def failing(error: BaseException) -> Any:
        def fail(*_: Any, **__: Any) -> Any:
            raise error

        return fail

    for error in (KeyboardInterrupt(), MemoryError(), nb.ConvergenceError("ours")):
        monkeypatch.setattr(pl.LazyFrame, "collect_schema", failing(error))
        with pytest.raises(type(error)):
            nb.read_matches(frame.lazy())
    with pytest.raises(AttributeError, match="to_native"), name_errors("the frame cannot be read"):
        run_streaming(cast(Any, None))  # a bug of ours


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (AssertionError(), "AssertionError; is its session or connection still open?"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError("a partition is broken\nand more"), "a partition is broken"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_what_an_engine_raises_becomes_its_reason(error: Exception, said: str) -> None:
    assert describe_error(error) == said


STOPPED = """
import nashboard as nb, servers
session = servers.spark_session()
games = session.createDataFrame([("x", "y", "x")], "a string, b string, winner string")
scores = session.createDataFrame([("x", "y", 1.0)], "agent string, task string, score double")
session.stop()
for read, frame in ((nb.read_matches, games), (nb.read_scores, scores)):
    try:
        read(frame)
    except nb.InputError as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(servers.no_spark()), reason=servers.no_spark() or "Spark is there")
def test_a_frame_of_a_stopped_spark_session_is_one_sentence() -> None:
    paths = os.pathsep.join([str(Path(servers.__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}
    )
    said = done.stdout.splitlines()
    assert len(said) == 2, done.stderr
    assert all(line.endswith("; is its session or connection still open?") for line in said)


def test_carriage_returns_alone_are_no_line_ends(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(LOG.replace("\n", "\r").encode())
    with pytest.raises(nb.InputError, match="bare carriage return"):
        nb.read_matches(tmp_path / "log.csv", format="matches")


def test_a_link_to_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(nb.InputError, match="is a link to a file that is not there"):
        nb.read_matches(tmp_path / "link")


def test_one_of_anything_is_told_as_one(tmp_path: Path) -> None:
    log = pl.DataFrame({"a": ["x", "x"], "b": ["y", "y"], "winner": ["a", "b"], "language": ["en", None]})
    matches = nb.read_matches(log, where={"language": "en"})
    assert str(matches.origin.left_out[0]) == "1 row left out: language is not en"
    assert "1 row" in [fact.value for fact in inspected(matches).facts]
    assert repr(nb.read_segments(log, "language")) == "Segments(1 by 'language', 1 row without a value)"
    with pytest.raises(nb.InputError, match="none of 1 row is left"):
        nb.read_matches(log.head(1), where={"language": "de"})
    with pytest.raises(nb.InputError, match=r"column 'agent': 1 row has no agent name \(data row 3\)"):
        nb.read_scores(pl.DataFrame({"agent": ["x", "y", None], "task": ["t"] * 3, "score": [1, 2, 3]}))
    with pytest.raises(nb.InputError, match=r"the agent name 'x\\x00' contains the character NUL"):
        nb.Matches.from_counts([[0, 1], [1, 0]], agents=["x\0", "y"])
