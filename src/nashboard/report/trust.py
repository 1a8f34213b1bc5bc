"""What to trust: the checks of the audit, the stress test with copies, and the comparison with other methods."""

from nashboard import charts
from nashboard.evaluation.audit.checks import Check, equilibrium_checks, sort_checks
from nashboard.evaluation.evaluation import Evaluation
from nashboard.ranking.registry import methods
from nashboard.report.blocks import Checks, Fold, Part, Section, Sentences, capitalise, draw, make_grid
from nashboard.report.findings import FULL, MOST_ATTACKED, Findings, count_entries


def show_checks(found: Findings) -> Section:
    """Return the section on the checks of data and result."""
    return Section(
        key="trust",
        title="Checks",
        opening="What was checked about data and result, and which entries decide first place.",
        how=(
            "A check that failed does not make the board wrong; it says where to look before you rely on it. Undecided "
            "means that these data cannot answer it.",
            "An agent or task is decisive if first place changes without it.",
        ),
        parts=(Checks(checks=list_checks(found)), *note_missing_checks(found), *show_importance(found)),
    )


def list_checks(found: Findings) -> tuple[Check, ...]:
    """Return the checks of the audit, or those that are possible without the data, failed ones first."""
    return tuple(sort_checks(check_result(found.evaluation) if found.audit is None else found.audit.checks))


def check_result(evaluation: Evaluation) -> tuple[Check, ...]:
    """Return the checks that are possible without the data."""
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


def note_missing_checks(found: Findings) -> tuple[Part, ...]:
    """Return notes about the checks, or why most are missing."""
    if found.audit is None:
        return (Sentences(lines=(f"The other checks are missing. {found.missing['audit']}",), tone="missing"),)
    lines = (*found.audit.notes, *found.notes["audit"])
    return (Sentences(lines=lines, tone="missing", title="About these checks"),) if lines else ()


def show_importance(found: Findings) -> tuple[Part, ...]:
    """Return what changes without each entry."""
    if found.audit is None:
        return ()
    return tuple(
        Fold(
            title=f"Importance of each of the {part.kind}",
            parts=(
                Sentences(lines=part.sentences()),
                make_grid(
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
    """Return the section on the stress test."""
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
        parts=tuple(show_stress(found)),
    )


def show_stress(found: Findings) -> list[Part]:
    """Return the results of the stress test."""
    tested = found.stress
    if tested is None:
        return [Sentences(lines=(found.missing["stress"],), tone="missing")]
    every = tested.tables()
    parts: list[Part] = [
        Sentences(lines=tuple(map(capitalise, tested.verdict()))),
        draw("chart-stress", charts.stress, tested),
    ]
    if "attacks" in every:
        caption = "The smallest number of copies that puts an agent first"
        parts.append(make_grid(every["attacks"], "attacks", caption=caption, things="attacks"))
    of = ", ".join(tested.cloned)
    exact = make_grid(every["exact"], "exact", caption=f"Exact copies of {of} ({tested.choice})", things="tries")
    parts.append(Fold(title="Exact copies, step by step", parts=(exact,)))
    if "noisy" in every:
        noisy = make_grid(every["noisy"], "noisy", caption=f"Noisy copies of {of}", things="tries")
        parts.append(Fold(title="Noisy copies", parts=(noisy,)))
    notes = [*tested.notes, *found.notes["stress"]]
    if count_entries(found.evaluation) > MOST_ATTACKED:
        notes.append(
            f"With more than {MOST_ATTACKED} entries only exact copies are tried; nashboard stress tries more."
        )
    elif count_entries(found.evaluation) > FULL:
        notes.append(f"With more than {FULL} entries a report tries no noisy copies; nashboard stress does.")
    if notes:
        parts.append(Sentences(lines=tuple(map(capitalise, notes)), tone="missing", title="About this test"))
    return parts


def show_methods(found: Findings) -> Section:
    """Return the section on whether other methods agree."""
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
        parts=tuple(compare_methods(found)),
    )


def compare_methods(found: Findings) -> list[Part]:
    """Return the sentence, the chart and the table."""
    trials = found.methods
    if trials is None:
        return [Sentences(lines=(found.missing["methods"],), tone="missing")]
    table = trials.table()

    shown, known = len(trials.trials), len(methods())
    caption = f"The {shown} fastest of {known} methods; `nashboard methods FILE` compares all"
    return [
        Sentences(lines=(f"{capitalise(trials.summary())}.",)),
        draw("chart-methods", charts.method_ranks, trials),
        make_grid(table, "methods-table", caption=caption, things="methods", notes=table.notes[1:]),
    ]
