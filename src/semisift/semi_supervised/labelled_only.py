"""LabelledOnly: an ordinary classifier behind a semi-supervised ranker; and labelled rows alone."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from semisift.base import _validation as checks
from semisift.base._training_data import TrainingData
from semisift.base._validation import check_conversion, check_unmasked
from semisift.committee._bootstrap import Int32s
from semisift.utils._columns import check_structure
from semisift.utils._labels import parse_labels
from semisift.utils._sklearn_compat import (
    HasMethods,
    check_method_params,
    estimator_has,
    fit_context,
    num_samples,
    routing_enabled,
    safe_indexing,
)


class LabelledOnly(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit a classifier on the labelled rows and leave out the others.

    In a pipeline after a semi-supervised ranker the classifier receives the same `y`, in which
    unlabelled rows are -1, None or NaN; alone it would learn -1 as one more class.

    Parameters
    ----------
    estimator : estimator object
        The classifier. A clone of it is fitted.

    Attributes
    ----------
    estimator_ : estimator object
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.
    n_features_in_ : int
        Number of columns seen during fit, where `estimator_` has it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where `estimator_` has them.

    Notes
    -----
    `score` judges labelled rows alone. Scorers given by name, such as ``scoring="accuracy"``, call
    `predict` and compare with the whole `y`, unlabelled rows included: leave ``scoring=None`` in
    cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from semisift.semi_supervised import LabelledOnly
    >>> X, y = load_iris(return_X_y=True)
    >>> y_partly = y.copy()
    >>> y_partly[::2] = -1
    >>> model = LabelledOnly(KNeighborsClassifier()).fit(X, y_partly)
    >>> model.classes_
    array([0, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])]
    }

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    # The parameters of `estimator` are the user's and still have to be validated.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit a clone of `estimator` on the labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows.
        y : array-like of shape (n_samples,)
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        **params : dict
            Passed to the `fit` of `estimator`. What has one value per row, such as
            `sample_weight`, is cut down to the labelled rows.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if not is_classifier(self.estimator):
            raise ValueError(f"estimator must be a classifier: got {self.estimator!r}.")
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
        X, y, params = self._labelled("fit", X, y, params)
        self.estimator_ = checks.fit_classifier(clone(self.estimator), X, y, **params)
        self.classes_ = checks.classes_of(
            self.estimator_, None
        )  # a frozen one may know others than y
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        self._check_predict_input(X)
        return checks.labels_of(self.estimator_, X, self.classes_)

    @available_if(estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.floating]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        self._check_predict_input(X)
        return checks.probabilities_of(self.estimator_, X, self.classes_)[1]

    @available_if(estimator_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Call the decision function of `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        self._check_predict_input(X)
        return checks.decisions_of(self.estimator_, X, self.classes_)[1]

    def _check_predict_input(self, X: Any) -> None:
        check_is_fitted(self)
        check_structure(X)
        check_unmasked(X)

    @available_if(estimator_has("score"))
    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Return the score of `estimator_` on the labelled rows, as a rule its accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; rows with -1, None or NaN are left out.
        **params : dict
            Passed to the `score` of `estimator_`, cut down to the labelled rows.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        X, y, params = self._labelled("score", X, y, params)
        return float(self.estimator_.score(X, y, **params))

    def _labelled(
        self, method: str, X: Any, y: Any, params: dict[str, Any]
    ) -> tuple[Any, NDArray[Any], dict[str, Any]]:
        """Return the labelled rows, their labels and what else a method of `estimator` gets."""
        X, rows, y = labelled_part(X, y, f"LabelledOnly needs a labelled row to {method}")
        if routing_enabled():
            params = process_routing(self, method, **params).estimator[method]
        return safe_indexing(X, rows), y, check_method_params(X, params, indices=rows)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata is routed to `estimator`.

        Returns
        -------
        routing : MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping = mapping.add(caller="score", callee="score")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
        return tags


def labelled_part(X: Any, y: Any, needed: str | None = None) -> tuple[Any, Int32s, NDArray[Any]]:
    """Return X in a form that can be sliced, the labelled rows and their labels.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    needed : str, optional
        Begins the error message where no row is labelled.

    Returns
    -------
    X : array-like or CSR matrix
    rows : int32 array
    labels : array
    """
    check_structure(X)
    check_unmasked(X)
    (X,) = indexable(X)
    labels = parse_labels(y, num_samples(X))
    rows = labels.labelled
    if needed and not len(rows):
        raise ValueError(
            f"{needed}: all {len(labels.codes)} values of y are unlabelled (-1, None or NaN)."
        )
    return X, rows, labels.classes[labels.codes[rows]]


def rows_to_learn(model: Any, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Return rows and labels for the fit of a model, which knows the columns from then on."""
    check_conversion(X)
    X, y = validate_data(model, X, y, dtype=None, ensure_all_finite=False)
    check_classification_targets(y)
    return _check_rows(model, X), y


def rows_to_predict(model: Any, X: Any) -> NDArray[np.floating]:
    """Return rows for a fitted model, with the columns that it knows."""
    check_is_fitted(model)
    check_conversion(X)
    return _check_rows(
        model, validate_data(model, X, dtype=None, ensure_all_finite=False, reset=False)
    )


def _check_rows(model: Any, X: NDArray[Any]) -> NDArray[np.floating]:
    """Refuse what is no number, missing or infinite, naming the columns."""
    names = getattr(model, "feature_names_in_", None)
    return np.asarray(TrainingData.build(X, feature_names=names).X)
