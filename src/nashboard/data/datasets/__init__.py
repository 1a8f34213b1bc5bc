"""Bundled data sets: real results that the paper speaks of, and its small teaching examples."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files

import numpy as np

from nashboard._tables import Column, Table
from nashboard._text import listed, nearest
from nashboard.data.matches import Matches
from nashboard.data.origin import Origin
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.errors import InputError

Data = Matches | Scores | Payoffs

# The programs for which all pairs are known (section 3.2), strongest first.
ALPHAGO = ("alpha_rvp", "alpha_vp", "alpha_rp", "alpha_rv", "alpha_r", "alpha_v", "alpha_p", "Zen")


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a bundled csv file."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def cross_table(name: str, value: str) -> tuple[list[str], np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Return the agents and the matrix of a csv file with one row per ordered pair."""
    table = rows(name)
    agents = sorted({row[side] for row in table for side in ("agent_a", "agent_b")})
    place = {agent: k for k, agent in enumerate(agents)}
    matrix = np.full((len(agents), len(agents)), np.nan)
    for row in table:
        matrix[place[row["agent_a"]], place[row["agent_b"]]] = float(row[value])
    return agents, matrix


def alphago() -> Matches:
    """Return the win rates among eight Go programs."""
    agents, P = cross_table("alphago_table9.csv", "win_rate_a")
    # Most pairs are printed in one direction only; the other is its complement.
    return Matches.from_win_rates(P, agents, symmetrise=True).select(ALPHAGO)


def scores_of(name: str) -> Scores:
    """Return a bundled wide table of scores."""
    table = rows(name)
    tasks = list(table[0])[1:]
    values = [[float(row[task]) for task in tasks] for row in table]
    return Scores.from_array(values, [row["agent"] for row in table], tasks)


def roshambo() -> Payoffs:
    """Return the mean scores among 43 bots, the two directions of each pair averaged."""
    agents, A = cross_table("roshambo.csv", "mean_score_a")
    return Payoffs.from_array(A, agents, symmetrise=True)


def suite(*, redundant: bool) -> Scores:
    """Return the three agents of appendix A on three tasks, or with task 3 entered in two variants."""
    three = [[89, 93, 76], [85, 85, 85], [79, 74, 99]]
    if not redundant:
        return Scores.from_array(three, ["A", "B", "C"], ["task 1", "task 2", "task 3"])
    four = np.column_stack([three, [77, 84, 98]])
    return Scores.from_array(four, ["A", "B", "C"], ["task 1", "task 2", "task 3a", "task 3b"])


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A bundled data set: how to make it, what it is, where it comes from."""

    load: Callable[[], Data]
    summary: str
    source: str


PAPER = "Balduzzi, Tuyls, Perolat, Graepel 2018, Re-evaluating Evaluation"

DATASETS: dict[str, Dataset] = {
    "alphago": Dataset(
        load=alphago,
        summary="win rates among eight Go programs, AlphaGo variants and Zen",
        source="Silver et al. 2016, Mastering the game of Go with deep neural networks and tree search, extended "
        "data table 9: the share of games won. The eight programs of section 3.2 of the paper, for which all "
        "pairs are known. The numbers of games are not printed, so each pair counts as one game.",
    ),
    "atari": Dataset(
        load=lambda: scores_of("atari_scores.csv"),
        summary="raw scores of 20 agents in 54 Atari games, among them a human and random play",
        source="Rebuilt from the papers that section 4.2 of the paper cites; the authors' own matrix is not "
        "public. random, human, dqn, ddqn, dueling_ddqn, prioritized_ddqn_rank, prioritized_dueling_ddqn: Wang et "
        "al. 2016, table 2 (no-op starts). popart_ddqn: van Hasselt et al. 2016, table 1. prioritized_ddqn_prop, "
        "distributional_dqn, noisy_dqn, rainbow: Hessel et al. 2017, table 6. The eight agents ending in _hs: "
        "Hessel et al. 2017, table 5 (human starts), near-copies of the others, as in the original. Missing: "
        "count-based exploration and no-action, which are not published for all games.",
    ),
    "atari-noop": Dataset(
        load=lambda: scores_of("atari_scores_noop20.csv"),
        summary="raw scores of 20 agents in 54 Atari games, one start regime throughout",
        source="The twelve no-op rows of the data set atari, plus A3C, NoisyNet (A3C, DQN, dueling), C51, "
        "QR-DQN-1, Reactor-ND and Reactor from their own papers.",
    ),
    "roshambo": Dataset(
        load=roshambo,
        summary="mean scores among 43 bots in repeated rock-paper-scissors, strongly cyclic",
        source="Lanctot et al. 2023, Population-based evaluation in repeated rock-paper-scissors, cross-table: "
        "the mean score over 1000 games of 1000 throws. The two directions of a pair disagree by up to 35 points, "
        "so they are averaged.",
    ),
    "rock-paper-scissors": Dataset(
        load=lambda: Matches.from_win_rates(
            [[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]], ["A", "B", "C"], games=10
        ),
        summary="three agents, each beating the next in 9 games of 10",
        source=f"{PAPER}, appendix A, first population; ten games per pair, so that counts are whole.",
    ),
    "suite-3": Dataset(
        load=lambda: suite(redundant=False),
        summary="three agents on three tasks: on average A is first",
        source=f"{PAPER}, appendix A, first benchmark suite.",
    ),
    "suite-4": Dataset(
        load=lambda: suite(redundant=True),
        summary="the same with task 3 entered in two variants: on average C is first",
        source=f"{PAPER}, appendix A, second benchmark suite.",
    ),
}


def load_dataset(name: str) -> Data:
    """Return a bundled data set as `Matches`, `Scores` or `Payoffs`.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.load_dataset("atari")
    Scores(20 agents x 54 tasks, raw)
    """
    chosen = named(name)
    data = chosen.load()
    notes = data.origin.notes
    return replace(data, origin=Origin(source=f"dataset:{name}", format="data set", notes=notes))


def named(name: str) -> Dataset:
    """Return the entry of that name, or say which there are."""
    if name not in DATASETS:
        raise InputError(f"there is no data set {name!r}{nearest(name, DATASETS)}: there are {listed(DATASETS, 99)}")
    return DATASETS[name]


def catalogue() -> Table:
    """Return a table of the bundled data sets."""
    return Table(
        columns=(
            Column(name="name"),
            Column(name="kind", meaning="type of the data"),
            Column(name="contents", meaning="what it is"),
        ),
        rows=tuple((name, type(entry.load()).__name__, entry.summary) for name, entry in DATASETS.items()),
        notes=("nashboard datasets NAME shows the source of a data set.",),
    )


def described(name: str) -> str:
    """Return what a data set holds and where it comes from."""
    entry = named(name)
    return f"{name}: {entry.summary}\n{load_dataset(name)!r}\nSource: {entry.source}"
