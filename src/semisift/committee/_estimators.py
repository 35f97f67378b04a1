"""What a committee member that is a scikit-learn classifier loses when its columns are permuted.

Committee members that are scikit-learn classifiers: the general path.

It serves where the user names an estimator, and with scikit-learn's trees where the kernels could
not be built. Members draw the same columns and bags as trees of the kernels, to the bit; what
they learn from them is the estimator's own.

- A bag in which a single class is left is not fitted: the member predicts that class.
- An estimator without `predict_proba` is certain of what it predicts: it casts whole votes, and any
  confidence that is asked for is reached.
- Trees stand between equal splits by their random state; the widest gap (SSFI's default reading) is
  not to be had from scikit-learn.
- Missing values (NaN) are left to the estimator, which must take them: scikit-learn's trees try
both sides
  for them at each split.
- The expected loss under a permutation is exact for scikit-learn's trees, by the thresholds of each
  feature; for other estimators it is the mean over `N_PERMUTATIONS` random permutations.

The results depend neither on blocks nor on threads, as far as the estimator's do not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from semisift.base._training_data import TrainingData
from semisift.base._validation import fit_classifier, labels_of, probabilities_of
from semisift.committee._blocks import Bags, EnsembleContext
from semisift.committee._bootstrap import UNIT, Int32s, Masks, row_weights
from semisift.parallel import Committee, one_openmp_thread
from semisift.utils._columns import extremes, is_small, known_extremes, power_of_two, row_blocks
from semisift.utils._random import Purpose, draw_below, stream_words, surest, unmask
from semisift.utils._typing import Bools, Floats

# Where an expectation over all permutations is out of reach.
N_PERMUTATIONS = 5
# Rows with a replaced value are stacked up to this size, so that one call predicts many of them.
STACK_BYTES = 1 << 26


# One vote in the fixed-point arithmetic of probability votes.
VOTE = 65536


class Member(NamedTuple):
    """A fitted estimator: its number in the committee, its columns and the number of classes."""

    number: int
    columns: Int32s
    estimator: Any
    n_classes: int

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class codes that the estimator predicts."""
        if not X.shape[0]:
            return np.empty(0, dtype=np.intp)
        return labels_of(self.estimator, X, range(self.n_classes)).astype(np.intp)

    @np.errstate(over="ignore", invalid="ignore")  # of values whose sum or distance is too large
    def class_shares(self, X: Any) -> Floats:
        """Return the probabilities of all classes; without any, the prediction has them all."""
        shares = np.zeros((X.shape[0], self.n_classes))
        if not hasattr(self.estimator, "predict_proba"):
            shares[np.arange(len(shares)), self.predict(X)] = 1.0
        elif len(shares):
            # an estimator that divides by a vanishing variance gives NaN: no share at all
            classes, found = probabilities_of(self.estimator, X, range(self.n_classes))
            shares[:, classes.astype(np.intp)] = np.nan_to_num(found)
        return shares

    def cast(self, X: Any, probability: bool) -> NDArray[np.int64]:
        """Return the votes on each row: one for a class, or shares in units of 1 / 65536."""
        if probability:
            return np.floor(VOTE * self.class_shares(X) + 0.5).astype(np.int64)
        return (self.predict(X)[:, None] == np.arange(self.n_classes)).astype(np.int64)

    def predict_with_confidence(self, X: Any) -> tuple[NDArray[np.intp], Floats]:
        """Return the predicted class codes and the probability of each."""
        predicted = self.predict(X)
        return predicted, self.class_shares(X)[np.arange(len(predicted)), predicted]


