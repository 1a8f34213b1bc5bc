"""What others do for the same task, each called in the form it likes best, or written again from its mathematics.

    python benchmarks/peers.py     what evalica and choix say of the small league in tests/ratings/test_elo.py

Peers are imported where they are called: no environment has all of them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
POINTS = 400 / np.log(10)

# --- equilibria: payoffs in, weights out (of agents, or of agents and tasks) ---


def convex_program(A: Array) -> Array:
    """Maximise ``sum(entr(x))`` subject to ``A x <= 0``: the formulation of OpenSpiel."""
    import cvxpy as cp

    x = cp.Variable(len(A), nonneg=True)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [A @ x <= 0, cp.sum(x) == 1])
    problem.solve()
    return np.array(x.value)


def convex_program_of_pairs(S: Array) -> tuple[Array, Array]:
    """Maximise both entropies with one constraint per pair of an agent and a task, as OpenSpiel does.

    Each meta-player of the antisymmetric game of appendix D picks an agent and a task, and no such pair may gain
    against the mixtures: with ``g`` everybody's payoff against them, ``g_i + g_j <= 0`` for each agent i and task
    j. As there, every constraint is a new row with two ones times the whole of ``g``, and cvxpy compiles each of them.
    Most of its time goes into telling these rows apart: it looks them up by where they were in memory, and one row
    after the other was in the same place.
    """
    import cvxpy as cp

    m, n = S.shape
    K = np.block([[np.zeros((m, m)), S], [-S.T, np.zeros((n, n))]])
    x, y = cp.Variable(m), cp.Variable(n)
    both = cp.hstack([x, y])
    g = K @ both
    no_gain = []
    for agent in range(m):
        for task in range(n):
            row = np.zeros(m + n)
            row[agent] = row[m + task] = 1
            row = row.reshape(1, -1)
            no_gain.append(row @ g <= 0)
    mixtures = [x >= 0, y >= 0, cp.sum(x) == 1, cp.sum(y) == 1]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(both))), [*mixtures, *no_gain]).solve()
    return np.array(x.value), np.array(y.value)


def convex_program_of_sides(S: Array) -> tuple[Array, Array]:
    """The same with one constraint per agent and one per task and the value as a variable."""
    import cvxpy as cp

    m, n = S.shape
    x, y, v = cp.Variable(m, nonneg=True), cp.Variable(n, nonneg=True), cp.Variable()
    both = cp.Maximize(cp.sum(cp.entr(x)) + cp.sum(cp.entr(y)))
    cp.Problem(both, [S @ y <= v, S.T @ x >= v, cp.sum(x) == 1, cp.sum(y) == 1]).solve()
    return np.array(x.value), np.array(y.value)


def highs(A: Array, method: str) -> Array:
    """Return any equilibrium of an antisymmetric game by a linear program."""
    from scipy.optimize import linprog

    n = len(A)
    found = linprog(np.zeros(n), A_ub=A, b_ub=np.zeros(n), A_eq=np.ones((1, n)), b_eq=[1], method=method)
    return np.array(found.x)


def highs_of_scores(S: Array, method: str) -> tuple[Array, Array]:
    """Return any equilibrium of a table by one linear program: the tasks' weights are its multipliers."""
    from scipy.optimize import linprog

    m, n = S.shape
    found = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.column_stack([-S.T, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method=method,
    )
    return np.array(found.x[:m]), -np.array(found.ineqlin.marginals)


def nashpy_program(S: Array) -> tuple[Array, Array]:
    """Return any equilibrium of a zero-sum game by nashpy's linear programs."""
    import nashpy

    p, q = nashpy.Game(S).linear_program()
    return np.array(p), np.array(q)


def polarix_solver(S: Array, solver: str) -> tuple[Array, Array]:
    """Return both players' weights from a solver of polarix, with its own settings.

    ``ce_maxent`` finds the correlated equilibrium of maximum entropy. In a zero-sum game that is the product of the two
    maximum-entropy equilibria, so its marginals are what we compute. ``lle`` follows logit equilibria to a Nash
    equilibrium.
    """
    import polarix as plx

    actions = tuple(np.arange(size) for size in S.shape)
    game = plx.Game(payoffs=np.stack([S, -S]), actions=actions, players=("agent", "other"))
    found = plx.solve(game, getattr(plx, solver), disable_progress_bar=True)
    marginals = plx.marginals_from_joint(found.joint) if hasattr(found, "joint") else found.marginals
    p, q = (np.asarray(one, dtype=float) for one in marginals)
    return p, q


def polarix_ratings(A: Array) -> list[float]:
    """Return polarix's ratings of agents: what each gains by deviating from the correlated equilibrium.

    In a game of two players with opposite payoffs and one equilibrium these are deviation ratings, which polarix does
    not have for other games. In double precision, without its decay of multipliers and with a tenth of its tolerance:
    with its own settings they were off by up to 0.01 of the largest payoff.
    """
    import jax

    jax.config.update("jax_enable_x64", True)
    import polarix as plx

    actions = (np.arange(len(A)),) * 2
    game = plx.Game(payoffs=np.stack([A, -A]), actions=actions, players=("agent", "other"))
    found = plx.solve(
        game,
        lambda game: plx.ce_maxent(game, l1_weight_decay=0.0, tol=1e-6),
        max_num_iterations=1_000_000,
        disable_progress_bar=True,
    )
    return [float(rating) for rating in found.ratings[0]]


# --- ratings by maximum likelihood: a pandas frame of battles in, Elo points by name out ---


def evalica_columns(frame: Any) -> tuple[Any, Any, Any]:
    import evalica

    outcome = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    return frame["model_a"], frame["model_b"], frame["winner"].map(outcome)


def by_evalica(frame: Any) -> dict[str, float]:
    import evalica

    scores = evalica.bradley_terry(*evalica_columns(frame), tie_weight=0.5).scores
    return dict(zip(scores.index, np.log(scores) * POINTS, strict=True))


def by_arena_rank(frame: Any) -> dict[str, float]:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    dataset = PairDataset.from_pandas(frame)
    model = BradleyTerry(n_competitors=len(dataset.competitors))
    model.fit(dataset)
    return dict(zip(dataset.competitors, np.asarray(model.params["ratings"]) * POINTS, strict=True))


def halves(frame: Any) -> tuple[Any, Array]:
    """Return names and how often each beat each, by pandas; a tie is half a win for both."""
    import pandas as pd

    counted = frame.groupby(["model_a", "model_b", "winner"], observed=True).size().unstack(fill_value=0)
    counted = counted.reindex(columns=["model_a", "model_b", "tie"], fill_value=0)
    sides = [counted.index.get_level_values(side) for side in ("model_a", "model_b")]
    names = pd.Index(sorted(set(sides[0]) | set(sides[1])))
    a, b = (names.get_indexer(side) for side in sides)
    W = np.zeros((len(names), len(names)))
    np.add.at(W, (a, b), counted["model_a"] + counted["tie"] / 2)
    np.add.at(W, (b, a), counted["model_b"] + counted["tie"] / 2)
    return names, W


def by_choix(frame: Any) -> dict[str, float]:
    """choix knows no names and no logs: pandas counts, and its own method for dense counts fits."""
    import choix

    names, W = halves(frame)
    return dict(zip(names, choix.ilsr_pairwise_dense(W) * POINTS, strict=True))


def logistic(W: Array) -> Array:
    """FastChat's approach: weighted logistic regression on pair counts by scikit-learn, without a penalty."""
    from sklearn.linear_model import LogisticRegression

    i, j = np.nonzero(W)
    X = np.zeros((len(i), len(W)))
    rows, y = np.arange(len(i)), (i < j).astype(float)
    X[rows, np.minimum(i, j)], X[rows, np.maximum(i, j)] = np.log(10), -np.log(10)
    model = LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-6)
    model.fit(X, y, sample_weight=W[i, j])
    return np.asarray(model.coef_[0] * 400)


