"""The likelihood of match results: one formula for Elo and mElo (equation 2 of the paper), from pair counts.

Symbols: on each pair ``(i, j)`` the lead ``x`` of i over j in logits, the points ``won`` and ``lost`` by i
(a draw is half a point each), and the predicted win rate ``s(x) = 1 / (1 + e^(-x))``:

    loss      = sum of won log(1 + e^(-x)) + lost log(1 + e^x)
    slope     = d loss / dx   = lost s(x) - won s(-x)
    curvature = d2 loss / dx2 = (won + lost) s(x) s(-x)

**Priors.** Both kinds connect every agent to one more node, the *average agent*, whose rating is fitted and never
shown: a prior pulls agents together, not towards a number.

- ``"learned"``: ratings are normal around the average agent with standard deviation ``sigma``, which is learned from
  the same games (`newton.learn_sigma`). On the edge to the average agent the loss is ``x^2 / (2 sigma^2)``.
- a number: each agent has so many drawn games against the average agent. 0 is maximum likelihood.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from nashboard._text import listed
from nashboard._types import Bools, Floats, Ints
from nashboard.data.matches import Matches
from nashboard.errors import InputError

TOLERANCE = 1e-8  # of the gradient's norm, in logits and games
WEAK = 0.01  # drawn games against the average agent: enough to keep ratings finite, as in version 1
Prior = float | Literal["learned"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTotals:
    """Points won and lost on each pair of nodes: the agents, and after them the average agent.

    With a normal prior the last ``agents`` rows join each agent to the average agent with this ``precision``, around
    ``centres`` where there are any.
    """

    agents: int
    i: Ints
    j: Ints
    won: Floats
    lost: Floats
    precision: float = 0.0
    centres: Floats | None = None

    @property
    def nodes(self) -> int:
        """Agents and the average agent."""
        return self.agents + 1

    def nodes_in_play(self, free: Bools) -> int:
        """Return how many nodes take part: not the average agent, where it has no games and nothing else is held."""
        return self.nodes if free[-1] or not free[:-1].all() else self.agents

    def loss(self, x: Floats) -> float:
        """Return the loss at leads ``x``, in nats, with the prior's share."""
        played = loss(self.won, self.lost, x)
        return played + self.precision / 2 * float((self.from_centres(x) ** 2).sum()) if self.precision else played

    def from_centres(self, x: Floats) -> Floats:
        """Return how far agents are from the centres of the prior."""
        return x[-self.agents :] if self.centres is None else x[-self.agents :] - self.centres

    def derivatives(self, x: Floats) -> tuple[Floats, Floats]:
        """Return slopes and curvatures, the first and second derivatives of the loss by each lead."""
        e = np.exp(-np.abs(x))  # one exponential for s(x), s(-x) and their product, exact in both tails
        better = 1 / (1 + e)
        worse = e * better
        ahead = x >= 0
        slopes = self.lost * np.where(ahead, better, worse) - self.won * np.where(ahead, worse, better)
        curvatures = (self.won + self.lost) * (better * worse)
        if self.precision:
            slopes[-self.agents :] = self.precision * self.from_centres(x)
            curvatures[-self.agents :] = self.precision
        return slopes, curvatures

    def onto_nodes(self, values: Floats) -> Floats:
        """Sum antisymmetric values over each node's pairs: the adjoint of ``r[i] - r[j]``."""
        total = np.bincount(self.i, values, minlength=self.nodes) - np.bincount(self.j, values, minlength=self.nodes)
        return np.asarray(total)

    def prior_edges(self, played: int) -> "PairTotals":
        """Return the prior's rows alone, without those that were played."""
        rows = {name: getattr(self, name)[played:] for name in ("i", "j", "won", "lost")}
        return replace(self, **rows)

    def tolerance(self) -> float:
        """Return the norm of the gradient at which a fit ends: 1e-8, or what rounding of its sums allows.

        Where all weights together are less than one game, the same share of them.
        """
        points = np.bincount(self.i, self.won + self.lost, minlength=self.nodes)
        points += np.bincount(self.j, self.won + self.lost, minlength=self.nodes)
        rounding = 4 * float(np.finfo(np.float64).eps) * float(np.linalg.norm(points))
        return max(TOLERANCE * min(1.0, float(points.sum()) / 2), rounding)


