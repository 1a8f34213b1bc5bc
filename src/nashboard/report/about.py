"""How the numbers were made, what was read, and how to cite."""

import platform
from importlib.metadata import version

from nashboard import charts
from nashboard._tables import count
from nashboard.data.matches import Matches
from nashboard.evaluation.board.warnings import counts_are_known
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.blocks import Part, Quote, Section, Sentences, Terms, draw
from nashboard.report.findings import MOST_ATTACKED, Findings

PACKAGES = ("numpy", "scipy", "polars", "altair", "vl-convert-python")
PAPER = """@inproceedings{balduzzi2018reevaluating,
  title     = {Re-evaluating Evaluation},
  author    = {Balduzzi, David and Tuyls, Karl and Perolat, Julien and Graepel, Thore},
  booktitle = {Advances in Neural Information Processing Systems 31},
  year      = {2018}
}"""
PROGRAM = """@software{{nashboard,
  title   = {{nashboard: leaderboards that redundant entries cannot move and that noise does not decide}},
  author  = {{{{The nashboard developers}}}},
  version = {{{version}}}
}}"""


def describe_method(found: Findings) -> Section:
    """Return how the numbers were made, and their certificates."""
    evaluation = found.evaluation
    planes = (0,) if found.ladder else (0, 1)
    fits = isinstance(evaluation.data, Matches) and 1 < len(evaluation.agents) <= MOST_ATTACKED
    return Section(
        key="method",
        title="Method and certificates",
        opening="How the numbers were made, and the proof that the equilibrium is exact.",
        how=(
            "Every equilibrium has two certificates that anybody can check. Exploitability is the most that an agent "
            "could gain by leaving the mixture: 0 means nothing. The residual is the distance of the chosen "
            "equilibrium from the most even one.",
            "A result that misses its tolerance is never shown: the program stops with an error.",
        ),
        parts=(
            Sentences(lines=method_sentences(evaluation)),
            Terms(rows=certificate_rows(evaluation), caption="Certificates"),
            Terms(rows=setting_rows(evaluation), caption="Settings"),
            *((draw("chart-calibration", charts.calibration, evaluation.data, planes=planes),) if fits else ()),
        ),
    )


def method_sentences(evaluation: Evaluation) -> tuple[str, ...]:
    """Return a few sentences on how the numbers were made."""
    scores = evaluation.task_board is not None
    game = (
        "Agents and tasks play a game: agents want high scores, tasks want low ones. In the equilibrium "
        "neither side gains by changing its mixture. The Nash average of an agent is its mean score over the mixture "
        "of tasks; that of a task is minus the mean score of the mixture of agents."
        if scores
        else "Agents play a zero-sum game. The equilibrium is a mixture of agents that no agent beats on average; the "
        "Nash average of an agent is its expected payoff against that mixture, 0 at best."
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


def certificate_rows(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """Return the certificates, each with its meaning."""
    exact = evaluation.certificates
    gain = exact["exploitability"] / (exact["scale"] or 1.0)
    rows = [
        ("exploitability", f"{gain:.1e} of the largest payoff: the most that a deviation gains"),
        ("residual", f"{exact['residual']:.1e}: distance to the equilibrium of maximum entropy"),
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
    "tolerance": "exploitability allowed",
    "scaling": "scaling of scores",
    "anchor": "fixed ratings",
    "noise": "noise",
    "pool": "near-duplicates pooled",
    "methods": "methods",
    "components": "groups that never met",
    "call": "noun",
}


def setting_rows(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """Return the settings of the evaluation."""
    return tuple(
        (NAMES.get(name, name), format_setting(0 if name == "tolerance" and value is None else value))
        for name, value in evaluation.settings.items()
    )


def format_setting(value: object) -> str:
    """Return a setting as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {rating:g}" for name, rating in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "chosen by the caller" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def describe_data(found: Findings) -> Section:
    """Return the section on the data and the versions of programs."""
    return Section(
        key="data",
        title="Data and versions",
        opening="What was read, and the versions needed to make this page again.",
        how=(
            "The hash is a fingerprint of names and numbers, in any order. The same data, settings and versions give "
            "the same page, byte by byte.",
            "This page is one file. It loads nothing and sends nothing.",
        ),
        parts=(
            Terms(rows=data_rows(found), caption="Data"),
            *describe_left_out(found),
            Terms(rows=version_rows(found), caption="Versions"),
        ),
    )


def data_rows(found: Findings) -> tuple[tuple[str, str], ...]:
    """Return source, format and size of the data."""
    read = found.evaluation.input
    rows = [("source", str(read["source"])), ("read as", f"{found.evaluation.kind}, format {read['format']}")]
    rows += [(name, count(read[name])) for name in ("agents", "tasks", "games") if read[name] is not None]
    if not counts_are_known(found.evaluation.warnings):
        rows[-1] = ("games", "not known; each pair counts as one")
    return (*rows, ("hash", str(read["hash"])))


def describe_left_out(found: Findings) -> tuple[Part, ...]:
    """Return the notes on data that were read but not used, with reasons."""
    data = found.evaluation.data
    if data is None or not (data.origin.left_out or data.origin.notes):
        return ()
    return (Sentences(lines=(*map(str, data.origin.left_out), *data.origin.notes), title="Notes about reading"),)


def version_rows(found: Findings) -> tuple[tuple[str, str], ...]:
    """Return the versions that the bytes of this page depend on."""
    import vl_convert

    return (
        ("nashboard", found.evaluation.version),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in PACKAGES),
        ("Vega", vl_convert.get_vega_version()),
    )


def cite(found: Findings) -> Section:
    """Return the section on how to cite the paper, the program and this result."""
    evaluation = found.evaluation
    words = (
        f"Ranked by Nash averaging (Balduzzi et al., 2018) with nashboard {evaluation.version}, "
        f"{evaluation.board.draws:,} draws, seed {evaluation.settings['seed']}, "
        f"data {str(evaluation.input['hash'])[:19]}."
    )
    return Section(
        key="cite",
        title="How to cite",
        opening="Cite the paper for the method, and the program with its version.",
        how=("The sentence identifies this result: the same data, version and seed give the same page.",),
        parts=(
            Quote(key="cite-sentence", label="In a sentence", text=words),
            Quote(key="cite-paper", label="The paper (BibTeX)", text=PAPER),
            Quote(key="cite-program", label="The program (BibTeX)", text=PROGRAM.format(version=evaluation.version)),
        ),
    )
