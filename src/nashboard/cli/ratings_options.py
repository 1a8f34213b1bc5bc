"""The options that the rating commands share."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard.cli.reading import source_data
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.data.matches import Matches

Prior = Annotated[
    float | None, typer.Option(help="Drawn games of each agent against an average one; 0.01 unless given.")
]
Anchor = Annotated[
    list[str] | None, typer.Option(metavar="NAME=RATING", help="Hold an agent at a rating; can be repeated.")
]
Errors = Annotated[
    str | None,
    typer.Option(
        metavar="WAY",
        help="Where intervals come from: hessian (the usual), sandwich (robust; the usual with clusters) or bootstrap "
        "(robust, by resampling).",
    ),
]
Planes = Annotated[str, typer.Option("--k", metavar="K", help="How many planes for cycles, or auto.")]


def matches_in(source: str, as_format: str | None, pairs: list[str] | None) -> "Matches":
    """Read matches; ratings have no use for anything else."""
    from nashboard.data.matches import Matches

    data = source_data(source, as_format, pairs)
    if not isinstance(data, Matches):
        raise InputError(
            f"{source!r} holds {type(data).__name__.lower()}, not matches: ratings need results of matches"
        )
    return data


def anchors(given: list[str] | None) -> dict[str, float] | None:
    """Return what ``--anchor NAME=RATING`` says."""
    found: dict[str, float] = {}
    for text in given or []:
        name, equals, rating = text.rpartition("=")
        try:
            value = float(rating)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"--anchor takes an agent and a rating, such as --anchor gnugo=1800, not {text!r}")
        if found.setdefault(name, value) != value:
            raise InputError(f"--anchor holds {name!r} at {found[name]:g} and at {value:g}: give it one rating")
    return found or None


def planes(text: str) -> Any:
    """Return what ``--k`` says: a number, or "auto"."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--k takes a whole number or auto, not {text!r}") from None
