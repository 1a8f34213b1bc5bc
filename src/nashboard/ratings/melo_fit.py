"""Fitting mElo: from starts to the best minimum found.

Symbols: as in `melo_loss`; everything here is in logits.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._threads import threads_for
from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import PairTotals
from nashboard.ratings.melo_loss import MeloLoss
from nashboard.ratings.melo_ratings import End
from nashboard.ratings.melo_starts import starts, steepest_planes
from nashboard.ratings.newton import newton
from nashboard.ratings.trust_region import minimise

ROUGH = 1e-4  # of the first gradient: where a rough fit ends; held-out losses then have six right digits


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """The best point found, its gradient, and where all starts ended."""

    Z: Floats
    gradient_norm: float
    ends: tuple[End, ...]


def elo_point(totals: PairTotals) -> tuple[Floats, float]:
    """Return the Elo ratings of all nodes in logits, and the norm of the gradient there."""
    r, free = np.zeros(totals.nodes), np.ones(totals.nodes, dtype=bool)
    free[-1] = bool((totals.j == totals.agents).any())
    norm = newton(totals, r, free)
    return r - r[:-1].mean(), norm


def fitted(matches: Matches, landscape: MeloLoss, k: int, *, rough: bool = False) -> Fit:
    """Return the best of several fits: plane by plane from Elo upwards, and from the starts of `melo_starts`.

    A ``rough`` fit goes plane by plane only and stops early, which costs a tenth: enough to see how well it predicts.
    """
    with threads_for(len(matches.agents)):
        return best_of_starts(matches, landscape, k, rough=rough)


def best_of_starts(matches: Matches, landscape: MeloLoss, k: int, *, rough: bool) -> Fit:
    """Fit from every start, and return the best."""
    totals = landscape.totals
    r, norm = elo_point(totals)
    if k == 0:
        loss = landscape.loss(r[:, None].copy()) / matches.n_games
        return Fit(Z=r[:, None], gradient_norm=norm, ends=(End(start="Elo", loss=loss),))
    tolerance = totals.tolerance()
    found: list[tuple[str, Floats, float]] = []
    failure: ConvergenceError | None = None
    begins = [("plane by plane", one_plane_more(landscape, r[:, None].copy(), k))]
    if rough:
        tolerance = roughly(landscape, begins[0][1])
    else:
        begins += [(name, point(landscape, r, C)) for name, C in starts(matches, totals, r[:-1], k)]
    for name, Z in begins:
        try:
            found.append((name, *minimise(landscape, landscape.moved(Z, 0 * Z), tolerance=tolerance)))
        except ConvergenceError as error:
            failure = error
    if not found:
        raise failure or ConvergenceError("no start of mElo converged")
    losses = [landscape.loss(Z) / matches.n_games for _, Z, _ in found]
    best = next(t for t, loss in enumerate(losses) if loss <= min(losses) + 1e-12)
    ends = sorted(zip(losses, [name for name, _, _ in found], strict=True))
    return Fit(
        Z=found[best][1],
        gradient_norm=found[best][2],
        ends=tuple(End(start=name, loss=loss) for loss, name in ends),
    )


def one_plane_more(landscape: MeloLoss, Z: Floats, k: int) -> Floats:
    """Return a start for ``k`` planes: the fit with one plane fewer, and the plane in which its loss falls fastest."""
    while True:
        C = Z[:-1, 1:]
        Z = point(landscape, Z[:, 0], np.column_stack([C, steepest_planes(landscape.totals, Z[:-1, 0], C, 1)]))
        if Z.shape[1] == 1 + 2 * k:
            return Z
        Z, _ = minimise(landscape, landscape.moved(Z, 0 * Z), tolerance=roughly(landscape, Z))


def roughly(landscape: MeloLoss, Z: Floats) -> float:
    """Return the norm of the gradient at which a rough fit that starts from ``Z`` ends."""
    return max(ROUGH * float(np.linalg.norm(landscape.local(Z).gradient)), landscape.totals.tolerance())


def point(landscape: MeloLoss, r: Floats, C: Floats) -> Floats:
    """Return ratings of all nodes and planes of the agents as one array."""
    Z = np.zeros((landscape.totals.nodes, 1 + C.shape[1]))
    Z[:, 0], Z[:-1, 1:] = r, C
    return Z
