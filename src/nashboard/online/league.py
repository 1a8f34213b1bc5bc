"""A league in memory: what is known of every agent, growing as agents join; the online models share it.

A league learns in one of two ways. With a ``rate`` it takes steps of that length (appendix E of the paper). Without one
it filters: each agent has a normal distribution, and a game moves both agents by as much as they are uncertain, as in
Glicko (Glickman 1999). How uncertain newcomers are, and how fast agents change, differs between leagues; so several
filters run side by side, and predictions are their mean, weighted by how well each has predicted so far.

Symbols: with a rate, ``Z`` (places, 1 + 2k) ratings and planes in Elo points and their square roots. Filters have
``means`` (places, filters, 1 + 2k) and ``spreads`` (places, filters, 1 + 2k, 1 + 2k) in logits.

On disk it is a zip of npy arrays and one json text, readable by ``numpy.load``; no pickle anywhere.
Members, all little-endian and uncompressed:

    league.json   format "nashboard league", version 1 (steps of a rate) or 2 (filters), k, rate (null for filters),
                  cyclic_rate, decay, games, loss, rng (the state of numpy's generator), logs (how far which logs were
                  read), agents (names in order); for filters also filters, weights, and shared and expected, the sums
                  of y (1 - y) and p (1 - p) over the games
    ratings.npy   (n,) float64, Elo points, not centred
    cyclic.npy    (n, 2k) float64, square roots of Elo points
    played.npy    (n,) float64, games (or their total weight) of each agent
    means.npy     (n, filters, 1 + 2k) float64, logits; for filters
    spreads.npy   (n, filters, 1 + 2k, 1 + 2k) float64, logits; for filters

A file is written beside its target and then moved into place. The same league gives the same bytes.
"""

import io
import json
import zipfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nashboard._files import write_atomically
from nashboard._types import Floats
from nashboard._units import CYCLIC_PER_LOGIT, POINTS_PER_LOGIT, win_probability
from nashboard.data.counting.outcomes import Rules
from nashboard.data.validation import checked_names
from nashboard.errors import InputError
from nashboard.online import kernels
from nashboard.online.games import Columns, Excerpt, read_games
from nashboard.ratings.kernels import lead

FIRST_PLACES = 64
ALONE = np.ones(1)
NOTHING = np.zeros(0)
# Filters: standard deviations in logits of a newcomer's rating and planes, and the variance that a game adds. They
# are not tuned: the loss of a mixture exceeds that of its best filter by at most log(filters) over all games, so they
# only have to cover what leagues do: newcomers spread by 70 or 170 points, agents that stay, drift (a newcomer's spread
# over 3,000 or 500 games) or change quickly (over 70). Too few drifts make intervals too narrow between them.
ELO_FILTERS = tuple((spread, 0.0, drift) for spread in (1.0, 0.4) for drift in (0.0, 3e-4, 2e-3, 1.5e-2))
MELO_FILTERS = (*ELO_FILTERS, (1.0, 0.6, 0.0), (1.0, 0.6, 1e-3), (1.0, 0.6, 1e-2), (0.4, 0.3, 0.0))


