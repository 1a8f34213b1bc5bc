"""Make the gallery: every chart is drawn by the code that the page shows, and kept as a picture beside it.

Run ``python docs/make_gallery.py`` after a chart has changed, look at the pictures, and commit them with the page.
"""

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import nashboard as nb

DOCS = Path(__file__).parent
PICTURES = DOCS / "gallery"
OPENING = """\
# Gallery

Every chart of `nb.charts`, drawn by the code beside it. Each function returns an Altair chart;
`nb.charts.save(chart, "chart.png")` writes png, svg, pdf, html or json, with `theme="light"` or `theme="dark"`. Point
at a mark in a notebook or a browser to see its numbers and its whole name. This page and its pictures are written by
`docs/make_gallery.py`.
"""


def leaderboard() -> Any:
    """Leaderboard: distance to the best with interval, P(top), and the plain mean."""
    result = nb.evaluate(nb.load_dataset("atari"))
    return nb.charts.leaderboard(result)


def leaderboard_of_matches() -> Any:
    """The same for matches, with Elo beside it; those that are not drawn are folded into one row."""
    result = nb.evaluate(nb.load_dataset("alphago"))
    return nb.charts.leaderboard(result, top=5)


def rank_changes() -> Any:
    """Rank changes: from the uniform average (or the rating) to the Nash average."""
    result = nb.evaluate(nb.load_dataset("atari"), n_resamples=20)
    return nb.charts.rank_changes(result)


def tasks() -> Any:
    """Tasks, the hardest first."""
    result = nb.evaluate(nb.load_dataset("atari"))
    return nb.charts.tasks(result, top=15)


def weights() -> Any:
    """Nash weights of tasks: what counts."""
    result = nb.nash_average_scores(nb.load_dataset("atari"))
    return nb.charts.weights(result, of="tasks")


def averages() -> Any:
    """Skill under uniform and Nash averaging, sorted by Nash: the paper's figure."""
    result = nb.evaluate(nb.load_dataset("atari"), n_resamples=20)
    return nb.charts.averages(result)


def difficulties() -> Any:
    """Difficulty of tasks under both."""
    result = nb.evaluate(nb.load_dataset("atari"), n_resamples=20)
    return nb.charts.averages(result, of="tasks", top=20)


def payoff_map() -> Any:
    """Payoffs, sorted by Nash average."""
    return nb.charts.payoff_map(nb.load_dataset("alphago"))


def cyclic_map() -> Any:
    """The cyclic part alone: what ratings cannot explain."""
    return nb.charts.payoff_map(nb.load_dataset("roshambo"), part="cyclic", order="rating")


def score_map() -> Any:
    """Scores of agents on tasks."""
    return nb.charts.score_map(nb.load_dataset("atari"))


def plane() -> Any:
    """A Schur plane: choose two agents, and see the area that is their payoff."""
    found = nb.schur(nb.load_dataset("roshambo"))
    return nb.charts.plane(found, plane=1)


def circle() -> Any:
    """The circle of the paper's appendix F: a pure cycle."""
    cycle = nb.Payoffs.from_array([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]], agents=list("ABCD"))
    return nb.charts.plane(nb.schur(cycle), pair=("A", "B"))


def line() -> Any:
    """The line of appendix F: ratings alone put all agents on a line."""
    ladder = nb.Payoffs.from_array(nb.grad([1.5, 0.5, -0.5, -1.5]), agents=list("ABCD"))
    return nb.charts.plane(nb.schur(ladder), pair=("A", "D"))


def latent() -> Any:
    """Latent skills and tasks, with the names at the ends."""
    return nb.charts.latent(nb.latent(nb.load_dataset("atari")))


def cycles() -> Any:
    """Who beats whom: the strongest cycles."""
    return nb.charts.cycles(nb.hodge(nb.load_dataset("roshambo")))


def contributions() -> Any:
    """What an agent's Nash average is made of, by opponent; whiskers where the noise is known."""
    wins = [
        [0, 22, 70, 68, 30, 88], [78, 0, 25, 35, 72, 90], [30, 75, 0, 71, 28, 93],
        [32, 65, 29, 0, 74, 85], [70, 28, 72, 26, 0, 91], [12, 10, 7, 15, 9, 0],
    ]  # fmt: skip
    names = ["rock", "paper", "scissors", "lizard", "spock", "beginner"]
    result = nb.evaluate(nb.Matches.from_counts(wins, agents=names))
    return nb.charts.contributions(result, "beginner", top=3)


