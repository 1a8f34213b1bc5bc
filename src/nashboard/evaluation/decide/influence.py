"""Which votes, or tasks, decide first place? The smallest set whose removal changes it.

For ratings, a first-order (Newton) approximation says how far one vote moves the lead of the first over a challenger
(Broderick, Giordano and Meager 2020; Huang et al. 2026). Votes are removed in that order, the model is fitted again,
and the set is trimmed until every vote in it is needed. On small logs all smaller sets are searched, which proves
the size. Whatever is returned was confirmed by fitting the model to the remaining data.
"""

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from nashboard._tables import Column, Table, Tabular
from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.decide.compare import comparable_values

CHALLENGERS = 8  # agents behind the first that are tried as the new first
AHEAD = 1e-8  # lead in log-odds that is more than rounding
EXHAUSTIVE = 30_000  # fits that a proof by search may take
OUTCOMES = ("wins", "draws", "losses")
RESULTS = ("win", "draw", "loss")
POINTS = np.array([1.0, 0.5, 0.0])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Influence(Tabular):
    """The smallest set found whose removal changes first place.

    Parameters
    ----------
    first, new_first
        Who is first with all data, and without the set.
    rows
        What to remove: agent a, agent b, outcome for a, and how many; for scores the tasks.
    removed, total
        Size of the set, and of the data.
    minimal
        Whether it is proved that no smaller set changes first place.
    """

    first: str
    new_first: str
    rows: tuple[tuple[str, str, str, int], ...]
    removed: int
    total: int
    minimal: bool
    kind: str

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        noun = "vote" if self.kind == "matches" else "task"
        share = 100 * self.removed / self.total
        proof = "no smaller set does" if self.minimal else "a smaller set may exist"
        return (
            f"Without {self.removed:,} of {self.total:,} {noun}s ({share:.2g}%), {self.new_first} is first instead of "
            f"{self.first}; {proof}."
        )

    def table(self) -> Table:
        """Return what to remove."""
        if self.kind == "scores":
            return Table(
                columns=(Column(name="task"),), rows=tuple((row[0],) for row in self.rows), notes=(self.sentence,)
            )
        return Table(
            columns=(
                Column(name="a"),
                Column(name="b"),
                Column(name="outcome", meaning="of a against b"),
                Column(name="votes", meaning="how many of these to remove"),
            ),
            rows=self.rows,
            notes=(self.sentence,),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**vars(self), "sentence": self.sentence}

    def __repr__(self) -> str:
        return f"Influence({self.removed:,} of {self.total:,} decide between {self.first!r} and {self.new_first!r})"


def influence(data: Matches | Scores) -> Influence:
    """Find the smallest set of votes (matches) or tasks (scores) whose removal changes who is first.

    Matches are judged by Elo ratings with the prior that all data suggest, scores by the plain mean.

    Examples
    --------
    >>> import nashboard as nb
    >>> matches = nb.Matches.from_counts([[0, 6, 9], [4, 0, 9], [1, 2, 0]], agents=["A", "B", "C"])
    >>> nb.influence(matches).sentence
    'Without 3 of 31 votes (9.7%), B is first instead of A; no smaller set does.'
    """
    if isinstance(data, Matches):
        return influence_of_votes(data)
    if isinstance(data, Scores):
        return influence_of_tasks(data)
    raise InputError(f"influence takes Matches or Scores, not {type(data).__name__}")


