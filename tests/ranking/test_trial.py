"""Methods side by side: first place, new data, copies and dropouts."""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from commands import Run
from nashboard.evaluation import problem as problem_of_evaluation
from nashboard.evaluation.posterior import matches as posterior_of_matches
from nashboard.ranking import trial as trials
from nashboard.ranking.method import Method
from nashboard.ranking.new_data import Simulation
from nashboard.ranking.pairwise import Pairwise, pairwise
from nashboard.ranking.trial import Trial, kendall, try_methods

CYCLE = [[0, 60, 40], [40, 0, 70], [60, 30, 0]]


def one(name: str, wins: object = CYCLE, ranks: tuple[int, ...] = (1, 1, 1)) -> Trial:
    data = pairwise(nb.Matches.from_counts(np.array(wins, dtype=float)))
    return try_methods(data, np.array(ranks), methods=[name]).trials[0]


def test_copies_change_the_winner_of_borda_and_not_of_schulze() -> None:
    moved, firm = one("borda"), one("schulze")
    assert moved.copies == 1
    assert moved.one_copy > 0
    assert firm.copies is None
    assert firm.one_copy == 0


@pytest.mark.parametrize("name", ["borda", "schulze"])
def test_no_number_of_copies_is_entered_twice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entered = []

    def recorded(method: Method, data: Pairwise, entry: trials.Entry, copies: int) -> trials.Winners:
        entered.append((entry, copies))
        return enter(method, data, entry, copies)

    enter = trials.rank_with_copies
    monkeypatch.setattr(trials, "rank_with_copies", recorded)
    one(name)
    assert len(entered) == len(set(entered)) >= 3


@pytest.mark.parametrize("name", ["nash", "maximal_lottery", "deviation"])
def test_neither_copies_nor_dropouts_change_first_place_of_an_equilibrium(name: str) -> None:
    W = np.zeros((6, 6))
    W[np.triu_indices(6, 1)] = [60, 40, 90, 80, 70, 70, 80, 90, 60, 90, 70, 80, 55, 60, 58]
    W.T[np.triu_indices(6, 1)] = 100 - W[np.triu_indices(6, 1)]
    found = one(name, W, (1, 1, 1, 4, 5, 6))
    assert (found.copies, found.one_copy, found.dropped) == (None, 0, 0)
    assert found.dropped_of == 3


