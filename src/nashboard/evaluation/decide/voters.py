"""Votes: agreement of voters, inattentive voters, and how often agents are sampled.

Every voter belongs to one of five kinds. An attentive voter follows the ratings of the agents and its own tastes, whose
size is estimated. A random voter ignores the answers. A one-sided voter nearly always takes the first (or the second)
answer. A partisan nearly always takes one agent, any of those it saw with equal probability, and follows the ratings in
other votes. Kinds and ratings are estimated together (EM): votes are weighted in the ratings by the probability that
their voter is attentive. With few votes per voter the share of inattentive voters is uncertain. So it has a 95%
interval, and probabilities are those at its lower end. Double clicks count once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._tables import Column, Result, Table, Tabular, plain_data
from nashboard._text import either, number_of
from nashboard._types import Floats, Ints
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.data.read import read_games
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.ratings.elo import EloRatings, elo
from nashboard.ratings.errors import origin_weights
from nashboard.ratings.likelihood import NormalPrior, fit_totals, with_normal_prior
from nashboard.ratings.prior import learn_prior_of

KINDS = ("attentive", "random", "first side", "second side", "one agent")
ONE_SIDED = 20.0  # the probability that a one-sided voter takes its side (or agent) is from Beta(20, 1): mean 95%
VOTER_COLUMNS = (
    "voter", "worker", "judge", "annotator", "rater", "user", "voter_id", "worker_id", "judge_id", "user_id",
)  # fmt: skip
SPREAD = 1.5  # prior standard deviation of ratings while kinds are estimated, log-odds
ROUNDS = 30
SCALES = np.geomspace(0.7, 2.0, 5)  # scales of the ratings for the interval of that share
SHARES = 60  # shares of inattentive voters that are tried for the ends of their interval


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Voters(Tabular):
    """The results of an examination of voters.

    Parameters
    ----------
    voters, votes
        Names, and the number of votes of each.
    probability
        ``(voters, 5)`` probabilities of the kinds: attentive, random, first side, second side, one agent; at the
        smallest share of inattentive voters that the votes allow.
    inattentive_high
        Expected number of voters that are not attentive, at the largest share that the votes allow.
    repeats
        Votes left out because they repeat the voter's previous vote; 0 if that many repeats can be chance.
    favourite
        The agent that each voter favours most.
    evidence
        Log-odds that a voter is not attentive, from its votes alone.
    agreement
        Share of a voter's decisive votes for the agent with the higher rating.
    first_share
        Share of decisive votes for the first side.
    alpha
        Krippendorff's alpha over items with several votes; NaN if there are none.
    agents, ratings, ratings_all
        Elo ratings from attentive votes, and from all votes alike, as by `elo`; both with the prior of all votes.
    """

    voters: tuple[str, ...]
    votes: Ints
    probability: Floats
    inattentive_high: float
    repeats: int
    favourite: tuple[str, ...]
    evidence: Floats
    agreement: Floats
    first_share: Floats
    alpha: float
    agents: tuple[str, ...]
    ratings: Floats
    ratings_all: Floats

    @property
    def suspects(self) -> tuple[str, ...]:
        """Voters that are attentive with a probability below 5%, the clearest first."""
        order = np.argsort(-self.evidence, kind="stable")
        return tuple(self.voters[k] for k in order if self.probability[k, 0] < 0.05)

    @property
    def inattentive(self) -> float:
        """Expected number of voters that are not attentive, at the smallest share that the votes allow (95%)."""
        return float((1 - self.probability[:, 0]).sum())

    def kind(self, k: int) -> str:
        """Return the most probable kind of a voter, with the agent that it favours."""
        kind = KINDS[int(self.probability[k].argmax())]
        return f"for {self.favourite[k]}" if kind == "one agent" else kind

    def table(self) -> Table:
        """Return a row per voter, the most suspicious first."""
        suspects, all_voters = len(self.suspects), number_of(len(self.voters), "voters")
        sentence = f"None of {all_voters} was found to ignore the answers; a few votes show little."
        if suspects or self.inattentive_high >= 0.5:
            low, high = round(self.inattentive), round(self.inattentive_high)
            sentence = (
                f"{low:,}{f' to {high:,}' * (high > low)} of {all_voters} ignore the answers (95% interval); "
                f"identified (P(attentive) < 0.05): {suspects:,}."
            )
        clicks = (
            (f"Left out: {number_of(self.repeats, 'repeats')} of a voter's previous vote.",) if self.repeats else ()
        )
        alpha = (f"Krippendorff's alpha: {self.alpha:.3f}.",) if np.isfinite(self.alpha) else ()
        return Table.of(
            np.lexsort([np.arange(len(self.voters)), -self.evidence]),
            Column("voter", cell=self.voters),
            Column("kind", "the most probable kind", cell=self.kind),
            Column("P(attentive)", "probability that votes follow the agents' strength", cell=self.probability[:, 0]),
            Column("votes", cell=self.votes),
            Column("agreement", "share of decisive votes for the stronger agent", decimals=2, cell=self.agreement),
            Column("first side", "share of decisive votes for the first side", decimals=2, cell=self.first_share),
            notes=(sentence, *clicks, *alpha),
        )

    def board(self) -> Table:
        """Return ratings from attentive votes and ratings from all votes."""
        return Table.of(
            np.argsort(-self.ratings, kind="stable"),
            Column("agent", cell=self.agents),
            Column("Elo", "rating from attentive votes", decimals=0, cell=self.ratings),
            Column("Elo, all votes", "rating from all votes alike", decimals=0, cell=self.ratings_all),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        chances = [dict(zip(KINDS, row.tolist(), strict=True)) for row in self.probability]
        document = {
            "alpha": self.alpha,
            "suspects": self.suspects,
            "inattentive": self.inattentive,
            "inattentive_high": self.inattentive_high,
            "repeats": self.repeats,
            "ratings": dict(zip(self.agents, self.ratings, strict=True)),
            "ratings_all_votes": dict(zip(self.agents, self.ratings_all, strict=True)),
            "voters": [
                {"voter": name, "votes": self.votes[k], "kind": self.kind(k), **chances[k]}
                for k, name in enumerate(self.voters)
            ],
        }
        return {name: plain_data(value) for name, value in document.items()}

    def __repr__(self) -> str:
        return f"Voters({len(self.voters):,} voters, {len(self.suspects):,} suspects)"


def voters(
    voter: ArrayLike, first: ArrayLike, second: ArrayLike, outcome: ArrayLike, *, item: ArrayLike | None = None
) -> Voters:
    """Examine voters, given one entry per vote in every argument.

    Parameters
    ----------
    voter
        The voter.
    first, second
        The agents on the first and on the second side.
    outcome
        1 for the first side, 0 for the second, 0.5 for a tie.
    item
        The item (a prompt); votes of several voters on the same item and pair measure agreement.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.voters(["u", "u", "v"], ["A", "B", "A"], ["B", "A", "B"], [1, 0, 1])
    >>> found.suspects
    ()
    """
    names, who = np.unique(np.asarray(voter).astype(str), return_inverse=True)
    sides = [np.asarray(side).astype(str) for side in (first, second)]
    agents, code = np.unique(np.concatenate(sides), return_inverse=True)
    y = np.asarray(outcome, dtype=np.float64)
    if {len(who), *map(len, sides)} != {y.size} or y.ndim != 1:
        raise InputError("voter, first, second and outcome must have one entry per vote each")
    if not np.isin(y, (0.0, 0.5, 1.0)).all():
        raise InputError("every outcome must be 1, 0.5 or 0: the first side won, tied or lost")
    i, j = np.split(code, 2)
    if (i == j).any():
        raise InputError(f"vote {int(np.argmax(i == j)) + 1:,} is of an agent against itself")
    return examine(names, who, agents, i, j, y, None if item is None else np.asarray(item).astype(str))


def read_voters(source: Any, *, voter: str | None = None, item: str | None = None, **options: Any) -> Voters:
    """Examine the voters of a log, read as by `read_games`; by default voters are in a column with a usual name."""
    games = read_games(source, cluster=voter or find_column(source, options), **options)
    items = None if item is None else read_games(source, cluster=item, **options).cluster
    assert games.cluster is not None
    outcome = games.wins + games.draws / 2
    names = np.array(games.cluster_names)[games.cluster]
    agents = np.array(games.agents)
    return voters(names, agents[games.first], agents[games.second], outcome, item=items)


def find_column(source: Any, options: Any) -> str:
    """Return the column of voters, by its name."""
    for name in VOTER_COLUMNS:
        try:
            read_games(source, cluster=name, **options)
        except InputError as error:
            if repr(name) not in str(error):
                raise
        else:
            return name
    raise InputError(
        f"no column says who voted: none is called {either(VOTER_COLUMNS)}",
        hint="name the column with {option}",
        option="voter",
    )


def examine(names: Any, who: Ints, agents: Any, i: Ints, j: Ints, y: Floats, item: Any) -> Voters:
    """Estimate kinds and ratings together."""
    from scipy.special import logsumexp

    everything = Matches.from_games(agents[i], agents[j], y)
    votes = np.bincount(who, minlength=len(names))
    alpha = float("nan") if item is None else vote_alpha(i, j, y, item)
    kept = ~find_repeats(who, i, j, y)
    repeats = int((~kept).sum())
    all_votes = i, j, y
    who, i, j, y = (part[kept] for part in (who, i, j, y))
    size, tie = len(names), y == 0.5
    tie_rate = (tie.sum() + 0.5) / (len(y) + 1.5)
    seen, one = np.unique(np.concatenate([who * len(agents) + i, who * len(agents) + j]), return_inverse=True)
    voter, agent = np.divmod(seen, len(agents))  # every agent that a voter saw, in order of voters
    of_voter = np.searchsorted(voter, np.arange(size))
    for_it = np.concatenate([y, 1 - y])
    prior = np.array([0.88, 0.03, 0.03, 0.03, 0.03])
    ratings = fit_ratings(len(agents), i, j, y, np.ones(len(y)), np.zeros(len(agents)))
    chance_of_kind = np.tile(prior, (size, 1))
    first_side = 0.0  # log-odds by which attentive voters prefer the first side

    def compare_kinds(lead: Floats) -> tuple[Floats, Floats]:
        """Return log-likelihoods of the kinds of every voter, and those of favouring every agent that it saw."""
        attentive = attentive_likelihood(lead, y, tie_rate)
        score, information = score_votes(one, lead, y)
        gain = taste_likelihood(score, information, chance_of_kind[voter, 0])
        total = np.bincount(who, attentive, minlength=size) + np.bincount(voter, gain)
        partisan = total[voter] - np.bincount(one, np.tile(attentive, 2)) - gain
        partisan += one_sided_likelihood(one, for_it == 1, for_it == 0, for_it == 0.5, tie_rate, len(seen))
        kinds = [
            total,
            np.bincount(who, np.where(tie, np.log(tie_rate), np.log((1 - tie_rate) / 2)), minlength=size),
            one_sided_likelihood(who, y == 1, y == 0, tie, tie_rate, size),
            one_sided_likelihood(who, y == 0, y == 1, tie, tie_rate, size),
            np.logaddexp.reduceat(partisan, of_voter) - np.log(np.bincount(voter)),
        ]
        return np.stack(kinds, axis=1), partisan

    for _ in range(ROUNDS):
        weight = chance_of_kind[who, 0]
        ratings = fit_ratings(len(agents), i, j, y, weight, ratings)
        first_side = update_side(ratings[i] - ratings[j], y, weight, first_side)
        likelihood, partisan = compare_kinds(ratings[i] - ratings[j] + first_side)
        new = weigh_kinds(likelihood, prior)
        prior = (new.sum(axis=0) + np.array([2.0, 0.2, 0.2, 0.2, 0.2])) / (size + 2.8)
        moved = float(np.abs(new - chance_of_kind).max())
        chance_of_kind = new
        if moved < 1e-8:
            break
    rest = logsumexp(likelihood[:, 1:] + np.log(prior[1:] / prior[1:].sum()), axis=1)
    scaled = [compare_kinds(scale * (ratings[i] - ratings[j]) + first_side)[0] for scale in SCALES]
    ends = bound_shares([likelihood]) + bound_shares(scaled)
    chance_of_kind = ends[0]
    best = np.lexsort([-partisan, voter])[of_voter]
    decisive = ~tie
    stronger = np.where(ratings[i] > ratings[j], y == 1, y == 0) & decisive
    played = np.bincount(who, decisive, minlength=size)
    played[played == 0] = np.nan  # a voter with only ties has no shares of decisive votes
    learned, origin = learn_prior_of(everything, np.zeros(len(agents) + 1)), origin_weights(everything)
    shown = [
        fit_ratings(len(agents), *seen_votes, weight, ratings, learned.sigma, learned.normal)
        for seen_votes, weight in (((i, j, y), chance_of_kind[who, 0]), (all_votes, np.ones(len(kept))))
    ]
    from_attentive, from_all = ((r - origin @ r) * POINTS_PER_LOGIT for r in shown)
    return Voters(
        voters=tuple(map(str, names)),
        votes=votes,
        probability=chance_of_kind,
        inattentive_high=max(float((1 - end[:, 0]).sum()) for end in ends),
        repeats=repeats,
        favourite=tuple(str(agents[agent[k]]) for k in best),
        evidence=rest - likelihood[:, 0],
        agreement=np.bincount(who, stronger, minlength=size) / played,
        first_share=np.bincount(who, y == 1, minlength=size) / played,
        alpha=alpha,
        agents=tuple(map(str, agents)),
        ratings=from_attentive,
        ratings_all=from_all,
    )


def find_repeats(who: Ints, i: Ints, j: Ints, y: Floats) -> Any:
    """Return a mask of votes that repeat the voter's previous vote, if these are more than in a random order of votes.

    The mask is empty in a log sorted by agents or outcomes, in which neighbours often have these in common.
    """
    order = np.argsort(who, kind="stable")
    votes_of = np.bincount(who)
    n = int(max(i.max(initial=0), j.max(initial=0))) + 1

    def compare_with_previous(value: Ints) -> tuple[Any, float]:
        """Return a mask of votes with the value of the voter's previous vote, and their number in a random order."""
        width = int(value.max(initial=0)) + 1
        code = (who * width + value)[order]
        kinds, equal = np.unique(code, return_counts=True)
        again = np.concatenate([[False], code[1:] == code[:-1]])[: len(code)]
        return again, float((equal * (equal - 1.0) / votes_of[kinds // width]).sum())

    result = (2 * y).astype(int)
    again, chance = compare_with_previous((i * n + j) * 3 + result)
    repeats = np.zeros(len(y), dtype=bool)
    if again.sum() > chance + 4 * np.sqrt(chance) + 4:
        ordered = [
            (own & ~again).sum() > by_chance + 4 * np.sqrt(by_chance) + 4
            for own, by_chance in map(compare_with_previous, (i, j, result))
        ]
        repeats[order[again]] = not any(ordered)
    return repeats


def weigh_kinds(likelihood: Floats, shares: Floats) -> Floats:
    """Return the probabilities of the kinds of every voter, given the shares of the kinds."""
    joint = likelihood + np.log(shares)
    joint -= joint.max(axis=1, keepdims=True)
    weight = np.exp(joint)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def bound_shares(likelihoods: list[Floats]) -> list[Floats]:
    """Return probabilities of the kinds at both ends of the 95% profile interval of the share that is not attentive.

    For every share the best of several likelihoods, with different scales of the ratings, is used: random votes that
    are taken for attentive make ratings more equal, which hides them. The lower end is that of the fitted ratings,
    because larger ones overstate the differences of voters with many votes, on which ratings depend. The share is at
    least that of half a voter, since no votes prove that all voters are attentive.
    """
    from scipy.special import expit, logit
    from scipy.stats import chi2

    least = 0.5 / (len(likelihoods[0]) + 1)
    grid = expit(np.linspace(logit(least), logit(1 - least), SHARES))
    values, shares = np.empty((len(likelihoods), SHARES)), np.empty((len(likelihoods), SHARES, 5))
    for row, likelihood in enumerate(likelihoods):
        top = likelihood.max(axis=1, keepdims=True)
        relative = np.exp(likelihood - top)
        mix = np.full(4, 0.25)
        for k, share in enumerate(grid):
            for _ in range(8):  # EM for the mixture of the other kinds, from that of the share before
                joint = share * mix * relative[:, 1:]
                count = (joint / (joint.sum(axis=1) + (1 - share) * relative[:, 0])[:, None]).sum(axis=0) + 0.2
                mix = count / count.sum()
            shares[row, k] = [1 - share, *(share * mix)]
            values[row, k] = np.log(relative @ shares[row, k]).sum() + top.sum()
    best, profile = values.argmax(axis=0), values.max(axis=0)
    allowed = np.flatnonzero(profile >= profile.max() - chi2.ppf(0.95, 1) / 2)
    return [weigh_kinds(likelihoods[best[k]], shares[best[k], k]) for k in allowed[[0, -1]]]


def update_side(lead: Floats, y: Floats, weight: Floats, side: float) -> float:
    """Return an improved preference of attentive voters for the first side (a Newton step, prior N(0, 0.5))."""
    p = 1 / (1 + np.exp(-lead - side))
    slope, curvature = weight @ (y - p) - 4 * side, weight @ (p * (1 - p)) + 4
    return side + float(slope / curvature)


def attentive_likelihood(lead: Floats, y: Floats, tie_rate: float) -> Floats:
    """Return log-likelihoods of votes that follow the ratings; ties are equally frequent everywhere."""
    win = -np.logaddexp(0.0, -lead)
    return np.asarray(np.where(y == 0.5, np.log(tie_rate), np.log1p(-tie_rate) + np.where(y == 1, win, win - lead)))


def score_votes(one: Ints, lead: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return points of each agent beyond those expected from the ratings, and their variance, by voter and agent."""
    p = 1 / (1 + np.exp(-lead))
    score, information = (np.bincount(one, part) for part in (np.concatenate([y - p, p - y]), np.tile(p * (1 - p), 2)))
    return score.astype(np.float64), information.astype(np.float64)


def taste_likelihood(score: Floats, information: Floats, weight: Floats) -> Floats:
    """Return the log-likelihood ratio of tastes ``N(0, v)`` of attentive voters for every agent (Laplace).

    ``v`` is estimated from the scores of attentive voters, ``E[score^2] = information + v information^2``.
    """
    excess, size = weight @ (score**2 - information), weight @ information**2
    v = max(0.0, float(excess / size)) if size > 0 else 0.0
    return np.asarray((v * score**2 / (1 + v * information) - np.log1p(v * information)) / 2)


def one_sided_likelihood(who: Ints, own: Any, other: Any, tie: Any, tie_rate: float, size: int) -> Floats:
    """Return log-likelihoods of voters whose probability of taking one side has a Beta(20, 1) distribution."""
    from scipy.special import betaln

    a, b, ties = (np.bincount(who, mask, minlength=size) for mask in (own, other, tie))
    sides = betaln(ONE_SIDED + a, 1.0 + b) - betaln(ONE_SIDED, 1.0)
    return np.asarray(sides + (a + b) * np.log1p(-tie_rate) + ties * np.log(tie_rate))


def fit_ratings(
    n: int,
    i: Ints,
    j: Ints,
    y: Floats,
    weight: Floats,
    start: Floats,
    spread: float = SPREAD,
    normal: NormalPrior | None = None,
) -> Floats:
    """Return Bradley-Terry ratings of weighted votes with a normal prior."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    pair, where = np.unique(low * n + high, return_inverse=True)
    won, lost = (
        np.bincount(where, weight * points).astype(np.float64)
        for points in (np.where(i == low, y, 1 - y), np.where(i == low, 1 - y, y))
    )
    return fit_totals(with_normal_prior(n, pair // n, pair % n, won, lost, spread, normal), start)


def vote_alpha(i: Ints, j: Ints, y: Floats, item: Any) -> float:
    """Return Krippendorff's alpha of votes on the same item and pair."""
    low = np.minimum(i, j)
    what = np.stack([np.unique(item, return_inverse=True)[1], low, np.maximum(i, j)])
    unit = np.unique(what, axis=1, return_inverse=True)[1].ravel()
    kinds, code = np.unique(np.where(i == low, y, 1 - y), return_inverse=True)
    return alpha_from_counts(count_values(unit, code), 1.0 - np.eye(len(kinds)))


def count_values(unit: Ints, code: Ints) -> Floats:
    """Return the counts of each value (by number) for each unit (units, values)."""
    counts = np.zeros((int(unit.max(initial=-1)) + 1, int(code.max(initial=-1)) + 1))
    np.add.at(counts, (unit, code), 1.0)
    return counts


def krippendorff_alpha(ratings: ArrayLike, *, distance: str = "nominal") -> float:
    """Return Krippendorff's alpha: 1 for perfect agreement, 0 for none beyond chance.

    Parameters
    ----------
    ratings
        ``(raters, units)`` numbers, NaN where a rater did not rate a unit.
    distance
        ``"nominal"`` (equal or not) or ``"interval"`` (squared difference).

    Examples
    --------
    >>> import nashboard as nb
    >>> round(nb.krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 1]]), 3)
    0.667
    """
    R = np.asarray(ratings, dtype=np.float64)
    if R.ndim != 2:
        raise InputError("ratings must be raters x units, two axes")
    there = ~np.isnan(R)
    kinds, code = np.unique(R[there], return_inverse=True)
    distances = {"nominal": 1.0 - np.eye(len(kinds)), "interval": np.subtract.outer(kinds, kinds) ** 2}
    if distance not in distances:
        raise InputError(f"there is no distance {distance!r}: use 'nominal' or 'interval'", option="distance")
    return alpha_from_counts(count_values(np.nonzero(there)[1], code), distances[distance])


def alpha_from_counts(counts: Floats, distance: Floats) -> float:
    """Return ``1 - D_o / D_e`` from counts (units, values); units with one value do not count."""
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return float("nan")
    m = counts.sum(axis=1, keepdims=True)
    coincidence = counts.T @ (counts / (m - 1)) - np.diag((counts / (m - 1)).sum(axis=0))
    total = coincidence.sum(axis=1)
    observed = (coincidence * distance).sum() * (total.sum() - 1)
    expected = (np.outer(total, total) * distance).sum()
    return float(1 - observed / expected) if expected > 0 else 1.0


WORLDS = 200  # replays behind the inflation


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exposure(Result):
    """How often every agent was sampled, and its rating with all pairs weighted equally.

    Parameters
    ----------
    games, share
        Games of each agent, and their share, which is ``1 / n`` in an even schedule.
    ratings, reweighted
        Elo ratings as the games were played, and with pairs weighted inversely to their numbers of games.
    inflation
        For each family of variants: the Elo points that the best of them is expected to gain by noise alone.
    """

    agents: tuple[str, ...]
    games: Floats
    share: Floats
    ratings: Floats
    reweighted: Floats
    inflation: dict[str, float]

    def table(self) -> Table:
        """Return a row per agent, most games first."""
        notes = (
            f"{name}: the best of its variants gains about {points:.0f} Elo points by noise alone"
            for name, points in self.inflation.items()
        )
        return Table.of(
            np.lexsort([np.arange(len(self.games)), -self.games]),
            Column("agent", cell=self.agents),
            Column("games", decimals=0, cell=self.games),
            Column("exposure", "games relative to an even schedule; 1 is even", decimals=2, cell=self.relative),
            Column("Elo", "rating as the games were played", decimals=0, cell=self.ratings),
            Column("Elo, even", "rating with all pairs weighted alike", decimals=0, cell=self.reweighted),
            notes=tuple(notes),
        )

    @property
    def relative(self) -> Floats:
        """Games relative to an even schedule."""
        return self.share * len(self.agents)

    def __repr__(self) -> str:
        even = f"{self.relative.min():.2f} to {self.relative.max():.2f} of an even schedule"
        return f"Exposure({len(self.agents):,} agents, {even})"


def exposure(
    matches: Matches, *, families: Mapping[str, Iterable[str]] | None = None, least_games: float = 50, rng: int = 0
) -> Exposure:
    """Measure exposure, and its effect on the ratings.

    Parameters
    ----------
    families
        Variants that one owner entered, ``{"lab": ["lab-a", "lab-b"]}``: the best of N equal variants looks better
        than it is. The difference is simulated: games between the same pairs, with all variants equally strong.
    least_games
        Pairs are weighted inversely to their games; pairs with fewer games than this are weighted as if they had this
        many, so that single games do not decide, as in arena-rank.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.exposure(nb.Matches.from_counts([[0, 6, 9], [4, 0, 18], [1, 2, 0]])).share.round(2).tolist()
    [0.25, 0.38, 0.38]
    """
    matches.require_counts()
    matches.require_connected()
    games = matches.games_per_agent
    fit = elo(matches)
    inflation = {}
    for name, members in (families or {}).items():
        family = positions(members, matches.agents, kind="agent")
        if len(family) > 1:
            inflation[name] = simulate_inflation(matches, fit, family, np.random.default_rng(rng))
    return Exposure(
        agents=matches.agents,
        games=games,
        share=games / games.sum(),
        ratings=fit.ratings,
        reweighted=elo(reweight_pairs(matches, least_games)).ratings,
        inflation=inflation,
    )


def reweight_pairs(matches: Matches, least_games: float) -> Matches:
    """Return the matches with every pair weighted by ``1 / max(games, least_games)``; the number of games stays."""
    factor = 1 / np.maximum(matches.games, least_games)
    factor *= matches.n_games / float((factor * matches.games).sum())
    counts = {name: getattr(matches, name) * factor for name in ("wins", "draws", "losses")}
    return replace(matches, **counts, clusters=None, sides=None, fractions=None)


def simulate_inflation(matches: Matches, fit: EloRatings, family: Sequence[int], rng: np.random.Generator) -> float:
    """Return the mean lead, in Elo points, of the best of equally strong variants over their mean in simulated logs."""
    truth = fit.ratings / POINTS_PER_LOGIT
    truth[family] = truth[family].mean()
    i, j = matches.pairs.T
    chance = 1 / (1 + np.exp(truth[j] - truth[i]))
    decisive = (matches.games - matches.draws).round().astype(int)
    luck, prior = [], learn_prior_of(matches, np.zeros(len(truth) + 1))
    for _ in range(WORLDS):
        won = rng.binomial(decisive, chance) + matches.draws / 2
        totals = with_normal_prior(len(truth), i, j, won, matches.games - won, prior.sigma, prior.normal)
        r = fit_totals(totals, truth)
        luck.append(float(r[family].max() - r[family].mean()))
    return float(np.mean(luck)) * POINTS_PER_LOGIT
