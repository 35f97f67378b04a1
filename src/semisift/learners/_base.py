"""SemiSupervisedClassifier: what classifiers that learn from all rows share."""

from typing import Any, ClassVar, Literal

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from semisift._clean import refuse_lost_on_conversion
from semisift._design import parse_design
from semisift._named import validate_again
from semisift._problem import Problem
from semisift._semi_supervised import SemiSupervisedMixin
from semisift._sklearn import num_samples, safe_indexing
from semisift.learners.labelled_only import labelled_part


class SemiSupervisedClassifier(ClassifierMixin, SemiSupervisedMixin, BaseEstimator):
    """Base class of the classifiers that learn from labelled and unlabelled rows together.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.
    n_features_in_ : int
        Number of columns seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X has string column names.
    """

    labels_needed: ClassVar[Literal["two_classes"]] = "two_classes"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; rows with -1, None or NaN are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        accuracy : float
        """
        X, rows, truth = labelled_part(X, y, "score needs labelled rows")
        weights = parse_design(num_samples(X), sample_weight=sample_weight).weights
        sample_weight = None if weights is None else weights[rows]
        return float(super().score(safe_indexing(X, rows), truth, sample_weight))

    def _clean(self, X: Any) -> Any:
        """Return rows to predict in the form of ``problem.X``."""
        check_is_fitted(self)
        refuse_lost_on_conversion(X)
        X = validate_again(
            self, X, accept_sparse=["csc", "csr"], dtype=None, ensure_all_finite=False
        )
        names = getattr(self, "feature_names_in_", None)
        return Problem.build(X, feature_names=names, takes_gaps=self.takes_gaps).X
