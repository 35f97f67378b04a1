# Rows that are walked by masks, or one by one, while a feature is permuted. Part of importance.pyx.

cdef double weigh(const uint64_t *rows, const double *weights, int64_t n_words) noexcept nogil:
    cdef int64_t w
    cdef uint64_t bits
    cdef double total = 0
    for w in range(n_words):
        bits = rows[w]
        while bits:
            total += weights[w * 64 + semisift_lowest_bit(bits)]
            bits &= bits - 1
    return total


cdef struct Branch:
    int32_t node
    int32_t first  # of the intervals between thresholds of a feature
    int32_t last


cdef class _MaskedPermutation:
    """One tree's out-of-bag rows, and what becomes of them when a feature is permuted."""

    cdef const columns_t *X
    cdef Fallen fallen
    cdef int64_t n_words
    cdef int64_t n_permuted
    cdef const double *weights
    cdef const double *copies  # how many rows each row stands for where it gives its value, or NULL
    cdef double mass  # of the permuted rows, in such rows
    cdef const uint64_t *labels  # the rows that carry each label
    cdef uint64_t *permuted  # rows over which a feature is permuted
    cdef uint64_t *right  # rows predicted as labelled
    cdef uint64_t *right_now  # ... when the feature is fixed
    cdef uint64_t *moved  # rows that meet a split on the feature
    cdef uint64_t *given  # rows whose value lies in an interval of the feature
    cdef uint64_t *received  # rows that are given such a value
    cdef uint64_t *missing  # permuted rows without a value of the feature
    cdef int64_t n_missing
    cdef double missing_mass
    cdef uint64_t *detour  # rows that reach each node when the feature is fixed
    cdef uint8_t *visited
    cdef double *thresholds  # of the feature, ascending
    cdef int32_t *threshold_nodes
    cdef int n_thresholds
    cdef int32_t *threshold_ranks  # of the nodes that split on the feature
    cdef double *n_below  # permuted rows at or below each threshold; all of them at the end
    cdef Branch *branches
    cdef int32_t *source  # of a sampled permutation: row target[j] gets the value of row source[j]
    cdef int32_t *target
    cdef int64_t n_detours

    def __cinit__(self, Py_ssize_t n_nodes, Py_ssize_t n_words, Py_ssize_t n_features,
                  bint sampled, int by_lists):
        cdef size_t one = max(n_words, 1) * sizeof(uint64_t)
        cdef size_t n_sampled = max(64 * n_words if sampled else 0, 1)
        self.fallen = Fallen(n_nodes, n_words, keeps_below=True, by_lists=by_lists)
        self.n_words = n_words
        self.permuted = <uint64_t *>malloc(7 * one)
        self.visited = <uint8_t *>malloc(n_nodes)
        self.thresholds = <double *>malloc(n_nodes * sizeof(double))
        self.threshold_nodes = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.threshold_ranks = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.n_below = <double *>malloc((n_nodes + 1) * sizeof(double))
        self.branches = <Branch *>malloc((n_nodes + 1) * sizeof(Branch))
        self.source = <int32_t *>malloc(n_sampled * sizeof(int32_t))
        self.target = <int32_t *>malloc(n_sampled * sizeof(int32_t))
        if (
            self.permuted == NULL or self.visited == NULL or self.thresholds == NULL
            or self.threshold_nodes == NULL or self.threshold_ranks == NULL
            or self.n_below == NULL or self.branches == NULL
            or self.source == NULL or self.target == NULL
        ):
            raise MemoryError
        self.right = self.permuted + n_words
        self.right_now = self.permuted + 2 * n_words
        self.moved = self.permuted + 3 * n_words
        self.given = self.permuted + 4 * n_words
        self.received = self.permuted + 5 * n_words
        self.missing = self.permuted + 6 * n_words

    def __dealloc__(self):
        free(self.permuted)
        free(self.detour)
        free(self.visited)
        free(self.thresholds)
        free(self.threshold_nodes)
        free(self.threshold_ranks)
        free(self.n_below)
        free(self.branches)
        free(self.source)
        free(self.target)

    cdef void judge(self, const Tree *tree, const uint64_t *out_of_bag, Py_ssize_t n_classes,
                    bint net) noexcept nogil:
        """Find the rows predicted right, and the rows to permute over."""
        cdef int64_t w, n_words = self.n_words
        cdef Py_ssize_t k
        cdef int v
        memset(self.right, 0, n_words * sizeof(uint64_t))
        for v in range(tree.n_nodes):
            if tree.leaf[v] >= 0:
                self.fallen.add_leaf(v, self.labels + tree.leaf[v] * n_words, self.right)
        if net:
            memset(self.permuted, 0, n_words * sizeof(uint64_t))
            for k in range(n_classes):
                for w in range(n_words):
                    self.permuted[w] |= self.labels[k * n_words + w] & out_of_bag[w]
        else:
            memcpy(self.permuted, self.right, n_words * sizeof(uint64_t))
        self.n_permuted = count_rows(self.permuted, n_words)
        self.mass = self.mass_of(self.permuted)

    cdef double mass_of(self, const uint64_t *rows) noexcept nogil:
        """How many rows a set stands for."""
        if self.copies == NULL:
            return <double>count_rows(rows, self.n_words)
        return weigh(rows, self.copies, self.n_words)

    cdef void find_thresholds(self, const Tree *tree, int feature) noexcept nogil:
        cdef int v, at, j
        self.n_thresholds = 0
        for v in range(tree.n_nodes):
            if tree.leaf[v] >= 0 or tree.feature[v] != feature:
                continue
            at = self.n_thresholds
            while at > 0 and self.thresholds[at - 1] > tree.threshold[v]:
                at -= 1
            if at > 0 and self.thresholds[at - 1] == tree.threshold[v]:
                continue
            for j in range(self.n_thresholds, at, -1):
                self.thresholds[j] = self.thresholds[j - 1]
                self.threshold_nodes[j] = self.threshold_nodes[j - 1]
            self.thresholds[at] = tree.threshold[v]
            self.threshold_nodes[at] = v
            self.n_thresholds += 1

    cdef void find_missing(self, int feature) noexcept nogil:
        """Find the permuted rows without a value; whoever is given none is in the last interval."""
        cdef int64_t w
        self.n_missing = 0
        self.missing_mass = 0
        if not self.X.has_missing:
            return
        column_mask(self.X, feature, INFINITY, False, self.missing)
        for w in range(self.n_words):
            self.missing[w] = self.permuted[w] & ~self.missing[w]
        self.n_missing = count_rows(self.missing, self.n_words)
        self.missing_mass = self.mass_of(self.missing)

    cdef void find_given(self, int interval) noexcept nogil:
        """Rows whose value lies above the threshold before the interval, and not above its own."""
        cdef int64_t w, n_words = self.n_words
        cdef const uint64_t *below
        if interval > self.n_thresholds:
            memcpy(self.given, self.missing, n_words * sizeof(uint64_t))
            return
        memcpy(self.given, self.permuted, n_words * sizeof(uint64_t))
        if self.n_missing:
            for w in range(n_words):
                self.given[w] &= ~self.missing[w]
        if interval < self.n_thresholds:
            below = self.fallen.below + self.threshold_nodes[interval] * n_words
            for w in range(n_words):
                self.given[w] &= below[w]
        if interval > 0:
            below = self.fallen.below + self.threshold_nodes[interval - 1] * n_words
            for w in range(n_words):
                self.given[w] &= ~below[w]

    cdef void fix_feature(self, const Tree *tree, int feature, int interval) noexcept nogil:
        """Predict all rows with the feature's value in one interval.

        Only what lies under the topmost splits on the feature is walked: `moved` are the rows that
        meet one, the others keep their prediction.
        """
        cdef int v, child, other
        cdef int64_t w, n_words = self.n_words
        cdef const uint64_t *label
        cdef uint64_t *here
        # a value of the last interval but that of missing values exceeds every threshold
        cdef double level = INFINITY
        cdef bint is_missing = interval > self.n_thresholds
        if interval < self.n_thresholds:
            level = self.thresholds[interval]
        memset(self.visited, 0, tree.n_nodes)
        memset(self.right_now, 0, n_words * sizeof(uint64_t))
        memset(self.moved, 0, n_words * sizeof(uint64_t))
        for v in range(tree.n_nodes):
            here = self.detour + v * n_words
            if tree.leaf[v] >= 0:
                if self.visited[v]:
                    label = self.labels + tree.leaf[v] * n_words
                    for w in range(n_words):
                        self.right_now[w] |= here[w] & label[w]
                continue
            child = tree.left[v]
            if tree.feature[v] == feature:
                if not self.visited[v]:
                    for w in range(n_words):
                        here[w] = self.fallen.reached[v * n_words + w] & self.permuted[w]
                        self.moved[w] |= here[w]
                other = child + 1
                if not tree.missing_left[v] if is_missing else level > tree.threshold[v]:
                    child, other = other, child
                memcpy(self.detour + child * n_words, here, n_words * sizeof(uint64_t))
                memset(self.detour + other * n_words, 0, n_words * sizeof(uint64_t))
                self.visited[child] = self.visited[other] = True
            elif self.visited[v]:
                split_mask(
                    here, self.fallen.below + v * n_words, self.detour + child * n_words,
                    self.detour + (child + 1) * n_words, n_words,
                )
                self.visited[child] = self.visited[child + 1] = True

    cdef int make_detours(self, int64_t n_nodes) except -1 nogil:
        if n_nodes <= self.n_detours:
            return 0
        free(self.detour)
        self.detour = <uint64_t *>malloc(n_nodes * max(self.n_words, 1) * sizeof(uint64_t))
        if self.detour == NULL:
            with gil:
                raise MemoryError
        self.n_detours = n_nodes
        return 0

    cdef double count_right(self, const Tree *tree, int feature, int64_t row, int first,
                             int last) noexcept nogil:
        """Count the permuted rows whose value, in the given intervals, lets a row turn out right."""
        cdef int n_pending = 1, v, rank
        cdef double count = 0
        cdef int64_t w = row >> 6, n_words = self.n_words
        cdef int shift = row & 63
        cdef Branch branch
        self.branches[0] = Branch(node=0, first=first, last=last)
        while n_pending:
            n_pending -= 1
            branch = self.branches[n_pending]
            v = branch.node
            while tree.leaf[v] < 0 and tree.feature[v] != feature:
                v = tree.left[v] + (not (self.fallen.below[v * n_words + w] >> shift & 1))
            if tree.leaf[v] >= 0:
                if self.labels[tree.leaf[v] * n_words + w] >> shift & 1:
                    count += self.n_below[branch.last]
                    if branch.first > 0:
                        count -= self.n_below[branch.first - 1]
                continue
            rank = self.threshold_ranks[v]
            if branch.first <= rank:
                self.branches[n_pending] = Branch(
                    node=tree.left[v], first=branch.first, last=min(branch.last, rank)
                )
                n_pending += 1
            if branch.last > rank:
                self.branches[n_pending] = Branch(
                    node=tree.left[v] + 1, first=max(branch.first, rank + 1), last=branch.last
                )
                n_pending += 1
        return count

    cdef bint right_without(self, const Tree *tree, int feature, int64_t row) noexcept nogil:
        """Whether a row turns out right where it has no value of the feature."""
        cdef int v = 0
        cdef int64_t w = row >> 6, n_words = self.n_words
        cdef int shift = row & 63
        while tree.leaf[v] < 0:
            if tree.feature[v] == feature:
                v = tree.left[v] + (not tree.missing_left[v])
            else:
                v = tree.left[v] + (not (self.fallen.below[v * n_words + w] >> shift & 1))
        return self.labels[tree.leaf[v] * n_words + w] >> shift & 1

    cdef int find_interval(self, int64_t row) noexcept nogil:
        """Find the first threshold that a row's value does not exceed."""
        cdef int low = 0, high = self.n_thresholds, middle
        while low < high:
            middle = (low + high) // 2
            if self.fallen.below[
                self.threshold_nodes[middle] * self.n_words + (row >> 6)
            ] >> (row & 63) & 1:
                high = middle
            else:
                low = middle + 1
        return low

    cdef double loss_by_rows(self, const Tree *tree, int feature, bint sampled) noexcept nogil:
        cdef int64_t w, j, row, n_words = self.n_words
        cdef uint64_t bits
        cdef int v, interval, low, high
        cdef double total = 0, kept
        for interval in range(self.n_thresholds):
            v = self.threshold_nodes[interval]
            for w in range(n_words):
                self.given[w] = self.permuted[w] & self.fallen.below[v * n_words + w]
            if self.n_missing:
                for w in range(n_words):
                    self.given[w] &= ~self.missing[w]
            self.n_below[interval] = self.mass_of(self.given)
        self.n_below[self.n_thresholds] = self.mass - self.missing_mass
        for v in range(tree.n_nodes):
            if tree.leaf[v] < 0 and tree.feature[v] == feature:
                low = 0
                high = self.n_thresholds - 1
                while low < high:
                    interval = (low + high) // 2
                    if self.thresholds[interval] < tree.threshold[v]:
                        low = interval + 1
                    else:
                        high = interval
                self.threshold_ranks[v] = low
        if sampled:
            for j in range(self.n_permuted):
                row = self.target[j]
                if self.n_missing and self.missing[self.source[j] >> 6] >> (self.source[j] & 63) & 1:
                    kept = self.right_without(tree, feature, row)
                else:
                    interval = self.find_interval(self.source[j])
                    kept = self.count_right(tree, feature, row, interval, interval) > 0
                total += self.weights[row] * ((self.right[row >> 6] >> (row & 63) & 1) - kept)
            return total
        for w in range(n_words):
            bits = self.permuted[w]
            while bits:
                row = w * 64 + semisift_lowest_bit(bits)
                bits &= bits - 1
                kept = self.count_right(tree, feature, row, 0, self.n_thresholds)
                if self.n_missing and self.right_without(tree, feature, row):
                    kept += self.missing_mass
                kept /= self.mass
                total += self.weights[row] * ((self.right[w] >> (row & 63) & 1) - kept)
        return total

    cdef double loss_by_masks(self, const Tree *tree, int feature, bint net,
                              bint sampled) noexcept nogil:
        cdef int interval
        cdef int64_t w, j, n_words = self.n_words
        cdef double total = 0, changed, count
        for interval in range(self.n_thresholds + 1 + (self.n_missing > 0)):
            self.find_given(interval)
            count = self.mass_of(self.given)
            if count == 0:
                continue
            self.fix_feature(tree, feature, interval)
            if sampled:
                memset(self.received, 0, n_words * sizeof(uint64_t))
                for j in range(self.n_permuted):
                    if self.given[self.source[j] >> 6] >> (self.source[j] & 63) & 1:
                        self.received[self.target[j] >> 6] |= (<uint64_t>1) << (self.target[j] & 63)
                for w in range(n_words):
                    self.moved[w] &= self.received[w]
            for w in range(n_words):
                self.given[w] = self.moved[w] & self.right[w] & ~self.right_now[w]
            changed = weigh(self.given, self.weights, n_words)
            if net:
                for w in range(n_words):
                    self.given[w] = self.moved[w] & ~self.right[w] & self.right_now[w]
                changed -= weigh(self.given, self.weights, n_words)
            total += changed if sampled else count * changed
        return total if sampled else total / self.mass

    cdef void shuffle(self, uint64_t key, uint64_t *draws) noexcept nogil:
        cdef int64_t n, j
        n = list_rows(self.permuted, self.n_words, self.target)
        memcpy(self.source, self.target, n * sizeof(int32_t))
        while n > 1:
            j = draw_below(key, draws[0], n)
            draws[0] += 1
            n -= 1
            self.source[n], self.source[j] = self.source[j], self.source[n]
