"""Games of chess: PGN files and the log that cutechess prints."""

from pathlib import Path

import pytest

import nashboard as nb
from data.formats.reading import FILES, counts, everything, left_out

PGN, LATIN, CUTECHESS = FILES / "games.pgn", FILES / "games_latin1.pgn", FILES / "cutechess.txt"


def game(white: str, black: str, result: str, *tags: str) -> str:
    lines = [f'[White "{white}"]', f'[Black "{black}"]', f'[Result "{result}"]', *tags]
    return "\n".join(lines) + f"\n\n1. e4 e5 {result}\n\n"


def test_results_are_counted_for_both_colours() -> None:
    matches = nb.read_matches(PGN)
    assert counts(matches) == {("KomodoDragon", "LCZero"): (0, 0, 1), ("LCZero", "Stockfish"): (0, 2, 1)}


def test_unfinished_games_and_unnamed_players_are_left_out() -> None:
    matches = nb.read_matches(PGN)
    assert matches.origin.rows == 6
    assert left_out(matches) == [
        ("games", 1, "they were not finished (*)"),
        ("games", 1, "a player is not named (?)"),
    ]


def test_the_period_is_that_of_the_dated_games_that_count() -> None:
    assert nb.read_matches(PGN).origin.period == ("2021.02.01", "2021.02.03")


def test_an_old_file_is_read_as_latin_1() -> None:
    matches = nb.read_matches(LATIN)
    assert counts(matches) == {
        ("Maróczy, Géza", "Schlechter, Karl (Österreich)"): (0, 1, 0),
        ("Maróczy, Géza", "Tarrasch, Siegbert"): (0, 0, 1),
    }
    assert matches.origin.period == ("1898.06.01", "1898.07.26")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_same_games_in_utf_8_read_the_same(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(LATIN.read_text(encoding="iso-8859-1"), encoding=encoding)
    assert everything(nb.read_matches(tmp_path / "games.pgn")) == everything(nb.read_matches(LATIN))


def test_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_bytes(PGN.read_bytes().replace(b"\n", b"\r\n"))
    assert everything(nb.read_matches(tmp_path / "games.pgn")) == everything(nb.read_matches(PGN))


def test_a_line_for_programs_may_come_first(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text("% made by a program\n" + PGN.read_text())
    assert everything(nb.read_matches(tmp_path / "games.pgn")) == everything(nb.read_matches(PGN))


def test_several_files_are_one_set_of_games(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(game("x", "y", "1-0"))
    (tmp_path / "b.pgn").write_text(game("y", "x", "0-1") + game("x", "z", "1/2-1/2"))
    assert counts(nb.read_matches(str(tmp_path / "*.pgn"))) == {("x", "y"): (2, 0, 0), ("x", "z"): (0, 1, 0)}


def test_a_rule_decides_about_every_game_with_its_result(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(game("x", "y", "1-0") + game("x", "y", "*") * 2 + game("x", "y", "1/2-1/2") * 3)
    matches = nb.read_matches(tmp_path / "games.pgn", outcomes={"1/2-1/2": None, "*": 0})
    assert counts(matches) == {("x", "y"): (1, 0, 2)}
    assert left_out(matches) == [("games", 3, "outcomes= ignores their label")]


def test_an_unknown_result_is_refused(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(game("x", "y", "1-0") + game("x", "y", "+:-") * 5)
    with pytest.raises(nb.InputError, match=r"games.pgn', column 'result' has an unknown outcome: '\+:-' in 5 rows"):
        nb.read_matches(tmp_path / "games.pgn")


def test_games_of_a_player_with_itself_are_refused_or_dropped_game_by_game(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(game("x", "x", "1-0") * 3 + game("x", "y", "0-1"))
    with pytest.raises(nb.InputError, match=r"'x' met itself in 3 rows .*: self_matches='drop'"):
        nb.read_matches(tmp_path / "games.pgn")
    matches = nb.read_matches(tmp_path / "games.pgn", self_matches="drop")
    assert counts(matches) == {("x", "y"): (0, 0, 1)}
    assert left_out(matches) == [("games", 3, "an agent met itself")]


def test_a_game_without_the_usual_tags_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[Event "?"]\n\n1. e4 1-0\n\n' + game("x", "y", "1-0"))
    matches = nb.read_matches(tmp_path / "games.pgn")
    assert counts(matches) == {("x", "y"): (1, 0, 0)}
    assert left_out(matches) == [("games", 1, "they were not finished (*)")]


def test_a_file_without_a_finished_game_is_refused(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(game("x", "y", "*"))
    with pytest.raises(nb.InputError, match=r"games.pgn': none of 1 row is left: they were not finished \(\*\)"):
        nb.read_matches(tmp_path / "games.pgn")


def test_only_the_finished_games_of_a_cutechess_log_are_counted() -> None:
    matches = nb.read_matches(CUTECHESS)
    assert counts(matches) == {("Ethereal", "Stockfish 16"): (0, 1, 2)}
    assert (matches.origin.rows, matches.origin.period) == (4, None)
    assert left_out(matches) == [("games", 1, "they were not finished (*)")]


def test_a_cutechess_log_may_start_with_a_finished_game(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("Finished game 1 (a (dev) vs b): 0-1 {Black mates}\n")
    matches = nb.read_matches(tmp_path / "log")
    assert (matches.origin.format, counts(matches)) == ("cutechess", {("a (dev)", "b"): (0, 0, 1)})
