"""Scores: the figures that methods reached on data sets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Scores:
    """The figures that methods reached on data sets.

    Attributes
    ----------
    datasets, methods : list of str
    values : float array of shape (n_datasets, n_runs, n_methods)
        NaN where there is no record.
    """

    datasets: list[str]
    methods: list[str]
    values: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean over the runs that are there, of shape (n_datasets, n_methods)."""
        counts = np.isfinite(self.values).sum(axis=1)
        sums = np.nansum(self.values, axis=1)
        return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard error of the means; NaN for fewer than two runs."""
        counts = np.isfinite(self.values).sum(axis=1)
        squares = np.nansum((self.values - self.means[:, None, :]) ** 2, axis=1)
        few = counts < 2
        return np.where(few, np.nan, np.sqrt(squares / np.where(few, 1, counts * (counts - 1))))

    def of(self, methods: list[str]) -> "Scores":
        """Return the figures of some methods."""
        chosen = [self.methods.index(method) for method in methods]
        return Scores(self.datasets, methods, self.values[:, :, chosen])

    def complete(self) -> "Scores":
        """Return the data sets on which every method has all its runs.

        Methods without any figure are left out first.
        """
        there = np.isfinite(self.values)
        methods = np.flatnonzero(there.any(axis=(0, 1)))
        datasets = np.flatnonzero(there[:, :, methods].all(axis=(1, 2)))
        return Scores(
            [self.datasets[i] for i in datasets],
            [self.methods[j] for j in methods],
            self.values[datasets][:, :, methods],
        )
