import csv
import functools
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import nashboard as nb
from commands import Run


@pytest.fixture
def run(command: Run) -> Run:
    return functools.partial(command, "evaluate")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A log in which the order of agents in German is that of English turned round."""
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    rng = random.Random(1)
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["model_a", "model_b", "winner", "language"])
        for _ in range(1200):
            a, b = rng.sample(["ant", "bee", "cat", "cow"], 2)
            language = rng.choice(["English", "German"])
            ahead = (a < b) == (language == "English")
            table.writerow([a, b, "model_a" if (rng.random() < 0.85) == ahead else "model_b", language])
    return str(path)


def test_the_board_and_the_verdict_go_to_standard_output_and_warnings_to_standard_error(run: Run, log: str) -> None:
    done = run(log, "--resamples", "5")
    assert "agent" in done.stdout
    assert done.stdout.index("1,200 games, every pair met") < done.stdout.index("P(top)")
    assert "note: 5 draws are few" in done.stderr
    assert "few" not in done.stdout


def test_json_is_read_back(run: Run, log: str) -> None:
    done = run(log, "--resamples", "5", "--seed", "3", "--format", "json")
    found = nb.Evaluation.from_json(done.stdout)
    assert found.settings["seed"] == 3
    assert found.agents == ("ant", "bee", "cat", "cow")


def test_machine_formats_and_tasks(run: Run, tmp_path: Path) -> None:
    done = run("dataset:suite-4", "--resamples", "3", "--format", "csv")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert sorted(row["agent"] for row in rows) == ["A", "B", "C"]
    assert {"rank", "gap", "gap low", "gap high", "P(top)", "mean", "mean rank"} <= set(rows[0])
    shown = run("dataset:suite-4", "--resamples", "3", "--format", "md", "--tasks").stdout
    assert "| task 3b |" in shown
    page = tmp_path / "board.html"
    done = run("dataset:suite-4", "--resamples", "3", "-o", str(page))
    assert done.stdout == ""
    assert "<table" in page.read_text(encoding="utf-8")


def test_agents_are_chosen_by_patterns_and_anchored(run: Run, log: str) -> None:
    done = run(log, "--resamples", "3", "--agents", "c*", "--agents", "ant", "--exclude", "cow", "--anchor", "ant=1500",
               "--format", "json")  # fmt: skip
    found = nb.Evaluation.from_json(done.stdout)
    assert found.agents == ("ant", "cat")
    assert found.board.rating is not None
    assert found.board.rating.values[0] == pytest.approx(1500)
    assert "no agent matches 'dog*'" in run(log, "--agents", "dog*", code=2).stderr


def test_segments_have_a_board_each_and_a_comparison(run: Run, log: str, tmp_path: Path) -> None:
    done = run(log, "--resamples", "3", "--segment", "language")
    assert "language = English" in done.stdout
    assert "ranks by language" in done.stdout
    assert " between segments beyond noise, measured from" in done.stdout
    short = run(log, "--resamples", "3", "--segment", "language", "--top", "1").stdout
    assert len(re.findall("--top [0-9]+ shows all", short)) == 3  # two boards and the comparison
    target = tmp_path / "boards.json"
    run(log, "--resamples", "3", "--segment", "language", "-o", str(target))
    boards = json.loads(target.read_text(encoding="utf-8"))
    assert boards["schema"] == "nashboard/segments/1"
    first = {
        value: board["board"]["names"][board["board"]["ranks"].index(1)] for value, board in boards["segments"].items()
    }
    assert first == {"English": "ant", "German": "cow"}
    assert "has no column 'lang'" in run(log, "--segment", "lang", code=2).stderr
    assert "values of a column of a table" in run("dataset:atari", "--segment", "x", code=2).stderr


def test_an_anchor_that_is_in_no_segment_is_a_slip(run: Run, log: str) -> None:
    done = run(log, "--resamples", "3", "--segment", "language", "--anchor", "ante=1500", code=2)
    assert "there is no agent 'ante' (did you mean 'ant'?): there are 'ant', 'bee', 'cat' and 'cow'" in done.stderr


def test_several_boards_are_printed_and_written_whole_in_every_format(run: Run, log: str, tmp_path: Path) -> None:
    asked = [log, "--resamples", "3", "--segment", "language"]
    printed = run(*asked, "--format", "csv").stdout
    rows = list(csv.DictReader(printed.splitlines()))
    assert {(row["language"], row["agent"]): row["rank"] for row in rows} == {
        (value, name): rank
        for value in ("English", "German")
        for found in [nb.evaluate(nb.read_matches(log, where={"language": value}), n_resamples=3)]
        for name, rank in zip(found.agents, found.posterior.rank_ranges(), strict=True)
    }
    assert all(float(row["shrunk gap"]) >= -1e-9 for row in rows)
    for ending, how, heading in (
        ("csv", "csv", ""),
        ("md", "md", "## language = German"),
        ("tex", "latex", "% language"),
    ):
        run(*asked, "-o", str(tmp_path / f"boards.{ending}"))
        text = (tmp_path / f"boards.{ending}").read_text(encoding="utf-8")
        assert text == (printed if how == "csv" else run(*asked, "--format", how).stdout)
        assert heading in text
    run(*asked, "-o", str(tmp_path / "boards.txt"))
    assert (tmp_path / "boards.txt").read_text(encoding="utf-8").count("ranks by language") == 1
    markdown = (tmp_path / "boards.md").read_text(encoding="utf-8")
    assert markdown.count("| rank | agent |") == 2
    assert "**ranks by language**" in markdown
    assert "several boards are written as" in run(*asked, "-o", str(tmp_path / "boards.html"), code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-o", "nowhere/board.json"],
            "cannot write 'nowhere/board.json': there is no folder 'nowhere', create it first",
        ),
        (["-o", "."], "cannot write '.': the name must end in '.html'"),
        (["-o", "folder.csv"], "cannot write 'folder.csv': it is a folder"),
        (["-o", "board.xyz"], "cannot write 'board.xyz': the name must end in '.html'"),
        (["-o", "board.csv", "--format", "json"], "leave --format out, or write 'board.json'"),
        (["-o", "board.csv", "--format", "text"], "leave --format out, or write 'board.txt'"),
        (["-o", "board.html", "--format", "latex"], "leave --format out, or write 'board.tex'"),
        (["--segment", "x", "-o", "nowhere/boards.csv"], "there is no folder 'nowhere', create it first"),
        (["--segment", "x", "-o", "boards.html"], "several boards are written as '.json'"),
        (["--components", "each", "-o", "nowhere/boards.csv"], "there is no folder 'nowhere', create it first"),
        (["--components", "each", "-o", "boards.html"], "several boards are written as '.json'"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(
    run: Run, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    done = run("no-such-file.csv", *arguments, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_format_that_is_that_of_the_file_contradicts_nothing(run: Run, tmp_path: Path) -> None:
    run("dataset:suite-3", "--resamples", "3", "-o", str(tmp_path / "board.csv"), "--format", "csv")
    assert (tmp_path / "board.csv").read_text(encoding="utf-8").startswith("rank,")


def test_rows_without_a_segment_are_counted_and_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = ["a,b,winner,language", "x,y,x,en", "x,y,y,en", "y,x,x,de", "x,y,draw,", "x,y,x,  ", "y,x,x,de"]
    path.write_text("\n".join(rows) + "\n")
    done = run(str(path), "--resamples", "2", "--segment", "language", "--format", "json")
    assert "2 rows have no language: in no segment" in done.stderr
    document = json.loads(done.stdout)
    assert document["rows_without_value"] == 2
    assert "2 rows have no language: in no segment" in document["comparison"]["notes"]
    assert list(document["segments"]) == ["de", "en"]
    shown = run(str(path), "--resamples", "2", "--segment", "language")
    assert "2 rows have no language" in shown.stdout
    assert "nly rows where" not in shown.stderr  # what was asked for is no warning


def test_segments_of_scores_have_boards_each_and_a_comparison(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["agent", "task", "score", "language"])
        for language, way in (("English", 1), ("German", -1)):
            for k, agent in enumerate(["ant", "bee", "cat"]):
                for t in range(4):
                    table.writerow([agent, f"task {t}", way * k + (0.1 * t if k else 0.0), language])
    done = run(str(path), "--resamples", "3", "--segment", "language", "--format", "csv")
    ranks = {(row["agent"], row["language"]): row["rank"] for row in csv.DictReader(done.stdout.splitlines())}
    assert (ranks["cat", "English"], ranks["cat", "German"]) == ("1", "3")
    assert (ranks["ant", "English"], ranks["ant", "German"]) == ("3", "1")
    only = nb.read_scores(path, where={"language": "English"})
    assert only.values[:, 0].tolist() == [0, 1, 2]
    assert "only rows where language is English" in only.origin.notes
    with pytest.raises(nb.InputError, match="no rows where language is Dutch"):
        nb.read_scores(path, where={"language": "Dutch"})


def test_groups_that_never_met_are_an_error_that_names_them_or_have_a_board_each(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "leagues.csv"
    rows = ["agent_a,agent_b,wins,draws,losses", "ann,bob,3,0,1", "cid,dee,5,0,2", "cid,eve,1,0,2", "fay,ann,0,0,0"]
    path.write_text("\n".join(rows))
    said = run(str(path), code=2).stderr
    assert "3 groups that never met: 'cid', 'dee' and 'eve' (3 agents); 'ann' and 'bob' (2 agents)" in said
    assert "--components each" in said
    done = run(str(path), "--components", "each", "--resamples", "3")
    assert "group of cid" in done.stdout
    assert "groups that never met" in done.stdout
    assert "left out, since they have no games: 'fay'" in done.stderr
    boards = json.loads(run(str(path), "--components", "each", "--resamples", "3", "--format", "json").stdout)
    assert list(boards["segments"]) == ["cid", "ann"]
    alone = nb.evaluate(nb.read_matches(path).select(["ann", "bob"]), n_resamples=3)
    assert boards["segments"]["ann"]["board"] == alone.to_dict()["board"]
    wrong: Any = nb.load_dataset("atari")
    with pytest.raises(nb.InputError, match="only Matches fall into groups"):
        nb.evaluate_components(wrong)


def test_missing_scores_are_modelled_unless_something_else_is_asked_for(run: Run) -> None:
    path = str(Path(__file__).parents[1] / "files" / "scores_wide.csv")
    assert "scores missing" in run(path, "--resamples", "3").stdout
    assert "'men' is not one of 'drop-agents', " in run(path, "--missing", "men", code=2).stderr
    done = run(path, "--missing", "mean", "--resamples", "3")
    assert "missing scores filled with the task's mean" in done.stderr
