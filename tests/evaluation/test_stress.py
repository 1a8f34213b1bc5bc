"""The stress test: what clones do, and what they cannot do."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit

import nashboard as nb
from arenas import data_of, experiment, problem
from nashboard.evaluation.stress.experiment import Experiment, enter_agents, enter_in_scores
from nashboard.evaluation.stress.stress import Stress, stress

SMALL_COUNTS = st.integers(0, 3).map(float)  # few values: ties, clones and many equilibria are common


def by_method(found: Stress, method: str) -> list[Any]:
    return [row for row in found.exact if row.moved.method == method]


def test_the_elo_ratings_of_a_sparse_log_are_those_of_elo() -> None:
    games = [("a", "b", 1.0)] * 6 + [("b", "a", 1.0)] * 3 + [("b", "c", 1.0)] * 5 + [("c", "a", 1.0)] * 2
    matches = nb.Matches.from_games(*zip(*games, ("newcomer", "a", 1.0), strict=True))
    found = stress(matches, n_resamples=10, draws=0, targets=[])
    (said,) = (result for result in found.before if result.method == "elo")
    ratings = nb.elo(matches).ratings
    np.testing.assert_allclose(said.scores, ratings - ratings.mean(), atol=1e-6)


def league_with_sides(seed: int = 4) -> nb.Matches:
    """Return a league in which the first side wins more often, and the first agent is nearly always first."""
    rng = np.random.default_rng(seed)
    names = np.array(["a", "b", "c", "d", "e"])
    one, two = rng.integers(5, size=(2, 900))
    one, two = np.minimum(one, two)[one != two], np.maximum(one, two)[one != two]
    swap = rng.random(one.size) < 0.1
    home, away = np.where(swap, two, one), np.where(swap, one, two)
    won = rng.random(one.size) < expit(0.8)
    table = {"home": names[home].tolist(), "away": names[away].tolist(), "result": np.where(won, "1-0", "0-1").tolist()}
    return nb.read_matches(table)


def test_elo_takes_out_the_advantage_of_the_first_side_as_the_board_does() -> None:
    matches = league_with_sides()
    found = stress(matches, n_resamples=10, draws=0, targets=[])
    (said,) = (result for result in found.before if result.method == "elo")
    ratings = nb.elo(matches, first_advantage=True).ratings
    np.testing.assert_allclose(said.scores, ratings - ratings.mean(), atol=1e-6)
    assert np.ptp(nb.elo(matches).ratings) > 2 * np.ptp(said.scores)


def test_noisy_copies_leave_sides_and_clusters_of_the_games_that_were_played() -> None:
    matches = league_with_sides()
    entered = enter_agents(matches, {"c": 2}, np.random.default_rng(1), np.zeros((5, 5)))
    assert matches.sides is not None
    assert entered.sides is not None
    assert entered.sides.played.sum() == matches.sides.played.sum()
    old = entered.select(matches.agents)
    np.testing.assert_array_equal(old.wins, matches.wins)
    assert old.sides is not None
    np.testing.assert_array_equal(old.sides.first, matches.sides.first)
    votes = {
        "model_a": ["m0", "m1", "m2"] * 20,
        "model_b": ["m1", "m2", "m0"] * 20,
        "winner": ["model_a"] * 60,
        "voter": ["x", "x", "y"] * 20,
    }
    clustered = nb.read_matches(votes, cluster="voter")
    more = enter_agents(clustered, {"m0": 1}, np.random.default_rng(1), np.zeros((3, 3)))
    assert clustered.clusters is not None
    assert more.clusters is not None
    assert more.clusters.size == clustered.clusters.size
    assert more.clusters.wins.sum() == clustered.clusters.wins.sum()


def test_a_second_copy_of_c_moves_elo_by_71_9_points_as_proposition_1_says() -> None:
    # appendix A prints 63; the stationary point of proposition 1 is 71.9 (see the reading notes)
    found = stress(data_of("rock-paper-scissors"), of=["C"], copies=[1], targets=[], draws=0, noise="none")
    (row,) = by_method(found, "elo")
    assert row.moved.score_moved == pytest.approx(71.9, abs=0.1)
    ratings = nb.elo(enter_agents(data_of("rock-paper-scissors"), {"C": 1}), prior=0).ratings
    assert ratings == pytest.approx([-71.9, 71.9, 0, 0], abs=0.05)
    assert row.moved.winners_before == ("A", "B", "C")
    assert row.moved.winners_after == ("B",)


def test_entering_task_3_again_changes_the_winner_from_a_to_c_as_in_appendix_a() -> None:
    found = stress(data_of("suite-3").scale("none"), of=["task 3"], copies=[1], draws=0, noise="none")
    (uniform,), (nash,) = by_method(found, "uniform"), by_method(found, "nash")
    assert (uniform.moved.winners_before, uniform.moved.winners_after) == (("A",), ("C",))
    assert not nash.moved.winner_changed
    assert found.nash_unmoved


def test_the_two_suites_of_appendix_a_have_the_winners_that_the_paper_prints() -> None:
    for name, winner in (("suite-3", "A"), ("suite-4", "C")):
        game = experiment(data_of(name).scale("none"))
        assert game.exact("uniform", np.zeros(len(game.entries), dtype=np.intp)).winners == (winner,)


@pytest.mark.parametrize(
    "name", ["rock-paper-scissors", "alphago", pytest.param("atari", marks=pytest.mark.slow), "suite-4"]
)
@pytest.mark.parametrize("kind", ["agents", "tasks"])
def test_nash_is_unmoved_by_exact_clones_of_bundled_data(name: str, kind: Any) -> None:
    data = data_of(name)
    if isinstance(data, nb.Matches) and kind == "tasks":
        return
    found = stress(data, kind=kind, copies=[1, 100], targets=[], draws=0, n_resamples=5)
    assert found.nash_moved == 0.0
    assert found.certificate <= 1e-9


@given(hnp.arrays(np.float64, (4, 4), elements=SMALL_COUNTS), st.integers(0, 3), st.integers(1, 9))
def test_nash_is_unmoved_by_clones_entered_into_degenerate_matches(W: Any, who: int, copies: int) -> None:
    W = W + np.triu(np.ones((4, 4)), k=1)  # all pairs met
    matches = nb.Matches.from_counts(W)
    before = nb.nash_average(matches)
    after = nb.nash_average(enter_agents(matches, {matches.agents[who]: copies}))
    assert after.averages[:4] == pytest.approx(before.averages, abs=1e-9 * max(before.scale, 1))
    others = [k for k in range(4) if k != who]
    assert after.weights[others] == pytest.approx(before.weights[others], abs=1e-9)
    shares = after.weights[[who, *range(4, 4 + copies)]]
    assert shares.sum() == pytest.approx(before.weights[who], abs=1e-9)
    assert np.ptp(shares) <= 1e-12


@given(
    hnp.arrays(np.float64, (3, 4), elements=SMALL_COUNTS),
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(1, 9),
)
def test_nash_is_unmoved_by_clones_entered_into_degenerate_scores(S: Any, agent: int, task: int, copies: int) -> None:
    scores = nb.Scores.from_array(S).scale("none")
    before = nb.nash_average_scores(scores)
    for kind, name in (("agents", scores.agents[agent]), ("tasks", scores.tasks[task])):
        after = nb.nash_average_scores(enter_in_scores(scores, kind, {name: copies}))
        assert after.skills[:3] == pytest.approx(before.skills, abs=1e-9)
        assert after.difficulties[:4] == pytest.approx(before.difficulties, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=8)
@given(hnp.arrays(np.float64, (4, 4), elements=SMALL_COUNTS))
def test_any_connected_matches_can_be_stressed_and_nash_holds(W: Any) -> None:
    W[np.arange(3), np.arange(1, 4)] += 1
    found = stress(nb.Matches.from_counts(W), copies=[1, 4], draws=1, most=4, n_resamples=3)
    assert found.nash_unmoved
    json.loads(found.to_json())


@pytest.mark.slow
@settings(max_examples=8)
@given(hnp.arrays(np.float64, (4, 3), elements=SMALL_COUNTS), st.sampled_from(["agents", "tasks"]))
def test_any_scores_can_be_stressed_and_nash_holds(S: Any, kind: Any) -> None:
    S[:, 0] = [0, 1, 2, 3]
    found = stress(nb.Scores.from_array(S), kind=kind, copies=[1, 4], most=4, n_resamples=3)
    assert found.nash_unmoved
    json.loads(found.to_json())


def test_luck_that_cannot_reach_the_winner_is_said_not_to_move_nash() -> None:
    W = np.array([[0, 90, 90], [10, 0, 50], [10, 50, 0]])
    found = stress(nb.Matches.from_counts(W), of=["agent 3"], copies=[1], targets=[], draws=3, noise="none")
    assert any("did not move the board either" in line for line in found.verdict())


def test_the_paper_s_degenerate_cycle_is_unmoved_where_plain_maximum_entropy_moves() -> None:
    # appendix F: the cyclic 4 x 4 matrix has many equilibria; see the reading notes on proposition 4
    P = np.full((4, 4), 0.5)
    for k in range(4):
        P[k, (k + 1) % 4], P[(k + 1) % 4, k] = 0.9, 0.1
    matches = nb.Matches.from_win_rates(P, games=10)
    entered = enter_agents(matches, {"agent 1": 1})
    plain, ours = nb.nash_average(entered, selection="maxent"), nb.nash_average(entered)
    assert plain.weights == pytest.approx([0.1464, 0.2071, 0.2929, 0.2071, 0.1464], abs=1e-4)
    assert ours.weights == pytest.approx([1 / 8, 1 / 4, 1 / 4, 1 / 4, 1 / 8], abs=1e-9)
    assert stress(matches, of=["agent 1"], copies=[1], targets=[], draws=0).nash_unmoved


def test_entering_clones_keeps_every_count_and_makes_clone_games_even() -> None:
    matches = nb.Matches.from_counts([[0, 9, 2], [1, 0, 7], [8, 3, 0]], ["a", "b", "c"], draws=np.zeros((3, 3)))
    entered = enter_agents(matches, {"a": 2, "c": 1})
    assert entered.agents == ("a", "b", "c", "a (copy 1)", "a (copy 2)", "c (copy 1)")
    P = entered.win_rates()
    np.fill_diagonal(P, 0.5)
    index = [0, 1, 2, 0, 0, 2]
    original = matches.win_rates()
    np.fill_diagonal(original, 0.5)
    assert pytest.approx(original[np.ix_(index, index)]) == P


def test_names_of_clones_avoid_names_that_are_taken() -> None:
    matches = nb.Matches.from_counts([[0, 1], [1, 0]], ["a", "a (copy 1)"])
    assert enter_agents(matches, {"a": 1}).agents == ("a", "a (copy 1)", "a (copy 2)")


def test_an_exact_clone_s_results_equal_its_multiplicity_under_the_uniform_average() -> None:
    game = experiment(data_of("alphago"))
    copies = np.arange(8)
    entered = nb.payoffs(enter_agents(data_of("alphago"), dict(zip(game.entries, range(8), strict=True))))
    assert game.exact("uniform", copies).scores == pytest.approx(nb.div(entered)[:8])


def test_noisy_clones_have_whole_games_and_the_same_seed_gives_the_same() -> None:
    first, second = (enter_agents(data_of("rock-paper-scissors"), {"A": 3}, np.random.default_rng(1)) for _ in range(2))
    assert (first.wins == np.rint(first.wins)).all()
    assert (first.games == 10).all()
    assert (first.wins == second.wins).all()
    assert first.select("ABC").wins.tolist() == data_of("rock-paper-scissors").wins.tolist()


def test_noisy_clones_play_with_the_strength_of_a_draw_and_do_not_repeat_the_luck_of_the_original() -> None:
    rng = np.random.default_rng(4)
    won = np.triu(rng.binomial(6, 0.5, (6, 6)), 1)
    won[0, 1:] = 6  # equal agents, of which the first has won all of its games
    matches = nb.Matches.from_counts(won + np.triu(6 - won, 1).T)
    game = Experiment.of(problem(matches, n_resamples=100))
    shares, odds = [], game.problem.draws.payoffs
    assert odds is not None
    for seed in range(40):
        entered = game.enter(np.array([10, 0, 0, 0, 0, 0]), np.random.default_rng(seed))
        assert isinstance(entered, nb.Matches)
        pairs = (entered.pairs[:, 0] > 0) & (entered.pairs[:, 0] < 6) & (entered.pairs[:, 1] >= 6)
        shares.append(entered.losses[pairs].sum() / entered.games[pairs].sum())
    label = game.problem.classes.label
    expected = expit(odds[:, label[0]][:, label[1:]]).mean(axis=1)
    assert np.mean(shares) < 0.98
    assert np.mean(shares) == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(40))


def test_noisy_clones_move_nash_and_the_result_says_so() -> None:
    found = stress(data_of("rock-paper-scissors"), copies=[1, 10], targets=[], draws=3, n_resamples=50)
    noisy = [row for row in found.noisy if row.method == "nash"]
    assert max(row.score_most for row in noisy) > 0.01
    assert any("they can move the board" in line for line in found.verdict())


def test_noise_of_scores_comes_from_numbers_of_items() -> None:
    rng = np.random.default_rng(3)
    scores = nb.Scores.from_array(rng.integers(20, 80, (5, 6)) / 100, n=np.full((5, 6), 100.0))
    found = stress(scores, copies=[5], draws=2, targets=[], n_resamples=20)
    assert {row.method for row in found.noisy} == {"uniform", "elo", "nash"}
    assert all(row.score_most > 0 for row in found.noisy)


def test_copies_of_the_task_into_which_items_were_pooled_move_nothing() -> None:
    rng = np.random.default_rng(11)
    answers = rng.random((7, 60)) < expit(rng.normal(0, 1, (7, 1)) - rng.normal(0, 1, 60))
    found = stress(nb.Scores.from_array(answers.astype(float)), copies=[1, 5], targets=[], draws=0, n_resamples=50)
    assert found.nash_moved == 0.0


def test_without_known_noise_there_are_no_noisy_clones_and_a_note() -> None:
    found = stress(data_of("suite-3"), copies=[1], targets=[])
    assert found.noisy == ()
    assert any("no noisy copies" in note for note in found.notes)


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", ["rock-paper-scissors", "suite-3"])
def test_the_same_seed_gives_the_same_bytes(name: str) -> None:
    data = data_of(name)
    first, second = (stress(data, copies=[1, 3], draws=2, rng=5, n_resamples=20).to_json() for _ in range(2))
    assert first == second
    json.loads(first)


def test_relabelling_agents_changes_names_only() -> None:
    matches = data_of("alphago")
    turned = matches.select(matches.agents[::-1])
    options: dict[str, Any] = {"of": ["Zen"], "copies": [3], "targets": ["alpha_vp"], "draws": 0}
    first, second = stress(matches, **options), stress(turned, **options)
    for a, b in zip(first.exact, second.exact, strict=True):
        assert a.moved.score_moved == pytest.approx(b.moved.score_moved, abs=1e-6)
        assert set(a.moved.winners_after) == set(b.moved.winners_after)


def test_exact_copies_move_nothing_where_pairs_never_met() -> None:
    W = np.array([[0, 6, 3, 0], [4, 0, 7, 2], [5, 3, 0, 8], [0, 6, 2, 0]])
    found = stress(nb.Matches.from_counts(W), of=["agent 2"], copies=[1, 10], targets=[], draws=0)
    assert {row.moved.method for row in found.exact} == {"uniform", "elo", "nash"}
    assert found.nash_moved == 0.0


def test_cloned_agents_move_the_board_of_tasks() -> None:
    found = stress(data_of("atari"), kind="agents", copies=[10], targets=[], draws=0, noise="none")
    assert found.board == "tasks"
    assert {row.moved.method for row in found.exact} == {"uniform", "nash"}


def test_the_adversary_finds_a_task_whose_clones_change_the_atari_winner() -> None:
    found = stress(data_of("atari"), copies=[10], targets=[], draws=0, noise="none")
    assert by_method(found, "uniform")[0].moved.winner_changed
    assert not by_method(found, "nash")[0].moved.winner_changed


def test_random_choice_depends_on_the_seed_alone() -> None:
    chosen = [
        stress(data_of("atari"), choice="random", copies=[1], targets=[], draws=0, rng=k, noise="none").cloned
        for k in (0, 0, 1)
    ]
    assert chosen[0] == chosen[1] != chosen[2]


def test_text_holds_the_verdict_and_every_table() -> None:
    found = stress(data_of("rock-paper-scissors"), copies=[1], draws=2, n_resamples=20)
    text = str(found)
    assert "Nash average: did not move" in text
    assert set(found.tables()) == {"exact", "attacks", "noisy"}
    assert "\n" not in repr(found)
    for table in found.tables().values():
        assert table.title in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"copies": []}, "whole numbers"),
        ({"copies": [0]}, "whole numbers"),
        ({"of": ["nobody"]}, "no agent 'nobody'"),
        ({"of": []}, "at least one"),
        ({"choice": "best"}, "no choice 'best'"),
        ({"kind": "tasks"}, "no tasks"),
        ({"kind": "games"}, "no 'games'"),
        ({"selection": "any"}, "no selection"),
    ],
)
def test_wrong_options_are_refused_with_what_is_allowed(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        stress(data_of("rock-paper-scissors"), **options)


@pytest.mark.parametrize("known", [{"stderr": 0.1}, {"games": 80}])
def test_payoffs_with_known_errors_have_noisy_copies_measured_around_draws(known: dict[str, Any]) -> None:
    rng = np.random.default_rng(6)
    A = np.triu(rng.uniform(-0.6, 0.6, (5, 5)), 1)
    data = nb.Payoffs.from_array(A - A.T, **known)
    game = Experiment.of(problem(data, n_resamples=100))
    entered = [game.enter(np.array([4, 0, 0, 0, 0]), np.random.default_rng(seed)) for seed in range(60)]
    assert all(isinstance(one, nb.Payoffs) for one in entered)
    cells = np.array([one.A for one in entered])  # type: ignore[union-attr]
    errors = np.array([one.errors() for one in entered])  # type: ignore[union-attr]
    assert (cells[:, :5, :5] == data.A).all()
    drawn = game.problem.drawn_payoffs()[:, game.problem.classes.label[0], game.problem.classes.label[1:]]
    spread = np.sqrt((errors[:, 5:, 1:5] ** 2).mean() + drawn.var(axis=0))
    assert np.abs(cells[:, 5:, 1:5].mean(axis=(0, 1)) - drawn.mean(axis=0)).max() < 4 * spread.max() / np.sqrt(60)
    own = cells[:, 5:, [0]].ravel()  # a copy and its original are even
    assert abs(own.mean()) < 4 * own.std() / np.sqrt(len(own))
    assert own.std() == pytest.approx(np.sqrt((errors[:, 5:, 0] ** 2).mean()), rel=0.2)
    found = stress(data, copies=[2], draws=2, targets=[], n_resamples=20)
    assert {row.method for row in found.noisy} == {"uniform", "nash"}
    assert not any("noise of these data is unknown" in note for note in found.notes)


def test_payoffs_without_errors_are_stressed_without_noisy_copies() -> None:
    data = data_of("roshambo")
    found = stress(data, copies=[1, 5], targets=[])
    assert found.nash_moved == 0.0
    assert {row.moved.method for row in found.exact} == {"uniform", "nash"}
    assert found.noisy == ()


def test_the_verdict_says_which_numbers_were_tried_and_measures_no_range_of_zero() -> None:
    data = data_of("rock-paper-scissors")
    said = " ".join(nb.stress(data, copies=[1, 10], targets=[], draws=9, noise="none").verdict())
    assert "Elo: with 1 copy (of 1, 10 tried) the winner changes from A = B = C to" in said
    assert "log-odds, where all were equal before" in said
    assert "of the range" not in said


def test_one_number_and_one_name_need_no_list() -> None:
    matches = data_of("rock-paper-scissors")
    result = nb.evaluate(matches, n_resamples=2)
    found = result.stress(copies=2, of="C", targets="A", draws=0, most=3)
    listed = stress(matches, copies=[2], of=["C"], targets=["A"], draws=0, most=3, n_resamples=2)
    assert found.to_dict() == listed.to_dict()
    with pytest.raises(nb.InputError, match=r"copies are \[1\.5\]: give whole numbers from 1 to 10,000"):
        result.stress(copies=1.5)
    with pytest.raises(nb.InputError, match="there is no agent 'Cc'"):
        result.stress(of="Cc")
