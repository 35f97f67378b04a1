"""CLS and CSFS with loops over pairs of rows, as plainly as possible."""

import numpy as np

TIE = 1e-9


def distances(X):
    n = len(X)
    return np.array([[float(((X[i] - X[j]) ** 2).sum()) for j in range(n)] for i in range(n)])


def mean_distance(d2):
    n = len(d2)
    return sum(d2[i, j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))


def shares(d2, rows, k):
    """How the k places of each of the rows are shared among the others; ties share equally."""
    n = len(d2)
    given = np.zeros((n, n))
    for i in rows:
        others = [j for j in rows if j != i]
        left = min(k, len(others))
        while left > 0 and others:
            nearest = min(d2[i, j] for j in others)
            tied = [j for j in others if d2[i, j] <= nearest * (1 + TIE)]
            for j in tied:
                given[i, j] = min(1.0, left / len(tied))
            left -= min(left, len(tied))
            others = [j for j in others if j not in tied]
    return given


def symmetric(given, graph):
    return (given + given.T) / 2 if graph == "mean" else np.maximum(given, given.T)


def cls(
    X,
    free,
    must,
    cannot,
    *,
    k=10,
    graph="mean",
    heat=None,
    self_loops=True,
    mean="D",
    balance=None,
):
    """Return CLS of each column (low is good).

    `free` are the unlabelled rows, `must` and `cannot` lists of pairs; `heat` is the squared
    distance at which a weight is 1/e: None for the mean over all rows, 0 for weights of 1.
    """
    n, p = X.shape
    d2 = distances(X)
    heat = mean_distance(d2) if heat is None else heat
    weight = np.ones((n, n)) if heat == 0 else np.exp(-d2 / heat)
    given = symmetric(shares(d2, free, k), graph)
    S = given * weight
    for i, j in must:
        S[i, j] += weight[i, j]
        S[j, i] += weight[i, j]
    used = [weight[i, j] for i in free for j in free if given[i, j] > 0]
    used += [weight[i, j] for i, j in must]
    D = S.sum(axis=1)
    if self_loops:
        for i in set(range(n)) - set(free):
            D[i] += max(used, default=1.0)
    mu = X.mean(axis=0) if mean == "plain" else D @ X / D.sum()
    neighbours, held, apart, variance = np.zeros((4, p))
    for r in range(p):
        for i in range(n):
            for j in range(n):
                part = S[i, j] * (X[i, r] - X[j, r]) ** 2
                if i in free:
                    neighbours[r] += part
                else:
                    held[r] += part
        for i, j in cannot:
            apart[r] += (D[i] + D[j]) * (X[i, r] - X[j, r]) ** 2
        for i in free:
            variance[r] += D[i] * (X[i, r] - mu[r]) ** 2
    if balance is not None:
        volume = sum(D[i] for i in free)
        neighbours, variance = neighbours / volume, variance / volume
        total = 2 * sum(weight[i, j] for i, j in must)
        held *= balance / total if total else 0.0
        total = sum(D[i] + D[j] for i, j in cannot)
        apart *= balance / total if total else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return (neighbours + held) / (apart + variance)


def csfs(X, free, must, cannot, *, k=10, graph="mean", heat=None, variant="default", mean="D"):
    """Return CSFS of each column (low is good) with all the given pairs."""
    n, p = X.shape
    d2 = distances(X)
    heat = mean_distance(d2) if heat is None else heat
    weight = np.exp(-d2 / heat)
    S = symmetric(shares(d2, list(range(n)), k), graph) * weight
    D = S.sum(axis=1)
    total = S.copy()
    for pairs, is_must in ((must, True), (cannot, False)):
        for i, j in pairs:
            near = S[i, j] > 0
            if variant == "default":
                change = 0.0 if is_must else -S[i, j]
                change = weight[i, j] ** 2 if is_must and not near else change
            else:
                change = -S[i, j] if is_must else 0.0
                change = weight[i, j] ** 2 if near != is_must else change
            total[i, j] += change
            total[j, i] += change
    scores = np.zeros(p)
    for r in range(p):
        f = X[:, r]
        top = sum(total[i, j] * (f[i] - f[j]) ** 2 for i in range(n) for j in range(n))
        low = sum((D[i] + D[j]) * (f[i] - f[j]) ** 2 for i, j in cannot)
        centre = f.mean() if mean == "plain" else D @ f / D.sum()
        low += sum(D[i] * (f[i] - centre) ** 2 for i in free)
        scores[r] = top / low
    return scores


def overlap(a0, a1, b0, b1):
    """Length of segment b that the projection of segment a on its line covers."""
    length = float(np.linalg.norm(b1 - b0))
    if length == 0:
        return 0.0
    u = (b1 - b0) / length
    s, t = sorted([float((a0 - b0) @ u), float((a1 - b0) @ u)])
    return max(0.0, min(t, length) - max(s, 0.0))
