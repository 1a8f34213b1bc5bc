"""One awkward log, one awkward table of scores, every data frame library: the same answer to the last count."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from data.conftest import Engine, every_engine, every_local_engine
from nashboard.data.formats import long_scores, wide_scores
from nashboard.data.table.table import Table

LOG: dict[str, list[Any]] = {
    "model_a": ["x", "y", "z", "x", 'é, "q"', "x", "y", "z"],
    "model_b": ["y", "z", "x", "y", "🤖", "y", "x", "z"],
    "winner": ["model_a", "model_b", "tie", "MODEL_B", "tie (bothbad)", " model_a ", "both_bad", "tie"],
    "share": [1.0, 0.0, 0.5, 0.0, 0.25, 1.0, 0.75, 0.5],
    "weight": [1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 3.0, 1.0],
    "tstamp": [1.7e9, 1.7e9 + 60, 1.7e9 + 120, 1.7e9 + 30, 1.7e9, 1.7e9, 1.7e9, 1.7e9],
    "session": ["s1", "s1", "s2", "s2", "s3", "s3", None, None],
    "language": ["en", "en", "de", "en", "en", "de", "en", "en"],
}
SCORES: dict[str, list[Any]] = {
    "model": ["x", "x", "x", "y", "y", "🤖"],
    "task": ["go", "go", "chess", "go", "chess", "go"],
    "score": [1.0, 2.0, 5.0, 4.0, None, 0.5],
    "lower_is_better": [False, False, True, False, True, False],
}
SAME: dict[str, Any] = {"self_matches": "drop", "weight": "weight"}


def counts(matches: nb.Matches) -> tuple[object, ...]:
    return (
        matches.agents,
        matches.pairs.tolist(),
        *(getattr(matches, k).tolist() for k in ("wins", "draws", "losses")),
    )


@every_local_engine
def test_labels_weights_and_self_matches_are_counted_the_same(engine: Engine) -> None:
    matches = nb.read_matches(engine(LOG), cluster="session", time="tstamp", **SAME)
    assert counts(matches) == (
        ("x", "y", "z", 'é, "q"', "🤖"),
        [[0, 1], [0, 2], [1, 2], [3, 4]],
        [2, 0, 0, 0],
        [3, 1, 0, 0.5],
        [1, 0, 2, 0],
    )
    assert [(entry.count, entry.why) for entry in matches.origin.left_out] == [(1, "an agent met itself")]
    assert matches.origin.rows == 8
    assert matches.origin.period == ("2023-11-14 22:13:20+00:00", "2023-11-14 22:15:20+00:00")
    assert matches.clusters is not None
    assert matches.clusters.size == 4
    assert np.bincount(matches.clusters.pair, matches.clusters.wins).tolist() == matches.wins.tolist()


@every_local_engine
def test_numbers_between_0_and_1_are_shares_of_a_point(engine: Engine) -> None:
    matches = nb.read_matches(engine(LOG), outcome="share", where={"language": "en"}, **SAME)
    assert matches.n_games == 1 + 2 + 1 + 0.5 + 3
    assert matches.wins.tolist() == [1 + 0.25 * 3, 0, 0.25 * 0.5]
    assert matches.losses.tolist() == [1 + 0.75 * 3, 2, 0.75 * 0.5]
    assert [(entry.count, entry.why) for entry in matches.origin.left_out] == [
        (2, "language is not en"),
        (1, "an agent met itself"),
    ]


@every_engine
def test_long_scores_are_averaged_over_runs_the_same(engine: Engine) -> None:
    scores = nb.read_scores(engine(SCORES))
    assert (scores.agents, scores.tasks) == (("x", "y", "🤖"), ("chess", "go"))
    np.testing.assert_array_equal(scores.values, [[5, 1.5], [np.nan, 4], [np.nan, 0.5]])
    np.testing.assert_allclose(scores.stderr, [[np.nan, 0.5], [np.nan, np.nan], [np.nan, np.nan]])
    assert scores.runs.tolist() == [[1, 2], [0, 1], [0, 1]]
    assert scores.lower_is_better.tolist() == [True, False]
    assert [(entry.count, entry.why) for entry in scores.origin.left_out] == [(1, "no score")]


@every_local_engine
def test_wide_scores_keep_their_order_and_their_holes(engine: Engine) -> None:
    wide: dict[str, list[Any]] = {
        "agent": ["y", "x", "z"],
        "go": [1.0, 2.0, 3.0],
        "chess": [None, 5.0, 6.0],
        "average": [1.0, 3.5, 4.5],
    }
    scores = nb.read_scores(engine(wide))
    assert (scores.agents, scores.tasks) == (("y", "x", "z"), ("go", "chess"))
    np.testing.assert_array_equal(scores.values, [[1, np.nan], [2, 5], [3, 6]])
    assert str(scores.origin.left_out[0]) == "1 column left out: computed from the others: 'average'"


@every_local_engine
@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("winner", "modelb", r"unknown outcome: 'modelb' in 1 row \(.*\) \(did you mean 'model_b'\?\)"),
        ("winner", None, "unknown outcome: nothing in 1 row"),
        ("model_a", None, "column 'model_a': 1 row has no agent name"),
        ("model_a", "", "column 'model_a': 1 row has no agent name"),
        ("weight", -1.0, "column 'weight': 1 row has a weight that is missing, negative or not finite"),
        ("weight", float("inf"), "missing, negative or not finite"),
        ("weight", float("nan"), "missing, negative or not finite"),
        ("weight", None, "missing, negative or not finite"),
    ],
)
def test_mistakes_are_found_in_every_engine(engine: Engine, column: str, value: object, message: str) -> None:
    broken = {name: [value, *cells[1:]] if name == column else cells for name, cells in LOG.items()}
    with pytest.raises(nb.InputError, match=message):
        nb.read_matches(engine(broken), **SAME)


@every_local_engine
def test_reading_leaves_the_frame_unchanged(engine: Engine) -> None:
    frame = engine({"a": ["x", "y"], "b": ["y", "x"], "winner": ["x", "draw"]})
    matches = nb.read_matches(frame)
    assert counts(nb.Matches.from_frame(frame)) == counts(matches)
    assert isinstance(nb.read(frame), nb.Matches)


@every_engine
def test_an_awkward_log_is_counted_the_same_to_the_last_count(engine: Engine) -> None:
    """Every label, weight, name and hole at once; what is expected was counted by hand, in a loop."""
    log, expected = awkward(400)
    matches = nb.read_matches(
        engine(log),
        weight="weight",
        cluster="session",
        time="tstamp",
        outcomes={"aborted": None, "Ⅱ vince": 0.25},
        self_matches="drop",
        where={"language": ["en", "日本語"]},
    )
    assert {
        (matches.agents[i], matches.agents[j]): (w, d, x)
        for (i, j), w, d, x in zip(matches.pairs, matches.wins, matches.draws, matches.losses, strict=True)
    } == expected["counts"]
    assert matches.origin.rows == 400
    assert [(entry.count, entry.why) for entry in matches.origin.left_out] == expected["left out"]
    assert matches.origin.period == expected["period"]
    assert matches.clusters is not None
    assert matches.clusters.size == expected["clusters"]
    with pytest.raises(nb.InputError, match=r"unknown outcome: 'Ⅱ vince' in 48 rows .*, 'aborted' in 30 rows"):
        nb.read_matches(engine(log), self_matches="drop")


def awkward(rows: int) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return a log with everything that is awkward, and its counts by a plain loop over its rows."""
    names = ["é", "e\u0301", "X", "x", "🤖 ", "  lead", "q\"uo'te", "a,b", "Ω\t2", "NULL", "日本"]
    labels = {
        "model_a": 1.0, " MODEL_B ": 0.0, "Tie": 0.5, "tie (bothbad)": 0.5, "½-½": 0.5, "1-0": 1.0, "0.75": 0.75,
        "Ⅱ vince": 0.25, "aborted": None,
    }  # fmt: skip
    draw = np.random.default_rng(3).integers
    log: dict[str, list[Any]] = {
        "model_a": [names[k] for k in draw(len(names), size=rows)],
        "model_b": [names[k] for k in draw(len(names), size=rows)],
        "winner": [list(labels)[k] for k in draw(len(labels), size=rows)],
        "weight": [float(k) / 4 for k in draw(9, size=rows)],  # sums of quarters are exact in any order
        "tstamp": [1.7e9 + float(k) for k in draw(1000, size=rows)],
        "session": [None if k == 0 else f"s{k}" for k in draw(40, size=rows)],
        "language": [[None, "en", "de", "日本語"][k] for k in draw(4, size=rows)],
    }
    counts: dict[tuple[str, str], list[float]] = {}
    other = own = aborted = 0
    times, groups = [], set()
    for a, b, label, weight, time, session, language in zip(*log.values(), strict=True):
        if language not in ("en", "日本語"):
            other += 1
            continue
        times.append(time)
        aborted += labels[label] is None
        own += a == b
        if a == b:
            continue
        low, high = sorted((a, b))
        share = labels[label] or 0.0
        total = counts.setdefault((low, high), [0.0, 0.0, 0.0])
        if labels[label] == 0.5:
            total[1] += weight
        elif labels[label] is not None:
            total[0] += weight * (share if a == low else 1 - share)
            total[2] += weight * (1 - share if a == low else share)
        groups.add((session, None if session else (low, high)))
    met = {pair: tuple(total) for pair, total in counts.items() if sum(total) > 0}
    kept = {(session, pair) for session, pair in groups if session or pair in met}
    left_out = [
        (other, "language is not en or 日本語"),
        (own, "an agent met itself"),
        (aborted, "outcomes= ignores their label"),
    ]
    period = tuple(pl.from_epoch(pl.Series([min(times), max(times)])).dt.strftime("%Y-%m-%d %H:%M:%S+00:00"))
    return log, {"counts": met, "left out": left_out, "period": period, "clusters": len(kept)}


