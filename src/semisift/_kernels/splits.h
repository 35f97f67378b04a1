/* Split search on small bags, for many columns side by side.

   A bag is a matrix of codes, one row of bytes for each training row: within a column, a code orders
   the values, and equal values share a code. The training rows of a node come class by class. The
   total weight is at most 255, so that counts fit into bytes and sums of squared counts into 16 bits.

   Where columns have missing values, rows without a value have the code 255, which no value has then. For each
   threshold they go to the side that has more (weighted) rows with a value, to the left of equal ones.

   A split is scored by sum_k L_k^2 / n_L + sum_k R_k^2 / n_R (the largest has the lowest Gini
   impurity), computed as ONE division of integers that float64 holds exactly: equal scores are equal
   bits, whatever the order of the classes, the sides or the instruction set. */
#ifndef SEMISIFT_SPLITS_H
#define SEMISIFT_SPLITS_H

#include <string.h>
#include "portable.h"

#define LANES 32
#define GAP_CODE 255

static inline double split_score(double squares_left, double n_left, double squares_right,
                                 double n_right) {
    return (squares_left * n_right + squares_right * n_left) / (n_left * n_right);
}

/* Up to this many rows, all thresholds side by side beat a sweep over sorted columns. */
#if defined(__GNUC__) && !defined(SEMISIFT_PLAIN_C)
#define SIDE_BY_SIDE_ROWS 255
#pragma GCC diagnostic ignored "-Wpsabi"  /* none of these functions is called from outside */
typedef int8_t codes_t __attribute__((vector_size(LANES)));
typedef uint8_t bytes_t __attribute__((vector_size(LANES)));
typedef uint16_t words_t __attribute__((vector_size(LANES)));

/* Codes are compared as signed bytes, which every instruction set can do at once. */
static inline codes_t load_codes(const uint8_t *from) {
    bytes_t lanes;
    memcpy(&lanes, from, LANES);
    return (codes_t)(lanes ^ 0x80);
}

/* As they are loaded: the lowest code, and that of missing values, the highest. */
#define LOWEST ((int8_t)-128)
#define GAP ((int8_t)(GAP_CODE ^ 0x80))

static inline void widen_range(codes_t *lowest, codes_t *highest, codes_t row) {
    codes_t above = row > *highest, below = row < *lowest;
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
        codes_t highest = load_codes(start + (int64_t)rows[0] * stride), lowest = highest;
        for (int i = 1; i < n_first; i++)
            widen_range(&lowest, &highest, load_codes(start + (int64_t)rows[i] * stride));
        codes_t highest_2 = load_codes(start + (int64_t)rows[n_first] * stride);
        codes_t lowest_2 = highest_2;
        for (int i = n_first + 1; i < n; i++)
            widen_range(&lowest_2, &highest_2, load_codes(start + (int64_t)rows[i] * stride));
        codes_t apart = ((highest < lowest_2) | (highest_2 < lowest)) & 1;
        memcpy(separates + block, &apart, LANES);
        int end = n_columns - block < LANES ? n_columns - block : LANES;
        for (int c = 0; c < end; c++) found += separates[block + c];
    }
    return found;
}

/* The same where columns have missing values. Those of one class only are no hindrance where its rows with a
   value weigh more, or as much on the left. */
