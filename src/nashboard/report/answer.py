"""The first screen, the whole board, and the boards of segments."""

from dataclasses import replace

from nashboard import charts
from nashboard._text import plural
from nashboard.data.validation import TWO_SPELLINGS
from nashboard.evaluation.audit.checks import NO_LOSS
from nashboard.evaluation.board.warnings import UNBEATEN
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.segments import compare_segments
from nashboard.report.blocks import Fold, Part, Section, Sentences, capitalise, draw, make_grid
from nashboard.report.findings import Findings
from nashboard.report.trust import list_checks

FIRST = 5  # rows on the first screen
TOP = 30  # rows of a forest plot, lines of a slope chart
EXPLAINED = 3  # agents whose gap is broken down
FAILED = 4  # failed checks named on the first screen


def show_answer(found: Findings) -> Section:
    """Return the first screen: the verdict in two sentences, a compact board, and what to trust."""
    evaluation = found.evaluation
    first, *rest = evaluation.verdict
    return Section(
        key="verdict",
        title="The verdict",
        opening=first,
        how=(
            "Agents are ranked by Nash average: how well they do against the strongest mixture of agents, and for "
            "scores on the mixture of tasks that is hardest for the best. Redundant agents and tasks do not change "
            "it: copies share the weight of the original.",
            "The gap is the distance to the best, 0 at the top. P(top) is the probability of being at the top, given "
            "the data. An agent is called first if this probability is at least 0.95, and probably first if it is at "
            "least 1/2.",
            "Several agents can be at the top at once: each is strong where another is weak.",
        ),
        parts=(
            *((Sentences(lines=tuple(rest[:1])),) if rest else ()),
            compact_board(evaluation),
            summarise_trust(found),
            *((Fold(title="More about this result", parts=(Sentences(lines=tuple(rest[1:])),)),) if rest[1:] else ()),
        ),
    )


def compact_board(evaluation: Evaluation) -> Part:
    """Return the first rows with the columns that fit on a phone."""
    table = evaluation.compact()
    short = replace(table, rows=table.rows[:FIRST], title="")
    left = len(table.rows) - len(short.rows)
    notes = (f"{left:,} more below. " * (left > 0) + table.notes[0].capitalize() + ".",) if table.notes else ()
    return make_grid(short, "first", caption="Best first", things="agents", named=1, notes=notes)


def summarise_trust(found: Findings) -> Part:
    """Return the number of checks that passed, those that failed, and the warnings."""
    checks = list_checks(found)
    failed = [check for check in checks if check.passed is False]
    counts = [f"{sum(check.passed is True for check in checks)} of {len(checks)} checks passed"]
    counts += [f"{len(failed)} failed"] if failed else []
    counts += [f"{unknown} undecided"] if (unknown := sum(check.passed is None for check in checks)) else []
    lines = [", ".join(counts) + (":" if failed else "."), *(f"{capitalise(one.sentence)}." for one in failed[:FAILED])]
    if len(failed) > FAILED:
        lines.append(f"All {len(failed)} failed checks are listed under Checks.")
    named = {check.name for check in failed[:FAILED]}
    said = tuple(end for name, end in ((NO_LOSS, UNBEATEN), ("distinct names", f"{TWO_SPELLINGS}.")) if name in named)
    warnings = [line for line in found.evaluation.warnings if not line.endswith(said)]
    return Sentences(
        lines=(*lines, *warnings), tone="warning" if failed or warnings else "plain", title="What to trust"
    )


def show_board(found: Findings) -> Section:
    """Return the whole leaderboard."""
    evaluation = found.evaluation
    table, one = evaluation.leaderboard("all"), plural(1, evaluation.board.call)
    columns = tuple(replace(column, name=one) if column.name == "agent" else column for column in table.columns)
    charts_of_board = [draw("chart-board", charts.leaderboard, evaluation, top=TOP, narrow="first")]
    if len(evaluation.agents) > 1:
        charts_of_board.append(draw("chart-places", charts.rank_changes, evaluation, top=TOP))
    return Section(
        key="board",
        title="The board",
        opening=f"All {evaluation.board.call}, best first, with the intervals of every number.",
        how=(
            *describe_intervals(evaluation),
            "Weight is the mean share of an agent in the equilibrium. Agents with weight 0 are beaten by the mixture "
            "at the top, and removing them changes nothing.",
            "Press a heading to sort, and again to reverse the order. The meaning of each column is listed below the "
            "table.",
        ),
        parts=(
            charts_of_board[0],
            make_grid(
                replace(table, columns=columns),
                "agents",
                caption=f"All {evaluation.board.call}, best first",
                things=evaluation.board.call,
                named=1,
                saved=True,
                telling=("rank", one, "P(top)", "gap", "gap low", "gap high"),
            ),
            *charts_of_board[1:],
            *explain_gaps(evaluation),
            *draw_moves(evaluation),
        ),
    )


def describe_intervals(evaluation: Evaluation) -> tuple[str, ...]:
    """Return sentences on the meaning of intervals, or on why there are none."""
    board = evaluation.board
    if board.exact:
        return ("The data are taken as exact, so there are no intervals: small differences may be noise.",)
    return (
        f"Every number comes from {board.draws:,} draws of one posterior. Low and high contain {board.level:.0%} of "
        f"the draws. P(top) is the share of the draws in which the agent is at the top.",
    )


def explain_gaps(evaluation: Evaluation) -> tuple[Part, ...]:
    """Return the opponents or tasks that contribute most to each agent's gap."""
    what, table = "opponent" if evaluation.task_board is None else "task", evaluation.all_contributions()
    telling = ("agent", what, "weight", "result", "term")
    if not table.rows:
        return ()
    caption = f"The {what}s that contribute most to each gap"
    made_of = make_grid(table, "made-of", caption=caption, things="lines", telling=telling)
    return (Fold(title="What each gap is made of", parts=(made_of,)),)


def draw_moves(evaluation: Evaluation) -> tuple[Part, ...]:
    """Return charts of what gaps are made of: for the agents that move most, or else for the first ones."""
    if evaluation.data is None:
        return ()
    moved = tuple(dict.fromkeys(mover.name for mover in evaluation.movers)) or evaluation.support
    pictures = tuple(
        draw(f"chart-made-of-{k + 1}", charts.contributions, evaluation, agent)
        for k, agent in enumerate(moved[:EXPLAINED])
    )
    return (Fold(title="The largest moves, explained", parts=pictures),) if pictures else ()


def show_segments(found: Findings) -> Section | None:
    """Return the comparison of the boards of segments, if there are segments."""
    if not found.segments:
        return None
    table, call = compare_segments(found.segments, "segment"), found.evaluation.board.call
    return Section(
        key="segments",
        title="Segments",
        opening="The same agents on parts of the data, each evaluated on its own.",
        how=(
            "A cell is the rank interval of an agent in that segment and, in brackets, its gap, shrunk towards the "
            "agent's mean over all segments: the thinner a segment, the more. The last column says whether its gaps "
            "differ between segments by more than noise.",
        ),
        parts=(
            Sentences(lines=tuple(f"{name}: {one.verdict[0]}" for name, one in found.segments.items())),
            make_grid(table, "segments-table", caption=capitalise(table.title), things=call, saved=True),
        ),
    )
