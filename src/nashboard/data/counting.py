"""Counting matches where the data is.

One lazy expression reads the outcome, applies filters and weights, and counts per pair of agents; it runs in
the frame's own engine, and only the pair counts come back. What is wrong in a row is counted in the same
pass, and only then looked for.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import narwhals as nw
import polars as pl

from nashboard.data.engines import collected, column, summed_up
from nashboard.data.outcomes import (
    Question,
    Rules,
    SeenLabel,
    Vocabulary,
    about_idle_rule,
    checked_rules,
    first_in,
    folded,
    idle_rules,
    refuse_ambiguous,
    vocabulary,
)
from nashboard.data.recoding import MISSING, NO, YES, lowered
from nashboard.data.scan import Scan
from nashboard.data.segments import Split
from nashboard.data.spelling import INFINITY, grouped_as_text, key, spelt, text
from nashboard.data.totals import Totals
from nashboard.errors import InputError

UNKNOWN = 2  # the code of a cell that is neither true nor false
SAMPLE = 10_000  # rows from which the meaning of labels is learnt; later surprises are caught by the count


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Rows to keep, and why the others are left out; a user's own names a column, and the values that were wanted."""

    keep: nw.Expr
    why: str
    column: str | None = None
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MatchTable:
    """A frame with one row per match (or per weighted group of matches), and which column is what."""

    frame: nw.LazyFrame[Any]
    source: str
    format: str
    a: str
    b: str
    outcome: str
    weight: str | None = None
    weighed: bool = False  # the weight is a column of the table, not a number of games that a format counted
    time: str | None = None
    cluster: str | None = None
    neutral: str | None = None  # the column that says that neither agent was the first side
    sided: bool = False  # the first agent of a row is the first side of the match: home, white, left
    filters: tuple[Filter, ...] = ()
    rules: Rules = field(default_factory=dict)
    self_matches: Literal["error", "drop"] = "error"
    scan: Scan | None = None
    notes: tuple[str, ...] = ()
    certain: bool = False  # the outcome was worked out by a format, and cannot be the name of an agent
    games: int = 1  # rows of the frame that a format made of each row of the table
    unit: str = "rows"  # what is left out, where it is not a row of the table
    split: Split | None = None  # the column of segments: each is counted apart, in the same pass

    def collect(self, query: nw.LazyFrame[Any]) -> pl.DataFrame:
        """Run a query in the frame's own engine; what comes back is small."""
        return collected(query, self.source, self.scan)

    def count(self, words: Vocabulary | None) -> pl.DataFrame:
        """Count the pairs; without words the outcome column holds numbers."""
        return spelt(summed_up(pair_counts(self, words), self.source, self.scan), self.key_kinds)

    @property
    def keys(self) -> dict[str, str]:
        """What the rows are grouped by, and the columns that this is made of."""
        named = {"first": self.a, "second": self.b, "cluster": self.cluster}
        found = {key: name for key, name in named.items() if name is not None}
        return found | ({"segment": self.split.column} if self.split is not None else {})

    @property
    def key_kinds(self) -> dict[str, nw.dtypes.DType]:
        """What is grouped by, and the kinds of the columns that this is made of."""
        schema = self.frame.collect_schema()
        return {key: schema[name] for key, name in self.keys.items()}


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """What came back: one row per ordered pair (and cluster, and filter), with everything counted.

    ``words`` is what labels mean, None where outcomes are numbers.
    """

    table: MatchTable
    counts: pl.DataFrame
    words: Vocabulary | None


