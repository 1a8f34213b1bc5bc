"""Files of this machine as one lazy table: csv, tsv, parquet, json and json lines.

Text files are scanned as text: what a column means is decided by the readers, so that a wrong value is reported with
its row and column instead of becoming a silent null.
"""

from collections.abc import Sequence

import narwhals as nw
import polars as pl

from nashboard._files import Workspace
from nashboard._text import first_line, listed
from nashboard.data.origin import LeftOut
from nashboard.data.sources.paths import PlainFile
from nashboard.data.table.delimited import SEPARATORS, scan_delimited
from nashboard.data.table.json_lines import (
    find_columns,
    list_to_lines,
    scan_objects,
    without_broken_lines,
    without_mark,
)
from nashboard.data.table.kinds import Kind, find_kind
from nashboard.data.table.parquet import folder_values, scan_parquet
from nashboard.data.table.table import Table
from nashboard.data.table.union import unite
from nashboard.errors import InputError


def open_table(
    files: Sequence[PlainFile], workspace: Workspace, separator: str | None = None, *, skip_broken: bool = False
) -> Table:
    """Return one or more files of one kind as a table; the workspace takes temporary files."""
    kinds = {find_kind(file): file for file in files}
    if len(kinds) > 1:
        names = listed([file.name for file in kinds.values()])
        raise InputError(f"files of different kinds cannot be read together: {names}")
    kind = next(iter(kinds))
    if kind == "parquet":
        return open_parquet(files)
    if kind == "delimited":
        return open_delimited(files, workspace, separator, skip_broken=skip_broken)
    if kind == "json list":
        lines = [list_to_lines(file, workspace.path(f"lines-{k}")) for k, file in enumerate(files)]
        return open_json_lines(lines, kind)
    if kind == "json lines":
        left_out: list[LeftOut] = []
        lines = [without_mark(file, workspace, f"plain-{k}") for k, file in enumerate(files)]
        if skip_broken:
            lines = [without_broken_lines(file, workspace, k, left_out) for k, file in enumerate(lines)]
        return open_json_lines(lines, kind, left_out)
    raise InputError(f"{files[0].name!r} is {kind}, not a table of rows and columns")


def name_files(files: Sequence[PlainFile]) -> str:
    """Return what the user calls these files together."""
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"


def open_parquet(files: Sequence[PlainFile]) -> Table:
    """Return parquet files as a table; the folders they are in may be columns."""
    try:
        parts, said = scan_parquet(files)
        frame, notes = unite(parts)
        columns = tuple(frame.collect_schema().names())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"{name_files(files)!r} cannot be read as parquet: {first_line(error)}") from None
    return Table(
        name=name_files(files),
        engine="parquet",
        kind="parquet",
        frame=nw.from_native(frame),
        columns=columns,
        files=tuple(files),
        notes=(*said, *notes),
        folders=frozenset(column for file in files for column in folder_values(file.name)),
    )


def open_delimited(
    files: Sequence[PlainFile], workspace: Workspace, separator: str | None, *, skip_broken: bool
) -> Table:
    """Return csv or tsv files as a table whose cells are all text."""
    parts, mark, scanned, left_out = scan_delimited(files, separator, workspace, skip_broken=skip_broken)
    frame, notes = unite(parts)
    if mark not in ",\t":
        notes = (f"columns are separated by {SEPARATORS.get(mark, repr(mark))}", *notes)
    return Table(
        name=name_files(files),
        engine="delimited",
        kind="delimited",
        frame=nw.from_native(frame),
        columns=tuple(dict.fromkeys(name for part in parts for name in part.kinds)),
        files=scanned,
        separator=mark,
        notes=notes,
        left_out=left_out,
    )


def open_json_lines(files: Sequence[PlainFile], kind: Kind, left_out: Sequence[LeftOut] = ()) -> Table:
    """Return json lines as a table whose plain cells are all text; nested cells wait for `Table.with_nested`."""
    columns = find_columns(files)
    flat = {name: pl.String for name, nested in columns.items() if not nested}
    return Table(
        name=name_files(files),
        engine=kind,
        kind=kind,
        frame=nw.from_native(scan_objects([file.path for file in files], flat)),
        columns=tuple(columns),
        files=tuple(files),
        left_out=tuple(left_out),
    )
