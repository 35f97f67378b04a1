# Split search on small bags: perfect splits first, then all thresholds of all columns side by side
# (splits.h). Part of grow.pyx.

cdef bint separates(Bag *bag, const columns_t *X, const uint8_t *ranks, int feature, int n_first,
                    int32_t *row_below, int32_t *row_above) noexcept nogil:
    """Whether a feature puts all rows of the first class on one side and the others on the other.

    Most features fail on one of the first rows, so this is far cheaper than coding or sorting them.
    """
    cdef int i
    cdef double low, high, value
    cdef int32_t row
    cdef const uint8_t *rank = ranks + feature * X.n_rows if ranks != NULL else NULL
    cdef int32_t highest = bag.rows[0], lowest = bag.rows[n_first]
    high = rank[highest] if rank != NULL else column_value(X, feature, highest)
    low = rank[lowest] if rank != NULL else column_value(X, feature, lowest)
    if low == high:
        return False
    # whichever class starts higher has to stay higher
    cdef double sign = 1.0 if high < low else -1.0
    high *= sign
    low *= sign
    for i in range(1, n_first):
        row = bag.rows[i]
        value = sign * (rank[row] if rank != NULL else column_value(X, feature, row))
        if value >= low:
            return False
        if value > high:
            high = value
            highest = row
    for i in range(n_first + 1, bag.n):
        row = bag.rows[i]
        value = sign * (rank[row] if rank != NULL else column_value(X, feature, row))
        if value <= high:
            return False
        if value < low:
            low = value
            lowest = row
    row_below[0] = highest if sign > 0 else lowest
    row_above[0] = lowest if sign > 0 else highest
    return True


cdef bint separates_with_missing(Bag *bag, const columns_t *X, const uint8_t *ranks, int feature,
                                 int n_first, int32_t *row_below, int32_t *row_above) noexcept nogil:
    """Whether a feature with missing values separates the two classes: missing values go where more rows are."""
    cdef int step, i, second, left, gets
    cdef double value
    cdef double[2] low, high
    cdef int32_t row
    cdef int32_t[2] lowest, highest
    cdef int64_t[2] held, missing
    cdef bint is_missing
    cdef const uint8_t *rank = ranks + feature * X.n_rows if ranks != NULL else NULL
    for second in range(2):
        held[second] = missing[second] = 0
        low[second] = INFINITY
        high[second] = -INFINITY
        lowest[second] = highest[second] = -1
    # a row of the second class comes first, so that most features fail on one of the next
    for step in range(-1, bag.n):
        i = n_first if step < 0 else step
        if step == n_first:
            continue
        second = i >= n_first
        row = bag.rows[i]
        value = rank[row] if rank != NULL else column_value(X, feature, row)
        is_missing = value == GAP_CODE if rank != NULL else isnan(value)
        if is_missing:
            missing[second] += bag.weights[i]
            if missing[0] and missing[1]:
                return False
            continue
        held[second] += bag.weights[i]
        # infinite values, where the caller vouched for X, are rows as well
        if lowest[second] < 0 or value < low[second]:
            low[second] = value
            lowest[second] = row
        if highest[second] < 0 or value > high[second]:
            high[second] = value
            highest[second] = row
        if high[0] >= low[1] and high[1] >= low[0]:
            return False
    if not (held[0] and held[1]):
        return False
    left = high[1] < low[0]
    gets = left if held[left] >= held[1 - left] else 1 - left
    row_below[0] = highest[left]
    row_above[0] = lowest[1 - left]
    return missing[1 - gets] == 0


cdef Split find_perfect(Bag *bag, const columns_t *X, const uint8_t *ranks, const double *spread,
                        const int32_t *subspace, int n_columns) noexcept nogil:
    """Search a bag of two classes for a feature that separates them."""
    cdef Split best = NO_SPLIT
    cdef int c
    cdef int32_t row_below, row_above
    cdef double below, above, gap
    cdef bint found
    for c in range(n_columns):
        if X.has_missing:
            found = separates_with_missing(
                bag, X, ranks, subspace[c], bag.run_end[0], &row_below, &row_above
            )
        else:
            found = separates(bag, X, ranks, subspace[c], bag.run_end[0], &row_below, &row_above)
        if not found:
            continue
        below = column_value(X, subspace[c], row_below)
        above = column_value(X, subspace[c], row_above)
        gap = relative_gap(below, above, spread, subspace[c])
        if better(bag.total, gap, &best):
            best = Split(
                column=0, score=bag.total, gap=gap, threshold=midpoint(below, above)
            )
            bag.features[0] = subspace[c]
        if spread == NULL:
            break
    return best


