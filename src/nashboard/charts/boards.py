"""Numbers with intervals, a row per agent or task: boards, ratings, both over time, and how ratings predict."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from nashboard._text import number_of, shortened
from nashboard._types import Floats
from nashboard.charts.theme import (
    ROW,
    Chart,
    add_title,
    check_kind,
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
from nashboard.data.matches import Matches
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.headline import LIKELY, SURE, describe_first
from nashboard.evaluation.decide.changes import History
from nashboard.evaluation.evaluation import Evaluation
from nashboard.online.held_out import Calibrations
from nashboard.online.models import RatingHistory
from nashboard.ratings.held_out import Calibration, calibration_of, held_out_calibration
from nashboard.ratings.rating import Rating


def leaderboard(evaluation: Evaluation, *, top: int = 30) -> Chart:
    """Draw the leaderboard: gaps with intervals, P(top), and the rating or the plain mean beside them.

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
    check_kind(evaluation, Evaluation, "leaderboard", "evaluate returned")
    return draw_board(evaluation.board, check_top(top))


def tasks(evaluation: Evaluation, *, top: int = 30) -> Chart:
    """Draw the board of tasks, the hardest first, in the same way."""
    check_kind(evaluation, Evaluation, "tasks", "evaluate returned")
    return draw_board(evaluation.required_tasks(), check_top(top))


def draw_board(board: Board, top: int) -> Chart:
    """Draw the panels of a board: gaps, probabilities of being at the top (or weights), and the other order."""
    rows = board_rows(board, top)
    base, tips = alt.Chart(inline(rows)), tooltips(board)
    first = "hardest" if board.kind == "task" else "best"
    names = [f"{len(board.names)}. {row['name']}" for row in rows]  # as wide as labels, without the different ranks
    named, bare = (alt.Y("label:N", sort=None, axis=axis) for axis in (name_axis(names=names), None))
    gap = [f"distance to the {first}", "by Nash average", f"({describe_unit(board.unit)})"]
    nash = sorted({row["style"] for row in rows if not row["folded"]}, reverse=True)
    bars, title = ("weight", "weight") if board.exact else ("top", chance_name(board))
    length = alt.Undefined if board.exact else alt.Scale(domain=[0, 1])  # a probability of 0.7 is no full bar
    ends = alt.Axis(format="%", **({"tickCount": 2} if board.exact else {"values": [0, 0.5, 1]}))
    panels = [
        draw_forest(base, rows, ("gap", "low", "high"), gap, nash, named, tips).properties(width=350),
        layer(
            fix_rows(base, bare),
            base.transform_filter(f"datum.{bars} > 0")
            .mark_bar(style="nash", height=9)
            .encode(x=alt.X(f"{bars}:Q", title=title, scale=length, axis=ends), y=bare, tooltip=tips),
        ).properties(width=120),
    ]
    _, unit = second_name(board)
    fields = ("other", "other_low", "other_high")
    panels.append(draw_forest(base, rows, fields, [unit], ["other"], bare, tips).properties(width=210))
    at_top = describe_top(board)
    what = "are at the top" if board.kind == "agent" else "decide who is at the top"
    note = f"Blue points {what} with a probability of at least 1/2."
    lines = [note, describe_intervals(board)]
    return add_title(
        alt.hconcat(*(panel.properties(height=alt.Step(ROW)) for panel in panels), spacing=12),
        at_top,
        lines,
        f"Forest plot of {number_of(len(board.names), board.kind)}: {at_top}. {lines[-1]}",
    )


def describe_top(board: Board) -> str:
    """Return who is first by the rule of the verdict, or which tasks are hardest; copies are one."""
    if board.kind == "agent":
        return describe_first(board)
    at = [k for k in board.order if board.probability_top[k] >= LIKELY]
    classes = len(set(board.classes[at].tolist()))
    if not at:
        return "No task is hardest with a probability of at least 1/2"
    sure = "" if board.probability_top[at].min() >= SURE else "probably "
    named = f"{shortened(board.names[at[0]], 40)} is" if classes == 1 else f"{classes:,} tasks are"
    return f"{named} {sure}hardest"


def chance_name(board: Board) -> str:
    """Return the heading of the probabilities."""
    return "P(top)" if board.kind == "agent" else "P(decides)"


def second_name(board: Board) -> tuple[str, str]:
    """Return the name of the other order, without and with its unit."""
    other = board.rating
    if other is None:
        return "uniform average", "uniform average"
    return other.name, f"{other.name} (points)" if other.name == "Elo" else other.name