def contributions_by_task() -> Any:
    """The same by task."""
    result = nb.evaluate(nb.load_dataset("atari"), n_resamples=20)
    return nb.charts.contributions(result, "distributional_dqn")


def stress() -> Any:
    """Stress test: enter copies of one agent, and see who moves."""
    found = nb.stress(nb.load_dataset("rock-paper-scissors"), of=["C"], noise="none", draws=0, targets=[])
    return nb.charts.stress(found)


def stress_of_tasks() -> Any:
    """The same for copies of a task."""
    found = nb.stress(nb.load_dataset("atari"), draws=0, targets=[])
    return nb.charts.stress(found)


def redundancy() -> Any:
    """Redundancy map: tasks clustered, near-clones framed."""
    return nb.charts.redundancy(nb.audit(nb.load_dataset("atari")), of="tasks")


def calibration() -> Any:
    """Calibration on games held out, with log-loss; AlphaGo's win rates, as if each pair had played 100 games."""
    published = nb.load_dataset("alphago")
    matches = nb.Matches.from_win_rates(published.win_rates(), published.agents, games=100)
    return nb.charts.calibration(matches)


def ratings() -> Any:
    """Elo ratings with their intervals."""
    return nb.charts.ratings(nb.elo(nb.load_dataset("alphago")))


def rating_history() -> Any:
    """Ratings of an online league after each game, with their intervals; games drawn from AlphaGo's win rates."""
    published = nb.load_dataset("alphago")
    P, rng = published.win_rates(), np.random.default_rng(0)
    league = nb.OnlineElo(history=True)
    for _ in range(400):
        i, j = rng.choice(len(P), 2, replace=False)
        league.update(published.agents[i], published.agents[j], float(rng.random() < P[i, j]))
    return nb.charts.rating_history(league.history())


def method_ranks() -> Any:
    """Places by every method that takes scores, from the board on the left."""
    result = nb.evaluate(nb.load_dataset("atari"), noise="none")
    chosen = ["nash", "elo", "uniform", "mean", "iqm", "borda", "copeland", "schulze", "pagerank"]
    return nb.charts.method_ranks(result.second_opinions(chosen, quick=True))


def superiority() -> Any:
    """The probability that one agent is above another, for all pairs of the first 12."""
    result = nb.evaluate(nb.load_dataset("atari"), n_resamples=100)
    return nb.charts.superiority(nb.superiority(result), top=12)


def history() -> Any:
    """Gaps of the best agents in two evaluations, with intervals."""
    data = nb.load_dataset("atari")
    half = data.select(tasks=data.tasks[::2])
    return nb.charts.history(nb.history([nb.evaluate(half), nb.evaluate(data)], ["27 games", "54 games"]), top=5)


CHARTS: tuple[Callable[[], Any], ...] = (
    leaderboard, leaderboard_of_matches, rank_changes, tasks, weights, averages, difficulties, payoff_map, cyclic_map,
    score_map, plane, circle, line, latent, cycles, contributions, contributions_by_task, stress, stress_of_tasks,
    redundancy, calibration, ratings, rating_history, method_ranks, superiority, history,
)  # fmt: skip


def code_of(draw: Callable[[], Any]) -> str:
    """Return the body of a function as it is written, without its docstring and the comments for formatters."""
    body = textwrap.dedent("".join(inspect.getsourcelines(draw)[0][2:])).replace("  # fmt: skip", "")
    return body.replace("return ", "chart = ")


def page() -> str:
    """Return the page."""
    parts = [OPENING]
    for draw in CHARTS:
        said = inspect.getdoc(draw) or ""
        name = draw.__name__
        code = textwrap.indent(code_of(draw), "    ")
        parts.append(f"## {name.replace('_', ' ').capitalize()}\n\n{said}\n\n{code}\n![{said}](gallery/{name}.png)\n")
    return "\n".join(parts)


def main() -> None:
    """Write the page and the pictures; some of them dark."""
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    for draw in CHARTS:
        chart = draw()
        nb.charts.save(chart, PICTURES / f"{draw.__name__}.png", scale=1)
        if draw.__name__ in ("leaderboard", "payoff_map", "stress", "latent", "redundancy"):
            nb.charts.save(chart, PICTURES / f"{draw.__name__}_dark.png", theme="dark", scale=1)
    (DOCS / "gallery.md").write_text(page())


if __name__ == "__main__":
    main()
