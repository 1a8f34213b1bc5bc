"""Charts for decisions: who is above whom, and the board over time."""

import altair as alt
import numpy as np

from nashboard.charts.heat_maps import cell_size, slanted
from nashboard.charts.rows import axis_of_names, cells, checked_kind, checked_top, inline, number, plural, text
from nashboard.charts.theme import Chart, titled
from nashboard.evaluation.decide.history import History
from nashboard.evaluation.decide.superiority import Superiority


def superiority(found: Superiority, *, top: int = 30) -> Chart:
    """Draw the probability that the agent of the row is above the agent of the column.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.superiority(nb.evaluate(nb.load_dataset("atari"), n_resamples=50))
    >>> chart = nb.charts.superiority(found)
    """
    checked_kind(found, Superiority, "superiority", "superiority returned")
    names = found.agents[: checked_top(top)]
    n = len(names)
    P = np.array(found.matrix[:n, :n])
    np.fill_diagonal(P, np.nan)
    base, known = cells(names, names, P, digits=4)
    x = alt.X("column:N", sort=None, axis=slanted("below"))
    y = alt.Y("row:N", sort=None, axis=axis_of_names("above"))
    color = alt.Color(
        "value:Q",
        title="probability",
        scale=alt.Scale(domain=[0, 1], domainMid=0.5, range="diverging", interpolate="lab"),
        legend=alt.Legend(orient="bottom", gradientLength=220),
    )
    tips = [text("row", "above"), text("column", "below"), number("value", "probability", ".2f")]
    chart = alt.layer(
        base.mark_text(text="").encode(x=x, y=y),
        base.transform_filter("isValid(datum.value)").mark_rect().encode(x=x, y=y, color=color, tooltip=tips),
    )
    chart = chart.add_params(*known).properties(width=alt.Step(cell_size(n)), height=alt.Step(cell_size(n)))
    sure = int((np.nan_to_num(P) >= 0.95).sum())
    title = f"The order of {sure:,} of {n * (n - 1) // 2:,} pairs is known with P of at least 0.95"
    part = [f"Shown: the first {n:,} of {len(found.agents):,} agents."] if n < len(found.agents) else []
    said = ["Blue: the agent of the row is above the agent of the column; orange: below.", *part]
    return titled(chart, title, said, f"Heat map of probabilities among {plural(n, 'agent')}. {title}.")


def history(found: History, *, top: int = 6) -> Chart:
    """Draw the gaps of the best agents over a series of evaluations, with intervals.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"), n_resamples=20)
    >>> chart = nb.charts.history(nb.history([result, result]))
    """
    checked_kind(found, History, "history", "history returned")
    shown = found.agents[: checked_top(top)]
    rows = [
        {"agent": name, "when": label, "gap": -found.gap[k, t], "low": -found.high[k, t], "high": -found.low[k, t]}
        for k, name in enumerate(shown)
        for t, label in enumerate(found.labels)
        if np.isfinite(found.gap[k, t])
    ]
    x = alt.X("when:N", sort=list(found.labels), title=None, axis=alt.Axis(labelAngle=0))
    color = alt.Color("agent:N", sort=list(shown), title=None, legend=alt.Legend(orient="bottom", columns=2))
    tips = [text("agent", "agent"), text("when", "evaluation"), number("gap", "distance to the best", ".2f")]
    side = alt.XOffset("agent:N", sort=list(shown))  # intervals stand beside each other
    base = alt.Chart(inline(rows)).encode(x=x, xOffset=side, color=color)
    title = f"minus the gap to the best ({found.unit})"
    chart = alt.layer(
        base.mark_rule(opacity=0.5, strokeWidth=3).encode(y=alt.Y("low:Q", title=title), y2="high:Q", tooltip=tips),
        base.mark_line(point=True).encode(y=alt.Y("gap:Q", title=title), tooltip=tips),
    ).properties(width=max(260, 90 * len(found.labels)), height=260)
    headline = f"{plural(len(shown), 'agent')} in {plural(len(found.labels), 'evaluation')}"
    said = ["0 is the best of its evaluation. Bars: intervals of the posterior."]
    return titled(chart, headline, said, f"Line chart. {headline}.")
