"""``nashboard audit`` and ``nashboard stress``."""

import csv
import json

import pytest

from commands import Run


def test_audit_prints_the_list_of_checks(command: Run) -> None:
    assert "checks passed" in command("audit", "dataset:alphago").stdout


def test_audit_in_json_holds_every_section(command: Run) -> None:
    found = json.loads(command("audit", "dataset:suite-4", "--format", "json").stdout)
    assert {"redundancy", "importance", "tasks", "transitivity", "data", "checks"} <= set(found)


@pytest.mark.thin(3)
@pytest.mark.parametrize("how", ["csv", "md", "latex"])
def test_audit_in_machine_formats_shows_the_table_that_is_asked_for(command: Run, how: str) -> None:
    shown = command("audit", "dataset:suite-4", "--show", "alike-tasks", "--format", how).stdout
    assert "cannot tell" in shown


def test_stress_prints_the_verdict_first(command: Run) -> None:
    said = command("stress", "dataset:rock-paper-scissors", "--of", "C", "--copies", "1", "--repeats", "2").stdout
    assert said.startswith("uniform average: with 1 copy the winner changes from ")
    assert "Nash average: did not move" in said


def test_stress_in_json_holds_the_proof(command: Run) -> None:
    found = json.loads(command("stress", "dataset:suite-3", "--copies", "1,3", "--format", "json").stdout)
    assert found["nash_unmoved"] is True
    assert found["certificate"] <= 1e-9


@pytest.mark.slow
def test_stress_shows_attacks_in_csv(command: Run) -> None:
    asked = ("--copies", "1", "--promote", "human", "--show", "attacks", "--format", "csv")
    rows = list(csv.DictReader(command("stress", "dataset:atari", *asked).stdout.splitlines()))
    assert [(row["target"], row["method"]) for row in rows] == [("human", "uniform average"), ("human", "Elo")]
    assert rows[1]["copies"] == "33"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("audit", "dataset:alphago", "--show", "components", "--format", "csv"), "'trust'"),  # the tables there are
        (("stress", "dataset:suite-3", "--copies", "many"), "whole numbers"),
        (("audit", "no-such-file.csv", "--level", "0.05"), "the level is 0.05: it is a confidence"),
    ],
)
def test_wrong_options_are_refused(command: Run, asked: tuple[str, ...], said: str) -> None:
    assert said in command(*asked, code=2).stderr