def draw_forest(
    base: alt.Chart,
    rows: list[dict[str, Any]],
    fields: tuple[str, str, str],
    title: list[str],
    styles: Sequence[str],
    y: alt.Y,
    tips: list[alt.Tooltip],
) -> Any:
    """Draw points with intervals, one per row, and the range of the folded row."""
    value, low, high = fields
    scale = alt.Scale(domain=find_extent(rows, fields), nice=True, zero=False)
    axis = alt.Axis(title=title, tickCount=5, labelSeparation=8)
    bar = alt.X(f"{low}:Q", scale=scale, axis=axis)
    layers = [fix_rows(base, y)]
    if any(row["folded"] for row in rows):
        folded = base.transform_filter("datum.folded").mark_rule(style="tail", strokeWidth=5, clip=True)
        layers.append(folded.encode(x=bar, x2=alt.X2(f"{high}:Q"), y=y, tooltip=tips))
    if any(np.isfinite(row[low]) for row in rows if not row["folded"]):
        known = base.transform_filter(f"!datum.folded && isValid(datum.{low})").mark_rule(style="interval")
        layers.append(known.encode(x=bar, x2=alt.X2(f"{high}:Q"), y=y, tooltip=tips))
    for style in styles:
        points = drop_folded(base, rows) if len(styles) == 1 else base.transform_filter(f"datum.style == '{style}'")
        mark = points.mark_point(style=style, filled=True, size=SIZES[style], opacity=1, shape=SHAPES[style])
        layers.append(mark.encode(x=alt.X(f"{value}:Q", scale=scale, axis=axis), y=y, tooltip=tips))
    return layer(*layers)


def drop_folded(base: alt.Chart, rows: list[dict[str, Any]]) -> Any:
    """Return the chart without the folded row."""
    return base.transform_filter("!datum.folded") if any(row["folded"] for row in rows) else base


SIZES = {"nash": 65, "plain": 45, "other": 65}
SHAPES = {"nash": "circle", "plain": "circle", "other": "diamond"}


def find_extent(rows: list[dict[str, Any]], fields: tuple[str, ...]) -> list[float]:
    """Return the range of the values without the folded row, which would compress the others."""
    values = np.array([row.get(field, np.nan) for row in rows if not row["folded"] for field in fields], dtype=float)
    return [float(f"{end:.9g}") + 0.0 for end in (np.nanmin(values), np.nanmax(values))]


def describe_intervals(board: Board) -> str:
    """Return a sentence on the meaning of the bars, or on why there are none."""
    if board.exact:
        return "No bars: the data are taken as exact."
    return f"Bars contain {board.level:.0%} of {board.draws:,} draws of the posterior."


def round_dust(values: Floats) -> Floats:
    """Return values with rounding errors replaced by zeros: alone on an axis they would fill all of it."""
    return np.where(np.abs(values) < 1e-9, 0.0, values)


def board_rows(board: Board, top: int) -> list[dict[str, Any]]:
    """Return a row per entry, and one for all further entries."""
    second, unknown = board.rating, np.full(len(board.names), np.nan)
    other, other_ranks = (board.uniform, board.uniform_ranks) if second is None else (second.values, second.rank_low)
    other_low, other_high = (unknown, unknown) if second is None or board.exact else (second.low, second.high)
    low, high = (unknown, unknown) if board.exact else map(round_dust, (board.gap_low, board.gap_high))
    order, gaps = board.order, round_dust(board.gaps)
    rows = [
        {
            "label": f"{board.ranks[k]}. {board.names[k]}",
            "name": board.names[k],
            "rank": board.ranks[k],
            "ranks": f"{board.rank_low[k]}-{board.rank_high[k]}",
            "gap": gaps[k],
            "low": low[k],
            "high": high[k],
            "weight": board.weights[k],
            "top": board.probability_top[k],
            "style": "nash" if board.probability_top[k] >= 0.5 else "plain",
            "other": other[k],
            "other_low": other_low[k],
            "other_high": other_high[k],
            "other_rank": other_ranks[k],
            "folded": False,
        }
        for k in order[:top]
    ]
    rest = order[top:]
    if len(rest):
        rows.append(
            {
                "label": name_rest(len(rest)),
                "name": f"{name_rest(len(rest))}, from the lowest to the highest",
                "low": board.gaps[rest].min(),
                "high": board.gaps[rest].max(),
                "weight": board.weights[rest].sum(),
                "top": board.probability_top[rest].max(),
                "other_low": other[rest].min(),
                "other_high": other[rest].max(),
                "folded": True,
            }
        )
    return rows


