"""The summary of draws: probabilities, intervals and ranks, against hand-made draws and slow twins."""

import numpy as np
import pytest

from nashboard._types import Floats
from nashboard.errors import InputError
from nashboard.evaluation.posterior.draws import Draws
from nashboard.evaluation.posterior.posterior import Posterior, draw_ranks, summarise_draws


def made_up(gaps: Floats) -> Draws:
    top = gaps == 0
    return Draws(gaps=gaps, weights=top / top.sum(axis=1, keepdims=True), point=gaps.mean(axis=0))


def summary(gaps: Floats, classes: list[int], level: float = 0.95) -> Posterior:
    names = tuple("abcdefgh"[: len(classes)])
    return summarise_draws(made_up(gaps), names, np.array(classes), unit="log-odds", level=level)


GAPS = np.array([[0.0, 0.0, 2.0], [0.0, 1.0, 3.0], [0.5, 0.0, 0.0], [0.0, 1.0, 1.0]])


def test_probability_top_counts_draws_with_a_gap_of_zero() -> None:
    np.testing.assert_array_equal(summary(GAPS, [0, 1, 2]).probability_top, [0.75, 0.5, 0.25])


def test_probability_above_counts_ties_half_and_sums_to_one() -> None:
    found = summary(GAPS, [0, 1, 2])
    assert found.probability_above("a", "b") == (0.5 + 1 + 0 + 1) / 4
    for a in "abc":
        for b in "abc":
            assert found.probability_above(a, b) + found.probability_above(b, a) == 1.0
    with pytest.raises(InputError, match="no agent 'z'"):
        found.probability_above("a", "z")


def test_exact_copies_have_the_numbers_of_one_and_share_its_weight() -> None:
    alone, copied = summary(GAPS, [0, 1, 2]), summary(GAPS, [0, 1, 1, 2, 1])
    index = [0, 1, 3]
    for name in ("gap", "gap_low", "gap_high", "probability_top", "rank_low", "rank_high"):
        np.testing.assert_array_equal(getattr(copied, name)[index], getattr(alone, name))
        np.testing.assert_array_equal(getattr(copied, name)[[2, 4]], getattr(alone, name)[[1, 1]])
    assert copied.weight.sum() == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(copied.weight[[1, 2, 4]], alone.weight[1] / 3, rtol=1e-15)


def test_ranks_count_how_many_have_a_smaller_gap() -> None:
    rng = np.random.default_rng(3)
    gaps = np.maximum(rng.normal(size=(50, 7)), 0.0)
    gaps -= gaps.min(axis=1, keepdims=True)
    expected = 1 + (gaps[:, None, :] < gaps[:, :, None]).sum(axis=2)
    np.testing.assert_array_equal(draw_ranks(gaps), expected)


def test_rounding_does_not_break_a_tie() -> None:
    gaps = np.array([[0.0, 1e-14, 1.0, 1.0 + 1e-13]])
    np.testing.assert_array_equal(draw_ranks(gaps), [[1, 1, 3, 3]])
    np.testing.assert_array_equal(summary(gaps, [0, 1, 2, 3]).probability_top, [1, 1, 0, 0])


def test_intervals_are_quantiles_of_the_draws() -> None:
    gaps = np.abs(np.random.default_rng(0).normal(size=(400, 5)))
    gaps -= gaps.min(axis=1, keepdims=True)
    found = summary(gaps, list(range(5)), level=0.9)
    np.testing.assert_allclose(found.gap_low, np.quantile(gaps, 0.05, axis=0, method="weibull"))
    np.testing.assert_allclose(found.gap_high, np.quantile(gaps, 0.95, axis=0, method="weibull"))
    np.testing.assert_allclose(found.gap, gaps.mean(axis=0))
    assert ((found.rank_low >= 1) & (found.rank_low <= found.rank_high) & (found.rank_high <= 5)).all()


def test_order_is_by_gap_then_by_probability_then_canonical() -> None:
    gaps = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert list(summary(gaps, [0, 1, 2]).order) == [0, 1, 2]
    assert list(summary(gaps, [1, 0, 2]).order) == [1, 0, 2]
    gaps = np.array([[0.0, 1.0, 1.0], [2.0, 1.0, 0.0]])
    assert list(summary(gaps, [0, 1, 2]).order) == [2, 0, 1]


def test_the_summary_survives_json_without_its_draws() -> None:
    found = summary(GAPS, [0, 1, 2])
    again = Posterior.from_dict(found.to_dict())
    assert str(again) == str(found)
    assert again.to_dict() == found.to_dict()
    with pytest.raises(InputError, match="does not contain the draws"):
        again.probability_above("a", "b")


def test_results_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        summary(GAPS, [0, 1, 2]).gap[0] = 1.0
