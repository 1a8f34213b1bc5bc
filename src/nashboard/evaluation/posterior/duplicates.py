"""Entries that are the same agent under several names, from a comparison of two explanations of their results.

**Matches.** Two entries ``a`` and ``b`` are compared against every opponent ``m`` that both met, on the log-odds
scale: ``d_m`` is the difference of their results, ``v_m`` its variance, ``d_ab``, ``v_ab`` their own games. Under the
model

    the same agent:     d_m ~ N(0, v_m),                     d_ab ~ N(0, v_ab)
    different agents:   d_m ~ N(rho, v_m + 2 tau^2),         d_ab ~ N(rho, v_ab + tau^2),      rho ~ N(0, 2 sigma^2)

and the ratio of the two likelihoods is the evidence for "the same". In leagues of up to ``MOST_AVERAGED`` entries, and
in measured payoffs, it only excludes pairs: all partitions of the entries into agents are averaged over
(`ratings.hierarchical.partitions`), with planes of rotation where these predict better, and the probability that two
are one agent comes from the same draws as the board. Groups whose entries are one with probability ``SHARED`` share a
row, which is that of each member in turn. Where the probability that all entries differ is ``NO_COPIES`` or more, they
are taken as different.

In larger leagues, and where strength decides who meets whom, there is one decision.
The prior over partitions is then a Chinese restaurant process with concentration ``n``. Entries are merged by
agglomeration (Bayesian hierarchical clustering, Heller and Ghahramani 2005): a group stays where its evidence exceeds
that of its parts. One opponent against whom two entries clearly differ keeps them apart, however alike they are on
average, because the equilibrium looks for exactly such opponents. Where cycles come from traits (planes of rotation),
different agents also differ in these, ``d_m ~ N(rho + u v_m - v u_m, ...)``, ``u, v ~ N(0, 2 omega)``.

**Tables.** Two rows of measured scores differ by ``d``. If they are the same agent, ``d ~ N(0, v)`` with ``v`` the
noise alone. If not, ``d ~ N(0, v + 2 G)`` with ``G`` the covariance of tasks over agents, learned from the rows of
this table that clearly differ. The log Bayes factor shows a copy, two agents, or that these data cannot tell. No
margin is needed: "alike" is measured against how agents of this table differ.

Where ``G`` is small against the noise nothing can be shown, and nothing is pooled.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Bools, Floats, Ints
from nashboard.data.matches import Matches
from nashboard.ratings.hierarchical.model import HierarchicalFit, fit_hierarchical, fit_pairs
from nashboard.ratings.hierarchical.pairs import FEW_PAIRS, PairCounts
from nashboard.ratings.hierarchical.partitions import HUGE, PartitionDraws, pair_prior, sample_partitions
from nashboard.ratings.hierarchical.planes import count_planes, predict_pairs, sample_planes
from nashboard.ratings.prior import FEWEST, choose_prior

Answer = Literal["yes", "no", "cannot tell"]

SURE = 0.95  # posterior probability for an answer of yes, and of no
DIFFERS = 0.02  # p-value of a difference, if two entries are the same, below which they are different
TOGETHER = 2.05  # the quantile of a normal variable for this p-value
MOST_AGENTS = 1500  # up to which all pairs are compared
MOST_AVERAGED = 100  # entries up to which partitions are averaged over
NO_COPIES = 0.25  # probability that all entries differ from which they are taken as different
EXCLUDED = -5.0  # log-likelihood ratio of two entries below which they are never one agent
TRIAL, TRIALS = 100, 5  # draws of partitions in a trial, and the largest number of trials, if the first is not clear
CLEARLY = 0.02  # probability of no copies that decides at once
MOST_TRAITS = 223  # agents up to which planes of rotation are tried, as for the draws
ROUNDS = 3  # of fitting the pooled matches and looking for groups again
WIDER = (0.3, 1.0)  # values of tau that are tried beside the fitted one, which many copies make too small
ENOUGH = float(np.log(SURE / (1 - SURE)))
COMPATIBLE = 4.0  # standard deviations of a chi-square beyond which two rows are different without further tests
ROUNDING = 1e-12  # of the variance of all tasks together: smaller noise is lost in a sum with it


@dataclass(frozen=True, kw_only=True, eq=False)
class NearDuplicates:
    """Groups of entries that are shown to be alike, and the probability for every pair."""

    agents: tuple[str, ...]  # names, in the order of the matches
    label: Ints  # (n,) number of the group of each agent; agents that are alike share it
    # (n, n) posterior probability that two entries are the same; 1 in a group that was found by one decision
    probability: Floats
    prior: float = 0.0  # the prior probability for any two entries
    tested: bool = True  # whether the entries were compared; large leagues are not
    # the model of the matches in which the groups are pooled, or of all entries if partitions are averaged over
    fit: HierarchicalFit | None = None
    # draws of partitions of the entries into agents, if it is likely that copies were entered
    partitions: PartitionDraws | None = None
    near: Bools | None = None  # (n, n) which entries may be one agent in these draws

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Names of the entries that are alike, one tuple per group of two or more."""
        members: dict[int, list[str]] = {}
        for name, label in zip(self.agents, self.label, strict=True):
            members.setdefault(int(label), []).append(name)
        return tuple(tuple(group) for group in members.values() if len(group) > 1)

    @property
    def different(self) -> Floats:
        """``(n, n)`` prior odds over posterior odds that two entries are the same."""
        odds = self.probability / np.maximum(1 - self.probability, 1e-300)
        return np.asarray(self.prior / (1 - self.prior) / np.maximum(odds, 1e-300))

    def answer(self, a: int, b: int) -> Answer:
        """Return whether two entries are near-duplicates: yes, no, or cannot tell with these data."""
        if self.label[a] == self.label[b]:
            return "yes"
        return "no" if self.tested and self.different[a, b] > 1 / (1 - SURE) else "cannot tell"

    @property
    def verdict(self) -> Answer:
        """Whether copies were entered: yes, no, or cannot tell with these data."""
        if self.groups or (self.partitions is not None and self.partitions.no_copies <= 1 - SURE):
            return "yes"
        return "no" if self.tested and not np.triu(self.different <= 1 / (1 - SURE), 1).any() else "cannot tell"


