"""Who is first, or who may be: the first sentence of the verdict, and its short form."""

from math import floor

from nashboard._text import listed, shortened
from nashboard.evaluation.board.board import Board

NAMED = 5  # candidates named in the headline
LIKELY = 0.5  # nobody is called first below this probability
SURE = 0.95  # several agents are said to share first place from this probability of each on
STRONG = SURE / (1 - SURE)  # times its odds before any data: what the odds of the only agent called first must be
MENTIONED = 0.05  # others are named from this probability on


def headline(board: Board) -> str:
    """Return who is first, or who may be; copies and pooled entries have one name."""
    chances = class_chances(board)
    if len(chances) == 1 and len(board.names) > 1:
        return f"All {len(board.names):,} {board.call} are equivalent: nothing in these data separates them."
    first = likely_first(chances)
    if board.exact:
        if len(first) == 1:
            return f"{next(iter(first))} is first: it is the only member of the equilibrium."
        return f"{share_of(len(first), len(chances), board.call)} share first place: {listed(list(first), NAMED)}."
    leader = first or probably_first(chances)
    others = {name: p for name, p in chances.items() if name not in leader and p >= MENTIONED}
    rest = [p for name, p in chances.items() if name not in leader and name not in others]
    below = f" Everybody else is below {floor(100 * max(rest) + 1) / 100:.2f}." if others and rest else ""
    if not leader:
        named = others or dict(list(chances.items())[:NAMED])
        return f"First place is undecided: the candidates are {name_most(named)}.{below}"
    if len(first) > 1:
        return shared_headline(first, len(chances), board.call)
    name, p = next(iter(leader.items()))
    probably = "" if first else "probably "
    if not others:
        return f"{name} is {probably}first {f'(P = {p:.2f})' if p >= SURE else f'with P = {p:.2f}'}."
    following = f"next {'is' if len(others) == 1 else 'are'} {name_most(others, 3)}"
    return f"{name} is {probably}first with P = {p:.2f}; {following}.{below}"


def describe_first(board: Board) -> str:
    """Return who is first in a few words, no surer than the headline."""
    chances = class_chances(board)
    first = likely_first(chances)
    leader = first or probably_first(chances)
    if len(chances) == 1 < len(board.names):
        return f"All {len(board.names):,} {board.call} are equivalent"
    if not leader:
        return "First place is undecided"
    if len(leader) == 1:
        name, p = next(iter(leader.items()))
        chance = "" if p >= SURE else f" with P = {p:.2f}"
        return f"{shortened(name, 40)} is {'' if first else 'probably '}first{chance}"
    may = "" if min(first.values()) >= SURE else "may "
    return f"{len(first):,} {board.call} {may}share first place"


def shared_headline(first: dict[str, float], size: int, call: str) -> str:
    """Return who shares first place, and who may, where several are at the top with a probability of at least 1/2."""
    sure = {name: p for name, p in first.items() if p >= SURE}
    likely = {name: p for name, p in first.items() if p < SURE}
    if not sure:
        return (
            f"{len(first):,} of {size:,} {call} are at the top with a probability of at least 1/2: "
            f"{name_most(first)}. Whether they share first place is undecided."
        )
    open_end = f" {name_most(likely)} may share it." if likely else ""
    if len(sure) == 1:
        return f"{name_most(sure)} is first.{open_end}"
    return f"{share_of(len(sure), size, call)} share first place: {name_most(sure)}.{open_end}"


def class_chances(board: Board) -> dict[str, float]:
    """Return P(top) by class, the likeliest first; a class has the name of its first member."""
    members: dict[int, list[str]] = {}
    chance: dict[int, float] = {}
    for k in board.order:
        members.setdefault(int(board.classes[k]), []).append(board.names[k])
        chance[int(board.classes[k])] = float(board.probability_top[k])
    order = sorted(members, key=lambda label: -chance[label])
    return {
        min(members[label]) + f" and {len(members[label]) - 1:,} alike" * (len(members[label]) > 1): chance[label]
        for label in order
    }


def likely_first(chances: dict[str, float]) -> dict[str, float]:
    """Return those who are called first.

    The only one must also have odds of `STRONG` times 1 to n - 1, those of each of n agents before any data: of few
    agents one has a probability of 1/2 by luck, of two always.
    """
    first = {name: p for name, p in chances.items() if p >= LIKELY}
    if len(first) == 1 < len(chances) and max(first.values()) < probability_needed(len(chances)):
        return {}
    return first


def probably_first(chances: dict[str, float]) -> dict[str, float]:
    """Return the only one with P(top) of at least 1/2 where nobody is called first; of two one always has that."""
    leader = {name: p for name, p in chances.items() if p >= LIKELY}
    return leader if len(leader) == 1 and len(chances) > 2 else {}


def probability_needed(agents: int) -> float:
    """Return from which P(top) on the only candidate is first without "probably": 0.95 of 2 agents, 0.83 of 5, 1/2
    from 20 on.
    """
    odds = STRONG / (agents - 1)
    return max(odds / (1 + odds), LIKELY)


def name_most(chances: dict[str, float], most: int = NAMED) -> str:
    """Return the first few names with their probabilities, and how many more there are: ``a (0.41) and b (0.33)``."""
    said = [f"{name} ({p:.2f})" for name, p in list(chances.items())[:most]]
    if len(chances) > most:
        said.append(f"{len(chances) - most:,} more")
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def share_of(count: int, size: int, call: str) -> str:
    """Return ``2 of 20 agents``, or ``All 3 agents``."""
    return f"All {size:,} {call}" if count == size else f"{count:,} of {size:,} {call}"
