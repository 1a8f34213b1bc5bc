"""What copies and small changes move: section 4.1 (theorem 1), appendix A (averages and Elo), appendix C (lemmas)."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard.algebra.operators import div, grad, rot
from nashboard.data.datasets import alphago, roshambo, suite
from nashboard.data.matches import Matches
from nashboard.data.payoffs import payoffs
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import Selection
from nashboard.paper.algebra import (
    C3,
    C4,
    CIRCLE,
    CIRCLE_AND_COPY,
    T3,
    WIN_RATES,
    WIN_RATES_AND_COPY,
    atari,
    with_copy,
)
from nashboard.paper.reproduction import EXACT, Answer, Part, error
from nashboard.ratings.elo import elo

SELECTIONS: tuple[Selection, ...] = ("maxent", "clone-invariant")
THREE = ("A", "B", "C")
FOUR = ("A", "B", "C1", "C2")


def invariance_part() -> Part:
    """Check example 1, and theorem 1 on the matrices of the paper and on the bundled data."""
    one, two = nash_average(CIRCLE), nash_average(CIRCLE_AND_COPY)
    plain = nash_average(CIRCLE_AND_COPY, selection="maxent")
    how, twice = "nb.nash_average(A)", "nb.nash_average(A'), both selections"
    found = {f"invariance.p.{a}": Answer(float(w), how) for a, w in zip(THREE, one.weights, strict=True)}
    for k, a in enumerate(FOUR):
        both = (float(two.weights[k]), float(plain.weights[k]))
        furthest = max(both, key=lambda weight: abs(weight - two.weights[k]))
        found[f"invariance.p2.{a}"] = Answer(furthest, twice)
    for names, A, key in ((THREE, CIRCLE, "div"), (FOUR, CIRCLE_AND_COPY, "div2")):
        for a, average in zip(names, div(A), strict=True):
            found[f"invariance.{key}.{a}"] = Answer(float(average), "nb.div")
    found |= {
        "invariance.family": Answer(family_error(), "A'p <= 0 for 101 shares alpha"),
        "invariance.n": Answer(error(one.averages), how + ", the largest"),
        "invariance.n2": Answer(error(two.averages, plain.averages), twice + ", the largest"),
        "nash.value": Answer(furthest_value(), "p'A p of nb.nash_average, Go and roshambo"),
        "nash.dominant": Answer(error(nash_average(T3).weights - [1, 0, 0]), "nb.nash_average(T)"),
        "nash.rps": Answer(
            nash_average(C3).unique and error(nash_average(C3).weights - 1 / 3) < 1e-9,
            "nb.nash_average(C).unique",
        ),
        "nash.unique": Answer(
            float(nash_average(C4, selection="maxent").weights.max()),
            "nb.nash_average(C, selection='maxent')",
        ),
        **check_theorem(),
    }
    return Part(
        title="Section 4.1: Nash averaging, and a second copy of C",
        words="Three agents beat each other in a circle. A second copy of C makes B look best on average; the Nash "
        "average does not move. Theorem 1 needs a repair: plain maximum entropy is invariant only where the "
        "equilibrium is unique up to copies.",
        answers=found,
        tables={"invariance": example_table(), "theorem_1_copies": counterexample()},
    )


def family_error() -> float:
    """Return by how much ``(1/3, 1/3, alpha/3, (1 - alpha)/3)`` can be beaten, the worst of 101 shares."""
    shares = np.linspace(0, 1, 101)
    teams = np.array([[1 / 3, 1 / 3, share / 3, (1 - share) / 3] for share in shares])
    return error(np.maximum(CIRCLE_AND_COPY @ teams.T, 0))


def furthest_value() -> float:
    """Return the value of one of two real games, the one further from zero."""
    games = [payoffs(alphago()).A, roshambo().A / 1000]
    values = [float(p @ A @ p) for A, p in ((A, nash_average(A).weights) for A in games)]
    return max(values, key=abs)


def check_theorem() -> dict[str, Answer]:
    """Check the statements of theorem 1."""
    plain, ours = (copy_error(partial(nash_weights, selection=name), C4, with_copy(C4, 0)) for name in SELECTIONS)
    cyclic = rot(roshambo().A) / 1000
    A = payoffs(alphago()).A
    ties = nash_average(grad([1.0, 1.0, 0.0, -2.0]), selection="maxent").weights
    return {
        "theorem.1": Answer(
            plain, f"A of C (appendix F) entered twice, maxent; by default they move {name_move(ours)}"
        ),
        "theorem.2": Answer(perturbed_gain(A), "nb.nash_average(alphago), 20 disturbed matrices: gain above epsilon"),
        "theorem.3i": Answer(
            error(nash_average(cyclic, selection="maxent").weights - 1 / len(cyclic)) < 1e-9
            and error(nash_average(A, selection="maxent").weights - 1 / len(A)) > 0.01,
            "nb.nash_average(maxent) of nb.rot(roshambo), uniform, and of alphago, not",
        ),
        "theorem.3ii": Answer(
            error(ties - [0.5, 0.5, 0, 0]), "nb.nash_average(nb.grad([1, 1, 0, -2]), selection='maxent')"
        ),
    }


def name_move(distance: float) -> str:
    """Return how far weights moved as text that is the same on every machine."""
    return "by less than 1e-9" if distance < EXACT else f"by {distance:.3g}"


def copy_error(solve: Callable[[Floats], Floats], once: Floats, twice: Floats) -> float:
    """Return the error of weights with a copy of the first agent at the end, relative to those that invariance asks."""
    before = solve(once)
    return error(solve(twice) - [before[0] / 2, *before[1:], before[0] / 2])


def nash_weights(A: Floats, selection: Selection) -> Floats:
    """Return the weights by the named selection."""
    return nash_average(A, selection=selection).weights


def perturbed_gain(A: Floats, times: int = 20) -> float:
    """Return the largest gain above epsilon in A against an equilibrium of a disturbed matrix."""
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
            Column("matrix"),
            Column("agent"),
            Column("weight", "in the equilibrium", decimals=4),
            Column("Nash average", decimals=4),
            Column("uniform average", "div", decimals=4),
        ),
        rows=tuple(rows),
    )


def counterexample() -> Table:
    """Return the weights of the cyclic matrix of appendix F with A entered twice, by both selections."""
    A = with_copy(C4, 0)
    return Table(
        title="theorem 1, P1: the cyclic matrix C of appendix F with A entered twice",
        columns=(
            Column("agent"),
            Column("invariance asks", decimals=4),
            Column("plain maximum entropy", decimals=4),
            Column("clone-invariant (default)", decimals=4),
        ),
        rows=tuple(
            (name, wanted, float(plain), float(ours))
            for name, wanted, plain, ours in zip(
                ("A1", "B", "C", "D", "A2"),
                (1 / 8, 1 / 4, 1 / 4, 1 / 4, 1 / 8),
                *(nash_weights(A, name) for name in SELECTIONS),
                strict=True,
            )
        ),
    )


GRID = np.round(np.linspace(0, 1, 101), 2)
AGENTS = ("first", "second", "third")


def continuity_part() -> Part:
    """Solve ``C + eps T`` on a grid and compare weights and averages with the closed form."""
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
        answers={
            "continuity.p.small": Answer(error((p - closed_p)[small]), how),
            "continuity.p.large": Answer(error((p - closed_p)[~small]), how),
            "continuity.n.small": Answer(error((n - closed_n)[small]), how),
            "continuity.n.large": Answer(error((n - closed_n)[~small]), how),
            "continuity.uniform": Answer(float(p[0, np.abs(p[0] - 1 / 3).argmax()]), "nb.nash_average(C)"),
            "continuity.most": Answer(bool((p[between][:, [0, 2]].min(axis=1) > p[between][:, 1]).all()), how),
            "continuity.jump": Answer(find_jump(), "bisection on the weight of the third agent, to 1e-10"),
        },
        tables={"continuity": grid_table(p, n)},
    )


def find_jump() -> float:
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
            Column("eps", decimals=2),
            *(Column(f"weight of {name}", decimals=4) for name in AGENTS),
            *(Column(f"Nash average of {name}", decimals=4) for name in AGENTS),
        ),
        rows=tuple((float(eps), *map(float, a), *map(float, b)) for eps, a, b in zip(GRID, p, n, strict=True)),
    )


def biased_part() -> Part:
    """Average the two suites, and rate the two populations."""
    found: dict[str, Answer] = {}
    for size, redundant in ((3, False), (4, True)):
        table = suite(redundant=redundant)
        means = table.values.mean(axis=1)
        for agent, mean, rank in zip(table.agents, means, rank_values(means), strict=True):
            how = f"nb.load_dataset('suite-{size}'), mean over tasks"
            found[f"biased.{size}.average.{agent}"] = Answer(float(mean), how)
            found[f"biased.{size}.rank.{agent}"] = Answer(float(rank), how)
    before = elo(Matches.from_win_rates(WIN_RATES, ["A", "B", "C"]), prior=0)
    after = elo(Matches.from_win_rates(WIN_RATES_AND_COPY, FOUR), prior=0)
    for agent, rating in zip(before.agents, before.ratings, strict=True):
        found[f"biased.elo.{agent}"] = Answer(float(rating), "nb.elo(prior=0)")
    for agent, rating in zip(after.agents, after.ratings, strict=True):
        found[f"biased.clone.{agent}"] = Answer(float(rating), "nb.elo(prior=0), row sums agree")
    found["biased.direction"] = Answer(
        bool(after.ratings[0] < before.ratings[0] and after.ratings[1] > before.ratings[1]), "nb.elo(prior=0)"
    )
    return Part(
        title="Appendix A: biased averages and biased Elo",
        words="A variant of a task turns the ranking of the averages around; a copy of an agent moves two others by 72 "
        "points each. The Nash averages of the population stay at zero.",
        answers=found,
        tables={"biased_averages": suites_table(), "biased_elo": populations_table()},
    )


def rank_values(values: Floats) -> Floats:
    """Return 1 for the largest."""
    return np.array([1 + (values > value).sum() for value in values], dtype=np.float64)


def log_odds(P: Floats) -> Floats:
    """Return the logits of win rates, none of which is 0 or 1."""
    return np.log(P / (1 - P))


def suites_table() -> Table:
    """Return averages and Nash averages of agents on both suites, in raw units."""
    rows = []
    for redundant in (False, True):
        table = suite(redundant=redundant)
        means = table.values.mean(axis=1)
        nash = nash_average_scores(table.values)
        rows += [
            (len(table.tasks), agent, float(mean), int(rank), float(skill))
            for agent, mean, rank, skill in zip(table.agents, means, rank_values(means), nash.skills, strict=True)
        ]
    return Table(
        title="appendix A: three agents on three tasks, and on four",
        columns=(
            Column("tasks"),
            Column("agent"),
            Column("average", decimals=2),
            Column("rank"),
            Column("Nash average", "raw scores over the tasks that matter", decimals=2),
        ),
        rows=tuple(rows),
    )


def populations_table() -> Table:
    """Return Elo and Nash averages of both populations."""
    rows = []
    for P, names in ((WIN_RATES, ("A", "B", "C")), (WIN_RATES_AND_COPY, FOUR)):
        ratings = elo(Matches.from_win_rates(P, names), prior=0)
        nash = nash_average(log_odds(P))
        rows += [
            (len(names), name, float(r), float(n), float(w))
            for name, r, n, w in zip(names, ratings.ratings, nash.averages, nash.weights, strict=True)
        ]
    return Table(
        title="appendix A: three agents in a circle, and with a second copy of C",
        columns=(
            Column("agents"),
            Column("agent"),
            Column("Elo", decimals=2),
            Column("Nash average", "log-odds", decimals=4),
            Column("weight", decimals=4),
        ),
        rows=tuple(rows),
    )


def copies_part() -> Part:
    """Check the lemmas of appendix C."""
    first_beats_all = C3 + T3
    averages = first_beats_all @ nash_average(first_beats_all).weights
    games = (payoffs(alphago()).A, roshambo().A / 1000)
    return Part(
        title="Appendix C: copies, and games nearby",
        words="An equilibrium is a team against which no agent gains: A p <= 0.",
        answers={
            "copies.sign": Answer(error(np.minimum(averages, 0)), "A p of C + T (example 2), how far below 0"),
            "copies.forward": Answer(max(map(split_gain, games)), "A'p' <= 0, Go and roshambo, 11 shares"),
            "copies.backward": Answer(max(map(join_gain, games)), "nb.nash_average of the copied games"),
            "copies.approximate": Answer(
                max(max(of_both) - most for *of_both, most in deviation_gains(0)),
                "the Atari table disturbed 20 times: gain above 2 epsilon",
            ),
            "copies.norms": Answer(norm_error((*games, *(game - 0.1 for game in games))), "numpy, four matrices"),
        },
    )


def split_gain(A: Floats) -> float:
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


def join_gain(A: Floats) -> float:
    """Return by how much the joined weights of a copied game can be beaten in the original."""
    heaviest = int(nash_average(A).weights.argmax())
    q = nash_average(with_copy(A, heaviest), selection="maxent").weights
    p = q[:-1].copy()
    p[heaviest] += q[-1]
    return max(0.0, float((A @ p).max()))


def deviation_gains(seed: int, times: int = 20) -> Iterator[tuple[float, float, float]]:
    """Return what agents and tasks gain in the Atari table by leaving equilibria of disturbed tables, and 2 epsilon."""
    S, rng = atari(), np.random.default_rng(seed)
    for size in np.logspace(-3, 0, times):
        noise = rng.uniform(-size, size, S.shape)
        near = nash_average_scores(S + noise)
        p, q = near.agent_weights, near.task_weights
        value = float(p @ S @ q)
        yield float((S @ q).max()) - value, value - float((p @ S).min()), 2 * float(np.abs(noise).max())


def norm_error(matrices: tuple[Floats, ...]) -> float:
    """Return by how much max-norm <= operator norm <= Frobenius norm is violated."""
    worst = 0.0
    for S in matrices:
        largest, operator, frobenius = np.abs(S).max(), np.linalg.norm(S, 2), np.linalg.norm(S)
        worst = max(worst, float(largest - operator), float(operator - frobenius))
    return worst
