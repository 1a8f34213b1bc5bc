"""The laws of evaluate: relabelling, copies, seeds, workers, certificates."""

import sys
from dataclasses import replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nashboard as nb
from evaluation.arenas import cloned, leads, played
from nashboard._tables import percent
from nashboard._workers import plan_of
from nashboard.data.clusters import Clusters
from nashboard.evaluation import matches_board, resampling
from nashboard.evaluation.classes import find_match_classes
from nashboard.evaluation.intervals import Samples, uncertainty
from nashboard.evaluation.matches_again import payoff_matrix, replayed
from nashboard.evaluation.scores_again import another_suite, scores_again
from nashboard.ratings.cross_validation import with_counts
from nashboard.ratings.filling import smoothed_ratings

UNMOVED = ("averages", "gaps", "ranks")
RESAMPLED = ("average_low", "average_high", "gap_low", "gap_high", "rank_low", "rank_high", "support", "groups")
FEW: dict[str, Any] = {"n_resamples": 12}


@pytest.fixture(scope="module")
def arena() -> nb.Matches:
    rng = np.random.default_rng(1)
    return played(rng, leads(rng, 7, spread=0.4, cyclic=0.7), 25, draws=0.2)


@pytest.fixture(scope="module")
def table() -> nb.Scores:
    rng = np.random.default_rng(2)
    S = rng.normal(size=(5, 6)) + rng.normal(size=(5, 1))
    return nb.Scores.from_array(S, lower_is_better=[0, 0, 1, 0, 0, 1], stderr=np.full((5, 6), 0.2))


def nash_part(found: nb.Evaluation, names: tuple[str, ...]) -> list[Any]:
    """Return all that must not move, for these agents."""
    place = [found.board.names.index(name) for name in names]
    part: list[Any] = [getattr(found.board, name)[place].tolist() for name in UNMOVED]
    for answer in found.uncertainty.values():
        part += [[getattr(answer, name)[k] for k in place] for name in RESAMPLED]
    part += [one.to_dict() for one in found.stability.values()]
    part += [[found.contributions[name] for name in names], dict(found.certificates)]
    return part


def test_entering_an_agent_again_moves_nothing_that_nash_says(arena: nb.Matches) -> None:
    once, again = nb.evaluate(arena, **FEW), nb.evaluate(cloned(arena, 2, 3), **FEW)
    assert nash_part(again, arena.agents) == nash_part(once, arena.agents)
    assert again.board.weights[[2, 7, 8, 9]] == pytest.approx([once.board.weights[2] / 4] * 4, rel=1e-12)
    assert again.clone_groups == (("agent 2", "agent 2 copy 0", "agent 2 copy 1", "agent 2 copy 2"),)
    assert any("identical" in warning for warning in again.warnings)
    assert not np.allclose(again.board.uniform[:7], once.board.uniform)  # what Nash averaging is there for


def test_entering_an_agent_again_moves_nothing_where_pairs_never_met(arena: nb.Matches) -> None:
    met = np.arange(len(arena.pairs)) % 4 > 0
    sparse = replace(
        arena, pairs=arena.pairs[met], wins=arena.wins[met], draws=arena.draws[met], losses=arena.losses[met]
    )
    once, again = nb.evaluate(sparse, **FEW), nb.evaluate(cloned(sparse, 1, 2), **FEW)
    assert nash_part(again, arena.agents) == nash_part(once, arena.agents)
    assert once.settings["filled"] == (~met).sum()
    assert f"{(~met).sum()} of 21 pairs never met" in once.warnings[0]


@given(st.permutations(range(7)))
@settings(max_examples=5)
def test_the_order_of_agents_does_not_matter(order: list[int]) -> None:
    rng = np.random.default_rng(1)
    arena = played(rng, leads(rng, 7, spread=0.4, cyclic=0.7), 25)
    once = nb.evaluate(arena, **FEW)
    other = nb.evaluate(arena.select([arena.agents[k] for k in order]), **FEW)
    assert nash_part(other, arena.agents) == nash_part(once, arena.agents)
    np.testing.assert_allclose(other.board.ratings, once.board.ratings[order], atol=1e-6)
    assert other.verdict == once.verdict
    assert other.input["hash"] == once.input["hash"]


