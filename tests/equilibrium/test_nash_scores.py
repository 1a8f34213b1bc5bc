"""Nash averages of agents against tasks: laws, published numbers, and an exact twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import nashboard as nb
from equilibrium_games import TABLES, Matrix, rounded, seeds, sides, thin, uniform, zero_one
from reference_equilibrium import optimal_vertices, uphill

TIGHT = 1e-9
Family = Callable[[int, int, int], Matrix]
tables = pytest.mark.parametrize("family", TABLES, ids=lambda family: family.__name__)


def table(name: str) -> nb.Scores:
    data = nb.load_dataset(name)
    assert isinstance(data, nb.Scores)
    return data


@tables
@given(seed=seeds, m=sides, n=sides)
@settings(max_examples=4)
def test_every_family_is_solved_to_its_certificates(family: Family, seed: int, m: int, n: int) -> None:
    S = family(seed, m, n)
    result = nb.nash_average_scores(S)
    allowed = TIGHT * np.ptp(S) + 1e-12 * np.abs(S).max() * (np.ptp(S) == 0)
    p, q = result.agent_weights, result.task_weights
    assert result.exploitability <= allowed
    assert result.residual <= TIGHT
    assert min(p.min(), q.min()) >= 0
    assert abs(p.sum() - 1) <= 1e-14
    assert abs(q.sum() - 1) <= 1e-14
    assert (S @ q).max() - (S.T @ p).min() <= 2 * allowed
    np.testing.assert_allclose(result.skills, S @ q, rtol=1e-14)
    np.testing.assert_allclose(result.difficulties, -S.T @ p, rtol=1e-14)
    np.testing.assert_allclose(result.skills[p > 0], result.value, atol=allowed)
    np.testing.assert_allclose(-result.difficulties[q > 0], result.value, atol=allowed)


@tables
@given(seed=seeds, m=sides, n=sides, data=st.data())
@settings(max_examples=4)
def test_cloned_agents_and_tasks_change_nothing(family: Family, seed: int, m: int, n: int, data: st.DataObject) -> None:
    S = family(seed, m, n)
    rows, columns = (
        np.concatenate([np.arange(k), np.array(data.draw(st.lists(st.integers(0, k - 1), max_size=8)), dtype=np.intp)])
        for k in (m, n)
    )
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(rows), rng.permutation(columns)
    before, after = nb.nash_average_scores(S), nb.nash_average_scores(S[np.ix_(rows, columns)])
    assert after.value == pytest.approx(before.value, abs=TIGHT * max(np.ptp(S), 1e-3))
    for who, old, new, cells in (
        (rows, before.agent_weights, after.agent_weights, S),
        (columns, before.task_weights, after.task_weights, S.T),
    ):
        group = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
        shared = np.bincount(group[who], weights=new)
        np.testing.assert_allclose(shared, np.bincount(group, weights=old), atol=TIGHT)
        np.testing.assert_allclose(new, (shared / np.bincount(group[who]))[group[who]], atol=1e-15)
    allowed = TIGHT * max(np.ptp(S), 1e-3) + 8 * np.spacing(np.abs(S).max())  # a sum of many copies is rounded
    np.testing.assert_allclose(after.skills, before.skills[rows], atol=allowed)
    np.testing.assert_allclose(after.difficulties, before.difficulties[columns], atol=allowed)


@given(
    seed=seeds,
    m=st.integers(1, 4),
    n=st.integers(1, 4),
    family=st.sampled_from([zero_one, thin]),
    plain=st.booleans(),
)
@settings(max_examples=6)
def test_small_tables_agree_with_exact_arithmetic(seed: int, m: int, n: int, family: Family, plain: bool) -> None:
    S = family(seed, m, n)
    result = nb.nash_average_scores(S, selection="maxent" if plain else "clone-invariant")
    value, agents = optimal_vertices(S)
    _, tasks = optimal_vertices(-S.T)
    assert result.value == pytest.approx(float(value), abs=1e-12)
    for weights, vertices, cells in (
        (result.agent_weights, agents, S),
        (result.task_weights, tasks, S.T),
    ):
        copies = np.array([(cells == row).all(axis=1).sum() for row in cells], dtype=float)
        assert uphill(weights, vertices, None if plain else 1 / copies) <= TIGHT
        assert [k for k in range(len(cells)) if weights[k] > 0] == [
            k for k in range(len(cells)) if any(u[k] > 0 for u in vertices)
        ]


@given(seed=seeds, m=st.integers(1, 25), n=st.integers(1, 25), family=st.sampled_from([uniform, rounded]))
@settings(max_examples=4)
def test_a_linear_program_finds_the_same_value(seed: int, m: int, n: int, family: Family) -> None:
    S = family(seed, m, n)
    program = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.column_stack([-S.T, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    assert nb.nash_average_scores(S).value == pytest.approx(-float(program.fun or 0), abs=1e-9)


@given(seed=seeds, m=sides, n=sides)
@settings(max_examples=4)
def test_swapping_the_sides_turns_the_answer_round(seed: int, m: int, n: int) -> None:
    S = rounded(seed, m, n)
    one, other = nb.nash_average_scores(S), nb.nash_average_scores(-S.T)
    assert other.value == pytest.approx(-one.value, abs=1e-12)
    np.testing.assert_allclose(other.task_weights, one.agent_weights, atol=TIGHT)
    np.testing.assert_allclose(other.agent_weights, one.task_weights, atol=TIGHT)


@given(seed=seeds, m=sides, n=sides, size=st.floats(1e-3, 1.0))
@settings(max_examples=4)
def test_p2_an_equilibrium_of_perturbed_scores_is_nearly_one_of_the_original(
    seed: int, m: int, n: int, size: float
) -> None:
    S = zero_one(seed, m, n)
    E = size * np.random.default_rng(seed).uniform(-1, 1, size=(m, n))
    result = nb.nash_average_scores(S + E)
    p, q = result.agent_weights, result.task_weights
    played = p @ S @ q
    assert (S @ q).max() - played <= 2 * np.abs(E).max() + 1e-12
    assert played - (S.T @ p).min() <= 2 * np.abs(E).max() + 1e-12


def test_p3_transitive_scores_put_weight_on_the_best_agents_and_the_hardest_tasks() -> None:
    skill, difficulty = np.array([1.0, 3.0, 3.0, 2.0]), np.array([5.0, 0.0, 5.0])
    result = nb.nash_average_scores(skill[:, None] - difficulty)
    np.testing.assert_allclose(result.agent_weights, [0, 0.5, 0.5, 0], atol=1e-15)
    np.testing.assert_allclose(result.task_weights, [0.5, 0, 0.5], atol=1e-15)


def test_p3_equal_skills_make_agents_uniform() -> None:
    S = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    result = nb.nash_average_scores(S, selection="maxent")
    np.testing.assert_allclose(result.agent_weights, 1 / 3, atol=1e-14)
    np.testing.assert_allclose(result.task_weights, 1 / 3, atol=1e-14)


def test_the_atari_table_has_its_published_equilibrium() -> None:
    # data/SOURCES.md: computed by hand from the published scores
    result = nb.nash_average_scores(table("atari"))
    assert result.scaling == "range"
    assert result.value == pytest.approx(0.3473772, abs=5e-8)
    agents = dict(zip(result.agents, result.agent_weights, strict=True))
    tasks = dict(zip(result.tasks, result.task_weights, strict=True))
    published = {"rainbow": 0.3219, "human": 0.3214, "popart_ddqn": 0.2315, "prioritized_ddqn_rank": 0.1253}
    hardest = {"double_dunk": 0.3237, "centipede": 0.2797, "montezuma_revenge": 0.2666, "asterix": 0.1300}
    assert {name: round(float(weight), 4) for name, weight in agents.items() if weight > 0} == published
    assert {name: round(float(weight), 4) for name, weight in tasks.items() if weight > 0} == hardest
    assert result.unique
    assert result.agent_ranks[result.agents.index("human")] == 1


def test_human_has_its_published_weight_in_the_table_of_one_start_regime() -> None:
    result = nb.nash_average_scores(table("atari-noop"))
    assert result.agent_weights[result.agents.index("human")] == pytest.approx(0.2271, abs=5e-5)


def test_entering_a_task_in_two_versions_does_not_change_who_is_first() -> None:
    three, four = (nb.nash_average_scores(table(name)) for name in ("suite-3", "suite-4"))
    assert three.agent_support == four.agent_support == ("A", "C")
    np.testing.assert_allclose(three.skills[[0, 2]], 0.5, atol=1e-14)


def test_tasks_that_are_copies_in_another_unit_are_clones_after_scaling() -> None:
    scores = np.array([[0.1, 0.7, 10.0], [0.3, 0.2, 30.0], [0.9, 0.4, 90.0]])
    result = nb.nash_average_scores(nb.Scores.from_array(scores))
    assert result.task_clone_groups == (("task 1", "task 3"),)


def test_arrays_are_used_as_they_are_and_scaled_scores_are_not_scaled_again() -> None:
    S = np.array([[3.0, 10.0], [1.0, 20.0]])
    assert nb.nash_average_scores(S).scaling == "as given"
    ranks = nb.Scores.from_array(S).scale("rank")
    result = nb.nash_average_scores(ranks)
    assert result.scaling == "rank"
    np.testing.assert_allclose(result.task_weights, 0.5, atol=1e-15)


def test_missing_scores_are_refused_with_their_count() -> None:
    with pytest.raises(nb.InputError, match="1 of 4 scores are missing"):
        nb.nash_average_scores([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(nb.InputError, match="1 of 4 scores are missing"):
        nb.nash_average_scores(nb.Scores.from_array([[1.0, np.nan], [2.0, 3.0]]))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([[1.0, np.inf]], "a score must be finite"),
        ([1.0, 2.0], "two axes"),
        (np.zeros((0, 3)), "at least one agent and one task"),
        ([["a"]], "array of numbers"),
    ],
)
def test_wrong_input_is_explained(data: Any, words: str) -> None:
    with pytest.raises(nb.InputError, match=words):
        nb.nash_average_scores(data)


def test_margins_entropies_and_texts_fit_together() -> None:
    result = nb.nash_average_scores(table("atari"))
    np.testing.assert_allclose(result.agent_margins, np.maximum(result.value - result.skills, 0))
    np.testing.assert_allclose(result.task_margins, np.maximum(-result.difficulties - result.value, 0))
    assert result.entropy == pytest.approx(result.agent_entropy + result.task_entropy)
    assert result.effective_agents == pytest.approx(np.exp(result.agent_entropy))
    assert result.effective_tasks == pytest.approx(np.exp(result.task_entropy))
    assert set(result.excluded_agents) == set(result.agents) - set(result.agent_support)
    assert set(result.excluded_tasks) == set(result.tasks) - set(result.task_support)
    assert (len(result.excluded_agents), len(result.excluded_tasks)) == (16, 50)
    assert "rainbow" in str(result)
    assert "double_dunk" in result._repr_html_()
    assert result.to_dict()["value"] == result.value
    assert repr(result).startswith("ScoreNashAverage(20 agents x 54 tasks, value 0.3474, unique")
    assert "as given" in nb.nash_average_scores([[1.0]]).notes()[0]