SEMISIFT_CLONES static int separating_with_missing(const uint8_t *codes, int stride, int n_columns,
                                                   const int32_t *rows, const uint8_t *weights,
                                                   int n_first, int n, uint8_t *separates) {
    int found = 0;
    for (int block = 0; block < n_columns; block += LANES) {
        codes_t highest[2], lowest[2];
        bytes_t held[2], missing[2];
        for (int i = 0, second = 0; second < 2; second++) {
            highest[second] = (codes_t){0} + LOWEST;
            lowest[second] = (codes_t){0} + GAP;
            held[second] = missing[second] = (bytes_t){0};
            for (; i < (second ? n : n_first); i++) {
                codes_t row = load_codes(codes + block + (int64_t)rows[i] * stride);
                codes_t is_missing = row == GAP, above = (row > highest[second]) & ~is_missing;
                codes_t below = row < lowest[second];
                highest[second] = (row & above) | (highest[second] & ~above);
                lowest[second] = (row & below) | (lowest[second] & ~below);
                missing[second] += weights[i] & (bytes_t)is_missing;
                held[second] += weights[i] & (bytes_t)~is_missing;
            }
        }
        codes_t none_in_first = (codes_t)(missing[0] == 0), none_in_second = (codes_t)(missing[1] == 0);
        codes_t heavier = (codes_t)(held[0] > held[1]), as_heavy = (codes_t)(held[0] >= held[1]);
        codes_t on_the_left = (none_in_second & as_heavy) | (none_in_first & ~as_heavy);
        codes_t on_the_right = (none_in_second & heavier) | (none_in_first & ~heavier);
        codes_t apart = ((highest[0] < lowest[1]) & on_the_left)
                        | ((highest[1] < lowest[0]) & on_the_right);
        apart &= (codes_t)((held[0] != 0) & (held[1] != 0)) & 1;
        memcpy(separates + block, &apart, LANES);
        int end = n_columns - block < LANES ? n_columns - block : LANES;
        for (int c = 0; c < end; c++) found += separates[block + c];
    }
    return found;
}

typedef uint32_t uints_t __attribute__((vector_size(LANES)));
typedef int32_t ints_t __attribute__((vector_size(LANES)));
typedef int32_t four_ints_t __attribute__((vector_size(16)));
typedef double four_doubles_t __attribute__((vector_size(32)));
typedef int64_t four_masks_t __attribute__((vector_size(32)));

/* best = the larger of it and of the scores of eight splits, one to a lane, that put `right` rows on
   the right, where squares are sum_k R_k^2, products sum_k T_k R_k, and T_k the weight of class k.
   Written out in vectors: compilers turn the plain loop into scalar code. */
static inline __attribute__((always_inline)) void keep_best(
    ints_t right, ints_t squares, ints_t products, int32_t total, int32_t total_squares,
    double *best) {
    ints_t left = total - right;
    ints_t above = (total_squares - 2 * products + squares) * right + squares * left;
    ints_t below = left * right;
    for (int half = 0; half < 2; half++) {
        four_ints_t numerator, denominator;
        four_doubles_t known;
        memcpy(&numerator, (const int32_t *)&above + 4 * half, 16);
        memcpy(&denominator, (const int32_t *)&below + 4 * half, 16);
        memcpy(&known, best + 4 * half, 32);
        /* all rows on one side: 0 / 0, which no comparison prefers */
        four_doubles_t score = __builtin_convertvector(numerator, four_doubles_t) /
                               __builtin_convertvector(denominator, four_doubles_t);
        four_masks_t larger = score > known;
        known = (four_doubles_t)(((four_masks_t)score & larger) | ((four_masks_t)known & ~larger));
        memcpy(best + 4 * half, &known, 32);
    }
}

/* Even and odd lanes of counts and of sums over the classes, as 16-bit numbers. */
typedef struct { words_t even, odd; } sums_t;

/* best[c] = the best score of any split of the node on column c, -1 where the column is constant.
   Classes come in runs: class k has the rows up to run_end[k], of total weight run_weight[k]. */
