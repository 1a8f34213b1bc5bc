"""``nashboard melo FILE --k 2``: multidimensional Elo."""

from typing import Annotated

import typer

from nashboard.cli.options import (
    Anchor,
    AsOption,
    Format,
    FormatOption,
    Planes,
    Prior,
    ReadOption,
    SourceArgument,
    parse_anchors,
    parse_planes,
    parse_prior,
    read_matches_from,
)
from nashboard.cli.output import show, tell


def melo(
    source: SourceArgument,
    k: Planes = "1",
    prior: Prior = "learned",
    cyclic_prior: Annotated[
        str | None,
        typer.Option(
            metavar="PRIOR",
            help="Prior of the planes: learned, or a number of games; the same as --prior unless given.",
        ),
    ] = None,
    orthogonal: Annotated[
        bool, typer.Option(help="Keep the planes orthogonal to the ratings, as the paper does.")
    ] = False,
    anchor: Anchor = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Rate agents by mElo: a rating each, and planes that predict cycles such as rock-paper-scissors.

    \b
    Examples:
      nashboard melo battles.parquet --k 2
      nashboard melo dataset:alphago --k auto
    """
    from nashboard._tables import plain
    from nashboard.ratings.melo import melo as fit

    matches = read_matches_from(source, as_format, read)
    ratings = fit(
        matches,
        parse_planes(k),
        prior=parse_prior(prior),
        cyclic_prior=None if cyclic_prior is None else parse_prior(cyclic_prior),
        anchor=parse_anchors(anchor),
        orthogonal=orthogonal,
    )
    if ratings.candidates:
        tell(plain(ratings.selection()))
    show(ratings.leaderboard(), how, explained=True)
