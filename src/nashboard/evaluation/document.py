"""An evaluation as a document: text, markdown, LaTeX, csv, json, or one plain page of HTML."""

import html
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nashboard._tables import Table, as_csv, as_html, as_latex, as_markdown, plain
from nashboard.data.write import atomically
from nashboard.errors import InputError, listed
from nashboard.evaluation.evaluation import Evaluation


def tables(found: Evaluation) -> list[Table]:
    """Return the board, and the tasks where there are any."""
    return [found.leaderboard()] + ([found.tasks()] if found.task_board is not None else [])


def as_text(found: Evaluation) -> str:
    """Return boards, verdict and warnings as plain text."""
    parts = [plain(table) for table in tables(found)]
    parts.append("\n".join(["Verdict", *found.verdict]))
    if found.warnings:
        parts.append("\n".join(["Warnings", *found.warnings]))
    return "\n\n".join(parts) + "\n"


def as_page_of_markdown(found: Evaluation) -> str:
    """Return boards, verdict and warnings as markdown."""
    lists = [("Verdict", found.verdict), ("Warnings", found.warnings)]
    said = ["\n".join([f"## {title}", "", *(f"- {line}" for line in lines)]) + "\n" for title, lines in lists if lines]
    return "\n".join([*map(as_markdown, tables(found)), *said])


def as_page_of_latex(found: Evaluation) -> str:
    """Return the boards as LaTeX tables."""
    return "\n".join(map(as_latex, tables(found)))


def as_board_csv(found: Evaluation) -> str:
    """Return the leaderboard as csv with full precision; tasks are in the json."""
    return as_csv(found.leaderboard())


def as_page(found: Evaluation) -> str:
    """Return one self-contained page: no script, nothing fetched, every name escaped."""
    lists = [("Verdict", found.verdict), ("Warnings", found.warnings)]
    said = "".join(
        f"<h2>{title}</h2><ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"
        for title, lines in lists
        if lines
    )
    meanings = {column.name: column.meaning for table in tables(found) for column in table.columns if column.meaning}
    legend = "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in meanings.items())
    boards = "".join(as_html(replace(table, title="")) for table in tables(found))
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>nashboard</title>"
        "<style>body{font-family:sans-serif;margin:2em}td,th{padding:.1em .6em}dt{font-weight:bold}</style></head>"
        f"<body><h1>{html.escape(repr(found))}</h1>{said}<h2>Boards</h2>{boards}<h2>What the columns mean</h2>"
        f"<dl>{legend}</dl><p>nashboard {html.escape(found.version)}, input {html.escape(str(found.input['hash']))}</p>"
        "</body></html>\n"
    )


ENDINGS: dict[str, Callable[[Evaluation], str]] = {
    ".html": as_page,
    ".json": Evaluation.to_json,
    ".md": as_page_of_markdown,
    ".csv": as_board_csv,
    ".tex": as_page_of_latex,
    ".txt": as_text,
}


def write(found: Evaluation, path: str | Path) -> None:
    """Write an evaluation whole or not at all, in the format of the path's ending."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"cannot write {str(path)!r}: the name must end in {listed(ENDINGS, 9)}")
    text = ENDINGS[ending](found)
    atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
