"""The difference between two agents: paired and clustered items, independent runs, games, and sequential tests.

Fixed-sample tests return an `Estimate` of ``a - b``; positive means that ``a`` is better.

`confidence_sequence` and `log_e_value` use the Beta-binomial mixture martingale over decisive games (Robbins 1970;
Howard et al. 2021): under equal strength a decisive game is a fair coin, so draws do not show who is better.
`sprt` is the generalised sequential probability ratio test on trinomial or pentanomial counts that engine testers use
(Van den Bergh's formulation): the log-likelihood ratio of the two hypotheses about the expected score, with the
distribution of outcomes estimated under each.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from nashboard._tables import Column, Result, Table
from nashboard._types import Floats, Ints, floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.evaluation.posterior.duplicates import MOST_TRAITS
from nashboard.ratings.hierarchical.model import HierarchicalFit, fit_hierarchical
from nashboard.ratings.hierarchical.pairs import PairCounts
from nashboard.ratings.hierarchical.planes import PlaneDraws, count_planes, sample_planes

EQUAL = 1e-9  # of the mean difference: a smaller standard error is rounding, and all differences are equal
POWER = 0.8  # of the design behind `Estimate.needed`
MIXTURE = 1.0  # both parameters of the Beta mixture: all strengths are equally likely at the start
Decision = Literal["accept", "reject", "continue"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A difference with its error, from ``n`` observations.

    ``needed`` is the total number of observations at which a difference of this size is detected with a power of 80%;
    None if the estimate is 0 or the number is unknown.
    """

    test: str
    difference: float
    low: float
    high: float
    p_value: float
    probability_superior: float
    n: int
    needed: float | None
    details: dict[str, Any]


def run_mcnemar(a: Floats, b: Floats, level: float) -> Estimate:
    """Return the exact McNemar test of two rows of 0 and 1 over the same items.

    The p-value is that of a sign test on the items on which exactly one of the two succeeds. The interval is that of
    Bonett and Price (2012), the probability that of a Beta posterior with Jeffreys' prior.
    """
    from scipy.stats import binom, norm

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
        probability_superior=probability_above_half(only_a, only_b),
        n=n,
        needed=needed,
        details={"only_a": only_a, "only_b": only_b},
    )


def probability_above_half(wins: float, losses: float) -> float:
    """Return the probability that a decisive game (or item) is won more often than lost, with Jeffreys' prior."""
    from scipy.special import betainc

    return float(betainc(losses + 0.5, wins + 0.5, 0.5))


def run_paired_t(d: Floats, level: float) -> Estimate:
    """Return the paired t-test of differences ``d``, one per item or task."""
    stderr = float(d.std(ddof=1) / np.sqrt(len(d)))
    return estimate_t("paired t-test", float(d.mean()), stderr, len(d) - 1, len(d), level)


def run_clustered_t(d: Floats, cluster: Any, level: float) -> Estimate:
    """Return the t-test of the mean difference with errors that are robust to correlation within clusters.

    ``var = sum_g (sum_{k in g} (d_k - mean))^2 / (1 - n_g / n) / n^2`` (CR2; Bell and McCaffrey 2002). The degrees of
    freedom are Satterthwaite's for items that agree completely within clusters: ``G - 1`` where clusters have equal
    sizes, fewer where some are much larger than others.
    """
    label = np.unique(np.asarray(cluster), return_inverse=True)[1]
    size = np.bincount(label)
    n, G = len(d), len(size)
    scale = 1 / np.sqrt(1 - size / n)
    sums = scale * np.bincount(label, weights=d - d.mean())
    M = scale[:, None] * (np.eye(G) - size[:, None] / n) * size
    squares = M @ M.T
    df = float(np.trace(squares) ** 2 / (squares**2).sum())
    stderr = float(np.sqrt((sums**2).sum()) / n)
    estimate = estimate_t("cluster-robust t-test", float(d.mean()), stderr, df, n, level)
    return replace(estimate, details={**estimate.details, "clusters": G})


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
    """Return an estimate from a t statistic.

    If all differences are equal, their spread is not informative: p-value and error are those of the sign test.
    """
    from scipy.stats import norm, t

    law = t(df) if np.isfinite(df) else norm
    if difference and stderr <= EQUAL * abs(difference):
        test, stderr = "sign test (all differences are equal)", abs(difference) / float(law.isf(2 ** -(df + 1)))
    ratio = difference / stderr if difference else 0.0
    width = float(law.isf((1 - level) / 2)) * stderr
    z = float(norm.isf((1 - level) / 2) + norm.isf(1 - POWER))
    return Estimate(
        test=test,
        difference=difference,
        low=difference - width,
        high=difference + width,
        p_value=float(2 * law.sf(abs(ratio))),
        probability_superior=float(law.cdf(ratio)),
        n=n,
        needed=float(n * (z / ratio) ** 2) if ratio else None,
        details={"stderr": stderr, "df": float(df), "statistic": float(ratio)},
    )


