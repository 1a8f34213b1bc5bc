"""An arena operator's weekly job: read the log, publish the board, say what changed since last week.

    python examples/arena_weekly.py [FOLDER]

The job itself is `weekly`. `main` runs it for two weeks; in the second, the makers of `basalt` enter `cedar`, which it
beats, four more times under new names. That lifts `basalt` in every average over opponents. `evaluate` finds the names
that play alike and pools them: they are one agent again.
"""

import sys
from pathlib import Path

from arena_log import write_log

import nashboard as nb


def weekly(log: Path, board: Path, last: Path | None) -> nb.Evaluation:
    """Evaluate a log, write the board in three formats, and print what an operator has to know."""
    # Votes of one user depend on each other: clusters keep the intervals honest.
    matches = nb.read_matches(log, cluster="user")
    result = nb.evaluate(matches, rng=0)
    for ending in (".json", ".md", ".csv"):  # .json is what next week's job compares with
        result.report(board.with_suffix(ending))
    print(f"{log.name}: {matches!r}")
    print("\n".join(result.verdict))
    for warning in result.warnings:
        print(f"note: {warning}")
    if last is not None:
        before = nb.Evaluation.from_json(last.read_text(encoding="utf-8"))
        moved = nb.changes(before, result)
        print(f"new: {', '.join(sorted(moved.entered)) or 'nobody'}")
        print(f"moved beyond noise: {', '.join(moved.moved) or 'nobody'}")
    return result


def first(result: nb.Evaluation) -> str:
    """Return who is first by rating, by uniform average and by Nash average."""
    board = result.board
    by_elo = board.names[board.rating.values.argmax()]
    by_mean = board.names[board.uniform.argmax()]
    return f"first by Elo {by_elo}, by uniform average {by_mean}, by Nash {', '.join(board.support) or 'undecided'}"


def main(folder: str | Path = "out/arena_weekly") -> None:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_log(folder / "week1.csv", battles=10_000, seed=1, week=1)
    write_log(folder / "week2.csv", battles=25_000, seed=2, week=2, copies={"cedar": 4})
    print("--- week 1")
    weekly(folder / "week1.csv", folder / "board1", None)
    print("\n--- week 2")
    result = weekly(folder / "week2.csv", folder / "board2", folder / "board1.json")
    (alike,) = (found for found in result.audit().redundancy if found.kind == "agents")
    print("\nthe audit:", *alike.sentences(), sep="\n")
    matches = nb.read_matches(folder / "week2.csv", cluster="user")
    print("as entered:", first(nb.evaluate(matches, pool=False, noise="none")))
    print("pooled:", first(result))
    chart = nb.charts.leaderboard(result)
    nb.charts.save(chart, folder / "board2.svg")
    print(f"\nboards are in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
