"""Many tiny CART trees at once, in flat arrays.

Gini impurity, thresholds at midpoints, every feature of the member's subspace considered at every
node, grown until pure. Two split searches give the same trees: for small bags all thresholds of all
columns are tried side by side (splits.h), for larger ones each column is kept sorted and swept.

Where a value is not there (a missing value, NaN in X), thresholds are midpoints between the values that are.
For each threshold the rows with a missing value go to the side that has more (weighted) rows with a value, to
the left if they are as many, and count there: a column with few values has no advantage.
"""

from typing import NamedTuple

import numpy as np

from libc.math cimport INFINITY, isnan
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from semisift._kernels.columns cimport (
    Columns, column_value, columns_t, gather_column, stored_value,
)
from semisift._kernels.streams cimport NODE_SUBSPACE, draw_below, stream_key

include "bag.pxi"
include "side_by_side.pxi"
include "sweep.pxi"

SIDE_BY_SIDE = SIDE_BY_SIDE_ROWS
# Up to so many rows, counting the smaller values of a column beats sorting it.
cdef int COUNT_RANKS = 128
# Nodes of larger bags that draw their own columns are searched side by side up to so many rows.
cdef int MAX_PART_ROWS = min(96, SIDE_BY_SIDE_ROWS)
# What a row costs where the order of all rows is walked instead, in pairs of rows compared.
cdef int ORDER_COST = 16
# Sums of weights are counted in 32 bits.
cdef int64_t MAX_WEIGHT = 2**31 - 1

# Nodes of all trees of a call, as their numbers are kept; tests set it lower.
MAX_NODES = 2**31 - 1
# Sparse columns are swept in the time of their entries, so a sweep pays sooner.
SPARSE_SIDE_BY_SIDE = 64


class Trees(NamedTuple):
    """The trees of a block of members; node numbers count from the root (0) of each tree.

    Parameters
    ----------
    offsets : ndarray of shape (n_trees + 1,)
        Where each tree's nodes start in the arrays below.
    feature, threshold : ndarray of shape (n_nodes,)
        Rows with a value of at most `threshold` go left; -1 at leaves.
    left : ndarray of shape (n_nodes,)
        The left child; the right one is the next number.
    leaf : ndarray of shape (n_nodes,)
        The class of a leaf, -1 at inner nodes.
    impure : ndarray of shape (n_nodes,)
        Which row of `counts` belongs to a leaf that holds more than one class, else -1.
    counts : ndarray of shape (n_impure, n_classes)
        Weighted class counts of the impure leaves.
    missing_left : ndarray of shape (n_nodes,), uint8
        Whether rows without a value go left: to the child with more (weighted) training rows, the
        left one if they are as many.
    """

    offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    leaf: np.ndarray
    impure: np.ndarray
    counts: np.ndarray
    missing_left: np.ndarray


cdef struct Output:
    int32_t *feature
    double *threshold
    int32_t *left
    int32_t *leaf
    int32_t *impure
    int32_t *counts
    int32_t n_impure
    int32_t *total  # of the weights of each node of the tree


cdef struct Growth:
    # what stays the same for every tree of a call
    const columns_t *X
    const uint8_t *codes
    const int32_t *order
    const double *spread
    int max_depth
    # features drawn afresh at every node, or -1
    int node_features
    int64_t n_features
    uint64_t seed
    int32_t *seen
    int32_t mark
    int32_t *candidates
    # pending nodes; those of sorted columns have class counts and a segment of each column
    Node *stack
    int64_t *level_counts
    int32_t *segments
    int64_t n_levels
    # small nodes of large bags are bags of their own; NULL where all bags are small
    Bag *part
    Node *part_stack


cdef int draw_node_subspace(uint64_t key, int64_t n_features, int size, int32_t *seen, int32_t mark,
                            int32_t *out, uint64_t *counter) noexcept nogil:
    """Go on drawing distinct features; `seen` remembers those drawn under this mark."""
    cdef int found = 0
    cdef int32_t feature
    while found < size:
        feature = draw_below(key, counter[0], n_features)
        counter[0] += 1
        if seen[feature] != mark:
            seen[feature] = mark
            out[found] = feature
            found += 1
    return found


