"""Ways to rank beside OpenSpiel (voting rules, alpha-rank), evalica (spectral methods) and rliable (aggregates).

Every answer is compared: the same scores, the same order, or the same disagreement. The sides import this file.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Comparison, Section, Side, Size

from nashboard._types import Floats
from nashboard.ranking.registry import methods

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
    order = np.array(given)
    number = np.uint8 if max(order.shape) < 256 else np.int16
    place = np.empty(order.shape, dtype=number)
    place[np.arange(len(order))[:, None], order] = np.arange(order.shape[1])
    return np.add.reduce(place[:, :, None] < place[:, None, :], axis=0, dtype=number).astype(np.float64)


def margins(given: list[list[int]]) -> Any:
    """Return how much more often one is preferred to another, which is all that voting rules need."""
    import nashboard as nb

    W = wins(given)
    return nb.Payoffs.from_array((W - W.T) / len(given), scale="margin")


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


def disagreement(order: list[int], given: list[list[int]]) -> float:
    """Return the share of votes that an order contradicts beyond its pairs' majorities."""
    W = wins(given)
    placed = ((W - W.T) / len(given))[np.ix_(order, order)]
    return float(-np.triu(np.minimum(placed, 0), 1).sum())


def profiles(count: int, seed: int = 0) -> Iterator[list[list[int]]]:
    """Yield random votes: 3 to 6 agents, 3 to 12 voters, all orders as likely; ties and cycles are common."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, voters = rng.integers(3, 7), rng.integers(3, 13)
        yield [rng.permutation(n).tolist() for _ in range(voters)]


def strongest_paths(W: Floats) -> Floats:
    """Return Schulze's strongest paths by trying every path of two parts until none is stronger."""
    S = np.where(W > W.T, W, 0.0)
    while True:
        longer = np.maximum(S, np.minimum(S[:, :, None], S[None]).max(axis=1))
        np.fill_diagonal(longer, 0.0)
        if (longer == S).all():
            return S
        S = longer


def soft_loss(W: Floats, r: Floats) -> float:
    """Return the votes that ratings contradict, softly, at temperature 1."""
    return float((W / (1 + np.exp(r[:, None] - r))).sum())


def soft_by_open_spiel(given: list[list[int]]) -> Floats:
    """Return the ratings of OpenSpiel's gradient descent."""
    from open_spiel.python.voting import base
    from open_spiel.python.voting.soft_condorcet_optimization import SoftCondorcetOptimizer

    profile = base.PreferenceProfile(votes=given, alternatives=list(range(len(given[0]))))
    optimizer = SoftCondorcetOptimizer(profile, rating_upper_bound=100.0)
    return np.asarray(optimizer.run_solver(iterations=500, learning_rate=1.0)[0], dtype=np.float64)


def compare_profile(name: str, given: list[list[int]]) -> str:
    """Return "same", or how an outcome of OpenSpiel differs from ours; a difference without a reason is an error."""
    import nashboard as nb

    W, ours = wins(given), nb.rank(margins(given), name)
    first = [k for k, rank in enumerate(ours.ranks) if rank == 1]
    if name == "soft_condorcet":
        lower = soft_loss(W, soft_by_open_spiel(given)) - soft_loss(W, ours.scores)
        assert lower > -1e-4, f"OpenSpiel's loss is {-lower:g} lower on {given}"
        return "same" if lower < 1e-2 else "our loss is lower"
    theirs = by_open_spiel(name, given)
    scores = np.array([dict(zip(theirs.ranking, theirs.scores, strict=True))[k] for k in range(len(W))])
    if name == "kemeny":
        assert abs(disagreement(theirs.ranking, given) - ours.certificate["disagreement"]) < 1e-9, given
    elif name in ("borda", "copeland"):
        expected = ours.scores * (len(given) if name == "borda" else 1)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9, err_msg=str(given))
    elif name == "maximal_lottery":
        lottery = np.where(scores >= np.floor(scores.max() - 1e-6), scores - np.floor(scores.max() - 1e-6), 0.0)
        lottery = np.where(lottery > 1e-6, lottery, 0.0)
        assert ((W - W.T) @ lottery).max() < 1e-5 * len(given), given  # nobody beats it
        assert set(np.flatnonzero(lottery).tolist()) <= set(first), given  # ours has the largest support
        if np.abs(lottery - ours.weights).max() > 1e-5:
            assert not nb.nash_average(W - W.T).unique, given
            return "another lottery of several"
    elif theirs.ranking[0] not in first:
        S = strongest_paths(W)
        best = theirs.ranking[0]
        rival = int(np.argmax(S[:, best] - S[best]))
        assert name == "schulze", f"{name}: OpenSpiel's {best} is not among our {first} on {given}"
        assert S[rival, best] > S[best, rival], given
        return f"OpenSpiel's first loses by the rule to another agent, {S[rival, best]:g} : {S[best, rival]:g}"
    return "same"


def compare_profiles(name: str, count: int = 200, seed: int = 0) -> dict[str, int]:
    """Return how often OpenSpiel's outcome by a rule is ours, and how often it differs how."""
    return dict(Counter(compare_profile(name, given) for given in profiles(count, seed)))


def games(n: int, per_pair: int = 10) -> tuple[list[str], list[str], list[int]]:
    """Return a log of games: who met whom, and 1, 0 or 2 for a win of the first, of the second, or a draw."""
    rng = np.random.default_rng(n)
    skill = np.linspace(1, -1, n)
    i, j = (side.repeat(per_pair) for side in np.triu_indices(n, 1))
    draw = rng.random(i.size) < 0.2
    first = rng.random(i.size) < 1 / (1 + np.exp(skill[j] - skill[i]))
    return [f"a{k}" for k in i], [f"a{k}" for k in j], np.where(draw, 2, first.astype(int)).tolist()


