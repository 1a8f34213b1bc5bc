"""On a terminal of any width numbers are whole, names are told apart, and what has no room is named."""

import io
import os
import pty
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from fcntl import ioctl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import nashboard as nb
from commands import run
from nashboard._tables import Column, Table, as_terminal_table, width
from nashboard._text import distinct_head, shorten_to

LONG = [f"organisation/model-family-large-v{k:03d}-instruct-2024-05" for k in range(40)]


def drawn(table: Table, columns: int, *, explained: bool = False) -> list[str]:
    console = Console(width=columns, file=io.StringIO(), force_terminal=False)
    console.print(as_terminal_table(table, columns, explained=explained))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def board(names: list[str], *, telling: tuple[str, ...] = ()) -> Table:
    columns = ("rank", "agent", "average", "uniform rank", "games played so far")
    rows = tuple((k + 1, name, -k / 7, k + 1, 1000 * k) for k, name in enumerate(names))
    return Table(columns=tuple(Column(name=name) for name in columns), rows=rows, notes=("A note.",), telling=telling)


def test_a_table_that_fits_is_shown_whole() -> None:
    assert drawn(board(["x", "y"]), 80) == [
        "rank  agent  average  uniform rank  games played so far",
        "───────────────────────────────────────────────────────",
        "   1  x        0.000             1                    0",
        "   2  y       -0.143             2                1,000",
        "A note.",
    ]


def test_headings_wrap_before_a_column_is_given_up() -> None:
    assert drawn(board(["x", "y"]), 37) == [
        "                                games",
        "                      uniform  played",
        "rank  agent  average     rank  so far",
        "─────────────────────────────────────",
        "   1  x        0.000        1       0",
        "   2  y       -0.143        2   1,000",
        "A note.",
    ]


def test_columns_without_room_are_named_with_the_way_to_see_them() -> None:
    lines = drawn(board(["x", "y"]), 30)
    assert lines[1].split() == ["rank", "agent", "average", "rank"]
    said = " ".join(lines[lines.index("A note.") + 1 :])
    assert said == "no room for games played so far: a wider terminal, --format csv or | less -S shows them"


def test_what_has_no_room_is_not_explained() -> None:
    names = ("rank", "agent", "average", "uniform rank", "games played so far")
    columns = tuple(Column(name=name, meaning=f"about {name}") for name in names)
    said = drawn(replace(board(["x", "y"]), columns=columns), 30, explained=True)
    assert "rank: about rank" in said
    assert not any("about games" in line for line in said)


def test_the_most_telling_columns_stay_and_the_rest_comes_together() -> None:
    table = board(["x", "y"], telling=("agent", "games played so far"))
    assert drawn(table, 14)[2].split() == ["agent", "so", "far"]
    assert drawn(table, 36)[0].split() == ["agent", "games", "played", "so", "far"]
    assert drawn(table, 37)[2].split() == ["rank", "agent", "average", "rank", "so", "far"]


def test_a_name_of_thirty_characters_is_never_cut() -> None:
    names = [f"{k:030d}" for k in range(9)]
    assert [line.split()[1] for line in drawn(board(names), 40)[2:11]] == names


def test_longer_names_stay_different_on_a_narrow_screen() -> None:
    shown = [line.split()[1] for line in drawn(board(LONG), 45)[2:42]]
    assert len(set(shown)) == 40
    assert all(name.startswith("org") and name.endswith("05") for name in shown)


def test_a_sentence_wraps_at_words() -> None:
    sentence = "one two three four five six seven eight nine ten eleven twelve"
    table = Table(columns=(Column(name="n"), Column(name="because", most=20)), rows=((1, sentence),))
    lines = drawn(table, 30)
    assert len(lines) == 5
    assert " ".join(" ".join(lines[2:]).split()) == f"1 {sentence}"


def test_characters_that_take_two_columns_are_counted_so() -> None:
    assert max(map(width, drawn(board(["日本" * 40, "x"]), 50))) <= 50


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.text("ab -日", min_size=1, max_size=70), min_size=1, max_size=5),
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    columns=st.integers(20, 120),
)
def test_no_line_is_too_long_and_no_number_is_cut(names: list[str], values: list[float], columns: int) -> None:
    rows = tuple((value, name, value) for name, value in zip(names, values, strict=False))
    table = Table(columns=tuple(Column(name=name) for name in ("value", "name", "again")), rows=rows)
    lines = drawn(table, columns)
    assert max(map(width, lines)) <= columns
    found = [word for line in lines[2:] for word in line.split()]
    assert all(number in found for number, _, _ in table.cells())


def test_long_names_are_cut_where_they_stay_different() -> None:
    head = distinct_head(LONG, 34)
    shown = {shorten_to(name, 34, head) for name in LONG}
    assert len(shown) == 40
    assert {len(name) for name in shown} == {34}
    assert shorten_to("short", 34, head) == "short"
    assert distinct_head(["x" * 50, "y" * 50], 34) == 17


@pytest.mark.thin(3)
@pytest.mark.parametrize(("columns", "real"), [(60, False), (80, True), (120, False)])
def test_a_command_fits_the_terminal_it_runs_in(columns: int, real: bool) -> None:
    lines = (terminal if real else screen)(columns, "evaluate", "dataset:alphago", "--resamples", "5")
    assert max(map(len, lines)) <= columns
    assert not any("…" in line for line in lines)
    assert any("alpha_rvp" in line.split() for line in lines)
    assert "no room for" not in " ".join(lines)


@pytest.mark.parametrize(("columns", "all_fit"), [(60, False), (120, True)])
def test_every_column_of_a_command_is_explained_or_named_as_one_without_room(columns: int, all_fit: bool) -> None:
    words = ("evaluate", "dataset:rock-paper-scissors", "--resamples", "5", "--columns", "all")
    lines = screen(columns, *words)
    assert max(map(len, lines)) <= columns
    assert not any("…" in line for line in lines)
    _, *notes = " ".join(lines).split("no room for ")
    hidden = [name for note in notes for name in note.split(": ")[0].split(", ")]
    assert [note.endswith(": a wider terminal, --format csv or | less -S shows them") for note in notes] == (
        [] if all_fit else [True]
    )
    heads = (
        run(*words, "--format", "csv").stdout.splitlines()[0].split(",")
    )  # there the ends of an interval are columns
    names = {name.removesuffix(" low").removesuffix(" high") for name in heads} - {"agent"}
    explained = {name for name in names if any(line.startswith(f"{name}: ") for line in lines)}
    assert explained | set(hidden) == names
    assert not explained & set(hidden)


class Screen(io.StringIO):
    """A text that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def screen(columns: int, *arguments: str) -> list[str]:
    """Return the lines that a command prints, run in this process, where standard output says it is a terminal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", "xterm")
        patch.setenv("NO_COLOR", "1")
        return lines_of(run(*arguments, out=Screen()).stdout)


def terminal(columns: int, *arguments: str) -> list[str]:
    """Return the lines that a command prints to a real terminal of so many columns."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(
        [sys.executable, "-m", "nashboard", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**environment, "TERM": "xterm", "NO_COLOR": "1"},
    ):
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    return lines_of(said.decode())


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without bold and other styles."""
    for style in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[3m", "\x1b[1;2m", "\x1b[2;3m"):
        text = text.replace(style, "")
    return [line.rstrip() for line in text.splitlines()]


def test_evaluate_shows_on_a_terminal_that_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Screen()
    monkeypatch.setattr(sys, "stderr", shown)
    nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=2, progress=True)
    assert "Evaluating ..." in shown.getvalue()