cdef void close_leaf(Bag *bag, Output *out, int number, int n_runs) noexcept nogil:
    cdef int k, winner = 0
    for k in range(1, bag.n_classes):
        if bag.counts[k] > bag.counts[winner]:
            winner = k
    out.leaf[number] = winner
    out.feature[number] = -1
    out.threshold[number] = 0.0
    out.left[number] = -1
    out.impure[number] = -1
    if n_runs > 1:
        out.impure[number] = out.n_impure
        for k in range(bag.n_classes):
            out.counts[<int64_t>out.n_impure * bag.n_classes + k] = <int32_t>bag.counts[k]
        out.n_impure += 1


cdef Split search_node(Growth *growth, Bag *bag, bint small, uint64_t member, Node node,
                       int n_runs) noexcept nogil:
    """Search the features that a node draws for itself."""
    cdef Split best
    cdef uint64_t key = stream_key(growth.seed, member, NODE_SUBSPACE + node.number), counter = 0
    cdef int n_seen
    growth.mark += 1
    n_seen = draw_node_subspace(
        key, growth.n_features, growth.node_features, growth.seen, growth.mark,
        growth.candidates, &counter,
    )
    best = search_candidates(growth, bag, small, node, n_runs, n_seen)
    while best.column < 0 and n_seen < growth.n_features:
        n_seen += draw_node_subspace(
            key, growth.n_features, 1, growth.seen, growth.mark, growth.candidates, &counter
        )
        best = search_candidates(growth, bag, small, node, n_runs, 1)
    return best


cdef Split search_candidates(Growth *growth, Bag *bag, bint small, Node node, int n_runs,
                             int n_candidates) noexcept nogil:
    if small:
        code_columns(
            bag, growth.X, growth.codes, growth.order, growth.candidates, n_candidates, node.start,
            node.stop,
        )
        return search_side_by_side(bag, growth.X, growth.spread, node.start, node.stop, n_runs)
    sort_columns(
        bag, growth.X, growth.order, growth.candidates, n_candidates, node.start, node.stop,
        growth.segments,
    )
    return search_sorted(
        bag, growth.X, growth.spread, node.stop - node.start, growth.segments
    )


cdef inline void open_node(Bag *bag, Output *out, int number, Split split, int left) noexcept nogil:
    out.leaf[number] = -1
    out.impure[number] = -1
    out.feature[number] = bag.features[split.column]
    out.threshold[number] = split.threshold
    out.left[number] = left


cdef Split search_root(Growth *growth, Bag *bag, bint small, int n_runs, const int32_t *subspace,
                       int n_columns) noexcept nogil:
    """Search the root of a tree on one subspace; code or sort its columns for the nodes below."""
    cdef Split best = NO_SPLIT
    bag.n_columns = 0
    if n_runs == 2 and not growth.X.is_sparse:  # looking up single rows of sparse columns is slow
        best = find_perfect(bag, growth.X, growth.codes, growth.spread, subspace, n_columns)
        if best.column >= 0:
            return best
    if small:
        code_columns(bag, growth.X, growth.codes, growth.order, subspace, n_columns, 0, bag.n)
        return search_side_by_side(bag, growth.X, growth.spread, 0, bag.n, n_runs)
    sort_columns(bag, growth.X, growth.order, subspace, n_columns, 0, bag.n, growth.segments)
    return search_sorted(bag, growth.X, growth.spread, bag.n, growth.segments)


cdef inline bint is_part(const Growth *growth, const Bag *bag, int n) noexcept nogil:
    """Whether a node of so many rows is searched side by side, as a bag of its own."""
    return growth.part != NULL and n <= MAX_PART_ROWS and bag.total <= 255


cdef int grow_part(Growth *growth, uint64_t member, Node node, int n_columns, Output *out,
                   int n_nodes) noexcept nogil:
    """Grow what is below a node of rows that have been copied; nodes are numbered as ever."""
    cdef Bag *part = growth.part
    cdef int j
    n_nodes = grow_tree(
        growth, part, True, member, NULL, n_columns, out, growth.part_stack,
        Node(number=node.number, start=0, stop=part.n, depth=node.depth), n_nodes,
    )
    for j in range(part.n):
        part.position[part.rows[j]] = -1
    return n_nodes


cdef void send_with_missing(const columns_t *X, Bag *bag, Node node, Split split) noexcept nogil:
    """Find the rows that go left where some have no value: these go where more of the others are."""
    cdef int i
    cdef int32_t position
    cdef int64_t balance = 0
    cdef double value
    for i in range(node.start, node.stop):
        position = bag.members[i]
        value = column_value(X, bag.features[split.column], bag.rows[position])
        bag.goes_left[position] = value <= split.threshold
        if not isnan(value):
            balance += bag.weights[position] * (1 if value <= split.threshold else -1)
    if balance < 0:
        return
    for i in range(node.start, node.stop):
        position = bag.members[i]
        if isnan(column_value(X, bag.features[split.column], bag.rows[position])):
            bag.goes_left[position] = True


