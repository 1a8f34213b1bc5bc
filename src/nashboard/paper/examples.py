"""The small matrices that the paper prints, as it prints them, and charts that only the paper needs."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from nashboard._types import Floats, read_only
from nashboard.charts.theme import THEMES, Chart, axis_of_names, inline, layered, titled


def matrix(rows: list[list[float]]) -> Floats:
    """Return a matrix that nobody can write to."""
    return read_only(np.array(rows, dtype=np.float64))


# Section 4.1, example 1: three agents in a circle, and a second copy of C.
CIRCLE = matrix([[0, 4.6, -4.6], [-4.6, 0, 4.6], [4.6, -4.6, 0]])
CIRCLE_AND_COPY = matrix([[0, 4.6, -4.6, -4.6], [-4.6, 0, 4.6, 4.6], [4.6, -4.6, 0, 0], [4.6, -4.6, 0, 0]])

# Section 4.1, example 2: cyclic and transitive.
C3 = matrix([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
T3 = matrix([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]])

# Appendix F: transitive and cyclic, both of rank two.
T4 = matrix([[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0]])
C4 = matrix([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])

# Appendix A: win rates of three agents in a circle, and with a second copy of C.
WIN_RATES = matrix([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
WIN_RATES_AND_COPY = matrix([[0.5, 0.9, 0.1, 0.1], [0.1, 0.5, 0.9, 0.9], [0.9, 0.1, 0.5, 0.5], [0.9, 0.1, 0.5, 0.5]])

# Section 2.1: paper beats rock for sure.
ROCK_PAPER_SCISSORS = matrix([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]])


def with_copy(A: Floats, agent: int) -> Floats:
    """Return an antisymmetric matrix with one agent entered a second time, at the end."""
    entered = [*range(len(A)), agent]
    return A[np.ix_(entered, entered)]


SIZE = 280
# Numbers stand inside the cells, so cells have one set of colours on light and dark pages.
CELLS, DARK = list(THEMES["light"]["range"]["diverging"]), THEMES["light"]["text"]["color"]


def go_predictions(agents: Sequence[str], tables: Mapping[str, Floats]) -> Chart:
    """Draw win rates side by side: what happened, and what models predict."""
    rows = [
        {"row": a, "column": b, "rate": P[i, j], "table": name}
        for name, P in tables.items()
        for i, a in enumerate(agents)
        for j, b in enumerate(agents)
        if i != j
    ]
    base = alt.Chart().encode(
        x=alt.X("column:N", sort=list(agents), axis=axis_of_names(labelAngle=-45)),
        y=alt.Y("row:N", sort=list(agents), axis=axis_of_names()),
    )
    colour = alt.Color(
        "rate:Q",
        title="row beats column",
        scale=alt.Scale(domain=[0, 1], range=CELLS),
        legend=alt.Legend(orient="right"),
    )
    light = alt.condition(
        "abs(datum.rate - 0.5) > 0.32", alt.value("white"), alt.value(THEMES["light"]["text"]["color"])
    )
    cells = layered(
        base.mark_rect().encode(color=colour),
        base.mark_text(fontSize=10).encode(text=alt.Text("rate:Q", format=".2f"), color=light),
        data=inline(rows),
    ).properties(width=SIZE, height=SIZE)
    return titled(
        cells.facet(column=alt.Column("table:N", sort=list(tables), title=None)),
        "Win rates in Go: what happened, and what Elo and mElo2 predict",
        ["Row beats column."],
        "Three heat maps of win rates among eight Go programs: empirical, Elo, mElo2.",
    )


def by_epsilon(grid: Floats, values: Floats, names: Sequence[str], what: str) -> Chart:
    """Draw how weights or averages of three agents change from a circle to a ladder."""
    rows = [
        # The jump is drawn as one: no line joins what stands on its two sides.
        {"eps": eps, "value": value, "agent": name, "side": bool(eps > 0.5)}
        for name, column in zip(names, values.T, strict=True)
        for eps, value in zip(grid, column, strict=True)
    ]
    chart: Chart = (
        alt.Chart(inline(rows))
        .mark_line()
        .encode(
            x=alt.X("eps:Q", title="eps: from the circle C to C + eps T"),
            y=alt.Y("value:Q", title=what),
            color=alt.Color("agent:N", sort=list(names), scale=alt.Scale(domain=list(names), range="category")),
            strokeDash=alt.StrokeDash("agent:N", sort=list(names), scale=alt.Scale(domain=list(names))),
            detail="side:N",
        )
        .properties(width=420, height=240)
    )
    return titled(
        chart,
        f"Between a circle and a ladder: {what}",
        ["A jump at eps = 1/2. Lines that coincide are drawn over each other."],
        f"Line chart of {what} by eps.",
    )


def beside_nash(agents: Sequence[str], values: Mapping[str, Floats], title: str, unit: str) -> Chart:
    """Draw averages of agents by two methods, one bar each."""
    rows = [
        {"agent": name, "value": value, "method": method}
        for method, column in values.items()
        for name, value in zip(agents, column, strict=True)
    ]
    methods = list(values)
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("method:N", sort=methods, axis=axis_of_names()), x=alt.X("value:Q", title=f"average ({unit})")
    )
    layers = layered(
        base.mark_bar(height=12).encode(
            color=alt.Color("method:N", sort=methods, legend=None, scale=alt.Scale(domain=methods, range="category"))
        ),
        base.mark_point(style="mark", shape="stroke", angle=90, size=120),
    ).properties(width=360, height=alt.Step(20))
    rows_of_agents: Chart = layers.facet(
        row=alt.Row("agent:N", sort=list(agents), title=None, header=alt.Header(labelAngle=0))
    )
    return titled(
        rows_of_agents,
        title,
        ["A bar from zero; a stroke alone is zero."],
        f"Bar chart. {title}.",
    )
