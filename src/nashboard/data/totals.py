"""Rows summed up by keys: as one query where the data is, or piece by piece where a query would need too much memory.

Polars' streaming group-by keeps the groups of every small batch until its end. Where agents are many, nearly every
row of a batch is a group of its own, and 10^8 matches of 1,000 agents take 8 GB although a million pairs come back.
Piece by piece the same rows are summed up in a few pieces and what comes back, at about the same cost. Where rows
fall into few groups, one query is quicker by a quarter and takes little memory.
"""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.exact_sums import digits, in_digits

PIECE = 1 << 21  # rows that are summed up at a time
FEW = 1 << 20  # sums of pieces that may wait before they are added up
LOOKS, LOOK = 5, 20_000  # places of a scan that are looked at, from its first rows to its last, and rows in each
FEW_GROUPS = 12_000  # among these; one query for 10^8 rows of so many takes 0.5 GB


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What is summed up: rows by ``keys``, the columns added up, and those whose extremes are kept.

    ``sums`` are of whole numbers, those of ``fractions`` need not be. ``lowest`` and ``highest`` name the result and
    the column it is of. ``names`` are the keys that repeat a lot: the names of agents, not those of sessions.
    """

    rows: nw.LazyFrame[Any]
    keys: tuple[str, ...]
    sums: tuple[str, ...]
    fractions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    lowest: dict[str, str] = field(default_factory=dict)
    highest: dict[str, str] = field(default_factory=dict)

    @property
    def added(self) -> tuple[str, ...]:
        """The columns of whole numbers that are added up: the sums, and the digits of the fractions."""
        return (*self.sums, *digits(self.fractions))

    @property
    def rows_in_digits(self) -> nw.LazyFrame[Any]:
        """The rows, with fractions cut into digits."""
        return in_digits(self.rows, self.fractions) if self.fractions else self.rows

    def query(self) -> nw.LazyFrame[Any]:
        """Return the totals as one lazy query; `joined` puts the digits of fractions together."""
        return self.of(self.rows_in_digits)

    def of(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return the totals of some of the rows."""
        extremes = {new: nw.col(name).min() for new, name in self.lowest.items()}
        extremes |= {new: nw.col(name).max() for new, name in self.highest.items()}
        return rows.group_by(*self.keys).agg(
            rows=nw.len(), **{name: nw.col(name).sum() for name in self.added}, **extremes
        )

    def few_groups(self) -> bool:
        """Whether a look here and there in a Polars scan shows so few groups that one query needs little memory."""
        rows: pl.LazyFrame = self.rows.select(*self.keys).to_native()
        last = max(int(rows.select(pl.len()).collect().item()) - LOOK, 0)
        seen = pl.concat([rows.slice(k * last // (LOOKS - 1), LOOK) for k in range(LOOKS)])
        return seen.unique().collect(engine="streaming").height <= FEW_GROUPS

    def in_pieces(self) -> pl.DataFrame:
        """Return the totals of a Polars scan, in memory that does not grow with the number of rows."""
        columns = dict.fromkeys((*self.keys, *self.added, *self.lowest.values(), *self.highest.values()))
        rows: pl.LazyFrame = self.rows_in_digits.select(*columns).to_native()
        coded = rows.with_columns(pl.col(self.names).cast(pl.Categorical))  # numbers in place of text: half the cost
        pieces = coded.collect_batches(chunk_size=PIECE, maintain_order=False, engine="streaming")
        waiting: list[pl.DataFrame] = []
        for piece in pieces:
            waiting.append(run(self.of(nw.from_native(piece.lazy()))))
            if sum(map(len, waiting[1:])) > max(FEW, len(waiting[0])):  # so each sum is added up a few times at most
                waiting = [self.added_up(waiting)]
        if not waiting:
            return run(self.query())  # no rows have columns, too
        return self.added_up(waiting).with_columns(pl.col(self.names).cast(pl.String))

    def added_up(self, parts: list[pl.DataFrame]) -> pl.DataFrame:
        """Return the totals of pieces that were summed up one by one."""
        if len(parts) == 1:
            return parts[0]
        extremes = {name: nw.col(name).min() for name in self.lowest}
        extremes |= {name: nw.col(name).max() for name in self.highest}
        sums = {name: nw.col(name).sum() for name in ("rows", *self.added)}
        return run(nw.from_native(pl.concat(parts).lazy()).group_by(*self.keys).agg(**sums, **extremes))


def run(query: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Run a query of Polars by streaming."""
    native: pl.LazyFrame = query.to_native()
    return native.collect(engine="streaming")
