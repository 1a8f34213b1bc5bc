"""Shares of the point other than 0, 1/2 and 1 keep their second moment."""

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from nashboard._types import Floats
from nashboard.ratings.prior import measure_dispersion

GAMES = pl.DataFrame(
    {"a": ["x", "y", "x", "z", "x"], "b": ["y", "x", "z", "y", "y"], "outcome": [0.25, 0.9, 1.0, 0.5, 0.5]}
)


def test_a_reader_sums_the_product_of_the_shares_of_each_pair() -> None:
    read = nb.read_matches(GAMES, a="a", b="b", outcome="outcome")
    counted = nb.Matches.from_games(GAMES["a"], GAMES["b"], GAMES["outcome"])
    for matches in (read, counted, read.select(["z", "y", "x"]).select(["x", "y", "z"])):
        assert matches.fractions is not None
        assert matches.fractions == pytest.approx([0.25 * 0.75 + 0.9 * 0.1, 0.0, 0.0])
        assert matches.shared == pytest.approx([0.25 * 0.75 + 0.9 * 0.1 + 0.25, 0.0, 0.25])


def test_decisive_games_and_draws_have_no_fractions() -> None:
    whole = GAMES.with_columns(outcome=pl.Series([1.0, 0.0, 1.0, 0.5, 0.5]))
    assert nb.read_matches(whole, a="a", b="b", outcome="outcome").fractions is None


def test_shares_of_judges_have_their_own_variance() -> None:
    rng = np.random.default_rng(3)
    first, second = zip(*[(a, b) for a in range(8) for b in range(a)] * 40, strict=True)
    share = rng.binomial(7, 0.6, len(first)) / 7
    matches = nb.Matches.from_games([f"m{k}" for k in first], [f"m{k}" for k in second], share)
    assert measure_dispersion(matches) == pytest.approx(1 / 7, abs=0.02)
    both = (matches, nb.Matches.from_counts(counts_of(matches)))
    errors = [float(nb.elo(m, prior=0.0).stderr.mean()) for m in both]
    assert errors[0] / errors[1] == pytest.approx(1 / np.sqrt(7), rel=0.2)


def test_shares_have_their_own_variance_beside_covariates() -> None:
    rng = np.random.default_rng(3)
    first, second = zip(*[(a, b) for a in range(8) for b in range(a)] * 40, strict=True)
    z = rng.choice([-1.0, 0.0, 1.0], len(first))
    share = rng.binomial(7, 1 / (1 + np.exp(-0.3 * z - 0.4))) / 7
    log = pl.DataFrame({"a": [f"m{k}" for k in first], "b": [f"m{k}" for k in second], "outcome": share, "z": z})
    plain = nb.elo(log, prior=0.0, covariates=["z"], errors="hessian")
    for data in (log, nb.read_games(log, covariates=["z"])):
        found = nb.elo(data, prior=0.0, covariates=["z"])
        assert found.coefficients[0].stderr / plain.coefficients[0].stderr == pytest.approx(1 / np.sqrt(7), rel=0.2)
        assert float(found.stderr.mean() / plain.stderr.mean()) == pytest.approx(1 / np.sqrt(7), rel=0.2)
    sided = [nb.elo(m, prior=0.0, first_advantage=True) for m in (nb.read_matches(log), nb.read_games(log))]
    assert sided[0].stderr == pytest.approx(sided[1].stderr)
    assert sided[0].stderr.mean() < 0.5 * plain.stderr.mean()


def counts_of(matches: nb.Matches) -> Floats:
    W = np.zeros((len(matches.agents),) * 2)
    i, j = matches.pairs.T
    W[i, j], W[j, i] = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    return W


@pytest.mark.parametrize("spread", [0.3, 1.2])
@pytest.mark.parametrize("kind", ["draws", "shares"])
def test_the_dispersion_is_right_where_pairs_have_one_game(spread: float, kind: str) -> None:
    found = []
    for seed in range(10):
        rng = np.random.default_rng([seed, 61])
        r, a = rng.normal(0, spread, 60), rng.integers(0, 60, 600)
        b = (a + rng.integers(1, 60, 600)) % 60
        p = 1 / (1 + np.exp(r[b] - r[a]))
        y = rng.beta(3 * p, 3 - 3 * p)
        if kind == "draws":  # four fifths of as many as there can be
            drawn, u = 1.6 * np.minimum(p, 1 - p), rng.random(600)
            y = np.where(u < p - drawn / 2, 1.0, np.where(u < p + drawn / 2, 0.5, 0.0))
        matches = nb.Matches.from_games([f"m{k}" for k in a], [f"m{k}" for k in b], y)
        found.append(measure_dispersion(matches) * (p * (1 - p)).sum() / ((y - p) ** 2).sum())
    assert np.mean(found) == pytest.approx(1, abs=0.1)
