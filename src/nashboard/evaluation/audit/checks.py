"""Can you trust this? A list of checks, each passed, failed or open, each with one sentence."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._tables import Column, Table, as_html, count, plain
from nashboard._text import listed
from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores, worst
from nashboard.data.validation import look_alikes
from nashboard.evaluation.posterior.scores import known_noise
from nashboard.evaluation.problem import Problem

CERTIFIED = 1e-9


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question, whether the answer is good (None: these data cannot tell), and the answer in one sentence."""

    name: str
    passed: bool | None
    sentence: str


def equilibrium_checks(unique: bool, exploitability: float, residual: float) -> tuple[Check, ...]:
    """Check whether the equilibrium of the expected payoffs is unique and exact."""
    return (
        Check(
            name="one equilibrium",
            passed=unique,
            sentence="there is one equilibrium, up to how copies share their weight"
            if unique
            else "there are several equilibria; the one of maximum entropy is shown, and small changes may move it",
        ),
        Check(
            name="certified",
            passed=max(exploitability, residual) <= CERTIFIED,
            sentence=f"a deviation gains {exploitability:.1e} of the largest payoff, the residual is {residual:.1e}",
        ),
    )


def name_some(names: tuple[str, ...], most: int = 5) -> str:
    """Return a few names in brackets, or nothing."""
    more = ", ..." if len(names) > most else ""
    return f" ({', '.join(names[:most])}{more})" if names else ""


def trust_table(checks: tuple[Check, ...]) -> Table:
    """Return the list of checks."""
    passed = sum(check.passed is True for check in checks)
    return Table(
        title=f"can you trust this? {passed} of {len(checks)} checks passed",
        columns=(
            Column(name="check"),
            Column(name="passed", meaning="whether the answer is good; a dash where these data cannot tell"),
            Column(name="because", meaning="the answer in one sentence", most=600),
        ),
        rows=tuple((check.name, check.passed, check.sentence) for check in checks),
    )


