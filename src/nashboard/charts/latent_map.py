"""Latent skills and problems as a two-way plot: agents and tasks in the plane of two components."""

import altair as alt
import numpy as np

from nashboard._types import Floats
from nashboard.algebra.latent import Latent
from nashboard.charts.labels import placed
from nashboard.charts.rows import checked_kind, checked_top, inline, number, text
from nashboard.charts.theme import Chart, titled
from nashboard.errors import InputError

WIDTH, HEIGHTS = 560, (300, 560)
KINDS = ["agent", "task"]


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
    checked_kind(found, Latent, "latent", "the function latent returned")
    ends = checked_top(ends)
    held = found.strengths.size
    if len(components) != 2 or not all(isinstance(t, int) and 0 <= t < held for t in components):
        raise InputError(f"components are {components!r}: give two of the {held:,} there are, counted from 0")
    s, t = components
    root = np.sqrt(found.strengths[[s, t]])
    xy = np.concatenate([found.skills[:, [s, t]] * root, found.problems[:, [s, t]] * root])
    names = [*found.agents, *found.tasks]
    kinds = [KINDS[0]] * len(found.agents) + [KINDS[1]] * len(found.tasks)
    order = at_the_ends(xy, len(found.agents), ends)
    (left, right), (low, high) = (padded(values) for values in xy.T)
    height = round(
        float(np.clip(WIDTH * (high - low) / (right - left), *HEIGHTS))
    )  # one unit is one unit, if it can be
    across, down = WIDTH * (xy[:, 0] - left) / (right - left), height * (high - xy[:, 1]) / (high - low)
    labels = placed(names, across, down, order, size=(WIDTH, height))
    rows = [
        {"name": name, "kind": kind, "x": x, "y": y, "label": label.text, "align": label.align, "dx": label.dx,
         "dy": label.dy}
        for name, kind, (x, y), label in zip(names, kinds, xy, labels, strict=True)
    ]  # fmt: skip
    shares = found.shares
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[left, right], nice=False),
        title=f"component {s + 1} ({shares[s]:.1%} of the variation)",
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[low, high], nice=False),
        title=f"component {t + 1} ({shares[t]:.1%} of the variation)",
    )
    tips = [text("name", "name"), text("kind", "kind"), number("x", f"component {s + 1}"),
            number("y", f"component {t + 1}")]  # fmt: skip
    base = alt.Chart(inline(rows))
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=KINDS, range="category"),
                       legend=alt.Legend(orient="top"))  # fmt: skip
    layers = [
        *(
            alt.Chart(inline([{"at": 0}])).mark_rule(style="zero").encode(**{axis: alt.datum(0)})
            for axis in ("x", "y")
        ),
        base.mark_point(filled=True, size=50, opacity=0.9).encode(
            x=x, y=y, color=colour, tooltip=tips,
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=KINDS, range=["circle", "triangle-up"])),
        ),
        base.transform_filter("datum.label != ''").mark_text(
            style="name", align=alt.ExprRef("datum.align"), dx=alt.ExprRef("datum.dx"), dy=alt.ExprRef("datum.dy")
        ).encode(x=x, y=y, text="label:N", tooltip=tips),
    ]  # fmt: skip
    title, both = "What tasks test beyond an average", float(shares[[s, t]].sum())
    return titled(
        alt.layer(*layers).properties(width=WIDTH, height=height),
        title,
        [f"Averages explain {found.averages_share:.0%} of the scores, these components {both:.0%} more.",
         "An agent is better than its average on tasks in its direction, worse on those opposite."],
        f"Two-way plot of {len(found.agents):,} agents and {len(found.tasks):,} tasks along components {s + 1} and "
        f"{t + 1}; averages explain {found.averages_share:.0%} of the scores.",
    )  # fmt: skip


def padded(values: Floats) -> tuple[float, float]:
    """Return a range with some room on both sides; zero is in it."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    room = 0.12 * (high - low) or 1.0
    return float(f"{low - room:.6g}"), float(f"{high + room:.6g}")


def at_the_ends(xy: Floats, agents: int, ends: int) -> list[int]:
    """Return those to be named, the furthest out first: agents and tasks at both ends of both axes."""
    found: set[int] = set()
    for side in (np.arange(agents), np.arange(agents, len(xy))):
        for axis in (0, 1):
            order = side[np.argsort(xy[side, axis], kind="stable")]
            found |= {int(k) for k in (*order[:ends], *order[-ends:])}
    return sorted(found, key=lambda k: (-float(np.hypot(*xy[k])), k))
