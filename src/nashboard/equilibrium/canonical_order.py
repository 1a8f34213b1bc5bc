"""An order of players that follows from their payoffs alone, whoever was entered first.

Rounding depends on the order of a sum. Where payoffs span so many orders of magnitude that rounding decides,
two orders of the same players could give two answers. So players are sorted before the game is solved: the
solver then sees the same numbers in the same places however the players were ordered, and however often some
of them were entered (clones are collapsed before).

A player is placed by its payoffs in rising order. Players who agree in those are told apart by *whom* they have
these payoffs against: each opponent's own place takes part, and so on until no more are told apart. What is
left are players that stand alike in the game, where hardly anything depends on their order.
"""

import numpy as np

from nashboard._types import Floats, Ints

LARGEST = 2048  # games with more players are solved in the order they came in: a sorted copy would cost memory
ROUNDS = 4  # how far opponents of opponents of ... are asked


def order_of_agents(K: Floats) -> Ints:
    """Return the order of the players of an antisymmetric game."""
    place = places(K)
    for _ in range(ROUNDS):
        if distinct(place):
            break
        place = refined(K, place, place)
    return np.argsort(place, kind="stable")


def order_of_sides(S: Floats) -> tuple[Ints, Ints]:
    """Return the order of the agents and the order of the tasks of a table."""
    T = S.T
    agents, tasks = places(S), places(T)
    for _ in range(ROUNDS):
        if distinct(agents) and distinct(tasks):
            break
        agents, tasks = refined(S, agents, tasks), refined(T, tasks, agents)
    return np.argsort(agents, kind="stable"), np.argsort(tasks, kind="stable")


def places(rows: Floats) -> Ints:
    """Return the place of each row by its cells in rising order; rows with the same cells share one."""
    place = ranked([np.minimum.reduce(rows, axis=1)])  # the smallest cell often decides, at less cost
    if not distinct(place):
        place = ranked(list(np.sort(rows, axis=1).T))
    return place


def refined(rows: Floats, place: Ints, of_columns: Ints) -> Ints:
    """Return places that also ask against whom: the places of columns in the order of a row's cells."""
    tied = np.bincount(place, minlength=len(place))[place] > 1
    keys = np.zeros(rows.shape, dtype=np.intp)
    keys[tied] = of_columns[np.lexsort([np.broadcast_to(of_columns, rows[tied].shape), rows[tied]], axis=1)]
    return ranked([place, *keys.T])


def ranked(keys: list[Floats] | list[Ints]) -> Ints:
    """Return the place of each player by the first key in which two differ; the same for those that do not."""
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), dtype=np.bool_)
    for key in keys:
        rising = key[order]
        new[1:] |= rising[1:] != rising[:-1]
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.maximum.accumulate(np.arange(len(order)) * new)
    return place


def distinct(place: Ints) -> bool:
    """Whether no two players share a place."""
    return bool(np.bincount(place).max() == 1)
