"""Points in a plane: a plane of the Schur decomposition, and agents and tasks along latent components.

Coordinates of a Schur plane are ``sqrt(strength) Q``, so that the area of the parallelogram of two agents is their
payoff in this plane (appendix F), positive where the second follows the first counterclockwise. Names are placed beside
their points without overlaps; names without a free place are only in the tooltip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import altair as alt
import numpy as np

from nashboard._text import shortened
from nashboard._types import Floats
from nashboard.algebra.latent import Latent
from nashboard.algebra.schur import Schur
from nashboard.charts.theme import Chart, add_title, check_kind, check_top, inline, layer, number, text
from nashboard.data.validation import positions
from nashboard.errors import InputError

CHARACTER, LINE = 6.4, 13  # pixels of a character and of a line at 11 points: generous, since fonts differ
PHONE = 290  # pixels of a plot on a phone
LABEL_MOST = 26  # characters of a name in a plot


class Label(NamedTuple):
    """A name and its place: at the left, right, above or below its point; an empty text where there is no place."""

    text: str
    align: str
    dx: float
    dy: float


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        """Return whether two rectangles overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


NO_LABEL = Label("", "left", 0.0, 0.0)


def place_labels(
    names: Sequence[str], x: Floats, y: Floats, order: Sequence[int], *, size: tuple[float, float], beyond: float = 60
) -> list[Label]:
    """Return a label per name; ``x`` and ``y`` are pixels in a plot of that size, ``order`` the most important first.

    A point is an obstacle for the names of others; so are names that were placed before.
    """
    points = [Box(a - 4, b - 4, a + 4, b + 4) for a, b in zip(x, y, strict=True)]
    taken: list[Box] = []
    labels = [NO_LABEL] * len(names)
    for k in order:
        text = shortened(names[k], LABEL_MOST)
        width = CHARACTER * len(text)
        ways = (("left", 10.0, 0.0), ("right", -10.0, 0.0), ("center", 0.0, -13.0), ("center", 0.0, 14.0))
        for align, dx, dy in ways if x[k] < 0.6 * size[0] else (ways[1], ways[0], *ways[2:]):
            left = x[k] + dx - {"left": 0.0, "right": width, "center": width / 2}[align]
            box = Box(left, y[k] + dy - LINE / 2, left + width, y[k] + dy + LINE / 2)
            inside = box.left > 0 and box.right < size[0] + beyond and box.top > -5 and box.bottom < size[1] + 5
            free = not any(box.overlaps(other) for other in taken)
            clear = not any(box.overlaps(point) for j, point in enumerate(points) if j != k)
            if inside and free and clear:
                taken.append(box)
                labels[k] = Label(text, align, dx, dy)
                break
    return labels


def name_layers(
    names: Sequence[str],
    xy: Floats,
    pixels: Floats,
    order: Sequence[int],
    size: tuple[int, int],
    encoding: dict[str, Any],
) -> list[Any]:
    """Return the names as two layers: placed for the plot as it is, and for the width of a phone."""
    width, height = size
    shrunk = height * PHONE / width if height <= width else height  # the size on the page of a report
    layers = []
    for seen, beyond, test in (((width, height), 60, ">="), ((PHONE, shrunk), 0, "<")):
        x, y = (pixels * np.array(seen) / np.array(size)).T
        labels = place_labels(names, x, y, order, size=seen, beyond=beyond)
        rows = [
            {"name": names[k], "x": xy[k, 0], "y": xy[k, 1], "label": label.text, "align": label.align,
             "dx": label.dx, "dy": label.dy}
            for k, label in enumerate(labels)
            if label.text
        ]  # fmt: skip
        text_mark = alt.Chart(inline(rows)).transform_filter(f"width {test} {0.8 * width:g}").mark_text(
            style="name", align=alt.ExprRef("datum.align"), dx=alt.ExprRef("datum.dx"), dy=alt.ExprRef("datum.dy")
        )  # fmt: skip
        layers.append(text_mark.encode(text=alt.Text("label:N"), tooltip=[text("name", "name")], **encoding))
    return layers


