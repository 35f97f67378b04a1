"""Rankers whose fit takes more of the rows than groups and batches: weights, pairs, or both.

scikit-learn reads from the signature of `fit` what may be routed to it: each kind spells its own.
"""

from typing import Any, Self

from semisift._base import FeatureRanker
from semisift._sklearn import fit_context


class WeightedRanker(FeatureRanker):
    """Base class of the rankers in which rows may count for more or less than one."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        batch: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups, batch : array-like of shape (n_samples,), default=None
            Which rows belong together, and which were measured together: see `FeatureRanker.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        known = {"groups": groups, "batch": batch, "sample_weight": sample_weight}
        return self._fit(X, y, self._build_problem(X, y, **known))


class PairRanker(FeatureRanker):
    """Base class of the rankers that also learn from pairs of rows instead of labels."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        batch: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups, batch : array-like of shape (n_samples,), default=None
            Which rows belong together, and which were measured together: see `FeatureRanker.fit`.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of row numbers that belong, or do not belong, to the same class, besides those
            that follow from `y`. Not for cross-validation, which does not slice them.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        known = {"groups": groups, "batch": batch}
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        return self._fit(X, y, self._build_problem(X, y, **known, **pairs))


class WeightedPairRanker(PairRanker):
    """Base class of the rankers that take both pairs and weights."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        batch: Any = None,
        sample_weight: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups, batch : array-like of shape (n_samples,), default=None
            Which rows belong together, and which were measured together: see `FeatureRanker.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for; a pair counts the product of its two.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of row numbers that belong, or do not belong, to the same class: see
            `PairRanker.fit`.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        known = {"groups": groups, "batch": batch, "sample_weight": sample_weight}
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        return self._fit(X, y, self._build_problem(X, y, **known, **pairs))
