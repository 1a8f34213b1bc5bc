"""The operators of combinatorial Hodge theory on a complete graph (section 2.2 of the paper), and tables as flows.

Symbols: ``r`` ratings (n,); ``A`` a flow, an antisymmetric matrix (n, n).

    grad(r)[i, j]    = r[i] - r[j]
    div(A)[i]        = mean over j of A[i, j]
    curl(A)[i, j, k] = A[i, j] + A[j, k] - A[i, k]
    rot(A)[i, j]     = mean over k of curl(A)[i, j, k] = A[i, j] - (div(A)[i] - div(A)[j])

A table of scores ``S`` (m agents, n tasks) minus its mean has skills ``s`` (m,), the means over tasks, and difficulties
``d`` (n,), minus the means over agents; ``rest = S - (s 1' - 1 d')`` has no averages left (section 3.3). There are two
ways to see agents and tasks as players of one antisymmetric matrix: `flow_of_scores` (section 3.3) also compares agents
with agents by skill and tasks with tasks by difficulty, and its curl vanishes exactly when averages explain the scores;
`game_of_scores` (appendix D, and proposition 2) has zeros there, and its equilibrium is that of the matrix game ``S``.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, floats, read_only
from nashboard.algebra.flows import FlowLike, named_flow, refuse_size
from nashboard.data.scores import Scores
from nashboard.data.validation import numbered_names
from nashboard.errors import InputError

ScoresLike = ArrayLike | Scores

GIVEN = "as given"


def grad(r: ArrayLike) -> Floats:
    """Return the flow that ratings make: ``grad(r)[i, j] = r[i] - r[j]``, shape ``(n, n)``.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.grad([1, 0, -1])
    array([[ 0.,  1.,  2.],
           [-1.,  0.,  1.],
           [-2., -1.,  0.]])
    """
    r = floats(r, "the ratings", ndim=1)
    bad = np.flatnonzero(~np.isfinite(r))
    if bad.size:
        raise InputError(f"rating number {bad[0] + 1:,} is {r[bad[0]]:g}: ratings must be finite")
    refuse_size((r.size, r.size), "grad", "keep the ratings: r[i] - r[j] is one entry")
    return gradient(r)


def gradient(r: Floats) -> Floats:
    """Return ``r 1' - 1 r'``."""
    return r[:, None] - r[None, :]


def div(A: FlowLike) -> Floats:
    """Return the divergence of a flow, each agent's average payoff: ``A 1 / n``, shape ``(n,)``.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.div([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]])
    array([ 1.,  0., -1.])
    """
    return divergence(named_flow(A, copy=False)[1])


def divergence(A: Floats) -> Floats:
    """Return ``A 1 / n``."""
    return np.asarray(A.mean(axis=1)) + 0.0


def curl(A: FlowLike) -> Floats:
    """Return the curl of a flow, how far each triple is from being transitive, shape ``(n, n, n)``.

    ``curl(A)[i, j, k] = A[i, j] + A[j, k] - A[i, k]``. It is zero everywhere exactly when ratings explain the
    flow (proposition 3). A result of more than 4 GiB (over 812 agents) is refused; `rot` and
    ``hodge(A).cycles()`` never form it.

    Examples
    --------
    >>> import nashboard as nb
    >>> float(nb.curl([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])[0, 1, 2])
    3.0
    """
    A = named_flow(A, copy=False)[1]
    n = len(A)
    refuse_size((n, n, n), f"the curl of {n:,} agents", "use rot(A), or hodge(A).cycles() for the largest entries")
    return A[:, :, None] + A[None, :, :] - A[:, None, :]


def rot(A: FlowLike) -> Floats:
    """Return the rotation of a flow, what is left when ratings are taken out, shape ``(n, n)``.

    ``rot(A) = A - grad(div(A))``, the mean of the curl over its last index, in O(n^2) without forming the
    curl.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.rot([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    array([[ 0.,  1., -1.],
           [-1.,  0.,  1.],
           [ 1., -1.,  0.]])
    """
    A = named_flow(A, copy=False)[1]
    return rotation(A, divergence(A))


def rotation(A: Floats, r: Floats) -> Floats:
    """Return ``A - grad(r)``, antisymmetric to the last bit."""
    return A - gradient(r) + 0.0


class Averages(NamedTuple):
    """The mean of all scores, skills, difficulties, and the rest of the table."""

    mean: float
    skills: Floats
    difficulties: Floats
    rest: Floats

    @property
    def flow(self) -> Floats:
        """What averages explain of the centred scores: ``skill - difficulty``, ``(m, n)``."""
        return self.skills[:, None] - self.difficulties


def named_scores(data: ScoresLike) -> tuple[Floats, tuple[str, ...], tuple[str, ...], str]:
    """Return complete scores in comparable units, higher better, the names of agents and tasks, and the scaling.

    Scores as read are scaled per task by minimum and maximum; scores that were scaled stay as they are; a
    bare array is used as it is.
    """
    if isinstance(data, Scores):
        data.require_complete()
        scores = data.scale("range") if data.scaling == "raw" else data
        return scores.values, scores.agents, scores.tasks, scores.scaling
    ours = type(data) is np.ndarray and data.dtype == np.float64 and data.ndim == 2  # read, never written to
    S: Floats = np.asarray(data) if ours else floats(data, "the scores", ndim=2)
    # a finite sum of squares is a quick proof that every score is finite
    if 0 in S.shape or not (math.isfinite(np.vdot(S, S)) or np.isfinite(S).all()):
        Scores.from_array(S).require_complete()  # raises, and says where
    m, n = S.shape
    return S, numbered_names("agent", m), numbered_names("task", n), GIVEN


def averages(S: Floats) -> Averages:
    """Take the mean, the skills and the difficulties out of a table of scores."""
    over_agents, over_tasks = map(even_weights, S.shape)
    offset = float(S[0, 0])  # scores far from zero lose nothing to rounding
    rest = S - offset
    means = over_agents @ rest
    rest -= means
    skills = rest @ over_tasks
    rest -= skills[:, None]
    mean = float(means @ over_tasks)
    return Averages(mean + offset, skills, mean - means, rest)


@lru_cache(maxsize=32)
def even_weights(n: int) -> Floats:
    """Return ``n`` weights that add up to 1."""
    return read_only(np.full(n, 1.0 / n))


def flow_of_scores(S: ScoresLike) -> Floats:
    """Return ``[[grad(s), S], [-S', grad(d)]]``: S minus its mean, ``s`` skills, ``d`` difficulties.

    Agents come first, then tasks. It equals ``grad(r)`` plus the game of what averages leave over, where
    ``r`` is ``s`` followed by ``d`` (section 3.3).

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.flow_of_scores([[3, 1], [1, -1]])
    array([[ 0.,  2.,  2.,  0.],
           [-2.,  0.,  0., -2.],
           [-2.,  0.,  0., -2.],
           [ 0.,  2.,  2.,  0.]])
    """
    parts = averages(named_scores(S)[0])
    centred = parts.flow + parts.rest
    return np.block([[gradient(parts.skills), centred], [-centred.T, gradient(parts.difficulties)]]) + 0.0


def game_of_scores(S: ScoresLike) -> Floats:
    """Return ``[[0, S], [-S', 0]]``: agents gain their scores, tasks lose them (appendix D).

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.game_of_scores([[3, 1]])
    array([[ 0.,  3.,  1.],
           [-3.,  0.,  0.],
           [-1.,  0.,  0.]])
    """
    scores = named_scores(S)[0]
    m, n = scores.shape
    return np.block([[np.zeros((m, m)), scores], [-scores.T, np.zeros((n, n))]]) + 0.0
