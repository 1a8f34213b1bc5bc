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


# Files and servers whose tests take longest in all, the longest first: no process is left with them at the end.
FIRST = (
    "ranking/test_trial.py",
    "spark",
    "data/test_engines.py",
    "data/test_values.py",
    "faults/test_outputs.py",
    "faults/test_temporary.py",
    "evaluation/test_score_posterior.py",
    "evaluation/test_board_columns.py",
    "faults/test_faults.py",
    "pages",
    "dask cluster",
    "ranking/test_methods.py",
    "ratings/test_hierarchical.py",
    "ratings/test_prior.py",
    "evaluation/test_decisions.py",
    "test_docs.py",
    "examples",
    "test_options.py",
    "evaluation/test_match_posterior.py",
    "faults/test_kill.py",
    "evaluation/test_compare.py",
    "faults/test_compiling.py",
    "faults/test_shrinking.py",
    "evaluation/test_any_data.py",
    "fuzz/test_bombs.py",
    "data/test_elsewhere.py",
    "data/test_layouts_everywhere.py",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow files where they are left out."""
    slow = collection_path.name in SLOW_FILES or collection_path.parent.name in SLOW_FOLDERS
    return True if slow and config.getoption("markexpr") == "not slow" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: Counter[tuple[Path, str]] = Counter()
    for item in items:
        path = Path(item.path)
        servers = groups_of(item)
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
    places = {group: place for place, group in enumerate(FIRST)}
    items.sort(key=lambda item: min(places.get(group, len(FIRST)) for group in groups_of(item) or {""}))


def groups_of(item: pytest.Item) -> set[str]:
    """Return the groups of tests that a test is marked to share a process with."""
    return {str(mark.args[0]) for mark in item.iter_markers("xdist_group") if mark.args}


@pytest.fixture
def command() -> Run:
    """Return what runs the command in this process."""
    return run
