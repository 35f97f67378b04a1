"""The figures of a data set against the number of features, and their spread over runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from semisift.evaluation.results import ComparisonResults
from semisift.report.comparison import styles
from semisift.report.comparison.canvas import on_axes
from semisift.report.comparison.labels import font_size, list_methods, n_letters, say
from semisift.report.comparison.view import View, interval, view_of
from semisift.report.palette import Palette, WriteName, bare
from semisift.report.row_plots import FEW_POINTS, draw_box, spread
from semisift.report.svg import tagged

# Bands of more methods lie over each other.
MOST_BANDS = 5
MARKS_ON_A_LINE = 5
LANE = 17.0


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
    view = view_of(results, **choice)
    i = place_of("dataset", dataset, results.datasets)
    places = places_of(results, methods)
    shaded = len(places) <= MOST_BANDS if bands is None else bands

    def draw(ax: Axes, palette: Palette, write: WriteName) -> None:
        draw_curves(ax, view, i, places, palette, bands=shaded)
        list_by_figure(ax, view.curves[i].mean(axis=-1), places, view.methods, palette, write)

    return on_axes(ax, draw)


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
    view = view_of(results, **choice)
    i = place_of("dataset", dataset, results.datasets)
    places = places_of(results, methods)
    return on_axes(
        ax,
        lambda ax, palette, write: draw_runs(ax, view, i, places, palette, write),
        (6.4, 0.9 + 0.27 * len(places)),
    )


def draw_curves(
    ax: Axes, view: View, i: int, places: Sequence[int], palette: Palette, *, bands: bool
) -> None:
    """Draw the curves of a data set by its place."""
    bare(ax, palette)
    sizes = np.array(view.results.protocol.sizes, dtype=np.float64)
    order = np.argsort(sizes)
    draw_lines(ax, sizes[order], view.curves[i][:, :, order], places, palette, bands=bands)
    ax.set_xlabel("number of features", color=palette.muted)
    ax.set_ylabel(view.metric_name, color=palette.muted)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))


def draw_lines(
    ax: Axes,
    x: NDArray[np.float64],
    values: NDArray[np.float64],
    places: Sequence[int],
    palette: Palette,
    *,
    bands: bool,
) -> None:
    """Draw a line for each method through the means of values of shape (n_runs, n_methods, n_x)."""
    every = max(1, round(len(x) / MARKS_ON_A_LINE))
    shown: list[NDArray[np.float64]] = []
    for number, place in enumerate(places):
        mean, half = interval(values[:, place])
        colour = styles.colour(place, palette)
        shown += [mean]
        if bands and np.isfinite(half).any():
            # many bands are shown one at a time: they may be cut
            shown += [mean - half, mean + half] if len(places) <= MOST_BANDS else []
            with tagged(ax, method=place, band=place):
                ax.fill_between(x, mean - half, mean + half, color=colour, alpha=0.14, lw=0)
        with tagged(ax, method=place):
            # marks of different lines stand at different places
            start = number % every if len(x) > every else 0
            ax.plot(x, mean, markevery=(start, every), zorder=3, **styles.line(place, palette))
    _set_height(ax, np.concatenate(shown) if shown else np.empty(0))


def _set_height(ax: Axes, values: NDArray[np.float64]) -> None:
    """Show all values, but hardly more than 1, which is the best there is."""
    values = values[np.isfinite(values)]
    if len(values):
        low, high = values.min(), min(values.max(), 1.0)
        pad = 0.05 * (high - low) or 0.02
        ax.set_ylim(low - pad, high + pad)


def draw_runs(
    ax: Axes, view: View, i: int, places: Sequence[int], palette: Palette, write: WriteName
) -> None:
    """Draw the figures of the runs of a data set by its place, a lane for each method."""
    bare(ax, palette)
    ax.spines["left"].set_visible(False)
    ax.yaxis.set_visible(False)
    values = view.scores.values[i]
    for lane, place in enumerate(places):
        found = values[np.isfinite(values[:, place]), place]
        colour = styles.colour(place, palette)
        with tagged(ax, method=place):
            name = view.methods[place]
            size = font_size()
            say(
                ax,
                write(name, n_letters(name, 8.2 * size, size)),
                (0, lane),
                xycoords=("axes fraction", "data"),
                xytext=(-8, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                color=palette.ink,
            )
            if len(found) > FEW_POINTS:
                draw_box(ax, found, lane, colour, filled=True)
            look = {**styles.point(place, palette, 4.6), "ls": "none", "alpha": 0.85}
            ax.plot(found, lane + spread(len(found)), zorder=4, clip_on=False, **look)
            if not len(found):
                say(ax, "none", (0.02, lane), xycoords=("axes fraction", "data"), va="center")
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    pad = 0.04 * (high - low) or 0.02
    ax.set_xlim(low - pad, high + pad)
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set_xlabel(view.metric_name, color=palette.muted)
    ax.xaxis.set_major_locator(MaxNLocator(5))


def list_by_figure(
    ax: Axes,
    values: NDArray[np.float64],
    places: Sequence[int],
    names: Sequence[str],
    palette: Palette,
    write: WriteName,
) -> None:
    """List methods on the right, the best mean of values of shape (n_runs, n_methods) first."""
    means = interval(values)[0]
    order = sorted(places, key=lambda place: -np.nan_to_num(means[place], nan=-np.inf))
    list_methods(ax, order, names, palette, write)


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
