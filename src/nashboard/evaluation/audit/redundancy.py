"""Redundancy: agents or tasks that are entered more than once, exactly or with their own noise.

There are three answers to whether two entries are the same.

- *Yes*: their data agree in every cell (exact copies), or they are near-duplicates.
- *No*: they differ.
- *Cannot tell*: neither is shown. *Suspected* are pairs among these that are more likely the same than not. *Equal
  results* of fewer than ``FEW_GAMES`` games may be chance: such agents count as one, but are not called copies.

Agents of matches are compared by the model that also pools them (`nashboard.evaluation.posterior.duplicates`).
Agents and tasks of scores with known noise are tested. For two rows measured at the same places j, with differences
``d[j]`` of variance ``v[j]``, ``T = sum d[j]^2 / v[j]`` is chi-square with K degrees of freedom if the two are the
same, and noncentral chi-square if they differ.

- *Different*: the p-value of T if they are the same, or that of the mean difference, whichever is smaller, doubled
  because there are two tests; significant by Holm's rule over all pairs.
- *Near-duplicates*: the probability of a T at most as large if they differ by the margin (root mean square, weighted by
  precision), significant by Holm's rule. It is divided by the same probability if the two are the same (rule "CLs"),
  so that data which hardly distinguish copies show nothing. The division only makes it larger: the error rate is kept.

If the noise is unknown, only exact copies are recognised, and near-duplicates that the model pools.

References: Wellek 2010, Testing statistical hypotheses of equivalence and noninferiority; Read 2002, Presentation of
search results: the CLs technique.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Bools, Floats, read_only
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.evaluation.audit.checks import Check, Part, shorten
from nashboard.evaluation.board.verdict import FEW_GAMES
from nashboard.evaluation.posterior.duplicates import SURE
from nashboard.evaluation.posterior.scores import adjust_holm
from nashboard.evaluation.problem import Data, Kind, Problem
from nashboard.evaluation.stress.experiment import LABELS, Experiment, Movement, measure_movement
from nashboard.ratings.hierarchical.partitions import SHARED

Groups = Mapping[str, tuple[str, ...]]
Status = Literal["exact copies", "equal results", "near-duplicates", "suspected", "cannot tell", "different"]
Basis = Literal["model", "test", "none"]
WIN_RATE = "win rate at even odds"
SUSPECTED = 0.5  # probability of being one agent from which a pair is suspected
SHOWN = 5  # groups named in sentences, and members of a group
MARGIN = 0.05  # of the range of a task
NEAREST = 10
CLEARLY_DIFFERENT = 1e-6  # p_same below which p_apart is not computed but set to 1, which is conservative
EVEN = 0.5  # the standard deviation of one game at even odds


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two agents or tasks: their distance, the probability that they are the same by the model or test, and the answer.

    ``p_same`` of a test is the p-value of their difference if they are the same, ``p_apart`` the probability of a
    difference at most as large if they differ by the margin. Unknown numbers are NaN.
    """

    first: str
    second: str
    distance: float
    probability: float
    p_same: float
    p_apart: float
    status: Status


