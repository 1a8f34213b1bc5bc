"""Does the board tell the truth? Simulated arenas whose truth is known, and what each way to rank makes of them.

    python benchmarks/truth.py [--repeats 20] [--seed 0] [--regime NAME ...] [--copies 0 5 20]

Elo is evalica's (Bradley and Terry's model by maximum likelihood) where that is installed, else nashboard's.
An arena is drawn, its games are played, and the gaps on the board (distance to the best by Nash average, in log-odds)
are compared with those of the true payoffs: error, order, coverage of the 95% intervals, calibration of P(top), and
whether estimates lie inside their own intervals. With copies, one agent enters again under other names, each
playing games of its own; gaps of the original agents are compared.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import kendalltau

import nashboard as nb
from nashboard.data.matches import Clusters
from nashboard.evaluation.posterior.duplicates import find_near_duplicates
from nashboard.evaluation.posterior.matches import draw_matches, solve_games
from nashboard.evaluation.posterior.posterior import summarise_draws

try:
    import evalica
except ImportError:
    evalica = None

Rng = np.random.Generator
Array = np.ndarray[Any, Any]


def ladder(sigma: float) -> Callable[[int, Rng], Array]:
    """Return a maker of true log-odds that are differences of normal ratings."""
    return mixed(sigma, 0.0)


def mixed(sigma: float, tau: float) -> Callable[[int, Rng], Array]:
    """Return a maker of true log-odds: differences of ratings and an independent part for each pair."""

    def make(n: int, rng: Rng) -> Array:
        r, c = rng.normal(0, sigma, n), np.triu(rng.normal(0, tau, (n, n)), 1)
        return r[:, None] - r + c - c.T

    return make


def rotating(sigma: float, omega: float) -> Callable[[int, Rng], Array]:
    """Return a maker of a ladder with one plane of rotation (a disc game): cyclic parts that depend on each other."""

    def make(n: int, rng: Rng) -> Array:
        r, u, v = rng.normal(0, sigma, n), *rng.normal(0, np.sqrt(omega), (2, n))
        return r[:, None] - r + np.outer(u, v) - np.outer(v, u)

    return make


def outliers(n: int, rng: Rng) -> Array:
    """Return a ladder in which a tenth of the pairs have a large cyclic part: tau is not the same for all."""
    r = rng.normal(0, 0.8, n)
    c = np.triu(np.where(rng.random((n, n)) < 0.1, rng.normal(0, 1.5, (n, n)), 0.0), 1)
    return np.asarray(r[:, None] - r + c - c.T)


def heavy(n: int, rng: Rng) -> Array:
    """Return a ladder whose ratings have heavy tails (Student's t with 4 degrees of freedom)."""
    r = 0.6 * rng.standard_t(4, n)
    return np.asarray(r[:, None] - r)


def all_pairs(games: int, met: float = 1.0) -> Callable[[int, Rng], Array]:
    """Return a schedule in which every pair, or a random share of them, plays so many games."""

    def make(n: int, rng: Rng) -> Array:
        return np.asarray(games * connected(rng.random((n, n)) < met, rng))

    return make


def skewed(games: float) -> Callable[[int, Rng], Array]:
    """Return a schedule with popular agents: games of a pair are Poisson around a product of log-normal activities."""

    def make(n: int, rng: Rng) -> Array:
        activity = rng.lognormal(0, 1.0, n)
        N = rng.poisson(games * np.outer(activity, activity) / activity.mean() ** 2)
        return np.maximum(N, connected(N > 0, rng))

    return make


def star(games: int) -> Callable[[int, Rng], Array]:
    """Return a schedule in which everybody plays agent 0 only."""

    def make(n: int, rng: Rng) -> Array:
        N = np.zeros((n, n), dtype=int)
        N[0, 1:] = games
        return N

    return make


def newcomers(games: int, late: int) -> Callable[[int, Rng], Array]:
    """Return a schedule in which the last agents have played 1 to 3 games each."""

    def make(n: int, rng: Rng) -> Array:
        N = games * np.triu(np.ones((n, n), dtype=int), 1)
        N[:, n - late :] = 0
        for k in range(n - late, n):
            for opponent in rng.integers(n - late, size=rng.integers(1, 4)):
                N[opponent, k] += 1
        return N

    return make


def connected(met: Array, rng: Rng) -> Array:
    """Return who met whom (upper triangle), with a random chain through all agents."""
    order = rng.permutation(len(met))
    met = met.copy()
    for a, b in pairwise(order):
        met[min(a, b), max(a, b)] = True
    return np.triu(met, 1).astype(int)


def play(x: Array, schedule: Array, rng: Rng) -> nb.Matches:
    """Play the games of a schedule (upper triangle)."""
    won = rng.binomial(schedule, expit(x))
    return nb.Matches.from_counts(won + (schedule - won).T)


def play_votes(votes: int, loyal: float, tell: bool) -> Callable[[Array, Array, Rng], nb.Matches]:
    """Return how to play where each voter votes several times on a pair, and often as before."""

    def make(x: Array, schedule: Array, rng: Rng) -> nb.Matches:
        i, j = np.nonzero(schedule)
        pair = np.repeat(np.arange(len(i)), np.maximum(schedule[i, j] // votes, 1))
        p = np.repeat(expit(x[i, j])[pair][:, None], votes, axis=1)
        vote = rng.random(p.shape) < p
        vote = np.where(rng.random(p.shape) < loyal, vote[:, :1], vote)
        return by_cluster(len(x), i, j, pair, vote.sum(axis=1), votes, tell)

    return make


def play_shares(judges: int, tell: bool) -> Callable[[Array, Array, Rng], nb.Matches]:
    """Return how to play where the outcome of a game is the share of several judges, a fraction of the point."""

    def make(x: Array, schedule: Array, rng: Rng) -> nb.Matches:
        i, j = np.nonzero(schedule)
        pair = np.repeat(np.arange(len(i)), schedule[i, j])
        share = rng.binomial(judges, expit(x[i, j])[pair]) / judges
        return by_cluster(len(x), i, j, pair, share, 1, tell)

    return make


def play_swiss(rounds: int) -> Callable[[Array, Array, Rng], nb.Matches]:
    """Return how to play a Swiss tournament: in each round agents with about as many points meet, one game each."""

    def make(x: Array, schedule: Array, rng: Rng) -> nb.Matches:
        W, points = np.zeros_like(x), np.zeros(len(x))
        for _ in range(rounds):
            order = np.lexsort((rng.random(len(x)), -points))
            a, b = order[0::2], order[1::2]
            won = rng.random(len(a)) < expit(x[a, b])
            np.add.at(W, (np.where(won, a, b), np.where(won, b, a)), 1)
            points[np.where(won, a, b)] += 1
        return nb.Matches.from_counts(W)

    return make


def play_divisions(games: int, between: int) -> Callable[[Array, Array, Rng], nb.Matches]:
    """Return how to play in four divisions by strength, with a few games between neighbouring ones."""

    def make(x: Array, schedule: Array, rng: Rng) -> nb.Matches:
        divisions = np.array_split(np.argsort(x.mean(axis=1)), 4)
        N = np.zeros(x.shape, dtype=int)
        for members in divisions:
            N[np.ix_(members, members)] = games
        N = np.triu(N, 1)
        for low, high in pairwise(divisions):
            for a, b in zip(rng.choice(low, between), rng.choice(high, between), strict=True):
                N[min(a, b), max(a, b)] += 1
        return play(x, N, rng)

    return make


def play_neighbours(games: int) -> Callable[[Array, Array, Rng], nb.Matches]:
    """Return how to play against the three agents next in strength only."""

    def make(x: Array, schedule: Array, rng: Rng) -> nb.Matches:
        order = np.argsort(x.mean(axis=1))
        N = np.zeros(x.shape, dtype=int)
        for step in (1, 2, 3):
            a, b = order[:-step], order[step:]
            N[np.minimum(a, b), np.maximum(a, b)] = games
        return play(x, N, rng)

    return make


def by_cluster(n: int, i: Array, j: Array, pair: Array, won: Array, games: int, tell: bool) -> nb.Matches:
    """Return matches whose rows are clusters of so many games of a pair; their clusters are told or not."""
    W = np.zeros((n, n))
    np.add.at(W, (i[pair], j[pair]), won)
    np.add.at(W, (j[pair], i[pair]), games - won)
    matches = nb.Matches.from_counts(W)
    split = Clusters(
        size=len(pair), cluster=np.arange(len(pair)), pair=pair, wins=won, draws=0.0 * won, losses=games - won
    )
    parts = np.bincount(pair, won * (1 - won)) if games == 1 else None
    return replace(matches, clusters=split) if tell else replace(matches, fractions=parts)


@dataclass(frozen=True)
class Regime:
    """A kind of arena: how many agents, true log-odds, schedule, the targets it has to meet, and how games end."""

    agents: int
    truth: Callable[[int, Rng], Array]
    schedule: Callable[[int, Rng], Array]
    most_error: float = 1.1
    most_top: float = 0.05
    play: Callable[[Array, Array, Rng], nb.Matches] = play


REGIMES = {
    "ladder, 30 games": Regime(12, ladder(1.0), all_pairs(30), 0.55),
    "ladder, 5 games, 40 agents": Regime(40, ladder(0.8), all_pairs(5), 0.55),
    "heavy-tailed ladder, 10 games": Regime(20, heavy, all_pairs(10), 0.55),
    "mixed, 30 games": Regime(12, mixed(1.0, 0.3), all_pairs(30), 0.9),
    "mixed, 10 games, 45% met": Regime(20, mixed(0.8, 0.4), all_pairs(10, 0.45), 0.9),
    "mixed, skewed schedule": Regime(24, mixed(0.8, 0.2), skewed(6.0), 0.9),
    "mixed, 300 games": Regime(16, mixed(0.7, 0.5), all_pairs(300)),
    "cyclic, 30 games": Regime(12, mixed(0.5, 1.5), all_pairs(30)),
    "cyclic, 30 games, 45% met": Regime(20, mixed(0.5, 1.5), all_pairs(30, 0.45), 1.1, 0.12),
    "rotating, 30 games": Regime(16, rotating(0.5, 1.0), all_pairs(30)),
    "rotating, 10 games, 45% met": Regime(30, rotating(0.7, 0.5), all_pairs(10, 0.45), 1.1, 0.12),
    "star against a baseline": Regime(16, ladder(0.5), star(200), 1.1),
    "newcomers with 1-3 games": Regime(20, mixed(1.0, 0.1), newcomers(20, 6), 0.9),
    "few pairs with large cycles": Regime(16, outliers, all_pairs(25)),
    "repeated votes, not told": Regime(14, ladder(0.8), all_pairs(40), 0.55, play=play_votes(5, 0.8, tell=False)),
    "repeated votes, clusters": Regime(14, ladder(0.8), all_pairs(40), 0.55, play=play_votes(5, 0.8, tell=True)),
    "single games, 30% met": Regime(30, ladder(1.0), all_pairs(1, 0.3), 0.55),
    "Swiss tournament, 9 rounds": Regime(32, ladder(1.0), all_pairs(0), 0.9, play=play_swiss(9)),
    "divisions by strength": Regime(32, ladder(1.0), all_pairs(0), 0.9, play=play_divisions(6, 8)),
    "neighbours in strength": Regime(24, ladder(1.0), all_pairs(0), 0.9, play=play_neighbours(10)),
    "shares of 7 judges, not told": Regime(14, mixed(0.8, 0.2), all_pairs(8), play=play_shares(7, tell=False)),
    "shares of 7 judges, clusters": Regime(14, mixed(0.8, 0.2), all_pairs(8), play=play_shares(7, tell=True)),
}


@dataclass
class Results:
    """What was seen over all arenas of a regime."""

    squares: dict[str, list[float]] = field(default_factory=dict)
    orders: dict[str, list[float]] = field(default_factory=dict)
    covered: list[Array] = field(default_factory=list)  # of the agents of each arena
    inside: list[bool] = field(default_factory=list)
    top: list[float] = field(default_factory=list)
    is_top: list[bool] = field(default_factory=list)

    def add(self, name: str, gaps: Array, truth: Array) -> None:
        """Note how far the gaps of one method are from the truth."""
        self.squares.setdefault(name, []).append(float(((gaps - truth) ** 2).mean()))
        self.orders.setdefault(name, []).append(float(np.nan_to_num(kendalltau(gaps, truth).statistic)))

    def error(self, name: str) -> float:
        """Root mean square error of the gaps."""
        return float(np.sqrt(np.mean(self.squares[name])))

    def coverage(self) -> str:
        """Share of gaps inside their interval, with its standard error: an arena whose best is misjudged misses all."""
        shares = np.mean(self.covered, axis=1)
        return f"{shares.mean():.2f} ± {shares.std() / np.sqrt(len(shares)):.2f}"

    def calibration(self) -> float:
        """Mean distance between P(top) and the frequency of being at the top, in bins of P(top)."""
        P, T = np.array(self.top), np.array(self.is_top)
        bins = np.digitize(P, [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
        return float(sum(abs((P - T)[bins == b].sum()) for b in np.unique(bins)) / len(P))


def rate(matches: nb.Matches) -> Array:
    """Return Elo ratings in log-odds: evalica's where it is installed, else nashboard's."""
    if evalica is None:
        return np.asarray(nb.elo(matches).ratings * np.log(10) / 400)
    first, second = np.concatenate([matches.pairs, matches.pairs]).T
    winners = [evalica.Winner.X] * len(matches.pairs) + [evalica.Winner.Y] * len(matches.pairs)
    weights = np.concatenate([matches.wins, matches.losses])  # a very small part of a draw keeps ratings finite
    fit = evalica.bradley_terry(
        first.tolist(), second.tolist(), winners, weights=(weights + 1e-3).tolist(), limit=10_000
    )
    return np.log(fit.scores.sort_index().to_numpy())


def with_copies(x: Array, schedule: Array, copies: int, rng: Rng) -> tuple[Array, Array]:
    """Enter copies of one agent at random; each plays as many games as it did, and a like number among themselves."""
    n = len(x)
    source = int(rng.integers(1, n))
    who = np.concatenate([np.arange(n), np.full(copies, source)])
    N = (schedule + schedule.T)[np.ix_(who, who)]
    family = np.flatnonzero(who == source)
    N[np.ix_(family, family)] = int(np.median(schedule[schedule > 0])) if copies else 0
    return x[np.ix_(who, who)], np.triu(N, 1)


def simulate(regime: Regime, copies: int, repeats: int, seed: int, draws: int, most: int = 0) -> Results:
    """Draw arenas of a regime and rank each in every way; of ``most`` copies that play, the first few are entered."""
    found = Results()
    for k in range(repeats):
        rng = np.random.default_rng([seed, k])
        x = regime.truth(regime.agents, rng)
        schedule = regime.schedule(regime.agents, rng)
        if max(copies, most):
            x, schedule = with_copies(x, schedule, max(copies, most), rng)
        matches, n = regime.play(x, schedule, rng), regime.agents
        if most > copies:  # the originals have the same results whatever the number of copies
            matches = matches.select(matches.agents[: n + copies])
        gaps, weights = solve_games(x[None, :n, :n])
        truth, at_top = gaps[0], weights[0] > 0
        alike = find_near_duplicates(matches)
        pooled = draw_matches(matches, draws=draws, rng=k, alike=alike)
        posterior = summarise_draws(pooled, matches.agents, alike.label, unit="log-odds", level=0.95)
        point, low, high = posterior.gap[:n], posterior.gap_low[:n], posterior.gap_high[:n]
        found.add("board", point, truth)
        literal = nb.nash_average(nb.payoffs(matches, fill="model"))
        found.add("literal Nash", np.maximum(-literal.averages[:n], 0.0), truth)
        ratings = rate(matches)[:n]
        found.add("Elo", ratings.max() - ratings, truth)
        found.covered.append((low <= truth + 1e-9) & (truth <= high + 1e-9))
        found.inside += list((low <= point + 1e-9) & (point <= high + 1e-9))
        found.top += list(posterior.probability_top[:n])
        found.is_top += list(at_top)
    return found


def main() -> None:
    """Print one row per regime."""
    options = argparse.ArgumentParser(description="Compare boards with the truth of simulated arenas.")
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--draws", type=int, default=400)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--regime", nargs="*", default=list(REGIMES))
    options.add_argument("--copies", type=int, nargs="*", default=[0])
    chosen = options.parse_args()
    print(
        "| regime | copies | error | literal | Elo | ratio | order | literal | Elo | coverage | P(top) off | inside |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    print(f"Elo: {'nashboard' if evalica is None else 'evalica ' + evalica.__version__}", file=sys.stderr)
    for name in chosen.regime:
        for copies in chosen.copies:
            found = simulate(REGIMES[name], copies, chosen.repeats, chosen.seed, chosen.draws, max(chosen.copies))
            errors = [found.error(method) for method in ("board", "literal Nash", "Elo")]
            orders = [float(np.mean(found.orders[method])) for method in ("board", "literal Nash", "Elo")]
            row = " | ".join(f"{value:.2f}" for value in [*errors, errors[0] / errors[1], *orders])
            rest = f"{found.coverage()} | {found.calibration():.2f} | {np.mean(found.inside):.3f}"
            print(f"| {name} | {copies} | {row} | {rest} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
