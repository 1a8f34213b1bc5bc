"""Several boards: one per language, month or opening, and where they disagree; or one per group that never met."""

from collections.abc import Mapping, Sequence
from typing import Any

from nashboard._tables import Cell, Column, Table
from nashboard.data.matches import Matches, whole
from nashboard.errors import InputError
from nashboard.evaluation.evaluate import evaluate
from nashboard.evaluation.evaluation import Evaluation
from nashboard.ratings.rating import checked_anchor


def evaluate_components(matches: Matches, **options: Any) -> dict[str, Evaluation]:
    """Evaluate every group of agents that are connected by matches on its own, options as in `evaluate`.

    Agents of different groups never met, not even through others, so that no board can hold them all. Groups are
    called after the agent with most games; the largest comes first. An agent that met nobody is in no group.

    Examples
    --------
    >>> import nashboard as nb
    >>> W = [[0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 5], [0, 0, 2, 0]]
    >>> matches = nb.Matches.from_counts(W, agents=["ann", "bob", "cid", "dee"])
    >>> boards = nb.evaluate_components(matches, n_resamples=20)
    >>> {name: found.agents for name, found in boards.items()}
    {'ann': ('ann', 'bob'), 'cid': ('cid', 'dee')}
    """
    if not isinstance(matches, Matches):
        raise InputError(f"only Matches fall into groups that never met, not {type(matches).__name__}: use evaluate")
    groups = [set(group) for group in matches.components if len(group) > 1]
    if not groups:
        raise InputError("no two agents have met: there is nothing to evaluate")
    names = [group[0] for group in matches.components if len(group) > 1]
    anchor = options.pop("anchor", None) or {}
    checked_anchor(anchor, matches.agents)
    return {
        name: evaluate(
            matches.select([agent for agent in matches.agents if agent in group]),
            anchor={agent: rating for agent, rating in anchor.items() if agent in group} or None,
            **options,
        )
        for name, group in zip(names, groups, strict=True)
    }


def summary_of_components(boards: Mapping[str, Evaluation]) -> Table:
    """Return one row per group: how large it is, and who is at its top."""
    return Table(
        title="groups that never met",
        columns=(
            Column(name="group of", meaning="the agent with most games"),
            Column(name="agents", meaning="how many there are"),
            Column(name="games", meaning="games played, or their total weight", decimals=2),
            Column(name="top", meaning="who ties for first by Nash average"),
        ),
        rows=tuple(
            (name, len(found.agents), whole(found.board.games.sum() / 2), ", ".join(found.board.top))
            for name, found in boards.items()
        ),
        notes=("agents of different groups cannot be compared",),
    )


def comparison(boards: Mapping[str, Evaluation], column: str, notes: Sequence[str] = ()) -> Table:
    """Return each agent's rank in each segment, and how far its ranks lie apart; ties at the top all have rank 1."""
    agents = sorted({name for found in boards.values() for name in found.agents})
    ranks: dict[str, dict[str, int]] = {
        value: dict(zip(found.board.names, map(int, found.board.ranks), strict=True)) for value, found in boards.items()
    }
    found_rows = []
    for agent in agents:
        places = [ranks[value].get(agent) for value in boards]
        known = [place for place in places if place is not None]
        found_rows.append((sum(known) / len(known), agent, places, max(known) - min(known)))
    rows: list[tuple[Cell, ...]] = [
        (agent, *places, spread) for _, agent, places, spread in sorted(found_rows, key=lambda row: row[:2])
    ]
    same = len({frozenset(found.board.top) for found in boards.values()}) == 1
    agree = (
        f"all {len(boards):,} segments have the same agents at the top"
        if same
        else f"the {len(boards):,} segments do not agree on who is at the top"
    )
    return Table(
        title=f"ranks by {column}",
        columns=(
            Column(name="agent", meaning="name of the agent"),
            *(Column(name=str(value), meaning=f"rank by Nash average where {column} is {value}") for value in boards),
            Column(name="spread", meaning="worst rank minus best rank over the segments"),
        ),
        rows=tuple(rows),
        notes=(agree, *notes),
        telling=("agent", "spread", *map(str, boards)),
    )


def stacked(boards: Mapping[str, Evaluation], column: str) -> Table:
    """Return all boards as one table for machines: the segment first, and last how far an agent's ranks lie apart."""
    tables = {value: found.leaderboard() for value, found in boards.items()}
    columns = {one.name: one for table in tables.values() for one in table.columns}
    ranks: dict[str, list[int]] = {}
    for found in boards.values():
        for name, rank in zip(found.board.names, map(int, found.board.ranks), strict=True):
            ranks.setdefault(name, []).append(rank)
    rows: list[tuple[Cell, ...]] = []
    for value, table in tables.items():
        names = [one.name for one in table.columns]
        for row in table.rows:
            cells = dict(zip(names, row, strict=True))
            places = ranks[str(cells["agent"])]
            rows.append((value, *(cells.get(name) for name in columns), max(places) - min(places)))
    return Table(
        title=f"boards by {column}",
        columns=(
            Column(name=column, meaning="the segment of the board"),
            *columns.values(),
            Column(name="spread", meaning="worst rank minus best rank over the segments"),
        ),
        rows=tuple(rows),
    )
