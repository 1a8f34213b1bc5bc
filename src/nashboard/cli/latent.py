"""``nashboard latent``: what tasks test beyond an average."""

from typing import Annotated

import typer

from nashboard.cli.options import AsOption, Format, FormatOption, Missing, ReadOption, SourceArgument
from nashboard.cli.output import show, show_json
from nashboard.cli.reading import source_data, varied, whole


def latent(
    source: SourceArgument,
    missing: Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    components: Annotated[int, typer.Option("--components", "-k", help="How many components.", min=1)] = 5,
    ends: Annotated[int, typer.Option(help="How many names at each end of a component.", min=1)] = 3,
    how: FormatOption = Format.text,
) -> None:
    """Show what tasks test beyond an average: per component, who and what is at its two ends.

    \b
    Examples:
      nashboard latent scores.csv
      nashboard latent dataset:atari -k 3 --format md
    """
    from dataclasses import replace

    from nashboard.algebra.latent import latent as decompose
    from nashboard.data.scores import Scores
    from nashboard.errors import InputError

    data = whole(source_data(source, as_format, read), missing)
    if not isinstance(data, Scores):
        raise InputError(
            f"{source!r} contains agents against agents, not scores of agents on tasks: use nashboard hodge"
        )
    data = varied(data)
    most = min(len(data.agents), len(data.tasks)) - 1
    found = decompose(data, k=min(components, most))
    if how is Format.json:
        show_json(found.to_dict(), "latent/1")
        return
    notes = (
        "",
        f"average skill and difficulty explain {found.averages_share:.1%} of the squared norm around "
        f"the mean, the components above {found.shares.sum():.1%} (scaling: {found.scaling})",
        "agents high do better on tasks high, and worse on tasks low, than averages say",
    )
    show(replace(found.table(ends), notes=notes), how, explained=True)
