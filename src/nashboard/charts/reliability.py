"""Calibration of predictions: how often agents win, against how often Elo and mElo say that they do."""

import math
from collections.abc import Sequence

import altair as alt

from nashboard.charts.rows import inline, number, text
from nashboard.charts.theme import Chart, titled
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.online.held_out import Calibrations
from nashboard.ratings.held_out import Calibration, calibration_of, held_out_calibration
from nashboard.ratings.rating import Rating

SIZE = 340
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
            x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour, tooltip=tips
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
        alt.layer(*layers).properties(width=SIZE, height=SIZE),
        title,
        [f"On the dashed line, predictions come true. Measured on {unseen}.",
         "Log-loss in nats per game: 0.693 is guessing, lower is better. Bars are 95% intervals."],
        f"Calibration of predicted win rates: {'; '.join(labels)}.",
    )  # fmt: skip
