"""A stand-in for your own log: battles of an arena, one row each, written to a csv file.

Ten models with strengths in Elo points. Three of them also beat each other in a circle, as style, facts and code can
do; `late` joins in the second week, and so do, if asked for, copies of a model under new names.
"""

from pathlib import Path

import numpy as np
import polars as pl

STRENGTH = {
    "aurora": 130, "basalt": 120, "cedar": 110, "delta": 60, "ember": 30, "fjord": 0, "gale": -30, "haze": -80,
    "iris": -140, "late": 90,
}  # fmt: skip
CIRCLE = ("aurora", "basalt", "cedar")
EDGE = 150  # points by which each of the circle is ahead of the next
TIES = 0.1


def lead(a: str, b: str) -> float:
    """Return by how many points one model is ahead of another."""
    points = float(STRENGTH[a] - STRENGTH[b])
    if a in CIRCLE and b in CIRCLE and a != b:
        points += EDGE if (CIRCLE.index(b) - CIRCLE.index(a)) % 3 == 1 else -EDGE
    return points


def write_log(path: Path, *, battles: int, seed: int, week: int, copies: dict[str, int] | None = None) -> None:
    """Write battles between random models; a copy plays exactly as its original does."""
    plays_as = {name: name for name in STRENGTH if week > 1 or name != "late"}
    for name, count in (copies or {}).items():
        plays_as |= {f"{name}-v{k + 2}": name for k in range(count)}
    rng = np.random.default_rng(seed)
    names = list(plays_as)
    first = rng.integers(len(names), size=battles)
    second = (first + rng.integers(1, len(names), size=battles)) % len(names)  # anybody but the first
    leads = np.array([[lead(plays_as[a], plays_as[b]) for b in names] for a in names])[first, second]
    won = rng.random(battles) < 1 / (1 + 10 ** (-leads / 400))
    winner = np.where(rng.random(battles) < TIES, "tie", np.where(won, "model_a", "model_b"))
    pl.DataFrame(
        {
            "model_a": [names[k] for k in first],
            "model_b": [names[k] for k in second],
            "winner": winner.tolist(),
            "user": rng.integers(battles // 10, size=battles),
            "week": [week] * battles,
        }
    ).write_csv(path)
