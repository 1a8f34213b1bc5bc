"""The maximum-entropy equilibrium of agents against agents and agents against tasks, beside the peers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import games
import numpy as np
from harness import Comparison, Section, Side, Size

WRITTEN = 2000  # agents up to which a game is kept in a file
PART = 20  # cvxpy in a loop solves one game in so many
BEGIN = "import functools, numpy as np, games, peers\n"
CVXPY, SIDES = "cvxpy (OpenSpiel's program)", "cvxpy, a constraint per player"
# who: package, environment, call. The tiny game before is not timed: it loads the libraries.
OF_AGENTS = {
    CVXPY: ("cvxpy", "", "peers.convex_program({game})"),
    "HiGHS simplex": ("scipy", "", "peers.highs({game}, 'highs-ds')"),
    "HiGHS interior point": ("scipy", "", "peers.highs({game}, 'highs-ipm')"),
    "nashpy": ("nashpy", "", "peers.nashpy_program({game})[0]"),
}
MAXENT = ("polarix", "polarix", "peers.polarix_solver({game}, 'ce_maxent')")
LOGIT = ("polarix", "polarix", "peers.polarix_solver({game}, 'lle')")
OF_TASKS = {
    CVXPY: ("cvxpy", "", "peers.convex_program_of_pairs({game})"),
    SIDES: ("cvxpy", "", "peers.convex_program_of_sides({game})"),
    "HiGHS simplex": ("scipy", "", "peers.highs_of_scores({game}, 'highs-ds')"),
    "HiGHS interior point": ("scipy", "", "peers.highs_of_scores({game}, 'highs-ipm')"),
    "nashpy": ("nashpy", "", "peers.nashpy_program({game})"),
}
POLARIX, LLE = "polarix ce_maxent", "polarix lle"
MAXIMAL = (CVXPY, SIDES, POLARIX)  # they claim the equilibrium of maximum entropy; the others return any


def peer(name: str, called: tuple[str, str, str], game: str, after: str) -> Side:
    """Return a peer that solves a game. polarix compiles each game anew: a tiny one before would not help."""
    package, environment, call = called
    tiny = "" if environment else call.format(game="games.CIRCLE") + "\n"
    setup = f"{BEGIN}{tiny}game = {game}"
    code = "found = " + call.format(game="game")
    return Side(
        name=name,
        setup=setup,
        code=code,
        after=after,
        package=package,
        environment=environment,
        quality=games.maximal if name in MAXIMAL else None,
    )


def ours(call: str, tiny: str, game: str, after: str) -> Side:
    """Return nashboard's side."""
    setup = f"import numpy as np, nashboard as nb, games\n{call.format(game=tiny)}\ngame = {game}"
    return Side(name="nashboard", setup=setup, code="found = " + call.format(game="game"), after=after)


AVA, AVT = "nb.nash_average({game})", "nb.nash_average_scores({game})"
AFTER_AVA = "answer = games.of_weights(game, found{})"
AFTER_AVT = "answer = games.of_scores(game, {})"
BOTH = "(found.agent_weights, found.task_weights)"


def of_agents(kind: str, n: int, folder: Path, who: dict[str, tuple[str, str, str]], limit: float) -> Comparison:
    """Return agents against agents; a large game is made where it is solved, and not written down."""
    path = folder / f"{kind}-{n}.npy"
    game = f"games.{kind}({n})"
    if n <= WRITTEN:
        np.save(path, getattr(games, kind)(n))
        game = f"np.load({str(path)!r})"
    sides = [ours(AVA, "games.CIRCLE", game, AFTER_AVA.format(".weights"))]
    for name, called in who.items():
        sides.append(peer(name, called, game, AFTER_AVA.format("[0]" if called[1] else "")))
    return Comparison(
        what=f"{kind} {n:,}",
        sides=sides,
        quality=games.quality,
        again=True,
        series=kind,
        size=n,
        limit=limit,
        linear=True,
    )


def of_tasks(m: int, n: int, folder: Path, who: dict[str, tuple[str, str, str]], limit: float) -> Comparison:
    """Return agents against tasks."""
    path = folder / f"table-{m}-{n}.npy"
    np.save(path, games.table(m, n))
    game = f"np.load({str(path)!r})"
    sides = [ours(AVT, "games.CIRCLE + 1", game, AFTER_AVT.format(BOTH))]
    sides += [peer(name, called, game, AFTER_AVT.format("found")) for name, called in who.items()]
    return Comparison(
        what=f"table {m:,} x {n:,}",
        sides=sides,
        quality=games.quality,
        again=True,
        series="table",
        size=m * n,
        limit=limit,
        linear=True,
    )


