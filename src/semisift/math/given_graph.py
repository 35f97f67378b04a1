"""Graphs that the user gives: a matrix of weights, or a transformer that finds neighbours."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse, triu
from sklearn.base import clone

from semisift.math import Floats
from semisift.math.columns import column_factors
from semisift.math.graph import Graph, GraphOptions, edges_of, symmetrise, weighted_graph
from semisift.math.neighbours import Edges
from semisift.math.structure import check_structure


def given_graph(given: Any, X: Any, options: GraphOptions, width: Floats | None = None) -> Graph:
    """Make a graph from what the user gave for the parameter `graph`.

    Parameters
    ----------
    given : array, sparse matrix or transformer
        Weights between all rows, or an object whose ``fit_transform(X)`` returns a sparse matrix
        of distances (or of weights, if its `mode` is "connectivity").
    X : array or csc_array of shape (n, p)
    options : GraphOptions
        Of a matrix of distances, all but the number of neighbours; of weights, nothing.
    width : float array of shape (p,), optional
        What scaling divides each column by.

    Returns
    -------
    Graph
    """
    if not hasattr(given, "fit_transform"):
        return graph_of_weights(given, X.shape[0])
    transformer = clone(given, safe=False)
    factors, _ = column_factors(X, options.feature_scaling, width)
    if options.feature_scaling is not None:
        X = X.multiply(factors[None, :]).tocsr() if issparse(X) else X * factors
    found = transformer.fit_transform(X.tocsr() if issparse(X) else X)
    found = _check(found, X.shape[0], f"What {type(given).__name__} returned")
    if getattr(transformer, "mode", "distance") == "connectivity":
        return graph_of_weights(found - diags_array(found.diagonal()), X.shape[0])
    n = X.shape[0]
    first = np.repeat(np.arange(n), np.diff(found.indptr))
    apart = first != found.indices  # distances of 0 to other rows are edges
    d2 = found.data[apart] ** 2
    edges = Edges(first[apart], found.indices[apart].astype(np.int64), d2, np.ones(len(d2)))
    edges = symmetrise(edges, n, options.symmetry)
    own_space = getattr(transformer, "effective_metric_", None) == "euclidean"
    mean_d2 = mean_squared_distance(X) if own_space else float(d2.mean()) if len(d2) else 0.0
    nodes = np.arange(n)
    return weighted_graph(edges, nodes, nodes, np.zeros(n), mean_d2, 1.0, options)


def graph_of_weights(given: Any, n_rows: int) -> Graph:
    """Make a graph of given weights, averaged with their transpose; a diagonal adds to degrees."""
    weights = _check(given, n_rows, "graph")
    weights = ((weights + weights.T) / 2).tocsr()
    within = weights.diagonal()
    nodes = np.arange(n_rows)
    return Graph(*edges_of(triu(weights, k=1)), nodes, nodes, within)


def mean_squared_distance(X: Any) -> float:
    """Return the mean over all pairs of rows, from the variances of the columns."""
    n = X.shape[0]
    if issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variances = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    else:
        variances = X.var(axis=0, dtype=np.float64)
    return float(2 * n / max(1, n - 1) * max(0.0, variances.sum()))


def _check(given: Any, n_rows: int, name: str) -> csr_array:
    """Return a matrix of finite numbers, none negative, for each pair of rows."""
    check_structure(given, name)
    try:
        matrix = csr_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be 'mean', 'union', a matrix of weights or a transformer with "
            f"fit_transform: {error}."
        ) from error
    if matrix.shape != (n_rows, n_rows):
        raise ValueError(
            f"{name} must have a row and a column for each of the {n_rows} rows of X: got the "
            f"shape {matrix.shape}."
        )
    matrix.sum_duplicates()
    values: Floats = matrix.data
    if not np.isfinite(values).all() or (values < 0).any():
        worst = values[~(np.isfinite(values) & (values >= 0))][0]
        raise ValueError(f"{name} must hold finite weights, none negative: got {worst}.")
    return matrix
