"""A clean matrix from what a user gives, and what is refused on the way."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from semisift.out_of_core._matrix import float_type
from semisift.utils._columns import check_structure, copy_rows, extremes
from semisift.utils._memory import FEWER, check_memory
from semisift.utils._text import examples

MOST_COLUMNS_NAMED = 5


def clean_dense(
    X: NDArray[Any], names: NDArray[Any] | None, allow_nan: bool = False
) -> NDArray[np.floating]:
    """Return a Fortran-ordered, read-only array of floats; not copied if it is one."""
    if X.dtype.kind in "OUST":
        X = X.astype(object, copy=False)
        if allow_nan:
            X = np.where(np.vectorize(_is_missing_text, otypes=[bool])(X), np.nan, X)
        _check_numeric(X, names)
    with np.errstate(over="ignore"):  # what does not fit becomes infinite and is reported below
        clean = _by_column(X, float_type(X.dtype)).view()
    clean.flags.writeable = False
    return clean


def _by_column(X: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.floating]:
    """Return a Fortran-ordered array of that type, copied only if need be."""
    if X.flags.f_contiguous or X.dtype.kind == "O":
        return np.asarray(X, dtype=dtype, order="F")
    shape = " x ".join(f"{length:,}" for length in X.shape)
    check_memory(X.size * dtype.itemsize, f"a copy of X ({shape}) by columns", FEWER)
    clean = np.empty(X.shape, dtype=dtype, order="F")
    copy_rows(X, clean)
    return clean


def clean_sparse(X: Any) -> csc_array:
    """Return a canonical, read-only CSC matrix of floats; not copied if it is one."""
    X = X.tocsc()
    X = X.astype(float_type(X.dtype), copy=False)
    if not X.has_canonical_format or np.count_nonzero(X.data) < X.nnz:
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    parts = [part.view() for part in (X.data, *map(_narrow_index, (X.indices, X.indptr)))]
    for part in parts:
        part.flags.writeable = False
    return csc_array(tuple(parts), shape=X.shape)


def parts_of(X: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of which rows consist."""
    if issparse(X):
        return {name: getattr(X, name) for name in ("data", "indices", "indptr")}
    return {"values": X}


def clean_taken(parts: dict[str, NDArray[Any]], shape: tuple[int, int]) -> Any:
    """Return rows of these parts as a problem holds them."""
    if "values" in parts:
        return clean_dense(parts["values"], None)
    return clean_sparse(csr_array((parts["data"], parts["indices"], parts["indptr"]), shape))


def _narrow_index(index: NDArray[np.integer]) -> NDArray[np.integer]:
    fits = len(index) == 0 or index.max() <= np.iinfo(np.int32).max
    return index.astype(np.int32, copy=False) if fits else index


