"""How many games does `plan` need to find the best agent, against an even schedule and uncertainty sampling?

Arenas with known log-odds are played in rounds. All schedules start from one game per pair (of the pairs that met) and
may then choose any pair. After each round the agent with the highest expected mean log-odds over all opponents is the
answer. Reported: the share of arenas in which it is the true best, by games played, and the games, those of the start
included, at which each schedule reaches the accuracies of the second half of the even schedule, with the standard error
of that ratio.

    python benchmarks/planning.py --arenas 60
"""

import argparse
import json
from pathlib import Path

import numpy as np

from nashboard import Matches
from nashboard.evaluation.decide.plan import Beliefs, allocate, infer_from_matches, weigh_contrasts

REGIMES = {  # agents, spread of ratings, of cyclic parts, share of pairs that met at the start
    "ladder, 12 agents": (12, 0.5, 0.0, 1.0),
    "mild cycles, 12 agents": (12, 0.5, 0.15, 1.0),
    "45% of pairs met, 16 agents": (16, 0.5, 0.05, 0.45),
    "30 agents": (30, 0.5, 0.05, 0.5),
}
START, ROUND, ROUNDS = 1, 150, 8


def play(x: np.ndarray, counts: np.ndarray, games: np.ndarray, rng: np.random.Generator) -> None:
    i, j = np.triu_indices(len(x), 1)
    wins = rng.binomial(games[i, j].astype(int), 1 / (1 + np.exp(-x[i, j])))
    counts[i, j] += wins
    counts[j, i] += games[i, j] - wins


def schedule_even(counts: np.ndarray, beliefs: Beliefs, rng: np.random.Generator) -> np.ndarray:
    """Give every pair as many games."""
    i, j = np.triu_indices(len(counts), 1)
    G = np.zeros(counts.shape)
    G[i, j] = np.bincount(np.resize(rng.permutation(len(i)), ROUND), minlength=len(i))
    return G


def schedule_uncertain(counts: np.ndarray, beliefs: Beliefs, rng: np.random.Generator) -> np.ndarray:
    """Sample pairs by how much one more game shrinks the interval of their win rate (Chiang et al. 2024)."""
    i, j = np.triu_indices(len(counts), 1)
    played = (counts + counts.T)[i, j]
    p = (counts[i, j] + 1) / (played + 2)
    spread = np.sqrt(p * (1 - p))
    gain = spread / np.sqrt(np.maximum(played, 1)) - spread / np.sqrt(np.maximum(played, 1) + 1)
    G = np.zeros(counts.shape)
    G[i, j] = rng.multinomial(ROUND, gain / gain.sum())
    return G


def schedule_planned(counts: np.ndarray, beliefs: Beliefs, rng: np.random.Generator) -> np.ndarray:
    """Follow `plan`."""
    chosen, _ = allocate(beliefs, weigh_contrasts(beliefs, "top", int(rng.integers(2**32))), ROUND)
    G = np.zeros(counts.shape)
    for (a, b), count in zip(beliefs.rows, chosen, strict=True):
        i, j = sorted((int(a[1:]), int(b[1:])))
        G[i, j] = count
    return G


SCHEDULES = {"even": schedule_even, "uncertainty sampling": schedule_uncertain, "plan": schedule_planned}


def run_arena(regime: tuple[int, float, float, float], name: str, seed: int) -> list[bool]:
    """Return after which rounds the answer is right, the start first."""
    n, sigma, tau, share = regime
    rng = np.random.default_rng(seed)
    r = sigma * rng.standard_normal(n)
    c = np.triu(tau * rng.standard_normal((n, n)), 1)
    x = r[:, None] - r + c - c.T
    games: np.ndarray = START * ((rng.random((n, n)) < share) | np.eye(n, k=1, dtype=bool))
    counts, found = np.zeros((n, n)), []
    for _ in range(ROUNDS + 1):
        play(x, counts, games, rng)
        beliefs = infer_from_matches(Matches.from_counts(counts, agents=[f"a{k:03}" for k in range(n)]))
        found.append(int(beliefs.agents[int(np.argmax(beliefs.mean))][1:]) == int(np.argmax(x.mean(axis=1))))
        games = SCHEDULES[name](counts, beliefs, rng)
    return found


def games_to_reach(curve: np.ndarray, level: float, start: float) -> float:
    """Return games (interpolated) at which a smoothed accuracy curve first reaches a level; beyond its end, the end."""
    smooth = np.maximum.accumulate(np.convolve(np.pad(curve, 1, mode="edge"), np.ones(3) / 3, mode="valid"))
    if not (smooth >= level).any():
        return float(start + ROUNDS * ROUND)
    at = int(np.argmax(smooth >= level))
    if not at:
        return start
    return float(start + (at - 1 + (level - smooth[at - 1]) / max(smooth[at] - smooth[at - 1], 1e-9)) * ROUND)


def compare_curves(right: dict[str, np.ndarray], start: float) -> dict[str, float]:
    """Return the games of each schedule relative to the even one, on average over the accuracies of its second half."""
    curves = {name: found.mean(axis=0) for name, found in right.items()}
    goals = [float(curves["even"][k - 1 : k + 2].mean()) for k in range(ROUNDS // 2, ROUNDS)]
    reach = {name: [games_to_reach(curve, goal, start) for goal in goals] for name, curve in curves.items()}
    return {name: float(np.mean(np.divide(games, reach["even"]))) for name, games in reach.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arenas", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--regime", nargs="*", choices=[*REGIMES], default=[*REGIMES])
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    results = {}
    for label in options.regime:
        regime = REGIMES[label]
        right = {
            name: np.array([run_arena(regime, name, options.seed + k) for k in range(options.arenas)], dtype=float)
            for name in SCHEDULES
        }
        start = START * regime[3] * regime[0] * (regime[0] - 1) / 2
        rng = np.random.default_rng(options.seed)
        again = []
        for _ in range(200):  # bootstrap over arenas
            chosen = rng.integers(0, options.arenas, options.arenas)
            again.append(compare_curves({name: found[chosen] for name, found in right.items()}, start))
        ratio = compare_curves(right, start)
        error = {name: float(np.std([one[name] for one in again])) for name in SCHEDULES}
        accuracy = {name: found.mean(axis=0).round(3).tolist() for name, found in right.items()}
        results[label] = {"accuracy": accuracy, "games": ratio, "stderr": error}
        print(label)
        for name in SCHEDULES:
            curve = " ".join(f"{x:.2f}" for x in accuracy[name])
            print(f"  {name:22} {curve}   {ratio[name]:.2f} of even, standard error {error[name]:.2f}", flush=True)
    if options.record:
        options.record.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
