"""Audit a benchmark suite: which tasks are redundant, which decide, what do they test, and who could bend it?

    python examples/audit_suite.py [FOLDER] [SCORES]

SCORES is a table or a folder of lm-evaluation-harness results; by default the bundled Atari table.
"""

import sys
from pathlib import Path

import nashboard as nb


def main(folder: str | Path = "out/audit_suite", source: str = "dataset:atari") -> None:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    scores = nb.read_scores(source)
    print(repr(scores))

    audit = nb.audit(scores)
    print("\n".join(audit.summary()))
    print(audit.trust_table())
    (folder / "audit.json").write_text(audit.to_json(), encoding="utf-8")

    # The average is bent by entering an easy task again and again; Nash is not. How many copies are enough?
    by_mean = scores.scale("range").values.mean(axis=1)
    second = scores.agents[int(by_mean.argsort()[-2])]
    bent = nb.stress(scores, kind="tasks", targets=[second], copies=(1, 10), draws=0)
    print("\n".join(bent.verdict()))

    # A smaller suite with the same answer: the tasks that have weight are enough.
    whole = nb.nash_average_scores(scores)
    core = nb.nash_average_scores(scores.select(tasks=list(whole.task_support)))
    same = dict(zip(core.agents, core.skills, strict=True))
    moved = max(abs(same[agent] - skill) for agent, skill in zip(whole.agents, whole.skills, strict=True))
    print(f"{len(core.tasks)} of {len(whole.tasks)} tasks give every agent the same skill, to {moved:.0e}:")
    print(", ".join(core.tasks))

    nb.charts.save(nb.charts.weights(whole, of="tasks"), folder / "tasks.svg")
    nb.charts.save(nb.charts.latent(nb.latent(scores)), folder / "latent.svg")
    print(f"audit.json and two charts are in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
