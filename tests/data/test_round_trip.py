"""Any valid table survives write -> read -> the same object."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
import strategies as any_

Data = TypeVar("Data", nb.Matches, nb.Scores, nb.Payoffs)
ENDINGS = st.sampled_from(["csv", "tsv", "parquet", "jsonl"])


def written_and_read(data: Data, ending: str, read: Callable[[Path], Data]) -> Data:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data.{ending}")
        data.write(path)
        return read(path)


@given(any_.matches(), ENDINGS)
def test_matches_survive(matches: nb.Matches, ending: str) -> None:
    back = written_and_read(matches, ending, nb.read_matches)
    same = matches.select(sorted(matches.agents))
    assert back.origin.format == "pair-counts"
    assert back.agents == same.agents
    np.testing.assert_array_equal(back.pairs, same.pairs)
    for name in ("wins", "draws", "losses"):
        np.testing.assert_array_equal(getattr(back, name), getattr(same, name))


@given(any_.scores(), ENDINGS)
def test_scores_survive(scores: nb.Scores, ending: str) -> None:
    back = written_and_read(scores, ending, nb.read_scores)
    same = scores.select(sorted(scores.agents), sorted(scores.tasks))
    assert (back.agents, back.tasks) == (same.agents, same.tasks)
    for name in ("values", "stderr", "n", "runs", "lower_is_better"):
        np.testing.assert_array_equal(getattr(back, name), getattr(same, name), err_msg=name)


@given(any_.payoffs(), ENDINGS)
def test_payoffs_survive(payoffs: nb.Payoffs, ending: str) -> None:
    back = written_and_read(payoffs, ending, nb.read_payoffs)
    assert back.agents == payoffs.agents
    np.testing.assert_array_equal(back.A, payoffs.A)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    matches = nb.Matches.from_counts([[0, 1], [2, 0]])
    with pytest.raises(nb.InputError, match=r"the name must end in '\.csv', '\.tsv', '\.parquet' or '\.jsonl'"):
        matches.write(tmp_path / "matches.xlsx")
    with pytest.raises(nb.InputError, match=r"cannot write .*there is no folder '.*nowhere', create it first"):
        matches.write(tmp_path / "nowhere" / "matches.csv")
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(nb.InputError, match=r"cannot write .*taken\.csv"):
        matches.write(tmp_path / "taken.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.csv"]


@pytest.mark.parametrize("agents", [["a", "a "], [" a", "b"], ["agent", "b\n"]])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_white_space_around_a_name_survives_in_a_matrix(agents: list[str], ending: str, tmp_path: Path) -> None:
    payoffs = nb.Payoffs.from_array([[0, 1], [-1, 0]], agents)
    payoffs.write(tmp_path / f"payoffs.{ending}")
    assert nb.read_payoffs(tmp_path / f"payoffs.{ending}").agents == tuple(agents)
