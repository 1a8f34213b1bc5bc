"""The result of `evaluate`: a leaderboard with its posterior, a verdict in words, and exports."""

import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nashboard._display import chart, mimebundle
from nashboard._tables import Column, Table, as_html, as_plain_text, title_of
from nashboard._text import nearest, number_of
from nashboard._types import Floats, Ints
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Board, gap_decimals
from nashboard.evaluation.board.contributions import Contribution, Mover
from nashboard.evaluation.board.headline import describe_first
from nashboard.evaluation.posterior.posterior import Posterior
from nashboard.evaluation.problem import Data, Problem

if TYPE_CHECKING:
    import pandas
    import polars

    from nashboard.data.segments import Segments
    from nashboard.ranking.pairwise import Pairwise
    from nashboard.ranking.trial import Trials


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evaluation:
    """The evaluation of agents from matches, scores or payoffs.

    Parameters
    ----------
    kind
        ``"matches"``, ``"scores"`` or ``"payoffs"``.
    board, task_board
        The numbers of all agents, and of all tasks if there are tasks.
    posterior
        Gaps, ranks and probabilities of being at the top, in log-odds or task units.
    movers
        Agents whose places by Nash average and by the rating or mean differ beyond noise, with the reasons.
    contributions
        By agent, the largest terms of its gap, with their intervals.
    clone_groups, task_clone_groups, pooled
        Groups of exact copies, and of near-duplicates that were pooled.
    verdict, warnings
        Sentences.
    certificates
        ``exploitability``, ``residual``, ``unique``, ``scale``: how exact the equilibrium of the expected payoffs is.
    settings, model
        The keywords of `evaluate`, and facts about the fitted model.
    input
        The data: kind, source, format, size and a hash of the content.
    version
        Of nashboard.
    problem
        The prepared data with their settings and draws; None in a result that was read back from json.
    """

    kind: str
    board: Board
    task_board: Board | None
    posterior: Posterior
    movers: tuple[Mover, ...]
    contributions: Mapping[str, tuple[Contribution, ...]]
    clone_groups: tuple[tuple[str, ...], ...]
    task_clone_groups: tuple[tuple[str, ...], ...]
    pooled: tuple[tuple[str, ...], ...]
    verdict: tuple[str, ...]
    warnings: tuple[str, ...]
    certificates: Mapping[str, Any]
    settings: Mapping[str, Any]
    model: Mapping[str, Any]
    input: Mapping[str, Any]
    version: str
    problem: Problem | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """Names, in the order of the data."""
        return self.board.names

    @property
    def support(self) -> tuple[str, ...]:
        """Agents that are at the top with a probability of at least 1/2, best first."""
        return self.board.support

    @property
    def data(self) -> Data | None:
        """The evaluated data; None in a result that was read back from json."""
        return None if self.problem is None else self.problem.data

    def leaderboard(self, columns: str = "default") -> Table:
        """Return the agents, the best first; ``columns="all"`` shows every column.

        Examples
        --------
        >>> import nashboard as nb
        >>> [one.name for one in nb.evaluate(nb.load_dataset("rock-paper-scissors")).leaderboard().columns][:4]
        ['rank', 'agent', 'gap', 'gap low']
        """
        return self.board.table(title_of(self), columns=columns, notes=self.notes(self.board))

    def tasks(self, columns: str = "default") -> Table:
        """Return the tasks, the hardest first."""
        return self.required_tasks().table(title_of(self), columns=columns, notes=self.notes(self.required_tasks()))

    def screen(self, columns: str = "default", *, tasks: bool = False) -> Table:
        """Return the board for people: numbers with their intervals in one cell."""
        board = self.required_tasks() if tasks else self.board
        return board.table(columns=columns, notes=self.notes(board), combine=True)

    def compact(self) -> Table:
        """Return the columns that fit on a phone, below the headline: a board to embed in a page."""
        table = self.screen()
        return replace(table.choose("rank", table.columns[1].name, "P(top)", "gap"), title=self.verdict[0])

    def averages_of(self, side: str) -> Floats:
        """Return the Nash averages of agents (or of tasks): the value of the best minus the gap."""
        board = self.required_tasks() if side == "tasks" else self.board
        value = float(self.certificates["value"])
        return np.asarray((-value if side == "tasks" else value) - board.gaps)

    def required_tasks(self) -> Board:
        """Return the board of tasks, or raise an error if there are no tasks."""
        if self.task_board is None:
            raise InputError(f"{self.kind} have no tasks: only an evaluation of scores has a board of tasks")
        return self.task_board

    def notes(self, board: Board) -> tuple[str, ...]:
        """Return the notes below a board."""
        if board.exact:
            return ("the data are taken as exact: there are no intervals",)
        return (f"{board.level:.0%} intervals from {board.draws:,} draws of the posterior",)

    def contributions_of(self, agent: str) -> Table:
        """Return the opponents or tasks that contribute most to an agent's gap."""
        if agent not in self.contributions:
            raise InputError(f"there is no agent {agent!r}{nearest(agent, self.contributions)}")
        table = self.all_contributions()
        return replace(
            table,
            columns=table.columns[1:],
            rows=tuple(row[1:] for row in table.rows if row[0] == agent),
            title=f"largest contributions to the gap of {agent!r}",
        )

    def all_contributions(self) -> Table:
        """Return the opponents or tasks that contribute most to each agent's gap, the best agent first."""
        what, decimals = "opponent" if self.task_board is None else "task", gap_decimals(self.board.unit)
        parts = ("name", "weight", "result", "term", "low", "high")
        columns = (
            Column("agent", "name of the agent"),
            Column(what, f"{what} that contributes most to its gap, with weight in the equilibrium"),
            Column("weight", "mean share in the equilibrium, copies together"),
            Column(
                "result", "expected payoff against it" if what == "opponent" else "expected score", decimals=decimals
            ),
            Column("term", "what it contributes to minus the gap", decimals=decimals),
            Column("low", "lower end of the term's interval", decimals=decimals),
            Column("high", "upper end of the term's interval", decimals=decimals),
        )
        names = [self.board.names[k] for k in self.board.order]
        terms = [(name, one) for name in names for one in self.contributions[name]]
        rows = tuple((name, *(getattr(one, part) for part in parts)) for name, one in terms)
        return Table(columns=columns, rows=rows)

    def audit(self, **options: Any) -> Any:
        """Check the data with the settings of this evaluation; options as in `nashboard.audit`."""
        return import_module("nashboard.evaluation.audit.audit").audit(self.own_problem("audit"), **options)

    def stress(self, **options: Any) -> Any:
        """Enter copies with the settings of this evaluation; options as in `nashboard.stress`."""
        return import_module("nashboard.evaluation.stress.stress").stress(self.own_problem("stress"), **options)

    def drawn_data(self) -> tuple[tuple[str, ...], "list[Pairwise]", Ints]:
        """Return names, every draw of the truth as data for `nashboard.rank`, and the row of each agent in a draw."""
        problem = self.own_problem("rank by other methods")
        return self.agents, problem.drawn_data(), problem.classes.label

    def second_opinions(
        self,
        methods: Sequence[str] | None = None,
        progress: Callable[[str], None] = lambda name: None,
        *,
        quick: bool = False,
        prompts: "Segments | None" = None,
    ) -> "Trials":
        """Rank by every method (or these), and count what new data, copies and dropouts change.

        Parameters
        ----------
        methods
            Names from `nashboard.methods`; all by default.
        progress
            Called with the name of each method before it runs.
        quick
            Try few copies and few new data.
        prompts
            The matches of each prompt, from `nashboard.read_segments`, for deviation ratings; other methods pool them.

        Examples
        --------
        >>> import nashboard as nb
        >>> found = nb.evaluate(nb.load_dataset("alphago")).second_opinions(["borda", "schulze"])
        >>> [one.ranking.winners for one in found.trials]
        [('alpha_rvp',), ('alpha_rvp',)]
        """
        from nashboard.ranking.trial import try_methods

        problem = self.own_problem("rank by other methods")
        data = problem.pairwise()
        return try_methods(
            data if prompts is None else data.with_prompts(prompts),
            self.board.ranks,
            first=self.board.support,
            methods=methods,
            simulation=problem.simulation(),
            seed=problem.plan.seed,
            progress=progress,
            quick=quick,
        )

    def another_suite(self) -> Table:
        """Return how often each agent is at the top of other suites, drawn from the tasks with repetition.

        Examples
        --------
        >>> import nashboard as nb
        >>> nb.evaluate(nb.load_dataset("suite-4"), noise="none", n_resamples=20).another_suite().rows[0][0]
        'A'
        """
        self.required_tasks()
        from nashboard.evaluation.posterior.suite import suite_table

        return suite_table(self.own_problem("draw other suites"))

    def own_problem(self, what: str) -> Problem:
        """Return the prepared data, or raise an error that explains why there are none."""
        if self.problem is None:
            raise InputError(
                f"this evaluation was read from json, which does not contain the data: evaluate them to {what}"
            )
        return self.problem

    def report(self, path: str | Path, *, title: str | None = None, say: Callable[[str], None] | None = None) -> None:
        """Write the evaluation in the format of the path's ending: .html, .json, .md, .csv, .tex or .txt.

        Parameters
        ----------
        path
            ``.html`` is the report: one page that needs no network, with verdict, boards, audit, stress test and
            charts. The others contain boards, verdict and warnings.
        title
            The heading of the page; by default the name of the file or data set.
        say
            Called with a few words before each step that takes time.
        """
        from nashboard.evaluation.document import write

        write(self, path, title=title, say=say)

    def to_pandas(self, columns: str = "default") -> "pandas.DataFrame":
        """Return the board as a pandas data frame, one column per number."""
        return self.leaderboard(columns).to_pandas()

    def to_polars(self, columns: str = "default") -> "polars.DataFrame":
        """Return the board as a Polars data frame, one column per number."""
        return self.leaderboard(columns).to_polars()

    def to_html(self, path: str | Path | None = None, columns: str = "compact") -> str:
        """Return the board as an HTML table to embed; with a path, write it there too.

        ``columns`` is "compact" (those that fit on a phone), "default" or "all".
        """
        return (self.compact() if columns == "compact" else self.leaderboard(columns)).to_html(path)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data; the layout is described in `nashboard.evaluation.document`."""
        from nashboard.evaluation.document import as_dict

        return as_dict(self)

    def to_json(self) -> str:
        """Return all fields as json, the same bytes for the same input and seed."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @staticmethod
    def from_json(text: str) -> "Evaluation":
        """Return the evaluation that `to_json` wrote; it has all fields except the data and the draws."""
        from nashboard.evaluation.document import from_dict

        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"this is not json: {error}") from None
        return from_dict(values)

    def __repr__(self) -> str:
        tasks = f" x {number_of(len(self.task_board.names), 'tasks')}" if self.task_board is not None else ""
        return f"Evaluation({len(self.board.names):,} agents{tasks}: {describe_first(self.board)})"

    def __str__(self) -> str:
        return "\n".join([*self.verdict, "", as_plain_text(self.screen().head(20).with_meanings())])

    chart = chart
    _repr_mimebundle_ = mimebundle

    def _repr_html_(self) -> str:
        verdict = "".join(f"<p>{html.escape(line)}</p>" for line in self.verdict)
        return verdict + as_html(self.screen().head(50))
