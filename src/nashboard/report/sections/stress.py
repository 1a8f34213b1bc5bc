"""The stress test: copies entered on purpose."""

from nashboard.report.findings import FULL, Findings, size
from nashboard.report.grid import grid
from nashboard.report.parts import Fold, Part, Section, Sentences
from nashboard.report.picture import Picture


def stress(found: Findings, pictures: tuple[Picture, ...]) -> Section:
    """Say what copies move."""
    return Section(
        key="stress",
        title="The stress test",
        opening="Could somebody climb by entering copies? We entered copies on purpose, to see which rankings move.",
        how=(
            "One agent or task is entered again and again, and the board is made anew by plain average, by Elo and by "
            "Nash average. Places are compared among those who were there before: a copy takes no place from anybody.",
            "What is copied is not chosen by chance but by an adversary: the entry whose copies change most.",
            "The second table answers the adversary's question: how few copies put a chosen agent first?",
            "Copies with luck of their own are not exact copies. They can move any ranking a little, this one too; "
            "where the data say how large luck is, that was tried.",
        ),
        parts=(*outcome(found, pictures),),
    )


def outcome(found: Findings, pictures: tuple[Picture, ...]) -> tuple[Part, ...]:
    """Return what happened."""
    tested = found.stress
    if tested is None:
        return (Sentences(lines=(found.missing["stress"],), tone="missing"),)
    every = tested.tables()
    shown: list[Part] = [Sentences(lines=tested.verdict()), *pictures]
    if "attacks" in every:
        caption = "How few copies put somebody first"
        shown.append(grid(every["attacks"], "attacks", caption=caption, things="attacks"))
    of = ", ".join(tested.cloned)
    exact = grid(every["exact"], "exact", caption=f"What exact copies of {of} do ({tested.choice})", things="tries")
    shown.append(Fold(title="What exact copies do, step by step", parts=(exact,)))
    if "noisy" in every:
        noisy = grid(every["noisy"], "noisy", caption=f"What copies of {of} with luck of their own do", things="tries")
        shown.append(Fold(title="What copies with luck of their own do", parts=(noisy,)))
    notes = [*tested.notes, *found.notes["stress"]]
    if size(found.evaluation) > FULL:
        notes.append(f"With more than {FULL:,} entries only exact copies are tried here; nashboard stress tries more.")
    if notes:
        shown.append(Sentences(lines=tuple(notes), tone="missing", title="About this test"))
    return tuple(shown)
