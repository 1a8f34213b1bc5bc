"""Plan, influence, exposure, voters and smaller suites."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.stats import binom

import nashboard as nb
from arenas import cloned, data_of, play, played
from nashboard.errors import InputError
from nashboard.evaluation.decide.changes import compare_means
from nashboard.evaluation.decide.influence import EloJudge
from nashboard.evaluation.decide.plan import infer_from_matches
from nashboard.evaluation.decide.voters import read_voters, reweight_pairs
from nashboard.ratings.prior import learn_prior_of
from simulations import decisions

SLOW = pytest.mark.slow


def arena(seed: int, n: int = 5, games: int = 12) -> nb.Matches:
    """Return a small arena of a ladder."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 0.6, n)
    return play(np.subtract.outer(r, r), games, rng)


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
    assert (undecided.needed or 0) > 100


@pytest.mark.thin(4)
@pytest.mark.parametrize("target", ["top", "order", 2, ("agent 1", "agent 2")])
def test_every_target_has_a_schedule(target: object) -> None:
    found = nb.plan(arena(0), games=37, target=target)  # type: ignore[arg-type] # a table of cases
    assert found.counts.sum() == 37
    assert 0 <= found.probability <= 1
    assert found.to_dict()["games"] == 37


@pytest.mark.slow
def test_a_plan_for_a_small_log_is_as_uncertain_as_the_draws() -> None:
    wins = np.zeros((6, 6))
    wins[[0, 0, 1, 1, 2, 3, 4, 5, 2, 3], [1, 2, 2, 3, 3, 4, 5, 0, 4, 5]] = 1
    matches = nb.Matches.from_counts(wins)
    V = infer_from_matches(matches).covariance()
    source = nb.evaluate(matches, n_resamples=2000, methods=("nash",)).posterior.source
    assert source is not None
    draws = np.asarray(source.ratings)
    spread = np.sqrt(V[0, 0] + V[1, 1] - 2 * V[0, 1])
    assert spread == pytest.approx((draws[:, 0] - draws[:, 1]).std(), rel=0.2)
    found = nb.plan(matches)
    assert found.expected > found.probability + 0.1


def test_the_sentence_of_a_plan_promises_nothing_that_is_not_expected() -> None:
    found = nb.plan(arena(0), games=100)
    same = replace(found, expected=found.probability, needed=None)
    assert "not expected to change the probability of knowing who has the highest rating" in same.sentence
    assert "No number of games that was tried is expected to reach 95%" in same.sentence
    assert "About 3,100,000 games are needed" in replace(found, needed=3_112_960).sentence
    assert replace(found, games=1, expected=1.0, needed=7).sentence.startswith("1 game as planned is expected")


@pytest.mark.parametrize("ask", [nb.plan, nb.influence, nb.reduce_suite])
def test_a_single_agent_leaves_nothing_to_decide(ask: Any) -> None:
    with pytest.raises(InputError, match=r"needs at least two agents|fewer than two tasks separate agents"):
        ask(nb.Scores.from_array([[1.0, 0.0, 1.0]], agents=["x"]))


def test_a_plan_is_never_worse_than_an_even_schedule() -> None:
    rng = np.random.default_rng(29)
    strength, won = rng.normal(0, 1.5, 6), np.zeros((6, 6))
    for i, j in combinations(range(6), 2):
        if rng.random() < 0.5 or j == i + 1:
            games = int(rng.integers(1, 60))
            won[i, j] = rng.binomial(games, 1 / (1 + np.exp(strength[j] - strength[i])))
            won[j, i] = games - won[i, j]
    found = nb.plan(nb.Matches.from_counts(won), games=1000)
    assert found.evenly
    assert found.expected == found.expected_even
    assert np.ptp(found.counts) <= 1
    assert "1,000 games spread evenly are expected" in found.sentence


