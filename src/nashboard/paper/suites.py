"""Agents against tasks: appendix D and theorem 2, and section 4.2, agents on Atari."""

from functools import partial

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats, Ints
from nashboard.algebra.operators import averages, game_of_scores
from nashboard.charts.averages import averages as averages_chart
from nashboard.charts.averages import weights
from nashboard.data.datasets import scores_of
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.equilibrium.results import ScoreNashAverage, Selection
from nashboard.evaluation.evaluate import evaluate
from nashboard.paper.algebra import C4, atari
from nashboard.paper.invariance import SELECTIONS, copy_error, deviation_gains, name_move
from nashboard.paper.reproduction import Answer, Figure, Part, error

# Theorem 2, P3 (i) as printed: skills that average to zero without uniform agents, and uniform agents without them.
ZERO_SKILLS = ((1, -1), (2, -2))
UNIFORM_AGENTS = ((1, -1, 5), (-1, 1, 9))


def suites_part() -> Part:
    """Check the statements of appendix D on the game between agents and tasks."""
    S = atari()
    m, n = S.shape
    centred = S - S.mean()
    parts = averages(S)
    skills = centred.sum(axis=1) / m
    difficulties = -centred.sum(axis=0) / n
    plain, default = (
        copy_error(partial(agent_weights, selection=name), C4, np.vstack([C4, C4[:1]])) for name in SELECTIONS
    )
    return Part(
        title="Appendix D: agents against tasks",
        words="Agents choose a mixture to score high, tasks a mixture to make it hard. Signs and indices of the "
        "appendix are not right as printed, and the two statements on uniform mixtures do not hold.",
        answers={
            "suite.game": Answer(game_error(centred), "the Atari table, four random mixtures, both sides"),
            "suite.averages": Answer(
                error(skills - parts.skills, difficulties - parts.difficulties),
                "the Atari table, printed averages minus means over tasks and over agents",
            ),
            "suite.transitive": Answer(transitive_error(), "nb.nash_average_scores, two best agents, one hardest task"),
            "suite.1": Answer(
                plain,
                f"C (appendix F) as scores, agent A twice, maxent; by default weights move {name_move(default)}",
            ),
            "suite.2": Answer(
                max(sum(of_both) - most for *of_both, most in deviation_gains(1)),
                "the Atari table disturbed 20 times: gain above epsilon",
            ),
            "suite.3i": Answer(
                check_uniform_rule(agents=True),
                f"nb.nash_average_scores of {ZERO_SKILLS}, {UNIFORM_AGENTS}",
            ),
            "suite.3ii": Answer(check_uniform_rule(agents=False), "minus the transpose of the same tables"),
            "suite.3.size": Answer(uniform_weight(), "a table of 2 agents and 4 tasks with both averages zero"),
        },
    )


def agent_weights(S: Floats, selection: Selection) -> Floats:
    """Return the weights of agents."""
    return nash_average_scores(S, selection=selection).agent_weights


def game_error(S: Floats) -> float:
    """Return how far the printed expansion of the game is from the game, on random mixtures."""
    rng = np.random.default_rng(0)
    m, n = S.shape
    pa, qa = rng.dirichlet(np.ones(m), 2)
    pe, qe = rng.dirichlet(np.ones(n), 2)
    parts = averages(S)
    s, d, rest = parts.skills, parts.difficulties, parts.rest
    truth = np.concatenate([pa, pe]) @ game_of_scores(S) @ np.concatenate([qa, qe])
    linear = s @ (pa - qa) + d @ (pe - qe)
    if abs(truth - (linear + pa @ rest @ qe - qa @ rest @ pe)) > 1e-9:
        return float("nan")  # with a minus the expansion must be exact
    return abs(float(truth - (linear + pa @ rest @ qe + qa @ rest @ pe)))


def transitive_error() -> float:
    """Return how far the equilibrium of a table made of skills and difficulties is from the best and the hardest."""
    skills, difficulties = np.array([2.0, 2.0, 1.0]), np.array([0.0, 3.0, 1.0, 2.0])
    result = nash_average_scores(skills[:, None] - difficulties)
    return error(result.agent_weights - [0.5, 0.5, 0], result.task_weights - [0, 1, 0, 0])


