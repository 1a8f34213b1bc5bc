"""A part of the paper, reproduced: what we find for its claims, its tables and its figures."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nashboard._tables import Table
from nashboard.paper.claim import Found

if TYPE_CHECKING:
    import altair as alt


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
