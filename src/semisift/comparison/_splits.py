"""Splits: which rows train, which test, and whose labels a method may see."""

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from semisift.comparison._protocol import Protocol, share_of
from semisift.utils._labels import UNLABELLED


@dataclass(frozen=True, eq=False)
class RowSplit:
    """A partition of the rows of a data set.

    Attributes
    ----------
    train : int array
        Training rows, in order.
    test : int array
        Test rows, in order: rows of known class, none of which a method ever sees.
    is_labelled : bool array of shape (len(train),)
        Which training rows show their labels.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    is_labelled: NDArray[np.bool_]

    @property
    def checksum(self) -> int:
        """A number that tells splits apart."""
        parts = (self.train, self.test, self.is_labelled)
        return zlib.crc32(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))


def draw_split(
    y: NDArray[np.int64],
    protocol: Protocol,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
) -> RowSplit:
    """Draw one split.

    Classes with few rows are kept: each has at least one labelled row to learn from, and one to
    test on, unless it has one row alone, or groups, `n_unlabelled` or `n_test` leave it none. Rows
    of unknown class always train, but for those in a group that tests, which are left out.

    Parameters
    ----------
    y : int array of shape (n,)
        Codes of the classes; -1 where the class is not known.
    protocol : Protocol
    rng : Generator
    groups : int array of shape (n,), optional
        From 0. Rows of one group are never split between training and test.

    Returns
    -------
    RowSplit

    Raises
    ------
    ValueError
        Where the protocol leaves nothing to test on or cannot label each class. Whether it does
        depends on the data and the protocol alone, not on what is drawn.
    """
    order = rng.permutation(len(y))
    turn = rng.permutation(y.max() + 1)  # of the classes
    if protocol.n_unlabelled is not None:
        if groups is not None:
            raise ValueError(
                "groups cannot be kept together where n_unlabelled rows train: got "
                f"n_unlabelled={protocol.n_unlabelled}."
            )
        shown = _rows_to_label(y, np.ones(len(y), dtype=bool), protocol, order, turn)
        in_test = ~shown & (y != UNLABELLED)  # but for so many that train besides
        in_test[order[in_test[order]][: protocol.n_unlabelled]] = False
    else:
        share = 1 - protocol.train_size
        if groups is None:
            in_test = _rows_to_test(y, share, order)
        else:
            in_test = _groups_to_test(y, groups, share, rng)
        shown = _rows_to_label(y, ~in_test, protocol, order, turn)
    test = order[(in_test & (y != UNLABELLED))[order]][: protocol.n_test]
    if not len(test):
        raise ValueError(
            f"no row is left to test on: all {len(y)} train, {np.count_nonzero(shown)} of them "
            "labelled."
        )
    train = np.flatnonzero(~in_test)
    return RowSplit(train, np.sort(test), shown[train])


def _rows_to_test(
    y: NDArray[np.int64], share: float, order: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mark a share of the rows of each class, at least one of two."""
    in_test = np.zeros(len(y), dtype=bool)
    for label in range(y.max() + 1):
        rows = order[y[order] == label]
        n_test = np.clip(share_of(len(rows), share), min(1, len(rows) - 1), len(rows) - 1)
        in_test[rows[:n_test]] = True
    return in_test


def _groups_to_test(
    y: NDArray[np.int64], groups: NDArray[np.int64], share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Mark whole groups, so that about a share of the rows of each class is marked.

    Groups come in random order. One is taken if that brings the counts of the classes nearer to the
    share and leaves each class a row to learn from. With the large ones first the counts would come
    nearer still, but groups that differ in size would be taken alike in every run.
    """
    counts = np.zeros((groups.max() + 1, y.max() + 1))
    known = y != UNLABELLED
    np.add.at(counts, (groups[known], y[known]), 1)
    totals = counts.sum(axis=0)

    def distance(has: NDArray[np.float64]) -> float:
        return float(np.sum((has - share * totals) ** 2 / totals))

    turn = rng.permutation(len(counts))
    may = [group for group in turn if counts[group].any() and (counts[group] < totals).all()]
    if not may:
        raise ValueError(
            f"groups: none of {len(counts)} can be held back for a test without taking all rows of "
            "a class."
        )
    taken, has = [], np.zeros(len(totals))
    for group in may:
        after = has + counts[group]
        if distance(after) < distance(has) and (after < totals).all():
            taken.append(group)
            has = after
    # where each of them alone is far too many
    taken = taken or [min(may, key=lambda group: distance(counts[group]))]
    return np.isin(groups, taken)


def _rows_to_label(
    y: NDArray[np.int64],
    may_train: NDArray[np.bool_],
    protocol: Protocol,
    order: NDArray[np.int64],
    turn: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Mark the training rows whose labels are shown, at least one of each class."""
    shown = np.zeros(len(y), dtype=bool)
    backwards = order[::-1]  # rows for the test are taken from the other end
    backwards = backwards[may_train[backwards]]
    rows_of = [backwards[y[backwards] == label] for label in range(y.max() + 1)]
    if protocol.n_labelled is not None:
        wanted = _evenly(protocol.n_labelled, [len(rows) for rows in rows_of], turn)
    elif protocol.labelled_share is not None:
        wanted = [max(1, round(protocol.labelled_share * len(rows))) for rows in rows_of]
    else:
        assert protocol.labels_per_class is not None
        wanted = [protocol.labels_per_class] * len(rows_of)
    for rows, n_wanted in zip(rows_of, wanted, strict=True):
        shown[rows[:n_wanted]] = True
    return shown


def _evenly(n_labelled: int, available: list[int], turn: NDArray[np.int64]) -> list[int]:
    """Spread a number over classes as evenly as can be; the first in turn may have one more."""
    n_classes = len(available)
    if n_labelled < n_classes:
        raise ValueError(
            f"n_labelled must be at least the number of classes, {n_classes}: got {n_labelled}."
        )
    wanted = [0] * n_classes
    left = min(n_labelled, sum(available))
    while left:
        for label in turn:
            if left and wanted[label] < available[label]:
                wanted[label] += 1
                left -= 1
    return wanted
