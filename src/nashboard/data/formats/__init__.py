"""The formats that nashboard reads, the most particular first; the first that fits is taken.

To add one: write a file here with a `Format`, and name it in the list below.
"""

from nashboard._text import listed, nearest
from nashboard.data.formats.arena import ARENA
from nashboard.data.formats.every_eval_ever import EVERY_EVAL_EVER
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.games import GAMES
from nashboard.data.formats.inspect_logs import INSPECT
from nashboard.data.formats.judged import JUDGED
from nashboard.data.formats.leaderboards import LEADERBOARDS
from nashboard.data.formats.lm_eval import LM_EVAL
from nashboard.data.formats.long_scores import LONG_SCORES
from nashboard.data.formats.match_tables import GENERIC_MATCHES, MATCH_TABLES
from nashboard.data.formats.payoff_matrix import PAYOFF_MATRIX
from nashboard.data.formats.results import RESULTS
from nashboard.data.formats.rliable import RLIABLE
from nashboard.data.formats.wide_scores import WIDE_SCORES
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
            f"{source.name!r} is a folder without tables (parquet, csv, tsv, json lines), games (pgn), and results of "
            f"lm-evaluation-harness, Inspect or Every Eval Ever: name the files, such as '{source.name}/*.json'"
        )
    if source.is_document:
        source.require_document()  # says where it is broken
    what = "a json document" if source.is_document else f"a {source.kind or 'Python'} source"
    raise InputError(
        f"{source.name!r} is {what} in no format that is known: looked for results of evaluation harnesses, a list of "
        f"records, scores by agent, and arrays of runs; `nashboard inspect --help` shows how to name columns"
    )
