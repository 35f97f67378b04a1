"""Consensus, slowly: each ranker is fitted by itself, each column is put together by itself."""

import math

import numpy as np

from semisift import SSFI, TransductiveScore


def default_rankers(X, y, seed):
    """Return the rankers and how far they are trusted."""
    soft = TransductiveScore(random_state=seed)
    trees = SSFI(random_state=seed)
    soft.fit(X, y)
    trees.fit(X, y)
    stable = min(max(soft.stability_, 0.02), 0.98)
    odds = stable / (1 - stable)
    rows = [i for i in range(len(y)) if y[i] == -1]
    alike = agreement([soft.transduction_[i] for i in rows], [trees.transduction_[i] for i in rows])
    return [(soft, odds), (trees, math.sqrt(max(1, odds)) * max(0, alike) ** 2)]


def agreement(one, other):
    """Return Cohen's kappa of two lists of labels."""
    n = len(one)
    same = sum(a == b for a, b in zip(one, other, strict=True)) / n
    by_chance = sum(one.count(label) / n * other.count(label) / n for label in set(one + other))
    return (same - by_chance) / (1 - by_chance)


def place(scores, j):
    """Return the rank of column j, 1 is best; equal scores share their mean rank."""
    scores = [-math.inf if math.isnan(score) else score for score in scores]
    n_better = sum(score > scores[j] for score in scores)
    n_equal = sum(score == scores[j] for score in scores)
    return n_better + (n_equal + 1) / 2


def consensus(X, y, rankers, aggregation="product"):
    """Return the score of each column."""
    fitted = [(ranker.fit(X, y).scores_, weight) for ranker, weight in rankers]
    total = sum(weight for _, weight in fitted)
    p = X.shape[1]
    found = []
    for j in range(p):
        if len(set(X[:, j].tolist())) == 1:
            found.append(math.nan)
            continue
        mean = 0.0
        for scores, weight in fitted:
            own = place(scores, j)
            if aggregation == "product":
                mean += weight / total * math.log(own) / math.log(p)
            else:
                mean += weight / total * (own - 1) / (p - 1)
        found.append(1 - mean)
    return np.array(found)