def log_e_value(wins: Any, losses: Any, strength: Any = 0.5) -> Floats:
    """Return the log of the evidence against "a decisive game is won with probability ``strength``"; arrays as well.

    A value of log 20 or more at any time, however often one looks, has a probability of at most 5% if that is true.
    """
    from scipy.special import betaln, xlog1py, xlogy

    mixture = betaln(MIXTURE + wins, MIXTURE + losses) - betaln(MIXTURE, MIXTURE)
    return np.asarray(mixture - xlogy(wins, strength) - xlog1py(losses, -strength), dtype=np.float64)


def confidence_sequence(wins: float, losses: float, *, level: float = 0.95) -> tuple[float, float]:
    """Return an interval for the lead in log-odds of a decisive game that is valid at all times simultaneously."""
    from scipy.optimize import brentq
    from scipy.special import expit

    def excess(x: float) -> float:
        return float(log_e_value(wins, losses, expit(x)) + np.log(1 - level))

    center, far = float(np.log((wins + MIXTURE) / (losses + MIXTURE))), 40.0
    low = -np.inf if not wins or excess(-far) < 0 else brentq(excess, -far, center)
    high = np.inf if not losses or excess(far) < 0 else brentq(excess, center, far)
    return float(low), float(high)


@dataclass(frozen=True, kw_only=True, repr=False)
class Sprt(Result):
    """The state of a sequential probability ratio test of ``elo0`` against ``elo1``."""

    elo0: float
    elo1: float
    llr: float
    lower: float
    upper: float
    games: int
    score: float
    decision: Decision

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        means = {
            "accept": f"a gain of {self.elo1:g} Elo points is accepted over one of {self.elo0:g}",
            "reject": f"a gain of {self.elo1:g} Elo points is rejected in favour of {self.elo0:g}",
            "continue": f"undecided between gains of {self.elo0:g} and {self.elo1:g} Elo points; play more games",
        }
        return f"{self.decision.capitalize()}: {means[self.decision]} ({self.games:,} games, score {self.score:.1%})."

    def table(self) -> Table:
        """Return one row."""
        return Table.of(
            [self],
            Column("decision", "accept: the gain is elo1; reject: it is elo0; continue: play more games"),
            Column("llr", "log-likelihood ratio"),
            Column("lower", "reject elo1 at or below"),
            Column("upper", "accept elo1 at or above"),
            Column("games"),
            Column("score", "mean score per game", decimals=4),
        )

    def __repr__(self) -> str:
        return (
            f"Sprt({self.decision}, llr {self.llr:.2f} in [{self.lower:.2f}, {self.upper:.2f}], {self.games:,} games)"
        )


