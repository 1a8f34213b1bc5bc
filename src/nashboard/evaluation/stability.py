"""How far the headline can be trusted: does the support stay, and who is next in line?"""

from dataclasses import asdict, dataclass
from typing import Any

from nashboard._tables import count, number, percent
from nashboard._types import Floats
from nashboard.evaluation.board import Board
from nashboard.evaluation.data_quality import FEW
from nashboard.evaluation.intervals import Samples, Uncertainty

FEW_TASKS = 3  # one task drawn again is itself, and of two hardly more is learnt
FIRM, FAIR = 0.95, 0.75  # shares of resamples with the same support, for the words below


@dataclass(frozen=True, kw_only=True)
class Stability:
    """What resampling does to the support of the agents, for one question.

    Parameters
    ----------
    same_support
        Share of resamples with exactly the same support, of those that `Uncertainty.support` is made of.
    kept
        Share of the support's members that stay in it, on average over these: the mean of their `support`.
    competitor, margin, competitor_support
        Who outside comes nearest, by how much it misses, how likely it belongs in; an empty name where all have weight.
    games_per_pair
        The median, of matches: firm is said of nothing that rests on few games.
    tasks
        How many different tasks other suites were drawn from: nor of anything that rests on one or two.
    """

    question: str
    resamples: int
    same_support: float
    kept: float
    competitor: str
    margin: float
    competitor_support: float
    games_per_pair: float | None = None
    tasks: int | None = None

    @property
    def thin(self) -> str:
        """What there is too little of to call a top firm: games, which leave it to the prior, or tasks; or nothing."""
        if self.games_per_pair is not None and self.games_per_pair < FEW:
            return f"the median pair has {count(self.games_per_pair)} of the {FEW} games that this takes"
        if self.tasks is not None and self.tasks < FEW_TASKS:
            return f"there are {self.tasks} different tasks of the {FEW_TASKS} that this takes"
        return ""

    @property
    def word(self) -> str:
        """How firm the headline is."""
        if self.same_support < FAIR:
            return "not firm"
        few = "games" if self.tasks is None else "tasks"
        return f"too few {few} to say" if self.thin else "firm" if self.same_support >= FIRM else "fairly firm"

    def sentence(self) -> str:
        """Say in plain words how far the headline can be trusted."""
        what = {
            "again": "measured again, the same agents would",
            "suite": "on another suite of this kind, the same agents would",
        }[self.question]
        words = "be at the top" if self.same_support >= FIRM else "be at the top most of the time"
        said = (
            f"the set at the top was exactly the same in {percent(self.same_support)} of {self.resamples:,} resamples, "
            f"and {percent(self.kept)} of its members stayed on average"
        )
        if self.thin and self.same_support >= FAIR:
            return f"How firm the headline is cannot be said ({QUESTIONS[self.question]}): {said}, but {self.thin}."
        reading = (
            f"{what} {words}"
            if self.same_support >= FAIR
            else "read the top as a region, not as a list: see 'in support'"
        )
        return f"The headline is {self.word} ({QUESTIONS[self.question]}): {said}; {reading}."

    def competition(self) -> str:
        """Say who is next in line."""
        if not self.competitor:
            return "Every agent ties for first: nobody stands outside the top."
        return (
            f"The nearest outside the top is {self.competitor!r}: it misses it by {number(self.margin)} and "
            f"belongs there with probability {percent(self.competitor_support)} ({QUESTIONS[self.question]})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


QUESTIONS = {"again": "what if the same were measured again?", "suite": "would another suite agree?"}


def stability(
    board: Board,
    weights: Floats,
    samples: Samples,
    found: Uncertainty,
    games_per_pair: float | None = None,
    tasks: int | None = None,
) -> Stability:
    """Compare the support of every resample with the point estimate's; ``weights`` are those of the classes."""
    inside = weights > 0
    supports = samples.inside > 0  # as in the probabilities of the board, which must not contradict this
    outside = [int(k) for k in board.order if board.ranks[k] > 1]
    nearest = outside[0] if outside else None
    return Stability(
        question=found.question,
        resamples=len(supports),
        same_support=float((supports == inside).all(axis=1).mean()),
        kept=float(supports[:, inside].mean()),
        competitor="" if nearest is None else board.names[nearest],
        margin=0.0 if nearest is None else float(-board.gaps[nearest]) + 0.0,
        competitor_support=0.0 if nearest is None else float(found.support[nearest]),
        games_per_pair=games_per_pair,
        tasks=tasks,
    )
