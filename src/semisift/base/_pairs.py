"""Classes and pairs of rows: sums of squared differences for all columns at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from semisift.base._training_data import TrainingData
from semisift.exceptions import FallbackWarning
from semisift.out_of_core._statistics import moments_by_class
from semisift.utils._columns import (
    blocks,
    column_moments,
    dense_columns,
    known_extremes,
    moments_of_counted,
    power_of_two,
    scaled_to_all,
)
from semisift.utils._labels import Pairs
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import warn

# Separates the draw of pairs from the other draws with the same seed.
POOL_STREAM = 0x7061


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """The labelled rows of each class, in a unit of each column's own.

    Attributes
    ----------
    counts : int or float array of shape (n_classes, 1), or (n_classes, p) where there are missing
    values
        Rows of each class that have the value, each counted by its weight.
    means : float array of shape (n_classes, p)
        0 of a class that has no value.
    within : float array of shape (n_classes, p)
        Sum of the squared differences from the mean of the class.
    between : float array of shape (p,)
        ``sum_c counts_c (mean_c - mean)^2``.
    """

    counts: Ints | Floats
    means: Floats
    within: Floats
    between: Floats

    @property
    def too_few(self) -> Bools:
        """Columns in which missing values leave one class or none, though there are more."""
        return np.asarray((self.counts > 0).sum(axis=0) < min(2, len(self.counts)))


def units(data: TrainingData) -> Floats:
    """Return a power of two near the standard deviation of each column over all rows.

    Scores that do not depend on the unit of a column are computed in this one: squares stay in
    range, and what is negligible is so against columns that vary as much.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    float array of shape (p,)
    """
    if data.has_missing:
        first, _ = known_extremes(data.X)
    else:
        first = data.X[[0]]
        first = first.toarray().ravel() if data.is_sparse else first[0]
    return power_of_two(np.where(data.constant, np.abs(first), data.spread))


def class_moments(data: TrainingData) -> ClassMoments:
    """Return means and sums of squares of the labelled rows of each class, in `units`.

    Dense and sparse X give the same bits: zeros are counted rather than added, and the other values
    are added one by one in row order. Rows with a missing value are left out of a column, and a row
    of weight 2 is two rows. Cost: O(n_labelled p).

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    ClassMoments
    """
    labels, unit = data.all_labels, units(data)
    counts: Ints | Floats = labels.counts[:, None]
    if data.has_missing or data.design.weights is not None:
        counts, means, within = _known_by_class(data, unit)
    elif data.full is not None and len(data.labels.labelled) < len(labels.labelled):
        means, within = moments_by_class(data.full.rows, labels, unit)
    else:
        means, within = np.empty((2, len(counts), data.n_features))
        X = data.X.tocsr() if data.is_sparse else data.X
        for code in range(len(counts)):
            rows = np.flatnonzero(data.labels.codes == code)
            means[code], within[code] = column_moments(X, unit, rows)
    total = counts.sum(axis=0)
    share = counts / np.where(total > 0, total, 1)
    distance = means - (share * means).sum(axis=0)
    return ClassMoments(counts, means, within, (counts * distance**2).sum(axis=0))


def _known_by_class(data: TrainingData, unit: Floats) -> tuple[Floats, Floats, Floats]:
    """Return `moments_of_counted` of each class; of complete columns, one total for all."""
    found = np.empty((3, data.labels.n_classes, data.n_features))
    X = data.X.tocsr() if data.is_sparse else data.X
    for code in range(data.labels.n_classes):
        rows = np.flatnonzero(data.labels.codes == code)
        found[:, code] = moments_of_counted(X, unit, rows, data.design.weights)
    totals = found[0] if data.has_missing else found[0, :, :1]
    return totals, found[1], found[2]


def pair_sums(data: TrainingData) -> tuple[Floats, Floats]:
    """Sum the squared differences over must-link and over cannot-link pairs, for all columns.

    Each unordered pair counts once. Pairs that follow from the labels are never listed: with W_c
    the sum of squares within class c and B the one between the classes::

        m = sum_c n_c W_c            c = sum_c (n_L - n_c) W_c + n_L B

    Pairs that were given are added one by one, unless the labels of both rows imply them. A pair
    counts the product of the weights of its rows. Where there are missing values, the sums of a
    column are over the pairs in which both rows have the value, and scaled to all pairs: those of
    each class, of each two classes, and the given ones by themselves.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    m, c : float arrays of shape (p,)
        Infinite where they leave the range of floats; NaN where there are pairs, and none of them
        has both values.
    """
    must, cannot = pair_sums_in_units(data)
    unit = units(data)
    with np.errstate(over="ignore"):  # one by one: a square that overflows makes NaN of 0
        return must * unit * unit, cannot * unit * unit


def pair_sums_in_units(data: TrainingData) -> tuple[Floats, Floats]:
    """Return `pair_sums` in the unit of each column, for scores that do not depend on it.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    m, c : float arrays of shape (p,)
    """
    if data.has_missing:
        return _known_pair_sums(data)
    moments = class_moments(data)
    n_each = moments.counts
    n_labelled = moments.counts.sum(axis=0)
    must = (n_each * moments.within).sum(axis=0)
    cannot = ((n_labelled - n_each) * moments.within).sum(axis=0) + n_labelled * moments.between
    if data.given_pairs is not None:
        unit = units(data)
        extra = unlabelled_pairs(data)
        must = must + _summed_over_pairs(data, extra.must_link, unit)
        cannot = cannot + _summed_over_pairs(data, extra.cannot_link, unit)
    return must, cannot


def _known_pair_sums(data: TrainingData) -> tuple[Floats, Floats]:
    """Return `pair_sums_in_units` of columns with missing values.

    Each class, each two classes and the given pairs are scaled by themselves, so that it does not
    matter in which of them the missing values are; what is left without a pair is taken as the
    others are.
    """
    moments, weights = class_moments(data), data.design.weights
    weights = np.ones(data.n_rows) if weights is None else weights
    member = (data.labels.codes == np.arange(data.labels.n_classes)[:, None]) * weights
    every, counts = member.sum(axis=1, keepdims=True), moments.counts
    extra = unlabelled_pairs(data)
    given_must = _given_known(data, extra.must_link, weights)
    given_cannot = _given_known(data, extra.cannot_link, weights)

    # pairs are of different rows
    n_pairs = (every**2 - (member**2).sum(axis=1, keepdims=True)) / 2
    n_known = (counts**2 - _summed_over_known(data, member**2)) / 2
    of_classes = counts * moments.within, n_known, n_pairs
    must_link = _put_together(of_classes, given_must, n_pairs.sum())

    # as if each class that has a value had all of them
    present = np.where(counts > 0, every, 0.0)
    total = present.sum(axis=0)
    variance = moments.within / np.where(counts > 0, counts, 1.0)
    mean = (present * moments.means).sum(axis=0) / np.where(total > 0, total, 1.0)
    between = (present * (moments.means - mean) ** 2).sum(axis=0)
    sums = ((total - present) * present * variance).sum(axis=0) + total * between
    n_covered = (total**2 - (present**2).sum(axis=0)) / 2
    of_classes = sums[None], n_covered[None], n_covered[None]
    n_all = (every.sum() ** 2 - (every**2).sum()) / 2
    return must_link, _put_together(of_classes, given_cannot, n_all)


# Sums over the known pairs of each part, the weights of these pairs, and those of all of its pairs.
KnownSums = tuple[Floats, Floats, Floats]


def _put_together(of_classes: KnownSums, given: KnownSums, n_of_classes: float) -> Floats:
    """Scale each part to all of its pairs, and what that covers to all pairs that there are."""
    total, covered = np.zeros((2, given[0].shape[1]))
    for sums, known, every in (of_classes, given):
        share = np.divide(every, known, out=np.zeros_like(known), where=known > 0)
        total += (sums * share).sum(axis=0)
        covered += np.where(known > 0, every, 0.0).sum(axis=0)
    return scaled_to_all(total, covered, n_of_classes + float(given[2].sum()))


def _given_known(data: TrainingData, pairs: Ints, weights: Floats) -> KnownSums:
    pair_weights, known = weights[pairs].prod(axis=1), np.zeros((1, data.n_features))
    for columns in blocks(data.n_features, max(1, len(pairs))):
        apart = data.X[pairs[:, 0], columns] - data.X[pairs[:, 1], columns]
        known[:, columns] = pair_weights @ ~np.isnan(apart)
    sums = _summed_over_pairs(data, pairs, units(data))
    return sums[None], known, np.array([[pair_weights.sum()]])


def _summed_over_known(data: TrainingData, weights: Floats) -> Floats:
    """Return the weights, of shape (k, n), of the rows that have a value: of shape (k, p)."""
    sums = np.empty((len(weights), data.n_features))
    for columns in blocks(data.n_features, data.n_rows):
        sums[:, columns] = weights @ ~np.isnan(data.X[:, columns])
    return sums


def unlabelled_pairs(data: TrainingData) -> Pairs:
    """Return the given pairs that do not follow from the labels; none where none were given.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    Pairs
    """
    given = data.given_pairs
    if given is None:
        return Pairs(*np.empty((2, 0, 2), dtype=np.int32))
    is_labelled = data.labels.codes >= 0
    return Pairs(
        *(pairs[~is_labelled[pairs].all(axis=1)] for pairs in (given.must_link, given.cannot_link))
    )


def count_pairs(data: TrainingData) -> tuple[int, int]:
    """Count the must-link and the cannot-link pairs without listing those of the labels.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    n_must_link, n_cannot_link : int
    """
    counts = data.all_labels.counts
    must = int((counts * (counts - 1)).sum()) // 2
    cannot = int(counts.sum()) * (int(counts.sum()) - 1) // 2 - must
    extra = unlabelled_pairs(data)
    return must + len(extra.must_link), cannot + len(extra.cannot_link)


def check_kinds(data: TrainingData, name: str) -> tuple[bool, bool]:
    """Tell which kinds of pairs there are, and warn where one of them is missing.

    Parameters
    ----------
    data : TrainingData
    name : str
        Of the method.

    Returns
    -------
    has_must_link, has_cannot_link : bool
    """
    n_must, n_cannot = count_pairs(data)
    if not n_must:
        warn(
            f"{name} has no must-link pair: it ranks by the differences of cannot-link pairs "
            "alone, which depend on the unit of a column. Label a second row of a class, give a "
            "must-link pair, or scale the columns.",
            FallbackWarning,
        )
    elif not n_cannot:
        warn(
            f"{name} has no cannot-link pair: it compares the differences of must-link pairs with "
            "the variance over all rows instead. Give a cannot-link pair, or label rows of a "
            "second class.",
            FallbackWarning,
        )
    return n_must > 0, n_cannot > 0


def squared_differences(
    training: TrainingData, pairs: Ints, unit: Floats
) -> Iterator[tuple[slice, Floats]]:
    """Yield for blocks of columns the squared differences of pairs of rows, in a unit.

    Parameters
    ----------
    data : TrainingData
    pairs : int array of shape (k, 2)
    unit : float array of shape (p,)

    Yields
    ------
    columns : slice
    squares : C-ordered float array of shape (k, number of columns)
    """
    X = training.X
    if training.is_sparse:
        k = np.arange(len(pairs))
        ends = (np.repeat(k, 2), pairs.ravel())
        signs = np.tile([1.0, -1.0], len(pairs))
        incidence = csr_array((signs, ends), shape=(len(pairs), training.n_rows))
        data = X.data / np.repeat(unit, np.diff(X.indptr))
        X = (incidence @ csc_array((data, X.indices, X.indptr), shape=X.shape)).tocsc()
    for columns in blocks(training.n_features, len(pairs)):
        if training.is_sparse:
            differences = dense_columns(X, columns)
        else:
            part = dense_columns(X, columns) / unit[columns]
            differences = part[pairs[:, 0]] - part[pairs[:, 1]]
        yield columns, np.square(differences, out=differences)


def _summed_over_pairs(data: TrainingData, pairs: Ints, unit: Floats) -> Floats:
    sums = np.zeros(data.n_features)
    weights = data.design.weights
    if len(pairs):
        for columns, squares in squared_differences(data, pairs, unit):
            if data.has_missing:
                np.nan_to_num(squares, copy=False)
            if weights is not None:
                squares *= weights[pairs].prod(axis=1)[:, None]
            sums[columns] = np.cumsum(squares, axis=0)[-1]
    return sums


# --- when there are too many pairs to list --------------------------------------------------------


def some_pairs(data: TrainingData, most: int) -> Pairs:
    """List the pairs, or a random part of those that follow from the labels where they are many.

    Parameters
    ----------
    data : TrainingData
    most : int
        Of either kind, so many pairs of labelled rows are drawn where there are more; given pairs
        are never left out.

    Returns
    -------
    Pairs
    """
    labels = data.labels
    order = np.argsort(labels.codes[labels.labelled], kind="stable")
    rows = labels.labelled[order]
    ends = np.cumsum(labels.counts)
    start, end = np.repeat(ends - labels.counts, labels.counts), np.repeat(ends, labels.counts)
    place = np.arange(len(rows))
    rng = np.random.default_rng([data.seed, POOL_STREAM])
    extra = unlabelled_pairs(data)
    kinds = []
    # each row is paired with those before it in its class, and with all rows of later classes
    for first_partner, n_partners, given in (
        (start, place - start, extra.must_link),
        (end, len(rows) - end, extra.cannot_link),
    ):
        passed = np.cumsum(n_partners)
        total = int(passed[-1]) if len(passed) else 0
        number = np.arange(total) if total <= most else rng.choice(total, most, replace=False)
        one = np.searchsorted(passed, number, side="right")
        other = first_partner[one] + number - (passed - n_partners)[one]
        pairs = np.sort(np.column_stack([rows[one], rows[other]]), axis=1)
        kinds.append(np.unique(np.concatenate([pairs, given]), axis=0))
    return Pairs(*kinds)
