"""What a person should know about a data set before trusting a leaderboard made of it.

data -> facts (a typed summary) -> table: the command and the report show the same facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nashboard._tables import Column, Table, count
from nashboard._text import listed, number_of, shortened
from nashboard.data.matches import Matches
from nashboard.data.origin import Fact, Origin
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.validation import look_alikes

MOST_NAMES = 5
MOST_CHARACTERS = 400  # a sentence about the data may name several agents


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Everything that was found out about a data set."""

    kind: str
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
    return Inspection(kind=type(data).__name__, facts=(*facts_of_origin(data.origin), *facts))


def facts_of_origin(origin: Origin) -> list[Fact]:
    """Return where the data came from and what was left out."""
    facts = [Fact(name="source", value=origin.source, meaning="where it was read from")]
    facts.append(Fact(name="format", value=origin.format, meaning="the layout that was recognised; --as forces one"))
    if origin.rows:
        facts.append(Fact(name="rows", value=f"{origin.rows:,}", meaning="rows that were read"))
    facts.extend(origin.taken)
    if origin.period:
        facts.append(Fact(name="period", value=" to ".join(origin.period), meaning="first and last time"))
    for entry in origin.left_out:
        facts.append(Fact(name="left out", value=number_of(entry.count, entry.what), meaning=entry.why))
    facts.extend(Fact(name="note", value="", meaning=note) for note in origin.notes)
    return facts


def facts_of_matches(matches: Matches) -> list[Fact]:
    """Return what matters in matches."""
    n, draws = len(matches.agents), float(matches.draws.sum())
    groups = matches.components
    fewest = matches.games.min()
    facts = [
        Fact(name="agents", value=f"{n:,}", meaning=names(matches.agents)),
        Fact(name="games", value=count(matches.n_games), meaning="matches, or their total weight"),
        Fact(name="draws", value=f"{count(draws)} ({draws / matches.n_games:.1%})", meaning="a draw counts half a win"),
        Fact(
            name="coverage",
            value=f"{len(matches.pairs):,} of {n * (n - 1) // 2:,} pairs ({matches.coverage:.1%})",
            meaning=f"pairs that met at least once; the pair with fewest games has {count(fewest)}",
        ),
        Fact(
            name="components",
            value=f"{len(groups):,}",
            meaning="every agent can be compared with every other"
            if len(groups) == 1
            else "groups that never met cannot be compared: "
            + "; ".join(f"{listed(group, 3)} ({len(group):,})" for group in groups[:4]),
        ),
    ]
    if matches.sides is not None:
        sided = float(matches.sides.played.sum())
        facts.append(
            Fact(
                name="first side",
                value=f"{count(sided)} games",
                meaning="the first agent was home, white or on the left",
            )
        )
    if matches.clusters is not None:
        facts.append(Fact(name="clusters", value=f"{matches.clusters.size:,}", meaning="kept for resampling"))
    for name, agents, meaning in (
        ("unbeaten", matches.unbeaten, "lost no game; without a prior their rating can be infinite"),
        ("winless", matches.winless, "won no game; without a prior their rating can be infinite"),
    ):
        facts.append(
            Fact(name=name, value=f"{len(agents):,}", meaning=f"{names(agents)}: {meaning}" if agents else "none")
        )
    return facts


def facts_of_scores(scores: Scores) -> list[Fact]:
    """Return what matters in a table of scores."""
    m, n = scores.values.shape
    lower = [task for task, low in zip(scores.tasks, scores.lower_is_better, strict=True) if low]
    measured = int((~np.isnan(scores.stderr)).sum())
    several = int((scores.runs > 1).sum())
    facts = [
        Fact(name="agents", value=f"{m:,}", meaning=names(scores.agents)),
        Fact(name="tasks", value=f"{n:,}", meaning=names(scores.tasks)),
        Fact(
            name="direction",
            value=f"{len(lower):,} of {n:,} lower is better",
            meaning=names(lower) if lower else "a high score is good on every task",
        ),
        Fact(
            name="missing cells",
            value=f"{int(scores.missing.sum()):,} of {m * n:,}",
            meaning=worst_holes(scores) if scores.missing.any() else "the table is complete",
        ),
        Fact(
            name="standard errors",
            value=f"{measured:,} of {m * n:,}",
            meaning=f"cells whose noise is known; {several:,} cells are means of several runs",
        ),
        Fact(
            name="constant tasks",
            value=f"{len(scores.constant_tasks):,}",
            meaning=f"{names(scores.constant_tasks)}: they separate nobody" if scores.constant_tasks else "none",
        ),
    ]
    for kind, groups in (("tasks", scores.identical_tasks), ("agents", scores.identical_agents)):
        said = "; ".join(map(equals, groups[:3]))
        facts.append(
            Fact(
                name=f"identical {kind}",
                value=number_of(len(groups), "groups") if groups else "none",
                meaning=said or "no two agree in every cell",
            )
        )
    for group in look_alikes(scores.agents):
        facts.append(Fact(name="note", value="", meaning=f"{listed(group)} differ only in case or white space"))
    return facts


def facts_of_payoffs(payoffs: Payoffs) -> list[Fact]:
    """Return what matters in a payoff matrix."""
    from nashboard.data.validation import identical_rows

    copies = [[payoffs.agents[k] for k in group] for group in identical_rows(payoffs.A)]
    return [
        Fact(name="agents", value=f"{len(payoffs.agents):,}", meaning=names(payoffs.agents)),
        Fact(name="unit", value=payoffs.scale, meaning=payoffs.made),
        Fact(
            name="largest payoff", value=f"{np.abs(payoffs.A).max():.4g}", meaning="what the most one-sided pair gains"
        ),
        Fact(
            name="identical agents",
            value=number_of(len(copies), "groups") if copies else "none",
            meaning="; ".join(map(equals, copies[:3])) or "no two agree in every cell",
        ),
    ]


def equals(group: Sequence[str]) -> str:
    """Return the names of a group whose members agree in every cell."""
    more = f" and {len(group) - MOST_NAMES:,} more" if len(group) > MOST_NAMES else ""
    return " = ".join(repr(shortened(name)) for name in group[:MOST_NAMES]) + more


def names(chosen: tuple[str, ...] | list[str]) -> str:
    """Return the first few names."""
    return listed(chosen, MOST_NAMES) if chosen else "none"


def worst_holes(scores: Scores) -> str:
    """Name the agents and tasks with most missing cells."""
    from nashboard.data.scores import worst

    return (
        f"most: {worst(scores.missing.sum(axis=1), scores.agents)}; {worst(scores.missing.sum(axis=0), scores.tasks)}"
    )
