"""Refit a ranker on other rows, columns or labels, as tests, rules and halves ask for it.

What belongs together stays together: the units are the groups of rows, such as donors, or single
rows where no groups are known.
"""

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, hstack, issparse
from sklearn.base import clone

from semisift.base._training_data import TrainingData
from semisift.parallel import Workers
from semisift.transduction._components import make_components, share_components
from semisift.utils._columns import blocks, some_rows
from semisift.utils._labels import UNLABELLED, Labels
from semisift.utils._redundancy import put_copies_last
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import quiet

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

# The family-wise error rate: in 200 trials with nothing but noise a level of .025 stays below 5 %
# nearly always, where one of .05 would exceed it every other time.
ALPHA = 0.025

# Above this p-value a ranking does not differ from that of permuted labels.
SIGNIFICANT = 0.05

# What is said of the error wherever that rate is bounded.
ERROR = "the chance to confirm any useless feature is at most .025"

# Repetitions: fewer than the least cannot reach ALPHA.
MIN = 39
MAX = 100

# Permutations of the labels where nobody says how many: 100 fits with that to the real labels.
N_LABELLINGS = 99

# On a half of the rows correlated features are looked for until so many columns are kept, or as
# many as are the best ones: for 20 halves of chowdary (52 x 22,283) that takes 0.2 s, where 400
# take 1.4 s.
KEPT_ON_HALVES = 200

# Repetitions on threads take about as much memory as X each, and no more than this together.
MAX_BYTES = 1 << 31

# Separates the draws of permuted labels from all others.
LABEL_STREAM = 0x6C6162

# Fewer columns get more than one permuted copy each.
MIN_SHADOWS = 5

# Classes with fewer labelled rows are not halved, nor are kinds of groups.
MIN_TO_HALVE = 4


# Units --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Units:
    """The groups of some rows.

    Attributes
    ----------
    of_row : int array of shape (n_rows,)
        The unit of each row.
    sizes : int array of shape (n_units,)
        How many rows each has.
    counts : int array of shape (n_units, n_classes)
        How many labelled rows of each class.
    batches : int array of shape (n_units,)
        Equal for units whose rows are in the same batches.
    """

    of_row: Ints
    sizes: Ints
    counts: Ints
    batches: Ints

    @property
    def is_free(self) -> Bools:
        """Which units have no labelled row."""
        return np.asarray(~self.counts.any(axis=1))

    @property
    def is_pure(self) -> Bools:
        """Which units have labelled rows of one class."""
        return np.asarray((self.counts > 0).sum(axis=1) == 1)

    @property
    def is_mixed(self) -> Bools:
        """Which units have labelled rows of several classes."""
        return np.asarray((self.counts > 0).sum(axis=1) > 1)

    def strata(self, within_batches: bool) -> Ints:
        """Return a number for each unit; those with the same one may change places."""
        return self.batches if within_batches else np.zeros_like(self.batches)

    def row_keys(self, data: TrainingData, within_batches: bool) -> Ints:
        """Return a number for each row; those with the same one are in one unit, and batch."""
        batches = data.design.batches
        if batches is None or not within_batches:
            return self.of_row
        return self.of_row * (int(batches.max()) + 1) + batches

    def members(self) -> list[NDArray[np.int64]]:
        """Return the rows of each unit, ascending."""
        return np.split(np.argsort(self.of_row, kind="stable"), np.cumsum(self.sizes)[:-1])

    def kinds(self) -> list[NDArray[np.int64]]:
        """Return the units with labelled rows, by which classes these are of."""
        labelled = np.flatnonzero(~self.is_free)
        if not len(labelled):
            return []
        kinds, kind_of = np.unique(self.counts[labelled] > 0, axis=0, return_inverse=True)
        return [labelled[kind_of.ravel() == kind] for kind in range(len(kinds))]


