"""The attack: the smallest number of copies that puts a given agent first.

Nash averages are solved on the attacked data and compared with those before.

Under the uniform average entering ``c[k]`` copies of k puts t before u when

    sum_k (1 + c[k]) (M[t, k] - M[u, k]) > 0

so the smallest attack is an integer program, solved to optimality. If copies of one entry are enough, the smallest
count is the first whole number of an interval.

Elo is the same problem if every two agents have played equally often, as on every complete table of scores: the maximum
of the likelihood has ``sum_k m_k (P[i, k] - s(r_i - r_k)) = 0`` for every i, with ``P[i, i] = 1/2``, and the second
part is the same rising function of ``r_i`` for all agents; so the order by Elo is the order by points, ``P m``, and the
program with ``P`` for ``M`` is exact. Otherwise Elo is fitted again for every attack that is tried: for each candidate
the counts 1, 2, 4, ... and then bisection, which finds the smallest count if an attack that succeeds also succeeds with
more copies. Mixtures are not tried.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np

from nashboard._parallel import threads_for
from nashboard._tables import Column, Table, as_plain_text, plain_data
from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.data.validation import positions
from nashboard.errors import InputError, check_choice
from nashboard.evaluation.problem import Data, Kind, Options, prepare_data
from nashboard.evaluation.stress.experiment import (
    LABELS,
    Experiment,
    MethodResult,
    Movement,
    measure_movement,
    name_first,
)

Attacked = Literal["uniform", "elo"]
MOST = 100
CANDIDATES = 16  # entries that are tried as copies against Elo, the most promising first
FEWER_CANDIDATES, MANY = 5, 60  # the number of candidates if there are more entries than this
NODES = 1000  # of the integer program's search; one is usual
OPTIMAL, INFEASIBLE = 0, 2  # status of the solver
STRICTLY = 1e-7  # a lead counts from this share of the largest gain
CLEARLY = 1e-5  # a lead that is larger than the solver's tolerance


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Attack:
    """The smallest set of copies that puts an agent first, or the finding that there is none.

    Parameters
    ----------
    target
        The agent that is to be first.
    method
        The method that is attacked: ``"uniform"`` or ``"elo"``.
    clones
        The copies, ``(name, copies)``; empty if the target is first already or no attack succeeds.
    possible
        Whether the target is alone in first place after the attack.
    exact
        Whether every smaller attack is ruled out, mixtures of copies included: under the uniform average always, under
        Elo if every two agents have played equally often (as on every complete table of scores) or one copy is enough.
        Otherwise the copies are the fewest of one entry, among the entries that were tried.
    moved
        The effect of the attack on the attacked method.
    nash
        The effect of the same attack on the Nash averages.
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
        """The number of copies."""
        return sum(copies for _, copies in self.clones)

    def sentence(self) -> str:
        """Return the effect of the attack in one sentence."""
        label = LABELS[self.method]
        if self.rank_before == 1 and not self.clones and self.possible:
            return f"{self.target} is first under {label} without any copy"
        if not self.possible:
            proof = "no set of copies puts" if self.exact else "no attack was found that puts"
            return f"{proof} {self.target} first under {label} with at most {self.most:,} copies"
        what = " and ".join(
            f"{copies:,} {'copy' if copies == 1 else 'copies'} of {name}" for name, copies in self.clones
        )
        shared = self.rank_before == 1 or self.target in self.moved.winners_before
        before = f"{self.rank_before}{', shared' * shared}"
        nash_text = f"Nash averages moved by {self.nash.score_moved:.1e}"
        smallest = "no fewer do" if self.exact else "the fewest of one entry, among those tried; fewer may do if mixed"
        does = f"put{'s' * (self.total == 1)} {self.target} first under {label}"
        return f"{what} {does} (before: {before}; {smallest}); {nash_text}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        clones = [{"name": name, "copies": copies} for name, copies in self.clones]
        return {**plain_data(vars(self)), "clones": clones, "total": self.total}

    @property
    def proof(self) -> str:
        """Whether it is proved that no smaller attack succeeds; if none was found, that none does."""
        if not self.possible:
            return f"{'proved' if self.exact else 'tried'}: none up to {self.most:,}"
        return "proved" if self.exact else "of one entry, of those tried"

    def __repr__(self) -> str:
        found = f"{self.total:,} copies" if self.possible else "not possible"
        return f"Attack({self.target!r} first under {LABELS[self.method]}: {found})"

    def __str__(self) -> str:
        return as_plain_text(attack_table((self,)))


