"""How a match ended: the words that logs use, and what they mean.

An outcome is the share of the point that the first agent takes: 1 a win, 0 a loss, 0.5 a draw.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._text import find_closest, listed, number_of, shortened
from nashboard.data.table.columns import AGENT_WORDS, BESIDE_AGENTS, OPPOSITES, find_side_words, split_words
from nashboard.data.table.values import find_number
from nashboard.errors import InputError

# What a label means can be given by the user: a share in [0, 1], or None to leave such rows out.
Rules = Mapping[Any, float | None]

SKIP = {"bad_rows": "skip"}  # the option that leaves out rows which cannot be used

FIRST_WINS = ("win", "won", "w", "1-0", "1", "true", "yes", "leftvote", "a>b", "a>>b", "b<a", "b<<a", "[[a]]")
SECOND_WINS = (
    "loss", "lost", "lose", "l", "0-1", "0", "false", "no", "rightvote", "b>a", "b>>a", "a<b", "a<<b", "[[b]]"
)  # fmt: skip
DRAWN = (
    "tie", "draw", "drawn", "tied", "d", "1/2-1/2", "½-½", "1/2", "½", "0.5", "0.5-0.5", "equal", "tievote", "bothbad",
    "bothgood", "bothbad_vote", "no preference", "no difference", "jigo", "a=b", "b=a", "[[c]]",
)  # fmt: skip
SIDE_WORDS = {side: share for pair in OPPOSITES[:10] for side, share in zip(pair, (1.0, 0.0), strict=True)}
WORDS = dict.fromkeys(FIRST_WINS, 1.0) | dict.fromkeys(SECOND_WINS, 0.0) | dict.fromkeys(DRAWN, 0.5)
WORDS |= {side: share for side, share in SIDE_WORDS.items() if side.isalpha()}
WORDS |= {
    f"{agent}_{side}": SIDE_WORDS[side]
    for agent in ("model", "agent", "player", "team", "competitor", "generator")
    for side in "ab12"
}
UNFINISHED = "*"  # as PGN writes an open result
NOT_PLAYED = frozenset((  # such matches are left out and counted, unless a rule says otherwise
    UNFINISHED, "nc", "no_contest", "no_result", "nr", "n/r", "abandoned", "cancelled", "canceled", "postponed", "void",
))  # fmt: skip
MOST_SHARES = 1000  # different shares of a point in one column of labels; each is a term of the counting query
# A label may say the side with other words: ``model_a``, ``Assistant B wins``, ``both bad``, ``Response 1 is better``.
BESIDE_SIDE = AGENT_WORDS | BESIDE_AGENTS | frozenset((
    "option", "wins", "won", "win", "is", "better", "much", "slightly", "significantly", "somewhat", "clearly",
))  # fmt: skip
BESIDE_DRAW = frozenset((
    "tie", "tied", "draw", "drawn", "both", "bad", "good", "bothbad", "bothgood", "equal", "equally", "same", "similar",
    "neither", "vote", "about", "the",
))  # fmt: skip
GO = re.compile(r"([bw])\+.*")  # how SGF writes who won, and by how much: B+R, W+3.5
TWO_NUMBERS = re.compile(r"(\d{1,3}) ?[-–:] ?(\d{1,3})")  # what the two sides scored
DASH = re.compile(r"(?<=[\d½]) ?[-–:] ?(?=[\d½])")  # between two results: 1 - 0, 1:0
NAMED = [
    word for word in WORDS if re.fullmatch("[a-z_12]+", word) and word not in SIDE_WORDS
]  # what a label may be a slip of
ALLOWED = "model_a, model_b, tie, the winner's name, 1-0, 0-1, 1/2-1/2 or 0 to 1"
MOST_COMPARED = 1000  # labels that a misspelt one is compared with: those of winners' names are many


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What the labels of a log mean. A missing outcome is the empty label."""

    outcomes: dict[str, float]
    ignored: tuple[str, ...] = ()
    by_name: bool = False  # the label is the winner's own name, and only draws and rules stand in `outcomes`

    @property
    def fractions(self) -> list[float]:
        """The outcomes that are neither a win, a draw nor a loss, but another share of the point."""
        return sorted(set(self.outcomes.values()) - {0.0, 0.5, 1.0})

    def labels(self, *, low: float, high: float) -> list[str]:
        """Return the raw labels whose outcome lies in [low, high]."""
        return [label for label, outcome in self.outcomes.items() if low <= outcome <= high]

    def describe(self, a: str, b: str) -> str:
        """Return which labels mean what, of matches between the agents of two columns."""
        wins = {1.0: f"{shortened(a)} wins", 0.5: "half a win each", 0.0: f"{shortened(b)} wins"}
        shares = {share: self.labels(low=share, high=share) for share in (1.0, 0.0, 0.5, *self.fractions[:3])}
        parts = ["the winner's own name"] if self.by_name else []
        parts += [
            f"{listed(labels)}: {wins.get(share, f'{share:g} of the point to {shortened(a)}')}"
            for share, labels in shares.items()
            if labels
        ]
        parts += [f"{len(self.fractions) - 3:,} more shares of the point"] if len(self.fractions) > 3 else []
        return "; ".join([*parts, *([f"{listed(self.ignored)}: left out"] if self.ignored else [])])


