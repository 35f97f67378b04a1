"""Naive Bayes of columns side by side, with the bits of a model that is fitted on a few of them.

A row x is given to the class c with the largest

    log P(c) + sum over numeric columns j of log N(x_j; mean_cj, variance_cj + epsilon)
             + sum over categorical columns j of log P(x_j | c)

where epsilon is a small share of the largest variance among the model's numeric columns, as in
scikit-learn's GaussianNB, and P(x_j | c) has Laplace smoothing. Where two classes are equally
likely, the last bit decides; so sums are formed here in the order in which numpy forms them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.utils._typing import Bools, Floats, Ints

# numpy adds a contiguous axis in blocks of so many numbers, each by eight sums.
NUMPY_BLOCK = 128


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """The parameters of a model.

    Attributes
    ----------
    var_smoothing : float
        Share of the largest variance that is added to all variances.
    alpha : float
        Added to the count of each category in each class.
    categorical : bool array of shape (p,) or None
        Which columns are categorical; None says none, and that the model is a GaussianNB.
    """

    var_smoothing: float
    alpha: float = 1.0
    categorical: Bools | None = None


def add_in_order(terms: Sequence[Any]) -> Any:
    """Add arrays, element by element, in the order in which numpy adds a contiguous axis.

    Parameters
    ----------
    terms : sequence of arrays
        At least one; they need only broadcast, which makes adding one wide array to many narrow
        ones cheap.

    Returns
    -------
    array

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5, 21))
    >>> bool((add_in_order(list(X.T)) == X.sum(axis=1)).all())
    True
    """
    n = len(terms)
    if n > NUMPY_BLOCK:
        half = n // 2 - n // 2 % 8
        return add_in_order(terms[:half]) + add_in_order(terms[half:])
    in_eights = n - n % 8
    if not in_eights:
        return reduce(add, terms)
    sums = [reduce(add, terms[start:in_eights:8]) for start in range(8)]
    while len(sums) > 1:
        sums = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return reduce(add, [sums[0], *terms[in_eights:]])


def mean_and_variance(values: Floats, row_by_row: bool) -> tuple[Floats, Floats]:
    """Return the mean and the variance of each column.

    Parameters
    ----------
    values : C-ordered array of shape (n, p)
    row_by_row : bool
        Add the rows one after the other, as numpy does for an array of several columns, instead of
        each column by itself, as it does for a single one.

    Returns
    -------
    mean, variance : arrays of shape (p,)
    """
    n_columns = values.shape[1]
    if not row_by_row:
        values = np.asfortranarray(values)
    elif n_columns == 1:
        values = np.repeat(values, 2, axis=1)
    mean = values.mean(axis=0, keepdims=True)
    variance = values.var(axis=0, mean=mean)
    return mean[0, :n_columns], variance[:n_columns]


def log_of_normaliser(variance: Any) -> Any:
    """Return log(2 pi variance); minus half of it belongs to a Gaussian log-density."""
    return np.log(2.0 * np.pi * variance)


def category_log_probability(counts: NDArray[np.floating], alpha: float) -> Floats:
    """Return the log-probability of each category in each class.

    Parameters
    ----------
    counts : array of shape (..., n_classes, n_categories, p)
        Rows of each class that have a category. Categories that no row has do not count as such;
        they get the probability of a category that was counted 0 times.
    alpha : float

    Returns
    -------
    array of the shape of `counts`
    """
    n_categories = (counts.sum(axis=-3) > 0).sum(axis=-2)[..., None, None, :]
    of_class = counts.sum(axis=-2, keepdims=True)
    return np.log((counts + alpha) / (of_class + alpha * n_categories))


def code_categories(values: Floats) -> Ints:
    """Number the distinct values of each column from 0, in ascending order.

    Parameters
    ----------
    values : array of shape (n, p)

    Returns
    -------
    int array of shape (n, p)
    """
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    number = np.zeros(values.shape, dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], axis=0, out=number[1:])
    codes = np.empty_like(number)
    np.put_along_axis(codes, order, number, axis=0)
    return codes
