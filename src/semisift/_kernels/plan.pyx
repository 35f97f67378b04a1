"""What a committee member is dealt, and the confident rows that the committee hands to it."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from semisift._kernels.streams cimport (
    LABELLED_BAG, SUBSPACE, TIES, UNLABELLED_BAG, draw_below, stream_key, stream_word,
)


def draw_subspaces(uint64_t seed, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_features,
                   Py_ssize_t size):
    """Draw `size` distinct features, in random order, for each of the members start..stop-1."""
    subspaces = np.empty((stop - start, size), dtype=np.int32)
    cdef int32_t[:, ::1] out = subspaces
    cdef int32_t *last_owner = <int32_t *>calloc(n_features, sizeof(int32_t))
    if last_owner == NULL:
        raise MemoryError
    cdef Py_ssize_t i, found
    cdef uint64_t key, counter
    cdef int32_t feature
    with nogil:
        for i in range(stop - start):
            key = stream_key(seed, start + i, SUBSPACE)
            found = 0
            counter = 0
            while found < size:
                feature = draw_below(key, counter, n_features)
                counter += 1
                if last_owner[feature] != i + 1:
                    last_owner[feature] = i + 1
                    out[i, found] = feature
                    found += 1
        free(last_owner)
    return subspaces


def draw_bags(uint64_t seed, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_rows,
              const int32_t[::1] labelled, const int32_t[::1] strata,
              const int32_t[::1] unlabelled):
    """Draw the bootstraps of the members start..stop-1.

    `labelled` holds the labelled rows, those of one stratum side by side; `strata` says where each
    stratum starts, with the end as last entry. Returns how often each labelled row was drawn and the
    rows out of the bag as bit masks.
    """
    cdef Py_ssize_t n_members = stop - start, n_words = (n_rows + 63) // 64
    weights = np.zeros((n_members, labelled.shape[0]), dtype=np.int32)
    out_of_bag = np.zeros((n_members, n_words), dtype=np.uint64)
    cdef int32_t[:, ::1] weight = weights
    cdef uint64_t[:, ::1] oob = out_of_bag
    cdef Py_ssize_t n_labelled = labelled.shape[0], n_unlabelled = unlabelled.shape[0]
    cdef Py_ssize_t i, j, stratum, first, size
    cdef uint64_t key, counter
    cdef int32_t row
    with nogil:
        for i in range(n_members):
            key = stream_key(seed, start + i, LABELLED_BAG)
            counter = 0
            for stratum in range(strata.shape[0] - 1):
                first = strata[stratum]
                size = strata[stratum + 1] - first
                for j in range(size):
                    weight[i, first + draw_below(key, counter, size)] += 1
                    counter += 1
            for j in range(n_labelled):
                if weight[i, j] == 0:
                    row = labelled[j]
                    oob[i, row >> 6] |= (<uint64_t>1) << (row & 63)
            for j in range(n_unlabelled):
                row = unlabelled[j]
                oob[i, row >> 6] |= (<uint64_t>1) << (row & 63)
            key = stream_key(seed, start + i, UNLABELLED_BAG)
            for j in range(n_unlabelled):
                row = unlabelled[draw_below(key, j, n_unlabelled)]
                oob[i, row >> 6] &= ~((<uint64_t>1) << (row & 63))
    return weights, out_of_bag


def pick_confident(uint64_t seed, Py_ssize_t start, const uint64_t[:, ::1] out_of_bag,
                   const int32_t[:, ::1] picks, const int32_t[::1] order,
                   const double[::1] confidence, const int32_t[::1] class_starts,
                   const int32_t[::1] quotas):
    """Pick for each member, class by class, the most confident rows left in its bag.

    `order` lists the usable unlabelled rows class by class, the most confident first;
    `class_starts` says where each class starts in it, `confidence` is by row. Equal confidences are
    taken in the member's own random order. Returns rows of shape (members, sum of quotas), the slots
    of one class side by side, -1 where a class had no row left.
    """
    cdef Py_ssize_t n_members = out_of_bag.shape[0], n_classes = quotas.shape[0]
    cdef Py_ssize_t n_slots = 0, i, j, k, slot, at, end, n_tied, wanted
    cdef Py_ssize_t n_rows = confidence.shape[0], widest = 1
    for k in range(n_classes):
        n_slots += quotas[k]
        widest = max(widest, quotas[k])
    picked = np.full((n_members, n_slots), -1, dtype=np.int32)
    cdef int32_t[:, ::1] out = picked
    cdef int32_t *owner = <int32_t *>calloc(n_rows, sizeof(int32_t))
    cdef uint64_t *best = <uint64_t *>malloc(widest * sizeof(uint64_t))
    if owner == NULL or best == NULL:
        free(owner)
        free(best)
        raise MemoryError
    cdef uint64_t key, word
    cdef int32_t row
    with nogil:
        for i in range(n_members):
            key = stream_key(seed, start + i, TIES)
            for j in range(picks.shape[1]):
                if picks[i, j] >= 0:
                    owner[picks[i, j]] = i + 1
            slot = 0
            for k in range(n_classes):
                wanted = quotas[k]
                at = class_starts[k]
                while wanted > 0 and at < class_starts[k + 1]:
                    end = at
                    n_tied = 0  # rows of this tie kept so far, by ascending word
                    while end < class_starts[k + 1] and (
                        end == at or confidence[order[end]] == confidence[order[at]]
                    ):
                        row = order[end]
                        end += 1
                        if owner[row] == i + 1 or out_of_bag[i, row >> 6] >> (row & 63) & 1:
                            continue
                        word = stream_word(key, row)
                        if n_tied == wanted and word >= best[n_tied - 1]:
                            continue
                        j = n_tied if n_tied < wanted else n_tied - 1
                        while j > 0 and best[j - 1] > word:
                            best[j] = best[j - 1]
                            out[i, slot + j] = out[i, slot + j - 1]
                            j -= 1
                        best[j] = word
                        out[i, slot + j] = row
                        n_tied = min(n_tied + 1, wanted)
                    slot += n_tied
                    wanted -= n_tied
                    at = end
                slot += wanted
        free(owner)
        free(best)
    return picked
