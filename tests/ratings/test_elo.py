"""Elo by maximum likelihood."""

from dataclasses import replace
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from arenas import planted
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Clusters
from nashboard.ratings.errors import origin_weights
from reference_ratings import elo_by_minimising, elo_hessian_inverse, paper_norm_and_log_loss, robust_errors


def alphago() -> nb.Matches:
    data = nb.load_dataset("alphago")
    assert isinstance(data, nb.Matches)
    return data


def win_rates(matches: nb.Matches) -> Floats:
    P = matches.win_rates()
    np.fill_diagonal(P, 0.5)
    return P


@st.composite
def leagues(draw: st.DrawFn) -> nb.Matches:
    n = draw(st.integers(2, 6))
    cells = st.lists(st.integers(0, 9), min_size=n * n, max_size=n * n)
    W = np.array(draw(cells), dtype=float).reshape(n, n)
    W[np.arange(n - 1), np.arange(1, n)] += 1  # all agents are connected
    D = np.triu(np.array(draw(cells), dtype=float).reshape(n, n), k=1)
    return nb.Matches.from_counts(W, draws=D + D.T)


def test_alphago_meets_the_paper_in_norm_and_log_loss() -> None:
    # Section 3.2 prints 0.85 and 1.41; the reading notes give 0.855 and 1.408 by maximum likelihood.
    P = win_rates(alphago())
    for prior in (0.0, 0.01):
        norm, log_loss = paper_norm_and_log_loss(P, nb.elo(alphago(), prior=prior).win_probabilities())
        assert norm == pytest.approx(0.855, abs=5e-4)
        assert log_loss == pytest.approx(1.408, abs=5e-4)


@pytest.mark.parametrize(
    ("a", "b", "published"), [("alpha_v", "alpha_p", 0.41), ("alpha_v", "Zen", 0.58), ("alpha_p", "Zen", 0.67)]
)
def test_three_go_programs_are_predicted_as_the_paper_prints(a: str, b: str, published: float) -> None:
    assert round(nb.elo(alphago(), prior=0.01).predict(a, b), 2) == published


def test_a_second_copy_of_c_moves_a_and_b_by_71_9_points() -> None:
    # Appendix A prints -63 / +63; the stationary point of proposition 1 is -71.9 / +71.9 (reading notes).
    P = [[0.5, 0.9, 0.1, 0.1], [0.1, 0.5, 0.9, 0.9], [0.9, 0.1, 0.5, 0.5], [0.9, 0.1, 0.5, 0.5]]
    ratings = nb.elo(nb.Matches.from_win_rates(P, ["A", "B", "C1", "C2"]), prior=0).ratings
    np.testing.assert_allclose(ratings, [-71.9, 71.9, 0, 0], atol=0.05)
    three = nb.elo(nb.Matches.from_win_rates(np.array(P)[:3, :3]), prior=0)
    np.testing.assert_allclose(three.ratings, 0, atol=1e-9)


@pytest.mark.slow
@given(leagues())
def test_the_fit_is_the_minimum_that_a_general_minimiser_finds(matches: nb.Matches) -> None:
    np.testing.assert_allclose(nb.elo(matches, prior=1.0).ratings, elo_by_minimising(matches, 1.0), atol=2e-3)


@given(leagues())
def test_row_sums_agree_at_the_stationary_point_of_proposition_1(matches: nb.Matches) -> None:
    try:
        elo = nb.elo(matches, prior=0)
    except nb.InputError:
        return
    i, j = matches.pairs.T
    p = elo.win_probabilities()[i, j]
    points = matches.per_agent(matches.wins + matches.draws / 2, matches.losses + matches.draws / 2)
    np.testing.assert_allclose(matches.per_agent(matches.games * p, matches.games * (1 - p)), points, rtol=0, atol=1e-7)
    assert elo.gradient_norm <= 1e-8


