"""When users are told that comparisons rest on the learned prior."""

from collections.abc import Iterator

import numpy as np
import pytest

import nashboard as nb
from nashboard.ratings.schedule import relies_on_prior

AGENTS = 36


def pair_at_random(rng: np.random.Generator, strength: np.ndarray) -> Iterator[tuple[int, int]]:
    for _ in range(600):
        a, b = rng.choice(AGENTS, 2, replace=False)
        yield int(a), int(b)


def pair_neighbours(rng: np.random.Generator, strength: np.ndarray) -> Iterator[tuple[int, int]]:
    order = np.argsort(strength)
    for k in range(AGENTS):
        for step in (1, 2, 3):
            if k + step < AGENTS:
                yield from [(int(order[k]), int(order[k + step]))] * 8


def pair_by_matchmaking(rng: np.random.Generator, strength: np.ndarray) -> Iterator[tuple[int, int]]:
    for _ in range(700):
        a, *others = rng.choice(AGENTS, 9, replace=False)
        yield int(a), int(min(others, key=lambda b: abs(strength[b] - strength[a])))


def play(pairs: Iterator[tuple[int, int]], rng: np.random.Generator, strength: np.ndarray) -> nb.Matches:
    rows = [(a, b, rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))) for a, b in pairs]
    return match(rows)


def match(rows: list[tuple[int, int, bool]]) -> nb.Matches:
    return nb.Matches.from_frame(
        {
            "model_a": [f"a{a}" for a, _, _ in rows],
            "model_b": [f"a{b}" for _, b, _ in rows],
            "winner": ["model_a" if won else "model_b" for _, _, won in rows],
        }
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("pair", "told"), [(pair_at_random, False), (pair_neighbours, True), (pair_by_matchmaking, True)]
)
def test_it_is_told_where_strength_decided_who_met_whom(pair, told, seed):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(7100 + seed)
    strength = rng.normal(0, 1.1, AGENTS)
    assert relies_on_prior(play(pair(rng, strength), rng, strength)) == told


def test_swiss_tournaments_are_no_such_case() -> None:
    rng = np.random.default_rng(7200)
    strength, points, rows = rng.normal(0, 1.1, AGENTS), np.zeros(AGENTS), []
    for _ in range(16):
        order = np.lexsort((rng.random(AGENTS), -points))
        for a, b in zip(order[::2].tolist(), order[1::2].tolist(), strict=True):
            won = bool(rng.random() < 1 / (1 + np.exp(strength[b] - strength[a])))
            rows.append((a, b, won))
            points[a if won else b] += 1
    assert not relies_on_prior(match(rows))


def test_elo_and_evaluate_tell_it() -> None:
    rng = np.random.default_rng(7300)
    strength = rng.normal(0, 1.1, AGENTS)
    league = play(pair_neighbours(rng, strength), rng, strength)
    assert "rest on the learned prior" in nb.elo(league).made
    assert "rest on" not in nb.elo(league, prior=0.01).made
    assert any("rest on the prior" in warning for warning in nb.evaluate(league, n_resamples=20).warnings)
