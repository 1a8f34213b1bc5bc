"""The small matrices that the paper prints, as it prints them."""

import numpy as np

from nashboard._types import Floats, read_only


def matrix(rows: list[list[float]]) -> Floats:
    """Return a matrix that nobody can write to."""
    return read_only(np.array(rows, dtype=np.float64))


# Section 4.1, example 1: three agents in a circle, and a second copy of C.
CIRCLE = matrix([[0, 4.6, -4.6], [-4.6, 0, 4.6], [4.6, -4.6, 0]])
CIRCLE_AND_COPY = matrix([[0, 4.6, -4.6, -4.6], [-4.6, 0, 4.6, 4.6], [4.6, -4.6, 0, 0], [4.6, -4.6, 0, 0]])

# Section 4.1, example 2: cyclic and transitive.
C3 = matrix([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
T3 = matrix([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]])

# Appendix F: transitive and cyclic, both of rank two.
T4 = matrix([[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0]])
C4 = matrix([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])

# Appendix A: win rates of three agents in a circle, and with a second copy of C.
WIN_RATES = matrix([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
WIN_RATES_AND_COPY = matrix([[0.5, 0.9, 0.1, 0.1], [0.1, 0.5, 0.9, 0.9], [0.9, 0.1, 0.5, 0.5], [0.9, 0.1, 0.5, 0.5]])

# Section 2.1: paper beats rock for sure.
ROCK_PAPER_SCISSORS = matrix([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]])


def with_copy(A: Floats, agent: int) -> Floats:
    """Return an antisymmetric matrix with one agent entered a second time, at the end."""
    entered = [*range(len(A)), agent]
    return A[np.ix_(entered, entered)]
