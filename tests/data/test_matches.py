"""Matches: what is counted, and what is refused."""

from dataclasses import FrozenInstanceError
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from strategies import matches as any_matches

P = np.array([[0.5, 0.9, 0.2], [0.1, 0.5, 0.7], [0.8, 0.3, 0.5]])


def test_win_rates_without_games_count_one_game_per_pair_and_say_so() -> None:
    matches = nb.Matches.from_win_rates(P)
    assert matches.agents == ("agent 1", "agent 2", "agent 3")
    assert matches.n_games == 3
    np.testing.assert_allclose(matches.wins, [0.9, 0.2, 0.7])
    assert matches.origin.notes == ("no game counts were given: each pair counts as one game",)


def test_win_rates_take_games_as_a_number_or_a_matrix() -> None:
    games = np.array([[0, 10, 20], [10, 0, 0], [20, 0, 0]])
    assert nb.Matches.from_win_rates(P, games=10).n_games == 30
    uneven = nb.Matches.from_win_rates(P, games=games)
    np.testing.assert_allclose(uneven.games, [10, 20])
    assert uneven.coverage == pytest.approx(2 / 3)
    assert uneven.origin.notes == ()


def test_win_rates_give_the_very_counts_of_which_they_are_shares() -> None:
    rng = np.random.default_rng(0)
    games = rng.integers(1, 400, (40, 40))
    games = np.triu(games, 1) + np.triu(games, 1).T
    won = np.triu(rng.binomial(games, 0.3), 1)
    won = won + np.tril(games - won.T, -1)
    rates = np.where(games > 0, won / np.maximum(games, 1), 0.5)
    counted, shared = nb.Matches.from_counts(won), nb.Matches.from_win_rates(rates, games=games)
    np.testing.assert_array_equal(shared.wins, counted.wins)
    np.testing.assert_array_equal(shared.losses, counted.losses)


def test_missing_win_rates_are_pairs_that_never_met() -> None:
    holes = P.copy()
    holes[0, 1] = holes[1, 0] = np.nan
    np.testing.assert_array_equal(nb.Matches.from_win_rates(holes).pairs, [[0, 2], [1, 2]])


def test_win_rates_that_disagree_are_averaged_only_when_told_to() -> None:
    noisy = P.copy()
    noisy[1, 0] = 0.2
    with pytest.raises(nb.InputError, match="two directions of a pair must add up to 1; symmetrise=True averages them"):
        nb.Matches.from_win_rates(noisy)
    assert nb.Matches.from_win_rates(noisy, symmetrise=True).wins[0] == pytest.approx(0.85)


