"""``nashboard nash`` on both kinds of data."""

import json
from pathlib import Path

import pytest

from commands import Run


def test_matches_show_weights_averages_margins_and_certificates(command: Run) -> None:
    out = command("nash", "dataset:rock-paper-scissors").stdout
    assert "0.3333" in out
    assert "margin" in out
    assert "certificates: exploitability" in out


def test_scores_show_agents_or_tasks(command: Run) -> None:
    agents = command("nash", "dataset:atari", "--top", "5").stdout
    assert "rainbow" in agents
    assert "15 more: --top 20 shows all" in agents
    tasks = command("nash", "dataset:atari", "--tasks").stdout
    assert "double_dunk" in tasks
    assert "difficulty" in tasks


@pytest.mark.parametrize(
    ("source", "schema", "weights"), [("roshambo", "nash", ""), ("atari", "nash-scores", "agent_")]
)
def test_json_holds_every_agent_and_the_certificates(source: str, schema: str, weights: str, command: Run) -> None:
    found = json.loads(command("nash", f"dataset:{source}", "--format", "json").stdout)
    assert found["schema"] == f"nashboard/{schema}/1"
    assert len(found["agents"]) == len(found[f"{weights}weights"])
    assert sum(found[f"{weights}weights"]) == pytest.approx(1)
    assert found["exploitability"] <= 1e-9 * found["scale"]
    assert found["residual"] < 1e-6
    assert isinstance(found["unique"], bool)


def test_plain_maximum_entropy_can_be_asked_for(command: Run) -> None:
    assert "unique" in command("nash", "dataset:suite-4", "--selection", "maxent").stdout


def test_copies_are_named_in_the_messages(tmp_path: Path, command: Run) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("agent,go,chess\nx,1,0\ny,0,1\nz,0,1\n")
    assert "copies 1: y, z" in command("nash", str(path)).stderr
    assert command("nash", str(path), "--quiet").stderr == ""


def test_pairs_that_never_met_are_filled_from_the_ratings_and_that_is_said(tmp_path: Path, command: Run) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\nx,y,a\ny,z,a\nz,w,a\n")
    assert "Elo predicts 3 that never met" in command("nash", str(path)).stdout


def test_groups_that_never_met_and_rare_agents_can_be_left_out(tmp_path: Path, command: Run) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\n" + "x,y,a\nx,y,b\ny,z,a\ny,z,b\n" * 3 + "p,q,a\nx,w,a\n")
    assert "groups that never met" in command("nash", str(path), code=2).stderr
    done = command("nash", str(path), "--components", "largest")
    assert "2 agents of 1 other group that never met the largest left out" in done.stderr
    assert "w" in done.stdout.split()
    done = command("nash", str(path), "--min-games", "2")
    assert "3 agents with fewer than 2 games left out" in done.stderr
    assert "w" not in done.stdout.split()
    assert "fewer than two agents have 99 games" in command("nash", str(path), "--min-games", "99", code=2).stderr


def test_wrong_options_are_explained(command: Run) -> None:
    assert "--tasks has no effect" in command("nash", "dataset:roshambo", "--tasks", code=2).stderr
    assert "'clone-invariant', 'maxent'" in command("nash", "dataset:roshambo", "--selection", "random", code=2).stderr


def test_a_tolerance_can_be_allowed(command: Run) -> None:
    found = json.loads(command("nash", "dataset:roshambo", "--tolerance", "0.05", "--format", "json").stdout)
    assert found["tolerance"] == 0.05
    assert found["exploitability"] == pytest.approx(0.05)
    assert "the most even mixture" in command("nash", "dataset:atari", "--tolerance", "0.05").stdout
