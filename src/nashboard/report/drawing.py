"""Which charts stand in which section; what cannot be drawn comes with the reason."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nashboard import charts
from nashboard.data.matches import Matches
from nashboard.errors import NashboardError
from nashboard.report.findings import FULL, Findings, Saying, size
from nashboard.report.picture import Picture, picture

TOP = 30  # rows of a forest plot, lines of a slope chart
CELLS = 40  # rows of a map: with more of them the file grows and the names cannot be read
EXPLAINED = 3  # agents whose average is broken down


@dataclass(kw_only=True)
class Drawings:
    """The pictures by the section they stand in, and why some are missing; it grows while charts are drawn."""

    pictures: dict[str, list[Picture]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)

    def draw(self, section: str, key: str, chart: Callable[..., Any], *data: Any, **options: Any) -> None:
        """Draw a chart for a section, or keep why that cannot be done."""
        try:
            self.pictures.setdefault(section, []).append(picture(chart(*data, **options), key))
        except NashboardError as error:
            self.missing.setdefault(section, []).append(f"One picture is not here: {error}.")

    def of(self, section: str) -> tuple[Picture, ...]:
        """Return the pictures of a section."""
        return tuple(self.pictures.get(section, ()))


def drawings(found: Findings, say: Saying) -> Drawings:
    """Draw everything that there is to draw."""
    say("Drawing ...")
    drawn = Drawings()
    evaluation = found.evaluation
    several = len(evaluation.agents) > 1
    drawn.draw("board", "chart-board", charts.leaderboard, evaluation, top=TOP)
    if several:
        drawn.draw("board", "chart-places", charts.rank_changes, evaluation, top=TOP)
    if evaluation.data is not None:
        for k, agent in enumerate(explained(found)):
            drawn.draw("made-of", f"chart-made-of-{k + 1}", charts.contributions, evaluation, agent)
    if evaluation.task_board is not None:
        drawn.draw("tasks", "chart-tasks", charts.tasks, evaluation, top=TOP)
    draw_structure(found, drawn)
    if found.stress is not None:
        drawn.draw("stress", "chart-stress", charts.stress, found.stress)
    if isinstance(evaluation.data, Matches) and several and size(evaluation) <= FULL:
        drawn.draw("method", "chart-calibration", charts.calibration, evaluation.data)
    return drawn


def draw_structure(found: Findings, drawn: Drawings) -> None:
    """Draw what is alike, what tasks test, and who goes round."""
    if found.latent is not None:
        drawn.draw("skills", "chart-skills", charts.latent, found.latent)
    if found.audit is not None:
        for one in found.audit.redundancy:
            if len(one.names) > 1:
                key = f"alike-{one.kind}"
                drawn.draw(f"redundancy-{one.kind}", f"chart-{key}", charts.redundancy, one, top=CELLS)
    if found.hodge is not None and found.hodge.cycles(1):
        drawn.draw("cycles", "chart-cycles", charts.cycles, (found.audit and found.audit.transitivity) or found.hodge)
    if found.schur is not None:
        drawn.draw("cycles", "chart-plane", charts.plane, found.schur)
    if found.payoffs is not None:
        board = found.evaluation.board
        drawn.draw("cycles", "chart-payoffs", charts.payoff_map, found.payoffs, order=board, top=CELLS)
        drawn.draw("cycles", "chart-cyclic", charts.payoff_map, found.payoffs, order=board, part="cyclic", top=CELLS)


def explained(found: Findings) -> tuple[str, ...]:
    """Return the agents whose place most needs an explanation: those that move most, or else the first."""
    evaluation = found.evaluation
    moved = tuple(dict.fromkeys(mover.name for mover in evaluation.movers))
    return (moved or evaluation.support)[:EXPLAINED]
