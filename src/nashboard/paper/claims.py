"""What the paper claims beside what we find, and a part of the paper: its claims, tables and figures.

What was printed is literature and is read from ``claims.csv``; what we find is computed by the parts.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from nashboard._tables import Column, Table, number

if TYPE_CHECKING:
    import altair as alt


HOLDS = "holds"  # printed as a statement
PICTURE = "picture"  # printed as a picture, whose numbers the text does not give
EXACT = 1e-9  # of a statement or a fraction, which has no last digit

Verdict = Literal["equal", "different", "not printed"]


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What the paper says, and why ours is not the same where we know that it is not."""

    key: str
    where: str
    what: str
    printed: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """What we find, and how.

    ``value`` is a number to set beside a printed one; for a statement the largest error of a law, or whether
    something is so; or a symbol.
    """

    value: float | bool | str
    how: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the paper says beside what we find."""

    key: str
    where: str
    what: str
    printed: str
    value: float | bool | str
    how: str
    why: str

    @property
    def verdict(self) -> Verdict:
        """Equal to the printed digits, different, or nothing printed to compare with."""
        if self.printed == PICTURE:
            return "not printed"
        return "equal" if self.agrees() else "different"

    @property
    def equal(self) -> bool:
        """Whether ours is the printed number, to its printed digits, or the statement holds."""
        return self.verdict == "equal"

    def agrees(self) -> bool:
        """Compare."""
        if isinstance(self.value, bool):
            return self.value and self.printed == HOLDS
        if isinstance(self.value, str):
            return self.value == self.printed
        if self.printed == HOLDS:
            return self.value <= EXACT
        return abs(self.value - float(Fraction(self.printed))) <= half_digit(self.printed)

    @property
    def ours(self) -> str:
        """What we find, as people read it: with two more digits than were printed."""
        if isinstance(self.value, str):
            return self.value
        if self.printed == HOLDS:
            if self.agrees():
                return HOLDS
            return "does not hold" if isinstance(self.value, bool) else f"off by {self.value:.3g}"
        return number(float(self.value), shown_decimals(self.printed, float(self.value)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "key": self.key,
            "where": self.where,
            "what": self.what,
            "printed": self.printed,
            "ours": self.ours,
            "verdict": self.verdict,
            "how": self.how,
            "why": self.why if self.verdict == "different" else "",
        }


def decimals(printed: str) -> int:
    """Return how many digits stand after the point."""
    return len(printed.partition(".")[2])


def half_digit(printed: str) -> float:
    """Return half a unit of the last printed digit; a fraction is exact. The last bit of a float is forgiven."""
    return EXACT if "/" in printed else 0.5 * 10.0 ** -decimals(printed) + 1e-12


def shown_decimals(printed: str, value: float) -> int:
    """Return how many decimals of ours to show: none of a whole number beside a whole number."""
    if "/" in printed:
        return 4
    if decimals(printed) == 0:
        return 0 if value == round(value) else 2
    return decimals(printed) + 2


def literature() -> tuple[Printed, ...]:
    """Return everything that the paper claims, in its order."""
    text = files(__package__).joinpath("claims.csv").read_text(encoding="utf-8")
    return tuple(Printed(**row) for row in csv.DictReader(text.splitlines()))


def matched(found: Mapping[str, Found]) -> tuple[Claim, ...]:
    """Set what we find beside what was printed; both sides must speak of the same claims."""
    said = literature()
    keys = {claim.key for claim in said}
    if keys != set(found):
        raise ValueError(f"claims without an answer, or answers without a claim: {sorted(keys ^ set(found))}")
    return tuple(
        Claim(
            key=claim.key,
            where=claim.where,
            what=claim.what,
            printed=claim.printed,
            value=found[claim.key].value,
            how=found[claim.key].how,
            why=claim.why,
        )
        for claim in said
    )


def error(*differences: ArrayLike) -> float:
    """Return the largest absolute entry of all arguments: by how much a law is missed."""
    return max(float(np.abs(np.asarray(difference, dtype=np.float64)).max(initial=0.0)) for difference in differences)


def claims_table(claims: Iterable[Claim], title: str = "") -> Table:
    """Return the paper's number beside ours."""
    return Table(
        title=title,
        columns=(
            Column(name="where", meaning="where in the paper"),
            Column(name="what"),
            Column(name="paper", meaning="as printed"),
            Column(name="ours", meaning="computed from bundled data"),
            Column(name="verdict", meaning="equal to the printed digits, or not"),
            Column(name="how", meaning="how ours was computed"),
            Column(name="why", meaning="why they differ"),
        ),
        rows=tuple(
            (c.where, c.what, c.printed, c.ours, c.verdict, c.how, c.why if c.verdict == "different" else "")
            for c in claims
        ),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """A chart, and what it shows."""

    chart: "alt.Chart | Any"
    caption: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One part of the paper; tables and figures by the name of their file."""

    title: str
    words: str
    found: dict[str, Found]
    tables: dict[str, Table] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
