"""Folders, and files that are something else than a table: what is read, and what is said instead."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import nashboard as nb
from nashboard.data.sources.paths import find_below

LOG = "model_a,model_b,winner\nx,y,model_a\n"
LINE = '{"model_a": "x", "model_b": "y", "winner": "model_a"}\n'


def result(model: str, accuracy: float) -> str:
    return json.dumps({"model_name": model, "results": {"t": {"acc,none": accuracy}}})


@pytest.mark.parametrize(
    ("ending", "text"), [("csv", LOG), ("tsv", LOG.replace(",", "\t")), ("jsonl", LINE), ("ndjson", LINE)]
)
def test_a_folder_of_tables_is_read_as_its_glob(ending: str, text: str, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "older").mkdir(parents=True)
    for name in ("1", "2", "older/3", ".hidden"):
        (folder / f"{name}.{ending}").write_text(text)
    (folder / "README.md").write_text("two logs")
    (folder / f"4.{ending}.gz").write_bytes(gzip.compress(text.encode()))
    assert nb.read_matches(folder).n_games == 3
    assert nb.read_matches(folder).origin.source == f"{folder}/1.{ending} and 2 more"
    assert nb.read_matches(f"{folder}/*.{ending}").n_games >= 2


def test_a_folder_of_several_kinds_of_tables_is_told_apart_by_a_glob(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(LOG)
    (tmp_path / "2.jsonl").write_text(LINE)
    with pytest.raises(nb.InputError, match=r"files of several kinds, '\.csv' and '\.jsonl': name those .*/\*\.csv'$"):
        nb.read_matches(tmp_path)


def test_a_folder_of_results_is_still_one_beside_its_samples(tmp_path: Path) -> None:
    for model, accuracy in (("x", 0.5), ("y", 0.75)):
        (tmp_path / f"results_{model}.json").write_text(result(model, accuracy))
        (tmp_path / f"samples_{model}.jsonl").write_text(LINE)
    assert nb.read_scores(tmp_path).agents == ("x", "y")


def test_a_folder_with_nothing_to_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(nb.InputError, match=r"is a folder without tables, .*: name the files, such as '.*\*\.json"):
        nb.read(tmp_path)


@pytest.mark.parametrize("hidden", [".venv/lib", ".git", "env"])
def test_hidden_folders_and_environments_are_not_entered(hidden: str, tmp_path: Path) -> None:
    (tmp_path / hidden).mkdir(parents=True)
    (tmp_path / "env").mkdir(exist_ok=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("home = nowhere\n")
    (tmp_path / "runs").mkdir()
    pl.DataFrame({"a": ["x"]}).write_parquet(tmp_path / hidden / "other.parquet")
    (tmp_path / hidden / "results_z.json").write_text(result("z", 0.1))
    for model, accuracy in (("x", 0.5), ("y", 0.75)):
        (tmp_path / "runs" / f"results_{model}.json").write_text(result(model, accuracy))
    assert nb.read_scores(tmp_path).agents == ("x", "y")
    assert [path.name for path in find_below(tmp_path, "*.json")] == ["results_x.json", "results_y.json"]
    assert [path.name for path in find_below(tmp_path / hidden, "*.json")] == [
        "results_z.json"
    ]  # if it is named itself


def test_a_header_with_the_mark_of_a_database_is_a_header(tmp_path: Path) -> None:
    (tmp_path / "ponds.csv").write_text("agentid,DUCK,swan\nx,1,2\ny,2,1\n")
    assert nb.read_scores(tmp_path / "ponds.csv", agent="agentid").tasks == ("DUCK", "swan")


def test_the_state_of_a_league_is_told_who_reads_it(tmp_path: Path) -> None:
    league = nb.OnlineElo()
    league.update("x", "y", 1.0)
    league.save(tmp_path / "league.npz")
    with pytest.raises(nb.InputError, match=r"is the state of an online league, not a table: nashboard predict .* A B"):
        nb.read(tmp_path / "league.npz")
