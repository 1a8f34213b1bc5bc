"""Elo and mElo online, game after game, against riix: games per second."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import Comparison, Section, Side, Size

# Ours starts from names; riix from numbers, which are made beforehand.
DATA = """
import numpy as np, polars as pl, logs
frame = logs.frame({games}, seed=1)
outcome = frame["winner"].replace_strict({{"model_a": 1.0, "model_b": 0.0, "tie": 0.5}}, return_dtype=pl.Float64)
frame = frame.select("model_a", "model_b", outcome=outcome)
"""
NUMBERS = """
import peers
names = list(dict.fromkeys(name for row in frame.select("model_a", "model_b").rows() for name in row))
place = {name: k for k, name in enumerate(names)}
pairs = np.stack([frame[side].replace_strict(place).to_numpy() for side in ("model_a", "model_b")], axis=1)
results = frame["outcome"].to_numpy()
peers.riix_elo(names, pairs[:10], results[:10]), peers.riix_melo(names, pairs[:10], results[:10])
"""
WARM = "import nashboard as nb\nmodel = {model}\nmodel.update_many(frame.head(1000))\n"
LEARN = "model = {model}\nmodel.update_many(frame)"
MODELS = {
    "Elo": ("nb.OnlineElo(rate=16)", "model.league.ratings", "peers.riix_elo(names, pairs, results)"),
    "mElo, one plane": (
        "nb.OnlineMelo(1, rate=16, cyclic_rate=0.125, rng=0)",
        "model.ratings().leads()",
        "peers.riix_melo(names, pairs, results)",
    ),
}


def apart(answer: Any, ours: Any) -> tuple[str, bool]:
    """Say how far online ratings are apart."""
    gap = max(abs(x - y) for x, y in zip(answer, ours, strict=True))
    return f"{gap:.0e} points from ours" if answer is not ours else "", gap < 1


def comparison(what: str, games: int) -> Comparison:
    """Return one model on one log, beside riix."""
    model, learnt, theirs = MODELS[what]
    data, answer = DATA.format(games=games), "answer = np.ravel({}).tolist()"
    ours = Side(
        name="nashboard",
        setup=data + WARM.format(model=model),
        code=LEARN.format(model=model),
        after=answer.format(learnt),
    )
    riix = Side(
        name="riix",
        setup=data + NUMBERS,
        code=f"found = {theirs}",
        after=answer.format("found"),
        package="riix",
    )
    return Comparison(
        what=f"{what}, {games:,} games", sides=[ours, riix], quality=apart, series=what, size=games, pace="games"
    )


def adaptive(games: int) -> Comparison:
    """Return the filters that adapt to each agent beside constant steps: what they predict, and how fast."""
    sides = []
    for name, model in (("nashboard, adaptive", "nb.OnlineElo()"), ("nashboard, rate 16", "nb.OnlineElo(rate=16)")):
        sides.append(
            Side(
                name=name,
                setup=DATA.format(games=games) + WARM.format(model=model),
                code=LEARN.format(model=model),
                after="answer = model.ratings().log_loss",
            )
        )
    return Comparison(
        what=f"Elo, adaptive, {games:,} games",
        sides=sides,
        quality=lambda found, _: (f"log-loss {found:.4f}", True),
        series="Elo, adaptive",
        size=games,
        pace="games",
    )


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield Elo and mElo, and the adaptive filters."""
    yield adaptive({"tiny": 2000, "small": 50_000, "full": 200_000}[size])
    for what in MODELS:
        yield comparison(what, {"tiny": 2000, "small": 50_000, "full": 200_000}[size])
        if size == "full":
            yield comparison(what, 2_000_000)


SECTION = Section(
    name="online",
    title="Online ratings",
    about="Elo and mElo online, game after game, 100 agents: ours starts from names, riix from numbers made "
    "beforehand. Games per second are those of the median time.",
    comparisons=comparisons,
)
