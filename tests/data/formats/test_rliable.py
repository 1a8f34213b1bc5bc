"""rliable score dictionaries: runs by tasks for each agent, as npz or json, never as pickle."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from data.formats.reading import FILES, everything, low_is_good, table

JSON = FILES / "rliable.json"


def test_the_mean_of_the_runs_is_the_score() -> None:
    scores = nb.read_scores(JSON)
    assert table(scores) == {
        "DQN": {"task 1": 3, "task 2": 12, "task 3": pytest.approx(0.6)},
        "Rainbow": {"task 1": 3, "task 2": 21, "task 3": pytest.approx(0.85)},
        "random": {"task 1": 0, "task 2": 1, "task 3": 0.1},
    }
    assert scores.origin.rows == 6
    assert scores.origin.notes == ("tasks have no names in this format: they are numbered",)


def test_the_spread_and_the_number_of_the_runs_are_kept() -> None:
    scores = nb.read_scores(JSON)
    assert scores.runs.tolist() == [[3, 3, 2], [2, 2, 2], [1, 1, 1]]
    assert table(scores, "stderr") == {
        "DQN": {
            "task 1": pytest.approx(2 / 3**0.5),
            "task 2": pytest.approx(2 / 3**0.5),
            "task 3": pytest.approx(0.1),
        },
        "Rainbow": {"task 1": pytest.approx(1), "task 2": pytest.approx(1), "task 3": pytest.approx(0.05)},
        "random": {},
    }


def test_arrays_of_any_number_type_order_and_number_of_runs_are_read(rliable_npz: Path) -> None:
    scores = nb.read_scores(rliable_npz)
    assert table(scores) == {"DQN (Nature)": {"task 1": 3, "task 2": 11}, "Rainbow": {"task 1": 3, "task 2": 21}}
    assert scores.runs.tolist() == [[3, 2], [2, 2]]
    assert table(scores, "stderr")["Rainbow"] == {"task 1": pytest.approx(1), "task 2": pytest.approx(1)}


def test_compressed_arrays_and_json_on_one_line_read_the_same(tmp_path: Path) -> None:
    content = json.loads(JSON.read_text())
    arrays: dict[str, Any] = {agent: np.array(rows, dtype=np.float64) for agent, rows in content.items()}
    np.savez_compressed(tmp_path / "scores.npz", **arrays)
    (tmp_path / "line.json").write_text(json.dumps(content))
    (tmp_path / "lines.json").write_text(json.dumps(content) + "\n")
    for name in ("scores.npz", "line.json", "lines.json"):
        assert everything(nb.read_scores(tmp_path / name)) == everything(nb.read_scores(JSON)), name


@pytest.mark.parametrize(
    ("asked", "low"),
    [(True, {"task 1", "task 2", "task 3"}), (["task 2"], {"task 2"}), ("task 3", {"task 3"}), (None, set())],
)
def test_directions_can_be_given_by_the_numbered_names(asked: Any, low: set[str]) -> None:
    assert low_is_good(nb.read_scores(JSON, lower_is_better=asked)) == low


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": [[1, 2]], "y": [[1, 2, 3]]}, "every agent needs the same tasks"),
        ({"x": [[1, 2], [3]], "y": [[1, 2]]}, "agent 'x': the scores"),
        ({"x": [[[1, 2]]], "y": [[[1, 2]]]}, "agent 'x': the scores"),
        ({"x": [["a", "b"]], "y": [[1, 2]]}, "agent 'x': the scores"),
        ({"x": [[1, 2]]}, r"has scores of one agent only \('x'\)"),
    ],
)
def test_a_broken_dictionary_is_refused(content: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(json.dumps(content))
    with pytest.raises(nb.InputError, match=message):
        nb.read_scores(tmp_path / "scores.json")


def test_a_pickled_dictionary_is_never_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "ale.npy", np.array({"x": np.ones((2, 3))}, dtype=object), allow_pickle=True)
    with pytest.raises(
        nb.InputError, match=r"ale.npy' is an npy file, .*Payoffs.from_array.* never opened: save it with np"
    ):
        nb.read_scores(tmp_path / "ale.npy")


def test_pickled_arrays_in_an_npz_file_are_never_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "scores.npz", x=np.array([[1, None]], dtype=object))
    with pytest.raises(nb.InputError, match=r"array 'x.npy' cannot be read: Object arrays cannot be loaded"):
        nb.read_scores(tmp_path / "scores.npz")


def test_another_zip_file_is_refused_by_what_it_holds(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "table.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(nb.InputError, match=r"is a zip file but no npz file: it contains 'readme.txt'"):
        nb.read_scores(tmp_path / "table.zip")


def test_an_array_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    whole = io.BytesIO()
    np.save(whole, np.ones((2, 3)))
    with zipfile.ZipFile(tmp_path / "scores.npz", "w") as archive:
        archive.writestr("x.npy", whole.getvalue()[: -8 * 5])
    with pytest.raises(nb.InputError, match=r"array 'x.npy' cannot be read: EOF"):
        nb.read_scores(tmp_path / "scores.npz")
