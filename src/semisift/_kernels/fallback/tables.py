"""Columns in bins, and tables of counts: kernels/tables.pyx in numpy."""

import numpy as np
from numpy.typing import NDArray

from semisift._kernels.fallback.columns import Columns
from semisift.utils._columns import blocks, dense_columns
from semisift.utils._random import row_mask

# Counts are made for so many cells at once, 16 MB as int32.
BLOCK_COUNTS = 1 << 22


def bin_columns(
    X: Columns, cuts: NDArray[np.float64], n_bins: int
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the rows of each bin of the columns of a dense array, as masks, and their numbers.

    Parameters
    ----------
    X : Columns
    cuts : array of shape (n_features, n_bins - 1)
        The lowest values of all bins but the first, for columns of more values than bins.
    n_bins : int

    Returns
    -------
    bits : uint64 array of shape (n_features, n_bins, n_words)
    sizes : int32 array of shape (n_features, n_bins)
    """
    n_rows = len(X.X)
    bits = np.zeros((X.n_features, n_bins, -(-n_rows // 64)), dtype=np.uint64)
    for columns in blocks(X.n_features, n_rows * n_bins):
        values = dense_columns(X.X, columns).T
        own = cuts[columns].copy()
        ordered = np.sort(values, axis=1)
        n_distinct = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
        for j in np.flatnonzero(n_distinct <= n_bins):
            own[j] = np.inf
            own[j, : n_distinct[j] - 1] = np.unique(ordered[j])[1:]
        codes = (values[:, None, :] >= own[:, :, None]).sum(axis=1)
        bits[columns] = row_mask(codes[:, None, :] == np.arange(n_bins)[:, None])
    return bits, np.bitwise_count(bits).sum(axis=2, dtype=np.int32)


def information_terms(
    bits: NDArray[np.uint64],
    bin_sizes: NDArray[np.int32],
    values: NDArray[np.int32],
    n_s: int,
    n_y: int,
    k_log_k: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return ``sum k log k over (f, y, s) - over (f, s)`` of each binned column f.

    Parameters
    ----------
    bits, bin_sizes : arrays
        The columns, as `bin_columns` returns them.
    values : array of shape (n_rows,)
        ``s * n_y + y`` of each row.
    n_s, n_y : int
        Number of codes of s and of y.
    k_log_k : array of shape (n_rows + 1,)

    Returns
    -------
    float array of shape (n_features,)
    """
    n_columns, n_bins, _ = bits.shape
    marks = row_mask(values == np.arange(n_s * n_y)[:, None])
    terms = np.empty(n_columns)
    for columns in blocks(n_columns, n_s * n_y * n_bins, BLOCK_COUNTS):
        counts = count(bits[columns], marks).reshape(n_s, n_y, n_bins, -1)
        with_s = counts.sum(axis=1)
        joint, known = (
            k_log_k[each].reshape(-1, each.shape[-1]).sum(axis=0) for each in (counts, with_s)
        )
        terms[columns] = joint - known
    return terms


def count(bits: NDArray[np.uint64], marks: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Count the rows of each bin that carry each mark, of shape (n_marks, n_bins, n_columns)."""
    counts = np.zeros((len(marks), bits.shape[1], bits.shape[0]), dtype=np.int32)
    for value, mark in enumerate(marks):
        for word in np.flatnonzero(mark):
            counts[value] += np.bitwise_count(bits[:, :, word] & mark[word]).T
    return counts