def find_near_duplicates(matches: Matches, fit: HierarchicalFit | None = None) -> NearDuplicates:
    """Find groups of entries whose results are those of one agent."""
    n = len(matches.agents)
    if n > MOST_AGENTS or n < 3 or not len(matches.pairs):
        return NearDuplicates(
            agents=matches.agents, label=np.arange(n), probability=np.zeros((0, 0)), fit=fit, tested=False
        )
    fit = fit or fit_hierarchical(matches)
    planes = count_planes(fit) if n <= MOST_TRAITS else 0
    if n > MOST_AVERAGED:
        return decide_groups(matches, fit, planes)
    plain = fit_pairs(matches.agents, fit.counts) if fit.around_opponents else fit
    assert isinstance(fit.counts, PairCounts)
    near = compare_pairs(*fit.counts.tables, Traits.of(plain, 0, n)) > EXCLUDED
    partitions = sample_until_clear(plain, near, planes)
    if fit.around_opponents:  # many copies with the same opponents look like a division
        last = np.unique(partitions.label[-1], return_inverse=True)[1]
        measurable = min(partitions.shared.max(), last.max()) + 1 >= FEWEST  # agents that remain have a schedule
        if (
            partitions.no_copies > 1 - SURE
            or not measurable
            or choose_prior(pool_matches(matches, last), in_doubt=False)
        ):
            return decide_groups(matches, fit, planes)
    if planes and partitions.no_copies <= 1 - SURE and copies_explain_planes(matches, fit, partitions.shared):
        partitions = sample_until_clear(plain, near, 0)
    return share_rows(plain, near, partitions)


def sample_until_clear(fit: HierarchicalFit, near: Bools, planes: int) -> PartitionDraws:
    """Draw partitions until it is clear whether there are copies: a short chain may show them by chance."""
    trials = [sample_partitions(fit, near, TRIAL, 0, planes=planes)]
    partitions = trials[0]
    while CLEARLY < partitions.no_copies < NO_COPIES and len(trials) < TRIALS:
        trials.append(sample_partitions(fit, near, TRIAL, len(trials), planes=planes, start=trials[-1]))
        partitions = PartitionDraws.joined(trials)
    return partitions


