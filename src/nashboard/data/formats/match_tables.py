"""Logs with one row per match: with an outcome, with winner and loser, with the scores of both, or with counts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import narwhals as nw
import polars as pl

from nashboard._text import listed, shortened
from nashboard.data.counting.matches import Counted, count_matches
from nashboard.data.counting.pairs import MatchTable
from nashboard.data.formats.format import Input, Options
from nashboard.data.matches import NO_COUNTS
from nashboard.data.origin import MAY_BE_ALIKE
from nashboard.data.scores import Scores
from nashboard.data.table.columns import (
    AGENT,
    CLUSTER,
    NEUTRAL,
    OUTCOME,
    REPEATED,
    TIME,
    TIMES,
    WEIGHT,
    Named,
    check_column,
    find_agent_pairs,
    find_column,
    find_outcome,
    find_score_pairs,
    find_side_that_won,
    find_sides,
    find_usual,
    find_win_pairs,
    find_winner_pairs,
    fold,
    is_of_opponent,
    require_column,
)
from nashboard.data.table.table import Table, column
from nashboard.data.table.values import (
    NO,
    NO_SCORE,
    YES,
    Filter,
    as_key,
    as_lower,
    as_number,
    as_text,
    find_cells,
    is_no_number,
    is_sound_weight,
    make_filters,
)
from nashboard.errors import InputError

Column = TypeVar("Column")
LEAST_CLUSTERS = 10  # values of a column that is used for clusters without being asked
MOST_ROWS = 300_000  # of a log whose clusters are used without being asked; of larger ones these rows are looked at
REPEATS = 0.9  # values per row below which they repeat often enough to matter


def read_rows(
    table: Table,
    options: Options,
    *,
    format: str,
    filters: tuple[Filter, ...] = (),
    a: str | None = None,
    b: str | None = None,
    outcome: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    notes: tuple[str, ...] = (),
    sided: bool = True,
    **details: Any,
) -> Counted:
    """Count the matches of a table; a format's own columns are used where the user named none.

    ``sided`` is whether the first agent of a row is the first side of the match (home, white, left); other details are
    those of `MatchTable`.
    """
    columns, name = table.schema.names(), table.name
    first, second = find_sides(columns, name, given_or(options.a, a), given_or(options.b, b))
    result, chosen = find_outcome(columns, name, given_or(options.outcome, outcome), (first, second))
    usual = WEIGHT if find_usual(WEIGHT, columns) else TIMES
    weighing = find_column("weight", usual, columns, name, given_or(options.weight, weight))
    if weight is not None and weighing is None:
        raise InputError(f"weight=False has no meaning for {format}: this format derives weights")
    clustering = find_column("cluster", CLUSTER, columns, name, given_or(options.cluster, cluster))
    repeated: str | None = None
    hint: tuple[str, ...] = ()
    if clustering is None and options.cluster is None:
        repeated, hint = find_repeated(table, {first, second, result, weighing})
    return count_matches(
        MatchTable(
            table=table.drop_blank_lines([first, second, result]),
            format=format,
            a=first,
            b=second,
            outcome=result,
            weight=weighing,
            weighed=weighing is not None and weighing != weight,
            time=find_time(columns, name, options.time),
            cluster=clustering or repeated,
            neutral=find_column("neutral", NEUTRAL, columns, name, options.neutral),
            sided=sided and not is_of_opponent(second),
            filters=(*filters, *make_filters(table, options.where)),
            rules=options.outcomes,
            self_matches=options.self_matches,
            notes=(*table.notes, *notes, *chosen, *note_weight(weighing, options.weight, weight), *hint),
            segment=check_segment(table, options),
            skip_bad=options.skip_bad,
            rows=check_covariates(table, options.rows),
            grouped=options.grouped,
            **details,
        )
    )


def given_or(given: Column | None, usual: Column | None) -> Column | None:
    """Return the column that the user named, or else the one that a format names."""
    return usual if given is None else given


def find_time(columns: Sequence[str], source: str, named: Named) -> str | None:
    """Return the column of times; of several with usual names the first in `TIME`, since it is only shown."""
    if named is not None:
        return find_column("time", TIME, columns, source, named)
    found = {fold(name): name for name in find_usual(TIME, columns)}
    return next((found[name] for name in TIME if name in found), None)


def check_segment(table: Table, options: Options) -> str | None:
    """Return the column of segments if the table has it, with few enough values: one look at that column alone."""
    column, most = options.segment, options.most_segments
    if column is None:
        return None
    check_column(column, table.schema.names(), table.name)
    values = table.frame.select(value=as_key(table.frame, column)).group_by("value").agg(rows=nw.len())
    if len(table.collect(values.head(most + 2)).drop_nulls()) > most:
        raise InputError(
            f"{table.name!r}, column {column!r} has more than {most:,} values: segments are for columns with up "
            f"to {most:,}"
        )
    return column


def find_repeated(table: Table, taken: set[str | None]) -> tuple[str | None, tuple[str, ...]]:
    """Return the first column of ids, prompts or voters whose values repeat, and a note: its rows may be alike.

    In a large log the column is not used, since one count for each of its values would come back, and the note says so.
    """
    found = {fold(name): name for name in table.schema.names() if name not in taken}
    for repeated in (found[name] for name in REPEATED if name in found):
        each = table.frame.select(value=as_key(table.frame, repeated)).head(MOST_ROWS + 1)
        counts = each.filter(~nw.col("value").is_null()).group_by("value").agg(rows=nw.len())
        totals = table.collect(counts.select(values=nw.len(), rows=nw.col("rows").sum())).row(0)
        values, rows = (int(total or 0) for total in totals)  # a database adds up whole numbers as decimals
        if not LEAST_CLUSTERS <= values <= REPEATS * rows:
            continue
        alike = f"column {repeated!r} has repeated values, and {MAY_BE_ALIKE}"
        if rows > MOST_ROWS:
            return None, (f"{alike}: cluster={repeated!r} (-r cluster={repeated}) makes each value one cluster",)
        apart = "cluster=False (-r cluster=none) treats all rows as independent"
        return repeated, (f"{alike}, so each value is one cluster; {apart}",)
    return None, ()


def check_covariates(table: Table, rows: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the columns that are wanted of each game, if the table has them."""
    for name in rows or ():
        check_column(name, table.schema.names(), table.name)
    return rows


