"""Which chart stands for which result."""

from collections.abc import Callable
from typing import Any

from nashboard.algebra.hodge import Hodge
from nashboard.algebra.latent import Latent
from nashboard.algebra.schur import Schur
from nashboard.charts.averaging import weights
from nashboard.charts.bump import method_ranks
from nashboard.charts.clone_lines import stress
from nashboard.charts.cycle_graph import cycles
from nashboard.charts.export import WRITERS, specification
from nashboard.charts.forest import leaderboard, ratings
from nashboard.charts.latent_map import latent
from nashboard.charts.rating_history import rating_history
from nashboard.charts.redundancy_map import redundancy
from nashboard.charts.reliability import calibration
from nashboard.charts.schur_plane import plane
from nashboard.charts.theme import PAGES, Chart
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage
from nashboard.evaluation.audit.audit import Audit
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.stress.stress import Stress
from nashboard.online.held_out import Calibrations
from nashboard.online.models import RatingHistory
from nashboard.ranking.trial import Trials
from nashboard.ratings.rating import Rating

CHARTS: dict[type, Callable[..., Chart]] = {
    Evaluation: leaderboard,
    NashAverage: weights,
    ScoreNashAverage: weights,
    Schur: plane,
    Latent: latent,
    Hodge: cycles,
    Stress: stress,
    Audit: redundancy,
    Rating: ratings,
    Calibrations: calibration,
    RatingHistory: rating_history,
    Trials: method_ranks,
}


def chart_of(result: Any, **options: Any) -> Chart:
    """Return the chart of a result."""
    return next(CHARTS[kind] for kind in type(result).__mro__ if kind in CHARTS)(result, **options)


def picture_of(result: Any) -> str:
    """Return the chart of a result as inline SVG on a page of its own colour, which every notebook can show."""
    svg = WRITERS[".svg"](specification(chart_of(result)), 1).decode()
    return f'<div style="background:{PAGES["light"]};display:inline-block;padding:8px;max-width:100%">{svg}</div>'
