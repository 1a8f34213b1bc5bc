"""Battles that people decided (Chatbot Arena, LMArena, Kaggle) or a judge model (AlpacaEval, arena-hard, MT-bench)."""

from dataclasses import replace
from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.counting.matches import Counted
from nashboard.data.formats.format import Input
from nashboard.data.formats.match_tables import read_rows, read_table
from nashboard.data.sources.frames import collect_objects
from nashboard.data.table.values import Filter, as_lower, as_number, as_text, recode
from nashboard.errors import InputError

ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
WINNERS = {"1 / 0 / 0": "model_a", "0 / 1 / 0": "model_b", "0 / 0 / 1": "tie"}
# The object as text: json, Python, or how Spark and DuckDB write a map.
SAMPLED = r"""sampled["']? *(?::|->|=) *true"""


def read_chatbot_arena(source: Input) -> Counted:
    """Read battles of the first Chatbot Arena releases, with the official filters."""
    rows, filters = read_battles(source), []
    if "anony" in source.columns:
        anonymous = as_lower(rows, "anony").is_in(["true", "1"])  # 1 in SQLite
        filters.append(Filter(keep=anonymous, why="the models were not anonymous"))
    if "dedup_tag" in source.columns:
        filters.append(Filter(keep=is_sampled(rows), why="duplicate prompts (dedup_tag.sampled is false)"))
    return read_table(
        source, "chatbot-arena", rows=rows, filters=tuple(filters), a="model_a", b="model_b", outcome="winner"
    )


def read_battles(source: Input) -> nw.LazyFrame[Any]:
    """Return the battles; json has to be told what is inside ``dedup_tag``."""
    table = source.table
    if "dedup_tag" not in table.columns or "dedup_tag" in table.schema:
        return table.frame
    return table.with_nested({"dedup_tag": pl.Struct({"sampled": pl.Boolean})})


def is_sampled(rows: nw.LazyFrame[Any]) -> nw.Expr:
    """Return whether ``dedup_tag.sampled`` is true: of an object, or of one that was written as text."""
    if isinstance(rows.collect_schema()["dedup_tag"], nw.Struct):
        return nw.col("dedup_tag").struct.field("sampled").cast(nw.Boolean)
    return nw.col("dedup_tag").cast(nw.String).str.to_lowercase().str.contains(SAMPLED)


def read_kaggle(source: Input) -> Counted:
    """Read a log whose outcome stands in three columns, one of which is 1."""
    source.require(*ONE_HOT)
    rows = source.table.frame
    marks = [spell_mark(as_number(rows, part)) for part in ONE_HOT]
    # a row with no mark, or with two, must not read as a number: it is an unknown outcome
    rows = rows.with_columns(winner=nw.concat_str(*marks, separator=" / "))
    rows = rows.with_columns(winner=recode(nw.col("winner"), WINNERS))
    return read_table(source, "kaggle", rows=rows, a="model_a", b="model_b", outcome="winner", made={"winner": ONE_HOT})


def spell_mark(mark: nw.Expr) -> nw.Expr:
    """Return 1 or 0 as text, and ``nothing`` for anything else."""
    other = nw.when(mark == 0).then(nw.lit("0")).otherwise(nw.lit("nothing"))
    return nw.when(mark == 1).then(nw.lit("1")).otherwise(other)


# What the judge of arena-hard writes; the benchmark's own scorer knows the same ten.
VERDICTS = {"A>B": "model_a", "B<A": "model_a", "B>A": "model_b", "A<B": "model_b", "A=B": "tie", "B=A": "tie"}
CLEAR = {"A>>B": "model_a", "B<<A": "model_a", "B>>A": "model_b", "A<<B": "model_b"}
SWAPPED = (("baseline", "model"), ("model", "baseline"))  # of arena-hard: A and B are swapped in the second game
MT_BENCH = ("model_1", "model_2", "tie")  # of MT-bench


def read_alpaca_eval(source: Input) -> Counted:
    """Read AlpacaEval annotations: preference 1 the first wins, 2 the second, 0 or 1.5 a draw, null unknown."""
    column = source.options.outcome or "preference"
    source.require(column)
    table = source.table
    rows = table.frame
    number = as_number(rows, column)
    share = nw.when(number == 0).then(nw.lit(0.5)).otherwise(nw.when((number >= 1) & (number <= 2)).then(2 - number))
    rated = (
        number <= float("inf")  # neither null nor NaN is
        if rows.collect_schema()[column].is_numeric()
        else ~as_lower(rows, column).fill_null("").is_in(["nan", "null", "none", ""])
    )
    unknown = nw.concat_str(nw.lit("preference "), as_text(rows, column))
    if source.options.skip_bad and not source.options.outcomes:
        table = table.skip_rows(rated & share.is_null(), f"no preference from 1 to 2, and none of 0, in {column!r}")
        rows = table.frame

    def count(outcome: nw.Expr) -> Counted:
        unrated = Filter(keep=nw.col("rated"), why="no preference was given")
        known = rows.with_columns(rated=rated, share=share, unknown=unknown).with_columns(outcome.alias(column))
        return read_rows(
            replace(table, frame=known),
            source.options,
            format="alpaca-eval",
            filters=(unrated,),
            a="generator_1",
            b="generator_2",
            outcome=column,
            sided=False,  # the judge sees the two answers in random order
            made=dict.fromkeys(("rated", "share", "unknown"), ()),
            notes=("preferences from 1 (the first wins) to 2 (the second wins) are read as shares; 0 is a draw",),
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
    source.require("model", "games")
    lines = read_judgments(source)
    unnamed = "" if "baseline" in lines.collect_schema() else ", not named here"
    if unnamed:  # version 0.1 does not write it down
        lines = lines.with_columns(baseline=nw.lit("baseline"))
    length = nw.col("games").list.len()
    games = []
    for k, (a, b) in enumerate(SWAPPED):
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
        # both games and all models share the prompt
        cluster=next((name for name in ("uid", "question_id") if name in source.table.schema), None),
        notes=(
            f"every match has the baseline{unnamed}: agents are compared only through it",
            "a clear verdict (>>) counts three times",
        ),
        games=len(SWAPPED),
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
            f"{source.name!r} looks like arena-hard, but its column 'games' contains {kind}, not lists of objects: "
            f"read the json lines or parquet files instead"
        )
    return lines


def read_mt_bench(source: Input) -> Counted:
    """Read MT-bench pair judgments: the two games must agree, otherwise the match is a draw."""
    source.require("g1_winner", "g2_winner")
    rows = source.table.frame
    first, second = (as_text(rows, name).fill_null("error") for name in ("g1_winner", "g2_winner"))
    known = first.is_in(MT_BENCH) & second.is_in(MT_BENCH)
    both = nw.concat_str(first, second, separator=" / ")
    verdict = nw.when(first == second).then(first).otherwise(nw.when(known).then(nw.lit("tie")).otherwise(both))
    judged = Filter(keep=(first != "error") & (second != "error"), why="the judge failed (error)")
    return read_table(
        source, "mt-bench", rows=rows.with_columns(verdict=verdict), filters=(judged,), a="model_1", b="model_2",
        outcome="verdict", sided=False, made={"verdict": ("g1_winner", "g2_winner")},
        notes=("where the two games of a pair disagree the match is a draw",),
    )  # fmt: skip
