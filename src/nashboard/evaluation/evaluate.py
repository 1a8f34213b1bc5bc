"""`evaluate`: one call from a table to a verdict."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from nashboard._text import either, nearest
from nashboard._types import Floats, Ints
from nashboard._version import __version__
from nashboard._workers import Plan, plan_of
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scaling import Scaling
from nashboard.data.scores import Scores
from nashboard.equilibrium.results import Selection, check_selection
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.contributions import Contribution, Mover, contributions, largest, movers
from nashboard.evaluation.classes import Classes, match_classes, payoff_classes, score_classes
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.intervals import Samples, Uncertainty, interval, uncertainty
from nashboard.evaluation.matches_again import matches_again
from nashboard.evaluation.matches_board import filled_sentence, matches_board, payoffs_board
from nashboard.evaluation.provenance import described
from nashboard.evaluation.scores_again import another_suite, in_units, known, noise_of, scores_again
from nashboard.evaluation.scores_board import scores_boards
from nashboard.evaluation.stability import Stability, stability
from nashboard.evaluation.verdict import clone_warning, data_warnings, resampling_warning, sentences
from nashboard.ratings.rating import checked_anchor

# Under these a task's unit depends on how often an agent was entered, so copies cannot be taken together.
COUNT_COPIES = ("rank", "zscore")
# Under these a task needs two different scores.
HAVE_UNITS = ("range", "zscore")


def evaluate(
    data: Matches | Scores | Payoffs,
    *,
    n_resamples: int = 200,
    rng: int | np.random.Generator = 0,
    level: float = 0.95,
    selection: Selection = "clone-invariant",
    scaling: Scaling = "range",
    anchor: Mapping[str, float] | None = None,
    progress: bool = False,
    workers: int | None = None,
    backend: str | None = None,
) -> Evaluation:
    """Evaluate agents: a leaderboard that copies cannot move, how sure it is, and a verdict in words.

    Parameters
    ----------
    data
        `Matches`, `Scores` or `Payoffs`.
    n_resamples
        How often the arena is played again, or the table measured again and the suite drawn again.
    rng
        A seed, or a numpy generator. The point estimate does not depend on it; the same seed gives the same intervals.
    level
        Of the intervals, and for telling agents apart.
    selection
        As in `nash_average`.
    scaling
        How raw scores are put in comparable units, as in `Scores.scale`; scores that were scaled stay as they are.
    anchor
        Ratings that are held, for matches: ``{"gnugo": 1800}``.
    progress
        Show progress on standard error where that is a terminal.
    workers
        How many workers resample; all cores by default. The answer does not depend on it.
    backend
        What the workers are, in the words of joblib: ``"threading"`` unless a ``joblib.parallel_config`` around the
        call says otherwise, ``"loky"`` for processes, ``"dask"`` or ``"ray"`` for a cluster. The answer does not depend
        on it.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("atari"), n_resamples=20)
    >>> result.support
    ('rainbow', 'prioritized_ddqn_rank', 'human', 'popart_ddqn')
    """
    selection = check_selection(selection)
    if not (isinstance(level, float) and 0 < level < 1):
        raise InputError(f"the level is {level!r}: it must lie between 0 and 1, such as 0.95")
    plan = plan_of(n_resamples, rng, workers, progress, backend)
    settings: dict[str, Any] = {
        "n_resamples": plan.n_resamples,
        "seed": plan.seed,
        "level": level,
        "selection": selection,
    }
    if isinstance(data, Scores):
        if anchor:
            raise InputError("an anchor holds a rating, and scores of agents on tasks have none: leave it out")
        return of_scores(data, scaling, selection, level, plan, settings)
    if isinstance(data, Matches):
        checked_anchor(anchor, data.agents)
        return of_matches(data, anchor, selection, level, plan, settings)
    if isinstance(data, Payoffs):
        return of_payoffs(data, selection, settings)
    raise InputError(
        f"evaluate needs Matches, Scores or Payoffs, not {type(data).__name__}: read() makes them of a file"
    )


def of_matches(
    data: Matches,
    anchor: Mapping[str, float] | None,
    selection: Selection,
    level: float,
    plan: Plan,
    settings: dict[str, Any],
) -> Evaluation:
    """Evaluate agents against agents."""
    data.require_connected()
    roll = match_classes(data, merge=selection == "clone-invariant")
    board, found, game, rating = matches_board(data, roll, selection, anchor, level)
    by_class = data.select([data.agents[k] for k in roll.first]) if len(roll.first) > 1 else None
    names, shares = class_names(data.agents, roll), roll.size / len(roll.label)
    best = np.zeros(len(names))
    watched = largest(game.A, found.weights, best, names)
    samples = matches_again(by_class, selection, plan, watched) if by_class is not None else alone(plan, watched)
    answer = uncertainty("again", samples, roll.label, class_ranks(board, roll), level)
    stable = stability(board, found.weights, samples, answer, float(np.median(data.games)))
    settings |= {"anchor": dict(anchor or {}), "payoffs": game.made, "filled": game.filled, "rating": rating.why}
    settings["rating_errors"] = rating.errors
    moved = tuple(
        mover
        for ranks, name in ((board.uniform_ranks, "uniform average"), (board.rating_ranks, board.rating_name))
        for mover in movers(board, ranks, name, game.A, found.weights, shares, names)
    )
    warnings = [filled_sentence(game)] if game.filled else []
    warnings += [] if found.unique else [MANY]
    return assembled(
        data, board, None, {"again": answer}, {}, (stable,), moved,
        terms(board, game.A, found.weights, best, names, watched, samples, level),
        (roll.groups(data.agents), ()), warnings + resampling_warning(plan.n_resamples), certificates(found, 0.0),
        settings,
    )  # fmt: skip


def of_payoffs(data: Payoffs, selection: Selection, settings: dict[str, Any]) -> Evaluation:
    """Evaluate a matrix of payoffs, which does not say how noisy it is."""
    roll = payoff_classes(data, merge=selection == "clone-invariant")
    board, found, game = payoffs_board(data, roll, selection)
    names = class_names(data.agents, roll)
    best = np.zeros(len(names))
    watched = largest(game.A, found.weights, best, names)
    moved = movers(
        board, board.uniform_ranks, "uniform average", game.A, found.weights, roll.size / len(roll.label), names
    )
    settings |= {"payoffs": data.made, "filled": data.filled}
    return assembled(
        data, board, None, {}, {}, (), moved, terms(board, game.A, found.weights, best, names, watched),
        (roll.groups(data.agents), ()), [] if found.unique else [MANY], certificates(found, 0.0), settings,
    )  # fmt: skip


def of_scores(
    data: Scores, scaling: Scaling, selection: Selection, level: float, plan: Plan, settings: dict[str, Any]
) -> Evaluation:
    """Evaluate agents against tasks."""
    data.require_complete()
    if scaling not in get_args(Scaling) or scaling == "reference":
        allowed = [name for name in get_args(Scaling) if name != "reference"]
        raise InputError(
            f"there is no scaling {scaling!r}{nearest(str(scaling), allowed)}: use {either(allowed)}, or scale the "
            f"scores yourself with Scores.scale"
        )
    given = data
    if data.scaling == "raw" and scaling in HAVE_UNITS:
        data = data.without_constant_tasks()
    merge = selection == "clone-invariant" and not (data.scaling == "raw" and scaling in COUNT_COPIES)
    of_agents, of_tasks = score_classes(data, merge=merge)
    scaled = in_units(data, scaling)
    board, task_board, found, by_class = scores_boards(scaled, of_agents, of_tasks, selection)
    tasks = class_names(data.tasks, of_tasks)
    best = found.agent_weights @ by_class.values
    watched = largest(by_class.values, found.task_weights, best, tasks)
    kept: list[Samples] = []
    answers: dict[str, Uncertainty] = {}
    task_answers: dict[str, Uncertainty] = {}
    stable: list[Stability] = []
    rows, columns = (
        [source[k] for k in roll.first] for source, roll in ((data.agents, of_agents), (data.tasks, of_tasks))
    )
    raw = data.select(rows, columns)
    have = known(noise_of(raw))
    warnings = noise_warnings(have)
    for question in ("again", "suite") if have.any() else ("suite",):
        samples, task_samples = (
            scores_again(raw, scaling, selection, plan, watched)
            if question == "again"
            else another_suite(by_class, selection, plan, watched)
        )
        kept.append(samples)
        answers[question] = uncertainty(question, samples, of_agents.label, class_ranks(board, of_agents), level)
        task_answers[question] = uncertainty(
            question, task_samples, of_tasks.label, class_ranks(task_board, of_tasks), level
        )
        drawn = len(of_tasks.first) if question == "suite" else None
        stable.append(stability(board, found.agent_weights, samples, answers[question], tasks=drawn))
    shares = of_tasks.size / of_tasks.size.sum()
    moved = movers(board, board.uniform_ranks, "uniform average", by_class.values, found.task_weights, shares, tasks)
    settings |= {"scaling": scaled.scaling}
    warnings += [] if found.unique else [MANY]
    found_out = assembled(
        data, board, task_board, answers, task_answers, tuple(stable), moved,
        terms(board, by_class.values, found.task_weights, best, tasks, watched, kept[0], level),
        (of_agents.groups(data.agents), of_tasks.groups(data.tasks)),
        warnings + resampling_warning(plan.n_resamples), certificates(found, found.value), settings,
    )  # fmt: skip
    return found_out if data is given else replace(found_out, given=given)


MANY = (
    "There are many equilibria: the weights are those of maximum entropy, and which agents matter is partly a choice."
)


def noise_warnings(have: "np.ndarray[Any, np.dtype[np.bool_]]") -> list[str]:
    """Say where measurement noise is not known."""
    if not have.any():
        return [
            "No standard errors, runs or numbers of items are known: what measuring again would change cannot be said, "
            "only whether another suite would agree."
        ]
    if have.all():
        return []
    return [f"Standard errors are known for {have.sum():,} of {have.size:,} scores: the others are taken as exact."]


def alone(plan: Plan, watched: Ints) -> Samples:
    """Return resamples of a single class, which always ties with itself."""
    zero = np.zeros((plan.n_resamples, 1))
    return Samples(
        averages=zero,
        gaps=zero,
        weights=zero + 1.0,
        inside=zero + 1.0,
        scale=np.ones(plan.n_resamples),
        terms=np.zeros((plan.n_resamples, *watched.shape)),
    )


def class_ranks(board: Board, roll: Classes) -> Any:
    """Return the rank of each class."""
    return board.ranks[roll.first]


def class_names(names: tuple[str, ...], roll: Classes) -> tuple[str, ...]:
    """Return a name per class: of its first member by name."""
    found = [""] * len(roll.first)
    for name, k in zip(names, roll.label, strict=True):
        found[k] = min(found[k], name) if found[k] else name
    return tuple(found)


def terms(
    board: Board,
    X: Floats,
    weights: Floats,
    best: Floats,
    names: tuple[str, ...],
    watched: Ints,
    samples: Samples | None = None,
    level: float = 0.0,
) -> dict[str, tuple[Contribution, ...]]:
    """Return what each agent's gap is made of, by agent, with intervals where there are resamples."""
    ends = None
    if samples is not None:
        low, high = interval(samples.terms.reshape(len(samples.terms), -1), level)
        ends = low.reshape(watched.shape), high.reshape(watched.shape)
    by_class = contributions(X, weights, best, names, watched, ends)
    return {name: by_class[k] for name, k in zip(board.names, board.classes, strict=True)}


