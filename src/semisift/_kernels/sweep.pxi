# Split search on larger bags: each column is kept sorted and swept. Part of grow.pyx.

# An order of all rows is walked where the rows of a node are at least one in so many of them.
cdef int ORDER_SHARE = 8


cdef void pair_weights(Bag *bag) noexcept nogil:
    """Prepare the bag for sweeps between two classes."""
    cdef int j
    for j in range(bag.n):
        bag.pairs[j] = bag.weights[j]
        if bag.labels[j] == 1:
            bag.pairs[j] += <int64_t>bag.weights[j] << 32


cdef void sort_columns(Bag *bag, const columns_t *X, const int32_t *order, const int32_t *subspace,
                       int n_columns, int start, int stop, int32_t *segments) noexcept nogil:
    """List the node's entries of each column by ascending value.

    Neither the zeros of a sparse column nor the missing values of a dense one are listed.
    """
    cdef int c, j, n = stop - start, kept = 0
    cdef int64_t at, n_found
    cdef int32_t position
    cdef entry_t *entries = bag.entries
    cdef const int32_t *column
    cdef double value
    memset(bag.goes_left, n == bag.n, bag.n)
    if n < bag.n:
        for j in range(start, stop):
            bag.goes_left[bag.members[j]] = 1
    for c in range(n_columns):
        n_found = 0
        if X.is_sparse:
            for at in range(X.indptr[subspace[c]], X.indptr[subspace[c] + 1]):
                position = bag.position[X.indices[at]]
                if not bag.goes_left[position]:
                    continue
                value = stored_value(X, at)
                if value != 0:
                    entries[n_found].value = value
                    entries[n_found].position = position
                    n_found += 1
            sort_entries(entries, n_found)
        elif order != NULL and <int64_t>n * ORDER_SHARE > X.n_rows:
            column = order + <int64_t>subspace[c] * X.n_rows
            for at in range(X.n_rows):
                position = bag.position[column[at]]
                entries[n_found].position = position
                n_found += bag.goes_left[position]  # which has a place for -1
                if n_found == n:
                    break
            for j in range(n):
                entries[j].value = column_value(X, subspace[c], bag.rows[entries[j].position])
            if X.has_missing:  # which come last
                while n_found and isnan(entries[n_found - 1].value):
                    n_found -= 1
        elif X.has_missing:
            for j in range(start, stop):
                entries[n_found].position = bag.members[j]
                entries[n_found].value = column_value(X, subspace[c], bag.rows[bag.members[j]])
                n_found += not isnan(entries[n_found].value)
            sort_entries(entries, n_found)
        else:
            for j in range(start, stop):
                entries[n_found].position = bag.members[j]
                entries[n_found].value = column_value(X, subspace[c], bag.rows[bag.members[j]])
                n_found += 1
            sort_entries(entries, n_found)
        if n_found == 0:  # in text most columns are 0 in all rows of a bag
            continue
        rank_entries(entries, n_found, bag.places + <int64_t>kept * bag.n)
        bag.features[kept] = subspace[c]
        segments[2 * kept] = 0
        segments[2 * kept + 1] = <int32_t>n_found
        kept += 1
    bag.n_columns = kept


cdef void rank_entries(const entry_t *entries, int64_t n, place_t *places) noexcept nogil:
    """Rank sorted values; ranks of positive values are positive, those of negative ones negative."""
    cdef int64_t at
    cdef int32_t rank = -<int32_t>n - 1
    cdef bint is_positive = False
    for at in range(n):
        if not is_positive and entries[at].value > 0:
            is_positive = True
            rank = 0
        if at == 0 or entries[at].value > entries[at - 1].value:
            rank += 1
        places[at].rank = rank
        places[at].position = entries[at].position


cdef inline double value_at(const Bag *bag, const columns_t *X, int column,
                            int32_t position) noexcept nogil:
    """The value of a row of the bag; position -1 stands for the zeros of a sparse column."""
    if position < 0:
        return 0.0
    return column_value(X, bag.features[column], bag.rows[position])


cdef struct Found:
    # a boundary between two rows: what it is worth in detail is worked out only where it matters
    Split split
    int32_t below
    int32_t above
    bint has_gap


cdef double gap_of(const Bag *bag, const columns_t *X, const double *spread, int column,
                   int32_t below, int32_t above) noexcept nogil:
    return relative_gap(
        value_at(bag, X, column, below), value_at(bag, X, column, above), spread,
        bag.features[column],
    )


