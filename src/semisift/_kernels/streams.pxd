"""Counter-based random numbers: member i of a committee owns the streams (seed, i, purpose).

The j-th word of a stream is a hash of its key and j (splitmix64), so a member's draws do not depend
on how many other members there are, nor on who computes them.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum Purpose:
    SUBSPACE = 0
    LABELLED_BAG = 1
    UNLABELLED_BAG = 2
    TIES = 3
    PERMUTATION = 4
    NODE_SUBSPACE = 5  # + the node's number: the last purpose


cdef inline uint64_t mix(uint64_t z) noexcept nogil:
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t stream_key(uint64_t seed, uint64_t member, uint64_t purpose) noexcept nogil:
    cdef uint64_t golden = <uint64_t>0x9E3779B97F4A7C15
    return mix(mix(seed + golden * (member + 1)) + golden * (purpose + 1))


cdef inline uint64_t stream_word(uint64_t key, uint64_t counter) noexcept nogil:
    return mix(key + <uint64_t>0x9E3779B97F4A7C15 * (counter + 1))


cdef inline uint32_t draw_below(uint64_t key, uint64_t counter, uint64_t n) noexcept nogil:
    """The counter-th draw from 0..n-1 (two draws a word; the bias is below n / 2**32)."""
    cdef uint64_t word = stream_word(key, counter >> 1)
    cdef uint64_t half = (word >> 32) if counter & 1 else (word & <uint64_t>0xFFFFFFFF)
    return <uint32_t>((half * n) >> 32)
