"""CoTrainedClassifier: what every co-training classifier does around its loop.

A classifier implements two methods: ``_co_train(problem)`` labels rows and keeps what it learnt,
``_judgements(X, when)`` returns the votes for each class. The base validates, reads the labels, and
tells what was labelled when.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, get_tags

from semisift._committee.estimators import takes_gaps
from semisift._labels import UNLABELLED
from semisift._problem import Problem
from semisift._sklearn import JOBS, HasMethods, fit_context, safe_indexing
from semisift.learners._base import SemiSupervisedClassifier
from semisift.learners.labelled_only import labelled_part
from semisift.math.diversity import entropy_diversity

Array = NDArray[np.float64]
Ints = NDArray[np.integer]
Int32s = NDArray[np.int32]
Mask = NDArray[np.bool_]

Stop = Literal["max_iter", "no_change", "all_labeled"]
When = Literal["begin", "end"]


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
        The entropy measure of `semisift.math.diversity.entropy_diversity`: 0 if on each row all
        members are right or all are wrong.
    """

    accuracy: float
    member_accuracy: float
    diversity: float


class Diagnosis(NamedTuple):
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
        return self._fit(X, y, self._build_problem(X, y))

    def _fit(self, X: Any, y: Any, problem: Problem) -> Self:
        self._check_labels(problem)
        with self._watched(X, y, self._n_tasks(problem)):
            self.classes_ = problem.labels.classes
            labelling = self._co_train(problem)
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

    def predict_proba(self, X: Any) -> Array:
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

    def diagnose(self, X: Any, y: Any) -> Diagnosis:
        """Judge the committee on a test set, as it began and as it ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The true classes; rows with -1, None or NaN are left out.

        Returns
        -------
        diagnosis : Diagnosis
            For the classifiers before any row was added (``begin``) and after the last one
            (``end``): the ``accuracy`` of their vote, their mean ``member_accuracy`` and their
            entropy ``diversity``.
        """
        X, rows, truth = labelled_part(X, y)
        if not len(rows):
            raise ValueError("y must have a labelled row to diagnose: all are -1, None or NaN.")
        clean = self._clean(safe_indexing(X, rows))
        return Diagnosis(self._quality(clean, truth, "begin"), self._quality(clean, truth, "end"))

    def _quality(self, X: Any, truth: NDArray[Any], when: When) -> Quality:
        votes, choices = self._judgements(X, when)
        is_right = self.classes_[choices] == truth
        vote = self.classes_[votes.argmax(axis=1)]
        return Quality(
            float((vote == truth).mean()), float(is_right.mean()), entropy_diversity(is_right)
        )

    @abstractmethod
    def _judgements(self, X: Any, when: When) -> tuple[NDArray[np.floating], Ints]:
        """Return the votes, (n_rows, n_classes), and the members' choices, (n_members, n_rows).

        X is as in ``problem.X``.
        """

    @abstractmethod
    def _co_train(self, problem: Problem) -> Labelling:
        """Label rows and keep what `_judgements` needs; all randomness from ``problem.seed``.

        ``problem.X`` is a Fortran-ordered float array or a csc_array, ``problem.labels`` has at
        least two classes. ``self.classes_`` is set.
        """

    def _vote(self, X: Any) -> NDArray[np.floating]:
        """Return the votes for each class, (n_rows, n_classes), none of them negative."""
        return self._judgements(X, "end")[0]

    def _n_tasks(self, problem: Problem) -> int | None:
        """Return how many items `_co_train` will pass through `_progress`; None if unknown."""
        return None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
            tags.input_tags.allow_nan = self.takes_gaps and takes_gaps(self.estimator)
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
    known = codes != UNLABELLED
    if known.all():
        return np.asarray(classes[codes])
    if classes.dtype.kind in "if":
        labels = np.full(len(codes), UNLABELLED, dtype=classes.dtype)
    else:
        labels = np.full(len(codes), None, dtype=object)
    labels[known] = classes[codes[known]]
    return labels
