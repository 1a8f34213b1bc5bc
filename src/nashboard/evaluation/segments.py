"""Segments: one board per language, per month, per opening; and where they disagree."""

from collections.abc import Mapping

from nashboard._tables import Cell, Column, Table
from nashboard.data.formats.format import Options
from nashboard.data.read import column_values
from nashboard.errors import InputError
from nashboard.evaluation.evaluation import Evaluation

MOST = 100  # boards that anybody would look at; a column with more values is probably not meant


def segment_values(source: str, column: str, options: Options | None = None) -> list[str]:
    """Return the values of a column of a table, in order; rows without a value belong to no segment."""
    if source == "-" or source.startswith("dataset:"):
        raise InputError(f"segments are read from a file, once for each value of {column!r}: {source!r} is none")
    values = column_values(source, column, options or Options(), most=MOST + 1)
    if len(values) > MOST:
        raise InputError(f"column {column!r} has more than {MOST} values: segments are for columns with up to {MOST}")
    return values


def comparison(boards: Mapping[str, Evaluation], column: str) -> Table:
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
    same = len({found.support for found in boards.values()}) == 1
    notes = (
        f"all {len(boards):,} segments have the same agents at the top"
        if same
        else f"the {len(boards):,} segments do not agree on who is at the top",
    )
    return Table(
        title=f"ranks by {column}",
        columns=(
            Column(name="agent", meaning="name of the agent"),
            *(Column(name=str(value), meaning=f"rank by Nash average where {column} is {value}") for value in boards),
            Column(name="spread", meaning="worst rank minus best rank over the segments"),
        ),
        rows=tuple(rows),
        notes=notes,
    )
