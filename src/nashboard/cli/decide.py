"""Decisions: ``compare``, ``sprt``, ``plan``, ``changes``; and votes: ``influence``, ``voters``, ``exposure``."""

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard._progress import show_progress
from nashboard._text import number_of
from nashboard.cli import options
from nashboard.cli.options import SourceArgument
from nashboard.cli.output import Listing, Showing, print_note
from nashboard.cli.reading import Connecting, Reading, complete
from nashboard.errors import InputError, check_level

if TYPE_CHECKING:
    from nashboard.data.games import Games


OverWay = StrEnum("OverWay", ["tasks", "runs"])


def compare(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    a: Annotated[str | None, typer.Argument(metavar="A", help="The agent to judge; without, all pairs.")] = None,
    b: Annotated[list[str] | None, typer.Argument(metavar="B", help="One or more agents; all others if none.")] = None,
    level: options.Level = options.LEVEL,
    margin: options.Margin = None,
    over: Annotated[
        OverWay | None,
        typer.Option(
            help="Scores: an interval for tasks like these (task interval), or for these measured again (sampling "
            "interval)."
        ),
    ] = None,
    anytime: Annotated[
        bool,
        typer.Option(
            "--anytime",
            help="Matches: use only games between the two; the test stays valid if it is repeated as games come in.",
        ),
    ] = False,
    fail_on: options.FailOn = None,
) -> None:
    """Compare agents: difference, interval, p-value and verdict.

    The result also says how likely one is better, and how much more data would decide.
    Scores are paired over items or tasks. Matches use games between the two and against common opponents. Several
    agents are compared with Holm's correction. Without names, all pairs: the probability that one is above the other;
    if there are two agents only, these are compared.
    --fail-on takes worse, not-better, undecided and different, and ends with exit code 3.

    \b
    Examples:
      nashboard compare items.csv new-model old-model
      nashboard compare battles.parquet model-a model-b model-c
      nashboard compare season.csv Alcaraz Sinner --anytime
      nashboard compare items.csv candidate baseline --fail-on worse
      nashboard compare battles.parquet --top 10
    """
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores
    from nashboard.evaluation.decide.compare import Comparison, superiority
    from nashboard.evaluation.decide.compare import compare as run
    from nashboard.evaluation.evaluate import evaluate

    options.check_conditions(fail_on, options.COMPARE)
    data = connecting.keep(connecting.read(source, reading), of=a)
    if not isinstance(data, Matches | Scores):
        raise InputError(f"{source!r} contains payoffs: compare takes matches or scores")
    if a is None and len(data.agents) == 2:
        options.refuse(("top",), "there are two agents only")
        a = data.agents[0]
    if a is None:
        options.refuse(("margin", "over", "anytime", "fail_on"), "they are for two agents or more: name them")
        with show_progress("Evaluating ..."):
            pairs = superiority(evaluate(data, level=level), top=listing.top)
        listing.show(pairs.table(), json=(pairs.to_dict(), "superiority/1"))
        return
    options.refuse(("top",), "it is for all pairs: leave out the names")
    others = b or [name for name in data.agents if name != a]
    with show_progress("Comparing ..."):
        found = run(
            data,
            a,
            others[0] if len(others) == 1 else others,
            level=level,
            margin=margin,
            over=options.value(over),
            anytime=anytime,
        )
    if isinstance(found, Comparison):
        listing.show(found.table(), json=(found.to_dict(), "comparison/1"), sentences=[found.sentence])
        print_note(f"Test: {found.test}.")
    else:
        listing.show(found.table(), json=(found.to_dict(), "comparisons/1"))
    options.exit_if(found, fail_on, options.COMPARE)


def sprt(
    source: SourceArgument,
    a: Annotated[str, typer.Argument(metavar="A", help="The agent to judge, such as a new version.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other agent, such as the version before.")],
    reading: Reading,
    showing: Showing,
    elo0: Annotated[float, typer.Option("--elo0", help="The gain, in Elo points, that is too small.")] = 0.0,
    elo1: Annotated[float, typer.Option("--elo1", help="The gain, in Elo points, that is enough.")] = 5.0,
    level: options.Level = options.LEVEL,
) -> None:
    """Test sequentially whether A is better than B (SPRT).

    The test of their own games accepts the gain, rejects it, or asks for more games.
    Run it again after more games; error rates are 1 - level each way however often. It takes games as independent:
    if openings are played twice with reversed colours, use nb.sprt in Python with counts of pairs.

    \b
    Examples:
      nashboard sprt games.pgn "Engine 2.0" "Engine 1.9"
      nashboard sprt games.csv new old --elo1 10 --level 0.99
    """
    from nashboard.data.validation import positions
    from nashboard.evaluation.decide.compare import count_results
    from nashboard.evaluation.decide.significance import sprt as test

    check_level(level)
    matches = Connecting().matches(source, reading)
    i, j = positions((a, b), matches.agents, kind="agent")
    counts = count_results(matches, i, j)
    if not sum(counts):
        raise InputError(f"{a!r} and {b!r} never met: a sequential test needs games between them")
    found = test(counts[::-1], elo0=elo0, elo1=elo1, alpha=1 - level, beta=1 - level)
    showing.show(found.table(), sentences=[found.sentence])


