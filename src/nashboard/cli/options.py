"""The options that several commands share: name, help and accepted values.

A command declares ``level: options.Level = options.LEVEL``. A parameter that is a dataclass, such as `Reading` and
`Evaluating` (`reading`) or `Showing` (`output`), is expanded to one option per field. An option that would have no
effect is an error (`refuse`).
"""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from nashboard._text import either, listed, nearest
from nashboard.errors import InputError

LEVEL, RESAMPLES, SEED = 0.95, 200, 0
FOR_MATCHES = "it is for matches, and these are scores"
FOR_SCORES = "it is for scores of agents on tasks, and these are matches"
ROWS = 20  # of a long table on a screen, without --top
CONTEXT: ContextVar[typer.Context] = ContextVar("CONTEXT")  # of the running command


# the choices of options that accept a few words
Format = StrEnum("Format", ["text", "json", "csv", "md", "latex"])
MissingWay = StrEnum(
    "MissingWay",
    {"drop_agents": "drop-agents", "drop_tasks": "drop-tasks", "mean": "mean", "median": "median", "worst": "worst"},
)
Scaling = StrEnum("Scaling", ["range", "rank", "zscore", "none"])
Selection = StrEnum("Selection", {"clone_invariant": "clone-invariant", "maxent": "maxent"})
Components = StrEnum("Components", ["error", "largest", "each"])
Noise = StrEnum("Noise", ["model", "none"])
ColumnChoice = StrEnum("ColumnChoice", ["default", "all"])
ErrorMethod = StrEnum("ErrorMethod", ["hessian", "sandwich", "bootstrap"])
DrawModel = StrEnum("DrawModel", ["half", "davidson"])


def parse_number_or(word: str, number: Callable[[str], float] = float) -> Callable[[str], Any]:
    """Return a parser of options that accept a number or one word."""
    what = "a whole number" if number is int else "a number"

    def parse(text: str) -> Any:
        try:
            return text if text == word else number(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is neither {what} nor {word!r}") from None

    return parse


# what to read ---------------------------------------------------------------------------------------------------------
SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file, a folder, a glob, - for standard input, dataset:NAME, or an address: sqlite:///FILE, "
        "duckdb:///FILE, postgresql://USER@HOST/DATABASE, s3://..., gs://..., az://..., hf://..., https://...",
    ),
]
AsOption = Annotated[str | None, typer.Option("--as", metavar="FORMAT", help="Read FILE as this format.")]
ReadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        "-r",
        metavar="NAME=VALUE",
        help="Reader option, can be repeated: a=, b=, outcome=, weight=, time=, cluster=, neutral=, agent=, task=, "
        "score= name columns (weight=none uses no weight; time, cluster and neutral likewise); "
        "outcomes=LABEL:VALUE,... defines labels (none leaves rows out); bad_rows=skip; self_matches=drop; "
        "where=COLUMN:VALUE,...; lower_is_better=TASK,...; ignore=COLUMN,...; repeats=runs; metric=; symmetrise=true; "
        "separator=; table= and query= for a database.",
    ),
]
TableOption = Annotated[str | None, typer.Option("--table", metavar="NAME", help="The table of a database to read.")]
QueryOption = Annotated[
    str | None, typer.Option("--query", metavar="SQL", help="The query of a database whose result is read.")
]

# which entries --------------------------------------------------------------------------------------------------------
Agents = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="Only these agents, such as 'gpt-*'; can be repeated.")
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Not these agents; can be repeated.")]
Missing = Annotated[
    MissingWay | None,
    typer.Option(help="Drop agents or tasks with missing scores, or fill in the mean, median or worst of the task."),
]
ComponentsOption = Annotated[
    Components,
    typer.Option(help="Where groups of agents never met: stop with an error, take the largest group, or each group."),
]
Segment = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="One board for each value of this column, and a comparison.")
]
Prompts = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column of prompts, or their categories, for deviation.")
]
Voter = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that says who voted.")]
MinGames = Annotated[int | None, typer.Option(help="Leave out agents with fewer games.", min=1)]

# how to evaluate ------------------------------------------------------------------------------------------------------
Resamples = Annotated[int, typer.Option(help="Number of draws from the posterior, or of bootstrap resamples.", min=1)]
Seed = Annotated[int, typer.Option(help="Seed of all random numbers; the same seed gives the same output.", min=0)]
Level = Annotated[float, typer.Option(help="Level of intervals and tests: 0.95 for 95%.")]
Margin = Annotated[
    float | None,
    typer.Option(
        help="Largest difference that does not matter, in the unit of the result; in audit a share of a task's range, "
        "0.05 unless given."
    ),
]
NoiseOption = Annotated[
    Noise, typer.Option(help="Whether results contain noise (model), or are exact as in the paper (none).")
]
ToleranceOption = Annotated[
    Any,
    typer.Option(
        parser=parse_number_or("noise"),
        metavar="NUMBER",
        help="With --noise none: take the most even mixture of at most this exploitability; noise derives it from the "
        "standard errors.",
    ),
]
NoPool = Annotated[bool, typer.Option("--no-pool", help="Keep near-duplicates apart instead of pooling their data.")]
ScalingOption = Annotated[Scaling, typer.Option(help="Units of raw scores.")]
SelectionOption = Annotated[Selection, typer.Option(help="The equilibrium to take where there are several.")]
Anchor = Annotated[
    list[str] | None, typer.Option(metavar="NAME=RATING", help="Fix the rating of an agent; can be repeated.")
]
Errors = Annotated[
    ErrorMethod | None,
    typer.Option(help="How standard errors are computed; sandwich (draws and clusters count) unless given."),
]
Prior = Annotated[
    Any,
    typer.Option(
        parser=parse_number_or("learned"),
        metavar="PRIOR",
        help="learned: the spread of ratings is estimated from the games. A number: each agent is given so many draws "
        "against an average agent; 0 is maximum likelihood.",
    ),
]
FirstAdvantage = Annotated[
    bool, typer.Option("--first-advantage", help="Estimate what the first side (white, home) is worth.")
]
Planes = Annotated[
    Any,
    typer.Option("--k", metavar="K", parser=parse_number_or("auto", int), help="Number of planes for cycles, or auto."),
]
Workers = Annotated[
    int | None, typer.Option(help="Number of workers; all cores unless given. Results do not depend on it.", min=1)
]

