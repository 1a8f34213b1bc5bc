"""What `nash_average` accepts, turned into a model of payoffs with names and a word on where it came from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard.data.matches import Matches
from nashboard.data.names import checked_names
from nashboard.data.payoffs import ROUNDING, Payoffs, payoffs
from nashboard.data.scores import Scores
from nashboard.equilibrium.models import PayoffModel, RatingsModel
from nashboard.equilibrium.population import Matrix, largest
from nashboard.errors import InputError

SMALL = 1024  # up to this size a copy costs nothing
BLOCK = 256  # large matrices are checked in square blocks of this size, which fit the caches


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """Names, payoffs, the unit of the payoffs, and how they were made."""

    agents: tuple[str, ...]
    model: PayoffModel
    unit: str
    made: str


def source_of(data: Any) -> Source:
    """Return the payoffs of an array, `Payoffs`, `Matches`, ratings or any `PayoffModel`."""
    if isinstance(data, Matches):
        data = payoffs(data, fill="model")  # pairs that never met; `made` says how many
    if isinstance(data, Payoffs):
        return Source(agents=data.agents, model=Matrix(A=data.A), unit=data.scale, made=data.made)
    if isinstance(data, Scores):
        raise InputError("these are scores of agents on tasks: use nash_average_scores")
    if isinstance(getattr(data, "ratings", None), np.ndarray):
        cyclic = getattr(data, "cyclic", None)
        model = RatingsModel.from_arrays(data.ratings, cyclic, getattr(data, "agents", None))
        made = f"ratings and {model.cyclic.shape[1] // 2} cyclic planes"
        return Source(agents=model.agents, model=model, unit="Elo points", made=made)
    if isinstance(data, PayoffModel) and not isinstance(data, np.ndarray):
        size = int(data.size)
        if size < 1:
            raise InputError("the model is empty: it needs at least one agent")
        names = checked_names(getattr(data, "agents", None), size=size, kind="agent")
        return Source(agents=names, model=data, unit="given", made=f"given as a {type(data).__name__}")
    matrix = matrix_of(data)
    names = checked_names(None, size=matrix.size, kind="agent")
    return Source(agents=names, model=matrix, unit="given", made="given as a matrix")


def matrix_of(data: ArrayLike) -> Matrix:
    """Return an antisymmetric matrix: the array itself where it is one, so that no memory is spent."""
    A = np.asarray(data) if isinstance(data, np.ndarray) else None
    if A is None or A.dtype != np.float64 or A.ndim != 2 or A.shape[0] != A.shape[1] or len(A) <= SMALL:
        return Matrix(A=Payoffs.from_array(data).A)
    scale, gap = largest(A), 0.0
    starts = range(0, len(A), BLOCK)
    with np.errstate(invalid="ignore", over="ignore"):  # infinities are told apart below
        for i in starts:
            for j in range(i, len(A), BLOCK):
                both = A[i : i + BLOCK, j : j + BLOCK] + A[j : j + BLOCK, i : i + BLOCK].T
                gap = float(np.maximum(gap, np.abs(both, out=both).max()))  # a NaN stays a NaN
    if not gap <= ROUNDING * scale < np.inf:
        Payoffs.from_array(A)  # raises, and says where
    if gap <= 4 * np.spacing(scale) and A.flags.c_contiguous:
        return Matrix(A=A, exact=gap == 0)
    own = np.empty_like(A, order="C")
    for i in starts:
        for j in starts:
            a, b = A[i : i + BLOCK, j : j + BLOCK], A[j : j + BLOCK, i : i + BLOCK].T
            own[i : i + BLOCK, j : j + BLOCK] = a / 2 - b / 2
    return Matrix(A=own)
