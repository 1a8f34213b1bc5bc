"""The search for clones: all pairs tested, clones joined into groups, and what merging them would do.

What the tests are is told in `nashboard.evaluation.likeness`, what their outcomes are called in
`nashboard.evaluation.redundancy`.
"""

from itertools import combinations

import numpy as np

from nashboard._types import Bools, Floats, read_only
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.equilibrium.clones import identical_rows
from nashboard.equilibrium.nash import Selection
from nashboard.errors import InputError
from nashboard.evaluation.contest import Kind
from nashboard.evaluation.holm import holm
from nashboard.evaluation.likeness import Likeness, distances_of_rows, likeness_of_agents, likeness_of_rows
from nashboard.evaluation.merging import merge_effects
from nashboard.evaluation.redundancy import SCORE, WIN_RATE, CloneGroup, Pair, Redundancy, Status

MARGIN_OF_GAMES = 0.1  # win rate at even odds: 0.2 standard deviations of a game, about 70 Elo points
MARGIN_OF_SCORES = 0.05  # of the range of a task
NEAREST = 10


def redundant_agents(
    data: Matches | Scores, payoffs: Payoffs | None, *, level: float, margin: float | None, selection: Selection
) -> Redundancy:
    """Find clones among agents of comparable data."""
    if isinstance(data, Matches):
        assert payoffs is not None
        margin = checked_margin(MARGIN_OF_GAMES if margin is None else margin)
        largest = float(np.abs(payoffs.A).max())
        groups = identical_rows(payoffs.A, largest, largest).groups()
        found = likeness_of_agents(data, margin)
        sizes = data.games_per_agent
        return assembled("agents", data, groups, found, found.observed, sizes, level, margin, selection, of_games=True)
    return redundant_rows("agents", data, data.values, data.stderr, level=level, margin=margin, selection=selection)


def redundant_tasks(scores: Scores, *, level: float, margin: float | None, selection: Selection) -> Redundancy:
    """Find clones among tasks of comparable scores."""
    return redundant_rows(
        "tasks", scores, scores.values.T, scores.stderr.T, level=level, margin=margin, selection=selection
    )


def redundant_rows(
    kind: Kind, scores: Scores, S: Floats, E: Floats, *, level: float, margin: float | None, selection: Selection
) -> Redundancy:
    """Find clones among rows of scores: by tests where most standard errors are known, else by distance."""
    tested = bool(np.isfinite(E).mean() > 0.5)
    margin = checked_margin(MARGIN_OF_SCORES if margin is None else margin)
    groups = identical_rows(S, float(np.ptp(S)), float(np.abs(S).max())).groups()
    found = likeness_of_rows(S, E, margin, aligned=kind == "tasks") if tested else None
    gap = distances_of_rows(S)
    return assembled(kind, scores, groups, found, gap, -gap.sum(axis=1), level, margin, selection, of_games=False)


def assembled(
    kind: Kind,
    data: Matches | Scores,
    identical: tuple[tuple[int, ...], ...],
    found: Likeness | None,
    gap: Floats,
    preference: Floats,
    level: float,
    margin: float,
    selection: Selection,
    *,
    of_games: bool,
) -> Redundancy:
    """Test all pairs, join clones into groups, and see what merging them does."""
    names = data.tasks if kind == "tasks" and isinstance(data, Scores) else data.agents
    n = len(names)
    a, b = np.triu_indices(n, k=1)
    exact = np.zeros((n, n), dtype=np.bool_)
    for members in identical:
        exact[np.ix_(members, members)] = True
    if found is None:
        apart, near = np.zeros(len(a), dtype=np.bool_), gap[a, b] <= margin
        suspect = np.zeros(len(a), dtype=np.bool_)
    else:
        apart = holm(found.p_same[a, b], level)
        same = found.p_same[a, b] > level
        if not of_games:  # where errors are shared the noise is overstated: the difference seen must be small, too
            same &= gap[a, b] <= margin
        near = same & holm(found.p_apart[a, b], level)
        suspect = same & ~near & (found.p_apart[a, b] <= level) & ~exact[a, b]
    alike = exact.copy()
    alike[a, b] |= near
    alike |= alike.T
    distance = gap if found is None else np.where(np.isnan(found.distance), np.inf, found.distance)
    groups = tuple(
        CloneGroup(
            members=tuple(names[k] for k in members),
            representative=names[max(members, key=lambda k: (preference[k], -k))],
            exact=bool(exact[np.ix_(members, members)][~np.eye(len(members), dtype=np.bool_)].all()),
            distance=max(
                float(gap[i, j]) if found is None else float(distance[i, j]) for i, j in combinations(members, 2)
            ),
        )
        for members in cliques(alike, distance)
    )

    def pair(k: int) -> Pair:
        i, j = a[k], b[k]
        return Pair(
            first=names[i],
            second=names[j],
            distance=float(distance[i, j]) if np.isfinite(distance[i, j]) else float("nan"),
            p_same=float("nan") if found is None else float(found.p_same[i, j]),
            p_apart=float("nan") if found is None else float(found.p_apart[i, j]),
            status=status(exact[i, j], near[k], suspect[k], apart[k], tested=found is not None),
        )

    order = np.lexsort([b, a, gap[a, b], distance[a, b], ~suspect, ~alike[a, b]])[:NEAREST]
    clearest = np.lexsort([b, a, gap[a, b] if found is None else found.p_apart[a, b], ~suspect])[: int(suspect.sum())]
    return Redundancy(
        kind=kind,
        names=names,
        distances=read_only(gap if found is None else found.distance),
        groups=groups,
        nearest=tuple(map(pair, order)),
        suspected=tuple(map(pair, clearest[:NEAREST])),
        level=level,
        margin=margin,
        tested=found is not None,
        compared=len(a),
        told_apart=int(apart.sum()),
        merged=merge_effects(data, kind, by_name(groups, exact=True), by_name(groups, exact=False), selection)
        if groups
        else (),
        unit=WIN_RATE if of_games else SCORE,
    )


def by_name(groups: tuple[CloneGroup, ...], *, exact: bool) -> dict[str, tuple[str, ...]]:
    """Return the members of exact or of near groups by their representative."""
    return {group.representative: group.members for group in groups if group.exact == exact}


def status(exact: bool, near: bool, suspect: bool, apart: bool, *, tested: bool) -> Status:
    """Say in words what is known of a pair."""
    if exact:
        return "exact clones"
    if near:
        return "near-clones"
    if suspect:
        return "suspected"
    return "different" if apart or not tested else "not told apart"


def cliques(alike: Bools, distance: Floats) -> list[list[int]]:
    """Join the closest first; two groups join only where every two of their members are alike."""
    group = {k: [k] for k in range(len(alike))}
    a, b = np.nonzero(np.triu(alike, k=1))
    for k in np.lexsort([b, a, distance[a, b]]):
        one, other = group[int(a[k])], group[int(b[k])]
        if one is not other and alike[np.ix_(one, other)].all():
            joined = sorted([*one, *other])
            group.update(dict.fromkeys(joined, joined))
    unique = {id(members): members for members in group.values() if len(members) > 1}
    return sorted(unique.values())


def checked_margin(margin: float) -> float:
    """Return the margin, or say what it must be."""
    if not (np.isfinite(margin) and 0 < margin < 1):
        raise InputError(f"the margin is {margin!r}: it must be a number between 0 and 1")
    return float(margin)