def share_rows(fit: HierarchicalFit, near: Bools, partitions: PartitionDraws) -> NearDuplicates:
    """Return which entries share a row, given draws of partitions."""
    averaged = partitions.no_copies < NO_COPIES
    return NearDuplicates(
        agents=fit.agents,
        label=partitions.shared if averaged else np.arange(len(fit.agents)),
        probability=partitions.together,
        prior=pair_prior(len(fit.agents)),
        fit=fit,
        partitions=partitions if averaged else None,
        near=near,
    )


def copies_explain_planes(matches: Matches, fit: HierarchicalFit, label: Ints) -> bool:
    """Return whether no planes of rotation remain if groups are pooled.

    Copies with the same opponents look like a few traits that decide everything. Left-out pairs do not show the
    difference: planes predict the pairs of copies as well as a single agent does.
    """
    return bool(label.any()) and not count_planes(fit_hierarchical(pool_matches(matches, label), like=fit))


def decide_groups(matches: Matches, fit: HierarchicalFit, planes: int) -> NearDuplicates:
    """Find groups by one decision, without an average over partitions.

    Copies make sigma and tau look too small. So groups are searched with several values of tau, the model is fitted to
    the pooled matches, and the partition with the largest evidence is kept if it is clearly better than none.
    """
    assert isinstance(fit.counts, PairCounts)
    n = len(matches.agents)
    apart, single, (Y, N) = fit, np.arange(n), fit.counts.tables
    label, fit = search_groups(matches, fit, Y, N)
    traits = Traits.of(fit, 0, n)
    if planes:  # similar traits look like copies, and copies like traits: keep what predicts left-out pairs best
        by_traits = Traits.of(apart, planes, n)
        best = predict_pairs(apart, single, apart, planes)
        candidates = {one.tobytes(): one for one in (agglomerate(Y, N, by_traits), label) if one.any()}
        groups, label, fit, traits = list(candidates.values()), single, apart, by_traits
        for candidate in groups:
            pooled = fit_hierarchical(pool_matches(matches, candidate), like=fit)
            score = predict_pairs(apart, candidate, pooled, count_planes(pooled))
            if score > best + (ENOUGH if label is single else 0.0):
                label, fit, best = candidate, pooled, score
    probability = 1 / (1 + n * np.exp(-np.clip(compare_pairs(Y, N, traits), -700, 700)))
    same = label[:, None] == label
    return NearDuplicates(
        agents=matches.agents,
        label=label,
        probability=np.where(same, 1.0, probability),
        prior=1 / (n + 1),
        fit=fit,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Traits:
    """The differences between agents: variances of rating and traits, tau, and the traits of the opponents.

    ``places`` is (n, 1 + 2 k): 1, and the coordinates that multiply a difference of traits.
    """

    variances: Floats
    tau: float
    places: Floats

    @staticmethod
    def of(fit: HierarchicalFit, planes: int, n: int) -> "Traits":
        """Return the differences between the agents of a fitted model, from one draw if there are planes."""
        places = np.ones((n, 1 + 2 * planes))
        if not planes:
            return Traits(variances=np.array([2 * fit.sigma**2]), tau=fit.tau, places=places)
        drawn = sample_planes(fit, planes, 20, 0)
        sigma, tau, omega = drawn.scales.mean(axis=0)
        places[:, 1::2], places[:, 2::2] = drawn.places[-1][:, 2::2], -drawn.places[-1][:, 1::2]
        return Traits(variances=np.array([2 * sigma**2] + 2 * planes * [2 * omega]), tau=float(tau), places=places)


def search_groups(matches: Matches, fit: HierarchicalFit, Y: Floats, N: Floats) -> tuple[Ints, HierarchicalFit]:
    """Return the groups with the largest evidence, searched with several values of tau, and the pooled fit."""
    single = np.arange(len(matches.agents))
    label, best = single, fit.log_evidence
    tried = {label.tobytes()}
    for _ in range(ROUNDS):
        before = label
        for tau in (fit.tau, *(WIDER if len(matches.pairs) <= FEW_PAIRS else ())):
            groups = agglomerate(Y, N, replace(Traits.of(fit, 0, len(single)), tau=max(tau, fit.tau)))
            if groups.tobytes() in tried or not groups.any():  # a league of one agent has no board
                continue
            tried.add(groups.tobytes())
            pooled = fit_hierarchical(pool_matches(matches, groups), like=fit)
            evidence = pooled.log_evidence + log_prior(groups) - np.log(2) * count_inside(N, groups)
            if evidence > best + (ENOUGH if label is single else 0.0):
                label, best, chosen = groups, evidence, pooled
        if label is before:
            break
        fit = chosen
    return label, fit


def log_prior(label: Ints) -> float:
    """Return the log-probability of a partition under the Chinese restaurant process, relative to singles."""
    from scipy.special import gammaln

    size = np.bincount(label)
    return float(gammaln(size).sum() - (len(label) - len(size)) * np.log(len(label)))


def count_inside(N: Floats, label: Ints) -> float:
    """Return the games between members of the same group, which are tosses of a fair coin."""
    return float(N[label[:, None] == label].sum() / 2)


def pool_matches(matches: Matches, label: Ints) -> Matches:
    """Return the matches among groups: members share their games, and games inside a group are left out.

    ``label`` numbers the groups ``0, 1, ...`` in the order of their first members, whose names they take.
    """
    first = np.unique(label, return_index=True)[1]
    return matches.renumbered(label, [matches.agents[k] for k in first], "near-duplicates share their games")


def compare_pairs(Y: Floats, N: Floats, traits: Traits) -> Floats:
    """Return the log-likelihood ratio of "the same" for all pairs."""
    n = len(Y)
    odds = np.zeros((n, n))
    compare_entries(Y, N, np.ones(n, dtype=np.bool_), traits.variances, traits.tau, traits.places, odds, -1)
    return odds


def agglomerate(Y: Floats, N: Floats, traits: Traits) -> Ints:
    """Return the group of each entry: agglomerate, then keep every group whose evidence exceeds that of its parts."""
    from scipy.special import gammaln

    n, evidence = len(Y), compare_pairs(Y, N, traits)
    Y, N = Y.copy(), N.copy()
    given = traits.variances, traits.tau, traits.places
    active = np.ones(n, dtype=np.bool_)
    size = np.ones(n)
    members: list[list[int]] = [[k] for k in range(n)]
    merged = np.zeros(n)  # evidence for the group as one, against singles
    kept = np.zeros(n)  # the same of the best partition of the group
    parts: list[list[list[int]]] = [[[k]] for k in range(n)]
    gain = np.where(np.triu(np.ones((n, n), dtype=np.bool_), 1), evidence - np.log(n), -np.inf)
    for _ in range(n - 1):
        a, b = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[a, b] < -np.log(n):
            break
        merged[a] += merged[b] + gain[a, b]
        apart = kept[a] + kept[b]
        if merged[a] > apart + ENOUGH:
            kept[a], parts[a] = merged[a], [sorted(members[a] + members[b])]
        else:
            kept[a], parts[a] = apart, parts[a] + parts[b]
        members[a] = members[a] + members[b]
        size[a] += size[b]
        Y[a] += Y[b]
        Y[:, a] += Y[:, b]
        N[a] += N[b]
        N[:, a] += N[:, b]
        Y[a, a] = N[a, a] = 0.0
        active[b] = False
        compare_entries(Y, N, active, *given, evidence, int(a))
        prior = gammaln(size[a] + size) - gammaln(size[a]) - gammaln(size) - np.log(n)
        row = np.where(active, evidence[a] + prior, -np.inf)
        gain[a, a + 1 :], gain[:a, a] = row[a + 1 :], row[:a]
        gain[b], gain[:, b] = -np.inf, -np.inf
    label = np.arange(n)
    for k in np.flatnonzero(active):
        for group in parts[k]:
            label[group] = group[0]
    return np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.intp)


