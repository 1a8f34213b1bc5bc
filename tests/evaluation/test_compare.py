"""Comparisons of two agents: tests equal those of scipy and statsmodels, and error rates are as claimed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import nashboard as nb
from nashboard.errors import InputError
from nashboard.evaluation.decide.significance import (
    log_e_value,
    run_clustered_t,
    run_mcnemar,
)
from simulations import data as simulated
from simulations import decisions, peers


@pytest.mark.parametrize("peer", ["p-values, scipy", pytest.param("p-values, statsmodels", marks=pytest.mark.slow)])
def test_p_values_equal_those_of_other_programs(peer: str) -> None:
    rng = np.random.default_rng(30)
    for own, other in (pair for _ in range(5) for pair in peers.PEERS[peer](rng)):
        assert own == pytest.approx(other, abs=1e-9)


@pytest.mark.slow  # statsmodels takes seconds to import
def test_intervals_equal_those_of_other_programs() -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(15), 8)
    x, y = rng.random((2, 120)) / 2 + rng.random((2, 15))[:, groups] / 2
    scores = nb.Scores.from_array([x, y], agents=["A", "B"])
    found = nb.compare(scores, "A", "B", level=0.9)
    assert (found.low, found.high) == pytest.approx(tuple(stats.ttest_rel(x, y).confidence_interval(0.9)), abs=1e-9)
    model = api.OLS(x - y, np.ones((120, 1))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    found = nb.compare(scores, "A", "B", clusters=groups.tolist())
    assert found.test == "cluster-robust t-test"
    assert (found.low, found.high) == pytest.approx(tuple(model.conf_int()[0]), abs=1e-9)


def test_clusters_of_unequal_sizes_equal_the_matrix_formulas_of_bell_and_mccaffrey() -> None:
    rng = np.random.default_rng(2)
    size = np.array([1, 3, 3, 8, 20, 2])
    groups, n = np.repeat(np.arange(6), size), size.sum()
    d = rng.normal(0, 1, n) + rng.normal(0, 1, 6)[groups]
    found = run_clustered_t(d, groups, 0.95)
    residual_maker = np.eye(n) - 1 / n
    rows = []
    for g in range(6):
        inside = groups == g
        values, vectors = np.linalg.eigh(residual_maker[np.ix_(inside, inside)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        rows.append(residual_maker[:, inside] @ root @ np.ones(inside.sum()) / n)
    G = np.array(rows)
    assert found.details["stderr"] == pytest.approx(float(np.sqrt(((G @ d) ** 2).sum())), rel=1e-9)
    together = 1.0 * (groups[:, None] == groups)  # items agree completely within clusters
    Q = G @ together @ G.T
    assert found.details["df"] == pytest.approx(np.trace(Q) ** 2 / np.trace(Q @ Q), rel=1e-9)


@pytest.mark.slow
def test_intervals_of_shares_cover() -> None:
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(1000):
        u = rng.random(60)
        v = np.where(rng.random(60) < 0.6, u, rng.random(60))
        a, b = (u < 0.7).astype(np.float64), (v < 0.6).astype(np.float64)
        found = run_mcnemar(a, b, 0.95)
        inside += found.low <= 0.1 <= found.high
    assert 0.93 <= inside / 1000 <= 0.99


def most_alarms(runs: int) -> float:
    """Return the share of alarms that a test with an error of 5% exceeds in one of 200 simulations."""
    return float(stats.binom.ppf(0.995, runs, 0.05)) / runs


@pytest.mark.slow
@pytest.mark.parametrize("regime", list(decisions.MATCHES))
def test_equal_agents_are_rarely_told_apart(regime: str) -> None:
    rng = np.random.default_rng(31)
    found = [nb.compare(decisions.MATCHES[regime](rng, 0.0), "a00", "a01") for _ in range(120)]
    assert np.mean([one.p_value <= 0.05 for one in found]) <= most_alarms(120)


@pytest.mark.slow
@pytest.mark.parametrize("regime", list(decisions.ITEMS))
def test_equal_agents_are_rarely_told_apart_by_items(regime: str) -> None:
    rng = np.random.default_rng(32)
    drawn = [decisions.ITEMS[regime](rng) for _ in range(150)]
    found = [nb.compare(scores, "a", "b", clusters=clusters) for scores, clusters in drawn]
    assert np.mean([one.p_value <= 0.05 for one in found]) <= most_alarms(150)


def test_voters_with_tastes_widen_a_comparison() -> None:
    matches = simulated.clustered_votes(np.random.default_rng(33), 60, 20, False)
    alone = replace(matches, clusters=None)
    clustered, plain = (nb.compare(data, "a00", "a01") for data in (matches, alone))
    assert clustered.high - clustered.low > 1.1 * (plain.high - plain.low)
    assert "clusters" in clustered.test


@pytest.mark.slow
def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(4)
    r = np.array([0.6, 0.0, *np.linspace(-1, 1, 10)])
    found = [nb.compare(simulated.play(r[:, None] - r, 40, rng), "a00", "a01") for _ in range(40)]
    assert np.mean([one.verdict == "better" for one in found]) > 0.8
    inside = np.mean([one.low <= 0.6 * 400 / np.log(10) <= one.high for one in found])
    assert inside >= 0.85


def test_looking_after_every_game_keeps_the_error_rate() -> None:
    rng = np.random.default_rng(5)
    runs, games = 2000, 400
    won = np.cumsum(rng.random((runs, games)) < 0.5, axis=1)
    e = log_e_value(won, np.arange(1, games + 1) - won, np.array([0.5]))
    assert (e.max(axis=1) >= np.log(20)).mean() <= 0.05


def test_a_sequence_agrees_with_the_comparison() -> None:
    matches = nb.Matches.from_counts([[0, 40], [10, 0]], agents=["A", "B"])
    found = nb.compare(matches, "A", "B", anytime=True)
    assert found.verdict == "better"
    assert 0 < found.low < 400 / np.log(10) * np.log(4) < found.high
    assert " Elo points in decisive games (" in found.sentence  # draws would make the lead of all games smaller


def test_an_undecided_lead_is_told_from_the_one_who_leads() -> None:
    items = nb.Scores.from_array([[0, 0, 1, 1, 0], [1, 0, 1, 1, 1]], agents=["A", "B"])
    found, turned = nb.compare(items, "A", "B"), nb.compare(items, "B", "A")
    assert found.sentence == turned.sentence
    assert found.sentence.startswith("Undecided: B leads A by 0.400 in mean score (95% interval -")


@pytest.mark.slow
@pytest.mark.parametrize(("bias", "runs"), [(1.5, 30), (0.0, 100)], ids=["biased openings", "even"])
def test_sprt_with_pairs_of_games_keeps_its_error_rates(bias: float, runs: int) -> None:
    rng = np.random.default_rng(6)
    for elo, wrong in ((0.0, "accept"), (60.0, "reject")):
        ends = [decisions.play_sprt(rng, elo, bias) for _ in range(runs)]
        assert np.mean([end == wrong for end in ends]) <= most_alarms(runs)


def test_items_are_compared_in_pairs_and_several_agents_by_holm() -> None:
    rng = np.random.default_rng(7)
    difficulty = rng.random(300)
    rows = [1.0 * (rng.normal(s, 0.3, 300) > difficulty) for s in (0.62, 0.5, 0.5)]
    scores = nb.Scores.from_array(rows, agents=["A", "B", "C"])
    one = nb.compare(scores, "A", "B")
    assert one.test == "exact McNemar test"
    assert one.verdict == "better"
    several = nb.compare(scores, "A", ["B", "C"])
    assert len(several) == 2
    assert all(row.p_value >= nb.compare(scores, "A", row.b).p_value for row in several)
    assert nb.compare(scores, "B", "C", margin=0.2).verdict == "equivalent"


def test_verdicts_whose_interval_contains_0_are_explained() -> None:
    scores = nb.Scores.from_array([[1.0] * 40, [1.0] * 34 + [0.0] * 6, [0.0] * 40], agents=["A", "B", "C"])
    found = nb.compare(scores, "A", ["B", "C"], level=0.96)
    assert [row.verdict for row in found] == ["better", "better"]
    assert found.rows[0].low < 0 < found.rows[1].low
    assert found.table().notes[-1].endswith("the interval of 'B' (Bonferroni) is wider and contains 0")


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(8)
    effect = rng.normal(0.1, 0.3, 20).repeat(10)
    rows = [0.5 + effect + rng.normal(0, 0.05, 200), np.full(200, 0.5)]
    scores = nb.Scores.from_array(np.clip(rows, 0, 1), agents=["A", "B"])
    plain = nb.compare(scores, "A", "B")
    clustered = nb.compare(scores, "A", "B", clusters=np.arange(20).repeat(10).tolist())
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)


@pytest.mark.slow
def test_more_games_needed_decides_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(9)
    decided = []
    x = np.array([[0, 0.35], [-0.35, 0]])
    for _ in range(60):
        first = simulated.play(x, 60, rng)
        found = nb.compare(first, "a00", "a01")
        if found.verdict == "undecided" and found.games_needed and 0.25 < found.difference * np.log(10) / 400 < 0.45:
            more = simulated.play(x, 60 + found.games_needed, rng)
            decided.append(nb.compare(more, "a00", "a01").verdict == "better")
    assert len(decided) >= 10
    assert 0.6 <= np.mean(decided) <= 1.0


def test_wrong_names_and_values_are_errors() -> None:
    scores = nb.Scores.from_array([[1, 0, 1], [0, 0, 1]], agents=["alpha", "beta"])
    with pytest.raises(InputError, match="did you mean 'alpha'"):
        nb.compare(scores, "alpa", "beta")
    with pytest.raises(InputError, match="with itself"):
        nb.compare(scores, "alpha", "alpha")
    with pytest.raises(InputError, match="level"):
        nb.compare(scores, "alpha", "beta", level=95)
    with pytest.raises(InputError, match="one per column"):
        nb.compare(scores, "alpha", "beta", clusters=[1])


def test_equal_differences_are_judged_by_their_number() -> None:
    for tasks, verdict in ((2, "undecided"), (5, "undecided"), (8, "better")):
        found = nb.compare(nb.Scores.from_array([[0.75] * tasks, [0.25] * tasks], agents=["a", "b"]), "a", "b")
        assert found.p_value == pytest.approx(2 / 2**tasks)
        assert found.verdict == verdict
        assert (found.low > 0) == (verdict == "better")


def test_agents_that_only_drew_are_level() -> None:
    found = nb.compare(nb.Matches.from_counts(np.zeros((2, 2)), ["x", "y"], draws=30 * (1 - np.eye(2))), "x", "y")
    assert found.difference == 0.0
    assert found.games_needed is None


def test_the_sentence_says_which_mean_was_compared() -> None:
    table = np.array([[50, 0.5, 0.5], [61, 0.7, 0.8], [72, 0.55, 0.6], [65, 0.6, 0.7]])
    names = ["m1", "m2", "m3", "m4"]
    scaled = nb.compare(nb.Scores.from_array(table, agents=names), "m2", "m3")
    assert "m2 leads m3 by 0.306 of the range of each task in the mean of scaled scores (" in scaled.sentence
    plain = nb.compare(nb.Scores.from_array(table[:, :1] + [[0.0, 5.0, 9.0]], agents=names), "m2", "m3")
    assert " points in the plain mean of the scores (" in plain.sentence
