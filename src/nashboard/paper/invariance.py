"""Section 4.1, example 1 and theorem 1: what a second copy of an agent changes."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard.algebra.operators import div, grad, rot
from nashboard.data.datasets import alphago, roshambo
from nashboard.data.payoffs import payoffs
from nashboard.equilibrium.nash_average import nash_average
from nashboard.paper.claim import EXACT, Found, error
from nashboard.paper.examples import C3, C4, CIRCLE, CIRCLE_AND_COPY, T3, with_copy
from nashboard.paper.figures import beside_nash
from nashboard.paper.part import Figure, Part

THREE = ("A", "B", "C")
FOUR = ("A", "B", "C1", "C2")


def part() -> Part:
    """Work example 1, and theorem 1 on the matrices of the paper and on the bundled data."""
    one, two = nash_average(CIRCLE), nash_average(CIRCLE_AND_COPY)
    plain = nash_average(CIRCLE_AND_COPY, selection="maxent")
    how, twice = "nb.nash_average(A)", "nb.nash_average(A'), both selections"
    found = {f"invariance.p.{a}": Found(value=float(w), how=how) for a, w in zip(THREE, one.weights, strict=True)}
    for k, a in enumerate(FOUR):
        both = (float(two.weights[k]), float(plain.weights[k]))
        furthest = max(both, key=lambda weight: abs(weight - two.weights[k]))
        found[f"invariance.p2.{a}"] = Found(value=furthest, how=twice)
    for names, A, key in ((THREE, CIRCLE, "div"), (FOUR, CIRCLE_AND_COPY, "div2")):
        for a, average in zip(names, div(A), strict=True):
            found[f"invariance.{key}.{a}"] = Found(value=float(average), how="nb.div")
    found |= {
        "invariance.family": Found(value=family(), how="A'p <= 0 for 101 shares alpha"),
        "invariance.n": Found(value=error(one.averages), how=how + ", the largest"),
        "invariance.n2": Found(value=error(two.averages, plain.averages), how=twice + ", the largest"),
        "nash.value": Found(value=value(), how="p'A p of nb.nash_average, Go and roshambo"),
        "nash.dominant": Found(value=error(nash_average(T3).weights - [1, 0, 0]), how="nb.nash_average(T)"),
        "nash.rps": Found(
            value=nash_average(C3).unique and error(nash_average(C3).weights - 1 / 3) < 1e-9,
            how="nb.nash_average(C).unique",
        ),
        "nash.unique": Found(
            value=float(nash_average(C4, selection="maxent").weights.max()),
            how="nb.nash_average(C, selection='maxent')",
        ),
        **theorem(),
    }
    return Part(
        title="Section 4.1: Nash averaging, and a second copy of C",
        words="Three agents beat each other in a circle. A second copy of C makes B look best on average; the Nash "
        "average does not move. Theorem 1 needs a repair: plain maximum entropy is invariant only where the "
        "equilibrium is unique up to copies.",
        found=found,
        tables={"invariance": example_table(), "theorem_1_copies": counterexample()},
        figures={
            "invariance": Figure(
                chart=beside_nash(
                    FOUR,
                    {"uniform": div(CIRCLE_AND_COPY), "Nash": two.averages},
                    "C entered twice: the uniform average moves, Nash does not",
                    "log-odds",
                ),
                caption="Averages with C entered twice: the uniform average puts B first, the Nash average nobody.",
            )
        },
    )


def family() -> float:
    """Return by how much ``(1/3, 1/3, alpha/3, (1 - alpha)/3)`` can be beaten, the worst of 101 shares."""
    shares = np.linspace(0, 1, 101)
    teams = np.array([[1 / 3, 1 / 3, share / 3, (1 - share) / 3] for share in shares])
    return error(np.maximum(CIRCLE_AND_COPY @ teams.T, 0))


def value() -> float:
    """Return the value of two real games, the one further from zero."""
    games = [payoffs(alphago()).A, roshambo().A / 1000]
    values = [float(p @ A @ p) for A, p in ((A, nash_average(A).weights) for A in games)]
    return max(values, key=abs)


def theorem() -> dict[str, Found]:
    """Check what theorem 1 says."""
    plain = copied(C4, "maxent")
    ours = copied(C4, "clone-invariant")
    cyclic = rot(roshambo().A) / 1000
    A = payoffs(alphago()).A
    ties = nash_average(grad([1.0, 1.0, 0.0, -2.0]), selection="maxent").weights
    return {
        "theorem.1": Found(
            value=plain, how=f"A of C (appendix F) entered twice, maxent; by default they move {moved(ours)}"
        ),
        "theorem.2": Found(
            value=perturbed(A), how="nb.nash_average(alphago), 20 disturbed matrices: gain above epsilon"
        ),
        "theorem.3i": Found(
            value=error(nash_average(cyclic, selection="maxent").weights - 1 / len(cyclic)) < 1e-9
            and error(nash_average(A, selection="maxent").weights - 1 / len(A)) > 0.01,
            how="nb.nash_average(maxent) of nb.rot(roshambo), uniform, and of alphago, not",
        ),
        "theorem.3ii": Found(
            value=error(ties - [0.5, 0.5, 0, 0]), how="nb.nash_average(nb.grad([1, 1, 0, -2]), selection='maxent')"
        ),
    }


def moved(distance: float) -> str:
    """Say how far weights moved, the same on every machine."""
    return "by less than 1e-9" if distance < EXACT else f"by {distance:.3g}"


def copied(A: Floats, selection: str) -> float:
    """Return how far a second copy of the first agent moves the weights from where invariance wants them."""
    before = chosen(A, selection)
    wanted = np.append(before, before[0] / 2)
    wanted[0] /= 2
    return error(chosen(with_copy(A, 0), selection) - wanted)


def chosen(A: Floats, selection: str) -> Floats:
    """Return the weights of the selection named."""
    return nash_average(A, selection="maxent" if selection == "maxent" else "clone-invariant").weights


def perturbed(A: Floats, times: int = 20) -> float:
    """Return the largest gain above epsilon that an equilibrium of a disturbed matrix leaves in A itself."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for size in np.logspace(-3, 1, times):
        noise = rng.uniform(-size, size, A.shape)
        disturbed = A + (noise - noise.T) / 2
        p = nash_average(disturbed).weights
        worst = max(worst, float((A @ p).max() - np.abs(A - disturbed).max()))
    return worst


