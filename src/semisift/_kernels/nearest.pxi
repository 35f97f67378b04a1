# The neighbour graph of one subspace. Part of neighbours.pyx.

cdef extern from "neighbours.h" nogil:
    int AT_ONCE, GROUP
    double ROUNDING
    void dense_distances(const float *z, int64_t n_columns, int64_t stride, const int64_t *nodes,
                         float *out)
    void group_minima(const float *d, int64_t stride, int64_t width, float *minima)
    float bound_of(const float *minima, int64_t n, int64_t k)
    int64_t nodes_within(const float *d, int64_t n, const float *minima, int64_t width,
                         float bound, int32_t *nodes)
    double row_distance(const double *a, const double *b, const double *unit, int64_t width)
    void exact_distances(const double *rows, int64_t width, const double *unit, int64_t row,
                         const int32_t *others, int64_t n, double *out)
    void add_differences(const double *a, const double *b, double weight, int64_t width,
                         double *sums)
    void add_all_differences(const double *rows, int64_t width, int64_t row, const int32_t *others,
                             const double *weights, int64_t n, double *sums)
    double distance_of_mass(double *d, double *mass, int64_t n, double wanted)


cdef struct Graph:
    # nodes: the distinct rows, one after the other, with as many doubles each as `width`
    double *rows
    int64_t *counts
    double *unit  # of each column, in which it is measured
    int64_t n_nodes, n_rows, n_columns, width, stride, k
    bint exact  # whether float32 holds all distances exactly
    bint is_sparse  # few values differ from 0: a matter of the values, not of how X stores them
    # edges from node i: from starts[i] on
    int64_t *starts
    int32_t *ends
    double *d2
    double *share
    int64_t capacity
    # the search
    float *z
    float *lengths
    float *near
    float *minima
    int64_t group
    double error, longest
    double *masses
    double *copy
    int32_t *found
    # the values that are not 0, by row and by column
    int64_t *row_starts
    int32_t *row_columns
    int64_t *column_starts
    int32_t *column_rows
    float *column_values


cdef void list_values(Graph *g, int64_t n_values) noexcept nogil:
    """List the values that are not 0 by row and by column."""
    cdef int64_t i, c, at = 0
    memset(g.column_starts, 0, (g.n_columns + 1) * sizeof(int64_t))
    for i in range(g.n_nodes):
        g.row_starts[i] = at
        for c in range(g.n_columns):
            if g.rows[i * g.width + c] != 0.0:
                g.row_columns[at] = <int32_t>c
                at += 1
                g.column_starts[c + 1] += 1
    g.row_starts[g.n_nodes] = at
    for c in range(g.n_columns):
        g.column_starts[c + 1] += g.column_starts[c]
    for i in range(g.n_nodes):
        for at in range(g.row_starts[i], g.row_starts[i + 1]):
            c = g.row_columns[at]
            g.column_rows[g.column_starts[c]] = <int32_t>i
            g.column_values[g.column_starts[c]] = <float>(g.rows[i * g.width + c] * g.unit[c])
            g.column_starts[c] += 1
    for c in range(g.n_columns, 0, -1):
        g.column_starts[c] = g.column_starts[c - 1]
    g.column_starts[0] = 0


cdef void prepare_search(Graph *g, const double *mean) noexcept nogil:
    """Copy the nodes to float32, with the error that this may bring into distances."""
    cdef int64_t i, c, n_values = 0
    cdef double value, length, largest
    cdef float *column
    for i in range(g.n_nodes * g.width):
        n_values += g.rows[i] != 0.0
    g.is_sparse = 8 * n_values < g.n_nodes * g.n_columns
    g.error = 0.0
    g.longest = 0.0
    if g.is_sparse:
        list_values(g, n_values)
        memset(g.lengths, 0, g.stride * sizeof(float))
        for i in range(g.n_nodes):
            length = 0.0
            for c in range(g.n_columns):
                value = g.rows[i * g.width + c] * g.unit[c]
                length += value * value
            g.lengths[i] = <float>length
            g.longest = max(g.longest, length)
        return
    for c in range(g.n_columns):
        column = g.z + c * g.stride
        largest = 0.0
        for i in range(g.n_nodes):
            value = g.rows[i * g.width + c]
            if not g.exact:
                value = value - mean[c]
            value = value * g.unit[c]
            largest = max(largest, fabs(value))
            column[i] = <float>value
        for i in range(g.n_nodes, g.stride):
            column[i] = 0.0
        g.error += 4.0 * largest * largest
    g.error = ROUNDING * sqrt(g.error)


cdef void sparse_distances(const Graph *g, int64_t node, float *out) noexcept nogil:
    cdef int64_t i, at, c
    cdef float value, length = g.lengths[node]
    for i in range(g.stride):
        out[i] = g.lengths[i] + length
    for at in range(g.row_starts[node], g.row_starts[node + 1]):
        c = g.row_columns[at]
        value = 2 * <float>(g.rows[node * g.width + c] * g.unit[c])
        for i in range(g.column_starts[c], g.column_starts[c + 1]):
            out[g.column_rows[i]] -= value * g.column_values[i]


