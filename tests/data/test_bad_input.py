"""Every mistake a user can make costs one reading of one sentence, and exit code 2."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard

import nashboard as nb
from nashboard.cli.app import main

LOG = "model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"


def parquet(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def lying_npz() -> bytes:
    """An array that holds one number and claims a billion billion."""
    small = npz(a=np.zeros((1, 9)))
    return small.replace(b"'shape': (1, 9)", b"'shape': (1000000000, 1000000000)"[:15]).replace(
        b"(1, 9), }" + b" " * 20, b"(1000000000, 1000000000), }" + b" " * 2
    )


SOUND = parquet(model_a=["x"] * 50, model_b=["y"] * 50, winner=["tie"] * 50)

# file name, content, reader and its options, what the message says
CASES: dict[str, tuple[str, str | bytes, str, dict[str, Any], str]] = {
    "an empty file": ("log.csv", "", "matches", {}, "'log.csv' is empty"),
    "white space only": ("log.csv", "\n \n", "matches", {}, "'log.csv' is empty"),
    "an empty gzip file": ("log.csv.gz", gzip.compress(b""), "matches", {}, "'log.csv.gz' is empty"),
    "a header only": ("log.csv", "model_a,model_b,winner\n", "matches", {}, "has a header but no rows"),
    "a parquet file without rows": ("log.parquet", parquet(model_a=[], winner=[]), "matches", {}, "columns but no rows"),
    "the wrong separator": (
        "log.csv",
        LOG.replace(",", ";"),
        "matches",
        {"separator": ","},
        "single column 'model_a;model_b;winner': cells must be separated by a comma, a tab, a semicolon, a bar",
    ),
    "a file with no separator at all": ("log.csv", "hello\nworld\n", "matches", {}, "has a single column 'hello'"),
    "bytes that are not UTF-8": (
        "log.csv",
        b"model_a,model_b,winner\nx,y,tie\n\x81,y,tie\n",
        "matches",
        {},
        r"'log.csv' is not UTF-8 \(line 3\): save it as UTF-8",
    ),
    "UTF-16": ("log.csv", LOG.encode("utf-16"), "matches", {}, "is UTF-16: save it as UTF-8"),
    "a program": ("log.csv", b"\x7fELF\x00\x00\x01" * 10, "matches", {}, "is not a table"),
    "truncated parquet": ("log.parquet", SOUND[:-20], "matches", {}, "'log.parquet' is cut short"),
    "truncated gzip": (
        "log.csv.gz",
        gzip.compress(LOG.encode() * 99)[:-12],
        "matches",
        {},
        "'log.csv.gz' is cut short: the compressed data ends too early",
    ),
    "damaged gzip": ("log.csv.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 40, "matches", {}, "'log.csv.gz' is damaged"),
    "truncated zstandard": (
        "log.csv.zst",
        zstandard.compress(LOG.encode() * 99)[:-6],
        "matches",
        {},
        "'log.csv.zst' is cut short",
    ),
    "damaged zstandard": ("log.csv.zst", b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "matches", {}, "'log.csv.zst' is damaged"),
    "a missing column": (
        "log.csv",
        LOG.replace("model_b", "modelb"),
        "matches",
        {},
        "no columns for the two agents of a match; its columns are 'model_a', 'modelb' and 'winner'",
    ),
    "a column the user misspelt": (
        "log.csv",
        LOG,
        "matches",
        {"outcome": "winer"},
        r"no column 'winer' \(did you mean 'winner'\?\): its columns are 'model_a', 'model_b' and 'winner'",
    ),
    "no outcome column": ("log.csv", "a,b,c\nx,y,1\n", "matches", {}, "no column for the outcome"),
    "two outcome columns": (
        "log.csv",
        "a,b,outcome,result\nx,y,a,1\n",
        "matches",
        {},
        "several columns that may be the outcome: 'outcome' and 'result': pass outcome= to choose",
    ),
    "two pairs of agent columns": (
        "log.csv",
        "left,right,model_a,model_b,winner\nx,y,x,y,tie\n",
        "matches",
        {},
        "several pairs of columns that may be the agents: 'model_a' and 'model_b' or 'left' and 'right': pass a= and b=",
    ),
    "an unknown outcome": (
        "log.csv",
        LOG + "x,z,modelb\nx,z,modelb\n",
        "matches",
        {},
        r"column 'winner' has an unknown outcome: 'modelb' in 2 rows \(first in data row 3, 'x' against 'z'\) \(did you mean 'model_b'\?\): "
        r"pass a rule such as outcomes={'modelb': 0}, or leave such rows out with bad_rows='skip'$",
    ),
    "a missing outcome": ("log.csv", LOG + "x,z,\n", "matches", {}, r"unknown outcome: nothing in 1 row \(data row 3, 'x' against 'z'\)"),
    "an unknown outcome among rows that are left out and rows that are kept": (
        "log.csv",
        "a,b,winner,language\nx,y,hm,de\nx,y,a,en\ny,z,hm,en\n",
        "matches",
        {"where": {"language": "en"}},
        r"'hm' in 1 row \(data row 3, 'y' against 'z'\)",
    ),
    "an outcome that is both a side and a name": (
        "log.csv",
        "x,y,winner\nb,a,a\na,b,b\n",
        "matches",
        {"a": "x", "b": "y"},
        "is ambiguous: 'a' may be a side or the name of an agent",
    ),
    "an empty agent name": ("log.csv", LOG + ",z,tie\n", "matches", {}, r"column 'model_a': 1 row has no agent name \(data row 3, '' against 'z'\)"),
    "a null agent name": (
        "log.parquet",
        parquet(model_a=["x", None], model_b=["y", "z"], winner=["tie", "tie"]),
        "matches",
        {},
        "column 'model_a': 1 row has no agent name",
    ),
    "a match of an agent with itself": (
        "log.csv",
        LOG + "z,z,tie\n",
        "matches",
        {},
        r"'z' met itself in 1 row \(data row 3, 'z' against 'z'\): self_matches='drop' leaves such rows out",
    ),
    "a negative weight": (
        "log.csv",
        "a,b,winner,weight\nx,y,a,1\nx,y,b,-2\n",
        "matches",
        {},
        r"column 'weight': 1 row has a weight that is missing, negative or not finite \(data row 2, 'x' against 'y'\)",
    ),
    "an infinite weight": ("log.csv", "a,b,winner,weight\nx,y,a,inf\n", "matches", {}, "missing, negative or not finite"),
    "a weight that is NaN": ("log.csv", "a,b,winner,weight\nx,y,a,nan\n", "matches", {}, "missing, negative or not finite"),
    "a weight that is text": ("log.csv", "a,b,winner,weight\nx,y,a,two\n", "matches", {}, "missing, negative or not finite"),
    "an outcome above 1": (
        "log.csv",
        "a,b,outcome\nx,y,1\nx,y,2\n",
        "matches",
        {},
        r"column 'outcome' has a number outside \[0, 1\]: '2' in 1 row",
    ),
    "an outcome below 0 in parquet": (
        "log.parquet",
        parquet(a=["x", "x"], b=["y", "y"], outcome=[1, -1]),
        "matches",
        {},
        r"column 'outcome' has a number outside \[0, 1\]: '-1' in 1 row",
    ),
    "a duplicated task": ("s.csv", "agent,go,go\nx,1,2\ny,3,4\n", "scores", {}, "has the column 'go' more than once"),
    "a duplicated agent": (
        "s.csv",
        "agent,go\nx,1\ny,3\nx,2\n",
        "scores",
        {},
        "agent 'x' is in data rows 1 and 3; names must be unique: pass repeats='runs'",
    ),
    "a row that is too short": (
        "s.csv",
        "agent,go,chess\nx,1,2\ny,3\n",
        "scores",
        {},
        r"data row 2 \(line 3, 'y'\) has 2 cells, the header has 3",
    ),
    "a row that is too long": ("log.csv", LOG + "x,z,tie,extra\n", "matches", {}, r"data row 3 \(line 4, 'x'\) has 4 cells"),
    "a quote that never closes": ("log.csv", LOG + 'x,"z,tie\n', "matches", {}, r"'log.csv'.*(csv|cells)"),
    "text in a score column": (
        "s.csv",
        "agent,go,chess\nx,1,2\ny,good,4\n",
        "scores",
        {},
        r"data row 2 \('y'\), column 'go' is 'good', not a number",
    ),
    "text in the score column of a long table": (
        "s.csv",
        "agent,task,score\nx,go,1\ny,go,good\n",
        "scores",
        {},
        r"data row 2 \('y' on 'go'\), column 'score' is 'good', not a number",
    ),
    "an infinite score": ("s.csv", "agent,go\nx,1\ny,inf\n", "scores", {}, "row 'y', column 'go' is inf: a score must be finite"),
    "an agent without any score": ("s.csv", "agent,go,chess\nx,1,2\ny,,-\n", "scores", {}, "agent 'y' has no score at all"),
    "an empty agent name in scores": ("s.csv", "agent,go\nx,1\n,2\n", "scores", {}, "data row 2, column 'agent' is empty"),
    "scores of one agent": ("s.csv", "agent,go,chess\nx,1,2\n", "scores", {}, "one agent only .'x'.: a comparison needs"),
    "scores without agents": ("s.csv", "go,chess\n1,2\n3,4\n", "scores", {}, "closest is a row per agent, but no column has names"),
    "a matrix that is not square": ("m.csv", "agent,x,y,z\nx,0,1,2\ny,-1,0,3\n", "payoffs", {}, "is not square: 2 rows and 3 columns"),
    "a matrix that is not antisymmetric": (
        "m.csv",
        "agent,x,y\nx,0,3\ny,-2,0\n",
        "payoffs",
        {},
        "not antisymmetric: 'x' against 'y' is 3, the other way -2, not -3",
    ),
    "a matrix whose names differ": ("m.csv", "agent,x,y,z\nx,0,1,2\ny,-1,0,3\nw,-2,-3,0\n", "payoffs", {}, "'w' has a row but no column"),
    "a matrix of percentages": ("m.csv", "agent,x,y\nx,50,55.3\ny,44.7,50\n", "matches", {}, "contains percentages, not win rates or counts: divide"),
    "a matrix with a hole": ("m.csv", "agent,x,y\nx,0,1\ny,,0\n", "payoffs", {}, "row 'y', column 'x' is empty"),
    "json that is cut short": ("log.json", '[{"model_a": "x", "model_b"', "matches", {}, "not valid json: it is cut short"),
    "a json list of numbers": ("log.json", "[1, 2]", "matches", {}, "item 1 of the list is 1, not an object"),
    "a broken json line": (
        "log.jsonl",
        '{"a": "x", "b": "y", "winner": "a"}\n{"a": "x"\n',
        "matches",
        {},
        "log.jsonl, line 2' is not valid json",
    ),
    "a json line that is a list, after blank ones": (
        "log.jsonl",
        '{"a": "x", "b": "y", "winner": "a"}\n\n\n[1]\n',
        "matches",
        {},
        "'log.jsonl': line 4 is not a json object",
    ),
    "json nested very deep": ("log.json", "[" * 200_000, "matches", {}, "nests json far deeper"),
    "an npz header that lies": ("s.npz", lying_npz(), "scores", {}, "claims .* bytes but holds|cannot be read"),
    "an npz array of objects": ("s.npz", npz(a=np.array([[{}]], dtype=object)), "scores", {}, "Object arrays cannot"),
    "a format that does not exist": ("log.csv", LOG, "matches", {"format": "chatbot"}, r"no format 'chatbot' \(did you mean"),
    "scores where matches were asked for": ("s.csv", "agent,task,score\nx,go,1\ny,go,2\n", "matches", {}, "use read_scores"),
    "matches where scores were asked for": ("log.csv", LOG, "scores", {}, "use read_matches"),
    "files of different columns": ("log-[12].csv", "", "matches", {}, "has other columns than"),
}  # fmt: skip
READERS: dict[str, Callable[..., Any]] = {
    "matches": nb.read_matches,
    "scores": nb.read_scores,
    "payoffs": nb.read_payoffs,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("log-1.csv").write_text(LOG)
    Path("log-2.csv").write_text(LOG.replace("winner", "result"))
    return tmp_path


def write(name: str, content: str | bytes) -> None:
    if "[" not in name:
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_named_in_one_sentence(case: str, folder: Path) -> None:
    name, content, kind, options, message = CASES[case]
    write(name, content)
    with pytest.raises(nb.InputError, match=message) as caught:
        READERS[kind](name, **options)
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in folder.iterdir()) == sorted({"log-1.csv", "log-2.csv", name} - {"log-[12].csv"})


# inspect reads whatever a file holds, so it cannot be asked for the wrong thing
INSPECTED = [case for case in CASES if not CASES[case][3] and CASES[case][2] != "payoffs" and "asked for" not in case]


@pytest.mark.thin(4)
@pytest.mark.parametrize("case", INSPECTED)
def test_the_command_says_it_on_standard_error_and_exits_with_2(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, content, *_ = CASES[case]
    write(name, content)
    monkeypatch.setattr(sys, "argv", ["nashboard", "inspect", name])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert (stopped.value.code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("nashboard: ")


def test_a_file_that_is_not_there_is_named_with_its_nearest_neighbour(folder: Path) -> None:
    with pytest.raises(nb.InputError, match=r"there is no file 'log1.csv' \(did you mean 'log-1.csv'\?\)"):
        nb.read_matches("log1.csv")
    with pytest.raises(nb.InputError, match=r"no file matches '\*.parquet'"):
        nb.read_matches("*.parquet")


def test_a_thing_that_is_no_table_is_named_by_its_type() -> None:
    with pytest.raises(nb.InputError, match="cannot read a int"):
        nb.read_matches(7)


def test_a_constant_task_is_named_when_scaling_would_divide_by_zero(folder: Path) -> None:
    Path("s.csv").write_text("agent,go,chess\nx,1,5\ny,2,5\n")
    scores = nb.read_scores("s.csv")
    assert scores.constant_tasks == ("chess",)
    with pytest.raises(nb.InputError, match="cannot scale 'chess' by range: every agent has the same score"):
        scores.scale("range")


def test_components_are_named_by_their_largest_members(folder: Path) -> None:
    Path("log.csv").write_text("a,b,winner\nx,y,a\nx,z,a\nu,v,b\n")
    matches = nb.read_matches("log.csv")
    assert matches.components == (("x", "y", "z"), ("u", "v"))
    with pytest.raises(nb.InputError, match=r"2 groups that never met: 'x', 'y' and 'z' \(3 agents\); 'u' and 'v' \(2"):
        matches.require_connected()
