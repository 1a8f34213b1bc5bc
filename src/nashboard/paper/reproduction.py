"""The whole paper: its claims compared with our results, part by part, and the folder that ``nashboard paper`` writes.

The claims are read from ``claims.csv``; our results are computed by the parts, in the other files of this folder.
"""

import base64
import csv
import errno
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from nashboard._files import WRONG_NAME, write_text
from nashboard._tables import Column, Record, Table, as_csv, as_plain_text, format_number
from nashboard._version import __version__
from nashboard.charts.export import convert, make_spec
from nashboard.charts.export import save as save_chart
from nashboard.charts.theme import Theme
from nashboard.errors import InputError, WriteError

HOLDS = "holds"  # printed as a statement
PICTURE = "picture"  # printed as a picture, whose numbers the text does not give
EXACT = 1e-9  # of a statement or a fraction, which has no last digit

Verdict = Literal["equal", "different", "not printed"]


@dataclass(frozen=True, kw_only=True)
class PrintedClaim:
    """A claim of the paper, and the reason if our result is known to differ."""

    key: str
    where: str
    what: str
    printed: str
    why: str


@dataclass(frozen=True)
class Answer:
    """Our result for a claim, and how it was computed.

    ``value`` is a number to compare with a printed one; for a statement the largest error of a law or a truth value;
    or a symbol.
    """

    value: float | bool | str
    how: str


@dataclass(frozen=True, kw_only=True)
class Claim(PrintedClaim, Record):
    """A claim of the paper with our result."""

    value: float | bool | str
    how: str

    hidden = ("value",)
    computed = ("ours", "verdict")

    @property
    def verdict(self) -> Verdict:
        """Equal to the printed digits, different, or printed only as a picture."""
        if self.printed == PICTURE:
            return "not printed"
        return "equal" if self.agrees() else "different"

    def agrees(self) -> bool:
        """Return whether our result agrees with the printed one."""
        if isinstance(self.value, bool):
            return self.value and self.printed == HOLDS
        if isinstance(self.value, str):
            return self.value == self.printed
        if self.printed == HOLDS:
            return self.value <= EXACT
        return abs(self.value - float(Fraction(self.printed))) <= half_digit(self.printed)

    @property
    def ours(self) -> str:
        """Our result as text, with two more digits than were printed."""
        if isinstance(self.value, str):
            return self.value
        if self.printed == HOLDS:
            if self.agrees():
                return HOLDS
            return "does not hold" if isinstance(self.value, bool) else f"off by {self.value:.3g}"
        return format_number(float(self.value), choose_decimals(self.printed, float(self.value)))


def count_decimals(printed: str) -> int:
    """Return the number of digits after the point."""
    return len(printed.partition(".")[2])


def half_digit(printed: str) -> float:
    """Return half a unit of the last printed digit, plus rounding of floats; a fraction is exact."""
    return EXACT if "/" in printed else 0.5 * 10.0 ** -count_decimals(printed) + 1e-12


def choose_decimals(printed: str, value: float) -> int:
    """Return the number of decimals to print of our result: none if both numbers are whole."""
    if "/" in printed:
        return 4
    if count_decimals(printed) == 0:
        return 0 if value == round(value) else 2
    return count_decimals(printed) + 2


def read_claims() -> tuple[PrintedClaim, ...]:
    """Return all claims of the paper, in its order."""
    text = files(__package__).joinpath("claims.csv").read_text(encoding="utf-8")
    return tuple(PrintedClaim(**row) for row in csv.DictReader(text.splitlines()))


def match_claims(found: Mapping[str, Answer]) -> tuple[Claim, ...]:
    """Combine claims with our answers; both sides must have the same keys."""
    claims = read_claims()
    keys = {claim.key for claim in claims}
    if keys != set(found):
        raise ValueError(f"claims without an answer, or answers without a claim: {sorted(keys ^ set(found))}")
    return tuple(Claim(**vars(claim), value=found[claim.key].value, how=found[claim.key].how) for claim in claims)


