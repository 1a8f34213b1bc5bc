"""From a parquet file to a board, stage by stage, beside Polars' bare scan and group-by, which is the physical floor.

python benchmarks/end_to_end.py                         100,000 and 1,000,000 matches
python benchmarks/end_to_end.py --full                  also 10,000,000 and 100,000,000 matches of 1,000 agents
python benchmarks/end_to_end.py --matches 100000000 --agents 1000 --only counting
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from harness import Side, compared, save

PIECE = 5_000_000  # rows made at once
BARE = 'answer = float(pl.scan_parquet({path!r}).group_by("model_a", "model_b", "winner").agg(pl.len())'
BARE += '.collect(engine="streaming")["len"].sum())'
READ = "matches = nb.read_matches({path!r})\n"


def write_log(path: Path, matches: int, agents: int) -> None:
    """Write a log of agents with ratings, ids and times, piece by piece."""
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=agents)
    names = pl.Series([f"some-lab/model-{k:04d}" for k in range(agents)])
    labels = pl.Series(["model_a", "model_b", "tie", "tie (bothbad)"])
    parts = []
    for k, start in enumerate(range(0, matches, PIECE)):
        size = min(PIECE, matches - start)
        a = rng.integers(0, agents, size)
        b = (a + rng.integers(1, agents, size)) % agents
        won = rng.random(size) < 1 / (1 + np.exp(ratings[b] - ratings[a]))
        code = np.where(rng.random(size) < 0.2, rng.integers(2, 4, size), np.where(won, 0, 1))
        part = path.with_name(f"{path.stem}-{k}.parquet")
        pl.DataFrame(
            {
                "id": np.arange(start, start + size),
                "model_a": names.gather(a),
                "model_b": names.gather(b),
                "winner": labels.gather(code),
                "tstamp": 1.7e9 + np.arange(start, start + size),
            }
        ).write_parquet(part, row_group_size=1 << 20)
        parts.append(part)
    pl.scan_parquet(parts).sink_parquet(path, row_group_size=1 << 20)
    for part in parts:
        part.unlink()


def stages(path: Path) -> list[Side]:
    """Return the way from the file to the written board, each stage with all before it done but not timed."""
    nash = "import nashboard as nb, nashboard.data.read, nashboard.evaluation.evaluate\n"
    file = READ.format(path=str(path))
    board = "found = nb.evaluate(matches, n_resamples=20, rng=0)\n"
    write = "import tempfile, pathlib\nplace = pathlib.Path(tempfile.mkdtemp(), 'board.html')\n"
    return [
        Side(name="counting", setup=nash, code=file + "answer = matches.n_games"),
        Side(
            name="bare scan and group-by",
            setup="import polars as pl",
            code=BARE.format(path=str(path)),
            package="polars",
        ),
        Side(name="payoffs and equilibrium", setup=nash + file, code="answer = len(nb.nash_average(matches).support)"),
        Side(name="Elo", setup=nash + file, code="answer = len(nb.elo(matches).ratings)"),
        Side(name="board with 20 resamples", setup=nash + file, code=board + "answer = len(found.leaderboard().rows)"),
        Side(
            name="report of it",
            setup=nash + file + board + write,
            code="found.report(place); answer = place.stat().st_size",
        ),
    ]


def counted(games: float, ours: float) -> tuple[str, bool]:
    """Say how many games were counted, and whether they are as many as ours."""
    return f"{games:,.0f} games", games == ours


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--matches", type=int, action="append")
    parser.add_argument("--agents", type=int)
    parser.add_argument("--only", choices=["counting"])
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    sizes = given.matches or [100_000, 1_000_000] + [10_000_000, 100_000_000] * given.full
    counting, rows = [], []
    for matches in sizes:
        agents = given.agents or (1000 if matches >= 100_000_000 else 100)
        what = f"{matches:,} matches of {agents:,} agents"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "log.parquet")
            write_log(path, matches, agents)
            sides = stages(path)
            counting += compared(what, sides[:2], repeats=given.repeats, quality=counted)
            if given.only is None:
                rows += compared(what, [sides[0], *sides[2:]], repeats=given.repeats, limit=900)
    about = "Counting a parquet file by `read_matches`, beside Polars' bare scan and group-by of the same columns."
    save("counting", "Counting matches", about, counting)
    if rows:
        about = "Stages after counting, as multiples of the time of counting; each starts where the one before it ends."
        save("end_to_end", "Parquet to board and report, stage by stage", about, rows)


if __name__ == "__main__":
    main()
