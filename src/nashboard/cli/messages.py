"""Error messages as the command line spells them: ``--components``, ``-r separator=,``.

Errors carry their hints as data (`nashboard.errors`); here the options in them are spelled as this command takes them.
"""

import shlex
from collections.abc import Collection

from nashboard.cli.reading import PARSERS
from nashboard.errors import Spelling

DATABASE = ("table", "query")  # options of readers that are also options of the command


def spelling(taken: Collection[str]) -> Spelling:
    """Return how a command with these parameters spells an option; None for an option that it does not have."""
    reads = "read" in taken or "pairs" in taken

    def spell(name: str, value: object) -> str | None:
        typed = None if value is None else typed_value(value)
        if value is not None and typed is None:
            return None
        if name in taken or (name in DATABASE and reads):
            word = f"--{name.replace('_', '-')}"
            return word if typed is None else f"{word} {shlex.quote(typed)}"
        if name in PARSERS and reads:
            return f"-r {name}=..." if typed is None else f"-r {shlex.quote(f'{name}={typed}')}"
        return None

    return spell


def typed_value(value: object) -> str | None:
    """Return a Python value as it is typed: ``['a', 'b']`` as ``a,b`` and ``{'tie': None}`` as ``tie:none``.

    None where it cannot be typed, such as a name with a comma in a list.
    """
    if isinstance(value, dict):
        parts = [f"{key}:{typed_word(one)}" for key, one in value.items()]
    elif isinstance(value, list | tuple):
        parts = [str(one) for one in value]
    else:
        return typed_word(value)
    return None if any("," in part for part in parts) else ",".join(parts)


def typed_word(value: object) -> str:
    """Return one value as it is typed."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value).replace("\t", "\\t")
