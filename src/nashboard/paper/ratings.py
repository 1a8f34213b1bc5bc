"""Elo and mElo: section 2.1, eight Go programs (section 3.2), and the update of mElo2 (appendix E)."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.algebra.schur import schur
from nashboard.charts.planes import plane
from nashboard.data.datasets import alphago
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.online.models import OnlineElo, OnlineMelo
from nashboard.paper.algebra import ROCK_PAPER_SCISSORS, WIN_RATES_AND_COPY
from nashboard.paper.reproduction import Answer, Figure, Part, error
from nashboard.ratings.elo import EloRatings, elo
from nashboard.ratings.melo import MeloRatings, melo


def elo_part() -> Part:
    """Check the statements of section 2.1 on Elo."""
    three = Matches.from_win_rates(ROCK_PAPER_SCISSORS, ["rock", "paper", "scissors"])
    ratings = elo(three, prior=0)
    P = ratings.win_probabilities()
    populations = (three, alphago(), Matches.from_win_rates(WIN_RATES_AND_COPY))
    return Part(
        title="Section 2.1: the Elo rating system",
        words="Elo is maximum likelihood of a model with one number per agent, so it cannot see a circle.",
        answers={
            "elo.formula": Answer(formula_error(), "nb.elo of alphago: win_probabilities() by both formulas"),
            "elo.update.16": Answer(step_error(16.0), "nb.OnlineElo(rate=16), one game"),
            "elo.update.32": Answer(step_error(32.0), "nb.OnlineElo(rate=32), one game"),
            "elo.rps.ratings": Answer(float(np.ptp(ratings.ratings)), "nb.elo, the range of ratings"),
            "elo.rps.prediction": Answer(
                float(P.ravel()[np.abs(P - 0.5).argmax()]), "nb.elo, the prediction furthest from 1/2"
            ),
            "elo.rps.power": Answer(error(1 - ratings.predict("paper", "rock") - 0.5), "nb.elo: 1 - prediction - 1/2"),
            "elo.centred": Answer(centring_error(), "nb.elo(alphago), and with Zen held at 1800 points"),
            "elo.stationary": Answer(
                max(row_sum_error(matches) for matches in populations),
                "nb.elo of three populations, the largest difference of row sums",
            ),
            "elo.gradient": Answer(
                gradient_error(alphago()),
                "central differences of the loss of alphago at half its ratings",
            ),
        },
    )


def formula_error() -> float:
    """Return how far our predictions are from the paper's two formulas."""
    ratings = elo(alphago(), prior=0)
    r = ratings.ratings
    powers = 10.0 ** (r / 400)
    P = ratings.win_probabilities()
    leads = (r[:, None] - r) * np.log(10) / 400
    return error(P - powers[:, None] / (powers[:, None] + powers), P - 1 / (1 + np.exp(-leads)))


def centring_error() -> float:
    """Return the sum of ratings, and how far predictions move when another origin is chosen."""
    free, anchored = elo(alphago(), prior=0), elo(alphago(), prior=0, anchor={"Zen": 1800.0})
    return error(free.ratings.sum() / POINTS_PER_LOGIT, free.win_probabilities() - anchored.win_probabilities())


def step_error(rate: float) -> float:
    """Return how far one of our steps is from ``r + eta (S - p)``."""
    league = OnlineElo(rate=rate)
    league.update("a", "b", 1.0)  # so that they are no longer even
    before, p = league.ratings().ratings, league.predict("a", "b")
    league.update("a", "b", 0.0)
    return error(league.ratings().ratings - before - rate * (0.0 - p) * np.array([1.0, -1.0]))


def complete_win_rates(matches: Matches) -> Floats:
    """Return win rates with 1/2 on the diagonal."""
    P = matches.win_rates().copy()
    np.fill_diagonal(P, 0.5)
    return P


def row_sum_error(matches: Matches) -> float:
    """Return by how much the row sums of empirical and predicted probabilities differ."""
    return error((complete_win_rates(matches) - elo(matches, prior=0).win_probabilities()).sum(axis=1))


