"""A list of checks, each passed, failed or open, each with one sentence.

A check is named by a claim; its sentence is the finding, in the same words whether the claim is true or not.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nashboard._tables import Column, Result, Table, as_plain_text, count
from nashboard._text import listed
from nashboard._types import Floats
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores, worst
from nashboard.data.validation import look_alikes
from nashboard.evaluation.posterior.scores import known_noise
from nashboard.evaluation.problem import Problem

CERTIFIED = 1e-9
FEW = 10  # games of a pair below which its payoff is very uncertain
MOST_OF_ONE = 0.2  # share of the games of one cluster, such as a voter, from which it is named
BALANCED = 1 / 3  # a schedule is one-sided where the effective number of opponents is below this share of all


@dataclass(frozen=True)
class Check:
    """A claim, whether it is true (None: these data cannot decide), and the finding in one sentence."""

    name: str
    passed: bool | None
    sentence: str

    @property
    def heading(self) -> str:
        """The claim, or its opposite if it is false."""
        return self.name if self.passed is not False else REFUTED.get(self.name, self.name)


def sort_checks(checks: Iterable[Check]) -> list[Check]:
    """Return the checks that failed, then those that cannot be decided, then those that passed."""
    return sorted(checks, key=lambda check: (False, None, True).index(check.passed))


NO_LOSS = "every agent lost a game"
REFUTED = {  # headings of checks that failed
    "one equilibrium": "several equilibria",
    "certified": "not certified",
    "all payoffs measured": "pairs that never met",
    "known noise": "unknown noise",
    "coverage": "gaps in the data",
    "enough games of a typical pair": "few games",
    "enough games of every pair": "pairs with few games",
    "one component": "groups that never met",
    NO_LOSS: "agents that never lost",
    "every agent won a game": "agents that never won",
    "balanced schedules": "one-sided schedules",
    "games of many clusters": "one cluster with many games",
    "every task varies": "tasks with one score for all agents",
    "distinct names": "names that look alike",
    "ratings are enough": "cycles that ratings cannot show",
    "every task separates agents": "tasks that do not separate agents",
    "no task is saturated": "saturated tasks",
    "no task points the wrong way": "tasks that point the wrong way",
} | {
    name: found
    for kind in ("agent", "task")
    for name, found in (
        (f"{kind}s are entered once", f"{kind}s entered more than once"),
        (f"same winner without copies of {kind}s", f"copies of {kind}s change the winner"),
        (f"first place does not depend on one {kind}", f"first place depends on one {kind}"),
    )
}


class Part(Result):
    """A part of the audit: the findings on one question."""

    @abstractmethod
    def sentences(self) -> tuple[str, ...]:
        """Return the findings."""

    @abstractmethod
    def checks(self) -> tuple[Check, ...]:
        """Return claims, and whether they are true."""

    @abstractmethod
    def tables(self) -> dict[str, Table]:
        """Return tables by name."""

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), as_plain_text(self.table().head(20))])


def equilibrium_checks(unique: bool, exploitability: float, residual: float) -> tuple[Check, ...]:
    """Check whether the equilibrium of the expected payoffs is unique and exact."""
    one = "there is one equilibrium, up to how copies share their weight"
    several = "there are several equilibria; the one of maximum entropy is shown, and small changes may move it"
    exact = f"a deviation gains at most {exploitability:.1e} of the largest payoff; the residual is {residual:.1e}"
    return (
        Check("one equilibrium", unique, one if unique else several),
        Check("certified", max(exploitability, residual) <= CERTIFIED, exact),
    )


def shorten(names: Sequence[str], most: int = 5) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def bracket_names(names: Sequence[str]) -> str:
    """Return a few names in brackets, or an empty text."""
    return f" ({shorten(names)})" if names else ""


@dataclass(frozen=True)
class Finding:
    """A property of the data: its value, the value as text, whether it is good, and its meaning."""

    name: str
    value: float
    shown: str
    good: bool
    meaning: str

    @property
    def sentence(self) -> str:
        """The property and its value; if it is not good, also its consequence (the part after a semicolon)."""
        what, _, follows = self.meaning.partition("; ")
        return f"{what}: {self.shown}" + (f"; {follows}" if follows and not self.good else "")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataQuality(Part):
    """Properties of the data that limit the conclusions of any method."""

    findings: tuple[Finding, ...]

    def finding(self, name: str) -> Finding:
        """Return the finding of that name."""
        return next(finding for finding in self.findings if finding.name == name)

    def sentences(self) -> tuple[str, ...]:
        """Return the findings that are not good."""
        bad = tuple(f"{f.name}: {f.shown}; {f.meaning}" for f in self.findings if not f.good)
        return bad or ("nothing in the data is missing, thin or one-sided",)

    def checks(self) -> tuple[Check, ...]:
        """Return the findings as checks."""
        return tuple(Check(f.name, f.good, f.sentence) for f in self.findings)

    def tables(self) -> dict[str, Table]:
        """Return the findings as a table."""
        return {"data": self.table()}

    def table(self) -> Table:
        """Return the findings."""
        return Table.of(
            self.findings,
            Column("what", cell="name"),
            Column("found", cell="shown"),
            Column("good", "whether it is as it should be"),
            Column("meaning", most=400),
            title="the data",
        )

    def __repr__(self) -> str:
        return f"DataQuality({len(self.findings)} findings, {sum(not f.good for f in self.findings)} to look at)"


def assess_data(problem: Problem) -> DataQuality:
    """Assess the data as read, before any method is applied."""
    data = problem.given
    if isinstance(data, Scores) and isinstance(problem.data, Scores) and not set(problem.data.tasks) <= set(data.tasks):
        data = problem.data  # items that were pooled into tasks
    if isinstance(data, Matches):
        findings = assess_matches(data, problem)
    else:
        findings = assess_scores(data) if isinstance(data, Scores) else assess_payoffs(data)
    twice = tuple(" = ".join(group) for group in look_alikes(data.agents))
    alike = "names that differ only in case or white space; they are probably one agent"
    return DataQuality(findings=(*findings, find_named("distinct names", twice, alike)))


def assess_payoffs(payoffs: Payoffs) -> list[Finding]:
    """Assess a payoff matrix."""
    pairs = max(len(payoffs.agents) * (len(payoffs.agents) - 1) // 2, 1)
    filled = f"{payoffs.filled:,} of {pairs:,} ({payoffs.filled / pairs:.1%})"
    known = payoffs.stderr is not None or payoffs.games is not None
    noise = "standard errors or numbers of games; without them noise cannot be separated from skill"
    return [
        Finding(
            "all payoffs measured",
            float(payoffs.filled),
            filled,
            payoffs.filled == 0,
            "payoffs of pairs that never met",
        ),
        Finding("known noise", float(known), "yes" if known else "no", known, noise),
    ]


def assess_matches(matches: Matches, problem: Problem) -> list[Finding]:
    """Assess matches; numbers of games are assessed only if they are known."""
    n = len(matches.agents)
    met = f"{len(matches.pairs):,} of {n * (n - 1) // 2:,} pairs ({matches.coverage:.1%})"
    filled = "by Elo" if problem.literal else "by the model, with their uncertainty"
    whole = matches.coverage == 1
    pairs = "every pair of agents met" if whole else f"pairs of agents that met; the others are filled {filled}"
    findings = [Finding("coverage", matches.coverage, met, whole, pairs)]
    if NO_COUNTS in matches.origin.notes:
        findings.append(
            Finding("enough games of a typical pair", 0.0, "unknown", False, "win rates come without numbers of games")
        )
    else:
        few, median = int((matches.games < FEW).sum()), float(np.median(matches.games))
        spread = f"median {count(median)}, least {count(float(matches.games.min()))}"
        rare = f"{few:,} of {len(matches.pairs):,}"
        findings += [
            Finding("enough games of a typical pair", median, spread, median >= FEW, "games of a pair"),
            Finding("enough games of every pair", float(few), rare, few == 0, f"pairs that met less than {FEW} times"),
        ]
    if matches.clusters is not None:
        each = matches.clusters
        largest = float(np.bincount(each.cluster, each.wins + each.draws + each.losses).max())
        share = largest / float(matches.games.sum())
        whose = "games of the largest cluster, such as one voter; its taste may decide the order"
        shown = f"{count(largest)} of {count(float(matches.games.sum()))} ({share:.1%})"
        findings.append(Finding("games of many clusters", share, shown, share < MOST_OF_ONE, whose))
    groups = len(matches.components)
    apart = "groups of agents connected by matches; agents of different groups cannot be compared"
    one_sided = [matches.agents[k] for k in np.flatnonzero(count_opponents(matches) < BALANCED * (n - 1))]
    return [
        *findings,
        Finding("one component", float(groups), f"{groups:,}", groups == 1, apart),
        find_named(NO_LOSS, matches.unbeaten, "agents that lost no game; only the prior limits their rating"),
        find_named(
            "every agent won a game", matches.winless, "agents that won no game; only the prior limits their rating"
        ),
        find_named(
            "balanced schedules",
            tuple(one_sided),
            "agents that mostly met few of the others; their effective number of opponents is under a third of all",
        ),
    ]


def assess_scores(scores: Scores) -> list[Finding]:
    """Assess scores: a score that was filled in was not measured."""
    unmeasured = scores.missing | scores.filled
    cells, filled = unmeasured.size, int(scores.filled.sum())
    there = cells - int(unmeasured.sum())
    share = there / cells
    shown = f"{there:,} of {cells:,} scores ({share:.1%})"
    holes = "the table is complete"
    if there < cells:
        where = f"{worst(unmeasured.sum(axis=1), scores.agents)}; {worst(unmeasured.sum(axis=0), scores.tasks)}"
        guessed = f"; {filled:,} of them filled in, which is a guess" if filled else ""
        holes = f"scores that were measured; most are missing of {where}{guessed}"
    known = int((np.isfinite(known_noise(scores)) & ~unmeasured).sum())
    errors = "scores with a standard error or a number of items; without, noise is estimated or unknown"
    return [
        Finding("coverage", share, shown, there == cells, holes),
        Finding("known noise", known / max(there, 1), f"{known:,} of {there:,}", known == there, errors),
        find_named("every task varies", scores.constant_tasks, "tasks with one score for every agent"),
    ]


def find_named(name: str, who: tuple[str, ...], meaning: str) -> Finding:
    """Return a finding that is good if it names no entry."""
    return Finding(name, float(len(who)), f"{len(who):,} ({listed(who)})" if who else "none", not who, meaning)


def count_opponents(matches: Matches) -> Floats:
    """Return the effective number of opponents of each agent: ``exp(entropy)`` of the shares of its games."""
    share_log = np.zeros(len(matches.agents))
    total = np.where(matches.games_per_agent > 0, matches.games_per_agent, 1.0)
    for side in (0, 1):
        who = matches.pairs[:, side]
        share = matches.games / total[who]
        share_log += np.bincount(who, -share * np.log(share), minlength=len(total))
    return np.where(matches.games_per_agent > 0, np.exp(share_log), 0.0)