def example_table() -> Table:
    """Return weights and averages of example 1, before and after the copy."""
    rows = []
    for A, names, label in ((CIRCLE, THREE, "A"), (CIRCLE_AND_COPY, FOUR, "A', C twice")):
        result = nash_average(A)
        rows += [
            (label, name, float(w), float(n), float(u))
            for name, w, n, u in zip(names, result.weights, result.averages, div(A), strict=True)
        ]
    return Table(
        title="example 1: invariance",
        columns=(
            Column(name="matrix"),
            Column(name="agent"),
            Column(name="weight", meaning="in the equilibrium", decimals=4),
            Column(name="Nash average", decimals=4),
            Column(name="uniform average", meaning="div", decimals=4),
        ),
        rows=tuple(rows),
    )


def counterexample() -> Table:
    """Return the weights of the cyclic matrix of appendix F with A entered twice, by both selections."""
    A = with_copy(C4, 0)
    return Table(
        title="theorem 1, P1: the cyclic matrix C of appendix F with A entered twice",
        columns=(
            Column(name="agent"),
            Column(name="invariance asks", decimals=4),
            Column(name="plain maximum entropy", decimals=4),
            Column(name="clone-invariant (default)", decimals=4),
        ),
        rows=tuple(
            (name, wanted, float(plain), float(ours))
            for name, wanted, plain, ours in zip(
                ("A1", "B", "C", "D", "A2"),
                (1 / 8, 1 / 4, 1 / 4, 1 / 4, 1 / 8),
                chosen(A, "maxent"),
                chosen(A, "clone-invariant"),
                strict=True,
            )
        ),
    )