cdef double reach(const Graph *g, int64_t node, float bound) noexcept nogil:
    """The largest float32 distance at which a node may truly be as near as `bound`."""
    cdef double root, share = 2.0 * ROUNDING * (g.n_columns + 8)
    if g.exact:
        return bound
    if g.is_sparse:
        return bound + 2.0 * share * (g.lengths[node] + g.longest)
    root = sqrt(bound) * (1.0 + share) + 2.0 * g.error
    return root * root * (1.0 + share)


cdef int link(Graph *g, int64_t node, float *d) noexcept nogil:
    """Give the places of a node to its nearest nodes; those at the last distance share."""
    cdef int64_t start = g.starts[node], n = g.n_nodes, found, used = 0, e, wanted
    cdef double last, tie, taken = 0.0, shared = 0.0, mass, part
    for e in range(n, g.stride):
        d[e] = INFINITY
    d[node] = INFINITY
    wanted = g.k - (g.counts[node] - 1)
    g.starts[node + 1] = start
    if wanted <= 0 or n < 2:
        return 0
    group_minima(d, g.stride, g.group, g.minima)
    last = bound_of(g.minima, g.group, min(wanted, n - 1))
    found = nodes_within(d, n, g.minima, g.group, <float>reach(g, node, <float>last), g.found)
    if start + found > g.capacity:
        e = 2 * (start + found)
        g.ends = <int32_t *>realloc(g.ends, e * sizeof(int32_t))
        g.d2 = <double *>realloc(g.d2, e * sizeof(double))
        g.share = <double *>realloc(g.share, e * sizeof(double))
        if g.ends == NULL or g.d2 == NULL or g.share == NULL:
            return -1
        g.capacity = e
    if g.exact:
        for e in range(found):
            g.d2[start + e] = d[g.found[e]]
    else:
        exact_distances(g.rows, g.width, g.unit, node, g.found, found, g.d2 + start)
    for e in range(found):
        g.copy[e] = g.d2[start + e]
        g.masses[e] = g.counts[g.found[e]]
    last = distance_of_mass(g.copy, g.masses, found, wanted)
    tie = TIE * last
    for e in range(found):
        mass = g.counts[g.found[e]]
        if g.d2[start + e] < last - tie:
            taken += mass
        elif g.d2[start + e] <= last + tie:
            shared += mass
    part = (wanted - taken) / shared
    for e in range(found):
        if g.d2[start + e] > last + tie:
            continue
        g.ends[start + used] = g.found[e]
        g.share[start + used] = 1.0 if g.d2[start + e] < last - tie else part
        g.d2[start + used] = g.d2[start + e]
        used += 1
    g.starts[node + 1] = start + used
    return 0


cdef int find_neighbours(Graph *g, const double *mean) noexcept nogil:
    """Fill in the edges of all nodes; -1 where memory runs out."""
    cdef int64_t i = 0, r
    cdef int64_t nodes[4]
    g.starts[0] = 0
    if g.k < 1:
        memset(g.starts, 0, (g.n_nodes + 1) * sizeof(int64_t))
        return 0
    prepare_search(g, mean)
    while i < g.n_nodes:
        if g.is_sparse:
            for r in range(min(AT_ONCE, g.n_nodes - i)):
                sparse_distances(g, i + r, g.near + r * g.stride)
        else:
            for r in range(AT_ONCE):
                nodes[r] = min(i + r, g.n_nodes - 1)
            dense_distances(g.z, g.n_columns, g.stride, nodes, g.near)
        for r in range(min(AT_ONCE, g.n_nodes - i)):
            if link(g, i + r, g.near + r * g.stride) < 0:
                return -1
        i += AT_ONCE
    return 0


cdef void unite(Graph *g) noexcept nogil:
    """Make an edge and its reverse one edge with the larger share, counted both ways."""
    cdef int64_t i, j, e, back
    cdef double reverse
    for i in range(g.n_nodes):
        for e in range(g.starts[i], g.starts[i + 1]):
            j = g.ends[e]
            reverse = 0.0
            for back in range(g.starts[j], g.starts[j + 1]):
                if g.ends[back] == i:
                    reverse = g.share[back]
            if reverse > 0.0 and j < i:
                g.share[e] = -1.0  # its reverse, seen before, stands for both
            else:
                g.share[e] = max(g.share[e], reverse)
    for e in range(g.starts[g.n_nodes]):
        g.share[e] = max(2.0 * g.share[e], 0.0)


cdef void add_sparse_differences(const Graph *g, int64_t i, double *sums) noexcept nogil:
    """As add_all_differences, by the values that are not 0."""
    cdef int64_t e, at, c, j
    cdef double difference, weight
    cdef const double *a = g.rows + i * g.width
    cdef const double *b
    for e in range(g.starts[i], g.starts[i + 1]):
        j = g.ends[e]
        b = g.rows + j * g.width
        weight = g.share[e]
        for at in range(g.row_starts[i], g.row_starts[i + 1]):
            c = g.row_columns[at]
            difference = a[c] - b[c]
            sums[c] += weight * (difference * difference)
        for at in range(g.row_starts[j], g.row_starts[j + 1]):
            c = g.row_columns[at]
            if a[c] == 0.0:
                sums[c] += weight * (b[c] * b[c])
