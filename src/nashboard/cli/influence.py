"""``nashboard influence FILE``: which votes or tasks decide first place?"""

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import show, show_json
from nashboard.cli.reading import keep_connected, source_data


def influence(
    source: SourceArgument,
    min_games: options.MinGames = None,
    components: options.ComponentsOption = options.Components.error,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Find the smallest set of votes (or tasks) whose removal changes who is first.

    Matches are judged by Elo ratings, scores by the plain mean. The answer is confirmed by a fit without these votes;
    on small logs a search proves that no smaller set exists.

    \b
    Examples:
      nashboard influence battles.parquet
      nashboard influence scores.csv --format json
    """
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores
    from nashboard.errors import InputError
    from nashboard.evaluation.decide.influence import influence as run

    options.refuse_each(components)
    data = keep_connected(source_data(source, as_format, read), components, min_games)
    if not isinstance(data, Matches | Scores):
        raise InputError(f"{source!r} contains payoffs: influence takes matches or scores")
    with show_progress("Searching ..."):
        found = run(data)
    if how is Format.json:
        show_json(found.to_dict(), "influence/1")
    else:
        show(found.table(), how, explained=True)
