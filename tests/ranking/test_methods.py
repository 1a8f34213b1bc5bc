"""Ways to rank: laws that all keep, promises that are kept or broken by a stored example, and slow twins."""

import itertools
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from arenas import play
from commands import Run
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.ranking.counterexamples import PROMISES, Counterexample, pairwise_order
from nashboard.ranking.method import Method, rank_scores
from nashboard.ranking.methods import alpha_rank, deviation
from nashboard.ranking.orders import Excess, cheapest_order, disagreement
from nashboard.ranking.pairwise import chain_lengths, order_without_names, pairwise
from reference_ranking import (
    alpha_rank_finite,
    alpha_rank_two_populations,
    davidson_gradient,
    deviation_gains,
    kemeny_by_integer_program,
    kemeny_costs,
    prompt_deviation_gains,
    rliable_aggregates,
    schulze_beats,
    tideman_order,
)

CYCLE = np.array([[0, 1, -2], [-1, 0, 1], [2, -1, 0.0]])
METHODS = nb.methods()
PAIRS = [method for method in METHODS if "matches" in method.needs]
NAMED = [method.name for method in PAIRS]
SCORES = [method.name for method in METHODS if "scores" in method.needs]


def random_wins(rng: np.random.Generator, n: int) -> Floats:
    """Return wins of agents who all met, of whom half the tables have as many games of every pair."""
    W = np.zeros((n, n))
    i, j = np.triu_indices(n, 1)
    games = 12 if rng.random() < 0.5 else rng.integers(2, 30, i.size)
    W[i, j] = rng.integers(1, games, i.size)
    W[j, i] = games - W[i, j]
    return W


def random_league(rng: np.random.Generator) -> nb.Matches:
    """Return matches in which all met, with draws, very unequal numbers of games, and agents that never won or lost."""
    n = int(rng.integers(3, 7))
    games = np.triu(np.ceil(10 ** rng.uniform(0, 2.5, (n, n))).astype(int), 1)
    drawn = rng.binomial(games, rng.choice([0.0, 0.3, 0.9]))
    lead = rng.normal(0, rng.choice([0.0, 1.0, 3.0]), n)
    won = rng.binomial(games - drawn, 1 / (1 + np.exp(lead - lead[:, None])))
    return nb.Matches.from_counts(won + (games - drawn - won).T, draws=drawn + drawn.T)


def more_wins(rng: np.random.Generator, data: nb.Matches, best: int) -> nb.Matches:
    """Return the same matches after one agent won more: games it had lost or drawn, or further ones."""
    W, D = (np.array(one) for one in pairwise(data).counts)
    other = int(rng.choice(np.delete(np.arange(len(W)), best)))
    lost, drawn = (int(rng.integers(0, one[other, best] + 1)) for one in (W, D))
    W[best, other] += lost + drawn + rng.choice([1.0, 20.0]) * (lost + drawn == 0)
    W[other, best] -= lost
    D[best, other] = D[other, best] = D[other, best] - drawn
    return nb.Matches.from_counts(W, data.agents, draws=D)


def cases(method: Method, slow: int = 3, fast: int = 15) -> range:
    return range(slow if method.slow else fast)


@pytest.mark.thin(2)
@pytest.mark.parametrize("method", PAIRS, ids=NAMED)
def test_names_and_their_order_do_not_matter(method: Method) -> None:
    for seed in cases(method):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        W = random_wins(rng, n)
        new = rng.permutation(n)
        one = nb.rank(nb.Matches.from_counts(W), method.name)
        two = nb.rank(nb.Matches.from_counts(W[np.ix_(new, new)]), method.name)
        np.testing.assert_array_equal(one.ranks[new], two.ranks)


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", SCORES)
def test_the_order_of_rows_and_columns_of_a_table_does_not_matter(name: str) -> None:
    for seed in range(2 if METHODS[name].slow else 5):
        rng = np.random.default_rng(seed)
        S = rng.normal(size=(5, 6)).round(1)
        rows, columns = rng.permutation(5), rng.permutation(6)
        one = nb.rank(nb.Scores.from_array(S), name)
        two = nb.rank(nb.Scores.from_array(S[np.ix_(rows, columns)]), name)
        np.testing.assert_array_equal(one.ranks[rows], two.ranks)


@pytest.mark.parametrize("method", [one for one in PAIRS if one.clone_proof], ids=lambda one: one.name)
def test_clone_proof_methods_keep_the_order_of_the_others(method: Method) -> None:
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        data = pairwise(nb.Matches.from_counts(random_wins(rng, n)))
        copied = rng.integers(0, n, size=int(rng.integers(1, 6)))
        before = method.rank(data).ranks
        after = method.rank(data.take([*range(n), *copied])).ranks
        np.testing.assert_array_equal(pairwise_order(before), pairwise_order(after[:n]))


@pytest.mark.parametrize("name", ["nash", "schulze", "ranked_pairs", "maximal_lottery", "deviation"])
def test_copies_in_a_sparse_log_move_no_filled_pair(name: str) -> None:
    rng = np.random.default_rng(3)
    W = random_wins(rng, 9) * np.triu(rng.random((9, 9)) < 0.5, 1)
    W = W + np.triu(random_wins(rng, 9), 1).T * (W > 0).T
    path = np.arange(8)
    W[path, path + 1] = 5
    W[path + 1, path] = 7
    one = nb.rank(nb.Matches.from_counts(W), name)
    kept = [*range(9), 4, 4, 0]
    doubled = W[np.ix_(kept, kept)] * (np.array(kept)[:, None] != kept)
    two = nb.rank(nb.Matches.from_counts(doubled), name)
    assert one.notes
    assert "never met" in one.notes[0]
    np.testing.assert_array_equal(pairwise_order(one.ranks), pairwise_order(two.ranks[:9]))


@pytest.mark.parametrize("name", ["nash", "deviation"])
def test_copies_of_agents_and_tasks_leave_a_board_of_scores(name: str) -> None:
    S = np.random.default_rng(5).normal(size=(6, 7))
    rows, columns = [*range(6), 1, 1, 3], [*range(7), 0, 0, 0, 4]
    one = nb.rank(nb.Scores.from_array(S), name)
    two = nb.rank(nb.Scores.from_array(S[np.ix_(rows, columns)]), name)
    np.testing.assert_allclose(one.scores, two.scores[:6], atol=1e-9)