@dataclass(frozen=True, kw_only=True)
class CloneGroup:
    """Entries that are pairwise the same, exactly or nearly, and the one that represents them.

    ``few``: their results are equal, but of so few games that this may be chance.
    """

    members: tuple[str, ...]
    representative: str
    exact: bool
    distance: float
    few: bool = False

    def sentence(self) -> str:
        """Return what the members have in common."""
        what = "equal results of few games" if self.few else "identical data" if self.exact else "near-duplicates"
        return f"{what}: {shorten(self.members)} ({self.representative} represents all)"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Redundancy(Part):
    """Entries that are entered more than once, and the effect of merging them.

    Parameters
    ----------
    kind
        ``"agents"`` or ``"tasks"``.
    distances
        ``(n, n)`` root mean square differences, known noise subtracted; NaN for two entries with nothing in common.
    groups
        Exact copies and near-duplicates; the distance of a group is the largest between two members.
    nearest, suspected
        The pairs that are closest to each other; those that are suspected, the clearest first.
    level, margin
        Of the tests: see the module's text. The margin is that of scores.
    basis
        Whether a model or tests compared the entries, or only their equality is known.
    literal
        Whether the data were taken as exact.
    compared, told_apart
        Number of pairs, and of those that are shown to differ.
    merged
        The effect of merging every group into its representative on the board of agents, by method.
    unit
        Of distances.
    copies
        Probability that any two entries are one agent, if partitions were averaged over; else NaN.
    """

    kind: Kind
    names: tuple[str, ...]
    distances: Floats
    groups: tuple[CloneGroup, ...]
    nearest: tuple[Pair, ...]
    suspected: tuple[Pair, ...]
    level: float
    margin: float
    basis: Basis
    literal: bool
    compared: int
    told_apart: int
    merged: tuple[Movement, ...]
    unit: str
    copies: float = float("nan")

    hidden = ("names", "distances", "literal", "unit", "copies")
    computed = ("rule",)

    @property
    def unknown_because(self) -> str:
        """Return why entries can only be compared for equality."""
        if self.literal:
            return "the data are taken as exact"
        few = self.unit == WIN_RATE and len(self.names) < 3
        return "two agents have no common opponents" if few else "the noise of these data is unknown"

    @property
    def rule(self) -> str:
        """Return the definition of near-duplicates, and what is guaranteed."""
        if self.basis == "none":
            known = self.unknown_because
            near = " and those that the board pools" if any(not group.exact for group in self.groups) else ""
            return f"{known}: only exact copies{near} are recognised, and the others cannot be judged"
        if self.basis == "model":
            return (
                f"near-duplicates are one agent with a probability of at least {SHARED:g}; entries are different where "
                f"the data favour that by more than {1 / self.level:.0f} to 1"
            )
        return (
            f"near-duplicates are shown to differ by less than {self.margin:g} of the range; the probability that any "
            f"two which differ by more are called so is at most {self.level:g}, over all pairs (Holm)"
        )

    def sentences(self) -> tuple[str, ...]:
        """Return the findings."""
        if self.groups:
            return (*self.name_groups(SHOWN), *self.describe_merging(), *self.name_suspected())
        if self.told_apart == self.compared:
            return (f"every two {self.kind} differ",)
        if self.copies >= SURE:
            return (self.describe_copies(), self.count_open_pairs(), *self.name_suspected())
        return (f"no near-duplicates are shown among {self.kind}; {self.count_open_pairs()}", *self.name_suspected())

    def describe_copies(self) -> str:
        """Return that copies were entered, but not which."""
        return f"some {self.kind} are the same under several names (P = {self.copies:.2f}), but it is not shown which"

    def checks(self) -> tuple[Check, ...]:
        """Check whether entries are entered once (yes, no, cannot tell), and whether first place depends on copies."""
        changed = [LABELS[moved.method] for moved in self.merged if moved.winner_changed]
        once: bool | None = False
        same: bool | None = not changed
        if self.groups:
            once = None if all(group.few for group in self.groups) else False
            facts = (*self.name_groups(1), *self.describe_merging())
            what = f"the winner of {', '.join(changed)}" if changed else "no winner"
            merging = f"merging them changes {what}"
        elif self.told_apart == self.compared:
            once, facts, merging = True, (f"every two {self.kind} differ",), "there is nothing to merge"
        elif self.copies >= SURE:
            same, facts = None, (self.describe_copies(), *self.name_suspected())
            merging = "it is not shown which entries are copies"
        else:
            once, same = None, None
            facts = (self.count_open_pairs(), *self.name_suspected())
            merging = "no copies were found, and none can be ruled out"
        return (
            Check(f"{self.kind} are entered once", once, "; ".join(facts)),
            Check(f"same winner without copies of {self.kind}", same, merging),
        )

    def tables(self) -> dict[str, Table]:
        """Return the closest pairs, and the effect of merging, as tables."""
        return {f"alike {self.kind}": self.table(), f"merged {self.kind}": self.merge_table()}

    def count_open_pairs(self) -> str:
        """Return how many pairs the data do not decide."""
        if self.basis == "none":
            return self.unknown_because
        left = self.compared - self.told_apart
        verb = "is" if left == 1 else "are"
        return f"{left:,} of {self.compared:,} pairs {verb} neither shown to differ nor to be equivalent"

    def name_suspected(self) -> tuple[str, ...]:
        """Name the suspected pairs, if any."""
        pairs = tuple(f"{pair.first} = {pair.second}" for pair in self.suspected)
        alone = "suspected" if self.copies == self.copies else "suspected when looked at alone"
        among = f"{alone}, as chance may make some among {self.compared:,} pairs"
        return (f"{among}, and not shown to be the same: {shorten(pairs)}",) if pairs else ()

    def name_groups(self, most: int) -> tuple[str, ...]:
        """Name the first groups, and count the others."""
        lines = [group.sentence() for group in sorted(self.groups, key=lambda group: group.few)[:most]]
        if (more := len(self.groups) - most) > 0:
            lines.append(f"and {more:,} more group{'s' * (more > 1)} among {self.kind}")
        return tuple(lines)

    def describe_merging(self) -> tuple[str, ...]:
        """Return the effect of merging on the board, by every method that it changes."""
        lines = []
        for moved in self.merged:
            if moved.winner_changed or (moved.rank_moved and moved.method != "nash"):  # gaps of draws differ by chance
                method = LABELS[moved.method]
                change = f"moves {moved.who} from rank {moved.rank_before} to {moved.rank_after} by {method}"
                if moved.winner_changed:
                    change += f" and changes the winner from {', '.join(moved.winners_before)} to "
                    change += ", ".join(moved.winners_after)
                lines.append(f"merging them {change}")
        return tuple(lines)

    def table(self) -> Table:
        """Return the closest pairs, with the answer."""
        columns = [
            Column("first"),
            Column("second"),
            Column("distance", "root mean square difference, noise taken off where it is known"),
        ]
        if self.basis == "model":
            columns.append(Column("P(same)", "posterior probability that the two are one", cell="probability"))
        elif self.basis == "test":
            same = "chance of so large a difference if they are the same; near 0 they differ"
            apart = "chance of so small a difference if they differ by the margin; near 0 they do not"
            columns += [Column("p same", same, cell="p_same"), Column("p apart", apart, cell="p_apart")]
        return Table.of(
            self.nearest,
            *columns,
            Column("status", "what is known of the two"),
            title=f"{self.kind} that are most alike",
            notes=(self.rule,),
            telling=("first", "second", "status", "distance"),
        )

    def merge_table(self) -> Table:
        """Return the effect of merging all groups on the board of agents."""
        pooled = "merged agents pool their games: in Elo, agents that were entered often still count more"
        return Table.of(
            self.merged,
            Column("method", cell=lambda moved: LABELS[moved.method]),
            Column("ranks moved", "largest change of a rank", cell="rank_moved"),
            Column("who", "the entry that moved most"),
            Column("score moved", "largest change of a score", decimals=4, cell="score_moved"),
            Column("unit", "what scores are measured in"),
            Column("new winner", "whether first place changed", cell="winner_changed"),
            title=f"if copies among {self.kind} are merged",
            notes=(pooled,) if self.unit == WIN_RATE else (),
        )

    def __repr__(self) -> str:
        exact = sum(group.exact for group in self.groups)
        return f"Redundancy({len(self.names):,} {self.kind}, {exact} exact and {len(self.groups) - exact} near groups)"


