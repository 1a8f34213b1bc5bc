"""What people and machines get: text, json, files; a golden json and a snapshot of the text."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from nashboard.evaluation.document import KEYS, SCHEMA

FILES = Path(__file__).parents[1] / "files"


def close(ours: Any, golden: Any, where: str = "") -> None:
    """Compare json: text and whole numbers exactly, other numbers to rounding."""
    if isinstance(golden, dict):
        assert ours.keys() == golden.keys(), where
        for key in golden:
            close(ours[key], golden[key], f"{where}.{key}")
    elif isinstance(golden, list):
        assert len(ours) == len(golden), where
        for k, (a, b) in enumerate(zip(ours, golden, strict=True)):
            close(a, b, f"{where}[{k}]")
    elif isinstance(golden, float):
        assert ours == pytest.approx(golden, rel=1e-9, abs=1e-9), where
    else:
        assert ours == golden, where


@pytest.fixture(scope="module")
def atari() -> nb.Evaluation:
    return nb.evaluate(nb.load_dataset("atari"), noise="none")


@pytest.fixture(scope="module")
def arena() -> nb.Evaluation:
    W = np.array([[0, 14, 3, 9], [6, 0, 15, 8], [17, 5, 0, 10], [2, 4, 3, 0]])
    D = np.array([[0, 2, 1, 0], [2, 0, 0, 3], [1, 0, 0, 2], [0, 3, 2, 0]])
    return nb.evaluate(nb.Matches.from_counts(W, ["rock", "scissors", "paper", "spock"], draws=D), noise="none")


def test_the_json_of_atari_is_the_golden_one(atari: nb.Evaluation) -> None:
    golden = json.loads((FILES / "evaluation_atari.json").read_text(encoding="utf-8"))
    golden["version"] = nb.__version__
    close(json.loads(atari.to_json()), golden)


@pytest.mark.parametrize("name", ["atari", "arena"])
def test_the_text_is_as_it_was(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    found: nb.Evaluation = request.getfixturevalue(name)
    found.report(tmp_path / "board.txt")
    assert (tmp_path / "board.txt").read_text(encoding="utf-8") == (
        (FILES / f"evaluation_{name}.txt").read_text(encoding="utf-8")
    )


def test_json_is_read_back_whole(atari: nb.Evaluation, arena: nb.Evaluation) -> None:
    assert arena.data is not None
    modelled = nb.evaluate(arena.data, n_resamples=20)
    for found in (atari, arena, modelled, nb.evaluate(nb.load_dataset("roshambo"))):
        back = nb.Evaluation.from_json(found.to_json())
        assert back.to_json() == found.to_json()
        assert str(back) == str(found)
        assert found.to_dict().keys() == KEYS
        with pytest.raises(nb.InputError, match="read from json, which does not contain the data"):
            back.audit()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not json"),
        ("[]", "schema is 'list'"),
        ('{"schema": "nashboard/evaluation/99"}', "schema is 'nashboard/evaluation/99'"),
        (json.dumps({"schema": SCHEMA}), "incomplete"),
    ],
)
def test_other_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.Evaluation.from_json(text)


@pytest.mark.thin(2)
@pytest.mark.parametrize("ending", ["html", "json", "md", "csv", "tex", "txt"])
def test_a_report_is_written_in_the_format_of_its_ending(ending: str, tmp_path: Path, arena: nb.Evaluation) -> None:
    path = tmp_path / f"board.{ending}"
    arena.report(path)
    text = path.read_text(encoding="utf-8")
    assert "scissors" in text
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_unknown_ending_is_refused(tmp_path: Path, atari: nb.Evaluation) -> None:
    with pytest.raises(nb.InputError, match=r"must end in '\.html'"):
        atari.report(tmp_path / "board.docx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["html", "json"])
def test_a_folder_that_is_not_there_is_named_before_the_work(ending: str, tmp_path: Path, arena: nb.Evaluation) -> None:
    steps: list[str] = []
    with pytest.raises(nb.InputError, match=r"there is no folder '.*nowhere', create it first"):
        arena.report(tmp_path / "nowhere" / f"board.{ending}", say=steps.append)
    assert steps == []


def test_repr_is_one_line_and_matches_have_no_tasks(arena: nb.Evaluation) -> None:
    assert "\n" not in repr(arena)
    assert "<table>" in arena._repr_html_()
    with pytest.raises(nb.InputError, match="matches have no tasks"):
        arena.tasks()


def test_a_damaged_json_is_refused_in_one_sentence() -> None:
    result = nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=5)
    for field in ("board", "posterior", "movers", "verdict"):
        with pytest.raises(nb.InputError, match="damaged"):
            nb.Evaluation.from_json(json.dumps(result.to_dict() | {field: None}))
    short = result.to_dict()
    short["board"] = short["board"] | {"gaps": short["board"]["gaps"][:-1]}
    with pytest.raises(nb.InputError, match="damaged"):
        nb.Evaluation.from_json(json.dumps(short))


def test_the_hash_of_payoffs_depends_on_their_errors() -> None:
    A = np.array([[0.0, 1.0, -2.0], [-1.0, 0.0, 0.5], [2.0, -0.5, 0.0]])
    errors = [None, 0.1 * (1 - np.eye(3)), 0.2 * (1 - np.eye(3))]
    hashes = {nb.evaluate(nb.Payoffs(agents=("a", "b", "c"), A=A, stderr=one)).input["hash"] for one in errors}
    assert len(hashes) == len(errors)


def test_one_game_is_not_called_games() -> None:
    assert nb.evaluate(nb.Matches.from_counts([[0, 1], [0, 0]])).verdict[-1] == "2 agents, 1 game, every pair met."
