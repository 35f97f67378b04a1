/* Distances between the rows of a small matrix, for the neighbour graphs of many subspaces.

   The search for neighbours first works with float32, whose error is bounded (see `reach`), and then
   compares the few candidates in float64. Every lane of a vector adds up in the order of the columns,
   so wider vectors give the same bits. */
#ifndef SEMISIFT_NEIGHBOURS_H
#define SEMISIFT_NEIGHBOURS_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "portable.h"

#define AT_ONCE 4   /* rows whose distances are computed side by side */
#define GROUP 64    /* nodes are padded to a multiple of it */
#define ROUNDING 5.960464477539063e-08 /* of float32: 2^-24 */

#if defined(__GNUC__) && !defined(SEMISIFT_PLAIN_C)
#pragma GCC diagnostic ignored "-Wpsabi" /* none of these functions is called from outside */
typedef float floats_t __attribute__((vector_size(32), aligned(4)));
typedef double doubles_t __attribute__((vector_size(32), aligned(8)));

/* Squared distances of four nodes to all nodes. z holds one column after the other. */
SEMISIFT_CLONES static void dense_distances(const float *z, int64_t n_columns, int64_t stride,
                                            const int64_t *nodes, float *out) {
    for (int64_t j = 0; j < stride; j += 16) {
        floats_t sum[AT_ONCE][2] = {{{0}}};
        for (int64_t c = 0; c < n_columns; c++) {
            const float *column = z + c * stride;
            floats_t a = *(const floats_t *)(column + j), b = *(const floats_t *)(column + j + 8);
            for (int r = 0; r < AT_ONCE; r++) {
                floats_t value = column[nodes[r]] - (floats_t){0};
                floats_t first = a - value, second = b - value;
                sum[r][0] += first * first;
                sum[r][1] += second * second;
            }
        }
        for (int r = 0; r < AT_ONCE; r++) {
            *(floats_t *)(out + r * stride + j) = sum[r][0];
            *(floats_t *)(out + r * stride + j + 8) = sum[r][1];
        }
    }
}
#else
static void dense_distances(const float *z, int64_t n_columns, int64_t stride,
                            const int64_t *nodes, float *out) {
    memset(out, 0, AT_ONCE * stride * sizeof(float));
    for (int64_t c = 0; c < n_columns; c++)
        for (int r = 0; r < AT_ONCE; r++)
            for (int64_t j = 0; j < stride; j++) {
                float difference = z[c * stride + j] - z[c * stride + nodes[r]];
                out[r * stride + j] += difference * difference;
            }
}
#endif

/* minima[g] = the least of d[g], d[g + width], ... */
SEMISIFT_CLONES static void group_minima(const float *d, int64_t stride, int64_t width,
                                         float *minima) {
    memcpy(minima, d, width * sizeof(float));
    for (int64_t start = width; start < stride; start += width)
        for (int64_t g = 0; g < width; g++)
            minima[g] = d[start + g] < minima[g] ? d[start + g] : minima[g];
}

/* How many of the values, a multiple of GROUP, are at most `bound`. */
SEMISIFT_CLONES static int64_t count_within(const float *values, int64_t n, float bound) {
    int32_t count = 0;
    for (int64_t i = 0; i < n; i++) count += values[i] <= bound;
    return count;
}

SEMISIFT_CLONES static float largest_finite(const float *values, int64_t n) {
    float largest[8] = {0};
    for (int64_t i = 0; i < n; i += 8)
        for (int l = 0; l < 8; l++) {
            float value = values[i + l] <= FLT_MAX ? values[i + l] : 0.0f;
            largest[l] = value > largest[l] ? value : largest[l];
        }
    for (int l = 1; l < 8; l++) largest[0] = largest[l] > largest[0] ? largest[l] : largest[0];
    return largest[0];
}

/* A bound that at least k of the minima do not exceed, and few more: halving the range that holds
   it has no branches to mispredict, and took a third of the time of sorting k of them. */
static float bound_of(const float *minima, int64_t n, int64_t k) {
    float low = 0.0f, high = largest_finite(minima, n);
    for (int step = 0; step < 24; step++) {
        float middle = low + (high - low) * 0.5f;
        int64_t count = count_within(minima, n, middle);
        if (count >= k) {
            high = middle;
            if (count <= k + 1) break;
        } else {
            low = middle;
        }
    }
    return high;
}

/* The nodes at most `bound` away, in an order that depends on the distances alone. */
static int64_t nodes_within(const float *d, int64_t n, const float *minima, int64_t width,
                            float bound, int32_t *nodes) {
    int64_t found = 0;
    if (4 * count_within(minima, width, bound) > width) {
        for (int64_t j = 0; j < n; j++) {
            nodes[found] = (int32_t)j;
            found += d[j] <= bound;
        }
        return found;
    }
    for (int64_t g = 0; g < width; g++) {
        if (!(minima[g] <= bound)) continue;
        for (int64_t j = g; j < n; j += width) {
            nodes[found] = (int32_t)j;
            found += d[j] <= bound;
        }
    }
    return found;
}

/* Squared distance of two rows whose columns are in units of their own. */
static inline double row_distance(const double *a, const double *b, const double *unit,
                                  int64_t width) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (int64_t c = 0; c < width; c += 4)
        for (int l = 0; l < 4; l++) {
            double difference = (a[c + l] - b[c + l]) * unit[c + l];
            sum[l] += difference * difference;
        }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

SEMISIFT_CLONES static void exact_distances(const double *rows, int64_t width, const double *unit,
                                            int64_t row, const int32_t *others, int64_t n,
                                            double *out) {
    for (int64_t e = 0; e < n; e++)
        out[e] = row_distance(rows + row * width, rows + others[e] * width, unit, width);
}

/* sums[c] += weight * (a[c] - b[c])^2 */
SEMISIFT_CLONES static void add_differences(const double *a, const double *b, double weight,
                                            int64_t width, double *sums) {
    for (int64_t c = 0; c < width; c++) {
        double difference = a[c] - b[c];
        sums[c] += weight * (difference * difference);
    }
}

SEMISIFT_CLONES static void add_all_differences(const double *rows, int64_t width, int64_t row,
                                                const int32_t *others, const double *weights,
                                                int64_t n, double *sums) {
    const double *a = rows + row * width;
    for (int64_t e = 0; e < n; e++) {
        const double *b = rows + others[e] * width;
        double weight = weights[e];
        for (int64_t c = 0; c < width; c++) {
            double difference = a[c] - b[c];
            sums[c] += weight * (difference * difference);
        }
    }
}

/* The least distance within which there is a mass of at least `wanted` (quickselect); the arrays
   are reordered. The whole mass suffices. */
static double distance_of_mass(double *d, double *mass, int64_t n, double wanted) {
    int64_t low = 0, high = n;
    for (;;) {
        double pivot = d[low + (high - low) / 2], below = 0.0, equal = 0.0;
        int64_t first = low, at = low, last = high;
        while (at < last) { /* three parts: below, equal, above */
            double value = d[at], weight = mass[at];
            if (value < pivot) {
                below += weight;
                d[at] = d[first]; mass[at] = mass[first];
                d[first] = value; mass[first] = weight;
                first++; at++;
            } else if (value > pivot) {
                last--;
                d[at] = d[last]; mass[at] = mass[last];
                d[last] = value; mass[last] = weight;
            } else {
                equal += weight;
                at++;
            }
        }
        if (below >= wanted) high = first;
        else if (below + equal >= wanted || last == high) return pivot;
        else { wanted -= below + equal; low = last; }
    }
}

#endif