def plan(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    games: Annotated[int, typer.Option(help="The budget: games, or items for scores.", min=1)] = 1000,
    target: Annotated[
        str, typer.Option(metavar="GOAL", help="What to find out: top, order, or a number k for the first k.")
    ] = "top",
    pair: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Find out which of two is better.")
    ] = None,
    probability: Annotated[float, typer.Option(help="Certainty for which the number of games is computed.")] = 0.95,
    seed: options.Seed = options.SEED,
    missing: options.Missing = None,
) -> None:
    """Plan what to measure next.

    The plan lists pairs with a number of games each, what they are expected to show, and how many are needed.

    \b
    Examples:
      nashboard plan battles.parquet --games 500
      nashboard plan games.pgn --pair "Engine 2.0" "Engine 1.9" -o schedule.csv
      nashboard plan battles.parquet --target 3 --probability 0.9
    """
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores
    from nashboard.evaluation.decide.plan import plan as run

    if pair is not None:
        options.refuse(("target",), "--pair is the goal")
    data = connecting.keep(
        complete(connecting.read(source, reading), missing),
        one="a plan divides its games over agents that met",
    )
    if not isinstance(data, Matches | Scores):
        raise InputError(f"{source!r} contains payoffs: plan takes matches or scores")
    goal = pair if pair is not None else int(target) if target.isdecimal() else target
    with show_progress("Planning ..."):
        found = run(data, games=games, target=goal, probability=probability, rng=seed)
    listing.show(found.table(), json=(found.to_dict(), "plan/1"), sentences=[found.sentence])


def changes(
    old: Annotated[str, typer.Argument(metavar="OLD", help="An evaluation (.json), or data to evaluate.")],
    new: Annotated[
        list[str], typer.Argument(metavar="NEW", help="The same, newer; with several, the last two are compared.")
    ],
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    resamples: options.Resamples = options.RESAMPLES,
    seed: options.Seed = options.SEED,
    level: options.Level = options.LEVEL,
    fail_on: options.FailOn = None,
) -> None:
    """Compare two evaluations: who moved beyond noise, and why.

    OLD and NEW are files that `nashboard evaluate -o NAME.json` wrote, or data. --fail-on: first-changed, moved, worse,
    missing; exit code 3.

    \b
    Examples:
      nashboard changes october.json november.json
      nashboard changes october.csv november.csv
      nashboard changes september.json october.json november.json
      nashboard changes main.json branch.json --fail-on worse,first-changed
    """
    from nashboard.cli.evaluate import EVALUATING, read_saved
    from nashboard.evaluation.decide.changes import changes as run
    from nashboard.evaluation.decide.changes import history
    from nashboard.evaluation.evaluate import evaluate

    options.check_conditions(fail_on, options.CHANGES)
    settings: dict[str, Any] = {"n_resamples": resamples, "rng": seed, "level": level, "progress": True}
    names = [old, *new]
    kept = [read_saved(source) for source in names]
    if None not in kept:
        options.refuse(EVALUATING, "all of these are saved evaluations")
    series = [
        one or evaluate(connecting.keep(connecting.read(source, reading), one=NOT_EACH), **settings)
        for one, source in zip(kept, names, strict=True)
    ]
    found = run(series[-2], series[-1])
    past = history(series, [PurePath(name).stem for name in names])
    causes = [found.causes_table()] if found.causes else []
    older = [past.table()] if len(series) > 2 else []
    content = {**found.to_dict(), "history": past.to_dict()}
    listing.show(found.table(), *causes, *older, json=(content, "changes/1"), sentences=found.summary)
    options.exit_if(found, fail_on, options.CHANGES)


NOT_EACH = "groups of one file are not those of another"


Judge = StrEnum("Judge", ["elo", "mean", "board"])
By = StrEnum("By", ["items", "tasks"])


