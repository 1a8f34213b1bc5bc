"""The posterior of score tables: against a slow sampler, against known truth, and what must not move it."""

import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import kendalltau, multivariate_normal

import nashboard as nb
from nashboard._types import Floats
from nashboard.evaluation.posterior.duplicates import log_evidence, pool_duplicates
from nashboard.evaluation.posterior.items import is_item_table, pool_items
from nashboard.evaluation.posterior.low_rank import OMEGAS, TAUS, draw_tables, log_half_cauchy
from nashboard.evaluation.posterior.scores import (
    draw_scores,
    expected_range,
    judge_tasks,
    known_noise,
    measure_sizes,
    solve_tables,
    to_log_odds,
    to_units,
)

# not by sys.path: modules of that folder have the names of folders of tests
run_regime = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "truth_scores.py"))["run_regime"]

# --- the sampler


def log_sum(logs: Floats, axis: int) -> Floats:
    """Return the logarithm of a sum of exponentials; that of scipy takes three times as long."""
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=axis)) + np.squeeze(top, axis=axis))


def slow_posterior(
    Y: Floats, V: Floats, prior: Floats, known: bool, steps: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Sample the model of `low_rank` with one skill by many chains of random-walk Metropolis; tables, versions and use.

    Independent of the sampler under test: it moves difficulties, skills and loadings together, and sums over versions,
    over the grids of tau, tau0 and omega, and over which tasks are useful.
    """
    chains, m, n = 200, *Y.shape[1:]
    taus = TAUS if V.all() else TAUS[1:]
    tau_prior = log_half_cauchy(TAUS, 0.25)[-len(taus) :]
    octaves = np.log2(np.maximum(taus, 1e-12))
    local = np.exp(-0.5 * np.subtract.outer(octaves, octaves) ** 2)
    local[taus == 0], local[:, taus == 0] = 0.0, 0.0
    local[taus == 0, taus == 0] = 1.0
    local /= local.sum(axis=1, keepdims=True)
    alone = np.where(taus == 1, 0.0, -690.0)
    v = V[..., None] + taus**2
    weight, log_v = 1 / v, np.log(v).sum(axis=1)
    uses = np.array([one for one in product([0, 1], repeat=n) if all(one) or not known])
    count = uses.sum(axis=1)
    of_use = np.log(np.where(count < 2, 1 / 4, 1 / (2 * n - 2)) / comb(n, count))

    def parts(x: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        b, a, load, mu = x[:, :n], x[:, n : n + m], x[:, n + m : -1], x[:, -1:]
        fit = b[:, None] + a[:, :, None] * load[:, None]
        each, apart = (
            -0.5 * (log_v + np.einsum("chij,hijt->chjt", (Y - t[:, None]) ** 2, weight)) + prior[..., None]
            for t in (fit, b[:, None] + 0 * fit)
        )  # chain, version, task, tau
        by_tau = log_sum(each, axis=1)
        top = by_tau.max(axis=2, keepdims=True)
        useful = np.log(np.exp(by_tau - top) @ local.T + 1e-300) + top  # chain, task, tau0
        useless = log_sum(apart[:, 0] + alone, axis=2)
        by_use = uses @ useful + ((1 - uses) @ useless.T).T[..., None]
        by_use += of_use[:, None] + tau_prior
        spread = ((load - mu) ** 2).sum(axis=1, keepdims=True)
        of_omega = log_sum(log_half_cauchy(OMEGAS, 0.5) - n * np.log(OMEGAS) - spread / (2 * OMEGAS**2), axis=1)
        rest = (b**2).sum(axis=1) / 200 + (a**2).sum(axis=1) / 2 + mu[:, 0] ** 2 / 2
        return fit, each, apart, by_use, of_omega - rest

    def total(x: Floats) -> Floats:
        *_, by_use, rest = parts(x)
        return log_sum(by_use.reshape(chains, -1), axis=1) + rest

    x = np.column_stack([np.zeros((chains, n)), np.tile(Y[0].mean(axis=1), (chains, 1)), np.ones((chains, n + 1))])
    now = total(x)
    kept, versions, used, talents = [], [], [], []
    for step in range(steps):
        new = x + rng.choice([0.03, 0.1, 0.3]) * rng.normal(size=x.shape) * (rng.random(x.shape) < 0.5)
        then = total(new)
        better = np.log(rng.random(chains)) < then - now
        x[better], now[better] = new[better], then[better]
        if step > steps // 3 and step % 25 == 0:
            fit, each, apart, by_use, _ = parts(x)
            drawn = (by_use + rng.gumbel(size=by_use.shape)).reshape(chains, -1).argmax(axis=1)
            use, tau0 = uses[drawn // len(taus)], drawn % len(taus)
            logs = np.where(
                use[:, None, :, None] == 1, each + np.log(local[tau0] + 1e-300)[:, None, None], apart + alone
            )
            flat = (logs + rng.gumbel(size=logs.shape)).transpose(0, 2, 1, 3).reshape(chains, n, -1).argmax(axis=2)
            version, at = np.divmod(flat, len(taus))
            tau2 = taus[at][:, None] ** 2
            y, noise = (np.moveaxis(table[version, :, np.arange(n)], 2, 1) for table in (Y, V))
            use = use * (use.sum(axis=1, keepdims=True) > 1)
            fit = np.where(use[:, None] == 1, fit, x[:, None, :n])
            fit += 0.1 * rng.normal(size=(chains, m, 1)) * ~use.any(axis=1)[:, None, None]
            talent = rng.beta(0.5, 0.5, size=(chains, 1, 1)) * (rng.random((chains, 1, 1)) < 0.5)
            share = tau2 / (noise + tau2) if known else talent * use[:, None]
            spread = tau2 * (1 - share) * (1 if known else share)
            kept.append(fit + share * (y - fit) * known + np.sqrt(spread) * rng.normal(size=fit.shape))
            talents.append(share)
            versions.append(version)
            used.append(use)
    tables, use = np.concatenate(kept), np.concatenate(used)
    if not known:  # talents are the share of what skills leave over on average
        explained = (tables * use[:, None]).sum(axis=0) / use.sum(axis=0)
        tables += np.concatenate(talents) * (Y[0] - explained)
    return tables, np.concatenate(versions), use


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "known", "versions", "own"),
    [(0.1, True, 1, 0.25), (0.5, True, 1, 0.25), (0.0, False, 1, 0.25), (0.0, False, 1, 0.8), (0.2, True, 2, 0.25)],
)
def test_the_sampler_agrees_with_a_slow_independent_one(noise: float, known: bool, versions: int, own: float) -> None:
    rng = np.random.default_rng(3)
    Y = np.outer(np.linspace(-1.2, 1.2, 5), [1.0, 0.8, 1.2, 0.9]) + own * rng.normal(size=(5, 4))
    V = np.full(Y.shape, noise**2)
    bent = Y - 0.3 * (Y**2 - 1) * [1, 1, 1, -1]
    tables, variances = np.stack([Y, bent])[:versions], np.stack([V, V * 1.5])[:versions]
    prior = np.zeros((versions, 4))
    steps = 8_000 if own > 0.5 else 2_500  # chains seldom move between a shared skill and none
    slow, slow_versions, slow_use = slow_posterior(tables, variances, prior, known, steps, rng)
    fast = draw_tables(tables, variances, np.full(4, known), rank=1, draws=4_000, rng=rng, prior=prior)
    one, two = slow[slow_use.any(axis=1)], fast.tables[fast.useful.any(axis=1)]
    scale = one.std(axis=0)
    assert np.abs(one.mean(axis=0) - two.mean(axis=0)).max() < 0.15 * scale.max()
    assert np.abs(np.log(two.std(axis=0) / scale)).max() < 0.15
    assert np.abs(slow_versions.mean(axis=0) - fast.version.mean(axis=0)).max() < 0.1
    assert np.abs(slow_use.mean(axis=0) - fast.useful.mean(axis=0)).max() < 0.07


def test_what_skills_leave_over_is_between_all_noise_and_all_talent_where_noise_is_unknown() -> None:
    rng = np.random.default_rng(12)
    Y = np.outer(rng.normal(size=10), np.ones(8)) + 0.5 * rng.normal(size=(10, 8))
    tables = draw_tables(Y, np.zeros_like(Y), np.zeros(8, dtype=np.bool_), rank=1, draws=300, rng=rng).tables
    rest = Y - Y.mean(axis=0) - Y.mean(axis=1, keepdims=True) + Y.mean()
    share = (tables * rest).sum(axis=(1, 2)) / (rest**2).sum()  # of what the skill leaves over
    assert np.quantile(share, 0.1) < 0.1
    assert np.quantile(share, 0.95) > 0.9  # half of the draws have no talents
    skill = tables.mean(axis=2)
    as_measured = share > 0.9
    assert skill[as_measured].std(axis=0).mean() > 0.8 * skill.std(axis=0).mean()  # skills stay uncertain


def test_the_level_of_guessing_is_learned_from_the_other_tasks() -> None:
    rng = np.random.default_rng(13)
    floor = np.array([0.0, 0.25, 0.5, 0.0, 0.25, 0.5])
    skill = np.linspace(-3.5, 2.5, 16)[:, None] + 0.3 * rng.normal(size=(16, 6))
    p = floor + (1 - floor) / (1 + np.exp(-skill))
    y = rng.binomial(600, p) / 600
    found = draw_scores(nb.Scores.from_array(y, n=np.full(p.shape, 600.0)), draws=60, rng=rng)
    assert found.expected is not None
    off = found.expected - p
    assert np.sqrt(np.mean(off**2)) < np.sqrt(np.mean((y - p) ** 2))
    assert np.abs(off[:5].mean(axis=0)).max() < 0.012  # agents that guess are not lifted


# --- known truth, on small versions of benchmarks/truth_scores.py


@pytest.mark.slow
def test_boards_of_noisy_tables_tell_the_truth() -> None:
    regimes = ["one skill, 40 guessed", "3 skills, 10 guessed", "3 skills, 1,000 items", "unknown noise, 3 skills",
               "unknown noise, useless tasks", "unknown noise, own talents",
               "unknown noise, 40 guessed", "unknown noise, 8 agents, 10 guessed"]  # fmt: skip
    found = [run_regime(regime, tables=6, seed=202) for regime in regimes]
    for figures in found:
        assert figures["order"] > figures["order of mean"] - 0.02
        assert figures["worst first"] == 0.0
        assert figures["error"] < 1.0
        assert figures["coverage"] >= 0.82  # of 6 tables, in which agents are wrong together
        assert figures["P(top) off"] < 0.08
        assert figures["inside"] >= 0.995
    assert 0.92 <= np.mean([figures["coverage"] for figures in found]) <= 0.99
    assert np.mean([figures["P(top) off"] for figures in found]) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("size", ["10 x (6 + 6)", "6 x (4 + 4)"])
def test_chances_of_a_dominated_agent_are_calibrated_where_luck_may_be_talent(size: str) -> None:
    found = run_regime(f"unknown noise, second dominated, {size}", 16, 303)
    assert found["P(top) off"] <= found["off by chance"] + 0.05
    assert found["order"] > found["order of mean"] - 0.02
    assert found["coverage"] >= 0.92


def test_useless_tasks_of_unknown_noise_are_set_aside_and_crown_nobody() -> None:
    rng = np.random.default_rng(31)
    ability = np.linspace(-1, 1, 9)
    p = 0.25 + 0.75 / (1 + np.exp(-(ability[:, None] + 0.3 * rng.normal(size=7))))
    y = rng.binomial(300, np.hstack([p, np.full((9, 11), 0.25)])) / 300
    scores = nb.Scores.from_array(y)
    found = nb.evaluate(scores)
    assert found.posterior.probability_top[:7].max() < 0.5
    assert kendalltau(found.posterior.gap, -ability)[0] > 0.9
    told = found.model["told_apart"]
    assert set(scores.tasks[:7]) <= set(told)
    assert len(told) <= 9  # with nine agents chance may make one or two look related


def test_language_models_of_growing_size_come_out_by_size() -> None:
    rng = np.random.default_rng(0)
    size = np.linspace(-1.5, 1.5, 16)
    signal = 0.25 + 0.7 / (1 + np.exp(-(1.2 * size[:, None] + 0.15 * rng.normal(size=(16, 7)))))
    p = np.hstack([signal, np.full((16, 58), 0.25)])
    y = rng.binomial(500, p) / 500
    found = nb.evaluate(nb.Scores.from_array(y, stderr=np.sqrt(y * (1 - y) / 500)))
    posterior = found.posterior
    assert kendalltau(posterior.gap, -size)[0] > 0.85
    assert posterior.gap.argmax() <= 1
    assert posterior.probability_top[:8].max() == 0.0
    assert posterior.probability_top.argmax() >= 14


# --- what must not move the board


def noisy_table(seed: int = 0) -> nb.Scores:
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-(rng.normal(size=(9, 1)) + rng.normal(size=7) + 0.3 * rng.normal(size=(9, 7)))))
    return nb.Scores.from_array(rng.binomial(200, p) / 200, n=np.full(p.shape, 200.0))


def test_the_same_table_and_seed_give_the_same_draws() -> None:
    one, two = (draw_scores(noisy_table(), draws=40, rng=np.random.default_rng(5)) for _ in range(2))
    names = [name for name, value in vars(one).items() if isinstance(value, np.ndarray)]
    assert len(names) >= 5
    assert all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)


def test_copies_and_row_order_move_nothing_to_the_last_bit() -> None:
    scores = noisy_table()
    agents, tasks = list(scores.agents), list(scores.tasks)
    values, n = np.array(scores.values), np.array(scores.n)
    rows, columns = [3, 0, 3, 1, 2, 8, 4, 5, 6, 7, 3], [6, 5, 0, 0, 1, 2, 3, 4]
    names = [agents[k] + "'" * rows[:i].count(k) for i, k in enumerate(rows)]
    others = [tasks[k] + "'" * columns[:i].count(k) for i, k in enumerate(columns)]
    copied = nb.Scores.from_array(values[np.ix_(rows, columns)], names, others, n=n[np.ix_(rows, columns)])
    one, two = (nb.evaluate(data, n_resamples=50).posterior for data in (scores, copied))
    for name in agents:
        i, j = one.agents.index(name), two.agents.index(name)
        for field in ("gap", "gap_low", "gap_high", "probability_top"):
            assert getattr(one, field)[i] == getattr(two, field)[j]


def test_units_of_a_task_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=(8, 6)) + 2 * rng.normal(size=(8, 1))
    stderr = np.full(y.shape, 0.3)
    factor, shift = 4.0 ** np.arange(6), np.arange(6.0)
    turned = np.array([1, -1, 1, -1, 1, 1])
    one = draw_scores(nb.Scores.from_array(y, stderr=stderr), draws=60, rng=np.random.default_rng(0))
    other = nb.Scores.from_array(turned * (factor * y + shift), stderr=factor * stderr, lower_is_better=turned < 0)
    two = draw_scores(other, draws=60, rng=np.random.default_rng(0))
    assert two.gaps == pytest.approx(one.gaps, abs=1e-6)


# --- noisy copies


def table_with_copies(copies: int, seed: int) -> tuple[nb.Scores, Floats]:
    """Return 12 agents of several skills, and noisy copies of one of them; and the noise-free scores of the agents."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=(12, 3)) + 0.7 * rng.normal(size=(12, 1))
    x = skill[:, rng.integers(3, size=14)] - rng.normal(size=14) + 0.2 * rng.normal(size=(12, 14))
    p = 0.1 + 0.9 / (1 + np.exp(-x))
    solved = rng.binomial(300, p)
    more = rng.binomial(300, np.repeat(p[4:5], copies, axis=0))
    y = np.vstack([solved, more]) / 300
    return nb.Scores.from_array(y, n=np.full(y.shape, 300.0)), p


@pytest.mark.slow
def test_noisy_copies_are_pooled_and_do_not_raise_the_error() -> None:
    errors: dict[int, list[float]] = {0: [], 20: []}
    found = 0
    for seed in range(12):
        for copies, error in errors.items():
            scores, p = table_with_copies(copies, seed)
            draws = draw_scores(scores, draws=100, rng=np.random.default_rng(seed))
            sizes = draws.facts["sizes"]
            kept = np.isfinite(sizes)
            truth = solve_tables(to_units(p[None][:, :, kept], sizes[kept], "range"), "clone-invariant")[2][0]
            off = draws.point[draws.facts["label"]][:12] - truth
            error.append(float(np.sqrt(np.mean(off**2))))
            if copies:
                found += int((draws.facts["label"][12:] == draws.facts["label"][4]).sum())
    assert found > 0.9 * 12 * 20
    assert np.mean(errors[20]) < 1.1 * np.mean(errors[0])


def test_pooling_can_be_switched_off() -> None:
    scores, _ = table_with_copies(3, seed=0)
    assert len(draw_scores(scores, draws=20, rng=np.random.default_rng(0), pool=False).point) == 15
    assert nb.evaluate(scores, n_resamples=20, pool=False).posterior.gap[12:].std() > 0


def test_different_agents_are_rarely_pooled() -> None:
    pooled = 0
    for seed in range(30):
        scores, _ = table_with_copies(0, seed)
        noise = known_noise(scores)
        label = pool_duplicates(scores.values, noise**2)
        pooled += 12 - len(np.unique(label))
    assert pooled <= 6  # of 360 agents


def test_evidence_for_copies_is_the_ratio_of_normal_densities() -> None:
    rng = np.random.default_rng(0)
    d, v = rng.normal(size=(3, 4)), rng.uniform(0.5, 2, size=(3, 4))
    G = np.cov(rng.normal(size=(4, 9)))
    slow = [
        multivariate_normal(cov=np.diag(v[k])).logpdf(d[k])
        - multivariate_normal(cov=np.diag(v[k]) + 2 * G).logpdf(d[k])
        for k in range(3)
    ]
    assert log_evidence(d, v, G) == pytest.approx(slow)


# --- parts


def test_plain_means_are_the_measured_ones_with_an_interval() -> None:
    scores = noisy_table()
    means = draw_scores(scores, draws=200, rng=np.random.default_rng(0)).means
    assert means is not None
    assert means.mean(axis=0) == pytest.approx(scores.values.mean(axis=1))
    expected = np.sqrt((known_noise(scores) ** 2).sum(axis=1)) / len(scores.tasks)
    assert means.std(axis=0) == pytest.approx(expected, rel=0.2)


def test_missing_cells_are_filled_by_the_model() -> None:
    rng = np.random.default_rng(4)
    truth = np.add.outer(np.linspace(-2, 2, 10), np.arange(8.0))
    y = truth + 0.1 * rng.normal(size=truth.shape)
    holes = rng.random(y.shape) < 0.2
    scores = nb.Scores.from_array(np.where(holes, np.nan, y), stderr=np.full(y.shape, 0.1))
    expected = draw_scores(scores, draws=200, rng=rng).expected
    assert expected is not None
    assert np.abs(expected - truth)[holes].max() < 0.5


def test_percentages_of_whole_numbers_of_items_have_the_noise_of_shares() -> None:
    p, n = np.array([[0.64, 0.5], [0.36, 0.255]]), np.array([[50.0, 200.0], [50.0, 200.0]])
    shares = known_noise(nb.Scores.from_array(p, n=n))
    np.testing.assert_allclose(known_noise(nb.Scores.from_array(100 * p, n=n)), 100 * shares)
    other = known_noise(nb.Scores.from_array(np.array([[64.3, 50.0], [36.0, 25.5]]), n=n))
    assert np.isnan(other[:, 0]).all()  # 64.3% of 50 items is no number of items: the scores are something else
    np.testing.assert_allclose(other[:, 1], 100 * shares[:, 1])
    many = nb.Scores.from_array(np.array([[31.4], [27.9]]), n=np.full((2, 1), 1000.0))
    assert np.isnan(known_noise(many)).all()  # any score with one decimal is a whole number of 1,000 items


def test_standard_errors_of_zero_are_unknown() -> None:
    scores = nb.Scores.from_array([[0.0, 0.5], [1.0, 0.6]], stderr=[[0.0, 0.1], [0.0, 0.1]])
    assert np.isnan(known_noise(scores)[:, 0]).all()
    assert known_noise(scores)[:, 1] == pytest.approx(0.1)
    with_items = nb.Scores.from_array([[0.0, 0.5], [1.0, 0.6]], n=np.full((2, 2), 100.0))
    assert (known_noise(with_items) > 0).all()


def test_useless_tasks_are_set_aside_and_others_kept() -> None:
    rng = np.random.default_rng(5)
    truth = np.hstack([np.outer(rng.normal(size=14), np.ones(12)), np.zeros((14, 40))])
    found = judge_tasks(truth + 0.3 * rng.normal(size=truth.shape), np.full(truth.shape, 0.3))
    assert set(found.state[:12]) == {"tells agents apart"}
    assert "tells agents apart" not in found.state[12:]


def test_the_expected_range_is_the_tabulated_constant() -> None:
    # d2 of control charts, e.g. Montgomery, Introduction to Statistical Quality Control, appendix VI.
    assert [expected_range(m) for m in (2, 5, 14, 25)] == pytest.approx([1.128, 2.326, 3.407, 3.931], abs=1e-3)


def test_a_champion_on_every_task_needs_no_solver_and_gets_the_same_answer() -> None:
    rng = np.random.default_rng(6)
    tables = rng.normal(size=(6, 5, 4))
    tables[:3, 2] += 10.0
    units = to_units(tables, measure_sizes(tables, np.zeros(4), "range"), "range")
    p, q, gaps = solve_tables(units, "clone-invariant")
    for k in range(6):
        one = nb.nash_average_scores(units[k])
        assert p[k] == pytest.approx(one.agent_weights, abs=1e-7)
        assert q[k] == pytest.approx(one.task_weights, abs=1e-7)
        assert gaps[k] == pytest.approx(one.value - one.skills, abs=1e-7)


# --- items


def test_tables_of_items_are_recognised() -> None:
    passed = np.random.default_rng(0).integers(0, 2, size=(6, 30))
    assert is_item_table(nb.Scores.from_array(passed))
    assert not is_item_table(nb.Scores.from_array(passed[:, :5]))
    assert not is_item_table(nb.Scores.from_array(passed, n=np.full(passed.shape, 50.0)))
    assert not is_item_table(nb.Scores.from_array(passed).scale("none"))
    assert nb.evaluate(nb.Scores.from_array(passed), n_resamples=10).verdict[-1] == "6 agents, 1 task of 30 items."
    assert "items" not in nb.evaluate(nb.Scores.from_array(passed), noise="none").verdict[-1]


def test_errors_of_pooled_items_are_those_of_differences_between_agents() -> None:
    ratios = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        ability = np.linspace(-1, 1, 10)
        p = 1 / (1 + np.exp(-(ability[:, None] - 2.0 * rng.normal(size=120))))
        pooled = pool_items(nb.Scores.from_array((rng.random(p.shape) < p) * 1.0), range(10))
        truth = (1 / (1 + np.exp(-(ability[:, None] - 2.0 * np.random.default_rng(999).normal(size=20_000))))).mean(
            axis=1
        )
        off = pooled.values[:, 0] - truth
        ratios.append((off - off.mean()) / pooled.stderr[:, 0])
    assert np.std(ratios) == pytest.approx(1.0, abs=0.1)


def test_items_are_a_sample_not_tasks() -> None:
    rng = np.random.default_rng(7)
    ability = np.linspace(-1.5, 1.5, 12)
    passed = (rng.random((12, 182)) < 1 / (1 + np.exp(-(ability[:, None] - rng.normal(size=182))))) * 1.0
    found = nb.evaluate(nb.Scores.from_array(passed))
    order = np.argsort(-passed.mean(axis=1))
    assert found.posterior.gap.argmin() == order[0]
    assert found.posterior.probability_top[order[4:]].max() < 0.05
    twice = nb.Scores.from_array(np.vstack([passed, passed[3]]))
    again = nb.evaluate(twice).posterior
    assert np.array_equal(again.gap[:12], found.posterior.gap)


# --- differences that no skill explains


def test_large_differences_on_tasks_of_their_own_are_named_where_tasks_have_one_unit() -> None:
    rng = np.random.default_rng(12)
    shared = rng.normal(size=(12, 1)) + 0.3 * rng.normal(size=(12, 10))
    y = np.hstack([shared, rng.normal(size=(12, 4))])
    found = draw_scores(nb.Scores.from_array(y), draws=60, rng=np.random.default_rng(0))
    assert set(found.facts["doubtful"]) == {f"task {k}" for k in (11, 12, 13, 14)}
    assert found.task_weights is not None
    assert np.nansum(found.task_weights[:, 10:], axis=1).mean() < 0.1  # and count as noise
    units = 10.0 ** rng.uniform(-1, 3, size=14)
    other = draw_scores(nb.Scores.from_array(y * units), draws=60, rng=np.random.default_rng(0))
    assert other.facts["doubtful"] == ()
    seconds = draw_scores(
        nb.Scores.from_array(y * np.repeat([1, 500], [10, 4])), draws=60, rng=np.random.default_rng(0)
    )
    assert seconds.facts["doubtful"] == ()


@pytest.mark.parametrize("floor", [0.1, 0.25, 1 / 3, 0.5])
def test_shares_near_guessing_exclude_high_odds_as_their_likelihood_does(floor: float) -> None:
    error = 0.0235
    for beyond in (-0.5, 0.0, 0.5, 1.0, 2.0):  # standard errors above guessing
        share = np.array([[floor + beyond * error]])
        odds, spread, _ = to_log_odds(share, np.array([[error]]), floor, share)
        for further in (2.5, 4.0):  # a truth so many standard errors above what was measured
            true = (share + further * error - floor) / (1 - floor)
            normal = float((((np.log(true / (1 - true)) - odds) / spread) ** 2)[0, 0] / 2)
            assert normal > further**2 / 2 * 0.4  # the tangent alone has 0.07 to 0.57


def test_an_agent_that_guesses_is_below_one_that_is_far_better_on_the_same_items() -> None:
    rng = np.random.default_rng(8)
    items = (rng.random((400, 5)) < [0.63, 0.53, 0.5, 0.49, 0.32]).astype(float)
    found = nb.evaluate(nb.Scores.from_array(items.T, ["a", "b", "c", "d", "guess"]))
    assert found.posterior.probability_above("guess", "d") < 0.01
    assert found.posterior.rank_low[list(found.posterior.agents).index("guess")] == 5
