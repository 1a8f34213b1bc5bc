"""Json one object at a time, so that a list of a billion objects needs no more memory than one."""

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nashboard.data.sources import CHUNK, LONGEST_RECORD, PlainFile
from nashboard.errors import InputError

SPACE = " \t\r\n"
# A single document is held in memory whole, so it may not be huge.
LARGEST_DOCUMENT = 256 << 20


def parsed(text: str, name: str, *, strict: bool = False) -> Any:
    """Parse one json document, or say where it is broken; ``strict`` refuses NaN, as fast parsers do."""

    def refuse(word: str) -> None:
        raise InputError(f"{name!r} holds {word}, which is not valid json: write null where a value is missing")

    try:
        return json.loads(text, parse_constant=refuse if strict else None)
    except json.JSONDecodeError as error:
        raise InputError(f"{name!r} is not valid json: {error}") from None
    except RecursionError:
        raise InputError(f"{name!r} nests json far deeper than any data set does") from None
    except InputError:
        raise
    except ValueError:  # Python's own limit, since parsing takes longer than the square of the digits
        raise InputError(f"{name!r} holds a whole number of more digits than any data set needs") from None


def document(file: PlainFile) -> Any:
    """Return a whole json file of moderate size."""
    if file.path.stat().st_size > LARGEST_DOCUMENT:
        raise InputError(f"{file.name!r} is a single json document of more than {LARGEST_DOCUMENT >> 20} MB")
    try:
        text = file.path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name!r} is not UTF-8 (byte {error.start:,}): save it as UTF-8") from None
    return parsed(text, file.name)


def list_items(file: PlainFile) -> Iterator[str]:
    """Yield the text of each object of a top-level json list, in order."""
    scan = json.JSONDecoder().raw_decode
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    with file.path.open("rb") as stream:
        text, at, ended = "", 0, False
        expecting = "["
        while True:
            at = skip_space(text, at)
            if at == len(text) and not ended:
                text, at, ended = more(stream, decoder, "", file)
                continue
            if expecting == "[":
                if not text.startswith("[", at):
                    raise InputError(f"{file.name!r} is not a json list: it starts with {text[at : at + 20]!r}")
                at, expecting = at + 1, "item or ]"
                continue
            if at < len(text) and text[at] == "]" and expecting != "item":
                if text[at + 1 :].strip(SPACE) or stream.read(CHUNK).strip():
                    raise InputError(f"{file.name!r} goes on after the end of its json list")
                return
            if at < len(text) and text[at] == "," and expecting == ", or ]":
                at, expecting = at + 1, "item"
                continue
            if expecting == ", or ]" and at < len(text):
                raise InputError(f"{file.name!r} is not valid json: {expecting} expected, {text[at : at + 20]!r} found")
            try:
                _, end = scan(text, at)
            except RecursionError:
                raise InputError(f"{file.name!r} nests json far deeper than any data set does") from None
            except json.JSONDecodeError as error:
                if ended:
                    cut = "it is cut short" if at >= len(text) or error.pos >= len(text) - 1 else str(error)
                    raise InputError(f"{file.name!r} is not valid json: {cut}") from None
                if len(text) - at > LONGEST_RECORD:
                    raise InputError(
                        f"{file.name!r} holds a json object of more than {LONGEST_RECORD >> 20} MB"
                    ) from None
                text, at, ended = more(stream, decoder, text[at:], file)
                continue
            except ValueError:
                raise InputError(f"{file.name!r} holds a whole number of more digits than any data set needs") from None
            yield text[at:end]
            at, expecting = end, ", or ]"


def more(stream: Any, decoder: Any, text: str, file: PlainFile) -> tuple[str, int, bool]:
    """Return the text with at least as much again behind it, so that retries cost no more than twice."""
    piece = stream.read(max(CHUNK, len(text)))
    try:
        return text + decoder.decode(piece, final=not piece), 0, not piece
    except UnicodeDecodeError:
        raise InputError(f"{file.name!r} is not UTF-8: save it as UTF-8") from None


def skip_space(text: str, at: int) -> int:
    """Return the position of the next character that is not white space."""
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


def without_nan(item: str) -> str:
    """Return the text of an object with null for NaN: Python writes NaN for what is missing, json has no such word."""
    if "NaN" not in item:
        return item
    return json.dumps(json.loads(item, parse_constant=lambda word: None if word == "NaN" else float(word)))


def list_to_lines(file: PlainFile, target: Path) -> PlainFile:
    """Write a json list as json lines, one object per line."""
    with target.open("w", encoding="utf-8") as lines:
        for k, item in enumerate(list_items(file)):
            if not item.startswith("{"):
                raise InputError(f"{file.name!r}: item {k + 1:,} of the list is {item[:40]!r}, not an object")
            # a line break between tokens is white space; inside a string json forbids it
            lines.write(without_nan(item).replace("\n", " ").replace("\r", " ") + "\n")
    return PlainFile(path=target, name=file.name)
