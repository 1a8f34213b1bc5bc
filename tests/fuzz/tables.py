"""Structured inputs: tables, documents, games and arrays of the right shape, with hostile content."""

import contextlib
import csv
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
    "judge", "turn", "question_id",
)  # fmt: skip
CELLS = (
    "x", "y", "z", "", " ", "model_a", "model_b", "tie", "tie (bothbad)", "a", "b", "draw", "1", "0", "0.5", "-1",
    "2", "nan", "inf", "1e308", "1e-320", "9" * 350, "true", "None", "null", "-", "1,5", '"', "'", "\n", "\t", ";",
    "é", "\u0301x", "\0", "2024-01-01", "1700000000", "1e400", "{'sampled': True}", "[1]", "<b>", "1-0", "1/2-1/2",
    "50%", "X", "x ", "\u200b",
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
headers = st.lists(st.one_of(st.sampled_from(COLUMNS), text), min_size=1, max_size=7)


@st.composite
def delimited(draw: st.DrawFn) -> Input:
    """A table of text, mostly even."""
    header = draw(headers)
    even = st.lists(text, min_size=len(header), max_size=len(header))
    rows = draw(st.lists(st.one_of(even, even, even, st.lists(text, max_size=9)), max_size=8))
    stream = io.StringIO()
    writer = csv.writer(
        stream,
        delimiter=draw(st.sampled_from(",\t;|")),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE])),
        escapechar="\\",
        lineterminator=draw(st.sampled_from(["\n", "\r\n", "\n\n", "\r"])),
    )
    with contextlib.suppress(csv.Error):  # a single empty cell cannot be written without quotes
        writer.writerows([header, *rows])
    return {draw(st.sampled_from(["t.csv", "t.tsv", "t.txt", "t"])): encoded(stream.getvalue(), draw)}


@st.composite
def objects(draw: st.DrawFn) -> Input:
    """Json lines, a json list or one document."""
    header = draw(headers)
    row = st.fixed_dictionaries({}, optional=dict.fromkeys(header, st.one_of(scalars, documents)))
    records: list[Any] = draw(st.lists(st.one_of(row, row, row, documents), max_size=6))
    match draw(st.sampled_from(["lines", "list", "document", "indented"])):
        case "lines":
            content = "\n".join(map(json.dumps, records))
        case "list":
            content = json.dumps(records)
        case "indented":
            content = json.dumps(records, indent=1)
        case _:
            content = json.dumps(draw(documents))
    return {draw(st.sampled_from(["t.json", "t.jsonl"])): encoded(content, draw)}


@st.composite
def parquet(draw: st.DrawFn) -> Input:
    """A sound parquet file with columns of any type."""
    names = draw(st.lists(st.one_of(st.sampled_from(COLUMNS), text), min_size=1, max_size=6, unique=True))
    size = draw(st.integers(0, 6))
    kinds = st.sampled_from(["text", "number", "whole", "flag", "list", "object", "bytes", "category", "time", "null"])
    columns = {}
    for name in names:
        match draw(kinds):
            case "number":
                columns[name] = pl.Series(draw(several(st.floats(), size)), dtype=pl.Float64)
            case "whole":
                columns[name] = pl.Series(draw(several(st.integers(-(2**63), 2**63 - 1), size)), dtype=pl.Int64)
            case "flag":
                columns[name] = pl.Series(draw(several(st.booleans(), size)), dtype=pl.Boolean)
            case "list":
                columns[name] = pl.Series(
                    draw(several(st.lists(st.integers(0, 9), max_size=3), size)), dtype=pl.List(pl.Int64)
                )
            case "object":
                columns[name] = pl.Series([{"sampled": k % 2 == 0} for k in range(size)])
            case "bytes":
                columns[name] = pl.Series(draw(several(st.binary(max_size=4), size)), dtype=pl.Binary)
            case "category":
                columns[name] = pl.Series(draw(several(plain_text, size)), dtype=pl.Categorical)
            case "time":
                columns[name] = pl.Series(draw(several(st.datetimes(), size)), dtype=pl.Datetime("us"))
            case "null":
                columns[name] = pl.Series([None] * size, dtype=pl.Null)
            case _:
                columns[name] = pl.Series(draw(several(plain_text, size)), dtype=pl.String)
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return {"t.parquet": stream.getvalue()}


