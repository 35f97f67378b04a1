# Split search on larger bags: each column is kept sorted and swept. Part of grow.pyx.

cdef void sort_columns(Bag *bag, const columns_t *X, const int32_t *order, const int32_t *subspace,
                       int n_columns, int start, int stop, int32_t *segments) noexcept nogil:
    """List the node's entries of each column by ascending value (sparse: the stored ones only)."""
    cdef int c, j, n = stop - start, kept = 0
    cdef int64_t at, n_found
    cdef int32_t position
    cdef entry_t *entries
    cdef const int32_t *column
    cdef bint whole = n == bag.n
    cdef double value
    if not whole:
        memset(bag.goes_left, 0, bag.n)
        for j in range(start, stop):
            bag.goes_left[bag.members[j]] = 1
    for c in range(n_columns):
        entries = bag.entries + <int64_t>kept * bag.n
        n_found = 0
        if X.is_sparse:
            for at in range(X.indptr[subspace[c]], X.indptr[subspace[c] + 1]):
                position = bag.position[X.indices[at]]
                if position < 0 or not (whole or bag.goes_left[position]):
                    continue
                value = stored_value(X, at)
                if value != 0:
                    entries[n_found].value = value
                    entries[n_found].position = position
                    n_found += 1
            sort_entries(entries, n_found)
        elif order != NULL and whole:
            column = order + <int64_t>subspace[c] * X.n_rows
            for at in range(X.n_rows):
                position = bag.position[column[at]]
                entries[n_found].position = position
                n_found += position >= 0
                if n_found == n:
                    break
            for j in range(n):
                entries[j].value = column_value(X, subspace[c], bag.rows[entries[j].position])
        else:
            for j in range(start, stop):
                entries[n_found].position = bag.members[j]
                entries[n_found].value = column_value(X, subspace[c], bag.rows[bag.members[j]])
                n_found += 1
            sort_entries(entries, n_found)
        if n_found == 0:  # in text most columns are 0 in all rows of a bag
            continue
        bag.features[kept] = subspace[c]
        segments[2 * kept] = 0
        segments[2 * kept + 1] = <int32_t>n_found
        kept += 1
    bag.n_columns = kept


cdef struct Sweep:
    double squares_left
    double squares_right
    double n_left
    double last  # the value on the left of the next boundary
    bint started


cdef inline void move_left(Bag *bag, Sweep *sweep, int label, int64_t weight) noexcept nogil:
    cdef int64_t left = bag.left_counts[label], right = bag.counts[label] - left
    sweep.squares_left += <double>(weight * (2 * left + weight))
    sweep.squares_right -= <double>(weight * (2 * right - weight))
    sweep.n_left += weight
    bag.left_counts[label] = left + weight


cdef inline void try_boundary(Bag *bag, Sweep *sweep, const double *spread, int column, double value,
                              Split *best) noexcept nogil:
    cdef double score, gap
    if sweep.started and value > sweep.last:
        score = split_score(
            sweep.squares_left, sweep.n_left, sweep.squares_right, bag.total - sweep.n_left
        )
        if score >= best.score:
            gap = relative_gap(sweep.last, value, spread, bag.features[column])
            if better(score, gap, best):
                best.score = score
                best.gap = gap
                best.column = column
                best.threshold = midpoint(sweep.last, value)
    sweep.started = True
    sweep.last = value


cdef Split search_sorted(Bag *bag, const double *spread, bint is_sparse, int n_rows,
                         const int32_t *segments) noexcept nogil:
    cdef Split best = NO_SPLIT
    cdef Sweep sweep
    cdef int c, k
    cdef int64_t at, n_entries
    cdef entry_t *entries
    cdef bint zeros_pending
    cdef double squares = 0
    cdef int64_t *zeros = bag.counts + bag.n_classes
    for k in range(bag.n_classes):
        squares += <double>(bag.counts[k] * bag.counts[k])
    for c in range(bag.n_columns):
        entries = bag.entries + <int64_t>c * bag.n + segments[2 * c]
        n_entries = segments[2 * c + 1] - segments[2 * c]
        if n_entries == 0:
            continue
        sweep.squares_left = 0
        sweep.squares_right = squares
        sweep.n_left = 0
        sweep.started = False
        sweep.last = 0
        memset(bag.left_counts, 0, bag.n_classes * sizeof(int64_t))
        zeros_pending = is_sparse and n_entries < n_rows
        if zeros_pending:
            for k in range(bag.n_classes):
                zeros[k] = bag.counts[k]
            for at in range(n_entries):
                zeros[bag.labels[entries[at].position]] -= bag.weights[entries[at].position]
        for at in range(n_entries):
            if zeros_pending and entries[at].value > 0:
                try_boundary(bag, &sweep, spread, c, 0.0, &best)
                for k in range(bag.n_classes):
                    move_left(bag, &sweep, k, zeros[k])
                zeros_pending = False
            try_boundary(bag, &sweep, spread, c, entries[at].value, &best)
            move_left(
                bag, &sweep, bag.labels[entries[at].position], bag.weights[entries[at].position]
            )
        if zeros_pending:
            try_boundary(bag, &sweep, spread, c, 0.0, &best)
        if spread == NULL and best.score == bag.total:
            break  # a perfect split, and the first of them
    return best


cdef bint mark_side(Bag *bag, int column, double threshold, bint is_sparse, int32_t stamp,
                    const int32_t *segments, int64_t *left_counts, int32_t *n_left) noexcept nogil:
    """Mark the rows on one side of a split, and count those on the left.

    Only rows with an entry in the column are looked at: the others are zeros, which stay unmarked.
    Returns whether the marked rows are the left ones.
    """
    cdef int64_t at
    cdef int32_t position
    cdef int k
    cdef bint marks_left = not (is_sparse and 0.0 <= threshold)
    cdef entry_t *entries = bag.entries + <int64_t>column * bag.n
    cdef int32_t n_marked = 0
    memset(left_counts, 0, bag.n_classes * sizeof(int64_t))
    for at in range(segments[2 * column], segments[2 * column + 1]):
        if (entries[at].value <= threshold) == marks_left:
            position = entries[at].position
            bag.marks[position] = stamp
            left_counts[bag.labels[position]] += bag.weights[position]
            n_marked += 1
    if not marks_left:
        for k in range(bag.n_classes):
            left_counts[k] = bag.counts[k] - left_counts[k]
        n_marked = n_left[0] - n_marked
    n_left[0] = n_marked
    return marks_left


cdef void partition_entries(Bag *bag, int32_t stamp, bint marks_left, int32_t *segments,
                            int32_t *left_segments) noexcept nogil:
    """Move the entries of each column that go left before those that go right."""
    cdef int c
    cdef int64_t at, n_left, n_right
    cdef entry_t *entries
    for c in range(bag.n_columns):
        left_segments[2 * c] = left_segments[2 * c + 1] = segments[2 * c]
        if segments[2 * c] == segments[2 * c + 1]:
            continue
        entries = bag.entries + <int64_t>c * bag.n
        n_left = segments[2 * c]
        n_right = 0
        for at in range(segments[2 * c], segments[2 * c + 1]):
            if (bag.marks[entries[at].position] == stamp) == marks_left:
                if n_right:
                    entries[n_left] = entries[at]
                n_left += 1
            else:
                bag.entry_scratch[n_right] = entries[at]
                n_right += 1
        memcpy(entries + n_left, bag.entry_scratch, n_right * sizeof(entry_t))
        # the node's own segments become those of its right child
        left_segments[2 * c + 1] = <int32_t>n_left
        segments[2 * c] = <int32_t>n_left