@pytest.mark.parametrize("method", [one for one in PAIRS if "condorcet" in one.promises], ids=lambda one: one.name)
def test_an_agent_that_beats_all_is_alone_in_first_place(method: Method) -> None:
    for seed in cases(method, slow=5):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        W = random_wins(rng, n)
        best = int(rng.integers(n))
        W[best], W[:, best] = 7, 5
        W[best, best] = 0
        assert nb.rank(nb.Matches.from_counts(W), method.name).winners == (f"agent {best + 1}",)


@pytest.mark.parametrize("method", [one for one in PAIRS if "irrelevant" in one.promises], ids=lambda one: one.name)
def test_dropping_an_agent_that_is_not_first_leaves_first_place(method: Method) -> None:
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        data = pairwise(nb.Matches.from_counts(random_wins(rng, n)))
        before = method.rank(data)
        for gone in np.flatnonzero(before.ranks > 1):
            after = method.rank(data.take([k for k in range(n) if k != gone]))
            assert after.winners == before.winners


@pytest.mark.thin(2)
@pytest.mark.parametrize("method", [one for one in PAIRS if "monotone" in one.promises], ids=lambda one: one.name)
def test_a_sole_winner_that_does_better_stays_first(method: Method) -> None:
    for seed in cases(method, slow=5, fast=25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 7))
        W = random_wins(rng, n)
        before = nb.rank(nb.Matches.from_counts(W), method.name)
        best = int(np.argmin(before.ranks))
        if len(before.winners) > 1:
            continue
        other = int(rng.choice([k for k in range(n) if k != best]))
        more = int(rng.integers(1, W[other, best] + 1))
        W[best, other] += more
        W[other, best] -= more
        assert before.winners[0] in nb.rank(nb.Matches.from_counts(W), method.name).winners


@pytest.mark.thin(2)
@pytest.mark.parametrize("method", [one for one in PAIRS if one.promises], ids=lambda one: one.name)
def test_promises_are_kept_with_draws_and_very_unequal_numbers_of_games(method: Method) -> None:
    for seed in cases(method, slow=8, fast=40):
        rng = np.random.default_rng([19, seed])
        given = random_league(rng)
        data, n = pairwise(given), len(given.agents)
        before = method.rank(data)
        first = np.flatnonzero(before.ranks == 1)
        if "clones" in method.promises:
            after = method.rank(data.take([*range(n), *rng.integers(0, n, size=3)]))
            np.testing.assert_array_equal(pairwise_order(before.ranks), pairwise_order(after.ranks[:n]))
        if "condorcet" in method.promises:
            beats = np.flatnonzero((data.margins > 0).sum(axis=1) == n - 1)
            assert not beats.size or first.tolist() == beats.tolist()
        if "irrelevant" in method.promises:
            for gone in np.flatnonzero(before.ranks > 1):
                assert method.rank(data.take(np.delete(np.arange(n), gone))).winners == before.winners
        if "monotone" in method.promises and first.size == 1:
            for _ in range(3):
                assert before.winners[0] in nb.rank(more_wins(rng, given, int(first[0])), method.name).winners


@pytest.mark.parametrize("method", [one for one in PAIRS if "scores" in one.needs], ids=lambda one: one.name)
def test_what_is_promised_of_scores_is_kept_on_random_tables(method: Method) -> None:
    """Of copies of agents, of an agent that is better on most tasks, of agents left out, and of better scores."""
    kept = set(method.promises) - set(method.not_of_scores)
    for rng, S in random_tables(12 if method.slow else 40):
        data, n = pairwise(nb.Scores.from_array(S)), len(S)
        try:
            before = method.rank(data)
        except nb.InputError:  # of eigenvectors
            continue
        first = np.flatnonzero(before.ranks == 1)
        if "clones" in kept:
            after = method.rank(data.take([*range(n), *rng.integers(0, n, size=3)]))
            np.testing.assert_array_equal(pairwise_order(before.ranks), pairwise_order(after.ranks[:n]))
        if "condorcet" in kept:
            beats = np.flatnonzero((np.sign(S[:, None] - S).sum(axis=2) > 0).sum(axis=1) == n - 1)
            assert not beats.size or first.tolist() == beats.tolist()
        if "irrelevant" in kept:
            for gone in np.flatnonzero(before.ranks > 1):
                assert method.rank(data.take(np.delete(np.arange(n), gone))).winners == before.winners
        if "monotone" in kept and first.size == 1:
            S[first[0], rng.integers(S.shape[1])] += rng.exponential(2.0)
            assert before.winners[0] in nb.rank(nb.Scores.from_array(S), method.name).winners


ONLY_SCORES = [one for one in METHODS if "matches" not in one.needs]


