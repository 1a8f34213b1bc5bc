"""Run a page of documentation: every block in order, in one folder, as a reader would.

``python tests/pages.py README.md --write`` replaces what the page shows by what it prints, but for blocks with ``...``.

- ``python`` blocks share one namespace; ``sh`` blocks have to succeed. Plain calls of nashboard run in this process,
  everything else by bash.
- A ``text`` block right after one of these is what it prints; ``...`` alone or within a line matches anything.
- A block with ``title="name"`` that is not python or sh is a file of that name in the folder.
- ``<!-- needs: pyspark java -->`` before a block names packages and programs; without them the block is not run.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import commands

FENCE = re.compile(
    r'(?:^<!-- needs: ([\w ]+) -->\n+)?^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE
)
ANYTHING = re.compile(r"^\.\.\.$|(?<!^)\.\.\.", re.MULTILINE)  # not "... 15 more" of a table


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
    """Return what the commands of a block print."""
    lines = [line for line in code.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", "\n".join(lines))
    if all(line.startswith("nashboard ") for line in lines) and not re.search(r"[|&;<>$`*?~{}]", bare):
        return "".join(commands.run(*shlex.split(line, comments=True)[1:]).stdout for line in lines)
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


def run(page: Path) -> list[tuple[str, str]]:
    """Run a page in the current folder; return what it shows and what it prints instead, where they differ."""
    space: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = ""
    wrong = []
    for block in blocks(page.read_text()):
        if block.language != "text":
            printed = None if block.lacks else printed_by(block, page, space)
            continue
        flags = doctest.NORMALIZE_WHITESPACE | (doctest.ELLIPSIS if ANYTHING.search(block.code) else 0)
        unknown = not block.follows or printed is None
        if not (unknown or doctest.OutputChecker().check_output(block.code, printed or "", flags)):
            wrong.append((block.code, printed or ""))
    return wrong


def main() -> None:
    """Run one page in a folder of its own; `nashboard` and `python` are those of this interpreter."""
    page = Path(sys.argv[1]).resolve()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        wrong = run(page)
    if "--write" not in sys.argv:
        sys.exit("".join(f"{page.name} shows\n{shown}\nbut it prints\n{printed}\n" for shown, printed in wrong) or 0)
    text = page.read_text()
    for shown, printed in wrong:
        text = (
            text
            if ANYTHING.search(shown)
            else text.replace(f"```text\n{shown}```", f"```text\n{printed.rstrip()}\n```")
        )
    page.write_text(text)


if __name__ == "__main__":
    main()
