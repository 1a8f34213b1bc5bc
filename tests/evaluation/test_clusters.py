"""Votes that repeat an id, a prompt or a voter are taken as clusters, and make no cycles."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from nashboard.evaluation.audit.transitivity import transitivity
from nashboard.evaluation.posterior.clusters import discount_clusters


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


def log_of_tastes(seed: int, *, voters: int = 40, votes: int = 2000, taste: float = 1.0) -> tuple[nb.Matches, Any]:
    """Return votes of few voters, some of whom vote often, with likings of their own, and the true gaps in logits.

    The truth is the log-odds that a new voter prefers the best agent.
    """
    rng = np.random.default_rng(seed)
    n = 10
    strength = rng.normal(0, 0.5, n)
    liking = rng.normal(0, taste, (voters, n))
    often = rng.pareto(2.0, voters) + 0.3
    voter = rng.choice(voters, votes, p=often / often.sum())
    a = rng.integers(0, n, votes)
    b = (a + rng.integers(1, n, votes)) % n
    lead = strength[a] - strength[b] + liking[voter, a] - liking[voter, b]
    won = rng.random(votes) < 1 / (1 + np.exp(-lead))
    log = pl.DataFrame(
        {
            "model_a": [f"m{k}" for k in a],
            "model_b": [f"m{k}" for k in b],
            "winner": np.where(won, "model_a", "model_b"),
            "voter": [f"v{k}" for k in voter],
        }
    )
    away = np.subtract.outer(strength.max() - strength, rng.normal(0, taste * np.sqrt(2), 20_000))
    share = (1 / (1 + np.exp(-away))).mean(axis=1)
    odds = np.log(share / (1 - share))
    return nb.read_matches(log, cluster="voter"), odds - odds.min()  # that of the best is 0 but for the simulation


def test_votes_of_voters_with_tastes_count_as_fewer_games() -> None:
    tastes, none = (discount_clusters(log_of_tastes(3, taste=taste)[0]) for taste in (1.0, 0.0))
    assert tastes.games.sum() < 700
    assert none.games.sum() > 1500  # few voters leave open whether they have tastes
    assert tastes.clusters is None


def test_a_fan_of_one_agent_makes_above_all_that_agent_uncertain() -> None:
    matches, _ = log_of_tastes(5, taste=0.0, voters=400)
    fan = pl.DataFrame({"model_a": "m3", "model_b": [f"m{k}" for k in (0, 1, 2, 4, 5, 6, 7, 8, 9)] * 17})
    rows = [(a, b, "model_a", "fan") for a, b in fan.iter_rows()]
    log = pl.DataFrame(rows, schema=["model_a", "model_b", "winner", "voter"], orient="row")
    honest = pl.DataFrame(
        [
            (matches.agents[i], matches.agents[j], "model_a" if won else "model_b", f"v{k}-{side}")
            for k, (i, j) in enumerate(matches.pairs)
            for won, times, side in ((True, matches.wins[k], "a"), (False, matches.losses[k], "b"))
            for side in [f"{side}{n}" for n in range(int(times))]
        ],
        schema=log.columns,
        orient="row",
    )
    together = nb.read_matches(pl.concat([honest, log]), cluster="voter")
    left = discount_clusters(together).games_per_agent / together.games_per_agent
    at = together.agents.index("m3")
    assert left[at] < 0.2
    assert np.delete(left, at).min() > 0.4  # 17 votes that agree are a score of 7 points beside 400 votes' 10


@pytest.mark.slow
def test_gaps_are_covered_where_voters_have_tastes() -> None:
    inside, sure = [], []
    for seed in range(6100, 6130):
        matches, truth = log_of_tastes(seed)
        found = nb.evaluate(matches, n_resamples=200, methods=()).posterior
        order = [int(agent[1:]) for agent in found.agents]
        inside.append((found.gap_low - 1e-9 <= truth[order]) & (truth[order] <= found.gap_high + 1e-9))
        sure += [truth[k] == 0 for k, p in zip(order, found.probability_top, strict=True) if p >= 0.95]
    assert np.mean(inside) > 0.88  # 0.73 where each vote counts as one
    assert not sure or np.mean(sure) > 0.8


def test_a_plan_is_as_unsure_as_the_board_where_voters_have_tastes() -> None:
    claimed, right = [], []
    for seed in range(9500, 9520):
        matches, truth = log_of_tastes(seed, voters=25, taste=1.2, votes=1500)
        claimed.append(nb.plan(matches, games=100).probability)
        best = matches.agents[int(np.argmax(nb.elo(matches).ratings))]
        right.append(truth[int(best[1:])] == 0)
    assert np.mean(claimed) < 0.6  # 0.77 where each vote counts as one
    assert np.mean(claimed) == pytest.approx(np.mean(right), abs=0.2)
