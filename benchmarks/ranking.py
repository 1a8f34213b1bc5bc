"""Ways to rank beside OpenSpiel (voting rules, alpha-rank), evalica (spectral methods) and rliable (aggregates).

Every answer is compared: the same scores, the same order, or the same disagreement. The sides import this file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Comparison, Section, Side, Size

from nashboard._types import Floats

BEGIN = "import numpy as np, nashboard as nb, ranking\n"
VOTERS = 51
VOTING = ("borda", "copeland", "schulze", "ranked_pairs", "kemeny", "maximal_lottery")


def votes(n: int, voters: int = VOTERS) -> list[list[int]]:
    """Return rankings that are noisy versions of one another."""
    rng = np.random.default_rng(n)
    skill = np.linspace(1, 0, n)
    return [np.argsort(-(skill + rng.normal(0, 0.5, n))).tolist() for _ in range(voters)]


def wins(given: list[list[int]]) -> Floats:
    """Return how many voters prefer one to another."""
    place = np.argsort(np.array(given), axis=1).astype(np.int16)
    return (place[:, :, None] < place[:, None, :]).sum(axis=0, dtype=np.int16).astype(np.float64)


def by_open_spiel(name: str, given: list[list[int]]) -> Any:
    """Return OpenSpiel's outcome."""
    from importlib import import_module

    from open_spiel.python.voting import base

    module = {"kemeny": "kemeny_young", "maximal_lottery": "maximal_lotteries"}.get(name, name)
    rule = next(
        value
        for key, value in vars(import_module(f"open_spiel.python.voting.{module}")).items()
        if key.endswith("Voting") and key != "AbstractVotingMethod"
    )
    profile = base.PreferenceProfile(votes=given, alternatives=list(range(len(given[0]))))
    return rule().run_election(profile)


def disagreement(order: list[int], n: int) -> float:
    """Return the share of votes that an order contradicts beyond its pairs' majorities."""
    W = wins(votes(n))
    M = (W - W.T) / VOTERS
    placed = M[np.ix_(order, order)]
    return float(-np.triu(np.minimum(placed, 0), 1).sum())


def games(n: int, per_pair: int = 10) -> tuple[list[str], list[str], list[int]]:
    """Return a log of games: who met whom, and 1, 0 or 2 for a win of the first, of the second, or a draw."""
    rng = np.random.default_rng(n)
    skill = np.linspace(1, -1, n)
    i, j = (side.repeat(per_pair) for side in np.triu_indices(n, 1))
    draw = rng.random(i.size) < 0.2
    first = rng.random(i.size) < 1 / (1 + np.exp(skill[j] - skill[i]))
    return [f"a{k}" for k in i], [f"a{k}" for k in j], np.where(draw, 2, first.astype(int)).tolist()


def counts(n: int) -> tuple[Floats, Floats]:
    """Return the same games as wins and draws."""
    W, D = np.zeros((n, n)), np.zeros((n, n))
    for a, b, outcome in zip(*games(n), strict=True):
        i, j = int(a[1:]), int(b[1:])
        if outcome == 2:
            D[i, j] += 1
            D[j, i] += 1
        else:
            W[(i, j) if outcome else (j, i)] += 1
    return W, D


def by_evalica(name: str, log: tuple[list[str], list[str], list[int]]) -> dict[str, float]:
    """Return evalica's scores; its eigenvector scores losers high, so there the outcomes are turned."""
    import evalica

    xs, ys, outcomes = log
    won = {1: evalica.Winner.X, 0: evalica.Winner.Y, 2: evalica.Winner.Draw}
    if name == "eigenvector":
        won = {1: won[0], 0: won[1], 2: won[2]}
    function = {"eigenvector": evalica.eigen, "pagerank": evalica.pagerank, "newman": evalica.newman}[name]
    found = function(xs, ys, [won[one] for one in outcomes], tolerance=1e-12, limit=100_000).scores
    if name == "newman":
        found = np.log(found) - np.log(found).mean()
    return {key: float(value) for key, value in found.items()}


def runs(n: int) -> dict[str, Floats]:
    """Return scores of agents in runs on tasks."""
    rng = np.random.default_rng(n)
    return {f"a{k}": rng.normal(size=(50, 60)) for k in range(n)}