def fold_label(label: str) -> str:
    """Return a label without case and spare white space; numbers as the shortest text."""
    text = DASH.sub("-", " ".join(label.casefold().split()))
    number = find_number(text)
    return text if number is None else repr(number + 0.0)


def fold_loosely(word: str) -> str:
    """Return a folded label with spaces, underscores and hyphens alike: ``both bad`` is ``both_bad``, ``1-0`` stays."""
    return re.sub(r"[ _-]+", "_", word) if re.search(r"[^\W\d_]", word) else word


KNOWN = {fold_label(word): outcome for word, outcome in WORDS.items()}
ZERO_OR_ONE = {fold_label("0"), fold_label("1")}
PLACES = {"winner", "choice", "chosen", "preferred"}  # last words of columns that say which one, perhaps by its number
RESULTS = {"outcome", "result", "score", "win", "won"}  # words of columns that say what the first agent took


def check_rules(rules: Rules | None) -> dict[str, float | None]:
    """Return the user's own rules by folded label, checked."""
    for label, outcome in (rules or {}).items():
        if outcome is not None and not 0 <= outcome <= 1:
            raise InputError(
                f"outcomes= gives {label!r} the value {outcome!r}: use a number in [0, 1], or None to leave out"
            )
    return {fold_label("" if label is None else str(label)): outcome for label, outcome in (rules or {}).items()}


@dataclass(frozen=True, kw_only=True)
class SeenLabel:
    """A label as it stands in a log, whether it is the name of the first or second agent there, and how often."""

    label: str
    is_first: bool
    is_second: bool
    rows: int

    def by_name(self, side: float | None) -> float | None:
        """Return the outcome if the label is the winner's own name, or the usual word for a draw."""
        return 1.0 if self.is_first else 0.0 if self.is_second else 0.5 if side == 0.5 else None


