"""NNge, one row after another: kernels/nnge.pyx in numpy, bit for bit."""

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.math import Bools, Floats, Ints

Bits = NDArray[np.uint64]


class _Box(NamedTuple):
    """Sides in the numeric columns, and bits for the values in the nominal ones."""

    lower: Floats
    upper: Floats
    held: Bits


class _Columns:
    """Which columns are numeric, and where the bits of the nominal ones are."""

    def __init__(self, n_values: Ints) -> None:
        self.numeric = np.flatnonzero(n_values == 0)
        self.nominal = np.flatnonzero(n_values)
        n_words = (n_values[self.nominal] + 63) // 64
        self.first_word = np.cumsum(n_words) - n_words
        self.n_words = int(n_words.sum())

    def bits(self, X: Floats) -> Bits:
        """Return the values of rows as bits; a value of -1 has none."""
        bits = np.zeros((len(X), self.n_words), dtype=np.uint64)
        for j, first in zip(self.nominal, self.first_word, strict=True):
            values = X[:, j].astype(np.int64)
            rows = np.flatnonzero(values >= 0)
            word, place = np.divmod(values[rows], 64)
            bits[rows, first + word] = np.uint64(1) << place.astype(np.uint64)
        return bits

    def meet(self, one: Bits, other: Bits) -> Bools:
        """Return, for each nominal column, whether two sets of values have one in common.

        The sets are words along the first axis, of one or more boxes.
        """
        if not self.n_words:
            return np.empty((0, *np.broadcast_shapes(one.shape, other.shape)[1:]), dtype=bool)
        return np.logical_or.reduceat((one & other) != 0, self.first_word, axis=0)


def learn(
    X: Floats,
    labels: Ints,
    n_values: Ints,
    n_classes: int,
    n_attempts: int,
    n_intervals: int,
    half_open: bool,
    lower: Floats,
    upper: Floats,
    held: Bits,
    members: Ints,
    scales: Floats,
) -> int:
    """Learn exemplars and write them to the arrays of the caller, as the kernel does.

    Parameters
    ----------
    X, labels, n_values, n_classes, n_attempts, n_intervals, half_open
        As the kernel takes them.
    lower, upper, held, members, scales : arrays
        Receive the exemplars.

    Returns
    -------
    int
        Number of exemplars.
    """
    weighing = _Weighing(X, labels, n_values, n_classes, n_intervals, half_open, scales)
    learning = _Learning(X, labels, _Columns(n_values), (lower, upper, held), scales)
    for row in range(len(X)):
        weighing.see(row)
        if learning.n:
            learning.adjust(row)
        learning.generalise(row, n_attempts)
    return learning.finish(members)


def nearest(
    X: Floats, n_values: Ints, lower: Floats, upper: Floats, held: Bits, scales: Floats, out: Ints
) -> None:
    """Find the nearest exemplar of each row, the first among equals, as the kernel does.

    Parameters
    ----------
    X, n_values, lower, upper, held, scales : arrays
        As `learn` takes and writes them, cut to the exemplars that there are.
    out : array of shape (n_rows,)
        Receives the numbers of the exemplars.
    """
    columns = _Columns(n_values)
    bits = columns.bits(X)
    for i, row in enumerate(X):
        out[i] = np.argmin(_distances(columns, row, bits[i], _Box(lower, upper, held), scales))


def _distances(columns: _Columns, row: Floats, bits: Bits, boxes: _Box, scales: Floats) -> Floats:
    """Return the squared distances of a row to boxes that stand side by side."""
    weights, spans = scales
    terms = np.zeros((len(row), boxes.lower.shape[1]))
    used = columns.numeric[weights[columns.numeric] != 0]
    at = row[used, None]
    with np.errstate(over="ignore"):
        gaps = np.maximum(np.maximum(boxes.lower[used] - at, at - boxes.upper[used]), 0.0)
        terms[used] = weights[used, None] * (gaps / spans[used, None])
        apart = ~columns.meet(boxes.held, bits[:, None])
        terms[columns.nominal] = weights[columns.nominal, None] * apart
        # a cumulative sum adds column after column, as the kernel does
        total: Floats = np.cumsum(terms * terms, axis=0)[-1]
    return total / len(row) ** 2


