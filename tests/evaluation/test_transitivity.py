"""Transitivity in the audit: the residual of ratings, and which cycles are more than luck."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import nashboard as nb
from arenas import check, data_of, play
from nashboard.data.matches import Clusters
from nashboard.evaluation.audit.audit import audit
from nashboard.evaluation.audit.transitivity import Transitivity, count_triples, residual_p_value, transitivity


def ladder_of(data: nb.Matches | nb.Scores) -> Transitivity:
    return transitivity(data, 0.05)


def test_rock_paper_scissors_is_a_cycle_beyond_noise() -> None:
    found = ladder_of(data_of("rock-paper-scissors"))
    assert found.share == pytest.approx(0)
    assert found.cyclic
    assert "A beats B (90%), B beats C (90%), and C beats A (90%)" in found.sentences()[1]


@pytest.mark.slow
def test_a_ladder_is_called_cyclic_at_most_at_the_level() -> None:
    rng = np.random.default_rng(2)
    r = np.linspace(-1, 1, 8)
    called = sum(ladder_of(play(np.subtract.outer(r, r), 60, rng)).cyclic for _ in range(30))
    assert called <= 5  # 1.5 expected


@pytest.mark.slow
def test_the_strongest_cycle_of_a_ladder_is_beyond_luck_at_most_at_the_level() -> None:
    rng = np.random.default_rng(4)
    r = np.linspace(-0.5, 0.5, 12)
    alone = beyond = 0
    for _ in range(30):
        found = ladder_of(play(np.subtract.outer(r, r), 40, rng))
        assert found.triples == 220
        beyond += found.cycles[0].z > found.luck
        alone += found.cycles[0].z > 1.96
    assert beyond <= 4  # 1.5 at most expected
    assert alone > 20  # what would be said without counting how many were tried


def test_a_cycle_says_how_many_triples_were_tried_and_what_the_best_reaches_by_luck() -> None:
    weak = ladder_of(nb.Matches.from_counts([[0, 6, 4], [4, 0, 6], [6, 4, 0]]))
    assert weak.sentences()[1].endswith(
        " standard errors, and by noise alone the only triple stays below 2.0 in 95% of cases: it may be noise"
    )
    assert weak.table().notes == (
        "largest z: by noise alone the only triple stays below 2.0 in 95% of cases; it may be noise",
    )
    tasks = nb.Scores.from_array(np.array([[1, 2, 3], [3, 1, 2], [2, 3, 1]]))
    (note,) = ladder_of(tasks).table().notes  # what noise reaches is known for independent games only
    assert note == "all pairs are compared on the same tasks, so these games are not independent; it may be noise"
    clear = ladder_of(data_of("rock-paper-scissors"))
    assert clear.sentences()[1].endswith(": it is beyond noise")
    assert clear.beyond_luck == 1
    assert clear.to_dict()["triples"] == 1


def test_triples_are_counted_where_all_three_pairs_met(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    for share in (0.2, 0.6, 1.0):
        i, j = np.triu_indices(15, 1)
        met = rng.random(len(i)) < share
        pairs = np.stack([i, j], axis=1)[met]
        known = {tuple(pair) for pair in pairs.tolist()}
        slow = sum({(a, b), (a, c), (b, c)} <= known for a, b, c in combinations(range(15), 3))
        assert count_triples(15, pairs) == slow
        with monkeypatch.context() as patched:
            patched.setattr("nashboard.evaluation.audit.transitivity.DENSE", 3)
            assert count_triples(15, pairs) == slow


def voted(rng: np.random.Generator, clusters: int, per: int, rho: float, weights: list[float]) -> nb.Matches:
    """Return a ladder of eight whose votes have weights; those of a cluster are of one pair and agree by chance rho."""
    n = 8
    i, j = np.triu_indices(n, 1)
    r = 0.6 * rng.normal(size=n)
    pair = rng.integers(len(i), size=clusters)
    p = 1 / (1 + np.exp(r[j[pair]] - r[i[pair]]))
    agree, first = rng.random(clusters) < rho, rng.random(clusters) < p
    cluster = np.repeat(np.arange(clusters), per)
    won = np.where(agree[cluster], first[cluster], rng.random(len(cluster)) < p[cluster])
    weight = rng.choice(np.array(weights), size=len(cluster))
    wins, losses = weight * won, weight * ~won
    total = np.zeros((2, len(i)))
    for side, votes in zip(total, (wins, losses), strict=True):
        np.add.at(side, pair[cluster], votes)
    split = Clusters(size=clusters, cluster=cluster, pair=pair[cluster], wins=wins, draws=0 * wins, losses=losses)
    return nb.Matches(
        agents=tuple(f"agent {k}" for k in range(n)),
        pairs=np.stack([i, j], axis=1),
        wins=total[0],
        draws=0 * total[0],
        losses=total[1],
        clusters=split,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("per", "rho", "weights"), [(1, 0.0, [0.5, 1.0, 1.0, 2.0]), (4, 0.7, [1.0])])
def test_a_ladder_of_weighted_or_dependent_votes_is_called_cyclic_at_most_at_the_level(
    per: int, rho: float, weights: list[float]
) -> None:
    rng = np.random.default_rng(1)
    arenas = [voted(rng, 400, per, rho, weights) for _ in range(24)]
    assert sum(residual_p_value(arena) <= 0.05 for arena in arenas) <= 4  # 1.2 expected
    whole = [replace(arena, clusters=None, wins=np.rint(arena.wins), losses=np.rint(arena.losses)) for arena in arenas]
    assert sum(residual_p_value(arena) <= 0.05 for arena in whole) > 6  # as if votes were games of their own


def test_the_check_and_the_verdict_agree_on_cycles_too_small_to_matter() -> None:
    n, games = 8, 40_000
    upper = np.triu_indices(n, 1)
    rng = np.random.default_rng(8)
    strength, cyclic = rng.normal(0, 0.7, n), 0.02 * rng.choice([-1, 1], size=len(upper[0]))
    wins = np.zeros((n, n))
    wins[upper] = np.rint(games / (1 + np.exp(strength[upper[1]] - strength[upper[0]] - cyclic)))
    wins.T[upper] = games - wins[upper]
    found = nb.evaluate(nb.Matches.from_counts(wins), n_resamples=20)
    said = "no cycles of more than 9 Elo points are shown"
    assert said in found.verdict[1]
    ratings = check(found.audit(), "ratings are enough")
    assert ratings.passed is None
    assert "the residual is larger than noise" in ratings.sentence
    assert said in ratings.sentence


def test_the_check_is_open_where_the_board_shows_cycles_that_the_test_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = nb.Matches.from_counts([[0, 8, 9], [2, 0, 7], [1, 3, 0]])
    assert check(audit(ladder, n_resamples=2), "ratings are enough").passed
    monkeypatch.setattr("nashboard.evaluation.audit.transitivity.shows_cycles", lambda problem: True)
    found = check(audit(ladder, n_resamples=2), "ratings are enough")
    assert found.passed is None
    assert found.sentence.endswith(", but cycles of more than 9 Elo points are shown by the board's model")


def test_where_weights_hide_the_noise_nobody_says_that_ratings_are_enough() -> None:
    weighted = replace(voted(np.random.default_rng(2), 200, 1, 0.0, [0.5, 2.0]), clusters=None)
    found = check(audit(weighted, n_resamples=2), "ratings are enough")
    assert not found.passed
    assert "it is unknown whether the residual is noise: games have weights" in found.sentence
    two = check(audit(nb.Matches.from_counts([[0, 5], [3, 0]]), n_resamples=2), "ratings are enough")
    assert two.passed is None
    assert "no agents form a loop of matches" in two.sentence


def test_a_cycle_of_votes_that_belong_together_is_as_many_standard_errors_from_none_as_there_are_voters() -> None:
    rates = {(0, 1): 0.7, (1, 2): 0.7, (0, 2): 0.3}
    voters, votes = 60, 10  # each voter has ten equal votes on one pair
    cluster = np.arange(3 * voters)
    pair = np.repeat(np.arange(3), voters)
    won = np.concatenate([np.arange(voters) < voters * rates[key] for key in ((0, 1), (0, 2), (1, 2))])
    wins, losses = votes * won.astype(float), votes * (~won).astype(float)
    split = Clusters(size=len(cluster), cluster=cluster, pair=pair, wins=wins, draws=0 * wins, losses=losses)
    total = np.zeros((2, 3))
    np.add.at(total[0], pair, wins)
    np.add.at(total[1], pair, losses)
    loose = nb.Matches(
        agents=("a", "b", "c"),
        pairs=np.array([[0, 1], [0, 2], [1, 2]]),
        wins=total[0],
        draws=0 * total[0],
        losses=total[1],
    )
    once, tied = (transitivity(one, 0.05).cycles[0] for one in (loose, replace(loose, clusters=split)))
    assert once.z / tied.z == pytest.approx(np.sqrt(votes), rel=0.02)


@pytest.mark.slow
def test_a_circle_of_three_in_a_ladder_is_named_and_no_ladder_has_one() -> None:
    leads = np.subtract.outer(np.linspace(0.5, -0.5, 10), np.linspace(0.5, -0.5, 10))
    circle = leads.copy()
    for k in range(3):
        circle[k, (k + 1) % 3] += 0.7
        circle[(k + 1) % 3, k] -= 0.7
    said = {True: 0, False: 0}
    for seed in range(30):
        for there, truth in ((True, circle), (False, leads)):
            league = play(truth, 100, np.random.default_rng([620, seed]))
            verdict = " ".join(nb.evaluate(league, n_resamples=20).verdict)
            said[there] += any(words in verdict for words in ("One cycle is beyond", "Cycles matter", "cycles are"))
            ratings = check(audit(league, n_resamples=2), "ratings are enough")
            assert not (ratings.passed and "One cycle is beyond noise" in verdict)
    assert said[True] >= 27
    assert said[False] <= 3
