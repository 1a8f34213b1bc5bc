"""Whatever is in a file, it is read, or refused in one sentence; ``tests/fuzz/run.py`` asks it a million times."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.corpus import Input, corpus
from fuzz.mutations import damaged
from fuzz.surviving import ENTRIES, entry_for, survive
from fuzz.tables import structured

CASES = 300


@settings(max_examples=CASES, suppress_health_check=[HealthCheck.too_slow])
@given(structured, st.sampled_from(sorted(ENTRIES)))
def test_tables_of_hostile_content_are_read_or_refused(files: Input, entry: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        survive(files, entry, Path(folder))


@pytest.mark.parametrize("entry", ENTRIES)
def test_damaged_files_are_read_or_refused(entry: str, tmp_path: Path) -> None:
    for number in range(CASES // len(ENTRIES)):
        survive(damaged(number), entry, tmp_path / str(number))


def test_sound_files_are_read(tmp_path: Path) -> None:
    sound = [survive(files, "read", tmp_path / str(k)) for k, files in enumerate(corpus())]
    assert sum(sound) > len(sound) / 2


def test_sound_files_of_databases_are_read_by_their_own_entries(tmp_path: Path) -> None:
    for kind in ("sqlite", "duckdb"):
        files = next(files for files in corpus() if f"log.{kind}" in files)
        assert entry_for(files, 1) == kind
        assert survive(files, kind, tmp_path / kind)


def test_a_damaged_file_is_a_function_of_its_number() -> None:
    assert [damaged(k) for k in range(50)] == [damaged(k) for k in range(50)]