def test_names_do_not_matter(arena: nb.Matches) -> None:
    names = tuple("tuvwxyz"[::-1])
    once, other = nb.evaluate(arena, **FEW), nb.evaluate(replace(arena, agents=names), **FEW)
    for name in RESAMPLED:
        assert list(getattr(once.uncertainty["again"], name)) == list(getattr(other.uncertainty["again"], name))
    assert once.input["hash"] != other.input["hash"]


def test_copies_of_agents_and_tasks_move_nothing_in_a_table(table: nb.Scores) -> None:
    rows, columns = [0, 1, 1, 2, 3, 4, 1], [5, 0, 1, 2, 3, 3, 4, 5]
    cut = np.ix_(rows, columns)
    more = nb.Scores.from_array(
        table.values[cut],
        [table.agents[r] if r != 1 else f"copy {k}" for k, r in enumerate(rows)],
        [f"{table.tasks[c]} at {k}" for k, c in enumerate(columns)],
        lower_is_better=table.lower_is_better[columns],
        stderr=table.stderr[cut],
    )
    once, again = nb.evaluate(table, **FEW), nb.evaluate(more, **FEW)
    place = [0, 1, 3, 4, 5]
    assert set(once.uncertainty) == {"again", "suite"}
    for question in once.uncertainty:
        for name in RESAMPLED:
            ours = [getattr(again.uncertainty[question], name)[k] for k in place]
            assert ours == list(getattr(once.uncertainty[question], name)), (question, name)
        same = [one.stability[question].same_support for one in (once, again)]
        assert same[0] == same[1]
    for name in UNMOVED:
        assert getattr(again.board, name)[place].tolist() == getattr(once.board, name).tolist()
    assert again.board.weights[[1, 2, 6]].sum() == pytest.approx(once.board.weights[1], rel=1e-12)
    assert again.task_clone_groups
    assert again.task_board is not None
    assert once.task_board is not None
    assert again.task_board.averages[[1, 2, 3, 4, 6, 7]].tolist() == once.task_board.averages.tolist()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_workers(
    workers: int, arena: nb.Matches, table: nb.Scores
) -> None:
    for data in (arena, table):
        first = nb.evaluate(data, n_resamples=40, workers=2)
        assert nb.evaluate(data, n_resamples=40, workers=workers).to_json() == first.to_json()


