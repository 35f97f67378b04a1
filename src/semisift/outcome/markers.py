"""Markers: what is high or low in one class against the rest, for each class.

With p_ic how likely class c is for row i, n_c the sum of p_ic, and mean and variance of class c
those of all rows with p_ic as weights, and of the rest with 1 - p_ic,

    score_cr = (mean_cr - rest mean_cr) / sqrt(variance_cr / n_c + rest variance_cr / (n - n_c))

which is Welch's t, as scanpy's t-test has it, were the labels certain. The labels of rows that
nobody labelled are found from the same values, so this is a measure of size and no test: p-values
by class come from an assessment (see `semisift.transduction.twins`). A class of one row has the
variance within classes; a column that varies in neither has the score of one that hardly does.

Log2 fold changes are those of scanpy: of exp(mean of the logarithms) - 1 in the class and in the
rest, with 1e-9 added to each.
"""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift._problem import Problem, Whole
from semisift._threads import one_blas_thread
from semisift.graphs.kind import kind_of_data
from semisift.math import Floats, Ints
from semisift.stored.rows import StoredRows
from semisift.transduction.axes import find_scale
from semisift.transduction.components import weighted
from semisift.transduction.tally import Tally

if TYPE_CHECKING:
    from semisift._base import FeatureRanker