FEW = 10  # games of a pair below which its payoff is hardly known
BALANCED = 1 / 3  # a schedule is one-sided where the effective number of opponents is below this share of all


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A property of the data: its value, whether it is as it should be, and what it means."""

    name: str
    value: float
    shown: str
    good: bool
    meaning: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataQuality:
    """Everything about the data that limits what any method can say of it."""

    findings: tuple[Finding, ...]

    def finding(self, name: str) -> Finding:
        """Return the finding of that name."""
        return next(finding for finding in self.findings if finding.name == name)

    def sentences(self) -> tuple[str, ...]:
        """Return what is not as it should be."""
        bad = tuple(f"{f.name}: {f.shown}; {f.meaning}" for f in self.findings if not f.good)
        return bad or ("nothing in the data is missing, thin or one-sided",)

    def checks(self) -> tuple[Check, ...]:
        """Return the findings as checks."""
        return tuple(
            Check(name=finding.name, passed=finding.good, sentence=f"{finding.shown}: {finding.meaning}")
            for finding in self.findings
        )

    def tables(self) -> dict[str, Table]:
        """Return the findings as a table."""
        return {"data": self.table()}

    def table(self) -> Table:
        """Return the findings."""
        return Table(
            title="the data",
            columns=(
                Column(name="what"),
                Column(name="found"),
                Column(name="good", meaning="whether it is as it should be"),
                Column(name="meaning", most=400),
            ),
            rows=tuple((f.name, f.shown, f.good, f.meaning) for f in self.findings),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {"findings": [dict(vars(finding)) for finding in self.findings]}

    def __repr__(self) -> str:
        return f"DataQuality({len(self.findings)} findings, {sum(not f.good for f in self.findings)} to look at)"

    def __str__(self) -> str:
        return plain(self.table())

    def _repr_html_(self) -> str:
        return as_html(self.table())


def assess_data(problem: Problem) -> DataQuality:
    """Assess the data as they came in."""
    data = problem.given
    if isinstance(data, Matches):
        return assess_matches(data)
    return assess_scores(data) if isinstance(data, Scores) else assess_payoffs(data, literal=problem.literal)


def assess_payoffs(payoffs: Payoffs, *, literal: bool) -> DataQuality:
    """Assess a payoff matrix."""
    pairs = max(len(payoffs.agents) * (len(payoffs.agents) - 1) // 2, 1)
    return DataQuality(
        findings=(
            Finding(
                name="filled payoffs",
                value=float(payoffs.filled),
                shown=f"{payoffs.filled:,} of {pairs:,} ({payoffs.filled / pairs:.1%})",
                good=payoffs.filled == 0,
                meaning="payoffs of pairs that never met",
            ),
            Finding(
                name="known noise",
                value=float(not literal),
                shown="no" if literal else "yes",
                good=not literal,
                meaning="standard errors or numbers of games: without them noise cannot be separated from skill",
            ),
            same_names(payoffs.agents),
        )
    )


def assess_matches(matches: Matches) -> DataQuality:
    """Assess matches."""
    n = len(matches.agents)
    pairs = n * (n - 1) // 2
    few = int((matches.games < FEW).sum())
    median = float(np.median(matches.games))
    groups = len(matches.components)
    one_sided = [matches.agents[k] for k in np.flatnonzero(effective_opponents(matches) < BALANCED * (n - 1))]
    return DataQuality(
        findings=(
            Finding(
                name="coverage",
                value=matches.coverage,
                shown=f"{len(matches.pairs):,} of {pairs:,} pairs ({matches.coverage:.1%})",
                good=matches.coverage == 1,
                meaning="pairs of agents that met; the model fills the others, with their uncertainty",
            ),
            Finding(
                name="games per pair",
                value=median,
                shown=f"median {count(median)}, least {count(float(matches.games.min()))}",
                good=median >= FEW,
                meaning="how well the payoff of a pair is known",
            ),
            Finding(
                name="pairs with few games",
                value=float(few),
                shown=f"{few:,} of {len(matches.pairs):,}",
                good=few == 0,
                meaning=f"pairs that met less than {FEW} times",
            ),
            Finding(
                name="components",
                value=float(groups),
                shown=f"{groups:,}",
                good=groups == 1,
                meaning="groups of agents without a match between them; only one group can be compared",
            ),
            named("unbeaten agents", matches.unbeaten, "agents that lost no game: only the prior limits their rating"),
            named("winless agents", matches.winless, "agents that won no game: only the prior limits their rating"),
            named(
                "one-sided schedules",
                tuple(one_sided),
                "most games against few of the others (effective number of opponents under a third of all)",
            ),
            same_names(matches.agents),
        )
    )


def assess_scores(scores: Scores) -> DataQuality:
    """Assess scores: a score that was filled in was not measured."""
    unmeasured = scores.missing | scores.filled
    cells = unmeasured.size
    holes, filled = int(unmeasured.sum()), int(scores.filled.sum())
    known = int((np.isfinite(known_noise(scores)) & ~unmeasured).sum())
    where = f"{worst(unmeasured.sum(axis=1), scores.agents)}; {worst(unmeasured.sum(axis=0), scores.tasks)}"
    guessed = f"; {filled:,} of them filled in, which is a guess" if filled else ""
    return DataQuality(
        findings=(
            Finding(
                name="coverage",
                value=1 - holes / cells,
                shown=f"{cells - holes:,} of {cells:,} scores ({1 - holes / cells:.1%})",
                good=holes == 0,
                meaning="scores that were measured" if filled else "scores that are there",
            ),
            Finding(
                name="missing cells",
                value=float(holes),
                shown=f"{holes:,}",
                good=holes == 0,
                meaning=f"most: {where}{guessed}" if holes else "the table is complete",
            ),
            Finding(
                name="known noise",
                value=known / max(cells - holes, 1),
                shown=f"{known:,} of {cells - holes:,}",
                good=known == cells - holes,
                meaning="scores with a standard error or a number of items; without, noise is not known",
            ),
            named("constant tasks", scores.constant_tasks, "one score for every agent"),
            same_names(scores.agents),
        )
    )


def named(name: str, who: tuple[str, ...], meaning: str) -> Finding:
    """Return a finding that should name nobody."""
    shown = f"{len(who):,}: {listed(who)}" if who else "none"
    return Finding(name=name, value=float(len(who)), shown=shown, good=not who, meaning=meaning)


def same_names(agents: tuple[str, ...]) -> Finding:
    """Return the names that differ only in case or white space."""
    twice = tuple(" = ".join(group) for group in look_alikes(agents))
    return named("look-alike names", twice, "names that differ only in case or white space: probably one agent")


def effective_opponents(matches: Matches) -> Floats:
    """Return ``exp(entropy)`` of how each agent's games are spread over opponents."""
    share_log = np.zeros(len(matches.agents))
    total = np.where(matches.games_per_agent > 0, matches.games_per_agent, 1.0)
    for side in (0, 1):
        who = matches.pairs[:, side]
        share = matches.games / total[who]
        share_log += np.bincount(who, -share * np.log(share), minlength=len(total))
    return np.where(matches.games_per_agent > 0, np.exp(share_log), 0.0)
