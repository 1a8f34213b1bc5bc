"""Columns are recognised by their usual names, or given by the user; never guessed between two that differ.

A name also says that a column is the standard error of another one, that a low score is good, or that it is metadata.
"""

import re
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from nashboard._text import listed, nearest, shortened
from nashboard.errors import InputError

# How public tables tell the two sides of a match apart; the first plays first, at home, or is shown on the left.
OPPOSITES = (
    ("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("white", "black"), ("home", "away"),
    ("home", "visitor"), ("home", "visiting"), ("home", "guest"), ("blue", "red"), ("radiant", "dire"), ("0", "1"),
    ("r", "b"), ("for", "against"), ("one", "two"),
)  # fmt: skip
WON_AND_LOST = (("winner", "loser"), ("winning", "losing"), ("chosen", "rejected"), ("w", "l"))
SHORT = {"r": "red", "b": "blue"}  # corners of a ring
# Words beside the side: those for an agent, for what it scored, and those that change neither.
AGENT_WORDS = frozenset((
    "agent", "model", "models", "player", "team", "bot", "competitor", "generator", "fighter", "engine", "system",
    "policy", "program", "participant", "contestant", "club", "country", "name", "username", "submission", "p",
    "deck", "hero", "champion", "civ", "faction", "item", "candidate", "strategy", "algorithm", "method", "network",
    "variant", "rikishi", "shikona", "boxer", "wrestler", "athlete", "driver", "tag",
    "neutral", "agents", "players", "teams", "checkpoint", "ckpt", "llm", "assistant", "pokemon",
))  # fmt: skip
SCORE_WORDS = frozenset((
    "score", "scores", "goal", "goals", "point", "points", "pts", "runs", "result", "reward", "rewards", "return",
    "returns", "payoff", "sets", "label",
))  # fmt: skip
BESIDE_AGENTS = frozenset((
    "id", "api", "answer", "response", "output", "completion", "map", "match", "game", "full", "user", "side",
))  # fmt: skip
BESIDE_SCORES = frozenset(("final", "full", "time", "ft", "total"))
GLUED = re.compile(r"(home|away|visitor|white|black|left|right|winner|loser)(?=team|player|name|score|goals|points)")
GOALS = (("fthg", "ftag"), ("hg", "ag"))  # of football-data.co.uk
OUTCOME = (
    "winner", "outcome", "result", "score", "win", "label", "preference", "pref", "ftr", "res", "vote", "vote_type",
    "preferred", "verdict", "chosen", "choice", "ft", "type", "won",
)  # fmt: skip
WEIGHT = ("weight", "weights")
TIMES = (  # how often a row of a log stands for: a weight, where there is none of a more usual name
    "count", "counts", "n_games", "num_games", "n_matches", "num_matches", "n_battles", "num_battles",
)  # fmt: skip
TIME = (  # the hour alone comes last: it stands beside the day
    "timestamp", "tstamp", "datetime", "date", "created_at", "match_date", "game_date", "game_date_est",
    "tourney_date", "time",
)  # fmt: skip
CLUSTER = ("cluster",)
REPEATED = (  # columns whose repeated values make rows alike: what is judged first, then who judges
    "question_id", "prompt_id", "question", "prompt", "instruction", "conversation_id", "session_id", "item", "item_id",
    "id", "voter", "voter_id", "user", "user_id", "annotator", "annotator_id", "rater", "rater_id", "worker",
    "worker_id", "judge", "judge_id",
)  # fmt: skip
NEUTRAL = ("neutral", "neutral_venue", "neutral_site", "neutral_ground")
OPPONENT = ("opponent", "opp")  # beside such a column the first agent is the one that reports, not the first side

AGENT = (
    "agent", "model", "model_name", "method", "algorithm", "algo", "system", "player", "bot", "submission", "policy",
    "model_name_or_path", "sys",
)  # fmt: skip
TASK = (
    "task", "task_name", "task_id", "dataset", "benchmark", "environment", "env", "env_id", "game", "problem",
    "problem_id", "scenario", "subtask", "question", "question_id", "item", "item_id", "instance_id", "sample_id",
    "doc_id", "seg_id", "segid",
)  # fmt: skip
SCORE = (
    "score", "value", "result", "metric_value", "accuracy", "acc", "return", "reward", "performance", "pass@1",
    "mqm_avg_score", "correct", "is_correct", "passed", "resolved", "solved", "success", "exact_match",
    "episode_return",
)  # fmt: skip
STDERR = ("stderr", "std_err", "standard_error", "se", "score_stderr")
ITEMS = ("n", "n_samples", "num_samples", "samples", "n_items")
RUNS = ("runs",)
LOWER = ("lower_is_better",)
# Names that count only where a table has no column of a more usual name for the same.
RARE = frozenset((
    "vote", "vote_type", "preferred", "verdict", "chosen", "choice", "ft", "type", "won",
    "algo", "policy", "model_name_or_path", "task_id", "env_id", "problem_id",
    "question", "item_id", "instance_id", "sample_id", "doc_id", "correct", "is_correct", "passed", "resolved",
    "solved", "success", "exact_match", "episode_return",
))  # fmt: skip
# Longer names of the same, which count where a table has none of the usual ones.
LIKE = {
    OUTCOME: re.compile(
        r"((judge|match|game|final|human|annotator|overall|gpt|llm|user|expert|majority|battle) )*"
        r"(winner|outcome|result|verdict|preference|vote|choice)( (name|model|team|tag|id))?"
    ),
    AGENT: re.compile(
        r"name|engine|checkpoint|llm|framework|classifier|solver|learner|(?!judge|base|ref)\w+ model name|"
        r"(agent|model|models|method|algorithm|system|policy|bot|player|team|driver|competitor|handle)"
        r"( name| id| adapter)?"
    ),
    SCORE: re.compile(
        r"((episode|episodic|mean|avg|average|final|test|eval|evaluation|normalized|total|metrics?|results|raw|z) )+"
        r"(score|return|reward|accuracy|acc|performance|value)"
    ),
    TASK: re.compile(r"(task|dataset|benchmark|environment|env|game|problem) (name|id)"),
}
OFF = ("none", "false")  # words that switch a role off, unless a column is called so
Named = str | Literal[False] | None  # a column, False for none at all, None to be recognised by its usual name

# Names of averages. Such a column is left out if its numbers are the averages of the others, see `score_columns`.
AVERAGE = re.compile(
    r"((naive|weighted|unweighted|macro|micro|overall|total|global) )?(average|avg|mean|median|overall|total|sum|score)"
    r"( (score|scores|accuracy|acc|performance|result|points|return|reward|win ?rate|tasks?|task ?type))?"
    r"( \d+ (datasets|tasks|benchmarks))?"
)
RANK = re.compile(r"(overall |mean |average |avg )?(rank|ranking|position|place|placement|rk|#)( ub| lb| borda)?|index")
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


def list_names(given: str | Sequence[str] | None) -> list[str]:
    """Return names that a user gave, one or several."""
    return [given] if isinstance(given, str) else list(given or ())


def is_pattern(text: str) -> bool:
    """Return whether a text has one of the signs of a pattern."""
    return any(sign in text for sign in "*?[")


def find_usual(usual: tuple[str, ...], columns: Sequence[str]) -> list[str]:
    """Return the columns that have one of the usual names, or else a name like them."""
    wanted = set(map(fold, usual))
    found = [name for name in columns if fold(name) in wanted]
    if not found and (like := LIKE.get(usual)):
        found = [name for name in columns if like.fullmatch(" ".join(split_words(name)))]
    return [name for name in found if fold(name) not in RARE] or found


def require_column(role: str, usual: tuple[str, ...], columns: Sequence[str], source: str, named: str | None) -> str:
    """Return the column for a role: as named, or the only one with a usual name."""
    found = find_column(role, usual, columns, source, named)
    if found is None:
        raise InputError(
            f"{source!r} has no column for the {role}, such as {listed(usual, 4)}; not used so far: "
            f"{listed(columns, 12) if columns else 'none'}",
            hint="pass {option}",
            option=role,
        )
    return found


def is_off(named: Named, columns: Sequence[str]) -> bool:
    """Return whether the user wants no column for a role: ``False``, or ``none`` where no column is called so."""
    return named is False or (isinstance(named, str) and named.casefold() in OFF and named not in columns)


def find_column(role: str, usual: tuple[str, ...], columns: Sequence[str], source: str, named: Named) -> str | None:
    """Return the column for a role, or None where there is none or none is wanted; two candidates are an error."""
    if is_off(named, columns):
        return None
    if named is not None and named is not False:
        alike = [name for name in columns if role == "cluster" and fold(name) == fold(named)]  # as without a name
        return alike[0] if len(alike) == 1 else check_column(named, columns, source)
    found = find_usual(usual, columns)
    if len(found) > 1:
        raise InputError(
            f"{source!r} has several columns that may be the {role}: {listed(found)}",
            hint="pass {option} to choose",
            option=role,
        )
    return found[0] if found else None


def find_outcome(
    columns: Sequence[str], source: str, named: str | None, sides: tuple[str, str]
) -> tuple[str, tuple[str, ...]]:
    """Return the column that says how a match between two columns of agents ended, and a note where one was chosen.

    It is the one that is named, one with a usual name, or one that says whether the first side won.
    """
    rest = [name for name in columns if name not in sides]
    usual = find_usual(OUTCOME, rest)
    if named is None and len(usual) > 1 and (who := [name for name in usual if fold(name) == "winner"]):
        others = [name for name in usual if name not in who]
        return who[0], (f"{who[0]!r} is taken for the outcome, not {listed(others)}",)
    if named is None and not usual and (one := find_side_that_won(rest, sides)):
        return one, ()
    return require_column("outcome", OUTCOME, rest if named is None else columns, source, named), ()


def find_side_that_won(columns: Sequence[str], sides: tuple[str, str]) -> str | None:
    """Return the column that says whether the first side won, such as ``radiant_win`` beside ``radiant_name``."""
    words = find_side_words(sides)
    wanted = [{words[0], won} for won in ("win", "wins", "won")] if words else []
    return next((name for name in columns if set(split_words(name)) - AGENT_WORDS in wanted), None)


def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters: of ``HomeTeam``, ``home_team`` and ``hometeam`` the same two.

    >>> split_words("WTeamID"), split_words("player1"), split_words("Home/Neutral")
    (('w', 'team', 'id'), ('player', '1'), ('home', 'neutral'))
    """
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)", "_", name)
    return tuple(re.findall(r"[^\W_]+", GLUED.sub(r"\1_", parts.casefold())))


def find_opposites(
    columns: Sequence[str], opposites: Iterable[tuple[str, str]]
) -> Iterable[tuple[str, str, frozenset[str]]]:
    """Yield the pairs of columns whose names differ in the side alone, with the other words of their names."""
    by_words = {split_words(name): name for name in reversed(columns)}
    for first, second in opposites:
        for words, name in reversed(by_words.items()):
            for place in (k for k, word in enumerate(words) if word == first):
                other = by_words.get((*words[:place], second, *words[place + 1 :]))
                if other is not None:
                    yield name, other, frozenset((*words[:place], *words[place + 1 :]))


def find_agent_pairs(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns that may be the two agents of a match; numbers only where there are no names."""
    found = [
        (first, second, words)
        for first, second, words in (*find_opposites(columns, OPPOSITES), *find_opponents(columns))
        if words <= AGENT_WORDS | BESIDE_AGENTS and (words & AGENT_WORDS or (words <= {"id"} and is_side_alone(first)))
    ]
    best = min((rank_words(words) for *_, words in found), default=None)
    chosen = list(dict.fromkeys((first, second) for first, second, words in found if rank_words(words) == best))
    return chosen[:1] if best and best[0] else chosen  # several numbers are of the same agents


def find_winner_pairs(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns that may be the winner and the loser of a match, names before numbers."""
    found = [
        (first, second, words)
        for first, second, words in find_opposites(columns, WON_AND_LOST)
        if words <= AGENT_WORDS | BESIDE_AGENTS and (words or fold(first).startswith("win"))  # chosen alone is a text
    ]
    return [(first, second) for first, second, _ in sorted(found, key=lambda one: rank_words(one[2]))]


def find_score_pairs(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns that may be what the two sides of a match scored."""
    pairs = [*find_opposites(columns, OPPOSITES), *find_opponents(columns)]
    records = {"result"} if find_win_pairs(columns) else set()  # beside who won, a result is how often so far: 3-1
    found = [
        (first, second)
        for first, second, words in pairs
        if words & (SCORE_WORDS - records) and words <= SCORE_WORDS | AGENT_WORDS | BESIDE_SCORES
    ]
    there = {fold(name): name for name in columns}
    found += [(there[x], there[y]) for x, y in GOALS if x in there and y in there]
    return found or find_repeated_scores(columns)


def find_repeated_scores(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the columns ``PTS`` and ``PTS.1``, which have one name in a file, in the order of the two sides."""
    names = [name for name in columns if f"{name}.1" in columns and {*split_words(name)} <= {*SCORE_WORDS, "g"}]
    if not names or not (sides := find_agent_pairs(columns)):
        return []
    both, order = (names[0], f"{names[0]}.1"), [list(columns).index(side) for side in sides[0]]
    return [both if order[0] < order[1] else both[::-1]]


def find_win_pairs(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns that count the wins of the two sides, such as ``bot_1_wins`` and ``bot_2_wins``."""
    won = frozenset(("win", "wins", "won", "votes"))
    pairs = find_opposites(columns, OPPOSITES)
    return [(first, second) for first, second, words in pairs if words & won and words <= won | AGENT_WORDS]


def find_opponents(columns: Sequence[str]) -> Iterable[tuple[str, str, frozenset[str]]]:
    """Yield pairs such as ``team`` and ``opponent``, ``reward`` and ``opponent_reward``."""
    words = {name: split_words(name) for name in columns}
    for second in columns:
        if is_of_opponent(second):
            rest = words[second][1:]
            for first in columns:
                alone = not rest and len(words[first]) == 1 and set(words[first]) <= AGENT_WORDS - {"p", "neutral"}
                if (rest and words[first] == rest) or words[first] == ("team", *rest) or alone:
                    yield first, second, frozenset(words[first])


def is_of_opponent(name: str) -> bool:
    """Return whether a column is about the opponent of the agent that a row is about."""
    return split_words(name)[:1] in [(word,) for word in OPPONENT]


def is_side_alone(name: str) -> bool:
    """Return whether a column can be called by its side alone: ``white`` and ``a`` can, ``1`` and ``r`` cannot."""
    side = split_words(name)[0]
    return side == "a" or (len(side) > 1 and side.isalpha() and side != "for")


def rank_words(words: frozenset[str]) -> tuple[bool, bool]:
    """Return how well a column names agents: a name first, a number last."""
    return "id" in words, "name" not in words


def find_side_words(sides: tuple[str, str]) -> tuple[str, str] | None:
    """Return the words by which the names of two columns differ, such as ``home`` and ``away``."""
    first, second = map(split_words, sides)
    differ = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    if len(first) != len(second) or len(differ) != 1 or differ[0] not in OPPOSITES:
        return None
    return (SHORT["r"], SHORT["b"]) if differ[0] == ("r", "b") else differ[0]


def find_sides(columns: Sequence[str], source: str, a: str | None, b: str | None) -> tuple[str, str]:
    """Return the columns of the two agents of a match."""
    if (a is None) != (b is None):
        raise InputError(f"a= and b= must be given together; {source!r} has the columns {listed(columns, 12)}")
    if a is not None and b is not None:
        if a == b:
            raise InputError(f"'a' and 'b' both name the column {a!r}: the two agents need a column each")
        return check_column(a, columns, source), check_column(b, columns, source)
    found = find_agent_pairs(columns)
    if len(found) > 1:
        choices = " or ".join(f"{x!r} and {y!r}" for x, y in found)
        raise InputError(
            f"{source!r} has several pairs of columns that may be the agents: {choices}",
            hint="pass {a} and {b}",
            option={"a": None, "b": None},
        )
    if not found:
        raise InputError(
            f"{source!r} has no columns for the two agents of a match; its columns are {listed(columns, 12)}",
            hint="name them model_a and model_b, or pass {a} and {b}",
            option={"a": None, "b": None},
        )
    return found[0]


Directions = bool | str | Sequence[str] | None  # what a user says: all tasks, or names and patterns of some
# Ends of names, the part before them being a task; lm-evaluation-harness puts a filter behind a comma. The short ones
# may also be a language: their values decide.
ERROR_OF = re.compile(r"(?P<task>.+)_(stderr|std_err|standard_error)(?P<filter>(,.*)?)")
ERROR_BEFORE = re.compile(r"(stderr|std_err|standard_error)_(of_)?(?P<task>.+)(?P<filter>)")
PERHAPS_ERROR_OF = re.compile(r"(?P<task>.+)_(se|sem)(?P<filter>)")
ITEMS_OF = re.compile(r"(?P<task>.+)_(n|count|n_items|n_samples|num_samples|samples)(?P<filter>)")
HALF_OF = re.compile(r"(?P<task>.+)_(ci|ci_?95|95_?ci|moe|margin)(?P<filter>)")
SPREAD_OF = re.compile(r"(?P<task>.+)_(std|sd|stdev|std_dev)(?P<filter>)")

HIGH_IS_GOOD = "a high score counts as good on"
LOW_IS_GOOD = frozenset((
    "latency", "perplexity", "ppl", "runtime", "seconds", "milliseconds", "ms", "rmse", "mse", "mae", "wer", "fid",
    "fvd", "lpips", "nll", "brier",
))  # fmt: skip
# These also begin names of tasks where high is good (time series, error correction): only at the end, or before a unit.
LOW_AT_THE_END = frozenset(
    ("loss", "error", "errors", "cost", "costs", "time", "duration", "regret", "toxicity", "hallucination")
)
UNITS = frozenset(("rate", "s", "sec", "min", "minutes", "hours", "usd", "eur", "dollars", "percent", "mean", "avg"))


def find_by_ending(pattern: re.Pattern[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the columns whose name is that of another one with such an ending, and of which."""
    there = {fold(name).removesuffix("_mean"): name for name in columns} | {fold(name): name for name in columns}
    ends = {name: pattern.fullmatch(fold(name)) for name in columns}
    bases = {name: match["task"] + match["filter"] for name, match in ends.items() if match}
    return {name: there[base] for name, base in bases.items() if base in there}


def note_low_names(tasks: Iterable[str], asked: Directions, said: Container[str]) -> tuple[str, ...]:
    """Return the note about tasks where by their names a low score is good and nobody said so."""
    if isinstance(asked, bool):
        return ()
    patterns = list_names(asked)
    low = [
        task
        for task in tasks
        if task not in said
        and is_called_low(task)
        and not has_low_arrow(task)
        and not any(fnmatchcase(task, pattern) for pattern in patterns)
    ]
    if not low:
        return ()
    return (f"{HIGH_IS_GOOD} {listed(low)}: if a low one is, pass {spell_option('lower_is_better', low)}",)


def spell_option(name: str, values: list[str]) -> str:
    """Return how to pass names of columns or tasks: in Python, and on the command line as a shell takes it."""
    shown = [shortened(value) for value in values[:3]]
    dots = ", ..." if len(values) > len(shown) else ""
    in_python = f"{name}=[{', '.join(map(repr, shown))}{dots}]"
    if any("," in value for value in shown):  # there a comma separates names
        return in_python
    return f"{in_python} (-r {shlex.quote(name + '=' + ','.join(shown))}{dots.replace(' ', '')})"


def has_low_arrow(task: str) -> bool:
    """Return whether a name says by an arrow that a low score is good: ``FID ↓``."""
    return any(arrow in task for arrow in "↓⬇🔽")


def is_called_low(task: str) -> bool:
    """Return whether a task is called by something of which less is better."""
    words = re.sub(r"[\W_]+", " ", task.casefold()).split()
    if not LOW_IS_GOOD.isdisjoint(words):
        return True
    while words and words[-1] in UNITS:
        words.pop()
    return bool(words) and words[-1] in LOW_AT_THE_END


def note_errors(errors: Mapping[str, str]) -> tuple[str, ...]:
    """Return the note about columns that are read as standard errors of others."""
    if not errors:
        return ()
    columns = list(errors)
    what = f"column {listed(columns)} is" if len(columns) == 1 else f"columns {listed(columns)} are"
    them = "it" if len(columns) == 1 else "them"
    return (
        f"{what} taken for the standard errors of {listed(errors.values())}; {spell_option('ignore', columns)} leaves "
        f"{them} out",
    )


def note_counted(columns: Mapping[str, str], what: str) -> tuple[str, ...]:
    """Return the note about columns that are read as tasks, although they may be something else."""
    if not columns:
        return ()
    verb = "counts as a task" if len(columns) == 1 else "count as tasks"
    return (
        f"{listed(columns)} may contain {what} of {listed(columns.values())}, but {verb}: pass "
        f"{spell_option('ignore', list(columns))}, or give names that end in _stderr to standard errors",
    )


# Columns beside the scores that describe an agent or a row: whole names only, since tasks are called alike
# (date_understanding, length of stay, cost of living).
KINDS_OF = r"((total|avg|average|mean|max|median|api|estimated|inference|output|input|prompt|response|context|n|num) )*"
WORDS = {
    "parameters": r"(total |active |number of |num |n )?(params?|parameters)( b| m| billions?| in billions)?|"
    r"(model |parameter )?size( b| gb| mb)?( million parameters| billion parameters)?|memory usage( \w+)*|"
    r"(embedding |hidden )?(dimensions?|dims?)|v?ram( gb)?|memory( gb)?|((num|n|number of) )?layers|"
    r"lr|learning rate|batch size|weight decay|dropout|param \w+",
    "owners": r"(model )?licen[cs]e|organi[sz]ation|org|provider|company|developer|creator|country",
    "dates": r"(release |submission |upload |eval |knowledge |training )?(date|year|month)( cutoff)?|"
    r"(knowledge )?cutoff( date)?|(created|updated|submitted|released)( at| on)?|timestamp|tstamp",
    "links": r"url|link|homepage|paper|repo|repository|github|hf link|sha|revision|commit|hub|"
    r"(hub |total )?(likes|downloads)( total| last month)?",
    "votes": r"(number of |num |n )?(votes|battles|games|matches|wins|losses|draws|ties|gms?)|n (wins base|total)",
    "costs": KINDS_OF
    + r"(cost|costs|price|pricing|spend)( usd| eur| m| 1m| k| 1k| tokens| mtok| in| out| input| output)*( per .*)?",
    "tokens": KINDS_OF + r"(tokens?|tok)( used| count)?",
    "lengths": KINDS_OF + r"((seq|sequence) )?(length|len|context window|num chars|words)",
    "counts": r"(num|n|total) (items|samples|questions|tasks|examples|instances|runs|seeds|shots?)|(few )?shots|"
    r"number of \w+|n|(\w+ )?count",
    "emissions": r"co2( cost| emissions?)?( kg)?",
    "intervals": r"(95 )?ci( lower| upper| 95)?|(lower|upper)( bound| ci)?|confidence interval|rating q?(025|975)|"
    r"rd|(rating )?(deviation|volatility)",
}
METADATA = {what: re.compile(pattern) for what, pattern in WORDS.items()}


def find_metadata(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns that by their names describe an agent or a row, and what they hold.

    >>> find_metadata(["avg_length", "n_total", "#Params (B)", "date_understanding", "win_rate"])
    {'avg_length': 'lengths', 'n_total': 'votes', '#Params (B)': 'parameters'}
    """
    found = {}
    for name in columns:
        words = {fold_words(re.sub("^#", "number of ", name.strip())), " ".join(split_words(name))}
        if re.fullmatch(r"\w+(\.\w+)+", name):  # of an object
            words.add(fold_words(name.rpartition(".")[2]))
        for what, pattern in METADATA.items():
            if any(map(pattern.fullmatch, words)):
                found[name] = what
                break
    return found
