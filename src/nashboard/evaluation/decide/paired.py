"""Tests of one difference: paired items, paired tasks, clustered items, and independent runs.

Every function returns an `Estimate` of ``a - b``; positive means that ``a`` is better.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nashboard._types import Floats

POWER = 0.8  # of the design behind `observations_needed`


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A difference with its error, from ``n`` observations.

    ``needed`` is the total number of observations at which a difference of this size is detected with a power of 80%;
    None where the estimate is 0 or does not say.
    """

    test: str
    difference: float
    low: float
    high: float
    p_value: float
    probability: float
    n: int
    needed: float | None
    details: dict[str, Any]


def run_mcnemar(a: Floats, b: Floats, level: float) -> Estimate:
    """Return the exact McNemar test of two rows of 0 and 1 over the same items.

    The p-value is that of a fair coin for the items on which exactly one of the two succeeds. The interval is that of
    Bonett and Price (2012), the probability that of a Beta posterior with Jeffreys' prior.
    """
    from scipy.stats import beta, binom, norm

    n = len(a)
    only_a, only_b = int((a > b).sum()), int((b > a).sum())
    discordant = only_a + only_b
    p_value = min(1.0, 2 * float(binom.cdf(min(only_a, only_b), discordant, 0.5))) if discordant else 1.0
    z = float(norm.isf((1 - level) / 2))
    smooth_a, smooth_b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    center = smooth_a - smooth_b
    width = z * float(np.sqrt((smooth_a + smooth_b - center**2) / (n + 2)))
    difference = (only_a - only_b) / n
    needed = None
    if only_a != only_b:
        rate = discordant / n
        spread = z * np.sqrt(rate) + norm.isf(1 - POWER) * np.sqrt(rate - difference**2)
        needed = float((spread / difference) ** 2)
    return Estimate(
        test="exact McNemar test",
        difference=difference,
        low=max(-1.0, center - width),
        high=min(1.0, center + width),
        p_value=p_value,
        probability=float(beta.sf(0.5, only_a + 0.5, only_b + 0.5)),
        n=n,
        needed=needed,
        details={"only_a": only_a, "only_b": only_b},
    )


def run_paired_t(d: Floats, level: float) -> Estimate:
    """Return the paired t-test of differences ``d``, one per item or task."""
    stderr = float(d.std(ddof=1) / np.sqrt(len(d)))
    return estimate_t("paired t-test", float(d.mean()), stderr, len(d) - 1, len(d), level)


def run_clustered_t(d: Floats, cluster: Any, level: float) -> Estimate:
    """Return the t-test of the mean difference with errors that are robust to correlation within clusters.

    ``var = G / (G - 1) sum_g (sum_{k in g} (d_k - mean))^2 / n^2`` with ``G - 1`` degrees of freedom.
    """
    _, label = np.unique(np.asarray(cluster), return_inverse=True)
    sums = np.bincount(label, weights=d - d.mean())
    G = len(sums)
    stderr = float(np.sqrt(G / (G - 1) * (sums**2).sum()) / len(d))
    found = estimate_t("cluster-robust t-test", float(d.mean()), stderr, G - 1, len(d), level)
    return replace(found, details={**found.details, "clusters": G})


def run_welch(difference: float, variances: Floats, runs: Floats, level: float) -> Estimate:
    """Return Welch's test of a difference whose independent parts have these squared errors and numbers of runs.

    Parts whose number of runs is unknown (0) have errors that count as known exactly.
    """
    stderr = float(np.sqrt(variances.sum()))
    counted = runs > 1
    denominator = float((variances[counted] ** 2 / (runs[counted] - 1)).sum())
    df = float(variances.sum() ** 2 / denominator) if denominator > 0 else np.inf
    n = int(runs[counted].sum()) or len(runs)
    return estimate_t("Welch t-test" if counted.any() else "z-test", difference, stderr, df, n, level)


def estimate_t(test: str, difference: float, stderr: float, df: float, n: int, level: float) -> Estimate:
    """Return an estimate from a t statistic."""
    from scipy.stats import norm, t

    law = t(df) if np.isfinite(df) else norm
    ratio = difference / stderr if stderr > 0 else np.sign(difference) * np.inf if difference else 0.0
    width = float(law.isf((1 - level) / 2)) * stderr
    z = float(norm.isf((1 - level) / 2) + norm.isf(1 - POWER))
    return Estimate(
        test=test,
        difference=difference,
        low=difference - width,
        high=difference + width,
        p_value=float(2 * law.sf(abs(ratio))),
        probability=float(law.cdf(ratio)),
        n=n,
        needed=float(n * (z / ratio) ** 2) if ratio else None,
        details={"stderr": stderr, "df": float(df), "statistic": float(ratio)},
    )


def adjust_holm(p_values: Floats) -> Floats:
    """Return Holm's adjusted p-values: the family-wise error is at most the level at which they are compared."""
    order = np.argsort(p_values, kind="stable")
    k = len(order)
    adjusted = np.empty(k)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * (k - np.arange(k))))
    return adjusted
