"""Columns that are no text: truths, dates, times and numbers choose and name the same rows in every engine."""

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nashboard as nb
from data.conftest import Columns, Engine, every_engine, every_local_engine
from nashboard.data.table.values import spell

FLOATS = [1e-7, 0.3, 1e22, 2.0, 0.1 + 0.2, 1e300, -2.5, None]
TRUTHS = [True, False, None]
DATES = [date(2024, 1, 1), date(1999, 12, 31), None]
TIMES = [datetime(2024, 1, 1, 5), datetime(2024, 1, 1, 5, 0, 0, 500), datetime(2024, 1, 1), None]
DECIMALS = [Decimal("1.10"), Decimal("2.00"), Decimal("-0.25"), None]
SPELT: dict[str, list[str]] = {  # in the order of the values above
    "truth": ["true", "false"],
    "day": ["2024-01-01", "1999-12-31"],
    "moment": ["2024-01-01T05:00:00", "2024-01-01T05:00:00.000500", "2024-01-01"],
    "number": ["1e-07", "0.3", "1e+22", "2", "0.30000000000000004", "1e+300", "-2.5"],
    "price": ["1.1", "2", "-0.25"],
    "whole": ["0", "1"],
}
VALUES: dict[str, list[Any]] = {
    "truth": TRUTHS,
    "day": DATES,
    "moment": TIMES,
    "number": FLOATS,
    "price": DECIMALS,
    "whole": [0, 1],
}
ROWS = 2000
AGENTS = ("x", "y", "z")


