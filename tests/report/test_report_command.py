"""``nashboard report``: what people type."""

from pathlib import Path

import pytest

import nashboard as nb
from commands import Run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def test_the_report_is_written_and_the_command_says_where(tmp_path: Path, command: Run) -> None:
    done = command("report", "dataset:suite-4", "--resamples", "3", "-o", "page.html", "--title", "Four tasks")
    assert done.stdout == ""
    assert "Wrote the report to 'page.html' (1." in done.stderr
    assert "note: 3 draws are few" in done.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Four tasks</h1>" in text
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_without_a_name_it_is_called_after_the_file_and_a_saved_evaluation_is_taken_too(
    tmp_path: Path, command: Run
) -> None:
    nb.evaluate(nb.load_dataset("suite-3"), n_resamples=3).report(tmp_path / "three.json")
    command("report", "three.json")
    assert "saved result" in (tmp_path / "three-report.html").read_text(encoding="utf-8")


def test_a_dash_writes_to_standard_output(tmp_path: Path, command: Run) -> None:
    nb.evaluate(nb.load_dataset("suite-3"), n_resamples=3).report(tmp_path / "three.json")
    done = command("report", "three.json", "-o", "-")
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.rstrip().endswith("</html>")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "page.pdf"], "the name must end in '.html'"),
        (["-o", "nowhere/page.html"], "there is no folder 'nowhere', create it first"),
        (["-o", "-", "--open"], "--open needs a file"),
        (["--agents", "nobody"], "no agent matches 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: list[str], message: str, command: Run, tmp_path: Path) -> None:
    done = command("report", "dataset:suite-3", *arguments, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
