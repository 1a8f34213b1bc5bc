"""Transitivity: how much ratings explain, whether the residual is more than noise, and the strongest cycles.

**The largest of many.** If ratings explain everything, the curl of a triple over its standard error, ``z``, is about
standard normal. The largest of ``T`` triples is large by luck: by Bonferroni's inequality, for any dependence,

    P(some |z| > luck) <= T P(|z| > luck) = level    for    luck = Phi^-1(1 - level / (2 T))

So a single cycle is more than luck if its ``z`` is above ``luck``: 2.0 for one triple, 4.2 for 2,300 (25 agents).

**Test of ratings.** A parametric bootstrap from the fitted ratings. The statistic is the score of the hierarchical
model for ``tau^2`` at ``tau = 0``: the scatter of the points of pairs around predictions beyond that of games,

    T = sum over pairs of (y - n p)^2 - phi n p (1 - p),

with ``phi`` the dispersion of results (draws and clusters). Its distribution is simulated: leagues are drawn from the
fitted ratings, fitted again, and compared. A chi-square approximation is wrong for pairs with few games, which are
common in public logs.
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
from nashboard.algebra.hodge import Hodge, hodge
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.scores import Scores
from nashboard.evaluation.audit.checks import Check, Part
from nashboard.evaluation.board.verdict import SMALL_CYCLES, shows_cycles, small_cycle_size
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
MOST_AGENTS = 1000  # up to which all triples are searched for the largest z; beyond, for the largest curl
DENSE = 4096  # agents up to which triples are counted with a full matrix


@dataclass(frozen=True, kw_only=True)
class NamedCycle:
    """Three agents, each beating the next, and by how many standard errors the cycle differs from none."""

    cycle: Cycle
    win_rates: tuple[float, float, float]
    z: float

    def sentence(self) -> str:
        """Return the cycle in words, with win rates."""
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
        P-value of the residual of ratings (parametric bootstrap); NaN if there are no loops of pairs, if games have
        weights and no clusters, and for scores.
    cycles
        The strongest closed cycles, with ``z``: their curl in standard errors. The largest of many is large by chance,
        too: ``luck`` is its bound, and ``p_noise`` tests whether there are cycles at all.
    triples
        Number of triples of which all three pairs met, the candidates for the strongest cycles.
    untold
        Why ``p_noise`` is unknown; empty if it is known.
    doubt
        The finding of the model of the board if it contradicts ``p_noise``; else empty.
    basis
        The kind of results: games, or tasks counted as games.
    """

    share: float
    p_noise: float
    cycles: tuple[NamedCycle, ...]
    level: float
    basis: str
    triples: int
    untold: str
    doubt: str = ""

    hidden = ("untold",)
    computed = ("cyclic", "luck")

    @property
    def luck(self) -> float:
        """The ``z`` that the largest of all triples exceeds by noise alone with at most the probability ``level``."""
        return float(ndtri(1 - self.level / (2 * max(self.triples, 1))))

    @property
    def beyond_luck(self) -> int:
        """The number of cycles whose ``z`` is above ``luck``; 0 if the noise of results is unknown."""
        return 0 if self.untold else sum(one.z > self.luck for one in self.cycles)

    @property
    def clear(self) -> tuple[NamedCycle, ...]:
        """The cycles beyond luck that are large enough to matter."""
        return tuple(one for one in self.cycles[: self.beyond_luck] if one.cycle.curl > 3 * SMALL_CYCLES)

    @property
    def cyclic(self) -> bool:
        """Whether the residual of ratings is larger than noise."""
        return self.p_noise <= self.level

    def sentences(self) -> tuple[str, ...]:
        """Return how much ratings explain, and the strongest cycle."""
        known = f"; the residual is {'larger than' if self.cyclic else 'within'} noise (p = {self.p_noise:.2g})"
        if self.doubt:
            known += f", but {self.doubt}"
        elif self.clear and not self.cyclic:
            known = f"; their residual as a whole is within noise (p = {self.p_noise:.2g}), but not every cycle is"
        if self.untold:
            known = f"; it is unknown whether the residual is noise: {self.untold}"
        line = f"ratings explain {self.share:.1%} of the results, {self.basis}{known}"
        if not self.triples:
            return (line, "no three agents all met each other")
        if not self.cycles:
            return (line, "no three agents beat each other in a cycle")
        strongest = self.cycles[0]
        text = f"the strongest cycle: {strongest.sentence()}"
        if self.untold:
            return (line, f"{text}; it may be noise")
        verdict = "it is beyond noise" if self.beyond_luck else "it may be noise"
        return (line, f"{text}; its curl is {strongest.z:.1f} standard errors, and {self.name_luck()}: {verdict}")

    def checks(self) -> tuple[Check, ...]:
        """Check whether one rating per agent is enough."""
        if self.basis != GAMES:
            return ()
        unclear = self.untold or (self.doubt and not self.clear)
        passed = None if unclear else not (self.cyclic or self.clear)
        return (Check("ratings are enough", passed, self.sentences()[0]),)

    def tables(self) -> dict[str, Table]:
        """Return the strongest cycles as a table."""
        return {"cycles": self.table()}

    def name_luck(self) -> str:
        """Return the range of the largest ``z`` without any cycle, in words."""
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
            notes=(f"{self.untold or f'largest z: {self.name_luck()}'}; {self.name_beyond()}",) if self.cycles else (),
        )

    def name_beyond(self) -> str:
        """Return how many of the listed cycles are beyond noise."""
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
    return replace(
        found, doubt=f"{shown}cycles of more than {small_cycle_size(problem)[1]} are shown by the board's model"
    )


