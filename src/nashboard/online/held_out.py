"""How well ratings predict later games: a log is cut into periods, and each is predicted from those before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from nashboard._display import Drawn
from nashboard._tables import Column, Table, title_of
from nashboard._types import Bools, Floats
from nashboard.data.games import Games
from nashboard.data.matches import Matches
from nashboard.data.read import read_games, read_matches
from nashboard.errors import InputError, check_choice
from nashboard.online.league import League
from nashboard.ratings.held_out import (
    Calibration,
    held_out_calibration,
    measured,
    model_name,
    predicted_leads,
    quick_fit,
)
from nashboard.ratings.likelihood import win_rates
from nashboard.ratings.rating import RATINGS

By = Literal["random", "time", "order"]
USUAL = ("elo", "melo")
ONLINE = {"online elo": 0, "online melo": 1}
PERIODS, LEARNED = 10, 2  # the first two are only learned from
MANY = 0.1  # share of games with newcomers that a note tells of
SURELY = 4.0  # standard errors by which online models must predict better for a note


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Calibrations(Drawn):
    """How well several models predict the same held-out games, the best first."""

    # one `Calibration` each: log-loss on held-out games, and bins of predicted against observed win rates
    models: tuple[Calibration, ...]
    by: str  # how games were held out: ``"random"``, ``"time"`` or ``"order"``
    games: float  # how many games were predicted, or their total weight
    newcomers: float = 0.0  # the share of them with an agent that no earlier period knew
    change: float = 0.0  # by how much Elo (or mElo) loses less per game online than fitted, in nats; 0 unless surely

    @property
    def best(self) -> Calibration:
        """The model with the lowest log-loss."""
        return self.models[0]

    def table(self) -> Table:
        """Return a row per model."""
        notes = []
        if self.newcomers > MANY:
            notes.append(
                f"In {self.newcomers:.0%} of these games an agent is new since the last fit, so fitted models "
                "predict it as average. If agents join or change, use online models, which learn from each game."
            )
        if self.change:
            notes.append(
                f"Ratings lose {self.change:.3f} less per game online than fitted, more than chance explains: "
                "agents join or change, and ratings fitted to all games are averages over time."
            )
        return Table.of(
            self.models,
            Column("model"),
            Column("log-loss", "mean loss per held-out game in nats; 0.693 is guessing", decimals=4, cell="log_loss"),
            Column("error", "mean distance of observed from predicted win rates"),
            title=title_of(self),
            notes=notes,
        )

    def __repr__(self) -> str:
        return f"Calibrations({len(self.models)} models by {self.by}, best {self.best.model} {self.best.log_loss:.4f})"


def calibration(
    data: Matches | Games | Any, *, by: By = "random", models: Sequence[str] | None = None, bins: int = 10, rng: int = 0
) -> Calibrations:
    """Measure how well ratings predict games that they have not seen.

    Parameters
    ----------
    data
        A log (a file, a data frame), games one by one (`read_games`), or matches, whose games can be held out at random
        only.
    by
        ``"random"``: every game is held out once, one fifth at a time. ``"time"``: games are cut into ten periods of
        equally many games, and each but the first two is predicted from those before. ``"order"``: the same in the
        order of rows.
    models
        Registered ratings (``"elo"``, ``"melo"``, ``"hierarchical"``, ``"hodge"``), and by time also ``"online elo"``
        and ``"online melo"``, which learn from each game after they predicted it. Elo and mElo unless given.
    bins
        How many points a curve of calibration has; each stands for equally many games.
    rng
        A seed: which games are held out at random.

    Examples
    --------
    >>> import nashboard as nb
    >>> cycle = nb.Matches.from_counts([[0, 90, 10], [10, 0, 90], [90, 10, 0]])
    >>> nb.calibration(cycle).best.model
    'mElo, 1 plane'
    """
    check_choice(by, get_args(By), "way to hold games out")
    online = tuple(ONLINE) if by != "random" else ()
    allowed = (*RATINGS, *online)
    chosen = (*USUAL, *online) if models is None else tuple(models)
    for name in chosen:
        check_choice(name, allowed, "model")
    if not chosen:
        raise InputError("models is empty: name at least one, such as 'elo'")
    if by == "random":
        newcomers, change, matches = 0.0, 0.0, data.matches() if isinstance(data, Games) else data
        matches = matches if isinstance(matches, Matches) else read_matches(matches)
        if len(matches.agents) < 3:  # no planes
            chosen = tuple(name for name in chosen if name != "melo")
        found = [held_out_calibration(matches, name, bins=bins, rng=rng) for name in chosen]
        total = matches.n_games
    else:
        if isinstance(data, Matches):
            raise InputError(
                f"by={by!r} needs games one by one, not counts: pass the log itself, or nb.read_games of it"
            )
        data = data if isinstance(data, Games) else read_games(data)
        games = data.by_time() if by == "time" else data
        period = np.minimum(np.arange(games.first.size) * PERIODS // games.first.size, PERIODS - 1)
        if games.first.size < 2 * PERIODS:
            raise InputError(f"there are {games.first.size:,} games: holding out by time takes at least {2 * PERIODS}")
        tested = period >= LEARNED
        scored = [score(name, games, period, tested, bins) for name in chosen]
        found, change = [one for one, _ in scored], sure_change(chosen, scored, games.weight[tested])
        total = float(games.weight[tested].sum())
        joined = np.full(len(games.agents), PERIODS)  # the first period of each agent
        for side in (games.first, games.second):
            np.minimum.at(joined, side, period)
        new = tested & (np.maximum(joined[games.first], joined[games.second]) == period)
        newcomers = float(games.weight[new].sum()) / total
    ordered = tuple(sorted(found, key=lambda one: one.log_loss))
    return Calibrations(models=ordered, by=by, games=total, newcomers=newcomers, change=change)


def sure_change(names: Sequence[str], scored: Sequence[tuple[Calibration, Floats]], weight: Floats) -> float:
    """Return by how much a rating loses less per game online than fitted, or 0 if that may be chance."""
    losses = {name: rows for name, (_, rows) in zip(names, scored, strict=True)}
    for name in USUAL:
        if {name, f"online {name}"} <= losses.keys():
            better = losses[name] - losses[f"online {name}"]
            sure = float(better.sum()) > SURELY * float(np.sqrt((better**2).sum()))
            return float(better.sum() / weight.sum()) if sure else 0.0
    return 0.0


def score(name: str, games: Games, period: Any, tested: Bools, bins: int) -> tuple[Calibration, Floats]:
    """Return how well a model predicts each period from those before, and its loss in each row."""
    online = name in ONLINE
    p = predict_online(games, ONLINE[name]) if online else predict_by_period(games, period, name)
    p = np.clip(p, 1e-12, 1 - 1e-12)[tested]
    won, lost = (games.wins + games.draws / 2)[tested], (games.losses + games.draws / 2)[tested]
    losses = -(won * np.log(p) + lost * np.log(1 - p))
    label = f"online {model_name(ONLINE[name])}" if online else model_name(name)
    log_loss = float(losses.sum()) / float((won + lost).sum())
    return measured(label, p, won, lost, log_loss, bins=bins, held_out=True), losses


def predict_by_period(games: Games, period: Any, name: str) -> Floats:
    """Return the win rate of the first agent of each game by a fit to the earlier periods; who is new is average."""
    p = np.full(games.first.size, 0.5)
    for t in range(LEARNED, PERIODS):
        seen, now = games.take(period < t).matches(), period == t
        fit = quick_fit(name, seen)(seen)
        p[now] = win_rates(predicted_leads(fit, games.agents, games.first[now], games.second[now]))
    return p


def predict_online(games: Games, k: int) -> Floats:
    """Return the win rate of the first agent of each game, as a league that follows them predicts it."""
    league = League(k=k, rate=None, cyclic_rate=1.0, decay=None, rng=0)
    league.join(games.agents)
    weight = games.weight
    outcome = np.divide(games.wins + games.draws / 2, weight, out=np.full(weight.size, 0.5), where=weight > 0)
    p = np.empty(weight.size)
    league.play(games.first.astype(np.uint32), games.second.astype(np.uint32), outcome, weight, p)
    return p