def by_fastchat(frame: Any) -> dict[str, float]:
    names, W = halves(frame)
    return dict(zip(names, logistic(W), strict=True))


# --- the same a hundred times, each in its own way of resampling: the mean standard deviation of a rating ---


def rounds_of_evalica(frame: Any, rounds: int) -> float:
    import evalica

    found = evalica.bootstrap(
        evalica.bradley_terry,
        *evalica_columns(frame),
        n_resamples=rounds,
        bootstrap_method="percentile",
        random_state=0,
    )
    drawn = np.log(found.distribution.to_numpy()) * POINTS
    return spread(drawn)


def rounds_of_arena_rank(frame: Any, rounds: int) -> float:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    dataset = PairDataset.from_pandas(frame)
    model = BradleyTerry(n_competitors=len(dataset.competitors))
    found = model.compute_ratings_and_cis(dataset, ci_method="bootstrap", num_bootstrap=rounds, seed=0)
    return float(np.sqrt(np.asarray(found["variances"])).mean())


def rounds_of_counts(frame: Any, rounds: int, fit_near: Any) -> float:
    """Draw the counts again, as FastChat does, and fit each draw; ``fit_near(W)`` may start from all counts."""
    _, W = halves(frame)
    fit = fit_near(W)
    rng = np.random.default_rng(0)
    total = round(W.sum())
    drawn = rng.multinomial(total, (W / W.sum()).ravel(), size=rounds).reshape(rounds, *W.shape)
    return spread(np.array([fit(counts.astype(float)) for counts in drawn]))