class _Weighing:
    """The ranges of the columns and their mutual information with the class, row after row."""

    def __init__(
        self,
        X: Floats,
        labels: Ints,
        n_values: Ints,
        n_classes: int,
        n_intervals: int,
        half_open: bool,
        scales: Floats,
    ) -> None:
        self.X, self.labels, self.half_open = X, labels, half_open
        self.n_intervals = n_intervals
        self.scales = scales
        self.scales[:] = 0.0
        self.numeric, self.nominal = np.flatnonzero(n_values == 0), np.flatnonzero(n_values)
        n_cells = max(n_intervals, int(n_values.max()))
        self.low, self.high = np.full((2, X.shape[1]), [[np.inf], [-np.inf]])
        self.of_class = np.zeros(n_classes, dtype=np.int64)
        self.cells = np.zeros((n_cells, X.shape[1]), dtype=np.int64)
        self.joint = np.zeros((n_cells, n_classes, X.shape[1]), dtype=np.int64)
        # numpy's own log2 differs in the last bit on some machines
        self.logs = np.array([0.0] + [log2(k) for k in range(1, len(X) + 1)])

    def see(self, row: int) -> None:
        """Update all columns by a row."""
        x, label = self.X[row], self.labels[row]
        self.of_class[label] += 1
        is_new = (x < self.low) | (x > self.high)
        np.minimum(self.low, x, out=self.low)
        np.maximum(self.high, x, out=self.high)
        wider = self.numeric[is_new[self.numeric]]
        with np.errstate(over="ignore"):
            span = np.minimum(self.high[wider] - self.low[wider], np.finfo(np.float64).max)
        self.scales[1, wider] = span
        self.cells[:, wider] = 0
        self.joint[:, :, wider] = 0
        self._count(slice(0, row + 1), wider)
        self._count(slice(row, row + 1), self.numeric[~is_new[self.numeric]])
        values = x[self.nominal].astype(np.int64)
        self.cells[values, self.nominal] += 1
        self.joint[values, label, self.nominal] += 1
        self.scales[0] = self._information(row + 1)

    def _count(self, rows: slice, columns: Ints) -> None:
        """Count rows in the intervals of numeric columns."""
        values, n_intervals = self.X[rows, columns], self.n_intervals
        step = np.arange(n_intervals + 1)[:, None]
        edges = self.low[columns] + step * (self.scales[1, columns] / n_intervals)
        reached = edges[:, None] <= values
        if self.half_open:
            place = reached[1:-1].sum(axis=0)
            inside = place == step[:-1, None]
        else:
            inside = reached[:-1] & (values <= edges[1:, None])
        self.cells[:n_intervals, columns] += inside.sum(axis=1)
        for label in np.unique(self.labels[rows]):
            of_class = inside[:, self.labels[rows] == label].sum(axis=1)
            self.joint[:n_intervals, label, columns] += of_class

    def _information(self, n: int) -> Floats:
        size, of_class = self.cells[:, None], self.of_class[:, None]
        rarity = self.logs[n] - self.logs[of_class]
        terms = self.joint * ((self.logs[self.joint] - self.logs[size]) + rarity)
        terms[self.joint * n == size * of_class] = 0.0
        total: Floats = np.cumsum(terms.reshape(-1, terms.shape[2]), axis=0)[-1]
        return total / n


