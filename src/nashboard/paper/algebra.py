"""The matrices that the paper prints; sections 2.2, 3.1 and 3.3: Hodge and Schur, when averages explain the data;
appendix F: a line and a circle.
"""

from collections.abc import Iterator

import numpy as np

from nashboard._types import Floats, read_only
from nashboard._units import POINTS_PER_LOGIT
from nashboard.algebra.hodge import hodge
from nashboard.algebra.operators import averages, curl, div, flow_of_scores, game_of_scores, grad, rot
from nashboard.algebra.schur import schur
from nashboard.charts.planes import plane
from nashboard.data.datasets import alphago, roshambo, scores_of
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.paper.reproduction import PICTURE, Answer, Figure, Part, error, read_claims
from nashboard.ratings.elo import elo
from nashboard.ratings.melo import melo


def matrix(rows: list[list[float]]) -> Floats:
    """Return a read-only matrix."""
    return read_only(np.array(rows, dtype=np.float64))


# Section 4.1, example 1: three agents in a circle, and a second copy of C.
CIRCLE = matrix([[0, 4.6, -4.6], [-4.6, 0, 4.6], [4.6, -4.6, 0]])
CIRCLE_AND_COPY = matrix([[0, 4.6, -4.6, -4.6], [-4.6, 0, 4.6, 4.6], [4.6, -4.6, 0, 0], [4.6, -4.6, 0, 0]])

