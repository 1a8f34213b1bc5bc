"""Battles of the public arenas: Chatbot Arena, LMArena, and the Kaggle release."""

from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.counting.matches import Counted
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import read_table
from nashboard.data.table.filters import Filter
from nashboard.data.table.values import as_lower, recode

ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
MARKS = {"1.0": "1", "true": "1", "0.0": "0", "false": "0"}
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


def read_lmarena(source: Input) -> Counted:
    """Read the later arena releases, where the votes of a session belong together."""
    return read_table(source, "lmarena", a="model_a", b="model_b", outcome="winner", cluster="evaluation_session_id")


def read_kaggle(source: Input) -> Counted:
    """Read a log whose outcome stands in three columns, one of which is 1."""
    source.require(*ONE_HOT)
    rows = source.table.frame
    marks = [recode(as_lower(rows, part), MARKS).fill_null("nothing") for part in ONE_HOT]
    # a row with no mark, or with two, must not read as a number: it is an unknown outcome
    rows = rows.with_columns(winner=nw.concat_str(*marks, separator=" / "))
    rows = rows.with_columns(winner=recode(nw.col("winner"), WINNERS))
    return read_table(source, "kaggle", rows=rows, a="model_a", b="model_b", outcome="winner", made={"winner": ONE_HOT})


ARENA = (
    Format(
        name="lmarena",
        makes="matches",
        holds="LMArena battles, 2024 and later",
        fits=lambda x: x.has("model_a", "model_b", "winner", "evaluation_session_id"),
        read=read_lmarena,
    ),
    Format(
        name="chatbot-arena",
        makes="matches",
        holds="Chatbot Arena clean battles",
        fits=lambda x: x.has("model_a", "model_b", "winner") and (x.has("anony") or x.has("dedup_tag")),
        read=read_chatbot_arena,
    ),
    Format(
        name="kaggle",
        makes="matches",
        holds="Kaggle 55k: one-hot outcome",
        fits=lambda x: x.has("model_a", "model_b", *ONE_HOT),
        read=read_kaggle,
    ),
)