def find_redundancy(problem: Problem, kind: Kind, error: float, margin: float | None) -> Redundancy:
    """Compare all pairs of agents or tasks, group copies, and measure the effect of merging them."""
    data, margin = problem.data, MARGIN if margin is None else margin
    names = data.tasks if kind == "tasks" and isinstance(data, Scores) else data.agents
    label = problem.exact.label if kind == "agents" or problem.tasks is None else problem.tasks.label
    a, b = np.triu_indices(len(names), k=1)
    same = (label[:, None] == label)[a, b]
    comparison = (
        compare_matches(problem, error) if isinstance(data, Matches) else compare_scores(problem, kind, error, margin)
    )
    near, apart, suspect = (answer[a, b] & ~same for answer in (comparison.near, comparison.apart, comparison.suspect))
    if kind == "agents" and problem.pools:  # entries that the board pools are near
        near = (problem.classes.label[:, None] == problem.classes.label)[a, b] & ~same
    suspect, apart = suspect & ~near, apart & ~near
    alike = np.eye(len(names), dtype=np.bool_)
    alike[a, b] = alike[b, a] = same | near
    far = np.where(np.isnan(comparison.distance), np.inf, comparison.distance)
    few = np.zeros(len(names), dtype=np.bool_)
    if isinstance(data, Matches) and not problem.literal:
        few = data.games_per_agent < FEW_GAMES
    groups = []
    for members in find_cliques(alike, far):
        exact = len(set(label[members])) == 1
        groups.append(
            CloneGroup(
                members=tuple(names[k] for k in members),
                representative=names[max(members, key=lambda k: (comparison.preference[k], -k))],
                exact=exact,
                few=exact and bool(few[members].any()),
                distance=max(float(far[i, j]) for i, j in combinations(members, 2)),
            )
        )
    status = np.select(
        [same & few[a], same, near, suspect, apart],
        ["equal results", "exact copies", "near-duplicates", "suspected", "different"],
        "cannot tell",
    )

    def make_pair(k: int) -> Pair:
        i, j = a[k], b[k]
        return Pair(
            first=names[i],
            second=names[j],
            distance=float(comparison.distance[i, j]),
            probability=float("nan") if status[k] == "equal results" else float(comparison.probability[i, j]),
            p_same=float(comparison.p_same[i, j]),
            p_apart=float(comparison.p_apart[i, j]),
            status=str(status[k]),  # type: ignore[arg-type] # one of the words above
        )

    order = np.lexsort([b, a, comparison.observed[a, b], far[a, b], ~suspect, ~alike[a, b]])[:NEAREST]
    clearest = np.lexsort([b, a, far[a, b], ~suspect])[: min(int(suspect.sum()), NEAREST)]
    copies, near_copies = ({g.representative: g.members for g in groups if g.exact is one} for one in (True, False))
    return Redundancy(
        kind=kind,
        names=names,
        distances=read_only(comparison.distance),
        groups=tuple(groups),
        nearest=tuple(map(make_pair, order)),
        suspected=tuple(map(make_pair, clearest)),
        level=error,
        margin=margin,
        basis=comparison.basis,
        literal=problem.settings.noise == "none",
        compared=len(a),
        told_apart=int(apart.sum()),
        merged=measure_merging(problem, kind, copies, near_copies),
        unit=WIN_RATE if isinstance(data, Matches) else "scaled score",
        copies=comparison.copies,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Likeness:
    """Tests of all pairs of rows, ``(n, n)`` each; see the module's text."""

    distance: Floats
    p_same: Floats
    p_apart: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Likeness):
    """All pairs compared: ``(n, n)`` each, symmetric, the diagonal without meaning; NaN for unknown numbers.

    ``distance`` is without noise, ``observed`` with it; ``preference`` is larger for better representatives.
    """

    basis: Basis
    observed: Floats
    preference: Floats
    probability: Floats
    near: Bools
    apart: Bools
    suspect: Bools
    copies: float = float("nan")

    @staticmethod
    def of(distance: Floats, observed: Floats, preference: Floats, **known: Any) -> "Comparison":
        """Return a comparison of distances, and of the given numbers; everything else is unknown."""
        answers = dict.fromkeys(("near", "apart", "suspect"), np.zeros(distance.shape, dtype=np.bool_))
        chances = dict.fromkeys(("p_same", "p_apart", "probability"), np.full(distance.shape, np.nan))
        given = {"basis": "none", "distance": distance, "observed": observed, "preference": preference}
        return Comparison(**{**answers, **chances, **given, **known})


