"""The json of an evaluation: its layout, and the way there and back.

``schema`` is ``"nashboard/evaluation/1"``: the number grows when a field changes its meaning or goes; new fields may
come without that. Numbers that are not known are null. All arrays follow the order of ``names``.

::

    schema            "nashboard/evaluation/1"
    version           of the program
    kind              "matches", "scores" or "payoffs"
    input             source, format, agents, tasks, games; hash (sha256 of the content, rows in order of names)
    settings          n_resamples, seed, level, selection, scaling, anchor, payoffs, filled, rating (why Elo or mElo),
                      rating_errors (where the intervals of the rating come from)
    certificates      exploitability, residual, unique, scale, value
    board             the agents, fields as in `nashboard.evaluation.board.board.Board`
    task_board        the tasks, the same; null where there are none
    uncertainty       {question: intervals}, fields as in `nashboard.evaluation.intervals.Uncertainty`
    task_uncertainty  the same for tasks
    stability         {question: fields as in `nashboard.evaluation.stability.Stability`}
    movers            [{name, against, nash_rank, other_rank, because}]
    contributions     {agent: [{name, weight, result, term, low, high}]}, the largest terms of its gap first
    clone_groups      groups of identical agents; task_clone_groups: of tasks
    verdict           sentences; warnings: sentences

Entering an identical agent or task once more leaves these unchanged for everybody (the copies of one agent together
have its weight): ``averages``, ``gaps``, ``ranks``, ``certificates``, ``uncertainty``, ``stability`` and
``contributions``.
Those that change, because what they show does count copies: ``uniform``, ``ratings`` and the orders they give,
``movers``, sentences about them, ``games`` and ``input``. Where pairs never met, the payoffs are filled
from an Elo fit of the classes, which copies do not move either.
"""

from dataclasses import asdict
from typing import Any

from nashboard._text import listed
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.contributions import Contribution, Mover
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.intervals import Uncertainty
from nashboard.evaluation.stability import Stability

SCHEMA = "nashboard/evaluation/1"


def as_dict(found: Evaluation) -> dict[str, Any]:
    """Return everything but the data."""
    return {
        "schema": SCHEMA,
        "version": found.version,
        "kind": found.kind,
        "input": dict(found.input),
        "settings": dict(found.settings),
        "certificates": dict(found.certificates),
        "verdict": list(found.verdict),
        "warnings": list(found.warnings),
        "board": found.board.to_dict(),
        "task_board": None if found.task_board is None else found.task_board.to_dict(),
        "uncertainty": {name: one.to_dict() for name, one in found.uncertainty.items()},
        "task_uncertainty": {name: one.to_dict() for name, one in found.task_uncertainty.items()},
        "stability": {name: one.to_dict() for name, one in found.stability.items()},
        "movers": [one.to_dict() for one in found.movers],
        "contributions": {name: [asdict(one) for one in terms] for name, terms in found.contributions.items()},
        "clone_groups": [list(group) for group in found.clone_groups],
        "task_clone_groups": [list(group) for group in found.task_clone_groups],
    }


def from_dict(values: Any) -> Evaluation:
    """Return the evaluation that `as_dict` wrote down, without the data."""
    said = values.get("schema") if isinstance(values, dict) else type(values).__name__
    if said != SCHEMA:
        raise InputError(f"this is not an evaluation that this version reads: its schema is {said!r}, not {SCHEMA!r}")
    missing = sorted(KEYS - set(values))
    if missing:
        raise InputError(f"the evaluation is incomplete: {listed(missing)} missing")
    try:
        found = rebuilt(values)
        str(found)  # boards whose columns do not fit together cannot be shown
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"the evaluation is damaged: its fields do not fit together ({error})") from None
    return found


def rebuilt(values: dict[str, Any]) -> Evaluation:
    """Return the evaluation of fields that are all there."""
    return Evaluation(
        kind=values["kind"],
        certificates=values["certificates"],
        settings=values["settings"],
        input=values["input"],
        version=values["version"],
        clone_groups=tuple(map(tuple, values["clone_groups"])),
        task_clone_groups=tuple(map(tuple, values["task_clone_groups"])),
        board=Board.from_dict(values["board"]),
        task_board=None if values["task_board"] is None else Board.from_dict(values["task_board"]),
        uncertainty={name: Uncertainty.from_dict(one) for name, one in values["uncertainty"].items()},
        task_uncertainty={name: Uncertainty.from_dict(one) for name, one in values["task_uncertainty"].items()},
        stability={name: Stability(**one) for name, one in values["stability"].items()},
        movers=tuple(Mover(**one | {"because": tuple(one["because"])}) for one in values["movers"]),
        contributions={
            name: tuple(Contribution(**one) for one in terms) for name, terms in values["contributions"].items()
        },
        verdict=tuple(values["verdict"]),
        warnings=tuple(values["warnings"]),
        data=None,
    )


KEYS = {
    "schema", "version", "kind", "input", "settings", "certificates", "verdict", "warnings", "board", "task_board",
    "uncertainty", "task_uncertainty", "stability", "movers", "contributions", "clone_groups", "task_clone_groups",
}  # fmt: skip
