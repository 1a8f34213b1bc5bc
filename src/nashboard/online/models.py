"""Elo and mElo that follow games in their order: adaptive filters by default, or steps of a given rate (appendix E)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nashboard._display import Drawn
from nashboard._tables import Column, Table, count_of, title_of
from nashboard._types import Floats, Ints
from nashboard.data.counting.outcomes import Rules
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.online.games import Columns
from nashboard.online.league import League, LogPosition, read_state, write_state
from nashboard.ratings.elo import EloRatings
from nashboard.ratings.melo import MeloRatings
from nashboard.ratings.melo_fit import centred, orthogonal_planes

RATE = 16.0  # points, where steps are asked for without a rate


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RatingHistory(Drawn):
    """Ratings after each game, two rows per game: one for each agent that played it."""

    agents: tuple[str, ...]  # names, in the order in which they joined
    game: Ints  # ``(rows,)`` number of the game, from 1
    agent: Ints  # ``(rows,)`` position of the agent
    # rating, stderr: ``(rows,)`` in Elo points, not centred: a newcomer starts at 0. The error is NaN where steps have
    # a given rate.
    rating: Floats
    stderr: Floats

    hidden = ("agents",)

    @staticmethod
    def of(names: Sequence[str], traces: Sequence[tuple[Any, ...]]) -> "RatingHistory":
        """Return the history of what a league recorded."""
        if traces:
            first, second, values = (np.concatenate([trace[k] for trace in traces]) for k in range(3))
        else:
            first = second = np.zeros(0, dtype=np.intp)
            values = np.zeros((0, 4))
        return RatingHistory(
            agents=tuple(names),
            game=np.repeat(np.arange(1, first.size + 1), 2),
            agent=np.stack([first, second], axis=1).ravel().astype(np.intp),
            rating=values[:, [0, 2]].ravel(),
            stderr=values[:, [1, 3]].ravel(),
        )

    def select(self, *agents: str) -> "RatingHistory":
        """Return the history of some agents."""
        kept = np.isin(self.agent, positions(agents, self.agents, kind="agent"))
        return RatingHistory(
            agents=self.agents,
            game=self.game[kept],
            agent=self.agent[kept],
            rating=self.rating[kept],
            stderr=self.stderr[kept],
        )

    def table(self) -> Table:
        """Return a row per agent and game."""
        return Table.of(
            range(self.game.size),
            Column("game", "number of the game in the log", cell=self.game),
            Column("agent", cell=lambda row: self.agents[self.agent[row]]),
            Column("rating", "Elo points after the game; a newcomer starts at 0", decimals=1, cell=self.rating),
            Column("stderr", "its standard error", decimals=1, cell=self.stderr),
            title=title_of(self),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines, with names for agents."""
        return {**super().to_dict(), "agent": [self.agents[k] for k in self.agent]}

    def __repr__(self) -> str:
        return f"RatingHistory({len(self.agents):,} agents, {self.game.size // 2:,} games)"


class OnlineModel:
    """What Elo and mElo online have in common: a league that learns, predicts and can be kept in a file."""

    def __init__(self, league: League) -> None:
        self.league = league
        self.logs: list[LogPosition] = []

    def update(self, a: str, b: str, outcome: float) -> None:
        """Learn from one game: 1 where ``a`` won, 0 where it lost, 0.5 for a draw. New names join."""
        self.league.update(a, b, outcome)

    def update_many(
        self,
        games: Any,
        *,
        a: str | None = None,
        b: str | None = None,
        outcome: str | None = None,
        weight: str | Literal[False] | None = None,
        time: str | None = None,
        outcomes: Rules | None = None,
    ) -> int:
        """Learn from games in the order in which they stand, or of a time column, and return how many they were.

        Parameters
        ----------
        games
            A log in any format that `read_games` reads (or what it returned), a frame of pandas, Polars, PyArrow or
            DuckDB, a mapping of columns, or arrays ``(a, b, outcome)``. If anything in it is wrong nothing is learnt.
        a, b, outcome, weight
            Columns, where they have other than the usual names (as in `read_matches`). ``weight=False`` uses no
            column of weights.
        time
            A column by which games are sorted first; games of the same time stay in their order.
        outcomes
            Rules for outcome labels, as in `read_matches`.
        """
        return self.league.update_many(games, Columns(a=a, b=b, outcome=outcome, weight=weight, time=time), outcomes)

    def predict(self, a: str, b: str) -> float:
        """Return the probability that ``a`` beats ``b`` in their next game; who never played stands at 0."""
        return self.league.predict(a, b)

    def history(self) -> RatingHistory:
        """Return the rating of both agents after each game; asked for by ``history=True`` before the first game."""
        if self.league.traces is None:
            raise InputError("no history was kept: make the model with history=True")
        return RatingHistory.of(self.league.names, self.league.traces)

    def described(self) -> str:
        """Return in a few words how far the league is."""
        return f"{self.league.size:,} agents, {count_of(self.league.games, 'games')}, {describe_rate(self.league)}"

    def save(self, path: str | Path) -> None:
        """Write the league to a file, whole or not at all; `load` goes on exactly where it stopped."""
        write_state(path, self.league, self.logs)


