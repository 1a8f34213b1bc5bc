"""What an agent's Nash average is made of: a bar per opponent or task, and the rest in one."""

from typing import Any

import altair as alt
import numpy as np

from nashboard._text import nearest, shortened
from nashboard.charts.rows import (
    ROW,
    axis_of_names,
    checked_top,
    every_row,
    inline,
    number,
    plural,
    text,
    unit_words,
)
from nashboard.charts.theme import Chart, titled
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Contribution
from nashboard.evaluation.evaluation import Evaluation

KINDS = {"gain": "nash", "loss": "other", "rest": "tail", "gap": "plain"}  # and how their bars look


def contributions(evaluation: Evaluation, agent: str, *, top: int = 10) -> Chart:
    """Draw where an agent wins and loses its distance to the best, task by task or opponent by opponent.

    Parameters
    ----------
    evaluation
        What `evaluate` returned.
    agent
        Whose average.
    top
        How many terms are drawn, the largest in either direction, ten at most: an evaluation keeps so many. The
        others are folded into one bar. All bars add up to the gap, which is drawn last.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"), n_resamples=20)
    >>> chart = nb.charts.contributions(result, "Zen")
    """
    board = evaluation.board
    if agent not in board.names:
        raise InputError(f"there is no agent {agent!r}{nearest(str(agent), board.names)}")
    what, best = ("opponent", "the best") if evaluation.task_board is None else ("task", "the team at the top")
    shown = evaluation.contributions[agent][: checked_top(top)]
    gap = -float(board.gaps[board.names.index(agent)]) + 0.0
    rows = contribution_rows(shown, gap, counted(evaluation))
    base = alt.Chart(inline(rows))
    x = alt.X("term:Q", title=[f"what it adds to the distance to {best}", f"({unit_words(evaluation.board.unit)})"],
              axis=alt.Axis(tickCount=6))  # fmt: skip
    y = alt.Y("label:N", sort=None, axis=axis_of_names())
    tips = [text("name", what), number("weight", "weight", ".1%"), number("result", "result"),
            number("term", "adds"), number("low", "low"), number("high", "high")]  # fmt: skip
    layers = [
        every_row(base, y),
        *(
            base.transform_filter(f"datum.kind == '{kind}'").mark_bar(style=style, height=12).encode(
                x=x, y=y, tooltip=tips
            )
            for kind, style in KINDS.items()
            if any(row["kind"] == kind for row in rows)
        ),
        *(
            base.transform_filter("isValid(datum.low)").mark_rule(style="interval").encode(
                x=alt.X("low:Q"), x2="high:Q", y=y, tooltip=tips
            )
            for _ in range(any(one.low is not None for one in shown))
        ),
        alt.Chart(inline([{"at": 0}])).mark_rule(style="zero").encode(x=alt.datum(0)),
    ]  # fmt: skip
    title = f"What {shortened(agent, 40)} gains and loses: {f'{gap:.3f}' if gap else '0'} in all"
    said = [f"Blue bars gain, orange bars lose; they add up to the last. Weight times the difference to {best}."]
    said.append(interval_sentence(evaluation, shown, what))
    return titled(
        alt.layer(*layers).properties(width=380, height=alt.Step(ROW + 2)),
        title,
        said,
        f"Bar chart of {plural(counted(evaluation), what)}: what the Nash average of {agent} is made of. {title}.",
    )


def counted(evaluation: Evaluation) -> int:
    """Return how many opponents or tasks have weight; copies count once."""
    board = evaluation.task_board or evaluation.board
    return len(np.unique(board.classes[board.weights > 0]))


def interval_sentence(evaluation: Evaluation, shown: tuple[Contribution, ...], what: str) -> str:
    """Say what the whiskers are, or why there are none."""
    if all(one.low is None for one in shown):
        return "No whiskers: the data are taken as exact."
    one, board = "an opponent" if what == "opponent" else "a task", evaluation.board
    return f"Whiskers: {board.level:.0%} of {board.draws:,} draws; {one} without weight in a draw adds 0."


def contribution_rows(shown: tuple[Contribution, ...], gap: float, count: int) -> list[dict[str, Any]]:
    """Return the largest terms, the sum of the others, and the gap."""
    rows: list[dict[str, Any]] = [
        {"label": one.name, "name": one.name, "weight": one.weight, "result": one.result, "term": one.term,
         "low": one.low, "high": one.high, "kind": "gain" if one.term >= 0 else "loss"}
        for one in sorted(shown, key=lambda one: -one.term)
    ]  # fmt: skip
    if count > len(shown):
        label = f"and {count - len(shown):,} more together"
        rows.append({"label": label, "name": label, "term": gap - sum(one.term for one in shown),
                     "weight": 1 - sum(one.weight for one in shown), "kind": "rest"})  # fmt: skip
    rows.append({"label": "distance to the best", "name": "all together", "term": gap, "kind": "gap"})
    return rows
