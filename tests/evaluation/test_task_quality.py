"""Tests of tasks: they tell agents apart, are equivalent within a bound, or unknown."""

import numpy as np
import pytest

import nashboard as nb
from nashboard.evaluation.audit.audit import audit
from nashboard.evaluation.posterior.scores import TaskState, fill_noise, judge_tasks

AGENTS, TASKS, NOISE = 14, 400, 0.03


def table(spread: float, seed: int, agents: int = AGENTS) -> nb.Scores:
    """Return tasks on which the true standard deviation between agents is ``spread`` times the noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(agents, TASKS))
    truth = truth - truth.mean(axis=0)
    truth *= spread * NOISE / np.sqrt((truth**2).sum(axis=0) / (agents - 1))
    y = 0.5 + truth + NOISE * rng.normal(size=truth.shape)
    return nb.Scores.from_array(y, stderr=np.full(truth.shape, NOISE))


def share(scores: nb.Scores, status: TaskState) -> float:
    return judge_tasks(scores.values, fill_noise(scores)).state.count(status) / len(scores.tasks)


def test_tasks_that_all_separate_agents_are_never_called_noise() -> None:
    scores = table(2.0, seed=0)
    assert share(scores, "tells agents apart") > 0.99
    assert share(scores, "equivalent") == 0.0


def test_useless_tasks_are_rarely_said_to_separate_agents() -> None:
    assert share(table(0.0, seed=1), "tells agents apart") <= 0.05 / 20
    assert share(table(0.0, seed=1), "equivalent") > 0.4


def test_equivalent_is_wrong_for_at_most_one_task_in_twenty() -> None:
    assert share(table(1.0, seed=2), "equivalent") <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / TASKS)


def test_few_agents_cannot_show_that_a_task_is_noise() -> None:
    assert share(table(0.0, seed=3, agents=3), "unknown") > 0.8


def test_bounds_of_tiny_errors_are_the_spread_in_units_of_the_noise() -> None:
    values = np.random.default_rng(0).normal(size=(8, 5))
    for error in (1e-2, 1e-4, 1e-9):  # scipy's search has no end for the last, and fails in between
        found = judge_tasks(values, np.full(values.shape, error))
        assert set(found.state) == {"tells agents apart"}
        np.testing.assert_allclose(found.bound * error, values.std(axis=0, ddof=1), rtol=0.02)


def test_tasks_of_unknown_noise_are_not_tested() -> None:
    scores = nb.Scores.from_array(np.random.default_rng(0).normal(size=(8, 5)))
    found = judge_tasks(scores.values, fill_noise(scores))
    assert np.isnan(found.p_value).all()
    assert set(found.state) == {"unknown"}


def test_a_useless_task_takes_part_in_few_boards() -> None:
    rng = np.random.default_rng(8)
    alarms = [
        judge_tasks(rng.normal(size=(9, 25)), np.ones((9, 25))).state.count("tells agents apart") for _ in range(400)
    ]
    assert np.mean(np.array(alarms) > 0) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def test_the_verdict_says_why_tasks_are_set_aside() -> None:
    rng = np.random.default_rng(9)
    truth = np.hstack([np.outer(np.linspace(-1, 1, 14), np.ones(5)), np.zeros((14, 6))])
    scores = nb.Scores.from_array(truth + 0.05 * rng.normal(size=truth.shape), stderr=np.full(truth.shape, 0.05))
    said = " ".join(nb.evaluate(scores, n_resamples=20).verdict)
    assert "5 of 11 tasks tell the agents apart" in said
    assert "by less than the noise of one score" in said
    assert "are within noise" not in said
    nothing = nb.Scores.from_array(0.05 * rng.normal(size=truth.shape), stderr=np.full(truth.shape, 0.05))
    assert "No single task tells the agents apart beyond noise" in " ".join(
        nb.evaluate(nothing, n_resamples=20).verdict
    )


@pytest.mark.parametrize(("shift", "status"), [(0.0, "near the ceiling"), (1.2, "near the floor")])
def test_a_task_that_half_of_the_agents_saturate_is_named(shift: float, status: str) -> None:
    skill = np.linspace(0.1, 0.9, 12)
    p = np.column_stack([skill, skill, skill, np.clip(2.2 * skill - shift, 0.02, 0.97)])
    scores = nb.Scores.from_array(np.random.default_rng(4).binomial(4000, p) / 4000, n=np.full(p.shape, 4000.0))
    found = audit(scores).tasks[0]
    assert [finding.status for finding in found.findings] == ["fine", "fine", "fine", status]
    assert not next(one for one in found.checks() if one.name == "no task is saturated").passed


@pytest.mark.parametrize("errors", [False, True])
@pytest.mark.parametrize("unit", [1, 100])
def test_a_task_with_a_score_of_0985_for_all_is_saturated_in_any_unit(unit: int, errors: bool) -> None:
    rng = np.random.default_rng(5)
    p = rng.uniform(0.2, 0.9, (11, 1)) + rng.uniform(-0.1, 0.1, (11, 6))
    p[:, 2] = 0.985
    y = rng.binomial(200, p) / 200
    error = np.sqrt(p * (1 - p) / 200) * unit if errors else None
    quality = audit(nb.Scores.from_array(y * unit, stderr=error), n_resamples=20).tasks[0]
    assert [finding.task for finding in quality.findings if finding.saturated] == ["task 3"]
    assert not next(one for one in quality.checks() if one.name == "no task is saturated").passed


def test_scores_in_other_units_are_no_shares_and_not_saturated() -> None:
    rng = np.random.default_rng(6)
    stars = rng.uniform(1, 5, (12, 4))
    loss = nb.Scores.from_array(rng.uniform(0, 0.04, (12, 4)), lower_is_better=True)
    mixed = nb.Scores.from_array(np.hstack([rng.uniform(1000, 1400, (12, 2)), rng.uniform(0, 30, (12, 2)) ** 0.5]))
    for scores in (nb.Scores.from_array(stars), nb.Scores.from_array(2 * stars), loss, mixed):
        assert not any(finding.saturated for finding in audit(scores, n_resamples=20).tasks[0].findings)
