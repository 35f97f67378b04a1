"""Rows for classifiers that learn from labelled rows alone, refused in the same words by all."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from semisift.base._training_data import TrainingData
from semisift.base._validation import check_conversion


def rows_to_learn(model: Any, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Return rows and labels for the fit of a model, which knows the columns from then on."""
    check_conversion(X)
    X, y = validate_data(model, X, y, dtype=None, ensure_all_finite=False)
    check_classification_targets(y)
    return _clean(model, X), y


def rows_to_predict(model: Any, X: Any) -> NDArray[np.floating]:
    """Return rows for a fitted model, with the columns that it knows."""
    check_is_fitted(model)
    check_conversion(X)
    return _clean(model, validate_data(model, X, dtype=None, ensure_all_finite=False, reset=False))


def _clean(model: Any, X: NDArray[Any]) -> NDArray[np.floating]:
    """Refuse what is no number, missing or infinite, naming the columns."""
    names = getattr(model, "feature_names_in_", None)
    return np.asarray(TrainingData.build(X, feature_names=names).X)