SEMISIFT_INLINED void scores_of_columns(const uint8_t *codes, int stride, int n_columns,
                                        const int32_t *rows, const uint8_t *weights, int n,
                                        const int32_t *run_weight, int n_runs, int total,
                                        double *best, const int has_missing) {
    codes_t block_rows[255];  /* a row of weight w stands there w times */
    bytes_t missing[255], rights[255];  /* of each class */
    int32_t last_of_run[255], total_squares = 0;
    for (int k = 0, end = 0; k < n_runs; k++) {
        end += run_weight[k];
        last_of_run[k] = end;
        total_squares += run_weight[k] * run_weight[k];
    }
    for (int block = 0; block < n_columns; block += LANES) {
        double block_best[LANES];  /* in the order in which lanes are split up below */
        int8_t highest_code[LANES];
        codes_t lowest = load_codes(codes + block + (int64_t)rows[0] * stride), highest = lowest;
        if (has_missing) highest = (codes_t){0} + LOWEST;
        for (int i = 0, end = 0; i < n; i++) {
            codes_t row = load_codes(codes + block + (int64_t)rows[i] * stride);
            codes_t is_missing = has_missing ? row == GAP : (codes_t){0};
            widen_range(&lowest, &highest, has_missing ? (row & ~is_missing) | (is_missing & LOWEST) : row);
            for (int w = 0; w < weights[i]; w++) block_rows[end++] = row;
        }
        bytes_t all_gaps = {0}, half = {0};
        if (has_missing) {
            for (int k = 0, i = 0; k < n_runs; k++) {
                missing[k] = (bytes_t){0};
                for (; i < last_of_run[k]; i++) missing[k] -= (bytes_t)(block_rows[i] == GAP);
                all_gaps += missing[k];
            }
            half = ((uint8_t)total - all_gaps) >> 1;
        }
        /* candidates: the code of each row, or each code where the columns have only a few */
        int n_codes = -128;
        memcpy(highest_code, &highest, LANES);
        for (int c = 0; c < LANES; c++) {
            block_best[c] = -1.0;
            if (highest_code[c] > n_codes) n_codes = highest_code[c];
        }
        n_codes += 128;
        int by_code = n_codes < n, n_candidates = by_code ? n_codes : n;
        for (int r = 0, at = 0; r < n_candidates; at += weights[r++]) {
            codes_t candidate = by_code ? (codes_t){0} + (int8_t)(r - 128) : block_rows[at];
            sums_t counts = {{0}, {0}}, squares = {{0}, {0}}, products = {{0}, {0}};
            bytes_t all_right = {0}, missing_left = {0};
            int i = 0;
            if (has_missing) {  /* where they go depends on all classes */
                for (int k = 0; k < n_runs; k++) {
                    rights[k] = (bytes_t){0};
#pragma GCC unroll 2
                    for (; i < last_of_run[k]; i++)
                        rights[k] -= (bytes_t)(block_rows[i] > candidate);
                    all_right += rights[k];
                }
                /* no row is above a missing value, which is no threshold */
                missing_left = (bytes_t)((all_right - all_gaps <= half) & ~(candidate == GAP));
            }
            for (int k = 0; k < n_runs; k++) {
                bytes_t right = {0};
                if (has_missing) {
                    right = rights[k] - (missing[k] & missing_left);
                } else {
#pragma GCC unroll 2
                    for (; i < last_of_run[k]; i++) right -= (bytes_t)(block_rows[i] > candidate);
                }
                words_t even = (words_t)right & 0xFF, odd = (words_t)right >> 8;
                counts.even += even;
                counts.odd += odd;
                squares.even += even * even;
                squares.odd += odd * odd;
                products.even += even * (uint16_t)run_weight[k];
                products.odd += odd * (uint16_t)run_weight[k];
            }
            for (int odd = 0; odd < 2; odd++) {
                uints_t right = (uints_t)(odd ? counts.odd : counts.even);
                uints_t square = (uints_t)(odd ? squares.odd : squares.even);
                uints_t product = (uints_t)(odd ? products.odd : products.even);
                double *known = block_best + odd * LANES / 2;
                keep_best(
                    (ints_t)(right & 0xFFFF), (ints_t)(square & 0xFFFF),
                    (ints_t)(product & 0xFFFF), total, total_squares, known);
                keep_best(
                    (ints_t)(right >> 16), (ints_t)(square >> 16), (ints_t)(product >> 16), total,
                    total_squares, known + LANES / 4);
            }
        }
        for (int c = 0; c < LANES; c++)
            best[block + c] = block_best[c % 2 * LANES / 2 + c / 2 % 2 * LANES / 4 + c / 4];
    }
}

