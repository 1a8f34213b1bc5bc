"""Appendix C: lemmas on copies and on equilibria of nearby games."""

import numpy as np

from nashboard._types import Floats
from nashboard.data.datasets import alphago, roshambo, scores_of
from nashboard.data.payoffs import payoffs
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.paper.claim import Found, error
from nashboard.paper.examples import C3, T3, with_copy
from nashboard.paper.part import Part


def part() -> Part:
    """Check the lemmas of appendix C."""
    first_beats_all = C3 + T3
    averages = first_beats_all @ nash_average(first_beats_all).weights
    games = (payoffs(alphago()).A, roshambo().A / 1000)
    return Part(
        title="Appendix C: copies, and games nearby",
        words="An equilibrium is a team against which no agent gains: A p <= 0.",
        found={
            "copies.sign": Found(value=error(np.minimum(averages, 0)), how="A p of C + T (example 2), how far below 0"),
            "copies.forward": Found(value=max(map(split, games)), how="A'p' <= 0, Go and roshambo, 11 shares"),
            "copies.backward": Found(value=max(map(joined, games)), how="nb.nash_average of the copied games"),
            "copies.approximate": Found(
                value=approximate(), how="the Atari table disturbed 20 times: gain above 2 epsilon"
            ),
            "copies.norms": Found(value=norms((*games, *(game - 0.1 for game in games))), how="numpy, four matrices"),
        },
    )


def split(A: Floats) -> float:
    """Return by how much an equilibrium can be beaten when its heaviest agent is split between two copies."""
    p = nash_average(A).weights
    heaviest = int(p.argmax())
    doubled = with_copy(A, heaviest)
    worst = 0.0
    for share in np.linspace(0, 1, 11):
        q = np.append(p, (1 - share) * p[heaviest])
        q[heaviest] *= share
        worst = max(worst, float((doubled @ q).max()))
    return worst


def joined(A: Floats) -> float:
    """Return by how much the joined weights of a copied game can be beaten in the original."""
    heaviest = int(nash_average(A).weights.argmax())
    q = nash_average(with_copy(A, heaviest), selection="maxent").weights
    p = q[:-1].copy()
    p[heaviest] += q[-1]
    return max(0.0, float((A @ p).max()))


def approximate(times: int = 20) -> float:
    """Return the largest gain above 2 epsilon that equilibria of disturbed tables leave in the Atari table."""
    S = scores_of("atari_scores.csv").scale("range").values
    rng = np.random.default_rng(0)
    worst = 0.0
    for size in np.logspace(-3, 0, times):
        noise = rng.uniform(-size, size, S.shape)
        near = nash_average_scores(S + noise)
        p, q = near.agent_weights, near.task_weights
        gain = max(float((S @ q).max() - p @ S @ q), float(p @ S @ q - (p @ S).min()))
        worst = max(worst, gain - 2 * float(np.abs(noise).max()))
    return worst


def norms(matrices: tuple[Floats, ...]) -> float:
    """Return by how much max-norm <= operator norm <= Frobenius norm is missed."""
    worst = 0.0
    for S in matrices:
        largest, operator, frobenius = np.abs(S).max(), np.linalg.norm(S, 2), np.linalg.norm(S)
        worst = max(worst, float(largest - operator), float(operator - frobenius))
    return worst
