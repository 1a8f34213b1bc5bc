"""Logs with a row per match: the generic layout in every kind of file, evalica, EsportsBench, summed counts."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import FILES, counts, everything, left_out

GAUSS, NO, OWL = "Gauß, C. F.", 'said "no"', "🦉"

Rows = list[dict[str, str]]


def delimited(separator: str) -> Callable[[Rows, Path], None]:
    def write(rows: Rows, file: Path) -> None:
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter=separator)
            writer.writeheader()
            writer.writerows(rows)

    return write


def numbered(rows: Rows) -> list[dict[str, str | float]]:
    return [{**row, "weight": float(row["weight"])} for row in rows]


# The same rows, written by other means than ours.
KINDS: dict[str, Callable[[Rows, Path], object]] = {
    "csv": delimited(","),
    "tsv": delimited("\t"),
    "semicolons": delimited(";"),
    "bars": delimited("|"),
    "csv with a byte order mark": lambda rows, file: (
        file.write_bytes(b"\xef\xbb\xbf" + (FILES / "matches.csv").read_bytes()),
    ),
    "json list": lambda rows, file: file.write_text(json.dumps(numbered(rows), indent=2), encoding="utf-8"),
    "json list on one line": lambda rows, file: file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8"),
    "json lines": lambda rows, file: file.write_text("".join(json.dumps(row) + "\n" for row in numbered(rows))),
    "json lines without a last line break": lambda rows, file: file.write_text("\n".join(map(json.dumps, rows))),
    "parquet": lambda rows, file: pl.DataFrame(numbered(rows)).write_parquet(file),
}


@pytest.fixture
def rows() -> Rows:
    with (FILES / "matches.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_log_reads_the_same_from_every_kind_of_file(kind: str, rows: Rows, tmp_path: Path) -> None:
    KINDS[kind](rows, tmp_path / "log")
    matches = nb.read_matches(tmp_path / "log")
    assert counts(matches) == {(GAUSS, NO): (2, 0, 1), (GAUSS, OWL): (0, 1, 0), (NO, OWL): (0.5, 0, 0)}
    assert (matches.origin.format, matches.origin.rows) == ("matches", 4)
    assert matches.origin.period == ("2024-02-28", "2024-03-05")
    assert matches.clusters is not None
    assert matches.clusters.size == 2


def test_the_clusters_add_up_to_the_counts() -> None:
    matches = nb.read_matches(FILES / "matches.csv")
    split = matches.clusters
    assert split is not None
    rows = zip(split.cluster, split.pair, split.wins, split.draws, split.losses, strict=True)
    assert [tuple(map(float, row)) for row in rows] == [(0, 0, 2, 0, 1), (1, 1, 0, 1, 0), (1, 2, 0.5, 0, 0)]


def test_an_unusual_separator_is_told(rows: Rows, tmp_path: Path) -> None:
    delimited(";")(rows, tmp_path / "log")
    assert nb.read_matches(tmp_path / "log").origin.notes[0] == "columns are separated by a semicolon"
    assert nb.read_matches(FILES / "matches.csv", weight="weight").origin.notes == ()


def test_several_files_are_one_log(rows: Rows, tmp_path: Path) -> None:
    delimited(",")(rows[:1], tmp_path / "log-1.csv")
    delimited(",")(rows[1:], tmp_path / "log-2.csv")
    together = nb.read_matches(str(tmp_path / "log-*.csv"))
    assert everything(together) == everything(nb.read_matches(FILES / "matches.csv"))


def test_columns_that_are_given_override_the_usual_ones(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(
        "model_a,model_b,winner,weight,date,cluster,one,two,who,w,t,c\n"
        "x,y,model_a,1,2001,u,p,q,p,2,1999,k\n"
        "x,y,model_a,1,2002,v,q,r,tie,3,1998,k\n"
    )
    matches = nb.read_matches(file, a="one", b="two", outcome="who", weight="w", time="t", cluster="c")
    assert counts(matches) == {("p", "q"): (2, 0, 0), ("q", "r"): (0, 3, 0)}
    assert matches.origin.period == ("1998", "1999")
    assert matches.clusters is not None
    assert matches.clusters.size == 1


def test_clusters_can_be_forgotten() -> None:
    assert nb.read_matches(FILES / "matches.csv", cluster=False).clusters is None


def test_rows_can_be_chosen_by_value() -> None:
    matches = nb.read_matches(FILES / "matches.csv", where={"language": ["English", "Greek"]})
    assert counts(matches) == {(GAUSS, OWL): (0, 1, 0), (NO, OWL): (0.5, 0, 0)}
    assert left_out(matches) == [("rows", 2, "language is not English or Greek")]


def test_two_pairs_of_agent_columns_are_never_guessed_between(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("model_a,model_b,player_1,player_2,winner\nx,y,p,q,model_a\n")
    with pytest.raises(nb.InputError, match="'model_a' and 'model_b' or 'player_1' and 'player_2': pass a= and b="):
        nb.read_matches(file)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("model_a", "model_b", "winner"),
        ("Player 1", "Player 2", "Result"),
        ("home_team", "away_team", "score"),
        ("white", "black", "outcome"),
        ("agent", "opponent", "win"),
    ],
)
def test_the_usual_names_of_columns_are_recognised(first: str, second: str, outcome: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"round,{first},{second},{outcome}\n1,x,y,1\n2,y,x,0.5\n3,x,z,0\n")
    assert counts(nb.read_matches(file)) == {("x", "y"): (1, 1, 0), ("x", "z"): (0, 0, 1)}


def test_evalica_counts_left_right_and_tie() -> None:
    matches = nb.read_matches(FILES / "evalica.csv")
    assert counts(matches) == {
        ("burger", "pizza"): (0, 1, 1),
        ("burger", "sushi"): (1, 0, 0),
        ("pizza", "sushi"): (2, 0, 0),
    }
    assert (matches.origin.rows, matches.origin.left_out) == (5, ())


def test_an_evalica_label_without_meaning_is_an_error_until_a_rule_is_given(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("left,right,winner\nx,y,left\nx,y,lefft\nx,y,skip\n")
    with pytest.raises(
        nb.InputError, match=r"'lefft' in 1 row \(data row 2, 'x' against 'y'\) \(did you mean 'left'\?\), 'skip'"
    ):
        nb.read_matches(file)
    matches = nb.read_matches(file, outcomes={"lefft": 1, "skip": None})
    assert counts(matches) == {("x", "y"): (2, 0, 0)}
    assert left_out(matches) == [("rows", 1, "outcomes= ignores their label")]


def test_esportsbench_counts_numbers_and_keeps_the_period() -> None:
    matches = nb.read_matches(FILES / "esportsbench.csv")
    assert counts(matches) == {
        ("FanTaSy", "Flash"): (0, 0, 1),
        ("FanTaSy", "Jaedong"): (0, 1, 0),
        ("Flash", "Jaedong"): (1, 0, 1),
    }
    assert matches.origin.period == ("2010-02-11", "2011-01-01")


def test_esportsbench_reads_the_same_from_parquet(tmp_path: Path) -> None:
    pl.read_csv(FILES / "esportsbench.csv").write_parquet(tmp_path / "log.parquet")
    assert everything(nb.read_matches(tmp_path / "log.parquet")) == everything(
        nb.read_matches(FILES / "esportsbench.csv")
    )


def test_summed_counts_of_both_directions_are_put_together() -> None:
    matches = nb.read_matches(FILES / "pair_counts.csv")
    assert counts(matches) == {
        ("AlphaGo", "CrazyStone"): (10, 1, 1),
        ("AlphaGo", "Zen"): (9, 1, 0),
        ("CrazyStone", "Zen"): (4.5, 0, 5.5),
    }
    assert (matches.n_games, matches.origin.rows) == (32, 4)


def test_summed_counts_need_no_column_of_draws(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("Player 1,Player 2,Wins,Losses\nx,y,3,4\n")
    assert counts(nb.read_matches(file)) == {("x", "y"): (3, 0, 4)}


def test_summed_counts_take_the_columns_that_are_given(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("model_a,model_b,one,two,wins,draws,losses\nx,y,p,q,3,2,1\n")
    matches = nb.read_matches(file, a="one", b="two")
    assert (matches.origin.format, counts(matches)) == ("pair-counts", {("p", "q"): (3, 2, 1)})


def test_rows_of_summed_counts_are_chosen_and_left_out_once_each(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("agent_a,agent_b,wins,draws,losses,season\nx,y,3,2,1,1\nx,x,1,1,1,1\nx,y,9,9,9,2\nx,y,8,8,8,2\n")
    matches = nb.read_matches(file, where={"season": 1}, self_matches="drop")
    assert counts(matches) == {("x", "y"): (3, 2, 1)}
    assert matches.origin.rows == 4
    assert left_out(matches) == [("rows", 2, "season is not 1"), ("rows", 1, "an agent met itself")]


@pytest.mark.parametrize("count", ["-1", "inf", "many", ""])
def test_a_count_that_is_no_count_is_refused_with_its_place(count: str, tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(f"agent_a,agent_b,wins,draws,losses\nx,y,1,0,0\nx,z,1,{count},0\n")
    with pytest.raises(
        nb.InputError,
        match=r"data row 2 \('x' against 'z'\), column 'draws' is .*: a count must be a number of at least 0",
    ):
        nb.read_matches(file)


def test_blank_lines_among_pair_counts_are_no_pairs(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("agent_a,agent_b,wins,draws,losses\np,q,3,2,1\n\nq,r,1,0,0\n\n")
    matches = nb.read_matches(tmp_path / "pairs.csv")
    assert (matches.origin.rows, counts(matches)) == (2, {("p", "q"): (3, 2, 1), ("q", "r"): (1, 0, 0)})


def test_a_bad_count_is_refused_with_its_row_also_after_a_blank_line(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("agent_a,agent_b,wins,losses\np,q,3,1\n\nq,r,,0\n")
    with pytest.raises(
        nb.InputError, match=r"pairs.csv', data row 3 \('q' against 'r'\), column 'wins' is missing: a count must be"
    ):
        nb.read_matches(tmp_path / "pairs.csv")


def rates_of(games: int, *, both: bool, seed: int) -> tuple[dict[str, list[object]], nb.Matches]:
    """Return win rates of 5 agents as a table, from one side or both, and the same games as counts."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.5, 5)
    won = np.triu(rng.binomial(games, 1 / (1 + np.exp(strength - strength[:, None]))), 1)
    W = won + np.tril((games - won).T, -1)
    pairs = [(i, j) for i in range(5) for j in range(5) if (i != j if both else i < j)]
    table: dict[str, list[object]] = {
        "policy": [f"p{i}" for i, _ in pairs],
        "opponent": [f"p{j}" for _, j in pairs],
        "winrate": [W[i, j] / games for i, j in pairs],
        "n": [games for _ in pairs],
    }
    return table, nb.Matches.from_counts(W, [f"p{i}" for i in range(5)])


