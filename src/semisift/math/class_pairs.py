"""Sums over all pairs that follow from labels, without a list or a matrix of them.

A must-link needs the distance of its rows, so these pairs are visited: some rows of a class at a
time, with those that come after them. A cannot-link does not: with n_c rows, mean m_c and sum of
squares V_c of class c, and with D_c, md_c and VD_c the same weighted by the degrees D of the rows::

    sum over i in a, j in b of D_i (f_i - f_j)^2 = n_b VD_a + D_a (n_b (md_a - m_b)^2 + V_b)

where nothing cancels.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift._labels import Labels
from semisift.math.blocks import blocks, dense_columns
from semisift.math.constraints import Constraints
from semisift.math.edge_sums import CANCELS
from semisift.math.gram import exact_distances
from semisift.math.listed_pairs import Apart, Heat, ListedPairs, Tied
from semisift.math.neighbours import FAR


class ClassPart(NamedTuple):
    """Some rows of a class, the ones that come after them, and their squared distances.

    Attributes
    ----------
    X : array or csr_array of shape (n_class, p)
        All rows of the class.
    start : int
        The first of the rows.
    first, both : int arrays
        Places of the rows, and of these and the later ones, among the constrained rows.
    d2 : float array of shape (len(first), len(both))
        Infinite for a row with itself, and where a pair is there the other way round.
    """

    X: Any
    start: int
    first: NDArray[np.int64]
    both: NDArray[np.int64]
    d2: NDArray[np.float64]


class ClassPairs:
    """Sums over the pairs that follow from labels and over listed ones, as `ListedPairs` does.

    Parameters
    ----------
    held : array or csc_array of shape (n_constrained, p)
        The constrained rows.
    constraints : Constraints
    factors, unit, centre : float arrays of shape (p,)
        As in `ListedPairs`.
    labels : Labels
        Of the constrained rows.
    """

    def __init__(
        self,
        held: Any,
        constraints: Constraints,
        factors: NDArray[np.float64],
        unit: NDArray[np.float64],
        centre: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        self.listed = ListedPairs(held, constraints, factors, unit, centre)
        self.held, self.factors, self.unit, self.centre = held, factors, unit, centre
        self.labels = labels
        self.rows = held.tocsr() if issparse(held) else held

    def least_distances(self) -> tuple[float, float]:
        """Return the least squared distance of a must-link, and the least that is not 0."""
        least = [self.listed.least_distances()]
        for part in self._parts():
            least.append((part.d2.min(), part.d2.min(initial=np.inf, where=part.d2 > 0)))
        smallest, apart = np.min(least, axis=0).tolist()
        return smallest, apart

    def must_link_sums(self, heat: Heat) -> Tied:
        """Add up over must-links, with weights that `heat` makes of squared distances."""
        sums, degrees, _, largest = self.listed.must_link_sums(heat)
        for part in self._parts():
            weights = np.where(np.isinf(part.d2), 0.0, heat(part.d2))
            largest = max(largest, float(weights.max()))
            degrees[part.first] += weights.sum(axis=1)
            degrees[part.both] += weights.sum(axis=0)
            for columns in blocks(len(sums), part.X.shape[0]):
                block = _centred(part.X, columns, 1 / self.unit, part.start)
                sums[columns] += _rectangular_sums(weights, block)
        return Tied(sums, degrees, float(degrees.sum()), largest)

    def cannot_link_sums(self, degrees: NDArray[np.float64]) -> Apart:
        """Add up over cannot-links."""
        sums, total, number = self.listed.cannot_link_sums(degrees)
        rows = np.argsort(self.labels.codes, kind="stable")[-len(self.labels.labelled) :]
        counts = self.labels.counts[self.labels.counts > 0]
        starts = np.cumsum(counts) - counts
        own = degrees[rows]
        volumes = np.add.reduceat(own, starts)
        others = counts.sum() - counts
        for columns in blocks(len(sums), self.held.shape[0]):
            block = dense_columns(self.held, columns)[rows] / self.unit[columns]
            block -= self.centre[columns]
            sums[columns] += _between_classes(block, own, counts, volumes)
        return Apart(sums, total + float(volumes @ others), number + float(counts @ others) / 2)

    def _parts(self) -> Iterator[ClassPart]:
        for code in np.flatnonzero(self.labels.counts > 1):
            members = np.flatnonzero(self.labels.codes == code)
            X = self.rows[members]
            for rows in blocks(len(members), len(members)):
                d2 = _distances(X, rows, self.factors)
                yield ClassPart(X, rows.start, members[rows], members[rows.start :], d2)


def _centred(
    X: Any, columns: slice, factors: NDArray[np.float64], start: int
) -> NDArray[np.float64]:
    """Return columns of the rows from `start` on, times their factors, around their median."""
    block = dense_columns(X, columns)[start:] * factors[columns]
    block -= np.median(block, axis=0)  # a huge value would draw the mean away from all others
    return block


def _distances(X: Any, rows: slice, factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distances of a `ClassPart`."""
    height, n = rows.stop - rows.start, X.shape[0] - rows.start
    products, lengths = np.zeros((height, n)), np.zeros(n)
    for columns in blocks(X.shape[1], X.shape[0]):
        block = _centred(X, columns, factors, rows.start)
        products += block[:height] @ block.T
        lengths += np.einsum("ij,ij->i", block, block)
    both = lengths[:height, None] + lengths
    d2 = both - 2 * products
    d2[:, :height][np.tri(height, dtype=bool)] = np.inf
    first, second = np.nonzero(both > FAR * d2)
    if len(first):
        X = X[rows.start :]
        d2[first, second] = exact_distances(X.tocsc() if issparse(X) else X, first, second, factors)
    return d2


def _rectangular_sums(
    weights: NDArray[np.float64], block: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add up the weighted squared differences between the first rows of a block and all of it."""
    first = block[: len(weights)]
    squares = weights.sum(axis=1) @ first**2 + weights.sum(axis=0) @ block**2
    sums = squares - 2 * np.einsum("ij,ij->j", first, weights @ block)
    for j in np.flatnonzero(sums < CANCELS * squares):
        sums[j] = np.sum(weights * (first[:, [j]] - block[:, j]) ** 2)
    return sums


def _between_classes(
    block: NDArray[np.float64],
    degrees: NDArray[np.float64],
    counts: NDArray[np.int64],
    volumes: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add up the squared differences between classes, each row weighted by its degree.

    Parameters
    ----------
    block : float array of shape (n_labelled, width)
        Class by class.
    degrees : float array of shape (n_labelled,)
    counts, volumes : arrays of shape (n_classes,)
        Number of rows, and sum of the degrees, of each class.

    Returns
    -------
    float array of shape (width,)
    """
    starts = np.cumsum(counts) - counts

    def moments(
        weights: NDArray[np.float64], totals: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        means = np.add.reduceat(weights[:, None] * block, starts, axis=0)
        np.divide(means, totals[:, None], out=means, where=totals[:, None] > 0)
        squares = weights[:, None] * (block - np.repeat(means, counts, axis=0)) ** 2
        return means, np.add.reduceat(squares, starts, axis=0)

    plain_means, plain_squares = moments(np.ones(len(block)), counts)
    means, squares = moments(degrees, volumes)
    sums = np.zeros(block.shape[1])
    for a, volume in enumerate(volumes):
        others = np.where(np.arange(len(counts)) == a, 0, counts)
        distances = others @ (means[a] - plain_means) ** 2 + (others > 0) @ plain_squares
        sums += others.sum() * squares[a] + volume * distances
    return sums
