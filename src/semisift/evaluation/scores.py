"""Scores: the figures that methods reached on data sets, also as data frames."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift.evaluation.runs import Record

if TYPE_CHECKING:
    import polars


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


def long_frame(records: Iterable[Record], sizes: tuple[int, ...]) -> "polars.DataFrame":
    """Return all figures: a row for each record, judge, metric and size.

    Parameters
    ----------
    records : iterable of dict
        A failed one has no figures and no rows.
    sizes : tuple of int
        Of the protocol.

    Returns
    -------
    polars.DataFrame
    """
    import polars

    schema = {
        "dataset": polars.String,
        "method": polars.String,
        "level": polars.Float64,
        "run": polars.Int64,
        "judge": polars.String,
        "metric": polars.String,
        "size": polars.Int64,
        "value": polars.Float64,
        "seconds": polars.Float64,
        "peak_mb": polars.Float64,
    }
    rows = [row for record in records for row in _rows(record, sizes)]
    return polars.DataFrame(rows, schema=schema, orient="row")


def _rows(record: Record, sizes: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    who = encodable(record["dataset"]), encodable(record["method"]), record["level"], record["run"]
    cost = record["measured"]["seconds"], record["measured"]["peak_mb"]
    for judge, metrics in record["curves"].items():
        for metric, curve in metrics.items():
            for size, value in zip(sizes, curve, strict=True):
                yield *who, encodable(judge), metric, size, value, *cost


def wide_frame(scores: Scores) -> "polars.DataFrame":
    """Return the means: a row for each data set, a column for each method.

    Parameters
    ----------
    scores : Scores

    Returns
    -------
    polars.DataFrame
        Without a value where there is no mean.
    """
    import polars

    methods = [encodable(method) for method in scores.methods]
    first = "dataset"
    while first in methods:
        first += "_"
    names = polars.Series(first, [encodable(name) for name in scores.datasets], polars.String)
    means = polars.DataFrame(dict(zip(methods, scores.means.T, strict=True)))
    return means.fill_nan(None).insert_column(0, names)


def encodable(name: str) -> str:
    r"""Return a name that UTF-8 holds, as a data frame needs it.

    Names of files may have halves of characters.

    Examples
    --------
    >>> encodable("colon"), encodable("colon" + chr(0xD800))
    ('colon', 'colon\\ud800')
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
