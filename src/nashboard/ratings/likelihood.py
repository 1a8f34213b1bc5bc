"""The likelihood of match results (equation 2 of the paper), its priors, and Newton's method on it.

Symbols: on each pair ``(i, j)`` the lead ``x = r[i] - r[j]`` in logits, the points ``won`` and ``lost`` by i (a draw
is half a point each), and the predicted win rate ``s(x) = 1 / (1 + e^(-x))``:

    loss      = sum of won log(1 + e^(-x)) + lost log(1 + e^x)
    slope     = d loss / dx   = lost s(x) - won s(-x)
    curvature = d2 loss / dx2 = (won + lost) s(x) s(-x)

The Hessian by the ratings is a graph Laplacian ``L = sum over pairs of h (e_i - e_j)(e_i - e_j)'`` with the curvatures
``h``; ``free`` are the nodes that may move. Small systems are factored, large ones solved by conjugate gradients.

**Priors.** Both kinds connect every agent to one more node, the *average agent*, the last one, whose rating is fitted
and never shown: a prior pulls agents together, not towards a number.

- ``"learned"``: ratings are normal with a standard deviation ``sigma`` that is learned from the same games
  (`prior.learn_sigma`), around the average agent or around the mean of their opponents (`NormalPrior`).
  Draws and other shares of the point vary less than wins and losses, games of one cluster more: a result counts as
  ``1 / dispersion`` decisive games (`prior.measure_dispersion`), or what is the same, the prior as ``dispersion``.
- a number: each agent has so many drawn games against the average agent. 0 is maximum likelihood.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nashboard._text import listed
from nashboard._types import Bools, Floats, Ints
from nashboard.data.matches import Matches
from nashboard.errors import ConvergenceError, InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-8  # of the gradient's norm, in logits and games
SCALE = 1.5  # logits: the scale of the prior of the spread of ratings
LIFT = 1e-13  # share of the trace that is put on the diagonal where the plain factor fails
SMALL = 200  # nodes up to which numpy solves: loading scipy takes longer than such a fit
DENSE = 2000  # nodes up to which a factorisation takes well under a second
Solve = Callable[[Floats], Floats]
Prior = float | Literal["learned"]


@dataclass(frozen=True, kw_only=True, eq=False)
class NormalPrior:
    """A normal prior of ratings as a sum over edges, ``dispersion * sum of (unit / sigma^2 + weak) x^2 / 2``.

    - Around the average agent: each agent has an edge to it of ``unit`` 1.
    - Around opponents, ``r_i ~ N(mean of the opponents of i, sigma^2)``: with ``deviations = I - P``, ``P`` the shares
      of i's games against each j, the sum is ``r' M r / (2 sigma^2)``, ``M = deviations' deviations``. As ``M 1 = 0``,
      it is a sum over edges of ``unit = -M_ij``, some of them negative. The level of groups that hardly
      meet is free but for ``weak = 1 / (n SCALE^2)``: the spread of all ratings, whose mean square it weighs, has the
      same half-normal prior that sigma has around the average agent.
    """

    i: Ints
    j: Ints
    unit: Floats
    weak: Floats
    deviations: Any = None  # (n, n), dense or sparse; None around the average agent
    dispersion: float = 1.0  # of results, by which the loss of games would have to be divided

    def precision(self, sigma: float) -> Floats:
        """Return the curvature of each edge."""
        return np.asarray(self.dispersion * (self.unit / sigma**2 + self.weak))

    @staticmethod
    def around_all(n: int) -> "NormalPrior":
        """Return the prior around the average agent."""
        return NormalPrior(i=np.arange(n), j=np.full(n, n), unit=np.ones(n), weak=np.zeros(n))

    @staticmethod
    def around_opponents(n: int, i: Ints, j: Ints, games: Floats) -> "NormalPrior":
        """Return the prior around the opponents that each agent met."""
        played = np.bincount(i, games, n) + np.bincount(j, games, n)
        if n <= SMALL:
            deviations: Any = np.eye(n)
            deviations[i, j], deviations[j, i] = -games / played[i], -games / played[j]
            M = np.triu(deviations.T @ deviations, 1)
            a, b = np.nonzero(M)
            unit = -M[a, b]
        else:
            from scipy.sparse import csr_array, eye_array, triu

            shares = np.concatenate([games / played[i], games / played[j]])
            P = csr_array((shares, (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n))
            deviations = csr_array(eye_array(n) - P)
            upper = triu(deviations.T @ deviations, 1).tocoo()
            a, b, unit = upper.row.astype(np.int64), upper.col.astype(np.int64), -upper.data
        return NormalPrior(
            i=np.concatenate([a, np.arange(n)]),
            j=np.concatenate([b, np.full(n, n)]),
            unit=np.concatenate([unit, np.zeros(n)]),
            weak=np.concatenate([np.zeros(a.size), np.full(n, 1 / (n * SCALE**2))]),
            deviations=deviations,
        )

    def deviate(self, r: Floats) -> Floats:
        """Return how far ratings ``(n,)`` or ``(n, k)`` are from what the prior expects."""
        return centre(r) if self.deviations is None else np.asarray(self.deviations @ r)

    def deviate_back(self, values: Floats) -> Floats:
        """Return the adjoint of `deviate`."""
        return centre(values) if self.deviations is None else np.asarray(self.deviations.T @ values)

    def noise(self, sigma: float, count: int, rng: np.random.Generator) -> Floats:
        """Return ``(n + 1, count)`` normal values on nodes whose covariance is the prior's Hessian."""
        n = int(self.j[-1])
        own = np.sqrt(self.dispersion) * rng.standard_normal((n, count))
        if self.deviations is None:
            flows = own / sigma
            return np.concatenate([flows, -flows.sum(axis=0, keepdims=True)])
        weak = np.sqrt(self.dispersion * self.weak[-1]) * rng.standard_normal((n, count))
        return np.concatenate([self.deviate_back(own) / sigma + weak, -weak.sum(axis=0, keepdims=True)])


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTotals:
    """Points won and lost on each pair of nodes: the agents, and after them the average agent.

    With a normal prior the last rows are its edges; ``pull`` (agents,) are linear terms on the edges to the average
    agent, the last of them.
    """

    agents: int
    i: Ints
    j: Ints
    won: Floats
    lost: Floats
    normal: NormalPrior | None = None
    sigma: float = np.nan
    pull: Floats | None = None

    @property
    def nodes(self) -> int:
        """Agents and the average agent."""
        return self.agents + 1

    def nodes_in_play(self, free: Bools) -> int:
        """Return how many nodes take part: not the average agent, where it has no games and nothing else is held."""
        return self.nodes if free[-1] or not free[:-1].all() else self.agents

    @cached_property
    def precision(self) -> Floats:
        """Curvature of each edge of the normal prior."""
        return np.zeros(0) if self.normal is None else self.normal.precision(self.sigma)

    def loss(self, x: Floats) -> float:
        """Return the loss at leads ``x``, in nats, with the prior's share."""
        total = loss(self.won, self.lost, x)
        if self.normal is not None:
            total += float((self.precision * x[-self.precision.size :] ** 2).sum()) / 2
        return total if self.pull is None else total + float((self.pull * x[-self.agents :]).sum())

    def derivatives(self, x: Floats) -> tuple[Floats, Floats]:
        """Return slopes and curvatures, the first and second derivatives of the loss by each lead."""
        e = np.exp(-np.abs(x))  # one exponential for s(x), s(-x) and their product, exact in both tails
        better = 1 / (1 + e)
        worse = e * better
        ahead = x >= 0
        slopes = self.lost * np.where(ahead, better, worse) - self.won * np.where(ahead, worse, better)
        curvatures = (self.won + self.lost) * (better * worse)
        if self.normal is not None:
            rows = self.precision.size
            slopes[-rows:] = self.precision * x[-rows:]
            curvatures[-rows:] = self.precision
        if self.pull is not None:
            slopes[-self.agents :] += self.pull
        return slopes, curvatures

    def onto_nodes(self, values: Floats) -> Floats:
        """Sum antisymmetric values over each node's pairs: the adjoint of ``r[i] - r[j]``."""
        total = np.bincount(self.i, values, minlength=self.nodes) - np.bincount(self.j, values, minlength=self.nodes)
        return np.asarray(total)

    def prior_slopes(self, x: Floats) -> Floats:
        """Return minus the derivative of the prior's gradient on nodes by ``log sigma^2``."""
        assert self.normal is not None
        slopes, unit = np.zeros(x.size), self.normal.dispersion * self.normal.unit
        slopes[-unit.size :] = unit / self.sigma**2 * x[-unit.size :]
        return self.onto_nodes(slopes)

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


