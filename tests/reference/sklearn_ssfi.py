"""SSFI and SEFR as a competent scikit-learn user would write them: the benchmark's competitor.

One ``DecisionTreeClassifier`` per member, numpy for the rest, one sampled permutation per
feature that the tree splits on. Only public API; the member's columns are float32 and
C-contiguous and ``check_input=False``, so that scikit-learn neither converts nor checks.
"""

from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier


def sklearn_ssfi(X, y, *, n_members, n_rounds=10, seed=0, m=None, n_k=1, cache_bytes=4 * 1024**3):
    """SSFI of the paper: plain bags, hard votes, importance averaged over the N members.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    y : class 0..K-1 of each row, -1 where unlabelled
    n_rounds : upper limit of co-training rounds
    m : columns per member, round(sqrt(p)) by default
    n_k : rows a member may pick per class and round
    cache_bytes : the members' columns are kept in memory if they take less than this

    Returns
    -------
    scores (p), labels (n): the given label, or the committee's vote (-1 if nobody voted)
    """
    rng = np.random.default_rng(seed)
    y = np.asarray(y)
    n, p = X.shape
    n_classes = y.max() + 1
    subspaces, bags, pools, oob_labelled, oob_unlabelled = _plan(y, p, m, n_members, rng)
    block = _member_columns(X, subspaces, cache_bytes)
    bag_labels = [y[bag] for bag in bags]
    trees = [_fit(block(i), bags[i], bag_labels[i], rng) for i in range(n_members)]

    def vote():
        votes = np.zeros((n, n_classes), dtype=np.int64)
        for i in range(n_members):
            rows = oob_unlabelled[i]
            np.add.at(votes, (rows, _predict(trees[i], block(i)[rows])), 1)
        total = votes.sum(axis=1)
        labels = np.where(total > 0, votes.argmax(axis=1), -1)
        return labels, votes.max(axis=1) / np.maximum(total, 1)

    for _ in range(n_rounds):
        labels, conf = vote()
        changed = False
        for i in range(n_members):
            order = np.lexsort((rng.random(len(pools[i])), -conf[pools[i]]))
            pool = pools[i][order]
            picked = np.concatenate([pool[labels[pool] == k][:n_k] for k in range(n_classes)])
            if len(picked):
                bags[i] = np.concatenate([bags[i], picked])
                bag_labels[i] = np.concatenate([bag_labels[i], labels[picked]])
                pools[i] = np.setdiff1d(pools[i], picked, assume_unique=True)
                trees[i] = _fit(block(i), bags[i], bag_labels[i], rng)
                changed = True
        if not changed:
            break

    labels, conf = vote()
    labels = np.where(y >= 0, y, labels)
    conf = np.where(y >= 0, 1.0, conf)
    scores = np.zeros(p)
    for i in range(n_members):
        rows = np.concatenate([oob_labelled[i], oob_unlabelled[i]])
        data = block(i)[rows]
        right = _predict(trees[i], data) == labels[rows]
        rows, data = rows[right], data[right]
        _add_importance(scores, trees[i], subspaces[i], data, labels[rows], conf[rows], rng)
    return scores / n_members, labels


def sklearn_sefr(X, y, *, n_members, n_rounds=10, seed=0, m=None):
    """SEFR: each member labels its own pool, the surest tenth a round; averaged over draws.

    Parameters as in `sklearn_ssfi`. Returns the scores (p).
    """
    rng = np.random.default_rng(seed)
    y = np.asarray(y)
    p = X.shape[1]
    n_classes = y.max() + 1
    subspaces, bags, pools, oob_labelled, oob_unlabelled = _plan(y, p, m, n_members, rng)
    block = _member_columns(X, subspaces, 0)

    scores = np.zeros(p)
    for i in range(n_members):
        columns = block(i)
        bag, bag_labels, pool = bags[i], y[bags[i]], pools[i]
        quota = max(1, int(np.ceil(len(pool) / 10)))
        tree = _fit(columns, bag, bag_labels, rng)
        for _ in range(n_rounds):
            if len(pool) == 0:
                break
            predicted, conf = _predict_with_confidence(tree, columns[pool])
            order = np.lexsort((rng.random(len(pool)), -conf))[:quota]
            order = order[conf[order] > 1 / n_classes]
            if len(order) == 0:
                break
            bag = np.concatenate([bag, pool[order]])
            bag_labels = np.concatenate([bag_labels, predicted[order]])
            pool = np.delete(pool, order)
            tree = _fit(columns, bag, bag_labels, rng)

        rows = np.concatenate([oob_labelled[i], oob_unlabelled[i]])
        if len(rows) == 0:
            continue
        data = columns[rows]
        predicted, conf = _predict_with_confidence(tree, data)
        keep = np.where(y[rows] >= 0, predicted == y[rows], conf >= 0.9)
        data, predicted = data[keep], predicted[keep]
        _add_importance(scores, tree, subspaces[i], data, predicted, np.ones(len(data)), rng)
    draws = np.bincount(np.concatenate(subspaces), minlength=p)
    return scores / np.maximum(draws, 1)


def _plan(y, p, m, n_members, rng):
    """Columns, labelled bags, unlabelled pools and out-of-bag rows of all members."""
    m = m or max(1, round(np.sqrt(p)))
    labelled, unlabelled = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    subspaces, bags, pools, oob_labelled, oob_unlabelled = [], [], [], [], []
    for _ in range(n_members):
        subspaces.append(rng.choice(p, size=m, replace=False))
        bag = rng.choice(labelled, size=len(labelled))
        pool = np.unique(rng.choice(unlabelled, size=len(unlabelled)))
        bags.append(bag)
        pools.append(pool)
        oob_labelled.append(np.setdiff1d(labelled, bag))
        oob_unlabelled.append(np.setdiff1d(unlabelled, pool, assume_unique=True))
    return subspaces, bags, pools, oob_labelled, oob_unlabelled


def _member_columns(X, subspaces, cache_bytes):
    """Function i -> the columns of member i, dense float32 (n, m), cached if there is room."""
    if sparse.issparse(X):
        X = X.tocsc().astype(np.float32)
    else:
        X = np.ascontiguousarray(X, dtype=np.float32)
    needed = 4 * X.shape[0] * sum(len(columns) for columns in subspaces)

    @lru_cache(maxsize=len(subspaces) if needed <= cache_bytes else 0)
    def block(i):
        columns = X[:, subspaces[i]]
        if sparse.issparse(columns):
            columns = columns.toarray()
        return np.ascontiguousarray(columns)

    return block


def _fit(columns, rows, labels, rng):
    tree = DecisionTreeClassifier(random_state=int(rng.integers(2**31)))
    return tree.fit(columns[rows], labels, check_input=False)


def _predict(tree, data):
    return tree.predict(data, check_input=False) if len(data) else np.empty(0, dtype=np.int64)


def _predict_with_confidence(tree, data):
    probability = tree.predict_proba(data, check_input=False)
    return tree.classes_[probability.argmax(axis=1)], probability.max(axis=1)


def _add_importance(scores, tree, columns, data, labels, weights, rng):
    """Permute each feature that the tree splits on, add the weight of the changed rows."""
    if len(data) < 2:
        return
    split_on = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
    for f in split_on:
        permuted = data.copy()
        permuted[:, f] = rng.permutation(permuted[:, f])
        changed = _predict(tree, permuted) != labels
        scores[columns[f]] += weights[changed].sum()
