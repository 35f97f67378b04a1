"""Committee members that are scikit-learn classifiers: the general path.

It serves where the user names an estimator, and with scikit-learn's trees where the kernels could
not be built. Members are dealt the same columns and bags as trees of the kernels, to the bit; what
they learn from them is the estimator's own.

- A bag in which a single class is left is not fitted: the member predicts that class.
- An estimator without `predict_proba` is certain of what it predicts: it casts whole votes, and any
  confidence that is asked for is reached.
- Trees stand between equal splits by their random state; the widest gap (SSFI's default reading) is
  not to be had from scikit-learn.
- The expected loss under a permutation is exact for scikit-learn's trees, by the thresholds of each
  feature; for other estimators it is the mean over `N_PERMUTATIONS` random permutations.

The results depend neither on blocks nor on threads, as far as the estimator's do not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone, is_classifier
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier

from semisift._blocks import Block, Importance, Setting, list_strata
from semisift._problem import Problem
from semisift._threads import one_openmp_thread
from semisift.math.masks import unmask
from semisift.math.plan import surest
from semisift.math.streams import Purpose, draw_below, stream_words

# One vote in the fixed-point arithmetic of probability votes.
VOTE = 65536
# Where an expectation over all permutations is out of reach.
N_PERMUTATIONS = 5
# Rows with a replaced value are stacked up to this size, so that one call predicts many of them.
STACK_BYTES = 1 << 26


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimatorSetting(Setting):
    """What all members of a committee of estimators share."""

    X: Any
    scale: NDArray[np.float64] | None
    estimator: Any

    @classmethod
    def build(
        cls,
        problem: Problem,
        n_drawn: int,
        *,
        estimator: Any = None,
        stratified: bool = False,
        widest_gap: bool = False,
        max_depth: int | None = None,
        large_bags: bool = False,
        draws_at_nodes: bool = False,
    ) -> "EstimatorSetting":
        """Prepare the data for estimators.

        Parameters
        ----------
        problem : Problem
        n_drawn : int
            Features that each member draws.
        estimator : scikit-learn classifier or None
            None is a decision tree.
        stratified : bool
            Bootstrap each class by itself.
        widest_gap, large_bags : bool
            For the kernels; without effect here.
        max_depth : int or None
            Of the trees where `estimator` is None.
        draws_at_nodes : bool
            Give all features to each member; where `estimator` is None, `n_drawn` of them are drawn
            at every node.

        Returns
        -------
        EstimatorSetting
        """
        X, scale = problem.X, None
        if estimator is None:
            max_features = n_drawn if draws_at_nodes else None
            estimator = DecisionTreeClassifier(max_depth=max_depth, max_features=max_features)
            scale = _powers_of_two(X)
        elif not is_classifier(estimator):
            raise ValueError(f"estimator must be a classifier: got {estimator!r}.")
        labelled, strata = list_strata(problem.labels, stratified)
        return cls(
            X=X.tocsr() if problem.is_sparse and draws_at_nodes else X,
            scale=scale,
            estimator=estimator,
            labels=problem.labels,
            labelled=labelled,
            strata=strata,
            seed=problem.seed,
            n_rows=problem.n_rows,
            n_features=problem.n_features,
            n_drawn=n_drawn,
            draws_at_nodes=draws_at_nodes,
        )

    def new_block(self, start: int, stop: int) -> "EstimatorBlock":
        """Return members that have not been handed any row."""
        return EstimatorBlock.new(start, stop)

    def take(self, rows: NDArray[np.integer], columns: NDArray[np.int32]) -> Any:
        """Return a copy of some rows and columns: a C-ordered array or a CSR array."""
        if issparse(self.X):
            chosen = self.X if self.draws_at_nodes else self.X[:, columns]
            part = chosen.tocsr()[rows]
            if self.scale is not None:
                part.data *= self.scale[columns[part.indices]]
            return part
        part = np.ascontiguousarray(self.X[np.ix_(rows, columns)])
        return part if self.scale is None else part * self.scale[columns]


class Member(NamedTuple):
    """A fitted estimator, its number in the committee and the columns that it was given."""

    number: int
    columns: NDArray[np.int32]
    estimator: Any

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class codes that the estimator predicts."""
        if not X.shape[0]:
            return np.empty(0, dtype=np.intp)
        return np.asarray(self.estimator.predict(X)).astype(np.intp)

    def class_shares(self, X: Any, n_classes: int) -> NDArray[np.float64]:
        """Return the probabilities of all classes; without any, the prediction has them all."""
        shares = np.zeros((X.shape[0], n_classes))
        if not hasattr(self.estimator, "predict_proba"):
            shares[np.arange(len(shares)), self.predict(X)] = 1.0
        elif len(shares):
            # an estimator that divides by a vanishing variance gives NaN: no share at all
            shares[:, self.estimator.classes_] = np.nan_to_num(self.estimator.predict_proba(X))
        return shares

    def judge(self, X: Any, n_classes: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the predicted class codes and the probability of each."""
        predicted = self.predict(X)
        return predicted, self.class_shares(X, n_classes)[np.arange(len(predicted)), predicted]


@dataclass(frozen=True, eq=False)
class EstimatorBlock(Block):
    """A range of members that are scikit-learn classifiers."""

    def members(self, setting: EstimatorSetting) -> list[Member]:
        """Return the members, fitted on all rows they have."""
        if "members" not in self._kept:
            self._kept["members"] = [self._fit(setting, i) for i in range(self.stop - self.start)]
        return self._kept["members"]

    def _fit(self, setting: EstimatorSetting, i: int) -> Member:
        subspaces, weights, _ = self.plan(setting)
        number = self.start + i
        columns = np.arange(setting.n_features, dtype=np.int32)
        if subspaces is not None:
            columns = subspaces[i]
        bag = np.repeat(setting.labelled, weights[i])
        picked = self.picks[i] >= 0
        rows = np.concatenate([bag, self.picks[i, picked]])
        codes = np.concatenate([setting.labels.codes[bag], self.pick_labels[i, picked]])
        if (codes == codes[0]).all():
            return Member(number, columns, _Constant(codes[0]))
        estimator = with_random_states(setting.estimator, setting.seed, number)
        return Member(number, columns, estimator.fit(setting.take(rows, columns), codes))

    @one_openmp_thread()
    def vote(
        self, setting: EstimatorSetting, probability: bool, rows: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int32]:
        """Return the summed votes of the members, each on its out-of-bag rows and on `rows`."""
        voted = self.plan(setting).out_of_bag
        if rows is not None:
            voted = voted | rows
        votes = np.zeros((setting.n_rows, setting.labels.n_classes), dtype=np.int32)
        for member, mask in zip(self.members(setting), voted, strict=True):
            own = _listed(mask, setting)
            X = setting.take(own, member.columns)
            if probability:
                shares = member.class_shares(X, setting.labels.n_classes)
                votes[own] += np.floor(VOTE * shares + 0.5).astype(np.int32)
            else:
                votes[own, member.predict(X)] += 1
        return votes

    @one_openmp_thread()
    def pick_own(
        self,
        setting: EstimatorSetting,
        pools: NDArray[np.uint64],
        quotas: NDArray[np.int32],
        above: float,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of each member's pool that it is itself surest about, and its labels."""
        picked = np.full((len(pools), quotas.max(initial=0)), -1, dtype=np.int32)
        labels = picked.copy()
        for i, member in enumerate(self.members(setting)):
            if not quotas[i]:
                continue
            pool = _listed(pools[i], setting)
            X = setting.take(pool, member.columns)
            predicted, confidence = member.judge(X, setting.labels.n_classes)
            sure = confidence > above
            pool, predicted, confidence = pool[sure], predicted[sure], confidence[sure]
            best = surest(setting.seed, member.number, pool, confidence, int(quotas[i]))
            picked[i, : len(best)] = pool[best]
            labels[i, : len(best)] = predicted[best]
        return picked, labels

    @one_openmp_thread()
    def permute(
        self,
        setting: EstimatorSetting,
        labels: NDArray[np.uint64],
        weights: NDArray[np.float64],
        *,
        net: bool,
        sampled: bool = False,
        own_labels_from: float = -1.0,
    ) -> Importance:
        """Return what each member loses when a feature is permuted over its out-of-bag rows."""
        dealt = self.plan(setting)
        carried = unmask(labels, setting.n_rows)
        given = np.where(carried.any(axis=0), carried.argmax(axis=0), -1)
        unlabelled = setting.labels.codes < 0
        features, losses = [], []
        agreement = np.full(self.stop - self.start, np.nan)
        for i, member in enumerate(self.members(setting)):
            rows = _listed(dealt.out_of_bag[i], setting)
            X = setting.take(rows, member.columns)
            label = given[rows]
            if own_labels_from >= 0:
                predicted, confidence = member.judge(X, setting.labels.n_classes)
                own = np.where(confidence >= own_labels_from, predicted, -1)
                label = np.where(unlabelled[rows], own, label)
            else:
                predicted = member.predict(X)
            voted = unlabelled[rows] & (label >= 0)
            if voted.any():
                agreement[i] = (predicted == label)[voted].mean()
            permuted = np.flatnonzero(label >= 0 if net else predicted == label)
            if len(permuted) < 2:
                continue
            columns, lost = lose_columns(
                member,
                X[permuted],
                label[permuted],
                (predicted == label)[permuted],
                weights[rows[permuted]],
                setting.seed,
                sampled,
            )
            features.append(member.columns[columns])
            losses.append(lost)
        return Importance(
            np.concatenate([np.empty(0, dtype=np.int32), *features]),
            np.concatenate([np.empty(0), *losses]),
            agreement,
            dealt.count_draws(setting.n_features),
        )


class _Constant:
    """Predicts the only class that a bag has."""

    def __init__(self, code: int) -> None:
        self.classes_ = np.array([code])

    def predict(self, X: Any) -> NDArray[Any]:
        return np.repeat(self.classes_, X.shape[0])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.ones((X.shape[0], 1))


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
    names = sorted(
        name
        for name in fresh.get_params()
        if name == "random_state" or name.endswith("__random_state")
    )
    if names:
        # the purpose for which trees of the kernels draw while they grow
        counters = np.arange(len(names))
        states = draw_below(seed, member, Purpose.NODE_SUBSPACE, counters, 2**31 - 1)
        fresh.set_params(**dict(zip(names, states.tolist(), strict=True)))
    return fresh


# Permutations -------------------------------------------------------------------------------------


def lose_columns(
    member: Member,
    X: Any,
    label: NDArray[np.integer],
    right: NDArray[np.bool_],
    weights: NDArray[np.float64],
    seed: int,
    sampled: bool,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
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
            for values, share in _replace(member, X, columns[place], place, seed, sampled)
        ]
        places = np.array([place for place, _, _ in trials])
        replaced = np.array([values for _, values, _ in trials])
        shares = np.array([share for _, _, share in trials])
        predicted = _predict_replaced(member, X, columns[places], replaced)
        lost = ((right * 1.0 - (predicted == label)) * weights).sum(axis=1)
        losses += np.bincount(places, shares * lost, minlength=len(columns))
    return columns, losses


def _columns_in_use(estimator: Any, n_columns: int) -> NDArray[np.intp]:
    """Return the columns that a prediction can depend on."""
    if isinstance(estimator, _Constant):
        return np.empty(0, dtype=np.intp)
    if isinstance(estimator, BaseDecisionTree):
        feature = estimator.tree_.feature
        return np.unique(feature[feature >= 0])
    return np.arange(n_columns)


def _replace(
    member: Member, X: Any, column: int, place: int, seed: int, sampled: bool
) -> Iterator[tuple[NDArray[Any], float]]:
    """Yield what a column is replaced by, and the share that it has in the permuted column's loss.

    Over all permutations each of the n values meets a row equally often. Values between the same
    two thresholds of a tree are as one, so a tree is asked about one of them, for all rows at once.
    """
    values = X[:, [column]].toarray().ravel() if issparse(X) else X[:, column]
    n_rows = len(values)
    if isinstance(member.estimator, BaseDecisionTree) and not sampled:
        tree = member.estimator.tree_
        thresholds = np.unique(tree.threshold[tree.feature == column])
        interval = np.searchsorted(thresholds, values.astype(np.float32))  # as the tree reads them
        _, first, counts = np.unique(interval, return_index=True, return_counts=True)
        for value, count in zip(values[first], counts.tolist(), strict=True):
            yield np.full(n_rows, value), count / n_rows
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

    Parameters
    ----------
    member : Member
    X : array or CSR array of shape (n, n_columns)
    columns : int array of shape (n_trials,)
    replaced : array of shape (n_trials, n)

    Returns
    -------
    int array of shape (n_trials, n)
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


def _listed(mask: NDArray[np.uint64], setting: EstimatorSetting) -> NDArray[np.int32]:
    return np.flatnonzero(unmask(mask, setting.n_rows)).astype(np.int32)


def _powers_of_two(X: Any) -> NDArray[np.float64]:
    """Return factors that bring each column into the range of float32, in which trees read it."""
    low, high = X.min(axis=0), X.max(axis=0)
    if issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    exponent = np.frexp(np.maximum(-low, high))[1]
    return np.ldexp(1.0, -np.clip(exponent, -1000, 1000))
