"""A table with holes, and ``--missing``, in every command that takes scores."""

import csv
from pathlib import Path

import pytest

from commands import Run

FAST = {"evaluate": ["--resamples", "3"], "report": ["-o", "-", "--resamples", "3"], "stress": ["--copies", "1"]}


@pytest.fixture
def holes(tmp_path: Path) -> str:
    path = tmp_path / "holes.csv"
    path.write_text("model,maths,reading,trivia\nann,0.9,0.4,0.6\nbob,0.5,0.8,\ncid,0.7,0.6,0.3\ndot,0.2,0.9,0.5\n")
    return str(path)


@pytest.mark.parametrize("name", ["nash", "latent", "stress"])
def test_commands_without_a_model_refuse_missing_scores_in_the_same_words(name: str, command: Run, holes: str) -> None:
    said = command(name, holes, *FAST.get(name, []), code=2).stderr
    assert said == (
        "nashboard: 1 of 12 scores are missing (agents with most: 'bob' 1; tasks with most: 'trivia' 1): choose "
        "one of --missing drop-agents, drop-tasks, mean, median, worst\n"
    )


def test_evaluate_models_missing_scores_and_reports_them(command: Run, holes: str) -> None:
    assert "1 of 12 scores missing" in command("evaluate", holes, "--resamples", "5").stdout


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["evaluate", "nash", "latent", "stress", "audit"])
def test_every_command_says_what_it_did_about_holes(name: str, command: Run, holes: str) -> None:
    asked = [name, holes, *FAST.get(name, []), "--missing"]
    assert "1 missing score filled with" in command(*asked, "worst").stderr
    assert "1 agent with missing scores dropped: 'bob'" in command(*asked, "drop-agents").stderr
    assert "'wurst' is not one of 'drop-agents', " in command(*asked, "wurst", code=2).stderr


def test_what_is_asked_for_is_done(command: Run, holes: str) -> None:
    for way, agents, tasks in (("drop-agents", 3, 3), ("drop-tasks", 4, 2), ("median", 4, 3)):
        rows = list(csv.DictReader(command("nash", holes, "--missing", way, "--format", "csv").stdout.splitlines()))
        assert len(rows) == agents
        shown = command("nash", holes, "--missing", way, "--tasks", "--format", "csv").stdout
        assert len(list(csv.DictReader(shown.splitlines()))) == tasks


def test_an_audit_reports_missing_scores_and_models_them(command: Run, holes: str) -> None:
    assert "11 of 12 scores" in command("audit", holes).stdout
    assert "filled" in command("audit", holes, "--missing", "worst").stdout


@pytest.mark.parametrize("name", ["evaluate", "report", "nash", "latent", "stress", "audit"])
def test_missing_scores_of_matches_are_an_error(name: str, command: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner,language\nann,bob,a,en\nbob,ann,b,en\nann,cid,a,de\n")
    sentence = "--missing has no effect: it is for scores, and these are matches"
    done = command(name, str(path), "--missing", "worst", code=2)
    assert sentence in done.stderr
    if name == "evaluate":
        done = command(name, str(path), "--missing", "worst", "--segment", "language", code=2)
        assert done.stderr.startswith(f"nashboard: {sentence}")
