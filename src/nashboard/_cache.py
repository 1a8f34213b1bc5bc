"""Texts that take seconds to make, kept in the user's cache folder.

A cache only saves time: where it cannot be written, or what is kept there is damaged or of another version, the text
is made again.
"""

import contextlib
import hashlib
from collections.abc import Callable

from nashboard._files import atomically
from nashboard.errors import NashboardError


def kept(name: str, version: str, make: Callable[[], str]) -> str:
    """Return the text that ``make`` returns in this version; the file's first line is the version and its hash."""
    from platformdirs import user_cache_path

    path = user_cache_path("nashboard", appauthor=False) / name
    with contextlib.suppress(OSError):
        label, _, content = path.read_bytes().partition(b"\n")
        if label == labelled(version, content):
            return content.decode()
    text = make()
    content = text.encode()
    with contextlib.suppress(OSError, NashboardError):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomically(path, lambda part: part.write_bytes(labelled(version, content) + b"\n" + content))
    return text


def labelled(version: str, content: bytes) -> bytes:
    """Return the first line of a file that keeps this content."""
    return f"{version} {hashlib.sha256(content).hexdigest()}".encode()
