"""``nashboard elo FILE``: Elo ratings by maximum likelihood."""

from typing import Any, cast

from nashboard.commands.evaluation_options import Backend, Resamples, Seed, Workers
from nashboard.commands.output import Format, FormatOption, show
from nashboard.commands.ratings_options import Anchor, Errors, Prior, anchors, matches_in
from nashboard.commands.reading import AsOption, ReadOption, SourceArgument


def elo(
    source: SourceArgument,
    prior: Prior = None,
    anchor: Anchor = None,
    errors: Errors = None,
    resamples: Resamples = 100,
    seed: Seed = 0,
    workers: Workers = None,
    backend: Backend = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Rate agents by Elo: maximum likelihood of all matches, with 95% intervals.

    \b
    Examples:
      nashboard elo battles.parquet
      nashboard elo games.pgn --anchor gnugo=1800
      nashboard elo battles.parquet --errors bootstrap --resamples 1000
      nashboard elo log.csv -r a=player -r b=rival -r outcome=won
    """
    from nashboard.ratings.elo import PRIOR
    from nashboard.ratings.elo import elo as fit

    matches = matches_in(source, as_format, read)
    found = fit(
        matches,
        prior=PRIOR if prior is None else prior,
        anchor=anchors(anchor),
        errors=cast(Any, errors),
        n_resamples=resamples,
        rng=seed,
        workers=workers,
        backend=backend,
        progress=True,
    )
    show(found.leaderboard(), how, explained=True)
