"""Heat maps: payoffs, scores, probabilities and distances, in an order that shows the structure."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from nashboard._text import listed, number_of
from nashboard._types import Bools, Floats, Ints
from nashboard.algebra.operators import divergence, gradient
from nashboard.charts.theme import (
    Chart,
    add_title,
    cell_chart,
    check_kind,
    check_side,
    check_top,
    inline,
    layer,
    name_axis,
    name_rest,
    number,
    text,
)
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.errors import InputError, check_choice
from nashboard.evaluation.audit.audit import Audit, audit
from nashboard.evaluation.audit.redundancy import Redundancy
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.decide.compare import Superiority

ORDERS, PARTS = ("nash", "rating"), ("all", "cyclic")


def payoff_map(
    data: Payoffs | Matches | ArrayLike, *, order: str | Board = "nash", part: str = "all", top: int = 60
) -> Chart:
    """Draw who gains from whom: a row and a column per agent.

    Parameters
    ----------
    data
        `Payoffs`, `Matches` (their log-odds; pairs that never met stay empty) or an antisymmetric matrix.
    order
        ``"nash"``: by Nash average and weight; ``"rating"``: by the ratings that explain most; or a board that
        contains all agents, such as ``result.board``: in its order.
    part
        ``"all"``, or ``"cyclic"``: only the residual of ratings.
    top
        How many agents are drawn; payoffs against the others are averaged in one last row and column.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.payoff_map(nb.load_dataset("alphago"), part="cyclic")
    """
    if not isinstance(order, Board):
        order = check_choice(order, ORDERS, "order")
    part = check_choice(part, PARTS, "part")
    top = check_top(top)
    game, met = complete_payoffs(data)
    r = divergence(game.A)
    if isinstance(order, Board):
        place, by = order_by_board(order, game.agents), "place on the board"
    elif order == "nash":
        place, by = order_by_nash(game), "Nash average"
    else:
        place, by = np.argsort(-r, kind="stable"), "rating"
    A = game.A - gradient(r) if part == "cyclic" else game.A
    A = np.where(met, A, np.nan)
    names, A = fold_rest(game.agents, A, place, top)
    n = len(names)
    np.fill_diagonal(A, np.nan)  # nobody meets itself
    unit = {"logit": "log-odds", "given": "as given"}.get(game.scale, game.scale)
    what = "cyclic payoff" if part == "cyclic" else "payoff"
    tips = [text("row", "agent"), text("column", "against"), number("value", f"{what} ({unit})")]
    most = float(np.nanmax(np.abs(A), initial=0.0)) or 1.0
    colours = alt.Scale(domain=[-most, most], range="diverging", interpolate="lab")
    chart = draw_heat_map(names, names, A, colours, f"{what} ({unit})", tips, across="opponent", digits=5)
    share = cyclic_share(game.A, r)
    title = "Who gains from whom" if part == "all" else f"What ratings cannot explain: {share:.0%} of the payoffs"
    holes = int((~met).sum() / 2)
    lines = [f"Blue: the agent of the row gains; orange: it loses. Sorted by {by}, the best first."]
    if holes:
        lines.append(f"{number_of(holes, 'pair')} never met and stay empty.")
    if n < len(game.agents):
        lines.append(f"The last row and column are means over {len(game.agents) - n + 1:,} further agents.")
    count = number_of(len(game.agents), "agent")
    return add_title(chart, title, lines, f"Heat map of payoffs among {count}. {title}.")


def complete_payoffs(data: Any) -> tuple[Payoffs, Bools]:
    """Return complete payoffs, and a mask of those that were measured."""
    if isinstance(data, Matches):
        n = len(data.agents)
        met = np.eye(n, dtype=np.bool_)
        i, j = data.pairs.T
        met[i, j] = met[j, i] = True
        data.require_connected()
        return payoffs(data, fill="model"), met
    if isinstance(data, Scores):
        raise InputError("scores have no payoffs between agents: use score_map")
    game = data if isinstance(data, Payoffs) else Payoffs.from_array(data)
    return game, np.ones(game.A.shape, dtype=np.bool_)


def order_by_nash(game: Payoffs) -> Ints:
    """Return positions by Nash rank, then weight, then name."""
    found = nash_average(game)
    return np.array(sorted(range(len(game.agents)), key=lambda k: (found.ranks[k], -found.weights[k], game.agents[k])))


def order_by_board(board: Board, agents: tuple[str, ...]) -> Ints:
    """Return positions in the order of a board, which may contain more agents."""
    place = {board.names[k]: at for at, k in enumerate(board.order)}
    missing = [agent for agent in agents if agent not in place]
    if missing:
        raise InputError(f"the board does not contain {listed(missing)}: order by a board of these agents")
    return np.array(sorted(range(len(agents)), key=lambda k: place[agents[k]]))


def cyclic_share(A: Floats, r: Floats) -> float:
    """Return the share of the residual of ratings in the squared norm."""
    whole = float((A**2).sum())
    return float(((A - gradient(r)) ** 2).sum()) / whole if whole > 0 else 0.0


def fold_rest(names: tuple[str, ...], A: Floats, place: Ints, top: int) -> tuple[list[str], Floats]:
    """Return the first agents in order, and the means over the others in one last row and column."""
    shown, rest = place[:top], place[top:]
    kept = [names[k] for k in shown]
    if not len(rest):
        return kept, A[np.ix_(shown, shown)]
    B = np.full((len(shown) + 1,) * 2, np.nan)
    B[:-1, :-1] = A[np.ix_(shown, shown)]
    B[:-1, -1] = mean_of_known(A[np.ix_(shown, rest)])
    B[-1, :-1] = mean_of_known(A[np.ix_(rest, shown)].T)
    return [*kept, f"{name_rest(len(rest))} (mean)"], B


def mean_of_known(A: Floats) -> Floats:
    """Return the mean of the known values of each row; NaN for a row without any."""
    known = np.isfinite(A)
    count = known.sum(axis=1)
    return np.where(count > 0, np.where(known, A, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def draw_heat_map(
    names: Sequence[str],
    columns: Sequence[str],
    V: Floats,
    colours: alt.Scale,
    title: str,
    tips: list[alt.Tooltip],
    *,
    across: str | None = None,
    up: str | None = None,
    digits: int = 4,
    frames: Sequence[Any] = (),
) -> Any:
    """Draw a square per known cell of ``V``; ``frames`` are further layers."""
    base, known = cell_chart(names, columns, V, digits)
    x = alt.X("column:N", sort=None, axis=name_axis(across, 24, labelAngle=-50))
    y = alt.Y("row:N", sort=None, axis=name_axis(up))
    color = alt.Color("value:Q", title=title, scale=colours, legend=alt.Legend(orient="bottom", gradientLength=220))
    n = max(len(names), len(columns))
    size = alt.Step(26 if n <= 12 else 18 if n <= 30 else 13)  # names stay readable, and small maps stay small
    return (
        layer(
            base.mark_text(text="").encode(x=x, y=y),  # fixes the order, even if a first cell is empty
            base.transform_filter("isValid(datum.value)").mark_rect().encode(x=x, y=y, color=color, tooltip=tips),
            *frames,
        )
        .add_params(*known)
        .properties(width=size, height=size)
    )


def score_map(data: Scores | ArrayLike, *, top: int = 60) -> Chart:
    """Draw the table of scores: a row per agent and a column per task, both sorted by Nash average.

    Parameters
    ----------
    data
        `Scores`, scaled to [0, 1] per task unless they are scaled already, or an array, used as it is.
    top
        How many agents and tasks are drawn at most.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.score_map(nb.load_dataset("atari"))
    """
    top = check_top(top)
    scores = data if isinstance(data, Scores) else Scores.from_array(np.asarray(data)).scale("none")
    scores = scores.scale("range") if scores.scaling == "raw" else scores
    found = nash_average_scores(scores)
    agents = np.lexsort([-scores.values.mean(axis=1), found.agent_ranks])[:top]
    tasks = np.lexsort([scores.values.mean(axis=0), found.task_ranks])[:top]
    title = f"Scores of {number_of(len(scores.agents), 'agent')} on {number_of(len(scores.tasks), 'task')}"
    chart = draw_heat_map(
        [scores.agents[k] for k in agents],
        [scores.tasks[k] for k in tasks],
        scores.values[np.ix_(agents, tasks)],
        alt.Scale(range="heatmap"),
        f"score (scaling {scores.scaling})",
        [text("row", "agent"), text("column", "task"), number("value", "score")],
        across="task, the hardest first",
    )
    hidden = [
        f"the first {len(some):,} of {len(every):,} {what}"
        for some, every, what in ((agents, scores.agents, "agents"), (tasks, scores.tasks, "tasks"))
        if len(some) < len(every)
    ]
    lines = ["Sorted by Nash average: the best agents on top, the hardest tasks on the left."]
    if hidden:
        lines.append(f"Shown are {' and '.join(hidden)}.")
    return add_title(chart, title, lines, f"Heat map. {title}, sorted by Nash average.")


def superiority(found: Superiority, *, top: int = 30) -> Chart:
    """Draw the probability that the agent of the row is above the agent of the column.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.superiority(nb.evaluate(nb.load_dataset("atari"), n_resamples=50))
    >>> chart = nb.charts.superiority(found)
    """
    check_kind(found, Superiority, "superiority", "superiority returned")
    names = found.agents[: check_top(top)]
    n = len(names)
    P = np.array(found.matrix[:n, :n])
    np.fill_diagonal(P, np.nan)
    colours = alt.Scale(domain=[0, 1], domainMid=0.5, range="diverging", interpolate="lab")
    tips = [text("row", "above"), text("column", "below"), number("value", "probability", ".2f")]
    chart = draw_heat_map(names, names, P, colours, "probability", tips, across="below", up="above")
    sure = int((np.nan_to_num(P) >= 0.95).sum())
    title = f"The order of {sure:,} of {n * (n - 1) // 2:,} pairs is known with P of at least 0.95"
    part = [f"Shown: the first {n:,} of {len(found.agents):,} agents."] if n < len(found.agents) else []
    lines = ["Blue: the agent of the row is above the agent of the column; orange: below.", *part]
    return add_title(chart, title, lines, f"Heat map of probabilities among {number_of(n, 'agent')}. {title}.")


def redundancy(data: Audit | Redundancy | Scores | Matches, *, of: str | None = None, top: int = 60) -> Chart:
    """Draw how alike entries are: clustered, with exact copies and near-duplicates framed.

    Parameters
    ----------
    data
        What `audit` returned, or matches or scores, which are audited first.
    of
        ``"tasks"`` or ``"agents"``; by default tasks where there are some.
    top
        How many are drawn: all copies, then those that are most like another.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.redundancy(nb.audit(nb.load_dataset("alphago")), of="agents")
    """
    found, top = select_redundancy(data, of), check_top(top)
    D = np.where(np.isfinite(found.distances), found.distances, np.nan)
    members = {name: k for k, group in enumerate(found.groups) for name in group.members}
    shown = choose_alike(found, D, members, top)
    order = order_by_cluster(D, shown, [members.get(found.names[k], -1) for k in shown])
    names = [found.names[k] for k in order]
    np.fill_diagonal(D, 0.0)
    apart = D[np.ix_(order, order)][~np.eye(len(order), dtype=np.bool_)]
    known = apart[np.isfinite(apart)]
    # distances larger than this have the same colour
    far = float(f"{np.median(known):.2g}") if known.size and known.max() > 0 else 1.0
    tips = [text("row", found.kind[:-1]), text("column", "compared with"), number("value", "distance")]
    rows = find_frames(found, names)
    frames = alt.Chart(inline(rows)).mark_rect(style="clones").encode(
        x=alt.X("first:N", sort=None, bandPosition=0), x2=alt.X2("last:N", bandPosition=1),
        y=alt.Y("first:N", sort=None, bandPosition=0), y2=alt.Y2("last:N", bandPosition=1),
        tooltip=[text("members", "the same" if all(g.exact for g in found.groups) else "near-duplicates")],
    )  # fmt: skip
    beyond = "" if found.basis == "none" else " beyond noise"
    chart = draw_heat_map(
        names,
        names,
        D[np.ix_(order, order)],
        alt.Scale(range="ramp", reverse=True, domain=[0, far], clamp=True),
        "distance beyond noise" if beyond else "distance; 0 is the same",
        tips,
        frames=[frames] if rows else [],
    )
    count = sum(len(group.members) - 1 for group in found.groups)
    title = (
        f"{number_of(count, found.kind[:-1])} of {len(found.names):,} could go: near-duplicates of another"
        if count
        else f"No near-duplicates are shown among {found.kind}"
    )
    lines = [
        "Similar entries are neighbours; frames: near-duplicates.",
        f"Unit: root mean square difference{beyond}, {found.unit}.",
    ]
    if len(names) < len(found.names):
        lines.append(f"Shown are the {len(names):,} of {len(found.names):,} {found.kind} that are most like another.")
    return add_title(
        chart,
        title,
        lines,
        f"Map of distances between {number_of(len(found.names), found.kind[:-1])}, clustered. {title}.",
    )


def select_redundancy(data: Any, of: str | None) -> Redundancy:
    """Return the redundancy of agents or of tasks."""
    if isinstance(data, Redundancy):
        return data
    if isinstance(data, Matches | Scores):
        data = audit(data)
    if not isinstance(data, Audit):
        raise InputError(f"redundancy needs what audit returns, matches or scores, not {type(data).__name__}")
    kinds = {one.kind: one for one in data.redundancy}
    side = check_side(of, tasks="tasks" in kinds) if of is not None else next(reversed(kinds))
    return kinds[side]


def choose_alike(found: Redundancy, D: Floats, members: dict[str, int], top: int) -> Ints:
    """Return the positions of copies, then of the entries nearest to another."""
    off = np.where(np.eye(len(D), dtype=np.bool_) | np.isnan(D), np.inf, D)
    alone = np.array([name not in members for name in found.names])
    return np.lexsort([np.arange(len(D)), off.min(axis=1), alone])[:top]


def order_by_cluster(D: Floats, shown: Ints, groups: list[int]) -> list[int]:
    """Return positions in the order of the leaves of an average-linkage clustering; clones stay together."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(shown) < 3:
        return [int(k) for k in shown]
    part = D[np.ix_(shown, shown)].copy()
    part[np.isnan(part)] = np.nanmax(part, initial=1.0)
    group = np.array(groups)
    part[(group[:, None] == group) & (group >= 0)[:, None]] = 0.0  # a group is one branch
    np.fill_diagonal(part, 0.0)
    part = (part + part.T) / 2
    flat = squareform(part, checks=False)
    tree = linkage(flat, method="average")
    leaves = leaves_list(optimal_leaf_ordering(tree, flat) if len(shown) <= 300 else tree)
    return [int(shown[k]) for k in leaves]


def find_frames(found: Redundancy, names: list[str]) -> list[dict[str, Any]]:
    """Return a frame for every group whose members are neighbours."""
    place = {name: k for k, name in enumerate(names)}
    frames = []
    for group in found.groups:
        at = sorted(place[name] for name in group.members if name in place)
        if len(at) > 1 and at[-1] - at[0] == len(at) - 1:
            frames.append({"first": names[at[0]], "last": names[at[-1]], "members": ", ".join(group.members)})
    return frames
