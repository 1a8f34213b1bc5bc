"""The cache: what is kept comes back, and whatever is wrong with it only costs time."""

from pathlib import Path

import platformdirs
import pytest

from nashboard._files import cached_text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the cache be in a folder that is not there yet."""
    home = tmp_path / "a home" / "cache"
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: home)
    return home


def never() -> str:
    raise AssertionError("it was made again")


def test_what_is_kept_comes_back_without_being_made_again(folder: Path) -> None:
    text = "let x = '…';\r\n\n"
    assert cached_text("some.js", "1.0", lambda: text) == text
    assert [file.name for file in folder.iterdir()] == ["some.js"]
    assert cached_text("some.js", "1.0", never) == text


def test_another_version_takes_its_place(folder: Path) -> None:
    cached_text("some.js", "1.0", lambda: "old")
    assert cached_text("some.js", "2.0", lambda: "new") == "new"
    assert cached_text("some.js", "2.0", never) == "new"
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"1.0", b"\xff\xfe\n\xff", b"1.0 0000\nother"])
def test_a_damaged_file_is_made_again(folder: Path, damage: bytes) -> None:
    cached_text("some.js", "1.0", lambda: "right")
    (folder / "some.js").write_bytes(damage)
    assert cached_text("some.js", "1.0", lambda: "right") == "right"
    assert cached_text("some.js", "1.0", never) == "right"


def test_a_cut_file_is_made_again(folder: Path) -> None:
    cached_text("some.js", "1.0", lambda: "all of it")
    whole = (folder / "some.js").read_bytes()
    (folder / "some.js").write_bytes(whole[:-3])
    assert cached_text("some.js", "1.0", lambda: "all of it") == "all of it"
    assert (folder / "some.js").read_bytes() == whole


def test_where_nothing_can_be_kept_it_is_made_each_time(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    assert cached_text("some.js", "1.0", lambda: "made") == "made"
    assert cached_text("some.js", "1.0", lambda: "made again") == "made again"
    assert folder.read_text() == "a file where the folder should be"