SEMISIFT_CLONES static void column_scores(const uint8_t *codes, int stride, int n_columns,
                                          const int32_t *rows, const uint8_t *weights, int n,
                                          const int32_t *run_end, const int32_t *run_weight,
                                          int n_runs, int total, double *best) {
    (void)run_end;
    scores_of_columns(codes, stride, n_columns, rows, weights, n, run_weight, n_runs, total, best, 0);
}

SEMISIFT_CLONES static void column_scores_with_missing(
    const uint8_t *codes, int stride, int n_columns, const int32_t *rows, const uint8_t *weights, int n,
    const int32_t *run_end, const int32_t *run_weight, int n_runs, int total, double *best) {
    (void)run_end;
    scores_of_columns(codes, stride, n_columns, rows, weights, n, run_weight, n_runs, total, best, 1);
}

#else /* other compilers: the same, a column at a time */
#define SIDE_BY_SIDE_ROWS 8

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

/* The same where columns have missing values: missing values of one class only are no hindrance where its rows with a
   value weigh more, or as much on the left. */
static int separating_with_missing(const uint8_t *codes, int stride, int n_columns,
                                   const int32_t *rows, const uint8_t *weights, int n_first, int n,
                                   uint8_t *separates) {
    int found = 0;
    for (int c = 0; c < n_columns; c++) {
        int lowest[2] = {256, 256}, highest[2] = {-1, -1}, held[2] = {0, 0}, missing[2] = {0, 0};
        for (int i = 0; i < n; i++) {
            int code = codes[(int64_t)rows[i] * stride + c], second = i >= n_first;
            if (code == GAP_CODE) {
                missing[second] += weights[i];
                continue;
            }
            held[second] += weights[i];
            if (code < lowest[second]) lowest[second] = code;
            if (code > highest[second]) highest[second] = code;
        }
        int left = highest[1] < lowest[0], gets = held[left] >= held[!left] ? left : !left;
        separates[c] = held[0] && held[1] && highest[left] < lowest[!left] && !missing[!gets];
        found += separates[c];
    }
    return found;
}

