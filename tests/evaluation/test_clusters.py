"""Votes that repeat an id, a prompt or a voter are taken as clusters, and make no cycles."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from nashboard.evaluation.audit.transitivity import transitivity


def vote_log(path: Path, column: str, *, ids: int = 500, times: int = 6, seed: int = 5) -> Path:
    """Write votes between eight agents on a ladder; the votes of one id are about one pair and mostly agree."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(1, -1, 8)
    rows = []
    for k in range(ids):
        a, b = rng.choice(8, 2, replace=False)
        p = 1 / (1 + np.exp(strength[b] - strength[a]))
        first = rng.random() < p
        for _ in range(times):
            won = first if rng.random() < 0.9 else rng.random() < p
            rows.append((f"m{a}", f"m{b}", "model_a" if won else "model_b", f"x{k}"))
    pl.DataFrame(rows, schema=["model_a", "model_b", "winner", column], orient="row").write_csv(path)
    return path


def read(path: Path, **options: Any) -> nb.Matches:
    """Read matches."""
    found = nb.read_matches(path, **options)
    assert isinstance(found, nb.Matches)
    return found


@pytest.mark.thin(3)
@pytest.mark.parametrize("column", ["id", "Prompt", "voter_id"])
def test_repeated_ids_are_clusters_and_the_default_claims_no_cycles(tmp_path: Path, column: str) -> None:
    path = vote_log(tmp_path / "votes.csv", column)
    matches = read(path)
    assert matches.clusters is not None
    assert matches.clusters.size == 500
    found = nb.evaluate(matches, n_resamples=100)
    assert found.verdict[1].startswith("A ladder explains these results")
    (note,) = [line for line in found.warnings if column in line]
    assert "cluster=False" in note
    assert "-r cluster=none" in note
    checked = transitivity(matches, 0.05)
    assert checked.p_noise > 0.05
    assert not checked.beyond_luck
    apart = read(path, cluster=False)
    assert apart.clusters is None
    naive = transitivity(apart, 0.05)
    assert naive.p_noise < 1e-4  # the same log as independent votes: cycles that do not exist


@pytest.mark.slow
def test_ladders_of_repeated_ids_are_called_cyclic_at_most_at_the_level(tmp_path: Path) -> None:
    logs = [vote_log(tmp_path / f"{k}.csv", "prompt", ids=200, seed=100 + k) for k in range(20)]
    found = [transitivity(read(path), 0.05) for path in logs]
    alarms = sum(one.cyclic for one in found)
    assert alarms <= 4  # 1 expected at 5%; 5 or more would come in 0.3% of runs


def test_columns_that_do_not_repeat_or_have_few_values_are_no_clusters(tmp_path: Path) -> None:
    path = vote_log(tmp_path / "votes.csv", "prompt", ids=300, times=1)
    assert nb.read_matches(path).clusters is None
    frame = pl.read_csv(path).with_columns(judge=pl.lit("one"))
    assert nb.read_matches(frame).clusters is None
    assert nb.read_matches(frame.with_columns(cluster="prompt")).clusters is not None


def test_of_a_large_log_a_column_is_suggested_and_cycles_are_not_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nashboard.data.formats.match_tables.MOST_ROWS", 1000)
    matches = read(vote_log(tmp_path / "votes.csv", "prompt"))
    assert matches.clusters is None
    found = nb.evaluate(matches, n_resamples=100)
    assert any("-r cluster=prompt" in line for line in found.warnings)
    assert found.verdict[1].startswith("It is unknown whether there are cycles")
    checked = transitivity(matches, 0.05)
    assert not checked.cyclic
    assert "it may be noise" in checked.sentences()[1]
    assert not read(tmp_path / "votes.csv", cluster="prompt").dependent
