"""One way to measure: us and the peers in one run, in turns, each in a fresh process; medians, spread and ratios.

A side is some Python. ``setup`` prepares imports and data and is not timed, ``code`` is, ``after`` sets ``answer``. The
first side of a comparison is the one that the others are compared with. A side that raises, answers wrongly, takes
longer than the limit or more memory than there is, is reported as such, with its version.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from child import Run, SideError, run
from results import Row, circumstances, interpreter, version

Size = Literal["tiny", "small", "full"]
Quality = Callable[[Any, Any], tuple[str, bool]]
FEWEST = 2  # turns, however long they take
LONG = 30.0  # seconds with preparation, after which a side has no more turns than these


@dataclass(frozen=True, kw_only=True)
class Side:
    """One program of a comparison. Its seconds count ``times`` times, where it does only a part of the work.

    ``quality`` judges it where it claims more, or less, than the others.
    """

    name: str
    code: str
    setup: str = ""
    after: str = ""
    package: str = "nashboard"
    environment: str = ""
    times: float = 1.0
    quality: Quality | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Sides on the same data; tasks of one ``series`` differ in ``size``, and show how the time grows.

    ``quality`` says how good an answer is, given the first side's, and whether it is right. ``again``: quick calls are
    timed several times in each process. ``pace``: what ``size`` counts, shown per second. ``linear``: the time
    grows at least with the size, so that two smaller sizes tell whether a peer would run into the limit.
    """

    what: str
    sides: list[Side]
    quality: Quality = field(default=lambda answer, _: ("", True))
    repeats: int = 3
    limit: float = 60.0
    again: bool = False
    series: str = ""
    size: float = 0.0
    pace: str = ""
    linear: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """A chapter of the page; ``unit`` says what the ratios are to."""

    name: str
    title: str
    about: str
    comparisons: Callable[[Size, Path], Iterator[Comparison]]
    unit: str = "ours"

    @property
    def head(self) -> Row:
        """What stands above the rows."""
        return {"title": self.title, "about": self.about, "unit": self.unit}


@dataclass(kw_only=True)
class Measured:
    """The runs of one side so far, and why there are no more."""

    side: Side
    runs: list[Run] = field(default_factory=list)
    failed: SideError | None = None
    spent: float = 0.0

    @property
    def enough(self) -> bool:
        """Whether a further turn would take too long, or be in vain."""
        return self.failed is not None or (self.spent > LONG and len(self.runs) >= FEWEST)


def compared(comparison: Comparison, before: list[Row], keep: Callable[[list[Row]], None]) -> list[Row]:
    """Measure all sides in turns and return their rows; ``keep`` gets what is known after each run.

    ``before`` are the rows of the section so far: who gave up on a smaller task of a series is not tried on a larger.
    """
    found = [Measured(side=side) for side in comparison.sides]
    when = circumstances()
    for one in found[1:]:
        reason = in_vain(comparison, one.side, before)
        one.failed = SideError(f"not tried: {reason}") if reason else None
    for turn in range(comparison.repeats):
        for one in found:
            if one.enough:
                continue
            progress(f"{comparison.what}: {one.side.name}, turn {turn + 1} of at most {comparison.repeats}")
            measure(one, comparison)
            keep(rows_of(comparison, found, when))
    progress("")
    return rows_of(comparison, found, when)


def in_vain(comparison: Comparison, side: Side, before: list[Row]) -> str:
    """Return why a side would not end in time, from what it took for smaller tasks; nothing where it may."""
    smaller = [
        row
        for row in before
        if comparison.series
        and (row.get("series"), row["who"]) == (comparison.series, side.name)
        and row["size"] < comparison.size
    ]
    for row in smaller:
        if row.get("hopeless"):
            return f"{row['failed'].removeprefix('not tried: ')}" + f" on {row['what']}"
    times = sorted((row["size"], row["seconds"], row["what"]) for row in smaller if "seconds" in row)
    if comparison.linear and len(times) > 1:
        (n, s, _), (m, t, what) = times[-2:]
        if t + (t - s) * (comparison.size - m) / (m - n) > comparison.limit:
            return f"{t:.3g} s on {what}, on the way to over {comparison.limit:g} s"
    return ""


