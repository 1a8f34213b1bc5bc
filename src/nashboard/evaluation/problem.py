"""The problem: prepared data with settings, classes of copies, draws and posterior."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np

from nashboard._parallel import Plan, make_plan
from nashboard._tables import Record
from nashboard._text import listed
from nashboard._types import Floats, Ints
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scaling, Scores
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage, Selection, check_selection
from nashboard.errors import InputError, check_choice, check_level
from nashboard.evaluation.classes import Classes, find_match_classes, find_payoff_classes, find_score_classes
from nashboard.evaluation.posterior.clusters import discount_clusters
from nashboard.evaluation.posterior.draws import Draws, draw_single_class, solve_matches, solve_payoffs, solve_scores
from nashboard.evaluation.posterior.duplicates import NearDuplicates, find_near_duplicates, pool_matches
from nashboard.evaluation.posterior.items import is_item_table, pool_items
from nashboard.evaluation.posterior.matches import draw_matches, draw_payoffs, find_alike_payoffs
from nashboard.evaluation.posterior.posterior import Posterior, summarise_draws
from nashboard.evaluation.posterior.scores import draw_all_tasks, draw_scores, known_noise, to_units
from nashboard.evaluation.posterior.tolerance import noise_tolerance
from nashboard.ranking.new_data import Simulation
from nashboard.ranking.pairwise import Pairwise, pairwise
from nashboard.ranking.registry import find_methods
from nashboard.ratings.prior import measure_dispersion
from nashboard.ratings.rating import Coefficient, checked_anchor
from nashboard.ratings.sides import neutralise_sides, shows_advantage

Data = Matches | Scores | Payoffs
Noise = Literal["model", "none"]
Components = Literal["error", "largest"]
Kind = Literal["agents", "tasks"]
Tolerance = float | Literal["noise"] | None

COUNT_COPIES = ("rank", "zscore")  # scalings whose unit depends on how often an agent was entered: no merging
FEW_DRAWS, MOST_PAYOFFS = 25, 60_000_000  # draws whose payoffs are computed if those of all are too many, and the limit
NEED_SPREAD = ("range", "zscore")  # scalings for which a task needs two different scores
LOG_ODDS, TASK_UNITS = "log-odds", "task units"


@dataclass(frozen=True, kw_only=True)
class Settings(Record):
    """The settings of an evaluation, which all its parts share.

    Parameters are those of `nashboard.evaluate`.
    """

    n_resamples: int = 200
    seed: int = 0
    level: float = 0.95
    noise: Noise = "model"
    pool: bool = True
    selection: Selection = "clone-invariant"
    tolerance: Tolerance = None
    scaling: Scaling = "range"
    methods: tuple[str, ...] = ("nash", "elo", "uniform")
    anchor: Mapping[str, float] = field(default_factory=dict)
    components: Components = "error"
    call: str = "agents"


class Options(TypedDict, total=False):
    """The keywords of `nashboard.evaluate`, which every function that evaluates takes."""

    n_resamples: int
    rng: int | np.random.Generator
    level: float
    noise: Noise
    pool: Literal["auto"] | bool
    selection: Selection
    tolerance: Tolerance
    scaling: Scaling
    methods: Sequence[str]
    anchor: Mapping[str, float] | None
    components: Components
    call: str
    workers: int | None


def prepare_data(data: "Data | Problem", **options: Unpack[Options]) -> "Problem":
    """Check the options, and return the prepared data with their settings; a problem already has its own."""
    given: dict[str, Any] = dict(options)
    if isinstance(data, Problem):
        if given:
            raise InputError(f"the settings are those of the evaluation: leave out {listed(list(given))}")
        return data
    plan = make_plan(given.pop("n_resamples", 200), given.pop("rng", 0), given.pop("workers", None))
    settings = Settings(**{**given, "n_resamples": plan.n_resamples, "seed": plan.seed})
    check_level(settings.level)
    check_choice(settings.noise, get_args(Noise), "noise")
    if settings.n_resamples < 2 and settings.noise == "model":
        raise InputError("n_resamples is 1: one draw shows no noise, so 2 or more are needed (200 is usual)")
    check_choice(settings.components, get_args(Components), "components")
    check_choice(settings.scaling, [name for name in get_args(Scaling) if name != "reference"], "scaling")
    check_selection(settings.selection)
    if settings.pool not in ("auto", True, False):
        raise InputError(f"pool is {settings.pool!r}: use 'auto' or False")
    if not (isinstance(settings.call, str) and settings.call.strip()):
        raise InputError(f"call is {settings.call!r}: give a noun in the plural, such as 'players'")
    methods = find_methods(settings.methods)
    anchor = settings.anchor or {}
    if not isinstance(anchor, Mapping):
        checked_anchor(anchor, ())  # raises an error that shows a mapping
    plain: dict[str, Any] = {
        "pool": settings.pool is not False,
        "methods": tuple(method.name for method in methods),
        "anchor": dict(anchor),
    }
    return prepare(data, replace(settings, call=settings.call.strip(), **plain), plan)


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """Data, settings and noise of one evaluation, with the draws and the posterior computed on demand."""

    given: Data  # the data as read
    data: Data  # the evaluated data: the connected part of matches, scores without constant tasks
    settings: Settings
    plan: Plan  # seed, number of draws and workers
    exact: Classes  # classes of exact copies among the agents
    tasks: Classes | None  # classes of exact copies among the tasks; None if there are no tasks
    merged: Data  # data with one representative per class of copies, in canonical order
    # whether the data are taken as exact, by the settings or because their noise is unknown
    literal: bool
    notes: tuple[str, ...]  # on data that were left out, and on assumptions

    @property
    def kind(self) -> str:
        """``"matches"``, ``"scores"`` or ``"payoffs"``."""
        return type(self.data).__name__.lower()

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of all agents, in the order of the data."""
        return self.data.agents

    @property
    def unit(self) -> str:
        """Unit of gaps and payoffs."""
        if isinstance(self.data, Matches):
            return LOG_ODDS
        if isinstance(self.data, Payoffs):
            return {"logit": LOG_ODDS}.get(self.data.scale, self.data.scale)
        return TASK_UNITS

    @cached_property
    def near_duplicates(self) -> NearDuplicates | None:
        """The near-duplicates among the classes of exact copies; None if they cannot be compared."""
        if self.literal or isinstance(self.merged, Scores) or len(self.exact.first) < 3:
            return None
        merged = self.merged
        return find_near_duplicates(self.discounted) if isinstance(merged, Matches) else find_alike_payoffs(merged)

    @cached_property
    def neutral(self) -> tuple[Matches, Coefficient | None]:
        """Matches between the classes as at a neutral place, and the advantage of the first side if it is shown."""
        assert isinstance(self.merged, Matches)
        return neutralise_sides(self.merged)

    @cached_property
    def discounted(self) -> Matches:
        """Matches between the classes at a neutral place, with their effective numbers of games."""
        assert isinstance(self.merged, Matches)
        return discount_clusters(self.merged, self.neutral[0])

    @property
    def alike(self) -> NearDuplicates | None:
        """The near-duplicates to pool; None if they are not pooled."""
        return self.near_duplicates if self.settings.pool else None

    @cached_property
    def pools(self) -> tuple[tuple[str, ...], ...]:
        """Groups of near-duplicates that are pooled, by the names of their representatives."""
        if isinstance(self.merged, Scores):
            return tuple(self.draws.facts.get("pools", ()))
        return () if self.alike is None else self.alike.groups

    @cached_property
    def classes(self) -> Classes:
        """The class of every agent in the draws: exact copies and pooled near-duplicates share one."""
        if not self.pools:
            return self.exact
        pooled = self.draws.facts["label"] if self.alike is None else self.alike.label
        label = pooled[self.exact.label]
        first = self.exact.first[np.unique(pooled, return_index=True)[1]]
        return Classes(label=label, first=first, size=np.bincount(label))

    @property
    def tolerance(self) -> float | None:
        """The allowed exploitability of exact results; derived from their noise for ``tolerance="noise"``."""
        requested = self.settings.tolerance
        if requested == "noise":
            return noise_tolerance(self.merged, self.settings.scaling, self.settings.selection)
        return requested

    @cached_property
    def draws(self) -> Draws:
        """Draws of the truth from the model of the data; one draw, the data themselves, if they are exact."""
        if len(self.exact.first) == 1:
            return draw_single_class(self.merged, 1 if self.literal else self.plan.n_resamples)
        rng = np.random.default_rng(np.random.SeedSequence([self.plan.seed, 0]))
        settings, data, n = self.settings, self.merged, self.plan.n_resamples
        if isinstance(data, Matches):
            if self.literal:
                return solve_matches(data, settings.selection, self.tolerance)
            if self.alike is not None and not self.alike.label.any():
                return draw_single_class(data, n)
            return draw_matches(self.discounted, draws=n, rng=rng, workers=self.plan.workers, alike=self.alike)
        if isinstance(data, Scores):
            if self.literal:
                return solve_scores(data, settings.scaling, settings.selection, self.tolerance)
            return draw_scores(
                data, draws=n, rng=rng, scaling=settings.scaling, selection=settings.selection, pool=settings.pool
            )
        if self.literal:
            return solve_payoffs(data, settings.selection, self.tolerance)
        if self.alike is not None and not self.alike.label.any():
            return draw_single_class(data, n)
        return draw_payoffs(data, draws=n, rng=rng, workers=self.plan.workers, alike=self.alike)

    @cached_property
    def posterior(self) -> Posterior:
        """The summary of the draws for all agents."""
        return summarise_draws(self.draws, self.agents, self.classes.label, unit=self.unit, level=self.settings.level)

    @property
    def large(self) -> bool:
        """Whether payoffs between all classes do not fit in memory, so that there are only ratings and gaps."""
        return self.draws.payoffs is None and self.draws.expected is None

    @cached_property
    def expected(self) -> Floats:
        """Posterior mean payoffs between classes, or scores in task units of classes on classes of tasks."""
        if self.draws.payoffs is not None:
            return np.asarray(self.draws.payoffs.mean(axis=0))
        assert self.draws.expected is not None
        if not isinstance(self.merged, Scores):
            return self.draws.expected
        raw = np.where(self.merged.lower_is_better, -self.draws.expected, self.draws.expected)
        scaling = self.settings.scaling if self.merged.scaling == "raw" else "none"
        return np.asarray(to_units(raw[None], np.nan_to_num(self.draws.facts["sizes"], nan=np.inf), scaling)[0])

    @cached_property
    def kept_tasks(self) -> Ints:
        """Positions of the classes of tasks that take part in the game: those set aside do not."""
        assert isinstance(self.merged, Scores)
        aside = set(self.draws.facts.get("set_aside", ()))
        return np.array([k for k, task in enumerate(self.merged.tasks) if task not in aside], dtype=np.intp)

    @cached_property
    def equilibrium(self) -> NashAverage | ScoreNashAverage:
        """The equilibrium of the expected payoffs, with its certificate."""
        selection, tolerance = self.settings.selection, self.draws.facts.get("tolerance")
        if isinstance(self.data, Scores):
            return nash_average_scores(self.expected[:, self.kept_tasks], selection=selection, tolerance=tolerance)
        return nash_average(self.expected, selection=selection, tolerance=tolerance)

    def full_payoffs(self) -> Floats:
        """Return expected payoffs of all agents against all agents, or on all tasks, copies included."""
        columns = self.classes.label if self.tasks is None else self.tasks.label
        return np.asarray(self.expected[np.ix_(self.classes.label, columns)])

    @cached_property
    def complete(self) -> Scores:
        """All scores with their known errors, missing cells as the model expects them."""
        data = self.data
        assert isinstance(data, Scores)
        assert self.tasks is not None
        values = data.values
        if data.missing.any():
            assert self.draws.expected is not None
            values = np.where(data.missing, self.draws.expected[np.ix_(self.classes.label, self.tasks.label)], values)
        return replace(data, values=values, stderr=known_noise(data))

    @cached_property
    def scaled(self) -> Scores:
        """The complete table in comparable units."""
        complete = self.complete
        return complete.scale(self.settings.scaling) if complete.scaling == "raw" else complete

    @cached_property
    def full_equilibrium(self) -> NashAverage | ScoreNashAverage:
        """The equilibrium of the expected payoffs with all copies, by name; tasks set aside are left out."""
        A = self.full_payoffs()
        selection, tolerance = self.settings.selection, self.draws.facts.get("tolerance")
        if not isinstance(self.data, Scores):
            return nash_average(Payoffs(agents=self.agents, A=A), selection=selection, tolerance=tolerance)
        assert self.tasks is not None
        kept = np.flatnonzero(np.isin(self.tasks.label, self.kept_tasks))
        table = Scores.from_array(A[:, kept], self.agents, [self.data.tasks[k] for k in kept]).scale("none")
        return nash_average_scores(table, selection=selection, tolerance=tolerance)

    def pooled(self) -> Matches:
        """Return the matches between classes, each under the name of its first agent."""
        assert isinstance(self.merged, Matches)
        if not self.pools:
            return self.merged
        assert self.alike is not None
        return pool_matches(self.merged, self.alike.label)

    def pairwise(self) -> Pairwise:
        """Return the data for the ranking methods, with all copies; missing scores as the model expects."""
        data = self.complete if isinstance(self.data, Scores) else self.data
        return pairwise(data, scaling=self.settings.scaling)

    def simulation(self) -> Simulation | None:
        """Return a simulation of new data from the draws; None if the noise is unknown."""
        data = self.data
        if self.literal or (isinstance(data, Scores) and data.scaling == "raw" and self.settings.scaling == "rank"):
            return None
        if isinstance(data, Scores):
            return self.simulate_scores(data)
        drawn, entered = self.drawn_payoffs(), np.ix_(self.classes.label, self.classes.label)
        return Simulation(
            data=self.pairwise(),
            truths=lambda k: drawn[k][entered],
            count=len(drawn),
            noise=data.errors() if isinstance(data, Payoffs) else None,
            dispersion=measure_dispersion(data) if isinstance(data, Matches) else 1.0,
        )

    def simulate_scores(self, data: Scores) -> Simulation:
        """Return a simulation of new tables, with differences on tasks that the board sets aside."""
        assert self.tasks is not None
        facts, known = self.draws.facts, known_noise(data)
        rows, noise = self.classes.label, facts["drawn_noise"]
        if set(facts["set_aside"]) > set(facts["unrelated"]):
            assert isinstance(self.merged, Scores)
            rng = np.random.default_rng(np.random.SeedSequence([self.plan.seed, 1]))
            rows, count, pool = self.exact.label, self.plan.n_resamples, self.settings.pool
            tables, noise = draw_all_tasks(self.merged, draws=count, rng=rng, pool=pool)
        else:
            tables = self.drawn_payoffs() * np.nan_to_num(facts["sizes"])
        entered = np.ix_(rows, self.tasks.label)
        return Simulation(
            data=self.pairwise(),
            truths=lambda k: np.asarray(tables[k][entered]),
            count=len(tables),
            noise=np.where(np.isnan(known), noise[:, None, self.tasks.label], known)
            if np.isnan(known).any()
            else known,
        )

    def drawn_data(self) -> list[Pairwise]:
        """Return every draw as data for the ranking methods, an entry per class."""
        return [self.drawn_table(table) for table in self.drawn_payoffs()]

    def drawn_payoffs(self) -> Floats:
        """Return the payoffs (or scores) of every draw; if they do not fit in memory, of a few, or an error."""
        return self.some_payoffs if self.draws.payoffs is None else self.draws.payoffs

    @cached_property
    def some_payoffs(self) -> Floats:
        """The payoffs of a few draws, if those of all do not fit in memory."""
        if self.draws.some_payoffs is None or FEW_DRAWS * self.draws.gaps.shape[1] ** 2 > MOST_PAYOFFS:
            raise InputError(
                f"other methods need the payoffs of some draws, which do not fit in memory for {len(self.agents):,} "
                f"agents",
                hint="leave them out, or rank the data by them",
                option="methods",
            )
        return self.draws.some_payoffs(FEW_DRAWS)

    def drawn_table(self, table: Floats) -> Pairwise:
        """Return one draw as data for the ranking methods."""
        if self.tasks is not None:
            given = self.scaled.values[np.ix_(self.classes.first, self.tasks.first)]
            table = table + np.nanmean(given - table, axis=0)  # draws have a zero of their own on each task
            return pairwise(Scores.from_array(table[:, self.kept_tasks]), scaling="none")
        names, scale = tuple(str(k) for k in range(len(table))), "logit"
        if isinstance(self.data, Payoffs):
            scale = self.data.scale
            table = np.clip(table, -1, 1) if scale == "margin" else table
        return pairwise(Payoffs(agents=names, A=table, scale=scale))

    def with_data(self, data: Data, **changes: Any) -> "Problem":
        """Return the problem of other data, with the same settings except for the changes."""
        return prepare(data, replace(self.settings, **changes), self.plan)


