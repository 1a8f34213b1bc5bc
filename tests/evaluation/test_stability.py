"""How firm the top is, and who is likeliest to belong to it of those outside."""

import numpy as np
import pytest

import nashboard as nb
from evaluation.arenas import cloned, leads, played
from nashboard.evaluation.stability import Stability


def test_the_stability_of_the_top_is_that_of_the_probabilities_on_the_board() -> None:
    found = nb.evaluate(nb.load_dataset("alphago"), n_resamples=40)
    sure, stable = found.uncertainty["again"], found.stability["again"]
    assert stable.kept == pytest.approx(sure.support[found.board.weights > 0].mean())
    assert sure.support[0] != sure.support_resampled[0]


def test_nothing_is_called_firm_after_a_single_game() -> None:
    W = np.array([[0, 1], [0, 0]])
    once, often = (nb.evaluate(nb.Matches.from_counts(k * W), n_resamples=40) for k in (1, 100))
    assert once.stability["again"].word == "too few games to say"
    assert "median pair has 1 of the 10 games" in " ".join(once.verdict)
    assert often.stability["again"].word == "firm"


def stable(rivals: dict[str, float], nearest: str = "near") -> Stability:
    return Stability(
        question="again",
        resamples=200,
        same_support=0.5,
        kept=0.5,
        competitor=nearest,
        margin=0.192,
        competitor_support=rivals.get(nearest, 0.0),
        rivals=rivals,
    )


def test_the_verdict_names_the_likeliest_outsider_and_the_nearest_beside_it() -> None:
    asked = "(what if the same were measured again?)"
    assert stable({"far": 0.25}).competition() == (
        f"Likeliest to belong to the top, of those outside, is 'far', with probability 25% {asked}; the nearest by "
        f"average, 'near' (0%), misses it by 0.192."
    )
    assert stable({"far": 0.25, "near": 0.2}).competition() == (
        f"Likeliest to belong to the top, of those outside, are 'far' and 'near', with probabilities 25% and 20% "
        f"{asked}; the nearest by average, 'near', misses it by 0.192."
    )
    for rivals, chance in (({}, "0%"), ({"near": 0.3}, "30%")):
        assert stable(rivals).competition() == (
            f"The nearest outside the top is 'near': it misses it by 0.192 and belongs there with probability {chance} "
            f"{asked}."
        )


def test_rivals_are_the_outsiders_with_the_largest_probability_of_weight() -> None:
    rng = np.random.default_rng(4)
    arena = played(rng, leads(rng, 12, spread=0.6, cyclic=0.1), 12)
    found = nb.evaluate(arena, n_resamples=60, workers=1)
    sure = found.stability["again"]
    chances = dict(zip(found.agents, found.uncertainty["again"].support, strict=True))
    outside = {name: chances[name] for name in found.agents if name not in found.board.top}
    assert sure.rivals
    assert list(sure.rivals) == sorted(sure.rivals, key=lambda name: -outside[name])
    assert max(outside.values()) == next(iter(sure.rivals.values()))
    assert all(chance == outside[name] for name, chance in sure.rivals.items())
    again = nb.evaluate(cloned(arena, arena.agents.index(next(iter(sure.rivals))), 2), n_resamples=60, workers=1)
    assert again.stability["again"].rivals == sure.rivals
    assert any(note.startswith("in support: ") for note in found.leaderboard().notes)
