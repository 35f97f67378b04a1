"""Entropy, mutual and conditional mutual information of all columns at once, in nats.

Columns are binned first: five bins of equal width, except that columns with at most five distinct
values keep these. Then every quantity is a sum of ``k log k`` over a table of counts::

    n I(f; y)     = sum k log k over (f, y)    - over f      - over y      + n log n
    n I(f; y | s) = sum k log k over (f, y, s) - over (f, s) - over (y, s) + over s

and the tables of all columns with one variable are products of their indicator matrices: of bits
where X is dense, of lists of entries where it is sparse. Where there are missing values or weights,
a table holds the weights of the rows in which its variables are known, and the information counts
for their share of all rows, as in C4.5: of k rows that tell nothing it is about c / k by chance, so
that times k / n it is no higher for a column with missing values.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift import _kernels
from semisift.utils._columns import as_columns, blocks, extremes, power_of_two
from semisift.utils._random import unmask
from semisift.utils._typing import Floats, Ints

N_BINS = 5

# Information is compared up to this: the order in which counts are added changes the last bits.
DECIMALS = 12

# Counts are made for so many cells at once, 16 MB as int32.
BLOCK_COUNTS = 1 << 22


@dataclass(frozen=True, eq=False)
class DenseBins:
    """Columns as the rows of each bin.

    Attributes
    ----------
    bits : uint64 array of shape (n_columns, n_bins, n_words)
        The rows of each bin, as masks.
    sizes : int32 array of shape (n_columns, n_bins)
        Their numbers.
    n_rows : int
    """

    bits: NDArray[np.uint64]
    sizes: NDArray[np.int32]
    n_rows: int
    weights: ClassVar[None] = None

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return self.bits.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.bits)

    def column(self, j: int) -> NDArray[np.uint8]:
        """Return the codes of one column."""
        return unmask(self.bits[j], self.n_rows).argmax(axis=0).astype(np.uint8)

    def terms(self, values: Ints, n_s: int, n_y: int, k_log_k: Floats) -> Floats:
        """Return ``sum k log k over (f, y, s) - over (f, s)``, where values are s * n_y + y."""
        codes = values.astype(np.int32)
        return _kernels.tables.information_terms(self.bits, self.sizes, codes, n_s, n_y, k_log_k)


class TableBins:
    """Columns that give tables of how often, or with what weight, their bins meet a variable."""

    n_bins: int
    weights: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        raise NotImplementedError

    def tables(self, other: Ints, n_other: int) -> Iterator[tuple[slice, Any]]:
        """Yield columns and their tables with a variable: (n_other, n_bins, number of columns)."""
        raise NotImplementedError

    @property
    def sizes(self) -> Ints:
        """Number of rows in each bin, of shape (n_columns, n_bins)."""
        alone = np.zeros(self.shape[0], dtype=np.int64)
        parts = [counts[0].T for _, counts in self.tables(alone, 1)]
        return np.concatenate(parts) if parts else np.empty((0, self.n_bins), dtype=np.int32)

    def terms(self, values: Ints, n_s: int, n_y: int, k_log_k: Floats) -> Floats:
        """Return ``sum k log k over (f, y, s) - over (f, s)``, where values are s * n_y + y."""
        terms = np.empty(self.shape[1])
        for columns, counts in self.tables(values, n_s * n_y):
            with_s = counts.reshape(n_s, n_y, *counts.shape[1:]).sum(axis=1)
            terms[columns] = _sum(k_log_k, counts) - _sum(k_log_k, with_s)
        return terms


@dataclass(frozen=True, eq=False)
class SparseBins(TableBins):
    """Columns as the code of their zeros and the entries that have another one.

    Attributes
    ----------
    starts : int array of shape (n_columns + 1,)
        Where the entries of each column start.
    rows : int array
        The row of each entry.
    values : uint8 array
        The code of each entry.
    background : uint8 array of shape (n_columns,)
        The code of all other rows.
    n_rows, n_bins : int
    weights : float array of shape (n_rows,) or None
        How many rows each row counts for.
    """

    starts: Ints
    rows: Ints
    values: NDArray[np.uint8]
    background: NDArray[np.uint8]
    n_rows: int
    n_bins: int
    weights: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.background)

    def column(self, j: int) -> NDArray[np.uint8]:
        """Return the codes of one column."""
        codes = np.full(self.n_rows, self.background[j])
        entries = slice(self.starts[j], self.starts[j + 1])
        codes[self.rows[entries]] = self.values[entries]
        return codes

    @cached_property
    def _cells(self) -> Ints:
        column = np.repeat(np.arange(len(self.background)), np.diff(self.starts))
        return column * self.n_bins + self.values

    def tables(self, other: Ints, n_other: int) -> Iterator[tuple[slice, Any]]:
        """Yield columns and their tables with a variable: (n_other, n_bins, number of columns)."""
        for columns in blocks(len(self.background), n_other * self.n_bins, BLOCK_COUNTS):
            shape = columns.stop - columns.start, self.n_bins, n_other
            entries = slice(self.starts[columns.start], self.starts[columns.stop])
            cells = self._cells[entries] - columns.start * self.n_bins
            keys = cells * n_other + other[self.rows[entries]]
            own = None if self.weights is None else self.weights[self.rows[entries]]
            counts = np.bincount(keys, own, minlength=math.prod(shape)).reshape(shape)
            counts = counts.astype(np.int32 if own is None else np.float64)
            rest = np.bincount(other, self.weights, minlength=n_other) - counts.sum(axis=1)
            counts[np.arange(shape[0]), self.background[columns]] = rest
            yield columns, np.ascontiguousarray(counts.transpose(2, 1, 0))


@dataclass(frozen=True, eq=False)
class KnownBins(TableBins):
    """Dense columns with missing values, or of rows with weights.

    Attributes
    ----------
    codes : uint8 array of shape (n_rows, n_columns)
        `n_bins` is a missing value.
    n_bins : int
    weights : float array of shape (n_rows,)
    """

    codes: NDArray[np.uint8]
    n_bins: int
    weights: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.codes.shape[0], self.codes.shape[1]

    def column(self, j: int) -> NDArray[np.int16]:
        """Return the codes of one column, -1 for a missing value."""
        codes = self.codes[:, j].astype(np.int16)
        return np.where(codes == self.n_bins, np.int16(-1), codes)

    def tables(self, other: Ints, n_other: int) -> Iterator[tuple[slice, Any]]:
        """Yield columns and their tables with a variable; rows in which it is -1 are left out."""
        rows = np.flatnonzero(other >= 0)
        per_column = max(len(rows), n_other * (self.n_bins + 1))
        for columns in blocks(self.codes.shape[1], per_column):
            codes = self.codes[rows, columns].T.astype(np.int64)
            cells = np.arange(len(codes))[:, None] * (self.n_bins + 1) + codes
            keys = cells * n_other + other[rows]
            own = np.broadcast_to(self.weights[rows], keys.shape)
            shape = len(codes), self.n_bins + 1, n_other
            counts = np.bincount(keys.ravel(), own.ravel(), minlength=math.prod(shape))
            yield columns, counts.reshape(shape)[:, : self.n_bins].transpose(2, 1, 0)


Binned = DenseBins | SparseBins | KnownBins
Countable = DenseBins | TableBins


def bin_columns(
    X: Any, n_bins: int = N_BINS, *, has_missing: bool = False, weights: Floats | None = None
) -> Binned:
    """Bin every column: equal widths between its extremes, or its values if these are few.

    Parameters
    ----------
    X : array or sparse csc_array of shape (n, p)
        A sparse X stays sparse.
    n_bins : int
    has_missing : bool
        Whether a dense X has missing values, which are in no bin.
    weights : float array of shape (n,), optional
        How many rows each row counts for; bins do not depend on it.

    Returns
    -------
    DenseBins, SparseBins, or KnownBins of a dense X with missing values or weights

    Examples
    --------
    >>> import numpy as np
    >>> bin_columns(np.array([[0.0], [1.0], [2.0], [4.0], [7.0], [10.0]])).column(0)
    array([0, 0, 1, 2, 3, 4], dtype=uint8)
    """
    if issparse(X):
        return replace(_bin_sparse(X.tocsc(), n_bins), weights=weights)
    if has_missing or weights is not None:
        codes = _bin_known(np.asarray(X), n_bins)
        return KnownBins(codes, n_bins, np.ones(len(codes)) if weights is None else weights)
    columns = as_columns(np.asarray(X))
    cuts = np.ascontiguousarray(_equal_widths(*extremes(columns), n_bins).T)
    bins = _kernels.tables.bin_columns(_kernels.columns.Columns(columns), cuts, n_bins)
    return DenseBins(*bins, len(columns))


def entropy(binned: Countable) -> Floats:
    """Return the entropy H(f) of each binned column.

    Parameters
    ----------
    binned : DenseBins or SparseBins

    Returns
    -------
    float array of shape (p,)
    """
    n_rows = binned.shape[0]
    if binned.weights is not None:
        alone = np.zeros(n_rows, dtype=np.int64)
        parts = [_entropy_of(table[0]) for _, table in binned.tables(alone, 1)]
        return np.concatenate(parts)
    k_log_k = _k_log_k(n_rows)
    return np.maximum(k_log_k[-1] - _sum(k_log_k, binned.sizes.T), 0.0) / n_rows


def mutual_information(binned: Countable, y: Ints) -> Floats:
    """Return the mutual information I(f; y) of each binned column with one variable.

    Parameters
    ----------
    binned : DenseBins or SparseBins
    y : int array of shape (n,)
        Codes from 0: classes, or another column, ``binned.column(j)``. Of columns with missing
        values or weights, rows of -1 are left out.

    Returns
    -------
    float array of shape (p,)
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1])
    >>> mutual_information(bin_columns(np.array([[0.0, 5], [0, 6], [1, 5], [1, 6]])), y)
    array([0.69314718, 0.        ])
    """
    return conditional_mutual_information(binned, y, np.zeros(len(y), dtype=np.int64))


def _information_in(table: Floats, of_all: float) -> Floats:
    """Return I(f; y | s) of weights of shape (n_s, n_y, n_bins, p), times their share of all."""
    parts = (table, 1), (table.sum(axis=1), -1), (table.sum(axis=2), -1)
    every = (*parts, (table.sum(axis=(1, 2)), 1))
    n_columns = table.shape[-1]
    information = sum(sign * _x_log_x(part).reshape(-1, n_columns).sum(0) for part, sign in every)
    return np.asarray(np.maximum(information, 0.0) / of_all)


def _entropy_of(table: Floats) -> Floats:
    """Return the entropy of weights of shape (n_bins, p); 0 where there are none."""
    total = table.sum(axis=0)
    entropies = np.maximum(_x_log_x(total) - _x_log_x(table).sum(axis=0), 0.0)
    return np.asarray(entropies / np.where(total > 0, total, 1.0))


def _x_log_x(weights: Floats) -> Floats:
    return np.asarray(weights * np.log(np.where(weights > 0, weights, 1.0)))


def conditional_mutual_information(binned: Countable, y: Ints, s: Ints) -> Floats:
    """Return I(f; y | s) of each binned column f with y, given one further variable s.

    Parameters
    ----------
    binned : DenseBins or SparseBins
        All columns f, as `bin_columns` returns them for the labelled rows.
    y : int array of shape (n,)
        Class codes from 0.
    s : int array of shape (n,)
        Codes from 0, such as ``binned.column(j)``.

    Returns
    -------
    float array of shape (p,)
        In nats, not negative; divide by ``np.log(2)`` for bits.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> X = np.array([[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 1, 1, 0, 1]], dtype=float).T
    >>> binned = bin_columns(X)
    >>> conditional_mutual_information(binned, y, binned.column(0)) / np.log(2)
    array([0.        , 0.20120506])
    """
    y, s = np.asarray(y, dtype=np.int64), np.asarray(s, dtype=np.int64)
    n_y, n_s = int(y.max(initial=0)) + 1, int(s.max(initial=0)) + 1
    if binned.weights is not None:
        both = np.where((y < 0) | (s < 0), -1, s * n_y + y)
        tables = (table for _, table in binned.tables(both, n_s * n_y))
        split = (table.reshape(n_s, n_y, *table.shape[1:]) for table in tables)
        of_all = float(binned.weights.sum())
        return np.concatenate([_information_in(table, of_all) for table in split])
    k_log_k = _k_log_k(n_rows := binned.shape[0])
    both = np.bincount(s * n_y + y, minlength=n_s * n_y)
    known = k_log_k[np.bincount(s)].sum() - k_log_k[both].sum()
    information = binned.terms(s * n_y + y, n_s, n_y, k_log_k) + known
    return np.maximum(information, 0.0) / n_rows


def _k_log_k(n_rows: int) -> Floats:
    """Return k log k for every possible count: looking it up is faster than computing it."""
    counts = np.arange(n_rows + 1, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


def _sum(k_log_k: Floats, counts: Ints) -> Floats:
    return np.asarray(k_log_k[counts].reshape(-1, counts.shape[-1]).sum(axis=0))


# --- where the bins are ---------------------------------------------------------------------------


def codes_of(values: Floats, cuts: Floats) -> NDArray[np.uint8]:
    """Count the cuts, along the first axis, that a value reaches."""
    codes = np.zeros(values.shape, dtype=np.uint8)
    for cut in cuts:
        codes += values >= cut
    return codes


def _equal_widths(low: NDArray[np.floating], high: NDArray[np.floating], n_bins: int) -> Floats:
    """Return the inner edges of the bins, of shape (n_bins - 1, number of columns)."""
    unit = power_of_two(np.maximum(np.abs(low), np.abs(high)))
    step = np.arange(1, n_bins)[:, None]
    return np.asarray((low / unit * (n_bins - step) + high / unit * step) / n_bins * unit)


def cuts_from(low: Floats, high: Floats, known: Floats, n_known: Ints, n_bins: int) -> Floats:
    """Return the cuts of columns whose extremes, and up to `n_bins` different values, are known.

    Parameters
    ----------
    low, high : float arrays of shape (p,)
    known : float array of shape (p, n_bins)
        The values in any order, as many as `n_known` says, if that is not more than `n_bins`.
    n_known : int array of shape (p,)
    n_bins : int

    Returns
    -------
    float array of shape (n_bins - 1, p)
    """
    cuts = _equal_widths(low, high, n_bins)
    few = np.flatnonzero(n_known <= n_bins)
    is_known = np.arange(n_bins) < n_known[few, None]
    ordered = np.sort(np.where(is_known, known[few], np.inf), axis=1)
    cuts[:, few] = ordered[:, 1:].T
    return cuts


def _bin_known(X: NDArray[np.floating], n_bins: int) -> NDArray[np.uint8]:
    """Return the codes of dense columns, `n_bins` for missing values."""
    codes = np.empty(X.shape, dtype=np.uint8, order="F")
    for columns in blocks(X.shape[1], len(X)):
        values = X[:, columns].astype(np.float64)
        known = ~np.isnan(values)
        ordered = np.sort(values, axis=0)  # missing values last
        ordered[0, ~known.any(axis=0)] = 0.0  # nothing to cut
        column, at = np.nonzero(~np.isnan(ordered.T))
        cuts = _cuts_of_ordered(ordered.T[column, at], column, values.shape[1], n_bins)
        codes[:, columns] = np.where(known, codes_of(values, cuts), n_bins)
    return codes


def _bin_sparse(X: Any, n_bins: int) -> SparseBins:
    n_rows, n_columns = X.shape
    filled = np.diff(X.indptr)
    background = np.empty(n_columns, dtype=np.uint8)
    codes = np.empty(X.nnz, dtype=np.uint8)
    for block in blocks(n_columns, max(1, X.nnz // max(1, n_columns))):
        width = block.stop - block.start
        entries = slice(X.indptr[block.start], X.indptr[block.stop])
        column = np.repeat(np.arange(width), filled[block])
        values = X.data[entries].astype(np.float64)
        has_zeros = np.flatnonzero(filled[block] < n_rows)
        every = np.concatenate([values, np.zeros(len(has_zeros))])
        owner = np.concatenate([column, has_zeros])
        order = np.lexsort((every, owner))
        cuts = _cuts_of_ordered(every[order], owner[order], width, n_bins)
        background[block] = codes_of(np.zeros(width), cuts)
        codes[entries] = codes_of(values, cuts[:, column])
    column = np.repeat(np.arange(n_columns), filled)
    differs = codes != background[column]
    starts = np.concatenate([[0], np.cumsum(np.bincount(column[differs], minlength=n_columns))])
    return SparseBins(starts, X.indices[differs], codes[differs], background, n_rows, n_bins)


def _cuts_of_ordered(values: Floats, column: Ints, n_columns: int, n_bins: int) -> Floats:
    """Return the cuts of columns that are given as entries in their order, each with some."""
    starts = np.searchsorted(column, np.arange(n_columns + 1))
    cuts = _equal_widths(values[starts[:-1]], values[starts[1:] - 1], n_bins)
    is_new = np.concatenate([[True], values[1:] != values[:-1]])
    is_new[starts[:-1]] = False  # the lowest value of a column needs no cut
    passed = np.cumsum(is_new)
    number = passed - passed[starts[:-1]][column]
    few = number[starts[1:] - 1] < n_bins
    chosen = is_new & few[column]
    cuts[:, few] = np.inf
    cuts[number[chosen] - 1, column[chosen]] = values[chosen]
    return cuts
