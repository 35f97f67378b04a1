"""Soft labels: the shares of the classes for each row, and how far they can be trusted.

Seven members label the rows: Gaussian classes in the first 3, 5, 8, 12, 20 and 30 principal
components, and a ridge machine in 50. Labelled rows are left out by fifths and labelled by the
rest, which gives

- the weight of a member: proportional to the product of its shares for the true labels of the rows
  left out, to the power 1/4 (folds have most labels in common, so they say less than as many rows
  of their own);
- the stability: how far the labels of the unlabelled rows stay the same (Cohen's kappa, the mean
  over the fifths), which tells whether the labels and the shape of the data go together;
- the recovery: how many of the rows left out are found again;
- the trust: how far the shares are told as they are. With L the likelihood of the rows left out, by
  the mean of the members, over that of equal shares, it is (1 + log L) / 2, between 0 and 1. What
  is told is drawn to equal shares by the rest: where labels tell nothing the members are as sure
  as elsewhere. Scores are those of the shares as they are.

Of more than 2,000 unlabelled rows so many represent all where labels are left out. Rows of a group,
as of a donor, are left out together, and rows count as often as their weights say.

The members, their number and the power were chosen on half of the sets of benchmarks/labels.py and
shown on the other half.

Where the depth of the rows is known, as of cells, what goes with it within classes is taken out of
the components first. The depth of rows of counts is how much was measured in each, as molecules in
a cell: the logarithm of the number of values other than 0, which stays the same when rows are
brought to equal totals and logarithms are taken. Such rows still differ by it, as small counts are
more often 0 in shallow ones: where the labelled cells of one class happen to be the deeper ones,
genes would be ranked for that. It is known where a table holds cells (`normalize_counts`, the
command line's ``--normalize``, `semisift.tl`). Elsewhere it is left: how long a text is may tell of
what it is.

How much goes with it is found as in the analysis of covariance: rows are labelled once as they are,
and with p_ic the share of class c for row i and d_i its depth, the slope of component t is

    sum_ic p_ic (d_i - mean_c d) (t_i - mean_c t) / sum_ic p_ic (d_i - mean_c d)^2

So it makes no difference whether the classes differ in depth, or whether the labelled cells happen
to: what cells of a class have in common stays. There is one turn, not several, by our own choice:
labels that were found without depth make what differs between classes look like its effect.

F. W. Townes, S. C. Hicks, M. J. Aryee, R. A. Irizarry (2019). Feature selection and dimension
reduction for single-cell RNA-Seq based on a multinomial model. Genome Biology 20. G. Finak et al.
(2015). MAST: a flexible statistical framework for assessing transcriptional changes in single-cell
RNA sequencing data. Genome Biology 16, for the number of detected genes as a nuisance.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.base._sample_info import SampleInfo
from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.transduction._components import components, mean_row, weighted
from semisift.transduction._gaussian_ridge import (
    gaussian_classes,
    gaussian_machines,
    machine_shares,
    ridge,
    ridge_machine,
)
from semisift.utils._labels import Labels
from semisift.utils._typing import Floats, Ints

# Variances below this are those of rows of one depth, or of components that are rounding.
NEGLIGIBLE = 1e-10

DIMENSIONS = (3, 5, 8, 12, 20, 30)

N_FOLDS = 5

POWER = 1 / 4

# A share for a row left out is drawn so far towards equal shares: one bad miss is no proof.
DOUBT = 0.05

# A label is doubtful where the second class comes so near to the first.
DOUBTFUL_MARGIN = 0.2

# Where no label can be left out nothing is known of the stability.
UNKNOWN = 0.5

# With less trust, left-out labels are found no more probable than by chance.
LITTLE_TRUST = 0.5

# Labels are left out on at most so many unlabelled rows, which bounds the time of it.
MAX_LEFT_OUT = 2000

# Sets of held labels are worked on together as long as their shares take no more values.
MAX_VALUES = 1 << 23


# Depth --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DepthTaken:
    """How much of the components goes with the depth of the rows.

    Attributes
    ----------
    mean : float
        Of the depth.
    slopes : float array of shape (d,)
        How much of each component goes with one unit of depth.
    order : int array of at most d numbers
        The components that remain, by their variance.
    """

    mean: float
    slopes: Floats
    order: Ints

    def without(self, T: Floats, depth: Floats) -> Floats:
        """Return the components of rows of some depth without what goes with it.

        Parameters
        ----------
        T : float array of shape (n, d)
        depth : float array of shape (n,)
            NaN for rows that are of none.

        Returns
        -------
        float array of shape (n, len(order))
        """
        own = np.nan_to_num(depth - self.mean)
        return np.asarray((T - np.outer(own, self.slopes))[:, self.order])


def take_depth(T: Floats, shares: Floats, depth: Floats, weights: Floats | None) -> DepthTaken:
    """Return how much of the components goes with depth, within classes.

    Parameters
    ----------
    T : float array of shape (n, d)
        Components, centred.
    shares : float array of shape (n, n_classes)
        How likely each class is for each row.
    depth : float array of shape (n,)
        NaN for rows that are of none.
    weights : float array of shape (n,) or None
        How often each row counts.

    Returns
    -------
    DepthTaken
    """
    is_known = ~np.isnan(depth)
    known = is_known if weights is None else is_known * weights
    mean = float(mean_row(np.nan_to_num(depth)[:, None], known.astype(np.float64))[0])
    slopes = slopes_within(T, weighted(shares, known), np.nan_to_num(depth - mean))
    taken = DepthTaken(mean, slopes, np.arange(T.shape[1]))
    variance = weighted(np.square(taken.without(T, depth)), weights).sum(axis=0)
    order = np.argsort(-variance, kind="stable")
    kept = order[variance[order] > NEGLIGIBLE * variance.max()]
    return DepthTaken(mean, slopes, kept if len(kept) else order[:1])


def slopes_within(T: Floats, shares: Floats, depth: Floats) -> Floats:
    """Return the slopes of components on depth, within classes; 0 for rows of one depth.

    Parameters
    ----------
    T : float array of shape (n, d) or (n_sets, n, d)
    shares : float array of shape (n, n_classes) or (n_sets, n, n_classes)
    depth : float array of shape (n,) or (n_sets, n)
        About 0.

    Returns
    -------
    float array of shape (d,) or (n_sets, d)

    Examples
    --------
    >>> depth = np.array([0.0, 1.0, 2.0, 3.0])
    >>> T = np.array([[1.0], [3.0], [0.0], [2.0]])  # two classes, in which it rises by 2
    >>> slopes_within(T, np.eye(2)[[0, 0, 1, 1]], depth).tolist()
    [2.0]
    """
    columns = np.swapaxes(shares, -1, -2)
    sizes = np.maximum(columns.sum(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    row_weights = (shares.sum(axis=-1) * depth)[..., None, :]
    of_depth = np.matmul(columns, depth[..., None])
    common = np.swapaxes(of_depth / sizes, -1, -2)
    together = np.matmul(row_weights, T) - np.matmul(common, np.matmul(columns, T))
    squares = np.matmul(row_weights, depth[..., None]) - np.matmul(common, of_depth)
    differ = squares > NEGLIGIBLE * np.maximum(sizes.sum(axis=-2, keepdims=True), 1.0)
    return np.asarray(np.where(differ, together / np.where(differ, squares, 1.0), 0.0)[..., 0, :])


def know_depth(data: TrainingData) -> TrainingData:
    """Return the training data of logarithms of counts, which knows the depth of its rows."""
    design = replace(data.design, depth=log_filled(data.X))
    return replace(data, design=design, is_log=True)


def log_filled(X: Any) -> Floats:
    """Return the logarithm of how many values of each row are other than 0; NaN where none is.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)

    Returns
    -------
    float array of shape (n,)

    Examples
    --------
    >>> log_filled(np.array([[0.0, 2.0, 5.0], [0.0, 0.0, 0.0]])).round(3).tolist()
    [0.693, nan]
    """
    if issparse(X):
        filled = np.asarray((X != 0).sum(axis=1)).ravel()
    else:
        filled = np.count_nonzero(X, axis=1) - np.isnan(X).sum(axis=1)
    return np.log(np.where(filled > 0, filled, np.nan))


# Labels -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """The shares of the classes for each row.

    Attributes
    ----------
    shares : float array of shape (n, n_classes)
        They add up to 1; a labelled row has its label.
    stability : float
        How far the labels of unlabelled rows stay the same when a fifth of the labels is left out:
        1 if they do, 0 if they are as alike as by chance; .5 where no label can be left out.
    n_left_out, n_recovered : int
        How many labelled rows were left out once, and how many of them were found again.
    weights : float array of shape (n_members,)
        How much each member counted.
    trust : float
        How far the shares can be told as they are, from 0 to 1; 1 where no label can be left out.
    depth : DepthTaken or None
        What was taken out of the components before.
    """

    shares: Floats
    stability: float
    n_left_out: int
    n_recovered: int
    weights: Floats
    trust: float = 1.0
    depth: DepthTaken | None = None

    @property
    def codes(self) -> Ints:
        """The most likely class of each row."""
        return np.asarray(self.shares.argmax(axis=1))

    def distributions(self, codes: NDArray[np.integer]) -> Floats:
        """Return the shares, drawn to equal ones where left-out labels do not support them.

        `codes` are the given labels of the rows, negative without one; these stay as they are.
        """
        drawn = drawn_to_equal(self.shares, self.trust)
        return np.where(codes[:, None] < 0, drawn, self.shares)


def drawn_to_equal(shares: Floats, trust: float) -> Floats:
    """Return shares of which the part `trust` stays and the rest is spread equally.

    Examples
    --------
    >>> drawn_to_equal(np.array([[0.9, 0.1]]), 0.5).round(6).tolist()
    [[0.7, 0.3]]
    """
    return shares if trust == 1 else trust * shares + (1 - trust) / shares.shape[1]


def doubt_of(estimator: Any) -> str | None:
    """Return what `format_label_doubt` says of a fitted ranker or classifier."""
    return format_label_doubt(
        getattr(estimator, "label_trust_", 1.0), *getattr(estimator, "recovered_", ())
    )


def format_label_doubt(trust: float, n_recovered: int = 0, n_left_out: int = 0) -> str | None:
    """Return a sentence where left-out labels do not support the confidence; else None.

    Examples
    --------
    >>> format_label_doubt(0.2, 5, 10)[:76]
    'The labels may tell nothing: the classes of 10 labelled rows left out in tur'
    """
    if trust >= LITTLE_TRUST:
        return None
    return (
        f"The labels may tell nothing: the classes of {n_left_out:,} labelled rows left out in "
        f"turn were found no more probable than by chance ({n_recovered:,} predicted right). The "
        "confidence of all predictions was lowered."
    )


def doubtful(shares: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return the rows whose label is in doubt, as the second class comes near to the first.

    Parameters
    ----------
    shares : float array of shape (n, n_classes)
        How likely each class is for each row.

    Returns
    -------
    bool array of shape (n,)

    Examples
    --------
    >>> doubtful(np.array([[0.5, 0.4, 0.1], [0.6, 0.2, 0.2]])).tolist()
    [True, False]
    """
    return lead(shares) < DOUBTFUL_MARGIN


