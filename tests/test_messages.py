"""Errors carry hints as data: Python and the command line spell the options in them each in their own way."""

import pickle
from pathlib import Path

import pytest

from commands import Run
from nashboard.cli.reading import make_spelling
from nashboard.errors import ConvergenceError, InputError

TAKEN = ("source", "read", "missing", "prior", "cyclic_prior", "k", "components")


@pytest.mark.parametrize(
    ("hint", "option", "in_python", "typed"),
    [
        ("pass {option}", {"separator": ","}, "pass separator=','", "pass -r separator=,"),
        ("pass {option}", {"separator": "\t"}, r"pass separator='\t'", r"pass -r 'separator=\t'"),
        ("pass {option}", "separator", "pass separator=", "pass -r separator=..."),
        ("pass {a} and {b}", {"a": None, "b": None}, "pass a= and b=", "pass -r a=... and -r b=..."),
        ("pass {option}", {"ignore": ["t 2"]}, "pass ignore=['t 2']", "pass -r 'ignore=t 2'"),
        ("pass {option}", {"ignore": ["a", "b"]}, "pass ignore=['a', 'b']", "pass -r ignore=a,b"),
        (
            "pass {option}",
            {"outcomes": {"x": None, "y": 0.5}},
            "pass outcomes={'x': None, 'y': 0.5}",
            "pass -r outcomes=x:none,y:0.5",
        ),
        ("give {table} or {query}", {"table": None, "query": None}, "give table= or query=", "give --table or --query"),
        ("a larger {option} helps", "prior", "a larger prior= helps", "a larger --prior helps"),
        ("or {option}", {"k": "auto"}, "or k='auto'", "or --k auto"),
        ("evaluate one group", "components", "evaluate one group (components=)", "evaluate one group (--components)"),
        ("use another file", None, "use another file", "use another file"),
    ],
)
def test_options_in_hints_are_spelled_for_the_reader(hint: str, option: object, in_python: str, typed: str) -> None:
    error = InputError("it's wrong", hint, option)  # type: ignore[arg-type] # each case is one of the allowed types
    assert str(error) == f"it's wrong: {in_python}"
    assert error.render(make_spelling(TAKEN)) == f"it's wrong: {typed}"


@pytest.mark.parametrize(
    ("option", "taken"),
    [
        ("scaling", ("source", "read")),  # the command has no such option
        ({"ignore": ["a,b"]}, TAKEN),  # a comma cannot be typed
        ("outcome", ("source",)),  # the command has no -r
    ],
)
def test_a_hint_that_cannot_be_typed_is_left_out(option: object, taken: tuple[str, ...]) -> None:
    error = ConvergenceError("it failed", "pass {option}", option)  # type: ignore[arg-type]
    assert error.render(make_spelling(taken)) == "it failed"


def test_names_of_users_are_never_taken_for_options() -> None:
    error = InputError("'{option}' and 'pass b=' are columns", "pass {option}", "a")
    assert error.render(make_spelling(TAKEN)) == "'{option}' and 'pass b=' are columns: pass -r a=..."


def test_hints_survive_the_way_back_from_a_worker() -> None:
    error = pickle.loads(pickle.dumps(InputError("wrong", "pass {option}", "prior")))
    assert (str(error), error.render(make_spelling(TAKEN))) == ("wrong: pass prior=", "wrong: pass --prior")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,b,winner\nx,x,a\nx,y,b\n", [], "-r self_matches=drop leaves such rows out"),
        ("a,b,outcome,result\nx,y,a,b\n", [], "pass -r outcome=... to choose"),
        (
            "left,right,verdict\nx,y,fine\n",
            ["-r", "outcome=verdict"],
            "pass a rule such as -r outcomes=fine:0.5",
        ),
        ("model;t1;t2\nx;1;2\ny;2;1\n", ["-r", "separator=,"], "another separator can be given with -r separator="),
        ("model,t1,t2\nx,1,good\ny,2,3\n", [], "or the column with -r ignore=t2"),
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


def test_results_of_the_command_are_not_taken_for_data(command: Run, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    command("evaluate", "dataset:rock-paper-scissors", "--resamples", "5", "-o", str(saved))
    said = command("evaluate", str(saved), code=2).stderr
    assert "saved.json' is a result of nashboard (evaluation), not data: nashboard report and" in said
    command("nash", "dataset:rock-paper-scissors", "--format", "json", "-o", str(saved))
    assert "is a result of nashboard (nash), not data" in command("elo", str(saved), code=2).stderr