def gradient_error(matches: Matches, h: float = 1e-5) -> float:
    """Return how far the gradient of agent i's loss is from the sum over j of (empirical - predicted), in logits."""
    P = complete_win_rates(matches)
    r = elo(matches, prior=0).ratings / POINTS_PER_LOGIT / 2  # away from the stationary point, where all signs agree

    def loss(ratings: Floats, i: int) -> float:
        x = ratings[i] - ratings
        return float((np.logaddexp(0, x) - P[i] * x).sum())

    gradient = np.array([(loss(r + h * e, i) - loss(r - h * e, i)) / (2 * h) for i, e in enumerate(np.eye(len(r)))])
    predicted = 1 / (1 + np.exp(-(r[:, None] - r)))
    printed = (P - predicted).sum(axis=1)
    return error(gradient - printed) if error(gradient + printed) < 1e-6 else float("nan")


NAMES = {"v": "alpha_v", "p": "alpha_p", "Zen": "Zen"}
PAIRS = (("v", "p"), ("v", "Zen"), ("p", "Zen"))


def go_part() -> Part:
    """Fit Elo and mElo2 by maximum likelihood and compare norms, losses and predictions with the paper's."""
    matches = alphago()
    P = complete_win_rates(matches)
    from_elo, from_melo = elo(matches, prior=0), melo(matches, prior=0)
    predicted = {"elo": from_elo.win_probabilities(), "melo": from_melo.win_probabilities()}
    orthogonal = melo(matches, prior=0, orthogonal=True).win_probabilities()
    c1, c2 = from_melo.cyclic.T
    default = elo(matches, prior=0.01).win_probabilities()
    found = {
        "go.agents": Answer(float(len(matches.agents)), "nb.load_dataset('alphago')"),
        "go.variants": Answer(
            float(sum(name.startswith("alpha") for name in matches.agents)), "nb.load_dataset('alphago')"
        ),
    }
    for name, Q in predicted.items():
        how = f"nb.{name}(alphago, prior=0)"
        beside = {
            "elo": f"; {norm(P, default):.4f} with a prior of 0.01 games",
            "melo": f"; {norm(P, orthogonal):.4f} with orthogonal=True",
        }
        found[f"go.{name}.norm"] = Answer(norm(P, Q), how + beside[name])
        found[f"go.{name}.loss"] = Answer(log_loss(P, Q), how)
    tables = {"elo": predicted["elo"], "empirical": P, "melo2": predicted["melo"]}
    place = {short: matches.agents.index(name) for short, name in NAMES.items()}
    for name, Q in tables.items():
        how = "extended data table 9" if name == "empirical" else f"nb.{name.rstrip('2')}(alphago, prior=0)"
        for a, b in (*PAIRS, *((b, a) for a, b in PAIRS)):
            found[f"go.{name}.{a}.{b}"] = Answer(float(Q[place[a], place[b]]), how)

    def predict_winners(Q: Floats) -> list[bool]:
        return [bool(Q[place[a], place[b]] > 0.5) for a, b in PAIRS]

    def pair_errors(Q: Floats) -> Floats:
        return np.array([abs(Q[place[a], place[b]] - P[place[a], place[b]]) for a, b in PAIRS])

    truth = predict_winners(P)
    found["go.elo.wrong"] = Answer(
        [a == b for a, b in zip(predict_winners(predicted["elo"]), truth, strict=True)] == [False, False, True],
        "nb.elo(alphago, prior=0)",
    )
    found["go.melo.right"] = Answer(predict_winners(predicted["melo"]) == truth, "nb.melo(alphago, prior=0)")
    found["go.melo.closer"] = Answer(
        bool((pair_errors(predicted["melo"]) < pair_errors(predicted["elo"])).all()), "each of the three pairs"
    )
    return Part(
        title="Section 3.2: predicting win-loss probabilities in Go",
        words="Elo sees a ladder where the value net, the policy net and Zen beat each other in a circle; one plane of "
        "mElo shows the circle.",
        answers=found,
        tables={
            "go_win_rates": probability_table("empirical win rates", matches.agents, P),
            "go_elo": probability_table("Elo: predicted win rates", matches.agents, predicted["elo"]),
            "go_melo2": probability_table("mElo2: predicted win rates", matches.agents, predicted["melo"]),
            "go_ratings": ratings_table(from_elo, from_melo),
        },
        figures={
            "go_melo_plane": Figure(
                chart=plane(schur(Payoffs(agents=from_melo.agents, A=np.outer(c1, c2) - np.outer(c2, c1)), k=1)),
                caption="The plane of mElo2: an agent beats those that are a quarter turn counterclockwise of it.",
            ),
        },
    )


