/* Split search on small bags, for many columns side by side.

   A bag is a matrix of codes, one row of bytes for each training row: within a column, a code orders
   the values, and equal values share a code. The training rows of a node come class by class. The
   total weight is at most 255, so that counts fit into bytes and sums of squared counts into 16 bits.

   A split is scored by sum_k L_k^2 / n_L + sum_k R_k^2 / n_R (the largest has the lowest Gini
   impurity), computed as ONE division of integers that float64 holds exactly: equal scores are equal
   bits, whatever the order of the classes, the sides or the instruction set. */
#ifndef SEMISIFT_SPLITS_H
#define SEMISIFT_SPLITS_H

#include <string.h>
#include "portable.h"

#define LANES 32

static inline double split_score(double squares_left, double n_left, double squares_right,
                                 double n_right) {
    return (squares_left * n_right + squares_right * n_left) / (n_left * n_right);
}

#if defined(__GNUC__)
typedef uint8_t bytes_t __attribute__((vector_size(LANES)));
typedef uint8_t half_bytes_t __attribute__((vector_size(LANES / 2)));
typedef uint16_t half_words_t __attribute__((vector_size(LANES)));

static inline bytes_t load_lanes(const uint8_t *from) {
    bytes_t lanes;
    memcpy(&lanes, from, LANES);
    return lanes;
}

/* The first or the second half of the lanes, as 16-bit numbers. */
static inline half_words_t widen_half(const bytes_t *lanes, int second) {
    half_bytes_t half;
    memcpy(&half, (const uint8_t *)lanes + second * (LANES / 2), LANES / 2);
    return __builtin_convertvector(half, half_words_t);
}

static inline void widen_range(bytes_t *lowest, bytes_t *highest, bytes_t row) {
    bytes_t above = (bytes_t)(row > *highest), below = (bytes_t)(row < *lowest);
    *highest = (row & above) | (*highest & ~above);
    *lowest = (row & below) | (*lowest & ~below);
}

/* separates[c] = 1 where column c splits a node of two classes perfectly; returns how many do. */
SEMISIFT_CLONES static int separating_columns(const uint8_t *codes, int stride, int n_columns,
                                              const int32_t *rows, int n_first, int n,
                                              uint8_t *separates) {
    int found = 0;
    for (int block = 0; block < n_columns; block += LANES) {
        const uint8_t *start = codes + block;
        bytes_t highest = load_lanes(start + (int64_t)rows[0] * stride), lowest = highest;
        for (int i = 1; i < n_first; i++) {
            bytes_t row = load_lanes(start + (int64_t)rows[i] * stride);
            widen_range(&lowest, &highest, row);
        }
        bytes_t highest_2 = load_lanes(start + (int64_t)rows[n_first] * stride), lowest_2 = highest_2;
        for (int i = n_first + 1; i < n; i++) {
            bytes_t row = load_lanes(start + (int64_t)rows[i] * stride);
            widen_range(&lowest_2, &highest_2, row);
        }
        bytes_t apart = ((bytes_t)(highest < lowest_2) | (bytes_t)(highest_2 < lowest)) & 1;
        memcpy(separates + block, &apart, LANES);
        int end = n_columns - block < LANES ? n_columns - block : LANES;
        for (int c = 0; c < end; c++) found += separates[block + c];
    }
    return found;
}

/* best[c] = the best score of any split of the node on column c, -1 where the column is constant.
   Classes come in runs: class k has the rows up to run_end[k], of total weight run_weight[k]. */
