"""What trees lose when a feature is permuted over their out-of-bag rows."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from semisift.kernels.columns cimport (
    Columns, count_rows, semisift_lowest_bit, semisift_popcount,
)
from semisift.kernels.masks cimport Forest, Masks, Tree, split_mask
from semisift.kernels.streams cimport PERMUTATION, draw_below, stream_key


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


cdef class _Permutation:
    """One tree's out-of-bag rows, and what becomes of them when a feature is permuted."""

    cdef Masks masks
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

    def __cinit__(self, Py_ssize_t n_nodes, Py_ssize_t n_words, bint sampled):
        cdef size_t one = max(n_words, 1) * sizeof(uint64_t)
        cdef size_t n_sampled = max(64 * n_words if sampled else 0, 1)
        self.masks = Masks(n_nodes, n_words, keeps_below=True)
        self.n_words = n_words
        self.permuted = <uint64_t *>malloc(6 * one)
        self.detour = <uint64_t *>malloc(n_nodes * one)
        self.visited = <uint8_t *>malloc(n_nodes)
        self.thresholds = <double *>malloc(n_nodes * sizeof(double))
        self.threshold_nodes = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.threshold_ranks = <int32_t *>malloc(n_nodes * sizeof(int32_t))
        self.n_below = <int64_t *>malloc((n_nodes + 1) * sizeof(int64_t))
        self.branches = <Branch *>malloc((n_nodes + 1) * sizeof(Branch))
        self.source = <int32_t *>malloc(n_sampled * sizeof(int32_t))
        self.target = <int32_t *>malloc(n_sampled * sizeof(int32_t))
        if (
            self.permuted == NULL or self.detour == NULL or self.visited == NULL
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

    cdef void judge(self, const Tree *tree, const uint64_t *out_of_bag, Py_ssize_t n_classes,
                    bint net) noexcept nogil:
        """Find the rows predicted right, and the rows to permute over."""
        cdef int64_t w, n_words = self.n_words
        cdef Py_ssize_t k
        cdef int v
        cdef const uint64_t *label
        memset(self.right, 0, n_words * sizeof(uint64_t))
        for v in range(tree.n_nodes):
            if tree.leaf[v] >= 0:
                label = self.labels + tree.leaf[v] * n_words
                for w in range(n_words):
                    self.right[w] |= self.masks.reached[v * n_words + w] & label[w]
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
            below = self.masks.below + self.threshold_nodes[interval] * n_words
            for w in range(n_words):
                self.given[w] &= below[w]
        if interval > 0:
            below = self.masks.below + self.threshold_nodes[interval - 1] * n_words
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
                        here[w] = self.masks.reached[v * n_words + w] & self.permuted[w]
                        self.moved[w] |= here[w]
                other = child + 1
                if level > tree.threshold[v]:
                    child, other = other, child
                memcpy(self.detour + child * n_words, here, n_words * sizeof(uint64_t))
                memset(self.detour + other * n_words, 0, n_words * sizeof(uint64_t))
                self.visited[child] = self.visited[other] = True
            elif self.visited[v]:
                split_mask(
                    here, self.masks.below + v * n_words, self.detour + child * n_words,
                    self.detour + (child + 1) * n_words, n_words,
                )
                self.visited[child] = self.visited[child + 1] = True

    cdef double loss(self, const Tree *tree, int feature, bint net, bint sampled,
                     double row_cost) noexcept nogil:
        """Weight of the rows that turn wrong less, if net, that of those that turn right."""
        self.find_thresholds(tree, feature)
        # by masks all rows are walked for each interval of the feature, by rows all intervals
        if (self.n_thresholds + 1.0) * tree.n_nodes * self.n_words > row_cost * self.n_permuted:
            return self.loss_by_rows(tree, feature, sampled)
        return self.loss_by_masks(tree, feature, net, sampled)

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
                v = tree.left[v] + (not (self.masks.below[v * n_words + w] >> shift & 1))
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
            if self.masks.below[
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
                    self.permuted[w] & self.masks.below[v * n_words + w]
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
        cdef int64_t w, n = 0, j
        cdef uint64_t bits
        for w in range(self.n_words):
            bits = self.permuted[w]
            while bits:
                self.source[n] = self.target[n] = <int32_t>(w * 64 + semisift_lowest_bit(bits))
                n += 1
                bits &= bits - 1
        while n > 1:
            j = draw_below(key, draws[0], n)
            draws[0] += 1
            n -= 1
            self.source[n], self.source[j] = self.source[j], self.source[n]


cdef void label_own(uint64_t[:, ::1] own, const uint64_t[:, ::1] labels,
                    const uint64_t[::1] unlabelled, Forest forest, const Tree *tree,
                    const uint64_t *reached, double confident_from) noexcept nogil:
    """Label the unlabelled rows by the tree's own confident leaves, the others as given."""
    cdef Py_ssize_t k, w, n_words = labels.shape[1]
    cdef int v
    for k in range(labels.shape[0]):
        for w in range(n_words):
            own[k, w] = labels[k, w] & ~unlabelled[w]
    for v in range(tree.n_nodes):
        if tree.leaf[v] >= 0 and forest.confidence(tree, v) >= confident_from:
            for w in range(n_words):
                own[tree.leaf[v], w] |= reached[v * n_words + w] & unlabelled[w]


def permute(Columns X, trees, uint64_t seed, Py_ssize_t start, const uint64_t[:, ::1] out_of_bag,
            const uint64_t[:, ::1] labels, const uint64_t[::1] unlabelled,
            const double[::1] weights, *, bint net, bint sampled=False,
            double own_labels_from=-1.0, double row_cost=64.0):
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
    cdef _Permutation out = _Permutation(forest.most_nodes, n_words, sampled)
    cdef Tree tree
    out.weights = &weights[0]
    out.labels = &own[0, 0]
    with nogil:
        for i in range(n_members):
            tree = forest.tree(i)
            out.masks.drop(&tree, &X.c, &out_of_bag[i, 0])
            if own_labels_from >= 0:
                label_own(own, labels, unlabelled, forest, &tree, out.masks.reached, own_labels_from)
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
