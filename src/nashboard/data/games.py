"""Games one by one: a row per game, for what pair counts do not keep: time, covariates, the order of games."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from nashboard._tables import Column, Table, Tabular, count_of, title_of
from nashboard._types import Bools, Floats, Ints, frozen_copy
from nashboard.data.matches import Clusters, Matches, Sides
from nashboard.data.origin import MEMORY, Origin
from nashboard.errors import InputError

COUNTS = ("wins", "draws", "losses")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Games(Tabular):
    """Games in their order, one row each.

    Parameters
    ----------
    agents
        Names, sorted.
    first, second
        ``(rows,)`` positions of the two agents; the first has the first side (white, home, shown first).
    wins, draws, losses
        ``(rows,)`` how the game ended for the first agent: 1 in one of them, times the weight of the row.
    fractions
        ``(rows,)`` sums over games of the product of both shares of the point, as in `Matches`; None where no game
        ended with a share other than 0, 1/2 and 1.
    time
        ``(rows,)`` when it was played, in any unit that sorts; None where it is not known.
    neutral
        ``(rows,)`` whether neither agent had the first side.
    cluster, cluster_names
        ``(rows,)`` number of the cluster, and the values that the numbers stand for.
    covariates
        Columns of numbers by name: what may sway a game, as an effect on the first agent.
    origin
        Where the games come from.
    """

    agents: tuple[str, ...]
    first: Ints
    second: Ints
    wins: Floats
    draws: Floats
    losses: Floats
    fractions: Floats | None = None
    time: Any = None
    neutral: Bools | None = None
    cluster: Ints | None = None
    cluster_names: tuple[str, ...] = ()
    covariates: Mapping[str, Floats] = field(default_factory=dict)
    origin: Origin = MEMORY

    def __post_init__(self) -> None:
        rows = len(self.first)
        for name, kind in (("first", np.intp), ("second", np.intp), *((name, np.float64) for name in COUNTS)):
            object.__setattr__(self, name, frozen_copy(getattr(self, name), kind))
        object.__setattr__(self, "covariates", {name: frozen_copy(values) for name, values in self.covariates.items()})
        if not rows:
            raise InputError("there are no games")
        columns: list[Any] = [self.second, self.wins, self.draws, self.losses, *self.covariates.values()]
        columns += [values for values in (self.fractions, self.time, self.neutral, self.cluster) if values is not None]
        if any(len(values) != rows for values in columns):
            raise InputError(f"games need {rows:,} values in every column, one per row")
        if (self.first == self.second).any():
            raise InputError("an agent met itself: leave such games out")
        for name, values in self.covariates.items():
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                raise InputError(f"covariate {name!r} is missing or not finite in row {bad[0] + 1:,}")

    @staticmethod
    def from_rows(frame: pl.DataFrame, covariates: Sequence[str] = (), origin: Origin = MEMORY) -> "Games":
        """Return the games of a frame with the columns first, second, wins, draws, losses and perhaps more."""
        names = pl.concat([frame["first"], frame["second"]]).unique().sort()
        label = pl.Enum(names)
        first, second = (frame[side].cast(label).to_physical().to_numpy() for side in ("first", "second"))
        optional = {name: frame[name] for name in ("time", "neutral", "cluster") if name in frame.columns}
        cluster = optional.get("cluster")
        split = "fractions" in frame.columns and (frame["fractions"] > 0).any()
        return Games(
            agents=tuple(names.to_list()),
            first=first,
            second=second,
            **{name: frame[name].to_numpy() for name in COUNTS},
            fractions=frame["fractions"].to_numpy() if split else None,
            time=optional["time"].to_numpy() if "time" in optional else None,
            neutral=optional["neutral"].fill_null(False).to_numpy() if "neutral" in optional else None,
            cluster=None if cluster is None else number_clusters(cluster),
            cluster_names=() if cluster is None else tuple(map(str, cluster.drop_nulls().unique().sort())),
            covariates={name: frame[f"covariate {name}"].to_numpy() for name in covariates},
            origin=origin,
        )

    @property
    def weight(self) -> Floats:
        """Weight of each row, ``(rows,)``."""
        return np.asarray(self.wins + self.draws + self.losses)

    @property
    def n_games(self) -> float:
        """All games, or their total weight."""
        return float(self.weight.sum())

    def to_polars(self) -> pl.DataFrame:
        """Return a frame with the columns a, b, outcome (the share of the point that a takes) and weight."""
        weight = self.weight
        share = np.divide(self.wins + self.draws / 2, weight, out=np.full(weight.size, 0.5), where=weight > 0)
        names = pl.Series(self.agents, dtype=pl.String)
        columns = {"a": names[self.first], "b": names[self.second], "outcome": share, "weight": weight}
        return pl.DataFrame(columns | dict(self.covariates))

    def take(self, rows: Any) -> "Games":
        """Return some rows, by position or as a mask, with all agents."""

        def chosen(values: Any) -> Any:
            return None if values is None else values[rows]

        names = ("first", "second", *COUNTS, "fractions", "time", "neutral", "cluster")
        parts = {name: chosen(getattr(self, name)) for name in names}
        covariates = {name: values[rows] for name, values in self.covariates.items()}
        return replace(self, **parts, covariates=covariates)

    def by_time(self) -> "Games":
        """Return the games sorted by time; those of the same time keep their order."""
        if self.time is None:
            raise InputError("these games have no time: name the column, time=")
        time = pl.Series(self.time)
        if time.null_count():
            raise InputError(f"{time.null_count():,} games have no time: leave them out, or name another column, time=")
        if time.dtype == pl.String and not time.str.contains(r"^\d{4}[-/.]\d{2}").all():
            raise InputError(f"times such as {time[0]!r} do not sort as text: write the year first, as in 2024-05-31")
        numbered = pl.DataFrame({"time": time}).with_row_index("row")
        return self.take(numbered.sort("time", maintain_order=True)["row"].to_numpy())

    def matches(self) -> Matches:
        """Return the pair counts, with sides and clusters; agents without games are left out."""
        used = np.unique(np.concatenate([self.first, self.second]))
        place = np.full(len(self.agents), -1)
        place[used] = np.arange(used.size)
        i, j = place[self.first], place[self.second]
        flip = i > j
        low, high = np.minimum(i, j), np.maximum(i, j)
        code, pair = np.unique(low * used.size + high, return_inverse=True)
        won = np.where(flip, self.losses, self.wins), self.draws, np.where(flip, self.wins, self.losses)

        def total(index: Ints, size: int, *parts: Floats) -> Floats:
            return np.stack([np.bincount(index, part, minlength=size) for part in parts or won], axis=1)

        counts = total(pair, code.size)
        sided = ~self.neutral if self.neutral is not None else np.ones(len(flip), dtype=bool)
        where = np.where(sided, pair + code.size * flip, 2 * code.size)
        sides = total(where, 2 * code.size + 1)
        split = None
        if self.cluster is not None:
            key, group = np.unique(self.cluster * code.size + pair, return_inverse=True)
            parts = total(group, key.size)
            split = Clusters(
                size=int(self.cluster.max()) + 1, cluster=key // code.size, pair=key % code.size,
                wins=parts[:, 0], draws=parts[:, 1], losses=parts[:, 2],
            )  # fmt: skip
        return Matches(
            agents=tuple(self.agents[k] for k in used),
            pairs=np.stack(np.divmod(code, used.size), axis=1),
            wins=counts[:, 0],
            draws=counts[:, 1],
            losses=counts[:, 2],
            fractions=None if self.fractions is None else total(pair, code.size, self.fractions)[:, 0],
            sides=Sides(first=sides[: code.size], second=sides[code.size : 2 * code.size]),
            clusters=split,
            origin=self.origin,
        )

    def table(self) -> Table:
        """Return a row per game."""
        more = {} if self.time is None else {"time": self.time}
        more |= self.covariates
        return Table(
            title=title_of(self),
            columns=tuple(Column(name=name) for name in ("first", "second", "outcome", "weight", *more)),
            rows=tuple(
                (
                    self.agents[self.first[k]],
                    self.agents[self.second[k]],
                    float((self.wins[k] + self.draws[k] / 2) / weight) if weight else None,
                    float(weight),
                    *(values[k] if name != "time" else str(values[k]) for name, values in more.items()),
                )
                for k, weight in enumerate(self.weight[:1000])
            ),
        )

    def __repr__(self) -> str:
        columns = f", covariates {', '.join(self.covariates)}" if self.covariates else ""
        return f"Games({len(self.agents):,} agents, {count_of(self.n_games, 'games')}{columns})"


def number_clusters(names: pl.Series) -> Ints:
    """Return a number for each value, in their order; a row without one is a cluster of its own."""
    known = names.rank("dense").fill_null(0).to_numpy().astype(np.intp) - 1
    alone = known < 0
    known[alone] = known.max() + 1 + np.arange(alone.sum())
    return np.asarray(known)
