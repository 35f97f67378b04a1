# How exemplars change by a row: split one that is wrong, stretch one that is right. Included by
# nnge.pyx.


# Parts -------------------------------------------------------------------------------------------

cdef inline void append(Learning *m, Rows *rows, int32_t row) noexcept nogil:
    m.following[row] = -1
    if rows.count:
        m.following[rows.last] = row
    else:
        rows.first = row
    rows.last = row
    rows.count += 1


cdef void clear(Learning *m, Part *part) noexcept nogil:
    cdef int64_t j
    for j in range(m.boxes.n_columns):
        part.lower[j] = INFINITY
        part.upper[j] = -INFINITY
    memset(part.held, 0, m.n_words * sizeof(uint64_t))
    part.rows.count = 0


cdef void stretch(const Learning *m, Part *part, int64_t row) noexcept nogil:
    cdef const double *x = m.X + row * m.boxes.n_columns
    cdef uint64_t *held = part.held
    cdef int64_t j, value
    for j in range(m.boxes.n_columns):
        if m.boxes.n_values[j]:
            value = <int64_t>x[j]
            held[value >> 6] |= <uint64_t>1 << (value & 63)
            held += words_of(&m.boxes, j)
        else:
            part.lower[j] = min(part.lower[j], x[j])
            part.upper[j] = max(part.upper[j], x[j])


cdef inline void take_in(Learning *m, Part *part, int32_t row) noexcept nogil:
    """Stretch a part to a row, which belongs to it from now on."""
    stretch(m, part, row)
    append(m, &part.rows, row)


cdef void load(Learning *m, int64_t e, Part *part) noexcept nogil:
    cdef Boxes *b = &m.boxes
    cdef int64_t j
    for j in range(b.n_columns):
        part.lower[j] = b.lower[j * b.stride + e]
        part.upper[j] = b.upper[j * b.stride + e]
    for j in range(m.n_words):
        part.held[j] = b.held[j * b.stride + e]
    part.rows = m.rows[e]


cdef void store(Learning *m, int64_t e, const Part *part) noexcept nogil:
    cdef Boxes *b = &m.boxes
    cdef int64_t j
    for j in range(b.n_columns):
        b.lower[j * b.stride + e] = part.lower[j]
        b.upper[j * b.stride + e] = part.upper[j]
    for j in range(m.n_words):
        b.held[j * b.stride + e] = part.held[j]
    m.rows[e] = part.rows


# Exemplars ---------------------------------------------------------------------------------------

cdef inline void touch(Learning *m, int64_t e) noexcept nogil:
    m.clock += 1
    m.stamps[e] = m.clock


cdef void add(Learning *m, const Part *part, int32_t label) noexcept nogil:
    cdef int64_t e = m.boxes.n
    m.boxes.n += 1
    store(m, e, part)
    m.labels[e] = label
    touch(m, e)


cdef void add_point(Learning *m, int32_t row, int32_t label) noexcept nogil:
    """Make an exemplar of one row."""
    clear(m, &m.point)
    take_in(m, &m.point, row)
    add(m, &m.point, label)


cdef void swap(Learning *m, int64_t e, int64_t f) noexcept nogil:
    """Let two exemplars change places; both parts are overwritten."""
    cdef int32_t label = m.labels[e]
    cdef int64_t stamp = m.stamps[e]
    cdef double distance = m.distances[e]
    load(m, e, &m.above)
    load(m, f, &m.below)
    store(m, f, &m.above)
    store(m, e, &m.below)
    m.labels[e], m.labels[f] = m.labels[f], label
    m.stamps[e], m.stamps[f] = m.stamps[f], stamp
    m.distances[e], m.distances[f] = m.distances[f], distance


cdef int64_t closest(const Learning *m, int32_t label, int64_t latest) noexcept nogil:
    """Return the nearest exemplar, of ties the one touched last, or -1.

    A label restricts the search to that class, and `latest` to what was last touched by then.
    """
    cdef int64_t e, best = -1
    for e in range(m.boxes.n):
        if (label >= 0 and m.labels[e] != label) or m.stamps[e] > latest:
            continue
        if best < 0 or m.distances[e] < m.distances[best] or (
            m.distances[e] == m.distances[best] and m.stamps[e] > m.stamps[best]
        ):
            best = e
    return best


# Splitting ---------------------------------------------------------------------------------------

cdef struct Cut:
    int64_t column
    double side  # distance to the nearest side of the box
    int64_t kept  # rows of the larger part


cdef int64_t count_kept(const Learning *m, int32_t first, int64_t j, double at) noexcept nogil:
    """Return the size of the larger part of some rows when column j is cut at a value."""
    cdef int64_t below = 0, above = 0
    cdef int32_t row = first
    cdef double value
    while row >= 0:
        value = m.X[row * m.boxes.n_columns + j]
        below += value < at
        above += value > at
        row = m.following[row]
    return below + above if m.boxes.n_values[j] else max(below, above)


cdef int64_t choose_cut(const Learning *m, const Part *part, const double *x) noexcept nogil:
    cdef Cut numeric = Cut(-1, INFINITY, -1), nominal = Cut(-1, 0.0, -1)
    cdef int64_t j, kept
    cdef double side
    for j in range(m.boxes.n_columns):
        kept = count_kept(m, part.rows.first, j, x[j])
        if m.boxes.n_values[j]:
            if kept > nominal.kept:
                nominal = Cut(j, 0.0, kept)
            continue
        side = INFINITY
        if m.spans[j] > 0:
            side = min(part.upper[j] - x[j], x[j] - part.lower[j]) / m.spans[j]
        if side < numeric.side or (side == numeric.side and kept > numeric.kept):
            numeric = Cut(j, side, kept)
    if numeric.column < 0 or nominal.kept > numeric.kept:
        return max(nominal.column, 0)  # infinite values have no nearest side
    return numeric.column