def sprt(counts: ArrayLike, *, elo0: float = 0.0, elo1: float = 5.0, alpha: float = 0.05, beta: float = 0.05) -> Sprt:
    """Test whether an engine gained at least ``elo1`` Elo points rather than ``elo0``.

    Parameters
    ----------
    counts
        Losses, draws, wins (three numbers), or pairs of games with reversed colours by points 0, 1/2, 1, 3/2, 2 (five
        numbers). Pairs are better: the two games of an opening are not independent.
    elo0, elo1
        The hypotheses, in Elo points of the expected score.
    alpha, beta
        Error probabilities of accepting elo1 under elo0, and of rejecting it under elo1.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.sprt([10, 50, 90, 70, 20], elo0=0, elo1=5).decision
    'continue'
    """
    N = floats(counts, "the counts", ndim=1)
    if len(N) not in (3, 5) or (N < 0).any() or not N.sum():
        raise InputError("counts must be losses, draws, wins or five pair scores, none negative and not all 0")
    if not elo0 < elo1:
        raise InputError(f"elo0 is {elo0:g} and elo1 {elo1:g}: elo0 must be smaller", option="elo0")
    points = np.linspace(0.0, 1.0, len(N))
    share = (N + 1e-3) / (N + 1e-3).sum()
    s0, s1 = (float(1 / (1 + np.exp(-elo / POINTS_PER_LOGIT))) for elo in (elo0, elo1))
    llr = float(N.sum() * (share * np.log(fit_shares(share, points, s1) / fit_shares(share, points, s0))).sum())
    lower, upper = float(np.log(beta / (1 - alpha))), float(np.log((1 - beta) / alpha))
    return Sprt(
        elo0=elo0,
        elo1=elo1,
        llr=llr,
        lower=lower,
        upper=upper,
        games=int(N.sum()) * (2 if len(N) == 5 else 1),
        score=float(N @ points / N.sum()),
        decision="accept" if llr >= upper else "reject" if llr <= lower else "continue",
    )


def fit_shares(share: Floats, points: Floats, score: float) -> Floats:
    """Return the distribution closest to the observed shares (by likelihood) whose mean is ``score``.

    ``p_k = share_k / (1 + x (points_k - score))``, the empirical likelihood solution; ``x`` makes the mean right.
    """
    from scipy.optimize import brentq

    centered = points - score
    low, high = -1 / centered.max(), -1 / centered.min()
    pad = 1e-12 * (high - low)
    x = brentq(lambda x: float((share * centered / (1 + x * centered)).sum()), low + pad, high - pad, xtol=1e-14)
    return np.asarray(share / (1 + x * centered), dtype=np.float64)


PLANE_DRAWS = 1000  # if traits explain cycles


def fit_as_evaluate(matches: Matches) -> tuple[HierarchicalFit, PlaneDraws | None]:
    """Return the hierarchical model, and draws from it with planes of rotation if `evaluate` uses any."""
    fit = fit_hierarchical(matches)
    planes = count_planes(fit) if len(fit.agents) <= MOST_TRAITS else 0
    return fit, sample_planes(fit, planes, PLANE_DRAWS, 0) if planes else None


def estimate_log_odds(
    matches: Matches, fit: HierarchicalFit, drawn: PlaneDraws | None, i: int, j: int
) -> tuple[float, float, float, int | None]:
    """Return posterior mean and variance of the log-odds that ``i`` beats ``j``, the variance of one more game about
    them, and the number of clusters, if any.
    """
    mean, variance = estimate_by_ratings(fit, i, j) if drawn is None else estimate_by_planes(fit, drawn, i, j)
    inflation, clusters = measure_inflation(matches, fit, i, j)
    per_game = fit.counts.dispersion * inflation * (2 + 2 * math.cosh(mean))  # 1 / (p (1 - p))
    return mean, variance * inflation, per_game, clusters


def estimate_by_ratings(fit: HierarchicalFit, i: int, j: int) -> tuple[float, float]:
    """Return posterior mean and variance of the log-odds that ``i`` beats ``j``, over the whole grid of sigma and tau.

    Given sigma and tau, the difference of ratings ``d`` has variance ``V``. A pair with information ``D`` of its own
    has ``x = d + c``, where ``E[x | d]`` has slope ``s = 1 / (1 + tau^2 D)`` in ``d`` and ``Var[x | d] = tau^2 s``.
    So ``Var[x] = tau^2 s + s^2 V``: own games and games against common opponents count by their information.
    """
    kept = np.flatnonzero(fit.weights > 1e-3 * fit.weights.max())
    weights = fit.weights[kept] / fit.weights[kept].sum()
    sigma, tau = fit.grid[kept].T
    contrast = np.zeros((len(kept), len(fit.agents)))
    contrast[:, i], contrast[:, j] = 1.0, -1.0
    solved = fit.system.solve(fit.modes.curvature[kept], 1 / sigma**2, contrast)
    centre = fit.modes.ratings[kept] + np.array([fit.skewness_shift(int(g)) for g in kept])
    means, variances, slope = centre[:, i] - centre[:, j], solved[:, i] - solved[:, j], np.ones(len(kept))
    pair = find_pair(fit.counts.i, fit.counts.j, i, j)
    if pair is not None:
        sign = 1.0 if i < j else -1.0
        means = means + sign * tau**2 * fit.modes.slope[kept, pair]
        slope = 1 - tau**2 * fit.modes.curvature[kept, pair]
    mean = float(weights @ means)
    return mean, float(weights @ (tau**2 * slope + slope**2 * variances + (means - mean) ** 2))


