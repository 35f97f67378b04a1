"""A view of a comparison: one judge, one metric and one level, with what follows from them.

Where something cannot be computed, it is None, and `obstacle` says why.
"""

from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from semisift.comparison import _statistical_tests
from semisift.comparison._methods import BASELINES
from semisift.comparison._results import Results, Scores
from semisift.comparison._sweeps import SWEEPS
from semisift.report._page import sentences
from semisift.utils._text import printable_name, shorten

METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "auc": "area under the ROC curve",
}
MEASURES = ("figure", "stability", "agreement")

MAX_NAME = 40
LEVEL_OF_RANKS, LEVEL_OF_WINS = 0.05, 0.1


class View:
    """What a comparison says of a choice.

    Parameters
    ----------
    results : Results
    choice : dict
        Judge, metric, level and size, as for `Results.scores`.
    """

    def __init__(self, results: Results, choice: dict[str, Any]) -> None:
        self.results, self.choice = results, choice
        self.evaluator, self.metric, self.level = (choice[k] for k in ("judge", "metric", "level"))
        self.methods = [printable_name(name) for name in results.methods]
        self.datasets = [printable_name(name) for name in results.datasets]
        self.shown_names = [shorten(name, MAX_NAME) for name in self.methods]
        self.metric_name = METRICS.get(self.metric, self.metric)
        self.scores: Scores = results.scores(**self.choice)
        # the data sets on which all methods that have figures have all of them
        self.complete = self.scores.complete()
        self.places = [results.methods.index(name) for name in self.complete.methods]
        self.is_bound = np.array([sees_all_labels(name) for name in results.methods], dtype=bool)
        # why there are no tests over data sets; empty where there are
        self.obstacle: str = results.obstacle(**self.choice)

    @cached_property
    def curves(self) -> NDArray[np.float64]:
        """Figures at each size, of shape (n_datasets, n_runs, n_methods, n_sizes)."""
        return self.results.curves(judge=self.evaluator, metric=self.metric, level=self.level)

    def best_of(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mark the highest along the last axis, of methods that see no hidden labels.

        Equal ones are all marked, but none is where no other is lower.
        """
        known = np.isfinite(values) & ~self.is_bound
        axis: Any = {"axis": -1, "keepdims": True, "where": known}
        highest, lowest = values.max(initial=-np.inf, **axis), values.min(initial=np.inf, **axis)
        least = highest - _statistical_tests.EQUAL
        return np.asarray(known & (values >= least) & (lowest < least))

    @cached_property
    def mean_ranks(self) -> NDArray[np.float64]:
        """Mean rank of each method, of shape (n_methods,); NaN where there is none."""
        if not self.complete.values.size or self.results.unpaired(self.complete.datasets):
            return self._of_all(np.nan)
        return self._of_all([*self.results.mean_ranks(**self.choice).values()])

    @cached_property
    def overall(self) -> NDArray[np.float64]:
        """Mean figure of each method over the complete data sets, of shape (n_methods,)."""
        has_figures = self.complete.values.size > 0
        return self._of_all(self.complete.means.mean(axis=0) if has_figures else np.nan)

    def _of_all(self, values: Any) -> NDArray[np.float64]:
        """Return values of the complete methods as values of all methods."""
        found = np.full(len(self.methods), np.nan)
        found[self.places] = values
        return found

    def test(self, name: str, *parameters: Any) -> Any:
        """Return what a test of `Results` over the complete data sets says; None without any."""
        test = getattr(self.results, name)
        return None if self.obstacle else test(*parameters, **self.choice)

    def wins(self, *, corrected: bool) -> NDArray[np.int64] | None:
        """Return wins, ties and losses of the complete methods; None if there are none to count."""
        n_sets, n_runs, n_methods = self.complete.values.shape
        if not n_sets or min(n_runs, n_methods) < 2 or not np.isfinite(self.mean_ranks).any():
            return None
        return self.results.win_tie_loss(LEVEL_OF_WINS, corrected=corrected, **self.choice)

    @cached_property
    def left_out(self) -> list[str]:
        """Return which data sets and methods stand outside of ranks and tests, and why."""
        there = np.isfinite(self.scores.values)
        silent = [self.shown_names[j] for j in np.flatnonzero(~there.any(axis=(0, 1)))]
        is_complete: Any = there.all(axis=1)
        lacking = [
            (shorten(name, MAX_NAME), [self.shown_names[j] for j in self.places if not runs[j]])
            for name, runs in zip(self.datasets, is_complete, strict=True)
        ]
        silent = silent if len(silent) < len(self.methods) else []
        return sentences("left_out", silent, [each for each in lacking if each[1]])

    # --- what was measured besides the figures ---

    def mean_stability(self) -> NDArray[np.float64]:
        """Return the stability of each method, on average over the complete data sets."""
        return self._over_complete(self.results.stability(level=self.level))

    def typical_seconds(self) -> NDArray[np.float64]:
        """Return the seconds of a ranking, as geometric means over the complete data sets."""
        seconds = self.measured("seconds")
        return 10 ** self._over_complete(np.log10(np.where(seconds > 0, seconds, np.nan)))

    def most_memory(self) -> NDArray[np.float64]:
        """Return the largest peak of each method, in megabytes."""
        peaks = self.measured("peak_mb")
        found = np.max(peaks, axis=0, initial=-np.inf, where=np.isfinite(peaks))
        return np.where(np.isfinite(found), found, np.nan)

    def measured(self, name: str) -> NDArray[np.float64]:
        """Return what a run that did not fail took on average, of shape (n_datasets, n_methods)."""
        found = self.results.measured(name)
        values = found.values.copy()
        for record in self.results.failures:
            i, j = found.datasets.index(record["dataset"]), found.methods.index(record["method"])
            values[i, record["run"], j] = np.nan
        return replace(found, values=values).means

    def _over_complete(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return means over the complete data sets of values of shape (n_datasets, n_methods).

        A data set of no more features than are judged has no stability, and does not count.
        """
        rows = [self.results.datasets.index(name) for name in self.complete.datasets]
        part = values[np.ix_(rows, self.places)]
        part = part[np.isfinite(part).all(axis=1)]
        return self._of_all(part.mean(axis=0) if len(part) else np.nan)


def view_of(results: Results, **choice: Any) -> View:
    """Return a view; what is not chosen is the first one of the comparison."""
    evaluator, metric = results.protocol.judges[0], results.protocol.metrics[0]
    first: dict[str, Any] = {"judge": evaluator, "metric": metric, "level": results.levels[0]}
    chosen = {name: value for name, value in choice.items() if value is not None}
    return View(results, first | chosen)


def views_of(results: Results) -> list[View]:
    """Return a view for each judge and metric, at the first level."""
    pairs = product(results.protocol.judges, results.protocol.metrics)
    return [view_of(results, judge=evaluator, metric=metric) for evaluator, metric in pairs]


def sees_all_labels(label: str) -> bool:
    """Return whether a method of that name is shown the hidden labels.

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


class SweepView:
    """The figures of a view at all levels of its sweep.

    Parameters
    ----------
    view : View
    """

    def __init__(self, view: View) -> None:
        self.view, results = view, view.results
        kind = results.about["sweep"]["kind"]
        self.kind = SWEEPS.get(kind, kind)
        self.levels = [float(level) for level in results.levels if level is not None]
        # of shape (n_levels, n_datasets, n_runs, n_methods)
        self.figures = np.stack(
            [results.scores(**view.choice | {"level": level}).values for level in self.levels]
        )
        self.methods = np.flatnonzero(np.isfinite(self.figures).any(axis=(0, 1, 2)))

    def values(self, measure: str, dataset: int | None) -> NDArray[np.float64]:
        """Return values of shape (n_runs or 1, n_methods, n_levels).

        Parameters
        ----------
        measure : str
            One of `MEASURES`.
        dataset : int or None
            Its place; None is the mean over data sets on which all methods that have figures have
            them, and these values, at all levels.
        """
        found = self.figures
        if measure != "figure":
            of_level = getattr(self.view.results, measure)
            found = np.stack([of_level(level=level) for level in self.levels])[:, :, None]
        if dataset is not None:
            return found[:, dataset].transpose(1, 2, 0)
        is_complete = np.ones(found.shape[1], dtype=bool)
        for values in (self.figures, found):
            is_complete &= np.isfinite(values[..., self.methods]).all(axis=(0, 2, 3))
        part = found[:, is_complete].mean(axis=1) if is_complete.any() else np.nan * found[:, 0]
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
