"""What intervals promise, on arenas whose truth is known."""

from collections.abc import Callable

import numpy as np
import pytest

import nashboard as nb
from evaluation.arenas import leads, played
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard._workers import plan_of
from nashboard.evaluation import matches_board as module
from nashboard.evaluation.classes import find_match_classes
from nashboard.evaluation.intervals import interval
from nashboard.evaluation.matches_again import matches_again
from nashboard.evaluation.matches_board import matches_board


@pytest.mark.parametrize("draws", [0.0, 0.4])
def test_95_percent_intervals_of_elo_hold_the_truth_in_92_to_98_percent(
    draws: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMPARED", 0)
    rng = np.random.default_rng(6)
    held = []
    for _ in range(120):
        X = leads(rng, 12, spread=0.8, cyclic=0.0)
        matches = played(rng, X, 20, draws)
        board = matches_board(matches, find_match_classes(matches), "clone-invariant", None, 0.95)[0]
        truth = X.mean(axis=1) * POINTS_PER_LOGIT
        held += list((board.rating_low <= truth) & (truth <= board.rating_high))
    assert 0.92 <= np.mean(held) <= 0.98


def test_95_percent_intervals_of_elo_hold_the_truth_where_there_are_draws_and_many_hardly_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a plain sandwich holds it in 73%: who never lost surprises nobody
    monkeypatch.setattr(module, "COMPARED", 0)
    rng = np.random.default_rng(6)
    held = []
    for _ in range(120):
        X = leads(rng, 4, spread=3.0, cyclic=0.0)
        matches = played(rng, X, 30, 0.5)
        board = matches_board(matches, find_match_classes(matches), "clone-invariant", None, 0.95)[0]
        truth = X.mean(axis=1) * POINTS_PER_LOGIT
        held += list((board.rating_low <= truth) & (truth <= board.rating_high))
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("games", [20, 200])
def test_95_percent_intervals_of_nash_averages_hold_the_truth_in_92_to_99_percent(games: int) -> None:
    rng = np.random.default_rng(1)
    held = []
    for k in range(60):
        X = leads(rng, 6, spread=0.5, cyclic=0.4)
        samples = matches_again(played(rng, X, games), "clone-invariant", plan_of(96, k, 2, False))
        low, high = interval(samples.gaps, 0.95)
        truth = np.minimum(nb.nash_average(X).averages, 0.0)
        held += list((low - 1e-9 <= truth) & (truth <= high + 1e-9))
    assert 0.92 <= np.mean(held) <= 0.99


def said_and_true(rng: np.random.Generator, truths: list[Floats], games: int) -> tuple[Floats, Floats]:
    """Return the support probabilities of all agents of many arenas, and whether they are in the true support."""
    said, true = [], []
    for k, X in enumerate(truths):
        samples = matches_again(played(rng, X, games), "clone-invariant", plan_of(64, k, 2, False))
        said += list(samples.inside.mean(axis=0))
        true += list(nb.nash_average(X).weights > 0)
    return np.array(said), np.array(true, dtype=np.float64)


BINS = ((0.0, 0.1), (0.1, 0.4), (0.4, 0.7), (0.7, 0.95), (0.95, 1.01))


def independent(rng: np.random.Generator) -> Floats:
    """Return true payoffs without any order: every pair has its own win rate."""
    p = np.clip(rng.beta(0.5, 0.5, size=(5, 5)), 1e-4, 1 - 1e-4)
    X = np.triu(np.log(p / (1 - p)), 1)
    return X - X.T


def ladder(rng: np.random.Generator) -> Floats:
    return leads(rng, 8, spread=0.5, cyclic=0.0)


def ladder_with_cycles(rng: np.random.Generator) -> Floats:
    return leads(rng, 5, spread=0.3, cyclic=0.5)


@pytest.mark.parametrize(
    ("truth", "games"), [(independent, 20), (ladder, 30), (ladder_with_cycles, 20), (ladder_with_cycles, 400)]
)
def test_the_support_probability_is_calibrated(truth: Callable[[np.random.Generator], Floats], games: int) -> None:
    # from pure noise around a ladder to pairs that have nothing to do with each other
    rng = np.random.default_rng(3)
    p, y = said_and_true(rng, [truth(rng) for _ in range(90)], games)
    for low, high in BINS:
        inside = (p >= low) & (p < high)
        luck = 2 * np.sqrt(p[inside].mean() * (1 - p[inside].mean()) / inside.sum())
        assert abs(p[inside].mean() - y[inside].mean()) < 0.06 + luck
    assert ((p - y) ** 2).mean() < 0.6 * y.mean() * (1 - y.mean())
