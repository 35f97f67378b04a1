/* Squared distances of many rows to one, summed column by column. */
#ifndef SEMISIFT_HEAPS_H
#define SEMISIFT_HEAPS_H

#include "portable.h"

/* Four columns at a time, or loads and stores of the sums would take longer than the sums. They are
   added in the order of the columns all the same. */
#define DEFINE_DISTANCES(name, type)                                                             \
    SEMISIFT_CLONES static void name(const type *x, int64_t stride, int64_t n, const int32_t *columns, \
                                     int64_t m, const type *row, double *sums) {                 \
        for (int64_t i = 0; i < n; i++) sums[i] = 0.0;                                           \
        int64_t j = 0;                                                                           \
        for (; j + 4 <= m; j += 4) {                                                             \
            const type *x0 = x + columns[j] * stride, *x1 = x + columns[j + 1] * stride;         \
            const type *x2 = x + columns[j + 2] * stride, *x3 = x + columns[j + 3] * stride;     \
            const double r0 = row[columns[j]], r1 = row[columns[j + 1]];                         \
            const double r2 = row[columns[j + 2]], r3 = row[columns[j + 3]];                     \
            for (int64_t i = 0; i < n; i++) {                                                    \
                const double d0 = x0[i] - r0, d1 = x1[i] - r1, d2 = x2[i] - r2, d3 = x3[i] - r3; \
                sums[i] = (((sums[i] + d0 * d0) + d1 * d1) + d2 * d2) + d3 * d3;                 \
            }                                                                                    \
        }                                                                                        \
        for (; j < m; j++) {                                                                     \
            const type *xj = x + columns[j] * stride;                                            \
            const double r = row[columns[j]];                                                    \
            for (int64_t i = 0; i < n; i++) {                                                    \
                const double d = xj[i] - r;                                                      \
                sums[i] += d * d;                                                                \
            }                                                                                    \
        }                                                                                        \
    }

DEFINE_DISTANCES(float_distances, float)
DEFINE_DISTANCES(double_distances, double)

#endif
