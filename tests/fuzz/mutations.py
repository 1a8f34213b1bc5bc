"""Damage: flipped bits, cut and repeated pieces, words that break parsers, two inputs spliced together.

A damaged input is a function of one number, so that a million of them need no more than a million numbers to be told.
"""

import gzip
import random

import zstandard

from fuzz.corpus import Input, corpus

# what has broken a parser somewhere, sometime
WORDS = (
    b'"', b"'", b",", b"\t", b";", b"|", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\\",
    b"\\u", b"\\ud800", b"{", b"}", b"[", b"]", b":", b"[[[[[[[[", b'{"a":' * 40, b"null", b"true", b"NaN", b"nan",
    b"inf", b"-inf", b"Infinity", b"1e999", b"-1", b"0", b"1e-400", b"9" * 400, b"9" * 5000, b"0.1", b"1_0",
    b"0x10", b"18446744073709551616", b"-9223372036854775809", b"\xe2\x80\xa8", b"\xcc\x81", b"\xf0\x9f\xa4\x96",
    b"1-0", b"1/2-1/2", b"*", b'[Event "', b'[White "', b"{[%clk", b"(((", b"model_a", b"model_b", b"winner",
    b"tie", b"agent", b"task", b"score", b"weight", b"results", b"Started game 1 (", b"PAR1", b"PK\x03\x04",
    b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x93NUMPY", b"%", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80", b" " * 50, b"a" * 5000, b"<script>", b"=cmd()",
)  # fmt: skip
WHOLE = 8  # one input in so many is packed again after the damage


def damaged(seed: int) -> Input:
    """Return one of the sound inputs, damaged as the number says."""
    rng = random.Random(seed)
    files = dict(rng.choice(corpus()))
    name = rng.choice(sorted(files))
    content = bytearray(files[name])
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5, 10))):
        rng.choice(DAMAGES)(content, rng)
    files[name] = bytes(content)
    if len(files) > 1 and rng.randrange(10) == 0:
        del files[rng.choice(sorted(files))]
    if len(files) == 1 and rng.randrange(WHOLE) == 0:
        pack = rng.choice((gzip.compress, zstandard.compress))
        files = {f"{kept}.packed": pack(data) for kept, data in files.items()}
    return files


def place(data: bytearray, rng: random.Random) -> int:
    """Return a position; the ends of a file, where headers and footers stand, are likelier."""
    if not data:
        return 0
    near = rng.randrange(min(len(data), 64))
    return rng.choice((rng.randrange(len(data)), near, len(data) - 1 - near))


def flip(data: bytearray, rng: random.Random) -> None:
    """Flip a bit."""
    if data:
        data[place(data, rng)] ^= 1 << rng.randrange(8)


def overwrite(data: bytearray, rng: random.Random) -> None:
    """Put another byte into a place."""
    if data:
        data[place(data, rng)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def insert(data: bytearray, rng: random.Random) -> None:
    """Insert a word."""
    at = place(data, rng)
    data[at:at] = rng.choice(WORDS)


def replace(data: bytearray, rng: random.Random) -> None:
    """Write a word over what is there."""
    at, word = place(data, rng), rng.choice(WORDS)
    data[at : at + len(word)] = word


def cut(data: bytearray, rng: random.Random) -> None:
    """Take a piece out."""
    at = place(data, rng)
    del data[at : at + rng.choice((1, 2, 8, 50, 1000))]


def shorten(data: bytearray, rng: random.Random) -> None:
    """Cut the end off."""
    del data[place(data, rng) :]


def repeat(data: bytearray, rng: random.Random) -> None:
    """Repeat a piece, a few or many times."""
    at = place(data, rng)
    data[at:at] = data[at : at + rng.choice((1, 10, 100, 1000))] * rng.choice((1, 2, 20, 200))


def move(data: bytearray, rng: random.Random) -> None:
    """Move a piece to another place."""
    at, to = place(data, rng), place(data, rng)
    piece = data[at : at + rng.choice((1, 4, 30, 300))]
    data[to:to] = piece


def splice(data: bytearray, rng: random.Random) -> None:
    """Go on as another input does."""
    other = rng.choice(list(rng.choice(corpus()).values()))
    if other:
        del data[place(data, rng) :]
        data += other[rng.randrange(len(other)) :]


def swap_lines(data: bytearray, rng: random.Random) -> None:
    """Put lines into another order, and leave some out."""
    lines = bytes(data).split(b"\n")
    data[:] = b"\n".join(rng.choices(lines, k=len(lines)))


DAMAGES = (flip, overwrite, insert, replace, cut, shorten, repeat, move, splice, swap_lines)
