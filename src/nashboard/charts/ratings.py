"""Ratings: with intervals, over time, and how often their predictions come true."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from nashboard._text import number_of, shortened
from nashboard.charts.boards import forest
from nashboard.charts.rows import (
    ROW,
    axis_of_names,
    checked_kind,
    checked_top,
    inline,
    layered,
    more,
    number,
    text,
)
from nashboard.charts.theme import Chart, titled
from nashboard.data.matches import Matches
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.online.held_out import Calibrations
from nashboard.online.models import RatingHistory
from nashboard.ratings.held_out import Calibration, calibration_of, held_out_calibration
from nashboard.ratings.rating import Rating


def ratings(fit: Rating, *, top: int = 30) -> Chart:
    """Draw ratings with their 95% intervals, the best first.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.ratings(nb.elo(nb.load_dataset("alphago")))
    """
    checked_kind(fit, Rating, "ratings", "elo or melo returned")
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
    name = fit.label
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
        f"Forest plot of {name} ratings of {number_of(len(fit.agents), 'agent')}. {title}.",
    )


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
    chart = layered(
        base.mark_area(opacity=0.12, line=False).encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.6).encode(y=alt.Y("rating:Q", title=title), tooltip=tips),
    ).properties(width=480, height=280)
    headline = f"Ratings of {number_of(len(names), 'agent')} over {number_of(found.game.size // 2, 'game')}"
    said = ["A newcomer starts at 0. Bands are 95% intervals."]
    return titled(chart, headline, said, f"Line chart. {headline}.")


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
        What was played; or what `nashboard.calibration` measured, which is drawn as it is.
    ratings
        Ratings to check against the matches. Without them Elo and mElo are fitted to four fifths of the games at a
        time and predict the fifth that was held out.
    planes
        Which models are fitted: 0 planes is Elo.
    bins
        How many points a curve has; each stands for equally many games.
    rng
        A seed: which games are held out.

    Examples
    --------
    >>> import nashboard as nb
    >>> cycle = nb.Matches.from_counts([[0, 90, 10], [10, 0, 90], [90, 10, 0]])
    >>> chart = nb.charts.calibration(cycle)
    """
    if isinstance(matches, Calibrations):
        return drawn(matches.models)
    if not isinstance(matches, Matches):
        raise InputError(f"calibration needs matches, not {type(matches).__name__}: predictions are of games")
    if ratings is None:
        found = [held_out_calibration(matches, k, bins=bins, rng=rng) for k in planes]
    else:
        given = [ratings] if isinstance(ratings, Rating) else list(ratings)
        found = [calibration_of(fit, matches, bins=bins) for fit in given]
    if not found:
        raise InputError("there is no model to draw: give planes, such as (0, 1), or ratings")
    return drawn(found)


def nobody(found: Sequence[Calibration]) -> str:
    """Say that no model predicts, however many there are."""
    if len(found) == 1:
        return f"{found[0].model} does not predict"
    return "Neither model predicts" if len(found) == 2 else "No model predicts"


def drawn(found: Sequence[Calibration]) -> Chart:
    """Return the curves of several models."""
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
                       legend=alt.Legend(orient="bottom", direction="vertical"))  # fmt: skip
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
        title = f"{nobody(found)} better than guessing"
    unseen = "games held out of the fit" if best.held_out else "these games, which the fit may have seen"
    return titled(
        layered(*layers).properties(width=CALIBRATION_SIZE, height=CALIBRATION_SIZE),
        title,
        [f"On the dashed line, predictions come true. Measured on {unseen}.",
         "Log-loss in nats per game: 0.693 is guessing, lower is better. Bars are 95% intervals."],
        f"Calibration of predicted win rates: {'; '.join(labels)}.",
    )  # fmt: skip
