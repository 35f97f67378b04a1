"""Problem: all that a method scores from, validated once and shared.

What a fit was given, in few bytes: methods that need it again tell whether they have it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse
from sklearn import get_config

from semisift.base._sample_info import NOTHING, SampleInfo
from semisift.base._validation import check_finite, clean_dense, clean_sparse, clean_taken, parts_of
from semisift.exceptions import GraphWarning
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.out_of_core._statistics import column_statistics
from semisift.utils._columns import (
    blocks,
    column_moments,
    power_of_two,
    some_rows,
    spans,
    spread_of_counted,
)
from semisift.utils._graph import Graph, GraphOptions, cure, given_graph, neighbour_graph
from semisift.utils._labels import (
    UNLABELLED,
    Labels,
    Pairs,
    pairs_from_labels,
    parse_labels,
    parse_pairs,
)
from semisift.utils._neighbors import distinct_rows
from semisift.utils._random import stream_words
from semisift.utils._text import examples
from semisift.utils._warnings import warn

# Columns are worked on in blocks of about this many values, 1 MB as float64: more would leave the
# processor's cache.
BLOCK_VALUES = 1 << 17

# What takes at most this share of the memory of X is sent along with it.
SMALL_SHARE = 1 / 20

# Separates the draw of unlabelled rows from the draws a method makes with the same seed.
ROW_STREAM = 0x726F77

# Of more unlabelled rows so many represent all, with methods that have no smaller number of their
# own: the choice does not depend on where the rows are stored, nor on how much memory is free.
MAX_SAMPLED = 20_000

# So many are held where nothing is asked of unlabelled rows but the statistics of all.
MIN_SAMPLED = 64


@dataclass(frozen=True, eq=False)
class FullData:
    """All rows of a table, of which the training data holds some.

    Attributes
    ----------
    rows : OutOfCoreMatrix
    labels : Labels
        Of all rows.
    sampled : int array
        The rows that the training data holds, ascending.
    design : SampleInfo
        Of all rows.
    """

    rows: OutOfCoreMatrix
    labels: Labels
    sampled: NDArray[np.int64]
    design: SampleInfo = NOTHING


@dataclass(frozen=True, eq=False)
class TrainingData:
    """A clean matrix, its labels and a seed, with column statistics computed once.

    The arrays are read-only: they may be the caller's own.

    Attributes
    ----------
    X : Fortran-ordered float32 or float64 array, or scipy.sparse.csc_array
        Finite, but for missing values. A sparse X has sorted indices, no duplicates and no explicit
        zeros.
    labels : Labels
    seed : int
        In [0, 2**63); the only source of randomness of a method.
    feature_names : array of str or None
    given_pairs : Pairs or None
        Pairs of rows that the user gave, besides those that follow from the labels.
    graph_source : TrainingData or None
        The training data of the same rows whose columns make the neighbour graphs; None is this
        one.
    full : FullData or None
        All rows, where the training data holds some of them.
    numbers : int array of shape (n_rows,) or None
        The numbers of the rows in the table that they were taken from, by which some of them are
        drawn; None counts from 0.
    design : SampleInfo
        The groups, batches and weights of the rows, as far as they are known.
    has_missing : bool
        Whether values of X are missing: NaN in a dense X.
    is_log : bool
        Whether X holds logarithms of what were counts.
    made : dict
        What was made from X alone, by name.
    """

    X: Any
    labels: Labels
    seed: int = 0
    feature_names: NDArray[Any] | None = None
    given_pairs: Pairs | None = None
    graph_source: "TrainingData | None" = None
    full: FullData | None = None
    numbers: NDArray[np.integer] | None = None
    design: SampleInfo = NOTHING
    has_missing: bool = False
    is_log: bool = False
    made: dict[str, Any] = field(default_factory=dict, init=False)
    _parts: dict[int, "TrainingData"] = field(default_factory=dict, init=False)
    _graphs: dict[Any, tuple[Any, Graph]] = field(default_factory=dict, init=False)

    @classmethod
    def build(
        cls,
        X: Any,
        y: Any = None,
        *,
        seed: int = 0,
        feature_names: Sequence[str] | None = None,
        must_link: Any = None,
        cannot_link: Any = None,
        design: SampleInfo = NOTHING,
        allow_nan: bool = False,
    ) -> "TrainingData":
        """Clean `X` and `y`, never changing either.

        Parameters
        ----------
        X : 2-d array or sparse matrix
            Numbers of any type. It is copied at most once, and not at all when it is a
            Fortran-ordered array or a canonical CSC matrix of float32 or float64.
        y : array-like or None
            Labels, as `parse_labels` reads them.
        seed : int
        feature_names : sequence of str, optional
        must_link, cannot_link : array-like of shape (k, 2), optional
            Pairs of row numbers.
        design : SampleInfo, optional
        allow_nan : bool
            Whether NaN in a dense X is a missing value that may stay; else it is refused.

        Returns
        -------
        Problem
        """
        names = None if feature_names is None else np.asarray(feature_names, dtype=object)
        allow_nan = allow_nan and not issparse(X)
        clean = clean_sparse(X) if issparse(X) else clean_dense(np.asarray(X), names, allow_nan)
        has_missing = False
        if allow_nan or not get_config()["assume_finite"]:
            has_missing = check_finite(clean, names, allow_nan)
        labels = parse_labels(y, clean.shape[0])
        has_pairs = must_link is not None or cannot_link is not None
        given = parse_pairs(must_link, cannot_link, labels) if has_pairs else None
        return cls(clean, labels, seed, names, given, design=design, has_missing=has_missing)

    @classmethod
    def of_stored(
        cls,
        rows: OutOfCoreMatrix,
        y: Any = None,
        *,
        seed: int = 0,
        max_unlabelled: int = MAX_SAMPLED,
        max_labelled: int | None = None,
        must_link: Any = None,
        cannot_link: Any = None,
        design: SampleInfo = NOTHING,
    ) -> "TrainingData":
        """Take the labelled rows and some of the unlabelled ones, and know of all.

        Parameters
        ----------
        rows : OutOfCoreMatrix
        y : array-like or None
        seed : int
        max_unlabelled : int
            Unlabelled rows that are held in memory.
        max_labelled : int, optional
            Labelled rows that are held, for methods that need no more of them than
            `semisift.base._pairs.class_moments`; None holds all.
        must_link, cannot_link : array-like of shape (k, 2), optional
            Pairs of row numbers, whose rows are held as well.
        design : SampleInfo, optional
            Of all rows.

        Returns
        -------
        Problem
        """
        labels = parse_labels(y, len(rows))
        sampled = draw_rows(labels, max_unlabelled, seed, max_labelled=max_labelled)
        given = None
        if must_link is not None or cannot_link is not None:
            pairs = parse_pairs(must_link, cannot_link, labels)
            sampled = np.union1d(
                sampled, np.concatenate([*pairs.must_link, *pairs.cannot_link, sampled])
            )
            moved = [
                np.searchsorted(sampled, each) for each in (pairs.must_link, pairs.cannot_link)
            ]
            given = Pairs(*(each.astype(np.int32) for each in moved))
        taken = rows.cached("sample", joblib.hash(sampled), lambda: parts_of(rows.take(sampled)))
        X = clean_taken(taken, (len(sampled), rows.shape[1]))
        some = Labels(labels.codes[sampled], labels.classes)
        full = FullData(rows, labels, sampled, design)
        return cls(
            X,
            some,
            seed,
            rows.feature_names,
            given,
            full=full,
            numbers=sampled,
            design=design.take(sampled),
        )

    def with_statistics_of_all(self) -> "TrainingData":
        """Let the extremes and the spread of the columns be those over all rows."""
        if self.full is not None:
            found = column_statistics(self.full.rows)
            self.__dict__["spans"] = found.spans
            self.__dict__["spread"] = found.spread
        return self

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs: those that follow from the labels and those that were given, each once.

        Their number grows with the square of the labelled rows; `semisift.base._pairs.pair_sums`
        does without them.
        """
        must, cannot = pairs_from_labels(self.labels)
        given = self.given_pairs
        if given is None:
            return Pairs(must, cannot)
        kinds = (must, given.must_link), (cannot, given.cannot_link)
        return Pairs(*(np.unique(np.concatenate(kind), axis=0) for kind in kinds))

    def part(self, rows: NDArray[np.integer]) -> "TrainingData":
        """Return the training data of some rows, ascending, among which are all the classes."""
        if len(rows) == self.n_rows:
            return self
        return replace(
            self,
            X=clean_sparse(self.X[rows]) if self.is_sparse else some_rows(self.X, rows),
            labels=Labels(self.labels.codes[rows], self.labels.classes),
            given_pairs=None,
            graph_source=self.graph_source and self.graph_source.part(rows),
            full=None,
            numbers=rows if self.numbers is None else self.numbers[rows],
            design=self.design.take(rows),
        )

    def drop_zero_weight(self, *, keeps_others: bool = False) -> "TrainingData":
        """Return the training data of the rows whose weight is not 0.

        Parameters
        ----------
        keeps_others : bool
            Whether the others are to be labelled in the end; else it is as if they were not there.

        Returns
        -------
        Problem
        """
        weights = self.design.weights
        if weights is None or weights.all():
            return self
        rows, codes, classes = np.flatnonzero(weights), self.labels.codes, self.labels.classes
        present = np.unique(codes[rows][codes[rows] >= 0])
        if len(present) < min(2, len(classes)):
            gone = np.delete(classes, present).tolist()
            raise ValueError(
                "sample_weight must leave labelled rows of two classes: all rows of "
                f"{gone[0]!r} have the weight 0. Leave out their labels as well."
            )
        known = self
        if len(present) < len(classes):  # the others are no classes of the training data
            own = np.where(np.isin(codes, present), np.searchsorted(present, codes), -1)
            known = replace(self, labels=Labels(own.astype(codes.dtype), classes[present]))
        if keeps_others:
            return known._limited(rows)
        given = self.given_pairs
        if given is not None:
            given = given.moved(np.where(weights > 0, np.cumsum(weights > 0) - 1, UNLABELLED))
        return replace(known.part(rows), given_pairs=given)

    def limited(self, max_unlabelled: int | None) -> "TrainingData":
        """Return the data of `some_rows`, which knows all rows; itself if these are all."""
        rows = self.some_rows(max_unlabelled)
        if len(rows) == self.n_rows:
            return self
        if len(rows) not in self._parts:
            self._parts[len(rows)] = self._limited(rows)
        return self._parts[len(rows)]

    def _limited(self, rows: NDArray[np.int64]) -> "TrainingData":
        if (full := self.full) is None:
            stored = OutOfCoreMatrix(self.X)
            stored.has_missing = self.has_missing
            full = FullData(stored, self.labels, np.arange(self.n_rows), self.design)
        return replace(self.part(rows), full=replace(full, sampled=full.sampled[rows]))

    def with_labels(self, labels: Labels, given_pairs: Pairs | None, seed: int) -> "TrainingData":
        """Return the training data of the same rows with other labels, and the same graphs."""
        no_others: dict[str, Any] = {"full": None, "numbers": None}
        return self._same_rows(labels=labels, given_pairs=given_pairs, seed=seed, **no_others)

    def with_design(self, design: SampleInfo) -> "TrainingData":
        """Return the training data of the same rows, of which something else is known."""
        return self._same_rows(design=design)

    def relabelled(self, rows: NDArray[np.integer], labels: Labels) -> "TrainingData":
        """Return the training data with a second class, the `rest`, of which some rows are.

        Parameters
        ----------
        rows : int array
        labels : Labels
            Of the rows that the training data holds.

        Returns
        -------
        Problem
        """
        full, rest = self.full, labels.rest
        assert rest is not None
        if full is not None:
            codes = np.full(len(full.labels.codes), -1, dtype=np.int32)
            codes[full.labels.labelled] = 1 - rest
            codes[full.sampled[rows]] = rest
            full = replace(full, labels=replace(labels, codes=codes))
        codes = labels.codes.copy()
        codes[rows] = rest
        return self._same_rows(labels=replace(labels, codes=codes), full=full)

    def _same_rows(self, **changes: Any) -> "TrainingData":
        other = replace(self, graph_source=self.graph_source or self, **changes)
        for name in ("spans", "constant", "spread", "made"):
            other.__dict__[name] = getattr(self, name)  # as a cached property does
        return other

    @cached_property
    def unweighted(self) -> "TrainingData":
        """The training data in which rows count alike, without those that do not count."""
        if self.design.weights is None:
            return self
        some = self.drop_zero_weight()
        return replace(some, design=replace(some.design, weights=None), full=None)

    def without_caches(self) -> "TrainingData":
        """Return the data to send elsewhere, without most that can be made from it again."""
        other = replace(self, full=None)
        size = self.X.data.nbytes
        for name, made in self.made.items():
            if isinstance(made, np.ndarray) and made.nbytes <= size * SMALL_SHARE:
                other.made[name] = made
        return other

    def some_rows(self, max_unlabelled: int | None) -> NDArray[np.int64]:
        """Return all labelled rows and at most so many unlabelled ones; see `draw_rows`."""
        return draw_rows(self.labels, max_unlabelled, self.seed, self.numbers)

    @property
    def all_labels(self) -> Labels:
        """The labels of all rows, also of those that the training data does not hold."""
        return self.labels if self.full is None else self.full.labels

    @property
    def n_rows(self) -> int:
        """Number of rows, labelled and unlabelled."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether `X` is a sparse array."""
        return bool(issparse(self.X))

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns have a single value."""
        return np.asarray(self.spans == 0)

    @cached_property
    def spans(self) -> NDArray[np.float64]:
        """Difference between the largest and the smallest value of each column."""
        return spans(self.X, has_missing=self.has_missing)

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation of each column over all rows, as often as they count.

        Dense and sparse X give the same bits: zeros are counted rather than added, and the other
        values are added one by one in row order.
        """
        spread, is_sparse = np.empty(self.n_features), self.is_sparse
        n_values = self.X.nnz if is_sparse else self.X.size
        for block in blocks(self.n_features, n_values // max(1, self.n_features), BLOCK_VALUES):
            X = self.X[:, block]
            if self.has_missing or self.design.weights is not None:
                spread[block] = spread_of_counted(X, weights=self.design.weights)
            elif is_sparse:
                spread[block] = _sparse_spread(X)
            else:
                unit = power_of_two(np.abs(X).max(axis=0))  # so that squares stay in range
                spread[block] = np.sqrt(column_moments(X, unit)[1] / len(X)) * unit
        # of the smallest numbers there are it may come out as 0, which no column but a constant has
        spread = np.maximum(spread, np.finfo(np.float64).smallest_subnormal)
        spread[self.constant] = 0.0
        return spread

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the values, labels and seed, to tell whether two problems are the same."""
        X = self.X
        values = (X.data, X.indices, X.indptr) if self.is_sparse else X
        classes = self.labels.classes.tolist()
        about = [values, X.shape, self.labels.codes, classes, self.seed]
        if self.design.is_known:
            about.append(vars(self.design))
        found: str = joblib.hash(about)
        return found

    def cached(self, name: str, make: Callable[["TrainingData"], Any]) -> Any:
        """Return what is made from `X` alone, when it is first asked for.

        Problems with the same `X` and other labels share it.
        """
        if name not in self.made:
            self.made[name] = make(self)
        return self.made[name]

    def graph(self, options: GraphOptions, given: Any = None) -> Graph:
        """Return the neighbour graph of all rows, made when it is first asked for.

        Parameters
        ----------
        options : GraphOptions
        given : array, sparse matrix or transformer, optional
            A graph of the user's own, as `semisift.utils._graph.given_graph` takes it.

        Returns
        -------
        Graph
        """
        key = options, id(given)
        if key not in self._graphs:
            # what was given is kept, or another object might get its number
            self._graphs[key] = given, self._make_graph(options, given)
        return self._graphs[key][1]

    def _make_graph(self, options: GraphOptions, given: Any) -> Graph:
        if (source := self.graph_source) is not None:
            graph = source.graph(options, given)
            merged = len(graph.rows) < self.n_rows and self.X is not source.X
            # rows that are equal there may differ here
            return graph.split(distinct_rows(self.X)[1])[0] if merged else graph
        width = self.spread if options.feature_scaling == "standard" else self.spans
        data = self.X, options, width
        if given is None:
            graph = neighbour_graph(*data, has_missing=self.has_missing)
        else:
            graph = given_graph(given, *data)
        if graph.few_edges is not None:
            warn(
                f"The neighbour graph of {self.n_rows} rows rests on few edges: its heat weights "
                f"are as uneven as if there were {graph.few_edges:.3g} edges. {cure(options)}",
                GraphWarning,
            )
        return graph


def draw_rows(
    labels: Labels,
    max_unlabelled: int | None,
    seed: int,
    numbers: NDArray[np.integer] | None = None,
    max_labelled: int | None = None,
) -> NDArray[np.int64]:
    """Return all labelled rows and at most so many unlabelled ones, ascending.

    The unlabelled rows are those whose numbers have the smallest hashes with the seed. So neither
    the way in which rows are stored nor those who read them change the draw, and a smaller draw is
    part of a larger one.

    Parameters
    ----------
    labels : Labels
    max_unlabelled : int or None
    seed : int
    numbers : int array of shape (n_rows,), optional
        The numbers of the rows; else they count from 0.
    max_labelled : int, optional
        Labelled rows, of each class the same share of it; all if it is not given.

    Returns
    -------
    int array
    """

    def smallest(rows: NDArray[np.integer], most: int | None) -> NDArray[np.integer]:
        if most is None or len(rows) <= most:
            return rows
        words = stream_words(seed, 0, ROW_STREAM, rows if numbers is None else numbers[rows])
        return rows[np.argsort(words, kind="stable")[:most]]

    drawn = [smallest(labels.unlabelled, max_unlabelled)]
    if max_labelled is None or len(labels.labelled) <= max_labelled:
        drawn.append(labels.labelled)
    else:
        share = max(2, max_labelled // labels.n_classes)
        classes = (np.flatnonzero(labels.codes == code) for code in range(labels.n_classes))
        drawn += [smallest(rows, share) for rows in classes]
    return np.sort(np.concatenate(drawn)).astype(np.int64)


def _sparse_spread(X: csc_array) -> NDArray[np.float64]:
    n_rows, n_columns = X.shape
    filled = np.diff(X.indptr)
    column = np.repeat(np.arange(n_columns), filled)
    unit = power_of_two(abs(X).max(axis=0).toarray().ravel())
    scaled = X.data * (1.0 / unit)[column]
    mean = np.bincount(column, scaled, n_columns) / n_rows
    squares = np.bincount(column, (scaled - mean[column]) ** 2, n_columns)
    squares = squares + (n_rows - filled) * mean**2
    return np.sqrt(squares / n_rows) * unit


# --- given ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FitFingerprint:
    """What a fit was given, so that methods that need it again tell whether they have it.

    Attributes
    ----------
    n_rows : int
    is_marked : bool
        Whether X was marked as logarithms of counts.
    classes : list
    of_rows : dict of str to array or None
        y, groups, batch and sample_weight; a pickle holds hashes of them.
    """

    n_rows: int
    is_marked: bool
    classes: list[Any]
    of_rows: dict[str, Any]

    @classmethod
    def of(cls, data: TrainingData) -> "FitFingerprint":
        """Return what is kept of the training data of a fit."""
        full = data if data.full is None else data.full
        labels, design = full.labels, full.design
        of_rows = {
            "y": labels.codes,
            "groups": design.groups,
            "batch": design.batches,
            "sample_weight": design.weights,
        }
        is_marked = data.design.depth is not None
        return cls(len(labels.codes), is_marked, labels.classes.tolist(), of_rows)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "of_rows": {name: self._hash(name) for name in self.of_rows}}

    def _hash(self, name: str) -> str | None:
        of_rows = self.of_rows[name]
        return joblib.hash(of_rows) if isinstance(of_rows, np.ndarray) else of_rows

    def has(self, name: str) -> bool:
        """Return whether the fit was given something of each row."""
        return self.of_rows[name] is not None

    def difference(self, again: "FitFingerprint", knows_labels: bool = True) -> str | None:
        """Say in what something else differs; None where it is the same, as far as is known.

        Groups may be told later: they say how rows are drawn, and nothing of their values.
        """
        if again.n_rows != self.n_rows:
            return f"X had {self.n_rows:,} rows: got {again.n_rows:,}"
        if again.is_marked != self.is_marked:
            was, now = ("was" if each.is_marked else "was not" for each in (self, again))
            return f"the X of fit {was} marked as normalize_counts does, and this one {now}"
        if knows_labels and again.classes != self.classes:
            return f"y had the classes {examples(self.classes)}: got {examples(again.classes)}"
        for name in self.of_rows:
            if name == "y" and not knows_labels:
                continue
            known, given = self._hash(name), again._hash(name)
            if known is not None and given != known:
                return f"{name} {'is lacking' if given is None else 'differs'}"
            if known is None and given is not None and name != "groups":
                return f"fit was given no {name}"
        return None
