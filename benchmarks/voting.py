"""Voting rules, alpha-rank and deviation ratings beside OpenSpiel: random votes and games, its answers, and ours.

    python benchmarks/voting.py     winners and scores by every rule on 200 random profiles, and 200 games by the others

OpenSpiel is imported where it is called, so that other sides and the tests can import this file without it.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

import nashboard as nb
from nashboard._types import Floats
from nashboard.ranking.methods.deviation import solve_prompts

VOTERS = 51
RULES = ("borda", "copeland", "schulze", "ranked_pairs", "kemeny", "maximal_lottery", "soft_condorcet")
SAME = "same winner and scores"
ALPHAS = (0.05, 0.5, 5.0)
SOFT_STEPS = 2000  # of OpenSpiel's gradient descent

Votes = list[list[int]]


def votes(n: int, voters: int = VOTERS) -> Votes:
    """Return rankings that are noisy versions of one another."""
    rng = np.random.default_rng(n)
    skill = np.linspace(1, 0, n)
    return [np.argsort(-(skill + rng.normal(0, 0.5, n))).tolist() for _ in range(voters)]


def profiles(count: int, seed: int = 0) -> Iterator[Votes]:
    """Yield random votes of 3 to 6 agents, all orders as likely.

    In turn 3 to 12 voters, where ties and cycles are common, and an odd number of 51 to 149, where few margins tie.
    """
    rng = np.random.default_rng(seed)
    for k in range(count):
        n, voters = rng.integers(3, 7), rng.integers(3, 13) if k % 2 else 2 * rng.integers(25, 75) + 1
        yield [rng.permutation(n).tolist() for _ in range(voters)]


def wins(given: Votes) -> Floats:
    """Return how many voters prefer one to another, of up to 256."""
    order = np.frombuffer(bytes(chain.from_iterable(given)), dtype=np.uint8).reshape(len(given), -1)
    places = order.argsort(axis=1).astype(np.uint8)
    if order.shape[1] < 20:
        place = np.ascontiguousarray(places.T)
        return np.add.reduce(place[:, None] < place, axis=2, dtype=np.int64).astype(np.float64)
    W = np.zeros((order.shape[1], order.shape[1]), dtype=np.uint8 if len(given) < 256 else np.uint16)
    for place in places:  # a voter at a time, which stays in the processor's cache
        W += place[:, None] < place
    return W.astype(np.float64)


def margins(given: Votes) -> Any:
    """Return how much more often one is preferred to another, which is all that voting rules need."""
    W = wins(given)
    return nb.Payoffs(agents=tuple(map(str, range(len(W)))), A=(W - W.T) / len(given), scale="margin")


@cache
def open_spiel_rule(name: str) -> tuple[Any, Any]:
    """Return OpenSpiel's class of profiles and that of a rule."""
    from open_spiel.python.voting import base

    module = {"kemeny": "kemeny_young", "maximal_lottery": "maximal_lotteries"}.get(name, name)
    found = vars(import_module(f"open_spiel.python.voting.{module}"))
    rule = next(found[key] for key in found if key.endswith("Voting") and key != "AbstractVotingMethod")
    return base.PreferenceProfile, rule


def by_open_spiel(name: str, given: Votes) -> Any:
    """Return OpenSpiel's outcome."""
    profile, rule = open_spiel_rule(name)
    return rule().run_election(profile(votes=given, alternatives=list(range(len(given[0])))))


def soft_by_open_spiel(given: Votes, steps: int = SOFT_STEPS) -> Floats:
    """Return the ratings of OpenSpiel's gradient descent, the compiled one."""
    from pyspiel import sco

    optimizer = sco.SoftCondorcetOptimizer(
        votes=[(1, [str(k) for k in vote]) for vote in given],
        rating_lower_bound=0.0,
        rating_upper_bound=100.0,
        batch_size=len(given),
    )
    optimizer.run_solver(steps, 1.0)
    found = optimizer.ratings()
    return np.array([found[str(k)] for k in range(len(given[0]))])


def soft_loss(W: Floats, r: Floats) -> float:
    """Return the votes that ratings contradict, softly, at temperature 1."""
    return float((W / (1 + np.exp(r[:, None] - r))).sum())


def disagreement(order: list[int], given: Votes) -> float:
    """Return the share of votes that an order contradicts beyond its pairs' majorities."""
    W = wins(given)
    placed = ((W - W.T) / len(given))[np.ix_(order, order)]
    return float(-np.triu(np.minimum(placed, 0), 1).sum())


def strongest_paths(W: Floats) -> Floats:
    """Return Schulze's strongest paths by trying every path of two parts until none is stronger."""
    S = np.where(W > W.T, W, 0.0)
    while True:
        longer = np.maximum(S, np.minimum(S[:, :, None], S[None]).max(axis=1))
        np.fill_diagonal(longer, 0.0)
        if (longer == S).all():
            return S
        S = longer


