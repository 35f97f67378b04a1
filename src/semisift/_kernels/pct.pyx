"""Predictive clustering trees: splits that make both the labels and the rows alike.

The gain of a split of n rows (bags count rows more than once) into a left and a right part is

    w / gini_0 * (gini - n_l / n gini_l - n_r / n gini_r) + (1 - w) |s_l|^2 / (r n_l n_r)

gini is that of the labelled rows of a part (whose shares of them may stand for n_l / n and n_r / n),
and s_l the sum of the coordinates of the left part, of
which there are r, each with variance 1, around their mean in the node: the second term is what the
variances lose. Rows with negative values are added one by one to the left part, then those with
positive values to the right part, from the highest; rows with the value 0 are never looked at.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from semisift._kernels.columns cimport Columns, columns_t, gather_column
from semisift._kernels.streams cimport NODE_SUBSPACE, draw_below, stream_key


# Cuts that part the rows alike differ by rounding: the first of them is taken.
cdef double CLEARLY = 1.0 + 1e-9


cdef extern from "pct.h" nogil:
    double add_and_square(double *total, const double *row, int64_t size)
    void sort_pairs(double *values, int32_t *places, int64_t n, double *spare, int32_t *spare_places)


cdef struct Part:
    int64_t n
    int64_t n_labelled
    int64_t *counts
    int64_t squares  # of the counts, added up


cdef struct Split:
    int32_t feature
    double threshold
    double gain


cdef struct Node:
    int32_t number
    int32_t start
    int32_t stop
    int32_t depth


cdef struct Growth:
    const columns_t *X
    const int32_t *usable
    int64_t n_usable
    int64_t n_candidates
    int64_t n_classes
    int64_t min_leaf
    double label_weight  # w / gini_0
    double row_weight  # (1 - w) / r
    bint by_labelled
    int64_t r
    uint64_t seed
    uint64_t member
    # the rows of the bag, those of a node side by side
    int32_t *rows
    int32_t *places
    int32_t *spare_rows
    const int32_t *weights
    const int32_t *codes
    const double *coordinates
    # of the node at hand
    double *centred
    double *total
    double *mean
    Part node
    Part left
    # of the column at hand
    int32_t *position
    double *values
    double *sorted
    int32_t *order
    double *spare
    int32_t *spare_order
    int32_t *seen
    int32_t mark


cdef inline void add_row(Part *part, int64_t weight, int32_t code) noexcept nogil:
    part.n += weight
    if code >= 0:
        part.squares += weight * (2 * part.counts[code] + weight)
        part.counts[code] += weight
        part.n_labelled += weight


cdef inline void clear(Part *part, int64_t n_classes) noexcept nogil:
    part.n = part.n_labelled = part.squares = 0
    memset(part.counts, 0, n_classes * sizeof(int64_t))


cdef inline double gini(int64_t squares, int64_t n) noexcept nogil:
    return 1.0 - <double>squares / (<double>n * <double>n) if n else 0.0


cdef double gain_of(Growth *g, double square) noexcept nogil:
    """The gain of splitting off the part `left`, whose coordinates add up to this square."""
    cdef Part *node = &g.node
    cdef Part *left = &g.left
    cdef int64_t n_right = node.n - left.n, rest = node.n_labelled - left.n_labelled
    cdef int64_t squares = 0, k, count
    cdef double labels = 0.0, left_share, right_share
    if g.label_weight > 0 and node.n_labelled:
        for k in range(g.n_classes):
            count = node.counts[k] - left.counts[k]
            squares += count * count
        if g.by_labelled:
            left_share = <double>left.n_labelled / <double>node.n_labelled
            right_share = <double>rest / <double>node.n_labelled
        else:
            left_share = <double>left.n / <double>node.n
            right_share = <double>n_right / <double>node.n
        labels = gini(node.squares, node.n_labelled)
        labels -= left_share * gini(left.squares, left.n_labelled)
        labels -= right_share * gini(squares, rest)
        labels *= g.label_weight
    return labels + g.row_weight * (square / (<double>left.n * <double>n_right))


cdef inline double halfway(double low, double high) noexcept nogil:
    cdef double middle = low / 2 + high / 2
    return middle if low <= middle < high else low


cdef void sweep(Growth *g, int32_t feature, int64_t n, int64_t begin, int64_t step, int64_t count,
                Node node, Split *best) noexcept nogil:
    """Split off `count` rows one by one, in the order of their values or against it."""
    cdef int64_t i, at, following
    cdef int32_t place
    cdef double square = 0.0, gain
    clear(&g.left, g.n_classes)
    memset(g.total, 0, g.r * sizeof(double))
    for i in range(count):
        at = begin + i * step
        following = at + step
        place = g.order[at]
        add_row(&g.left, g.weights[g.places[node.start + place]],
                g.codes[g.rows[node.start + place]])
        if g.row_weight > 0:
            square = add_and_square(g.total, g.centred + <int64_t>place * g.r, g.r)
        if following < 0 or following >= n or g.sorted[following] == g.sorted[at]:
            continue
        if g.left.n < g.min_leaf or g.node.n - g.left.n < g.min_leaf:
            continue
        gain = gain_of(g, square)
        if gain > best.gain * CLEARLY:
            best.gain = gain
            best.feature = feature
            if step > 0:
                best.threshold = halfway(g.sorted[at], g.sorted[following])
            else:
                best.threshold = halfway(g.sorted[following], g.sorted[at])


cdef void try_column(Growth *g, int32_t feature, Node node, Split *best) noexcept nogil:
    cdef int64_t n = node.stop - node.start, i, n_negative = 0, n_positive = 0, at = 0, n_zero
    if not gather_column(
        g.X, feature, g.rows + node.start, <int>n, g.position, g.values
    ):
        return
    for i in range(n):
        if g.values[i] < 0:
            n_negative += 1
        elif g.values[i] > 0:
            n_positive += 1
    n_zero = n - n_negative - n_positive
    # negative values, zeros, positive values: only what is swept is put in order
    for i in range(n):
        if g.values[i] < 0:
            g.sorted[at] = g.values[i]
            g.order[at] = <int32_t>i
            at += 1
    at = n - n_positive
    for i in range(n):
        if g.values[i] > 0:
            g.sorted[at] = g.values[i]
            g.order[at] = <int32_t>i
            at += 1
    for i in range(n_zero):
        g.sorted[n_negative + i] = 0.0
    sort_pairs(g.sorted, g.order, n_negative, g.spare, g.spare_order)
    at = n - n_positive
    sort_pairs(g.sorted + at, g.order + at, n_positive, g.spare, g.spare_order)
    sweep(g, feature, n, 0, 1, n_negative, node, best)
    # without zeros, the cut below the lowest positive value was tried from the left
    sweep(g, feature, n, n - 1, -1, n_positive if n_zero else n_positive - 1, node, best)


cdef void centre(Growth *g, Node node) noexcept nogil:
    """Count the rows of a node, and take their coordinates from its mean, times their weights."""
    cdef int64_t i, j
    cdef int32_t place
    cdef double weight
    cdef const double *row
    clear(&g.node, g.n_classes)
    memset(g.mean, 0, g.r * sizeof(double))
    for i in range(node.start, node.stop):
        place = g.places[i]
        add_row(&g.node, g.weights[place], g.codes[g.rows[i]])
    if g.row_weight <= 0:
        return
    for i in range(node.start, node.stop):
        weight = g.weights[g.places[i]]
        row = g.coordinates + <int64_t>g.places[i] * g.r
        for j in range(g.r):
            g.mean[j] += weight * row[j]
    for j in range(g.r):
        g.mean[j] /= <double>g.node.n
    for i in range(node.start, node.stop):
        weight = g.weights[g.places[i]]
        row = g.coordinates + <int64_t>g.places[i] * g.r
        for j in range(g.r):
            g.centred[(i - node.start) * g.r + j] = weight * (row[j] - g.mean[j])


cdef int64_t count_classes(Growth *g) noexcept nogil:
    cdef int64_t k, found = 0
    for k in range(g.n_classes):
        found += g.node.counts[k] > 0
    return found


cdef Split search(Growth *g, Node node) noexcept nogil:
    """Try the columns that the node draws."""
    cdef Split best = Split(feature=-1, threshold=0.0, gain=0.0)
    cdef uint64_t key = stream_key(g.seed, g.member, NODE_SUBSPACE + <uint64_t>node.number)
    cdef uint64_t counter = 0
    cdef int64_t found = 0, i
    cdef uint64_t drawn
    g.mark += 1
    for i in range(node.start, node.stop):
        g.position[g.rows[i]] = <int32_t>(i - node.start)
    while found < g.n_candidates:
        drawn = draw_below(key, counter, g.n_usable)
        counter += 1
        if g.seen[drawn] == g.mark:
            continue
        g.seen[drawn] = g.mark
        found += 1
        try_column(g, g.usable[drawn], node, &best)
    for i in range(node.start, node.stop):
        g.position[g.rows[i]] = -1
    return best


cdef int32_t part_rows(Growth *g, Node node, Split split) noexcept nogil:
    """Put the rows that go left before the others, each in the order that they have."""
    cdef int32_t i, n_left = 0, n_right = 0
    cdef int64_t n = node.stop - node.start
    for i in range(node.start, node.stop):
        g.position[g.rows[i]] = i - node.start
    gather_column(g.X, split.feature, g.rows + node.start, <int>n, g.position, g.values)
    for i in range(node.start, node.stop):
        g.position[g.rows[i]] = -1
    for i in range(<int32_t>n):
        if g.values[i] <= split.threshold:
            g.spare_rows[n_left] = g.rows[node.start + i]
            g.spare_order[n_left] = g.places[node.start + i]
            n_left += 1
    for i in range(<int32_t>n):
        if not g.values[i] <= split.threshold:
            g.spare_rows[n_left + n_right] = g.rows[node.start + i]
            g.spare_order[n_left + n_right] = g.places[node.start + i]
            n_right += 1
    memcpy(g.rows + node.start, g.spare_rows, n * sizeof(int32_t))
    memcpy(g.places + node.start, g.spare_order, n * sizeof(int32_t))
    return node.start + n_left


def grow_tree(
    Columns X not None,
    const int32_t[::1] usable,
    const int32_t[::1] rows,
    const int32_t[::1] weights,
    const int32_t[::1] codes,
    const double[:, ::1] coordinates,
    int64_t n_classes,
    int64_t n_candidates,
    int64_t min_leaf,
    int64_t max_depth,
    int64_t min_classes,
    double label_weight,
    double row_weight,
    bint by_labelled,
    uint64_t seed,
    uint64_t member,
):
    """Grow one tree.

    Parameters
    ----------
    X : Columns
    usable : int32 array
        The columns that nodes draw from.
    rows, weights : int32 arrays of shape (n,)
        The distinct rows of the bag and how often each is in it.
    codes : int32 array of shape (n_rows,)
        The class of each row of X, -1 where it is not known.
    coordinates : float array of shape (n, r)
        Of the rows of the bag.
    n_classes, n_candidates, min_leaf, max_depth : int
    min_classes : int
        Nodes with labelled rows of fewer classes are leaves.
    label_weight, row_weight : float
        What the two terms of the gain are multiplied by; a term with 0 is not worked out.
    by_labelled : bool
        Whether the shares of the label term are those of the labelled rows.
    seed, member : int

    Returns
    -------
    feature, left, depth : int32 arrays of shape (n_nodes,)
        -1 for feature and left child at leaves; the right child is the next one.
    threshold, gain : float arrays of shape (n_nodes,)
    size : int64 array of shape (n_nodes,)
        Rows of each node.
    counts : int64 array of shape (n_nodes, n_classes)
        Labelled rows of each class.
    """
    cdef int64_t n = rows.shape[0], r = coordinates.shape[1], most = max(1, 2 * n - 1)
    features = np.full(most, -1, dtype=np.int32)
    lefts = np.full(most, -1, dtype=np.int32)
    depths = np.zeros(most, dtype=np.int32)
    thresholds, gains = np.zeros(most), np.zeros(most)
    sizes = np.zeros(most, dtype=np.int64)
    class_counts = np.zeros((most, n_classes), dtype=np.int64)
    cdef int32_t[::1] feature = features, left = lefts, depth = depths
    cdef double[::1] threshold = thresholds, gain = gains
    cdef int64_t[::1] size = sizes
    cdef int64_t[:, ::1] counts = class_counts
    integers = np.empty(8 * n + 2, dtype=np.int32)
    numbers = np.empty(n * r + 2 * r + 3 * n + 1)
    seen = np.zeros(max(1, usable.shape[0]), dtype=np.int32)
    position = np.full(X.c.n_rows, -1, dtype=np.int32)
    parts = np.zeros(2 * n_classes + 1, dtype=np.int64)
    stacks = np.zeros((most + 1, 4), dtype=np.int32)
    cdef int32_t[::1] ints = integers, seen_view = seen, position_view = position
    cdef int32_t[:, ::1] stack_view = stacks
    cdef double[::1] doubles = numbers
    cdef int64_t[::1] part_view = parts
    cdef Node *stack = <Node *>&stack_view[0, 0]
    cdef Growth g
    cdef Node node
    cdef Split split
    cdef int64_t n_nodes = 1, n_pending = 1, k, i
    cdef int32_t middle
    if n == 0 or usable.shape[0] == 0:
        return (features[:1], lefts[:1], depths[:1], thresholds[:1], gains[:1], sizes[:1],
                class_counts[:1])
    g.X = &X.c
    g.usable, g.n_usable, g.n_candidates = &usable[0], usable.shape[0], n_candidates
    g.n_classes, g.min_leaf, g.r = n_classes, min_leaf, r
    g.label_weight, g.row_weight, g.by_labelled = label_weight, row_weight, by_labelled
    g.seed, g.member = seed, member
    g.rows, g.places, g.spare_rows = &ints[0], &ints[n], &ints[2 * n]
    g.order, g.spare_order = &ints[3 * n], &ints[4 * n]
    g.weights, g.codes = &weights[0], &codes[0]
    g.coordinates = &coordinates[0, 0] if r else NULL
    g.centred, g.total, g.mean = &doubles[0], &doubles[n * r], &doubles[n * r + r]
    g.values = &doubles[n * r + 2 * r]
    g.sorted, g.spare = g.values + n, g.values + 2 * n
    g.position, g.seen, g.mark = &position_view[0], &seen_view[0], 0
    g.node.counts, g.left.counts = &part_view[0], &part_view[n_classes]
    with nogil:
        for i in range(n):
            g.rows[i] = rows[i]
            g.places[i] = <int32_t>i
        stack[0] = Node(number=0, start=0, stop=<int32_t>n, depth=0)
        while n_pending:
            n_pending -= 1
            node = stack[n_pending]
            centre(&g, node)
            depth[node.number] = node.depth
            size[node.number] = g.node.n
            for k in range(n_classes):
                counts[node.number, k] = g.node.counts[k]
            if node.stop - node.start < 2 or node.depth == max_depth or g.node.n < 2 * min_leaf:
                continue
            if count_classes(&g) < min_classes:
                continue
            split = search(&g, node)
            if split.feature < 0:
                continue
            middle = part_rows(&g, node, split)
            if middle == node.start or middle == node.stop:  # NaN, where the caller vouched for X
                continue
            feature[node.number] = split.feature
            threshold[node.number] = split.threshold
            gain[node.number] = split.gain
            left[node.number] = <int32_t>n_nodes
            stack[n_pending] = Node(number=<int32_t>(n_nodes + 1), start=middle, stop=node.stop,
                                    depth=node.depth + 1)
            stack[n_pending + 1] = Node(number=<int32_t>n_nodes, start=node.start, stop=middle,
                                        depth=node.depth + 1)
            n_pending += 2
            n_nodes += 2
    return (features[:n_nodes].copy(), lefts[:n_nodes].copy(), depths[:n_nodes].copy(),
            thresholds[:n_nodes].copy(), gains[:n_nodes].copy(), sizes[:n_nodes].copy(),
            class_counts[:n_nodes].copy())