class _Learning:
    """Exemplars side by side in the arrays of the caller; a stamp tells which was touched last."""

    def __init__(
        self,
        X: Floats,
        labels: Ints,
        columns: _Columns,
        boxes: tuple[Floats, Floats, Bits],
        scales: Floats,
    ) -> None:
        self.X, self.row_labels, self.columns, self.scales = X, labels, columns, scales
        self.bits = columns.bits(X)
        self.lower, self.upper, self.held = boxes
        self.n = 0
        self.labels = np.empty(len(X), dtype=np.int32)
        self.stamps = np.empty(len(X), dtype=np.int64)
        self.distances = np.empty(len(X))
        self.rows: list[list[int]] = []
        self.clock = 0

    def hull(self, rows: Sequence[int]) -> _Box:
        """Return the smallest box of some rows, which is empty if there are none."""
        values = self.X[rows]
        return _Box(
            values.min(axis=0, initial=np.inf),
            values.max(axis=0, initial=-np.inf),
            np.bitwise_or.reduce(self.bits[rows], axis=0),
        )

    def overlaps(self, box: _Box, others: _Box) -> Bools:
        """Return which of the boxes that stand side by side a box overlaps."""
        numeric = self.columns.numeric
        lower, upper = box.lower[numeric, None], box.upper[numeric, None]
        meet = (others.lower[numeric] <= upper) & (lower <= others.upper[numeric])
        share = self.columns.meet(others.held, box.held[:, None])
        return np.asarray(meet.all(axis=0) & share.all(axis=0))

    def meets(self, box: _Box, other: _Box) -> bool:
        """Return whether two boxes overlap."""
        alone = _Box(other.lower[:, None], other.upper[:, None], other.held[:, None])
        return bool(self.overlaps(box, alone)[0])

    @property
    def boxes(self) -> _Box:
        """The boxes that there are."""
        return _Box(self.lower[:, : self.n], self.upper[:, : self.n], self.held[:, : self.n])

    def touch(self, e: int) -> None:
        """Make an exemplar the one touched last."""
        self.clock += 1
        self.stamps[e] = self.clock

    def store(self, e: int, box: _Box) -> None:
        """Write the box of an exemplar."""
        self.lower[:, e], self.upper[:, e], self.held[:, e] = box

    def add(self, rows: list[int], label: int) -> None:
        """Add an exemplar."""
        self.store(self.n, self.hull(rows))
        self.rows.append(rows)
        self.labels[self.n] = label
        self.touch(self.n)
        self.n += 1

    def remove(self, e: int) -> list[int]:
        """Remove an exemplar, put the last one in its place and return its rows."""
        rows, last = self.rows[e], self.n - 1
        for array in (self.lower, self.upper, self.held):
            array[:, e] = array[:, last]
        for vector in (self.labels, self.stamps, self.distances):
            vector[e] = vector[last]
        self.rows[e] = self.rows[last]
        self.rows.pop()
        self.n = last
        return rows

    def closest(self, candidates: Ints) -> int:
        """Return the nearest exemplar, of ties the one touched last."""
        distances = self.distances[candidates]
        tied = candidates[distances == distances.min()]
        return int(tied[self.stamps[tied].argmax()])

    def adjust(self, row: int) -> None:
        """Split the nearest exemplar if it holds a row of another class."""
        self.distances[: self.n] = _distances(
            self.columns, self.X[row], self.bits[row], self.boxes, self.scales
        )
        e = self.closest(np.arange(self.n))
        box = _Box(self.lower[:, e], self.upper[:, e], self.held[:, e])
        if self.labels[e] != self.row_labels[row] and self.meets(self.hull([row]), box):
            self.split(e, row)

    def generalise(self, row: int, n_attempts: int) -> None:
        """Let one of the nearest exemplars of its class take a row in, or make a point of it."""
        label = self.row_labels[row]
        untried = np.flatnonzero(self.labels[: self.n] == label)
        for _ in range(min(n_attempts, len(untried))):
            e = self.closest(untried)
            untried = untried[untried != e]
            self.touch(e)
            stretched = self.hull([*self.rows[e], row])
            overlaps = self.overlaps(stretched, self.boxes)
            overlaps[e] = False
            if not overlaps.any():
                self.store(e, stretched)
                self.rows[e].append(row)
                return
        self.add([row], label)

    def split(self, e: int, row: int) -> None:
        """Replace an exemplar by parts that neither hold a row nor overlap."""
        label = int(self.labels[e])
        rows = self.remove(e)
        cut = self.choose_cut(rows, row)
        point = self.hull([row])
        parts: tuple[list[int], list[int]] = [], []
        alone = []
        for member in rows:
            value, at = self.X[member, cut], self.X[row, cut]
            if value != at:
                parts[not (value > at or cut in self.columns.nominal)].append(member)
            elif (self.X[member] != self.X[row]).any():
                alone.append(member)
        points: dict[bytes, list[int]] = {}
        for member in alone:
            for part, other in (parts, parts[::-1]):
                stretched = self.hull([*part, member])
                if not (self.meets(stretched, point) or self.meets(stretched, self.hull(other))):
                    part.append(member)
                    break
            else:
                key = (self.X[member] + 0.0).tobytes()  # -0.0 equals 0.0
                points.setdefault(key, []).append(member)
        for found in (*points.values(), *parts):
            if found:
                self.add(found, label)

    def choose_cut(self, rows: list[int], row: int) -> int:
        """Return the column to cut an exemplar at when it must let go of a row."""
        numeric, nominal = self.columns.numeric, self.columns.nominal
        values, x = self.X[rows], self.X[row]
        kept = np.maximum((values < x).sum(axis=0), (values > x).sum(axis=0))
        kept[nominal] = (values != x)[:, nominal].sum(axis=0)
        spans = self.scales[1, numeric]
        sides = np.minimum(values.max(axis=0) - x, x - values.min(axis=0))[numeric]
        sides = np.divide(sides, spans, out=np.full(len(numeric), np.inf), where=spans > 0)
        best = nominal[kept[nominal].argmax()] if len(nominal) else -1
        if len(numeric):
            first = numeric[np.lexsort((-kept[numeric], sides))[0]]
            if best < 0 or kept[best] <= kept[first]:
                best = first
        return int(best)

    def finish(self, members: Ints) -> int:
        """Put the exemplars that were touched last first and write their classes and sizes."""
        order = np.argsort(-self.stamps[: self.n])
        for array in (self.lower, self.upper, self.held):
            array[:, : self.n] = array[:, order]
        members[0, : self.n] = self.labels[order]
        members[1, : self.n] = [len(self.rows[e]) for e in order]
        return self.n
