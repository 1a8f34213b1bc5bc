"""How far the headline can be trusted: does the support stay, and who is next in line?

Next in line is who most likely belongs to the top. That need not be who comes nearest by average: in the point estimate
the top may be there by luck, and those it happens to beat lie far behind.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nashboard._tables import count, number, percent
from nashboard._text import listed
from nashboard._types import Floats
from nashboard.evaluation.audit.data_quality import FEW
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.intervals import Samples, Uncertainty

FEW_TASKS = 3  # one task drawn again is itself, and of two hardly more is learnt
FIRM, FAIR = 0.95, 0.75  # shares of resamples with the same support, for the words below
MENTIONED, MOST = 0.01, 3  # outsiders are named from this probability, and half the likeliest's, on; so many at most


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
    rivals
        Who outside most likely belongs in, and with what probability, the likeliest first; empty where nobody does.
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
    rivals: Mapping[str, float] = field(default_factory=dict)

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
        asked = QUESTIONS[self.question]
        nearest, likely = repr(self.competitor), list(self.rivals)
        if likely in ([], [self.competitor]):
            return (
                f"The nearest outside the top is {nearest}: it misses it by {number(self.margin)} and "
                f"belongs there with probability {percent(self.competitor_support)} ({asked})."
            )
        if len(likely) == 1:
            said = f"is {likely[0]!r}, with probability {percent(self.rivals[likely[0]])}"
        else:
            chances = [percent(chance) for chance in self.rivals.values()]
            said = f"are {listed(likely)}, with probabilities {', '.join(chances[:-1])} and {chances[-1]}"
        known = "" if self.competitor in self.rivals else f" ({percent(self.competitor_support)})"
        return (
            f"Likeliest to belong to the top, of those outside, {said} ({asked}); the nearest by average, "
            f"{nearest}{known}, misses it by {number(self.margin)}."
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
    names: dict[int, str] = {}  # copies are one agent, by the first of their names, however rounding orders them
    for name, label in zip(board.names, map(int, board.classes), strict=True):
        names[label] = min(name, names.get(label, name))
    return Stability(
        question=found.question,
        resamples=len(supports),
        same_support=float((supports == inside).all(axis=1).mean()),
        kept=float(supports[:, inside].mean()),
        competitor="" if nearest is None else names[int(board.classes[nearest])],
        margin=0.0 if nearest is None else float(-board.gaps[nearest]) + 0.0,
        competitor_support=0.0 if nearest is None else float(found.support[nearest]),
        games_per_pair=games_per_pair,
        tasks=tasks,
        rivals=rivals(board, found, outside, names),
    )


def rivals(board: Board, found: Uncertainty, outside: list[int], names: dict[int, str]) -> dict[str, float]:
    """Return who outside the top is likeliest to belong there; copies of one agent are one."""
    ranks = {names[int(board.classes[k])]: int(board.ranks[k]) for k in outside}
    chances = {names[int(board.classes[k])]: float(found.support[k]) for k in outside}
    likely = sorted(chances, key=lambda name: (-chances[name], ranks[name], name))[:MOST]
    least = max(MENTIONED, chances[likely[0]] / 2) if likely else MENTIONED
    return {name: chances[name] for name in likely if chances[name] >= least}
