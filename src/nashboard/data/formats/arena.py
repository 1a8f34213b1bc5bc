"""Battles of the public arenas: Chatbot Arena, LMArena, and the Kaggle release."""

import narwhals as nw
import polars as pl

from nashboard.data.counting import Filter
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import from_scan
from nashboard.data.matches import Matches
from nashboard.data.scan import Scan

ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")


def read_chatbot_arena(source: Input) -> Matches:
    """Read battles of the first Chatbot Arena releases, with the official filters."""
    table = source.scan
    frame, filters = with_sampled(table), []
    if "anony" in table.columns:
        filters.append(
            Filter(
                keep=nw.col("anony").cast(nw.String).str.to_lowercase().is_in(["true", "1"]),  # 1 in SQLite
                why="the models were not anonymous",
            )
        )
    if "dedup_tag" in table.columns:
        filters.append(Filter(keep=nw.col("dedup_tag"), why="duplicate prompts (dedup_tag.sampled is false)"))
    return from_scan(
        source,
        "chatbot-arena",
        frame=frame,
        filters=tuple(filters),
        a="model_a",
        b="model_b",
        outcome="winner",
    )


def with_sampled(table: Scan) -> pl.LazyFrame:
    """Return the battles with ``dedup_tag.sampled``, true or false, in the place of ``dedup_tag``."""
    frame = table.frame
    if "dedup_tag" not in table.columns:
        return frame
    if table.kind == "delimited":  # a data frame that was written as csv has the object as Python or json text
        sampled = pl.col("dedup_tag").str.to_lowercase().str.contains(r"""sampled["']?\s*:\s*true""")
    else:
        if table.kind != "parquet":
            frame = table.with_schema(dict(frame.collect_schema()) | {"dedup_tag": pl.Struct({"sampled": pl.Boolean})})
        sampled = pl.col("dedup_tag").struct.field("sampled").cast(pl.Boolean)
    return frame.with_columns(dedup_tag=sampled.fill_null(False))


def read_lmarena(source: Input) -> Matches:
    """Read the later arena releases, where the votes of a session belong together."""
    return from_scan(source, "lmarena", a="model_a", b="model_b", outcome="winner", cluster="evaluation_session_id")


def read_kaggle(source: Input) -> Matches:
    """Read a log whose outcome stands in three columns, one of which is 1."""
    source.require(*ONE_HOT)
    marks = [pl.col(part).cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("nothing") for part in ONE_HOT]
    marks = [mark.replace({"1.0": "1", "true": "1", "0.0": "0", "false": "0"}) for mark in marks]
    # a row with no mark, or with two, must not read as a number: it is an unknown outcome
    code = pl.concat_str(marks, separator=" / ")
    label = code.replace({"1 / 0 / 0": "model_a", "0 / 1 / 0": "model_b", "0 / 0 / 1": "tie"})
    frame = source.scan.frame.with_columns(winner=label)
    return from_scan(source, "kaggle", frame=frame, a="model_a", b="model_b", outcome="winner")


ARENA = (
    Format(
        name="lmarena",
        makes="matches",
        holds="LMArena battles, 2024 and later",
        fits=lambda x: x.has("model_a", "model_b", "winner", "evaluation_session_id"),
        read=read_lmarena,
        anywhere=lambda x: True,
    ),
    Format(
        name="chatbot-arena",
        makes="matches",
        holds="Chatbot Arena clean battles",
        fits=lambda x: x.has("model_a", "model_b", "winner") and (x.has("anony") or x.has("dedup_tag")),
        read=read_chatbot_arena,
        anywhere=lambda x: not x.has("dedup_tag"),
    ),
    Format(
        name="kaggle",
        makes="matches",
        holds="Kaggle 55k: one-hot outcome",
        fits=lambda x: x.has("model_a", "model_b", *ONE_HOT),
        read=read_kaggle,
    ),
)