def attack(
    data: Data,
    target: str,
    *,
    method: Attacked = "uniform",
    kind: Kind | None = None,
    most: int = MOST,
    **options: Unpack[Options],
) -> Attack:
    """Find the smallest number of copies that puts an agent first.

    Parameters
    ----------
    data
        Matches, in which agents are copied, or scores, in which tasks are.
    target
        The agent.
    method
        ``"uniform"``: the uniform average; ``"elo"``: Elo, as on the board (of scores: each task is a game between
        every two agents).
    kind
        The kind of entries to copy; agents in a table of scores move the board of tasks, and then the target is a task.
    most
        The largest number of copies that is tried.
    options
        As in `nashboard.evaluate`.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.attack(nb.load_dataset("suite-3").scale("none"), "C", noise="none")
    >>> found.clones
    (('task 3', 1),)
    """
    check_choice(method, get_args(Attacked), "attack on")
    if most < 1:
        raise InputError(f"most is {most}: at least one copy must be allowed")
    game = Experiment.of(prepare_data(data, **options), kind)
    with threads_for(len(game.entries)):
        return search_attack(game, target, method=method, most=most)


def search_attack(game: Experiment, target: str, *, method: Attacked, most: int) -> Attack:
    """Search the smallest attack, then solve the attacked data by both methods."""
    (t,) = positions([target], game.names, kind=game.board[:-1])
    if method not in game.methods:
        raise InputError(f"there are no Elo ratings of {game.board} here: attack 'uniform'")
    no_copies = np.zeros(len(game.entries), dtype=np.intp)
    before = game.exact(method, no_copies)
    smallest: Ints | None = no_copies
    proved = True
    if not is_alone_first(before, t):
        if method == "uniform":
            smallest, proved = find_smallest_uniform(game.M, t, most)
        else:
            smallest, proved = find_smallest_elo(game, t, most)
    copies = no_copies if smallest is None else smallest
    return Attack(
        target=target,
        kind=game.kind,
        method=method,
        clones=tuple((game.entries[k], int(copies[k])) for k in np.flatnonzero(copies)),
        possible=smallest is not None,
        exact=proved,
        rank_before=int(before.ranks[t]),
        most=most,
        moved=measure_movement(before, game.exact(method, copies)),
        nash=measure_movement(game.exact("nash", no_copies), game.exact("nash", copies)),
    )


def attack_table(attacks: tuple[Attack, ...]) -> Table:
    """Return one row per attack."""
    return Table.of(
        attacks,
        Column("target", "who is to be first"),
        Column("method", "the method that is attacked", cell=lambda found: LABELS[found.method]),
        Column("before", "rank without copies", cell="rank_before"),
        Column(
            "copies", "how many copies are enough; a dash where no number is",
            cell=lambda found: found.total if found.possible else None,
        ),
        Column(
            "of", "what is copied, how often",
            cell=lambda found: ", ".join(f"{copies:,} x {name}" for name, copies in found.clones) or "none",
        ),
        Column("first before", "who was first", cell=lambda found: name_first(found.moved.winners_before)),
        Column("smallest", "whether every smaller attack is ruled out, mixtures included", cell="proof"),
        Column(
            "Nash moved", "largest change of a Nash average by the same attack", decimals=4,
            cell=lambda found: float(found.nash.score_moved) if found.possible else None,
        ),
        title="the smallest number of copies that puts an agent first",
        telling=("target", "method", "copies", "of", "Nash moved", "smallest", "before", "first before"),
    )  # fmt: skip


def is_alone_first(result: MethodResult, t: int) -> bool:
    """Return whether t is alone in first place."""
    return bool(result.ranks[t] == 1 and (result.ranks == 1).sum() == 1)