@dataclass(frozen=True, kw_only=True)
class Question:
    """The columns that a vocabulary is about, and the table they stand in."""

    a: str
    b: str
    outcome: str
    source: str
    skippable: bool = False  # bad rows can be skipped, so that a message may say so
    certain: bool = False  # a format has worked the outcome out: it cannot be the name of an agent
    where: Callable[["Unknown", str], str] = lambda unknown, label: ""  # the first row with an unknown label, in words

    @property
    def numbered(self) -> bool:
        """Whether the sides are numbered from 0, as ``player_0`` and ``player_1`` are, and the outcome is no result."""
        words = find_side_words((self.a, self.b)) or find_side_words((self.b, self.a))
        return words == ("0", "1") and not self.certain and not RESULTS & {*split_words(self.outcome)}

    @property
    def may_name_places(self) -> bool:
        """Whether 0 and 1 may be the first and the second agent, and not what the first agent took."""
        return self.numbered or (not self.certain and not PLACES.isdisjoint(split_words(self.outcome)[-1:]))

    def are_places(self, seen: Sequence["SeenLabel"]) -> bool:
        """Return whether 0 and 1 are, or may be, the first and the second agent: no other label is a number."""
        words = {fold_label(entry.label) for entry in seen if not (entry.is_first or entry.is_second)}
        numbers = {word for word in words if find_number(word) is not None}
        return numbers <= ZERO_OR_ONE if self.numbered and numbers else self.may_name_places and numbers == ZERO_OR_ONE

    def sides(self, seen: Sequence["SeenLabel"] = ()) -> dict[str, float]:
        """Return what the names of the two agent columns mean as labels, their words for the sides and first letters.

        ``H`` and ``A`` are home and away where no other letters are among the labels, 2 is the second agent of
        ``player_1`` and ``player_2`` where no label is 0, and 0 the first of ``player_0`` and ``player_1`` where no
        other label is a number.
        """
        names = {fold_label(self.a): 1.0, fold_label(self.b): 0.0}
        words, turned = find_side_words((self.a, self.b)), find_side_words((self.b, self.a))
        first, second = words or (turned[::-1] if turned else ("", ""))
        labels = {fold_label(entry.label) for entry in seen}
        if (first, second) in (("1", "2"), ("one", "two")):
            return names | ({} if fold_label("0") in labels else {fold_label("1"): 1.0, fold_label("2"): 0.0})
        if self.numbered and self.are_places(seen):
            return names | {fold_label(first): 1.0, fold_label(second): 0.0}
        if first == "home" and {"x", fold_label("2")} <= labels:  # of betting: 1 home, x draw, 2 away
            names |= {fold_label("1"): 1.0, "x": 0.5, fold_label("2"): 0.0}
        if len(first) < 2:
            return names
        letters = {first[0]: 1.0, second[0]: 0.0}
        others = {label for label in labels if len(label) == 1 and label.isalpha()} - {*letters, "d", "t", "n"}
        return ({} if others else letters) | {first: 1.0, second: 0.0} | names


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Labels that nobody knows, and in how many rows; ``by_name``: in rows where they name neither of the agents."""

    rows: dict[str, int]
    by_name: bool

    def covers(self, entry: SeenLabel) -> bool:
        """Return whether rows with this label cannot be used."""
        return entry.label in self.rows and not (self.by_name and (entry.is_first or entry.is_second))


def find_meaning(label: str, sides: Mapping[str, float]) -> float | None:
    """Return the outcome that a label stands for, if it says which side won or is a number in [0, 1]."""
    word = fold_label(label)
    number = find_number(word)
    share = number if number is not None and 0 <= number <= 1 else None
    return sides[word] if word in sides else KNOWN.get(word, share)


def find_loose_meaning(label: str, sides: Mapping[str, float]) -> float | None:
    """Return the outcome that a label stands for by its words, among others that change nothing."""
    word = fold_loosely(fold_label(label))
    found = {outcome for side, outcome in sides.items() if fold_loosely(side) == word}
    if found:
        return found.pop() if len(found) == 1 else None
    if (go := GO.fullmatch(word)) and "black" in sides:
        return sides["black" if go[1] == "b" else "white"]
    words = split_words(label)
    if words and set(words) <= BESIDE_DRAW:
        return 0.5
    rest = [one for one in words if one not in BESIDE_SIDE]
    return SIDE_WORDS.get(rest[0]) if len(rest) == 1 and "_".join(words) == word else None


def compare_numbers(label: str) -> float | None:
    """Return the outcome of a label such as ``4-1`` that says what the two sides scored."""
    found = TWO_NUMBERS.fullmatch(label.strip())
    return None if found is None else 0.5 + 0.5 * float(np.sign(int(found[1]) - int(found[2])))


def learn_vocabulary(
    seen: Sequence[SeenLabel], rules: Mapping[str, float | None], asked: Question, skipped: list[Unknown] | None = None
) -> Vocabulary:
    """Learn what the labels of a log mean; a label that nobody knows is an error, or goes to ``skipped``.

    Labels say either which side won, or the winner's own name. Where both readings fit and contradict each
    other (agents called ``a`` and ``b``, say) nothing is guessed.
    """
    refuse_ambiguous(seen, rules, asked)
    refuse_unclear_places(seen, rules, asked)
    sides = asked.sides(seen)
    scored = any(
        (found := TWO_NUMBERS.fullmatch(entry.label.strip())) and max(found[1], found[2]) > "1" for entry in seen
    )
    outcomes: dict[str, float] = {}
    ignored: dict[str, None] = {}
    not_sides: dict[str, int] = {}
    not_names: dict[str, int] = {}
    agents = {entry.label for entry in seen if entry.is_first or entry.is_second}
    for entry in seen:
        label, word = entry.label, fold_label(entry.label)
        if word in rules:
            rule = rules[word]
            if rule is None:
                ignored[label] = None
            else:
                outcomes[label] = rule
            continue
        if label not in agents and (fold_loosely(word) in NOT_PLAYED or (scored and not word)):
            ignored[label] = None
            continue
        side = find_meaning(label, sides)
        if side is None and label not in agents:  # an agent may be called Player 1
            side = find_loose_meaning(label, sides)
        if side is None and scored:  # 0-0 is no chess result beside 4-1
            side = compare_numbers(label)
        name = entry.by_name(side)
        if side is None:
            not_sides[label] = not_sides.get(label, 0) + entry.rows
        else:
            outcomes[label] = side
        if name is None:
            not_names[label] = not_names.get(label, 0) + entry.rows
    if len(set(outcomes.values())) > MOST_SHARES:
        raise InputError(
            f"{asked.source!r}, column {asked.outcome!r} mixes labels with more than {MOST_SHARES} different numbers: "
            f"turn it into numbers in [0, 1] first"
        )
    if not not_sides:
        return Vocabulary(outcomes=outcomes, ignored=tuple(ignored))
    if not not_names:
        drawn = {label: x for label, x in outcomes.items() if fold_label(label) in rules or x == 0.5}
        return Vocabulary(outcomes=drawn, ignored=tuple(ignored), by_name=True)
    by_name = sum(not_names.values()) < sum(not_sides.values())
    unknown = Unknown(rows=not_names if by_name else not_sides, by_name=by_name)
    if skipped is not None:
        skipped.append(unknown)
        return learn_vocabulary([entry for entry in seen if not unknown.covers(entry)], rules, asked)
    if by_name and (absent := [label for label in not_names if label in agents]):
        raise describe_absent_winners(absent, unknown, asked)
    raise describe_unknown(unknown, asked, sides=sides, known=outcomes)


def find_idle_rules(rules: Rules, seen: Sequence[SeenLabel]) -> list[str]:
    """Return the labels that have a rule, but no row."""
    words = {fold_label(entry.label) for entry in seen}
    labels = ["" if label is None else str(label) for label in rules]
    return [label for label in labels if fold_label(label) not in words]


def describe_idle_rule(label: str, rules: Rules, seen: Sequence[SeenLabel], *, rows: str) -> str:
    """Return the note about a rule for a label that no row has: it may be misspelt."""
    ruled = {fold_label(str(other)) for other in rules}
    others = {entry.label for entry in seen if fold_label(entry.label) not in ruled}
    near = None if is_number(label) or len(others) > MOST_COMPARED else find_closest(label, others)
    meant = "" if near is None else f" (did you mean {shortened(near)!r}?)"
    what = f"has the label {shortened(label)!r}" if label else "is without an outcome"
    return f"no {rows} {what}{meant}: the rule for it changes nothing"


def refuse_ambiguous(seen: Sequence[SeenLabel], rules: Mapping[str, float | None], asked: Question) -> None:
    """Raise an error where all labels can be read as sides and as names, and the two readings differ."""
    if asked.certain:
        return
    sides = asked.sides(seen)
    both = [
        (side := find_meaning(entry.label, sides), entry.by_name(side), entry.label)
        for entry in seen
        if fold_label(entry.label) not in rules
    ]
    torn = [label for side, name, label in both if side != name]
    if torn and all(side is not None and name is not None for side, name, _ in both):
        raise InputError(
            f"{asked.source!r}, column {asked.outcome!r} is ambiguous: {torn[0]!r} may be a side or the name of an "
            f"agent",
            hint="rename the agents, or say which side won with a rule such as {option}",
            option={"outcomes": {torn[0]: 1}},
        )


def refuse_unclear_places(seen: Sequence[SeenLabel], rules: Mapping[str, float | None], asked: Question) -> None:
    """Raise an error where winners called 0 and 1 may be places, or what the first agent took."""
    known = asked.sides(seen).keys() | rules.keys()
    if asked.are_places(seen) and not asked.numbered and not ZERO_OR_ONE & known:
        raise InputError(
            f"{asked.source!r}, column {asked.outcome!r} is ambiguous: 0 and 1 may be the first and the second agent, "
            f"or a loss and a win of the first",
            hint="say which with a rule such as {option}",
            option={"outcomes": {"0": 1, "1": 0}},
        )


def describe_absent_winners(absent: Sequence[str], unknown: Unknown, asked: Question) -> InputError:
    """Return the error for winners who play elsewhere, but not in the row that names them."""
    shown = ", ".join(
        f"{shortened(label)!r} in {number_of(n, 'rows')}{describe_first(asked.where(unknown, label), n)}"
        for label, n in ((label, unknown.rows[label]) for label in absent[:2])
    )
    more = f" and {len(absent) - 2:,} more" if len(absent) > 2 else ""
    return InputError(
        f"{asked.source!r}, column {asked.outcome!r} names a winner who did not play there: {shown}{more}",
        hint="leave such rows out with {option}" if asked.skippable else None,
        option=SKIP if asked.skippable else None,
    )


def describe_unknown(
    unknown: Unknown, asked: Question, sides: Mapping[str, float], known: Mapping[str, float]
) -> InputError:
    """Return the error for labels that nobody knows, with how many rows have each, and where."""
    labels, column, source = unknown.rows, asked.outcome, asked.source

    def where(label: str) -> str:
        return asked.where(unknown, label)

    by_count = sorted(labels.items(), key=lambda item: (-item[1], item[0]))
    numbers = all(is_number(label) for label in labels)
    what = f"{source!r}, column {column!r} has {'a number outside [0, 1]' if numbers else 'an unknown outcome'}"
    words = {label: None if is_number(label) else find_closest(label, [*sides, *NAMED]) for label in labels}
    shown = ", ".join(
        f"{repr(shortened(label)) if label else 'nothing'} in {number_of(n, 'rows')}{describe_first(where(label), n)}"
        + (f" (did you mean {word!r}?)" if (word := words[label]) else "")
        for label, n in by_count[:2]
    )
    more = f" and {number_of(len(labels) - 2, 'more labels')}" if len(labels) > 2 else ""
    allowed = "" if words[by_count[0][0]] else f"; allowed are {ALLOWED}"
    if asked.certain:  # the column is no label, and rules have no meaning for it
        return InputError(f"{what}: {shown}{more}", "leave such rows out with {option}", SKIP)
    first = by_count[0][0]
    near = words[first]
    said = None if near is None else find_meaning(near, sides)
    is_sign = first != "" and not re.search(r"\w", first)  # a bye or a forfeit, such as + and -/+
    share = None if is_sign else 0.5 if said is None else said
    hint, rule = advise_first_and_second(labels, known) or (
        ("divide by the largest, or " if numbers else "") + "pass a rule such as {outcomes}",
        {first: share},
    )
    option: dict[str, Any] = {
        "outcomes": {shortened(label): int(meant) if meant in (0, 1) else meant for label, meant in rule.items()}
    }
    if asked.skippable:
        hint += ", or leave such rows out with {bad_rows}"
        option |= SKIP
    return InputError(f"{what}: {shown}{more}{allowed}", hint, option)


def describe_first(row: str, count: int) -> str:
    """Return where the only one or the first of some rows is."""
    return f" ({'first in ' * (count > 1)}{row})" if row else ""


def advise_first_and_second(
    labels: Mapping[str, int], known: Mapping[str, float]
) -> tuple[str, dict[str, float | None]] | None:
    """Return hint and rule for outcomes 1 and 2, or 1 and -1, which probably say who won; None for others."""
    ones = [label for label in known if is_number(label) and float(label) == 1]
    noughts = [label for label in known if is_number(label) and float(label) == 0]
    if len(labels) > 1 or len(ones) != 1 or find_number(next(iter(labels))) not in (2.0, -1.0):
        return None
    said: dict[str, float | None] = {ones[0]: 1.0, next(iter(labels)): 0.0, **dict.fromkeys(noughts[:1], 0.5)}
    drawn = f", and {noughts[0]} that neither did" if noughts else ""
    first, second = ones[0], next(iter(labels))
    return f"if {first} and {second} say that the first or the second agent won{drawn}, pass {{outcomes}}", said


def is_number(label: str) -> bool:
    """Return whether a label is a number."""
    return find_number(label) is not None