def transitivity(data: Matches | Scores, level: float) -> Transitivity:
    """Split results into ratings and cycles; scores are taken as games, one per task and two agents."""
    matches = data if isinstance(data, Matches) else task_games(data)
    split = hodge(matches)
    return Transitivity(
        share=split.transitivity,
        p_noise=residual_p_value(matches) if isinstance(data, Matches) else float("nan"),
        cycles=find_cycles(matches, split),
        level=level,
        basis=GAMES if isinstance(data, Matches) else TASKS,
        triples=count_triples(len(matches.agents), matches.pairs),
        untold=explain_unknown(matches) if isinstance(data, Matches) else SAME_TASKS,
    )


def find_cycles(matches: Matches, split: Hodge) -> tuple[NamedCycle, ...]:
    """Return the strongest cycles by ``z``; in large leagues the cycles of the largest curl."""
    flow = split.flow
    assert isinstance(flow, ObservedFlow)
    spread = measure_dispersion(matches)
    if len(matches.agents) <= MOST_AGENTS:
        triples, _ = find_strongest(len(matches.agents), flow.pairs, flow.values, flow.variances, CYCLES)
    else:
        place = {agent: k for k, agent in enumerate(matches.agents)}
        triples = np.array([[place[agent] for agent in one.agents] for one in split.cycles(CYCLES)], dtype=np.int64)
    return tuple(name_cycle(row, matches, flow, spread) for row in triples)


def find_clear_cycle(matches: Matches, level: float) -> NamedCycle | None:
    """Return the strongest cycle where it is beyond luck and large enough to matter."""
    if explain_unknown(matches) or not (triples := count_triples(len(matches.agents), matches.pairs)):
        return None
    split = hodge(matches)
    found = Transitivity(
        share=split.transitivity, p_noise=1.0, cycles=find_cycles(matches, split), level=level, basis=GAMES,
        triples=triples, untold="",
    )  # fmt: skip
    return found.clear[0] if found.clear else None


def residual_p_value(matches: Matches) -> float:
    """Return the p-value of the residual of ratings; NaN if it is unknown."""
    return float("nan") if explain_unknown(matches) else ladder_p_value(matches)


