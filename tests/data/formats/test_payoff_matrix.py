"""Square tables of agents by agents: payoffs, win rates or counts of wins."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import FILES, counts, everything

RATES, WINS, PAYOFFS, NOISY = (
    FILES / name for name in ("win_rates.csv", "win_counts.csv", "payoffs.csv", "payoffs_noisy.csv")
)


def matrix(tmp_path: Path, text: str) -> Path:
    (tmp_path / "matrix.csv").write_text(text)
    return tmp_path / "matrix.csv"


def test_win_rates_count_as_one_game_each_and_say_so() -> None:
    matches = nb.read_matches(RATES)
    assert counts(matches) == {
        ("rock", "paper"): (0.1, 0, 0.9),
        ("rock", "scissors"): (0.9, 0, pytest.approx(0.1)),
        ("paper", "scissors"): (0.2, 0, 0.8),
    }
    assert matches.origin.format == "payoff-matrix (win rates)"
    assert matches.origin.notes == ("no game counts were given: each pair counts as one game",)


def test_rows_of_counts_are_put_in_the_order_of_the_columns() -> None:
    matches = nb.read_matches(WINS)
    assert matches.agents == ("rock", "paper", "scissors")
    assert counts(matches) == {
        ("rock", "paper"): (3, 0, 7),
        ("rock", "scissors"): (9, 0, 1),
        ("paper", "scissors"): (2, 0, 8),
    }
    assert (matches.origin.format, matches.origin.rows) == ("payoff-matrix (counts)", 3)


def test_negative_numbers_are_payoffs() -> None:
    payoffs = nb.read_payoffs(PAYOFFS)
    assert payoffs.agents == ("rock", "paper", "scissors")
    assert payoffs.A.tolist() == [[0, -1, 2.5], [1, 0, -1], [-2.5, 1, 0]]
    assert payoffs.origin.format == "payoff-matrix (payoffs)"


def test_payoffs_are_not_read_as_matches() -> None:
    with pytest.raises(nb.InputError, match=r"payoffs.csv' contains payoffs with negative numbers.*: use read_payoffs"):
        nb.read_matches(PAYOFFS)


def test_a_noisy_table_is_refused_until_its_two_directions_may_be_averaged() -> None:
    with pytest.raises(
        nb.InputError, match=r"payoffs_noisy.csv': the payoff matrix is not antisymmetric: .*symmetrise"
    ):
        nb.read_payoffs(NOISY)
    payoffs = nb.read_payoffs(NOISY, symmetrise=True)
    assert payoffs.A.tolist() == [[0, -12, 20], [12, 0, -28], [-20, 28, 0]]
    assert "they disagreed by up to 4" in payoffs.made


def test_noisy_win_rates_are_refused_until_their_two_directions_may_be_averaged(tmp_path: Path) -> None:
    file = matrix(tmp_path, ",x,y\nx,,0.7\ny,0.4,\n")
    with pytest.raises(nb.InputError, match=r"matrix.csv': row 'x', column 'y' is 0.7: .* symmetrise=True"):
        nb.read_matches(file)
    averaged = nb.read_matches(file, symmetrise=True)
    assert counts(averaged)["x", "y"] == pytest.approx((0.65, 0, 0.35))


def test_pairs_that_never_met_are_empty_cells(tmp_path: Path) -> None:
    file = matrix(tmp_path, "agent,x,y,z\nx,-,0.7,n/a\ny,0.3,-,0.5\nz,,0.5,-\n")
    assert counts(nb.read_matches(file)) == {
        ("x", "y"): (0.7, 0, pytest.approx(0.3)),
        ("y", "z"): (0.5, 0, 0.5),
    }


def test_an_empty_diagonal_of_payoffs_is_zero_but_no_other_cell_may_be_empty(tmp_path: Path) -> None:
    assert nb.read_payoffs(matrix(tmp_path, ",x,y\nx,,2\ny,-2,\n")).A.tolist() == [[0, 2], [-2, 0]]
    with pytest.raises(nb.InputError, match="row 'x', column 'y' is empty: a payoff matrix must be complete"):
        nb.read_payoffs(matrix(tmp_path, ",x,y\nx,,\ny,-2,\n"))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["0.5,0.7", "0.3,0.5"], "win rates"),
        ([",1", "0,"], "win rates"),  # one game: as a rate and as a count it is the same
        ([",1", "1,"], "counts"),
        ([",7", "3,"], "counts"),
        ([",7.5", "2.5,"], "counts"),
        (["0,0.3", "-0.3,0"], "payoffs"),
        (["0,0", "0,0"], "payoffs"),
    ],
)
def test_the_numbers_show_what_a_matrix_holds(cells: list[str], kind: str, tmp_path: Path) -> None:
    file = matrix(tmp_path, f"agent,x,y\nx,{cells[0]}\ny,{cells[1]}\n")
    assert nb.read(file).origin.format == f"payoff-matrix ({kind})"


def test_a_matrix_reads_the_same_from_parquet_json_lines_and_tsv(tmp_path: Path) -> None:
    frame = pl.read_csv(PAYOFFS)
    frame.write_parquet(tmp_path / "m.parquet")
    frame.write_ndjson(tmp_path / "m.jsonl")
    frame.write_csv(tmp_path / "m.tsv", separator="\t")
    for name in ("m.parquet", "m.jsonl", "m.tsv"):
        assert everything(nb.read_payoffs(tmp_path / name)) == everything(nb.read_payoffs(PAYOFFS)), name


def test_names_may_hold_commas_quotes_and_emoji(tmp_path: Path) -> None:
    file = matrix(tmp_path, ',"a, ""b""",🦉\n🦉,-1,0\n"a, ""b""",0,1\n')
    payoffs = nb.read_payoffs(file)
    assert payoffs.agents == ('a, "b"', "🦉")
    assert np.array_equal(payoffs.A, [[0, 1], [-1, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",x,y\nx,0,1\n", "is not square: 1 row and 2 columns of agents"),
        (",x,y,z\nx,0,1,2\ny,-1,0,3\nw,-2,-3,0\n", "'w' has a row but no column; names must agree"),
        (",x,y,z\nx,0,1,2\ny,-1,0,3\ny,-2,-3,0\n", "'z' has a column but no row; names must agree"),
        (",x,y\nx,0,one\ny,-1,0\n", "row 'x', column 'y' is 'one', not a number"),
        (",x,y\nx,0,inf\ny,-inf,0\n", "matrix.csv': row 'x', column 'y' is inf: a payoff must be finite"),
    ],
)
def test_a_broken_matrix_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.read_payoffs(matrix(tmp_path, text))


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    assert counts(nb.read_matches(matrix(tmp_path, ",x,y\nx,,7\n\ny,3,\n\n\n"))) == {("x", "y"): (7, 0, 3)}


