# Rows of large trees, walked by lists, while a feature is permuted. Part of importance.pyx.

# Up to so many thresholds, a look at the whole column for each beats a search for each row.
cdef int MIN_THRESHOLDS = 8


cdef int compare_doubles(const void *a, const void *b) noexcept nogil:
    cdef double first = (<const double *>a)[0], second = (<const double *>b)[0]
    return (first > second) - (first < second)


cdef struct Part:
    # the rows of a list that reach a node while the feature lies in some of its intervals
    int32_t node
    int32_t first
    int32_t last
    int64_t start
    int64_t stop


cdef class _Permutation(_MaskedPermutation):
    """The same for trees of any size: large ones are walked by lists of rows instead of masks."""

    # of the last tree, where it is walked by lists: the nodes of each feature
    cdef int32_t *first_node
    cdef int32_t *next_node
    cdef Part *parts
    cdef int64_t n_parts
    cdef int32_t *lists
    cdef int64_t n_listed
    cdef double *n_right  # permuted rows whose value would let a row turn out right
    cdef uint64_t *right_in  # the intervals, of 64 of them, in which a row turns out right
    cdef double *lost
    cdef double *gained

    def __cinit__(self, Py_ssize_t n_nodes, Py_ssize_t n_words, Py_ssize_t n_features,
                  bint sampled, int by_lists):
        self.first_node = <int32_t *>malloc(max(n_features, 1) * sizeof(int32_t))
        self.next_node = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.n_right = <double *>calloc(max(64 * n_words, 1), sizeof(double))
        self.right_in = <uint64_t *>calloc(max(64 * n_words, 1), sizeof(uint64_t))
        self.lost = <double *>malloc((n_nodes + 1) * sizeof(double))
        self.gained = <double *>malloc((n_nodes + 1) * sizeof(double))
        if (
            self.first_node == NULL or self.next_node == NULL or self.n_right == NULL
            or self.right_in == NULL or self.lost == NULL or self.gained == NULL
        ):
            raise MemoryError

    def __dealloc__(self):
        free(self.first_node)
        free(self.next_node)
        free(self.parts)
        free(self.lists)
        free(self.n_right)
        free(self.right_in)
        free(self.lost)
        free(self.gained)

    cdef double loss(self, const Tree *tree, int feature, bint net, bint sampled,
                     double row_cost) except? -1 nogil:
        """Weight of the rows that turn wrong less, if net, that of those that turn right."""
        cdef bint by_rows
        if self.fallen.listed:
            self.sort_thresholds(tree, feature)
        else:
            self.find_thresholds(tree, feature)
        self.find_missing(feature)
        # by masks all rows are walked for each interval of the feature, by rows all intervals
        by_rows = (
            (self.n_thresholds + 1.0) * tree.n_nodes * self.n_words > row_cost * self.n_permuted
        )
        if self.fallen.listed:
            return self.loss_by_lists(tree, feature, net, sampled, by_rows)
        if by_rows:
            return self.loss_by_rows(tree, feature, sampled)
        self.make_detours(tree.n_nodes)
        return self.loss_by_masks(tree, feature, net, sampled)

    cdef void list_nodes(self, const Tree *tree) noexcept nogil:
        """Chain the nodes that split on the same feature, in the order of their numbers."""
        cdef int v
        for v in range(tree.n_nodes - 1, -1, -1):
            if tree.leaf[v] < 0:
                self.first_node[tree.feature[v]] = -1
        for v in range(tree.n_nodes - 1, -1, -1):
            if tree.leaf[v] < 0:
                self.next_node[v] = self.first_node[tree.feature[v]]
                self.first_node[tree.feature[v]] = v

    cdef void sort_thresholds(self, const Tree *tree, int feature) noexcept nogil:
        """Find the thresholds of a feature, and the rank of each node's among them."""
        cdef int v, n = 0, j
        v = self.first_node[feature]
        while v >= 0:
            self.thresholds[n] = tree.threshold[v]
            n += 1
            v = self.next_node[v]
        qsort(self.thresholds, n, sizeof(double), compare_doubles)
        self.n_thresholds = 0
        for j in range(n):
            if j == 0 or self.thresholds[j] > self.thresholds[self.n_thresholds - 1]:
                self.thresholds[self.n_thresholds] = self.thresholds[j]
                self.n_thresholds += 1
        v = self.first_node[feature]
        while v >= 0:
            self.threshold_ranks[v] = self.interval_of(tree.threshold[v])
            v = self.next_node[v]

    cdef int interval_of(self, double value) noexcept nogil:
        """Find the first threshold that a value does not exceed; missing values come behind them all."""
        cdef int low = 0, high = self.n_thresholds, middle
        if isnan(value):
            return self.n_thresholds + 1
        while low < high:
            middle = (low + high) // 2
            if value <= self.thresholds[middle]:
                high = middle
            else:
                low = middle + 1
        return low

    cdef void count_below(self, int feature) noexcept nogil:
        """Count the permuted rows at or below each threshold."""
        cdef int interval
        cdef int64_t w, j, n
        cdef int32_t row
        cdef double total = 0
        if self.n_thresholds <= MIN_THRESHOLDS:
            for interval in range(self.n_thresholds):
                column_mask(self.X, feature, self.thresholds[interval], False, self.given)
                for w in range(self.n_words):
                    self.given[w] &= self.permuted[w]
                self.n_below[interval] = self.mass_of(self.given)
        else:
            memset(self.n_below, 0, (self.n_thresholds + 2) * sizeof(double))
            n = list_rows(self.permuted, self.n_words, self.fallen.scratch)
            for j in range(n):
                row = self.fallen.scratch[j]
                self.n_below[self.interval_of(column_value(self.X, feature, row))] += (
                    1.0 if self.copies == NULL else self.copies[row]
                )
            for interval in range(self.n_thresholds):
                total += self.n_below[interval]
                self.n_below[interval] = total
        self.n_below[self.n_thresholds] = self.mass - self.missing_mass

    cdef int have_room(self, int64_t n_parts, int64_t n_listed) except -1 nogil:
        cdef void *moved
        if n_parts > self.n_parts:
            moved = realloc(self.parts, 2 * n_parts * sizeof(Part))
            if moved == NULL:
                with gil:
                    raise MemoryError
            self.parts = <Part *>moved
            self.n_parts = 2 * n_parts
        if n_listed > self.n_listed:
            moved = realloc(self.lists, 2 * n_listed * sizeof(int32_t))
            if moved == NULL:
                with gil:
                    raise MemoryError
            self.lists = <int32_t *>moved
            self.n_listed = 2 * n_listed
        return 0

    cdef int walk_lists(self, const Tree *tree, int feature, int v, int first, int last,
                        bint by_rows) except -1 nogil:
        """Let the permuted rows of a node fall on with the feature in some of its intervals.

        Where a node splits on the feature, all rows go both ways, each with its share of the
        intervals. For each row that is right at a leaf, the permuted rows with such values are
        counted (by rows), or these intervals are noted.
        """
        cdef int n_pending = 1, rank
        cdef int64_t j, n = 0, middle
        cdef double count
        cdef int32_t row
        cdef uint64_t bits
        cdef Part part
        self.have_room(tree.n_nodes + 2, self.fallen.stops[v] - self.fallen.starts[v])
        for j in range(self.fallen.starts[v], self.fallen.stops[v]):
            row = self.fallen.rows[j]
            if self.permuted[row >> 6] >> (row & 63) & 1:
                self.lists[n] = row
                n += 1
        self.parts[0] = Part(node=v, first=first, last=last, start=0, stop=n)
        while n_pending:
            # the list of the last part is the last one, so that it can be split where it lies
            n_pending -= 1
            part = self.parts[n_pending]
            n = part.stop - part.start
            if n == 0:
                continue
            v = part.node
            if tree.leaf[v] >= 0:
                count = self.n_below[part.last]
                if part.first > 0:
                    count -= self.n_below[part.first - 1]
                bits = 0
                if not by_rows:
                    bits = ~bits >> (63 - (part.last - part.first)) << (part.first - first)
                for j in range(part.start, part.stop):
                    row = self.lists[j]
                    if self.labels[tree.leaf[v] * self.n_words + (row >> 6)] >> (row & 63) & 1:
                        if by_rows:
                            self.n_right[row] += count
                        else:
                            self.right_in[row] |= bits
                continue
            if tree.feature[v] != feature:
                middle = part.start + split_rows(
                    self.X, tree.feature[v], tree.threshold[v], tree.missing_left[v],
                    self.lists + part.start, n, self.fallen.scratch,
                )
                self.parts[n_pending] = Part(
                    node=tree.left[v], first=part.first, last=part.last, start=part.start,
                    stop=middle,
                )
                self.parts[n_pending + 1] = Part(
                    node=tree.left[v] + 1, first=part.first, last=part.last, start=middle,
                    stop=part.stop,
                )
                n_pending += 2
                continue
            rank = self.threshold_ranks[v]
            if part.first <= rank:
                self.parts[n_pending] = Part(
                    node=tree.left[v], first=part.first, last=min(part.last, rank),
                    start=part.start, stop=part.stop,
                )
                n_pending += 1
            if part.last > rank:
                if part.first <= rank:  # a copy of the list, since both sides split it
                    self.have_room(n_pending, part.stop + n)
                    memcpy(self.lists + part.stop, self.lists + part.start, n * sizeof(int32_t))
                    part.start = part.stop
                    part.stop += n
                self.parts[n_pending] = Part(
                    node=tree.left[v] + 1, first=max(part.first, rank + 1), last=part.last,
                    start=part.start, stop=part.stop,
                )
                n_pending += 1
        return 0

    cdef int walk_topmost(self, const Tree *tree, int feature, int first, int last,
                          bint by_rows) except -1 nogil:
        """Walk from every node that is the first on its way to split on the feature."""
        cdef int v = self.first_node[feature]
        memset(self.moved, 0, self.n_words * sizeof(uint64_t))
        while v >= 0:
            if self.add_moved(v):
                self.walk_lists(tree, feature, v, first, last, by_rows)
            v = self.next_node[v]
        return 0

    cdef void mark_moved(self, int feature) noexcept nogil:
        """Find the rows that meet a split on the feature."""
        cdef int v = self.first_node[feature]
        memset(self.moved, 0, self.n_words * sizeof(uint64_t))
        while v >= 0:
            self.add_moved(v)
            v = self.next_node[v]

    cdef bint add_moved(self, int v) noexcept nogil:
        """Mark the permuted rows of a node; False if they were so by a node above it."""
        cdef int64_t j
        cdef int32_t row
        cdef bint found = False
        for j in range(self.fallen.starts[v], self.fallen.stops[v]):
            row = self.fallen.rows[j]
            if not self.permuted[row >> 6] >> (row & 63) & 1:
                continue
            if not found and self.moved[row >> 6] >> (row & 63) & 1:
                return False
            found = True
            self.moved[row >> 6] |= (<uint64_t>1) << (row & 63)
        return found

    cdef bint right_with(self, const Tree *tree, int feature, int32_t row, int interval) noexcept nogil:
        """Whether a row turns out right with the feature in one interval."""
        cdef int v = 0
        cdef bint above
        while tree.leaf[v] < 0:
            if tree.feature[v] != feature:
                above = not goes_left(
                    column_value(self.X, tree.feature[v], row), tree.threshold[v],
                    tree.missing_left[v],
                )
            elif interval > self.n_thresholds:
                above = not tree.missing_left[v]
            else:
                above = interval > self.threshold_ranks[v]
            v = tree.left[v] + above
        return self.labels[tree.leaf[v] * self.n_words + (row >> 6)] >> (row & 63) & 1

    cdef double loss_by_lists(self, const Tree *tree, int feature, bint net, bint sampled,
                              bint by_rows) except? -1 nogil:
        """Return what `loss_by_rows` or `loss_by_masks` does, added up in the same order.

        Rows that meet no split on the feature lose nothing.
        """
        cdef int interval, first
        cdef int64_t w, j
        cdef int32_t row
        cdef uint64_t bits
        cdef bint right
        cdef double count
        cdef int gap = self.n_thresholds + 1
        cdef double total = 0, kept
        self.count_below(feature)
        if sampled:
            return self.sampled_by_lists(tree, feature, by_rows)
        if by_rows:
            self.walk_topmost(tree, feature, 0, self.n_thresholds, True)
            for w in range(self.n_words):
                bits = self.moved[w]
                while bits:
                    row = <int32_t>(w * 64 + semisift_lowest_bit(bits))
                    bits &= bits - 1
                    if self.n_missing and self.right_with(tree, feature, row, gap):
                        self.n_right[row] += self.missing_mass
                    kept = self.n_right[row] / self.mass
                    total += self.weights[row] * ((self.right[w] >> (row & 63) & 1) - kept)
                    self.n_right[row] = 0
            return total
        self.forget_changes()
        for first in range(0, self.n_thresholds + 1, 64):
            self.walk_topmost(tree, feature, first, min(first + 63, self.n_thresholds), False)
            for w in range(self.n_words):
                bits = self.moved[w]
                while bits:
                    row = <int32_t>(w * 64 + semisift_lowest_bit(bits))
                    bits &= bits - 1
                    right = self.right[w] >> (row & 63) & 1
                    for interval in range(first, min(first + 64, self.n_thresholds + 1)):
                        self.note_change(
                            row, interval, right, self.right_in[row] >> (interval - first) & 1
                        )
                    self.right_in[row] = 0
        for interval in range(self.n_thresholds + 1):
            count = self.n_below[interval] - (self.n_below[interval - 1] if interval else 0)
            total += count * (self.lost[interval] - self.gained[interval])
        if self.n_missing:
            for w in range(self.n_words):
                bits = self.moved[w]
                while bits:
                    row = <int32_t>(w * 64 + semisift_lowest_bit(bits))
                    bits &= bits - 1
                    right = self.right[w] >> (row & 63) & 1
                    self.note_change(row, gap, right, self.right_with(tree, feature, row, gap))
            total += self.missing_mass * (self.lost[gap] - self.gained[gap])
        return total / self.mass

    cdef double sampled_by_lists(self, const Tree *tree, int feature, bint by_rows) except? -1 nogil:
        cdef int interval
        cdef int64_t j
        cdef int32_t row
        cdef bint right, kept
        cdef double total = 0
        self.mark_moved(feature)
        self.forget_changes()
        for j in range(self.n_permuted):
            row = self.target[j]
            if not self.moved[row >> 6] >> (row & 63) & 1:
                continue
            interval = self.interval_of(column_value(self.X, feature, self.source[j]))
            kept = self.right_with(tree, feature, row, interval)
            right = self.right[row >> 6] >> (row & 63) & 1
            if by_rows:
                total += self.weights[row] * (<int>right - <int>kept)
            else:
                self.note_change(row, interval, right, kept)
        if not by_rows:
            for interval in range(self.n_thresholds + 1 + (self.n_missing > 0)):
                total += self.lost[interval] - self.gained[interval]
        return total

    cdef void forget_changes(self) noexcept nogil:
        cdef int interval
        for interval in range(self.n_thresholds + 2):
            self.lost[interval] = self.gained[interval] = 0

    cdef inline void note_change(self, int32_t row, int interval, bint before,
                                 bint after) noexcept nogil:
        if before and not after:
            self.lost[interval] += self.weights[row]
        elif after and not before:
            self.gained[interval] += self.weights[row]