"""Preparing tables: counts of molecules in cells on one scale."""

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.utils.validation import check_array

from semisift.base._data_kind import kind_of_cells, takes_logarithms
from semisift.base._validation import check_conversion, check_finite
from semisift.preprocessing._counts import to_log_shares
from semisift.utils._named_array import NamedArray, NamedSparseArray, names_of, with_names
from semisift.utils._sklearn_compat import feature_names_of


def normalize_counts(X: Any, total: float | None = None) -> NamedArray | NamedSparseArray:
    """Bring counts, as of the molecules of cells, to equal totals, and take log(1 + x).

    Each row is divided by its total and multiplied by `total`. The matrix that is returned
    knows what it holds: methods that label all rows by the shape of the data then also take out
    what goes with the depth of the rows, which equal totals do not (see docs/single-cells.md).
    Methods that compare rows otherwise, such as trees, see rows that differ in depth no more than
    logarithms at equal totals do.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Counts, which are whole numbers, or counts that were divided by something, of which the
        largest exceeds 25. Values that look like logarithms of counts (fractions of at most 25,
        mostly zeros) are left as they are, and marked as such.
    total : float, default=None
        The total to bring rows to. None is the median of these rows: new rows, which may have
        another one, are to be brought to that of the rows of the fit, in a pipeline with
        ``FunctionTransformer(normalize_counts, kw_args={"total": np.median(X.sum(axis=1))})``.

    Returns
    -------
    array or csr_array of shape (n_samples, n_features)
        With the names of the columns, where `X` has any. What it knows goes along with a copy and
        where rows are taken, as a train-test split does, and is lost with anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from semisift import normalize_counts
    >>> normalize_counts(np.array([[0, 1, 0, 1], [6, 0, 2, 0], [0, 0, 0, 4]])).round(2).tolist()
    [[0.0, 1.1, 0.0, 1.1], [1.39, 0.0, 0.69, 0.0], [0.0, 0.0, 0.0, 1.61]]
    """
    if total is not None and not (isinstance(total, Real) and 0 < total < np.inf):
        raise ValueError(f"total must be a number above 0, or None for the median: got {total!r}.")
    check_conversion(X)
    names = names_of(X)
    names = feature_names_of(X) if names is None else names
    X = check_array(X, accept_sparse=["csr", "csc"], dtype="numeric", ensure_all_finite=False)
    values = X.data if issparse(X) else X
    if not np.isfinite(values).all():
        columns = csc_array(X) if issparse(X) else X
        check_finite(columns.astype(np.float64), names, allow_nan=not issparse(X))
    if len(below := values[values < 0]):
        raise ValueError(f"X must hold counts, none of them below 0: got {below[0]:g}.")
    if takes_logarithms(kind_of_cells(X), normalize=True):
        X, _ = to_log_shares(X, None if total is None else (float(total), 1.0))
    return with_names(csr_array(X) if issparse(X) else np.ascontiguousarray(X), names, is_log=True)
