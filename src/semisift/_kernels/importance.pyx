"""What trees lose when a feature is permuted over their out-of-bag rows."""

import numpy as np

from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcpy, memset

from semisift._kernels.columns cimport (
    Columns, column_mask, column_value, columns_t, count_rows, goes_left, semisift_lowest_bit,
    semisift_popcount, split_rows,
)
from semisift._kernels.masks cimport Fallen, Forest, Tree, list_rows, split_mask
from semisift._kernels.streams cimport PERMUTATION, draw_below, stream_key

include "permutation.pxi"
include "permutation_lists.pxi"


cdef void label_own(uint64_t[:, ::1] own, const uint64_t[:, ::1] labels,
                    const uint64_t[::1] unlabelled, Forest forest, const Tree *tree,
                    Fallen fallen, double confident_from) noexcept nogil:
    """Label the unlabelled rows by the tree's own confident leaves, the others as given."""
    cdef Py_ssize_t k, w, n_words = labels.shape[1]
    cdef int v
    for k in range(labels.shape[0]):
        for w in range(n_words):
            own[k, w] = labels[k, w] & ~unlabelled[w]
    for v in range(tree.n_nodes):
        if tree.leaf[v] >= 0 and forest.confidence(tree, v) >= confident_from:
            fallen.add_leaf(v, &unlabelled[0], &own[tree.leaf[v], 0])


def permute(Columns X, trees, uint64_t seed, Py_ssize_t start, const uint64_t[:, ::1] out_of_bag,
            const uint64_t[:, ::1] labels, const uint64_t[::1] unlabelled,
            const double[::1] weights, *, bint net, bint sampled=False,
            double own_labels_from=-1.0, const double[::1] copies=None, double row_cost=64.0,
            int by_lists=-1):
    """How much each tree loses when a feature it splits on is permuted over its out-of-bag rows.

    A feature that a tree does not split on cannot change its predictions and is left out. Gaps are
    permuted as values are: a row that receives one goes where the missing values go.

    Parameters
    ----------
    X : Columns
        The data.
    trees : Trees
        One tree for each member of the block.
    seed, start : int
        The seed, and the number of the block's first member: the streams of `sampled`.
    out_of_bag : array of shape (n_members, n_words)
        Out-of-bag rows of each member.
    labels : array of shape (n_classes, n_words)
        The rows that carry each label; a row without one is left out.
    unlabelled : array of shape (n_words,)
        The rows whose label is not their own.
    weights : array of shape (n_rows,)
        What a row counts for.
    net : bool
        Permute over all labelled rows and subtract what turns right; else over those predicted right.
    sampled : bool
        One random permutation for each feature instead of the expectation over all of them.
    own_labels_from : float
        If not negative: the label of an unlabelled row is the tree's own prediction where its leaf
        is at least so confident, and none elsewhere.
    copies : array of shape (n_rows,), optional
        How many rows each row stands for: in the expectation it gives its value to others so often.
        A random permutation takes each for one.
    row_cost : float
        Cost of walking a row through a tree in words of a mask: large trees are walked row by row.
    by_lists : int
        As `vote` takes it; the losses do not depend on it (with `copies`, but for rounding).

    Returns
    -------
    features, losses : ndarrays
        One entry for each tree and feature it splits on, tree by tree.
    agreement : ndarray of shape (n_members,)
        Share of a member's unlabelled out-of-bag rows, those with a label, that it predicts so; NaN
        where there is none.
    """
    cdef Py_ssize_t n_members = out_of_bag.shape[0], n_words = out_of_bag.shape[1]
    cdef Py_ssize_t n_classes = labels.shape[0], i, k, w
    cdef int v
    cdef int64_t n_found = 0, n_voted, n_agreed
    cdef uint64_t key, draws
    features_array = np.empty(len(trees.feature), dtype=np.int32)
    losses_array = np.empty(len(trees.feature))
    agreement_array = np.full(n_members, np.nan)
    own_array = np.array(labels)
    cdef int32_t[::1] features = features_array
    cdef double[::1] losses = losses_array, agreement = agreement_array
    cdef uint64_t[:, ::1] own = own_array
    cdef int32_t[::1] last_tree = np.full(X.n_features, -1, dtype=np.int32)
    cdef Forest forest = Forest(trees)
    cdef _Permutation out = _Permutation(
        forest.most_nodes, n_words, X.n_features, sampled, by_lists
    )
    cdef Tree tree
    out.X = &X.c
    out.weights = &weights[0]
    out.copies = &copies[0] if copies is not None and not sampled else NULL
    out.labels = &own[0, 0]
    with nogil:
        for i in range(n_members):
            tree = forest.tree(i)
            out.fallen.drop(&tree, &X.c, &out_of_bag[i, 0])
            if own_labels_from >= 0:
                label_own(own, labels, unlabelled, forest, &tree, out.fallen, own_labels_from)
            out.judge(&tree, &out_of_bag[i, 0], n_classes, net)
            n_voted = 0
            n_agreed = 0
            for w in range(n_words):
                n_agreed += semisift_popcount(out.right[w] & unlabelled[w])
                for k in range(n_classes):
                    n_voted += semisift_popcount(own[k, w] & out_of_bag[i, w] & unlabelled[w])
            if n_voted:
                agreement[i] = <double>n_agreed / <double>n_voted
            if out.n_permuted < 2 or out.mass == 0:
                continue
            if out.fallen.listed:
                out.list_nodes(&tree)
            key = stream_key(seed, start + i, PERMUTATION)
            draws = 0
            for v in range(tree.n_nodes):
                if tree.leaf[v] >= 0 or last_tree[tree.feature[v]] == i:
                    continue
                last_tree[tree.feature[v]] = <int32_t>i
                if sampled:
                    out.shuffle(key, &draws)
                features[n_found] = tree.feature[v]
                losses[n_found] = out.loss(
                    &tree, tree.feature[v], net, sampled, row_cost
                )
                n_found += 1
    return features_array[:n_found].copy(), losses_array[:n_found].copy(), agreement_array
