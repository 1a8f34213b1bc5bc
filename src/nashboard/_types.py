"""Array types, and the conversion of arrays from outside."""

from dataclasses import fields
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashboard.errors import InputError

T = TypeVar("T", bound=np.generic)
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def read_only(array: NDArray[T]) -> NDArray[T]:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


def freeze(record: Any) -> None:
    """Make all arrays of a dataclass read-only."""
    for one in fields(record):
        if isinstance(array := getattr(record, one.name), np.ndarray):
            read_only(array)


def floats(values: ArrayLike, what: str, *, ndim: int) -> Floats:
    """Return a new array of 64-bit floats with ``ndim`` axes, or raise an error that names the reason."""
    try:
        given = np.asanyarray(refuse_masked_rows(values, what))
        refuse_unreal(given, what)
        array = np.array(given, dtype=np.float64, subok=False)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} must be an array of numbers: {error}") from None
    if array.ndim != ndim:
        shape = {1: "one axis", 2: "two axes (rows and columns)"}[ndim]
        raise InputError(f"{what} must have {shape}, not shape {array.shape}")
    return array


def rank_descending(values: Floats, apart: float) -> Ints:
    """Return 1 for the largest; values that differ from the next larger one by at most ``apart`` share its rank.

    Ties are chained from one value to the next, so the ranks do not depend on the order.
    """
    given = values.tolist()  # there are few agents: calls of numpy would take longer
    ranks, rank, above = [0] * len(given), 0, np.inf
    for place, k in enumerate(sorted(range(len(given)), key=given.__getitem__, reverse=True), 1):
        rank = rank if above - given[k] <= apart else place
        ranks[k], above = rank, given[k]
    return read_only(np.array(ranks, dtype=np.intp))


def refuse_masked_rows(values: Any, what: str) -> Any:
    """Return the values, or raise an error if a row of a list has masked cells, which numpy drops."""
    kinds = set(map(type, values)) if isinstance(values, list | tuple) else ()
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        for row in values:
            refuse_unreal(row, what)
    return values


def refuse_unreal(array: NDArray[Any], what: str) -> None:
    """Raise an error if an array has masked cells or complex numbers, which a plain conversion would drop."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        count = int(np.ma.getmaskarray(array).sum())
        raise InputError(f"{count:,} masked cells in {what}: fill them, or leave those rows and columns out")
    if np.iscomplexobj(array):
        raise InputError(f"complex numbers in {what}: pass real ones, for example the real part")


def square(values: ArrayLike, what: str) -> Floats:
    """Return a new square matrix of floats."""
    array = floats(values, what, ndim=2)
    if array.shape[0] != array.shape[1]:
        rows, columns = array.shape
        raise InputError(f"{what} must be square, one row and one column per agent, not {rows} x {columns}")
    return array


def frozen_copy(values: Any, dtype: type[Any] = np.float64) -> NDArray[Any]:
    """Return a contiguous read-only copy; an array that already is one and owns its data is returned itself."""
    if type(values) is np.ndarray and values.dtype == dtype:
        flags = values.flags
        if flags.owndata and flags.c_contiguous and not flags.writeable:
            return values
    return read_only(np.array(values, dtype=dtype, order="C"))


@lru_cache
def spacing_of(dtype: np.dtype[Any]) -> float:
    """Return the distance from 1 to the next number of a type of floats; 0 for other types.

    ``numpy.finfo`` does not know the types of other libraries, such as bfloat16.
    """
    if dtype.kind not in "fV" or dtype.names:
        return 0.0
    one, eps = dtype.type(1), 1.0
    while one + dtype.type(eps / 2) != one:
        eps /= 2
    return eps
