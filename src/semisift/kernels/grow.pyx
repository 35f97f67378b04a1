# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Many tiny CART trees at once, in flat arrays.

Gini impurity, thresholds at midpoints, every feature of the member's subspace considered at every
node, grown until pure. Two split searches give the same trees: for small bags all thresholds of all
columns are tried side by side (splits.h), for larger ones each column is kept sorted and swept.
"""

from typing import NamedTuple

import numpy as np

from libc.math cimport isnan
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from semisift.kernels.columns cimport (
    Columns, column_value, columns_t, gather_column, stored_value,
)
from semisift.kernels.streams cimport NODE_SUBSPACE, draw_below, stream_key


cdef extern from "portable.h" nogil:
    void prefetch(const void *address)


cdef extern from "splits.h" nogil:
    enum: LANES
    ctypedef struct entry_t:
        double value
        int32_t position
    double split_score(double squares_left, double n_left, double squares_right, double n_right)
    int separating_columns(
        const uint8_t *codes, int stride, int n_columns, const int32_t *rows, int n_first, int n,
        uint8_t *separates,
    )
    void column_scores(
        const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
        const uint8_t *weights, int n, const int32_t *run_end, const int32_t *run_weight,
        int n_runs, int total, double *best,
    )
    void sort_entries(entry_t *entries, int64_t n)
    void rank_column(const double *values, int n, uint8_t *codes, int stride)


# Above this many rows a sweep over sorted columns beats trying all thresholds side by side.
cdef int SIDE_BY_SIDE = 128


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
    """

    offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    leaf: np.ndarray
    impure: np.ndarray
    counts: np.ndarray


cdef struct Node:
    int32_t number
    int32_t start
    int32_t stop
    int32_t depth


cdef struct Split:
    int32_t column  # within the subspace, -1: none
    double threshold
    double score
    double gap


cdef struct Bag:
    # training rows, class by class
    int n
    int n_classes
    int32_t total
    int32_t *rows
    int32_t *weights
    int32_t *labels
    int32_t *position  # row -> its place in the bag, -1 elsewhere
    # the columns under search
    int n_columns
    int32_t *features
    # node under search
    int32_t *members  # places in the bag, node by node, class by class within a node
    int32_t *scratch
    int32_t *run_end
    int32_t *run_weight
    uint8_t *byte_weights
    int64_t *counts
    int64_t *left_counts
    # side by side: codes
    int stride
    uint8_t *codes
    int16_t *first_with_code
    int16_t *next_with_code
    uint8_t *separates
    double *best
    double *values
    # sweep: each column's entries by ascending value, node by node
    entry_t *entries
    entry_t *entry_scratch
    uint8_t *goes_left


cdef inline double midpoint(double a, double b) noexcept nogil:
    cdef double t = a / 2 + b / 2
    return a if t >= b else t


cdef inline bint better(double score, double gap, Split *best) noexcept nogil:
    return score > best.score or (score == best.score and gap > best.gap)


cdef inline double relative_gap(double a, double b, const double *spread, int feature) noexcept nogil:
    """Without `spread` every gap is alike, so that the first of equal scores stays."""
    if spread == NULL:
        return 0.0
    cdef double gap = (b - a) / spread[feature]
    return 0.0 if isnan(gap) else gap


# Side by side ------------------------------------------------------------------------------------

