"""Bundled data sets hold what their sources print."""

import numpy as np
import pytest

import nashboard as nb
from nashboard.data.datasets import DATASETS, catalogue, described


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_loads_and_tells_where_it_comes_from(name: str) -> None:
    data = nb.load_dataset(name)
    assert data.origin.source == f"dataset:{name}"
    assert "Source: " in described(name)
    assert name in [row[0] for row in catalogue().rows]


def test_alphago_holds_the_eight_programs_for_which_all_pairs_are_known() -> None:
    matches = nb.load_dataset("alphago")
    assert isinstance(matches, nb.Matches)
    assert (len(matches.agents), matches.coverage) == (8, 1.0)
    rates = matches.win_rates()
    place = matches.agents.index
    # Silver et al. 2016, extended data table 9; the cycle of section 3.2
    assert rates[place("alpha_v"), place("alpha_p")] == pytest.approx(0.7, abs=0.05)
    assert rates[place("alpha_vp"), place("alpha_rvp")] == pytest.approx(0.01)


def test_atari_has_20_agents_54_games_and_no_hole() -> None:
    for name in ("atari", "atari-noop"):
        scores = nb.load_dataset(name)
        assert isinstance(scores, nb.Scores)
        assert scores.values.shape == (20, 54)
        scores.require_complete()
        assert scores.select(["human"], ["montezuma_revenge"]).values == 4753.3


def test_roshambo_is_antisymmetric_after_averaging_its_two_directions() -> None:
    payoffs = nb.load_dataset("roshambo")
    assert isinstance(payoffs, nb.Payoffs)
    np.testing.assert_array_equal(payoffs.A, -payoffs.A.T)
    assert len(payoffs.agents) == 43
    assert "directions averaged" in payoffs.made


def test_the_suites_of_appendix_a_change_their_winner_under_the_uniform_average() -> None:
    winners = []
    for name in ("suite-3", "suite-4"):
        scores = nb.load_dataset(name)
        assert isinstance(scores, nb.Scores)
        winners.append(scores.agents[int(scores.values.mean(axis=1).argmax())])
    assert winners == ["A", "C"]


def test_an_unknown_data_set_is_answered_with_the_nearest() -> None:
    with pytest.raises(nb.InputError, match=r"no data set 'attari' \(did you mean 'atari'\?\)"):
        nb.load_dataset("attari")