def measure(one: Measured, comparison: Comparison) -> None:
    """Run a side once more."""
    side, began = one.side, time.monotonic()
    try:
        python = interpreter(side.environment)
        if not Path(python).exists():
            raise SideError("not installed here")
        one.runs.append(
            run(
                python,
                setup=side.setup,
                code=side.code,
                after=side.after,
                again=comparison.again,
                limit=comparison.limit,
            )
        )
    except SideError as error:
        one.failed = error
    one.spent += time.monotonic() - began


def rows_of(comparison: Comparison, found: list[Measured], when: Row) -> list[Row]:
    """Return the rows of the sides that were measured so far."""
    return [row_of(comparison, one, found[0], when) for one in found if one.failed or one.runs]


def row_of(comparison: Comparison, one: Measured, first: Measured, when: Row) -> Row:
    """Return one side's row: ratios to the first side, where that has an answer."""
    row: Row = {"what": comparison.what, "who": one.side.name}
    row["version"] = version(one.side.package, one.side.environment)
    if comparison.series:
        row |= {"series": comparison.series, "size": comparison.size}
    own = statistics.median(run.seconds for run in first.runs) * first.side.times if first.runs else None
    if one.failed:
        row |= {"failed": str(one.failed), "hopeless": one.failed.hopeless}
        if one.failed.limit and own:
            row["ratio at least"] = one.failed.limit * one.side.times / own
        return row | {"run": when}
    seconds = sorted(run.seconds * one.side.times for run in one.runs)
    cpu = statistics.median(run.cpu for run in one.runs) * one.side.times
    row |= {
        "seconds": statistics.median(seconds),
        "spread": [seconds[0], seconds[-1]],
        "cpu": cpu,
        "peak MB": known(max(run.peak for run in one.runs)),
        "new MB": known(max(run.new for run in one.runs)),
        "repeats": len(seconds),
    }
    if own:
        pairs = sorted(
            mine.seconds * one.side.times / (theirs.seconds * first.side.times)
            for mine, theirs in zip(one.runs, first.runs, strict=False)
        )
        row |= {"ratio": statistics.median(pairs), "ratios": [pairs[0], pairs[-1]]}
        worked = statistics.median(run.cpu for run in first.runs) * first.side.times
        row["cpu ratio"] = cpu / worked if worked else None
    answer = one.runs[-1].answer
    try:
        judge = one.side.quality or comparison.quality
        said, right = judge(answer, first.runs[-1].answer if first.runs else answer)
    except Exception as error:  # whatever a peer answers, it must not end the run
        said, right = f"an answer of another form, {type(error).__name__}: {error}"[:160], False
    said = said if right else f"WRONG: {said}"
    pace = f"{comparison.size / row['seconds'] / 1e6:.3g} million {comparison.pace} per second"
    row["quality"] = "; ".join(part for part in (pace if comparison.pace else "", said) if part)
    if isinstance(answer, dict) and len(answer) <= 8:
        row["answer"] = answer
    return row | {"run": when}


def known(value: float) -> float | None:
    """Return a number, or nothing where the system does not tell it."""
    return value if value == value else None


def progress(said: str) -> None:
    """Say on a terminal what is being measured, on one line that is written over."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{said[:110]}", end="", file=sys.stderr, flush=True)


def line(row: Row) -> str:
    """Return a row as a line of text."""
    head = f"{row['what']:42.42} {row['who']:30.30}"
    if "failed" in row:
        return f"{head} {row['failed']} ({row['version']})"
    ratio = f"{row['ratio']:9.2f} x" if "ratio" in row else "         - "
    held = f"{row['peak MB'] or 0:7.0f} MB"
    times = f"{row['seconds']:9.3g} s ({row['cpu']:.3g} CPU)"
    return f"{head} {ratio} {times:24} {held} {row['repeats']} times  {row['quality']}"
