"""Counting the matches of a file, beside Polars' bare scan and group-by of the same columns: the physical floor."""

from collections.abc import Iterator
from pathlib import Path

import logs
import polars as pl
from harness import Comparison, Section, Side, Size

SCANS = {"parquet": "pl.scan_parquet({path!r})", "csv": "pl.scan_csv({path!r}, infer_schema=False)"}
BARE = 'found = {scan}.group_by("model_a", "model_b", "winner").agg(pl.len()).collect(engine="streaming")'
OURS = "import nashboard as nb, nashboard.data.read\n"


def floor(path: Path) -> Side:
    """Return the least that any program has to do."""
    code = BARE.format(scan=SCANS[path.suffix[1:]].format(path=str(path)))
    after = 'answer = float(found["len"].sum())'
    return Side(name="bare scan and group-by", setup="import polars as pl", code=code, after=after, package="polars")


def counting(path: Path, name: str = "nashboard") -> Side:
    """Return our counting of the same; where it is one stage of several, its name says which."""
    code = f"matches = nb.read_matches({str(path)!r})"
    return Side(name=name, setup=OURS, code=code, after="answer = matches.n_games")


def counted(games: float, floor: float) -> tuple[str, bool]:
    """Say how many games were counted, and whether they are as many as the bare query's."""
    return f"{games:,.0f} games", games == floor


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield files of more and more matches."""
    logged = {
        "tiny": [("parquet", 3000, 20), ("csv", 3000, 20)],
        "small": [("parquet", 1_000_000, 100), ("csv", 1_000_000, 100)],
        "full": [
            ("parquet", 100_000, 100),
            ("parquet", 1_000_000, 100),
            ("csv", 1_000_000, 100),
            ("parquet", 10_000_000, 100),
            ("csv", 10_000_000, 100),
            ("parquet", 100_000_000, 1000),
        ],
    }[size]
    for kind, matches, agents in logged:
        path = logs.write(folder, matches, agents)
        if kind == "csv":
            pl.scan_parquet(path).sink_csv(path.with_suffix(".csv"))
            path = path.with_suffix(".csv")
        yield Comparison(
            what=f"{matches:,} matches of {agents:,} agents, {kind}",
            sides=[floor(path), counting(path)],
            quality=counted,
            repeats=5 if matches <= 1_000_000 else 3,
            limit=300.0,
            series=kind,
            size=matches,
            pace="matches",
        )
        if kind == "csv":
            path.unlink()


SECTION = Section(
    name="counting",
    title="Counting matches",
    about="A file counted by `read_matches`, beside Polars' bare scan and group-by of the same three columns; the "
    "files have ids and times as well. Imports are not timed.",
    comparisons=comparisons,
    unit="the floor",
)
