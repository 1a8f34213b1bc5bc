"""``nashboard audit`` and ``nashboard stress``."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from nashboard.cli.app import app

RUN = CliRunner()


def test_audit_prints_the_list_of_checks() -> None:
    done = RUN.invoke(app, ["audit", "dataset:alphago"])
    assert done.exit_code == 0
    assert "checks passed" in done.stdout


def test_audit_in_json_holds_every_section() -> None:
    done = RUN.invoke(app, ["audit", "dataset:suite-4", "--format", "json"])
    found = json.loads(done.stdout)
    assert {"redundancy", "importance", "tasks", "transitivity", "data", "checks"} <= set(found)


@pytest.mark.thin(3)
@pytest.mark.parametrize("how", ["csv", "md", "latex"])
def test_audit_in_machine_formats_shows_the_table_that_is_asked_for(how: str) -> None:
    done = RUN.invoke(app, ["audit", "dataset:suite-4", "--show", "alike-tasks", "--format", how])
    assert done.exit_code == 0
    assert "cannot tell" in done.stdout


def test_a_table_that_is_not_there_is_an_error_that_lists_those_that_are() -> None:
    done = RUN.invoke(app, ["audit", "dataset:alphago", "--show", "components", "--format", "csv"])
    assert done.exit_code != 0
    assert "'trust'" in str(done.exception)


def test_stress_prints_the_verdict_first() -> None:
    done = RUN.invoke(app, ["stress", "dataset:rock-paper-scissors", "--of", "C", "--copies", "1", "--repeats", "2"])
    assert done.exit_code == 0
    assert done.stdout.startswith("uniform average: with 1 copy the winner changes from ")
    assert "Nash average: did not move" in done.stdout


def test_stress_in_json_holds_the_proof() -> None:
    done = RUN.invoke(app, ["stress", "dataset:suite-3", "--copies", "1,3", "--format", "json"])
    found = json.loads(done.stdout)
    assert found["nash_unmoved"] is True
    assert found["certificate"] <= 1e-9


@pytest.mark.slow
def test_stress_shows_attacks_in_csv() -> None:
    done = RUN.invoke(
        app, ["stress", "dataset:atari", "--copies", "1", "--promote", "human", "--show", "attacks", "--format", "csv"]
    )
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["target"], row["method"]) for row in rows] == [("human", "uniform average"), ("human", "Elo")]
    assert rows[1]["copies"] == "33"


def test_copies_that_are_no_numbers_are_refused() -> None:
    done = RUN.invoke(app, ["stress", "dataset:suite-3", "--copies", "many"])
    assert done.exit_code != 0
    assert "whole numbers" in str(done.exception)


def test_a_chance_of_error_for_a_level_is_refused_before_anything_is_read() -> None:
    done = RUN.invoke(app, ["audit", "no-such-file.csv", "--level", "0.05"])
    assert "the level is 0.05: it is a confidence" in str(done.exception)
