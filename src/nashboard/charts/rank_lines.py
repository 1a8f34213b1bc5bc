"""Ranks as lines: from one method to another, across many methods, and while copies are entered."""

from typing import Any, Literal

import altair as alt
import numpy as np

from nashboard._text import distinct_head, listed, shorten_to, shortened
from nashboard.charts.theme import ROW, Chart, checked_kind, checked_top, inline, layered, text, titled
from nashboard.errors import InputError
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.stress.experiment import LABELS, MethodResult
from nashboard.evaluation.stress.stress import Stress
from nashboard.ranking.trial import Trials

SLOPE_SIDES: tuple[tuple[str, Literal["left", "right"], int, int], ...] = (
    ("left", "right", -8, 0),
    ("right", "left", 8, 1),
)
SLOPE_NAME = 34  # characters of a name beside a line
WAYS = {"same": "tail", "down": "other", "up": "nash"}  # and how their lines look


def rank_changes(evaluation: Evaluation, *, top: int = 30) -> Chart:
    """Draw how ranks change from the rating (or the uniform average) to the Nash average.

    Parameters
    ----------
    evaluation
        What `evaluate` returned.
    top
        How many agents are drawn: the first by Nash average.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"), n_resamples=20)
    >>> chart = nb.charts.rank_changes(result)
    """
    checked_kind(evaluation, Evaluation, "rank_changes", "evaluate returned")
    top = checked_top(top)
    board = evaluation.board
    values = board.uniform if board.rating is None else board.rating.values
    _, first = np.unique(board.classes, return_index=True)  # copies take no place of their own, as on the board
    others = np.array([1 + (values[first] > value + 1e-12 * np.abs(values).max()).sum() for value in values])
    second = "uniform average" if board.rating is None else board.rating.name
    shown = board.order[:top]
    left = {int(k): place for place, k in enumerate(shown[np.argsort(others[shown], kind="stable")])}
    head = distinct_head([board.names[k] for k in shown], SLOPE_NAME)
    rows: list[dict[str, Any]] = []
    for right, k in enumerate(shown):
        before, after = int(others[k]), int(board.ranks[k])
        name = shorten_to(board.names[k], SLOPE_NAME, head)
        rows.append(
            {
                "name": board.names[k],
                "before": before,
                "after": after,
                "left": left[int(k)],
                "right": right,
                "left_label": f"{name}\u2002{before}",
                "right_label": f"{after}\u2002{name}",
                "way": "up" if after < before else "down" if after > before else "same",
                "moved": "stays" if after == before else f"{'up' if after < before else 'down'} {abs(after - before)}",
            }
        )
    n = len(rows)
    base = alt.Chart(inline(rows))
    tips = [text("name", "agent"), alt.Tooltip("before:Q", title=f"rank by {second}"),
            alt.Tooltip("after:Q", title="rank by Nash average"), text("moved", "moves")]  # fmt: skip
    scale = alt.Scale(domain=[-0.7, n - 0.3], reverse=True, nice=False, zero=False)
    axis = None
    x = alt.Scale(domain=[0, 1], nice=False)
    layers = [
        *(
            base.transform_filter(f"datum.way == '{way}'").mark_rule(style=style, strokeWidth=2).encode(
                x=alt.XDatum(0, scale=x, axis=axis, type="quantitative"), x2=alt.X2Datum(1),
                y=alt.Y("left:Q", scale=scale, axis=axis), y2=alt.Y2("right:Q"), tooltip=tips,
            )
            for way, style in WAYS.items()
            if any(row["way"] == way for row in rows)
        ),
        *(
            base.mark_text(style="name", align=align, dx=dx).encode(
                x=alt.XDatum(at, scale=x, axis=axis, type="quantitative"),
                y=alt.Y(f"{side}:Q", scale=scale, axis=axis), text=alt.Text(f"{side}_label:N"), tooltip=tips,
            )
            for side, align, dx, at in SLOPE_SIDES
        ),
    ]  # fmt: skip
    moved = sum(row["way"] != "same" for row in rows)
    call = board.call
    part = f"the first {n:,} of {len(board.names):,} {call} by Nash average" if n < len(board.names) else f"all {call}"
    of = f"of the first {n:,}" if n < len(board.names) else f"of {n:,}"
    title = f"{f'{moved:,}' if moved else 'None'} {of} {call} {'change' if moved > 1 else 'changes'} place"
    return titled(
        layered(*layers).properties(width=260, height=max(n, 2) * ROW),
        title,
        [f"Left: rank by {second}. Right: rank by Nash average. Shown: {part}.",
         "Blue: a better place by Nash average; orange: a worse one. Equal numbers on one side are exact ties."],
        f"Slope chart from ranks by {second} to ranks by Nash average for {part}: {title}.",
    )  # fmt: skip


BUMP_NAME = 28  # characters of a name beside a line
METHOD_STEP = 62  # pixels between methods
BOARD = "board"
BOLD = 3  # agents in first place on the board whose lines are thick; of more, none is


