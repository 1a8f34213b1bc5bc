"""Audit, stress test, second opinions and report describe the board that was evaluated, whatever its settings."""

from typing import Any

import numpy as np
import pytest

import nashboard as nb
from arenas import played
from nashboard.evaluation.problem import Settings
from nashboard.report.findings import find_everything


def arena() -> nb.Matches:
    """Return a league of six, four of whom are alike, and two agents that met nobody else."""
    strength = np.array([1.0, -1, 0.2, 0.2, 0.2, 0.2])
    league = played(np.random.default_rng(3), np.subtract.outer(strength, strength), 300)
    counts: dict[str, Any] = {name: np.append(getattr(league, name), [3.0]) for name in ("wins", "draws", "losses")}
    return nb.Matches(agents=(*league.agents, "far", "away"), pairs=np.vstack([league.pairs, [[6, 7]]]), **counts)


def suite() -> nb.Scores:
    """Return scores of six agents, two tasks of which are of other sizes."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(6, 8)) * [1, 1, 1, 1, 1, 1, 30, 0.01]
    return nb.Scores.from_array(values, stderr=0.1 * np.abs(values).mean(axis=0) * np.ones((6, 1)))


CASES: dict[str, tuple[str, Any]] = {
    "noise": ("scores", "none"),
    "scaling": ("scores", "rank"),
    "selection": ("scores", "maxent"),
    "tolerance": ("scores", 0.05),
    "level": ("scores", 0.8),
    "n_resamples": ("scores", 37),
    "rng": ("scores", 5),
    "pool": ("matches", False),
    "call": ("matches", "players"),
    "anchor": ("matches", {"agent 2": 1500.0}),
    "methods": ("matches", ("nash", "borda")),
    "components": ("matches", "largest"),
}


@pytest.mark.thin(3)
@pytest.mark.parametrize("setting", CASES)
def test_every_setting_reaches_audit_and_stress(setting: str) -> None:
    kind, value = CASES[setting]
    options: dict[str, Any] = {"n_resamples": 20, **({"components": "largest"} if kind == "matches" else {})}
    options |= {setting: value} | ({"noise": "none"} if setting == "tolerance" else {})
    found = nb.evaluate(arena() if kind == "matches" else suite(), **options)
    problem = found.problem
    assert problem is not None
    stress = found.stress(copies=[1], targets=[], draws=0)
    assert stress.game.problem is problem
    (nash,) = [one for one in stress.before if one.method == "nash"]
    unit = 400 / np.log(10) if kind == "matches" else 1.0
    assert -nash.scores * unit == pytest.approx(found.board.gaps)
    assert set(nash.winners) == set(found.support)
    audit = found.audit()
    assert audit.level == found.board.level
    weights = dict(zip(audit.importance[0].names, audit.importance[0].weights, strict=True))
    merged = problem.full_equilibrium
    expected = merged.agent_weights if isinstance(merged, nb.ScoreNashAverage) else merged.weights
    assert list(weights.values()) == pytest.approx(expected)


@pytest.mark.slow
def test_a_report_is_about_the_board_that_was_evaluated() -> None:
    found = nb.evaluate(suite(), n_resamples=20, scaling="rank")
    everything = find_everything(found, say=lambda what: None)
    assert everything.audit is not None
    assert everything.stress is not None
    assert everything.audit.to_json() == found.audit().to_json()
    assert everything.stress.game.problem is found.problem


def test_every_setting_has_a_case() -> None:
    assert {name if name != "seed" else "rng" for name in Settings.__dataclass_fields__} == set(CASES)


@pytest.mark.thin(2)
@pytest.mark.parametrize("setting", ["noise", "scaling", "level", "pool"])
def test_the_functions_take_the_settings_that_change_what_they_say(setting: str) -> None:
    kind, value = CASES[setting]
    options: dict[str, Any] = {"n_resamples": 20, **({"components": "largest"} if kind == "matches" else {})}
    data: Any = arena() if kind == "matches" else suite()
    found = nb.evaluate(data, **{setting: value}, **options)
    assert nb.audit(data, **{setting: value}, **options).to_json() == found.audit().to_json()
    assert nb.audit(data, **options).to_json() != found.audit().to_json()
    if setting != "level":
        stress: dict[str, Any] = {"copies": [1], "targets": [], "draws": 0}
        same = nb.stress(data, **{setting: value}, **options, **stress)
        assert same.to_json() == found.stress(**stress).to_json()


def test_settings_of_an_evaluation_are_not_given_again() -> None:
    found = nb.evaluate(suite(), n_resamples=2)
    for repeat in (found.audit, found.stress):
        with pytest.raises(nb.InputError, match="the settings are those of the evaluation: leave out 'noise'"):
            repeat(noise="none")


def test_a_tolerance_gives_the_most_even_mixture_that_noise_allows() -> None:
    scores = suite()
    literal = nb.nash_average_scores(scores, tolerance=0.05)
    found = nb.evaluate(scores, noise="none", tolerance=0.05)
    assert found.board.weights == pytest.approx(literal.agent_weights)
    assert set(found.support) == set(literal.agent_support)
    assert len(found.support) > len(nb.evaluate(scores, noise="none").support)
    for tolerance in (0.05, "noise"):
        with pytest.raises(nb.InputError, match="a tolerance is for exact results"):
            nb.evaluate(scores, tolerance=tolerance)


def test_noise_allows_one_standard_error_of_an_average() -> None:
    games = np.array([[0, 70, 40], [30, 0, 65], [60, 35, 0]])
    matches = nb.Matches.from_counts(games)
    exact, found = (nb.evaluate(matches, noise="none", tolerance=t) for t in (0, "noise"))
    p = exact.board.weights
    share = np.array([[0.5, 70, 40], [30, 0.5, 65], [60, 35, 0.5]]) / 101 + np.where(np.eye(3), 0.5, 0.5 / 101)
    errors = np.where(np.eye(3), 0, 1 / np.sqrt(100 * share * (1 - share)))
    assert found.model["tolerance"] == pytest.approx(np.sqrt(errors**2 @ p**2).max(), rel=0.01)
    same = nb.nash_average(nb.payoffs(matches), tolerance=found.model["tolerance"])
    np.testing.assert_allclose(found.board.weights, same.weights)
    assert np.ptp(found.board.weights) < np.ptp(p) / 2
    many = nb.evaluate(nb.Matches.from_counts(10000 * games), noise="none", tolerance="noise")
    assert many.model["tolerance"] == pytest.approx(found.model["tolerance"] / 100, rel=0.05)
    assert np.ptp(many.board.weights) > 0.9 * np.ptp(p)


def test_noise_allows_for_challengers_of_a_single_winner() -> None:
    close = nb.Matches.from_counts([[0, 16, 25], [14, 0, 24], [5, 6, 0]])
    assert nb.evaluate(close, noise="none").support == ("agent 1",)
    found = nb.evaluate(close, noise="none", tolerance="noise")
    share = 16.5 / 31
    error = 1 / np.sqrt(30 * share * (1 - share))  # the second agent is within it of the first, the third is not
    assert found.model["tolerance"] == pytest.approx(error, rel=0.02)
    assert found.support == ("agent 1", "agent 2")


def test_noise_of_scores_counts_in_the_unit_of_tasks() -> None:
    S = np.array([[50.0, 10], [30, 20], [20, 30]])
    scores = nb.Scores.from_array(S, stderr=np.full(S.shape, 2.0))
    literal = nb.nash_average(scores, tolerance=0)
    found = nb.evaluate(scores, noise="none", tolerance="noise").model["tolerance"]
    p, q = literal.agent_weights, literal.task_weights
    errors = np.broadcast_to(2.0 / np.ptp(S, axis=0), S.shape)
    of_agents, of_tasks = np.sqrt(errors**2 @ q**2)[p > 0], np.sqrt(errors.T**2 @ p**2)[q > 0]
    assert found == pytest.approx(max(of_agents.max(), of_tasks.max()))


@pytest.mark.parametrize(
    "data",
    [
        nb.Scores.from_array([[1.0, 2.0], [2.0, 1.0]]),
        nb.Payoffs.from_array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]),
        nb.Matches.from_counts([[0, 9, 0, 1], [1, 0, 9, 0], [0, 1, 0, 9], [9, 0, 1, 0]]),  # two pairs never met
        nb.Matches.from_counts([[0, 1, 0], [0, 0, 9], [0, 1, 0]]),  # one win alone puts first who met one of the others
    ],
    ids=["scores", "payoffs", "matches", "newcomer"],
)
def test_noise_that_is_not_known_allows_nothing(data: Any) -> None:
    with pytest.raises(nb.InputError, match="tolerance='noise' needs"):
        nb.evaluate(data, noise="none", tolerance="noise")


def test_one_draw_is_refused_for_it_would_look_exact() -> None:
    with pytest.raises(nb.InputError, match="n_resamples is 1: one draw shows no noise"):
        nb.evaluate(suite(), n_resamples=1)
    two = nb.evaluate(suite(), n_resamples=2)
    assert not two.board.exact
    assert "2 draws are few: a probability may be off by 0.71, and the ends of intervals" in " ".join(two.warnings)
