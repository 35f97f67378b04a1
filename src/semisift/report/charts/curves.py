"""Figures against the number of features and the levels of a sweep, and their spread over runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import NDArray

from semisift.comparison._results import Results, one_of
from semisift.report import _style
from semisift.report._figure import ReportFigure, tagged
from semisift.report._page import paragraph
from semisift.report._style import FigureStyle
from semisift.report.charts.boxes import MIN_POINTS, draw_box, spread
from semisift.report.comparison._view import MEASURES, SweepView, View, interval, sweep_of, view_of

# Bands of more methods lie over each other.
MAX_BANDS = 5
MARKS_ON_A_LINE = 5
LANE, LIST_WIDTH = 17.0, 190.0
SMALL, MARGINS = (440.0, 290.0), (54.0, 8.0, 8.0, 40.0)


@dataclass(frozen=True, eq=False)
class Lines:
    """What is drawn: values of some methods at some x.

    Attributes
    ----------
    names : list of str
        Of all methods.
    places : sequence of int
        Of those that are drawn.
    x : array of shape (n_x,)
    values : array of shape (n_runs, n_methods, n_x) or (n_runs, n_methods)
    labels : (str, str)
        Of the axes.
    bands : bool
        Whether the 95 % t intervals of the means are shaded.
    levels : "linear", "log" or None
        How the levels of a sweep are spaced; None for numbers of features.
    is_listed : bool
        Whether the methods are listed beside the axes.
    """

    names: list[str]
    places: Sequence[int]
    x: NDArray[np.float64]
    values: NDArray[np.float64]
    labels: tuple[str, str]
    bands: bool
    levels: str | None = None
    is_listed: bool = False


def figure(
    view: View,
    i: int,
    slug: str = "",
    *,
    listed: bool,
    places: Sequence[int] | None = None,
    bands: bool | None = None,
) -> ReportFigure:
    """Return the curves of a data set; `listed` adds the list of methods to the picture."""
    places = places_of(view.results, None) if places is None else places
    sizes = np.array(view.results.protocol.sizes, dtype=np.float64)
    order = np.argsort(sizes)
    best = []
    for k in dict.fromkeys([int(order[0]), int(order[-1])]):
        means = np.where(view.is_bound, np.nan, interval(view.curves[i][:, :, k])[0])
        if np.isfinite(means).any():
            j = int(np.nanargmax(means))
            best.append((int(sizes[k]), view.shown_names[j], means[j]))
    shown = Lines(
        view.methods,
        places,
        sizes[order],
        view.curves[i][:, :, order],
        ("number of features", view.metric_name),
        # the page hides and shows bands, a file has them where they can be told apart
        (not listed or len(places) <= MAX_BANDS) if bands is None else bands,
    )
    return _figure(slug, view.datasets[i], paragraph("curves", best), shown, listed)


def _figure(slug: str, title: str, words: str, shown: Lines, listed: bool) -> ReportFigure:
    made = ReportFigure(slug, title, words, draw, shown, SMALL, MARGINS)
    if not listed:
        return made
    size = 460 + LIST_WIDTH, max(300.0, 14.0 * len(shown.places) + 60)
    listing = replace(shown, is_listed=True)
    return replace(made, summary=listing, size=size, margins=(58.0, LIST_WIDTH, 8.0, 40.0))


def draw(ax: Axes, shown: Lines, style: FigureStyle) -> None:
    """Draw a line for each method through its means."""
    style.clean_axes(ax, *shown.labels)
    if shown.levels == "log":
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
    every = max(1, round(len(shown.x) / MARKS_ON_A_LINE))
    heights: list[NDArray[np.float64]] = [np.empty(0)]
    for number, place in enumerate(shown.places):
        mean, half = interval(shown.values[:, place])
        heights += [mean]
        if shown.bands and np.isfinite(half).any():
            # many bands are shown one at a time: they may be cut
            heights += [mean - half, mean + half] if len(shown.places) <= MAX_BANDS else []
            shade: Any = {"color": style.palette.of_class(place), "alpha": 0.14, "lw": 0}
            with tagged(ax, method=place, band=place):
                ax.fill_between(shown.x, mean - half, mean + half, **shade)
        with tagged(ax, method=place):
            # marks of different lines stand at different places
            start = number % every if len(shown.x) > every else 0
            look = _style.method_line(place, style.palette)
            ax.plot(shown.x, mean, markevery=(start, every), zorder=3, **look)
    # hardly more than 1, which is the best there is
    found = np.minimum(np.concatenate(heights), 1.0)
    if np.isfinite(found).any():
        ax.set_ylim(*_style.padded(found, 0.05, 0.02))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    if shown.levels is not None:
        ax.xaxis.set_major_locator(FixedLocator(shown.x.tolist()))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if shown.is_listed:
        means = np.nan_to_num(interval(shown.values.mean(axis=-1))[0], nan=-np.inf)
        order = sorted(shown.places, key=lambda place: -means[place])
        list_methods(ax, style, order, shown.names)


def list_methods(ax: Axes, style: FigureStyle, places: Sequence[int], names: Sequence[str]) -> None:
    """List methods with their lines and marks on the right of the axes."""
    size = min(0.92 * rcParams["font.size"], _style.size_of(ax)[1] / max(len(places), 1) / 1.3)
    looks = [
        (
            style.write(names[place], _style.n_letters(names[place], 15 * size, size)),
            _style.method_line(place, style.palette),
        )
        for place in places
    ]
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "fontsize": size}
    _style.draw_legend(ax, looks, style.palette.ink, **place, labelspacing=0.3, handlelength=2.6)


# --- the spread over runs -------------------------------------------------------------------------


def runs_figure(
    view: View, i: int, slug: str = "", places: Sequence[int] | None = None
) -> ReportFigure:
    """Return the spread of the figures of a data set over runs."""
    places = places_of(view.results, None) if places is None else places
    values = view.scores.values[i]
    ranges = [
        f"{name} {values[known, j].min():.3f} to {values[known, j].max():.3f}"
        for j, name in enumerate(view.shown_names)
        if (known := np.isfinite(values[:, j])).any()
    ]
    words = f"Least and largest of the runs: {'; '.join(ranges)}." if ranges else "No figures."
    size, margins = (360.0, LANE * len(places) + 48), (108.0, 12.0, 4.0, 40.0)
    shown = Lines(view.methods, places, np.empty(0), values, (view.metric_name, ""), bands=False)
    return ReportFigure(slug, view.datasets[i], words, draw_runs, shown, size, margins)


def draw_runs(ax: Axes, shown: Lines, style: FigureStyle) -> None:
    """Draw the figures of the runs of a data set, a lane for each method."""
    style.clean_axes(ax, shown.labels[0], None)
    size = rcParams["font.size"]
    for lane, place in enumerate(shown.places):
        values, name = shown.values[:, place], shown.names[place]
        found = values[np.isfinite(values)]
        with tagged(ax, method=place):
            style.name_lane(ax, name, _style.n_letters(name, 8.2 * size, size), lane)
            if len(found) > MIN_POINTS:
                draw_box(ax, found, lane, style.palette.of_class(place), filled=True)
            look = {**_style.method_point(place, style.palette, 4.6), "ls": "none", "alpha": 0.85}
            ax.plot(found, lane + spread(len(found)), zorder=4, clip_on=False, **look)
            if not len(found):
                style.annotate(ax, "none", (0.02, lane), xycoords=("axes fraction", "data"))
    ax.set_xlim(*_style.padded(shown.values, 0.04, 0.02))
    ax.set_ylim(len(shown.places) - 0.4, -0.6)
    ax.xaxis.set_major_locator(MaxNLocator(5))


# --- a sweep --------------------------------------------------------------------------------------


def sweep_figures(view: View, start: str = "", *, listed: bool) -> list[ReportFigure]:
    """Return the means of a sweep by each measure; none without a sweep."""
    sweep = sweep_of(view)
    return [
        sweep_figure(sweep, measure, None, f"{start}sweep-{measure}", listed=listed)
        for measure in (MEASURES if sweep else ())
        if sweep
    ]


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
    view, values = sweep.view, sweep.values(measure, dataset)
    places = places_of(view.results, None) if places is None else places
    means = values.mean(axis=0)
    first, last = f"{sweep.levels[0]:g}", f"{sweep.levels[-1]:g}"
    found = [
        f"{name} {means[j, 0]:.3f} to {means[j, -1]:.3f}"
        for j, name in enumerate(view.shown_names)
        if np.isfinite(means[j, [0, -1]]).all()
    ]
    words = f"From level {first} to level {last}: {'; '.join(found)}."
    words = words if found else "There are no values at both ends of the sweep."
    where = "mean over data sets" if dataset is None else view.datasets[dataset]
    order = np.argsort(sweep.levels)
    shown = Lines(
        view.methods,
        places,
        np.array(sweep.levels)[order],
        values[:, :, order],
        (sweep.kind, sweep.name(measure)),
        bands=len(places) <= MAX_BANDS,
        # one label more counts most where there are few
        levels="log" if view.results.about["sweep"]["kind"] == "labels" else "linear",
    )
    return _figure(slug, f"{sweep.name(measure)}, {where}", words, shown, listed)


def places_of(results: Results, methods: Sequence[str] | None) -> list[int]:
    """Return the places of methods; None is all of them."""
    if methods is None:
        return list(range(len(results.methods)))
    return [results.methods.index(one_of("methods", name, results.methods)) for name in methods]


def place_of(results: Results, dataset: str) -> int:
    """Return the place of a data set."""
    return results.datasets.index(one_of("dataset", dataset, results.datasets))


# --- on axes of the user --------------------------------------------------------------------------


def plot_curves(
    results: Results,
    dataset: str,
    ax: Axes | None = None,
    *,
    methods: Sequence[str] | None = None,
    bands: bool | None = None,
    **choice: Any,
) -> Axes:
    """Draw the mean figures of a data set against the number of features.

    Parameters
    ----------
    results : Results
    dataset : str
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    methods : sequence of str, optional
        Else all of them. The list on the right has the best on average first.
    bands : bool, optional
        Shade the 95 % t intervals of the means over runs; None shades them for up to five methods.
    **choice
        Judge, metric and level, as for `Results.scores`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    view, i = view_of(results, **choice), place_of(results, dataset)
    places = places_of(results, methods)
    return figure(view, i, listed=True, places=places, bands=bands).on_axes(ax)


def plot_boxes(
    results: Results,
    dataset: str,
    ax: Axes | None = None,
    *,
    methods: Sequence[str] | None = None,
    **choice: Any,
) -> Axes:
    """Draw the spread of the figures of a data set over runs; the parameters are as before.

    A box holds the middle half of the runs, with the median as a thick line; whiskers reach from
    the 5th to the 95th percentile, and each run is a mark. Up to five runs are marks alone.
    """
    view, i = view_of(results, **choice), place_of(results, dataset)
    places = places_of(results, methods)
    return runs_figure(view, i, places=places).on_axes(ax, (6.4, 0.9 + 0.27 * len(places)))


def plot_sweep(
    results: Results,
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
    one_of("measure", measure, MEASURES)
    sweep = SweepView(view_of(results, **choice))
    i = None if dataset is None else place_of(results, dataset)
    places = places_of(results, methods)
    return sweep_figure(sweep, measure, i, listed=True, places=places).on_axes(ax)
