"""Checks of X and y, and of what a classifier of the user's own answers.

The errors name the column or the class of the estimator, the rule and what came. A classifier is
given labels, or codes in range(n_classes): so `given` is an array or a range.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from semisift.out_of_core._matrix import float_type
from semisift.utils._columns import check_structure, copy_rows, extremes
from semisift.utils._memory import FEWER, check_memory
from semisift.utils._sklearn_compat import num_samples
from semisift.utils._text import examples, plural, quote
from semisift.utils._validation import as_array

MAX_COLUMNS_NAMED = 5


def clean_dense(
    X: NDArray[Any], names: NDArray[Any] | None, allow_nan: bool = False
) -> NDArray[np.floating]:
    """Return a Fortran-ordered, read-only array of floats; not copied if it is one."""
    if X.dtype.kind in "OUST":
        X = X.astype(object, copy=False)
        if allow_nan:
            X = np.where(np.vectorize(_is_missing_text, otypes=[bool])(X), np.nan, X)
        _check_numeric(X, names)
    dtype = float_type(X.dtype)
    with np.errstate(over="ignore"):  # what does not fit becomes infinite and is reported below
        if X.flags.f_contiguous or X.dtype.kind == "O":
            clean = np.asarray(X, dtype=dtype, order="F").view()
        else:
            shape = " x ".join(f"{length:,}" for length in X.shape)
            check_memory(X.size * dtype.itemsize, f"a copy of X ({shape}) by columns", FEWER)
            clean = np.empty(X.shape, dtype=dtype, order="F")
            copy_rows(X, clean)
    clean.flags.writeable = False
    return clean


def clean_sparse(X: Any) -> csc_array:
    """Return a canonical, read-only CSC matrix of floats; not copied if it is one."""
    X = X.tocsc()
    X = X.astype(float_type(X.dtype), copy=False)
    if not X.has_canonical_format or np.count_nonzero(X.data) < X.nnz:
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    most = np.iinfo(np.int32).max
    indices = [
        index.astype(np.int32, copy=False) if index.max(initial=0) <= most else index
        for index in (X.indices, X.indptr)
    ]
    parts = [part.view() for part in (X.data, *indices)]
    for part in parts:
        part.flags.writeable = False
    return csc_array(tuple(parts), shape=X.shape)


def parts_of(X: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of which rows consist."""
    if issparse(X):
        return {name: getattr(X, name) for name in ("data", "indices", "indptr")}
    return {"values": X}


def clean_taken(parts: dict[str, NDArray[Any]], shape: tuple[int, int]) -> Any:
    """Return rows of these parts as training data holds them."""
    if "values" in parts:
        return clean_dense(parts["values"], None)
    return clean_sparse(csr_array((parts["data"], parts["indices"], parts["indptr"]), shape))


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
                cure = "Encode text, for example with sklearn.preprocessing.OrdinalEncoder."
                with suppress(ValueError):
                    float(value)
                    cure = "Convert numbers that are stored as text: X.astype(float)."
                raise ValueError(
                    f"X must hold numbers: {_name_columns([j], names)} holds the text "
                    f"{str(value)!r}. {cure}"
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


def check_finite(
    X: Any, names: NDArray[Any] | None, allow_nan: bool = False, advice: str = ""
) -> bool:
    """Refuse NaN, unless missing values are taken, and infinity, naming the columns.

    Parameters
    ----------
    X : array or csc_array
    names : array of str or None
    allow_nan : bool
    advice : str
        What else to do about missing values, a sentence.

    Returns
    -------
    bool
        Whether there are missing values.
    """
    with np.errstate(invalid="ignore"):
        suspects = np.flatnonzero(~np.isfinite(extremes(X)).all(axis=0)).tolist()
    if not suspects:
        return False
    own = {j: X[:, [j]].data if issparse(X) else X[:, j] for j in suspects}
    missing = [j for j in suspects if np.isnan(own[j]).any()]
    infinite = suspects
    if allow_nan:
        infinite = [j for j in suspects if np.isinf(own[j]).any()]
    _check_no_missing([] if allow_nan else missing, infinite, X.dtype, names, advice)
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
            f"Input X contains NaN.\nFound in {_name_columns(missing, names)}. Fill them, for "
            "example with sklearn.impute.SimpleImputer, or leave out those rows or columns."
            f"{' ' if advice else ''}{advice}"
        )
    if infinite:
        raise ValueError(
            f"Input X contains infinity or a value too large for {dtype!r}.\n"
            f"Found in {_name_columns(infinite, names)}."
        )