def same_scores(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare scores by name."""
    gap = max(abs(answer[name] - ours[name]) for name in ours)
    return f"within {gap:.0e}", gap < 1e-6


def same_order(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare winners: of several that tie, a peer names one."""
    return "the same winner", answer == ours or answer in ours


def same_cost(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare what orders contradict."""
    return f"contradicts {answer:.4f}", abs(answer - ours) < 1e-9


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield the tasks."""
    many, chain, few = {"tiny": (6, 5, 4), "small": (30, 30, 7), "full": (100, 100, 8)}[size]
    for name in VOTING:
        n = few if name == "kemeny" else many
        kemeny = name == "kemeny"
        ours = f"found = nb.rank(nb.Matches.from_counts(ranking.wins(given)), {name!r})"
        after = "answer = found.certificate['disagreement']" if kemeny else (
            "answer = [int(k.split()[1]) - 1 for k in found.winners]"
        )  # fmt: skip
        theirs = f"answer = ranking.disagreement(found.ranking, {n})" if kemeny else "answer = found.ranking[0]"
        given = f"given = ranking.votes({n})\n"
        setup = BEGIN + f"nb.rank(nb.Matches.from_counts(ranking.wins(ranking.votes(4))), {name!r})\n" + given
        peer = BEGIN + f"ranking.by_open_spiel({name!r}, ranking.votes(4))\n" + given
        yield Comparison(
            what=f"{name.replace('_', ' ')}, {n} agents, {VOTERS} votes",
            sides=[
                Side(name="nashboard", setup=setup, code=ours, after=after),
                Side(name="OpenSpiel", setup=peer, code=f"found = ranking.by_open_spiel({name!r}, given)", after=theirs,
                     package="open_spiel"),
            ],
            quality=same_cost if kemeny else same_order,
            again=True,
        )  # fmt: skip
    matrix = f"A = np.random.default_rng(0).normal(size=({chain}, {chain})); A = A - A.T\n"
    table = "answer = dict(enumerate(map(float, found)))"
    yield Comparison(
        what=f"alpha-rank at alpha 1, {chain} agents",
        sides=[
            Side(name="nashboard", setup=BEGIN + matrix + "nb.rank(A[:3, :3], 'alpha_rank', alpha=1.0)\n",
                 code="found = nb.rank(A, 'alpha_rank', alpha=1.0).scores", after=table),
            Side(name="OpenSpiel", setup=BEGIN + matrix + "from open_spiel.python.egt import alpharank\n",
                 code="found = alpharank.compute([A], m=50, alpha=1.0)[2]", after=table, package="open_spiel"),
        ],
        quality=same_scores,
    )  # fmt: skip
    for name in ("eigenvector", "pagerank", "newman"):
        option = ", prior=0" if name == "newman" else ""
        unit = " / nb._units.POINTS_PER_LOGIT" if name == "newman" else ""
        ready = f"xs, ys, o = ranking.games({many})\nimport polars as pl, nashboard._units\n"
        ready += "frame = pl.DataFrame({'a': xs, 'b': ys, 'outcome': [0.5 if k == 2 else float(k) for k in o]})\n"
        run = f"found = nb.rank(nb.read_matches(frame), {name!r}{option})"
        yield Comparison(
            what=f"{name} from a log, {many} agents",
            sides=[
                Side(name="nashboard", setup=BEGIN + ready + run + "\n", code=run,
                     after=f"answer = dict(zip(found.agents, (found.scores{unit}).tolist()))"),
                Side(name="evalica", package="evalica", code=f"answer = ranking.by_evalica({name!r}, log)",
                     setup=BEGIN + f"ranking.by_evalica({name!r}, ranking.games(4))\nlog = ranking.games({many})\n"),
            ],
            quality=same_scores,
        )  # fmt: skip
    yield Comparison(
        what=f"interquartile mean, {many} agents, 50 runs of 60 tasks",
        sides=[
            Side(name="nashboard", setup=BEGIN + f"data = ranking.runs({many})\nnb.rank(ranking.runs(2), 'iqm')\n",
                 code="found = nb.rank(data, 'iqm')", after="answer = dict(zip(found.agents, found.scores.tolist()))"),
            Side(name="rliable", setup=BEGIN + f"from rliable import metrics\ndata = ranking.runs({many})\n",
                 code="answer = {name: float(metrics.aggregate_iqm(one)) for name, one in data.items()}",
                 package="rliable"),
        ],
        quality=same_scores,
    )  # fmt: skip


SECTION = Section(
    name="ranking",
    title="Other ways to rank",
    about="Voting rules and alpha-rank beside OpenSpiel, spectral methods beside evalica, aggregates beside rliable.",
    comparisons=comparisons,
)
