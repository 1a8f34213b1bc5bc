"""``nashboard changes OLD NEW``: what differs between two evaluations, beyond noise."""

from pathlib import PurePath
from typing import Annotated, Any

import typer

from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption
from nashboard.cli.output import show, show_json, show_sections
from nashboard.cli.reading import keep_connected, source_data


def changes(
    old: Annotated[str, typer.Argument(metavar="OLD", help="An evaluation (.json), or data to evaluate.")],
    new: Annotated[
        list[str], typer.Argument(metavar="NEW...", help="The same, newer; with several, the last two are compared.")
    ],
    resamples: options.Resamples = options.RESAMPLES,
    seed: options.Seed = options.SEED,
    level: options.Level = options.LEVEL,
    min_games: options.MinGames = None,
    components: options.ComponentsOption = options.Components.error,
    top: options.Top = None,
    fail_on: options.FailOn = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Compare two evaluations: who moved beyond noise, who is new, and which results caused it.

    OLD and NEW are files that `nashboard evaluate -o NAME.json` wrote, or data. --fail-on: first-changed, moved, worse,
    missing; exit code 3.

    \b
    Examples:
      nashboard changes october.json november.json
      nashboard changes october.csv november.csv
      nashboard changes september.json october.json november.json
      nashboard changes main.json branch.json --fail-on worse,first-changed
    """
    from nashboard.evaluation.decide.changes import changes as run
    from nashboard.evaluation.decide.changes import history
    from nashboard.evaluation.decide.gates import CHANGES, check_names

    options.refuse_each(components)
    check_names(fail_on or (), CHANGES)
    settings = {"n_resamples": resamples, "rng": seed, "level": level, "progress": True}
    names = [old, *new]
    series = [load(source, as_format, read, components, min_games, settings) for source in names]
    found = run(series[-2], series[-1])
    past = history(series, [PurePath(name).stem for name in names])
    table = found.table() if top is None else found.table().head(top)
    if how is Format.json:
        options.refuse(("top",), "json contains all agents")
        show_json({**found.to_dict(), "history": past.to_dict()}, "changes/1")
    elif how is Format.text:
        causes = [found.causes_table()] if found.causes else []
        older = [past.table() if top is None else past.table().head(top)] if len(series) > 2 else []
        show_sections(found.summary, [table, *causes, *older])
    else:
        show(table, how)
    options.exit_if(found, fail_on, CHANGES)


def load(
    source: str,
    as_format: str | None,
    read: list[str] | None,
    components: str,
    min_games: int | None,
    settings: dict[str, Any],
) -> Any:
    """Return a saved evaluation, or evaluate the data."""
    from nashboard.cli.report import saved
    from nashboard.evaluation.evaluate import evaluate

    found = saved(source)
    return found or evaluate(keep_connected(source_data(source, as_format, read), components, min_games), **settings)
