"""Real file systems with limits of their own."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Give a real file system with such options; skipped where that needs rights we do not have."""
    made: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"mount-{len(made)}"
        place.mkdir()
        try:
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True)
        except FileNotFoundError:
            pytest.skip("there is no mount command")
        if done.returncode:
            pytest.skip("a file system cannot be mounted here without more rights")
        made.append(place)
        return place

    yield mount
    for place in made:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def full(mounted: Callable[[str], Path]) -> Path:
    """Give a real file system on which a filler takes all the room."""
    place = mounted("size=16k")
    (place / "filler").write_bytes(bytes(16 << 10))
    return place
