"""Binned columns of all rows, counted by the class of the rows: two passes.

The first finds the extremes of each column and its values, if these are few; the second counts how
often each bin meets each class. Counts are whole numbers, so that blocks of any size give the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from semisift import _kernels
from semisift.out_of_core._matrix import OutOfCoreMatrix, entries_of, filled_by_row
from semisift.utils._information import N_BINS, TableBins, codes_of, cuts_from
from semisift.utils._labels import Labels
from semisift.utils._typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class CountedBins(TableBins):
    """Columns of which is known alone how often each bin meets each class.

    Attributes
    ----------
    by_class : int array of shape (n_classes + 1, n_bins, n_columns)
        The first counts are of rows without a class.
    classes : int array of shape (n_rows,)
        Class of each row, -1 for none.
    """

    by_class: Ints
    classes: Ints
    n_bins: int = N_BINS

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.classes), self.by_class.shape[2]

    def tables(self, other: Ints, n_other: int) -> Iterator[tuple[slice, Any]]:
        """Yield the tables with a variable that is the same for all rows of a class."""
        present, first = np.unique(self.classes, return_index=True)
        counts = np.zeros((n_other, *self.by_class.shape[1:]), dtype=np.int64)
        for code, row in zip(present, first, strict=True):
            counts[other[row]] += self.by_class[code + 1]
        yield slice(None), counts


def count_bins(rows: OutOfCoreMatrix, labels: Labels) -> tuple[CountedBins, Floats]:
    """Count how often the bins of each column meet each class, and unlabelled rows.

    Parameters
    ----------
    rows : OutOfCoreMatrix
    labels : Labels

    Returns
    -------
    bins : CountedBins
    spans : float array of shape (p,)
        Difference between the largest and the smallest value of each column.
    """
    found = rows.cached("values", (), lambda: _look(rows))
    low, high = found["low"], found["high"]
    cuts = cuts_from(low, high, found["known"], found["n_known"], N_BINS)
    about = labels.codes.tobytes()
    made = rows.cached("bins", about, lambda: {"counts": _count(rows, labels, cuts)})
    return CountedBins(made["counts"], labels.codes), high - low


def _look(rows: OutOfCoreMatrix) -> dict[str, Any]:
    n_rows, n_columns = rows.shape
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    filled, n_known = np.zeros((2, n_columns), dtype=np.int64)
    known = np.zeros((n_columns, N_BINS))
    sums, ones = np.zeros(n_columns), np.ones(n_columns)
    for _, block in rows.blocks("values", rows.many_rows):
        values, columns = entries_of(block)
        _kernels.passes.add_sparse(values, columns, ones, sums, low, high, filled)
        _kernels.passes.note_values(values, columns, known, n_known)
    has_zero = np.flatnonzero(filled < n_rows).astype(np.int32)
    zeros = np.zeros(len(has_zero))
    _kernels.passes.add_sparse(zeros, has_zero, ones, sums, low, high, filled)
    _kernels.passes.note_values(zeros, has_zero, known, n_known)
    return {"low": low, "high": high, "known": known, "n_known": n_known}


def _count(rows: OutOfCoreMatrix, labels: Labels, cuts: Floats) -> Ints:
    """Return the counts of shape (n_classes + 1, n_bins, p); the first are of unlabelled rows."""
    n_columns, n_codes = rows.shape[1], labels.n_classes + 1
    background = codes_of(np.zeros(n_columns), cuts).astype(np.int64)
    found = np.zeros(n_columns * N_BINS * n_codes, dtype=np.int64)
    codes = labels.codes.astype(np.int64) + 1
    for start, block in rows.blocks("bins", rows.many_rows):
        values, columns = entries_of(block)
        own = codes[start : start + block.shape[0]]
        owner = np.repeat(own, filled_by_row(block))
        bins = columns.astype(np.int64) * N_BINS + codes_of(values, cuts[:, columns])
        found += np.bincount(bins * n_codes + owner, minlength=len(found))
    counts = found.reshape(n_columns, N_BINS, n_codes)
    rest = np.bincount(codes, minlength=n_codes) - counts.sum(axis=1)
    counts[np.arange(n_columns), background] += rest
    return np.ascontiguousarray(counts.transpose(2, 1, 0))