def lead(shares: NDArray[np.floating]) -> Floats:
    """Return how far the most likely class of each row is ahead of the second.

    Examples
    --------
    >>> lead(np.array([[0.5, 0.4, 0.1], [0.7, 0.1, 0.2]])).round(6).tolist()
    [0.1, 0.5]
    """
    second, first = np.sort(shares, axis=1)[:, -2:].T
    return np.asarray(first - second)


def find_soft_labels(data: TrainingData, class_prior: Floats | None = None) -> SoftLabels:
    """Label all rows of the training data.

    Parameters
    ----------
    data : TrainingData
        With two classes or more.
    class_prior : float array of shape (n_classes,), optional
        The shares of the classes among all rows, where they are known.

    Returns
    -------
    SoftLabels
    """
    return label_components(components(data), data.labels, data.design, class_prior)


def label_components(
    T: Floats, labels: Labels, design: SampleInfo, class_prior: Floats | None = None
) -> SoftLabels:
    """Label rows by their components; `find_soft_labels` says how."""
    codes, n_classes, weights = labels.codes, labels.n_classes, design.weights
    depth = None
    if design.depth is not None:
        # what goes with depth within classes, by the members as they label the rows first
        with one_blas_thread():
            first = _predict_members(T, codes[None], n_classes, class_prior, weights)[:, 0]
        depth = take_depth(T, first.mean(axis=0), design.depth, weights)
        T = depth.without(T, design.depth)
    rows = _rows_to_leave_out(codes, T[:, 0])
    some, own, of_rows = T, codes, design
    if len(rows) < len(T):
        own, of_rows = codes[rows], design.take(rows)
        some = T[rows] - mean_row(T[rows], of_rows.weights)
    counts = own if of_rows.weights is None else np.where(of_rows.weights > 0, own, -1)
    folds = fifths(counts, n_classes, some[:, 0], of_rows.groups)
    sets = [np.where(folds == fold, -1, own) for fold in range(int(folds.max(initial=-1)) + 1)]
    with one_blas_thread():
        with_all_labels = _predict_members(T, codes[None], n_classes, class_prior, weights)[:, 0]
        left = np.array(sets).reshape(-1, len(own))
        parts = _predict_members(some, left, n_classes, class_prior, of_rows.weights)
    out = np.flatnonzero(folds >= 0)
    # the share of the true label of each row left out, by the members that did not see it
    found = parts[:, folds[out], out, own[out]]
    logs = np.log((1 - DOUBT) * found + DOUBT / n_classes)
    by_mean = np.log(n_classes * (1 - DOUBT) * found.mean(axis=0) + DOUBT)
    if of_rows.weights is not None:
        logs *= of_rows.weights[out]
        by_mean *= of_rows.weights[out]
    logs = logs.sum(axis=1)
    trust = np.exp(POWER * (logs - logs.max()))
    trust /= trust.sum()
    shares = np.tensordot(trust, with_all_labels, axes=1)
    shares[codes >= 0] = np.eye(n_classes)[codes[codes >= 0]]  # to the last bit
    predicted = np.tensordot(trust, parts, axes=1).argmax(axis=2)
    unlabelled = np.flatnonzero(own < 0)
    first = shares.argmax(axis=1)[rows][unlabelled]
    row_weights = None if of_rows.weights is None else of_rows.weights[unlabelled]
    alike = [kappa(first, other[unlabelled], range(n_classes), row_weights) for other in predicted]
    return SoftLabels(
        shares=shares,
        stability=float(np.mean(alike)) if alike else UNKNOWN,
        n_left_out=len(out),
        n_recovered=int(np.sum(predicted[folds[out], out] == own[out])),
        weights=trust,
        trust=float(np.clip((1 + by_mean.sum()) / 2, 0, 1)),
        depth=depth,
    )