def stack(count: int, folder: Path, limit: float) -> Comparison:
    """Return a game of 50 agents resampled again and again, for uncertainty."""
    path = folder / f"stack-{count}.npy"
    np.save(path, games.resampled(count))
    part = max(1, count // PART)
    game = f"np.load({str(path)!r})"
    own = (
        f"import numpy as np, games\nfrom nashboard.equilibrium.batch import nash_averages\n"
        f"game = {game}\nnash_averages(game[:2])"
    )
    loop = peer(CVXPY, ("cvxpy", "", "[peers.convex_program(A) for A in [{game}]]"), game, "")
    loop = replace(
        loop,
        name=f"cvxpy in a loop, {part:,} of them",
        code=f"found = [peers.convex_program(A) for A in game[:{part}]]",
        after=f"answer = games.of_stack(game[:{part}], found, {part})",
        times=count / part,
    )
    sides = [
        Side(
            name="nashboard",
            setup=own,
            code="found = nash_averages(game)",
            after=f"answer = games.of_stack(game, found.weights, {part})",
        ),
        loop,
    ]
    what = f"{count:,} resampled games of 50"
    return Comparison(what=what, sides=sides, quality=games.quality, again=True, limit=limit)


def model(n: int) -> Comparison:
    """Return payoffs given as a model, which are never written down."""
    setup = (
        "import nashboard as nb, games\nfrom nashboard.equilibrium.models import RatingsModel\n"
        f"nb.nash_average(RatingsModel.from_arrays(*games.population(100)))\n"
        f"game = RatingsModel.from_arrays(*games.population({n}))"
    )
    side = Side(
        name="nashboard", setup=setup, code="found = nb.nash_average(game)", after="answer = games.of_model(found)"
    )
    return Comparison(what=f"model of {n:,}", sides=[side], quality=games.quality, series="model", size=n)


def growing(kind: str, n: int, part: int) -> Comparison:
    """Return a population that grows agent by agent, its equilibrium asked for each time."""
    setup = f"import numpy as np, nashboard as nb, games\ngame = games.{kind}({n})\nnb.nash_average(games.CIRCLE)"
    grow = "meta = nb.MetaGame()\nfor k in range(len(game)):\n    meta.append(game[k, :k])\n    found = meta.weights"
    again = f"for k in range({part}, len(game) + 1, {part}):\n    found = nb.nash_average(game[:k, :k]).weights"
    sides = [
        Side(name="nashboard", setup=setup, code=grow, after=AFTER_AVA.format("")),
        Side(
            name=f"a new solve, one in {part}",
            setup=setup,
            code=again,
            after="answer = games.of_weights(game[:len(found), :len(found)], found)",
            times=part,
        ),
    ]
    return Comparison(what=f"{kind}, grown to {n:,}", sides=sides, quality=games.quality, limit=120.0)


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield the games, those that no peer finishes last."""
    limit = {"tiny": 10.0, "small": 20.0, "full": 40.0}[size]
    everybody = OF_AGENTS | ({POLARIX: MAXENT} if size == "full" else {})
    dense = {"tiny": (20,), "small": (20, 200), "full": (20, 100, 200, 500)}[size]
    for n in dense:
        some = {POLARIX: MAXENT} if n <= 20 else {}
        some |= {LLE: LOGIT} if n <= 20 and size != "small" else {}
        yield of_agents("dense", n, folder, everybody | some, 40.0 if size == "small" else limit)
    for n in {"tiny": (30,), "small": (2000,), "full": (500, 1000, 2000)}[size]:
        who = {CVXPY: OF_AGENTS[CVXPY]} if size == "small" else everybody
        yield of_agents("realistic", n, folder, who, 70.0 if n == 1000 else limit)
    tables = {"tiny": ((5, 6),), "small": ((20, 54),), "full": ((20, 54), (100, 100), (1000, 1000))}
    for m, n in tables[size]:
        yield of_tasks(m, n, folder, OF_TASKS | ({} if size == "small" else {POLARIX: MAXENT}), limit)
    yield stack({"tiny": 20, "small": 1000, "full": 1000}[size], folder, limit)
    for kind in ("disc", "realistic"):
        yield growing(kind, {"tiny": 20, "small": 200, "full": 500}[size], {"tiny": 10, "small": 50, "full": 50}[size])
    yield model({"tiny": 1000, "small": 100_000, "full": 1_000_000}[size])
    if size != "full":
        return
    yield model(100_000)
    yield model(10_000)
    yield of_tasks(300, 100_000, folder, OF_TASKS | {POLARIX: MAXENT}, limit)
    for n in (5000, 20_000):
        yield of_agents("realistic", n, folder, everybody, limit)
    yield of_agents("dense", 1000, folder, everybody, 70.0)
    for n in (2000, 5000):
        yield of_agents("dense", n, folder, everybody, limit)


SECTION = Section(
    name="equilibrium",
    title="Maximum-entropy equilibria",
    about="*dense*: payoffs of pure noise, the worst case; *realistic*: ratings, five cyclic planes and five per cent "
    "of noise; *table*: agents against tasks; *model*: ratings and five planes that are never written down as a "
    "matrix; *disc*: a degenerate game of rank two; *grown*: agents are appended one by one, and the equilibrium is "
    "asked for after each, beside a new solve each time. nashboard's times include checking the input, the "
    "maximum-entropy choice and the certificates. HiGHS "
    "(through scipy) and nashpy return any equilibrium. OpenSpiel's programs were written again from their mathematics "
    "and include the time in which cvxpy compiles them, as each of its calls does; for tables that is one constraint "
    "per pair of an agent and a task. polarix runs with its own settings; in a zero-sum game the marginals of its "
    "correlated equilibrium of maximum entropy (`ce_maxent`) are the maximum-entropy equilibrium, and `lle` follows "
    "logit equilibria to a Nash equilibrium. *gain*: what the best deviation gains, relative to the largest "
    "payoff. A program that claims maximum entropy is wrong if its entropy differs from ours by more than "
    f"{games.OFF}. The loop over cvxpy solves one game in {PART} and its time is multiplied; the entropy is the mean "
    "of these games.",
    comparisons=comparisons,
)