def random_tables(count: int) -> Iterator[tuple[np.random.Generator, Floats]]:
    """Yield complete tables of scores, half of them with ties."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        S = rng.normal(size=(int(rng.integers(3, 7)), int(rng.integers(2, 8))))
        yield rng, S.round(1) if seed % 2 else S


@pytest.mark.parametrize("method", ONLY_SCORES, ids=lambda one: one.name)
def test_a_sole_winner_that_scores_more_stays_first(method: Method) -> None:
    assert "monotone" in method.promises
    for rng, S in random_tables(200):
        before = nb.rank(nb.Scores.from_array(S), method.name)
        if len(before.winners) == 1:
            S[np.argmin(before.ranks), rng.integers(S.shape[1])] += rng.exponential(2.0)
            assert before.winners[0] in nb.rank(nb.Scores.from_array(S), method.name).winners


def test_a_mean_of_scores_depends_on_no_other_agent() -> None:
    assert [one.name for one in ONLY_SCORES if "irrelevant" in one.promises] == ["mean"]
    for _, S in random_tables(50):
        data = pairwise(nb.Scores.from_array(S))
        before = METHODS["mean"].rank(data)
        for gone in np.flatnonzero(before.ranks > 1):
            after = METHODS["mean"].rank(data.take(np.delete(np.arange(len(S)), gone)))
            assert after.winners == before.winners
    promised = {promise for one in ONLY_SCORES for promise in one.promises}
    assert promised == {"irrelevant", "monotone"}


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("method", "example"),
    [
        pytest.param(one, example, id=f"{one.name}-{example.promise}{'-scores' * example.of_scores}")
        for one in METHODS
        for example in one.counterexamples
    ],
)
def test_every_missing_promise_is_broken_by_its_example(method: Method, example: Counterexample) -> None:
    assert example.breaks_promise(method)
    assert example.words(method)


def test_a_method_promises_what_none_of_its_examples_breaks() -> None:
    for method in METHODS:
        broken = [example.promise for example in method.counterexamples]
        assert sorted([*method.promises, *broken]) == sorted([*PROMISES, *method.not_of_scores])
        assert set(method.not_of_scores) <= set(method.promises)
        assert all(example.of_scores for example in method.counterexamples if "matches" not in method.needs)
    assert [one.name for one in METHODS if one.not_of_scores] == ["nash", "alpha_rank", "deviation"]


def test_each_method_is_one_file_that_registers_it() -> None:
    folder = Path(alpha_rank.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(METHODS.names)


def test_schulze_compares_the_strongest_of_all_paths() -> None:
    for seed in range(20):
        W = random_wins(np.random.default_rng(seed), 5)
        ranks = nb.rank(nb.Matches.from_counts(W), "schulze").ranks
        beats = schulze_beats((W - W.T) / np.maximum(W + W.T, 1))
        assert all(ranks[i] < ranks[j] for i, j in zip(*np.nonzero(beats), strict=True))
        assert set(np.flatnonzero(ranks == 1)) == set(np.flatnonzero(~beats.any(axis=0)))


def test_ranked_pairs_locks_the_largest_margins_first() -> None:
    for seed in range(15):
        A = np.random.default_rng(seed).normal(size=(6, 6))
        A = A - A.T
        found = nb.rank(A, "ranked_pairs")
        assert [int(name.split()[1]) - 1 for name in found.order] == tideman_order(A)


def test_ranked_pairs_treats_tied_cycles_alike() -> None:
    W = [[0, 9, 1, 6], [1, 0, 9, 6], [9, 1, 0, 6], [4, 4, 4, 0]]
    np.testing.assert_array_equal(nb.rank(nb.Matches.from_counts(W), "ranked_pairs").ranks, [1, 1, 1, 4])


def test_kemeny_finds_the_cheapest_of_all_orders() -> None:
    for seed in range(25):
        rng = np.random.default_rng(seed)
        W = random_wins(rng, int(rng.integers(3, 7)))
        costs = kemeny_costs((W - W.T) / np.maximum(W + W.T, 1))
        found = nb.rank(nb.Matches.from_counts(W), "kemeny")
        least = min(costs.values())
        best = [order for order, cost in costs.items() if cost <= least + 1e-9]
        assert found.certificate["disagreement"] == pytest.approx(least, abs=1e-9)
        assert found.certificate["optimal"]
        assert found.certificate["unique"] == (len(best) == 1)
        places = np.array([np.argsort(order) for order in best])
        agreed = np.asarray((places[:, :, None] < places[:, None]).all(axis=0))
        np.testing.assert_array_equal(-found.scores, chain_lengths(agreed))


@pytest.mark.parametrize("name", ["elo", "melo"])
def test_ratings_have_the_learned_prior_of_their_own_functions(name: str) -> None:
    W = np.array([[0, 6, 4, 9], [4, 0, 7, 8], [6, 3, 0, 9], [1, 2, 1, 0.0]])
    for data in (nb.Matches.from_counts(W), nb.Matches.from_counts(np.pad(W, (0, 1)) + np.eye(5, k=-4))):  # unbeaten
        expected = getattr(nb, name)(data).ratings
        found = nb.rank(data, name)
        np.testing.assert_allclose(found.scores, expected, atol=1e-6)
        once = nb.methods()[name].learned(pairwise(data)).rank(pairwise(data))
        np.testing.assert_allclose(once.scores, expected, atol=1e-6)
    exact = nb.Payoffs.from_array(
        np.log(3) * (np.triu(np.ones((3, 3)), 1) - np.tril(np.ones((3, 3)), -1)), scale="logit"
    )
    assert np.ptp(nb.rank(exact, "elo").scores) > 250  # a payoff is no single game


@pytest.mark.parametrize("seed", [0, 1])
def test_kemeny_proves_the_best_order_of_40_agents_in_a_cycle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r, c = rng.normal(0, 0.4, 40), rng.normal(size=(2, 40))
    x = r[:, None] - r + np.outer(c[0], c[1]) - np.outer(c[1], c[0])
    W = np.triu(rng.binomial(20, 1 / (1 + np.exp(-x))), 1).astype(float)
    found = nb.rank(nb.Matches.from_counts(W + np.tril(20 - W.T, -1)), "kemeny").certificate
    assert found["optimal"]
    assert found["bound"] == pytest.approx(found["disagreement"])
    assert found["bound"] > 10


def noise(n: int) -> Floats:
    """Return payoffs that are noise alone, in which everybody is in one cycle."""
    A = np.triu(np.random.default_rng(1).binomial(20, 0.5, size=(n, n)), 1) / 10 - np.triu(np.ones((n, n)), 1)
    return np.asarray(A - A.T)


@pytest.mark.parametrize(("n", "nodes"), [(31, 1), (31, 4000), (130, 1)])
def test_kemeny_proves_a_bound_where_it_cannot_solve(n: int, nodes: int) -> None:
    found = nb.rank(noise(n), "kemeny", nodes=nodes)
    assert 0 < found.certificate["bound"] <= found.certificate["disagreement"]
    assert not found.certificate["optimal"]


@pytest.mark.parametrize("seed", range(3))
def test_names_do_not_choose_between_cheapest_orders_of_a_large_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = np.triu(rng.binomial(6, 0.5, size=(24, 24)), 1).astype(np.float64)  # many margins are equal
    W += np.tril(6 - W.T, -1)
    new = rng.permutation(24)
    one, two = (nb.rank(nb.Matches.from_counts(X), "kemeny") for X in (W, W[np.ix_(new, new)]))
    assert "unique" not in one.certificate
    np.testing.assert_array_equal(one.ranks[new], two.ranks)


def test_kemeny_solves_34_agents_of_pure_noise() -> None:
    assert nb.rank(noise(34), "kemeny").certificate["optimal"]


@pytest.mark.parametrize("seed", range(6))
def test_the_search_for_the_cheapest_order_ends_where_an_integer_program_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 24))
    w = np.triu(rng.integers(-5, 6, size=(n, n)) if seed % 2 else rng.normal(size=(n, n)), 1).astype(np.float64)
    w -= w.T
    order, least = cheapest_order(w, lambda w, order: order, 10**6)
    assert sorted(order.tolist()) == list(range(n))
    assert disagreement(w, order) == pytest.approx(kemeny_by_integer_program(w), abs=1e-6)
    assert least == disagreement(w, order)


def test_any_prices_of_cycles_split_what_an_order_costs() -> None:
    rng = np.random.default_rng(0)
    w = rng.normal(size=(7, 7))
    w -= w.T
    cycles = np.array([one for one in itertools.permutations(range(7), 3) if one[0] == min(one)])
    excess = Excess.of(np.maximum(-w, 0.0), cycles, rng.exponential(size=len(cycles)))
    for order in rng.permuted(np.tile(np.arange(7), (20, 1)), axis=1):
        for side, one in ((excess, order), (excess.reversed, order[::-1])):
            level = (np.zeros(1, dtype=np.uint64), np.zeros(1))
            for agent in one:
                sets, paid = next(side.extend(level, np.inf))
                here = sets == level[0] | np.uint64(1 << int(agent))
                level = sets[here], paid[here]
            assert excess.bound + level[1][0] == pytest.approx(disagreement(w, order))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals as Unix has them")
def test_ctrl_c_ends_kemeny_while_its_program_is_solved() -> None:
    script = (
        "import signal, numpy as np, nashboard as nb\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "A = np.triu(np.random.default_rng(1).integers(-10, 11, (40, 40)), 1)\n"
        "print('ready', flush=True)\n"
        "nb.rank((A - A.T) / 10, 'kemeny')\n"
    )
    running = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    running.stdout.readline()
    time.sleep(5)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert said.strip().endswith(b"KeyboardInterrupt")


def test_alpha_rank_at_finite_alpha_is_the_chain_of_fixation_probabilities() -> None:
    for seed in range(10):
        A = np.random.default_rng(seed).normal(size=(5, 5))
        A = A - A.T
        for alpha in (0.01, 0.3, 1.0):
            found = nb.rank(A, "alpha_rank", alpha=alpha, population=20)
            np.testing.assert_allclose(found.scores, alpha_rank_finite(A, alpha, 20), atol=1e-8)


def test_alpha_rank_at_infinite_alpha_is_the_limit() -> None:
    A = np.random.default_rng(1).normal(size=(6, 6))
    A = A - A.T
    limit, near = nb.rank(A, "alpha_rank"), nb.rank(A, "alpha_rank", alpha=300.0)
    np.testing.assert_allclose(limit.scores, near.scores, atol=1e-6)
    assert limit.certificate["residual"] < 1e-12


def test_alpha_rank_of_two_populations_is_uniform_in_matching_pennies() -> None:
    found = nb.rank(nb.Scores.from_array([[1, 0], [0, 1]]), "alpha_rank")
    np.testing.assert_allclose(found.scores, [0.5, 0.5])


def test_alpha_rank_of_two_populations_is_the_chain_of_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """By elimination and by iteration; a task on which all agents are equal takes part in the chain."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        S = rng.normal(size=(int(rng.integers(2, 6)), int(rng.integers(2, 5)))).round(1)
        S[:, 0] = S[0, 0] if seed % 2 else S[:, 0]
        for alpha, dense in itertools.product((0.01, 0.3, 2.0), (2500, 1)):
            monkeypatch.setattr(alpha_rank, "DENSE", dense)
            found = nb.rank(nb.Scores.from_array(S), "alpha_rank", scaling="none", alpha=alpha, population=20)
            np.testing.assert_allclose(found.scores, alpha_rank_two_populations(S, alpha, 20), atol=1e-7)