@pytest.mark.slow
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
    assert [column.name for column in found.table().columns] == ["agent", "task", "items"]
    pair, compared = nb.plan(scores, target=("A", "B")), nb.compare(scores, "A", "B", over="runs")
    assert pair.probability == pytest.approx(compared.probability_superior, abs=0.05)
    assert "these very tasks" in pair.notes[0]
    assert "over='runs' (--over runs) asks about these very tasks" in " ".join(nb.compare(scores, "A", "B").notes)


def test_items_are_planned_in_pairs_of_agents() -> None:
    rng = np.random.default_rng(5)
    difficulty = rng.random(150)
    rows = [1.0 * (rng.normal(s, 0.3, 150) > difficulty) for s in (0.5, 0.5, 0.2)]
    found = nb.plan(nb.Scores.from_array(rows, agents=list("ABC")), games=400)
    assert found.kind == "items"
    assert [column.name for column in found.table().columns] == ["a", "b", "items"]
    assert found.pairs[int(np.argmax(found.counts))] == ("A", "B")
    assert found.probability < found.expected


@pytest.mark.slow
def test_the_probability_that_a_plan_expects_comes_true() -> None:
    rng, runs = np.random.default_rng(44), 25
    claimed, right = [], []
    for k in range(runs):
        r = rng.normal(0, 0.6, 6)
        x = decisions.log_odds(r, 0.0, rng)
        old = decisions.play(x, 6, rng)
        found = nb.plan(old, games=200, rng=k)
        claimed.append(found.expected)
        right.append(decisions.best_is(decisions.follow(old, x, found, rng), x))
    error = np.sqrt(np.mean(claimed) * (1 - np.mean(claimed)) / runs)
    assert np.mean(right) == pytest.approx(np.mean(claimed), abs=3 * error)


def test_targets_that_do_not_exist_are_errors() -> None:
    with pytest.raises(InputError, match="there is no target"):
        nb.plan(arena(0), target="best")
    with pytest.raises(InputError, match="from 1 to 4"):
        nb.plan(arena(0), target=9)


def first_by(judge: str, matches: nb.Matches, sigma: float) -> str | None:
    """Return who is first by the slow way: Elo by BFGS with a fixed prior, or the board of evaluate."""
    if judge == "board":
        posterior = nb.evaluate(matches).posterior
        return posterior.agents[int(np.argmin(posterior.gap))]
    i, j = matches.pairs.T
    won, lost = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2

    def loss(r: np.ndarray) -> float:
        x = r[i] - r[j]
        return float((won * np.logaddexp(0, -x) + lost * np.logaddexp(0, x)).sum() + (r @ r) / (2 * sigma**2))

    r = minimize(loss, np.zeros(len(matches.agents)), tol=1e-12).x
    order = np.argsort(-r)
    return None if r[order[0]] - r[order[1]] < 1e-6 else matches.agents[order[0]]


def without(matches: nb.Matches, votes: tuple[tuple[int, int], ...]) -> nb.Matches:
    """Return the matches without some votes, each a pair and an outcome."""
    counts = np.stack([matches.wins, matches.draws, matches.losses], axis=1)
    np.subtract.at(counts, tuple(np.array(votes).T), 1)
    kept = counts.sum(axis=1) > 0
    wins, draws, losses = counts[kept].T
    return replace(matches, pairs=matches.pairs[kept], wins=wins, draws=draws, losses=losses, sides=None)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("judge", "seed"),
    [("elo", 5), *(pytest.param(*case, marks=SLOW) for case in (("elo", 0), ("elo", 1), ("board", 2)))],
)
def test_the_smallest_set_of_votes_equals_exhaustive_search(judge: Any, seed: int) -> None:
    matches = arena(seed, n=3, games=4)
    found = nb.influence(matches, judge=judge)
    votes = [
        (k, outcome)
        for k in range(len(matches.pairs))
        for outcome, name in enumerate(("wins", "draws", "losses"))
        for _ in range(int(getattr(matches, name)[k]))
    ]
    sigma = nb.elo(matches).sigma * np.log(10) / 400
    first = first_by(judge, matches, sigma)
    assert found.first == first
    removal = next(
        chosen
        for k in range(1, len(votes))
        for chosen in sorted(set(combinations(votes, k)))
        if len(set(without(matches, chosen).pairs.ravel())) == 3
        and first_by(judge, without(matches, chosen), sigma) not in (first, None)
    )
    assert found.removed == len(removal)
    assert found.minimal