class OnlineElo(OnlineModel):
    """Elo ratings that follow a league game by game, with intervals.

    By default each agent is uncertain at first and moves less the better it is known, as in Glicko; how uncertain
    newcomers are and how fast agents change is learned from how well games are predicted. With a ``rate`` each game is
    one step, ``r_a += rate * (outcome - predicted)``, and minus that for b.

    Parameters
    ----------
    rate
        The step in Elo points; 16 and 32 are usual. None adapts.
    decay
        With a rate (16 unless given): games after which an agent's step has halved, ``rate / (1 + games / decay)``.
        With None it never shrinks.
    history
        Keep the ratings after each game, for `history`.

    Examples
    --------
    >>> import nashboard as nb
    >>> league = nb.OnlineElo()
    >>> league.update("ann", "bob", 1.0)
    >>> bool(0.5 < league.predict("ann", "bob") < 0.7)
    True
    >>> league = nb.OnlineElo(rate=16)
    >>> league.update("ann", "bob", 1.0)
    >>> league.ratings().ratings
    array([ 8., -8.])
    """

    def __init__(self, *, rate: float | None = None, decay: float | None = None, history: bool = False) -> None:
        rate = RATE if rate is None and decay is not None else rate
        super().__init__(League(k=0, rate=rate, cyclic_rate=0.0, decay=decay, rng=0, history=history))

    def ratings(self) -> EloRatings:
        """Return the ratings of now, with mean 0, as a batch fit would; with a given rate without standard errors."""
        league = self.league
        league.require_agents()
        return EloRatings(
            agents=tuple(league.names),
            ratings=league.ratings - league.ratings.mean() + 0.0,
            stderr=league.stderr,
            games=league.played[: league.size],
            log_loss=loss_so_far(league),
            made=made(league),
        )

    @staticmethod
    def load(path: str | Path) -> "OnlineElo":
        """Return the league that `save` wrote."""
        league, logs = read_state(path)
        if league.k:
            raise InputError(f"{str(path)!r} contains mElo with {league.k} planes, not Elo: use OnlineMelo.load")
        model = OnlineElo()
        model.league, model.logs = league, logs
        return model

    def __repr__(self) -> str:
        return f"OnlineElo({self.described()})"


class OnlineMelo(OnlineModel):
    """mElo that follows a league game by game: a rating per agent, and ``k`` planes for cycles.

    By default ratings and planes are filtered, as in `OnlineElo`; filters without planes run beside them, so that a
    league without cycles is predicted as well. With a rate the update is ``mElo2_update`` of the paper's appendix E for
    any number of planes. Agents join with rating 0 and small random planes. `ratings` gives the canonical form, in
    which the planes are centred and orthogonal; that changes no prediction.

    Parameters
    ----------
    k
        How many planes.
    rate
        The step of ratings in Elo points; None adapts, unless another of the rates is given (then 16).
    cyclic_rate
        The step of the planes, relative to the opponent's coordinates; cut short where it would overshoot the outcome.
        With a rate 1 unless given.
    decay
        With a rate: games after which an agent's steps have halved; None for never.
    rng
        For the planes of new agents: a seed or a generator.
    history
        Keep the ratings after each game, for `history`.

    Examples
    --------
    >>> import nashboard as nb
    >>> league = nb.OnlineMelo(k=1)
    >>> for _ in range(200):
    ...     for winner, loser in [("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")]:
    ...         league.update(winner, loser, 1.0)
    >>> league.predict("rock", "scissors") > 0.9
    True
    """

    def __init__(
        self,
        k: int = 1,
        *,
        rate: float | None = None,
        cyclic_rate: float | None = None,
        decay: float | None = None,
        rng: int | np.random.Generator = 0,
        history: bool = False,
    ) -> None:
        rate = RATE if rate is None and (cyclic_rate is not None or decay is not None) else rate
        step = 1.0 if cyclic_rate is None else cyclic_rate
        super().__init__(League(k=k, rate=rate, cyclic_rate=step, decay=decay, rng=rng, history=history))

    def ratings(self) -> MeloRatings:
        """Return ratings and planes of now in canonical form; with a given rate without standard errors."""
        league = self.league
        league.require_agents()
        r, C = centred(league.ratings, league.cyclic)
        return MeloRatings(
            agents=tuple(league.names),
            ratings=r - r.mean() + 0.0,
            cyclic=orthogonal_planes(C)[0],
            stderr=league.stderr,
            games=league.played[: league.size],
            log_loss=loss_so_far(league),
            made=made(league),
        )

    @staticmethod
    def load(path: str | Path) -> "OnlineMelo":
        """Return the league that `save` wrote."""
        model = OnlineMelo()
        model.league, model.logs = read_state(path)
        return model

    def __repr__(self) -> str:
        return f"OnlineMelo({self.described()}, k={self.league.k})"


def describe_rate(league: League) -> str:
    """Return how a league learns."""
    return "adaptive" if league.rate is None else f"rate {league.rate:g}"


def loss_so_far(league: League) -> float:
    """Return the mean loss of the predictions made before each game."""
    return float(league.sums[0]) / league.games if league.games else float("nan")


def made(league: League) -> str:
    """Return how the ratings of a league were made."""
    planes = "" if not league.k else f", {league.k} plane{'s' * (league.k > 1)}"
    planes += f" at rate {league.cyclic_rate:g}" if league.k and not league.adaptive else ""
    slowing = f", halved after {league.decay:g} games" if league.decay else ""
    how = f"{describe_rate(league)}{planes}{slowing}"
    return f"online, {count_of(league.games, 'games')} in order, {how}, mean 0 of all agents"


def load(path: str | Path) -> OnlineElo | OnlineMelo:
    """Return whichever online model a file holds."""
    league, _ = read_state(path)
    return OnlineMelo.load(path) if league.k else OnlineElo.load(path)
