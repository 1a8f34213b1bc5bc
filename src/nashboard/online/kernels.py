"""The compiled loops over games: steps at a given rate, and adaptive filters.

Symbols: ``Z`` (agents, 1 + 2k), column 0 the ratings, then two columns per plane; the lead of i over j is
``x = r[i] - r[j] + sum over planes of c[i, 0] c[j, 1] - c[j, 0] c[i, 1]`` (section 3.1).
"""

from math import exp, log, log1p, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashboard._compiled import compiled
from nashboard._types import Floats
from nashboard.ratings.kernels import FLOAT, READ_VECTOR, TABLE, VECTOR, lead, types

READ_CODES = types.Array(types.uint32, 1, "C", readonly=True)
CUBE, BLOCKS = types.Array(FLOAT, 3, "C"), types.Array(FLOAT, 4, "C")

Codes = NDArray[np.uint32]
SHARE = 1e-5  # of the weight that filters exchange after each game, so that one that was bad can become good
LONGEST = 2.0  # logits, or their square roots, by which a game moves the planes of an agent at most
LEAST_DISPERSION, PRIOR_GAMES = 0.02, 5.0  # the latter in games of variance 1, 20 between equals


@compiled(
    types.void(TABLE, VECTOR, VECTOR, READ_CODES, READ_CODES, READ_VECTOR, READ_VECTOR, FLOAT, FLOAT, FLOAT, FLOAT)
)
def play(
    Z: Floats,
    played: Floats,
    sums: Floats,
    first: Codes,
    second: Codes,
    outcome: Floats,
    weight: Floats,
    rate: float,
    cyclic_rate: float,
    decay: float,
    logits: float,
) -> None:
    """Update ``Z``, ``played`` and ``sums`` (of losses before each game, and of weights), in place, game by game.

    This is ``mElo2_update`` of appendix E for any number of planes. ``logits`` is one point in logits. An agent
    that has played ``m`` games takes steps ``1 / (1 + m decay)`` times as long. The step of the planes grows with the
    planes themselves, so that far out it would overshoot and run away: it is cut where it would carry the lead beyond
    the outcome, taking the loss as curved as it can be, 1/4.
    """
    for game in range(first.size):
        i, j, w = first[game], second[game], weight[game]
        x = lead(Z, i, j) * logits
        e = exp(-abs(x))
        p = 1 / (1 + e) if x >= 0 else e / (1 + e)
        sums[0] += w * (log1p(e) + max(x, 0.0) - outcome[game] * x)
        delta = w * (outcome[game] - p)
        at_i, at_j = delta / (1 + played[i] * decay), delta / (1 + played[j] * decay)
        Z[i, 0] += rate * at_i
        Z[j, 0] -= rate * at_j
        at_i, at_j = cyclic_rate * at_i, cyclic_rate * at_j
        reach = 0.0  # how far the step carries the lead, in points
        for t in range(1, Z.shape[1]):
            reach += at_i * Z[j, t] * Z[j, t] + at_j * Z[i, t] * Z[i, t]
        most = 4 * abs(outcome[game] - p)
        if abs(reach) * logits > most:
            cut = most / (abs(reach) * logits)
            at_i, at_j = cut * at_i, cut * at_j
        for t in range(1, Z.shape[1], 2):
            u, v, y, z = Z[i, t], Z[i, t + 1], Z[j, t], Z[j, t + 1]
            Z[i, t] = u + at_i * z
            Z[i, t + 1] = v - at_i * y
            Z[j, t] = y - at_j * v
            Z[j, t + 1] = z + at_j * u
        played[i] += w
        played[j] += w
        sums[1] += w


