"""Redundancy: agents or tasks that are entered more than once, exactly or with their own luck.

Whether two are the same has three answers.

- *Yes*: their data agree in every cell (exact copies), or they are near-duplicates.
- *No*: they differ.
- *Cannot tell*: neither is shown. *Suspected* are pairs among these that are more likely the same than not.

Agents of matches are compared by the model that also pools them (`nashboard.evaluation.posterior.near_duplicates`).
Agents and tasks of scores are tested: near-duplicates where "they differ by the margin or more" is rejected, different
where "they are the same" is rejected, each by Holm's rule over all pairs.

Where no noise is known nothing can be tested, and only exact copies are recognised.

How alike two agents (or tasks) are, given the noise: a distance, and two tests of opposite direction.

For two lines of data that were measured at the same places j, with differences ``d[j]`` of variance ``v[j]``,

    T = sum d[j]^2 / v[j]

is chi-square with K degrees of freedom where the two are the same, and noncentral chi-square where they differ.

- *Told apart*: the chance of so large a T if they are the same, or of so large a mean difference, whichever is
  smaller, doubled for having looked twice. A small one says that they differ. The mean alone has one degree of
  freedom, and sees a small lead that T loses among many opponents.
- *Shown alike*: the chance of so small a T if they differ by the margin (root mean square, weighted by precision).
  A small one says that they differ by less. Without it "not told apart" may only mean that data are thin.

The second chance is divided by the chance of so small a T if the two are the same (the rule "CLs"): data that
hardly tell a copy from a stranger, or that scatter less than they should, then show nothing. The division only makes
it larger, so the stated error rate holds.

For matches j runs over common opponents; games of the two with each other, which should be even, are one more place
at which they can be told apart. The difference of their shares of points is measured in standard deviations of one
game, pooled over the two, and ``v = 1/games_a + 1/games_b``, corrected so that every term has mean 1 exactly given all
results (the two agents then differ by a random split of the same games). A margin is given in win rate at even
odds: 0.1 is a fifth of a standard deviation. For scores j runs over tasks (or agents), and v comes from the
standard errors.

References: Wellek 2010, Testing statistical hypotheses of equivalence and noninferiority; Read 2002, Presentation of
search results: the CLs technique.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nashboard._tables import Column, Table, as_html, plain
from nashboard._types import Bools, Floats, read_only
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.evaluation.audit.checks import Check
from nashboard.evaluation.problem import Data, Kind, Problem
from nashboard.evaluation.stress.experiment import LABELS, Experiment, Movement, movement

CLEARLY_DIFFERENT = 1e-6  # below it nobody asks whether two might be alike: p_apart is set to 1, which is safe
EVEN = 0.5  # the standard deviation of one game at even odds


@dataclass(frozen=True, kw_only=True, eq=False)
class Likeness:
    """All pairs compared: ``(n, n)`` each, symmetric, the diagonal meaningless.

    Parameters
    ----------
    distance
        Estimated root mean square difference, noise taken off; in win rate at even odds, or in score.
    observed
        The same with the noise left in.
    p_same
        Chance of so large a difference if the two are the same; 1 where nothing can be compared.
    p_apart
        Chance of so small a difference if the two differ by the margin, relative to that if they are the same;
        1 where nothing can be compared.
    places
        At how many places (opponents, tasks or agents) the two were compared.
    """

    distance: Floats
    observed: Floats
    p_same: Floats
    p_apart: Floats
    places: Floats


def judged(
    T: Floats,
    K: Floats,
    information: Floats,
    mean: Floats,
    margin: float,
    meetings: tuple[Floats, Floats] | None = None,
) -> Likeness:
    """Turn statistics into distances and the two tests.

    ``information`` is the sum of ``1 / v``, ``mean`` the squared mean difference over its variance.

    ``meetings`` are a statistic and its degrees of freedom that can tell two apart, but not show them alike: who
    is even with another need not be the same.
    """
    from scipy.special import chdtr, chdtrc, chndtr  # scipy.stats takes half a second to import

    some = K > 0
    k = np.where(some, K, 1.0)
    info = np.where(some, information, 1.0)
    T_all, K_all = (T, K) if meetings is None else (T + meetings[0], K + meetings[1])
    p_same = np.where(K_all > 0, chdtrc(np.maximum(K_all, 1.0), T_all), 1.0)
    p_same = np.minimum(2 * np.minimum(p_same, np.where(some, chdtrc(1, mean), 1.0)), 1.0)
    far = np.maximum(margin**2 * info, 1e-300)
    p_apart = np.ones_like(T)
    a, b = np.nonzero(some & (p_same > CLEARLY_DIFFERENT))
    if_same = chdtr(k[a, b], T[a, b])
    clear = if_same > 1e-12
    ratio = chndtr(T[a, b], k[a, b], far[a, b]) / np.where(clear, if_same, 1.0)
    p_apart[a, b] = np.where(clear, ratio, np.exp(-far[a, b] / 2))  # the limit of the ratio for T = 0
    return Likeness(
        distance=np.where(some, np.sqrt(np.maximum(T - K, 0.0) / info), np.nan),
        observed=np.where(some, np.sqrt(T / info), np.nan),
        p_same=p_same,
        p_apart=np.nan_to_num(np.clip(p_apart, 0.0, 1.0), nan=1.0),
        places=K,
    )


def likeness_of_agents(matches: Matches, margin: float) -> Likeness:
    """Compare the agents of matches by their results against common opponents and each other."""
    n = len(matches.agents)
    N, X, Q = np.zeros((3, n, n))  # games, points, sums of squared points of the row
    i, j = matches.pairs.T
    N[i, j] = N[j, i] = matches.games
    X[i, j], X[j, i] = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    Q[i, j], Q[j, i] = matches.wins + matches.draws / 4, matches.losses + matches.draws / 4
    T, K, information, lead = np.zeros((4, n, n))
    for opponent in range(n):
        root, weight = common_opponent(N[:, opponent], X[:, opponent], Q[:, opponent])
        weight[opponent] = weight[:, opponent] = 0.0
        T += weight * root**2
        K += weight > 0
        information += weight
        lead += weight * root
    games = np.where(N > 0, N, 1.0)
    spread = Q / games - X / games + 0.25  # mean of (points - 1/2)^2
    played = (N > 0) & (spread > 1e-12)
    even = np.where(played, N * (X / games - 0.5) ** 2 / np.where(played, spread, 1.0), 0.0)
    mean = lead**2 / np.where(information > 0, information, 1.0)
    return judged(T, K, information / EVEN**2, mean, margin, (even, played.astype(np.float64)))


def common_opponent(N: Floats, X: Floats, Q: Floats) -> tuple[Floats, Floats]:
    """Return each pair's difference against one opponent in standard deviations of a game, and its information."""
    both = (N[:, None] > 0) & (N > 0)
    total = np.where(both, N[:, None] + N, 1.0)
    mean = (X[:, None] + X) / total
    spread = (Q[:, None] + Q) / total - mean**2  # of one game, pooled
    useful = both & (spread > 1e-12) & (total > 1)
    weight = np.where(useful, N[:, None] * N / total, 0.0)
    share = X / np.where(N > 0, N, 1.0)
    exact = (total - 1) / total  # a split of the games at hand: finite population
    return (share[:, None] - share) * np.sqrt(exact / np.where(useful, spread, 1.0)), weight


