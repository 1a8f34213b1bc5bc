"""Chess engines from a PGN: a ladder, or rock-paper-scissors?

    python examples/chess_engines.py [FOLDER] [GAMES.pgn]

Without games of your own, six very simple engines play a small tournament first; each looks one move ahead.
Needs the package chess: pip install 'nashboard[pgn]'.
"""

import itertools
import random
import sys
from collections.abc import Callable
from pathlib import Path

import chess
import chess.pgn

import nashboard as nb

VALUE = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
PLIES = 80  # then the side with more material has won
Engine = Callable[[chess.Board, chess.Move, random.Random], float]


def material(board: chess.Board, side: chess.Color) -> int:
    """Return the material of one side minus the other's."""
    return sum(VALUE[p.piece_type] * (1 if p.color == side else -1) for p in board.piece_map().values())


def greedy(board: chess.Board, move: chess.Move, rng: random.Random) -> float:
    """Take the most valuable piece."""
    taken = board.piece_type_at(move.to_square) if board.is_capture(move) else None
    return VALUE[taken] if taken else 0


def careful(board: chess.Board, move: chess.Move, rng: random.Random) -> float:
    """Take, but count what can be taken back there."""
    piece = board.piece_type_at(move.from_square)
    risk = VALUE[piece] if piece and board.is_attacked_by(not board.turn, move.to_square) else 0
    return greedy(board, move, rng) - risk


def checker(board: chess.Board, move: chess.Move, rng: random.Random) -> float:
    """Give check whenever possible."""
    return 1 if board.gives_check(move) else 0


def pawns(board: chess.Board, move: chess.Move, rng: random.Random) -> float:
    """Push pawns, and take with them."""
    return (board.piece_type_at(move.from_square) == chess.PAWN) + greedy(board, move, rng) / 10


def coward(board: chess.Board, move: chess.Move, rng: random.Random) -> float:
    """Never go where something can be taken."""
    return -float(board.is_attacked_by(not board.turn, move.to_square))


def chance(board: chess.Board, move: chess.Move, rng: random.Random) -> float:
    """Play anything."""
    return 0


ENGINES: dict[str, Engine] = {e.__name__: e for e in (greedy, careful, checker, pawns, coward, chance)}


def play(white: str, black: str, seed: int) -> chess.pgn.Game:
    """Play one game; ties between moves are broken by chance."""
    rng, board = random.Random(seed), chess.Board()
    while not board.is_game_over() and board.ply() < PLIES:
        engine = ENGINES[white if board.turn else black]
        moves = list(board.legal_moves)
        board.push(max(moves, key=lambda move: (engine(board, move, rng), rng.random())))
    game = chess.pgn.Game.from_board(board)
    result = board.result()
    if result == "*":
        ahead = material(board, chess.WHITE)
        result = "1-0" if ahead > 2 else "0-1" if ahead < -2 else "1/2-1/2"
    game.headers.update(Event="one move ahead", White=white, Black=black, Result=result, Date="2024.01.01")
    return game


def tournament(path: Path, rounds: int = 4) -> None:
    """Let every engine play every other, as often with either colour, and write the games."""
    pairs = itertools.permutations(ENGINES, 2)
    games = [play(w, b, 1000 * k + seed) for k, (w, b) in enumerate(pairs) for seed in range(rounds)]
    path.write_text("\n\n".join(map(str, games)) + "\n", encoding="utf-8")


def main(folder: str | Path = "out/chess_engines", games: str | None = None) -> None:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if games is None:
        tournament(folder / "games.pgn")
    matches = nb.read_matches(games or folder / "games.pgn")
    print(repr(matches))
    print(nb.elo(matches))
    parts = nb.hodge(matches)
    print(f"ratings explain {parts.transitivity:.0%} of who beats whom")
    print(parts.cycles_table() if parts.cycles() else "a ladder: no three engines beat each other in a circle")
    print(nb.nash_average(matches))
    nb.charts.save(nb.charts.payoff_map(matches), folder / "payoffs.svg")


if __name__ == "__main__":
    main(*sys.argv[1:3])
