"""CSFS: constraint selection based feature selection.

M. Hindawi, K. Allab, K. Benabdeslem (2011). Constraint selection-based semi-supervised feature
selection. ICDM.

    w_ij = exp(-|x_i - x_j|^2 / t)
    S_ij = w_ij for neighbours among all rows, labelled or not; else 0        D_i = sum_j S_ij
    CSFS = sum_ij (S_ij + N_ij) (f_i - f_j)^2
           / (sum over kept cannot-link pairs i, j of D_i (f_i - f_j)^2
              + sum over unlabelled i of D_i (f_i - mean)^2)          over ordered pairs

    N_ij = -S_ij for a kept cannot-link of neighbours, w_ij^2 for a kept must-link of rows that are
           no neighbours, else 0

Direction: low is good, so ``scores_`` is minus the value. Cost: O(n^2 p) for the neighbours of n
rows, O(n k p + n_L^2 p) for the scores of all columns, O(n_L^4) to compare the pairs of n_L
labelled rows (a random 4,000 of each kind where there are more).

Most of it is a reading. Known is that CSFS improves on CLS and first keeps the pairs that are
coherent. As nearly all pairs that follow from labels contradict each
other in high dimension, the half of each kind that contradicts the other kind least is kept. N was
not readable. The default takes away the pull between cannot-link neighbours, and pulls must-links
together that are no neighbours; ``variant="later"`` is the form as known from a later
version: -S_ij for a must-link of neighbours, w_ij^2 for a cannot-link of neighbours or a must-link
of others. The graph is as in `LaplacianScore`.

I. Davidson, K. Wagstaff, S. Basu (2006). Measuring constraint-set utility for partitional
clustering algorithms. PKDD. A pair is a segment between its two rows. Two segments of different
kinds pull in contradictory ways as far as they overlap when one is projected on the line of the
other; they are coherent if neither projection overlaps. All dot products come from the Gram matrix
of the rows, so that after O(n_L^2 p) a must-link and a cannot-link are compared in O(1).
"""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array

from semisift.base._graph_ranker import GraphRanker
from semisift.base._pairs import units
from semisift.base._ranker import PairRanker
from semisift.base._training_data import TrainingData
from semisift.filters._constrained_laplacian import Constraints, Gram, pair_matrix, quadratic_sums
from semisift.filters._constraints import list_constraints, warn_of_no_cannot_link
from semisift.parallel import one_blas_thread
from semisift.utils._columns import blocks, column_moments, dense_columns, ratio
from semisift.utils._graph import Graph, column_factors, edge_sums, edges_of
from semisift.utils._sklearn_compat import StrOptions
from semisift.utils._typing import Bools, Floats, Ints

MAX_PAIRS = 4000


