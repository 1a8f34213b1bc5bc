"""The invariance stress test: enter the same agent or task again, and measure what changes.

An experiment is one entry in `EXPERIMENTS`: a function of `Setup` that returns an `Outcome`. Its table, sentences and
values then appear in the library, the command and the report.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np

from nashboard._display import Findings
from nashboard._parallel import threads_for
from nashboard._tables import Column, Table, plain_data
from nashboard._text import number_of
from nashboard._types import Ints
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.scores import Scores
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.evaluation.posterior.scores import known_noise
from nashboard.evaluation.problem import COUNT_COPIES, Data, Kind, Options, Problem, has_noise, prepare_data
from nashboard.evaluation.stress.attack import MOST, Attack, attack_table, search_attack
from nashboard.evaluation.stress.experiment import (
    LABELS,
    Experiment,
    Method,
    MethodResult,
    Movement,
    choose_adversary,
    measure_movement,
    name_first,
)

Choice = Literal["adversary", "random"]
COPIES = (1, 2, 5, 10, 100)
DRAWS, MANY = 3, 60  # draws of noisy copies; none if there are more entries than this
MOST_NOISY = 10  # noisy copies are entered up to this number: each draw is a complete evaluation
THIN = 5  # games per pair below which noisy copies are hardly similar
UNMOVED = 1e-9  # the accuracy of equilibria, relative to the largest payoff
ROUNDED = 1e-12  # smaller numbers depend on the machine and are not printed


@dataclass(frozen=True, kw_only=True, eq=False)
class Setup:
    """The input of every experiment: the game, the copies, and the results of each method without copies."""

    game: Experiment
    counts: tuple[int, ...]
    chosen: Ints  # 1 where an entry is copied
    choice: str  # how entries were chosen, in words
    targets: tuple[str, ...]
    draws: int
    most: int
    results: Mapping[Method, MethodResult]

    @property
    def board(self) -> Kind:
        """The kind of entries on the board."""
        return self.game.board

    @property
    def kind(self) -> Kind:
        """The kind of entries that are copied."""
        return self.game.kind

    @property
    def size(self) -> int:
        """The number of entries on the board."""
        return len(self.game.names)

    @property
    def cloned(self) -> tuple[str, ...]:
        """The names that are copied."""
        return tuple(self.game.entries[k] for k in np.flatnonzero(self.chosen))

    @property
    def title(self) -> str:
        """The names that are copied, as text."""
        return ", ".join(self.cloned)

    def is_unmoved(self, change: float) -> bool:
        """Return whether a change is within the certified tolerance."""
        return change <= UNMOVED * self.game.scale


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The results of one experiment as rows, as a table, and in sentences.

    The table has no rows if the experiment was not run. ``nash`` are the movements of Nash averages by exact copies.
    """

    rows: tuple[Any, ...]
    table: Table
    sentences: tuple[str, ...] = ()
    nash: tuple[Movement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cloned:
    """The effect of one number of exact copies on one method, and the result itself (without the copies)."""

    copies: int
    moved: Movement
    after: MethodResult

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {"copies": self.copies, **self.moved.to_dict()}


def enter_exact(setup: Setup) -> Outcome:
    """Enter exact copies, every number of them."""
    rows = []
    for count in setup.counts:
        for method in setup.game.methods:
            after = setup.game.exact(method, setup.chosen * count)
            rows.append(Cloned(copies=count, moved=measure_movement(setup.results[method], after), after=after))
    others = [method for method in setup.game.methods if method != "nash"]
    return Outcome(
        rows=tuple(rows),
        table=exact_table(rows, f"{setup.game.board} when exact copies of {setup.title} are entered ({setup.choice})"),
        sentences=tuple(describe_exact([row for row in rows if row.moved.method == method]) for method in others),
        nash=tuple(row.moved for row in rows if row.moved.method == "nash"),
    )


def describe_exact(rows: list[Cloned]) -> str:
    """Return the effect of exact copies on one method in a sentence."""
    label = LABELS[rows[0].moved.method]
    fallen = next((row for row in rows if row.moved.winner_changed), None)
    worst = max(rows, key=lambda row: (row.moved.rank_moved, row.moved.score_moved))
    moved = worst.moved
    start = f"{label}: the winner stays {name_first(moved.winners_before)}."
    if fallen is not None:
        before, after = (name_first(names) for names in (fallen.moved.winners_before, fallen.moved.winners_after))
        tried = f" (of {', '.join(f'{row.copies:,}' for row in rows)} tried)" if len(rows) > 1 else ""
        start = f"{label}: with {number_of(fallen.copies, 'copies')}{tried} the winner "
        start += f"changes from {before} to {after}."
    if moved.rank_moved:
        after = f" with {number_of(worst.copies, 'copies')}" if fallen is None or worst.copies != fallen.copies else ""
        return f"{start} {moved.who} moves from rank {moved.rank_before} to {moved.rank_after}{after}."
    unit = f" {moved.unit}" if moved.unit == "Elo points" else ""
    return f"{start} No rank moves; scores move by up to {round_off(moved.score_moved)}{unit}."


def round_off(change: float) -> str:
    """Return a change of a score with two digits, or whole."""
    return f"{change:,.0f}" if change >= 10 else f"{change:.2g}"


def exact_table(rows: list[Cloned], title: str) -> Table:
    """Return one row per number of copies and method."""

    def moved_cell(name: str) -> Callable[[Cloned], Any]:
        return lambda row: getattr(row.moved, name) if row.moved.rank_moved else "nobody" if name == "who" else None

    return Table.of(
        rows,
        Column("copies", "how many copies of each are entered"),
        Column("method", cell=lambda row: LABELS[row.moved.method]),
        Column("winner", "who is in first place", cell=lambda row: name_first(row.moved.winners_after, 2)),
        Column("new winner", "whether first place changed", cell=lambda row: row.moved.winner_changed),
        Column("ranks moved", "largest change of a rank; copies take no place", cell=lambda row: row.moved.rank_moved),
        Column("who", "the entry that moved most", cell=moved_cell("who")),
        Column("from", "rank before", cell=moved_cell("rank_before")),
        Column("to", "rank after", cell=moved_cell("rank_after")),
        Column("score moved", "largest change of a score", decimals=4, cell=lambda row: row.moved.score_moved),
        Column("unit", "what scores are measured in", cell=lambda row: row.moved.unit),
        title=title,
        telling=("copies", "method", "new winner", "ranks moved", "score moved", "unit", "winner"),
    )


def search_attacks(setup: Setup) -> Outcome:
    """Search the smallest attack for every target on every method that copies can change."""
    attacks = tuple(
        search_attack(setup.game, target, method=method, most=setup.most)
        for target in setup.targets
        for method in setup.game.methods
        if method != "nash"
    )
    return Outcome(rows=attacks, table=attack_table(attacks), nash=tuple(one.nash for one in attacks))


@dataclass(frozen=True, kw_only=True)
class NoisyMovement:
    """The effect of several draws of noisy copies on one method.

    ``rank_median`` and ``rank_most`` are of the largest change of a rank over the draws, ``score_median`` and
    ``score_most`` of a score, ``share_median`` of a score as a share of the distance from last to first.
    ``winner_changed`` is the share of the draws in which first place changed.
    """

    method: Method
    copies: int
    draws: int
    rank_median: float
    rank_most: int
    score_median: float
    score_most: float
    share_median: float
    winner_changed: float
    unit: str


def enter_noisy(setup: Setup) -> Outcome:
    """Enter copies with their own noise, which look like other agents, several times.

    The draws of each count depend only on the seed and the count. Copies are pooled if the evaluation pools them.
    """
    game, draws, rows = setup.game, setup.draws if noise_is_known(setup.game) else 0, []
    for count in (count for count in setup.counts if draws and count <= MOST_NOISY):
        streams = np.random.SeedSequence([game.problem.settings.seed, count]).spawn(draws)
        data = [game.enter(setup.chosen * count, np.random.default_rng(stream)) for stream in streams]
        problems = [game.prepare_again(one) for one in data]
        for method in game.methods:
            after = [game.noisy(method, one, problem) for one, problem in zip(data, problems, strict=True)]
            moved = [measure_movement(setup.results[method], one) for one in after]
            ranks, scores = ([getattr(one, name) for one in moved] for name in ("rank_moved", "score_moved"))
            rows.append(
                NoisyMovement(
                    method=method,
                    copies=count,
                    draws=draws,
                    rank_median=float(np.median(ranks)),
                    rank_most=max(ranks),
                    score_median=float(np.median(scores)),
                    score_most=max(scores),
                    share_median=float(np.median([one.share_moved for one in moved])),
                    winner_changed=float(np.mean([one.winner_changed for one in moved])),
                    unit=moved[0].unit,
                )
            )
    return Outcome(
        rows=tuple(rows),
        table=noisy_table(rows, f"the same with noisy copies of {setup.title}"),
        sentences=describe_noisy(setup, [row for row in rows if row.method == "nash"]),
    )


def describe_noisy(setup: Setup, rows: list[NoisyMovement]) -> tuple[str, ...]:
    """Return the effect of noisy copies on the board in a sentence."""
    if not rows:
        return ()
    draws = rows[0].draws
    if setup.is_unmoved(max(row.score_most for row in rows)):
        return (f"Noisy copies did not move the board either, in {number_of(draws, 'draws')} each.",)
    worst = max(rows, key=lambda row: (row.winner_changed, row.share_median))
    how_far = f"{worst.share_median:.1%} of the range"
    if setup.is_unmoved(float(np.ptp(setup.results["nash"].scores))):
        how_far = f"{round_off(worst.score_median)} {worst.unit}, where all were equal before"
    before = "" if setup.results["nash"].winners else ", where first place is undecided without them"
    return (
        f"Noisy copies are not exact, and they can move the board: with {worst.copies:,} of them the largest change of "
        f"a gap is {how_far} (median of {number_of(draws, 'draws')}), and who is at the top with a probability of at "
        f"least 1/2 changes in {round(worst.winner_changed * draws):,} of {number_of(draws, 'draws')}{before}.",
    )


def noisy_table(rows: list[NoisyMovement], title: str) -> Table:
    """Return one row per count and method."""
    return Table.of(
        rows,
        Column("copies", "how many noisy copies are entered"),
        Column("method", cell=lambda row: LABELS[row.method]),
        Column("ranks moved", "largest change of a rank, median over the draws", decimals=1, cell="rank_median"),
        Column("at most", "largest change of a rank over all draws", cell="rank_most"),
        Column("score moved", "largest change of a score, median over the draws", decimals=4, cell="score_median"),
        Column("of the range", "the same as a share of the distance from last to first", cell="share_median"),
        Column("new winner", "share of the draws in which first place changed", cell="winner_changed"),
        Column("unit", "what scores are measured in"),
        title=title,
    )


def noise_is_known(game: Experiment) -> bool:
    """Return whether noise can be drawn: games can be drawn again, other data need standard errors, games or items."""
    data = game.data
    if isinstance(data, Scores):
        return bool(np.isfinite(known_noise(data)).any())
    return NO_COUNTS not in data.origin.notes if isinstance(data, Matches) else has_noise(data)


EXPERIMENTS: dict[str, Callable[[Setup], Outcome]] = {
    "exact": enter_exact,
    "attacks": search_attacks,
    "noisy": enter_noisy,
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stress(Setup, Findings):
    """The effects of copies on a board, method by method; the fields of `Setup` are the settings.

    Parameters
    ----------
    outcomes
        The results of all experiments, by the names in `EXPERIMENTS`.
    notes
        Notes on data that were left out, and on experiments that were not possible.
    """

    outcomes: Mapping[str, Outcome]
    notes: tuple[str, ...]

    schema = "nashboard/stress/1"

    @property
    def before(self) -> tuple[MethodResult, ...]:
        """The results of each method without copies."""
        return tuple(self.results.values())

    @property
    def exact(self) -> tuple[Cloned, ...]:
        """The effects of exact copies, one entry per number of copies and method."""
        return self.outcomes["exact"].rows

    @property
    def noisy(self) -> tuple[NoisyMovement, ...]:
        """The effects of noisy copies; empty if the noise is unknown or no draws were requested."""
        return self.outcomes["noisy"].rows

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """The smallest attacks that put the targets first."""
        return self.outcomes["attacks"].rows

    @property
    def nash_moved(self) -> float:
        """The largest change of any Nash average by any exact copies, attacks included."""
        return max((moved.score_moved for one in self.outcomes.values() for moved in one.nash), default=0.0)

    @property
    def nash_unmoved(self) -> bool:
        """Whether ``nash_moved`` is within the certified tolerance, 1e-9 of the largest payoff."""
        return self.is_unmoved(self.nash_moved)

    @property
    def certificate(self) -> float:
        """The worst certificate of all equilibria that were solved: how exact "unmoved" is."""
        return max((moved.certificate for one in self.outcomes.values() for moved in one.nash), default=0.0)

    def verdict(self) -> tuple[str, ...]:
        """Return the results in a few sentences."""
        exact, *others = (one.sentences for one in self.outcomes.values())
        return (*exact, self.describe_nash(), *(line for lines in others for line in lines))

    lines = verdict

    def describe_nash(self) -> str:
        """Return whether the Nash averages moved, and if so, which setting allows that."""
        verb = "did not move"
        if not self.nash_unmoved:
            settings = self.game.problem.settings
            verb = "moved"
            if settings.selection == "maxent":
                verb += ", because selection='maxent' counts copies"
            elif settings.scaling in COUNT_COPIES:
                verb += f", because scaling={settings.scaling!r} counts copies"
        return (
            f"Nash average: {verb}. The largest change of any average is {self.nash_moved:.2g}; every equilibrium is "
            f"certified within {max(self.certificate, ROUNDED):.1g}."
        )

    def tables(self) -> dict[str, Table]:
        """Return all tables by name; those without rows are left out."""
        every = {name: one.table for name, one in self.outcomes.items()}
        return {name: table for name, table in every.items() if table.rows}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "board": self.board,
            "kind": self.kind,
            "cloned": list(self.cloned),
            "choice": self.choice,
            "seed": self.game.problem.settings.seed,
            **{name: plain_data(one.rows) for name, one in self.outcomes.items()},
            "nash_moved": self.nash_moved,
            "nash_unmoved": self.nash_unmoved,
            "certificate": self.certificate,
            "scale": self.game.scale,
            "verdict": list(self.verdict()),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        state = "unmoved" if self.nash_unmoved else "moved"
        return f"Stress({self.size:,} {self.board}, copies of {self.title}, Nash {state})"


def stress(
    data: Data | Problem,
    *,
    copies: Iterable[int] | int = COPIES,
    of: Iterable[str] | None = None,
    choice: Choice = "adversary",
    kind: Kind | None = None,
    targets: Iterable[str] | None = None,
    draws: int | None = None,
    most: int = MOST,
    **options: Unpack[Options],
) -> Stress:
    """Enter copies, exact and noisy, and measure how far ranks and scores move under each method.

    Parameters
    ----------
    data
        Matches, scores of agents on tasks, or payoffs; or the problem of an evaluation.
    copies
        Numbers of copies, one experiment each; a single number is one experiment.
    of
        The entries to clone, a name or several; by default one entry, by ``choice``.
    choice
        ``"adversary"``: the entry whose copies change the uniform winner soonest, or else move ranks most;
        ``"random"``: drawn by ``rng``.
    kind
        ``"agents"`` or ``"tasks"``; by default tasks if there are tasks. Cloned agents in a table of scores move the
        board of tasks, not of agents.
    targets
        The agents for which the smallest attack is searched, a name or several; by default the three after the first
        under the uniform average. An empty list searches none.
    draws
        How often noisy copies are drawn: by default 3 times, not at all if there are more than 60 entries; up to 10
        noisy copies are entered, since each draw is a complete evaluation.
    most
        The largest number of copies in an attack.
    options
        As in `nashboard.evaluate`; `Evaluation.stress` takes them from the evaluation.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.stress(nb.load_dataset("rock-paper-scissors"), of=["C"], copies=[1], targets=[], draws=0)
    >>> [(row.moved.method, row.moved.winners_after) for row in found.exact]
    [('uniform', ('B',)), ('elo', ('B',)), ('nash', ('A', 'B', 'C'))]
    """
    problem = prepare_data(data, **options)
    counts = check_copies(copies)
    with threads_for(len(problem.agents)):
        game = Experiment.of(problem, kind)
        chosen, how = choose_entries(game, of, choice, counts, problem.settings.seed)
        no_copies = np.zeros(len(game.entries), dtype=np.intp)
        before = {method: game.exact(method, no_copies) for method in game.methods}
        setup = Setup(
            game=game,
            counts=counts,
            chosen=chosen,
            choice=how,
            targets=choose_targets(game, targets, before["uniform"]),
            draws=(DRAWS if len(game.entries) <= MANY else 0) if draws is None else draws,
            most=most,
            results=before,
        )
        outcomes = {name: run(setup) for name, run in EXPERIMENTS.items()}
    return Stress(**vars(setup), outcomes=outcomes, notes=(*problem.notes, *write_notes(setup)))


def write_notes(setup: Setup) -> list[str]:
    """Return notes on experiments that were not possible, and on the meaning of the others."""
    notes, data = [], setup.game.data
    if setup.draws and not noise_is_known(setup.game):
        notes.append("no noisy copies: the noise of these data is unknown")
    elif setup.draws and isinstance(data, Matches) and np.median(data.games) < THIN:
        notes.append(
            f"noisy copies play as many games as their originals, here a median of {np.median(data.games):g} per "
            f"pair: so few that luck decides"
        )
    if isinstance(data, Scores) and setup.game.board == "agents":
        notes.append("Elo of scores: every task is a game between every two agents, won by the better score")
    return notes


def check_copies(copies: Iterable[int] | int) -> tuple[int, ...]:
    """Return the numbers of copies, ascending."""
    counts = tuple(copies) if isinstance(copies, Iterable) else (copies,)
    bad = [c for c in counts if isinstance(c, bool) or not isinstance(c, int | np.integer) or not 1 <= c <= 10_000]
    if bad or not counts:
        raise InputError(f"copies are {list(counts)}: give whole numbers from 1 to 10,000")
    return tuple(sorted({int(c) for c in counts}))


def choose_entries(
    game: Experiment, of: Iterable[str] | None, choice: str, counts: tuple[int, ...], seed: int
) -> tuple[Ints, str]:
    """Return 1 for the entries to clone and 0 for others, and how they were chosen."""
    chosen = np.zeros(len(game.entries), dtype=np.intp)
    if of is not None:
        names = [of] if isinstance(of, str) else list(of)
        if not names:
            raise InputError(f"name at least one of the {game.kind} to clone")
        chosen[positions(names, game.entries, kind=game.kind[:-1])] = 1
        return chosen, "chosen by name"
    if choice == "random":
        chosen[int(np.random.default_rng(seed).integers(len(chosen)))] = 1
        return chosen, f"chosen at random, seed {seed}"
    if choice != "adversary":
        raise InputError(f"there is no choice {choice!r}: use 'adversary' or 'random', or name entries with of=")
    chosen[choose_adversary(game, counts)] = 1
    return chosen, "chosen by an adversary of the uniform average"


def choose_targets(game: Experiment, targets: Iterable[str] | None, uniform: MethodResult) -> tuple[str, ...]:
    """Return the names of the agents for which an attack is searched."""
    if targets is not None:
        return (targets,) if isinstance(targets, str) else tuple(targets)
    order = np.argsort(-uniform.scores, kind="stable")
    return tuple(game.names[k] for k in order[1:4])
