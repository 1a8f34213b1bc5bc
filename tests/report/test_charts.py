"""What charts show is what the results say; and they stay readable, whatever the names and however many."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from arenas import play
from nashboard.charts.planes import Box, Frame, place_labels, plane_points, signed_area
from nashboard.evaluation.board.board import rank_places

NASTY = ["a.b[0]'\"\\<script>", "</script><b>", "__proto__", "x" * 400, "é 名前"]


def load(name: str) -> Any:
    return nb.load_dataset(name)


def rows(chart: Any, field: str) -> list[dict[str, Any]]:
    """Return the rows of all data of a chart that have a field."""
    return [row for part in chart.to_dict()["datasets"].values() for row in part if field in row]


def arena(n: int, names: list[str] | None = None) -> nb.Matches:
    rng = np.random.default_rng(n)
    turn = 2 * np.pi * rng.random(n)
    lead = np.subtract.outer(*[rng.normal(size=n)] * 2) + np.sin(np.subtract.outer(turn, turn))
    return play(lead, 30, rng, names or [f"agent {k}" for k in range(n)])


@pytest.fixture(scope="module")
def atari() -> nb.Evaluation:
    return nb.evaluate(load("atari"), noise="none")


@pytest.fixture(scope="module")
def league() -> nb.Evaluation:
    return nb.evaluate(arena(12), n_resamples=20)


def test_the_leaderboard_holds_the_numbers_of_the_board(league: nb.Evaluation) -> None:
    board = league.board
    shown = rows(nb.charts.leaderboard(league), "gap")
    assert [row["name"] for row in shown] == [board.names[k] for k in board.order]
    for k, row in zip(board.order, shown, strict=True):
        assert row["gap"] == pytest.approx(board.gaps[k])
        assert (row["low"], row["high"]) == pytest.approx((board.gap_low[k], board.gap_high[k]))
        assert row["top"] == pytest.approx(board.probability_top[k])
        assert row["label"].startswith(f"{board.ranks[k]}. ")


def test_bars_of_probabilities_are_parts_of_one(league: nb.Evaluation) -> None:
    assert league.board.probability_top.max() < 1
    bars = nb.charts.leaderboard(league).to_dict()["hconcat"][1]["layer"][-1]["encoding"]["x"]
    assert bars["scale"]["domain"] == [0, 1]


def test_the_caption_of_a_board_says_what_blue_is(league: nb.Evaluation, atari: nb.Evaluation) -> None:
    said = [
        chart.to_dict()["title"]["subtitle"][0] for chart in (nb.charts.leaderboard(league), nb.charts.tasks(atari))
    ]
    assert said[0] == "Blue points are at the top with a probability of at least 1/2."
    assert said[1] == "Blue points decide who is at the top with a probability of at least 1/2."


def test_a_board_without_intervals_says_so_and_draws_none() -> None:
    chart = nb.charts.leaderboard(nb.evaluate(load("roshambo")))
    assert "No bars: the data are taken as exact." in chart.to_dict()["title"]["subtitle"]
    assert '"interval"' not in json.dumps({**chart.to_dict(), "config": {}})


def test_a_long_board_folds_its_tail_into_one_row(league: nb.Evaluation) -> None:
    shown = rows(nb.charts.leaderboard(league, top=4), "folded")
    assert [row["folded"] for row in shown] == [False] * 4 + [True]
    assert shown[-1]["label"] == "and 8 more"
    gaps = league.board.gaps[league.board.order[4:]]
    assert (shown[-1]["low"], shown[-1]["high"]) == pytest.approx((gaps.min(), gaps.max()))


def test_slopes_hold_both_ranks(league: nb.Evaluation) -> None:
    board = league.board
    assert board.rating is not None
    elo = rank_places(board.rating.values)
    for row in rows(nb.charts.rank_changes(league), "before"):
        k = board.names.index(row["name"])
        assert (row["before"], row["after"]) == (elo[k], board.ranks[k])
        assert row["way"] == (
            "up" if row["after"] < row["before"] else "down" if row["after"] > row["before"] else "same"
        )


@pytest.mark.parametrize("of", ["agents", "tasks"])
def test_weights_add_up_to_one_whatever_is_folded(of: str) -> None:
    found = nb.nash_average_scores(load("atari"))
    for top in (2, 60):
        assert sum(row["weight"] for row in rows(nb.charts.weights(found, of=of, top=top), "weight")) == pytest.approx(
            1
        )


def test_averages_are_sorted_by_nash(atari: nb.Evaluation) -> None:
    shown = rows(nb.charts.averages(atari, of="tasks"), "method")
    nash = [row["value"] for row in shown if row["method"] == "Nash average"]
    uniform = {row["name"]: row["value"] for row in shown if row["method"] == "uniform average"}
    assert nash == sorted(nash, reverse=True)
    board = atari.task_board
    assert board is not None
    assert uniform == pytest.approx(dict(zip(board.names, board.uniform, strict=True)))


def test_the_cyclic_map_has_no_ratings_left_in_it() -> None:
    shown = rows(nb.charts.payoff_map(load("roshambo"), part="cyclic"), "value")
    n = 1 + max(row["i"] for row in shown)
    R = np.zeros((n, n))
    for row in shown:
        R[row["i"], row["j"]] = row["value"] or 0.0
    assert np.abs(R + R.T).max() < 1e-3 * np.abs(R).max()
    assert np.abs(R.mean(axis=1)).max() < 1e-4 * np.abs(R).max()


def test_pairs_that_never_met_stay_empty() -> None:
    counts = np.array([[0, 5, 0], [3, 0, 4], [0, 2, 0]])
    empty = [row for row in rows(nb.charts.payoff_map(nb.Matches.from_counts(counts)), "value") if row["value"] is None]
    assert len(empty) == 3 + 2  # nobody meets itself, and the first never met the last


def test_the_circle_of_appendix_f_is_a_circle_of_four_quarters() -> None:
    cycle = nb.schur([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])
    points = plane_points(cycle, 0)
    assert np.hypot(*points.T) == pytest.approx(np.ones(4))
    angles = np.degrees(np.arctan2(points[:, 1], points[:, 0])) % 360
    assert np.diff(angles) % 360 == pytest.approx([90, 90, 90])


def test_the_line_of_appendix_f_is_a_line_with_even_steps() -> None:
    ladder = nb.schur(nb.grad([1.5, 0.5, -0.5, -1.5]))
    steps = np.diff(plane_points(ladder, 0), axis=0)
    assert steps == pytest.approx(np.tile(steps[0], (3, 1)))
    assert (ladder.strengths[1:] == 0).all()


@pytest.mark.parametrize("plane", [0, 1, 2])
def test_areas_of_all_planes_add_up_to_payoffs(plane: int) -> None:
    found = nb.schur(nb.payoffs(load("alphago")))
    part = found.reconstruct(plane + 1) - (found.reconstruct(plane) if plane else 0)
    points = plane_points(found, plane)
    for a in range(len(points)):
        for b in range(len(points)):
            assert signed_area(points[a], points[b]) == pytest.approx(part[a, b], abs=1e-9)


def test_two_agents_can_be_chosen_in_a_plane() -> None:
    found = nb.schur(nb.payoffs(arena(5, NASTY)))
    spec = nb.charts.plane(found, pair=(NASTY[1], NASTY[0])).to_dict()
    params = {param["name"]: param for param in spec["params"]}
    assert [params[name]["value"] for name in ("first", "second")] == [NASTY[1], NASTY[0]]
    assert params["first"]["bind"] == {"input": "select", "name": "First agent: ", "options": sorted(NASTY)}
    assert params["agents"]["value"] == NASTY
    with pytest.raises(nb.InputError, match="no plane 9"):
        nb.charts.plane(found, plane=9)
    with pytest.raises(nb.InputError, match="nobody"):
        nb.charts.plane(found, pair=("nobody", NASTY[0]))


def test_latent_coordinates_multiply_to_what_averages_miss() -> None:
    found = nb.latent(load("atari"), k=2)
    at = {row["name"]: (row["x"], row["y"]) for row in rows(nb.charts.latent(found), "kind")}
    X, Y = (np.array([at[name] for name in names]) for names in (found.agents, found.tasks))
    assert pytest.approx(found.reconstruct() - found.reconstruct(0), abs=1e-6) == X @ Y.T


def test_arrows_of_cycles_point_from_winner_to_loser() -> None:
    found = nb.hodge(load("roshambo"))
    arrows = rows(nb.charts.cycles(found, k=3), "winner")
    wins = {(row["winner"], row["loser"]): row["payoff"] for row in arrows}
    for cycle in found.cycles(3):
        for at, (a, b) in enumerate(zip(cycle.agents, (*cycle.agents[1:], cycle.agents[0]), strict=True)):
            assert wins[a, b] == pytest.approx(cycle.payoffs[at])
    assert "No three agents" in nb.charts.cycles(nb.hodge(nb.grad([1, 0, -1]))).to_dict()["title"]["text"]


@pytest.mark.thin(3)
@pytest.mark.parametrize("top", [1, 3, 10])
def test_contributions_add_up_to_the_gap(league: nb.Evaluation, atari: nb.Evaluation, top: int) -> None:
    for evaluation in (league, atari):
        board = evaluation.board
        for k in board.order[[0, 5, -1]]:
            shown = rows(nb.charts.contributions(evaluation, board.names[k], top=top), "term")
            parts, total = shown[:-1], shown[-1]
            assert total["term"] == pytest.approx(-board.gaps[k], abs=1e-6)
            assert sum(row["term"] for row in parts) == pytest.approx(-board.gaps[k], abs=1e-5)
            assert len(parts) <= top + 1
            assert all((row["term"] >= 0) == (row["kind"] == "gain") for row in parts if row["kind"] != "rest")


def test_whiskers_are_those_of_the_evaluation_and_shrink_with_games() -> None:
    widths = []
    for games in (20, 2000):
        counts = np.array([[0, 0.7, 0.3, 0.9], [0.3, 0, 0.7, 0.9], [0.7, 0.3, 0, 0.9], [0.1, 0.1, 0.1, 0]]) * games
        evaluation = nb.evaluate(nb.Matches.from_counts(counts), n_resamples=100)
        drawn = [row for row in rows(nb.charts.contributions(evaluation, "agent 4"), "term") if "low" in row]
        kept = {one.name: one for one in evaluation.contributions["agent 4"]}
        for row in drawn:
            ends = (kept[row["name"]].low, kept[row["name"]].high)
            assert (row["low"], row["high"]) == pytest.approx(ends, abs=1e-6)
        widths.append(np.mean([row["high"] - row["low"] for row in drawn]))
    assert widths[1] < widths[0] / 2


def test_copies_of_a_task_are_one_bar() -> None:
    scores = nb.Scores.from_array([[0.9, 0.2, 0.2], [0.3, 0.8, 0.8], [0.2, 0.3, 0.3]], stderr=np.full((3, 3), 0.05))
    chart = nb.charts.contributions(nb.evaluate(scores, n_resamples=50, scaling="none"), "agent 3")
    assert sorted(row["name"] for row in rows(chart, "term")) == ["all together", "task 1", "task 2"]


def test_contributions_of_an_evaluation_read_from_json_are_the_same(league: nb.Evaluation) -> None:
    last = league.board.names[league.board.order[-1]]
    read = nb.Evaluation.from_json(league.to_json())
    assert nb.charts.contributions(read, last).to_dict() == nb.charts.contributions(league, last).to_dict()


def test_the_stress_picture_holds_every_rank() -> None:
    found = nb.stress(load("rock-paper-scissors"), of=["C"], copies=[1, 10], draws=0, targets=[], noise="none")
    shown = rows(nb.charts.stress(found), "place")
    ranks = {(row["method"], row["copies"], row["name"]): row["rank"] for row in shown}
    assert [ranks["uniform", copies, "B"] for copies in ("0", "1", "10")] == [1, 1, 1]
    assert [ranks["elo", copies, "A"] for copies in ("0", "1", "10")] == [1, 3, 3]
    assert {rank for (method, _, _), rank in ranks.items() if method == "nash"} == {1}
    for row in shown:
        assert abs(row["place"] - row["rank"]) < 0.1  # those who tie are a bundle, not an order
    (note,) = rows(nb.charts.stress(found), "said")
    assert (note["method"], note["rank"], note["said"]) == ("nash", 1, "A = B = C")


def test_near_clones_are_neighbours_in_a_frame() -> None:
    rng = np.random.default_rng(1)
    S = rng.random((12, 9))
    S[:, [3, 7]] = S[:, [0]]
    found = nb.audit(nb.Scores.from_array(S), noise="none")
    chart = nb.charts.redundancy(found)
    (frame,) = rows(chart, "members")
    assert frame["members"] == "task 1, task 4, task 8"
    names = next(param["value"] for param in chart.to_dict()["params"] if param["name"] == "row_names")
    first, last = names.index(frame["first"]), names.index(frame["last"])
    assert set(names[first : last + 1]) == {"task 1", "task 4", "task 8"}
    assert (
        "No near-duplicates are shown among agents"
        in nb.charts.redundancy(found, of="agents").to_dict()["title"]["text"]
    )


@pytest.mark.slow
def test_calibration_finds_that_elo_cannot_predict_a_cycle() -> None:
    cycle = nb.Matches.from_counts([[0, 90, 10], [10, 0, 90], [90, 10, 0]])
    shown = rows(nb.charts.calibration(cycle), "predicted")
    elo, melo = ([row for row in shown if row["model"].startswith(name)] for name in ("Elo", "mElo"))
    assert all(0.4 < row["predicted"] < 0.6 for row in elo)
    assert all(row["low"] <= row["observed"] <= row["high"] for row in shown)
    assert all(row["low"] - 0.03 < row["predicted"] < row["high"] + 0.03 for row in melo)
    assert sum(row["games"] for row in melo) == pytest.approx(300)
    seen = nb.charts.calibration(cycle, ratings=nb.melo(cycle))
    assert f"log-loss {nb.melo(cycle).log_loss:.3f}" in rows(seen, "model")[0]["model"]


def test_coins_are_not_predicted_by_anybody() -> None:
    coins = nb.Matches.from_counts([[0, 6, 5], [4, 0, 6], [5, 4, 0]])
    assert nb.charts.calibration(coins).to_dict()["title"]["text"] == "Neither model predicts better than guessing"
    alone = nb.charts.calibration(coins, planes=[0]).to_dict()["title"]["text"]
    assert alone == "Elo does not predict better than guessing"


def test_cycles_within_the_noise_are_no_headline() -> None:
    def title(games: int) -> str:
        won = [[0, 6, 4], [4, 0, 6], [6, 4, 0]]
        spec = nb.charts.cycles(nb.audit(nb.Matches.from_counts(games * np.array(won)))).to_dict()
        assert "The strongest cycle. " in spec["title"]["subtitle"][0]
        return str(spec["title"]["text"])

    assert title(1) == "This cycle may be chance"
    assert title(100).startswith("agent 1 beats agent 2")
    # every task a game: nothing else says what is noise
    scores = nb.Scores.from_array(np.array([[3.0, 1.0, 2.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]]))
    spec = nb.charts.cycles(nb.audit(scores)).to_dict()["title"]
    assert spec["text"] == "This cycle may be chance"
    assert "by noise alone the only triple stays below 2.0" in spec["subtitle"][-1]


def test_a_map_in_the_order_of_a_board(league: nb.Evaluation) -> None:
    chart = nb.charts.payoff_map(nb.payoffs(arena(12)), order=league.board).to_dict()
    names = next(param["value"] for param in chart["params"] if param["name"] == "row_names")
    assert names == [league.board.names[k] for k in league.board.order]
    assert "Sorted by place on the board" in chart["title"]["subtitle"][0]


def test_the_frame_of_a_plane_fits_its_points_on_one_scale() -> None:
    points = np.array([[0.0, 0.0], [10.0, 1.0], [2.0, -3.0]])
    frame = Frame.from_points(points)
    pixels = frame.to_pixels(points)
    assert (pixels > 0).all()
    assert (pixels < [frame.width, frame.height]).all()
    steps = np.diff(pixels, axis=0) / np.diff(points, axis=0)
    np.testing.assert_allclose(np.abs(steps), np.abs(steps[0, 0]), rtol=1e-6)
    assert (frame.width, frame.height) == (560, 224)


def test_names_do_not_cover_each_other() -> None:
    rng = np.random.default_rng(2)
    x, y = 400 * rng.random((2, 60))
    names = [f"name {k}" for k in range(60)]
    found = place_labels(names, x, y, range(60), size=(400, 400))
    boxes = []
    for k, label in enumerate(found):
        if label.text:
            width = 6.4 * len(label.text)
            left = x[k] + label.dx - {"left": 0.0, "right": width, "center": width / 2}[label.align]
            boxes.append(Box(left, y[k] + label.dy - 6, left + width, y[k] + label.dy + 6))
    assert len(boxes) > 20
    assert not [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]


def test_any_name_is_a_value_and_never_a_field_or_an_expression() -> None:
    evaluation = nb.evaluate(arena(5, NASTY), n_resamples=5)
    for chart in (nb.charts.leaderboard(evaluation), nb.charts.rank_changes(evaluation),
                  nb.charts.contributions(evaluation, NASTY[0])):  # fmt: skip
        spec = chart.to_dict()
        assert {row["name"] for row in rows(chart, "name")} & set(NASTY)
        drawn = {key: spec[key] for key in spec if key not in ("datasets", "title", "description", "config")}
        assert not [name for name in NASTY if json.dumps(name)[1:-1] in json.dumps(drawn)]


def test_wrong_options_are_said_in_a_sentence(league: nb.Evaluation) -> None:
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: nb.charts.leaderboard(league, top=0), "top is 0"),
        (lambda: nb.charts.tasks(league), "have no tasks"),
        (lambda: nb.charts.weights(league, of="taks"), "did you mean 'tasks'"),
        (lambda: nb.charts.weights(league, of="tasks"), "have no tasks"),
        (lambda: nb.charts.payoff_map(arena(3), order="elo"), "no order 'elo'"),
        (lambda: nb.charts.contributions(league, "agnt 1"), "did you mean 'agent 1'"),
        (lambda: nb.charts.calibration(load("atari")), "calibration needs matches"),
        (lambda: nb.charts.payoff_map(arena(13), order=league.board), "the board does not contain 'agent 12'"),
        *(
            (partial(getattr(nb.charts, name), load("atari")), f"{name} needs what .* returned, not Scores")
            for name in ("latent", "leaderboard", "plane", "rank_changes", "ratings", "stress", "tasks")
        ),
    ]
    for call, said in cases:
        with pytest.raises(nb.InputError, match=said):
            call()


def test_copies_take_no_place_in_a_chart_of_rank_changes() -> None:
    table = [[0.9, 0.8, 0.9], [0.5, 0.6, 0.5], [0.5, 0.6, 0.5], [0.2, 0.1, 0.1]]
    found = nb.evaluate(nb.Scores.from_array(table, agents=["a", "b", "b again", "c"]), n_resamples=20)
    assert nb.charts.rank_changes(found).title.text == "None of 4 agents changes place"
