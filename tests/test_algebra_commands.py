"""``nashboard hodge`` and ``nashboard latent``: words and numbers for people, json, csv and markdown for machines."""

import json
from pathlib import Path

import pytest

from commands import Run


def test_hodge_tells_transitivity_ratings_and_cycles_in_words(command: Run) -> None:
    done = command("hodge", "dataset:rock-paper-scissors")
    out = done.stdout
    assert "ratings explain 0.0% of the squared norm, local cycles 100.0%, the harmonic part 0.0%" in out
    assert "cycle: A > B > C > A (curl 5.537 = 1.846 + 1.846 + 1.846)" in out
    assert "curl: sum of what each gains from the next (log-odds of winning)" in out
    assert "rating: what it gains from others on average (log-odds of winning)" in out
    assert [line.split()[0] for line in out.splitlines()[1:6]] == ["rank", "----", "1", "1", "1"]


@pytest.mark.parametrize(
    ("rows", "words", "known"),
    [
        (
            ["x,y,x"] * 3 + ["x,y,y"] * 2 + ["y,z,y"] * 3 + ["y,z,z"] * 2 + ["x,z,x"] * 4 + ["x,z,z"],
            "the residual of the ratings is within noise",
            True,
        ),
        (
            ["x,y,x"] * 90 + ["y,z,y"] * 90 + ["z,x,z"] * 90,
            "the residual of the ratings is larger than noise: Elo does not explain these results (p = ",
            True,
        ),
        (["x,y,x"] * 3 + ["y,z,y"] * 2, "Elo explains the results exactly", False),
    ],
)
def test_hodge_says_whether_the_residual_of_ratings_is_noise(
    rows: list[str], words: str, known: bool, tmp_path: Path, command: Run
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["player_a,player_b,winner", *rows]) + "\n")
    done = command("hodge", str(log))
    assert words in done.stdout
    done = command("hodge", str(log), "--format", "json")
    assert (json.loads(done.stdout)["p_noise"] is not None) == known


def test_hodge_does_not_speak_of_noise_where_games_were_not_counted(command: Run) -> None:
    for source in ("dataset:roshambo", "dataset:alphago"):
        done = command("hodge", source)
        assert "it is unknown whether the residual is larger than noise: games were not counted" in done.stdout


def test_latent_names_who_and_what_is_at_the_ends(command: Run) -> None:
    done = command("latent", "dataset:suite-4", "-k", "1")
    out = done.stdout
    assert "average skill and difficulty explain" in out
    assert "task 3a" in out


@pytest.mark.parametrize("words", [["hodge", "dataset:alphago"], ["latent", "dataset:atari"]])
@pytest.mark.parametrize("how", ["json", "csv", "md"])
def test_machines_get_their_formats(words: list[str], how: str, command: Run) -> None:
    done = command(*words, "--format", how)
    out = done.stdout
    if how == "json":
        assert set(json.loads(out)) >= {"agents"}
    else:
        assert {"csv": ",", "md": "|"}[how] in out.splitlines()[0] + out.splitlines()[2]


@pytest.mark.parametrize(("name", "source", "other"), [("hodge", "atari", "latent"), ("latent", "alphago", "hodge")])
def test_the_wrong_kind_of_data_is_pointed_to_the_other_command(
    name: str, source: str, other: str, command: Run
) -> None:
    done = command(name, f"dataset:{source}", code=2)
    assert f"use nashboard {other}" in done.stderr
