"""What a person should know about a data set before trusting a leaderboard made of it.

data -> facts (a typed summary) -> table: the command and the report show the same facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nashboard._tables import Column, Table, count, count_of
from nashboard._text import listed, number_of, shortened
from nashboard.data.matches import Matches
from nashboard.data.origin import Fact, Origin
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores, worst
from nashboard.data.validation import identical_rows, look_alikes

MOST_NAMES = 5
MOST_CHARACTERS = 400  # a sentence about the data may name several agents


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Everything that was found out about a data set."""

    facts: tuple[Fact, ...]

    def table(self) -> Table:
        """Return the facts as a table."""
        return Table(
            columns=(
                Column(name="what"),
                Column(name="found", most=MOST_CHARACTERS),
                Column(name="meaning", most=MOST_CHARACTERS),
            ),
            rows=tuple((fact.name, fact.value, fact.meaning) for fact in self.facts),
        )


def inspected(data: Matches | Scores | Payoffs) -> Inspection:
    """Return the facts about a data set."""
    if isinstance(data, Matches):
        facts = facts_of_matches(data)
    elif isinstance(data, Scores):
        facts = facts_of_scores(data)
    else:
        facts = facts_of_payoffs(data)
    return Inspection(facts=(*facts_of_origin(data.origin), *facts))


def facts_of_origin(origin: Origin) -> list[Fact]:
    """Return where the data came from and what was left out."""
    facts = [Fact("source", origin.source, "where it was read from")]
    facts.append(Fact("format", origin.format, "the layout that was recognised; --as forces one"))
    if origin.rows:
        facts.append(Fact("rows", f"{origin.rows:,}", "rows that were read"))
    facts.extend(origin.taken)
    if origin.period:
        facts.append(Fact("period", " to ".join(origin.period), "first and last time"))
    for entry in origin.left_out:
        facts.append(Fact("left out", number_of(entry.count, entry.what), entry.why))
    facts.extend(Fact("note", "", note) for note in origin.notes)
    return facts


def facts_of_matches(matches: Matches) -> list[Fact]:
    """Return what matters in matches."""
    n, draws = len(matches.agents), float(matches.draws.sum())
    groups = matches.components
    fewest = matches.games.min()
    facts = [
        Fact("agents", f"{n:,}", names(matches.agents)),
        Fact("games", count(matches.n_games), "matches, or their total weight"),
        Fact("draws", f"{count(draws)} ({draws / matches.n_games:.1%})", "a draw counts half a win"),
        Fact(
            "coverage",
            f"{len(matches.pairs):,} of {n * (n - 1) // 2:,} pairs ({matches.coverage:.1%})",
            f"pairs that met at least once; the pair with fewest games has {count(fewest)}",
        ),
        Fact(
            "components",
            f"{len(groups):,}",
            "every agent can be compared with every other"
            if len(groups) == 1
            else "groups that never met cannot be compared: "
            + "; ".join(f"{listed(group, 3)} ({len(group):,})" for group in groups[:4]),
        ),
    ]
    if matches.sides is not None:
        sided = float(matches.sides.played.sum())
        facts.append(Fact("first side", count_of(sided, "games"), "the first agent was home, white or on the left"))
    if matches.clusters is not None:
        facts.append(Fact("clusters", f"{matches.clusters.size:,}", "kept for resampling"))
    for name, agents, meaning in (
        ("unbeaten", matches.unbeaten, "lost no game; without a prior their rating can be infinite"),
        ("winless", matches.winless, "won no game; without a prior their rating can be infinite"),
    ):
        facts.append(Fact(name, f"{len(agents):,}", f"{names(agents)}: {meaning}" if agents else "none"))
    return facts


def facts_of_scores(scores: Scores) -> list[Fact]:
    """Return what matters in a table of scores."""
    (m, n), holes = scores.values.shape, scores.missing
    lower = [task for task, low in zip(scores.tasks, scores.lower_is_better, strict=True) if low]
    measured = int((~np.isnan(scores.stderr)).sum())
    several, counted = int((scores.runs > 1).sum()), int((scores.n > 0).sum())
    facts = [
        Fact("agents", f"{m:,}", names(scores.agents)),
        Fact("tasks", f"{n:,}", names(scores.tasks)),
        Fact(
            "direction",
            f"{len(lower):,} of {n:,} lower is better",
            names(lower) if lower else "a high score is good on every task",
        ),
        Fact(
            "missing cells",
            f"{int(holes.sum()):,} of {m * n:,}",
            f"most: {worst(holes.sum(axis=1), scores.agents)}; {worst(holes.sum(axis=0), scores.tasks)}"
            if holes.any()
            else "the table is complete",
        ),
        Fact(
            "standard errors",
            f"{measured:,} of {m * n:,}",
            f"cells that have one; {counted:,} have a number of items, {several:,} are means of runs",
        ),
        Fact(
            "constant tasks",
            f"{len(scores.constant_tasks):,}",
            f"{names(scores.constant_tasks)}: they separate no agents" if scores.constant_tasks else "none",
        ),
    ]
    for kind, groups in (("tasks", scores.identical_tasks), ("agents", scores.identical_agents)):
        said = "; ".join(map(equals, groups[:3]))
        facts.append(
            Fact(
                f"identical {kind}",
                number_of(len(groups), "groups") if groups else "none",
                said or "no two agree in every cell",
            )
        )
    for group in look_alikes(scores.agents):
        facts.append(Fact("note", "", f"{listed(group)} differ only in case or white space"))
    return facts


def facts_of_payoffs(payoffs: Payoffs) -> list[Fact]:
    """Return what matters in a payoff matrix."""
    copies = [[payoffs.agents[k] for k in group] for group in identical_rows(payoffs.A)]
    return [
        Fact("agents", f"{len(payoffs.agents):,}", names(payoffs.agents)),
        Fact("unit", payoffs.scale, payoffs.made),
        Fact("largest payoff", f"{np.abs(payoffs.A).max():.4g}", "what the most one-sided pair gains"),
        Fact(
            "identical agents",
            number_of(len(copies), "groups") if copies else "none",
            "; ".join(map(equals, copies[:3])) or "no two agree in every cell",
        ),
    ]


def equals(group: Sequence[str]) -> str:
    """Return the names of a group whose members agree in every cell."""
    more = f" and {len(group) - MOST_NAMES:,} more" if len(group) > MOST_NAMES else ""
    return " = ".join(repr(shortened(name)) for name in group[:MOST_NAMES]) + more


def names(chosen: tuple[str, ...] | list[str]) -> str:
    """Return the first few names."""
    return listed(chosen, MOST_NAMES) if chosen else "none"
