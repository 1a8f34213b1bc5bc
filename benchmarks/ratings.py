"""Ratings against their peers: speed as ratios measured in one run, quality beside it. Run by ``make bench-ratings``.

Every peer gets the columns in the form it likes best (made beforehand, not timed); nashboard always starts from a frame
of names, or from the parquet file. Runs are interleaved; the median counts.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

import nashboard as nb

AGENTS = 100
POINTS = 400 / np.log(10)


def league(games, seed=0):
    """A frame of battles among 100 named agents, a tenth of them ties, and the outcome as a number, too."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 150, AGENTS)
    a = rng.integers(0, AGENTS, games)
    b = (a + rng.integers(1, AGENTS, games)) % AGENTS
    won = rng.random(games) < 1 / (1 + 10 ** (-(r[a] - r[b]) / 400))
    code = np.where(rng.random(games) < 0.1, 2, np.where(won, 0, 1))
    names = pl.Series([f"some-lab/model-{k:03d}-chat" for k in range(AGENTS)])
    return pl.DataFrame(
        {
            "model_a": names.gather(a),
            "model_b": names.gather(b),
            "winner": pl.Series(["model_a", "model_b", "tie"]).gather(code),
        }
    )


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def compared(works, repeats):
    """Run all works in turn, several times; return the median time and the last result of each."""
    times = {name: [] for name in works}
    results = {}
    for _ in range(repeats):
        for name, work in works.items():
            seconds, results[name] = timed(work)
            times[name].append(seconds)
    return {name: median(seconds) for name, seconds in times.items()}, results


def centred(by_name):
    names = sorted(by_name)
    values = np.array([by_name[name] for name in names])
    return values - values.mean()


# --- maximum likelihood ---


def ours(source):
    elo = nb.elo(nb.read_matches(source), prior=0)
    return dict(zip(elo.agents, elo.ratings, strict=True))


def counting(source):
    frame = pl.scan_parquet(source) if isinstance(source, str | Path) else source.lazy()
    return frame.group_by("model_a", "model_b", "winner").len().collect(engine="streaming")