cdef bint code_ordered(Bag *bag, const columns_t *X, const int32_t *order, int feature,
                       uint8_t *out) noexcept nogil:
    """Fill the codes of all rows of the bag for a column whose order is known.

    Returns whether the column varies; `out` is left half done where it does not.
    """
    cdef int64_t at
    cdef int n_found = 0, code = 0
    cdef int32_t row, position
    cdef double value, last = 0
    cdef const int32_t *column = order + <int64_t>feature * X.n_rows
    # first the rows of the bag, without a branch that nobody could predict
    for at in range(X.n_rows):
        position = bag.position[column[at]]
        bag.scratch[n_found] = position
        n_found += position >= 0
        if n_found == bag.n:
            break
    for at in range(n_found):
        position = bag.scratch[at]
        row = bag.rows[position]
        value = column_value(X, feature, row)
        code += at > 0 and value > last
        last = value
        out[<int64_t>position * bag.stride] = <uint8_t>code
    if X.has_missing:  # which come last
        for at in range(n_found - 1, -1, -1):
            position = bag.scratch[at]
            if not isnan(column_value(X, feature, bag.rows[position])):
                break
            out[<int64_t>position * bag.stride] = GAP_CODE
    return code > 0


cdef inline void code_missing(const double *values, int n, uint8_t *codes, int stride) noexcept nogil:
    cdef int j
    for j in range(n):
        if isnan(values[j]):
            codes[<int64_t>j * stride] = GAP_CODE


cdef void code_columns(Bag *bag, const columns_t *X, const uint8_t *codes, const int32_t *order,
                       const int32_t *subspace, int n_columns, int start, int stop) noexcept nogil:
    """Fill the codes of the node's rows for the features of the subspace."""
    cdef int c, j, n = stop - start, kept = 0
    cdef const uint8_t *column
    cdef uint8_t *out
    cdef bint varies
    if codes != NULL:
        for c in range(n_columns):
            if c + 8 < n_columns:
                column = codes + <int64_t>subspace[c + 8] * X.n_rows
                prefetch(column)
                prefetch(column + X.n_rows - 1)
            column = codes + <int64_t>subspace[c] * X.n_rows
            out = bag.codes + c
            bag.features[c] = subspace[c]
            for j in range(start, stop):
                out[<int64_t>bag.members[j] * bag.stride] = column[bag.rows[bag.members[j]]]
        bag.n_columns = n_columns
        return
    cdef bint whole = n == bag.n
    for c in range(n_columns):
        if order != NULL and whole and <int64_t>n * n > ORDER_COST * X.n_rows:
            if code_ordered(bag, X, order, subspace[c], bag.codes + kept):
                bag.features[kept] = subspace[c]
                kept += 1
            continue
        if whole:
            varies = gather_column(X, subspace[c], bag.rows, n, bag.position, bag.values)
        else:
            varies = False
            for j in range(n):
                bag.values[j] = column_value(X, subspace[c], bag.rows[bag.members[start + j]])
                varies |= bag.values[j] != bag.values[0]
        if not varies:
            continue
        bag.features[kept] = subspace[c]
        if whole:
            rank_column(bag.values, n, bag.codes + kept, bag.stride)
            if X.has_missing:
                code_missing(bag.values, n, bag.codes + kept, bag.stride)
        else:
            # the codes of a part of the bag are scattered to its places
            rank_column(bag.values, n, bag.separates, 1)
            if X.has_missing:
                code_missing(bag.values, n, bag.separates, 1)
            for j in range(n):
                bag.codes[<int64_t>bag.members[start + j] * bag.stride + kept] = bag.separates[j]
        kept += 1
    bag.n_columns = kept


