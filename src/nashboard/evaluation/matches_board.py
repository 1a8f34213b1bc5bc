"""The board of agents against agents: Nash average and weight, a rating, the uniform average, games."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from nashboard._tables import count
from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.equilibrium.nash_average import nash_average
from nashboard.equilibrium.results import NashAverage, Selection, tied_ranks
from nashboard.errors import ConvergenceError
from nashboard.evaluation.board.board import Board, places, tie_groups
from nashboard.evaluation.classes import Classes
from nashboard.ratings.cross_validation import EXACT, FOLDS, compared
from nashboard.ratings.elo import PRIOR, EloRatings, elo
from nashboard.ratings.likelihood import pair_totals
from nashboard.ratings.melo import MeloRatings, melo
from nashboard.ratings.melo_fit import MeloLoss

COMPARED = 500_000  # pairs up to which mElo is tried, about 1,000 agents that all met: two seconds for two fits
FEW_PAIRS = 5_000  # up to which it is fitted five times, to hold out every game once; beyond, once


@dataclass(frozen=True, kw_only=True, eq=False)
class Rated:
    """Ratings, their name, why this model was taken, and where their standard errors come from."""

    name: str
    fit: EloRatings | MeloRatings
    why: str
    errors: str


def rated(matches: Matches, anchor: Mapping[str, float] | None) -> Rated:
    """Rate by Elo, or by mElo with one plane where that predicts games that were held out better."""
    n = len(matches.agents)
    pairs = len(matches.pairs)
    if pairs > COMPARED or n < 3 or len(anchor or {}) > 1:
        why = {
            pairs > COMPARED: f"mElo is compared with Elo for up to {COMPARED:,} pairs only",
            n < 3: "two agents cannot go round in a cycle",
        }.get(True, "mElo takes one anchor only")
        return rated_by_elo(matches, anchor, why)

    def landscape_of(part: Matches) -> MeloLoss:
        return MeloLoss(totals=pair_totals(part, PRIOR), mu=PRIOR / 4, orthogonal=False)

    try:
        rough, parts = pairs > EXACT, 1 if pairs > FEW_PAIRS else FOLDS
        plain, cyclic = compared(matches, landscape_of, 1, np.random.default_rng(0), rough=rough, held_out=parts)
        held_out = "held-out games" if parts == FOLDS else "a held-out fifth of the games"
        why = f"log-loss on {held_out}: Elo {plain.log_loss:.4f}, mElo {cyclic.log_loss:.4f}"
        why += " (a rough fit)" if rough else ""
        if cyclic.log_loss < plain.log_loss:
            return Rated(name="mElo", fit=melo(matches, 1, anchor=anchor), why=why, errors=CURVED)
    except ConvergenceError:  # extreme counts: the board does not fail for want of a second rating
        why = "mElo has no finite fit to some of these matches"
    return rated_by_elo(matches, anchor, why)


CURVED = "by hessian, the curvature of the likelihood: an approximation that knows neither draws nor clusters"
STRAIGHT = "by hessian, the curvature of the likelihood"
ROBUST = "by sandwich, robust to {}, but no less than an agent's games can tell"


def rated_by_elo(matches: Matches, anchor: Mapping[str, float] | None, why: str) -> Rated:
    """Rate by Elo; with draws, which make a rating surer than the model says, or with clusters, errors are robust."""
    if matches.clusters is None and not matches.draws.any():
        return Rated(name="Elo", fit=elo(matches, anchor=anchor, errors="hessian"), why=why, errors=STRAIGHT)
    errors = ROBUST.format("draws" if matches.clusters is None else "draws and to votes that belong together")
    return Rated(name="Elo", fit=elo(matches, anchor=anchor, errors="sandwich"), why=why, errors=errors)


def matches_board(
    matches: Matches, roll: Classes, selection: Selection, anchor: Mapping[str, float] | None, level: float
) -> tuple[Board, NashAverage, Payoffs, Rated]:
    """Return the board of all agents, and the equilibrium and payoffs between classes that it stands on."""
    by_class = matches.select([matches.agents[k] for k in roll.first]) if len(roll.first) > 1 else None
    game = payoffs(by_class, fill="model") if by_class is not None else Payoffs(agents=("all",), A=np.zeros((1, 1)))
    found = nash_average(game, selection=selection)
    order = np.argsort(roll.label, kind="stable")
    ratings = rated(matches.select([matches.agents[k] for k in order]), anchor)
    back = np.argsort(order)
    points, errors = ratings.fit.ratings[back], ratings.fit.stderr[back] * float(ndtri((1 + level) / 2))
    board = Board(
        **agents_board(matches.agents, game, found, roll)
        | {
            "games": np.array(matches.games_per_agent),
            "rating_name": ratings.name,
            "ratings": np.array(points),
            "rating_low": points - errors,
            "rating_high": points + errors,
            "rating_ranks": places(points, 1e-9),
        }
    )
    return board, found, game, ratings


def payoffs_board(given: Payoffs, roll: Classes, selection: Selection) -> tuple[Board, NashAverage, Payoffs]:
    """Return the board of a payoff matrix, which has no games and no ratings."""
    game = given.select([given.agents[k] for k in roll.first])
    found = nash_average(game, selection=selection)
    return Board(**agents_board(given.agents, game, found, roll)), found, game


def agents_board(agents: tuple[str, ...], game: Payoffs, found: NashAverage, roll: Classes) -> dict[str, Any]:
    """Return the fields of a board that payoffs alone decide."""
    n = len(agents)
    averages = np.where(found.weights > 0, 0.0, np.minimum(found.averages, 0.0))
    ranks = tied_ranks(averages, found.scale)[roll.label]
    uniform = uniform_averages(game.A, roll)
    unknown = np.full(n, np.nan)
    return {
        "kind": "agent",
        "average_name": "average",
        "unit": {"logit": "log-odds"}.get(game.scale, game.scale),
        "names": agents,
        "averages": averages[roll.label],
        "gaps": averages[roll.label],
        "weights": roll.shares(found.weights),
        "ranks": ranks,
        "ties": tie_groups(ranks),
        "classes": np.array(roll.label),
        "uniform": uniform,
        "uniform_ranks": places(uniform, 1e-12 * max(found.scale, 1e-300)),
        "games": unknown.copy(),
        "rating_name": "",
        "ratings": unknown.copy(),
        "rating_low": unknown.copy(),
        "rating_high": unknown.copy(),
        "rating_ranks": np.zeros(n, dtype=np.intp),
    }


def uniform_averages(A: Floats, roll: Classes) -> Floats:
    """Return the plain average payoff of each agent over all agents, copies counted as often as they were entered."""
    return np.asarray((A @ (roll.size / roll.size.sum()))[roll.label])


def filled_sentence(game: Payoffs) -> str:
    """Say how many payoffs a model supplied, or nothing."""
    n = len(game.agents)
    if not game.filled:
        return ""
    pairs = n * (n - 1) // 2
    return (
        f"{count(game.filled)} of {count(pairs)} pairs never met: their payoffs are what Elo predicts "
        f"from the others, smoothed as those are, not what anybody measured."
    )
