"""Several boards: one per language, month or opening, with their differences; or one per group that never met."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from nashboard._tables import Cell, Column, Table
from nashboard._text import listed, number_of
from nashboard._types import Floats
from nashboard.data.matches import Matches, whole
from nashboard.errors import InputError
from nashboard.evaluation.decide.changes import typical_change
from nashboard.evaluation.evaluate import evaluate
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.posterior.scores import adjust_holm
from nashboard.ratings.rating import checked_anchor


def evaluate_components(matches: Matches, **options: Any) -> dict[str, Evaluation]:
    """Evaluate every group of agents that are connected by matches on its own, options as in `evaluate`.

    Agents of different groups never met, not even through others, so that they cannot be on one board. Groups are named
    after the agent with most games; the largest is the first. Agents without games are in no group.

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


def summarise_components(boards: Mapping[str, Evaluation]) -> Table:
    """Return one row per group: its size, and its verdict."""
    return Table.of(
        boards,
        Column("group of", "the agent with most games", cell=str),
        Column("agents", "how many there are", cell=lambda name: len(boards[name].agents)),
        Column("games", "games played, or their total weight", decimals=2,
               cell=lambda name: whole(boards[name].board.games.sum() / 2)),
        Column("verdict", "who is first", most=400, cell=lambda name: boards[name].verdict[0]),
        title="groups that never met",
        notes=("agents of different groups cannot be compared",),
    )  # fmt: skip


def compare_segments(boards: Mapping[str, Evaluation], column: str, notes: Sequence[str] = ()) -> Table:
    """Return each agent's rank interval and shrunk gap in each segment, and whether it differs beyond noise."""
    boards = {value: boards[value] for value in sorted(boards, key=natural_key)}
    agents = sorted({name for found in boards.values() for name in found.agents})
    tested = compare_gaps(boards, agents)
    unit = next(iter(boards.values())).board.unit
    decimals = 0 if unit == "Elo points" else 2
    ranks: dict[str, dict[str, Cell]] = {
        value: {
            agent: f"{rank} ({max(tested[agent].shrunk[value], 0.0):.{decimals}f})"
            for agent, rank in zip(found.agents, found.posterior.rank_ranges(), strict=True)
        }
        for value, found in boards.items()
    }
    order = sorted(agents, key=lambda agent: (tested[agent].mean, agent))
    different = [agent for agent in order if tested[agent].differs]
    level = next(iter(boards.values())).board.level
    compared = sum(tested[agent].p is not None for agent in agents)
    if different:
        verb = "differs" if len(different) == 1 else "differ"
        sentence = f"{listed(different)} {verb} between segments beyond noise, measured from the typical agent of each"
    elif compared:
        sentence = f"none of {number_of(compared, 'agents')} was found to differ between segments beyond noise"
    else:
        sentence = "no agent can be compared: none is in two segments with known noise"
    return Table(
        title=f"ranks by {column}",
        columns=(
            Column("agent", "name"),
            *(Column(str(value), meaning=f"ranks where {column} is {value} (shrunk gap)") for value in boards),
            Column("p", "probability of such differences from the typical agent if all segments agree"),
            Column("differs", f"whether they differ beyond noise, {level:.0%} over all agents together"),
        ),
        rows=tuple(
            (agent, *(ranks[value].get(agent) for value in boards), tested[agent].p, tested[agent].differs)
            for agent in order
        ),
        notes=(sentence, f"in brackets: gaps in {unit}, shrunk towards the agent's mean over all segments", *notes),
        telling=("agent", "differs", *map(str, boards)),
    )


@dataclass(frozen=True, kw_only=True)
class Difference:
    """An agent's gaps over the segments: their mean, shrunk gaps by segment, and whether they differ beyond noise."""

    mean: float
    shrunk: Mapping[str, float]
    p: float | None
    differs: bool | None


SWEEPS = 20  # of the medians by segment and the means by agent, which converge in a few
CERTAIN = 1e-3  # of an agent's largest standard deviation: that of a gap which is 0 in every draw


def compare_gaps(boards: Mapping[str, Evaluation], agents: Sequence[str]) -> dict[str, Difference]:
    """Test whether agents differ between segments, and shrink gaps towards the agent's mean over all segments.

    Gaps ``g_k`` with posterior standard deviations ``s_k`` have ``Q = sum (g_k - mean)^2 / s_k^2``, chi-square with one
    degree of freedom less than segments where all agree. The variance between segments is the moment estimate over all
    agents together (DerSimonian and Laird 1986); a shrunk gap is the mean of ``g_k`` and the agent's mean by precision.
    """
    leader = find_copies(boards, agents)
    kept = list(dict.fromkeys(leader.values()))  # copies count once
    seen: dict[str, tuple[list[str], Floats, Floats]] = {}
    for agent in kept:
        values = [value for value, differences in boards.items() if agent in differences.agents]
        places = [boards[value].agents.index(agent) for value in values]
        gaps = np.array([boards[value].board.gaps[k] for value, k in zip(values, places, strict=True)])
        sd = np.array([measure_gap_error(boards[v], k) for v, k in zip(values, places, strict=True)])
        seen[agent] = values, gaps, np.maximum(sd, CERTAIN * sd.max(initial=0.0))
    Q, freedom, size = {}, {}, 0.0
    for agent, (_, gaps, sd) in seen.items():
        if len(gaps) < 2 or not (sd > 0).all():
            continue
        w = 1 / sd**2
        Q[agent], freedom[agent] = float((w * (gaps - w @ gaps / w.sum()) ** 2).sum()), len(gaps) - 1
        size += float(w.sum() - (w**2).sum() / w.sum())
    between = max((sum(Q.values()) - sum(freedom.values())) / size, 0.0) if size else 0.0
    p = compute_p_values(boards, kept)
    level = next(iter(boards.values())).board.level
    rejected = dict(zip(p, adjust_holm(np.array(list(p.values()))) <= 1 - level, strict=True)) if p else {}
    differences = {}
    for agent, (values, gaps, sd) in seen.items():
        w = 1 / (sd**2 + between) if (sd > 0).all() else np.ones(len(gaps))
        mean = float(w @ gaps / w.sum())
        keep = between / (between + sd**2) if (sd > 0).all() else np.ones(len(gaps))
        differences[agent] = Difference(
            mean=mean,
            shrunk=dict(zip(values, (mean + keep * (gaps - mean)).tolist(), strict=True)),
            p=p.get(agent),
            differs=bool(rejected[agent]) if agent in rejected else None,
        )
    return {agent: differences[leader[agent]] for agent in agents}


