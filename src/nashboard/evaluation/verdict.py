"""The verdict in a few sentences, and the warnings that belong to it."""

import numpy as np

from nashboard._text import listed
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.origin import CHOSEN
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.contributions import Mover
from nashboard.evaluation.stability import Stability

FEW = 100  # resamples below which the ends of intervals are rough
ENTRIES = {"agent": "agents", "task": "tasks"}


def headline(board: Board) -> str:
    """Say who is at the top."""
    top = board.top
    if len(top) == 1:
        return f"{top[0]!r} is first: nobody else does as well where it counts."
    return (
        f"{len(top):,} of {len(board.names):,} agents tie for first: {listed(top)}; among them there is no order by "
        f"Nash average, and they are listed by {board.second_name}, which is secondary."
    )


def compared_with(board: Board) -> str:
    """Say who the plain average puts first, and where that agent stands."""
    first = [k for k in range(len(board.names)) if board.uniform_ranks[k] == 1]
    names = listed([board.names[k] for k in first])
    if all(board.ranks[k] == 1 for k in first):
        return f"The uniform average puts {names} first, which Nash averaging puts at the top too."
    worst = max(board.ranks[k] for k in first)
    return f"The uniform average puts {names} first, which is place {worst:,} by Nash average."


def what_matters(board: Board) -> str:
    """Say how many agents (or tasks) carry the weight, and which."""
    inside = board.weights > 0
    totals = np.bincount(board.classes, board.weights)
    held = totals[totals > 0]
    effective = float(np.exp(-(held @ np.log(held))))
    heaviest = sorted(np.flatnonzero(inside), key=lambda k: (-round(float(board.weights[k]), 12), board.names[k]))
    names = [board.names[k] for k in heaviest]
    kind = ENTRIES[board.kind]
    return (
        f"{inside.sum():,} of {len(inside):,} {kind} {'carries' if inside.sum() == 1 else 'carry'} all the weight: "
        f"{listed(names)} (as diverse as {effective:.1f} equally important ones)."
    )


def sentences(
    board: Board, tasks: Board | None, movers: tuple[Mover, ...], stabilities: tuple[Stability, ...]
) -> tuple[str, ...]:
    """Return the verdict: who, against the usual order, what matters, how far to trust it."""
    said = [headline(board), compared_with(board), *(mover.sentence() for mover in distinct(movers))]
    said.append(what_matters(board if tasks is None else tasks))
    for found in stabilities:
        said.append(found.sentence())
    if stabilities:
        said.append(stabilities[0].competition())
    else:
        said.append("How far this can be trusted is not known: the data carry no counts, runs or standard errors.")
    return tuple(said)


def distinct(movers: tuple[Mover, ...]) -> tuple[Mover, ...]:
    """Return every agent's first entry only: what the uniform average and a rating agree on is said once."""
    first: dict[str, Mover] = {}
    for mover in movers:
        first.setdefault(mover.name, mover)
    return tuple(first.values())


def data_warnings(data: Matches | Scores | Payoffs) -> list[str]:
    """Return what to know about the data themselves."""
    said = [f"{sentence(str(left))}" for left in data.origin.left_out]
    said += [sentence(note) for note in data.origin.notes if not note.startswith(CHOSEN)]
    if isinstance(data, Matches):
        if data.unbeaten:
            said.append(
                f"{listed(data.unbeaten, 3)} never lost a game: strength without a loss is known from one side only."
            )
        alone = np.flatnonzero(data.games < 1.5)
        if alone.size:
            said.append(
                f"{alone.size:,} of {len(data.games):,} pairs met only once (or count as one game): such payoffs are "
                f"mostly noise."
            )
    return said


def counts_are_known(warnings: tuple[str, ...]) -> bool:
    """Say whether games were counted, by the warnings of an evaluation: win rates may come without counts."""
    return sentence(NO_COUNTS) not in warnings


def sentence(text: str) -> str:
    """Return a note as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def clone_warning(groups: tuple[tuple[str, ...], ...], kind: str) -> list[str]:
    """Say that identical agents or tasks were found and what was done."""
    if not groups:
        return []
    many = f"{len(groups):,} groups of {ENTRIES[kind]} are" if len(groups) > 1 else f"One group of {ENTRIES[kind]} is"
    return [
        f"{many} identical in all data ({listed(groups[0], 3)}{' first' if len(groups) > 1 else ''}): each group "
        f"counts once for Nash averages, and as often as entered for the uniform average and ratings."
    ]


def resampling_warning(n_resamples: int) -> list[str]:
    """Say that few resamples make rough ends."""
    return (
        [f"{n_resamples:,} resamples are few: the ends of intervals are rough below {FEW}."]
        if n_resamples < FEW
        else []
    )
