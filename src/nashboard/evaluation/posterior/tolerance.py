"""The exploitability that noise allows: `evaluate(noise="none", tolerance="noise")`.

Symbols: ``E`` standard errors of payoffs or scores; ``p`` the equilibrium of agents, ``q`` that of tasks.

If the exploitability of two mixtures differs by less than its error, the data do not decide which is better. The
average of agent i against a mixture ``p`` has the standard error ``sqrt(sum_j p_j^2 E_ij^2)``. The tolerance is one
standard error, the largest among agents with weight in the exact equilibrium or with an average within its own standard
error of theirs: the one-standard-error rule of Breiman, Friedman, Olshen and Stone 1984, *Classification and Regression
Trees*, section 3.4.3.
"""

from dataclasses import replace

import numpy as np

from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.data.scores import Scaling, Scores
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import Selection
from nashboard.errors import InputError
from nashboard.evaluation.posterior.scores import known_noise


def noise_tolerance(data: Matches | Scores | Payoffs, scaling: Scaling, selection: Selection) -> float:
    """Return one standard error of an average against the exact equilibrium, the largest of those near the best."""
    if isinstance(data, Scores):
        raw = replace(data, stderr=known_noise(data))
        table = raw.scale(scaling) if data.scaling == "raw" else raw
        nash = nash_average_scores(table, selection=selection, tolerance=0)
        p, q = nash.agent_weights, nash.task_weights
        E = table.stderr
        return max(largest_error(E, q, p, nash.skills), largest_error(E.T, p, q, nash.difficulties))
    game = data
    if isinstance(data, Matches):
        data.require_counts()
        games = np.zeros((len(data.agents),) * 2)
        i, j = data.pairs.T
        games[i, j] = games[j, i] = data.games
        game = replace(payoffs(data, fill="model"), games=games)
    assert isinstance(game, Payoffs)
    errors = game.errors()
    if errors is None:
        raise InputError("tolerance='noise' needs standard errors: these payoffs have neither stderr nor games")
    result = nash_average(game, selection=selection, tolerance=0)
    return largest_error(errors, result.weights, result.weights, result.averages)


def largest_error(E: Floats, mixture: Floats, own: Floats, averages: Floats) -> float:
    """Return the largest standard error of an average over a mixture, of rows with weight or within one of the best."""
    errors = np.sqrt(E[:, mixture > 0] ** 2 @ mixture[mixture > 0] ** 2)
    close = errors[(own > 0) | (averages.max() - averages <= errors)]
    if unknown := int((~np.isfinite(close)).sum()):
        raise InputError(
            f"tolerance='noise' needs standard errors of all results against the equilibrium: {unknown:,} of "
            f"{close.size:,} averages have none; give errors or counts, or a tolerance as a number"
        )
    return float(close.max())