cdef void code_columns(Bag *bag, const columns_t *X, const uint8_t *codes, const int32_t *subspace,
                       int n_columns, int start, int stop) noexcept nogil:
    """Fill the codes of the node's rows for the features of the subspace."""
    cdef int c, j, n = stop - start, kept = 0
    cdef const uint8_t *column
    cdef uint8_t *out
    cdef bint varies
    if codes != NULL:
        for c in range(n_columns):
            if c + 8 < n_columns:
                column = codes + <int64_t>subspace[c + 8] * X.n_rows
                prefetch(column)
                prefetch(column + X.n_rows - 1)
            column = codes + <int64_t>subspace[c] * X.n_rows
            out = bag.codes + c
            bag.features[c] = subspace[c]
            for j in range(start, stop):
                out[<int64_t>bag.members[j] * bag.stride] = column[bag.rows[bag.members[j]]]
        bag.n_columns = n_columns
        return
    cdef bint whole = n == bag.n
    for c in range(n_columns):
        if whole:
            varies = gather_column(X, subspace[c], bag.rows, n, bag.position, bag.values)
        else:
            varies = False
            for j in range(n):
                bag.values[j] = column_value(X, subspace[c], bag.rows[bag.members[start + j]])
                varies |= bag.values[j] != bag.values[0]
        if not varies:
            continue
        bag.features[kept] = subspace[c]
        if whole:
            rank_column(bag.values, n, bag.codes + kept, bag.stride)
        else:
            # the codes of a part of the bag are scattered to its places
            rank_column(bag.values, n, bag.separates, 1)
            for j in range(n):
                bag.codes[<int64_t>bag.members[start + j] * bag.stride + kept] = bag.separates[j]
        kept += 1
    bag.n_columns = kept


cdef void consider_column(Bag *bag, const columns_t *X, const double *spread, int column,
                          int start, int stop, double wanted, Split *best) noexcept nogil:
    """Find the boundaries of one column whose score is `wanted`; keep the best of them."""
    cdef int i, k, code, position, lowest = 255, highest = 0
    cdef int32_t row_below = -1
    cdef double below, above, gap, n_left = 0, squares_left = 0, squares_right = 0
    cdef int64_t left, right
    cdef uint8_t *codes = bag.codes + column
    cdef int16_t *first = bag.first_with_code
    cdef int16_t *following = bag.next_with_code
    # rows by ascending code: a list for each code
    memset(first, 0xFF, 256 * sizeof(int16_t))
    for i in range(start, stop):
        position = bag.members[i]
        code = codes[<int64_t>position * bag.stride]
        lowest = min(lowest, code)
        highest = max(highest, code)
        following[position] = first[code]
        first[code] = position
    memset(bag.left_counts, 0, bag.n_classes * sizeof(int64_t))
    for k in range(bag.n_classes):
        squares_right += <double>(bag.counts[k] * bag.counts[k])
    for code in range(lowest, highest + 1):
        position = first[code]
        if position < 0:
            continue
        if row_below >= 0 and split_score(
            squares_left, n_left, squares_right, bag.total - n_left
        ) == wanted:
            below = column_value(X, bag.features[column], row_below)
            above = column_value(X, bag.features[column], bag.rows[position])
            gap = relative_gap(below, above, spread, bag.features[column])
            if better(wanted, gap, best):
                best.column = column
                best.score = wanted
                best.gap = gap
                best.threshold = midpoint(below, above)
            if spread == NULL:
                return
        row_below = bag.rows[position]
        while position >= 0:
            k = bag.labels[position]
            left = bag.left_counts[k]
            right = bag.counts[k] - left
            squares_left += <double>(bag.weights[position] * (2 * left + bag.weights[position]))
            squares_right -= <double>(bag.weights[position] * (2 * right - bag.weights[position]))
            n_left += bag.weights[position]
            bag.left_counts[k] += bag.weights[position]
            position = following[position]


cdef Split search_side_by_side(Bag *bag, const columns_t *X, const double *spread,
                               int start, int stop, int n_runs) noexcept nogil:
    cdef Split best
    cdef int c, i, n = stop - start
    cdef double highest = -1.0
    best.column = -1
    best.score = -1.0
    best.gap = -1.0
    best.threshold = 0.0
    if n_runs == 2 and separating_columns(
        bag.codes, bag.stride, bag.n_columns, bag.members + start, bag.run_end[0], n, bag.separates
    ):
        for c in range(bag.n_columns):
            if bag.separates[c]:
                consider_column(bag, X, spread, c, start, stop, bag.total, &best)
                if spread == NULL:
                    break
        return best
    for i in range(n):
        bag.byte_weights[i] = <uint8_t>bag.weights[bag.members[start + i]]
    column_scores(
        bag.codes, bag.stride, bag.n_columns, bag.members + start, bag.byte_weights, n,
        bag.run_end, bag.run_weight, n_runs, bag.total, bag.best,
    )
    for c in range(bag.n_columns):
        if bag.best[c] > highest:
            highest = bag.best[c]
    if highest < 0:
        return best
    for c in range(bag.n_columns):
        if bag.best[c] == highest:
            consider_column(bag, X, spread, c, start, stop, highest, &best)
            if spread == NULL:
                break
    return best


