"""The stress test: copies entered on purpose."""

from nashboard import charts
from nashboard.report.blocks import Fold, Part, Section, Sentences, draw, grid
from nashboard.report.findings import FULL, MOST_ATTACKED, Findings, size


def show_copies(found: Findings) -> Section:
    """Return what copies move."""
    return Section(
        key="stress",
        title="Stress test",
        opening="Copies of agents or tasks were entered on purpose, to see which rankings they move.",
        how=(
            "One agent or task is entered again and again, and the board is computed again by plain average, by Elo "
            "and by Nash average. Ranks are compared among the original entries.",
            "The entry that is copied is the one whose copies change most.",
            "The second table shows the smallest number of copies that puts a chosen agent first.",
            "Noisy copies have results of their own, with the same strength. They can move any ranking a little, this "
            "one too; where the noise is known, that was measured.",
        ),
        parts=tuple(outcome(found)),
    )


def outcome(found: Findings) -> list[Part]:
    """Return the results of the test."""
    tested = found.stress
    if tested is None:
        return [Sentences(lines=(found.missing["stress"],), tone="missing")]
    every = tested.tables()
    shown: list[Part] = [Sentences(lines=tested.verdict()), draw("chart-stress", charts.stress, tested)]
    if "attacks" in every:
        caption = "The smallest number of copies that puts an agent first"
        shown.append(grid(every["attacks"], "attacks", caption=caption, things="attacks"))
    of = ", ".join(tested.cloned)
    exact = grid(every["exact"], "exact", caption=f"Exact copies of {of} ({tested.choice})", things="tries")
    shown.append(Fold(title="Exact copies, step by step", parts=(exact,)))
    if "noisy" in every:
        noisy = grid(every["noisy"], "noisy", caption=f"Noisy copies of {of}", things="tries")
        shown.append(Fold(title="Noisy copies", parts=(noisy,)))
    notes = [*tested.notes, *found.notes["stress"]]
    if size(found.evaluation) > MOST_ATTACKED:
        notes.append(f"With more than {MOST_ATTACKED} entries only exact copies are tried; nashboard stress tries more.")
    elif size(found.evaluation) > FULL:
        notes.append(f"With more than {FULL} entries a report tries no noisy copies; nashboard stress does.")
    if notes:
        shown.append(Sentences(lines=tuple(notes), tone="missing", title="About this test"))
    return shown
