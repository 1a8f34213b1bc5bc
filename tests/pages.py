"""Run a page of documentation: every block in order, in one folder, as a reader would.

- ``python`` blocks share one namespace; ``sh`` blocks are run by bash and have to succeed.
- A ``text`` block right after one of these is what it prints; ``...`` stands for anything.
- A block with ``title="name"`` that is not python or sh is a file of that name in the folder.
- ``<!-- needs: pyspark java -->`` before a block names packages and programs; without them the block is not run.
"""

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

FENCE = re.compile(
    r'(?:^<!-- needs: ([\w ]+) -->\n+)?^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE
)
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block of a page; ``follows`` tells that nothing but blank lines lies before it and the last one."""

    needs: tuple[str, ...]
    language: str
    title: str | None
    code: str
    follows: bool

    @property
    def lacks(self) -> tuple[str, ...]:
        """What it needs and this machine has neither as a package nor as a program."""
        return tuple(word for word in self.needs if find_spec(word) is None and shutil.which(word) is None)


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    found, end = [], 0
    for match in FENCE.finditer(text):
        needs = tuple((match[1] or "").split())
        found.append(Block(needs, match[2], match[3], match[4], not text[end : match.start()].strip()))
        end = match.end()
    return found


def runs(text: str) -> bool:
    """Tell whether a page has anything to run."""
    return any(block.language in ("python", "sh") for block in blocks(text))


def lacks(text: str) -> list[str]:
    """Return what some block of a page needs and this machine lacks."""
    return sorted({word for block in blocks(text) for word in block.lacks})


def shell(code: str) -> str:
    """Return what bash prints."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], capture_output=True)
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode} of:\n{code}\n{done.stderr.decode()}")
    return done.stdout.decode()


def printed_by(block: Block, page: Path, space: dict[str, object]) -> str:
    """Run a block, or make the file that it is; return what it prints."""
    if block.language == "sh":
        return shell(block.code)
    if block.language == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.code, page.name, "exec"), space)
        return out.getvalue()
    if block.title:
        Path(block.title).write_text(block.code)
    return ""


def run(page: Path) -> None:
    """Run a page in the current folder; `nashboard` and `python` are those of this interpreter."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    space: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = ""
    for block in blocks(page.read_text()):
        if block.language != "text":
            printed = None if block.lacks else printed_by(block, page, space)
            continue
        shown = not block.follows or printed is None or doctest.OutputChecker().check_output(block.code, printed, LOOSE)
        if not shown:
            raise AssertionError(f"{page.name} shows\n{block.code}\nbut it prints\n{printed}")


if __name__ == "__main__":
    run(Path(sys.argv[1]))
