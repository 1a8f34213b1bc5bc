"""The registry: every way to rank, in the order in which tables show them, and `rank`, which runs one of them."""

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nashboard._tables import Column, Table, Tabular, title_of
from nashboard._text import either, nearest
from nashboard._types import Floats, Ints, read_only
from nashboard.data.matches import Matches
from nashboard.data.scores import Scaling
from nashboard.errors import InputError
from nashboard.ranking.counterexamples import PROMISES
from nashboard.ranking.method import METHODS, ROUNDING, Method, Outcome, Ranking, rank_scores
from nashboard.ranking.methods import import_methods
from nashboard.ranking.methods.elo import NEARLY_NONE
from nashboard.ranking.pairwise import Pairwise, pairwise
from nashboard.ratings.rating import RATINGS, RatingMethod

import_methods()
PROMPT = re.compile(r"'((?:prompt|question)(?:_id)?)'", re.IGNORECASE)  # usual names, among the columns of a log


class Methods(Tabular):
    """All ways to rank, a row per method: an immutable sequence of `Method`."""

    def __init__(self, methods: tuple[Method, ...]) -> None:
        self.methods = methods

    def __iter__(self) -> Iterator[Method]:
        return iter(self.methods)

    def __len__(self) -> int:
        return len(self.methods)

    def __contains__(self, name: object) -> bool:
        return any(name in (method.name, method) for method in self.methods)

    def __getitem__(self, key: int | str) -> Method:
        return find_method(key) if isinstance(key, str) else self.methods[key]

    @property
    def names(self) -> tuple[str, ...]:
        """What ``rank(data, method=...)`` takes."""
        return tuple(method.name for method in self.methods)

    def table(self) -> Table:
        """Return name, needs, promises, complexity and reference of each method."""
        promised = {"clone_proof" if name == "clones" else name: name for name in PROMISES}
        return Table.of(
            self.methods,
            Column("name", "what method= takes"),
            Column("title", "its usual name"),
            Column("needs", "kinds of data", cell=lambda one: ", ".join(one.needs)),
            *(
                Column(column, PROMISES[name], cell={one: name in one.promises for one in self.methods})
                for column, name in promised.items()
            ),
            Column("not_of_scores", "promises that are kept for matches and payoffs only",
                   cell=lambda one: ", ".join(one.not_of_scores) or None),
            Column("counts_games", "a pair with more games has more influence"),
            Column("complexity", "time for n agents and t tasks"),
            Column("reference", "where it was published"),
            title=title_of(self),
            telling=("name", "needs", *promised),
        )  # fmt: skip

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return f"Methods({len(self.methods)} ways to rank)"


def methods() -> Methods:
    """List every way to rank: name, needs, what it promises, complexity, reference.

    Examples
    --------
    >>> import nashboard as nb
    >>> [method.name for method in nb.methods() if method.clone_proof]
    ['nash', 'deviation', 'maximal_lottery', 'ranked_pairs', 'schulze']
    """
    own = sorted(METHODS.values(), key=lambda one: ("matches" not in one.needs, one.name != "nash", one.name))
    return Methods((*own, *(wrap_rating(rating) for rating in RATINGS.values() if rating.ranks)))


def wrap_rating(rating: RatingMethod) -> Method:
    """Return a rating that users registered as a method; it has no promises."""

    def fit(data: Pairwise) -> Outcome:
        # the number of games behind payoffs, such as draws of a posterior, is unknown: a prior would shrink them
        weak = {"prior": NEARLY_NONE} if data.kind == "payoffs" and rating.takes("prior") else {}
        return Outcome(scores=rating.fit(data.matches, **weak).ratings, scale=ROUNDING)

    return Method(
        name=rating.name, title=rating.label, function=fit, needs=("matches", "payoffs"), unit="Elo points",
        counts_games=True, complexity="its own", reference=rating.reference,
    )  # fmt: skip