cdef int grow_tree(Growth *growth, Bag *bag, bint small, uint64_t member, const int32_t *subspace,
                   int n_columns, Output *out, Node *stack, Node root, int n_nodes) noexcept nogil:
    """Grow one tree, or what is below one of its nodes, on the rows in the bag.

    There are `n_nodes` nodes, among them the root; returns how many there are in the end.
    """
    cdef int n_pending = 1, i, middle, n_runs
    cdef Node node
    cdef Split split
    stack[0] = root
    while n_pending:
        n_pending -= 1
        node = stack[n_pending]
        count_classes(bag, node.start, node.stop, &n_runs)
        out.total[node.number] = bag.total
        split = NO_SPLIT
        if n_runs > 1 and node.depth != growth.max_depth:
            if not small and is_part(growth, bag, node.stop - node.start):
                part_members(bag, node, growth.part)
                n_nodes = grow_part(growth, member, node, n_columns, out, n_nodes)
                continue
            if growth.node_features >= 0:
                split = search_node(growth, bag, small, member, node, n_runs)
            elif node.number == 0:
                split = search_root(growth, bag, small, n_runs, subspace, n_columns)
            else:
                split = search_side_by_side(
                    bag, growth.X, growth.spread, node.start, node.stop, n_runs
                )
        if split.column < 0:
            close_leaf(bag, out, node.number, n_runs)
            continue
        if growth.X.has_missing:
            send_with_missing(growth.X, bag, node, split)
        else:
            for i in range(node.start, node.stop):
                bag.goes_left[bag.members[i]] = column_value(
                    growth.X, bag.features[split.column], bag.rows[bag.members[i]]
                ) <= split.threshold
        middle = split_members(bag, node.start, node.stop)
        if middle == node.start or middle == node.stop:  # NaN, where the caller vouched for X
            close_leaf(bag, out, node.number, n_runs)
            continue
        open_node(bag, out, node.number, split, n_nodes)
        stack[n_pending] = Node(
            number=n_nodes + 1, start=middle, stop=node.stop, depth=node.depth + 1
        )
        stack[n_pending + 1] = Node(
            number=n_nodes, start=node.start, stop=middle, depth=node.depth + 1
        )
        n_pending += 2
        n_nodes += 2
    return n_nodes


cdef int make_room(Growth *growth, int64_t n_levels, int64_t n_columns, int64_t n_classes) except -1 nogil:
    """Keep counts and segments for so many pending nodes."""
    cdef void *moved
    if n_levels <= growth.n_levels:
        return 0
    n_levels *= 2
    moved = realloc(growth.segments, n_levels * 2 * n_columns * sizeof(int32_t))
    if moved != NULL:
        growth.segments = <int32_t *>moved
        moved = realloc(growth.level_counts, n_levels * n_classes * sizeof(int64_t))
    if moved == NULL:
        with gil:
            raise MemoryError
    growth.level_counts = <int64_t *>moved
    growth.n_levels = n_levels
    return 0


