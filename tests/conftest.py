"""Settings shared by all tests, and the command that they run."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from commands import Run, in_process

# The same examples in every run: a failure can be repeated, and a green run stays green.
settings.register_profile("nashboard", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("nashboard")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Yield what runs the command in this process."""
    with in_process(monkeypatch, capsys) as run:
        yield run