def scores_of_order(name: str, order: list[int], W: Floats) -> Floats:
    """Return the scores that OpenSpiel gives agents in this order, the first first, where it is the rule's only one."""
    placed = W[np.ix_(order, order)]
    if name == "schulze":  # votes of each against the next, added up from the last
        return np.append(np.cumsum(np.diag(placed, 1)[::-1])[::-1], 0.0)
    if name == "kemeny":  # votes against all that follow
        return np.triu(placed, 1).sum(axis=1)
    locked = np.maximum(np.triu(placed - placed.T, 1), 0.0)  # ranked pairs: margins that are locked from here on
    reach = locked > 0
    for k in range(len(order)):
        reach |= reach[:, [k]] & reach[k]
    return np.array([locked[k].sum() + locked[reach[k]].sum() for k in range(len(order))])


def lottery_scores(data: Any, levels: Floats) -> Floats | None:
    """Return OpenSpiel's scores from our levels: the weight in the level's lottery, 1 more for each level below.

    None where a level has several lotteries.
    """
    M, found = np.asarray(data.A), np.zeros(len(levels))
    for level in np.unique(levels):
        left = np.flatnonzero(levels <= level)  # our scores are minus the lotteries before
        lottery = nb.nash_average(M[np.ix_(left, left)]) if left.size > 1 else None
        if lottery is not None and not lottery.unique:
            return None
        share = np.ones(1) if lottery is None else lottery.weights
        found[left] = np.where(levels[left] == level, share + level - levels.min(), found[left])
    return found


def compare_profile(name: str, given: Votes) -> str:
    """Return `SAME`, or how an outcome of OpenSpiel differs from ours; a difference without a reason is an error."""
    W, data = wins(given), margins(given)
    ours = nb.rank(data, name)
    first = np.flatnonzero(ours.ranks == 1).tolist()
    if name == "soft_condorcet":
        ratings = soft_by_open_spiel(given)
        own = float(ours.certificate["contradicted_votes"]) * len(
            given
        )  # of the best ratings, also where scores are means
        lower = soft_loss(W, ratings) - own
        assert lower > -1e-4, f"OpenSpiel's loss is {-lower:g} lower on {given}"
        if int(ratings.argmax()) in first:
            return "same winner, our loss no higher"
        return "another winner, our loss lower" if lower > 1e-2 else "another winner, same loss"
    theirs = by_open_spiel(name, given)
    best = theirs.ranking[0]
    scores = np.array([dict(zip(theirs.ranking, theirs.scores, strict=True))[k] for k in range(len(W))])
    if name in ("borda", "copeland"):
        expected = ours.scores * (len(given) if name == "borda" else 1)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9, err_msg=str(given))
        assert best in first, given
        return SAME
    if name == "maximal_lottery":
        expected_scores = lottery_scores(data, ours.scores)
        if expected_scores is not None:
            np.testing.assert_allclose(scores, expected_scores, rtol=0, atol=1e-5, err_msg=str(given))
            assert best in first, given
            return SAME
        top = np.floor(scores.max() - 1e-6)
        lottery = np.where(scores > top + 1e-6, scores - top, 0.0)
        assert ((W - W.T) @ lottery).max() < 1e-5 * len(given), given  # nobody beats it
        assert set(np.flatnonzero(lottery).tolist()) <= set(first), given  # ours has the largest support
        return "one of several lotteries"
    if name == "kemeny":
        assert abs(disagreement(theirs.ranking, given) - ours.certificate["disagreement"]) < 1e-9, given
    if best not in first:
        S = strongest_paths(W)
        rival = int(np.argmax(S[:, best] - S[best]))
        assert name == "schulze", f"{name}: OpenSpiel's {best} is not among our {first} on {given}"
        assert S[rival, best] > S[best, rival], given
        return "OpenSpiel's first loses to another by the rule"
    if len(set(ours.ranks.tolist())) < len(W):  # OpenSpiel orders the agents that tie here by their numbers
        return "same winner, with ties"
    order = np.argsort(ours.ranks).tolist()
    assert order == theirs.ranking, given
    np.testing.assert_allclose(theirs.scores, scores_of_order(name, order, W), rtol=0, atol=1e-9, err_msg=str(given))
    return SAME


def compare_profiles(name: str, count: int = 200, seed: int = 0) -> dict[str, int]:
    """Return how often OpenSpiel's outcome by a rule is ours, and how often it differs how."""
    return dict(Counter(compare_profile(name, given) for given in profiles(count, seed)))


