"""Small pieces of text for messages: counts with the right plural, lists of names, close matches, shortened names."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LONGEST_WORD = 200  # comparing words takes the square of their length
IRREGULAR = {"people": "person", "series": "series", "species": "species"}


def plural(count: float, thing: str) -> str:
    """Return the word for so many: ``plural(2, "row")`` is ``rows``. A word that is plural already is accepted.

    >>> plural(1, "matches"), plural(3, "match"), plural(1, "policies"), plural(0, "copy"), plural(1, "people")
    ('match', 'matches', 'policy', 'copies', 'person')
    """
    before, space, word = thing.rpartition(" ")
    one = IRREGULAR.get(word) or re.sub(r"(?<=(?:ss|ch|sh))es$|(?<=x)es$|(?<!s)s$", "", re.sub(r"ies$", "y", word))
    several = {one: many for many, one in IRREGULAR.items()}.get(one) or (
        re.sub(r"(?<![aeiou])y$", "ie", one) + ("es" if re.search(r"(s|x|ch|sh)$", one) else "s")
    )
    return before + space + (one if count == 1 else several)


def round_count(count: int) -> int:
    """Return an estimated count rounded to two digits: ``round_count(46030)`` is 46000."""
    return round(count, 2 - len(str(count))) if count > 99 else count


def number_of(count: int, things: str) -> str:
    """Return ``1 row`` or ``1,401 rows``."""
    return f"{count:,} {plural(count, things)}"


def rows_have(count: int, things: str = "rows") -> str:
    """Return ``1 row has`` or ``1,401 rows have``."""
    return f"{number_of(count, things)} {'have' if count != 1 else 'has'}"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known word most similar to this one, or an empty text."""
    close = find_closest(word, known)
    return "" if close is None else f" (did you mean {shortened(close)!r}?)"


def find_closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most similar to this one, if any is similar."""
    if len(word) > LONGEST_WORD:
        return None
    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def shortened(text: str, most: int = 60) -> str:
    """Return a text of at most ``most`` characters; the middle of a longer one becomes an ellipsis."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - (most - 1) // 2 :]}"


def quote_spaces(name: str) -> str:
    """Return a name for a sentence, quoted where spaces at its ends would be lost."""
    return name if name == name.strip() else repr(name)


def shorten_to(name: str, most: int, head: int) -> str:
    """Return a name of at most ``most`` characters, ``head`` of them before the ellipsis."""
    return name if len(name) <= most else f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def distinct_head(names: Sequence[str], most: int) -> int:
    """Return how many characters a long name keeps before its ellipsis: half, unless that makes names look alike."""
    heads = sorted(range(4, most - 4), key=lambda head: (abs(head - most // 2), head))
    long = [name for name in names if len(name) > most]
    return max(heads, key=lambda head: len({shorten_to(name, most, head) for name in long}), default=most // 2)


def either(names: Iterable[object]) -> str:
    """Return ``'a', 'b' or 'c'``: the allowed values."""
    *most, last = [repr(name) for name in names]
    return f"{', '.join(most)} or {last}" if most else last


def listed(names: Iterable[object], most: int = 5) -> str:
    """Return ``'a', 'b', 'c' and 4 more``: at most ``most`` quoted names for a message."""
    quoted = [repr(shortened(name) if isinstance(name, str) else name) for name in names]
    if len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most:,} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def first_line(error: BaseException) -> str:
    """Return the first line of another library's error message."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
