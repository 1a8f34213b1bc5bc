"""What to trust: the checks of the audit, the stress test with copies, and what other methods say."""

from nashboard import charts
from nashboard.evaluation.audit.checks import Check, equilibrium_checks, worst_first
from nashboard.evaluation.evaluation import Evaluation
from nashboard.ranking.registry import methods
from nashboard.report.blocks import Checks, Fold, Part, Section, Sentences, capital, draw, grid
from nashboard.report.findings import FULL, MOST_ATTACKED, Findings, size


def show_checks(found: Findings) -> Section:
    """Return what was checked, and how far the board can be relied on."""
    return Section(
        key="trust",
        title="Checks",
        opening="What was checked about data and result, and which entries decide first place.",
        how=(
            "A check that failed does not make the board wrong; it says where to look before you rely on it. Undecided "
            "means that these data cannot answer it.",
            "An agent or task is decisive if first place changes without it.",
        ),
        parts=(
            Checks(checks=own_or_audited(found)),
            *missing_checks(found),
            *decisive_entries(found),
        ),
    )


def own_or_audited(found: Findings) -> tuple[Check, ...]:
    """Return the checks of the audit, or those that the result itself allows, failed ones first."""
    return tuple(worst_first(own_checks(found.evaluation) if found.audit is None else found.audit.checks))


def own_checks(evaluation: Evaluation) -> tuple[Check, ...]:
    """Return what can be checked without the data."""
    exact = evaluation.certificates
    kinds = [("agents", evaluation.clone_groups)]
    if evaluation.task_board is not None:
        kinds.append(("tasks", evaluation.task_clone_groups))
    return tuple(
        Check(
            name=f"{kind} are entered once",
            passed=not groups,
            sentence=f"{len(groups):,} groups of {kind} have the same data"
            if groups
            else f"no two {kind} have the same data",
        )
        for kind, groups in kinds
    ) + equilibrium_checks(exact["unique"], exact["exploitability"] / (exact["scale"] or 1.0), exact["residual"])


def missing_checks(found: Findings) -> tuple[Part, ...]:
    """Return notes about the checks, or why most are missing."""
    if found.audit is None:
        return (Sentences(lines=(f"The other checks are missing. {found.missing['audit']}",), tone="missing"),)
    lines = (*found.audit.notes, *found.notes["audit"])
    return (Sentences(lines=lines, tone="missing", title="About these checks"),) if lines else ()


def decisive_entries(found: Findings) -> tuple[Part, ...]:
    """Return what changes without each of the entries."""
    if found.audit is None:
        return ()
    return tuple(
        Fold(
            title=f"Importance of each of the {part.kind}",
            parts=(
                Sentences(lines=part.sentences()),
                grid(
                    part.table(),
                    f"important-{part.kind}",
                    caption=f"What changes without each of the {part.kind}",
                    things=part.kind,
                ),
            ),
        )
        for part in found.audit.importance
    )


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
            "Noisy copies have results of their own, with the same strength. They can move any ranking, this one too; "
            "where the noise is known, that was measured.",
        ),
        parts=tuple(outcome(found)),
    )


def outcome(found: Findings) -> list[Part]:
    """Return the results of the test."""
    tested = found.stress
    if tested is None:
        return [Sentences(lines=(found.missing["stress"],), tone="missing")]
    every = tested.tables()
    shown: list[Part] = [
        Sentences(lines=tuple(map(capital, tested.verdict()))),
        draw("chart-stress", charts.stress, tested),
    ]
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
        notes.append(
            f"With more than {MOST_ATTACKED} entries only exact copies are tried; nashboard stress tries more."
        )
    elif size(found.evaluation) > FULL:
        notes.append(f"With more than {FULL} entries a report tries no noisy copies; nashboard stress does.")
    if notes:
        shown.append(Sentences(lines=tuple(map(capital, notes)), tone="missing", title="About this test"))
    return shown


def show_methods(found: Findings) -> Section:
    """Return whether other methods agree."""
    return Section(
        key="methods",
        title="Do other methods agree?",
        opening="The same data, ranked in other ways: ratings, voting rules, random walks and equilibria.",
        how=(
            "P(same) is the share of new data, simulated from the model, in which a method has the same agents in "
            "first place: small values mean that noise decides. In simulations with a known truth it was off by up to "
            "0.11 on average for a single method, mostly too low.",
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
    shown, known = len(trials.trials), len(methods())
    caption = f"The {shown} fastest of {known} methods; `nashboard methods FILE` compares all"
    return [
        Sentences(lines=(f"{sentence[:1].upper()}{sentence[1:]}.",)),
        draw("chart-methods", charts.method_ranks, trials),
        grid(table, "methods-table", caption=caption, things="methods", notes=table.notes[1:]),
    ]