# Section 4.1, example 2: cyclic and transitive.
C3 = matrix([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
T3 = matrix([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]])

# Appendix F: transitive and cyclic, both of rank two.
T4 = matrix([[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0]])
C4 = matrix([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])

# Appendix A: win rates of three agents in a circle, and with a second copy of C.
WIN_RATES = matrix([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
WIN_RATES_AND_COPY = matrix([[0.5, 0.9, 0.1, 0.1], [0.1, 0.5, 0.9, 0.9], [0.9, 0.1, 0.5, 0.5], [0.9, 0.1, 0.5, 0.5]])

# Section 2.1: paper beats rock for sure.
ROCK_PAPER_SCISSORS = matrix([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]])


def with_copy(A: Floats, agent: int) -> Floats:
    """Return an antisymmetric matrix with a copy of one agent at the end."""
    entered = [*range(len(A)), agent]
    return A[np.ix_(entered, entered)]


def list_flows() -> Iterator[Floats]:
    """Yield antisymmetric matrices on which laws are checked; large payoffs are scaled to 1."""
    yield from (T4, C4, CIRCLE_AND_COPY / 4.6, payoffs(alphago()).A)
    A = roshambo().A
    yield A / np.abs(A).max()


def atari() -> Floats:
    """Return the Atari scores, each environment scaled to [0, 1]."""
    return scores_of("atari_scores.csv").scale("range").values


def algebra_part() -> Part:
    """Check the laws of sections 2.2, 3.1 and 3.3 on the bundled data."""
    on = "on the matrices of the paper, Go and roshambo"
    A = list(list_flows())
    ranks = [int(np.linalg.matrix_rank(flow)) for flow in A]
    r = [div(flow) for flow in A]
    return Part(
        title="Sections 2.2, 3.1 and 3.3: the algebra of evaluation",
        words="Laws, checked on every bundled matrix; a law holds if its largest error is below 1e-9.",
        answers={
            "algebra.rank": Answer(all(rank % 2 == 0 for rank in ranks), f"ranks {ranks} {on}"),
            "algebra.eigenvalues": Answer(error(*(np.linalg.eigvals(flow).real for flow in A)), f"eigenvalues {on}"),
            "algebra.schur": Answer(max(map(schur_error, A)), f"nb.schur {on}"),
            "algebra.svd": Answer(svd_error(atari()), "nb.schur(nb.game_of_scores(atari)) and its singular values"),
            "algebra.svd.planes": Answer(planes_error(atari()), "Q Lambda Q' of the planes of the Atari table"),
            "algebra.svd.size": Answer(count_columns(), "columns of Q for tables of rank 1, 2 and 3"),
            "algebra.hodge.1": Answer(error(*(div(grad(s)) - s for s in r)), f"nb.div, nb.grad {on}"),
            "algebra.hodge.2": Answer(error(*(div(rot(flow)) for flow in A)), f"nb.div, nb.rot {on}"),
            "algebra.hodge.3": Answer(error(*(rot(grad(s)) for s in r)), f"nb.rot, nb.grad {on}"),
            "algebra.hodge.4": Answer(
                error(*(flow - grad(s) - rot(flow) for flow, s in zip(A, r, strict=True))), f"nb.hodge {on}"
            ),
            "algebra.hodge.orthogonal": Answer(
                error(*((grad(s) * rot(flow)).sum() for flow, s in zip(A, r, strict=True))),
                f"inner products {on}",
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
    positive = values > values[0] * 1e-12
    (m, n), rank = S.shape, int(positive.sum())
    Q = np.zeros((m + n, 2 * rank))
    Q[:m, 0::2], Q[m:, 1::2] = -U[:, positive], Vt[positive].T
    return Q, np.kron(np.diag(values[positive]), np.array([[0.0, -1.0], [1.0, 0.0]]))


def planes_error(S: Floats) -> float:
    """Return how far Q Lambda Q' of proposition 2 is from the game of S."""
    Q, L = printed_planes(S)
    return error(Q @ L @ Q.T - game_of_scores(S))


def count_columns() -> str:
    """Return the number of columns of Q in terms of the rank r, from tables of rank 1, 2 and 3."""
    S = atari()[:, :3]
    columns = [printed_planes(S[:, :rank])[0].shape[1] for rank in (1, 2, 3)]
    return {(2, 4, 6): "2r", (1, 2, 3): "r"}.get(tuple(columns), f"{columns} for r = 1, 2, 3")


def elo_laws() -> dict[str, Answer]:
    """Check proposition 3 and the statements of section 3.1 on mElo."""
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
        "algebra.elo": Answer(error(div(L) - r), "nb.div of the logits of nb.elo(alphago)"),
        "algebra.curl": Answer(error(curl(L)), "nb.curl of the logits of nb.elo(alphago)"),
        "algebra.curl.converse": Answer(
            error(curl(truth)) > 0.1 and error(truth - grad(div(truth))) > 0.1,
            "nb.curl of nb.payoffs(alphago), and what its ratings leave",
        ),
        "algebra.features": Answer(
            error(curl(grad(features @ w))), "nb.curl of leads r_i'w - r_j'w, five random features"
        ),
        "algebra.planes": Answer(
            bool((np.diff(rest) < 0).all()),
            "nb.hodge and nb.schur of roshambo: what k planes leave, k = 0, 1, ...",
        ),
        "algebra.logit": Answer(error(truth + truth.T, L + L.T), "nb.payoffs(alphago), and nb.elo's logits"),
        "algebra.melo.orthogonal": Answer(
            plane_cosine(), "nb.melo(alphago, orthogonal=True): cosines; by default they are only centred"
        ),
        "algebra.melo.0": Answer(
            error(melo(matches, k=0, prior=0).win_probabilities() - P), "nb.melo(alphago, k=0) minus nb.elo"
        ),
    }


def plane_cosine() -> float:
    """Return the largest cosine between the columns of the plane of mElo2, the ratings and the vector of ones."""
    model = melo(alphago(), prior=0, orthogonal=True)
    columns = np.column_stack([np.ones(model.size), model.ratings, model.cyclic])
    unit = columns / np.linalg.norm(columns, axis=0)
    return error(unit.T @ unit - np.eye(unit.shape[1]))


def task_laws(S: Floats) -> dict[str, Answer]:
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
        "tasks.means": Answer(
            error(swapped.mean(axis=0), swapped.mean(axis=1)),
            "the Atari table, what the printed s and d leave",
        ),
        "tasks.flow": Answer(
            error(A - blocks, A - grad(r) - game_of_scores(ours.rest)), "nb.flow_of_scores(atari), both sides"
        ),
        "tasks.curl": Answer(error(curl(explained)), "nb.curl of a table made of skills and difficulties"),
        "tasks.curl.converse": Answer(
            error(curl(A)) > 0.1 and error(ours.rest) > 0.1, "nb.curl(nb.flow_of_scores(atari))"
        ),
        "tasks.svd": Answer(error(strengths - values), "nb.schur(nb.rot(nb.flow_of_scores(atari)))"),
    }


AGENTS = ("A", "B", "C", "D")


def geometry_part() -> Part:
    """Decompose T and C, and check the geometry of their planes."""
    planes = {name: rotate_onto(schur(A, k=1).Q, printed_rows(name)) for name, A in (("T", T4), ("C", C4))}
    found = {
        f"geometry.Q.{name}.{agent}.{k + 1}": Answer(
            float(Q[i, k]), f"nb.schur({name}, k=1).Q, rotated or mirrored onto the printed rows"
        )
        for name, Q in planes.items()
        for i, agent in enumerate(AGENTS)
        for k in range(2)
    }
    A = payoffs(alphago()).A
    cyclic = rot(roshambo().A)
    first = schur(cyclic, k=1)
    found |= {
        "geometry.T": Answer(error(T4 - grad(div(T4))), "nb.grad(nb.div(T))"),
        "geometry.C": Answer(error(div(C4)), "nb.div(C)"),
        "geometry.rank.T": Answer(float(schur(T4).rank), "nb.schur(T).rank"),
        "geometry.rank.C": Answer(float(schur(C4).rank), "nb.schur(C).rank"),
        "geometry.line": Answer(line_distance(schur(T4, k=1).Q), "nb.schur(T, k=1).Q, distance from a line"),
        "geometry.line.general": Answer(
            line_distance(schur(grad(div(A)), k=1).Q) if schur(grad(div(A))).rank == 2 else float("nan"),
            "nb.schur of nb.grad(nb.div(alphago)), of rank 2",
        ),
        "geometry.circle": Answer(float(np.ptp(schur(C4, k=1).radii)), "nb.schur(C, k=1).radii"),
        "geometry.circle.not": Answer(
            error(div(cyclic / 1000)) < 1e-9 and float(np.ptp(first.radii)) > 0.1,
            "nb.schur of nb.rot(roshambo): radii of the first plane",
        ),
        "geometry.area": Answer(max(area_error(T4), area_error(C4)), "nb.schur(T), nb.schur(C), every pair"),
        "geometry.phase": Answer(max(phase_error(T4), phase_error(C4)), "nb.schur(T), nb.schur(C), every pair"),
        "geometry.compatible": Answer(
            share_outside(A) > 0.01,
            f"alphago: {share_outside(A):.2f} of the ratings' length is outside the nearest plane",
        ),
        "geometry.rest": Answer(error(div(rot(A))), "nb.div(nb.rot(alphago))"),
    }
    return Part(
        title="Appendix F: lines, circles and areas",
        words="A plane of the Schur decomposition can be turned freely, and mirrored where lambda changes sign "
        "too, so ours is turned onto the printed one before numbers are compared.",
        answers=found,
        figures={
            f"schur_{name}": Figure(
                chart=plane(schur(Payoffs(agents=AGENTS, A=A), k=1), pair=("A", "B")),
                caption=f"The rows of Q of {name} lie on a {shape}. The entry for A and B is lambda times the signed "
                "area of their parallelogram.",
            )
            for name, A, shape in (("T", T4, "straight line"), ("C", C4, "circle"))
        },
    )


def printed_rows(name: str) -> Floats:
    """Return the rows of Q that the paper prints."""
    values = {claim.key: claim.printed for claim in read_claims() if claim.printed != PICTURE}
    return np.array([[float(values[f"geometry.Q.{name}.{agent}.{k}"]) for k in (1, 2)] for agent in AGENTS])


def rotate_onto(Q: Floats, onto: Floats) -> Floats:
    """Return Q rotated or reflected in its plane so that it is closest to ``onto`` (Procrustes)."""
    U, _, Vt = np.linalg.svd(Q.T @ onto)
    return np.asarray(Q @ (U @ Vt))


def line_distance(Q: Floats) -> float:
    """Return how far points are from their line of best fit."""
    centred = Q - Q.mean(axis=0)
    return float(np.linalg.svd(centred, compute_uv=False)[1])


def area_error(A: Floats) -> float:
    """Return how far the entries of a matrix of rank two are from lambda times signed areas."""
    found = schur(A, k=1)
    u, v = found.Q.T
    return error(A - found.strengths[0] * (np.outer(u, v) - np.outer(v, u)))


def phase_error(A: Floats) -> float:
    """Return how far the entries are from the printed imaginary parts."""
    found = schur(A, k=1)
    w = found.Q[:, 0] + 1j * found.Q[:, 1]
    ours = found.strengths[0] * np.imag(np.outer(w.conj(), w))
    return error(A - np.imag(np.outer(w, w.conj()))) if error(A - ours) < 1e-9 else float("nan")


def share_outside(A: Floats) -> float:
    """Return the share of the ratings' length that is outside the plane of A closest to it."""
    r = div(A)
    r = r / np.linalg.norm(r)
    Q = schur(A).Q
    inside = max(float(np.linalg.norm(Q[:, t : t + 2].T @ r)) for t in range(0, Q.shape[1], 2))
    return float(np.sqrt(max(0.0, 1 - inside**2)))
