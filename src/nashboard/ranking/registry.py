"""The registry: every way to rank, in the order in which tables show them, and `rank`, which runs one of them."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from nashboard._tables import Column, Table, Tabular
from nashboard._text import either, nearest
from nashboard.data.scores import Scaling
from nashboard.errors import InputError
from nashboard.ranking.alpha_rank import alpha_rank
from nashboard.ranking.averages import borda, interquartile_mean, mean, median, uniform, win_rate
from nashboard.ranking.kemeny import kemeny
from nashboard.ranking.lotteries import deviation, maximal_lottery, nash
from nashboard.ranking.method import Method, Promises, Ranking, ranking_of
from nashboard.ranking.pairwise import Pairwise, pairwise
from nashboard.ranking.ratings import by_rating, eigenvector, elo, hodge, melo, newman, pagerank
from nashboard.ranking.tournaments import copeland, ranked_pairs, schulze, soft_condorcet
from nashboard.ratings.rating import RATINGS

ANY = ("matches", "payoffs", "scores")
GAMES = ("matches", "payoffs")
SCORES = ("scores",)


def promises(text: str) -> Promises:
    """Return the promises that a text names by their initials: clones, Condorcet, irrelevant agents, monotone."""
    return Promises(clones="c" in text, condorcet="C" in text, irrelevant="i" in text, monotone="m" in text)


METHODS = (
    Method(
        name="nash", title="Nash averaging", function=nash, needs=ANY, unit="payoff against the equilibrium",
        promises=promises("cCim"), counts_games=False, complexity="one equilibrium of an n x n game",
        reference="Balduzzi, Tuyls, Perolat, Graepel 2018, Re-evaluating Evaluation",
    ),
    Method(
        name="elo", title="Elo (Bradley-Terry)", function=elo, needs=ANY, unit="Elo points",
        promises=promises("m"), counts_games=True, complexity="n^3 per Newton step",
        reference="Bradley and Terry 1952; Elo 1978",
    ),
    Method(
        name="melo", title="mElo", function=melo, needs=ANY, unit="Elo points",
        promises=promises(""), counts_games=True, complexity="pairs x planes per step",
        reference="Balduzzi et al. 2018, section 3",
    ),
    Method(
        name="newman", title="Newman (Davidson)", function=newman, needs=ANY, unit="Elo points",
        promises=promises("m"), counts_games=True, complexity="n^3 per Newton step",
        reference="Davidson 1970; Newman 2023, Efficient computation of rankings from pairwise comparisons",
    ),
    Method(
        name="hodge", title="HodgeRank", function=hodge, needs=ANY, unit="log-odds",
        promises=promises("m"), counts_games=True, complexity="n^3",
        reference="Jiang, Lim, Yao, Ye 2011, Statistical ranking and combinatorial Hodge theory",
    ),
    Method(
        name="uniform", title="uniform average", function=uniform, needs=ANY, unit="mean payoff",
        promises=promises("m"), counts_games=False, complexity="n^2 or n t",
        reference="the mean payoff against all agents, or the mean of scaled scores",
    ),
    Method(
        name="win_rate", title="win rate", function=win_rate, needs=GAMES, unit="share of points",
        promises=promises("m"), counts_games=True, complexity="n^2",
        reference="points divided by games",
    ),
    Method(
        name="borda", title="Borda", function=borda, needs=ANY, unit="sum of win rates over opponents",
        promises=promises("m"), counts_games=False, complexity="n^2",
        reference="Borda 1781",
    ),
    Method(
        name="copeland", title="Copeland", function=copeland, needs=ANY, unit="opponents beaten, ties half",
        promises=promises("Cm"), counts_games=False, complexity="n^2",
        reference="Copeland 1951",
    ),
    Method(
        name="schulze", title="Schulze", function=schulze, needs=ANY,
        unit="minus the agents in the longest chain above",
        promises=promises("cCm"), counts_games=False, complexity="n^3",
        reference="Schulze 2011, A new monotonic, clone-independent, reversal symmetric, Condorcet-consistent method",
    ),
    Method(
        name="ranked_pairs", title="ranked pairs (Tideman)", function=ranked_pairs, needs=ANY,
        unit="minus the agents in the longest chain above",
        promises=promises("cC"), counts_games=False, complexity="n^2 log n to n^4 / 64",
        reference="Tideman 1987, Independence of clones as a criterion for voting rules",
    ),
    Method(
        name="kemeny", title="Kemeny-Young", function=kemeny, needs=ANY, unit="minus the place",
        promises=promises("Cm"), counts_games=False, complexity="exponential; a bound beyond 60 agents in a cycle",
        reference="Kemeny 1959; Young and Levenglick 1978",
    ),
    Method(
        name="maximal_lottery", title="maximal lottery", function=maximal_lottery, needs=ANY,
        unit="minus the lotteries before",
        promises=promises("cCim"), counts_games=False, complexity="one equilibrium per level",
        reference="Fishburn 1984; Brandl, Brandt, Seedig 2016, Consistent probabilistic social choice",
    ),
    Method(
        name="soft_condorcet", title="Soft Condorcet Optimization", function=soft_condorcet, needs=ANY,
        unit="rating in [0, 100]",
        promises=promises(""), counts_games=True, complexity="n^2 per step",
        reference="Lanctot et al. 2024, Soft Condorcet Optimization for ranking of general agents",
    ),
    Method(
        name="alpha_rank", title="alpha-rank", function=alpha_rank, needs=ANY, unit="stationary probability",
        promises=promises("Cm"), counts_games=False, complexity="n^3; (n t)^3 for scores",
        reference="Omidshafiei et al. 2019, alpha-rank: multi-agent evaluation by evolution",
    ),
    Method(
        name="deviation", title="deviation rating", function=deviation, needs=ANY, unit="gain of deviating",
        promises=promises("cCim"), counts_games=False, complexity="one equilibrium, and linear programs if many",
        reference="Marris, Liu, Gemp, Piliouras, Lanctot 2025, Deviation ratings", by_prompt=True,
    ),
    Method(
        name="eigenvector", title="eigenvector", function=eigenvector, needs=ANY, unit="eigenvector, norm 1",
        promises=promises("m"), counts_games=True, complexity="n^2 per step",
        reference="Bonacich 1987; as in evalica",
    ),
    Method(
        name="pagerank", title="PageRank", function=pagerank, needs=ANY, unit="stationary probability",
        promises=promises(""), counts_games=True, complexity="n^3",
        reference="Brin and Page 1998; as in evalica",
    ),
    Method(
        name="mean", title="mean score", function=mean, needs=SCORES, unit="mean of the raw scores",
        promises=promises("im"), counts_games=False, complexity="n t",
        reference="the mean over tasks, as published tables show it",
    ),
    Method(
        name="median", title="median score", function=median, needs=SCORES, unit="median of the scaled scores",
        promises=promises("m"), counts_games=False, complexity="n t",
        reference="Agarwal et al. 2021, Deep RL at the edge of the statistical precipice (rliable)",
    ),
    Method(
        name="iqm", title="interquartile mean", function=interquartile_mean, needs=SCORES,
        unit="mean of the middle half of the scaled scores",
        promises=promises("m"), counts_games=False, complexity="n t log t",
        reference="Agarwal et al. 2021, Deep RL at the edge of the statistical precipice (rliable)",
    ),
)  # fmt: skip


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
        return Table(
            title=repr(self),
            columns=(
                Column(name="name", meaning="what method= takes"),
                Column(name="title"),
                Column(name="needs", meaning="kinds of data"),
                Column(name="clone_proof", meaning="exact copies leave the order of the others as it was"),
                Column(name="condorcet", meaning="an agent that beats every other is alone in first place"),
                Column(name="irrelevant", meaning="dropping an agent that is not first leaves first place as it was"),
                Column(name="monotone", meaning="a sole winner that does better stays first"),
                Column(name="counts_games", meaning="a pair with more games has more influence"),
                Column(name="complexity", meaning="time for n agents and t tasks"),
                Column(name="reference"),
            ),
            rows=tuple(
                (
                    one.name,
                    one.title,
                    ", ".join(one.needs),
                    one.clone_proof,
                    one.promises.condorcet,
                    one.promises.irrelevant,
                    one.promises.monotone,
                    one.counts_games,
                    one.complexity,
                    one.reference,
                )
                for one in self.methods
            ),
            telling=("name", "needs", "clone_proof", "condorcet", "irrelevant", "monotone"),
        )

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
    ['nash', 'schulze', 'ranked_pairs', 'maximal_lottery', 'deviation']
    """
    return Methods((*METHODS, *registered_ratings()))


