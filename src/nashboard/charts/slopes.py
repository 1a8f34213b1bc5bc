"""Slope chart: the place of each agent by another method on the left, by Nash average on the right."""

from typing import Any, Literal

import altair as alt
import numpy as np

from nashboard._text import distinct_head, shorten_to
from nashboard.charts.rows import ROW, checked_kind, checked_top, inline, text
from nashboard.charts.theme import Chart, titled
from nashboard.evaluation.board.board import places
from nashboard.evaluation.evaluation import Evaluation

SIDES: tuple[tuple[str, Literal["left", "right"], int, int], ...] = (("left", "right", -8, 0), ("right", "left", 8, 1))
NAME = 34  # characters of a name beside a line
WAYS = {"same": "tail", "down": "other", "up": "nash"}  # and how their lines look


def rank_changes(evaluation: Evaluation, *, top: int = 30) -> Chart:
    """Draw how ranks change from the rating (or the uniform average) to the Nash average.

    Parameters
    ----------
    evaluation
        What `evaluate` returned.
    top
        How many agents are drawn: the first by Nash average.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"), n_resamples=20)
    >>> chart = nb.charts.rank_changes(result)
    """
    checked_kind(evaluation, Evaluation, "rank_changes", "evaluate returned")
    top = checked_top(top)
    board = evaluation.board
    others = board.uniform_ranks if board.rating is None else places(board.rating.values)
    second = "uniform average" if board.rating is None else board.rating.name
    shown = board.order[:top]
    left = {int(k): place for place, k in enumerate(shown[np.argsort(others[shown], kind="stable")])}
    head = distinct_head([board.names[k] for k in shown], NAME)
    rows: list[dict[str, Any]] = []
    for right, k in enumerate(shown):
        before, after = int(others[k]), int(board.ranks[k])
        name = shorten_to(board.names[k], NAME, head)
        rows.append(
            {
                "name": board.names[k],
                "before": before,
                "after": after,
                "left": left[int(k)],
                "right": right,
                "left_label": f"{name}\u2002{before}",
                "right_label": f"{after}\u2002{name}",
                "way": "up" if after < before else "down" if after > before else "same",
                "moved": "stays" if after == before else f"{'up' if after < before else 'down'} {abs(after - before)}",
            }
        )
    n = len(rows)
    base = alt.Chart(inline(rows))
    tips = [text("name", "agent"), alt.Tooltip("before:Q", title=f"rank by {second}"),
            alt.Tooltip("after:Q", title="rank by Nash average"), text("moved", "moves")]  # fmt: skip
    scale = alt.Scale(domain=[-0.7, n - 0.3], reverse=True, nice=False, zero=False)
    axis = None
    x = alt.Scale(domain=[0, 1], nice=False)
    layers = [
        *(
            base.transform_filter(f"datum.way == '{way}'").mark_rule(style=style, strokeWidth=2).encode(
                x=alt.datum(0, scale=x, axis=axis, type="quantitative"), x2=alt.datum(1),
                y=alt.Y("left:Q", scale=scale, axis=axis), y2="right:Q", tooltip=tips,
            )
            for way, style in WAYS.items()
            if any(row["way"] == way for row in rows)
        ),
        *(
            base.mark_text(style="name", align=align, dx=dx).encode(
                x=alt.datum(at, scale=x, axis=axis, type="quantitative"),
                y=alt.Y(f"{side}:Q", scale=scale, axis=axis), text=f"{side}_label:N", tooltip=tips,
            )
            for side, align, dx, at in SIDES
        ),
    ]  # fmt: skip
    moved = sum(row["way"] != "same" for row in rows)
    part = f"the first {n:,} of {len(board.names):,} agents by Nash average" if n < len(board.names) else "all agents"
    of = f"of the first {n:,}" if n < len(board.names) else f"of {n:,}"
    changes = "changes" if moved == 1 else "change"
    title = f"{moved:,} {of} agents {changes} place" if moved else f"Nobody {of} agents changes place"
    return titled(
        alt.layer(*layers).properties(width=260, height=max(n, 2) * ROW),
        title,
        [f"Left: rank by {second}. Right: rank by Nash average. Shown: {part}.",
         "Blue: a better place by Nash average; orange: a worse one. Equal numbers on one side are exact ties."],
        f"Slope chart from ranks by {second} to ranks by Nash average for {part}: {title}.",
    )  # fmt: skip