@pytest.mark.parametrize("judge", ["elo", pytest.param("board", marks=SLOW)])
def test_a_removal_is_confirmed_by_a_new_fit(judge: Any) -> None:
    matches = arena(3, n=6, games=12)
    found = nb.influence(matches, judge=judge)
    place = {(matches.agents[a], matches.agents[b]): k for k, (a, b) in enumerate(matches.pairs)}
    outcome = {"win": 0, "draw": 1, "loss": 2}
    votes = tuple((place[a, b], outcome[result]) for a, b, result, count in found.rows for _ in range(count))
    left = without(matches, votes)
    assert left.n_games == matches.n_games - found.removed
    sigma = nb.elo(matches).sigma * np.log(10) / 400
    assert first_by(judge, matches, sigma) == found.first
    assert first_by(judge, left, sigma) == found.new_first != found.first


def test_rows_and_voters_that_decide_first_place_are_named() -> None:
    rows = [("x", "A", "B", 1)] * 6 + [("y", "A", "B", 0)] * 5 + [("z", "A", "B", 0.5)]
    frame = pl.DataFrame(rows, schema=["voter", "a", "b", "outcome"], orient="row")
    games = nb.read_games(frame, cluster="voter")
    found = nb.influence(games)
    assert found.rows == (("A", "B", "win", 2, "1, 2"),)
    assert nb.influence(games, by="voters").rows == (("x", 6),)
    with pytest.raises(InputError, match="who cast which vote"):
        nb.influence(arena(0), by="voters")


def test_tasks_that_decide_first_place_are_named() -> None:
    scores = nb.Scores.from_array([[0.9, 0.9, 0.1], [0.3, 0.4, 0.4]], agents=["A", "B"], tasks=["x", "y", "z"])
    found = nb.influence(scores)
    assert (found.first, found.new_first, found.removed) == ("A", "B", 2)
    assert found.minimal
    grouped = nb.Scores.from_array(
        [[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0]], agents=["A", "B"], tasks=[f"{t}/{k}" for t in "st" for k in range(3)]
    )
    grouped = replace(grouped, groups=tuple("sssttt"))
    assert nb.influence(grouped, by="tasks").rows == (("s", 2.0),)
    assert nb.influence(grouped, by="items").removed == 2


@pytest.mark.slow
def test_tasks_that_decide_the_board_are_confirmed_by_a_new_evaluation() -> None:
    rng = np.random.default_rng(3)
    scores = nb.Scores.from_array(np.clip(rng.normal([[0.62], [0.58], [0.4]], 0.08, (3, 8)), 0, 1), agents=list("ABC"))
    found = nb.influence(scores, judge="board")
    kept = [task for task in scores.tasks if task not in {row[0] for row in found.rows}]
    posterior = nb.evaluate(scores.select(tasks=kept)).posterior
    assert posterior.agents[int(np.argmin(posterior.gap))] == found.new_first != found.first


@pytest.mark.thin(3)
@pytest.mark.parametrize("regime", [list(decisions.VOTERS)[k] for k in (0, 1, 3)])
def test_voters_who_do_not_look_are_found_almost_as_well_as_with_the_truth(regime: str) -> None:
    votes, counts, _ = decisions.VOTERS[regime]
    kinds = np.repeat(np.arange(5), counts)
    rng = np.random.default_rng(41)
    areas, chance = [], []
    for _ in range(4):
        data, ratio = decisions.cast_votes(rng, kinds, votes)
        found = nb.voters(*data)
        order = np.argsort(np.array(found.voters, dtype=int))
        chance.append(found.probability[order, 0])
        areas.append([decisions.area(found.evidence[order], kinds > 0), decisions.area(ratio, kinds > 0)])
    own, known = np.mean(areas, axis=0)
    assert own >= known - 0.02
    assert np.mean(chance) == pytest.approx((kinds == 0).mean(), abs=0.08)
    low, high = round(found.inattentive), round(found.inattentive_high)
    assert found.table().notes[0].startswith(f"{low} to {high} of {len(found.voters)} voters ignore the answers (95%")
    assert found.inattentive == pytest.approx((1 - found.probability[:, 0]).sum())


