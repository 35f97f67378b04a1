"""Figures against the number of features and the levels of a sweep, and their spread over runs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import NDArray

from semisift.comparison._results import ComparisonResults
from semisift.report._figures import Pen, ReportFigure, padded, tagged
from semisift.report._rows import FEW_POINTS, draw_box, spread
from semisift.report.comparison import _diagram
from semisift.report.comparison._labels import font_size, list_methods, n_letters
from semisift.report.comparison._view import MEASURES, SweepView, View, interval, sweep_of, view_of
from semisift.utils._text import plural, printable_name

# Bands of more methods lie over each other.
MOST_BANDS = 5
MARKS_ON_A_LINE = 5
LANE = 17.0
LIST_WIDTH = 190.0
SMALL, MARGINS = (440.0, 290.0), (54.0, 8.0, 8.0, 40.0)


def plot_curves(
    results: ComparisonResults,
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
    view, i = view_of(results, **choice), place_of("dataset", dataset, results.datasets)
    places = places_of(results, methods)
    return curve_figure(view, i, listed=True, places=places, bands=bands).on_axes(ax)


def plot_boxes(
    results: ComparisonResults,
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
    view, i = view_of(results, **choice), place_of("dataset", dataset, results.datasets)
    places = places_of(results, methods)
    return box_figure(view, i, places=places).on_axes(ax, (6.4, 0.9 + 0.27 * len(places)))


def curve_figure(
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
    # the page hides and shows bands, a file has them where they can be told apart
    shaded = (not listed or len(places) <= MOST_BANDS) if bands is None else bands
    values = view.curves[i]
    title, words = view.datasets[i], _curves_in_words(view, i)
    draw = partial(draw_curves, view, values, places, shaded)
    figure = ReportFigure(slug, title, words, SMALL, MARGINS, draw)
    return with_list(figure, view, values, places) if listed else figure


def with_list(
    figure: ReportFigure, view: View, values: NDArray[np.float64], places: Sequence[int]
) -> ReportFigure:
    """Add a list of methods to a picture of values, the best mean first."""

    def draw(pen: Pen) -> None:
        figure.draw(pen)
        means = interval(values.mean(axis=-1))[0]
        order = sorted(places, key=lambda place: -np.nan_to_num(means[place], nan=-np.inf))
        list_methods(pen, order, view.methods)

    size = 460 + LIST_WIDTH, max(300.0, 14.0 * len(places) + 60)
    return replace(figure, size=size, margins=(58.0, LIST_WIDTH, 8.0, 40.0), draw=draw)


def _curves_in_words(view: View, i: int) -> str:
    """Say which method does best with few and with many features."""
    sizes = view.results.protocol.sizes
    said = []
    for size in dict.fromkeys([min(sizes), max(sizes)]):
        runs = view.curves[i][:, :, sizes.index(size)]
        means = np.where(view.is_bound, np.nan, interval(runs)[0])
        if np.isfinite(means).any():
            best = int(np.nanargmax(means))
            said.append(
                f"With {plural(size, 'feature')} {view.said[best]} does best: {means[best]:.3f}."
            )
    return " ".join(said) or "There are no figures."


def draw_curves(
    view: View, values: NDArray[np.float64], places: Sequence[int], bands: bool, pen: Pen
) -> None:
    """Draw the curves of a data set."""
    ax = pen.bare("number of features", view.metric_name)
    sizes = np.array(view.results.protocol.sizes, dtype=np.float64)
    order = np.argsort(sizes)
    draw_lines(pen, sizes[order], values[:, :, order], places, bands=bands)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))


def draw_lines(
    pen: Pen,
    x: NDArray[np.float64],
    values: NDArray[np.float64],
    places: Sequence[int],
    *,
    bands: bool,
) -> None:
    """Draw a line for each method through the means of values of shape (n_runs, n_methods, n_x)."""
    ax, palette, _ = pen
    every = max(1, round(len(x) / MARKS_ON_A_LINE))
    shown: list[NDArray[np.float64]] = [np.empty(0)]
    for number, place in enumerate(places):
        mean, half = interval(values[:, place])
        shown += [mean]
        if bands and np.isfinite(half).any():
            # many bands are shown one at a time: they may be cut
            shown += [mean - half, mean + half] if len(places) <= MOST_BANDS else []
            shade: Any = {"color": _diagram.colour(place, palette), "alpha": 0.14, "lw": 0}
            with tagged(ax, method=place, band=place):
                ax.fill_between(x, mean - half, mean + half, **shade)
        with tagged(ax, method=place):
            # marks of different lines stand at different places
            start = number % every if len(x) > every else 0
            ax.plot(x, mean, markevery=(start, every), zorder=3, **_diagram.line(place, palette))
    # hardly more than 1, which is the best there is
    heights = np.minimum(np.concatenate(shown), 1.0)
    if np.isfinite(heights).any():
        ax.set_ylim(*padded(heights, 0.05, 0.02))


def box_figure(
    view: View, i: int, slug: str = "", places: Sequence[int] | None = None
) -> ReportFigure:
    """Return the spread of the figures of a data set over runs."""
    places = places_of(view.results, None) if places is None else places
    values = view.scores.values[i]
    ranges = [
        f"{name} {values[is_there, j].min():.3f} to {values[is_there, j].max():.3f}"
        for j, name in enumerate(view.said)
        if (is_there := np.isfinite(values[:, j])).any()
    ]
    words = f"Least and largest of the runs: {'; '.join(ranges)}." if ranges else "No figures."
    size, margins = (360.0, LANE * len(places) + 48), (108.0, 12.0, 4.0, 40.0)
    draw = partial(draw_runs, view, values, places)
    return ReportFigure(slug, view.datasets[i], words, size, margins, draw)


def draw_runs(view: View, values: NDArray[np.float64], places: Sequence[int], pen: Pen) -> None:
    """Draw the figures of the runs of a data set, a lane for each method."""
    ax, size = pen.bare(view.metric_name, None), font_size()
    for lane, place in enumerate(places):
        found = values[np.isfinite(values[:, place]), place]
        name = view.methods[place]
        with tagged(ax, method=place):
            pen.name_lane(name, n_letters(name, 8.2 * size, size), lane)
            if len(found) > FEW_POINTS:
                draw_box(ax, found, lane, _diagram.colour(place, pen.palette), filled=True)
            look = {**_diagram.point(place, pen.palette, 4.6), "ls": "none", "alpha": 0.85}
            ax.plot(found, lane + spread(len(found)), zorder=4, clip_on=False, **look)
            if not len(found):
                pen.say("none", (0.02, lane), xycoords=("axes fraction", "data"), va="center")
    ax.set_xlim(*padded(values, 0.04, 0.02))
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.xaxis.set_major_locator(MaxNLocator(5))


# --- a sweep ---


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
    place_of("measure", measure, MEASURES)
    sweep = SweepView(view_of(results, **choice))
    i = None if dataset is None else place_of("dataset", dataset, results.datasets)
    places = places_of(results, methods)
    return sweep_figure(sweep, measure, i, listed=True, places=places).on_axes(ax)


def sweep_figures(view: View, start: str = "", *, listed: bool) -> list[ReportFigure]:
    """Return the means of a sweep by each measure; none without a sweep."""
    if (sweep := sweep_of(view)) is None:
        return []
    return [
        sweep_figure(sweep, measure, None, f"{start}sweep-{measure}", listed=listed)
        for measure in MEASURES
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
    places = places_of(sweep.results, None) if places is None else places
    values = sweep.values(measure, dataset)
    where = (
        "mean over data sets"
        if dataset is None
        else printable_name(sweep.results.datasets[dataset])
    )
    title = f"{sweep.name(measure)}, {where}"
    draw = partial(draw_sweep, sweep, sweep.name(measure), values, places)
    words = _sweep_in_words(sweep, values.mean(axis=0))
    figure = ReportFigure(slug, title, words, SMALL, MARGINS, draw)
    return with_list(figure, sweep.view, values, places) if listed else figure


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


def place_of(what: str, name: str, known: Sequence[str]) -> int:
    """Return the place of a name; one that is not there is an error."""
    if name not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}: got {name!r}.")
    return known.index(name)


def places_of(results: ComparisonResults, methods: Sequence[str] | None) -> list[int]:
    """Return the places of methods; None is all of them."""
    if methods is None:
        return list(range(len(results.methods)))
    return [place_of("methods", name, results.methods) for name in methods]
