"""What trees say about rows: votes of a committee, and the rows that a tree labels for itself."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from semisift._kernels.columns cimport Columns, semisift_lowest_bit
from semisift._kernels.masks cimport Fallen, Forest, Tree
from semisift._kernels.streams cimport TIES, stream_key, stream_word

cdef int VOTE = 65536  # one vote in the fixed-point arithmetic of probability votes
cdef int PLANES = 8  # of the bit-sliced vote counters


# Votes -------------------------------------------------------------------------------------------

cdef void count_votes(uint64_t *planes, uint64_t *rows, int64_t n_words) noexcept nogil:
    """Add one to the bit-sliced counter of each row in the mask; the mask is used up."""
    cdef int plane
    cdef int64_t w
    cdef uint64_t carry, any_carry
    for plane in range(PLANES):
        any_carry = 0
        for w in range(n_words):
            carry = planes[w] & rows[w]
            planes[w] ^= rows[w]
            rows[w] = carry
            any_carry |= carry
        if not any_carry:
            return
        planes += n_words


cdef void flush_votes(uint64_t *planes, int64_t n_words, int64_t unit, int n_classes, int label,
                      int64_t *votes) noexcept nogil:
    """Add the bit-sliced counters to the votes of one class and clear them."""
    cdef int plane
    cdef int64_t w
    cdef uint64_t bits
    for plane in range(PLANES):
        for w in range(n_words):
            bits = planes[plane * n_words + w]
            while bits:
                votes[(w * 64 + semisift_lowest_bit(bits)) * n_classes + label] += unit << plane
                bits &= bits - 1
    memset(planes, 0, PLANES * n_words * sizeof(uint64_t))


cdef int32_t class_share(const int32_t[:, ::1] counts, int leaf, Py_ssize_t label) noexcept nogil:
    """The share of a class in an impure leaf, in units of 1 / VOTE."""
    cdef int64_t total = 0
    cdef Py_ssize_t k
    for k in range(counts.shape[1]):
        total += counts[leaf, k]
    return <int32_t>((2 * VOTE * <int64_t>counts[leaf, label] + total) // (2 * total))


def vote(Columns X, trees, const uint64_t[:, ::1] rows, Py_ssize_t n_classes, bint probability,
         *, int by_lists=-1):
    """Votes of each tree on its own set of rows, summed over the trees.

    Parameters
    ----------
    X : Columns
        The data.
    trees : Trees
        One tree for each member of the block.
    rows : array of shape (n_members, n_words)
        The rows that each member votes on, as bit masks.
    n_classes : int
        Number of classes.
    probability : bool
        Each leaf votes with its class shares in units of 1 / 65536 instead of one vote for its
        class.
    by_lists : int
        Whether rows fall through a tree as lists (1) or as masks (0); the kernel's choice if
        negative. The votes do not depend on it.

    Returns
    -------
    ndarray of shape (n_rows, n_classes), int64
    """
    cdef Py_ssize_t n_members = rows.shape[0], n_words = rows.shape[1], i, k
    cdef int v
    cdef int32_t share
    cdef int64_t j, n, unit = VOTE if probability else 1
    votes_array = np.zeros((X.c.n_rows, n_classes), dtype=np.int64)
    cdef int64_t[:, ::1] votes = votes_array
    cdef Forest forest = Forest(trees)
    cdef Fallen fallen = Fallen(forest.most_nodes, n_words, by_lists=by_lists)
    cdef int32_t[::1] leaf_rows = np.empty(max(64 * n_words, 1), dtype=np.int32)
    planes_array = np.zeros((n_classes, PLANES, n_words), dtype=np.uint64)
    cdef uint64_t[:, :, ::1] planes = planes_array
    winners_array = np.zeros((n_classes, n_words), dtype=np.uint64)
    cdef uint64_t[:, ::1] winners = winners_array
    cdef Tree tree
    if n_words == 0:
        return votes_array
    with nogil:
        for i in range(n_members):
            tree = forest.tree(i)
            fallen.drop(&tree, &X.c, &rows[i, 0])
            memset(&winners[0, 0], 0, n_classes * n_words * sizeof(uint64_t))
            for v in range(tree.n_nodes):
                if tree.leaf[v] < 0:
                    continue
                if not probability or tree.impure[v] < 0:
                    fallen.add_leaf(v, NULL, &winners[tree.leaf[v], 0])
                    continue
                n = fallen.list_leaf(v, &leaf_rows[0])
                for k in range(n_classes):
                    share = class_share(forest.counts, tree.impure[v], k)
                    if share == 0:
                        continue
                    for j in range(n):
                        votes[leaf_rows[j], k] += share
            for k in range(n_classes):
                count_votes(&planes[k, 0, 0], &winners[k, 0], n_words)
                if (i + 1) % ((1 << PLANES) - 1) == 0 or i + 1 == n_members:
                    flush_votes(&planes[k, 0, 0], n_words, unit, n_classes, k, &votes[0, 0])
    return votes_array


def vote_each(Columns X, trees, Py_ssize_t n_classes, bint probability):
    """Votes of each tree on all rows.

    Parameters
    ----------
    X : Columns
        The data.
    trees : Trees
        One tree for each member of the block.
    n_classes : int
        Number of classes.
    probability : bool
        As in `vote`.

    Returns
    -------
    ndarray of shape (n_members, n_rows, n_classes), int32
    """
    cdef Forest forest = Forest(trees)
    cdef Py_ssize_t n_rows = X.c.n_rows, n_members = forest.offsets.shape[0] - 1, i, k
    cdef Py_ssize_t n_words = (n_rows + 63) // 64
    cdef int v
    cdef int32_t share
    cdef int64_t j, n
    votes_array = np.zeros((n_members, n_rows, n_classes), dtype=np.int32)
    cdef int32_t[:, :, ::1] votes = votes_array
    everyone_array = np.full(n_words, ~np.uint64(0))
    cdef uint64_t[::1] everyone = everyone_array
    cdef Fallen fallen = Fallen(forest.most_nodes, n_words)
    cdef int32_t[::1] leaf_rows = np.empty(max(64 * n_words, 1), dtype=np.int32)
    cdef Tree tree
    if n_rows == 0:
        return votes_array
    if n_rows % 64:
        everyone[n_words - 1] >>= 64 - n_rows % 64
    with nogil:
        for i in range(n_members):
            tree = forest.tree(i)
            fallen.drop(&tree, &X.c, &everyone[0])
            for v in range(tree.n_nodes):
                if tree.leaf[v] < 0:
                    continue
                n = fallen.list_leaf(v, &leaf_rows[0])
                for k in range(n_classes):
                    if not probability:
                        share = k == tree.leaf[v]
                    elif tree.impure[v] < 0:
                        share = VOTE if k == tree.leaf[v] else 0
                    else:
                        share = class_share(forest.counts, tree.impure[v], k)
                    if share == 0:
                        continue
                    for j in range(n):
                        votes[i, leaf_rows[j], k] = share
    return votes_array


# Self-labelling ----------------------------------------------------------------------------------

cdef struct Candidate:
    double confidence
    uint64_t word
    int32_t row
    int32_t label


cdef inline bint comes_first(const Candidate *a, const Candidate *b) noexcept nogil:
    if a.confidence != b.confidence:
        return a.confidence > b.confidence
    return a.word < b.word


cdef void select_first(Candidate *candidates, int64_t n, int64_t wanted) noexcept nogil:
    """Bring the `wanted` candidates that come first to the front, in any order (quickselect)."""
    cdef int64_t low = 0, high = n - 1, i, j
    cdef Candidate pivot, swapped
    while low < high:
        pivot = candidates[low + (high - low) // 2]
        i = low
        j = high
        while i <= j:
            while comes_first(&candidates[i], &pivot):
                i += 1
            while comes_first(&pivot, &candidates[j]):
                j -= 1
            if i <= j:
                swapped = candidates[i]
                candidates[i] = candidates[j]
                candidates[j] = swapped
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            return


def pick_own(Columns X, trees, uint64_t seed, Py_ssize_t start, const uint64_t[:, ::1] pools,
             const int32_t[::1] quotas, double at_least, *, int by_lists=-1):
    """Let each tree pick the rows of its pool that it is most confident about.

    Confidence is the share of the leaf's class; only rows above `at_least` qualify, equal ones are
    taken in the member's own random order. Returns the rows and the labels given to them, of shape
    (members, largest quota), -1 where there is none. `by_lists` is as in `vote`.
    """
    cdef Py_ssize_t n_members = pools.shape[0], n_words = pools.shape[1], i, n_slots = 0
    cdef int v
    cdef int64_t j, n, n_leaf, wanted
    cdef uint64_t key
    cdef double confidence
    for i in range(n_members):
        n_slots = max(n_slots, quotas[i])
    rows_array = np.full((n_members, n_slots), -1, dtype=np.int32)
    labels_array = np.full((n_members, n_slots), -1, dtype=np.int32)
    cdef int32_t[:, ::1] out_rows = rows_array, out_labels = labels_array
    cdef Forest forest = Forest(trees)
    cdef Fallen fallen = Fallen(forest.most_nodes, n_words, by_lists=by_lists)
    cdef int32_t[::1] leaf_rows = np.empty(max(64 * n_words, 1), dtype=np.int32)
    cdef Candidate *candidates = <Candidate *>malloc(max(X.c.n_rows, 1) * sizeof(Candidate))
    if candidates == NULL:
        raise MemoryError
    cdef Tree tree
    try:
        with nogil:
            for i in range(n_members):
                if quotas[i] == 0:
                    continue
                tree = forest.tree(i)
                key = stream_key(seed, start + i, TIES)
                fallen.drop(&tree, &X.c, &pools[i, 0])
                n = 0
                for v in range(tree.n_nodes):
                    if tree.leaf[v] < 0:
                        continue
                    confidence = forest.confidence(&tree, v)
                    if confidence <= at_least:
                        continue
                    n_leaf = fallen.list_leaf(v, &leaf_rows[0])
                    for j in range(n_leaf):
                        candidates[n].row = leaf_rows[j]
                        candidates[n].label = tree.leaf[v]
                        candidates[n].confidence = confidence
                        candidates[n].word = stream_word(key, leaf_rows[j])
                        n += 1
                wanted = min(n, quotas[i])
                select_first(candidates, n, wanted)
                for j in range(wanted):
                    out_rows[i, j] = candidates[j].row
                    out_labels[i, j] = candidates[j].label
    finally:
        free(candidates)
    return rows_array, labels_array
