"""Any format may be forced on any file or folder: what does not fit is an `InputError`, never a traceback."""

import contextlib
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import nashboard as nb
from data.formats.reading import FILES
from nashboard.data.formats import FORMATS

MINIATURES = sorted(path for path in FILES.rglob("*") if "first_touch" in path.parts)
PUBLIC = sorted({FILES, *FILES.rglob("*")} - set(MINIATURES))
READERS = (nb.read, nb.read_matches, nb.read_scores, nb.read_payoffs)
ODD = {
    "columns of lists.json": {"x": [1, 2, 3], "y": [3, 4, 5]},
    "one list.json": {"x": [1, 2, 3], "y": 3},
    "empty object.json": {"x": {}},
    "ragged.json": {"x": [[1, 2], [3]], "y": [[1, 2]]},
    "deep.json": {"x": [[[1]]], "y": [[[2]]]},
    "tables.json": [{"header": [], "rows": []}],
    "text.json": "text",
    "numbers.json": [1, 2, 3],
    "results.json": {"results": {"t": {"acc,none": "high"}}, "model_name": "m"},
}


@pytest.mark.slow
@pytest.mark.parametrize("format", [entry.name for entry in FORMATS])
def test_a_format_forced_on_any_file_or_folder_reads_it_or_says_why_not(format: str) -> None:
    for source in PUBLIC + MINIATURES:
        with contextlib.suppress(nb.InputError):  # anything else fails the test
            nb.read(source, format=format)


@pytest.mark.parametrize("name", ODD)
def test_a_format_forced_on_an_odd_file_reads_it_or_says_why_not(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(json.dumps(ODD[name]))
    for reader, forced in product(READERS, [None, *(entry.name for entry in FORMATS)]):
        with contextlib.suppress(nb.InputError):
            reader(tmp_path / name, format=forced)


@pytest.mark.parametrize("reader", [nb.read, *(pytest.param(reader, marks=pytest.mark.slow) for reader in READERS[1:])])
def test_every_reader_reads_a_source_or_says_why_not(reader: Callable[[Path], object]) -> None:
    for source in PUBLIC + MINIATURES * (reader is not nb.read):  # `test_first_touch` reads these one by one
        with contextlib.suppress(nb.InputError):
            reader(source)


@pytest.mark.parametrize("format", ["pgn", "cutechess", "helm", "rliable"])
def test_a_format_of_one_file_says_that_it_was_given_a_folder(format: str) -> None:
    with pytest.raises(nb.InputError, match=r"lm_eval' is a folder: "):
        nb.read(FILES / "lm_eval", format=format)


def test_a_json_object_that_is_no_score_dictionary_is_refused_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"x": [[1]], "model": "gpt"}')
    with pytest.raises(nb.InputError, match=r"is not a score dictionary: 'model' must be a list of runs.*, not 'gpt'"):
        nb.read(tmp_path / "x.json", format="rliable")


def test_columns_of_lists_are_no_matrix(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"x": [1, 2, 3], "y": [3, 4, 5]}')
    with pytest.raises(nb.InputError, match=r"x.json' is not a matrix: there are lists or objects.* in 'x' and 'y'"):
        nb.read_payoffs(tmp_path / "x.json")