cdef void keep_better(const Bag *bag, const columns_t *X, const double *spread, int column,
                      double score, int32_t below, int32_t above, Found *best) noexcept nogil:
    """Keep a boundary that scores at least as well as the best; equal ones by their missing values."""
    cdef double gap
    if score == best.split.score:
        if spread == NULL:
            return  # the first of equal scores stays
        if not best.has_gap:
            best.split.gap = gap_of(bag, X, spread, best.split.column, best.below, best.above)
            best.has_gap = True
        gap = gap_of(bag, X, spread, column, below, above)
        if gap <= best.split.gap:
            return
        best.split.gap = gap
    best.has_gap = score == best.split.score
    best.split.score = score
    best.split.column = column
    best.below = below
    best.above = above


cdef inline void try_boundary(Bag *bag, const columns_t *X, Sweep *sweep, const double *spread,
                              int column, int32_t rank, int32_t position, Found *best) noexcept nogil:
    cdef double score, n_right
    if sweep.started and rank > sweep.rank:
        n_right = bag.total - sweep.n_left
        if (
            sweep.squares_left * n_right + sweep.squares_right * sweep.n_left
            >= best.split.score * NEARLY_BEST * (sweep.n_left * n_right)
        ):
            score = split_score(sweep.squares_left, sweep.n_left, sweep.squares_right, n_right)
            if score >= best.split.score:
                keep_better(bag, X, spread, column, score, sweep.last, position, best)
    sweep.started = True
    sweep.rank = rank
    sweep.last = position


cdef void sweep_two(Bag *bag, const columns_t *X, const double *spread, int column,
                    const place_t *places, int64_t n, Found *best) noexcept nogil:
    """Sweep a dense column between two classes."""
    cdef int64_t at = 1, left = 0
    cdef double score = 0
    while True:
        at = next_split_of_two(
            places, at, n, bag.pairs, &left, bag.total, bag.counts[1], best.split.score, &score
        )
        if at >= n:
            return
        keep_better(
            bag, X, spread, column, score, places[at - 1].position, places[at].position, best
        )
        at += 1


cdef void sweep_two_with_missing(Bag *bag, const columns_t *X, const double *spread, int column,
                                 const place_t *places, int64_t n, Found *best) noexcept nogil:
    """Sweep a dense column, whose missing values are not listed, between two classes."""
    cdef int64_t at = 1, left = 0, held = 0, missing, turn = 0, limit
    cdef double score = 0
    for at in range(n):
        held += bag.pairs[places[at].position]
    missing = (bag.counts[1] << 32) + bag.total - held
    # from this boundary on, at least half of the rows with a value are on the left, and the missing values too
    while 2 * <int64_t>(<int32_t>left) < <int32_t>held:
        left += bag.pairs[places[turn].position]
        turn += 1
    left = 0
    at = 1
    limit = turn
    while True:
        at = next_split_of_two(
            places, at, limit, bag.pairs, &left, bag.total, bag.counts[1], best.split.score, &score
        )
        if at < limit:
            keep_better(
                bag, X, spread, column, score, places[at - 1].position, places[at].position, best
            )
            at += 1
        elif limit == n:
            return
        else:
            left += missing
            limit = n


cdef void sweep_many(Bag *bag, const columns_t *X, const double *spread, int column,
                     const place_t *places, int64_t n, int n_rows, double squares,
                     Found *best) noexcept nogil:
    """Sweep a column between any number of classes; zeros or missing values may not be listed.

    Zeros move to the left before the positive values, missing values as soon as at least half of the rows with
    a value are there.
    """
    cdef Sweep sweep
    cdef int k
    cdef int64_t at, n_held = bag.total
    cdef int64_t *rest = bag.counts + bag.n_classes
    cdef bint rest_pending = n < n_rows
    sweep.squares_left = 0
    sweep.squares_right = squares
    sweep.n_left = 0
    sweep.started = False
    sweep.last = sweep.rank = 0
    memset(bag.left_counts, 0, bag.n_classes * sizeof(int64_t))
    if rest_pending:
        for k in range(bag.n_classes):
            rest[k] = bag.counts[k]
        for at in range(n):
            rest[bag.labels[places[at].position]] -= bag.weights[places[at].position]
        for k in range(bag.n_classes):
            n_held -= rest[k]
    for at in range(n):
        if rest_pending and (places[at].rank > 0 if X.is_sparse else 2 * sweep.n_left >= n_held):
            if X.is_sparse:
                try_boundary(bag, X, &sweep, spread, column, 0, -1, best)
            for k in range(bag.n_classes):
                move_left(bag, &sweep, k, rest[k])
            rest_pending = False
        try_boundary(bag, X, &sweep, spread, column, places[at].rank, places[at].position, best)
        move_left(bag, &sweep, bag.labels[places[at].position], bag.weights[places[at].position])
    if rest_pending and X.is_sparse:
        try_boundary(bag, X, &sweep, spread, column, 0, -1, best)


