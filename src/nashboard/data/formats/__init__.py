"""The formats that nashboard reads, the most particular first; the first that fits is taken.

To add one: write a file here with a `Format`, and name it in the list below.
"""

from nashboard._text import listed, nearest
from nashboard.data.formats.arena import ARENA
from nashboard.data.formats.every_eval_ever import EVERY_EVAL_EVER
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.games import GAMES
from nashboard.data.formats.judged import JUDGED
from nashboard.data.formats.leaderboards import LEADERBOARDS
from nashboard.data.formats.lm_eval import LM_EVAL
from nashboard.data.formats.long_scores import LONG_SCORES
from nashboard.data.formats.match_tables import GENERIC_MATCHES, MATCH_TABLES
from nashboard.data.formats.pair_counts import PAIR_COUNTS
from nashboard.data.formats.payoff_matrix import PAYOFF_MATRIX
from nashboard.data.formats.rliable import RLIABLE
from nashboard.data.formats.wide_scores import WIDE_SCORES
from nashboard.errors import InputError

FORMATS: tuple[Format, ...] = (
    *GAMES,
    LM_EVAL,
    EVERY_EVAL_EVER,
    *ARENA,
    *JUDGED,
    *MATCH_TABLES,
    *PAIR_COUNTS,
    *LEADERBOARDS,
    RLIABLE,
    PAYOFF_MATRIX,
    GENERIC_MATCHES,
    LONG_SCORES,
    WIDE_SCORES,
)


# Layouts that are known by their columns alone, so that a frame can have them too.
FRAME_FORMATS: tuple[Format, ...] = (*ARENA, *JUDGED, *PAIR_COUNTS, *LEADERBOARDS[:2])


def named(name: str) -> Format:
    """Return the format of that name, or say which there are."""
    for entry in FORMATS:
        if entry.name == name:
            return entry
    names = [entry.name for entry in FORMATS]
    raise InputError(f"there is no format {name!r}{nearest(name, names)}: there are {listed(names, 99)}")


def recognised(source: Input) -> Format:
    """Return the first format that fits."""
    for entry in FORMATS:
        if entry.fits(source):
            return entry
    if source.kind == "directory":
        raise InputError(
            f"{source.name!r} is a folder without tables (parquet, csv, tsv, json lines) and without results of "
            f"lm-evaluation-harness or Every Eval Ever: name the files, such as '{source.name}/*.json'"
        )
    raise InputError(f"{source.name!r} is in no format that nashboard knows; see `nashboard inspect --help`")
