"""The audit: importance, tasks, data, trust."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nashboard as nb
from arenas import check, data_of
from nashboard._types import Floats
from nashboard.evaluation.audit.audit import audit
from nashboard.evaluation.audit.importance import leave_out
from nashboard.evaluation.stress.experiment import LABELS, enter_agents, enter_in_scores

ATARI = pytest.param("atari", marks=pytest.mark.slow)


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", ["rock-paper-scissors", "alphago", ATARI, "suite-3", "suite-4"])
def test_every_bundled_data_set_is_audited_the_same_way_twice(name: str) -> None:
    first, second = (audit(data_of(name), n_resamples=3) for _ in range(2))
    assert first.to_json() == second.to_json()
    json.loads(first.to_json())
    assert "\n" not in repr(first)
    assert first.trust_table().title in str(first)
    for part in (*first.redundancy, *first.importance, *first.tasks, first.transitivity, first.data):
        assert "\n" not in repr(part)
        assert str(part)


# --- importance


def slow_leave_one_out(A: Floats) -> Floats:
    """Solve every game without one agent anew."""
    before = nb.nash_average(A).averages
    moved = []
    for k in range(len(A)):
        rest = np.delete(np.arange(len(A)), k)
        moved.append(np.abs(nb.nash_average(A[np.ix_(rest, rest)]).averages - before[rest]).max())
    return np.array(moved)


@pytest.mark.slow
@settings(max_examples=30)
@given(hnp.arrays(np.float64, (5, 5), elements=st.integers(-2, 2).map(float)))
def test_leaving_agents_out_is_that_of_solving_all_anew_also_in_degenerate_games(L: Floats) -> None:
    A = L - L.T
    found = leave_out("agents", A, nb.nash_average(A), "clone-invariant")
    assert found.score_moved == pytest.approx(slow_leave_one_out(A), abs=1e-8)


@pytest.mark.slow
@settings(max_examples=20)
@given(hnp.arrays(np.float64, (4, 3), elements=st.integers(0, 3).map(float)))
def test_leaving_tasks_out_is_that_of_solving_all_anew(S: Floats) -> None:
    result = nb.nash_average_scores(S)
    found = leave_out("tasks", S, result, "clone-invariant")
    for k in range(3):
        anew = nb.nash_average_scores(np.delete(S, k, axis=1)).skills
        assert found.score_moved[k] == pytest.approx(np.abs(anew - result.skills).max(), abs=1e-8)


def test_an_agent_without_weight_is_not_solved_for_and_changes_nothing() -> None:
    found = audit(data_of("alphago")).importance[0]
    assert found.solved == 1
    assert found.score_moved[1:].max() == 0
    assert found.effective_number == pytest.approx(1)


def test_atari_has_about_four_agents_and_four_tasks_that_matter() -> None:
    agents, tasks = audit(data_of("atari"), noise="none").importance
    assert agents.effective_number == pytest.approx(3.78, abs=0.01)
    assert tasks.effective_number == pytest.approx(3.82, abs=0.01)
    assert "human" in agents.decisive


def test_leaving_out_an_exact_clone_changes_nothing() -> None:
    rps = data_of("rock-paper-scissors")
    found = audit(enter_agents(rps, {"C": 2})).importance[0]
    moved = dict(zip(found.names, found.score_moved, strict=True))
    assert moved["C (copy 1)"] <= 1e-9
    assert moved["A"] > 0.1


# --- clones and relabelling


def test_clones_change_neither_effective_numbers_nor_what_others_decide() -> None:
    before = audit(data_of("atari"), noise="none")
    atari = data_of("atari")
    after = audit(enter_in_scores(atari, "tasks", {"venture": 5, "asterix": 3}), noise="none")
    for old, new in zip(before.importance, after.importance, strict=True):
        assert new.effective_number == pytest.approx(old.effective_number, abs=1e-8)
    agents = after.importance[0]
    assert agents.score_moved == pytest.approx(before.importance[0].score_moved, abs=1e-8)


def test_relabelling_agents_permutes_the_audit() -> None:
    alphago = data_of("alphago")
    first, second = audit(alphago), audit(alphago.select(alphago.agents[::-1]))
    assert second.importance[0].score_moved[::-1] == pytest.approx(first.importance[0].score_moved, abs=1e-9)
    assert [one.passed for one in first.checks] == [one.passed for one in second.checks]
    assert first.transitivity is not None
    assert second.transitivity is not None
    assert second.transitivity.share == pytest.approx(first.transitivity.share)


# --- tasks


def test_tasks_that_say_nothing_or_the_opposite_are_named() -> None:
    rng = np.random.default_rng(0)
    skill = np.linspace(0.1, 0.9, 20)
    columns = {
        "good 1": skill,
        "good 2": skill + rng.normal(0, 0.02, 20),
        "good 3": skill + rng.normal(0, 0.02, 20),
        "passed": np.full(20, 0.97) + np.linspace(0, 0.02, 20),
        "failed": np.linspace(0, 0.04, 20),
        "same": np.full(20, 0.5),
        "backwards": 1 - skill,
    }
    scores = nb.Scores.from_array(np.clip(np.column_stack(list(columns.values())), 0, 1), tasks=columns)
    found = audit(scores, n_resamples=20)
    status = {finding.task: finding.status for finding in found.tasks[0].findings}
    assert status["passed"] == "everybody passes"
    assert status["failed"] == "everybody fails"
    assert status["same"] == "the same for everybody"
    assert status["backwards"] == "wrong way"
    assert {status[f"good {k}"] for k in (1, 2, 3)} == {"fine"}
    assert not check(found, "every task separates agents").passed
    assert not check(found, "no task points the wrong way").passed
    assert any("left out" in note for note in found.notes)


def test_a_task_that_shares_no_skill_but_a_negative_correlation_points_the_wrong_way() -> None:
    rng = np.random.default_rng(3)
    skill = rng.normal(size=(18, 1))
    values = skill * rng.uniform(5, 15, 12) + 50 + rng.normal(0, 3, (18, 12))
    backwards = 22 - 4 * skill + rng.normal(0, 1, (18, 1))
    scores = nb.Scores.from_array(np.hstack([values, rng.normal(25, 3, (18, 2)), backwards]))
    found = audit(scores, n_resamples=20)
    assert found.tasks[0].tasks_with("wrong way") == ("task 15",)
    assert set(found.tasks[0].tasks_with("unknown")) == {"task 13", "task 14"}
    assert not check(found, "no task points the wrong way").passed


def test_a_task_shown_to_differ_by_less_than_noise_is_equivalent() -> None:
    rng = np.random.default_rng(1)
    truth = np.column_stack([np.linspace(0.2, 0.8, 40), np.linspace(0.2, 0.8, 40), np.full(40, 0.5)])
    scores = nb.Scores.from_array(rng.binomial(400, truth) / 400, n=np.full(truth.shape, 400.0))
    status = [finding.status for finding in audit(scores, n_resamples=20).tasks[0].findings]
    assert status == ["fine", "fine", "equivalent"]


def test_components_name_agents_and_tasks_at_their_ends() -> None:
    found = audit(data_of("suite-3"), n_resamples=20).tasks[0]
    first = found.components[0]
    assert (first.tasks_high, first.agents_high) == (("task 3",), ("C",))
    assert found.component_table().rows


# --- data and trust


def test_thin_one_sided_and_unconnected_matches_are_reported() -> None:
    W = np.zeros((6, 6))
    W[0, 1], W[1, 0], W[1, 2], W[2, 1], W[0, 3] = 50, 40, 20, 20, 3
    W[4, 5] = 2
    found = audit(nb.Matches.from_counts(W, ["a", "b", "c", "d", "e", "E"]), components="largest", n_resamples=20)
    assert not check(found, "one component").passed
    assert not check(found, "coverage").passed
    assert found.data.finding("one component").value == 2
    assert "'e'" in check(found, "every agent lost a game").sentence
    assert not check(found, "distinct names").passed
    assert not check(found, "enough games of every pair").passed
    assert any("largest group" in note for note in found.notes)


def test_a_one_sided_schedule_is_named() -> None:
    W = np.full((8, 8), 20.0)
    W[0, :], W[:, 0] = 1, 1
    W[0, 1], W[1, 0] = 400, 300
    finding = audit(nb.Matches.from_counts(W), n_resamples=2).data.finding("balanced schedules")
    assert "'agent 1'" in finding.shown
    assert not finding.good


def test_missing_scores_are_reported_and_modelled() -> None:
    rng = np.random.default_rng(3)
    S = np.linspace(0.2, 0.8, 5)[:, None] + 0.02 * rng.standard_normal((5, 6))
    S[2, 4] = np.nan
    found = audit(nb.Scores.from_array(S, stderr=np.full((5, 6), 0.02)), n_resamples=20)
    assert not check(found, "coverage").passed
    assert len(found.importance[1].names) == 6


def test_many_equilibria_fail_the_check_on_uniqueness() -> None:
    assert not check(audit(data_of("suite-4"), noise="none"), "one equilibrium").passed
    atari = audit(data_of("atari"), noise="none")
    assert check(atari, "one equilibrium").passed
    assert check(atari, "certified").passed


def test_every_column_of_numbers_has_a_meaning() -> None:
    for name in ("rock-paper-scissors", "atari"):
        for table in audit(data_of(name), noise="none").tables().values():
            for column, numeric in zip(table.columns, table.numeric(), strict=True):
                assert column.meaning or not numeric or column.name == "component"


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 0.05, float("nan")])
def test_a_level_that_is_no_confidence_is_refused(level: float) -> None:
    with pytest.raises(nb.InputError, match=r"it is a confidence between 0\.5 and 1, such as 0\.95"):
        audit(data_of("suite-3"), level=level)


def test_payoffs_are_audited_as_far_as_they_go() -> None:
    data = data_of("roshambo")
    found = audit(data)
    assert set(found.parts) == {"data", "importance agents"}
    assert found.transitivity is None
    assert not check(found, "known noise").passed
    json.loads(found.to_json())


@pytest.mark.slow
@settings(max_examples=12)
@given(hnp.arrays(np.float64, (5, 5), elements=st.integers(0, 6).map(float)))
def test_any_connected_matches_can_be_audited(W: Floats) -> None:
    W[np.arange(4), np.arange(1, 5)] += 1
    found = audit(nb.Matches.from_counts(W), n_resamples=3)
    json.loads(found.to_json())


@pytest.mark.slow
@settings(max_examples=12)
@given(hnp.arrays(np.float64, (4, 3), elements=st.integers(0, 4).map(float)))
def test_any_scores_that_are_not_all_constant_can_be_audited(S: Floats) -> None:
    S[:, 0] = [0, 1, 2, 3]
    json.loads(audit(nb.Scores.from_array(S), n_resamples=3).to_json())


def test_leaving_out_the_only_winner_decides_where_the_next_in_line_is_not_first() -> None:
    # D beats everybody, B loses least to it; without D, the circle of A, B and C ties
    A = np.array([[0, 1, -1, -2], [-1, 0, 1, -1], [1, -1, 0, -2], [2, 1, 2, 0]], dtype=float)
    rates = 1 / (1 + np.exp(-A))
    matches = nb.Matches.from_win_rates(rates, agents=list("ABCD"), games=1000)
    importance = nb.audit(matches, n_resamples=50).importance[0]
    assert dict(zip(importance.names, importance.new_winner, strict=True))["D"]
    assert importance.sentences()[1:] == (
        "D stays first whichever other agent is left out",
        "without D, the agent with the next highest Nash average is not first",
    )
    assert importance.checks()[0].passed  # D is first with and without any of the others


def test_the_largest_cluster_is_counted_and_named_where_it_has_many_of_the_games() -> None:
    rng = np.random.default_rng(4)
    for heavy, shown, good in ((0, "12 of 480 (2.5%)", True), (320, "332 of 800 (41.5%)", False)):
        voters = [f"v{k % 40}" for k in range(480)] + ["v0"] * heavy
        rows = {
            "model_a": rng.choice(["a", "b"], len(voters)).tolist(),
            "model_b": rng.choice(["c", "d"], len(voters)).tolist(),
            "winner": rng.choice(["model_a", "model_b"], len(voters)).tolist(),
            "voter": voters,
        }
        one = check(nb.audit(nb.read_matches(rows), n_resamples=2), "games of many clusters")
        assert one.passed is good
        assert one.sentence.startswith(f"games of the largest cluster, such as one voter: {shown}")


def test_an_undecided_first_place_is_not_said_to_stay_the_same() -> None:
    W = np.random.default_rng(2).binomial(30, 0.5, (6, 6))
    found = nb.evaluate(nb.Matches.from_counts(np.triu(W, 1) + np.tril(30 - W.T, -1)), n_resamples=50)
    assert found.verdict[0].startswith("First place is undecided")
    one = check(found.audit(), "first place does not depend on one agent")
    assert one.passed is None
    assert one.sentence == "first place is undecided: what leaving out one agent changes is not beyond noise"


def test_a_table_with_one_task_does_not_say_what_other_tasks_change() -> None:
    S = np.linspace(0.2, 0.8, 8)[:, None]
    one = check(audit(nb.Scores.from_array(S, n=np.full(S.shape, 300.0))), "first place does not depend on one task")
    assert (one.passed, one.sentence) == (None, "there is only one task")


def test_first_place_that_is_shared_depends_on_who_shares_it() -> None:
    others = "leaving out any one of A, B, C changes which of the other agents are first"
    for share, before in ((10, "by the estimates, "), (8, "")):  # P(top) of each is about 0.65, and 0.97
        wins = [[0, 30 - share, share], [share, 0, 30 - share], [30 - share, share, 0]]
        importance = nb.audit(nb.Matches.from_counts(wins, ["A", "B", "C"])).importance[0]
        assert importance.first == ("A", "B", "C")
        assert importance.sentences()[1] == before + others
        assert importance.checks()[0].passed is False


def test_scores_that_were_filled_in_do_not_count_as_measured() -> None:
    S = np.random.default_rng(0).random((4, 5))
    S[1, 2] = S[3, 0] = np.nan
    holes = nb.Scores.from_array(S)
    filled = holes.fill("mean")
    for data in (filled, filled.scale("range"), nb.evaluate(filled, n_resamples=2).data):
        assert isinstance(data, nb.Scores)
        quality = nb.audit(data, n_resamples=2).data
        assert quality.finding("coverage").shown == "18 of 20 scores (90.0%)"
        assert not quality.finding("coverage").good
        assert "2 of them filled in" in quality.finding("coverage").meaning
    assert filled.select(tasks=filled.tasks[3:]).filled.sum() == 0
    assert nb.audit(holes, n_resamples=2).data.finding("coverage").shown == quality.finding("coverage").shown


def test_a_check_of_copies_has_three_answers_and_names_every_method_that_merging_moves() -> None:
    unknown = check(nb.audit(data_of("alphago")), "agents are entered once")
    assert unknown.passed is None
    assert unknown.sentence == "the noise of these data is unknown"
    apart = nb.Matches.from_counts([[0, 900, 990], [100, 0, 900], [10, 100, 0]])
    assert check(nb.audit(apart, n_resamples=20), "agents are entered once").passed is True
    suite = data_of("suite-3")
    found = nb.audit(enter_in_scores(suite, "tasks", {"task 3": 2}), noise="none")
    twice = check(found, "tasks are entered once")
    assert twice.passed is False
    moved = [one.method for one in found.redundancy[1].merged if one.rank_moved or one.winner_changed]
    assert "uniform" in moved
    assert "nash" not in moved
    for method in moved:
        assert f" by {LABELS[method]}" in twice.sentence


def test_an_evaluation_audits_what_came_in_tasks_with_one_score_for_everybody_included() -> None:
    rng = np.random.default_rng(3)
    values = np.column_stack([rng.random((6, 4)), np.ones(6)])
    scores = nb.Scores.from_array(values, tasks=["a", "b", "c", "d", "yesno"], n=np.full((6, 5), 200.0))
    found = nb.evaluate(scores)
    assert found.task_board is not None
    assert "yesno" not in found.task_board.names
    assert found.audit().to_json() == nb.audit(scores).to_json()
    assert not check(found.audit(), "every task varies").passed
    assert found.stress(draws=0).notes == nb.stress(scores, draws=0).notes
