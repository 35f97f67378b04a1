"""TransductiveClassifier: soft labels from few labels and the shape of all rows."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from semisift.semi_supervised._base import SemiSupervisedClassifier
from semisift.transduction._components import find_axes
from semisift.transduction._novelty import warn_of_novel_rows
from semisift.transduction._positive_unlabelled import find_rest, given_share
from semisift.transduction._soft_labels import (
    drawn_to_equal,
    find_machines,
    label_components,
    log_filled,
    shares_by,
)
from semisift.utils._labels import known_prior
from semisift.utils._sklearn_compat import fit_context
from semisift.utils._typing import Floats


class TransductiveClassifier(SemiSupervisedClassifier):
    """Label rows by where they lie in the shape of all rows.

    Columns are standardised, or counts taken as the logarithm of their share in the row. In the
    first 3 to 30 principal components of all rows each class is a normal distribution, with one
    covariance for all: rows without a label take part with the shares that they have, until these
    settle. A ridge machine in 50 components is asked besides. Each member counts by how likely it
    finds the labels of labelled rows that were left out.

    This does well where the rows fall into the classes. Where they fall into other groups, as of
    batches, and the labels are too few to say which, it may follow those: `stability_` and
    `recovered_` tell.

    Parameters
    ----------
    class_prior : array-like of shape (n_classes,) or dict, default=None
        The shares of the classes among all rows, in the order of ``classes_`` or by label. None
        estimates them from the rows, halfway to equal shares.
    {random_state (draws)}

    Attributes
    ----------
    {classes_}
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        How likely each class is for each row of the fit; a labelled row has its label.
    transduction_ : ndarray of shape (n_samples,)
        The most likely label of each row of the fit.
    stability_ : float
        How far the labels of unlabelled rows stay the same when a fifth of the labels is left out:
        1 if they do, 0 if they are as alike as by chance; .5 with one label a class.
    novel_rows_ : ndarray
        Rows that fit none of the classes, where they are many (see docs/studies.md); of more than
        2,000 unlabelled rows those among some of them.
    label_trust_ : float
        How far left-out labels support the confidence, from 0 to 1: what is told of unlabelled rows
        is drawn to equal shares by the rest. 1 where no label can be left out.
    recovered_ : tuple of int
        How many labelled rows that were left out are found again, and how many were left out.
    positive_share_ : float
        The share of the labelled class among the unlabelled rows, where no other is labelled: as
        given by `class_prior`, or estimated.
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    D. J. Miller, H. S. Uyar (1997). A mixture of experts classifier with learning based on both
    labelled and unlabelled data. NIPS 9.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import TransductiveClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> model = TransductiveClassifier().fit(X, few_labels)
    >>> round(model.score(X, y), 2)
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "class_prior": [None, "array-like", dict],
        "random_state": ["random_state"],
    }

    allow_nan = True
    supports_positive_unlabelled = True

    class_prior: Any = None
    random_state: int | np.random.RandomState | None = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Label all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,)
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, as those of a donor: their labels are left out together.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        data = self._build_data(X, y, groups=groups, sample_weight=sample_weight)
        self._check_labels(data)
        self.__dict__.pop("positive_share_", None)
        if data.labels.n_classes == 1:
            share = given_share(self.class_prior, data.labels)
            data, self.positive_share_ = find_rest(data, share)
        labels = data.labels
        prior = known_prior(self.class_prior, labels)
        # by the same way as rows that are yet to come, so that equal rows have equal shares
        self._axes = find_axes(data)
        T = self._axes.place(data.X)
        found = label_components(T, labels, data.design, prior)
        self._depth = found.depth
        T = self._without_depth(T, data.X)
        self.classes_ = labels.classes
        self.label_distributions_ = found.distributions(labels.codes)
        self.transduction_ = labels.classes[found.codes]
        self.stability_ = found.stability
        self.label_trust_ = found.trust
        self.recovered_ = found.n_recovered, found.n_left_out
        self._weights = found.weights
        self.novel_rows_ = warn_of_novel_rows(data, T)
        self._machines = find_machines(T, labels, data.design, prior)
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
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Return how likely each class is, for labelled rows of the fit as for others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        X = self._clean(X)
        T = self._without_depth(self._axes.place(X), X)
        shares = shares_by(T, self._machines, self._weights)
        return drawn_to_equal(shares, self.label_trust_)

    def _without_depth(self, T: Floats, X: Any) -> Floats:
        return T if self._depth is None else self._depth.without(T, log_filled(X))