@given(leagues(), st.randoms(use_true_random=False))
def test_relabelling_agents_permutes_the_ratings(matches: nb.Matches, random: Random) -> None:
    order = list(matches.agents)
    random.shuffle(order)
    before, after = nb.elo(matches), nb.elo(matches.select(order))
    where = [matches.agents.index(name) for name in order]
    np.testing.assert_allclose(after.ratings, before.ratings[where], atol=1e-5)
    np.testing.assert_allclose(after.stderr, before.stderr[where], rtol=1e-5)


@given(leagues())
def test_ratings_have_mean_zero_and_inputs_stay_as_they_are(matches: nb.Matches) -> None:
    before = matches.wins.copy()
    ratings, known = nb.elo(matches).ratings, origin_weights(matches) > 0
    assert np.isfinite(ratings).all()
    assert abs(ratings[known].mean()) < 1e-9
    np.testing.assert_array_equal(matches.wins, before)


def test_planted_ratings_are_recovered_within_their_standard_errors() -> None:
    r, matches = planted(30, games=400, seed=3)
    elo = nb.elo(matches)
    z = (elo.ratings - r) / elo.stderr
    assert np.abs(z).max() < 4
    assert 0.6 < np.sqrt((z**2).mean()) < 1.4
    low, high = elo.interval
    assert ((low < r) & (r < high)).mean() > 0.8


def test_standard_errors_are_the_inverse_hessian() -> None:
    _, matches = planted(12, games=50, seed=1)
    elo = nb.elo(matches, prior=0)
    np.testing.assert_allclose(elo.stderr, elo_hessian_inverse(matches, elo.ratings), rtol=1e-7)


def test_sandwich_errors_agree_where_the_model_holds_and_shrink_with_draws() -> None:
    _, matches = planted(20, games=2000, seed=2)
    plain, robust = nb.elo(matches, errors="hessian"), nb.elo(matches, errors="sandwich")
    np.testing.assert_allclose(robust.stderr, plain.stderr, rtol=0.1)
    drawn = nb.Matches.from_counts([[0, 5], [5, 0]], draws=[[0, 90], [90, 0]])
    assert nb.elo(drawn, errors="sandwich").stderr[0] < 0.5 * nb.elo(drawn, errors="hessian").stderr[0]


def test_sandwich_errors_of_an_agent_that_never_lost_are_not_small() -> None:
    won = [[0, 40, 35, 0], [20, 0, 30, 0], [25, 30, 0, 0], [10, 10, 10, 0]]
    drawn = [[0, 40, 40, 0], [40, 0, 40, 0], [40, 40, 0, 0], [0, 0, 0, 0]]
    matches = nb.Matches.from_counts(won, agents=["a", "b", "c", "star"], draws=drawn)
    every = np.arange(len(matches.pairs))  # each pair's games belong together
    split = Clusters(
        size=len(every), cluster=every, pair=every, wins=matches.wins, draws=matches.draws, losses=matches.losses
    )
    known = nb.elo(matches, prior=0.01, errors="hessian").stderr[3]
    assert known > 1000
    for one in (matches, replace(matches, clusters=split)):
        assert nb.elo(one, prior=0.01, errors="sandwich").stderr[3] > 0.7 * known
    trio = matches.select(["a", "b", "c"])  # without the star draws make ratings surer, as they should
    assert (nb.elo(trio, errors="sandwich").stderr < 0.85 * nb.elo(trio, errors="hessian").stderr).all()