def likeness_of_rows(S: Floats, E: Floats, margin: float, *, aligned: bool = False) -> Likeness:
    """Compare rows of scores whose standard errors ``E`` are known (NaN where not: such cells are not compared).

    ``aligned`` is for tasks, whose zero and unit come from noisy extremes: what an offset and a factor common to all
    agents can explain of a difference (least squares on 1 and the mean of the two rows) is taken out first, at the
    price of two degrees of freedom, and there is no test of the mean.
    """
    n = len(S)
    T, K, information, lead, w_m, w_mm, w_md = np.zeros((7, n, n))
    for s, e in zip(S.T, E.T, strict=True):
        v = e[:, None] ** 2 + e**2
        known = np.isfinite(v)
        w = np.where(known, 1 / np.where(known, v, 1.0), 0.0)
        d, m = s[:, None] - s, (s[:, None] + s) / 2
        T, K, information, lead = T + w * d**2, K + known, information + w, lead + w * d
        w_m, w_mm, w_md = w_m + w * m, w_mm + w * m**2, w_md + w * m * d
    some = np.where(information > 0, information, 1.0)
    if not aligned:
        return judged(T, K, information, lead**2 / some, margin)
    spread = w_mm - w_m**2 / some
    slope = w_md - w_m * lead / some
    explained = lead**2 / some + np.where(spread > 0, slope**2 / np.where(spread > 0, spread, 1.0), 0.0)
    return judged(np.maximum(T - explained, 0.0), np.maximum(K - 2, 0.0), information, np.zeros((n, n)), margin)