def note_weight(found: str | None, given: Named, of_format: str | None) -> tuple[str, ...]:
    """Return the note about a weight that was taken by its name alone: nobody may know that it was."""
    if found is None or given is not None or of_format is not None:
        return ()
    return (
        f"column {found!r} is used: a row of weight 2 counts as two matches; weight=False "
        f"(-r weight=none) leaves it out",
    )


def read_table(source: Input, format: str, *, rows: nw.LazyFrame[Any] | None = None, **details: Any) -> Counted:
    """Count the matches of a source in whatever engine it is; ``rows`` replace its own where a format made them."""
    table = source.table if rows is None else replace(source.table, frame=rows)
    return read_rows(table, source.options, format=format, **details)


def read_generic(source: Input) -> Counted:
    """Read any table with two agents and an outcome per row."""
    table = source.table
    return read_table(source, "matches" if table.kind is not None or table.engine == "json" else table.engine)


def has_sides(source: Input) -> bool:
    """Return whether a table has columns for the two agents of a match."""
    options = source.options
    if not source.columns:
        return False
    return options.a is not None or options.b is not None or bool(find_agent_pairs(source.plain_columns))


def fits_generic(source: Input) -> bool:
    """Return whether a table has two agents; a table of scores may have tasks that are called like sides of a match."""
    if not has_sides(source):
        return False
    asked = source.options.a is not None or source.options.outcome is not None
    scored = bool(find_usual(AGENT, source.columns))  # by another column: the sides may be tasks of a table of scores
    if asked or (find_usual(OUTCOME, source.columns) and not (scored and are_numbers(source))):
        return True
    if scored or source.wanted is Scores:
        return False
    return source.wanted is not None or not are_numbers(source)  # who asks for matches is told what they lack


def are_numbers(source: Input) -> bool:
    """Return whether the first rows of the columns that are called like agents have numbers, and hardly any words."""
    table, sides = source.table, [name for pair in find_agent_pairs(source.columns) for name in pair]
    plain = [name for name in sides if name not in table.nested]
    words = {name: nw.when(is_no_number(table.frame, name)).then(nw.lit(1)).otherwise(nw.lit(0)) for name in plain}
    head = table.collect(table.frame.head(LOOK).select(**words)) if words else None
    return head is not None and all(2 * column.sum() < max(len(head), 1) for column in head)


