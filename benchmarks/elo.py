"""Elo and Bradley-Terry by maximum likelihood: from columns in memory, from parquet, and a hundred times resampled."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import logs
import polars as pl
from harness import Comparison, Section, Side, Size

ROUNDS = 100
# package: the function of peers.py that fits, and the one that resamples
PEERS = {
    "evalica": ("by_evalica", "rounds_of_evalica"),
    "arena-rank": ("by_arena_rank", "rounds_of_arena_rank"),
    "choix": ("by_choix", "rounds_of_choix"),
    "scikit-learn": ("by_fastchat", "rounds_of_fastchat"),
}
NAMES = {"scikit-learn": "scikit-learn as FastChat", "choix": "choix, counted by pandas"}
COLUMNAR = "from columns"
COLUMNS = ["model_a", "model_b", "winner"]
# Small data before, which are not timed, load libraries and compile.
OURS = "import nashboard as nb, polars as pl, logs\nsmall = nb.read_matches(logs.frame(3000))\n"
OURS += 'nb.elo(small, prior=0), nb.elo(small, prior=0, errors="bootstrap", n_resamples=2)\n'
THEIRS = "import numpy as np, pandas as pd, logs, peers\npeers.{fit}(logs.frame(3000).to_pandas())\n"
FIT = "found = nb.elo(nb.read_matches({source}), prior=0)"
FITTED = "answer = dict(zip(found.agents, found.ratings.tolist(), strict=True))"
AGAIN = 'found = nb.elo(nb.read_matches({source}), prior=0, errors="bootstrap", n_resamples={rounds})'
DRAWN = "answer = float(found.stderr.mean())"
MELO = """
import numpy as np, nashboard as nb
rng = np.random.default_rng(1)
r, C = rng.normal(0, 1, {agents}), rng.normal(0, 1, ({agents}, 4))
i, j = np.triu_indices({agents}, 1)
chosen = np.sort(rng.choice(i.size, {pairs}, replace=False))
i, j = i[chosen], j[chosen]
x = r[i] - r[j] + (C[i, 0::2] * C[j, 1::2] - C[i, 1::2] * C[j, 0::2]).sum(axis=1)
wins = rng.binomial(10, 1 / (1 + np.exp(-x))).astype(float)
names = tuple(f"agent {{k}}" for k in range({agents}))
matches = nb.Matches(agents=names, pairs=np.stack([i, j], axis=1), wins=wins, draws=0 * wins, losses=10 - wins)
"""


def near(counted: pl.DataFrame) -> Callable[[Any, Any], tuple[str, bool]]:
    """Return who says how far ratings are from ours, and their log-loss; a point is the least that anybody shows."""

    def said(answer: dict[str, float], ours: dict[str, float]) -> tuple[str, bool]:
        mean, own = (sum(found.values()) / len(found) for found in (answer, ours))
        gap = max(abs(answer[name] - mean - ours[name] + own) for name in ours)
        loss, best = (logs.log_loss(counted, found) for found in (answer, ours))
        off = f"{gap:.0e} points from ours, " if answer is not ours else ""
        return f"{off}log-loss {loss:.9f} ({loss - best:+.0e})" if off else f"log-loss {loss:.9f}", gap < 1

    return said


def spread(found: float, ours: float) -> tuple[str, bool]:
    """Say the spread that resampling finds; ways to resample differ by some per cent."""
    return f"a rating varies by {found:.2f} points", abs(found / ours - 1) < 0.2


def sides_of(path: Path, start: str, resampled: bool) -> list[Side]:
    """Return us and the peers on one log: fitted once or resampled, from columns made before or from the file."""
    frame = f"source = pl.read_parquet({str(path)!r}, columns={COLUMNS!r})\n"
    pandas = f"source = pd.read_parquet({str(path)!r}, columns={COLUMNS!r})\n"
    made, read, source = (pandas, "", "source") if start == COLUMNAR else ("", pandas, repr(str(path)))
    code, after = (AGAIN, DRAWN) if resampled else (FIT, FITTED)
    code = code.format(source=source, rounds=ROUNDS).strip()
    sides = [Side(name="nashboard", setup=OURS + (frame if made else ""), code=code, after=after)]
    for package, (fit, rounds) in PEERS.items():
        code = f"answer = peers.{rounds}(source, {ROUNDS})" if resampled else f"found = peers.{fit}(source)"
        after = "" if resampled else "answer = {name: float(points) for name, points in found.items()}"
        setup = THEIRS.format(fit=fit) + made
        sides.append(
            Side(name=NAMES.get(package, package), setup=setup, code=read + code, after=after, package=package)
        )
    return sides


def of_log(matches: int, folder: Path, limit: float) -> Iterator[Comparison]:
    """Yield the comparisons on one log."""
    path = logs.write(folder, matches)
    quality = near(logs.counts(path))
    for resampled, said in ((False, quality), (True, spread)):
        for start in (COLUMNAR, "from parquet"):
            series = f"{start}, {ROUNDS} rounds" if resampled else start
            yield Comparison(
                what=f"{matches:,} {series}",
                sides=sides_of(path, start, resampled),
                quality=said,
                limit=limit,
                series=series,
                size=matches,
                linear=True,
            )


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield logs of more and more matches, and mElo of many pairs."""
    limit = {"tiny": 20.0, "small": 15.0, "full": 40.0}[size]
    sizes = {"tiny": (3000,), "small": (100_000,), "full": tuple(10**k for k in (5, 6, 7, 8))}[size]
    agents, pairs = {"tiny": (20, 100), "small": (300, 10_000), "full": (1000, 100_000)}[size]
    for matches in sizes:
        yield from of_log(matches, folder, limit)
    melo = Side(
        name="nashboard",
        setup=MELO.format(agents=agents, pairs=pairs),
        code="found = nb.melo(matches, k=2)",
        after="answer = [found.spread, found.gradient_norm, len(found.ends)]",
    )
    yield Comparison(
        what=f"mElo, 2 planes, {agents:,} agents, {pairs:,} pairs",
        sides=[melo],
        quality=lambda found, _: (
            f"{found[2]} starts end {found[0]:.0e} nats per game apart, gradient {found[1]:.0e}",
            True,
        ),
        limit=300.0,
    )


SECTION = Section(
    name="elo",
    title="Elo and Bradley-Terry",
    about="Maximum likelihood of 100 agents without a prior. nashboard starts from a frame of names or from the file; "
    "each peer gets the columns as a pandas frame, made beforehand or read from the file. choix takes no names and no "
    "logs: pandas counts for it. FastChat's approach is pair counts by pandas and scikit-learn's logistic regression. "
    f"{ROUNDS} rounds: evalica draws matches again, the others pair counts, as FastChat does; nashboard "
    '(`errors="bootstrap"`, on both cores) gives every game a random weight, and starts each fit from the ratings of '
    "all games. The standard deviation of a rating, its mean over agents, shows that they do the same; counting a draw "
    "as half a win and half a loss that are drawn apart makes it larger.",
    comparisons=comparisons,
)
