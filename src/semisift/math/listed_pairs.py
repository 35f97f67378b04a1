"""Sums over must-link and cannot-link pairs that are listed, each with its weight."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, triu

from semisift.math.blocks import blocks, dense_columns, too_many_to_square
from semisift.math.constraints import Constraints
from semisift.math.edge_sums import CANCELS, PRODUCT_VALUES
from semisift.math.gram import Gram

# A centre that is more than so many standard deviations from the mean of the rows is none.
AWAY = 1e6

Heat = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class Tied(NamedTuple):
    """Sums over must-link pairs, each once.

    Attributes
    ----------
    sums : float array of shape (p,)
        Weighted squared differences, each column in its unit.
    degrees : float array of shape (n_constrained,)
        Sum of the weights at each row.
    total : float
        Sum of the weights, each pair twice.
    largest : float
        The largest weight.
    """

    sums: NDArray[np.float64]
    degrees: NDArray[np.float64]
    total: float
    largest: float


class Apart(NamedTuple):
    """Sums over cannot-link pairs, each once; a pair weighs as much as its rows together.

    Attributes
    ----------
    sums : float array of shape (p,)
        Weighted squared differences, each column in its unit.
    total : float
        Sum of the weights.
    number : float
        How many pairs there are.
    """

    sums: NDArray[np.float64]
    total: float
    number: float


class ListedPairs:
    """Sums over listed pairs, from a matrix of their weights.

    Parameters
    ----------
    held : array or csc_array of shape (n_constrained, p)
        The constrained rows.
    constraints : Constraints
    factors : float array of shape (p,)
        What columns are multiplied by to measure distances.
    unit, centre : float arrays of shape (p,)
        The unit to add up a column in, and what to take from it first so that less cancels.
    """

    def __init__(
        self,
        held: Any,
        constraints: Constraints,
        factors: NDArray[np.float64],
        unit: NDArray[np.float64],
        centre: NDArray[np.float64],
    ) -> None:
        self.held, self.constraints = held, constraints
        self.unit, self.centre = unit, centre
        self.d2 = Gram(held, factors).distances(constraints.must_link)

    def least_distances(self) -> tuple[float, float]:
        """Return the least squared distance of a must-link, and the least that is not 0."""
        return self.d2.min(initial=np.inf), self.d2.min(initial=np.inf, where=self.d2 > 0)

    def must_link_sums(self, heat: Heat) -> Tied:
        """Add up over must-links, with weights that `heat` makes of squared distances."""
        weights = heat(self.d2)
        matrix = pair_matrix(self.constraints.must_link, weights, self.held.shape[0])
        degrees, largest = matrix.sum(axis=1), weights.max(initial=0.0)
        return Tied(self._sums(matrix), degrees, float(matrix.sum()), largest)

    def cannot_link_sums(self, degrees: NDArray[np.float64]) -> Apart:
        """Add up over cannot-links."""
        pairs = self.constraints.cannot_link
        matrix = pair_matrix(pairs, degrees[pairs].sum(axis=1), self.held.shape[0])
        return Apart(self._sums(matrix), float(matrix.sum() / 2), len(pairs))

    def _sums(self, matrix: Any) -> NDArray[np.float64]:
        sums = np.zeros(self.held.shape[1])
        for columns in blocks(len(sums), max(1, self.held.shape[0])):
            block = dense_columns(self.held, columns) / self.unit[columns]
            sums[columns] = quadratic_sums(matrix, block, self.centre[columns])
        return sums


def pair_matrix(pairs: NDArray[np.integer], weights: NDArray[np.float64], n: int) -> Any:
    """Return the weights of pairs as a symmetric matrix; a pair may be there several times.

    Parameters
    ----------
    pairs : int array of shape (k, 2)
    weights : float array of shape (k,)
    n : int

    Returns
    -------
    array of shape (n, n), or csr_array where that is too large
    """
    if too_many_to_square(n):
        half = coo_array((weights, tuple(pairs.T)), shape=(n, n)).tocsr()
        return csr_array(half + half.T)
    matrix = np.zeros((n, n))
    np.add.at(matrix, tuple(pairs.T), weights)
    return matrix + matrix.T


def quadratic_sums(
    weights: Any, block: NDArray[np.float64], centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add up the weighted squared differences over unordered pairs of rows, for each column.

    Parameters
    ----------
    weights : array or csr_array of shape (n, n)
        Symmetric.
    block : float array of shape (n, width)
    centre : float array of shape (width,)
        What to take from each column first, so that less cancels.

    Returns
    -------
    float array of shape (width,)
    """
    if len(block):
        own = block.mean(axis=0)
        # a huge value in another row may have drawn the centre away from all of these
        is_away = np.abs(centre - own) > AWAY * block.std(axis=0)
        block = block - np.where(is_away, own, centre)
    squares = weights.sum(axis=1) @ block**2
    sums = squares - (block * (weights @ block)).sum(axis=0)
    lost = np.flatnonzero(sums < CANCELS * squares)
    if len(lost):  # the difference of two sums of that size: taken pair by pair
        half = triu(coo_array(weights), format="coo")
        few = block[:, lost]
        sums[lost] = 0.0
        for pairs in blocks(half.nnz, len(lost), PRODUCT_VALUES):
            apart = few[half.row[pairs]] - few[half.col[pairs]]
            sums[lost] += half.data[pairs] @ np.asfortranarray(apart) ** 2
    return sums
