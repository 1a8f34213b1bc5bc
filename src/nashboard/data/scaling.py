"""Putting tasks in comparable units.

Symbols: ``S`` scores (m agents, n tasks), NaN where missing; ``E`` their standard errors.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from nashboard._text import listed
from nashboard._types import Bools, Floats
from nashboard.errors import InputError

Scaling = Literal["range", "rank", "zscore", "none", "reference"]
SCALINGS: tuple[str, ...] = get_args(Scaling)


def scaled(
    S: Floats,
    E: Floats,
    lower_is_better: Bools,
    tasks: Sequence[str],
    method: Scaling,
    reference: Sequence[int] | None,
) -> tuple[Floats, Floats]:
    """Return scores and standard errors in the units of ``method``, higher better throughout."""
    S = np.where(lower_is_better, -S, S) + 0.0
    if method == "none":
        return S, E
    if method == "rank":
        return beaten_share(S), np.full_like(E, np.nan)  # ranks have no standard error
    if method == "range":
        zero, unit = np.nanmin(S, axis=0), np.ptp(np.where(np.isnan(S), np.nanmin(S, axis=0), S), axis=0)
        trouble = "every agent has the same score, so there is no range to divide by"
    elif method == "zscore":
        zero, unit = np.nanmean(S, axis=0), np.nanstd(S, axis=0)
        unit = np.where(np.nanmin(S, axis=0) == np.nanmax(S, axis=0), 0.0, unit)  # not rounding noise
        trouble = "every agent has the same score, so there is no standard deviation to divide by"
    else:
        assert reference is not None
        zero, unit = S[reference[0]], S[reference[1]] - S[reference[0]]
        trouble = "the two reference agents have the same score, or one has none"
    flat = ~(np.abs(unit) > 0)
    if flat.any():
        names = [task for task, is_flat in zip(tasks, flat, strict=True) if is_flat]
        raise InputError(
            f"cannot scale {listed(names)} by {method}: {trouble}; "
            f"leave such tasks out (without_constant_tasks() does), or use scale('rank') or scale('none')"
        )
    return (S - zero) / unit, E / np.abs(unit)


def beaten_share(S: Floats) -> Floats:
    """Return the share of the other agents that each agent beats on each task, a tie counting half."""
    from scipy.stats import rankdata

    ranks = rankdata(S, method="average", axis=0, nan_policy="omit")
    others = np.maximum((~np.isnan(S)).sum(axis=0) - 1, 1)
    share = (ranks - 1) / others
    alone = (~np.isnan(S)).sum(axis=0) == 1
    return np.where(np.isnan(S), np.nan, np.where(alone, 0.5, share))