class League:
    """Agents, what is known of them, and how they learn; mutable."""

    def __init__(
        self,
        *,
        k: int,
        rate: float | None,
        cyclic_rate: float,
        decay: float | None,
        rng: int | np.random.Generator,
        history: bool = False,
    ) -> None:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
            raise InputError(f"k is {k!r}: the number of planes must be a whole number, 0 or more")
        for name, value in (("rate", rate), ("cyclic_rate", cyclic_rate)):
            if value is not None and not (np.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value!r}: it must be a finite number of at least 0")
        if decay is not None and not (np.isfinite(decay) and decay > 0):
            raise InputError(f"decay is {decay!r}: it must be a number of games above 0, or None for a constant rate")
        self.k, self.rate, self.cyclic_rate = int(k), None if rate is None else float(rate), float(cyclic_rate)
        self.decay = None if decay is None else float(decay)
        generator = np.random.default_rng(rng)
        plain = isinstance(generator.bit_generator, np.random.PCG64)  # whose state is a few whole numbers
        self.rng = generator if plain else np.random.default_rng(generator.integers(2**63))
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.played = np.zeros(FIRST_PLACES)
        self.sums = np.zeros(4)  # of the losses before each game, the games' weights, and what tells their dispersion
        self.width = 1 + 2 * self.k
        self.Z = np.zeros((FIRST_PLACES, self.width))
        filters = () if self.rate is not None else MELO_FILTERS if self.k else ELO_FILTERS
        self.filters = np.array(filters, dtype=np.float64).reshape(-1, 3)
        count = len(self.filters)
        self.means = np.zeros((FIRST_PLACES, count, self.width))
        self.spreads = np.zeros((FIRST_PLACES, count, self.width, self.width))
        self.weights = np.full(count, 1 / count) if count else np.zeros(0)
        self.traces: list[tuple[Any, ...]] | None = [] if history else None

    @property
    def adaptive(self) -> bool:
        """Whether the league filters; otherwise it takes steps at a given rate."""
        return self.rate is None

    @property
    def size(self) -> int:
        """How many agents have joined."""
        return len(self.names)

    @property
    def games(self) -> float:
        """How many games were played, or their total weight."""
        return float(self.sums[1])

    @property
    def best_filter(self) -> int:
        """The filter that has predicted best so far."""
        return int(np.argmax(self.weights))

    @property
    def ratings(self) -> Floats:
        """Ratings of the agents in points, ``(n,)``; with planes, of the best filter, whose planes belong to them."""
        if not self.adaptive:
            return self.Z[: self.size, 0]
        means = self.means[: self.size, :, 0]
        return np.asarray((means[:, self.best_filter] if self.k else means @ self.weights) * POINTS_PER_LOGIT)

    @property
    def stderr(self) -> Floats:
        """Standard deviations of the ratings in points, ``(n,)``; NaN where steps have a given rate."""
        if not self.adaptive:
            return np.full(self.size, np.nan)
        means, variances = self.means[: self.size, :, 0], self.spreads[: self.size, :, 0, 0]
        if self.k:
            return np.asarray(np.sqrt(variances[:, self.best_filter]) * POINTS_PER_LOGIT)
        square = (variances + means**2) @ self.weights - (means @ self.weights) ** 2
        return np.asarray(np.sqrt(np.maximum(square, 0.0)) * POINTS_PER_LOGIT)

    @property
    def cyclic(self) -> Floats:
        """Planes of the agents, ``(n, 2k)``, in square roots of points."""
        if not self.adaptive:
            return self.Z[: self.size, 1:]
        return np.asarray(self.means[: self.size, self.best_filter, 1:] * CYCLIC_PER_LOGIT)

    def join(self, names: tuple[str, ...]) -> None:
        """Let agents join, with rating 0 and random planes: at the origin, planes would never move."""
        start, self.names = self.size, self.names + list(names)
        self.index.update(zip(names, range(start, self.size), strict=True))
        if self.size > len(self.played):
            places = max(self.size, 2 * len(self.played))
            for field in ("Z", "played", "means", "spreads"):
                old = getattr(self, field)
                new = np.zeros((places, *old.shape[1:]))
                new[:start] = old[:start]
                setattr(self, field, new)
        normal = self.rng.standard_normal((len(names), 2 * self.k))
        if not self.adaptive:
            self.Z[start : self.size, 1:] = normal
            return
        here = slice(start, self.size)
        self.means[here, :, 1:] = normal[:, None, :] * self.filters[None, :, 1:2]
        self.spreads[here] = self.newcomer()

    def update(self, a: str, b: str, outcome: float, weight: float = 1.0) -> None:
        """Learn from one game."""
        a, b = named(a), named(b)
        if a == b:
            raise InputError(f"{a!r} cannot meet itself: a game needs two agents")
        if not 0 <= outcome <= 1:
            raise InputError(f"the outcome is {outcome!r}: it is a number in [0, 1]: 1 a win, 0.5 a draw, 0 a loss")
        new = tuple(name for name in (a, b) if name not in self.index)
        if new:
            self.join(new)
        pair = np.array([[self.index[a]], [self.index[b]]], dtype=np.uint32)
        self.play(pair[0], pair[1], np.array([float(outcome)]), ALONE * weight)

    def update_many(self, data: Any, columns: Columns, rules: Rules | None, excerpt: Excerpt | None = None) -> int:
        """Learn from games in their order, all or none of them; return how many. Errors name the excerpt."""
        games = read_games(data, columns, rules, self.names, excerpt)
        if games.joined:
            self.join(games.joined)
        self.play(games.first, games.second, games.outcome, games.weight)
        return games.outcome.size

    def play(
        self, first: kernels.Codes, second: kernels.Codes, outcome: Floats, weight: Floats, out: Floats | None = None
    ) -> None:
        """Run the compiled loop; filters put their predictions before each game into ``out``."""
        if self.traces is not None and not self.adaptive:
            for game in range(first.size):  # rates are for the paper's updates: history matters more than speed
                one = slice(game, game + 1)
                self.take_steps(first[one], second[one], outcome[one], np.ascontiguousarray(weight[one]))
                rows = self.Z[[first[game], second[game]], 0]
                self.traces.append((first[one], second[one], np.array([[rows[0], np.nan, rows[1], np.nan]])))
            return
        if not self.adaptive:
            self.take_steps(first, second, outcome, weight)
            return
        trace = NOTHING if self.traces is None else np.empty(4 * first.size)
        self.run_filters(
            self.means, self.spreads, self.weights, self.played, self.sums, first, second, outcome, weight, trace,
            NOTHING if out is None else out,
        )  # fmt: skip
        if self.traces is not None:
            found = trace.reshape(-1, 4)
            found[:, [0, 2]] *= POINTS_PER_LOGIT
            found[:, [1, 3]] = np.sqrt(np.maximum(found[:, [1, 3]], 0.0)) * POINTS_PER_LOGIT
            self.traces.append((first, second, found))

    def run_filters(self, *parts: Any) -> None:
        """Run the compiled loop of the filters; ``parts`` as it takes them, without drift and spread."""
        kernels.filtered(*parts[:9], self.filters[:, 2].copy(), (self.filters[:, :2] ** 2).ravel(), *parts[9:])

    def take_steps(self, first: kernels.Codes, second: kernels.Codes, outcome: Floats, weight: Floats) -> None:
        """Run the compiled loop of steps at a given rate."""
        slowing = 0.0 if self.decay is None else 1 / self.decay
        assert self.rate is not None
        kernels.play(
            self.Z, self.played, self.sums, first, second, outcome, weight,
            self.rate, self.cyclic_rate, slowing, 1 / POINTS_PER_LOGIT,
        )  # fmt: skip

    def lead(self, a: str, b: str) -> float:
        """Return how many points ``a`` is ahead of ``b``; an agent that has not played stands at 0."""
        i, j = (self.index.get(named(name), -1) for name in (a, b))
        if self.adaptive:
            Z, _ = self.copy_of(i, j)
            leads = [lead(np.ascontiguousarray(Z[:, m]), 0, 1) for m in range(len(self.filters))]
            return float(np.array(leads) @ self.weights) * POINTS_PER_LOGIT
        if i >= 0 and j >= 0:
            return float(lead(self.Z, i, j))
        return float((self.Z[i, 0] if i >= 0 else 0.0) - (self.Z[j, 0] if j >= 0 else 0.0))

    def predict(self, a: str, b: str) -> float:
        """Return the probability that ``a`` beats ``b``; filters average over what they do not know."""
        if not self.adaptive:
            return win_probability(self.lead(a, b))
        pair = self.copy_of(*(self.index.get(named(name), -1) for name in (a, b)))
        out, sides = np.empty(1), np.arange(2, dtype=np.uint32)
        game = sides[:1], sides[1:], np.full(1, 0.5), np.zeros(1)  # a game without weight
        self.run_filters(*pair, self.weights.copy(), np.zeros(2), np.zeros(4), *game, NOTHING, out)
        return float(out[0])

    def copy_of(self, i: int, j: int) -> tuple[Floats, Floats]:
        """Return means and covariances of two agents; -1 is an agent that has not played."""
        Z, P = np.zeros((2, len(self.filters), self.width)), np.ascontiguousarray([self.newcomer()] * 2)
        for side, k in enumerate((i, j)):
            if k >= 0:
                Z[side], P[side] = self.means[k], self.spreads[k]
        return Z, P

    def newcomer(self) -> Floats:
        """Return the covariance of a newcomer by each filter."""
        variances = self.filters[:, [0, *([1] * (self.width - 1))]] ** 2
        return np.asarray(variances[:, None, :] * np.eye(self.width))

    def require_agents(self) -> None:
        """Raise an error where nobody has joined yet."""
        if not self.names:
            raise InputError("no game has been played yet: there are no ratings to show")


