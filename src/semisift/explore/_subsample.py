"""The rows that the explorer works with: all, or of very many those that a hash draws.

What is made of their values alone is made once; a new label needs a pass over the columns and no
more.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from semisift.base._training_data import TrainingData, draw_rows
from semisift.filters.transductive import TransductiveScore
from semisift.io import Dataset
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.transduction._components import components
from semisift.utils._labels import parse_labels
from semisift.utils._named_array import with_names
from semisift.utils._typing import Floats, Ints

# Of more unlabelled rows, and of more labelled ones of the table, so many represent all: the
# fewer, the more columns there are. Measured: 5,000 sparse rows of 20,000 columns take 4 s before
# the first ranking, and 2,000 take 1.6 s.
MAX_ROWS, MIN_ROWS = 5000, 2000
MAX_VALUES = 25_000_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """Some rows of a table, and what is made of their values.

    Attributes
    ----------
    rows : int array
        Their numbers among the rows of the data set, ascending.
    values : array or csr_array
        As the data set has them.
    data : TrainingData
        Without labels; differences between batches are taken out of it.
    uncounted : set of int
        Rows of the data set whose weight is 0, which are never drawn.
    """

    rows: Ints
    values: Any
    data: TrainingData
    uncounted: frozenset[int] = frozenset()

    @cached_property
    def place_of(self) -> dict[int, int]:
        """The place of each row."""
        return {int(row): place for place, row in enumerate(self.rows)}

    @cached_property
    def positions(self) -> Floats:
        """The rows on their first two principal components; 0 where there is no second."""
        found = components(self.data)[:, :2]
        return found if found.shape[1] == 2 else np.column_stack([found, np.zeros(len(found))])

    @cached_property
    def _by_column(self) -> Any:
        return csc_array(self.values) if issparse(self.values) else self.values

    def column(self, number: int) -> NDArray[np.floating]:
        """Return the values of a column."""
        column = self._by_column[:, [number]]
        return np.ravel(column.toarray() if issparse(column) else np.asarray(column))

    def row(self, row: int, dataset: Dataset) -> NDArray[np.floating]:
        """Return the values of a row of the data set, drawn or not."""
        place = self.place_of.get(row)
        taken = take_rows(dataset, np.array([row])) if place is None else self.values[[place]]
        return np.ravel(taken.toarray() if issparse(taken) else np.asarray(taken))


def draw(dataset: Dataset, given: frozenset[int], seed: int) -> Drawn:
    """Draw the rows to work with, and make the training data of them.

    Parameters
    ----------
    dataset : Dataset
    given : set of int
        Rows that must be among them, besides labelled ones of the table.
    seed : int

    Returns
    -------
    Drawn
    """
    labels = parse_labels(dataset.y, len(dataset.y))
    most = max(MIN_ROWS, min(MAX_ROWS, MAX_VALUES // dataset.X.shape[1]))
    rows = draw_rows(labels, most, seed, max_labelled=most)
    if given:
        rows = np.union1d(rows, np.array(sorted(given)))
    uncounted: frozenset[int] = frozenset()
    if dataset.weight is not None:
        uncounted = frozenset(np.flatnonzero(dataset.weight == 0).tolist())
        rows = rows[dataset.weight[rows] > 0]
    values = take_rows(dataset, rows)
    of_rows: dict[str, Any] = {name: known[rows] for name, known in dataset.of_rows.items()}
    unlabelled = np.full(len(rows), None, dtype=object)
    ranker = TransductiveScore(random_state=seed)
    data = ranker._build_data(values, unlabelled, **of_rows)
    return Drawn(rows, values, data, uncounted)


def take_rows(dataset: Dataset, rows: Ints) -> Any:
    """Return some rows of a data set, which know the names of their columns."""
    X = dataset.X
    if not isinstance(X, OutOfCoreMatrix):
        return X if len(rows) == X.shape[0] else X[rows]
    taken = X.take(rows)
    taken = csr_array(taken) if issparse(taken) else taken
    return with_names(taken, X.feature_names, is_log=X.is_log)
