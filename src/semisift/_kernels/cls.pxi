# The constrained Laplacian score of one member. Part of neighbours.pyx.

cdef struct Options:
    bint union_graph, heat, raw_scale, shift, self_loops, degree_mean
    double constant


cdef inline double heat_weight(double d2, double low, double rate) noexcept nogil:
    return 1.0 if d2 <= low else exp(-(d2 - low) * rate)


cdef double smallest_distance(Work *w, const int32_t *counts, const int32_t *pairs,
                              int64_t n_must) noexcept nogil:
    """The least squared distance of all edges; the heat of must-link pairs is their distance."""
    cdef Graph *g = &w.graph
    cdef int64_t i, e
    cdef double low = INFINITY
    for i in range(n_must):
        if counts[i] == 0:
            continue
        w.heat[i] = row_distance(
            w.rows + pairs[2 * i] * g.width, w.rows + pairs[2 * i + 1] * g.width, g.unit, g.width
        )
        low = min(low, w.heat[i])
    for i in range(g.n_nodes):
        if g.counts[i] > 1:
            low = 0.0
    for e in range(g.starts[g.n_nodes]):
        if g.share[e] > 0.0:
            low = min(low, g.d2[e])
    return low


cdef void add_neighbours(Work *w, const Options *options, double low, double rate,
                         double *parts, double *totals) noexcept nogil:
    cdef Graph *g = &w.graph
    cdef int64_t i, e
    cdef double weight
    cdef double *degrees = w.degrees + w.n_constrained
    memset(w.sums, 0, g.width * sizeof(double))
    for i in range(g.n_nodes):
        for e in range(g.starts[i], g.starts[i + 1]):
            weight = heat_weight(g.d2[e], low, rate) if options.heat else 1.0
            if g.share[e] > 0.0:
                totals[4] = max(totals[4], weight)
            g.share[e] *= weight * g.counts[i] * g.counts[g.ends[e]]
            degrees[i] += 0.5 * g.share[e]
            degrees[g.ends[e]] += 0.5 * g.share[e]
        if g.counts[i] > 1 and g.k > 0:
            weight = heat_weight(0.0, low, rate) if options.heat else 1.0
            totals[4] = max(totals[4], weight)
            degrees[i] += weight * g.counts[i] * min(g.k, g.counts[i] - 1)
        if g.is_sparse:
            add_sparse_differences(g, i, w.sums)
        else:
            add_all_differences(g.rows, g.width, i, g.ends + g.starts[i], g.share + g.starts[i],
                                g.starts[i + 1] - g.starts[i], w.sums)
    memcpy(parts, w.sums, g.n_columns * sizeof(double))


cdef void add_must_links(Work *w, const Options *options, double low, double rate,
                         const int32_t *copies, const int32_t *pairs, const int32_t *counts,
                         int64_t n_must, double *parts, double *totals) noexcept nogil:
    cdef Graph *g = &w.graph
    cdef int64_t i, first, second
    cdef double weight
    memset(w.sums, 0, g.width * sizeof(double))
    for i in range(n_must):
        if counts[i] == 0:
            continue
        first, second = pairs[2 * i], pairs[2 * i + 1]
        weight = heat_weight(w.heat[i], low, rate) if options.heat else 1.0
        totals[4] = max(totals[4], weight)
        weight *= counts[i]
        totals[1] += 2.0 * weight
        w.degrees[first] += weight / copies[first]
        w.degrees[second] += weight / copies[second]
        add_differences(w.rows + first * g.width, w.rows + second * g.width, 2.0 * weight,
                        g.width, w.sums)
    for i in range(w.n_constrained):
        if copies[i] > 1:  # the copies of a row are must-links at distance 0
            weight = heat_weight(0.0, low, rate) if options.heat else 1.0
            totals[4] = max(totals[4], weight)
            totals[1] += weight * copies[i] * (copies[i] - 1)
            w.degrees[i] += weight * (copies[i] - 1)
    memcpy(parts, w.sums, g.n_columns * sizeof(double))