class Constant:
    """Predicts the only class that a bag has."""

    def __init__(self, code: int) -> None:
        self.classes_ = np.array([code])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class for each row."""
        return np.repeat(self.classes_, X.shape[0])

    def predict_proba(self, X: Any) -> Floats:
        """Return that it is certain of each row."""
        return np.ones((X.shape[0], 1))


def permutation_losses(
    member: Member,
    X: Any,
    label: NDArray[np.integer],
    right: Bools,
    weights: Floats,
    seed: int,
    sampled: bool,
    copies: Floats | None = None,
) -> tuple[NDArray[np.intp], Floats]:
    """Return what a member loses when each of its columns is permuted.

    Parameters
    ----------
    member : Member
    X : array or CSR array of shape (n, n_columns)
        The rows to permute over.
    label : array of shape (n,)
    right : boolean array of shape (n,)
        Whether the member predicts the label.
    weights : array of shape (n,)
        What a row counts for.
    seed : int
    sampled : bool
        One random permutation for each column instead of the expectation, or its estimate.
    copies : array of shape (n,), optional
        How many rows each row represents: in the expectation it gives its value to others so often.
        A random permutation takes each for one.

    Returns
    -------
    columns : int array
        Positions in ``member.columns``; the columns left out cannot change a prediction.
    losses : array of that length
    """
    columns = _columns_in_use(member.estimator, X.shape[1])
    losses = np.zeros(len(columns))
    at_once = max(1, STACK_BYTES // (8 * N_PERMUTATIONS * X.shape[0] * X.shape[1]))
    for start in range(0, len(columns), at_once):
        trials = [
            (place, values, share)
            for place in range(start, min(start + at_once, len(columns)))
            for values, share in _replace(member, X, columns[place], place, seed, sampled, copies)
        ]
        places, replaced, shares = (np.array(part) for part in zip(*trials, strict=True))
        predicted = _predict_replaced(member, X, columns[places], replaced)
        lost = ((right * 1.0 - (predicted == label)) * weights).sum(axis=1)
        losses += np.bincount(places, shares * lost, minlength=len(columns))
    return columns, losses


def _columns_in_use(estimator: Any, n_columns: int) -> NDArray[np.intp]:
    """Return the columns that a prediction can depend on."""
    if isinstance(estimator, BaseDecisionTree):
        feature = estimator.tree_.feature
        return np.unique(feature[feature >= 0])
    return np.arange(0 if isinstance(estimator, Constant) else n_columns)


def _replace(
    member: Member, X: Any, column: int, place: int, seed: int, sampled: bool, copies: Floats | None
) -> Iterator[tuple[NDArray[Any], float]]:
    """Yield what a column is replaced by, and the share that it has in the permuted column's loss.

    Over all permutations each of the n values meets a row equally often. Values between the same
    two thresholds of a tree are as one, so a tree is asked about one of them, for all rows at once;
    missing values are one more such value.
    """
    values = X[:, [column]].toarray().ravel() if issparse(X) else X[:, column]
    n_rows = len(values)
    if isinstance(member.estimator, BaseDecisionTree) and not sampled:
        tree = member.estimator.tree_
        thresholds = np.unique(tree.threshold[tree.feature == column])
        interval = np.searchsorted(thresholds, values.astype(np.float32))  # as the tree reads them
        interval[np.isnan(values)] = len(thresholds) + 1
        _, first, place_of = np.unique(interval, return_index=True, return_inverse=True)
        counts = np.bincount(place_of, copies)
        total = n_rows if copies is None else copies.sum()
        for value, count in zip(values[first], counts.tolist(), strict=True):
            yield np.full(n_rows, value), count / total
        return
    n_permutations = 1 if sampled else N_PERMUTATIONS
    counters = np.arange(n_permutations * n_rows) + place * n_permutations * n_rows
    words = stream_words(seed, member.number, Purpose.PERMUTATION, counters)
    for order in words.reshape(n_permutations, n_rows).argsort(axis=1):
        yield values[order], 1 / n_permutations


def _predict_replaced(
    member: Member, X: Any, columns: NDArray[np.intp], replaced: NDArray[Any]
) -> NDArray[np.intp]:
    """Predict all rows of X once for each trial, in which one column has other values.

    Of shape (n_trials, n), as `replaced` has.
    """
    predicted = np.empty(replaced.size, dtype=np.intp)
    at_once = max(1, STACK_BYTES // (8 * X.shape[1]))
    for start in range(0, replaced.size, at_once):
        place = np.arange(start, min(start + at_once, replaced.size))
        trial, row = np.divmod(place, X.shape[0])
        stack = X[row].toarray() if issparse(X) else X[row]
        stack[np.arange(len(place)), columns[trial]] = replaced[trial, row]
        predicted[place] = member.predict(csr_array(stack) if issparse(X) else stack)
    return predicted.reshape(replaced.shape)


# --- estimators -----------------------------------------------------------------------------------


class RowFormat(NamedTuple):
    """In what form members get rows.

    Attributes
    ----------
    is_dense : bool
        Whether sparse rows are made dense.
    all_columns : bool
        Whether each member gets all columns.
    scale : float array of shape (p,) or None
        What columns are multiplied by.
    """

    is_dense: bool
    all_columns: bool = False
    scale: Floats | None = None

    def take(self, X: Any, rows: NDArray[np.integer], columns: Int32s) -> Any:
        """Return a copy of some rows and columns: a C-ordered array, or else a CSR array."""
        if issparse(X):
            if X.format == "csr":
                part = X[rows] if self.all_columns else X[rows][:, columns]
            else:
                part = X[:, columns].tocsr()[rows]
            if self.scale is not None:
                part.data *= self.scale[columns[part.indices]]
            return part.toarray(order="C") if self.is_dense else part
        part = np.ascontiguousarray(X[np.ix_(rows, columns)])
        return part if self.scale is None else part * self.scale[columns]


@dataclass(frozen=True, eq=False)
class EstimatorPredictors:
    """Fitted scikit-learn classifiers, None in place of those whose bag was empty."""

    fitted: list[Member | None]
    n_classes: int
    row_format: RowFormat

    def __len__(self) -> int:
        return len(self.fitted)

    @classmethod
    @one_openmp_thread()
    def fit(cls, context: "EstimatorContext", start: int, bags: Bags) -> Self:
        """Fit a classifier on each bag that is not empty; with weights if it takes them."""
        fitted: list[Member | None] = []
        every = np.arange(context.n_features, dtype=np.int32)
        n_classes, is_weighed = context.labels.n_classes, context.row_weights is not None
        takes_weights = is_weighed or bags.weights is not None
        takes_weights = takes_weights and has_fit_parameter(context.estimator, "sample_weight")
        for i, counts in enumerate(bags.counts):
            own = np.repeat(context.labelled, counts > 0 if is_weighed else counts)
            added = bags.rows[i] >= 0
            rows = np.concatenate([own, bags.rows[i, added]])
            if not len(rows):
                fitted.append(None)
                continue
            columns = every if bags.subspaces is None else bags.subspaces[i]
            codes = np.concatenate([context.labels.codes[own], bags.labels[i, added]])
            estimator: Any = Constant(codes[0])
            if (codes != codes[0]).any():
                options = {}
                if takes_weights:
                    of_own = counts[counts > 0] / UNIT if is_weighed else np.ones(len(own))
                    given = np.ones(len(added)) if bags.weights is None else bags.weights[i]
                    options["sample_weight"] = np.concatenate([of_own, given[added]])
                estimator = with_random_states(context.estimator, context.seed, start + i)
                X = context.row_format.take(context.table, rows, columns)
                estimator = fit_classifier(estimator, X, codes, **options)
            fitted.append(Member(start + i, columns, estimator, n_classes))
        return cls(fitted, n_classes, context.row_format)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the members of several ranges behind one another."""
        return replace(parts[0], fitted=[member for part in parts for member in part.fitted])

    def take(self, numbers: NDArray[np.integer]) -> Self:
        """Return some of the members, by their numbers."""
        return replace(self, fitted=[self.fitted[number] for number in numbers])

    def _parts(
        self, X: Any, masks: Masks | None = None
    ) -> Iterator[tuple[int, Member, Int32s, Any]]:
        """Yield the place of each member, the member, and rows with values: all, or of its mask."""
        every = np.arange(X.shape[0], dtype=np.int32)
        for i, member in enumerate(self.fitted):
            if member is None:
                continue
            if masks is None:
                parts: Any = row_blocks(X, len(member.columns), self.row_format.is_dense)
            else:
                parts = [unmask(masks[i], len(every))]
            for part in parts:
                yield i, member, every[part], self.row_format.take(X, every[part], member.columns)

    @one_openmp_thread()
    def vote(self, data: Any, probability: bool, rows: Masks | None = None) -> NDArray[np.int64]:
        """Return the summed votes of the members, each on its own rows (None: all)."""
        votes = np.zeros((data.shape[0], self.n_classes), dtype=np.int64)
        for _, member, voted, X in self._parts(data, rows):
            votes[voted] += member.cast(X, probability)
        return votes

    @one_openmp_thread()
    def vote_each(self, data: Any, probability: bool) -> Int32s:
        """Return the votes of each member: (n_members, n_rows, n_classes)."""
        votes = np.zeros((len(self), data.shape[0], self.n_classes), dtype=np.int32)
        for i, member, rows, X in self._parts(data):
            votes[i, rows] = member.cast(X, probability)
        return votes

    @one_openmp_thread()
    def shares(self, data: Any) -> Floats:
        """Return the class shares of each member: (n_members, n_rows, n_classes)."""
        shares = np.zeros((len(self), data.shape[0], self.n_classes))
        for i, member, rows, X in self._parts(data):
            shares[i, rows] = member.class_shares(X)
        return shares

    @one_openmp_thread()
    def pick_own(
        self, context: "EstimatorContext", _start: int, pools: Masks, quotas: Int32s, above: float
    ) -> tuple[Int32s, Int32s]:
        """Return the rows of each member's pool that it is surest about, and its labels."""
        picked = np.full((len(pools), quotas.max(initial=0)), -1, dtype=np.int32)
        labels = picked.copy()
        for i, member, pool, X in self._parts(context.table, pools):
            if not quotas[i]:
                continue
            predicted, confidence = member.predict_with_confidence(X)
            sure = confidence > above
            pool, predicted, confidence = pool[sure], predicted[sure], confidence[sure]
            best = surest(context.seed, member.number, pool, confidence, int(quotas[i]))
            picked[i, : len(best)] = pool[best]
            labels[i, : len(best)] = predicted[best]
        return picked, labels

    @one_openmp_thread()
    def permute(
        self,
        context: "EstimatorContext",
        _start: int,
        out_of_bag: Masks,
        labels: Masks,
        weights: Floats,
        *,
        net: bool,
        sampled: bool = False,
        own_labels_from: float = -1.0,
    ) -> tuple[NDArray[Any], ...]:
        """Return features, losses and agreements of the members, as of `MemberBlock.permute`."""
        carried = unmask(labels, context.n_rows)
        given = np.where(carried.any(axis=0), carried.argmax(axis=0), -1)
        unlabelled = context.labels.codes < 0
        features, losses = [np.empty(0, dtype=np.int32)], [np.empty(0)]
        agreement = np.full(len(self), np.nan)
        for i, member, rows, X in self._parts(context.table, out_of_bag):
            label = given[rows]
            if own_labels_from >= 0:
                predicted, confidence = member.predict_with_confidence(X)
                own = np.where(confidence >= own_labels_from, predicted, -1)
                label = np.where(unlabelled[rows], own, label)
            else:
                predicted = member.predict(X)
            right, voted = predicted == label, unlabelled[rows] & (label >= 0)
            if voted.any():
                agreement[i] = right[voted].mean()
            kept = np.flatnonzero(label >= 0 if net else right)
            own = rows[kept]
            copies = None if context.row_weights is None else context.row_weights[own]
            if len(kept) < 2 or (copies is not None and not copies.any()):
                continue
            cases = X[kept], label[kept], right[kept], weights[own]
            columns, lost = permutation_losses(member, *cases, context.seed, sampled, copies)
            features.append(member.columns[columns])
            losses.append(lost)
        return np.concatenate(features), np.concatenate(losses), agreement


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimatorContext(EnsembleContext):
    """What all members of a committee of estimators share."""

    predictors = EstimatorPredictors

    estimator: Any
    row_format: RowFormat

    def prepare(self, committee: Committee) -> None:
        """Let BLAS work on one thread for each member."""
        committee.limit_threads()

    @classmethod
    def build(
        cls,
        data: TrainingData,
        n_drawn: int,
        *,
        estimator: Any = None,
        max_depth: int | None = None,
        widest_gap: bool = False,
        large_bags: bool = False,
        draws_at_nodes: bool = False,
        **options: Any,
    ) -> "EstimatorContext":
        """Prepare the data for estimators.

        Parameters
        ----------
        data : TrainingData
        n_drawn : int
            Features that each member draws.
        estimator : scikit-learn classifier or None
            None is a decision tree.
        max_depth : int or None
            Of the trees where `estimator` is None.
        widest_gap, large_bags : bool
            For the kernels; without effect here.
        draws_at_nodes : bool
            Give all features to each member; where `estimator` is None, `n_drawn` of them are drawn
            at every node.
        **options
            As `EnsembleContext.of` takes them.

        Returns
        -------
        EstimatorContext
        """
        X, scale = data.X, None
        if estimator is None:
            max_features = n_drawn if draws_at_nodes else None
            estimator = DecisionTreeClassifier(max_depth=max_depth, max_features=max_features)
            # factors that bring each column into the range of float32, in which trees read it
            low, high = known_extremes(X) if data.has_missing else extremes(X)
            scale = 1.0 / power_of_two(np.maximum(-low, high))
        elif not is_classifier(estimator):
            raise ValueError(f"estimator must be a classifier: got {estimator!r}.")
        elif data.has_missing and not allow_nan(estimator):
            raise ValueError(
                f"X has missing values (NaN), which {type(estimator).__name__} does not take. Fill "
                "them, give an estimator that does, as a pipeline with an imputer, or none: got "
                f"estimator={estimator!r}."
            )
        if row_weights(data) is not None and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"sample_weight was given, which fit of {type(estimator).__name__} does not take. "
                f"Give an estimator that does, or none: got estimator={estimator!r}."
            )
        n_columns = data.n_features if draws_at_nodes else n_drawn
        is_dense = gets_dense(estimator, data.n_rows, n_columns)
        return cls.of(
            data,
            n_drawn,
            table=X.tocsr() if data.is_sparse and draws_at_nodes else X,
            estimator=estimator,
            row_format=RowFormat(is_dense, draws_at_nodes, scale),
            draws_at_nodes=draws_at_nodes,
            **options,
        )