def test_alpha_rank_of_large_tables_is_that_of_the_whole_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        S = nb.Scores.from_array(rng.normal(size=(8, 7)).round(1 + seed % 2), agents=[f"a{k}" for k in range(8)])
        monkeypatch.setattr(alpha_rank, "DENSE", 2500)
        exact = nb.rank(S, "alpha_rank")
        monkeypatch.setattr(alpha_rank, "DENSE", 3)
        np.testing.assert_allclose(nb.rank(S, "alpha_rank").scores, exact.scores, atol=1e-8)


def test_deviation_ratings_minimise_gains_lexicographically() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        A = np.sign(rng.normal(size=(5, 5)).round(0)) if seed % 2 else rng.integers(-1, 2, size=(4, 4)).astype(float)
        A = np.triu(A, 1) - np.triu(A, 1).T
        found = nb.rank(A, "deviation")
        np.testing.assert_allclose(found.scores, deviation_gains(A), atol=1e-6)


def test_newman_is_at_the_maximum_of_davidsons_likelihood() -> None:
    rng = np.random.default_rng(2)
    W = random_wins(rng, 5)
    D = np.triu(rng.integers(0, 5, (5, 5)), 1)
    found = nb.rank(nb.Matches.from_counts(W, draws=D + D.T), "newman", prior=0)
    nu = float(found.certificate["draw_parameter"])
    assert davidson_gradient(found.scores / POINTS_PER_LOGIT, nu, W, np.array(D + D.T, dtype=np.float64)) < 1e-5


def prompt_log(rng: np.random.Generator, t: int, n: int) -> list[dict[str, object]]:
    return [
        {
            "model_a": f"m{a}",
            "model_b": f"m{b}",
            "winner": str(rng.choice(["model_a", "model_b", "tie"])),
            "prompt": f"q{p}",
        }
        for p in range(t)
        for a in range(n)
        for b in range(a + 1, n)
        for _ in range(2)
    ]