def random_games(populations: int, count: int, seed: int = 0) -> Iterator[tuple[Floats, float]]:
    """Yield games and strengths of selection: antisymmetric payoffs of 2 to 7 agents, or scores of agents on tasks."""
    rng = np.random.default_rng([seed, populations])
    for k in range(count):
        n, t = rng.integers(2, 8), rng.integers(2, 6)
        S = rng.normal(size=(n, n) if populations == 1 else (n, t)).round(1 + k % 3)  # some are equal
        yield (S - S.T if populations == 1 else S), ALPHAS[k % len(ALPHAS)]


def alpha_by_open_spiel(S: Floats, alpha: float, populations: int) -> Floats:
    """Return the shares of the agents in OpenSpiel's stationary distribution, with 50 individuals per population."""
    from open_spiel.python.egt import alpharank

    with np.errstate(over="ignore"):  # of its exponentials, where a strategy cannot take over
        pi = np.asarray(alpharank.compute([S] if populations == 1 else [S, -S], m=50, alpha=alpha)[2])
    return pi if populations == 1 else np.asarray(pi.reshape(S.shape).sum(axis=1))


def alpha_by_us(S: Floats, alpha: float, populations: int) -> Floats:
    """Return our shares of the agents; scores are taken in their own units."""
    data = nb.Payoffs.from_array(S) if populations == 1 else nb.Scores.from_array(S).scale("none")
    return nb.rank(data, "alpha_rank", alpha=alpha, population=50, populations=populations).scores


def compare_games(populations: int, count: int = 200, seed: int = 0) -> dict[str, float]:
    """Return the largest difference between our shares and OpenSpiel's, and of how many games."""
    gaps = [
        np.abs(alpha_by_us(S, alpha, populations) - alpha_by_open_spiel(S, alpha, populations)).max()
        for S, alpha in random_games(populations, count, seed)
    ]
    return {"games": len(gaps), "largest difference": float(max(gaps))}


def deviation_games(kind: str, count: int, seed: int = 0) -> Iterator[Floats]:
    """Yield payoffs (players, choices, ...) of -1, 0 and 1, so that most games have many equilibria.

    ``"payoffs"``: two players choose among 3 to 5 agents. ``"prompts"``: a third chooses among 2 or 3 prompts, and gets
    the size of the margin.
    """
    rng = np.random.default_rng([seed, len(kind)])
    for _ in range(count):
        n, t = rng.integers(3, 6 if kind == "payoffs" else 5), rng.integers(2, 4)
        M = np.triu(rng.integers(-1, 2, size=(t, n, n)), 1).astype(np.float64)
        M -= M.transpose(0, 2, 1)
        yield np.stack([M[0], -M[0]]) if kind == "payoffs" else np.stack([np.abs(M), M, -M])


def gains_by_open_spiel(payoffs: Floats) -> Floats:
    """Return what the player before the last gains by deviating from the strictest coarse correlated equilibrium.

    The gains of all joint choices are OpenSpiel's constraints of these equilibria; it has no solver that lowers the
    largest gain, then the next, so HiGHS does that.
    """
    from open_spiel.python.algorithms import jpsro
    from scipy.optimize import linprog

    gains, about = jpsro._cce_constraints(payoffs, [0.0] * len(payoffs), remove_null=False)
    count, joint = gains.shape
    value, free = np.zeros(count), np.ones(count, dtype=bool)
    while free.any():
        found = linprog(
            np.append(np.zeros(joint), 1.0),
            A_ub=np.hstack([gains, -free[:, None].astype(float)]), b_ub=np.where(free, 0.0, value + 1e-8),
            A_eq=np.append(np.ones(joint), 0.0)[None], b_eq=[1.0], bounds=[(0, None)] * joint + [(None, None)],
        )  # fmt: skip
        tight = free & (found.ineqlin.marginals < -1e-9)
        value[tight], free[tight] = found.fun, False
    return np.asarray(value[about["p_vec"] == len(payoffs) - 2])


def gains_by_us(payoffs: Floats) -> Floats:
    """Return our deviation ratings."""
    return nb.rank(payoffs[0], "deviation").scores if len(payoffs) == 2 else solve_prompts(payoffs[1])


def compare_deviation(kind: str, count: int = 200, seed: int = 0) -> dict[str, float]:
    """Return the largest difference between our deviation ratings and OpenSpiel's gains, and of how many games."""
    gaps = [np.abs(gains_by_us(one) - gains_by_open_spiel(one)).max() for one in deviation_games(kind, count, seed)]
    return {"games": len(gaps), "largest difference": float(max(gaps))}


if __name__ == "__main__":
    for rule in RULES:
        told = compare_profiles(rule)
        print(f"{rule}: " + ", ".join(f"{how} {number}" for how, number in told.items()), flush=True)
    for populations in (1, 2):
        print(f"alpha-rank, {populations} populations: {compare_games(populations)}", flush=True)
    for kind in ("payoffs", "prompts"):
        print(f"deviation ratings, {kind}: {compare_deviation(kind)}", flush=True)