def _name_columns(columns: list[int], names: NDArray[Any] | None) -> str:
    shown = [str(j) if names is None else repr(names[j]) for j in columns[:MAX_COLUMNS_NAMED]]
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
    if isinstance(X, list | tuple):
        lengths = [len(row) for row in X if isinstance(row, list | tuple)]
        for number in (i for i, length in enumerate(lengths) if length != lengths[0]):
            raise ValueError(
                f"X must have as many values in each row: the first has {lengths[0]} and row "
                f"{number}, counted from 0, has {lengths[number]}."
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


# --- classifiers of the user's own ----------------------------------------------------------------

Given = NDArray[Any] | range

# What stands among codes for a row that a classifier takes for none of the classes.
NO_CLASS = -1


def fit_classifier(classifier: Any, X: Any, y: Any, **params: Any) -> Any:
    """Fit, and return what `fit` returns; the classifier itself where that is None."""
    fitted = classifier.fit(X, y, **params)
    if fitted is None:
        return classifier
    if not hasattr(fitted, "predict"):
        _raise_invalid(classifier, "fit", "return the fitted classifier", quote(fitted))
    return fitted


def classes_of(classifier: Any, given: Given | None) -> NDArray[Any]:
    """Return the classes that a fitted classifier knows, in its order.

    Parameters
    ----------
    classifier : classifier
    given : array, range or None
        The classes that it may know; None for any.

    Returns
    -------
    array of shape (n_classes,)
    """
    found = getattr(classifier, "classes_", None)
    if found is None:
        _raise_invalid(classifier, "fit", "set classes_, its classes in their order", "no classes_")
    classes = as_array(found)
    if classes.ndim != 1 or not len(classes):
        _raise_invalid(classifier, "classes_", "hold classes in one dimension", quote(found))
    if given is not None and _others(classes, given):
        _raise_invalid(classifier, "classes_", f"hold classes {_among(given)}", quote(found))
    if len(set(classes.tolist())) < len(classes):
        _raise_invalid(classifier, "classes_", "hold each class once", quote(found))
    return classes


def labels_of(classifier: Any, X: Any, given: Given) -> NDArray[Any]:
    """Return what a classifier predicts for each row.

    Parameters
    ----------
    classifier : classifier
    X : array-like or sparse matrix of shape (n, p)
    given : array or range
        The classes that it may predict, besides what it says of rows that are none of them.

    Returns
    -------
    array of shape (n,)
    """
    labels, n_rows = as_array(classifier.predict(X)), num_samples(X)
    if labels.shape == (n_rows, 1):
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        rule = f"return one class for each of {plural(n_rows, 'row')}"
        _raise_invalid(classifier, "predict", rule, _shape_of(labels))
    others = _others(labels, given)
    if others:
        no_class = np.ravel(getattr(classifier, "outlier_label_", ())).tolist()
        if isinstance(given, range):
            no_class = [label for label in no_class if label == NO_CLASS]
        if any(label not in no_class for label in others):
            _raise_invalid(
                classifier, "predict", f"return classes {_among(given)}", quote(others[0])
            )
    return labels


def probabilities_of(
    classifier: Any, X: Any, given: Given
) -> tuple[NDArray[Any], NDArray[np.floating]]:
    """Return the classes of a classifier and their probabilities, NaN where it has none.

    Parameters
    ----------
    classifier : classifier
    X : array-like or sparse matrix of shape (n, p)
    given : array or range
        The classes that it may know.

    Returns
    -------
    classes : array of shape (n_classes,)
    probabilities : array of shape (n, n_classes)
    """
    classes = classes_of(classifier, given)
    found = as_array(classifier.predict_proba(X))
    rule = "return one probability for each of"
    shapes = [(num_samples(X), len(classes))]
    _check_values(classifier, "predict_proba", found, found.shape in shapes, rule, *shapes[0])
    if np.isinf(found).any():
        got = quote(float(found[np.isinf(found)][0]))
        _raise_invalid(classifier, "predict_proba", "return no infinite number", got)
    return classes, found


def decisions_of(
    classifier: Any, X: Any, given: Given
) -> tuple[NDArray[Any], NDArray[np.floating]]:
    """Return the classes of a classifier and its decision function.

    Parameters
    ----------
    classifier : classifier
    X : array-like or sparse matrix of shape (n, p)
    given : array or range
        The classes that it may know.

    Returns
    -------
    classes : array of shape (n_classes,)
    decisions : array of shape (n,) or (n, n_targets)
        With one target for two classes, one for each class, or one for each pair of them.
    """
    classes, n_rows = classes_of(classifier, given), num_samples(X)
    found = as_array(classifier.decision_function(X))
    n = len(classes)
    shape = found.shape if found.ndim != 1 else (len(found), 1)
    is_shaped = shape in ((n_rows, n), (n_rows, n * (n - 1) // 2))
    rule = "return values for each of"
    _check_values(classifier, "decision_function", found, is_shaped, rule, n_rows, n)
    if not np.isfinite(found).all():
        got = quote(float(found[~np.isfinite(found)][0]))
        _raise_invalid(classifier, "decision_function", "return finite numbers", got)
    return classes, found


def _check_values(
    classifier: Any, name: str, found: NDArray[Any], is_shaped: bool, rule: str, n: int, k: int
) -> None:
    if not is_shaped:
        sizes = f"{plural(n, 'row')} and {plural(k, 'class', 'classes')}"
        _raise_invalid(classifier, name, f"{rule} {sizes}", _shape_of(found))
    if found.dtype.kind not in "biuf":
        _raise_invalid(classifier, name, "return numbers", f"an array of dtype {found.dtype}")


def _others(values: NDArray[Any], given: Given) -> list[Any]:
    """Return the values that are not among those given, each once."""
    if isinstance(given, range):
        is_code = values.dtype.kind in "iu"
        if is_code and (not values.size or (values.min() >= 0 and values.max() < len(given))):
            return []
    known = {*_as_list(given)}
    try:
        return [value for value in dict.fromkeys(values.tolist()) if value not in known]
    except TypeError:  # a list in place of a class
        return values.tolist()


def _among(given: Given) -> str:
    return f"among those given to fit ({examples(_as_list(given))})"


def _as_list(given: Given) -> list[Any]:
    return list(given) if isinstance(given, range) else given.tolist()


def _shape_of(found: NDArray[Any]) -> str:
    return f"an array of shape {found.shape}" if found.ndim else quote(found.item())


def _raise_invalid(classifier: Any, name: str, rule: str, got: str) -> NoReturn:
    raise ValueError(f"{name} of estimator {type(classifier).__name__} must {rule}: got {got}.")