# Sweep -------------------------------------------------------------------------------------------

cdef void sort_columns(Bag *bag, const columns_t *X, const int32_t *order, const int32_t *subspace,
                       int n_columns, int start, int stop, int32_t *segments) noexcept nogil:
    """List the node's entries of each column by ascending value (sparse: the stored ones only)."""
    cdef int c, j, n = stop - start
    cdef int64_t at, n_found
    cdef int32_t position
    cdef entry_t *entries
    cdef const int32_t *column
    cdef bint whole = n == bag.n
    cdef double value
    if not whole:
        memset(bag.goes_left, 0, bag.n)
        for j in range(start, stop):
            bag.goes_left[bag.members[j]] = 1
    for c in range(n_columns):
        bag.features[c] = subspace[c]
        entries = bag.entries + <int64_t>c * bag.n
        n_found = 0
        if X.is_sparse:
            for at in range(X.indptr[subspace[c]], X.indptr[subspace[c] + 1]):
                position = bag.position[X.indices[at]]
                if position < 0 or not (whole or bag.goes_left[position]):
                    continue
                value = stored_value(X, at)
                if value != 0:
                    entries[n_found].value = value
                    entries[n_found].position = position
                    n_found += 1
            sort_entries(entries, n_found)
        elif order != NULL and whole:
            column = order + <int64_t>subspace[c] * X.n_rows
            for at in range(X.n_rows):
                position = bag.position[column[at]]
                entries[n_found].position = position
                n_found += position >= 0
                if n_found == n:
                    break
            for j in range(n):
                entries[j].value = column_value(X, subspace[c], bag.rows[entries[j].position])
        else:
            for j in range(start, stop):
                entries[n_found].position = bag.members[j]
                entries[n_found].value = column_value(X, subspace[c], bag.rows[bag.members[j]])
                n_found += 1
            sort_entries(entries, n_found)
        segments[2 * c] = 0
        segments[2 * c + 1] = <int32_t>n_found
    bag.n_columns = n_columns


cdef struct Sweep:
    double squares_left
    double squares_right
    double n_left
    double last  # the value on the left of the next boundary
    bint started


cdef inline void move_left(Bag *bag, Sweep *sweep, int label, int64_t weight) noexcept nogil:
    cdef int64_t left = bag.left_counts[label], right = bag.counts[label] - left
    sweep.squares_left += <double>(weight * (2 * left + weight))
    sweep.squares_right -= <double>(weight * (2 * right - weight))
    sweep.n_left += weight
    bag.left_counts[label] = left + weight


cdef inline void try_boundary(Bag *bag, Sweep *sweep, const double *spread, int column, double value,
                              Split *best) noexcept nogil:
    cdef double score, gap
    if sweep.started and value > sweep.last:
        score = split_score(
            sweep.squares_left, sweep.n_left, sweep.squares_right, bag.total - sweep.n_left
        )
        if score >= best.score:
            gap = relative_gap(sweep.last, value, spread, bag.features[column])
            if better(score, gap, best):
                best.score = score
                best.gap = gap
                best.column = column
                best.threshold = midpoint(sweep.last, value)
    sweep.started = True
    sweep.last = value