def test_a_narrow_lead_is_not_found_again_and_a_wide_one_is() -> None:
    def same(wins: int, games: int) -> float:
        matches = nb.Matches.from_counts([[0, wins], [games - wins, 0]])
        return nb.evaluate(matches, n_resamples=100).second_opinions(["elo"]).trials[0].same

    assert same(900, 1000) == 1
    assert 0.3 < same(51, 100) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    "regime",
    [
        "ladder, 20 games",
        "cyclic, 20 games",
        "weak tasks, standard errors",
        "100 items, 12 guessed",
        "2 skills, unknown noise",
    ],
)
def test_the_share_of_the_same_winner_is_that_of_new_data_from_the_truth(
    regime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off by at most 0.05 on average over five methods, beside what chance explains."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    found = importlib.import_module("truth_methods").run_regime(regime, repeats=16, again=25, seed=77)
    _, _, off, error = found["all"]
    assert abs(off) < 0.05 + 3 * error


def test_new_tables_differ_where_many_weak_tasks_agree_and_not_on_useless_tasks() -> None:
    rng = np.random.default_rng(6)
    skill = np.linspace(-2, 2, 10)[:, None]
    weak = skill * np.ones(12) + 2.5 * rng.normal(size=(10, 12))
    useless = 2.5 * rng.normal(size=(10, 12))
    for extra, low, high in ((weak, 0.5, 1.5), (useless, -0.3, 0.3)):
        values = np.hstack([skill + 0.3 * rng.normal(size=(10, 6)), extra])
        noise = np.broadcast_to(np.repeat([0.3, 2.5], [6, 12]), values.shape)
        found = nb.evaluate(nb.Scores.from_array(values, stderr=noise), n_resamples=50)
        problem = found.own_problem("simulate")
        simulation = problem.simulation()
        assert simulation is not None
        truth = np.mean([simulation.truths(k) for k in range(simulation.count)], axis=0)
        assert len(problem.draws.facts["set_aside"]) >= 6
        slopes = [np.polyfit(skill[:, 0], column, 1)[0] for column in truth[:, 6:].T]
        assert low < np.mean(slopes) < high


def test_noisy_copies_change_a_maximum_and_exact_data_have_none() -> None:
    truth = np.zeros((3, 3))
    data = pairwise(nb.Matches.from_counts(CYCLE))
    new = Simulation(data=data, truths=lambda k: truth, count=5)
    assert try_methods(data, np.ones(3, dtype=int), methods=["win_rate"], simulation=new).trials[0].noisy > 0
    exact = nb.evaluate(nb.load_dataset("alphago")).second_opinions(["nash"]).trials[0]
    assert np.isnan(exact.noisy)
    assert np.isnan(exact.same)


PROMPTS = """model_a,model_b,winner,prompt
x,y,model_a,q1
x,y,model_b,q2
y,z,model_a,q1
z,x,model_a,q2
x,z,tie,q1
y,z,model_b,q2
"""


def test_the_command_compares_deviation_on_prompts_and_says_where_they_are_pooled(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(PROMPTS, encoding="utf-8")
    words = ["methods", str(path), "-m", "deviation", "-m", "borda", "--resamples", "20", "--format", "json"]
    pooled, split = command(*words), command(*words, "--prompts", "prompt")
    assert "games of all prompts are pooled: deviation uses them with --prompts prompt" in pooled.stderr
    assert "pooled" not in split.stderr
    ranked, listed = (nb.rank(nb.read_matches(path), name).notes for name in ("deviation", "borda"))
    assert ranked == (
        "games of all prompts are pooled: deviation uses them with --prompts prompt, in Python with "
        "read_segments(log, 'prompt')",
    )
    assert not listed
    one, other = (json.loads(done.stdout)["methods"] for done in (pooled, split))
    alone = nb.rank(nb.read_segments(path, "prompt"), "deviation")
    assert dict(zip(other[0]["ranking"]["agents"], other[0]["ranking"]["scores"], strict=True)) == pytest.approx(
        dict(zip(alone.agents, alone.scores, strict=True)), abs=1e-6
    )
    assert one[0]["ranking"]["scores"] != other[0]["ranking"]["scores"]
    assert (other[0]["same"], other[0]["noisy"]) == (None, None)  # new data have no prompts
    assert one[1] == other[1]
    only = command("methods", str(path), "-m", "borda", "--prompts", "prompt", code=2)
    assert "only deviation uses prompts" in only.stderr


def test_nash_of_observed_results_and_the_board_are_told_apart() -> None:
    few = nb.Matches.from_counts(
        [[0, 1, 0], [1, 0, 1], [1, 0, 0]], ["x", "y", "z"], draws=np.eye(3)[::-1] - np.diag([0, 1, 0])
    )
    found = nb.evaluate(few, n_resamples=100).second_opinions(["nash", "borda"])
    nash = found.trials[0].ranking
    assert nash is not None
    assert (nash.winners, found.first) == (("x", "y"), ("y",))
    assert "nash has 'x' and 'y' first and the board 'y': nash takes the observed results as exact" in str(found)
    agreed = nb.evaluate(nb.Matches.from_counts([[0, 90], [10, 0]]), n_resamples=50).second_opinions(["nash"])
    assert "as exact" not in str(agreed)


def test_methods_that_do_not_apply_say_why() -> None:
    found = nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=20).second_opinions(["nash", "iqm"])
    assert found.trials[1].ranking is None
    assert "not ranked by iqm: needs scores" in str(found)
    assert "1 of 1 methods" in found.summary()


def test_copies_of_a_task_change_the_winner_of_a_mean_and_not_of_nash() -> None:
    scores = nb.Scores.from_array([[9.0, 1.0, 5.0], [1.0, 7.0, 5.5], [4.0, 4.0, 4.0]])
    found = try_methods(pairwise(scores), np.array([1, 1, 1]), methods=["mean", "nash"])
    assert found.trials[0].copied.startswith("task")
    assert found.trials[1].copies is None


def test_a_bump_chart_has_a_line_per_agent_and_a_column_per_method() -> None:
    trials = nb.evaluate(nb.load_dataset("alphago")).second_opinions(["nash", "borda"], quick=True)
    drawn = nb.charts.method_ranks(trials, top=5).to_dict()
    rows = next(iter(drawn["datasets"].values())) if "datasets" in drawn else drawn["data"]["values"]
    assert len(rows) == 5 * 3
    with pytest.raises(nb.InputError, match="method_ranks needs what"):
        nb.charts.method_ranks(nb.load_dataset("alphago"))  # type: ignore[arg-type]


def test_the_title_of_a_bump_chart_counts_agreement_with_every_first_agent_of_the_board() -> None:
    W = np.array([[0, 60, 40, 90, 90], [40, 0, 70, 90, 90], [60, 30, 0, 90, 90], [10] * 5, [10] * 5])
    data = pairwise(nb.Matches.from_counts(W * (1 - np.eye(5)), list("abcde")))
    for ranks, said in (
        ((1, 2, 3, 4, 5), "1 of 2 methods put a first"),
        ((1, 1, 3, 4, 5), "2 of 2 methods put a or b first"),
        ((1, 1, 1, 1, 5), "2 of 2 methods agree with the board on an agent in first place"),
    ):
        trials = try_methods(data, np.array(ranks), methods=["nash", "borda"])
        assert trials.summary().startswith(f"{trials.agreeing} of 2 methods agree")
        assert said in json.dumps(nb.charts.method_ranks(trials).to_dict())


def test_kendall_is_one_for_the_same_order_and_unknown_for_ties() -> None:
    assert kendall(np.array([1, 2, 3]), np.array([1, 2, 3])) == 1
    assert kendall(np.array([1, 2, 3]), np.array([3, 2, 1])) == -1
    assert np.isnan(kendall(np.array([1, 1, 1]), np.array([1, 2, 3])))


def test_trials_are_the_same_for_the_same_seed_and_workers() -> None:
    matches = nb.Matches.from_counts(CYCLE)
    one, two = (nb.evaluate(matches, n_resamples=30, workers=w).second_opinions(["elo", "borda"]) for w in (1, 2))
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())


