"""Counts that are already summed: wins, draws and losses per pair of agents, as `Matches.write` writes them."""

from dataclasses import replace

import narwhals as nw
import polars as pl

from nashboard.data.columns import folded, sides
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import from_scan, has_sides
from nashboard.data.matches import Matches
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.errors import InputError

# a row may hold many games, or one: then exactly one of the columns is 1
WON, DRAWN, LOST = ("wins", "win"), ("draws", "draw", "ties", "tie"), ("losses", "loss")
SHARES = dict.fromkeys(WON, 1.0) | dict.fromkeys(DRAWN, 0.5) | dict.fromkeys(LOST, 0.0)


def read_pair_counts(source: Input) -> Matches:
    """Read a table of counts as three weighted logs, one for each outcome."""
    table = source.scan
    a, b = sides(table.columns, table.name, source.options.a, source.options.b)
    named = {folded(name): name for name in table.columns if folded(name) in SHARES}
    source.require(*(words[0] for words in (WON, LOST) if not set(words) & set(named)))
    for name in named.values():
        refuse_counts(table, name)
    frame = without_blank_lines(nw.from_native(table.frame), table.columns, table).to_native()
    stacked = pl.concat(  # the other columns stay for where= and cluster=
        frame.with_columns(
            agent_a=pl.col(a),
            agent_b=pl.col(b),
            outcome=pl.lit(SHARES[word]),
            weight=pl.col(name).cast(pl.Float64, strict=False),
        )
        for word, name in named.items()
    )
    details = {"a": "agent_a", "b": "agent_b", "outcome": "outcome", "weight": "weight", "certain": True}
    options = replace(source.options, a=None, b=None)
    matches = from_scan(replace(source, options=options), "pair-counts", frame=stacked, **details)
    # each row of the table was counted once for every outcome
    left_out = tuple(replace(entry, count=entry.count // len(named)) for entry in matches.origin.left_out)
    origin = replace(matches.origin, rows=matches.origin.rows // len(named), left_out=left_out)
    return replace(matches, origin=origin)


def refuse_counts(table: Scan, column: str) -> None:
    """Raise an error at the first count that is missing, negative or not finite."""
    count = pl.col(column).cast(pl.Float64, strict=False)
    sound = count.is_not_null() & (count >= 0) & count.is_finite()
    filled = without_blank_lines(nw.from_native(table.frame), table.columns, table).to_native()
    numbered = filled.with_row_index("nashboard_row", offset=1)
    bad = table.collect(numbered.filter(~sound).select("nashboard_row", column).head(1))
    if len(bad):
        row, value = bad.row(0)
        raise InputError(
            f"{table.name!r}, data row {row:,}, column {column!r} is {value!r}: a count must be a number of at least 0"
        )


def fits(source: Input) -> bool:
    """Say whether a table has columns for wins and losses; an outcome column beside single ones goes first."""
    columns = set(map(folded, source.columns))
    if not has_sides(source.columns, source.options):
        return False
    return {"wins", "losses"} <= columns or (
        {"win", "loss"} <= columns and not {"winner", "outcome", "result"} & columns
    )


PAIR_COUNTS = (
    Format(
        name="pair-counts",
        makes="matches",
        holds="wins, draws and losses per pair of agents",
        fits=fits,
        read=read_pair_counts,
    ),
)