@every_engine
def test_an_awkward_table_of_scores_is_averaged_the_same(engine: Engine) -> None:
    """Runs, holes, Unicode, directions and a filter at once; what is expected was averaged by hand, in a loop."""
    agents = ["é", "e\u0301", "X", "x", "🤖 ", "  lead", "q\"uo'te", "NULL"]
    tasks = ["go", "Ω\t2", "日本", "a,b"]
    words = {"go": "False", "Ω\t2": " TRUE ", "日本": "no", "a,b": "1"}
    draw = np.random.default_rng(5).integers
    rows: list[tuple[Any, ...]] = []
    for agent in agents:
        for task in tasks:
            for _ in range([1, 2, 4][draw(3)]):  # sums of quarters, divided by a power of two, are exact
                rows.append((agent, task, float(draw(40)) / 4, words[task], float(draw(9)), "en"))
            rows.append((agent, task, None, words[task], 3.0, "en"))  # no score: not a run
            rows.append((agent, task, 99.0, words[task], 1.0, [None, "de"][draw(2)]))  # another language
    rows = [rows[k] for k in np.random.default_rng(6).permutation(len(rows))]
    names = ["model", "task", "score", "lower_is_better", "n", "language"]
    table: dict[str, list[Any]] = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    scores = nb.read_scores(engine(table), where={"language": "en"})
    assert scores.agents == tuple(sorted(agents))
    assert scores.tasks == tuple(sorted(tasks))
    for i, agent in enumerate(scores.agents):
        for j, task in enumerate(scores.tasks):
            runs = [row for row in rows if row[:2] == (agent, task) and row[5] == "en" and row[2] is not None]
            values = [row[2] for row in runs]
            assert scores.values[i, j] == sum(values) / len(values)
            assert scores.runs[i, j] == len(values)
            items = sum(row[4] for row in runs)
            np.testing.assert_equal(scores.n[i, j], items if items else np.nan)
            stderr = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
            np.testing.assert_allclose(scores.stderr[i, j], stderr, rtol=1e-12)
    assert scores.lower_is_better.tolist() == [task in ("Ω\t2", "a,b") for task in scores.tasks]
    assert [(entry.count, entry.why) for entry in scores.origin.left_out] == [(32, "no score")]
    assert scores.origin.rows == sum(row[5] == "en" for row in rows)


