"""NNge, one row after another: kernels/nnge.pyx in numpy, bit for bit."""

from dataclasses import dataclass
from itertools import count
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.utils._typing import Bools, Floats, Ints

Bits = NDArray[np.uint64]


class _Boxes(NamedTuple):
    """Boxes side by side: sides in all columns, and bits for the values in the nominal ones."""

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
        """Return, for each nominal column, whether the values of boxes have one in common."""
        return np.logical_or.reduceat((one & other) != 0, self.first_word, axis=0)

    def overlap(self, box: _Boxes, others: _Boxes) -> Bools:
        """Return which boxes overlap one."""
        meet = (others.lower <= box.upper) & (box.lower <= others.upper)
        share = self.meet(others.held, box.held)
        return np.asarray(meet[self.numeric].all(axis=0) & share.all(axis=0))


@dataclass(eq=False)
class _Exemplar:
    """Rows of one class in the smallest box around them; the stamp tells when it was touched."""

    rows: list[int]
    label: int
    box: _Boxes
    stamp: int
    distance: float = np.inf

    def __lt__(self, other: "_Exemplar") -> bool:
        """The nearest comes first, of ties the one that was touched last."""
        return (self.distance, -self.stamp) < (other.distance, -other.stamp)


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
        Receive the exemplars, those that were touched last first.

    Returns
    -------
    int
        Number of exemplars.
    """
    # numpy's own log2 differs in the last bit on some machines
    logs = np.array([0.0] + [log2(k) for k in range(1, len(X) + 1)])
    learning = _Learning(X, labels, _Columns(n_values), scales)
    for row in range(len(X)):
        seen = X[: row + 1]
        inside, scales[1] = _cells(seen, n_values, n_intervals, half_open)
        scales[0] = _information(inside, labels[: row + 1], n_classes, logs)
        if learning.exemplars:
            learning.adjust(row)
        learning.generalise(row, n_attempts)
    found = sorted(learning.exemplars, key=lambda exemplar: -exemplar.stamp)
    for e, exemplar in enumerate(found):
        lower[:, e], upper[:, e], held[:, e] = (side[:, 0] for side in exemplar.box)
        members[:, e] = exemplar.label, len(exemplar.rows)
    return len(found)


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
        out[i] = np.argmin(_distances(columns, row, bits[i], _Boxes(lower, upper, held), scales))


def _distances(columns: _Columns, row: Floats, bits: Bits, boxes: _Boxes, scales: Floats) -> Floats:
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


def _cells(X: Floats, n_values: Ints, n_intervals: int, half_open: bool) -> tuple[Bools, Floats]:
    """Return which rows are in which cell of each column, and the spans of numeric columns.

    The cells, along the first axis, are the values of nominal columns and intervals of numeric
    ones; rows stand along the second axis.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        span = np.where(n_values == 0, np.minimum(high - low, np.finfo(np.float64).max), 0.0)
    cells = np.arange(max(n_intervals, int(n_values.max())))[:, None, None]
    edges = low + np.arange(n_intervals + 1)[:, None] * (span / n_intervals)
    reached = edges[:, None] <= X
    inside = reached[1:-1].sum(axis=0) == cells
    if not half_open:
        inside[:n_intervals] = reached[:-1] & (edges[1:, None] >= X)
    return np.where(n_values == 0, inside, cells == X), span


def _information(inside: Bools, labels: Ints, n_classes: int, logs: Floats) -> Floats:
    """Return the mutual information of each column with the class."""
    n, classes = len(labels), range(n_classes)
    joint = np.stack([inside[:, labels == label].sum(axis=1) for label in classes], axis=1)
    size, of_class = inside.sum(axis=1)[:, None], np.bincount(labels, minlength=n_classes)[:, None]
    terms = joint * ((logs[joint] - logs[size]) + (logs[n] - logs[of_class]))
    terms[joint * n == size * of_class] = 0.0
    total: Floats = np.cumsum(terms.reshape(-1, terms.shape[2]), axis=0)[-1]
    return total / n


class _Learning:
    """The exemplars so far."""

    def __init__(self, X: Floats, labels: Ints, columns: _Columns, scales: Floats) -> None:
        self.X, self.labels, self.columns, self.scales = X, labels, columns, scales
        self.bits = columns.bits(X)
        self.exemplars: list[_Exemplar] = []
        self.stamps = count(1)

    def hull(self, rows: list[int]) -> _Boxes:
        """Return the smallest box of some rows, which is empty if there are none."""
        values = self.X[rows]
        return _Boxes(
            values.min(axis=0, initial=np.inf)[:, None],
            values.max(axis=0, initial=-np.inf)[:, None],
            np.bitwise_or.reduce(self.bits[rows], axis=0)[:, None],
        )

    def boxes(self) -> _Boxes:
        """Return the boxes of all exemplars side by side."""
        boxes = zip(*(exemplar.box for exemplar in self.exemplars), strict=True)
        return _Boxes(*(np.concatenate(side, axis=1) for side in boxes))

    def add(self, rows: list[int], label: int) -> None:
        """Add an exemplar."""
        self.exemplars.append(_Exemplar(rows, label, self.hull(rows), next(self.stamps)))

    def adjust(self, row: int) -> None:
        """Split the nearest exemplar if it holds a row of another class."""
        boxes, bits = self.boxes(), self.bits[row]
        distances = _distances(self.columns, self.X[row], bits, boxes, self.scales)
        for exemplar, distance in zip(self.exemplars, distances, strict=True):
            exemplar.distance = distance
        nearest = min(self.exemplars)
        holds = self.columns.overlap(self.hull([row]), nearest.box)[0]
        if nearest.label != self.labels[row] and holds:
            self.split(nearest, row)

    def generalise(self, row: int, n_attempts: int) -> None:
        """Let one of the nearest exemplars of its class take a row in, or make a point of it."""
        label = int(self.labels[row])
        own = [exemplar for exemplar in self.exemplars if exemplar.label == label]
        for exemplar in sorted(own)[:n_attempts]:
            exemplar.stamp = next(self.stamps)
            stretched = self.hull([*exemplar.rows, row])
            if self.columns.overlap(stretched, self.boxes()).sum() == 1:  # with itself
                exemplar.box = stretched
                exemplar.rows.append(row)
                return
        self.add([row], label)

    def split(self, exemplar: _Exemplar, row: int) -> None:
        """Replace an exemplar by parts that neither hold a row nor overlap."""
        self.exemplars.remove(exemplar)
        cut = self.choose_cut(exemplar.rows, row)
        point = self.hull([row])
        parts: tuple[list[int], list[int]] = [], []
        alone = []
        for member in exemplar.rows:
            value, at = self.X[member, cut], self.X[row, cut]
            if value != at:
                parts[not (value > at or cut in self.columns.nominal)].append(member)
            elif (self.X[member] != self.X[row]).any():
                alone.append(member)
        points: dict[bytes, list[int]] = {}
        for member in alone:
            for part, other in (parts, parts[::-1]):
                stretched = self.hull([*part, member])
                apart_from = point, self.hull(other)
                if not any(self.columns.overlap(stretched, box)[0] for box in apart_from):
                    part.append(member)
                    break
            else:
                key = (self.X[member] + 0.0).tobytes()  # -0.0 equals 0.0
                points.setdefault(key, []).append(member)
        for found in (*points.values(), *parts):
            if found:
                self.add(found, exemplar.label)

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