def gets_dense(estimator: Any, n_rows: int, n_columns: int) -> bool:
    """Return whether an estimator gets sparse rows as dense ones.

    On few values it does: nearest neighbours, for one, are found by other means among sparse rows,
    which keep others of those that tie. One that does not take sparse rows is left to refuse them.
    """
    return bool(get_tags(estimator).input_tags.sparse) and is_small(n_rows, n_columns)


def allow_nan(estimator: Any) -> bool:
    """Return whether an estimator, or the first one of a pipeline, takes NaN."""
    first = estimator.steps[0][1] if isinstance(estimator, Pipeline) else estimator
    return bool(get_tags(first).input_tags.allow_nan)


def with_random_states(estimator: Any, seed: int, member: int) -> Any:
    """Clone an estimator and set its random states, also nested ones, from the member's stream.

    Parameters
    ----------
    estimator : scikit-learn estimator
    seed, member : int

    Returns
    -------
    An estimator that is not fitted.
    """
    fresh = clone(estimator)
    names = sorted(name for name in fresh.get_params() if f"__{name}".endswith("__random_state"))
    # the purpose for which trees of the kernels draw while they grow
    states = draw_below(seed, member, Purpose.NODE_SUBSPACE, np.arange(len(names)), 2**31 - 1)
    return fresh.set_params(**dict(zip(names, states.tolist(), strict=True)))
