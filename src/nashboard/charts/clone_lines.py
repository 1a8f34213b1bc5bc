"""The stress test as lines: the rank of each agent against the number of clones entered, method by method."""

from typing import Any

import altair as alt
import numpy as np

from nashboard._text import listed, shortened
from nashboard.charts.rows import checked_kind, inline, text
from nashboard.charts.theme import Chart, titled
from nashboard.evaluation.stress.experiment import LABELS, MethodResult
from nashboard.evaluation.stress.stress import Stress

WIDTH, HEIGHT = 200, 260
COLOURED = 6  # winners with a colour of their own; there are no more that anybody can tell apart
ALL = 40  # ranks that are drawn in any case
SPREAD = 0.06  # of a rank, by which those that tie are drawn beside each other: no more, or it reads as an order
NAMED, NAME = 3, 12  # names in the note on a tie, and characters of each
NOTE = 20  # pixels that a note needs above its line


def stress(found: Stress) -> Chart:
    """Draw ranks against the number of clones entered, for uniform, Elo and Nash averages side by side.

    Whoever is first at any time has a colour; everybody else is grey. Those who tie are drawn
    as one bundle, and a note at its end names them.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.stress(nb.load_dataset("rock-paper-scissors"), of=["C"], draws=0, targets=[])
    >>> chart = nb.charts.stress(found)
    """
    checked_kind(found, Stress, "stress", "the function stress returned")
    steps = [(0, standing) for standing in found.before] + [(row.copies, row.after) for row in found.exact]
    winners = ever_first([standing for _, standing in steps])
    floor = deepest(steps, winners)
    near = {standing.names[k] for _, standing in steps for k in np.flatnonzero(standing.ranks <= floor)}
    rows = [
        row for copies, standing in steps for row in standing_rows(copies, standing, winners) if row["name"] in near
    ]
    methods = list(dict.fromkeys(standing.method for _, standing in steps))
    counts = [f"{copies:,}" for copies in dict.fromkeys(copies for copies, _ in steps)]
    notes = tie_notes(steps, winners)
    ticks = sorted({1, *(int(t) for t in np.linspace(1, floor, min(floor, 5)).round())})
    panels = []
    for at, method in enumerate(methods):
        data, ties = (inline([row for row in some if row["method"] == method]) for some in (rows, notes))
        one = panel(data, LABELS[method], winners, counts, floor, ticks, first=at == 0, others=len(near) > len(winners))
        panels.append(one + tied(ties, counts, floor) if ties.values else one)
    chart = alt.hconcat(*panels, spacing=22).resolve_scale(color="shared")
    of = listed([shortened(name, 30) for name in found.cloned], 2).replace("'", "")
    held = "stay where they are" if found.nash_unmoved else "move as well"
    title = f"Enter copies of {of}: other boards move, Nash averages {held}"
    by = ", ".join(LABELS[method] for method in methods)
    return titled(
        chart,
        title if moved(found) else f"Copies of {of} move no rank here",
        [f"Rank of each of the {found.board} as exact copies are entered; first place is at the top.",
         f"What is copied was {found.choice}.",
         "Coloured: agents that are first at some point; all others are grey. Lines in one bundle share a rank."],
        f"Ranks of {found.size:,} {found.board} against the number of copies of {of}, by {by}. "
        + " ".join(found.verdict()),
    )  # fmt: skip


def deepest(steps: list[tuple[int, MethodResult]], winners: list[str]) -> int:
    """Return the lowest rank that is drawn: all of a short board, of a long one as far as the coloured ever fall."""
    last = max(int(standing.ranks.max()) for _, standing in steps)
    place = [k for k, name in enumerate(steps[0][1].names) if name in set(winners)]
    fall = max(int(standing.ranks[place].max()) for _, standing in steps)
    return last if last <= ALL else min(last, max(fall + 2, ALL))


def moved(found: Stress) -> bool:
    """Say whether copies moved any rank under any method."""
    return any(row.moved.rank_moved or row.moved.winner_changed for row in found.exact)


def ever_first(standings: list[MethodResult]) -> list[str]:
    """Return who is first at some time, those that are so alone and early before others."""
    firsts: dict[str, float] = {}
    for standing in standings:
        for name in standing.winners:
            firsts[name] = firsts.get(name, 0.0) + 1 / len(standing.winners)
    place = {name: k for k, name in enumerate(standings[0].names)}
    return sorted(sorted(firsts, key=lambda name: (-firsts[name], place[name]))[:COLOURED], key=place.__getitem__)


