"""The formats that nashboard reads, the most particular first; the first that fits is taken.

To add one: write a file here with a `Format`, and name it in the list below.
"""

from typing import Any

from nashboard._text import listed, nearest, shortened
from nashboard.data.formats.arena import ARENA, JUDGED
from nashboard.data.formats.every_eval_ever import EVERY_EVAL_EVER
from nashboard.data.formats.format import MOST_LOOKED_AT, Format, Input
from nashboard.data.formats.games import GAMES
from nashboard.data.formats.inspect_logs import INSPECT
from nashboard.data.formats.leaderboards import LEADERBOARDS
from nashboard.data.formats.lm_eval import LM_EVAL
from nashboard.data.formats.long_scores import LONG_SCORES
from nashboard.data.formats.match_tables import GENERIC_MATCHES, MATCH_TABLES, RESULTS
from nashboard.data.formats.matrices import PAYOFF_MATRIX, RLIABLE
from nashboard.data.formats.wide_scores import BY_TASK, WIDE_SCORES
from nashboard.data.sources.frames import is_record_list
from nashboard.data.table.columns import AGENT, find_usual
from nashboard.errors import InputError

FORMATS: tuple[Format, ...] = (
    *GAMES,
    *INSPECT,
    *LM_EVAL,
    EVERY_EVAL_EVER,
    *ARENA,
    *JUDGED,
    *MATCH_TABLES,
    *RESULTS,
    *LEADERBOARDS,
    RLIABLE,
    PAYOFF_MATRIX,
    BY_TASK,
    GENERIC_MATCHES,
    LONG_SCORES,
    WIDE_SCORES,
)


def find_format(name: str) -> Format:
    """Return the format of that name, or raise an error that lists them."""
    for entry in FORMATS:
        if entry.name == name:
            return entry
    names = [entry.name for entry in FORMATS]
    raise InputError(f"there is no format {name!r}{nearest(name, names)}: there are {listed(names, 99)}")


def recognise(source: Input) -> tuple[Format, Input]:
    """Return the first format that fits, and the source as it is read: with the cells of objects, if it needs them."""
    entry = next((entry for entry in FORMATS if entry.fits(source)), None)
    if entry in (None, WIDE_SCORES) and (flat := source.flat) is not None:
        inside = next((entry for entry in FORMATS if entry.on_frames and entry.fits(flat)), None)
        named = find_usual(AGENT, flat.columns) and not find_usual(AGENT, source.plain_columns)
        if inside is not None and (inside is not WIDE_SCORES or named):
            return inside, flat
    if entry is not None:
        return entry, source
    if source.kind == "directory":
        raise InputError(
            f"{source.name!r} is a folder without tables, games (pgn) or results of a harness that is known: name the "
            f"files, such as '{source.name}/*.json'"
        )
    if source.is_document:
        source.require_document()  # says where it is broken
    what = "a json document" if source.is_document else f"a {source.kind or 'Python'} source"
    raise InputError(
        f"{source.name!r} is {what} in no known layout: looked for harness results, a list of records, scores by agent "
        f"and arrays of runs{describe_closest(source.document)}"
    )


def describe_closest(content: Any) -> str:
    """Return what a json document is closest to: a list of records further down, or an object of objects."""
    found: list[tuple[tuple[str, ...], Any]] = [((), content)]
    for path, value in found:
        if len(found) > MOST_LOOKED_AT:
            break
        if is_record_list(value):
            return f"; closest is the list of records in {' > '.join(path)!r}: save it as a file of its own"
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        found += [((*path, shortened(str(key))), part) for key, part in inside if isinstance(part, dict | list)]
    is_tree = isinstance(content, dict) and isinstance(next(iter(content.values()), None), dict)
    return "; closest are scores by agent, but their cells are objects" if is_tree else ""