def by_evalica(frame):
    import evalica

    winners = frame["winner"].map(
        {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    )
    result = evalica.bradley_terry(frame["model_a"], frame["model_b"], winners, tie_weight=0.5)
    return dict(zip(result.scores.index, np.log(result.scores) * POINTS, strict=True))


def by_arena_rank(frame):
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    dataset = PairDataset.from_pandas(frame)
    model = BradleyTerry(n_competitors=len(dataset.competitors))
    model.fit(dataset)
    return dict(zip(dataset.competitors, np.asarray(model.params["ratings"]) * POINTS, strict=True))


def by_fastchat(frame):
    """FastChat's approach: pair counts by pandas, then weighted logistic regression by scikit-learn."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    table = frame.groupby(["model_a", "model_b", "winner"], observed=True).size().unstack(fill_value=0)
    wins, losses = table["model_a"] * 2 + table["tie"], table["model_b"] * 2 + table["tie"]
    names = pd.Index(sorted(set(frame["model_a"].unique()) | set(frame["model_b"].unique())))
    a, b = (names.get_indexer(table.index.get_level_values(side)) for side in ("model_a", "model_b"))
    X = np.zeros((2 * len(table), len(names)))
    rows = np.arange(len(table))
    for shift in (0, len(table)):
        X[rows + shift, a], X[rows + shift, b] = np.log(10), -np.log(10)
    y = np.repeat([1.0, 0.0], len(table))
    model = LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-6)
    model.fit(X, y, sample_weight=np.concatenate([wins, losses]))
    return dict(zip(names, model.coef_[0] * 400, strict=True))


def maximum_likelihood(games, repeats, folder):
    frame = league(games)
    path = folder / f"battles-{games}.parquet"
    frame.write_parquet(path)
    columns = ["model_a", "model_b", "winner"]
    native = frame.to_pandas()
    import pandas as pd

    peers = {"evalica": by_evalica, "arena-rank": by_arena_rank, "FastChat's approach": by_fastchat}
    for peer in peers.values():
        peer(native.head(10_000))  # warm-up: imports, compilation
    ours(frame.head(10_000))
    print(f"\nElo by maximum likelihood, {AGENTS} agents, {games:,} battles, median of {repeats}")
    for label, source, peer_source in (
        ("frame of names", frame, lambda: native),
        ("parquet file", path, lambda: pd.read_parquet(path, columns=columns)),
    ):
        works = {
            "nashboard": lambda source=source: ours(source),
            "bare counting": lambda source=source: counting(source),
        }
        works |= {name: lambda peer=peer, get=peer_source: peer(get()) for name, peer in peers.items()}
        seconds, results = compared(works, repeats)
        exact = centred(results["nashboard"])
        print(f"  from a {label}")
        for name, spent in seconds.items():
            ratio = f"{spent / seconds['nashboard']:8.2f} x nashboard's time"
            off = (
                "" if name == "bare counting" else f", off by {np.abs(centred(results[name]) - exact).max():.1e} points"
            )
            print(f"    {name:22} {spent:8.3f} s {ratio}{off}")
        elo = nb.elo(nb.read_matches(source), prior=0)
        print(f"    nashboard's gradient has norm {elo.gradient_norm:.1e}")


# --- online ---


def online_sides(games):
    """The four online models, each ready to learn from one log: ours from names, riix from numbers."""
    from riix.models.elo import Elo
    from riix.models.melo import Melo

    frame = league(games, seed=1)
    outcome = frame["winner"].replace_strict({"model_a": 1.0, "model_b": 0.0, "tie": 0.5}, return_dtype=pl.Float64)
    frame = frame.select("model_a", "model_b", outcome=outcome)
    names = list(dict.fromkeys(name for row in frame.head(20_000).select("model_a", "model_b").rows() for name in row))
    place = {name: k for k, name in enumerate(names)}
    pairs = np.stack([frame[side].replace_strict(place).to_numpy() for side in ("model_a", "model_b")], axis=1)
    results = frame["outcome"].to_numpy()

    def our_elo():
        model = nb.OnlineElo(rate=16)
        model.update_many(frame)
        return model.league.ratings

    def our_melo():
        model = nb.OnlineMelo(1, rate=16, cyclic_rate=0.125, rng=0)
        model.update_many(frame)
        return model.ratings().leads()

    def riix_elo():
        model = Elo(names, initial_rating=0.0, k=16.0)
        model.update(pairs, results, time_step=0)
        return model.ratings

    def riix_melo():
        model = Melo(names, initial_rating=0.0, eta_r=16.0, eta_c=0.125)
        model.c = np.random.default_rng(0).standard_normal((AGENTS, 2))
        model.update(pairs, results, time_step=0)
        r, c = model.ratings.ravel(), model.c
        return np.subtract.outer(r, r) + np.outer(c[:, 0], c[:, 1]) - np.outer(c[:, 1], c[:, 0])

    return {"our_elo": our_elo, "our_melo": our_melo, "riix_elo": riix_elo, "riix_melo": riix_melo}


def online(games, repeats):
    our_elo, our_melo, riix_elo, riix_melo = online_sides(games).values()
    our_elo(), our_melo()  # warm-up
    for label, mine, other in (("Elo", our_elo, riix_elo), ("mElo, one plane", our_melo, riix_melo)):
        seconds, found = compared({"nashboard": mine, "riix": other}, repeats)
        off = np.abs(np.ravel(found["nashboard"]) - np.ravel(found["riix"])).max()
        print(f"\n{label} online, {games:,} games, median of {repeats}: nashboard from names, riix from numbers")
        for name, spent in seconds.items():
            print(f"    {name:22} {games / spent / 1e6:8.2f} million games per second")
        ratio = seconds["riix"] / seconds["nashboard"]
        print(f"    nashboard is {ratio:.0f} times as fast; they differ by {off:.1e} points")


def compile_time():
    """Time to load the compiled loops in a new process, with an empty cache and with a full one."""
    code = (
        "import time, numba; t = time.perf_counter(); import nashboard.ratings.kernels; print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as cache:
        run = [
            float(subprocess.check_output([sys.executable, "-c", code], env=os.environ | {"NUMBA_CACHE_DIR": cache}))
            for _ in range(2)
        ]
    print(f"\ncompiled loops: {run[0]:.2f} s the first time on a machine, {run[1]:.2f} s from the cache on disk")


def large_melo(agents=1000, pairs=100_000, planes=2, games=10):
    """mElo of a league with many observed pairs."""
    rng = np.random.default_rng(1)
    r, C = rng.normal(0, 1, agents), rng.normal(0, 1, (agents, 2 * planes))
    i, j = np.triu_indices(agents, 1)
    chosen = np.sort(rng.choice(i.size, pairs, replace=False))
    i, j = i[chosen], j[chosen]
    x = r[i] - r[j] + (C[i, 0::2] * C[j, 1::2] - C[i, 1::2] * C[j, 0::2]).sum(axis=1)
    wins = rng.binomial(games, 1 / (1 + np.exp(-x))).astype(float)
    matches = nb.Matches(
        agents=tuple(f"agent {k}" for k in range(agents)),
        pairs=np.stack([i, j], axis=1),
        wins=wins,
        draws=0 * wins,
        losses=games - wins,
    )
    spent, melo = timed(lambda: nb.melo(matches, k=planes))
    print(f"\nmElo, {agents:,} agents, {pairs:,} observed pairs, {planes} planes: {spent:.1f} s")
    print(f"    for {len(melo.ends)} starts, which ended {melo.spread:.1e} nats per game apart, and standard errors;")
    print(f"    the gradient has norm {melo.gradient_norm:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a million battles at most, each once")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        compile_time()
        online(200_000, 1 if quick else 3)
        large_melo()
        maximum_likelihood(1_000_000, 1 if quick else 3, Path(folder))
        if not quick:
            maximum_likelihood(10_000_000, 1, Path(folder))


if __name__ == "__main__":
    main()
