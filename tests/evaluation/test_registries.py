"""A new column, check or experiment is one function and one entry: it then appears everywhere."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from nashboard._tables import Column, Table
from nashboard.evaluation.audit import audit as audits
from nashboard.evaluation.audit.checks import Check, Part
from nashboard.evaluation.board import board as boards
from nashboard.evaluation.stress import stress as stresses


@pytest.fixture
def league() -> nb.Evaluation:
    return nb.evaluate(nb.Matches.from_counts([[0, 14, 3], [6, 0, 15], [17, 5, 0]]), n_resamples=20)


def test_a_new_column_of_the_board_is_one_entry(league: nb.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = boards.make_column("letters", "length of the name", lambda b: [len(name) for name in b.names])
    monkeypatch.setattr(boards, "AGENT_COLUMNS", (*boards.AGENT_COLUMNS, letters))
    assert league.leaderboard().columns[-1].name == "letters"
    assert "letters" in str(league)
    assert "letters" in league.to_html(columns="default")
    assert list(league.to_pandas()["letters"]) == [7, 7, 7]


@dataclass(frozen=True, repr=False)
class Names(Part):
    """A part of the audit: whether names are short."""

    longest: int

    def sentences(self) -> tuple[str, ...]:
        return (f"the longest name has {self.longest} letters",)

    def checks(self) -> tuple[Check, ...]:
        return (Check(name="names are short", passed=self.longest < 20, sentence=self.sentences()[0]),)

    def table(self) -> Table:
        return Table(title="names", columns=(Column(name="longest"),), rows=((self.longest,),))

    def tables(self) -> dict[str, Table]:
        return {"names": self.table()}

    def to_dict(self) -> dict[str, Any]:
        return {"longest": self.longest}


def test_a_new_part_of_the_audit_is_one_entry(league: nb.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    names = audits.Registration(kinds=audits.EVERY, compute=lambda problem, *_: Names(max(map(len, problem.agents))))
    monkeypatch.setitem(audits.PARTS, "names", names)
    found = league.audit()
    assert any(check.name == "names are short" and check.passed for check in found.checks)
    assert "the longest name has 7 letters" in str(found)
    assert found.tables()["names"].rows == ((7,),)
    assert found.to_dict()["names"] == {"longest": 7}


def test_a_new_experiment_is_one_entry(league: nb.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    def remove(setup: stresses.Setup) -> stresses.Outcome:
        last = setup.results["nash"].names[int(np.argmin(setup.results["nash"].scores))]
        table = Table(title="without the last", columns=(Column(name="last"),), rows=((last,),))
        return stresses.Outcome(rows=(last,), table=table, sentences=(f"{last} is last.",))

    monkeypatch.setitem(stresses.EXPERIMENTS, "last", remove)
    found = league.stress(copies=[1], targets=[], draws=0)
    assert found.verdict()[-1].endswith(" is last.")
    assert "without the last" in str(found)
    assert found.to_dict()["last"] == list(found.outcomes["last"].rows)
