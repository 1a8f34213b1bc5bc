"""Where an evaluation's data came from: source, size, and a hash of the content."""

from hashlib import sha256
from typing import Any

import numpy as np

from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores


def described(data: Matches | Scores | Payoffs) -> dict[str, Any]:
    """Return where the data came from, their size, and a hash of their content."""
    tasks = len(data.tasks) if isinstance(data, Scores) else None
    return {
        "source": data.origin.source,
        "format": data.origin.format,
        "agents": len(data.agents),
        "tasks": tasks,
        "games": data.n_games if isinstance(data, Matches) else None,
        "hash": content_hash(data),
    }


def content_hash(data: Matches | Scores | Payoffs) -> str:
    """Return a hash of names and numbers, the same whatever the order of agents and tasks."""
    names = sorted(data.agents)
    if isinstance(data, Scores):
        sorted_data: Any = data.select(names, sorted(data.tasks))
        parts = [sorted_data.values, sorted_data.stderr, sorted_data.n, sorted_data.lower_is_better]
        names += ["\0", *sorted_data.tasks, data.scaling]
    elif isinstance(data, Matches):
        sorted_data = data.select(names)
        parts = [sorted_data.pairs, sorted_data.wins, sorted_data.draws, sorted_data.losses]
    else:
        sorted_data = data.select(names)
        parts = [sorted_data.A]
    content = sha256("\0".join(names).encode("utf-8", "surrogatepass"))
    for part in parts:
        content.update(np.ascontiguousarray(part + 0 if part.dtype != np.bool_ else part).tobytes())
    return f"sha256:{content.hexdigest()}"