cdef void consider_column(Bag *bag, const columns_t *X, const double *spread, int column,
                          int start, int stop, double wanted, Split *best) noexcept nogil:
    """Find the boundaries of one column whose score is `wanted`; keep the best of them."""
    cdef int i, k, code, position, lowest = 255, highest = 0
    cdef int32_t row_below = -1
    cdef double below, above, gap
    cdef int64_t n_held = bag.total
    cdef Sweep sweep
    cdef uint8_t *codes = bag.codes + column
    cdef int16_t *first = bag.first_with_code
    cdef int16_t *following = bag.next_with_code
    # rows by ascending code: a list for each code
    memset(first, 0xFF, 256 * sizeof(int16_t))
    for i in range(start, stop):
        position = bag.members[i]
        code = codes[<int64_t>position * bag.stride]
        following[position] = first[code]
        first[code] = position
        if X.has_missing and code == GAP_CODE:
            n_held -= bag.weights[position]
            continue
        lowest = min(lowest, code)
        highest = max(highest, code)
    memset(bag.left_counts, 0, bag.n_classes * sizeof(int64_t))
    sweep.squares_left = sweep.squares_right = sweep.n_left = 0
    for k in range(bag.n_classes):
        sweep.squares_right += <double>(bag.counts[k] * bag.counts[k])
    for code in range(lowest, highest + 1):
        position = first[code]
        if position < 0:
            continue
        if n_held < bag.total and 2 * sweep.n_left >= n_held:
            move_list(bag, &sweep, first[GAP_CODE])
            n_held = bag.total
        if row_below >= 0 and split_score(
            sweep.squares_left, sweep.n_left, sweep.squares_right, bag.total - sweep.n_left
        ) == wanted:
            below = column_value(X, bag.features[column], row_below)
            above = column_value(X, bag.features[column], bag.rows[position])
            gap = relative_gap(below, above, spread, bag.features[column])
            if better(wanted, gap, best):
                best.column = column
                best.score = wanted
                best.gap = gap
                best.threshold = midpoint(below, above)
            if spread == NULL:
                return
        row_below = bag.rows[position]
        move_list(bag, &sweep, position)


cdef inline void move_list(Bag *bag, Sweep *sweep, int position) noexcept nogil:
    """Move the rows of one code to the left."""
    while position >= 0:
        move_left(bag, sweep, bag.labels[position], bag.weights[position])
        position = bag.next_with_code[position]


cdef inline void fill_byte_weights(Bag *bag, int start, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        bag.byte_weights[i] = <uint8_t>bag.weights[bag.members[start + i]]


cdef Split search_side_by_side(Bag *bag, const columns_t *X, const double *spread,
                               int start, int stop, int n_runs) noexcept nogil:
    cdef Split best = NO_SPLIT
    cdef int c, n = stop - start
    cdef double highest = -1.0
    cdef bint separable = False
    if X.has_missing:
        fill_byte_weights(bag, start, n)
    if n_runs == 2 and X.has_missing:
        separable = separating_with_missing(
            bag.codes, bag.stride, bag.n_columns, bag.members + start, bag.byte_weights,
            bag.run_end[0], n, bag.separates,
        ) > 0
    elif n_runs == 2:
        separable = separating_columns(
            bag.codes, bag.stride, bag.n_columns, bag.members + start, bag.run_end[0], n,
            bag.separates,
        ) > 0
    if separable:
        for c in range(bag.n_columns):
            if bag.separates[c]:
                consider_column(bag, X, spread, c, start, stop, bag.total, &best)
                if spread == NULL:
                    break
        return best
    if X.has_missing:
        column_scores_with_missing(
            bag.codes, bag.stride, bag.n_columns, bag.members + start, bag.byte_weights, n,
            bag.run_end, bag.run_weight, n_runs, bag.total, bag.best,
        )
    else:
        fill_byte_weights(bag, start, n)
        column_scores(
            bag.codes, bag.stride, bag.n_columns, bag.members + start, bag.byte_weights, n,
            bag.run_end, bag.run_weight, n_runs, bag.total, bag.best,
        )
    for c in range(bag.n_columns):
        if bag.best[c] > highest:
            highest = bag.best[c]
    if highest < 0:
        return best
    for c in range(bag.n_columns):
        if bag.best[c] == highest:
            consider_column(bag, X, spread, c, start, stop, highest, &best)
            if spread == NULL:
                break
    return best