def tooltips(board: Board) -> list[alt.Tooltip]:
    """Return the tooltips of a row of a board."""
    name, _ = second_name(board)
    tips = [text("name", board.kind), alt.Tooltip("rank:Q", title="place"), number("gap", "distance to the first")]
    if not board.exact:
        tips += [number("low", "low"), number("high", "high"), text("ranks", "ranks")]
        tips.append(number("top", chance_name(board), ".0%"))
    form = ".0f" if name == "Elo" else ".3f"
    return [
        *tips,
        number("weight", "weight", ".1%"),
        number("other", name, form),
        alt.Tooltip("other_rank:Q", title=f"rank by {name}"),
    ]


def history(found: History, *, top: int = 6) -> Chart:
    """Draw the gaps of the best agents over a series of evaluations, with intervals.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"), n_resamples=20)
    >>> chart = nb.charts.history(nb.history([result, result]))
    """
    check_kind(found, History, "history", "history returned")
    shown = found.agents[: check_top(top)]
    rows = [
        {"agent": name, "when": label, "gap": -found.gap[k, t], "low": -found.high[k, t], "high": -found.low[k, t]}
        for k, name in enumerate(shown)
        for t, label in enumerate(found.labels)
        if np.isfinite(found.gap[k, t])
    ]
    x = alt.X("when:N", sort=list(found.labels), title=None, axis=alt.Axis(labelAngle=0))
    color = alt.Color("agent:N", sort=list(shown), title=None, legend=alt.Legend(orient="bottom", columns=2))
    tips = [text("agent", "agent"), text("when", "evaluation"), number("gap", "distance to the best", ".2f")]
    side = alt.XOffset("agent:N", sort=list(shown))  # intervals beside each other
    base = alt.Chart(inline(rows)).encode(x=x, xOffset=side, color=color)
    title = f"minus the gap to the best ({found.unit})"
    chart = layer(
        base.mark_rule(opacity=0.5, strokeWidth=3).encode(
            y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), tooltip=tips
        ),
        base.mark_line(point=True).encode(y=alt.Y("gap:Q", title=title), tooltip=tips),
    ).properties(width=max(260, 90 * len(found.labels)), height=260)
    headline = f"{number_of(len(shown), 'agent')} in {number_of(len(found.labels), 'evaluation')}"
    lines = ["0 is the best of its evaluation. Bars: intervals of the posterior."]
    return add_title(chart, headline, lines, f"Line chart. {headline}.")


def ratings(fit: Rating, *, top: int = 30) -> Chart:
    """Draw ratings with their 95% intervals, the best first.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.ratings(nb.elo(nb.load_dataset("alphago")))
    """
    check_kind(fit, Rating, "ratings", "elo or melo returned")
    top = check_top(top)
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
            {"label": name_rest(len(rest)), "name": f"{name_rest(len(rest))}, from the lowest to the highest",
             "low": fit.ratings[rest].min(), "high": fit.ratings[rest].max(), "folded": True}
        )  # fmt: skip
    name = fit.label
    tips = [
        text("name", "agent"),
        *(number(field, field, ".0f") for field in ("rating", "low", "high")),
        number("games", "games", ",.0f"),
    ]
    y = alt.Y("label:N", sort=None, axis=name_axis(names=[row["name"] for row in rows]))
    base, fields = alt.Chart(inline(rows)), ("rating", "low", "high")
    chart = draw_forest(base, rows, fields, [f"{name} rating (points)"], ["other"], y, tips)
    known = bool(np.isfinite(fit.stderr).any())
    sure = "Bars are 95% intervals." if known else "No bars: these ratings come without standard errors."
    title = f"{name} puts {shortened(fit.agents[order[0]], 40)} first"
    return add_title(
        chart.properties(width=420, height=alt.Step(ROW)),
        title,
        [f"A lead of 400 points wins 10 games for each game lost. {sure}"],
        f"Forest plot of {name} ratings of {number_of(len(fit.agents), 'agent')}. {title}.",
    )


POINTS = 300  # of a line: more are not visible


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
    check_kind(found, RatingHistory, "rating_history", "history of an online model returned")
    last = dict(zip(found.agent.tolist(), found.rating.tolist(), strict=True))
    best = sorted(last, key=lambda k: -last[k])[: check_top(top)]
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
    color = alt.Color("agent:N", sort=names, title=None, legend=alt.Legend(orient="bottom", columns=2, symbolOpacity=1))
    tips = [text("agent", "agent"), number("game", "game", ",.0f"), number("rating", "rating", ".0f"),
            number("low", "low", ".0f"), number("high", "high", ".0f")]  # fmt: skip
    base = alt.Chart(inline(rows)).encode(x=x, color=color)
    title = "rating (Elo points)"
    chart = layer(
        base.mark_area(opacity=0.12, line=False).encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.6).encode(y=alt.Y("rating:Q", title=title), tooltip=tips),
    ).properties(width=480, height=280)
    headline = f"Ratings of {number_of(len(names), 'agent')} over {number_of(found.game.size // 2, 'game')}"
    lines = ["A newcomer starts at 0. Bands are 95% intervals."]
    return add_title(chart, headline, lines, f"Line chart. {headline}.")