def test_an_agent_of_a_matrix_may_be_called_zero(tmp_path: Path) -> None:
    pl.DataFrame({"agent": [0, 1], "0": [0, 7], "1": [3, 0]}).write_parquet(tmp_path / "m.parquet")
    assert counts(nb.read_matches(tmp_path / "m.parquet")) == {("0", "1"): (3, 0, 7)}


def test_whole_percentages_count_as_games_and_are_noted(tmp_path: Path) -> None:
    matches = nb.read_matches(matrix(tmp_path, ",x,y,z\nx,,60,70\ny,40,,55\nz,30,45,\n"))
    assert counts(matches)["x", "y"] == (60, 0, 40)
    assert [note[:55] for note in matches.origin.notes] == ["every pair adds up to 100: read as 100 games a pair; if"]


def test_counts_that_do_not_add_up_to_a_hundred_are_not_noted() -> None:
    assert nb.read_matches(WINS).origin.notes == ()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [(["0.5,0.7", "0.3,0.5"], "win rates"), ([",0.7", "0.3,"], "win rates"), ([",62.5", "37.5,"], "percentages")],
)
def test_win_rates_are_not_read_as_payoffs(cells: list[str], kind: str, tmp_path: Path) -> None:
    file = matrix(tmp_path, f",x,y\nx,{cells[0]}\ny,{cells[1]}\n")
    with pytest.raises(
        nb.InputError, match=rf"matrix.csv' contains {kind}, not payoffs.*read_matches.*payoffs\(matches\)"
    ):
        nb.read_payoffs(file)


def test_the_separator_of_a_matrix_of_counts_is_noted(tmp_path: Path) -> None:
    matches = nb.read_matches(matrix(tmp_path, ";x;y\nx;;7\ny;3;\n"))
    assert matches.origin.notes == ("columns are separated by a semicolon",)
