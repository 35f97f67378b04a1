"""Dot products of rows: the distances of pairs, and which pairs are coherent.

I. Davidson, K. Wagstaff, S. Basu (2006). Measuring constraint-set utility for partitional
clustering algorithms. PKDD. A pair is a segment between its two rows. Two segments of different
kinds pull in contradictory ways as far as they overlap when one is projected on the line of the
other; they are coherent if neither projection overlaps.

All dot products come from the Gram matrix of the rows, so that after O(n_L^2 p) a must-link and a
cannot-link are compared in O(1). With very many rows only the part at hand is ever there.
"""

from typing import Any, Literal

import numpy as np

from semisift.math import Bools, Floats, Ints
from semisift.math.blocks import blocks, dense_columns, too_many_to_square
from semisift.math.neighbours import LOST, MeasuredRows

# An overlap below this share of the segment is rounding.
NEGLIGIBLE = 1e-12

# Overlaps are computed for so many couples of pairs at once.
BLOCK_VALUES = 1 << 20


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

    def __init__(self, X: Any, factors: Floats) -> None:
        self.X = X
        self.factors = factors
        self.matrix = None if too_many_to_square(X.shape[0]) else self._all_products()

    def _all_products(self) -> Floats:
        n = self.X.shape[0]
        products = np.zeros((n, n))
        for columns in blocks(self.X.shape[1] if n else 0, max(1, n)):
            block = self._centred(columns)
            products += block @ block.T
        return products

    def _centred(self, columns: slice) -> Floats:
        block = dense_columns(self.X, columns) * self.factors[columns]
        block -= block.mean(axis=0)
        return block

    def __getitem__(self, at: tuple[Ints, Ints]) -> Floats:
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

    def distances(self, pairs: Ints) -> Floats:
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


def exact_distances(X: Any, first: Ints, second: Ints, factors: Floats) -> Floats:
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


def overlaps(gram: Any, pairs: Ints, others: Ints) -> Floats:
    """Return which share of each of the `others` the projection of each pair covers.

    Parameters
    ----------
    gram : float array of shape (n, n), or Gram
        Dot products of all rows.
    pairs, others : int arrays of shape (k, 2) and (l, 2)

    Returns
    -------
    float array of shape (k, l)
        In [0, 1]; 0 for a segment without length.
    """
    return _covered(_products(gram, pairs, others), gram, others)


def _products(gram: Any, pairs: Ints, others: Ints) -> Floats:
    """Return the dot products of both rows of each pair with both of each other, (k, 2, l, 2)."""
    return np.asarray(gram[pairs.reshape(-1, 1), others.ravel()]).reshape(len(pairs), 2, -1, 2)


def _covered(products: Floats, gram: Any, others: Ints) -> Floats:
    b0, b1 = others.T
    own, across = gram[b0, b0], gram[b0, b1]
    length2 = own + gram[b1, b1] - 2 * across

    def along(side: int) -> Floats:
        dot = products[:, side, :, 1] - products[:, side, :, 0] - across + own
        return np.divide(dot, length2, out=np.zeros_like(dot), where=length2 > 0)

    start, stop = along(0), along(1)
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    share = np.minimum(high, 1.0) - np.maximum(low, 0.0)
    return np.where((share > NEGLIGIBLE) & (length2 > 0), share, 0.0)


def incoherence(gram: Any, must_link: Ints, cannot_link: Ints) -> Floats:
    """Return the larger overlap of each must-link with each cannot-link.

    Parameters
    ----------
    gram : float array of shape (n, n), or Gram
    must_link, cannot_link : int arrays of shape (k, 2) and (l, 2)

    Returns
    -------
    float array of shape (k, l)
        In [0, 1]; 0 means coherent.
    """
    products = _products(gram, must_link, cannot_link)
    return np.maximum(
        _covered(products, gram, cannot_link),
        _covered(products.transpose(2, 3, 0, 1), gram, must_link).T,
    )


def coherence(gram: Any, must_link: Ints, cannot_link: Ints) -> float:
    """Return the share of coherent couples of a must-link and a cannot-link; NaN without any.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0], [0.5, 1.0], [2.0, 1.0]])
    >>> coherence(X @ X.T, np.array([[0, 1]]), np.array([[2, 3], [4, 5]]))
    0.5
    """
    if not len(must_link) or not len(cannot_link):
        return float("nan")
    return float((incoherence(gram, must_link, cannot_link) == 0).mean())


def coherent_pairs(
    gram: Any,
    must_link: Ints,
    cannot_link: Ints,
    selection: Literal["half", "strict"] = "half",
    groups: Ints | None = None,
) -> tuple[Bools, Bools]:
    """Choose the pairs to keep; never none of a kind of which there were some.

    Parameters
    ----------
    gram : float array of shape (n, n), or Gram
    must_link, cannot_link : int arrays of shape (k, 2) and (l, 2)
    selection : {"half", "strict"}
        The half of each kind that overlaps least, on average, with the other kind; or the pairs
        that are coherent with all of the other kind, and the half where there are none.
    groups : int array of shape (n,), optional
        Classes of the rows, -1 for none: one must-link of each class and one cannot-link of each
        two classes are kept, where there are any. Pairs with a row of no class are of no group.

    Returns
    -------
    keep_must_link, keep_cannot_link : bool arrays of shape (k,) and (l,)
    """
    if not len(must_link) or not len(cannot_link):
        return np.ones(len(must_link), dtype=bool), np.ones(len(cannot_link), dtype=bool)
    total_must, total_cannot = np.zeros(len(must_link)), np.zeros(len(cannot_link))
    for some in blocks(len(must_link), len(cannot_link), BLOCK_VALUES):
        part = incoherence(gram, must_link[some], cannot_link)
        total_must[some] = part.sum(axis=1)
        total_cannot += part.sum(axis=0)
    if selection == "strict" and not total_must.min() > 0 and not total_cannot.min() > 0:
        return total_must == 0, total_cannot == 0
    return (
        _lower_half(total_must, must_link, groups),
        _lower_half(total_cannot, cannot_link, groups),
    )


def _lower_half(scores: Floats, pairs: Ints, groups: Ints | None) -> Bools:
    """Keep the pairs up to the median, those that tie with it too, and the best of each group."""
    half = np.partition(scores, (len(scores) - 1) // 2)[(len(scores) - 1) // 2]
    slack = NEGLIGIBLE * max(1.0, float(scores.max()))
    keep = scores <= half + slack
    if groups is not None:
        kinds = np.sort(groups[pairs], axis=1)
        _, kind = np.unique(kinds, axis=0, return_inverse=True)
        best = np.full(kind.max() + 1, np.inf)
        np.minimum.at(best, kind.ravel(), scores)
        keep |= (kinds[:, 0] >= 0) & (scores <= best[kind.ravel()] + slack)
    return keep
