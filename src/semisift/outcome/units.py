"""Units: rows that belong together, or single rows where nothing is known of groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from semisift._problem import Problem
from semisift.math import Bools, Ints


@dataclass(frozen=True, eq=False)
class Units:
    """What the groups of a problem hold.

    Attributes
    ----------
    of_row : int array of shape (n_rows,)
        The unit of each row.
    sizes : int array of shape (n_units,)
        How many rows each has.
    counts : int array of shape (n_units, n_classes)
        How many labelled rows of each class.
    batches : int array of shape (n_units,)
        Equal for units whose rows are in the same batches.
    """

    of_row: Ints
    sizes: Ints
    counts: Ints
    batches: Ints

    @property
    def is_free(self) -> Bools:
        """Which units have no labelled row."""
        return np.asarray(~self.counts.any(axis=1))

    @property
    def is_pure(self) -> Bools:
        """Which units have labelled rows of one class."""
        return np.asarray((self.counts > 0).sum(axis=1) == 1)

    @property
    def is_mixed(self) -> Bools:
        """Which units have labelled rows of several classes."""
        return np.asarray((self.counts > 0).sum(axis=1) > 1)

    def take(self, some: Bools) -> "Units":
        """Return some of the units; their rows are not told."""
        nobody = np.empty(0, dtype=np.int64)
        return Units(nobody, self.sizes[some], self.counts[some], self.batches[some])

    def strata(self, within_batches: bool) -> Ints:
        """Return a number for each unit; those with the same one may change places."""
        return self.batches if within_batches else np.zeros_like(self.batches)

    def row_keys(self, problem: Problem, within_batches: bool) -> Ints:
        """Return a number for each row; those with the same one are in one unit, and batch."""
        batches = problem.design.batches
        if batches is None or not within_batches:
            return self.of_row
        return self.of_row * (int(batches.max()) + 1) + batches

    def members(self) -> list[NDArray[np.int64]]:
        """Return the rows of each unit, ascending."""
        return np.split(np.argsort(self.of_row, kind="stable"), np.cumsum(self.sizes)[:-1])


def units_of(problem: Problem) -> Units:
    """Return the groups of a problem, or its rows where there are none."""
    design, codes, n_rows = problem.design, problem.labels.codes, problem.n_rows
    of_row, sizes = np.arange(n_rows), np.ones(n_rows, dtype=np.int64)
    if design.groups is not None:
        _, of_row, sizes = np.unique(design.groups, return_inverse=True, return_counts=True)
    counts = np.zeros((len(sizes), problem.labels.n_classes), dtype=np.int64)
    labelled = problem.labels.labelled
    np.add.at(counts, (of_row[labelled], codes[labelled]), 1)
    batches = np.zeros(len(sizes), dtype=np.int64)
    if design.batches is not None:
        is_there = np.zeros((len(sizes), int(design.batches.max()) + 1), dtype=bool)
        is_there[of_row, design.batches] = True
        batches = np.unique(is_there, axis=0, return_inverse=True)[1].ravel()
    return Units(of_row, sizes, counts, batches)