cdef Split search_sorted(Bag *bag, const columns_t *X, const double *spread, int n_rows,
                         const int32_t *segments) noexcept nogil:
    cdef Found best
    cdef int c, k
    cdef int64_t n_entries
    cdef const place_t *places
    cdef double squares = 0
    best.split = NO_SPLIT
    best.has_gap = False
    best.below = best.above = -1
    for k in range(bag.n_classes):
        squares += <double>(bag.counts[k] * bag.counts[k])
    for c in range(bag.n_columns):
        places = bag.places + <int64_t>c * bag.n + segments[2 * c]
        n_entries = segments[2 * c + 1] - segments[2 * c]
        if n_entries == 0:
            continue
        if bag.n_classes == 2 and n_entries == n_rows:
            sweep_two(bag, X, spread, c, places, n_entries, &best)
        elif bag.n_classes == 2 and X.has_missing:
            sweep_two_with_missing(bag, X, spread, c, places, n_entries, &best)
        else:
            sweep_many(bag, X, spread, c, places, n_entries, n_rows, squares, &best)
        if spread == NULL and best.split.score == bag.total:
            break  # a perfect split, and the first of them
    if best.split.column >= 0:
        best.split.threshold = midpoint(
            value_at(bag, X, best.split.column, best.below),
            value_at(bag, X, best.split.column, best.above),
        )
    return best.split


cdef bint mark_side(Bag *bag, const columns_t *X, int column, double threshold, int32_t stamp,
                    const int32_t *segments, int64_t *left_counts, int32_t *n_left) noexcept nogil:
    """Mark the rows on one side of a split, and count those on the left.

    Only rows with an entry in the column are looked at: the others, zeros or missing values, stay unmarked.
    Returns whether the marked rows are the left ones.
    """
    cdef int64_t at, low = segments[2 * column], high = segments[2 * column + 1], middle
    cdef int32_t position
    cdef int k
    cdef bint marks_left = not (X.is_sparse and 0.0 <= threshold)
    cdef int64_t balance = 0
    cdef const place_t *places = bag.places + <int64_t>column * bag.n
    cdef int32_t n_marked
    # the first entry above the threshold
    while low < high:
        middle = (low + high) // 2
        if value_at(bag, X, column, places[middle].position) <= threshold:
            low = middle + 1
        else:
            high = middle
    if X.has_missing:  # they go where more rows with a value are
        for at in range(segments[2 * column], segments[2 * column + 1]):
            balance += bag.weights[places[at].position] * (1 if at < low else -1)
        marks_left = balance < 0
    if marks_left:
        low = segments[2 * column]
    else:
        high = segments[2 * column + 1]
    memset(left_counts, 0, bag.n_classes * sizeof(int64_t))
    n_marked = <int32_t>(high - low)
    for at in range(low, high):
        position = places[at].position
        bag.marks[position] = stamp
        left_counts[bag.labels[position]] += bag.weights[position]
    if not marks_left:
        for k in range(bag.n_classes):
            left_counts[k] = bag.counts[k] - left_counts[k]
        n_marked = n_left[0] - n_marked
    n_left[0] = n_marked
    return marks_left


cdef void partition_places(Bag *bag, int32_t stamp, bint marks_left, int32_t *segments,
                           int32_t *left_segments) noexcept nogil:
    """Move the entries of each column that go left before those that go right."""
    cdef int c
    cdef int64_t n_left
    for c in range(bag.n_columns):
        n_left = segments[2 * c]
        if segments[2 * c] < segments[2 * c + 1]:
            n_left += part_places(
                bag.places + <int64_t>c * bag.n + segments[2 * c],
                segments[2 * c + 1] - segments[2 * c], bag.marks, stamp, marks_left,
                bag.place_scratch,
            )
        # the node's own segments become those of its right child
        left_segments[2 * c] = segments[2 * c]
        left_segments[2 * c + 1] = <int32_t>n_left
        segments[2 * c] = <int32_t>n_left
