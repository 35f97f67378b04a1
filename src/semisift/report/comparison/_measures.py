"""What accuracy comes with: stability, time, and how alike the rankings of methods are."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from semisift.comparison._results import ComparisonResults
from semisift.report._figures import Pen, ReportFigure, padded, tagged
from semisift.report.comparison import _diagram, _labels
from semisift.report.comparison._view import View, mean_stability, typical_seconds, view_of
from semisift.utils._text import format_number, printable_name, shorten

WIDEST_NAME = 12.0
MARGINS = (58.0, 12.0, 16.0, 40.0)

# Shades of more strength would hide the numbers on them.
DARKEST = 0.55
LEAST_CELL = 22.0


def plot_stability(results: ComparisonResults, ax: Axes | None = None, **choice: Any) -> Axes:
    """Draw the mean figure of each method against the stability of its selection.

    Both are means over the data sets on which all methods have all their runs.

    Parameters
    ----------
    results : Results
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    **choice
        As for `Results.scores`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    return stability_figure(view_of(results, **choice)).on_axes(ax)


def plot_time(results: ComparisonResults, ax: Axes | None = None, **choice: Any) -> Axes:
    """Draw the mean figure of each method against the seconds of a ranking.

    Seconds are geometric means over data sets; the parameters are those of `plot_stability`.
    """
    return time_figure(view_of(results, **choice)).on_axes(ax)


def stability_figure(view: View, slug: str = "stability", width: float = 560.0) -> ReportFigure:
    """Return stability against the figures."""
    x = mean_stability(view)
    words = _best_in_words(view, x, "Most stable: {} ({})")
    draw = partial(draw_points, view, x, "stability of the selection", False)
    title, size = f"Stability and {view.metric_name}", (width, 320.0)
    return ReportFigure(slug, title, words, size, MARGINS, draw)


def time_figure(view: View, slug: str = "time", width: float = 560.0) -> ReportFigure:
    """Return seconds against the figures."""
    x = typical_seconds(view)
    words = _best_in_words(view, -x, "Fastest: {} ({} seconds)")
    draw = partial(draw_points, view, x, "seconds of a ranking", True)
    title, size = f"Time and {view.metric_name}", (width, 320.0)
    return ReportFigure(slug, title, words, size, MARGINS, draw)


def _best_in_words(view: View, values: NDArray[np.float64], first: str) -> str:
    """Say which method has the largest value, and which one the best mean."""
    there = np.isfinite(values) & np.isfinite(view.overall)
    if not there.any():
        return "There are no means over complete data sets to draw."
    top = int(np.where(there, values, -np.inf).argmax())
    best = int(np.where(there, view.overall, -np.inf).argmax())
    return (
        f"{first.format(view.said[top], format_number(abs(values[top])))}. Best mean "
        f"{view.metric_name}: "
        f"{view.said[best]} ({view.overall[best]:.3f})."
    )


def draw_points(view: View, x: NDArray[np.float64], label: str, is_log: bool, pen: Pen) -> None:
    """Draw the means of methods against what they come with."""
    ax, y = pen.bare(label, f"mean {view.metric_name}"), view.overall
    if is_log:
        ax.set_xscale("log")
    places = [int(j) for j in np.flatnonzero(np.isfinite(x) & np.isfinite(y))]
    _set_limits(ax, x[places], y[places], is_log)
    for place in places:
        with tagged(ax, method=place):
            look = {**_diagram.point(place, pen.palette, 7.5), "ls": "none", "zorder": 3}
            ax.plot([x[place]], [y[place]], clip_on=False, **look)
    _name_points(pen, x, y, places, view.methods)


def _set_limits(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], is_log: bool) -> None:
    """Leave room for names around the points."""
    ax.yaxis.set_major_locator(MaxNLocator(5))
    if not len(x):
        return
    low, high = (np.log10(x.min()), np.log10(x.max())) if is_log else (x.min(), x.max())
    pad = 0.22 * (high - low) or 0.5
    ends = np.array([low - pad / 2, high + pad])
    ax.set_xlim(*(10**ends if is_log else ends))
    ax.set_ylim(*padded(y, 0.12, 0.02))
    if is_log:
        near = ends[1] - ends[0] < 2.5
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if near else (1.0,)))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(6))


