"""SemiSupervisedClassifier: what classifiers that learn from all rows share.

CoTrainedClassifier: what every co-training classifier does around its loop.

A classifier implements two methods: ``_co_train(data)`` labels rows and keeps the members,
``_votes_and_choices(members, X)`` returns their votes for each class. The base validates, reads the
labels and keeps what was labelled when.
"""

from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from semisift.base._estimator import SemiSupervisedMixin
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.base._validation import check_conversion
from semisift.committee._estimators import allow_nan
from semisift.semi_supervised.labelled_only import labelled_part
from semisift.utils._agreement import entropy_diversity
from semisift.utils._labels import UNLABELLED
from semisift.utils._named_array import validate_again
from semisift.utils._sklearn_compat import JOBS, HasMethods, fit_context, num_samples, safe_indexing
from semisift.utils._typing import Floats, Ints


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
        """Return rows to predict in the form of ``data.X``."""
        check_is_fitted(self)
        check_conversion(X)
        X = validate_again(
            self, X, accept_sparse=["csc", "csr"], dtype=None, ensure_all_finite=False
        )
        names = getattr(self, "feature_names_in_", None)
        return TrainingData.build(X, feature_names=names, allow_nan=self.allow_nan).X


# --- base -----------------------------------------------------------------------------------------


Stop = Literal["max_iter", "no_change", "all_labeled"]


class Labelling(NamedTuple):
    """What a loop has labelled.

    Attributes
    ----------
    codes : int array of shape (n_rows,)
        The class of each row: its own, the one that it was given, or -1.
    iterations : int array of shape (n_rows,)
        The iteration in which a row was given its label: 0 for labelled rows, -1 for never.
    n_iter : int
        Iterations that were begun.
    stop : {"max_iter", "no_change", "all_labeled"}
        Why the loop ended.
    """

    codes: Ints
    iterations: Ints
    n_iter: int
    stop: Stop


class Quality(NamedTuple):
    """How good a committee is on a test set.

    Attributes
    ----------
    accuracy : float
        Of the vote.
    member_accuracy : float
        The mean of the members' own.
    diversity : float
        The entropy measure of `semisift.utils._agreement.entropy_diversity`: 0 if on each row all
        members are right or all are wrong.
    """

    accuracy: float
    member_accuracy: float
    diversity: float


class CommitteeReport(NamedTuple):
    """How good a committee was before any row was added, and how good it is now."""

    begin: Quality
    end: Quality


class CoTrainedClassifier(SemiSupervisedClassifier):
    """Base class of the classifiers that label rows in a loop.

    Attributes
    ----------
    {classes_}
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: its own, or the one that it was given; -1 where it was given none (None
        where the classes are no numbers).
    labeled_iter_ : ndarray of shape (n_samples,)
        The iteration in which a row was given its label: 0 for labelled rows, -1 for never.
    n_iter_ : int
        Iterations, the last of which may have found nothing to label.
    termination_condition_ : {"max_iter", "no_change", "all_labeled"}
        Why the loop ended.
    {n_features_in_}
    {feature_names_in_}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "n_jobs": JOBS,
        "random_state": ["random_state"],
    }

    estimator: Any = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    _first_members: Any = field(init=False)  # before any row was added
    _members: Any = field(init=False)

    # Parameters of a wrapped estimator are the user's and still have to be validated.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Label the rows that can be labelled, and learn from them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,)
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).

        Returns
        -------
        self : object
            The fitted classifier.
        """
        return self._fit(X, y, self._build_data(X, y))

    def _fit(self, X: Any, y: Any, data: TrainingData) -> Self:
        self._check_labels(data)
        with self._watched(X, y, self._n_tasks(data)):
            self.classes_ = data.labels.classes
            labelling = self._co_train(data)
            self.transduction_ = decode(labelling.codes, self.classes_)
            self.labeled_iter_ = np.asarray(labelling.iterations, dtype=np.int64)
            self.n_iter_ = labelling.n_iter
            self.termination_condition_ = labelling.stop
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row; of classes with equal votes the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        votes = self._vote(self._clean(X))
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of each class in the votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        votes = self._vote(self._clean(X))
        total = votes.sum(axis=1, keepdims=True)
        equal = np.full(votes.shape, 1 / votes.shape[1])
        return np.asarray(np.divide(votes, total, out=equal, where=total > 0))

    def evaluate_committee(self, X: Any, y: Any) -> CommitteeReport:
        """Judge the committee on a test set, as it began and as it ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The true classes; rows with -1, None or NaN are left out.

        Returns
        -------
        diagnosis : CommitteeReport
            For the classifiers before any row was added (``begin``) and after the last one
            (``end``): the ``accuracy`` of their vote, their mean ``member_accuracy`` and their
            entropy ``diversity``.
        """
        X, rows, truth = labelled_part(X, y)
        if not len(rows):
            raise ValueError(
                "y must have a labelled row to evaluate_committee: all are -1, None or NaN."
            )
        clean = self._clean(safe_indexing(X, rows))
        found = []
        for members in (self._first_members, self._members):
            votes, choices = self._votes_and_choices(members, clean)
            is_right = self.classes_[choices] == truth
            accuracy = float((self.classes_[votes.argmax(axis=1)] == truth).mean())
            found.append(Quality(accuracy, float(is_right.mean()), entropy_diversity(is_right)))
        return CommitteeReport(*found)

    @abstractmethod
    def _votes_and_choices(self, members: Any, X: Any) -> tuple[NDArray[np.floating], Ints]:
        """Return the votes, (n_rows, n_classes), and the members' choices, (n_members, n_rows).

        X is as in ``data.X``.
        """

    @abstractmethod
    def _co_train(self, data: TrainingData) -> Labelling:
        """Label rows and keep the members; all randomness from ``data.seed``.

        ``data.X`` is a Fortran-ordered float array or a csc_array, ``data.labels`` has at
        least two classes. ``self.classes_`` is set.
        """

    def _vote(self, X: Any) -> NDArray[np.floating]:
        """Return the votes for each class, (n_rows, n_classes), none of them negative."""
        return self._votes_and_choices(self._members, X)[0]

    def _n_tasks(self, data: TrainingData) -> int | None:
        """Return how many items `_co_train` will pass through `_progress`; None if unknown."""
        return None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
            tags.input_tags.allow_nan = self.allow_nan and allow_nan(self.estimator)
        return tags


def decode(codes: Ints, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of codes, and -1 (None among labels that are no numbers) where they are -1.

    Parameters
    ----------
    codes : int array of shape (n_rows,)
    classes : array of shape (n_classes,)

    Returns
    -------
    array of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> decode(np.array([1, -1, 0]), np.array([5, 7]))
    array([ 7, -1,  5])
    >>> decode(np.array([1, -1, 0]), np.array(["no", "yes"]))
    array(['yes', None, 'no'], dtype=object)
    """
    is_labelled = codes != UNLABELLED
    if is_labelled.all():
        return np.asarray(classes[codes])
    is_number = classes.dtype.kind in "if"
    fill, dtype = (UNLABELLED, classes.dtype) if is_number else (None, object)
    labels: NDArray[Any] = np.full(len(codes), fill, dtype=dtype)
    labels[is_labelled] = classes[codes[is_labelled]]
    return labels
