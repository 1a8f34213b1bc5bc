"""Addresses: sources that are not files, such as ``s3://bucket/games.parquet`` or ``postgresql://user@host/arena``.

An address may hold a password, a key or a signature. It is shown without, wherever it is shown: in messages, in
``.origin``, in reports.
"""

import re
from typing import Any
from urllib.parse import unquote, unquote_plus

from nashboard._text import either, nearest
from nashboard.errors import InputError

DATABASES = ("sqlite", "duckdb", "postgresql", "postgres")
# What Polars reads on its own, by byte ranges, with credentials from the usual places of each service.
STORES = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf", "http", "https", "file")
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
HIDDEN = "***"


def find_scheme(source: Any) -> str | None:
    """Return what stands before ``://``, in small letters; None where the source is not an address."""
    found = ADDRESS.match(source) if isinstance(source, str) else None
    if found is None:
        return None
    scheme = found[1].lower()
    if scheme not in (*DATABASES, *STORES):
        raise InputError(
            f"{hide_secrets(source)!r} is not an address that can be read{nearest(scheme, (*DATABASES, *STORES))}: "
            f"databases start with {either(f'{name}://' for name in DATABASES[:3])}, object stores with "
            f"{either(f'{name}://' for name in STORES)}"
        )
    return scheme


def hide_secrets(source: str) -> str:
    """Return an address without password and without what follows ``?``; anything else as it is."""
    found = ADDRESS.match(source)
    if found is None:
        return source
    # a password may hold any character unquoted: whatever stands before the last @ is not shown, but for the user
    account, at, place = source[found.end() :].rpartition("@")
    user, colon, _ = account.partition(":")
    shown, question, _ = place.partition("?")
    return f"{found[0]}{user.partition('?')[0]}{f':{HIDDEN}' * bool(colon)}{at}{shown}{f'?{HIDDEN}' * bool(question)}"


def find_secrets(source: str) -> list[str]:
    """Return every text in an address that nobody else should see, as it is written and as it is meant."""
    found = ADDRESS.match(source)
    if found is None:
        return []
    account, _, _ = source[found.end() :].rpartition("@")
    password, query = account.partition(":")[2], source.partition("?")[2]
    values = [pair.partition("=")[2] for pair in query.split("&")]
    spelt = {way(text) for text in (password, *values) for way in (str, unquote, unquote_plus)}
    return sorted((text for text in spelt if text), key=len, reverse=True)


def scrub_secrets(message: str, source: str) -> str:
    """Return a message without the secrets of an address, whoever wrote it."""
    message = message.replace(source, hide_secrets(source))
    for secret in find_secrets(source):
        if len(secret) > 2 or not secret.isalnum():  # a password of one letter would tear every word apart
            message = message.replace(secret, HIDDEN)
    return message
