"""The invariance stress test: enter the same agent or task again, and see what moves.

Exact copies, noisy copies, and the smallest attack that puts somebody first, under the uniform average, Elo and Nash.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nashboard._display import chart, mimebundle
from nashboard._tables import Column, Table, as_html, percent, plain
from nashboard._threads import threads_for
from nashboard._types import Ints
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.scores import Scaling, Scores
from nashboard.data.validation import positions
from nashboard.equilibrium.results import Selection
from nashboard.errors import InputError
from nashboard.evaluation.posterior.scores import known_noise
from nashboard.evaluation.problem import Components, Data, Kind, Noise, Problem, check_settings, prepare
from nashboard.evaluation.stress.attack import MOST, Attack, attack_on, attack_table
from nashboard.evaluation.stress.experiment import (
    LABELS,
    Experiment,
    Method,
    MethodResult,
    Movement,
    choose_adversary,
    movement,
    named_first,
)

Choice = Literal["adversary", "random"]
COPIES = (1, 2, 5, 10, 100)
DRAWS, MANY = 3, 60  # draws of luck of noisy copies; none where there are more entries than this
MOST_NOISY = 10  # noisy copies are entered up to this number: each draw is a whole evaluation
THIN = 5  # games per pair below which noisy copies are hardly copies
UNMOVED = 1e-9  # what the contract of the equilibrium room promises, relative to the largest payoff


@dataclass(frozen=True, kw_only=True)
class NoisyMovement:
    """What several draws of noisy copies do to one standing.

    Parameters
    ----------
    copies
        How many copies are entered.
    draws
        How often their luck was drawn.
    rank_median, rank_most
        Largest change of a rank: the median and the largest over the draws.
    score_median, score_most
        Largest change of a score.
    share_median
        The median as a share of the distance from last to first.
    winner_changed
        In which share of the draws somebody else was in first place.
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return dict(vars(self))


def noise_is_known(game: Experiment) -> bool:
    """Return whether luck can be drawn: games can be played again, scores need standard errors or items."""
    data = game.data
    if isinstance(data, Scores):
        return bool(np.isfinite(known_noise(data)).any())
    return isinstance(data, Matches) and NO_COUNTS not in data.origin.notes


def measure_noisy(
    game: Experiment, copies: tuple[int, ...], chosen: Ints, draws: int, seed: int
) -> tuple[NoisyMovement, ...]:
    """Enter noisy copies several times; the draws of each count depend on the seed and the count alone."""
    found = []
    nothing = np.zeros(len(game.entries), dtype=np.intp)
    before = {method: game.exact(method, nothing) for method in game.methods}
    for count in copies:
        entered = np.where(chosen > 0, count, 0)
        streams = np.random.SeedSequence([seed, count]).spawn(draws)
        data = [game.enter(entered, np.random.default_rng(stream)) for stream in streams]
        problems = [game.repeat(one) for one in data]
        for method in game.methods:
            moved = [
                movement(before[method], game.noisy(method, one, problem))
                for one, problem in zip(data, problems, strict=True)
            ]
            found.append(
                NoisyMovement(
                    method=method,
                    copies=count,
                    draws=draws,
                    rank_median=float(np.median([one.rank_moved for one in moved])),
                    rank_most=max(one.rank_moved for one in moved),
                    score_median=float(np.median([one.score_moved for one in moved])),
                    score_most=max(one.score_moved for one in moved),
                    share_median=float(np.median([one.share_moved for one in moved])),
                    winner_changed=float(np.mean([one.winner_changed for one in moved])),
                    unit=moved[0].unit,
                )
            )
    return tuple(found)


