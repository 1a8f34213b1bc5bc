"""Results in a notebook: a table, and a picture below it that needs no script."""

from collections.abc import Callable
from typing import Any

import pytest

import nashboard as nb

RPS = "rock-paper-scissors"


def load(name: str) -> Any:
    return nb.load_dataset(name)


RESULTS: dict[str, Callable[[], Any]] = {
    "evaluation": lambda: nb.evaluate(load(RPS), n_resamples=5),
    "nash average": lambda: nb.nash_average(load(RPS)),
    "score nash average": lambda: nb.nash_average_scores(load("atari")),
    "schur": lambda: nb.schur(load("roshambo")),
    "latent": lambda: nb.latent(load("atari")),
    "hodge": lambda: nb.hodge(load(RPS)),
    "stress": lambda: nb.stress(load(RPS), draws=0, targets=[], copies=[1]),
    "audit": lambda: nb.audit(load("alphago")),
    "elo": lambda: nb.elo(load("alphago")),
    "melo": lambda: nb.melo(load(RPS)),
}


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_its_table_and_its_chart(name: str) -> None:
    result = RESULTS[name]()
    shown = result._repr_mimebundle_()
    assert shown["text/plain"] == str(result)
    assert shown["text/html"].startswith(result._repr_html_())
    assert "<svg" in shown["text/html"]
    assert "<script" not in shown["text/html"]
    assert result.chart().to_dict()["title"]


def test_a_result_that_cannot_be_drawn_shows_its_table() -> None:
    found = nb.latent([[1.0, 2.0], [3.0, 5.0]])  # one component: no two to draw
    assert found._repr_mimebundle_()["text/html"] == found._repr_html_()


def test_options_of_the_chart_are_passed_on() -> None:
    result = nb.evaluate(load("alphago"), n_resamples=5)
    assert "and 6 more" in str(result.chart(top=2).to_dict())
