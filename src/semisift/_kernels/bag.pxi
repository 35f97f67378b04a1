# The training rows of one member, and scratch memory for the search of splits. Part of grow.pyx.

cdef extern from "portable.h" nogil:
    void prefetch(const void *address)


cdef extern from "splits.h" nogil:
    enum: LANES
    enum: GAP_CODE
    enum: SIDE_BY_SIDE_ROWS
    ctypedef struct entry_t:
        double value
        int32_t position
    ctypedef struct place_t:
        int32_t rank
        int32_t position
    double NEARLY_BEST
    int64_t next_split_of_two(
        const place_t *places, int64_t at, int64_t n, const int64_t *pairs, int64_t *left,
        int64_t total, int64_t second, double best, double *score,
    )
    int64_t part_places(
        place_t *places, int64_t n, const int32_t *marks, int32_t stamp, int marked_first,
        place_t *rest,
    )
    double split_score(double squares_left, double n_left, double squares_right, double n_right)
    int separating_columns(
        const uint8_t *codes, int stride, int n_columns, const int32_t *rows, int n_first, int n,
        uint8_t *separates,
    )
    int separating_with_missing(
        const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
        const uint8_t *weights, int n_first, int n, uint8_t *separates,
    )
    void column_scores_with_missing(
        const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
        const uint8_t *weights, int n, const int32_t *run_end, const int32_t *run_weight,
        int n_runs, int total, double *best,
    )
    void column_scores(
        const uint8_t *codes, int stride, int n_columns, const int32_t *rows,
        const uint8_t *weights, int n, const int32_t *run_end, const int32_t *run_weight,
        int n_runs, int total, double *best,
    )
    void sort_entries(entry_t *entries, int64_t n)
    void rank_column(const double *values, int n, uint8_t *codes, int stride)


cdef struct Node:
    int32_t number
    int32_t start
    int32_t stop
    int32_t depth


cdef struct Split:
    int32_t column  # within the subspace, -1: none
    double threshold
    double score
    double gap


cdef struct Bag:
    # training rows, class by class
    int n
    int n_classes
    int32_t total
    int32_t *rows
    int32_t *weights
    int32_t *labels
    int32_t *position  # row -> its place in the bag, -1 elsewhere
    # the columns under search
    int n_columns
    int32_t *features
    # node under search
    int32_t *members  # places in the bag, node by node, class by class within a node
    int32_t *scratch
    int32_t *run_end
    int32_t *run_weight
    uint8_t *byte_weights
    int64_t *counts
    int64_t *left_counts
    # side by side: codes
    int stride
    uint8_t *codes
    int16_t *first_with_code
    int16_t *next_with_code
    uint8_t *separates
    double *best
    double *values
    # sweep: each column's entries by ascending value, node by node
    place_t *places
    place_t *place_scratch
    entry_t *entries  # to be sorted
    int64_t *pairs  # of each row, its weight and, above it, its weight in the second class
    int32_t *marks
    uint8_t *goes_left


cdef struct Sweep:
    double squares_left
    double squares_right
    double n_left
    # the entry on the left of the next boundary
    int32_t last
    int32_t rank
    bint started


cdef inline void move_left(Bag *bag, Sweep *sweep, int label, int64_t weight) noexcept nogil:
    cdef int64_t left = bag.left_counts[label], right = bag.counts[label] - left
    sweep.squares_left += <double>(weight * (2 * left + weight))
    sweep.squares_right -= <double>(weight * (2 * right - weight))
    sweep.n_left += weight
    bag.left_counts[label] = left + weight


cdef Split NO_SPLIT = Split(column=-1, threshold=0.0, score=-1.0, gap=-1.0)


cdef inline double midpoint(double a, double b) noexcept nogil:
    cdef double t = a / 2 + b / 2
    return a if t >= b else t


cdef inline bint better(double score, double gap, Split *best) noexcept nogil:
    return score > best.score or (score == best.score and gap > best.gap)


cdef inline double relative_gap(double a, double b, const double *spread, int feature) noexcept nogil:
    """Without `spread` every gap is alike, so that the first of equal scores stays."""
    if spread == NULL:
        return 0.0
    cdef double gap = (b - a) / spread[feature]
    return 0.0 if isnan(gap) else gap


cdef void count_classes(Bag *bag, int start, int stop, int *n_runs) noexcept nogil:
    """Class counts of a node and, since its rows come class by class, the runs of equal class."""
    cdef int i, position, label, last = -1
    memset(bag.counts, 0, bag.n_classes * sizeof(int64_t))
    n_runs[0] = 0
    bag.total = 0
    for i in range(start, stop):
        position = bag.members[i]
        label = bag.labels[position]
        if label != last:
            bag.run_weight[n_runs[0]] = 0
            n_runs[0] += 1
            last = label
        bag.run_end[n_runs[0] - 1] = i - start + 1
        bag.run_weight[n_runs[0] - 1] += bag.weights[position]
        bag.counts[label] += bag.weights[position]
        bag.total += bag.weights[position]


