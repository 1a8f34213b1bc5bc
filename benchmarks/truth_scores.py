"""Does the board tell the truth? Score tables whose truth is known.

    python benchmarks/truth_scores.py [--tables 40] [--seed 1] [regime ...]

Every regime draws a true table, measures it with noise, and compares three boards with the truth: the posterior
(`draw_scores`), the literal Nash average of the measured table (version 1), and the plain mean of the raw scores.

The true gap of an agent is its distance to the best in the Nash average of the noise-free table. Three versions:

- *order*: in the paper's units, tasks scaled to their true range; tasks on which all true scores agree are left out.
  Reported: Kendall's tau-b of the point estimates, and how often the worst agent is called first.
- *gap*: in the units of the board (the same size of a unit for each task, the same tasks set aside), because an
  interval can only cover a number in its own unit. Reported: coverage of 95% intervals, root mean square error
  relative to that of literal Nash in its units, calibration of P(top), in how many tables an agent that is not at the
  top has a P(top) of at least 1/2, and estimates inside their own interval (those
  of the board, and plain posterior means).
- *all*: as *gap*, but with the tasks that were set aside although their true scores differ. Reported: coverage.

Where the noise is unknown the true scores contain the talents on single tasks.

Tables of nothing but noise, without standard errors, have no truth to compare with. Reported: how often some agent is
called first, how often one has a P(top) of at least 1/2, and the mean of the largest P(top).
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau

from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.evaluation.board.headline import LIKELY, SURE
from nashboard.evaluation.posterior.scores import draw_scores, expected_range, solve_tables, to_units

DRAWS = 200


@dataclass(frozen=True, kw_only=True)
class Case:
    """A true table, higher better, and what was measured of it."""

    truth: np.ndarray
    scores: Scores


def share(x: np.ndarray, chance: float = 0.25) -> np.ndarray:
    """Return the share of items solved at log-odds ``x`` by someone who guesses otherwise."""
    return chance + (1 - chance) / (1 + np.exp(-x))


def measure_items(rng: np.random.Generator, p: np.ndarray, items: int, missing: float = 0.0) -> Case:
    """Count solved items; leave out some cells."""
    y = rng.binomial(items, p) / items
    y = np.where(rng.random(y.shape) < missing, np.nan, y)
    return Case(truth=p, scores=Scores.from_array(y, n=np.full(y.shape, float(items))))


def one_skill(rng: np.random.Generator, agents: int, tasks: int, own: float = 0.0) -> np.ndarray:
    a, d, slope = rng.normal(size=agents), rng.normal(size=tasks), rng.uniform(0.6, 1.4, size=tasks)
    return share(slope * (a[:, None] - d) + own * rng.normal(size=(agents, tasks)))


def several_skills(rng: np.random.Generator, agents: int, tasks: int, skills: int, own: float = 0.0) -> np.ndarray:
    a = rng.normal(size=(agents, skills)) + 0.7 * rng.normal(size=(agents, 1))
    return share(
        a[:, rng.integers(skills, size=tasks)] - rng.normal(size=tasks) + own * rng.normal(size=(agents, tasks))
    )


def guessed(agents: int, tasks: int) -> np.ndarray:
    return np.full((agents, tasks), 0.25)


def guess(tasks: int) -> Callable[[np.random.Generator], Case]:
    return lambda rng: measure_items(rng, np.hstack([one_skill(rng, 14, 12), guessed(14, tasks)]), 250)


def own_talents(rng: np.random.Generator) -> Case:
    return measure_items(rng, np.hstack([one_skill(rng, 14, 12, own=0.3), guessed(14, 10)]), 250)


def skills(items: int) -> Callable[[np.random.Generator], Case]:
    return lambda rng: measure_items(rng, np.hstack([several_skills(rng, 14, 12, 3), guessed(14, 10)]), items)


def few_items(rng: np.random.Generator) -> Case:
    return measure_items(rng, one_skill(rng, 14, 12, own=0.2), 30)


def missing(rng: np.random.Generator) -> Case:
    return measure_items(rng, several_skills(rng, 14, 15, 2, own=0.2), 250, missing=0.2)


def inverted(rng: np.random.Generator) -> Case:
    p = one_skill(rng, 14, 14)
    p[:, :2] = p[:, :2].max(axis=0) + p[:, :2].min(axis=0) - p[:, :2]
    return measure_items(rng, np.hstack([p, guessed(14, 6)]), 250)


def few_tasks(rng: np.random.Generator) -> Case:
    return measure_items(rng, several_skills(rng, 8, 5, 2), 400)


def many_agents(rng: np.random.Generator) -> Case:
    return measure_items(rng, several_skills(rng, 60, 20, 4, own=0.1), 500)


def runs(rng: np.random.Generator) -> Case:
    """Mean of 5 runs with heavy-tailed noise; the standard error is estimated from the same runs."""
    truth = 2.0 ** rng.normal(size=16) * (
        rng.normal(size=(10, 3)) @ rng.normal(size=(3, 16)) + 3 * rng.normal(size=(10, 1))
    )
    spread = 0.3 * np.ptp(truth, axis=0)
    y = truth + spread * rng.standard_t(5, size=(5, *truth.shape)) / np.sqrt(5 / 3)
    scores = Scores.from_array(y.mean(axis=0), stderr=y.std(axis=0, ddof=1) / np.sqrt(5))
    return Case(truth=truth, scores=Scores(**{**vars(scores), "runs": np.full(truth.shape, 5)}))


def unknown_noise(
    skills: int, own: float, useless: int = 0, noise: float = 0.3
) -> Callable[[np.random.Generator], Case]:
    """Scores of any unit without standard errors; ``own`` is truth that no skill explains."""

    def draw(rng: np.random.Generator) -> Case:
        m, n = 20, 30
        a = rng.normal(size=(m, skills)) + 1.0 * rng.normal(size=(m, 1))
        truth = a @ rng.dirichlet(np.ones(skills), size=n).T + own * rng.normal(size=(m, n))
        truth = np.hstack([truth, np.zeros((m, useless))])
        unit = 10.0 ** rng.uniform(-1, 3, size=n + useless)
        y = truth + noise * rng.normal(size=truth.shape)
        return Case(truth=truth * unit, scores=Scores.from_array(y * unit))

    return draw


def percentages(
    agents: int, real: int, guesses: int, items: int, own: float = 0.0
) -> Callable[[np.random.Generator], Case]:
    """A table of shares solved, as most csv files have them: nobody says how many items there were."""

    def draw(rng: np.random.Generator) -> Case:
        case = measure_items(rng, np.hstack([one_skill(rng, agents, real, own), guessed(agents, guesses)]), items)
        return Case(truth=case.truth, scores=Scores.from_array(case.scores.values))

    return draw


def dominated(agents: int, real: int, guesses: int, items: int, behind: float) -> Callable[[np.random.Generator], Case]:
    """The first agent is the best on every task, the second is behind it on every real one; nobody gives the noise."""

    def draw(rng: np.random.Generator) -> Case:
        p = np.maximum(one_skill(rng, agents, real), 0.27)
        p[0] = np.maximum(p.max(axis=0), 0.27 + behind)
        p[1] = p[0] - behind
        case = measure_items(rng, np.hstack([p, guessed(agents, guesses)]), items)
        return Case(truth=case.truth, scores=Scores.from_array(case.scores.values))

    return draw


def tasks_of_their_own(rng: np.random.Generator) -> Case:
    """Four tasks that share nothing with the others, measured as well as they are: no table can show that."""
    truth = np.hstack([rng.normal(size=(12, 1)) + 0.3 * rng.normal(size=(12, 10)), rng.normal(size=(12, 4))])
    return Case(truth=truth, scores=Scores.from_array(truth + 0.2 * rng.normal(size=truth.shape)))


def fewer_items(rng: np.random.Generator) -> Case:
    """Six guessed tasks of 25 items beside twelve of 250: more noise than elsewhere, which no table can show."""
    real, useless = one_skill(rng, 14, 12), guessed(14, 6)
    y = np.hstack([rng.binomial(250, real) / 250, rng.binomial(25, useless) / 25])
    return Case(truth=np.hstack([real, useless]), scores=Scores.from_array(y))


def nothing(agents: int, tasks: int, items: int = 0) -> Callable[[np.random.Generator], Case]:
    """Normal noise, or shares of items that everybody guesses."""

    def draw(rng: np.random.Generator) -> Case:
        shape = (agents, tasks)
        y = rng.binomial(items, 0.25, size=shape) / items if items else rng.normal(size=shape)
        return Case(truth=np.zeros(shape), scores=Scores.from_array(y))

    return draw


NOISE: dict[str, Callable[[np.random.Generator], Case]] = {
    "nothing but noise, 3 agents, 10 tasks": nothing(3, 10),
    "nothing but noise, 5 agents, 6 tasks": nothing(5, 6),
    "nothing but noise, 8 agents, 10 tasks": nothing(8, 10),
    "nothing but noise, 15 agents, 20 tasks": nothing(15, 20),
    "nothing but guesses, 6 agents, 12 tasks": nothing(6, 12, 200),
    "nothing but guesses, 10 agents, 5 tasks": nothing(10, 5, 200),
}
REGIMES: dict[str, Callable[[np.random.Generator], Case]] = {
    "one skill": guess(0),
    "one skill, 10 guessed": guess(10),
    "one skill, 40 guessed": guess(40),
    "own talents, 10 guessed": own_talents,
    "3 skills, 10 guessed": skills(250),
    "3 skills, 1,000 items": skills(1000),
    "30 items": few_items,
    "20% missing": missing,
    "2 inverted, 6 guessed": inverted,
    "8 agents, 5 tasks": few_tasks,
    "60 agents, 20 tasks": many_agents,
    "5 runs, heavy tails": runs,
    "unknown noise, 1 skill": unknown_noise(1, 0.0),
    "unknown noise, 3 skills": unknown_noise(3, 0.0),
    "unknown noise, useless tasks": unknown_noise(2, 0.0, useless=10),
    "unknown noise, own talents": unknown_noise(2, 0.2),
    "unknown noise, which is 0": unknown_noise(2, 0.3, noise=0.0),
    "unknown noise, 40 guessed": percentages(14, 12, 40, 250),
    "unknown noise, 8 agents, 10 guessed": percentages(8, 6, 10, 300),
    "unknown noise, 10 agents, own talents, 12 guessed": percentages(10, 8, 12, 250, own=0.2),
    "unknown noise, 6 agents, 4 tasks": percentages(6, 4, 0, 200),
    "unknown noise, second dominated, 10 x (6 + 6)": dominated(10, 6, 6, 300, 0.04),
    "unknown noise, second dominated, 6 x (4 + 4)": dominated(6, 4, 4, 200, 0.05),
    "unknown noise, second dominated, 16 x (15 + 5)": dominated(16, 15, 5, 250, 0.04),
    "unknown noise, 4 tasks of their own": tasks_of_their_own,
    "unknown noise, guessed tasks of fewer items": fewer_items,
}


def true_gaps(case: Case, sizes: np.ndarray, floor: np.ndarray) -> list[np.ndarray]:
    """Return the true gaps in the paper's units, in those of the board, and in those of the board with all tasks.

    ``sizes`` are NaN for tasks set aside; ``floor`` is the noise floor of every task.
    """
    spread, kept = np.ptp(case.truth, axis=0), np.isfinite(sizes)
    whole = np.where(kept, sizes, np.sqrt(spread**2 + floor**2))
    found = []
    for tasks, unit in ((spread > 0, spread), (kept, sizes), (kept | (spread > 0), whole)):
        units = to_units(case.truth[None][:, :, tasks], unit[tasks], "range")
        found.append(solve_tables(units, "clone-invariant")[2][0])
    return found


def literal_gaps(scores: Scores) -> np.ndarray:
    """Return the gaps of version 1: the measured table, holes at the task's mean."""
    complete = scores.fill("mean").without_constant_tasks()
    found = nash_average_scores(complete)
    return found.value - found.skills


