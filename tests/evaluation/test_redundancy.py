"""Clones and near-clones: planted copies are found, and false claims are as rare as stated."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nashboard as nb
from arenas import data_of, play, problem
from nashboard._types import Floats
from nashboard.evaluation.audit.audit import audit
from nashboard.evaluation.audit.redundancy import (
    Redundancy,
    compare_rows,
    find_cliques,
    find_redundancy,
    measure_agents,
    measure_rows,
)
from nashboard.evaluation.posterior.duplicates import SURE, find_near_duplicates
from nashboard.evaluation.posterior.scores import adjust_holm
from nashboard.evaluation.problem import Kind
from nashboard.evaluation.stress.experiment import enter_agents, enter_in_scores

LEVEL = 0.05


def styles(n: int, rng: np.random.Generator) -> Floats:
    """Return log-odds of agents that differ in strength and in whom they beat."""
    L = rng.normal(0, 0.8, (n, n))
    r = rng.normal(0, 0.8, n)
    return np.asarray(r[:, None] - r + (L - L.T) / 2)


def copied(x: Floats) -> Floats:
    """Return log-odds in which the last agent is the first one again."""
    index = [*range(len(x)), 0]
    return x[np.ix_(index, index)]


def agents_of(data: nb.Matches | nb.Scores) -> Redundancy:
    return find_redundancy(problem(data, n_resamples=2), "agents", LEVEL, None)


ARENAS = 40


@pytest.mark.slow
def test_the_same_checkpoint_entered_twice_with_different_luck_is_found() -> None:
    found = suspected = 0
    for seed in range(ARENAS):
        rng = np.random.default_rng(seed)
        redundancy = agents_of(play(copied(styles(11, rng)), 300, rng))
        found += {"agent 1", "agent 12"} in [set(group.members) for group in redundancy.groups]
        suspected += {"agent 1", "agent 12"} in [{pair.first, pair.second} for pair in redundancy.suspected]
    assert found >= 0.75 * ARENAS  # another agent of the same style and almost the same strength is possible, too
    assert found + suspected >= 0.95 * ARENAS


@pytest.mark.slow
def test_where_data_are_too_few_for_proof_a_copy_is_still_suspected() -> None:
    found = 0
    for seed in range(ARENAS):
        rng = np.random.default_rng(seed)
        redundancy = agents_of(play(copied(styles(9, rng)), 100, rng))
        pairs = [{pair.first, pair.second} for pair in redundancy.suspected]
        groups = [set(group.members) for group in redundancy.groups]
        found += {"agent 1", "agent 10"} in pairs + groups
    assert found >= 0.6 * ARENAS


@pytest.mark.slow
@pytest.mark.parametrize("games", [30, 60])
def test_a_suspicion_of_one_pair_among_many_is_told_and_fails_no_check(games: int) -> None:
    seen = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        clones = agents_of(play(copied(styles(9, rng)), games, rng))
        check = clones.checks()[0]
        if clones.suspected and not clones.groups and not clones.copies >= SURE:  # else copies are sure, but not which
            seen += 1
            assert check.passed is None
            among = r"suspected( when looked at alone)?, as chance may make some among 45 pairs"
            assert re.search(among, check.sentence)
            assert clones.sentences()[0].startswith("no near-duplicates are shown among agents; ")
        if seen > 3:
            return
    pytest.fail("nobody was suspected, so that the claims above were not made")


@pytest.mark.slow
def test_different_agents_are_called_near_clones_no_more_often_than_stated() -> None:
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(1000 + seed)
        wrong += bool(agents_of(play(styles(8, rng), 100, rng)).groups)
    assert wrong <= 5


def test_thin_data_make_nobody_a_near_clone() -> None:
    rng = np.random.default_rng(7)
    found = agents_of(play(np.zeros((12, 12)), 4, rng))
    assert found.groups == ()
    check = found.checks()[0]
    assert check.passed is None
    assert check.sentence.startswith("66 of 66 pairs")


def test_win_rates_without_numbers_of_games_show_nobody_alike() -> None:
    alphago = data_of("alphago")
    assert agents_of(alphago).groups == ()


def test_a_noisy_copy_of_an_agent_and_of_a_task_is_found_in_scores() -> None:
    rng = np.random.default_rng(8)
    truth = rng.uniform(0.2, 0.8, (8, 10))
    truth = np.hstack([np.vstack([truth, truth[:1]]), np.vstack([truth, truth[:1]])[:, :1]])
    n = np.full(truth.shape, 4000.0)
    scores = nb.Scores.from_array(rng.binomial(4000, truth) / 4000, n=n)
    agents, tasks = audit(scores, n_resamples=20).redundancy
    assert [group.members for group in agents.groups] == [("agent 1", "agent 9")]
    assert [group.members for group in tasks.groups] == [("task 1", "task 11")]
    assert not agents.groups[0].exact
    assert agents.basis == "test"


@pytest.mark.slow
def test_different_agents_in_scores_are_called_near_clones_no_more_often_than_stated() -> None:
    rng = np.random.default_rng(9)
    wrong = 0
    for _ in range(30):
        truth = rng.uniform(0.3, 0.7, (6, 8))
        scores = nb.Scores.from_array(rng.binomial(200, truth) / 200, n=np.full(truth.shape, 200.0))
        drawn = problem(scores, n_resamples=2)
        kinds: tuple[Kind, ...] = ("agents", "tasks")
        wrong += any(find_redundancy(drawn, kind, LEVEL, None).groups for kind in kinds)
    assert wrong <= 2


def test_a_copy_of_a_task_in_other_units_is_torn_apart_at_most_at_the_level() -> None:
    rng = np.random.default_rng(12)
    repeats, torn, noise = 300, 0, 0.02
    for _ in range(repeats):
        task = rng.uniform(0, 1, 12)
        rows = np.stack([task, task]) + noise * rng.standard_normal((2, 12))
        low, size = rows.min(axis=1, keepdims=True), np.ptp(rows, axis=1, keepdims=True)
        found = compare_rows((rows - low) / size, noise / size * np.ones((2, 12)), 0.05, aligned=True)
        torn += found.p_same[0, 1] <= LEVEL
    assert torn <= repeats * LEVEL + 3 * np.sqrt(repeats * LEVEL * (1 - LEVEL))


def test_rows_at_the_margin_are_shown_alike_at_most_at_the_level() -> None:
    rng = np.random.default_rng(10)
    repeats, claims, margin, noise = 400, 0, 0.05, 0.02
    for _ in range(repeats):
        S = np.zeros((2, 15))
        S[1] = margin * rng.choice([-1.0, 1.0], 15)
        found = compare_rows(S + noise * rng.standard_normal(S.shape), np.full(S.shape, noise), margin)
        claims += found.p_apart[0, 1] <= LEVEL
    assert claims <= repeats * LEVEL + 3 * np.sqrt(repeats * LEVEL * (1 - LEVEL))


def test_without_known_noise_only_exact_copies_are_claimed() -> None:
    suite = data_of("suite-4")
    tasks = audit(suite, noise="none").redundancy[1]
    assert [group.exact for group in tasks.groups] in ([], [True])
    assert "the data are taken as exact" in tasks.rule


def test_exact_copies_are_found_and_entering_them_once_undoes_what_they_did() -> None:
    rps = data_of("rock-paper-scissors")
    entered = enter_agents(rps, {"C": 3})
    found = audit(entered, noise="none").redundancy[0]
    (group,) = found.groups
    assert group.exact
    assert set(group.members) == {"C", "C (copy 1)", "C (copy 2)", "C (copy 3)"}
    moved = {one.method: one for one in found.merged}
    for method in ("uniform", "elo"):
        assert moved[method].winners_before == ("B",)
        assert set(moved[method].winners_after) == {"A", "B", group.representative}
    assert moved["nash"].score_moved <= 1e-9
    assert any("changes the winner" in line for line in found.sentences())


def test_exact_copies_in_scores_are_merged_without_moving_nash() -> None:
    atari = data_of("atari")
    entered = enter_in_scores(atari, "tasks", {"venture": 10})
    tasks = audit(entered, noise="none").redundancy[1]
    assert any(group.exact and len(group.members) == 11 for group in tasks.groups)


def test_the_distance_of_two_agents_is_that_of_a_slow_twin() -> None:
    rng = np.random.default_rng(11)
    matches = play(styles(5, rng), 30, rng)
    W = np.zeros((5, 5))
    for (i, j), w, lost in zip(matches.pairs, matches.wins, matches.losses, strict=True):
        W[i, j], W[j, i] = w, lost
    statistic = 0.0
    for opponent in (2, 3, 4):
        a, b = W[0, opponent], W[1, opponent]
        pooled = (a + b) / 60
        variance = pooled * (1 - pooled) * (1 / 30 + 1 / 30) * 60 / 59
        statistic += (a / 30 - b / 30) ** 2 / variance
    distance, observed = measure_agents(matches)
    information = 3 * 15 / 0.25
    assert observed[0, 1] == pytest.approx(np.sqrt(statistic / information))
    assert distance[0, 1] == pytest.approx(np.sqrt(max(statistic - 3, 0) / information))


@given(hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)), st.floats(0.001, 0.5))
def test_holm_is_its_definition(p: Floats, level: float) -> None:
    expected = np.zeros(len(p), dtype=bool)
    for step, k in enumerate(np.argsort(p, kind="stable")):
        if p[k] * (len(p) - step) > level:
            break
        expected[k] = True
    assert ((adjust_holm(p) <= level) == expected).all()


def test_distances_are_root_mean_squares_also_of_nearly_equal_rows() -> None:
    S = np.array([[1.0, 2.0], [1.0 + 1e-9, 2.0], [4.0, 6.0]])
    D = measure_rows(S)
    assert D[0, 2] == pytest.approx(np.sqrt(12.5))
    assert D[0, 1] == pytest.approx(1e-9 / np.sqrt(2), rel=1e-6)


def test_groups_are_cliques_not_chains() -> None:
    alike = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    distance = np.array([[0, 0.1, 0.9], [0.1, 0, 0.2], [0.9, 0.2, 0]])
    assert find_cliques(alike, distance) == [[0, 1]]


@pytest.mark.parametrize("margin", [0.0, 1.0, float("nan"), -0.1])
def test_a_margin_outside_0_and_1_is_refused(margin: float) -> None:
    suite = data_of("suite-3")
    with pytest.raises(nb.InputError, match="margin"):
        audit(suite, margin=margin)


def test_newcomers_with_one_equal_game_are_not_called_copies_and_an_agent_entered_twice_is() -> None:
    W = np.zeros((10, 10))
    W[:8, :8] = np.random.default_rng(8).integers(1, 6, (8, 8)) * (1 - np.eye(8))
    W[8, 3] = W[9, 3] = 1  # both newcomers have beaten the same agent once
    newcomers = nb.Matches.from_counts(W)
    found = agents_of(newcomers)
    once = found.checks()[0]
    assert once.passed is None
    assert once.sentence.startswith("equal results of few games: agent 9, agent 10")
    assert [pair.status for pair in found.nearest].count("exact copies") == 0
    assert [pair.status for pair in found.nearest].count("equal results") == 1
    entered = agents_of(enter_agents(newcomers, {"agent 1": 1}))
    assert entered.checks()[0].passed is False
    assert entered.checks()[0].sentence.startswith("identical data: agent 1, agent 1 (copy 1)")
    assert [pair.status for pair in entered.nearest].count("exact copies") == 1


@pytest.mark.parametrize("seed", [43, 52, 90])  # the leagues among 150 whose games look most like tosses of a coin
def test_a_league_of_neighbours_in_strength_is_not_a_few_agents(seed: int) -> None:
    n, rng = 24, np.random.default_rng(seed)
    strength, wins = np.sort(rng.normal(0, 1.0, n)), np.zeros((n, n))
    for k in (1, 2, 3):
        for a in range(n - k):
            wins[a + k, a] = rng.binomial(10, 1 / (1 + np.exp(strength[a] - strength[a + k])))
            wins[a, a + k] = 10 - wins[a + k, a]
    found = find_near_duplicates(nb.Matches.from_counts(wins))
    assert (len(set(found.label.tolist())), found.verdict) == (n, "cannot tell")
