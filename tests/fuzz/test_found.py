"""What fuzzing found, each as small as it can be: once a crash or a hang, now a sentence."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from fuzz.surviving import survive
from nashboard._text import nearest
from nashboard.errors import LONGEST
from nashboard.online.follow import last_line_end


def damaged_npz() -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, agent=np.random.default_rng(0).random((4, 30)))
    content = bytearray(stream.getvalue())
    content[60:200] = b"\xff" * 140
    return bytes(content)


def npz_of_the_future() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, agent=np.random.default_rng(0).random((4, 30)))
    content = bytearray(stream.getvalue())
    content[content.rindex(b"PK\x01\x02") + 6] = 116  # the version of zip that it needs
    return bytes(content)


def torn_parquet() -> bytes:
    stream = io.BytesIO()
    pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["tie"]}).write_parquet(stream)
    return stream.getvalue()[:-5]


def parquet_of_bad_pages(numbers: bytes) -> Callable[[], bytes]:
    """A log whose first page claims so many values; Polars ends the process on it."""

    def content() -> bytes:
        stream = io.BytesIO()
        pl.DataFrame({"model_a": ["x", "z"], "model_b": ["y", "y"], "winner": ["tie", "tie"]}).write_parquet(stream)
        page = re.compile(rb"(\x15\x04\x15.\x15.\x4c\x15)\x04", re.DOTALL)
        assert page.search(stream.getvalue())
        return page.sub(rb"\1" + numbers, stream.getvalue(), count=1)

    return content


def results(**more: object) -> bytes:
    whole = {"results": {"go": {"acc,none": 0.5}}, "model_name": "x", "config": {"model_args": [1]}}
    return json.dumps(whole | more).encode()


LEAGUE = b'{"model_a": "x", "model_b": "y", "winner": "tie"}\n'

FOUND: dict[str, tuple[str, str, Callable[[], bytes]]] = {
    "a damaged npz": ("s.npz", "read", damaged_npz),
    "an npz of another zip": ("s.npz", "read", npz_of_the_future),
    "such an npz as a state": ("s.npz", "state", npz_of_the_future),
    "scores whose squares are not numbers": (
        "s.json",
        "read",
        lambda: b'{"x": [[1e200, 0], [0, 1]], "y": [[1, 2], [3, 4]]}',
    ),
    "a win rate that is infinite": ("m.csv", "read", lambda: b"a,x,y\nx,0.5,inf\ny,0.1,0.5\n"),
    "a torn parquet log of a league": ("log.parquet", "online", torn_parquet),
    "a page of -2 values": ("log.parquet", "read", parquet_of_bad_pages(b"\x03")),
    "a page of -2 values in a league's log": ("log.parquet", "online", parquet_of_bad_pages(b"\x03")),
    "a page of a billion values": ("log.parquet", "read", parquet_of_bad_pages(b"\x80\xa8\xd6\xb9\x07")),
    "a header with a bare carriage return": ("log.csv", "online", lambda: b"model_a,mod\rel_b,winner\nx,y,tie\n"),
    "directions that are a list": ("r.json", "read_scores", lambda: results(higher_is_better=["go"])),
    "directions that are text": ("r.json", "read_scores", lambda: results(higher_is_better={"go": "yes"})),
    "samples that are a number": ("r.json", "read_scores", lambda: results(**{"n-samples": 7})),
    "groups of objects": ("r.json", "read_scores", lambda: results(group_subtasks={"g": [{}], "h": 3})),
    "a number of 5,000 digits in a list": ("l.json", "read", lambda: b'[{"model_a": ' + b"9" * 5000 + b"}]"),
    "a number of 5,000 digits in a line": ("l.jsonl", "read", lambda: b'{"a": ' + b"9" * 5000 + b"}\n"),
    "such a line in a league's log": ("l.jsonl", "online", lambda: b'{"a": ' + b"9" * 5000 + b"}\n"),
    "half a character in the name of a column": ("l.json", "read", lambda: b'[{"model_a": "x", "no\\ud800te": 1}]'),
    "half a character in a line": ("l.jsonl", "read", lambda: b'{"model_a": "x", "no\\ud800te": 1}\n'),
    "half a character in the name of a task": ("r.json", "read", lambda: results(results={"g\ud800o": {"acc": 1}})),
    "half a character in a league's log": ("l.jsonl", "online", lambda: b'{"a\\ud800": "x", "b": "y", "winner": 1}\n'),
    "half a character in an agent of a league": ("l.jsonl", "online", lambda: LEAGUE.replace(b"x", b"\\udfff")),
    "counts that are too large to add": ("m.csv", "read", lambda: b"a,x,y\nx,0,%s\ny,%s,0\n" % ((b"9" * 308,) * 2)),
    "an outcome of two lines": ("l.csv", "read", lambda: b'model_a,model_b,winner\nx,y,"a\nb"\ny,z,tie\n'),
    "an outcome of 100,000 letters": ("l.csv", "read", lambda: b"model_a,model_b,winner\nx,y," + b"o" * 100_000),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_once_crashed_is_read_or_refused(case: str, tmp_path: Path) -> None:
    name, entry, content = FOUND[case]
    survive({name: content()}, entry, tmp_path)


def test_half_a_character_in_what_nobody_reads_harms_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"model_a": "x", "model_b": "y", "winner": "tie", "said": "\\ud83d"}\n')
    assert nb.read_matches(path).n_games == 1


def test_a_name_with_half_a_character_is_refused_however_it_comes() -> None:
    with pytest.raises(nb.InputError, match=r"the agent name 'x\\ud800' contains an unpaired surrogate"):
        nb.Payoffs.from_array([[0, 1], [-1, 0]], agents=["x\ud800", "y"])


def test_a_message_is_one_line_of_a_length_that_people_read() -> None:
    said = str(nb.InputError("one\ntwo " + "x" * 10_000))
    assert said.startswith("one two ")
    assert len(said) == LONGEST


def test_nothing_is_near_a_word_that_is_a_whole_file() -> None:
    assert nearest("winer", ["winner"]) == " (did you mean 'winner'?)"
    assert nearest("winner" * 1_000_000, ["winner"]) == ""


def test_a_stray_quote_in_a_long_log_costs_one_more_look_not_one_for_each_line() -> None:
    text = b"x,y,tie\n" * 3 + b'x,"y,tie\n' + b"x,y,tie\n" * 500_000  # it would take hours otherwise
    assert last_line_end(text, quoted=True) == 3 * len(b"x,y,tie\n")
    assert last_line_end(text, quoted=False) == len(text)


BLANK_LINES = ["# Board\n" + "\n" * 300, "#" + " \t" * 50_000 + "\n", " \n" * 50_000 + "---" + " " * 50_000 + "\n"]


@pytest.mark.parametrize("start", BLANK_LINES)
def test_blank_lines_above_a_board_are_looked_at_once(start: str, tmp_path: Path) -> None:
    board = "| Model | MMLU |\n|---|---|\n| Alpha | 70 |\n| Beta | 65 |\n"
    survive(
        {"readme.md": (start + board).encode()}, "read", tmp_path
    )  # a search that tries them in every way never ends
