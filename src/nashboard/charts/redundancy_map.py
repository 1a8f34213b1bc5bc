"""Redundancy as a map: entries in the order of a clustering, distances as colours, groups of clones in frames."""

from typing import Any

import altair as alt
import numpy as np

from nashboard._types import Floats, Ints
from nashboard.charts.heat_maps import cell_size, slanted
from nashboard.charts.rows import axis_of_names, cells, checked_side, checked_top, inline, number, plural, text
from nashboard.charts.theme import Chart, titled
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.audit.audit import Audit, audit
from nashboard.evaluation.audit.redundancy import Redundancy


def redundancy(data: Audit | Redundancy | Scores | Matches, *, of: str | None = None, top: int = 60) -> Chart:
    """Draw how alike entries are: clustered, with groups of clones and near-clones framed.

    Parameters
    ----------
    data
        What `audit` returned, or matches or scores, which are audited first.
    of
        ``"tasks"`` or ``"agents"``; by default tasks where there are some.
    top
        How many are drawn: all clones, then those that are most like another.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.redundancy(nb.audit(nb.load_dataset("atari")), of="agents")
    """
    found, top = redundancy_of(data, of), checked_top(top)
    D = np.where(np.isfinite(found.distances), found.distances, np.nan)
    members = {name: k for k, group in enumerate(found.groups) for name in group.members}
    shown = most_alike(found, D, members, top)
    order = clustered(D, shown, [members.get(found.names[k], -1) for k in shown])
    names = [found.names[k] for k in order]
    np.fill_diagonal(D, 0.0)
    base, params = cells(names, names, D[np.ix_(order, order)], digits=4)
    size = cell_size(len(names))
    apart = D[np.ix_(order, order)][~np.eye(len(order), dtype=np.bool_)]
    known = apart[np.isfinite(apart)]
    far = float(f"{np.median(known):.2g}") if known.size and known.max() > 0 else 1.0  # beyond it, far is far
    tips = [text("row", found.kind[:-1]), text("column", "compared with"), number("value", "distance")]
    y = alt.Y("row:N", sort=None, axis=axis_of_names())
    x = alt.X("column:N", sort=None, axis=slanted())
    layers: list[Any] = [
        base.transform_filter("isValid(datum.value)").mark_rect().encode(
            x=x, y=y, tooltip=tips,
            color=alt.Color("value:Q", title=f"distance ({found.unit}), 0 is the same",
                            scale=alt.Scale(range="ramp", reverse=True, domain=[0, far], clamp=True),
                            legend=alt.Legend(orient="bottom", gradientLength=220)),
        )
    ]  # fmt: skip
    frames = framed(found, names)
    if frames:
        layers.append(
            alt.Chart(inline(frames)).mark_rect(style="clones").encode(
                x=alt.X("first:N", sort=None, bandPosition=0), x2=alt.X2("last:N", bandPosition=1),
                y=alt.Y("first:N", sort=None, bandPosition=0), y2=alt.Y2("last:N", bandPosition=1),
                tooltip=[text("members", "the same" if all(g.exact for g in found.groups) else "clones")],
            )
        )  # fmt: skip
    count = sum(len(group.members) - 1 for group in found.groups)
    title = (
        f"{plural(count, found.kind[:-1])} of {len(found.names):,} could go: clones of another"
        if count
        else f"No two {found.kind} are clones"
    )
    said = [f"Neighbours are alike; frames hold clones. Distance: root mean square difference ({found.unit})."]
    if len(names) < len(found.names):
        said.append(f"Shown are the {len(names):,} of {len(found.names):,} {found.kind} that are most like another.")
    return titled(
        alt.layer(*layers).add_params(*params).properties(width=alt.Step(size), height=alt.Step(size)),
        title,
        said,
        f"Map of distances between {plural(len(found.names), found.kind[:-1])}, clustered. {title}.",
    )


def redundancy_of(data: Any, of: str | None) -> Redundancy:
    """Return the redundancy of one side."""
    if isinstance(data, Redundancy):
        return data
    if isinstance(data, Matches | Scores):
        data = audit(data)
    if not isinstance(data, Audit):
        raise InputError(f"redundancy needs what audit returns, matches or scores, not {type(data).__name__}")
    kinds = {one.kind: one for one in data.redundancy}
    side = checked_side(of, tasks="tasks" in kinds) if of is not None else next(reversed(kinds))
    return kinds[side]


def most_alike(found: Redundancy, D: Floats, members: dict[str, int], top: int) -> Ints:
    """Return positions of clones, then of those nearest to another."""
    off = np.where(np.eye(len(D), dtype=np.bool_) | np.isnan(D), np.inf, D)
    alone = np.array([name not in members for name in found.names])
    return np.lexsort([np.arange(len(D)), off.min(axis=1), alone])[:top]


def clustered(D: Floats, shown: Ints, groups: list[int]) -> list[int]:
    """Return positions in the order of the leaves of an average-linkage clustering; clones stay together."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(shown) < 3:
        return [int(k) for k in shown]
    part = D[np.ix_(shown, shown)].copy()
    part[np.isnan(part)] = np.nanmax(part, initial=1.0)
    group = np.array(groups)
    part[(group[:, None] == group) & (group >= 0)[:, None]] = 0.0  # one group is one branch, whatever lies between
    np.fill_diagonal(part, 0.0)
    part = (part + part.T) / 2
    flat = squareform(part, checks=False)
    tree = linkage(flat, method="average")
    leaves = leaves_list(optimal_leaf_ordering(tree, flat) if len(shown) <= 300 else tree)
    return [int(shown[k]) for k in leaves]


def framed(found: Redundancy, names: list[str]) -> list[dict[str, Any]]:
    """Return a frame per stretch of neighbours that belong to one group."""
    place = {name: k for k, name in enumerate(names)}
    frames = []
    for group in found.groups:
        at = sorted(place[name] for name in group.members if name in place)
        if len(at) > 1 and at[-1] - at[0] == len(at) - 1:
            frames.append({"first": names[at[0]], "last": names[at[-1]], "members": ", ".join(group.members)})
    return frames
