"""The whole paper, part by part, and what it adds up to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nashboard._tables import Column, Table, plain
from nashboard.paper.claims import Claim, Part, claims_table, matched

# In the order of the paper: the file beside this one whose function ``NAME_part()`` computes it, and a title.
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
class Reproduction:
    """Every claim of the paper beside what we find, and the parts with their tables and figures."""

    claims: tuple[Claim, ...]
    parts: tuple[Part, ...]

    def of(self, part: Part) -> tuple[Claim, ...]:
        """Return the claims that a part answers, in the order of the paper."""
        return tuple(claim for claim in self.claims if claim.key in part.found)

    def counted(self, verdict: str) -> int:
        """Return how many claims have a verdict."""
        return sum(claim.verdict == verdict for claim in self.claims)

    @property
    def summary(self) -> str:
        """Return the result in a sentence."""
        return (
            f"{len(self.claims)} claims: {self.counted('equal')} equal to the printed digits, "
            f"{self.counted('different')} different, {self.counted('not printed')} printed as pictures only."
        )

    def differences(self) -> Table:
        """Return what is not as printed, with the reasons."""
        return Table(
            title="Not as printed",
            columns=(
                Column(name="where"),
                Column(name="what", most=64),
                Column(name="paper"),
                Column(name="ours"),
                Column(name="why", most=400),
            ),
            rows=tuple((c.where, c.what, c.printed, c.ours, c.why) for c in self.claims if c.verdict == "different"),
        )

    def table(self) -> Table:
        """Return every claim."""
        return claims_table(self.claims, "Re-evaluating Evaluation: the paper's numbers beside ours")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"summary": self.summary, "claims": [claim.to_dict() for claim in self.claims]}

    def __repr__(self) -> str:
        return f"Reproduction({self.summary.rstrip('.')})"

    def __str__(self) -> str:
        return plain(self.differences()) + "\n" + self.summary


def steps() -> Iterator[tuple[str, Callable[[], Part]]]:
    """Return the name of each part and the function that computes it."""
    for name, (file, title) in PARTS.items():
        yield title, getattr(import_module(f"nashboard.paper.{file}"), f"{name}_part")


def reproduction(tell: Callable[[str], object] = lambda _: None) -> Reproduction:
    """Compute every number, table and figure of the paper from bundled data.

    ``tell`` is called with the name of each part before it is computed.

    Examples
    --------
    >>> from nashboard.paper.reproduction import reproduction
    >>> found = reproduction()
    >>> found.claims[0].equal
    True
    """
    parts = []
    for title, part in steps():
        tell(title)
        parts.append(part())
    return Reproduction(
        claims=matched({key: found for part in parts for key, found in part.found.items()}), parts=tuple(parts)
    )
