"""Columns are recognised by their usual names, or given by the user; never guessed between two."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from nashboard._text import listed, nearest, shortened
from nashboard.errors import InputError

# The two sides of a match, as the tables that people hold name them.
SIDES = (
    ("agent_a", "agent_b"),
    ("model_a", "model_b"),
    ("player_a", "player_b"),
    ("team_a", "team_b"),
    ("bot_a", "bot_b"),
    ("a", "b"),
    ("agent_1", "agent_2"),
    ("model_1", "model_2"),
    ("player_1", "player_2"),
    ("team_1", "team_2"),
    ("competitor_1", "competitor_2"),
    ("generator_1", "generator_2"),
    ("left", "right"),
    ("white", "black"),
    ("home", "away"),
    ("home_team", "away_team"),
    ("agent", "opponent"),
    ("player", "opponent"),
)
OUTCOME = ("winner", "outcome", "result", "score", "win", "label", "preference")
WEIGHT = ("weight", "weights")
TIME = ("time", "timestamp", "tstamp", "date", "datetime", "created_at")
CLUSTER = ("cluster",)
NEUTRAL = ("neutral", "neutral_venue", "neutral_site", "neutral_ground")
OPPONENT = "opponent"  # beside a column of this name, the first agent is the one that reports, not the first side

AGENT = ("agent", "model", "model_name", "method", "algorithm", "system", "player", "bot", "submission")
TASK = (
    "task",
    "task_name",
    "dataset",
    "benchmark",
    "environment",
    "env",
    "game",
    "problem",
    "scenario",
    "subtask",
)
SCORE = ("score", "value", "result", "metric_value", "accuracy", "acc", "return", "reward", "performance")
STDERR = ("stderr", "std_err", "standard_error", "se", "score_stderr")
ITEMS = ("n", "n_samples", "num_samples", "samples", "n_items")
RUNS = ("runs",)
LOWER = ("lower_is_better",)
# Words that switch a column off which would be taken by its name, unless a column is called so.
OFF = ("none", "false")
Named = str | Literal[False] | None  # a column, False for none at all, None to be recognised by its usual name

# Columns and rows that are computed from the others: using them would count tasks twice.
DERIVED = re.compile(
    r"((naive|weighted|unweighted|macro|micro|overall|total) )?(average|avg|mean|median|overall|total|sum)"
    r"( (score|scores|accuracy|acc|performance|result|points|return|reward|rank|ranking|win ?rate))?|"
    r"rank|ranking|position|elo|win ?rate"
)


def derived(name: str) -> bool:
    """Say whether a column or row of this name is an average or a rank of the others."""
    words = re.sub(r"[\W_]+", " ", name.casefold()).strip()  # arrows, underscores and brackets say nothing
    return DERIVED.fullmatch(words) is not None


def folded(name: str) -> str:
    """Return a name without case, spaces and punctuation: ``Model A`` and ``model_a`` are one."""
    return re.sub(r"[\s_\-.]+", "_", name.strip().casefold())


def given(name: str, columns: Sequence[str], source: str) -> str:
    """Return a column that the user named, or say which columns there are."""
    if name not in columns:
        raise InputError(
            f"{source!r} has no column {shortened(name)!r}{nearest(name, columns)}: its columns are "
            f"{listed(columns, 12)}"
        )
    return name


def recognised(usual: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Return the columns that have one of the usual names."""
    wanted = set(map(folded, usual))
    return [name for name in columns if folded(name) in wanted]


def one(role: str, usual: Sequence[str], columns: Sequence[str], source: str, named: str | None) -> str:
    """Return the column for a role: as named, or the only one with a usual name."""
    found = optional(role, usual, columns, source, named)
    if found is None:
        raise InputError(
            f"{source!r} has no column for the {role}: it needs one of {listed(usual, 4)}, but its columns "
            f"are {listed(columns, 12)}",
            hint="pass {option}",
            option=role,
        )
    return found


def switched_off(named: Named, columns: Sequence[str]) -> bool:
    """Say whether the user wants no column for a role: ``False``, or ``none`` where no column is called so."""
    return named is False or (isinstance(named, str) and named.casefold() in OFF and named not in columns)


def optional(role: str, usual: Sequence[str], columns: Sequence[str], source: str, named: Named) -> str | None:
    """Return the column for a role, or None where there is none or none is wanted; two candidates are an error."""
    if switched_off(named, columns):
        return None
    if named is not None and named is not False:
        return given(named, columns, source)
    found = recognised(usual, columns)
    if len(found) > 1:
        raise InputError(
            f"{source!r} has several columns that may be the {role}: {listed(found)}",
            hint="pass {option} to choose",
            option=role,
        )
    return found[0] if found else None


def sides(columns: Sequence[str], source: str, a: str | None, b: str | None) -> tuple[str, str]:
    """Return the columns of the two agents of a match."""
    if (a is None) != (b is None):
        raise InputError(f"a= and b= must be given together; {source!r} has the columns {listed(columns, 12)}")
    if a is not None and b is not None:
        if a == b:
            raise InputError(f"a= and b= both name the column {a!r}: the two agents stand in two columns")
        return given(a, columns, source), given(b, columns, source)
    found = usual_sides(columns)
    if len(found) > 1:
        choices = " or ".join(f"{x!r} and {y!r}" for x, y in found)
        raise InputError(
            f"{source!r} has several pairs of columns that may be the agents: {choices}",
            hint="pass {a} and {b}",
            option={"a": None, "b": None},
        )
    if not found:
        near = near_side(columns)
        raise InputError(
            f"{source!r} has no columns for the two agents of a match{near}; its columns are {listed(columns, 12)}",
            hint="name them model_a and model_b, or pass {a} and {b}",
            option={"a": None, "b": None},
        )
    return found[0]


def usual_sides(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return all pairs of columns with the usual names of the two agents of a match."""
    by_folded = {folded(name): name for name in columns}
    return [(by_folded[x], by_folded[y]) for x, y in SIDES if x in by_folded and y in by_folded]


def near_side(columns: Sequence[str]) -> str:
    """Return a hint where one side is there and the other is nearly so."""
    by_folded = {folded(name): name for name in columns}
    for x, y in SIDES:
        for here, missing in ((x, y), (y, x)):
            if here in by_folded and len(here) > 1:
                rest = [name for name in columns if name != by_folded[here]]
                if hint := nearest(missing, rest):
                    return f"; {by_folded[here]!r} is there but {missing!r} is not{hint}"
    return ""
