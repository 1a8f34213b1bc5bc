"""Sections 2.2, 3.1 and 3.3: antisymmetric matrices, Hodge, when Elo and averages explain the data."""

from collections.abc import Iterator

import numpy as np

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.algebra.hodge import hodge
from nashboard.algebra.operators import averages, curl, div, flow_of_scores, game_of_scores, grad, rot
from nashboard.algebra.schur import schur
from nashboard.data.datasets import alphago, roshambo, scores_of
from nashboard.data.payoffs import payoffs
from nashboard.paper.claim import Found, error
from nashboard.paper.examples import C4, CIRCLE_AND_COPY, T4
from nashboard.paper.part import Part
from nashboard.ratings.elo import elo
from nashboard.ratings.melo import melo


def flows() -> Iterator[Floats]:
    """Return antisymmetric matrices to try laws on: large payoffs are brought to the size of one."""
    yield from (T4, C4, CIRCLE_AND_COPY / 4.6, payoffs(alphago()).A)
    A = roshambo().A
    yield A / np.abs(A).max()


def atari() -> Floats:
    """Return the Atari scores, each environment scaled to [0, 1]."""
    return scores_of("atari_scores.csv").scale("range").values


def part() -> Part:
    """Check the laws of sections 2.2, 3.1 and 3.3 on the bundled data."""
    on = "on the matrices of the paper, Go and roshambo"
    A = list(flows())
    ranks = [int(np.linalg.matrix_rank(flow)) for flow in A]
    r = [div(flow) for flow in A]
    return Part(
        title="Sections 2.2, 3.1 and 3.3: the algebra of evaluation",
        words="Laws, checked on every bundled matrix; a law holds where its largest error is below 1e-9.",
        found={
            "algebra.rank": Found(value=all(rank % 2 == 0 for rank in ranks), how=f"ranks {ranks} {on}"),
            "algebra.eigenvalues": Found(
                value=error(*(np.linalg.eigvals(flow).real for flow in A)), how=f"eigenvalues {on}"
            ),
            "algebra.schur": Found(value=max(map(schur_error, A)), how=f"nb.schur {on}"),
            "algebra.svd": Found(
                value=svd_error(atari()), how="nb.schur(nb.game_of_scores(atari)) and its singular values"
            ),
            "algebra.svd.planes": Found(
                value=planes_error(atari()), how="the planes of the Atari table put together again"
            ),
            "algebra.svd.size": Found(value=columns_of_planes(), how="columns of Q for tables of rank 1, 2 and 3"),
            "algebra.hodge.1": Found(value=error(*(div(grad(s)) - s for s in r)), how=f"nb.div, nb.grad {on}"),
            "algebra.hodge.2": Found(value=error(*(div(rot(flow)) for flow in A)), how=f"nb.div, nb.rot {on}"),
            "algebra.hodge.3": Found(value=error(*(rot(grad(s)) for s in r)), how=f"nb.rot, nb.grad {on}"),
            "algebra.hodge.4": Found(
                value=error(*(flow - grad(s) - rot(flow) for flow, s in zip(A, r, strict=True))), how=f"nb.hodge {on}"
            ),
            "algebra.hodge.orthogonal": Found(
                value=error(*((grad(s) * rot(flow)).sum() for flow, s in zip(A, r, strict=True))),
                how=f"inner products {on}",
            ),
            **elo_laws(),
            **task_laws(atari()),
        },
    )


def schur_error(A: Floats) -> float:
    """Return how far Q is from orthogonal and Q Lambda Q' from A."""
    found = schur(A)
    return error(found.Q.T @ found.Q - np.eye(found.Q.shape[1]), found.reconstruct() - A)


def svd_error(S: Floats) -> float:
    """Return how far the strengths of the game of S are from its singular values."""
    values = np.linalg.svd(S, compute_uv=False)
    return error(schur(game_of_scores(S)).strengths[: values.size] - values)


def printed_planes(S: Floats) -> tuple[Floats, Floats]:
    """Return Q as proposition 2 prints it, and Lambda; the pairs are minus the singular values first."""
    U, values, Vt = np.linalg.svd(S, full_matrices=False)
    held = values > values[0] * 1e-12
    (m, n), rank = S.shape, int(held.sum())
    Q = np.zeros((m + n, 2 * rank))
    Q[:m, 0::2], Q[m:, 1::2] = -U[:, held], Vt[held].T
    return Q, np.kron(np.diag(values[held]), np.array([[0.0, -1.0], [1.0, 0.0]]))