plain_text = st.one_of(st.sampled_from(CELLS), st.text(st.characters(exclude_categories=["Cs"]), max_size=6))


def several(values: st.SearchStrategy[Any], size: int) -> st.SearchStrategy[list[Any]]:
    """So many values, some of them missing."""
    return st.lists(st.one_of(values, values, st.none()), min_size=size, max_size=size)


@st.composite
def games(draw: st.DrawFn) -> Input:
    """Chess games with odd headers and moves."""
    moves = st.sampled_from(
        ["1. e4 e5", "1. Ke9", "{", "(", ")", "}", ";", "$99999", "1... --", "O-O", "0000", "1-0", "*"]
    )
    content = ""
    for _ in range(draw(st.integers(1, 3))):
        for tag in draw(st.lists(st.sampled_from(["Event", "White", "Black", "Result", "FEN", "SetUp", "Variant"]))):
            value = draw(st.one_of(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*", "x", "y", "?"]), text))
            content += f'[{tag} "{value}"]\n'
        content += "\n" + " ".join(draw(st.lists(moves, max_size=6))) + draw(st.sampled_from(["\n\n", "", " 1-0\n\n"]))
    return {"g.pgn": encoded('[Event "?"]\n' + content, draw)}


@st.composite
def archives(draw: st.DrawFn) -> Input:
    """Arrays of numpy of any shape and type."""
    made = {}
    for name in draw(
        st.lists(st.text(st.characters(codec="ascii", exclude_characters="/\\\0"), min_size=1), max_size=3)
    ):
        shape = draw(st.lists(st.integers(0, 4), max_size=4))
        kind = draw(st.sampled_from(["f8", "f4", "i8", "u1", "?", "c16", "U3", "M8[s]", "f2"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made[name] = (np.ones(shape) * draw(st.sampled_from([0, 1, np.nan, np.inf, 1e300]))).astype(kind)
    stream = io.BytesIO()
    np.savez(stream, **{f"n{k}": array for k, array in enumerate(made.values())})  # type: ignore[arg-type]
    return {"t.npz": stream.getvalue()}


@st.composite
def folders(draw: st.DrawFn) -> Input:
    """A folder of lm-evaluation-harness results with hostile values."""
    made = {}
    for k in range(draw(st.integers(1, 3))):
        results = draw(
            st.dictionaries(
                st.one_of(st.sampled_from(["gsm8k", "mmlu", "arc"]), text),
                st.one_of(
                    documents,
                    st.dictionaries(st.sampled_from(["acc,none", "acc_stderr,none", "alias", "ppl,none"]), scalars),
                ),
                max_size=3,
            )
        )
        config = draw(st.one_of(documents, st.fixed_dictionaries({"model_args": text})))
        better = draw(st.one_of(documents, st.just({"gsm8k": {"acc": True}})))
        whole = {"results": results, "config": config, "model_name": draw(scalars), "higher_is_better": better}
        for name in draw(st.lists(st.sampled_from(sorted(whole)), max_size=1)):
            del whole[name]
        made[f"m{k}/results_2024-01-0{k + 1}T00-00-00.json"] = json.dumps(whole).encode()
    return made


def encoded(content: str, draw: st.DrawFn) -> bytes:
    """Return text as bytes: mostly UTF-8, sometimes something else, sometimes packed."""
    how = draw(st.sampled_from(["utf-8"] * 8 + ["utf-8-sig", "latin-1", "utf-16", "gzip", "zstd"]))
    if how in ("gzip", "zstd"):
        pack = gzip.compress if how == "gzip" else zstandard.compress
        return pack(content.encode("utf-8", "surrogatepass"))
    return content.encode(how, "surrogatepass" if how.startswith("utf") else "replace")


structured = st.one_of(delimited(), objects(), parquet(), games(), archives(), folders())
