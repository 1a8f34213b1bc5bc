"""Choosing what to evaluate: agents by patterns such as ``gpt-*``, and what to do about missing scores."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

from nashboard._text import either, nearest
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Filling, Scores, worst
from nashboard.errors import InputError

Data = Matches | Scores | Payoffs


def choose_agents(data: Data, agents: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> Data:
    """Return the data of the agents that match a pattern of ``agents`` and none of ``exclude``.

    ``*`` stands for any text, ``?`` for one character, ``[ab]`` for one of some; a pattern that matches nobody is an
    error, since it is probably a slip.
    """
    if not agents and not exclude:
        return data
    for pattern in [*(agents or []), *(exclude or [])]:
        if not any(fnmatchcase(name, pattern) for name in data.agents):
            raise InputError(f"no agent matches {pattern!r}{nearest(pattern, data.agents)}")
    kept = [
        name
        for name in data.agents
        if (not agents or any(fnmatchcase(name, pattern) for pattern in agents))
        and not any(fnmatchcase(name, pattern) for pattern in exclude or [])
    ]
    if not kept:
        raise InputError("no agent is left: the patterns to exclude match all that were chosen")
    return data.select(kept)


DROPS: dict[str, Literal["agents", "tasks"]] = {"drop-agents": "agents", "drop-tasks": "tasks"}
FILLS: dict[str, Filling] = {"mean": "mean", "median": "median", "worst": "worst"}
WAYS = (*DROPS, *FILLS)


def complete_scores(data: Data, missing: str | None, *, modelled: bool = False) -> Data:
    """Return scores without missing cells in the way asked for; ``modelled`` keeps them where none was asked for."""
    check_missing(data, missing)
    if not isinstance(data, Scores) or not data.missing.any():
        return data
    if missing is None and modelled:
        return data
    if missing is None:
        raise InputError(
            f"{data.missing.sum():,} of {data.missing.size:,} scores are missing (agents with most: "
            f"{worst(data.missing.sum(axis=1), data.agents)}; tasks with most: "
            f"{worst(data.missing.sum(axis=0), data.tasks)}): say what to do with --missing "
            f"{', '.join(WAYS[:-1])} or {WAYS[-1]}"
        )
    return data.drop(DROPS[missing]) if missing in DROPS else data.fill(FILLS[missing])


def check_missing(data: Data, missing: str | None) -> None:
    """Refuse a way to treat missing scores that there is not, or that these data have no use for."""
    if missing is None:
        return
    if missing not in WAYS:
        raise InputError(
            f"there is no way {missing!r} to treat missing scores{nearest(missing, WAYS)}: use {either(WAYS)}"
        )
    if not isinstance(data, Scores):
        raise InputError(
            f"--missing {missing} is for scores of agents on tasks, and these are {type(data).__name__.lower()}: pairs "
            f"that never met are no holes, leave --missing out"
        )
