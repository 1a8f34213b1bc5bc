"""Columns are recognised by their usual names, or given by the user; never guessed between two that differ."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from nashboard._text import listed, nearest, shortened
from nashboard.errors import InputError

# The two sides of a match, by the names that public tables give them.
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
    ("agent1", "agent2"),
    ("model1", "model2"),
    ("player1", "player2"),
    ("team1", "team2"),
    ("competitor_1", "competitor_2"),
    ("generator_1", "generator_2"),
    ("first", "second"),
    ("left", "right"),
    ("white", "black"),
    ("home", "away"),
    ("home_team", "away_team"),
    ("hometeam", "awayteam"),
    ("home_team_name", "away_team_name"),
    ("agent", "opponent"),
    ("player", "opponent"),
    ("team", "opponent"),
)
# The winner and the loser of a match, names before numbers: ids often stand beside names.
WINNER_LOSER = (
    ("winner_name", "loser_name"),
    ("winner", "loser"),
    ("winner_team", "loser_team"),
    ("winning_team", "losing_team"),
    ("winning_player", "losing_player"),
    ("winner_player", "loser_player"),
    ("wteam", "lteam"),
    ("winner_id", "loser_id"),
    ("wteamid", "lteamid"),
)
# What the two sides of a match scored.
TWO_SCORES = (
    ("home_score", "away_score"),
    ("home_goals", "away_goals"),
    ("home_points", "away_points"),
    ("home_team_score", "away_team_score"),
    ("home_team_goals", "away_team_goals"),
    ("home_runs", "away_runs"),
    ("fthg", "ftag"),
    ("hg", "ag"),
    ("score_home", "score_away"),
    ("goals_home", "goals_away"),
    ("score_a", "score_b"),
    ("points_a", "points_b"),
    ("score_1", "score_2"),
    ("score1", "score2"),
    ("goals_1", "goals_2"),
    ("goals1", "goals2"),
    ("points_1", "points_2"),
    ("points1", "points2"),
    ("team_score", "opponent_score"),
    ("goals_for", "goals_against"),
)
OUTCOME = ("winner", "outcome", "result", "score", "win", "label", "preference", "ftr")
WEIGHT = ("weight", "weights")
TIME = ("time", "timestamp", "tstamp", "date", "datetime", "created_at", "match_date", "game_date", "tourney_date")
CLUSTER = ("cluster",)
REPEATED = (  # columns whose repeated values make rows alike: what is judged first, then who judges
    "question_id", "prompt_id", "question", "prompt", "instruction", "conversation_id", "session_id", "item", "item_id",
    "id", "voter", "voter_id", "user", "user_id", "annotator", "annotator_id", "rater", "rater_id", "worker",
    "worker_id", "judge", "judge_id",
)  # fmt: skip
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
    "question_id",
    "item",
    "seg_id",
)
SCORE = (
    "score", "value", "result", "metric_value", "accuracy", "acc", "return", "reward", "performance", "pass@1",
    "mqm_avg_score",
)  # fmt: skip
STDERR = ("stderr", "std_err", "standard_error", "se", "score_stderr")
ITEMS = ("n", "n_samples", "num_samples", "samples", "n_items")
RUNS = ("runs",)
LOWER = ("lower_is_better",)
GROUP = ("group", "category", "suite")
OFF = ("none", "false")  # words that switch a role off, unless a column is called so
Named = str | Literal[False] | None  # a column, False for none at all, None to be recognised by its usual name

# Names of averages. Such a column is left out if its numbers are the averages of the others, see `wide_scores`.
AVERAGE = re.compile(
    r"((naive|weighted|unweighted|macro|micro|overall|total|global) )?(average|avg|mean|median|overall|total|sum)"
    r"( (score|scores|accuracy|acc|performance|result|points|return|reward|win ?rate))?"
)
RANK = re.compile(r"(overall |mean |average )?(rank|ranking|position|place|#)( ub| lb)?|index")
WIN_RATE = re.compile(r"(mean )?(elo|win ?rate)")


def fold_words(name: str) -> str:
    """Return a name as small words: arrows, underscores and brackets are spaces."""
    return re.sub(r"[\W_]+", " ", name.casefold()).strip()


def is_average(name: str) -> bool:
    """Return whether a column or row is called like an average of the others."""
    return AVERAGE.fullmatch(fold_words(name)) is not None


def is_rank(name: str) -> bool:
    """Return whether a column is called like a rank."""
    return RANK.fullmatch(fold_words(name) or name.strip()) is not None


def is_derived(name: str) -> bool:
    """Return whether a row or result of this name is an average, a rank or a win rate over the others."""
    return is_average(name) or is_rank(name) or WIN_RATE.fullmatch(fold_words(name)) is not None


def fold(name: str) -> str:
    """Return a name without case, spaces and punctuation: ``Model A`` and ``model_a`` are one."""
    return re.sub(r"[\s_\-.]+", "_", name.strip().casefold())


def check_column(name: str, columns: Sequence[str], source: str) -> str:
    """Return a column that the user named, or raise an error that lists the columns."""
    if name not in columns:
        raise InputError(
            f"{source!r} has no column {shortened(name)!r}{nearest(name, columns)}: its columns are "
            f"{listed(columns, 12)}"
        )
    return name


def match_names(patterns: Iterable[str], names: Sequence[str], source: str, what: str) -> list[str]:
    """Return the names that are given, each as it is or by a pattern such as ``*_length``.

    A pattern or name that matches nothing is an error.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        if pattern in names:
            found[pattern] = None
            continue
        matching = [name for name in names if fnmatchcase(name, pattern)] if is_pattern(pattern) else []
        if not matching:
            raise InputError(
                f"{source!r} has no {what} {shortened(pattern)!r}{nearest(pattern, names)}: there are "
                f"{listed(names, 12)}"
            )
        found |= dict.fromkeys(matching)
    return list(found)


