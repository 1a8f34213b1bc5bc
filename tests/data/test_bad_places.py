"""One bad row of each kind at a random place among valid rows with the same values: the message names that very row."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from nashboard.data.read import read

Row = dict[str, Any]
NAMES = [f"p{k}" for k in range(8)]
NUMBERED = ["csv", "parquet", "pandas", "json lines", "polars"]
MORE = [pytest.param(kind, marks=pytest.mark.slow) for kind in (*NUMBERED[3:], "json list", "arrow", "records")]
ROWS = 60


def match(rng: random.Random) -> Row:
    a, b = rng.sample(NAMES, 2)
    neutral, weight = rng.choice(("true", "false")), str(rng.choice((1, 2)))
    return {"a": a, "b": b, "winner": rng.choice((a, b, "draw")), "weight": weight, "neutral": neutral}


def scored_match(rng: random.Random) -> Row:
    a, b = rng.sample(NAMES, 2)
    return {"home_team": a, "away_team": b, "home_score": str(rng.randrange(4)), "away_score": str(rng.randrange(4))}


def counted_pair(rng: random.Random) -> Row:
    a, b = rng.sample(NAMES, 2)
    return {"player_1": a, "player_2": b, "wins": str(rng.randrange(4)), "losses": str(rng.randrange(1, 4))}


def long_score(rng: random.Random) -> Row:
    return {"model": rng.choice(NAMES), "task": rng.choice("xyz"), "score": str(round(rng.random(), 2))}


def absent_winner(row: Row) -> Row:
    return row | {"winner": next(name for name in NAMES if name not in (row["a"], row["b"]))}


Bad = Callable[[Row], Row]
CASES: dict[str, tuple[Callable[[random.Random], Row], Bad, str]] = {
    "winner who did not play": (match, absent_winner, "winner who did not play"),
    "unknown outcome": (match, lambda row: row | {"winner": "aborted"}, "unknown outcome"),
    "missing outcome": (match, lambda row: row | {"winner": None}, "outcome"),
    "self-match": (match, lambda row: row | {"b": row["a"], "winner": "draw"}, "met itself"),
    "missing name": (match, lambda row: row | {"a": None, "winner": "draw"}, "no agent name"),
    "blank name": (match, lambda row: row | {"b": "  ", "winner": "draw"}, "no agent name"),
    "negative weight": (match, lambda row: row | {"weight": "-1"}, "weight"),
    "missing weight": (match, lambda row: row | {"weight": None}, "weight"),
    "bad neutral": (match, lambda row: row | {"neutral": "perhaps"}, "neither true nor false"),
    "bad goals": (scored_match, lambda row: row | {"away_score": "two"}, "not a number"),
    "negative count": (counted_pair, lambda row: row | {"wins": "-2"}, "a count must be"),
    "missing count": (counted_pair, lambda row: row | {"losses": None}, "a count must be"),
    "bad score": (long_score, lambda row: row | {"score": "high"}, "not a number"),
    "score without agent": (long_score, lambda row: row | {"model": None}, "no agent name"),
    "score without task": (long_score, lambda row: row | {"task": ""}, "no task name"),
}
TYPED = {"weight": pl.Float64, "wins": pl.Float64, "losses": pl.Float64}


def as_source(rows: list[Row], kind: str, folder: Path) -> Any:
    frame = pl.DataFrame(rows, infer_schema_length=None)
    typed = frame.cast({name: dtype for name, dtype in TYPED.items() if name in frame.columns})
    if kind == "csv":
        frame.write_csv(folder / "log.csv")
        return folder / "log.csv"
    if kind == "json lines":
        (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return folder / "log.jsonl"
    if kind == "json list":
        (folder / "log.json").write_text(json.dumps(rows, indent=1))
        return folder / "log.json"
    if kind == "parquet":
        typed.write_parquet(folder / "log.parquet")
        return folder / "log.parquet"
    if kind == "duckdb":
        import duckdb

        return duckdb.from_arrow(typed.to_arrow())
    as_frame: dict[str, Callable[[], Any]] = {
        "pandas": typed.to_pandas,
        "arrow": typed.to_arrow,
        "records": typed.to_dicts,
    }
    return as_frame[kind]() if kind in as_frame else typed


def plant(case: str, seed: int) -> tuple[list[Row], int]:
    """Return rows with one bad one, and its number."""
    make, spoil, _ = CASES[case]
    rng = random.Random(seed)
    rows = [make(rng) for _ in range(ROWS)]
    place = rng.randrange(ROWS)
    rows[place] = spoil(rows[place])
    return rows, place + 1


@pytest.mark.thin(4)
@pytest.mark.parametrize("kind", [*NUMBERED[:3], *MORE])
@pytest.mark.parametrize("case", CASES)
def test_a_message_names_the_bad_row(case: str, kind: str, tmp_path: Path) -> None:
    rows, row = plant(case, seed=len(case) * 31 + len(kind))
    with pytest.raises(nb.InputError, match=CASES[case][2]) as caught:
        read(as_source(rows, kind, tmp_path))
    assert re.findall(r"data rows? (\d+)", str(caught.value)) == [str(row)], str(caught.value)


def arrays(data: Any) -> list[Any]:
    matches = isinstance(data, nb.Matches)
    return [data.pairs, data.wins, data.draws, data.losses] if matches else [data.values, data.stderr, data.runs]


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", [case for case in CASES if case != "self-match"])
@pytest.mark.parametrize("kind", ["csv", *(pytest.param(kind, marks=pytest.mark.slow) for kind in NUMBERED[1:])])
def test_skipping_leaves_out_that_row_alone(case: str, kind: str, tmp_path: Path) -> None:
    rows, row = plant(case, seed=len(case) * 37 + len(kind))
    skipped = read(as_source(rows, kind, tmp_path), bad_rows="skip")
    (left,) = (entry for entry in skipped.origin.left_out if entry.what == "bad rows")
    assert (left.count, re.findall(r"data rows? ([\d,]+)", left.why)) == (1, [str(row)])
    good = read(as_source([one for k, one in enumerate(rows, start=1) if k != row], kind, tmp_path))
    assert skipped.agents == good.agents
    for one, other in zip(arrays(skipped), arrays(good), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_winner_who_did_not_play_is_named_by_the_agents_where_rows_have_no_numbers(tmp_path: Path) -> None:
    rows, row = plant("winner who did not play", seed=5)
    bad = rows[row - 1]
    with pytest.raises(nb.InputError, match=f"in 1 row \\('{bad['a']}' against '{bad['b']}'\\)"):
        read(as_source(rows, "duckdb", tmp_path))
    assert read(as_source(rows, "duckdb", tmp_path), bad_rows="skip").origin.left_out[0].count == 1


def test_rows_keep_their_numbers_after_others_were_skipped(tmp_path: Path) -> None:
    lines = ["a,b,winner,weight", "x,y,x,1", "", "x,y", ",y,y,1", "y,z,z,1", "z,x,nobody,1", "z,x,z,-1", "x,z,z,1"]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    said = " ".join(entry.why for entry in nb.read_matches(path, bad_rows="skip").origin.left_out)
    assert re.findall(r"row ([\d,]+)", said) == ["3", "4", "7", "6"]


def test_headers_in_the_middle_are_left_out_and_counted(tmp_path: Path) -> None:
    tables = {
        "matches": "model_a,model_b,winner\nx,y,x\ny,z,tie\n",
        "winners": "winner,loser\nx,y\ny,z\nz,x\n",
        "goals": "home_team,away_team,home_score,away_score\nx,y,1,0\ny,z,2,2\n",
        "counts": "player_1,player_2,wins,losses\nx,y,3,1\ny,z,2,2\n",
        "long": "model,task,score\nx,t,1\ny,t,2\nx,u,3\ny,u,1\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text + text)
        found = read(tmp_path / f"{name}.csv")
        rows = text.count("\n") - 1
        left = [entry for entry in found.origin.left_out if "header" in entry.why]
        assert [(entry.what, entry.count, entry.why) for entry in left] == [
            ("rows", 1, f"the header again (data row {rows + 1})")
        ]
        (tmp_path / "plain.csv").write_text(text + text.partition("\n")[2])
        assert str(read(tmp_path / "plain.csv")) == str(found), name
    wide = "model,go,chess\nx,0.4,0.9\ny,0.6,0.1\n"
    (tmp_path / "wide.csv").write_text(wide + wide.replace("x,", "z,").replace("y,", "w,"))
    assert read(tmp_path / "wide.csv").agents == ("x", "y", "z", "w")
