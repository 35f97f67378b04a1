"""The depth of rows of counts: how much was measured in each, as molecules in a cell.

It is taken as the logarithm of the number of values other than 0, which stays the same when rows
are brought to equal totals and logarithms are taken. Such rows still differ by it, as small counts
are more often 0 in shallow ones: where the labelled cells of one class happen to be the deeper
ones, genes would be ranked for that. So what goes with the depth within classes is taken out of the
components from which soft labels are found (see `semisift.transduction.depth`), where a table is
known to hold cells (`normalize_counts`, the command line's ``--normalize``, `semisift.tl`).
Elsewhere it is left: how long a text is may tell of what it is.

F. W. Townes, S. C. Hicks, M. J. Aryee, R. A. Irizarry (2019). Feature selection and dimension
reduction for single-cell RNA-Seq based on a multinomial model. Genome Biology 20. G. Finak et al.
(2015). MAST: a flexible statistical framework for assessing transcriptional changes in single-cell
RNA sequencing data. Genome Biology 16, for the number of detected genes as a nuisance.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from semisift._problem import Problem
from semisift.math import Floats


def know_depth(problem: Problem) -> Problem:
    """Return the problem of logarithms of counts, which knows the depth of its rows."""
    design = replace(problem.design, depth=log_filled(problem.X))
    return replace(problem, design=design, is_log=True)


def log_filled(X: Any) -> Floats:
    """Return the logarithm of how many values of each row are other than 0; NaN where none is.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)

    Returns
    -------
    float array of shape (n,)

    Examples
    --------
    >>> log_filled(np.array([[0.0, 2.0, 5.0], [0.0, 0.0, 0.0]])).round(3).tolist()
    [0.693, nan]
    """
    if issparse(X):
        filled = np.asarray((X != 0).sum(axis=1)).ravel()
    else:
        filled = np.count_nonzero(X, axis=1) - np.isnan(X).sum(axis=1)
    return np.log(np.where(filled > 0, filled, np.nan))
