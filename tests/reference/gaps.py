"""Filters of columns with missing values: loops over the rows and pairs that have them."""

import math
from itertools import combinations

import numpy as np

from tests.reference import graph_filters as plain
from tests.reference import information as plain_information


def has(*values):
    return not any(math.isnan(value) for value in values)


def varies(f):
    return len({value for value in f if has(value)}) > 1


def scale(X, feature_scaling):
    """Return the columns that vary, in the scale in which distances are measured."""
    columns = [f for f in X.T if varies(f)]
    if feature_scaling == "minmax":
        columns = [f / (np.nanmax(f) - np.nanmin(f)) / math.sqrt(X.shape[1]) for f in columns]
    return np.array(columns).T


def squared_distances(X, feature_scaling=None):
    X = scale(X, feature_scaling)
    n, p = X.shape
    d2 = np.full((n, n), math.inf)
    for i in range(n):
        for j in range(n):
            both = [(a, b) for a, b in zip(X[i], X[j], strict=True) if has(a, b)]
            if i != j and both:
                d2[i, j] = p / len(both) * sum((a - b) ** 2 for a, b in both)
    return d2


def mean_distance(X, feature_scaling=None):
    """Return the sum over the columns of the mean squared difference of two values."""
    total = 0.0
    for f in scale(X, feature_scaling).T:
        total += np.mean([(a - b) ** 2 for a, b in combinations(f, 2) if has(a, b)])
    return total


def shares(d2, k):
    """Return how much of its k places each row gives to each other row within reach."""
    n = len(d2)
    given = np.zeros((n, n))
    for i in range(n):
        reach = sorted((d2[i, j], j) for j in range(n) if d2[i, j] < math.inf)
        if not reach:
            continue
        places = min(k, len(reach))
        last = reach[places - 1][0]
        nearer = [j for d, j in reach if d < last * (1 - plain.SAME)]
        tied = [j for d, j in reach if abs(d - last) <= last * plain.SAME]
        given[i, nearer] = 1
        given[i, tied] = (places - len(nearer)) / len(tied)
    return given


def graph(X, k=10, symmetry="mean", weights="heat", feature_scaling=None, heat_constant=1.0):
    d2 = squared_distances(X, feature_scaling)
    given = shares(d2, k)
    both = (given + given.T) / 2 if symmetry == "mean" else np.maximum(given, given.T)
    if weights == "binary":
        return both
    heat = heat_constant * mean_distance(X, feature_scaling)
    return both * np.exp(-np.where(np.isinf(d2), 0.0, d2) / heat)


def on_known(score, S, f, *others):
    """Score a column by the rows that have its value, and what is left of the graph among them."""
    known = ~np.isnan(f)
    return score(S[np.ix_(known, known)], *(y[known] for y in others), f[known])


def summed(f, weighted_pairs):
    """Return the sum over the known pairs, times all weights over those of the known ones."""
    pairs = [(weight, f[i] - f[j]) for i, j, weight in weighted_pairs if weight > 0]
    known = [(weight, apart) for weight, apart in pairs if has(apart)]
    if not known:
        return math.nan if pairs else 0.0
    share = sum(weight for weight, _ in pairs) / sum(weight for weight, _ in known)
    return share * sum(weight * apart**2 for weight, apart in known)


def listed(pairs, weights=None):
    return [(i, j, 1.0 if weights is None else weights[i] * weights[j]) for i, j in pairs]


def edges(S, left_out=()):
    gone = {tuple(sorted(pair)) for pair in left_out}
    return [(i, j, S[i, j]) for i, j in combinations(range(len(S)), 2) if (i, j) not in gone]


def pair_sums(f, y, must_link=(), cannot_link=(), weights=None):
    """Scale each class, each two classes and the given pairs to all of their pairs.

    Those without a known pair have the mean of the others.
    """
    found = []
    for pairs, given in zip(plain.pairs_of(y), (must_link, cannot_link), strict=True):
        parts = {}
        for i, j in pairs:
            parts.setdefault(frozenset([int(y[i]), int(y[j])]), []).append((i, j))
        parts = [listed(part, weights) for part in (*parts.values(), given)]
        sums = [(summed(f, part), sum(w for *_, w in part)) for part in parts if part]
        known = [(total, weight) for total, weight in sums if has(total)]
        if not known:
            found.append(math.nan if sums else 0.0)
            continue
        share = sum(weight for _, weight in sums) / sum(weight for _, weight in known)
        found.append(share * sum(total for total, _ in known))
    return found