def test_the_board_shows_other_methods_with_their_intervals() -> None:
    found = nb.evaluate(nb.Matches.from_counts(CYCLE), n_resamples=30, methods=["nash", "elo", "schulze", "borda"])
    names = [column.name for column in found.leaderboard().columns]
    assert "Schulze rank" in names
    assert "Borda" in names


def test_the_command_compares_methods(command: Run) -> None:
    done = command("methods", "dataset:rock-paper-scissors", "-m", "nash", "-m", "borda", "--resamples", "20")
    assert "fewest copies" in done.stdout
    found = json.loads(command("methods", "dataset:alphago", "-m", "copeland", "--format", "json").stdout)
    assert found["methods"][0]["method"] == "copeland"
    assert "none was given" in command("methods", "--seed", "3", code=2).stderr


@pytest.mark.parametrize("name", ["rank", "methods"])
def test_options_without_effect_are_refused(command: Run, name: str) -> None:
    some = ["-m", "uniform"]  # which depends on the scaling of scores
    refused = [
        (["dataset:alphago", "--scaling", "rank"], "it is for scores"),
        (["dataset:suite-3", "--min-games", "3"], "it is for matches"),
        (["dataset:alphago", "--components", "each", "--format", "json"], "json contains one: use text or md"),
    ]
    for words, said in refused:
        assert said in command(name, *words, *some, code=2).stderr


def test_the_scaling_of_a_table_changes_the_uniform_average(command: Run) -> None:
    one, two = (
        json.loads(command("rank", "dataset:atari", "-m", "uniform", "--scaling", way, "--format", "json").stdout)
        for way in ("range", "rank")
    )
    assert one["scores"] != two["scores"]


