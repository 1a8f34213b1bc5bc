"""An online league on disk: a zip of npy arrays and one json text, readable by ``numpy.load``; no pickle anywhere.

Members, all little-endian and uncompressed:

    league.json   format "nashboard league", version 1 (steps of a rate) or 2 (filters), k, rate (null for filters),
                  cyclic_rate, decay, games, loss, rng (the state of numpy's generator), logs (how far which logs were
                  read), agents (names in order); for filters also filters and weights
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

from nashboard._files import atomically
from nashboard._types import Floats
from nashboard.data.validation import checked_names
from nashboard.errors import InputError
from nashboard.online.league import League

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
        arrays |= {"means": league.means[: league.size], "spreads": league.spreads[: league.size]}

    def write(part: Path) -> None:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            text = json.dumps(description, ensure_ascii=False).encode("utf-8", "surrogatepass")
            archive.writestr(zipfile.ZipInfo(DESCRIPTION, EPOCH), text)
            for name, values in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(values, dtype="<f8"), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", EPOCH), buffer.getbuffer())

    atomically(path, write)


def read_state(path: str | Path) -> tuple[League, list[LogPosition]]:
    """Return the league in a file, or say what is wrong with it."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if DESCRIPTION not in archive.namelist():
                raise InputError(f"{str(path)!r} is no state of a league: it has no {DESCRIPTION}; save() writes one")
            if archive.getinfo(DESCRIPTION).compress_type != zipfile.ZIP_STORED:  # what unpacks may fill the memory
                raise InputError(f"{str(path)!r} is no state of a league: {DESCRIPTION} is packed")
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
        raise InputError(f"{str(path)!r} is no state of a league: its format is not {FORMAT!r}")
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
        rng=restored_generator(description["rng"]),
    )
    names = checked_names(description["agents"], size=len(arrays["ratings"]), kind="agent")
    league.names, league.index = list(names), {name: k for k, name in enumerate(names)}
    league.Z = np.column_stack([arrays["ratings"], arrays["cyclic"]])
    league.played = arrays["played"].copy()
    if league.adaptive:
        league.filters = np.array(description["filters"], dtype=np.float64).reshape(-1, 3)
        league.weights = np.array(description["weights"], dtype=np.float64)
    league.means = arrays.get("means", np.zeros((len(names), 0, league.width)))
    league.spreads = arrays.get("spreads", np.zeros((len(names), 0, league.width, league.width)))
    league.sums = np.array([description["loss"], description["games"]], dtype=np.float64)
    return league, [LogPosition(**log) for log in description["logs"]]


def restored_generator(state: dict[str, Any]) -> np.random.Generator:
    """Return a generator that goes on where the saved one stopped."""
    bits: Any = np.random.PCG64()
    bits.state = state
    return np.random.Generator(bits)
