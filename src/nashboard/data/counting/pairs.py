"""Counting matches where the data is.

One lazy expression reads the outcome, applies filters and weights, and counts per pair of agents; it runs in the
table's own engine, and only the pair counts come back. What is wrong in a row is counted in the same pass, and only
then looked for.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import narwhals as nw
import polars as pl

from nashboard._text import shortened
from nashboard.data.counting.outcomes import (
    ZERO_OR_ONE,
    Question,
    Rules,
    SeenLabel,
    Unknown,
    Vocabulary,
    check_rules,
    describe_idle_rule,
    find_idle_rules,
    fold_label,
    learn_vocabulary,
    refuse_ambiguous,
)
from nashboard.data.table.exact_sums import Totals
from nashboard.data.table.table import Table, column
from nashboard.data.table.values import (
    MISSING,
    NO,
    YES,
    Filter,
    as_key,
    as_lower,
    as_number,
    as_text,
    find_cells,
    groups_as_text,
    is_blank,
    is_sound_weight,
    number_filters,
    spell_columns,
)
from nashboard.errors import InputError

SAMPLE = 10_000  # rows from which the meaning of labels is learnt; later surprises are caught by the count
UNKNOWN = 2  # the code of a cell that is neither true nor false


@dataclass(frozen=True, kw_only=True)
class MatchTable:
    """A table with one row per match (or per weighted group of matches), and which column is what."""

    table: Table
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
    self_matches: Literal["error", "drop"] | None = None
    notes: tuple[str, ...] = ()
    certain: bool = False  # the outcome was worked out by a format, and cannot be the name of an agent
    # games, unit: rows that a format made of each row of its table, and what is left out, where it is not a row
    games: int = 1
    unit: str = "rows"
    segment: str | None = None  # the column of segments: each is counted apart, in the same pass
    # columns that are wanted of each game, where games one by one are wanted and not counts
    rows: tuple[str, ...] | None = None
    grouped: bool = False
    skip_bad: bool = False  # rows that cannot be used are left out and counted; otherwise they are an error
    # columns that a format made up, and the user's columns that they are made of
    made: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    folded: bool = False  # winners are compared with the names of agents without regard to case
    rates: bool = False  # outcomes are win rates, and weights the numbers of their games

    @property
    def source(self) -> str:
        """What the user calls the table."""
        return self.table.name

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        """The rows."""
        return self.table.frame

    def keep(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return the rows that the filters keep."""
        return frame.filter(*(rule.keep for rule in self.filters)) if self.filters else frame

    def is_named(self, frame: nw.LazyFrame[Any], side: str) -> nw.Expr:
        """Return where the outcome is the name of the agent on a side."""
        spelt = as_lower if self.folded else as_text
        return spelt(frame, self.outcome).fill_null("") == spelt(frame, side)

    def with_table(self, table: Table) -> "MatchTable":
        """Return the same matches in other rows."""
        return replace(self, table=table)

    def skip_rows(self, bad: nw.Expr, why: str) -> "MatchTable":
        """Return the same matches without the bad ones among the rows that the filters keep."""
        kept = bad & (number_filters(self.filters) == 0) if self.filters else bad
        return self.with_table(self.table.skip_rows(kept, why))

    def count(self, words: Vocabulary | None) -> pl.DataFrame:
        """Count the pairs; without words the outcome column holds numbers."""
        counts = spell_columns(self.table.sum_up(make_totals(self, words)), self.key_kinds)
        return counts if self.filters else counts.with_columns(left_out=pl.lit(0))

    @property
    def keys(self) -> dict[str, str]:
        """What the rows are grouped by, and the columns that this is made of."""
        named = {"first": self.a, "second": self.b, "cluster": self.cluster, "segment": self.segment}
        return {key: name for key, name in named.items() if name is not None}

    @property
    def key_kinds(self) -> dict[str, nw.dtypes.DType]:
        """What is grouped by, and the types of the columns that this is made of."""
        schema = self.table.schema
        return {key: schema[name] for key, name in self.keys.items()}

    def describe_first_row(self, condition: nw.Expr) -> str:
        """Return ``data row 3, 'x' against 'y'``, the first kept row with a condition; not every engine has numbers."""
        found = find_cells(replace(self.table, frame=self.keep(self.frame)), condition, (self.a, self.b))
        if found is None:
            return ""
        pair = " against ".join(repr(shortened(name or "")) for name in found[1:])
        return f"data row {found[0]:,}, {pair}" if found[0] else pair


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """What came back: one row per ordered pair (and cluster, and filter), with everything counted.

    ``words`` is what labels mean, None where outcomes are numbers.
    """

    table: MatchTable
    counts: pl.DataFrame
    words: Vocabulary | None