def test_the_command_takes_a_column_of_prompts_for_deviation_ratings(command: Run, tmp_path: Path) -> None:
    won = {"code": "ann bob,ann cyd,bob cyd", "prose": "bob ann,cyd ann,cyd bob", "chat": "ann bob,bob cyd,cyd ann"}
    lines = [f"{pair.replace(' ', ',')},{prompt}" for prompt, pairs in won.items() for pair in pairs.split(",")]
    log = tmp_path / "votes.csv"
    log.write_text("\n".join(["winner,loser,prompt", *lines]) + "\n")
    asked = ["rank", str(log), "--prompts", "prompt", "--format", "json", "-m"]
    found = json.loads(command(*asked, "deviation").stdout)
    scores = dict(zip(found["agents"], found["scores"], strict=True))
    assert scores == pytest.approx({"ann": -0.5, "bob": -1.0, "cyd": -0.5}, abs=1e-6)
    assert "elo pools all games" in command(*asked, "elo", code=2).stderr
    assert "--min-games has no effect" in command(*asked, "deviation", "--min-games", "2", code=2).stderr


def test_methods_are_compared_where_the_payoffs_of_all_draws_do_not_fit_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matches = nb.Matches.from_counts(wins_of(12, 4))
    kept = nb.evaluate(matches, n_resamples=100, pool=False, methods=["nash", "borda"])
    monkeypatch.setattr(posterior_of_matches, "MOST_PAYOFFS", 10)
    large = nb.evaluate(matches, n_resamples=100, pool=False, methods=["nash", "borda"])
    assert large.problem is not None
    assert large.problem.draws.payoffs is None
    assert large.problem.simulation().count == 25  # type: ignore[union-attr]
    one, two = (found.board.second[-1] for found in (kept, large))
    np.testing.assert_allclose(one.values, two.values, atol=0.6)  # of 11 opponents
    assert two.meaning.endswith("from 25 of 100 draws")
    first, again = (found.second_opinions(["borda"]).trials[0] for found in (kept, large))
    assert first.ranking is not None
    assert again.ranking is not None
    assert first.ranking.winners == again.ranking.winners
    assert again.same == pytest.approx(first.same, abs=0.3)
    monkeypatch.setattr(problem_of_evaluation, "MOST_PAYOFFS", 10)
    with pytest.raises(nb.InputError, match="the payoffs of some draws, which do not fit in memory for 12 agents"):
        nb.evaluate(matches, n_resamples=100, pool=False).second_opinions(["borda"])


def test_first_place_on_the_board_is_shared_as_its_headline_says() -> None:
    found = nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=50)
    assert set(found.second_opinions(["nash"]).first) == {"A", "B", "C"}


def test_new_scores_are_the_truth_with_noise_in_the_units_of_each_task() -> None:
    """One task in thousands decides a mean, and constant tasks change nothing."""
    values = np.array([[9000.0, 1.0, 5.0, 2.0], [1000.0, 7.0, 6.0, 2.0], [4000.0, 4.0, 4.0, 2.0]])
    data = pairwise(nb.Scores.from_array(values, tasks=["big", "small", "other", "constant"]))
    truth = values[:, :3] - [3.0, 0.0, -5.0]  # a draw whose zero is another on each task
    for scale in (0.0, 1.0):
        noise = scale * np.tile([100.0, 1.0, 0.5], (3, 1))
        new = Simulation(data=data, truths=lambda k: truth, count=3, noise=noise)
        rng = np.random.default_rng(0)
        raw = np.array([new.draw(0, rng).compared_raw for _ in range(400)])
        np.testing.assert_allclose(raw.mean(axis=0) / values[:, :3], 1.0, atol=0.1 * scale + 1e-12)
        np.testing.assert_allclose(raw.std(axis=0), noise, rtol=0.2)
    exact = Simulation(data=data, truths=lambda k: truth, count=3, noise=np.zeros((3, 3)))
    found = try_methods(data, np.array([1, 1, 1]), methods=["mean", "borda"], simulation=exact)
    assert [(one.same, one.noisy) for one in found.trials] == [(1, 0), (1, 0)]
    assert found.trials[0].copies is None
    assert data.copy_task(1, 2).compared_raw.shape == (3, 5)


