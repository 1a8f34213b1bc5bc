"""What a parquet file claims about itself, checked before anything is allocated for it.

The footer of a parquet file is a structure in Thrift's compact protocol. A reader trusts it: a few bytes can
claim a row group of a billion rows. Only the few numbers that matter are read here (names and numbers of
fields as in the format's parquet.thrift), and they must agree with each other and with the file's size.
"""

import contextlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from nashboard.data.sources import PlainFile
from nashboard.errors import InputError

LARGEST_ROW_GROUP = 1 << 26  # rows; the largest that common writers make, and what is decoded at once
LARGEST_FOOTER = 1 << 28  # bytes
LARGEST_PAGE = 1 << 31  # bytes, unpacked; what the format's 32-bit sizes can say
PAGE_HEADER = 1 << 16  # bytes; statistics in a header can be long
MOST_VALUES_PER_ROW = 1 << 10  # lists in a cell
DEEPEST = 32

# FileMetaData, RowGroup, ColumnChunk and ColumnMetaData, by field number
NUM_ROWS, ROW_GROUPS = 3, 4
COLUMNS, GROUP_ROWS = 1, 3
CHUNK_METADATA = 3
NUM_VALUES, PACKED, DATA_OFFSET, DICTIONARY_OFFSET = 5, 7, 9, 11
# PageHeader
PAGE_UNPACKED, PAGE_PACKED, DATA_PAGE, INDEX_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 2, 3, 5, 6, 7, 8


def checked_rows(file: PlainFile) -> int:
    """Return the number of rows of a parquet file, or say why its claims cannot be true."""
    size = file.path.stat().st_size
    footer = read_footer(file, size)
    with damage_named(file, "footer"):
        metadata = Thrift(footer).struct(0)
        groups = [(group[GROUP_ROWS], group[COLUMNS]) for group in metadata.get(ROW_GROUPS, [])]
        claimed = int(metadata[NUM_ROWS])
        if sum(rows for rows, _ in groups) != claimed or any(rows < 0 for rows, _ in groups):
            raise ValueError
    largest = max((rows for rows, _ in groups), default=0)
    if largest > LARGEST_ROW_GROUP:
        raise InputError(
            f"{file.name!r} claims a row group of {largest:,} rows in a file of {size:,} bytes; a row group is held "
            f"in memory whole: write the file with row groups of at most {LARGEST_ROW_GROUP:,} rows"
        )
    with file.path.open("rb") as stream, damage_named(file, "page headers"):
        for _, columns in groups:
            for column in columns:
                check_pages(stream, column[CHUNK_METADATA], size)
    return claimed


def check_pages(stream: BinaryIO, chunk: dict[int, Any], size: int) -> None:
    """Walk over the pages of a column chunk; each header must stay within the chunk and the file."""
    start = chunk.get(DICTIONARY_OFFSET) or chunk[DATA_OFFSET]
    end, values = start + chunk[PACKED], 0
    if not 0 < start <= end <= size or not 0 <= chunk[NUM_VALUES] <= LARGEST_ROW_GROUP * MOST_VALUES_PER_ROW:
        raise ValueError
    while start < end and values < chunk[NUM_VALUES]:
        stream.seek(start)
        thrift = Thrift(stream.read(min(PAGE_HEADER, end - start)))
        page = thrift.struct(0)
        packed, unpacked = page[PAGE_PACKED], page[PAGE_UNPACKED]
        counts = next(page[kind] for kind in (DATA_PAGE, DATA_PAGE_V2, DICTIONARY_PAGE, INDEX_PAGE) if kind in page)
        number = counts.get(1, 0)
        if not 0 <= packed <= end - start or not 0 <= unpacked <= LARGEST_PAGE or not 0 <= number <= chunk[NUM_VALUES]:
            raise ValueError
        values += 0 if DICTIONARY_PAGE in page else number
        start += thrift.at + packed


@contextlib.contextmanager
def damage_named(file: PlainFile, part: str) -> Iterator[None]:
    """Turn anything that goes wrong in reading a structure into one sentence."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, ValueError, StopIteration):
        raise InputError(f"{file.name!r} is damaged: its parquet {part} contradict the file or themselves") from None


def read_footer(file: PlainFile, size: int) -> bytes:
    """Return the bytes of the footer: its length and the magic word stand at the end of the file."""
    with file.path.open("rb") as stream:
        stream.seek(max(size - 8, 0))
        tail = stream.read(8)
        if size < 12 or tail[4:] != b"PAR1":
            raise InputError(f"{file.name!r} is cut short: a parquet file ends with its footer, and this one does not")
        length = int.from_bytes(tail[:4], "little")
        if length > min(size - 12, LARGEST_FOOTER):
            raise InputError(f"{file.name!r} is damaged: its parquet footer claims {length:,} bytes")
        stream.seek(size - 8 - length)
        return stream.read(length)


class Thrift:
    """Reads structures in the compact protocol as ``{field number: value}``."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def byte(self) -> int:
        """Return the next byte."""
        self.at += 1
        return self.content[self.at - 1]

    def varint(self) -> int:
        """Return an unsigned number of seven bits to the byte."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise OverflowError

    def integer(self) -> int:
        """Return a signed number, zigzag encoded."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        """Return bytes with their length before them."""
        length = self.varint()
        self.at += length
        if self.at > len(self.content):
            raise IndexError
        return self.content[self.at - length : self.at]

    def struct(self, depth: int) -> dict[int, Any]:
        """Return the fields of a structure."""
        fields: dict[int, Any] = {}
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.integer()
            kind = head & 0x0F
            fields[field] = kind == 1 if kind in (1, 2) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        """Return a value of one of the protocol's types."""
        if depth > DEEPEST:
            raise RecursionError
        match kind:
            case 1 | 2 | 3:
                return self.byte()
            case 4 | 5 | 6:
                return self.integer()
            case 7:
                self.at += 8
                return None
            case 8:
                return self.binary()
            case 9 | 10:
                head = self.byte()
                length = self.varint() if head >> 4 == 15 else head >> 4
                return [self.value(head & 0x0F, depth + 1) for _ in range(length)]
            case 12:
                return self.struct(depth + 1)
            case _:
                raise TypeError
