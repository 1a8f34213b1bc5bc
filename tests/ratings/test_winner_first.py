"""Logs in which the winner is always listed first."""

import numpy as np
import polars as pl

import nashboard as nb
from nashboard.ratings.hierarchical.model import fit_hierarchical


def test_a_log_that_lists_the_winner_first_is_not_explained_by_sides() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(300):
        i, j = rng.choice(5, 2, replace=False)
        winner, loser = (i, j) if rng.random() < 1 / (1 + np.exp(0.8 * (i - j))) else (j, i)
        rows.append({"model_a": f"a{winner}", "model_b": f"a{loser}", "winner": "model_a"})
    fit = fit_hierarchical(nb.read_matches(pl.DataFrame(rows)))
    assert np.argsort(-fit.ratings).tolist() == [fit.agents.index(f"a{k}") for k in range(5)]
