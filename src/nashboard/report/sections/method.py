"""Method and certificates: how the numbers were made, and the proof that they are exact."""

from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.findings import Findings
from nashboard.report.parts import Section, Sentences, Terms
from nashboard.report.picture import Picture


def method(found: Findings, pictures: tuple[Picture, ...]) -> Section:
    """Say how it was done."""
    evaluation = found.evaluation
    return Section(
        key="method",
        title="Method and certificates",
        opening="How the numbers were made, and the proof that they are what they claim to be.",
        how=(
            "Every equilibrium comes with two certificates that anybody can check. Exploitability is the most that "
            "any agent could gain by leaving the mix: 0 means that nobody can. The residual says how far the "
            "chosen equilibrium is from being the most even one of all: 0 means not at all.",
            "A result that misses the tolerance is never shown: the program stops and says so.",
        ),
        parts=(
            Sentences(lines=made(evaluation)),
            Terms(rows=certificates(evaluation), caption="Certificates"),
            Terms(rows=settings(evaluation), caption="Settings"),
            *pictures,
        ),
    )


def made(evaluation: Evaluation) -> tuple[str, ...]:
    """Say how the numbers were made, in a few sentences."""
    scores = evaluation.task_board is not None
    game = (
        "Agents and tasks play a game: agents want high scores, tasks want low ones. Both sides have a mix that "
        "cannot be improved; an agent's number is its mean score over the mix of tasks, a task's number minus the "
        "mean score of the mix of agents."
        if scores
        else "Agents play a game: each wants to win against the others. There is a mix of agents against which nobody "
        "gains anything; an agent's number is what it gains against that mix, 0 at best."
    )
    which = {
        "clone-invariant": "Copies count once. Where several mixes qualify, the most even one over different entries "
        "is taken.",
        "maxent": "Where several mixes qualify, the most even one over all entries is taken; in rare games that lets "
        "copies move it.",
    }[evaluation.settings["selection"]]
    return (
        game,
        which,
        "The method is Nash averaging, from the paper Re-evaluating Evaluation (Balduzzi, Tuyls, Perolat and Graepel, "
        "2018), with the choice of equilibrium changed so that copies cannot move it.",
    )


def certificates(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """Return the certificates, each with what it says."""
    exact = evaluation.certificates
    gain = exact["exploitability"] / (exact["scale"] or 1.0)
    rows = [
        ("exploitability", f"{gain:.1e} of the largest payoff: the most anybody could gain by leaving the mix"),
        ("residual", f"{exact['residual']:.1e}: how far the mix is from the most even one"),
        (
            "unique",
            "yes, there is one equilibrium" if exact["unique"] else "no, there are many; the most even is shown",
        ),
        ("largest payoff", f"{exact['scale']:.6g}"),
    ]
    if evaluation.task_board is not None:
        rows.append(("value", f"{exact['value']:.6g}: what the best agents reach on the hardest tasks"))
    return tuple(rows)


NAMES = {
    "n_resamples": "draws",
    "seed": "seed",
    "level": "level of intervals",
    "selection": "equilibrium",
    "scaling": "scaling of scores",
    "anchor": "ratings held",
    "noise": "noise",
    "pool": "near-duplicates pooled",
    "methods": "methods",
    "components": "groups that never met",
    "call": "noun",
}


def settings(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """Return what was asked for."""
    return tuple((NAMES.get(name, name), words(value)) for name, value in evaluation.settings.items())


def words(value: object) -> str:
    """Return a setting as people read it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} = {held:g}" for name, held in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "chosen by the caller" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
