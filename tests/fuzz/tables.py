"""Structured inputs: tables, documents, games and arrays of the right shape, with hostile content."""

import contextlib
import csv
import functools
import gzip
import io
import json
import warnings
from typing import Any

import numpy as np
import polars as pl
import zstandard
from hypothesis import strategies as st

from fuzz.corpus import Input

COLUMNS = (
    "model_a", "model_b", "winner", "a", "b", "outcome", "weight", "time", "tstamp", "agent", "task", "score",
    "model", "wins", "draws", "losses", "anony", "dedup_tag", "winner_model_a", "winner_model_b", "winner_tie",
    "go", "chess", "stderr", "n", "run", "metric", "player_1", "player_2", "evaluation_session_id", "home", "away",
    "Average", "x", "y", "", " ", "__index_level_0__", "is_baseline", "generator_1", "generator_2", "preference",
    "judge", "turn", "question_id", "go_stderr", "go_se", "weights", "cluster", "latency_ms", "home_score",
    "away_score", "bot 1", "bot 2", "bot 1 wins", "bot 2 wins", "w", "l", "win_rate", "n_games", "chosen_model",
    "rejected_model", "judge_verdict", "R_fighter", "B_fighter", "radiant_name", "dire_name", "radiant_win",
    "opponent", "opponent_score", "team", "benchmark", "Model A", "Model B", "item", "white_result", "black_result",
)  # fmt: skip
CELLS = (
    "x", "y", "z", "", " ", "model_a", "model_b", "tie", "tie (bothbad)", "a", "b", "draw", "1", "0", "0.5", "-1",
    "2", "nan", "inf", "1e308", "1e-320", "9" * 350, "true", "None", "null", "-", "1,5", '"', "'", "\n", "\t", ";",
    "é", "\u0301x", "\0", "2024-01-01", "1700000000", "1e400", "{'sampled': True}", "[1]", "<b>", "1-0", "1/2-1/2",
    "50%", "X", "x ", "\u200b", "Both Bad", "winner", "model-a", "none", "4-1", "0:2", "Assistant B wins", "Red",
    "win", "[[A]]", "A>B", "0.5 ± 0.1", "± 3", "1 +/- 2", "2 ±",
)  # fmt: skip
text = st.one_of(st.sampled_from(CELLS), st.text(max_size=8))
scalars = st.one_of(
    text,
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(),
    st.integers(min_value=-(2**80), max_value=2**80),
    st.sampled_from([0, 1, 0.5, -1, 2]),
)
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)),
    max_leaves=8,
)
names = st.one_of(st.sampled_from(COLUMNS), text)
headers = st.lists(names, min_size=1, max_size=7)
# Strategies are made once: hypothesis looks at every new one anew, which takes longer than the reading.
missing = object()
fields = st.one_of(scalars, documents, st.just(missing))


encodings = st.sampled_from(["utf-8"] * 8 + ["utf-8-sig", "latin-1", "utf-16", "gzip", "zstd"])
delimiters = st.sampled_from(",\t;|")
quotings: st.SearchStrategy[Any] = st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE])
line_ends = st.sampled_from(["\n", "\r\n", "\n\n", "\r"])
table_files = st.sampled_from(["t.csv", "t.tsv", "t.txt", "t"])
json_files = st.sampled_from(["t.json", "t.jsonl"])
layouts = st.sampled_from(["lines", "list", "document", "indented"])


@st.composite
def delimited(draw: st.DrawFn) -> Input:
    """A table of text, mostly even."""
    header = draw(headers)
    rows = draw(text_rows(len(header)))
    stream = io.StringIO()
    writer = csv.writer(
        stream,
        delimiter=draw(delimiters),
        quoting=draw(quotings),
        escapechar="\\",
        lineterminator=draw(line_ends),
    )
    with contextlib.suppress(csv.Error):  # a single empty cell cannot be written without quotes
        writer.writerows([header, *rows])
    return {draw(table_files): encoded(stream.getvalue(), draw)}


@functools.cache
def text_rows(width: int) -> st.SearchStrategy[list[list[str]]]:
    """Rows of text, most of them as wide as the header."""
    even = st.lists(text, min_size=width, max_size=width)
    return st.lists(st.one_of(even, even, even, st.lists(text, max_size=9)), max_size=8)


@functools.cache
def object_rows(width: int) -> st.SearchStrategy[list[Any]]:
    """Values of each field, some of them missing, or any document in their place."""
    row = st.lists(fields, min_size=width, max_size=width).map(tuple)
    return st.lists(st.one_of(row, row, row, documents), max_size=6)


@st.composite
def objects(draw: st.DrawFn) -> Input:
    """Json lines, a json list or one document."""
    header = draw(headers)
    records = [
        {name: value for name, value in zip(header, row, strict=True) if value is not missing}
        if isinstance(row, tuple)
        else row
        for row in draw(object_rows(len(header)))
    ]
    match draw(layouts):
        case "lines":
            content = "\n".join(map(json.dumps, records))
        case "list":
            content = json.dumps(records)
        case "indented":
            content = json.dumps(records, indent=1)
        case _:
            content = json.dumps(draw(documents))
    return {draw(json_files): encoded(content, draw)}


