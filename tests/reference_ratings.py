"""Slow twins of the ratings room, written differently: plain loops over games, formulas as the paper prints them."""

import math

import numpy as np
from scipy import stats
from scipy.linalg import fractional_matrix_power
from scipy.optimize import brentq, minimize

from nashboard import Matches
from nashboard._types import Floats

ALPHA = math.log(10) / 400


def sigmoid(points: float) -> float:
    return 1 / (1 + 10 ** (-points / 400))


def melo_step(r: Floats, c: Floats, i: int, j: int, outcome: float, rate: float, cyclic_rate: float) -> None:
    """The paper's mElo2_update in each plane, in place, for one game."""
    x = r[i] - r[j] + sum(c[i, t] * c[j, t + 1] - c[j, t] * c[i, t + 1] for t in range(0, c.shape[1], 2))
    delta = outcome - sigmoid(x)
    new_i, new_j = c[i].copy(), c[j].copy()
    for t in range(0, c.shape[1], 2):
        new_i[t] += cyclic_rate * delta * c[j, t + 1]
        new_i[t + 1] -= cyclic_rate * delta * c[j, t]
        new_j[t] -= cyclic_rate * delta * c[i, t + 1]
        new_j[t + 1] += cyclic_rate * delta * c[i, t]
    c[i], c[j] = new_i, new_j
    r[i] += rate * delta
    r[j] -= rate * delta


def loss_of_one_game(z: Floats, n: int, i: int, j: int, outcome: float) -> float:
    """Equation 2 in logits, as a function of ratings and planes laid end to end in points."""
    r, c = z[:n], z[n:].reshape(n, -1)
    x = r[i] - r[j] + sum(c[i, t] * c[j, t + 1] - c[j, t] * c[i, t + 1] for t in range(0, c.shape[1], 2))
    p = sigmoid(x)
    return -outcome * math.log(p) - (1 - outcome) * math.log(1 - p)


def elo_by_minimising(matches: Matches, prior: float) -> Floats:
    """Elo ratings in points, mean 0, by a general minimiser; each agent has drawn games with one more agent."""
    n = len(matches.agents)

    def loss(r: Floats) -> float:
        total = 0.0
        for (i, j), wins, draws, losses in zip(matches.pairs, matches.wins, matches.draws, matches.losses, strict=True):
            x = r[i] - r[j]
            total += (wins + draws / 2) * math.log1p(math.exp(-x)) + (losses + draws / 2) * math.log1p(math.exp(x))
        for i in range(n):
            x = r[i] - r[n]
            total += prior / 2 * (math.log1p(math.exp(-x)) + math.log1p(math.exp(x)))
        return total

    found = minimize(loss, np.zeros(n + 1), method="BFGS", options={"gtol": 1e-9, "xrtol": 0})
    r = np.asarray(found.x[:n])
    return np.asarray((r - r.mean()) / ALPHA)


def information(matches: Matches, ratings: Floats) -> Floats:
    """Equal weights of the agents whose games tell at least a tenth of the average: those of the origin."""
    told = np.zeros(len(ratings))
    for (i, j), games, won in zip(matches.pairs, matches.games, matches.wins + matches.draws / 2, strict=True):
        p = (won + 0.5) / (games + 1)
        told[[i, j]] += games * p * (1 - p)
    known = told >= told.mean() / 10
    return np.asarray(known / known.sum())


def elo_hessian_inverse(matches: Matches, ratings: Floats) -> Floats:
    """Standard errors in points without a prior: the pseudo-inverse of the Hessian, entry by entry."""
    n = len(ratings)
    H = np.zeros((n, n))
    for (i, j), games in zip(matches.pairs, matches.games, strict=True):
        p = sigmoid(ratings[i] - ratings[j])
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            H[a, b] += sign * games * p * (1 - p)
    T = np.eye(n) - information(matches, ratings)
    return np.sqrt(np.diag(T @ np.linalg.pinv(H) @ T.T)) / ALPHA