def estimate_by_planes(fit: HierarchicalFit, drawn: PlaneDraws, i: int, j: int) -> tuple[float, float]:
    """Return mean and variance of the same log-odds if traits explain cycles, as on the board of `evaluate`."""
    a, b = drawn.places[:, i], drawn.places[:, j]
    means = a[:, 0] - b[:, 0] + (a[:, 1::2] * b[:, 2::2] - a[:, 2::2] * b[:, 1::2]).sum(axis=1)
    variances = drawn.scales[:, 1] ** 2
    pair = find_pair(fit.counts.i, fit.counts.j, i, j)
    if pair is not None:  # condition on the games between the two
        z, noise = (part[pair] for part in fit.counts.normal(fit.expected))
        own = variances / (variances + noise)
        means, variances = means + own * ((z if i < j else -z) - means), own * noise
    return float(means.mean()), float(variances.mean() + means.var())


def measure_inflation(matches: Matches, fit: HierarchicalFit, i: int, j: int) -> tuple[float, int | None]:
    """Return the factor by which clusters raise the variance of a comparison beyond the model's, and their number.

    The model's dispersion includes the correlation of votes of one cluster on one pair. Votes of a voter with a taste
    are also correlated over pairs, which the squared scores of whole clusters show (a sandwich estimate, at least 1).
    """
    split = matches.clusters
    if split is None:
        return 1.0, None
    counts, own = fit.counts, find_pair(fit.counts.i, fit.counts.j, i, j)
    assert isinstance(counts, PairCounts)
    ratings, cyclic = np.zeros(len(fit.agents)), np.zeros(len(counts.games))
    ratings[i], ratings[j] = 1.0, -1.0
    if own is not None:
        cyclic[own] = 1.0 if i < j else -1.0
    effect, p = point_effects(fit, ratings, cyclic)
    played = split.wins + split.draws + split.losses
    score = effect[split.pair] * (split.wins + split.draws / 2 - played * p[split.pair]) / counts.dispersion
    total = np.bincount(split.cluster, score, minlength=split.size)
    clusters = int((np.bincount(split.cluster, np.abs(effect[split.pair]), minlength=split.size) > 0).sum())
    if clusters < 2:
        raise InputError("all games belong to one cluster: a comparison needs at least two")
    model = float((effect**2 * p * (1 - p) * counts.games).sum())
    return max(1.0, float((total**2).sum()) * clusters / (clusters - 1) / model), clusters


def point_effects(fit: HierarchicalFit, ratings: Floats, cyclic: Floats) -> tuple[Floats, Floats]:
    """Return the effect of a point of the first agent of each pair on a contrast, to first order, and expected shares.

    The contrast has coefficients of the ratings and of the cyclic parts of pairs, at the most probable sigma and tau. A
    result changes the ratings, and the cyclic part of its pair, ``c = tau^2 (score)``, which a higher rating lowers.
    """
    g = int(np.argmax(fit.weights))
    sigma, tau = fit.grid[g]
    i, j, r, W = fit.counts.i, fit.counts.j, fit.modes.ratings[g], fit.modes.curvature[g]
    pull = ratings.copy()
    np.subtract.at(pull, i, tau**2 * W * cyclic)
    np.add.at(pull, j, tau**2 * W * cyclic)
    solved = fit.system.solve(W[None], np.array([1 / sigma**2]), pull[None])[0]
    p = 1 / (1 + np.exp(r[j] - r[i] - fit.modes.cyclic[g]))
    return (1 - tau**2 * W) * (solved[i] - solved[j] + tau**2 * cyclic), p


def find_pair(first: Ints, second: Ints, i: int, j: int) -> int | None:
    """Return the row of a pair, or None where the two never met."""
    row = np.flatnonzero((first == min(i, j)) & (second == max(i, j)))
    return int(row[0]) if row.size else None
