"""Charts of every result: each function returns an Altair chart, and `save` writes it to a file.

Examples
--------
>>> import nashboard as nb
>>> found = nb.nash_average(nb.load_dataset("rock-paper-scissors"))
>>> chart = nb.charts.weights(found)
>>> chart.to_dict()["title"]["text"]
'Who counts: 3 of 3 agents have weight'
"""

from nashboard.charts.averaging import averages, weights
from nashboard.charts.bump import method_ranks
from nashboard.charts.clone_lines import stress
from nashboard.charts.contribution_bars import contributions
from nashboard.charts.cycle_graph import cycles
from nashboard.charts.decisions import history, superiority
from nashboard.charts.export import save
from nashboard.charts.forest import leaderboard, ratings, tasks
from nashboard.charts.heat_maps import payoff_map, score_map
from nashboard.charts.latent_map import latent
from nashboard.charts.rating_history import rating_history
from nashboard.charts.redundancy_map import redundancy
from nashboard.charts.reliability import calibration
from nashboard.charts.schur_plane import plane
from nashboard.charts.slopes import rank_changes
from nashboard.charts.theme import themed

__all__ = [
    "averages",
    "calibration",
    "contributions",
    "cycles",
    "history",
    "latent",
    "leaderboard",
    "method_ranks",
    "payoff_map",
    "plane",
    "rank_changes",
    "rating_history",
    "ratings",
    "redundancy",
    "save",
    "score_map",
    "stress",
    "superiority",
    "tasks",
    "themed",
    "weights",
]
