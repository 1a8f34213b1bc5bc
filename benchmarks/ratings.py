"""Ratings beside their peers: the same maximum of the likelihood, covariates, white's advantage and draws, online.

Peers are evalica, arena-rank, choix, riix, and BayesElo's published model (Coulom 2008), which is written again here:
``P(white wins) = f(-d - advantage + draw)`` and ``P(black wins) = f(d + advantage + draw)`` with
``f(x) = 1 / (1 + 10^(x / 400))`` and ``d`` white's lead; the rest are draws. The sides import this file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import Comparison, Section, Side, Size
from numpy.typing import NDArray

Array = NDArray[np.float64]
POINTS = 400 / np.log(10)
COVARIATES = ["length", "style"]
BEGIN = "import numpy as np, nashboard as nb, ratings\n"
# --- data ---


def battles(rows: int, agents: int = 40, seed: int = 7) -> pl.DataFrame:
    """Return battles that two covariates sway: a length that is unique to each row, and one of three styles."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 1, agents)
    a = rng.integers(0, agents, rows)
    b = (a + rng.integers(1, agents, rows)) % agents
    length, style = rng.standard_normal(rows), rng.integers(-1, 2, rows).astype(float)
    x = r[a] - r[b] + 0.4 * length - 0.2 * style
    names = pl.Series([f"model-{k:02d}" for k in range(agents)])
    won = rng.random(rows) < 1 / (1 + np.exp(-x))
    winner = pl.Series(["model_b", "model_a", "tie"])[np.where(rng.random(rows) < 0.1, 2, won)]
    columns = {"model_a": names[a], "model_b": names[b], "winner": winner, "length": length, "style": style}
    return pl.DataFrame(columns)


def split(lead: Array, model: str) -> Array:
    """Return white's probabilities of win, draw and loss at a lead, ``(3, games)``: about a third are draws."""
    if model == "BayesElo":
        win, loss = bayes_elo(lead, 100.0)
        return np.stack([win, 1 - win - loss, loss])
    weights = np.exp(np.stack([lead / 2, np.zeros_like(lead), -lead / 2]) / POINTS)
    return np.asarray(weights / weights.sum(axis=0))


ADVANTAGE = 35.0  # of white, in points
LEAGUES = 10  # of the same seeds for every side