def _is_missing_text(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType"


def _check_numeric(X: NDArray[Any], names: NDArray[Any] | None) -> None:
    missing, large = [], []
    for j, column in enumerate(X.T):
        for value in column:
            if _is_missing_text(value):
                missing.append(j)
                break
            if isinstance(value, (str, bytes)):
                raise ValueError(
                    f"X must hold numbers: {_name_columns([j], names)} holds the text "
                    f"{str(value)!r}. {_advise_on_text(value)}"
                )
            try:
                float(value)
            except OverflowError:
                large.append(j)
                break
            except TypeError as error:
                raise TypeError(
                    f"X must hold numbers: {_name_columns([j], names)} holds {value!r}: {error}."
                ) from error
    _check_no_missing(missing, large, np.dtype(np.float64), names)


def _advise_on_text(value: str | bytes) -> str:
    try:
        float(value)
    except ValueError:
        return "Encode text, for example with sklearn.preprocessing.OrdinalEncoder."
    return "Convert numbers that are stored as text, for example with X.astype(float)."


def check_finite(
    X: Any, names: NDArray[Any] | None, allow_nan: bool = False, advice: str = ""
) -> bool:
    """Refuse NaN, unless gaps are taken, and infinity, naming the columns.

    Parameters
    ----------
    X : array or csc_array
    names : array of str or None
    allow_nan : bool
    advice : str
        What else to do about gaps, a sentence.

    Returns
    -------
    bool
        Whether there are gaps.
    """
    with np.errstate(invalid="ignore"):
        suspects = np.flatnonzero(~np.isfinite(extremes(X)).all(axis=0)).tolist()
    is_missing = [np.isnan(X[:, [j]].data if issparse(X) else X[:, j]).any() for j in suspects]
    missing = [j for j, found in zip(suspects, is_missing, strict=True) if found]
    if not allow_nan:
        _check_no_missing(missing, suspects, X.dtype, names, advice)
        return False
    _check_no_missing([], [j for j in suspects if np.isinf(X[:, j]).any()], X.dtype, names)
    return bool(missing)


def _check_no_missing(
    missing: list[int],
    infinite: list[int],
    dtype: np.dtype[Any],
    names: NDArray[Any] | None,
    advice: str = "",
) -> None:
    if missing:
        raise ValueError(
            f"Input X contains NaN.\nFound in {_name_columns(missing, names)}. Fill the gaps, for "
            "example with sklearn.impute.SimpleImputer, or leave out those rows or columns."
            f"{' ' if advice else ''}{advice}"
        )
    if infinite:
        raise ValueError(
            f"Input X contains infinity or a value too large for {dtype!r}.\n"
            f"Found in {_name_columns(infinite, names)}."
        )


def _name_columns(columns: list[int], names: NDArray[Any] | None) -> str:
    shown = [str(j) if names is None else repr(names[j]) for j in columns[:MOST_COLUMNS_NAMED]]
    more = len(columns) - len(shown)
    tail = f" and {more} more" if more else ""
    return f"column{'s' if len(columns) > 1 else ''} {', '.join(shown)}{tail}"


@contextmanager
def check_overflow() -> Iterator[None]:
    """Refuse whole numbers in X that no float holds, where scikit-learn converts it."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(
            "X must hold numbers that fit into float64: a whole number in it is larger than "
            f"{np.finfo(np.float64).max:.1e}."
        ) from error


def check_conversion(X: Any) -> None:
    """Refuse what numpy would turn into numbers in silence, or into nonsense.

    These are masked values, dates, damaged sparse matrices, rows of unlike lengths, frames with
    several columns of one name, what is larger than memory, and containers of matrices.
    """
    check_structure(X)
    library = type(X).__module__.partition(".")[0]
    if library == "anndata":
        raise TypeError(
            f"X must be a matrix: got anndata's {type(X).__name__}. Give its matrix and labels, "
            'as in fit(adata.X, adata.obs["cell_type"]), or read the file with semisift.read_table.'
        )
    check_unmasked(X)
    if isinstance(X, (list, tuple)):
        lengths = [len(row) for row in X if isinstance(row, (list, tuple))]
        for number, length in enumerate(lengths):
            if length != lengths[0]:
                raise ValueError(
                    f"X must have as many values in each row: the first has {lengths[0]} and row "
                    f"{number}, counted from 0, has {length}."
                )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        if repeated := [name for name, times in Counter(X.columns).items() if times > 1]:
            raise ValueError(
                f"X must have a name for each column: {examples(repeated)} "
                f"{'stands' if len(repeated) == 1 else 'stand'} more than once."
            )
        dates = [
            str(name)
            for name, dtype in zip(X.columns, X.dtypes, strict=True)
            if getattr(dtype, "kind", "") in ("M", "m")
            or getattr(dtype, "is_temporal", lambda: False)()
        ]
        if dates:
            raise ValueError(
                f"X must hold numbers: the columns {dates[:5]} hold dates or times. Leave them out "
                "or convert them first."
            )


def check_unmasked(X: Any) -> None:
    """Refuse masked values, of which others would take what is below the mask."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"X must not have masked values: {int(np.ma.count_masked(X))} found. Fill them first, "
            "for example with X.filled(...)."
        )
