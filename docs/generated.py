"""The pages that nobody types: every public name, the command line, formats, the json, errors, the changelog.

MkDocs calls `on_files` before it builds, and gets the pages as if they were files. They are made from the package
itself, so they cannot fall behind it.
"""

import ast
import inspect
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
ROOMS = {
    "data": "What comes in: matches, scores, payoffs, and the readers that make them.",
    "algebra": "What it is made of: ratings and cycles, planes, latent skills.",
    "ratings": "Who predicts best: Elo and mElo, by maximum likelihood and online.",
    "equilibrium": "Who is unbeatable: Nash averages, exact and certified.",
    "ranking": "Second opinions: every other way to rank, in one registry.",
    "evaluation": "What it means: the board, how sure it is, the audit, the stress test.",
    "report": "What people see: charts, and one page that can be passed on.",
}


def public_names() -> dict[str, list[tuple[str, str]]]:
    """Return, for each room, its public names and where they are defined, as ``__init__.pyi`` has them."""
    rooms: dict[str, list[tuple[str, str]]] = {}
    for node in ast.parse((ROOT / "src" / "nashboard" / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            room = node.module.partition(".")[0]
            rooms.setdefault(room, []).extend(
                (name.name, f"nashboard.{node.module}.{name.name}") for name in node.names
            )
    return rooms


def room_page(room: str, names: list[tuple[str, str]]) -> str:
    """Return the reference of a room; of a module that is public as a whole, each of its names."""
    if room == "report":
        names = [(f"charts.{name}", f"nashboard.charts.{name}") for name in charts()]
    return f"# {room.capitalize()}\n\n{ROOMS[room]}\n\n" + "\n\n".join(f"::: {path}" for _, path in names) + "\n"


def charts() -> list[str]:
    """Return the names of all charts."""
    import nashboard

    return list(nashboard.charts.__all__)


def index_page(rooms: dict[str, list[tuple[str, str]]]) -> str:
    """Return the list of all public names with their first sentences."""
    import nashboard

    parts = ["# Reference\n\nEverything that is public, as `nashboard` has it. `import nashboard as nb`.\n"]
    for room, names in rooms.items():
        page = f"{room}.md" if room in ROOMS else "errors.md"
        title = f"{room.capitalize()}: {ROOMS[room][0].lower()}{ROOMS[room][1:]}" if room in ROOMS else "Errors"
        parts.append(f"## {title}\n")
        if room == "report":
            parts += [f"- [`nb.charts.{name}`]({page}#nashboard.charts.{name})" for name in charts()]
            continue
        for name, path in names:
            said = inspect.getdoc(getattr(nashboard, name)) or ""
            parts.append(f"- [`nb.{name}`]({page}#{path}): {' '.join(said.split(chr(10) * 2)[0].split())}")
        parts.append("")
    return "\n".join(parts)


def command_page() -> str:
    """Return the help of every command, as the command itself prints it."""
    import click
    import typer.main

    from nashboard.cli.app import app

    command = typer.main.get_command(app)
    parts = ["# Command line\n", "`nashboard COMMAND --help` prints the same. Data go to standard output, messages to "]
    parts[-1] += "standard error. Exit code 0: done; 1: failed; 2: wrong use or wrong input; 130: interrupted; "
    parts[-1] += "141: the reader of a pipe has gone; 143: terminated.\n"
    with click.Context(command, info_name="nashboard") as context:
        parts.append(f"```text\n{command.get_help(context)}\n```\n")
        for name in command.list_commands(context):
            one = command.get_command(context, name)
            with click.Context(one, info_name=f"nashboard {name}", max_content_width=100) as inner:
                parts.append(f"## nashboard {name}\n\n```text\n{one.get_help(inner)}\n```\n")
    return "\n".join(parts)


def formats_page() -> str:
    """Return every layout that is recognised: the text of formats.md, which a test keeps the same."""
    from nashboard.data.formats import FORMATS

    rows = [f"| `{one.name}` | {one.makes} | {one.holds} |" for one in FORMATS]
    return (
        "# Data formats\n\nThe first that fits is taken; `--as NAME` or `format=` chooses one. `nashboard inspect` "
        "shows what was read and what was left out. [How to read my format](how-to/read-my-format.md) shows the "
        "options.\n\n| name | makes | what it is |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def docstring_page(title: str, path: str) -> str:
    """Return a module's own docstring as a page."""
    from importlib import import_module

    said = inspect.getdoc(import_module(path)) or ""
    blocks = re.sub(r"::\n\n((?:    .*\n?|\n)+)", lambda found: f"\n\n{found[1]}", said + "\n")
    return f"# {title}\n\n{blocks}\n"


def examples_page() -> str:
    """Return the list of examples, and the scripts themselves; notebooks are named only."""
    listed = (ROOT / "examples" / "README.md").read_text()
    scripts = sorted((ROOT / "examples").glob("*.py"))
    return listed + "".join(f"\n## {one.name}\n\n````python\n{one.read_text()}````\n" for one in scripts)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    rooms = public_names()
    pages = {
        "reference/index.md": index_page(rooms),
        "reference/command-line.md": command_page(),
        "reference/schema.md": docstring_page("JSON schema", "nashboard.evaluation.document"),
        "reference/errors.md": docstring_page("Errors", "nashboard.errors")
        + "\n".join(f"\n::: {path}" for _, path in rooms["errors"]),
        "examples.md": examples_page(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(),
    }
    pages |= {f"reference/{room}.md": room_page(room, names) for room, names in rooms.items() if room in ROOMS}
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files