def pair_totals(
    matches: Matches, prior: float = 0.0, *, sigma: float | None = None, normal: NormalPrior | None = None
) -> PairTotals:
    """Return the points per pair, with a prior of drawn games or a normal one of a ``sigma`` in logits."""
    n = len(matches.agents)
    i, j = matches.pairs.T
    won, lost = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    if sigma is not None:
        return with_normal_prior(n, i, j, won, lost, sigma, normal)
    everyone = np.arange(n if prior > 0 else 0)
    half = np.full(everyone.size, prior / 2)
    return PairTotals(
        agents=n,
        i=np.concatenate([i, everyone]),
        j=np.concatenate([j, np.full(everyone.size, n)]),
        won=np.concatenate([won, half]),
        lost=np.concatenate([lost, half]),
    )


def with_normal_prior(
    n: int, i: Ints, j: Ints, won: Floats, lost: Floats, sigma: float, normal: NormalPrior | None = None
) -> PairTotals:
    """Return points of pairs of ``n`` agents with a normal prior, around the average agent unless given."""
    normal = normal or NormalPrior.around_all(n)
    none = np.zeros(normal.i.size)
    return PairTotals(
        agents=n,
        i=np.concatenate([i, normal.i]),
        j=np.concatenate([j, normal.j]),
        won=np.concatenate([won, none]),
        lost=np.concatenate([lost, none]),
        normal=normal,
        sigma=sigma,
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


def dense_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> Floats:
    """Return ``L`` as a dense matrix."""
    above = np.bincount(i * nodes + j, -h, minlength=nodes * nodes).reshape(nodes, nodes)
    L: Floats = (above + above.T).astype(np.float64, copy=False)
    np.fill_diagonal(L, -L.sum(axis=1))
    return L


def sparse_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> "csr_array":
    """Return ``L`` as a sparse matrix."""
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    return csr_array((np.concatenate([-h, -h, h, h]), (rows, columns)), shape=(nodes, nodes))


def solver(nodes: int, i: Ints, j: Ints, h: Floats, free: Bools, rtol: float, *, lift: bool = False) -> Solve:
    """Return the map ``v -> L[free, free]^-1 v``; where all nodes are free, the solution with mean 0.

    ``lift``: where weights lie so far apart that rounding decides, ``L`` may be lifted by rounding's size. A step of
    Newton still descends then; a standard error would be wrong.
    """
    kept = np.flatnonzero(free)
    loose = kept.size == nodes
    if kept.size > DENSE:
        from nashboard.algebra.laplacian import iterative

        solve = iterative(sparse_laplacian(nodes, i, j, h)[kept][:, kept], rtol, loose=loose)
    else:
        if loose:
            L = dense_laplacian(nodes, i, j, h)
            L += np.trace(L) / nodes**2  # L 1 = 0: lift the constant direction, then take it out of the answer
        else:  # of many nodes, few may be free
            L = sparse_laplacian(nodes, i, j, h)[kept][:, kept].toarray()
        solve = factored(L, lift=lift)
    return (lambda v: centre(solve(centre(v)))) if loose else solve


def factored(L: Floats, *, lift: bool) -> Solve:
    """Return the map ``v -> L^-1 v`` for a positive definite matrix."""
    if len(L) <= SMALL:
        try:
            np.linalg.cholesky(L)
            return partial(np.linalg.solve, L)
        except np.linalg.LinAlgError:
            pass
    else:
        from scipy.linalg.lapack import dpotrf, dpotrs

        factor, failed = dpotrf(L.T)  # the transpose lies as the library wants it, and is the same
        if not failed:
            return lambda v: np.asarray(dpotrs(factor, v)[0])
    if lift:
        return factored(L + LIFT * np.trace(L) * np.eye(len(L)), lift=False)
    raise ConvergenceError(
        "the ratings cannot be worked out in double precision: anchors, weights or the prior lie too many orders of "
        "magnitude apart",
        hint="bring them closer together, or pass a larger {option}",
        option="prior",
    )


def centre(v: Floats) -> Floats:
    """Take the mean out of a vector, or of each column."""
    return np.asarray(v - np.add.reduce(v) / len(v))


MOST_STEPS = 1000  # an alarm, not a budget: Newton's method takes 5 to 30
# A step of Newton that moves no lead by more than d logits lowers the loss by at least 1 - (e^d - d - 1) / d^2 of what
# its slope promises (Bach 2010, on the logistic loss). That is an eighth for this d: the loss need not be looked at.
SURE = 1.5


def newton(totals: PairTotals, r: Floats, free: Bools, *, close: float = 0.0) -> float:
    """Move the free ratings in ``r``, in place, to the maximum; return the norm of the gradient there.

    The loss is convex; long steps are halved until it falls, so that the method converges from anywhere. With
    ``close`` a step that moves no lead by more logits is the last: what it leaves is of the order of its square, and
    the norm that is returned is from before it.
    """
    i, j = totals.i, totals.j
    nodes = totals.nodes_in_play(free)
    moving = free[:nodes]
    tolerance = totals.tolerance()
    if not moving.any():
        return 0.0
    for _ in range(MOST_STEPS):
        x = r[i] - r[j]
        slopes, curvatures = totals.derivatives(x)
        g = totals.onto_nodes(slopes)[:nodes][moving]
        norm = float(np.linalg.norm(g))
        if norm <= tolerance:
            return norm
        step = np.zeros_like(r)
        step[:nodes][moving] = -solver(nodes, i, j, curvatures, moving, rtol=1e-6, lift=True)(g)
        dx = step[i] - step[j]
        longest = float(np.abs(dx).max())
        length = 1.0 if longest <= SURE else halved(totals, x, dx, float(g @ step[:nodes][moving]))
        r += length * step
        if longest <= close:
            return norm
    raise ConvergenceError(
        f"Elo did not converge in {MOST_STEPS:,} steps: the gradient's norm is {norm:.2g}, wanted {tolerance:.2g}",
        hint="a larger {option} makes the ratings finite",
        option="prior",
    )


def fit_totals(totals: PairTotals, start: Floats) -> Floats:
    """Return the ratings of the agents in logits, mean 0, from a start; every agent may move."""
    r = np.append(start, 0.0)
    newton(totals, r, np.ones(r.size, dtype=bool))
    return np.asarray(r[:-1] - r[:-1].mean(), dtype=np.float64)


def halved(totals: PairTotals, x: Floats, dx: Floats, slope: float) -> float:
    """Return the length, halved from 1, at which a step ``dx`` from leads ``x`` makes the loss fall (Armijo)."""
    length, start = 1.0, totals.loss(x)
    # near the optimum the loss no longer shows progress: a change of rounding size counts as none
    slack = 1e-13 * abs(start)
    while totals.loss(x + length * dx) > start + 1e-4 * length * slope + slack:
        length /= 2
    return length
