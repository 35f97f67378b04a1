"""Naive Bayes tried for all columns at once.

The log-likelihood of a model is a sum over its columns, so the terms of the picks are formed once
and one more is added for each further column. What couples the columns is epsilon, which is added
to all variances: a share of the largest variance in the model. For columns that raise it the terms
of the picks are formed again. Every number has the bits of the estimator's own.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from semisift.utils._columns import blocks
from semisift.utils._naive_bayes import (
    NaiveBayes,
    add_in_order,
    category_log_probability,
    code_categories,
    log_of_normaliser,
    mean_and_variance,
)
from semisift.utils._typing import Bools, Floats, Ints
from semisift.wrapper._candidate_scorers import BatchScorer, Tried
from semisift.wrapper._trials import Trials, log_probability

# Moments of all columns are kept from pick to pick up to so many numbers, 128 MB.
MAX_KEPT = 1 << 24


class Moments(NamedTuple):
    """Means and variances over the training rows of each split.

    Attributes
    ----------
    mean, variance : arrays of shape (n_splits, n_classes, n_columns)
        Of each class; 0 and 1 for a class without rows.
    total : array of shape (n_splits, n_columns)
        Variance of all training rows.
    """

    mean: Floats
    variance: Floats
    total: Floats

    def take(self, columns: Any) -> "Moments":
        """Return the moments of some columns."""
        return Moments(*(part[..., columns] for part in self))


class Known(NamedTuple):
    """What the picks of each sample contribute.

    Attributes
    ----------
    is_numeric : bool array of shape (n_splits, n_picks)
    squares : array of shape (n_held_out, n_picks, n_classes)
        ``(x - mean)^2`` of the held-out rows; 0 where the pick is categorical.
    variance : array of shape (n_splits, n_picks, n_classes)
        1 where the pick is categorical.
    categories : array of shape (n_held_out, n_picks, n_classes)
        Log-probabilities of the held-out rows; 0 where the pick is numeric.
    largest : array of shape (n_splits, 1)
        The largest variance of a numeric pick.
    row_by_row : bool
        Whether moments are formed row by row, as numpy does for GaussianNB, but not of a single
        column.
    """

    is_numeric: Bools
    squares: Floats
    variance: Floats
    categories: Floats
    largest: Floats
    row_by_row: bool


class NaiveBayesScorer(BatchScorer):
    """Scores all columns at once by a naive Bayes model.

    Parameters
    ----------
    trials : Trials
    model : NaiveBayes
    """

    name = "naive Bayes"
    sure_at_once = False

    def __init__(self, trials: Trials, model: NaiveBayes) -> None:
        super().__init__(trials)
        self.model = model
        self.is_category = np.zeros(trials.n_features, dtype=bool)
        if model.categorical is not None:
            self.is_category = model.categorical
        codes = np.arange(trials.n_classes)[:, None]
        # for each split its training rows of each class, and all of them
        self.groups = [
            [*(s.train[own] for own in trials.codes[s.train] == codes), s.train]
            for s in trials.splits
        ]
        sizes = np.array([[len(rows) for rows in group] for group in self.groups])
        sizes = sizes.reshape(-1, trials.n_classes + 1)
        with np.errstate(divide="ignore"):
            self.log_prior = np.log(sizes[:, :-1] / sizes[:, -1:])
        self._kept: Moments | None = None

    def _blocks(self, known: Known, n_columns: int) -> Iterator[slice]:
        return blocks(n_columns, (self.trials.n_classes + 4) * len(self.trials.held_out))

    def _extend(self, known: Known, columns: Ints, sure: bool) -> Tried:
        truth = self.trials.truth
        right = np.empty((len(truth), len(columns)), dtype=bool)
        shares = np.empty(right.shape) if sure else None
        moments = self._moments_of(columns, known.row_by_row)
        is_category = self.is_category[columns]
        raises = ~is_category & (moments.total > known.largest).any(axis=0)  # epsilon
        for kind in (~is_category & ~raises, raises, is_category):
            alike = np.flatnonzero(kind)
            if not len(alike):
                continue
            likelihood = self._likelihood(columns[alike], moments.take(alike), known)
            right[:, alike] = np.argmax(likelihood, axis=0) == truth[:, None]
            if shares is None:
                continue
            own = np.empty_like(likelihood[0])
            for code, values in enumerate(likelihood):
                own[truth == code] = values[truth == code]
            shares[:, alike] = sum(np.exp(values - own) for values in likelihood)
        return right, None if shares is None else log_probability(1.0 / shares)

    def _likelihood(self, columns: Ints, moments: Moments, known: Known) -> list[Floats]:
        """Return for each class log P(c) + log P(x | c), of shape (n_held_out, n_columns).

        All columns are categorical, or all are numeric and raise epsilon, or none of these does.
        """
        trials, split = self.trials, self.trials.split_of_held_out
        values, codes = trials.take(columns), range(trials.n_classes)
        if self.is_category[columns[0]]:
            epsilon = self.model.var_smoothing * known.largest
            none = np.zeros(epsilon.shape)
            terms = self._category_terms(values)
            return [self._join(code, known, epsilon, none, 0.0, terms[:, code]) for code in codes]
        largest = known.largest
        if (moments.total > largest).any():
            largest = np.maximum(largest, moments.total)
        epsilon = self.model.var_smoothing * largest
        x = values[trials.held_out]
        likelihood = []
        for code in codes:
            variance = moments.variance[:, code] + epsilon
            squares = np.square(x - moments.mean[split, code])
            squares /= variance[split]
            normaliser = log_of_normaliser(variance)
            likelihood.append(self._join(code, known, epsilon, normaliser, squares, 0.0))
        return likelihood

    def _join(self, code: int, known: Known, epsilon: Floats, *further: Any) -> Floats:
        """Add the terms of the picks and of one further column, in scikit-learn's order.

        Of the further column, these are its normaliser, squares and categories (see `Known`).
        """
        normaliser, squares, categories = further
        split = self.trials.split_of_held_out
        normalisers, distances, terms = [], [], []
        for i, is_numeric in enumerate(known.is_numeric.T):
            variance = known.variance[:, i, code, None] + epsilon
            normalisers.append(np.where(is_numeric[:, None], log_of_normaliser(variance), 0.0))
            distances.append(known.squares[:, i, code, None] / variance[split])
            terms.append(known.categories[:, i, code, None])
        normaliser = -0.5 * add_in_order([*normalisers, normaliser])
        joint = normaliser[split] - 0.5 * add_in_order([*distances, squares])
        joint = self.log_prior[split, code, None] + joint
        if self.model.categorical is not None:
            joint = joint + add_in_order([*terms, categories])
        return joint

    def _begin(self, picks: Ints) -> Known:
        trials, split = self.trials, self.trials.split_of_held_out
        every, rows = np.arange(len(trials.splits))[:, None], np.arange(len(split))[:, None]
        row_by_row = self.model.categorical is None and picks.shape[1] > 0
        columns = np.unique(picks)
        values = trials.take(columns)
        moments = self._moments(values, row_by_row)
        is_category = self.is_category[columns]
        terms = np.zeros((len(split), trials.n_classes, len(columns)))
        terms[..., is_category] = self._category_terms(values[:, is_category])
        own = np.searchsorted(columns, picks[trials.sample_of_split])  # the picks of each split
        at_rows = own[split]
        is_numeric = ~is_category[own]
        x = values[trials.held_out[:, None], at_rows, None]
        squares = np.square(x - moments.mean[split[:, None], :, at_rows])
        total = np.where(is_numeric, moments.total[every, own], 0.0)
        return Known(
            is_numeric,
            np.where(is_numeric[split][..., None], squares, 0.0),
            np.where(is_numeric[..., None], moments.variance[every, :, own], 1.0),
            terms[rows, :, at_rows],
            total.max(axis=1, keepdims=True, initial=0.0),
            row_by_row,
        )

    def _moments_of(self, columns: Ints, row_by_row: bool) -> Moments:
        trials = self.trials
        is_first = self.model.categorical is None and not row_by_row  # not asked for again
        n_numbers = len(self.groups) * (2 * trials.n_classes + 1) * trials.n_features
        if is_first or n_numbers > MAX_KEPT:
            return self._moments(trials.take(columns), row_by_row)
        if self._kept is None:
            parts = [
                self._moments(trials.take(block), row_by_row)
                for block in blocks(trials.n_features, len(trials.codes))
            ]
            self._kept = Moments(
                *(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
            )
        return self._kept.take(columns)

    def _moments(self, values: Floats, row_by_row: bool) -> Moments:
        shape = len(self.groups), self.trials.n_classes, values.shape[1]
        moments = Moments(np.zeros(shape), np.ones(shape), np.empty((shape[0], shape[2])))
        for number, (*classes, every) in enumerate(self.groups):
            _, moments.total[number] = mean_and_variance(values[every], row_by_row)
            for code, rows in enumerate(classes):
                if len(rows):
                    own = mean_and_variance(values[rows], row_by_row)
                    moments.mean[number, code], moments.variance[number, code] = own
        return moments

    def _category_terms(self, values: Floats) -> Floats:
        """Return log-probabilities of shape (n_held_out, n_classes, n_columns)."""
        trials = self.trials
        split, n_classes = trials.split_of_held_out, trials.n_classes
        codes = code_categories(values)
        n_categories = int(codes.max(initial=0)) + 1
        counts = np.empty((len(self.groups), n_classes, n_categories, values.shape[1]))
        is_category = codes == np.arange(n_categories)[:, None, None]
        for number, (*classes, _) in enumerate(self.groups):
            for code, rows in enumerate(classes):
                counts[number, code] = is_category[:, rows].sum(axis=1)
        log_probability = category_log_probability(counts, self.model.alpha)
        column = np.arange(values.shape[1])
        at_rows = codes[trials.held_out][:, None, :]
        return log_probability[split[:, None, None], np.arange(n_classes)[:, None], at_rows, column]
