"""Settings shared by all tests, and the command that they run."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

from commands import Run, run

# The same examples in every run: a failure can be repeated, and a green run stays green. `make test-all` asks for more
# of them by --hypothesis-profile thorough.
settings.register_profile("nashboard", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("thorough", parent=settings.get_profile("nashboard"), max_examples=50)
settings.load_profile("nashboard")


# What takes long: servers, a browser, kills, fuzzing, the paper, notebooks. `make test` leaves it out.
SLOW_FOLDERS = {"faults", "fuzz"}
SLOW_FILES = {
    "test_browser.py",
    "test_paper.py",
    "test_examples.py",
    "test_benchmarks.py",
    "test_gallery.py",
}
SLOW_SERVERS = {"postgresql", "spark", "dask cluster"}


FIRST = ("report", "evaluation", "ratings")  # whose tests take longest, so that no process is left with them at the end


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow files where they are left out."""
    slow = collection_path.name in SLOW_FILES or collection_path.parent.name in SLOW_FOLDERS
    return True if slow and config.getoption("markexpr") == "not slow" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: Counter[tuple[Path, str]] = Counter()
    for item in items:
        path = Path(item.path)
        servers = {str(mark.args[0]) for mark in item.iter_markers("xdist_group") if mark.args}
        if path.name in SLOW_FILES or path.parent.name in SLOW_FOLDERS or servers & SLOW_SERVERS:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("thin") and not item.get_closest_marker("slow"):
            function = (path, item.name.partition("[")[0])
            cases[function] += 1
            if cases[function] % next(item.iter_markers("thin")).args[0]:
                item.add_marker(pytest.mark.slow)
        if not servers and config.getoption("dist", "no") == "loadgroup":
            # a file in one process: what its tests share, by fixtures or by caches, is made once
            item.add_marker(pytest.mark.xdist_group(path.relative_to(Path(__file__).parent).as_posix()))
    rooms = {room: place for place, room in enumerate(FIRST)}
    items.sort(key=lambda item: rooms.get(Path(item.path).parent.name, len(FIRST)))


@pytest.fixture
def command() -> Run:
    """Return what runs the command in this process."""
    return run
