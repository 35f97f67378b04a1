"""Sums of the rows by class, and how far they set a class apart.

Where training data hold some of the rows, one pass goes over all of them. The components, their
scale and the members that label are those of the rows that are held. The pass places every row
among them, labels it and adds it to the sums of the classes, so that the scores are those of all
rows. Blocks have the same bounds wherever the rows are, and sums are added in their order.
"""

from dataclasses import replace
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse

from semisift.base._training_data import FullData, TrainingData
from semisift.parallel import one_blas_thread
from semisift.transduction._components import Axes, ClassSums, find_axes, weighted
from semisift.transduction._soft_labels import (
    SoftLabels,
    find_machines,
    label_components,
    log_filled,
    shares_by,
)
from semisift.utils._columns import as_if_complete
from semisift.utils._typing import Bools, Floats


class RunningSums:
    """Adds up rows on the scale of a `Scale`, with the shares of the classes as weights.

    Parameters
    ----------
    n_classes, n_columns : int
    has_missing : bool
        Whether values may be missing.
    """

    def __init__(self, n_classes: int, n_columns: int, has_missing: bool) -> None:
        self.has_missing = has_missing
        self.sums = np.zeros((n_classes, n_columns))
        self.total, self.squares = np.zeros((2, n_columns))
        self.sizes = np.zeros((n_classes, n_columns if has_missing else 1))

    def add(self, Z: Any, block: Any, shares: Floats, weights: Floats | None) -> None:
        """Add a block of rows.

        Parameters
        ----------
        Z : array or csr_array of shape (n, p)
            The block on the scale; 0 where a value is missing.
        block : array or csr_array of shape (n, p)
            As it is stored, with its missing values.
        shares : float array of shape (n, n_classes)
        weights : float array of shape (n,) or None
            How often each row counts.
        """
        n_columns = len(self.total)
        shares = weighted(shares, weights)
        if issparse(Z):
            self.sums += np.asarray(Z.T @ shares).T
            each = None if weights is None else np.repeat(weights, np.diff(Z.indptr))
            data = Z.data if each is None else each * Z.data
            self.total += np.bincount(Z.indices, data, n_columns)
            self.squares += np.bincount(Z.indices, Z.data * data, n_columns)
        else:
            self.sums += shares.T @ Z
            self.total += weighted(Z, weights).sum(axis=0)
            self.squares += weighted(np.square(Z), weights).sum(axis=0)
            if self.has_missing:
                self.sizes += shares.T @ ~np.isnan(block)

    def class_sums(self, shares: Floats, weights: Floats | None) -> ClassSums:
        """Return what all rows add up to, centred.

        Parameters
        ----------
        shares : float array of shape (n, n_classes)
            Of all rows.
        weights : float array of shape (n,) or None

        Returns
        -------
        ClassSums
        """
        sizes = self.sizes
        if not self.has_missing:
            sizes = weighted(shares, weights).sum(axis=0)[:, None]
        n = np.full(1, float(len(shares)))
        if self.has_missing or weights is not None:
            n = sizes.sum(axis=0)
        n_counted = np.where(n > 0, n, 1.0)
        sums = self.sums - sizes * (self.total / n_counted)
        squares = np.maximum(self.squares - self.total**2 / n_counted, 0.0)
        return ClassSums(sums, sizes, n, squares)


def class_scores(rows: ClassSums, constant: Bools) -> Floats:
    """Return the F-score of each class against the rest, for soft labels.

    Parameters
    ----------
    rows : ClassSums
    constant : bool array of shape (p,)

    Returns
    -------
    float array of shape (n_classes, p)
        At most n; 0 for constant columns. Where values are missing, as of the column with the most
        values.
    """
    n, sizes, squares = rows.total, rows.sizes, rows.squares
    tiny = np.finfo(float).tiny
    least = 0.0 if len(n) == 1 else tiny  # with missing values a class may be without a value
    between = rows.sums**2 * n / np.maximum(sizes * np.maximum(n - sizes, tiny), least)
    total = np.where(constant | ~(squares > 0), 1.0, squares)
    within = np.maximum(total - between, total / np.maximum(n, 1.0))
    scores = between / within
    if len(n) > 1:
        scores = as_if_complete(scores, n - 2.0, n.max() - 2.0, 2)
    return np.where(constant, 0.0, scores)


def mean_scores(of_classes: Floats) -> Floats:
    """Return the mean over classes of scores in units of the best score of the class.

    Parameters
    ----------
    of_classes : float array of shape (n_classes, p)

    Returns
    -------
    float array of shape (p,)
    """
    best = of_classes.max(axis=1, initial=0.0, keepdims=True)
    return np.asarray((of_classes / np.where(best > 0, best, 1.0)).mean(axis=0))


def label_all_rows(data: TrainingData, class_prior: Floats | None) -> tuple[SoftLabels, ClassSums]:
    """Label all rows of the training data that knows them, and add them up by class."""
    full, labels = data.full, data.labels
    assert full is not None
    axes = find_axes(data)
    T = axes.place(data.X)
    found = label_components(T, labels, data.design, class_prior)
    if found.depth is not None and data.design.depth is not None:
        T = found.depth.without(T, data.design.depth)
    machines = find_machines(T, labels, data.design, class_prior)
    known = [vars(axes), machines, found.weights, full.labels.codes, found.depth]
    about = joblib.hash([*known, vars(full.design)] if full.design.is_known else known)
    made = full.rows.cached("soft labels", about, lambda: _go_through(full, axes, machines, found))
    sums = {name: array for name, array in made.items() if name != "shares"}
    return replace(found, shares=made["shares"]), ClassSums(**sums)


def _go_through(full: FullData, axes: Axes, machines: Any, found: SoftLabels) -> dict[str, Any]:
    n_rows, n_columns = full.rows.shape
    codes, n_classes = full.labels.codes, full.labels.n_classes
    row_weights, depths = full.design.weights, full.design.depth
    shares = np.empty((n_rows, n_classes))
    indicator = np.eye(n_classes)
    running = RunningSums(n_classes, n_columns, full.rows.has_missing)
    with one_blas_thread():
        for start, block in full.rows.blocks("labelling"):
            Z = axes.scale(block)
            own = slice(start, start + block.shape[0])
            T = axes.place_scaled(Z)
            if found.depth is not None:
                T = found.depth.without(T, log_filled(block) if depths is None else depths[own])
            predicted = shares_by(T, machines, found.weights)
            labelled = np.flatnonzero(codes[own] >= 0)
            predicted[labelled] = indicator[codes[own][labelled]]
            shares[own] = predicted
            running.add(Z, block, predicted, None if row_weights is None else row_weights[own])
    return {"shares": shares, **vars(running.class_sums(shares, row_weights))}
