"""Rows summed up piece by piece are the rows summed up at once."""

from pathlib import Path

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import nashboard as nb
from nashboard.data.table import exact_sums
from nashboard.data.table.exact_sums import Totals, run_streaming


def log(rows: int, agents: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, agents, rows)
    b = (a + rng.integers(1, agents, rows)) % agents
    return pl.DataFrame(
        {
            "model_a": [f"é{k}" for k in a],
            "model_b": [f"é{k}" for k in b],
            "winner": rng.choice(["model_a", "model_b", "tie"], rows),
            "weight": rng.random(rows) * 3,
            "tstamp": rng.permutation(rows) + 1.7e9,
            "session": [f"s{k}" for k in rng.integers(0, rows // 100 + 1, rows)],
        }
    )


def sums_of(frame: pl.DataFrame) -> Totals:
    return Totals(
        rows=nw.from_native(frame.lazy()),
        keys=("model_a", "model_b", "session"),
        sums=(),
        fractions=("weight",),
        names=("model_a", "model_b"),
        lowest={"earliest": "tstamp"},
        highest={"latest": "tstamp"},
    )


@pytest.mark.parametrize(("piece", "few"), [(7, 10), (100, 1000), (5000, 5)])
def test_pieces_of_any_size_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch, piece: int, few: int) -> None:
    monkeypatch.setattr(exact_sums, "PIECE", piece)
    monkeypatch.setattr(exact_sums, "FEW", few)
    frame = log(1000, 5, seed=piece).with_columns(
        model_b=pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise("model_b")  # a missing name is a key too
    )
    order = ["model_a", "model_b", "session"]
    asked = sums_of(frame)
    in_pieces, at_once = asked.sum_in_pieces().sort(order), run_streaming(asked.query()).sort(order)
    assert in_pieces.columns == at_once.columns
    assert in_pieces.rows() == at_once.rows()
    assert in_pieces["model_a"].dtype == pl.String


def test_no_rows_have_no_totals() -> None:
    asked = sums_of(log(10, 3, seed=0).clear())
    assert asked.sum_in_pieces().rows() == []


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_file_of_many_pieces_is_counted_like_its_frame(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str
) -> None:
    frame = log(3000, 15, seed=3)
    path = tmp_path / f"log.{suffix}"
    if suffix == "parquet":
        frame.write_parquet(path)
    elif suffix == "csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    whole = nb.read_matches(frame.to_pandas(), weight="weight")
    monkeypatch.setattr(exact_sums, "PIECE", 64)
    monkeypatch.setattr(exact_sums, "FEW", 100)
    pieces = nb.read_matches(path, weight="weight")
    assert pieces.agents == whole.agents
    np.testing.assert_array_equal(pieces.pairs, whole.pairs)
    np.testing.assert_array_equal(pieces.wins, whole.wins)
    np.testing.assert_array_equal(pieces.draws, whole.draws)
    np.testing.assert_array_equal(pieces.losses, whole.losses)
