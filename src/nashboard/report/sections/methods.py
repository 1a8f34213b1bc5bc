"""Second opinions: what other ways to rank say about the same data."""

from nashboard import charts
from nashboard.report.blocks import Part, Section, Sentences, draw, grid
from nashboard.report.findings import Findings


def show_methods(found: Findings) -> Section:
    """Return whether other methods agree."""
    return Section(
        key="methods",
        title="Do other methods agree?",
        opening="The same data, ranked in other ways: ratings, voting rules, random walks and equilibria.",
        how=(
            "P(same) is the share of new data, simulated from the model, in which a method has the same agents in "
            "first place: small values mean that noise decides.",
            "One copy, fewest copies and dropping count what changes first place: entering an agent or a task again, "
            "and leaving out an agent that is not first. A method that can be moved in this way can be gamed.",
            "Kendall is the rank correlation with the board: 1 is the same order, 0 is no relation.",
        ),
        parts=tuple(opinions(found)),
    )


def opinions(found: Findings) -> list[Part]:
    """Return the sentence, the chart and the table."""
    trials = found.methods
    if trials is None:
        return [Sentences(lines=(found.missing["methods"],), tone="missing")]
    table = trials.table()
    sentence = trials.summary()
    return [
        Sentences(lines=(f"{sentence[:1].upper()}{sentence[1:]}.",)),
        draw("chart-methods", charts.method_ranks, trials),
        grid(table, "methods-table", caption="Every method on these data", things="methods", notes=table.notes[1:]),
    ]