def awkward() -> dict[str, list[Any]]:
    """Return a log in which every kind of value meets every other."""
    draw = np.random.default_rng(8).integers
    log: dict[str, list[Any]] = {
        "model_a": [AGENTS[k % 3] for k in range(ROWS)],
        "model_b": [AGENTS[(k + 1 + k // 3 % 2) % 3] for k in range(ROWS)],
        "winner": [("model_a", "model_b", "tie")[k] for k in draw(3, size=ROWS)],
    }
    return log | {
        name: [values[k] for k in (*range(len(values)), *draw(len(values), size=ROWS - len(values)))]
        for name, values in VALUES.items()
    }


LOG = awkward()


Chosen = dict[str, tuple[Any, tuple[Any, ...]]]  # column: what is asked for, and the values that this means
CHOICES: list[Chosen] = [
    {
        "number": ([1e-7, 0.3], (1e-7, 0.3)),
        "truth": (True, (True,)),
        "day": (date(2024, 1, 1), (date(2024, 1, 1),)),
        "moment": (datetime(2024, 1, 1, 5), (TIMES[0],)),
        "price": (1.1, (Decimal("1.1"),)),
    },
    {  # as the command line gives them
        "price": (["1.10", "-0.250"], (Decimal("1.1"), Decimal("-0.25"))),
        "whole": ("true", (1,)),
        "truth": ("false", (False,)),
        "moment": (["2024-01-01 05:00:00", "2024-01-01"], (TIMES[0], TIMES[2])),
        "day": ("1999-12-31", (date(1999, 12, 31),)),
        "number": (["1e-7", "0.30", "1e22"], (1e-7, 0.3, 1e22)),
    },
    {
        "moment": (pd.Timestamp("2024-01-01T05:00:00.000500"), (TIMES[1],)),
        "number": ([1e22, np.float64(1e300), Decimal("-2.50"), 2], (1e22, 1e300, -2.5, 2.0)),
        "truth": ([1, None], (True, None)),
        "price": ({2}, (Decimal(2),)),
        "whole": (["0", 7], (0,)),
    },
    {
        "day": ([datetime(2024, 1, 1), None], (date(2024, 1, 1), None)),
        "moment": (
            (datetime(2024, 1, 1, 7, tzinfo=timezone(timedelta(hours=2))), date(2024, 1, 1)),
            (TIMES[0], TIMES[2]),
        ),
        "price": ([None, float("nan")], (None,)),
        "number": (["", 0.1 + 0.2], (None, 0.1 + 0.2)),
        "whole": (1.0, (1,)),
    },
]


@every_engine
def test_values_choose_the_same_rows(engine: Engine) -> None:
    table = engine(LOG)
    for chosen in CHOICES:
        left, counts = list(range(ROWS)), []
        for name, (_, values) in chosen.items():
            before = len(left)
            left = [k for k in left if LOG[name][k] in values]
            counts.append(before - len(left))
        matches = nb.read_matches(table, where={name: asked for name, (asked, _) in chosen.items()})
        assert [entry.count for entry in matches.origin.left_out] == counts
        assert matches.n_games == len(left) > 0


@every_engine
@pytest.mark.parametrize(
    ("segment", "agent", "cluster"),
    [
        ("truth", "number", "day"),
        ("moment", "price", "number"),
        ("price", "day", "truth"),
        ("number", "whole", "moment"),
    ],
)
def test_values_name_segments_agents_and_clusters_the_same(
    engine: Engine, segment: str, agent: str, cluster: str
) -> None:
    """What is expected was counted by hand, in a loop."""
    names = {name: dict(zip(values, SPELT[name], strict=False)) for name, values in VALUES.items()}
    expected: dict[str, dict[tuple[str, str], list[float]]] = {}
    groups: dict[str, set[tuple[Any, ...]]] = {}
    without = 0
    for k in range(ROWS):
        if LOG[agent][k] is None:
            continue
        if LOG[segment][k] is None:
            without += 1
            continue
        value, first, second = names[segment][LOG[segment][k]], names[agent][LOG[agent][k]], LOG["model_b"][k]
        low, high = sorted((first, second))
        side = {"model_a": 0, "tie": 1, "model_b": 2}[LOG["winner"][k]]
        counts = expected.setdefault(value, {}).setdefault((low, high), [0.0, 0.0, 0.0])
        counts[side if low == first else 2 - side] += 1
        session = LOG[cluster][k]
        groups.setdefault(value, set()).add((session,) if session is not None else (low, high))
    table = engine(LOG)
    usual: dict[str, Any] = {"a": agent, "b": "model_b", "outcome": "winner", "outcomes": {"model_a": 1}}
    found = nb.read_segments(table, segment, cluster=cluster, where={agent: list(names[agent])}, **usual)
    assert found.without == without
    assert list(found.parts) == sorted(expected)
    for value, part in found.parts.items():
        assert isinstance(part, nb.Matches)
        counted = zip(part.pairs, part.wins, part.draws, part.losses, strict=True)
        assert {(part.agents[i], part.agents[j]): [*wdl] for (i, j), *wdl in counted} == expected[value]
        assert part.clusters is not None
        assert part.clusters.size == len(groups[value])


@every_engine
def test_a_rule_for_true_and_false_means_the_same(engine: Engine) -> None:
    log: Columns = {"a": ["x", "y", "x"], "b": ["y", "z", "z"], "won": [True, False, True]}
    table = engine(log)
    spellings: list[dict[Any, float | None]] = [{"true": 0, False: 1}, {1: 0, "false": 1}]
    for rules in spellings:
        matches = nb.read_matches(table, outcome="won", outcomes=rules)
        assert (matches.wins.tolist(), matches.losses.tolist()) == ([0, 0, 1], [1, 1, 0])


@every_engine
def test_scores_of_agents_and_tasks_that_are_no_text_are_named_the_same(engine: Engine) -> None:
    kept = [k for k in range(ROWS) if LOG["number"][k] is not None and LOG["price"][k] is not None]
    table = {name: [cells[k] for k in kept] for name, cells in LOG.items() if name in ("number", "price", "day")}
    scores = nb.read_scores(
        engine(table | {"score": [k % 4 == 0 for k in kept]}),
        agent="number",
        task="price",
        score="score",
        where={"day": date(2024, 1, 1)},
    )
    assert set(scores.agents) <= set(SPELT["number"])
    assert set(scores.tasks) == set(SPELT["price"])
    for i, agent in enumerate(scores.agents):
        for j, task in enumerate(scores.tasks):
            number = FLOATS[SPELT["number"].index(agent)]
            runs = [
                k % 4 == 0
                for k in kept
                if (LOG["number"][k], LOG["price"][k], LOG["day"][k]) == (number, Decimal(task), date(2024, 1, 1))
            ]
            np.testing.assert_equal(scores.values[i, j], np.mean(runs) if runs else math.nan)


@every_engine
def test_a_number_that_is_none_is_no_agent(engine: Engine) -> None:
    log: Columns = {"a": [1.0, float("nan"), 3.0], "b": [2.0, 1.0, 1.0], "winner": ["a", "tie", "b"]}
    with pytest.raises(nb.InputError, match="column 'a': 1 row has no agent name"):
        nb.read_matches(engine(log))
    assert nb.read_matches(engine(log), where={"a": [1, 3]}).agents == ("1", "2", "3")


@every_local_engine
def test_what_a_column_cannot_hold_is_said(engine: Engine) -> None:
    table = engine(LOG)
    for name, value, message in (
        ("number", "much", "column 'number' contains numbers; where= asks for 'much'"),
        ("truth", "maybe", "column 'truth' contains true and false; where= asks for 'maybe'"),
        ("day", "monday", "column 'day' contains times: write them as 2024-01-31"),
        ("moment", 5, "column 'moment' contains times; where= asks for 5"),
        ("model_a", [], "where= gives no value for the column 'model_a'"),
        ("whole", 0.5, "none of 2,000 rows is left: whole is not 0.5; whole is '[01]' and '[01]'"),
    ):
        with pytest.raises(nb.InputError, match=message):
            nb.read_matches(table, where={name: value})


@pytest.mark.parametrize(("name", "value"), [("whole", 2**70), ("price", 1.105), ("day", datetime(2024, 1, 1, 5))])
def test_a_value_that_no_row_can_have_keeps_none(name: str, value: Any) -> None:
    with pytest.raises(nb.InputError, match=f"{name} is not {value}.*; {name} is "):
        nb.read_matches(pl.DataFrame(LOG), where={name: value})


@pytest.mark.parametrize("value", [{"x": 1}, [["x"]], [10**400]])
def test_what_is_no_value_is_said(value: Any) -> None:
    with pytest.raises(nb.InputError, match="where= takes for each column a value, or a list of values"):
        nb.read_matches(pl.DataFrame(LOG), where={"model_a": value})


def test_categories_of_pandas_are_what_they_hold() -> None:
    log = pd.DataFrame({"a": ["x", "y", "x"], "b": ["y", "x", "y"], "winner": ["a"] * 3})
    log["truth"] = pd.Series([True, False, None], dtype="category")
    log["number"] = pd.Series([2.0, 1e-7, None], dtype="category")
    assert list(nb.read_segments(log, "truth").parts) == ["false", "true"]
    assert list(nb.read_segments(log, "number").parts) == ["1e-07", "2"]
    assert nb.read_matches(log, where={"number": "1e-7", "truth": "FALSE"}).n_games == 1


@every_engine
def test_what_stands_there_instead_is_said(engine: Engine) -> None:
    log: Columns = {
        "model_a": ["x", "y", "z"],
        "model_b": ["y", "z", "x"],
        "winner": ["tie"] * 3,
        "lang": ["en", "en", None],
    }
    with pytest.raises(nb.InputError) as caught:
        nb.read_matches(engine(log), where={"lang": "EN"})
    assert str(caught.value).endswith(
        "none of 3 rows is left: lang is not EN (did you mean 'en'?); lang is 'en', and missing in 1 row "
        "(None asks for those)"
    )
    assert nb.read_matches(engine(log), where={"lang": None}).n_games == 1
    scores: Columns = {"model": ["x", "y"], "task": ["t", "t"], "score": [1.0, 2.0], "lang": ["en", "de"]}
    with pytest.raises(nb.InputError, match=r"no rows where lang is EN \(did you mean 'en'\?\); lang is 'de' and 'en'"):
        nb.read_scores(engine(scores), where={"lang": "EN"})


@every_engine
def test_columns_may_have_any_name(engine: Engine) -> None:
    """Spark takes a dot for a field of an object, and quotes names with a backtick."""
    log: Columns = {
        "model a.1": ["x", "y", "z"],
        "b`s": ["y", "z", "x"],
        "who.won": ["model a.1", "b`s", "b`s"],
        "w.w": [1.0, 2.0, 4.0],
        "meta.lang": ["en", "en", "de"],
        "s.p": [1.5, 1.5, 2.5],
        "t.t": [1.7e9, 1.7e9, 1.7e9],
    }
    chosen: dict[str, Any] = {
        "a": "model a.1",
        "b": "b`s",
        "outcome": "who.won",
        "weight": "w.w",
        "time": "t.t",
        "cluster": "meta.lang",
    }
    segments = nb.read_segments(engine(log), "s.p", where={"meta.lang": ["en", "fr"]}, **chosen)
    assert {value: part.origin.rows for value, part in segments.parts.items()} == {"1.5": 2}
    part = segments.parts["1.5"]
    assert isinstance(part, nb.Matches)
    assert (part.wins.tolist(), part.losses.tolist()) == ([1, 0], [0, 2])
    scores = nb.read_scores(engine(log), agent="model a.1", task="meta.lang", score="w.w", where={"s.p": 1.5})
    assert scores.values.tolist() == [[1], [2]]


@every_local_engine
def test_truths_are_scores_of_1_and_0_in_a_wide_table(engine: Engine) -> None:
    table: Columns = {"agent": ["x", "y", "z"], "solved": [True, False, None], "go": [1.0, 2.0, 3.0]}
    scores = nb.read_scores(engine(table))
    np.testing.assert_array_equal(scores.values, [[1, 1], [0, 2], [math.nan, 3]])
    assert scores.origin.notes[-1] == NOTED  # behind the table of a database


NOTED = "'solved': their true and false count as 1 and 0; pass ignore= if they are not tasks"


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_truths_are_scores_in_every_file(tmp_path: Path, suffix: str) -> None:
    write: dict[str, Any] = {
        "csv": pl.DataFrame.write_csv,
        "jsonl": pl.DataFrame.write_ndjson,
        "parquet": pl.DataFrame.write_parquet,
    }
    wide = pl.DataFrame({"agent": ["x", "y", "z"], "solved": [True, False, None], "go": [1, 2, 3]})
    write[suffix](wide, tmp_path / f"wide.{suffix}")
    scores = nb.read_scores(tmp_path / f"wide.{suffix}")
    np.testing.assert_array_equal(scores.values, [[1, 1], [0, 2], [math.nan, 3]])
    assert scores.origin.notes == (NOTED,)
    long = pl.DataFrame({"agent": ["x", "y", "x"], "task": ["t"] * 3, "score": [True, False, False]})
    write[suffix](long, tmp_path / f"long.{suffix}")
    scores = nb.read_scores(tmp_path / f"long.{suffix}")
    assert (scores.values.tolist(), scores.runs.tolist()) == ([[0.5], [0]], [[2], [1]])


def test_only_true_and_false_are_truths(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("agent,task,score\nx,t, TRUE \ny,t,0.5\nz,t,yes\n")
    with pytest.raises(nb.InputError, match="data row 3 \\('z' on 't'\\), column 'score' is 'yes', not a number"):
        nb.read_scores(path)
    path.write_text("agent,task,score\nx,t, TRUE \ny,t,0.5\nz,t,False\n")
    assert nb.read_scores(path).values.tolist() == [[1], [0.5], [0]]
    path.write_text("agent,t,u\nx,True,1\ny,yes,2\n")
    with pytest.raises(nb.InputError, match=r"data row 2 \('y'\), column 't' is 'yes', not a number"):
        nb.read_scores(path)


def test_text_is_compared_as_text_and_with_numbers_as_a_number(tmp_path: Path) -> None:
    log = {"a": ["x", "y", "x", "y"], "b": ["y", "x", "y", "x"], "winner": ["a"] * 4, "n": ["1e-07", "0.30", "x", "07"]}
    frame = pl.DataFrame(log)
    frame.write_csv(tmp_path / "log.csv")
    frame.write_ndjson(tmp_path / "log.jsonl")
    for source in (frame, tmp_path / "log.csv", tmp_path / "log.jsonl"):
        assert nb.read_matches(source, where={"n": [1e-7, 0.3]}).n_games == 2
        assert nb.read_matches(source, where={"n": "x"}).n_games == 1
        assert nb.read_matches(source, where={"n": 7}).n_games == 1
    assert nb.read_matches(tmp_path / "log.csv", where={"n": "0.3"}).n_games == 1  # nobody says that it is text
    with pytest.raises(nb.InputError, match=r"n is not 0\.3 \(did you mean .0\.30.\?\); n is"):
        nb.read_matches(frame, where={"n": "0.3"})


@pytest.mark.thin(3)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dataset", "duckdb"])
def test_times_with_a_zone_are_told_in_utc(zone: str, kind: str) -> None:
    import duckdb
    import pyarrow.dataset

    times = pl.Series([datetime(2024, 1, 1, 4), datetime(2024, 7, 1, 3), None]).dt.replace_time_zone("UTC")
    frame = pl.DataFrame({"a": ["x", "y", "x"], "b": ["y", "x", "y"], "winner": ["a"] * 3, "t": times})
    frame = frame.with_columns(pl.col("t").dt.convert_time_zone(zone))
    made: dict[str, Any] = {
        "pandas": frame.to_pandas,
        "polars": frame.lazy,
        "pyarrow": frame.to_arrow,
        "dataset": lambda: pyarrow.dataset.dataset(frame.to_arrow()),
        "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()),
    }
    table = made[kind]()
    assert list(nb.read_segments(table, "t").parts) == ["2024-01-01T04:00:00", "2024-07-01T03:00:00"]
    for asked in ("2024-07-01T03:00:00", datetime(2024, 7, 1, 3, tzinfo=UTC), "2024-07-01T05:00:00+02:00"):
        assert nb.read_matches(table, where={"t": asked}).n_games == 1


def test_short_numbers_and_large_ones_are_spelt_by_their_own_digits() -> None:
    assert spell(pl.Series([0.1, 16777216.0, None], dtype=pl.Float32)).to_list() == ["0.1", "16777216", None]
    assert spell(pl.Series([2.0**53, 2.0**53 - 1, float("nan"), float("inf")])).to_list() == [
        "9007199254740992.0",
        "9007199254740991",
        None,
        "inf",
    ]
    assert spell(pl.Series([Decimal("100.00"), Decimal("0.50"), None])).to_list() == ["100", "0.5", None]
    assert spell(pl.Series([100, None])).to_list() == ["100", None]
    log = pl.DataFrame({"a": ["x", "y"], "b": ["y", "x"], "winner": ["a", "b"]})
    short = log.with_columns(n=pl.Series([0.1, 0.2], dtype=pl.Float32))
    assert list(nb.read_segments(short, "n").parts) == ["0.1", "0.2"]
    assert nb.read_matches(short, where={"n": 0.1}).n_games == 1
    large = log.with_columns(winner=pl.lit("a"), n=pl.Series([1234567890123456789, 1234567890123456788]))
    one = nb.read_matches(large, where={"n": "1234567890123456788"})  # equal as floating-point numbers
    assert (one.wins.tolist(), one.losses.tolist()) == ([0], [1])
