"""Holm's step-down rule: many tests, one stated chance of any false claim, whatever the dependence between tests.

Reference: Holm 1979, A simple sequentially rejective multiple test procedure.
"""

import numpy as np

from nashboard._types import Bools, Floats


def holm(p: Floats, level: float) -> Bools:
    """Say which hypotheses are rejected: the chance that any true one is among them is at most ``level``.

    Examples
    --------
    >>> import numpy as np
    >>> from nashboard.evaluation.holm import holm
    >>> holm(np.array([0.01, 0.04, 0.03]), 0.05)
    array([ True, False, False])
    """
    order = np.argsort(p, kind="stable")
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    rejected = np.zeros(len(p), dtype=np.bool_)
    rejected[order] = np.logical_and.accumulate(passed) if len(p) else passed
    return rejected