@compiled(
    types.void(CUBE, BLOCKS, VECTOR, VECTOR, VECTOR, READ_CODES, READ_CODES, READ_VECTOR, READ_VECTOR, READ_VECTOR,
               READ_VECTOR, VECTOR, VECTOR)
)  # fmt: skip
def filtered(
    Z: Any,
    P: Any,
    weights: Floats,
    played: Floats,
    sums: Floats,
    first: Codes,
    second: Codes,
    outcome: Floats,
    weight: Floats,
    drift: Floats,
    most: Floats,
    trace: Floats,
    predicted: Floats,
) -> None:
    """Update a bank of extended Kalman filters, in place, game by game; all numbers are in logits.

    ``Z`` (agents, filters, 1 + 2k) means and ``P`` (agents, filters, 1 + 2k, 1 + 2k) covariances of each agent;
    ``drift`` is the variance that a game adds to each coordinate, up to the variance ``most`` (filters, 2) of a
    newcomer. ``weights`` of the filters are their shares of the likelihood so far: predictions are their mean.
    Draws and other shares of the point vary less than wins and losses, so that a game counts as ``1 / phi``, with
    ``phi = 1 - sum y (1 - y) / sum p (1 - p)`` of the games before; ``sums`` has these two last.
    ``trace`` (games, 4) takes mean and variance of both ratings after each game, and ``predicted`` (games,) the win
    rate before it, where they have rows.
    """
    filters, size = Z.shape[1], Z.shape[2]
    at_i, at_j = np.empty(size), np.empty(size)
    v_i, v_j = np.empty(size), np.empty(size)
    chance = np.empty(filters)
    for game in range(first.size):
        i, j, w, y = first[game], second[game], weight[game], outcome[game]
        told = w / max(1 - sums[2] / (sums[3] + PRIOR_GAMES), LEAST_DISPERSION)
        p_mean = 0.0
        for m in range(filters):
            at_i[0], at_j[0] = 1.0, -1.0
            x, product = Z[i, m, 0] - Z[j, m, 0], 0.0
            for t in range(1, size, 2):
                at_i[t], at_i[t + 1] = Z[j, m, t + 1], -Z[j, m, t]
                at_j[t], at_j[t + 1] = -Z[i, m, t + 1], Z[i, m, t]
                x += Z[i, m, t] * Z[j, m, t + 1] - Z[i, m, t + 1] * Z[j, m, t]
            for t in range(1, size, 2):  # the variance of a product of two uncertain points
                product += (
                    P[i, m, t, t] * P[j, m, t + 1, t + 1]
                    + P[i, m, t + 1, t + 1] * P[j, m, t, t]
                    - 2 * P[i, m, t, t + 1] * P[j, m, t, t + 1]
                )
            known = 0.0
            for s in range(size):
                v_i[s], v_j[s] = 0.0, 0.0
                for t in range(size):
                    v_i[s] += P[i, m, s, t] * at_i[t]
                    v_j[s] += P[j, m, s, t] * at_j[t]
                known += at_i[s] * v_i[s] + at_j[s] * v_j[s]
            spread = known + product
            damped = x / sqrt(1 + pi * spread / 8)
            q = 1 / (1 + exp(-abs(damped)))
            q = q if damped >= 0 else 1 - q
            q = min(max(q, 1e-12), 1 - 1e-12)
            p_mean += weights[m] * q
            chance[m] = (y * q + (1 - y) * (1 - q)) if y == 1.0 or y == 0.0 else exp(y * log(q) + (1 - y) * log(1 - q))
            p = 1 / (1 + exp(-abs(x)))
            p = p if x >= 0 else 1 - p
            h = told * p * (1 - p)
            gain, shrink = told * (y - p) / (1 + h * spread), h / (1 + h * spread)
            longest = 0.0
            for s in range(size):
                longest = max(longest, abs(gain * v_i[s]), abs(gain * v_j[s]))
            if size > 1 and longest > LONGEST:  # a heavy game: far away its linear approximation is wrong
                gain *= LONGEST / longest
            for s in range(size):
                Z[i, m, s] += gain * v_i[s]
                Z[j, m, s] += gain * v_j[s]
            for s in range(size):
                for t in range(size):
                    P[i, m, s, t] -= shrink * v_i[s] * v_i[t]
                    P[j, m, s, t] -= shrink * v_j[s] * v_j[t]
            for t in range(size):  # agents may change before their next game; none is less known than a newcomer
                top = most[m * 2 + (1 if t else 0)]
                P[i, m, t, t] = max(P[i, m, t, t], min(P[i, m, t, t] + drift[m], top))
                P[j, m, t, t] = max(P[j, m, t, t], min(P[j, m, t, t] + drift[m], top))
        if predicted.size:
            predicted[game] = p_mean
        sums[0] -= w * (y * log(p_mean) + (1 - y) * log(1 - p_mean))
        sums[1] += w
        sums[2] += w * y * (1 - y)
        sums[3] += w * p_mean * (1 - p_mean)
        played[i] += w
        played[j] += w
        total, likeliest = 0.0, chance.max()
        for m in range(filters):
            weights[m] *= chance[m] if told == 1.0 else (chance[m] / likeliest) ** told
            total += weights[m]
        for m in range(filters):
            weights[m] = (1 - SHARE) * weights[m] / total + SHARE / filters
        if trace.size:
            for side in range(2):
                k = i if side == 0 else j
                mean, square = 0.0, 0.0
                for m in range(filters):
                    mean += weights[m] * Z[k, m, 0]
                    square += weights[m] * (P[k, m, 0, 0] + Z[k, m, 0] * Z[k, m, 0])
                trace[4 * game + 2 * side], trace[4 * game + 2 * side + 1] = mean, square - mean * mean