def test_new_games_have_the_expected_points_and_the_dispersion_of_the_data() -> None:
    W, D = np.array([[0.0, 30.0], [10.0, 0.0]]), np.array([[0.0, 60.0], [60.0, 0.0]])
    data = pairwise(nb.Matches.from_counts(W, draws=D))
    x = np.log(0.6 / 0.4) * np.array([[0.0, 1.0], [-1.0, 0.0]])  # 60 points of 100
    new = Simulation(data=data, truths=lambda k: x, count=1, dispersion=0.4)
    rng = np.random.default_rng(0)
    drawn = [new.draw(0, rng) for _ in range(2000)]
    points = np.array([one.points[0, 1] for one in drawn])
    assert points.mean() == pytest.approx(60, abs=0.3)
    assert points.var() == pytest.approx(0.4 * 100 * 0.24, rel=0.1)
    assert {float(one.games[0, 1].round(6)) for one in drawn} == {100.0}
    assert drawn[0].counts[1][0, 1] == 60


def test_payoffs_with_errors_are_drawn_again() -> None:
    A = nb.Payoffs.from_array([[0, 0.4, 0.1], [-0.4, 0, 0.3], [-0.1, -0.3, 0]], games=50, scale="margin")
    found = nb.evaluate(A, n_resamples=50)
    one = found.second_opinions(["borda"]).trials[0]
    assert 0 < one.same < 1
    assert nb.rank(found, "elo").order[0] == "agent 1"


@pytest.mark.parametrize("kind", ["matches", "scores"])
def test_an_evaluation_is_ranked_by_its_posterior_as_its_column_is(kind: str) -> None:
    rng = np.random.default_rng(8)
    data: Any = nb.Matches.from_counts(wins_of(5, 8))
    if kind == "scores":
        data = nb.Scores.from_array(rng.normal(size=(5, 6)), stderr=np.full((5, 6), 0.3))
    found = nb.evaluate(data, n_resamples=40, methods=["nash", "schulze"])
    column = next(one for one in found.board.second if one.name == "Schulze")
    ranking = nb.rank(found, "schulze")
    assert ranking.agents == found.agents
    np.testing.assert_allclose(ranking.scores, column.values, atol=1e-12)
    assert "means over 40 draws" in str(ranking)
    draws = found.drawn_data()[1]
    each = np.array([nb.methods()["schulze"].rank(one).ranks for one in draws])
    label = found.drawn_data()[2]
    assert (column.rank_low <= np.median(each, axis=0)[label]).all()
    assert (column.rank_high >= np.median(each, axis=0)[label]).all()


def test_an_interquartile_mean_on_the_board_has_the_zero_of_the_scaled_scores() -> None:
    rng = np.random.default_rng(4)
    skill = rng.uniform(0.2, 0.8, size=(6, 1))
    scores = nb.Scores.from_array(skill + rng.normal(0, 0.02, size=(6, 12)), stderr=np.full((6, 12), 0.02))
    board = nb.evaluate(scores, n_resamples=40, methods=["nash", "iqm"]).board
    found = next(column for column in board.second if column.name == "interquartile mean")
    np.testing.assert_allclose(found.values, nb.rank(scores, "iqm").scores, atol=0.06)


