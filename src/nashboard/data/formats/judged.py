"""Matches decided by a judge model: AlpacaEval, arena-hard and MT-bench."""

from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.counting.matches import Counted
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import read_table
from nashboard.data.sources.frames import collect_objects
from nashboard.data.table.filters import Filter
from nashboard.data.table.values import as_lower, as_number, as_text, recode
from nashboard.errors import InputError

# What the judge of arena-hard writes; the benchmark's own scorer knows the same ten.
VERDICTS = {"A>B": "model_a", "B<A": "model_a", "B>A": "model_b", "A<B": "model_b", "A=B": "tie", "B=A": "tie"}
CLEAR = {"A>>B": "model_a", "B<<A": "model_a", "B>>A": "model_b", "A<<B": "model_b"}
SIDES = (("baseline", "model"), ("model", "baseline"))  # of arena-hard: A and B are swapped in the second game
WINNERS = ("model_1", "model_2", "tie")  # of MT-bench


def read_alpaca_eval(source: Input) -> Counted:
    """Read AlpacaEval annotations: preference 1 the first wins, 2 the second, 0 or 1.5 a draw, null unknown."""
    column = source.options.outcome or "preference"
    source.require(column)
    rows = source.table.frame
    number = as_number(rows, column)
    share = nw.when(number == 0).then(nw.lit(0.5)).otherwise(nw.when((number >= 1) & (number <= 2)).then(2 - number))
    rated = (
        number <= float("inf")  # neither null nor NaN is
        if rows.collect_schema()[column].is_numeric()
        else ~as_lower(rows, column).fill_null("").is_in(["nan", "null", "none", ""])
    )
    unknown = nw.concat_str(nw.lit("preference "), as_text(rows, column))

    def count(outcome: nw.Expr) -> Counted:
        unrated = Filter(keep=nw.col("rated"), why="no preference was given")
        known = rows.with_columns(rated=rated, share=share, unknown=unknown).with_columns(outcome.alias(column))
        return read_table(
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
        return count(nw.when(understood).then(nw.col("share").cast(nw.String)).otherwise(nw.col("unknown")))
    try:
        return count(nw.col("share"))
    except InputError:
        # what is neither understood nor missing must not pass for one of them: it is refused with its own text
        count(nw.when(understood).then(nw.lit("tie")).otherwise(nw.col("unknown")))
        raise


def read_arena_hard(source: Input) -> Counted:
    """Read arena-hard judgments: two games per line with sides swapped; a clear verdict counts three times."""
    source.require("model", "baseline", "games")
    lines = read_judgments(source)
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
            named = part.with_columns(agent_a=as_text(lines, a), agent_b=as_text(lines, b), verdict=verdict)
            games.append(named.drop("games"))
    verdict = nw.col("verdict")
    clear = nw.when(verdict.is_in(list(CLEAR))).then(nw.lit(3.0)).otherwise(nw.lit(1.0))
    return read_table(
        source,
        "arena-hard",
        rows=nw.concat(games).with_columns(verdict=recode(verdict, VERDICTS | CLEAR), weight=clear),
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


def read_judgments(source: Input) -> nw.LazyFrame[Any]:
    """Return the lines of arena-hard, whose column of games must hold lists of objects."""
    table = source.table
    if "games" not in table.schema:  # json has to be told what is inside
        return table.with_nested({"games": pl.List(pl.Struct({"score": pl.String}))})
    lines = collect_objects(table.frame)
    kind = lines.collect_schema()["games"]
    if not isinstance(kind, nw.List) or not isinstance(kind.inner, nw.Struct):
        raise InputError(
            f"{source.name!r} looks like arena-hard, whose games are lists of objects, but its column 'games' holds "
            f"{kind}: read the json lines or parquet files instead, or make a row of each game and name its columns "
            f"with a=, b= and outcome="
        )
    return lines


def read_mt_bench(source: Input) -> Counted:
    """Read MT-bench pair judgments: the two games must agree, otherwise the match is a draw."""
    source.require("g1_winner", "g2_winner")
    rows = source.table.frame
    first, second = (as_text(rows, name).fill_null("error") for name in ("g1_winner", "g2_winner"))
    known = first.is_in(WINNERS) & second.is_in(WINNERS)
    both = nw.concat_str(first, second, separator=" / ")
    verdict = nw.when(first == second).then(first).otherwise(nw.when(known).then(nw.lit("tie")).otherwise(both))
    judged = Filter(keep=(first != "error") & (second != "error"), why="the judge failed (error)")
    return read_table(
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