def test_games_solved_in_a_stack_and_one_by_one_agree(
    arena: nb.Matches, table: nb.Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacked = (nb.evaluate(arena, **FEW), nb.evaluate(table, **FEW))
    monkeypatch.setattr(resampling, "STACKED", 0)
    for found, expected in zip((nb.evaluate(arena, **FEW), nb.evaluate(table, **FEW)), stacked, strict=True):
        for name in ("gap_low", "average_high", "rank_low", "support"):
            ours, theirs = (getattr(one.uncertainty["again"], name) for one in (found, expected))
            np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_audit_and_stress_are_given_the_data(arena: nb.Matches, monkeypatch: pytest.MonkeyPatch) -> None:
    found = nb.evaluate(arena, **FEW)
    for name in ("audit", "stress"):
        room = ModuleType(f"nashboard.evaluation.{name}")
        setattr(room, name, lambda data, **options: (data, options))
        monkeypatch.setitem(sys.modules, room.__name__, room)
        assert getattr(found, name)(level=0.9) == (arena, {"level": 0.9})


def test_the_point_estimate_does_not_depend_on_the_seed(arena: nb.Matches) -> None:
    one, other = nb.evaluate(arena, rng=0, **FEW), nb.evaluate(arena, rng=np.random.default_rng(5), **FEW)
    assert one.board.to_dict() == other.board.to_dict()
    assert one.uncertainty["again"].gap_low.tolist() != other.uncertainty["again"].gap_low.tolist()


def test_the_support_ties_exactly_at_the_top_and_others_follow_by_how_far_they_miss(arena: nb.Matches) -> None:
    found = nb.evaluate(arena, **FEW)
    inside = found.board.weights > 0
    assert inside.sum() > 1
    assert set(found.board.ranks[inside]) == {1}
    assert set(found.board.averages[inside]) == {0.0}
    assert set(found.board.ties[inside]) == {1}
    shown = [row[2] for row in found.leaderboard().rows]
    assert shown == sorted(shown, key=lambda value: -float(value or 0.0))
    assert found.board.averages.tolist() == pytest.approx(
        nb.nash_average(nb.payoffs(arena)).averages.clip(max=0).tolist(), abs=1e-9
    )


def test_gaps_are_the_sum_of_contributions() -> None:
    found = nb.evaluate(nb.load_dataset("suite-3"), **FEW)  # three tasks, so that none is left out
    total = [sum(one.term for one in found.contributions[name]) for name in found.agents]
    assert total == pytest.approx(found.board.gaps.tolist(), abs=1e-12)
    assert [column.name for column in found.contributions_of("A").columns] == [
        "task",
        "weight",
        "result",
        "term",
        "low",
        "high",
    ]
    with pytest.raises(nb.InputError, match="no agent 'a'"):
        found.contributions_of("a")


def test_the_interval_of_a_contribution_is_that_of_its_terms_in_arenas_played_again(arena: nb.Matches) -> None:
    found = nb.evaluate(arena, rng=5, **FEW)
    order = [arena.agents[k] for k in find_match_classes(arena).first]
    by_class = arena.select(order)
    terms = []
    for rng in plan_of(12, 5, 1, False).streams(0):
        A = payoff_matrix(with_counts(by_class, replayed(by_class, rng)), smoothed_ratings(by_class, 1.0), 0.0)
        terms.append(nb.nash_average(A).weights * A)
    low, high = np.quantile(terms, [0.025, 0.975], axis=0)
    for agent in arena.agents:
        for one in found.contributions[agent]:
            i, k = order.index(agent), order.index(one.name)
            assert one.low == pytest.approx(low[i, k], abs=1e-9)
            assert one.high == pytest.approx(high[i, k], abs=1e-9)


@pytest.mark.parametrize("question", ["again", "suite"])
def test_intervals_of_contributions_add_up_to_the_gap_of_each_table(table: nb.Scores, question: str) -> None:
    watched = np.tile(np.arange(6), (5, 1))
    plan = plan_of(5, 1, 1, False)
    if question == "again":
        agents, _ = scores_again(table, "range", "clone-invariant", plan, watched)
    else:
        agents, _ = another_suite(table.scale("range"), "clone-invariant", plan, watched)
        assert np.isnan(agents.terms).any()  # a task that was not drawn says nothing
    np.testing.assert_allclose(np.nansum(agents.terms, axis=2), agents.gaps, atol=1e-9)


def test_bare_payoffs_have_contributions_without_intervals() -> None:
    found = nb.evaluate(nb.load_dataset("roshambo"))
    assert {(one.low, one.high) for terms in found.contributions.values() for one in terms} == {(None, None)}


def test_on_atari_human_ties_for_first_and_is_ninth_by_the_uniform_average() -> None:
    found = nb.evaluate(nb.load_dataset("atari"), n_resamples=4)
    human = found.agents.index("human")
    assert found.board.ranks[human] == 1
    assert found.board.uniform_ranks[human] == 9
    assert any("'human' moves up from place 9 by uniform average to place 1" in line for line in found.verdict)
    assert list(found.uncertainty) == ["suite"]
    assert "No standard errors" in found.warnings[0]


def test_clusters_are_resampled_together(arena: nb.Matches) -> None:
    pairs = len(arena.pairs)
    half = {name: np.tile(getattr(arena, name) / 2, 2) for name in ("wins", "draws", "losses")}
    clusters = Clusters(size=2, cluster=np.repeat([0, 1], pairs), pair=np.tile(np.arange(pairs), 2), **half)
    found = nb.evaluate(replace(arena, clusters=clusters), n_resamples=30)
    # both clusters hold the same results: however they are weighted, nothing changes
    np.testing.assert_allclose(found.uncertainty["again"].gap_low, found.board.gaps, atol=0.05)
    np.testing.assert_allclose(found.uncertainty["again"].gap_high, found.board.gaps, atol=0.05)


def test_items_give_a_standard_error_where_none_is_given() -> None:
    scores = nb.Scores.from_array([[0.9, 0.2], [0.4, 0.6], [0.5, 0.5]], n=np.array([[50, 50], [50, 50], [50, np.nan]]))
    found = nb.evaluate(scores, **FEW)
    assert list(found.uncertainty) == ["again", "suite"]
    assert "5 of 6 scores" in found.warnings[0]


def test_identical_agents_alone_all_tie() -> None:
    found = nb.evaluate(nb.Matches.from_counts([[0, 3], [3, 0]], ["x", "y"]), **FEW)
    assert found.board.weights.tolist() == [0.5, 0.5]
    assert found.board.ranks.tolist() == [1, 1]


def test_payoffs_have_a_board_and_say_that_noise_is_unknown() -> None:
    found = nb.evaluate(nb.load_dataset("roshambo"))
    assert found.uncertainty == {}
    assert "not known" in found.verdict[-1]
    with pytest.raises(nb.InputError, match="no answer to the question 'again': there are none"):
        found.leaderboard("again")


def test_an_anchor_is_held(arena: nb.Matches) -> None:
    found = nb.evaluate(arena, anchor={"agent 3": 1500.0}, **FEW)
    assert found.board.ratings[3] == pytest.approx(1500)
    assert found.settings["anchor"] == {"agent 3": 1500.0}


def test_melo_is_shown_where_it_predicts_better() -> None:
    rng = np.random.default_rng(4)
    cycle = played(rng, leads(rng, 6, spread=0.1, cyclic=1.2), 200)
    assert nb.evaluate(cycle, n_resamples=2).board.rating_name == "mElo"
    ladder = played(rng, leads(rng, 6, spread=0.5, cyclic=0.0), 30)
    assert nb.evaluate(ladder, n_resamples=2).board.rating_name == "Elo"


def test_melo_is_tried_with_many_agents_too_and_not_beyond_what_time_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    many = played(rng, leads(rng, 60, spread=0.3, cyclic=1.0), 30)
    monkeypatch.setattr(matches_board, "FEW_PAIRS", 100)  # one part of the games is held out, not each in turn
    found = matches_board.rated(many, None)
    assert found.name == "mElo"
    assert "a held-out fifth of the games" in found.why
    assert "a rough fit" in found.why
    monkeypatch.setattr(matches_board, "COMPARED", 100)
    found = matches_board.rated(many, None)
    assert found.name == "Elo"
    assert "up to 100 pairs only" in found.why


def test_a_board_does_not_fail_where_melo_has_no_fit(arena: nb.Matches) -> None:
    with patch("nashboard.evaluation.matches_board.compared", side_effect=nb.ConvergenceError("no fit")):
        found = nb.evaluate(arena, **FEW)
    assert found.board.rating_name == "Elo"
    assert "no finite fit" in found.settings["rating"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples is 0"),
        ({"level": 95}, "the level is 95"),
        ({"rng": -1}, "rng is -1"),
        ({"workers": 0}, "workers is 0"),
        ({"selection": "nash"}, "no selection 'nash'"),
        ({"anchor": {"nobody": 1.0}}, "nobody"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(options: dict[str, Any], message: str, arena: nb.Matches) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.evaluate(arena, **options)


def test_wrong_data_are_refused(table: nb.Scores) -> None:
    wrong: Any = [[1, 2]]
    with pytest.raises(nb.InputError, match="needs Matches, Scores or Payoffs, not list"):
        nb.evaluate(wrong)
    with pytest.raises(nb.InputError, match="an anchor holds a rating"):
        nb.evaluate(table, anchor={"agent 1": 1.0})
    with pytest.raises(nb.InputError, match="no scaling 'reference'"):
        nb.evaluate(table, scaling="reference")
    holes = nb.Scores.from_array(np.array([[1, np.nan], [0, 1]]))
    with pytest.raises(nb.InputError, match="missing"):
        nb.evaluate(holes)


def test_every_column_says_what_it_means(arena: nb.Matches, table: nb.Scores) -> None:
    scores = nb.evaluate(table, **FEW)
    for shown in (nb.evaluate(arena, **FEW).leaderboard(), scores.leaderboard(), scores.tasks(), scores.tasks("suite")):
        assert all(column.meaning for column in shown.columns)


@pytest.mark.parametrize(
    ("share", "said"),
    [(0, "0%"), (0.004, "less than 1%"), (0.005, "1%"), (0.235, "23%"), (0.996, "more than 99%"), (1, "100%")],
)
def test_a_share_in_percent_is_rounded_as_the_board_rounds_it(share: float, said: str) -> None:
    assert percent(share) == said


def test_the_ends_of_intervals_hold_no_rounding_dust() -> None:
    gaps = np.array([[-1e-17, -1.0], [1e-17, -1e-14], [-1e-15, -2.0]])
    ones = np.ones((3, 2))
    samples = Samples(averages=gaps, gaps=gaps, weights=ones, inside=ones, scale=np.ones(3), terms=np.zeros((3, 2, 0)))
    found = uncertainty("again", samples, np.arange(2), np.array([1, 2]), 0.95)
    assert found.gap_low[0] == found.gap_high[0] == found.average_low[0] == 0
    assert found.gap_low[1] < -1


def test_a_warning_that_asks_ends_in_one_mark() -> None:
    data = nb.Matches.from_counts([[0, 9], [5, 0]], ["x", "y"])
    said = nb.evaluate(replace(data, origin=data.origin.noting("spelt twice?", "so it is")), n_resamples=2).warnings
    assert {"Spelt twice?", "So it is."} <= set(said)


def test_a_suite_of_one_task_cannot_say_whether_another_would_agree() -> None:
    found = nb.evaluate(nb.Scores.from_array([[0.5], [0.7], [0.2]]), n_resamples=10)
    assert found.stability["suite"].word == "too few tasks to say"
    assert any("cannot be said (would another suite agree?)" in line for line in found.verdict)


@pytest.mark.parametrize(("draws", "errors"), [(0.0, "hessian"), (0.5, "sandwich")])
def test_a_note_says_which_errors_the_interval_of_the_rating_has(draws: float, errors: str) -> None:
    rng = np.random.default_rng(5)
    found = nb.evaluate(played(rng, leads(rng, 2, spread=0.8, cyclic=0.0), 30, draws), n_resamples=2, workers=1)
    (note,) = (note for note in found.leaderboard().notes if note.startswith("Elo low and high"))
    assert f"by {errors}" in note
    assert found.settings["rating_errors"] in note
    assert isinstance(found.data, nb.Matches)
    width = 1.959964 * nb.elo(found.data, errors="sandwich" if draws else "hessian").stderr
    np.testing.assert_allclose(found.board.rating_high - found.board.ratings, width, rtol=1e-5)


def test_two_games_and_a_draw_are_as_unsure_on_the_board_as_in_elo() -> None:
    three = nb.Matches.from_counts(
        [[0, 1, 1], [0, 0, 0], [0, 0, 0]], ["x", "y", "z"], draws=[[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    )
    found = nb.evaluate(three, n_resamples=2, workers=1)
    low, high = nb.elo(three).interval
    np.testing.assert_allclose(found.board.rating_low, low, rtol=0.01)
    np.testing.assert_allclose(found.board.rating_high, high, rtol=0.01)