def planes_error(S: Floats) -> float:
    """Return how far Q Lambda Q' of proposition 2 is from the game of S."""
    Q, L = printed_planes(S)
    return error(Q @ L @ Q.T - game_of_scores(S))


def columns_of_planes() -> str:
    """Return the number of columns of Q in terms of the rank r, by what tables of rank 1, 2 and 3 have."""
    S = atari()[:, :3]
    columns = [printed_planes(S[:, :rank])[0].shape[1] for rank in (1, 2, 3)]
    return {(2, 4, 6): "2r", (1, 2, 3): "r"}.get(tuple(columns), f"{columns} for r = 1, 2, 3")


def elo_laws() -> dict[str, Found]:
    """Check proposition 3 and what section 3.1 says of mElo."""
    matches = alphago()
    ratings = elo(matches, prior=0)
    r = ratings.ratings / POINTS_PER_LOGIT
    P = ratings.win_probabilities()
    L = np.log(P / (1 - P))
    truth = payoffs(matches).A
    cyclic = roshambo()
    parts = hodge(cyclic)
    planes = schur(parts.cyclic)
    rest = [
        float(np.linalg.norm(cyclic.A - parts.transitive - planes.reconstruct(k))) for k in range(planes.strengths.size)
    ]
    features = np.random.default_rng(0).standard_normal((8, 5))
    w = features[0]
    return {
        "algebra.elo": Found(value=error(div(L) - r), how="nb.div of the logits of nb.elo(alphago)"),
        "algebra.curl": Found(value=error(curl(L)), how="nb.curl of the logits of nb.elo(alphago)"),
        "algebra.curl.converse": Found(
            value=error(curl(truth)) > 0.1 and error(truth - grad(div(truth))) > 0.1,
            how="nb.curl of nb.payoffs(alphago), and what its ratings leave",
        ),
        "algebra.features": Found(
            value=error(curl(grad(features @ w))), how="nb.curl of leads r_i'w - r_j'w, five random features"
        ),
        "algebra.planes": Found(
            value=bool((np.diff(rest) < 0).all()),
            how="nb.hodge and nb.schur of roshambo: what k planes leave, k = 0, 1, ...",
        ),
        "algebra.logit": Found(value=error(truth + truth.T, L + L.T), how="nb.payoffs(alphago), and nb.elo's logits"),
        "algebra.melo.orthogonal": Found(
            value=planes_apart(), how="nb.melo(alphago, orthogonal=True): cosines; by default they are only centred"
        ),
        "algebra.melo.0": Found(
            value=error(melo(matches, k=0, prior=0).win_probabilities() - P), how="nb.melo(alphago, k=0) minus nb.elo"
        ),
    }


def planes_apart() -> float:
    """Return the largest cosine between the columns of the plane of mElo2, the ratings and the vector of ones."""
    model = melo(alphago(), prior=0, orthogonal=True)
    columns = np.column_stack([np.ones(model.size), model.ratings, model.cyclic])
    unit = columns / np.linalg.norm(columns, axis=0)
    return error(unit.T @ unit - np.eye(unit.shape[1]))


def task_laws(S: Floats) -> dict[str, Found]:
    """Check section 3.3 on a table of scores."""
    m, n = S.shape
    centred = S - S.mean()
    swapped = centred - (centred.sum(axis=1)[:, None] / m + centred.sum(axis=0) / n)
    ours = averages(S)
    s, d = ours.skills, ours.difficulties
    r = np.concatenate([s, d])
    A = flow_of_scores(S)
    blocks = np.block([[grad(s), centred], [-centred.T, grad(d)]])
    explained = flow_of_scores(ours.flow)
    values = np.linalg.svd(ours.rest, compute_uv=False)
    strengths = schur(rot(A)).strengths[: values.size]
    return {
        "tasks.means": Found(
            value=error(swapped.mean(axis=0), swapped.mean(axis=1)),
            how="the Atari table, what the printed s and d leave",
        ),
        "tasks.flow": Found(
            value=error(A - blocks, A - grad(r) - game_of_scores(ours.rest)), how="nb.flow_of_scores(atari), both sides"
        ),
        "tasks.curl": Found(value=error(curl(explained)), how="nb.curl of a table made of skills and difficulties"),
        "tasks.curl.converse": Found(
            value=error(curl(A)) > 0.1 and error(ours.rest) > 0.1, how="nb.curl(nb.flow_of_scores(atari))"
        ),
        "tasks.svd": Found(value=error(strengths - values), how="nb.schur(nb.rot(nb.flow_of_scores(atari)))"),
    }
