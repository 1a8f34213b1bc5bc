"""The options that the commands which evaluate share."""

from typing import Annotated, Any

import typer

from nashboard.cli.ratings_options import anchors

Resamples = Annotated[int, typer.Option(help="How often to resample, for intervals.", min=1)]
Seed = Annotated[int, typer.Option(help="Seed of the resamples; results do not depend on anything else.", min=0)]
Level = Annotated[float, typer.Option(help="Confidence of the intervals: 0.95 for 95%.")]
Agents = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="Only these agents, such as 'gpt-*'; can be repeated.")
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Not these agents; can be repeated.")]
ScalingOption = Annotated[str, typer.Option(help="Units of raw scores: range, rank, zscore or none.")]
SelectionOption = Annotated[str, typer.Option(help="Which equilibrium: clone-invariant or maxent.")]
Missing = Annotated[
    str | None,
    typer.Option(metavar="WAY", help="Missing scores: drop-agents, drop-tasks, or fill with mean, median or worst."),
]
Workers = Annotated[
    int | None, typer.Option(help="How many workers resample; all cores by default. Results are the same.", min=1)
]
Backend = Annotated[
    str | None, typer.Option(metavar="NAME", help="What workers are: threading, or loky for processes.")
]


def asked(
    resamples: int,
    seed: int,
    level: float,
    anchor: list[str] | None,
    scaling: str,
    selection: str,
    workers: int | None,
    backend: str | None,
) -> dict[str, Any]:
    """Return what a user asked for in the words of `nashboard.evaluate`."""
    return {
        "n_resamples": resamples,
        "rng": seed,
        "level": level,
        "anchor": anchors(anchor),
        "scaling": scaling,
        "selection": selection,
        "progress": True,
        "workers": workers,
        "backend": backend,
    }
