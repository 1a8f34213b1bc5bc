"""Tests of tasks: separate agents, within noise, or unknown."""

import numpy as np
import pytest

import nashboard as nb
from nashboard.evaluation.audit.audit import audit
from nashboard.evaluation.audit.task_quality import assess_noise

AGENTS, TASKS, NOISE = 14, 400, 0.03


def table(spread: float, seed: int, agents: int = AGENTS) -> nb.Scores:
    """Return tasks on which the true standard deviation between agents is ``spread`` times the noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(agents, TASKS))
    truth = truth - truth.mean(axis=0)
    truth *= spread * NOISE / np.sqrt((truth**2).sum(axis=0) / (agents - 1))
    y = 0.5 + truth + NOISE * rng.normal(size=truth.shape)
    return nb.Scores.from_array(y, stderr=np.full(truth.shape, NOISE))


def share(scores: nb.Scores, status: str) -> float:
    return assess_noise(scores, 0.05).status.count(status) / len(scores.tasks)


def test_tasks_that_all_separate_agents_are_never_called_noise() -> None:
    scores = table(2.0, seed=0)
    assert share(scores, "fine") > 0.99
    assert share(scores, "within noise") == 0.0


def test_useless_tasks_are_rarely_said_to_separate_agents() -> None:
    assert share(table(0.0, seed=1), "fine") <= 0.05
    assert share(table(0.0, seed=1), "within noise") > 0.4


def test_within_noise_is_wrong_for_at_most_one_task_in_twenty() -> None:
    assert share(table(1.0, seed=2), "within noise") <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / TASKS)


def test_few_agents_cannot_show_that_a_task_is_noise() -> None:
    assert share(table(0.0, seed=3, agents=3), "unknown") > 0.8


def test_tasks_of_unknown_noise_are_not_tested() -> None:
    found = assess_noise(nb.Scores.from_array(np.random.default_rng(0).normal(size=(8, 5))), 0.05)
    assert np.isnan(found.p_noise).all()
    assert set(found.status) == {"fine"}


@pytest.mark.parametrize(("shift", "status"), [(0.0, "near the ceiling"), (1.2, "near the floor")])
def test_a_task_that_half_of_the_agents_saturate_is_named(shift: float, status: str) -> None:
    skill = np.linspace(0.1, 0.9, 12)
    p = np.column_stack([skill, skill, skill, np.clip(2.2 * skill - shift, 0.02, 0.97)])
    scores = nb.Scores.from_array(np.random.default_rng(4).binomial(4000, p) / 4000, n=np.full(p.shape, 4000.0))
    found = audit(scores).tasks[0]
    assert [finding.status for finding in found.findings] == ["fine", "fine", "fine", status]
    assert not next(one for one in found.checks() if one.name == "no task is saturated").passed
