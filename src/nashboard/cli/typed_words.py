"""Messages of the library in the words of the command line.

The library says ``pass separator=','``, which helps in Python; who typed a command is told ``pass -r separator=,``. It
is done here, once, for every message and every command, with the options that the command has.
"""

import ast
import functools
import inspect
import re
import shlex
from collections.abc import Callable, Collection
from typing import Any, ParamSpec

from nashboard.cli.reading import PARSERS
from nashboard.errors import NashboardError

Parameters = ParamSpec("Parameters")

OWN = {"table": "--table", "query": "--query", "prior": "--prior", "cyclic_prior": "--cyclic-prior", "k": "--k"}
QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
VALUE = rf"(?:{QUOTED}|\[(?:{QUOTED}|[^\]'\"])*\]|\{{(?:{QUOTED}|[^}}'\"])*\}}|(?![\w\[{{'\"]))"
# a quoted text is somebody's name or value, and stays: only what stands outside is ours
WORDS = re.compile(rf"(?<!\w)(?:{QUOTED})(?!\w)|(?<![\w'\"-])(?<!-r )(?P<name>[a-z_]+)=(?P<value>{VALUE})")
WHOLE_TABLE = "use drop('agents'), drop('tasks') or fill('mean')"
WHOLE_TABLE_TYPED = "use --missing drop-agents, drop-tasks, mean, median or worst"
HINT = " (on the command line "  # what a message says for both; here it would be said twice


def in_typed_words(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Return a command whose errors name options as they are typed."""
    taken = inspect.signature(command).parameters

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except NashboardError as error:
            error.args = (typed(str(error), taken), *error.args[1:])
            raise

    return run


def typed(message: str, taken: Collection[str]) -> str:
    """Return a message with the options of a command, which takes these, as they are typed."""
    if "missing" in taken:
        message = message.replace(WHOLE_TABLE, WHOLE_TABLE_TYPED)

    def replaced(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if name in OWN and name in taken:
            meant, written = said(value), OWN[name]
        elif name in PARSERS and ("read" in taken or "pairs" in taken):
            meant, written = said(value), f"-r {name}=..."
        else:
            return found[0]
        if meant == "":
            return written
        if meant is None:
            return found[0]
        return f"{written} {meant}" if name in OWN else f"-r {shlex.quote(f'{name}={meant}')}"

    shorter = without_hint(message)
    found = WORDS.sub(replaced, shorter)
    if found == shorter:
        return message
    return found.replace(" or None ", " or none ") if "-r outcomes=" in found or "-r 'outcomes=" in found else found


def without_hint(message: str) -> str:
    """Return a message without what it says in brackets about the command line; brackets may stand within."""
    start = message.find(HINT)
    depth = 0
    for end in range(start + 1, len(message) if start >= 0 else 0):
        depth += {"(": 1, ")": -1}.get(message[end], 0)
        if depth == 0:
            return message[:start] + message[end + 1 :]
    return message


def said(value: str) -> str | None:
    """Return a Python value as it is typed, ``['a', 'b']`` as ``a,b`` and ``{'tie': None}`` as ``tie:none``.

    Nothing is nothing; None what cannot be typed, such as a name with a comma in a list.
    """
    if not value:
        return ""
    try:
        meant: Any = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # part of a longer text that was cut short
        return None
    if isinstance(meant, str):
        return meant.replace("\t", "\\t")
    pairs = meant.items() if isinstance(meant, dict) else [(one, None) for one in meant]
    parts = [f"{key}:{'none' if one is None else one}" if isinstance(meant, dict) else str(key) for key, one in pairs]
    return None if any("," in part for part in parts) else ",".join(parts)
