"""How many games does `plan` need to find the best agent, against an even schedule and uncertainty sampling?

Arenas with known ratings are played in rounds. All schedules start from the same
few games per pair (of the pairs that met) and may then choose any pair. After each round
the agent with the highest posterior mean rating is the answer. Reported: the share of arenas in which it is the true
best, by games played, and the games at which each schedule reaches the accuracy that the even schedule has at the end.

    python benchmarks/planning.py --arenas 60
"""

import argparse
import json
from pathlib import Path

import numpy as np

from nashboard import Matches
from nashboard.evaluation.decide.plan import allocate, beliefs_about_matches, find_contrasts

REGIMES = {
    "close top, 12 agents": (12, 0.5, 0.0, 1.0),
    "mild cycles, 12 agents": (12, 0.5, 0.15, 1.0),
    "45% of pairs met, 16 agents": (16, 0.5, 0.05, 0.45),
}
START, ROUND, ROUNDS = 4, 150, 12


def play(x: np.ndarray, counts: np.ndarray, games: np.ndarray, rng: np.random.Generator) -> None:
    i, j = np.triu_indices(len(x), 1)
    wins = rng.binomial(games[i, j].astype(int), 1 / (1 + np.exp(-x[i, j])))
    counts[i, j] += wins
    counts[j, i] += games[i, j] - wins


def schedule_even(matches: Matches, games: int, allowed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n = len(allowed)
    i, j = np.nonzero(np.triu(allowed, 1))
    chosen = np.bincount(rng.permutation(np.resize(rng.permutation(len(i)), games)), minlength=len(i))
    G = np.zeros((n, n))
    G[i, j] = chosen
    return G


def schedule_uncertain(matches: Matches, games: int, allowed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sample pairs by how much one more game shrinks the interval of their win rate (Chiang et al. 2024)."""
    n = len(allowed)
    i, j = np.nonzero(np.triu(allowed, 1))
    P, N = matches.win_rates(), np.zeros((n, n))
    N[tuple(matches.pairs.T)] = matches.games
    p, played = np.nan_to_num(P[i, j], nan=0.5), N[i, j]
    p = (p * played + 1) / (played + 2)
    spread = np.sqrt(p * (1 - p))
    gain = spread / np.sqrt(np.maximum(played, 1)) - spread / np.sqrt(np.maximum(played, 1) + 1)
    G = np.zeros((n, n))
    G[i, j] = rng.multinomial(games, gain / gain.sum())
    return G


def schedule_planned(matches: Matches, games: int, allowed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    beliefs = beliefs_about_matches(matches)
    _, above, below = find_contrasts(beliefs, "top")
    counts, _ = allocate(beliefs, above, below, games)
    place = {name: k for k, name in enumerate(matches.agents)}
    G = np.zeros(allowed.shape)
    for (a, b), count in zip(beliefs.rows, counts, strict=True):
        i, j = sorted((place[a], place[b]))
        G[i, j] = count
    return G


SCHEDULES = {"even": schedule_even, "uncertainty sampling": schedule_uncertain, "plan": schedule_planned}


def run_arena(regime: tuple[int, float, float, float], name: str, seed: int) -> list[bool]:
    n, sigma, tau, share = regime
    rng = np.random.default_rng(seed)
    r = sigma * rng.standard_normal(n)
    c = np.triu(tau * rng.standard_normal((n, n)), 1)
    x = r[:, None] - r + c - c.T
    allowed = np.triu(rng.random((n, n)) < share, 1)
    allowed |= np.eye(n, k=1, dtype=bool)
    names = [f"a{k}" for k in range(n)]
    counts = np.zeros((n, n))
    play(x, counts, START * allowed, rng)
    found = []
    for _ in range(ROUNDS):
        matches = Matches.from_counts(counts, agents=names)
        play(x, counts, SCHEDULES[name](matches, ROUND, ~np.eye(n, dtype=bool), rng), rng)
        best = beliefs_about_matches(Matches.from_counts(counts, agents=names))
        found.append(best.agents[int(np.argmax(best.mean))] == names[int(np.argmax(r))])
    return found


def games_to_reach(curve: np.ndarray, level: float) -> float:
    """Return games (interpolated) at which a smoothed accuracy curve first reaches a level."""
    smooth = np.maximum.accumulate(np.convolve(np.pad(curve, 1, mode="edge"), np.ones(3) / 3, mode="valid"))
    at = int(np.argmax(smooth >= level)) if (smooth >= level).any() else -1
    if at < 0:
        return float("nan")
    before = smooth[at - 1] if at else 0.0
    return float((at + (level - before) / max(smooth[at] - before, 1e-9)) * ROUND)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arenas", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    results = {}
    for label, regime in REGIMES.items():
        curves = {
            name: np.mean([run_arena(regime, name, options.seed + 1000 * k) for k in range(options.arenas)], axis=0)
            for name in SCHEDULES
        }
        goal = float(curves["even"][-3:].mean())
        reach = {name: games_to_reach(curve, goal) for name, curve in curves.items()}
        results[label] = {"accuracy": {name: curve.round(3).tolist() for name, curve in curves.items()}, "games": reach}
        print(label)
        for name, curve in curves.items():
            ratio = reach[name] / reach["even"]
            print(f"  {name:22} {' '.join(f'{x:.2f}' for x in curve)}   {reach[name]:.0f} games, {ratio:.2f} of even")
    if options.record:
        options.record.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