def explain_unknown(matches: Matches) -> str:
    """Return why it is unknown whether the residual is noise, or an empty text.

    A game of weight 2 has the variance of four games, and counts as two: without the single games, which only clusters
    contain, the variance of a sum of weights is unknown. Sums that are not whole numbers show that there are weights.
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


def count_triples(n: int, pairs: Ints) -> int:
    """Return the number of triples in which all pairs met: ``trace(U U U')``, ``U`` the upper triangle of the graph."""
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
    """Return three agents, each beating the next, with the ``z`` of the cycle; ``spread`` is the dispersion."""
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
ENOUGH = 10  # simulated leagues beyond the observed one for which their share is used; else a fitted tail


def ladder_p_value(matches: Matches, *, leagues: int = LEAGUES, rng: np.random.Generator | int = 0) -> float:
    """Return the p-value of the observed scatter if ratings explain everything."""
    rng = np.random.default_rng(rng)
    fit = fit_hierarchical(matches)
    counts = fit.counts
    assert isinstance(counts, PairCounts)
    precision = 1 / fit.sigma**2
    system = fit.system
    n, y = counts.games, counts.won
    r = refit_ratings(counts, system, fit.ratings[None], y[None], n, precision, refresh=True)
    p = expected_shares(counts, r)
    observed = float(excess_scatter(y[None], n, p)[0])
    # counts are already divided by the dispersion: binomial with the effective number of games, at least one
    trials = np.maximum(np.rint(n), 1.0)
    simulated = rng.binomial(trials.astype(np.int64), p[0], size=(leagues, len(n)))
    played = n * p[0] + (simulated - trials * p[0]) * np.sqrt(n / trials)
    again = refit_ratings(counts, system, r, played, n, precision)
    T = excess_scatter(played, n, expected_shares(counts, again))
    beyond = int((observed <= T).sum())
    if beyond >= ENOUGH:
        return (1 + beyond) / (1 + leagues)
    return min(gamma_tail(T, observed), (1 + beyond) / (1 + leagues))


def refit_ratings(
    counts: PairCounts, system: System, r: Floats, y: Floats, n: Floats, precision: float, *, refresh: bool = False
) -> Floats:
    """Return ratings of leagues with points ``y`` (leagues, pairs), by Newton's method from ``r`` (1, n).

    All leagues share the Hessian at ``r``, unless ``refresh`` is true.
    """
    ratings = np.repeat(r, len(y), axis=0)
    W = n * (p := expected_shares(counts, r)[0]) * (1 - p)
    for _ in range(20 if refresh else STEPS):
        shares = expected_shares(counts, ratings)
        gradient = signed_sums(counts, y - n * shares) - system.prior.pulls(ratings, np.full(len(ratings), precision))
        W = n * shares[0] * (1 - shares[0]) if refresh else W
        step = system.solve_many(W, precision, gradient.T).T
        most = np.abs(step).max(axis=1, keepdims=True)
        ratings = ratings + step * np.log1p(most) / np.maximum(most, 1e-300)
        if most.max() < 1e-6:
            break
    return ratings


def expected_shares(counts: PairCounts, r: Floats) -> Floats:
    """Return the predicted share of points of each pair."""
    return np.asarray(1 / (1 + np.exp(r[:, counts.j] - r[:, counts.i])))


def excess_scatter(y: Floats, n: Floats, p: Floats) -> Floats:
    """Return the scatter of points beyond that of games, summed over pairs."""
    return np.asarray(((y - n * p) ** 2 - n * p * (1 - p)).sum(axis=1))


def gamma_tail(T: Floats, observed: float) -> float:
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


def find_strongest(n: int, pairs: Ints, values: Floats, variances: Floats, most: int) -> tuple[Ints, Floats]:
    """Return the closed cycles with the largest z, ``(k, 3)`` agents in the order of play, and their z.

    ``values`` and ``variances`` are log-odds of the pairs that met. A cycle's z is its curl over its standard error, so
    that a triple with many games comes before one whose few games were one-sided.
    """
    A, V = np.full((n, n), np.nan), np.full((n, n), np.nan)
    i, j = pairs.T
    A[i, j], A[j, i] = values, -values
    V[i, j] = V[j, i] = variances
    triples, z = np.zeros((most, 3), dtype=np.int64), np.zeros(most)
    find_triples(A, V, triples, z)
    kept = z > 0
    return triples[kept], z[kept]


@compiled("void(f8[:,::1], f8[:,::1], i8[:,::1], f8[::1])")
def find_triples(A, V, triples, z):  # type: ignore[no-untyped-def]
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
                    triples[k] = triples[k - 1]
                    k -= 1
                z[k] = score
                triples[k, 0] = a
                triples[k, 1] = b if forward else c
                triples[k, 2] = c if forward else b
