"""The public names. This file is read twice: by type checkers, and at run time to import names lazily."""

from .algebra.antisymmetrise import flow_of_scores as flow_of_scores
from .algebra.antisymmetrise import game_of_scores as game_of_scores
from .algebra.cycles import Cycle as Cycle
from .algebra.hodge import Hodge as Hodge
from .algebra.hodge import hodge as hodge
from .algebra.latent import Latent as Latent
from .algebra.latent import latent as latent
from .algebra.operators import curl as curl
from .algebra.operators import div as div
from .algebra.operators import grad as grad
from .algebra.operators import rot as rot
from .algebra.schur import Schur as Schur
from .algebra.schur import schur as schur
from .data.datasets import load_dataset as load_dataset
from .data.matches import Matches as Matches
from .data.payoffs import Payoffs as Payoffs
from .data.payoffs import payoffs as payoffs
from .data.read import read as read
from .data.read import read_matches as read_matches
from .data.read import read_payoffs as read_payoffs
from .data.read import read_scores as read_scores
from .data.scores import Scores as Scores
from .equilibrium.nash import NashAverage as NashAverage
from .equilibrium.nash import nash_average as nash_average
from .equilibrium.nash_scores import nash_average_scores as nash_average_scores
from .equilibrium.score_nash_average import ScoreNashAverage as ScoreNashAverage
from .errors import ConvergenceError as ConvergenceError
from .errors import InputError as InputError
from .errors import MissingExtraError as MissingExtraError
from .errors import NashboardError as NashboardError
from .evaluation.attack import Attack as Attack
from .evaluation.attack import attack as attack
from .evaluation.audit import Audit as Audit
from .evaluation.audit import audit as audit
from .evaluation.evaluate import evaluate as evaluate
from .evaluation.evaluation import Evaluation as Evaluation
from .evaluation.stress import Stress as Stress
from .evaluation.stress import stress as stress
from .ratings.elo import elo as elo
from .ratings.elo_ratings import EloRatings as EloRatings
from .ratings.melo import melo as melo
from .ratings.melo_ratings import MeloRatings as MeloRatings
from .ratings.online import OnlineElo as OnlineElo
from .ratings.online import OnlineMelo as OnlineMelo

__version__: str
