"""What the columns of a table hold.

Differences between batches, taken out of the columns before any method sees them.

From each value goes the mean of its column in its batch, over labelled and unlabelled rows, and the
mean over all rows is added:

    x_ir - mean of column r in the batch of row i + mean of column r

so that what remains are differences within batches, which every method then puts together in its
own way. Counts, as of molecules in a cell, are first brought to equal totals and taken as
log(1 + x). A column that has one value in each batch has one value altogether then. Where batches
hold the classes in different shares, part of the difference between the classes goes as well.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array, issparse

from semisift.base._training_data import TrainingData
from semisift.exceptions import OutOfCoreError
from semisift.preprocessing._counts import log_of_shares, usual_total
from semisift.utils._columns import blocks, counted_moments, extremes, known_extremes, power_of_two
from semisift.utils._memory import available_memory, in_words
from semisift.utils._typing import Floats, Ints

Kind = Literal["measurements", "counts", "logarithms"]

# Fractions up to here may be logarithms of counts; that of a million molecules is 13.8.
LARGEST_LOGARITHM = 25.0

# Tables of which at least so many values are zero, and none is negative, hold counts.
SHARE_OF_ZEROS = 0.5


def kind_of_data(data: TrainingData) -> Kind:
    """Tell what the training data holds: see `holds_counts`.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    {"measurements", "counts", "logarithms"}
        The last where counts were taken as logarithms already.
    """
    if data.is_log:
        return "logarithms"
    return "counts" if holds_counts(data.X, data.has_missing) else "measurements"


def holds_counts(X: Any, has_missing: bool = False) -> bool:
    """Tell counts, as of words or of molecules in a cell, from measurements.

    Counts have one unit and are mostly zero: their distances mean something as they are, and
    rescaling would make the rarest columns the most important ones. They may be weighted, as words
    are. Columns with one value besides zero, as of categories, do not count unless there are no
    others.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
    has_missing : bool
        Whether NaN in a dense `X` are missing values.

    Returns
    -------
    bool

    Examples
    --------
    >>> counts = np.array([[0.0, 3.0], [0.0, 0.0], [2.0, 0.0], [1.0, 7.0]])
    >>> holds_counts(counts), holds_counts(counts - 1.0)
    (True, False)
    """
    n_rows, n_columns = X.shape
    if not n_rows or not n_columns:
        return False
    if issparse(X) and X.format != "csc":
        X = csc_array(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    n_known: Any = np.full(n_columns, n_rows)
    if has_missing:  # neither zero nor another value
        n_known = n_rows - np.isnan(X).sum(axis=0)
        X = np.where(np.isnan(X), 0, X)
    low, high = extremes(X)
    if (low < 0).any():
        return False
    n_filled = np.diff(X.indptr) if issparse(X) else np.count_nonzero(X, axis=0)
    with np.errstate(over="ignore"):  # huge values have more than two
        total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        has_two_values = np.isclose(total, n_filled * high.astype(np.float64), rtol=1e-6, atol=0)
    is_used = ~has_two_values if not has_two_values.all() else np.ones(len(total), dtype=bool)
    return bool(n_filled[is_used].mean() <= (1 - SHARE_OF_ZEROS) * n_known[is_used].mean())


def kind_of_cells(X: Any) -> Kind:
    """Tell what a table of cells and genes holds, of which nothing is known.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)

    Returns
    -------
    {"measurements", "counts", "logarithms"}
        Mostly zero and not negative are counts, and logarithms of counts if the values are
        fractions of which none exceeds 25; all else, as scaled values, are measurements.

    Examples
    --------
    >>> counts = np.array([[0.0, 3.0], [0.0, 0.0], [2.0, 0.0], [1.0, 7.0]])
    >>> kind_of_cells(counts), kind_of_cells(np.log1p(counts)), kind_of_cells(counts - 1.0)
    ('counts', 'logarithms', 'measurements')
    """
    has_missing = not issparse(X) and bool(np.isnan(X).any())
    if not holds_counts(X, has_missing):
        return "measurements"
    values = X.data if issparse(X) else X
    largest = np.fmax.reduce(values, axis=None, initial=0.0)
    return "logarithms" if largest <= LARGEST_LOGARITHM and not are_integers(X) else "counts"


def takes_logarithms(kind: Kind, normalize: bool | None) -> bool:
    """Tell whether cells are to be brought to one total and taken as log(1 + x).

    Parameters
    ----------
    kind : {"measurements", "counts", "logarithms"}
    normalize : bool or None
        What the user says. None is for counts alone; nothing makes logarithms of logarithms.

    Returns
    -------
    bool

    Examples
    --------
    >>> [takes_logarithms(kind, None) for kind in ("measurements", "counts", "logarithms")]
    [False, True, False]
    >>> takes_logarithms("measurements", True), takes_logarithms("logarithms", True)
    (True, False)
    """
    if normalize is False or kind == "logarithms":
        return False
    return kind == "counts" or normalize is True


def are_integers(X: Any) -> bool:
    """Return whether all values besides missing values are whole numbers."""
    if issparse(X):
        return bool((X.data == np.floor(X.data)).all())
    some = (X[:, columns] for columns in blocks(X.shape[1], len(X)))
    return all(bool(((own == np.floor(own)) | np.isnan(own)).all()) for own in some)


# --- batches --------------------------------------------------------------------------------------


def without_batches(data: TrainingData) -> TrainingData:
    """Return the training data without the differences between its batches; itself if it has none.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    Problem
        With a dense X.
    """
    batches, weights = data.design.batches, data.design.weights
    if batches is None:
        return data
    X = data.X
    needed = data.n_rows * data.n_features * X.dtype.itemsize
    free = available_memory()
    if issparse(X) and free is not None and needed > free:
        raise OutOfCoreError(
            f"batch makes a sparse X dense, which needs {in_words(needed)}, and {in_words(free)} "
            "are free. Rank some of the rows or columns."
        )
    kind = kind_of_data(data)
    if kind == "counts":
        X = log_of_shares(X, usual_total(X))
    clean = np.empty(X.shape, dtype=data.X.dtype, order="F")
    for columns in blocks(*X.shape[::-1]):
        block = X[:, columns].toarray() if issparse(X) else X[:, columns]
        clean[:, columns] = _centred(block.astype(np.float64, order="F"), batches, weights)
    clean.flags.writeable = False
    return replace(data, X=clean, is_log=kind != "measurements")


def _centred(X: Floats, batches: Ints, weights: Floats | None) -> Floats:
    """Return columns without the differences between batches."""
    unit = power_of_two(np.fmax.reduce(np.abs(X), axis=0, initial=0.0))
    overall = counted_moments(X, unit, weights)[1]
    centred = np.empty(X.shape)
    varies = np.zeros(X.shape[1], dtype=bool)
    for batch in np.unique(batches):
        rows = np.flatnonzero(batches == batch)
        own = X[rows]
        low, high = known_extremes(own)
        varies |= high > low
        means = counted_moments(own, unit, None if weights is None else weights[rows])[1]
        centred[rows] = own / unit - means
    centred[:, ~varies] *= 0.0  # but for rounding; missing values stay
    return (centred + overall) * unit