cdef Split search_sorted(Bag *bag, const double *spread, bint is_sparse, int n_rows,
                         const int32_t *segments) noexcept nogil:
    cdef Split best
    cdef Sweep sweep
    cdef int c, k
    cdef int64_t at, n_entries
    cdef entry_t *entries
    cdef bint zeros_pending
    cdef double squares = 0
    cdef int64_t *zeros = bag.counts + bag.n_classes
    best.column = -1
    best.score = -1.0
    best.gap = -1.0
    best.threshold = 0.0
    for k in range(bag.n_classes):
        squares += <double>(bag.counts[k] * bag.counts[k])
    for c in range(bag.n_columns):
        entries = bag.entries + <int64_t>c * bag.n + segments[2 * c]
        n_entries = segments[2 * c + 1] - segments[2 * c]
        sweep.squares_left = 0
        sweep.squares_right = squares
        sweep.n_left = 0
        sweep.started = False
        sweep.last = 0
        memset(bag.left_counts, 0, bag.n_classes * sizeof(int64_t))
        zeros_pending = is_sparse and n_entries < n_rows
        if zeros_pending:
            if n_entries == 0:
                continue
            for k in range(bag.n_classes):
                zeros[k] = bag.counts[k]
            for at in range(n_entries):
                zeros[bag.labels[entries[at].position]] -= bag.weights[entries[at].position]
        for at in range(n_entries):
            if zeros_pending and entries[at].value > 0:
                try_boundary(bag, &sweep, spread, c, 0.0, &best)
                for k in range(bag.n_classes):
                    move_left(bag, &sweep, k, zeros[k])
                zeros_pending = False
            try_boundary(bag, &sweep, spread, c, entries[at].value, &best)
            move_left(
                bag, &sweep, bag.labels[entries[at].position], bag.weights[entries[at].position]
            )
        if zeros_pending:
            try_boundary(bag, &sweep, spread, c, 0.0, &best)
        if spread == NULL and best.score == bag.total:
            break  # a perfect split, and the first of them
    return best


cdef void partition_entries(Bag *bag, const int32_t *segments, int32_t *left_segments,
                            int32_t *right_segments) noexcept nogil:
    cdef int c
    cdef int64_t at, n_left, n_right
    cdef entry_t *entries
    for c in range(bag.n_columns):
        entries = bag.entries + <int64_t>c * bag.n
        n_left = segments[2 * c]
        n_right = 0
        for at in range(segments[2 * c], segments[2 * c + 1]):
            if bag.goes_left[entries[at].position]:
                entries[n_left] = entries[at]
                n_left += 1
            else:
                bag.entry_scratch[n_right] = entries[at]
                n_right += 1
        memcpy(entries + n_left, bag.entry_scratch, n_right * sizeof(entry_t))
        right_segments[2 * c] = <int32_t>n_left
        right_segments[2 * c + 1] = segments[2 * c + 1]
        left_segments[2 * c] = segments[2 * c]
        left_segments[2 * c + 1] = <int32_t>n_left


# Growing -----------------------------------------------------------------------------------------

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


cdef void count_classes(Bag *bag, int start, int stop, int *n_runs) noexcept nogil:
    """Class counts of a node and, since its rows come class by class, the runs of equal class."""
    cdef int i, position, label, last = -1
    memset(bag.counts, 0, bag.n_classes * sizeof(int64_t))
    n_runs[0] = 0
    bag.total = 0
    for i in range(start, stop):
        position = bag.members[i]
        label = bag.labels[position]
        if label != last:
            bag.run_weight[n_runs[0]] = 0
            n_runs[0] += 1
            last = label
        bag.run_end[n_runs[0] - 1] = i - start + 1
        bag.run_weight[n_runs[0] - 1] += bag.weights[position]
        bag.counts[label] += bag.weights[position]
        bag.total += bag.weights[position]


