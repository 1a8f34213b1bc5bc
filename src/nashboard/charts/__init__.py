"""Charts of every result: each function returns an Altair chart, and `save` writes it to a file.

Examples
--------
>>> import nashboard as nb
>>> found = nb.nash_average(nb.load_dataset("rock-paper-scissors"))
>>> chart = nb.charts.weights(found)
>>> chart.to_dict()["title"]["text"]
'Who counts: 3 of 3 agents have weight'
"""

from nashboard.charts.averages import averages, contributions, weights
from nashboard.charts.boards import calibration, history, leaderboard, rating_history, ratings, tasks
from nashboard.charts.cycle_graph import cycles
from nashboard.charts.export import save
from nashboard.charts.heat_maps import payoff_map, redundancy, score_map, superiority
from nashboard.charts.planes import latent, plane
from nashboard.charts.rank_lines import method_ranks, rank_changes, stress
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
