/* The two inner loops of predictive clustering trees. */
#ifndef SEMISIFT_PCT_H
#define SEMISIFT_PCT_H

#include <string.h>
#include "portable.h"

/* total += row; returns the square of the length of total. Four sums side by side, which vectors
   give the same bits as single steps: lane k adds the squares k, k + 4, ...; what is left over goes
   to the first lanes. */
SEMISIFT_CLONES static double add_and_square(double *total, const double *row, int64_t size) {
    double lanes[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t j = 0;
    for (; j + 4 <= size; j += 4)
        for (int k = 0; k < 4; k++) {
            double value = total[j + k] + row[j + k];
            total[j + k] = value;
            lanes[k] += value * value;
        }
    for (int k = 0; j < size; j++, k++) {
        double value = total[j] + row[j];
        total[j] = value;
        lanes[k] += value * value;
    }
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* Sort values, and what belongs to them, from the lowest; equal ones keep their order. */
static void sort_pairs(double *values, int32_t *places, int64_t n, double *spare,
                       int32_t *spare_places) {
    const int64_t run = 16;
    for (int64_t start = 0; start < n; start += run) {
        int64_t stop = start + run < n ? start + run : n;
        for (int64_t i = start + 1; i < stop; i++) {
            double value = values[i];
            int32_t place = places[i];
            int64_t j = i;
            for (; j > start && values[j - 1] > value; j--) {
                values[j] = values[j - 1];
                places[j] = places[j - 1];
            }
            values[j] = value;
            places[j] = place;
        }
    }
    for (int64_t width = run; width < n; width *= 2) {
        for (int64_t start = 0; start + width < n; start += 2 * width) {
            int64_t middle = start + width;
            int64_t stop = middle + width < n ? middle + width : n;
            int64_t a = 0, b = middle, out = start;
            if (values[middle - 1] <= values[middle]) continue;
            memcpy(spare, values + start, width * sizeof(double));
            memcpy(spare_places, places + start, width * sizeof(int32_t));
            while (a < width) {
                int from_right = b < stop && values[b] < spare[a];
                values[out] = from_right ? values[b] : spare[a];
                places[out++] = from_right ? places[b++] : spare_places[a++];
            }
        }
    }
}

#endif
