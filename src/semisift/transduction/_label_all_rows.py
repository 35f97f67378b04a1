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

from semisift.base._training_data import FullData, TrainingData
from semisift.parallel import one_blas_thread
from semisift.transduction._class_sums import Tally
from semisift.transduction._components import ClassSums
from semisift.transduction._library_size import log_filled
from semisift.transduction._projection import Axes, find_axes
from semisift.transduction._soft_labels import (
    SoftLabels,
    find_machines,
    label_components,
    shares_by,
)
from semisift.utils._typing import Floats


def label_all_rows(
    problem: TrainingData, class_prior: Floats | None
) -> tuple[SoftLabels, ClassSums]:
    """Label all rows, and add them up by class.

    Parameters
    ----------
    problem : TrainingData
        One that knows all rows.
    class_prior : float array of shape (n_classes,) or None

    Returns
    -------
    found : SoftLabels
        With the shares of all rows.
    sums : ClassSums
        Of all rows.
    """
    whole, labels = problem.whole, problem.labels
    assert whole is not None
    axes = find_axes(problem)
    T = axes.place(problem.X)
    found = label_components(T, labels, problem.design, class_prior)
    if found.depth is not None and problem.design.depth is not None:
        T = found.depth.without(T, problem.design.depth)
    machines = find_machines(T, labels, problem.design, class_prior)
    known = [vars(axes), machines, found.weights, whole.labels.codes, found.depth]
    about = joblib.hash([*known, vars(whole.design)] if whole.design.is_known else known)
    made = whole.rows.once("soft labels", about, lambda: _go_through(whole, axes, machines, found))
    sums = {name: array for name, array in made.items() if name != "shares"}
    return replace(found, shares=made["shares"]), ClassSums(**sums)


def _go_through(whole: FullData, axes: Axes, machines: Any, found: SoftLabels) -> dict[str, Any]:
    n_rows, n_columns = whole.rows.shape
    codes, n_classes = whole.labels.codes, whole.labels.n_classes
    row_weights, depths = whole.design.weights, whole.design.depth
    shares = np.empty((n_rows, n_classes))
    held = np.eye(n_classes)
    tally = Tally(n_classes, n_columns, whole.rows.has_gaps)
    with one_blas_thread():
        for start, block in whole.rows.blocks("labelling"):
            Z = axes.scale(block)
            own = slice(start, start + block.shape[0])
            T = axes.place_scaled(Z)
            if found.depth is not None:
                T = found.depth.without(T, log_filled(block) if depths is None else depths[own])
            said = shares_by(T, machines, found.weights)
            labelled = np.flatnonzero(codes[own] >= 0)
            said[labelled] = held[codes[own][labelled]]
            shares[own] = said
            tally.add(Z, block, said, None if row_weights is None else row_weights[own])
    return {"shares": shares, **vars(tally.class_sums(shares, row_weights))}
