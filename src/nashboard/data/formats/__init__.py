"""The formats that nashboard reads, the most particular first; the first that fits is taken.

To add one: write a file here with a `Format`, and name it in the list below.
"""

from nashboard._text import listed, nearest
from nashboard.data.formats.arena import ARENA, JUDGED
from nashboard.data.formats.every_eval_ever import EVERY_EVAL_EVER
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.games import GAMES
from nashboard.data.formats.inspect_logs import INSPECT
from nashboard.data.formats.leaderboards import LEADERBOARDS
from nashboard.data.formats.lm_eval import LM_EVAL
from nashboard.data.formats.long_scores import LONG_SCORES
from nashboard.data.formats.match_tables import GENERIC_MATCHES, MATCH_TABLES, RESULTS
from nashboard.data.formats.matrices import PAYOFF_MATRIX, RLIABLE
from nashboard.data.formats.wide_scores import BY_TASK, WIDE_SCORES
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


def recognise(source: Input) -> Format:
    """Return the first format that fits."""
    for entry in FORMATS:
        if entry.fits(source):
            return entry
    if source.kind == "directory":
        raise InputError(
            f"{source.name!r} is a folder without tables, games (pgn) or results of a harness that is known: name the "
            f"files, such as '{source.name}/*.json'"
        )
    if source.is_document:
        source.require_document()  # says where it is broken
    what = "a json document" if source.is_document else f"a {source.kind or 'Python'} source"
    content = source.document
    inside = next(iter(content.values()), None) if isinstance(content, dict) else None
    close = "; closest are scores by agent, but their cells are objects" if isinstance(inside, dict) else ""
    raise InputError(
        f"{source.name!r} is {what} in no known layout: looked for harness results, a list of records, scores by agent "
        f"and arrays of runs{close}"
    )
