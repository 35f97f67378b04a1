"""EnsCLS as one would write it: a neighbour graph of scikit-learn and sparse products a member.

The graph is the mean of the directed graph and its transpose; ties at the last distance are broken
by the search, so that on data with ties the scores differ a little from those of `EnsCLS`.
"""

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from semisift._kernels.fallback.plan import draw_bags, draw_subspaces


def member_scores(Z, codes, k=10):
    """CLS of the columns of Z, whose labelled rows have a code, with a balance of 1."""
    free, held = np.flatnonzero(codes < 0), np.flatnonzero(codes >= 0)
    Z = Z.tocsr() if sparse.issparse(Z) else Z
    n = Z.shape[0]
    mean = np.asarray(Z.mean(axis=0)).ravel()
    squares = Z.multiply(Z) if sparse.issparse(Z) else Z * Z
    variance = np.asarray(squares.mean(axis=0)).ravel() - mean**2
    scale = 2 * variance.sum() * n / (n - 1)

    inner = Z[free]
    search = NearestNeighbors(n_neighbors=min(k, len(free) - 1)).fit(inner)
    graph = search.kneighbors_graph(mode="distance").tocsr()
    graph.data = np.exp(-(graph.data**2) / scale)
    graph = (graph + graph.T) / 2
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    around = quadratic(graph, degrees, inner)
    largest = graph.data.max()

    L = Z[held].toarray() if sparse.issparse(Z) else Z[held]
    d2 = ((L[:, None, :] - L[None, :, :]) ** 2).sum(axis=2)
    same = codes[held][:, None] == codes[held]
    must = np.where(same & ~np.eye(len(held), dtype=bool), np.exp(-d2 / scale), 0.0)
    largest = max(largest, must.max())
    held_degrees = must.sum(axis=1) + largest
    cannot = np.where(same, 0.0, held_degrees[:, None] + held_degrees)
    together = quadratic(sparse.csr_array(must), must.sum(axis=1), L)
    apart = quadratic(sparse.csr_array(cannot), cannot.sum(axis=1), L) / 2
    inner = inner.toarray() if sparse.issparse(inner) else inner
    centre = (degrees @ inner + held_degrees @ L) / (degrees.sum() + held_degrees.sum())
    spread = degrees @ (inner - centre) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        numerator = around / degrees.sum() + np.nan_to_num(together / must.sum())
        denominator = spread / degrees.sum() + np.nan_to_num(apart / (cannot.sum() / 2))
        return numerator / denominator


def quadratic(weights, degrees, Z):
    """Weighted squared differences over ordered pairs, for each column."""
    if sparse.issparse(Z):
        inner = (weights @ Z).multiply(Z).sum(axis=0)
        return 2 * (degrees @ Z.multiply(Z) - np.asarray(inner).ravel())
    return 2 * (degrees @ (Z * Z) - ((weights @ Z) * Z).sum(axis=0))


def sklearn_enscls(X, y, *, seed, n_members, n_drawn):
    """Scores of `EnsCLS(...)`: z-scored members, balance 1; also what each member gave."""
    X = X.tocsc().astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    p = X.shape[1]
    labelled = np.flatnonzero(y >= 0)
    free = np.flatnonzero(y < 0)
    strata = np.array([0, len(labelled)], dtype=np.int32)
    places = np.arange(len(labelled), dtype=np.int32)
    none = np.empty(0, dtype=np.int32)
    total, draws = np.zeros(p), np.zeros(p)
    for i in range(n_members):
        features = draw_subspaces(seed, i, i + 1, p, n_drawn)[0]
        weights, _ = draw_bags(seed, i, i + 1, len(labelled), places, strata, none)
        bag = labelled[weights[0] > 0]
        if len(np.unique(y[bag])) < 2:
            continue
        rows = np.concatenate([bag, free])
        scores = member_scores(X[:, features][rows], y[rows])
        known = np.isfinite(scores)
        if not known.any():
            continue
        apart = scores[known] - scores[known].mean()
        total[features[known]] += apart / (apart.std() or 1.0)
        draws[features[known]] += 1
    return np.divide(-total, draws, out=np.full(p, np.nan), where=draws > 0)
