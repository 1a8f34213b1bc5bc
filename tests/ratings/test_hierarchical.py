"""The hierarchical model of matches, against a slow sampler and by simulation."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, cauchy

import nashboard as nb
from arenas import play
from nashboard._types import Floats
from nashboard.data.matches import Clusters
from nashboard.ratings.hierarchical.model import fit_hierarchical, fit_pairs
from nashboard.ratings.hierarchical.pairs import TAU_RANGE, PairCounts, count_pairs
from nashboard.ratings.hierarchical.partitions import DISCOUNT, concentrations, pair_prior, sample_partitions
from nashboard.ratings.hierarchical.planes import sample_planes
from nashboard.ratings.hierarchical.systems import DenseSystem, SparseSystem, rating_prior
from nashboard.ratings.likelihood import NormalPrior
from nashboard.ratings.prior import measure_dispersion


def arena(n: int, sigma: float, tau: float, games: int, seed: int, met: float = 1.0) -> tuple[Floats, nb.Matches]:
    rng = np.random.default_rng(seed)
    r, c = rng.normal(0, sigma, n), np.triu(rng.normal(0, tau, (n, n)), 1)
    x = r[:, None] - r + c - c.T
    return x, play(x, (rng.random((n, n)) < met) * games, rng)


def information_about_tau(n: int, tau: float) -> float:
    """Return the information of n games between equals about log tau, by differences of the chances of each result."""

    def chances(log_tau: float) -> Floats:
        z, weights = np.polynomial.hermite_e.hermegauss(60)
        return np.asarray(
            binom.pmf(np.arange(n + 1)[:, None], n, expit(np.exp(log_tau) * z)) @ weights / np.sqrt(2 * np.pi)
        )

    step, at = 1e-4, np.log(tau)
    return float((((chances(at + step) - chances(at - step)) / (2 * step)) ** 2 / chances(at)).sum())


def prior_of_tau(counts: PairCounts) -> Callable[[Floats], Floats]:
    """Return the log-density of log tau up to a constant, written out for pairs of at most 12 games."""
    y, N = counts.won, counts.games
    q = (y + 0.5) / (N + 1)
    even = 4 * N * q * (1 - q)
    cycles = len(N) - counts.n + 1  # connected
    games = [1, 2, 3, 4, 6, 8, 12]
    grid = np.geomspace(*TAU_RANGE, 40)
    log_density = []
    for tau in grid:
        normal = 2 * (tau**2 * np.array(games) / (4 + tau**2 * np.array(games))) ** 2
        ratio = np.array([information_about_tau(n, tau) for n in games]) / normal
        share = np.interp(np.log(np.maximum(even, 1)), np.log(games), ratio)
        own = share * 2 * (tau**2 * even / (4 + tau**2 * even)) ** 2
        fisher = cycles / len(N) * own.sum()
        known = 2 * cauchy.pdf(tau / 0.05) * tau / 0.05
        tail = -(tau**2) / (2 * 1.5**2)
        log_density.append(tail + np.log(known + np.sqrt(max(fisher - 4, 0) / (2 * np.pi))))
    return lambda tau: np.interp(np.log(tau), np.log(grid), log_density)


def prior_around_opponents(counts: PairCounts) -> tuple[Floats, float]:
    """Return the deviations of each rating from the mean of the agent's opponents, and the precision of their level."""
    D = np.eye(counts.n)
    for k in range(counts.n):
        own = (counts.i == k) | (counts.j == k)
        for a, b, games in zip(counts.i[own], counts.j[own], counts.games[own], strict=True):
            D[k, a + b - k] -= games / counts.games[own].sum()
    return D, 1 / (counts.n * 1.5**2)


