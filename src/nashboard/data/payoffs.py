"""Payoffs: an antisymmetric matrix, what an agent gains when it meets another.

Symbols: ``A`` payoffs (n, n) with ``A = -A'``; ``p`` the smoothed win rate of a pair.
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import ArrayLike

from nashboard._tables import Column, Table, Tabular, title_of
from nashboard._text import number_of, plural
from nashboard._types import Floats, Ints, frozen_copy, read_only, spacing_of, square
from nashboard.data.matches import Matches
from nashboard.data.origin import MEMORY, Origin
from nashboard.data.validation import checked_names, positions, refuse_cells
from nashboard.errors import ConvergenceError, InputError, check_choice

if TYPE_CHECKING:
    import polars as pl

PayoffScale = Literal["logit", "margin"]
Fill = Literal["error", "zero", "model"]

# A + A' may miss zero by this share of the largest payoff and still count as rounding.
ROUNDING = 1e-9
ENOUGH = 1000  # rows that show what kind of numbers a matrix contains
WEAK = 0.01  # drawn games of each agent with an average one, where pairs that never met are filled in
CLOSE, EPSILON = 1e-8, 1e-12  # of the gradient's norm in games, and of a rating in logits
MOST_STEPS, DENSE = 1000, 2000  # of Newton's method, and agents up to which its system is solved as a dense one


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Payoffs(Tabular):
    """What each agent gains against each other agent: ``A[i, j] = -A[j, i]``, by construction.

    Parameters
    ----------
    agents
        Names, unique.
    A
        ``(n, n)`` payoffs of the row agent against the column agent; the antisymmetric part is kept.
    scale
        The unit: ``"logit"`` (log-odds of winning), ``"margin"`` (win rate minus loss rate), ``"given"``.
    filled
        How many unordered pairs never met and were filled in.
    made
        How the matrix was made, in words.
    stderr
        ``(n, n)`` standard errors of the payoffs, symmetric; infinite for a pair that was not measured.
    games
        ``(n, n)`` numbers of games behind the payoffs, symmetric, 0 for a pair that was not measured. They give
        standard errors where payoffs are log-odds (``scale="logit"``) or margins in [-1, 1].
    spacing
        Distance from 1 to the next number of the type in which payoffs were given: single precision knows less.

    Without ``stderr`` and ``games`` nothing is known of the noise, and the payoffs are taken as exact.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.Payoffs.from_array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], agents=["rock", "paper", "scissors"])
    Payoffs(3 agents, given, largest 1)
    """

    agents: tuple[str, ...]
    A: Floats
    scale: str = "given"
    filled: int = 0
    made: str = "given as a matrix"
    origin: Origin = MEMORY
    stderr: Floats | None = None
    games: Floats | None = None
    spacing: float = 0.0

    def __post_init__(self) -> None:
        A = square(self.A, "the payoff matrix")
        object.__setattr__(self, "spacing", max(self.spacing, spacing_of(np.asarray(self.A).dtype)))
        if not len(A):
            raise InputError("the payoff matrix is empty: it needs at least one agent")
        agents = checked_names(self.agents, size=len(A), kind="agent")
        refuse_cells(~np.isfinite(A), A, agents, "a payoff must be finite")
        object.__setattr__(self, "agents", agents)
        object.__setattr__(self, "A", read_only(antisymmetric(A)))
        for name in ("stderr", "games"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen_copy(self.checked_noise(name)))
        if self.games is not None and self.stderr is None:
            self.errors()

    def checked_noise(self, name: str) -> Floats:
        """Return standard errors or numbers of games: symmetric, not negative, 0 on the diagonal."""
        what = {"stderr": "the matrix of standard errors", "games": "the matrix of games"}[name]
        values = square(getattr(self, name), what)
        if values.shape != self.A.shape:
            raise InputError(
                f"{what} is {values.shape}, and the payoffs are {self.A.shape}: both must be agents x agents"
            )
        np.fill_diagonal(values, 0.0)
        rule = {"stderr": "a standard error must not be negative", "games": "games must be finite, not negative"}[name]
        refuse_cells(~(values >= 0) | ((name == "games") & np.isinf(values)), values, self.agents, rule)
        refuse_cells(
            values != values.T, values, self.agents, f"{what} must be symmetric; symmetrise=True combines both"
        )
        return values

    def errors(self) -> Floats | None:
        """Return the standard error of every payoff, infinite where it was not measured; None where nothing is known.

        Of ``N`` games with share of points ``p``: ``1 / sqrt(N p (1 - p))`` for log-odds, ``2 sqrt(p (1 - p) / N)`` for
        margins; ``p`` is smoothed by a game, so that a one-sided result is not taken as certain.
        """
        if self.stderr is not None or self.games is None:
            return self.stderr
        N = np.where(self.games > 0, self.games, 1.0)
        if self.scale == "logit":
            share = 1 / (1 + np.exp(-self.A))
        elif np.abs(self.A).max() <= 1:
            share = (1 + self.A) / 2
        else:
            raise InputError(
                "games give standard errors of log-odds and of margins in [-1, 1] only, and these payoffs are larger: "
                "give stderr= instead"
            )
        share = (share * N + 0.5) / (N + 1)
        spread = np.sqrt(share * (1 - share))
        errors = 1 / (spread * np.sqrt(N)) if self.scale == "logit" else 2 * spread / np.sqrt(N)
        found = np.where(self.games > 0, errors, np.inf)
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)

    @staticmethod
    def from_array(
        A: ArrayLike,
        agents: Iterable[object] | None = None,
        *,
        symmetrise: bool = False,
        stderr: ArrayLike | None = None,
        games: ArrayLike | float | None = None,
        scale: str = "given",
    ) -> "Payoffs":
        """Make payoffs of a matrix that is antisymmetric, up to rounding.

        ``symmetrise=True`` accepts a noisy cross-table, in which the two directions of a pair were measured
        apart, and keeps ``(A - A') / 2``. Without it such a table is an error that says where it is worst.

        ``stderr`` and ``games`` say how precise the payoffs are: a number for all pairs, or a matrix. With
        ``symmetrise=True`` they are those of one direction each, and are combined.

        Examples
        --------
        >>> import nashboard as nb
        >>> nb.Payoffs.from_array([[0, 0.4], [-0.4, 0]], games=50).errors().round(2).tolist()
        [[0.0, 0.13], [0.13, 0.0]]
        """
        given, A = A, square(A, "the payoff matrix")
        names = checked_names(agents, size=len(A), kind="agent")
        made = "given as a matrix"
        exact = (A == -A.T).all()
        if not exact:
            refuse_cells(~np.isfinite(A), A, names, "a payoff must be finite")
            gap = np.abs(A / 2 + A.T / 2)  # halves first: the sum of two huge payoffs must not overflow
        if not exact and gap.max() > ROUNDING * np.abs(A).max() / 2:
            i, j = np.unravel_index(gap.argmax(), gap.shape)
            if not symmetrise:
                refuse_asymmetric(A, int(i), int(j), names, "symmetrise=True")
            made = f"given as a matrix, its two directions averaged (they disagreed by up to {2 * gap.max():g})"
        errors, counts = (
            None if values is None else np.array(np.broadcast_to(np.asarray(values, dtype=np.float64), A.shape))
            for values in (stderr, games)
        )
        if symmetrise and errors is not None:
            errors = np.hypot(errors, errors.T) / 2
        if symmetrise and counts is not None:
            counts = counts + counts.T
        return Payoffs(
            agents=names,
            A=A,
            made=made,
            scale=scale,
            stderr=errors,
            games=counts,
            spacing=spacing_of(np.asanyarray(given).dtype),
        )

    def select(self, agents: Iterable[str]) -> "Payoffs":
        """Return the payoffs among the named agents, in the order given."""
        kept = positions(agents, self.agents, kind="agent")
        return Payoffs(
            agents=tuple(self.agents[k] for k in kept),
            A=self.A[np.ix_(kept, kept)],
            scale=self.scale,
            filled=min(self.filled, len(kept) * (len(kept) - 1) // 2),  # which pairs were filled is not kept
            made=self.made,
            origin=self.origin.noting(f"{len(kept):,} of {len(self.agents):,} agents selected"),
            stderr=None if self.stderr is None else self.stderr[np.ix_(kept, kept)],
            games=None if self.games is None else self.games[np.ix_(kept, kept)],
            spacing=self.spacing,
        )

    def to_frame(self) -> "pl.DataFrame":
        """Return the matrix as a Polars frame: a column of agents, then one column per agent."""
        import polars as pl

        corner = "agent"
        while corner in self.agents:
            corner += "_"
        columns = {name: self.A[:, k] for k, name in enumerate(self.agents)}
        return pl.DataFrame({corner: pl.Series(self.agents, dtype=pl.String), **columns})

    def write(self, path: str | Path) -> None:
        """Write the matrix, with names, to a csv, tsv, parquet or json lines file."""
        from nashboard._files import write_frame

        write_frame(self.to_frame(), path)

    def table(self) -> Table:
        """Return each agent's uniform average payoff and its best and worst opponents."""
        A = self.A
        order = np.argsort(-A.mean(axis=1), kind="stable")
        best, worst = A.argmax(axis=1), A.argmin(axis=1)
        return Table.of(
            order,
            Column("agent", cell=self.agents),
            Column("mean payoff", "average over all agents", cell=A.mean(axis=1)),
            Column("best against", "opponent it gains most against", cell=lambda k: self.agents[best[k]]),
            Column("gain", "payoff against that opponent", cell=A.max(axis=1)),
            Column("worst against", "opponent it loses most against", cell=lambda k: self.agents[worst[k]]),
            Column("loss", "payoff against that opponent", cell=A.min(axis=1)),
            title=title_of(self),
        )

    def __repr__(self) -> str:
        filled = f", {self.filled:,} pairs filled" if self.filled else ""
        return f"Payoffs({len(self.agents):,} agents, {self.scale}{filled}, largest {np.abs(self.A).max():.4g})"


def antisymmetric(L: Floats) -> Floats:
    """Return the antisymmetric part ``(L - L') / 2``, exact where L is antisymmetric already."""
    half = L / 2
    return half - half.T + 0.0


def refuse_asymmetric(A: Floats, i: int, j: int, names: Sequence[str], cure: str) -> NoReturn:
    """Raise the error of a matrix whose worst pair is not antisymmetric; win rates and counts are named as such."""
    cell = f"{names[i]!r} against {names[j]!r} is {A[i, j]:g}, the other way {A[j, i]:g}, not {-A[i, j] + 0.0:g}"
    hint = f"{cure} averages the two"
    if i == j:
        cell, hint = f"{names[i]!r} against itself is {A[i, i]:g}, not 0", f"{cure} sets it to 0"
    corner = A[:ENOUGH, :ENOUGH]
    pairs = (corner + corner.T)[~np.eye(len(corner), dtype=np.bool_)]
    if corner.min() >= 0 and np.allclose(pairs, 1):
        hint = "these are win rates, which Matches.from_win_rates takes"
    elif corner.min() >= 0 and pairs.any() and (corner == corner.round()).all():
        hint = "numbers of wins are for Matches.from_counts"
    raise InputError(f"the payoff matrix is not antisymmetric: {cell}; {hint}")


def payoffs(
    matches: Matches, *, scale: PayoffScale = "logit", prior: float | None = None, fill: Fill = "error"
) -> Payoffs:
    """Turn matches into payoffs.

    The win rate of a pair is smoothed by ``prior`` games that count half a win for each side,
    ``p = (wins + draws / 2 + prior / 2) / (games + prior)``, so that no payoff is infinite.

    Parameters
    ----------
    matches
        Who met whom, and how it ended.
    scale
        ``"logit"``: log-odds ``log(p / (1 - p))``. ``"margin"``: win rate minus loss rate, ``2 p - 1``.
    prior
        Pseudo-games per pair; by default 1 for ``"logit"`` and 0 for ``"margin"``, which is always finite.
    fill
        What to do with pairs that never met: ``"error"`` names them, ``"zero"`` calls them even, ``"model"`` takes what
        Elo predicts, fitted to all pairs that met with the same ``prior`` games each, so that a filled payoff is as
        extreme as a measured one would be. ``filled`` counts them.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.payoffs(nb.Matches.from_counts([[0, 3], [1, 0]]), scale="margin").A
    array([[ 0. ,  0.5],
           [-0.5,  0. ]])
    """
    check_choice(scale, get_args(PayoffScale), "scale")
    check_choice(fill, get_args(Fill), "fill")
    prior = checked_prior(prior, scale)
    n = len(matches.agents)
    unmet = n * (n - 1) // 2 - len(matches.pairs)
    if unmet and fill == "error":
        raise InputError(
            f"{number_of(unmet, 'pairs')} never met (coverage {matches.coverage:.1%}), among them "
            f"{named_unmet(matches)}",
            hint="fill='model' takes what Elo predicts, fill='zero' calls them even, or select agents that all met",
        )
    won, lost = smoothed_counts(matches, prior)
    values = log_odds(matches, won, lost) if scale == "logit" else (won - lost) / (won + lost)
    A = modelled(matches, scale, prior) if unmet and fill == "model" else np.zeros((n, n))
    i, j = matches.pairs.T
    A[i, j], A[j, i] = values, -values
    filled = {
        "error": "",
        "zero": f"; {unmet:,} that never met count as even",
        "model": f"; Elo predicts {unmet:,} that never met",
    }
    word = "log-odds of win rates" if scale == "logit" else "win rate minus loss rate"
    return Payoffs(
        agents=matches.agents,
        A=A,
        scale=scale,
        filled=unmet,
        made=f"{word}, with {prior:g} prior {plural(prior, 'games')} per pair" + (filled[fill] if unmet else ""),
        origin=matches.origin,
    )


def checked_prior(prior: float | None, scale: PayoffScale) -> float:
    """Return the pseudo-games per pair, by default 1 for logits and 0 for margins."""
    prior = (1.0 if scale == "logit" else 0.0) if prior is None else float(prior)
    if not (np.isfinite(prior) and prior >= 0):
        raise InputError(f"the prior is {prior:g} games per pair: it must be finite and not negative")
    return prior


def smoothed_counts(matches: Matches, prior: float) -> tuple[Floats, Floats]:
    """Return per pair what the first won and lost, draws and the prior counting half each, ``(p,)`` each."""
    won = matches.wins + matches.draws / 2 + prior / 2
    lost = matches.losses + matches.draws / 2 + prior / 2
    return won, lost


def log_odds(matches: Matches, won: Floats, lost: Floats) -> Floats:
    """Return ``log(won / lost)`` per pair, or name a pair whose log-odds are infinite."""
    if (np.minimum(won, lost) <= 0).any():
        k = int(np.argmin(np.minimum(won, lost)))
        a, b = (matches.agents[position] for position in matches.pairs[k])
        raise InputError(f"{a!r} against {b!r} was entirely one-sided: its log-odds are infinite without a prior")
    # an even pair is 0 on every machine: vectorised logarithms of one number can differ in the last bit
    return np.asarray(np.where(won == lost, 0.0, np.log(won) - np.log(lost)))


def modelled(matches: Matches, scale: PayoffScale, prior: float) -> Floats:
    """Return what Elo, fitted to all matches smoothed as the payoffs are, predicts for every pair."""
    matches.require_connected()
    r = smoothed_ratings(matches, prior)
    logits = r[:, None] - r[None, :]
    return np.asarray(logits if scale == "logit" else np.tanh(logits / 2))  # 2 s(x) - 1


def smoothed_ratings(matches: Matches, prior: float) -> Floats:
    """Return Elo ratings of connected agents in logits, fitted to counts smoothed as the payoffs are.

    They minimise, over the pairs that met with leads ``x = r_i - r_j``,

        sum of (won + prior / 2) log(1 + e^(-x)) + (lost + prior / 2) log(1 + e^x),

    so that where smoothed payoffs are differences of ratings, a pair that never met gets what it would have been
    measured at. Fitted to the counts as they are, an agent who never lost would lead those it never met by more than
    those it beat every time. ``WEAK`` drawn games of each agent with an average one keep ratings finite.
    """
    from scipy.special import expit

    n = len(matches.agents)
    i, j = np.concatenate([matches.pairs, np.stack([np.arange(n), np.full(n, n)], axis=1)]).T
    won, lost = (np.append(part, np.full(n, WEAK / 2)) for part in smoothed_counts(matches, prior))

    def loss(r: Floats) -> float:
        x = r[i] - r[j]
        return float(won @ np.logaddexp(0, -x) + lost @ np.logaddexp(0, x))

    r = np.zeros(n + 1)
    for _ in range(MOST_STEPS):
        x = r[i] - r[j]
        better, worse = expit(x), expit(-x)
        slope, curvature = lost * better - won * worse, (won + lost) * better * worse
        gradient = np.zeros(n + 1)
        np.add.at(gradient, i, slope)
        np.subtract.at(gradient, j, slope)
        if np.linalg.norm(gradient) <= CLOSE * max(1.0, float((won + lost).max()) * EPSILON / CLOSE):
            return np.asarray(r[:n] - r[n])
        step = newton_step(i, j, curvature, gradient)
        here = loss(r)
        while loss(r - step) > here and np.abs(step).max() > EPSILON:
            step /= 2  # the loss is convex: a short step of Newton always descends
        if np.abs(step).max() <= EPSILON:  # rounding decides
            return np.asarray(r[:n] - r[n])
        r = r - step
    raise ConvergenceError(
        f"the ratings that fill in pairs did not converge in {MOST_STEPS:,} steps: numbers of games may differ by too "
        "many orders of magnitude"
    )


def newton_step(i: Ints, j: Ints, curvature: Floats, gradient: Floats) -> Floats:
    """Return the step of Newton's method: the Laplacian of the curvatures, solved for the gradient."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator, cg

    n = len(gradient)
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    L = csr_array((np.concatenate([-curvature, -curvature, curvature, curvature]), (rows, columns)), shape=(n, n))
    if n <= DENSE:
        # L 1 = 0: the constant direction is lifted; weights too far apart for that need the pseudoinverse
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.solve(L.toarray() + L.trace() / n**2, gradient))
        return np.asarray(np.linalg.lstsq(L.toarray(), gradient)[0])
    diagonal = 1 / L.diagonal()
    found, _ = cg(L, gradient, rtol=1e-10, maxiter=20 * n, M=LinearOperator(L.shape, matvec=lambda v: diagonal * v))
    return np.asarray(found)


def named_unmet(matches: Matches, most: int = 3) -> str:
    """Name the first few pairs that never met."""
    n = len(matches.agents)
    met = matches.pairs[:, 0] * n + matches.pairs[:, 1]
    found: list[str] = []
    for i in range(n):
        row = np.arange(i * n + i + 1, (i + 1) * n)
        for code in row[~np.isin(row, met)][: most - len(found)]:
            found.append(f"{matches.agents[i]!r} and {matches.agents[code % n]!r}")
        if len(found) >= most:
            break
    return ", ".join(found)
