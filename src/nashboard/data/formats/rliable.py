"""rliable: for each agent an array of runs by tasks, as npz or json; never as pickle."""

import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.lib import format as npy

from nashboard._text import listed
from nashboard._types import Floats, floats
from nashboard.data.counting.cells import find_directions, name_source
from nashboard.data.formats.format import Format, Input
from nashboard.data.origin import Origin
from nashboard.data.scores import Scores
from nashboard.data.sources.paths import PlainFile, require_one_file
from nashboard.data.table.kinds import read_head
from nashboard.errors import InputError

LEAGUE = "league.json"  # among the arrays that nashboard online writes
LARGEST_ARRAY = 1 << 30  # bytes, unpacked
MOST = 1e100  # of a score: its square is still a number


def read(source: Input) -> Scores:
    """Average the runs of each agent on each task; their spread gives the standard error."""
    if source.kind == "directory":
        raise InputError(f"{source.name!r} is a folder: a score dictionary is one npz or json file")
    if source.kind == "zip":
        arrays = npz_arrays(require_one_file(list(source.files), "a score dictionary"))
    else:
        arrays = json_arrays(source.require_document(), source.name)
    widths = {name: array.shape[1] for name, array in arrays.items()}
    if len(set(widths.values())) != 1:
        raise InputError(f"{source.name!r}: every agent needs the same tasks, but the numbers of tasks are {widths}")
    if len(arrays) < 2:
        raise InputError(
            f"{source.name!r} has scores of one agent only ({listed(arrays)}): a comparison needs at least two"
        )
    for name, array in arrays.items():
        if np.nanmax(np.abs(array), initial=0.0) > MOST:
            raise InputError(f"{source.name!r}: {name!r} has scores above {MOST:g}: scale them, no spread can be told")
    present = {name: (~np.isnan(array)).sum(axis=0) for name, array in arrays.items()}
    with np.errstate(invalid="ignore", divide="ignore"):
        total = {name: np.nansum(array, axis=0) for name, array in arrays.items()}
        mean = {name: total[name] / present[name] for name in arrays}
        spread = {
            name: np.sqrt(np.nansum((a - mean[name]) ** 2, axis=0) / (present[name] - 1)) for name, a in arrays.items()
        }
        stderr = np.stack(
            [np.where(present[name] > 1, spread[name] / np.sqrt(present[name]), np.nan) for name in arrays]
        )
    values = np.stack(list(mean.values()))
    tasks = tuple(f"task {k + 1}" for k in range(values.shape[1]))
    with name_source(source.name):
        return Scores(
            agents=tuple(arrays),
            tasks=tasks,
            values=values,
            lower_is_better=find_directions(tasks, source.options.lower_is_better, source.name, said={}),
            stderr=stderr,
            n=np.full(values.shape, np.nan),
            runs=np.stack(list(present.values())),
            origin=Origin(
                source=source.name,
                format="rliable",
                rows=sum(len(array) for array in arrays.values()),
                notes=("tasks have no names in this format: they are numbered",),
            ),
        )


def npz_arrays(file: PlainFile) -> dict[str, Floats]:
    """Return the arrays of an npz file, after a look at what their headers claim."""
    if read_head(file).startswith(npy.MAGIC_PREFIX):
        raise InputError(
            f"{file.name!r} is an npy file: a dictionary in one is a pickle, which may run any code and is never "
            f"opened; save it with np.savez(path, **scores)"
        )
    try:
        with zipfile.ZipFile(file.path) as archive:
            other = [entry.filename for entry in archive.infolist() if not entry.filename.endswith(".npy")]
            if LEAGUE in other:
                raise InputError(
                    f"{file.name!r} is the state of an online league, not a table: nashboard predict {file.name} A B "
                    f"reads it, and in Python nb.OnlineMelo.load or nb.OnlineElo.load"
                )
            if other:
                raise InputError(f"{file.name!r} is a zip file but no npz file: it holds {listed(other, 2)}, no array")
            return {
                entry.filename.removesuffix(".npy"): runs_by_tasks(
                    npz_entry(archive, entry, file), entry.filename.removesuffix(".npy"), file.name
                )
                for entry in archive.infolist()
            }
    except InputError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, ValueError, RuntimeError) as error:  # of a damaged list of entries
        raise InputError(f"{file.name!r} is damaged or not an npz file: {error}") from None


def npz_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, file: PlainFile) -> Any:
    """Return one array; its header must agree with the size of the data behind it."""
    where = f"{file.name!r}, array {entry.filename!r}"
    try:
        with archive.open(entry) as stream:
            version = npy.read_magic(stream)
            read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
            if read_header is None:
                raise InputError(f"{where} has an npy header of version {version}, which is not known")
            shape, fortran_order, dtype = read_header(stream)
            if dtype.hasobject or dtype.kind not in "biuf":
                raise InputError(f"{where} holds {dtype}, not plain numbers")
            claimed = int(np.prod(shape, dtype=object)) * dtype.itemsize
            if claimed > LARGEST_ARRAY or claimed > entry.file_size:
                raise InputError(
                    f"{where} claims {claimed:,} bytes but holds {entry.file_size:,}: it is damaged or hostile"
                )
            values = np.frombuffer(stream.read(claimed), dtype=dtype)
    except (ValueError, OSError, EOFError, NotImplementedError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where} cannot be read: {error}") from None
    if values.size * dtype.itemsize != claimed:
        raise InputError(f"{where} is cut short")
    return values.reshape(shape, order="F" if fortran_order else "C")


def json_arrays(content: Any, name: str) -> dict[str, Floats]:
    """Return the arrays of a json object."""
    if not isinstance(content, dict):
        raise InputError(f"{name!r} must hold an object: agent -> list of runs, each a list of scores")
    for agent, rows in content.items():
        if not isinstance(rows, list) or not rows:
            raise InputError(
                f"{name!r} is not a score dictionary: {agent[:60]!r} must be a list of runs, each a list of scores, "
                f"not {str(rows)[:40]!r}"
            )
    return {agent: runs_by_tasks(rows, agent, name) for agent, rows in content.items()}


def runs_by_tasks(values: Any, agent: str, name: str) -> Floats:
    """Return an array of runs by tasks; a single run may have one axis."""
    array = np.asarray(values, dtype=object) if isinstance(values, list) else values
    return floats(values if array.ndim == 2 else [values], f"{name!r}, agent {agent!r}: the scores", ndim=2)


def fits(source: Input) -> bool:
    """Return whether this is an npz file, or a json object of lists of numbers."""
    if source.kind == "zip":
        return True
    content = source.document
    return (
        isinstance(content, dict)
        and bool(content)
        and all(isinstance(rows, list) and rows and not isinstance(rows[0], dict | str) for rows in content.values())
    )


RLIABLE = Format(
    name="rliable",
    makes="scores",
    holds="a score dictionary, agent -> runs x tasks, as npz or json",
    fits=fits,
    read=read,
    options=("lower_is_better",),
    on_frames=False,
)
