"""Resampling in parallel, with the same answer whatever the number of workers and wherever they run.

Every draw has its own stream of random numbers, which depends only on the seed, the question and the number of the
draw. joblib distributes the work over threads, since the linear algebra releases the interpreter's lock, or over what
the caller chose by ``joblib.parallel_config``: processes (``"loky"``) or a cluster (``"dask"``, ``"ray"``).
"""

import functools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from nashboard._progress import show_progress
from nashboard._threads import threads_for
from nashboard.errors import InputError, WorkerError

TOGETHER = 16  # resamples that a worker solves in one go

IN_PYTHON = "call nashboard from Python, as docs/cluster.md shows; a command takes threading or loky"
CLUSTERS = {
    "dask": f"a Dask cluster needs a client, dask.distributed.Client: {IN_PYTHON}",
    "ray": f"a Ray cluster has to be registered, by ray.util.joblib.register_ray: {IN_PYTHON}",
}

PROCESSES = "LokyBackend"
LOCAL = ("ThreadingBackend", PROCESSES)  # whose results come one by one

Piece = TypeVar("Piece")
Work = Callable[[list[np.random.Generator]], Piece]

# How libraries that need not be installed say that a worker is gone (loky and the standard library, Dask, Ray).
LOST = {
    "BrokenExecutor",
    "KilledWorker",
    "CommClosedError",
    "NoValidWorkerError",
    "NoWorkerError",
    "RayActorError",
    "WorkerCrashedError",
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many resamples, from which seed, by how many workers of which kind, and whether to show progress."""

    n_resamples: int
    seed: int
    workers: int | None
    backend: str | None
    progress: bool

    def streams(self, question: int, draws: Iterable[int] | None = None) -> list[np.random.Generator]:
        """Return the generators of some draws, or of all; questions have streams of their own."""
        numbers = range(self.n_resamples) if draws is None else draws
        seeds = (np.random.SeedSequence([self.seed, question], spawn_key=(k,)) for k in numbers)
        return [np.random.default_rng(seed) for seed in seeds]


def plan_of(
    n_resamples: int, rng: int | np.random.Generator, workers: int | None, progress: bool, backend: str | None = None
) -> Plan:
    """Check the options of resampling."""
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, int | np.integer) or n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples!r}: it must be a whole number, at least 1 (200 is usual)")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers is {workers!r}: it must be a whole number, at least 1, or None for all cores")
    if isinstance(rng, np.random.Generator):
        seed = int(rng.integers(2**63))
    elif isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        seed = int(rng)
    else:
        raise InputError(f"rng is {rng!r}: give a seed, a whole number not below 0, or a numpy Generator")
    return Plan(n_resamples=int(n_resamples), seed=seed, workers=workers, backend=backend, progress=progress)


def spread_out(work: Work[Piece], plan: Plan, question: int, what: str) -> list[Piece]:
    """Let the workers do all resamples, in pieces, and return the pieces in order."""
    from joblib import Parallel, delayed

    pieces = [range(at, min(at + TOGETHER, plan.n_resamples)) for at in range(0, plan.n_resamples, TOGETHER)]
    found: list[Piece] = []
    with ExitStack() as stack:
        jobs, backend = stack.enter_context(choose_workers(plan))
        stack.enter_context(threads_for(1))  # the workers share the cores, not the linear algebra inside them
        progress = stack.enter_context(show_progress(what, total=plan.n_resamples, asked=plan.progress))
        parallel = Parallel(n_jobs=jobs, prefer="threads", return_as="generator" if backend in LOCAL else "list")
        with lost_workers(), stopped_children():
            with started_whole() if backend == PROCESSES else nullcontext():
                parent = os.getpid() if backend == PROCESSES else None
                done = parallel(delayed(draw_piece)(work, plan, question, piece, parent) for piece in pieces)
            for piece, answer in zip(pieces, done, strict=True):
                found.append(answer)
                progress.advance(len(piece))
    return found


def draw_piece(work: Work[Piece], plan: Plan, question: int, draws: range, parent: int | None) -> Piece:
    """Do some of the draws in a worker; a process ends with its parent."""
    if parent is not None:
        end_with(parent)
    with threads_for(1):
        return work(plan.streams(question, draws))


@functools.cache  # once in a process
def end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without a word to its children."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def choose_workers(plan: Plan) -> Iterator[tuple[int, str]]:
    """Choose the workers that were asked for; return the number of jobs and joblib's name of the backend."""
    from joblib import parallel_config
    from joblib.parallel import get_active_backend

    with ExitStack() as stack:
        if plan.backend is not None:
            try:
                stack.enter_context(parallel_config(backend=plan.backend))
            except (ValueError, ImportError) as error:
                if plan.backend in CLUSTERS:
                    raise InputError(f"the backend {plan.backend!r} cannot be used: {CLUSTERS[plan.backend]}") from None
                reason = " ".join(str(error).split())
                raise InputError(f"the backend {plan.backend!r} cannot be used: {reason}") from None
        active, jobs = get_active_backend(prefer="threads")
        kind = type(active).__name__
        if kind == "DaskDistributedBackend":
            report_failures(active)
        yield plan.workers or (jobs if jobs not in (None, 1) else -1), kind


@dataclass(frozen=True)
class Failure:
    """What stands in for a result when Dask gave up on a task."""

    error: BaseException


def report_failures(backend: Any) -> None:
    """Report to joblib that Dask gave up on a task: its backend reports results only, and would wait for ever."""
    submitted, result = backend.submit, backend.retrieve_result_callback

    def submit(func: Any, callback: Any = None) -> Any:
        future = submitted(func, callback)
        if callback is not None:
            future.add_done_callback(lambda done: callback(Failure(done.exception())) if done.exception() else None)
        return future

    def retrieve(out: Any) -> Any:
        if isinstance(out, Failure):
            raise out.error
        return result(out)

    backend.submit, backend.retrieve_result_callback = submit, retrieve


@contextmanager
def started_whole() -> Iterator[None]:
    """Start worker processes inside the block: signals reach this process once all of them are started.

    Ctrl-C reaches all of a terminal's processes. The workers do not hear it: this process answers for all and ends
    them. A request to terminate waits for the end of the block, since joblib does not clean up after half a start.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # every process needs it, and to start it inside would unblock the signal
    asked: list[object] = []
    handler = signal.getsignal(signal.SIGTERM)
    held = callable(handler) and threading.current_thread() is threading.main_thread()
    if held:  # not blocked: workers would inherit that
        signal.signal(signal.SIGTERM, lambda *call: asked.append(call))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # workers inherit what is blocked
    try:
        yield
    finally:
        if held:
            signal.signal(signal.SIGTERM, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if asked:
            signal.raise_signal(signal.SIGTERM)


@contextmanager
def stopped_children() -> Iterator[None]:
    """End worker processes at once on Ctrl-C or a request to terminate; one that starts would print a traceback."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        for child in multiprocessing.active_children():
            if child.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(child.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        raise


@contextmanager
def lost_workers() -> Iterator[None]:
    """Turn the many ways in which a worker can be lost into one sentence."""
    try:
        yield
    except Exception as error:
        if LOST.isdisjoint(kind.__name__ for kind in type(error).__mro__):
            raise
        raise WorkerError(
            "a worker died while it resampled, perhaps for lack of memory; nothing was written; try fewer workers"
        ) from error
