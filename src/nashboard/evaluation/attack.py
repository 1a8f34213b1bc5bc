"""The attack: how few clones put a given agent first.

Under the uniform average the search is exact. Entering ``c[k]`` clones of k puts t before u when

    sum_k (1 + c[k]) (M[t, k] - M[u, k]) > 0

so the smallest attack is an integer program, solved to optimality. Where one kind of clone is enough, the least
count is the first whole number of an interval. Elo is fitted anew for every attack that is tried: for each
promising entry the counts 1, 2, 4, ... and then bisection, which finds the smallest count where an attack that works
goes on working with more copies; mixtures are not tried. Nash averages are then solved on the attacked data and
compared: that is the proof.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from nashboard._tables import Column, Table, plain
from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.names import positions
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash import Selection
from nashboard.equilibrium.threads import threads_for
from nashboard.errors import InputError
from nashboard.evaluation.comparable import matches_or_scores
from nashboard.evaluation.contest import Contest, Kind, contest
from nashboard.evaluation.standing import LABELS, Movement, Standing, movement, named_first

Attacked = Literal["uniform", "elo"]
MOST = 100
CANDIDATES = 16  # entries that are tried as clones against Elo, the most promising first
FEWER_CANDIDATES, MANY = 5, 60  # so many where there are more entries than this
NODES = 1000  # of the integer program's search; one is usual
OPTIMAL, INFEASIBLE = 0, 2  # what the solver reports
STRICTLY = 1e-7  # a lead counts from this share of the largest gain


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
        Whether a smaller attack is ruled out: always under the uniform average; under Elo only for a single
        clone, since mixtures of clones are not tried.
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
        return f"{what} put{'s' * (self.total == 1)} {self.target} first under {label} (before: {before}); {held}"

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
            found = smallest_elo(game, t, most)
            proved = found is not None and int(found.sum()) == 1
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


def leads(standing: Standing, t: int) -> bool:
    """Say whether t is alone in first place."""
    return bool(standing.ranks[t] == 1 and (standing.ranks == 1).sum() == 1)


def smallest_uniform(M: Floats, t: int, most: int) -> tuple[Ints | None, bool]:
    """Return the copies of the smallest attack on the uniform average (None: there is none), and whether it is proved.

    It is proved but for programs that are harder than any seen so far, whose search is cut off.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    rivals = np.delete(np.arange(len(M)), t)
    L = (M[t] - M[rivals]) / (float(np.abs(M).max()) or 1.0)
    need = STRICTLY - L.sum(axis=1)
    single = smallest_single(L, need, most)
    ceiling = most if single is None else int(single.sum())
    solved = milp(
        np.ones(M.shape[1]),
        constraints=[LinearConstraint(L, lb=need), LinearConstraint(np.ones(M.shape[1]), ub=ceiling)],
        bounds=Bounds(0, ceiling),
        integrality=np.ones(M.shape[1], dtype=np.int64),
        options={"node_limit": NODES},
    )
    proved = solved.status in (OPTIMAL, INFEASIBLE)
    if solved.x is None:
        return single, proved
    copies = np.rint(solved.x).astype(np.intp)
    if not (L @ copies >= need - STRICTLY / 2).all():
        return single, False
    return (copies if single is None or copies.sum() < single.sum() else single), proved


def smallest_single(L: Floats, need: Floats, most: int) -> Ints | None:
    """Return the smallest attack that clones one entry: for entry k the counts ``c`` with ``c L[:, k] >= need``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = need[:, None] / L
    low = np.max(np.where(L > 0, ratio, -np.inf), axis=0, initial=0.0)
    high = np.min(np.where(L < 0, ratio, np.inf), axis=0, initial=np.inf)
    stuck = ((L == 0) & (need[:, None] > 0)).any(axis=0)
    counts = np.maximum(np.ceil(low - 1e-12), 0.0)
    counts[stuck | (counts > high) | (counts > most)] = np.inf
    k = int(np.argmin(counts))
    if not np.isfinite(counts[k]):
        return None
    copies = np.zeros(L.shape[1], dtype=np.intp)
    copies[k] = int(counts[k])
    return copies


def smallest_elo(game: Contest, t: int, most: int) -> Ints | None:
    """Return the smallest attack on Elo that clones one entry, as far as it was found."""
    n = len(game.entries)

    def works(k: int, c: int) -> bool:
        copies = np.zeros(n, dtype=np.intp)
        copies[k] = c
        return leads(game.exact("elo", copies), t)

    best: tuple[int, int] | None = None
    order = promising(game, t)
    for k in order[: CANDIDATES if n <= MANY else FEWER_CANDIDATES]:
        limit = most if best is None else best[1] - 1
        c = first_count(partial(works, int(k)), limit)
        if c is not None:
            best = (int(k), c)
    if best is None:
        return None
    copies = np.zeros(n, dtype=np.intp)
    copies[best[0]] = best[1]
    return copies


def promising(game: Contest, t: int) -> Ints:
    """Order the entries by how much better the target does against them than its best rival."""
    standing = game.exact("elo", np.zeros(len(game.entries), dtype=np.intp)).scores.copy()
    standing[t] = -np.inf
    rival = int(np.argmax(standing))
    return np.argsort(game.M[rival] - game.M[t], kind="stable")


def first_count(works: Callable[[int], bool], limit: int) -> int | None:
    """Return the smallest count up to the limit that works: 1, 2, 4, ... until one does, then bisection."""
    if limit < 1:
        return None
    low, c = 0, 1
    while not works(c):
        if c == limit:
            return None
        low, c = c, min(2 * c, limit)
    while c - low > 1:
        middle = (low + c) // 2
        low, c = (low, middle) if works(middle) else (middle, c)
    return c


def attack_table(attacks: tuple[Attack, ...]) -> Table:
    """Return one row per attack."""
    return Table(
        title="the smallest number of clones that puts somebody first",
        columns=(
            Column(name="target", meaning="who is to be first"),
            Column(name="method", meaning="the method that is attacked"),
            Column(name="before", meaning="rank without clones"),
            Column(name="clones", meaning="how many clones are enough; a dash where none are"),
            Column(name="of", meaning="what is cloned, how often"),
            Column(name="first before", meaning="who was first"),
            Column(name="smallest", meaning="whether a smaller attack is ruled out"),
            Column(name="Nash moved", meaning="the largest change of a Nash average by the same attack"),
        ),
        rows=tuple(
            (
                found.target,
                LABELS[found.method],
                found.rank_before,
                found.total if found.possible else None,
                ", ".join(f"{copies:,} x {name}" for name, copies in found.clones),
                named_first(found.moved.winners_before),
                "proved" if found.exact else "of those tried",
                f"{found.nash.score_moved:.1e}",
            )
            for found in attacks
        ),
    )
