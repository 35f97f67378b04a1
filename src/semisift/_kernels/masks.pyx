"""Trees at work on sets of rows.

A set of rows is a bit mask (see columns.h). A split sends whole masks left and right, 64 rows an
operation, so that a tree costs a few comparisons a row and no walk of its own for any row. That is
a look at all rows for each node: trees of hundreds of nodes split lists of rows instead.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from semisift._kernels.columns cimport (
    column_mask, column_value, columns_t, count_rows, goes_left, semisift_lowest_bit, split_rows,
)

# Smaller trees are walked by masks, whatever they look like.
cdef int MIN_NODES_LISTED = 32
# What a row of a list costs, measured in rows of a column that is compared as a whole.
cdef double LIST_COST = 16.0


cdef class Forest:
    """The trees of a block, one at a time."""

    def __cinit__(self, trees):
        self.offsets = trees.offsets
        self.feature = trees.feature
        self.threshold = trees.threshold
        self.left = trees.left
        self.leaf = trees.leaf
        self.impure = trees.impure
        self.missing_left = trees.missing_left
        self.counts = trees.counts
        self.most_nodes = np.diff(trees.offsets).max(initial=1)

    cdef Tree tree(self, Py_ssize_t i) noexcept nogil:
        cdef Tree tree
        cdef Py_ssize_t start = self.offsets[i]
        tree.n_nodes = self.offsets[i + 1] - self.offsets[i]
        tree.feature = &self.feature[start]
        tree.threshold = &self.threshold[start]
        tree.left = &self.left[start]
        tree.leaf = &self.leaf[start]
        tree.impure = &self.impure[start]
        tree.missing_left = &self.missing_left[start]
        return tree

    cdef double confidence(self, const Tree *tree, int leaf) noexcept nogil:
        """Share of a leaf's own class among its training rows."""
        cdef Py_ssize_t k
        cdef int64_t total = 0
        if tree.impure[leaf] < 0:
            return 1.0
        for k in range(self.counts.shape[1]):
            total += self.counts[tree.impure[leaf], k]
        return <double>self.counts[tree.impure[leaf], tree.leaf[leaf]] / <double>total


