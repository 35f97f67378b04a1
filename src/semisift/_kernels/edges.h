/* Sums over the edges of a graph, for several columns side by side.

   Differences are taken edge by edge, so nothing cancels, and every lane of a vector adds up in the
   order of the rows: wider vectors give the same bits. */
#ifndef SEMISIFT_EDGES_H
#define SEMISIFT_EDGES_H

#include <string.h>
#include "portable.h"

#define LANES 16 /* columns side by side: four vectors of four hide the latency of an addition */

#if defined(__GNUC__) && !defined(SEMISIFT_PLAIN_C)
#pragma GCC diagnostic ignored "-Wpsabi" /* none of these functions is called from outside */
typedef double lanes_t __attribute__((vector_size(32), aligned(8)));
#define ZEROS {{0.0}}
#else
typedef double lanes_t;
#define ZEROS {0.0}
#endif
#define VECTORS (LANES * sizeof(double) / sizeof(lanes_t))

/* Copy columns side by side, each multiplied by its factor. */
#define SEMISIFT_SIDE_BY_SIDE(name, type)                                                         \
    static void name(const type *X, int64_t row_step, const int64_t *offsets,                     \
                     const double *factors, const int64_t *rows, int64_t n, double *out) {        \
        for (int64_t i = 0; i < n; i++)                                                           \
            for (int l = 0; l < LANES; l++)                                                       \
                out[i * LANES + l] = X[rows[i] * row_step + offsets[l]] * factors[l];             \
    }

SEMISIFT_SIDE_BY_SIDE(side_by_side_float32, float)
SEMISIFT_SIDE_BY_SIDE(side_by_side_float64, double)

/* The weighted squared differences over the edges; those of node i start at starts[i]. */
SEMISIFT_CLONES static void add_edges(const double *values, int64_t n, const int64_t *starts,
                                      const int64_t *ends, const double *weights, double *sums) {
    const lanes_t *f = (const lanes_t *)values;
    lanes_t total[VECTORS] = ZEROS;
    for (int64_t i = 0; i < n; i++) {
        lanes_t own[VECTORS], sum[VECTORS] = ZEROS;
        for (unsigned v = 0; v < VECTORS; v++) own[v] = f[i * VECTORS + v];
        for (int64_t e = starts[i]; e < starts[i + 1]; e++) {
            const lanes_t *other = f + ends[e] * VECTORS;
            double weight = weights[e];
            for (unsigned v = 0; v < VECTORS; v++) {
                lanes_t apart = own[v] - other[v];
                sum[v] += weight * (apart * apart);
            }
        }
        for (unsigned v = 0; v < VECTORS; v++) total[v] += sum[v];
    }
    memcpy(sums, total, sizeof(total));
}

/* The means weighted by the degrees, and the weighted squared deviations from them. */
SEMISIFT_CLONES static void add_nodes(const double *values, int64_t n, const double *degrees,
                                      double volume, double *means, double *sums) {
    const lanes_t *f = (const lanes_t *)values;
    lanes_t mean[VECTORS] = ZEROS, total[VECTORS] = ZEROS, left[VECTORS] = ZEROS;
    for (int64_t i = 0; i < n; i++)
        for (unsigned v = 0; v < VECTORS; v++) mean[v] += degrees[i] * f[i * VECTORS + v];
    for (unsigned v = 0; v < VECTORS; v++) mean[v] /= volume;
    for (int64_t i = 0; i < n; i++)
        for (unsigned v = 0; v < VECTORS; v++) {
            lanes_t apart = f[i * VECTORS + v] - mean[v], weighted = degrees[i] * apart;
            left[v] += weighted;
            total[v] += weighted * apart;
        }
    /* what rounding kept from the mean of values far from 0 */
    for (unsigned v = 0; v < VECTORS; v++) {
        mean[v] += left[v] / volume;
        total[v] -= left[v] * left[v] / volume;
    }
    memcpy(means, mean, sizeof(mean));
    memcpy(sums, total, sizeof(total));
}

#endif
