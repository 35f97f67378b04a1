"""The graph filters written plainly: a matrix of weights, then loops over pairs of rows."""

import math

import numpy as np

SAME = 1e-10  # distances that differ by less than this share are equal


def squared_distances(X, feature_scaling=None):
    X = np.asarray(X, dtype=float)
    n, p = X.shape
    if feature_scaling == "minmax":
        span = X.max(axis=0) - X.min(axis=0)
        X = X[:, span > 0] / span[span > 0] / math.sqrt(p)
    return np.array([[sum((X[i] - X[j]) ** 2) for j in range(n)] for i in range(n)])


def shares(d2, k):
    """Return how much of its k places each row gives to each other row."""
    n = len(d2)
    k = min(k, n - 1)
    given = np.zeros((n, n))
    if k == 0:
        return given
    for i in range(n):
        others = [j for j in range(n) if j != i]
        last = sorted(d2[i, j] for j in others)[k - 1]
        margin = SAME * max(last, 1e-300)
        nearer = [j for j in others if d2[i, j] < last - margin]
        tied = [j for j in others if abs(d2[i, j] - last) <= margin]
        given[i, nearer] = 1
        given[i, tied] = (k - len(nearer)) / len(tied)
    return given


def graph(
    X,
    k=10,
    symmetry="mean",
    weights="heat",
    feature_scaling=None,
    heat_scale="mean",
    heat_constant=1.0,
):
    """Return the weights between all rows."""
    d2 = squared_distances(X, feature_scaling)
    given = shares(d2, k)
    both = (given + given.T) / 2 if symmetry == "mean" else np.maximum(given, given.T)
    if weights == "binary":
        return both
    pairs = [(i, j) for i in range(len(d2)) for j in range(i)]
    if heat_scale == "mean":
        scale = np.mean([d2[pair] for pair in pairs])
    elif heat_scale == "median":
        scale = median([(d2[pair], both[pair]) for pair in pairs if both[pair] and d2[pair] > 0])
    else:
        scale = 1.0
    return both * np.exp(-d2 / (heat_constant * scale))


def median(weighted):
    """Return the median of values with weights, between two values if half lies on either side."""
    weighted = sorted(weighted)
    half = sum(weight for _, weight in weighted) / 2
    below = 0.0
    for place, (value, weight) in enumerate(weighted):
        below += weight
        if abs(below - half) < 1e-9:
            return (value + weighted[place + 1][0]) / 2
        if below > half:
            return value


def difference(S, f):
    """Return f'(D - S)f as half the sum over ordered pairs."""
    n = len(f)
    return sum(S[i, j] * (f[i] - f[j]) ** 2 for i in range(n) for j in range(n)) / 2


def weighted_mean(S, f):
    degrees = S.sum(axis=1)
    return sum(degrees * f) / sum(degrees)


def laplacian(S, f):
    mean = weighted_mean(S, f)
    return difference(S, f) / sum(S.sum(axis=1) * (f - mean) ** 2)


def overruled(S, y, same_class_weight):
    """Return the weights with labels in place of neighbours where both rows have one."""
    S = S.copy()
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] >= 0 and y[j] >= 0:
                S[i, j] = same_class_weight if y[i] == y[j] and i != j else 0.0
    return S


def sls(S, y, f, same_class_weight=1.0):
    return laplacian(overruled(S, y, same_class_weight), f)


def entropy(*variables):
    values = list(zip(*variables, strict=True))
    shares = [values.count(value) / len(values) for value in set(values)]
    return -sum(share * math.log(share) for share in shares)


def information(a, b):
    return entropy(a) + entropy(b) - entropy(a, b)


def sselect(S, y, f, graph_weight=0.1):
    labelled = [i for i in range(len(y)) if y[i] >= 0]
    signs = [bool(f[i] >= weighted_mean(S, f)) for i in labelled]
    classes = [int(y[i]) for i in labelled]
    most = max(entropy(signs), entropy(classes))
    alone = entropy(signs) == 0 or entropy(classes) == 0
    nmi = 0.0 if alone else information(signs, classes) / most
    return graph_weight * laplacian(S, f) + (1 - graph_weight) * (1 - nmi)


def pair_sums(f, must_link, cannot_link):
    return [sum((f[i] - f[j]) ** 2 for i, j in pairs) for pairs in (must_link, cannot_link)]


def pairs_of(y):
    rows = [i for i in range(len(y)) if y[i] >= 0]
    pairs = [(i, j) for i in rows for j in rows if i < j]
    return [p for p in pairs if y[p[0]] == y[p[1]]], [p for p in pairs if y[p[0]] != y[p[1]]]


def lsdf(S, must_link, cannot_link, f, gamma=100.0):
    S = S.copy()
    for i, j in [*must_link, *cannot_link]:
        S[i, j] = S[j, i] = 0.0
    must, cannot = pair_sums(f, must_link, cannot_link)
    return cannot / (gamma * must + difference(S, f))


def c4(S, must_link, cannot_link, f):
    must, cannot = pair_sums(f, must_link, cannot_link)
    return laplacian(S, f) * (must / cannot if cannot else math.inf if must else math.nan)


def semi_fisher(S, y, f, graph_weight=1.0, variance_weight=1.0):
    between = within = 0.0
    for label in set(y[y >= 0].tolist()):
        values = f[y == label]
        between += len(values) * (values.mean() - f.mean()) ** 2
        within += len(values) * values.var()
    near = 2 * difference(S, f)
    return (between + variance_weight * f.var()) / (within + graph_weight * near)


def conditional_information(a, b, c):
    return entropy(a, c) + entropy(b, c) - entropy(a, b, c) - entropy(c)


def bins(f):
    """Return five bins of equal width, or the values if these are few."""
    if len(set(f.tolist())) <= 5:
        return f.tolist()
    low, high = f.min(), f.max()
    return [min(4, math.floor(5 * (value - low) / (high - low) + 1e-12)) for value in f]


def gsfs(criterion, X, y, n_wanted, min_gain=0.05):
    """Return the columns kept, in order; `criterion` is the s-Laplacian of each."""
    labelled = np.flatnonzero(y >= 0)
    classes = y[labelled].tolist()
    binned = [bins(X[labelled, j]) for j in range(X.shape[1])]
    kept = []
    for j in np.argsort(criterion):
        if len(kept) == n_wanted:
            break
        gains = []
        for s in kept:
            left = conditional_information(binned[j], classes, binned[s])
            alone = information(binned[j], classes)
            if alone < 1e-12:
                gains.append(math.inf if left > 1e-12 else 0.0)
            else:
                gains.append(left / alone)
        if min(gains, default=math.inf) > min_gain:
            kept.append(int(j))
    return kept
