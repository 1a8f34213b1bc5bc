"""Pairs that never met are filled in the units of the pairs that did."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import nashboard as nb
from nashboard._types import Bools
from nashboard.data.payoffs import smoothed_ratings
from nashboard.evaluation.problem import Noise
from nashboard.evaluation.stress.experiment import enter_agents

LADDER = [0.0, -0.9, -1.6, -2.5, -3.1]  # logits


def unbeaten(games: float = 300.0) -> nb.Matches:
    """Return a ladder a > b > c > d > e, and a star who beat a, b and e ten times each and never met c or d."""
    r = np.array(LADDER)
    W = np.zeros((6, 6))
    W[:5, :5] = games / (1 + np.exp(r[None, :] - r[:, None])) * (1 - np.eye(5))
    W[5, [0, 1, 4]] = 10
    return nb.Matches.from_counts(W, ["a", "b", "c", "d", "e", "star"])


def without(matches: nb.Matches, gone: Bools) -> nb.Matches:
    """Return the matches without some pairs."""
    wins, draws, losses = (part[~gone] for part in (matches.wins, matches.draws, matches.losses))
    return replace(matches, pairs=matches.pairs[~gone], wins=wins, draws=draws, losses=losses)


def test_ratings_that_do_not_settle_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nashboard.data.payoffs.MOST_STEPS", 2)
    with pytest.raises(nb.ConvergenceError, match="did not converge in 2 steps"):
        nb.payoffs(unbeaten(), fill="model")


def test_those_an_unbeaten_agent_never_met_lose_to_it_about_as_much_as_those_it_beat() -> None:
    A = nb.payoffs(unbeaten(), fill="model").A
    measured = np.log(10.5 / 0.5)
    assert A[5, [0, 1, 4]] == pytest.approx([measured] * 3)
    assert measured < A[5, 2] < A[5, 3] < measured + 2
    tiny = nb.elo(unbeaten(), prior=0.01).lead("star", "c") / 400 * np.log(10)
    assert tiny > measured + 5  # without the pseudo-wins of the payoffs


@given(st.lists(st.floats(-2, 2), min_size=4, max_size=7), st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=20)
def test_a_pair_left_out_gets_what_it_would_have_been_measured_at_where_payoffs_are_differences(
    ratings: list[float], seed: int, prior: float
) -> None:
    r, rng = np.array(ratings), np.random.default_rng(seed)
    i, j = np.triu_indices(len(r), 1)
    games = 1e4 * rng.uniform(1, 3, size=len(i))  # many: the drawn games against the average agent count 0.01
    won = (games + prior) / (1 + np.exp(r[j] - r[i])) - prior / 2
    whole = nb.Matches(
        agents=tuple(map(str, range(len(r)))),
        pairs=np.stack([i, j], axis=1),
        wins=won,
        draws=np.zeros(len(i)),
        losses=games - won,
    )
    gone = np.arange(len(i)) == rng.integers(len(i))
    filled = nb.payoffs(without(whole, gone), prior=prior, fill="model")
    np.testing.assert_allclose(filled.A, nb.payoffs(whole, prior=prior).A, atol=1e-4)


def test_the_fit_is_the_minimum_of_the_loss_of_smoothed_counts() -> None:
    matches, prior = unbeaten(20.0), 1.0
    i, j = matches.pairs.T

    def loss(r: np.ndarray) -> float:
        x = r[i] - r[j]
        played = (matches.wins + prior / 2) @ np.logaddexp(0, -x) + (matches.losses + prior / 2) @ np.logaddexp(0, x)
        average = np.logaddexp(0, r[-1] - r[:-1]) + np.logaddexp(0, r[:-1] - r[-1])
        return float(played + 0.005 * average.sum())

    r = minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-7}).x[:-1]
    found = smoothed_ratings(matches, prior)
    np.testing.assert_allclose(found - found.mean(), r - r.mean(), atol=1e-4)


def test_margins_without_a_prior_are_filled_from_the_counts_as_they_are() -> None:
    matches = unbeaten()
    filled = nb.payoffs(matches, scale="margin", fill="model").A
    assert filled[5, 2] == pytest.approx(2 * nb.elo(matches, prior=0.01).predict("star", "c") - 1)


@pytest.mark.parametrize("noise", ["model", "none"])
def test_copies_of_a_loser_to_the_unbeaten_agent_move_no_fill_of_the_board(noise: Noise) -> None:
    matches = unbeaten()
    once = nb.evaluate(matches, noise=noise, n_resamples=4)
    again = nb.evaluate(enter_agents(matches, {"e": 5}), noise=noise, n_resamples=4)
    met = nb.evaluate(without_meetings(matches, 5), noise=noise, n_resamples=4)
    for more in (again, met):
        np.testing.assert_array_equal(more.board.gaps[:6], once.board.gaps)


def without_meetings(matches: nb.Matches, times: int) -> nb.Matches:
    """Return the matches with copies of e that met neither e nor each other."""
    entered = enter_agents(matches, {"e": times})
    a, b = entered.pairs.T
    return without(entered, np.isin(a, [4, *range(6, 6 + times)]) & (b >= 6))


def test_groups_that_no_match_connects_are_still_an_error() -> None:
    apart = nb.Matches.from_counts([[0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]])
    with pytest.raises(nb.InputError, match="2 groups that never met"):
        nb.payoffs(apart, fill="model")
