"""Evaluators: how well a classifier does with the best 1, 2, ... features of a ranking."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from semisift.comparison._protocol import Protocol
from semisift.comparison._specs import make, set_seeds
from semisift.comparison._splits import RowSplit
from semisift.semi_supervised.nnge import NNge
from semisift.utils._text import plural

EVALUATORS: dict[str, Callable[..., ClassifierMixin]] = {
    "tree": DecisionTreeClassifier,
    "svm": partial(SVC, kernel="linear"),
    "knn": KNeighborsClassifier,
    "nb": GaussianNB,
    "nnge": NNge,
}

SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler}

Curves = dict[str, dict[str, list[float | None]]]


def evaluate(
    order: NDArray[np.int64],
    X: Any,
    y: NDArray[np.int64],
    split: RowSplit,
    protocol: Protocol,
    seed: int,
    all_features: bool = False,
    evaluators: Mapping[str, Any] | None = None,
) -> Curves:
    """Return how well each evaluator does with the best features, by each metric.

    Parameters
    ----------
    order : int array
        Features, the best first.
    X : array or csr_array of shape (n, p)
    y : int array of shape (n,)
        Codes of the classes.
    split : RowSplit
    protocol : Protocol
    seed : int
        Of evaluators that draw.
    all_features : bool
        Give the evaluators all features, whatever the size.
    evaluators : mapping of str to object, optional
        Those of the protocol, not fitted, as `find_evaluators` returns them.

    Returns
    -------
    dict
        evaluator -> metric -> one value for each of ``protocol.sizes``; None where it is not
        defined, or where there are fewer features.
    """
    learns = split.train if protocol.train_on == "all" else split.train[split.is_labelled]
    learns = learns[y[learns] >= 0]
    # columns first: rows of all columns would be copied for the sake of a few
    best = X if all_features else X[:, order[: protocol.n_top]]
    best = np.asarray(best.toarray() if issparse(best) else best, dtype=np.float64)
    learn, test = best[learns], best[split.test]
    if protocol.scaling is not None:
        scaler = SCALERS[protocol.scaling]().fit(best[split.train])
        learn, test = scaler.transform(learn), scaler.transform(test)
    curves: Curves = {}
    for name, prototype in (evaluators or find_evaluators(protocol.judges)).items():
        curve = curves[name] = {metric: [] for metric in protocol.metrics}
        classifier = ready(prototype, seed, len(learns))
        for size in [best.shape[1]] if all_features else protocol.sizes:
            values: dict[str, float | None] = dict.fromkeys(protocol.metrics)
            if size <= best.shape[1]:
                try:
                    classifier.fit(learn[:, :size], y[learns])
                    values = measure(classifier, test[:, :size], y[split.test], protocol.metrics)
                except Exception as error:
                    error.add_note(f"(judge {name!r} with {plural(size, 'feature')})")
                    raise
            for metric, value in values.items():
                curve[metric] += [value] * (len(protocol.sizes) if all_features else 1)
    return curves


def find_evaluators(names: Iterable[str]) -> dict[str, Any]:
    """Return classifiers by their names with parameters, not fitted."""
    found = {name: make(name, EVALUATORS, "judge") for name in names}
    for name, classifier in found.items():
        if not all(callable(getattr(classifier, part, None)) for part in ("fit", "predict")):
            raise ValueError(f"judge {name!r} is no classifier: it has no fit and predict.")
    return found


def ready(prototype: Any, seed: int, n_rows: int) -> Any:
    """Return a new classifier for so many rows."""
    classifier = clone(prototype, safe=False)
    set_seeds(classifier, seed)
    if isinstance(classifier, KNeighborsClassifier) and classifier.n_neighbors > n_rows:
        classifier.set_params(n_neighbors=n_rows)  # all there are
    return classifier


def measure(
    classifier: Any, X: NDArray[np.floating], y: NDArray[np.int64], metrics: tuple[str, ...]
) -> dict[str, float | None]:
    """Return the metrics of a fitted classifier on test rows."""
    predicted, present = classifier.predict(X), np.unique(y)
    # of the classes of the test alone: scikit-learn's functions warn where another one is
    # predicted, or count it where it is named
    formulas: dict[str, Callable[[], float | None]] = {
        "accuracy": lambda: float(np.mean(predicted == y)),
        "balanced_accuracy": lambda: float(
            np.mean([np.mean(predicted[y == label] == label) for label in present])
        ),
        "macro_f1": lambda: float(
            f1_score(y, predicted, labels=present, average="macro", zero_division=0)
        ),
        "auc": lambda: _auc(classifier, X, y, present),
    }
    return {metric: formulas[metric]() for metric in metrics}


def _auc(
    classifier: Any, X: NDArray[np.floating], y: NDArray[np.int64], present: NDArray[np.int64]
) -> float | None:
    """Return the area under the curve of the second class, or of each against the others."""
    names = ("predict_proba", "decision_function")
    name = next((name for name in names if hasattr(classifier, name)), None)
    if len(present) < 2 or name is None:
        return None
    scores, classes = np.asarray(getattr(classifier, name)(X)), list(classifier.classes_)
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    if scores.shape[1] != len(classes):  # a machine for each pair of classes
        return None
    if present.tolist() == classes and len(classes) == 2:
        present = present[1:]
    areas = [
        # a class that the evaluator has not seen is a guess
        roc_auc_score(y == label, scores[:, classes.index(label)]) if label in classes else 0.5
        for label in present
    ]
    return float(np.mean(areas))
