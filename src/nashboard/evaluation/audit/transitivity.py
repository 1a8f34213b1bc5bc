"""Transitivity: how much ratings explain, whether the rest is more than noise, and who goes round in cycles.

**The best of many.** If ratings are all there is, the curl of a triple over its standard error, ``z``, is about
standard normal. The strongest of ``T`` triples was looked for, and of so many one is large by luck: by Bonferroni's
inequality, however they depend on each other,

    P(some |z| > luck) <= T P(|z| > luck) = level    for    luck = Phi^-1(1 - level / (2 T))

So a single cycle is more than luck where its ``z`` is beyond ``luck``: 2.0 for one triple, 4.2 for 2,300 (25 agents).

Are ratings enough? A parametric bootstrap from the fitted ladder.

The statistic is the score of the hierarchical model for ``tau^2`` at ``tau = 0``: how much more the points of pairs
scatter around what ratings predict than games do,

    T = sum over pairs of (y - n p)^2 - phi n p (1 - p),

with ``phi`` the dispersion of results (draws and clusters). Its distribution is simulated: leagues are played by the
fitted ratings, rated again, and compared. A chi-square approximation would be wrong for pairs with few games, which
are the rule in public logs.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from nashboard._compiled import compiled
from nashboard._tables import Column, Table
from nashboard._types import Floats, Ints
from nashboard.algebra.cycles import Cycle
from nashboard.algebra.flows import ObservedFlow
from nashboard.algebra.hodge import hodge
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.scores import Scores
from nashboard.evaluation.audit.checks import Check, Part
from nashboard.evaluation.board.verdict import shows_cycles, small_cycles
from nashboard.evaluation.problem import Problem, task_games
from nashboard.ratings.hierarchical.model import fit_hierarchical
from nashboard.ratings.hierarchical.pairs import PairCounts, signed_sums
from nashboard.ratings.hierarchical.systems import System
from nashboard.ratings.prior import measure_dispersion

CYCLES = 5
GAMES, TASKS = "weighted by games", "where each task counts as a game between each pair of agents"
SAME_TASKS = "all pairs are compared on the same tasks, so these games are not independent"
WEIGHTED = "games have weights, and the variance of their sums is known only where clusters were read"
WHOLE = 1e-6  # how far from whole a number of games may be by rounding
MOST_AGENTS = 1000  # up to which all triples are looked at, for the largest z; beyond, for the largest curl
DENSE = 4096  # agents up to which triples are counted with a full matrix


@dataclass(frozen=True, kw_only=True)
class NamedCycle:
    """Three agents, each beating the next, and by how many standard errors the cycle differs from none."""

    cycle: Cycle
    win_rates: tuple[float, float, float]
    z: float

    def sentence(self) -> str:
        """Return who beats whom."""
        a, b, c = self.cycle.agents
        ab, bc, ca = self.win_rates
        return f"{a} beats {b} ({ab:.0%}), {b} beats {c} ({bc:.0%}), and {c} beats {a} ({ca:.0%})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {**self.cycle.to_dict(), "z": self.z, "words": self.sentence()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Transitivity(Part):
    """How far one number per agent can explain the results.

    Parameters
    ----------
    share
        Share of the squared norm (log-odds weighted by games) that ratings explain: 1 a ladder, 0 pure cycles.
    p_noise
        Chance of what ratings leave over, if ratings were all there is (parametric bootstrap); NaN where
        no pair is left to tell, where games have weights and no clusters, and for scores.
    cycles
        The strongest closed cycles, with ``z``: their curl in standard errors. The strongest of many is strong
        by chance, too: ``luck`` says how strong, and ``p_noise`` whether there are cycles at all.
    triples
        How many triples met, all three pairs, among which the strongest were looked for.
    untold
        Why ``p_noise`` is not known; empty where it is.
    doubt
        What the model of the board says where it disagrees with ``p_noise``; empty where both agree.
    basis
        What the results are: games, or tasks counted as games.
    """

    share: float
    p_noise: float
    cycles: tuple[NamedCycle, ...]
    level: float
    basis: str
    triples: int
    untold: str
    doubt: str = ""

    hidden = ("untold", "unshown")
    computed = ("cyclic", "luck")

    @property
    def luck(self) -> float:
        """What the strongest of so many triples reaches by luck, in standard errors, with a chance of the level."""
        return float(ndtri(1 - self.level / (2 * max(self.triples, 1))))

    @property
    def beyond_luck(self) -> int:
        """How many of the cycles are stronger than the best of so many reaches by luck; none where all may be noise."""
        return sum(one.z > self.luck for one in self.cycles) if self.cyclic else 0

    @property
    def cyclic(self) -> bool:
        """Whether there is more than ratings and noise."""
        return self.p_noise <= self.level

    def sentences(self) -> tuple[str, ...]:
        """Return how far ratings go, and the strongest cycle."""
        known = f"; the residual is {'larger than' if self.cyclic else 'within'} noise (p = {self.p_noise:.2g})"
        if self.doubt:
            known += f", but {self.doubt}"
        if self.untold:
            known = f"; it is unknown whether the residual is noise: {self.untold}"
        line = f"ratings explain {self.share:.1%} of the results, {self.basis}{known}"
        if not self.triples:
            return (line, "no three agents all met each other")
        if not self.cycles:
            return (line, "no three agents beat each other in a cycle")
        strongest = self.cycles[0]
        said = f"the strongest cycle: {strongest.sentence()}"
        if self.untold:
            return (line, f"{said}; it may be noise")
        verdict = "it is beyond noise" if self.beyond_luck and strongest.z > self.luck else "it may be noise"
        return (line, f"{said}; its curl is {strongest.z:.1f} standard errors, and {self.by_luck()}: {verdict}")

    def checks(self) -> tuple[Check, ...]:
        """Check whether one rating per agent is enough."""
        if self.basis != GAMES:
            return ()
        passed = None if self.untold or self.doubt else not self.cyclic
        return (Check("ratings are enough", passed, self.sentences()[0]),)

    def tables(self) -> dict[str, Table]:
        """Return the strongest cycles as a table."""
        return {"cycles": self.table()}

    def by_luck(self) -> str:
        """Return what so many triples reach without any cycle."""
        tried = f"the best of {self.triples:,} triples" if self.triples > 1 else "the only triple"
        return f"by noise alone {tried} stays below {self.luck:.1f} in {1 - self.level:.0%} of cases"

    def table(self) -> Table:
        """Return the strongest cycles."""
        return Table.of(
            self.cycles,
            Column("first", "beats the second", cell=lambda one: one.cycle.agents[0]),
            Column("second", "beats the third", cell=lambda one: one.cycle.agents[1]),
            Column("third", "beats the first", cell=lambda one: one.cycle.agents[2]),
            Column("curl", "sum of the three log-odds; ratings would make it zero", cell=lambda one: one.cycle.curl),
            Column("z", "the curl in standard errors; the largest of many is large by chance, too"),
            Column("in words", "the cycle as a sentence", most=400, cell=NamedCycle.sentence),
            title="the strongest cycles",
            telling=("in words", "curl", "z"),
            notes=(f"{self.untold or f'largest z: {self.by_luck()}'}; {self.found()}",) if self.cycles else (),
        )

    def found(self) -> str:
        """Return how many of the cycles shown are beyond noise."""
        beyond, shown = self.beyond_luck, len(self.cycles)
        if not beyond:
            return "each cycle shown may be noise" if shown > 1 else "it may be noise"
        which = "it" if shown == 1 else f"all {shown} shown" if beyond == shown else f"{beyond} of the {shown} shown"
        return f"{which} {'is' if beyond == 1 else 'are'} beyond noise"

    def __repr__(self) -> str:
        return f"Transitivity({self.share:.1%} explained by ratings, {len(self.cycles)} cycles shown)"


def measure_transitivity(problem: Problem, level: float) -> Transitivity:
    """Split the results of a problem into ratings and cycles."""
    data = problem.data
    found = transitivity(data if isinstance(data, Matches) else problem.scaled, level)
    if not isinstance(data, Matches) or problem.literal or shows_cycles(problem) == found.cyclic:
        return found
    shown = "no " if found.cyclic else ""
    return replace(found, doubt=f"{shown}cycles of more than {small_cycles(problem)[1]} are shown by the board's model")


def transitivity(data: Matches | Scores, level: float) -> Transitivity:
    """Split results into ratings and cycles; scores are taken as games, one per task and two agents."""
    matches = data if isinstance(data, Matches) else task_games(data)
    found = hodge(matches)
    flow = found.flow
    assert isinstance(flow, ObservedFlow)
    spread = measure_dispersion(matches)
    if len(matches.agents) <= MOST_AGENTS:
        triples, _ = strongest_triples(len(matches.agents), flow.pairs, flow.values, flow.variances, CYCLES)
    else:
        place = {agent: k for k, agent in enumerate(matches.agents)}
        triples = np.array([[place[agent] for agent in one.agents] for one in found.cycles(CYCLES)], dtype=np.int64)
    return Transitivity(
        share=found.transitivity,
        p_noise=chance_of_the_rest(matches) if isinstance(data, Matches) else float("nan"),
        cycles=tuple(name_cycle(row, matches, flow, spread) for row in triples),
        level=level,
        basis=GAMES if isinstance(data, Matches) else TASKS,
        triples=triples_that_met(len(matches.agents), matches.pairs),
        untold=untold(matches) if isinstance(data, Matches) else SAME_TASKS,
    )


def chance_of_the_rest(matches: Matches) -> float:
    """Return the probability of what ratings leave over if they are all there is; NaN where that cannot be told."""
    return float("nan") if untold(matches) else ladder_p_value(matches)


def untold(matches: Matches) -> str:
    """Return why it cannot be told whether the rest is noise, or nothing.

    A game of weight 2 scatters as much as four games, and counts as two: without the single games, which only clusters
    keep, nobody knows how much a sum of weights scatters. Sums that are not whole give weights away.
    """
    if NO_COUNTS in matches.origin.notes:
        return "games were not counted"
    if matches.dependent:
        return "rows that share an id, a prompt or a voter may be correlated, and were not taken as clusters"
    if len(matches.pairs) < len(matches.agents):
        return "no agents form a loop of matches"
    if matches.clusters is None and (np.abs(matches.games - np.rint(matches.games)) > WHOLE).any():
        return WEIGHTED
    return ""


def triples_that_met(n: int, pairs: Ints) -> int:
    """Return in how many triples every two met: ``trace(U U U')`` for the upper triangle ``U`` of who met whom."""
    if len(pairs) == n * (n - 1) // 2:
        return n * (n - 1) * (n - 2) // 6
    if n <= DENSE:
        U = np.zeros((n, n), dtype=np.float32)
        U[tuple(pairs.T)] = 1  # counts up to n are exact in single precision
        return int(((U @ U) * U).sum(dtype=np.float64))
    from scipy.sparse import csr_array

    S = csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
    return int((S @ S).multiply(S).sum())


def name_cycle(triple: Ints, matches: Matches, flow: ObservedFlow, spread: float) -> NamedCycle:
    """Return three agents, each beating the next, and how far that is from no cycle where votes scatter so."""
    n = len(matches.agents)
    codes = flow.pairs[:, 0] * n + flow.pairs[:, 1]
    payoffs, rates, variance = [], [], 0.0
    for i, j in zip(triple, np.roll(triple, -1), strict=True):
        k = int(np.searchsorted(codes, min(i, j) * n + max(i, j)))
        share = float((matches.wins[k] + matches.draws[k] / 2) / matches.games[k])
        payoffs.append(float(flow.values[k]) * (1 if i < j else -1))
        rates.append(share if i < j else 1 - share)
        variance += spread * float(flow.variances[k])
    a, b, c = (matches.agents[k] for k in triple)
    cycle = Cycle(agents=(a, b, c), payoffs=(payoffs[0], payoffs[1], payoffs[2]), curl=sum(payoffs))
    return NamedCycle(cycle=cycle, win_rates=(rates[0], rates[1], rates[2]), z=cycle.curl / np.sqrt(variance))


LEAGUES = 400
STEPS = 4  # of Newton's method with the Hessian of the fitted league, for every simulated league
ENOUGH = 10  # simulated leagues beyond the observed one from which their share is the answer; else a fitted tail


def ladder_p_value(matches: Matches, *, leagues: int = LEAGUES, rng: np.random.Generator | int = 0) -> float:
    """Return the probability that a ladder leaves as much unexplained as was observed."""
    rng = np.random.default_rng(rng)
    fit = fit_hierarchical(matches)
    counts = fit.counts
    assert isinstance(counts, PairCounts)
    precision = 1 / fit.sigma**2
    system = fit.system
    n, y = counts.games, counts.won
    r = rate_again(counts, system, fit.ratings[None], y[None], n, precision, refresh=True)
    p = expected_shares(counts, r)
    observed = float(excess(y[None], n, p)[0])
    # counts are already divided by the dispersion: binomial with the effective number of games, at least one
    trials = np.maximum(np.rint(n), 1.0)
    simulated = rng.binomial(trials.astype(np.int64), p[0], size=(leagues, len(n)))
    played = n * p[0] + (simulated - trials * p[0]) * np.sqrt(n / trials)
    again = rate_again(counts, system, r, played, n, precision)
    T = excess(played, n, expected_shares(counts, again))
    beyond = int((observed <= T).sum())
    if beyond >= ENOUGH:
        return (1 + beyond) / (1 + leagues)
    return min(tail_of_gamma(T, observed), (1 + beyond) / (1 + leagues))


def rate_again(
    counts: PairCounts, system: System, r: Floats, y: Floats, n: Floats, precision: float, *, refresh: bool = False
) -> Floats:
    """Return ratings of leagues with points ``y`` (leagues, pairs), by Newton's method from ``r`` (1, n).

    All leagues share the Hessian at ``r``, unless it is to be refreshed.
    """
    found = np.repeat(r, len(y), axis=0)
    W = n * (p := expected_shares(counts, r)[0]) * (1 - p)
    for _ in range(20 if refresh else STEPS):
        shares = expected_shares(counts, found)
        gradient = signed_sums(counts, y - n * shares) - system.prior.pulls(found, np.full(len(found), precision))
        W = n * shares[0] * (1 - shares[0]) if refresh else W
        step = system.solve_many(W, precision, gradient.T).T
        most = np.abs(step).max(axis=1, keepdims=True)
        found = found + step * np.log1p(most) / np.maximum(most, 1e-300)
        if most.max() < 1e-6:
            break
    return found


def expected_shares(counts: PairCounts, r: Floats) -> Floats:
    """Return the share of points that ratings predict for each pair."""
    return np.asarray(1 / (1 + np.exp(r[:, counts.j] - r[:, counts.i])))


def excess(y: Floats, n: Floats, p: Floats) -> Floats:
    """Return the scatter of points beyond that of games, summed over pairs."""
    return np.asarray(((y - n * p) ** 2 - n * p * (1 - p)).sum(axis=1))


def tail_of_gamma(T: Floats, observed: float) -> float:
    """Return the tail beyond ``observed`` of a shifted gamma distribution with the moments of the simulated values."""
    from scipy.special import gammaincc

    centred = T - T.mean()
    spread = float(centred.std())
    if not spread > 0:
        return 1.0 if observed <= float(T.mean()) else 0.0
    skewness = max(float((centred**3).mean()) / spread**3, 0.1)
    shape = 4 / skewness**2
    scaled = shape + np.sqrt(shape) * (observed - float(T.mean())) / spread
    return float(gammaincc(shape, max(float(scaled), 0.0)))


def strongest_triples(n: int, pairs: Ints, values: Floats, variances: Floats, most: int) -> tuple[Ints, Floats]:
    """Return the closed cycles with the largest z, ``(k, 3)`` agents in the order of play, and their z.

    ``values`` and ``variances`` are log-odds of the pairs that met. A cycle's z is its curl over its standard error, so
    that a triple with many games comes before one whose few games were one-sided.
    """
    A, V = np.full((n, n), np.nan), np.full((n, n), np.nan)
    i, j = pairs.T
    A[i, j], A[j, i] = values, -values
    V[i, j] = V[j, i] = variances
    found, z = np.zeros((most, 3), dtype=np.int64), np.zeros(most)
    find_triples(A, V, found, z)
    kept = z > 0
    return found[kept], z[kept]


@compiled("void(f8[:,::1], f8[:,::1], i8[:,::1], f8[::1])")
def find_triples(A, V, found, z):  # type: ignore[no-untyped-def]
    """Keep the closed cycles with the largest z, in descending order."""
    n, most = len(A), len(z)
    for a in range(n):
        for b in range(a + 1, n):
            if A[a, b] == 0.0 or np.isnan(A[a, b]):
                continue
            forward = A[a, b] > 0
            for c in range(b + 1, n):
                ok = A[b, c] > 0 and A[c, a] > 0 if forward else A[b, c] < 0 and A[c, a] < 0
                if not ok:
                    continue
                score = abs(A[a, b] + A[b, c] + A[c, a]) / np.sqrt(V[a, b] + V[b, c] + V[c, a])
                if not score > z[most - 1]:
                    continue
                k = most - 1
                while k > 0 and score > z[k - 1]:
                    z[k] = z[k - 1]
                    found[k] = found[k - 1]
                    k -= 1
                z[k] = score
                found[k, 0] = a
                found[k, 1] = b if forward else c
                found[k, 2] = c if forward else b
