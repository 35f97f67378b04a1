"""Baselines of a comparison: what any method must beat, what all labels or all features give.

They are no methods, so they are not in the registry. The F-score of the labelled rows is one: it is
``fisher``, which ranks as the F-test of the analysis of variance does.

Entrants: what takes part in a comparison, and the order of features that it gives.

An entrant is a registered method, a baseline, or any object with ``fit(X, y)`` that has
``scores_`` or ``feature_importances_`` afterwards. It is given all training rows, unlabelled ones
with -1. scikit-learn's own estimators would take -1 for a class, so they are given the labelled
rows alone.
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

    def _check_labels(self, problem: TrainingData) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoUnlabelledDataWarning)  # it is meant so
            super()._check_labels(problem)


class AllFeatures(RandomRanking):
    """No selection: judges are given all features, whatever number is asked for.

    It ranks nothing; where an order is asked for all the same, as for stability, it is a random
    one.
    """

    keeps_all_features = True


BASELINES: dict[str, Any] = {
    "random": RandomRanking,
    "all-labels": AllLabels,
    "all-features": AllFeatures,
}


# --- entrants -------------------------------------------------------------------------------------


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
        return bool(getattr(self.estimator, "sees_all_labels", False))

    @property
    def keeps_all_features(self) -> bool:
        """Whether it is judged with all features instead of the best ones."""
        return bool(getattr(self.estimator, "keeps_all_features", False))

    @property
    def sees_unlabelled_rows(self) -> bool:
        """Whether it is given unlabelled rows, too."""
        module = type(self.estimator).__module__
        return not module.startswith("sklearn.") or module.startswith("sklearn.semi_supervised.")

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
            How many features will be judged.
        """
        ranker = clone(self.estimator, safe=False)
        set_seeds(ranker, seed)
        if "n_features_to_select" in self.parameters:
            ranker.set_params(n_features_to_select=min(n_top, X.shape[1]))
        if not self.sees_unlabelled_rows:
            rows = np.flatnonzero(y != UNLABELLED)
            X, y = X[rows], y[rows]
        ranker.fit(X, y)
        if UNLABELLED in y and np.any(np.asarray(getattr(ranker, "classes_", ())) == UNLABELLED):
            raise ValueError(
                f"{type(ranker).__name__} took -1, which marks unlabelled rows, for a class. Let "
                "its fit leave them out."
            )
        return np.argsort(_ranking(ranker, X.shape[1], seed))


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | None) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return format_value(value)


def _ranking(ranker: Any, n_features: int, seed: int) -> NDArray[np.int64]:
    if isinstance(ranker, FeatureRanker):
        return ranker.ranking_
    for name in ("scores_", "feature_importances_"):
        if hasattr(ranker, name):
            scores = np.asarray(getattr(ranker, name), dtype=np.float64)
            if scores.shape != (n_features,):
                raise ValueError(
                    f"{name} of {type(ranker).__name__} must have one value for each of "
                    f"{n_features} features: got the shape {scores.shape}."
                )
            return rank(scores, seed)
    raise ValueError(
        f"{type(ranker).__name__} has neither scores_ nor feature_importances_ after fit, so it "
        "ranks nothing."
    )


def find_entrants(methods: Any) -> list[ComparedMethod]:
    """Return what takes part.

    Parameters
    ----------
    methods : list of str, objects and pairs, or mapping of str to object
        Names with parameters (``"ssfi:variant=paper"``, ``"random"``, ``"package.module.Class"``),
        objects with ``fit``, or pairs of a label and an object.

    Returns
    -------
    list of ComparedMethod
        With labels that differ.
    """
    if isinstance(methods, str):
        methods = methods.split(",")
    if hasattr(methods, "fit") or not isinstance(methods, Iterable):
        raise ValueError(f"methods must be a list, or map labels to methods: got {methods!r}.")
    items = methods.items() if isinstance(methods, Mapping) else methods
    entrants = [_entrant(item) for item in items]
    if twice := repeated(entrant.label for entrant in entrants):
        raise ValueError(
            f"methods must have different names: {twice} came twice. Pairs of a label and a method "
            "give them other names."
        )
    if not entrants:
        raise ValueError("methods must name at least one method.")
    return entrants


def _entrant(item: Any) -> ComparedMethod:
    if not isinstance(item, tuple):
        item = item.strip() if isinstance(item, str) else type(item).__name__, item
    if len(item) != 2:
        raise ValueError(f"methods: a pair has a label and a method: got {item!r}.")
    label, method = item
    estimator = _by_name(method.strip()) if isinstance(method, str) else method
    if inspect.isclass(estimator) or not callable(getattr(estimator, "fit", None)):
        raise ValueError(f"methods: {method!r} must be a name or an object with fit(X, y).")
    return ComparedMethod(str(label), estimator)


def _by_name(spec: str) -> Any:
    name, _ = parse(spec, "method")
    if name in METHODS:
        return make(spec, {name: METHODS[name].cls}, "method")
    return make(spec, BASELINES, "method", [*METHODS, *BASELINES])
