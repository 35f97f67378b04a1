"""What goes with the depth of cells, taken out of the components from which they are labelled.

The components of a row rise and fall with its depth (see `semisift.transduction._library_size`).
How much is
found within classes, as in the analysis of covariance: rows are labelled once as they are, and with
p_ic the share of class c for row i and d_i its depth, the slope of component t is

    sum_ic p_ic (d_i - mean_c d) (t_i - mean_c t) / sum_ic p_ic (d_i - mean_c d)^2

So it makes no difference whether the classes differ in depth, or whether the labelled cells happen
to: what cells of a class have in common stays. There is one turn, not several, by our own choice:
labels that were found without depth make what differs between classes look like its effect.

The depth of rows of counts: how much was measured in each, as molecules in a cell.

It is taken as the logarithm of the number of values other than 0, which stays the same when rows
are brought to equal totals and logarithms are taken. Such rows still differ by it, as small counts
are more often 0 in shallow ones: where the labelled cells of one class happen to be the deeper
ones, genes would be ranked for that. So what goes with the depth within classes is taken out of the
components from which soft labels are found (see `semisift.transduction._library_size`), where a
table is
known to hold cells (`normalize_counts`, the command line's ``--normalize``, `semisift.tl`).
Elsewhere it is left: how long a text is may tell of what it is.

F. W. Townes, S. C. Hicks, M. J. Aryee, R. A. Irizarry (2019). Feature selection and dimension
reduction for single-cell RNA-Seq based on a multinomial model. Genome Biology 20. G. Finak et al.
(2015). MAST: a flexible statistical framework for assessing transcriptional changes in single-cell
RNA sequencing data. Genome Biology 16, for the number of detected genes as a nuisance.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from semisift.base._training_data import TrainingData
from semisift.transduction._components import mean_row, weighted
from semisift.utils._typing import Floats, Ints

# Variances below this are those of rows of one depth, or of components that are rounding.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True, eq=False)
class DepthTaken:
    """How much of the components goes with the depth of the rows.

    Attributes
    ----------
    mean : float
        Of the depth.
    slopes : float array of shape (d,)
        How much of each component goes with one unit of depth.
    order : int array of at most d numbers
        The components that remain, by their variance.
    """

    mean: float
    slopes: Floats
    order: Ints

    def without(self, T: Floats, depth: Floats) -> Floats:
        """Return the components of rows of some depth without what goes with it.

        Parameters
        ----------
        T : float array of shape (n, d)
        depth : float array of shape (n,)
            NaN for rows that are of none.

        Returns
        -------
        float array of shape (n, len(order))
        """
        own = np.nan_to_num(depth - self.mean)
        return np.asarray((T - np.outer(own, self.slopes))[:, self.order])


def take_depth(T: Floats, shares: Floats, depth: Floats, weights: Floats | None) -> DepthTaken:
    """Return how much of the components goes with depth, within classes.

    Parameters
    ----------
    T : float array of shape (n, d)
        Components, centred.
    shares : float array of shape (n, n_classes)
        How likely each class is for each row.
    depth : float array of shape (n,)
        NaN for rows that are of none.
    weights : float array of shape (n,) or None
        How often each row counts.

    Returns
    -------
    DepthTaken
    """
    is_known = ~np.isnan(depth)
    known = is_known if weights is None else is_known * weights
    mean = float(mean_row(np.nan_to_num(depth)[:, None], known.astype(np.float64))[0])
    slopes = slopes_within(T, weighted(shares, known), np.nan_to_num(depth - mean))
    taken = DepthTaken(mean, slopes, np.arange(T.shape[1]))
    variance = weighted(np.square(taken.without(T, depth)), weights).sum(axis=0)
    order = np.argsort(-variance, kind="stable")
    kept = order[variance[order] > NEGLIGIBLE * variance.max()]
    return DepthTaken(mean, slopes, kept if len(kept) else order[:1])


def slopes_within(T: Floats, shares: Floats, depth: Floats) -> Floats:
    """Return the slopes of components on depth, within classes; 0 for rows of one depth.

    Parameters
    ----------
    T : float array of shape (n, d) or (n_sets, n, d)
    shares : float array of shape (n, n_classes) or (n_sets, n, n_classes)
    depth : float array of shape (n,) or (n_sets, n)
        About 0.

    Returns
    -------
    float array of shape (d,) or (n_sets, d)

    Examples
    --------
    >>> depth = np.array([0.0, 1.0, 2.0, 3.0])
    >>> T = np.array([[1.0], [3.0], [0.0], [2.0]])  # two classes, in which it rises by 2
    >>> slopes_within(T, np.eye(2)[[0, 0, 1, 1]], depth).tolist()
    [2.0]
    """
    columns = np.swapaxes(shares, -1, -2)
    sizes = np.maximum(columns.sum(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    counted = (shares.sum(axis=-1) * depth)[..., None, :]
    of_depth = np.matmul(columns, depth[..., None])
    common = np.swapaxes(of_depth / sizes, -1, -2)
    together = np.matmul(counted, T) - np.matmul(common, np.matmul(columns, T))
    squares = np.matmul(counted, depth[..., None]) - np.matmul(common, of_depth)
    differ = squares > NEGLIGIBLE * np.maximum(sizes.sum(axis=-2, keepdims=True), 1.0)
    return np.asarray(np.where(differ, together / np.where(differ, squares, 1.0), 0.0)[..., 0, :])


# --- depth ----------------------------------------------------------------------------------------


def know_depth(problem: TrainingData) -> TrainingData:
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
