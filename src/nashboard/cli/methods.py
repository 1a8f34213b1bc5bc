"""``nashboard methods [FILE]``: every way to rank, and what each does with the data."""

from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli.options import (
    RESAMPLES,
    SEED,
    AsOption,
    Components,
    ComponentsOption,
    Format,
    FormatOption,
    MinGames,
    Missing,
    Noise,
    NoiseOption,
    ReadOption,
    Resamples,
    Scaling,
    ScalingOption,
    Seed,
    refuse,
)
from nashboard.cli.output import show, show_json
from nashboard.cli.reading import keep_connected, source_data, whole
from nashboard.errors import InputError


def methods(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="Data to rank, as in nashboard evaluate; none lists the methods."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", "-m", metavar="NAME", help="Only this method; can be repeated.")
    ] = None,
    resamples: Resamples = RESAMPLES,
    seed: Seed = SEED,
    noise: NoiseOption = Noise.model,
    scaling: ScalingOption = Scaling.range,
    min_games: MinGames = None,
    components: ComponentsOption = Components.error,
    missing: Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """List the ways to rank, or compare them on a file: who wins, how sure that is, and what copies do.

    \b
    Examples:
      nashboard methods
      nashboard methods battles.parquet
      nashboard methods dataset:atari --method nash --method borda --method schulze
    """
    from nashboard.data.scores import Scores
    from nashboard.evaluation.evaluate import evaluate
    from nashboard.ranking.registry import find_method
    from nashboard.ranking.registry import methods as registry

    names = None if method is None else [find_method(name).name for name in method]
    if source is None:
        refuse(
            (
                "method",
                "resamples",
                "seed",
                "noise",
                "scaling",
                "min_games",
                "components",
                "missing",
                "as_format",
                "read",
            ),
            "it is for a file, and none was given",
        )
        show(registry().table(), how)
        return
    if components is Components.each:
        raise InputError("--components each is for nashboard evaluate: use --components largest")
    data = whole(source_data(source, as_format, read), missing)
    if isinstance(data, Scores):
        refuse(("min_games", "components"), "it is for matches, and these are scores")
    else:
        refuse(("scaling",), "it is for scores of agents on tasks, and these are matches")
        data = keep_connected(data, components, min_games)
    found = evaluate(data, n_resamples=resamples, rng=seed, noise=noise.value, scaling=scaling.value)
    with show_progress("Ranking by every method ...") as progress:
        trials = found.second_opinions(names, lambda name: progress.step(f"Ranking by {name} ..."))
    if how is Format.json:
        show_json(trials.to_dict(), "methods/1")
        return
    show(trials.table(), how, explained=True)