ONE_SCORE = (
    "there is one score per agent and nothing shows its noise: give standard errors, items or runs for intervals"
)


def prepare(data: Data, settings: Settings, plan: Plan) -> Problem:
    """Prepare data for evaluation: keep comparable data, and find exact copies."""
    merge = settings.selection == "clone-invariant"
    notes: tuple[str, ...] = ()
    tasks: Classes | None = None
    given = data
    literal = settings.noise == "none"
    if isinstance(data, Scores):
        if settings.anchor:
            raise InputError("an anchor is for ratings, and scores of agents on tasks have none: leave it out")
        merge &= not (data.scaling == "raw" and settings.scaling in COUNT_COPIES)
        by_items: Classes | None = None
        if not literal and is_item_table(data):  # copies of agents are found by their items, before these are pooled
            by_items, _ = find_score_classes(data, merge=merge)
            data = pool_items(data, by_items.first)
            notes = data.origin.notes[-1:]
        data, more = prepare_scores(data, settings)
        notes += more
        exact, tasks = find_score_classes(data, merge=merge, like=by_items)
        table = data.select(name_representatives(data.agents, exact), name_representatives(data.tasks, tasks))
        merged: Data = table
        if not literal and len(table.tasks) == 1 and np.isnan(known_noise(table)).all():
            literal, notes = True, (*notes, ONE_SCORE)
    elif isinstance(data, Matches):
        checked_anchor(settings.anchor or None, data.agents)
        data, notes = select_connected(data, settings)
        if NO_COUNTS in data.origin.notes:
            literal = True
        exact, merged = merge_copies(data, merge=merge, sided=not literal)
    elif isinstance(data, Payoffs):
        if settings.anchor:
            raise InputError("an anchor is for ratings, and payoffs have none: leave it out")
        literal |= not has_noise(data)
        exact = find_payoff_classes(data, merge=merge)
        merged = data.select(name_representatives(data.agents, exact))
    else:
        raise InputError(
            f"this needs Matches, Scores or Payoffs, not {type(data).__name__}: read() makes them of a file; "
            "Payoffs.from_array, Matches.from_counts and Scores.from_array make them of arrays"
        )
    if settings.tolerance is not None and not literal:
        raise InputError(
            "a tolerance is for exact results, and draws of the model allow for noise already",
            hint="use {option}",
            option={"noise": "none"},
        )
    return Problem(
        given=given,
        data=data,
        settings=settings,
        plan=plan,
        exact=exact,
        tasks=tasks,
        merged=merged,
        literal=literal,
        notes=notes,
    )