def certificates(found: Any, value: float) -> dict[str, Any]:
    """Return what proves the equilibrium."""
    return {
        "exploitability": found.exploitability,
        "residual": found.residual,
        "unique": bool(found.unique),
        "scale": found.scale,
        "value": value + 0.0,
    }


def assembled(
    data: Matches | Scores | Payoffs,
    board: Board,
    task_board: Board | None,
    answers: dict[str, Uncertainty],
    task_answers: dict[str, Uncertainty],
    stable: tuple[Stability, ...],
    moved: tuple[Mover, ...],
    parts: dict[str, tuple[Contribution, ...]],
    clones: tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]],
    warnings: list[str],
    exact: dict[str, Any],
    settings: dict[str, Any],
) -> Evaluation:
    """Put the result together, with the sentences about it."""
    said = clone_warning(clones[0], "agent") + clone_warning(clones[1], "task")
    return Evaluation(
        kind=type(data).__name__.lower(),
        board=board,
        task_board=task_board,
        uncertainty=answers,
        task_uncertainty=task_answers,
        stability={one.question: one for one in stable},
        movers=moved,
        contributions=parts,
        clone_groups=clones[0],
        task_clone_groups=clones[1],
        verdict=sentences(board, task_board, moved, stable),
        warnings=(*warnings, *said, *data_warnings(data)),
        certificates=exact,
        settings=settings,
        input=described(data),
        version=__version__,
        data=data,
    )