def counted(table: MatchTable) -> PairCounts:
    """Count the matches of a table; labels that nobody knows are an error."""
    refuse_text_weights(table)
    rules = with_truths(checked_rules(table.rules), table.frame.collect_schema()[table.outcome])
    asked = Question(a=table.a, b=table.b, outcome=table.outcome, source=table.source, certain=table.certain)
    numbers = with_numbers(table, outcome=not rules)
    if numbers.frame.collect_schema()[table.outcome].is_numeric() and not rules:
        refuse_ambiguous(seen_labels(numbers, numbers.frame.head(SAMPLE)), rules, asked)  # agents called 0 and 1
        counts = numbers.count(None)
        if unexplained(counts) == 0:
            said = f"numbers in {table.outcome!r} are the share of the point that {table.a!r} takes"
            notes = numbers.notes if table.certain else (*numbers.notes, said)
            return PairCounts(table=replace(numbers, notes=notes), counts=counts, words=None)
    # Labels: learn what they mean from the first rows, and if that does not explain all rows, from all.
    words = with_numbers(table, outcome=False)
    with contextlib.suppress(InputError):  # an error is raised below, with the counts of all rows
        seen = seen_labels(words, words.frame.head(SAMPLE))
        known = vocabulary(seen, rules, asked)
        counts = words.count(known)
        if unexplained(counts) == 0:  # so all rows have labels of the first, or the names of their agents
            return with_idle_rules(words, counts, seen, known)
    seen = seen_labels(words, words.frame)
    if table.scan is not None and any(not entry.label for entry in seen):
        table.scan.explain()  # a row that is too short is likelier than a missing outcome
    asked = replace(asked, where=lambda label: first_row(words, label_of(words.frame, table.outcome) == label))
    known = vocabulary(seen, rules, asked)
    return with_idle_rules(words, words.count(known), seen, known)


def with_idle_rules(table: MatchTable, counts: pl.DataFrame, seen: list[SeenLabel], words: Vocabulary) -> PairCounts:
    """Return the counts, with a note about every rule for a label that no row has."""
    idle = idle_rules(table.rules, seen)
    if idle:  # labels that are names of agents may stand behind the first rows
        agents = pl.concat([counts["first"], counts["second"]]).drop_nulls().unique()
        names = set(map(folded, agents))
        idle = [label for label in idle if folded(label) not in names]
    rows = "row that is kept" if table.filters else "row"
    notes = [about_idle_rule(label, table.rules, seen, rows=rows) for label in idle]
    return PairCounts(table=replace(table, notes=(*table.notes, *notes)), counts=counts, words=words)


def with_truths(rules: Mapping[str, float | None], kind: nw.dtypes.DType) -> dict[str, float | None]:
    """Return rules that know 1 and 0 for true and false, in a column of truths or of numbers, as ``where=`` does."""
    if kind != nw.Boolean and not kind.is_numeric():
        return dict(rules)
    other = {folded("1"): "true", folded("0"): "false", "true": folded("1"), "false": folded("0")}
    return {other[label]: rule for label, rule in rules.items() if label in other} | dict(rules)


def refuse_text_weights(table: MatchTable) -> None:
    """Raise an error where weights are no numbers, although they could be; files of text and folders hold text only."""
    scan, weight = table.scan, table.weight
    if weight is None or (scan is not None and (scan.kind != "parquet" or weight in scan.folders)):
        return
    kind = table.frame.collect_schema()[weight]
    if not kind.is_numeric():
        raise InputError(
            f"{table.source!r}, column {weight!r} holds {kind}: a weight must be a number; cast the column to "
            f"numbers first, such as Float64 (in a database, with a query)"
        )


def unexplained(counts: pl.DataFrame) -> int:
    """Return how many kept rows have an outcome that the count could not use."""
    return int(counts.filter(pl.col("left_out") == 0).select(pl.col("rows") - pl.col("understood")).sum().item())


def with_numbers(table: MatchTable, *, outcome: bool) -> MatchTable:
    """Turn columns that must hold numbers, but were read as text from a file, into numbers; failures are null."""
    if table.scan is None:
        return table
    schema = table.frame.collect_schema()
    wanted = [name for name in (table.weight,) if name and schema[name] == nw.String]
    native = table.frame.to_native()
    for name in (table.outcome if outcome else None, table.time):
        if name is not None and schema[name] == nw.String:
            sample = table.scan.collect(native.select(name).head(SAMPLE))[name].drop_nulls()
            if len(sample) and not sample.cast(pl.Float64, strict=False).null_count():
                wanted.append(name)
    return replace(table, frame=nw.from_native(native.with_columns(pl.col(wanted).cast(pl.Float64, strict=False))))