def units_of(data: TrainingData) -> Units:
    """Return the groups of the rows, or single rows where there are none."""
    design, codes, n_rows = data.design, data.labels.codes, data.n_rows
    of_row, sizes = np.arange(n_rows), np.ones(n_rows, dtype=np.int64)
    if design.groups is not None:
        _, of_row, sizes = np.unique(design.groups, return_inverse=True, return_counts=True)
    counts = np.zeros((len(sizes), data.labels.n_classes), dtype=np.int64)
    labelled = data.labels.labelled
    np.add.at(counts, (of_row[labelled], codes[labelled]), 1)
    batches = np.zeros(len(sizes), dtype=np.int64)
    if design.batches is not None:
        is_there = np.zeros((len(sizes), int(design.batches.max()) + 1), dtype=bool)
        is_there[of_row, design.batches] = True
        batches = np.unique(is_there, axis=0, return_inverse=True)[1].ravel()
    return Units(of_row, sizes, counts, batches)


# Columns ------------------------------------------------------------------------------------------


def with_columns(data: TrainingData, extra: Any, seed: int, *, own_graph: bool) -> TrainingData:
    """Return the training data with more columns behind its own, sparse if X is.

    `own_graph` says whether the new columns count for the neighbour graph.
    """
    if data.is_sparse:
        X = csc_array(hstack([data.X, extra], format="csc"))
    else:
        dtype = np.result_type(data.X, extra)
        X = np.concatenate([data.X.T, extra.T], dtype=dtype).T
    source = None if own_graph else data
    return replace(data, X=X, seed=seed, feature_names=None, graph_source=source, full=None)