@compiled("void(f8[:,::1], f8[:,::1], b1[::1], f8[::1], f8, f8[:,::1], f8[:,::1], i8)")
def compare_entries(Y, N, active, variances, tau, places, evidence, only):  # type: ignore[no-untyped-def]
    """Fill in the evidence that two entries are the same, for all pairs, or those of one entry."""
    n, traits = places.shape
    t2, count = tau * tau, active.sum()
    # different by one opponent (Bonferroni, P(chi2_1 > x) <= exp(-x / 2)), or by all of them together (Wilson and
    # Hilferty's normal approximation of chi-square); both bounds grow with the number of opponents
    bound_one, bound_all = np.zeros(n + 1), np.zeros(n + 1)
    for k in range(1, n + 1):
        bound_one[k] = 2 * np.log(k / DIFFERS)
        bound_all[k] = k * (1 - 2 / (9 * k) + TOGETHER * np.sqrt(2 / (9 * k))) ** 3
    A, B = np.empty((traits, traits)), np.empty(traits)
    each = 1 / np.where(N > 0, N, np.inf)
    share = Y * each
    for a in range(n if only < 0 else only + 1):
        for b in range(a + 1, n):
            if not (active[a] and active[b]) or (only >= 0 and a != only and b != only):
                continue
            ratio, most, total, shared, factor = 0.0, 0.0, 0.0, 0, 1.0
            A[:] = 0.0
            B[:] = 0.0
            for m in range(n):
                if not active[m] or N[a, m] <= 0 or (m != b and N[b, m] <= 0):
                    continue
                if m == b:
                    d, v, wide = 4 * (share[a, b] - 0.5), 4 * each[a, b], t2
                else:
                    p = (Y[a, m] + Y[b, m] + 0.5) / (N[a, m] + N[b, m] + 1)
                    w = 1 / (p * (1 - p))
                    d, v, wide = (share[a, m] - share[b, m]) * w, (each[a, m] + each[b, m]) * w, 2 * t2
                weight, surprise = 1 / (v + wide), d * d / v
                ratio += 0.5 * (d * d * weight - surprise)
                factor *= v * weight
                if factor < 1 / HUGE:
                    ratio, factor = ratio - 0.5 * np.log(factor), 1.0
                for k in range(traits):
                    B[k] += places[m, k] * d * weight
                    for c in range(k + 1):
                        A[k, c] += places[m, k] * places[m, c] * weight
                most = max(most, surprise)
                total += surprise
                shared += 1
                if most > bound_one[count] or total > bound_all[count]:
                    break
            if most > bound_one[shared] or total > bound_all[shared]:
                evidence[a, b] = evidence[b, a] = -1e3
                continue
            ratio -= 0.5 * np.log(factor)
            # integrate the differences of rating and traits: Cholesky of the precision A + 1 / variances
            for k in range(traits):
                A[k, k] += 1 / variances[k]
                for c in range(k + 1):
                    for e in range(c):
                        A[k, c] -= A[k, e] * A[c, e]
                    A[k, c] = np.sqrt(A[k, k]) if k == c else A[k, c] / A[c, c]
                for e in range(k):
                    B[k] -= A[k, e] * B[e]
                B[k] /= A[k, k]
                ratio += np.log(A[k, k]) + 0.5 * (np.log(variances[k]) - B[k] * B[k])
            evidence[a, b] = evidence[b, a] = ratio


