"""Differences between batches, taken out of the columns before any method sees them.

From each value goes the mean of its column in its batch, over labelled and unlabelled rows, and the
mean over all rows is added:

    x_ir - mean of column r in the batch of row i + mean of column r

so that what remains are differences within batches, which every method then puts together in its
own way. Counts, as of molecules in a cell, are first brought to equal totals and taken as
log(1 + x). A column that has one value in each batch has one value altogether then. Where batches
hold the classes in different shares, part of the difference between the classes goes as well.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from semisift._memory import available_memory, in_words
from semisift._problem import Problem
from semisift.exceptions import StoredRowsError
from semisift.graphs.kind import kind_of_data
from semisift.math import Floats, Ints
from semisift.math.blocks import blocks
from semisift.math.columns import counted_moments, known_extremes, power_of_two
from semisift.math.counts import log_of_shares, usual_total


def without_batches(problem: Problem) -> Problem:
    """Return the problem without the differences between its batches; itself if it has none.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Problem
        With a dense X.
    """
    batches, weights = problem.design.batches, problem.design.weights
    if batches is None:
        return problem
    X = problem.X
    needed = problem.n_rows * problem.n_features * X.dtype.itemsize
    free = available_memory()
    if issparse(X) and free is not None and needed > free:
        raise StoredRowsError(
            f"batch makes a sparse X dense, which needs {in_words(needed)}, and {in_words(free)} "
            "are free. Rank some of the rows or columns."
        )
    kind = kind_of_data(problem)
    if kind == "counts":
        X = log_of_shares(X, usual_total(X))
    clean = np.empty(X.shape, dtype=problem.X.dtype, order="F")
    for columns in blocks(*X.shape[::-1]):
        block = X[:, columns].toarray() if issparse(X) else X[:, columns]
        clean[:, columns] = _centred(block.astype(np.float64, order="F"), batches, weights)
    clean.flags.writeable = False
    return replace(problem, X=clean, is_log=kind != "measurements")


def _centred(X: Floats, batches: Ints, weights: Floats | None) -> Floats:
    """Return columns without the differences between batches."""
    unit = power_of_two(np.fmax.reduce(np.abs(X), axis=0, initial=0.0))
    overall = counted_moments(X, unit, weights)[1]
    centred = np.empty(X.shape)
    varies = np.zeros(X.shape[1], dtype=bool)
    for batch in np.unique(batches):
        rows = np.flatnonzero(batches == batch)
        own = X[rows]
        low, high = known_extremes(own)
        varies |= high > low
        means = counted_moments(own, unit, None if weights is None else weights[rows])[1]
        centred[rows] = own / unit - means
    centred[:, ~varies] *= 0.0  # but for rounding; gaps stay
    return (centred + overall) * unit
