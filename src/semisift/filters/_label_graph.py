"""What labels and given pairs change in a neighbour graph."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from semisift.base._pairs import class_moments, pair_sums_in_units, units, unlabelled_pairs
from semisift.base._training_data import TrainingData
from semisift.utils._columns import power_of_two, ratio
from semisift.utils._graph import NO_VARIANCE, Graph, edge_sums
from semisift.utils._typing import Bools, Floats

MUST_LINK, UNKNOWN, CANNOT_LINK = 1, 0, -1


def by_relation(data: TrainingData, graph: Graph) -> tuple[Graph, NDArray[np.int8], Bools]:
    """Split a graph until it is known for each edge whether labels or pairs decide on it.

    Parameters
    ----------
    data : TrainingData
    graph : Graph

    Returns
    -------
    graph : Graph
        The same graph on finer nodes: identical rows with different labels are apart, and so are
        the rows of given pairs.
    relation : int array
        For each edge: 1 for a must-link, -1 for a cannot-link, 0 if unknown.
    labelled : bool array
        Which of its nodes are labelled, so that their rows must be linked.
    """
    codes = data.labels.codes.astype(np.int64)
    groups = codes.copy()
    extra = None if data.given_pairs is None else unlabelled_pairs(data)
    if extra is not None:
        named = np.unique(np.concatenate([extra.must_link, extra.cannot_link]))
        groups[named] = data.labels.n_classes + np.arange(len(named))
    graph, _ = graph.split(groups)
    code = codes[graph.rows]
    n_nodes = len(code)
    first, second = graph.first, graph.second
    both = (code[first] >= 0) & (code[second] >= 0)
    relation = np.where(code[first] == code[second], MUST_LINK, CANNOT_LINK) * both
    if extra is not None:
        key = first * n_nodes + second
        for pairs, kind in ((extra.must_link, MUST_LINK), (extra.cannot_link, CANNOT_LINK)):
            a, b = graph.node[pairs].T
            relation[np.isin(key, np.concatenate([a * n_nodes + b, b * n_nodes + a]))] = kind
    return graph, relation.astype(np.int8), code >= 0


def keep_edges(graph: Graph, kept: Bools, within: Floats) -> Graph:
    """Return a graph with some of the edges, and with new weights within nodes."""
    return replace(
        graph,
        first=graph.first[kept],
        second=graph.second[kept],
        weights=graph.weights[kept],
        within=within,
    )


def undecided_edges(data: TrainingData, graph: Graph) -> Graph:
    """Return the edges on which neither labels nor given pairs decide."""
    graph, relation, labelled = by_relation(data, graph)
    within = np.where(labelled, 0.0, graph.within)
    return keep_edges(graph, relation == UNKNOWN, within)


def cannot_link_edges(data: TrainingData, graph: Graph) -> Graph:
    """Return the edges between rows that are known to be of different classes."""
    graph, relation, _ = by_relation(data, graph)
    return keep_edges(graph, relation == CANNOT_LINK, np.zeros(len(graph.rows)))


def span_units(data: TrainingData) -> Floats:
    """Return a power of two near the span of each column, and infinity for constant columns.

    It comes at a lower cost than a unit near the standard deviation, and makes zeros of constants.
    """
    return np.where(data.constant, np.inf, power_of_two(data.spans))


def laplacian_score(data: TrainingData, graph: Graph) -> Floats:
    """Return the Laplacian score of each column, lower is better.

    Parameters
    ----------
    data : TrainingData
    graph : Graph

    Returns
    -------
    float array of shape (p,)
        ``f'(D - S)f / f~'Df~`` with f~ the column less its mean weighted by the degrees. Where a
        column has missing values, S holds the edges whose two rows have the value, and D their
        sums.
    """
    sums = edge_sums(data.X, graph, span_units(data), has_missing=data.has_missing)
    return ratio(sums.difference, sums.variance, NO_VARIANCE * sums.volume)


def label_aware_score(data: TrainingData, graph: Graph, same_class_weight: float = 1.0) -> Floats:
    """Return the Laplacian score on a graph in which labels overrule neighbours.

    Parameters
    ----------
    data : TrainingData
    graph : Graph
        With weights that were not shifted: 1 is the weight at distance 0.
    same_class_weight : float
        Weight of each pair of labelled rows of one class; pairs of different classes get 0.

    Returns
    -------
    float array of shape (p,)
        Lower is better.
    """
    graph = undecided_edges(data, graph)
    # the must-link pairs, a complete graph in each class, are added as sums
    code = data.labels.codes[graph.rows]
    if data.has_missing:
        return _label_aware_of_known(data, graph, same_class_weight, code)
    others = np.where(code >= 0, np.append(data.labels.counts, 1)[code] - 1, 0)
    within = graph.within + same_class_weight * graph.counts * others
    graph = replace(graph, within=within)
    sums = edge_sums(data.X, graph, units(data))
    must_link, _ = pair_sums_in_units(data)
    difference = sums.difference + same_class_weight * must_link
    return ratio(difference, sums.variance, NO_VARIANCE * sums.volume)


def _label_aware_of_known(
    data: TrainingData, graph: Graph, same_class_weight: float, code: NDArray[np.int32]
) -> Floats:
    moments = class_moments(data)

    def must_link_degrees(columns: slice) -> Floats:
        others = np.where((code >= 0)[:, None], moments.counts[code][:, columns] - 1, 0)
        return np.asarray(same_class_weight * graph.counts[:, None] * others)

    sums = edge_sums(data.X, graph, units(data), has_missing=True, more=must_link_degrees)
    must_link = (moments.counts * moments.within).sum(axis=0)
    difference = sums.difference + same_class_weight * must_link
    return ratio(difference, sums.variance, NO_VARIANCE * sums.volume)
