"""Ranks as lines: from one method to another, across many methods, and while copies are entered."""

from typing import Any, Literal

import altair as alt
import numpy as np

from nashboard._text import distinct_head, listed, shorten_to, shortened
from nashboard.charts.theme import ROW, Chart, add_title, check_kind, check_top, inline, layer, text
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
WAYS = {"same": "tail", "down": "other", "up": "nash"}  # the style of their lines


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
    check_kind(evaluation, Evaluation, "rank_changes", "evaluate returned")
    top = check_top(top)
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
    return add_title(
        layer(*layers).properties(width=260, height=max(n, 2) * ROW),
        title,
        [f"Left: rank by {second}. Right: rank by Nash average. Shown: {part}.",
         "Blue: a better place by Nash average; orange: a worse one. Equal numbers on one side are exact ties."],
        f"Slope chart from ranks by {second} to ranks by Nash average for {part}: {title}.",
    )  # fmt: skip


BUMP_NAME = 28  # characters of a name beside a line
METHOD_STEP = 62  # pixels between methods
BOARD = "board"
BOLD = 3  # agents in first place on the board with thick lines; if there are more, no line is thick


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
    check_kind(trials, Trials, "method_ranks", "Evaluation.second_opinions returned")
    top = check_top(top)
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
    return add_title(
        layer(others, thick, names).properties(width=len(columns) * METHOD_STEP, height=max(n, 2) * (ROW + 2)),
        title,
        [f"Each line is an agent, each column a method; higher is better. Shown: {part}.",
         "Lines that cross are agents that two methods order differently. Ties are drawn one below the other."],
        f"Bump chart of the places of {part} by {len(trials.ranked):,} methods: {title}.",
    )  # fmt: skip


WIDTH, HEIGHT = 200, 260
COLOURED = 6  # winners with a colour: more colours are hard to distinguish
ALL = 40  # ranks that are always drawn
SPREAD = 0.06  # of a rank: the distance of lines that tie; a larger one would look like an order
NAMED, TIE_NAME = 3, 12  # names in the note on a tie, and characters of each
NOTE = 20  # pixels that a note needs above its line


def stress(found: Stress) -> Chart:
    """Draw ranks against the number of clones entered, for uniform, Elo and Nash averages side by side.

    Agents that are first at any time have a colour; all others are grey. Agents that tie are drawn
    as one bundle, and a note at its end names them.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.stress(nb.load_dataset("rock-paper-scissors"), of=["C"], draws=0, targets=[])
    >>> chart = nb.charts.stress(found)
    """
    check_kind(found, Stress, "stress", "the function stress returned")
    steps = [(0, result) for result in found.before] + [(row.copies, row.after) for row in found.exact]
    winners = find_winners([result for _, result in steps])
    floor = lowest_rank(steps, winners)
    near = {result.names[k] for _, result in steps for k in np.flatnonzero(result.ranks <= floor)}
    rows = [row for copies, result in steps for row in rank_rows(copies, result, winners) if row["name"] in near]
    methods = list(dict.fromkeys(result.method for _, result in steps))
    counts = [f"{copies:,}" for copies in dict.fromkeys(copies for copies, _ in steps)]
    notes = tie_notes(steps, winners)
    ticks = sorted({1, *(int(t) for t in np.linspace(1, floor, min(floor, 5)).round())})
    panels = []
    for at, method in enumerate(methods):
        data, ties = (inline([row for row in some if row["method"] == method]) for some in (rows, notes))
        some_grey = len(near) > len(winners)
        one = draw_panel(data, LABELS[method], winners, counts, floor, ticks, first=at == 0, others=some_grey)
        panels.append(one + draw_ties(ties, counts, floor) if ties.values else one)
    chart = alt.hconcat(*panels, spacing=22).resolve_scale(color="shared")
    of = listed([shortened(name, 30) for name in found.cloned], 2).replace("'", "")
    nash_text = "stay where they are" if found.nash_unmoved else "move as well"
    title = f"Enter copies of {of}: other boards move, Nash averages {nash_text}"
    by = ", ".join(LABELS[method] for method in methods)
    return add_title(
        chart,
        title if has_moved(found) else f"Copies of {of} move no rank here",
        [f"Rank of each of the {found.board} as exact copies are entered; first place is at the top.",
         f"What is copied was {found.choice}.",
         "Coloured: agents that are first at some point; all others are grey. Lines in one bundle share a rank."],
        f"Ranks of {found.size:,} {found.board} against the number of copies of {of}, by {by}. "
        + " ".join(found.verdict()),
    )  # fmt: skip


