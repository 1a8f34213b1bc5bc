"""The attack search against brute force."""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from arenas import data_of, experiment
from nashboard._types import Floats
from nashboard.evaluation.stress.attack import (
    attack,
    attack_table,
    find_first_count,
    find_smallest_single,
    find_smallest_uniform,
    tabulate_points,
)
from nashboard.evaluation.stress.experiment import enter_agents


def brute_force(M: Floats, t: int, most: int) -> int | None:
    """Try every multiset of clones, the smaller first."""
    rivals = np.delete(np.arange(len(M)), t)
    for total in range(most + 1):
        for chosen in combinations_with_replacement(range(M.shape[1]), total):
            sums = M.sum(axis=1) + M[:, list(chosen)].sum(axis=1)
            if (sums[t] - sums[rivals] > 1e-7 * np.abs(M).max()).all():
                return total
    return None


@pytest.mark.parametrize("seed", range(25))
def test_the_smallest_uniform_attack_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    M = rng.integers(0, 12, (4, 4)).astype(float)
    t = int(np.argmin(M.sum(axis=1)))
    expected = brute_force(M, t, 5)
    found, proved = find_smallest_uniform(M, t, 5)
    assert proved
    assert (None if found is None else int(found.sum())) == expected


@pytest.mark.parametrize("seed", range(25))
def test_the_smallest_attack_with_one_entry_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    M = rng.integers(0, 9, (4, 5)).astype(float)
    t = int(np.argmin(M.sum(axis=1)))
    L = M[t] - np.delete(M, t, axis=0)
    need = 1e-7 - L.sum(axis=1)
    tried = [(c, k) for c in range(41) for k in range(5) if (c * L[:, k] >= need).all()]
    found = find_smallest_single(L, need, 40)
    assert (None if found is None else int(found.sum())) == (tried[0][0] if tried else None)


def elo_brute_force(matches: nb.Matches, t: int, most: int) -> int | None:
    """Fit Elo to every multiset of clones, the smaller first."""
    n = len(matches.agents)
    for total in range(most + 1):
        for chosen in combinations_with_replacement(range(n), total):
            clones = {matches.agents[k]: chosen.count(k) for k in set(chosen)}
            r = nb.elo(enter_agents(matches, clones), prior=0.01).ratings[:n]
            if (r[t] > np.delete(r, t) + 1e-4).all():
                return total
    return None


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(4))
def test_where_pairs_played_equally_often_the_smallest_elo_attack_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = np.triu(rng.integers(1, 19, (4, 4)), 1)
    matches = nb.Matches.from_counts(W + np.triu(19 - W, 1).T)
    t = int(np.argsort(nb.elo(matches, prior=0.01).ratings)[-2])
    found = attack(matches, matches.agents[t], method="elo", most=4, noise="none")
    assert found.exact
    assert (found.total if found.possible else None) == elo_brute_force(matches, t, 4)


def test_where_pairs_played_equally_often_the_order_by_elo_is_the_order_by_points() -> None:
    rng = np.random.default_rng(0)
    W = np.triu(rng.integers(0, 10, (6, 6)), 1)
    matches = nb.Matches.from_counts(W + np.triu(9 - W, 1).T)
    scores = nb.Scores.from_array(rng.integers(0, 4, (6, 9)).astype(float)).scale("none")
    for game in (experiment(matches), experiment(scores)):
        P = tabulate_points(game)
        assert P is not None
        for _ in range(10):
            copies = rng.integers(0, 4, size=len(game.entries))
            r, won = game.exact("elo", copies).scores, P @ (copies + 1.0)
            assert all((won[i] > won[j] + 1e-9) <= (r[i] > r[j]) for i in range(6) for j in range(6))


def test_an_attack_that_is_not_proved_says_so() -> None:
    rng = np.random.default_rng(5)
    n = 14
    matches = nb.Matches.from_counts(rng.integers(1, 30, (n, n)))
    target = matches.agents[int(np.argsort(nb.elo(matches, prior=0.01).ratings)[n // 2])]
    found = attack(matches, target, method="elo", most=60, noise="none")
    assert found.total > 2
    assert not found.exact
    assert "the fewest of one entry, among those tried" in found.sentence()
    assert "of one entry, of those tried" in str(found)


def test_an_attack_really_puts_the_target_first_and_one_clone_less_does_not() -> None:
    atari = data_of("atari")
    found = attack(atari, "human", noise="none")
    S = atari.scale("range").values
    m = np.ones(S.shape[1])
    for name, copies in found.clones:
        m[atari.tasks.index(name)] += copies
    human = atari.agents.index("human")
    assert int(np.argmax(S @ m)) == human
    for name, _ in found.clones:
        less = m.copy()
        less[atari.tasks.index(name)] -= 1
        assert int(np.argmax(S @ less)) != human
    assert found.rank_before == 9
    assert found.nash.score_moved <= 1e-9


def test_an_agent_that_is_dominated_cannot_be_put_first() -> None:
    scores = nb.Scores.from_array([[3.0, 2.0], [1.0, 1.0]], ["good", "bad"]).scale("none")
    found = attack(scores, "bad", noise="none")
    assert not found.possible
    assert found.exact
    assert "no set of copies" in found.sentence()
    (row,) = attack_table((found,)).rows
    assert row[3:5] == (None, "none")
    assert row[6:] == ("proved: none up to 100", None)  # nothing is said of an attack that does not exist


def test_an_agent_that_is_first_needs_no_clone() -> None:
    scores = nb.Scores.from_array([[3.0, 2.0], [1.0, 1.0]], ["good", "bad"]).scale("none")
    found = attack(scores, "good", noise="none")
    assert found.total == 0
    assert "without any copy" in found.sentence()


def test_one_copy_of_its_prey_puts_a_member_of_a_cycle_first_under_elo() -> None:
    rps = data_of("rock-paper-scissors")
    found = attack(rps, "A", method="elo")
    assert found.clones == (("B", 1),)
    assert found.exact
    assert found.moved.winners_after == ("A",)
    assert "\n" not in repr(found)


@pytest.mark.parametrize("least", [1, 2, 3, 7, 12, 13])
def test_bisection_finds_the_first_count_that_works(least: int) -> None:
    assert find_first_count(lambda c: c >= least, 12) == (least if least <= 12 else None)


@pytest.mark.parametrize(
    ("options", "message"), [({"method": "nash"}, "no attack on"), ({"most": 0}, "at least one copy")]
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    rps = data_of("rock-paper-scissors")
    with pytest.raises(nb.InputError, match=message):
        attack(rps, "A", **options)


def test_tasks_have_no_elo_to_attack() -> None:
    suite = data_of("suite-3")
    with pytest.raises(nb.InputError, match="no Elo ratings of tasks"):
        attack(suite, "task 1", method="elo", kind="agents")