cdef int grow_sorted(Growth *growth, Bag *bag, const int32_t *subspace, int n_columns,
                     Output *out) except -1 nogil:
    """Grow one tree on sorted columns.

    A node is its class counts and its segment of each column. No list of its rows is kept: zeros of
    sparse columns then cost nothing, and text splits off a few rows at a time.
    """
    cdef int n_nodes = 1, n_pending = 1, k, n_runs
    cdef int64_t width = 2 * <int64_t>n_columns, level, n_classes = bag.n_classes
    cdef int32_t *segments
    cdef int32_t n_left
    cdef Node node
    cdef Split split
    cdef bint marks_left
    count_classes(bag, 0, bag.n, &n_runs)
    memcpy(growth.level_counts, bag.counts, n_classes * sizeof(int64_t))
    growth.stack[0] = Node(number=0, start=0, stop=bag.n, depth=0)
    while n_pending:
        n_pending -= 1
        level = n_pending
        make_room(growth, level + 2, n_columns, n_classes)
        node = growth.stack[level]
        segments = growth.segments + level * width
        memcpy(bag.counts, growth.level_counts + level * n_classes, n_classes * sizeof(int64_t))
        n_runs = 0
        bag.total = 0
        for k in range(n_classes):
            n_runs += bag.counts[k] > 0
            bag.total += <int32_t>bag.counts[k]
        out.total[node.number] = bag.total
        split = NO_SPLIT
        if n_runs > 1 and node.depth != growth.max_depth:
            if node.number == 0:
                split = search_root(growth, bag, False, n_runs, subspace, n_columns)
            else:
                split = search_sorted(bag, growth.X, growth.spread, node.stop, segments)
        if split.column < 0:
            close_leaf(bag, out, node.number, n_runs)
            continue
        if bag.n_columns == 0:
            # a perfect split, found before anything was sorted: both children are pure
            count_perfect(growth, bag, split)
            n_left = 1
        else:
            growth.mark += 1
            n_left = node.stop
            marks_left = mark_side(
                bag, growth.X, split.column, split.threshold, growth.mark, segments,
                growth.level_counts + (level + 1) * n_classes, &n_left,
            )
            if n_left == 0 or n_left == node.stop:  # NaN, where the caller vouched for X
                close_leaf(bag, out, node.number, n_runs)
                continue
            for k in range(n_classes):
                growth.level_counts[level * n_classes + k] -= (
                    growth.level_counts[(level + 1) * n_classes + k]
                )
            # leaves need no columns
            if node.depth + 1 != growth.max_depth and (
                is_mixed(growth.level_counts + level * n_classes, n_classes)
                or is_mixed(growth.level_counts + (level + 1) * n_classes, n_classes)
            ):
                partition_places(bag, growth.mark, marks_left, segments, segments + width)
        open_node(bag, out, node.number, split, n_nodes)
        # of a node without a list of rows, `stop` is their number
        growth.stack[level] = Node(
            number=n_nodes + 1, start=0, stop=node.stop - n_left, depth=node.depth + 1
        )
        growth.stack[level + 1] = Node(
            number=n_nodes, start=0, stop=n_left, depth=node.depth + 1
        )
        n_pending += 2
        n_nodes += 2
    return n_nodes


cdef inline bint is_mixed(const int64_t *counts, int64_t n_classes) noexcept nogil:
    """Whether there is more than one class."""
    cdef int64_t k
    cdef int n_runs = 0
    for k in range(n_classes):
        n_runs += counts[k] > 0
    return n_runs > 1


cdef void count_perfect(Growth *growth, Bag *bag, Split split) noexcept nogil:
    """Class counts of the two sides of a perfect split of the root."""
    cdef int k, at = 0
    cdef int first = bag.labels[0]
    cdef bint first_is_left
    cdef double value = column_value(growth.X, bag.features[split.column], bag.rows[0])
    while isnan(value) and at + 1 < bag.n:
        at += 1
        value = column_value(growth.X, bag.features[split.column], bag.rows[at])
    first_is_left = value <= split.threshold
    for k in range(bag.n_classes):
        growth.level_counts[k] = bag.counts[k] if (k == first) != first_is_left else 0
        growth.level_counts[bag.n_classes + k] = bag.counts[k] - growth.level_counts[k]


