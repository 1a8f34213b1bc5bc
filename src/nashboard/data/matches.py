"""Matches: who met whom, how often, and how it ended.

Symbols: ``W`` wins (``W[i, j]``: how often i beat j), ``D`` draws, ``P`` win rates, all (n, n); in the data
type itself one row per unordered pair ``i < j`` that met, seen from ``i``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._tables import Column, Table, Tabular, count, count_of, title_of
from nashboard._text import listed, number_of
from nashboard._types import Bools, Floats, Ints, floats, frozen_copy, square
from nashboard.data.origin import MAY_BE_ALIKE, MEMORY, Origin
from nashboard.data.validation import COUNTS, MOST_GAMES, checked_names, game_counts, positions, refuse_cells
from nashboard.errors import InputError

if TYPE_CHECKING:
    import polars as pl

CLUSTER_COLUMNS: dict[str, type[Any]] = {
    "cluster": np.intp,
    "pair": np.intp,
    "wins": np.float64,
    "draws": np.float64,
    "losses": np.float64,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters:
    """The counts of matches split by cluster: a voter's session, a prompt, an opening.

    One row per cluster and pair: ``cluster`` in ``range(size)``, ``pair`` a row of ``Matches.pairs``.
    """

    size: int
    cluster: Ints
    pair: Ints
    wins: Floats
    draws: Floats
    losses: Floats

    def __post_init__(self) -> None:
        for name, kind in CLUSTER_COLUMNS.items():
            object.__setattr__(self, name, frozen_copy(getattr(self, name), kind))

    def renumbered(self, new: Ints, flip: Bools) -> "Clusters":
        """Return the clusters after pair k became pair ``new[k]`` (-1: gone), seen from the other side if flipped."""
        kept = new[self.pair] >= 0
        turned = flip[self.pair]
        return Clusters(
            size=self.size,
            cluster=self.cluster[kept],
            pair=new[self.pair][kept],
            wins=np.where(turned, self.losses, self.wins)[kept],
            draws=self.draws[kept],
            losses=np.where(turned, self.wins, self.losses)[kept],
        )


REVERSED = [2, 1, 0]  # wins, draws and losses as the other agent sees them


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides:
    """The counts of each pair by which of its agents was the first side."""

    # first, second: (p, 3) wins, draws and losses of agent i of the pair (i, j): in games where i was
    # the first side, and where j was. Games at a neutral place are in neither.
    first: Floats
    second: Floats

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            counts = frozen_copy(getattr(self, name))
            if counts.ndim != 2 or counts.shape[1] != 3 or not (counts >= 0).all():
                raise InputError(
                    f"sides.{name} must contain wins, draws and losses of each pair, none of them negative"
                )
            object.__setattr__(self, name, counts)

    @property
    def played(self) -> Floats:
        """Games with a first side, ``(p,)``."""
        return np.asarray(self.first.sum(axis=1) + self.second.sum(axis=1), dtype=np.float64)

    def renumbered(self, new: Ints, flip: Bools, size: int) -> "Sides":
        """Return the sides after pair k became pair ``new[k]`` of ``size`` (-1: gone), seen from j if flipped."""
        turned = flip[:, None]
        first = np.where(turned, self.second[:, REVERSED], self.first)
        second = np.where(turned, self.first[:, REVERSED], self.second)
        kept = new >= 0
        totals = np.zeros((2, size, 3))
        np.add.at(totals[0], new[kept], first[kept])
        np.add.at(totals[1], new[kept], second[kept])
        return Sides(first=totals[0], second=totals[1])


# Published win rates are rounded: P[i, j] + P[j, i] may miss 1 by this much and still be one statement.
ROUNDING = 1e-6
LOST_DIGITS = 1e-12  # of a share: what arithmetic loses
NO_COUNTS = "no game counts were given: each pair counts as one game"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Matches(Tabular):
    """Results of matches between agents, one row per unordered pair that met.

    Parameters
    ----------
    agents
        Names, unique.
    pairs
        ``(p, 2)`` positions ``i < j`` in ``agents``, in ascending order, each pair once.
    wins, draws, losses
        ``(p,)`` how often ``i`` won, drew and lost against ``j``; fractions and weights are allowed.
    origin
        Where the data came from.
    clusters
        The same counts split by cluster, where a cluster column was read.
    sides
        The same counts split by which agent was the first side (home, white, left); None where that is unknown.
    fractions
        ``(p,)`` sums of ``y (1 - y)`` over games whose outcome ``y`` is another share of the point than 0, 1/2 and 1;
        None where there are no such games.

    Examples
    --------
    >>> import nashboard as nb
    >>> matches = nb.Matches.from_counts([[0, 9, 2], [1, 0, 7], [8, 3, 0]], agents=["rock", "paper", "scissors"])
    >>> matches
    Matches(3 agents, 3 of 3 pairs met, 30 games)
    >>> matches.coverage
    1.0
    """

    agents: tuple[str, ...]
    pairs: Ints
    wins: Floats
    draws: Floats
    losses: Floats
    origin: Origin = MEMORY
    clusters: Clusters | None = None
    sides: Sides | None = None
    fractions: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", checked_names(self.agents, size=len(self.agents), kind="agent"))
        object.__setattr__(self, "pairs", frozen_copy(np.reshape(self.pairs, (-1, 2)), np.intp))
        for name in ("wins", "draws", "losses"):
            object.__setattr__(self, name, frozen_copy(getattr(self, name)))
        if len(self.agents) < 2:
            found = f"is only {self.agents[0]!r}" if self.agents else "are none"
            raise InputError(f"matches need at least two agents; there {found}")
        i, j = self.pairs.T
        if len(self.pairs) and (i.min() < 0 or j.max() >= len(self.agents) or (i >= j).any()):
            raise InputError("pairs must be positions i < j in the list of agents")
        if (np.diff(i * len(self.agents) + j) <= 0).any():
            raise InputError("pairs must be in ascending order, each pair once")
        for name in ("wins", "draws", "losses"):
            counts = getattr(self, name)
            if counts.shape != i.shape:
                raise InputError(f"{name} must contain one number per pair: {len(i):,}, not shape {counts.shape}")
            bad = np.flatnonzero(~((counts >= 0) & (counts <= MOST_GAMES)))
            if bad.size:
                a, b = (self.agents[k] for k in self.pairs[bad[0]])
                raise InputError(f"{name} of {a!r} against {b!r} are {counts[bad[0]]:g}: {COUNTS}")
        if (self.games <= 0).any():
            raise InputError("every listed pair must have met: leave out the pairs without games")
        if self.sides is not None:
            refuse_sides(self, self.sides)
        if self.fractions is not None:
            object.__setattr__(self, "fractions", frozen_copy(self.fractions))
            if self.fractions.shape != i.shape:
                raise InputError(f"fractions must contain one number per pair: {len(i):,}")

    @staticmethod
    def from_frame(frame: Any, **options: Any) -> "Matches":
        """Count the matches in a data frame of any engine that `read_matches` takes; options as there."""
        from nashboard.data.read import read_matches

        return read_matches(frame, **options)

    @staticmethod
    def from_games(first: Iterable[object], second: Iterable[object], outcomes: ArrayLike) -> "Matches":
        """Count games that are given one by one, in memory: who played, and the share of the point of the first.

        Parameters
        ----------
        first, second
            Names of the two agents of each game.
        outcomes
            1 where the first agent won, 0 where it lost, 0.5 for a draw; other shares count as parts of a win and a
            loss.

        Examples
        --------
        >>> import nashboard as nb
        >>> nb.Matches.from_games(["ann", "bob", "ann"], ["bob", "cat", "cat"], [1, 0.5, 0])
        Matches(3 agents, 3 of 3 pairs met, 3 games)
        """
        sides = list(first), list(second)
        y = floats(outcomes, "the outcomes", ndim=1)
        if not len(sides[0]) == len(sides[1]) == y.size:
            raise InputError(
                f"{len(sides[0]):,} and {len(sides[1]):,} names have {y.size:,} outcomes: one for each game"
            )
        if not ((y >= 0) & (y <= 1)).all():
            k = int(np.argmin((y >= 0) & (y <= 1)))
            raise InputError(f"the outcome of game {k + 1:,} is {y[k]:g}: it must be a share of the point, 0 to 1")
        given = {*sides[0], *sides[1]}
        names = tuple(sorted(set(map(str, given))))
        place = {name: k for k, name in enumerate(names)}
        at = {name: place[str(name)] for name in given}
        i, j = (np.fromiter(map(at.__getitem__, side), np.intp, len(side)) for side in sides)
        if (i == j).any():
            raise InputError(f"game {int(np.argmax(i == j)) + 1:,} is of {sides[0][np.argmax(i == j)]!r} with itself")
        n = len(names)
        pair = np.minimum(i, j) * n + np.maximum(i, j)
        few = n * n > 16 * y.size  # of all pairs met, so they are numbered by sorting
        number, pair = np.unique(pair, return_inverse=True) if few else (np.arange(n * n), pair)
        met = np.flatnonzero(np.bincount(pair, minlength=number.size))
        draw = y == 0.5
        won = np.where(i < j, y, 1 - y)
        wins, draws, losses, fractions = (
            np.bincount(pair, part, number.size)[met].astype(np.float64)
            for part in (np.where(draw, 0.0, won), draw, np.where(draw, 0.0, 1 - won), np.where(draw, 0.0, y * (1 - y)))
        )
        pairs = np.stack(np.divmod(number[met], max(n, 1)), axis=1)
        split = fractions if fractions.any() else None
        return Matches(agents=names, pairs=pairs, wins=wins, draws=draws, losses=losses, fractions=split)

    @staticmethod
    def from_win_rates(
        P: ArrayLike,
        agents: Iterable[object] | None = None,
        games: ArrayLike | None = None,
        *,
        symmetrise: bool = False,
    ) -> "Matches":
        """Make matches of a matrix of win rates, ``P[i, j]`` the share of games that i won against j.

        Parameters
        ----------
        P
            ``(n, n)`` numbers in [0, 1], NaN where a pair never met. The diagonal is not looked at.
        games
            How many games each pair played: a number, or a symmetric ``(n, n)`` matrix. Without it each
            pair counts as one game's worth of evidence, and the result's origin says so.
        symmetrise
            Average the two directions of a pair where they disagree; otherwise that is an error.
        """
        P = square(P, "the matrix of win rates")
        names = checked_names(agents, size=len(P), kind="agent")
        np.fill_diagonal(P, 0.5)
        where_met = ~np.isnan(P)
        refuse_cells(where_met & ~((P >= 0) & (P <= 1)), P, names, "a win rate must lie in [0, 1]")
        if symmetrise:
            P = np.where(where_met, P, 1 - P.T)
            P = (P + np.where(np.isnan(P.T), P, 1 - P.T)) / 2
            where_met = ~np.isnan(P)
        refuse_cells(where_met & ~where_met.T, P, names, "the other direction is missing; symmetrise=True fills it")
        refuse_cells(
            where_met & (np.abs(P + P.T - 1) > ROUNDING),
            P,
            names,
            "the two directions of a pair must add up to 1; symmetrise=True averages them",
        )
        N = np.where(where_met, game_counts(games, names), 0.0)
        i, j = np.nonzero(np.triu(N > 0, k=1))
        played, won = N[i, j], P[i, j] * N[i, j]
        halves = np.round(2 * won) / 2  # so the matches are equal to those of the counts of which these are the shares
        won = np.where(np.abs(won - halves) <= LOST_DIGITS * played, halves, won)
        return Matches(
            agents=names,
            pairs=np.stack([i, j], axis=1),
            wins=won,
            draws=np.zeros(i.size),
            losses=played - won,
            origin=Origin(format="win rates", notes=(NO_COUNTS,) if games is None else ()),
        )

    @staticmethod
    def from_counts(
        W: ArrayLike, agents: Iterable[object] | None = None, *, draws: ArrayLike | None = None
    ) -> "Matches":
        """Make matches of a matrix of counts, ``W[i, j]`` how often i beat j; ``draws`` is symmetric.

        The diagonal is not looked at: an agent's games against itself say nothing about the others.
        """
        W = square(W, "the matrix of wins")
        names = checked_names(agents, size=len(W), kind="agent")
        D = np.zeros_like(W) if draws is None else square(draws, "the matrix of draws")
        if D.shape != W.shape:
            raise InputError(f"wins are {W.shape} and draws {D.shape}: both must be agents x agents")
        note = (
            "games on the diagonal, of an agent with itself, are not counted"
            if np.diag(W).any() or np.diag(D).any()
            else ""
        )
        for counts in (W,) if draws is None else (W, D):
            np.fill_diagonal(counts, 0.0)
            refuse_cells(~((counts >= 0) & (counts <= MOST_GAMES)), counts, names, COUNTS)
        if draws is not None:
            refuse_cells(D != D.T, D, names, "draws must be the same in both directions")
        i, j = np.nonzero(np.triu(W + W.T + D, k=1))
        return Matches(
            agents=names,
            pairs=np.stack([i, j], axis=1),
            wins=W[i, j],
            draws=D[i, j],
            losses=W[j, i],
            origin=Origin(format="counts", notes=(note,) if note else ()),
        )

    @cached_property
    def games(self) -> Floats:
        """Games (or total weight) of each pair, ``(p,)``."""
        return frozen_copy(self.wins + self.draws + self.losses)

    @property
    def shared(self) -> Floats:
        """Sums of ``y (1 - y)`` over all games of a pair: by how much squared outcomes are less than outcomes."""
        return np.asarray(self.draws / 4 if self.fractions is None else self.draws / 4 + self.fractions)

    @cached_property
    def n_games(self) -> float:
        """All games, or their total weight."""
        return float(self.games.sum())

    @property
    def dependent(self) -> bool:
        """Whether rows may be alike that are counted as independent, because they share an id, a prompt or a voter."""
        return self.clusters is None and any(MAY_BE_ALIKE in note for note in self.origin.notes)

    @cached_property
    def coverage(self) -> float:
        """Share of the unordered pairs of agents that met at least once."""
        n = len(self.agents)
        return len(self.pairs) / (n * (n - 1) / 2)

    @cached_property
    def games_per_agent(self) -> Floats:
        """Games of each agent, ``(n,)``."""
        return frozen_copy(self.per_agent(self.games, self.games))

    @cached_property
    def unbeaten(self) -> tuple[str, ...]:
        """Agents that played and lost no game."""
        return self.named((self.per_agent(self.losses, self.wins) == 0) & (self.games_per_agent > 0))

    @cached_property
    def winless(self) -> tuple[str, ...]:
        """Agents that played and won no game."""
        return self.named((self.per_agent(self.wins, self.losses) == 0) & (self.games_per_agent > 0))

    @cached_property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """Groups of agents connected by matches, the largest first, members with most games first.

        Agents of different groups cannot be compared: no chain of matches leads from one to the other.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = len(self.agents)
        graph = coo_array((np.ones(len(self.pairs)), tuple(self.pairs.T)), shape=(n, n))
        number_of_groups, group = connected_components(graph, directed=False)
        by_games = np.argsort(-self.games_per_agent, kind="stable")
        members: list[list[str]] = [[] for _ in range(number_of_groups)]
        for k in by_games:
            members[group[k]].append(self.agents[k])
        return tuple(sorted(map(tuple, members), key=lambda names: -len(names)))

    def require_connected(self) -> None:
        """Raise an error that names the groups if some agents cannot be compared with others."""
        if np.bincount(self.pairs.ravel(), minlength=1).max() == len(self.agents) - 1:
            return  # somebody met all others: no need to search
        if len(self.components) > 1:
            sizes = "; ".join(
                f"{listed(group, most=3)} ({len(group):,} agent{'s' * (len(group) > 1)})"
                for group in self.components[:2]
            )
            rest = f"; and {len(self.components) - 2:,} more" if len(self.components) > 2 else ""
            raise InputError(
                f"the agents fall into {len(self.components):,} groups that never met: {sizes}{rest}",
                hint="keep the largest with {option} where matches are read, or take each (--components each)",
                option={"components": "largest"},
            )

    def require_counts(self) -> None:
        """Raise an error for win rates without numbers of games: nothing is known about their errors."""
        if NO_COUNTS in self.origin.notes:
            raise InputError(
                "these are win rates without numbers of games, so that their errors are unknown",
                hint="give the games of each pair, as in Matches.from_win_rates(P, games=100)",
            )

    def select(self, agents: Iterable[str]) -> "Matches":
        """Return the matches among the named agents only, in the order given."""
        kept = positions(agents, self.agents, kind="agent")
        new = np.full(len(self.agents), -1)
        new[kept] = np.arange(len(kept))
        note = f"{len(kept):,} of {len(self.agents):,} agents selected"
        return self.renumbered(new, [self.agents[k] for k in kept], note)

    def merge(self, groups: Mapping[str, Iterable[str]]) -> "Matches":
        """Return matches in which several names are one agent: ``{"new name": ["old", "older"]}``.

        Matches between members of one group become matches of an agent with itself and are left out; the
        origin says how many. The merged agent stands where its first member stood.
        """
        leader = np.arange(len(self.agents))
        names = list(self.agents)
        taken: dict[str, str] = {}
        for name, members in groups.items():
            if isinstance(members, str):
                raise InputError(f"the group {name!r} must be a list of agents, not the single text {members!r}")
            chosen = list(members)
            for member in chosen:
                if taken.setdefault(member, name) != name:
                    raise InputError(f"agent {member!r} cannot be merged into both {taken[member]!r} and {name!r}")
            where = sorted(positions(chosen, self.agents, kind="agent"))
            if not where:
                raise InputError(f"the group {name!r} is empty: name the agents that become one")
            leader[where] = where[0]
            names[where[0]] = name
        kept = np.unique(leader)
        new = np.searchsorted(kept, leader)
        within = new[self.pairs[:, 0]] == new[self.pairs[:, 1]]
        lost = f"; {count(float(self.games[within].sum()))} games within a group left out" if within.any() else ""
        note = f"{len(self.agents):,} agents merged into {len(kept):,}{lost}"
        return self.renumbered(new, [names[k] for k in kept], note)

    def renumbered(self, new: Ints, agents: list[str], note: str) -> "Matches":
        """Return matches whose agent k is now ``new[k]``; -1 and games of an agent with itself drop out."""
        i, j = new[self.pairs[:, 0]], new[self.pairs[:, 1]]
        keep = (i >= 0) & (j >= 0) & (i != j)
        flip = i > j
        code, pair = np.unique((np.minimum(i, j) * len(agents) + np.maximum(i, j))[keep], return_inverse=True)
        place = np.full(len(keep), -1)
        place[keep] = pair

        def total(counts: Floats) -> Floats:
            return np.bincount(pair, weights=counts[keep], minlength=code.size).astype(np.float64)

        return replace(
            self,
            agents=tuple(agents),
            pairs=np.stack(np.divmod(code, max(len(agents), 1)), axis=1),
            wins=total(np.where(flip, self.losses, self.wins)),
            draws=total(self.draws),
            losses=total(np.where(flip, self.wins, self.losses)),
            origin=self.origin.noting(note),
            clusters=None if self.clusters is None else self.clusters.renumbered(place, flip),
            sides=None if self.sides is None else self.sides.renumbered(place, flip, code.size),
            fractions=None if self.fractions is None else total(self.fractions),
        )

    def win_rates(self) -> Floats:
        """Return ``(n, n)`` shares of points won by row against column, draws half; NaN where never met."""
        P = np.full((len(self.agents),) * 2, np.nan)
        i, j = self.pairs.T
        P[i, j] = (self.wins + self.draws / 2) / self.games
        P[j, i] = (self.losses + self.draws / 2) / self.games
        return P

    def to_frame(self) -> "pl.DataFrame":
        """Return the pair counts as a Polars frame: agent_a, agent_b, wins, draws, losses."""
        import polars as pl

        names = np.array(self.agents, dtype=object)
        return pl.DataFrame(
            {
                "agent_a": pl.Series(names[self.pairs[:, 0]], dtype=pl.String),
                "agent_b": pl.Series(names[self.pairs[:, 1]], dtype=pl.String),
                "wins": self.wins,
                "draws": self.draws,
                "losses": self.losses,
            }
        )

    def write(self, path: str | Path) -> None:
        """Write the pair counts to a csv, tsv, parquet or json lines file that `read_matches` reads back.

        An agent without games is kept by a row of zeros. Clusters and sides are not written.
        """
        import polars as pl

        from nashboard._files import write_frame

        idle = pl.DataFrame(
            [
                (self.agents[k], self.agents[0 if k else 1], 0.0, 0.0, 0.0)
                for k in np.flatnonzero(self.games_per_agent == 0)
            ],
            schema=self.to_frame().schema,
            orient="row",
        )
        write_frame(pl.concat([self.to_frame(), idle]), path)

    def per_agent(self, of_first: Floats, of_second: Floats) -> Floats:
        """Sum a count over each agent's pairs, given as seen from the first and the second of a pair."""
        n = len(self.agents)
        i, j = self.pairs.T
        return (np.bincount(i, of_first, minlength=n) + np.bincount(j, of_second, minlength=n)).astype(np.float64)

    def named(self, chosen: Any) -> tuple[str, ...]:
        """Return the names where a mask is true."""
        return tuple(self.agents[k] for k in np.flatnonzero(chosen))

    def table(self) -> Table:
        """Return games, wins, draws and losses per agent."""
        wins = self.per_agent(self.wins, self.losses)
        draws = self.per_agent(self.draws, self.draws)
        losses = self.per_agent(self.losses, self.wins)
        points = wins + draws / 2
        games = self.games_per_agent
        share = np.divide(points, games, out=np.full(len(games), np.nan), where=games > 0)
        order = np.lexsort([np.arange(len(games)), -np.nan_to_num(share, nan=-1.0)])
        return Table.of(
            order,
            Column("agent", cell=self.agents),
            Column("games", "games played, or their total weight", decimals=2, cell=list(map(whole, games))),
            Column("wins", "games won", decimals=2, cell=list(map(whole, wins))),
            Column("draws", "games drawn", decimals=2, cell=list(map(whole, draws))),
            Column("losses", "games lost", decimals=2, cell=list(map(whole, losses))),
            Column("share", "share of points won; a draw is half a point", cell=share),
            title=title_of(self),
        )

    def __repr__(self) -> str:
        n = len(self.agents)
        met = f"{len(self.pairs):,} of {n * (n - 1) // 2:,} pairs met"
        return f"Matches({number_of(n, 'agents')}, {met}, {count_of(self.n_games, 'games')})"


def refuse_sides(matches: Matches, sides: Sides) -> None:
    """Raise an error where the games with a first side are not among the games of a pair."""
    if len(sides.first) != len(matches.pairs) or len(sides.second) != len(matches.pairs):
        raise InputError(f"sides must have a row for each of the {len(matches.pairs):,} pairs")
    counts = np.stack([matches.wins, matches.draws, matches.losses], axis=1)
    more = (sides.first + sides.second > counts * (1 + ROUNDING) + ROUNDING).any(axis=1)
    if more.any():
        a, b = (matches.agents[k] for k in matches.pairs[np.flatnonzero(more)[0]])
        raise InputError(
            f"sides count more games of {a!r} against {b!r} than there are: replace sides= as well, or None"
        )


def whole(value: float) -> int | float:
    """Return an int where a count is whole, so that it is shown without decimals."""
    return int(value) if float(value).is_integer() else float(value)