def distances_of_rows(S: Floats) -> Floats:
    """Return root mean square differences of rows, ``(n, n)``."""
    square = (S * S).sum(axis=1)
    gap = np.maximum(square[:, None] + square - 2 * (S @ S.T), 0.0)
    near = np.argwhere(gap <= 1e-6 * (square[:, None] + square))
    for a, b in near:  # cancellation: subtract first
        gap[a, b] = ((S[a] - S[b]) ** 2).sum()
    return np.asarray(np.sqrt(gap / S.shape[1]))


def holm(p: Floats, level: float) -> Bools:
    """Return which hypotheses are rejected by Holm's rule: P(any true one among them) is at most ``level``.

    Reference: Holm 1979, A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> import numpy as np
    >>> from nashboard.evaluation.audit.redundancy import holm
    >>> holm(np.array([0.01, 0.04, 0.03]), 0.05)
    array([ True, False, False])
    """
    order = np.argsort(p, kind="stable")
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    rejected = np.zeros(len(p), dtype=np.bool_)
    rejected[order] = np.logical_and.accumulate(passed) if len(p) else passed
    return rejected


Groups = Mapping[str, tuple[str, ...]]
Status = Literal["exact copies", "near-duplicates", "suspected", "cannot tell", "different"]
WIN_RATE, SCORE = "win rate at even odds", "scaled score"
SUSPECTED = 0.5  # probability of being one agent from which a pair is suspected
SHOWN = 5  # groups named in sentences, and members of a group
MARGIN_OF_GAMES = 0.1  # win rate at even odds: 0.2 standard deviations of a game, about 70 Elo points
MARGIN_OF_SCORES = 0.05  # of the range of a task
NEAREST = 10


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two agents or tasks: how far apart, and what the tests say.

    ``p_same`` is the chance of so large a difference if they are the same, ``p_apart`` of so small a one if they
    differ by the margin; NaN where no noise is known.
    """

    first: str
    second: str
    distance: float
    p_same: float
    p_apart: float
    status: Status


@dataclass(frozen=True, kw_only=True)
class CloneGroup:
    """Entries of which every two are clones of each other, exact or near; one can stand for all."""

    members: tuple[str, ...]
    representative: str
    exact: bool
    distance: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Redundancy:
    """What is entered more than once, and what merging would change.

    Parameters
    ----------
    kind
        ``"agents"`` or ``"tasks"``.
    distances
        ``(n, n)`` root mean square differences, noise taken off where it is known; NaN where two
        have nothing in common.
    groups
        Exact and near-clones; the distance of a group is the largest between two members.
    nearest
        The pairs that are closest to each other, whether clones or not.
    level, margin
        Of the tests: see the module's text.
    tested, modelled
        Whether noise was known, so that there were tests; whether the model that pools near-duplicates decided.
    suspected
        Pairs that would be near-clones if each pair were the only one looked at, the clearest first.
    compared, told_apart
        How many pairs there are, and how many of them the data tell apart.
    unit
        Of distances and the margin.
    merged
        What merging every group into its representative does to the board of agents, by method.
    """

    kind: Kind
    names: tuple[str, ...]
    distances: Floats
    groups: tuple[CloneGroup, ...]
    nearest: tuple[Pair, ...]
    suspected: tuple[Pair, ...]
    level: float
    margin: float
    tested: bool
    modelled: bool
    compared: int
    told_apart: int
    merged: tuple[Movement, ...]
    unit: str

    @property
    def rule(self) -> str:
        """Return what near means here, and what is guaranteed."""
        if not self.tested:
            return "no noise is known: only exact copies are recognised, and the others cannot be judged"
        if self.modelled:
            return (
                f"near-duplicates are more likely one agent than several, and differ against no opponent; entries are "
                f"different where the data favour that by more than {1 / self.level:.0f} to 1"
            )
        return (
            f"near-duplicates are shown to differ by less than {self.margin:g} ({self.unit}); the probability that any "
            f"two which differ by more are called so is at most {self.level:g}, over all pairs (Holm)"
        )

    def sentences(self) -> tuple[str, ...]:
        """Return what was found."""
        if not self.groups:
            if not self.tested or self.told_apart < self.compared:
                return (f"no near-duplicates found among {self.kind}; {self.not_told()}", *self.doubts())
            return (f"every two {self.kind} differ",)
        return (*self.alike(SHOWN), *self.merging(), *self.doubts())

    def checks(self) -> tuple[Check, ...]:
        """Check whether an entry was entered twice (yes, no, cannot tell), and whether first place depends on it."""
        changed = [LABELS[moved.method] for moved in self.merged if moved.winner_changed]
        merging = (
            f"merging copies among {self.kind} changes the winner by {', '.join(changed)}"
            if changed
            else f"no winner depends on copies among {self.kind}"
        )
        if self.groups:
            passed, said = False, (*self.alike(1), *self.merging())
        elif self.tested and self.told_apart == self.compared:
            passed, said = True, (f"every two {self.kind} differ",)
        else:
            passed, said = None, (f"these data cannot tell: {self.not_told()}", *self.doubts())
        return (
            Check(name=f"no {self.kind} entered twice", passed=passed, sentence="; ".join(said)),
            Check(name=f"winner without copies of {self.kind}", passed=not changed, sentence=merging),
        )

    def tables(self) -> dict[str, Table]:
        """Return the pairs that are closest, and what merging does, as tables."""
        return {f"alike {self.kind}": self.table(), f"merged {self.kind}": self.merge_table()}

    def not_told(self) -> str:
        """Return how many pairs the data leave open."""
        if not self.tested:
            return "no noise is known"
        left = self.compared - self.told_apart
        return f"{left:,} of {self.compared:,} pairs are neither shown to differ nor shown to be alike"

    def doubts(self) -> tuple[str, ...]:
        """Name the pairs that are suspected, if any."""
        pairs = tuple(f"{pair.first} = {pair.second}" for pair in self.suspected)
        among = f"suspected when looked at alone, as chance may make some among {self.compared:,} pairs"
        return (f"{among}, and not shown to be the same: {shortened(pairs)}",) if pairs else ()

    def alike(self, most: int) -> tuple[str, ...]:
        """Name the first groups of clones, and say how many more there are."""
        lines = [
            f"{'exact copies' if group.exact else 'near-duplicates'}: {shortened(group.members)} "
            f"({group.representative} represents all)"
            for group in self.groups[:most]
        ]
        if (more := len(self.groups) - most) > 0:
            lines.append(f"and {more:,} more group{'s' * (more > 1)} of clones among {self.kind}")
        return tuple(lines)

    def merging(self) -> tuple[str, ...]:
        """Return what merging does to the board, by every method that it moves."""
        lines = []
        for moved in self.merged:
            if moved.winner_changed or (moved.rank_moved and moved.method != "nash"):  # gaps of draws differ by chance
                change = f"moves {moved.who} from rank {moved.rank_before} to {moved.rank_after}"
                if moved.winner_changed:
                    change += f" and changes the winner from {', '.join(moved.winners_before)} to "
                    change += ", ".join(moved.winners_after)
                lines.append(f"merging them {change} ({LABELS[moved.method]})")
        return tuple(lines)

    def table(self) -> Table:
        """Return the pairs that are closest, with what the tests say."""
        return Table(
            title=f"{self.kind} that are most alike",
            columns=(
                Column(name="first"),
                Column(name="second"),
                Column(name="distance", meaning="root mean square difference, noise taken off where it is known"),
                Column(
                    name="p same", meaning="chance of so large a difference if they are the same; near 0 they differ"
                ),
                Column(
                    name="p apart",
                    meaning="chance of so small a difference if they differ by the margin; near 0 they do not",
                ),
                Column(name="status", meaning="what the two tests say together"),
            ),
            rows=tuple((p.first, p.second, p.distance, p.p_same, p.p_apart, p.status) for p in self.nearest),
            notes=(self.rule,),
            telling=("first", "second", "status", "distance", "p same", "p apart"),
        )

    def merge_table(self) -> Table:
        """Return what merging all groups does to the board of agents."""
        return Table(
            title=f"if clones among {self.kind} are merged",
            columns=(
                Column(name="method"),
                Column(name="ranks moved", meaning="largest change of a rank"),
                Column(name="who", meaning="the entry that moved most"),
                Column(name="score moved", meaning="largest change of a score", decimals=4),
                Column(name="unit", meaning="what scores are measured in"),
                Column(name="new winner", meaning="whether first place changed"),
            ),
            rows=tuple(
                (LABELS[m.method], m.rank_moved, m.who, m.score_moved, m.unit, m.winner_changed) for m in self.merged
            ),
            notes=(
                "merged agents pool their games: Elo counts games, and so still leans towards who was entered often",
            )
            if self.unit != SCORE
            else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "level": self.level,
            "margin": self.margin,
            "tested": self.tested,
            "compared": self.compared,
            "told_apart": self.told_apart,
            "groups": [{**vars(group), "members": list(group.members)} for group in self.groups],
            "nearest": [{k: None if v != v else v for k, v in vars(pair).items()} for pair in self.nearest],
            "suspected": [{k: None if v != v else v for k, v in vars(pair).items()} for pair in self.suspected],
            "merged": [moved.to_dict() for moved in self.merged],
        }

    def __repr__(self) -> str:
        exact = sum(group.exact for group in self.groups)
        return f"Redundancy({len(self.names):,} {self.kind}, {exact} exact and {len(self.groups) - exact} near groups)"

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), plain(self.table())])

    def _repr_html_(self) -> str:
        return as_html(self.table())


def shortened(names: tuple[str, ...]) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def find_redundancy(problem: Problem, kind: Kind, error: float, margin: float | None) -> Redundancy:
    """Find copies and near-duplicates among the agents or tasks of a problem."""
    data = problem.data
    if isinstance(data, Matches):
        margin = MARGIN_OF_GAMES if margin is None else margin
        likeness = None if problem.literal else likeness_of_agents(data, margin)
        gap = likeness_of_agents(data, margin).observed if likeness is None else likeness.observed
        return test_pairs(problem, kind, likeness, gap, data.games_per_agent, error, margin)
    scores = problem.scaled
    margin = MARGIN_OF_SCORES if margin is None else margin
    S, E = (scores.values, scores.stderr) if kind == "agents" else (scores.values.T, scores.stderr.T)
    tested = bool(np.isfinite(E).mean() > 0.5)
    likeness = likeness_of_rows(S, E, margin, aligned=kind == "tasks") if tested else None
    gap = distances_of_rows(S)
    return test_pairs(problem, kind, likeness, gap, -gap.sum(axis=1), error, margin)


def test_pairs(
    problem: Problem,
    kind: Kind,
    found: Likeness | None,
    gap: Floats,
    preference: Floats,
    error: float,
    margin: float,
) -> Redundancy:
    """Test all pairs, join copies into groups, and see what merging them does."""
    data = problem.data
    names = data.tasks if kind == "tasks" and isinstance(data, Scores) else data.agents
    label = problem.exact.label if kind == "agents" or problem.tasks is None else problem.tasks.label
    a, b = np.triu_indices(len(names), k=1)
    exact = label[:, None] == label
    apart = near = suspect = np.zeros(len(a), dtype=np.bool_)
    compared = problem.compared if kind == "agents" else None
    if compared is not None and compared.tested:
        pair_of = (label[a], label[b])
        same, probability = compared.label[label[a]] == compared.label[label[b]], compared.probability[pair_of]
        odds = probability * len(compared.agents) / np.maximum(1 - probability, 1e-300)
        near, apart = same & ~exact[a, b], ~same & (odds < error)
        suspect = ~same & (probability >= SUSPECTED)
    elif found is not None:
        apart = holm(found.p_same[a, b], error)
        small = np.ones_like(apart) if isinstance(data, Matches) else gap[a, b] <= margin  # errors may be shared
        near = small & holm(found.p_apart[a, b], error)
        suspect = small & ~near & (found.p_apart[a, b] <= error) & ~exact[a, b]
    if kind == "agents" and isinstance(data, Scores) and problem.pools:  # what the board pools is near, here too
        pooled = (problem.classes.label[a] == problem.classes.label[b]) & ~exact[a, b]
        near, suspect, apart = near | pooled, suspect & ~pooled, apart & ~pooled
    alike = exact.copy()
    alike[a, b] |= near
    alike |= alike.T
    distance = gap if found is None else np.where(np.isnan(found.distance), np.inf, found.distance)
    groups = tuple(
        CloneGroup(
            members=tuple(names[k] for k in members),
            representative=names[max(members, key=lambda k: (preference[k], -k))],
            exact=bool(exact[np.ix_(members, members)][~np.eye(len(members), dtype=np.bool_)].all()),
            distance=max(
                float(gap[i, j]) if found is None else float(distance[i, j]) for i, j in combinations(members, 2)
            ),
        )
        for members in cliques(alike, distance)
    )

    def pair(k: int) -> Pair:
        i, j = a[k], b[k]
        return Pair(
            first=names[i],
            second=names[j],
            distance=float(distance[i, j]) if np.isfinite(distance[i, j]) else float("nan"),
            p_same=float("nan") if found is None else float(found.p_same[i, j]),
            p_apart=float("nan") if found is None else float(found.p_apart[i, j]),
            status=status(exact[i, j], near[k], suspect[k], apart[k]),
        )

    order = np.lexsort([b, a, gap[a, b], distance[a, b], ~suspect, ~alike[a, b]])[:NEAREST]
    clearest = np.lexsort([b, a, gap[a, b] if found is None else found.p_apart[a, b], ~suspect])[: int(suspect.sum())]
    return Redundancy(
        kind=kind,
        names=names,
        distances=read_only(gap if found is None else found.distance),
        groups=groups,
        nearest=tuple(map(pair, order)),
        suspected=tuple(map(pair, clearest[:NEAREST])),
        level=error,
        margin=margin,
        tested=found is not None,
        modelled=compared is not None and compared.tested,
        compared=len(a),
        told_apart=int((apart & ~near).sum()),
        merged=measure_merging(problem, kind, by_name(groups, exact=True), by_name(groups, exact=False)),
        unit=WIN_RATE if isinstance(data, Matches) else SCORE,
    )


def by_name(groups: tuple[CloneGroup, ...], *, exact: bool) -> dict[str, tuple[str, ...]]:
    """Return the members of exact or of near groups by their representative."""
    return {group.representative: group.members for group in groups if group.exact == exact}


def status(exact: bool, near: bool, suspect: bool, apart: bool) -> Status:
    """Return what is known of a pair."""
    if exact:
        return "exact copies"
    if near:
        return "near-duplicates"
    if suspect:
        return "suspected"
    return "different" if apart else "cannot tell"


def cliques(alike: Bools, distance: Floats) -> list[list[int]]:
    """Join the closest first; two groups join only where every two of their members are alike."""
    group = {k: [k] for k in range(len(alike))}
    a, b = np.nonzero(np.triu(alike, k=1))
    for k in np.lexsort([b, a, distance[a, b]]):
        one, other = group[int(a[k])], group[int(b[k])]
        if one is not other and alike[np.ix_(one, other)].all():
            joined = sorted([*one, *other])
            group.update(dict.fromkeys(joined, joined))
    unique = {id(members): members for members in group.values() if len(members) > 1}
    return sorted(unique.values())


def merge_data(data: Data, kind: Kind, same: Groups, near: Groups) -> Data:
    """Return the data with each group as one entry, named by its representative."""
    if isinstance(data, Matches):
        gone = {member for name, members in same.items() for member in members if member != name}
        left = data.select([agent for agent in data.agents if agent not in gone]) if gone else data
        return left.merge(near) if near else left
    assert isinstance(data, Scores)
    gone = {member for name, members in {**same, **near}.items() for member in members if member != name}
    if kind == "agents":
        return data.select(agents=[agent for agent in data.agents if agent not in gone])
    return data.select(tasks=[task for task in data.tasks if task not in gone])


def measure_merging(problem: Problem, kind: Kind, same: Groups, near: Groups) -> tuple[Movement, ...]:
    """Return how far each method moves the agents when groups are merged; nothing where there is nothing to merge."""
    fewer = sum(len(members) - 1 for groups in (same, near) for members in groups.values())
    if not fewer or (kind == "agents" and len(problem.agents) - fewer < 2):
        return ()
    before = Experiment.of(problem)
    after = Experiment.of(problem.again(merge_data(problem.data, kind, same, near)))
    return tuple(
        movement(*(one.exact(method, np.zeros(len(one.entries), dtype=np.intp)) for one in (before, after)))
        for method in ("uniform", "elo", "nash")
    )
