"""Any valid table survives write -> read -> the same object."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
import strategies as any_

ENDINGS = st.sampled_from(["csv", "tsv", "parquet", "jsonl"])


@given(any_.matches(), ENDINGS)
def test_matches_survive(matches: nb.Matches, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"matches.{ending}")
        matches.write(path)
        back = nb.read_matches(path)
    same = matches.select(sorted(matches.agents))
    assert back.origin.format == "pair-counts"
    assert back.agents == same.agents
    np.testing.assert_array_equal(back.pairs, same.pairs)
    for name in ("wins", "draws", "losses"):
        np.testing.assert_array_equal(getattr(back, name), getattr(same, name))


@given(any_.scores(), ENDINGS)
def test_scores_survive(scores: nb.Scores, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"scores.{ending}")
        scores.write(path)
        back = nb.read_scores(path)
    same = scores.select(sorted(scores.agents), sorted(scores.tasks))
    assert (back.agents, back.tasks) == (same.agents, same.tasks)
    for name in ("values", "stderr", "n", "runs", "lower_is_better"):
        np.testing.assert_array_equal(getattr(back, name), getattr(same, name), err_msg=name)


@given(any_.payoffs(), ENDINGS)
def test_payoffs_survive(payoffs: nb.Payoffs, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"payoffs.{ending}")
        payoffs.write(path)
        back = nb.read_payoffs(path)
    assert back.agents == payoffs.agents
    np.testing.assert_array_equal(back.A, payoffs.A)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    matches = nb.Matches.from_counts([[0, 1], [2, 0]])
    with pytest.raises(nb.InputError, match=r"the name must end in '\.csv', '\.tsv', '\.parquet' and '\.jsonl'"):
        matches.write(tmp_path / "matches.xlsx")
    with pytest.raises(nb.InputError, match=r"cannot write .*No such file or directory"):
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
