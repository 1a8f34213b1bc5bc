"""Results without an outcome column: the winner beside the loser, the scores of both, or counts that are summed."""

from typing import Any

import narwhals as nw

from nashboard._text import listed
from nashboard.data.counting.matches import Counted
from nashboard.data.formats.format import MATCH_OPTIONS, Format, Input
from nashboard.data.formats.match_tables import has_sides, read_table
from nashboard.data.table.columns import SIDES, TWO_SCORES, WINNER_LOSER, find_pairs, find_sides, fold
from nashboard.data.table.filters import Filter, make_filters
from nashboard.data.table.table import Table, column
from nashboard.data.table.values import as_number, as_text, is_no_number, is_sound_weight
from nashboard.errors import InputError

STRICT_OUTCOMES = {"winner", "outcome", "result", "ftr"}  # columns that say who won, beside the scores of both
# a row may hold many games, or one: then exactly one of the columns is 1
WON, DRAWN, LOST = ("wins", "win"), ("draws", "draw", "ties", "tie"), ("losses", "loss")
SHARES = dict.fromkeys(WON, 1.0) | dict.fromkeys(DRAWN, 0.5) | dict.fromkeys(LOST, 0.0)


def read_winner_loser(source: Input) -> Counted:
    """Read a row per match that names the winner and the loser; where ids are beside names, names are taken."""
    found = find_pairs(WINNER_LOSER, source.columns)
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
        notes=(f"the first of each match is the winner, {winner!r}", *same),
    )  # fmt: skip


def fits_winner_loser(source: Input) -> bool:
    """Return whether a table names winners and losers, and not the two sides of a match besides."""
    pairs = [pair for pair in find_pairs(SIDES, source.columns) if set(map(fold, pair)) & {"winner", "loser"} == set()]
    return (
        bool(source.columns)
        and source.options.a is None
        and bool(find_pairs(WINNER_LOSER, source.columns))
        and not pairs
    )


def read_two_scores(source: Input) -> Counted:
    """Read a row per match with what both sides scored; matches without scores are left out and counted."""
    columns, name = source.columns, source.name
    a, b = find_sides(columns, name, source.options.a, source.options.b)
    found = find_pairs(TWO_SCORES, columns)
    if not found:
        raise InputError(f"{name!r} has no columns for the scores of both sides: its columns are {listed(columns, 12)}")
    home, away = found[0]
    table = source.table.drop_blank_lines([a, b, home, away])
    for score in (home, away):
        table = check_scores(table, score, (a, b), skip=source.options.skip_bad)
    frame = table.frame
    ours, theirs = as_number(frame, home), as_number(frame, away)
    share = (
        nw.when(ours > theirs)
        .then(nw.lit(1.0))
        .otherwise(nw.when(ours < theirs).then(nw.lit(0.0)).otherwise(nw.lit(0.5)))
    )
    played = nw.when(ours.is_null() | theirs.is_null()).then(nw.lit(0)).otherwise(nw.lit(1)) == 1
    rows = frame.with_columns(nashboard_outcome=share.cast(nw.Float64))
    details: dict[str, Any] = {"certain": True, "outcome": "nashboard_outcome", "a": a, "b": b}
    return read_table(
        Input(options=source.options, workspace=source.workspace, opened=table),
        "two-scores",
        rows=rows,
        filters=(Filter(keep=played, why=f"no score in {home!r} or {away!r}"),),
        notes=(f"the higher of {home!r} and {away!r} wins",),
        **details,
    )


def check_scores(table: Table, score: str, pair: tuple[str, str], *, skip: bool) -> Table:
    """Raise an error at a score that is not a number, or leave such rows out."""
    frame = table.frame
    bad = is_no_number(frame, score)
    if skip:
        return table.skip_rows(bad, f"no number in {score!r}")
    shown = {"a": as_text(frame, pair[0]), "b": as_text(frame, pair[1]), "cell": as_text(frame, score)}
    for a, b, cell in table.collect(frame.filter(bad).select(**shown).head(1)).rows():
        rows = table.find_rows(bad)
        where = f"data row {rows[0]:,}, " if rows else ""
        raise InputError(
            f"{table.name!r}, {where}{a!r} against {b!r}: {score!r} is {cell!r}, not a number",
            hint="leave such rows out with {option}",
            option={"bad_rows": "skip"},
        )
    return table


