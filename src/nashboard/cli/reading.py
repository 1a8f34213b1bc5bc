"""Input of all commands: FILE, ``--as NAME``, ``-r NAME=VALUE``, and the choice of agents and scores.

The readers' options keep their Python names on the command line. Errors carry their hints as data
(`nashboard.errors`); `make_spelling` spells the options in them as they are typed.
"""

import contextlib
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import typer

from nashboard._progress import show_progress
from nashboard._tables import clean_text
from nashboard._text import listed, nearest
from nashboard.cli import options
from nashboard.cli.options import FOR_MATCHES, FOR_SCORES, Components, MissingWay, refuse
from nashboard.cli.output import hide_native_errors, print_note
from nashboard.errors import InputError, Spelling

if TYPE_CHECKING:
    from nashboard.data.formats.format import Data
    from nashboard.data.games import Games
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores


@dataclass
class Turn:
    """The current group of ``--components each``, and how many there are; a command runs once for each."""

    number: int = 0
    count: int = 1
    read: dict[str, "Data"] = field(default_factory=dict)  # by source, since standard input can be read once


TURN: ContextVar[Turn] = ContextVar("TURN")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The options for reading FILE, as one parameter of a command."""

    as_format: options.AsOption = None
    read: options.ReadOption = None
    table: options.TableOption = None
    query: options.QueryOption = None

    def keywords(self) -> dict[str, Any]:
        """Return the keyword arguments of the reader."""
        named = [f"{name}={value}" for name in DATABASE if (value := getattr(self, name)) is not None]
        return parse_reader_options([*(self.read or []), *named])

    def data(self, source: str, *, verbose: bool = True) -> "Data":
        """Read the source; ``verbose`` prints notes on rows that its options left out (evaluations warn themselves)."""
        from nashboard.data.read import read

        known = TURN.get(Turn()).read
        if source in known:
            return known[source]
        keywords = self.keywords()
        with show_reading(source):
            data = known[source] = read(source, format=self.as_format, **keywords)
        if verbose and not {"components", "min_games", "bad_rows"}.isdisjoint(keywords):
            for text in (*map(str, data.origin.left_out), *data.origin.notes):
                print_note(text)
        return data

    def games(self, source: str, **more: Any) -> "Games":
        """Read a log game by game."""
        from nashboard.data.read import read_games

        keywords = self.keywords() | more
        with show_reading(source):
            return read_games(source, format=self.as_format, **keywords)


@dataclass(frozen=True, kw_only=True)
class Connecting:
    """The options that choose agents, as one parameter of a command."""

    agents: options.Agents = None
    exclude: options.Exclude = None
    min_games: options.MinGames = None
    components: options.ComponentsOption = Components.error

    def read(self, source: str, reading: Reading, *, verbose: bool = True) -> "Data":
        """Read the data of the chosen agents."""
        return choose_agents(reading.data(source, verbose=verbose), self.agents, self.exclude)

    def keep(self, data: Any, *, of: str | None = None, one: str = "") -> Any:
        """Return the data of agents with enough games, of the largest group or of the current one.

        ``of`` is an agent whose group is taken, and ``one`` the reason why a command takes one group only.
        """
        from nashboard.data.matches import Matches
        from nashboard.data.segments import split_components

        kept = keep_connected(data, self.components, self.min_games)
        if self.components is not Components.each or not isinstance(kept, Matches):
            return kept
        if one:
            raise InputError(f"{one}: use --components largest")
        parts, turn = split_components(kept, "each"), TURN.get()
        if of is not None:  # an agent without games is an error of the command
            parts = tuple(part for part in parts if of in part.agents) or (kept,)
        elif turn.number == 0 and (idle := [group[0] for group in kept.components if len(group) == 1]):
            print_note(f"left out, since they have no games: {listed(idle)}")
        turn.count, part = len(parts), parts[turn.number]
        typer.echo("\n" * (turn.number > 0) + f"group of {clean_text(part.components[0][0])}")
        return part

    def matches(self, source: str, reading: Reading, *, of: str | None = None) -> "Matches":
        """Read matches; other data are an error."""
        from nashboard.data.matches import Matches

        data = self.read(source, reading)
        if not isinstance(data, Matches):
            kind = type(data).__name__.lower()
            raise InputError(f"{source!r} contains {kind}, not matches: ratings need results of matches")
        kept: Matches = self.keep(data, of=of)
        return kept

    def to_rank(self, source: str, reading: Reading, missing: str | None) -> "Data":
        """Read complete scores or connected matches; options of the other kind of data are an error."""
        from nashboard.data.scores import Scores

        data = complete(self.read(source, reading), missing)
        if isinstance(data, Scores):
            refuse(("min_games", "components"), FOR_MATCHES)
        else:
            refuse(("scaling", "tasks"), FOR_SCORES)
        kept: Data = self.keep(data)
        return kept


@dataclass(frozen=True, kw_only=True)
class Evaluating(Connecting):
    """The options of commands that evaluate, as one parameter."""

    resamples: options.Resamples = options.RESAMPLES
    seed: options.Seed = options.SEED
    level: options.Level = options.LEVEL
    segment: options.Segment = None
    anchor: options.Anchor = None
    scaling: options.ScalingOption = options.Scaling.range
    selection: options.SelectionOption = options.Selection.clone_invariant
    missing: options.Missing = None
    noise: options.NoiseOption = options.Noise.model
    tolerance: options.ToleranceOption = None
    no_pool: options.NoPool = False
    call: options.Call = None
    method: options.MethodOption = None
    workers: options.Workers = None

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `nashboard.evaluate`."""
        return {
            "n_resamples": self.resamples,
            "rng": self.seed,
            "level": self.level,
            "anchor": options.parse_anchors(self.anchor),
            "scaling": self.scaling.value,
            "selection": self.selection.value,
            "noise": self.noise.value,
            "tolerance": self.tolerance,
            **({"pool": False} if self.no_pool else {}),
            **({} if self.call is None else {"call": self.call}),
            **({} if self.method is None else {"methods": self.method}),
            "progress": True,
            "workers": self.workers,
        }

    def data(self, source: str, reading: Reading) -> "Data":
        """Read the data of the chosen agents; options of the other kind of data are an error."""
        from nashboard.data.scores import Scores

        data = complete_scores(self.read(source, reading, verbose=False), self.missing, modelled=True)
        if isinstance(data, Scores):
            refuse(("anchor", "min_games", "components"), FOR_MATCHES)
            return data
        refuse(("scaling", "tasks"), FOR_SCORES)
        return keep_connected(data, self.components, self.min_games, verbose=False)  # the evaluation warns


