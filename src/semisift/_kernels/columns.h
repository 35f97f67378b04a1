/* Columns of X, dense (one after the other) or CSC, float32 or float64, behind three functions.

   A set of rows is a bit mask: row i is bit i % 64 of word i / 64; bits past the last row are 0. */
#ifndef SEMISIFT_COLUMNS_H
#define SEMISIFT_COLUMNS_H

#include <math.h>
#include <string.h>
#include "portable.h"

typedef struct {
    int64_t n_rows;
    int is_float32;
    int is_sparse;
    int has_missing;            /* whether a dense X has NaN: a value that is not there */
    const void *values;      /* dense: column after column; sparse: the stored entries */
    const int32_t *indices;  /* sparse only: rows, ascending within a column */
    const int64_t *indptr;
} columns_t;

static inline double stored_value(const columns_t *columns, int64_t at) {
    return columns->is_float32 ? (double)((const float *)columns->values)[at]
                               : ((const double *)columns->values)[at];
}

/* The first stored entry of a sparse column at or after `row`. */
static inline int64_t first_entry(const columns_t *columns, int64_t column, int32_t row) {
    int64_t low = columns->indptr[column], high = columns->indptr[column + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (columns->indices[middle] < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

static inline double column_value(const columns_t *columns, int64_t column, int32_t row) {
    if (!columns->is_sparse) return stored_value(columns, column * columns->n_rows + row);
    int64_t at = first_entry(columns, column, row);
    if (at < columns->indptr[column + 1] && columns->indices[at] == row)
        return stored_value(columns, at);
    return 0.0;
}

/* out[j] = value of the column in rows[j]; position[rows[j]] == j, and -1 for every other row.
   Returns 0, and leaves out as it is, if the column is constant on these rows. */
static inline int gather_column(const columns_t *columns, int64_t column, const int32_t *rows,
                                 int n, const int32_t *position, double *out) {
    int varies = 0;
    if (!columns->is_sparse) {
        int64_t start = column * columns->n_rows;
        for (int j = 0; j < n; j++) out[j] = stored_value(columns, start + rows[j]);
        for (int j = 1; j < n; j++) varies |= out[j] != out[0];
        return varies;
    }
    int64_t start = columns->indptr[column], stop = columns->indptr[column + 1];
    if (stop - start > 16 * (int64_t)n) {
        for (int j = 0; j < n; j++) out[j] = column_value(columns, column, rows[j]);
        for (int j = 1; j < n; j++) varies |= out[j] != out[0];
        return varies;
    }
    /* in text most columns are 0 in all rows of a small bag */
    int64_t at = start;
    while (at < stop && position[columns->indices[at]] < 0) at++;
    if (at == stop) return 0;
    for (int j = 0; j < n; j++) out[j] = 0.0;
    for (; at < stop; at++) {
        int32_t j = position[columns->indices[at]];
        if (j >= 0) out[j] = stored_value(columns, at);
    }
    for (int j = 1; j < n; j++) varies |= out[j] != out[0];
    return varies;
}

SEMISIFT_CLONES static int64_t count_rows(const uint64_t *rows, int64_t n_words) {
    int64_t count = 0;
    for (int64_t w = 0; w < n_words; w++) count += semisift_popcount(rows[w]);
    return count;
}

/* Eight bytes of 0 or 1 to eight bits. */
static inline uint64_t pack_bytes(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return (word * 0x0102040810204080ULL) >> 56;
}

/* Without missing values the two tests are one; a missing value passes only the second. */
#define AT_MOST(x, threshold) ((x) <= (threshold))
#define NOT_ABOVE(x, threshold) (!((x) > (threshold)))

#define SEMISIFT_MASK(name, type, TEST)                                                       \
    SEMISIFT_CLONES static void name(const type *x, int64_t n, type threshold, uint64_t *out) { \
        uint8_t below[64];                                                                    \
        for (int64_t start = 0; start < n; start += 64) {                                     \
            int64_t length = n - start < 64 ? n - start : 64;                                 \
            if (length == 64) {                                                               \
                for (int i = 0; i < 64; i++) below[i] = TEST(x[start + i], threshold);        \
            } else {                                                                          \
                memset(below, 0, 64);                                                         \
                for (int i = 0; i < length; i++) below[i] = TEST(x[start + i], threshold);    \
            }                                                                                 \
            uint64_t word = 0;                                                                \
            for (int i = 0; i < 8; i++) word |= pack_bytes(below + 8 * i) << (8 * i);         \
            out[start / 64] = word;                                                           \
        }                                                                                     \
    }

SEMISIFT_MASK(mask_at_most_float32, float, AT_MOST)
SEMISIFT_MASK(mask_at_most_float64, double, AT_MOST)
SEMISIFT_MASK(mask_not_above_float32, float, NOT_ABOVE)
SEMISIFT_MASK(mask_not_above_float64, double, NOT_ABOVE)

/* Whether a row with this value goes left at a split. */
static inline int goes_left(double value, double threshold, int missing_left) {
    return missing_left ? NOT_ABOVE(value, threshold) : AT_MOST(value, threshold);
}

/* The rows that go left: those whose value is at most the threshold and, with `missing_left`, those
   without a value. */
static inline void column_mask(const columns_t *columns, int64_t column, double threshold,
                               int missing_left, uint64_t *out) {
    int64_t n = columns->n_rows, n_words = (n + 63) / 64;
    if (!columns->is_sparse) {
        if (columns->is_float32) {
            const float *values = (const float *)columns->values + column * n;
            /* rounding the threshold down changes no comparison with a float32 */
            float below = (float)threshold;
            if ((double)below > threshold) below = nextafterf(below, -INFINITY);
            if (missing_left) mask_not_above_float32(values, n, below, out);
            else mask_at_most_float32(values, n, below, out);
        } else {
            const double *values = (const double *)columns->values + column * n;
            if (missing_left) mask_not_above_float64(values, n, threshold, out);
            else mask_at_most_float64(values, n, threshold, out);
        }
        return;
    }
    int zeros_below = 0.0 <= threshold;
    memset(out, zeros_below ? 0xFF : 0, n_words * sizeof(uint64_t));
    if (zeros_below && n % 64) out[n_words - 1] = (1ULL << (n % 64)) - 1;
    for (int64_t at = columns->indptr[column]; at < columns->indptr[column + 1]; at++) {
        if ((stored_value(columns, at) <= threshold) == zeros_below) continue;
        int32_t row = columns->indices[at];
        out[row >> 6] ^= 1ULL << (row & 63);
    }
}

#define SEMISIFT_SPLIT_ROWS(name, type, TEST)                                                    \
    static int64_t name(const type *x, double threshold, int32_t *rows, int64_t n, int32_t *right) { \
        int64_t n_left = 0, n_right = 0;                                                      \
        for (int64_t i = 0; i < n; i++) {                                                     \
            int32_t row = rows[i];                                                            \
            int below = TEST((double)x[row], threshold);                                      \
            rows[n_left] = row;                                                               \
            right[n_right] = row;                                                             \
            n_left += below;                                                                  \
            n_right += !below;                                                                \
        }                                                                                     \
        memcpy(rows + n_left, right, n_right * sizeof(int32_t));                              \
        return n_left;                                                                        \
    }

SEMISIFT_SPLIT_ROWS(split_at_most_float32, float, AT_MOST)
SEMISIFT_SPLIT_ROWS(split_at_most_float64, double, AT_MOST)
SEMISIFT_SPLIT_ROWS(split_not_above_float32, float, NOT_ABOVE)
SEMISIFT_SPLIT_ROWS(split_not_above_float64, double, NOT_ABOVE)

/* Bring the rows that go left, as in `column_mask`, to the front, both parts in their order; returns
   their number. `right` has room for all of them. */
static inline int64_t split_rows(const columns_t *columns, int64_t column, double threshold,
                                 int missing_left, int32_t *rows, int64_t n, int32_t *right) {
    if (!columns->is_sparse) {
        int64_t start = column * columns->n_rows;
        if (columns->is_float32) {
            const float *values = (const float *)columns->values + start;
            return missing_left ? split_not_above_float32(values, threshold, rows, n, right)
                             : split_at_most_float32(values, threshold, rows, n, right);
        }
        const double *values = (const double *)columns->values + start;
        return missing_left ? split_not_above_float64(values, threshold, rows, n, right)
                         : split_at_most_float64(values, threshold, rows, n, right);
    }
    int64_t n_left = 0, n_right = 0;
    for (int64_t i = 0; i < n; i++) {
        if (column_value(columns, column, rows[i]) <= threshold) rows[n_left++] = rows[i];
        else right[n_right++] = rows[i];
    }
    memcpy(rows + n_left, right, n_right * sizeof(int32_t));
    return n_left;
}

#endif
