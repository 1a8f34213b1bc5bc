"""Work that ends the process which does it, or that no worker can read.

Workers import it by its name, so it needs nothing but numpy: a cluster whose workers cannot import their work loses
them all, one after the other.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Deadly:
    """Work that ends the process it runs in, unless that is the test itself."""

    home: int

    def __call__(self, streams: list[np.random.Generator]) -> list[float]:
        assert os.getpid() != self.home, "the work was done at home"
        os.kill(os.getpid(), signal.SIGKILL)
        return []


@dataclass(frozen=True)
class DeadlyOnce:
    """Work that ends the first process it runs in, and then draws a number for each stream."""

    home: int
    mark: str

    def __call__(self, streams: list[np.random.Generator]) -> list[float]:
        try:
            Path(self.mark).touch(exist_ok=False)
        except FileExistsError:
            return [rng.random() for rng in streams]
        return Deadly(self.home)(streams)


@dataclass(frozen=True)
class Unreadable:
    """Work that is read in the process of the test only, as if the workers lacked a module."""

    home: int

    def __call__(self, streams: list[np.random.Generator]) -> list[float]:
        raise AssertionError("nobody can read this work")

    def __reduce__(self) -> tuple[Callable[[int], "Unreadable"], tuple[int]]:
        return read_at, (self.home,)


def read_at(home: int) -> Unreadable:
    """Return the work, at home."""
    if os.getpid() != home:
        raise ModuleNotFoundError("the worker lacks a module")
    return Unreadable(home)
