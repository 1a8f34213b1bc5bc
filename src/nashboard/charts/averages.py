"""Weights and averages of an equilibrium, and the terms that an average is the sum of."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from nashboard._text import nearest, number_of, shortened
from nashboard._types import Floats, Ints
from nashboard.charts.theme import (
    ROW,
    Chart,
    add_title,
    check_kind,
    check_side,
    check_top,
    describe_unit,
    fix_rows,
    inline,
    layer,
    name_axis,
    name_rest,
    number,
    text,
)
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage
from nashboard.errors import InputError
from nashboard.evaluation.board.contributions import Contribution
from nashboard.evaluation.evaluation import Evaluation

Averaged = Evaluation | NashAverage | ScoreNashAverage


@dataclass(frozen=True, kw_only=True, eq=False)
class Averages:
    """One side of a result: names, weights, Nash averages, ranks; uniform averages are NaN if the result has none."""

    kind: str
    what: str
    unit: str
    names: tuple[str, ...]
    weights: Floats
    nash: Floats
    ranks: Ints
    uniform: Floats


def select_side(result: Averaged, of: str) -> Averages:
    """Return the averages of the agents or of the tasks of a result."""
    check_kind(result, Averaged, "this chart", "evaluate, nash_average or nash_average_scores returned")
    tasks = result.task_board is not None if isinstance(result, Evaluation) else isinstance(result, ScoreNashAverage)
    agents = check_side(of, tasks=tasks) == "agents"
    if isinstance(result, Evaluation):
        board = result.board if agents else result.required_tasks()
        what = "difficulty" if not agents else "skill" if result.kind == "scores" else "average"
        return Averages(
            kind=board.kind, what=what, unit=board.unit, names=board.names, weights=board.weights,
            nash=result.averages_of(of), ranks=board.ranks, uniform=board.uniform,
        )  # fmt: skip
    if isinstance(result, NashAverage):
        what, unit = "average", {"logit": "log-odds"}.get(result.unit, result.unit)
        names, weights, nash, ranks = result.agents, result.weights, result.averages, result.ranks
    elif agents:
        what, unit = "skill", f"scaling {result.scaling}"
        names, weights, nash, ranks = result.agents, result.agent_weights, result.skills, result.agent_ranks
    else:
        what, unit = "difficulty", f"scaling {result.scaling}"
        names, weights, nash, ranks = result.tasks, result.task_weights, result.difficulties, result.task_ranks
    unknown = np.full(len(names), np.nan)
    return Averages(
        kind=of[:-1], what=what, unit=unit, names=names, weights=weights, nash=nash, ranks=ranks, uniform=unknown
    )


def weights(result: Averaged, *, of: str = "agents", top: int = 60) -> Chart:
    """Draw who has weight in the equilibrium, the largest share first.

    Parameters
    ----------
    result
        What `evaluate`, `nash_average` or `nash_average_scores` returned.
    of
        ``"agents"`` or ``"tasks"``.
    top
        Largest number of rows; the others, and all without weight, are folded into one row.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.weights(nb.nash_average_scores(nb.load_dataset("atari")), of="tasks")
    """
    side, top = select_side(result, of), check_top(top)
    order = sorted(range(len(side.names)), key=lambda k: (-side.weights[k], side.ranks[k], side.names[k]))
    weighted = int((side.weights > 0).sum())
    shown, rest = order[: min(top, weighted)], order[min(top, weighted) :]
    rows: list[dict[str, Any]] = [
        {"label": side.names[k], "name": side.names[k], "weight": side.weights[k], "nash": side.nash[k], "tail": False}
        for k in shown
    ]
    if rest:
        left = float(side.weights[rest].sum())
        suffix = "without weight" if left == 0 else "together"
        label = f"{name_rest(len(rest))} {suffix}"
        rows.append({"label": label, "name": label, "weight": left, "tail": True})
    base = alt.Chart(inline(rows))
    x = alt.X("weight:Q", title="weight: share in the equilibrium", axis=alt.Axis(format="%"))
    y = alt.Y("label:N", sort=None, axis=name_axis())
    tips = [text("name", side.kind), number("weight", "weight", ".2%"), number("nash", f"Nash {side.what}")]
    tail = base.transform_filter("datum.tail").mark_bar(style="tail", height=12).encode(x=x, y=y, tooltip=tips)
    layers = [
        fix_rows(base, y),
        base.transform_filter("!datum.tail").mark_bar(style="nash", height=12).encode(x=x, y=y, tooltip=tips),
        *([tail] if rest else []),
        base.mark_text(style="note", align="left", dx=4).encode(
            x=x, y=y, text=alt.Text("weight:Q", format=".1%"), tooltip=tips
        ),
    ]
    title = f"Who counts: {weighted:,} of {number_of(len(side.names), side.kind)} have weight"
    if weighted == 1:
        title = title.replace(" have ", " has ")
    if side.kind == "task":
        title = title.replace("Who", "What")
    best = "nobody beats on average" if side.what == "average" else "no other mixture scores better"
    meaning = (
        "The hardest mixture of tasks: it keeps the score of the best agents lowest."
        if side.kind == "task"
        else f"The mixture of agents that {best}; others have no say in the averages of the rest."
    )
    return add_title(
        layer(*layers).properties(width=360, height=alt.Step(ROW)),
        title,
        [meaning],
        f"Bar chart of Nash weights. {title}.",
    )


def averages(result: Averaged, *, of: str = "agents", top: int = 60) -> Chart:
    """Draw skill or difficulty under uniform and under Nash averaging, sorted by Nash.

    Parameters
    ----------
    result
        What `evaluate` returned; of `nash_average` and `nash_average_scores`, which keep no uniform averages, the Nash
        averages are drawn alone.
    of
        ``"agents"`` or ``"tasks"``.
    top
        How many are drawn; the others are folded into one row.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("suite-4"), n_resamples=20)
    >>> chart = nb.charts.averages(result, of="tasks")
    """
    side, top = select_side(result, of), check_top(top)
    both = bool(np.isfinite(side.uniform).all())
    second = side.uniform if both else side.weights
    order = sorted(range(len(side.names)), key=lambda k: (side.ranks[k], -second[k], side.names[k]))
    methods = ["Nash average", "uniform average"]
    rows: list[dict[str, Any]] = []
    for k in order[:top]:
        row = {"label": side.names[k], "name": side.names[k], "rank": side.ranks[k], "weight": side.weights[k],
               "nash": side.nash[k], "uniform": side.uniform[k]}  # fmt: skip
        rows.append(row | {"method": methods[0], "value": side.nash[k]})
        if both:
            rows.append(row | {"method": methods[1], "value": side.uniform[k]})
    rest = order[top:]
    if rest:
        row = {"label": f"{name_rest(len(rest))} (mean)", "name": f"mean of {name_rest(len(rest))[4:]}"}
        for method, values in zip(methods, (side.nash, side.uniform) if both else (side.nash,), strict=False):
            rows.append(row | {"method": method, "value": values[rest].mean()})
    base = alt.Chart(inline(rows))
    tips = [text("name", side.kind), number("nash", f"Nash {side.what}"), number("uniform", f"uniform {side.what}"),
            number("weight", "weight", ".1%"), alt.Tooltip("rank:Q", title="rank by Nash average")]  # fmt: skip
    x = alt.X("value:Q", title=f"{side.what} ({describe_unit(side.unit)})", scale=alt.Scale(zero=False))
    y = alt.Y("label:N", sort=None, axis=name_axis())
    colour = alt.Color("method:N", title=None, scale=alt.Scale(domain=methods[: 1 + both], range="category"),
                       legend=alt.Legend(orient="top"))  # fmt: skip
    layers = [
        base.mark_line(style="tail", strokeWidth=2).encode(x=x, y=y, detail=alt.Detail("label:N")),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            x=x, y=y, color=colour, tooltip=tips,
            shape=alt.Shape("method:N", title=None, scale=alt.Scale(domain=methods[: 1 + both],
                            range=["circle", "diamond"][: 1 + both])),
        ),
    ]  # fmt: skip
    what = {"skill": "Skill", "difficulty": "Difficulty"}.get(side.what, "Average payoff")
    title = f"{what} of {side.kind}s under uniform and Nash averaging" if both else f"{what} of {side.kind}s by Nash"
    note = "Sorted by Nash average; agents that tie there are in the order of the uniform average." if both else (
        "Sorted by Nash average. This result keeps no uniform averages: evaluate() does."
    )  # fmt: skip
    return add_title(
        layer(*layers).properties(width=420, height=alt.Step(ROW)),
        title,
        [note.replace("agents", f"{side.kind}s")],
        f"Dot plot: {title.lower()}, {number_of(len(side.names), side.kind)}.",
    )


KINDS = {"gain": "nash", "loss": "other", "rest": "tail", "gap": "plain"}  # the style of their bars


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
    what, best = ("opponent", "the best") if evaluation.task_board is None else ("task", "the best mixture of agents")
    shown = evaluation.contributions[agent][: check_top(top)]
    gap = -float(board.gaps[board.names.index(agent)]) + 0.0
    count = count_terms(evaluation)
    rows = contribution_rows(shown, gap, count)
    base = alt.Chart(inline(rows))
    x = alt.X("term:Q", title=f"gain or loss ({describe_unit(evaluation.board.unit)})",
              axis=alt.Axis(tickCount=6))  # fmt: skip
    y = alt.Y("label:N", sort=None, axis=name_axis())
    tips = [text("name", what), number("weight", "weight", ".1%"), number("result", "result"),
            number("term", "adds"), number("low", "low"), number("high", "high")]  # fmt: skip
    intervals = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(style="interval")
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, tooltip=tips)
    )
    layers = [
        fix_rows(base, y),
        *(
            base.transform_filter(f"datum.kind == '{kind}'").mark_bar(style=style, height=12).encode(
                x=x, y=y, tooltip=tips
            )
            for kind, style in KINDS.items()
            if any(row["kind"] == kind for row in rows)
        ),
        *([intervals] if any(one.low is not None for one in shown) else []),
        alt.Chart(inline([{"at": 0}])).mark_rule(style="zero").encode(x=alt.XDatum(0)),
    ]  # fmt: skip
    title = f"What {shortened(agent, 40)} gains and loses: {f'{gap:.3f}' if gap else '0'} in all"
    lines = [f"Blue bars gain, orange bars lose; they add up to the last. Weight times the difference to {best}."]
    lines.append(describe_whiskers(evaluation, shown, what))
    return add_title(
        layer(*layers).properties(width=380, height=alt.Step(ROW + 2)),
        title,
        lines,
        f"Bar chart of {number_of(count, what)}: what the Nash average of {agent} is made of. {title}.",
    )


def count_terms(evaluation: Evaluation) -> int:
    """Return the number of opponents or tasks with weight; copies count once."""
    board = evaluation.task_board or evaluation.board
    return len(np.unique(board.classes[board.weights > 0]))


def describe_whiskers(evaluation: Evaluation, shown: tuple[Contribution, ...], what: str) -> str:
    """Return a sentence on the meaning of the whiskers, or on why there are none."""
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
