"""What trees lose when a feature is permuted over their out-of-bag rows."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcpy, memset

from semisift.kernels.columns cimport (
    Columns, column_mask, column_value, columns_t, count_rows, semisift_lowest_bit,
    semisift_popcount, split_rows,
)
from semisift.kernels.masks cimport Fallen, Forest, Tree, list_rows, split_mask
from semisift.kernels.streams cimport PERMUTATION, draw_below, stream_key


# Up to so many thresholds, a look at the whole column for each beats a search for each row.
cdef int FEW_THRESHOLDS = 8


cdef int compare_doubles(const void *a, const void *b) noexcept nogil:
    cdef double first = (<const double *>a)[0], second = (<const double *>b)[0]
    return (first > second) - (first < second)


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


cdef struct Part:
    # the rows of a list that reach a node while the feature lies in some of its intervals
    int32_t node
    int32_t first
    int32_t last
    int64_t start
    int64_t stop


cdef class _Permutation:
    """One tree's out-of-bag rows, and what becomes of them when a feature is permuted."""

    cdef const columns_t *X
    cdef Fallen fallen
    cdef int64_t n_words
    cdef int64_t n_permuted
    cdef const double *weights
    cdef const uint64_t *labels  # the rows that carry each label
    cdef uint64_t *permuted  # rows over which a feature is permuted
    cdef uint64_t *right  # rows predicted as labelled
    cdef uint64_t *right_now  # ... when the feature is fixed
    cdef uint64_t *moved  # rows that meet a split on the feature
    cdef uint64_t *given  # rows whose value lies in an interval of the feature
    cdef uint64_t *received  # rows that are given such a value
    cdef uint64_t *detour  # rows that reach each node when the feature is fixed
    cdef uint8_t *visited
    cdef double *thresholds  # of the feature, ascending
    cdef int32_t *threshold_nodes
    cdef int n_thresholds
    cdef int32_t *threshold_ranks  # of the nodes that split on the feature
    cdef int64_t *n_below  # permuted rows at or below each threshold; all of them at the end
    cdef Branch *branches
    cdef int32_t *source  # of a sampled permutation: row target[j] gets the value of row source[j]
    cdef int32_t *target
    cdef int64_t n_detours
    # of the last tree, where it is walked by lists: the nodes of each feature
    cdef int32_t *first_node
    cdef int32_t *next_node
    cdef Part *parts
    cdef int64_t n_parts
    cdef int32_t *lists
    cdef int64_t n_listed
    cdef int64_t *n_right  # permuted rows whose value would let a row turn out right
    cdef uint64_t *right_in  # the intervals, of 64 of them, in which a row turns out right
    cdef double *lost
    cdef double *gained

    def __cinit__(self, Py_ssize_t n_nodes, Py_ssize_t n_words, Py_ssize_t n_features,
                  bint sampled, int by_lists):
        cdef size_t one = max(n_words, 1) * sizeof(uint64_t)
        cdef size_t n_sampled = max(64 * n_words if sampled else 0, 1)
        self.fallen = Fallen(n_nodes, n_words, keeps_below=True, by_lists=by_lists)
        self.n_words = n_words
        self.permuted = <uint64_t *>malloc(6 * one)
        self.visited = <uint8_t *>malloc(n_nodes)
        self.thresholds = <double *>malloc(n_nodes * sizeof(double))
        self.threshold_nodes = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.threshold_ranks = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.n_below = <int64_t *>malloc((n_nodes + 1) * sizeof(int64_t))
        self.branches = <Branch *>malloc((n_nodes + 1) * sizeof(Branch))
        self.source = <int32_t *>malloc(n_sampled * sizeof(int32_t))
        self.target = <int32_t *>malloc(n_sampled * sizeof(int32_t))
        self.first_node = <int32_t *>malloc(max(n_features, 1) * sizeof(int32_t))
        self.next_node = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.n_right = <int64_t *>calloc(max(64 * n_words, 1), sizeof(int64_t))
        self.right_in = <uint64_t *>calloc(max(64 * n_words, 1), sizeof(uint64_t))
        self.lost = <double *>malloc((n_nodes + 1) * sizeof(double))
        self.gained = <double *>malloc((n_nodes + 1) * sizeof(double))
        if (
            self.permuted == NULL or self.visited == NULL or self.first_node == NULL
            or self.next_node == NULL or self.n_right == NULL or self.right_in == NULL
            or self.lost == NULL or self.gained == NULL
            or self.thresholds == NULL or self.threshold_nodes == NULL
            or self.source == NULL or self.target == NULL or self.threshold_ranks == NULL
            or self.n_below == NULL or self.branches == NULL
        ):
            raise MemoryError
        self.right = self.permuted + n_words
        self.right_now = self.permuted + 2 * n_words
        self.moved = self.permuted + 3 * n_words
        self.given = self.permuted + 4 * n_words
        self.received = self.permuted + 5 * n_words

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
        free(self.first_node)
        free(self.next_node)
        free(self.parts)
        free(self.lists)
        free(self.n_right)
        free(self.right_in)
        free(self.lost)
        free(self.gained)

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

    cdef void find_given(self, int interval) noexcept nogil:
        """Rows whose value lies above the threshold before the interval, and not above its own."""
        cdef int64_t w, n_words = self.n_words
        cdef const uint64_t *below
        memcpy(self.given, self.permuted, n_words * sizeof(uint64_t))
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
        # a value of the last interval exceeds every threshold
        cdef double level = INFINITY
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
                if level > tree.threshold[v]:
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

    cdef double loss(self, const Tree *tree, int feature, bint net, bint sampled,
                     double row_cost) except? -1 nogil:
        """Weight of the rows that turn wrong less, if net, that of those that turn right."""
        cdef bint by_rows
        if self.fallen.listed:
            self.sort_thresholds(tree, feature)
        else:
            self.find_thresholds(tree, feature)
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

    cdef int64_t count_right(self, const Tree *tree, int feature, int64_t row, int first,
                             int last) noexcept nogil:
        """Count the permuted rows whose value, in the given intervals, lets a row turn out right."""
        cdef int n_pending = 1, v, rank
        cdef int64_t count = 0, w = row >> 6, n_words = self.n_words
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
            self.n_below[interval] = 0
            v = self.threshold_nodes[interval]
            for w in range(n_words):
                self.n_below[interval] += semisift_popcount(
                    self.permuted[w] & self.fallen.below[v * n_words + w]
                )
        self.n_below[self.n_thresholds] = self.n_permuted
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
                interval = self.find_interval(self.source[j])
                kept = self.count_right(tree, feature, row, interval, interval) > 0
                total += self.weights[row] * ((self.right[row >> 6] >> (row & 63) & 1) - kept)
            return total
        for w in range(n_words):
            bits = self.permuted[w]
            while bits:
                row = w * 64 + semisift_lowest_bit(bits)
                bits &= bits - 1
                kept = <double>self.count_right(tree, feature, row, 0, self.n_thresholds)
                kept /= <double>self.n_permuted
                total += self.weights[row] * ((self.right[w] >> (row & 63) & 1) - kept)
        return total

    cdef double loss_by_masks(self, const Tree *tree, int feature, bint net,
                              bint sampled) noexcept nogil:
        cdef int interval
        cdef int64_t w, j, count, n_words = self.n_words
        cdef double total = 0, changed
        for interval in range(self.n_thresholds + 1):
            self.find_given(interval)
            count = count_rows(self.given, n_words)
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
        return total if sampled else total / self.n_permuted

    cdef void shuffle(self, uint64_t key, uint64_t *draws) noexcept nogil:
        cdef int64_t n, j
        n = list_rows(self.permuted, self.n_words, self.target)
        memcpy(self.source, self.target, n * sizeof(int32_t))
        while n > 1:
            j = draw_below(key, draws[0], n)
            draws[0] += 1
            n -= 1
            self.source[n], self.source[j] = self.source[j], self.source[n]

    # Large trees: lists of rows instead of masks ----------------------------------------------------

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
        """Find the first threshold that a value does not exceed."""
        cdef int low = 0, high = self.n_thresholds, middle
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
        cdef int64_t w, j, n, total = 0
        if self.n_thresholds <= FEW_THRESHOLDS:
            for interval in range(self.n_thresholds):
                column_mask(self.X, feature, self.thresholds[interval], self.given)
                self.n_below[interval] = 0
                for w in range(self.n_words):
                    self.n_below[interval] += semisift_popcount(self.permuted[w] & self.given[w])
        else:
            memset(self.n_below, 0, (self.n_thresholds + 1) * sizeof(int64_t))
            n = list_rows(self.permuted, self.n_words, self.fallen.scratch)
            for j in range(n):
                self.n_below[
                    self.interval_of(column_value(self.X, feature, self.fallen.scratch[j]))
                ] += 1
            for interval in range(self.n_thresholds):
                total += self.n_below[interval]
                self.n_below[interval] = total
        self.n_below[self.n_thresholds] = self.n_permuted

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
        cdef int64_t j, n = 0, middle, count
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
                    self.X, tree.feature[v], tree.threshold[v], self.lists + part.start, n,
                    self.fallen.scratch,
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
            if tree.feature[v] == feature:
                above = interval > self.threshold_ranks[v]
            else:
                above = not column_value(self.X, tree.feature[v], row) <= tree.threshold[v]
            v = tree.left[v] + above
        return self.labels[tree.leaf[v] * self.n_words + (row >> 6)] >> (row & 63) & 1

    cdef double loss_by_lists(self, const Tree *tree, int feature, bint net, bint sampled,
                              bint by_rows) except? -1 nogil:
        """Return what `loss_by_rows` or `loss_by_masks` does, added up in the same order.

        Rows that meet no split on the feature lose nothing.
        """
        cdef int interval, first
        cdef int64_t w, j, count
        cdef int32_t row
        cdef uint64_t bits
        cdef bint right
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
                    kept = <double>self.n_right[row]
                    kept /= <double>self.n_permuted
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
        return total / self.n_permuted

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
            for interval in range(self.n_thresholds + 1):
                total += self.lost[interval] - self.gained[interval]
        return total

    cdef void forget_changes(self) noexcept nogil:
        cdef int interval
        for interval in range(self.n_thresholds + 1):
            self.lost[interval] = self.gained[interval] = 0

    cdef inline void note_change(self, int32_t row, int interval, bint before,
                                 bint after) noexcept nogil:
        if before and not after:
            self.lost[interval] += self.weights[row]
        elif after and not before:
            self.gained[interval] += self.weights[row]


