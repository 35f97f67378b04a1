# Ranges and weights of the columns after each row. Included by nnge.pyx.


cdef inline void add_to_cell(Learning *m, int64_t cell, int64_t label) noexcept nogil:
    m.cells[cell] += 1
    m.joint[cell * m.n_classes + label] += 1


cdef void count_row(Learning *m, int64_t row, int64_t j, int64_t start) noexcept nogil:
    """Count a row in its interval of a numeric column, whose cells start at `start`."""
    cdef double value = m.X[row * m.boxes.n_columns + j], low = m.low[j]
    cdef double width = m.spans[j] / m.n_intervals
    cdef int64_t k, place = 0
    if m.half_open:
        for k in range(1, m.n_intervals):
            place += low + k * width <= value
        add_to_cell(m, start + place, m.row_labels[row])
        return
    for k in range(m.n_intervals):
        if low + k * width <= value and value <= low + (k + 1) * width:
            add_to_cell(m, start + k, m.row_labels[row])


cdef void see_value(Learning *m, int64_t row, int64_t j, int64_t start) noexcept nogil:
    """Widen the range of a numeric column by a row and count it."""
    cdef double value = m.X[row * m.boxes.n_columns + j]
    cdef int64_t i
    if m.low[j] <= value and value <= m.high[j]:
        count_row(m, row, j, start)
        return
    m.low[j] = min(m.low[j], value)
    m.high[j] = max(m.high[j], value)
    m.spans[j] = min(m.high[j] - m.low[j], DBL_MAX)
    memset(m.cells + start, 0, m.n_intervals * sizeof(int32_t))
    memset(m.joint + start * m.n_classes, 0, m.n_intervals * m.n_classes * sizeof(int32_t))
    for i in range(row + 1):
        count_row(m, i, j, start)


cdef double information(const Learning *m, int64_t start, int64_t end) noexcept nogil:
    """Return the mutual information of cells and classes, in bits; independent ones add 0."""
    cdef int64_t cell, k, both, size, n = m.n_seen
    cdef double total = 0.0
    for cell in range(start, end):
        size = m.cells[cell]
        for k in range(m.n_classes if size else 0):
            both = m.joint[cell * m.n_classes + k]
            if both and both * n != size * m.of_class[k]:
                total += both * ((m.logs[both] - m.logs[size]) + m.rarity[k])
    return total / n


cdef void see(Learning *m, int64_t row) noexcept nogil:
    """Update the ranges, the counts and the weights of all columns by a row."""
    cdef int64_t j, k, start = 0, end
    m.n_seen += 1
    m.of_class[m.row_labels[row]] += 1
    for k in range(m.n_classes):
        m.rarity[k] = m.logs[m.n_seen] - m.logs[m.of_class[k]]
    for j in range(m.boxes.n_columns):
        if m.boxes.n_values[j]:
            end = start + m.boxes.n_values[j]
            add_to_cell(
                m, start + <int64_t>m.X[row * m.boxes.n_columns + j], m.row_labels[row]
            )
        else:
            end = start + m.n_intervals
            see_value(m, row, j, start)
        m.weights[j] = information(m, start, end)
        start = end