@st.composite
def parquet(draw: st.DrawFn) -> Input:
    """A sound parquet file with columns of any type."""
    size = draw(sizes)
    columns = {}
    for name in draw(unlike_names):
        kind = draw(kinds)
        columns[name] = pl.Series(draw(several(kind, size)), dtype=KINDS[kind][1])
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return {"t.parquet": stream.getvalue()}


plain_text = st.one_of(st.sampled_from(CELLS), st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
unlike_names = st.lists(names, min_size=1, max_size=6, unique=True)
sizes = st.integers(0, 6)
KINDS: dict[str, tuple[st.SearchStrategy[Any], Any]] = {
    "text": (plain_text, pl.String),
    "number": (st.floats(), pl.Float64),
    "whole": (st.integers(-(2**63), 2**63 - 1), pl.Int64),
    "flag": (st.booleans(), pl.Boolean),
    "list": (st.lists(st.integers(0, 9), max_size=3), pl.List(pl.Int64)),
    "object": (st.fixed_dictionaries({"sampled": st.booleans()}), pl.Struct({"sampled": pl.Boolean})),
    "bytes": (st.binary(max_size=4), pl.Binary),
    "category": (plain_text, pl.Categorical),
    "time": (st.datetimes(), pl.Datetime("us")),
    "null": (st.none(), pl.Null),
}
kinds = st.sampled_from(sorted(KINDS))


@functools.cache
def several(kind: str, size: int) -> st.SearchStrategy[list[Any]]:
    """So many values, some of them missing."""
    values = KINDS[kind][0]
    return st.lists(st.one_of(values, values, st.none()), min_size=size, max_size=size)


few = st.integers(1, 3)
moves = st.lists(
    st.sampled_from(["1. e4 e5", "1. Ke9", "{", "(", ")", "}", ";", "$99999", "1... --", "O-O", "0000", "1-0", "*"]),
    max_size=6,
)
tags = st.lists(
    st.tuples(
        st.sampled_from(["Event", "White", "Black", "Result", "FEN", "SetUp", "Variant"]),
        st.one_of(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*", "x", "y", "?"]), text),
    )
)
ends = st.sampled_from(["\n\n", "", " 1-0\n\n"])


@st.composite
def games(draw: st.DrawFn) -> Input:
    """Chess games with odd headers and moves."""
    content = ""
    for _ in range(draw(few)):
        for tag, value in draw(tags):
            content += f'[{tag} "{value}"]\n'
        content += "\n" + " ".join(draw(moves)) + draw(ends)
    return {"g.pgn": encoded('[Event "?"]\n' + content, draw)}


arrays = st.lists(
    st.tuples(
        st.lists(st.integers(0, 4), max_size=4),
        st.sampled_from([0, 1, np.nan, np.inf, 1e300]),
        st.sampled_from(["f8", "f4", "i8", "u1", "?", "c16", "U3", "M8[s]", "f2"]),
    ),
    max_size=3,
)


@st.composite
def archives(draw: st.DrawFn) -> Input:
    """Arrays of numpy of any shape and type."""
    made = []
    for shape, value, kind in draw(arrays):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.append((np.ones(shape) * value).astype(kind))
    stream = io.BytesIO()
    named: dict[str, Any] = {f"n{k}": array for k, array in enumerate(made)}
    np.savez(stream, **named)
    return {"t.npz": stream.getvalue()}


metrics = st.dictionaries(st.sampled_from(["acc,none", "acc_stderr,none", "alias", "ppl,none"]), scalars)
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "results": st.dictionaries(
        st.one_of(st.sampled_from(["gsm8k", "mmlu", "arc"]), text), st.one_of(documents, metrics), max_size=3
    ),
    "config": st.one_of(documents, st.fixed_dictionaries({"model_args": text})),
    "model_name": scalars,
    "higher_is_better": st.one_of(documents, st.just({"gsm8k": {"acc": True}})),
}
harness_results = st.fixed_dictionaries(PARTS)
left_out = st.lists(st.sampled_from(sorted(PARTS)), max_size=1)


@st.composite
def folders(draw: st.DrawFn) -> Input:
    """A folder of lm-evaluation-harness results with hostile values."""
    made = {}
    for k in range(draw(few)):
        whole = dict(draw(harness_results))
        for name in draw(left_out):
            del whole[name]
        made[f"m{k}/results_2024-01-0{k + 1}T00-00-00.json"] = json.dumps(whole).encode()
    return made


def encoded(content: str, draw: st.DrawFn) -> bytes:
    """Return text as bytes: mostly UTF-8, sometimes something else, sometimes packed."""
    how = draw(encodings)
    if how in ("gzip", "zstd"):
        pack = gzip.compress if how == "gzip" else zstandard.compress
        return pack(content.encode("utf-8", "surrogatepass"))
    return content.encode(how, "surrogatepass" if how.startswith("utf") else "replace")


structured = st.one_of(delimited(), objects(), parquet(), games(), archives(), folders())
