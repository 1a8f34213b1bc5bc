"""``nashboard changes OLD NEW``: what differs between two evaluations, beyond noise."""

from pathlib import PurePath
from typing import Annotated, Any

import typer

from nashboard.cli import options
from nashboard.cli.output import Listing
from nashboard.cli.reading import Connecting, Reading


def changes(
    old: Annotated[str, typer.Argument(metavar="OLD", help="An evaluation (.json), or data to evaluate.")],
    new: Annotated[
        list[str], typer.Argument(metavar="NEW...", help="The same, newer; with several, the last two are compared.")
    ],
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    resamples: options.Resamples = options.RESAMPLES,
    seed: options.Seed = options.SEED,
    level: options.Level = options.LEVEL,
    fail_on: options.FailOn = None,
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

    check_names(fail_on or (), CHANGES)
    settings = {"n_resamples": resamples, "rng": seed, "level": level, "progress": True}
    names = [old, *new]
    series = [load(source, connecting, reading, settings) for source in names]
    found = run(series[-2], series[-1])
    past = history(series, [PurePath(name).stem for name in names])
    causes = [found.causes_table()] if found.causes else []
    older = [past.table()] if len(series) > 2 else []
    content = {**found.to_dict(), "history": past.to_dict()}
    listing.show(found.table(), *causes, *older, json=(content, "changes/1"), sentences=found.summary)
    options.exit_if(found, fail_on, CHANGES)


NOT_EACH = "groups of one file are not those of another"


def load(source: str, connecting: Connecting, reading: Reading, settings: dict[str, Any]) -> Any:
    """Return a saved evaluation, or evaluate the data."""
    from nashboard.cli.report import saved
    from nashboard.evaluation.evaluate import evaluate

    return saved(source) or evaluate(connecting.keep(reading.data(source), one=NOT_EACH), **settings)
