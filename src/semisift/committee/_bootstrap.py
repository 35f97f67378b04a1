"""What is in the bags of a committee: rows that are drawn with repetition, or groups of them.

- As a rule the labelled rows and the unlabelled ones are drawn from by themselves, as many as there
  are (kernels/plan.pyx); with strata, the labelled rows of each stratum by themselves.
- Groups: as many of them as there are, whatever their classes and labels. A row is in the bag as
  often as its group was drawn, and out of it where the group was not, so that no group is on both
  sides. A draw without a labelled row is made anew.
- Weights: rows or groups are drawn as ever, and a row counts as often as it was drawn, times its
  weight over the mean weight of the labelled rows. So a row of weight 2 counts for as much as two
  rows that are drawn together. (If heavy rows were drawn more often instead, they would be out of
  the bag less often, where importance is measured: that undoes most of their weight.)
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.utils._columns import blocks
from semisift.utils._random import Purpose, draw_bag, draw_below, row_mask
from semisift.utils._typing import Bools, Floats

Int32s = NDArray[np.int32]
Masks = NDArray[np.uint64]  # of rows, as bits

# A draw has a given row or group with a chance of at least 1 - 1/e: so many draws do not fail.
MAX_DRAWS = 64
# The weight of a row where those of others are shares of it: trees count in whole numbers.
UNIT = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class Bootstrap:
    """Rows that bags are drawn from.

    Attributes
    ----------
    n_rows : int
    labelled : int32 array
        The labelled rows, those of one stratum side by side.
    strata : int32 array
        Where each stratum starts in `labelled`, with the end as last entry.
    unlabelled : int32 array
    groups : int array of shape (n_rows,) or None
        The number of the group of each row, which need not count from 0.
    weights : float array of shape (n_rows,) or None
        What each row counts for; not negative.
    """

    n_rows: int
    labelled: Int32s
    strata: Int32s
    unlabelled: Int32s
    groups: NDArray[np.integer] | None = None
    weights: Floats | None = None

    @classmethod
    def of(cls, data: TrainingData, stratified: bool) -> "Bootstrap":
        """Return the bootstrap of the rows, with `stratified` of each class by itself."""
        labels = data.labels
        labelled, counts = labels.labelled, [len(labels.labelled)]
        if stratified:
            labelled = labelled[np.argsort(labels.codes[labelled], kind="stable")]
            counts = labels.counts.tolist()
        return cls(
            n_rows=data.n_rows,
            labelled=labelled.astype(np.int32),
            strata=np.cumsum([0, *counts]).astype(np.int32),
            unlabelled=labels.unlabelled,
            groups=data.design.groups,
            weights=row_weights(data),
        )

    @classmethod
    def of_all(
        cls, n_rows: int, strata: Int32s | None = None, groups: NDArray[np.integer] | None = None
    ) -> "Bootstrap":
        """Return the bootstrap of rows that are all alike, in one stratum unless told otherwise."""
        every = np.arange(n_rows, dtype=np.int32)
        one = np.array([0, n_rows], dtype=np.int32)
        return cls(
            n_rows=n_rows,
            labelled=every,
            strata=one if strata is None else strata,
            unlabelled=every[:0],
            groups=groups,
        )

    def draw(self, seed: int, start: int, stop: int) -> tuple[Int32s, Masks]:
        """Draw the bags of the members start..stop-1.

        Parameters
        ----------
        seed, start, stop : int

        Returns
        -------
        counts : int32 array of shape (stop - start, n_labelled)
            How often each labelled row is in the bag; with weights, in units of 1 / `UNIT`.
        out_of_bag : uint64 array of shape (stop - start, n_words)
            The rows out of the bag as bit masks.
        """
        if self.groups is None and self.weights is None:
            rows: Any = self.n_rows, self.labelled, self.strata, self.unlabelled
            return _kernels.plan.draw_bags(seed, start, stop, *rows)
        parts = [
            self._draw_some(seed, np.arange(start + block.start, start + block.stop))
            for block in blocks(stop - start, self.n_rows)
        ]
        counts = [in_bag.take(self.labelled, axis=1) for in_bag, _ in parts]
        return np.concatenate(counts), np.concatenate([row_mask(is_out) for _, is_out in parts])

    def count(self, seed: int, member: int) -> Int32s:
        """Return how often each row, labelled or not, is drawn by one member."""
        if self.groups is None:
            rows = self.labelled, self.strata, self.unlabelled
            return draw_bag(seed, member, self.n_rows, *rows)
        return self._draw_some(seed, np.array([member]))[0][0]

    def _draw_some(self, seed: int, members: NDArray[np.integer]) -> tuple[Int32s, Bools]:
        """Return how often rows are in the bags of some members, and which are out of them."""
        is_used = np.zeros(self.n_rows, dtype=bool)
        is_used[self.labelled] = is_used[self.unlabelled] = True
        in_bag = np.ones((len(members), self.n_rows), dtype=np.int32)
        is_out = np.zeros(in_bag.shape, dtype=bool)
        pending = np.arange(len(members))
        for n_before in range(MAX_DRAWS):
            some = members[pending]
            draw = self._draw_rows if self.groups is None else self._draw_groups
            times = draw(seed, some, n_before)
            counts = self._weigh(times)
            has_labels = counts[:, self.labelled].any(axis=1) | (not len(self.labelled))
            done = pending[has_labels]
            in_bag[done], is_out[done] = counts[has_labels], is_used & (times[has_labels] == 0)
            pending = pending[~has_labels]
            if not len(pending):
                break
        return in_bag, is_out

    def _draw_rows(self, seed: int, members: NDArray[np.integer], n_before: int) -> Int32s:
        """Return how often each row is drawn, after some draws that were put aside."""
        times = np.zeros((len(members), self.n_rows), dtype=np.int32)
        for purpose, rows, bounds in (
            (Purpose.LABELLED_BAG, self.labelled, self.strata.tolist()),
            (Purpose.UNLABELLED_BAG, self.unlabelled, [0, len(self.unlabelled)]),
        ):
            for first, end in pairwise(bounds):
                counters = n_before * len(rows) + np.arange(first, end)
                drawn = draw_below(seed, members[:, None], purpose, counters, end - first)
                times[:, rows[first:end]] = count_each(drawn, end - first)
        return times

    def _draw_groups(self, seed: int, members: NDArray[np.integer], n_before: int) -> Int32s:
        """Return how often the group of each row is drawn, after some draws put aside."""
        groups = by_appearance(np.asarray(self.groups))
        n_groups = int(groups.max(initial=-1)) + 1
        counters = n_before * n_groups + np.arange(n_groups)
        drawn = draw_below(seed, members[:, None], Purpose.LABELLED_BAG, counters, n_groups)
        return count_each(drawn, n_groups).take(groups, axis=1)

    def _weigh(self, times: Int32s) -> Int32s:
        """Return what rows count for that are drawn so often."""
        if self.weights is None:
            return times
        share = self.weights / self.weights[self.labelled].mean()
        counts = np.clip(np.rint(UNIT * (times * share)), 1.0, np.iinfo(np.int32).max)
        return np.where((times > 0) & (share > 0), counts, 0).astype(np.int32)


def row_weights(data: TrainingData) -> Floats | None:
    """Return what each row counts for, 1 on average; None where all rows count alike."""
    weights = data.design.weights
    if weights is None or not len(weights) or (weights == weights[0]).all():
        return None
    return np.asarray(weights / weights.mean())


def by_appearance(groups: NDArray[np.integer]) -> NDArray[np.intp]:
    """Number groups by their first rows, so that their names do not matter.

    Examples
    --------
    >>> import numpy as np
    >>> by_appearance(np.array([7, 2, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, first, groups = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[groups]


def count_each(drawn: NDArray[np.integer], n: int) -> Int32s:
    """Return how often each number below `n` is in each row of an array.

    Examples
    --------
    >>> import numpy as np
    >>> count_each(np.array([[0, 2, 2], [1, 1, 1]]), 3)
    array([[1, 0, 2],
           [0, 3, 0]], dtype=int32)
    """
    places = (drawn + n * np.arange(len(drawn))[:, None]).ravel()
    return np.bincount(places, minlength=n * len(drawn)).reshape(len(drawn), n).astype(np.int32)
