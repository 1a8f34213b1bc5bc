"""Logs with one row per match: the generic layout, and the public ones that differ only in their columns."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from nashboard.data.assembly import count_matches
from nashboard.data.chosen import chosen_rows
from nashboard.data.columns import CLUSTER, OUTCOME, TIME, WEIGHT, one, optional, sides, usual_sides
from nashboard.data.counting import Filter, MatchTable
from nashboard.data.formats.format import Format, Input, Options
from nashboard.data.matches import Matches
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.data.segments import checked_split


def matches_from(
    frame: nw.LazyFrame[Any],
    options: Options,
    *,
    source: str,
    format: str,
    scan: Scan | None = None,
    filters: tuple[Filter, ...] = (),
    a: str | None = None,
    b: str | None = None,
    outcome: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    notes: tuple[str, ...] = (),
    certain: bool = False,
    games: int = 1,
    unit: str = "rows",
) -> Matches:
    """Count the matches of a frame; a format's own columns stand where the user named none."""
    columns = frame.collect_schema().names()
    first, second = sides(columns, source, options.a or a, options.b or b)
    named_cluster = None if options.cluster is False else options.cluster or cluster
    result = one("outcome", OUTCOME, columns, source, options.outcome or outcome)
    return count_matches(
        MatchTable(
            frame=without_blank_lines(frame, [first, second, result], scan),
            source=source,
            format=format,
            a=first,
            b=second,
            outcome=result,
            weight=optional("weight", WEIGHT, columns, source, options.weight or weight),
            time=optional("time", TIME, columns, source, options.time),
            cluster=None if options.cluster is False else optional("cluster", CLUSTER, columns, source, named_cluster),
            filters=(*filters, *chosen_rows(frame, options.where, source, scan)),
            rules=options.outcomes,
            self_matches=options.self_matches,
            scan=scan,
            notes=(*(scan.notes if scan else ()), *notes),
            certain=certain,
            games=games,
            unit=unit,
            split=checked_split(options.segment, frame, source, scan),
        )
    )


def from_rows(source: Input, format: str, *, rows: nw.LazyFrame[Any] | None = None, **details: Any) -> Matches:
    """Count the matches of a table in whatever engine it is; ``rows`` stand for its own where a format made them."""
    frame = source.rows if rows is None else rows
    return matches_from(frame, source.options, source=source.scan.name, format=format, scan=source.disk, **details)


def read_generic(source: Input) -> Matches:
    """Read any table with two agents and an outcome per row."""
    return from_rows(source, "matches")


def has_sides(columns: Sequence[str], options: Options) -> bool:
    """Say whether a table has columns for the two agents of a match."""
    return bool(columns) and (options.a is not None or options.b is not None or bool(usual_sides(columns)))


MATCH_TABLES = (
    Format(
        name="evalica",
        makes="matches",
        holds="evalica csv: left, right, winner",
        fits=lambda x: x.has("left", "right", "winner"),
        read=lambda x: from_rows(x, "evalica"),
    ),
    Format(
        name="esportsbench",
        makes="matches",
        holds="EsportsBench",
        fits=lambda x: x.has("competitor_1", "competitor_2", "outcome"),
        read=lambda x: from_rows(x, "esportsbench"),
    ),
)
GENERIC_MATCHES = Format(
    name="matches",
    makes="matches",
    holds="any table with two agents and an outcome per row",
    fits=lambda x: has_sides(x.columns, x.options),
    read=read_generic,
)