def chess(games: int, model: str, agents: int = 30, seed: int = 1) -> tuple[Array, Any, Any, Any]:
    """Return true ratings in points, white, black, and how games ended for white: 0 won, 1 drawn, 2 lost."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 170, agents)
    white = rng.integers(0, agents, games)
    black = (white + rng.integers(1, agents, games)) % agents
    win, draw, _ = split(r[white] - r[black] + ADVANTAGE, model)
    u = rng.random(games)
    return r, white, black, (u >= win).astype(int) + (u >= win + draw)


def chess_log(games: int, model: str, seed: int) -> pl.DataFrame:
    """Return the same as a log."""
    truth, white, black, end = chess(games, model, seed=seed)
    names = pl.Series([f"player {k:02d}" for k in range(truth.size)])
    results = pl.Series(["1-0", "1/2-1/2", "0-1"])[end]
    return pl.DataFrame({"white": names[white], "black": names[black], "result": results})


def judged(games: int, model: str, seed: int, points: Array, predicted: Any) -> Array:
    """Return the share of pairs in the right order, and the loss to be expected in a next game of any two players."""
    truth = chess(games, model, seed=seed)[0]
    i, j = np.nonzero(~np.eye(truth.size, dtype=bool))
    p = split(truth[i] - truth[j] + ADVANTAGE, model)
    loss = -(p * np.log(predicted(i, j))).sum(axis=0).mean()
    return np.array([((points[i] > points[j]) == (truth[i] > truth[j])).mean(), loss])


# --- who rates ---


def bayes_elo(lead: Array, draw: float) -> tuple[Array, Array]:
    """Return BayesElo's probabilities that white wins and that black wins, at white's lead with its advantage."""
    return 1 / (1 + 10 ** ((draw - lead) / 400)), 1 / (1 + 10 ** ((draw + lead) / 400))


def by_bayes_elo(games: int, model: str, seed: int) -> Array:
    """Fit BayesElo's ratings, white's advantage and the draw parameter by maximum likelihood."""
    from scipy.optimize import minimize

    r, white, black, ends = chess(games, model, seed=seed)
    n = r.size
    code, count = np.unique((white * n + black) * 3 + ends, return_counts=True)
    i, j, end = code // 3 // n, code // 3 % n, code % 3

    def loss(z: Array) -> tuple[float, Array]:
        win, lose = bayes_elo((z[i] - z[j] + z[n]) * 100, z[n + 1] * 100)
        p = np.maximum(np.choose(end, [win, 1 - win - lose, lose]), 1e-300)
        up, down = win * (1 - win), lose * (1 - lose)
        by_lead = np.choose(end, [up, down - up, -down]) / p * -count * (100 / POINTS)
        by_draw = np.choose(end, [-up, up + down, -down]) / p * -count * (100 / POINTS)
        g = np.bincount(i, by_lead, n + 2) - np.bincount(j, by_lead, n + 2)
        g[n:] = by_lead.sum(), by_draw.sum()
        return -float(count @ np.log(p)), g

    z = minimize(loss, np.append(np.zeros(n + 1), 1.0), jac=True, bounds=[(None, None)] * (n + 1) + [(1e-6, None)]).x

    def predicted(a: Any, b: Any) -> Array:
        win, lose = bayes_elo((z[a] - z[b] + z[n]) * 100, z[n + 1] * 100)
        return np.stack([win, 1 - win - lose, lose])

    return judged(games, model, seed, z[:n], predicted)


def by_nashboard(found: Any, games: int, model: str, seed: int) -> Array:
    """Judge our ratings."""
    x = np.log(found.draw_strength)

    def predicted(a: Any, b: Any) -> Array:
        lead = (found.ratings[a] - found.ratings[b] + found.first_advantage.value) / POINTS
        weights = np.exp(np.stack([lead / 2, np.full(lead.size, x), -lead / 2]))
        return np.asarray(weights / weights.sum(axis=0))

    return judged(games, model, seed, found.ratings, predicted)


def by_arena_rank(frame: Any) -> dict[str, float]:
    """Fit arena-rank's contextual model without regularisation; covariates as they are."""
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset

    data = ContextualPairDataset.from_pandas(frame, feature_cols=COVARIATES, reweighted=False, normalize_features=False)
    model = ContextualBradleyTerry(
        n_competitors=len(data.competitors), n_features=2, reg=0.0, ftol=1e-15, gtol=1e-10, max_iter=10_000
    )
    model.fit(data)
    points = np.asarray(model.params["ratings"]) * POINTS
    named = dict(zip(data.competitors, (points - points.mean()).tolist(), strict=True))
    return named | dict(zip(COVARIATES, (np.asarray(model.params["coeffs"]) * POINTS).tolist(), strict=True))


def exactly(name: str, frame: Any) -> dict[str, float]:
    """Return the maximum of the likelihood by a peer whose tolerance is as small as it can be."""
    import peers

    if name == "evalica":
        import evalica

        columns = peers.evalica_columns(frame)
        scores = evalica.bradley_terry(*columns, tie_weight=0.5, tolerance=1e-15, limit=10**6).scores
        found = dict(zip(scores.index, np.log(scores) * POINTS, strict=True))
    elif name == "arena-rank":
        from arena_rank.models.bradley_terry import BradleyTerry
        from arena_rank.utils.data_utils import PairDataset

        data = PairDataset.from_pandas(frame)
        model = BradleyTerry(n_competitors=len(data.competitors), ftol=1e-18, gtol=1e-14, max_iter=10_000)
        model.fit(data)
        found = dict(zip(data.competitors, np.asarray(model.params["ratings"]) * POINTS, strict=True))
    else:
        return choix_of(*peers.halves(frame))
    mean = sum(found.values()) / len(found)
    return {str(name): float(points - mean) for name, points in found.items()}


def choix_of(names: Any, W: Array) -> dict[str, float]:
    """Return the maximum of the likelihood by choix, of a table of wins."""
    import choix

    points = choix.ilsr_pairwise_dense(W, tol=1e-12, max_iter=10_000) * POINTS
    return dict(zip(map(str, names), (points - points.mean()).tolist(), strict=True))


