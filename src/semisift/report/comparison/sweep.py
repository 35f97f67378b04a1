"""What a sweep shows: figures, stability and agreement from level to level."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import NDArray

from semisift.evaluation.results import ComparisonResults
from semisift.evaluation.sweeps import SWEEPS
from semisift.report.comparison.canvas import on_axes
from semisift.report.comparison.curves import (
    MOST_BANDS,
    draw_lines,
    list_by_figure,
    place_of,
    places_of,
)
from semisift.report.comparison.tables import ReportTable, TableLine, number
from semisift.report.comparison.view import View, view_of
from semisift.report.palette import Palette, WriteName, bare

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
        choice: dict[str, Any] = {
            "judge": self.view.judge,
            "metric": self.view.metric,
            "size": self.view.size,
        }
        return np.stack(
            [self.results.scores(level=level, **choice).values for level in self.levels]
        )

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

    def draw(ax: Axes, palette: Palette, write: WriteName) -> None:
        draw_sweep(ax, sweep, measure, i, places, palette)
        means = sweep.values(measure, i).mean(axis=-1)
        list_by_figure(ax, means, places, sweep.view.methods, palette, write)

    return on_axes(ax, draw)


def draw_sweep(
    ax: Axes,
    sweep: SweepView,
    measure: str,
    dataset: int | None,
    places: Sequence[int],
    palette: Palette,
) -> None:
    """Draw a measure against the levels, with bands where there are runs and few methods."""
    bare(ax, palette)
    if sweep.results.about["sweep"]["kind"] == "labels":
        ax.set_xscale("log")  # one label more counts most where there are few
        ax.xaxis.set_minor_locator(NullLocator())
    values = sweep.values(measure, dataset)
    order = np.argsort(sweep.levels)
    levels = np.array(sweep.levels)[order]
    bands = len(places) <= MOST_BANDS
    draw_lines(ax, levels, values[:, :, order], places, palette, bands=bands)
    ax.xaxis.set_major_locator(FixedLocator(levels.tolist()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel(sweep.kind, color=palette.muted)
    ax.set_ylabel(sweep.name(measure), color=palette.muted)
