"""What is in the data: ``inspect``, ``datasets``, ``hodge`` (ratings and cycles), ``latent`` (skills of tasks)."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nashboard.cli.options import Format, Missing, SourceArgument, refuse
from nashboard.cli.output import Listing, Showing, print_text
from nashboard.cli.reading import Connecting, Reading, complete, drop_constant_tasks
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.algebra.hodge import Hodge
    from nashboard.data.matches import Matches
    from nashboard.data.payoffs import Payoffs


def inspect(source: SourceArgument, reading: Reading, showing: Showing) -> None:
    """Show what a file contains, on one screen.

    Its format, agents, tasks, games, coverage, missing cells, copies, and what was left out and why.

    \b
    Examples:
      nashboard inspect battles.parquet
      nashboard inspect log.csv -r a=player -r b=rival -r outcome=won
      nashboard inspect dataset:atari --format json
      zcat log.csv.gz | nashboard inspect -
    """
    from nashboard.data.inspection import inspected

    showing.show(inspected(reading.data(source)).table())


def datasets(
    showing: Showing,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show where this data set comes from.")] = None,
) -> None:
    """List the bundled data sets, or describe one.

    \b
    Examples:
      nashboard datasets
      nashboard datasets atari
    """
    from nashboard.data.datasets import catalogue, described

    if name is None:
        showing.show(catalogue())
    else:
        refuse(("how", "output"), "the description of a data set is text")
        print_text(described(name))


LEVEL = 0.05  # as in the audit
Part = StrEnum("Part", ["ratings", "cycles"])


def hodge(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    what: Annotated[Part, typer.Option("--show", help="The table to print; json contains both.")] = Part.ratings,
    cycles: Annotated[int, typer.Option(help="How many of the strongest cycles to name.", min=0)] = 5,
    split: Annotated[
        bool, typer.Option(help="Separate local cycles from the harmonic part (slow for millions of pairs).")
    ] = True,
) -> None:
    """Show how much ratings explain, and the strongest cycles.

    \b
    Examples:
      nashboard hodge battles.csv
      nashboard hodge dataset:roshambo --show cycles --format csv
    """
    from nashboard.algebra.hodge import hodge as decompose
    from nashboard.data.scores import Scores

    if listing.format is Format.json:
        refuse(("what",), "json contains ratings and cycles")
    elif what is Part.cycles:
        refuse(("split",), "the table of cycles has no shares")
    elif listing.format is Format.csv:
        refuse(("cycles", "split"), "csv contains the ratings alone; --show cycles or json contains cycles")
    data = connecting.read(source, reading)
    if isinstance(data, Scores):
        raise InputError(
            f"{source!r} contains scores of agents on tasks, not agents against agents: use nashboard latent"
        )
    data = connecting.keep(data)
    found = decompose(data)
    chance, rest = describe_residual(data, found.elo_is_exact)
    content = {**found.to_dict(cycles=cycles, split=split), "p_noise": chance}
    if what is Part.cycles:
        listing.show(found.cycles_table(cycles))
        return
    notes = describe_decomposition(found, rest, cycles, split)
    table = found.table() if listing.format is Format.text else replace(found.table(), notes=("", *notes))
    listing.show(table, json=(content, "hodge/1"), notes=notes)


def describe_decomposition(decomposition: "Hodge", rest: str, cycles: int, split: bool) -> list[str]:
    """Return how much ratings explain, the strongest cycles, and what these numbers mean."""
    parts = f"ratings explain {decomposition.transitivity:.1%} of the squared norm"
    if split:
        parts += f", local cycles {decomposition.local_share:.1%}, the harmonic part {decomposition.harmonic_share:.1%}"
    lines = [f"transitivity: {parts}", rest]
    if split:
        lines.append("squared norm: sum of all squared results; local cycles have three agents, harmonic ones more")
    named = [f"cycle: {cycle}" for cycle in decomposition.cycles(cycles)]
    if named:
        gained = "log-odds of winning" if decomposition.unit == "logit" else decomposition.unit
        named.append(f"curl: sum of what each gains from the next ({gained}); 0 if ratings explain the results")
    elif cycles:
        named.append("no three agents beat each other in a cycle")
    return lines + named


def describe_residual(data: "Matches | Payoffs", exact: bool) -> tuple[float | None, str]:
    """Return the p-value of the residual of ratings, if games were counted, and a sentence about it."""
    from nashboard.data.matches import Matches
    from nashboard.evaluation.audit.transitivity import explain_unknown, residual_p_value

    if exact:
        return None, "the residual of the ratings is 0: Elo explains the results exactly"
    if not isinstance(data, Matches):
        return None, "it is unknown whether the residual is larger than noise: games were not counted"
    if why := explain_unknown(data):
        return None, f"it is unknown whether the residual is larger than noise: {why}"
    chance = residual_p_value(data)
    words = "larger than noise: Elo does not explain these results" if chance <= LEVEL else "within noise"
    return chance, f"the residual of the ratings is {words} (p = {chance:.2g})"


def latent(
    source: SourceArgument,
    reading: Reading,
    listing: Listing,
    missing: Missing = None,
    components: Annotated[int, typer.Option("--k", "-k", help="How many components.", min=1)] = 5,
    ends: Annotated[int, typer.Option(help="How many names at each end of a component.", min=1)] = 3,
) -> None:
    """Show what tasks test beyond an average.

    Each component has the agents and tasks at its two ends.

    \b
    Examples:
      nashboard latent scores.csv
      nashboard latent dataset:atari -k 3 --format md
    """
    from nashboard.algebra.latent import latent as decompose
    from nashboard.data.scores import Scores

    if listing.format is Format.json:
        refuse(("ends",), "json contains all agents and tasks")
    data = complete(reading.data(source), missing)
    if not isinstance(data, Scores):
        raise InputError(
            f"{source!r} contains agents against agents, not scores of agents on tasks: use nashboard hodge"
        )
    data = drop_constant_tasks(data)
    most = min(len(data.agents), len(data.tasks)) - 1
    found = decompose(data, k=min(components, most))
    notes = (
        "",
        f"average skill and difficulty explain {found.averages_share:.1%} of the squared norm around "
        f"the mean, the components above {found.shares.sum():.1%} (scaling: {found.scaling})",
        "average: what the mean skill of the agent and the mean difficulty of the task predict",
    )
    listing.show(replace(found.table(ends), notes=notes), json=(found.to_dict(), "latent/1"))
