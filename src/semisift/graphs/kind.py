"""What the columns of a table hold."""

from typing import Any, Literal

import numpy as np

from semisift._problem import Problem
from semisift.math.columns import extremes

Kind = Literal["measurements", "counts", "logarithms"]

# Tables of which at least so many values are zero, and none is negative, hold counts.
SHARE_OF_ZEROS = 0.5


def kind_of_data(problem: Problem) -> Kind:
    """Tell counts, as of words or of molecules in a cell, from measurements.

    Counts have one unit and are mostly zero: their distances mean something as they are, and
    rescaling would make the rarest columns the most important ones. Columns with one value besides
    zero, as of categories, do not count unless there are no others.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    {"measurements", "counts", "logarithms"}
        The last where counts were taken as logarithms already.
    """
    if problem.is_log:
        return "logarithms"
    X = problem.X
    n_known: Any = np.full(problem.n_features, problem.n_rows)
    if problem.has_gaps:  # neither zero nor another value
        n_known = problem.n_rows - np.isnan(X).sum(axis=0)
        X = np.where(np.isnan(X), 0, X)
    low, high = extremes(X)
    if (low < 0).any():
        return "measurements"
    n_filled = np.diff(X.indptr) if problem.is_sparse else np.count_nonzero(X, axis=0)
    total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    with np.errstate(over="ignore"):  # huge values have more than two
        has_two_values = np.isclose(total, n_filled * high.astype(np.float64), rtol=1e-6, atol=0)
    asked = ~has_two_values if not has_two_values.all() else np.ones(len(total), dtype=bool)
    mostly_zero = n_filled[asked].mean() <= (1 - SHARE_OF_ZEROS) * n_known[asked].mean()
    return "counts" if mostly_zero else "measurements"