cdef void add_cannot_links(Work *w, const int32_t *pairs, const int32_t *counts, int64_t n_must,
                           int64_t n_pairs, double *parts, double *totals) noexcept nogil:
    cdef Graph *g = &w.graph
    cdef int64_t i, first, second
    cdef double weight
    memset(w.sums, 0, g.width * sizeof(double))
    for i in range(n_must, n_pairs):
        if counts[i] == 0:
            continue
        first, second = pairs[2 * i], pairs[2 * i + 1]
        weight = counts[i] * (w.degrees[first] + w.degrees[second])
        totals[2] += weight
        totals[3] += counts[i]
        add_differences(w.rows + first * g.width, w.rows + second * g.width, weight, g.width,
                        w.sums)
    memcpy(parts, w.sums, g.n_columns * sizeof(double))


cdef void add_variance(Work *w, const Options *options, const int32_t *copies, double *parts,
                       double *totals) noexcept nogil:
    cdef Graph *g = &w.graph
    cdef int64_t i, c
    cdef double weight, total = 0.0
    if options.degree_mean:
        memset(w.mean, 0, g.width * sizeof(double))
        for i in range(w.n_constrained + g.n_nodes):
            weight = w.degrees[i] * (copies[i] if i < w.n_constrained else 1)
            total += weight
            for c in range(g.n_columns):
                w.mean[c] += weight * w.rows[i * g.width + c]
        for c in range(g.n_columns):
            w.mean[c] = w.mean[c] / total if total > 0.0 else 0.0
    memset(w.sums, 0, g.width * sizeof(double))
    for i in range(g.n_nodes):
        totals[0] += w.degrees[w.n_constrained + i]
        add_differences(g.rows + i * g.width, w.mean, w.degrees[w.n_constrained + i], g.width,
                        w.sums)
    memcpy(parts, w.sums, g.n_columns * sizeof(double))


cdef int score_member(Work *w, const Options *options, const int32_t *copies,
                      const int32_t *pairs, const int32_t *counts, int64_t n_must,
                      int64_t n_pairs, double *parts, double *totals) noexcept nogil:
    """Add up the four sums of each column, and the weights that they were added up with."""
    cdef int64_t i, m = w.graph.n_columns
    cdef double scale = centre(w, copies), low, rate
    if find_neighbours(&w.graph, w.mean) < 0:
        return -1
    if options.union_graph:
        unite(&w.graph)
    low = smallest_distance(w, counts, pairs, n_must)
    for i in range(w.n_constrained):
        if copies[i] > 1:
            low = 0.0
    if not options.shift:
        low = 0.0
    if options.raw_scale:
        rate = ldexp(1.0 / options.constant, <int>(2 * w.top))
    else:
        rate = 1.0 / (options.constant * scale) if scale > 0.0 else 0.0
    memset(w.degrees, 0, (w.n_constrained + w.graph.n_nodes) * sizeof(double))
    memset(totals, 0, 5 * sizeof(double))
    add_neighbours(w, options, low, rate, parts, totals)
    add_must_links(w, options, low, rate, copies, pairs, counts, n_must, parts + m, totals)
    if options.self_loops:
        for i in range(w.n_constrained):
            w.degrees[i] += totals[4] if totals[4] > 0.0 else 1.0
    add_cannot_links(w, pairs, counts, n_must, n_pairs, parts + 2 * m, totals)
    add_variance(w, options, copies, parts + 3 * m, totals)
    return 0


