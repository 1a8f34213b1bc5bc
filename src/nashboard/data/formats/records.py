"""Records inside a json document: a list one level down, or an object with a row for each agent."""

from collections.abc import Mapping
from typing import Any

from nashboard._text import listed
from nashboard.data.sources.memory import make_table
from nashboard.data.table.columns import AGENT, SIDES, TWO_SCORES, WINNER_LOSER, find_pairs, find_usual
from nashboard.data.table.table import Table

FEWEST = 2  # records or agents


def find_records(document: Any, name: str) -> Table | None:
    """Return the records in a document as a table: those of its only list, or of the only one with agents in it."""
    if not isinstance(document, Mapping) or has_agents(document):  # then it is a row itself
        return None
    lists = {key: value for key, value in document.items() if is_record_list(value)}
    if len(lists) > 1:
        known = {key: rows for key, rows in lists.items() if has_agents(rows[0])}
        longest = max(map(len, known.values()), default=0)
        lists = {key: rows for key, rows in known.items() if len(rows) == longest}
    if len(lists) == 1:
        key, rows = next(iter(lists.items()))
        others = [other for other in document if other != key]
        note = f"records are those of {key!r}" + (f"; not used: {listed(others)}" if others else "")
        return named(make_table([dict(row) for row in rows], "json list"), name, note)
    if is_table_by_agent(document):
        rows = [{"agent": agent, **scores} for agent, scores in document.items()]
        return named(make_table(rows, "json object"), name, "the names of the object are the agents")
    return None


def named(table: Table, name: str, note: str) -> Table:
    """Return a table under the name of its source, with a note."""
    return Table(name=name, engine="json", frame=table.frame, columns=table.columns, notes=(note,))


def is_record_list(value: Any) -> bool:
    """Return whether a value is a list of at least two objects."""
    return isinstance(value, list) and len(value) >= FEWEST and all(isinstance(row, dict) and row for row in value)


def has_agents(row: Mapping[str, Any]) -> bool:
    """Return whether a record has a column for an agent, or for the two of a match."""
    columns = list(row)
    return (
        bool(find_usual(AGENT, columns) or find_pairs((*SIDES, *WINNER_LOSER, *TWO_SCORES), columns)) and len(row) > 1
    )


def is_table_by_agent(document: Mapping[str, Any]) -> bool:
    """Return whether a document is an object of objects that hold numbers: scores by agent and task."""
    values = list(document.values())
    if len(values) < FEWEST or not all(isinstance(value, dict) and value and "agent" not in value for value in values):
        return False
    cells = [cell for value in values for cell in value.values()]
    numbers = sum(isinstance(cell, int | float) for cell in cells)
    return numbers > len(cells) / 2 and not any(isinstance(cell, dict | list) for cell in cells)