def is_pattern(text: str) -> bool:
    """Return whether a text has one of the signs of a pattern."""
    return any(sign in text for sign in "*?[")


def find_usual(usual: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Return the columns that have one of the usual names."""
    wanted = set(map(fold, usual))
    return [name for name in columns if fold(name) in wanted]


def require_column(role: str, usual: Sequence[str], columns: Sequence[str], source: str, named: str | None) -> str:
    """Return the column for a role: as named, or the only one with a usual name."""
    found = find_column(role, usual, columns, source, named)
    if found is None:
        raise InputError(
            f"{source!r} has no column for the {role}: it needs one of {listed(usual, 4)}, but its columns "
            f"are {listed(columns, 12)}",
            hint="pass {option}",
            option=role,
        )
    return found


def is_off(named: Named, columns: Sequence[str]) -> bool:
    """Return whether the user wants no column for a role: ``False``, or ``none`` where no column is called so."""
    return named is False or (isinstance(named, str) and named.casefold() in OFF and named not in columns)


def find_column(role: str, usual: Sequence[str], columns: Sequence[str], source: str, named: Named) -> str | None:
    """Return the column for a role, or None where there is none or none is wanted; two candidates are an error."""
    if is_off(named, columns):
        return None
    if named is not None and named is not False:
        return check_column(named, columns, source)
    found = find_usual(usual, columns)
    if len(found) > 1:
        raise InputError(
            f"{source!r} has several columns that may be the {role}: {listed(found)}",
            hint="pass {option} to choose",
            option=role,
        )
    return found[0] if found else None


def find_sides(columns: Sequence[str], source: str, a: str | None, b: str | None) -> tuple[str, str]:
    """Return the columns of the two agents of a match."""
    if (a is None) != (b is None):
        raise InputError(f"a= and b= must be given together; {source!r} has the columns {listed(columns, 12)}")
    if a is not None and b is not None:
        if a == b:
            raise InputError(f"a= and b= both name the column {a!r}: the two agents stand in two columns")
        return check_column(a, columns, source), check_column(b, columns, source)
    found = find_pairs(SIDES, columns)
    if len(found) > 1:
        choices = " or ".join(f"{x!r} and {y!r}" for x, y in found)
        raise InputError(
            f"{source!r} has several pairs of columns that may be the agents: {choices}",
            hint="pass {a} and {b}",
            option={"a": None, "b": None},
        )
    if not found:
        raise InputError(
            f"{source!r} has no columns for the two agents of a match{nearest_side(columns)}; its columns are "
            f"{listed(columns, 12)}",
            hint="name them model_a and model_b, or pass {a} and {b}",
            option={"a": None, "b": None},
        )
    return found[0]


def find_pairs(pairs: Iterable[tuple[str, str]], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return all pairs of columns with such names, in the order of the list."""
    by_folded = {fold(name): name for name in columns}
    return [(by_folded[x], by_folded[y]) for x, y in pairs if x in by_folded and y in by_folded]


def nearest_side(columns: Sequence[str]) -> str:
    """Return a hint where one side is there and the other is nearly so."""
    by_folded = {fold(name): name for name in columns}
    for x, y in SIDES:
        for here, missing in ((x, y), (y, x)):
            if here in by_folded and len(here) > 1:
                rest = [name for name in columns if name != by_folded[here]]
                if hint := nearest(missing, rest):
                    return f"; {by_folded[here]!r} is there but {missing!r} is not{hint}"
    return ""