class CSFS(GraphRanker, PairRanker):
    """Rank columns as CLS does, with the pairs that contradict each other least.

    Parameters
    ----------
    {n_features_to_select}
    selection : {"half", "strict", "all"}, default="half"
        Which pairs are kept: the half of each kind that contradicts the other least, and the best
        of each class or two classes, where both rows are labelled (a given pair tells no class);
        those that contradict none, or the half if there are none; or all.
    {mean (of the variance)}
    {n_neighbors}
    variant : {"default", "later"}, default="default"
        The form of N: see the module.
    {graph (by name)}
    {weights}
    {feature_scaling (mean)}
    {heat_scale (by name)}
    heat_constant : float, default=1.0
        Larger is more even weights. A graph that too small a constant leaves with few effective
        edges is a `GraphWarning`, and one without any an error.
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the score, so higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.
    n_kept_ : tuple of int
        How many must-links and cannot-links were kept.

    References
    ----------
    M. Hindawi, K. Allab, K. Benabdeslem (2011). Constraint selection-based semi-supervised feature
    selection. ICDM.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import CSFS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = CSFS(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['total_phenols', 'flavanoids', 'od280/od315_of_diluted_wines']
    >>> ranker.n_kept_
    (15, 38)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        "graph": [StrOptions({"mean", "union"})],
        "variant": [StrOptions({"default", "later"})],
        "selection": [StrOptions({"half", "strict", "all"})],
        "mean": [StrOptions({"plain", "D"})],
    }

    selection: Literal["half", "strict", "all"] = "half"
    mean: Literal["plain", "D"] = "D"
    variant: Any = "default"

    def _score(self, data: TrainingData) -> Floats:
        warn_of_no_cannot_link(data, type(self).__name__)
        constraints, _ = list_constraints(data, MAX_PAIRS)
        return self._score_with(data, constraints)

    @one_blas_thread()
    def _score_with(self, data: TrainingData, constraints: Constraints) -> Floats:
        X, unit = data.X, units(data)
        constrained = X[constraints.rows]
        factors, _ = column_factors(X, self.feature_scaling)
        gram = Gram(constrained, factors)
        constraints = self._keep(data, constraints, gram)
        self.n_kept_ = len(constraints.must_link), len(constraints.cannot_link)

        # every constrained row is a node of its own
        own = np.full(data.n_rows, -1)
        own[constraints.rows] = np.arange(len(constraints.rows))
        graph, owner = self._graph(data).split(own)
        nodes = graph.node[constraints.rows]
        changed = edges_of(graph.upper + self._changes(graph, nodes, constraints, gram))
        numerator = edge_sums(X, Graph(*changed, graph.rows, graph.node, graph.within), unit)

        # degrees alone, of the unlabelled rows
        rest = np.flatnonzero(owner < 0)
        at = np.arange(len(rest))
        alone = Graph(at[:0], at[:0], np.empty(0), at, at, graph.degrees[rest])
        spread = edge_sums(X[graph.rows[rest]], alone, unit)
        volume = graph.degrees[rest].sum()
        degrees = graph.degrees[nodes]
        mean, _ = column_moments(X, unit)
        cannot_link = constraints.cannot_link
        pairs = pair_matrix(cannot_link, degrees[cannot_link].sum(axis=1), len(nodes))
        apart, constrained_mean = np.zeros((2, data.n_features))
        for columns in blocks(data.n_features, max(1, len(nodes))):
            block = dense_columns(constrained, columns) / unit[columns]
            constrained_mean[columns] = degrees @ block
            apart[columns] = quadratic_sums(pairs, block, mean[columns])
        if self.mean == "D":
            total = volume + degrees.sum()  # 0 where no row has a neighbour
            mean = (volume * spread.mean + constrained_mean) / total if total > 0 else mean
        variance = spread.variance + volume * (spread.mean - mean) ** 2
        return 0.0 - ratio(2 * numerator.difference, apart + variance)

    def _keep(self, data: TrainingData, constraints: Constraints, gram: Gram) -> Constraints:
        """Return the constraints with the pairs that are kept."""
        if self.selection == "all":
            return constraints
        rows, must_link, cannot_link, _ = constraints
        keep_must, keep_cannot = coherent_pairs(
            gram, must_link, cannot_link, self.selection, data.labels.codes[rows]
        )
        return Constraints(rows, must_link[keep_must], cannot_link[keep_cannot])

    def _changes(
        self, graph: Graph, nodes: Ints, constraints: Constraints, gram: Gram
    ) -> csr_array:
        """Return N on the nodes of the graph, above the diagonal."""
        must, cannot = constraints.must_link, constraints.cannot_link
        tied_must, tied_cannot = (_entries(graph.upper, nodes[pairs]) for pairs in (must, cannot))

        def squared_weights(pairs: Ints) -> Floats:
            if graph.heat is None:
                return np.ones(len(pairs))
            with np.errstate(all="ignore"):
                exponent = gram.distances(pairs) / graph.heat
                return np.exp(-2 * np.nan_to_num(exponent, nan=0.0))

        change_must = np.where(tied_must > 0, 0.0, squared_weights(must))
        change_cannot = -tied_cannot
        if self.variant == "later":
            change_must = np.where(tied_must > 0, -tied_must, change_must)
            change_cannot = np.where(tied_cannot > 0, squared_weights(cannot), 0.0)
        pairs = np.sort(nodes[np.concatenate([must, cannot])], axis=1)
        change = np.concatenate([change_must, change_cannot])
        return coo_array((change, tuple(pairs.T)), shape=graph.upper.shape).tocsr()


def _entries(matrix: csr_array, places: Ints) -> Floats:
    """Return the entries at pairs of places of a matrix that holds them above the diagonal."""
    if not len(places):  # scipy returns something sparse
        return np.empty(0)
    return np.asarray(matrix[tuple(np.sort(places, axis=1).T)]).ravel()


# --- coherent pairs -------------------------------------------------------------------------------


# An overlap below this share of the segment is rounding.
NEGLIGIBLE = 1e-12


def coherent_pairs(
    gram: Any,
    must_link: Ints,
    cannot_link: Ints,
    selection: Literal["half", "strict"] = "half",
    groups: Ints | None = None,
) -> tuple[Bools, Bools]:
    """Choose the pairs to keep; never none of a kind of which there were some.

    Parameters
    ----------
    gram : float array of shape (n, n), or Gram
    must_link, cannot_link : int arrays of shape (k, 2) and (l, 2)
    selection : {"half", "strict"}
        The half of each kind that overlaps least, on average, with the other kind; or the pairs
        that are coherent with all of the other kind, and the half where there are none.
    groups : int array of shape (n,), optional
        Classes of the rows, -1 for none: one must-link of each class and one cannot-link of each
        two classes are kept, where there are any. Pairs with a row of no class are of no group.

    Returns
    -------
    keep_must_link, keep_cannot_link : bool arrays of shape (k,) and (l,)
    """
    if not len(must_link) or not len(cannot_link):
        return np.ones(len(must_link), dtype=bool), np.ones(len(cannot_link), dtype=bool)
    total_must, total_cannot = np.zeros(len(must_link)), np.zeros(len(cannot_link))
    for some in blocks(len(must_link), len(cannot_link)):
        part = incoherence(gram, must_link[some], cannot_link)
        total_must[some] = part.sum(axis=1)
        total_cannot += part.sum(axis=0)
    if selection == "strict" and not total_must.min() > 0 and not total_cannot.min() > 0:
        return total_must == 0, total_cannot == 0
    return (
        _lower_half(total_must, must_link, groups),
        _lower_half(total_cannot, cannot_link, groups),
    )


def _lower_half(scores: Floats, pairs: Ints, groups: Ints | None) -> Bools:
    """Keep the pairs up to the median, those that tie with it too, and the best of each group."""
    half = np.partition(scores, (len(scores) - 1) // 2)[(len(scores) - 1) // 2]
    slack = NEGLIGIBLE * max(1.0, float(scores.max()))
    keep = scores <= half + slack
    if groups is not None:
        kinds = np.sort(groups[pairs], axis=1)
        _, kind = np.unique(kinds, axis=0, return_inverse=True)
        best = np.full(kind.max() + 1, np.inf)
        np.minimum.at(best, kind.ravel(), scores)
        keep |= (kinds[:, 0] >= 0) & (scores <= best[kind.ravel()] + slack)
    return keep


def _products(gram: Any, pairs: Ints, others: Ints) -> Floats:
    """Return the dot products of both rows of each pair with both of each other, (k, 2, l, 2)."""
    return np.asarray(gram[pairs.reshape(-1, 1), others.ravel()]).reshape(len(pairs), 2, -1, 2)


def _covered(products: Floats, gram: Any, others: Ints) -> Floats:
    b0, b1 = others.T
    own, across = gram[b0, b0], gram[b0, b1]
    length2 = own + gram[b1, b1] - 2 * across

    def along(side: int) -> Floats:
        dot = products[:, side, :, 1] - products[:, side, :, 0] - across + own
        return np.divide(dot, length2, out=np.zeros_like(dot), where=length2 > 0)

    start, stop = along(0), along(1)
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    share = np.minimum(high, 1.0) - np.maximum(low, 0.0)
    return np.where((share > NEGLIGIBLE) & (length2 > 0), share, 0.0)


def incoherence(gram: Any, must_link: Ints, cannot_link: Ints) -> Floats:
    """Return the larger overlap of each must-link with each cannot-link.

    Parameters
    ----------
    gram : float array of shape (n, n), or Gram
    must_link, cannot_link : int arrays of shape (k, 2) and (l, 2)

    Returns
    -------
    float array of shape (k, l)
        In [0, 1]; 0 means coherent.
    """
    products = _products(gram, must_link, cannot_link)
    return np.maximum(
        _covered(products, gram, cannot_link),
        _covered(products.transpose(2, 3, 0, 1), gram, must_link).T,
    )
