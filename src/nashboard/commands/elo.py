"""``nashboard elo FILE``: Elo ratings by maximum likelihood."""

from nashboard.commands.output import Format, FormatOption, show
from nashboard.commands.ratings_options import Anchor, Prior, anchors, matches_in
from nashboard.commands.reading import AsOption, ReadOption, SourceArgument


def elo(
    source: SourceArgument,
    prior: Prior = None,
    anchor: Anchor = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Rate agents by Elo: maximum likelihood of all matches, with 95% intervals.

    \b
    Examples:
      nashboard elo battles.parquet
      nashboard elo games.pgn --anchor gnugo=1800
      nashboard elo log.csv -r a=player -r b=rival -r outcome=won
    """
    from nashboard.ratings.elo import PRIOR
    from nashboard.ratings.elo import elo as fit

    matches = matches_in(source, as_format, read)
    show(fit(matches, prior=PRIOR if prior is None else prior, anchor=anchors(anchor)).leaderboard(), how)