def rounds_of_choix(frame: Any, rounds: int) -> float:
    import choix

    def fit_near(W: Array) -> Any:
        start = choix.ilsr_pairwise_dense(W)
        return lambda counts: choix.ilsr_pairwise_dense(counts, initial_params=start) * POINTS

    return rounds_of_counts(frame, rounds, fit_near)


def rounds_of_fastchat(frame: Any, rounds: int) -> float:
    return rounds_of_counts(frame, rounds, lambda W: logistic)


def spread(drawn: Array) -> float:
    """Return the mean standard deviation of a rating whose mean over agents is taken off."""
    return float(np.std(drawn - drawn.mean(axis=1, keepdims=True), axis=0).mean())


# --- online ratings: names, pairs of numbers and outcomes in, what was learnt out ---


def riix_elo(names: list[str], pairs: Any, outcomes: Array) -> Array:
    from riix.models.elo import Elo

    model = Elo(names, initial_rating=0.0, k=16.0)
    model.update(pairs, outcomes, time_step=0)
    return np.ravel(model.ratings)


def riix_melo(names: list[str], pairs: Any, outcomes: Array) -> Array:
    """Return the lead of every agent over every other, after the same start as ours."""
    from riix.models.melo import Melo

    model = Melo(names, initial_rating=0.0, eta_r=16.0, eta_c=0.125)
    model.c = np.random.default_rng(0).standard_normal((len(names), 2))
    model.update(pairs, outcomes, time_step=0)
    r, c = model.ratings.ravel(), model.c
    return np.subtract.outer(r, r) + np.outer(c[:, 0], c[:, 1]) - np.outer(c[:, 1], c[:, 0])


def small_league() -> dict[str, list[float]]:
    """Return what evalica and choix say of the league in tests/ratings/test_elo.py, in Elo points with mean 0."""
    import choix
    import evalica
    import pandas as pd

    wins = np.array([[0, 7, 2, 9], [3, 0, 6, 4], [8, 4, 0, 5], [1, 6, 5, 0]])
    draws = np.array([[0, 2, 0, 1], [2, 0, 3, 0], [0, 3, 0, 4], [1, 0, 4, 0]])
    games = [(i, j, "model_a") for i in range(4) for j in range(4) for _ in range(wins[i, j])]
    games += [(i, j, "tie") for i in range(4) for j in range(i) for _ in range(draws[i, j])]
    frame = pd.DataFrame(games, columns=["model_a", "model_b", "winner"])
    scores = evalica.bradley_terry(*evalica_columns(frame), tie_weight=0.5, tolerance=1e-14, limit=10**6).scores
    twice = 2 * wins + draws  # choix knows no draws: a win counts two, a draw one for each side
    data = [(i, j) for i in range(4) for j in range(4) for _ in range(twice[i, j])]
    found = {
        "evalica": np.log(scores.sort_index().to_numpy()) * POINTS,
        "choix": choix.opt_pairwise(4, data, alpha=0.0, method="Newton-CG", tol=1e-12) * POINTS,
    }
    return {name: np.round(points - points.mean(), 5).tolist() for name, points in found.items()}


if __name__ == "__main__":
    for peer, points in small_league().items():
        print(peer, points)