LOOK, WIN = 1000, "win"  # rows that are looked at, and the word for a win where the other side has its reason to lose
STRICT_OUTCOMES = {"winner", "outcome", "result", "ftr"}  # columns that say who won, beside the scores of both
# a row may hold many games, or one: then exactly one of the columns is 1
WON, DRAWN, LOST = ("wins", "win", "w"), ("draws", "draw", "ties", "tie", "d"), ("losses", "loss", "l")
SHARES = dict.fromkeys(WON, 1.0) | dict.fromkeys(DRAWN, 0.5) | dict.fromkeys(LOST, 0.0)


def read_winner_loser(source: Input) -> Counted:
    """Read a row per match that names the winner and the loser; where ids are beside names, names are taken."""
    found = find_winner_pairs(source.columns)
    if not found:
        raise InputError(
            f"{source.name!r} has no columns for winner and loser: its columns are {listed(source.columns, 12)}"
        )
    winner, loser = found[0]
    others = [name for pair in found[1:] for name in pair]
    same = (f"{listed(others)} name the same agents and are not used",) if others else ()
    rows = source.table.frame.with_columns(nashboard_outcome=nw.lit(1.0).cast(nw.Float64))
    return read_table(
        source, "winner-loser", rows=rows, a=winner, b=loser, outcome="nashboard_outcome", certain=True, sided=False,
        notes=(f"the first of each match is the winner, {winner!r}", *same), made={"nashboard_outcome": ()},
    )  # fmt: skip


def fits_winner_loser(source: Input) -> bool:
    """Return whether a table names winners and losers, and not the two sides of a match besides."""
    columns = source.plain_columns
    return source.options.a is None and bool(find_winner_pairs(columns)) and not find_agent_pairs(columns)


def read_two_scores(source: Input) -> Counted:
    """Read a row per match with what both sides scored; matches without scores are left out and counted."""
    columns, name = source.columns, source.name
    a, b = find_sides(columns, name, source.options.a, source.options.b)
    found = find_score_pairs(columns)
    if not found:
        raise InputError(f"{name!r} has no columns for the scores of both sides: its columns are {listed(columns, 12)}")
    home, away = found[0]
    table = source.table.drop_blank_lines([a, b, home, away])
    frame = table.frame
    if WIN in set(table.collect(frame.select(as_text(frame, home).alias("word")).head(LOOK))["word"]):
        ours, theirs = ((as_lower(frame, name) == WIN).cast(nw.Int64) for name in (home, away))  # as chess.com has it
        note = f"{WIN!r} in {home!r} or {away!r} says who won; otherwise it is a draw"
    else:
        note = f"the higher of {home!r} and {away!r} wins"
        for score in (home, away):
            table = check_numbers(table, score, (a, b), "against", skip=source.options.skip_bad)
        frame = table.frame
        ours, theirs = as_number(frame, home), as_number(frame, away)
    share = (
        nw.when(ours > theirs)
        .then(nw.lit(1.0))
        .otherwise(nw.when(ours < theirs).then(nw.lit(0.0)).otherwise(nw.lit(0.5)))
    )
    played = nw.when(ours.is_null() | theirs.is_null()).then(nw.lit(0)).otherwise(nw.lit(1)) == 1
    rows = frame.with_columns(nashboard_outcome=share.cast(nw.Float64))
    return read_rows(
        replace(table, frame=rows),
        source.options,
        format="two-scores",
        filters=(Filter(keep=played, why=f"no score in {home!r} or {away!r}"),),
        a=a,
        b=b,
        outcome="nashboard_outcome",
        notes=(note,),
        certain=True,
        made={"nashboard_outcome": (home, away)},
    )