# What scanpy adds to both means of a fold change.
LEAST_MEAN = 1e-9

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Markers:
    """How much each column tells each class from the rest.

    Attributes
    ----------
    classes : array of shape (k,)
    features : array of str of shape (p,)
        Names of the columns.
    scores : float array of shape (k, p)
        Like Welch's t of the class against the rest: positive where the class is higher, 0 for
        constant columns.
    differences : float array of shape (k, p)
        Mean of the class less mean of the rest: of logarithms where `X` holds counts or
        logarithms of them, else in standard deviations.
    fold_changes : float array of shape (k, p) or None
        Logarithms to base 2, as scanpy makes them. None where `X` holds neither counts nor
        logarithms of them.
    shares, rest_shares : float arrays of shape (k, p)
        The share of rows of the class, and of the rest, with a value other than 0.
    sizes : float array of shape (k,)
        How many rows the class has, with soft labels as weights.
    p_values : float array of shape (k, p) or None
        The chance that any column tells the class from the rest so well if the labels tell
        nothing. None where the ranker was not assessed, or not with twins.
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
        """Return the columns of a class, by its number: the highest score comes first."""
        return np.argsort(-self.scores[number], kind="stable")

    def best(self, number: int, n: int) -> NDArray[np.intp]:
        """Return the first columns of a class, by its number, that are higher there than elsewhere.

        Parameters
        ----------
        number : int
        n : int
            At most so many.

        Returns
        -------
        int array
        """
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
        if output not in ("polars", "pandas"):
            raise ValueError(f"output must be 'polars' or 'pandas': got {output!r}.")
        if n is not None and n < 1:
            raise ValueError(f"n must be at least 1: got {n!r}.")
        orders = np.array([self.order(c)[:n] for c in range(len(self.classes))])

        def best(values: Floats | None) -> Floats | None:
            return None if values is None else np.take_along_axis(values, orders, 1).ravel()

        n_each = orders.shape[1]
        table = {
            "class": np.repeat(self.classes, n_each).tolist(),
            "rank": np.tile(np.arange(1, n_each + 1), len(orders)),
            "feature": self.features[orders.ravel()].tolist(),
            "score": best(self.scores),
            "log2_fold_change": best(self.fold_changes),
            "share": best(self.shares),
            "rest_share": best(self.rest_shares),
            "p_value": best(self.p_values),
        }
        known = {name: values for name, values in table.items() if values is not None}
        return importlib.import_module(output).DataFrame(known)


def find_markers(ranker: "FeatureRanker", problem: Problem) -> Markers:
    """Return the markers of each class, in one pass over the rows.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted on the problem.
    problem : Problem

    Returns
    -------
    Markers
        By the soft labels of the ranker, or the labels that it gave to all rows; those of labelled
        rows alone where it gives none.
    """
    whole = _all_rows(problem)
    shares = _shares(ranker, whole)
    weights = whole.design.weights
    if not ranker.labels_rows:  # rows without a label do not count
        given = shares.sum(axis=1)
        weights = given if weights is None else given * weights
    scale, n_classes, n_columns = find_scale(problem), shares.shape[1], problem.n_features
    tally = Tally(n_classes, n_columns, whole.rows.has_gaps)
    filled, squares = np.zeros((2, n_classes, n_columns))
    with one_blas_thread():
        for start, block in whole.rows.blocks("markers"):
            own = slice(start, start + block.shape[0])
            Z, counted = scale.scale(block), None if weights is None else weights[own]
            tally.add(Z, block, shares[own], counted)
            said = weighted(shares[own], counted)
            filled += _filled(block, said)
            squares += np.asarray((Z * Z).T @ said).T
    n = tally.class_sums(shares, weights)
    sizes, rest = (np.maximum(each, TINY) for each in (n.sizes, n.total - n.sizes))
    means, rest_means = tally.sums / sizes, (tally.total - tally.sums) / rest
    inside = squares - sizes * means**2
    outside = tally.squares - squares - rest * rest_means**2
    scores = welch(means - rest_means, (inside, sizes), (outside, rest))
    fold_changes = None
    if kind_of_data(problem) != "measurements":
        centre = 0.0 if problem.is_sparse else scale.centre
        fold_changes = _log2_fold(centre + means, centre + rest_means)
    assessment = getattr(ranker, "assessment_", None)
    names = problem.feature_names
    unnamed = np.array([f"x{j}" for j in range(n_columns)], dtype=object)
    return Markers(
        classes=np.asarray(ranker.classes_),
        features=unnamed if names is None else np.asarray(names, dtype=object),
        scores=np.where(problem.constant, 0.0, scores),
        differences=means - rest_means,
        fold_changes=fold_changes,
        shares=filled / sizes,
        rest_shares=(filled.sum(axis=0) - filled) / rest,
        sizes=np.asarray(weighted(shares, weights).sum(axis=0)),
        p_values=getattr(assessment, "class_p_values", None),
    )


def welch(
    differences: Floats, inside: tuple[Floats, Floats], outside: tuple[Floats, Floats]
) -> Floats:
    """Return Welch's t of each class against the rest.

    Parameters
    ----------
    differences : float array of shape (k, p)
        Of the means.
    inside, outside : (float array of shape (k, p), float array of shape (k, 1) or (k, p))
        Sums of squares about the mean in the class and in the rest, and the numbers of rows.

    Returns
    -------
    float array of shape (k, p)
    """
    n = inside[1] + outside[1]
    within = np.maximum(inside[0], 0.0) + np.maximum(outside[0], 0.0)
    total = within + differences**2 * inside[1] * outside[1] / n
    pooled = np.maximum(within, total / n) / np.maximum(n - 2.0, 1.0)
    squared = np.zeros_like(differences)
    for deviations, size in (inside, outside):
        variance = np.maximum(deviations, 0.0) / np.maximum(size - 1.0, TINY)
        squared += np.where(size > 1.0, variance, pooled) / size
    least = pooled * (1 / inside[1] + 1 / outside[1]) / n
    return np.asarray(differences / np.sqrt(np.maximum(np.maximum(squared, least), TINY)))


def _all_rows(problem: Problem) -> Whole:
    if problem.whole is not None:
        return problem.whole
    rows = StoredRows(problem.X)
    rows.has_gaps = problem.has_gaps
    return Whole(rows, problem.labels, np.arange(problem.n_rows), problem.design)


def _shares(ranker: Any, whole: Whole) -> Floats:
    """Return how likely each class is for each row, by a ranker or else by the given labels."""
    found = getattr(ranker, "label_distributions_", None)
    if found is not None:
        return np.asarray(found)
    codes: Ints = whole.labels.codes
    classes = np.arange(whole.labels.n_classes)
    if ranker.labels_rows:
        classes, codes = ranker.classes_, ranker.transduction_
    return np.asarray(np.asarray(codes)[:, None] == classes, dtype=np.float64)


def _filled(block: Any, shares: Floats) -> Floats:
    """Return how many rows of each class have a value other than 0."""
    if issparse(block):
        pattern = csr_array(block != 0, dtype=np.float64)
        return np.asarray(pattern.T @ shares).T
    return np.asarray(shares.T @ ((block != 0) & ~np.isnan(block)))


def _log2_fold(means: Floats, rest_means: Floats) -> Floats:
    one, other = (np.expm1(np.maximum(each, 0.0)) + LEAST_MEAN for each in (means, rest_means))
    return np.asarray(np.log2(one / other))
