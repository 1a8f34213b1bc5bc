"""Section 4.1, example 2: the equilibrium between a circle and a ladder, and where it jumps."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard.equilibrium.nash_average import nash_average
from nashboard.paper.claim import Found, error
from nashboard.paper.examples import C3, T3
from nashboard.paper.figures import by_epsilon
from nashboard.paper.part import Figure, Part

GRID = np.round(np.linspace(0, 1, 101), 2)
AGENTS = ("first", "second", "third")


def part() -> Part:
    """Solve ``C + eps T`` on a grid and set weights and averages beside the closed form."""
    results = [nash_average(C3 + eps * T3, selection="maxent") for eps in GRID]
    p = np.array([result.weights for result in results])
    n = np.array([result.averages for result in results])
    small = GRID <= 0.5
    e = GRID[:, None]
    closed_p = np.where(small[:, None], np.hstack([1 + e, 1 - 2 * e, 1 + e]) / 3, [1.0, 0.0, 0.0])
    closed_n = np.where(small[:, None], 0.0, np.hstack([0 * e, -1 - e, 1 - 2 * e]))
    how = "nb.nash_average(C + e T), e = 0, 0.01, ..., 1"
    between = (GRID > 0) & (GRID < 0.5)
    return Part(
        title="Section 4.1: continuity",
        words="Payoffs against the equilibrium are continuous, the equilibrium itself is not: it jumps where the first "
        "agent begins to beat everybody.",
        found={
            "continuity.p.small": Found(value=error((p - closed_p)[small]), how=how),
            "continuity.p.large": Found(value=error((p - closed_p)[~small]), how=how),
            "continuity.n.small": Found(value=error((n - closed_n)[small]), how=how),
            "continuity.n.large": Found(value=error((n - closed_n)[~small]), how=how),
            "continuity.uniform": Found(value=float(p[0, np.abs(p[0] - 1 / 3).argmax()]), how="nb.nash_average(C)"),
            "continuity.most": Found(value=bool((p[between][:, [0, 2]].min(axis=1) > p[between][:, 1]).all()), how=how),
            "continuity.jump": Found(value=jump(), how="bisection on the weight of the third agent, to 1e-10"),
        },
        tables={"continuity": grid_table(p, n)},
        figures={
            "continuity_weights": Figure(
                chart=by_epsilon(GRID, p, AGENTS, "weight"),
                caption="Weights of the three agents in C + eps T: a jump at eps = 1/2.",
            ),
            "continuity_averages": Figure(
                chart=by_epsilon(GRID, n, AGENTS, "Nash average"),
                caption="Their Nash averages: zero up to eps = 1/2; there the second agent's falls to -1 - eps.",
            ),
        },
    )


def jump() -> float:
    """Return the eps at which the third agent loses all its weight, by bisection."""
    low, high = 0.0, 1.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        inside = nash_average(C3 + middle * T3, selection="maxent").weights[2] > 0.25
        low, high = (middle, high) if inside else (low, middle)
    return (low + high) / 2


def grid_table(p: Floats, n: Floats) -> Table:
    """Return weights and averages along the grid."""
    return Table(
        title="example 2: continuity",
        columns=(
            Column(name="eps", decimals=2),
            *(Column(name=f"weight of {name}", decimals=4) for name in AGENTS),
            *(Column(name=f"Nash average of {name}", decimals=4) for name in AGENTS),
        ),
        rows=tuple((float(eps), *map(float, a), *map(float, b)) for eps, a, b in zip(GRID, p, n, strict=True)),
    )
