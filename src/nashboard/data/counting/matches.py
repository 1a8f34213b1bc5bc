"""From pair counts to `Matches`: everything that can be wrong is checked here, on the small table."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from nashboard._text import listed, number_of, rows_have, shortened
from nashboard.data.counting.outcomes import SKIP, describe_first
from nashboard.data.counting.pairs import UNKNOWN, MatchTable, PairCounts, code_neutral, count_pairs, make_rows
from nashboard.data.games import Games
from nashboard.data.matches import Clusters, Matches, Sides
from nashboard.data.origin import CHOSEN, Fact, LeftOut, Origin, columns_taken
from nashboard.data.segments import Segments, read_each, split_by_value
from nashboard.data.table.exact_sums import Totals, add_exactly
from nashboard.data.table.values import as_number, as_text, describe_values, is_blank, is_sound_weight
from nashboard.data.validation import TWO_SPELLINGS, look_alikes
from nashboard.errors import InputError

Counted = Matches | Segments | Games
COUNTS = ("wins", "draws", "losses")
SIDES = ("first", "second")


def count_matches(table: MatchTable) -> Counted:
    """Return the matches of a table, or of each of its segments, or its games; what is wrong is one clear sentence."""
    found = count_pairs(table)
    if table.rows is not None:
        return list_games(found, table.rows)
    return make_matches(found) if table.segment is None else make_segments(found, table.segment)


def list_games(found: PairCounts, covariates: tuple[str, ...]) -> Games:
    """Return the games of a table one by one, in their order, after the counts have shown that all are sound.

    Grouped, those that are alike but for their results and times are one row, summed up where the data is.
    """
    origin = make_matches(found).origin
    table, frame = found.table, found.table.frame
    more = {"first": as_text(frame, table.a), "second": as_text(frame, table.b)}
    if table.cluster is not None:
        more["cluster"] = as_text(frame, table.cluster)
    more |= {f"covariate {name}": as_number(frame, name) for name in covariates}
    used = (nw.col("left_out") == 0) & (nw.col("ignored") == 0) & (nw.col("first") != nw.col("second"))
    summed = COUNTS if found.words is not None and not found.words.fractions else (*COUNTS, "fractions")
    wanted = [*more, *summed, *(["time"] if table.time else []), *(["neutral"] if table.neutral else [])]
    kept = make_rows(table, found.words, more).filter(used).select(wanted)
    if table.grouped:
        keys = tuple(name for name in wanted if name not in (*summed, "time"))
        rows = table.table.sum_up(Totals(rows=kept, keys=keys, sums=(), fractions=summed)).sort(keys).drop("rows")
    else:
        rows = table.table.collect(kept, in_order=True)
    rows = rows.filter(pl.sum_horizontal(COUNTS) > 0).with_columns(
        *(check_covariate(rows[f"covariate {name}"], name, table.source) for name in covariates)
    )
    if table.neutral:
        rows = rows.with_columns(neutral=pl.col("neutral") == 1)
    elif not table.sided:
        rows = rows.with_columns(neutral=pl.lit(True))
    return Games.from_rows(rows, covariates, origin)


def check_covariate(values: pl.Series, name: str, source: str) -> pl.Series:
    """Return a column of numbers, or raise an error where one is missing."""
    if missing := int((~values.is_finite().fill_null(value=False)).sum()):
        raise InputError(
            f"{source!r}, column {name!r}: {rows_have(missing)} no number; a covariate must be a number, or true and "
            f"false, in every game"
        )
    return values


def make_segments(found: PairCounts, column: str) -> Segments:
    """Return the matches of each segment; one that cannot be read is listed with its reason."""
    parts, rest = split_by_value(found.counts)
    # the user's own filters may leave nothing of one
    there = {value: counts for value, counts in parts.items() if (counts["left_out"] == 0).any()}

    def read(value: str, counts: pl.DataFrame) -> Matches:
        table = replace(found.table, notes=(*found.table.notes, f"{CHOSEN} {column} is {value}"))
        return make_matches(replace(found, table=table, counts=counts))

    made, refused = read_each(there, read)
    if not made:
        make_matches(found)  # says what is wrong with all of it
    return Segments(
        column=column,
        parts=made,
        refused=refused,
        without=int(rest.filter(pl.col("left_out") == 0)["rows"].sum()) // found.table.games,
    )


def make_matches(result: PairCounts) -> Matches:
    """Check the counts and put the two directions of each pair together."""
    table, counts = result.table, result.counts
    rows = int(counts["rows"].sum())
    if not rows:
        raise InputError(f"{table.source!r} has columns but no rows")
    kept = counts.filter(pl.col("left_out") == 0)
    if kept.is_empty():
        dropped = counts.group_by("left_out").agg(pl.col("rows").sum()).sort("rows", "left_out").row(-1)
        why = table.filters[dropped[0] - 1].why
        there = describe_values(table.table, table.filters)
        raise InputError(f"{table.source!r}: none of {number_of(rows, 'rows')} is left: {why}{there}")
    refuse_nameless(table, kept)
    refuse_weights(table, kept)
    refuse_neutral(table, kept)
    own = kept.filter(pl.col("first") == pl.col("second"))
    times, is_bad = int(own["rows"].sum()), table.self_matches is None and table.skip_bad
    same = as_text(table.frame, table.a) == as_text(table.frame, table.b)
    if times and table.self_matches != "drop" and not is_bad:
        alone = own["first"].unique().sort()
        what = f": {listed(alone, 3)} met {'itself' if len(alone) == 1 else 'themselves'} in {number_of(times, 'rows')}"
        refuse_rows(table, same, times, what, "{option} leaves such rows out", {"self_matches": "drop"})
    others = kept.filter(pl.col("first") != pl.col("second"))
    if others.is_empty():
        raise InputError(
            f"{table.source!r} contains only matches of {own['first'][0]!r} with itself: two agents are needed"
        )
    reasons = [
        *(
            (rule.why, counts.filter(pl.col("left_out") == k)["rows"].sum())
            for k, rule in enumerate(table.filters, start=1)
        ),
        ("an agent met itself", 0 if is_bad else times),
        (describe_ignored(result), kept["ignored"].sum()),
    ]
    of_each = table.games if table.unit == "rows" else 1  # rows of the frame that are one of what is left out
    left_out = tuple(LeftOut(table.unit, int(number) // of_each, why) for why, number in reasons if number)
    if is_bad and times:
        number, here = -(-times // table.games), replace(table.table, frame=table.keep(table.frame))
        where = "" if table.segment else here.describe_rows(same, number)  # they are of all segments
        left_out = (LeftOut("bad rows", number, f"an agent met itself{where}"), *left_out)
    skipped = sum(entry.count for entry in table.table.left_out)
    agents = pl.concat([others["first"], others["second"]]).unique().sort().to_list()
    pairs = order_pairs(others, agents, sided=table.sided)
    counted_sides = [f"{side}_{count}" for side in SIDES for count in COUNTS] if table.sided else []
    squares = ["fractions"] if "fractions" in pairs.columns and (pairs["fractions"] > 0).any() else []
    met = add_exactly(pairs, ("low", "high"), (*COUNTS, *counted_sides, *squares)).sort("low", "high")
    met = met.filter(pl.sum_horizontal(COUNTS) > 0).with_row_index("pair")
    if met.is_empty():
        raise InputError(f"{table.source!r} contains no match with an outcome and a weight above zero")
    names = tuple(f"{listed(group)} {TWO_SPELLINGS}" for group in look_alikes(agents))
    return Matches(
        agents=tuple(agents),
        pairs=met.select("low", "high").to_numpy(),
        **{name: met[name].to_numpy() for name in COUNTS},
        origin=Origin(
            source=table.source,
            format=table.format,
            rows=rows // table.games + skipped,
            left_out=(*table.table.left_out, *left_out),
            notes=(*table.notes, *note_uneven_weights(table, kept), *note_mirrored(table, others), *names),
            period=find_period(kept),
            taken=describe_columns(result),
        ),
        clusters=make_clusters(pairs, met) if table.cluster else None,
        sides=Sides(**{side: met.select(f"{side}_{count}" for count in COUNTS).to_numpy() for side in SIDES})
        if table.sided
        else None,
        fractions=met["fractions"].to_numpy() if squares else None,
    )


def describe_ignored(result: PairCounts) -> str:
    """Return why matches with a known label are left out."""
    if result.words is None or result.table.rules:
        return "outcomes= ignores their label"
    words = ", ".join(filter(None, result.words.ignored))
    return f"they were not finished ({words})" if words else f"no score in {result.table.outcome!r}"


def describe_columns(result: PairCounts) -> tuple[Fact, ...]:
    """Return which columns and labels were taken for what; nothing where a format made up columns of its own."""
    table, words = result.table, result.words
    if table.games > 1:
        return ()
    roles = {
        "first agent": table.a,
        "second agent": table.b,
        "outcome": table.outcome,
        "weight": table.weight,
        "time": table.time,
        "cluster": table.cluster,
        "neutral": table.neutral,
        "segment": table.segment,
    }
    shown = {role: table.made.get(name or "", name) for role, name in roles.items()}
    columns = columns_taken(shown, [name for name in table.table.schema.names() if name not in table.made])
    if words is None:
        return (columns,)
    return (columns, Fact("outcomes", repr(shortened(table.outcome)), words.describe(table.a, table.b)))


def order_pairs(counts: pl.DataFrame, agents: list[str], *, sided: bool) -> pl.DataFrame:
    """Return the counts by positions low < high in the list of agents, seen from the lower, and by first side."""
    label = pl.Enum(agents)
    first, second = (pl.col(side).cast(label).to_physical().cast(pl.Int64) for side in ("first", "second"))
    placed = counts.with_columns(first=first, second=second)
    flip = pl.col("first") > pl.col("second")
    seen = placed.with_columns(
        low=pl.min_horizontal("first", "second"),
        high=pl.max_horizontal("first", "second"),
        wins=pl.when(flip).then("losses").otherwise("wins"),
        losses=pl.when(flip).then("wins").otherwise("losses"),
    )
    if not sided:
        return seen
    placed_here = pl.col("neutral") == 0 if "neutral" in seen.columns else pl.lit(value=True)
    return seen.with_columns(
        pl.when(placed_here & (flip if side == "second" else ~flip)).then(count).otherwise(0.0).alias(f"{side}_{count}")
        for side in SIDES
        for count in COUNTS
    )


def make_clusters(pairs: pl.DataFrame, met: pl.DataFrame) -> Clusters:
    """Return the counts split by cluster; rows without a cluster form one for each pair."""
    split = add_exactly(pairs, ("cluster", "low", "high"), COUNTS).sort("cluster", "low", "high")
    split = split.join(met.select("low", "high", "pair"), on=["low", "high"], how="inner", maintain_order="left")
    alone = pl.when(pl.col("cluster").is_null()).then("pair")
    number = split.select(pl.struct("cluster", alone.alias("alone")).rle_id()).to_series().to_numpy()
    return Clusters(
        size=int(number.max()) + 1,
        cluster=number,
        pair=split["pair"].to_numpy(),
        **{name: split[name].to_numpy() for name in COUNTS},
    )


def refuse_nameless(table: MatchTable, kept: pl.DataFrame) -> None:
    """Raise an error where an agent has no name."""
    for side, name in (("first", table.a), ("second", table.b)):
        blank = kept.filter(pl.col(side).is_null() | (pl.col(side).str.strip_chars() == ""))
        if times := int(blank["rows"].sum()):
            if not table.skip_bad:
                table.table.explain()  # a row that is too short is the likelier mistake
            what = f", column {name!r}: {rows_have(times)} no agent name"
            refuse_rows(table, is_blank(table.frame, name), times, what)


def refuse_weights(table: MatchTable, kept: pl.DataFrame) -> None:
    """Raise an error where a weight is missing, negative or not finite."""
    if bad := int(kept["unsound"].sum()):
        assert table.weight is not None
        weight = as_number(table.frame, table.weight)
        what = f", column {table.weight!r}: {rows_have(bad)} a weight that is missing, negative or not finite"
        refuse_rows(table, weight.is_null() | ~is_sound_weight(weight), bad, what)


def refuse_neutral(table: MatchTable, kept: pl.DataFrame) -> None:
    """Raise an error where the column of neutral places holds something else than true and false."""
    if table.neutral is None or not (bad := int(kept.filter(pl.col("neutral") == UNKNOWN)["rows"].sum())):
        return
    what = f", column {table.neutral!r}: {rows_have(bad)} neither true nor false"
    hint = "write true or false, or leave the column out with {option}"
    refuse_rows(table, code_neutral(table.frame, table.neutral) == UNKNOWN, bad, what, hint, {"neutral": False})


def refuse_rows(
    table: MatchTable,
    bad: nw.Expr,
    times: int,
    what: str,
    hint: str = "leave such rows out with {option}",
    option: Mapping[str, Any] = SKIP,
) -> None:
    """Raise an error about bad rows that names the first."""
    where = describe_first(table.describe_first_row(bad), times)
    raise InputError(f"{table.source!r}{what}{where}", hint=hint, option=option)


def note_uneven_weights(table: MatchTable, kept: pl.DataFrame) -> tuple[str, ...]:
    """Return the note about weights that cannot be numbers of games: intervals take them for that."""
    if "uneven" not in kept.columns or not kept["uneven"].sum() or table.cluster is not None:
        return ()  # the rows of a cluster are drawn together, whatever they weigh
    return (
        f"weights in {table.weight!r} are not whole numbers, but intervals take a weight of 5 for five separate games: "
        f"if they say how much a row matters, name a column that tells rows apart as cluster=, or leave them out with "
        f"weight=False",
    )


def note_mirrored(table: MatchTable, counts: pl.DataFrame) -> tuple[str, ...]:
    """Return the note about rows without sides that all stand once for each of the two agents.

    A log of first and second sides may look so by chance, where the better agent always wins.
    """
    if table.sided:
        return ()
    ends = add_exactly(counts, ("first", "second"), COUNTS)
    ends = ends.filter(pl.sum_horizontal(COUNTS) > 0)
    turned = ends.rename({"first": "second", "second": "first", "wins": "losses", "losses": "wins"})
    both = ends.join(turned.select(ends.columns), on=["first", "second"], suffix=" turned")
    same = pl.all_horizontal(pl.col(name) == pl.col(f"{name} turned") for name in COUNTS)
    if len(both.filter(same)) < len(ends):
        return ()
    return (
        "all results stand from both sides, x against y and y against x: if these are the same games, each counts "
        "twice, and one row of each has to go",
    )


def find_period(counts: pl.DataFrame) -> tuple[str, str] | None:
    """Return the earliest and the latest time, as text."""
    if "earliest" not in counts.columns:
        return None
    first, last = counts["earliest"].drop_nulls(), counts["latest"].drop_nulls()
    if first.is_empty() or (first.dtype == pl.String and not first.str.contains(r"^\d{4}[-/.]\d{2}").all()):
        return None  # text sorts as time only where the year stands first
    return spell_moment(first.min()), spell_moment(last.max())


def spell_moment(value: Any) -> str:
    """Return a time as text; large numbers are seconds (or milliseconds) since 1970."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if 1e11 <= number < 1e14:
        number /= 1000
    if not 1e8 <= number < 1e11 or not np.isfinite(number):
        return str(int(number)) if number.is_integer() else str(value)
    return datetime.fromtimestamp(number, UTC).isoformat(sep=" ", timespec="seconds")
