"""The test of soft labels: columns against permuted features, whose rows were exchanged together.

Soft labels look for the shape of the data, so columns score high under any labels once the rows
fall into groups: the best score under shuffled labels is no yardstick. Here every column gets a
permuted feature, the same values on other rows, and all permuted features exchange their rows in
the same way, so that they have the groups, batches and correlations of the columns, but nothing to
do with the labels. The rows are labelled from columns and permuted features together, by the
components of both. If the labels tell nothing, columns and permuted features are alike; if they go
with the shape of the data, the labels follow the columns, and the columns that carry that shape
beat all permuted features.

    p_r = (1 + number of repetitions in which the best permuted feature reaches column r) / (1 +
    repetitions)

which is corrected for the number of columns. A column has two scores, each with its permuted
features: that of the soft labels, and the F-score of the labelled rows alone, which finds what all
rows together do not show. The smaller p-value counts, doubled. The p-value of the whole is that of
the best column of each repetition. Of more than two classes, each has p-values of its own, by the
scores of the class against the rest, which are corrected for the number of columns and not for that
of classes.

By the labelled rows this is a permutation test with the best score, which is exact. By the soft
labels it is a tournament: if the labels tell nothing, the table is one of its own exchanged forms
drawn at random, each repetition lets it play against another one, and of two forms at most one has
a column above all of the other. Whoever beats whom, the chance that a player beats all R opponents
is at most 1 / (R + 1), since it is highest where the players stand in one order (the scores of any
tournament are majorised by those). A p-value that allows for more defeats is exact if they do, and
too small by a factor of 2 at most.

As in the test with shuffled labels, rows are exchanged among the labelled and among the unlabelled
ones, if there are enough ways, else among all. The members that label the rows count alike, and so
do rows, whatever their weights. Where the depth of the rows is known, what goes with it is taken
out of columns and permuted features alike, each with the depth of the rows that its values come
from.

H. G. Landau (1953). On dominance relations and the structure of animal societies III. Bulletin of
Mathematical Biophysics 15, for the scores of tournaments.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.transduction._components import ScaledRows, components, scaled_rows
from semisift.transduction._gaussian_ridge import gaussian_classes, ridge
from semisift.transduction._positive_unlabelled import rest_by
from semisift.transduction._soft_labels import dimensions_of, slopes_within
from semisift.utils._columns import as_if_complete, counted_moments
from semisift.utils._labels import Labels
from semisift.utils._typing import Bools, Floats, Ints

# Repetitions are worked on together as long as their components take no more values.
MAX_VALUES = 1 << 22


def n_together(n_values: int) -> int:
    """Return how many repetitions are worked on together, by the number of component values."""
    return max(1, MAX_VALUES // (n_values * 2))


def exceeded_by_permuted_features(
    data: TrainingData, orders: Iterator[Ints], class_prior: Floats | None
) -> Iterator[tuple[Bools, Bools]]:
    """Tell for each repetition which columns the best permuted feature reaches.

    Parameters
    ----------
    data : TrainingData
    orders : iterator of int arrays of shape (n,)
        For each repetition, the row of the table whose values each row of the permuted features
        has.
    class_prior : float array of shape (n_classes,) or None

    Yields
    ------
    soft, labelled : bool arrays of shape (1, p) or (1 + n_classes, p)
        By the score of the soft labels, and by the F-score of the labelled rows: of all classes
        and, where these are more than two, of each against the rest.
    """
    T, rows, labels = components(data), scaled_rows(data), data.labels
    size = n_together(T.size)
    own = labelled_scores(rows, labels, np.arange(len(T)))
    while len(batch := np.array([*islice(orders, size)])):
        with one_blas_thread():
            shares = _label(T, batch, labels, class_prior, data.design.depth)
            scores = _soft_scores(rows, shares, batch)
        for number, order in enumerate(batch):
            columns, permuted = scores[number]
            theirs = labelled_scores(rows, labels, order)
            yield _reached(columns, permuted), _reached(own, theirs)


def _reached(columns: Floats, permuted: Floats) -> Bools:
    """Tell which columns the best permuted feature reaches, by each score."""
    return ~(columns > permuted.max(axis=1, keepdims=True))


def _label(
    T: Floats,
    orders: NDArray[np.int64],
    labels: Labels,
    class_prior: Floats | None,
    depth: Floats | None,
) -> Floats:
    """Return the class shares by the components of columns and permuted features together."""
    permuted = T[orders]
    shares = _label_by(T, permuted, labels, class_prior)
    if depth is None:
        return shares
    own = np.nan_to_num(depth - np.nanmean(depth))
    theirs = own[orders]
    mine = T - own[:, None] * slopes_within(T, shares, own)[:, None, :]
    permuted = permuted - theirs[:, :, None] * slopes_within(permuted, shares, theirs)[:, None, :]
    return _label_by(mine, permuted, labels, class_prior)


def _label_by(T: Floats, permuted: Floats, labels: Labels, class_prior: Floats | None) -> Floats:
    """Return the shares of the classes by components, which may differ between repetitions."""
    T = np.broadcast_to(T, permuted.shape)
    n_sets, n_rows, _ = permuted.shape
    dimensions = dimensions_of(T)
    codes: Ints = np.broadcast_to(labels.codes, (n_sets, n_rows))
    n_classes = labels.n_classes
    if n_classes == 1:
        n_classes, codes = 2, _with_rests(T, permuted, labels, class_prior)
    indicator = (codes[:, :, None] == np.arange(n_classes)).astype(np.float64)
    total = np.zeros(indicator.shape)
    for d in dimensions:
        both = np.concatenate([T[:, :, :d], permuted[:, :, :d]], axis=2)
        total += gaussian_classes(both, indicator, class_prior)
    for number in range(n_sets):
        both = np.concatenate([T[number], permuted[number]], axis=1)
        predicted = ridge(both, codes[number], n_classes)
        total[number] += np.where(
            indicator[number].any(axis=1, keepdims=True), indicator[number], predicted
        )
    return total / (len(dimensions) + 1)


def _with_rests(
    T: Floats, permuted: Floats, labels: Labels, class_prior: Floats | None
) -> NDArray[np.int64]:
    """Return labels of two classes where one is labelled: the rest is found with `permuted`."""
    codes = np.where(labels.codes < 0, -1, np.zeros((len(permuted), 1), dtype=np.int64))
    share = None if class_prior is None else float(class_prior[0])
    for number, (mine, own) in enumerate(zip(T, permuted, strict=True)):
        parts = [np.concatenate([mine[:, :d], own[:, :d]], axis=1) for d in dimensions_of(T)]
        codes[number, rest_by(parts, labels.labelled, share)[0]] = 1
    return codes


def _soft_scores(
    rows: ScaledRows, shares: Floats, orders: NDArray[np.int64]
) -> list[tuple[Floats, Floats]]:
    """Return the scores of the columns and of their permuted features for each repetition.

    Each has the shape (1, p), or (1 + n_classes, p) for more than two classes: the mean over them,
    and that of each class.
    """
    n_sets, n_rows, n_classes = shares.shape
    n_scored = n_classes if n_classes > 2 else 1  # of two classes one tells all
    back = np.argsort(orders, axis=1)
    turned = np.take_along_axis(shares, back[:, :, None], axis=1)
    weights = np.concatenate([shares[:, :, :n_scored], turned[:, :, :n_scored]], axis=2)
    stacked = weights.transpose(1, 0, 2).reshape(n_rows, -1).astype(rows.values.dtype)
    sums = rows.transposed_times(stacked).T.reshape(n_sets, 2, n_scored, -1)
    sizes = shares.sum(axis=1)[:, None, :n_scored, None]
    n: Any = n_rows
    if rows.known is not None:
        sizes = rows.weight_sums(stacked.astype(np.float64)).reshape(n_sets, 2, n_scored, -1)
        n = np.maximum(rows.total, 1.0)
        sizes = np.clip(sizes, np.finfo(np.float64).eps, n - np.finfo(np.float64).eps)
    total = np.where(rows.squares > 0, rows.squares, 1.0)
    between = np.square(sums, dtype=np.float64) * n / (sizes * (n - sizes))
    scores = between / np.maximum(total - between, total / n)
    if rows.known is not None:
        scores = as_if_complete(scores, n - 2.0, n.max() - 2.0, 2)
    scores /= np.maximum(scores.max(axis=(1, 3), keepdims=True), np.finfo(np.float64).tiny)
    found = scores.mean(axis=2, keepdims=True)
    if n_scored > 1:
        found = np.concatenate([found, scores], axis=2)
    return [(both[0], both[1]) for both in found]


def labelled_scores(rows: ScaledRows, labels: Labels, order: Ints) -> Floats:
    """Return the F-score of each column over the labelled rows, which have the values of others.

    Parameters
    ----------
    rows : ScaledRows
    labels : Labels
    order : int array of shape (n,)
        The row whose values each row has.

    Returns
    -------
    float array of shape (1, p), or (1 + n_classes, p) for more than two classes
        That of all classes, and of each against the rest. Minus infinity where no two labelled rows
        differ. Of one labelled class it is the F-score against all other rows.
    """
    if labels.n_classes == 1:
        return _one_against_all(rows, order[labels.labelled], len(order))[None]
    codes = labels.codes[labels.labelled]
    values = rows.take(order[labels.labelled])
    is_class = (codes == np.arange(labels.n_classes)[:, None]).astype(np.float64)
    sizes, n, counts = is_class.sum(axis=1)[:, None], float(len(codes)), None
    if rows.known is None:
        centred = values - values.mean(axis=0)
    else:
        known = ~np.isnan(values)
        _, means, _ = counted_moments(values, np.ones(values.shape[1]), None)
        centred = np.where(known, values - means, 0.0)
        counts, n = is_class @ known, known.sum(axis=0)
        sizes = np.maximum(counts, np.finfo(np.float64).tiny)
    sums = is_class @ centred
    means = sums / sizes
    total = np.square(centred).sum(axis=0)
    between = (sizes * np.square(means)).sum(axis=0)[None]
    if labels.n_classes > 2:
        rest = np.maximum(n - sizes, np.finfo(np.float64).tiny)
        between = np.concatenate([between, sums * means * n / rest])
    least = np.finfo(np.float32).eps * rows.squares / len(order)
    within = np.maximum(np.maximum(total - between, total / len(order)), least)
    has_score = np.broadcast_to(total > least, between.shape)
    scores = np.divide(between, within, out=np.full(between.shape, -np.inf), where=has_score)
    if counts is not None:
        scores[has_score] = _as_if_complete(np.maximum(scores, 0.0), counts)[has_score]
    return scores


def _as_if_complete(scores: Floats, counts: Floats) -> Floats:
    """Return scores of all classes, and of each against the rest, as those of complete columns.

    `counts` are the labelled values of each class in each column.
    """
    n, n_classes = counts.sum(axis=0), len(counts)
    every = counts.sum(axis=0).max(initial=0.0)
    scores[0] = as_if_complete(
        scores[0], n - (counts > 0).sum(axis=0), every - n_classes, n_classes
    )
    if len(scores) > 1:
        has_both = (counts > 0) & (counts < n)
        scores[1:] = as_if_complete(scores[1:], np.where(has_both, n - 2.0, 0.0), every - 2.0, 2)
    return scores


def _one_against_all(rows: ScaledRows, some: Ints, n_rows: int) -> Floats:
    """Return the F-score of some rows against all others."""
    tiny = np.finfo(np.float64).tiny
    values = rows.take(some)
    sizes = np.maximum(np.sum(~np.isnan(values), axis=0), tiny)
    between = np.nansum(values, axis=0) ** 2 * rows.total
    between /= sizes * np.maximum(rows.total - sizes, tiny)
    total = np.where(rows.squares > 0, rows.squares, 1.0)
    scores = between / np.maximum(total - between, total / n_rows)
    if rows.known is not None:
        scores = as_if_complete(scores, rows.total - 2.0, rows.total.max() - 2.0, 2)
    return np.where(rows.squares > 0, scores, -np.inf)