static void scores_of_columns(const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
                              const uint8_t *weights, int n, const int32_t *run_end,
                              const int32_t *run_weight, int n_runs, int total, double *best,
                              int has_missing) {
    for (int c = 0; c < n_columns; c++) {
        best[c] = -1.0;
        for (int r = 0; r < n; r++) {
            int candidate = codes[(int64_t)rows[r] * stride + c], missing_left = 0;
            if (has_missing) {
                int below = 0, held = 0;
                for (int i = 0; i < n; i++) {
                    int code = codes[(int64_t)rows[i] * stride + c];
                    if (code == GAP_CODE) continue;
                    held += weights[i];
                    if (code <= candidate) below += weights[i];
                }
                if (below == held) continue;
                missing_left = 2 * below >= held;
            }
            double n_left = 0, squares_left = 0, squares_right = 0;
            for (int k = 0, i = 0; k < n_runs; k++) {
                int left = 0;
                for (; i < run_end[k]; i++) {
                    int code = codes[(int64_t)rows[i] * stride + c];
                    if (has_missing && code == GAP_CODE ? missing_left : code <= candidate)
                        left += weights[i];
                }
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

static void column_scores(const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
                          const uint8_t *weights, int n, const int32_t *run_end,
                          const int32_t *run_weight, int n_runs, int total, double *best) {
    scores_of_columns(codes, stride, n_columns, rows, weights, n, run_end, run_weight, n_runs, total,
                      best, 0);
}

static void column_scores_with_missing(
    const uint8_t *codes, int stride, int n_columns, const int32_t *rows, const uint8_t *weights, int n,
    const int32_t *run_end, const int32_t *run_weight, int n_runs, int total, double *best) {
    scores_of_columns(codes, stride, n_columns, rows, weights, n, run_end, run_weight, n_runs, total,
                      best, 1);
}

#endif

typedef struct { double value; int32_t position; } entry_t;

/* A row of the bag within a sorted column: ranks are those of its values, in half the memory. */
typedef struct { int32_t rank, position; } place_t;

/* A score that is lower than the best by more than rounding can bring about is not worked out. */
#define NEARLY_BEST (1.0 - 1e-9)

/* The next place at or after `at` that a boundary of two classes before it scores at least `best`;
   n if there is none. Of the rows before it, `left` has the weight in its lower half and that of the
   second class in its upper half; `pairs` has the same of each row of the bag.

   With d = T L_2 - T_2 n_L the score is that of the whole node + 2 d^2 / (T n_L n_R): most boundaries
   are passed over by d alone, those that come near the best are scored as everywhere else. */
static int64_t next_split_of_two(const place_t *places, int64_t at, int64_t n, const int64_t *pairs,
                                 int64_t *left, int64_t total, int64_t second, double best,
                                 double *score) {
    int64_t sums = *left, first = total - second;
    double whole = ((double)first * (double)first + (double)second * (double)second) / (double)total;
    double bar = (best - whole - (1.0 - NEARLY_BEST) * (double)total) * (double)total / 2;
    for (; at < n; at++) {
        sums += pairs[places[at - 1].position];
        if (places[at].rank <= places[at - 1].rank) continue;
        int64_t n_left = (int32_t)sums, left_second = sums >> 32, n_right = total - n_left;
        double d = (double)(total * left_second - second * n_left);
        if (d * d < bar * (double)(n_left * n_right)) continue;
        double l_1 = (double)(n_left - left_second), l_2 = (double)left_second;
        double r_1 = (double)first - l_1, r_2 = (double)second - l_2;
        *score = split_score(l_1 * l_1 + l_2 * l_2, (double)n_left, r_1 * r_1 + r_2 * r_2,
                             (double)n_right);
        if (*score >= best) break;
    }
    *left = sums;
    return at;
}

/* Bring the places of marked rows (or those not marked) to the front, both parts in their order;
   returns their number. `rest` has room for all of them. */
static int64_t part_places(place_t *places, int64_t n, const int32_t *marks, int32_t stamp,
                           int marked_first, place_t *rest) {
    int64_t n_front = 0, n_rest = 0;
    for (int64_t i = 0; i < n; i++) {
        place_t place = places[i];
        int in_front = (marks[place.position] == stamp) == marked_first;
        places[n_front] = place;
        rest[n_rest] = place;
        n_front += in_front;
        n_rest += !in_front;
    }
    memcpy(places + n_front, rest, n_rest * sizeof(place_t));
    return n_front;
}

/* Ascending by value; the order among equal values is of no consequence. */
static void sort_entries(entry_t *entries, int64_t n) {
    int64_t in_order = 1;
    while (in_order < n && entries[in_order - 1].value <= entries[in_order].value) in_order++;
    if (in_order >= n) return;  /* often so in text, where most values are 1 */
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

/* Dense ranks: the code of a value is how many distinct values of the column are smaller. */
SEMISIFT_CLONES static void rank_column(const double *values, int n, uint8_t *codes, int stride) {
    uint8_t n_smaller[255], rank_of[256] = {0};
    for (int j = 0; j < n; j++) {
        int64_t smaller = 0;
        double value = values[j];
        for (int i = 0; i < n; i++) smaller += values[i] < value;
        n_smaller[j] = (uint8_t)smaller;
        rank_of[smaller] = 1;
    }
    for (int i = 0, rank = 0; i < n; i++) {
        int exists = rank_of[i];
        rank_of[i] = (uint8_t)rank;
        rank += exists;
    }
    for (int j = 0; j < n; j++) codes[(int64_t)j * stride] = rank_of[n_smaller[j]];
}

#endif
