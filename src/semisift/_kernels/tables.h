/* Tables of counts: how often each bin of a column meets each value of another variable. */
#ifndef SEMISIFT_TABLES_H
#define SEMISIFT_TABLES_H

#include <string.h>
#include "portable.h"

/* counts[v][b] = rows of value v in bin b of the column. What is left in the last value and the last
   bin is subtracted rather than counted. */
SEMISIFT_INLINED void count_by_masks(
    const uint64_t *bins, const int32_t *bin_sizes, int64_t n_bins, const uint64_t *marks,
    const int32_t *sizes, int64_t n_values, int64_t n_words, int32_t *counts) {
    int32_t *last = counts + (n_values - 1) * n_bins;
    memcpy(last, bin_sizes, n_bins * sizeof(int32_t));
    for (int64_t v = 0; v < n_values - 1; v++) {
        int32_t *row = counts + v * n_bins, left = sizes[v];
        for (int64_t b = 0; b < n_bins - 1; b++) {
            int32_t count = 0;
            for (int64_t w = 0; w < n_words; w++)
                count += semisift_popcount(bins[b * n_words + w] & marks[v * n_words + w]);
            row[b] = count;
            left -= count;
            last[b] -= count;
        }
        row[n_bins - 1] = left;
        last[n_bins - 1] -= left;
    }
}

static inline void count_by_rows(const uint64_t *bins, int64_t n_bins, const int32_t *values,
                                 int64_t n_values, int64_t n_words, int32_t *counts) {
    memset(counts, 0, n_values * n_bins * sizeof(int32_t));
    for (int64_t b = 0; b < n_bins; b++)
        for (int64_t w = 0; w < n_words; w++)
            for (uint64_t bits = bins[b * n_words + w]; bits; bits &= bits - 1)
                counts[values[w * 64 + semisift_lowest_bit(bits)] * n_bins + b]++;
}

/* From so many values on, rows are counted one by one. */
#define MAX_MASKED_VALUES 32

/* sum k log k over (f, y, s) - over (f, s) of each column f; values are s * n_y + y. The terms are
   added in the order of the values and then of the bins. */
SEMISIFT_CLONES static void information_sums(
    const uint64_t *bits, const int32_t *bin_sizes, int64_t n_columns, int64_t n_bins,
    int64_t n_words, const int32_t *values, const uint64_t *marks, const int32_t *sizes, int64_t n_s,
    int64_t n_y, const double *k_log_k, int32_t *counts, double *out) {
    int64_t n_values = n_s * n_y;
    int by_rows = n_values > MAX_MASKED_VALUES;
    for (int64_t j = 0; j < n_columns; j++) {
        const uint64_t *bins = bits + j * n_bins * n_words;
        const int32_t *own = bin_sizes + j * n_bins;
        if (by_rows)
            count_by_rows(bins, n_bins, values, n_values, n_words, counts);
        else if (n_words == 1)
            count_by_masks(bins, own, n_bins, marks, sizes, n_values, 1, counts);
        else if (n_words == 2)
            count_by_masks(bins, own, n_bins, marks, sizes, n_values, 2, counts);
        else
            count_by_masks(bins, own, n_bins, marks, sizes, n_values, n_words, counts);
        double joint = 0, with_s = 0;
        for (int64_t i = 0; i < n_values * n_bins; i++) joint += k_log_k[counts[i]];
        for (int64_t s = 0; s < n_s; s++)
            for (int64_t b = 0; b < n_bins; b++) {
                int32_t count = 0;
                for (int64_t y = 0; y < n_y; y++) count += counts[(s * n_y + y) * n_bins + b];
                with_s += k_log_k[count];
            }
        out[j] = joint - with_s;
    }
}

#endif
