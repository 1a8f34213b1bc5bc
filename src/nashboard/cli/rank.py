"""Rankings: ``nashboard rank FILE --method NAME``, ``methods`` compares all, ``nash`` solves the table as given."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

import typer

from nashboard._progress import Progress, show_progress
from nashboard._tables import Column, Table, count_of
from nashboard.cli import options
from nashboard.cli.output import Listing, print_note
from nashboard.cli.reading import Connecting, Reading, drop_constant_tasks
from nashboard.errors import InputError

MOST_PROMPTS = 100_000  # counting one takes a millisecond or two
UNITS_MATTER = ("nash", "alpha_rank", "deviation", "hodge", "uniform", "iqm", "median")  # methods that average tasks
EXACT = "observed results are taken as exact; `nashboard evaluate` accounts for their noise"


def rank(
    source: options.SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="NAME", help="A way to rank, as `nashboard methods` lists them.")
    ] = "nash",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="An option of the method, such as damping=0.9; can be repeated."
        ),
    ] = None,
    prompts: options.Prompts = None,
    scaling: options.ScalingOption = options.Scaling.range,
    missing: options.Missing = None,
) -> None:
    """Rank agents by one of many methods.

    Among them are Nash averages, Elo, voting rules, alpha-rank and PageRank.

    \b
    Examples:
      nashboard rank battles.parquet --method schulze
      nashboard rank dataset:atari --method iqm
      nashboard rank games.pgn --method pagerank --option damping=0.9
      nashboard rank votes.csv --method deviation --prompts prompt
    """
    from nashboard.cli.evaluate import read_parts
    from nashboard.ranking.registry import find_method
    from nashboard.ranking.registry import rank as rank_agents

    chosen = find_method(method)  # a wrong name is an error before the work
    if chosen.name not in UNITS_MATTER:
        options.refuse(("scaling",), f"{chosen.name} does not depend on the units of tasks")
    if not chosen.by_prompt:
        options.refuse(("prompts",), f"{chosen.name} pools all games; only deviation uses prompts")
    chosen_options = parse_method_options(option)
    data: Any
    if prompts is None:
        data = connecting.to_rank(source, reading, missing)
    else:
        options.refuse(
            ("scaling", "missing", "components", "min_games", "agents", "exclude"),
            "--prompts ranks the matches of all prompts together",
        )
        data = read_parts(source, prompts, reading, most=MOST_PROMPTS)
    ranking = rank_agents(data, method, scaling=options.value(scaling), **chosen_options)
    note_exact(data, ranking.order)
    listing.show(with_games(ranking.table(), data), json=(ranking.to_dict(), "ranking/1"))


def count_games(data: Any) -> dict[str, float]:
    """Return the number of games of each agent, where games were counted."""
    from nashboard.data.matches import NO_COUNTS, Matches, whole

    if not isinstance(data, Matches) or NO_COUNTS in data.origin.notes:
        return {}
    return dict(zip(data.agents, map(whole, data.games_per_agent.tolist()), strict=True))


def with_games(table: Table, data: Any) -> Table:
    """Return a table of agents with a column of the games that each played."""
    games = count_games(data)
    if not games:
        return table
    agent = [column.name for column in table.columns].index("agent")
    rows = tuple((*row, games[str(row[agent])]) for row in table.rows)
    return replace(table, columns=(*table.columns, Column("games", decimals=2)), rows=rows)


def note_exact(data: Any, agents: Iterable[str], how: str = EXACT) -> None:
    """Print a note that a ranking takes observed results as exact, and which agents played few games."""
    from nashboard.evaluation.board.verdict import FEW_GAMES

    games = count_games(data)
    rare = {name: games[name] for name in agents if games.get(name, FEW_GAMES) < FEW_GAMES}
    few = [f"{name} ({count_of(number, 'games')})" for name, number in rare.items()]
    more = f" and {len(few) - 3:,} more" if len(few) > 3 else ""
    remedy = (
        f"; --min-games {FEW_GAMES} leaves such agents out" if few and "prompts" not in options.given_options() else ""
    )
    print_note((f"Few games decide the place of {', '.join(few[:3])}{more}: " if few else "note: ") + how + remedy)


def parse_method_options(pairs: list[str] | None) -> dict[str, Any]:
    """Return the values of ``--option NAME=VALUE``: whole numbers, numbers, or one of two words."""
    words = {"none": None, "learned": "learned"}
    values: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if name in values:
            raise InputError(f"--option {name}= is given twice: give it once")
        try:
            if not equals:
                raise ValueError
            values[name] = (
                words[value] if value in words else int(value) if value.lstrip("-").isdigit() else float(value)
            )
        except ValueError:
            raise InputError(f"--option {pair!r} must be NAME=VALUE with a number, such as damping=0.9") from None
    return values


def methods(
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    source: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Data to rank, as in nashboard evaluate; none lists the methods."),
    ] = None,
    method: options.MethodOption = None,
    prompts: options.Prompts = None,
    resamples: options.Resamples = options.RESAMPLES,
    seed: options.Seed = options.SEED,
    noise: options.NoiseOption = options.Noise.model,
    scaling: options.ScalingOption = options.Scaling.range,
    missing: options.Missing = None,
) -> None:
    """List the ways to rank, or compare them on a file.

    The comparison shows who is first, how sure that is, and what copies change.

    \b
    Examples:
      nashboard methods
      nashboard methods battles.parquet
      nashboard methods dataset:atari --method nash --method borda --method schulze
      nashboard methods votes.csv --prompts prompt
    """
    from nashboard.cli.evaluate import read_parts
    from nashboard.evaluation.board.warnings import describe_side
    from nashboard.evaluation.evaluate import evaluate
    from nashboard.ranking.registry import find_methods, note_pooled_prompts
    from nashboard.ranking.registry import methods as registry

    names = None if method is None else [one.name for one in find_methods(method)]
    if source is None:
        options.refuse(
            set(options.given_options()) - {"how", "output", "top", "quiet"}, "it is for a file, and none was given"
        )
        listing.show(registry().table())
        return
    if noise is options.Noise.none:
        options.refuse(("resamples",), "--noise none takes the data as exact, without draws")
    by_prompt = [one.name for one in registry() if one.by_prompt and (names is None or one.name in names)]
    if not by_prompt:
        options.refuse(("prompts",), "these methods pool all games; only deviation uses prompts")
    data = connecting.to_rank(source, reading, missing)
    by_prompts = None if prompts is None else read_parts(source, prompts, reading, most=MOST_PROMPTS)
    found = evaluate(data, n_resamples=resamples, rng=seed, noise=options.value(noise), scaling=options.value(scaling))
    with show_progress("Ranking by every method ...") as progress:
        trials = found.second_opinions(names, lambda name: progress.step(f"Ranking by {name} ..."), prompts=by_prompts)
    winners = dict.fromkeys(name for one in trials.trials for name in one.winners)
    note_exact(data, winners, "first places are those of the observed results; P(same) says what noise does to them")
    for line in describe_side(found.own_problem("rank by other methods")):
        print_note(f"note: {line} The methods take the results as observed.")
    listing.show(trials.table(), json=(trials.to_dict(), "methods/1"))
    if by_prompt and prompts is None and (pooled := note_pooled_prompts(data)):
        print_note(f"note: {pooled}")


def nash(
    source: options.SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    selection: options.SelectionOption = options.Selection.clone_invariant,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Allow this exploitability, in the unit of the payoffs, for a more even mixture.", min=0.0),
    ] = None,
    tasks: options.Tasks = False,
    missing: options.Missing = None,
) -> None:
    """Show Nash averages of the results as given.

    The table has weights, averages, margins and copies; certificates prove the equilibrium.

    \b
    Examples:
      nashboard nash battles.parquet
      nashboard nash dataset:atari --tasks
      nashboard nash battles.csv --tolerance 0.05
      nashboard nash scores.csv --missing worst --format json
    """
    from nashboard.data.scores import Scores
    from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
    from nashboard.equilibrium.results import check_selection

    if listing.format is options.Format.json:
        options.refuse(("tasks",), "json contains agents and tasks")
    chosen = check_selection(selection.value)
    data = connecting.to_rank(source, reading, missing)
    if isinstance(data, Scores):
        of_scores = nash_average_scores(
            drop_constant_tasks(data), selection=chosen, tolerance=tolerance, progress=not Progress.quiet
        )
        json = of_scores.to_dict(), "nash-scores/1"
        table = of_scores.task_table() if tasks else of_scores.table()
        groups = of_scores.task_clone_groups if tasks else of_scores.agent_clone_groups
    else:
        result = nash_average(data, selection=chosen, tolerance=tolerance, progress=not Progress.quiet)
        json = result.to_dict(), "nash/1"
        table, groups = result.table(), result.clone_groups
    note_exact(data, (str(row[1]) for row in table.rows))
    listing.show(with_games(table, data), json=json)
    for number, group in enumerate(groups, start=1):
        print_note(f"copies {number}: {', '.join(group)}")
