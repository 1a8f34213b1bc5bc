"""Section 4.2 and the last two figures of the appendix: agents on Atari, evaluated again."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats, Ints
from nashboard.charts.averages import averages, weights
from nashboard.data.datasets import scores_of
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.equilibrium.results import ScoreNashAverage
from nashboard.evaluation.evaluate import evaluate
from nashboard.paper.claim import Found, error
from nashboard.paper.part import Figure, Part

MISSING = ("count", "no_action", "no-action", "noop_action")  # how the absent agents would be called


def part() -> Part:
    """Solve the game between 20 agents and 54 environments."""
    raw = scores_of("atari_scores.csv")
    scores = raw.scale("range")
    result = nash_average_scores(scores)
    evaluation = evaluate(raw, noise="none")  # the charts need uniform averages beside Nash's
    how = "nb.nash_average_scores(nb.load_dataset('atari'))"
    top = {agent for agent, rank in zip(result.agents, result.agent_ranks, strict=True) if rank == 1}
    uniform = scores.values.mean(axis=1)
    human = float(uniform[scores.agents.index("human")])
    above = int((uniform > human).sum())
    shown = "our numbers: "
    return Part(
        title="Section 4.2: agents on the Arcade Learning Environment, evaluated again",
        words="The authors' matrix is not public; ours is rebuilt from the papers they cite, and the text prints no "
        "number of these figures, so only what the text says can be compared. Under Nash averaging human ties for "
        f"first; under uniform averaging it is {above + 1}th of {len(scores.agents)}.",
        found={
            "atari.agents": Found(value=float(len(scores.agents)), how="nb.load_dataset('atari')"),
            "atari.tasks": Found(value=float(len(scores.tasks)), how="nb.load_dataset('atari')"),
            "atari.unit": Found(value=printed_unit(raw), how="scale('range') minus the printed rule, and its range"),
            "atari.members": Found(
                value=any(word in agent for agent in scores.agents for word in MISSING), how="nb.load_dataset('atari')"
            ),
            "atari.tie": Found(value=top == set(result.agent_support), how=how + ", rank 1 is the support"),
            "atari.human": Found(value="human" in top and "human" in result.agent_support, how=how),
            "atari.indifference": Found(
                value=indifference(result), how=how + ", skills and difficulties on the support"
            ),
            "atari.uniform": Found(value=above > 0, how=f"mean over tasks: {above} agents are above human"),
            "atari.redundant": Found(value=entered_twice(scores, result), how="every agent entered twice"),
            "atari.figure.1a": Found(value=f"{len(result.agent_support)} of 20 agents have weight", how=how),
            "atari.figure.1b": Found(value=f"{len(result.task_support)} of 54 environments have weight", how=how),
            "atari.figure.2a": Found(value=shown + "atari_agents.csv", how=how),
            "atari.figure.2b": Found(value=shown + "atari_environments.csv", how=how),
            "atari.table.environments": Found(value=shown + "atari_environments.csv", how=how),
            "atari.table.agents": Found(value=shown + "atari_agents.csv", how=how),
        },
        tables={
            "atari_agents": side_table(
                "agent", "skill", scores.agents, result.agent_weights, result.skills, uniform, result.agent_ranks
            ),
            "atari_environments": side_table(
                "environment",
                "difficulty",
                scores.tasks,
                result.task_weights,
                result.difficulties,
                -scores.values.mean(axis=0),
                result.task_ranks,
            ),
        },
        figures={
            "atari_agent_weights": Figure(chart=weights(result), caption="Figure 1A: Nash weights of agents."),
            "atari_environment_weights": Figure(
                chart=weights(result, of="tasks"), caption="Figure 1B: Nash weights of environments."
            ),
            "atari_agent_skill": Figure(
                chart=averages(evaluation), caption="Figure 2A: skill of agents by uniform and Nash averages."
            ),
            "atari_environment_difficulty": Figure(
                chart=averages(evaluation, of="tasks"),
                caption="Figure 2B: difficulty of environments by uniform and Nash averages.",
            ),
        },
    )


def printed_unit(raw: Scores) -> float:
    """Return how far our scaling is from: subtract the minimum, divide by the maximum; and from [0, 1]."""
    S = raw.values - raw.values.min(axis=0)
    S = S / S.max(axis=0)
    ours = raw.scale("range").values
    return error(ours - S, min(0.0, float(ours.min())), max(0.0, float(ours.max()) - 1))


def indifference(result: ScoreNashAverage) -> float:
    """Return how far skills and difficulties on the support are from the value."""
    return error(
        result.skills[result.agent_weights > 0] - result.value,
        result.difficulties[result.task_weights > 0] + result.value,
    )


def entered_twice(scores: Scores, before: ScoreNashAverage) -> float:
    """Return how far skills and difficulties move when every agent is entered twice."""
    after = nash_average_scores(np.vstack([scores.values, scores.values]))
    return error(after.skills[: len(scores.agents)] - before.skills, after.difficulties - before.difficulties)


def side_table(
    kind: str, what: str, names: tuple[str, ...], w: Floats, nash: Floats, uniform: Floats, ranks: Ints
) -> Table:
    """Return everything of one side, sorted by Nash average as in the paper."""
    order = sorted(range(len(names)), key=lambda k: (ranks[k], -w[k], -uniform[k], names[k]))
    place = {k: 1 + int((uniform > uniform[k]).sum()) for k in order}
    return Table(
        title=f"Atari: {what} of each {kind}",
        columns=(
            Column(name="rank", meaning="by Nash average; equal where they tie"),
            Column(name=kind),
            Column(name="weight", meaning="in the equilibrium", decimals=4),
            Column(name=f"Nash {what}", decimals=4),
            Column(name=f"uniform {what}", decimals=4),
            Column(name="uniform rank"),
        ),
        rows=tuple((int(ranks[k]), names[k], float(w[k]), float(nash[k]), float(uniform[k]), place[k]) for k in order),
    )