WIDEST, HIGHEST, LEAST = 560, 420, 200  # pixels
MARGIN = 0.08  # of the picture on each side
TITLE_NAME = 24  # characters of a name in the title
NAMED = 40  # points that get a name, the furthest out first


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The visible part of a plane: its middle, its reach from there, and its size in pixels, on equal scales."""

    middle: tuple[float, float]
    reach: tuple[float, float]
    width: int
    height: int

    @classmethod
    def from_points(cls, points: Floats) -> Self:
        """Return the frame that contains all points with a margin, on the same scale along both axes."""
        low, high = points.min(axis=0), points.max(axis=0)
        wide, tall = (high - low) / (1 - 2 * MARGIN)
        if wide <= 0 and tall <= 0:
            wide = tall = 1.0
        unit = max(wide / WIDEST, tall / HIGHEST)  # of the plane, per pixel
        width, height = (max(round(float(side / unit)), LEAST) for side in (wide, tall))
        mx, my = ((low + high) / 2).tolist()
        rx, ry = (float(f"{side * unit / 2:.9g}") for side in (width, height))
        return cls(middle=(float(f"{mx:.9g}"), float(f"{my:.9g}")), reach=(rx, ry), width=width, height=height)

    def to_pixels(self, points: Floats) -> Floats:
        """Return the positions of points in the picture, in pixels from its left and its top."""
        size = np.array([self.width, self.height])
        return np.asarray(size / 2 * (1 + (points - self.middle) / self.reach * [1, -1]))


def plane_points(schur: Schur, plane: int) -> Floats:
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
    check_kind(schur, Schur, "plane", "schur returned")
    points = plane_points(schur, plane)
    n = len(points)
    a, b = positions(pair, schur.agents, kind="agent") if pair is not None else strongest_pair(points)
    names = sorted(schur.agents)
    frame = Frame.from_points(np.concatenate([points, np.zeros((1, 2)), points[[a]] + points[[b]]]))
    params = make_params(schur.agents, points, names, schur.agents[a], schur.agents[b], frame)
    order = np.argsort(-np.hypot(*points.T), kind="stable")[:NAMED]
    rows = [{"name": schur.agents[k], "x": points[k, 0], "y": points[k, 1]} for k in range(n)]
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
            x=x, y=y, order=alt.Order("k:Q")
        ),
        corner.transform_filter("area < 0").mark_line(style="loss", **area).encode(
            x=x, y=y, order=alt.Order("k:Q")
        ),
        alt.Chart(inline([{"x": 0, "y": 0}])).mark_point(style="frame", shape="cross", size=80).encode(x=x, y=y),
        base.mark_point(style="plain", filled=True, size=45, opacity=0.9).encode(x=x, y=y, tooltip=tips),
        ends.mark_point(style="frame", size=160).encode(x=x, y=y, tooltip=[text("name", "chosen")]),
        *name_layers(schur.agents, points, frame.to_pixels(points), order.tolist(), (frame.width, frame.height),
                     {"x": x, "y": y}),
    ]  # fmt: skip
    share = schur.shares[plane]
    one, other = (f"truncate({name}, {TITLE_NAME})" for name in ("first", "second"))
    title = alt.ExprRef(
        f"area == 0 ? [{one} + ' and ' + {other}, 'are even in this plane'] : "
        f"[(area > 0 ? {one} : {other}) + ' gains ' + format(abs(area), '.3~g'), "
        f"'from ' + (area > 0 ? {other} : {one})]"
    )
    chart = layer(*layers).add_params(*params).properties(width=frame.width, height=frame.height)
    return add_title(
        chart,
        title,
        [f"Plane {plane + 1}, with {share:.0%} of the squared norm. The shaded area is the payoff of the two chosen;",
         "an agent gains from those that follow it counterclockwise by less than half a turn."],
        f"{n:,} agents as points in plane {plane + 1} of the Schur decomposition; the parallelogram of "
        f"{schur.agents[a]} and {schur.agents[b]} has the signed area {signed_area(points[a], points[b]):.3g}, "
        f"their payoff in this plane.",
    )  # fmt: skip


def make_params(
    agents: tuple[str, ...], points: Floats, names: list[str], a: str, b: str, frame: Frame
) -> list[alt.Parameter]:
    """Return the two menus, and what depends on them: positions, area and the range of the axes."""

    (mx, my), (rx, ry) = frame.middle, frame.reach

    def menu(name: str, value: str, label: str) -> alt.Parameter:
        return alt.param(name=name, value=value, bind=alt.binding_select(options=list(names), name=label))

    def constant(name: str, value: Any) -> alt.Parameter:
        return alt.param(name=name, value=value)

    def computed(name: str, expr: str) -> alt.Parameter:
        return alt.param(name=name, expr=expr)

    return [
        menu("first", a, "First agent: "),
        menu("second", b, "Second agent: "),
        constant("agents", list(agents)),
        constant("xs", points[:, 0].tolist()),
        constant("ys", points[:, 1].tolist()),
        computed("x1", "xs[indexof(agents, first)]"),
        computed("y1", "ys[indexof(agents, first)]"),
        computed("x2", "xs[indexof(agents, second)]"),
        computed("y2", "ys[indexof(agents, second)]"),
        computed("area", "x1 * y2 - y1 * x2"),
        # another pair may be outside of the picture: both axes grow by the same factor, which keeps areas true
        computed("grown", f"max(1, abs(x1 + x2 - {mx!r}) / {0.95 * rx!r}, abs(y1 + y2 - {my!r}) / {0.95 * ry!r})"),
        *(
            computed(f"{axis}_{end}", f"{middle!r} {sign} {reach!r} * grown")
            for axis, middle, reach in (("x", mx, rx), ("y", my, ry))
            for end, sign in (("low", "-"), ("high", "+"))
        ),
    ]


LATENT_WIDTH, LATENT_HEIGHTS = 560, (300, 560)
LATENT_KINDS = ["agent", "task"]


def latent(found: Latent, *, components: tuple[int, int] = (0, 1), ends: int = 6) -> Chart:
    """Draw agents and tasks along two latent components, with the names at the ends.

    An agent does better than its average on the tasks that lie in its direction, and worse on those opposite: the
    product of their distances along both axes is what averages miss of the score.

    Parameters
    ----------
    found
        What `latent` returned.
    components
        Which two, from 0, the strongest first.
    ends
        How many agents and tasks are named at each end of each axis.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.latent(nb.latent(nb.load_dataset("atari"), k=2))
    """
    check_kind(found, Latent, "latent", "the function latent returned")
    ends = check_top(ends)
    size = found.strengths.size
    if len(components) != 2 or not all(isinstance(t, int) and 0 <= t < size for t in components):
        raise InputError(f"components are {components!r}: give two of the {size:,} there are, counted from 0")
    s, t = components
    root = np.sqrt(found.strengths[[s, t]])
    xy = np.concatenate([found.skills[:, [s, t]] * root, found.problems[:, [s, t]] * root])
    names = [*found.agents, *found.tasks]
    kinds = [LATENT_KINDS[0]] * len(found.agents) + [LATENT_KINDS[1]] * len(found.tasks)
    order = choose_named(xy, len(found.agents), ends)
    (left, right), (low, high) = (pad_range(values) for values in xy.T)
    height = round(
        float(np.clip(LATENT_WIDTH * (high - low) / (right - left), *LATENT_HEIGHTS))
    )  # one unit is one unit, if it can be
    across, down = LATENT_WIDTH * (xy[:, 0] - left) / (right - left), height * (high - xy[:, 1]) / (high - low)
    rows = [{"name": name, "kind": kind, "x": x, "y": y} for name, kind, (x, y) in zip(names, kinds, xy, strict=True)]
    shares = found.shares
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[left, right], nice=False),
        title=f"component {s + 1} ({shares[s]:.1%})",
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[low, high], nice=False),
        title=f"component {t + 1} ({shares[t]:.1%})",
    )
    tips = [text("name", "name"), text("kind", "kind"), number("x", f"component {s + 1}"),
            number("y", f"component {t + 1}")]  # fmt: skip
    base = alt.Chart(inline(rows))
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=LATENT_KINDS, range="category"),
                       legend=alt.Legend(orient="top"))  # fmt: skip
    layers = [
        *(
            alt.Chart(inline([{"at": 0}])).mark_rule(style="zero").encode(zero)
            for zero in (alt.XDatum(0), alt.YDatum(0))
        ),
        base.mark_point(filled=True, size=50, opacity=0.9).encode(
            x=x, y=y, color=colour, tooltip=tips,
            shape=alt.Shape("kind:N", title=None,
                            scale=alt.Scale(domain=LATENT_KINDS, range=["circle", "triangle-up"])),
        ),
        *name_layers(names, xy, np.stack([across, down], axis=1), order, (LATENT_WIDTH, height), {"x": x, "y": y}),
    ]  # fmt: skip
    title, both = "What tasks test beyond an average", float(shares[[s, t]].sum())
    return add_title(
        layer(*layers).properties(width=LATENT_WIDTH, height=height),
        title,
        [f"Averages explain {found.averages_share:.0%} of the scores, these components {both:.0%} more.",
         "An agent is better than its average on tasks in its direction, worse on those opposite."],
        f"Two-way plot of {len(found.agents):,} agents and {len(found.tasks):,} tasks along components {s + 1} and "
        f"{t + 1}; averages explain {found.averages_share:.0%} of the scores.",
    )  # fmt: skip


def pad_range(values: Floats) -> tuple[float, float]:
    """Return a range that contains zero, with a margin on both sides."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    room = 0.12 * (high - low) or 1.0
    return float(f"{low - room:.6g}"), float(f"{high + room:.6g}")


def choose_named(xy: Floats, agents: int, ends: int) -> list[int]:
    """Return the points with a name, the furthest out first: agents and tasks at both ends of both axes."""
    chosen: set[int] = set()
    for side in (np.arange(agents), np.arange(agents, len(xy))):
        for axis in (0, 1):
            order = side[np.argsort(xy[side, axis], kind="stable")]
            chosen |= {int(k) for k in (*order[:ends], *order[-ends:])}
    return sorted(chosen, key=lambda k: (-float(np.hypot(*xy[k])), k))
