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

from semisift._design import Design
from semisift._memory import available_memory, in_words
from semisift._problem import Problem
from semisift.exceptions import StoredRowsError
from semisift.graphs.kind import kind_of_data
from semisift.math import Bools, Floats
from semisift.math.blocks import blocks
from semisift.math.columns import power_of_two
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
    batches = problem.design.batches
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
        known = np.nan_to_num(X) if problem.has_gaps else X  # a gap adds nothing to a total
        X = log_of_shares(known, usual_total(known))
        if problem.has_gaps:
            X[np.isnan(problem.X)] = np.nan
    clean = np.empty(X.shape, dtype=problem.X.dtype, order="F")
    for columns in blocks(*X.shape[::-1]):
        block = X[:, columns].toarray() if issparse(X) else X[:, columns]
        clean[:, columns] = _centred(block.astype(np.float64, order="F"), problem.design)
    clean.flags.writeable = False
    return replace(problem, X=clean, is_log=kind == "counts")


def _centred(X: Floats, design: Design) -> Floats:
    """Return columns without the differences between batches."""
    known = ~np.isnan(X)
    counted = known if design.weights is None else known * design.weights[:, None]
    unit = power_of_two(np.abs(X).max(axis=0, where=known, initial=0.0))
    values = np.where(known, X, 0.0) / unit  # whose sums do not overflow
    overall = _mean(values, counted)
    centred = np.full(X.shape, np.nan)
    varies = np.zeros(X.shape[1], dtype=bool)
    assert design.batches is not None
    for batch in np.unique(design.batches):
        rows = np.flatnonzero(design.batches == batch)
        own, there = values[rows], known[rows]
        low = own.min(axis=0, where=there, initial=np.inf)
        varies |= own.max(axis=0, where=there, initial=-np.inf) > low
        centred[rows] = own - _mean(own, counted[rows])
    centred[:, ~varies] = 0.0  # but for rounding
    return np.where(known, (centred + overall) * unit, np.nan)


def _mean(values: Floats, counted: Bools | Floats) -> Floats:
    total = counted.sum(axis=0)
    return np.asarray((values * counted).sum(axis=0) / np.where(total > 0, total, 1.0))