def check_uniform_rule(*, agents: bool) -> bool:
    """Return whether weights are uniform exactly where averages are zero, in both tables."""

    def agree(S: Floats) -> bool:
        table = S if agents else -S.T
        result = nash_average_scores(table)
        weights = result.agent_weights if agents else result.task_weights
        mean = table.mean()
        average = table.mean(axis=1) - mean if agents else mean - table.mean(axis=0)
        return (error(weights - 1 / weights.size) < 1e-9) == (error(average) < 1e-9)

    return all(agree(np.array(rows, dtype=float)) for rows in (ZERO_SKILLS, UNIFORM_AGENTS))


def uniform_weight() -> str:
    """Return the weight of each agent in a table of m = 2 agents and n = 4 tasks with no averages, as a symbol."""
    result = nash_average_scores([[1.0, -1.0, 2.0, -2.0], [-1.0, 1.0, -2.0, 2.0]])
    weight = float(result.agent_weights[0])
    return {0.5: "1/m", 0.25: "1/n"}.get(round(weight, 9), f"{weight:.4g}")


MISSING = ("count", "no_action", "no-action", "noop_action")  # possible names of the absent agents


def atari_part() -> Part:
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
        answers={
            "atari.agents": Answer(float(len(scores.agents)), "nb.load_dataset('atari')"),
            "atari.tasks": Answer(float(len(scores.tasks)), "nb.load_dataset('atari')"),
            "atari.unit": Answer(unit_error(raw), "scale('range') minus the printed rule, and its range"),
            "atari.members": Answer(
                any(word in agent for agent in scores.agents for word in MISSING), "nb.load_dataset('atari')"
            ),
            "atari.tie": Answer(top == set(result.agent_support), how + ", rank 1 is the support"),
            "atari.human": Answer("human" in top and "human" in result.agent_support, how),
            "atari.indifference": Answer(indifference_error(result), how + ", skills and difficulties on the support"),
            "atari.uniform": Answer(above > 0, f"mean over tasks: {above} agents are above human"),
            "atari.redundant": Answer(copies_error(scores, result), "every agent entered twice"),
            "atari.figure.1a": Answer(f"{len(result.agent_support)} of 20 agents have weight", how),
            "atari.figure.1b": Answer(f"{len(result.task_support)} of 54 environments have weight", how),
            "atari.figure.2a": Answer(shown + "atari_agents.csv", how),
            "atari.figure.2b": Answer(shown + "atari_environments.csv", how),
            "atari.table.environments": Answer(shown + "atari_environments.csv", how),
            "atari.table.agents": Answer(shown + "atari_agents.csv", how),
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
                chart=averages_chart(evaluation), caption="Figure 2A: skill of agents by uniform and Nash averages."
            ),
            "atari_environment_difficulty": Figure(
                chart=averages_chart(evaluation, of="tasks"),
                caption="Figure 2B: difficulty of environments by uniform and Nash averages.",
            ),
        },
    )


def unit_error(raw: Scores) -> float:
    """Return how far our scaling is from: subtract the minimum, divide by the maximum; and from [0, 1]."""
    S = raw.values - raw.values.min(axis=0)
    S = S / S.max(axis=0)
    ours = raw.scale("range").values
    return error(ours - S, min(0.0, float(ours.min())), max(0.0, float(ours.max()) - 1))


def indifference_error(result: ScoreNashAverage) -> float:
    """Return how far skills and difficulties on the support are from the value."""
    return error(
        result.skills[result.agent_weights > 0] - result.value,
        result.difficulties[result.task_weights > 0] + result.value,
    )


def copies_error(scores: Scores, before: ScoreNashAverage) -> float:
    """Return how far skills and difficulties move when every agent is entered twice."""
    after = nash_average_scores(np.vstack([scores.values, scores.values]))
    return error(after.skills[: len(scores.agents)] - before.skills, after.difficulties - before.difficulties)


def side_table(
    kind: str, what: str, names: tuple[str, ...], w: Floats, nash: Floats, uniform: Floats, ranks: Ints
) -> Table:
    """Return all results of agents or of tasks, sorted by Nash average as in the paper."""
    order = sorted(range(len(names)), key=lambda k: (ranks[k], -w[k], -uniform[k], names[k]))
    place = {k: 1 + int((uniform > uniform[k]).sum()) for k in order}
    return Table(
        title=f"Atari: {what} of each {kind}",
        columns=(
            Column("rank", "by Nash average; equal where they tie"),
            Column(kind),
            Column("weight", "in the equilibrium", decimals=4),
            Column(f"Nash {what}", decimals=4),
            Column(f"uniform {what}", decimals=4),
            Column("uniform rank"),
        ),
        rows=tuple((int(ranks[k]), names[k], float(w[k]), float(nash[k]), float(uniform[k]), place[k]) for k in order),
    )