def compare_matches(problem: Problem, error: float) -> Comparison:
    """Compare the agents of matches by the model that pools them; distances are those against common opponents."""
    data, model, label = problem.data, problem.near_duplicates, problem.exact.label
    assert isinstance(data, Matches)
    distance, observed = measure_agents(data)
    games = np.asarray(data.games_per_agent)
    if model is None or not model.tested:
        return Comparison.of(observed if problem.literal else distance, observed, games)
    pairs = np.ix_(label, label)
    probability, near = model.probability[pairs], (model.label[:, None] == model.label)[pairs]
    return Comparison.of(
        distance,
        observed,
        games,
        basis="model",
        probability=probability,
        near=near,
        apart=~near & (model.different[pairs] > 1 / error),
        suspect=~near & (probability >= SUSPECTED),
        copies=float("nan") if model.partitions is None else 1 - model.partitions.no_copies,
    )


def compare_scores(problem: Problem, kind: Kind, error: float, margin: float) -> Comparison:
    """Test agents or tasks of scores, if most noise is known."""
    scores = problem.scaled
    S, E = (scores.values, scores.stderr) if kind == "agents" else (scores.values.T, scores.stderr.T)
    gap = measure_rows(S)
    if problem.literal or not np.isfinite(E).mean() > 0.5:
        return Comparison.of(gap, gap, -gap.sum(axis=1))
    likeness = compare_rows(S, E, margin, aligned=kind == "tasks")
    small = gap <= margin  # errors may be shared
    return Comparison.of(
        observed=gap,
        preference=-gap.sum(axis=1),
        basis="test",
        near=small & reject_by_holm(likeness.p_apart, error),
        apart=reject_by_holm(likeness.p_same, error),
        suspect=small & (likeness.p_apart <= error),
        **vars(likeness),
    )