def norm(P: Floats, Q: Floats) -> float:
    """Return the Frobenius norm over the whole matrix."""
    return float(np.linalg.norm(P - Q))


def log_loss(P: Floats, Q: Floats) -> float:
    """Return the sum of the logistic losses over all i and j, the diagonal included, divided by 2n."""
    return float(-(P * np.log(Q) + (1 - P) * np.log(1 - Q)).sum() / (2 * len(P)))


def probability_table(title: str, agents: tuple[str, ...], P: Floats) -> Table:
    """Return a matrix of probabilities as a table."""
    return Table(
        title=title,
        columns=(Column("row beats column"), *(Column(name, decimals=2) for name in agents)),
        rows=tuple((name, *map(float, row)) for name, row in zip(agents, P, strict=True)),
    )


def ratings_table(from_elo: EloRatings, from_melo: MeloRatings) -> Table:
    """Return the ratings of both models."""
    return Table(
        title="ratings of the Go programs",
        columns=(
            Column("agent"),
            Column("Elo", "points, mean 0", decimals=1),
            Column("mElo2", "points, mean 0", decimals=1),
            Column("c1", "first coordinate in the plane, square roots of points", decimals=2),
            Column("c2", "second coordinate in the plane, square roots of points", decimals=2),
        ),
        rows=tuple(
            (name, float(r), float(s), float(c[0]), float(c[1]))
            for name, r, s, c in zip(
                from_elo.agents, from_elo.ratings, from_melo.ratings, from_melo.cyclic, strict=True
            )
        ),
    )


def update_part() -> Part:
    """Compare our update after one game with the routine that the paper prints."""
    moved_r, moved_c, slope = update_errors()
    return Part(
        title="Appendix E: the update of mElo2",
        words="The same steps, in Elo points: a step of 16 is too large for logits.",
        answers={
            "update.r": Answer(moved_r, "nb.OnlineMelo(k=1, rate=16), one game, in points"),
            "update.c": Answer(moved_c, "nb.OnlineMelo(k=1, cyclic_rate=1), one game"),
            "update.gradient": Answer(slope, "central differences of the lead x by c"),
            "update.units": Answer(
                settling_error(1.0) < 0.1,
                f"1000 games: off by {settling_error(1.0):.2f}; in points by {settling_error(POINTS_PER_LOGIT):.2f}",
            ),
        },
    )


def lead(r: Floats, c: Floats) -> float:
    """Return the lead of the first of two agents as the paper prints it."""
    return float(r[0] - r[1] + c[0, 0] * c[1, 1] - c[1, 0] * c[0, 1])


def update_errors() -> tuple[float, float, float]:
    """Return how far our step is from the printed one, in ratings and in planes, and the printed one from the slope."""
    league = OnlineMelo(k=1, rate=16, cyclic_rate=1, rng=7)
    for outcome in (1.0, 1.0, 0.0):
        league.update("i", "j", outcome)
    # The state itself, not its canonical form: an update is written for one choice of coordinates.
    r, c = league.league.ratings.copy(), league.league.cyclic.copy()
    delta = 1.0 - 1 / (1 + np.exp(-lead(r, c) / POINTS_PER_LOGIT))
    league.update("i", "j", 1.0)
    r_update = np.array([16 * delta, -16 * delta])
    # Printed as [coordinate][player].
    c_update = np.array([[delta * c[1, 1], -delta * c[0, 1]], [-delta * c[1, 0], delta * c[0, 0]]])
    h = 1e-4
    slopes = np.zeros((2, 2))
    for player, coordinate in np.ndindex(2, 2):
        up, down = c.copy(), c.copy()
        up[player, coordinate] += h
        down[player, coordinate] -= h
        slopes[coordinate, player] = (lead(r, up) - lead(r, down)) / (2 * h)
    return (
        error(league.league.ratings - r - r_update),
        error(league.league.cyclic - c - c_update.T),
        error(c_update - delta * slopes),
    )


def settling_error(unit: float, games: int = 1000) -> float:
    """Return the mean error of predictions in the second half of games won 3 times in 4; a logit is ``unit`` leads."""
    outcomes = np.random.default_rng(0).random(games) < 0.75
    r, errors = 0.0, []
    for won in outcomes:
        p = 1 / (1 + np.exp(-np.clip(2 * r / unit, -700, 700)))
        errors.append(abs(p - 0.75))
        r += 16 * (won - p)
    return float(np.mean(errors[games // 2 :]))
