"""Bump chart: the place of each agent by every method, one line per agent."""

from typing import Any

import altair as alt
import numpy as np

from nashboard._text import distinct_head, shorten_to
from nashboard.charts.rows import ROW, checked_kind, checked_top, inline, text
from nashboard.charts.theme import Chart, titled
from nashboard.errors import InputError
from nashboard.ranking.trial import Trials

NAME = 28  # characters of a name beside a line
STEP = 62  # pixels between methods
BOARD = "board"


def method_ranks(trials: Trials, *, top: int = 15) -> Chart:
    """Draw the places of the agents by every method, from the board on the left.

    Parameters
    ----------
    trials
        What ``Evaluation.second_opinions()`` returned.
    top
        How many agents are drawn: the first on the board.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"))
    >>> chart = nb.charts.method_ranks(result.second_opinions(["nash", "borda", "schulze"]))
    """
    checked_kind(trials, Trials, "method_ranks", "Evaluation.second_opinions returned")
    top = checked_top(top)
    if not trials.ranked:
        raise InputError("no method applies to these data, so there is nothing to draw")
    agents = trials.agents
    order = np.argsort(trials.board_ranks, kind="stable")
    shown = order[:top]
    head = distinct_head([agents[k] for k in shown], NAME)
    columns = [BOARD, *(one.method for one in trials.ranked)]
    ranks = [trials.board_ranks, *(one.ranking.ranks for one in trials.ranked if one.ranking is not None)]
    rows: list[dict[str, Any]] = []
    for column, places in zip(columns, ranks, strict=True):
        inside = shown[np.argsort(places[shown], kind="stable")]
        at = {int(k): height for height, k in enumerate(inside)}
        for k in shown:
            name = shorten_to(agents[k], NAME, head)
            rows.append(
                {
                    "agent": agents[k],
                    "method": column,
                    "rank": int(places[k]),
                    "height": at[int(k)],
                    "left": f"{name}\u2002{int(places[k])}" if column == columns[0] else "",
                    "style": int(k == order[0]),
                }
            )
    n = len(shown)
    base = alt.Chart(inline(rows))
    x = alt.X("method:N", sort=columns, scale=alt.Scale(padding=0.3),
              axis=alt.Axis(orient="top", title=None, labelAngle=-40, domain=False, ticks=False))  # fmt: skip
    y = alt.Y("height:Q", axis=None, scale=alt.Scale(domain=[-0.7, n - 0.3], reverse=True, nice=False, zero=False))
    tips = [text("agent", "agent"), text("method", "method"), alt.Tooltip("rank:Q", title="rank")]
    lines = base.mark_line(strokeWidth=1.6, point=alt.OverlayMarkDef(size=36)).encode(x=x, y=y, tooltip=tips)
    others = lines.transform_filter("datum.style == 0").encode(
        detail="agent:N", opacity=alt.value(0.75), color=alt.Color("agent:N", legend=None)
    )
    first = lines.transform_filter("datum.style == 1").mark_line(
        style="nash", strokeWidth=4, point=alt.OverlayMarkDef(size=70)
    )
    names = base.transform_filter("datum.left != ''").mark_text(style="name", align="right", dx=-10).encode(
        x=x, y=y, text="left:N", tooltip=tips
    )  # fmt: skip
    agree = sum(one.ranking is not None and agents[order[0]] in one.ranking.winners for one in trials.ranked)
    title = f"{agree:,} of {len(trials.ranked):,} methods put {shorten_to(agents[order[0]], NAME, head)} first"
    part = f"the first {n:,} of {len(agents):,} agents on the board" if n < len(agents) else "all agents"
    return titled(
        alt.layer(others, first, names).properties(width=len(columns) * STEP, height=max(n, 2) * (ROW + 2)),
        title,
        [f"Each line is an agent, each column a method; higher is better. Shown: {part}.",
         "Lines that cross are agents that two methods order differently. Ties are drawn one below the other."],
        f"Bump chart of the places of {part} by {len(trials.ranked):,} methods: {title}.",
    )  # fmt: skip
