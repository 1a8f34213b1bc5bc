"""A first side's advantage is taken out of the board where it is shown, and changes nothing where it is not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from commands import Run
from nashboard._types import Floats
from nashboard.evaluation.posterior.clusters import discount_clusters
from nashboard.ratings.sides import neutralise_sides

HOME = np.array([0.9, 0.5, 0.5, 0.5, 0.5, 0.1])  # how readily an agent is the first side


def play(
    seed: int, strength: Floats, advantage: float, *, home: Floats = HOME, games: int = 600, drawn: float = 0.0
) -> nb.Matches:
    """Return games of agents, of whom some are mostly the first side, with an advantage in log-odds."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(games):
        i, j = rng.choice(len(strength), 2, replace=False)
        first, second = home[i] * (1 - home[j]), home[j] * (1 - home[i])
        if rng.random() > first / (first + second):
            i, j = j, i
        won = rng.random() < 1 / (1 + np.exp(strength[j] - strength[i] - advantage))
        result = "1/2-1/2" if rng.random() < drawn else ("1-0" if won else "0-1")
        rows.append((f"team {i}", f"team {j}", result))
    return nb.read_matches(pl.DataFrame(rows, schema=["home_team", "away_team", "result"], orient="row"))


@pytest.mark.parametrize("advantage", [0.6, -0.6])
@pytest.mark.parametrize("drawn", [0.0, 0.3])
def test_ratings_at_a_neutral_place_are_those_with_the_advantage_estimated(advantage: float, drawn: float) -> None:
    matches = play(2, np.linspace(0.5, -0.5, 6), advantage, drawn=drawn, games=2000)
    neutral, found = neutralise_sides(matches)
    assert found is not None
    assert np.sign(found.value) == np.sign(advantage)
    assert 0.85 < neutral.games.sum() / matches.games.sum() < 1  # games with a favourite say less
    whole = nb.elo(matches, first_advantage=True)
    assert nb.elo(neutral).ratings == pytest.approx(whole.ratings, abs=6)
    assert np.abs(nb.elo(matches).ratings - whole.ratings).max() > 30


@pytest.mark.slow
def test_an_advantage_is_found_where_strong_agents_are_mostly_first() -> None:
    found, clear = 0, 0
    for seed in range(40):
        rng = np.random.default_rng([505, seed])
        matches = play(seed, rng.normal(0, 0.5, 12), 0.4, home=np.linspace(0.97, 0.03, 12), games=300)
        effect = nb.elo(matches, first_advantage=True).first_advantage
        assert effect is not None
        if effect.value > 3 * effect.stderr:
            clear += 1
            found += neutralise_sides(matches)[1] is not None
    assert clear >= 5
    assert found == clear  # ratings that ignore sides explain most of the advantage here


def test_without_an_advantage_sides_change_nothing() -> None:
    matches = play(3, np.linspace(0.5, -0.5, 6), 0.0)
    neutral, found = neutralise_sides(matches)
    assert found is None
    assert neutral.sides is None
    assert (neutral.wins == matches.wins).all()


def test_the_board_compares_at_a_neutral_place_and_says_so() -> None:
    found = nb.evaluate(play(4, np.zeros(6), 0.6), n_resamples=100)
    (note,) = [line for line in found.warnings if "advantage" in line]
    assert note.startswith("The first side has an advantage of ")
    other = nb.evaluate(play(4, np.zeros(6), 0.0), n_resamples=100)
    assert not [line for line in other.warnings if "advantage" in line]


def test_few_games_and_games_that_the_first_side_always_won_are_left_alone() -> None:
    few = play(5, np.zeros(6), 3.0, games=20)
    assert neutralise_sides(few)[1] is None
    always = nb.read_matches({"home": ["a", "b", "c"] * 20, "away": ["b", "c", "a"] * 20, "result": ["1-0"] * 60})
    assert neutralise_sides(always)[1] is None


@pytest.mark.slow
@pytest.mark.parametrize("advantage", [0.57, 2.5])
def test_a_side_that_one_team_nearly_always_has_makes_nobody_first(advantage: float) -> None:
    tops, inside = [], []
    for seed in range(8100, 8130):
        strength = np.random.default_rng(seed).normal(0, 0.3, 6)
        found = nb.evaluate(play(seed, strength, advantage), n_resamples=200, methods=()).posterior
        order = [int(agent[-1]) for agent in found.agents]
        gap = (strength.max() - strength)[order]
        inside.append((found.gap_low - 1e-9 <= gap) & (gap <= found.gap_high + 1e-9))
        tops += [gap[k] == 0 for k in np.flatnonzero(found.probability_top >= 0.95)]
    assert np.mean(inside) > 0.9  # 0.8 where sides are ignored, 0.5 for the team that is at home
    assert not tops or np.mean(tops) > 0.8


@pytest.mark.parametrize("name", ["b", "A"])  # before and after the other in the order of names
def test_the_same_results_at_home_and_away_are_not_those_of_copies(name: str) -> None:
    rng, rows = np.random.default_rng(0), []
    for other in "xyz":
        rows += [("a", other, "1-0"), ("a", other, "0-1"), (other, name, "0-1"), (other, name, "1-0")] * 20
    for _ in range(300):
        first, second = rng.choice(list("xyz"), 2, replace=False)
        rows.append((first, second, "1-0" if rng.random() < 0.75 else "0-1"))
    matches = nb.read_matches(pl.DataFrame(rows, schema=["home_team", "away_team", "result"], orient="row"))
    found = nb.evaluate(matches, n_resamples=100)
    assert not [line for line in found.warnings if "identical" in line]
    top = dict(zip(found.posterior.agents, found.posterior.probability_top, strict=True))
    assert top[name] > 0.95
    assert top["a"] < 0.05
    sideless = nb.evaluate(replace(matches, sides=None), n_resamples=100)
    assert [line for line in sideless.warnings if "identical" in line]


def test_influence_says_that_it_does_not_take_an_advantage_out() -> None:
    matches = play(4, np.array([0.0, 0.5, 0.1, 0.0, -0.1, 0.3]), 0.8)
    assert "advantage of a side is not taken out" in nb.influence(matches).sentence
    assert "advantage" not in nb.influence(replace(matches, sides=None)).sentence


def test_the_command_says_that_methods_take_results_with_the_advantage(command: Run, tmp_path: Path) -> None:
    rows = [
        "home_team,away_team,result",
        *["a,b,1-0", "b,c,1-0", "c,a,1-0"] * 30,
        *["a,b,0-1", "b,c,0-1", "c,a,0-1"] * 10,
    ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    done = command("methods", str(path), "-m", "borda", "--resamples", "20")
    assert "The first side has an advantage of " in done.stderr
    assert "The methods take the results as observed." in done.stderr


def test_an_advantage_is_no_taste_of_voters() -> None:
    rng, rows = np.random.default_rng(0), []
    for _ in range(900):
        i, j = rng.choice(6, 2, replace=False)
        first, second = HOME[i] * (1 - HOME[j]), HOME[j] * (1 - HOME[i])
        if rng.random() > first / (first + second):
            i, j = j, i
        rows.append((f"t{i}", f"t{j}", "1-0" if rng.random() < 0.8 else "0-1", f"v{rng.integers(30)}"))
    frame = pl.DataFrame(rows, schema=["home_team", "away_team", "result", "voter"], orient="row")
    matches = nb.read_matches(frame, cluster="voter")
    neutral, _ = neutralise_sides(matches)
    weighed = discount_clusters(matches, neutral)
    assert (
        weighed.games_per_agent / neutral.games_per_agent
    ).min() > 0.8  # scores as observed, not as at a neutral place
