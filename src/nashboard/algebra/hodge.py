"""The Hodge decomposition: how much of the data ratings explain, and what goes round in cycles.

Symbols: ``A`` flow (n, n), ``r`` ratings (n,). On pairs that met: ``y`` flow, ``w`` weights, and
``y = grad(r) + local + harmonic``, orthogonal in the inner product weighted by ``w``.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nashboard._display import Drawn
from nashboard._parallel import threads_for
from nashboard._tables import Column, Table, title_of
from nashboard._types import Floats, Ints, frozen_copy, rank_descending, read_only
from nashboard._units import POINTS_PER_LOGIT
from nashboard.algebra.cycles import Cycle, strongest_on_graph, strongest_triples
from nashboard.algebra.flows import (
    CompleteFlow,
    FlowLike,
    ObservedFlow,
    frobenius,
    named_flow,
    refuse_size,
    unit_scale,
)
from nashboard.algebra.harmonic import harmonic_part
from nashboard.algebra.laplacian import fitted_ratings, standard_errors
from nashboard.algebra.operators import divergence, gradient, rotation
from nashboard.algebra.precision import LEAST, ROUNDING, SAME
from nashboard.data.matches import Matches
from nashboard.data.payoffs import checked_prior, log_odds, smoothed_counts
from nashboard.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Hodge(Drawn):
    """Ratings, and what they leave unexplained.

    Parameters
    ----------
    agents
        Names.
    ratings
        ``(n,)`` with mean 0, in the unit of the data: the divergence of a complete flow, or the weighted
        least squares fit ``min sum of w (r[i] - r[j] - y)^2`` over the pairs that met (HodgeRank).
    flow
        The data: on every pair (`CompleteFlow`), or where agents met (`ObservedFlow`).
    unit
        ``"logit"`` (log-odds of winning), ``"margin"`` (win rate minus loss rate) or ``"given"``.

    Notes
    -----
    Everything else is worked out when it is first asked for. ``transitive`` and ``cyclic`` are ``(n, n)``
    matrices, refused where they would take more than 4 GiB; the same parts per pair that met, in memory
    linear in the pairs, are ``gradient``, ``local`` and ``harmonic`` beside ``pairs``.
    """

    agents: tuple[str, ...]
    ratings: Floats
    flow: CompleteFlow | ObservedFlow
    unit: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratings", frozen_copy(self.ratings))

    @cached_property
    def errors(self) -> tuple[Floats, float]:
        """Standard errors of the ratings, and their own relative error."""
        if isinstance(self.flow, CompleteFlow):
            return read_only(np.full(len(self.agents), np.nan)), 0.0
        with threads_for(self.flow.size):
            stderr, error = standard_errors(self.flow)
        return read_only(stderr), error

    @property
    def stderr(self) -> Floats:
        """Standard errors of the ratings, ``(n,)``; NaN for payoffs, which do not say how many games.

        From the sampling variance of each pair's log-odds, ``1 / won + 1 / lost`` with the prior counted in, as of
        independent wins and losses: with draws they are too large, with clusters too small.
        """
        return self.errors[0]

    @property
    def stderr_error(self) -> float:
        """How accurate the standard errors are: 0 is exact, 0.03 an estimate good to about 3%.

        They are exact up to 1500 agents and estimated from random probes beyond.
        """
        return self.errors[1]

    @cached_property
    def ranks(self) -> Ints:
        """``(n,)`` 1 for the highest rating; ratings that differ by rounding alone share a rank.

        Rounding is measured by the largest payoff, so that the unit of the data does not matter.
        """
        data = self.flow.A if isinstance(self.flow, CompleteFlow) else self.flow.values
        apart = SAME * max(float(data.max(initial=0.0)), -float(data.min(initial=0.0)))
        return rank_descending(self.ratings, apart)

    @cached_property
    def transitive(self) -> Floats:
        """What ratings explain, ``grad(ratings)``, ``(n, n)``; also for pairs that never met."""
        refuse_size((self.ratings.size,) * 2, "the transitive part", "use gradient, which has one number per pair")
        return read_only(gradient(self.ratings))

    @cached_property
    def cyclic(self) -> Floats:
        """What ratings leave over, ``A - transitive``, ``(n, n)``; NaN where a pair never met."""
        return read_only(rotation(self.flow.matrix(), self.ratings))

    @property
    def pairs(self) -> Ints:
        """The pairs ``i < j`` that met, ``(p, 2)``."""
        return self.flow.pairs

    @cached_property
    def gradient(self) -> Floats:
        """What ratings explain on each pair that met, ``(p,)``."""
        i, j = self.pairs.T
        return read_only(self.ratings[i] - self.ratings[j])

    @cached_property
    def residual(self) -> Floats:
        """What ratings leave over on each pair that met, ``(p,)``: local plus harmonic."""
        return read_only(self.flow.values - self.gradient + 0.0)

    @cached_property
    def energies(self) -> tuple[float, float]:
        """Weighted squared norms of the gradient part and of the residual, in units that cannot overflow."""
        if isinstance(self.flow, CompleteFlow):
            scale = max(unit_scale(self.flow.A), unit_scale(self.ratings))
            explained = 2 * len(self.ratings) * float(((self.ratings / scale) ** 2).sum())
            return explained, (frobenius(self.cyclic) / scale) ** 2
        scale = max(unit_scale(self.gradient), unit_scale(self.residual))
        w = self.flow.weights / self.flow.weights.max(initial=LEAST)
        return float(w @ (self.gradient / scale) ** 2), float(w @ (self.residual / scale) ** 2)

    @cached_property
    def transitivity(self) -> float:
        """Share of the squared norm that ratings explain: 1 for a ladder, 0 for rock-paper-scissors.

        1 where there is nothing to explain, as for an all-zero matrix.
        """
        explained, left = self.energies
        return explained / (explained + left) if explained + left > 0 else 1.0

    @cached_property
    def elo_is_exact(self) -> bool:
        """Whether ratings explain every pair exactly, up to rounding (proposition 3: the curl is zero)."""
        left = self.cyclic if isinstance(self.flow, CompleteFlow) else self.residual
        data = self.flow.A if isinstance(self.flow, CompleteFlow) else self.flow.values
        rounding = ROUNDING * max(len(self.agents), 8) * float(np.abs(data).max(initial=0.0))
        return bool(np.abs(left).max(initial=0.0) <= rounding)

    @cached_property
    def harmonic(self) -> Floats:
        """The part of the residual that goes round holes, ``(p,)``: no curl on any triangle, no divergence.

        Cycles of four and more agents that no triangles fill. Zero on complete data. Where it is neither
        zero nor everything, it takes some hundred passes over the triangles of the graph: for a million random
        pairs about ten times as long as the ratings and their errors, which do not need it.
        """
        if isinstance(self.flow, CompleteFlow):
            return read_only(np.zeros(len(self.pairs)))
        return read_only(harmonic_part(self.flow, self.residual))

    @cached_property
    def local(self) -> Floats:
        """The part of the residual that goes round triangles, ``(p,)``: rock-paper-scissors among three."""
        return read_only(self.residual - self.harmonic)

    @cached_property
    def harmonic_share(self) -> float:
        """Share of the squared norm that is harmonic."""
        explained, left = self.energies
        if isinstance(self.flow, CompleteFlow) or explained + left == 0:
            return 0.0
        scale = max(unit_scale(self.gradient), unit_scale(self.residual))
        w = self.flow.weights / self.flow.weights.max(initial=LEAST)
        return min(float(w @ (self.harmonic / scale) ** 2), left) / (explained + left)

    @cached_property
    def local_share(self) -> float:
        """Share of the squared norm that goes round triangles; the three shares add up to 1."""
        return max(1.0 - self.transitivity - self.harmonic_share, 0.0)

    def cycles(self, k: int = 5, *, closed: bool = True) -> tuple[Cycle, ...]:
        """Return the ``k`` triples with the largest curl, exactly, strongest first.

        ``closed=True`` asks that each agent of the triple beats the next, ``a > b > c > a``;
        ``closed=False`` takes any triple, also those in which one agent only loses by less than ratings
        would say. Fewer are returned where there are fewer. Ties go to the agents listed first.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
            raise InputError(f"k is {k!r}: the number of cycles must be a whole number, 0 or more")
        if isinstance(self.flow, ObservedFlow) and self.flow.is_sparse:
            triples, payoffs = strongest_on_graph(self.flow, int(k), closed=closed)
        else:
            triples, payoffs = strongest_triples(self.flow.matrix(), self.ratings, int(k), closed=closed)
        return tuple(
            Cycle(
                agents=(self.agents[a], self.agents[b], self.agents[c]),
                payoffs=(float(ab), float(bc), float(ca)),
                curl=float(ab + bc + ca),
            )
            for (a, b, c), (ab, bc, ca) in zip(triples, payoffs, strict=True)
        )

    def table(self) -> Table:
        """Return the ratings, the best first."""
        gained = "log-odds of winning" if self.unit == "logit" else f"unit: {self.unit}"
        columns = [
            Column("rank", "place by rating; equal ratings share a place", cell=self.ranks),
            Column("agent", cell=self.agents),
            Column("rating", f"what it gains from others on average ({gained})", cell=self.ratings),
        ]
        if isinstance(self.flow, ObservedFlow):
            columns.append(
                Column(
                    "stderr", "standard error of the rating, if games are independent wins and losses", cell=self.stderr
                )
            )
        if self.unit == "logit":
            points = self.ratings * POINTS_PER_LOGIT
            columns.append(Column("Elo points", "the rating in Elo points", decimals=1, cell=points))
        return Table.of(np.argsort(-self.ratings, kind="stable"), *columns, title=title_of(self))

    def cycles_table(self, k: int = 5) -> Table:
        """Return the strongest cycles, one row each."""
        return Table(
            title=f"the strongest cycles among {len(self.agents):,} agents",
            columns=(
                Column(name="first", meaning="beats the second"),
                Column(name="second", meaning="beats the third"),
                Column(name="third", meaning="beats the first"),
                Column(name="curl", meaning="sum of the three payoffs; ratings would make it zero"),
                Column(name="first over second", meaning="payoff"),
                Column(name="second over third", meaning="payoff"),
                Column(name="third over first", meaning="payoff"),
            ),
            rows=tuple((*cycle.agents, cycle.curl, *cycle.payoffs) for cycle in self.cycles(k)),
        )

    def to_dict(self, *, cycles: int = 5, split: bool = True) -> dict[str, Any]:
        """Return plain values for machines; ``split=False`` leaves out local and harmonic share."""
        known = isinstance(self.flow, ObservedFlow)
        parts = {"local_share": self.local_share, "harmonic_share": self.harmonic_share} if split else {}
        return {
            "agents": list(self.agents),
            "unit": self.unit,
            "ratings": self.ratings.tolist(),
            "stderr": self.stderr.tolist() if known else None,
            "transitivity": self.transitivity,
            **parts,
            "elo_is_exact": self.elo_is_exact,
            "cycles": [cycle.to_dict() for cycle in self.cycles(cycles)],
        }

    def __repr__(self) -> str:
        return f"Hodge({len(self.agents):,} agents, {self.transitivity:.1%} transitive, unit {self.unit})"


