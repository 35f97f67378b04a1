"""Naive Bayes judged for all columns at once.

The log-likelihood of a model is a sum over its columns, so the terms of the picks are formed once
and one more is added for each further column. What couples the columns is epsilon, which is added
to all variances: a share of the largest variance in the model. For columns that raise it the terms
of the picks are formed again. Every number has the bits of the estimator's own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.math.blocks import blocks
from semisift.math.naive_bayes import (
    NaiveBayes,
    add_in_order,
    category_log_probability,
    code_categories,
    log_of_normaliser,
    mean_and_variance,
)
from semisift.wrappers._judges import Columns, Judge
from semisift.wrappers._trials import Trials, Verdict, log_probability

# Moments of all columns are kept from pick to pick up to so many numbers, 128 MB.
MOST_KEPT = 1 << 24


class Moments(NamedTuple):
    """Means and variances over the training rows of each split.

    Attributes
    ----------
    mean, variance : arrays of shape (n_splits, n_classes, n_columns)
        Of each class; 0 and 1 for a class without rows.
    total : array of shape (n_splits, n_columns)
        Variance of all training rows.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    total: NDArray[np.float64]

    def take(self, columns: Any) -> "Moments":
        """Return the moments of some columns."""
        return Moments(*(part[..., columns] for part in self))


class Pick(NamedTuple):
    """What one pick of each sample contributes.

    Attributes
    ----------
    is_numeric : bool array of shape (n_splits, 1)
    squares : array of shape (n_held_out, n_classes)
        ``(x - mean)^2`` of the held-out rows; 0 where the pick is categorical.
    variance : array of shape (n_splits, n_classes)
        1 where the pick is categorical.
    categories : array of shape (n_held_out, n_classes)
        Log-probabilities of the held-out rows; 0 where the pick is numeric.
    """

    is_numeric: NDArray[np.bool_]
    squares: NDArray[np.float64]
    variance: NDArray[np.float64]
    categories: NDArray[np.float64]