def label_of(frame: nw.LazyFrame[Any], column: str) -> nw.Expr:
    """Return a column of labels as text, empty where it is missing."""
    return text(frame, column).fill_null("")


def seen_labels(table: MatchTable, frame: nw.LazyFrame[Any]) -> list[SeenLabel]:
    """Return the distinct labels of the rows that are kept, and whether they are names of the agents there."""
    for rule in table.filters:
        frame = frame.filter(rule.keep)
    labels = frame.select(
        label=label_of(frame, table.outcome), first=text(frame, table.a), second=text(frame, table.b)
    ).with_columns(
        is_first=nw.when(nw.col("label") == nw.col("first")).then(nw.lit(1)).otherwise(nw.lit(0)),
        is_second=nw.when(nw.col("label") == nw.col("second")).then(nw.lit(1)).otherwise(nw.lit(0)),
    )
    rows = table.collect(labels.group_by("label", "is_first", "is_second").agg(rows=nw.len()))
    return [
        SeenLabel(label=label, is_first=bool(first), is_second=bool(second), rows=count)
        for label, first, second, count in rows.sort("label", "is_first", "is_second").rows()
    ]


def pair_counts(table: MatchTable, words: Vocabulary | None) -> Totals:
    """Return what is summed up to count a table; without words its outcome column holds numbers."""
    # PostgreSQL takes 1.0 for an exact decimal: only a cast makes it a floating-point number
    weight = (nw.lit(1) if table.weight is None else column(table.frame, table.weight)).cast(nw.Float64)
    outcome = number_outcome if words is None else named_outcome(words) if words.by_name else label_outcome(words)
    label = label_of(table.frame, table.outcome) if words else column(table.frame, table.outcome).cast(nw.Float64)
    columns = {name: key(table.frame, source) for name, source in table.keys.items()}
    columns |= {"left_out": left_out(table.filters), "weight": weight, "label": label}
    if table.neutral is not None:
        columns["neutral"] = neutral_code(table.frame, table.neutral)
    if words and words.by_name:
        columns |= {"won": label == text(table.frame, table.a), "lost": label == text(table.frame, table.b)}
    if table.time is not None:
        columns["time"] = column(table.frame, table.time)
    sound_weight = (nw.col("weight") >= 0) & (nw.col("weight") < INFINITY)
    even = nw.col("weight") == nw.col("weight").round(0)
    uneven = {"uneven": indicator(even | nw.col("ignored"), one=0, zero=1)} if table.weighed else {}
    ignored = nw.col("label").is_in(list(words.ignored)) if words and words.ignored else nw.lit(False)
    parts = outcome(nw.col("label"))

    def share(part: nw.Expr) -> nw.Expr:
        return nw.when(sound_weight & ~nw.col("ignored")).then(part * nw.col("weight")).otherwise(nw.lit(0.0))

    rows = (
        table.frame.select(**columns)
        .with_columns(ignored=ignored, **parts)
        .with_columns(
            wins=share(nw.col("win")),
            draws=share(nw.col("draw")),
            losses=share(nw.col("loss")),
            understood=indicator((nw.col("win") + nw.col("draw") + nw.col("loss") > 0) | nw.col("ignored")),
            ignored=indicator(nw.col("ignored")),
            unsound=indicator(sound_weight, one=0, zero=1),
            **uneven,
        )
    )
    whole = table.weight is None and words is not None and not words.fractions
    shares, marks = ("wins", "draws", "losses"), ("understood", "ignored", "unsound", *uneven)
    return Totals(
        rows=rows,
        keys=("left_out", *table.keys, *(["neutral"] if table.neutral is not None else [])),
        sums=(*shares, *marks) if whole else marks,
        fractions=() if whole else shares,
        names=tuple(side for side in ("first", "second") if grouped_as_text(table.key_kinds[side])),
        lowest={"earliest": "time"} if table.time is not None else {},
        highest={"latest": "time"} if table.time is not None else {},
    )