def count_pairs(table: MatchTable) -> PairCounts:
    """Count the matches of a table; labels that nobody knows are an error, unless bad rows are skipped."""
    if table.skip_bad:
        table = skip_bad_rows(table)
    rules = with_booleans(check_rules(table.rules), table.table.schema[table.outcome])
    asked = Question(
        a=table.a, b=table.b, outcome=table.outcome, source=table.source, certain=table.certain, skippable=True
    )
    numbers = with_numbers(table, outcome=not rules)
    if numbers.table.schema[table.outcome].is_numeric() and not rules:
        seen = list_labels(numbers, numbers.frame.head(SAMPLE))
        refuse_ambiguous(seen, rules, asked)  # agents called 0 and 1
        counts = numbers.count(None)
        if asked.may_name_places and {fold_label(entry.label) for entry in seen} <= ZERO_OR_ONE:
            seen = list_labels(numbers, numbers.frame)
        if count_unexplained(counts) == 0 and not asked.are_places(seen):
            note = f"numbers in {table.outcome!r} are the share of the point that {table.a!r} takes"
            notes = numbers.notes if table.certain else (*numbers.notes, note)
            return PairCounts(table=replace(numbers, notes=notes), counts=counts, words=None)
    # Labels: learn what they mean from the first rows, and if that does not explain all rows, from all.
    words = with_numbers(table, outcome=False)
    with contextlib.suppress(InputError):  # an error is raised below, with the counts of all rows
        seen = list_labels(words, words.frame.head(SAMPLE))
        known = learn_vocabulary(seen, rules, asked)
        counts = words.count(known)
        if count_unexplained(counts) == 0:  # so all rows have labels of the first, or the names of their agents
            return with_idle_rules(words, counts, seen, known)
    seen = list_labels(words, words.frame)
    if any(entry.label == table.outcome for entry in seen):  # a frame read from files that were put together
        plain = table.table.skip_headers((table.a, table.b, table.outcome))
        if plain is not table.table:
            return count_pairs(table.with_table(plain))
    if not words.certain and (found := count_folded(words, seen, rules, asked)) is not None:
        return found
    if not table.skip_bad and any(not entry.label for entry in seen):
        table.table.explain()  # a row that is too short is likelier than a missing outcome

    def find_first(unknown: Unknown, label: str) -> str:
        return words.describe_first_row(has_unknown(words, unknown, [label]))

    asked = replace(asked, where=find_first)
    skipped: list[Unknown] | None = [] if table.skip_bad else None
    known = learn_vocabulary(seen, rules, asked, skipped)
    for unknown in skipped or ():
        labels = sorted(unknown.rows, key=lambda label: (-unknown.rows[label], label))
        shown = ", ".join(repr(shortened(label)) if label else "nothing" for label in labels[:3])
        words = words.skip_rows(has_unknown(words, unknown, labels), f"unknown outcome: {shown}")
    return with_idle_rules(words, words.count(known), seen, known)


def count_folded(
    table: MatchTable, exact: list[SeenLabel], rules: Mapping[str, float | None], asked: Question
) -> PairCounts | None:
    """Count a table whose winners are named in another case than the agents; None where case makes no difference."""
    with contextlib.suppress(InputError):
        learn_vocabulary(exact, rules, asked)
        return None
    note = f"{table.outcome!r} names winners in another case than {table.a!r} and {table.b!r}"
    folded = replace(table, folded=True, notes=(*table.notes, note))
    seen = list_labels(folded, folded.frame)
    if any(entry.is_first and entry.is_second for entry in seen):  # two agents whose names differ in case alone
        return None
    with contextlib.suppress(InputError):
        known = learn_vocabulary(seen, rules, asked)
        if known.by_name:
            return with_idle_rules(folded, folded.count(known), seen, known)
    return None


def skip_bad_rows(table: MatchTable) -> MatchTable:
    """Return the matches without rows that lack a name or a sound weight, or mark a neutral place by another word."""
    for side in (table.a, table.b):
        table = table.skip_rows(is_blank(table.frame, side), f"no agent name in {side!r}")
    if (weight := table.weight) is not None:
        sound = is_sound_weight(as_number(table.frame, weight))
        bad = indicate(sound, one=0, zero=1) == 1
        table = table.skip_rows(bad, f"no weight of at least 0 in {weight!r}")
    if table.neutral is not None:
        bad = code_neutral(table.frame, table.neutral) == UNKNOWN
        table = table.skip_rows(bad, f"neither true nor false in {table.neutral!r}")
    return table