@pytest.mark.parametrize("both", [False, True])
def test_win_rates_with_numbers_of_games_are_as_uncertain_as_the_games(both: bool) -> None:
    table, counts = rates_of(100, both=both, seed=1)
    read = nb.read_matches(table)
    np.testing.assert_allclose(read.wins, counts.wins, atol=1e-9)
    np.testing.assert_allclose(read.losses, counts.losses, atol=1e-9)
    assert read.fractions is None
    np.testing.assert_allclose(nb.elo(read).stderr, nb.elo(counts).stderr, rtol=1e-6)
    assert read.n_games == 1000
    assert any("seen by the other agent" in str(part) for part in read.origin.left_out) is both


def test_an_even_win_rate_is_no_row_of_draws() -> None:
    read = nb.read_matches({"policy": ["a", "b"], "opponent": ["b", "c"], "winrate": [0.5, 0.7], "n": [100, 100]})
    assert read.draws.sum() == 0
    np.testing.assert_allclose(read.wins, [50, 70])


def test_a_share_of_the_point_that_counts_as_many_games_is_a_win_rate() -> None:
    table = {"model_a": ["a", "b"], "model_b": ["b", "c"], "outcome": [0.63, 0.3], "weight": [100, 1]}
    read = nb.read_matches(table)
    assert read.fractions is not None
    np.testing.assert_allclose(read.fractions, [0.0, 0.21])


def test_win_rates_without_numbers_of_games_have_no_intervals() -> None:
    read = nb.read_matches({"policy": ["a", "b", "a"], "opponent": ["b", "c", "c"], "winrate": [0.6, 0.7, 0.8]})
    found = nb.evaluate(read)
    assert found.posterior.draws == 1
    assert "there are no intervals" in " ".join(found.warnings)
