"""Logs with one row per match: the generic layout, and the public ones that differ only in their columns."""

from collections.abc import Sequence
from typing import Any, TypeVar

import narwhals as nw

from nashboard.data.assembly import count_matches
from nashboard.data.chosen import chosen_rows
from nashboard.data.columns import (
    CLUSTER,
    NEUTRAL,
    OPPONENT,
    OUTCOME,
    TIME,
    WEIGHT,
    Named,
    folded,
    one,
    optional,
    sides,
    usual_sides,
)
from nashboard.data.counting import Filter, MatchTable
from nashboard.data.formats.format import Format, Input, Options
from nashboard.data.matches import Matches
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.data.segments import checked_split
from nashboard.errors import InputError

Column = TypeVar("Column")


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
    sided: bool = True,
) -> Matches:
    """Count the matches of a frame; a format's own columns are used where the user named none.

    ``sided`` is whether the first agent of a row is the first side of the match (home, white, left).
    """
    columns = frame.collect_schema().names()
    first, second = sides(columns, source, said_or(options.a, a), said_or(options.b, b))
    result = one("outcome", OUTCOME, columns, source, said_or(options.outcome, outcome))
    weighing = optional("weight", WEIGHT, columns, source, said_or(options.weight, weight))
    if weight is not None and weighing is None:
        raise InputError(
            f"weight=False has no meaning for {format}: its weights are no column, but how it counts games"
        )
    return count_matches(
        MatchTable(
            frame=without_blank_lines(frame, [first, second, result], scan),
            source=source,
            format=format,
            a=first,
            b=second,
            outcome=result,
            weight=weighing,
            weighed=weighing is not None and weighing != weight,
            time=optional("time", TIME, columns, source, options.time),
            cluster=optional("cluster", CLUSTER, columns, source, said_or(options.cluster, cluster)),
            neutral=optional("neutral", NEUTRAL, columns, source, options.neutral),
            sided=sided and folded(second) != OPPONENT,
            filters=(*filters, *chosen_rows(frame, options.where, source, scan)),
            rules=options.outcomes,
            self_matches=options.self_matches,
            scan=scan,
            notes=(*(scan.notes if scan else ()), *notes, *unasked(weighing, options.weight, weight)),
            certain=certain,
            games=games,
            unit=unit,
            split=checked_split(options.segment, frame, source, scan),
        )
    )


def said_or(said: Column | None, usual: Column | None) -> Column | None:
    """Return the column that the user named, or else the one that a format names."""
    return usual if said is None else said


def unasked(found: str | None, said: Named, of_format: str | None) -> tuple[str, ...]:
    """Return the note about a weight that was taken by its name alone: nobody may know that it was."""
    if found is None or said is not None or of_format is not None:
        return ()
    return (
        f"column {found!r} is used: a row of weight 2 counts as two matches; weight=False (on the command line "
        f"-r weight=none) leaves it out",
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