SEMISIFT_CLONES static void column_scores(const uint8_t *codes, int stride, int n_columns,
                                          const int32_t *rows, const uint8_t *weights, int n,
                                          const int32_t *run_end, const int32_t *run_weight,
                                          int n_runs, int total, double *best) {
    for (int block = 0; block < n_columns; block += LANES) {
        const uint8_t *start = codes + block;
        for (int c = 0; c < LANES; c++) best[block + c] = -1.0;
        for (int r = 0; r < n; r++) {
            bytes_t candidate = load_lanes(start + (int64_t)rows[r] * stride);
            bytes_t n_left = {0};
            half_words_t left_1 = {0}, left_2 = {0}, right_1 = {0}, right_2 = {0};
            int i = 0;
            for (int k = 0; k < n_runs; k++) {
                bytes_t left = {0};
                for (; i < run_end[k]; i++) {
                    bytes_t row = load_lanes(start + (int64_t)rows[i] * stride);
                    left += (bytes_t)(row <= candidate) & weights[i];
                }
                n_left += left;
                half_words_t first = widen_half(&left, 0), second = widen_half(&left, 1);
                left_1 += first * first;
                left_2 += second * second;
                first = (uint16_t)run_weight[k] - first;
                second = (uint16_t)run_weight[k] - second;
                right_1 += first * first;
                right_2 += second * second;
            }
            uint16_t squares_left[LANES], squares_right[LANES];
            uint8_t here[LANES];
            memcpy(here, &n_left, LANES);
            memcpy(squares_left, &left_1, LANES);
            memcpy(squares_left + LANES / 2, &left_2, LANES);
            memcpy(squares_right, &right_1, LANES);
            memcpy(squares_right + LANES / 2, &right_2, LANES);
            for (int c = 0; c < LANES; c++) {
                int32_t on_left = here[c], on_right = total - on_left;
                int32_t above = squares_left[c] * on_right + squares_right[c] * on_left;
                /* nothing on the right: 0 / 0, which no comparison prefers */
                double score = (double)above / (double)(on_left * on_right);
                best[block + c] = score > best[block + c] ? score : best[block + c];
            }
        }
    }
}

#else /* other compilers: the same, a column at a time */

static int separating_columns(const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
                              int n_first, int n, uint8_t *separates) {
    int found = 0;
    for (int c = 0; c < n_columns; c++) {
        int lowest[2] = {256, 256}, highest[2] = {-1, -1};
        for (int i = 0; i < n; i++) {
            int code = codes[(int64_t)rows[i] * stride + c], second = i >= n_first;
            if (code < lowest[second]) lowest[second] = code;
            if (code > highest[second]) highest[second] = code;
        }
        separates[c] = highest[0] < lowest[1] || highest[1] < lowest[0];
        found += separates[c];
    }
    return found;
}

static void column_scores(const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
                          const uint8_t *weights, int n, const int32_t *run_end,
                          const int32_t *run_weight, int n_runs, int total, double *best) {
    for (int c = 0; c < n_columns; c++) {
        best[c] = -1.0;
        for (int r = 0; r < n; r++) {
            int candidate = codes[(int64_t)rows[r] * stride + c], i = 0;
            double n_left = 0, squares_left = 0, squares_right = 0;
            for (int k = 0; k < n_runs; k++) {
                int left = 0;
                for (; i < run_end[k]; i++)
                    if (codes[(int64_t)rows[i] * stride + c] <= candidate) left += weights[i];
                n_left += left;
                squares_left += (double)left * left;
                squares_right += (double)(run_weight[k] - left) * (run_weight[k] - left);
            }
            if (n_left == total) continue;
            double score = split_score(squares_left, n_left, squares_right, total - n_left);
            best[c] = score > best[c] ? score : best[c];
        }
    }
}

#endif

typedef struct { double value; int32_t position; } entry_t;

/* Ascending by value; the order among equal values is of no consequence. */
static void sort_entries(entry_t *entries, int64_t n) {
    while (n > 16) {
        double a = entries[0].value, b = entries[n / 2].value, c = entries[n - 1].value;
        double pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
        int64_t low = 0, high = n - 1;
        while (low <= high) {
            while (entries[low].value < pivot) low++;
            while (entries[high].value > pivot) high--;
            if (low <= high) {
                entry_t swapped = entries[low];
                entries[low++] = entries[high];
                entries[high--] = swapped;
            }
        }
        if (high + 1 < n - low) {
            sort_entries(entries, high + 1);
            entries += low;
            n -= low;
        } else {
            sort_entries(entries + low, n - low);
            n = high + 1;
        }
    }
    for (int64_t i = 1; i < n; i++) {
        entry_t moving = entries[i];
        int64_t j = i;
        for (; j > 0 && entries[j - 1].value > moving.value; j--) entries[j] = entries[j - 1];
        entries[j] = moving;
    }
}

/* code of a value = how many values of the column are smaller */
SEMISIFT_CLONES static void rank_column(const double *values, int n, uint8_t *codes, int stride) {
    for (int j = 0; j < n; j++) {
        int64_t smaller = 0;
        double value = values[j];
        for (int i = 0; i < n; i++) smaller += values[i] < value;
        codes[(int64_t)j * stride] = (uint8_t)smaller;
    }
}

#endif
