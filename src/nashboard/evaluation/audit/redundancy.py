"""Redundancy: agents or tasks that are entered more than once, exactly or with their own luck.

Whether two are the same has three answers.

- *Yes*: their data agree in every cell (exact copies), or they are near-duplicates.
- *No*: they differ.
- *Cannot tell*: neither is shown. *Suspected* are pairs among these that are more likely the same than not.

Agents of matches are compared by the model that also pools them (`nashboard.evaluation.posterior.near_duplicates`).
Agents and tasks of scores are tested: near-duplicates where "they differ by the margin or more" is rejected, different
where "they are the same" is rejected, each by Holm's rule over all pairs.

Where no noise is known nothing can be tested, and only exact copies are recognised.
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
from nashboard.evaluation.audit.likeness import Likeness, distances_of_rows, holm, likeness_of_agents, likeness_of_rows
from nashboard.evaluation.problem import Data, Kind, Problem
from nashboard.evaluation.stress.experiment import Experiment
from nashboard.evaluation.stress.movement import LABELS, Movement, movement

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
