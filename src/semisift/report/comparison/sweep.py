"""What a sweep shows: figures, stability and agreement from level to level."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import NDArray

from semisift._words import visible
from semisift.evaluation.results import ComparisonResults
from semisift.evaluation.sweeps import SWEEPS
from semisift.report.comparison.curves import (
    MOST_BANDS,
    draw_lines,
    lines_figure,
    place_of,
    places_of,
)
from semisift.report.comparison.tables import ReportTable, TableLine, number
from semisift.report.comparison.view import View, view_of
from semisift.report.figures import Pen, ReportFigure

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


def sweep_figures(view: View, start: str = "", *, listed: bool) -> list[ReportFigure]:
    """Return the means of a sweep by each measure; none without a sweep."""
    if (sweep := sweep_of(view)) is None:
        return []
    return [
        sweep_figure(sweep, measure, None, f"{start}sweep-{measure}", listed=listed)
        for measure in MEASURES
    ]


def sweep_table(sweep: SweepView) -> ReportTable:
    """Return the mean figures of each method at each level."""
    means = sweep.values("figure", None).mean(axis=0)
    lines = [
        TableLine(name, [number(value) for value in means[j]], method=j)
        for j, name in enumerate(sweep.view.methods)
    ]
    columns = [f"{level:g}" for level in sweep.levels]
    title = f"Mean {sweep.view.metric_name} by {sweep.kind}"
    return ReportTable("sweep-of", title, "method", columns, lines)


def plot_sweep(
    results: ComparisonResults,
    ax: Axes | None = None,
    *,
    measure: str = "figure",
    dataset: str | None = None,
    methods: Sequence[str] | None = None,
    **choice: Any,
) -> Axes:
    """Draw how methods fare from level to level of a sweep.

    Parameters
    ----------
    results : Results
        Of a comparison with a sweep.
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    measure : {"figure", "stability", "agreement"}, default="figure"
        What the judge found, how alike selections are over runs, or how alike they are to those at
        the first level.
    dataset : str, optional
        Else the mean over the data sets that are complete at all levels.
    methods : sequence of str, optional
        Else all of them.
    **choice
        Judge, metric and size, as for `Results.scores`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if results.about["sweep"] is None:
        raise ValueError("plot_sweep needs a comparison with a sweep: this one has none.")
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}: got {measure!r}.")
    sweep = SweepView(view_of(results, **choice))
    i = None if dataset is None else place_of("dataset", dataset, results.datasets)
    places = places_of(results, methods)
    return sweep_figure(sweep, measure, i, listed=True, places=places).on_axes(ax)


def sweep_figure(
    sweep: SweepView,
    measure: str,
    dataset: int | None,
    slug: str = "",
    *,
    listed: bool,
    places: Sequence[int] | None = None,
) -> ReportFigure:
    """Return a measure against the levels, for a data set or on average."""
    places = places_of(sweep.results, None) if places is None else places
    values = sweep.values(measure, dataset)
    where = "mean over data sets" if dataset is None else visible(sweep.results.datasets[dataset])
    title = f"{sweep.name(measure)}, {where}"
    draw = partial(draw_sweep, sweep, sweep.name(measure), values, places)
    words = _sweep_in_words(sweep, values.mean(axis=0))
    return lines_figure(slug, title, words, draw, sweep.view, values, places, listed=listed)


def _sweep_in_words(sweep: SweepView, values: NDArray[np.float64]) -> str:
    """Say from where to where each method goes."""
    ends = [
        f"{name} {values[j, 0]:.3f} to {values[j, -1]:.3f}"
        for j, name in enumerate(sweep.view.said)
        if np.isfinite(values[j, [0, -1]]).all()
    ]
    if not ends:
        return "There are no values at both ends of the sweep."
    first, last = sweep.levels[0], sweep.levels[-1]
    return f"From level {first:g} to level {last:g}: {'; '.join(ends)}."


def draw_sweep(
    sweep: SweepView, label: str, values: NDArray[np.float64], places: Sequence[int], pen: Pen
) -> None:
    """Draw values against the levels, with bands where there are runs and few methods."""
    ax = pen.bare(sweep.kind, label)
    if sweep.results.about["sweep"]["kind"] == "labels":
        ax.set_xscale("log")  # one label more counts most where there are few
        ax.xaxis.set_minor_locator(NullLocator())
    order = np.argsort(sweep.levels)
    levels = np.array(sweep.levels)[order]
    draw_lines(pen, levels, values[:, :, order], places, bands=len(places) <= MOST_BANDS)
    ax.xaxis.set_major_locator(FixedLocator(levels.tolist()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_locator(MaxNLocator(5))
