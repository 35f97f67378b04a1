"""Markers: what is high or low in one class against the rest, for each class.

With p_ic how likely class c is for row i, and F_c the score of `TransductiveScore` for class c,

    score_cr = +- sqrt((n - 2) F_cr),      positive where the mean of class c is above the rest

which is Student's t of class c against the rest, were the labels certain. The labels of rows that
nobody labelled are found from the same values, so this is a measure of size and no test: p-values
by class come from an assessment (see `semisift.transduction.twins`).

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
from semisift.math import Bools, Floats, Ints
from semisift.stored.rows import StoredRows
from semisift.transduction.axes import find_scale
from semisift.transduction.components import ClassSums, weighted
from semisift.transduction.tally import Tally, class_scores

if TYPE_CHECKING:
    from semisift._base import FeatureRanker

# What scanpy adds to both means of a fold change.
LEAST_MEAN = 1e-9


@dataclass(frozen=True, eq=False)
class Markers:
    """How much each column tells each class from the rest.

    Attributes
    ----------
    classes : array of shape (k,)
    features : array of str of shape (p,)
        Names of the columns.
    scores : float array of shape (k, p)
        Like Student's t of the class against the rest: positive where the class is higher, 0 for
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
    kind, scale = kind_of_data(problem), find_scale(problem)
    n_classes, n_columns = shares.shape[1], problem.n_features
    tally = Tally(n_classes, n_columns, whole.rows.has_gaps)
    filled = np.zeros((n_classes, n_columns))
    with one_blas_thread():
        for start, block in whole.rows.blocks("markers"):
            own = slice(start, start + block.shape[0])
            Z, counted = scale.scale(block), None if weights is None else weights[own]
            tally.add(Z, block, shares[own], counted)
            filled += _filled(block, weighted(shares[own], counted))
    sums = tally.class_sums(shares, weights)
    sizes, rest = sums.sizes, np.maximum(sums.total - sums.sizes, np.finfo(np.float64).tiny)
    least = np.maximum(sizes, np.finfo(np.float64).tiny)
    means, rest_means = sums.sums / least, -sums.sums / rest
    fold_changes = None
    if kind != "measurements":
        overall = tally.total / np.maximum(sums.total, 1.0)
        overall = overall + (0.0 if problem.is_sparse else scale.centre)
        fold_changes = _log2_fold(overall + means, overall + rest_means)
    assessment = getattr(ranker, "assessment_", None)
    names = problem.feature_names
    unnamed = np.array([f"x{j}" for j in range(n_columns)], dtype=object)
    return Markers(
        classes=np.asarray(getattr(ranker, "classes_", problem.labels.classes)),
        features=unnamed if names is None else np.asarray(names, dtype=object),
        scores=signed_scores(sums, problem.constant),
        differences=means - rest_means,
        fold_changes=fold_changes,
        shares=filled / least,
        rest_shares=(filled.sum(axis=0) - filled) / rest,
        sizes=np.asarray(weighted(shares, weights).sum(axis=0)),
        p_values=getattr(assessment, "class_p_values", None),
    )


def signed_scores(sums: ClassSums, constant: Bools) -> Floats:
    """Return what is like Student's t of each class against the rest; 0 for constant columns.

    Parameters
    ----------
    sums : ClassSums
    constant : bool array of shape (p,)

    Returns
    -------
    float array of shape (n_classes, p)
    """
    freedom = np.maximum(sums.total - 2.0, 0.0)
    return np.asarray(np.sign(sums.sums) * np.sqrt(freedom * class_scores(sums, constant)))


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