def reject_by_holm(p: Floats, error: float) -> Bools:
    """Return the pairs of a symmetric table of p-values that Holm's rule rejects."""
    rejected = np.zeros(p.shape, dtype=np.bool_)
    pairs = np.triu_indices(len(p), k=1)
    rejected[pairs] = adjust_holm(p[pairs]) <= error
    return rejected | rejected.T


def measure_agents(matches: Matches) -> tuple[Floats, Floats]:
    """Return root mean square differences against common opponents, without and with noise.

    Shares of points are compared in standard deviations of one game, pooled over the two, and weighted by
    ``1 / (1/games_a + 1/games_b)``; the result is in win rate at even odds, where a standard deviation is 1/2.
    """
    n = len(matches.agents)
    N, X, Q = np.zeros((3, n, n))  # games, points, sums of squared points of the row
    i, j = matches.pairs.T
    N[i, j] = N[j, i] = matches.games
    X[i, j], X[j, i] = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    Q[i, j], Q[j, i] = matches.wins + matches.draws / 4, matches.losses + matches.draws / 4
    T, K, information = np.zeros((3, n, n))
    for k in range(n):
        total = N[:, k, None] + N[:, k]
        total = np.where((N[:, k, None] > 0) & (N[:, k] > 0), total, 1.0)
        spread = (Q[:, k, None] + Q[:, k]) / total - ((X[:, k, None] + X[:, k]) / total) ** 2  # of one game, pooled
        useful = (spread > 1e-12) & (total > 1)
        useful[k] = useful[:, k] = False
        share = X[:, k] / np.where(N[:, k] > 0, N[:, k], 1.0)
        weight = np.where(useful, N[:, k, None] * N[:, k] / total, 0.0)
        exact = (total - 1) / total  # a split of the games at hand: finite population
        T += weight * (share[:, None] - share) ** 2 * exact / np.where(useful, spread, 1.0)
        K += weight > 0
        information += weight
    info = np.where(K > 0, information / EVEN**2, 1.0)
    distance, observed = np.sqrt(np.maximum(T - K, 0.0) / info), np.sqrt(T / info)
    return np.where(K > 0, distance, np.nan), np.where(K > 0, observed, np.nan)