# what to show ---------------------------------------------------------------------------------------------------------
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", help="How to print the result; with -o the ending decides.", show_default="text"),
]
Tasks = Annotated[bool, typer.Option("--tasks", help="Show the tasks instead of the agents (scores only).")]
Top = Annotated[int | None, typer.Option(help="Show only this many rows.", min=1)]
Call = Annotated[
    str | None, typer.Option(metavar="NOUN", help="What agents are called, in the plural: models, teams, players.")
]
Columns = Annotated[
    ColumnChoice, typer.Option(help="Show the usual columns, or all; the meaning of each is printed below the board.")
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option("--method", "-m", metavar="NAME", help="A way to rank, as `nashboard methods` lists them."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the result to a file instead: .json, .md, .csv, .tex, .txt; of evaluate also .html.",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION", help="End with exit code 3 if this is true; repeat it, or separate several by commas."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes; only results and errors.")]


def value(choice: StrEnum | None) -> Any:
    """Return the value of a choice, as the library takes it."""
    return None if choice is None else choice.value


def given_options() -> dict[str, str]:
    """Return the options of the running command that the user typed, and how they are spelled."""
    context = CONTEXT.get(None)
    if context is None:  # called as a function
        return {}
    return {
        str(parameter.name): max(parameter.opts, key=len)
        for parameter in context.command.params
        if parameter.param_type_name == "option"
        and (source := context.get_parameter_source(str(parameter.name))) is not None
        and source.name == "COMMANDLINE"
    }


def refuse(names: Iterable[str], why: str) -> None:
    """Raise an error if the user typed any of these options, since they would have no effect."""
    typed = given_options()
    for name in names:
        if name in typed:
            raise InputError(f"{typed[name]} has no effect: {why}")


def parse_anchors(given: list[str] | None) -> dict[str, float] | None:
    """Return the ratings of all ``--anchor NAME=RATING``."""
    ratings: dict[str, float] = {}
    for text in given or []:
        name, equals, rating = text.rpartition("=")
        try:
            value = float(rating)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"--anchor takes an agent and a rating, such as --anchor gnugo=1800, not {text!r}")
        if ratings.setdefault(name, value) != value:
            raise InputError(f"--anchor gives {name!r} two ratings, {ratings[name]:g} and {value:g}: give one")
    return ratings or None


# --fail-on: a condition returns the reason why it is true of a result, or an empty text ----------------------------
FAILED = 3  # exit code of a command whose condition is true
Conditions = Mapping[str, Callable[[Any], str]]


def verdict_is(*verdicts: str) -> Callable[[Any], str]:
    """Return a condition on the verdict of a comparison, or of any of several."""
    return lambda found: " ".join(row.sentence for row in getattr(found, "rows", (found,)) if row.verdict in verdicts)


def join_checks(checks: Iterable[Any], passed: bool | None) -> str:
    """Return the sentences of the checks with this result, or an empty text."""
    return "; ".join(f"{check.heading}: {check.sentence}" for check in checks if check.passed is passed)


def join_agents(text: str, agents: Iterable[str]) -> str:
    """Return a sentence about agents, or an empty text if there are none."""
    agents = tuple(agents)
    return f"{text}: {listed(agents)}" if agents else ""


COMPARE: Conditions = {
    "worse": verdict_is("worse"),
    "not-better": verdict_is("worse", "equivalent", "undecided"),
    "undecided": verdict_is("undecided"),
    "different": verdict_is("better", "worse"),
}
CHANGES: Conditions = {
    "first-changed": lambda found: found.summary[0] if found.first_changed else "",
    "moved": lambda found: join_agents("moved beyond noise", found.moved),
    "worse": lambda found: join_agents(
        "fell beyond noise", (move.agent for move in found.moves if move.beyond_noise and move.relative < 0)
    ),
    "missing": lambda found: join_agents("not in the new evaluation", found.left),
}
AUDIT: Conditions = {
    "failed": lambda found: join_checks(found.checks, False),
    "open": lambda found: join_checks(found.checks, None),
    "near-duplicates": lambda found: join_checks([one for part in found.redundancy for one in part.checks()], False),
}


def check_conditions(names: Iterable[str] | None, known: Conditions) -> list[str]:
    """Return the names of conditions, split at commas; an unknown one is an error."""
    wanted = [name.strip() for text in names or () for name in text.split(",")]
    for name in wanted:
        if name not in known:
            raise InputError(
                f"there is no condition {name!r}{nearest(name, known)}: use {either(known)}", option="fail_on"
            )
    return wanted


def exit_if(found: Any, names: Iterable[str] | None, known: Conditions) -> None:
    """End with exit code 3 if one of the conditions of ``--fail-on`` is true, and print why."""
    reasons = {name: known[name](found) for name in dict.fromkeys(check_conditions(names, known))}
    for name, reason in reasons.items():
        if reason:
            typer.echo(f"nashboard: {name}: {reason}", err=True)
    if any(reasons.values()):
        raise typer.Exit(FAILED)