def log_evidence(d: Floats, v: Floats, G: Floats) -> Floats:
    """Return log Bayes factors for "the same" of pairs of rows ``(k, n)``; places with infinite ``v`` do not count."""
    n = d.shape[1]
    seen = np.isfinite(v)
    noise = np.where(seen, v, 1.0)
    both = seen[:, :, None] & seen[:, None, :]
    other = np.where(both, 2 * G, 0.0)
    d = np.where(seen, d, 0.0)
    same = -0.5 * (d**2 / noise + np.log(noise)).sum(axis=1)
    if noise.min() < ROUNDING * np.trace(G):  # lost in a sum with G: the sum is taken by eigenvalue, in units of noise
        scale = np.sqrt(noise)
        values, vectors = np.linalg.eigh(other / (scale[:, :, None] * scale[:, None, :]))
        values = 1 + np.maximum(values, 0.0)
        along = np.einsum("kij,ki->kj", vectors, d / scale)
        return np.asarray(same + 0.5 * (along**2 / values + np.log(values)).sum(axis=1) + np.log(scale).sum(axis=1))
    other[:, np.arange(n), np.arange(n)] += noise
    fit = np.linalg.solve(other, d[..., None])[..., 0]
    return np.asarray(same + 0.5 * (d * fit).sum(axis=1) + 0.5 * np.linalg.slogdet(other)[1])


