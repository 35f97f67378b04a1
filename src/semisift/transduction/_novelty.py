"""Rows that fit no class: a class among the unlabelled rows of which none has a label.

One class more is sought among the rows: it starts from the densest third of the tenth of the
unlabelled rows that lie farthest from the means of all labelled classes, and takes part in the
Gaussian classes of `semisift.transduction._gaussian_ridge` as if these rows were labelled. The rows
that
fall to it are novel if they are many, at least a tenth of the unlabelled rows, and differ from
every labelled class by 3 standard deviations of a class and by .85 of what the two most similar of
those differ by. Both must hold in 12 and in 20 principal components.

The rule is our own (benchmarks/one_class.py). Subgroups of a class that differ as classes do are
found as well.
"""

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.exceptions import NovelClassWarning
from semisift.parallel import one_blas_thread
from semisift.transduction._gaussian_ridge import gaussian_machines, machine_shares, shrunk
from semisift.utils._labels import Labels
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import warn

DIMENSIONS = (12, 20)
MANY = 0.1
FAR = 3.0
AS_FAR = 0.85

# The share of unlabelled rows among which the new class is sought, and the part that starts it.
FARTHEST, DENSEST = 0.1, 1 / 3

# Fewer unlabelled rows say nothing, and of more so many are asked.
MIN, MAX = 100, 2000


def warn_of_novel_rows(data: TrainingData, T: Floats) -> NDArray[np.int64]:
    """Return the rows of the table that fit no class, and warn of them.

    Parameters
    ----------
    data : TrainingData
    T : float array of shape (n, d)
        Components of its rows.

    Returns
    -------
    int array
    """
    rows = find_novel_rows(T, data.labels)
    if not len(rows):
        return rows
    share = len(rows) / min(MAX, len(data.labels.unlabelled))
    if data.full is not None:
        rows = data.full.sampled[rows]
    warn(
        f"About {share:.0%} of the unlabelled rows fit no class: they differ from all labelled "
        "ones about as much as these differ from each other, and yet they are given a label. "
        f"Label some of them, for instance row {rows[0]}.",
        NovelClassWarning,
    )
    return rows


def find_novel_rows(T: Floats, labels: Labels) -> NDArray[np.int64]:
    """Return the rows that fit no class, as far as they are many; else none.

    Parameters
    ----------
    T : float array of shape (n, d)
        Components of the rows, centred.
    labels : Labels
        Of two classes or more.

    Returns
    -------
    int array
        Ascending; of more than 2,000 unlabelled rows those among some of them.
    """
    candidates = labels.unlabelled
    if len(candidates) < MIN or labels.rest is not None:
        return np.empty(0, dtype=np.int64)
    candidates = candidates[
        np.linspace(0, len(candidates) - 1, min(len(candidates), MAX)).astype(np.int64)
    ]
    rows = np.sort(np.concatenate([labels.labelled, candidates]))
    codes = labels.codes[rows]
    some = T[rows] - T[rows].mean(axis=0)
    strange = np.ones(len(rows), dtype=bool)
    with one_blas_thread():
        for d in sorted({min(d, T.shape[1]) for d in DIMENSIONS}):
            strange &= _strange(some[:, :d], codes, labels.n_classes)
    many = strange.sum() >= MANY * len(candidates)
    return rows[strange] if many else np.empty(0, dtype=np.int64)


def _strange(T: Floats, codes: Ints, n_classes: int) -> Bools:
    """Return which rows fall to a further class; none where it is near another one or small."""
    indicator = (codes[:, None] == np.arange(n_classes + 1)).astype(np.float64)
    start = indicator.copy()
    start[_core(T, codes, n_classes), -1] = 1.0
    shares = machine_shares(T, *gaussian_machines(T, start[None], None))[0]
    shares = np.where(codes[:, None] < 0, shares, indicator)  # what it started from may leave it
    sizes = shares.sum(axis=0)[:, None]
    means = shares.T @ T / sizes
    within = shrunk((T.T @ T - (means * sizes).T @ means)[None] / len(T))[0]
    between = means[:, None] - means
    turned = between @ np.linalg.inv(within)
    apart = np.sqrt((between * turned).sum(axis=2))
    nearest = apart[-1, :-1].min()
    classes = apart[:-1, :-1][np.triu_indices(n_classes, 1)].min()
    strange: Bools = (shares.argmax(axis=1) == n_classes) & (codes < 0)
    is_far = nearest >= max(FAR, AS_FAR * classes)
    return strange & (is_far and strange.sum() >= MANY * np.sum(codes < 0))


def _core(T: Floats, codes: Ints, n_classes: int) -> Ints:
    """Return the rows that a further class starts from."""
    scale = np.linalg.cholesky(np.linalg.inv(shrunk((T.T @ T)[None] / len(T))[0]))
    Z = T @ scale
    means = np.array([Z[codes == code].mean(axis=0) for code in range(n_classes)])
    unlabelled = np.flatnonzero(codes < 0)
    away = np.square(Z[unlabelled, None] - means).sum(axis=2).min(axis=1)
    far = unlabelled[np.argsort(-away, kind="stable")[: int(np.ceil(FARTHEST * len(unlabelled)))]]
    spread = np.square(Z[far] - Z[far].mean(axis=0)).sum(axis=1)
    return far[np.argsort(spread, kind="stable")[: max(3, int(DENSEST * len(far)))]]