def lsdf(S, y, f, gamma=100.0):
    must, cannot = plain.pairs_of(y)
    near = summed(f, edges(S, [*must, *cannot]))
    must, cannot = pair_sums(f, y)
    return cannot / (gamma * must + near)


def c4(S, y, f):
    must, cannot = pair_sums(f, y)
    return on_known(plain.laplacian, S, f) * must / cannot


def fisher(f, y):
    groups = [f[(y == label) & ~np.isnan(f)] for label in sorted(set(y[y >= 0].tolist()))]
    groups = [group for group in groups if len(group)]
    n, q = int(np.sum(y >= 0)), len(set(y[y >= 0].tolist()))
    k = sum(len(group) for group in groups)
    if len(groups) < 2 or k == len(groups):
        return math.nan
    middle = np.concatenate(groups).mean()
    between = sum(len(group) * (group.mean() - middle) ** 2 for group in groups)
    ratio = between / sum(len(group) * group.var() for group in groups)
    if k == n:
        return ratio
    correction = 0.5 if q == 2 else 0.0
    return (1 + ratio) ** ((k - len(groups) - correction) / (n - q - correction)) - 1


def semi_fisher(S, y, f):
    known = ~np.isnan(f)
    between = within = 0.0
    for label in set(y[(y >= 0) & known].tolist()):
        values = f[(y == label) & known]
        between += len(values) * (values.mean() - f[known].mean()) ** 2
        within += len(values) * values.var()
    share = (y >= 0).sum() / max(1, ((y >= 0) & known).sum())
    near = 2 * summed(f, edges(S))
    return (share * between + f[known].var()) / (share * within + near)


def cls(X, free, must, cannot, k=10):
    """Return CLS of each column with the default parameters; low is good."""
    n = len(X)
    d2 = squared_distances(X)
    heat = mean_distance(X)
    S = np.zeros((n, n))
    own = shares(d2[np.ix_(free, free)], k)
    S[np.ix_(free, free)] = (own + own.T) / 2
    S *= np.exp(-np.where(np.isinf(d2), 0.0, d2) / heat)
    tied = {pair: math.exp(-d2[pair] / heat) for pair in must}
    largest = max([*tied.values(), *(math.exp(-d2[i, j] / heat) for i, j, w in edges(S) if w > 0)])
    D = S.sum(axis=1)
    for (i, j), weight in tied.items():
        D[i] += weight
        D[j] += weight
    held = [i for i in range(n) if i not in set(free)]
    D[held] += largest
    found = []
    for f in X.T:
        top = 2 * summed(f, edges(S)) + 2 * summed(f, [(*pair, w) for pair, w in tied.items()])
        apart = summed(f, [(i, j, D[i] + D[j]) for i, j in cannot])
        known = ~np.isnan(f)
        left = np.where(np.outer(known, known), S, 0.0).sum(axis=1)  # degrees over known edges
        degrees = np.where(known, left, 0.0)
        degrees[held] = np.where(known, D, 0.0)[held]
        mean = sum(degrees[known] * f[known]) / sum(degrees)
        variance = sum(degrees[i] * (f[i] - mean) ** 2 for i in free if known[i])
        variance *= S.sum() / left.sum()
        found.append(top / (apart + variance))
    return found


def mutual(f, y):
    """Return I(f; y) of two binned columns over the rows that have both, times their share."""
    both = [(a, b) for a, b in zip(f, y, strict=True) if None not in (a, b)]
    share = len(both) / len(f)
    return share * plain_information.mutual(*zip(*both, strict=True)) if both else 0.0


def conditional(f, y, s):
    every = [each for each in zip(f, y, s, strict=True) if None not in each]
    share = len(every) / len(f)
    return share * plain_information.conditional(*zip(*every, strict=True)) if every else 0.0


def binned(f):
    """Return the bin of each value, None for a missing value."""
    known = [float(value) for value in f if has(value)]
    codes = iter(plain_information.binned(known))
    return [next(codes) if has(value) else None for value in f]