def named(name: object) -> str:
    """Return an agent's name as text; it must not be empty."""
    text = str(name)
    if not text.strip():
        raise InputError("an agent's name is empty: every agent needs one")
    return text


FORMAT, STEPS, FILTERS = "nashboard league", 1, 2
MOST_FILTERS = 64
DESCRIPTION = "league.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip can hold: the same league gives the same bytes
DAMAGED = (
    zipfile.BadZipFile,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    OverflowError,
    NotImplementedError,  # zipfile, of a compression it does not know
    RuntimeError,  # also of json that nests too deep
    zlib.error,
)


@dataclass(frozen=True, kw_only=True)
class LogPosition:
    """How far a log has been read: its name, bytes (or rows, of a parquet file) and games used, and a fingerprint."""

    name: str
    position: int
    games: int
    fingerprint: str


def write_state(path: str | Path, league: League, logs: list[LogPosition]) -> None:
    """Write a league to a file."""
    description = {
        "format": FORMAT,
        "version": FILTERS if league.adaptive else STEPS,
        "k": league.k,
        "rate": league.rate,
        "cyclic_rate": league.cyclic_rate,
        "decay": league.decay,
        "games": league.games,
        "loss": float(league.sums[0]),
        "rng": league.rng.bit_generator.state,
        "logs": [asdict(log) for log in logs],
        "agents": league.names,
    }
    arrays = {"ratings": league.ratings, "cyclic": league.cyclic, "played": league.played[: league.size]}
    if league.adaptive:
        description |= {"filters": league.filters.tolist(), "weights": league.weights.tolist()}
        description |= {"shared": float(league.sums[2]), "expected": float(league.sums[3])}
        arrays |= {"means": league.means[: league.size], "spreads": league.spreads[: league.size]}

    def write(part: Path) -> None:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            text = json.dumps(description, ensure_ascii=False).encode("utf-8", "surrogatepass")
            archive.writestr(zipfile.ZipInfo(DESCRIPTION, EPOCH), text)
            for name, values in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(values, dtype="<f8"), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", EPOCH), buffer.getbuffer())

    write_atomically(path, write)