def loss(won: Floats, lost: Floats, x: Floats) -> float:
    """Return the loss of points won and lost at leads ``x``: ``log(1 + e^x) = log(1 + e^-|x|) + max(x, 0)``."""
    # sums, not BLAS: threads that are woken for so little cost more than they help, and change the last bits
    return float(((won + lost) * np.log1p(np.exp(-np.abs(x))) + lost * np.maximum(x, 0) - won * np.minimum(x, 0)).sum())


def win_rates(x: Floats) -> Floats:
    """Return ``s(x)``, exact in both tails."""
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, e) / (1 + e))


def pair_totals(matches: Matches, prior: float = 0.0, *, sigma: float | None = None) -> PairTotals:
    """Return the points per pair, with a prior of drawn games or of a standard deviation ``sigma`` in logits."""
    n = len(matches.agents)
    everyone = np.arange(n) if prior > 0 or sigma is not None else np.arange(0)
    half = np.full(everyone.size, prior / 2 if sigma is None else 0.0)
    return PairTotals(
        agents=n,
        i=np.concatenate([matches.pairs[:, 0], everyone]),
        j=np.concatenate([matches.pairs[:, 1], np.full(everyone.size, n)]),
        won=np.concatenate([matches.wins + matches.draws / 2, half]),
        lost=np.concatenate([matches.losses + matches.draws / 2, half]),
        precision=0.0 if sigma is None else 1 / sigma**2,
    )


def with_normal_prior(n: int, i: Ints, j: Ints, won: Floats, lost: Floats, sigma: float) -> PairTotals:
    """Return points of pairs of ``n`` agents with a prior of a standard deviation ``sigma`` in logits."""
    return PairTotals(
        agents=n,
        i=np.concatenate([i, np.arange(n)]),
        j=np.concatenate([j, np.full(n, n)]),
        won=np.concatenate([won, np.zeros(n)]),
        lost=np.concatenate([lost, np.zeros(n)]),
        precision=1 / sigma**2,
    )


def with_points(totals: PairTotals, won: Floats, lost: Floats) -> PairTotals:
    """Return the totals with other points on the pairs that were played; the prior stays."""
    new = totals.won.copy(), totals.lost.copy()
    for old, points in zip(new, (won, lost), strict=True):
        old[: points.size] = points
    return replace(totals, won=new[0], lost=new[1])


def check_prior(prior: Prior, what: str = "prior") -> Prior:
    """Return ``"learned"``, or a number of games that is finite and not negative."""
    if isinstance(prior, str):
        if prior != "learned":
            raise InputError(f"{what} is {prior!r}: it must be 'learned', or a number of drawn games, such as 0")
        return "learned"
    prior = float(prior)
    if not (np.isfinite(prior) and prior >= 0):
        raise InputError(
            f"{what} is {prior:g} games per agent: it must be 'learned', or a number that is finite and not negative"
        )
    return prior


def require_matches(data: object, what: str) -> Matches:
    """Return the data if they are matches, or say how to make some."""
    if not isinstance(data, Matches):
        raise InputError(
            f"{what} needs Matches, not {type(data).__name__}: read_matches makes them of a file or a data frame"
        )
    return data


def require_finite_maximum(matches: Matches) -> None:
    """Raise an error that names the agents whose rating would be infinite without a prior.

    The likelihood has a maximum exactly where a chain of points won leads from every agent to every other
    (Ford 1957).
    """
    n = len(matches.agents)
    i, j = matches.pairs.T
    forth, back = matches.wins + matches.draws > 0, matches.losses + matches.draws > 0
    winner, loser = np.concatenate([i[forth], j[back]]), np.concatenate([j[forth], i[back]])
    beaten, beaten_by = np.bincount(winner, minlength=n), np.bincount(loser, minlength=n)
    if (np.minimum(beaten, beaten_by) == n - 1).any():  # one agent links all others, as in most leagues
        return
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(winner.size), (winner, loser)), shape=(n, n))
    groups, group = connected_components(graph, directed=True, connection="strong")
    if groups == 1:
        return
    cure = "without a prior their ratings are infinite; pass a prior above 0, or leave them out"
    said = [
        f"{listed(matches.named(others == 0))} never {word} a point"
        for others, word in ((beaten_by, "lost"), (beaten, "won"))
        if not others.all()
    ]
    if said:
        raise InputError(f"{' and '.join(said)}: {cure}")
    onward = np.zeros(groups, dtype=bool)
    onward[group[loser[group[winner] != group[loser]]]] = True
    top = int(np.flatnonzero(~onward)[0])
    raise InputError(f"{listed(matches.named(group == top), 3)} never lost a point to the others: {cure}")
