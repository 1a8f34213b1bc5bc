"""How to cite: the paper, the program, and this very result."""

from nashboard.report.findings import Findings
from nashboard.report.parts import Quote, Section

PAPER = """@inproceedings{balduzzi2018reevaluating,
  title     = {Re-evaluating Evaluation},
  author    = {Balduzzi, David and Tuyls, Karl and Perolat, Julien and Graepel, Thore},
  booktitle = {Advances in Neural Information Processing Systems 31},
  year      = {2018}
}"""
PROGRAM = """@software{{nashboard,
  title   = {{nashboard: leaderboards that cannot be moved by entering the same agent or task twice}},
  author  = {{{{The nashboard developers}}}},
  version = {{{version}}}
}}"""


def citation(found: Findings) -> Section:
    """Say whom to name."""
    evaluation = found.evaluation
    short = str(evaluation.input["hash"])[:19]
    words = (
        f"Ranked by Nash averaging (Balduzzi et al., 2018) with nashboard {evaluation.version}, "
        f"{evaluation.board.draws:,} draws, seed {evaluation.settings['seed']}, data {short}."
    )
    return Section(
        key="cite",
        title="How to cite",
        opening="If you publish or pass on these results, this is whom to name.",
        how=(
            "Name the paper for the method and the program with its version. The sentence names this very result: "
            "the same data, version and seed give the same page.",
        ),
        parts=(
            Quote(key="cite-sentence", label="In a sentence", text=words),
            Quote(key="cite-paper", label="The paper (BibTeX)", text=PAPER),
            Quote(key="cite-program", label="The program (BibTeX)", text=PROGRAM.format(version=evaluation.version)),
        ),
    )
