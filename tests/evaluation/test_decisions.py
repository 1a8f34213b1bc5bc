"""Plan, influence, exposure, voters and smaller suites."""

from itertools import combinations

import numpy as np
import pytest

import nashboard as nb
from nashboard.errors import InputError
from nashboard.evaluation.decide.influence import Ladder, without_votes


def arena(seed: int, n: int = 5, games: int = 12) -> nb.Matches:
    """Return a small arena of a ladder."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 0.6, n)
    i, j = np.triu_indices(n, 1)
    wins = np.zeros((n, n))
    won = rng.binomial(games, 1 / (1 + np.exp(r[j] - r[i])))
    wins[i, j], wins[j, i] = won, games - won
    return nb.Matches.from_counts(wins, agents=[f"a{k}" for k in range(n)])


def test_a_plan_sends_games_to_the_contenders() -> None:
    wins = [[0, 6, 9, 10], [4, 0, 9, 10], [1, 1, 0, 6], [0, 0, 4, 0]]
    found = nb.plan(nb.Matches.from_counts(wins, agents=list("ABCD")), games=200)
    assert found.counts.sum() == 200
    assert found.counts[found.pairs.index(("A", "B"))] > 100
    assert found.probability < found.expected
    assert found.expected >= found.expected_even - 0.02


def test_a_plan_says_how_many_games_are_needed() -> None:
    close, clear = ([[0, 52], [48, 0]], [[0, 90], [10, 0]])
    undecided = nb.plan(nb.Matches.from_counts(close, agents=["A", "B"]), games=100)
    decided = nb.plan(nb.Matches.from_counts(clear, agents=["A", "B"]), games=100)
    assert decided.needed == 0
    assert undecided.needed is None or undecided.needed > 100


@pytest.mark.parametrize("target", ["top", "order", 2, ("a0", "a1")])
def test_every_target_has_a_schedule(target: object) -> None:
    found = nb.plan(arena(0), games=37, target=target)  # type: ignore[arg-type] # a table of cases
    assert found.counts.sum() == 37
    assert 0 <= found.probability <= 1
    assert found.to_dict()["games"] == 37


def test_scores_are_planned_by_items() -> None:
    values = np.array([[0.71, 0.62], [0.70, 0.60], [0.40, 0.30]])
    n = np.full((3, 2), 100.0)
    scores = nb.Scores(
        agents=("A", "B", "C"),
        tasks=("s", "t"),
        values=values,
        lower_is_better=np.zeros(2, bool),
        stderr=np.sqrt(values * (1 - values) / n),
        n=n,
        runs=np.ones((3, 2), int),
    )
    found = nb.plan(scores, games=1000)
    assert found.counts.sum() == 1000
    assert {row[0] for row in found.table().rows} == {"A", "B"}


def test_targets_that_do_not_exist_are_errors() -> None:
    with pytest.raises(InputError, match="there is no target"):
        nb.plan(arena(0), target="best")
    with pytest.raises(InputError, match="from 1 to 4"):
        nb.plan(arena(0), target=9)


@pytest.mark.parametrize("seed", range(8))
def test_the_smallest_set_of_votes_equals_exhaustive_search(seed: int) -> None:
    matches = arena(seed, n=3, games=4)
    found = nb.influence(matches)
    votes = [
        (k, outcome)
        for k in range(len(matches.pairs))
        for outcome, name in enumerate(("wins", "draws", "losses"))
        for _ in range(int(getattr(matches, name)[k]))
    ]
    from nashboard.ratings.hierarchical import fit_hierarchical

    i, j = matches.pairs.T
    ladder = Ladder(n=3, i=i, j=j, precision=1 / fit_hierarchical(matches).sigma ** 2)
    counts = np.stack([matches.wins, matches.draws, matches.losses], axis=1)
    first = int(np.argmax(ladder.fit(counts, np.zeros(3))))
    size = next(
        k
        for k in range(1, len(votes))
        for chosen in combinations(votes, k)
        if changes_first(ladder, counts, chosen, first)
    )
    assert found.removed == size
    assert found.minimal


def changes_first(ladder: Ladder, counts: np.ndarray, votes: tuple[tuple[int, int], ...], first: int) -> bool:
    left = counts.copy()
    for k, outcome in votes:
        left[k, outcome] -= 1
    ratings = ladder.fit(left, np.zeros(ladder.n))
    return bool(ratings.max() > ratings[first] + 1e-8)


def test_a_removal_is_confirmed_by_a_new_fit() -> None:
    matches = arena(3, n=8, games=30)
    found = nb.influence(matches)
    left = without_votes(matches, found)
    assert left.n_games == matches.n_games - found.removed
    assert found.first != found.new_first


def test_tasks_that_decide_first_place_are_named() -> None:
    scores = nb.Scores.from_array([[0.9, 0.9, 0.1], [0.3, 0.4, 0.4]], agents=["A", "B"], tasks=["x", "y", "z"])
    found = nb.influence(scores)
    assert (found.first, found.new_first, found.removed) == ("A", "B", 2)
    assert found.minimal


def simulate_votes(seed: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return votes (voter, first, second, outcome), the true log-likelihood ratios, and who does not look."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 1.0, 8)
    kind = np.array([0] * 80 + [1] * 10 + [2] * 10)
    voter = rng.integers(0, 100, 4000)
    i = rng.integers(0, 8, 4000)
    j = (i + rng.integers(1, 8, 4000)) % 8
    p = 1 / (1 + np.exp(r[j] - r[i]))
    chance = np.select([kind[voter] == 0, kind[voter] == 1], [p, np.full(4000, 0.5)], 0.95)
    y = 1.0 * (rng.random(4000) < chance)

    def total(q: np.ndarray) -> np.ndarray:
        return np.bincount(voter, np.where(y == 1, np.log(q), np.log1p(-q)), minlength=100)

    other = np.logaddexp(total(np.full(4000, 0.5)), total(np.full(4000, 0.95)))
    return [voter, i, j, y], other - total(p), kind > 0


def area(score: np.ndarray, positive: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    return float((score[positive][:, None] > score[~positive]).mean())


def test_voters_who_do_not_look_are_found_almost_as_well_as_with_the_truth() -> None:
    found, known = [], []
    for seed in range(6):
        votes, ratio, spam = simulate_votes(seed)
        result = nb.voters(*votes)
        order = np.argsort(np.array(result.voters, dtype=int))
        found.append(area(result.evidence[order], spam))
        known.append(area(ratio, spam))
    assert np.mean(found) >= np.mean(known) - 0.02


def test_alpha_equals_published_numbers() -> None:
    # Krippendorff (2011), Computing Krippendorff's alpha-reliability, data of section C
    nan = np.nan
    data = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    assert nb.krippendorff_alpha(data) == pytest.approx(0.743, abs=5e-4)
    assert nb.krippendorff_alpha(data, distance="interval") == pytest.approx(0.849, abs=5e-4)


def test_a_smaller_suite_keeps_the_order_it_claims() -> None:
    rng = np.random.default_rng(0)
    ability = np.linspace(0.3, 0.7, 10)
    values = np.clip(ability[:, None] + rng.normal(0, 0.08, (10, 40)), 0, 1)
    values[:, 3] = 0.5
    values[:, 4] = 0.995
    values[0, 4] = 0.99
    scores = nb.Scores.from_array(values)
    found = nb.reduce_suite(scores)
    kept = [scores.tasks.index(task) for task in found.kept]
    assert len(kept) < 40
    assert found.preserved == found.decided
    mean, part = values.mean(axis=1), values[:, kept].mean(axis=1)
    assert np.corrcoef(mean, part)[0, 1] > 0.95
    assert found.constant == (scores.tasks[3],)
    assert found.saturated == (scores.tasks[4],)
    assert found.held_out > 0.9


def test_exposure_counts_games_and_inflation_grows_with_variants() -> None:
    matches = arena(1, n=6, games=20)
    found = nb.exposure(matches, families={"two": ["a0", "a1"], "four": ["a2", "a3", "a4", "a5"]})
    assert found.share.sum() == pytest.approx(1)
    assert 0 < found.inflation["two"] < found.inflation["four"]


def test_win_rates_without_counts_have_no_errors_to_work_with() -> None:
    rates = nb.load_dataset("alphago")
    assert isinstance(rates, nb.Matches)
    for work in (
        lambda: nb.compare(rates, "Zen", "alpha_p"),
        lambda: nb.plan(rates),
        lambda: nb.influence(rates),
        lambda: nb.superiority(nb.evaluate(rates)),
    ):
        with pytest.raises(InputError, match="unknown"):
            work()
    found = nb.evaluate(rates)
    assert not nb.changes(found, found).noise_known


def test_new_data_of_the_same_truth_move_nobody() -> None:
    alarms = 0
    for seed in range(20):
        old, new = (nb.evaluate(play_again(np.linspace(0.6, -0.6, 6), 10 * seed + k), n_resamples=100) for k in (0, 1))
        alarms += bool(nb.changes(old, new).moved)
    assert alarms <= 3


def test_an_agent_that_improved_is_seen_with_its_cause() -> None:
    r = np.linspace(0.6, -0.6, 6)
    better = r + np.array([0, 0, 0, 0, 1.5, 0])
    old, new = (nb.evaluate(play_again(x, k, games=60), n_resamples=200) for k, x in enumerate((r, better)))
    found = nb.changes(old, new)
    assert "a4" in found.moved
    assert {cause.agent for cause in found.causes} >= {"a4"}
    assert nb.history([old, new]).gap.shape == (6, 2)


def play_again(r: np.ndarray, seed: int, games: int = 20) -> nb.Matches:
    """Return fresh games of a ladder."""
    rng = np.random.default_rng(seed)
    n = len(r)
    i, j = np.triu_indices(n, 1)
    wins = np.zeros((n, n))
    won = rng.binomial(games, 1 / (1 + np.exp(r[j] - r[i])))
    wins[i, j], wins[j, i] = won, games - won
    return nb.Matches.from_counts(wins, agents=[f"a{k}" for k in range(n)])
