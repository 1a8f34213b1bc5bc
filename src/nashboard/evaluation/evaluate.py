"""`evaluate`: one call from a table of results to a verdict."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from nashboard._parallel import threads_for
from nashboard._progress import show_progress
from nashboard._version import __version__
from nashboard.data.scores import Scaling, Scores
from nashboard.equilibrium.results import Selection
from nashboard.evaluation.board.build_board import build_board, build_task_board
from nashboard.evaluation.board.contributions import find_contributions, find_movers
from nashboard.evaluation.board.verdict import write_verdict
from nashboard.evaluation.board.warnings import write_warnings
from nashboard.evaluation.document import describe_input, list_model_facts
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.problem import Components, Data, Noise, Problem, Tolerance, prepare_data


def evaluate(
    data: Data,
    *,
    methods: Sequence[str] = ("nash", "elo", "uniform"),
    noise: Noise = "model",
    n_resamples: int = 200,
    rng: int | np.random.Generator = 0,
    level: float = 0.95,
    pool: Literal["auto"] | bool = "auto",
    selection: Selection = "clone-invariant",
    tolerance: Tolerance = None,
    scaling: Scaling = "range",
    anchor: Mapping[str, float] | None = None,
    components: Components = "error",
    call: str = "agents",
    progress: bool = False,
    workers: int | None = None,
) -> Evaluation:
    """Evaluate agents: a leaderboard that copies cannot move and noise does not decide, and a verdict in words.

    One hierarchical model is fitted to the data. Every number of the result comes from draws of its posterior: the
    gap of each agent to the best by Nash average, its interval, the probability of being at the top, and the ranks.

    Parameters
    ----------
    data
        `Matches`, `Scores` or `Payoffs`.
    methods
        Numbers beside the Nash average, from the same draws; see `nashboard.methods`.
    noise
        ``"model"``: the data are noisy, and the model estimates the truth behind them. ``"none"``: the data are
        exact, as in the paper.
    n_resamples
        Number of draws from the posterior, at least 2; below 100 the ends of intervals are rough.
    rng
        A seed, or a numpy generator; the same seed gives the same result.
    level
        Confidence of the intervals and of every test.
    pool
        ``"auto"``: near-duplicates are pooled, and a warning names them. False: they are not pooled.
    selection
        As in `nash_average`.
    tolerance
        As in `nash_average`, for exact results (``noise="none"``). ``"noise"`` allows one standard error of an average
        payoff or score, see `nashboard.evaluation.posterior.tolerance`. Draws of the model allow for noise already.
    scaling
        How raw scores are put in comparable units, as in `Scores.scale`; scores that were scaled are not changed.
    anchor
        Ratings that stay fixed, for matches: ``{"gnugo": 1800}``; of several, their mean.
    components
        Groups of agents that never met: ``"error"`` names them, ``"largest"`` evaluates the largest; see also
        `evaluate_components`.
    call
        The plural noun for agents in sentences, such as ``"players"``.
    progress
        Show progress on standard error if that is a terminal.
    workers
        Number of threads that solve the draws of a large league. The result does not depend on it.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("rock-paper-scissors"))
    >>> bool((result.posterior.probability_top > 0.9).all())
    True
    >>> sorted(nb.evaluate(nb.load_dataset("atari"), noise="none").support)
    ['human', 'popart_ddqn', 'prioritized_ddqn_rank', 'rainbow']
    """
    with show_progress("Evaluating ...", asked=progress):
        problem = prepare_data(
            data, methods=methods, noise=noise, n_resamples=n_resamples, rng=rng, level=level, pool=pool,
            selection=selection, tolerance=tolerance, scaling=scaling, anchor=anchor, components=components, call=call,
            workers=workers,
        )  # fmt: skip
        with threads_for(len(problem.exact.first)):
            return evaluate_problem(problem)


def evaluate_problem(problem: Problem) -> Evaluation:
    """Return the boards and the verdict of a prepared problem."""
    board, tasks = build_board(problem), build_task_board(problem)
    movers, scores = find_movers(problem, board, board.rating), problem.data
    return Evaluation(
        kind=problem.kind,
        board=board,
        task_board=tasks,
        posterior=problem.posterior,
        movers=movers,
        contributions=find_contributions(problem),
        clone_groups=problem.exact.groups(problem.agents),
        task_clone_groups=problem.tasks.groups(scores.tasks) if problem.tasks and isinstance(scores, Scores) else (),
        pooled=problem.pools,
        verdict=write_verdict(problem, board, tasks, movers),
        warnings=write_warnings(problem),
        certificates=certify(problem),
        settings=problem.settings.to_dict(),
        model=list_model_facts(problem),
        input=describe_input(problem.data),
        version=__version__,
        problem=problem,
    )


def certify(problem: Problem) -> dict[str, Any]:
    """Return the certificates of the equilibrium of the expected payoffs; None if they do not fit in memory."""
    if problem.large:
        return dict.fromkeys(("exploitability", "residual", "unique", "scale", "value"))
    equilibrium = problem.equilibrium
    return {
        "exploitability": equilibrium.exploitability,
        "residual": equilibrium.residual,
        "unique": bool(equilibrium.unique),
        "scale": equilibrium.scale,
        "value": float(getattr(equilibrium, "value", 0.0)) + 0.0,
    }
