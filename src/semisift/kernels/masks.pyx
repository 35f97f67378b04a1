"""Trees at work on sets of rows.

A set of rows is a bit mask (see columns.h). A split sends whole masks left and right, 64 rows an
operation, so that a tree costs a few comparisons a row and no walk of its own for any row.
"""

import numpy as np

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from semisift.kernels.columns cimport column_mask, columns_t


cdef class Forest:
    """The trees of a block, one at a time."""

    def __cinit__(self, trees):
        self.offsets = trees.offsets
        self.feature = trees.feature
        self.threshold = trees.threshold
        self.left = trees.left
        self.leaf = trees.leaf
        self.impure = trees.impure
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


cdef class Masks:
    """The rows that reach each node of a tree (`reached`).

    With `keeps_below`, `below` has for each inner node the rows at or below its threshold, whether
    they reach it or not; else it is scratch.
    """

    def __cinit__(self, Py_ssize_t n_nodes, Py_ssize_t n_words, bint keeps_below=False):
        cdef size_t one = max(n_words, 1) * sizeof(uint64_t)
        self.n_words = n_words
        self.keeps_below = keeps_below
        self.reached = <uint64_t *>malloc(n_nodes * one)
        self.below = <uint64_t *>malloc(n_nodes * one if keeps_below else one)
        if self.reached == NULL or self.below == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.reached)
        free(self.below)

    cdef void drop(self, const Tree *tree, const columns_t *X, const uint64_t *rows) noexcept nogil:
        """Let the rows fall through the tree; children have higher numbers than their parent."""
        cdef int v
        cdef int64_t n_words = self.n_words
        cdef uint64_t *below
        memcpy(self.reached, rows, n_words * sizeof(uint64_t))
        for v in range(tree.n_nodes):
            if tree.leaf[v] >= 0:
                continue
            below = self.below + (v * n_words if self.keeps_below else 0)
            column_mask(X, tree.feature[v], tree.threshold[v], below)
            split_mask(
                self.reached + v * n_words, below, self.reached + tree.left[v] * n_words,
                self.reached + (tree.left[v] + 1) * n_words, n_words,
            )


cdef void split_mask(
    const uint64_t *rows, const uint64_t *below, uint64_t *left, uint64_t *right, int64_t n_words
) noexcept nogil:
    cdef int64_t w
    for w in range(n_words):
        left[w] = rows[w] & below[w]
        right[w] = rows[w] & ~below[w]
