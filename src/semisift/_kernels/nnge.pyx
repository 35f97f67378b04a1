"""NNge: learn boxes in one pass over the rows, and find the nearest box.

Exemplars lie side by side: one column's lower sides of all of them are neighbours in memory, so
that the distances of a row to all exemplars are measured in plain loops. A box of a nominal column
is a set of values, bits of words that lie side by side likewise. Exemplars keep no order; a stamp
tells which one was touched last.
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset


cdef struct Boxes:
    int64_t n  # exemplars
    int64_t stride  # and room for so many
    int64_t n_columns
    const int32_t *n_values  # of each nominal column; 0 where it is numeric
    double *lower
    double *upper
    uint64_t *held
    const double *weights
    const double *spans


cdef struct Rows:
    # a list of rows, linked through Learning.following
    int32_t first
    int32_t last
    int32_t count


cdef struct Part:
    # the box of rows that are no exemplar yet
    double *lower
    double *upper
    uint64_t *held
    Rows rows


cdef struct Learning:
    Boxes boxes
    const double *X
    const int32_t *row_labels
    int64_t n_seen
    # exemplars
    int32_t *labels
    Rows *rows
    int64_t *stamps
    int64_t clock
    double *distances
    int32_t *following
    int64_t n_words
    Part above
    Part below
    Part point
    # counts of rows in intervals or with nominal values, and of those by class
    int64_t n_classes
    int64_t n_intervals
    bint half_open
    double *low
    double *high
    double *weights
    double *spans
    int32_t *of_class
    int32_t *cells
    int32_t *joint
    double *logs
    double *rarity
    void *memory


include "nnge_weights.pxi"


# Boxes -------------------------------------------------------------------------------------------

cdef inline int64_t words_of(const Boxes *b, int64_t j) noexcept nogil:
    return (b.n_values[j] + 63) // 64


cdef inline bint is_held(const uint64_t *held, int64_t stride, int64_t e,
                         int64_t value) noexcept nogil:
    return held[(value >> 6) * stride + e] >> (value & 63) & 1


cdef void measure(const Boxes *b, const double *x, double *distances) noexcept nogil:
    """Set the squared distances of a row to all exemplars."""
    cdef int64_t e, j, value
    cdef double squared_columns = <double>b.n_columns * b.n_columns
    cdef const double *lower
    cdef const double *upper
    cdef const uint64_t *held = b.held
    cdef double weight, span, at, below, gap
    memset(distances, 0, b.n * sizeof(double))
    for j in range(b.n_columns):
        weight = b.weights[j]
        if weight == 0.0:
            pass
        elif b.n_values[j]:
            value = <int64_t>x[j]
            weight *= weight
            for e in range(b.n):
                # a value that was never seen is -1
                if value < 0 or not is_held(held, b.stride, e, value):
                    distances[e] += weight
        else:
            lower = b.lower + j * b.stride
            upper = b.upper + j * b.stride
            span = b.spans[j]
            at = x[j]
            for e in range(b.n):
                below = lower[e] - at
                gap = at - upper[e]
                gap = below if below > gap else gap
                gap = weight * ((gap if gap > 0.0 else 0.0) / span)
                distances[e] += gap * gap
        held += words_of(b, j) * b.stride
    for e in range(b.n):
        distances[e] /= squared_columns


cdef bint holds(const Boxes *b, int64_t e, const double *x) noexcept nogil:
    cdef int64_t j, at = e
    cdef const uint64_t *held = b.held
    for j in range(b.n_columns):
        if b.n_values[j]:
            if not is_held(held, b.stride, e, <int64_t>x[j]):
                return False
            held += words_of(b, j) * b.stride
        elif not (b.lower[at] <= x[j] and x[j] <= b.upper[at]):
            return False
        at += b.stride
    return True


cdef bint overlap(const Boxes *b, int64_t e, const Part *part) noexcept nogil:
    cdef int64_t j, w, word = 0, at = e
    cdef uint64_t common
    for j in range(b.n_columns):
        if b.n_values[j]:
            common = 0
            for w in range(words_of(b, j)):
                common |= b.held[word * b.stride + e] & part.held[word]
                word += 1
            if not common:
                return False
        elif not (b.lower[at] <= part.upper[j] and part.lower[j] <= b.upper[at]):
            return False
        at += b.stride
    return True


include "nnge_learn.pxi"


# Memory ------------------------------------------------------------------------------------------

cdef double *place_part(const Learning *m, Part *part, double *memory) noexcept nogil:
    """Put a part into memory and return where it ends."""
    part.lower = memory
    part.upper = part.lower + m.boxes.n_columns
    part.held = <uint64_t *>(part.upper + m.boxes.n_columns)
    return <double *>(part.held + m.n_words)


cdef bint allocate(Learning *m, int64_t n, int64_t n_cells) noexcept nogil:
    """Get one piece of memory and share it out."""
    cdef int64_t p = m.boxes.n_columns, k = m.n_classes, j
    cdef int64_t n_wide = 3 * n + 1 + 8 * p + k + 3 * m.n_words
    cdef int64_t n_narrow = n + k + n_cells * (k + 1)
    m.memory = malloc(n_wide * sizeof(double) + n * sizeof(Rows) + n_narrow * sizeof(int32_t))
    if m.memory == NULL:
        return False
    cdef double *wide = <double *>m.memory
    m.distances, wide = wide, wide + n
    m.logs, wide = wide, wide + n + 1
    m.low, wide = wide, wide + p
    m.high, wide = wide, wide + p
    m.rarity, wide = wide, wide + k
    wide = place_part(m, &m.above, wide)
    wide = place_part(m, &m.below, wide)
    wide = place_part(m, &m.point, wide)
    m.stamps, wide = <int64_t *>wide, wide + n
    m.rows = <Rows *>wide
    m.following = <int32_t *>(m.rows + n)
    m.of_class = m.following + n
    m.cells = m.of_class + k
    m.joint = m.cells + n_cells
    memset(m.of_class, 0, (n_narrow - n) * sizeof(int32_t))
    m.logs[0] = 0.0  # never asked for
    for j in range(1, n + 1):
        m.logs[j] = log2(<double>j)
    for j in range(p):
        m.low[j] = INFINITY
        m.high[j] = -INFINITY
        m.spans[j] = 0.0
    return True


# Whole models ------------------------------------------------------------------------------------

cdef void learn_rows(Learning *m, int64_t n, int64_t n_attempts) noexcept nogil:
    cdef int64_t i
    m.boxes.n = 0
    m.n_seen = 0
    m.clock = 0
    for i in range(n):
        see(m, i)
        if m.boxes.n:
            adjust(m, <int32_t>i)
        generalise(m, <int32_t>i, n_attempts)
    sort_by_stamp(m)


cdef int64_t find_nearest(const Boxes *b, const double *x, double *distances) noexcept nogil:
    """Return the nearest exemplar of a row, the first among equals."""
    cdef int64_t e, best = 0
    measure(b, x, distances)
    for e in range(1, b.n):
        if distances[e] < distances[best]:
            best = e
    return best


# What Python calls -------------------------------------------------------------------------------

def learn(
    const double[:, ::1] X,
    const int32_t[::1] labels,
    const int32_t[::1] n_values,
    Py_ssize_t n_classes,
    Py_ssize_t n_attempts,
    Py_ssize_t n_intervals,
    bint half_open,
    double[:, ::1] lower,
    double[:, ::1] upper,
    uint64_t[:, ::1] held,
    int32_t[:, ::1] members,
    double[:, ::1] scales,
):
    """Learn exemplars and write them to the arrays of the caller, those touched last first.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Finite; nominal columns hold the numbers of their values.
    labels : array of shape (n_rows,)
        Codes from 0.
    n_values : array of shape (n_columns,)
        Values of each nominal column, 0 for numeric ones.
    n_classes, n_attempts, n_intervals : int
    half_open : bool
        Whether a value on the border of two intervals counts in the upper one alone.
    lower, upper : arrays of shape (n_columns, n_rows)
        Sides of the boxes, for numeric columns.
    held : array of shape (n_words, n_rows)
        Values of the boxes as bits, for nominal columns: one word for every 64 values, and a new
        one for each column.
    members : array of shape (2, n_rows)
        Class and number of rows of each exemplar.
    scales : array of shape (2, n_columns)
        Weights and ranges of the columns.

    Returns
    -------
    int
        Number of exemplars; the arrays have room for one for each row.
    """
    cdef Learning m
    cdef int64_t i, j, n = X.shape[0], p = X.shape[1], n_cells = 0
    m.boxes.stride = n
    m.boxes.n_columns = p
    m.boxes.n_values = &n_values[0]
    m.boxes.lower = &lower[0, 0]
    m.boxes.upper = &upper[0, 0]
    m.n_words = held.shape[0]
    m.boxes.held = &held[0, 0] if m.n_words else NULL
    m.boxes.weights = m.weights = &scales[0, 0]
    m.boxes.spans = m.spans = &scales[1, 0]
    m.X = &X[0, 0]
    m.row_labels = &labels[0]
    m.labels = &members[0, 0]
    m.n_classes = n_classes
    m.n_intervals = n_intervals
    m.half_open = half_open
    for j in range(p):
        n_cells += n_values[j] if n_values[j] else n_intervals
    if not allocate(&m, n, n_cells):
        raise MemoryError
    with nogil:
        learn_rows(&m, n, n_attempts)
        for i in range(m.boxes.n):
            members[1, i] = m.rows[i].count
        free(m.memory)
    return m.boxes.n


def nearest(
    const double[:, ::1] X,
    const int32_t[::1] n_values,
    const double[:, ::1] lower,
    const double[:, ::1] upper,
    const uint64_t[:, ::1] held,
    const double[:, ::1] scales,
    int32_t[::1] out,
):
    """Find the nearest exemplar of each row, the first among equals.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        As `learn` takes it; -1 is a nominal value that it has not seen.
    n_values, lower, upper, held, scales : arrays
        As `learn` writes them, cut to the exemplars that there are.
    out : array of shape (n_rows,)
        Receives the numbers of the exemplars.
    """
    cdef Boxes b
    cdef int64_t i, n = X.shape[0], p = X.shape[1]
    b.n = b.stride = lower.shape[1]
    b.n_columns = p
    b.n_values = &n_values[0]
    b.lower = <double *>&lower[0, 0]
    b.upper = <double *>&upper[0, 0]
    b.held = <uint64_t *>&held[0, 0] if held.shape[0] else NULL
    b.weights = &scales[0, 0]
    b.spans = &scales[1, 0]
    cdef double *distances = <double *>malloc(b.n * sizeof(double))
    if distances == NULL:
        raise MemoryError
    with nogil:
        for i in range(n):
            out[i] = <int32_t>find_nearest(&b, &X[i, 0], distances)
        free(distances)


def judge_columns(
    const double[:, ::1] picked,
    const double[:, ::1] columns,
    const int32_t[::1] labels,
    const int32_t[::1] train,
    const int32_t[::1] test,
    const int32_t[:, ::1] ends,
    Py_ssize_t n_classes,
    Py_ssize_t n_attempts,
    Py_ssize_t n_intervals,
    bint half_open,
    bint give_up,
    uint8_t[:, ::1] right,
):
    """Learn with each column beside the picked ones, and tell which held-out rows come out right.

    All columns are numeric.

    Parameters
    ----------
    picked : array of shape (n_rows, n_picks)
    columns : array of shape (n_columns, n_rows)
    labels : array of shape (n_rows,)
        Codes from 0.
    train, test : arrays
        Rows to learn from and rows to predict, one split after the other.
    ends : array of shape (n_splits, 2)
        Where the rows of each split end in `train` and `test`.
    n_classes, n_attempts, n_intervals : int
    half_open : bool
    give_up : bool
        Leave a column as soon as it cannot reach the best one before it.
    right : array of shape (len(test), n_columns)
        Receives 1 where a row is predicted right; untouched where a column was left.
    """
    cdef Learning m
    cdef int64_t n_splits = ends.shape[0], n_columns = columns.shape[0], k = picked.shape[1]
    cdef int64_t c, s, i, j, p = k + 1, most = 0, row, from_, to_, first, last, hits
    cdef double lost, best = -1.0
    for s in range(n_splits):
        most = max(most, ends[s, 0] - (ends[s - 1, 0] if s else 0))
    # rows to learn from of each split lie where they lie in `train`, rows to predict likewise
    cdef double[:, ::1] learnt = np.empty((max(1, train.shape[0]), p))
    cdef double[:, ::1] asked = np.empty((max(1, test.shape[0]), p))
    cdef int32_t[::1] learnt_labels = np.asarray(labels)[np.asarray(train)]
    cdef double[:, ::1] sides = np.empty((2 * p + 1, max(1, most)))
    cdef int32_t[::1] of_exemplars = np.empty(max(1, most), dtype=np.int32)
    cdef double[:, ::1] scales = np.empty((2, p))
    cdef int32_t[::1] n_values = np.zeros(p, dtype=np.int32)
    for i in range(train.shape[0]):
        for j in range(k):
            learnt[i, j] = picked[train[i], j]
    for i in range(test.shape[0]):
        for j in range(k):
            asked[i, j] = picked[test[i], j]
    m.boxes.n_columns = p
    m.boxes.n_values = &n_values[0]
    m.boxes.held = NULL
    m.n_words = 0
    m.boxes.weights = m.weights = &scales[0, 0]
    m.boxes.spans = m.spans = &scales[1, 0]
    m.labels = &of_exemplars[0]
    m.n_classes = n_classes
    m.n_intervals = n_intervals
    m.half_open = half_open
    with nogil:
        for c in range(n_columns):
            for i in range(train.shape[0]):
                learnt[i, k] = columns[c, train[i]]
            for i in range(test.shape[0]):
                asked[i, k] = columns[c, test[i]]
            lost = 0.0
            from_ = first = 0
            for s in range(n_splits):
                to_, last = ends[s, 0], ends[s, 1]
                m.X = &learnt[from_, 0]
                m.row_labels = &learnt_labels[from_]
                m.boxes.stride = to_ - from_
                m.boxes.lower = &sides[0, 0]
                m.boxes.upper = m.boxes.lower + p * m.boxes.stride
                if not allocate(&m, to_ - from_, p * n_intervals):
                    with gil:
                        raise MemoryError
                learn_rows(&m, to_ - from_, n_attempts)
                hits = 0
                for i in range(first, last):
                    row = find_nearest(&m.boxes, &asked[i, 0], m.distances)
                    right[i, c] = of_exemplars[row] == labels[test[i]]
                    hits += right[i, c]
                free(m.memory)
                lost += 1.0 - <double>hits / (last - first)
                from_, first = to_, last
                if give_up and 1.0 - lost / n_splits < best - 1e-9:
                    break
            else:
                best = max(best, 1.0 - lost / n_splits)
