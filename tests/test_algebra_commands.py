"""``nashboard hodge`` and ``nashboard latent``: words and numbers for people, json, csv and markdown for machines."""

import json
import sys
from pathlib import Path

import pytest

from nashboard.cli.app import main


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["nashboard", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_hodge_tells_transitivity_ratings_and_cycles_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "hodge", "dataset:rock-paper-scissors") == 0
    out = capsys.readouterr().out
    assert "ratings explain 0.0% of the squared norm, local cycles 100.0%, the harmonic part 0.0%" in out
    assert "cycle: A > B > C > A (curl 5.537 = 1.846 + 1.846 + 1.846)" in out
    assert "curl: what each gains from the next, added up (log-odds of winning)" in out
    assert "rating: what it gains from others on average (log-odds of winning)" in out
    assert [line.split()[0] for line in out.splitlines()[1:6]] == ["rank", "----", "1", "1", "1"]


@pytest.mark.parametrize(
    ("rows", "words", "known"),
    [
        (
            ["x,y,x"] * 3 + ["x,y,y"] * 2 + ["y,z,y"] * 3 + ["y,z,z"] * 2 + ["x,z,x"] * 4 + ["x,z,z"],
            "no more than noise",
            True,
        ),
        (["x,y,x"] * 90 + ["y,z,y"] * 90 + ["z,x,z"] * 90, "is more than noise, which Elo cannot explain (p = ", True),
        (["x,y,x"] * 3 + ["y,z,y"] * 2, "Elo can explain the results exactly", False),
    ],
)
def test_hodge_says_whether_what_ratings_leave_over_is_more_than_noise(
    rows: list[str],
    words: str,
    known: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["player_a,player_b,winner", *rows]) + "\n")
    assert run(monkeypatch, "hodge", str(log)) == 0
    assert words in capsys.readouterr().out
    assert run(monkeypatch, "hodge", str(log), "--format", "json") == 0
    assert (json.loads(capsys.readouterr().out)["p_noise"] is not None) == known


def test_hodge_does_not_speak_of_noise_where_games_were_not_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for source in ("dataset:roshambo", "dataset:alphago"):
        assert run(monkeypatch, "hodge", source) == 0
        assert "cannot be told: games were not counted" in capsys.readouterr().out


def test_latent_names_who_and_what_is_at_the_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "latent", "dataset:suite-4", "-k", "1") == 0
    out = capsys.readouterr().out
    assert "average skill and difficulty explain" in out
    assert "task 3a" in out


@pytest.mark.parametrize("command", [["hodge", "dataset:alphago"], ["latent", "dataset:atari"]])
@pytest.mark.parametrize("how", ["json", "csv", "md"])
def test_machines_get_their_formats(
    command: list[str], how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *command, "--format", how) == 0
    out = capsys.readouterr().out
    if how == "json":
        assert set(json.loads(out)) >= {"agents"}
    else:
        assert {"csv": ",", "md": "|"}[how] in out.splitlines()[0] + out.splitlines()[2]


@pytest.mark.parametrize(("command", "source", "other"), [("hodge", "atari", "latent"), ("latent", "alphago", "hodge")])
def test_the_wrong_kind_of_data_is_pointed_to_the_other_command(
    command: str, source: str, other: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, command, f"dataset:{source}") == 2
    assert f"use nashboard {other}" in capsys.readouterr().err