def wins_of(n: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Wins in 20 games of each pair: ratings and a cycle."""
    rng = np.random.default_rng(seed)
    r, c = rng.normal(0, 0.4, size=n), rng.normal(size=(2, n)) / 2
    lead = r[:, None] - r + np.outer(c[0], c[1]) - np.outer(c[1], c[0])
    won = np.triu(rng.binomial(20, 1 / (1 + np.exp(-lead))), 1).astype(float)
    return np.asarray(won + np.tril(20 - won.T, -1))


def entered(T: Any, kept: list[int], *, scores: bool) -> Any:
    """Return the data of these agents by hand: a copy has the results of the original, and none against it."""
    names = [f"{k} {at}" for at, k in enumerate(kept)]
    if scores:
        return nb.Scores.from_array(T[kept], agents=names)
    W = T[np.ix_(kept, kept)]
    return nb.Matches.from_counts(np.where(np.equal.outer(kept, kept), 0.0, W), names)


def first_of(name: str, data: Any) -> set[str]:
    return {winner.split()[0] for winner in nb.rank(data, name).winners}


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["elo", "hodge", "win_rate", "borda", "copeland", "schulze", "pagerank", "nash"])
@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("kind", ["matches", "scores"])
def test_copies_and_dropouts_are_counted_as_by_hand(kind: str, seed: int, name: str) -> None:
    if kind == "scores" and name == "win_rate":
        return
    n, scores = 5, kind == "scores"
    T = np.random.default_rng(seed).normal(size=(n, 4)) if scores else wins_of(n, seed)
    everybody = list(range(n))
    first = first_of(name, entered(T, everybody, scores=scores))

    def moved(copies: int, agent: int | None = None, task: int | None = None) -> bool:
        if task is not None:
            wider = np.hstack([T, np.repeat(T[:, [task]], copies, axis=1)])
            return first_of(name, entered(wider, everybody, scores=True)) != first
        return first_of(name, entered(T, everybody + [agent] * copies, scores=scores)) != first  # type: ignore[list-item]

    entries: list[dict[str, int]] = [{"agent": k} for k in everybody] + [{"task": k} for k in range(4) if scores]
    others = [k for k in everybody if str(k) not in first]
    dropped = [
        k for k in others if first_of(name, entered(T, [j for j in everybody if j != k], scores=scores)) != first
    ]
    smallest = next((c for c in range(1, 33) if any(moved(c, **one) for one in entries)), None)
    data = pairwise(entered(T, everybody, scores=scores))
    found = try_methods(data, np.ones(n, dtype=int), methods=[name]).trials[0]
    assert (found.tried, found.one_copy) == (len(entries), sum(moved(1, **one) for one in entries))
    assert found.copies == smallest
    assert (found.dropped_of, found.dropped) == (len(others), len(dropped))


def test_simulated_payoffs_keep_their_games() -> None:
    A = np.array([[0.0, 0.2, -0.1], [-0.2, 0.0, 0.3], [0.1, -0.3, 0.0]])
    games = np.array([[0.0, 30, 400], [30, 0, 5], [400, 5, 0]])
    data = pairwise(nb.Payoffs(agents=("a", "b", "c"), A=A, games=games, scale="logit"))
    new = Simulation(data=data, truths=lambda k: A, count=1, noise=np.full((3, 3), 0.1))
    again = new.draw(0, np.random.default_rng(1))
    copied = new.draw(0, np.random.default_rng(1), kept=np.array([0, 1, 2, 1]))
    np.testing.assert_array_equal(again.games, games)
    np.testing.assert_array_equal(copied.games[3, [0, 2]], games[1, [0, 2]])
    assert (again.payoffs != A).any()


@pytest.mark.slow
def test_new_data_and_noisy_copies_change_a_win_rate_as_often_as_by_hand() -> None:
    W, rng = wins_of(4, 1), np.random.default_rng(9)
    truth = np.log((W + 1) / (W.T + 1))
    rate = 1 / (1 + np.exp(-truth))
    first = set(np.flatnonzero((points := W.sum(axis=1)) == points.max()))

    def played(P: Any) -> Any:
        won = np.triu(rng.binomial(20, P), 1).astype(float)
        return np.asarray(won + np.tril(20 - won.T, -1))

    def best(total: Any, games: Any, original: Any) -> set[int]:
        share = total / games
        return set(original[np.flatnonzero(share > share.max() - 1e-12)].tolist())

    again = [best(played(rate).sum(axis=1), 60.0, np.arange(4)) == first for _ in range(3000)]
    order, changed = np.argsort(-points, kind="stable"), []
    for trial in range(3000):
        agent = int(order[trial % 4])
        copies = rng.binomial(20, np.delete(rate[agent], agent), size=(5, 3)).astype(float)
        total, games = points.copy(), np.full(4, 60.0)
        total[[k for k in range(4) if k != agent]] += (20 - copies).sum(axis=0)
        games[[k for k in range(4) if k != agent]] += 100
        everyone = np.append(np.arange(4), [agent] * 5)
        all_total, all_games = np.append(total, copies.sum(axis=1)), np.append(games, [60.0] * 5)
        changed.append(best(all_total, all_games, everyone) != first)
    data = pairwise(nb.Matches.from_counts(W))
    new = Simulation(data=data, truths=lambda k: truth, count=200)
    runs = [
        try_methods(data, np.ones(4, dtype=int), methods=["win_rate"], simulation=new, seed=seed).trials[0]
        for seed in range(15)
    ]
    assert np.mean([run.same for run in runs]) == pytest.approx(np.mean(again), abs=0.04)
    assert np.mean([run.noisy for run in runs]) == pytest.approx(np.mean(changed), abs=0.06)