def influence(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    judge: Annotated[
        Judge | None,
        typer.Option(help="What decides who is first: elo or mean (default), or the board of evaluate."),
    ] = None,
    voter: options.Voter = None,
    by: Annotated[By | None, typer.Option(help="Item-level scores: remove single items, or whole tasks.")] = None,
    missing: options.Missing = None,
) -> None:
    """Find the fewest votes or tasks that decide first place.

    These are the smallest set of votes, items or tasks, or with --voter of voters, whose removal changes who is first.
    First place is taken from Elo ratings (matches) or the plain mean (scores), or with --judge board from the board.
    The answer is confirmed by a fit without the set; on small data a search proves that no smaller set exists. Rows of
    the log are named.

    \b
    Examples:
      nashboard influence battles.parquet
      nashboard influence votes.csv --voter worker
      nashboard influence battles.parquet --judge board
      nashboard influence scores.csv --format json
    """
    from nashboard.data.payoffs import Payoffs
    from nashboard.data.scores import Scores
    from nashboard.evaluation.decide.influence import influence as run

    games = read_rows(source, reading, voter) if connecting == Connecting() and missing is None else None
    if voter is not None and games is None:
        raise InputError("--voter needs the whole log: leave out options that choose agents")
    data = games or connecting.keep(complete(connecting.read(source, reading), missing))
    if isinstance(data, Payoffs):
        raise InputError(f"{source!r} contains payoffs: influence takes matches or scores")
    if not isinstance(data, Scores):
        options.refuse(("by",), options.FOR_SCORES)
    with show_progress("Searching ..."):
        found = run(
            data,
            by=options.value(by) or ("voters" if voter is not None else None),
            judge=options.value(judge),
        )
    listing.show(found.table(), json=(found.to_dict(), "influence/1"), sentences=[found.sentence])


def read_rows(source: str, reading: Reading, voter: str | None) -> "Games | None":
    """Return a log row by row, or None where the source contains counts or scores and ``--voter`` is not given."""
    try:
        games = reading.games(source, **({} if voter is None else {"cluster": voter}))
    except InputError:
        if voter is not None:
            raise
        return None
    return games if voter is not None or (games.weight == 1).all() else None


def voters(
    source: SourceArgument,
    reading: Reading,
    listing: Listing,
    voter: options.Voter = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of what was voted on, to measure agreement.")
    ] = None,
) -> None:
    """Examine voters: agreement, random votes, one-sided votes.

    The board without inattentive votes is shown too. Without --voter, a column called voter, worker or judge is used.

    \b
    Examples:
      nashboard voters votes.csv
      nashboard voters votes.csv --voter worker --item prompt_id --format json
    """
    from nashboard.evaluation.decide.voters import read_voters

    given = reading.keywords()
    if "cluster" in given:
        raise InputError("-r cluster= has no effect here: --voter and --item name the columns")
    with show_progress("Examining voters ..."):
        found = read_voters(source, voter=voter, item=item, format=reading.as_format, **given)
    listing.show(found.table(), found.board(), json=(found.to_dict(), "voters/1"))


def exposure(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATTERN",
            help="Variants of one owner, 'lab=lab-*': what the best of them gains by noise. Repeatable.",
        ),
    ] = None,
    least_games: Annotated[
        float, typer.Option(min=1, help="Pairs with fewer games are weighted as if they had this many.")
    ] = 50,
) -> None:
    """Show how often every agent was sampled.

    The result includes ratings with all pairs weighted equally, and how much an owner gains by entering many variants.

    \b
    Examples:
      nashboard exposure battles.parquet
      nashboard exposure battles.parquet --family 'lab=lab-*' --format json
    """
    from nashboard.data.matches import Matches
    from nashboard.evaluation.decide.voters import exposure as run

    if listing.format is options.Format.csv:
        options.refuse(("family",), "csv contains the agents alone; text and json contain families")
    data = connecting.keep(connecting.read(source, reading))
    if not isinstance(data, Matches):
        raise InputError(f"{source!r} does not contain matches: exposure is about games between agents")
    with show_progress("Fitting ratings ..."):
        found = run(data, families=find_families(family or (), data.agents), least_games=least_games)
    listing.show(found.table(), json=(found.to_dict(), "exposure/1"))


def find_families(given: Sequence[str], agents: Sequence[str]) -> dict[str, list[str]]:
    """Return the agents that match each NAME=PATTERN."""
    families: dict[str, list[str]] = {}
    for text in given:
        name, sign, pattern = text.partition("=")
        if not (name and sign and pattern):
            raise InputError(f"--family is {text!r}: write NAME=PATTERN, for example 'lab=lab-*'")
        members = families.setdefault(name, [])
        members += [agent for agent in agents if fnmatchcase(agent, pattern) and agent not in members]
    for name, members in families.items():
        if len(members) < 2:
            raise InputError(f"--family {name} matches {number_of(len(members), 'agents')}: a family has at least two")
    return families
