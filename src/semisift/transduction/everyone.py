"""Soft labels of all rows where a problem holds some of them: one pass over the others.

The components, their scale and the members that label are those of the rows that the problem holds.
A pass places every row among them, labels it and adds it to the sums of the classes, so that the
scores are those of all rows. Blocks have the same bounds wherever the rows are, and sums are added
in their order.
"""

from dataclasses import replace
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse

from semisift._problem import Problem, Whole
from semisift._threads import one_blas_thread
from semisift.math import Floats
from semisift.transduction.axes import Axes, find_axes
from semisift.transduction.soft_labels import (
    SoftLabels,
    find_machines,
    label_components,
    shares_by,
)


def label_everyone(
    problem: Problem, class_prior: Floats | None
) -> tuple[SoftLabels, Floats, Floats]:
    """Label all rows, and add them up by class.

    Parameters
    ----------
    problem : Problem
        One that knows all rows.
    class_prior : float array of shape (n_classes,) or None

    Returns
    -------
    found : SoftLabels
        With the shares of all rows.
    sums : float array of shape (n_classes, p)
        Weighted sums of the columns, scaled and centred.
    squares : float array of shape (p,)
        Sums of squares of the centred columns.
    """
    whole, labels = problem.whole, problem.labels
    assert whole is not None
    axes = find_axes(problem)
    T = axes.place(problem.X)
    found = label_components(T, labels.codes, labels.n_classes, class_prior)
    machines = find_machines(T, labels.codes, labels.n_classes, class_prior)
    about = joblib.hash([vars(axes), machines, found.weights, whole.labels.codes])
    made = whole.rows.once(
        "soft labels", about, lambda: _go_through(whole, axes, machines, found.weights)
    )
    return replace(found, shares=made["shares"]), made["sums"], made["squares"]


def _go_through(whole: Whole, axes: Axes, machines: Any, weights: Floats) -> dict[str, Any]:
    n_rows, n_columns = whole.rows.shape
    codes, n_classes = whole.labels.codes, whole.labels.n_classes
    shares = np.empty((n_rows, n_classes))
    held = np.eye(n_classes)
    sums, total, squares = np.zeros((n_classes, n_columns)), *np.zeros((2, n_columns))
    with one_blas_thread():
        for start, block in whole.rows.blocks("labelling"):
            Z = axes.scale(block)
            own = slice(start, start + block.shape[0])
            said = shares_by(axes.place_scaled(Z), machines, weights)
            labelled = np.flatnonzero(codes[own] >= 0)
            said[labelled] = held[codes[own][labelled]]
            shares[own] = said
            if issparse(Z):
                sums += np.asarray(Z.T @ said).T
                total += np.bincount(Z.indices, Z.data, n_columns)
                squares += np.bincount(Z.indices, Z.data**2, n_columns)
            else:
                sums += said.T @ Z
                total += Z.sum(axis=0)
                squares += np.square(Z).sum(axis=0)
    sizes = shares.sum(axis=0)
    sums -= sizes[:, None] * (total / n_rows)
    squares = np.maximum(squares - total**2 / n_rows, 0.0)
    return {"shares": shares, "sums": sums, "squares": squares}