def with_shadows(data: TrainingData, seed: int, *, own_graph: bool = False) -> TrainingData:
    """Return the training data with permuted copies of its columns behind them.

    Each column is permuted by itself over all rows, labelled or not. Dense and sparse columns are
    permuted alike. With groups each group has values of one other group, in random order: some of
    those of a larger one, and those of a smaller one repeatedly. The neighbour graph stays that of
    the real columns unless `own_graph` lets the permuted ones count as well.
    """
    X, rng = data.X, np.random.default_rng(seed)
    units = None if data.design.groups is None else units_of(data)
    shuffle: Any = _shuffle_sparse if data.is_sparse else _shuffle_dense
    shadows = [
        shuffle(X, rng) if units is None else _shuffle_groups(X, units, rng)
        for _ in range(-(-MIN_SHADOWS // data.n_features))
    ]
    join: Any = hstack if data.is_sparse else np.hstack
    extra = join(shadows) if len(shadows) > 1 else shadows[0]
    return with_columns(data, extra, seed, own_graph=own_graph)


def _places(rng: np.random.Generator, n_rows: int, n_columns: int) -> NDArray[np.int32]:
    """Return where each row goes, for each column."""
    rows = np.broadcast_to(np.arange(n_rows, dtype=np.int32), (n_columns, n_rows))
    return rng.permuted(rows, axis=1)


def _shuffle_dense(X: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.floating]:
    shuffled = np.empty(X.T.shape, dtype=X.dtype)
    for columns in blocks(X.shape[1], len(X)):
        places = _places(rng, len(X), len(shuffled[columns]))
        np.put_along_axis(shuffled[columns], places, X.T[columns], axis=1)
    return shuffled.T


def _shuffle_sparse(X: csc_array, rng: np.random.Generator) -> csc_array:
    rows = X.indices.copy()
    for columns in blocks(X.shape[1], X.shape[0]):
        starts = X.indptr[columns.start : columns.stop + 1]
        places = _places(rng, X.shape[0], len(starts) - 1)
        own = slice(starts[0], starts[-1])
        column = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        rows[own] = places[column, X.indices[own]]
    shuffled = csc_array((X.data.copy(), rows, X.indptr), shape=X.shape)
    shuffled.sort_indices()
    return shuffled


def _shuffle_groups(X: Any, units: Units, rng: np.random.Generator) -> Any:
    """Return columns in which groups have the values of other groups; sparse if X is."""
    n_rows, n_groups = X.shape[0], len(units.sizes)
    starts = np.cumsum(units.sizes) - units.sizes
    place = np.empty(n_rows, dtype=np.int64)
    place[np.argsort(units.of_row, kind="stable")] = np.arange(n_rows)
    place -= starts[units.of_row]
    made = []
    for columns in blocks(X.shape[1], n_rows):
        block = X[:, columns].toarray() if issparse(X) else X[:, columns]
        n_columns = block.shape[1]
        # rows by their group, in random order within
        by_group = np.argsort(units.of_row + rng.random((n_columns, n_rows)), axis=1)
        other = _places(rng, n_groups, n_columns)[:, units.of_row]
        places = starts[other] + np.remainder(place, units.sizes[other], dtype=np.int64)
        rows = np.take_along_axis(by_group, places, axis=1)
        shuffled = np.take_along_axis(block, rows.T, axis=0)
        made.append(csc_array(shuffled) if issparse(X) else shuffled)
    return hstack(made, format="csc") if issparse(X) else np.concatenate(made, axis=1)


# Rows ---------------------------------------------------------------------------------------------


def can_halve(data: TrainingData) -> bool:
    """Return whether the labelled rows of each class, or their groups, can be halved."""
    if data.given_pairs:
        return False
    if data.design.groups is None:
        return bool((data.labels.counts >= MIN_TO_HALVE).all())
    return all(len(kind) >= MIN_TO_HALVE for kind in units_of(data).kinds())


def half_of_rows(data: TrainingData, seed: int) -> NDArray[np.int64]:
    """Draw half of the rows, ascending.

    Half of the labelled rows of each class, or, of a class with fewer than four, one less than
    there are, drawn with repetition; and half of the unlabelled rows. Rows of given pairs all stay.

    With groups, whole groups are drawn, with all their rows: in the same way of those whose
    labelled rows are of the same classes, and half of those without labelled rows.

    A mean of k of n values differs from that of all n by a variance of s^2 (1/k - 1/n), which for
    k = n/2 is that of a mean of n values. So is that of n - 1 values drawn with repetition, where
    n would vary too little: by (n - 1) / n of it.
    """
    rng, labels, pairs = np.random.default_rng(seed), data.labels, data.given_pairs
    if data.design.groups is not None:
        units = units_of(data)
        free, members = np.flatnonzero(units.is_free), units.members()
        chosen = [_half(rng, free)] if len(free) else []
        chosen += [_half_or_repeated(rng, kind) for kind in units.kinds()]
        drawn = [members[unit] for unit in np.concatenate(chosen)]
    else:
        drawn = [_half(rng, labels.unlabelled)]
        of_classes = (np.flatnonzero(labels.codes == code) for code in range(labels.n_classes))
        drawn += [_half_or_repeated(rng, rows) for rows in of_classes]
    if pairs:
        in_pairs = np.concatenate([*pairs.must_link, *pairs.cannot_link])
        drawn.append(np.setdiff1d(in_pairs, np.concatenate(drawn)))
    return np.sort(np.concatenate(drawn)).astype(np.int64)


def _half_or_repeated(rng: np.random.Generator, members: Ints) -> Ints:
    can = len(members) >= MIN_TO_HALVE
    return _half(rng, members) if can else rng.choice(members, max(1, len(members) - 1))


def _half(rng: np.random.Generator, rows: Ints) -> Ints:
    return rng.permutation(rows)[: max(1, len(rows) // 2)]


def take_rows(data: TrainingData, rows: Ints, seed: int) -> TrainingData:
    """Return the training data of some rows, ascending, which may be repeated."""
    pairs = data.given_pairs
    if pairs is not None:
        place = np.full(data.n_rows, UNLABELLED)
        place[rows] = np.arange(len(rows))
        pairs = pairs.moved(place)
    part = replace(
        data,
        X=data.X[rows].tocsc() if data.is_sparse else some_rows(data.X, rows),
        labels=Labels(data.labels.codes[rows], data.labels.classes),
        seed=seed,
        given_pairs=pairs,
        graph_source=None,
        full=None,
        numbers=None,
        design=data.design.take(rows),
    )
    share_components(data, part, rows)
    return part


# Scores -------------------------------------------------------------------------------------------


class Scorer:
    """Scores training data with the parameters of a fitted ranker, which it leaves as it is.

    Warnings are left out: those that matter came up when the ranker itself was fitted. With `fast`
    committees are smaller.
    """

    def __init__(self, ranker: "FeatureRanker", *, fast: bool = False) -> None:
        self.ranker: Any = ranker._lighter(ranker.n_features_in_) if fast else clone(ranker)
        changed = {"redundancy_threshold": None, "warm_start": False}
        known = self.ranker.get_params(deep=False)
        self.ranker.set_params(**{name: v for name, v in changed.items() if name in known})
        self.n_features = ranker.n_features_in_
        self.n_jobs = known.get("n_jobs")
        self.labeller = self.ranker._labeller()
        self.features = ranker._features
        self.threshold = getattr(ranker, "redundancy_threshold_", None)
        self.copies_of_kept_only = ranker._copies_of_kept_only
        self.mask = getattr(known.get("estimator"), "categorical", None)
        # a matrix of all rows, unless the graph is made from the columns
        graph = known.get("graph", "")
        is_made = isinstance(graph, str) or hasattr(graph, "fit_transform")
        self.graph = None if is_made else graph.tocsr() if issparse(graph) else np.asarray(graph)

    def learns_from_labels(self, data: TrainingData) -> bool:
        """Return whether there are labels or pairs that the ranker makes use of."""
        has_labels = len(data.labels.labelled) > 0 or bool(data.given_pairs)
        return self.ranker.labels_needed != "none" and has_labels

    def scores(self, data: TrainingData) -> Floats:
        """Return the score of each column; minus infinity where there is none."""
        self._fit(data)
        return _without_nan(self.ranker.scores_)

    def fresh(self) -> "Scorer":
        """Return a scorer for one repetition, beside which others may be at work."""
        other = copy(self)
        other.ranker = clone(self.ranker)
        if hasattr(self.ranker, "graph"):  # by which problems know what they have made of it
            other.ranker.graph = self.ranker.graph
        return other

    def comparable(self, data: TrainingData) -> Floats | None:
        """Return scores that can be compared between fits, of shape (n_parts, p), or None."""
        self._fit(data)
        return self.comparable_of(self.ranker)

    @staticmethod
    def comparable_of(ranker: "FeatureRanker") -> Floats | None:
        """Return the scores of a fitted ranker that can be compared with those of other fits.

        They have the shape (n_parts, p): one row, or one for each ranker of a consensus. None where
        there are none.
        """
        scores = ranker._comparable_scores()
        return None if scores is None else np.atleast_2d(_without_nan(scores))

    def _fit(self, data: TrainingData) -> None:
        if self.mask is not None and not isinstance(self.mask, str):
            copies = data.n_features // self.n_features
            self.ranker.estimator.set_params(categorical=np.tile(self.mask, copies))
        with quiet():
            data = self.ranker._find_rest(data)
            self.ranker._set_scores(data, self.ranker._score(data))

    def rank(self, data: TrainingData, n_best: int | None) -> Ints:
        """Return the rank of each column, 1 is best.

        By score alone; if `n_best` is given, constraints on the features count and correlated
        features are put last, as the ranker does, and groups of columns are ranked as one.
        Correlated features are those of these rows: which of several correlated columns represents
        the others depends
        on rows.
        """
        known = None if n_best is None else self.features
        self.ranker.__dict__["_features"] = known
        self._fit(data)
        ranking = np.asarray(self.ranker.ranking_)
        if n_best is not None and self.threshold is not None:
            put_last: Any = put_copies_last if known is None else known.put_copies_last
            threshold = None if self.copies_of_kept_only else self.threshold
            scored = ~np.isnan(self.ranker.scores_)
            ranking, _ = put_last(data.X, ranking, scored, threshold, n_best, KEPT_ON_HALVES)
        return ranking if known is None else known.places(ranking)


def _without_nan(scores: NDArray[np.floating]) -> Floats:
    return np.where(np.isnan(scores), -np.inf, scores)


def parallel_map(
    task: Callable[..., Any],
    items: Iterable[Any],
    data: TrainingData,
    *shared: Any,
    n_jobs: int | None,
) -> Iterator[Any]:
    """Yield ``task(item, problem, *shared)`` of every item, in their order, wherever it is done.

    `task` is a function of a module, and leaves what is shared as it is; the next item is asked for
    when somebody can work on it. Not all of the `n_jobs` threads are used where so many repetitions
    at once would take much memory.
    """
    most = MAX_BYTES // max(1, data.X.data.nbytes)
    with Workers(n_jobs, most) as workers:
        sent = data.without_caches() if workers.is_cluster else data
        yield from workers.map(task, iter(items), sent, *shared)


def rank_half(seed: int, data: TrainingData, scorer: Scorer, n_best: int | None) -> Ints:
    """Rank half of the rows; see `Scorer.rank`."""
    scorer = scorer.fresh()
    if scorer.labeller is not None:  # halves have their part of what was made of all rows
        make_components(data)
    rows = half_of_rows(data, seed)
    if scorer.graph is not None:
        scorer.ranker.graph = scorer.graph[rows][:, rows]
    return scorer.rank(take_rows(data, rows, seed), n_best)


def rank_labelled(
    subset: tuple[Ints, int], data: TrainingData, scorer: Scorer, n_best: int
) -> Ints:
    """Rank all rows, of which some keep their labels; `subset` has these, and a seed."""
    rows, seed = subset
    codes = np.full_like(data.labels.codes, UNLABELLED)
    codes[rows] = data.labels.codes[rows]
    labels = Labels(codes, data.labels.classes)
    return scorer.fresh().rank(data.with_labels(labels, data.given_pairs, seed), n_best)


class MaxStatisticTest:
    """For each column, in how many repetitions the best of its rivals reached it.

    If a column is useless, it and the best of all its rivals are alike, so that the share of
    repetitions in which the best reaches it is a p-value, corrected for the number of columns.
    """

    def __init__(self, n_columns: int) -> None:
        self.reached = np.zeros(n_columns, dtype=np.int64)
        self.best: list[float] = []

    def add(self, scores: Floats, rivals: Floats) -> None:
        """Note the scores of the columns and of all their rivals in one repetition."""
        best = float(rivals.max())
        self.reached += ~(scores > best)
        self.best.append(best)

    @property
    def hits(self) -> NDArray[np.int64]:
        """In how many repetitions each column was better than all rivals."""
        return len(self.best) - self.reached

    @property
    def p_values(self) -> Floats:
        """The p-value of each column."""
        return np.asarray((1 + self.reached) / (1 + len(self.best)))

    def is_over(self) -> bool:
        """Return whether no further repetition can change which columns pass."""
        n, allowed = len(self.best), int(ALPHA * (MAX + 1) + 1e-12) - 1
        hopeless = (self.reached > allowed) & (n >= MIN)
        safe = self.reached + MAX - n <= allowed
        return bool((hopeless | safe).all())


def is_significant(p_values: Any) -> Any:
    """Return which p-values are at most ALPHA."""
    return p_values <= ALPHA + 1e-12


def seeds_of(steps: Iterator[int], n: int, seed: int, stream: int) -> Iterator[int]:
    """Yield the seeds of at most n repetitions, each for one of the steps."""
    for number, _ in enumerate(islice(steps, n)):
        yield seed_of(seed, stream, number)


def seed_of(seed: int, stream: int, number: int) -> int:
    """Return the seed of one repetition."""
    state = np.random.SeedSequence([seed, stream, number]).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