def hodge(data: FlowLike, *, prior: float | None = None) -> Hodge:
    """Split evaluation data into ratings and cycles (Hodge decomposition, section 2.2).

    ``A = grad(r) + rot(A)`` with ``r = div(A)``: an orthogonal sum of what ratings explain and what they
    cannot.

    From matches the flow is the log-odds of each pair's smoothed win rate, as in `payoffs`, known on the
    pairs that met and weighted by their games: ratings are the weighted least squares fit (HodgeRank), and
    what they leave over splits into local cycles and a harmonic part. On complete, evenly weighted matches
    this is the same as ``hodge(payoffs(matches))``.

    Parameters
    ----------
    data
        An antisymmetric matrix ``(n, n)``, payoffs, or matches; agents connected by matches.
    prior
        For matches: pseudo-games per pair, half a win for each side; 1 by default, as in `payoffs`.

    Examples
    --------
    >>> import nashboard as nb
    >>> h = nb.hodge([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    >>> h.transitivity
    0.0
    >>> print(h.cycles()[0])
    agent 1 > agent 2 > agent 3 > agent 1 (curl 3 = 1 + 1 + 1)

    References
    ----------
    Jiang, Lim, Yao, Ye 2011, Statistical ranking and combinatorial Hodge theory.
    """
    if isinstance(data, Matches):
        data.require_connected()
        flow = observed_flow(data, prior)
        return Hodge(agents=data.agents, ratings=fitted_ratings(flow), flow=flow, unit="logit")
    if prior is not None:
        raise InputError("prior= is for matches: payoffs are taken as they are")
    agents, A, unit = named_flow(data)
    return Hodge(agents=agents, ratings=divergence(A), flow=CompleteFlow(A=read_only(A)), unit=unit)


def observed_flow(matches: Matches, prior: float | None) -> ObservedFlow:
    """Return the log-odds of the pairs that met, weighted by games, with their sampling variances."""
    won, lost = smoothed_counts(matches, checked_prior(prior, "logit"))
    return ObservedFlow(
        size=len(matches.agents),
        pairs=matches.pairs,
        values=read_only(log_odds(matches, won, lost)),
        weights=matches.games,
        variances=read_only(1 / won + 1 / lost),
    )
