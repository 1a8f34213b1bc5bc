"""How far the headline can be trusted: does the support stay, and who is next in line?"""

from dataclasses import asdict, dataclass
from typing import Any

from nashboard._tables import number
from nashboard._types import Floats
from nashboard.evaluation.board import Board
from nashboard.evaluation.intervals import Samples, Uncertainty

FIRM, FAIR = 0.95, 0.75  # shares of resamples with the same support, for the words below


@dataclass(frozen=True, kw_only=True)
class Stability:
    """What resampling does to the support of the agents, for one question.

    Parameters
    ----------
    same_support
        Share of resamples with exactly the same support.
    kept
        Share of the support's members that stay in it, on average over resamples.
    competitor, margin, competitor_support
        Who outside comes nearest, by how much it misses, how likely it belongs in; an empty name where all have weight.
    """

    question: str
    resamples: int
    same_support: float
    kept: float
    competitor: str
    margin: float
    competitor_support: float

    def sentence(self) -> str:
        """Say in plain words how far the headline can be trusted."""
        what = {
            "again": "measured again, the same agents would",
            "suite": "on another suite of this kind, the same agents would",
        }[self.question]
        words = "be at the top" if self.same_support >= FIRM else "be at the top most of the time"
        word = "firm" if self.same_support >= FIRM else "fairly firm" if self.same_support >= FAIR else "not firm"
        said = (
            f"the set at the top was exactly the same in {self.same_support:.0%} of {self.resamples:,} resamples, "
            f"and {self.kept:.0%} of its members stayed on average"
        )
        reading = (
            f"{what} {words}"
            if self.same_support >= FAIR
            else "read the top as a region, not as a list: see 'in support'"
        )
        return f"The headline is {word} ({QUESTIONS[self.question]}): {said}; {reading}."

    def competition(self) -> str:
        """Say who is next in line."""
        if not self.competitor:
            return "Every agent ties for first: nobody stands outside the top."
        return (
            f"The nearest outside the top is {self.competitor!r}: it misses it by {number(self.margin)} and "
            f"belongs there with probability {self.competitor_support:.0%} ({QUESTIONS[self.question]})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


QUESTIONS = {"again": "what if the same were measured again?", "suite": "would another suite agree?"}


def stability(board: Board, weights: Floats, samples: Samples, found: Uncertainty) -> Stability:
    """Compare the support of every resample with the point estimate's; ``weights`` are those of the classes."""
    inside = weights > 0
    supports = samples.weights > 0
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
    )