def run_regime(name: str, tables: int, seed: int) -> dict[str, float]:
    """Return the figures of one regime."""
    rows: dict[str, list[float]] = {}
    covered, covered_all, inside, mean_inside, top, chance, at_top = [], [], [], [], [], [], []
    for k in range(tables):
        rng = np.random.default_rng([seed, k, len(name)])
        case = REGIMES[name](rng)
        found = draw_scores(case.scores, draws=DRAWS, rng=rng)
        sizes = found.facts["sizes"]
        paper, board, whole = true_gaps(case, sizes, 2 * expected_range(len(case.truth)) * found.facts["noise_by_task"])
        label = found.facts["label"]
        gaps, point = found.gaps[:, label], found.point[label]
        literal = literal_gaps(case.scores)
        mean = -np.nanmean(case.scores.values, axis=1)
        p_top = (gaps == 0).mean(axis=0)
        worst = paper.argmax()
        for column, value in (
            ("order", kendalltau(point, paper)[0]),
            ("order of Nash", kendalltau(literal, paper)[0]),
            ("order of mean", kendalltau(mean, paper)[0]),
            ("worst first", float(p_top[worst] >= 0.5)),
            ("not best, 1/2", float((p_top[board > 1e-9] >= 0.5).any())),
            ("worst first, Nash", float(literal[worst] <= 1e-9)),
            ("error", np.mean((point - board) ** 2)),
            ("error of Nash", np.mean((literal - paper) ** 2)),
            ("kept", np.isfinite(sizes).sum()),
            ("rank", found.facts["rank"]),
            ("tau", found.facts.get("tau", 0.0)),
        ):
            rows.setdefault(column, []).append(float(value))
        low, high = np.quantile(gaps, [0.025, 0.975], axis=0, method="weibull")
        covered.append((low <= board + 1e-9) & (board <= high + 1e-9))
        covered_all.append((low <= whole + 1e-9) & (whole <= high + 1e-9))
        for estimate, share in ((point, inside), (gaps.mean(axis=0), mean_inside)):
            share.append((low <= estimate + 1e-9) & (estimate <= high + 1e-9))
        top.append(board <= 1e-9)
        chance.append(p_top)
        at_top.append(gaps == 0)
    figures = {column: float(np.nanmean(values)) for column, values in rows.items()}
    literal_error = figures.pop("error of Nash")
    figures["error"] = np.sqrt(figures["error"] / literal_error) if literal_error > 1e-12 else np.nan  # Nash is exact
    figures["coverage"] = float(np.mean(covered))
    figures["coverage, all"] = float(np.mean(covered_all))
    figures["P(top) off"] = calibration_error(np.concatenate(chance), np.concatenate(top))
    figures["off by chance"] = chance_error(at_top, np.random.default_rng([seed, len(name)]))
    figures["inside"] = float(np.mean(inside))
    figures["mean inside"] = float(np.mean(mean_inside))
    return figures


