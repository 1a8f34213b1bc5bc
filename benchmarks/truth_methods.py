"""Is P(same winner) right? Data whose truth is known, measured once and then again.

    python benchmarks/truth_methods.py [--repeats 40] [--again 50] [--seed 0] [regime ...]

A truth is drawn and measured. `Evaluation.second_opinions` says for each method how often new data have the same agents
in first place; new data of the same design, measured from the truth, show how often they have. Reported for each
method: the mean of what was said, the mean of what is true, and the mean difference with its standard error over
truths. Two rows of a regime are of the same truths and are not independent; *all* is the mean over the methods.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import truth
import truth_scores
from truth import Array, Rng

import nashboard as nb
from nashboard.ranking.pairwise import pairwise
from nashboard.ranking.registry import find_method

DRAWS = 100
Measure = Callable[[Rng], Any]
Design = Callable[[Rng], Measure]


def games(
    agents: int, arena: Callable[[int, Rng], Array], schedule: Callable[[int, Rng], Array], drawn: float = 0.0
) -> Design:
    """Return leagues in which a share of the games is drawn whatever the strengths are."""

    def design(rng: Rng) -> Measure:
        x, N = arena(agents, rng), schedule(agents, rng)

        def measure(rng: Rng) -> nb.Matches:
            D = rng.binomial(N, drawn)
            won = rng.binomial(N - D, 1 / (1 + np.exp(-x)))
            return nb.Matches.from_counts(won + (N - D - won).T, draws=D + D.T)

        return measure

    return design


def tables(skills: int, tasks: int, own: float, noise: float, *, useless: int = 0, known: bool = True) -> Design:
    """Return tables of 10 agents with normal noise, whose size is known or not; each task has a unit of its own."""

    def design(rng: Rng) -> Measure:
        a = rng.normal(size=(10, skills)) + rng.normal(size=(10, 1))
        T = a @ rng.dirichlet(np.ones(skills), size=tasks).T + own * rng.normal(size=(10, tasks))
        T = np.hstack([T, np.zeros((10, useless))])
        unit = 10.0 ** rng.uniform(-1, 2, size=T.shape[1])

        def measure(rng: Rng) -> nb.Scores:
            y = T + noise * rng.normal(size=T.shape)
            return nb.Scores.from_array(y * unit, stderr=np.broadcast_to(noise * unit, T.shape) if known else None)

        return measure

    return design


def items(real: int, guesses: int, count: int, own: float, *, known: bool = True) -> Design:
    """Return tables of 10 agents with shares of so many items; on some tasks everybody guesses."""

    def design(rng: Rng) -> Measure:
        p = np.hstack([truth_scores.one_skill(rng, 10, real, own), truth_scores.guessed(10, guesses)])

        def measure(rng: Rng) -> nb.Scores:
            scores = truth_scores.measure_items(rng, p, count).scores
            return scores if known else nb.Scores.from_array(scores.values)

        return measure

    return design


REGIMES: dict[str, Design] = {
    "ladder, 20 games": games(10, truth.ladder(0.5), truth.all_pairs(20)),
    "ladder, 20 games, 40% drawn": games(10, truth.ladder(0.5), truth.all_pairs(20), 0.4),
    "ladder, 2 games": games(10, truth.ladder(0.8), truth.all_pairs(2)),
    "mixed, 10 games, 45% met": games(12, truth.mixed(0.8, 0.3), truth.all_pairs(10, 0.45)),
    "ladder, 14 agents, 3 games, 35% met": games(14, truth.ladder(0.7), truth.all_pairs(3, 0.35)),
    "strongly cyclic, 8 games, 60% met": games(9, truth.mixed(0.2, 1.5), truth.all_pairs(8, 0.6)),
    "cyclic, 20 games": games(10, truth.mixed(0.3, 1.0), truth.all_pairs(20)),
    "rotating, 20 games": games(10, truth.rotating(0.5, 1.0), truth.all_pairs(20)),
    "1 skill, standard errors": tables(1, 12, 0.3, 0.5),
    "3 skills, standard errors": tables(3, 12, 0.3, 0.5),
    "weak tasks, standard errors": tables(1, 12, 0.1, 2.0),
    "10 useless tasks, standard errors": tables(1, 12, 0.3, 0.5, useless=10),
    "2 skills, unknown noise": tables(2, 15, 0.1, 0.5, known=False),
    "own talents, unknown noise": tables(1, 15, 0.5, 0.5, known=False),
    "100 items": items(12, 0, 100, 0.2),
    "100 items, 12 guessed": items(12, 12, 100, 0.2),
    "100 items, unknown, 12 guessed": items(12, 12, 100, 0.2, known=False),
}  # fmt: skip
METHODS = ("nash", "elo", "uniform", "borda", "copeland")


def run_regime(name: str, repeats: int, again: int, seed: int) -> dict[str, tuple[float, float, float, float]]:
    """Return what was said, what is true, the mean difference and its standard error, for each method and all."""
    methods = [find_method(one) for one in METHODS]
    said, true = (np.zeros((repeats, len(methods))) for _ in range(2))
    for k in range(repeats):
        rng = np.random.default_rng([seed, k, len(name)])
        measure = REGIMES[name](rng)
        found = nb.evaluate(measure(rng), n_resamples=DRAWS)
        problem = found.own_problem("simulate")
        data, simulation = problem.pairwise(), problem.simulation()
        drawn = [simulation.draw(s, rng) for s in range(simulation.count)]
        new = [pairwise(measure(rng)) for _ in range(again)]
        for at, method in enumerate(methods):
            first = method.rank(data).winners
            said[k, at] = np.mean([method.rank(one).winners == first for one in drawn])
            true[k, at] = np.mean([method.rank(one).winners == first for one in new])
    columns = {method.name: slice(at, at + 1) for at, method in enumerate(methods)} | {"all": slice(None)}
    rows = {}
    for column, part in columns.items():
        off = (said - true)[:, part].mean(axis=1)
        rows[column] = (
            float(said[:, part].mean()),
            float(true[:, part].mean()),
            float(off.mean()),
            float(off.std(ddof=1) / np.sqrt(repeats)),
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("regimes", nargs="*", help="all by default")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--again", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.regimes or REGIMES:
        for column, (said, true, off, error) in run_regime(name, options.repeats, options.again, options.seed).items():
            print(f"{name:36}{column:12}{said:8.2f}{true:8.2f}{off:8.2f} +- {error:.2f}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
