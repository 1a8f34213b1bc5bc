"""A league in memory: every agent's rating and planes, growing as agents join; the online models share it.

Symbols: ``Z`` (places, 1 + 2k) ratings and planes in Elo points and their square roots; the first ``len(names)`` rows
are in use.
"""

from typing import Any

import numpy as np

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.outcomes import Rules
from nashboard.errors import InputError
from nashboard.online.games import Columns, Excerpt, read_games
from nashboard.online.numbering import Numbering
from nashboard.ratings import kernels

FIRST_PLACES = 64
ALONE = np.ones(1)


class League:
    """Agents, what is known of them, and how they learn; mutable."""

    def __init__(
        self, *, k: int, rate: float, cyclic_rate: float, decay: float | None, rng: int | np.random.Generator
    ) -> None:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
            raise InputError(f"k is {k!r}: the number of planes must be a whole number, 0 or more")
        for name, value in (("rate", rate), ("cyclic_rate", cyclic_rate)):
            if not (np.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value!r}: it must be a finite number of at least 0")
        if decay is not None and not (np.isfinite(decay) and decay > 0):
            raise InputError(f"decay is {decay!r}: it must be a number of games above 0, or None for a constant rate")
        self.k, self.rate, self.cyclic_rate = int(k), float(rate), float(cyclic_rate)
        self.decay = None if decay is None else float(decay)
        self.rng = np.random.default_rng(rng)
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.Z, self.played = np.zeros((FIRST_PLACES, 1 + 2 * self.k)), np.zeros(FIRST_PLACES)
        self.sums = np.zeros(2)  # of the losses before each game, and of the games' weights
        self.numbering = Numbering()

    @property
    def size(self) -> int:
        """How many agents have joined."""
        return len(self.names)

    @property
    def games(self) -> float:
        """How many games were played, or their total weight."""
        return float(self.sums[1])

    @property
    def ratings(self) -> Floats:
        """Ratings of the agents, ``(n,)``."""
        return self.Z[: self.size, 0]

    @property
    def cyclic(self) -> Floats:
        """Planes of the agents, ``(n, 2k)``."""
        return self.Z[: self.size, 1:]

    def join(self, names: tuple[str, ...]) -> None:
        """Let agents join, with rating 0 and random planes: at the origin, planes would never move."""
        start, self.names = self.size, self.names + list(names)
        self.index.update(zip(names, range(start, self.size), strict=True))
        if self.size > len(self.Z):
            places = max(self.size, 2 * len(self.Z))
            Z, played = np.zeros((places, self.Z.shape[1])), np.zeros(places)
            Z[:start], played[:start] = self.Z[:start], self.played[:start]
            self.Z, self.played = Z, played
        self.Z[start : self.size, 1:] = self.rng.standard_normal((len(names), 2 * self.k))

    def update(self, a: str, b: str, outcome: float, weight: float = 1.0) -> None:
        """Learn from one game."""
        a, b = named(a), named(b)
        if a == b:
            raise InputError(f"{a!r} cannot meet itself: a game needs two agents")
        if not 0 <= outcome <= 1:
            raise InputError(f"the outcome is {outcome!r}: it is a number in [0, 1]: 1 a win, 0.5 a draw, 0 a loss")
        new = tuple(name for name in (a, b) if name not in self.index)
        if new:
            self.join(new)
        pair = np.array([[self.index[a]], [self.index[b]]], dtype=np.uint32)
        self.play(pair[0], pair[1], np.array([float(outcome)]), ALONE * weight)

    def update_many(self, data: Any, columns: Columns, rules: Rules | None, excerpt: Excerpt | None = None) -> int:
        """Learn from games in their order, all or none of them; return how many. Errors name the excerpt."""
        if self.numbering.known != self.size:  # agents have joined by name, or an update failed
            self.numbering = Numbering(self.names)
        games = read_games(data, columns, rules, self.numbering, excerpt)
        if games.joined:
            self.join(games.joined)
        self.play(games.first, games.second, games.outcome, games.weight)
        return games.outcome.size

    def play(self, first: kernels.Codes, second: kernels.Codes, outcome: Floats, weight: Floats) -> None:
        """Run the compiled loop."""
        slowing = 0.0 if self.decay is None else 1 / self.decay
        kernels.play(
            self.Z, self.played, self.sums, first, second, outcome, weight,
            self.rate, self.cyclic_rate, slowing, 1 / POINTS_PER_LOGIT,
        )  # fmt: skip

    def lead(self, a: str, b: str) -> float:
        """Return how many points ``a`` is ahead of ``b``; an agent that has not played stands at 0."""
        i, j = (self.index.get(named(name), -1) for name in (a, b))
        if i >= 0 and j >= 0:
            return float(kernels.lead(self.Z, i, j))
        return float((self.Z[i, 0] if i >= 0 else 0.0) - (self.Z[j, 0] if j >= 0 else 0.0))

    def require_agents(self) -> None:
        """Raise an error where nobody has joined yet."""
        if not self.names:
            raise InputError("no game has been played yet: there are no ratings to show")


def named(name: object) -> str:
    """Return an agent's name as text; it must not be empty."""
    text = str(name)
    if not text.strip():
        raise InputError("an agent's name is empty: every agent needs one")
    return text