def test_counts_keep_wins_draws_and_losses_of_each_pair() -> None:
    matches = nb.Matches.from_counts(
        [[0, 3, 0], [1, 0, 0], [0, 0, 0]], list("xyz"), draws=[[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    )
    assert (matches.wins.tolist(), matches.draws.tolist(), matches.losses.tolist()) == ([3], [2], [1])
    assert matches.components == (("x", "y"), ("z",))
    assert (matches.unbeaten, matches.winless) == ((), ())


def test_games_one_by_one_are_counted_as_a_log_of_them_is() -> None:
    rng = np.random.default_rng(3)
    i = rng.integers(0, 7, 200)
    first, second = ([f"p{k}" for k in side] for side in (i, (i + rng.integers(1, 7, 200)) % 7))
    outcomes = rng.choice([0, 0.25, 0.5, 1], 200)
    ours = nb.Matches.from_games(first, second, outcomes)
    read = nb.read_matches(pl.DataFrame({"a": first, "b": second, "outcome": outcomes}))
    assert ours.agents == read.agents
    np.testing.assert_array_equal(ours.pairs, read.pairs)
    for name in ("wins", "draws", "losses"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(read, name))


def test_the_diagonal_of_counts_is_not_counted_and_that_is_said() -> None:
    matches = nb.Matches.from_counts([[5, 3], [1, 5]])
    assert matches.n_games == 4
    assert matches.origin.notes == ("games on the diagonal, of an agent with itself, are not counted",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nb.Matches.from_counts([[0, -1], [1, 0]]), "is -1: counts must be finite and not negative"),
        (lambda: nb.Matches.from_counts([[0.0, np.inf], [1.0, 0.0]]), "is inf: counts must be finite"),
        (lambda: nb.Matches.from_counts([[0, 1, 2], [1, 0, 3]]), "must be square.*not 2 x 3"),
        (lambda: nb.Matches.from_counts([[0, 1], [1, 0]], draws=[[0, 1], [2, 0]]), "draws must be the same in both"),
        (lambda: nb.Matches.from_counts([[0]], ["x"]), "at least two agents; there is only 'x'"),
        (lambda: nb.Matches.from_counts([["a", "b"]]), "must be an array of numbers"),
        (lambda: nb.Matches.from_counts([1, 2]), r"must have two axes .*not shape \(2,\)"),
        (lambda: nb.Matches.from_counts(np.ones((2, 2)), ["x"]), "1 agent names for 2 agents"),
        (lambda: nb.Matches.from_counts(np.ones((2, 2)), ["x", "x"]), "must be unique: 'x' occurs more than once"),
        (lambda: nb.Matches.from_counts(np.ones((2, 2)), ["x", " "]), "agent number 2 has an empty name"),
        (lambda: nb.Matches.from_counts(np.ones((2, 2)), ["x", "y\0"]), "contains the character NUL"),
        (lambda: nb.Matches.from_counts(np.ones((2, 2)), "xy"), "must be a list of names, not the single text 'xy'"),
        (lambda: nb.Matches.from_games(["x", "y"], ["y", "x"], [1]), "2 and 2 names have 1 outcomes"),
        (lambda: nb.Matches.from_games(["x", "y"], ["y", "x"], [1, 1.5]), "the outcome of game 2 is 1.5"),
        (lambda: nb.Matches.from_games(["x", "y"], ["y", "x"], [np.nan, 1]), "the outcome of game 1 is nan"),
        (lambda: nb.Matches.from_games(["x", "y"], ["y", "y"], [1, 1]), "game 2 is of 'y' with itself"),
        (lambda: nb.Matches.from_games([], [], []), "at least two agents"),
        (lambda: nb.Matches.from_win_rates([[0.5, 1.2], [-0.2, 0.5]]), r"is 1.2: a win rate must lie in \[0, 1\]"),
        (lambda: nb.Matches.from_win_rates([[0.5, 1], [np.nan, 0.5]]), "the other direction is missing"),
        (lambda: nb.Matches.from_win_rates(P, games=-1), "game counts must be finite and not negative"),
        (lambda: nb.Matches.from_win_rates(P, games=np.ones((2, 2))), "one number or a 3 x 3 matrix"),
        (lambda: nb.Matches.from_win_rates(P).select(["agent 1", "agnet 2"]), r"no agent 'agnet 2' \(did you mean"),
        (lambda: nb.Matches.from_win_rates(P).merge({"m": []}), "the group 'm' is empty"),
        (
            lambda: nb.Matches.from_win_rates(P).merge({"m": ["agent 1"], "n": ["agent 1"]}),
            "cannot be merged into both 'm' and 'n'",
        ),
    ],
)  # fmt: skip
def test_a_wrong_matrix_is_refused_with_its_reason(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(nb.InputError, match=message):
        make()


def test_matches_are_frozen_and_their_arrays_read_only() -> None:
    matches = nb.Matches.from_win_rates(P)
    with pytest.raises(FrozenInstanceError):
        matches.agents = ()  # type: ignore[misc] # the assignment that must fail
    for array in (matches.pairs, matches.wins, matches.draws, matches.losses, matches.games):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_building_matches_leaves_the_input_unchanged() -> None:
    before = P.copy()
    nb.Matches.from_win_rates(P, symmetrise=True)
    nb.Matches.from_counts(P)
    np.testing.assert_array_equal(P, before)


def test_unbeaten_lost_no_game_and_winless_won_none() -> None:
    matches = nb.Matches.from_counts([[0, 2, 2], [0, 0, 1], [0, 1, 0]], list("xyz"))
    assert (matches.unbeaten, matches.winless) == (("x",), ())
    assert nb.Matches.from_counts([[0, 1], [0, 0]], list("xy")).winless == ("y",)


def test_merging_makes_several_names_one_agent() -> None:
    matches = nb.Matches.from_counts([[0, 3, 1], [1, 0, 2], [4, 0, 0]], ["v1", "other", "v2"])
    merged = matches.merge({"v": ["v1", "v2"]})
    assert merged.agents == ("v", "other")
    assert (merged.wins.tolist(), merged.losses.tolist()) == ([3], [3])
    assert merged.origin.notes[-1] == "3 agents merged into 2; 5 games within a group left out"


def test_clusters_follow_the_agents_through_selecting_and_merging() -> None:
    log = {
        "a": ["v1", "y", "v2", "v1"],
        "b": ["y", "v2", "z", "v2"],
        "winner": ["a", "a", "b", "a"],
        "cluster": list("stts"),
    }
    matches = nb.read_matches(pl.DataFrame(log))
    merged = matches.merge({"v": ["v1", "v2"]}).select(["z", "y", "v"])
    assert merged.clusters is not None
    for name in ("wins", "draws", "losses"):
        split = np.bincount(merged.clusters.pair, getattr(merged.clusters, name), minlength=len(merged.pairs))
        np.testing.assert_array_equal(split, getattr(merged, name))
    assert merged.pairs.tolist() == [[0, 2], [1, 2]]
    assert (merged.wins.tolist(), merged.losses.tolist()) == ([1, 1], [0, 1])


def test_repr_is_one_line_and_str_is_a_table() -> None:
    matches = nb.Matches.from_counts([[0, 3], [1, 0]], ["x", "<script>"], draws=[[0, 1], [1, 0]])
    assert repr(matches) == "Matches(2 agents, 1 of 1 pairs met, 5 games)"
    assert str(matches).splitlines()[1:] == [
        "agent     games  wins  draws  losses  share",
        "--------  -----  ----  -----  ------  -----",
        "x             5     3      1       1  0.700",
        "<script>      5     1      1       3  0.300",
    ]
    assert "<script>" not in matches._repr_html_()


@given(any_matches(), st.randoms(use_true_random=False))
def test_relabelling_agents_only_relabels_the_matches(matches: nb.Matches, random: Random) -> None:
    names = list(matches.agents)
    random.shuffle(names)
    turned = matches.select(names)
    assert turned.n_games == pytest.approx(matches.n_games)
    assert set(map(frozenset, turned.components)) == set(map(frozenset, matches.components))
    order = [names.index(agent) for agent in matches.agents]
    # the rate of the second agent is 1 minus that of the first: turned round, it may differ in the last place
    np.testing.assert_allclose(turned.win_rates()[np.ix_(order, order)], matches.win_rates(), rtol=0, atol=1e-15)


@given(any_matches())
def test_selecting_everybody_and_merging_nobody_change_nothing(matches: nb.Matches) -> None:
    for same in (matches.select(matches.agents), matches.merge({})):
        assert same.agents == matches.agents
        np.testing.assert_array_equal(same.pairs, matches.pairs)
        for name in ("wins", "draws", "losses"):
            np.testing.assert_array_equal(getattr(same, name), getattr(matches, name))


@given(any_matches())
def test_win_rates_of_the_two_directions_add_up_to_one(matches: nb.Matches) -> None:
    rates = matches.win_rates()
    np.testing.assert_allclose((rates + rates.T)[~np.isnan(rates)], 1)
    assert np.isnan(rates).sum() == len(matches.agents) ** 2 - 2 * len(matches.pairs)


def test_an_error_about_a_huge_name_is_still_one_short_sentence() -> None:
    matches = nb.Matches.from_counts([[0, 1], [2, 0]], ["x", "y"])
    with pytest.raises(nb.InputError, match="there is no agent 'zzz") as caught:
        matches.select(["z" * 5000])
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("games", [100, np.full((2, 2), 100.0)])
def test_numbers_of_games_are_not_taken_for_names(games: Any) -> None:
    with pytest.raises(nb.InputError, match=r"must be a list of names, not .*: pass other arguments by keyword"):
        nb.Matches.from_win_rates([[0.5, 0.6], [0.4, 0.5]], games)
