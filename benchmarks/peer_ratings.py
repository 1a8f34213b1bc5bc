"""What evalica and choix say of the small league in tests/ratings/test_elo.py, in Elo points with mean 0."""

import choix
import evalica
import numpy as np

WINS = np.array([[0, 7, 2, 9], [3, 0, 6, 4], [8, 4, 0, 5], [1, 6, 5, 0]])
DRAWS = np.array([[0, 2, 0, 1], [2, 0, 3, 0], [0, 3, 0, 4], [1, 0, 4, 0]])


def points(logits):
    return (logits - logits.mean()) * 400 / np.log(10)


def by_evalica():
    games = [(i, j, evalica.Winner.X) for i in range(4) for j in range(4) for _ in range(WINS[i, j])]
    games += [(i, j, evalica.Winner.Draw) for i in range(4) for j in range(i) for _ in range(DRAWS[i, j])]
    first, second, winners = zip(*games, strict=True)
    names = [f"agent {k + 1}" for k in range(4)]
    result = evalica.bradley_terry(
        [names[i] for i in first], [names[j] for j in second], winners, tie_weight=0.5, tolerance=1e-14, limit=10**6
    )
    return points(np.log(result.scores[names].to_numpy()))


def by_choix():
    twice = 2 * WINS + DRAWS  # choix knows no draws: a win counts two, a draw one for each side
    data = [(i, j) for i in range(4) for j in range(4) for _ in range(twice[i, j])]
    return points(choix.opt_pairwise(4, data, alpha=0.0, method="Newton-CG", tol=1e-12))


if __name__ == "__main__":
    print("evalica", evalica.__version__, np.round(by_evalica(), 5).tolist())
    print("choix", np.round(by_choix(), 5).tolist())
