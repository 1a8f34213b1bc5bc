"""Latent skills and problems, and the two antisymmetric forms of a table of scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import ArpackNoConvergence

import nashboard as nb
from nashboard._types import Floats
from nashboard.algebra import latent as latent_module


@st.composite
def tables(draw: st.DrawFn) -> Floats:
    m, n = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["full", "integer", "averages", "low rank", "constant", "repeated"]))
    S = rng.normal(size=(m, n))
    if kind == "integer":
        S = rng.integers(-3, 4, size=(m, n)).astype(float)
    elif kind == "averages":
        S = rng.normal(size=m)[:, None] - rng.normal(size=n)
    elif kind == "low rank":
        S = np.outer(rng.normal(size=m), rng.normal(size=n))
    elif kind == "constant":
        S = np.full((m, n), 7.0)
    elif kind == "repeated":
        S = np.eye(m, n)
    scaled: Floats = (S + draw(st.sampled_from([0.0, 100.0]))) * 10.0 ** draw(st.integers(-8, 8))
    return scaled


@given(tables())
def test_averages_and_components_add_up_to_the_scores(S: Floats) -> None:
    found = nb.latent(S)
    k = min(S.shape) - 1
    size = np.abs(S).max()
    assert found.skills.shape == (len(S), k)
    assert found.problems.shape == (S.shape[1], k)
    assert found.strengths.shape == (k,)
    assert np.abs(found.reconstruct() - S).max() <= 1e-13 * size
    for basis in (found.skills, found.problems):
        assert np.abs(basis.T @ basis - np.eye(k)).max(initial=0.0) < 1e-13
    assert (np.diff(found.strengths) <= 0).all()
    assert found.averages_share + found.shares.sum() == pytest.approx(1, abs=1e-9)
    assert found.residual < 1e-12
    assert found.scaling == "as given"


@given(tables())
def test_skills_are_means_over_tasks_and_difficulties_minus_means_over_agents(S: Floats) -> None:
    found = nb.latent(S)
    size = np.abs(S).max()
    np.testing.assert_allclose(found.average_skills, S.mean(axis=1) - S.mean(), atol=1e-14 * size)
    np.testing.assert_allclose(found.average_difficulties, S.mean() - S.mean(axis=0), atol=1e-14 * size)


@given(tables())
def test_proposition_2_the_strengths_are_those_of_schur(S: Floats) -> None:
    found = nb.latent(S)
    rest = S - S.mean() - (found.average_skills[:, None] - found.average_difficulties)
    planes = nb.schur(nb.game_of_scores(rest))
    k = found.strengths.size
    np.testing.assert_allclose(planes.strengths[:k], found.strengths, atol=1e-12 * np.abs(S).max())
    assert np.abs(planes.strengths[k:]).max(initial=0.0) <= 1e-12 * np.abs(S).max()


def test_proposition_2_the_planes_are_those_of_schur() -> None:
    scores = nb.load_dataset("atari")
    assert isinstance(scores, nb.Scores)
    found = nb.latent(scores)
    m = len(scores.agents)
    centred = scores.scale("range").values - found.reconstruct(0)
    planes = nb.schur(nb.game_of_scores(centred))
    for t in range(found.strengths.size):
        u = np.concatenate([found.skills[:, t], np.zeros(len(scores.tasks))])
        v = np.concatenate([np.zeros(m), found.problems[:, t]])
        projector = planes.Q[:, 2 * t : 2 * t + 2] @ planes.Q[:, 2 * t : 2 * t + 2].T
        np.testing.assert_allclose(projector @ u, u, atol=1e-10)
        np.testing.assert_allclose(projector @ v, v, atol=1e-10)


@given(tables())
def test_averages_explain_the_scores_exactly_where_the_curl_vanishes_and_only_there(S: Floats) -> None:
    curl = np.abs(nb.curl(nb.flow_of_scores(S))).max()
    assert nb.latent(S).averages_are_exact == bool(curl <= 1e-11 * np.abs(S).max())


@given(tables())
def test_the_flow_of_scores_is_ratings_plus_the_game_of_what_they_leave_over(S: Floats) -> None:
    found = nb.latent(S)
    r = np.concatenate([found.average_skills, found.average_difficulties])
    rest = S - found.reconstruct(0)
    size = np.abs(S).max()
    A = nb.flow_of_scores(S)
    assert (A == -A.T).all()
    np.testing.assert_allclose(A, nb.grad(r) + nb.game_of_scores(rest), atol=1e-13 * size)
    np.testing.assert_allclose(nb.div(A), r, atol=1e-13 * size)


def test_the_game_of_scores_has_zeros_within_agents_and_within_tasks() -> None:
    assert nb.game_of_scores([[1, 2, 3]]).tolist() == [
        [0, 1, 2, 3],
        [-1, 0, 0, 0],
        [-2, 0, 0, 0],
        [-3, 0, 0, 0],
    ]


@given(tables(), st.integers(0, 7))
def test_fewer_components_are_the_first_of_all(S: Floats, k: int) -> None:
    k = min(k, min(S.shape) - 1)
    found, part = nb.latent(S), nb.latent(S, k)
    gap = found.strengths[k - 1] - found.strengths[k] if 0 < k < found.strengths.size else np.inf
    assert (part.strengths == found.strengths[:k]).all() or gap < 1e-12 * np.abs(S).max()
    if gap > 1e-12 * np.abs(S).max():
        assert (part.skills == found.skills[:, :k]).all()
        assert (part.problems == found.problems[:, :k]).all()


@given(tables())
def test_the_task_furthest_out_is_positive(S: Floats) -> None:
    found = nb.latent(S)
    for t in range(found.strengths.size):
        v = found.problems[:, t]
        apart = np.abs(np.diff(found.strengths)) > 1e-9 * np.abs(S).max()
        if found.strengths[t] > 0 and apart.all():
            assert v[np.argmax(np.abs(v) >= (1 - 1e-8) * np.abs(v).max())] > 0


def test_raw_scores_are_scaled_by_range_and_scaled_scores_stay() -> None:
    raw = nb.load_dataset("suite-3")
    assert isinstance(raw, nb.Scores)
    assert nb.latent(raw).scaling == "range"
    np.testing.assert_array_equal(nb.latent(raw).skills, nb.latent(raw.scale("range")).skills)
    assert nb.latent(raw.scale("zscore")).scaling == "zscore"
    assert nb.latent(raw.scale("none")).scaling == "none"
    np.testing.assert_array_equal(nb.latent(raw.scale("none")).strengths, nb.latent(raw.values).strengths)
    assert nb.latent(raw.values).scaling == "as given"


def test_missing_scores_are_refused() -> None:
    with pytest.raises(nb.InputError, match="1 of 4 scores are missing"):
        nb.latent(np.array([[1, np.nan], [2, 3]]))


def test_components_name_their_ends() -> None:
    # Agent a is good at maths, b at words, c at neither or both.
    S = nb.Scores.from_array(
        [[9, 8, 1], [1, 2, 9], [5, 5, 5]], agents=["a", "b", "c"], tasks=["algebra", "geometry", "poetry"]
    )
    part = nb.latent(S.scale("none")).component(0)
    assert part.tasks_high == ("poetry",)
    assert part.tasks_low == ("algebra", "geometry")
    assert part.agents_high == ("b",)
    assert part.agents_low == ("a",)
    with pytest.raises(nb.InputError, match="there is no component 2"):
        nb.latent(S).component(2)


@pytest.mark.parametrize("k", [-1, 4, 1.0, True])
def test_a_wrong_number_of_components_is_refused(k: Any) -> None:
    with pytest.raises(nb.InputError, match="0 to 3"):
        nb.latent(np.eye(3), k)


def test_products_alone_give_the_same_components(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    S = rng.normal(size=(130, 6)) @ rng.normal(size=(6, 150)) + 0.1 * rng.normal(size=(130, 150))
    part = nb.latent(S, 3)
    monkeypatch.setattr(latent_module, "FEW", 1000)
    full = nb.latent(S, 3)
    np.testing.assert_allclose(part.strengths, full.strengths, rtol=1e-12)
    np.testing.assert_allclose(part.skills, full.skills, atol=1e-8)
    np.testing.assert_allclose(part.problems, full.problems, atol=1e-8)
    assert part.residual < 1e-9


def test_components_that_products_miss_come_from_the_whole_decomposition(monkeypatch: pytest.MonkeyPatch) -> None:
    # one strength five times over: the products of one vector see it once
    rng = np.random.default_rng(1)
    U, V = (np.linalg.qr(rng.normal(size=(n, 9)))[0] for n in (130, 140))
    S = (U * [7, 7, 7, 7, 7, 5, 4, 3, 2]) @ V.T
    part = nb.latent(S, 6)
    monkeypatch.setattr(latent_module, "FEW", 1000)
    full = nb.latent(S, 6)
    np.testing.assert_allclose(part.strengths, full.strengths, rtol=1e-10)
    np.testing.assert_allclose(part.reconstruct(), full.reconstruct(), atol=1e-9)


def test_a_search_that_does_not_settle_falls_back_to_the_whole_decomposition(monkeypatch: pytest.MonkeyPatch) -> None:
    S = np.random.default_rng(2).normal(size=(130, 140))
    full = nb.latent(S).strengths[:2]
    tried = []
    for failing in (ArpackNoConvergence("no", np.zeros(0), np.zeros((0, 0))), None):

        def svds(R: Any, k: int, failing: Any = failing, **ignored: Any) -> Any:
            tried.append(failing)
            if failing is not None:
                raise failing
            return np.zeros((130, k)), np.ones(k), np.zeros((k, 140))

        monkeypatch.setattr(latent_module, "svds", svds)
        np.testing.assert_allclose(nb.latent(S, 2).strengths, full)
    assert len(tried) == 2


def test_results_show_themselves() -> None:
    scores = nb.load_dataset("atari")
    assert isinstance(scores, nb.Scores)
    found = nb.latent(scores, 2)
    assert repr(found).startswith("Latent(20 agents x 54 tasks, 2 components, averages explain 57.0%")
    assert "tasks high" in str(found)
    assert "<table>" in found._repr_html_()
    assert len(found.to_dict()["components"]) == 2
    assert "human" in found.component(0).agents_high