def shares(outcomes: list[int]) -> list[float]:
    """Return outcomes as the share of the point of the first."""
    return [0.5 if one == 2 else float(one) for one in outcomes]


def evalica_winners(name: str, outcomes: list[int]) -> list[Any]:
    """Return outcomes as evalica takes them; its eigenvector scores losers high, so there they are turned."""
    import evalica

    won = {1: evalica.Winner.X, 0: evalica.Winner.Y, 2: evalica.Winner.Draw}
    return [won[1 - one if name == "eigenvector" and one != 2 else one] for one in outcomes]


def evalica_scores(name: str, found: Any) -> dict[str, float]:
    """Return evalica's scores in our units."""
    if name == "newman":
        found = np.log(found) - np.log(found).mean()
    return {key: float(value) for key, value in found.items()}


def league(n: int) -> Any:
    """Return matches in which all pairs met: ratings, a cyclic plane and some draws."""
    import nashboard as nb

    rng = np.random.default_rng(n)
    r, c = rng.normal(size=n), rng.normal(size=(2, n)) / 2
    lead = r[:, None] - r + np.outer(c[0], c[1]) - np.outer(c[1], c[0])
    games = np.triu(rng.integers(5, 30, size=(n, n)), 1)
    won = rng.binomial(games, 1 / (1 + np.exp(-lead)))
    drawn = np.triu(rng.random((n, n)) < 0.1, 1).astype(np.float64)
    return nb.Matches.from_counts(won + (games - won).T, draws=drawn + drawn.T)


def suite(n: int) -> Any:
    """Return scores on 50 tasks."""
    import nashboard as nb

    rng = np.random.default_rng(n)
    return nb.Scores.from_array(rng.normal(size=(n, 1)) + rng.normal(size=(n, 50)))


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
        ours = f"found = nb.rank(ranking.margins(given), {name!r})"
        after = "answer = found.certificate['disagreement']" if kemeny else (
            "answer = [int(k.split()[1]) - 1 for k in found.winners]"
        )  # fmt: skip
        theirs = "answer = ranking.disagreement(found.ranking, given)" if kemeny else "answer = found.ranking[0]"
        given = f"given = ranking.votes({n})\n"
        setup = BEGIN + f"nb.rank(ranking.margins(ranking.votes(4)), {name!r})\n" + given
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
    for name, called in (("eigenvector", "eigen"), ("pagerank", "pagerank"), ("newman", "newman")):
        option = ", prior=0" if name == "newman" else ""
        unit = " / nb._units.POINTS_PER_LOGIT" if name == "newman" else ""
        for n in dict.fromkeys((min(many, 30), many)):
            ready = f"import nashboard._units\nxs, ys, o = ranking.games({n})\no = ranking.shares(o)\n"
            run = f"found = nb.rank(nb.Matches.from_games(xs, ys, o), {name!r}{option})"
            theirs = f"import evalica\nxs, ys, o = ranking.games({n})\no = ranking.evalica_winners({name!r}, o)\n"
            other = f"found = evalica.{called}(xs, ys, o, tolerance=1e-12, limit=100_000).scores"
            yield Comparison(
                what=f"{name} of {n * (n - 1) * 5:,} games, {n} agents",
                sides=[
                    Side(name="nashboard", setup=BEGIN + ready + run, code=run,
                         after=f"answer = dict(zip(found.agents, (found.scores{unit}).tolist()))"),
                    Side(name="evalica", package="evalica", setup=BEGIN + theirs + other, code=other,
                         after=f"answer = ranking.evalica_scores({name!r}, found)"),
                ],
                quality=same_scores,
                again=True,
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
    yield from every_method({"tiny": 6, "small": 100, "full": 1000}[size])


def every_method(n: int) -> Iterator[Comparison]:
    """Yield every method but Kemeny-Young on a league, or on a table of scores: ours alone."""
    for method in methods():
        kinds = [kind for kind in method.needs if kind == "matches" or "matches" not in method.needs]
        if method.name in ("nash", "deviation", "alpha_rank"):
            kinds = ["matches", "scores"]
        for kind in kinds if method.name != "kemeny" else ():
            data = "league" if kind == "matches" else "suite"
            yield Comparison(
                what=f"{method.title} of {kind}, {n:,} agents",
                sides=[
                    Side(
                        name="nashboard",
                        setup=BEGIN + f"nb.rank(ranking.{data}(6), {method.name!r})\ndata = ranking.{data}({n})\n",
                        code=f"found = nb.rank(data, {method.name!r})",
                        after="answer = {name: float(value) for name, value in found.certificate.items()}",
                    )
                ],
                quality=lambda answer, _: (", ".join(f"{key} {value:.1g}" for key, value in answer.items()), True),
                repeats=2,
                limit=120.0,
            )


SECTION = Section(
    name="ranking",
    title="Other ways to rank",
    about="Voting rules and alpha-rank beside OpenSpiel, spectral methods beside evalica (both get lists of names and "
    "outcomes), aggregates beside rliable; then every method but Kemeny-Young alone, on a league in which all pairs "
    "met and on scores on 50 tasks.",
    comparisons=comparisons,
)


if __name__ == "__main__":
    for rule in (*VOTING, "soft_condorcet"):
        told = compare_profiles(rule)
        print(f"{rule}: " + ", ".join(f"{how} {count}" for how, count in told.items()), flush=True)