def find_methods(names: Sequence[str]) -> tuple[Method, ...]:
    """Return the methods of these names, each once."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"methods is {names!r}: give a list of names, such as ['nash', 'elo']")
    return tuple({method.name: method for method in map(find_method, names)}.values())


def find_method(name: str) -> Method:
    """Return the method of this name; dashes and underscores are alike."""
    if not isinstance(name, str):
        raise InputError(f"the name of a method is {name!r}: give a text, such as 'schulze'")
    wanted = name.replace("-", "_").casefold()
    if wanted in METHODS:
        return METHODS[wanted]
    names = (found := methods()).names
    if wanted in names:
        return found.methods[names.index(wanted)]
    raise InputError(f"there is no method {name!r}{nearest(name, names)}: use {either(names)}")


def rank(data: Any, method: str = "nash", *, scaling: Scaling = "range", **options: Any) -> Ranking:
    """Order agents by one of many methods; `methods` lists them.

    Parameters
    ----------
    data
        `Matches`, `Scores`, `Payoffs`, an antisymmetric matrix, or single runs as a mapping from each agent to its
        ``(runs, tasks)`` scores. `Segments` of matches, one for each prompt, for deviation. Of an `Evaluation` its
        posterior: the mean score over the draws, as in the columns of ``evaluate(methods=...)``.
    method
        A name from `methods`.
    scaling
        How raw scores are put in comparable units, as in `Scores.scale`.
    options
        The method's own: ``prior`` for elo, melo and newman, ``k`` and ``cyclic_prior`` for melo, ``nodes`` for kemeny,
        ``damping`` for pagerank, ``temperature`` for soft_condorcet, ``alpha``, ``population`` and ``populations`` for
        alpha_rank.

    Examples
    --------
    >>> import nashboard as nb
    >>> ladder = nb.Matches.from_counts([[0, 7, 9], [3, 0, 6], [1, 4, 0]], agents=["ann", "bob", "cat"])
    >>> nb.rank(ladder, method="copeland").scores
    array([2., 1., 0.])
    >>> nb.rank(ladder, method="kemeny").order
    ('ann', 'bob', 'cat')
    """
    chosen = find_method(method)
    if hasattr(data, "drawn_data"):  # an Evaluation
        return rank_draws(chosen, *data.drawn_data(), **options)
    prepared = pairwise(data, scaling=scaling)
    check_options(chosen, prepared.kind, options)
    if isinstance(data, Matches):  # with clusters and fractions, which the learned prior of ratings needs
        prepared.__dict__["matches"] = data
    ranking = chosen.rank(prepared, **options)
    if chosen.by_prompt and (pooled := note_pooled_prompts(data)):
        return replace(ranking, notes=(*ranking.notes, pooled))
    return ranking


def note_pooled_prompts(data: Any) -> str:
    """Return a note if a log has a column of prompts that was pooled, and how to use it; otherwise an empty text."""
    if not isinstance(data, Matches):
        return ""
    found = PROMPT.search(" ".join(fact.meaning for fact in data.origin.taken if fact.name == "columns"))
    how = "deviation uses them with --prompts {0}, in Python with read_segments(log, {0!r})"
    return "games of all prompts are pooled: " + how.format(found[1]) if found else ""


def rank_draws(
    method: Method, agents: tuple[str, ...], draws: Sequence[Pairwise], label: Ints, **options: Any
) -> Ranking:
    """Rank agents by the mean of their scores over draws of the truth; ``label`` is the row of each agent."""
    drawn, unit = score_draws(method, draws, **options)
    scores = read_only(drawn.mean(axis=0)[label])
    return Ranking(
        agents=agents, scores=scores, ranks=rank_scores(scores), weights=None, unit=unit, method=method.name,
        certificate={}, notes=(f"means over {len(draws):,} draws of the posterior",),
    )  # fmt: skip


def score_draws(method: Method, draws: Sequence[Pairwise], **options: Any) -> tuple[Floats, str]:
    """Return the scores of a method in every draw, ``(draws, n)``, and their unit."""
    check_options(method, draws[0].kind, options)
    if draws[0].table is None and len(draws[0].agents) == 1:  # all entries are pooled: there is nothing to compare
        return np.zeros((len(draws), 1)), method.unit
    method = method.learned(draws[0])
    outcomes = [method.function(draw, **options) for draw in draws]
    return np.stack([outcome.scores for outcome in outcomes]), outcomes[0].unit or method.unit


def check_options(method: Method, kind: str, options: dict[str, Any]) -> None:
    """Raise an error for data or options that a method does not take."""
    if kind not in method.needs:
        raise InputError(f"{method.title} needs {' or '.join(method.needs)}, not {kind}")
    for name, value in options.items():
        if name not in method.options:
            allowed = f"use {either(method.options)}" if method.options else "it has none"
            raise InputError(f"{method.name!r} has no option {name!r}{nearest(name, method.options)}: {allowed}")
        takes = inspect.signature(method.function).parameters[name]
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)
        word = isinstance(value, str) and "Literal" in str(takes.annotation)
        if not (number or word or (value is None and takes.default is None)):
            raise InputError(f"{name} is {value!r}: it must be a number")
