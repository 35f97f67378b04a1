"""What Semi-MIM and Semi-JMI share: two classes out of partly labelled rows.

K. Sechidis, G. Brown (2018). Where labels are missing at random, a test of independence between a
column and a surrogate that gives all unlabelled rows to one class is one between the column and the
class, and which of the two surrogates is the more powerful follows from the counts alone.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.exceptions import FallbackWarning
from semisift.utils._information import (
    DECIMALS,
    Countable,
    bin_columns,
    entropy,
    mutual_information,
)
from semisift.utils._labels import Labels
from semisift.utils._sklearn_compat import Interval, StrOptions
from semisift.utils._typing import Floats, Ints
from semisift.utils._validation import as_numbers
from semisift.utils._warnings import warn

# Priors that lie so close to the threshold are on it.
ON_IT = 1e-9

Surrogates = list[Ints]


def threshold(n_positive: float, n_negative: float, n_unlabelled: float) -> float:
    """Return the prior of the positive class from which unlabelled rows are called positive.

    Parameters
    ----------
    n_positive, n_negative, n_unlabelled : float
        Rows that are labelled so, and rows that are not labelled.

    Returns
    -------
    float
        ``a / (a + b)`` with ``a^2 = p (p + m)`` and ``b^2 = n (n + m)``.

    Examples
    --------
    >>> round(threshold(5, 1, 94), 7)
    0.6953688
    """
    a = math.sqrt(n_positive * (n_positive + n_unlabelled))
    b = math.sqrt(n_negative * (n_negative + n_unlabelled))
    return a / (a + b)


def surrogates(
    codes: Ints,
    positive: int,
    prior: float | None,
    *,
    both_on_threshold: bool,
    weights: Floats | None = None,
) -> Surrogates:
    """Return one or two surrogates of one class against the rest.

    Parameters
    ----------
    codes : int array of shape (n,)
        -1: unlabelled.
    positive : int
        The class that is not the rest.
    prior : float or None
        Its share; None takes that among the labelled rows. If all labelled rows are positive, that
        says nothing, and unlabelled rows are called negative.
    both_on_threshold : bool
        Return both surrogates where the prior is the threshold, which the names of the classes
        cannot change, instead of that which calls unlabelled rows positive.
    weights : float array of shape (n,), optional
        How many rows each row counts for.

    Returns
    -------
    list of int arrays of shape (n,)
        1 for the positive side and 0 for the other.
    """
    unlabelled, is_positive = codes < 0, codes == positive
    kinds = is_positive, unlabelled, ~is_positive & ~unlabelled
    n_positive, n_unlabelled, n_negative = (
        int(kind.sum()) if weights is None else float(weights @ kind) for kind in kinds
    )
    as_negative = is_positive.astype(np.int64)
    as_positive = (is_positive | unlabelled).astype(np.int64)
    if not n_unlabelled or (prior is None and not n_negative):
        return [as_negative]
    if prior is None:
        prior = n_positive / (n_positive + n_negative)
    limit = threshold(n_positive, n_negative, n_unlabelled)
    if both_on_threshold and abs(prior - limit) < ON_IT:
        return [as_negative, as_positive]
    return [as_negative] if prior < limit else [as_positive]


def mean_over(targets: Surrogates, measure: Callable[[Ints], Floats]) -> Floats:
    """Return the mean of a measure over the surrogates."""
    return np.mean([measure(target) for target in targets], axis=0)


class SurrogateRanker(FeatureRanker):
    """Base class of the rankers that give the unlabelled rows to one class.

    Subclasses implement ``_score_class(problem, relevance, binned, targets)``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "class_prior": [None, Interval(Real, 0, 1, closed="neither"), "array-like"],
        "variant": [StrOptions({"default", "paper"})],
    }

    allow_nan = True

    class_prior: Any = None
    variant: Literal["default", "paper"] = "default"

    def _score(self, data: TrainingData) -> Floats:
        labels, binned = self._bins(data)
        priors = parse_priors(self.class_prior, labels.n_classes)
        if len(np.unique(labels.codes)) < 2:
            warn(
                f"{type(self).__name__} has no label, or one class and no unlabelled row: it ranks "
                "by the entropy of the columns. Label rows of at least two classes.",
                FallbackWarning,
            )
            return np.round(entropy(binned), DECIMALS)
        scores, both = [], self.variant == "default"
        # each class against the rest, or the last of two classes
        for code in range(1 if labels.n_classes == 2 else 0, labels.n_classes):
            targets = surrogates(
                labels.codes,
                code,
                priors[code],
                both_on_threshold=both,
                weights=data.design.weights,
            )
            relevance = mean_over(targets, partial(mutual_information, binned))
            scores.append(self._score_class(data, np.round(relevance, DECIMALS), binned, targets))
        return np.mean(scores, axis=0)

    def _bins(self, data: TrainingData) -> tuple[Labels, Countable]:
        """Return the binned columns, and the labels of their rows."""
        weights = data.design.weights
        return data.labels, bin_columns(data.X, has_missing=data.has_missing, weights=weights)

    @abstractmethod
    def _score_class(
        self, data: TrainingData, relevance: Floats, binned: Any, targets: Surrogates
    ) -> Floats:
        """Score the columns by one or two surrogates of one class, given what they tell of it."""


def parse_priors(class_prior: Any, n_classes: int) -> list[float | None]:
    """Return the share of each class, None where it is to be taken from the labelled rows."""
    if class_prior is None:
        return [None] * n_classes
    given = as_numbers(class_prior)
    if given.ndim == 0 and n_classes <= 2:
        shares: list[float | None] = [1.0 - float(given), float(given)]
        return shares[2 - n_classes :]
    if given.shape != (n_classes,) or not ((given > 0) & (given < 1)).all():
        raise ValueError(
            f"class_prior must be one share for each of the {n_classes} classes, between 0 and 1, "
            f"or with two classes that of the last one: got {class_prior!r}."
        )
    if n_classes > 1 and abs(given.sum() - 1.0) > 1e-6:
        raise ValueError(
            f"class_prior must add up to 1 over the {n_classes} classes: got {class_prior!r}, "
            f"which add up to {given.sum():.6g}."
        )
    return [float(share) for share in given]
