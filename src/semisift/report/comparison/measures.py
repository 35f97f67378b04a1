"""What was measured besides the figures: stability, seconds and memory of each method."""

import numpy as np
from numpy.typing import NDArray

from semisift.report.comparison.view import View


def mean_stability(view: View) -> NDArray[np.float64]:
    """Return the stability of each method, on average over the complete data sets."""
    return _over_complete(view, view.results.stability(level=view.level))


def typical_seconds(view: View) -> NDArray[np.float64]:
    """Return the seconds of a ranking, as geometric means over the complete data sets."""
    seconds = measured(view, "seconds")
    return 10 ** _over_complete(view, np.log10(np.where(seconds > 0, seconds, np.nan)))


def most_memory(view: View) -> NDArray[np.float64]:
    """Return the largest peak of each method, in megabytes."""
    peaks = measured(view, "peak_mb")
    found = np.max(peaks, axis=0, initial=-np.inf, where=np.isfinite(peaks))
    return np.where(np.isfinite(found), found, np.nan)


def measured(view: View, name: str) -> NDArray[np.float64]:
    """Return what a run took on average, of shape (n_datasets, n_methods).

    Runs that failed do not count.
    """
    found = view.results.measured(name)
    values = found.values.copy()
    for record in view.results.failures:
        i, j = found.datasets.index(record["dataset"]), found.methods.index(record["method"])
        values[i, record["run"], j] = np.nan
    there = np.isfinite(values)
    n_runs = there.sum(axis=1)
    return np.asarray(np.where(there, values, 0).sum(axis=1) / np.where(n_runs, n_runs, np.nan))


def _over_complete(view: View, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over the complete data sets of values of shape (n_datasets, n_methods).

    A data set of no more features than are judged has no stability, and does not count.
    """
    kept = [view.results.datasets.index(name) for name in view.complete.datasets]
    return mean_of_whole(values, kept, view.places)


def mean_of_whole(
    values: NDArray[np.float64], rows: list[int], columns: list[int]
) -> NDArray[np.float64]:
    """Return means over those rows that have a value in each of the columns; else NaN.

    Examples
    --------
    >>> mean_of_whole(np.array([[1.0, 2.0], [np.nan, 9.0], [3.0, 4.0]]), [0, 1, 2], [0, 1])
    array([2., 3.])
    """
    found = np.full(values.shape[1], np.nan)
    part = values[np.ix_(rows, columns)]
    part = part[np.isfinite(part).all(axis=1)]
    if len(part):
        found[columns] = part.mean(axis=0)
    return found
