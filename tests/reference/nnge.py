"""NNge row by row: an exemplar is a class and a list of rows, its box is measured when asked for.

Lists hold the exemplars that were touched last first. Sums and quotients are taken in the order in
which the compiled kernel takes them, so that both give the same bits.
"""

import sys
from math import log2


class Exemplar:
    def __init__(self, label, rows=()):
        self.label = label
        self.rows = list(rows)

    def with_row(self, row):
        return Exemplar(self.label, [*self.rows, row])

    def values(self, j):
        return [row[j] for row in self.rows]


class NNgeReference:
    """One pass over the rows; `history` keeps the weights after each of them."""

    def __init__(self, nominal=(), n_attempts=5, n_intervals=5, half_open=True):
        self.nominal = set(nominal)
        self.n_attempts = n_attempts
        self.n_intervals = n_intervals
        self.half_open = half_open

    def learn(self, rows, labels):
        self.exemplars, self.rows, self.labels, self.history = [], [], [], []
        for row, label in zip(rows, labels, strict=True):
            self.update(tuple(row), label)
        return self

    def update(self, row, label):
        self.rows.append(row)
        self.labels.append(label)
        self.columns = range(len(row))
        self.spans = [0.0 if j in self.nominal else self.span(j) for j in self.columns]
        self.weights = [self.information(j) for j in self.columns]
        self.history.append(self.weights)
        if self.exemplars:
            nearest = self.nearest(row, self.exemplars)
            if nearest.label != label and self.holds(nearest, row):
                self.split(nearest, row)
        self.generalise(row, label)

    # ranges and weights

    def span(self, j):
        values = [row[j] for row in self.rows]
        return min(max(values) - min(values), sys.float_info.max)

    def groups(self, j):
        """Return the labels of the rows in each interval, or with each nominal value."""
        pairs = [(row[j], label) for row, label in zip(self.rows, self.labels, strict=True)]
        if j in self.nominal:
            values = sorted({value for value, _ in pairs})
            return [[label for v, label in pairs if v == value] for value in values]
        low, width = min(pairs)[0], self.spans[j] / self.n_intervals
        edges = [low + k * width for k in range(self.n_intervals + 1)]
        if self.half_open:
            place = [sum(edge <= value for edge in edges[1:-1]) for value, _ in pairs]
            return [
                [label for (_, label), at in zip(pairs, place, strict=True) if at == k]
                for k in range(self.n_intervals)
            ]
        return [
            [label for value, label in pairs if edges[k] <= value <= edges[k + 1]]
            for k in range(self.n_intervals)
        ]

    def information(self, j):
        """Return the mutual information of a column and the class, in bits."""
        n, total = len(self.rows), 0.0
        for group in self.groups(j):
            for label in sorted(set(self.labels)):
                both, size, of_class = group.count(label), len(group), self.labels.count(label)
                if both and both * n != size * of_class:
                    total += both * ((log2(both) - log2(size)) + (log2(n) - log2(of_class)))
        return total / n

    # distances

    def gap(self, exemplar, row, j):
        values, value = exemplar.values(j), row[j]
        if j in self.nominal:
            return 0.0 if value in values else 1.0
        outside = max(min(values) - value, value - max(values), 0.0)
        return outside / self.spans[j]

    def distance(self, exemplar, row):
        total = 0.0
        for j in self.columns:
            if self.weights[j]:
                term = self.weights[j] * self.gap(exemplar, row, j)
                total += term * term
        return total / len(row) ** 2

    def nearest(self, row, exemplars):
        return min(exemplars, key=lambda exemplar: self.distance(exemplar, row))

    def predict(self, row):
        return self.nearest(row, self.exemplars).label

    # boxes

    def holds(self, exemplar, row):
        return all(
            row[j] in exemplar.values(j)
            if j in self.nominal
            else min(exemplar.values(j)) <= row[j] <= max(exemplar.values(j))
            for j in self.columns
        )

    def overlap(self, one, other):
        if not one.rows or not other.rows:
            return False
        return all(
            bool(set(one.values(j)) & set(other.values(j)))
            if j in self.nominal
            else min(one.values(j)) <= max(other.values(j))
            and min(other.values(j)) <= max(one.values(j))
            for j in self.columns
        )

    def overlaps_any(self, exemplar, others):
        return any(self.overlap(exemplar, other) for other in others)

    # learning

    def generalise(self, row, label):
        untried = [exemplar for exemplar in self.exemplars if exemplar.label == label]
        for _ in range(self.n_attempts):
            if not untried:
                break
            closest = self.nearest(row, untried)
            untried.remove(closest)
            self.exemplars.remove(closest)
            stretched = closest.with_row(row)
            if not self.overlaps_any(stretched, self.exemplars):
                self.exemplars.insert(0, stretched)
                return
            self.exemplars.insert(0, closest)
        self.exemplars.insert(0, Exemplar(label, [row]))

    def split(self, exemplar, row):
        self.exemplars.remove(exemplar)
        cut = self.choose_cut(exemplar, row)
        above, below = Exemplar(exemplar.label), Exemplar(exemplar.label)
        alone, points = [], []
        for member in exemplar.rows:
            if member == row:
                continue  # the same row with another class: the later one stays
            if member[cut] == row[cut]:
                alone.append(member)
            elif cut in self.nominal or member[cut] > row[cut]:
                above.rows.append(member)
            else:
                below.rows.append(member)
        for member in alone:
            for part, other in ((above, below), (below, above)):
                stretched = part.with_row(member)
                if not self.holds(stretched, row) and not self.overlap(stretched, other):
                    part.rows.append(member)
                    break
            else:
                same = [point for point in points if point.rows[0] == member]
                if same:
                    same[0].rows.append(member)
                else:
                    points.append(Exemplar(exemplar.label, [member]))
        for part in (*points, above, below):
            if part.rows:
                self.exemplars.insert(0, part)

    def choose_cut(self, exemplar, row):
        numeric = nominal = None
        for j in self.columns:
            values = exemplar.values(j)
            if j in self.nominal:
                kept = sum(value != row[j] for value in values)
                if nominal is None or kept > nominal[0]:
                    nominal = kept, j
                continue
            side = min(max(values) - row[j], row[j] - min(values))
            side = side / self.spans[j] if self.spans[j] else float("inf")
            kept = max(sum(v < row[j] for v in values), sum(v > row[j] for v in values))
            if numeric is None or side < numeric[0] or (side == numeric[0] and kept > numeric[1]):
                numeric = side, kept, j
        if numeric is None or (nominal is not None and nominal[0] > numeric[1]):
            return nominal[1]
        return numeric[2]
