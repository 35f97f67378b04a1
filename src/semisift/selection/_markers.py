"""Markers: what is high or low in one class against the rest, for each class.

With p_ic how likely class c is for row i, n_c the sum of p_ic, and mean and variance of class c
those of all rows with p_ic as weights, and of the rest with 1 - p_ic,

    score_cr = (mean_cr - rest mean_cr) / sqrt(variance_cr / n_c + rest variance_cr / (n - n_c))

which is Welch's t, as scanpy's t-test has it, were the labels certain. The labels of rows that
nobody labelled are found from the same values, so this is a measure of size and no test: p-values
by class come from an assessment (see `semisift.transduction._permuted_features`). A class of one
row has the
variance within classes; a column that varies in neither has the score of one that hardly does.

Log2 fold changes are those of scanpy: of exp(mean of the logarithms) - 1 in the class and in the
rest, with 1e-9 added to each. They, and the shares of rows with a value, are of the values as they
were given: what is left when differences between batches are taken out is neither 0 where nothing
was counted, nor the logarithm of anything.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift.base._data_kind import kind_of_data
from semisift.base._training_data import TrainingData
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.parallel import one_blas_thread
from semisift.transduction._class_sums import RunningSums
from semisift.transduction._components import find_scale, weighted
from semisift.utils._columns import as_if_complete
from semisift.utils._frame import make_frame
from semisift.utils._typing import Floats

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

# What scanpy adds to both means of a fold change.
MIN_MEAN = 1e-9

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Markers:
    """How much each column tells each class from the rest.

    All that is said of a column is NaN where the ranker was told to exclude it.

    Attributes
    ----------
    classes : array of shape (k,)
    features : array of str of shape (p,)
        Names of the columns.
    scores : float array of shape (k, p)
        Like Welch's t of the class against the rest: positive where the class is higher, 0 for
        constant columns. It grows with the root of the number of rows, and weights say for how many
        rows each one counts: halved weights are half as many rows.
    differences : float array of shape (k, p)
        Mean of the class less mean of the rest: of logarithms where `X` holds counts or
        logarithms of them, else in standard deviations. As the scores, without the differences
        between batches, where the fit was told of any.
    fold_changes : float array of shape (k, p) or None
        Logarithms to base 2, as scanpy makes them, of the values with the differences between
        batches. None where `X` holds neither counts nor logarithms of them.
    shares, rest_shares : float arrays of shape (k, p)
        The share of rows of the class, and of the rest, with a value other than 0 in `X`.
    sizes : float array of shape (k,)
        How many rows the class has, with soft labels as weights.
    p_values : float array of shape (k, p) or None
        The chance that any column tells the class from the rest so well, higher or lower, if the
        labels tell nothing. It is found from an F-score with one variance for the class and the
        rest, so that it may order columns otherwise than `scores`, which has two, as Welch's t.
        None where the ranker was not assessed, or not with permuted features.
    """

    classes: NDArray[Any]
    features: NDArray[Any]
    scores: Floats
    differences: Floats
    fold_changes: Floats | None
    shares: Floats
    rest_shares: Floats
    sizes: Floats
    p_values: Floats | None = None

    def __repr__(self) -> str:
        n_classes, n_columns = self.scores.shape
        return f"<Markers: {n_columns:,} features of {n_classes:,} classes>"

    def order(self, number: int) -> NDArray[np.intp]:
        """Return the columns of a class, by its number: the highest score first, NaN last."""
        return np.argsort(-self.scores[number], kind="stable")

    def best(self, number: int, n: int) -> NDArray[np.intp]:
        """Return up to n first columns of a class, by its number, that are higher there."""
        order = self.order(number)[:n]
        return order[self.scores[number, order] > 0]

    def to_frame(self, n: int | None = None, output: Literal["polars", "pandas"] = "polars") -> Any:
        """Return a frame with a row for each class and feature, the best of each class first.

        Parameters
        ----------
        n : int, default=None
            Of each class so many features; None lists all.
        output : {"polars", "pandas"}, default="polars"

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With the columns class, rank, feature, score, share and rest_share and, where they are
            known, log2_fold_change and p_value.
        """
        if n is not None and n < 1:
            raise ValueError(f"n must be at least 1: got {n!r}.")
        orders = np.array([self.order(c)[:n] for c in range(len(self.classes))])

        def best(values: Floats | None) -> Floats | None:
            return None if values is None else np.take_along_axis(values, orders, 1).ravel()

        n_each = orders.shape[1]
        table = {
            "class": np.repeat(self.classes, n_each).tolist(),
            "rank": np.tile(np.arange(1, n_each + 1), len(orders)),
            "feature": self.features[orders.ravel()],
            "score": best(self.scores),
            "log2_fold_change": best(self.fold_changes),
            "share": best(self.shares),
            "rest_share": best(self.rest_shares),
            "p_value": best(self.p_values),
        }
        return make_frame(table, output)


class _Side(NamedTuple):
    """The rows of each class, or the rest of each, on the scale on which rows are compared."""

    sizes: Floats  # of shape (k, 1), or with missing values (k, p)
    means: Floats
    levels: Floats  # the means, not centred
    squares: Floats  # sums of squares about the means
    shares: Floats  # of rows with a value other than 0


def find_markers(
    ranker: "FeatureRanker", data: TrainingData, as_given: TrainingData | None = None
) -> Markers:
    """Return the markers of each class for a fitted ranker, in one pass over the rows.

    By the soft labels of the ranker, or the labels that it gave to all rows; those of labelled rows
    alone where it gives none. `as_given` are the training data with the differences between
    batches, where they were taken out: a second pass.
    """
    shares, weights = _counted(ranker, data)
    own, rest = _two_sides(data, shares, weights)
    given = (own, rest) if as_given is None else _two_sides(as_given, shares, weights)
    differences, folds = own.means - rest.means, None
    scores = welch(differences, (own.squares, own.sizes), (rest.squares, rest.sizes))
    if kind_of_data(data) != "measurements":
        means = (np.expm1(np.maximum(side.levels, 0.0)) + MIN_MEAN for side in given)
        folds = np.log2(np.divide(*means))
    p_values = getattr(getattr(ranker, "assessment_", None), "class_p_values", None)
    names, features = data.feature_names, ranker._features
    unnamed = np.array([f"x{j}" for j in range(data.n_features)], dtype=object)
    excluded = np.zeros(data.n_features, bool) if features is None else features.excluded

    def known(values: Floats) -> Floats:
        return np.where(excluded, np.nan, values)

    return Markers(
        classes=np.asarray(ranker.classes_),
        features=unnamed if names is None else np.asarray(names, dtype=object),
        scores=known(np.where(data.constant, 0.0, scores)),
        differences=known(differences),
        fold_changes=None if folds is None else known(folds),
        shares=known(given[0].shares),
        rest_shares=known(given[1].shares),
        sizes=np.asarray(weighted(shares, weights).sum(axis=0)),
        p_values=None if p_values is None else known(p_values),
    )


def _two_sides(data: TrainingData, shares: Floats, weights: Floats | None) -> tuple[_Side, _Side]:
    """Return the rows of each class and the rest of each, in a pass over the rows."""
    scale = find_scale(data)
    if data.full is not None and data.design.weights is None:
        rows = data.full.rows
    else:  # without those of weight 0, which stored rows never have
        rows = OutOfCoreMatrix(data.X)
        rows.has_missing = data.has_missing
    n_classes, n_columns = shares.shape[1], data.n_features
    running = RunningSums(n_classes, n_columns, rows.has_missing)
    filled, squares = np.zeros((2, n_classes, n_columns))
    with one_blas_thread():
        for start, block in rows.blocks("markers"):
            own = slice(start, start + block.shape[0])
            Z, row_weights = scale.scale(block), None if weights is None else weights[own]
            running.add(Z, block, shares[own], row_weights)
            weighted_shares = weighted(shares[own], row_weights)
            filled += _filled(block, weighted_shares)
            squares += np.asarray((Z * Z).T @ weighted_shares).T
    n = running.class_sums(shares, weights)
    centre = 0.0 if data.is_sparse else scale.centre

    def side(size: Floats, sums: Floats, squares: Floats, filled: Floats) -> _Side:
        size = np.maximum(size, TINY)
        means = sums / size
        return _Side(size, means, centre + means, squares - size * means**2, filled / size)

    return (
        side(n.sizes, running.sums, squares, filled),
        side(
            n.total - n.sizes,
            running.total - running.sums,
            running.squares - squares,
            filled.sum(axis=0) - filled,
        ),
    )


def welch(
    differences: Floats, inside: tuple[Floats, Floats], outside: tuple[Floats, Floats]
) -> Floats:
    """Return Welch's t of each class against the rest.

    `inside` and `outside` are the sums of squares about the mean in the class and in the rest, and
    the numbers of rows.
    """
    n = inside[1] + outside[1]
    within = np.maximum(inside[0], 0.0) + np.maximum(outside[0], 0.0)
    total = within + differences**2 * inside[1] * outside[1] / n
    pooled = np.maximum(within, total / n) / np.maximum(n - 2.0, 1.0)
    squared = np.zeros_like(differences)
    # which columns have fewer values than others
    is_short = n < (1 - np.sqrt(np.finfo(float).eps)) * n.max(axis=-1, keepdims=True)
    for deviations, size in (inside, outside):
        variance = np.maximum(deviations, 0.0) / np.maximum(size - 1.0, TINY)
        variance = np.where(size > 1.0, variance, pooled)
        if is_short.any():  # so few values may be alike by chance
            drawn = (np.maximum(deviations, 0.0) + 2.0 * pooled) / np.maximum(size + 1.0, TINY)
            variance = np.where(is_short, drawn, variance)
        squared += variance / size
    least = pooled * (1 / inside[1] + 1 / outside[1]) / n
    scores = differences / np.sqrt(np.maximum(np.maximum(squared, least), TINY))
    if not is_short.any():
        return np.asarray(scores)
    every = n.max(axis=-1, keepdims=True) - 2.0
    ratios = as_if_complete(scores**2 / np.maximum(n - 2.0, 1.0), n - 2.0, every, 2)
    size = np.sqrt(ratios * np.maximum(every, 1.0))
    return np.where(is_short, np.copysign(size, scores), scores)


def _counted(ranker: Any, data: TrainingData) -> tuple[Floats, Floats | None]:
    """Return how likely each class is for each of these rows, and how often each row counts.

    By a ranker, or else by the given labels.
    """
    labels, weights = data.all_labels, data.design.weights
    shares = getattr(ranker, "label_distributions_", None)
    if shares is None:
        classes, codes = np.arange(labels.n_classes), labels.codes
        if ranker.is_transductive:
            classes, codes = ranker.classes_, ranker.transduction_
        shares = (np.asarray(codes)[:, None] == classes).astype(np.float64)
    if data.full is not None and weights is not None:
        shares = shares[data.full.sampled]
    if not ranker.is_transductive:  # rows without a label do not count
        given = shares.sum(axis=1)
        weights = given if weights is None else given * weights
    return shares, weights


def _filled(block: Any, shares: Floats) -> Floats:
    """Return how many rows of each class have a value other than 0."""
    if issparse(block):
        pattern = csr_array(block != 0, dtype=np.float64)
        return np.asarray(pattern.T @ shares).T
    return np.asarray(shares.T @ ((block != 0) & ~np.isnan(block)))