def league_with_draws(clusters: str) -> nb.Matches:
    rng = np.random.default_rng(8)
    W, D = rng.poisson(3.0, (6, 6)) * (1 - np.eye(6)), np.triu(rng.poisson(4.0, (6, 6)), 1)
    W[0, 1:], W[1:, 0] = [9, 9, 9, 9, 9], [1, 0, 0, 0, 0]  # one that hardly lost
    D[0] = 0
    matches = nb.Matches.from_counts(W, draws=D + D.T)
    if not clusters:
        return matches
    pairs = len(matches.pairs)
    share = rng.uniform(0.2, 0.8, pairs)  # of each pair's games in the first of two clusters, drawn at random
    size = {"few": 9, "many": 15}[clusters]
    cluster = np.concatenate([rng.integers(0, size // 2, pairs), rng.integers(size // 2, size, pairs)])
    halves = {
        name: np.concatenate([np.round(getattr(matches, name) * share), 0 * share])
        for name in ("wins", "draws", "losses")
    }
    for name, values in halves.items():
        values[pairs:] = getattr(matches, name) - values[:pairs]
    pair = np.tile(np.arange(pairs), 2)
    return replace(matches, clusters=Clusters(size=size, cluster=cluster, pair=pair, **halves))


@pytest.mark.parametrize("clusters", ["", "few", "many"])
def test_sandwich_errors_are_those_of_a_slow_twin(clusters: str) -> None:
    matches = league_with_draws(clusters)
    elo = nb.elo(matches, prior=0.01)
    np.testing.assert_allclose(elo.stderr, robust_errors(matches, elo.ratings, prior=0.01), rtol=1e-5)


def test_clusters_of_equal_votes_widen_the_errors() -> None:
    pair = np.zeros(20, dtype=int)
    wins = np.repeat([10.0, 0.0], 10)
    clusters = Clusters(size=20, cluster=np.arange(20), pair=pair, wins=wins, draws=0 * wins, losses=10 - wins)
    counts: dict[str, Any] = {
        "agents": ("a", "b"),
        "pairs": [[0, 1]],
        "wins": [100.0],
        "draws": [0.0],
        "losses": [100.0],
    }
    loose, tied = nb.Matches(**counts), nb.Matches(**counts, clusters=clusters)
    # ten votes of a cluster always agree: ten times the variance, 20 / 19 for so few clusters, and the quantile of
    # Student's t with 24 degrees of freedom (20 clusters, and 20 games that stand for the league) over the normal one
    ratio = nb.elo(tied, prior=0).stderr[0] / nb.elo(loose, prior=0).stderr[0]
    assert ratio == pytest.approx(np.sqrt(10 * 20 / 19) * 2.064 / 1.96, rel=0.005)


def test_an_unbeaten_agent_is_finite_with_a_prior_and_named_without() -> None:
    matches = nb.Matches.from_counts([[0, 5, 5], [0, 0, 3], [0, 2, 0]], agents=["champion", "b", "c"])
    elo = nb.elo(matches)
    assert np.isfinite(elo.ratings).all()
    assert elo.agents[int(elo.ratings.argmax())] == "champion"
    with pytest.raises(nb.InputError, match=r"'champion' never lost a point.*prior"):
        nb.elo(matches, prior=0)
    with pytest.raises(nb.InputError, match=r"'loser' never won a point"):
        nb.elo(nb.Matches.from_counts([[0, 1, 5], [1, 0, 3], [0, 0, 0]], agents=["a", "b", "loser"]), prior=0)


def test_a_group_that_never_lost_to_the_others_is_named_without_a_prior() -> None:
    W = np.array([[0, 1, 2, 0], [1, 0, 0, 2], [0, 0, 0, 1], [0, 0, 1, 0]])
    with pytest.raises(nb.InputError, match=r"'a' and 'b' never lost a point to the others"):
        nb.elo(nb.Matches.from_counts(W, agents=["a", "b", "c", "d"]), prior=0)


def test_an_unbeaten_agent_with_a_draw_needs_no_prior() -> None:
    matches = nb.Matches.from_counts([[0, 3], [0, 0]], draws=[[0, 1], [1, 0]])
    assert nb.elo(matches, prior=0).predict("agent 1", "agent 2") == pytest.approx(3.5 / 4)


def test_agents_that_never_met_are_an_error_that_names_them() -> None:
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1
    with pytest.raises(nb.InputError, match="2 groups that never met"):
        nb.elo(nb.Matches.from_counts(W))


def test_anchors_beyond_double_precision_are_one_sentence_and_no_endless_search() -> None:
    with pytest.raises(nb.ConvergenceError, match="a larger prior="):
        nb.elo(cast(nb.Matches, nb.load_dataset("alphago")), anchor={"Zen": 2e14})


def test_curvatures_too_far_apart_for_a_plain_factor_are_still_fitted() -> None:
    far = nb.elo(cast(nb.Matches, nb.load_dataset("alphago")), anchor={"Zen": 1e5, "alpha_v": -1e5})
    assert far.gradient_norm <= 1e-8


def test_standard_errors_that_double_precision_does_not_tell_are_unknown_not_small() -> None:
    counts = np.zeros((3, 3))
    counts[0, 1] = counts[1, 0] = 1e20
    counts[1, 2] = counts[2, 1] = 10
    assert np.isnan(nb.elo(nb.Matches.from_counts(counts), prior=0.01).stderr).all()
    counts[0, 1] = counts[1, 0] = 1e6
    errors = nb.elo(nb.Matches.from_counts(counts), prior=0).stderr
    assert errors[2] == pytest.approx(POINTS_PER_LOGIT / np.sqrt(20 / 4), rel=1e-3)  # from those who are known


def test_robust_errors_between_anchors_far_apart_do_not_overflow() -> None:
    matches = nb.Matches.from_counts([[0, 3, 1], [1, 0, 2], [2, 2, 0]], agents=["ann", "bob", "cat"])
    far = nb.elo(matches, anchor={"ann": -1e5, "bob": 1e5}, errors="sandwich")
    assert np.isfinite(far.stderr).all()


@pytest.mark.parametrize("rate", [nb.elo, nb.melo, nb.evaluate, nb.evaluate_components])
def test_an_anchor_that_is_no_mapping_or_of_nobody_is_one_sentence_everywhere(rate: Any) -> None:
    matches = nb.Matches.from_counts([[0, 3, 2], [1, 0, 4], [2, 2, 0]], agents=["zed", "ann", "mid"])
    for wrong, message in (
        ("zed", r"the anchor is 'zed': pass a mapping .* such as \{'zed': 1500\}"),
        (["ann", "mid"], r"the anchor is \['ann', 'mid'\]: pass a mapping .* such as \{'ann': 1500\}"),
        ({"zad": 1500.0}, r"there is no agent 'zad' \(did you mean 'zed'\?\): there are 'zed', 'ann' and 'mid'"),
        ({"ann": "1500"}, "the anchor of 'ann' is '1500': it must be a finite number of Elo points"),
        ({"ann": float("inf")}, "the anchor of 'ann' is inf: it must be a finite number of Elo points"),
    ):
        with pytest.raises(nb.InputError, match=message):
            rate(matches, anchor=wrong)


def test_one_anchor_shifts_and_several_are_held() -> None:
    _, matches = planted(6, games=30, seed=5)
    free, one = nb.elo(matches), nb.elo(matches, anchor={"agent 3": 1500})
    np.testing.assert_allclose(one.ratings - free.ratings, 1500 - free.ratings[2], atol=1e-6)
    assert one.stderr[2] == 0
    two = nb.elo(matches, anchor={"agent 1": 1000, "agent 2": 1300})
    np.testing.assert_allclose(two.ratings[:2], [1000, 1300])
    assert two.log_loss > free.log_loss
    with pytest.raises(nb.InputError, match=r"no agent 'agent 9'"):
        nb.elo(matches, anchor={"agent 9": 0})


def test_many_agents_are_solved_by_conjugate_gradients_as_exactly_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    _, matches = planted(40, games=20, seed=8)
    exact = nb.elo(matches)
    for module in ("likelihood", "errors"):
        monkeypatch.setattr(f"nashboard.ratings.{module}.DENSE", 10)
    sparse = nb.elo(matches)
    np.testing.assert_allclose(sparse.ratings, exact.ratings, atol=1e-5)
    np.testing.assert_allclose(sparse.stderr, exact.stderr, rtol=0.1)
    assert sparse.gradient_norm <= 1e-8


def test_ten_thousand_games_a_pair_still_end_at_a_gradient_of_rounding_size() -> None:
    _, matches = planted(50, games=1_000_000, seed=9)
    assert nb.elo(matches).gradient_norm <= 1e-6


def test_agreement_with_evalica_and_choix() -> None:
    # What evalica 0.4.2 (bradley_terry, ties half) and choix 0.4.1 (opt_pairwise, no penalty) both give for
    # these counts, in Elo points with mean 0: printed by benchmarks/peers.py.
    peers = [47.01419, -27.57337, 24.43293, -43.87375]
    W = [[0, 7, 2, 9], [3, 0, 6, 4], [8, 4, 0, 5], [1, 6, 5, 0]]
    D = [[0, 2, 0, 1], [2, 0, 3, 0], [0, 3, 0, 4], [1, 0, 4, 0]]
    ratings = nb.elo(nb.Matches.from_counts(W, draws=D), prior=0).ratings
    np.testing.assert_allclose(ratings, peers, rtol=0, atol=1e-4)


def test_weights_of_any_size_give_the_same_ratings() -> None:
    W = np.array([[0, 3, 1], [2, 0, 5], [4, 1, 0]])
    usual = nb.elo(nb.Matches.from_counts(W), prior=0).ratings
    for scale in (1e-9, 1e-3, 1e9):
        np.testing.assert_allclose(nb.elo(nb.Matches.from_counts(W * scale), prior=0).ratings, usual, atol=1e-5)


def test_log_loss_is_the_mean_per_game() -> None:
    elo = nb.elo(nb.Matches.from_counts([[0, 3], [1, 0]]), prior=0)
    assert elo.log_loss == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))


def test_results_read_back_from_their_dictionary() -> None:
    elo = nb.elo(alphago())
    again = nb.EloRatings.from_dict(elo.to_dict())
    assert again.to_dict() == elo.to_dict()
    assert "\n" not in repr(elo)
    assert "alpha_rvp" in str(elo)
    assert "<table>" in elo._repr_html_()
    with pytest.raises(nb.InputError, match="kind is 'melo'"):
        nb.EloRatings.from_dict({"kind": "melo"})


def test_the_leaderboard_is_sorted_and_has_intervals() -> None:
    elo = nb.elo(alphago())
    table = elo.leaderboard()
    assert elo.table() == table
    assert [row[1] for row in table.rows][:2] == ["alpha_rvp", "alpha_rp"]
    for _, _, rating, low, high, _, _ in table.rows:
        assert float(low or 0) < float(rating or 0) < float(high or 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"prior": -1}, "not negative"), ({"prior": np.nan}, "finite"), ({"errors": "jackknife"}, "no way to standard")],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.elo(alphago(), **options)
    with pytest.raises(nb.InputError, match="read_matches"):
        nb.elo([[0, 1], [1, 0]])  # the mistake under test


def test_unmet_pairs_are_filled_from_the_model_and_counted() -> None:
    W = np.array([[0, 8, 0], [2, 0, 6], [0, 4, 0]])
    matches = nb.Matches.from_counts(W, agents=["a", "b", "c"])
    filled = nb.payoffs(matches, fill="model")
    elo = nb.elo(matches, prior=0.01)
    smoothed = nb.elo(nb.Matches.from_counts(W + (W + W.T > 0) / 2, agents=["a", "b", "c"]), prior=0.01)
    assert filled.filled == 1
    assert filled.A[0, 2] == pytest.approx(smoothed.lead("a", "c") / POINTS_PER_LOGIT)
    assert filled.A[0, 1] == pytest.approx(np.log(8.5 / 2.5))
    margin = nb.payoffs(matches, scale="margin", fill="model")
    assert margin.A[0, 2] == pytest.approx(2 * elo.predict("a", "c") - 1)
    assert "Elo predicts 1 that never met" in margin.made
