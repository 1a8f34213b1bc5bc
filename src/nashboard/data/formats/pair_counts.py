"""Counts that are already summed: wins, draws and losses per pair of agents, as `Matches.write` writes them."""

from dataclasses import replace
from typing import Any

import narwhals as nw

from nashboard.data.chosen import chosen_rows
from nashboard.data.columns import folded, sides
from nashboard.data.engines import collected
from nashboard.data.engines import column as by_name
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import from_rows, has_sides
from nashboard.data.matches import Matches
from nashboard.data.recoding import as_number
from nashboard.data.scan import without_blank_lines
from nashboard.data.spelling import text
from nashboard.errors import InputError

# a row may hold many games, or one: then exactly one of the columns is 1
WON, DRAWN, LOST = ("wins", "win"), ("draws", "draw", "ties", "tie"), ("losses", "loss")
SHARES = dict.fromkeys(WON, 1.0) | dict.fromkeys(DRAWN, 0.5) | dict.fromkeys(LOST, 0.0)


def read_pair_counts(source: Input) -> Matches:
    """Read a table of counts as three weighted logs, one for each outcome."""
    columns, name = source.columns, source.scan.name
    a, b = sides(columns, name, source.options.a, source.options.b)
    named = {folded(column): column for column in columns if folded(column) in SHARES}
    source.require(*(words[0] for words in (WON, LOST) if not set(words) & set(named)))
    rows = without_blank_lines(source.rows, columns, source.disk)
    stacked = nw.concat(
        [  # the other columns stay for where= and cluster=
            rows.with_columns(
                agent_a=by_name(rows, a),
                agent_b=by_name(rows, b),
                outcome=nw.lit(SHARES[word]).cast(nw.Float64),
                weight=as_number(rows, column),
            )
            for word, column in named.items()
        ]
    )
    plain = replace(source, options=replace(source.options, a=None, b=None))
    details = {
        "a": "agent_a",
        "b": "agent_b",
        "outcome": "outcome",
        "weight": "weight",
        "certain": True,
        "sided": False,
    }
    try:
        return from_rows(plain, "pair-counts", rows=stacked, games=len(named), **details)
    except InputError:
        refuse_counts(source, rows, (a, b), list(named.values()))
        raise


def refuse_counts(source: Input, rows: nw.LazyFrame[Any], pair: tuple[str, str], columns: list[str]) -> None:
    """Raise an error at the first count that is missing, negative or not finite, among the rows that are kept."""
    name, table = source.scan.name, source.disk
    if table is not None:
        rows = nw.from_native(rows.to_native().with_row_index("nashboard_row", offset=1))
    for rule in chosen_rows(rows, source.options.where, name, table):
        rows = rows.filter(rule.keep)
    for column in columns:
        count = as_number(rows, column)
        unsound = nw.when((count >= 0) & (count < float("inf"))).then(nw.lit(0)).otherwise(nw.lit(1)) == 1
        shown = [nw.col("nashboard_row")] if table is not None else [text(rows, side).alias(side) for side in pair]
        bad = collected(rows.filter(unsound).select(*shown, cell=text(rows, column)).head(1), name, table)
        if len(bad):
            *place, cell = bad.row(0)
            where = f"data row {place[0]:,}" if table is not None else f"{place[0]!r} against {place[1]!r}"
            raise InputError(
                f"{name!r}, {where}, column {column!r} is {cell!r}: a count must be a number of at least 0"
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
