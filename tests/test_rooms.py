"""A room imports only from rooms above it, also inside functions."""

import ast
from collections.abc import Iterator
from pathlib import Path

import nashboard

ROOT = Path(nashboard.__file__).parent
ROOMS = (  # as in the listing of the design: root modules, then top to bottom
    "", "data", "algebra", "equilibrium", "ratings", "online", "ranking", "evaluation", "charts", "report", "paper",
    "cli",
)  # fmt: skip
DOORS = {"_display.py"}  # charts and report for results, imported by name
FRONT = {"__init__.py", "__main__.py"}  # of the package itself


def room_of(path: Path) -> str:
    return path.parts[0] if len(path.parts) > 1 else ""


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "nashboard":
            yield from (f"nashboard.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            yield from (str(part.value) for part in node.args[:1] if isinstance(part, ast.Constant))


def test_every_folder_is_a_room_and_imports_only_from_rooms_above() -> None:
    assert {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()} == set(ROOMS) - {""}
    upward = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT)
        if str(name) in DOORS | FRONT:
            continue
        for module in imported(ast.parse(path.read_text(encoding="utf-8"))):
            parts = module.split(".")
            if parts[0] == "nashboard" and len(parts) > 1 and parts[1] in ROOMS:
                here, there = ROOMS.index(room_of(name)), ROOMS.index(parts[1])
                if there > here:
                    upward.append(f"{name} imports {module}")
    assert upward == []
