"""The rows behind the pictures: which class they belong to, and by whose word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift._base import FeatureRanker
from semisift._labels import Labels, parse_labels
from semisift._sklearn import safe_indexing
from semisift._words import visible

MOST_CLASSES = 8
MOST_ROWS_SHOWN = 2000
COLUMNS_AT_ONCE = 256
Kind = Literal["labelled", "given", "unlabelled"]


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Labels of the rows, and the labels that the ranker gave to the others.

    Attributes
    ----------
    labels : Labels
    given : int array of shape (n_rows,) or None
        Class of every row in the view of the ranker; None where it gives no labels.
    """

    labels: Labels
    given: NDArray[np.intp] | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels.codes)

    @property
    def given_counts(self) -> NDArray[np.intp] | None:
        """How many unlabelled rows the ranker put into each class."""
        if self.given is None:
            return None
        return np.bincount(self.given[self.labels.unlabelled], minlength=self.labels.n_classes)

    @property
    def shown_classes(self) -> NDArray[np.intp]:
        """Codes of the classes that the pictures show: the largest ones, in their own order."""
        sizes = self.labels.counts + (0 if self.given_counts is None else self.given_counts)
        return np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])

    @property
    def names(self) -> list[str]:
        """Names of all classes as they are shown."""
        return [visible(name) for name in self.labels.classes]


@dataclass(frozen=True, eq=False)
class Group:
    """Rows that are drawn alike; `place` is the class's place among those shown."""

    kind: Kind
    place: int | None
    name: str
    rows: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows on the two directions in which they differ most.

    Attributes
    ----------
    positions : array of shape (n_rows, 2)
    shown : bool array of shape (n_rows,)
        A random choice of rows where there are too many; labelled ones come first.
    shares : tuple of two floats
        Share of the variance along each direction.
    n_features : int
    """

    positions: NDArray[np.float64]
    shown: NDArray[np.bool_]
    shares: tuple[float, float]
    n_features: int


def read_rows(ranker: FeatureRanker, X: Any, y: Any) -> RowLabels | None:
    """Read the labels of the rows; None where neither rows nor labels are known.

    Parameters
    ----------
    ranker : fitted FeatureRanker
    X : array-like, frame, sparse matrix or None
    y : array-like or None

    Returns
    -------
    RowLabels or None

    Raises
    ------
    ValueError
        If these are not the rows and labels of the fit.
    """
    if X is None and y is None:
        return None
    if y is None and hasattr(ranker, "classes_"):
        raise ValueError("y must be given with X: the labels that the ranker was fitted on.")
    if X is not None and X.shape[1] != ranker.n_features_in_:
        raise ValueError(
            f"X must have the columns of the fit: it has {X.shape[1]}, the ranker has seen "
            f"{ranker.n_features_in_}."
        )
    labels = parse_labels(y, len(y) if X is None else X.shape[0])
    transduction = getattr(ranker, "transduction_", None)
    if transduction is None:
        return RowLabels(labels, None)
    if len(transduction) != len(labels.codes):
        raise ValueError(
            f"X and y must be the rows of the fit: they have {len(labels.codes)} rows, the ranker "
            f"was fitted on {len(transduction)}."
        )
    if not np.isin(transduction, labels.classes).all():
        raise ValueError("y must be the labels of the fit: some classes of the ranker are absent.")
    return RowLabels(labels, np.searchsorted(labels.classes, transduction))


def group_rows(rows: RowLabels) -> list[Group]:
    """Split the rows of the classes that are shown: labelled, given a label, and unlabelled."""
    codes = rows.labels.codes
    unlabelled = codes < 0
    groups = []
    for place, code in enumerate(rows.shown_classes):
        name = rows.names[code]
        groups.append(Group("labelled", place, name, np.flatnonzero(codes == code)))
        if rows.given is not None:
            given = np.flatnonzero(unlabelled & (rows.given == code))
            groups.append(Group("given", place, name, given))
    if rows.given is None:
        groups.append(Group("unlabelled", None, "unlabelled", np.flatnonzero(unlabelled)))
    return [group for group in groups if len(group.rows)]


def values_of(X: Any, columns: Sequence[int] | NDArray[np.integer]) -> NDArray[np.float64]:
    """Return some columns of a frame, an array or a sparse matrix as a dense array."""
    part = safe_indexing(X, np.asarray(columns, dtype=np.intp), axis=1)
    part = part.toarray() if issparse(part) else part
    return np.asarray(part, dtype=np.float64)


def find_constant(X: Any, columns: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Tell which of these columns have a single value, some columns at a time."""
    X = X.tocsc() if issparse(X) else X
    constant = np.zeros(len(columns), dtype=bool)
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        values = values_of(X, columns[part])
        constant[part] = values.min(axis=0) == values.max(axis=0)
    return constant


def project(values: NDArray[np.float64], rows: RowLabels) -> Projection | None:
    """Find the two principal directions of the standardised columns; None if there are none.

    Parameters
    ----------
    values : array of shape (n_rows, n_features)
    rows : RowLabels

    Returns
    -------
    Projection or None
    """
    filled = np.where(np.isfinite(values), values, np.nan)
    with np.errstate(all="ignore"):
        centred = filled - np.nanmean(filled, axis=0) if len(filled) else filled
        scale = np.sqrt(np.nanmean(centred**2, axis=0)) if len(filled) else np.zeros(0)
    varies = np.isfinite(scale) & (scale > 0)
    if varies.sum() < 2:
        return None
    standard = np.nan_to_num(centred[:, varies] / scale[varies])
    variances, directions = np.linalg.eigh(standard.T @ standard)
    directions = directions[:, [-1, -2]]
    # the sign is free: let the heaviest feature point to the right and up
    heaviest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[heaviest, [0, 1]])
    shares = variances[[-1, -2]] / variances.sum()
    return Projection(
        positions=standard @ directions,
        shown=_choose(rows),
        shares=(float(shares[0]), float(max(0.0, shares[1]))),
        n_features=int(varies.sum()),
    )


def _choose(rows: RowLabels) -> NDArray[np.bool_]:
    rng = np.random.default_rng(0)
    order = np.concatenate(
        [rng.permutation(rows.labels.labelled), rng.permutation(rows.labels.unlabelled)]
    )
    shown = np.zeros(rows.n_rows, dtype=bool)
    shown[order[:MOST_ROWS_SHOWN]] = True
    return shown