def sample_slowly(counts: PairCounts, steps: int, rng: np.random.Generator, opponents: bool) -> tuple[Floats, Floats]:
    """Sample ratings and log tau by Metropolis steps on the non-centred model, x = r_i - r_j + tau u."""
    n, i, j = counts.n, counts.i, counts.j
    D, weak = prior_around_opponents(counts) if opponents else (np.eye(n), 0.0)
    square = D.T @ D
    y, N = counts.won, counts.games
    chains, tau_prior = 160, prior_of_tau(counts)

    def log_posterior(r: Floats, u: Floats, s: Floats, t: Floats) -> Floats:
        x = r[:, i] - r[:, j] + np.exp(t)[:, None] * u
        likelihood = (y * x - N * np.logaddexp(0, x)).sum(axis=1)
        K = square * np.exp(-2 * s)[:, None, None] + weak * np.eye(n)
        prior = np.linalg.slogdet(K)[1] / 2 - np.einsum("ci,cij,cj->c", r, K, r) / 2 - (u**2).sum(axis=1) / 2
        hyper = -np.exp(2 * s) / (2 * 1.5**2) + s + tau_prior(np.exp(t))
        inside = (t > np.log(TAU_RANGE[0])) & (t < np.log(TAU_RANGE[1]))
        return np.where(inside, likelihood + prior + hyper, -np.inf)

    r, u = 0.1 * rng.normal(size=(chains, n)), rng.normal(size=(chains, len(i)))
    s, t = np.zeros(chains), np.full(chains, -2.0) + rng.normal(size=chains) * 0.5
    now = log_posterior(r, u, s, t)
    ratings, taus = [], []
    for step in range(steps):
        for k in range(n):
            z = np.zeros((chains, n))
            z[:, k] = rng.normal(0, 0.6, chains)
            r, u, s, t, now = accept((r + z, u, s, t), (r, u, s, t), now, log_posterior, rng)
        for k in range(len(i)):
            z = np.zeros((chains, len(i)))
            z[:, k] = rng.normal(0, 1.2, chains)
            r, u, s, t, now = accept((r, u + z, s, t), (r, u, s, t), now, log_posterior, rng)
        for width in (0.2, 1.0):
            r, u, s, t, now = accept((r, u, s, t + rng.normal(0, width, chains)), (r, u, s, t), now, log_posterior, rng)
            r, u, s, t, now = accept(
                (r, u, s + rng.normal(0, width / 2, chains), t), (r, u, s, t), now, log_posterior, rng
            )
        if step > steps // 4:
            ratings.append(r - r.mean(axis=1, keepdims=True))
            taus.append(t)
    return np.concatenate(ratings), np.concatenate(taus)


State = tuple[Floats, Floats, Floats, Floats]


