"""The protocol of ratings: every entry of the registry predicts, has errors and a table."""

import numpy as np
import pytest

import nashboard as nb
from nashboard.ratings.calibration import calibration_of
from nashboard.ratings.rating import RATINGS, Rating, rating_method
from ratings.leagues import planted


@pytest.mark.parametrize("name", list(RATINGS))
def test_every_rating_keeps_the_protocol(name: str) -> None:
    r, matches = planted(8, games=60, seed=2)
    fit = rating_method(name).fit(matches)
    assert isinstance(fit, Rating)
    assert fit.label == RATINGS[name].label
    assert abs(fit.ratings.mean()) < 1e-6
    assert np.corrcoef(fit.ratings, r)[0, 1] > 0.97
    assert (fit.stderr > 0).all()
    low, high = fit.interval
    assert ((low < fit.ratings) & (fit.ratings < high)).all()
    a, b = fit.agents[0], fit.agents[3]
    assert fit.predict(a, b) + fit.predict(b, a) == pytest.approx(1)
    assert sum(fit.probabilities(a, b)) == pytest.approx(1)
    P = fit.win_probabilities()
    np.testing.assert_allclose(P + P.T, 1, atol=1e-12)
    assert P[0, 3] == pytest.approx(fit.predict(a, b))
    found = fit.difference(a, b)
    assert found.low < found.lead < found.high
    assert len(fit.leaderboard().rows) == 8
    assert fit.to_dict()["agents"] == list(fit.agents)
    assert "\n" not in repr(fit)
    assert calibration_of(fit, matches).log_loss == pytest.approx(fit.log_loss)
    assert fit.chart() is not None


def test_an_unknown_rating_is_named() -> None:
    with pytest.raises(nb.InputError, match="did you mean 'melo'"):
        rating_method("mello")
