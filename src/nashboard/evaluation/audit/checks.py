"""Can you trust this? A list of checks, each passed, failed or open, each with one sentence."""

from dataclasses import dataclass

from nashboard._tables import Column, Table

CERTIFIED = 1e-9


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question, whether the answer is good (None: these data cannot tell), and the answer in one sentence."""

    name: str
    passed: bool | None
    sentence: str


def equilibrium_checks(unique: bool, exploitability: float, residual: float) -> tuple[Check, ...]:
    """Check whether the equilibrium of the expected payoffs is unique and exact."""
    return (
        Check(
            name="one equilibrium",
            passed=unique,
            sentence="there is one equilibrium, up to how copies share their weight"
            if unique
            else "there are several equilibria; the one of maximum entropy is shown, and small changes may move it",
        ),
        Check(
            name="certified",
            passed=max(exploitability, residual) <= CERTIFIED,
            sentence=f"a deviation gains {exploitability:.1e} of the largest payoff, the residual is {residual:.1e}",
        ),
    )


def name_some(names: tuple[str, ...], most: int = 5) -> str:
    """Return a few names in brackets, or nothing."""
    more = ", ..." if len(names) > most else ""
    return f" ({', '.join(names[:most])}{more})" if names else ""


def trust_table(checks: tuple[Check, ...]) -> Table:
    """Return the list of checks."""
    passed = sum(check.passed is True for check in checks)
    return Table(
        title=f"can you trust this? {passed} of {len(checks)} checks passed",
        columns=(
            Column(name="check"),
            Column(name="passed", meaning="whether the answer is good; a dash where these data cannot tell"),
            Column(name="because", meaning="the answer in one sentence", most=600),
        ),
        rows=tuple((check.name, check.passed, check.sentence) for check in checks),
    )
