"""MixedNB: naive Bayes for numeric and categorical columns together."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin

from semisift.semi_supervised.labelled_only import rows_to_learn, rows_to_predict
from semisift.utils._naive_bayes import (
    NaiveBayes,
    category_log_probability,
    code_categories,
    log_of_normaliser,
    mean_and_variance,
)
from semisift.utils._sklearn_compat import Interval, fit_context
from semisift.utils._typing import Bools, Floats
from semisift.utils._validation import as_array


@dataclass(kw_only=True, eq=False, repr=False)
class MixedNB(ClassifierMixin, BaseEstimator):
    """Naive Bayes with a Gaussian for each numeric and shares for each categorical column.

    A row x is given to the class c with the largest ``P(c) prod_j P(x_j | c)``. In a numeric
    column, ``P(x_j | c)`` is a normal density, as in scikit-learn's `GaussianNB`; in a categorical
    one it is the share of the class's rows with this value, with `alpha` added to the count of each
    value seen during fit. A value that was not seen counts as one that was counted 0 times.

    Parameters
    ----------
    categorical : array-like of bool of shape (n_features,), default=None
        Which columns are categorical: numbers that represent names. None: all are numeric.
    alpha : float, default=1.0
        Smoothing of the shares of values (Laplace for 1).
    var_smoothing : float, default=1e-9
        Share of the largest variance of a numeric column that is added to all variances.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_prior_ : ndarray of shape (n_classes,)
        Share of each class.
    theta_, var_ : ndarray of shape (n_classes, n_features_in_)
        Mean and smoothed variance of each numeric column in each class; 0 and 1 for a categorical
        column.
    is_category_ : ndarray of shape (n_features_in_,)
        Which columns are categorical.
    category_values_ : list of n_features_in_ ndarrays
        The values of each categorical column; empty for a numeric one.
    category_log_prob_ : list of n_features_in_ ndarrays of shape (n_classes, n_values + 1)
        Log-probability of each value in each class, and last that of a value not seen.
    n_features_in_ : int
        Number of columns seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X has string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from semisift.semi_supervised import MixedNB
    >>> X = np.array([[0, 1.0], [0, 1.2], [1, 2.9], [1, 3.1]])
    >>> model = MixedNB(categorical=[True, False]).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0, 0.9], [1, 3.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "categorical": [None, "array-like"],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "var_smoothing": [Interval(Real, 0, 1e100, closed="both")],  # of the variance, in range
    }

    categorical: Any = None
    alpha: float = 1.0
    var_smoothing: float = 1e-9

    def _batch_model(self, n_features: int) -> tuple[str, tuple[Any, ...]]:
        """Return what the wrappers judge many columns at once by (see wrappers/_choose.py)."""
        mask = self._mask(n_features)
        return "naive Bayes", (NaiveBayes(self.var_smoothing, self.alpha, mask),)

    def _mask(self, n_features: int) -> Bools:
        if self.categorical is None:
            return np.zeros(n_features, dtype=bool)
        mask = as_array(self.categorical)
        if mask.dtype != bool or mask.shape != (n_features,):
            raise ValueError(
                f"categorical must be one bool for each of the {n_features} columns of X: got an "
                f"array of dtype {mask.dtype} and shape {mask.shape}."
            )
        return mask

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, y = rows_to_learn(self, X, y)
        X = np.ascontiguousarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.is_category_ = is_category = self._mask(X.shape[1])
        counts = np.bincount(codes)
        self.class_prior_ = counts / counts.sum()
        shape = len(counts), X.shape[1]
        self.theta_, self.var_ = np.zeros(shape), np.ones(shape)
        numeric = X[:, ~is_category]
        with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is refused below
            epsilon = self.var_smoothing * mean_and_variance(numeric, False)[1].max(initial=0.0)
            for code in range(len(counts)):
                mean, variance = mean_and_variance(numeric[codes == code], False)
                self.theta_[code, ~is_category] = mean
                self.var_[code, ~is_category] = variance + epsilon
        if not (np.isfinite(self.theta_).all() and np.isfinite(self.var_).all()):
            raise ValueError(
                "X must hold numbers whose mean and variance fit into float64: got values up to "
                f"{abs(numeric).max():.1e}. Divide the columns by a large number, or scale them."
            )
        self.category_values_ = [np.empty(0)] * X.shape[1]
        self.category_log_prob_ = [np.empty((len(counts), 0))] * X.shape[1]
        for j in np.flatnonzero(is_category):
            self.category_values_[j] = np.unique(X[:, j])
            cells = np.zeros((len(counts), len(self.category_values_[j]) + 1))
            np.add.at(cells, (codes, code_categories(X[:, [j]])[:, 0]), 1.0)
            log_probability = category_log_probability(cells[..., None], self.alpha)
            self.category_log_prob_[j] = log_probability[..., 0]
        return self

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return ``log P(c) + log P(x | c)`` of each row and class.

        Of a row so far from all classes that each value would be below all numbers, the class that
        is nearest in standard deviations has the value that it would have at the mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        X = np.ascontiguousarray(rows_to_predict(self, X), dtype=np.float64)
        is_category = self.is_category_
        joint = np.empty((len(X), len(self.classes_)))
        terms = np.zeros((len(self.classes_), *X.shape))
        for j in np.flatnonzero(is_category):
            values, log_probability = self.category_values_[j], self.category_log_prob_[j]
            place = np.minimum(np.searchsorted(values, X[:, j]), len(values) - 1)
            seen = values[place] == X[:, j]
            terms[:, :, j] = log_probability[:, np.where(seen, place, len(values))]
        for code in range(len(self.classes_)):
            # with a 0 for each categorical column: the sums are formed as where columns join one by
            # one, to the last bit
            normaliser = np.where(is_category, 0.0, log_of_normaliser(self.var_[code]))
            with np.errstate(over="ignore"):
                squares = np.where(is_category, 0.0, (X - self.theta_[code]) ** 2 / self.var_[code])
                gaussian = -0.5 * normaliser.sum() - 0.5 * squares.sum(axis=1)
            joint[:, code] = np.log(self.class_prior_[code]) + gaussian
            joint[:, code] += terms[code].sum(axis=1)
        far = np.isneginf(joint).all(axis=1)
        if far.any():
            joint[far] = self._nearest(X[far], terms[:, far])
        return joint

    def _nearest(self, X: Floats, terms: Floats) -> Floats:
        """Return the joint log-probability of rows whose squares are beyond all numbers.

        Parameters
        ----------
        X : array of shape (n, n_features)
        terms : array of shape (n_classes, n, n_features)
            What the categorical columns add.

        Returns
        -------
        array of shape (n, n_classes)
            -inf but for the nearest class.
        """
        numeric = ~self.is_category_
        mean, variance = self.theta_[:, None, numeric], self.var_[:, None, numeric]
        with np.errstate(divide="ignore"):
            # halves, so that no difference overflows
            logs = np.log2(abs(X[:, numeric] / 2 - mean / 2)) - np.log2(variance) / 2
        squares = np.exp2(2 * (logs - logs.max(axis=(0, 2))[:, None])).sum(axis=2)
        at_mean = np.log(self.class_prior_) - 0.5 * log_of_normaliser(variance).sum(axis=(1, 2))
        joint = at_mean[:, None] + terms.sum(axis=2)
        return np.where(squares == squares.min(axis=0), joint, -np.inf).T

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        joint = self.predict_joint_log_proba(X)
        return self.classes_[joint.argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> Floats:
        """Predict the log-probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        joint = self.predict_joint_log_proba(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))