class NaiveBayesJudge(Judge):
    """Judges all columns at once by a naive Bayes model.

    Parameters
    ----------
    trials : Trials
    model : NaiveBayes
    """

    sure_at_once = False

    def __init__(self, trials: Trials, model: NaiveBayes) -> None:
        super().__init__(trials)
        self.model = model
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

    def judge(self, picks: Columns, columns: Columns, sure: bool) -> Verdict:
        """Judge each of `columns` as the next one after the picks."""
        trials = self.trials
        accuracy, confidence = np.zeros((2, len(trials.samples), len(columns)))
        # as numpy adds for GaussianNB: row after row, but a single column by itself
        row_by_row = self.model.categorical is None and picks.shape[1] > 0
        width = (trials.n_classes + 4) * max(1, len(trials.held_out))
        with np.errstate(all="ignore"):  # variances of 0 give NaN, there as here
            picked, largest = self._picked(picks, row_by_row)
            for block in blocks(len(columns), width):
                own = columns[block]
                moments = self._moments_of(own, row_by_row)
                for alike in self._kinds(own, moments, largest):
                    likelihood = self._likelihood(own[alike], moments.take(alike), picked, largest)
                    verdict = self._sum_up(likelihood, sure)
                    accuracy[:, block.start + alike] = verdict.accuracy
                    if verdict.confidence is not None:
                        confidence[:, block.start + alike] = verdict.confidence
        return Verdict(accuracy, confidence if sure else None)

    def _kinds(
        self, columns: Columns, moments: Moments, largest: NDArray[np.float64]
    ) -> list[NDArray[np.intp]]:
        """Return the places of columns that are numeric, that raise epsilon, or categorical."""
        is_numeric = np.ones(len(columns), dtype=bool)
        if self.model.categorical is not None:
            is_numeric = ~self.model.categorical[columns]
        raises = is_numeric & (moments.total > largest).any(axis=0)
        kinds = [is_numeric & ~raises, raises, ~is_numeric]
        return [np.flatnonzero(kind) for kind in kinds if kind.any()]

    def _likelihood(
        self,
        columns: Columns,
        moments: Moments,
        picked: list[Pick],
        largest: NDArray[np.float64],
    ) -> list[NDArray[np.float64]]:
        """Return for each class log P(c) + log P(x | c), of shape (n_held_out, n_columns).

        All columns are of one of the `_kinds`.
        """
        values = self.trials.take(columns)
        if self.model.categorical is not None and self.model.categorical[columns[0]]:
            return self._with_categorical(values, picked, largest)
        if (moments.total > largest).any():
            largest = np.maximum(largest, moments.total)
        return self._with_numeric(values, moments, picked, largest)

    def _with_numeric(
        self,
        values: NDArray[np.float64],
        moments: Moments,
        picked: list[Pick],
        largest: NDArray[np.float64],
    ) -> list[NDArray[np.float64]]:
        """Return log P(c) + log P(x | c) with one of some numeric columns, for each class."""
        split = self.trials.split_of_held_out
        x = values[self.trials.held_out]
        epsilon = self.model.var_smoothing * largest
        likelihood = []
        for code in range(self.trials.n_classes):
            variance = moments.variance[:, code] + epsilon
            squares = np.square(x - moments.mean[split, code])
            squares /= variance[split]
            likelihood.append(
                self._join(code, picked, epsilon, log_of_normaliser(variance), squares, 0.0)
            )
        return likelihood

    def _with_categorical(
        self, values: NDArray[np.float64], picked: list[Pick], largest: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        """Return log P(c) + log P(x | c) with one of some categorical columns, for each class."""
        epsilon = self.model.var_smoothing * largest
        none = np.zeros((len(largest), 1))
        terms = self._category_terms(values)
        return [
            self._join(code, picked, epsilon, none, 0.0, terms[:, code])
            for code in range(self.trials.n_classes)
        ]

    def _join(
        self,
        code: int,
        picked: list[Pick],
        epsilon: NDArray[np.float64],
        normaliser: NDArray[np.float64],
        squares: Any,
        categories: Any,
    ) -> NDArray[np.float64]:
        """Add the terms of the picks and of one further column, in scikit-learn's order."""
        split = self.trials.split_of_held_out
        variances = [pick.variance[:, code, None] + epsilon for pick in picked]
        normalisers = [log_of_normaliser(variance) for variance in variances]
        if self.model.categorical is not None:
            normalisers = [
                np.where(pick.is_numeric, term, 0.0)
                for pick, term in zip(picked, normalisers, strict=True)
            ]
        distances = [
            pick.squares[:, code, None] / variance[split]
            for pick, variance in zip(picked, variances, strict=True)
        ]
        normaliser = -0.5 * add_in_order([*normalisers, normaliser])
        joint = normaliser[split] - 0.5 * add_in_order([*distances, squares])
        joint = self.log_prior[split, code, None] + joint
        if self.model.categorical is not None:
            terms = [pick.categories[:, code, None] for pick in picked]
            joint = joint + add_in_order([*terms, categories])
        return joint

    def _sum_up(self, likelihood: list[NDArray[np.float64]], sure: bool) -> Verdict:
        truth = self.trials.truth
        right = most_likely(likelihood) == truth[:, None]
        if not sure:
            return self.trials.tally(right, None)
        own = np.empty_like(likelihood[0])
        for code, values in enumerate(likelihood):
            own[truth == code] = values[truth == code]
        shares = np.zeros_like(own)
        for values in likelihood:
            shares += np.exp(values - own)
        return self.trials.tally(right, log_probability(1.0 / shares))

    def _picked(self, picks: Columns, row_by_row: bool) -> tuple[list[Pick], NDArray[np.float64]]:
        """Return what the picks contribute, and the largest of their variances in each split."""
        trials, model = self.trials, self.model
        split, sample = trials.split_of_held_out, trials.sample_of_split
        every = np.arange(len(trials.splits))
        columns = np.unique(picks)
        values = trials.take(columns)
        moments = self._moments(values, row_by_row)
        categorical = np.zeros(len(columns), dtype=bool)
        terms = np.zeros((len(split), trials.n_classes, len(columns)))
        if model.categorical is not None:
            categorical = model.categorical[columns]
            terms[..., categorical] = self._category_terms(values[:, categorical])
        picked, largest = [], np.zeros((len(every), 1))
        for position in range(picks.shape[1]):
            own = np.searchsorted(columns, picks[sample, position])  # the pick of each split
            at_rows = own[split]
            is_numeric = ~categorical[own, None]
            squares = np.square(
                values[trials.held_out, at_rows, None] - moments.mean[split, :, at_rows]
            )
            picked.append(
                Pick(
                    is_numeric,
                    np.where(is_numeric[split], squares, 0.0),
                    np.where(is_numeric, moments.variance[every, :, own], 1.0),
                    terms[np.arange(len(split)), :, at_rows],
                )
            )
            total = moments.total[every, own, None]
            largest = np.where(is_numeric, np.maximum(largest, total), largest)
        return picked, largest

    def _moments_of(self, columns: Columns, row_by_row: bool) -> Moments:
        trials = self.trials
        is_first = self.model.categorical is None and not row_by_row  # not asked for again
        n_numbers = len(self.groups) * (2 * trials.n_classes + 1) * trials.n_features
        if is_first or n_numbers > MOST_KEPT:
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

    def _moments(self, values: NDArray[np.float64], row_by_row: bool) -> Moments:
        shape = len(self.groups), self.trials.n_classes, values.shape[1]
        moments = Moments(np.zeros(shape), np.ones(shape), np.empty((shape[0], shape[2])))
        for number, (*classes, every) in enumerate(self.groups):
            _, moments.total[number] = mean_and_variance(values[every], row_by_row)
            for code, rows in enumerate(classes):
                if len(rows):
                    moments.mean[number, code], moments.variance[number, code] = mean_and_variance(
                        values[rows], row_by_row
                    )
        return moments

    def _category_terms(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
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


def most_likely(likelihood: list[NDArray[np.float64]]) -> NDArray[np.int64]:
    """Return the class with the largest value, as argmax does: NaN is larger, the first one wins.

    Parameters
    ----------
    likelihood : list of arrays
        One for each class.

    Returns
    -------
    int array
    """
    best = likelihood[0].copy()
    winner = np.zeros(best.shape, dtype=np.int64)
    for code, values in enumerate(likelihood[1:], start=1):
        # not <=, so that NaN wins over a number; but not over NaN
        better = ~(values <= best) & (best == best)
        np.copyto(best, values, where=better)
        winner[better] = code
    return winner
