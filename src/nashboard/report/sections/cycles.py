"""Cycles: how far one number per agent goes, and who goes round."""

from nashboard.algebra.hodge import Hodge
from nashboard.report.findings import Findings
from nashboard.report.grid import grid
from nashboard.report.parts import Part, Section, Sentences
from nashboard.report.picture import Picture
from nashboard.report.sections.skills import capital


def cycles(found: Findings, pictures: tuple[Picture, ...]) -> Section:
    """Say whether there is a ladder or rock-paper-scissors."""
    return Section(
        key="cycles",
        title="Who beats whom in a circle",
        opening="Sometimes A beats B, B beats C and C beats A, as in rock-paper-scissors; then no list can be right "
        "about all three.",
        how=(
            "Ratings such as Elo give each agent one number, and the higher number is expected to win. The share says "
            "how much of the results such numbers can explain: 100% is a ladder, 0% is pure rock-paper-scissors.",
            "In the picture of a plane, an agent beats those that follow it counterclockwise. Choose two agents: the "
            "area they span with the middle is what one gains against the other in this plane.",
            *(("Every task counts as a game between every two agents here.",) * (found.evaluation.kind == "scores")),
        ),
        parts=(*words(found), *pictures),
    )


def words(found: Findings) -> tuple[Part, ...]:
    """Return what was found about cycles."""
    ladder = None if found.audit is None else found.audit.transitivity
    if ladder is not None:
        caption = "The strongest cycles" + ", each of which may be luck" * (not ladder.beyond_luck)
        shown = grid(ladder.table(), "cycles-table", caption=caption, things="cycles")
        return (Sentences(lines=tuple(map(capital, ladder.sentences()))), *((shown,) if shown.rows else ()))
    if found.hodge is not None:
        return (Sentences(lines=of_payoffs(found.hodge)),)
    return (Sentences(lines=(found.missing["hodge"],), tone="missing"),)


def of_payoffs(flow: Hodge) -> tuple[str, ...]:
    """Say how far ratings go where there are payoffs and no games."""
    share = f"Ratings explain {flow.transitivity:.1%} of the payoffs."
    strongest = flow.cycles(3)
    if not strongest:
        return (share, "No three agents beat each other in a circle.")
    return (
        share,
        *(f"Beating each other in a circle: {' > '.join((*one.agents, one.agents[0]))}." for one in strongest),
    )
