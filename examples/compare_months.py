"""Compare the leaderboards of two months: which changes are real, and which are noise?

    python examples/compare_months.py [FOLDER]

Two months are two samples of the same arena. A rank that changed says little; an interval that leaves the other
month's says something. Agents that one month does not know are listed apart, and boards are compared on the others.
"""

import csv
import sys
from pathlib import Path

from arena_log import write_log

import nashboard as nb


def month(log: Path, common: set[str] | None = None) -> nb.Evaluation:
    """Evaluate one month, on the agents that both months know."""
    matches = nb.read_matches(log)
    if common is not None:
        matches = matches.select([agent for agent in matches.agents if agent in common])
    return nb.evaluate(matches, rng=0)


def compared(first: nb.Evaluation, second: nb.Evaluation) -> list[dict[str, object]]:
    """Return one row per agent: ratings of both months with intervals, and whether they are apart."""
    place = {agent: k for k, agent in enumerate(first.agents)}
    rows = []
    for k, agent in enumerate(second.agents):
        a, b = first.board, second.board
        i = place[agent]
        apart = a.rating.high[i] < b.rating.low[k] or b.rating.high[k] < a.rating.low[i]
        rows.append(
            {
                "agent": agent,
                "first rank": int(a.ranks[i]),
                "second rank": int(b.ranks[k]),
                "first Elo": round(float(a.rating.values[i])),
                "second Elo": round(float(b.rating.values[k])),
                "first P(top)": round(float(a.probability_top[i]), 2),
                "second P(top)": round(float(b.probability_top[k]), 2),
                "changed": "more than noise" if apart else "within noise",
            }
        )
    return sorted(rows, key=lambda row: (row["second rank"], row["agent"]))


def main(folder: str | Path = "out/compare_months") -> None:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_log(folder / "may.csv", battles=4000, seed=5, week=1)
    write_log(folder / "june.csv", battles=8000, seed=6, week=2)
    agents = [set(nb.read_matches(folder / name).agents) for name in ("may.csv", "june.csv")]
    both = agents[0] & agents[1]
    print(f"only in may: {', '.join(sorted(agents[0] - both)) or 'nobody'}")
    print(f"only in june: {', '.join(sorted(agents[1] - both)) or 'nobody'}")
    may, june = month(folder / "may.csv", both), month(folder / "june.csv", both)
    rows = compared(may, june)
    for line in (rows[0].keys(), *(row.values() for row in rows)):
        print("  ".join(f"{value!s:>14}" for value in line))
    for name, result in (("may", may), ("june", june)):
        print(f"{name}: {result.verdict[0]}")
    with (folder / "compared.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"the table is in {folder / 'compared.csv'}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
