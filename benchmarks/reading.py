"""Counting the matches of a file, beside Polars' bare scan and group-by of the same columns: the physical floor."""

from collections.abc import Iterator
from pathlib import Path

import logs
import polars as pl
from harness import Comparison, Section, Side, Size

SCANS = {
    "parquet": "pl.scan_parquet({path!r})",
    "csv": "pl.scan_csv({path!r}, infer_schema=False)",
    "jsonl": 'pl.scan_ndjson({path!r}, schema=dict.fromkeys(("model_a", "model_b", "winner"), pl.String))',
}
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
        "tiny": [("parquet", 3000, 20), ("csv", 3000, 20), ("json lines", 3000, 20)],
        "small": [("parquet", 1_000_000, 100), ("csv", 1_000_000, 100), ("json lines", 1_000_000, 100)],
        "full": [
            ("parquet", 100_000, 100),
            ("parquet", 1_000_000, 100),
            ("csv", 1_000_000, 100),
            ("json lines", 1_000_000, 100),
            ("parquet", 10_000_000, 100),
            ("csv", 10_000_000, 100),
            ("parquet", 100_000_000, 1000),
        ],
    }[size]
    for kind, matches, agents in logged:
        path = logs.write(folder, matches, agents)
        made = pl.scan_parquet(path)
        if kind == "csv":
            path = path.with_suffix(".csv")
            made.sink_csv(path)
        elif kind == "json lines":
            path = path.with_suffix(".jsonl")
            made.sink_ndjson(path)
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
        if kind != "parquet":
            path.unlink()


SECTION = Section(
    name="counting",
    title="Counting matches",
    about="A file counted by `read_matches`, beside Polars' bare scan and group-by of the same three columns; the "
    "files have ids and times as well. Imports are not timed.",
    comparisons=comparisons,
    unit="the floor",
)
