"""Near-duplicates are pooled, reported, and can be kept apart."""

import numpy as np
import pytest
from scipy.special import expit

import nashboard as nb
from arenas import leads, played, problem
from nashboard._types import Floats
from nashboard.evaluation.posterior.matches import solve_games
from nashboard.evaluation.stress.experiment import enter_agents
from nashboard.ratings.hierarchical.model import fit_hierarchical
from nashboard.ratings.hierarchical.planes import count_planes


@pytest.fixture(scope="module")
def arena() -> nb.Matches:
    rng = np.random.default_rng(11)
    return played(rng, leads(rng, 8, spread=0.7, cyclic=0.5), 200)


def test_noisy_copies_are_pooled_with_a_note_and_one_name_in_the_verdict(arena: nb.Matches) -> None:
    best = str(nb.evaluate(arena, n_resamples=50).leaderboard().rows[0][1])
    copied = enter_agents(arena, {best: 4}, np.random.default_rng(1))
    found = nb.evaluate(copied, n_resamples=50)
    group = next(group for group in found.pooled if best in group)
    assert set(group) == {best, *(f"{best} (copy {k})" for k in range(1, 5))}
    (note,) = (line for line in found.warnings if line.startswith("Probable near-duplicates are pooled"))
    assert "pool=False" in note
    assert "(copy 1)" not in found.verdict[0]
    members = [copied.agents.index(name) for name in group]
    assert len(set(found.board.gaps[members].tolist())) == 1
    apart = nb.evaluate(copied, n_resamples=50, pool=False)
    assert apart.pooled == ()
    assert len(set(apart.board.gaps[members].tolist())) == 5


def test_the_audit_gives_the_answer_that_the_board_acted_on(arena: nb.Matches) -> None:
    copied = enter_agents(arena, {arena.agents[2]: 5}, np.random.default_rng(2))
    result = nb.evaluate(copied, n_resamples=20)
    found = result.audit().redundancy[0]
    assert {frozenset(group.members) for group in found.groups} == {frozenset(group) for group in result.pooled}
    assert found.groups


def test_pooled_copies_of_copies_stay_together(arena: nb.Matches) -> None:
    noisy = enter_agents(arena, {arena.agents[0]: 1}, np.random.default_rng(3))
    both = enter_agents(noisy, {arena.agents[0]: 2})
    once, again = nb.evaluate(noisy, n_resamples=20), nb.evaluate(both, n_resamples=20)
    np.testing.assert_array_equal(again.board.gaps[: len(noisy.agents)], once.board.gaps)
    assert again.board.weights.sum() == pytest.approx(1.0)


def test_different_agents_are_not_pooled(arena: nb.Matches) -> None:
    assert problem(arena).pools == ()


def checkpoints() -> Floats:
    """Return log-odds of twelve checkpoints in three styles that beat each other in a circle; most grow in strength."""
    strength, style = np.minimum(0.25 * np.arange(12), 1.8), np.arange(12) % 3
    circle = 0.8 * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    return np.asarray(strength[:, None] - strength + circle[style][:, style])


@pytest.mark.slow
@pytest.mark.parametrize("games", [20, 40, 100])
def test_an_agent_of_the_style_of_the_best_is_not_taken_for_it(games: int) -> None:
    x, covered, first = checkpoints(), [], []
    truth = solve_games(x[None])[0][0]
    for seed in range(16):
        found = nb.evaluate(played(np.random.default_rng([1907, games, seed]), x, games), n_resamples=200).posterior
        covered.append(np.mean((found.gap_low <= truth + 1e-9) & (truth <= found.gap_high + 1e-9)))
        first.append(found.probability_top[6])  # 52 Elo points below the top, and of the same style
    assert np.mean(covered) >= 0.92
    assert np.mean(np.array(first) >= 0.95) <= 0.05
    assert np.mean(first) <= 0.25


def test_equal_results_give_equal_boards_however_they_are_written() -> None:
    rng = np.random.default_rng(0)
    won = np.triu(rng.binomial(40, expit(checkpoints())), 1)
    won = won + np.tril(40 - won.T, -1)
    counted = nb.evaluate(nb.Matches.from_counts(won), n_resamples=50).posterior
    shared = nb.evaluate(nb.Matches.from_win_rates((won + 20 * np.eye(12)) / 40, games=40), n_resamples=50).posterior
    for name in ("gap", "gap_low", "gap_high", "probability_top"):
        np.testing.assert_array_equal(getattr(counted, name), getattr(shared, name))


def test_pooled_entries_count_once_in_the_ranks_by_mean_too() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([0.9, 0.7, 0.5, 0.5, 0.3, 0.1])[:, None] + rng.normal(0, 0.1, (6, 5))
    truth[3] = truth[2]
    values = truth + 0.02 * rng.standard_normal(truth.shape)
    found = nb.evaluate(nb.Scores.from_array(values, stderr=np.full(values.shape, 0.02)), n_resamples=60)
    assert found.pooled
    assert found.movers == ()  # before, the last two moved up from 5 and 6
    assert found.board.rating is not None
    assert found.board.rating.rank_high[-1] == found.board.rank_high[-1] == 5


def test_many_copies_with_the_same_opponents_are_not_taken_for_planes_of_rotation() -> None:
    rng = np.random.default_rng([17, 1])
    n, copies = 20, 20
    x = np.triu(rng.normal(0, 1.5, (n, n)), 1)
    x = x - x.T + np.subtract.outer(*2 * [rng.normal(0, 0.5, n)])
    met = np.triu(rng.random((n, n)) < 0.45, 1)
    met |= np.eye(n, k=1, dtype=np.bool_)
    who = np.concatenate([np.arange(n), np.full(copies, 5)])
    games = np.triu(30 * (met | met.T | (np.arange(n) == 5) & (np.arange(n)[:, None] == 5))[np.ix_(who, who)], 1)
    won = rng.binomial(games, 1 / (1 + np.exp(-x[np.ix_(who, who)])))
    matches = nb.Matches.from_counts(won + (games - won).T)
    found = problem(matches)
    assert count_planes(fit_hierarchical(matches)) > 0
    family = {found.agents[k] for k in np.flatnonzero(who == 5)}
    assert any(set(group) >= family for group in found.pools)
    assert found.draws.facts["planes"] == 0


@pytest.mark.parametrize("n", [5, 12])
def test_a_league_of_one_agent_under_many_names_has_a_board(n: int) -> None:
    rng, wins = np.random.default_rng(1), np.zeros((n, n))
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        wins[i, j] = rng.binomial(3000, 0.5)
        wins[j, i] = 3000 - wins[i, j]
    methods = ("nash", "elo", "melo", "newman", "borda", "alpha_rank")
    found = nb.evaluate(nb.Matches.from_counts(wins), methods=methods, n_resamples=20)
    assert found.verdict[0] == f"All {n} agents are equivalent: nothing in these data separates them."
    assert (found.posterior.probability_top == 1).all()
    assert len(found.leaderboard().rows) == n
    assert "near-duplicates: agent 1, agent 2" in str(found.audit())
    assert "Nash average: did not move" in str(found.stress())