@contextlib.contextmanager
def show_reading(source: str) -> Iterator[None]:
    """Show progress while a source is read; errors of native code become one sentence."""
    from nashboard.data.sources.paths import hide_secrets

    name = hide_secrets(source)
    with show_progress(f"Reading {name} ..."), hide_native_errors():
        yield


def drop_constant_tasks(scores: "Scores") -> "Scores":
    """Leave out tasks on which all agents have the same score, which cannot be scaled, and print a note."""
    kept = scores.without_constant_tasks() if scores.scaling == "raw" else scores
    print_new_notes(scores, kept)
    return kept


def complete(data: "Data", missing: str | None) -> "Data":
    """Complete scores as `complete_scores` does, and print a note about what was done."""
    filled = complete_scores(data, missing)
    print_new_notes(data, filled)
    return filled


def choose_agents(data: "Data", agents: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> "Data":
    """Return the data of the agents that match a pattern of ``agents`` and none of ``exclude``.

    ``*`` matches any text, ``?`` one character, ``[ab]`` one of several; a pattern that matches no agent is an error.
    """
    if not agents and not exclude:
        return data
    for pattern in [*(agents or []), *(exclude or [])]:
        if not any(fnmatchcase(name, pattern) for name in data.agents):
            raise InputError(f"no agent matches {pattern!r}{nearest(pattern, data.agents)}")
    kept = [
        name
        for name in data.agents
        if (not agents or any(fnmatchcase(name, pattern) for pattern in agents))
        and not any(fnmatchcase(name, pattern) for pattern in exclude or [])
    ]
    if not kept:
        raise InputError("no agent is left: the patterns to exclude match all that were chosen")
    return data.select(kept)


def complete_scores(data: "Data", missing: str | None, *, modelled: bool = False) -> "Data":
    """Return scores completed as ``missing`` says; without it missing cells are an error, or kept if ``modelled``."""
    from nashboard.data.scores import Scores

    check_missing(data, missing)
    if not isinstance(data, Scores) or not data.missing.any() or (missing is None and modelled):
        return data
    if missing is None:
        data.require_complete(f"choose one of --missing {', '.join(MissingWay)}")
        return data
    what: Any = missing.removeprefix("drop-")
    return data.drop(what) if what != missing else data.fill(what)


def check_missing(data: "Data", missing: str | None) -> None:
    """Raise an error if ``--missing`` is given for data that are not scores."""
    from nashboard.data.scores import Scores

    if missing is not None and not isinstance(data, Scores):
        raise InputError(f"--missing has no effect: it is for scores, and these are {type(data).__name__.lower()}")


def keep_connected(data: "Data", components: str, min_games: int | None, *, verbose: bool = True) -> "Data":
    """Return the data of agents with enough games, and of the largest connected group if ``components`` says so."""
    from nashboard.data.matches import Matches
    from nashboard.data.segments import drop_rare_agents, split_components

    if not isinstance(data, Matches):
        if min_games is not None or components != "error":
            option = "--min-games" if min_games is not None else "--components"
            raise InputError(f"{option} has no effect: it is for matches, and these are {type(data).__name__.lower()}")
        return data
    chosen = data if min_games is None else drop_rare_agents(data, min_games)
    chosen = split_components(chosen, "largest")[0] if components == "largest" else chosen
    if verbose:
        print_new_notes(data, chosen)
    return chosen


def print_new_notes(before: "Data", after: "Data") -> None:
    """Print the notes on data that were added between two steps."""
    for new in after.origin.notes:
        if new not in before.origin.notes:
            print_note(new)


def parse_reader_options(pairs: list[str] | None) -> dict[str, Any]:
    """Return the values of all ``-r NAME=VALUE``; a name may be repeated if its value is a list or a mapping."""
    values: dict[str, Any] = {}
    for name, value in map(parse_option, pairs or []):
        before = values.get(name)
        if before is None:
            values[name] = value
        elif isinstance(before, list) and isinstance(value, list):
            values[name] = [*before, *value]
        elif isinstance(before, dict):
            values[name] = merge_pairs(name, [*before.items(), *value.items()])
        elif before != value:
            raise InputError(f"-r {name}= is given twice, as {before!r} and as {value!r}: give it once")
    return values


def parse_option(pair: str) -> tuple[str, Any]:
    """Return the name and the value of ``NAME=VALUE``."""
    name, equals, value = pair.partition("=")
    if not equals or name not in PARSERS:
        raise InputError(
            f"-r {pair!r} must be NAME=VALUE{nearest(name, PARSERS)}, with NAME one of {listed(PARSERS, 99)}"
        )
    if not value:
        off = ", or none to use no such column" if name in ("weight", "time", "cluster", "neutral") else ""
        raise InputError(f"-r {name}= has no value: give one after the equals sign{off}")
    return name, PARSERS[name](name, value)


def parse_text(name: str, value: str) -> str:
    """Return the value; ``\\t`` becomes a tab, except in a query."""
    return value if name in DATABASE else value.replace("\\t", "\t")


def parse_names(name: str, value: str) -> list[str]:
    """Return the parts between commas."""
    return [part.strip() for part in value.split(",")]


def parse_number(name: str, value: str) -> float:
    """Return a number."""
    try:
        return float(value)
    except ValueError:
        raise InputError(f"-r {name}={value} must be a number") from None


def parse_switch(name: str, value: str) -> bool:
    """Return a boolean."""
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if value.casefold() not in words:
        raise InputError(f"-r {name}={value} must be true or false")
    return words[value.casefold()]


def parse_mapping(name: str, value: str) -> list[tuple[str, str]]:
    """Return the pairs of ``KEY:VALUE,KEY:VALUE``; the last colon of a part separates."""
    parts = [part.rpartition(":") for part in value.split(",")]
    if not all(colon for _, colon, _ in parts):
        raise InputError(f"-r {name}={value} must be KEY:VALUE, several of them separated by commas")
    return [(key.strip(), meaning.strip()) for key, _, meaning in parts]


def merge_pairs(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return pairs as a dictionary: a column of ``where`` may have several values, a label has one meaning."""
    merged: dict[str, Any] = {}
    for key, value in pairs:
        if name == "where" and key in merged:
            merged[key] = [*as_list(merged[key]), *as_list(value)]
        elif merged.setdefault(key, value) != value:
            raise InputError(f"-r {name}= gives {key!r} two meanings, {merged[key]} and {value}: give it one")
    return merged


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and another value as a list with one element."""
    return value if isinstance(value, list) else [value]


def parse_where(name: str, value: str) -> dict[str, Any]:
    """Return the values of each column whose rows are kept."""
    return merge_pairs(name, parse_mapping(name, value))


def parse_outcomes(name: str, value: str) -> dict[str, float | None]:
    """Return the outcome of each label: a number, or None to leave its rows out."""
    labels = parse_mapping(name, value)
    try:
        meanings = [(label, None if meaning == "none" else float(meaning)) for label, meaning in labels]
    except ValueError:
        raise InputError(f"-r {name}={value}: the meaning of a label is a number in [0, 1], or none") from None
    return merge_pairs(name, meanings)


def parse_tasks(name: str, value: str) -> bool | list[str]:
    """Return a boolean for all tasks, or the names of some."""
    return parse_switch(name, value) if value.casefold() in ("true", "false") else parse_names(name, value)


DATABASE = ("table", "query")  # options of readers that are also options of the command
COLUMNS = ("a", "b", "outcome", "weight", "time", "cluster", "neutral", "agent", "task", "score")
WORDS = ("self_matches", "bad_rows", "repeats", "metric", "separator")
PARSERS: dict[str, Callable[[str, str], Any]] = dict.fromkeys(COLUMNS + WORDS + DATABASE, parse_text) | {
    "outcomes": parse_outcomes,
    "where": parse_where,
    "lower_is_better": parse_tasks,
    "ignore": parse_names,
    "symmetrise": parse_switch,
    "components": parse_text,
    "min_games": parse_number,
}


def make_spelling(taken: Collection[str]) -> Spelling:
    """Return a function that spells options as a command with these parameters does; None if it lacks the option."""
    reads = "read" in taken or "pairs" in taken

    def spell(name: str, value: object) -> str | None:
        typed = None if value is None else format_value(value)
        if value is not None and typed is None:
            return None
        if name in taken or (name in DATABASE and reads):
            word = f"--{name.replace('_', '-')}"
            return word if typed is None else f"{word} {shlex.quote(typed)}"
        if name in PARSERS and reads:
            return f"-r {name}=..." if typed is None else f"-r {shlex.quote(f'{name}={typed}')}"
        return None

    return spell


def format_value(value: object) -> str | None:
    """Return a Python value as it is typed: ``['a', 'b']`` as ``a,b`` and ``{'tie': None}`` as ``tie:none``.

    None where it cannot be typed, such as a name with a comma in a list.
    """
    if isinstance(value, dict):
        parts = [f"{key}:{format_word(one)}" for key, one in value.items()]
    elif isinstance(value, list | tuple):
        parts = [str(one) for one in value]
    else:
        return format_word(value)
    return None if any("," in part for part in parts) else ",".join(parts)


def format_word(value: object) -> str:
    """Return one value as it is typed."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value).replace("\t", "\\t")
