"""Are the error rates and probabilities of compare, changes, plan, voters, exposure, sprt and reduce what they claim?

    python benchmarks/decisions.py [--runs 2000] [--seed 0] [--part alarms ...] [--record FILE]

Every part simulates data whose truth is known, and prints a table: what is claimed, and how often it came true.
``--runs`` is the number of draws per regime of the cheap parts; expensive parts take a fraction of it.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from decision_data import ITEMS, MATCHES, Array, Rng, Row, log_odds, names, play, some_pairs
from decision_peers import measure_peers
from scipy.special import betaln, expit

import nashboard as nb
from nashboard.evaluation.decide.significance import log_e_value
from nashboard.evaluation.decide.voters import KINDS

POINTS = 400 / np.log(10)


def measure_alarms(runs: int, seed: int) -> list[Row]:
    """Compare two equal agents by matches: how often is a difference claimed, does the interval contain 0?"""
    rows = []
    for label, make in MATCHES.items():
        rng = np.random.default_rng([seed, 1])
        draws = runs if label.startswith(("dense", "sparse", "60 voters")) else runs // 4
        found = [nb.compare(make(rng, 0.0), "a00", "a01") for _ in range(draws)]
        power = [nb.compare(make(rng, 0.5), "a00", "a01") for _ in range(max(runs // 20, 20))]
        rows.append(alarm_row(label, found) | {"power": share([one.verdict == "better" for one in power])})
    return rows


def measure_item_alarms(runs: int, seed: int) -> list[Row]:
    """Compare two equal agents over items: how often is a difference claimed, and does the 95% interval contain 0?"""
    rows = []
    for place, (label, items) in enumerate(ITEMS.items()):
        rng = np.random.default_rng([seed, 2, place])
        drawn = [items(rng, lead) for lead in [0.0] * runs + [0.5] * (runs // 10)]
        found = [nb.compare(scores, "a", "b", clusters=clusters) for scores, clusters in drawn]
        power = share([one.verdict == "better" for one in found[runs:]])
        rows.append(alarm_row(label, found[:runs]) | {"power": power})
    return rows


def alarm_row(label: str, found: list[Any]) -> Row:
    inside = share([one.low <= 0 <= one.high for one in found])
    return {"regime": label, "draws": len(found), "alarms": share([one.p_value <= 0.05 for one in found])} | {
        "coverage": inside
    }


def share(values: Any) -> float:
    return round(float(np.mean(values)), 4)


def measure_looks(runs: int, seed: int) -> list[Row]:
    """Look after every game at two equal agents, and stop at the first claim."""
    rows = []
    for draws, games in ((0.0, 1000), (0.5, 1000)):
        rng = np.random.default_rng([seed, 3])
        wrong = 0
        for _ in range(runs):
            decisive = rng.random(games) >= draws
            won = np.cumsum((rng.random(games) < 0.5) & decisive)
            e = log_e_value(won, np.cumsum(decisive) - won, np.array([0.5]))
            wrong += bool(e.max() >= np.log(20))
        label = f"confidence sequence, {games:,} looks, {draws:.0%} draws"
        rows.append({"regime": label, "draws": runs, "false claims": round(wrong / runs, 4)})
    for label, correlation in (("independent games", 0.0), ("biased openings", 1.5)):
        errors = []
        for elo, wrong_answer in ((0.0, "accept"), (60.0, "reject")):
            rng = np.random.default_rng([seed, 4])
            ends = [play_sprt(rng, elo, correlation) for _ in range(runs)]
            errors.append(share([end == wrong_answer for end in ends]))
        row = {"regime": f"sprt 0 against 60 Elo, pairs of games, {label}", "draws": runs}
        rows.append(row | {"false claims": errors[0], "misses": errors[1]})
    return rows


def play_sprt(rng: Rng, elo: float, bias: float) -> str:
    """Play pairs of games with reversed sides until the test decides; ``bias`` of an opening favours one side."""
    cut = 0.8  # half-width of draws in log-odds
    opening = bias * rng.standard_normal(4000)
    lead = solve_lead(elo, bias, cut)
    points = np.zeros(4000, dtype=int)
    for side in (1.0, -1.0):
        u = np.log(1 / rng.random(4000) - 1)  # logistic noise
        result = lead + side * opening + u
        points += 2 * (result > cut) + (np.abs(result) <= cut)
    counts = np.zeros(5)
    for k in range(4000):
        counts[points[k]] += 1
        decision = nb.sprt(counts, elo0=0, elo1=60).decision
        if decision != "continue":
            return decision
    return "continue"


def solve_lead(elo: float, bias: float, cut: float) -> float:
    """Return the lead in log-odds whose expected score, over openings, is that of so many Elo points."""
    from scipy.optimize import brentq

    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()

    def excess(lead: float) -> float:
        x = lead + bias * nodes
        score = weights @ (expit(x - cut) + (expit(x + cut) - expit(x - cut)) / 2)
        return float(score - 1 / (1 + 10 ** (-elo / 400)))

    return float(brentq(excess, -5, 5))


def table_of_items(truth: Array, items: int, rng: Rng) -> nb.Scores:
    values = rng.binomial(items, truth) / items
    n = np.full(truth.shape, float(items))
    return nb.Scores(
        agents=tuple(names(len(truth))),
        tasks=tuple(f"t{k}" for k in range(truth.shape[1])),
        values=values,
        lower_is_better=np.zeros(truth.shape[1], bool),
        stderr=np.sqrt(np.maximum(values * (1 - values), 0.5 / items) / items),
        n=n,
        runs=np.ones(truth.shape, int),
    )


def two_logs(n: int, tau: float, games: int, met: float, rng: Rng, moved: float = 0.0) -> tuple[Any, Any]:
    """Return two logs of the same pairs; the first agent is better in the new one by so many log-odds."""
    x, played = log_odds(rng.normal(0, 0.6, n), tau, rng), games * some_pairs(n, met, rng)
    return play(x, played, rng), play(raise_first(x, moved), played, rng)


def raise_first(x: Array, moved: float) -> Array:
    lead = moved * np.eye(len(x))[0]
    return np.asarray(x + lead[:, None] - lead)


def grown_log(rng: Rng, moved: float = 0.0) -> tuple[Any, Any]:
    """Return a log and the same log with as many new games."""
    x = log_odds(rng.normal(0, 0.6, 8), 0.0, rng)
    old, new = play(x, 15, rng), play(raise_first(x, moved), 15, rng)
    return old, replace(old, wins=old.wins + new.wins, losses=old.losses + new.losses)


def two_tables(rng: Rng, moved: float = 0.0, agents: int = 8, tasks: int = 6) -> tuple[Any, Any]:
    x = rng.normal(0, 0.7, (agents, 1)) + rng.normal(0, 0.7, tasks) + rng.normal(0, 0.2, (agents, tasks))
    later = x + moved * np.eye(agents)[:, :1]
    return table_of_items(expit(x), 200, rng), table_of_items(expit(later), 200, rng)


PAIRS_OF_DATA: dict[str, Callable[..., tuple[Any, Any]]] = {
    "ladder, 6 agents, 20 games": lambda rng, moved=0.0: two_logs(6, 0.0, 20, 1.0, rng, moved),
    "mild cycles, 12 agents, 40% met, 10 games": lambda rng, moved=0.0: two_logs(12, 0.15, 10, 0.4, rng, moved),
    "strong cycles, 8 agents, 20 games": lambda rng, moved=0.0: two_logs(8, 0.7, 20, 1.0, rng, moved),
    "new log contains the old": grown_log,
    "score tables, 8 agents, 6 tasks of 200 items": two_tables,
    "two agents, 60 games": lambda rng, moved=0.0: two_logs(2, 0.0, 60, 1.0, rng, moved),
}
PLANTED = 1.0  # log-odds by which one agent improves


def measure_changes(runs: int, seed: int) -> list[Row]:
    """Evaluate the same truth twice: how often does an agent seem to have moved? And is a planted move found?"""
    rows = []
    for place, (label, make) in enumerate(PAIRS_OF_DATA.items()):
        rng = np.random.default_rng([seed, 5, place])
        alarms, inside, firsts = [], [], []
        for _ in range(runs):
            found = changes_between(make(rng), rng)
            alarms.append(bool(found.moved))
            inside += [move.low <= 0 <= move.high for move in found.moves]
            firsts.append(found.first_changed)
        planted = [changes_between(make(rng, PLANTED), rng).moved for _ in range(max(runs // 4, 2))]
        row = {"regime": label, "draws": runs, "any alarm": share(alarms), "standard error": error_of_share(alarms)}
        row |= {"coverage": share(inside), "first changed": share(firsts)}
        rows.append(row | {"power": share(["a00" in moved for moved in planted]), "planted": len(planted)})
    return rows


def changes_between(data: tuple[Any, Any], rng: Rng) -> nb.Changes:
    return nb.changes(*(nb.evaluate(one, n_resamples=200, rng=int(rng.integers(2**31))) for one in data))


def error_of_share(values: Any) -> float:
    """Return the standard error of a share, of (k + 1) / (n + 2) so that it is not 0 where nothing was seen."""
    p = (np.sum(values) + 1) / (len(values) + 2)
    return round(float(np.sqrt(p * (1 - p) / len(values))), 4)


def cast_votes(rng: Rng, kinds: Array, votes: int, agents: int = 8, taste: float = 0.0) -> tuple[list[Array], Array]:
    """Return votes and the log-likelihood ratio of "does not look" that knows the truth but not who favours whom."""
    n, many = len(kinds) * votes, len(kinds)
    r = rng.normal(0, 1.0, agents)
    voter = np.repeat(np.arange(many), votes)
    i = rng.integers(0, agents, n)
    j = (i + rng.integers(1, agents, n)) % agents
    own = taste * rng.standard_normal((many, agents))
    p = expit(r[i] - r[j] + own[voter, i] - own[voter, j])
    side = rng.beta(20, 1, many)[voter]
    favourite = rng.integers(0, agents, many)[voter] if (kinds == 4).any() else -np.ones(n, dtype=int)
    taken = np.where(i == favourite, side, np.where(j == favourite, 1 - side, p))
    y = 1.0 * (rng.random(n) < np.choose(kinds[voter], [p, np.full(n, 0.5), side, 1 - side, taken]))

    def total(values: Array) -> Array:
        return np.bincount(voter, values, minlength=many)

    def one_sided(own: Array, other: Array) -> Array:
        return np.asarray(betaln(20 + total(own), 1 + total(other)) - betaln(20, 1))

    follows = np.where(y == 1, np.log(p), np.log1p(-p))
    partisan = []
    for k in range(agents):
        won, lost = (((i == k) & (y == a)) | ((j == k) & (y == 1 - a)) for a in (1, 0))
        partisan.append(one_sided(won, lost) + total(follows * ~(won | lost)))
    shares = np.bincount(kinds, minlength=5)[1:] / max((kinds > 0).sum(), 1)
    others = [
        total(np.full(n, np.log(0.5))),
        one_sided(y == 1, y == 0),
        one_sided(y == 0, y == 1),
        np.logaddexp.reduce(partisan) - np.log(agents),
    ]
    with np.errstate(divide="ignore"):
        mixture = np.logaddexp.reduce(np.stack(others) + np.log(shares)[:, None], axis=0)
    return [voter, i, j, y], mixture - total(follows)


VOTERS = {  # votes each, voters of every kind, size of tastes in log-odds
    "40 votes each, 20% do not look": (40, (80, 8, 6, 6, 0), 0.0),
    "10 votes each, 20% do not look": (10, (160, 20, 10, 10, 0), 0.0),
    "40 votes each, half vote at random": (40, (50, 50, 0, 0, 0), 0.0),
    "40 votes each, 10% favour one agent": (40, (90, 0, 0, 0, 10), 0.0),
    "150 votes each, 10% favour one agent": (150, (90, 0, 0, 0, 10), 0.0),
    "40 votes each, all attentive": (40, (100, 0, 0, 0, 0), 0.0),
    "40 votes each, all attentive, tastes of 0.5": (40, (100, 0, 0, 0, 0), 0.5),
    "150 votes each, all attentive, tastes of 1": (150, (100, 0, 0, 0, 0), 1.0),
}


def measure_voters(runs: int, seed: int) -> list[Row]:
    """Is P(attentive) the share of attentive voters, and are the others found as well as with the truth?"""
    rows = []
    for label, (votes, counts, taste) in VOTERS.items():
        rng = np.random.default_rng([seed, 6])
        chance, attentive, areas, flagged = [], [], [], []
        kinds = np.repeat(np.arange(len(KINDS)), counts)
        for _ in range(runs):
            data, ratio = cast_votes(rng, kinds, votes, taste=taste)
            found = nb.voters(*data)
            order = np.argsort(np.array(found.voters, dtype=int))
            chance.append(found.probability[order, 0])
            attentive.append(kinds == 0)
            flagged.append(np.isin(np.arange(len(kinds)), np.array(found.suspects, dtype=int)))
            if (kinds > 0).any():
                areas.append([area(found.evidence[order], kinds > 0), area(ratio, kinds > 0)])
        row = {"regime": label, "draws": runs} | calibration(np.concatenate(chance), np.concatenate(attentive))
        caught, true = np.concatenate(flagged), np.concatenate(attentive)
        row["attentive, suspected"] = share(caught[true])
        if areas:
            row["others, suspected"] = share(caught[~true])
            own, known = np.mean(areas, axis=0)
            row |= {"AUC": round(own, 3), "AUC, truth known": round(known, 3)}
        rows.append(row)
    return rows


def area(score: Array, positive: Array) -> float:
    """Return the area under the ROC curve, ties half."""
    a, b = score[positive][:, None], score[~positive]
    return float(((a > b) + 0.5 * (a == b)).mean())


def calibration(claimed: Array, true: Array) -> Row:
    """Return the mean claim, how often it was true, and their mean distance in bins of the claim."""
    bins = np.minimum((claimed * 10).astype(int), 9)
    size = np.bincount(bins, minlength=10)
    gap = np.abs(np.bincount(bins, claimed, minlength=10) - np.bincount(bins, true, minlength=10))
    return {"claimed": share(claimed), "true": share(true), "off": round(float(gap.sum() / size.sum()), 4)}


INFLATED = ((3, 10), (10, 10), (10, 40))


def measure_inflation(runs: int, seed: int, regimes: Any = INFLATED) -> list[Row]:
    """Enter several equal variants: by how much does the best of them look better than it is?"""
    rows = []
    for variants, games in regimes:
        rng = np.random.default_rng([seed, 7])
        claimed, seen = [], []
        for _ in range(runs):
            r = np.concatenate([np.zeros(variants), rng.normal(0, 0.6, 10)])
            matches = play(log_odds(r, 0.0, rng), games, rng)
            found = nb.exposure(matches, families={"lab": names(variants)})
            claimed.append(found.inflation["lab"])
            seen.append(found.ratings[:variants].max() - (r - r.mean())[0] * POINTS)
        error = float(np.std(seen) / np.sqrt(runs))
        row = {"regime": f"{variants} variants, {games} games per pair", "draws": runs}
        rows.append(row | {"claimed": round(float(np.mean(claimed)), 1), "seen": round(float(np.mean(seen)), 1)})
        rows[-1]["error of seen"] = round(error, 1)
    return rows


def measure_plans(runs: int, seed: int) -> list[Row]:
    """Play as planned: is the answer right as often as the plan expects, now, after it, and after the games needed?"""
    rows = []
    for place, (label, n, tau, games) in enumerate(
        (
            ("12 agents, ladder", 12, 0.0, 4),
            ("12 agents, mild cycles", 12, 0.15, 4),
            ("6 agents, 10 games", 6, 0.05, 10),
        )
    ):
        rng = np.random.default_rng([seed, 8, place])
        results, enough = [], []
        for k in range(runs):
            r = rng.normal(0, 0.6, n)
            x = log_odds(r, tau, rng)
            old = play(x, games, rng)
            found = nb.plan(old, games=400, probability=0.8, rng=k)
            after = follow(old, x, found, rng)
            results.append((found.probability, best_is(old, x), found.expected, best_is(after, x)))
            if found.needed:  # not where the goal is reached already, or never
                longer = nb.plan(old, games=found.needed, probability=0.8, rng=k)
                enough.append(best_is(follow(old, x, longer, rng), x))
        now, right, expected, then = zip(*results, strict=True)
        row = {"regime": label, "draws": runs, "P now": share(now), "right now": share(right)}
        row |= {"expected": share(expected), "right then": share(then), "its error": error_of_share(then), "goal": 0.8}
        row |= {"right after needed": share(enough) if enough else None, "of": len(enough)}
        rows.append(row | {"error after needed": error_of_share(enough)})
    return rows


def follow(old: nb.Matches, x: Array, plan: nb.Plan, rng: Rng) -> nb.Matches:
    """Return the old games and those of a plan."""
    place = {name: k for k, name in enumerate(old.agents)}
    games = np.zeros(x.shape, dtype=int)
    for (a, b), count in zip(plan.pairs, plan.counts, strict=True):
        i, j = sorted((place[a], place[b]))
        games[i, j] = count
    new = play(x, games, rng)
    wins = np.zeros(x.shape)
    for one in (old, new):
        i, j = one.pairs.T
        wins[i, j] += one.wins
        wins[j, i] += one.losses
    return nb.Matches.from_counts(wins, agents=list(old.agents))


def best_is(matches: nb.Matches, x: Array) -> bool:
    """Return whether the answer of a plan, the highest mean log-odds over all opponents, is the true one."""
    from nashboard.evaluation.decide.plan import infer_from_matches

    return int(np.argmax(infer_from_matches(matches).mean)) == int(np.argmax(x.mean(axis=1)))


def measure_reductions(runs: int, seed: int) -> list[Row]:
    """Reduce a suite with some agents, then enter others: are their decided pairs kept, and is the order still true?"""
    from scipy.stats import kendalltau

    rows = []
    for label, items, spread in (("one skill", 60, 0.0), ("three skills", 60, 0.8)):
        rng = np.random.default_rng([seed, 9])
        results = []
        for _ in range(runs):
            skills = rng.normal(0, 1.0, (24, 3)) * spread + rng.normal(0, 0.8, (24, 1))
            truth = expit(1.5 * (skills[:, rng.integers(0, 3, items)] - rng.normal(0, 1, items)))
            values = truth + rng.normal(0, 0.1, truth.shape)
            old, new = values[:12], values[12:]
            scores = nb.Scores.from_array(old)
            found = nb.reduce_suite(scores)
            kept = [scores.tasks.index(name) for name in found.kept]
            guess = rng.choice(items, len(kept), replace=False)
            lead, low = paired_leads(new)
            decided = low > 0
            order = [kendalltau(truth[12:].mean(axis=1), new[:, part].mean(axis=1))[0] for part in (kept, guess)]
            full = kendalltau(truth[12:].mean(axis=1), new.mean(axis=1))[0]
            same = lead[decided][:, kept].mean(axis=1) > 0
            results.append((len(kept) / items, found.held_out, same.mean(), *order, full))
        keys = ("kept", "held_out claimed", "held out, seen", "order", "order, random tasks", "order, all tasks")
        row = {"regime": label, "draws": runs}
        rows.append(row | dict(zip(keys, (share(one) for one in zip(*results, strict=True)), strict=True)))
    return rows


def paired_leads(values: Array) -> tuple[Array, Array]:
    """Return leads of the better over the worse agent of each pair, and the lower end of their mean at 95%."""
    from scipy.stats import t

    i, j = np.triu_indices(len(values), 1)
    flip = values[i].mean(axis=1) < values[j].mean(axis=1)
    lead = np.where(flip[:, None], values[j] - values[i], values[i] - values[j])
    n = values.shape[1]
    return lead, lead.mean(axis=1) - t.isf(0.025, n - 1) * lead.std(axis=1, ddof=1) / np.sqrt(n)


PARTS: dict[str, tuple[Callable[[int, int], list[Row]], int]] = {  # a function, and what --runs is divided by
    "alarms": (measure_alarms, 1),
    "items": (measure_item_alarms, 1),
    "looks": (measure_looks, 1),
    "changes": (measure_changes, 7),
    "voters": (measure_voters, 40),
    "inflation": (measure_inflation, 10),
    "plans": (measure_plans, 10),
    "reductions": (measure_reductions, 40),
    "peers": (measure_peers, 10),
}


def show(rows: list[Row]) -> None:
    """Print rows as a Markdown table."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    print(f"| {' | '.join(keys)} |\n|{'---|' * len(keys)}")
    for row in rows:
        print(f"| {' | '.join(str(row.get(key, '')) for key in keys)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", nargs="*", choices=[*PARTS], default=[*PARTS])
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    results = {}
    for part in options.part:
        measure, less = PARTS[part]
        print(f"\n## {part}: {(measure.__doc__ or '').splitlines()[0]}\n", flush=True)
        results[part] = measure(max(options.runs // less, 2), options.seed)
        show(results[part])
        sys.stdout.flush()
    if options.record:
        options.record.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
