"""Groups of agents that never met: every command keeps the largest, takes each, or says why it cannot."""

from pathlib import Path

import pytest

from commands import Run

MET = ["a,b,model_a", "b,a,model_b", "b,c,model_a", "c,a,model_a", "d,a,tie", "d,c,model_a"]
OTHERS = ["x,y,model_a", "y,x,model_a", "x,y,tie", "z,y,tie"]
AFTER = {"rank": ["-m", "borda"], "methods": ["-m", "borda", "--resamples", "5"]}


@pytest.fixture
def leagues(tmp_path: Path) -> str:
    path = tmp_path / "leagues.csv"
    path.write_text("model_a,model_b,winner\n" + "\n".join(MET + OTHERS) + "\n")
    return str(path)


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["elo", "rank", "nash", "hodge", "audit", "methods"])
def test_each_group_is_shown_on_its_own(name: str, leagues: str, command: Run) -> None:
    refused = command(name, leagues, *AFTER.get(name, []), code=2).stderr
    assert "2 groups that never met" in refused
    assert "--components each" in refused
    largest = command(name, leagues, *AFTER.get(name, []), "--components", "largest").stdout
    shown = command(name, leagues, *AFTER.get(name, []), "--components", "each").stdout
    first, second = shown.removeprefix("group of a\n").split("\n\ngroup of y\n")
    assert first == largest.rstrip("\n")
    assert "x" in second


def test_questions_about_two_agents_are_answered_in_their_group(leagues: str, command: Run) -> None:
    for name in ("predict", "compare"):
        said = command(name, leagues, "x", "y", "--components", "each")
        assert said.stdout.startswith("group of y\n")
        assert "group of a" not in said.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan"], "a plan divides its games over agents that met: use --components largest"),
        (["elo", "--format", "json"], "json contains one: use text or md"),
        (["elo", "--anchor", "a=1500"], "groups that never met have no common scale"),
        (["report", "-o", "-"], "a report shows one board: use --components largest"),
    ],
)
def test_what_cannot_be_shown_by_group_is_refused(words: list[str], said: str, leagues: str, command: Run) -> None:
    assert said in command(words[0], leagues, *words[1:], "--components", "each", code=2).stderr


def test_changes_between_groups_are_refused(leagues: str, command: Run) -> None:
    said = command("changes", leagues, leagues, "--components", "each", code=2).stderr
    assert "groups of one file are not those of another" in said


def test_one_pair_does_not_drop_a_whole_segment(tmp_path: Path, command: Run) -> None:
    rows = [f"{row},{language}" for row in MET for language in ("de", "en")]
    path = tmp_path / "segments.csv"
    path.write_text("model_a,model_b,winner,language\n" + "\n".join([*rows, "x,y,model_a,en"]) + "\n")
    words = ["evaluate", str(path), "--segment", "language", "--resamples", "5", "--format", "csv"]
    done = command(*words)
    assert "language = en: 2 agents of 1 other group that never met the largest left out" in done.stderr
    assert sum(line.startswith("en,") for line in done.stdout.splitlines()) == 4
    assert "en left out: the agents fall into 2 groups" in command(*words, "--components", "error").stderr
    few = command(*words, "--min-games", "2").stderr
    assert "language = en: 2 agents with fewer than 2 games left out" in few
