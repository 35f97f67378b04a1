"""The rows that pictures show: their classes, by whose word, and their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import draw_rows
from semisift.out_of_core._matrix import as_stored
from semisift.transduction._positive_unlabelled import with_rest
from semisift.utils._labels import Labels, parse_labels
from semisift.utils._sklearn_compat import safe_indexing
from semisift.utils._text import plural, printable_name

MAX_CLASSES = 8
COLUMNS_AT_ONCE = 256

# Rows of a stored table that are drawn: more would make boxes no clearer.
MAX_LABELLED, MAX_UNLABELLED = 2000, 3000

KINDS = {"labelled": "{}, labelled", "given": "given the label {}", "unlabelled": "unlabelled"}


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Labels of the rows, and the labels that the ranker gave to the others.

    Attributes
    ----------
    labels : Labels
    given : int array of shape (n_rows,) or None
        Class of every row in the view of the ranker; None where it gives no labels.
    confidence : array of shape (n_rows,) or None
        How sure the ranker is of these; None where it does not tell.
    row_names : sequence of str or None
        None where the rows have none.
    full : RowLabels or None
        All rows, where these are some of them.
    """

    labels: Labels
    given: NDArray[np.intp] | None
    confidence: NDArray[np.floating] | None = None
    row_names: Sequence[str] | None = None
    full: "RowLabels | None" = None

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
        if self.full is not None:
            return self.full.shown_classes
        sizes = self.labels.counts + (0 if self.given_counts is None else self.given_counts)
        return np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES])

    @cached_property
    def names(self) -> list[str]:
        """Names of all classes as they are shown."""
        return [printable_name(name) for name in self.labels.classes]

    def name(self, row: int) -> str:
        """Return the name of a row, or its number, counted from 1."""
        return f"row {row + 1:,}" if self.row_names is None else printable_name(self.row_names[row])

    def part(self, rows: NDArray[np.integer]) -> "RowLabels":
        """Return what is known of some rows, which keep their names or numbers."""
        return RowLabels(
            Labels(self.labels.codes[rows], self.labels.classes, self.labels.rest),
            None if self.given is None else self.given[rows],
            None if self.confidence is None else self.confidence[rows],
            [self.name(row) for row in rows.tolist()],
            self,
        )

    def class_of(self, row: int) -> str:
        """Return which label a row carries, or was given and how surely, in words."""
        code = self.labels.codes[row]
        if code >= 0:
            return KINDS["labelled"].format(self.names[code])
        if self.given is None:
            return KINDS["unlabelled"]
        sure = "" if self.confidence is None else f", confidence {self.confidence[row]:.0%}"
        return KINDS["given"].format(self.names[self.given[row]]) + sure


@dataclass(frozen=True, eq=False)
class Group:
    """Rows that are drawn alike; `place` is the class's place among those shown."""

    kind: Literal["labelled", "given", "unlabelled"]
    place: int | None
    name: str
    rows: NDArray[np.intp]

    @property
    def is_labelled(self) -> bool:
        """Whether the rows carry their label."""
        return self.kind == "labelled"

    @property
    def words(self) -> str:
        """What the rows are."""
        return KINDS[self.kind].format(self.name)


