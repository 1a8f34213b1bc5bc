"""Hypothesis strategies for valid data: any names, any counts, any holes."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nashboard as nb

# Any text that is not blank; surrogates and NUL cannot be written to a file of text.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8).filter(
    lambda name: name.strip() != ""
)
COUNTS = st.one_of(
    st.integers(0, 5).map(float), st.floats(0, 1e6, allow_subnormal=False), st.just(0.0)
)  # fmt: skip
VALUES = st.floats(-1e9, 1e9, allow_subnormal=False)


@st.composite
def matches(draw: st.DrawFn) -> nb.Matches:
    n = draw(st.integers(2, 6))
    agents = draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))
    W = draw(hnp.arrays(np.float64, (n, n), elements=COUNTS))
    D = draw(hnp.arrays(np.float64, (n, n), elements=COUNTS))
    np.fill_diagonal(W, 0)
    np.fill_diagonal(D, 0)
    W[0, 1] += 1  # somebody met
    return nb.Matches.from_counts(W, agents, draws=np.triu(D) + np.triu(D).T)


@st.composite
def scores(draw: st.DrawFn) -> nb.Scores:
    m, n = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    values = draw(hnp.arrays(np.float64, (m, n), elements=st.one_of(VALUES, st.just(np.nan))))
    values[:, 0] = draw(hnp.arrays(np.float64, m, elements=VALUES))
    values[0, :] = draw(hnp.arrays(np.float64, n, elements=VALUES))
    unknown = st.one_of(st.just(np.nan), st.floats(0, 1e3, allow_subnormal=False))
    return nb.Scores.from_array(
        values,
        draw(st.lists(NAMES, min_size=m, max_size=m, unique=True)),
        draw(st.lists(NAMES, min_size=n, max_size=n, unique=True)),
        lower_is_better=draw(hnp.arrays(np.bool_, n)),
        stderr=draw(hnp.arrays(np.float64, (m, n), elements=unknown)),
        n=draw(hnp.arrays(np.float64, (m, n), elements=st.one_of(st.just(np.nan), st.integers(1, 9999).map(float)))),
    )


@st.composite
def payoffs(draw: st.DrawFn) -> nb.Payoffs:
    n = draw(st.integers(2, 5))
    L = draw(hnp.arrays(np.float64, (n, n), elements=VALUES))
    return nb.Payoffs.from_array(L, draw(st.lists(NAMES, min_size=n, max_size=n, unique=True)), symmetrise=True)
