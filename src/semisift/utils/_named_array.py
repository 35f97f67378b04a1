"""Matrices that know the names of their columns: what `read_table` returns and rankers look at.

scikit-learn takes names from data frames alone, and no frame holds a sparse matrix. These are
ordinary arrays with two more attributes, which go along with a copy, to another process, and where
rows are taken, as a train-test split does, and are lost with anything else that is done to them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array, validate_data

from semisift.utils._sklearn_compat import check_feature_names


class NamedColumnsMixin:
    """What knows the names of its columns, where they are not None.

    And whether its values are logarithms of counts whose rows were brought to equal totals, as of
    the molecules of cells.
    """

    feature_names: NDArray[Any] | None = None
    is_log: bool = False


class _Named(NamedColumnsMixin):
    """Adds what is known of the columns to an array."""

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)  # type: ignore[misc]
        columns = key[1:] if isinstance(key, tuple) else ()
        takes_rows = all(
            each is Ellipsis or (isinstance(each, slice) and each == slice(None))
            for each in columns
        )
        if isinstance(part, _Named):
            part._learn(self if takes_rows and part.ndim == 2 else NamedColumnsMixin)  # type: ignore[attr-defined]
        return part

    def copy(self, *args: Any, **options: Any) -> Any:
        """Return a copy that knows as much."""
        other = super().copy(*args, **options)  # type: ignore[misc]
        other._learn(self)
        return other

    def _learn(self, other: NamedColumnsMixin | type[NamedColumnsMixin]) -> None:
        """Know what another one knows; the class knows nothing."""
        self.feature_names, self.is_log = other.feature_names, other.is_log


class NamedArray(_Named, np.ndarray):
    """A dense matrix that knows the names of its columns."""

    def __copy__(self) -> "NamedArray":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "NamedArray":
        return self.copy()

    def __reduce__(self) -> Any:
        parts: Any = super().__reduce__()
        make, arguments, state = parts
        return make, arguments, (state, self.feature_names, self.is_log)

    def __setstate__(self, state: Any) -> None:
        values, self.feature_names, self.is_log = state
        super().__setstate__(values)

    # numpy's functions of these names sort a copy
    def sort(self, *args: Any, **options: Any) -> None:
        """Sort the values, of whose columns nothing is known then."""
        super().sort(*args, **options)
        self._learn(NamedColumnsMixin)

    def partition(self, *args: Any, **options: Any) -> None:
        """Sort the values in part, of whose columns nothing is known then."""
        super().partition(*args, **options)
        self._learn(NamedColumnsMixin)


class NamedSparseArray(_Named, csr_array):
    """A sparse matrix that knows the names of its columns."""


def with_names(
    X: Any, names: Sequence[str] | NDArray[Any] | None, *, is_log: bool = False
) -> NamedArray | NamedSparseArray:
    """Return `X`, not copied, with the names of its columns, and whether it holds logarithms.

    Examples
    --------
    >>> X = with_names(np.eye(3), ["a", "b", "c"])
    >>> names_of(X[:2]).tolist(), names_of(X[:, :2]), names_of(X + 1)
    (['a', 'b', 'c'], None, None)
    """
    named: Any = NamedSparseArray(X) if issparse(X) else X.view(NamedArray)
    named.feature_names = None if names is None else np.array(names, dtype=object)
    named.is_log = is_log
    return named


def names_of(X: Any) -> NDArray[Any] | None:
    """Return the names that a matrix of `read_table` knows; None for everything else."""
    return X.feature_names if isinstance(X, NamedColumnsMixin) else None


def knows_logarithms(X: Any) -> bool:
    """Return whether a matrix is known to hold logarithms of counts."""
    return isinstance(X, NamedColumnsMixin) and X.is_log


def check_names(estimator: Any, X: Any) -> None:
    """Compare the names of `X` with those that an estimator was fitted to, as scikit-learn does."""
    names = names_of(X)
    if names is not None and hasattr(estimator, "feature_names_in_"):
        import polars as pl

        X = pl.DataFrame(schema=names.tolist())  # scikit-learn knows the names of a frame
    check_feature_names(estimator, X, reset=False)


def validate_again(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate rows after a fit, as scikit-learn does, also where `X` knows the names itself."""
    if names_of(X) is None or not hasattr(estimator, "feature_names_in_"):
        return validate_data(estimator, X, reset=False, **options)
    check_names(estimator, X)
    return check_array(X, estimator=estimator, **options)
