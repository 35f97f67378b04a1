"""Forward searches as loops over columns and splits, with one fit of a fresh clone for each."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from tests.reference.information import binned, mutual
from tests.reference.tree import Example, fit_tree, leaf_counts, predict


def splits_of(y):
    """(train, test) pairs: leave one out below 20 rows, else stratified folds in row order.

    The only row of a class is never held out. Row i of a class goes to the fold that
    scikit-learn's StratifiedKFold would give it; here the splitter itself is asked.
    """
    rows = np.arange(len(y))
    count = {label: int((y == label).sum()) for label in set(y.tolist())}
    held = np.array([i for i in rows if count[y[i]] > 1], dtype=int)
    if len(y) < 20:
        return [(np.delete(rows, i), np.array([i])) for i in held]
    if not len(held):
        return []
    k = min(5, *(c for c in count.values() if c > 1))
    tests = [held[test] for _, test in StratifiedKFold(k).split(held, y[held])]
    return [(np.array([i for i in rows if i not in test]), test) for test in tests]


def trial(X, y, columns, estimator, splits):
    """Return the mean accuracy over the splits and the mean log-probability of the truth."""
    accuracies, logs = [], []
    for train, test in splits:
        with np.errstate(all="ignore"):
            model = clone(estimator).fit(X[np.ix_(train, columns)], y[train])
            given = model.predict(X[np.ix_(test, columns)])
            accuracies.append(np.mean(given == y[test]))
            if not hasattr(model, "predict_proba"):
                logs.append(0.0)
                continue
            probability = model.predict_proba(X[np.ix_(test, columns)])
        for i, label in enumerate(y[test]):
            p = probability[i][list(model.classes_).index(label)]
            logs.append(np.log(p) if p > 1e-12 else np.log(1e-12))
    return (np.mean(accuracies), np.mean(logs)) if splits else (0.0, 0.0)


def relevance(X, y):
    return [mutual(binned(column.tolist()), y.tolist()) for column in X.T]


def sffs(X, y, estimator, n_picks, chance, picks=(), splits=None):
    """Return the columns in the order of their picks; `chance` decides what nothing else does."""
    splits = splits_of(y) if splits is None else splits
    information = relevance(X, y)
    picks = list(picks)
    while len(picks) < n_picks:
        left = [j for j in range(X.shape[1]) if j not in picks and len(set(X[:, j])) > 1]
        with threadpool_limits(1):  # threads wait for each other longer than they work
            results = {j: trial(X, y, [*picks, j], estimator, splits) for j in left}
        for place, same in ((0, 1e-9), (1, 1e-8)):
            best = max(results[j][place] for j in left)
            left = [j for j in left if results[j][place] >= best - same]
        best = max(information[j] for j in left)
        left = [j for j in left if information[j] >= best - 1e-12]
        picks.append(min(left, key=lambda j: chance[j]))
    return picks


def fw_semifs(X, codes, estimator, n_picks, chance, draw, n_start=5, n_step=6):
    """Figure 1 of the paper; ``draw(number of picks)`` lists the unlabelled rows of each sample."""
    labelled, unlabelled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    L, y = X[labelled], codes[labelled]
    picks = sffs(L, y, estimator, min(n_start, n_picks), chance)
    information = relevance(L, y)
    was_single = False
    while len(picks) < n_picks:
        model = clone(estimator).fit(L[:, picks], y)
        filled = codes.copy()
        filled[unlabelled] = model.predict(X[unlabelled][:, picks])
        is_single = len(set(filled[unlabelled].tolist())) == 1
        if is_single and was_single:
            picks = sffs(L, y, estimator, len(picks) + 1, chance, picks)
            continue
        was_single = is_single
        groups = []
        for drawn in draw(len(picks)):
            rows = np.sort(np.concatenate([labelled, drawn]))
            groups.append(sffs(X[rows], filled[rows], estimator, n_step, chance))
        frequency = {}
        for group in groups:
            for place, j in enumerate(group):
                frequency.setdefault(j, []).append(place)
        new = [j for j in frequency if j not in picks]
        if new:
            picks.append(
                min(
                    new,
                    key=lambda j: (
                        -len(frequency[j]),
                        np.mean(frequency[j]),
                        -round(information[j], 12),
                        chance[j],
                    ),
                )
            )
        else:
            picks = sffs(X, filled, estimator, len(picks) + 1, chance, picks)
    return picks


class PlainTree(ClassifierMixin, BaseEstimator):
    """The tree of tests/reference/tree.py: of equally good splits the first column's."""

    def __init__(self, max_depth=None):
        self.max_depth = max_depth

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        X = X.astype(np.float32)
        examples = [Example(row, 1, code) for row, code in enumerate(codes.tolist())]
        self.tree_ = fit_tree(
            X, examples, range(X.shape[1]), len(self.classes_), max_depth=self.max_depth
        )
        return self

    def predict(self, X):
        return self.classes_[[predict(self.tree_, x) for x in X.astype(np.float32)]]

    def predict_proba(self, X):
        counts = np.array([leaf_counts(self.tree_, x) for x in X.astype(np.float32)], dtype=float)
        return counts / counts.sum(axis=1, keepdims=True)