def noisy_table(rows: tuple[NoisyMovement, ...], title: str) -> Table:
    """Return one row per count and method."""
    return Table(
        title=title,
        columns=(
            Column(name="copies", meaning="how many noisy copies are entered"),
            Column(name="method"),
            Column(name="ranks moved", meaning="largest change of a rank, median over the draws", decimals=1),
            Column(name="at most", meaning="largest change of a rank over all draws"),
            Column(name="score moved", meaning="largest change of a score, median over the draws", decimals=4),
            Column(name="of the range", meaning="the same as a share of the distance from last to first"),
            Column(name="new winner", meaning="share of the draws in which somebody else was in first place"),
            Column(name="unit", meaning="what scores are measured in"),
        ),
        rows=tuple(
            (
                row.copies,
                LABELS[row.method],
                row.rank_median,
                row.rank_most,
                row.score_median,
                row.share_median,
                row.winner_changed,
                row.unit,
            )
            for row in rows
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Cloned:
    """What one number of exact copies did to one standing, and the standing itself (without the copies)."""

    copies: int
    moved: Movement
    after: MethodResult

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {"copies": self.copies, **self.moved.to_dict()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stress:
    """What copies did to a board, method by method.

    Parameters
    ----------
    board, kind
        Whose board it is, and what was cloned.
    cloned
        The names that were cloned, each as often as a row says.
    choice
        How they were chosen, in words.
    before
        What each method says without copies.
    exact
        What exact copies did, one entry per number of copies and method.
    noisy
        What noisy copies did; nothing where the noise is not known or was not asked for.
    attacks
        The smallest attacks that put somebody first.
    scale
        The largest payoff: the measure of "unmoved".
    notes
        What was left out of the data, and what could not be tried.
    """

    board: Kind
    kind: Kind
    size: int
    cloned: tuple[str, ...]
    choice: str
    before: tuple[MethodResult, ...]
    exact: tuple[Cloned, ...]
    noisy: tuple[NoisyMovement, ...]
    attacks: tuple[Attack, ...]
    scale: float
    seed: int
    notes: tuple[str, ...]

    @property
    def nash_moved(self) -> float:
        """The largest change of any Nash average by any exact copies, attacks included."""
        rows = [row.moved.score_moved for row in self.exact if row.moved.method == "nash"]
        return max([*rows, *(found.nash.score_moved for found in self.attacks)], default=0.0)

    @property
    def nash_unmoved(self) -> bool:
        """Whether that is within the certified tolerance, 1e-9 of the largest payoff."""
        return self.nash_moved <= UNMOVED * self.scale

    @property
    def certificate(self) -> float:
        """The worst certificate of all equilibria that were solved: how exact "unmoved" is."""
        rows = [row.moved.certificate for row in self.exact if row.moved.method == "nash"]
        return max([*rows, *(found.nash.certificate for found in self.attacks)], default=0.0)

    def verdict(self) -> tuple[str, ...]:
        """Return in a few sentences what happened."""
        lines = [
            line
            for method in dict.fromkeys(row.moved.method for row in self.exact if row.moved.method != "nash")
            for line in [self.what_moved([row for row in self.exact if row.moved.method == method])]
        ]
        held = "did not move" if self.nash_unmoved else "MOVED, which only selection='maxent' may do"
        lines.append(
            f"Nash average: {held}. The largest change of any average is {self.nash_moved:.1e}; every equilibrium is "
            f"certified to {self.certificate:.1e}."
        )
        noisy = [row for row in self.noisy if row.method == "nash"]
        if noisy:
            lines.append(self.what_luck_did(noisy))
        return tuple(lines)

    def what_luck_did(self, rows: list[NoisyMovement]) -> str:
        """Return what noisy copies did to the board."""
        draws = rows[0].draws
        if max(row.score_most for row in rows) <= UNMOVED * self.scale:
            return f"Noisy copies did not move the board either, in {draws:,} draws each."
        worst = max(rows, key=lambda row: (row.winner_changed, row.share_median))
        spread = max(float(np.ptp(one.scores)) for one in self.before if one.method == "nash")
        how_far = (
            f"{worst.share_median:.1%} of the range"
            if spread > UNMOVED * self.scale
            else f"{worst.score_median:.2g} {worst.unit}, where all were equal before"
        )
        return (
            f"Noisy copies are not exact, and they can move the board: with {worst.copies:,} of them the largest "
            f"change of a gap is {how_far} (median of {draws:,} draws), and the set at the top changes in "
            f"{percent(worst.winner_changed)} of the draws."
        )

    def what_moved(self, rows: list[Cloned]) -> str:
        """Return what exact copies did to one method."""
        label = LABELS[rows[0].moved.method]
        fallen = next((row for row in rows if row.moved.winner_changed), None)
        worst = max(rows, key=lambda row: (row.moved.rank_moved, row.moved.score_moved))
        moved = worst.moved
        if fallen is not None:
            before, after = (named_first(names) for names in (fallen.moved.winners_before, fallen.moved.winners_after))
            tried = f" (of {', '.join(f'{row.copies:,}' for row in rows)} tried)" if len(rows) > 1 else ""
            start = f"{label}: with {fallen.copies:,} {'copy' if fallen.copies == 1 else 'copies'}{tried} the winner "
            start += f"changes from {before} to {after}."
        else:
            start = f"{label}: the winner stays {named_first(moved.winners_before)}."
        if moved.rank_moved:
            return (
                f"{start} {moved.who} moves from rank {moved.rank_before} to {moved.rank_after} with {worst.copies:,}."
            )
        return f"{start} No rank moves; scores move by up to {max(row.moved.score_moved for row in rows):.2g}."

    def table(self) -> Table:
        """Return what exact copies did: one row per number of copies and method."""
        of = ", ".join(self.cloned)
        return Table(
            title=f"{self.board} when exact copies of {of} are entered ({self.choice})",
            columns=(
                Column(name="copies", meaning="how many copies of each are entered"),
                Column(name="method"),
                Column(name="winner", meaning="who is in first place"),
                Column(name="new winner", meaning="whether that is somebody else than before"),
                Column(name="ranks moved", meaning="largest change of a rank; copies take no place"),
                Column(name="who", meaning="the entry that moved most"),
                Column(name="from", meaning="rank before"),
                Column(name="to", meaning="rank after"),
                Column(name="score moved", meaning="largest change of a score", decimals=4),
                Column(name="unit", meaning="what scores are measured in"),
            ),
            rows=tuple(
                (
                    row.copies,
                    LABELS[row.moved.method],
                    named_first(row.moved.winners_after, 2),
                    row.moved.winner_changed,
                    row.moved.rank_moved,
                    row.moved.who if row.moved.rank_moved else "nobody",
                    row.moved.rank_before if row.moved.rank_moved else None,
                    row.moved.rank_after if row.moved.rank_moved else None,
                    row.moved.score_moved,
                    row.moved.unit,
                )
                for row in self.exact
            ),
            telling=("copies", "method", "new winner", "ranks moved", "score moved", "unit", "winner"),
        )

    def noisy_table(self) -> Table:
        """Return what noisy copies did."""
        return noisy_table(self.noisy, f"the same with noisy copies of {', '.join(self.cloned)}")

    def attack_table(self) -> Table:
        """Return the smallest attacks."""
        return attack_table(self.attacks)

    def tables(self) -> dict[str, Table]:
        """Return all tables by name; those without rows are left out."""
        every = {"exact": self.table(), "attacks": self.attack_table(), "noisy": self.noisy_table()}
        return {name: table for name, table in every.items() if table.rows}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "board": self.board,
            "kind": self.kind,
            "cloned": list(self.cloned),
            "choice": self.choice,
            "seed": self.seed,
            "exact": [row.to_dict() for row in self.exact],
            "noisy": [row.to_dict() for row in self.noisy],
            "attacks": [found.to_dict() for found in self.attacks],
            "nash_moved": self.nash_moved,
            "nash_unmoved": self.nash_unmoved,
            "certificate": self.certificate,
            "scale": self.scale,
            "verdict": list(self.verdict()),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return `to_dict` as json."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        state = "unmoved" if self.nash_unmoved else "MOVED"
        return f"Stress({self.size:,} {self.board}, copies of {', '.join(self.cloned)}, Nash {state})"

    def __str__(self) -> str:
        parts = ["\n".join(self.verdict()), *(plain(table) for table in self.tables().values())]
        return "\n\n".join([*parts, *(["\n".join(self.notes)] if self.notes else [])])

    chart = chart
    _repr_mimebundle_ = mimebundle

    def _repr_html_(self) -> str:
        return "".join(as_html(table) for table in self.tables().values())


def stress(
    data: Data,
    *,
    copies: Iterable[int] | int = COPIES,
    of: Iterable[str] | None = None,
    choice: Choice = "adversary",
    kind: Kind | None = None,
    targets: Iterable[str] | None = None,
    draws: int | None = None,
    most: int = MOST,
    noise: Noise = "model",
    selection: Selection = "clone-invariant",
    scaling: Scaling = "range",
    components: Components = "error",
    n_resamples: int = 200,
    rng: int = 0,
) -> Stress:
    """Enter copies, exact and noisy, and measure how far ranks and scores move under each method.

    Parameters
    ----------
    data
        Matches, or scores of agents on tasks.
    copies
        How many copies, one experiment each; a single number is one experiment.
    of
        Who or what is cloned, a name or several; by default one entry, by ``choice``.
    choice
        ``"adversary"``: the entry whose copies change the uniform winner soonest, or else move ranks most;
        ``"random"``: drawn by ``rng``.
    kind
        ``"agents"`` or ``"tasks"``; by default tasks where there are some. Cloned agents in a table of scores
        move the board of tasks, not of agents.
    targets
        For whom the smallest attack is searched, a name or several; by default the three who come after the first
        under the uniform average. An empty list searches none.
    draws
        How often the luck of noisy copies is drawn: by default 3 times, not at all where there are more than 60
        entries; up to 10 noisy copies are entered, since each draw is a whole evaluation.
    most
        The largest number of copies in an attack.
    rng
        A whole number: the same seed, the same answer.
    noise, selection, scaling, components, n_resamples
        As in `nashboard.evaluate`; `Evaluation.stress` takes them from the evaluation.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.stress(nb.load_dataset("rock-paper-scissors"), of=["C"], copies=[1], targets=[], draws=0)
    >>> [(row.moved.method, row.moved.winners_after) for row in found.exact]
    [('uniform', ('B',)), ('elo', ('B',)), ('nash', ('A', 'B', 'C'))]
    """
    settings, plan = check_settings(
        noise=noise, selection=selection, scaling=scaling, components=components, n_resamples=n_resamples, rng=rng
    )
    problem = prepare(data, settings, plan)
    return stress_problem(
        problem, copies=copies, of=of, choice=choice, kind=kind, targets=targets, draws=draws, most=most
    )


def stress_problem(
    problem: Problem,
    *,
    copies: Iterable[int] | int = COPIES,
    of: Iterable[str] | None = None,
    choice: Choice = "adversary",
    kind: Kind | None = None,
    targets: Iterable[str] | None = None,
    draws: int | None = None,
    most: int = MOST,
) -> Stress:
    """Enter copies into a prepared problem, with its settings."""
    counts = checked_copies(copies)
    seed = problem.settings.seed
    with threads_for(len(problem.agents)):
        game = Experiment.of(problem, kind)
        chosen, how = chosen_entries(game, of, choice, counts, seed)
        if draws is None:
            draws = DRAWS if len(game.entries) <= MANY else 0
        return run_experiments(game, counts, chosen, how, targets, draws, most, seed)


def run_experiments(
    game: Experiment,
    counts: tuple[int, ...],
    chosen: Ints,
    how: str,
    targets: Iterable[str] | None,
    draws: int,
    most: int,
    seed: int,
) -> Stress:
    """Run every experiment."""
    nothing = np.zeros(len(game.entries), dtype=np.intp)
    before = {method: game.exact(method, nothing) for method in game.methods}
    exact = tuple(
        Cloned(copies=count, moved=movement(before[method], after), after=after)
        for count in counts
        for method in game.methods
        for after in [game.exact(method, chosen * count)]
    )
    known = noise_is_known(game)
    few = tuple(count for count in counts if count <= MOST_NOISY)
    attacks = tuple(
        attack_on(game, target, method=method, most=most)
        for target in chosen_targets(game, targets, before["uniform"].scores)
        for method in (("uniform", "elo") if "elo" in game.methods else ("uniform",))
    )
    return Stress(
        board=game.board,
        kind=game.kind,
        size=len(game.names),
        cloned=tuple(game.entries[k] for k in np.flatnonzero(chosen)),
        choice=how,
        before=tuple(before.values()),
        exact=exact,
        noisy=measure_noisy(game, few, chosen, draws, seed) if draws and known else (),
        attacks=attacks,
        scale=game.scale,
        seed=seed,
        notes=(*game.problem.notes, *notes_on(game, draws, known=known)),
    )


def notes_on(game: Experiment, draws: int, *, known: bool) -> list[str]:
    """Return what could not be tried, and how the rest is to be read."""
    notes = []
    if draws and isinstance(game.data, Matches) and np.median(game.data.games) < THIN:
        notes.append(
            f"noisy copies play as many games as their originals, here a median of {np.median(game.data.games):g} per "
            f"pair: so few that luck decides"
        )
    if draws and not known:
        notes.append("no noisy copies: neither standard errors nor numbers of items are known for these scores")
    if isinstance(game.data, Scores) and game.board == "agents":
        notes.append("Elo of scores: every task is a game between every two agents, won by the higher score")
    return notes


def checked_copies(copies: Iterable[int] | int) -> tuple[int, ...]:
    """Return the numbers of copies, ascending."""
    counts = tuple(copies) if isinstance(copies, Iterable) else (copies,)
    bad = [c for c in counts if isinstance(c, bool) or not isinstance(c, int | np.integer) or not 1 <= c <= 10_000]
    if bad or not counts:
        raise InputError(f"copies are {list(counts)}: give whole numbers from 1 to 10,000")
    return tuple(sorted({int(c) for c in counts}))


def chosen_entries(
    game: Experiment, of: Iterable[str] | None, choice: str, counts: tuple[int, ...], seed: int
) -> tuple[Ints, str]:
    """Return 1 where an entry is cloned, and how that was chosen."""
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


def chosen_targets(game: Experiment, targets: Iterable[str] | None, uniform: Any) -> list[str]:
    """Return the names for whom an attack is searched."""
    if targets is not None:
        return [targets] if isinstance(targets, str) else list(targets)
    order = np.argsort(-uniform, kind="stable")
    return [game.names[k] for k in order[1:4]]