def test_rows(T: Floats, K: Floats, information: Floats, mean: Floats, margin: float) -> Likeness:
    """Turn statistics into distances and the two tests.

    ``information`` is the sum of ``1 / v``, ``mean`` the squared mean difference over its variance.
    """
    from scipy.special import chdtr, chdtrc, chndtr  # scipy.stats takes half a second to import

    some = K > 0
    k = np.where(some, K, 1.0)
    info = np.where(some, information, 1.0)
    p_same = np.where(some, chdtrc(k, T), 1.0)
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
        p_same=p_same,
        p_apart=np.nan_to_num(np.clip(p_apart, 0.0, 1.0), nan=1.0),
    )


def compare_rows(S: Floats, E: Floats, margin: float, *, aligned: bool = False) -> Likeness:
    """Compare rows of scores whose standard errors ``E`` are known (NaN where not: such cells are not compared).

    ``aligned`` is for tasks, whose zero and unit come from noisy extremes: the part of a difference that an offset and
    a factor common to all agents explain (least squares on 1 and the mean of the two rows) is removed first, which
    costs two degrees of freedom, and there is no test of the mean.
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
        return test_rows(T, K, information, lead**2 / some, margin)
    spread = w_mm - w_m**2 / some
    slope = w_md - w_m * lead / some
    explained = lead**2 / some + np.where(spread > 0, slope**2 / np.where(spread > 0, spread, 1.0), 0.0)
    return test_rows(np.maximum(T - explained, 0.0), np.maximum(K - 2, 0.0), information, np.zeros((n, n)), margin)


def measure_rows(S: Floats) -> Floats:
    """Return root mean square differences of rows, ``(n, n)``."""
    square = (S * S).sum(axis=1)
    gap = np.maximum(square[:, None] + square - 2 * (S @ S.T), 0.0)
    near = np.argwhere(gap <= 1e-6 * (square[:, None] + square))
    for a, b in near:  # cancellation: subtract first
        gap[a, b] = ((S[a] - S[b]) ** 2).sum()
    return np.asarray(np.sqrt(gap / S.shape[1]))


def find_cliques(alike: Bools, distance: Floats) -> list[list[int]]:
    """Return groups of alike entries: the closest join first, and two groups only if all their members are alike."""
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
    copies = {**same, **({} if isinstance(data, Matches) else near)}
    dropped = {member for name, members in copies.items() for member in members if member != name}
    if isinstance(data, Matches):
        left = data.select([agent for agent in data.agents if agent not in dropped])
        return left.merge(near) if near else left
    assert isinstance(data, Scores)
    return data.select(**{kind: [name for name in getattr(data, kind) if name not in dropped]})


def measure_merging(problem: Problem, kind: Kind, same: Groups, near: Groups) -> tuple[Movement, ...]:
    """Return how far each method moves the agents when groups are merged; empty if there is nothing to merge."""
    fewer = sum(len(members) - 1 for groups in (same, near) for members in groups.values())
    if not fewer or (kind == "agents" and len(problem.agents) - fewer < 2):
        return ()
    before = Experiment.of(problem)
    after = Experiment.of(problem.with_data(merge_data(problem.data, kind, same, near)))
    return tuple(
        measure_movement(*(one.exact(method, np.zeros(len(one.entries), dtype=np.intp)) for one in (before, after)))
        for method in ("uniform", "elo", "nash")
    )
