"""A matrix with names: win rates, counts of wins, or payoffs that are antisymmetric already."""

from dataclasses import replace

import numpy as np

from nashboard._text import listed
from nashboard._types import Floats
from nashboard.data.counting.cells import name_source
from nashboard.data.formats.format import Format, Input
from nashboard.data.matches import ROUNDING, Matches
from nashboard.data.origin import Origin
from nashboard.data.payoffs import Payoffs
from nashboard.data.table.columns import AGENT, OUTCOME, SCORE, SIDES, TASK, find_pairs, find_usual
from nashboard.data.table.values import as_text, parse_number
from nashboard.errors import InputError

PERHAPS_PERCENTAGES = (
    "every pair adds up to 100: read as 100 games a pair; if these are percentages, divide them by 100, "
    "or the number of games is overstated",
)


def read_named_matrix(source: Input) -> tuple[tuple[str, ...], Floats]:
    """Return the agents and the matrix; rows are put in the order of the columns."""
    table = source.table
    if table.kind == "delimited":
        table.explain()
        table = table.drop_blank_lines(table.schema.names())
    if table.nested:
        raise InputError(
            f"{table.name!r} is not a matrix: there are lists or objects instead of numbers in "
            f"{listed(table.nested, 3)}"
        )
    frame = table.collect(table.frame)
    rows = ["" if name is None else str(name) for name in frame[frame.columns[0]]]
    spelt = {name.strip(): name for name in rows}  # headers of text tables come without the white space around them
    known = set(rows)
    columns = [name if name in known else spelt.get(name, name) for name in frame.columns[1:]]
    if len(rows) != len(columns):
        raise InputError(f"{table.name!r} is not square: {len(rows)} rows and {len(columns)} columns of agents")
    for here, there, extra in (
        ("row", "column", set(rows) - set(columns)),
        ("column", "row", set(columns) - set(rows)),
    ):
        if extra:
            raise InputError(
                f"{table.name!r}: {listed(sorted(extra), 3)} has a {here} but no {there}; names must agree"
            )
    if len(set(rows)) < len(rows):
        raise InputError(f"{table.name!r}: agent {next(x for x in rows if rows.count(x) > 1)!r} has more than one row")
    cells = [
        [
            parse_number(cell, f"{table.name!r}, row {name!r}, column {column!r}")
            for column, cell in zip(columns, values, strict=True)
        ]
        for name, values in zip(rows, frame.drop(frame.columns[0]).rows(), strict=True)
    ]
    place = {name: k for k, name in enumerate(rows)}
    order = [place[name] for name in columns]
    return tuple(columns), np.array(cells, dtype=np.float64)[order]


def is_named_matrix(source: Input) -> bool:
    """Return whether the header repeats the first column, nearly: a small slip must not turn it into scores."""
    columns = source.columns
    is_log = find_pairs(SIDES, columns) and find_usual(OUTCOME, columns)
    if is_log or all(find_usual(usual, columns) for usual in (AGENT, TASK, SCORE)):
        return False  # no need to look at the rows
    if len(columns) < 3 or len(columns) > 5000 or columns[0] in source.table.nested:
        return False
    frame = source.table.frame
    first = source.table.collect(frame.select(name=as_text(frame, columns[0])).head(len(columns)))
    return len(set(first["name"]) & set(columns[1:])) > len(columns[1:]) / 2


def read_matrix(source: Input) -> Payoffs | Matches:
    """Read a matrix as what the user asked for, or as its numbers show."""
    agents, M = read_named_matrix(source)
    if source.wanted is Payoffs or (source.wanted is None and find_matrix_kind(M) == "payoffs"):
        return make_payoffs(source, agents, M)
    return make_matches(source, agents, M)


def make_payoffs(source: Input, agents: tuple[str, ...], M: Floats) -> Payoffs:
    """Return a matrix as payoffs."""
    if np.isnan(M).any():
        i, j = np.argwhere(np.isnan(M))[0]
        if i != j:
            raise InputError(
                f"{source.name!r}, row {agents[i]!r}, column {agents[j]!r} is empty: a payoff matrix must be complete"
            )
        np.fill_diagonal(M, 0.0)
        return make_payoffs(source, agents, M)
    kind = find_matrix_kind(M)
    if kind in ("win rates", "percentages") and not source.options.symmetrise:
        divided = " divide them by 100," if kind == "percentages" else ""
        raise InputError(
            f"{source.name!r} holds {kind}, not payoffs, which are negative for the loser:{divided} read them with "
            f"read_matches, and turn the matches into payoffs with payoffs(matches)"
        )
    with name_source(source.name):
        made = Payoffs.from_array(M, agents, symmetrise=source.options.symmetrise)
    return replace(made, origin=make_origin(source, len(agents), "payoffs"))


def make_matches(source: Input, agents: tuple[str, ...], M: Floats) -> Matches:
    """Return a matrix of win rates or of counts as matches."""
    kind = find_matrix_kind(M)
    if kind == "payoffs":
        raise InputError(
            f"{source.name!r} holds payoffs with negative numbers, not win rates or counts: use read_payoffs"
        )
    if kind == "percentages":
        raise InputError(f"{source.name!r} holds percentages, not win rates or counts: divide them by 100")
    with name_source(source.name):
        if kind == "win rates":
            made = Matches.from_win_rates(M, agents, symmetrise=source.options.symmetrise)
        else:
            np.fill_diagonal(M, np.nan_to_num(np.diag(M)))
            made = Matches.from_counts(M, agents)
    perhaps = PERHAPS_PERCENTAGES if kind == "counts" and pairs_add_up(M, 100) else ()
    notes = (*source.table.notes, *made.origin.notes, *perhaps)
    return replace(made, origin=replace(make_origin(source, len(agents), kind), notes=notes))


def find_matrix_kind(M: Floats) -> str:
    """Return payoffs (negative numbers), win rates (in [0, 1]), percentages (pairs add up to 100) or counts."""
    off = ~np.eye(len(M), dtype=bool) & ~np.isnan(M)
    if (M[off] < 0).any() or not M[off].any():
        return "payoffs"
    with np.errstate(invalid="ignore"):  # what is infinite is not a whole number, and is refused later
        parts = M[off] % 1
    if (M[off] <= 1 + ROUNDING).all() and ((parts != 0).any() or pairs_add_up(M, 1)):
        return "win rates"
    whole = not parts.any()
    return "percentages" if not whole and pairs_add_up(M, 100) else "counts"


def pairs_add_up(M: Floats, total: float) -> bool:
    """Return whether the two directions of every pair that met add up to this total."""
    off = ~np.eye(len(M), dtype=bool) & ~np.isnan(M)
    with np.errstate(over="ignore"):  # infinitely far from the total, which is an answer
        return np.allclose((M + M.T)[off & off.T], total)


def make_origin(source: Input, rows: int, kind: str) -> Origin:
    """Return where the matrix came from."""
    return Origin(source=source.name, format=f"payoff-matrix ({kind})", rows=rows, notes=source.table.notes)


PAYOFF_MATRIX = Format(
    name="payoff-matrix",
    makes="payoffs",
    holds="a square table, agents by agents: payoffs, win rates or counts of wins",
    fits=is_named_matrix,
    read=read_matrix,
    options=("symmetrise", "separator", "min_games", "components"),
)
