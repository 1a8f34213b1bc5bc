import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference_evaluation as reference
from nashboard.evaluation.intervals import Samples, uncertainty

GAPS = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=st.integers(-4, 0).map(lambda k: k / 4)
)

NONE = np.empty((0, 0, 0))


def samples_of(gaps: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Samples:
    gaps = gaps - gaps.max(axis=1, keepdims=True)
    return Samples(
        averages=gaps + 2,
        gaps=gaps,
        weights=(gaps == 0) / 1.0,
        inside=(gaps == 0) / 1.0,
        scale=np.ones(len(gaps)),
        terms=NONE,
    )


@given(GAPS, st.sampled_from([0.5, 0.8, 0.95]))
def test_intervals_are_those_of_the_slow_twin(
    gaps: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", level: float
) -> None:
    samples = samples_of(gaps)
    n = gaps.shape[1]
    point = np.array(reference.ranks(samples.gaps.mean(axis=0).tolist()))
    found = uncertainty("again", samples, np.arange(n), point, level)
    rows = samples.gaps.tolist()
    expected = np.array(reference.intervals(rows, level))
    np.testing.assert_allclose(found.gap_low, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.gap_high, expected[:, 1], atol=1e-12)
    ends = reference.rank_intervals(rows, level)
    assert list(zip(found.rank_low.astype(int), found.rank_high.astype(int), strict=True)) == ends
    np.testing.assert_allclose(found.support, (samples.gaps == 0).mean(axis=0))


@given(GAPS)
def test_two_agents_that_share_a_group_cannot_be_told_apart(
    gaps: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]",
) -> None:
    samples = samples_of(gaps)
    n = gaps.shape[1]
    point = np.array(reference.ranks(samples.gaps.mean(axis=0).tolist()))
    found = uncertainty("again", samples, np.arange(n), point, 0.8)
    groups = [set(range(int(g.split("-")[0]), int(g.split("-")[-1]) + 1)) for g in found.groups]
    for a in range(n):
        for b in range(n):
            if groups[a] & groups[b]:
                assert not reference.told_apart(samples.gaps.tolist(), a, b, 0.8)


def test_members_of_a_class_have_the_same_entries() -> None:
    samples = samples_of(np.array([[0.0, -1.0], [-0.5, 0.0]]))
    found = uncertainty("again", samples, np.array([1, 0, 1]), np.array([1, 1]), 0.9)
    assert found.gap_low[0] == found.gap_low[2]
    assert found.groups[0] == found.groups[2]


def test_what_was_never_drawn_has_no_interval() -> None:
    gaps = np.array([[0.0, np.nan, -1.0], [0.0, np.nan, np.nan]])
    weights = np.where(np.isnan(gaps), np.nan, gaps == 0)
    samples = Samples(averages=gaps, gaps=gaps, weights=weights, inside=weights, scale=np.ones(2), terms=NONE)
    found = uncertainty("suite", samples, np.arange(3), np.array([1, 2, 3]), 0.9)
    assert np.isnan(found.gap_low[1])
    assert found.gap_low[2] == pytest.approx(-1)
    assert found.support.tolist() == [1, 0, 0]
    assert found.rank_ranges() == [None, None, None]