def accept(
    new: State, old: State, now: Floats, log_posterior: Callable[..., Floats], rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Accept a proposal where its density is large enough."""
    density = log_posterior(*new)
    taken = np.log(rng.random(len(now))) < density - now
    r, u, s, t = (np.where(taken.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in zip(new, old, strict=True))
    return r, u, s, t, np.where(taken, density, now)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "sigma", "tau", "games", "met", "opponents"),
    [
        (5, 1.0, 0.0, 12, 1.0, False),
        (5, 0.5, 1.5, 10, 1.0, False),
        (6, 1.0, 0.3, 2, 0.7, False),
        (6, 1.0, 0.3, 6, 0.7, True),
    ],
    ids=["ladder", "cyclic", "few games", "around opponents"],
)
def test_draws_agree_with_a_long_metropolis_chain(
    n: int, sigma: float, tau: float, games: int, met: float, opponents: bool
) -> None:
    _, matches = arena(n, sigma, tau, games, seed=5, met=met)
    counts = count_pairs(matches)
    slow, log_tau = sample_slowly(counts, 400, np.random.default_rng(0), opponents)
    normal = NormalPrior.around_opponents(n, counts.i, counts.j, counts.games) if opponents else None
    drawn = fit_pairs(matches.agents, counts, rating_prior(n, normal)).draw(8000, np.random.default_rng(1))
    spread = slow.std(axis=0)
    assert np.abs(drawn.ratings.mean(axis=0) - slow.mean(axis=0)).max() < 0.12 * spread.max()
    assert drawn.ratings.std(axis=0) == pytest.approx(spread, rel=0.12)
    assert np.log(drawn.tau).mean() == pytest.approx(log_tau.mean(), abs=0.3 * log_tau.std())


def sample_planes_slowly(counts: PairCounts, steps: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Sample log-odds without cyclic parts, and log omega, by Metropolis steps on the model of one plane."""
    n, i, j, chains = counts.n, counts.i, counts.j, 160

    def base(r: Floats, u: Floats, v: Floats, scale: Floats) -> Floats:
        ladder, turn = r[:, i] - r[:, j], u[:, i] * v[:, j] - v[:, i] * u[:, j]
        return np.asarray(np.exp(scale[:, :1]) * ladder + np.exp(scale[:, 2:]) * turn)

    def log_posterior(r: Floats, u: Floats, v: Floats, e: Floats, scale: Floats) -> Floats:
        sigma, tau, omega = np.exp(scale.T)
        x = base(r, u, v, scale) + tau[:, None] * e
        size = np.sqrt(2) * omega
        inside = (tau > TAU_RANGE[0]) & (tau < TAU_RANGE[1]) & (size > TAU_RANGE[0]) & (size < TAU_RANGE[1])
        prior = -sum((one**2).sum(axis=1) for one in (r, u, v, e)) / 2 - sigma**2 / (2 * 1.5**2) + np.log(sigma)
        prior = prior + counts.tau_prior(tau) + counts.tau_prior(size)
        return np.where(inside, prior + (counts.won * x - counts.games * np.logaddexp(0, x)).sum(axis=1), -np.inf)

    state = [rng.normal(size=(chains, k)) for k in (n, n, n, len(i))] + [rng.normal(-1, 0.3, (chains, 3))]
    now = log_posterior(*state)
    drawn, log_omega = [], []
    for step in range(steps):
        for part, width in zip(state, (0.5, 0.7, 0.7, 1.2, 0.5), strict=True):
            for k in range(part.shape[1]):
                old = part[:, k].copy()
                part[:, k] += rng.normal(0, width, chains)
                new = log_posterior(*state)
                taken = np.log(rng.random(chains)) < new - now
                part[:, k], now = np.where(taken, part[:, k], old), np.where(taken, new, now)
        if step > steps // 3:
            drawn.append(base(state[0], state[1], state[2], state[4]))
            log_omega.append(state[4][:, 2].copy())
    return np.concatenate(drawn), np.concatenate(log_omega)


@pytest.mark.slow
def test_draws_with_a_plane_agree_with_a_long_metropolis_chain() -> None:
    rng = np.random.default_rng(3)
    r, u, v = rng.normal(0, 0.5, 6), *rng.normal(0, 0.7, (2, 6))
    x = r[:, None] - r + np.outer(u, v) - np.outer(v, u)
    won = np.triu(rng.binomial(60, expit(x)), 1)
    matches = nb.Matches.from_counts(won + np.triu(60 - won, 1).T)
    counts = count_pairs(matches)
    slow, log_omega = sample_planes_slowly(counts, 700, rng)
    found = sample_planes(fit_pairs(matches.agents, counts), 1, 4000, 0)
    of_i, of_j = found.places[:, counts.i], found.places[:, counts.j]
    drawn = of_i[..., 0] - of_j[..., 0] + of_i[..., 1] * of_j[..., 2] - of_i[..., 2] * of_j[..., 1]
    spread = slow.std(axis=0)
    assert np.abs(drawn.mean(axis=0) - slow.mean(axis=0)).max() < 0.2 * spread.max()
    assert drawn.std(axis=0) == pytest.approx(spread, rel=0.2)
    assert np.log(found.scales[:, 2]).mean() == pytest.approx(log_omega.mean(), abs=0.3 * log_omega.std())


def partitions_of(n: int) -> list[list[int]]:
    """Return all partitions of n entries, as labels in order of first appearance."""
    found: list[list[int]] = [[0]]
    for _ in range(n - 1):
        found = [[*label, k] for label in found for k in range(max(label) + 2)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("n", "games", "spread"), [(4, 25, 1.0), (5, 1, 2.0), (4, 2, 3.0)])
def test_partitions_agree_with_the_evidence_of_all_partitions(n: int, games: int, spread: float) -> None:
    from scipy.special import gammaln

    draws = 200_000
    x = spread * np.array([0.0, 1.0, 0.0, 0.0, 0.3][:n])  # the third and the fourth entry are the first again
    rng = np.random.default_rng(2)
    won = np.triu(rng.binomial(games, expit(x[:, None] - x)), 1)
    matches = nb.Matches.from_counts(won + np.triu(games - won, 1).T)
    counts = count_pairs(matches)
    grid = np.geomspace(*TAU_RANGE, 400)
    density = np.exp(counts.tau_prior(grid))
    _, of_classes, alpha, _ = concentrations(n)
    log_mass, same, spreads = [], [], []
    for label, style in ((a, b) for a in partitions_of(n) for b in partitions_of(max(a) + 1)):
        size, kinds = np.bincount(label), np.bincount(style)
        prior = of_classes[:, len(size) - 1] + (gammaln(size - DISCOUNT) - gammaln(1 - DISCOUNT)).sum()
        of_styles = len(kinds) * np.log(alpha) + gammaln(alpha) - gammaln(alpha + len(size)) + gammaln(kinds).sum()
        tau = rng.choice(grid, size=draws, p=density / density.sum())
        sigma = 1.5 * np.abs(rng.normal(size=(draws, 1)))
        r = sigma * rng.normal(size=(draws, len(size)))
        c = tau[:, None, None] * rng.normal(size=(draws, len(kinds), len(kinds)))
        total = np.zeros(draws)
        for i, j, y, played in zip(counts.i, counts.j, counts.won, counts.games, strict=True):
            a, b = label[i], label[j]
            g, h = style[a], style[b]
            cyclic = 0.0 if g == h else c[:, g, h] if g < h else -c[:, h, g]
            odds = r[:, a] - r[:, b] + cyclic
            total += y * odds - played * np.logaddexp(0, odds)
        likelihood = np.exp(total - total.max())
        prior_mass = np.exp(prior).mean() * np.exp(of_styles).mean()
        log_mass.append(np.log(likelihood.mean()) + total.max() + np.log(prior_mass))
        spreads.append(likelihood @ sigma[:, 0] / likelihood.sum())
        same.append(np.equal.outer(label, label))
    mass = np.exp(np.array(log_mass) - max(log_mass))
    mass /= mass.sum()
    exact = np.tensordot(mass, np.array(same, dtype=float), axes=1)
    found = sample_partitions(fit_pairs(matches.agents, counts), np.ones((n, n), dtype=np.bool_), 20_000, 0)
    assert found.together == pytest.approx(exact, abs=0.02)
    apart = np.array([one.sum() == n for one in same])
    assert found.no_copies == pytest.approx(mass[apart].sum(), abs=0.03)
    assert found.scales[:, 0].mean() == pytest.approx(mass @ np.array(spreads), rel=0.05)
    # not what a sampler of the prior would give
    assert games < 25 or np.ptp(exact[np.triu_indices(n, 1)]) > 3 * pair_prior(n)


def test_a_pair_that_never_met_has_the_cyclic_part_of_the_prior_in_every_draw() -> None:
    _, matches = arena(8, 0.5, 1.0, 40, seed=2, met=0.6)
    fit = fit_hierarchical(matches)
    drawn = fit.draw(2000, np.random.default_rng(0))
    A = drawn.payoffs(slice(0, 2000))
    met = {tuple(pair) for pair in matches.pairs.tolist()}
    i, j = next((a, b) for a in range(8) for b in range(a + 1, 8) if (a, b) not in met)
    c = (A[:, i, j] - drawn.ratings[:, i] + drawn.ratings[:, j]) / drawn.tau
    assert abs(c.mean()) < 0.1
    assert c.std() == pytest.approx(1, abs=0.08)
    assert np.array_equal(A, -A.transpose(0, 2, 1))
    assert np.array_equal(drawn.columns(3, np.array([0, 5])), A[3][:, [0, 5]])


def test_the_cyclic_part_given_ratings_is_drawn_exactly() -> None:
    matches = nb.Matches.from_counts([[0, 4], [0, 0]])  # four wins: a skewed posterior
    fit = fit_hierarchical(matches)
    counts = count_pairs(matches)
    draws = 20_000
    base, tau = np.zeros((draws, 2, 2)), np.full(draws, 2.0)
    seeds = np.random.default_rng(0).integers(2**63, size=draws, dtype=np.uint64)
    c = counts.draw_all(base, tau, seeds)[:, 0, 1]
    grid = np.linspace(-8, 12, 4001)
    density = expit(grid) ** 4 * np.exp(-(grid**2) / 8)
    density /= density.sum()
    mean = (grid * density).sum()
    assert c.mean() == pytest.approx(mean, abs=0.05)
    assert c.std() == pytest.approx(np.sqrt(((grid - mean) ** 2 * density).sum()), abs=0.05)
    assert fit.ratings[0] > 0


def test_tau_is_small_on_ladders_and_found_where_cycles_are_real() -> None:
    assert fit_hierarchical(arena(12, 1.0, 0.0, 100, seed=1)[1]).tau < 0.15
    fit = fit_hierarchical(arena(16, 0.5, 1.0, 100, seed=1)[1])
    assert fit.tau == pytest.approx(1.0, rel=0.2)
    assert fit.tau_interval[0] < 1.0 < fit.tau_interval[1] * 1.2


def test_an_agent_with_one_win_is_an_average_agent_with_a_wide_interval() -> None:
    _, matches = arena(12, 1.0, 0.0, 40, seed=3)
    W = np.zeros((13, 13))
    i, j = matches.pairs.T
    W[i, j], W[j, i] = matches.wins, matches.losses
    best = int(np.argmax(W.sum(axis=1)))
    W[12, best] = 1
    fit = fit_hierarchical(nb.Matches.from_counts(W))
    assert fit.ratings[12] < fit.ratings[best]
    drawn = fit.draw(500, np.random.default_rng(0)).ratings
    assert drawn[:, 12].std() > 3 * drawn[:, best].std()


def test_the_same_seed_gives_the_same_draws() -> None:
    _, matches = arena(9, 1.0, 0.4, 8, seed=7, met=0.7)
    one, two = (fit_hierarchical(matches).draw(50, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one.payoffs(slice(0, 50)), two.payoffs(slice(0, 50)))


def test_draws_count_as_less_scattered_and_clusters_as_more() -> None:
    drawn = nb.Matches.from_counts([[0, 25], [25, 0]], draws=[[0, 50], [50, 0]])
    assert measure_dispersion(drawn) == pytest.approx(0.5, abs=0.01)
    # ten voters, each with ten equal votes
    wins = np.tile([0.0, 10.0], 20)
    split = Clusters(
        size=40, cluster=np.arange(40), pair=np.zeros(40, dtype=np.intp), wins=wins, draws=0 * wins, losses=10 - wins
    )
    votes = replace(nb.Matches.from_counts([[0, 200], [200, 0]]), clusters=split)
    assert measure_dispersion(votes) == pytest.approx(10, rel=0.1)


def test_singleton_clusters_do_not_erase_uncertainty() -> None:
    counts = nb.Matches.from_counts([[0, 3, 3], [0, 0, 3], [0, 0, 0]])
    single = Clusters(
        size=9,
        cluster=np.arange(9),
        pair=np.repeat([0, 1, 2], 3),
        wins=np.ones(9),
        draws=np.zeros(9),
        losses=np.zeros(9),
    )
    spreads = [
        fit_hierarchical(data).draw(400, np.random.default_rng(0)).ratings.std(axis=0)
        for data in (counts, replace(counts, clusters=single))
    ]
    assert spreads[1] == pytest.approx(spreads[0], rel=0.05)


@pytest.mark.parametrize("tau", [0.3, 0.99, 1.0, 2.0, 5.0])
@pytest.mark.parametrize(("won", "games"), [(1.0, 1.0), (0.0, 2.0), (3.0, 4.0), (6.0, 6.0)])
def test_the_integral_over_the_cyclic_part_is_accurate(won: float, games: float, tau: float) -> None:
    """For single games and large cycles too: wrong curvatures made cycles of 5 log-odds of a ladder's single games."""
    d = np.array([[-2.0, 0.0, 2.0]])
    z = np.linspace(-10, 10, 20001)
    x = d[0][:, None] + tau * z
    mass = np.exp(won * x - games * np.logaddexp(0, x) - z**2 / 2)
    total = mass.sum(axis=1)
    mean = mass @ z / total
    variance = mass @ z**2 / total - mean**2
    counts = PairCounts(
        n=2, i=np.zeros(3, int), j=np.ones(3, int), won=np.full(3, won), games=np.full(3, games), dispersion=1.0
    )
    value, slope, curvature, _ = counts.integrate(d, np.array([tau]))
    assert value[0] == pytest.approx(np.log(total * (z[1] - z[0]) / np.sqrt(2 * np.pi)), abs=0.04)
    assert slope[0] == pytest.approx(mean / tau, abs=0.05 / tau)
    assert curvature[0] == pytest.approx((1 - variance) / tau**2, rel=0.05)


def test_single_games_of_a_ladder_show_no_cycles() -> None:
    rng = np.random.default_rng(8)
    r = rng.normal(0, 1.2, 40)
    W = np.zeros((40, 40))
    for _ in range(160):
        a, b = rng.choice(40, 2, replace=False)
        W[(a, b) if rng.random() < expit(r[a] - r[b]) else (b, a)] += 1
    fit = fit_hierarchical(nb.Matches.from_counts(W))
    assert fit.tau_interval[0] < 0.1
    assert fit.weights[fit.grid[:, 1] > 3].sum() < 0.2


def test_single_games_of_a_large_ladder_show_no_cycles() -> None:
    n = 2_500
    rng = np.random.default_rng(151903)
    r = rng.normal(size=n)
    met = np.sort(rng.integers(n, size=(9 * n // 2, 2)), axis=1)
    pairs = np.unique(met[met[:, 0] < met[:, 1]], axis=0)
    won = (rng.random(len(pairs)) < 1 / (1 + np.exp(r[pairs[:, 1]] - r[pairs[:, 0]]))).astype(float)
    names = tuple(f"agent {k}" for k in range(n))
    fit = fit_hierarchical(nb.Matches(agents=names, pairs=pairs, wins=won, draws=0 * won, losses=1 - won))
    drawn = fit.draw(20, np.random.default_rng(0)).ratings.mean(axis=0)
    assert fit.tau < 0.3  # 0.9 where the error of Laplace's approximation decided
    assert 0.9 < np.polyfit(drawn, r, 1)[0] < 1.1


@pytest.mark.thin(2)
@pytest.mark.parametrize("opponents", [False, True])
def test_sparse_systems_agree_with_dense_ones(opponents: bool) -> None:
    rng = np.random.default_rng(0)
    n = 60
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 0.3
    i, j = i[kept], j[kept]
    W, right, precision = rng.random((1, len(i))), rng.normal(size=(1, n)), np.array([0.7])
    prior = rating_prior(n, NormalPrior.around_opponents(n, i, j, np.ones(len(i))) if opponents else None)
    dense, sparse = DenseSystem(prior=prior, n=n, i=i, j=j), SparseSystem(prior=prior, n=n, i=i, j=j)
    assert sparse.solve(W, precision, right) == pytest.approx(dense.solve(W, precision, right), abs=1e-6)
    assert sparse.log_determinants(W, precision) == pytest.approx(dense.log_determinants(W, precision), rel=0.02)
    assert sparse.traces(W, precision) == pytest.approx(dense.traces(W, precision), rel=0.1)
    streams = [np.random.default_rng(k) for k in range(3000)]
    away = np.eye(n) - 1 / n  # the common level of all ratings means nothing
    covariance = np.cov(away @ sparse.sample(W[0], 0.7, streams).T)
    assert covariance == pytest.approx(away @ np.linalg.inv(dense.matrices(W, precision)[0]) @ away, abs=0.06)


def test_a_sparse_system_that_does_not_settle_is_an_error() -> None:
    i, j = np.arange(49), np.arange(1, 50)  # a chain, whose information spans 40 orders of magnitude
    sparse = SparseSystem(prior=rating_prior(50, None), n=50, i=i, j=j)
    with pytest.raises(nb.ConvergenceError, match="did not converge in 500 steps"):
        sparse.solve(np.geomspace(1e-20, 1e20, 49)[None], np.array([1e-30]), np.sin(np.arange(50.0))[None])


@pytest.mark.parametrize("pairs", ["all", "neighbours", "neighbours and the ends"])
def test_a_ladder_of_sweeps_is_a_ladder(pairs: str) -> None:
    W = np.triu(np.full((5, 5), 20.0), 1)
    if pairs != "all":
        W = np.triu(np.full((5, 5), 200.0), 1) * (np.eye(5, k=1) + np.eye(5, k=4) * (pairs != "neighbours"))
    fit = fit_hierarchical(nb.Matches.from_counts(W))
    assert (np.diff(fit.ratings) < -1).all()
    assert fit.tau_interval[0] < 0.05  # no cycles are claimed