cdef void label_own(uint64_t[:, ::1] own, const uint64_t[:, ::1] labels,
                    const uint64_t[::1] unlabelled, Forest forest, const Tree *tree,
                    Fallen fallen, double confident_from) noexcept nogil:
    """Label the unlabelled rows by the tree's own confident leaves, the others as given."""
    cdef Py_ssize_t k, w, n_words = labels.shape[1]
    cdef int v
    for k in range(labels.shape[0]):
        for w in range(n_words):
            own[k, w] = labels[k, w] & ~unlabelled[w]
    for v in range(tree.n_nodes):
        if tree.leaf[v] >= 0 and forest.confidence(tree, v) >= confident_from:
            fallen.add_leaf(v, &unlabelled[0], &own[tree.leaf[v], 0])


def permute(Columns X, trees, uint64_t seed, Py_ssize_t start, const uint64_t[:, ::1] out_of_bag,
            const uint64_t[:, ::1] labels, const uint64_t[::1] unlabelled,
            const double[::1] weights, *, bint net, bint sampled=False,
            double own_labels_from=-1.0, double row_cost=64.0, int by_lists=-1):
    """How much each tree loses when a feature it splits on is permuted over its out-of-bag rows.

    A feature that a tree does not split on cannot change its predictions and is left out.

    Parameters
    ----------
    X : Columns
        The data.
    trees : Trees
        One tree for each member of the block.
    seed, start : int
        The seed, and the number of the block's first member: the streams of `sampled`.
    out_of_bag : array of shape (n_members, n_words)
        Out-of-bag rows of each member.
    labels : array of shape (n_classes, n_words)
        The rows that carry each label; a row without one is left out.
    unlabelled : array of shape (n_words,)
        The rows whose label is not their own.
    weights : array of shape (n_rows,)
        What a row counts for.
    net : bool
        Permute over all labelled rows and subtract what turns right; else over those predicted right.
    sampled : bool
        One random permutation for each feature instead of the expectation over all of them.
    own_labels_from : float
        If not negative: the label of an unlabelled row is the tree's own prediction where its leaf
        is at least so confident, and none elsewhere.
    row_cost : float
        Cost of walking a row through a tree in words of a mask: large trees are walked row by row.
    by_lists : int
        As `vote` takes it; the losses do not depend on it.

    Returns
    -------
    features, losses : ndarrays
        One entry for each tree and feature it splits on, tree by tree.
    agreement : ndarray of shape (n_members,)
        Share of a member's unlabelled out-of-bag rows, those with a label, that it predicts so; NaN
        where there is none.
    """
    cdef Py_ssize_t n_members = out_of_bag.shape[0], n_words = out_of_bag.shape[1]
    cdef Py_ssize_t n_classes = labels.shape[0], i, k, w
    cdef int v
    cdef int64_t n_found = 0, n_voted, n_agreed
    cdef uint64_t key, draws
    features_array = np.empty(len(trees.feature), dtype=np.int32)
    losses_array = np.empty(len(trees.feature))
    agreement_array = np.full(n_members, np.nan)
    own_array = np.array(labels)
    cdef int32_t[::1] features = features_array
    cdef double[::1] losses = losses_array, agreement = agreement_array
    cdef uint64_t[:, ::1] own = own_array
    cdef int32_t[::1] last_tree = np.full(X.n_features, -1, dtype=np.int32)
    cdef Forest forest = Forest(trees)
    cdef _Permutation out = _Permutation(
        forest.most_nodes, n_words, X.n_features, sampled, by_lists
    )
    cdef Tree tree
    out.X = &X.c
    out.weights = &weights[0]
    out.labels = &own[0, 0]
    with nogil:
        for i in range(n_members):
            tree = forest.tree(i)
            out.fallen.drop(&tree, &X.c, &out_of_bag[i, 0])
            if own_labels_from >= 0:
                label_own(own, labels, unlabelled, forest, &tree, out.fallen, own_labels_from)
            out.judge(&tree, &out_of_bag[i, 0], n_classes, net)
            n_voted = 0
            n_agreed = 0
            for w in range(n_words):
                n_agreed += semisift_popcount(out.right[w] & unlabelled[w])
                for k in range(n_classes):
                    n_voted += semisift_popcount(own[k, w] & out_of_bag[i, w] & unlabelled[w])
            if n_voted:
                agreement[i] = <double>n_agreed / <double>n_voted
            if out.n_permuted < 2:
                continue
            if out.fallen.listed:
                out.list_nodes(&tree)
            key = stream_key(seed, start + i, PERMUTATION)
            draws = 0
            for v in range(tree.n_nodes):
                if tree.leaf[v] >= 0 or last_tree[tree.feature[v]] == i:
                    continue
                last_tree[tree.feature[v]] = <int32_t>i
                if sampled:
                    out.shuffle(key, &draws)
                features[n_found] = tree.feature[v]
                losses[n_found] = out.loss(
                    &tree, tree.feature[v], net, sampled, row_cost
                )
                n_found += 1
    return features_array[:n_found].copy(), losses_array[:n_found].copy(), agreement_array
