"""``nashboard nash`` on both kinds of data."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nashboard as nb
from nashboard.cli.app import app


def run(*arguments: str) -> tuple[str, str]:
    """Run the command; return what it printed as data and as messages."""
    result = CliRunner().invoke(app, ["nash", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout, result.stderr


def test_matches_show_weights_averages_margins_and_certificates() -> None:
    out, _ = run("dataset:rock-paper-scissors")
    assert "0.3333" in out
    assert "margin" in out
    assert "certificates: exploitability" in out


def test_scores_show_agents_or_tasks() -> None:
    agents, _ = run("dataset:atari", "--top", "5")
    assert "rainbow" in agents
    assert "15 more rows" in agents
    tasks, _ = run("dataset:atari", "--tasks")
    assert "double_dunk" in tasks
    assert "difficulty" in tasks


def test_machine_formats_hold_every_agent() -> None:
    out, _ = run("dataset:roshambo", "--format", "json")
    rows = json.loads(out)
    assert len(rows) == 43
    assert sum(row["weight"] for row in rows) == pytest.approx(1)


def test_plain_maximum_entropy_can_be_asked_for() -> None:
    assert "unique" in run("dataset:suite-4", "--selection", "maxent")[0]


def test_clone_groups_are_named_in_the_messages(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("agent,go,chess\nx,1,0\ny,0,1\nz,0,1\n")
    assert "clones 1: y, z" in run(str(path))[1]


def test_pairs_that_never_met_are_filled_from_the_ratings_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\nx,y,a\ny,z,a\nz,w,a\n")
    assert "3 pairs as Elo predicts" in run(str(path))[0]


def test_wrong_options_are_explained() -> None:
    with pytest.raises(nb.InputError, match="--tasks needs scores"):
        run("dataset:roshambo", "--tasks")
    with pytest.raises(nb.InputError, match="there is no selection"):
        run("dataset:roshambo", "--selection", "random")