def find_copies(boards: Mapping[str, Evaluation], agents: Sequence[str]) -> dict[str, str]:
    """Return for each agent the first one that has the same data on every board, which may be itself."""
    originals = [
        dict(zip(found.agents, found.agents, strict=True))
        | {name: group[0] for group in found.clone_groups for name in group}
        for found in boards.values()
    ]
    first: dict[tuple[str | None, ...], str] = {}
    return {agent: first.setdefault(tuple(one.get(agent) for one in originals), agent) for agent in agents}


def compute_p_values(boards: Mapping[str, Evaluation], agents: Sequence[str]) -> dict[str, float]:
    """Return p-values of "no difference between segments" by agent, for all that are in two segments with noise.

    Ratings, or gaps where there are none, are measured from the typical agent of their segment, since a change of the
    best moves every gap. An agent's values ``y_k`` with errors ``e_k`` have ``Q = sum (y_k - mean)^2 / e_k^2``,
    chi-square if all segments agree.
    """
    from scipy.special import chdtrc

    place = {agent: k for k, agent in enumerate(agents)}
    gap, error = (np.full((len(agents), len(boards)), np.nan) for _ in range(2))
    for k, found in enumerate(boards.values()):
        posterior = found.posterior
        gaps, errors = posterior.gap, posterior.gap_error
        if posterior.source is not None and posterior.source.ratings is not None:
            behind = posterior.source.ratings.mean(axis=1, keepdims=True) - posterior.source.ratings
            gaps, errors = (x[posterior.classes] for x in (behind.mean(axis=0), behind.std(axis=0)))
        copies = {name for group in found.clone_groups for name in group[1:]}
        pooled = np.bincount(posterior.classes, [name not in copies for name in found.agents])[posterior.classes]
        rows = [row for row, agent in enumerate(found.agents) if agent in place]
        at = [place[found.agents[row]] for row in rows]
        gap[at, k], error[at, k] = gaps[rows], (errors * np.sqrt(pooled))[rows]  # pooled data are of several agents
    known = error > 0
    known &= known.sum(axis=1, keepdims=True) > 1
    present = known.sum(axis=0)  # errors are measured from the mean, and the median of three or more is noisier
    error = error * np.sqrt(np.where(present > 2, present / np.maximum(present - 1, 1), 1.0))
    weight = np.where(known, 1 / np.where(known, error, 1.0) ** 2, 0.0)
    total = np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    y = np.where(known, gap, 0.0)
    for _ in range(SWEEPS):
        rest = y - (weight * y).sum(axis=1, keepdims=True) / total
        for column in np.flatnonzero(known.any(axis=0)).tolist():
            inside = known[:, column]
            y[inside, column] -= typical_change(rest[inside, column], error[inside, column])
    Q = (weight * (y - (weight * y).sum(axis=1, keepdims=True) / total) ** 2).sum(axis=1)
    return {agent: float(chdtrc(known[k].sum() - 1, Q[k])) for k, agent in enumerate(agents) if known[k].any()}


def measure_gap_error(found: Evaluation, k: int) -> float:
    """Return the posterior standard deviation of an agent's gap, from its interval, in the unit of the board."""
    board = found.board
    return float((board.gap_high[k] - board.gap_low[k]) / (2 * ndtri((1 + board.level) / 2)))


def natural_key(value: str) -> tuple[tuple[int, float, str], ...]:
    """Return a key that sorts ``v2`` before ``v10``, and numbers by size."""
    parts = re.split(r"(\d+(?:\.\d+)?)", str(value))
    return tuple((0, float(part), "") if k % 2 else (1, 0.0, part) for k, part in enumerate(parts))


def stack_boards(boards: Mapping[str, Evaluation], column: str) -> Table:
    """Return all boards as one table for machines: the segment first, last the gap shrunk towards the agent's mean."""
    boards = {value: boards[value] for value in sorted(boards, key=natural_key)}
    tables = {value: found.leaderboard() for value, found in boards.items()}
    columns = {one.name: one for table in tables.values() for one in table.columns}
    tested = compare_gaps(boards, sorted({name for found in boards.values() for name in found.agents}))
    rows: list[tuple[Cell, ...]] = []
    for value, table in tables.items():
        names = [one.name for one in table.columns]
        for row in table.rows:
            cells = dict(zip(names, row, strict=True))
            shrunk = tested[str(cells["agent"])].shrunk[value]
            rows.append((value, *(cells.get(name) for name in columns), shrunk))
    return Table(
        title=f"boards by {column}",
        columns=(
            Column(column, "the segment of the board"),
            *columns.values(),
            Column("shrunk gap", "the gap, shrunk towards the agent's mean over all segments"),
        ),
        rows=tuple(rows),
    )