def check_numbers(table: Table, name: str, pair: tuple[str, str], between: str, *, skip: bool) -> Table:
    """Raise an error at a cell that is neither a number nor missing, or leave such rows out.

    ``pair`` are the two columns that say whose cell it is, and ``between`` the word between them.
    """
    if not skip and ((kind := table.schema[name]).is_numeric() or kind == nw.Boolean):
        return table  # an infinite one is named with all counts and scores
    bad = is_no_number(table.frame, name)
    if skip:
        return table.skip_rows(bad, f"no number in {name!r}")
    if (found := find_cells(table, bad, (*pair, name))) is not None:
        table.explain()
        row, a, b, cell = found
        who = f"{shortened(str(a))!r} {between} {shortened(str(b))!r}"
        where = f"data row {row:,} ({who}), column {name!r}" if row else f"column {name!r}, {who},"
        what = "a finite number" if "inf" in str(cell).casefold() else "a number"
        raise InputError(
            f"{table.name!r}, {where} is {str(cell)[:60]!r}, not {what}",
            hint=f"{NO_SCORE}, or leave such rows out with {{option}}",
            option={"bad_rows": "skip"},
        )
    return table


def fits_two_scores(source: Input) -> bool:
    """Return whether a table has the scores of both sides, and no column that says who won."""
    if not has_sides(source) or source.options.outcome is not None:
        return False
    said = [name for name in source.plain_columns if fold(name) in STRICT_OUTCOMES]
    pairs = find_score_pairs(source.columns)
    return bool(pairs) and all(is_margin(source, name) for name in said) and not is_decided_elsewhere(source, pairs[0])


def is_decided_elsewhere(source: Input, scores: tuple[str, str]) -> bool:
    """Return whether a column such as ``radiant_win`` says that a side won with the lower score: scores are kills."""
    table, options = source.table, source.options
    won = find_side_that_won(source.plain_columns, find_sides(source.columns, source.name, options.a, options.b))
    if won is None:
        return False
    frame = table.frame
    word, ours, theirs = as_lower(frame, won), *(as_number(frame, name) for name in scores)
    other = ((ours < theirs) & word.is_in(YES)) | ((ours > theirs) & word.is_in(NO))
    count = nw.when(other).then(nw.lit(1)).otherwise(nw.lit(0))
    return bool(table.collect(frame.head(LOOK).select(count=count).select(nw.col("count").sum())).item())


def is_margin(source: Input, name: str) -> bool:
    """Return whether a column called an outcome has numbers beyond [0, 1], such as a goal difference."""
    table = source.table
    size = as_number(table.frame, name).abs().max()
    return bool((table.collect(table.frame.head(LOOK).select(size=size)).item() or 0) > 1)


def read_pair_counts(source: Input) -> Counted:
    """Read a table of counts as three weighted logs, one for each outcome."""
    columns, name = source.columns, source.name
    a, b = find_sides(columns, name, source.options.a, source.options.b)
    shares = {column: SHARES[fold(column)] for column in columns if fold(column) in SHARES}
    if won := find_win_pairs(columns):
        shares = {column: share for column, share in shares.items() if share == 0.5} | dict(
            zip(won[0], (1.0, 0.0), strict=True)
        )
    named = set(shares.values())
    source.require(*(words[0] for words in (WON, LOST) if SHARES[words[0]] not in named))
    table = source.table.drop_blank_lines(columns)
    if source.options.skip_bad:
        for count in shares:
            table = table.skip_rows(is_unsound(table.frame, count), f"no count of at least 0 in {count!r}")
    rows = table.frame
    stacked = nw.concat(
        [  # the other columns stay for where= and cluster=
            rows.with_columns(
                agent_a=column(rows, a),
                agent_b=column(rows, b),
                outcome=nw.lit(share).cast(nw.Float64),
                weight=as_number(rows, count),
            )
            for count, share in shares.items()
        ]
    )
    try:
        return read_rows(
            replace(table, frame=stacked), replace(source.options, a=None, b=None), format="pair-counts",
            a="agent_a", b="agent_b", outcome="outcome", weight="weight", certain=True, games=len(shares), sided=False,
        )  # fmt: skip
    except InputError:
        refuse_counts(source, table, (a, b), list(shares))
        raise


