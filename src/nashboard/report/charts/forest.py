"""Forest plots: a number per agent (or task) with its interval, one row each, the best first."""

from typing import Any

import altair as alt
import numpy as np

from nashboard.errors import InputError
from nashboard.evaluation.board import Board
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.intervals import Uncertainty
from nashboard.evaluation.stability import QUESTIONS
from nashboard.ratings.elo_ratings import EloRatings
from nashboard.ratings.melo_ratings import MeloRatings
from nashboard.report.charts.rows import ROW, axis_of_names, checked_top, inline, more, number, plural, text
from nashboard.report.charts.theme import Chart, titled


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
    found = evaluation.answer(evaluation.uncertainty, None)
    return board_chart(evaluation.board, found, checked_top(top))


def tasks(evaluation: Evaluation, *, top: int = 30) -> Chart:
    """Draw the board of tasks, the hardest first, in the same way."""
    if evaluation.task_board is None:
        raise InputError(f"{evaluation.kind} have no tasks: only an evaluation of scores has a board of tasks")
    found = evaluation.answer(evaluation.task_uncertainty, None)
    return board_chart(evaluation.task_board, found, checked_top(top))


def board_chart(board: Board, found: Uncertainty | None, top: int) -> Chart:
    """Return the three panels of a board."""
    rows = board_rows(board, found, top)
    data = inline(rows)
    first = "hardest" if board.kind == "task" else "best"
    second = board.rating_name or "uniform average"
    y = alt.Y("label:N", sort=None, axis=axis_of_names())
    bare = alt.Y("label:N", sort=None, axis=None)
    tips = tooltips(board, found)
    gap = f"Nash average: distance to the {first} ({board.unit})"
    base = alt.Chart(data)
    points = [
        base.transform_filter("datum.folded").mark_rule(style="tail", strokeWidth=5, strokeCap="round").encode(
            x=alt.X("low:Q", title=gap), x2="high:Q", y=y, tooltip=tips
        ),
        base.transform_filter("!datum.folded && isValid(datum.low)").mark_rule(style="interval").encode(
            x=alt.X("low:Q", title=gap), x2="high:Q", y=y, tooltip=tips
        ),
        base.transform_filter("!datum.folded && !datum.held").mark_point(style="plain", filled=True, size=55).encode(
            x=alt.X("gap:Q", title=gap), y=y, tooltip=tips
        ),
        base.transform_filter("!datum.folded && datum.held").mark_point(style="nash", filled=True, size=80).encode(
            x=alt.X("gap:Q", title=gap), y=y, tooltip=tips
        ),
    ]  # fmt: skip
    weights = base.transform_filter("datum.weight > 0").mark_bar(style="nash", height=9).encode(
        x=alt.X("weight:Q", title="weight", axis=alt.Axis(format="%", tickCount=3)), y=bare, tooltip=tips
    )  # fmt: skip
    blank = base.mark_text(text="").encode(y=bare)  # keeps every row, also those without weight
    other = [
        base.transform_filter("!datum.folded && isValid(datum.other_low)").mark_rule(style="interval").encode(
            x="other_low:Q", x2="other_high:Q", y=bare, tooltip=tips
        ),
        base.transform_filter("!datum.folded").mark_point(style="other", filled=True, size=50, shape="diamond").encode(
            x=alt.X("other:Q", title=second + (" (points)" if board.rating_name else ""), scale=alt.Scale(zero=False),
                    axis=alt.Axis(tickCount=4)), y=bare, tooltip=tips
        ),
        base.transform_filter("datum.folded").mark_rule(style="tail", strokeWidth=5, strokeCap="round").encode(
            x="other_low:Q", x2="other_high:Q", y=bare, tooltip=tips
        ),
    ]  # fmt: skip
    height = alt.Step(ROW)
    panels = [
        alt.layer(*points).properties(width=300, height=height),
        alt.layer(blank, weights).properties(width=80, height=height),
        alt.layer(*other).properties(width=150, height=height),
    ]
    held = int((board.weights > 0).sum())
    leaders = board.support
    at_top = f"{leaders[0]} is {first}" if held == 1 else f"{plural(held, board.kind)} tie as {first}"
    said = [
        f"Blue has weight in the equilibrium; grey does not. Equal numbers before the names are exact ties. "
        f"Diamonds: {second}.",
        interval_sentence(found),
    ]
    return titled(
        alt.hconcat(*panels, spacing=14),
        f"{at_top} by Nash average",
        said,
        f"Forest plot of {plural(len(board.names), board.kind)}: {at_top} by Nash average. {said[1]}",
    )


def interval_sentence(found: Uncertainty | None) -> str:
    """Say what the bars are, or why there are none."""
    if found is None:
        return "No bars: the data do not say how noisy they are."
    return f"Bars hold {found.level:.0%} of {found.resamples:,} resamples: {QUESTIONS[found.question]}"


def board_rows(board: Board, found: Uncertainty | None, top: int) -> list[dict[str, Any]]:
    """Return a row per entry, and one for all that are left over."""
    rated = bool(board.rating_name)
    other, ranks = (board.ratings, board.rating_ranks) if rated else (board.uniform, board.uniform_ranks)
    unknown = np.full(len(board.names), np.nan)
    low, high = (unknown, unknown) if found is None else (found.gap_low, found.gap_high)
    other_low, other_high = (board.rating_low, board.rating_high) if rated else (unknown, unknown)
    order = board.order
    rows = [
        {
            "label": f"{board.ranks[k]}. {board.names[k]}",
            "name": board.names[k],
            "rank": board.ranks[k],
            "gap": board.gaps[k],
            "average": board.averages[k],
            "low": low[k],
            "high": high[k],
            "weight": board.weights[k],
            "held": bool(board.weights[k] > 0),
            "tie": f"shares rank {board.ranks[k]}" if board.ties[k] else "holds its rank alone",
            "apart": "unknown" if found is None else found.groups[k],
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
                "held": bool(board.weights[rest].sum() > 0),
                "other_low": other[rest].min(),
                "other_high": other[rest].max(),
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
    base = alt.Chart(inline(rows))
    y = alt.Y("label:N", sort=None, axis=axis_of_names())
    tips = [text("name", "agent"), number("rating", "rating", ".0f"), number("low", "low", ".0f"),
            number("high", "high", ".0f"), number("games", "games", ",.0f")]  # fmt: skip
    x = alt.X("low:Q", title=f"{name} rating (points)", scale=alt.Scale(zero=False))
    known = bool(np.isfinite(fit.stderr).any())
    layers = [
        base.transform_filter("datum.folded").mark_rule(style="tail", strokeWidth=5, strokeCap="round").encode(
            x=x, x2="high:Q", y=y, tooltip=tips
        ),
        base.transform_filter("!datum.folded && isValid(datum.low)").mark_rule(style="interval").encode(
            x=x, x2="high:Q", y=y, tooltip=tips
        ),
        base.transform_filter("!datum.folded").mark_point(style="other", filled=True, size=60, shape="diamond").encode(
            x=alt.X("rating:Q", title=f"{name} rating (points)"), y=y, tooltip=tips
        ),
    ]  # fmt: skip
    sure = "Bars are 95% intervals." if known else "No bars: these ratings come without standard errors."
    title = f"{name} puts {fit.agents[order[0]]} first"
    return titled(
        alt.layer(*layers).properties(width=420, height=alt.Step(ROW)),
        title,
        [f"A lead of 400 points wins 10 games for each game lost. {sure}"],
        f"Forest plot of {name} ratings of {plural(len(fit.agents), 'agent')}. {title}.",
    )
