"""The attack: how few clones put a given agent first.

How it is searched, and what is proved, is told in `nashboard.evaluation.smallest_attack`. Nash averages are then solved
on the attacked data and compared: that is the proof that they do not move.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nashboard._tables import Column, Table, plain
from nashboard._threads import threads_for
from nashboard._types import Ints
from nashboard.data.matches import Matches
from nashboard.data.names import positions
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash import Selection
from nashboard.errors import InputError
from nashboard.evaluation.comparable import matches_or_scores
from nashboard.evaluation.contest import Contest, Kind, contest
from nashboard.evaluation.smallest_attack import leads, smallest_elo, smallest_uniform
from nashboard.evaluation.standing import LABELS, Movement, movement, named_first

Attacked = Literal["uniform", "elo"]
MOST = 100


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Attack:
    """The smallest set of clones that puts an agent first, or the finding that there is none.

    Parameters
    ----------
    target
        Who is to be first.
    method
        The method that is attacked: ``"uniform"`` or ``"elo"``.
    clones
        What is entered, ``(name, copies)``; nothing where the target is first already or cannot be made so.
    possible
        Whether the target is alone in first place after the attack.
    exact
        Whether every smaller attack is ruled out, whatever mixture of clones it enters: under the uniform average
        always, under Elo where every two agents have played equally often (as on every complete table of scores) or
        all smaller mixtures could be tried. Otherwise the clones are the fewest of one entry, among the entries that
        were tried.
    moved
        What the attack does to the attacked method.
    nash
        What the same attack does to the Nash averages.
    """

    target: str
    kind: Kind
    method: Attacked
    clones: tuple[tuple[str, int], ...]
    possible: bool
    exact: bool
    rank_before: int
    most: int
    moved: Movement
    nash: Movement

    @property
    def total(self) -> int:
        """How many clones are entered."""
        return sum(copies for _, copies in self.clones)

    def sentence(self) -> str:
        """Say what the attack does."""
        label = LABELS[self.method]
        if self.rank_before == 1 and not self.clones and self.possible:
            return f"{self.target} is first under {label} without any clone"
        if not self.possible:
            proof = "no set of clones puts" if self.exact else "no attack was found that puts"
            return f"{proof} {self.target} first under {label} with at most {self.most:,} clones"
        what = " and ".join(
            f"{copies:,} {'copy' if copies == 1 else 'copies'} of {name}" for name, copies in self.clones
        )
        shared = self.rank_before == 1 or self.target in self.moved.winners_before
        before = f"{self.rank_before}{', shared' * shared}"
        held = f"Nash averages moved by {self.nash.score_moved:.1e}"
        how_few = "no fewer do" if self.exact else "the fewest of one entry, among those tried; fewer may do if mixed"
        does = f"put{'s' * (self.total == 1)} {self.target} first under {label}"
        return f"{what} {does} (before: {before}; {how_few}); {held}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "target": self.target,
            "kind": self.kind,
            "method": self.method,
            "clones": [{"name": name, "copies": copies} for name, copies in self.clones],
            "total": self.total,
            "possible": self.possible,
            "exact": self.exact,
            "most": self.most,
            "rank_before": self.rank_before,
            "moved": self.moved.to_dict(),
            "nash": self.nash.to_dict(),
        }

    @property
    def proof(self) -> str:
        """How far it is known that no smaller attack does it; where none was found, that none does."""
        if not self.possible:
            return f"{'proved' if self.exact else 'tried'}: none up to {self.most:,}"
        return "proved" if self.exact else "of one entry, of those tried"

    def __repr__(self) -> str:
        found = f"{self.total:,} clones" if self.possible else "not possible"
        return f"Attack({self.target!r} first under {LABELS[self.method]}: {found})"

    def __str__(self) -> str:
        return plain(attack_table((self,)))


def attack(
    data: Matches | Scores,
    target: str,
    *,
    method: Attacked = "uniform",
    kind: Kind | None = None,
    most: int = MOST,
    selection: Selection = "clone-invariant",
) -> Attack:
    """Find the smallest number of clones that puts an agent first.

    Parameters
    ----------
    data
        Matches, in which agents are cloned, or scores, in which tasks are.
    target
        The agent.
    method
        ``"uniform"``: the uniform average; ``"elo"``: Elo by maximum likelihood (of scores: each task is a game
        between every two agents).
    kind
        What may be cloned; agents in a table of scores move the board of tasks, and then the target is a task.
    most
        The largest number of clones that is considered.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.evaluation.attack import attack
    >>> found = attack(nb.load_dataset("suite-3").scale("none"), "C")
    >>> found.clones
    (('task 3', 1),)
    """
    data = matches_or_scores(data, "attack")
    if method not in ("uniform", "elo"):
        raise InputError(f"there is no attack on {method!r}: use 'uniform' or 'elo'")
    if most < 1:
        raise InputError(f"most is {most}: at least one clone must be allowed")
    game = contest(data, kind, selection)
    with threads_for(len(game.entries)):
        return attack_on(game, target, method=method, most=most)


def attack_on(game: Contest, target: str, *, method: Attacked, most: int) -> Attack:
    """Search in a contest, then solve the attacked data by both methods."""
    (t,) = positions([target], game.names, kind=game.board[:-1])
    if method not in game.methods:
        raise InputError("tasks have no Elo ratings: attack 'uniform', or clone tasks to move the board of agents")
    nothing = np.zeros(len(game.entries), dtype=np.intp)
    before = game.exact(method, nothing)
    found: Ints | None = nothing
    proved = True
    if not leads(before, t):
        if method == "uniform":
            found, proved = smallest_uniform(game.M, t, most)
        else:
            found, proved = smallest_elo(game, t, most)
    copies = nothing if found is None else found
    return Attack(
        target=target,
        kind=game.kind,
        method=method,
        clones=tuple((game.entries[k], int(copies[k])) for k in np.flatnonzero(copies)),
        possible=found is not None,
        exact=proved,
        rank_before=int(before.ranks[t]),
        most=most,
        moved=movement(before, game.exact(method, copies)),
        nash=movement(game.exact("nash", nothing), game.exact("nash", copies)),
    )


def attack_table(attacks: tuple[Attack, ...]) -> Table:
    """Return one row per attack."""
    return Table(
        title="the smallest number of clones that puts somebody first",
        columns=(
            Column(name="target", meaning="who is to be first"),
            Column(name="method", meaning="the method that is attacked"),
            Column(name="before", meaning="rank without clones"),
            Column(name="clones", meaning="how many clones are enough; a dash where no number is"),
            Column(name="of", meaning="what is cloned, how often"),
            Column(name="first before", meaning="who was first"),
            Column(name="smallest", meaning="whether every smaller attack is ruled out, mixtures included"),
            Column(name="Nash moved", meaning="largest change of a Nash average by the same attack", decimals=4),
        ),
        rows=tuple(
            (
                found.target,
                LABELS[found.method],
                found.rank_before,
                found.total if found.possible else None,
                ", ".join(f"{copies:,} x {name}" for name, copies in found.clones) or "none",
                named_first(found.moved.winners_before),
                found.proof,
                float(found.nash.score_moved) if found.possible else None,
            )
            for found in attacks
        ),
        telling=("target", "method", "clones", "of", "Nash moved", "smallest", "before", "first before"),
    )
