"""What people type, and what comes back on which stream with which exit code."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Run
from nashboard.cli.app import COMMANDS
from nashboard.cli.reading import parse_option, parse_reader_options
from nashboard.errors import InputError


def test_help_names_the_commands_and_shows_examples(command: Run) -> None:
    done = command("--help")
    out = done.stdout
    assert "inspect" in out
    assert "nashboard inspect battles.parquet" in out


@pytest.mark.parametrize("arguments", [["inspct"], ["inspect"], ["inspect", "x", "--formt", "json"]])
def test_wrong_use_exits_with_2_and_says_so_on_standard_error(arguments: list[str], command: Run) -> None:
    done = command(*arguments, code=2)
    out, err = done.stdout, done.stderr
    assert out == ""
    assert "Usage" in err


@pytest.mark.parametrize("wrong", [["--top", "0"], ["--top", "many"], ["--format", "xml"], ["--level", "high"]])
def test_a_wrong_value_is_named_in_plain_words(wrong: list[str], command: Run) -> None:
    err = command("evaluate", "log.csv", *wrong, code=2).stderr
    assert f"Invalid value for '{wrong[0]}'" in err
    assert "Value error" not in err
    assert "Input should" not in err


def test_help_names_values_and_no_types_of_python(command: Run) -> None:
    for name in COMMANDS:
        assert not re.search(r"--[a-z0-9-]+ <(int|float|str|path|list)", command(name, "--help").stdout), name


def test_nobody_is_predicted_against_itself(command: Run) -> None:
    assert "against itself" in command("predict", "dataset:alphago", "Zen", "Zen", code=2).stderr


def test_inspect_fits_one_screen_and_explains_every_number(command: Run) -> None:
    done = command("inspect", "dataset:atari")
    out, err = done.stdout, done.stderr
    assert err == ""
    lines = out.splitlines()
    assert lines[0].split() == ["what", "found", "meaning"]
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("how", ["json", "csv", "md", "latex"])
def test_machines_get_their_formats(how: str, command: Run) -> None:
    done = command("inspect", "dataset:alphago", "--format", how)
    out = done.stdout
    assert out.startswith({"json": "{\n", "csv": "what,", "md": "| what |", "latex": "\\begin{tabular}"}[how])
    if how == "json":
        assert {row["what"]: row["found"] for row in json.loads(out)["rows"]}["agents"] == "8"


def test_datasets_lists_all_and_tells_the_source_of_one(command: Run) -> None:
    done = command("datasets")
    assert "roshambo" in done.stdout
    done = command("datasets", "roshambo")
    assert "Lanctot et al. 2023" in done.stdout
    done = command("datasets", "rosambo", code=2)
    assert "did you mean 'roshambo'?" in done.stderr


def test_columns_can_be_named_on_the_command_line(tmp_path: Path, command: Run) -> None:
    path = tmp_path / "log.csv"
    path.write_text("p,q,who\nx,y,x\ny,z,y\nz,z,draw\n")
    options = ["-r", "a=p", "-r", "b=q", "-r", "outcome=who"]
    done = command("inspect", str(path), *options, code=2)
    assert "-r self_matches=drop leaves such rows out" in done.stderr
    done = command("inspect", str(path), *options, "-r", "self_matches=drop")
    assert "an agent met itself" in done.stdout


@pytest.mark.parametrize(
    ("pair", "found"),
    [
        ("outcomes=ja:1,nein:0,hm: 0.5", {"ja": 1, "nein": 0, "hm": 0.5}),
        ("outcomes=1-0:1,abort:none", {"1-0": 1, "abort": None}),
        ("where=language:English", {"language": "English"}),
        ("where=language:en,turn:1,language:de", {"language": ["en", "de"], "turn": "1"}),
        ("outcomes=ja:1,ja:1.0", {"ja": 1}),
        ("lower_is_better=golf,sprint", ["golf", "sprint"]),
        ("lower_is_better=true", True),
        ("symmetrise=yes", True),
        ("separator=\\t", "\t"),
        ("a=x=y", "x=y"),
    ],
)
def test_reading_options_keep_their_python_names(pair: str, found: object) -> None:
    assert parse_option(pair) == (pair.partition("=")[0], found)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("outcom=x", r"must be NAME=VALUE \(did you mean 'outcome'\?\)"),
        ("outcome", "must be NAME=VALUE"),
        ("symmetrise=perhaps", "must be true or false"),
        ("outcomes=ja", "must be KEY:VALUE"),
        ("outcomes=ja:viel", r"a number in \[0, 1\], or none"),
        ("outcomes=ja:1,ja:none", "gives 'ja' two meanings, 1.0 and None: give it one"),
        ("weight=", "-r weight= has no value: give one after the equals sign, or none to use no such column"),
        ("metric=", "-r metric= has no value: give one after the equals sign$"),
    ],
)
def test_a_wrong_reading_option_is_named(pair: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_option(pair)


def test_a_reading_option_that_stands_twice_adds_up_or_is_an_error() -> None:
    assert parse_reader_options(["where=l:en", "where=l:de,turn:1", "where=l:fr", "a=p"]) == {
        "where": {"l": ["en", "de", "fr"], "turn": "1"},
        "a": "p",
    }
    assert parse_reader_options(["ignore=x,y", "ignore=z"]) == {"ignore": ["x", "y", "z"]}
    assert parse_reader_options(["outcomes=ja:1", "outcomes=nein:0"]) == {"outcomes": {"ja": 1, "nein": 0}}
    assert parse_reader_options(["weight=w", "weight=w"]) == {"weight": "w"}
    with pytest.raises(InputError, match="-r weight= is given twice, as 'v' and as 'w': give it once"):
        parse_reader_options(["weight=v", "weight=w"])
    with pytest.raises(InputError, match=r"gives 'ja' two meanings, 1\.0 and 0\.0"):
        parse_reader_options(["outcomes=ja:1", "outcomes=ja:0"])


def test_where_with_two_values_keeps_the_rows_of_both(tmp_path: Path, command: Run) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner,language,weight\nx,y,a,en,2\nx,y,b,de,2\nx,y,b,fr,2\n")
    for options in (["-r", "where=language:en,language:de"], ["-r", "where=language:en", "-r", "where=language:de"]):
        done = command("inspect", str(path), *options, "-r", "weight=none", "--format", "csv")
        assert "games,2," in (found := done.stdout)
        assert "left out,1 row,language is not en or de" in found
    done = command("inspect", str(path), "-r", "cluster=false", "--format", "csv")
    assert "column 'weight' is used: a row of weight 2 counts as two matches" in done.stdout


def test_an_agent_has_one_anchor(tmp_path: Path, command: Run) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\nx,y,a\nx,y,b\n")
    done = command("elo", str(path), "--anchor", "x=1500", "--anchor", "x=1600", code=2)
    assert "--anchor gives 'x' two ratings, 1500 and 1600: give one" in done.stderr
    done = command("elo", str(path), "--anchor", "x=1500", "--anchor", "x=1500.0")


def test_output_into_a_pipe_that_closes_early_is_no_error_message() -> None:
    command = f"{sys.executable} -m nashboard datasets | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("name")


def test_ctrl_c_ends_a_command_with_130() -> None:
    code = (
        "import sys, os, signal, threading\n"
        "import nashboard.data.read\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells hide it from jobs in the background
        "from nashboard.cli.app import main\n"
        "sys.argv = ['nashboard', 'inspect', '-']\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "main()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
