"""Tables of single items: items are a sample of the possible questions of a task, not tasks of their own.

All agents answer the same items, so hard items lower all scores. Differences between agents are more precise than
single standard errors: the error of a pooled score does not include the effect that an item has on all agents.
"""

from collections.abc import Sequence

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.data.scores import Scores

FEWEST_ITEMS = 20  # columns of zeros and ones from which a table is taken as a table of items
POOLED = "all items"
STEPS = 50  # of the fit of agents and items where cells are missing; it converges geometrically


def is_item_table(scores: Scores) -> bool:
    """Return whether columns are items: the table has groups, or only columns of zeros and ones, and many of them."""
    if scores.scaling != "raw":
        return False
    if scores.groups is not None:
        return len(set(scores.groups)) < len(scores.tasks)
    binary = bool(np.isin(scores.values[~scores.missing], (0.0, 1.0)).all())
    unknown = not (scores.stderr > 0).any() and not (scores.n > 1).any()
    return binary and unknown and len(scores.tasks) >= FEWEST_ITEMS


def pool_items(scores: Scores, representatives: Sequence[int] | Ints) -> Scores:
    """Pool items into their groups, or into one task: mean scores with paired standard errors.

    The model of a group is ``x[i, q] = y[i] + d[q] + e[i, q]``. ``d`` is estimated from one representative of each
    class of identical agents, so that copies do not change it. The standard error of ``y[i]`` is that of the mean of
    ``e``.
    """
    labels = scores.groups if scores.groups is not None else (POOLED,) * len(scores.tasks)
    names = tuple(dict.fromkeys(labels))
    mixed = [len({bool(scores.lower_is_better[k]) for k in columns_of(labels, name)}) > 1 for name in names]
    columns = []
    for name, is_mixed in zip(names, mixed, strict=True):
        items = columns_of(labels, name)
        sign = np.where(scores.lower_is_better[items] & is_mixed, -1.0, 1.0)
        columns.append(pool_group(scores.values[:, items] * sign, np.asarray(representatives)))
    values, stderr, counted = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    one = f"{len(labels):,} items are pooled into " + (f"{len(names):,} tasks" if len(names) > 1 else "one task")
    return Scores(
        agents=scores.agents,
        tasks=names,
        values=values,
        lower_is_better=np.array(
            [
                not is_mixed and bool(scores.lower_is_better[columns_of(labels, name)[0]])
                for name, is_mixed in zip(names, mixed, strict=True)
            ]
        ),
        stderr=stderr,
        n=counted,
        runs=np.ones(values.shape, dtype=np.intp),
        origin=scores.origin.noting(f"{one}; standard errors use that agents answered the same items"),
    )


def columns_of(labels: Sequence[str], name: str) -> list[int]:
    """Return the columns of one group."""
    return [k for k, label in enumerate(labels) if label == name]


def pool_group(X: Floats, representatives: Ints) -> tuple[Floats, Floats, Floats]:
    """Return pooled scores, standard errors and numbers of items of one group; NaN for agents without any."""
    seen: Bools = np.isfinite(X)
    filled = np.where(seen, X, 0.0)
    counted = seen.sum(axis=1)
    some = counted > 0
    first = representatives[some[representatives]]
    answered = np.maximum(seen[first].sum(axis=0), 1)
    ability = np.where(some, filled.sum(axis=1) / np.maximum(counted, 1), 0.0)
    effect = np.zeros(X.shape[1])
    for _ in range(1 if seen.all() else STEPS):
        effect = np.where(seen[first], filled[first] - ability[first, None], 0.0).sum(axis=0) / answered
        effect -= effect.mean()
        ability = np.where(seen, filled - effect, 0.0).sum(axis=1) / np.maximum(counted, 1)
    residual = np.where(seen, filled - effect - ability[:, None], 0.0)
    agents = len(first)
    freedom = np.maximum(counted - 1, 1) * max(agents - 1, 1) / max(agents, 1)
    stderr = np.sqrt((residual**2).sum(axis=1) / freedom / np.maximum(counted, 1))
    return (
        np.where(some, ability, np.nan),
        np.where(some & (counted > 1), stderr, np.nan),
        np.where(some, counted.astype(np.float64), np.nan),
    )
