"""Forest plots: a number per agent (or task) with its interval, one row each, the best first."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from nashboard._text import shortened
from nashboard._types import Floats
from nashboard.charts.rows import (
    ROW,
    axis_of_names,
    checked_kind,
    checked_top,
    every_row,
    inline,
    more,
    number,
    plural,
    text,
    unit_words,
)
from nashboard.charts.theme import Chart, titled
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.intervals import Uncertainty
from nashboard.evaluation.stability import QUESTIONS
from nashboard.ratings.elo import EloRatings
from nashboard.ratings.melo import MeloRatings


def leaderboard(evaluation: Evaluation, *, top: int = 30) -> Chart:
    """Draw the leaderboard: Nash average with its interval, weight, and the rating or the uniform average beside it.

    Parameters
    ----------
    evaluation
        What `evaluate` returned.
    top
        How many agents are drawn; the others are folded into one last row.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=20)
    >>> chart = nb.charts.leaderboard(result)
    """
    checked_kind(evaluation, Evaluation, "leaderboard", "evaluate returned")
    found = evaluation.answer(evaluation.uncertainty, None)
    return board_chart(evaluation.board, found, checked_top(top))


def tasks(evaluation: Evaluation, *, top: int = 30) -> Chart:
    """Draw the board of tasks, the hardest first, in the same way."""
    checked_kind(evaluation, Evaluation, "tasks", "evaluate returned")
    if evaluation.task_board is None:
        raise InputError(f"{evaluation.kind} have no tasks: only an evaluation of scores has a board of tasks")
    found = evaluation.answer(evaluation.task_uncertainty, None)
    return board_chart(evaluation.task_board, found, checked_top(top))


def board_chart(board: Board, found: Uncertainty | None, top: int) -> Chart:
    """Return the panels of a board: averages, weights, groups that cannot be told apart, and the other order."""
    rows = board_rows(board, found, top)
    base, tips = alt.Chart(inline(rows)), tooltips(board, found)
    first = "hardest" if board.kind == "task" else "best"
    second = board.rating_name or "uniform average"
    names = [f"{len(board.names)}. {row['name']}" for row in rows]  # their ranks differ, but do not tell them apart
    named, bare = (alt.Y("label:N", sort=None, axis=axis) for axis in (axis_of_names(names=names), None))
    gap = [f"distance to the {first} by Nash average", f"({unit_words(board.unit)})"]
    nash = sorted({row["style"] for row in rows if not row["folded"]}, reverse=True)
    panels = [
        forest(base, rows, ("gap", "low", "high"), gap, nash, named, tips).properties(width=300),
        alt.layer(
            every_row(base, bare),
            base.transform_filter("datum.weight > 0")
            .mark_bar(style="nash", height=9)
            .encode(x=alt.X("weight:Q", title="weight", axis=alt.Axis(format="%", tickCount=2)), y=bare, tooltip=tips),
        ).properties(width=70),
    ]
    told = found is not None and any(group != "–" for group in found.groups)  # tasks of other suites have no groups
    if told:
        groups = base.mark_text(style="note").encode(
            x=alt.datum(0, type="quantitative", scale=alt.Scale(domain=[-1, 1]), axis=GROUP),
            y=bare,
            text="apart:N",
            tooltip=tips,
        )
        panels.append(alt.layer(every_row(base, bare), groups).properties(width=44))
    unit = f"{second} (points)" if board.rating_name else second
    fields = ("other", "other_low", "other_high")
    panels.append(forest(base, rows, fields, [unit], ["other"], bare, tips).properties(width=150))
    top_names = board.top
    at_top = (
        f"{shortened(top_names[0], 40)} is {first}"
        if len(top_names) == 1
        else f"{plural(len(top_names), board.kind)} tie as {first}"
    )
    said = ["Blue has weight in the equilibrium, grey has none. Equal numbers before the names are exact ties."]
    if told:
        said.append("Those that share a group cannot be told apart.")
    said.append(interval_sentence(found))
    return titled(
        alt.hconcat(*(panel.properties(height=alt.Step(ROW)) for panel in panels), spacing=12),
        f"{at_top} by Nash average",
        said,
        f"Forest plot of {plural(len(board.names), board.kind)}: {at_top} by Nash average. {said[-1]}",
    )


def forest(
    base: alt.Chart,
    rows: list[dict[str, Any]],
    fields: tuple[str, str, str],
    title: list[str],
    styles: Sequence[str],
    y: alt.Y,
    tips: list[alt.Tooltip],
) -> Any:
    """Return points with intervals, a row each, and the range of the row that is folded."""
    value, low, high = fields
    scale = alt.Scale(domain=extent(rows, fields), nice=True, zero=False)
    axis = alt.Axis(title=title, tickCount=5)
    bar = alt.X(f"{low}:Q", scale=scale, axis=axis)
    layers = [every_row(base, y)]
    if any(row["folded"] for row in rows):
        folded = base.transform_filter("datum.folded").mark_rule(style="tail", strokeWidth=5, clip=True)
        layers.append(folded.encode(x=bar, x2=f"{high}:Q", y=y, tooltip=tips))
    if any(np.isfinite(row[low]) for row in rows if not row["folded"]):
        known = base.transform_filter(f"!datum.folded && isValid(datum.{low})").mark_rule(style="interval")
        layers.append(known.encode(x=bar, x2=f"{high}:Q", y=y, tooltip=tips))
    for style in styles:
        points = alone(base, rows) if len(styles) == 1 else base.transform_filter(f"datum.style == '{style}'")
        mark = points.mark_point(style=style, filled=True, size=SIZES[style], opacity=1, shape=SHAPES[style])
        layers.append(mark.encode(x=alt.X(f"{value}:Q", scale=scale, axis=axis), y=y, tooltip=tips))
    return alt.layer(*layers)


def alone(base: alt.Chart, rows: list[dict[str, Any]]) -> Any:
    """Return the rows that are drawn one by one."""
    return base.transform_filter("!datum.folded") if any(row["folded"] for row in rows) else base


GROUP = alt.Axis(title="group", labels=False, ticks=False, grid=False, domain=False)
SIZES = {"nash": 65, "plain": 45, "other": 65}
SHAPES = {"nash": "circle", "plain": "circle", "other": "diamond"}


def extent(rows: list[dict[str, Any]], fields: tuple[str, ...]) -> list[float]:
    """Return the range of the rows that are drawn one by one: the folded ones must not squeeze them."""
    values = np.array([row.get(field, np.nan) for row in rows if not row["folded"] for field in fields], dtype=float)
    return [float(f"{end:.9g}") + 0.0 for end in (np.nanmin(values), np.nanmax(values))]


def interval_sentence(found: Uncertainty | None) -> str:
    """Say what the bars are, or why there are none."""
    if found is None:
        return "No bars: the data do not say how noisy they are."
    return f"Bars hold {found.level:.0%} of {found.resamples:,} resamples: {QUESTIONS[found.question]}"


def without_dust(values: Floats) -> Floats:
    """Return values with rounding errors as exact zeros: alone on an axis they would stretch over all of it."""
    return np.where(np.abs(values) < 1e-9, 0.0, values)


def board_rows(board: Board, found: Uncertainty | None, top: int) -> list[dict[str, Any]]:
    """Return a row per entry, and one for all that are left over."""
    rated = bool(board.rating_name)
    other, ranks = (board.ratings, board.rating_ranks) if rated else (board.uniform, board.uniform_ranks)
    unknown = np.full(len(board.names), np.nan)
    low, high = (unknown, unknown) if found is None else (without_dust(found.gap_low), without_dust(found.gap_high))
    other_low, other_high = (board.rating_low, board.rating_high) if rated else (unknown, unknown)
    order, gaps = board.order, without_dust(board.gaps)
    rows = [
        {
            "label": f"{board.ranks[k]}. {board.names[k]}",
            "name": board.names[k],
            "rank": board.ranks[k],
            "gap": gaps[k],
            "average": board.averages[k],
            "low": low[k],
            "high": high[k],
            "weight": board.weights[k],
            "style": "nash" if board.weights[k] > 0 else "plain",
            "tie": f"shares rank {board.ranks[k]}" if board.ties[k] else "holds its rank alone",
            "apart": "unknown" if found is None else found.groups[k],
            "often": np.nan if found is None else found.support[k],
            "other": other[k],
            "other_low": other_low[k],
            "other_high": other_high[k],
            "other_rank": ranks[k],
            "folded": False,
        }
        for k in order[:top]
    ]
    rest = order[top:]
    if len(rest):
        rows.append(
            {
                "label": more(len(rest)),
                "name": f"{more(len(rest))}, from the lowest to the highest",
                "low": board.gaps[rest].min(),
                "high": board.gaps[rest].max(),
                "weight": board.weights[rest].sum(),
                "other_low": other[rest].min(),
                "other_high": other[rest].max(),
                "apart": "",
                "folded": True,
            }
        )
    return rows


def tooltips(board: Board, found: Uncertainty | None) -> list[alt.Tooltip]:
    """Return everything a row knows."""
    second = board.second_name
    tips = [
        text("name", board.kind),
        alt.Tooltip("rank:Q", title="rank"),
        text("tie", "tie"),
        number("average", f"Nash {board.average_name}"),
        number("gap", "distance to the first"),
    ]
    if found is not None:
        tips += [number("low", "low"), number("high", "high"), text("apart", "group not told apart")]
        tips.append(number("often", "has weight in so many resamples", ".0%"))
    form = ".0f" if board.rating_name else ".3f"
    return [
        *tips,
        number("weight", "weight", ".1%"),
        number("other", second, form),
        alt.Tooltip("other_rank:Q", title=f"rank by {second}"),
    ]


def ratings(fit: EloRatings | MeloRatings, *, top: int = 30) -> Chart:
    """Draw ratings with their 95% intervals, the best first.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.ratings(nb.elo(nb.load_dataset("alphago")))
    """
    checked_kind(fit, EloRatings | MeloRatings, "ratings", "elo or melo returned")
    top = checked_top(top)
    low, high = fit.interval
    order = np.argsort(-fit.ratings, kind="stable")
    rows: list[dict[str, Any]] = [
        {"label": fit.agents[k], "name": fit.agents[k], "rating": fit.ratings[k], "low": low[k], "high": high[k],
         "games": fit.games[k], "folded": False}
        for k in order[:top]
    ]  # fmt: skip
    rest = order[top:]
    if len(rest):
        rows.append(
            {"label": more(len(rest)), "name": f"{more(len(rest))}, from the lowest to the highest",
             "low": fit.ratings[rest].min(), "high": fit.ratings[rest].max(), "folded": True}
        )  # fmt: skip
    name = "Elo" if isinstance(fit, EloRatings) else "mElo"
    tips = [
        text("name", "agent"),
        *(number(field, field, ".0f") for field in ("rating", "low", "high")),
        number("games", "games", ",.0f"),
    ]
    y = alt.Y("label:N", sort=None, axis=axis_of_names(names=[row["name"] for row in rows]))
    base, fields = alt.Chart(inline(rows)), ("rating", "low", "high")
    chart = forest(base, rows, fields, [f"{name} rating (points)"], ["other"], y, tips)
    known = bool(np.isfinite(fit.stderr).any())
    sure = "Bars are 95% intervals." if known else "No bars: these ratings come without standard errors."
    title = f"{name} puts {shortened(fit.agents[order[0]], 40)} first"
    return titled(
        chart.properties(width=420, height=alt.Step(ROW)),
        title,
        [f"A lead of 400 points wins 10 games for each game lost. {sure}"],
        f"Forest plot of {name} ratings of {plural(len(fit.agents), 'agent')}. {title}.",
    )