cdef class _Workspace:
    """Scratch memory for bags of up to `n` rows, freed with the object."""

    cdef Bag bag
    cdef void *blocks[32]
    cdef int n_blocks

    cdef void *take(self, size_t size) except NULL:
        cdef void *block
        if self.n_blocks == sizeof(self.blocks) // sizeof(void *):
            raise SystemError("the workspace of the tree kernels has too few places")
        block = malloc(max(size, 64))
        if block == NULL:
            raise MemoryError
        self.blocks[self.n_blocks] = block
        self.n_blocks += 1
        return block

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_blocks):
            free(self.blocks[i])

    cdef int prepare(self, Py_ssize_t n, Py_ssize_t n_rows, Py_ssize_t n_columns, int n_classes,
                     Py_ssize_t small, bint any_large) except -1:
        cdef Bag *bag = &self.bag
        cdef Py_ssize_t i
        bag.n_classes = n_classes
        bag.stride = <int>((n_columns + LANES - 1) // LANES * LANES)
        bag.rows = <int32_t *>self.take(n * sizeof(int32_t))
        bag.weights = <int32_t *>self.take(n * sizeof(int32_t))
        bag.labels = <int32_t *>self.take(n * sizeof(int32_t))
        bag.members = <int32_t *>self.take(n * sizeof(int32_t))
        bag.scratch = <int32_t *>self.take(n * sizeof(int32_t))
        bag.position = <int32_t *>self.take(n_rows * sizeof(int32_t))
        for i in range(n_rows):
            bag.position[i] = -1
        bag.features = <int32_t *>self.take(n_columns * sizeof(int32_t))
        bag.run_end = <int32_t *>self.take(n_classes * sizeof(int32_t))
        bag.run_weight = <int32_t *>self.take(n_classes * sizeof(int32_t))
        bag.counts = <int64_t *>self.take((2 * n_classes + 1) * sizeof(int64_t))
        bag.left_counts = <int64_t *>self.take(n_classes * sizeof(int64_t))
        bag.goes_left = <uint8_t *>self.take(n + 1) + 1
        bag.goes_left[-1] = 0  # of rows that are not in the bag
        if small:
            bag.byte_weights = <uint8_t *>self.take(small)
            bag.codes = <uint8_t *>self.take(small * bag.stride)
            memset(bag.codes, 0, small * bag.stride)
            bag.first_with_code = <int16_t *>self.take(256 * sizeof(int16_t))
            bag.next_with_code = <int16_t *>self.take(small * sizeof(int16_t))
            bag.separates = <uint8_t *>self.take(max(bag.stride, small))
            bag.best = <double *>self.take(bag.stride * sizeof(double))
            bag.values = <double *>self.take(small * sizeof(double))
        if any_large:
            bag.places = <place_t *>self.take(n * n_columns * sizeof(place_t))
            bag.place_scratch = <place_t *>self.take(n * sizeof(place_t))
            bag.entries = <entry_t *>self.take(n * sizeof(entry_t))
            bag.pairs = <int64_t *>self.take(n * sizeof(int64_t))
            bag.marks = <int32_t *>self.take(n * sizeof(int32_t))
            memset(bag.marks, 0, n * sizeof(int32_t))
        return 0


cdef int fill_bag(Bag *bag, const int32_t *labelled, const int32_t *codes, const int32_t *weights,
                  Py_ssize_t n_labelled, const int32_t *picks, const int32_t *pick_labels,
                  const int32_t *pick_weights, Py_ssize_t n_picks) noexcept nogil:
    """Put the member's training rows into the bag, class by class; returns their total weight."""
    cdef int k, n = 0, total = 0
    cdef int32_t weight
    cdef Py_ssize_t j
    cdef int64_t *next_place = bag.counts
    memset(next_place, 0, (bag.n_classes + 1) * sizeof(int64_t))
    for j in range(n_labelled):
        next_place[codes[labelled[j]] + 1] += weights[j] > 0
    for j in range(n_picks):
        if picks[j] >= 0:
            next_place[pick_labels[j] + 1] += 1
    for k in range(bag.n_classes):
        next_place[k + 1] += next_place[k]
    bag.n = <int>next_place[bag.n_classes]
    for j in range(n_labelled):
        if weights[j] > 0:
            total += weights[j]
            place_row(bag, labelled[j], weights[j], codes[labelled[j]])
    for j in range(n_picks):
        if picks[j] >= 0:
            weight = 1 if pick_weights == NULL else pick_weights[j]
            total += weight
            place_row(bag, picks[j], weight, pick_labels[j])
    for j in range(bag.n):
        bag.members[j] = <int32_t>j
    return total


cdef inline void place_row(Bag *bag, int32_t row, int32_t weight, int32_t label) noexcept nogil:
    cdef int64_t place = bag.counts[label]
    bag.counts[label] += 1
    bag.rows[place] = row
    bag.weights[place] = weight
    bag.labels[place] = label
    bag.position[row] = <int32_t>place


cdef int split_members(Bag *bag, int start, int stop) noexcept nogil:
    """Order the node's rows left before right, each side class by class; returns the boundary."""
    cdef int i, n_left = start, n_right = 0
    for i in range(start, stop):
        if bag.goes_left[bag.members[i]]:
            bag.members[n_left] = bag.members[i]
            n_left += 1
        else:
            bag.scratch[n_right] = bag.members[i]
            n_right += 1
    memcpy(bag.members + n_left, bag.scratch, n_right * sizeof(int32_t))
    return n_left


cdef void part_members(const Bag *bag, Node node, Bag *part) noexcept nogil:
    """Copy the rows of a node, which come class by class, into a bag of their own."""
    cdef int j
    cdef int32_t position
    part.n = node.stop - node.start
    for j in range(part.n):
        position = bag.members[node.start + j]
        part.rows[j] = bag.rows[position]
        part.weights[j] = bag.weights[position]
        part.labels[j] = bag.labels[position]
        part.members[j] = j
        part.position[part.rows[j]] = j
