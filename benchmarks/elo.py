"""Elo by maximum likelihood and online, against the peers of ``ratings.py``: from columns, from parquet, resampled.

python benchmarks/elo.py                 100,000 and 1,000,000 matches
python benchmarks/elo.py --full          also 10,000,000 and 100,000,000 (the peers as far as they go)
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from harness import Side, compared, save

import ratings

PEERS = {"evalica": "by_evalica", "arena-rank": "by_arena_rank", "scikit-learn": "by_fastchat"}
ROUNDS = 100
OURS = "import nashboard as nb, polars as pl, ratings\nratings.ours(ratings.league(1000))\n"
THEIRS = "import pandas as pd, ratings\nratings.{peer}(ratings.league(10_000).to_pandas())\n"
# Ours draws the counts of each pair again, as FastChat does; evalica has no counts, so the rows are drawn.
RESAMPLED = """
import numpy as np
from nashboard.evaluation.matches_again import replayed
from nashboard.ratings.selection import with_counts
matches = nb.read_matches({source})
rng = np.random.default_rng(0)
drawn = [nb.elo(with_counts(matches, replayed(matches, rng)), prior=0).ratings for _ in range({rounds})]
answer = float(np.std(drawn, axis=0).mean())
"""
RESAMPLED_BY_ROWS = """
import numpy as np
drawn = [ratings.{peer}({source}.sample(frac=1, replace=True, random_state=k)) for k in range({rounds})]
answer = float(np.std([ratings.centred(found) for found in drawn], axis=0).mean())
"""


def off(answer: Any, ours: Any) -> tuple[str, bool]:
    """Say how far ratings are from ours, in points; a point is the least that anybody shows."""
    names = sorted(ours)
    mean, own = (sum(values.values()) / len(names) for values in (answer, ours))
    gap = max(abs(answer[name] - mean - ours[name] + own) for name in names)
    return f"off by {gap:.1e} points", gap < 1


def likelihood(games: int, folder: Path, repeats: int, limit: float) -> list[dict[str, Any]]:
    """Compare fits of one log, from columns in memory and from a file."""
    path = str(folder / f"battles-{games}.parquet")
    ratings.league(games).write_parquet(path)
    plain = "answer = {{k: float(v) for k, v in ratings.{name}({source}).items()}}"
    frame, pandas = f"source = pl.read_parquet({path!r})\n", f"source = pd.read_parquet({path!r})\n"
    columns = [Side(name="nashboard", setup=OURS + frame, code=plain.format(name="ours", source="source"))]
    file = [Side(name="nashboard", setup=OURS, code=plain.format(name="ours", source=repr(path)))]
    for package, name in PEERS.items():
        setup = THEIRS.format(peer=name)
        code = plain.format(name=name, source="source")
        columns.append(Side(name=package, setup=setup + pandas, code=code, package=package))
        file.append(Side(name=package, setup=setup, code=pandas + code, package=package))
    rows = compared(f"{games:,} from columns", columns, repeats=repeats, limit=limit, quality=off)
    rows += compared(f"{games:,} from parquet", file, repeats=repeats, limit=limit, quality=off)
    code = RESAMPLED_BY_ROWS.format(peer="by_evalica", source="source", rounds=ROUNDS)
    again = [
        Side(name="nashboard", setup=OURS + frame, code=RESAMPLED.format(source="source", rounds=ROUNDS)),
        Side(name="evalica", setup=THEIRS.format(peer="by_evalica") + pandas, code=code, package="evalica"),
    ]
    what = f"{games:,} from columns, {ROUNDS} rounds"
    return rows + compared(
        what, again, repeats=1, limit=limit, quality=lambda x, own: (f"spread {x:.2f} points", abs(x / own - 1) < 0.2)
    )


def online(games: int, repeats: int) -> list[dict[str, Any]]:
    """Compare online Elo and mElo, game after game; ours from names, riix from numbers."""
    setup = f"import ratings\nsides = ratings.online_sides({games})\n"
    rows = []
    for what, ours, theirs in (("Elo", "our_elo", "riix_elo"), ("mElo, one plane", "our_melo", "riix_melo")):
        code = "answer = [float(x) for x in ratings.np.ravel(sides[{!r}]())]"
        sides = [
            Side(name="nashboard", setup=setup + f"sides[{ours!r}]()\n", code=code.format(ours)),
            Side(name="riix", setup=setup, code=code.format(theirs), package="riix"),
        ]
        found = compared(f"{what}, {games:,} games", sides, repeats=repeats, quality=apart)
        for row in found:
            if "seconds" in row:
                row["quality"] = f"{games / row['seconds'] / 1e6:.2f} million games per second; {row['quality']}"
        rows += found
    return rows


def apart(answer: Any, ours: Any) -> tuple[str, bool]:
    """Say how far online ratings are apart."""
    gap = max(abs(x - y) for x, y in zip(answer, ours, strict=True))
    return f"{gap:.0e} points from ours", gap < 1


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--matches", type=int, action="append")
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    about = "Elo online, game after game, 100 agents: ours starts from names, riix from numbers made beforehand."
    save("online", "Online ratings", about, online(200_000, given.repeats))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for games in given.matches or [100_000, 1_000_000] + [10_000_000, 100_000_000] * given.full:
            rows += likelihood(games, Path(folder), given.repeats if games <= 1_000_000 else 1, given.limit)
    about = (
        "Maximum likelihood of 100 agents without a prior. Each peer gets the columns in the form it likes; FastChat's "
        "approach is pair counts and scikit-learn's logistic regression. The spread of 100 rounds is the mean "
        "standard deviation of a rating."
    )
    save("elo", "Elo and Bradley-Terry", about, rows)


if __name__ == "__main__":
    main()