def test_a_partisan_is_named_and_voters_with_tastes_are_not() -> None:
    rng = np.random.default_rng(45)
    (voter, i, j, y), _ = decisions.cast_votes(rng, np.zeros(60, dtype=int), 100, taste=0.5)
    weakest = np.argmin(np.bincount(np.where(y == 1, i, j)))
    about_it = (i == weakest) | (j == weakest)
    found = nb.voters(voter, i, j, np.where((voter == 7) & about_it, i == weakest, y))
    assert found.suspects == ("7",)
    assert found.table().rows[0][1] == f"for {weakest}"


@pytest.mark.parametrize(("twice", "side"), [(0.0, 0.0), (0.05, 0.0), (0.0, 0.4)])
def test_honest_voters_with_few_votes_double_clicks_or_a_common_side_are_not_counted(twice: float, side: float) -> None:
    rng = np.random.default_rng(61)
    n, strength = 3000, rng.normal(0, 0.6, 20)
    voter, i = rng.integers(0, 300, n), rng.integers(0, 20, n)
    j = (i + rng.integers(1, 20, n)) % 20
    y = 1.0 * (rng.random(n) < 1 / (1 + np.exp(strength[j] - strength[i] - side)))
    times = np.where(rng.random(n) < twice, 3, 1)
    found = nb.voters(*(np.repeat(part, times) for part in (voter, i, j, y)))
    assert found.suspects == ()
    assert found.inattentive < 1 < found.inattentive_high
    assert found.repeats == pytest.approx((times - 1).sum(), rel=0.05)
    assert found.votes.sum() == times.sum()


@pytest.mark.parametrize("keys", ["i", "ij", "ijy", "y"])
def test_votes_that_are_equal_in_a_sorted_log_are_no_double_clicks(keys: str) -> None:
    (voter, i, j, y), _ = decisions.cast_votes(np.random.default_rng(63), np.zeros(40, dtype=int), 100)
    order = np.lexsort([{"i": i, "j": j, "y": y}[key] for key in reversed(keys)])
    assert nb.voters(voter[order], i[order], j[order], y[order]).repeats == 0


def test_random_voters_with_few_votes_are_within_the_interval() -> None:
    (voter, i, j, y), _ = decisions.cast_votes(np.random.default_rng(62), np.repeat([0, 1], [540, 60]), 4, agents=20)
    found = nb.voters(voter, i, j, y)
    assert found.inattentive <= 60 <= found.inattentive_high
    assert f" to {found.inattentive_high:.0f} of 600 voters ignore the answers (95% i" in found.table().notes[0]


def test_a_voter_who_only_tied_has_no_shares() -> None:
    found = nb.voters(["u", "u", "v"], ["A", "B", "A"], ["B", "A", "B"], [1, 0, 0.5])
    assert found.agreement.tolist()[0] == 1
    assert np.isnan([found.agreement[1], found.first_share[1]]).all()


def test_removals_that_are_fitted_together_have_the_ratings_of_their_own_fits() -> None:
    matches = arena(3)
    counts = np.stack([matches.wins, matches.losses], axis=1)
    units = csr_array(np.kron(np.eye(len(counts)), [[1.0, 0, 0], [0, 0, 1.0]]))
    prior = learn_prior_of(matches, np.zeros(len(matches.agents) + 1))
    judge = EloJudge(matches=matches, units=units, capacity=counts.ravel().astype(int), prior=prior)
    takes = np.minimum(np.random.default_rng(1).integers(0, 4, (30, judge.capacity.size)), judge.capacity)
    takes[0] = judge.capacity  # nothing is left
    assert judge.batch_size > 1
    np.testing.assert_allclose(
        judge.scores_without_each(takes), [judge.scores_without(take) for take in takes], atol=1e-9
    )