def _rows_to_leave_out(codes: Ints, key: Floats) -> Ints:
    """Return the rows on which labels are left out: all, or the labelled and some of the others.

    These are taken at equal steps in the order of a key.
    """
    unlabelled = np.flatnonzero(codes < 0)
    if len(unlabelled) <= MAX_LEFT_OUT:
        return np.arange(len(codes))
    ordered = unlabelled[np.argsort(key[unlabelled], kind="stable")]
    steps = np.linspace(0, len(ordered) - 1, MAX_LEFT_OUT).astype(np.int64)
    return np.sort(np.concatenate([np.flatnonzero(codes >= 0), ordered[steps]]))


def fifths(
    codes: Ints, n_classes: int, key: Floats, groups: Ints | None = None
) -> NDArray[np.int64]:
    """Return the fifth of each labelled row of a class that has two or more, else -1.

    The rows of a class are numbered in turn in the order of a key, so that no fifth is one-sided
    and neither the order of the rows nor the names of the classes matter. Where there are groups,
    those with the same classes are numbered in turn, in the order of their mean key; a class that
    would be left out altogether stays.

    Examples
    --------
    >>> fifths(np.array([0, 0, 1, -1, 0]), 2, np.array([0.3, 0.1, 0.5, 0.7, 0.2])).tolist()
    [2, 0, -1, -1, 1]
    """
    found, labelled = np.full(len(codes), -1), np.flatnonzero(codes >= 0)
    unit_of = labelled if groups is None else groups[labelled]
    _, number = np.unique(unit_of, return_inverse=True)
    indicator = np.zeros((number.max(initial=-1) + 1, n_classes), dtype=bool)
    indicator[number, codes[labelled]] = True
    mean_key = np.bincount(number, key[labelled]) / np.bincount(number)
    order = np.argsort(mean_key, kind="stable")
    fold = np.empty(len(indicator), dtype=np.int64)
    for classes in np.unique(indicator, axis=0):
        alike = order[(indicator[order] == classes).all(axis=1)]
        fold[alike] = np.arange(len(alike)) % N_FOLDS
    found[labelled] = fold[number]
    for code in range(n_classes):
        rows = np.flatnonzero(codes == code)
        if len(rows) and (found[rows] == found[rows[0]]).all():
            found[rows] = -1
    return found


