"""Solve hard games by the thousand, away from the tests.

    python tests/equilibrium/fuzz.py --cases 20000 --processes 2 --record
    python tests/equilibrium/fuzz.py --cases 2000 --family wild --kind tables
    python tests/equilibrium/fuzz.py --cases 1 --start 4711 --family wild     one case again

Each case is solved, and solved again with the players in another order and some entered several times. A case fails
where a solve raises, where a certificate exceeds 1e-9, where a weight is negative or they do not add up to 1, where
the value is not the one of an exact solve in fractions, where fractions refute that an equilibrium is the only one, and
where order or copies move a weight, an average or who is a clone of whom. Where ties are exact, linear programs also
judge who has weight and whether equilibria are many.
Fractions decide what those dispute.
Families are those of ``tests/hard_games.py``; case k of a family is the same on every machine.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).parents[1])]  # the tests import one another by their names there

import nashboard as nb  # noqa: E402 - found only after the line above
from equilibrium_games import Matrix, rng_of  # noqa: E402 - as above
from hard_games import CLEAN, HARD, hard_game, hard_table  # noqa: E402 - as above
from long_runs import recorded  # noqa: E402 - as above
from nashboard.equilibrium.batch import nash_averages, nash_averages_scores  # noqa: E402 - as above
from reference_equilibrium import between_copies, exact_value, require_right_claim, require_the_only_one  # noqa: E402 - as above

TIGHT = 1e-9
BATCH = 4  # every so many cases the stack of games is asked too
Ints = NDArray[np.intp]


def labels(names: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> Ints:
    """Return the class of each player: the first member of its group of clones."""
    at = {name: k for k, name in enumerate(names)}
    label = np.arange(len(names))
    for group in groups:
        label[[at[name] for name in group]] = at[group[0]]
    return label


def require_sane(weights: Matrix, averages: Matrix) -> None:
    """Refuse weights that are no mixture."""
    assert np.isfinite(weights).all(), "weights are not finite"
    assert weights.min() >= 0, f"a weight is negative: {weights.min()}"
    assert abs(weights.sum() - 1) <= 1e-14, f"weights add up to {weights.sum()!r}"
    assert np.isfinite(averages).all(), "averages are not finite"


def require_same(before: tuple[Matrix, Ints], after: tuple[Matrix, Ints], who: Ints, what: str) -> None:
    """Refuse totals of classes that moved, and classes that changed, when players came in another order or again.

    A mixture is given by its weights and the class of each player; ``who`` says who stands in each place after.
    """
    (old, label), (new, again) = before, after
    assert ((label[who][:, None] == label[who]) == (again[:, None] == again)).all(), f"clones of {what} changed"
    totals = np.bincount(label, weights=old, minlength=len(old))
    moved = np.abs(np.bincount(label[who], weights=new, minlength=len(old)) - totals).max()
    assert moved <= TIGHT, f"weights of {what} moved by {moved:.1e}"


def again(rng: np.random.Generator, n: int) -> Ints:
    """Return everybody in another order, and some of them several times."""
    return rng.permutation(np.append(np.arange(n), rng.integers(0, n, size=int(rng.integers(0, 5)))))


def check_game(family: str, seed: int) -> None:
    """Solve one game of agents against agents."""
    A = hard_game(family, seed)
    scale, rng = float(np.abs(A).max()), rng_of(seed + 1)
    result = nb.nash_average(A)
    require_sane(result.weights, result.averages)
    assert result.exploitability <= TIGHT * scale, f"exploitability {result.exploitability / scale:.1e}"
    assert result.residual <= TIGHT, f"residual {result.residual:.1e}"
    gain = gains([[Fraction(x) for x in row] for row in A.tolist()], result.weights)
    assert gain <= TIGHT * scale, f"a deviation gains {gain / scale:.1e} exactly"
    who = again(rng, len(A))
    other = nb.nash_average(A[np.ix_(who, who)])
    before = result.weights, labels(result.agents, result.clone_groups)
    require_same(before, (other.weights, labels(other.agents, other.clone_groups)), who, "agents")
    if result.unique and (distinct := between_copies(A, before)):
        require_the_only_one(distinct[0], *distinct[1])
    moved = np.abs(other.averages - result.averages[who]).max()
    assert moved <= TIGHT * scale, f"averages moved by {moved / scale:.1e}"
    if seed % BATCH == 0:
        weights = nash_averages(A[None]).weights[0]
        assert np.abs(weights - result.weights).max() <= TIGHT, "the stack of games has another answer"
    if seed % BATCH == 1 and family in CLEAN and scale > 0:
        require_right_claim(A / scale, 0.0, *before, result.unique, "agents")


def check_table(family: str, seed: int) -> None:
    """Solve one table of agents against tasks."""
    S = hard_table(family, seed)
    spread, rng = float(np.ptp(S)), rng_of(seed + 1)
    result = nb.nash_average_scores(S)
    p, q = result.agent_weights, result.task_weights
    require_sane(p, result.skills)
    require_sane(q, result.difficulties)
    allowed = TIGHT * spread + 4 * sum(S.shape) * float(np.spacing(np.abs(S).max()))  # what rounding is worth
    assert result.exploitability <= allowed, f"exploitability {result.exploitability:.1e} of {spread:.1e}"
    assert result.residual <= TIGHT, f"residual {result.residual:.1e}"
    exact = exact_value([[Fraction(x) for x in row] for row in S.tolist()])
    assert abs(Fraction(result.value) - exact) <= allowed, f"the value is {float(exact)!r}, not {result.value!r}"
    rows, columns = again(rng, len(S)), again(rng, S.shape[1])
    other = nb.nash_average_scores(S[np.ix_(rows, columns)])
    agents, tasks = labels(result.agents, result.agent_clone_groups), labels(result.tasks, result.task_clone_groups)
    after = other.agent_weights, labels(other.agents, other.agent_clone_groups)
    require_same((p, agents), after, rows, "agents")
    after = other.task_weights, labels(other.tasks, other.task_clone_groups)
    require_same((q, tasks), after, columns, "tasks")
    if result.unique and (distinct := between_copies(S, (p, agents), (q, tasks))):
        require_the_only_one(distinct[0], *distinct[1])
    moved = max(
        np.abs(other.skills - result.skills[rows]).max(),
        np.abs(other.difficulties - result.difficulties[columns]).max(),
    )
    assert moved <= allowed, f"averages moved by {moved:.1e} of {spread:.1e}"
    if seed % BATCH == 0:
        stack = nash_averages_scores(S[None])
        apart = max(np.abs(stack.agent_weights[0] - p).max(), np.abs(stack.task_weights[0] - q).max())
        assert apart <= TIGHT, "the stack of tables has another answer"
    if seed % BATCH == 1 and family in CLEAN and spread > 0:
        K, v = S / spread, result.value / spread
        require_right_claim(K, v, q, tasks, result.tasks_unique, "tasks")
        require_right_claim(-K.T, -v, p, agents, result.agents_unique, "agents")


def gains(A: list[list[Fraction]], weights: Matrix) -> Fraction:
    """Return what the best deviation gains, without any rounding."""
    w = [Fraction(x) for x in weights.tolist()]
    return max(sum((a * x for a, x in zip(row, w, strict=True)), Fraction(0)) for row in A)


KINDS: dict[str, Callable[[str, int], None]] = {"games": check_game, "tables": check_table}


def failure(family: str, kind: str, seed: int) -> str | None:
    """Return why a case fails, if it does."""
    try:
        KINDS[kind](family, seed)
    except (AssertionError, nb.ConvergenceError) as error:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return traceback.format_exc()
    return None


def run_seed(seed: int, families: list[str], kinds: list[str]) -> list[tuple[str, str, int, str | None]]:
    """Return every case of a seed, and why it fails if it does."""
    return [(family, kind, seed, failure(family, kind, seed)) for family, kind in product(families, kinds)]


def main() -> int:
    """Run what the command line asks for; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000, help="how many cases of all families and kinds together")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--family", action="append", choices=list(HARD), help="one or more; all of them by default")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="games, tables, or both by default")
    parser.add_argument("--processes", type=int, default=1, help="how many processes share the cases")
    parser.add_argument("--record", action="store_true", help="add the result to tests/long_runs.jsonl")
    options = parser.parse_args()
    families, kinds = options.family or list(HARD), options.kind or list(KINDS)
    each = -(-options.cases // (len(families) * len(kinds)))
    found: Counter[tuple[str, str]] = Counter()
    done, began = 0, time.perf_counter()
    run = partial(run_seed, families=families, kinds=kinds)
    seeds = range(options.start, options.start + each)
    with ProcessPoolExecutor(options.processes) if options.processes > 1 else nullcontext() as pool:
        try:
            for cases in pool.map(run, seeds, chunksize=4) if pool else map(run, seeds):
                done += len(cases)
                for family, kind, seed, reason in cases:
                    if reason is not None:
                        found[family, kind] += 1
                        print(f"{family} {kind} {seed}: {reason}", flush=True)
        except KeyboardInterrupt:  # what was seen so far is worth telling
            if pool:
                pool.shutdown(wait=False, cancel_futures=True)
    print(f"{done:,} cases, {found.total():,} failed: {dict(found)}")
    if options.record:
        took = round(time.perf_counter() - began)
        processes = {"processes": options.processes} if options.processes > 1 else {}
        recorded("equilibrium fuzz", first=options.start, cases=done, failed=found.total(), seconds=took, **processes)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
