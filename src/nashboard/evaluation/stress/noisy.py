"""Noisy copies: the same agent or task with its own luck, entered several times.

An exact copy moves nothing. A noisy copy is another agent as far as the data can show. How far the board moves, with
near-duplicates pooled as in the evaluation itself, is measured here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Ints
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.scores import Scores
from nashboard.evaluation.posterior.scores import known_noise
from nashboard.evaluation.stress.experiment import Experiment
from nashboard.evaluation.stress.movement import LABELS, Method, movement


@dataclass(frozen=True, kw_only=True)
class NoisyMovement:
    """What several draws of noisy copies do to one standing.

    Parameters
    ----------
    copies
        How many copies are entered.
    draws
        How often their luck was drawn.
    rank_median, rank_most
        Largest change of a rank: the median and the largest over the draws.
    score_median, score_most
        Largest change of a score.
    share_median
        The median as a share of the distance from last to first.
    winner_changed
        In which share of the draws somebody else was in first place.
    """

    method: Method
    copies: int
    draws: int
    rank_median: float
    rank_most: int
    score_median: float
    score_most: float
    share_median: float
    winner_changed: float
    unit: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return dict(vars(self))


def noise_is_known(game: Experiment) -> bool:
    """Return whether luck can be drawn: games can be played again, scores need standard errors or items."""
    data = game.data
    if isinstance(data, Scores):
        return bool(np.isfinite(known_noise(data)).any())
    return isinstance(data, Matches) and NO_COUNTS not in data.origin.notes


def measure_noisy(
    game: Experiment, copies: tuple[int, ...], chosen: Ints, draws: int, seed: int
) -> tuple[NoisyMovement, ...]:
    """Enter noisy copies several times; the draws of each count depend on the seed and the count alone."""
    found = []
    nothing = np.zeros(len(game.entries), dtype=np.intp)
    before = {method: game.exact(method, nothing) for method in game.methods}
    for count in copies:
        entered = np.where(chosen > 0, count, 0)
        streams = np.random.SeedSequence([seed, count]).spawn(draws)
        data = [game.enter(entered, np.random.default_rng(stream)) for stream in streams]
        problems = [game.repeat(one) for one in data]
        for method in game.methods:
            moved = [
                movement(before[method], game.noisy(method, one, problem))
                for one, problem in zip(data, problems, strict=True)
            ]
            found.append(
                NoisyMovement(
                    method=method,
                    copies=count,
                    draws=draws,
                    rank_median=float(np.median([one.rank_moved for one in moved])),
                    rank_most=max(one.rank_moved for one in moved),
                    score_median=float(np.median([one.score_moved for one in moved])),
                    score_most=max(one.score_moved for one in moved),
                    share_median=float(np.median([one.share_moved for one in moved])),
                    winner_changed=float(np.mean([one.winner_changed for one in moved])),
                    unit=moved[0].unit,
                )
            )
    return tuple(found)


def noisy_table(rows: tuple[NoisyMovement, ...], title: str) -> Table:
    """Return one row per count and method."""
    return Table(
        title=title,
        columns=(
            Column(name="copies", meaning="how many noisy copies are entered"),
            Column(name="method"),
            Column(name="ranks moved", meaning="largest change of a rank, median over the draws", decimals=1),
            Column(name="at most", meaning="largest change of a rank over all draws"),
            Column(name="score moved", meaning="largest change of a score, median over the draws", decimals=4),
            Column(name="of the range", meaning="the same as a share of the distance from last to first"),
            Column(name="new winner", meaning="share of the draws in which somebody else was in first place"),
            Column(name="unit", meaning="what scores are measured in"),
        ),
        rows=tuple(
            (
                row.copies,
                LABELS[row.method],
                row.rank_median,
                row.rank_most,
                row.score_median,
                row.share_median,
                row.winner_changed,
                row.unit,
            )
            for row in rows
        ),
    )
