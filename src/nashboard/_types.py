"""Array types, and the one place where arrays from outside become ours."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashboard.errors import InputError

T = TypeVar("T", bound=np.generic)
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def read_only(array: NDArray[T]) -> NDArray[T]:
    """Return the array itself, closed for writing."""
    array.flags.writeable = False
    return array


def floats(values: ArrayLike, what: str, *, ndim: int) -> Floats:
    """Return a fresh array of 64-bit floats with ``ndim`` axes, or say why that cannot be done."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be an array of numbers: {error}") from None
    if array.ndim != ndim:
        shape = {1: "one axis", 2: "two axes (rows and columns)"}[ndim]
        raise InputError(f"{what} must have {shape}, not shape {array.shape}")
    return array


def square(values: ArrayLike, what: str) -> Floats:
    """Return a fresh square matrix of floats."""
    array = floats(values, what, ndim=2)
    if array.shape[0] != array.shape[1]:
        rows, columns = array.shape
        raise InputError(f"{what} must be square, one row and one column per agent, not {rows} x {columns}")
    return array


def frozen_copy(values: Any, dtype: type[Any] = np.float64) -> NDArray[Any]:
    """Return a contiguous copy that nobody can write to."""
    return read_only(np.array(values, dtype=dtype, order="C"))
