"""The numbers of compare, voters and exposure, beside those of other programs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from decision_data import Rng, Row, log_odds, play

import nashboard as nb

POINTS = 400 / np.log(10)
Pairs = list[tuple[float, float]]


def measure_peers(runs: int, seed: int) -> list[Row]:
    """Compute the same numbers with other programs, those that are installed: what is the largest difference?"""
    rows = []
    for label, compute in PEERS.items():
        rng = np.random.default_rng([seed, 10])
        try:
            apart = [abs(own - other) for _ in range(runs) for own, other in compute(rng)]
        except ImportError as error:
            rows.append({"number": label, "largest difference": f"not measured: {error}"})
        else:
            rows.append({"number": label, "cases": len(apart), "largest difference": f"{max(apart):.1e}"})
    return rows


def alpha_by_evalica(rng: Rng) -> Pairs:
    """Agree on tables of 3 to 8 raters and 5 to 40 units with missing ratings."""
    import evalica
    import pandas as pd

    R = rng.integers(1, rng.integers(3, 7), (rng.integers(3, 9), rng.integers(5, 41))).astype(float)
    R[rng.random(R.shape) < rng.choice([0.0, 0.2, 0.4])] = np.nan
    return [
        (nb.krippendorff_alpha(R, distance=name), float(evalica.alpha(pd.DataFrame(R), distance=name).alpha))
        for name in ("nominal", "interval")
    ]


def p_values_by_scipy(rng: Rng) -> Pairs:
    """Compare by the paired t-test, Welch's test and the exact McNemar test (as a binomial test)."""
    from scipy import stats

    x, y = rng.random((2, 25))
    a, b = 1.0 * (rng.random((2, 40)) < [[0.7], [0.5]])
    discordant = int((a != b).sum())
    u, v = rng.normal(0.3, 0.2, rng.integers(3, 12)), rng.normal(0.2, 0.4, rng.integers(3, 12))
    runs = nb.Scores(
        agents=("a", "b"),
        tasks=("t",),
        values=np.array([[u.mean()], [v.mean()]]),
        lower_is_better=np.zeros(1, bool),
        stderr=np.array([[stats.sem(u)], [stats.sem(v)]]),
        n=np.full((2, 1), np.nan),
        runs=np.array([[len(u)], [len(v)]]),
    )
    return [
        (p_value([x, y]), float(stats.ttest_rel(x, y).pvalue)),
        (p_value([a, b]), float(stats.binomtest(int((a > b).sum()), discordant).pvalue) if discordant else 1.0),
        (nb.compare(runs, "a", "b").p_value, float(stats.ttest_ind(u, v, equal_var=False).pvalue)),
    ]


def p_values_by_statsmodels(rng: Rng) -> Pairs:
    """Compare by the exact McNemar test, Holm's correction, and clusters of equal sizes."""
    import statsmodels.api as sm
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    a, b, c = 1.0 * (rng.random((3, 60)) < [[0.7], [0.5], [0.4]])
    table = [[((a == s) & (b == t)).sum() for t in (1, 0)] for s in (1, 0)]
    several = nb.compare(nb.Scores.from_array([a, b, c], agents=["a", "b", "c"]), "a", ["b", "c"])
    holm = multipletests([p_value([a, b]), p_value([a, c])], method="holm")[1]
    groups = np.repeat(np.arange(12), rng.integers(2, 9))
    x, y = rng.random((2, len(groups))) / 2 + rng.random((2, 12))[:, groups] / 2
    fit = sm.OLS(x - y, np.ones((len(x), 1))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    return [
        (p_value([a, b]), float(mcnemar(table, exact=True).pvalue)),
        *((row.p_value, float(p)) for row, p in zip(several, holm, strict=True)),
        (p_value([x, y], groups.tolist()), float(fit.pvalues[0])),
    ]


def p_value(rows: Any, clusters: Any = None) -> float:
    return float(nb.compare(nb.Scores.from_array(rows, agents=["a", "b"]), "a", "b", clusters=clusters).p_value)


def ratings_by_arena_rank(rng: Rng) -> Pairs:
    """Fit reweighted pairs of a log of 8 agents without a prior; arena-rank computes with 32 bits."""
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    from nashboard.evaluation.decide.voters import reweight_pairs

    matches = play(log_odds(rng.normal(0, 0.6, 8), 0.0, rng), rng.integers(20, 200, (8, 8)), rng)
    rows = [
        (matches.agents[a], matches.agents[b], winner)
        for (a, b), won, lost in zip(matches.pairs, matches.wins, matches.losses, strict=True)
        for winner in ["model_a"] * int(won) + ["model_b"] * int(lost)
    ]
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    dataset = PairDataset.from_pandas(frame, reweighted=True)
    model = BradleyTerry(n_competitors=8)
    model.fit(dataset)
    theirs = np.asarray(model.params["ratings"], dtype=float) * POINTS
    own = nb.elo(reweight_pairs(matches, 50), prior=0)
    place = [own.agents.index(name) for name in dataset.competitors]
    return list(zip(own.ratings[place] - own.ratings.mean(), theirs - theirs.mean(), strict=True))


PEERS: dict[str, Callable[[Rng], Pairs]] = {
    "Krippendorff's alpha, evalica": alpha_by_evalica,
    "p-values, scipy": p_values_by_scipy,
    "p-values, statsmodels": p_values_by_statsmodels,
    "Elo with pairs weighted alike, arena-rank": ratings_by_arena_rank,
}
