"""Matches decided by a judge model: AlpacaEval, arena-hard and MT-bench."""

import narwhals as nw
import polars as pl

from nashboard.data.counting import Filter
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import from_scan
from nashboard.data.matches import Matches


def read_alpaca_eval(source: Input) -> Matches:
    """Read AlpacaEval annotations: preference 1 the first wins, 2 the second, 0 or 1.5 a draw, null unknown."""
    raw = pl.col("preference").cast(pl.String)
    number = raw.cast(pl.Float64, strict=False)
    share = pl.when(number == 0).then(0.5).when(number.is_between(1, 2)).then(2 - number).otherwise(number)
    # what is neither a number nor missing must not pass for missing
    broken = raw.is_not_null() & number.is_null() & ~raw.str.to_lowercase().is_in(["nan", "null", ""])
    frame = source.scan.frame.with_columns(
        preference=pl.when(broken).then(float("inf")).otherwise(share), rated=number.is_not_null() | broken
    )
    unrated = Filter(keep=nw.col("rated"), why="no preference was given")
    return from_scan(
        source,
        "alpaca-eval",
        frame=frame,
        filters=(unrated,),
        a="generator_1",
        b="generator_2",
        outcome="preference",
    )


def read_arena_hard(source: Input) -> Matches:
    """Read arena-hard judgments: two games per line with sides swapped; a clear verdict counts three times."""
    game = pl.List(pl.Struct({"score": pl.String}))
    table = source.scan
    frame = (
        table.frame
        if table.kind == "parquet"
        else table.with_schema(dict(table.frame.collect_schema()) | {"games": game})
    )
    both = []
    for k, (a, b) in enumerate((("baseline", "model"), ("model", "baseline"))):
        verdict = pl.col("games").list.get(k, null_on_oob=True).struct.field("score")
        both.append(
            frame.select(
                agent_a=a,
                agent_b=b,
                verdict=verdict,
                **{"category": "category"} if "category" in table.columns else {},
            )
        )
    games = pl.concat(both).with_columns(
        verdict=pl.col("verdict").str.replace(">>", ">"),
        weight=pl.when(pl.col("verdict").str.contains(">>", literal=True)).then(3.0).otherwise(1.0),
    )
    judged = Filter(keep=~nw.col("verdict").is_null(), why="the judge gave no verdict")
    return from_scan(
        source,
        "arena-hard",
        frame=games.with_columns(
            pl.col("verdict").replace({"A>B": "model_a", "B>A": "model_b", "A=B": "tie", "B=A": "tie"})
        ),
        filters=(judged,),
        a="agent_a",
        b="agent_b",
        outcome="verdict",
        weight="weight",
        notes=(
            "every match has the baseline: agents are compared only through it",
            "a clear verdict (>>) counts three times",
        ),
    )


def read_mt_bench(source: Input) -> Matches:
    """Read MT-bench pair judgments: the two games must agree, otherwise the match is a draw."""
    first, second = pl.col("g1_winner"), pl.col("g2_winner")
    failed = (first == "error") | (second == "error")
    known = pl.concat_list(first, second).list.eval(pl.element().is_in(["model_1", "model_2", "tie"])).list.all()
    verdict = (
        pl.when(first == second)
        .then(first)
        .when(known)
        .then(pl.lit("tie"))
        .otherwise(pl.concat_str(first, second, separator=" / "))
    )
    frame = source.scan.frame.with_columns(verdict=verdict, judged=~failed)
    judged = Filter(keep=nw.col("judged"), why="the judge failed (error)")
    return from_scan(
        source, "mt-bench", frame=frame, filters=(judged,), a="model_1", b="model_2", outcome="verdict",
        notes=("where the two games of a pair disagree the match is a draw",),
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
        fits=lambda x: x.has("model", "baseline", "games"),
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
