"""Matches decided by a judge model: AlpacaEval, arena-hard and MT-bench."""

from dataclasses import replace

import narwhals as nw
import polars as pl

from nashboard.data.counting import Filter
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import from_scan
from nashboard.data.matches import Matches

# What the judge of arena-hard writes; the benchmark's own scorer knows the same ten, with >> and <<.
VERDICTS = {"A>B": "model_a", "B<A": "model_a", "B>A": "model_b", "A<B": "model_b", "A=B": "tie", "B=A": "tie"}
GAMES_PER_LINE = 2  # of arena-hard: the sides are swapped in the second
WINNERS = ("model_1", "model_2", "tie")  # of MT-bench


def read_alpaca_eval(source: Input) -> Matches:
    """Read AlpacaEval annotations: preference 1 the first wins, 2 the second, 0 or 1.5 a draw, null unknown."""
    column = source.options.outcome or "preference"
    source.require(column)
    raw = pl.col(column).cast(pl.String)
    number = raw.cast(pl.Float64, strict=False)
    share = pl.when(number == 0).then(0.5).when(number.is_between(1, 2)).then(2 - number)
    missing = raw.is_null() | raw.str.strip_chars().str.to_lowercase().is_in(["nan", "null", "none", ""])
    # what is neither understood nor missing must not pass for one of them: it keeps its text, and is refused
    label = pl.when(~missing).then(pl.coalesce(share.cast(pl.String), pl.format("preference {}", raw)))
    frame = source.scan.frame.with_columns(label.alias(column), rated=~missing)
    unrated = Filter(keep=nw.col("rated"), why="no preference was given")
    return from_scan(
        source,
        "alpaca-eval",
        frame=frame,
        filters=(unrated,),
        a="generator_1",
        b="generator_2",
        outcome=column,
    )


def read_arena_hard(source: Input) -> Matches:
    """Read arena-hard judgments: two games per line with sides swapped; a clear verdict counts three times."""
    source.require("model", "baseline", "games")
    table = source.scan
    frame = table.frame
    if table.kind != "parquet":
        game = pl.List(pl.Struct({"score": pl.String}))
        frame = table.with_schema(dict(frame.collect_schema()) | {"games": game})
    # in the first game the baseline is A, in the second the model; the other columns stay for where= and cluster=
    games = pl.concat(
        frame.with_columns(
            agent_a=a, agent_b=b, verdict=pl.col("games").list.get(k, null_on_oob=True).struct.field("score")
        ).drop("games")
        for k, (a, b) in enumerate((("baseline", "model"), ("model", "baseline")))
    )
    clear = pl.col("verdict").str.contains(">>|<<")
    winner = pl.col("verdict").str.replace(">>", ">", literal=True).str.replace("<<", "<", literal=True)
    matches = from_scan(
        source,
        "arena-hard",
        frame=games.with_columns(verdict=winner.replace(VERDICTS), weight=pl.when(clear).then(3.0).otherwise(1.0)),
        filters=(Filter(keep=~nw.col("verdict").is_null(), why="the judge gave no verdict"),),
        a="agent_a",
        b="agent_b",
        outcome="verdict",
        weight="weight",
        notes=(
            "every match has the baseline: agents are compared only through it",
            "a clear verdict (>>) counts three times",
        ),
    )
    # each line was counted once for each of its games
    left_out = tuple(replace(entry, what="games") for entry in matches.origin.left_out)
    return replace(
        matches, origin=replace(matches.origin, rows=matches.origin.rows // GAMES_PER_LINE, left_out=left_out)
    )


def read_mt_bench(source: Input) -> Matches:
    """Read MT-bench pair judgments: the two games must agree, otherwise the match is a draw."""
    source.require("g1_winner", "g2_winner")
    first, second = (pl.col(name).fill_null("error") for name in ("g1_winner", "g2_winner"))
    known = first.is_in(WINNERS) & second.is_in(WINNERS)
    verdict = (
        pl.when(first == second)
        .then(first)
        .when(known)
        .then(pl.lit("tie"))
        .otherwise(pl.concat_str(first, second, separator=" / "))
    )
    frame = source.scan.frame.with_columns(verdict=verdict, judged=(first != "error") & (second != "error"))
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