def registered_ratings() -> tuple[Method, ...]:
    """Return the ratings that were registered beside those above; nothing is promised of them."""
    return tuple(
        Method(
            name=rating.name, title=rating.label, function=partial(by_rating, rating), needs=GAMES,
            unit="Elo points", promises=promises(""), counts_games=True, complexity="its own",
            reference=rating.reference,
        )
        for rating in RATINGS.values() if rating.ranks
    )  # fmt: skip


def find_method(name: str) -> Method:
    """Return the method of this name; dashes and underscores are alike."""
    wanted = name.replace("-", "_").casefold()
    found = methods()
    for method in found:
        if method.name == wanted:
            return method
    names = found.names
    raise InputError(f"there is no method {name!r}{nearest(name, names)}: use {either(names)}")


def rank(data: Any, method: str = "nash", *, scaling: Scaling = "range", **options: Any) -> Ranking:
    """Order agents by one of many methods; `methods` lists them.

    Parameters
    ----------
    data
        `Matches`, `Scores`, `Payoffs`, an `Evaluation`, an antisymmetric matrix, or single runs as a mapping from each
        agent to its ``(runs, tasks)`` scores. `Segments` of matches, one for each prompt, for deviation.
    method
        A name from `methods`.
    scaling
        How raw scores are put in comparable units, as in `Scores.scale`.
    options
        The method's own: ``prior`` for elo, melo and newman, ``k`` for melo, ``damping`` for pagerank, ``temperature``
        for soft_condorcet, ``alpha``, ``population`` and ``populations`` for alpha_rank.

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
    prepared = pairwise(data, scaling=scaling)
    refuse(chosen, prepared, options)
    return ranking_of(chosen, prepared, options)


def refuse(method: Method, data: Pairwise, options: dict[str, Any]) -> None:
    """Raise an error for data or options that a method does not take."""
    if data.kind not in method.needs:
        raise InputError(f"{method.title} needs {' or '.join(method.needs)}, not {data.kind}")
    for name in options:
        if name not in method.options:
            allowed = f"use {either(method.options)}" if method.options else "it has none"
            raise InputError(f"{method.name!r} has no option {name!r}{nearest(name, method.options)}: {allowed}")