cdef class Fallen:
    """The rows that reach each node of a tree, as masks or as lists.

    With `keeps_below`, `below` has for each inner node of a tree that is walked by masks the rows that
    it sends left, whether they reach it or not; else it is scratch.
    """

    def __cinit__(self, Py_ssize_t n_nodes, Py_ssize_t n_words, bint keeps_below=False,
                  int by_lists=-1):
        self.n_words = n_words
        self.keeps_below = keeps_below
        self.by_lists = by_lists
        self.starts = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.stops = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.rows = <int32_t *>malloc(max(64 * n_words, 1) * sizeof(int32_t))
        self.scratch = <int32_t *>malloc(max(64 * n_words, 1) * sizeof(int32_t))
        if self.starts == NULL or self.stops == NULL or self.rows == NULL or self.scratch == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.reached)
        free(self.below)
        free(self.starts)
        free(self.stops)
        free(self.rows)
        free(self.scratch)

    cdef int make_masks(self, int64_t n_masks) except -1 nogil:
        """Have room for so many masks: large trees that are walked by lists need none."""
        cdef size_t one = max(self.n_words, 1) * sizeof(uint64_t)
        if n_masks <= self.n_masks:
            return 0
        free(self.reached)
        free(self.below)
        self.reached = <uint64_t *>malloc(n_masks * one)
        self.below = <uint64_t *>malloc(n_masks * one if self.keeps_below else one)
        if self.reached == NULL or self.below == NULL:
            with gil:
                raise MemoryError
        self.n_masks = n_masks
        return 0

    cdef int drop(self, const Tree *tree, const columns_t *X, const uint64_t *rows) except -1 nogil:
        """Let the rows fall through the tree; children have higher numbers than their parent."""
        cdef int v
        cdef int64_t n_words = self.n_words
        cdef int32_t start, stop, middle
        cdef uint64_t *below
        self.listed = self.by_lists == 1 or (
            self.by_lists < 0 and lists_are_faster(tree, X, rows, n_words)
        )
        if self.listed:
            self.starts[0] = 0
            self.stops[0] = <int32_t>list_rows(rows, n_words, self.rows)
            for v in range(tree.n_nodes):
                if tree.leaf[v] >= 0:
                    continue
                start = self.starts[v]
                stop = self.stops[v]
                middle = start + <int32_t>split_rows(
                    X, tree.feature[v], tree.threshold[v], tree.missing_left[v], self.rows + start,
                    stop - start, self.scratch,
                )
                self.starts[tree.left[v]] = start
                self.stops[tree.left[v]] = self.starts[tree.left[v] + 1] = middle
                self.stops[tree.left[v] + 1] = stop
            return 0
        self.make_masks(tree.n_nodes)
        memcpy(self.reached, rows, n_words * sizeof(uint64_t))
        for v in range(tree.n_nodes):
            if tree.leaf[v] >= 0:
                continue
            below = self.below + (v * n_words if self.keeps_below else 0)
            column_mask(X, tree.feature[v], tree.threshold[v], tree.missing_left[v], below)
            split_mask(
                self.reached + v * n_words, below, self.reached + tree.left[v] * n_words,
                self.reached + (tree.left[v] + 1) * n_words, n_words,
            )
        return 0

    cdef void add_leaf(self, int v, const uint64_t *among, uint64_t *out) noexcept nogil:
        """Add the rows of a leaf, where `among` is given only those among it, to a mask."""
        cdef int64_t w, j
        cdef int32_t row
        cdef const uint64_t *reached
        if self.listed:
            for j in range(self.starts[v], self.stops[v]):
                row = self.rows[j]
                if among == NULL or among[row >> 6] >> (row & 63) & 1:
                    out[row >> 6] |= (<uint64_t>1) << (row & 63)
            return
        reached = self.reached + v * self.n_words
        if among == NULL:
            for w in range(self.n_words):
                out[w] |= reached[w]
        else:
            for w in range(self.n_words):
                out[w] |= reached[w] & among[w]

    cdef int64_t list_leaf(self, int v, int32_t *out) noexcept nogil:
        """List the rows of a leaf; returns how many there are."""
        cdef int64_t n
        if not self.listed:
            return list_rows(self.reached + v * self.n_words, self.n_words, out)
        n = self.stops[v] - self.starts[v]
        memcpy(out, self.rows + self.starts[v], n * sizeof(int32_t))
        return n


cdef bint lists_are_faster(const Tree *tree, const columns_t *X, const uint64_t *rows,
                           int64_t n_words) noexcept nogil:
    """Whether to split lists of rows: by masks, each node costs a look at the whole column.

    Some rows tell how deep the tree is for most: in a chain nearly all rows pass nearly all nodes,
    and masks stay faster. Sparse columns have few values to look at.
    """
    cdef int64_t w = 0, step = max(n_words // 32, 1), n_walked = 0, n_steps = 0
    cdef int32_t row
    cdef int v
    if X.is_sparse or tree.n_nodes < MIN_NODES_LISTED:
        return False
    while w < n_words:
        if rows[w]:
            row = <int32_t>(w * 64 + semisift_lowest_bit(rows[w]))
            v = 0
            while tree.leaf[v] < 0:
                v = tree.left[v] + (not goes_left(
                    column_value(X, tree.feature[v], row), tree.threshold[v], tree.missing_left[v]
                ))
                n_steps += 1
            n_walked += 1
        w += step
    if n_walked == 0:
        return True
    return (
        <double>(tree.n_nodes // 2) * X.n_rows * n_walked
        > LIST_COST * count_rows(rows, n_words) * n_steps
    )


cdef int64_t list_rows(const uint64_t *mask, int64_t n_words, int32_t *out) noexcept nogil:
    """List the rows of a mask in ascending order; returns how many there are."""
    cdef int64_t w, n = 0
    cdef uint64_t bits
    for w in range(n_words):
        bits = mask[w]
        while bits:
            out[n] = <int32_t>(w * 64 + semisift_lowest_bit(bits))
            n += 1
            bits &= bits - 1
    return n


cdef void split_mask(
    const uint64_t *rows, const uint64_t *below, uint64_t *left, uint64_t *right, int64_t n_words
) noexcept nogil:
    cdef int64_t w
    for w in range(n_words):
        left[w] = rows[w] & below[w]
        right[w] = rows[w] & ~below[w]
