"""Inspection tells a person on one screen what was read."""

from pathlib import Path

import numpy as np

import nashboard as nb
from nashboard._tables import as_plain_text
from nashboard.data.inspection import inspected


def facts(data: nb.Matches | nb.Scores | nb.Payoffs) -> dict[str, str]:
    return {fact.name: f"{fact.value} | {fact.meaning}" for fact in inspected(data).facts}


def test_matches_tell_games_draws_period_coverage_components_and_extremes(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner,date\nx,y,a,2024-01-02\nx,z,a,2024-03-04\nx,z,draw,2024-02-01\nu,v,b,2024-02-02\n")
    found = facts(nb.read_matches(path))
    assert found["format"].startswith("matches | ")
    assert found["rows"].startswith("4 | ")
    assert found["period"].startswith("2024-01-02 to 2024-03-04")
    assert found["games"].startswith("4 | ")
    assert found["draws"].startswith("1 (25.0%)")
    assert found["coverage"].startswith("3 of 10 pairs (30.0%)")
    assert found["components"] == "2 | groups that never met cannot be compared: 'x', 'z' and 'y' (3); 'u' and 'v' (2)"
    assert found["unbeaten"].startswith("2 | 'v' and 'x': lost no game")
    assert found["winless"].startswith("3 | 'u', 'y' and 'z': won no game")


def test_matches_tell_which_columns_and_labels_were_taken_for_what(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,winner,w,judge\nx,y,model_a,2,j\nx,y,tie (bothbad),1,j\ny,x,?,1,j\n")
    found = facts(nb.read_matches(path, weight="w", outcomes={"?": None}))
    assert found["columns"] == (
        "4 of 5 | first agent 'model_a', second agent 'model_b', outcome 'winner', weight 'w'; not used: 'judge'"
    )
    assert found["outcomes"] == ("'winner' | 'model_a': model_a wins; 'tie (bothbad)': half a win each; '?': left out")


def test_names_and_shares_of_the_point_are_told_as_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\nann,bob,bob\nbob,cy,draw\ncy,ann,most\n")
    found = facts(nb.read_matches(path, outcomes={"most": 0.75}))
    assert found["outcomes"] == (
        "'winner' | the winner's own name; 'draw': half a win each; 'most': 0.75 of the point to a"
    )
    path.write_text("a,b,share\nann,bob,0.25\n")
    assert "outcomes" not in facts(nb.read_matches(path, outcome="share"))  # a note tells what numbers are


def test_scores_tell_which_columns_were_taken_for_what(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("model,task,score,stderr,who\nx,t,1,0.1,j\ny,t,2,0.1,j\n")
    assert facts(nb.read_scores(path))["columns"] == (
        "4 of 5 | agent 'model', task 'task', score 'score', standard error 'stderr'; not used: 'who'"
    )
    path.write_text("model,t,u,average\nx,1,2,1.5\ny,2,1,1.5\n")
    assert facts(nb.read_scores(path))["columns"] == "3 of 4 | agent 'model', and a column for each task"


def test_scores_tell_holes_directions_constants_and_copies() -> None:
    table = nb.Scores.from_array(
        np.array([[1, 5, 1, np.nan], [2, 5, 2, 3], [1, 5, 1, np.nan]]),
        list("xyz"),
        list("abcd"),
        lower_is_better=[True, False, False, False],
    )
    found = facts(table)
    assert found["missing cells"] == "2 of 12 | most: 'x' 1, 'z' 1; 'd' 2"
    assert found["direction"] == "1 of 4 lower is better | 'a'"
    assert found["constant tasks"] == "2 | 'b' and 'd': they separate no agents"
    assert found["identical tasks"] == "1 group | 'a' = 'c'"
    assert found["identical agents"] == "1 group | 'x' = 'z'"


def test_payoffs_tell_their_unit_and_how_they_were_made() -> None:
    found = facts(nb.load_dataset("roshambo"))
    assert found["unit"].startswith("given | given as a matrix, its two directions averaged")
    assert found["agents"].startswith("43 | ")


def test_names_that_differ_only_in_case_are_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\nGPT,y,a\ngpt ,y,a\n")
    assert "differ only in case or white space" in facts(nb.read_matches(path))["note"]


def test_one_huge_name_does_not_fill_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"model,t,u\n{'x' * 20_000},1,2\n{'y' * 20_000},1,2\n{'z' * 20_000},3,\n")
    shown = as_plain_text(inspected(nb.read_scores(path)).table())
    assert max(map(len, shown.splitlines())) < 1000
    assert "xx…xx" in shown