def with_idle_rules(table: MatchTable, counts: pl.DataFrame, seen: list[SeenLabel], words: Vocabulary) -> PairCounts:
    """Return the counts, with a note about every rule for a label that no row has."""
    idle = find_idle_rules(table.rules, seen)
    if idle:  # labels that are names of agents may stand behind the first rows
        agents = pl.concat([counts["first"], counts["second"]]).drop_nulls().unique()
        names = set(map(fold_label, agents))
        idle = [label for label in idle if fold_label(label) not in names]
    rows = "row that is kept" if table.filters else "row"
    notes = [describe_idle_rule(label, table.rules, seen, rows=rows) for label in idle]
    return PairCounts(table=replace(table, notes=(*table.notes, *notes)), counts=counts, words=words)


def with_booleans(rules: Mapping[str, float | None], kind: nw.dtypes.DType) -> dict[str, float | None]:
    """Return rules that know 1 and 0 for true and false, in a column of booleans or of numbers, as ``where=`` does."""
    if kind != nw.Boolean and not kind.is_numeric():
        return dict(rules)
    other = {fold_label("1"): "true", fold_label("0"): "false", "true": fold_label("1"), "false": fold_label("0")}
    return {other[label]: rule for label, rule in rules.items() if label in other} | dict(rules)


def count_unexplained(counts: pl.DataFrame) -> int:
    """Return how many kept rows have an outcome that the count could not use."""
    return int(counts.filter(pl.col("left_out") == 0).select(pl.col("rows") - pl.col("understood")).sum().item())


def with_numbers(table: MatchTable, *, outcome: bool) -> MatchTable:
    """Turn columns that must hold numbers, but were read as text from a file, into numbers; failures are null."""
    native = table.frame.to_native()
    if table.table.kind is None or not isinstance(native, pl.LazyFrame):
        return table
    schema = table.table.schema
    wanted = []
    for name in (table.outcome if outcome else None, table.time):
        if name is not None and schema[name] == nw.String:
            sample = table.table.collect(table.frame.select(name).head(SAMPLE))[name].drop_nulls()
            if len(sample) and not sample.cast(pl.Float64, strict=False).null_count():
                wanted.append(name)
    if not wanted:
        return table
    cast = nw.from_native(native.with_columns(pl.col(wanted).cast(pl.Float64, strict=False)))
    return table.with_table(replace(table.table, frame=cast))


