"""Which rows to label next, written again as plainly as possible."""

import numpy as np


def likeness(T, dimensions=(5, 8, 20), neighbour=10):
    n, total = len(T), np.zeros((len(T), len(T)))
    dimensions = sorted({min(d, T.shape[1]) for d in dimensions})
    for d in dimensions:
        apart = np.array([[np.sum((T[i, :d] - T[j, :d]) ** 2) for j in range(n)] for i in range(n)])
        unit = np.median([np.sort(apart[i])[min(neighbour, n - 1)] for i in range(n)])
        total += np.exp(-apart / (2 * unit))
    return total / len(dimensions)


def choose(T, labelled, n_wanted, doubt, groups=None, noise=0.1):
    """Condition a Gaussian process on the rows that are labelled and taken, anew at each step."""
    K, n = likeness(T), len(T)
    q = K.sum(axis=1)
    weights = np.array([0.0 if i in labelled else doubt[i] for i in range(n)])
    weights /= np.maximum(q, np.median(q) / 2)
    known, taken = list(labelled), []
    for _ in range(n_wanted):
        inner = np.linalg.inv(K[np.ix_(known, known)] + noise * np.eye(len(known)))
        C = K - K[:, known] @ inner @ K[known]
        gains = np.full(n, -1.0)
        for j in range(n):
            if j not in known:
                gains[j] = sum(weights[i] * C[i, j] ** 2 for i in range(n)) / (C[j, j] + noise)
                if groups is not None:
                    gains[j] /= 1 + sum(groups[i] == groups[j] for i in known)
        best = int(gains.argmax())
        known.append(best)
        taken.append(best)
    return taken