def online_loss(name: str, frame: Any) -> float:
    """Return the mean loss of a system of riix with its own settings, game by game."""
    from importlib import import_module

    names = sorted(set(frame["model_a"]) | set(frame["model_b"]))
    place = {name: k for k, name in enumerate(names)}
    pairs = np.stack([frame[side].replace_strict(place).to_numpy() for side in ("model_a", "model_b")], axis=1)
    won = frame["winner"].replace_strict({"model_a": 1.0, "model_b": 0.0, "tie": 0.5}, return_dtype=pl.Float64)
    outcomes = won.to_numpy()
    module, system = {"Elo": ("elo", "Elo"), "Glicko": ("glicko", "Glicko")}[name]
    model = getattr(import_module(f"riix.models.{module}"), system)(names)
    p = np.empty(len(pairs))
    for k in range(len(pairs)):
        p[k] = model.predict(pairs[k : k + 1])[0]
        model.update(pairs[k : k + 1], outcomes[k : k + 1], time_step=0)
    return float(-(outcomes * np.log(p) + (1 - outcomes) * np.log(1 - p)).mean())


# --- comparisons ---


def within(most: float) -> Any:
    """Return who says how far named numbers are from ours, and whether that is near enough."""

    def said(answer: dict[str, float], ours: dict[str, float]) -> tuple[str, bool]:
        gap = max(abs(answer[name] - ours[name]) for name in ours)
        return ("" if answer is ours else f"{gap:.0e} points from ours", gap <= most)

    return said


def maximum(rows: int) -> Comparison:
    """Return ``prior=0`` beside the peers' maxima."""
    data = f"frame = ratings.battles({rows}, agents=20)\n"
    ours = Side(
        name="nashboard",
        setup=BEGIN + data + "nb.elo(nb.read_matches(frame.head(1000)))",
        code="found = nb.elo(nb.read_matches(frame), prior=0)",
        after="answer = dict(zip(found.agents, found.ratings.tolist()))",
    )
    theirs = [
        Side(
            name=name,
            setup=f"import ratings\n{data}frame = frame.to_pandas()\nratings.exactly({name!r}, frame.head(2000))",
            code=f"answer = ratings.exactly({name!r}, frame)",
            package=name,
        )
        for name in ("evalica", "arena-rank", "choix")
    ]
    return Comparison(what=f"maximum likelihood, {rows:,} games", sides=[ours, *theirs], quality=within(1e-6))


def counted(rows: int, agents: int) -> Comparison:
    """Return the fit alone, of counts that are there: ours with standard errors, beside choix without."""
    data = f"frame = ratings.battles({rows}, agents={agents})\n"
    ours = Side(
        name="nashboard",
        setup=BEGIN + data + "matches = nb.read_matches(frame)\nnb.elo(matches, prior=0)",
        code="found = nb.elo(matches, prior=0)",
        after="answer = dict(zip(found.agents, found.ratings.tolist()))",
    )
    choix = Side(
        name="choix",
        setup=f"import ratings, peers\n{data}names, W = peers.halves(frame.to_pandas())\nratings.choix_of(names, W)",
        code="answer = ratings.choix_of(names, W)",
        package="choix",
    )
    what = f"maximum likelihood of counts, {rows:,} games, {agents} agents"
    return Comparison(what=what, sides=[ours, choix], quality=within(1e-6), again=True)


def covariates(rows: int) -> Comparison:
    """Return two covariates beside arena-rank's."""
    data = f"frame = ratings.battles({rows})\n"
    fit = f"found = nb.elo(frame, prior=0, covariates={COVARIATES!r})"
    after = "answer = dict(zip(found.agents, found.ratings.tolist())) | {c.name: c.value for c in found.coefficients}"
    ours = Side(name="nashboard", setup=BEGIN + data + fit.replace("frame", "frame.head(3000)"), code=fit, after=after)
    pandas = "frame = frame.to_pandas()\n"
    theirs = Side(
        name="arena-rank, reg=0",
        setup=f"import ratings\n{data}{pandas}ratings.by_arena_rank(frame.head(3000))",
        code="answer = ratings.by_arena_rank(frame)",
        package="arena-rank",
    )
    return Comparison(what=f"two covariates, {rows:,} games", sides=[ours, theirs], quality=within(0.1), limit=200.0)