def error(*differences: ArrayLike) -> float:
    """Return the largest absolute entry of all arguments: by how much a law is violated."""
    return max(float(np.abs(np.asarray(difference, dtype=np.float64)).max(initial=0.0)) for difference in differences)


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """A chart and its caption."""

    chart: Any
    caption: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One part of the paper; tables and figures by the name of their file."""

    title: str
    words: str
    answers: dict[str, Answer]
    tables: dict[str, Table] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)


# In the order of the paper: the file of this folder whose function ``NAME_part()`` computes the part, and a title.
PARTS = {
    "elo": ("ratings", "Elo (section 2.1)"),
    "algebra": ("algebra", "Hodge and Schur (sections 2.2, 3.1, 3.3)"),
    "go": ("ratings", "Go (section 3.2)"),
    "invariance": ("invariance", "Invariance (section 4.1)"),
    "continuity": ("invariance", "Continuity (section 4.1)"),
    "atari": ("suites", "Atari (section 4.2)"),
    "biased": ("invariance", "Biased averages and Elo (appendix A)"),
    "copies": ("invariance", "Copies (appendix C)"),
    "suites": ("suites", "Agents against tasks (appendix D)"),
    "update": ("ratings", "The update of mElo2 (appendix E)"),
    "geometry": ("algebra", "Lines and circles (appendix F)"),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reproduction(Record):
    """Every claim of the paper with our result, and the parts with their tables and figures."""

    claims: tuple[Claim, ...]
    parts: tuple[Part, ...]

    hidden = ("parts",)
    computed = ("summary",)

    def of(self, part: Part) -> tuple[Claim, ...]:
        """Return the claims that a part answers, in the order of the paper."""
        return tuple(claim for claim in self.claims if claim.key in part.answers)

    def count(self, verdict: str) -> int:
        """Return the number of claims with a verdict."""
        return sum(claim.verdict == verdict for claim in self.claims)

    @property
    def summary(self) -> str:
        """Return the result in a sentence."""
        return (
            f"{len(self.claims)} claims: {self.count('equal')} equal to the printed digits, "
            f"{self.count('different')} different, {self.count('not printed')} printed as pictures only."
        )

    def differences(self) -> Table:
        """Return the claims for which our result differs, with the reasons."""
        return Table.of(
            [claim for claim in self.claims if claim.verdict == "different"],
            Column("where"),
            Column("what", most=64),
            Column("paper", cell="printed"),
            Column("ours"),
            Column("why", most=400),
            title="Not as printed",
        )

    def table(self) -> Table:
        """Return every claim."""
        return Table.of(
            self.claims,
            Column("where", "where in the paper"),
            Column("what"),
            Column("paper", "as printed", cell="printed"),
            Column("ours", "computed from bundled data"),
            Column("verdict", "equal to the printed digits, or not"),
            Column("how", "how ours was computed"),
            Column("why", "why they differ"),
            title="Re-evaluating Evaluation: the paper's numbers beside ours",
        )

    def __repr__(self) -> str:
        return f"Reproduction({self.summary.rstrip('.')})"

    def __str__(self) -> str:
        return as_plain_text(self.differences()) + "\n" + self.summary


def list_parts() -> Iterator[tuple[str, Callable[[], Part]]]:
    """Return the name of each part and the function that computes it."""
    for name, (file, title) in PARTS.items():
        yield title, getattr(import_module(f"nashboard.paper.{file}"), f"{name}_part")


def reproduction(report: Callable[[str], object] = lambda _: None) -> Reproduction:
    """Compute every number, table and figure of the paper from bundled data.

    ``report`` is called with the name of each part before it is computed.
    """
    parts = []
    for title, part in list_parts():
        report(title)
        parts.append(part())
    return Reproduction(
        claims=match_claims({key: found for part in parts for key, found in part.answers.items()}), parts=tuple(parts)
    )


MARKS = {"equal": "=", "different": "≠", "not printed": "·"}


def write_folder(found: Reproduction, folder: str | Path, report: Callable[[str], object] = lambda _: None) -> Path:
    """Write figures (png and svg), tables and claims (csv and json), and the page ``index.html``.

    Returns the path of the page. Files of other names in the folder are not touched.
    """
    folder = prepare_folder(folder)
    pictures = {}
    for part in found.parts:
        for name, figure in part.figures.items():
            report(f"Drawing {name}")
            for ending in ("png", "svg"):
                save_chart(figure.chart, folder / "figures" / f"{name}.{ending}")
            pictures[name] = embed_picture(figure)
        for name, table in part.tables.items():
            write_text(folder / "tables" / f"{name}.csv", as_csv(table))
    write_text(folder / "claims.csv", as_csv(found.table()))
    write_text(folder / "claims.json", json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
    write_text(folder / "index.html", render_page(found, pictures))
    return folder / "index.html"


def prepare_folder(folder: str | Path) -> Path:
    """Create the folder if there is none; an error names the reason if that fails."""
    for place in (Path(folder), Path(folder, "figures"), Path(folder, "tables")):
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            kind = InputError if error.errno in (*WRONG_NAME, errno.EEXIST) else WriteError
            raise kind(f"cannot write into {str(place)!r}: {error.strerror or error}; give another folder") from None
    return Path(folder)


def embed_picture(figure: Figure) -> dict[Theme, str]:
    """Return a light and a dark picture as data URLs, so that the page needs no other file."""
    themes: tuple[Theme, ...] = get_args(Theme)
    pictures = {theme: convert("svg", make_spec(figure.chart, theme, page=True)) for theme in themes}
    return {theme: "data:image/svg+xml;base64," + base64.b64encode(svg).decode() for theme, svg in pictures.items()}


def render_page(found: Reproduction, pictures: dict[str, dict[Theme, str]]) -> str:
    """Return the page; all text in it is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("nashboard.paper", "."), autoescape=True, undefined=StrictUndefined)
    page = environment.get_template("page.html.jinja")
    return page.render(found=found, pictures=pictures, version=__version__, marks=MARKS) + "\n"