def is_unsound(rows: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return where a count is missing, negative or not finite."""
    return nw.when(is_sound_weight(as_number(rows, name))).then(nw.lit(0)).otherwise(nw.lit(1)) == 1


def refuse_counts(source: Input, table: Table, pair: tuple[str, str], columns: list[str]) -> None:
    """Raise an error at the first count that is missing, negative or not finite, among the rows that are kept."""
    for rule in make_filters(table, source.options.where):
        table = replace(table, frame=table.frame.filter(rule.keep))
    for name in columns:
        if found := find_cells(table, is_unsound(table.frame, name), (*pair, name)):
            row, a, b, cell = found
            where = f"data row {row:,} ({a!r} against {b!r})" if row else f"{a!r} against {b!r}"
            shown = "missing" if cell is None else repr(cell)
            raise InputError(
                f"{table.name!r}, {where}, column {name!r} is {shown}: a count must be a number of at least 0",
                hint="leave such rows out with {option}",
                option={"bad_rows": "skip"},
            )


def fits_pair_counts(source: Input) -> bool:
    """Return whether a table has columns for wins and losses; an outcome column beside single ones goes first."""
    columns = set(map(fold, source.columns))
    if not has_sides(source):
        return False
    return bool({"wins", "losses"} <= columns or {"w", "l"} <= columns or find_win_pairs(source.columns)) or (
        {"win", "loss"} <= columns and not {"winner", "outcome", "result"} & columns
    )


RATES = ("win_rate", "winrate", "win_ratio", "win_probability", "p_win")
GAMES = ("games", "n_games", "num_games", "total_games", "matches", "n_matches", "n", "count", "total", "n_comparisons")


def fits_pair_rates(source: Input) -> bool:
    """Return whether a table has two agents and a win rate, and no outcome."""
    return has_sides(source) and bool(find_usual(RATES, source.columns)) and not find_usual(OUTCOME, source.columns)


def read_pair_rates(source: Input) -> Counted:
    """Read the win rate of the first of each pair of agents, of so many games; each game is won or lost."""
    columns = source.columns
    rate = require_column("outcome", RATES, columns, source.name, None)
    games = find_usual(GAMES, columns)[:1]
    note = f"{games[0]!r} is the number of games of each pair" if games else NO_COUNTS
    weight: dict[str, Any] = {"weight": games[0]} if games else {}
    notes, frame = [note], source.table.frame
    share = as_number(frame, rate)
    part = nw.when((share > 0) & (share < 1)).then(nw.lit(1)).otherwise(nw.lit(0))
    ends = frame.select(share=share, part=part).select(nw.col("share").max(), nw.col("part").sum())
    highest, parts = source.table.collect(ends).row(0)
    if 1 < (highest or 0) <= 100 and not parts:  # a number such as 0.6 is no percentage
        frame = frame.with_columns((share / 100).alias(rate))
        notes.append(f"{rate!r} has percentages")
    a, b = find_sides(columns, source.name, source.options.a, source.options.b)
    first, second = as_text(frame, a), as_text(frame, b)
    number = as_number(frame, games[0]) if games else nw.lit(1)
    rows = source.table.collect(frame.select(a=first, b=second, share=as_number(frame, rate), games=number))
    filters = (Filter(keep=first < second, why="the same games, seen by the other agent"),) if is_mirrored(rows) else ()
    return read_table(
        source, "pair-rates", rows=frame, outcome=rate, sided=False, certain=True, rates=bool(games),
        notes=tuple(notes), filters=filters, **weight,
    )  # fmt: skip


def is_mirrored(rows: pl.DataFrame) -> bool:
    """Return whether each row ``a, b, share, games`` has one for ``b, a`` with as many games and the other points.

    Examples
    --------
    >>> rows = {"a": ["x", "y"], "b": ["y", "x"], "share": [0.63, 0.37], "games": [100, 100]}
    >>> is_mirrored(pl.DataFrame(rows)), is_mirrored(pl.DataFrame(rows | {"share": [0.63, 0.4]}))
    (True, False)
    """
    places = next(k for k in range(16) if k == 15 or (rows["share"].round(k) == rows["share"]).all())
    other = rows.rename({"a": "b", "b": "a", "share": "rest"})
    pairs = rows.join(other, on=["a", "b", "games"], how="inner")
    rounding = 1.01 * 10.0**-places if places < 15 else 1e-9
    mirrored = ((pairs["share"] + pairs["rest"] - 1).abs() <= rounding).sum()
    return 0 < len(rows) == len(pairs) == mirrored == len(rows.select("a", "b").unique())
