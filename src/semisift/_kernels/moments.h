/* Mean and sum of squares of columns, added up row by row. */
#ifndef SEMISIFT_MOMENTS_H
#define SEMISIFT_MOMENTS_H

#include <math.h>
#include "columns.h"

/* Columns at once: a sum waits for its last addition, those of other columns need not. */
#define ADDED_AT_ONCE 4

#define SEMISIFT_MOMENTS(name, type)                                                            \
    SEMISIFT_INLINED void name(const type *const *x, const int32_t *rows, int64_t n,            \
                               const double *unit, int exact, double *mean, double *squares) {  \
        double sum[ADDED_AT_ONCE] = {0}, square[ADDED_AT_ONCE] = {0}, zeros[ADDED_AT_ONCE] = {0}; \
        double factor[ADDED_AT_ONCE];                                                           \
        for (int c = 0; c < ADDED_AT_ONCE; c++) factor[c] = exact ? 1.0 / unit[c] : unit[c];    \
        for (int64_t i = 0; i < n; i++) {                                                       \
            int64_t row = rows ? rows[i] : i;                                                   \
            for (int c = 0; c < ADDED_AT_ONCE; c++) {                                           \
                double value = (double)x[c][row];                                               \
                sum[c] += exact ? value * factor[c] : value / factor[c];                        \
            }                                                                                   \
        }                                                                                       \
        for (int c = 0; c < ADDED_AT_ONCE; c++) mean[c] = sum[c] / (double)n;                   \
        for (int64_t i = 0; i < n; i++) {                                                       \
            int64_t row = rows ? rows[i] : i;                                                   \
            for (int c = 0; c < ADDED_AT_ONCE; c++) {                                           \
                double value = (double)x[c][row];                                               \
                double from_mean = (exact ? value * factor[c] : value / factor[c]) - mean[c];   \
                double added = from_mean * from_mean;                                           \
                square[c] += value == 0 ? 0.0 : added;                                          \
                zeros[c] += value == 0 ? 1.0 : 0.0;                                             \
            }                                                                                   \
        }                                                                                       \
        for (int c = 0; c < ADDED_AT_ONCE; c++)                                                 \
            squares[c] = square[c] + zeros[c] * (mean[c] * mean[c]);                            \
    }                                                                                           \
    static void name##_any(const type *const *x, const int32_t *rows, int64_t n,                \
                           const double *unit, int exact, double *mean, double *squares) {      \
        if (!exact) name(x, rows, n, unit, 0, mean, squares);                                   \
        else if (rows) name(x, rows, n, unit, 1, mean, squares);                                \
        else name(x, NULL, n, unit, 1, mean, squares);                                          \
    }

SEMISIFT_MOMENTS(moments_float32, float)
SEMISIFT_MOMENTS(moments_float64, double)

/* A division by a power of two is a multiplication: the same bits, and faster. */
static inline int divides_exactly(double unit) {
    int exponent;
    return frexp(unit, &exponent) == 0.5 && -1000 < exponent && exponent < 1000;
}

static inline void column_moments(const columns_t *columns, int64_t n_columns, const int32_t *rows,
                                  int64_t n, const double *unit, double *mean, double *squares) {
    for (int64_t start = 0; start < n_columns; start += ADDED_AT_ONCE) {
        const void *x[ADDED_AT_ONCE];
        double own[ADDED_AT_ONCE], m[ADDED_AT_ONCE], s[ADDED_AT_ONCE];
        int exact = 1;
        int64_t size = columns->is_float32 ? sizeof(float) : sizeof(double);
        for (int c = 0; c < ADDED_AT_ONCE; c++) {
            int64_t column = start + c < n_columns ? start + c : n_columns - 1;
            x[c] = (const char *)columns->values + column * columns->n_rows * size;
            own[c] = unit[column];
            exact &= divides_exactly(unit[column]);
        }
        if (columns->is_float32)
            moments_float32_any((const float *const *)x, rows, n, own, exact, m, s);
        else
            moments_float64_any((const double *const *)x, rows, n, own, exact, m, s);
        for (int c = 0; c < ADDED_AT_ONCE && start + c < n_columns; c++) {
            mean[start + c] = m[c];
            squares[start + c] = s[c];
        }
    }
}

#endif
