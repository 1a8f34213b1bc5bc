"""Merging clones: what the board of agents would look like if each group were entered once.

Results that agree in every cell are the same results written down again: one entry is kept. Near-clones have games of
their own, and these are pooled (in scores, where there is nothing to pool, the representative is kept).
"""

from collections.abc import Mapping

import numpy as np

from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash import Selection
from nashboard.evaluation.contest import Kind, contest
from nashboard.evaluation.standing import Movement, movement

Groups = Mapping[str, tuple[str, ...]]


def merged_data(data: Matches | Scores, kind: Kind, same: Groups, near: Groups) -> Matches | Scores:
    """Return the data with each group as one entry, named by its representative."""
    if isinstance(data, Matches):
        gone = {member for name, members in same.items() for member in members if member != name}
        left = data.select([agent for agent in data.agents if agent not in gone]) if gone else data
        return left.merge(near) if near else left
    gone = {member for name, members in {**same, **near}.items() for member in members if member != name}
    if kind == "agents":
        return data.select(agents=[agent for agent in data.agents if agent not in gone])
    return data.select(tasks=[task for task in data.tasks if task not in gone])


def merge_effects(
    data: Matches | Scores, kind: Kind, same: Groups, near: Groups, selection: Selection
) -> tuple[Movement, ...]:
    """Return how far each method's board of agents moves when groups are merged; nothing where no board is left."""
    fewer = sum(len(members) - 1 for groups in (same, near) for members in groups.values())
    if kind == "agents" and len(data.agents) - fewer < 2:
        return ()
    before = contest(data, selection=selection)
    after = contest(merged_data(data, kind, same, near), selection=selection)
    moved = []
    for method in ("uniform", "elo", "nash"):
        old, new = (one.exact(method, np.zeros(len(one.entries), dtype=np.intp)) for one in (before, after))
        moved.append(movement(old, new))
    return tuple(moved)
