"""``nashboard predict FILE A B``: how often A beats B, by Elo, by mElo and by what was seen."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard._tables import Cell, Column, Table
from nashboard.cli.options import Planes, Prior, SourceArgument, parse_planes, parse_prior, refuse
from nashboard.cli.output import Showing
from nashboard.cli.reading import Connecting, Reading

if TYPE_CHECKING:
    from nashboard.data.matches import Matches


def predict(
    source: SourceArgument,
    first: Annotated[str, typer.Argument(metavar="A", help="An agent.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another agent.")],
    connecting: Connecting,
    reading: Reading,
    showing: Showing,
    k: Planes = "1",
    prior: Prior = "learned",
) -> None:
    """Predict how often A beats B. FILE contains matches, or is the state of an online league.

    \b
    Examples:
      nashboard predict dataset:alphago alpha_v Zen
      nashboard predict league.npz ann bob
    """
    from nashboard.online.state import is_state

    league = is_state(source)
    if league:
        refuse(
            ("k", "prior", "min_games", "components", "as_format", "read", "table", "query"),
            f"{source!r} is an online league, which has its own ratings",
        )
    rows = (
        from_league(source, first, second)
        if league
        else from_matches(connecting.matches(source, reading, of=first), first, second, k, prior)
    )
    showing.show(
        Table(
            title=f"{first} against {second}",
            columns=(
                Column(name="by"),
                Column(name="probability", meaning=f"share of points that {first} takes; a draw is half a point"),
                Column(
                    name="lead", meaning="the same in Elo points: 0 is even, 400 win ten games to one lost", decimals=1
                ),
                Column(name="games", meaning="games between the two, or their total weight", decimals=2),
            ),
            rows=rows,
            notes=() if league else trust(rows[-1]),
        )
    )


def trust(seen: tuple[Cell, ...]) -> tuple[str, ...]:
    """Say which row to trust, given what was seen between the two."""
    _, share, _, games = seen
    told = "the two never met"
    if isinstance(share, float) and isinstance(games, int | float):
        # one win and one loss more: the error of a clean sweep is not zero
        p = (share * games + 1) / (games + 2)
        told = f"its standard error here is about {(p * (1 - p) / (games + 2)) ** 0.5:.2f}"
    return (
        f"use 'seen' only where the two met often: {told}",
        "otherwise use mElo where cycles are real (--k auto decides by held-out games), and Elo where they are not",
    )


def from_league(source: str, first: str, second: str) -> tuple[tuple[Cell, ...], ...]:
    """Return the row of an online league."""
    from nashboard.data.validation import positions
    from nashboard.online.models import load

    model = load(source)
    positions((first, second), tuple(model.league.names), kind="agent")  # a name that never played is a typing error
    return (("online league", model.predict(first, second), model.league.lead(first, second), None),)


def from_matches(matches: "Matches", first: str, second: str, k: str, prior: str) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for every registered rating, and for what was seen; a given prior leaves out who takes none."""
    from nashboard.data.matches import whole
    from nashboard.data.validation import positions
    from nashboard.ratings.held_out import model_name
    from nashboard.ratings.melo import MeloRatings
    from nashboard.ratings.rating import RATINGS

    i, j = positions((first, second), matches.agents, kind="agent")
    given = parse_prior(prior)
    models: dict[str, Any] = {}
    for name, method in RATINGS.items():
        if (name == "melo" and k == "0") or (given != "learned" and not method.takes("prior")):
            continue
        options: dict[str, Any] = {"k": parse_planes(k)} if name == "melo" else {}
        found = method.fit(matches, **options, **({"prior": given} if method.takes("prior") else {}))
        models[model_name(found.k) if isinstance(found, MeloRatings) else method.label] = found
    low, high = min(i, j), max(i, j)
    pair = (matches.pairs == (low, high)).all(axis=1).nonzero()[0]
    total = float(matches.games[pair].sum())
    share = float((matches.wins + matches.draws / 2)[pair].sum()) / total if total else None
    games = whole(total)
    seen = None if share is None else share if i < j else 1 - share
    return (
        *((name, model.predict(first, second), model.lead(first, second), games) for name, model in models.items()),
        ("seen", seen, None, games),
    )
