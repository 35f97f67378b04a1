"""Which rows to label next: those whose labels would take away the most doubt.

The label of a row tells of rows that are like it. How far is taken to be

    k_ij = mean over d of exp(-|t_i - t_j|^2 / (2 s_d))

with t the first d principal components, for d = 5, 8 and 20, and s_d the median squared distance of
a row to its tenth neighbour there. As the covariance of a Gaussian process, what the labels at hand
leave open is C = K - K_L (K_LL + v I)^-1 K_L', with v = .1, and the label of row j would take away

    gain_j = sum_i w_i C_ij^2 / (C_jj + v),     w_i = doubt_i / max(q_i, median(q))

The row of the greatest gain is taken, C is conditioned on it, and so on: ten rows differ from one
another. The doubt about a row is 1 less the lead of its most likely class, or 1 where it fits no
class; where one class is labelled it is the share of the rest, and 1 where nothing is. As q_i, the
sum of k_ij over j, counts the rows around row i, dense places count no more than others, so that a
rare class is found; but rows in thin places count no more than most.

Rows of a group, as of a donor, are no independent ones: a gain is divided by 1 plus the number of
rows of the group that are labelled or taken.

K. Yu, J. Bi, V. Tresp (2006). Active learning via transductive experimental design. ICML 23, for
the gain with equal weights. Weights, kernel and numbers are our own choice, made on half of the
sets of benchmarks/next_rows.py, which shows them on the other half.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from semisift.base._sample_info import NOTHING, SampleInfo
from semisift.parallel import one_blas_thread
from semisift.utils._typing import Floats, Ints

DIMENSIONS = (5, 8, 20)

# The neighbour whose distance is the unit in which rows are alike.
NEIGHBOUR = 10

# What stays open of a row that is labelled.
NOISE = 0.1

# More alike than this are only copies.
COPY = 1 - 1e-9

# Of more unlabelled rows so many are asked about, and of more labelled ones so many are heard.
MAX_CANDIDATES, MAX_KNOWN = 2000, 1000


@dataclass(frozen=True, eq=False)
class Chosen:
    """Rows to label next, the most useful first.

    Attributes
    ----------
    rows : int array of shape (n,)
    stands_for : int array of shape (n,)
        How many unlabelled rows are more like each than like any other row that is labelled or
        chosen, itself among them; of very many rows it is estimated from some.
    covered : float array of shape (n,)
        How like the nearest labelled row it is, from 0 to 1.
    """

    rows: NDArray[np.int64]
    stands_for: NDArray[np.int64]
    covered: Floats


def choose_rows(
    T: Floats,
    labelled: Ints,
    n_wanted: int,
    *,
    doubt: Floats | None = None,
    design: SampleInfo = NOTHING,
) -> Chosen:
    """Choose rows to label.

    Parameters
    ----------
    T : float array of shape (n_rows, d)
        Principal components.
    labelled : int array
        The rows that have a label.
    n_wanted : int
        How many to choose; fewer where there are not so many without a label.
    doubt : float array of shape (n_rows,), optional
        How much is open about each row, from 0 to 1. None where nothing is known.
    design : SampleInfo
        Groups and weights of the rows. Those of weight 0 are not chosen.

    Returns
    -------
    Chosen

    Examples
    --------
    Two groups of rows, one of which has a label.

    >>> T = np.concatenate([np.linspace(0, 1, 21), np.linspace(9, 10, 21)])[:, None]
    >>> chosen = choose_rows(T, np.array([10]), 1)
    >>> chosen.rows.tolist(), chosen.stands_for.tolist()
    ([33], [21])
    """
    rows, is_labelled, per_row = _candidate_rows(T, labelled, design.weights)
    row_weights = np.where(is_labelled, 0.0, 1.0)
    doubts = row_weights if doubt is None else row_weights * doubt[rows]
    if design.weights is not None:
        doubts = doubts * design.weights[rows]
        row_weights = row_weights * (design.weights[rows] > 0)
    with one_blas_thread():
        K = _likeness(T[rows])
        density = K.sum(axis=1)
        doubts = doubts / np.maximum(density, np.median(density))
        order = _greedy(K, is_labelled, row_weights > 0, doubts, n_wanted, design, rows)
    stands_for = _count_nearest(K, np.flatnonzero(is_labelled), order, row_weights) * per_row
    covered = K[np.ix_(order, is_labelled)].max(axis=1, initial=0.0)
    return Chosen(rows[order], np.round(stands_for).astype(np.int64), covered)


def _candidate_rows(
    T: Floats, labelled: Ints, weights: Floats | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_], float]:
    """Return the rows that are looked at, which have a label, and how many each represents.

    Of very many rows some are taken at equal steps in the order of the first component.
    """
    is_labelled = np.zeros(len(T), dtype=bool)
    is_labelled[labelled] = True
    others = np.flatnonzero(~is_labelled)
    candidates, known = _some(others, T[:, 0], MAX_CANDIDATES), _some(labelled, T[:, 0], MAX_KNOWN)
    rows = np.sort(np.concatenate([candidates, known])).astype(np.int64)
    return rows, is_labelled[rows], len(others) / max(1, len(candidates))


def _some(rows: Ints, key: Floats, most: int) -> Ints:
    if len(rows) <= most:
        return rows
    ordered = rows[np.argsort(key[rows], kind="stable")]
    return ordered[np.linspace(0, len(ordered) - 1, most).astype(np.int64)]


def _likeness(T: Floats) -> Floats:
    """Return how alike rows are, from 0 to 1; the mean over several numbers of components."""
    dimensions = sorted({min(d, T.shape[1]) for d in DIMENSIONS})
    total = np.zeros((len(T), len(T)))
    for d in dimensions:
        squares = np.square(T[:, :d]).sum(axis=1)
        apart = np.maximum(squares[:, None] + squares - 2 * T[:, :d] @ T[:, :d].T, 0.0)
        np.fill_diagonal(apart, 0.0)
        place = min(NEIGHBOUR, len(T) - 1)
        unit = float(np.median(np.partition(apart, place, axis=1)[:, place]))
        unit = unit or float(apart.mean()) or 1.0
        total += np.exp(apart / (-2.0 * unit))
    return total / len(dimensions)


def _greedy(
    K: Floats,
    is_labelled: NDArray[np.bool_],
    may_be_taken: NDArray[np.bool_],
    doubts: Floats,
    n_wanted: int,
    design: SampleInfo,
    rows: Ints,
) -> NDArray[np.int64]:
    """Return the places of the rows of the greatest gains, each after those before it."""
    known = np.flatnonzero(is_labelled)
    C = K.copy()
    if len(known):
        inner = K[np.ix_(known, known)] + NOISE * np.eye(len(known))
        C -= K[:, known] @ np.linalg.solve(inner, K[known])
    groups = None if design.groups is None else design.groups[rows]
    n_of_group = None if groups is None else np.bincount(groups[known], minlength=groups.max() + 1)
    free, taken = may_be_taken.copy(), []
    copies = (K[:, known] > COPY).any(axis=1)
    for _ in range(min(n_wanted, int(free.sum()))):
        gains = doubts @ np.square(C) / (np.maximum(C.diagonal(), 0.0) + NOISE)
        if groups is not None:
            gains /= 1 + n_of_group[groups]  # type: ignore[index]
        # copies of a row that is labelled or taken come last; of equal gains, as where nothing is
        # in doubt, the row that is least known is the best
        gains = np.where(free, np.where(copies, -1.0, gains), -2.0)
        best = int(np.lexsort((-C.diagonal(), -gains))[0])
        taken.append(best)
        free[best] = False
        copies |= K[best] > COPY
        if groups is not None:
            n_of_group[groups[best]] += 1  # type: ignore[index]
        explained = C[:, best] / np.sqrt(max(C[best, best], 0.0) + NOISE)
        C -= np.outer(explained, explained)
    return np.array(taken, dtype=np.int64)


def _count_nearest(K: Floats, known: Ints, chosen: Ints, row_weights: Floats) -> Floats:
    """Return how many of the rows that count are most like each of the chosen ones."""
    if not len(chosen):
        return np.zeros(0)
    nearest = K[:, [*chosen, *known]].argmax(axis=1)
    nearest[chosen] = np.arange(len(chosen))
    found = np.bincount(nearest, row_weights, len(chosen) + len(known))[: len(chosen)]
    return np.asarray(found, dtype=np.float64)
