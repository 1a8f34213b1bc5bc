"""Results in a notebook: a table, and a picture below it that needs no script."""

from collections.abc import Callable
from typing import Any

import pytest

import nashboard as nb

RPS = "rock-paper-scissors"
RESULTS: dict[str, Callable[[], Any]] = {
    "evaluation": lambda: nb.evaluate(nb.load_dataset(RPS), n_resamples=5),
    "nash average": lambda: nb.nash_average(nb.load_dataset(RPS)),
    "score nash average": lambda: nb.nash_average_scores(nb.load_dataset("atari")),
    "schur": lambda: nb.schur(nb.load_dataset("roshambo")),
    "latent": lambda: nb.latent(nb.load_dataset("atari")),
    "hodge": lambda: nb.hodge(nb.load_dataset(RPS)),
    "stress": lambda: nb.stress(nb.load_dataset(RPS), draws=0, targets=[], copies=[1]),
    "audit": lambda: nb.audit(nb.load_dataset("alphago")),
    "elo": lambda: nb.elo(nb.load_dataset("alphago")),
    "melo": lambda: nb.melo(nb.load_dataset(RPS)),
}


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
    result = nb.evaluate(nb.load_dataset("alphago"), n_resamples=5)
    assert "and 6 more" in str(result.chart(top=2).to_dict())
