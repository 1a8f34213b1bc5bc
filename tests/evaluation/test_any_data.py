"""Whatever the data: an evaluation that is finite and reads back, or an error of our own."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings

import nashboard as nb
from strategies import matches, payoffs, scores


def check(data: nb.Matches | nb.Scores | nb.Payoffs) -> None:
    with contextlib.suppress(nb.NashboardError):
        found = nb.evaluate(data, n_resamples=2)
        assert np.isfinite(found.board.gaps).all()
        assert (found.board.gaps >= 0).all()
        assert (found.board.gap_low <= found.board.gaps).all()
        assert (found.board.gaps <= found.board.gap_high).all()
        assert abs(found.board.weights.sum() - 1) < 1e-9
        assert nb.Evaluation.from_json(found.to_json()).to_json() == found.to_json()
        assert str(found)


@pytest.mark.slow
@given(matches())
@settings(max_examples=25)
def test_any_matches_are_evaluated_or_refused(data: nb.Matches) -> None:
    check(data)


@pytest.mark.slow
@given(scores())
@settings(max_examples=25)
def test_any_scores_are_evaluated_or_refused(data: nb.Scores) -> None:
    check(data)


@pytest.mark.parametrize(
    ("values", "stderr"),
    [
        ([[1e-152], [0.0]], [[47.0], [47.0]]),  # noise far above the spread
        ([[0.0], [0.0], [2.0]], [[2.8e-229], [np.nan], [np.nan]]),  # noise whose square is 0
        ([[1.42359399e8] * 2, [0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [np.nan, 1.0], [1.0, 1.0]]),  # far below the spread
    ],
)
def test_noise_of_any_size_is_evaluated(values: list[list[float]], stderr: list[list[float]]) -> None:
    data = nb.Scores.from_array(values, stderr=np.array(stderr))
    assert np.isfinite(nb.evaluate(data, n_resamples=20).board.gaps).all()
    check(data)


@given(payoffs())
@settings(max_examples=10)
def test_any_payoffs_are_evaluated_or_refused(data: nb.Payoffs) -> None:
    check(data)