cdef bint fits(const Learning *m, const Part *part, const Part *other, const double *row,
               const double *x) noexcept nogil:
    """Whether a part may take in a row: it must not then hold x nor overlap the other part."""
    cdef int64_t j, w, word = 0, value
    cdef bint misses_x = False, misses_other = False
    cdef double lower, upper
    cdef uint64_t bits, common
    for j in range(m.boxes.n_columns):
        if m.boxes.n_values[j]:
            common = 0
            value = <int64_t>row[j]
            for w in range(words_of(&m.boxes, j)):
                bits = part.held[word + w]
                if w == value >> 6:
                    bits |= <uint64_t>1 << (value & 63)
                common |= bits & other.held[word + w]
            misses_other |= common == 0
            misses_x |= row[j] != x[j] and not is_held(part.held + word, 1, 0, <int64_t>x[j])
            word += words_of(&m.boxes, j)
        else:
            lower = min(part.lower[j], row[j])
            upper = max(part.upper[j], row[j])
            misses_x |= x[j] < lower or upper < x[j]
            misses_other |= other.upper[j] < lower or upper < other.lower[j]
    return misses_x and misses_other


cdef bint same_values(const Learning *m, int64_t row, int64_t other) noexcept nogil:
    cdef int64_t j, p = m.boxes.n_columns
    for j in range(p):
        if m.X[row * p + j] != m.X[other * p + j]:
            return False
    return True


cdef void keep_alone(Learning *m, int32_t row, int32_t label, int64_t since) noexcept nogil:
    """Make a point of a row, or add it to an equal point that was made after `since`."""
    cdef int64_t e
    for e in range(m.boxes.n):
        if m.stamps[e] > since and same_values(m, m.rows[e].first, row):
            append(m, &m.rows[e], row)
            return
    add_point(m, row, label)


cdef void deal(Learning *m, Rows *alone, int32_t first, int64_t cut, int32_t row) noexcept nogil:
    """Hand rows to the parts above and below the value of `row`; leave those at it alone.

    Rows that equal `row` in every column are dropped.
    """
    cdef int32_t member = first, following
    cdef int64_t p = m.boxes.n_columns
    cdef double value, at = m.X[row * p + cut]
    cdef Part *part
    while member >= 0:
        following = m.following[member]
        value = m.X[member * p + cut]
        if value == at:
            if not same_values(m, member, row):
                append(m, alone, member)
        else:
            part = &m.above if value > at or m.boxes.n_values[cut] else &m.below
            take_in(m, part, member)
        member = following


cdef void split(Learning *m, int64_t e, int32_t row) noexcept nogil:
    """Replace an exemplar by parts that do not hold a row; they do not overlap either."""
    cdef int64_t p = m.boxes.n_columns, since = m.clock, cut
    cdef const double *x = m.X + row * p
    cdef const double *values
    cdef int32_t label = m.labels[e], member, following
    cdef Rows alone
    cdef Part *part
    alone.first = -1
    alone.count = 0
    load(m, e, &m.above)
    cut = choose_cut(m, &m.above, x)
    member = m.above.rows.first
    m.boxes.n -= 1
    swap(m, e, m.boxes.n)
    clear(m, &m.above)
    clear(m, &m.below)
    deal(m, &alone, member, cut, row)
    member = alone.first
    while member >= 0:
        following = m.following[member]
        values = m.X + member * p
        part = NULL
        if fits(m, &m.above, &m.below, values, x):
            part = &m.above
        elif fits(m, &m.below, &m.above, values, x):
            part = &m.below
        if part == NULL:
            keep_alone(m, member, label, since)
        else:
            take_in(m, part, member)
        member = following
    if m.above.rows.count:
        add(m, &m.above, label)
    if m.below.rows.count:
        add(m, &m.below, label)


cdef void adjust(Learning *m, int32_t row) noexcept nogil:
    """Split the nearest exemplar if it holds a row of another class."""
    cdef const double *x = m.X + row * m.boxes.n_columns
    cdef int64_t e
    measure(&m.boxes, x, m.distances)
    e = closest(m, -1, m.clock)
    if m.labels[e] != m.row_labels[row] and holds(&m.boxes, e, x):
        split(m, e, row)


# Generalising ------------------------------------------------------------------------------------

cdef bint overlaps_others(const Learning *m, const Part *part, int64_t e) noexcept nogil:
    cdef int64_t f
    for f in range(m.boxes.n):
        if f != e and overlap(&m.boxes, f, part):
            return True
    return False


cdef void generalise(Learning *m, int32_t row, int64_t n_attempts) noexcept nogil:
    """Let one of the nearest exemplars of its class take a row in, or make a point of it.

    What was tried is touched, so each attempt takes the nearest of those not touched since. Splits
    have changed other classes only: the distances still hold.
    """
    cdef int64_t e, since = m.clock
    cdef int32_t label = m.row_labels[row]
    for _ in range(n_attempts):
        e = closest(m, label, since)
        if e < 0:
            break
        touch(m, e)
        load(m, e, &m.above)
        stretch(m, &m.above, row)
        if not overlaps_others(m, &m.above, e):
            append(m, &m.above.rows, row)
            store(m, e, &m.above)
            return
    add_point(m, row, label)


cdef void sort_by_stamp(Learning *m) noexcept nogil:
    """Put the exemplars that were touched last first: far less work than learning them."""
    cdef int64_t e, f, latest
    for e in range(m.boxes.n):
        latest = e
        for f in range(e + 1, m.boxes.n):
            if m.stamps[f] > m.stamps[latest]:
                latest = f
        if latest != e:
            swap(m, e, latest)
