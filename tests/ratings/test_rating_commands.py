"""The commands elo, melo, predict and online."""

import json
import signal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from commands import run, run_process
from nashboard.online import follow as logs
from nashboard.online.models import load

AWKWARD = 'a "quoted\nline", and a comma'


def write_table(log: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        log.write_csv(path)
    elif path.suffix == ".jsonl":
        log.write_ndjson(path)
    else:
        log.write_parquet(path)


def write_log(path: Path, games: int, *, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 6, games)
    b = (a + rng.integers(1, 6, games)) % 6
    log = pl.DataFrame(
        {
            "model_a": [f"agent {k}" for k in a],
            "note": [AWKWARD if k % 3 else "plain" for k in range(games)],
            "model_b": [f"agent {k}" for k in b],
            "winner": rng.choice(["model_a", "model_b", "tie"], games),
        }
    )
    write_table(log, path)
    return log


def test_elo_notes_an_advantage_of_the_first_side_that_it_leaves_in(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    home, away = rng.integers(0, 6, (2, 600))
    home, away = home[home != away], away[home != away]
    log = {"home": [f"team {k}" for k in home], "away": [f"team {k}" for k in away]}
    for name, share in (("biased", 0.65), ("fair", 0.5)):
        result = np.where(rng.random(home.size) < share, "1-0", "0-1")
        pl.DataFrame({**log, "result": result}).write_csv(tmp_path / f"{name}.csv")
    note = "--first-advantage takes that out"
    assert note in run("elo", tmp_path / "biased.csv").stderr
    assert note not in run("elo", tmp_path / "biased.csv", "--first-advantage").stderr
    assert note not in run("elo", tmp_path / "fair.csv").stderr


def test_elo_prints_the_leaderboard() -> None:
    rows = json.loads(run("elo", "dataset:alphago", "--format", "json").stdout)["rows"]
    assert rows[0]["agent"] == "alpha_rvp"
    data = nb.load_dataset("alphago")
    assert isinstance(data, nb.Matches)
    assert rows[0]["rating"] == pytest.approx(float(nb.elo(data).ratings[0]))


def test_elo_takes_anchors() -> None:
    rows = json.loads(run("elo", "dataset:alphago", "--anchor", "Zen=1000", "--format", "json").stdout)["rows"]
    assert next(row["rating"] for row in rows if row["agent"] == "Zen") == 1000
    assert "takes an agent and a rating" in run("elo", "dataset:alphago", "--anchor", "Zen", code=2).stderr


def test_elo_takes_errors_by_resampling() -> None:
    words = ("elo", "dataset:alphago", "--format", "json", "--resamples", "20", "--seed", "3")
    rows = json.loads(run(*words, "--errors", "bootstrap").stdout)["rows"]
    data = nb.load_dataset("alphago")
    assert isinstance(data, nb.Matches)
    expected = nb.elo(data, errors="bootstrap", n_resamples=20, rng=3)
    assert rows[0]["low"] == pytest.approx(float(expected.interval[0][expected.ratings.argmax()]))
    assert "'hessian', 'sandwich', 'bootstrap'" in run(*words, "--errors", "bootstrapped", code=2).stderr


@pytest.mark.thin(2)
@pytest.mark.parametrize("option", [["--resamples", "9"], ["--seed", "0"], ["--workers", "2"]])
def test_options_of_resampling_need_errors_by_resampling(option: list[str]) -> None:
    refused = run("elo", "dataset:alphago", *option, code=2).stderr
    assert f"{option[0]} has no effect: it is for --errors bootstrap" in refused
    run("elo", "dataset:alphago", *option, "--errors", "bootstrap")


def test_melo_prints_the_planes_and_the_selection() -> None:
    result = run("melo", "dataset:alphago", "--k", "2", "--format", "csv")
    assert "plane 2" in result.stdout.splitlines()[0]
    chosen = run("melo", "dataset:rock-paper-scissors", "--k", "auto")
    assert "planes by cross-validation" in chosen.stderr
    refused = run("melo", "dataset:alphago", "--k", "two", code=2).stderr
    assert "'two' is neither a whole number nor 'auto'" in refused


def test_predict_shows_elo_melo_and_what_was_seen() -> None:
    rows = json.loads(
        run("predict", "dataset:alphago", "alpha_v", "Zen", "--prior", "0.01", "--k", "1", "--format", "json").stdout
    )["rows"]
    assert [row["by"] for row in rows] == ["Elo", "mElo, 1 plane", "seen"]
    assert rows[0]["probability"] == pytest.approx(0.58, abs=0.005)
    assert rows[2]["probability"] == pytest.approx(0.4)
    turned = json.loads(run("predict", "dataset:alphago", "Zen", "alpha_v", "--format", "json").stdout)["rows"]
    assert [row["by"] for row in turned] == ["Elo", "hierarchical", "Hodge", "seen"]  # planes predict no better
    assert turned[-1]["probability"] == pytest.approx(0.6)
    assert "did you mean 'Zen'?" in run("predict", "dataset:alphago", "alpha_v", "Zan", code=2).stderr


def test_predict_puts_planes_first_where_they_predict_better(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = ["rock,scissors,1", "scissors,paper,1", "paper,rock,1"] * 30 + ["scissors,rock,1", "paper,scissors,1"] * 2
    path.write_text("\n".join(["a,b,outcome", *rows]))
    said = run("predict", path, "rock", "scissors").stdout
    assert said.splitlines()[3].startswith("mElo, 1 plane")
    assert "use the first row: with 1 plane the log-loss of held-out games is 0." in said


def test_predict_says_which_row_to_trust_and_what_its_numbers_are(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,winner\n" + "x,y,model_a\nx,y,model_b\n" * 49 + "y,z,tie\n")
    said = run("predict", path, "x", "y").stdout
    assert "the standard error of 'seen' is about 0.05: use it only where the two met often" in said
    assert "lead: difference in Elo points" in said
    assert "probability: share of points that x takes" in said
    assert "the two never met" in run("predict", path, "x", "z").stdout


def test_games_are_written_in_one_way_by_every_command(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,winner,weight\nx,y,model_a,1.5\nx,y,model_b,1\ny,z,tie,1\nz,x,model_a,2\n")
    for words in (("evaluate", path, "--resamples", "2"), ("elo", path), ("melo", path), ("predict", path, "x", "y")):
        said = run(*words).stdout.splitlines()
        start = next(k for k, line in enumerate(said) if line.startswith("--"))
        assert said[start - 1].endswith("games")
        games = {row.split()[-1] for row in said[start + 1 : start + 4]}
        assert games == ({"2.50"} if words[0] == "predict" else {"3", "3.50", "4.50"})
    assert "4.50" in str(nb.read_matches(path))


@pytest.mark.slow
def test_melo_says_what_a_plane_is() -> None:
    said = run("melo", "dataset:alphago", "--k", "2").stdout.splitlines()
    (line,) = [line for line in said if line.startswith("plane 1, plane 2: part in cycles")]
    data = nb.load_dataset("alphago")
    assert isinstance(data, nb.Matches)
    found = nb.melo(data, 2)
    reach = np.linalg.norm(found.cyclic.reshape(-1, 2, 2), axis=2)
    moved = np.abs(found.leads() - (found.ratings[:, None] - found.ratings))
    assert (moved <= np.einsum("ip,jp->ij", reach, reach) + 1e-9).all(), line


@pytest.mark.thin(3)
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_online_reads_a_log_and_goes_on_where_it_stopped(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "PIECE", 1000)
    monkeypatch.setattr(logs, "ROWS", 37)
    path, state = tmp_path / f"log{ending}", tmp_path / "league.npz"
    log = write_log(path, 500)
    expected = nb.OnlineMelo(1)
    expected.update_many(log)
    whole = run("online", path, "--state", tmp_path / "whole.npz", "--k", 1)
    assert "500 rows, 500 games" in whole.stderr
    assert "agent 3" in whole.stdout

    write_table(log.head(123), path)
    run("online", path, "--state", state, "--k", 1)
    write_log(path, 500)
    later = run("online", path, "--state", state)
    assert "377 rows after 123 before, 500 games" in later.stderr
    again = run("online", path, "--state", state)
    assert "0 rows after 500 before, 500 games" in again.stderr
    for file in (state, tmp_path / "whole.npz"):
        league = load(file).league
        assert league.names == expected.league.names
        np.testing.assert_array_equal(league.means, expected.league.means[: league.size])
        np.testing.assert_array_equal(league.sums, expected.league.sums)


def test_online_takes_another_log_and_refuses_a_changed_one(tmp_path: Path) -> None:
    state = tmp_path / "league.npz"
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    write_log(first, 40)
    write_log(second, 30, seed=1)
    run("online", first, "--state", state)
    run("online", second, "--state", state)
    assert load(state).league.games == 70
    write_log(first, 40, seed=2)
    assert "--from-start" in run("online", first, "--state", state, code=2).stderr
    run("online", first, "--state", state, "--from-start")
    assert load(state).league.games == 110


def test_a_state_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    refused = run("online", "no-such-file.csv", "--state", tmp_path / "nowhere" / "league.npz", code=2).stderr
    assert refused.endswith("nowhere', create it first\n")


def own_words(path: Path) -> Path:
    """Write a log with columns and labels of its own, and weights."""
    rows = [
        "player,rival,verdict,worth",
        "ann,bob,first,2",
        "bob,cid,both fine,1.5",
        "cid,ann,spam,7",
        "ann,cid,second,1",
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_online_reads_columns_and_labels_of_a_users_own(tmp_path: Path) -> None:
    log, state = own_words(tmp_path / "own.csv"), tmp_path / "league.npz"
    words = ["a=player", "b=rival", "outcome=verdict", "weight=worth", "outcomes=both fine:0.5,spam:none"]
    done = run("online", log, "--state", state, *(word for pair in words for word in ("-r", pair)))
    assert "3 rows, 4.50 games, 3 agents" in done.stderr
    assert "online, 4.50 games in order" in done.stdout
    expected = nb.OnlineElo()
    games = {"a": ["ann", "bob", "ann"], "b": ["bob", "cid", "cid"], "outcome": [1, 0.5, 0], "weight": [2, 1.5, 1]}
    expected.update_many(games)
    assert load(state).ratings().ratings.tolist() == expected.ratings().ratings.tolist()


def test_online_names_the_log_its_column_and_the_row(tmp_path: Path) -> None:
    log, state = own_words(tmp_path / "own.csv"), tmp_path / "league.npz"
    words = ["online", log, "--state", state, "-r", "a=player", "-r", "b=rival", "-r", "outcome=verdict"]
    said = run(*words, "-r", "outcomes=spam:none", code=2).stderr
    assert f"{str(log)!r}, column 'verdict' has an unknown outcome: 'both fine' in 1 row (data row 2)" in said
    assert "-r 'outcomes=both fine:0.5'" in said
    rules = ["-r", "outcomes=both fine:0.5,spam:none"]
    run(*words, *rules)
    with log.open("a") as stream:
        stream.write("cid,ann,first,1\nbob,bob,first,1\n")
    said = run(*words, *rules, code=2).stderr
    assert f"{str(log)!r}, data row 2 after those that were read before: 'bob' met itself" in said


def test_labels_that_name_a_column_are_understood(tmp_path: Path) -> None:
    games = {"ours": ["ann", "bob"], "theirs": ["bob", "ann"], "winner": ["ours", "theirs"]}
    league = nb.OnlineElo()
    assert league.update_many(games, a="ours", b="theirs") == 2
    assert league.predict("ann", "bob") > 0.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-r", "where=verdict:first"], "online takes no -r where="),
        (["-r", "time=day", "--time", "worth"], "--time worth and -r time=day name two columns"),
        (
            ["-r", "a=player", "-r", "b=rival", "-r", "outcome=worth", "-r", "weight=verdict"],
            "must contain numbers, not text",
        ),
        (
            ["-r", "outcome=verdikt", "-r", "a=player", "-r", "b=rival"],
            "has no column 'verdikt' (did you mean 'verdict'?)",
        ),
    ],
)
def test_online_refuses_what_it_cannot_read_in_one_sentence(words: list[str], message: str, tmp_path: Path) -> None:
    log = own_words(tmp_path / "own.csv")
    log.write_text(log.read_text().replace(",7", ",0.7").replace(",2\n", ",0.2\n").replace("1.5", "0.5"))
    assert message in run("online", log, "--state", tmp_path / "league.npz", *words, code=2).stderr


def test_options_that_contradict_the_state_are_refused(tmp_path: Path) -> None:
    log, state = tmp_path / "log.csv", tmp_path / "league.npz"
    write_log(log, 10)
    run("online", log, "--state", state, "--rate", 32)
    assert "--rate 32" in run("online", log, "--state", state, "--rate", 16, code=2).stderr


def test_a_broken_line_keeps_what_came_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "PIECE", 200)
    log, state = tmp_path / "log.csv", tmp_path / "league.npz"
    lines = ["model_a,model_b,winner", *["ann,bob,model_a"] * 50, "ann,bob,nobody knows"]
    log.write_text("\n".join(lines) + "\n")
    assert "nobody knows" in run("online", log, "--state", state, code=2).stderr
    assert 30 < load(state).league.games <= 50
    log.write_text("\n".join([*lines[:-1], "ann,bob,tie"]) + "\n")
    run("online", log, "--state", state)
    assert load(state).league.games == 51


def test_predict_reads_a_league(tmp_path: Path) -> None:
    log, state = tmp_path / "log.csv", tmp_path / "league.npz"
    write_log(log, 100)
    run("online", log, "--state", state, "--k", 1)
    rows = json.loads(run("predict", state, "agent 1", "agent 2", "--format", "json").stdout)["rows"]
    assert rows[0]["probability"] == pytest.approx(load(state).predict("agent 1", "agent 2"))


def test_control_c_on_standard_input_keeps_everything_read_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "league.npz"
    pieces = [b"model_a,model_b,winner\nann,bob,model_a\nbob,cy,tie\nann,c", b"y,model_b\nann,c"]

    def read(size: int) -> bytes:
        if pieces:
            return pieces.pop(0)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("Ctrl-C did not end the wait")

    monkeypatch.setattr(logs, "read_available", read)
    before = signal.getsignal(signal.SIGINT)
    result = run("online", "-", "--state", state, code=130)
    assert "3 games" in result.stderr
    assert "saved" in result.stderr
    assert signal.getsignal(signal.SIGINT) is before
    expected = nb.OnlineElo()
    for a, b, outcome in [("ann", "bob", 1.0), ("bob", "cy", 0.5), ("ann", "cy", 0.0)]:
        expected.update(a, b, outcome)
    np.testing.assert_array_equal(load(state).league.ratings, expected.league.ratings)
    assert [path.name for path in tmp_path.iterdir()] == ["league.npz"]  # nothing half-written beside it


def test_control_c_within_a_file_finishes_the_piece_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, state = tmp_path / "log.csv", tmp_path / "league.npz"
    games = write_log(log, 400)
    monkeypatch.setattr(logs, "PIECE", 1000)
    calm = logs.Layout.frame
    calls = []

    def interrupted(layout: logs.Layout, text: bytes, name: str, position: int) -> pl.DataFrame:
        calls.append(position)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return calm(layout, text, name, position)

    monkeypatch.setattr(logs.Layout, "frame", interrupted)
    run("online", log, "--state", state, "--k", 1, code=130)
    assert len(calls) == 3
    assert 0 < load(state).league.games < 400
    run("online", log, "--state", state)
    expected = nb.OnlineMelo(1)
    expected.update_many(games)
    np.testing.assert_array_equal(load(state).league.means, expected.league.means[:6])


@pytest.mark.slow
def test_standard_input_is_read_to_its_end(tmp_path: Path) -> None:
    state = tmp_path / "league.npz"
    lines = '{"model_a": "ann", "model_b": "bob", "winner": "model_a"}\n' * 5
    for games in (5, 10):  # what comes through a pipe is always new
        done = run_process("online", "-", "--state", state, "--format", "json", input=lines, check=True)
        assert json.loads(done.stdout)["rows"][0]["agent"] == "ann"
        assert load(state).league.games == games
