"""Tables say the same to people and to machines."""

import ast
import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

import nashboard
from nashboard._tables import (
    MEANINGS,
    NAMES,
    Column,
    Table,
    as_csv,
    as_html,
    as_json,
    as_latex,
    as_markdown,
    as_plain_text,
    format_number,
)
from nashboard._text import either, listed

TABLE = Table(
    title="Board",
    columns=(Column(name="agent"), Column(name="score", meaning="higher is better"), Column(name="games")),
    rows=(("日本", -0.0001, 1200), ("a|b & <i>", float("nan"), None), ("x\ny", 0.5, 3)),
    notes=("A note.",),
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0001, "0.000"), (-0.0, "0.000"), (1234.5, "1,234.500"), (float("nan"), "–"), (-2.5, "-2.500")],
)
def test_a_number_never_reads_minus_zero(value: float, text: str) -> None:
    assert format_number(value) == text


def test_plain_text_is_aligned_by_what_a_terminal_shows() -> None:
    assert as_plain_text(TABLE).splitlines() == [
        "Board",
        "agent      score  games",
        "---------  -----  -----",
        "日本       0.000  1,200",
        "a|b & <i>      –      –",
        "x�y        0.500      3",
        "A note.",
    ]


def test_a_table_shows_itself() -> None:
    assert str(TABLE) == as_plain_text(TABLE)
    assert TABLE._repr_html_() == as_html(TABLE)


def test_html_escapes_every_name() -> None:
    assert "<i>" not in as_html(TABLE)
    assert "a|b &amp; &lt;i&gt;" in as_html(TABLE)


def test_markdown_and_latex_escape_what_is_special_to_them() -> None:
    assert "a\\|b & <i>" in as_markdown(TABLE)
    assert "a|b \\& <i>" in as_latex(TABLE)


def test_csv_and_json_keep_full_precision() -> None:
    assert list(csv.reader(io.StringIO(as_csv(TABLE))))[1] == ["日本", "-0.0001", "1200"]
    assert json.loads(as_json(TABLE))["rows"][1] == {"agent": "a|b & <i>", "score": None, "games": None}


def test_a_long_table_says_how_many_rows_are_not_shown() -> None:
    assert TABLE.head(1).notes == ("... and 2 more rows", "A note.")
    assert TABLE.head(3) is TABLE


def test_text_shortens_a_long_cell_and_machines_get_it_whole() -> None:
    long = "start" + "x" * 20_000 + "end"
    table = replace(TABLE, rows=((long, 1.0, 1),))
    assert as_plain_text(table).splitlines()[3].split() == [f"start{'x' * 35}…{'x' * 36}end", "1.000", "1"]
    assert long in as_csv(table)
    assert long in as_json(table)
    assert long in as_markdown(table)


def test_an_explained_table_says_what_its_numbers_mean_once() -> None:
    columns = (
        Column(name="agent", meaning="name of the agent"),
        Column(name="low", meaning="an end of the interval"),
        Column(name="high", meaning="an end of the interval"),
        Column(name="first", meaning="whether it is first"),
        Column(name="count"),
    )  # a name alone needs no line
    table = Table(columns=columns, rows=(("x", None, 2.0, True, 1), ("y", 1.0, 2.0, False, 1)), notes=("A note.",))
    assert table.with_meanings().notes == (
        "A note.", "low, high: an end of the interval", "first: whether it is first"
    )  # fmt: skip
    assert table.with_meanings(0, 2).notes == ("A note.", "high: an end of the interval")
    assert TABLE.with_meanings().notes == (
        "A note.",
        "score: higher is better",
        "games: games played, or their total weight",
    )


def test_a_column_may_ask_for_more_room() -> None:
    table = Table(columns=(Column(name="meaning", most=200),), rows=(("y" * 200,), ("z" * 201,)))
    lines = as_plain_text(table).splitlines()
    assert (lines[2], len(lines[3]), "…" in lines[3]) == ("y" * 200, 200, True)


def test_what_can_be_chosen_from_is_joined_by_or() -> None:
    assert either(["a"]) == "'a'"
    assert either(name for name in "ab") == "'a' or 'b'"
    assert either("abc") == "'a', 'b' or 'c'"


def test_names_in_messages_are_shortened() -> None:
    assert listed(["a", "b" * 60, "start" + "c" * 100 + "end"]) == (
        f"'a', '{'b' * 60}' and 'start{'c' * 25}…{'c' * 26}end'"
    )


def test_frames_and_files_hold_the_same_cells(tmp_path: Path) -> None:
    table = Table(
        columns=tuple(Column(name=name) for name in ("agent", "value", "value")),
        rows=(("x", 1.5, None), ("<y>", float("nan"), 2)),
    )
    expected = {"agent": ["x", "<y>"], "value": [1.5, None], "value 3": [None, 2]}
    assert table.to_polars().to_dict(as_series=False) == expected
    assert table.to_pandas().isna().to_numpy().tolist() == [[False, False, True], [False, True, False]]
    assert table.to_csv(tmp_path / "t.csv") == "agent,value,value\nx,1.5,\n<y>,,2\n"
    assert (tmp_path / "t.csv").read_bytes() == b"agent,value,value\nx,1.5,\n<y>,,2\n"
    assert "&lt;y&gt;" in table.to_html(tmp_path / "t.html")
    assert (tmp_path / "t.html").read_text(encoding="utf-8") == table.to_html()


def test_every_column_of_every_table_has_a_one_line_meaning() -> None:
    source = Path(nashboard.__file__).parent
    found = [
        (node, path)
        for path in source.rglob("*.py")
        if path.parent.name != "paper"  # its tables have captions
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Column"
    ]
    assert len(found) > 200
    for node, path in found:
        named = {one.arg: one.value for one in node.keywords} | dict(zip(("name", "meaning"), node.args, strict=False))
        name = named["name"]
        if "meaning" not in named and isinstance(name, ast.Constant):
            assert name.value in MEANINGS, f"{path}:{node.lineno}"
    assert not any("\n" in meaning for meaning in MEANINGS.values())


def test_the_meaning_of_every_column_is_shown_below_a_table() -> None:
    table = replace(TABLE, columns=(TABLE.columns[0], TABLE.columns[1], Column("kind", "one of two kinds")))
    assert as_plain_text(table.with_meanings()).splitlines()[-2:] == [
        "score: higher is better",
        "kind: one of two kinds",
    ]
    assert "agent" in NAMES