def _predict_members(
    T: Floats,
    sets: NDArray[np.integer],
    n_classes: int,
    class_prior: Floats | None,
    weights: Floats | None,
) -> Floats:
    """Return the shares by each member for each set of labels.

    Their shape is (n_members, n_sets, n, n_classes).
    """
    n_sets, n_rows = sets.shape
    dimensions = dimensions_of(T)
    found = np.empty((len(dimensions) + 1, n_sets, n_rows, n_classes))
    indicator = (sets[:, :, None] == np.arange(n_classes)).astype(np.float64)
    step = max(1, MAX_VALUES // max(1, n_rows * n_classes))
    for place, d in enumerate(dimensions):
        for start in range(0, n_sets, step):
            some = slice(start, start + step)
            found[place, some] = gaussian_classes(T[:, :d], indicator[some], class_prior, weights)
    for number, codes in enumerate(sets):
        found[-1, number] = ridge(T, codes, n_classes, weights)
    found[-1] = np.where(indicator.any(axis=2, keepdims=True), indicator, found[-1])
    return found


def dimensions_of(T: Floats) -> list[int]:
    """Return the numbers of components in which Gaussian classes are sought."""
    return sorted({min(d, T.shape[-1]) for d in DIMENSIONS})


def find_machines(
    T: Floats, labels: Labels, design: SampleInfo, class_prior: Floats | None = None
) -> list[tuple[Floats, Floats]]:
    """Return the slopes and intercepts of the members, for rows that are yet to come."""
    codes, n_classes, weights = labels.codes, labels.n_classes, design.weights
    indicator = (codes[None, :, None] == np.arange(n_classes)).astype(np.float64)
    with one_blas_thread():
        gaussian = [
            gaussian_machines(T[:, :d], indicator, class_prior, weights) for d in dimensions_of(T)
        ]
        last = ridge_machine(T, codes, n_classes, weights)
    return [*((slopes[0], intercepts[0, 0]) for slopes, intercepts in gaussian), last]


def shares_by(T: Floats, machines: list[tuple[Floats, Floats]], weights: Floats) -> Floats:
    """Return the shares of the classes for rows, labelled or not, by members that were found.

    Parameters
    ----------
    T : float array of shape (n, d)
        Components of the rows.
    machines : list
        As `find_machines` returns them.
    weights : float array of shape (n_members,)
        Those of `SoftLabels`.

    Returns
    -------
    float array of shape (n, n_classes)
    """
    with one_blas_thread():
        predicted = (machine_shares(T[:, : len(slopes)], slopes, cut) for slopes, cut in machines)
        parts = [weight * shares for weight, shares in zip(weights, predicted, strict=True)]
    return np.asarray(sum(parts))


def kappa(
    one: NDArray[Any], other: NDArray[Any], classes: Iterable[Any], weights: Floats | None = None
) -> float:
    """Return how alike two labellings are: 1 if they are the same, 0 as by chance (Cohen's kappa).

    Examples
    --------
    >>> kappa(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]), range(2))
    0.5
    """
    if not len(one) or (weights is not None and not weights.any()):
        return 1.0

    def share(which: NDArray[np.bool_]) -> float:
        return float(np.mean(which) if weights is None else weights @ which / weights.sum())

    by_chance = sum(share(one == each) * share(other == each) for each in classes)
    same = share(one == other)
    return (same - by_chance) / (1 - by_chance) if by_chance < 1 else float(same == 1)
