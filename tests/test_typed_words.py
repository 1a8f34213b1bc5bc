"""Messages of the library, as who typed a command reads them."""

from pathlib import Path

import pytest

from commands import Run
from nashboard.cli.typed_words import typed

TAKEN = ("source", "read", "table", "query", "missing", "prior", "cyclic_prior", "k")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("pass separator=','", "pass -r separator=,"),
        (r"pass separator='\t'", r"pass -r 'separator=\t'"),
        ("or pass separator=", "or pass -r separator=..."),
        ("pass a= and b= (its columns are 'x')", "pass -r a=... and -r b=... (its columns are 'x')"),
        ("a task's mean, or pass ignore=['t 2'] if it's none", "a task's mean, or pass -r 'ignore=t 2' if it's none"),
        ("pass ignore=['a', 'b']", "pass -r ignore=a,b"),
        ("pass outcomes={'x': None, 'y': 0.5}", "pass -r outcomes=x:none,y:0.5"),
        (
            "pass outcomes={'x': 1} (on the command line -r outcomes=x:1), or None for 1",
            "pass -r outcomes=x:1, or none for 1",
        ),
        ("pass table= or query= (on the command line --table or --query)", "pass --table or --query"),
        ("a larger prior= helps, or k='auto'", "a larger --prior helps, or --k auto"),
        (
            "use drop('agents'), drop('tasks') or fill('mean')",
            "use --missing drop-agents, drop-tasks, mean, median or worst",
        ),
    ],
)
def test_options_are_named_as_they_are_typed(message: str, said: str) -> None:
    assert typed(message, TAKEN) == said


@pytest.mark.parametrize(
    "message",
    [
        "'a=1' has no column 'pass b=': its columns are 'task=x'",  # names of the user's own
        "-r outcome=a and -r weight= name two columns",  # typed already
        "selection='maxent' and level=0.05",  # no option of a reader
        "pass ignore=['a,b']",  # a comma cannot be typed
        "outcomes={'x': [1}",  # cut short
        "say so (on the command line --missing worst)",
        "",
    ],
)
def test_other_words_stay_as_they_are(message: str) -> None:
    assert typed(message, TAKEN) == message


def test_a_command_without_the_option_keeps_the_words_of_the_library() -> None:
    assert typed("a larger prior= helps; pass outcome=", ["source"]) == "a larger prior= helps; pass outcome="


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,b,winner\nx,x,a\nx,y,b\n", [], "-r self_matches=drop leaves such rows out"),
        ("a,b,winner,result\nx,y,a,b\n", [], "pass -r outcome=... to choose"),
        (
            "left,right,verdict\nx,y,fine\n",
            ["-r", "outcome=verdict"],
            "pass a rule such as -r outcomes=fine:0.5, or none",
        ),
        ("model;t1;t2\nx;1;2\ny;2;1\n", ["-r", "separator=,"], "pass -r 'separator=;'"),
        ("model,t1,t2\nx,1,good\ny,2,bad\n", [], "pass -r ignore=t2 if the column is no task"),
        ("model,t1,t2\nx,1,2\nx,2,1\ny,2,1\n", [], "pass -r repeats=runs if these are repeated runs"),
    ],
)
def test_a_command_says_what_to_type(
    text: str, arguments: list[str], message: str, command: Run, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    done = command("inspect", str(path), *arguments, code=2)
    assert message in done.stderr, done.stderr
    assert "='" not in done.stderr.replace("-r 'separator=", "")


def test_a_segment_that_is_left_out_says_what_to_type(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = ["x,t1,1,acc,en", "y,t1,0,acc,en", "x,t2,0,acc,en", "y,t2,1,acc,en", "x,t1,1,acc,de", "y,t1,0,f1,de"]
    path.write_text("\n".join(["agent,task,score,metric,language", *rows]) + "\n")
    said = command("evaluate", str(path), "--segment", "language", "--resamples", "2").stderr
    assert "language = de left out: " in said
    assert "pass -r metric=... to choose one" in said
