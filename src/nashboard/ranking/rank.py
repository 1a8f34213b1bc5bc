"""`rank`: order agents by any method of the registry."""

from typing import Any

from nashboard._text import either, nearest
from nashboard.data.scores import Scaling
from nashboard.errors import InputError
from nashboard.ranking.method import Method, Ranking, ranking_of
from nashboard.ranking.pairwise import Pairwise, pairwise
from nashboard.ranking.registry import find_method


def rank(data: Any, method: str = "nash", *, scaling: Scaling = "range", **options: Any) -> Ranking:
    """Order agents by one of many methods; `methods` lists them.

    Parameters
    ----------
    data
        `Matches`, `Scores`, `Payoffs`, an `Evaluation`, an antisymmetric matrix, or single runs as a mapping from each
        agent to its ``(runs, tasks)`` scores.
    method
        A name from `methods`.
    scaling
        How raw scores are put in comparable units, as in `Scores.scale`.
    options
        The method's own: ``prior`` for elo, melo and newman, ``k`` for melo, ``damping`` for pagerank, ``temperature``
        for soft_condorcet, ``alpha``, ``population`` and ``populations`` for alpha_rank.

    Examples
    --------
    >>> import nashboard as nb
    >>> ladder = nb.Matches.from_counts([[0, 7, 9], [3, 0, 6], [1, 4, 0]], agents=["ann", "bob", "cat"])
    >>> nb.rank(ladder, method="copeland").scores
    array([2., 1., 0.])
    >>> nb.rank(ladder, method="kemeny").order
    ('ann', 'bob', 'cat')
    """
    chosen = find_method(method)
    prepared = pairwise(data, scaling=scaling)
    refuse(chosen, prepared, options)
    return ranking_of(chosen, prepared, options)


def refuse(method: Method, data: Pairwise, options: dict[str, Any]) -> None:
    """Raise an error for data or options that a method does not take."""
    if data.kind not in method.needs:
        raise InputError(f"{method.title} needs {' or '.join(method.needs)}, not {data.kind}")
    for name in options:
        if name not in method.options:
            allowed = f"use {either(method.options)}" if method.options else "it has none"
            raise InputError(f"{method.name!r} has no option {name!r}{nearest(name, method.options)}: {allowed}")
