"""Appendix D: Nash averaging for agents against tasks, and theorem 2."""

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats
from nashboard.algebra.operators import averages, game_of_scores
from nashboard.data.datasets import scores_of
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.paper.claim import Found, error
from nashboard.paper.examples import C4
from nashboard.paper.invariance import moved
from nashboard.paper.part import Part

# Theorem 2, P3 (i) as printed: skills that average to zero without uniform agents, and uniform agents without them.
ZERO_SKILLS = ((1, -1), (2, -2))
UNIFORM_AGENTS = ((1, -1, 5), (-1, 1, 9))


def part() -> Part:
    """Check what appendix D says of the game between agents and tasks."""
    S = scores_of("atari_scores.csv").scale("range").values
    m, n = S.shape
    centred = S - S.mean()
    parts = averages(S)
    skills = centred.sum(axis=1) / m
    difficulties = -centred.sum(axis=0) / n
    default = copied("clone-invariant")
    plain = copied("maxent")
    return Part(
        title="Appendix D: agents against tasks",
        words="Agents choose a mixture to score high, tasks a mixture to make it hard. Signs and indices of the "
        "appendix do not stand as printed, and the two statements on uniform mixtures do not hold.",
        found={
            "suite.game": Found(value=printed_game(centred), how="the Atari table, four random mixtures, both sides"),
            "suite.averages": Found(
                value=error(skills - parts.skills, difficulties - parts.difficulties),
                how="the Atari table, printed averages minus means over tasks and over agents",
            ),
            "suite.transitive": Found(
                value=transitive(), how="nb.nash_average_scores, two best agents, one hardest task"
            ),
            "suite.1": Found(
                value=plain,
                how=f"C (appendix F) as scores, agent A twice, maxent; by default weights move {moved(default)}",
            ),
            "suite.2": Found(value=disturbed(S), how="the Atari table disturbed 20 times: gain above epsilon"),
            "suite.3i": Found(
                value=uniform_exactly_where_zero(agents=True),
                how=f"nb.nash_average_scores of {ZERO_SKILLS}, {UNIFORM_AGENTS}",
            ),
            "suite.3ii": Found(
                value=uniform_exactly_where_zero(agents=False), how="the same tables turned around: minus the transpose"
            ),
            "suite.3.size": Found(
                value=uniform_weight(), how="a table of 2 agents and 4 tasks with both averages zero"
            ),
        },
    )


def printed_game(S: Floats) -> float:
    """Return how far the printed expansion of the game is from the game, on random mixtures."""
    rng = np.random.default_rng(0)
    m, n = S.shape
    pa, qa = rng.dirichlet(np.ones(m), 2)
    pe, qe = rng.dirichlet(np.ones(n), 2)
    parts = averages(S)
    s, d, rest = parts.skills, parts.difficulties, parts.rest
    truth = np.concatenate([pa, pe]) @ game_of_scores(S) @ np.concatenate([qa, qe])
    linear = s @ (pa - qa) + d @ (pe - qe)
    if abs(truth - (linear + pa @ rest @ qe - qa @ rest @ pe)) > 1e-9:
        return float("nan")  # with a minus it must hold
    return abs(float(truth - (linear + pa @ rest @ qe + qa @ rest @ pe)))


def transitive() -> float:
    """Return how far the equilibrium of a table made of skills and difficulties is from the best and the hardest."""
    skills, difficulties = np.array([2.0, 2.0, 1.0]), np.array([0.0, 3.0, 1.0, 2.0])
    result = nash_average_scores(skills[:, None] - difficulties)
    return error(result.agent_weights - [0.5, 0.5, 0], result.task_weights - [0, 1, 0, 0])


def copied(selection: str) -> float:
    """Return how far a second copy of the first agent moves weights in a table with many equilibria."""

    def weights(S: Floats) -> Floats:
        result = nash_average_scores(S, selection="maxent" if selection == "maxent" else "clone-invariant")
        return result.agent_weights

    before = weights(C4)
    wanted = np.append(before, before[0] / 2)
    wanted[0] /= 2
    return error(weights(np.vstack([C4, C4[:1]])) - wanted)


def disturbed(S: Floats, times: int = 20) -> float:
    """Return the largest gain above epsilon, epsilon / 2 being the largest disturbance, both sides together."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for size in np.logspace(-3, 0, times):
        noise = rng.uniform(-size, size, S.shape)
        near = nash_average_scores(S + noise)
        p, q = near.agent_weights, near.task_weights
        gain = float((S @ q).max() - (p @ S).min())
        worst = max(worst, gain - 2 * float(np.abs(noise).max()))
    return worst


def uniform_exactly_where_zero(*, agents: bool) -> bool:
    """Say whether uniform weights and vanishing averages go together in both tables."""

    def together(S: Floats) -> bool:
        table = S if agents else -S.T
        result = nash_average_scores(table)
        weights = result.agent_weights if agents else result.task_weights
        mean = table.mean()
        average = table.mean(axis=1) - mean if agents else mean - table.mean(axis=0)
        return (error(weights - 1 / weights.size) < 1e-9) == (error(average) < 1e-9)

    return all(together(table_of(rows)) for rows in (ZERO_SKILLS, UNIFORM_AGENTS))


def table_of(rows: ArrayLike) -> Floats:
    """Return a table of floats."""
    return np.array(rows, dtype=np.float64)


def uniform_weight() -> str:
    """Return the weight of each agent in a table of m = 2 agents and n = 4 tasks with no averages, as a symbol."""
    result = nash_average_scores([[1.0, -1.0, 2.0, -2.0], [-1.0, 1.0, -2.0, 2.0]])
    weight = float(result.agent_weights[0])
    return {0.5: "1/m", 0.25: "1/n"}.get(round(weight, 9), f"{weight:.4g}")
