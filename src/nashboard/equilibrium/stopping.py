"""When the interior point has seen enough, how it shows progress, and what it says when it fails."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nashboard.equilibrium.interior_point import Iterate
from nashboard.equilibrium.tolerance import ZERO
from nashboard.errors import ConvergenceError

Progress = Callable[[int, float], None]
Solution = TypeVar("Solution")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """Whether to look for the face, whether it may be more than a point, which margins and ranks count as zero.

    ``last`` says that rounding alone is left to decide.
    """

    now: bool
    degenerate: bool
    zero: float

    @property
    def last(self) -> bool:
        """Whether nothing is joined any more."""
        return self.zero < ZERO


FINE = 4  # how often a face is looked for when rounding alone is left to decide


def worth_trying(x: Iterate, settled: bool) -> Attempt:
    """Decide whether an iterate is close enough to show the face; ``settled``: the supports did not change.

    A face that is a point costs one factorisation of the support and can be tried early. A larger one costs a
    singular value decomposition, so it waits until the path has all but ended. Players that miss by less than
    ``ZERO`` are first taken for tied; if no face has them all, or the best mixture of all of them cannot be
    certified, the smallest differences decide after all.
    """
    gap = float(x.mu) * x.p.shape[-1]
    return Attempt(
        now=gap < (1e-2 if settled else 1e-10),
        degenerate=gap < 1e-10,
        zero=ZERO if gap > 1e-18 else 8 * float(np.finfo(float).eps),
    )


def first_certain(
    path: Iterator[Iterate],
    progress: Progress,
    shown: Callable[[Iterate, Attempt, int], Solution | None],
    certain: Callable[[Solution], bool],
    exactly: Callable[[int], Solution] | None,
) -> Solution:
    """Follow a central path to the first solution ``shown`` by an iterate that is ``certain``.

    Where there is none, the game is solved ``exactly``, or if it is too large for that, the first solution that was
    shown is returned: its certificate says what was reached. ``shown`` and ``exactly`` are also told
    how many linear systems were solved so far.
    """
    before, x, doubtful, count, fine = None, None, None, 0, 0
    for count, x in enumerate(path, start=1):
        progress(count, float(x.mu) * x.p.size)
        support = x.p > x.s
        attempt = worth_trying(x, before is not None and bool((support == before).all()))
        if attempt.now and (doubtful is None or attempt.last):
            found = shown(x, attempt, count)
            if found is not None and certain(found):
                return found
            doubtful = doubtful or found
        fine += attempt.last
        if doubtful is not None and fine >= FINE:
            break
        before = support
    if exactly is not None:
        return exactly(count)
    if doubtful is not None:
        return doubtful
    raise missed(x)


def missed(x: Iterate | None) -> ConvergenceError:
    """Return the error of a path that ended without a proved face."""
    reached = "nothing" if x is None else f"a gap of {float((x.p * x.s).sum()):.1e} of the largest payoff"
    return ConvergenceError(
        f"the equilibrium could not be proved: the interior point reached {reached}, but no set of players "
        f"with weight passed the test. The payoffs may span too many orders of magnitude, or hold "
        f"differences near rounding; scale them, or round them to the digits that were measured"
    )


def silent(count: int, gap: float) -> None:
    """Show nothing."""


@contextmanager
def progress_on(asked: bool) -> Iterator[Progress]:
    """Give a function that shows progress on one line of standard error, if asked and if it is a terminal."""
    if not (asked and sys.stderr.isatty()):
        yield silent
        return
    began, shown = time.perf_counter(), False

    def show(count: int, gap: float) -> None:
        nonlocal shown
        if time.perf_counter() - began > 1.0:  # short solves stay quiet
            shown = True
            sys.stderr.write(f"\rsolving: {count} systems, gap {gap:.1e}  ")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\r" + " " * 48 + "\r")
            sys.stderr.flush()
