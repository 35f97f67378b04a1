"""A view of a comparison: one judge, one metric and one level, with what follows from them.

Where something cannot be computed, it is None, and `obstacle` says why.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from semisift.comparison import _statistical_tests
from semisift.comparison._methods import BASELINES
from semisift.comparison._results import ComparisonResults, Scores
from semisift.comparison._sweeps import SWEEPS
from semisift.utils._text import join, printable_name, shorten

METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "auc": "area under the ROC curve",
}

LONGEST_SAID = 40
LEVEL_OF_RANKS = 0.05
LEVEL_OF_WINS = 0.1


@dataclass(frozen=True, eq=False)
class View:
    """One judge and one metric at one level; the parameters are those of `Results.scores`."""

    results: ComparisonResults
    judge: str
    metric: str
    level: float | None = None
    size: int | None = None

    @property
    def choice(self) -> dict[str, Any]:
        """What `Results` is asked for."""
        names = ("judge", "metric", "level", "size")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def scores(self) -> Scores:
        """What each method reached in each run."""
        return self.results.scores(**self.choice)

    @cached_property
    def complete(self) -> Scores:
        """The data sets on which all methods that have figures have all of them."""
        return self.scores.complete()

    @cached_property
    def curves(self) -> NDArray[np.float64]:
        """Figures at each size, of shape (n_datasets, n_runs, n_methods, n_sizes)."""
        return self.results.curves(judge=self.judge, metric=self.metric, level=self.level)

    @property
    def methods(self) -> list[str]:
        """Names as they are shown."""
        return [printable_name(name) for name in self.results.methods]

    @property
    def datasets(self) -> list[str]:
        """Names as they are shown."""
        return [printable_name(name) for name in self.results.datasets]

    @property
    def said(self) -> list[str]:
        """Names of methods as sentences have them: not too long."""
        return [shorten(name, LONGEST_SAID) for name in self.methods]

    @property
    def metric_name(self) -> str:
        """The metric in words."""
        return METRICS.get(self.metric, self.metric)

    @cached_property
    def is_bound(self) -> NDArray[np.bool_]:
        """Which methods are shown the labels that others are not."""
        return np.array([sees_all_labels(name) for name in self.results.methods], dtype=bool)

    @property
    def places(self) -> list[int]:
        """Places of the methods of `complete` among all methods."""
        return [self.scores.methods.index(name) for name in self.complete.methods]

    @property
    def n_complete(self) -> int:
        """How many data sets all methods finished."""
        return len(self.complete.datasets)

    @cached_property
    def best(self) -> NDArray[np.bool_]:
        """Which method is the best on a data set; see `best_of`."""
        return self.best_of(self.scores.means)

    def best_of(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mark the highest along the last axis, of methods that see no hidden labels.

        Equal ones are all marked, but none is where no other is lower.
        """
        means = np.where(self.is_bound | ~np.isfinite(values), np.nan, values)
        known = np.isfinite(means)
        axis: Any = {"axis": -1, "keepdims": True, "where": known}
        highest, lowest = means.max(initial=-np.inf, **axis), means.min(initial=np.inf, **axis)
        return (
            known
            & (means >= highest - _statistical_tests.EQUAL)
            & (lowest < highest - _statistical_tests.EQUAL)
        )

    @cached_property
    def mean_ranks(self) -> NDArray[np.float64]:
        """Mean rank of each method, of shape (n_methods,); NaN where there is none."""
        if not self.complete.values.size or self.results.unpaired(self.complete.datasets):
            return self._of_all(np.nan)
        return self._of_all([*self.results.mean_ranks(**self.choice).values()])

    @property
    def overall(self) -> NDArray[np.float64]:
        """Mean figure of each method over the complete data sets, of shape (n_methods,)."""
        has_figures = self.complete.values.size > 0
        return self._of_all(self.complete.means.mean(axis=0) if has_figures else np.nan)

    def _of_all(self, values: Any) -> NDArray[np.float64]:
        """Return values of the complete methods as values of all methods."""
        found = np.full(len(self.results.methods), np.nan)
        found[self.places] = values
        return found

    @cached_property
    def obstacle(self) -> str:
        """Why there are no tests over data sets; empty where there are."""
        return self.results.obstacle(**self.choice)

    @cached_property
    def friedman(self) -> _statistical_tests.Friedman | None:
        """Friedman's test over the complete data sets."""
        return None if self.obstacle else self.results.friedman(**self.choice)

    def nemenyi(self, alpha: float = LEVEL_OF_RANKS) -> _statistical_tests.Nemenyi | None:
        """Nemenyi's test over the complete data sets."""
        return None if self.obstacle else self.results.nemenyi(alpha, **self.choice)

    @cached_property
    def wilcoxon(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """p-values of the signed ranks of each pair of complete methods, plain and adjusted."""
        return None if self.obstacle else self.results.pairwise_wilcoxon(**self.choice)

    def wins(self, *, corrected: bool) -> NDArray[np.int64] | None:
        """Wins, ties and losses of the complete methods; None where there are none to count."""
        n_sets, n_runs, n_methods = self.complete.values.shape
        if not n_sets or min(n_runs, n_methods) < 2 or not np.isfinite(self.mean_ranks).any():
            return None
        return self.results.win_tie_loss(LEVEL_OF_WINS, corrected=corrected, **self.choice)

    @cached_property
    def left_out(self) -> list[str]:
        """Say which data sets and methods stand outside of ranks and tests, and why."""
        there = np.isfinite(self.scores.values)
        silent = [self.said[j] for j in np.flatnonzero(~there.any(axis=(0, 1)))]
        said = []
        if 0 < len(silent) < len(self.methods):
            said.append(f"Without any figure, and so without ranks: {join(silent)}.")
        for i, dataset in enumerate(self.datasets):
            lacking = [self.said[j] for j in self.places if not there[i, :, j].all()]
            if lacking:
                said.append(
                    f"{shorten(dataset, LONGEST_SAID)} does not count for ranks and tests, as runs "
                    f"of {join(lacking)} are missing there."
                )
        return said


def view_of(results: ComparisonResults, **choice: Any) -> View:
    """Return a view; what is not chosen is the first one of the comparison."""
    known = {
        "judge": results.protocol.judges[0],
        "metric": results.protocol.metrics[0],
        "level": results.levels[0],
    }
    chosen = {name: value for name, value in choice.items() if value is not None}
    view = View(results, **{**known, **chosen})
    _ = view.scores  # refuses what the comparison does not have
    return view


def views_of(results: ComparisonResults) -> list[View]:
    """Return a view for each judge and metric, at the first level."""
    pairs = product(results.protocol.judges, results.protocol.metrics)
    return [View(results, judge, metric, results.levels[0]) for judge, metric in pairs]


def sees_all_labels(label: str) -> bool:
    """Tell whether an entrant of that name is shown the hidden labels.

    Examples
    --------
    >>> sees_all_labels("all-labels"), sees_all_labels("fisher")
    (True, False)
    """
    baseline = BASELINES.get(label.partition(":")[0].strip())
    return bool(getattr(baseline, "sees_all_labels", False))


def interval(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means over the first axis and half the width of their 95 % t intervals.

    Values that are NaN do not count; with fewer than two there is no interval.

    Examples
    --------
    >>> mean, half = interval(np.array([[0.5, 0.7], [0.7, np.nan]]))
    >>> mean.tolist(), [round(width, 3) for width in half.tolist()]
    ([0.6, 0.7], [1.271, nan])
    """
    there = np.isfinite(values)
    n = there.sum(axis=0)
    mean = np.where(there, values, 0).sum(axis=0) / np.where(n, n, np.nan)
    squares = np.where(there, values - mean, 0) ** 2
    degrees = np.where(n > 1, n - 1, np.nan)
    error = np.sqrt(squares.sum(axis=0) / degrees / n.clip(1))
    return mean, error * stats.t.ppf(0.975, degrees)


# --- what was measured besides the figures ---


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
    return replace(found, values=values).means


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


# --- a sweep ---

MEASURES = ("figure", "stability", "agreement")


class SweepView:
    """The figures of a view at all levels of its sweep.

    Parameters
    ----------
    view : View
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.results = view.results
        self.levels = [float(level) for level in view.results.levels if level is not None]

    @property
    def kind(self) -> str:
        """What is varied, in words."""
        kind = self.results.about["sweep"]["kind"]
        return SWEEPS.get(kind, kind)

    @cached_property
    def figures(self) -> NDArray[np.float64]:
        """Figures, of shape (n_levels, n_datasets, n_runs, n_methods)."""
        return np.stack([replace(self.view, level=level).scores.values for level in self.levels])

    @cached_property
    def methods(self) -> NDArray[np.intp]:
        """Places of the methods that have figures."""
        return np.flatnonzero(np.isfinite(self.figures).any(axis=(0, 1, 2)))

    @cached_property
    def complete(self) -> list[int]:
        """Places of the data sets on which all methods with figures have them at all levels."""
        there = np.isfinite(self.figures)[..., self.methods]
        return np.flatnonzero(there.all(axis=(0, 2, 3))).tolist()

    def values(self, measure: str, dataset: int | None) -> NDArray[np.float64]:
        """Return values of shape (n_runs or 1, n_methods, n_levels).

        Parameters
        ----------
        measure : str
            One of `MEASURES`.
        dataset : int or None
            Its place; None is the mean over complete data sets.
        """
        if measure == "figure":
            found = self.figures
        else:
            of_level = getattr(self.results, measure)
            found = np.stack([of_level(level=level) for level in self.levels])[:, :, None]
        if dataset is not None:
            return found[:, dataset].transpose(1, 2, 0)
        whole = np.asarray(np.isfinite(found[..., self.methods]).all(axis=(0, 2, 3)))
        kept = [i for i in self.complete if whole[i]]
        part = found[:, kept].mean(axis=1) if kept else np.full_like(found[:, 0], np.nan)
        return part.transpose(1, 2, 0)

    def name(self, measure: str) -> str:
        """Return what the axis of a measure says."""
        return {
            "figure": self.view.metric_name,
            "stability": "stability over runs",
            "agreement": f"agreement with level {self.levels[0]:g}",
        }[measure]


def sweep_of(view: View) -> SweepView | None:
    """Return the sweep that a view belongs to; None where there is none."""
    return None if view.results.about["sweep"] is None else SweepView(view)
