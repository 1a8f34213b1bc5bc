"""Section 3.2: Elo and mElo2 on eight Go programs."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard.data.datasets import alphago
from nashboard.paper.claim import Found
from nashboard.paper.elo import complete
from nashboard.paper.figures import go_predictions, melo_plane
from nashboard.paper.part import Figure, Part
from nashboard.ratings.elo import EloRatings, elo
from nashboard.ratings.melo import MeloRatings, melo

NAMES = {"v": "alpha_v", "p": "alpha_p", "Zen": "Zen"}
PAIRS = (("v", "p"), ("v", "Zen"), ("p", "Zen"))


def part() -> Part:
    """Fit Elo and mElo2 by maximum likelihood and set norms, losses and predictions beside the paper's."""
    matches = alphago()
    P = complete(matches)
    from_elo, from_melo = elo(matches, prior=0), melo(matches, prior=0)
    predicted = {"elo": from_elo.win_probabilities(), "melo": from_melo.win_probabilities()}
    held = melo(matches, prior=0, orthogonal=True).win_probabilities()
    default = elo(matches, prior=0.01).win_probabilities()
    found = {
        "go.agents": Found(value=float(len(matches.agents)), how="nb.load_dataset('alphago')"),
        "go.variants": Found(
            value=float(sum(name.startswith("alpha") for name in matches.agents)), how="nb.load_dataset('alphago')"
        ),
    }
    for name, Q in predicted.items():
        how = f"nb.{name}(alphago, prior=0)"
        beside = {
            "elo": f"; {norm(P, default):.4f} with a prior of 0.01 games",
            "melo": f"; {norm(P, held):.4f} with orthogonal=True",
        }
        found[f"go.{name}.norm"] = Found(value=norm(P, Q), how=how + beside[name])
        found[f"go.{name}.loss"] = Found(value=log_loss(P, Q), how=how)
    tables = {"elo": predicted["elo"], "empirical": P, "melo2": predicted["melo"]}
    place = {short: matches.agents.index(name) for short, name in NAMES.items()}
    for name, Q in tables.items():
        how = "extended data table 9" if name == "empirical" else f"nb.{name.rstrip('2')}(alphago, prior=0)"
        for a, b in (*PAIRS, *((b, a) for a, b in PAIRS)):
            found[f"go.{name}.{a}.{b}"] = Found(value=float(Q[place[a], place[b]]), how=how)

    def likely(Q: Floats) -> list[bool]:
        return [bool(Q[place[a], place[b]] > 0.5) for a, b in PAIRS]

    def misses(Q: Floats) -> Floats:
        return np.array([abs(Q[place[a], place[b]] - P[place[a], place[b]]) for a, b in PAIRS])

    truth = likely(P)
    found["go.elo.wrong"] = Found(
        value=[a == b for a, b in zip(likely(predicted["elo"]), truth, strict=True)] == [False, False, True],
        how="nb.elo(alphago, prior=0)",
    )
    found["go.melo.right"] = Found(value=likely(predicted["melo"]) == truth, how="nb.melo(alphago, prior=0)")
    found["go.melo.closer"] = Found(
        value=bool((misses(predicted["melo"]) < misses(predicted["elo"])).all()), how="each of the three pairs"
    )
    return Part(
        title="Section 3.2: predicting win-loss probabilities in Go",
        words="Elo sees a ladder where the value net, the policy net and Zen beat each other in a circle; one plane of "
        "mElo shows the circle.",
        found=found,
        tables={
            "go_win_rates": probabilities("empirical win rates", matches.agents, P),
            "go_elo": probabilities("Elo: predicted win rates", matches.agents, predicted["elo"]),
            "go_melo2": probabilities("mElo2: predicted win rates", matches.agents, predicted["melo"]),
            "go_ratings": ratings_table(from_elo, from_melo),
        },
        figures={
            "go_predictions": Figure(
                chart=go_predictions(
                    matches.agents, {"empirical": P, "Elo": predicted["elo"], "mElo2": predicted["melo"]}
                ),
                caption="Win rates among eight Go programs, and what Elo and mElo2 predict (row beats column).",
            ),
            "go_melo_plane": Figure(
                chart=melo_plane(from_melo),
                caption="The plane of mElo2: who stands a quarter turn counterclockwise of another is beaten by it.",
            ),
        },
    )


def norm(P: Floats, Q: Floats) -> float:
    """Return the Frobenius norm over the whole matrix."""
    return float(np.linalg.norm(P - Q))


def log_loss(P: Floats, Q: Floats) -> float:
    """Return the sum of the logistic losses over all i and j, the diagonal included, divided by 2n."""
    return float(-(P * np.log(Q) + (1 - P) * np.log(1 - Q)).sum() / (2 * len(P)))


def probabilities(title: str, agents: tuple[str, ...], P: Floats) -> Table:
    """Return a matrix of probabilities as a table."""
    return Table(
        title=title,
        columns=(Column(name="row beats column"), *(Column(name=name, decimals=2) for name in agents)),
        rows=tuple((name, *map(float, row)) for name, row in zip(agents, P, strict=True)),
    )


def ratings_table(from_elo: EloRatings, from_melo: MeloRatings) -> Table:
    """Return the ratings of both models."""
    return Table(
        title="ratings of the Go programs",
        columns=(
            Column(name="agent"),
            Column(name="Elo", meaning="points, mean 0", decimals=1),
            Column(name="mElo2", meaning="points, mean 0", decimals=1),
            Column(name="c1", meaning="first coordinate in the plane, square roots of points", decimals=2),
            Column(name="c2", meaning="second coordinate in the plane, square roots of points", decimals=2),
        ),
        rows=tuple(
            (name, float(r), float(s), float(c[0]), float(c[1]))
            for name, r, s, c in zip(
                from_elo.agents, from_elo.ratings, from_melo.ratings, from_melo.cyclic, strict=True
            )
        ),
    )
