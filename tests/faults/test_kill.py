"""Killed at any moment, a command leaves the old output or the new one, and no part that the next run does not remove.

``python tests/faults/kill.py --times 200`` does it at length.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.kill import kill_all
from faults.victims import OLD, PAGES, VICTIMS, are_pages, is_json, is_league, is_page, is_paper, prepare
from nashboard._files import create_locked, write_atomically


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals and locks as Unix has them")
def test_commands_killed_at_random_moments_leave_nothing_half_written() -> None:
    short = ("evaluate", "online", "saving a state")  # the others take minutes
    chosen = [victim for victim in VICTIMS if victim.name in short]
    tallies = kill_all(6, rows=30_000, seed=1, chosen=chosen, warm=False)
    assert list(tallies) == list(short)
    assert sum(sum(tally.codes.values()) for tally in tallies.values()) == 6


@pytest.mark.parametrize("check", [is_json, is_page, is_league, is_paper])
def test_what_looks_for_half_written_outputs_finds_one(check: Callable[[Path], None], tmp_path: Path) -> None:
    half = tmp_path / "output.html"
    half.write_text(OLD)
    with pytest.raises((AssertionError, ValueError)):
        check(half)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.999])
def test_what_looks_for_half_written_pages_of_benchmarks_finds_one(name: str, kept: float, tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    prepare(next(victim for victim in VICTIMS if victim.beside is are_pages), folder)
    are_pages(folder)
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises((AssertionError, IndexError)):
        are_pages(folder)


def test_an_abandoned_part_is_swept_by_the_next_write_and_a_living_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    (tmp_path / ".board.json.0123.part").write_text("half of a bo")
    living = tmp_path / ".board.json.4567.part"
    held = create_locked(living)
    write_atomically(path, lambda part: part.write_text("whole"))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [living.name, path.name]
    assert held > 0


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    path.write_text("old")

    def fail(part: Path) -> None:
        part.write_text("half of")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, fail)
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"]