CALIBRATION_SIZE = 340
GUESSING = math.log(2)  # nats per game


def calibration(
    matches: Matches | Calibrations,
    *,
    ratings: Rating | Sequence[Rating] | None = None,
    planes: Sequence[int] = (0, 1),
    bins: int = 10,
    rng: int = 0,
) -> Chart:
    """Draw predicted against observed win rates, with the log-loss of each model.

    Parameters
    ----------
    matches
        Results of games, or the result of `nashboard.calibration`.
    ratings
        Ratings to check against the matches. Without them Elo and mElo are fitted to four fifths of the games at a
        time and predict the fifth that was held out.
    planes
        Which models are fitted: 0 planes is Elo.
    bins
        Number of points of a curve; each is the mean of the same number of games.
    rng
        A seed: which games are held out.

    Examples
    --------
    >>> import nashboard as nb
    >>> cycle = nb.Matches.from_counts([[0, 90, 10], [10, 0, 90], [90, 10, 0]])
    >>> chart = nb.charts.calibration(cycle)
    """
    if isinstance(matches, Calibrations):
        return draw_calibration(matches.models)
    if not isinstance(matches, Matches):
        raise InputError(f"calibration needs matches, not {type(matches).__name__}: predictions are of games")
    if ratings is None:
        measured = [held_out_calibration(matches, k, bins=bins, rng=rng) for k in planes]
    else:
        given = [ratings] if isinstance(ratings, Rating) else list(ratings)
        measured = [calibration_of(fit, matches, bins=bins) for fit in given]
    if not measured:
        raise InputError("there is no model to draw: give planes, such as (0, 1), or ratings")
    return draw_calibration(measured)


def describe_failure(found: Sequence[Calibration]) -> str:
    """Return the beginning of the sentence that no model is better than guessing."""
    if len(found) == 1:
        return f"{found[0].model} does not predict"
    return "Neither model predicts" if len(found) == 2 else "No model predicts"


def draw_calibration(found: Sequence[Calibration]) -> Chart:
    """Draw the calibration curves of several models."""
    labels = [f"{one.model}: log-loss {one.log_loss:.3f}" for one in found]
    rows = [
        {"model": label, "predicted": b.predicted, "observed": b.observed, "low": b.low, "high": b.high,
         "games": b.games}
        for one, label in zip(found, labels, strict=True)
        for b in one.bins
    ]  # fmt: skip
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("predicted:Q", scale=scale, title="predicted win rate", axis=alt.Axis(format="%"))
    y = alt.Y("observed:Q", scale=scale, title="observed win rate", axis=alt.Axis(format="%"))
    colour = alt.Color("model:N", title=None, scale=alt.Scale(domain=labels, range="category"),
                       legend=alt.Legend(orient="bottom", direction="vertical", columns=1))  # fmt: skip
    tips = [text("model", "model"), number("predicted", "predicted", ".1%"), number("observed", "observed", ".1%"),
            number("low", "low", ".1%"), number("high", "high", ".1%"), number("games", "games", ",.1f")]  # fmt: skip
    base = alt.Chart(inline(rows))
    perfect = alt.Chart(inline([{"at": 0.0}, {"at": 1.0}]))
    layers = [
        perfect.mark_line(style="zero").encode(x=alt.X("at:Q", scale=scale), y=alt.Y("at:Q", scale=scale)),
        base.mark_rule(strokeWidth=1.4, opacity=0.6).encode(
            x=x, y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q"), color=colour, tooltip=tips
        ),
        base.mark_line(strokeWidth=1.6, opacity=0.8).encode(x=x, y=y, color=colour),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            x=x, y=y, color=colour, tooltip=tips,
            shape=alt.Shape("model:N", title=None, scale=alt.Scale(domain=labels)),
        ),
    ]  # fmt: skip
    best = min(found, key=lambda one: one.log_loss)
    title = f"{best.model} predicts best" if len(found) > 1 else f"How well {best.model} predicts"
    if best.log_loss >= GUESSING:
        title = f"{describe_failure(found)} better than guessing"
    unseen = "games held out of the fit" if best.held_out else "these games, which the fit may have seen"
    return add_title(
        layer(*layers).properties(width=CALIBRATION_SIZE, height=CALIBRATION_SIZE),
        title,
        [f"On the dashed line, predictions come true. Measured on {unseen}.",
         "Log-loss in nats per game: 0.693 is guessing, lower is better. Bars are 95% intervals."],
        f"Calibration of predicted win rates: {'; '.join(labels)}.",
    )  # fmt: skip
