"""An evaluation as a document: text, markdown, LaTeX, csv, json, or the report as a page of HTML."""

from collections.abc import Callable
from pathlib import Path

from nashboard._display import write_report
from nashboard._files import atomically, check_place
from nashboard._tables import Table, as_csv, as_latex, as_markdown, plain
from nashboard._text import either
from nashboard.errors import InputError
from nashboard.evaluation.evaluation import Evaluation


def screens(found: Evaluation) -> list[Table]:
    """Return the board, and the tasks where there are any, for people."""
    tasks = [found.screen(tasks=True)] if found.task_board is not None else []
    return [table.explained() for table in [found.screen(), *tasks]]


def as_text(found: Evaluation) -> str:
    """Return boards, verdict and warnings as plain text."""
    parts = ["\n".join(found.verdict), *map(plain, screens(found))]
    if found.warnings:
        parts.append("\n".join(["Warnings", *found.warnings]))
    return "\n\n".join(parts) + "\n"


def as_page_of_markdown(found: Evaluation) -> str:
    """Return boards, verdict and warnings as markdown."""
    lists = [("Verdict", found.verdict), ("Warnings", found.warnings)]
    verdict, *warnings = [
        "\n".join([f"## {title}", "", *(f"- {line}" for line in lines)]) + "\n" for title, lines in lists if lines
    ]
    return "\n".join([verdict, *map(as_markdown, screens(found)), *warnings])


def as_page_of_latex(found: Evaluation) -> str:
    """Return the boards as LaTeX tables."""
    return "\n".join(map(as_latex, screens(found)))


def as_board_csv(found: Evaluation) -> str:
    """Return the leaderboard as csv with full precision; tasks are in the json."""
    return as_csv(found.leaderboard())


ENDINGS: dict[str, Callable[[Evaluation], str]] = {
    ".json": Evaluation.to_json,
    ".md": as_page_of_markdown,
    ".csv": as_board_csv,
    ".tex": as_page_of_latex,
    ".txt": as_text,
}
PAGE = ".html"


def checked_ending(path: str | Path) -> str:
    """Return the ending that says how to write, or say which there are."""
    ending = Path(path).suffix.lower()
    if ending not in (PAGE, *ENDINGS):
        raise InputError(f"cannot write {str(path)!r}: the name must end in {either([PAGE, *ENDINGS])}")
    return ending


def checked_target(path: str | Path) -> str:
    """Return the ending of a file that can be written, or say at once, not after long work, that none can be."""
    ending = checked_ending(path)
    check_place(path)
    return ending


def write(
    found: Evaluation, path: str | Path, *, title: str | None = None, say: Callable[[str], None] | None = None
) -> None:
    """Write an evaluation whole or not at all, in the format of the path's ending."""
    ending = checked_target(path)
    if ending == PAGE:
        write_report(found, path, title=title, say=say)
        return
    text = ENDINGS[ending](found)
    atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))
