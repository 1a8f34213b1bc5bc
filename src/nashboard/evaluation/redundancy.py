"""Redundancy: agents or tasks that are entered more than once, exactly or but for luck.

Two are *exact clones* when their results agree in every cell. They are *near-clones* when both hold:

- they are not told apart: the test of "the same" does not reject at the level (so a true copy is missed with at
  most that chance); and
- they are shown alike: the test of "they differ by the margin or more" does reject (Holm over all pairs at the level).
  So the chance that *any* two which really differ by the margin are called near-clones is at most the level.

*Suspected* are pairs for which both hold when each pair is looked at alone: for one pair that differs by the margin the
chance of being suspected is at most the level, but among many pairs some will be. They join no group, and no check
fails for them: among 300 pairs that all differ by the margin, fifteen would be suspected.

"Different" is said only of pairs whose test of "the same" is rejected by Holm's rule over all pairs.

Where no noise is known there is nothing to test, and near means a distance of at most the stated margin.
"""

from dataclasses import dataclass
from typing import Any, Literal

from nashboard._tables import Column, Table, as_html, plain
from nashboard._types import Floats
from nashboard.evaluation.contest import Kind
from nashboard.evaluation.standing import LABELS, Movement

Status = Literal["exact clones", "near-clones", "suspected", "not told apart", "different"]
WIN_RATE, SCORE = "win rate at even odds", "scaled score"
SHOWN = 5  # groups named in sentences, and members of a group


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
    tested
        Whether noise was known, so that there were tests.
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
    compared: int
    told_apart: int
    merged: tuple[Movement, ...]
    unit: str

    @property
    def rule(self) -> str:
        """Say what near means here, and what is guaranteed."""
        if not self.tested:
            return (
                f"no noise is known: near-clones are {self.kind} at a distance of at most {self.margin:g} (root mean "
                f"square difference of scaled scores); no error rate can be stated"
            )
        return (
            f"near-clones are not told apart and shown to differ by less than {self.margin:g} ({self.unit}); that any "
            f"two which differ by more are called so has a chance of at most {self.level:g}, over all pairs (Holm)"
        )

    def sentences(self) -> tuple[str, ...]:
        """Say what was found."""
        if not self.groups:
            if self.tested and self.told_apart < self.compared:
                return (f"no two {self.kind} are shown to be clones; {self.not_told()}", *self.doubts())
            return (f"no two {self.kind} are clones",)
        return (*self.alike(SHOWN), *self.merging(), *self.doubts())

    def not_told(self) -> str:
        """Say how many pairs the data leave open."""
        thin = self.compared - self.told_apart
        return f"{thin:,} of {self.compared:,} pairs are not told apart, but data are too few to call them the same"

    def doubts(self) -> tuple[str, ...]:
        """Name the pairs that are suspected, if any."""
        pairs = tuple(f"{pair.first} = {pair.second}" for pair in self.suspected)
        among = f"suspected when looked at alone, as chance may make some among {self.compared:,} pairs"
        return (f"{among}, and not shown to be the same: {shortened(pairs)}",) if pairs else ()

    def alike(self, most: int) -> tuple[str, ...]:
        """Name the first groups of clones, and say how many more there are."""
        lines = [
            f"{'the same' if group.exact else 'near-clones'}: {shortened(group.members)} "
            f"({group.representative} can stand for all)"
            for group in self.groups[:most]
        ]
        if (more := len(self.groups) - most) > 0:
            lines.append(f"and {more:,} more group{'s' * (more > 1)} of clones among {self.kind}")
        return tuple(lines)

    def merging(self) -> tuple[str, ...]:
        """Say what merging does to the board, by every method that it moves."""
        lines = []
        for moved in self.merged:
            if moved.winner_changed or moved.rank_moved:
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
                Column(name="who", meaning="whoever moved most"),
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
