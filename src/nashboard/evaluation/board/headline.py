"""The headline: who is first, or who may be; the first sentence of the verdict, and its short form."""

from nashboard._text import listed, quote_spaces, shortened
from nashboard.evaluation.board.board import Board

NAMED = 5  # candidates named in the headline
LIKELY = 0.5  # P(top) from which the only candidate is called "probably first": below it no agent is
SURE = 0.95  # P(top) from which an agent is called first, or shares first place
MENTIONED = 0.05  # others are named from this probability on


def headline(board: Board) -> str:
    """Return who is first, or who may be; copies and pooled entries have one name."""
    chances = collect_chances(board)
    if len(chances) == 1 and len(board.names) > 1:
        return f"All {len(board.names):,} {board.call} are equivalent: nothing in these data separates them."
    first = {name: p for name, p in chances.items() if p >= LIKELY}
    if board.exact:
        if len(first) == 1:
            return f"{next(iter(first))} is first: it is the only member of the equilibrium."
        return f"{format_share(len(first), board)} share first place: {listed(list(first), NAMED)}."
    if len(first) > 1:
        more = {name: p for name, p in chances.items() if MENTIONED <= p < LIKELY}
        return describe_shared(first, board) + (f" Next {name_next(more)}." if more else "")
    leader = find_leader(chances)
    others = {name: p for name, p in chances.items() if name != leader and p >= MENTIONED}
    rest = [p for name, p in chances.items() if name != leader and name not in others]
    below = (
        f" All other {board.call} are below {round(max(rest), 2) + 0.01:.2f}." if others and rest else ""
    )  # as it is shown
    if leader is None:
        named = others or dict(list(chances.items())[:NAMED])
        return f"First place is undecided: the candidates are {name_candidates(named)}.{below}"
    following = f"; next {name_next(others)}" if others else ""
    return f"{leader} is {describe_chance(chances[leader])} (P = {chances[leader]:.2f}){following}.{below}"


def describe_first(board: Board) -> str:
    """Return who is first in a few words, as certain as the headline."""
    chances = collect_chances(board)
    first = [p for p in chances.values() if p >= LIKELY]
    if len(chances) == 1 < len(board.names):
        return f"All {len(board.names):,} {board.call} are equivalent"
    if len(first) > 1 and sum(p >= SURE for p in first) != 1:
        sure = [p for p in first if p >= SURE]
        return f"{len(sure or first):,} {board.call} {'' if sure else 'may '}share first place"
    leader = next(iter(chances)) if len(first) > 1 else find_leader(chances)
    if leader is None:
        return "First place is undecided"
    chance = "" if chances[leader] >= SURE else f" (P = {chances[leader]:.2f})"
    return f"{shortened(leader, 40)} is {describe_chance(chances[leader])}{chance}"


def describe_shared(first: dict[str, float], board: Board) -> str:
    """Return who shares first place, and who may, if several are at the top with a probability of at least 1/2."""
    sure = {name: p for name, p in first.items() if p >= SURE}
    likely = {name: p for name, p in first.items() if p < SURE}
    if not sure:
        return f"{format_share(len(first), board)} may share first place: {name_candidates(first)}."
    open_end = f" {name_candidates(likely)} may share it." if likely else ""
    if len(sure) == 1:
        return f"{name_candidates(sure)} is first.{open_end}"
    return f"{format_share(len(sure), board)} share first place: {name_candidates(sure)}.{open_end}"


def collect_chances(board: Board) -> dict[str, float]:
    """Return P(top) by class, the likeliest first; a class has the name of its first member."""
    members: dict[int, list[str]] = {}
    chance: dict[int, float] = {}
    for k in board.order:
        members.setdefault(int(board.classes[k]), []).append(board.names[k])
        chance[int(board.classes[k])] = float(board.probability_top[k])
    order = sorted(members, key=lambda label: -chance[label])
    return {name_class(sorted(members[label])): chance[label] for label in order}


def name_class(members: list[str]) -> str:
    """Return the name of entries that count once: ``a``, ``a = b``, or ``a and 3 copies``.

    >>> name_class(["a", "b"]), name_class(["a", "b", "c"])
    ('a = b', 'a and 2 copies')
    """
    shown = [quote_spaces(name) for name in members]
    return " = ".join(shown) if len(shown) < 3 else f"{shown[0]} and {len(shown) - 1:,} copies"


def find_leader(chances: dict[str, float]) -> str | None:
    """Return the only name with P(top) of at least `LIKELY`; of two names, one always has that, so `SURE` is needed."""
    first = [name for name, p in chances.items() if p >= (SURE if len(chances) == 2 else LIKELY)]
    return first[0] if len(first) == 1 else None


def describe_chance(p: float | None) -> str:
    """Return "first" or "probably first" for the only agent that is likely to be at the top, given P(top)."""
    return "first" if p is None or p >= SURE else "probably first"


def name_next(others: dict[str, float]) -> str:
    """Return the closest challengers, with the verb: ``is a (0.21)``."""
    return f"{'is' if len(others) == 1 else 'are'} {name_candidates(others, 3)}"


def name_candidates(chances: dict[str, float], most: int = NAMED) -> str:
    """Return the first few names with their probabilities, and the number of others: ``a (0.41) and b (0.33)``."""
    names = [f"{name} ({p:.2f})" for name, p in list(chances.items())[:most]]
    if len(chances) > most:
        names.append(f"{len(chances) - most:,} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def format_share(count: int, board: Board) -> str:
    """Return ``2 of 20 agents``, or ``All 3 agents``; copies count once."""
    size = len(set(board.classes.tolist()))
    once = ", copies counted once," * (size < len(board.names))
    return (f"All {size:,} {board.call}" if count == size else f"{count:,} of {size:,} {board.call}") + once