def influence_of_tasks(scores: Scores) -> Influence:
    """Find tasks: for each challenger, removing the tasks with the largest lead of the first is optimal."""
    scores.require_complete()
    values, _, _ = comparable_values(scores)
    order = np.argsort(-values.mean(axis=1), kind="stable")
    first, best = int(order[0]), None
    for challenger in map(int, order[1:]):
        lead = values[first] - values[challenger]
        falling = np.argsort(-lead, kind="stable")
        left = lead.sum() - np.cumsum(lead[falling])
        enough = np.flatnonzero(left[:-1] < 0)
        if enough.size and (best is None or enough[0] + 1 < len(best[1])):
            best = challenger, falling[: enough[0] + 1]
    if best is None:
        raise InputError(f"{scores.agents[first]!r} leads on every task: no removal of tasks changes first place")
    kept = np.setdiff1d(np.arange(len(scores.tasks)), best[1])
    new = int(np.argmax(values[:, kept].mean(axis=1)))
    return Influence(
        first=scores.agents[first],
        new_first=scores.agents[new],
        rows=tuple((scores.tasks[k], "", "", 1) for k in best[1]),
        removed=len(best[1]),
        total=len(scores.tasks),
        minimal=True,
        kind="scores",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Ladder:
    """Bradley-Terry ratings with a normal prior, fitted by Newton's method from a warm start."""

    n: int
    i: Ints
    j: Ints
    precision: float

    def fit(self, counts: Floats, start: Floats) -> Floats:
        """Return the ratings; ``counts`` is (p, 3) wins, draws and losses."""
        games, points = counts.sum(axis=1), counts @ POINTS
        r = start
        for _ in range(50):
            p = 1 / (1 + np.exp(r[self.j] - r[self.i]))
            gradient = self.sums(points - games * p) - self.precision * r
            step = np.linalg.solve(self.hessian(games * p * (1 - p)), gradient)
            largest = np.abs(step).max()
            r = r + step / max(1.0, largest)
            if largest < 1e-10:
                break
        return r

    def sums(self, values: Floats) -> Floats:
        """Return sums over each agent's pairs, minus where it is the second."""
        n = self.n
        return np.asarray(np.bincount(self.i, values, minlength=n) - np.bincount(self.j, values, minlength=n))

    def hessian(self, W: Floats) -> Floats:
        """Return ``B' W B`` plus the prior's precision."""
        H = np.zeros((self.n, self.n))
        H[self.i, self.j] = H[self.j, self.i] = -W
        H[np.arange(self.n), np.arange(self.n)] = self.precision - H.sum(axis=1)
        return H


def influence_of_votes(matches: Matches) -> Influence:
    """Find votes: by influence, confirmed and trimmed by fits, and by search where that is feasible."""
    from nashboard.ratings.hierarchical import fit_hierarchical

    matches.require_counts()
    matches.require_connected()
    counts = np.stack([getattr(matches, name) for name in OUTCOMES], axis=1)
    if (counts != counts.round()).any():
        raise InputError("influence needs whole numbers of votes, and some counts are fractions")
    sigma = fit_hierarchical(matches).sigma
    i, j = matches.pairs.T
    ladder = Ladder(n=len(matches.agents), i=i, j=j, precision=1 / sigma**2)
    ratings = ladder.fit(counts, np.zeros(ladder.n))
    first = int(np.argmax(ratings))
    found = None
    for challenger in map(int, np.argsort(-ratings, kind="stable")[1 : 1 + CHALLENGERS]):
        removal = overtake(ladder, counts, ratings, first, challenger)
        if removal is not None and (found is None or removal.sum() < found.sum()):
            found = removal
    if found is None:
        raise InputError(
            f"no set of votes was found whose removal changes first place: {matches.agents[first]!r} stays"
        )
    smaller = search_smaller(ladder, counts, ratings, first, int(found.sum()))
    found = found if smaller is None or smaller is False else smaller
    new = int(np.argmax(ladder.fit(counts - found, ratings)))
    return Influence(
        first=matches.agents[first],
        new_first=matches.agents[new],
        rows=tuple(
            (
                matches.agents[i[k]],
                matches.agents[j[k]],
                RESULTS[outcome],
                int(found[k, outcome]),
            )
            for k, outcome in np.argwhere(found)
        ),
        removed=int(found.sum()),
        total=int(counts.sum()),
        minimal=smaller is not False,
        kind="matches",
    )


def overtake(ladder: Ladder, counts: Floats, ratings: Floats, first: int, challenger: int) -> Floats | None:
    """Return a removal (p, 3) after which the challenger is ahead of the first; each vote in it is needed."""
    left, r = counts.copy(), ratings
    most = counts.sum()
    while r[challenger] <= r[first] + AHEAD:
        effect = vote_effects(ladder, left, r, first, challenger)
        effect[left <= 0] = np.inf
        order = np.argsort(effect.ravel(), kind="stable")
        order = order[effect.ravel()[order] < 0]
        if not order.size or counts.sum() - left.sum() > most / 2:
            return None
        lead = r[first] - r[challenger] + AHEAD
        flat = left.ravel()
        for k in order:  # about half of what the approximation asks for: effects change as votes go
            take = min(flat[k], max(1.0, np.floor(0.5 * lead / -effect.ravel()[k])))
            flat[k] -= take
            lead += take * effect.ravel()[k]
            if lead <= (r[first] - r[challenger] + AHEAD) / 2:
                break
        r = ladder.fit(left, r)
    return trim(ladder, counts, counts - left, r, first, challenger)


def vote_effects(ladder: Ladder, counts: Floats, r: Floats, first: int, challenger: int) -> Floats:
    """Return (p, 3) how the lead of the first over the challenger changes if one such vote goes."""
    games = counts.sum(axis=1)
    p = 1 / (1 + np.exp(r[ladder.j] - r[ladder.i]))
    contrast = np.zeros(ladder.n)
    contrast[first], contrast[challenger] = 1.0, -1.0
    g = np.linalg.solve(ladder.hessian(games * p * (1 - p)), contrast)
    return np.asarray(-(g[ladder.i] - g[ladder.j])[:, None] * (POINTS[None, :] - p[:, None]))


def trim(ladder: Ladder, counts: Floats, removal: Floats, r: Floats, first: int, challenger: int) -> Floats:
    """Put votes back, the least effective first, as long as the challenger stays ahead."""
    removal = removal.copy()
    while True:
        effect = vote_effects(ladder, counts - removal, r, first, challenger)
        for k in np.argsort(-np.where(removal > 0, effect, -np.inf).ravel(), kind="stable"):
            place = np.unravel_index(k, removal.shape)
            if removal[place] <= 0:
                return removal
            trial = removal.copy()
            trial[place] -= 1
            again = ladder.fit(counts - trial, r)
            if again[challenger] > again[first] + AHEAD:
                removal, r = trial, again
                break
        else:
            return removal


def search_smaller(ladder: Ladder, counts: Floats, ratings: Floats, first: int, size: int) -> Any:
    """Return a smaller removal, None if a search of all of them finds none, False if there are too many to search."""
    kinds = np.argwhere(counts > 0)
    if sum(comb(len(kinds) + k - 1, k) for k in range(1, size)) > EXHAUSTIVE:
        return False
    for k in range(1, size):
        for chosen in combinations_with_replacement(range(len(kinds)), k):
            removal = np.zeros_like(counts)
            np.add.at(removal, tuple(kinds[list(chosen)].T), 1.0)
            if (removal > counts).any():
                continue
            r = ladder.fit(counts - removal, ratings)
            if r.max() > r[first] + AHEAD:
                return removal
    return None


def without_votes(matches: Matches, found: Influence) -> Matches:
    """Return the matches without the votes of a removal."""
    counts = {name: np.array(getattr(matches, name)) for name in OUTCOMES}
    place = {(matches.agents[a], matches.agents[b]): k for k, (a, b) in enumerate(matches.pairs)}
    name_of = dict(zip(RESULTS, OUTCOMES, strict=True))
    for a, b, outcome, votes in found.rows:
        counts[name_of[outcome]][place[a, b]] -= votes
    kept = sum(counts.values()) > 0
    return replace(
        matches,
        pairs=matches.pairs[kept],
        wins=counts["wins"][kept],
        draws=counts["draws"][kept],
        losses=counts["losses"][kept],
        clusters=None,
        sides=None,
    )