def read_state(path: str | Path) -> tuple[League, list[LogPosition]]:
    """Return the league in a file, or say what is wrong with it."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if DESCRIPTION not in archive.namelist():
                raise InputError(f"{str(path)!r} is not a saved league: it contains no {DESCRIPTION}")
            if archive.getinfo(DESCRIPTION).compress_type != zipfile.ZIP_STORED:  # what unpacks may fill the memory
                raise InputError(f"{str(path)!r} is not a saved league: {DESCRIPTION} is compressed")
            description = json.loads(archive.read(DESCRIPTION).decode("utf-8", "surrogatepass"))
            check_version(description, path)
            n, k = len(description["agents"]), int(description["k"])
            shapes: dict[str, tuple[int, ...]] = {"ratings": (n,), "cyclic": (n, 2 * k), "played": (n,)}
            if description["version"] == FILTERS:
                filters = len(description["filters"])
                if not 1 <= filters <= MOST_FILTERS or len(description["weights"]) != filters:
                    raise ValueError("a wrong number of filters")
                shapes |= {"means": (n, filters, 1 + 2 * k), "spreads": (n, filters, 1 + 2 * k, 1 + 2 * k)}
            arrays = {name: read_array(archive, name, shape, path) for name, shape in shapes.items()}
            return restored(description, arrays)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError(
            f"{str(path)!r} is not a whole state of a league: it is cut short, damaged, or something else ({error})"
        ) from None


def is_state(path: str | Path) -> bool:
    """Say whether a file is the state of a league, whole or not."""
    try:
        with zipfile.ZipFile(path) as archive:
            return DESCRIPTION in archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):  # NotImplementedError: of a newer zip
        return False


def check_version(description: Any, path: Path) -> None:
    """Refuse a description of something else, or of a later version."""
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise InputError(f"{str(path)!r} is not a saved league: its format is not {FORMAT!r}")
    if description.get("version") not in (STEPS, FILTERS):
        raise InputError(
            f"{str(path)!r} is version {description.get('version')!r} of the format, and this nashboard reads versions "
            f"{STEPS} and {FILTERS}: use the nashboard that wrote it, or a newer one"
        )


def read_array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], path: Path) -> Floats:
    """Return an array of the right shape; nothing larger is read."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type != zipfile.ZIP_STORED or member.file_size > 8 * int(np.prod(shape)) + 4096:
        raise InputError(f"{str(path)!r}: {name}.npy is not an array of shape {shape}")
    values = np.lib.format.read_array(io.BytesIO(archive.read(member)), allow_pickle=False)
    if values.shape != shape or values.dtype != np.float64 or not np.isfinite(values).all():
        raise InputError(f"{str(path)!r}: {name}.npy is not an array of finite float64 of shape {shape}")
    return values.astype(np.float64)


def restored(description: dict[str, Any], arrays: dict[str, Floats]) -> tuple[League, list[LogPosition]]:
    """Return the league that a description and its arrays tell of."""
    league = League(
        k=description["k"],
        rate=description["rate"] if description["version"] == STEPS else None,
        cyclic_rate=description["cyclic_rate"],
        decay=description["decay"],
        rng=np.random.default_rng(0),
    )
    league.rng.bit_generator.state = description["rng"]
    names = checked_names(description["agents"], size=len(arrays["ratings"]), kind="agent")
    league.names, league.index = list(names), {name: k for k, name in enumerate(names)}
    league.Z = np.column_stack([arrays["ratings"], arrays["cyclic"]])
    league.played = arrays["played"].copy()
    if league.adaptive:
        league.filters = np.array(description["filters"], dtype=np.float64).reshape(-1, 3)
        league.weights = np.array(description["weights"], dtype=np.float64)
        league.sums[2:] = description["shared"], description["expected"]
    league.means = arrays.get("means", np.zeros((len(names), 0, league.width)))
    league.spreads = arrays.get("spreads", np.zeros((len(names), 0, league.width, league.width)))
    league.sums[:2] = description["loss"], description["games"]
    return league, [LogPosition(**log) for log in description["logs"]]
