"""A plane of the Schur decomposition: agents as points, and the signed area between two of them as their payoff.

Coordinates are ``sqrt(strength) Q``, so that the area of the parallelogram of two agents *is* the payoff that this
plane stands for (appendix F): positive where the second follows the first counterclockwise.
"""

from dataclasses import dataclass
from typing import Any, Self

import altair as alt
import numpy as np

from nashboard._types import Floats
from nashboard.algebra.schur import Schur
from nashboard.charts.labels import placed
from nashboard.charts.rows import checked_kind, inline, number, text
from nashboard.charts.theme import Chart, titled
from nashboard.data.validation import positions
from nashboard.errors import InputError

WIDEST, HIGHEST, LEAST = 560, 420, 200  # pixels
MARGIN = 0.08  # of the picture on each side
NAME = 24  # characters of a name in the title
NAMED = 40  # points that get a name, the furthest out first


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What the picture shows: its middle, how far it reaches from there, and its size in pixels, one unit each way."""

    middle: tuple[float, float]
    reach: tuple[float, float]
    width: int
    height: int

    @classmethod
    def around(cls, points: Floats) -> Self:
        """Return the frame that holds all points with a margin, on a scale that is the same along both axes."""
        low, high = points.min(axis=0), points.max(axis=0)
        wide, tall = (high - low) / (1 - 2 * MARGIN)
        if wide <= 0 and tall <= 0:
            wide = tall = 1.0
        unit = max(wide / WIDEST, tall / HIGHEST)  # of the plane, per pixel
        width, height = (max(round(float(side / unit)), LEAST) for side in (wide, tall))
        mx, my = ((low + high) / 2).tolist()
        rx, ry = (float(f"{side * unit / 2:.9g}") for side in (width, height))
        return cls(middle=(float(f"{mx:.9g}"), float(f"{my:.9g}")), reach=(rx, ry), width=width, height=height)

    def pixels(self, points: Floats) -> Floats:
        """Return where points stand in the picture, from its left and its top."""
        size = np.array([self.width, self.height])
        return np.asarray(size / 2 * (1 + (points - self.middle) / self.reach * [1, -1]))


def coordinates(schur: Schur, plane: int) -> Floats:
    """Return the agents as points ``(n, 2)`` whose signed areas are payoffs."""
    if isinstance(plane, bool) or not 0 <= plane < schur.strengths.size:
        raise InputError(f"there is no plane {plane!r}: there are {schur.strengths.size:,}, counted from 0")
    return np.asarray(np.sqrt(schur.strengths[plane]) * schur.Q[:, 2 * plane : 2 * plane + 2] + 0.0)


def signed_area(a: Floats, b: Floats) -> float:
    """Return the area of the parallelogram of two points, positive where the second follows counterclockwise."""
    return float(a[0] * b[1] - a[1] * b[0]) + 0.0


def strongest_pair(points: Floats) -> tuple[int, int]:
    """Return the two with the largest payoff in the plane, the first of them on a tie."""
    half = points[:, :1] * points[:, 1]
    areas = half - half.T
    scale = float(np.abs(areas).max(initial=0.0))
    first = int(np.argmax(areas >= scale * (1 - 1e-9)))
    return divmod(first, len(points)) if scale > 0 else (0, 1)


def plane(schur: Schur, *, plane: int = 0, pair: tuple[str, str] | None = None) -> Chart:
    """Draw a plane: agents as points; choose two, and see the area that is their payoff.

    Parameters
    ----------
    schur
        What `schur` returned.
    plane
        Which plane, from 0, the strongest first.
    pair
        The two agents that are chosen at first; by default those with the largest payoff in the plane.

    Examples
    --------
    >>> import nashboard as nb
    >>> circle = nb.schur([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])
    >>> chart = nb.charts.plane(circle, pair=("agent 1", "agent 2"))
    """
    checked_kind(schur, Schur, "plane", "schur returned")
    points = coordinates(schur, plane)
    n = len(points)
    a, b = positions(pair, schur.agents, kind="agent") if pair is not None else strongest_pair(points)
    names = sorted(schur.agents)
    seen = Frame.around(np.concatenate([points, np.zeros((1, 2)), points[[a]] + points[[b]]]))
    params = chosen(schur.agents, points, names, schur.agents[a], schur.agents[b], seen)
    order = np.argsort(-np.hypot(*points.T), kind="stable")[:NAMED]
    across, down = seen.pixels(points).T
    labels = placed(schur.agents, across, down, [int(k) for k in order], size=(seen.width, seen.height))
    rows = [
        {"name": schur.agents[k], "x": points[k, 0], "y": points[k, 1], "label": labels[k].text,
         "align": labels[k].align, "dx": labels[k].dx, "dy": labels[k].dy}
        for k in range(n)
    ]  # fmt: skip
    wide, high = ([alt.ExprRef(f"{end}_low"), alt.ExprRef(f"{end}_high")] for end in ("x", "y"))
    x = alt.X("x:Q", scale=alt.Scale(domain=wide, nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=high, nice=False, zero=False), axis=None)
    tips = [text("name", "agent"), number("x", "across"), number("y", "up")]
    base = alt.Chart(inline(rows))
    corner = alt.Chart(inline([{"k": k} for k in range(5)])).transform_calculate(
        x="[0, x1, x1 + x2, x2, 0][datum.k]", y="[0, y1, y1 + y2, y2, 0][datum.k]"
    )
    ends = alt.Chart(inline([{"k": 0}, {"k": 1}])).transform_calculate(
        x="[x1, x2][datum.k]", y="[y1, y2][datum.k]", name="[first, second][datum.k]"
    )
    area: dict[str, Any] = {"interpolate": "linear-closed", "strokeWidth": 1.5, "clip": True}
    layers = [
        corner.transform_filter("area >= 0").mark_line(style="gain", **area).encode(
            x=x, y=y, order="k:Q"
        ),
        corner.transform_filter("area < 0").mark_line(style="loss", **area).encode(
            x=x, y=y, order="k:Q"
        ),
        alt.Chart(inline([{"x": 0, "y": 0}])).mark_point(style="frame", shape="cross", size=80).encode(x=x, y=y),
        base.mark_point(style="plain", filled=True, size=45, opacity=0.9).encode(x=x, y=y, tooltip=tips),
        ends.mark_point(style="frame", size=160).encode(x=x, y=y, tooltip=[text("name", "chosen")]),
        base.transform_filter("datum.label != ''").mark_text(
            style="name", align=alt.ExprRef("datum.align"), dx=alt.ExprRef("datum.dx"), dy=alt.ExprRef("datum.dy")
        ).encode(x=x, y=y, text="label:N", tooltip=tips),
    ]  # fmt: skip
    share = schur.shares[plane]
    one, other = (f"truncate({name}, {NAME})" for name in ("first", "second"))
    said = alt.ExprRef(
        f"area == 0 ? {one} + ' and ' + {other} + ' are even in this plane' : "
        f"(area > 0 ? {one} : {other}) + ' gains ' + format(abs(area), '.3~g') + ' from ' + "
        f"(area > 0 ? {other} : {one})"
    )
    chart = alt.layer(*layers).add_params(*params).properties(width=seen.width, height=seen.height)
    return titled(
        chart,
        said,
        [f"Plane {plane + 1}, with {share:.0%} of the squared norm. The shaded area is the payoff of the two chosen;",
         "an agent gains from those that follow it counterclockwise by less than half a turn."],
        f"{n:,} agents as points in plane {plane + 1} of the Schur decomposition; the parallelogram of "
        f"{schur.agents[a]} and {schur.agents[b]} has the signed area {signed_area(points[a], points[b]):.3g}, "
        f"their payoff in this plane.",
    )  # fmt: skip


def chosen(
    agents: tuple[str, ...], points: Floats, names: list[str], a: str, b: str, seen: Frame
) -> list[alt.Parameter]:
    """Return the two choices, and what follows from them: positions, area and how much room the picture needs."""

    (mx, my), (rx, ry) = seen.middle, seen.reach

    def choice(name: str, value: str, label: str) -> alt.Parameter:
        return alt.param(name=name, value=value, bind=alt.binding_select(options=list(names), name=label))

    def given(name: str, value: Any) -> alt.Parameter:
        return alt.param(name=name, value=value)

    def worked_out(name: str, expr: str) -> alt.Parameter:
        return alt.param(name=name, expr=expr)

    return [
        choice("first", a, "First agent: "),
        choice("second", b, "Second agent: "),
        given("agents", list(agents)),
        given("xs", points[:, 0].tolist()),
        given("ys", points[:, 1].tolist()),
        worked_out("x1", "xs[indexof(agents, first)]"),
        worked_out("y1", "ys[indexof(agents, first)]"),
        worked_out("x2", "xs[indexof(agents, second)]"),
        worked_out("y2", "ys[indexof(agents, second)]"),
        worked_out("area", "x1 * y2 - y1 * x2"),
        # another pair may reach out of the picture: both axes grow alike, so that areas stay true
        worked_out("grown", f"max(1, abs(x1 + x2 - {mx!r}) / {0.95 * rx!r}, abs(y1 + y2 - {my!r}) / {0.95 * ry!r})"),
        *(
            worked_out(f"{axis}_{end}", f"{middle!r} {sign} {reach!r} * grown")
            for axis, middle, reach in (("x", mx, rx), ("y", my, ry))
            for end, sign in (("low", "-"), ("high", "+"))
        ),
    ]
