"""The commands compare, plan, changes, influence, voters, exposure and reduce."""

import json
from pathlib import Path

import numpy as np
import pytest

import nashboard as nb
from commands import Run


@pytest.fixture
def items(tmp_path: Path) -> str:
    """A table of 40 items on which one model is clearly better than another."""
    path = tmp_path / "items.csv"
    rows = {"new": [1] * 36 + [0] * 4, "old": [1] * 20 + [0] * 20, "older": [1] * 19 + [0] * 21}
    lines = [",".join(["model", *(f"q{k}" for k in range(40))])]
    lines += [",".join([name, *map(str, values)]) for name, values in rows.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A log of 60 games between three engines."""
    path = tmp_path / "games.csv"
    results = [("a", "b", "a")] * 11 + [("a", "b", "b")] * 9 + [("b", "c", "b")] * 13 + [("b", "c", "c")] * 7
    results += [("a", "c", "a")] * 15 + [("a", "c", "c")] * 5
    path.write_text(
        "left,right,winner\n" + "".join(f"{x},{y},{'left' if w == x else 'right'}\n" for x, y, w in results),
        encoding="utf-8",
    )
    return str(path)


def test_compare_says_who_is_better(command: Run, items: str) -> None:
    done = command("compare", items, "new", "old")
    assert done.stdout.startswith("new is better than old by 0.400")


@pytest.mark.parametrize(
    ("columns", "options"), [("task,item", ()), ("passage,question", ("-r", "cluster=passage"))], ids=["usual", "named"]
)
def test_items_of_a_long_table_are_clustered_by_their_group(
    command: Run, tmp_path: Path, columns: str, options: tuple[str, ...]
) -> None:
    path, rng = tmp_path / "long.csv", np.random.default_rng(1)
    rows = [f"{m},p{t},q{q},{rng.integers(2)}" for m in ("new", "old") for t in range(12) for q in range(5)]
    path.write_text("\n".join([f"model,{columns},score", *rows]) + "\n", encoding="utf-8")
    found = json.loads(command("compare", str(path), "new", "old", *options, "--format", "json").stdout)
    assert (found["test"], found["n"], found["details"]["clusters"]) == ("cluster-robust t-test", 60, 12)


def test_two_agents_need_no_names(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("model,q0,q1,q2,q3,q4,q5,q6,q7\nA,1,1,1,1,1,1,1,1\nB,0,0,0,0,0,0,0,0\n", encoding="utf-8")
    assert command("compare", str(path)).stdout.startswith("A is better than B by 1.00")


def test_compare_against_all_others(command: Run, items: str) -> None:
    found = json.loads(command("compare", items, "new", "--format", "json").stdout)
    assert found["schema"] == "nashboard/comparisons/1"
    assert [row["b"] for row in found["rows"]] == ["old", "older"]


@pytest.mark.parametrize(
    ("a", "b", "condition", "code"),
    [("old", "new", "worse", 3), ("new", "old", "worse", 0), ("old", "older", "not-better,worse", 3)],
)
def test_gates_end_with_code_3(command: Run, items: str, a: str, b: str, condition: str, code: int) -> None:
    done = command("compare", items, a, b, "--fail-on", condition, code=code)
    assert (condition.split(",")[0] in done.stderr) == (code == 3)


def test_an_unknown_condition_is_an_error_before_any_work(command: Run) -> None:
    done = command("compare", "missing.csv", "a", "b", "--fail-on", "wors", code=2)
    assert "did you mean 'worse'?" in done.stderr


def test_plan_writes_a_schedule(command: Run, log: str, tmp_path: Path) -> None:
    target = tmp_path / "schedule.csv"
    done = command("plan", log, "--games", "90", "-o", str(target))
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "a,b,games"
    assert sum(int(line.split(",")[2]) for line in lines[1:]) == 90
    assert "90 games as planned" in done.stderr


def test_plan_for_one_pair(command: Run, log: str) -> None:
    found = json.loads(command("plan", log, "--pair", "a", "b", "--format", "json").stdout)
    assert found["schedule"][0]["games"] > 500
    command("plan", log, "--pair", "a", "b", "--target", "top", code=2)


def test_influence_names_votes(command: Run, log: str) -> None:
    found = json.loads(command("influence", log, "--format", "json").stdout)
    assert found["first"] == "a"
    assert found["removed"] == sum(row[3] for row in found["rows"])


def test_votes_are_not_removed_by_task(command: Run, log: str) -> None:
    assert "--by has no effect" in command("influence", log, "--by", "tasks", code=2).stderr


def test_influence_names_voters(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = ["x,a,b,model_a"] * 6 + ["y,a,b,model_b"] * 5
    path.write_text("\n".join(["worker,model_a,model_b,winner", *rows]) + "\n", encoding="utf-8")
    found = json.loads(command("influence", str(path), "--voter", "worker", "--format", "json").stdout)
    assert found["rows"] == [["x", 6]]


def test_exposure_shows_who_plays_how_often(command: Run, log: str, tmp_path: Path) -> None:
    more = tmp_path / "more.csv"
    extra = "a,b,left\n" * 30 + "a,b,right\n" * 30
    more.write_text(Path(log).read_text(encoding="utf-8") + extra, encoding="utf-8")
    found = json.loads(command("exposure", str(more), "--family", "lab=[ab]", "--format", "json").stdout)
    assert found["games"] == [100, 100, 40]
    assert found["inflation"]["lab"] > 0
    assert "lab: the best of its variants gains about" in command("exposure", log, "--family", "lab=[ab]").stdout
    assert "at least two" in command("exposure", log, "--family", "lab=a", code=2).stderr


def test_reduce_lists_tasks(command: Run) -> None:
    done = command("reduce", "dataset:atari")
    assert "of 54 tasks keep the order" in done.stdout


def test_changes_of_a_saved_evaluation_with_itself(command: Run, log: str, tmp_path: Path) -> None:
    saved = tmp_path / "old.json"
    command("evaluate", log, "--resamples", "50", "-o", str(saved))
    done = command("changes", str(saved), log, "--resamples", "50", "--fail-on", "moved")
    assert "No agent moved beyond noise." in done.stdout


def test_voters_who_always_take_the_first_side_are_named(command: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    strength = {"a": 1.2, "b": 0.0, "c": -1.2}
    lines = ["worker,prompt,model_a,model_b,winner"]
    for vote in range(900):
        worker = f"w{vote % 15:02}"
        x, y = rng.choice(list(strength), 2, replace=False)
        p = 0.98 if worker == "w03" else 1 / (1 + np.exp(strength[y] - strength[x]))
        lines.append(f"{worker},p{vote % 100},{x},{y},{'model_a' if rng.random() < p else 'model_b'}")
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = json.loads(command("voters", str(path), "--voter", "worker", "--item", "prompt", "--format", "json").stdout)
    assert found["suspects"] == ["w03"]
    assert found["alpha"] is not None
    assert "first side" in command("voters", str(path)).stdout  # the column is found by its name


def test_an_audit_fails_on_copies(command: Run, tmp_path: Path) -> None:
    rows = {"a": [1, 5, 9, 2, 7], "b": [2, 4, 6, 8, 1], "b again": [2, 4, 6, 8, 1], "c": [9, 3, 1, 4, 5]}
    path = tmp_path / "scores.csv"
    lines = [",".join([name, *map(str, values)]) for name, values in rows.items()]
    path.write_text("\n".join(["model,s,t,u,v,w", *lines]) + "\n", encoding="utf-8")
    small = ("--noise", "none", "--fail-on", "near-duplicates")
    assert "near-duplicates" in command("audit", str(path), *small, code=3).stderr
    path.write_text("\n".join(["model,s,t,u,v,w", *lines[:2], lines[3]]) + "\n", encoding="utf-8")
    command("audit", str(path), *small)


def test_sprt_counts_the_games_of_the_two_alone(tmp_path: Path, command: Run) -> None:
    log = tmp_path / "games.csv"
    rows = ["x,y,x"] * 60 + ["y,x,y"] * 30 + ["x,y,draw"] * 10 + ["x,z,z"] * 50
    log.write_text("\n".join(["player_a,player_b,winner", *rows]) + "\n")
    forth, back = (json.loads(command("sprt", str(log), *names, "--format", "json").stdout) for names in ("xy", "yx"))
    found = nb.sprt([30, 10, 60])
    assert forth["rows"][0]["llr"] == found.llr
    assert back["rows"][0]["llr"] == nb.sprt([60, 10, 30]).llr
    assert command("sprt", str(log), "x", "y").stdout.startswith(found.sentence)
    assert "'y' and 'z' never met" in command("sprt", str(log), "y", "z", code=2).stderr
