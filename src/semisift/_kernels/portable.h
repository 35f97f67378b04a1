/* What compilers spell differently. */
#ifndef SEMISIFT_PORTABLE_H
#define SEMISIFT_PORTABLE_H

#include <limits.h> /* defines __GLIBC__ where there is one */
#include <stdint.h>

/* One portable binary that still uses wider vectors where the machine has them. The results are the
   same bits: these loops compare, count and divide, and never fuse a multiplication with an addition. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define SEMISIFT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SEMISIFT_CLONES
#endif

/* Functions that are written once and compiled for each of the constants they are called with. */
#if defined(__GNUC__)
#define SEMISIFT_INLINED static inline __attribute__((always_inline))
#else
#define SEMISIFT_INLINED static inline
#endif

#if defined(__GNUC__)
static inline void prefetch(const void *address) { __builtin_prefetch(address); }
static inline int semisift_popcount(uint64_t word) { return __builtin_popcountll(word); }
static inline int semisift_lowest_bit(uint64_t word) { return __builtin_ctzll(word); }
#else
static inline void prefetch(const void *address) { (void)address; }
static inline int semisift_popcount(uint64_t word) {
    int count = 0;
    for (; word; word &= word - 1) count++;
    return count;
}
static inline int semisift_lowest_bit(uint64_t word) {
    return semisift_popcount((word & (~word + 1)) - 1);
}
#endif

#endif
