"""Predictive clustering trees as they are written: impurities of lists of rows."""

from itertools import pairwise

import numpy as np


def gini(codes):
    known = [code for code in codes if code >= 0]
    return 1 - sum((known.count(k) / len(known)) ** 2 for k in set(known)) if known else 0.0


def impurities(rows, Z, codes):
    """Return both terms of the impurity of some rows; Z has standardised columns."""
    return gini([codes[i] for i in rows]), np.mean(np.var(Z[rows], axis=0))


def gain(rows, left, right, Z, codes, w, by_labelled):
    """Return the gain of a split; all rows are lists that may hold a row more than once."""
    root = gini(list(codes))
    parts = [impurities(part, Z, codes) for part in (rows, left, right)]
    by_row = [len(part) / len(rows) for part in (left, right)]
    by_label = by_row
    if by_labelled:
        n = [sum(codes[i] >= 0 for i in part) for part in (rows, left, right)]
        by_label = [n[1] / n[0], n[2] / n[0]] if n[0] else [0.0, 0.0]
    labels = parts[0][0] - by_label[0] * parts[1][0] - by_label[1] * parts[2][0]
    variance = parts[0][1] - by_row[0] * parts[1][1] - by_row[1] * parts[2][1]
    return (w * labels / root if root else 0.0) + (1 - w) * variance


def best_split(rows, columns, X, Z, codes, w, by_labelled, min_leaf=1):
    """Return gain, column and threshold of the best split of some rows."""
    best = 0.0, -1, 0.0
    for column in columns:
        values = sorted({X[i, column] for i in rows})
        for low, high in pairwise(values):
            threshold = (low + high) / 2
            left = [i for i in rows if X[i, column] <= threshold]
            right = [i for i in rows if X[i, column] > threshold]
            if min(len(left), len(right)) < min_leaf:
                continue
            value = gain(rows, left, right, Z, codes, w, by_labelled)
            if value > best[0] + 1e-12:
                best = value, column, threshold
    return best