def test_ratings_from_all_votes_are_those_of_elo() -> None:
    (voter, i, j, y), _ = decisions.cast_votes(np.random.default_rng(8), np.zeros(12, dtype=int), 6)
    elo = nb.elo(nb.Matches.from_games(i, j, y))
    found = nb.voters(voter, i, j, y)
    assert found.agents == elo.agents
    np.testing.assert_allclose(found.ratings_all, elo.ratings, atol=1e-6)


def test_alpha_equals_that_of_evalica() -> None:
    # computed by evalica 0.4.2; benchmarks/decisions.py --part peers compares with the version that is installed
    for case in json.loads((Path(__file__).parents[1] / "files/alpha_evalica.json").read_text(encoding="utf-8")):
        for distance in ("nominal", "interval"):
            found = nb.krippendorff_alpha(np.array(case["ratings"], dtype=float), distance=distance)
            assert found == pytest.approx(case[distance], abs=1e-9)


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
    assert f"for agents left out of the choice: {found.held_out:.0%}" in str(found)


def test_a_level_that_is_no_confidence_is_refused() -> None:
    scores = data_of("atari")
    for work in (lambda: nb.reduce_suite(scores, level=95.0), lambda: nb.compare(scores, "dqn", "human", level=0.05)):
        with pytest.raises(InputError, match=r"it is a confidence between 0\.5 and 1"):
            work()


def test_exposure_counts_games_and_inflation_grows_with_variants() -> None:
    matches = arena(1, n=6, games=20)
    found = nb.exposure(matches, families={"two": matches.agents[:2], "four": matches.agents[2:]})
    assert found.share.sum() == pytest.approx(1)
    assert 0 < found.inflation["two"] < found.inflation["four"]


@pytest.mark.slow
def test_the_best_of_equal_variants_gains_what_is_claimed() -> None:
    for row in decisions.measure_inflation(6, 43, ((3, 10),)):
        assert row["claimed"] == pytest.approx(row["seen"], abs=3 * row["error of seen"])


def test_reweighted_pairs_have_equal_weight_above_the_least_number_of_games() -> None:
    matches = nb.Matches.from_counts([[0, 60, 5], [40, 0, 150], [5, 50, 0]])
    weighted = reweight_pairs(matches, 50)
    share = weighted.games / weighted.games.sum()
    assert share == pytest.approx(np.array([1, 0.2, 1]) / 2.2)
    assert weighted.n_games == pytest.approx(matches.n_games)


def test_win_rates_without_counts_have_no_errors_to_work_with() -> None:
    rates = data_of("alphago")
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


@pytest.mark.slow
@pytest.mark.parametrize("regime", list(decisions.PAIRS_OF_DATA))
def test_new_data_of_the_same_truth_move_nobody(regime: str) -> None:
    rng, runs = np.random.default_rng(42), 30
    alarms = firsts = 0
    for k in range(runs):
        found = nb.changes(
            *(nb.evaluate(data, n_resamples=100, rng=k) for data in decisions.PAIRS_OF_DATA[regime](rng))
        )
        alarms += bool(found.moved)
        firsts += found.first_changed
    assert max(alarms, firsts) <= binom.ppf(0.995, runs, 0.05)


def test_copies_change_neither_p_values_nor_whether_first_place_changed() -> None:
    old, new = (
        played(np.random.default_rng(k), np.subtract.outer(x, x), 30) for k, x in enumerate(2 * [np.arange(5) / 4])
    )
    once = nb.changes(nb.evaluate(old), nb.evaluate(new))
    again = nb.changes(*(nb.evaluate(cloned(data, 4, 3)) for data in (old, new)))
    assert again.same_first == once.same_first < 1
    found = {move.agent: move for move in again.moves}
    assert all(found[move.agent] == replace(move, rank_before=ANY, rank_after=ANY) for move in once.moves)


