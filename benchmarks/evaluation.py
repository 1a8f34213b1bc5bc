"""A full board with 200 resamples from a log of 300 agents: the time, and the share of each stage."""

from collections.abc import Iterator
from pathlib import Path

import logs
from harness import Comparison, Section, Side, Size

NAMED = {
    "matches_roll": "identical agents",
    "matches_board": "point estimates (Nash, Elo)",
    "matches_again": "resampling",
    "uncertainty": "intervals and groups",
    "assembled": "verdict",
}
SETUP = """
import time
import nashboard as nb
from nashboard.evaluation import evaluate as stages
spent = {{}}
def timed(name, work):
    def run(*given, **options):
        began = time.perf_counter()
        try:
            return work(*given, **options)
        finally:
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - began
    return run
for attribute, name in {named!r}.items():
    setattr(stages, attribute, timed(name, getattr(stages, attribute)))
stages.evaluate(nb.Matches.from_counts([[0, 3, 1], [2, 0, 5], [4, 1, 0]]), n_resamples=2)
spent.clear()
"""
CODE = """
data = timed("reading", nb.read_matches)({path!r})
result = stages.evaluate(data, n_resamples={resamples}, workers={workers})
text = timed("json", result.to_json)()
"""


def shares(spent: dict[str, float], _: dict[str, float]) -> tuple[str, bool]:
    """Say which stage takes how much of the time."""
    total = sum(spent.values())
    return ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in spent.items()), True


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield one log, with one worker and with all cores."""
    matches, agents, resamples = {
        "tiny": (3000, 10, 4),
        "small": (200_000, 100, 50),
        "full": (2_000_000, 300, 200),
    }[size]
    path = logs.write(folder, matches, agents)
    sides = [
        Side(
            name=name,
            setup=SETUP.format(named=NAMED),
            code=CODE.format(path=str(path), resamples=resamples, workers=workers).strip(),
            after="answer = spent",
        )
        for name, workers in (("all cores", None), ("one worker", 1))
    ]
    yield Comparison(
        what=f"{matches:,} matches, {agents:,} agents, {resamples:,} resamples",
        sides=sides,
        quality=shares,
        limit=300.0,
    )


SECTION = Section(
    name="evaluation",
    title="A full board",
    about="From a parquet file to everything that `evaluate` finds, as json: ours alone. The shares are of the time "
    "that its stages take.",
    comparisons=comparisons,
    unit="the first",
)
