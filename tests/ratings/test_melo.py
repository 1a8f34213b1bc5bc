"""mElo by maximum likelihood."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nashboard as nb
from arenas import play
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.ratings.held_out import dealt, held_out_loss, hold_out_each
from nashboard.ratings.likelihood import pair_totals
from nashboard.ratings.melo_fit import LocalModel, MeloLoss, centred, orthogonal_planes, product
from reference_ratings import paper_norm_and_log_loss


def alphago() -> nb.Matches:
    data = nb.load_dataset("alphago")
    assert isinstance(data, nb.Matches)
    return data


def planted(n: int, k: int, games: int, seed: int, share: float = 1.0) -> tuple[Floats, Floats, nb.Matches]:
    """Return leads in points, ratings of the canonical form, and matches drawn from them."""
    rng = np.random.default_rng(seed)
    r, C = centred(rng.normal(0, 1, n), rng.normal(0, 1, (n, 2 * k)))
    r -= r.mean()
    X = np.subtract.outer(r, r) + product(C, C)
    met = np.zeros((n, n))
    met[np.triu_indices(n, k=1)] = rng.random(n * (n - 1) // 2) < share
    return X * POINTS_PER_LOGIT, r * POINTS_PER_LOGIT, play(X, games * met, rng)


def test_alphago_is_at_least_as_good_as_the_paper() -> None:
    # Section 3.2 prints 0.35 and 1.27; the reading notes ask for at most 0.30 and 1.275.
    P = alphago().win_rates()
    np.fill_diagonal(P, 0.5)
    for orthogonal in (False, True):
        norm, log_loss = paper_norm_and_log_loss(
            P, nb.melo(alphago(), k=1, prior=0.01, orthogonal=orthogonal).win_probabilities()
        )
        assert norm <= 0.30
        assert log_loss <= 1.275


@pytest.mark.parametrize(
    ("a", "b", "published"), [("alpha_v", "alpha_p", 0.72), ("alpha_v", "Zen", 0.46), ("alpha_p", "Zen", 0.98)]
)
def test_three_go_programs_are_predicted_as_the_paper_prints(a: str, b: str, published: float) -> None:
    assert nb.melo(alphago(), prior=0.01).predict(a, b) == pytest.approx(published, abs=0.01)


def test_no_planes_are_elo_exactly() -> None:
    elo, melo = nb.elo(alphago()), nb.melo(alphago(), k=0)
    np.testing.assert_array_equal(melo.ratings, elo.ratings)
    np.testing.assert_array_equal(melo.stderr, elo.stderr)
    assert melo.log_loss == elo.log_loss
    assert melo.cyclic.shape == (8, 0)
    np.testing.assert_allclose(melo.win_probabilities(), elo.win_probabilities(), rtol=1e-12)


def test_predictions_of_a_newcomer_average_over_what_is_not_known() -> None:
    rng = np.random.default_rng(2)
    W, r = np.zeros((9, 9)), np.sort(rng.normal(0, 1.2, 8))
    i, j = np.triu_indices(8, 1)
    W[i, j] = rng.binomial(100, 1 / (1 + np.exp(r[j] - r[i])))
    W[j, i] = 100 - W[i, j]
    W[8, 5:8] = 1  # three wins against the best
    melo = nb.melo(nb.Matches.from_counts(W), 1)
    sure = 1 / (1 + 10 ** (-melo.leads() / 400))  # as if leads were known
    P = melo.win_probabilities()
    assert 2 * sure[0, 8] < P[0, 8] < 0.1
    assert P[0, 7] < 1.1 * sure[0, 7]
    again = nb.MeloRatings.from_dict(melo.to_dict())  # without covariances
    np.testing.assert_allclose(again.win_probabilities(), P, atol=0.02)


def test_without_a_prior_alphago_ends_at_a_gradient_of_zero() -> None:
    melo = nb.melo(alphago(), prior=0)
    assert melo.gradient_norm <= 1e-8
    assert melo.spread < 1e-9


def test_rock_paper_scissors_is_predicted_where_elo_sees_nothing() -> None:
    data = nb.load_dataset("rock-paper-scissors")
    assert isinstance(data, nb.Matches)
    assert nb.elo(data).predict("A", "B") == pytest.approx(0.5)
    assert nb.melo(data, prior=1e-6).predict("A", "B") == pytest.approx(0.9, abs=1e-3)


@pytest.mark.slow
def test_planted_ratings_and_planes_are_recovered() -> None:
    X, r, matches = planted(25, k=2, games=3000, seed=4)
    melo = nb.melo(matches, k=2)
    assert np.sqrt(((melo.leads() - X) ** 2).mean()) < 0.05 * np.sqrt((X**2).mean())
    z = (melo.ratings - r) / melo.stderr
    assert 0.5 < np.sqrt((z**2).mean()) < 1.5
    assert melo.gradient_norm <= 1e-8


def test_unseen_pairs_are_predicted_from_half_of_the_pairs() -> None:
    X, _, matches = planted(40, k=1, games=200, seed=6, share=0.5)
    unseen = np.isnan(matches.win_rates()) & ~np.eye(40, dtype=bool)
    error = (nb.melo(matches, k=1).leads() - X)[unseen]
    baseline = (nb.elo(matches).leads() - X)[unseen]
    assert np.sqrt((error**2).mean()) < 0.4 * np.sqrt((baseline**2).mean())


@pytest.mark.parametrize("orthogonal", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_cyclic_part_is_canonical(orthogonal: bool) -> None:
    _, _, matches = planted(12, k=2, games=50, seed=7)
    melo = nb.melo(matches, k=2, orthogonal=orthogonal)
    C, strengths = melo.cyclic, melo.strengths
    np.testing.assert_allclose(C.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(C.T @ C, np.diag(np.repeat(strengths, 2)), atol=1e-7 * strengths[0])
    assert strengths[0] >= strengths[1] > 0
    for t in range(2):
        far = np.hypot(C[:, 2 * t], C[:, 2 * t + 1]).argmax()
        assert C[far, 2 * t] > 0
        assert C[far, 2 * t + 1] == pytest.approx(0, abs=1e-12)
    if orthogonal:
        np.testing.assert_allclose(C.T @ melo.ratings, 0, atol=1e-6)
        assert melo.gradient_norm <= 1e-8
        assert melo.log_loss >= nb.melo(matches, k=2).log_loss - 1e-4


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(4, 9))
def test_canonical_form_changes_no_prediction(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    model = nb.MeloRatings.from_arrays(rng.normal(0, 100, n), rng.normal(3, 10, (n, 2 * k)))
    np.testing.assert_allclose(model.canonical().leads(), model.leads(), atol=1e-8)
    again = model.canonical().canonical()
    np.testing.assert_allclose(again.cyclic, model.canonical().cyclic, atol=1e-7)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 0.3]))
@settings(max_examples=20)
def test_gradient_and_hessian_are_the_finite_differences_of_the_loss(seed: int, orthogonal: bool, prior: float) -> None:
    rng = np.random.default_rng(seed)
    _, _, matches = planted(6, k=2, games=9, seed=seed)
    landscape = MeloLoss(totals=pair_totals(matches, prior), mu=0.1, orthogonal=orthogonal)
    Z = landscape.local(np.zeros((7, 5))).tangent(rng.normal(size=(7, 5)))
    Z = landscape.moved(Z, np.zeros((7, 5)))
    local = landscape.local(Z)
    D = local.tangent(rng.normal(size=Z.shape))
    h = 1e-5
    rise = (landscape.loss(landscape.moved(Z, h * D)) - landscape.loss(landscape.moved(Z, -h * D))) / (2 * h)
    assert float(np.vdot(local.gradient, D)) == pytest.approx(rise, rel=1e-5, abs=1e-5)
    if not orthogonal:
        turn = landscape.local(Z + h * D).gradient - landscape.local(Z - h * D).gradient
        np.testing.assert_allclose(local.hessian(D), turn / (2 * h), rtol=1e-4, atol=1e-4)


def test_relabelling_agents_permutes_the_answer() -> None:
    _, _, matches = planted(10, k=1, games=40, seed=11)
    order = list(np.random.default_rng(0).permutation(10))
    before, after = nb.melo(matches), nb.melo(matches.select([matches.agents[t] for t in order]))
    np.testing.assert_allclose(after.ratings, before.ratings[order], atol=1e-4)
    np.testing.assert_allclose(after.cyclic, before.cyclic[order], atol=1e-4)
    np.testing.assert_allclose(after.stderr, before.stderr[order], rtol=1e-4)


@pytest.mark.parametrize("games", [1, 3, 40])
def test_held_out_games_are_dealt_alike_whatever_agents_are_called(games: int) -> None:
    rng = np.random.default_rng(games)
    W = np.tril(rng.integers(0, games + 1, (9, 9)), -1) * 1.0
    W += np.triu(games - W.T, 1)
    new = rng.permutation(9)
    tables = []
    for wins in (W, W[np.ix_(new, new)]):
        matches = nb.Matches.from_counts(wins)
        parts = np.zeros((5, 9, 9))
        part = dealt(matches, np.random.default_rng(0))
        i, j = matches.pairs.T
        parts[:, i, j], parts[:, j, i] = part[:, 0], part[:, 2]
        assert parts.sum(axis=0) == pytest.approx(wins)
        tables.append(parts)
    assert len({row.tobytes() for row in np.sort(W, axis=1)}) > 1
    np.testing.assert_array_equal(tables[0][:, new][:, :, new], tables[1])


def test_the_same_matches_give_the_same_bytes() -> None:
    first, second = (nb.melo(alphago(), k=2) for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_the_starts_say_how_far_apart_they_ended() -> None:
    melo = nb.melo(alphago(), k=2)
    assert {end.start for end in melo.ends} >= {"Hodge and Schur", "plane by plane"}
    assert melo.spread == melo.ends[-1].loss - melo.ends[0].loss >= 0
    assert "starts reached log-losses within" in str(melo)


@pytest.mark.slow
def test_cross_validation_finds_the_planted_number_of_planes() -> None:
    _, _, matches = planted(12, k=1, games=150, seed=13)
    melo = nb.melo(matches, k="auto")
    assert melo.k == 1
    assert [candidate.k for candidate in melo.candidates] == [0, 1, 2, 3]
    assert sum(row[-1] is True for row in melo.selection().rows) == 1


def test_cross_validation_keeps_a_ladder_a_ladder() -> None:
    r = np.linspace(-1, 1, 8)
    rng = np.random.default_rng(1)
    W = rng.binomial(20, 1 / (1 + np.exp(-np.subtract.outer(r, r))))
    assert nb.melo(nb.Matches.from_counts(W), k="auto").k == 0


@pytest.mark.parametrize("planes", [0, 1])
def test_a_rough_comparison_says_what_a_thorough_one_of_the_same_part_says(planes: int) -> None:
    _, _, matches = planted(60, k=planes, games=12, seed=3)

    def landscape_of(part: nb.Matches) -> MeloLoss:
        return MeloLoss(totals=pair_totals(part, 1.0), mu=0.25)

    splits = hold_out_each(matches, dealt(matches, np.random.default_rng(0))[:1], landscape_of)
    rough, thorough = ([held_out_loss(splits, k, rough=rough) for k in (0, 1)] for rough in (True, False))
    np.testing.assert_allclose([one.log_loss for one in rough], [one.log_loss for one in thorough], rtol=1e-5)
    assert (rough[1].log_loss < rough[0].log_loss) == (planes == 1)


def test_one_anchor_shifts_and_several_are_refused() -> None:
    free, held = nb.melo(alphago()), nb.melo(alphago(), anchor={"Zen": 100})
    np.testing.assert_allclose(held.ratings - free.ratings, 100 - free.ratings[-1], atol=1e-6)
    assert held.stderr[-1] == pytest.approx(0, abs=1e-6)
    with pytest.raises(nb.InputError, match="one anchor"):
        nb.melo(alphago(), anchor={"Zen": 0, "alpha_v": 1})


@pytest.mark.slow
def test_large_fits_estimate_their_errors_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, matches = planted(20, k=1, games=100, seed=17)
    exact = nb.melo(matches)
    monkeypatch.setattr("nashboard.ratings.melo.DENSE", 5)
    rough = nb.melo(matches)
    np.testing.assert_allclose(rough.leads(), exact.leads(), atol=1e-4)
    assert np.abs(rough.stderr / exact.stderr - 1).max() < 0.3  # four times what 100 samples leave open


def test_errors_from_samples_that_did_not_converge_are_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = planted(12, 1, 40, 3)[2]
    step = LocalModel.step

    def too_short(model: LocalModel, radius: float, small: float) -> tuple[Floats, float, float]:
        found, gain, length = step(model, radius, small)
        return (found / 2 if radius > 1e100 else found), gain, length  # without a bound: a system is solved

    monkeypatch.setattr("nashboard.ratings.melo.DENSE", 5)
    monkeypatch.setattr(LocalModel, "step", too_short)
    with pytest.raises(nb.ConvergenceError, match="the standard errors of mElo did not converge for 12 agents"):
        nb.melo(matches, k=1)


def test_products_need_no_matrix() -> None:
    model = nb.melo(alphago(), k=2)
    p = np.random.default_rng(0).dirichlet(np.ones(8))
    np.testing.assert_allclose(model.product(p), model.leads() @ p, atol=1e-9)
    np.testing.assert_allclose(model.columns(np.array([3, 1])), model.leads()[:, [3, 1]], atol=1e-9)
    np.testing.assert_array_equal(model.leads(), -model.leads().T)


def test_results_read_back_from_their_dictionary() -> None:
    for melo in (
        nb.melo(alphago(), k="auto"),
        nb.melo(alphago(), k=2),
        nb.MeloRatings.from_arrays([1, -1], [[1, 2], [3, 4]]),
    ):
        assert nb.MeloRatings.from_dict(melo.to_dict()).to_dict() == melo.to_dict()
        assert "\n" not in repr(melo)
        assert "<table>" in melo._repr_html_()
        assert melo.table().cells() == melo.leaderboard().cells()


@pytest.mark.parametrize("k", [-1, 4, 1.5, True, "many"])
def test_an_impossible_number_of_planes_is_an_error_that_says_what_is_possible(k: Any) -> None:
    with pytest.raises(nb.InputError, match=r"0 to 3 planes"):
        nb.melo(alphago(), k=k)


def test_wrong_arrays_are_named() -> None:
    with pytest.raises(nb.InputError, match="two columns per plane"):
        nb.MeloRatings.from_arrays([1, 2], [[1], [2]])
    with pytest.raises(nb.InputError, match="finite"):
        nb.MeloRatings.from_arrays([1, np.inf], [[1, 2], [2, 3]])


def test_a_one_sided_pair_without_a_cyclic_prior_is_a_convergence_error() -> None:
    W = np.array([[0, 5, 0], [0, 0, 5], [5, 0, 0]])
    with pytest.raises(nb.ConvergenceError, match="prior"):
        nb.melo(nb.Matches.from_counts(W), prior=0)
    assert nb.melo(nb.Matches.from_counts(W)).predict("agent 1", "agent 2") > 0.9


def test_planes_of_zero_stay_zero() -> None:
    C, strengths = orthogonal_planes(np.zeros((5, 4)))
    assert not C.any()
    assert not strengths.any()


@pytest.mark.slow
def test_finishing_only_the_best_start_ends_as_low(monkeypatch: pytest.MonkeyPatch) -> None:
    """More agents than `EVERY_START`: all starts are fitted roughly, and the best goes on to the end."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        W = rng.integers(0, 5, size=(12, 12)) * (1 - np.eye(12))
        matches = nb.Matches.from_counts(W)
        every = nb.melo(matches, k=2, prior=0.1)
        with monkeypatch.context() as patch:
            patch.setattr("nashboard.ratings.melo_fit.EVERY_START", 2)
            best = nb.melo(matches, k=2, prior=0.1, stderr=False)
        assert best.gradient_norm <= 1e-8
        assert best.ends[0].loss == pytest.approx(every.ends[0].loss, abs=1e-6)
        assert np.isnan(best.stderr).all()
        assert not np.isnan(every.stderr).any()