def cls_parts(Columns X, const int32_t[::1] exponents, const int32_t[:, ::1] subspaces,
              const int32_t[::1] constrained, const int32_t[:, ::1] copies,
              const int32_t[:, ::1] unlabelled, const int32_t[:, ::1] pairs, Py_ssize_t n_must,
              const int32_t[:, ::1] pair_counts, options):
    """Add up the constrained Laplacian score of each member in its subspace.

    Parameters
    ----------
    X : Columns
    exponents : int32 array of shape (n_features,)
        Of the powers of two that are the units of the columns.
    subspaces : int32 array of shape (n_members, m)
    constrained : int32 array
        The labelled rows, and those in pairs.
    copies : int32 array of shape (n_members, n_constrained)
        How often each of them counts; 0: not at all.
    unlabelled : int32 array of shape (n_members, n_unlabelled), or (1, n_unlabelled) for all
    pairs : int32 array of shape (n_pairs, 2)
        Places in `constrained`; first `n_must` must-links, then cannot-links.
    pair_counts : int32 array of shape (n_members, n_pairs), or (0, 0)
        How often each pair counts; without them as often as its rows.
    options : semisift.filters._constrained_laplacian.TieOptions

    Returns
    -------
    parts : array of shape (n_members, 4, m)
        Neighbours, must-links, cannot-links and variance, each column in its own unit; NaN where a
        column is constant.
    totals : array of shape (n_members, 5)
        The weights of unlabelled rows, must-links and cannot-links, the number of cannot-links and
        the largest weight of an edge.
    """
    cdef Py_ssize_t n_members = subspaces.shape[0], m = subspaces.shape[1], i, j, own
    cdef Py_ssize_t n_pairs = pairs.shape[0], n = unlabelled.shape[1], k
    cdef bint bags_pairs = pair_counts.shape[0] > 0, failed = False
    k = max(0, min(options.n_neighbors, n - 1))
    cdef Memory memory = Memory(constrained.shape[0], n_pairs, n, m, k)
    memory.w.graph.k = k
    memory.w.graph.n_rows = n
    cdef Options how = Options(
        union_graph=options.graph == "union", heat=options.weights == "heat",
        raw_scale=options.heat_scale == "raw", constant=options.heat_constant,
        shift=options.shift, self_loops=options.self_loops, degree_mean=options.mean == "D",
    )
    parts = np.empty((n_members, 4, m))
    totals = np.empty((n_members, 5))
    cdef double[:, :, ::1] out = parts
    cdef double[:, ::1] sums = totals
    cdef int32_t[::1] place = np.full(X.c.n_rows, -1, dtype=np.int32)
    cdef int32_t[::1] counts = np.ones(n_pairs + 1, dtype=np.int32)
    cdef const int32_t *own_copies
    with nogil:
        for j in range(constrained.shape[0]):
            place[constrained[j]] = j
        for i in range(n_members):
            own = i if unlabelled.shape[0] > 1 else 0
            if i == 0 or own > 0:
                for j in range(n if own > 0 else 0):
                    place[unlabelled[own - 1, j]] = -1
                for j in range(n):
                    place[unlabelled[own, j]] = constrained.shape[0] + j
            for j in range(n_pairs):
                counts[j] = pair_counts[i, j] if bags_pairs else (
                    copies[i, pairs[j, 0]] * copies[i, pairs[j, 1]]
                )
            own_copies = &copies[i, 0] if constrained.shape[0] else NULL
            gather(&memory.w, &X.c, &subspaces[i, 0], &exponents[0],
                   &constrained[0] if constrained.shape[0] else NULL, own_copies,
                   &unlabelled[own, 0] if n else NULL, &place[0])
            merge(&memory.w)
            if score_member(&memory.w, &how, own_copies, &pairs[0, 0] if n_pairs else NULL,
                            &counts[0], n_must, n_pairs, &out[i, 0, 0], &sums[i, 0]) < 0:
                failed = True
                break
            for j in range(m):
                if memory.w.low[j] == memory.w.high[j]:
                    out[i, 0, j] = out[i, 1, j] = out[i, 2, j] = out[i, 3, j] = NAN
    if failed:
        raise MemoryError
    return parts, totals