def method_ranks(trials: Trials, *, top: int = 15) -> Chart:
    """Draw the places of the agents by every method, from the board on the left.

    Parameters
    ----------
    trials
        What ``Evaluation.second_opinions()`` returned.
    top
        How many agents are drawn: the first on the board.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.evaluate(nb.load_dataset("alphago"))
    >>> chart = nb.charts.method_ranks(result.second_opinions(["nash", "borda", "schulze"]))
    """
    checked_kind(trials, Trials, "method_ranks", "Evaluation.second_opinions returned")
    top = checked_top(top)
    if not trials.ranked:
        raise InputError("no method applies to these data, so there is nothing to draw")
    agents = trials.agents
    order = np.argsort(trials.board_ranks, kind="stable")
    shown = order[:top]
    head = distinct_head([agents[k] for k in shown], BUMP_NAME)
    first = [k for k in order if agents[k] in trials.first] or [order[0]]
    bold = first if len(first) <= BOLD else []
    columns = [BOARD, *(one.method for one in trials.ranked)]
    ranks = [trials.board_ranks, *(one.ranking.ranks for one in trials.ranked if one.ranking is not None)]
    rows: list[dict[str, Any]] = []
    for column, by_method in zip(columns, ranks, strict=True):
        inside = shown[np.argsort(by_method[shown], kind="stable")]
        at = {int(k): height for height, k in enumerate(inside)}
        for k in shown:
            name = shorten_to(agents[k], BUMP_NAME, head)
            rows.append(
                {
                    "agent": agents[k],
                    "method": column,
                    "rank": int(by_method[k]),
                    "height": at[int(k)],
                    "left": f"{int(by_method[k])}\u2002{name}" if column == columns[0] else "",
                    "style": int(k in bold),
                }
            )
    n = len(shown)
    base = alt.Chart(inline(rows))
    x = alt.X("method:N", sort=columns, scale=alt.Scale(padding=0.3),
              axis=alt.Axis(orient="top", title=None, labelAngle=-40, domain=False, ticks=False))  # fmt: skip
    y = alt.Y("height:Q", axis=None, scale=alt.Scale(domain=[-0.7, n - 0.3], reverse=True, nice=False, zero=False))
    tips = [text("agent", "agent"), text("method", "method"), alt.Tooltip("rank:Q", title="rank")]
    lines = base.mark_line(strokeWidth=1.6, point=alt.OverlayMarkDef(size=36)).encode(x=x, y=y, tooltip=tips)
    coloured = lines.encode(detail=alt.Detail("agent:N"), color=alt.Color("agent:N", legend=None))
    others = coloured.transform_filter("datum.style == 0").encode(opacity=alt.OpacityValue(0.75))
    thick = (
        (coloured if len(bold) > 1 else lines)
        .transform_filter("datum.style == 1")
        .mark_line(strokeWidth=4, point=alt.OverlayMarkDef(size=70), **({} if len(bold) > 1 else {"style": "nash"}))
    )
    names = base.transform_filter("datum.left != ''").mark_text(style="name", align="right", dx=-10).encode(
        x=x, y=y, text=alt.Text("left:N"), tooltip=tips
    )  # fmt: skip
    named = " or ".join(shorten_to(agents[k], BUMP_NAME, head) for k in bold)
    title = f"{trials.agreeing:,} of {len(trials.ranked):,} methods " + (
        f"put {named} first" if named else "agree with the board on an agent in first place"
    )
    part = f"the first {n:,} of {len(agents):,} agents on the board" if n < len(agents) else "all agents"
    return titled(
        layered(others, thick, names).properties(width=len(columns) * METHOD_STEP, height=max(n, 2) * (ROW + 2)),
        title,
        [f"Each line is an agent, each column a method; higher is better. Shown: {part}.",
         "Lines that cross are agents that two methods order differently. Ties are drawn one below the other."],
        f"Bump chart of the places of {part} by {len(trials.ranked):,} methods: {title}.",
    )  # fmt: skip


WIDTH, HEIGHT = 200, 260
COLOURED = 6  # winners with a colour of their own; there are no more that anybody can tell apart
ALL = 40  # ranks that are drawn in any case
SPREAD = 0.06  # of a rank, by which those that tie are drawn beside each other: no more, or it reads as an order
NAMED, TIE_NAME = 3, 12  # names in the note on a tie, and characters of each
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
                said = [shortened(name, TIE_NAME) for name in coloured[: NAMED if len(held) == NAMED else NAMED - 1]]
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
        x=alt.X("copies:O", sort=counts), y=alt.Y("rank:Q"), text=alt.Text("said:N"),
        tooltip=[text("names", "share a rank")],
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
    tips = [text("name", "agent"), alt.Tooltip("rank:Q", title="rank"), text("tie", "agents at this rank"),
            text("copies", "copies entered")]  # fmt: skip
    lines = base.transform_filter("datum.winner")
    tails = base.transform_filter("!datum.winner").mark_line(style="tail", strokeWidth=1, clip=True).encode(
        x=x, y=y, detail=alt.Detail("name:N"), tooltip=tips
    )  # fmt: skip
    return layered(
        *([tails] if others else []),
        lines.mark_line(strokeWidth=3).encode(x=x, y=y, color=colour, detail=alt.Detail("name:N"), tooltip=tips),
        lines.mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, color=colour, tooltip=tips),
    ).properties(width=WIDTH, height=HEIGHT, title=alt.TitleParams(title, fontSize=13, offset=6))  # fmt: skip
