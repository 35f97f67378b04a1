"""Classifiers that a user gives: what their fit leaves and what they answer, checked.

What is given to them are labels, or codes in range(n_classes): so `given` is an array or a range.
The errors name the class of the estimator, the rule and what came.
"""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from semisift.utils._sklearn_compat import num_samples
from semisift.utils._text import examples, plural, quote
from semisift.utils._validation import as_array

Given = NDArray[Any] | range

# What stands among codes for a row that a classifier takes for none of the classes.
NO_CLASS = -1


def fit_classifier(classifier: Any, X: Any, y: Any, **params: Any) -> Any:
    """Fit, and return what `fit` returns; the classifier itself where that is None."""
    fitted = classifier.fit(X, y, **params)
    if fitted is None:
        return classifier
    if not hasattr(fitted, "predict"):
        _refuse(classifier, "fit", "return the fitted classifier", quote(fitted))
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
        _refuse(classifier, "fit", "set classes_, its classes in their order", "no classes_")
    classes = as_array(found)
    if classes.ndim != 1 or not len(classes):
        _refuse(classifier, "classes_", "hold classes in one dimension", quote(found))
    if given is not None and _others(classes, given):
        _refuse(classifier, "classes_", f"hold classes {_among(given)}", quote(found))
    if len(set(classes.tolist())) < len(classes):
        _refuse(classifier, "classes_", "hold each class once", quote(found))
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
        _refuse(classifier, "predict", rule, _shape_of(labels))
    others = _others(labels, given)
    if others:
        no_class = np.ravel(getattr(classifier, "outlier_label_", ())).tolist()
        if isinstance(given, range):
            no_class = [label for label in no_class if label == NO_CLASS]
        if any(label not in no_class for label in others):
            _refuse(classifier, "predict", f"return classes {_among(given)}", quote(others[0]))
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
    classes, n_rows = classes_of(classifier, given), num_samples(X)
    found = as_array(classifier.predict_proba(X))
    if found.shape != (n_rows, len(classes)):
        rule = f"return one probability for each of {_sizes(n_rows, len(classes))}"
        _refuse(classifier, "predict_proba", rule, _shape_of(found))
    _check_numbers(classifier, "predict_proba", found)
    if np.isinf(found).any():
        _refuse(classifier, "predict_proba", "return no infinite number", _first(np.isinf, found))
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
    n, n_pairs = len(classes), len(classes) * (len(classes) - 1) // 2
    shape = found.shape if found.ndim != 1 else (len(found), 1)
    if shape not in ((n_rows, n), (n_rows, n_pairs)):
        rule = f"return values for each of {_sizes(n_rows, n)}"
        _refuse(classifier, "decision_function", rule, _shape_of(found))
    _check_numbers(classifier, "decision_function", found)
    if not np.isfinite(found).all():
        got = _first(lambda values: ~np.isfinite(values), found)
        _refuse(classifier, "decision_function", "return finite numbers", got)
    return classes, found


def _others(values: NDArray[Any], given: Given) -> list[Any]:
    """Return the values that are not among those given, each once."""
    if isinstance(given, range):
        is_code = values.dtype.kind in "iu"
        if is_code and (not values.size or (values.min() >= 0 and values.max() < len(given))):
            return []
    known = set(_listed(given))
    try:
        return [value for value in dict.fromkeys(values.tolist()) if value not in known]
    except TypeError:  # a list in place of a class
        return values.tolist()


def _check_numbers(classifier: Any, name: str, found: NDArray[Any]) -> None:
    if found.dtype.kind not in "biuf":
        _refuse(classifier, name, "return numbers", f"an array of dtype {found.dtype}")


def _among(given: Given) -> str:
    return f"among those given to fit ({examples(_listed(given))})"


def _listed(given: Given) -> list[Any]:
    return list(given) if isinstance(given, range) else given.tolist()


def _sizes(n_rows: int, n_classes: int) -> str:
    return f"{plural(n_rows, 'row')} and {plural(n_classes, 'class', 'classes')}"


def _shape_of(found: NDArray[Any]) -> str:
    return f"an array of shape {found.shape}" if found.ndim else quote(found.item())


def _first(is_wrong: Any, found: NDArray[Any]) -> str:
    return quote(float(found[is_wrong(found)][0]))


def _refuse(classifier: Any, name: str, rule: str, got: str) -> NoReturn:
    raise ValueError(f"{name} of estimator {type(classifier).__name__} must {rule}: got {got}.")