def run_noise(name: str, tables: int, seed: int) -> dict[str, float]:
    """Return how often noise is called first, and how often some agent has a P(top) of at least 1/2."""
    top = []
    for k in range(tables):
        rng = np.random.default_rng([seed, k, len(name)])
        found = draw_scores(NOISE[name](rng).scores, draws=DRAWS, rng=rng)
        top.append((found.gaps == 0).mean(axis=0).max())
    return {
        "called first": float(np.mean(np.array(top) >= SURE)),
        "P(top) of 1/2": float(np.mean(np.array(top) >= LIKELY)),
        "largest P(top)": float(np.mean(top)),
    }


def calibration_error(chance: np.ndarray, happened: np.ndarray) -> float:
    """Return the mean distance of stated probabilities and frequencies, over ten bins weighted by their counts."""
    bins = np.minimum((chance * 10).astype(int), 9)
    off = [abs(chance[bins == b].sum() - happened[bins == b].sum()) for b in range(10)]
    return float(np.sum(off) / len(chance))


def chance_error(at_top: list[np.ndarray], rng: np.random.Generator, repeats: int = 200) -> float:
    """Return the calibration error expected of a perfect model: the truth is one of the draws, P(top) is of the others.

    ``at_top`` contains for each table the draws ``(S, C)`` of who is at the top.
    """
    errors = []
    for _ in range(repeats):
        truth = [draws[rng.integers(len(draws))] for draws in at_top]
        chances = [(draws.sum(axis=0) - one) / (len(draws) - 1) for draws, one in zip(at_top, truth, strict=True)]
        errors.append(calibration_error(np.concatenate(chances), np.concatenate(truth)))
    return float(np.mean(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("regimes", nargs="*", help="all by default")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    head: tuple[str, ...] = ()
    for name in options.regimes or (*REGIMES, *NOISE):
        run = run_noise if name in NOISE else run_regime
        figures = run(name, options.tables, options.seed)
        if head != (head := tuple(figures)):
            print(f"{'regime':50}" + "".join(f"{column:>18}" for column in figures))
        print(f"{name:50}" + "".join(f"{value:18.3f}" for value in figures.values()))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