def test_a_new_leader_beyond_noise_is_not_called_noise_where_first_place_was_open_before() -> None:
    skills = np.array([0.0, 0.0, 0.0, -1.0, -1.5])
    old, risen = (
        nb.evaluate(played(np.random.default_rng(3), np.subtract.outer(r, r), 200))
        for r in (skills, skills + 2.0 * np.eye(5)[3])
    )
    better = skills + 0.12 * np.eye(5)[0]
    grown = nb.evaluate(played(np.random.default_rng(4), np.subtract.outer(better, better), 4000))
    found = nb.changes(old, risen)
    assert found.first_before is None
    assert found.summary[0] == "agent 3 is first now; no agent alone was first before."
    assert found.first_changed
    assert isinstance(old.data, nb.Matches)
    entered = nb.changes(nb.evaluate(old.data.select([f"agent {k}" for k in (0, 1, 2, 4)])), risen)
    assert "noise" not in entered.summary[0]
    more = nb.changes(old, grown)  # more data decide what was open
    assert more.first_after == "agent 0"
    assert "that may be noise" in more.summary[0]
    assert not more.first_changed


def test_first_place_that_changes_hands_by_noise_fails_no_build() -> None:
    strong, weak = (nb.Matches.from_counts(w, agents=["A", "B"]) for w in ([[0, 53], [47, 0]], [[0, 46], [54, 0]]))
    clear = nb.Matches.from_counts([[0, 20], [80, 0]], agents=["A", "B"])
    sure = nb.Matches.from_counts([[0, 80], [20, 0]], agents=["A", "B"])
    boards = [nb.evaluate(data) for data in (strong, weak, sure, clear)]
    assert not nb.changes(boards[0], boards[1]).first_changed
    assert nb.changes(boards[0], boards[1]).summary[0] == "No agent alone is first, as before."
    assert "A was first before; that may be noise" in nb.changes(boards[2], boards[1]).summary[0]
    assert nb.changes(boards[2], boards[3]).first_changed
    with pytest.raises(InputError, match="intervals of 95%, the new one of 80%"):
        nb.changes(boards[0], nb.evaluate(weak, level=0.8))


def test_an_agent_that_improved_is_seen_with_its_cause() -> None:
    r = np.linspace(0.6, -0.6, 6)
    better = r + np.array([0, 0, 0, 0, 1.5, 0])
    games = (play(np.subtract.outer(x, x), 60, np.random.default_rng(k)) for k, x in enumerate((r, better)))
    old, new = (nb.evaluate(data, n_resamples=200) for data in games)
    found = nb.changes(old, new)
    assert "agent 5" in found.moved
    shown = found.table().to_columns()
    assert shown["change"] == pytest.approx([move.relative * 400 / np.log(10) for move in found.moves])
    assert "(Elo points)" in found.table().columns[2].meaning
    assert {cause.agent for cause in found.causes} >= {"agent 5"}
    assert nb.history([old, new]).gap.shape == (6, 2)
    wrong: Any
    for wrong in ("boards.json", old, [old, 3]):
        with pytest.raises(nb.InputError, match="takes a list of evaluations"):
            nb.history(wrong)


def test_a_leader_that_improved_moved_and_nobody_else() -> None:
    x = np.subtract.outer(*[np.array([0.5, 0.0, -0.3, -0.6, -1.0])] * 2)
    rng = np.random.default_rng(1)
    old, new = (nb.evaluate(decisions.play(y, 400, rng), n_resamples=100) for y in (x, decisions.raise_first(x, 1.0)))
    assert nb.changes(old, new).moved == nb.changes(new, old).moved == ("a00",)