def lowest_rank(steps: list[tuple[int, MethodResult]], winners: list[str]) -> int:
    """Return the lowest rank that is drawn: that of a short board, or the lowest one of a coloured agent."""
    last = max(int(result.ranks.max()) for _, result in steps)
    place = [k for k, name in enumerate(steps[0][1].names) if name in set(winners)]
    fall = max(int(result.ranks[place].max()) for _, result in steps)
    return last if last <= ALL else min(last, max(fall + 2, ALL))


def has_moved(found: Stress) -> bool:
    """Return whether copies moved any rank under any method."""
    return any(row.moved.rank_moved or row.moved.winner_changed for row in found.exact)


def find_winners(results: list[MethodResult]) -> list[str]:
    """Return the agents that are first at some time; of too many, those that are first most often and alone."""
    firsts: dict[str, float] = {}
    for result in results:
        for name in result.winners:
            firsts[name] = firsts.get(name, 0.0) + 1 / len(result.winners)
    place = {name: k for k, name in enumerate(results[0].names)}
    return sorted(sorted(firsts, key=lambda name: (-firsts[name], place[name]))[:COLOURED], key=place.__getitem__)


def rank_rows(copies: int, result: MethodResult, winners: list[str]) -> list[dict[str, Any]]:
    """Return a row per agent: its rank, and its position among the agents that share it."""
    rows = []
    shown = set(winners)
    # coloured agents have the same order everywhere, so that lines that tie do not cross
    for rank in np.unique(result.ranks):
        tied = [int(k) for k in np.flatnonzero(result.ranks == rank)]
        tied.sort(key=lambda k: (result.names[k] not in shown, k))
        for place, k in enumerate(tied):
            name = result.names[k]
            rows.append(
                {
                    "copies": f"{copies:,}",
                    "method": result.method,
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
    """Return a note per method and rank that several coloured agents share in the end: ``A = B = C``."""
    rows = []
    for copies, result in {result.method: (copies, result) for copies, result in steps}.values():
        for rank in np.unique(result.ranks):
            tied = {result.names[k] for k in np.flatnonzero(result.ranks == rank)}
            coloured = [name for name in winners if name in tied]
            if len(coloured) > 1:
                labels = [shortened(name, TIE_NAME) for name in coloured[: NAMED if len(tied) == NAMED else NAMED - 1]]
                rest = len(tied) - len(labels)
                rows.append(
                    {
                        "copies": f"{copies:,}",
                        "method": result.method,
                        "rank": int(rank),
                        "said": " = ".join([*labels, f"{rest:,} more"] if rest else labels),
                        "names": " = ".join(coloured),
                    }
                )
    return rows


def draw_ties(notes: alt.InlineData, counts: list[str], last: int) -> Any:
    """Draw the notes on ties at the right end of their lines, above them or, without room for first place, below."""
    above = 0.6 / (last + 0.2) * HEIGHT >= NOTE
    return alt.Chart(notes).mark_text(
        style="name", align="right", dx=5, dy=-11 if above else 9, baseline="bottom" if above else "top"
    ).encode(
        x=alt.X("copies:O", sort=counts), y=alt.Y("rank:Q"), text=alt.Text("said:N"),
        tooltip=[text("names", "share a rank")],
    )  # fmt: skip


def draw_panel(
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
    """Draw the panel of one method."""
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
    return layer(
        *([tails] if others else []),
        lines.mark_line(strokeWidth=3).encode(x=x, y=y, color=colour, detail=alt.Detail("name:N"), tooltip=tips),
        lines.mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, color=colour, tooltip=tips),
    ).properties(width=WIDTH, height=HEIGHT, title=alt.TitleParams(title, fontSize=13, offset=6))  # fmt: skip