def name_representatives(names: tuple[str, ...], classes: Classes) -> list[str]:
    """Return the names of the representatives, in canonical order."""
    return [names[k] for k in classes.first]


def merge_copies(matches: Matches, *, merge: bool, sided: bool) -> tuple[Classes, Matches]:
    """Return the classes of copies, and the matches between them; sides count if one has an advantage."""
    exact = find_match_classes(matches, merge=merge, sided=sided)
    merged = matches.select(name_representatives(matches.agents, exact)) if len(exact.first) > 1 else matches
    if sided and merged.sides is not None and not shows_advantage(merged, merged.sides):
        return merge_copies(matches, merge=merge, sided=False)
    return exact, merged


def has_noise(data: Payoffs) -> bool:
    """Return whether payoffs come with standard errors or numbers of games."""
    return data.stderr is not None or data.games is not None


def select_connected(matches: Matches, settings: Settings) -> tuple[Matches, tuple[str, ...]]:
    """Return connected matches; with ``components="largest"`` the largest of several components."""
    if settings.components == "error":
        try:
            matches.require_connected()
        except InputError as error:
            hint = "keep the largest with {option}, or each with evaluate_components (--components each)"
            raise InputError(error.message, hint=hint, option={"components": "largest"}) from None
        return matches, ()
    groups = matches.components
    if len(groups) == 1:
        return matches, ()
    if len(groups[0]) < 2:
        matches.require_connected()
    kept = set(groups[0])
    dropped = [agent for agent in matches.agents if agent not in kept]
    note = f"only the largest group of connected agents is evaluated; left out: {listed(dropped)}"
    return matches.select([agent for agent in matches.agents if agent in kept]), (note,)


def prepare_scores(scores: Scores, settings: Settings) -> tuple[Scores, tuple[str, ...]]:
    """Return scores without constant tasks; missing cells are an error without the model."""
    if settings.noise == "none":
        scores.require_complete()
    if scores.scaling != "raw" or settings.scaling not in NEED_SPREAD:
        return scores, ()
    kept = scores.without_constant_tasks()
    return kept, tuple(note for note in kept.origin.notes if note not in scores.origin.notes)


def task_games(scores: Scores) -> Matches:
    """Return matches in which a task counts as one game; equal scores are a draw, missing ones no game."""
    S = np.where(scores.lower_is_better, -scores.values, scores.values)
    m = len(scores.agents)
    W, D = np.zeros((m, m)), np.zeros((m, m))
    for column in S.T:
        W += column[:, None] > column
        D += column[:, None] == column
    np.fill_diagonal(D, 0.0)
    return Matches.from_counts(W, scores.agents, draws=D)
