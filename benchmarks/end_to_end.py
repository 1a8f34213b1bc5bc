"""From a parquet file to a board and its report, stage by stage, as multiples of the bare scan and group-by."""

from collections.abc import Iterator
from pathlib import Path

import logs
import numpy as np
from harness import Comparison, Section, Side, Size
from reading import counting, floor

import nashboard as nb

NASH = "import nashboard as nb, nashboard.data.read, nashboard.evaluation.evaluate, numpy as np\n"
# Stages after counting begin with what was counted before, so that the file is read once and not for each.
COUNTED = """
kept = np.load({path!r})
arrays = {{part: kept[part] for part in ("pairs", "wins", "draws", "losses")}}
matches = nb.Matches(agents=tuple(kept["agents"].tolist()), **arrays)
"""
WARM = "nb.evaluate(nb.Matches.from_counts([[0, 3, 1], [2, 0, 5], [4, 1, 0]]), n_resamples=2, rng=0)\n"
BOARD = "found = nb.evaluate(matches, n_resamples={resamples}, rng=0)"
PLACE = "import tempfile, pathlib\nplace = pathlib.Path(tempfile.mkdtemp(dir={folder!r}), 'board.html')\n"
COMMAND = (
    "answer = subprocess.run([sys.executable, '-m', 'nashboard', 'report', {path!r}, '-o', str(place), "
    "'--resamples', '{resamples}'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, "
    "stderr=subprocess.DEVNULL).returncode"
)


def stages(path: Path, kept: Path, resamples: int) -> list[Side]:
    """Return the way from the file to the written report: each stage alone, then all in one command."""
    begun = NASH + WARM + COUNTED.format(path=str(kept))
    place = PLACE.format(folder=str(path.parent))
    board = BOARD.format(resamples=resamples)
    size = "answer = f'{place.stat().st_size:,} bytes'"
    return [
        floor(path),
        counting(path, "counting"),
        Side(
            name="payoffs and equilibrium",
            setup=begun,
            code="found = nb.nash_average(matches)",
            after="k = len(found.support)\nanswer = f'{k:,} agent' + ('s have weight' if k != 1 else ' has weight')",
        ),
        Side(
            name="Elo",
            setup=begun,
            code="found = nb.elo(matches)",
            after="answer = f'gradient {found.gradient_norm:.0e}'",
        ),
        Side(
            name=f"board with {resamples} resamples",
            setup=begun,
            code=board,
            after="answer = f'{len(found.leaderboard().rows):,} lines'",
        ),
        Side(name="report of it", setup=f"{begun}{board}\n{place}", code="found.report(place)", after=size),
        Side(
            name=f"nashboard report, {resamples} resamples, a new process",
            setup=f"import subprocess, sys\n{place}",
            code=COMMAND.format(path=str(path), resamples=resamples),
            after=f"assert answer == 0, answer\n{size}",
        ),
    ]


def said(answer: float | str, _: float | str) -> tuple[str, bool]:
    return answer if isinstance(answer, str) else f"{answer:,.0f} games", True


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield logs of more and more matches."""
    logged = {
        "tiny": [(3000, 20, 5)],
        "small": [(1_000_000, 100, 50)],
        "full": [(1_000_000, 100, 200), (100_000_000, 1000, 20)],
    }[size]
    for matches, agents, resamples in logged:
        path, kept = logs.write(folder, matches, agents), folder / "counted.npz"
        found = nb.read_matches(path)
        parts = {part: getattr(found, part) for part in ("pairs", "wins", "draws", "losses")}
        np.savez(kept, agents=np.array(found.agents), **parts)
        yield Comparison(
            what=f"{matches:,} matches of {agents:,} agents",
            sides=stages(path, kept, resamples),
            quality=said,
            limit=300.0,
        )


SECTION = Section(
    name="end_to_end",
    title="Parquet to board and report, stage by stage",
    about="Each stage as a multiple of Polars' bare scan and group-by of the file, the physical floor of reading it; "
    "each starts where the one before it ends, without imports. The last is the whole way as a user takes it: the "
    "command in a new process, with imports, from the file to the written report.",
    comparisons=comparisons,
    unit="the floor",
)
