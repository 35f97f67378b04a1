"""Dot products of rows, and the squared distances of pairs of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.math.blocks import blocks, dense_columns, too_many_to_square
from semisift.math.neighbours import LOST, MeasuredRows


class Gram:
    """Dot products of rows around their mean, columns multiplied by factors.

    ``gram[i, j]`` with two arrays of row numbers, of one shape or as for an outer product, is as of
    a matrix. There is one unless there are very many rows: then products are worked out when they
    are asked for.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    factors : float array of shape (p,)
    """

    def __init__(self, X: Any, factors: NDArray[np.float64]) -> None:
        self.X = X
        self.factors = factors
        self.matrix = None if too_many_to_square(X.shape[0]) else self._all_products()

    def _all_products(self) -> NDArray[np.float64]:
        n = self.X.shape[0]
        products = np.zeros((n, n))
        for columns in blocks(self.X.shape[1] if n else 0, max(1, n)):
            block = self._centred(columns)
            products += block @ block.T
        return products

    def _centred(self, columns: slice) -> NDArray[np.float64]:
        block = dense_columns(self.X, columns) * self.factors[columns]
        block -= block.mean(axis=0)
        return block

    def __getitem__(
        self, at: tuple[NDArray[np.integer], NDArray[np.integer]]
    ) -> NDArray[np.float64]:
        if self.matrix is not None:
            return self.matrix[at]
        first, second = at
        is_outer = first.ndim == 2
        products = np.zeros((len(first), len(second)) if is_outer else len(first))
        n_columns = self.X.shape[1] if products.size else 0
        for columns in blocks(n_columns, self.X.shape[0] + len(first) + len(second)):
            block = self._centred(columns)
            if is_outer:
                products += block[first[:, 0]] @ block[second].T
            else:
                products += np.einsum("ij,ij->i", block[first], block[second])
        return products

    def distances(self, pairs: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the squared distances of pairs of rows.

        Parameters
        ----------
        pairs : int array of shape (k, 2)

        Returns
        -------
        float array of shape (k,)
        """
        i, j = pairs.T
        lengths = self[i, i] + self[j, j]
        d2 = lengths - 2 * self[i, j]
        lost = np.flatnonzero(lengths > LOST * d2)
        d2[lost] = exact_distances(self.X, i[lost], j[lost], self.factors)
        return d2


def exact_distances(
    X: Any,
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    factors: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the squared distances of pairs of rows from their differences.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    first, second : int arrays of shape (k,)
    factors : float array of shape (p,)

    Returns
    -------
    float array of shape (k,)
    """
    if not len(first):
        return np.zeros(0)
    every = np.arange(X.shape[0])
    rows = MeasuredRows(X, every, np.ones_like(every), factors)
    return rows.from_differences(first.astype(np.int64), second.astype(np.int64))