def grow(Columns X, const int32_t[::1] row_labels, Py_ssize_t n_classes,
         const int32_t[::1] labelled, const int32_t[:, ::1] weights,
         const int32_t[:, ::1] picks, const int32_t[:, ::1] pick_labels,
         const int32_t[:, ::1] subspaces=None, *, const uint8_t[:, ::1] codes=None,
         const int32_t[:, ::1] order=None, const double[::1] spread=None, max_depth=None,
         uint64_t seed=0, Py_ssize_t start=0, Py_ssize_t node_features=-1,
         int side_by_side=-1, const int32_t[:, ::1] pick_weights=None):
    """Grow one tree for each member of a block.

    At a node, the thresholds of a feature are midpoints between the values that are there. For each
    of them the rows with a missing value go to the side that has more (weighted) rows with a value, to the
    left if they are as many, and the impurity counts them there.

    Parameters
    ----------
    X : Columns
        The data.
    row_labels : array of shape (n_rows,)
        Class of each labelled row.
    n_classes : int
        Number of classes.
    labelled, weights : arrays of shape (n_labelled,) and (n_members, n_labelled)
        The labelled rows and how often each is in a member's bag.
    picks, pick_labels : arrays of shape (n_members, n_picks)
        Further training rows (-1: none) with their classes.
    subspaces : array of shape (n_members, n_columns), optional
        The features of each member, in the order that decides between equal splits. None: each node
        draws `node_features` features of its own from the stream of `seed` and the member's number,
        which counts from `start`, and more of them while all are constant on the node.
    codes : array of shape (n_features, n_rows), optional
        Dense ranks of the values of each column, 255 for missing values; without them they are worked out for
        each bag.
    order : array of shape (n_features, n_rows), optional
        The rows of each dense column by ascending value, missing values last; a help for large bags.
    spread : array of shape (n_features,), optional
        Equal splits: take the one with the widest gap between its two sides in these units instead
        of the first.
    max_depth : int, optional
        Depth limit; the root has depth 0.
    side_by_side : int
        Largest bag on which all thresholds are tried side by side, the kernel's choice if negative;
        the trees do not depend on it.
    pick_weights : array of shape (n_members, n_picks), optional
        Weights of the further training rows, at least 1; without them they are 1.

    Returns
    -------
    Trees
    """
    cdef Py_ssize_t n_members = weights.shape[0], n_labelled = labelled.shape[0]
    cdef Py_ssize_t n_picks = picks.shape[1], i, j, n_nodes, largest = 0, n_bag, capacity = 0
    cdef Py_ssize_t total
    cdef int n_columns = subspaces.shape[1] if subspaces is not None else node_features
    cdef Py_ssize_t largest_small = 0
    cdef bint any_large = False, small
    if side_by_side < 0:
        side_by_side = SIDE_BY_SIDE_ROWS
        if X.c.is_sparse:
            side_by_side = min(side_by_side, SPARSE_SIDE_BY_SIDE)
    for i in range(n_members):
        n_bag = 0
        total = 0
        for j in range(n_labelled):
            n_bag += weights[i, j] > 0
            total += weights[i, j]
        for j in range(n_picks):
            if picks[i, j] >= 0:
                n_bag += 1
                total += 1 if pick_weights is None else pick_weights[i, j]
        if total > MAX_WEIGHT:
            raise ValueError(
                f"the weights of the rows in a bag add up to {total}, more than {MAX_WEIGHT}: "
                "leave out rows, or let their weights differ less"
            )
        largest = max(largest, n_bag)
        capacity += max(1, 2 * n_bag)  # an empty bag has a single leaf
        if n_bag <= side_by_side and total <= 255:
            largest_small = max(largest_small, n_bag)
        else:
            any_large = True
    if capacity > MAX_NODES:
        raise ValueError(
            f"the trees of {n_members} members may have {capacity} nodes, more than {MAX_NODES}: "
            "leave out labelled rows, or grow fewer members"
        )
    cdef _Workspace workspace = _Workspace()
    workspace.prepare(largest, X.c.n_rows, n_columns, n_classes, largest_small, any_large)
    cdef Bag *bag = &workspace.bag
    cdef _Workspace parts = _Workspace()
    cdef Py_ssize_t part_rows = min(largest, MAX_PART_ROWS)
    if any_large:
        parts.prepare(part_rows, X.c.n_rows, n_columns, n_classes, part_rows, False)
    capacity = max(capacity, 1)
    offsets = np.zeros(n_members + 1, dtype=np.int32)
    feature = np.empty(capacity, dtype=np.int32)
    threshold = np.empty(capacity)
    left = np.empty(capacity, dtype=np.int32)
    leaf = np.empty(capacity, dtype=np.int32)
    impure = np.empty(capacity, dtype=np.int32)
    missing_left = np.zeros(capacity, dtype=np.uint8)
    counts = np.empty((capacity // 2 + 1, n_classes), dtype=np.int32)
    cdef int32_t[::1] out_offsets = offsets, out_feature = feature, out_left = left
    cdef int32_t[::1] out_leaf = leaf, out_impure = impure
    cdef double[::1] out_threshold = threshold
    cdef int32_t[:, ::1] out_counts = counts
    cdef uint8_t[::1] out_missing_left = missing_left
    cdef Py_ssize_t first, v
    cdef Output out
    cdef Growth growth
    growth.X = &X.c
    growth.codes = &codes[0, 0] if codes is not None else NULL
    growth.order = &order[0, 0] if order is not None else NULL
    growth.spread = &spread[0] if spread is not None else NULL
    growth.max_depth = -1 if max_depth is None else min(max_depth, 2**31 - 1)
    growth.node_features = <int>node_features if subspaces is None else -1
    growth.n_features = X.n_features
    growth.seed = seed
    growth.mark = 0
    growth.stack = <Node *>workspace.take((largest + 2) * sizeof(Node))
    growth.part = &parts.bag if any_large and side_by_side else NULL
    growth.part_stack = <Node *>workspace.take((part_rows + 2) * sizeof(Node))
    growth.seen = NULL
    growth.candidates = NULL
    if subspaces is None:
        growth.seen = <int32_t *>workspace.take(X.n_features * sizeof(int32_t))
        memset(growth.seen, 0, X.n_features * sizeof(int32_t))
        growth.candidates = <int32_t *>workspace.take(n_columns * sizeof(int32_t))
    growth.segments = NULL
    growth.level_counts = NULL
    growth.n_levels = 0
    if any_large:
        make_room(&growth, 8, n_columns, n_classes)
    out.counts = &out_counts[0, 0]
    out.n_impure = 0
    out.total = <int32_t *>workspace.take((2 * largest + 1) * sizeof(int32_t))
    n_nodes = 0
    try:
        with nogil:
            for i in range(n_members):
                total = fill_bag(
                    bag, &labelled[0], &row_labels[0], &weights[i, 0], n_labelled,
                    &picks[i, 0] if n_picks else NULL, &pick_labels[i, 0] if n_picks else NULL,
                    &pick_weights[i, 0] if n_picks and pick_weights is not None else NULL, n_picks,
                )
                small = bag.n <= side_by_side and total <= 255
                if not small and n_classes == 2:
                    pair_weights(bag)
                first = n_nodes
                out.feature = &out_feature[n_nodes]
                out.threshold = &out_threshold[n_nodes]
                out.left = &out_left[n_nodes]
                out.leaf = &out_leaf[n_nodes]
                out.impure = &out_impure[n_nodes]
                if small or growth.node_features >= 0:
                    n_nodes += grow_tree(
                        &growth, bag, small, start + i,
                        &subspaces[i, 0] if growth.node_features < 0 else NULL, n_columns, &out,
                        growth.stack, Node(number=0, start=0, stop=bag.n, depth=0), 1,
                    )
                else:
                    n_nodes += grow_sorted(&growth, bag, &subspaces[i, 0], n_columns, &out)
                out_offsets[i + 1] = <int32_t>n_nodes
                for v in range(first, n_nodes):
                    if out_left[v] >= 0:
                        out_missing_left[v] = out.total[out_left[v]] >= out.total[out_left[v] + 1]
                for j in range(bag.n):
                    bag.position[bag.rows[j]] = -1
    finally:
        free(growth.segments)
        free(growth.level_counts)
    return Trees(
        offsets, feature[:n_nodes].copy(), threshold[:n_nodes].copy(), left[:n_nodes].copy(),
        leaf[:n_nodes].copy(), impure[:n_nodes].copy(), counts[:out.n_impure].copy(),
        missing_left[:n_nodes].copy(),
    )


def rank_columns(X):
    """Dense ranks of the values of each column of a dense array with at most 256 rows.

    Returns codes of shape (n_features, n_rows) for `grow`. The code of a missing value is 255, which is that
    of a value only where there are 256 of them.
    """
    cdef Columns columns = Columns(X)
    cdef Py_ssize_t n = columns.c.n_rows, f, j, n_held
    cdef int rank
    codes = np.empty((columns.n_features, n), dtype=np.uint8)
    cdef uint8_t[:, ::1] out = codes
    cdef entry_t *entries = <entry_t *>malloc(max(n, 1) * sizeof(entry_t))
    cdef double *values = <double *>malloc(max(n, 1) * sizeof(double))
    if entries == NULL or values == NULL:
        free(entries)
        free(values)
        raise MemoryError
    with nogil:
        for f in range(columns.n_features):
            for j in range(n):
                values[j] = stored_value(&columns.c, f * n + j)
            if n <= COUNT_RANKS:
                rank_column(values, <int>n, &out[f, 0], 1)
                code_missing(values, <int>n, &out[f, 0], 1)
                continue
            n_held = 0
            for j in range(n):
                out[f, j] = GAP_CODE
                entries[n_held].value = values[j]
                entries[n_held].position = <int32_t>j
                n_held += not isnan(values[j])
            sort_entries(entries, n_held)
            rank = 0
            for j in range(n_held):
                if j and entries[j].value > entries[j - 1].value:
                    rank += 1
                out[f, entries[j].position] = <uint8_t>rank
        free(entries)
        free(values)
    return codes