cdef class _Workspace:
    """Scratch memory for bags of up to `n` rows, freed with the object."""

    cdef Bag bag
    cdef void *blocks[24]
    cdef int n_blocks

    cdef void *take(self, size_t size) except NULL:
        cdef void *block = malloc(max(size, 64))
        if block == NULL:
            raise MemoryError
        self.blocks[self.n_blocks] = block
        self.n_blocks += 1
        return block

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_blocks):
            free(self.blocks[i])

    cdef int prepare(self, Py_ssize_t n, Py_ssize_t n_rows, Py_ssize_t n_columns, int n_classes,
                     bint any_small, bint any_large) except -1:
        cdef Bag *bag = &self.bag
        cdef Py_ssize_t i, small = min(n, SIDE_BY_SIDE)
        bag.n_classes = n_classes
        bag.stride = <int>((n_columns + LANES - 1) // LANES * LANES)
        bag.rows = <int32_t *>self.take(n * sizeof(int32_t))
        bag.weights = <int32_t *>self.take(n * sizeof(int32_t))
        bag.labels = <int32_t *>self.take(n * sizeof(int32_t))
        bag.members = <int32_t *>self.take(n * sizeof(int32_t))
        bag.scratch = <int32_t *>self.take(n * sizeof(int32_t))
        bag.position = <int32_t *>self.take(n_rows * sizeof(int32_t))
        for i in range(n_rows):
            bag.position[i] = -1
        bag.features = <int32_t *>self.take(n_columns * sizeof(int32_t))
        bag.run_end = <int32_t *>self.take(n_classes * sizeof(int32_t))
        bag.run_weight = <int32_t *>self.take(n_classes * sizeof(int32_t))
        bag.counts = <int64_t *>self.take((2 * n_classes + 1) * sizeof(int64_t))
        bag.left_counts = <int64_t *>self.take(n_classes * sizeof(int64_t))
        bag.goes_left = <uint8_t *>self.take(n)
        if any_small:
            bag.byte_weights = <uint8_t *>self.take(small)
            bag.codes = <uint8_t *>self.take(small * bag.stride)
            memset(bag.codes, 0, small * bag.stride)
            bag.first_with_code = <int16_t *>self.take(256 * sizeof(int16_t))
            bag.next_with_code = <int16_t *>self.take(small * sizeof(int16_t))
            bag.separates = <uint8_t *>self.take(max(bag.stride, small))
            bag.best = <double *>self.take(bag.stride * sizeof(double))
            bag.values = <double *>self.take(small * sizeof(double))
        if any_large:
            bag.entries = <entry_t *>self.take(n * n_columns * sizeof(entry_t))
            bag.entry_scratch = <entry_t *>self.take(n * sizeof(entry_t))
        return 0


cdef int fill_bag(Bag *bag, const int32_t *labelled, const int32_t *codes, const int32_t *weights,
                  Py_ssize_t n_labelled, const int32_t *picks, const int32_t *pick_labels,
                  Py_ssize_t n_picks) noexcept nogil:
    """Put the member's training rows into the bag, class by class; returns their total weight."""
    cdef int k, n = 0, total = 0
    cdef Py_ssize_t j
    cdef int64_t *next_place = bag.counts
    memset(next_place, 0, (bag.n_classes + 1) * sizeof(int64_t))
    for j in range(n_labelled):
        next_place[codes[labelled[j]] + 1] += weights[j] > 0
    for j in range(n_picks):
        if picks[j] >= 0:
            next_place[pick_labels[j] + 1] += 1
    for k in range(bag.n_classes):
        next_place[k + 1] += next_place[k]
    bag.n = <int>next_place[bag.n_classes]
    for j in range(n_labelled):
        if weights[j] > 0:
            total += weights[j]
            place_row(bag, labelled[j], weights[j], codes[labelled[j]])
    for j in range(n_picks):
        if picks[j] >= 0:
            total += 1
            place_row(bag, picks[j], 1, pick_labels[j])
    for j in range(bag.n):
        bag.members[j] = <int32_t>j
    return total


cdef inline void place_row(Bag *bag, int32_t row, int32_t weight, int32_t label) noexcept nogil:
    cdef int64_t place = bag.counts[label]
    bag.counts[label] += 1
    bag.rows[place] = row
    bag.weights[place] = weight
    bag.labels[place] = label
    bag.position[row] = <int32_t>place


cdef int split_members(Bag *bag, int start, int stop) noexcept nogil:
    """Order the node's rows left before right, each side class by class; returns the boundary."""
    cdef int i, n_left = start, n_right = 0
    for i in range(start, stop):
        if bag.goes_left[bag.members[i]]:
            bag.members[n_left] = bag.members[i]
            n_left += 1
        else:
            bag.scratch[n_right] = bag.members[i]
            n_right += 1
    memcpy(bag.members + n_left, bag.scratch, n_right * sizeof(int32_t))
    return n_left


cdef struct Output:
    int32_t *feature
    double *threshold
    int32_t *left
    int32_t *leaf
    int32_t *impure
    int32_t *counts
    int32_t n_impure


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
    # pending nodes, and their segments of each sorted column
    Node *stack
    int32_t *segments
    int64_t segment_levels


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


cdef Split search_node(Growth *growth, Bag *bag, bint small, uint64_t member, Node node, int n_runs,
                       int32_t *segments) noexcept nogil:
    cdef Split best
    cdef uint64_t key, counter = 0
    cdef int n_seen
    if growth.node_features < 0:
        if small:
            return search_side_by_side(bag, growth.X, growth.spread, node.start, node.stop, n_runs)
        return search_sorted(
            bag, growth.spread, growth.X.is_sparse, node.stop - node.start, segments
        )
    key = stream_key(growth.seed, member, NODE_SUBSPACE + node.number)
    growth.mark += 1
    n_seen = draw_node_subspace(
        key, growth.n_features, growth.node_features, growth.seen, growth.mark,
        growth.candidates, &counter,
    )
    best = search_candidates(growth, bag, small, node, n_runs, n_seen, segments)
    while best.column < 0 and n_seen < growth.n_features:
        n_seen += draw_node_subspace(
            key, growth.n_features, 1, growth.seen, growth.mark, growth.candidates, &counter
        )
        best = search_candidates(growth, bag, small, node, n_runs, 1, segments)
    return best


cdef Split search_candidates(Growth *growth, Bag *bag, bint small, Node node, int n_runs,
                             int n_candidates, int32_t *segments) noexcept nogil:
    """Search the features drawn for one node."""
    if small:
        code_columns(
            bag, growth.X, growth.codes, growth.candidates, n_candidates, node.start, node.stop
        )
        return search_side_by_side(bag, growth.X, growth.spread, node.start, node.stop, n_runs)
    sort_columns(
        bag, growth.X, growth.order, growth.candidates, n_candidates, node.start, node.stop, segments
    )
    return search_sorted(bag, growth.spread, growth.X.is_sparse, node.stop - node.start, segments)


cdef int grow_tree(Growth *growth, Bag *bag, bint small, uint64_t member, const int32_t *subspace,
                   int n_columns, Output *out) except -1 nogil:
    """Grow one tree on the rows in the bag; returns its number of nodes."""
    cdef int n_nodes = 1, depth_of_stack = 1, i, middle, n_runs
    cdef int64_t width = 2 * <int64_t>n_columns, level
    cdef Node node
    cdef Split split
    cdef bint sorted_once = not small and growth.node_features < 0
    growth.stack[0] = Node(number=0, start=0, stop=bag.n, depth=0)
    if growth.node_features < 0:
        if small:
            code_columns(bag, growth.X, growth.codes, subspace, n_columns, 0, bag.n)
        else:
            sort_columns(
                bag, growth.X, growth.order, subspace, n_columns, 0, bag.n, growth.segments
            )
    while depth_of_stack:
        depth_of_stack -= 1
        node = growth.stack[depth_of_stack]
        level = depth_of_stack if sorted_once else 0
        count_classes(bag, node.start, node.stop, &n_runs)
        split.column = -1
        if n_runs > 1 and node.depth != growth.max_depth:
            split = search_node(
                growth, bag, small, member, node, n_runs, growth.segments + level * width
            )
        if split.column < 0:
            close_leaf(bag, out, node.number, n_runs)
            continue
        out.leaf[node.number] = -1
        out.impure[node.number] = -1
        out.feature[node.number] = bag.features[split.column]
        out.threshold[node.number] = split.threshold
        out.left[node.number] = n_nodes
        for i in range(node.start, node.stop):
            bag.goes_left[bag.members[i]] = column_value(
                growth.X, bag.features[split.column], bag.rows[bag.members[i]]
            ) <= split.threshold
        middle = split_members(bag, node.start, node.stop)
        if sorted_once:
            if level + 2 > growth.segment_levels:
                growth.segment_levels *= 2
                growth.segments = <int32_t *>realloc(
                    growth.segments, growth.segment_levels * width * sizeof(int32_t)
                )
                if growth.segments == NULL:
                    with gil:
                        raise MemoryError
            partition_entries(
                bag, growth.segments + level * width, growth.segments + (level + 1) * width,
                growth.segments + level * width,
            )
        growth.stack[depth_of_stack] = Node(
            number=n_nodes + 1, start=middle, stop=node.stop, depth=node.depth + 1
        )
        growth.stack[depth_of_stack + 1] = Node(
            number=n_nodes, start=node.start, stop=middle, depth=node.depth + 1
        )
        depth_of_stack += 2
        n_nodes += 2
    return n_nodes


def grow(Columns X, const int32_t[::1] row_labels, Py_ssize_t n_classes,
         const int32_t[::1] labelled, const int32_t[:, ::1] weights,
         const int32_t[:, ::1] picks, const int32_t[:, ::1] pick_labels,
         const int32_t[:, ::1] subspaces=None, *, const uint8_t[:, ::1] codes=None,
         const int32_t[:, ::1] order=None, const double[::1] spread=None, max_depth=None,
         uint64_t seed=0, Py_ssize_t start=0, Py_ssize_t node_features=-1):
    """Grow one tree for each member of a block.

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
        Dense ranks of the values of each column; without them they are worked out for each bag.
    order : array of shape (n_features, n_rows), optional
        The rows of each dense column by ascending value, a help for large bags.
    spread : array of shape (n_features,), optional
        Equal splits: take the one with the widest gap between its two sides in these units instead
        of the first.
    max_depth : int, optional
        Depth limit; the root has depth 0.

    Returns
    -------
    Trees
    """
    cdef Py_ssize_t n_members = weights.shape[0], n_labelled = labelled.shape[0]
    cdef Py_ssize_t n_picks = picks.shape[1], i, j, n_nodes, largest = 0, n_bag, capacity = 0
    cdef Py_ssize_t total
    cdef int n_columns = subspaces.shape[1] if subspaces is not None else node_features
    cdef int small_limit = SIDE_BY_SIDE
    cdef bint any_small = False, any_large = False, small
    for i in range(n_members):
        n_bag = 0
        total = 0
        for j in range(n_labelled):
            n_bag += weights[i, j] > 0
            total += weights[i, j]
        for j in range(n_picks):
            n_bag += picks[i, j] >= 0
            total += picks[i, j] >= 0
        largest = max(largest, n_bag)
        capacity += 2 * n_bag
        small = n_bag <= small_limit and total <= 255
        any_small = any_small or small
        any_large = any_large or not small
    cdef _Workspace workspace = _Workspace()
    workspace.prepare(largest, X.c.n_rows, n_columns, n_classes, any_small, any_large)
    cdef Bag *bag = &workspace.bag
    capacity = max(capacity, 1)
    offsets = np.zeros(n_members + 1, dtype=np.int32)
    feature = np.empty(capacity, dtype=np.int32)
    threshold = np.empty(capacity)
    left = np.empty(capacity, dtype=np.int32)
    leaf = np.empty(capacity, dtype=np.int32)
    impure = np.empty(capacity, dtype=np.int32)
    counts = np.empty((capacity // 2 + 1, n_classes), dtype=np.int32)
    cdef int32_t[::1] out_offsets = offsets, out_feature = feature, out_left = left
    cdef int32_t[::1] out_leaf = leaf, out_impure = impure
    cdef double[::1] out_threshold = threshold
    cdef int32_t[:, ::1] out_counts = counts
    cdef Output out
    cdef Growth growth
    growth.X = &X.c
    growth.codes = &codes[0, 0] if codes is not None else NULL
    growth.order = &order[0, 0] if order is not None else NULL
    growth.spread = &spread[0] if spread is not None else NULL
    growth.max_depth = -1 if max_depth is None else max_depth
    growth.node_features = <int>node_features if subspaces is None else -1
    growth.n_features = X.n_features
    growth.seed = seed
    growth.mark = 0
    growth.stack = <Node *>workspace.take((largest + 2) * sizeof(Node))
    growth.seen = NULL
    growth.candidates = NULL
    if subspaces is None:
        growth.seen = <int32_t *>workspace.take(X.n_features * sizeof(int32_t))
        memset(growth.seen, 0, X.n_features * sizeof(int32_t))
        growth.candidates = <int32_t *>workspace.take(n_columns * sizeof(int32_t))
    growth.segment_levels = 16
    growth.segments = <int32_t *>malloc(
        (growth.segment_levels * 2 * n_columns if any_large else 1) * sizeof(int32_t)
    )
    if growth.segments == NULL:
        raise MemoryError
    out.counts = &out_counts[0, 0]
    out.n_impure = 0
    n_nodes = 0
    try:
        with nogil:
            for i in range(n_members):
                total = fill_bag(
                    bag, &labelled[0], &row_labels[0], &weights[i, 0], n_labelled,
                    &picks[i, 0] if n_picks else NULL, &pick_labels[i, 0] if n_picks else NULL,
                    n_picks,
                )
                small = bag.n <= small_limit and total <= 255
                out.feature = &out_feature[n_nodes]
                out.threshold = &out_threshold[n_nodes]
                out.left = &out_left[n_nodes]
                out.leaf = &out_leaf[n_nodes]
                out.impure = &out_impure[n_nodes]
                n_nodes += grow_tree(
                    &growth, bag, small, start + i,
                    &subspaces[i, 0] if growth.node_features < 0 else NULL, n_columns, &out,
                )
                out_offsets[i + 1] = <int32_t>n_nodes
                for j in range(bag.n):
                    bag.position[bag.rows[j]] = -1
    finally:
        free(growth.segments)
    return Trees(
        offsets, feature[:n_nodes].copy(), threshold[:n_nodes].copy(), left[:n_nodes].copy(),
        leaf[:n_nodes].copy(), impure[:n_nodes].copy(), counts[:out.n_impure].copy(),
    )


def rank_columns(X):
    """Dense ranks of the values of each column of a dense array with at most 256 rows.

    Returns codes of shape (n_features, n_rows) for `grow`.
    """
    cdef Columns columns = Columns(X)
    cdef Py_ssize_t n = columns.c.n_rows, f, j
    cdef int rank
    codes = np.empty((columns.n_features, n), dtype=np.uint8)
    cdef uint8_t[:, ::1] out = codes
    cdef entry_t *entries = <entry_t *>malloc(max(n, 1) * sizeof(entry_t))
    if entries == NULL:
        raise MemoryError
    with nogil:
        for f in range(columns.n_features):
            for j in range(n):
                entries[j].value = stored_value(&columns.c, f * n + j)
                entries[j].position = <int32_t>j
            sort_entries(entries, n)
            rank = 0
            for j in range(n):
                if j and entries[j].value > entries[j - 1].value:
                    rank += 1
                out[f, entries[j].position] = <uint8_t>rank
        free(entries)
    return codes