def fits_two_scores(source: Input) -> bool:
    """Return whether a table has the scores of both sides, and no column that says who won."""
    if not has_sides(source) or source.options.outcome is not None:
        return False
    return bool(find_pairs(TWO_SCORES, source.columns)) and not STRICT_OUTCOMES & set(map(fold, source.columns))


def read_pair_counts(source: Input) -> Counted:
    """Read a table of counts as three weighted logs, one for each outcome."""
    columns, name = source.columns, source.name
    a, b = find_sides(columns, name, source.options.a, source.options.b)
    named = {fold(column): column for column in columns if fold(column) in SHARES}
    source.require(*(words[0] for words in (WON, LOST) if not set(words) & set(named)))
    table = source.table.drop_blank_lines(columns)
    if source.options.skip_bad:
        for count in named.values():
            table = table.skip_rows(is_unsound(table.frame, count), f"no count of at least 0 in {count!r}")
    rows = table.frame
    stacked = nw.concat(
        [  # the other columns stay for where= and cluster=
            rows.with_columns(
                agent_a=column(rows, a),
                agent_b=column(rows, b),
                outcome=nw.lit(SHARES[word]).cast(nw.Float64),
                weight=as_number(rows, count),
            )
            for word, count in named.items()
        ]
    )
    plain = Input(options=source.with_options(a=None, b=None).options, workspace=source.workspace, opened=table)
    details = {"a": "agent_a", "b": "agent_b", "outcome": "outcome", "weight": "weight", "certain": True}
    try:
        return read_table(plain, "pair-counts", rows=stacked, games=len(named), sided=False, **details)
    except InputError:
        refuse_counts(source, table, (a, b), list(named.values()))
        raise


def is_unsound(rows: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return where a count is missing, negative or not finite."""
    return nw.when(is_sound_weight(as_number(rows, name))).then(nw.lit(0)).otherwise(nw.lit(1)) == 1


def refuse_counts(source: Input, table: Table, pair: tuple[str, str], columns: list[str]) -> None:
    """Raise an error at the first count that is missing, negative or not finite, among the rows that are kept."""
    filters = [rule.keep for rule in make_filters(table, source.options.where)]
    rows = table.frame
    for keep in filters:
        rows = rows.filter(keep)
    for name in columns:
        shown = {"a": as_text(rows, pair[0]), "b": as_text(rows, pair[1]), "cell": as_text(rows, name)}
        for a, b, cell in table.collect(rows.filter(is_unsound(rows, name)).select(**shown).head(1)).rows():
            numbers = table.find_rows(is_unsound(table.frame, name), filters)
            where = f"data row {numbers[0]:,}" if numbers else f"{a!r} against {b!r}"
            raise InputError(
                f"{table.name!r}, {where}, column {name!r} is {cell!r}: a count must be a number of at least 0",
                hint="leave such rows out with {option}",
                option={"bad_rows": "skip"},
            )


def fits_pair_counts(source: Input) -> bool:
    """Return whether a table has columns for wins and losses; an outcome column beside single ones goes first."""
    columns = set(map(fold, source.columns))
    if not has_sides(source):
        return False
    return {"wins", "losses"} <= columns or (
        {"win", "loss"} <= columns and not {"winner", "outcome", "result"} & columns
    )


RESULTS = (
    Format(
        name="winner-loser",
        makes="matches",
        holds="a row per match with its winner and its loser",
        fits=fits_winner_loser,
        read=read_winner_loser,
        options=tuple(name for name in MATCH_OPTIONS if name not in ("a", "b", "outcome", "outcomes")),
    ),
    Format(
        name="two-scores",
        makes="matches",
        holds="a row per match with the scores, goals or points of both sides",
        fits=fits_two_scores,
        read=read_two_scores,
        options=tuple(name for name in MATCH_OPTIONS if name not in ("outcome", "outcomes")),
    ),
    Format(
        name="pair-counts",
        makes="matches",
        holds="wins, draws and losses per pair of agents",
        fits=fits_pair_counts,
        read=read_pair_counts,
    ),
)