@every_local_engine
def test_arena_layouts_that_only_need_counting_are_counted_anywhere(engine: Engine) -> None:
    log = {"model_a": ["x", "y", "x"], "model_b": ["y", "z", "y"], "winner": ["model_a", "tie", "model_b"]}
    later = nb.read_matches(engine({**log, "evaluation_session_id": ["s", "s", "t"]}))
    assert (later.origin.format, later.n_games) == ("lmarena", 3)
    assert later.clusters is not None
    assert later.clusters.size == 2
    first = nb.read_matches(engine({**log, "anony": [True, False, True]}))
    assert (first.origin.format, first.n_games) == ("chatbot-arena", 2)
    assert [(entry.count, entry.why) for entry in first.origin.left_out] == [(1, "the models were not anonymous")]


def telling(came: list[int], run: Callable[..., pl.DataFrame]) -> Callable[..., pl.DataFrame]:
    """Return a way to run queries that tells how many rows came back."""

    def told(*query: Any, **how: Any) -> pl.DataFrame:
        found = run(*query, **how)
        came.append(len(found))
        return found

    return told


@every_engine
def test_only_labels_and_pair_counts_come_back(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    came: list[int] = []
    monkeypatch.setattr(Table, "collect", telling(came, Table.collect))
    monkeypatch.setattr(Table, "sum_up", telling(came, Table.sum_up))
    rows, agents, labels = 20_000, 4, ["model_a", "model_b", "tie"]
    names = [f"agent {k}" for k in range(agents)]
    log = {
        "model_a": [names[k % agents] for k in range(rows)],
        "model_b": [names[(k + 1 + k // agents % (agents - 1)) % agents] for k in range(rows)],
        "winner": [labels[k % 3] for k in range(rows)],
    }
    assert nb.read_matches(engine(log)).n_games == rows
    assert came == [len(labels), agents * (agents - 1)]


@every_local_engine
def test_long_scores_may_be_text_and_hold_words_for_nothing(engine: Engine) -> None:
    table = {"model": ["x", "x", "y", "y"], "task": ["t", "u", "t", "u"], "score": ["1", " 2.5e0 ", "N/A", "3"]}
    scores = nb.read_scores(engine(table))
    np.testing.assert_array_equal(scores.values, [[1, 2.5], [np.nan, 3]])
    with pytest.raises(
        nb.InputError,
        match=r"(column 'score', 'y' on 'u',|data row 4 \('y' on 'u'\), column 'score') is 'high', not a number",
    ):
        nb.read_scores(engine(table | {"score": ["1", "2", "3", "high"]}))


@every_local_engine
def test_a_log_that_passes_for_a_wide_table_is_not_fetched(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide_scores, "MOST_ROWS", 3)
    with pytest.raises(nb.InputError, match="has more than 3 rows, and a wide table has one for each agent"):
        nb.read_scores(engine({"agent": ["x", "y", "x", "y", "x"], "prompt": [1.0, 2.0, 3.0, 4.0, 5.0]}))


@every_local_engine
def test_a_long_table_comes_back_as_one_row_per_agent_and_task_and_its_runs_if_they_are_few(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[int] = []
    monkeypatch.setattr(Table, "collect", telling(came, Table.collect))
    rows, agents, tasks = 20_000, 5, 4
    table: dict[str, list[Any]] = {
        "model": [f"m{k % agents}" for k in range(rows)],
        "task": [f"t{k // agents % tasks}" for k in range(rows)],
        "score": [float(k % 8) for k in range(rows)],
    }
    scores = nb.read_scores(engine(table))
    assert (scores.values.shape, scores.runs.sum()) == ((agents, tasks), rows)
    assert came == [agents * tasks, rows]
    assert scores.single_runs is not None
    np.testing.assert_allclose(scores.single_runs.mean(axis=0), scores.values)
    monkeypatch.setattr(long_scores, "MOST_RUNS", rows - 1)
    assert nb.read_scores(engine(table)).single_runs is None
    assert came[2:] == [agents * tasks]


def test_integer_agents_and_booleans_are_understood() -> None:
    frame = pl.DataFrame({"player_1": [1, 2], "player_2": [2, 3], "win": [True, False]})
    matches = nb.read_matches(frame)
    assert matches.agents == ("1", "2", "3")
    assert (matches.wins.tolist(), matches.losses.tolist()) == ([1, 0], [0, 1])


def test_a_frame_has_no_file_format() -> None:
    with pytest.raises(nb.InputError, match="format='pgn' is read from files of this machine"):
        nb.read_matches(pl.DataFrame(LOG), format="pgn")