def label_text(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return a column of labels as text, empty where it is missing."""
    return as_text(frame, name).fill_null("")


def has_unknown(table: MatchTable, unknown: Unknown, labels: list[str]) -> nw.Expr:
    """Return which rows have one of these labels that nobody knows there."""
    label = label_text(table.frame, table.outcome)
    bad = label.is_in(labels)
    for side in (table.a, table.b) if unknown.by_name else ():
        bad &= indicate(table.is_named(table.frame, side)) == 0
    return bad


def list_labels(table: MatchTable, frame: nw.LazyFrame[Any]) -> list[SeenLabel]:
    """Return the distinct labels of the rows that are kept, and whether they are names of the agents there."""
    frame = table.keep(frame)
    labels = frame.select(
        label=label_text(frame, table.outcome),
        is_first=indicate(table.is_named(frame, table.a)),
        is_second=indicate(table.is_named(frame, table.b)),
    )
    rows = table.table.collect(labels.group_by("label", "is_first", "is_second").agg(rows=nw.len()))
    return [
        SeenLabel(label=label, is_first=bool(first), is_second=bool(second), rows=count)
        for label, first, second, count in rows.sort("label", "is_first", "is_second").rows()
    ]


def make_rows(table: MatchTable, words: Vocabulary | None, more: Mapping[str, nw.Expr]) -> nw.LazyFrame[Any]:
    """Return the rows of a table as shares of a point; without words its outcome column holds numbers."""
    frame = table.frame
    # PostgreSQL takes 1.0 for an exact decimal: only a cast makes it a floating-point number
    weight = nw.lit(1).cast(nw.Float64) if table.weight is None else as_number(frame, table.weight)
    split = split_number if words is None else split_name(words) if words.by_name else split_label(words)
    label = label_text(frame, table.outcome) if words else column(frame, table.outcome).cast(nw.Float64)
    columns = {name: as_key(frame, source) for name, source in table.keys.items()} | dict(more)
    columns |= {"left_out": number_filters(table.filters), "weight": weight, "label": label}
    if table.neutral is not None:
        columns["neutral"] = code_neutral(frame, table.neutral)
    if words and words.by_name:
        columns |= {"won": table.is_named(frame, table.a), "lost": table.is_named(frame, table.b)}
    if table.time is not None:
        columns["time"] = column(frame, table.time)
    sound_weight = is_sound_weight(nw.col("weight"))
    even = nw.col("weight") == nw.col("weight").round(0)
    uneven = {"uneven": indicate(even | nw.col("ignored"), one=0, zero=1)} if table.weighed else {}
    ignored = nw.col("label").is_in(list(words.ignored)) if words and words.ignored else nw.lit(False)

    win, draw, loss = nw.col("win"), nw.col("draw"), nw.col("loss")
    fraction = nw.when(nw.col("weight") <= 1).then(win * loss).otherwise(nw.lit(0.0))  # of more games it is a win rate
    if table.rates:
        win, draw, loss, fraction = win + draw / 2, 0.0 * draw, loss + draw / 2, 0.0 * draw

    def share(part: nw.Expr) -> nw.Expr:
        return nw.when(sound_weight & ~nw.col("ignored")).then(part * nw.col("weight")).otherwise(nw.lit(0.0))

    return (
        frame.select(**columns)
        .with_columns(ignored=ignored, **split(nw.col("label")))
        .with_columns(
            wins=share(win),
            draws=share(draw),
            losses=share(loss),
            fractions=share(fraction),
            understood=indicate((win + draw + loss > 0) | nw.col("ignored")),
            ignored=indicate(nw.col("ignored")),
            unsound=indicate(sound_weight, one=0, zero=1),
            **uneven,
        )
    )


def make_totals(table: MatchTable, words: Vocabulary | None) -> Totals:
    """Return what is summed up to count a table."""
    uneven = ("uneven",) if table.weighed else ()
    whole = table.weight is None and words is not None and not words.fractions
    shares, marks = ("wins", "draws", "losses"), ("understood", "ignored", "unsound", *uneven)
    squares = () if words is not None and not words.fractions else ("fractions",)
    return Totals(
        rows=make_rows(table, words, {}),
        keys=(*(["left_out"] if table.filters else []), *table.keys, *(["neutral"] if table.neutral else [])),
        sums=(*shares, *marks) if whole else marks,
        fractions=() if whole else (*shares, *squares),
        names=tuple(side for side in ("first", "second") if groups_as_text(table.key_kinds[side])),
        lowest={"earliest": "time"} if table.time is not None else {},
        highest={"latest": "time"} if table.time is not None else {},
    )


def code_neutral(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return 1 where a column says that a match was at a neutral place, 0 where it says not, else UNKNOWN."""
    word = as_lower(frame, name).fill_null("")
    other = nw.when(word.is_in([*NO, *MISSING])).then(nw.lit(0)).otherwise(nw.lit(UNKNOWN))
    return nw.when(word.is_in(YES)).then(nw.lit(1)).otherwise(other)


def indicate(condition: nw.Expr, *, one: int = 1, zero: int = 0) -> nw.Expr:
    """Return 1 where a condition is true and 0 where it is false or null."""
    return nw.when(condition).then(nw.lit(one)).otherwise(nw.lit(zero))


Parts = dict[str, nw.Expr]  # the shares of a point: win, draw, loss; all 0 where the outcome is not understood


def split_number(share: nw.Expr) -> Parts:
    """Return the parts for an outcome given as a number in [0, 1]; exactly one half is a draw."""
    fraction = (share >= 0) & (share <= 1) & (share != 0.5)
    return {
        "win": nw.when(fraction).then(share).otherwise(nw.lit(0.0)),
        "draw": nw.when(share == 0.5).then(nw.lit(1.0)).otherwise(nw.lit(0.0)),
        "loss": nw.when(fraction).then(1 - share).otherwise(nw.lit(0.0)),
    }


def split_label(words: Vocabulary) -> Callable[[nw.Expr], Parts]:
    """Return the parts for an outcome given as a label that says which side won."""

    def parts(label: nw.Expr) -> Parts:
        win: nw.Expr = is_one_of(label, words.labels(low=1, high=1))
        loss: nw.Expr = is_one_of(label, words.labels(low=0, high=0))
        for share in words.fractions:
            part = is_one_of(label, words.labels(low=share, high=share))
            win, loss = win + share * part, loss + (1 - share) * part
        return {"win": win, "draw": is_one_of(label, words.labels(low=0.5, high=0.5)), "loss": loss}

    return parts


def is_one_of(label: nw.Expr, words: list[str]) -> nw.Expr:
    """Return 1.0 where the label is one of the words."""
    return nw.when(label.is_in(words)).then(nw.lit(1.0)).otherwise(nw.lit(0.0)) if words else nw.lit(0.0)


def split_name(words: Vocabulary) -> Callable[[nw.Expr], Parts]:
    """Return the parts for an outcome given as the winner's own name."""

    def parts(label: nw.Expr) -> Parts:
        known = split_label(words)(label)
        won, lost = nw.col("won"), nw.col("lost")
        zero = nw.lit(0.0)
        return {
            "win": nw.when(won).then(nw.lit(1.0)).otherwise(nw.when(lost).then(zero).otherwise(known["win"])),
            "draw": nw.when(won | lost).then(zero).otherwise(known["draw"]),
            "loss": nw.when(lost & ~won).then(nw.lit(1.0)).otherwise(nw.when(won).then(zero).otherwise(known["loss"])),
        }

    return parts
