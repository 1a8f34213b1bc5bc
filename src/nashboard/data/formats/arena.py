"""Battles of the public arenas: Chatbot Arena, LMArena, and the Kaggle release."""

import narwhals as nw
import polars as pl

from nashboard.data.counting import Filter
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.match_tables import from_scan
from nashboard.data.matches import Matches


def read_chatbot_arena(source: Input) -> Matches:
    """Read battles of the first Chatbot Arena releases, with the official filters."""
    table = source.scan
    frame, filters = table.frame, []
    if "dedup_tag" in table.columns:
        nested = {"dedup_tag": pl.Struct({"sampled": pl.Boolean})}
        if table.kind != "parquet":
            frame = table.with_schema(dict(frame.collect_schema()) | nested)
        sampled = pl.col("dedup_tag").struct.field("sampled").cast(pl.Boolean).fill_null(False)
        frame = frame.with_columns(dedup_tag=sampled)
    if "anony" in table.columns:
        filters.append(
            Filter(
                keep=nw.col("anony").cast(nw.String).str.to_lowercase() == "true",
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


def read_lmarena(source: Input) -> Matches:
    """Read the later arena releases, where the votes of a session belong together."""
    return from_scan(source, "lmarena", a="model_a", b="model_b", outcome="winner", cluster="evaluation_session_id")


def read_kaggle(source: Input) -> Matches:
    """Read a log whose outcome stands in three columns, one of which is 1."""
    parts = ("winner_model_a", "winner_model_b", "winner_tie")
    code = pl.concat_str([pl.col(part).cast(pl.String).str.strip_chars().fill_null("?") for part in parts])
    named = {"100": "model_a", "010": "model_b", "001": "tie"}
    label = code.replace(list(named), list(named.values()))
    frame = source.scan.frame.with_columns(winner=label)
    return from_scan(source, "kaggle", frame=frame, a="model_a", b="model_b", outcome="winner")


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
        fits=lambda x: x.has("model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie"),
        read=read_kaggle,
    ),
)
