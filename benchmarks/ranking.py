"""Ways to rank beside OpenSpiel (voting rules, alpha-rank), polarix (deviation), evalica (spectral) and rliable (runs).

Every answer is compared: the same scores, the same order, or the same disagreement. The sides import this file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Comparison, Section, Side, Size
from voting import ALPHAS, RULES, VOTERS

from nashboard._types import Floats
from nashboard.ranking.registry import methods

BEGIN = "import numpy as np, nashboard as nb, ranking, voting\n"
PROFILES = 200


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


def equal_scores(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare scores by name to the last digits."""
    gap = max(abs(answer[name] - ours[name]) for name in ours)
    return f"within {gap:.0e}", gap < 1e-9


def same_winner(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare winners: of several that tie, a peer names one."""
    return "the same winner", answer == ours or answer in ours


def same_cost(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare what orders contradict."""
    return f"contradicts {answer:.4f}", abs(answer - ours) < 1e-9


def no_higher_loss(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare losses: a descent may stop early, and ours must not be higher."""
    return f"contradicts {answer:.4f}", answer > ours - 1e-4


def explained(answer: Any, ours: Any) -> tuple[str, bool]:
    """Say how often a peer's outcomes are ours, and how they differ; one without a reason is an error in `voting`."""
    if answer == ours:
        return f"{ours} outcomes", True
    return ", ".join(f"{how}: {count}" for how, count in answer.items()), sum(answer.values()) == ours


def close_shares(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare stationary distributions."""
    if answer == ours:
        return f"{ours} outcomes", True
    gap = answer["largest difference"]
    return f"within {gap:.0e} in {answer['games']} games", gap < 1e-6 and answer["games"] == ours


def close_gains(answer: Any, ours: Any) -> tuple[str, bool]:
    """Compare what agents gain by deviating, game by game."""
    gap = max(max(abs(x - y) for x, y in zip(one, two, strict=True)) for one, two in zip(answer, ours, strict=True))
    return f"within {gap:.0e}", gap < 1e-4


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield the tasks."""
    many, chain, few = {"tiny": (6, 5, 4), "small": (30, 30, 7), "full": (100, 100, 8)}[size]
    yield from by_votes(many, few)
    yield from on_random_data(4 if size == "tiny" else PROFILES)
    yield from by_deviation(4 if size == "tiny" else PROFILES, {"tiny": 1, "small": 2, "full": 8}[size])
    yield from by_evolution(chain, {"tiny": 3, "small": 6, "full": 10}[size])
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
    for name in ("iqm", "median"):
        title = "interquartile mean" if name == "iqm" else name
        yield Comparison(
            what=f"{title}, {many} agents, 50 runs of 60 tasks",
            sides=[
                Side(name="nashboard",
                     setup=BEGIN + f"data = ranking.runs({many})\nnb.rank(ranking.runs(2), {name!r})\n",
                     code=f"found = nb.rank(data, {name!r})",
                     after="answer = dict(zip(found.agents, found.scores.tolist()))"),
                Side(name="rliable", setup=BEGIN + f"from rliable import metrics\ndata = ranking.runs({many})\n",
                     code=f"answer = {{name: float(metrics.aggregate_{name}(one)) for name, one in data.items()}}",
                     package="rliable"),
            ],
            quality=equal_scores,
        )  # fmt: skip
    yield from every_method({"tiny": 6, "small": 100, "full": 1000}[size])


def by_votes(many: int, few: int) -> Iterator[Comparison]:
    """Yield every voting rule on one profile; Kemeny-Young, which OpenSpiel enumerates, on one of few agents."""
    for name in RULES:
        n = few if name == "kemeny" else many
        ours, theirs = (
            f"found = nb.rank(voting.margins(given), {name!r})",
            f"found = voting.by_open_spiel({name!r}, given)",
        )
        answers = "answer = [int(k) for k in found.winners]", "answer = found.ranking[0]"
        quality = same_winner
        if name == "kemeny":
            answers = "answer = found.certificate['disagreement']", "answer = voting.disagreement(found.ranking, given)"
            quality = same_cost
        if name == "soft_condorcet":
            theirs = "found = voting.soft_by_open_spiel(given)"
            answers = (
                f"answer = found.certificate['contradicted_votes'] * {VOTERS}",
                "answer = voting.soft_loss(voting.wins(given), found)",
            )
            quality = no_higher_loss
        given = f"given = voting.votes({n})\n"
        setup = BEGIN + "given = voting.votes(4)\n"
        yield Comparison(
            what=f"{name.replace('_', ' ')}, {n} agents, {VOTERS} votes",
            sides=[
                Side(name="nashboard", setup=setup + ours + "\n" + given, code=ours, after=answers[0]),
                Side(name="OpenSpiel", setup=setup + theirs + "\n" + given, code=theirs, after=answers[1],
                     package="open_spiel"),
            ],
            quality=quality,
            again=name != "soft_condorcet",
        )  # fmt: skip


def on_random_data(count: int) -> Iterator[Comparison]:
    """Yield winners and scores by every rule on random profiles, and shares by alpha-rank in random games."""
    for name in RULES:
        warm, given = "given = list(voting.profiles(2))\n", f"given = list(voting.profiles({count}))\n"
        ours = f"found = [nb.rank(voting.margins(one), {name!r}) for one in given]"
        call = "voting.soft_by_open_spiel(one)" if name == "soft_condorcet" else f"voting.by_open_spiel({name!r}, one)"
        theirs = f"found = [{call} for one in given]"
        yield Comparison(
            what=f"{name.replace('_', ' ')} on {count} random profiles",
            sides=[
                Side(name="nashboard", setup=BEGIN + warm + ours + "\n" + given, code=ours,
                     after="answer = len(found)"),
                Side(name="OpenSpiel", setup=BEGIN + warm + theirs + "\n" + given, code=theirs,
                     after=f"answer = voting.compare_profiles({name!r}, {count})", package="open_spiel"),
            ],
            quality=explained,
            repeats=1,
            limit=300.0,
        )  # fmt: skip
    for populations in (1, 2):
        given = f"given = list(voting.random_games({populations}, {count}))\nS, alpha = given[0]\n"
        yield Comparison(
            what=f"alpha-rank at alpha {', '.join(f'{alpha:g}' for alpha in ALPHAS)}, {count} random games of "
            + ("one population" if populations == 1 else "two populations"),
            sides=[
                Side(name="nashboard", setup=BEGIN + given + f"voting.alpha_by_us(S, alpha, {populations})",
                     code=f"found = [voting.alpha_by_us(S, alpha, {populations}) for S, alpha in given]",
                     after="answer = len(found)"),
                Side(name="OpenSpiel", setup=BEGIN + given + f"voting.alpha_by_open_spiel(S, alpha, {populations})",
                     code=f"found = [voting.alpha_by_open_spiel(S, alpha, {populations}) for S, alpha in given]",
                     after=f"answer = voting.compare_games({populations}, {count})", package="open_spiel"),
            ],
            quality=close_shares,
            repeats=1,
        )  # fmt: skip


def by_evolution(n: int, side: int) -> Iterator[Comparison]:
    """Yield alpha-rank at a finite alpha, of agents against agents, and of agents against tasks."""
    for populations, shape in ((1, (n, n)), (2, (side, side))):
        game = f"S = np.random.default_rng(0).normal(size={shape}); S = {'S - S.T' if populations == 1 else 'S'}\n"
        yield Comparison(
            what="alpha-rank at alpha 1, " + (f"{n} agents" if populations == 1 else f"{side} agents on {side} tasks"),
            sides=[
                Side(name=name, setup=BEGIN + game + f"voting.{called}(S[:2, :2], 1.0, {populations})\n",
                     code=f"found = voting.{called}(S, 1.0, {populations})",
                     after="answer = dict(enumerate(map(float, found)))", package=package)
                for name, called, package in (
                    ("nashboard", "alpha_by_us", "nashboard"), ("OpenSpiel", "alpha_by_open_spiel", "open_spiel"),
                )
            ],
            quality=same_scores,
        )  # fmt: skip


def by_deviation(count: int, few: int) -> Iterator[Comparison]:
    """Yield deviation ratings beside the gains of all joint choices, and beside polarix where its answer is ours."""
    for kind in ("payoffs", "prompts"):
        given = f"given = list(voting.deviation_games({kind!r}, {count}))\n"
        yield Comparison(
            what=f"deviation ratings of {count} random games of "
            + ("two players" if kind == "payoffs" else "models and prompts"),
            sides=[
                Side(name="nashboard", setup=BEGIN + given + "voting.gains_by_us(given[0])",
                     code="found = [voting.gains_by_us(one) for one in given]", after="answer = len(found)"),
                Side(name="OpenSpiel's constraints, HiGHS",
                     setup=BEGIN + given + "voting.gains_by_open_spiel(given[0])",
                     code="found = [voting.gains_by_open_spiel(one) for one in given]",
                     after=f"answer = voting.compare_deviation({kind!r}, {count})", package="open_spiel"),
            ],
            quality=close_shares,
            repeats=1,
        )  # fmt: skip
    given = f"given = games.small({few})\n"
    yield Comparison(
        what=f"deviation ratings of {few} random games with one equilibrium",
        sides=[
            Side(name="nashboard", setup=f"import games, nashboard as nb\n{given}nb.rank(given[0], 'deviation')",
                 code="answer = [nb.rank(one, 'deviation').scores.tolist() for one in given]"),
            Side(name="polarix ce_maxent", setup=f"import games, peers\n{given}",
                 code="answer = [peers.polarix_ratings(one) for one in given]", package="polarix",
                 environment="polarix"),
        ],
        quality=close_gains,
        repeats=1,
        limit=600.0,
    )  # fmt: skip


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
    about="Voting rules, alpha-rank and deviation ratings beside OpenSpiel, on one large profile each and, with "
    "winners and scores, on random ones; deviation ratings beside polarix; spectral methods beside evalica (both get "
    "lists of names and outcomes), aggregates beside rliable; then every method but Kemeny-Young alone, on a league in "
    "which all pairs met and on scores on 50 tasks.",
    comparisons=comparisons,
)
