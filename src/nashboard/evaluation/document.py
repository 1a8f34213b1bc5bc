"""An evaluation as a document: json and back, text, markdown, LaTeX, csv, or the report as a page of HTML.

The layout of the json:

``schema`` is ``"nashboard/evaluation/2"``: the number grows when a field changes its meaning or is removed; new fields
do not change it. Unknown numbers are null. All arrays follow the order of ``names``.

::

    schema            "nashboard/evaluation/2"
    version           of the program
    kind              "matches", "scores" or "payoffs"
    input             source, format, agents, tasks, games; hash (sha256 of the content, rows in order of names)
    settings          the keywords of `nashboard.evaluate`: n_resamples, seed, level, noise, pool, scaling, ...
    model             facts about the fitted model: sigma, tau, noise, rank, set_aside, ...
    certificates      exploitability, residual, unique, scale, value of the equilibrium of the expected payoffs
    posterior         fields as in `nashboard.evaluation.posterior.posterior.Posterior`, without the draws
    board             the agents, fields as in `nashboard.evaluation.board.board.Board`
    task_board        the tasks, the same; null where there are none
    movers            [{name, against, nash, other, because}]
    contributions     {agent: [{name, weight, result, term, low, high}]}, the largest terms of its gap first
    clone_groups      groups of identical agents; task_clone_groups: of tasks; pooled: near-duplicates that share data
    verdict           sentences; warnings: sentences

Entering an identical agent or task once more leaves these unchanged for everybody (the copies of one agent together
have its weight): ``posterior``, ``certificates``, ``contributions``, and every column of the boards but ``uniform``,
``uniform_ranks``, ``games`` and the plain mean of scores, which count copies as entered.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from nashboard._display import write_report
from nashboard._files import check_place, write_text
from nashboard._tables import Table, as_csv, as_latex, as_markdown, as_plain_text, plain_data
from nashboard._text import either, listed
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.contributions import Contribution, Mover
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.posterior.posterior import Posterior
from nashboard.evaluation.problem import LOG_ODDS, Problem

SCHEMA = "nashboard/evaluation/2"


KEPT = tuple(one.name for one in fields(Evaluation) if one.name != "problem")
KEYS = {"schema", *KEPT}


def as_dict(found: Evaluation) -> dict[str, Any]:
    """Return all fields except the data and the draws."""
    return {"schema": SCHEMA, "version": found.version, **{name: plain_data(getattr(found, name)) for name in KEPT}}


def from_dict(values: Any) -> Evaluation:
    """Return the evaluation that `as_dict` wrote, without the data."""
    schema = values.get("schema") if isinstance(values, dict) else type(values).__name__
    if schema != SCHEMA:
        raise InputError(f"this is not an evaluation that this version reads: its schema is {schema!r}, not {SCHEMA!r}")
    missing = sorted(KEYS - set(values))
    if missing:
        raise InputError(f"the evaluation is incomplete: {listed(missing)} missing")
    try:
        evaluation = rebuild(values)
        str(evaluation)  # boards whose columns do not fit together cannot be shown
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"the evaluation is damaged: its fields do not fit together ({error})") from None
    return evaluation


def rebuild(values: dict[str, Any]) -> Evaluation:
    """Return the evaluation from complete fields."""
    tasks = values["task_board"]
    rebuilt: dict[str, Any] = {
        **{name: tuple(map(tuple, values[name])) for name in ("clone_groups", "task_clone_groups", "pooled")},
        **{name: tuple(values[name]) for name in ("verdict", "warnings")},
        "posterior": Posterior.from_dict(values["posterior"]),
        "board": Board.from_dict(values["board"]),
        "task_board": None if tasks is None else Board.from_dict(tasks),
        "movers": tuple(map(Mover.from_dict, values["movers"])),
        "contributions": {
            name: tuple(Contribution(**one) for one in terms) for name, terms in values["contributions"].items()
        },
    }
    return Evaluation(**{name: values[name] for name in KEPT} | rebuilt)


def list_model_facts(problem: Problem) -> dict[str, Any]:
    """Return the facts of the model that json can contain."""
    facts: dict[str, Any] = {}
    for key, value in problem.draws.facts.items():
        if isinstance(value, np.ndarray) or key == "ranks":
            continue
        if isinstance(value, tuple | list):
            facts[key] = list(value)
        elif isinstance(value, str | bool | int | type(None)):
            facts[key] = value
        elif isinstance(value, float | np.floating) and np.isfinite(value):
            facts[key] = float(value)
    if problem.unit == LOG_ODDS:
        facts.setdefault("unit", LOG_ODDS)
    return facts


def describe_input(data: Matches | Scores | Payoffs) -> dict[str, Any]:
    """Return the source of the data, their size, and a hash of their content."""
    return {
        "source": data.origin.source,
        "format": data.origin.format,
        "agents": len(data.agents),
        "tasks": len(data.tasks) if isinstance(data, Scores) else None,
        "games": data.n_games if isinstance(data, Matches) else None,
        "hash": hash_content(data),
    }


def hash_content(data: Matches | Scores | Payoffs) -> str:
    """Return a hash of names and numbers that does not depend on the order of agents and tasks."""
    names = sorted(data.agents)
    ordered: Any = data.select(names)
    if isinstance(data, Scores):
        ordered = data.select(names, sorted(data.tasks))
        parts = [ordered.values, ordered.stderr, ordered.n, ordered.lower_is_better]
        names += ["\0", *ordered.tasks, data.scaling]
    elif isinstance(data, Matches):
        parts = [ordered.pairs, ordered.wins, ordered.draws, ordered.losses]
    else:
        parts = [ordered.A, *(part for part in (ordered.stderr, ordered.games) if part is not None)]
    content = sha256("\0".join(names).encode("utf-8", "surrogatepass"))
    for part in parts:
        content.update(np.ascontiguousarray(part + 0 if part.dtype != np.bool_ else part).tobytes())
    return f"sha256:{content.hexdigest()}"


def list_boards(found: Evaluation) -> list[Table]:
    """Return the board, and that of tasks if there are tasks, with the meanings of columns."""
    tasks = [found.screen(tasks=True)] if found.task_board is not None else []
    return [table.with_meanings() for table in [found.screen(), *tasks]]


def as_text_page(found: Evaluation) -> str:
    """Return boards, verdict and warnings as plain text."""
    parts = ["\n".join(found.verdict), *map(as_plain_text, list_boards(found))]
    if found.warnings:
        parts.append("\n".join(["Notes", *found.warnings]))
    return "\n\n".join(parts) + "\n"


def as_markdown_page(found: Evaluation) -> str:
    """Return boards, verdict and warnings as markdown."""

    def section(title: str, lines: Sequence[str]) -> str:
        return "\n".join([f"## {title}", "", *(f"- {line}" for line in lines)]) + "\n"

    notes = [section("Notes", found.warnings)] if found.warnings else []
    return "\n".join([section("Verdict", found.verdict), *map(as_markdown, list_boards(found)), *notes])


ENDINGS: dict[str, Callable[[Evaluation], str]] = {
    ".json": Evaluation.to_json,
    ".md": as_markdown_page,
    ".csv": lambda found: as_csv(found.leaderboard()),  # tasks are in the json
    ".tex": lambda found: "\n".join(map(as_latex, list_boards(found))),
    ".txt": as_text_page,
}
PAGE = ".html"


def check_target(path: str | Path) -> str:
    """Return the ending of a file to write; a wrong ending or folder is an error before long work."""
    ending = Path(path).suffix.lower()
    if ending not in (PAGE, *ENDINGS):
        raise InputError(f"cannot write {str(path)!r}: the name must end in {either([PAGE, *ENDINGS])}")
    check_place(path)
    return ending


def write(
    found: Evaluation, path: str | Path, *, title: str | None = None, say: Callable[[str], None] | None = None
) -> None:
    """Write an evaluation atomically, in the format of the path's ending."""
    ending = check_target(path)
    if ending == PAGE:
        write_report(found, path, title=title, say=say)
        return
    write_text(path, ENDINGS[ending](found))