def sides_and_draws(games: int, model: str) -> Comparison:
    """Return white's advantage and draws, simulated by one model, beside BayesElo's fit."""
    data = f"logs = [ratings.chess_log({games}, {model!r}, seed) for seed in range({LEAGUES})]\n"
    fit = "[nb.elo(nb.read_matches(log), {}first_advantage=True, draws='davidson') for log in logs]"
    means = "answer = (sum({}) / len(found)).tolist()"
    each = f"ratings.by_nashboard(one, {games}, {model!r}, seed) for seed, one in enumerate(found)"
    sides = [
        Side(
            name=name,
            setup=f"{BEGIN}{data}{fit.format('')[: -len('logs]')]}logs[:1]]",
            code=f"found = {fit.format(option)}",
            after=means.format(each),
        )
        for name, option in (("nashboard", ""), ("nashboard, prior=0", "prior=0, "))
    ]
    theirs = Side(
        name="BayesElo's model, maximum likelihood",
        setup="import ratings",
        code=f"found = [ratings.by_bayes_elo({games}, {model!r}, seed) for seed in range({LEAGUES})]",
        after=means.format("found"),
    )

    def said(answer: list[float], _: object) -> tuple[str, bool]:
        return f"{answer[0]:.1%} of pairs in the right order, expected loss {answer[1]:.4f}", True

    what = f"white and draws by {model}, {games:,} games"
    return Comparison(what=what, sides=[*sides, theirs], quality=said)


def online(games: int) -> Comparison:
    """Return the loss before each game, beside riix with its own settings."""
    data = f"import logs, polars as pl\nframe = logs.frame({games}, seed=3)\n"
    ours = Side(
        name="nashboard, OnlineElo()",
        setup=BEGIN + data + "nb.OnlineElo().update_many(frame.head(100))",
        code="model = nb.OnlineElo()\nmodel.update_many(frame)",
        after="answer = model.ratings().log_loss",
    )
    theirs = [
        Side(
            name=f"riix, {name}",
            setup=f"import ratings\n{data}ratings.online_loss({name!r}, frame.head(100))",
            code=f"answer = ratings.online_loss({name!r}, frame)",
            package="riix",
        )
        for name in ("Elo", "Glicko")
    ]

    def describe(answer: float, _: object) -> tuple[str, bool]:
        return f"log-loss {answer:.4f}", True

    return Comparison(what=f"online, {games:,} games", sides=[ours, *theirs], quality=describe)


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield every comparison."""
    few, many = {"tiny": (2_000, 2_000), "small": (20_000, 50_000), "full": (20_000, 200_000)}[size]
    yield maximum(few)
    for agents in (20, 100):
        yield counted(few, agents)
    yield covariates(many)
    for model in ("BayesElo", "Davidson"):
        for games in (600, 2_000, few):
            yield sides_and_draws(games, model)
    yield online(few)


SECTION = Section(
    name="ratings",
    title="Ratings: agreement, covariates, sides and draws, online",
    about="Maximum likelihood: ratings of 20 agents, each peer at its smallest tolerance; further than 1e-6 points "
    "from ours counts as wrong; of counts: the fit alone, ours with standard errors (CPU time over choix's, as the "
    'machine was busy, medians of 120 fits in turn: 0.86 with 20 agents, 1.07 with 100; with `errors="hessian"` 0.75 '
    "and 0.97). "
    "Covariates: 40 agents, one covariate that is unique to each game and one with three values, arena-rank's "
    "contextual model with `reg=0` and covariates as they are; further than 0.1 points counts as wrong. White "
    "and draws: ten leagues of 30 players; games are simulated by the model that BayesElo publishes and by "
    "Davidson's, and the expected loss is that of win, draw and loss in a next game of any two players, given "
    "the truth: with 2,000 games or more each side is better on games of its own model of draws, and the "
    "difference is that of the two models, not of a prior (30 leagues of 2,000 games, seeds 100 to 129: ours "
    "minus BayesElo's 0.0015 +- 0.0002 on its games, -0.0014 +- 0.0002 on Davidson's; of 600 games -0.0050 +- "
    "0.0008 and -0.0085 +- 0.0007; of 20,000 0.0019 and -0.0010, both +- 0.0001). BayesElo itself is no "
    "Python package: its model is fitted by maximum likelihood here, and its time says nothing. Online: the "
    "loss before each game, all systems with their own settings.",
    comparisons=comparisons,
)