def robust_errors(matches: Matches, ratings: Floats, prior: float) -> Floats:
    """Standard errors in points that know draws and clusters, game by game and with dense matrices."""
    n = len(matches.agents)
    r = ratings * np.log(10) / 400
    average = brentq(lambda at: float((1 / (1 + np.exp(at - r)) - 0.5).sum()), r.min() - 1, r.max() + 1)
    r = np.append(r, average)

    def edge(i: int, j: int) -> Floats:
        e = np.zeros(n + 1)
        e[i], e[j] = 1, -1
        return np.outer(e, e)

    H, M = np.zeros((2, n + 1, n + 1))
    told, half_scatter, quarter = np.zeros((3, n))
    pairs = []
    for (i, j), wins, draws, losses in zip(matches.pairs, matches.wins, matches.draws, matches.losses, strict=True):
        p = 1 / (1 + np.exp(r[j] - r[i]))
        expected = (wins + draws + losses) * p * (1 - p)
        told[[i, j]] += expected
        half_scatter[[i, j]] += (wins + draws / 2) * (1 - p) ** 2 + (losses + draws / 2) * p**2
        quarter[[i, j]] += draws / 4
        pairs.append((i, j, p, expected))
        H += expected * edge(i, j)
    for a in range(n):
        p = 1 / (1 + np.exp(r[n] - r[a]))
        H += prior * p * (1 - p) * edge(a, n)
        M += prior * p * (1 - p) * edge(a, n)
    V = np.linalg.pinv(H)
    split = matches.clusters
    if split is None:
        league = quarter.sum() / 2 / (half_scatter.sum() / 2 + 0.25)
        phi = 1 - (quarter + 5 * league) / (half_scatter + 5)
        for i, j, _, expected in pairs:
            M += expected * (phi[i] + phi[j]) / 2 * edge(i, j)
    else:
        games = split.wins + split.draws + split.losses
        scores, known = np.zeros((split.size, n + 1)), np.zeros((split.size, n))
        parts = []
        for c in range(split.size):
            rows = [row for row in np.flatnonzero(split.cluster == c) if games[row] > 0]
            X, surprise, weight = np.zeros((len(rows), n + 1)), np.zeros(len(rows)), np.zeros(len(rows))
            for k, row in enumerate(rows):
                i, j, p, _ = pairs[split.pair[row]]
                X[k, i], X[k, j], weight[k] = 1, -1, games[row] * p * (1 - p)
                surprise[k] = split.wins[row] + split.draws[row] / 2 - games[row] * p
                known[c, [i, j]] += weight[k]
            if not rows:
                continue
            root = np.diag(np.sqrt(weight))
            left = fractional_matrix_power(np.eye(len(rows)) - root @ X @ V @ X.T @ root, -0.5)  # CR2
            parts.append((c, X, root @ left @ np.linalg.inv(root) @ surprise))
        freedom = (known.sum(axis=0) + 5) ** 2 / ((known**2).sum(axis=0) + 20 * 0.25**2)
        wider = stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)
        for c, X, corrected in parts:
            for ends, value in zip(X, corrected, strict=True):
                scores[c] += ends * value * wider[np.flatnonzero(ends[:n])].mean()
        B = scores.T @ scores
        seen = np.diag(B)[:n]
        league = max(seen.sum() / told.sum(), 0.001)
        expected_scatter = told * (seen + 5 * league) / (np.maximum(told - 0.25, 0) + 5)
        lacking = np.maximum(expected_scatter - seen, 0) / told
        M += B
        for i, j, _, expected in pairs:
            M += expected * max(lacking[i], lacking[j]) * edge(i, j)
    T = np.eye(n + 1)[:n] - np.append(information(matches, ratings), 0)
    return np.sqrt(np.diag(T @ V @ M @ V @ T.T)) / ALPHA


def paper_norm_and_log_loss(P: Floats, Q: Floats) -> tuple[float, float]:
    """Section 3.2: the Frobenius norm over the whole matrix, and the log-loss over 2n, diagonal included."""
    n = len(P)
    total = 0.0
    for i in range(n):
        for j in range(n):
            total -= P[i, j] * math.log(Q[i, j]) + (1 - P[i, j]) * math.log(1 - Q[i, j])
    return float(np.sqrt(((P - Q) ** 2).sum())), total / (2 * n)
