"""Sums of weights are the same to the last bit, in whatever order and by whatever engine they are added up."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from data.conftest import Engine, every_engine
from nashboard.data.formats import long_scores
from nashboard.data.table import table as tables
from nashboard.data.table.exact_sums import DIGITS, add_exactly, cut_into_digits, join_digits, name_digit, name_digits

LARGEST = 2.0**40
tricky = st.sampled_from([0.1, 0.5, 1.5, 2.0**-26, 1 - 2.0**-53])
numbers = st.floats(0, LARGEST, allow_subnormal=False) | tricky
# The last piece of smaller numbers has as many digits as fit: its sum rounds.
large_enough = st.just(0.0) | st.floats(2.0**-40, LARGEST) | tricky


@given(st.lists(numbers, min_size=1, max_size=40))
def test_sums_are_exact(values: list[float]) -> None:
    frame = pl.DataFrame({"key": "x", "v": values})
    found = add_exactly(frame, ["key"], ["v"])["v"].item()
    exact = sum(map(Fraction, values))
    assert abs(Fraction(found) - exact) <= Fraction(np.spacing(found)) + len(values) * Fraction(1, 2**79)


@given(st.lists(large_enough, min_size=1, max_size=40))
def test_sums_do_not_depend_on_the_order(values: list[float]) -> None:
    frame = pl.DataFrame({"key": "x", "v": values})
    found = add_exactly(frame, ["key"], ["v"])["v"].item()
    assert add_exactly(frame.reverse(), ["key"], ["v"])["v"].item() == found
    assert add_exactly(frame.sample(fraction=1, shuffle=True, seed=1), ["key"], ["v"])["v"].item() == found


def test_digits_are_whole_and_make_the_number_again() -> None:
    values = [0.1, 1 / 3, 2.0**50 + 0.25, 7.0, 0.0, 1e-9]
    rows = (
        cut_into_digits(nw.from_native(pl.LazyFrame({"v": values})), ["v"])
        .select(*name_digits(["v"]))
        .to_native()
        .collect()
    )
    for k in range(DIGITS - 1):
        assert (rows[name_digit("v", k)] == rows[name_digit("v", k)].round(0)).all()
    np.testing.assert_allclose(join_digits(rows, ["v"])["v"].to_numpy(), values, rtol=0)


def test_how_halves_were_rounded_changes_nothing() -> None:
    """Three halves, each as (0, 2^25) or as (1, -2^25)."""
    down = pl.DataFrame({"v": [0.0], "v 1": [3 * 2.0**25], "v 2": [0.0], "v 3": [0.0]})
    up = pl.DataFrame({"v": [3.0], "v 1": [-3 * 2.0**25], "v 2": [0.0], "v 3": [0.0]})
    assert join_digits(down, ["v"])["v"].item() == join_digits(up, ["v"])["v"].item() == 1.5


@pytest.mark.parametrize("weight", [1e-9, 1e-30, 1e-300, 1e60])
def test_very_small_and_very_large_weights_are_kept(weight: float) -> None:
    frame = pl.DataFrame({"key": ["x", "x", "y"], "v": [weight, 2 * weight, weight]})
    twice, once = add_exactly(frame, ["key"], ["v"]).sort("key")["v"]
    assert (once, twice) == (weight, pytest.approx(3 * weight, rel=1e-15))


def log(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    agents = np.array(["ann", "bob", "cid", "dora"])
    a = rng.integers(0, 4, rows)
    return pl.DataFrame(
        {
            "model_a": agents[a],
            "model_b": agents[(a + rng.integers(1, 4, rows)) % 4],
            "winner": np.array(["model_a", "model_b", "tie"])[rng.integers(0, 3, rows)],
            "weight": rng.random(rows) * 3,
            "session": rng.integers(0, 50, rows).astype(str),
        }
    )


def bits(matches: nb.Matches) -> list[bytes]:
    split = matches.clusters
    parts = [matches.wins, matches.draws, matches.losses]
    parts += [split.wins, split.draws, split.losses] if split is not None else []
    return [part.tobytes() for part in parts]


@pytest.mark.thin(4)
@pytest.mark.parametrize("cluster", [None, "session"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_weighted_log_gives_the_same_bits_in_any_order_of_its_rows(
    kind: str, cluster: str | None, tmp_path: Path
) -> None:
    frame, found = log(200_000), []
    for k in range(2):
        path = tmp_path / f"log-{k}.{kind}"
        rows = frame.sample(fraction=1, shuffle=True, seed=k)
        rows.write_csv(path) if kind == "csv" else rows.write_parquet(path, row_group_size=20_000)
        found += [bits(nb.read_matches(path, cluster=cluster)) for _ in range(2)]
    assert all(other == found[0] for other in found)


@every_engine
def test_a_weighted_log_gives_the_same_bits_in_every_engine(engine: Engine) -> None:
    frame = log(400).drop("session")
    assert bits(nb.read_matches(engine(frame.to_dict(as_series=False)))) == bits(nb.read_matches(frame))


@pytest.mark.slow
def test_runs_of_a_file_are_averaged_in_their_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = 300_000
    frame = pl.DataFrame({"agent": rng.choice(["x", "y", "z"], rows), "task": "go", "score": rng.random(rows)})
    frame.write_csv(tmp_path / "runs.csv")
    found = [nb.read_scores(tmp_path / "runs.csv") for _ in range(4)]
    for scores in found[1:]:
        np.testing.assert_array_equal(scores.values, found[0].values)
        np.testing.assert_array_equal(scores.stderr, found[0].stderr)


def test_outcomes_that_are_shares_of_a_point_are_added_up_exactly() -> None:
    rows = {"a": ["x", "y"] * 500, "b": ["y", "x"] * 500, "outcome": [0.1, 0.7] * 500}
    matches = nb.read_matches(pl.DataFrame(rows))
    assert matches.wins.item() == float(500 * Fraction(0.1) + 500 * Fraction(1 - 0.7))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("room", [0, 1 << 20])
def test_runs_are_taken_into_memory_only_where_there_is_room(
    kind: str, room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 10_000  # of 48 bytes in memory, whatever the file packs them into
    frame = pl.DataFrame({"agent": ["x", "y"] * (rows // 2), "task": ["go"] * rows, "score": [1] * rows})
    path = tmp_path / f"runs.{kind}"
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    engines: list[str] = []
    collect = pl.LazyFrame.collect

    def spied(query: pl.LazyFrame, **options: Any) -> Any:
        engines.append(options.get("engine", "auto"))
        return collect(query, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", spied)
    monkeypatch.setattr(tables, "IN_ORDER", room)
    monkeypatch.setattr(tables, "SMALL", 0)
    monkeypatch.setattr(long_scores, "MOST_RUNS", 0)  # single runs, which are few, always come by the stream
    assert nb.read_scores(path).values.tolist() == [[1], [1]]
    assert ("in-memory" in engines) == (room > 0)
    assert engines[-1] == ("in-memory" if room else "streaming")


def test_nobody_knows_how_much_memory_a_table_elsewhere_takes() -> None:
    frame = nw.from_native(pl.LazyFrame({"agent": ["x"]}))
    table = tables.Table(name="s3://x", engine="parquet", kind="parquet", columns=("agent",), frame=frame)
    assert table.bytes_in_memory() > tables.IN_ORDER
