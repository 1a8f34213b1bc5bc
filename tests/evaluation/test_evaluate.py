"""The laws of evaluate: relabelling, copies, seeds, settings, certificates."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nashboard as nb
from arenas import cloned, data_of, leads, played
from nashboard._tables import percent
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Clusters
from nashboard.evaluation.stress.experiment import enter_agents, enter_in_payoffs, enter_in_scores

POSTERIOR = ("gap", "gap_low", "gap_high", "probability_top", "rank_low", "rank_high")
BOARD = ("gaps", "gap_low", "gap_high", "probability_top", "ranks", "rank_low", "rank_high")
SECOND = ("values", "low", "high", "rank_low", "rank_high")
FEW: dict[str, Any] = {"n_resamples": 12}


@pytest.fixture(scope="module")
def arena() -> nb.Matches:
    rng = np.random.default_rng(1)
    return played(rng, leads(rng, 7, spread=0.4, cyclic=0.7), 25, draws=0.2)


@pytest.fixture(scope="module")
def once(arena: nb.Matches) -> nb.Evaluation:
    return nb.evaluate(arena, **FEW)


@pytest.fixture(scope="module")
def table() -> nb.Scores:
    rng = np.random.default_rng(2)
    S = rng.normal(size=(5, 6)) + rng.normal(size=(5, 1))
    return nb.Scores.from_array(S, lower_is_better=[0, 0, 1, 0, 0, 1], stderr=np.full((5, 6), 0.2))


def unmoved(found: nb.Evaluation, names: tuple[str, ...]) -> list[Any]:
    """Return everything that copies must not move, for these agents."""
    place = [found.board.names.index(name) for name in names]
    part: list[Any] = [getattr(found.posterior, name)[place].tolist() for name in POSTERIOR]
    part += [getattr(found.board, name)[place].tolist() for name in BOARD]
    if found.kind == "matches" and found.board.rating is not None:
        part += [getattr(found.board.rating, name)[place].tolist() for name in SECOND]
    part += [[found.contributions[name] for name in names], dict(found.certificates), dict(found.model)]
    return part


def test_entering_an_agent_again_moves_nothing_to_the_last_bit(arena: nb.Matches, once: nb.Evaluation) -> None:
    again = nb.evaluate(cloned(arena, 2, 3), **FEW)
    assert unmoved(again, arena.agents) == unmoved(once, arena.agents)
    assert again.board.weights[[2, 7, 8, 9]] == pytest.approx([once.board.weights[2] / 4] * 4, rel=1e-12)
    assert again.clone_groups == (("agent 2", "agent 2 copy 0", "agent 2 copy 1", "agent 2 copy 2"),)
    assert any("identical" in warning for warning in again.warnings)
    assert not np.allclose(again.board.uniform[:7], once.board.uniform)


def test_copies_cannot_move_the_first_row_or_the_order_of_the_others(arena: nb.Matches, once: nb.Evaluation) -> None:
    order = [row[1] for row in once.leaderboard().rows]
    for copied in range(7):
        rows = [row[1] for row in nb.evaluate(cloned(arena, copied, 2), **FEW).leaderboard().rows]
        assert [name for name in rows if "copy" not in str(name)] == order


@pytest.mark.parametrize("by", ["clusters", "sides", "fractions"])
def test_copies_with_clusters_or_sides_or_shares_move_nothing(arena: nb.Matches, by: str) -> None:
    from nashboard.data.matches import Sides

    pairs, rng = len(arena.pairs), np.random.default_rng(3)
    counts = np.stack([arena.wins, arena.draws, arena.losses], axis=1)
    part = rng.binomial(counts.astype(int), 0.4).astype(float)
    if by == "sides":
        split: dict[str, Any] = {"sides": Sides(first=part, second=counts - part)}
    elif by == "fractions":
        split = {"fractions": arena.games * rng.uniform(0.05, 0.2, pairs)}
    else:
        both = np.concatenate([part, counts - part])
        clusters = Clusters(
            size=2, cluster=np.repeat([0, 1], pairs), pair=np.tile(np.arange(pairs), 2),
            wins=both[:, 0], draws=both[:, 1], losses=both[:, 2],
        )  # fmt: skip
        split = {"clusters": clusters}
    divided = replace(arena, **split)
    once, again = nb.evaluate(divided, **FEW), nb.evaluate(enter_agents(divided, {"agent 1": 2, "agent 5": 1}), **FEW)
    assert unmoved(again, arena.agents) == unmoved(once, arena.agents)


def test_entering_an_agent_again_moves_nothing_where_pairs_never_met(arena: nb.Matches) -> None:
    met = np.arange(len(arena.pairs)) % 4 > 0
    sparse = replace(
        arena, pairs=arena.pairs[met], wins=arena.wins[met], draws=arena.draws[met], losses=arena.losses[met]
    )
    once, again = nb.evaluate(sparse, **FEW), nb.evaluate(cloned(sparse, 1, 2), **FEW)
    assert unmoved(again, arena.agents) == unmoved(once, arena.agents)
    assert "71% of the pairs met" in once.verdict[-1]


@given(order=st.permutations(range(7)))
@settings(max_examples=5, deadline=None)
def test_the_order_of_agents_does_not_matter(order: list[int], arena: nb.Matches, once: nb.Evaluation) -> None:
    other = nb.evaluate(arena.select([arena.agents[k] for k in order]), **FEW)
    assert unmoved(other, arena.agents) == unmoved(once, arena.agents)
    assert other.verdict == once.verdict
    assert other.input["hash"] == once.input["hash"]


def test_names_do_not_matter(arena: nb.Matches, once: nb.Evaluation) -> None:
    names = tuple("tuvwxyz"[::-1])
    other = nb.evaluate(replace(arena, agents=names), **FEW)
    for name in POSTERIOR:
        assert list(getattr(once.posterior, name)) == list(getattr(other.posterior, name))
    assert once.input["hash"] != other.input["hash"]


@pytest.mark.parametrize("noise", ["model", "none"])
def test_copies_of_agents_and_tasks_move_nothing_in_a_table(table: nb.Scores, noise: Any) -> None:
    more = enter_in_scores(enter_in_scores(table, "agents", {table.agents[1]: 2}), "tasks", {table.tasks[3]: 1})
    once, again = nb.evaluate(table, noise=noise, **FEW), nb.evaluate(more, noise=noise, **FEW)
    assert unmoved(again, table.agents) == unmoved(once, table.agents)
    assert again.task_clone_groups
    assert again.task_board is not None
    assert once.task_board is not None
    assert again.task_board.gaps[:6].tolist() == once.task_board.gaps.tolist()
    assert again.task_board.probability_top[:6].tolist() == once.task_board.probability_top.tolist()


def test_copies_move_nothing_in_payoffs() -> None:
    given = data_of("roshambo")
    names = given.agents
    once = nb.evaluate(given)
    again = nb.evaluate(enter_in_payoffs(given, {names[0]: 2, names[3]: 1}))
    assert unmoved(again, names) == unmoved(once, names)


def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_workers(arena: nb.Matches, table: nb.Scores) -> None:
    for data in (arena, table):
        assert len({nb.evaluate(data, n_resamples=40, workers=workers).to_json() for workers in (1, 2, 3)}) == 1


def test_another_seed_gives_other_draws(arena: nb.Matches, once: nb.Evaluation) -> None:
    other = nb.evaluate(arena, rng=np.random.default_rng(5), **FEW)
    assert once.posterior.gap_high.tolist() != other.posterior.gap_high.tolist()


def test_every_number_of_the_board_comes_from_the_posterior(arena: nb.Matches) -> None:
    found = nb.evaluate(arena)
    board, posterior = found.board, found.posterior
    assert posterior.source is not None
    np.testing.assert_array_equal(board.gaps, posterior.gap * POINTS_PER_LOGIT)
    np.testing.assert_array_equal(board.probability_top, posterior.probability_top)
    gaps = posterior.source.gaps[:, posterior.classes]
    np.testing.assert_allclose(posterior.gap, gaps.mean(axis=0))
    np.testing.assert_allclose(posterior.probability_top, (gaps == 0).mean(axis=0))
    assert ((posterior.gap_low <= posterior.gap) & (posterior.gap <= posterior.gap_high)).all()


def test_the_literal_board_is_the_nash_average_of_the_data(arena: nb.Matches) -> None:
    found = nb.evaluate(arena, noise="none")
    nash = nb.nash_average(nb.payoffs(arena))
    assert found.board.exact
    assert set(found.support) == set(nash.support)
    np.testing.assert_allclose(found.posterior.gap, np.maximum(-nash.averages, 0), atol=1e-9)
    np.testing.assert_allclose(found.board.weights, nash.weights, atol=1e-9)
    assert "gap low" not in [column.name for column in found.leaderboard().columns]


def test_the_literal_board_of_a_table_is_its_nash_average(table: nb.Scores) -> None:
    found = nb.evaluate(table, noise="none")
    nash = nb.nash_average_scores(table)
    np.testing.assert_allclose(found.posterior.gap, nash.value - nash.skills, atol=1e-9)
    assert found.task_board is not None
    np.testing.assert_allclose(found.task_board.weights, nash.task_weights, atol=1e-9)
    np.testing.assert_allclose(found.averages_of("agents"), nash.skills, atol=1e-9)
    np.testing.assert_allclose(found.averages_of("tasks"), nash.difficulties, atol=1e-9)


@pytest.mark.parametrize("noise", ["model", "none"])
def test_gaps_are_minus_the_sum_of_contributions(arena: nb.Matches, noise: Any) -> None:
    for data in (nb.load_dataset("suite-3"), arena):  # so few opponents or tasks that no term is left out
        found = nb.evaluate(data, noise=noise, **FEW)
        total = [sum(one.term for one in found.contributions[name]) for name in found.agents]
        assert total == pytest.approx((-found.board.gaps).tolist(), abs=1e-9)
    columns = [column.name for column in found.contributions_of("agent 1").columns]
    assert columns == ["opponent", "weight", "result", "term", "low", "high"]
    with pytest.raises(nb.InputError, match="no agent 'a'"):
        found.contributions_of("a")


def test_bare_payoffs_have_no_intervals() -> None:
    found = nb.evaluate(nb.load_dataset("roshambo"))
    assert {(one.low, one.high) for terms in found.contributions.values() for one in terms} == {(None, None)}
    assert found.board.exact
    assert any("taken as exact" in warning for warning in found.warnings)


def test_win_rates_without_counts_have_no_intervals() -> None:
    found = nb.evaluate(nb.Matches.from_win_rates([[0.5, 0.8, 0.4], [0.2, 0.5, 0.9], [0.6, 0.1, 0.5]]))
    assert found.board.exact
    assert any("without numbers of games" in warning for warning in found.warnings)
    assert "games" not in [column.name for column in found.leaderboard("all").columns]


@pytest.mark.slow
def test_on_atari_human_is_at_the_top_beside_rainbow() -> None:
    literal = nb.evaluate(nb.load_dataset("atari"), noise="none")
    assert set(literal.support) == {"rainbow", "human", "prioritized_ddqn_rank", "popart_ddqn"}
    assert literal.board.uniform_ranks[literal.agents.index("human")] == 9
    assert any(line.startswith("human is higher on this board") for line in literal.verdict)
    found = nb.evaluate(nb.load_dataset("atari"), n_resamples=100)
    top = dict(zip(found.posterior.agents, found.posterior.probability_top, strict=True))
    assert top["human"] > 0.9
    assert top["rainbow"] > 0.9
    assert top["random"] == 0.0
    assert any("No standard errors are given" in line for line in found.verdict)


def test_an_agent_is_called_first_only_with_probability_of_at_least_one_half(arena: nb.Matches) -> None:
    close = nb.evaluate(nb.Matches.from_counts(6 * (np.ones((6, 6)) - np.eye(6)) + np.triu(np.ones((6, 6)), 1)))
    assert close.posterior.probability_top.max() < 0.5
    assert close.verdict[0].startswith("First place is undecided")
    assert close.support == ()
    clear = nb.evaluate(nb.Matches.from_counts([[0, 90, 95], [10, 0, 60], [5, 40, 0]], ["x", "y", "z"]))
    assert clear.verdict[0].startswith("x is first")
    assert clear.support == ("x",)


def test_copies_have_one_name_in_the_verdict(arena: nb.Matches, once: nb.Evaluation) -> None:
    best = once.leaderboard().rows[0][1]
    found = nb.evaluate(cloned(arena, arena.agents.index(str(best)), 4), **FEW)
    assert "and 4 copies" in found.verdict[0]
    assert "copy 1" not in found.verdict[0]


def test_agents_are_called_what_the_caller_wants(arena: nb.Matches) -> None:
    assert "7 players, 525 games" in nb.evaluate(arena, call="players", **FEW).verdict[-1]


def assert_same_elo(found: nb.Evaluation, elo: nb.EloRatings) -> None:
    """Assert that a board shows the ratings, intervals and rank intervals of `elo`."""
    board, ranks = found.board.rating, elo.rank_intervals
    assert board is not None
    assert ranks is not None
    np.testing.assert_allclose(board.values, elo.ratings, atol=1e-6)
    np.testing.assert_allclose([board.low, board.high], elo.interval, atol=1e-6)
    np.testing.assert_array_equal([board.rank_low, board.rank_high], [ranks.low, ranks.high])


def test_evaluate_and_elo_give_the_same_intervals_and_the_bootstrap_agrees() -> None:
    rng = np.random.default_rng(12)
    rows = []
    strength = rng.normal(size=9)
    for cluster in range(150):  # three games each that end alike, a third of them drawn
        a, b = rng.choice(9, 2, replace=False)
        win = float(rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))) if cluster % 3 else 0.5
        rows += [(f"m{a}", f"m{b}", win, cluster)] * 3
    log = pd.DataFrame(rows, columns=["model_a", "model_b", "outcome", "prompt"])
    for matches in (nb.read_matches(log), nb.read_matches(log, cluster="prompt")):
        elo = nb.elo(matches)
        assert_same_elo(nb.evaluate(matches, pool=False, **FEW), elo)
        resampled = nb.elo(matches, errors="bootstrap", n_resamples=400)
        np.testing.assert_allclose(resampled.stderr.mean() / elo.stderr.mean(), 1, atol=0.1)
        anchor = {"m3": 1500.0}
        assert_same_elo(nb.evaluate(matches, pool=False, anchor=anchor, **FEW), nb.elo(matches, anchor=anchor))


def test_a_newcomer_with_one_win_is_not_the_champion() -> None:
    rng = np.random.default_rng(4)
    matches = played(rng, leads(rng, 8, spread=0.8, cyclic=0.0), 40)
    W = np.zeros((9, 9))
    i, j = matches.pairs.T
    W[i, j], W[j, i] = matches.wins, matches.losses
    W[8, 0] = 1
    found = nb.evaluate(nb.Matches.from_counts(W))
    elo = nb.elo(nb.Matches.from_counts(W))
    assert_same_elo(found, elo)
    assert "mean 0 of the 8 well-measured agents" in str(found)
    assert found.posterior.probability_top[8] < 0.2
    assert found.board.rank_high[8] - found.board.rank_low[8] > 4


def test_missing_scores_are_modelled_and_counted(table: nb.Scores) -> None:
    values = table.values.copy()
    values[0, 1] = values[3, 4] = np.nan
    holes = nb.Scores.from_array(values, lower_is_better=table.lower_is_better, stderr=table.stderr)
    found = nb.evaluate(holes, **FEW)
    assert "2 of 30 scores missing" in found.verdict[-1]
    assert np.isfinite(found.board.gaps).all()
    with pytest.raises(nb.InputError, match="missing"):
        nb.evaluate(holes, noise="none")


def test_audit_and_stress_use_the_settings_of_the_evaluation(table: nb.Scores) -> None:
    for scaling in ("rank", "zscore"):
        found = nb.evaluate(table, scaling=scaling, noise="none")
        (before,) = (one for one in found.stress(copies=[1], targets=[], draws=0).before if one.method == "nash")
        assert set(before.winners) == set(found.support)
        assert found.audit().level == 0.95
        weights = found.audit().importance[0].weights
        np.testing.assert_allclose(weights, found.board.weights, atol=1e-9)
    assert nb.evaluate(table, level=0.9, **FEW).audit().level == 0.9


def test_identical_agents_alone_all_tie() -> None:
    found = nb.evaluate(nb.Matches.from_counts([[0, 3], [3, 0]], ["x", "y"]), **FEW)
    assert found.board.weights.tolist() == [0.5, 0.5]
    assert found.board.ranks.tolist() == [1, 1]
    one = nb.evaluate(nb.Scores.from_array([[1.0, 2.0], [1.0, 2.0]]), scaling="none", **FEW)
    assert one.board.probability_top.tolist() == [1.0, 1.0]


def test_an_anchor_keeps_its_rating(arena: nb.Matches) -> None:
    found = nb.evaluate(arena, anchor={"agent 3": 1500.0}, **FEW)
    rating = found.board.rating
    assert rating is not None
    assert (rating.name, rating.values[3], rating.low[3]) == ("Elo", pytest.approx(1500), pytest.approx(1500))
    assert found.settings["anchor"] == {"agent 3": 1500.0}


def test_the_rating_is_elo_even_where_cycles_are_strong() -> None:
    rng = np.random.default_rng(4)
    cycle = nb.evaluate(played(rng, leads(rng, 6, spread=0.1, cyclic=1.2), 200), **FEW)
    assert cycle.board.rating is not None
    assert cycle.board.rating.name == "Elo"


def test_the_mean_of_scores_is_the_published_one() -> None:
    rng = np.random.default_rng(0)
    scores = nb.Scores.from_array(rng.uniform(0.2, 0.9, size=(6, 5)), n=np.full((6, 5), 100))
    found = nb.evaluate(scores, **FEW)
    assert found.board.rating is not None
    np.testing.assert_allclose(found.board.rating.values, scores.values.mean(axis=1))
    assert (found.board.rating.low < found.board.rating.values).all()
    mixed = nb.evaluate(replace(scores, lower_is_better=np.array([True, False, False, False, False])), **FEW)
    assert mixed.board.rating is None  # a mean over both directions has no meaning


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples is 0"),
        ({"level": 95}, "the level is 95"),
        ({"level": 0.05}, "the level is 0.05: it is a confidence"),
        ({"rng": -1}, "rng is -1"),
        ({"workers": 0}, "workers is 0"),
        ({"selection": "nash"}, "no selection 'nash'"),
        ({"noise": "modl"}, "no noise 'modl'.*did you mean 'model'"),
        ({"components": "each"}, "no components 'each'"),
        ({"pool": "never"}, "pool is 'never'"),
        ({"call": ""}, "call is ''"),
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
    with pytest.raises(nb.InputError, match="an anchor is for ratings"):
        nb.evaluate(table, anchor={"agent 1": 1.0})
    with pytest.raises(nb.InputError, match="no scaling 'reference'"):
        nb.evaluate(table, scaling="reference")


def test_groups_that_never_met_are_an_error_or_the_largest_is_evaluated() -> None:
    W = np.zeros((5, 5))
    W[0, 1], W[1, 0], W[1, 2], W[2, 1], W[3, 4], W[4, 3] = 3, 1, 2, 2, 5, 1
    matches = nb.Matches.from_counts(W, list("abcde"))
    with pytest.raises(nb.InputError, match="2 groups that never met"):
        nb.evaluate(matches)
    found = nb.evaluate(matches, components="largest", **FEW)
    assert found.agents == ("a", "b", "c")
    assert any("left out: 'd' and 'e'" in warning for warning in found.warnings)


def test_every_column_has_a_meaning(once: nb.Evaluation, table: nb.Scores) -> None:
    scores = nb.evaluate(table, **FEW)
    for columns in ("default", "all"):
        for shown in (
            once.leaderboard(columns),
            scores.leaderboard(columns),
            scores.tasks(columns),
        ):
            assert all(column.meaning for column in shown.columns)
    with pytest.raises(nb.InputError, match="no columns 'most'"):
        scores.leaderboard("most")


def test_the_default_columns_are_those_of_the_first_screen(once: nb.Evaluation) -> None:
    found = once
    assert [column.name for column in found.screen().columns] == [
        "rank", "agent", "gap", "P(top)", "Elo", "Elo rank", "games",
    ]  # fmt: skip
    assert str(found).startswith(found.verdict[0])
    frame = found.to_polars()
    assert frame.columns[:5] == ["rank", "agent", "gap", "gap low", "gap high"]
    assert found.to_pandas("all").shape == (7, len(found.leaderboard("all").columns))
    assert found.to_html() == found.compact().to_html()
    assert [column.name for column in found.compact().columns] == ["rank", "agent", "P(top)", "gap"]
    assert found.to_html(columns="all").count("<th ") == len(found.leaderboard("all").columns)
    assert found.verdict[0] in found.compact().title


@pytest.mark.parametrize(
    ("share", "said"),
    [(0, "0%"), (0.004, "less than 1%"), (0.005, "1%"), (0.235, "23%"), (0.996, "more than 99%"), (1, "100%")],
)
def test_a_share_in_percent_is_rounded_as_the_board_rounds_it(share: float, said: str) -> None:
    assert percent(share) == said


def test_a_warning_that_asks_ends_in_one_mark() -> None:
    data = nb.Matches.from_counts([[0, 9], [5, 0]], ["x", "y"])
    said = nb.evaluate(replace(data, origin=data.origin.noting("spelt twice?", "so it is")), n_resamples=2).warnings
    assert {"Spelt twice?", "So it is."} <= set(said)


@pytest.mark.parametrize("kind", ["matches", "scores"])
def test_other_methods_are_columns_from_the_same_draws(arena: nb.Matches, table: nb.Scores, kind: str) -> None:
    data: Any = arena if kind == "matches" else replace(table, lower_is_better=np.zeros(6, dtype=bool))
    found = nb.evaluate(data, methods=("nash", "elo", "borda", "copeland"), **FEW)
    names = [one.name for one in found.board.second]
    assert names[0] == ("Elo" if kind == "matches" else "mean")
    assert len(names) == 3
    assert f"{names[1]} rank" in [column.name for column in found.screen().columns]
    copied = (
        enter_agents(data, {"agent 1": 3}) if kind == "matches" else enter_in_scores(data, "agents", {"agent 1": 3})
    )
    again = nb.evaluate(copied, methods=("nash", "elo", "borda", "copeland"), **FEW)
    for one, other in zip(found.board.second[1:], again.board.second[1:], strict=True):
        assert one.values.tolist() == other.values[: len(data.agents)].tolist()
    with pytest.raises(nb.InputError, match="bord"):
        nb.evaluate(data, methods=("nash", "bord"))


def test_another_suite_is_drawn_from_the_tasks_and_copies_of_tasks_move_nothing(table: nb.Scores) -> None:
    found = nb.evaluate(table, noise="none", n_resamples=40).another_suite()
    copied = enter_in_scores(table, "tasks", {table.tasks[0]: 3})
    again = nb.evaluate(copied, noise="none", n_resamples=40).another_suite()
    assert found.rows == again.rows
    assert all(0 <= float(row[1] or 0) <= 1 for row in found.rows)
    with pytest.raises(nb.InputError, match="have no tasks"):
        nb.evaluate(nb.load_dataset("rock-paper-scissors"), **FEW).another_suite()


@pytest.mark.slow
def test_cycles_are_claimed_only_where_noise_does_not_explain_them() -> None:
    rng = np.random.default_rng(8)
    for spread in (0.0, 0.8):
        for _ in range(4):
            found = nb.evaluate(played(rng, leads(rng, 10, spread=spread, cyclic=0.0), 20), n_resamples=20)
            assert "A ladder explains these results" in found.verdict[1]
    cyclic = nb.evaluate(played(rng, leads(rng, 10, spread=0.3, cyclic=1.0), 40), n_resamples=20)
    assert "Cycles matter here" in cyclic.verdict[1]


@pytest.mark.parametrize("known", ["stderr", "games"])
def test_payoffs_with_errors_or_games_have_intervals_an_audit_and_a_stress_test(known: str) -> None:
    rng = np.random.default_rng(9)
    noise = np.triu(rng.normal(0, 0.2, (6, 6)), 1)
    r = np.linspace(1, -1, 6)
    A = r[:, None] - r + noise - noise.T
    payoffs = nb.Payoffs.from_array(A, stderr=0.2 * (1 - np.eye(6)))
    if known == "games":  # mean results of 100 games each, between -1 and 1
        payoffs = nb.Payoffs.from_array(np.tanh(A / 2), games=100)
    found = nb.evaluate(payoffs, n_resamples=40)
    assert not found.board.exact
    assert (found.board.gap_high - found.board.gap_low).max() > 0
    again = nb.evaluate(enter_in_payoffs(payoffs, {"agent 2": 3}), n_resamples=40)
    assert unmoved(again, payoffs.agents) == unmoved(found, payoffs.agents)
    assert {check.name for check in found.audit().checks} >= {"known noise", "certified"}
    assert found.stress(copies=[2], targets=[]).nash_moved == 0.0