def read_rows(
    ranker: FeatureRanker, X: Any, y: Any, row_names: Sequence[Any] | None = None
) -> RowLabels | None:
    """Read the labels of the rows; None where neither rows nor labels are known.

    Parameters
    ----------
    ranker : fitted FeatureRanker
    X : array-like, frame, sparse matrix or None
    y : array-like or None
    row_names : sequence, optional
        Else the index of a frame, unless it counts the rows.

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
    n_rows = len(labels.codes)
    if row_names is None:
        index = getattr(X, "index", None)  # of a frame of pandas
        if index is not None and not np.array_equal(index, np.arange(n_rows)):
            row_names = index
    elif len(row_names) != n_rows:
        raise ValueError(f"row_names must have a name for each of {n_rows} rows: {len(row_names)}.")
    names = None if row_names is None else [str(name) for name in row_names]
    if labels.n_classes == 1 and hasattr(ranker, "positive_share_"):
        labels = with_rest(labels)
    transduction = getattr(ranker, "transduction_", None)
    if transduction is None:
        return RowLabels(labels, None, row_names=names)
    if len(transduction) != n_rows:
        raise ValueError(
            f"X and y must be the rows of the fit: they have {n_rows} rows, the ranker was fitted "
            f"on {len(transduction)}."
        )
    if not np.isin(transduction, labels.classes).all():
        raise ValueError("y must be the labels of the fit: some classes of the ranker are absent.")
    sure = getattr(ranker, "confidence_", None)
    confidence = None if sure is None else np.asarray(sure)
    return RowLabels(labels, np.searchsorted(labels.classes, transduction), confidence, names)


def group_rows(rows: RowLabels) -> list[Group]:
    """Split the rows of the classes that are shown: labelled, given a label, and unlabelled."""
    codes = rows.labels.codes
    groups = []
    for place, code in enumerate(rows.shown_classes):
        name = rows.names[code]
        groups.append(Group("labelled", place, name, np.flatnonzero(codes == code)))
        if rows.given is not None:
            given = np.flatnonzero((codes < 0) & (rows.given == code))
            groups.append(Group("given", place, name, given))
    if rows.given is None:
        groups.append(Group("unlabelled", None, "unlabelled", np.flatnonzero(codes < 0)))
    return [group for group in groups if len(group.rows)]


def values_of(X: Any, columns: Sequence[int] | NDArray[np.integer]) -> NDArray[np.float64]:
    """Return some columns of a frame, an array or a sparse matrix as a dense array."""
    X = X.tocsc() if issparse(X) else X if hasattr(X, "columns") else np.asarray(X)
    part = safe_indexing(X, np.asarray(columns, dtype=np.intp), axis=1)
    part = part.toarray() if issparse(part) else part
    return np.asarray(part, dtype=np.float64)


def find_constant(X: Any, columns: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which of these columns have a single value besides missing ones."""
    X = X.tocsc() if issparse(X) else X
    constant = np.zeros(len(columns), dtype=bool)
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        values = values_of(X, columns[part])
        constant[part] = np.fmin.reduce(values, axis=0) == np.fmax.reduce(values, axis=0)
    return constant


def draw_some(ranker: FeatureRanker, X: Any, rows: RowLabels | None) -> tuple[Any, Any, str]:
    """Return the rows for the pictures: all of them, or some of those that stay in their file.

    Parameters
    ----------
    ranker : fitted FeatureRanker
        Of the unlabelled rows that it was fitted to, with the same seed, some are drawn.
    X : array, frame, sparse matrix, OutOfCoreMatrix, what `fit` makes one of, or None
    rows : RowLabels or None
        Of all rows.

    Returns
    -------
    X, rows, str
        The sentence says which rows these are; empty where they are all.
    """
    stored = as_stored(X)
    if stored is None or rows is None:
        return None if stored is not None else X, rows, ""
    if stored.fits():
        return stored.load(), rows, ""
    labels, seed = rows.labels, ranker.random_state
    most = max(2, min(MAX_LABELLED + MAX_UNLABELLED, stored.max_sampled))
    n_labelled = min(len(labels.labelled), MAX_LABELLED, most // 2)
    n_others = min(MAX_UNLABELLED, most - n_labelled)
    kept = draw_rows(labels, n_others, seed if isinstance(seed, int) else 0)
    is_labelled = labels.codes[kept] >= 0
    own = kept[is_labelled]
    if len(own) > n_labelled:
        own = np.random.default_rng(0).choice(own, n_labelled, replace=False)
    drawn = np.sort(np.concatenate([own, kept[~is_labelled]]))
    sentence = (
        f"The rows stay in their file: this picture and those below show {len(drawn):,} of "
        f"{plural(len(stored), 'row')}, drawn at random, of which {len(own):,} carry a label."
    )
    return stored.take(drawn, "pictures"), rows.part(drawn), sentence