def _name_points(
    pen: Pen,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    places: Sequence[int],
    methods: Sequence[str],
) -> None:
    ax, (width, height), size = pen.ax, pen.size, 0.92 * _labels.font_size()
    corner = ax.get_window_extent().p0
    at = [(ax.transData.transform((x[j], y[j])) - corner) * (72 / pen.scale) for j in places]
    points = [(float(point[0]), float(point[1])) for point in at]
    letters = [
        _labels.n_letters(methods[j], min(WIDEST_NAME * size, width / 3), size) for j in places
    ]
    shown = [shorten(methods[j], n) for j, n in zip(places, letters, strict=True)]
    bounds = (0.0, 0.0, width, height + _labels.LINE_HEIGHT * size)
    widths = [_labels.width_of(text, size) for text in shown]
    boxes = _labels.place_labels(points, widths, _labels.LINE_HEIGHT * size, bounds)
    for place, n, (px, py), box in zip(places, letters, points, boxes, strict=True):
        if box is None:
            continue
        on_left = box[2] < px
        tip = (box[2] if on_left else box[0]) - px, (box[1] + box[3]) / 2 - py
        arrow = {"arrowstyle": "-", "color": pen.palette.line, "lw": 0.8}
        with tagged(ax, method=place):
            pen.say(
                pen.write(methods[place], n),
                (x[place], y[place]),
                xytext=tip,
                textcoords="offset points",
                ha="right" if on_left else "left",
                va="center",
                size=size,
                color=_diagram.colour(place, pen.palette),
                arrowprops=arrow if math.hypot(*tip) > _labels.NEAR + 2 else None,
            )


def plot_similarity(
    results: ComparisonResults, ax: Axes | None = None, *, size: int | None = None
) -> Axes:
    """Draw how alike the rankings of two methods are, over data sets and runs.

    Parameters
    ----------
    results : Results
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    size : int, optional
        Of the best features; None is as many as are judged.

    Returns
    -------
    matplotlib.axes.Axes
    """
    side = 2.6 + 0.36 * len(results.methods)
    return similarity_figure(results, size).on_axes(ax, (side, side))


def similarity_figure(results: ComparisonResults, size: int | None = None) -> ReportFigure:
    """Return how alike rankings are, for files; the page has a table of shades."""
    side = 30.0 * max(len(results.methods), 4) + 130
    names = [printable_name(name) for name in results.methods]
    words = "The darker, the more alike the rankings of two methods are."
    draw = partial(draw_similarity, results.similarity(size), names)
    margins = (122.0, 8.0, 122.0, 8.0)
    return ReportFigure("similarity", "Overlap of rankings", words, (side, side), margins, draw)


def draw_similarity(values: NDArray[np.float64], names: Sequence[str], pen: Pen) -> None:
    """Draw a square for each pair; the darker, the more alike."""
    ax, n_methods = pen.ax, len(names)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, n_methods)
    ax.set_ylim(n_methods, 0)
    cell = min(pen.size) / n_methods
    size = min(_labels.font_size(), 0.7 * cell)
    ink = pen.palette.ink
    look: dict[str, Any] = {"color": ink, "size": size, "textcoords": "offset points"}
    for i, name in enumerate(names):
        for j in np.flatnonzero(np.isfinite(values[i])).tolist():
            shade: Any = {"alpha": DARKEST * float(np.clip(values[i, j], 0, 1)), "lw": 0}
            square = Rectangle((j + 0.03, i + 0.03), 0.94, 0.94, fc=pen.palette.accent, **shade)
            ax.add_patch(square)
            if cell >= LEAST_CELL:
                text, middle = f"{values[i, j]:.2f}".removeprefix("0"), (j + 0.5, i + 0.5)
                pen.say(text, middle, ha="center", va="center", color=ink, size=0.36 * cell)
        label = pen.write(name, _labels.n_letters(name, 9 * size, size))
        pen.say(label, (0, i + 0.5), xytext=(-5, 0), ha="right", va="center", **look)
        upright: dict[str, Any] = {"ha": "center", "va": "bottom", "rotation": 90}
        pen.say(label, (i + 0.5, 0), xytext=(0, 5), **upright, **look)