def find_smallest_uniform(M: Floats, t: int, most: int) -> tuple[Ints | None, bool]:
    """Return the copies of the smallest attack on the uniform average (None: there is none), and whether it is proved.

    It is proved except for programs whose search is cut off, which are very rare, and for leads so close to a tie that
    the solver cannot decide.
    """
    rivals = np.delete(np.arange(len(M)), t)
    L = (M[t] - M[rivals]) / (float(np.abs(M).max()) or 1.0)
    need = -L.sum(axis=1)
    single = find_smallest_single(L, need + STRICTLY, most)
    best, least = single, 0  # the smallest attack so far, and how many copies any attack has at least
    for lead in (STRICTLY, CLEARLY):
        ceiling = most if best is None else int(best.sum())
        copies, proved = solve_program(L, need + lead, ceiling)
        if lead == STRICTLY:
            if not proved:
                return best, False
            if copies is None:
                return best, True
            least = int(copies.sum())
        if copies is not None and (L @ copies >= need + STRICTLY / 2).all():
            best = copies if best is None or copies.sum() < best.sum() else best
        if best is not None and int(best.sum()) <= max(least, 1):
            return best, True
    return best, False


def solve_program(L: Floats, need: Floats, ceiling: int) -> tuple[Ints | None, bool]:
    """Return the fewest copies with ``L copies >= need``, within the solver's tolerance, and whether that is proved."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    ones = np.ones(L.shape[1])
    solved = milp(
        ones,
        constraints=[LinearConstraint(L, lb=need), LinearConstraint(ones, ub=ceiling)],
        bounds=Bounds(0, ceiling),
        integrality=ones.astype(np.int64),
        options={"node_limit": NODES},
    )
    copies = None if solved.x is None else np.rint(solved.x).astype(np.intp)
    return copies, solved.status in (OPTIMAL, INFEASIBLE)


def find_smallest_single(L: Floats, need: Floats, most: int) -> Ints | None:
    """Return the smallest attack that copies one entry: for entry k the counts ``c`` with ``c L[:, k] >= need``."""
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
    return copy_entry(len(counts), k, int(counts[k]))


def copy_entry(n: int, k: int, copies: int) -> Ints:
    """Return the array of copies of one of ``n`` entries."""
    return np.where(np.arange(n) == k, copies, 0)


def find_smallest_elo(game: Experiment, t: int, most: int) -> tuple[Ints | None, bool]:
    """Return the copies of the smallest attack on Elo that was found (None: none was), and whether it is proved."""
    P = tabulate_points(game)
    if P is not None:
        copies, proved = find_smallest_uniform(P, t, most)
        if copies is None or is_alone_first(game.exact("elo", copies), t):
            return copies, proved
    single = search_single_elo(game, t, most)
    return single, single is not None and int(single.sum()) == 1


def tabulate_points(game: Experiment) -> Floats | None:
    """Return the points of each agent of the board against each entry if Elo's order is that of points; else None."""
    if isinstance(game.data, Scores):
        S = game.problem.scaled.values  # in comparable units higher is better
        above = (S[:, None, :] > S[None, :, :]).sum(axis=1)
        level = (S[:, None, :] == S[None, :, :]).sum(axis=1)
        return np.asarray(above + level / 2)
    matches = game.data
    assert isinstance(matches, Matches)
    if game.sided or matches.coverage < 1 or (matches.games != matches.games[0]).any():
        return None
    return np.where(np.eye(len(matches.agents), dtype=np.bool_), 0.5, matches.win_rates())


def search_single_elo(game: Experiment, t: int, most: int) -> Ints | None:
    """Return the smallest attack on Elo that was found among those that copy one entry."""
    n = len(game.entries)

    def is_first(k: int, c: int) -> bool:
        return is_alone_first(game.exact("elo", copy_entry(n, k, c)), t)

    best: Ints | None = None
    for k in order_candidates(game, t)[: CANDIDATES if n <= MANY else FEWER_CANDIDATES].tolist():
        c = find_first_count(partial(is_first, k), most if best is None else int(best.sum()) - 1)
        best = best if c is None else copy_entry(n, k, c)
    return best


def order_candidates(game: Experiment, t: int) -> Ints:
    """Return the entries in the order of the target's lead over its best rival against them."""
    scores = game.exact("elo", np.zeros(len(game.entries), dtype=np.intp)).scores.copy()
    scores[t] = -np.inf
    rival = int(np.argmax(scores))
    return np.argsort(game.M[rival] - game.M[t], kind="stable")


def find_first_count(works: Callable[[int], bool], limit: int) -> int | None:
    """Return the smallest count that works, by doubling and then bisection; None if the limit does not work."""
    if limit < 1 or not works(limit):
        return None
    low, c = 0, 1
    while c < limit and not works(c):
        low, c = c, min(2 * c, limit)
    return bisect_left(range(c), True, lo=low + 1, key=works)