@pytest.mark.parametrize("written_down", [0, 20_000])
def test_deviation_ratings_take_prompts_as_a_player(written_down: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a small program over joint choices, and in one with shares as variables."""
    monkeypatch.setattr(deviation, "DIRECT", written_down)
    for seed in range(4):
        log = prompt_log(np.random.default_rng(seed), t=2 + seed % 2, n=3)
        prompts = nb.read_segments(pl.DataFrame(log), "prompt")
        data = pairwise(prompts)
        assert data.prompts is not None
        found = nb.rank(prompts, "deviation")
        np.testing.assert_allclose(found.scores, prompt_deviation_gains(data.prompts), atol=1e-6)
        copied = pl.DataFrame([*log, *({**row, "prompt": "again"} for row in log if row["prompt"] == "q0")])
        again = nb.rank(nb.read_segments(copied, "prompt"), "deviation")  # a prompt asked under a second name
        np.testing.assert_allclose(again.scores, found.scores, atol=1e-6)
        twice = METHODS["deviation"].rank(data.take([0, 1, 2, 1, 1]))
        np.testing.assert_allclose(twice.scores[:3], found.scores, atol=1e-6)
        assert nb.rank(prompts, "borda").agents == found.agents


def test_rounding_of_programs_with_prompts_separates_no_models() -> None:
    log = [("a", "b", 1, "q1"), ("b", "c", 1, "q1"), ("c", "a", 1, "q2"), ("a", "b", 0.5, "q2"), ("b", "c", 0, "q3")]
    frame = pl.DataFrame([*log, ("a", "c", 1, "q3")], schema=["a", "b", "outcome", "prompt"], orient="row")
    found = nb.rank(nb.read_segments(frame, "prompt"), "deviation")
    np.testing.assert_allclose(found.scores, -0.25, atol=1e-6)
    assert found.ranks.tolist() == [1, 1, 1]


@pytest.mark.slow
def test_deviation_ratings_take_hundreds_of_prompts(command: Run, tmp_path: Path) -> None:
    # One battle for each prompt: what counts are the different battles.
    import polars as pl

    rng = np.random.default_rng(1)
    battles = [(f"m{a}", f"m{b}", str(rng.choice(["model_a", "model_b", "tie"]))) for a in range(4) for b in range(a)]
    drawn = [battles[k] for k in rng.integers(0, len(battles), 400)]
    names = ["model_a", "model_b", "winner"]
    log = pl.DataFrame(drawn, schema=names, orient="row").with_columns(prompt=pl.Series(map(str, range(400))))
    few = pl.DataFrame(battles, schema=names, orient="row").with_columns(prompt=pl.Series(map(str, range(6))))
    found = nb.rank(nb.read_segments(log, "prompt", most=1000), "deviation")
    data = pairwise(nb.read_segments(few, "prompt"))
    assert data.prompts is not None
    by_name = dict(zip(data.agents, prompt_deviation_gains(data.prompts), strict=True))
    np.testing.assert_allclose(found.scores, [by_name[name] for name in found.agents], atol=1e-6)
    log.write_csv(tmp_path / "log.csv")
    done = command(
        "rank", str(tmp_path / "log.csv"), "--method", "deviation", "--prompts", "prompt", "--format", "json"
    )
    np.testing.assert_allclose(json.loads(done.stdout)["scores"], found.scores, atol=1e-6)


def test_deviation_ratings_of_one_prompt_are_those_of_its_game() -> None:
    import polars as pl

    prompts = nb.read_segments(pl.DataFrame(prompt_log(np.random.default_rng(9), t=1, n=4)), "prompt")
    data = pairwise(prompts)
    assert data.prompts is not None
    one = nb.rank(nb.Payoffs.from_array(data.prompts[0]), "deviation")
    np.testing.assert_allclose(nb.rank(prompts, "deviation").scores, one.scores, atol=1e-7)


def test_newman_settles_where_nearly_all_games_are_drawn() -> None:
    W = [[0, 0, 47], [5, 0, 2], [34, 31, 0]]
    found = nb.rank(nb.Matches.from_counts(W, draws=[[0, 6, 997], [6, 0, 1], [997, 1, 0]]), "newman")
    assert found.order == ("agent 1", "agent 3", "agent 2")
    assert found.certificate["gradient_norm"] < 1e-8


def test_rank_by_elo_knows_which_games_belong_together() -> None:
    rng = np.random.default_rng(31)
    pairs = np.array([rng.choice(8, 2, replace=False) for _ in range(120)]).repeat(5, axis=0)
    a_wins = (rng.random(120) < 0.5 + 0.05 * (pairs[::5, 1] - pairs[::5, 0])).repeat(5)
    names = pairs.astype(str)
    log = {"a": names[:, 0], "b": names[:, 1], "outcome": a_wins.astype(float), "prompt": np.arange(120).repeat(5)}
    votes = nb.read_matches({name: values.tolist() for name, values in log.items()}, cluster="prompt")
    assert votes.clusters is not None
    np.testing.assert_allclose(nb.rank(votes, "elo").scores, nb.elo(votes).ratings, atol=1e-6)


def test_newman_without_draws_is_elo() -> None:
    W = random_wins(np.random.default_rng(4), 6)
    one, two = (nb.rank(nb.Matches.from_counts(W), name, prior=0) for name in ("newman", "elo"))
    np.testing.assert_allclose(one.scores, two.scores, atol=1e-6)


def test_pagerank_and_eigenvector_are_fixed_points() -> None:
    W = random_wins(np.random.default_rng(6), 6)
    s = nb.rank(nb.Matches.from_counts(W), "eigenvector").scores
    np.testing.assert_allclose(W @ s / np.linalg.norm(W @ s), s, atol=1e-12)
    p = nb.rank(nb.Matches.from_counts(W), "pagerank", damping=0.9).scores
    to_winners = W.T / W.T.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(0.9 * p @ to_winners + 0.1 / 6, p, atol=1e-14)


def test_eigenvector_scores_that_rounding_would_decide_are_refused() -> None:
    S = [[-1.0], [1.0], [-2.0], [1.0], [2.0], [2.0]]  # two groups of two that are even, one above the other
    with pytest.raises(nb.InputError, match="occurs more than once"):
        nb.rank(nb.Scores.from_array(S), "eigenvector", scaling="none")


def test_soft_condorcet_is_no_worse_than_a_fine_grid() -> None:
    W = random_wins(np.random.default_rng(8), 3)
    found = nb.rank(nb.Matches.from_counts(W), "soft_condorcet", temperature=20.0)
    r = np.stack(np.meshgrid(*[np.linspace(0, 100, 41)] * 3), axis=-1).reshape(-1, 3)
    wrong = 1 / (1 + np.exp((r[:, :, None] - r[:, None, :]) / 20))
    assert found.certificate["contradicted_votes"] <= (W * wrong).sum(axis=(1, 2)).min() + 1e-6


def wins_of_votes(votes: list[list[int]]) -> Floats:
    W = np.zeros((len(votes[0]), len(votes[0])))
    for vote in votes:
        for at, k in enumerate(vote):
            W[k, vote[at + 1 :]] += 1
    return W


def test_soft_condorcet_leaves_the_saddle_between_agents_in_a_cycle() -> None:
    """Three votes in which the last three agents beat each other 2 to 1: one vote of each cycle is contradicted."""
    W = wins_of_votes([[1, 5, 2, 4, 0, 3], [5, 1, 0, 4, 3, 2], [0, 5, 3, 1, 2, 4]])
    found = nb.rank(nb.Matches.from_counts(W), "soft_condorcet")
    assert found.certificate["contradicted_votes"] < 10.01


@pytest.mark.parametrize("seed", range(4))
def test_soft_condorcet_contradicts_no_more_votes_than_the_cheapest_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        W = random_wins(rng, 5)
        found = nb.rank(nb.Matches.from_counts(W), "soft_condorcet").certificate["contradicted_votes"]
        assert found <= min(kemeny_costs(W - W.T).values()) + np.minimum(W, W.T).sum() / 2 + 0.01


def test_names_do_not_choose_between_solutions_of_soft_condorcet_that_are_as_good() -> None:
    """A cycle in which each of two orders contradicts 16 votes; and one whose best order few starts lead to."""
    W, new = np.array([[0, 0.5, 15.5], [13.5, 0, 0], [14.5, 1, 0]]), [2, 1, 0]
    one, two = (nb.rank(nb.Matches.from_counts(X), "soft_condorcet") for X in (W, W[np.ix_(new, new)]))
    np.testing.assert_array_equal(one.scores[new], two.scores)
    assert "as good as each other" in one.notes[0]
    W = np.array([[0, 3, 5, 0], [1, 0, 4, 6], [2, 8, 0, 6], [8, 1, 5, 0]])
    assert nb.rank(nb.Matches.from_counts(W), "soft_condorcet").order == ("agent 3", "agent 2", "agent 4", "agent 1")


@pytest.mark.parametrize("seed", range(3))
def test_an_order_without_names_gives_one_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 7 if seed else 6
    C = np.triu(rng.integers(-1, 2, (n, n)), 1).astype(np.float64)
    C = C - C.T if seed else np.roll(np.eye(n), 1, axis=1) - np.roll(np.eye(n), -1, axis=1)  # all in one circle
    order, classes = order_without_names(C)
    new = rng.permutation(n)
    again, alike = order_without_names(C[np.ix_(new, new)])
    np.testing.assert_array_equal(C[np.ix_(order, order)], C[np.ix_(new[again], new[again])])
    np.testing.assert_array_equal(classes[new], alike)
    assert seed or classes.max() == 0


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 1, 4, 0, 2]])
def test_soft_condorcet_leaves_the_saddle_of_a_cycle_of_equals(order: list[int]) -> None:
    """Three agents beat each other in turn and the rest alike: equal ratings are worse than each of three orders."""
    W = wins_of_votes([[3, 4, 2, 1, 0], [4, 0, 3, 2, 1], [0, 1, 2, 3, 4]])
    found = nb.rank(nb.Matches.from_counts(W[np.ix_(order, order)]), "soft_condorcet")
    assert found.certificate["contradicted_votes"] < 11.001
    np.testing.assert_array_equal(found.ranks, np.array([1, 5, 4, 1, 1])[order])
    assert "as good as each other" in found.notes[0]


def test_runs_give_the_aggregates_of_rliable() -> None:
    runs = {"a": [[1.0, 2, 3, 4], [2, 3, 4, 50]], "b": [[0.0, 5, 5, 5]]}
    assert nb.rank(runs, "iqm").scores[0] == pytest.approx(np.mean([2, 3, 3, 4]))
    assert nb.rank(runs, "median").scores.tolist() == [3.0, 5.0]
    assert nb.rank(runs, "mean").scores[0] == pytest.approx(69 / 8)


def test_maximal_lotteries_of_the_rest_follow_those_of_the_best() -> None:
    M = np.zeros((6, 6))
    M[:3, 3:] = 1
    M[0, 1] = M[1, 2] = M[2, 0] = 1
    M[3, 4] = M[4, 5] = M[5, 3] = 0.5
    found = nb.rank(M - M.T, "maximal_lottery")
    np.testing.assert_array_equal(found.ranks, [1, 1, 1, 4, 4, 4])
    assert found.weights is not None
    np.testing.assert_allclose(found.weights, [1 / 3] * 3 + [0] * 3, atol=1e-9)


def test_equal_scores_share_a_rank() -> None:
    np.testing.assert_array_equal(rank_scores(np.array([1.0, 3.0, 3.0 + 1e-13, 0.0])), [3, 1, 1, 4])
    np.testing.assert_array_equal(rank_scores(np.array([1e-17, 0.0, -1e-17]), scale=1.0), [1, 1, 1])


@pytest.mark.parametrize("name", ["mean", "iqm", "uniform"])
def test_means_that_differ_by_rounding_share_a_rank(name: str) -> None:
    S = nb.Scores.from_array([[0.5, -0.1, -0.4], [0.4, -0.6, 0.2]])
    assert nb.rank(S, name, scaling="none").ranks.tolist() == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS.names)
def test_a_thousand_agents_are_ranked(name: str) -> None:
    rng = np.random.default_rng(0)
    if "matches" not in [need for method in METHODS if method.name == name for need in method.needs]:
        found = nb.rank(nb.Scores.from_array(rng.normal(size=(1000, 20))), name)
    else:
        skill = np.linspace(2, -2, 1000)
        found = nb.rank(play(np.subtract.outer(skill, skill), 20, rng), name)
        assert np.corrcoef(found.ranks, np.arange(1000))[0, 1] > 0.5
    assert len(found.agents) == 1000


@pytest.mark.slow
def test_a_thousand_agents_on_tasks_are_ranked_at_a_finite_alpha() -> None:
    S = nb.Scores.from_array(np.random.default_rng(0).normal(size=(1000, 20)))
    found = nb.rank(S, "alpha_rank", alpha=1.0)
    assert found.certificate["residual"] < 1e-12
    with pytest.raises(nb.InputError, match="fit in a gigabyte"):
        nb.rank(nb.Scores.from_array(np.random.default_rng(0).normal(size=(1000, 200))), "alpha_rank", alpha=1.0)


def test_the_registry_lists_what_a_user_chooses_by() -> None:
    registry = nb.methods()
    assert len(registry) >= 20
    assert "schulze" in registry
    assert registry["alpha-rank"].name == "alpha_rank"
    assert {"name", "needs", "clone_proof", "complexity", "reference"} <= {one.name for one in registry.table().columns}
    assert "kemeny" in str(registry)


def test_wrong_names_data_and_options_are_refused_in_one_sentence() -> None:
    data = nb.load_dataset("rock-paper-scissors")
    with pytest.raises(nb.InputError, match="did you mean 'schulze'"):
        nb.rank(data, "schultze")
    with pytest.raises(nb.InputError, match="needs scores, not matches"):
        nb.rank(data, "iqm")
    with pytest.raises(nb.InputError, match="no option 'dampening' \\(did you mean 'damping'"):
        nb.rank(data, "pagerank", dampening=0.5)
    with pytest.raises(nb.InputError, match="no known unit"):
        nb.rank([[0, 3], [-3, 0]], "elo")
    with pytest.raises(nb.InputError, match="runs x tasks"):
        nb.rank({"a": [1.0, 2.0]}, "iqm")
    for given in (None, data):
        with pytest.raises(nb.InputError, match="the name of a method is"):
            nb.rank(data, given)  # type: ignore[arg-type]
    with pytest.raises(nb.InputError, match="needs scores, not matches"):
        nb.evaluate(data, methods=["iqm"], n_resamples=10)
    for names in ("nash", None, 3):
        with pytest.raises(nb.InputError, match="give a list of names"):
            nb.evaluate(data, methods=names)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("pagerank", {"damping": None}, "damping is None: it must be a number"),
        ("pagerank", {"damping": "much"}, "damping is 'much': it must be a number"),
        ("alpha_rank", {"alpha": 1.0, "population": True}, "population is True: it must be a number"),
        ("kemeny", {"nodes": 0}, "nodes is 0: it must be at least 1"),
        ("kemeny", {"nodes": "many"}, "nodes is 'many': it must be a number"),
        ("melo", {"k": 5}, "k is 5: with 3 agents there can be 0 to 1 planes"),
        ("soft_condorcet", {"temperature": np.inf}, "the temperature is inf: it must be positive and finite"),
        ("elo", {"prior": "much"}, "prior is 'much': it must be 'learned', or a number"),
    ],
)
def test_options_of_a_wrong_kind_are_refused(name: str, option: Any, message: str) -> None:
    with pytest.raises(nb.InputError, match=re.escape(message)):
        nb.rank(nb.load_dataset("rock-paper-scissors"), name, **option)


def test_extreme_strengths_of_selection_are_those_of_infinite_strength() -> None:
    with np.errstate(all="raise"):
        found = nb.rank(CYCLE, "alpha_rank", alpha=1e308)
    np.testing.assert_allclose(found.scores, nb.rank(CYCLE, "alpha_rank").scores)


def test_methods_of_a_board_are_taken_once_and_by_their_usual_names() -> None:
    found = nb.evaluate(nb.load_dataset("alphago"), methods=["Elo", "alpha-rank", "alpha_rank", "elo"], n_resamples=10)
    assert found.own_problem("look").settings.methods == ("elo", "alpha_rank")


def test_a_ranking_shows_itself() -> None:
    found = nb.rank(nb.load_dataset("alphago"), "kemeny")
    assert repr(found) == "Ranking(kemeny, 8 agents, 'alpha_rvp' first)"
    assert "optimal yes" in str(found)
    assert found.to_dict()["ranks"][0] == 1
    assert found.to_polars().columns == ["rank", "agent", "score"]
    assert nb.rank(nb.load_dataset("alphago"), "nash").to_pandas()["weight"].tolist()[0] == 1


def test_the_command_ranks_by_any_method(command: Run) -> None:
    done = command("rank", "dataset:alphago", "--method", "pagerank", "--option", "damping=0.5", "--format", "json")
    assert json.loads(done.stdout)["method"] == "pagerank"
    assert "did you mean 'schulze'" in command("rank", "dataset:alphago", "--method", "schultze", code=2).stderr
    assert "with a number" in command("rank", "dataset:alphago", "--option", "prior=much", code=2).stderr
    command("rank", "dataset:rock-paper-scissors", "-m", "newman", "--option", "prior=learned")
    assert "ranked_pairs" in command("methods").stdout


def test_the_command_says_that_results_are_taken_as_exact_and_who_played_few_games(
    command: Run, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    rows = ["a,b,outcome", "new,ann,1", *["ann,bob,1"] * 20, *["ann,bob,0"] * 15, "bob,low,1"]
    path.write_text("\n".join(rows), encoding="utf-8")
    for name in ("rank", "nash"):
        done = command(name, str(path))
        assert "observed results are taken as exact" in done.stderr
        assert done.stderr.startswith("Few games decide the place of new (1 game), low (1 game): ")
        head, _, *lines = [line.split() for line in done.stdout.splitlines()[1:7]]
        assert head[-1] == "games"
        assert [(line[1], line[-1]) for line in lines] == [("new", "1"), ("ann", "36"), ("bob", "36"), ("low", "1")]
    assert "few games" not in command("rank", "dataset:atari").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 20}, "a population has no effect on infinitely strong selection: pass alpha="),
        ({"alpha": 1.0, "population": 1}, "population is 1: it must be a whole number of at least 2"),
        ({"alpha": 1.0, "population": 2.5}, "population is 2.5: it must be a whole number of at least 2"),
    ],
)
def test_alpha_rank_refuses_populations_that_cannot_be(options: Any, message: str) -> None:
    with pytest.raises(nb.InputError, match=re.escape(message)):
        nb.rank(CYCLE, "alpha_rank", **options)


def test_infinite_alpha_may_be_spelled_out() -> None:
    np.testing.assert_array_equal(
        nb.rank(CYCLE, "alpha_rank", alpha=np.inf).scores, nb.rank(CYCLE, "alpha_rank").scores
    )


def single_runs(seed: int = 0) -> dict[str, Floats]:
    """Return runs x tasks of four agents; on the last task all agents are equal, and one agent ran twice as often."""
    rng = np.random.default_rng(seed)
    runs = {f"a{k}": rng.normal(k / 4, 1.0, size=(10 if k == 2 else 5, 7)) for k in range(4)}
    for one in runs.values():
        one[:, 6] = 0.25
    return runs


def long_table(runs: dict[str, Floats]) -> pl.DataFrame:
    """Return a row per agent, task and seed, in no order."""
    rows = [
        (agent, f"t{task}", seed, float(score))
        for agent, one in runs.items()
        for seed, line in enumerate(one)
        for task, score in enumerate(line)
    ]
    frame = pl.DataFrame(rows, schema=["agent", "task", "seed", "score"], orient="row")
    return frame.sample(fraction=1, shuffle=True, seed=3)


def test_runs_in_a_file_give_the_aggregates_of_rliable(command: Run, tmp_path: Path) -> None:
    for seed in range(5):
        runs = single_runs(seed)
        expected = rliable_aggregates(runs)
        long_table(runs).write_csv(tmp_path / "long.csv")
        wide = [{"agent": name, **{f"t{k}": x for k, x in enumerate(line)}} for name in runs for line in runs[name]]
        (tmp_path / "dictionary.json").write_text(json.dumps({name: one.tolist() for name, one in runs.items()}))
        for scores in (
            nb.read_scores(tmp_path / "long.csv"),
            nb.read_scores(pl.DataFrame(wide), repeats="runs"),
            nb.read_scores(tmp_path / "dictionary.json", format="rliable"),
        ):
            for name, values in expected.items():
                found = nb.rank(scores, name, scaling="none").scores
                np.testing.assert_allclose(found, values, rtol=0, atol=1e-9)
                np.testing.assert_allclose(nb.rank(scores.scale("none"), name).scores, values, rtol=0, atol=1e-9)
    done = command("rank", str(tmp_path / "long.csv"), "-m", "iqm", "--scaling", "none", "--format", "json")
    np.testing.assert_allclose(json.loads(done.stdout)["scores"], expected["iqm"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("scaling", ["range", "zscore"])
def test_single_runs_are_scaled_as_their_means_are(scaling: Any) -> None:
    runs = single_runs()
    means = np.array([one.mean(axis=0) for one in runs.values()])[:, :6]
    zero, unit = (means.min(axis=0), np.ptp(means, axis=0)) if scaling == "range" else (means.mean(0), means.std(0))
    expected = rliable_aggregates({name: (one[:, :6] - zero) / unit for name, one in runs.items()})
    scores = nb.read_scores(long_table(runs))
    for name in ("iqm", "median"):
        found = nb.rank(scores, name, scaling=scaling)
        np.testing.assert_allclose(found.scores, expected[name], rtol=0, atol=1e-9)
        other = nb.rank(scores.without_constant_tasks().scale(scaling), name)
        np.testing.assert_allclose(other.scores, expected[name], rtol=0, atol=1e-9)
    low = nb.read_scores(long_table({name: -one for name, one in runs.items()}), lower_is_better=True)
    np.testing.assert_allclose(nb.rank(low, "iqm", scaling=scaling).scores, expected["iqm"], rtol=0, atol=1e-9)


def test_single_runs_stay_with_their_agents_and_tasks() -> None:
    runs = single_runs()
    some = {name: runs[name][:, [5, 1, 2]] for name in ("a3", "a0")}
    scores = nb.read_scores(long_table(runs)).select(["a3", "a0"], ["t5", "t1", "t2"])
    np.testing.assert_allclose(nb.rank(scores, "iqm", scaling="none").scores, rliable_aggregates(some)["iqm"])
    data = pairwise(nb.read_scores(long_table(runs)), scaling="none")
    copied = {name: np.hstack([one, one[:, [4, 4]]]) for name, one in runs.items()}
    np.testing.assert_allclose(METHODS["iqm"].rank(data.copy_task(4, 2)).scores, rliable_aggregates(copied)["iqm"])
    twice = METHODS["iqm"].rank(data.take([2, 0, 2]))
    np.testing.assert_allclose(twice.scores, [rliable_aggregates(runs)["iqm"][k] for k in (2, 0, 2)])


def test_the_interquartile_mean_of_averaged_runs_says_so() -> None:
    rows = [("x", "t1", 1.0), ("x", "t1", 3.0), ("x", "t2", 2.0), ("y", "t1", 1.0), ("y", "t2", 0.0)]
    frame = pl.DataFrame(rows, schema=["agent", "task", "score"], orient="row").with_row_index("seed")
    scores = nb.read_scores(frame)
    assert any("means of up to 2 runs" in note for note in nb.rank(scores, "iqm").notes)
    assert not nb.rank(scores, "median").notes
    full = nb.read_scores(long_table(single_runs()))
    assert any("means of up to 10 runs" in note for note in nb.rank(full, "iqm", scaling="rank").notes)
    assert any("scaled by range" in note for note in nb.rank(full, "iqm").notes)


def test_aggregates_in_own_units_say_that_constant_tasks_count() -> None:
    scores = nb.read_scores(long_table(single_runs()))
    for name in ("iqm", "median", "mean"):
        said = nb.rank(scores, name, scaling="none").notes[-1]
        assert "tasks on which all agents have the same score are included" in said
    assert "left out" in nb.rank(scores, "median").notes[-1]