def left_out(filters: tuple[Filter, ...]) -> nw.Expr:
    """Return the number of the first filter that a row fails, 0 where it passes all."""
    number: nw.Expr = nw.lit(0)
    for k, rule in reversed(list(enumerate(filters, start=1))):
        number = nw.when(rule.keep).then(number).otherwise(nw.lit(k))
    return number


def neutral_code(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return 1 where a column says that a match was at a neutral place, 0 where it says not, else UNKNOWN."""
    word = lowered(frame, name).fill_null("")
    return (
        nw.when(word.is_in(YES))
        .then(nw.lit(1))
        .otherwise(nw.when(word.is_in([*NO, *MISSING])).then(nw.lit(0)).otherwise(nw.lit(UNKNOWN)))
    )


def indicator(condition: nw.Expr, *, one: int = 1, zero: int = 0) -> nw.Expr:
    """Return 1 where a condition holds and 0 where it does not, or is null."""
    return nw.when(condition).then(nw.lit(one)).otherwise(nw.lit(zero))


Parts = dict[str, nw.Expr]  # the shares of a point: win, draw, loss; all 0 where the outcome is not understood


def number_outcome(share: nw.Expr) -> Parts:
    """Return the parts for an outcome given as a number in [0, 1]; exactly one half is a draw."""
    fraction = (share >= 0) & (share <= 1) & (share != 0.5)
    return {
        "win": nw.when(fraction).then(share).otherwise(nw.lit(0.0)),
        "draw": nw.when(share == 0.5).then(nw.lit(1.0)).otherwise(nw.lit(0.0)),
        "loss": nw.when(fraction).then(1 - share).otherwise(nw.lit(0.0)),
    }


def label_outcome(words: Vocabulary) -> Callable[[nw.Expr], Parts]:
    """Return the parts for an outcome given as a label that says which side won."""

    def parts(label: nw.Expr) -> Parts:
        win: nw.Expr = indicator_of(label, words.labels(low=1, high=1))
        loss: nw.Expr = indicator_of(label, words.labels(low=0, high=0))
        for share in words.fractions:
            part = indicator_of(label, words.labels(low=share, high=share))
            win, loss = win + share * part, loss + (1 - share) * part
        return {"win": win, "draw": indicator_of(label, words.labels(low=0.5, high=0.5)), "loss": loss}

    return parts


def indicator_of(label: nw.Expr, words: list[str]) -> nw.Expr:
    """Return 1.0 where the label is one of the words."""
    return nw.when(label.is_in(words)).then(nw.lit(1.0)).otherwise(nw.lit(0.0)) if words else nw.lit(0.0)


def named_outcome(words: Vocabulary) -> Callable[[nw.Expr], Parts]:
    """Return the parts for an outcome given as the winner's own name."""

    def parts(label: nw.Expr) -> Parts:
        known = label_outcome(words)(label)
        won, lost = nw.col("won"), nw.col("lost")
        zero = nw.lit(0.0)
        return {
            "win": nw.when(won).then(nw.lit(1.0)).otherwise(nw.when(lost).then(zero).otherwise(known["win"])),
            "draw": nw.when(won | lost).then(zero).otherwise(known["draw"]),
            "loss": nw.when(lost & ~won).then(nw.lit(1.0)).otherwise(nw.when(won).then(zero).otherwise(known["loss"])),
        }

    return parts


def first_row_with(table: MatchTable, condition: nw.Expr) -> str:
    """Say where the first row that is kept with a condition stands; nothing where rows have no numbers."""
    return first_in(first_row(table, condition))


def first_row(table: MatchTable, condition: nw.Expr) -> str:
    """Return ``data row 3``, the first row that is kept with a condition, or nothing where rows have no numbers.

    They have some in files whose rows are matches, not in frames, and not where a format made several games of a row.
    """
    if table.scan is None or table.games > 1:
        return ""
    numbered = nw.from_native(table.frame.to_native().with_row_index("nashboard_row", offset=1))
    for rule in table.filters:
        numbered = numbered.filter(rule.keep)
    first = table.scan.collect(numbered.filter(condition).select("nashboard_row").head(1).to_native())
    return f"data row {first.item():,}" if len(first) else ""
