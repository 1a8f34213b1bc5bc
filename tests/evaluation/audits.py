"""What tests of the audit share: bundled data, and one check of many."""

from typing import Any

import nashboard as nb
from nashboard.evaluation.audit.audit import Audit


def data_of(name: str) -> nb.Matches | nb.Scores:
    """Return a bundled data set of matches or scores."""
    data = nb.load_dataset(name)
    assert isinstance(data, nb.Matches | nb.Scores)
    return data


def check(found: Audit, name: str) -> Any:
    """Return one of the checks by its name."""
    return next(one for one in found.checks if one.name == name)
