"""Consensus, slowly: each ranker is fitted by itself, each column is put together by itself."""

import math

import numpy as np

from semisift import C4, SSFI, EnsCLS, SSelect


def default_rankers(scaling, seed):
    """Return the rankers and their weights."""
    return [
        (SSFI(random_state=seed), 2),
        (SSelect(feature_scaling=scaling, random_state=seed), 1),
        (EnsCLS(feature_scaling=scaling, random_state=seed), 1),
        (C4(feature_scaling=scaling, random_state=seed), 1),
    ]


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