def released(seed: int, better: float = 0.0) -> tuple[nb.Scores, nb.Scores]:
    """Return two measurements of 12 agents on 10 tasks of 400 items; the fourth agent gains on all tasks."""
    rng = np.random.default_rng(seed)
    truth = np.clip(np.linspace(0.7, 0.4, 12)[:, None] + rng.normal(0, 0.05, (12, 10)), 0.1, 0.9)
    tables = []
    for gain in (0.0, better):
        truth[3] += gain
        shares = rng.binomial(400, truth) / 400
        errors = np.sqrt(shares * (1 - shares) / 400)
        tables.append(nb.Scores.from_array(shares, [f"a{k}" for k in range(12)], stderr=errors))
    return tables[0], tables[1]


def test_an_agent_that_gains_on_every_task_is_named_although_the_distance_to_the_best_is_uncertain() -> None:
    found = nb.changes(*(nb.evaluate(table, n_resamples=100) for table in released(1, better=0.05)))
    assert "Up by mean score beyond noise: 'a3'." in found.summary
    move = next(move for move in found.moves if move.agent == "a3")
    assert move.mean_change == pytest.approx(0.05, abs=0.02)
    assert move.mean_p_value is not None
    assert move.mean_p_value < 1e-3
    assert "mean change" in found.table().to_polars().columns
    exact = nb.changes(*(nb.evaluate(table, noise="none") for table in released(1, better=0.05)))
    assert "no change of the distance to the best can be called real" in exact.summary[1]
    assert "Up by mean score beyond noise: 'a3'." in exact.summary


def test_means_of_the_same_agents_measured_again_change_at_most_as_often_as_the_level() -> None:
    names = [f"a{k}" for k in range(12)]
    pairs = (released(seed) for seed in range(500))
    alarms = [bool((compare_means(old, new, names)[1] <= 0.05).any()) for old, new in pairs]
    assert np.mean(alarms) <= 0.08  # 0.05, and three standard errors


def test_means_of_agents_that_are_pooled_are_compared_each_by_itself() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(50, 8, (8, 12))
    values[1] = values[0] + rng.normal(0, 1, 12)
    again = values + rng.normal(0, 0.7, values.shape)
    names, tasks = [f"a{k}" for k in range(8)], [f"t{k}" for k in range(12)]
    tables = [nb.Scores.from_array(x, names, tasks, stderr=np.ones(x.shape)) for x in (values, again)]
    found = [nb.evaluate(table, n_resamples=50) for table in tables]
    assert all(any("'a0' and 'a1'" in line for line in one.warnings) for one in found)
    for move in nb.changes(*found).moves:
        k = names.index(move.agent)
        assert move.mean_change == pytest.approx(again[k].mean() - values[k].mean(), abs=1e-9)


def test_means_are_compared_over_tasks_where_no_noise_is_known() -> None:
    rng = np.random.default_rng(3)
    alarms = []
    for _ in range(300):
        old, new = (nb.Scores.from_array(rng.normal(size=(6, 12)) * 7 + 50) for _ in range(2))
        alarms.append(bool((compare_means(old, new, old.agents)[1] <= 0.05).any()))
    assert np.mean(alarms) <= 0.09
    assert np.isnan(compare_means(old, None, old.agents)[0]).all()


def test_a_column_of_voters_is_recognised_by_its_words_as_where_votes_are_read() -> None:
    rng = np.random.default_rng(5)
    rows: dict[str, Any] = {
        "Voter Id": [f"v{k}" for k in rng.integers(20, size=200)],
        "model_a": ["x"] * 200,
        "model_b": ["y"] * 200,
        "winner": rng.choice(["model_a", "model_b"], 200).tolist(),
    }
    assert nb.read_matches(rows).clusters is not None
    assert read_voters(rows).voters == tuple(sorted(set(rows["Voter Id"])))
    with pytest.raises(InputError, match=r"none is called 'voter', .* 'judge_id' or 'user_id'"):
        read_voters({name: rows[name] for name in ("model_a", "model_b", "winner")})
