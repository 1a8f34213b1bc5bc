"""Who beats whom: the strongest cycles as a small graph with arrows."""

from typing import Any

import altair as alt
import numpy as np

from nashboard._text import shortened
from nashboard.algebra.cycles import Cycle
from nashboard.algebra.hodge import Hodge
from nashboard.charts.theme import Chart, add_title, check_top, inline, layer, number, text
from nashboard.errors import InputError
from nashboard.evaluation.audit.audit import Audit
from nashboard.evaluation.audit.transitivity import Transitivity

SIZE = 380
ROOM, SIDE = 1.25, 1.65  # of the circle's radius: above and below, so that points are not cut, and beside it for names
NAME = 24  # characters of a name beside its point
TITLE = 14  # characters of a name in the title, which has three names
SHORTER = 0.1  # of an arrow at each end, in radii
HALF = 55  # pixels: half of the longest name on a narrow screen, where long names are above and below their points
PLACE = f"width * (datum.x + {SIDE}) / {2 * SIDE}"  # of a point from the left, in pixels


def cycles(found: Hodge | Transitivity | Audit, *, k: int = 5) -> Chart:
    """Draw the strongest cycles, in which each agent beats the next, as one graph.

    Parameters
    ----------
    found
        What `hodge` or `audit` returned, or its part on transitivity.
    k
        How many cycles; an audit keeps five.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.cycles(nb.hodge(nb.load_dataset("alphago")), k=2)
    """
    k = check_top(k)
    if isinstance(found, Audit):
        if found.transitivity is None:
            raise InputError("this audit is of payoffs, which have no games: draw the cycles of hodge")
        found = found.transitivity
    if isinstance(found, Transitivity):
        strongest, share = found.cycles[:k], found.share
        strongest_cycles, rates = [one.cycle for one in strongest], [one.win_rates for one in strongest]
    elif isinstance(found, Hodge):
        strongest_cycles, rates, share = list(found.cycles(k)), None, found.transitivity
    else:
        raise InputError(f"cycles needs what hodge or audit return, not {type(found).__name__}")
    title = "No three agents beat each other in a cycle"
    noise = isinstance(found, Transitivity) and not found.beyond_luck
    if noise and strongest_cycles:
        title = "These cycles may be chance" if len(strongest_cycles) > 1 else "This cycle may be chance"
    elif strongest_cycles:
        a, b, c = strongest_cycles[0].agents
        title = " beats ".join(shortened(name, TITLE) for name in (a, b, c, a))
    chart = draw_graph(strongest_cycles, rates) if strongest_cycles else draw_empty()
    which = "The strongest cycle" if len(strongest_cycles) == 1 else f"The {len(strongest_cycles):,} strongest cycles"
    lines = [f"{which}. Arrows point from winner to loser; wide ones are clear wins.",
            f"Ratings explain {share:.0%} of the results; no rating can explain a cycle."]  # fmt: skip
    if not strongest_cycles:
        lines = [f"Ratings explain {share:.0%} of the results."]
    if noise:
        assert isinstance(found, Transitivity)
        if found.p_noise > found.level:
            lines.append(f"The residual of the ratings is within noise (p = {found.p_noise:.2g}).")
        elif strongest_cycles:
            most = max(one.z for one in found.cycles)
            lines.append(f"In standard errors the strongest here is {most:.1f}; {found.name_luck()}.")
    return add_title(chart, title, lines, f"Graph of the strongest cycles. {title}.")


def draw_empty() -> Any:
    """Draw a picture with a note that there is no cycle."""
    return (
        alt.Chart(inline([{"said": "no cycle"}]))
        .mark_text(style="note")
        .encode(text=alt.Text("said:N"), tooltip="said:N")
    )


def draw_graph(kept: list[Cycle], rates: list[tuple[float, float, float]] | None) -> Any:
    """Draw the graph: agents on a circle, an arrow per win."""
    agents = list(dict.fromkeys(name for cycle in kept for name in cycle.agents))
    turn = np.pi / 2 - 2 * np.pi * np.arange(len(agents)) / max(len(agents), 1)
    where = {name: np.array([np.cos(t), np.sin(t)]) for name, t in zip(agents, turn, strict=True)}
    arrows: dict[tuple[str, str], dict[str, Any]] = {}
    for k, cycle in enumerate(kept):
        for at, winner in enumerate(cycle.agents):
            loser = cycle.agents[(at + 1) % 3]
            way = where[loser] - where[winner]
            way /= np.linalg.norm(way)
            start, end = where[winner] + SHORTER * way, where[loser] - SHORTER * way
            row = {"cycle": f"{k + 1}", "winner": winner, "loser": loser, "payoff": cycle.payoffs[at],
                   "won": "unknown" if rates is None else f"{rates[k][at]:.0%}",
                   "x": start[0], "y": start[1], "x2": end[0], "y2": end[1],
                   "angle": float(np.degrees(np.arctan2(way[0], way[1])))}  # fmt: skip
            arrows.setdefault((winner, loser), row)  # an arrow in several cycles is drawn for the strongest of them
    points = [
        {"name": name, "label": shortened(name, NAME), "x": place[0], "y": place[1],
         "half": min(3.5 * len(name), HALF), "up": 16 if place[1] < 0 else -16, "way": np.sign(place[0].round(9)),
         "align": "center" if abs(place[0]) < 0.2 else "left" if place[0] > 0 else "right",
         "dx": 0 if abs(place[0]) < 0.2 else 11 * np.sign(place[0]),
         "dy": -16 * np.sign(place[1]) if abs(place[0]) < 0.2 else 0}
        for name, place in where.items()
    ]  # fmt: skip
    narrow = alt.param(name="narrow", value=False)  # the report sets it
    across, up = (alt.Scale(domain=[-reach, reach], nice=False) for reach in (SIDE, ROOM))
    x, y = alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=up, axis=None)
    numbers = [f"{k + 1}" for k in range(len(kept))]
    colour = alt.Color("cycle:N", title="cycle, the strongest first", scale=alt.Scale(domain=numbers, range="category"))
    tips = [text("winner", "winner"), text("loser", "loser"), number("payoff", "payoff"), text("won", "games won"),
            text("cycle", "cycle")]  # fmt: skip
    edges = alt.Chart(inline(arrows.values()))
    return layer(
        edges.mark_rule(opacity=0.9).encode(
            x=x, y=y, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), color=colour, tooltip=tips,
            strokeWidth=alt.StrokeWidth("payoff:Q", legend=None, scale=alt.Scale(range=[1.2, 4], zero=True)),
        ),
        edges.mark_point(shape="triangle-up", filled=True, size=110, opacity=1).encode(
            x=alt.X("x2:Q", scale=across, axis=None), y=alt.Y("y2:Q", scale=up, axis=None), color=colour,
            tooltip=tips, angle=alt.Angle("angle:Q", scale=None),
        ),
        alt.Chart(inline(points)).mark_point(style="frame", size=70).encode(x=x, y=y, tooltip=[text("name", "agent")]),
        alt.Chart(inline(points)).mark_text(
            style="name",
            align=alt.ExprRef("narrow ? 'center' : datum.align"),
            dx=alt.ExprRef(
                f"narrow ? clamp({PLACE} + datum.way * (datum.half + 4), datum.half, width - datum.half) - {PLACE} "
                ": datum.dx"
            ),
            dy=alt.ExprRef("narrow ? datum.up : datum.dy"),
        ).encode(x=x, y=y, text=alt.Text("label:N"), tooltip=[text("name", "agent")]),
    ).properties(width=round(SIZE * SIDE / ROOM), height=SIZE).add_params(narrow)  # fmt: skip
