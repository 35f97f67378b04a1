"""What goes with the depth of cells, taken out of the components from which they are labelled.

The components of a row rise and fall with its depth (see `semisift.graphs.depth`). How much is
found within classes, as in the analysis of covariance: rows are labelled once as they are, and with
p_ic the share of class c for row i and d_i its depth, the slope of component t is

    sum_ic p_ic (d_i - mean_c d) (t_i - mean_c t) / sum_ic p_ic (d_i - mean_c d)^2

So it makes no difference whether the classes differ in depth, or whether the labelled cells happen
to: what cells of a class have in common stays. There is one turn, not several, by our own choice:
labels that were found without depth make what differs between classes look like its effect.
"""

from dataclasses import dataclass

import numpy as np

from semisift.math import Floats, Ints
from semisift.transduction.components import mean_row, weighted

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
