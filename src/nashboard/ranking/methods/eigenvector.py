"""Eigenvector scores: a win over a high-scoring agent counts more."""

import numpy as np

from nashboard.errors import InputError
from nashboard.ranking.counterexamples import WINS_1, WINS_5, WINS_UNEQUAL, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise

STEPS, CHANGE = 20_000, 1e-14
SEVERAL = 1e-6  # eigenvalues closer than this share of the largest are one: rounding moves a double one by its root


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", WINS_5, 0),
    Counterexample("irrelevant", WINS_1, 2),
    Counterexample("monotone", WINS_UNEQUAL, 0, against=3, more=2),
    Counterexample("noise", ((0, 1, 0), (0, 0, 1), (1, 0, 0)), 0),
    title="eigenvector",
    unit="eigenvector, norm 1",
    counts_games=True,
    complexity="n^2 per step",
    reference="Bonacich 1987; as in evalica",
)
def eigenvector(data: Pairwise) -> Outcome:
    """Score agents by the leading eigenvector of the points: ``s`` proportional to ``B s``.

    A win over a high-scoring agent counts more. Scores have Euclidean norm 1.
    """
    from scipy.linalg import eig
    from scipy.sparse.csgraph import connected_components

    B = data.points
    parts, _ = connected_components(B > 0, directed=True, connection="strong")
    if parts == data.size:
        raise InputError("the results contain no cycle, so eigenvector scores do not exist: use 'pagerank' or 'elo'")
    shift = float(B.sum(axis=1).mean())  # a shift keeps eigenvectors and makes the iteration aperiodic
    s = np.full(data.size, data.size**-0.5)
    change = np.inf
    for _ in range(STEPS):
        new = B @ s + shift * s
        new /= np.linalg.norm(new)
        change, s = float(np.abs(new - s).max()), new
        if change <= CHANGE:
            break
    else:  # slow, as with a second eigenvalue close to the first
        values, vectors = eig(B)
        if np.count_nonzero(np.abs(values - values.real.max()) < SEVERAL * values.real.max()) > 1:
            raise InputError(
                "the largest eigenvalue occurs more than once, so eigenvector scores are not determined: "
                "use 'pagerank' or 'elo'"
            )
        s = np.abs(vectors[:, np.argmax(values.real)].real)
        s /= np.linalg.norm(s)
    value = float(s @ (B @ s))
    residual = float(np.abs(B @ s - value * s).max() / (value or 1.0))
    return Outcome(scores=s, certificate={"eigenvalue": value, "residual": residual})
