"""Baselines of a comparison: what any method must beat, what all labels or all features give.

They are not in the registry. The F-score of the labelled rows is one: it is
``fisher``, which ranks as the F-test of the analysis of variance does.

Methods: what takes part in a comparison, and the order of features that it gives.

A method is a registered one, a baseline, or any object with ``fit(X, y)`` that has ``scores_`` or
``feature_importances_`` afterwards, or a pipeline that ends with one. Our own methods, the
semi-supervised classifiers of scikit-learn and objects that say ``supports_unlabelled = True`` are
given all training rows, unlabelled ones with -1. Others, which would take -1 for a class, are given
the labelled rows alone.
"""

import inspect
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from semisift.base._estimator import SemiSupervisedMixin
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.comparison._datasets import repeated
from semisift.comparison._specs import make, parse, set_seeds
from semisift.exceptions import NoUnlabelledDataWarning
from semisift.filters.fisher import FisherScore
from semisift.registry import METHODS
from semisift.utils._labels import UNLABELLED
from semisift.utils._redundancy import rank
from semisift.utils._text import format_value


class RandomRanking(BaseEstimator):
    """Features in a random order.

    Parameters
    ----------
    random_state : int, default=0
    """

    def __init__(self, *, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw a score for each column of `X`."""
        self.scores_ = np.random.default_rng(self.random_state).random(X.shape[1])
        return self


class AllLabels(FisherScore):
    """The Fisher score with the true labels of all training rows: what nobody has in practice.

    A comparison shows it the labels that it hides from the others.
    """

    sees_all_labels = True

    def _check_labels(self, data: TrainingData) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoUnlabelledDataWarning)  # it is meant so
            super()._check_labels(data)


class AllFeatures(RandomRanking):
    """No selection: evaluators are given all features, whatever number is asked for.

    It ranks nothing; where an order is asked for all the same, as for stability, it is a random
    one.
    """

    keeps_all_features = True


BASELINES: dict[str, Any] = {
    "random": RandomRanking,
    "all-labels": AllLabels,
    "all-features": AllFeatures,
}


# --- methods --------------------------------------------------------------------------------------

SEMI_SUPERVISED = SemiSupervisedMixin, LabelPropagation, LabelSpreading, SelfTrainingClassifier


@dataclass(frozen=True, eq=False)
class ComparedMethod:
    """What takes part in a comparison.

    Attributes
    ----------
    label : str
        Its name in tables and pictures.
    estimator : object
        Never fitted itself: each run fits a clone.
    """

    label: str
    estimator: Any

    @property
    def sees_all_labels(self) -> bool:
        """Whether it is shown the hidden labels of the training rows: a bound, not a method."""
        return bool(getattr(_last_step(self.estimator), "sees_all_labels", False))

    @property
    def keeps_all_features(self) -> bool:
        """Whether it is evaluated with all features instead of the best ones."""
        return bool(getattr(_last_step(self.estimator), "keeps_all_features", False))

    @property
    def sees_unlabelled_rows(self) -> bool:
        """Whether it is given unlabelled rows, too: others would take -1 for a class."""
        last = _last_step(self.estimator)
        knows_them = isinstance(last, SEMI_SUPERVISED)
        return bool(getattr(last, "supports_unlabelled", knows_them))

    @property
    def parameters(self) -> dict[str, Any]:
        """Its class and parameters as JSON holds them, the same in every process."""
        estimator = self.estimator
        given = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
        settings = {name: _plain(value) for name, value in given.items()}
        return {"class": type(estimator).__qualname__, **settings}

    def order(self, X: Any, y: NDArray[np.int64], seed: int, n_top: int) -> NDArray[np.int64]:
        """Fit a clone and return the features, the best first.

        All its random states are set to `seed`, and `n_features_to_select` to `n_top`.

        Parameters
        ----------
        X : array or csr_array of shape (n, p)
        y : int array of shape (n,)
            Codes of the classes, -1 for unlabelled rows.
        seed : int
        n_top : int
            How many features will be evaluated.
        """
        fitted = clone(self.estimator, safe=False)
        set_seeds(fitted, seed)
        ranker = _last_step(fitted)
        if hasattr(ranker, "get_params") and "n_features_to_select" in ranker.get_params():
            ranker.set_params(n_features_to_select=min(n_top, X.shape[1]))
        if not self.sees_unlabelled_rows:
            rows = np.flatnonzero(y != UNLABELLED)
            X, y = X[rows], y[rows]
        fitted.fit(X, y)
        ranker = _last_step(fitted)
        if UNLABELLED in y and np.any(np.asarray(getattr(ranker, "classes_", ())) == UNLABELLED):
            raise ValueError(
                f"{type(ranker).__name__} took -1, which marks unlabelled rows, for a class. Let "
                "its fit leave them out."
            )
        return np.argsort(_ranking(ranker, X.shape[1], seed))


def _last_step(estimator: Any) -> Any:
    """Return what ranks: the last step of a pipeline."""
    return _last_step(estimator[-1]) if isinstance(estimator, Pipeline) else estimator


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | None) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return format_value(value)


def _ranking(ranker: Any, n_features: int, seed: int) -> NDArray[np.int64]:
    for name in ("scores_", "feature_importances_"):
        if hasattr(ranker, name):
            scores = np.asarray(getattr(ranker, name), dtype=np.float64)
            if scores.shape != (n_features,):
                raise ValueError(
                    f"{name} of {type(ranker).__name__} must have one value for each of "
                    f"{n_features} features: got the shape {scores.shape}."
                )
            return ranker.ranking_ if isinstance(ranker, FeatureRanker) else rank(scores, seed)
    raise ValueError(
        f"{type(ranker).__name__} has neither scores_ nor feature_importances_ after fit, so it "
        "ranks nothing."
    )


def find_methods(methods: Any) -> list[ComparedMethod]:
    """Return what takes part, with labels that differ.

    Parameters
    ----------
    methods : list of str, objects and pairs, or mapping of str to object
        Names with parameters (``"ssfi:variant=paper"``, ``"random"``, ``"package.module.Class"``),
        objects with ``fit``, or pairs of a label and an object.
    """
    if isinstance(methods, str):
        methods = methods.split(",")
    if hasattr(methods, "fit") or not isinstance(methods, Iterable):
        raise ValueError(f"methods must be a list, or map labels to methods: got {methods!r}.")
    items = methods.items() if isinstance(methods, Mapping) else methods
    found = [_find_method(item) for item in items]
    if twice := repeated(method.label for method in found):
        raise ValueError(
            f"methods must have different names: {twice} came twice. Pairs of a label and a method "
            "give them other names."
        )
    if not found:
        raise ValueError("methods must name at least one method.")
    return found


def _find_method(item: Any) -> ComparedMethod:
    if not isinstance(item, tuple):
        item = item.strip() if isinstance(item, str) else type(item).__name__, item
    if len(item) != 2:
        raise ValueError(f"methods: a pair has a label and a method: got {item!r}.")
    label, estimator = item
    if isinstance(estimator, str):
        spec = estimator.strip()
        name, _ = parse(spec, "method")
        own = {name: METHODS[name].cls} if name in METHODS else BASELINES
        estimator = make(spec, own, "method", [*METHODS, *BASELINES])
    if inspect.isclass(estimator) or not callable(getattr(estimator, "fit", None)):
        raise ValueError(f"methods: {item[1]!r} must be a name or an object with fit(X, y).")
    return ComparedMethod(str(label), estimator)
