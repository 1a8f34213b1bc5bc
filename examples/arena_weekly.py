"""An arena operator's weekly job: read the log, publish the board, say what changed since last week.

    python examples/arena_weekly.py [FOLDER]

The job itself is `weekly`. `main` runs it for two weeks; in the second, the makers of `basalt` enter `cedar`, which it
beats, four more times under new names. That lifts `basalt` in every average over opponents. The audit finds the names
that play alike; merged, they are one agent again.
"""

import sys
from pathlib import Path

from arena_log import write_log

import nashboard as nb


def weekly(log: Path, board: Path, last: Path | None) -> nb.Evaluation:
    """Evaluate a log, write the board in three formats, and print what an operator has to know."""
    # Votes of one user depend on each other: clusters keep the intervals honest.
    matches = nb.read_matches(log, cluster="user")
    result = nb.evaluate(matches, n_resamples=60, rng=0)
    for ending in (".json", ".md", ".csv"):  # .json is what next week's job compares with
        result.report(board.with_suffix(ending))
    print(f"{log.name}: {matches!r}")
    print("\n".join(result.verdict))
    for warning in result.warnings:
        print(f"warning: {warning}")
    if last is not None:
        before = nb.Evaluation.from_json(last.read_text(encoding="utf-8"))
        print("\n".join(changes(before, result)))
    return result


def changes(before: nb.Evaluation, after: nb.Evaluation) -> list[str]:
    """Say who came, who went, who is at the top now, and whether the change is more than noise."""
    said = [
        f"new: {', '.join(sorted(set(after.agents) - set(before.agents))) or 'nobody'}; "
        f"gone: {', '.join(sorted(set(before.agents) - set(after.agents))) or 'nobody'}",
        f"with weight last week: {', '.join(before.support)}; this week: {', '.join(after.support)}",
    ]
    old = dict(zip(before.agents, before.board.averages, strict=True))
    low_high = after.uncertainty["again"]
    for k, agent in enumerate(after.agents):
        if agent in old and not low_high.average_low[k] <= old[agent] <= low_high.average_high[k]:
            said.append(f"{agent} moved from {old[agent]:.2f} to {after.board.averages[k]:.2f}, more than noise")
    return said


def first(result: nb.Evaluation) -> str:
    """Say who is first by rating, by uniform average and by Nash average."""
    board = result.board
    by_rating, by_mean = board.names[board.ratings.argmax()], board.names[board.uniform.argmax()]
    return f"first by {board.rating_name} {by_rating}, by uniform average {by_mean}, by Nash {', '.join(board.support)}"


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
    print("as entered:", first(result))
    groups = {group.representative: group.members for group in alike.groups}
    if groups:
        matches = nb.read_matches(folder / "week2.csv", cluster="user").merge(groups)
        print("merged:", first(nb.evaluate(matches, n_resamples=60, rng=0)))
    chart = nb.charts.leaderboard(result)
    nb.charts.save(chart, folder / "board2.svg")
    print(f"\nboards are in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
