"""Ratings over time: lines of what a league knew of its agents after each game."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from nashboard.charts.rows import checked_kind, checked_top, inline, number, plural, text
from nashboard.charts.theme import Chart, titled
from nashboard.data.validation import positions
from nashboard.online.models import RatingHistory

POINTS = 300  # of a line: more cannot be told apart


def rating_history(found: RatingHistory, *, agents: Sequence[str] | None = None, top: int = 6) -> Chart:
    """Draw ratings after each game with their 95% intervals, of some agents or of those that end highest.

    Examples
    --------
    >>> import nashboard as nb
    >>> league = nb.OnlineElo(history=True)
    >>> for winner, loser in [("ann", "bob"), ("ann", "cat"), ("cat", "bob")]:
    ...     league.update(winner, loser, 1.0)
    >>> chart = nb.charts.rating_history(league.history())
    """
    checked_kind(found, RatingHistory, "rating_history", "history of an online model returned")
    last = dict(zip(found.agent.tolist(), found.rating.tolist(), strict=True))
    best = sorted(last, key=lambda k: -last[k])[: checked_top(top)]
    chosen = best if agents is None else list(positions(agents, found.agents, kind="agent"))
    rows: list[dict[str, Any]] = []
    for k in chosen:
        where = np.flatnonzero(found.agent == k)
        for t in where[np.unique(np.linspace(0, where.size - 1, min(POINTS, where.size)).astype(int))]:
            half = 1.96 * found.stderr[t] if np.isfinite(found.stderr[t]) else 0.0
            rating = found.rating[t]
            rows.append({"agent": found.agents[k], "game": int(found.game[t]), "rating": rating,
                         "low": rating - half, "high": rating + half})  # fmt: skip
    names = [found.agents[k] for k in chosen]
    x = alt.X("game:Q", title="game", scale=alt.Scale(nice=False))
    color = alt.Color("agent:N", sort=names, title=None, legend=alt.Legend(orient="bottom", columns=2))
    tips = [text("agent", "agent"), number("game", "game", ",.0f"), number("rating", "rating", ".0f"),
            number("low", "low", ".0f"), number("high", "high", ".0f")]  # fmt: skip
    base = alt.Chart(inline(rows)).encode(x=x, color=color)
    title = "rating (Elo points)"
    chart = alt.layer(
        base.mark_area(opacity=0.12, line=False).encode(y=alt.Y("low:Q", title=title), y2="high:Q"),
        base.mark_line(strokeWidth=1.6).encode(y=alt.Y("rating:Q", title=title), tooltip=tips),
    ).properties(width=480, height=280)
    headline = f"Ratings of {plural(len(names), 'agent')} over {plural(found.game.size // 2, 'game')}"
    said = ["A newcomer starts at 0. Bands are 95% intervals."]
    return titled(chart, headline, said, f"Line chart. {headline}.")