def standing_rows(copies: int, standing: MethodResult, winners: list[str]) -> list[dict[str, Any]]:
    """Return a row per agent: its rank, and where it is drawn among those that share it."""
    rows = []
    shown = set(winners)
    # the coloured are drawn in one order everywhere, so that lines that tie do not cross
    for rank in np.unique(standing.ranks):
        tied = [int(k) for k in np.flatnonzero(standing.ranks == rank)]
        tied.sort(key=lambda k: (standing.names[k] not in shown, k))
        for place, k in enumerate(tied):
            name = standing.names[k]
            rows.append(
                {
                    "copies": f"{copies:,}",
                    "method": standing.method,
                    "name": name,
                    "rank": int(rank),
                    "place": int(rank) + (SPREAD * 2 * place / (len(tied) - 1) - SPREAD if len(tied) > 1 else 0.0),
                    "who": name if name in shown else "others",
                    "winner": name in shown,
                    "tie": "alone" if len(tied) == 1 else f"with {len(tied) - 1:,} more",
                }
            )
    return rows


def tie_notes(steps: list[tuple[int, MethodResult]], winners: list[str]) -> list[dict[str, Any]]:
    """Return a note per method and rank that several of the coloured share in the end: ``A = B = C``."""
    rows = []
    for copies, standing in {standing.method: (copies, standing) for copies, standing in steps}.values():
        for rank in np.unique(standing.ranks):
            held = {standing.names[k] for k in np.flatnonzero(standing.ranks == rank)}
            coloured = [name for name in winners if name in held]
            if len(coloured) > 1:
                said = [shortened(name, NAME) for name in coloured[: NAMED if len(held) == NAMED else NAMED - 1]]
                rest = len(held) - len(said)
                rows.append(
                    {
                        "copies": f"{copies:,}",
                        "method": standing.method,
                        "rank": int(rank),
                        "said": " = ".join([*said, f"{rest:,} more"] if rest else said),
                        "names": " = ".join(coloured),
                    }
                )
    return rows


def tied(notes: alt.InlineData, counts: list[str], last: int) -> Any:
    """Return the notes on ties, at the right end above their lines, or below where first place has no room above."""
    above = 0.6 / (last + 0.2) * HEIGHT >= NOTE
    return alt.Chart(notes).mark_text(
        style="name", align="right", dx=5, dy=-11 if above else 9, baseline="bottom" if above else "top"
    ).encode(
        x=alt.X("copies:O", sort=counts), y=alt.Y("rank:Q"), text="said:N", tooltip=[text("names", "share a rank")]
    )  # fmt: skip


def panel(
    data: alt.InlineData,
    title: str,
    domain: list[str],
    counts: list[str],
    last: int,
    ticks: list[int],
    *,
    first: bool,
    others: bool,
) -> Any:
    """Return the picture of one method."""
    base = alt.Chart(data)
    x = alt.X("copies:O", sort=counts, title="copies entered", axis=alt.Axis(labelAngle=0))
    y = alt.Y(
        "place:Q",
        title="rank" if first else None,
        scale=alt.Scale(domain=[0.4, last + 0.6], reverse=True, nice=False, zero=False),
        axis=alt.Axis(values=ticks, format="d", labels=first, ticks=False),
    )
    colour = alt.Color(
        "who:N", title=None, scale=alt.Scale(domain=domain, range="category"),
        legend=alt.Legend(orient="bottom", columns=3, symbolType="stroke"),
    )  # fmt: skip
    tips = [text("name", "agent"), alt.Tooltip("rank:Q", title="rank"), text("tie", "holds it"),
            text("copies", "copies entered")]  # fmt: skip
    lines = base.transform_filter("datum.winner")
    return alt.layer(
        *(
            base.transform_filter("!datum.winner").mark_line(style="tail", strokeWidth=1, clip=True).encode(
                x=x, y=y, detail="name:N", tooltip=tips
            )
            for _ in range(others)
        ),
        lines.mark_line(strokeWidth=3).encode(x=x, y=y, color=colour, detail="name:N", tooltip=tips),
        lines.mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, color=colour, tooltip=tips),
    ).properties(width=WIDTH, height=HEIGHT, title=alt.TitleParams(title, fontSize=13, offset=6))  # fmt: skip