def agent_covariance(y: Floats, v: Floats) -> Floats:
    """Return the covariance of tasks over agents, without noise, from all pairs of rows that clearly differ."""
    m, n = y.shape
    total, count = np.zeros((n, n)), np.zeros((n, n))
    for i in range(m - 1):
        d, noise = y[i] - y[i + 1 :], v[i] + v[i + 1 :]
        seen = np.isfinite(noise)
        far = ~are_compatible(d, noise)
        d, w = np.where(seen, d, 0.0)[far], seen[far].astype(np.float64)
        total += d.T @ d - np.diag(np.where(seen, noise, 0.0)[far].sum(axis=0))
        count += w.T @ w
    values, vectors = np.linalg.eigh(np.where(count > 0, total / np.maximum(count, 1.0), 0.0) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def are_compatible(d: Floats, v: Floats) -> Bools:
    """Return which differences are not far beyond noise; places with infinite ``v`` do not count."""
    seen = np.isfinite(v)
    T, places = np.where(seen, d**2 / v, 0.0).sum(axis=1), seen.sum(axis=1)
    return np.asarray((places > 0) & (T - places <= COMPATIBLE * np.sqrt(2 * places)))


def pool_duplicates(Y: Floats, V: Floats) -> Ints:
    """Return the pool of each row: rows that are the same with probability ``SURE`` are pooled, the clearest first.

    ``Y`` (m, n) has NaN where a score is missing. The prior is a Chinese restaurant process of concentration m: two
    single rows are the same with odds 1 to m, a row and a pool of ten with odds 10 to m. After each merge the pooled
    row is compared again with all others.
    """
    m = len(Y)
    missing = np.isnan(Y)
    y, v = np.where(missing, 0.0, Y), np.where(missing, np.inf, V)
    G = agent_covariance(y, v)
    label = np.arange(m)
    alive = np.ones(m, dtype=np.bool_)
    size = np.ones(m)
    evidence = np.full((m, m), -np.inf)
    for i in range(m - 1):
        evidence[i, i + 1 :] = compare_row(i, np.arange(i + 1, m), y, v, size, G)
    while m > 1:
        i, j = divmod(int(evidence.argmax()), m)
        if evidence[i, j] < ENOUGH + np.log(m):
            break
        w = 1 / v[i] + 1 / v[j]
        y[i] = np.where(w > 0, (y[i] / v[i] + y[j] / v[j]) / np.where(w > 0, w, 1.0), 0.0)
        v[i] = np.where(w > 0, 1 / np.where(w > 0, w, 1.0), np.inf)
        size[i] += size[j]
        label[label == j] = i
        alive[j] = False
        evidence[j], evidence[:, j] = -np.inf, -np.inf
        others = np.flatnonzero(alive & (np.arange(m) != i))
        fresh = compare_row(i, others, y, v, size, G)
        evidence[np.minimum(i, others), np.maximum(i, others)] = fresh
    return np.unique(label, return_inverse=True)[1]


def compare_row(i: int, others: Ints, y: Floats, v: Floats, size: Floats, G: Floats) -> Floats:
    """Return log odds, but for the concentration, that row ``i`` is the same as each of the others.

    Rows that clearly differ are -inf.
    """
    from scipy.special import betaln

    d, noise = y[i] - y[others], v[i] + v[others]
    odds = np.full(len(others), -np.inf)
    near = are_compatible(d, noise)
    if near.any():
        odds[near] = log_evidence(d[near], noise[near], G) - betaln(size[i], size[others][near])
    return odds
