"""Matches decided by a judge model: AlpacaEval, arena-hard and MT-bench."""

from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.counting import Filter
from nashboard.data.engines import with_objects
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import from_rows
from nashboard.data.matches import Matches
from nashboard.data.recoding import as_number, lowered, recoded
from nashboard.data.spelling import text
from nashboard.errors import InputError

# What the judge of arena-hard writes; the benchmark's own scorer knows the same ten.
VERDICTS = {"A>B": "model_a", "B<A": "model_a", "B>A": "model_b", "A<B": "model_b", "A=B": "tie", "B=A": "tie"}
CLEAR = {"A>>B": "model_a", "B<<A": "model_a", "B>>A": "model_b", "A<<B": "model_b"}
SIDES = (("baseline", "model"), ("model", "baseline"))  # of arena-hard: A and B are swapped in the second game
WINNERS = ("model_1", "model_2", "tie")  # of MT-bench


def read_alpaca_eval(source: Input) -> Matches:
    """Read AlpacaEval annotations: preference 1 the first wins, 2 the second, 0 or 1.5 a draw, null unknown."""
    column = source.options.outcome or "preference"
    source.require(column)
    rows = source.rows
    number = as_number(rows, column)
    share = nw.when(number == 0).then(nw.lit(0.5)).otherwise(nw.when((number >= 1) & (number <= 2)).then(2 - number))
    rated = (
        number <= float("inf")  # neither null nor NaN is
        if rows.collect_schema()[column].is_numeric()
        else ~lowered(rows, column).fill_null("").is_in(["nan", "null", "none", ""])
    )
    unknown = nw.concat_str(nw.lit("preference "), text(rows, column))

    def counted(outcome: nw.Expr) -> Matches:
        unrated = Filter(keep=nw.col("rated"), why="no preference was given")
        known = rows.with_columns(rated=rated, share=share, unknown=unknown).with_columns(outcome.alias(column))
        return from_rows(
            source,
            "alpaca-eval",
            rows=known,
            filters=(unrated,),
            a="generator_1",
            b="generator_2",
            outcome=column,
            sided=False,  # the judge sees the two answers in random order
        )

    understood = ~nw.col("share").is_null()
    if source.options.outcomes:  # rules are about words
        return counted(nw.when(understood).then(nw.col("share").cast(nw.String)).otherwise(nw.col("unknown")))
    try:
        return counted(nw.col("share"))
    except InputError:
        # what is neither understood nor missing must not pass for one of them: it is refused with its own text
        counted(nw.when(understood).then(nw.lit("tie")).otherwise(nw.col("unknown")))
        raise


def read_arena_hard(source: Input) -> Matches:
    """Read arena-hard judgments: two games per line with sides swapped; a clear verdict counts three times."""
    source.require("model", "baseline", "games")
    lines = judgments(source)
    length = nw.col("games").list.len()
    games = []
    for k, (a, b) in enumerate(SIDES):
        # the other columns stay for where= and cluster=; engines differ in what a list holds after its end
        played, missing = lines.filter(length > k), lines.filter(length.is_null() | (length <= k))
        verdicts = (
            (played, nw.col("games").list.get(k).struct.field("score").cast(nw.String)),
            (missing, nw.lit(None, dtype=nw.String)),
        )
        for part, verdict in verdicts:
            named = part.with_columns(agent_a=text(lines, a), agent_b=text(lines, b), verdict=verdict)
            games.append(named.drop("games"))
    verdict = nw.col("verdict")
    clear = nw.when(verdict.is_in(list(CLEAR))).then(nw.lit(3.0)).otherwise(nw.lit(1.0))
    return from_rows(
        source,
        "arena-hard",
        rows=nw.concat(games).with_columns(verdict=recoded(verdict, VERDICTS | CLEAR), weight=clear),
        filters=(Filter(keep=~verdict.is_null(), why="the judge gave no verdict"),),
        a="agent_a",
        b="agent_b",
        outcome="verdict",
        weight="weight",
        notes=(
            "every match has the baseline: agents are compared only through it",
            "a clear verdict (>>) counts three times",
        ),
        games=len(SIDES),
        unit="games",
    )


def judgments(source: Input) -> nw.LazyFrame[Any]:
    """Return the lines of arena-hard, whose column of games must hold lists of objects."""
    table = source.disk
    if table is not None and table.kind != "parquet":  # json has to be told what is inside
        game = pl.List(pl.Struct({"score": pl.String}))
        return nw.from_native(table.with_schema(dict(table.frame.collect_schema()) | {"games": game}))
    lines = with_objects(source.rows, "games")
    kind = lines.collect_schema()["games"]
    if not isinstance(kind, nw.List) or not isinstance(kind.inner, nw.Struct):
        raise InputError(
            f"{source.name!r} looks like arena-hard, whose games are lists of objects, but its column 'games' holds "
            f"{kind}: read the json lines or parquet files instead, or make a row of each game and name its columns "
            f"with a=, b= and outcome="
        )
    return lines


def read_mt_bench(source: Input) -> Matches:
    """Read MT-bench pair judgments: the two games must agree, otherwise the match is a draw."""
    source.require("g1_winner", "g2_winner")
    rows = source.rows
    first, second = (text(rows, name).fill_null("error") for name in ("g1_winner", "g2_winner"))
    known = first.is_in(WINNERS) & second.is_in(WINNERS)
    both = nw.concat_str(first, second, separator=" / ")
    verdict = nw.when(first == second).then(first).otherwise(nw.when(known).then(nw.lit("tie")).otherwise(both))
    judged = Filter(keep=(first != "error") & (second != "error"), why="the judge failed (error)")
    return from_rows(
        source, "mt-bench", rows=rows.with_columns(verdict=verdict), filters=(judged,), a="model_1", b="model_2",
        outcome="verdict", sided=False, notes=("where the two games of a pair disagree the match is a draw",),
    )  # fmt: skip


JUDGED = (
    Format(
        name="alpaca-eval",
        makes="matches",
        holds="AlpacaEval annotations",
        fits=lambda x: x.has("generator_1", "generator_2", "preference"),
        read=read_alpaca_eval,
    ),
    Format(
        name="arena-hard",
        makes="matches",
        holds="arena-hard v2 judgments",
        fits=lambda x: x.kind != "delimited" and x.has("model", "baseline", "games"),
        read=read_arena_hard,
    ),
    Format(
        name="mt-bench",
        makes="matches",
        holds="MT-bench pair judgments",
        fits=lambda x: x.has("model_1", "model_2", "g1_winner", "g2_winner"),
        read=read_mt_bench,
    ),
)
