"""Appendix A: averages and Elo ratings that redundant tasks and agents move."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.datasets import suite
from nashboard.data.matches import Matches
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.paper.claim import Found
from nashboard.paper.examples import WIN_RATES, WIN_RATES_AND_COPY
from nashboard.paper.figures import beside_nash
from nashboard.paper.part import Figure, Part
from nashboard.ratings.elo import elo

FOUR = ("A", "B", "C1", "C2")


def part() -> Part:
    """Average the two suites, and rate the two populations."""
    found: dict[str, Found] = {}
    for size, redundant in ((3, False), (4, True)):
        table = suite(redundant=redundant)
        means = table.values.mean(axis=1)
        for agent, mean, rank in zip(table.agents, means, ranks(means), strict=True):
            how = f"nb.load_dataset('suite-{size}'), mean over tasks"
            found[f"biased.{size}.average.{agent}"] = Found(value=float(mean), how=how)
            found[f"biased.{size}.rank.{agent}"] = Found(value=float(rank), how=how)
    before = elo(Matches.from_win_rates(WIN_RATES, ["A", "B", "C"]), prior=0)
    after = elo(Matches.from_win_rates(WIN_RATES_AND_COPY, FOUR), prior=0)
    for agent, rating in zip(before.agents, before.ratings, strict=True):
        found[f"biased.elo.{agent}"] = Found(value=float(rating), how="nb.elo(prior=0)")
    for agent, rating in zip(after.agents, after.ratings, strict=True):
        found[f"biased.clone.{agent}"] = Found(value=float(rating), how="nb.elo(prior=0), row sums agree")
    found["biased.direction"] = Found(
        value=bool(after.ratings[0] < before.ratings[0] and after.ratings[1] > before.ratings[1]), how="nb.elo(prior=0)"
    )
    copies = nash_average(log_odds(WIN_RATES_AND_COPY))
    return Part(
        title="Appendix A: biased averages and biased Elo",
        words="A variant of a task turns the ranking of the averages around; a copy of an agent moves two others by 72 "
        "points each. The Nash averages of the population stay at zero.",
        found=found,
        tables={"biased_averages": suites_table(), "biased_elo": populations_table()},
        figures={
            "biased_elo": Figure(
                chart=beside_nash(
                    FOUR,
                    {"Elo": after.ratings, "Nash": copies.averages * POINTS_PER_LOGIT},
                    "C entered twice: Elo moves, Nash does not",
                    "Elo points",
                ),
                caption="Elo ratings and Nash averages, both in Elo points, with C entered twice.",
            )
        },
    )


def ranks(values: Floats) -> Floats:
    """Return 1 for the largest."""
    return np.array([1 + (values > value).sum() for value in values], dtype=np.float64)


def log_odds(P: Floats) -> Floats:
    """Return the logits of win rates, none of which is 0 or 1."""
    return np.log(P / (1 - P))


def suites_table() -> Table:
    """Return averages and Nash averages of agents on both suites, in raw units."""
    rows = []
    for redundant in (False, True):
        table = suite(redundant=redundant)
        means = table.values.mean(axis=1)
        nash = nash_average_scores(table.values)
        rows += [
            (len(table.tasks), agent, float(mean), int(rank), float(skill))
            for agent, mean, rank, skill in zip(table.agents, means, ranks(means), nash.skills, strict=True)
        ]
    return Table(
        title="appendix A: three agents on three tasks, and on four",
        columns=(
            Column(name="tasks"),
            Column(name="agent"),
            Column(name="average", decimals=2),
            Column(name="rank"),
            Column(name="Nash average", meaning="raw scores over the tasks that matter", decimals=2),
        ),
        rows=tuple(rows),
    )


def populations_table() -> Table:
    """Return Elo and Nash averages of both populations."""
    rows = []
    for P, names in ((WIN_RATES, ("A", "B", "C")), (WIN_RATES_AND_COPY, FOUR)):
        ratings = elo(Matches.from_win_rates(P, names), prior=0)
        nash = nash_average(log_odds(P))
        rows += [
            (len(names), name, float(r), float(n), float(w))
            for name, r, n, w in zip(names, ratings.ratings, nash.averages, nash.weights, strict=True)
        ]
    return Table(
        title="appendix A: three agents in a circle, and with a second copy of C",
        columns=(
            Column(name="agents"),
            Column(name="agent"),
            Column(name="Elo", decimals=2),
            Column(name="Nash average", meaning="log-odds", decimals=4),
            Column(name="weight", decimals=4),
        ),
        rows=tuple(rows),
    )
