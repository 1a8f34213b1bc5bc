"""``nashboard predict FILE A B``: how often A beats B, by Elo, by mElo and by what was seen."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard._tables import Cell, Column, Table
from nashboard.commands.output import Format, FormatOption, show
from nashboard.commands.ratings_options import Planes, Prior, matches_in, planes
from nashboard.commands.reading import AsOption, ReadOption, SourceArgument

if TYPE_CHECKING:
    from nashboard.data.matches import Matches


def predict(
    source: SourceArgument,
    first: Annotated[str, typer.Argument(metavar="A", help="An agent.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another agent.")],
    k: Planes = "1",
    prior: Prior = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Predict how often A beats B. FILE holds matches, or is the state of an online league.

    \b
    Examples:
      nashboard predict dataset:alphago alpha_v Zen
      nashboard predict league.npz ann bob
    """
    from nashboard.ratings.state import is_state

    rows = (
        from_league(source, first, second)
        if is_state(source)
        else from_matches(matches_in(source, as_format, read), first, second, k, prior)
    )
    show(
        Table(
            title=f"{first} against {second}",
            columns=(
                Column(name="by"),
                Column(name="probability", meaning="share of points that the first takes"),
                Column(name="lead", meaning="the same in Elo points", decimals=1),
                Column(name="games", meaning="games between the two"),
            ),
            rows=rows,
        ),
        how,
    )


def from_league(source: str, first: str, second: str) -> tuple[tuple[Cell, ...], ...]:
    """Return the row of an online league."""
    from nashboard.ratings.online import load

    ratings = load(source).ratings()
    return (("online league", ratings.predict(first, second), ratings.lead(first, second), None),)


def from_matches(
    matches: "Matches", first: str, second: str, k: str, prior: float | None
) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for Elo, for mElo, and for what was seen."""
    from nashboard.data.matches import whole
    from nashboard.data.names import positions
    from nashboard.ratings.elo import PRIOR, elo
    from nashboard.ratings.melo import melo

    i, j = positions((first, second), matches.agents, kind="agent")
    weak = PRIOR if prior is None else prior
    models: dict[str, Any] = {"Elo": elo(matches, prior=weak)}
    if k != "0":
        cyclic = melo(matches, planes(k), prior=weak)
        models[f"mElo, {cyclic.k} plane{'s' * (cyclic.k != 1)}"] = cyclic
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
