/* The least and the largest value of a column. */
#ifndef SEMISIFT_EXTREMES_H
#define SEMISIFT_EXTREMES_H

#include "columns.h"

#if defined(__GNUC__) && !defined(SEMISIFT_PLAIN_C)
typedef float float32s_t __attribute__((vector_size(32), aligned(4)));
typedef int32_t mask32s_t __attribute__((vector_size(32)));
typedef double float64s_t __attribute__((vector_size(32), aligned(8)));
typedef int64_t mask64s_t __attribute__((vector_size(32)));

#define SEMISIFT_CHOOSE(mask, a, b, vector, masks) \
    (vector)(((masks)(a) & (mask)) | ((masks)(b) & ~(mask)))

/* Whole vectors first: a compiler keeps to the order of single values, at a third of the speed. */
#define SEMISIFT_EXTREMES_OF_VECTORS(type, vector, masks)                                     \
    enum { WIDTH = sizeof(vector) / sizeof(type) };                                           \
    if (n >= WIDTH) {                                                                         \
        vector lows = *(const vector *)x, highs = lows, nothings = lows - lows;               \
        for (i = WIDTH; i + WIDTH <= n; i += WIDTH) {                                         \
            vector values = *(const vector *)(x + i);                                         \
            lows = SEMISIFT_CHOOSE(values < lows, values, lows, vector, masks);               \
            highs = SEMISIFT_CHOOSE(values > highs, values, highs, vector, masks);            \
            nothings += values - values;                                                      \
        }                                                                                     \
        for (int l = 0; l < WIDTH; l++) {                                                     \
            least = lows[l] < least ? lows[l] : least;                                        \
            largest = highs[l] > largest ? highs[l] : largest;                                \
            nothing += nothings[l];                                                           \
        }                                                                                     \
    }
#else
#define SEMISIFT_EXTREMES_OF_VECTORS(type, vector, masks)
#endif

/* The least and the largest of n > 0 values; NaN if one of them is not finite. */
#define SEMISIFT_EXTREMES(name, type, vector, masks)                                          \
    SEMISIFT_CLONES static void name(const type *x, int64_t n, double *low, double *high) {   \
        type least = x[0], largest = x[0], nothing = 0; /* NaN from what is not finite */     \
        int64_t i = 0;                                                                        \
        SEMISIFT_EXTREMES_OF_VECTORS(type, vector, masks)                                     \
        for (; i < n; i++) {                                                                  \
            least = x[i] < least ? x[i] : least;                                              \
            largest = x[i] > largest ? x[i] : largest;                                        \
            nothing += x[i] - x[i];                                                           \
        }                                                                                     \
        *low = least + nothing;                                                               \
        *high = largest + nothing;                                                            \
    }

SEMISIFT_EXTREMES(extremes_float32, float, float32s_t, mask32s_t)
SEMISIFT_EXTREMES(extremes_float64, double, float64s_t, mask64s_t)

static inline void column_extremes(const columns_t *columns, int64_t column, double *low,
                                   double *high) {
    int64_t n = columns->n_rows, start = column * n;
    if (columns->is_sparse) {
        start = columns->indptr[column];
        n = columns->indptr[column + 1] - start;
    }
    *low = *high = 0.0;
    if (n && columns->is_float32)
        extremes_float32((const float *)columns->values + start, n, low, high);
    else if (n)
        extremes_float64((const double *)columns->values + start, n, low, high);
    if (n < columns->n_rows) {
        *low = *low > 0.0 ? 0.0 : *low;
        *high = *high < 0.0 ? 0.0 : *high;
    }
}

#endif
