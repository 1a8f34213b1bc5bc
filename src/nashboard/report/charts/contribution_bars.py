"""What an agent's Nash average is made of: a bar per opponent or task, and the rest in one."""

from typing import Any

import altair as alt

from nashboard.errors import shortened
from nashboard.evaluation.breakdown import Breakdown, breakdown
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.charts.rows import (
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
from nashboard.report.charts.theme import Chart, titled

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
        How many terms are drawn, the largest in either direction; the others are folded into one bar. All bars add up
        to the gap, which is drawn last.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"), n_resamples=20)
    >>> chart = nb.charts.contributions(result, "gnugo")
    """
    top = checked_top(top)
    found = breakdown(evaluation, agent)
    rows = contribution_rows(found, top)
    best = "the best" if found.what == "opponent" else "the team at the top"
    base = alt.Chart(inline(rows))
    x = alt.X("term:Q", title=[f"what it adds to the distance to {best}", f"({unit_words(evaluation.board.unit)})"],
              axis=alt.Axis(tickCount=6))  # fmt: skip
    y = alt.Y("label:N", sort=None, axis=axis_of_names())
    tips = [text("name", found.what), number("weight", "weight", ".1%"), number("result", "result"),
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
            for _ in range(found.sure)
        ),
        alt.Chart(inline([{"at": 0}])).mark_rule(style="zero").encode(x=alt.datum(0)),
    ]  # fmt: skip
    gap = f"{found.gap:.3f}" if found.gap else "0"
    title = f"What {shortened(agent, 40)} gains and loses: {gap} in all"
    said = [f"Blue bars gain, orange bars lose; they add up to the last. Weight times the difference to {best}."]
    said.append(interval_sentence(found))
    return titled(
        alt.layer(*layers).properties(width=380, height=alt.Step(ROW + 2)),
        title,
        said,
        f"Bar chart of {plural(len(found.terms), found.what)}: what the Nash average of {agent} is made of. {title}.",
    )


def interval_sentence(found: Breakdown) -> str:
    """Say what the whiskers are, or why there are none."""
    if found.sure:
        return f"Whiskers: {found.level:.0%} of {found.resamples:,} resamples of the results, with the weights held."
    if not found.complete:
        return "No whiskers, and only the largest terms: this evaluation was read from json, without its data."
    return "No whiskers: the data do not say how noisy they are."


def contribution_rows(found: Breakdown, top: int) -> list[dict[str, Any]]:
    """Return the largest terms, the sum of the others, and the gap."""
    shown, rest = found.terms[:top], found.terms[top:]
    rows: list[dict[str, Any]] = [
        {"label": one.name, "name": one.name, "weight": one.weight, "result": one.result, "term": one.term,
         "low": one.low, "high": one.high, "kind": "gain" if one.term >= 0 else "loss"}
        for one in sorted(shown, key=lambda one: -one.term)
    ]  # fmt: skip
    left = found.gap - sum(one.term for one in shown)
    if rest or not found.complete:
        label = f"and {len(rest):,} more together" if found.complete else "everything else"
        rows.append({"label": label, "name": label, "term": left, "weight": 1 - sum(one.weight for one in shown),
                     "kind": "rest"})  # fmt: skip
    rows.append({"label": "distance to the best", "name": "all together", "term": found.gap, "kind": "gap"})
    return rows
