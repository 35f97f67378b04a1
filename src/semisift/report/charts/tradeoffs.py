"""What accuracy comes with: stability, time, and how alike the rankings of methods are."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from semisift.comparison._results import Results
from semisift.report import _style
from semisift.report._figure import ReportFigure, tagged
from semisift.report._page import paragraph
from semisift.report._style import FigureStyle
from semisift.report.comparison._view import View, view_of
from semisift.utils._text import printable_name

# The list of names beside the points, as a share of the width, and of a line in font sizes.
LIST, LINE_HEIGHT = 0.3, 1.3
MARGINS = (58.0, 12.0, 16.0, 40.0)

# Shades of more strength would hide the numbers on them.
DARKEST, MIN_CELL = 0.55, 22.0


class Points(NamedTuple):
    """What is drawn: names of all methods, and a point for each that has one."""

    names: list[str]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    labels: tuple[str, str]
    is_log: bool


def stability_figure(view: View, slug: str = "stability", width: float = 560.0) -> ReportFigure:
    """Return stability against the figures."""
    x = view.mean_stability()
    shown = Points(view.methods, x, view.overall, ("stability of the selection", ""), False)
    return _figure(view, shown, slug, width, f"Stability and {view.metric_name}", x)


def time_figure(view: View, slug: str = "time", width: float = 560.0) -> ReportFigure:
    """Return seconds against the figures."""
    x = view.typical_seconds()
    shown = Points(view.methods, x, view.overall, ("seconds of a ranking", ""), True)
    return _figure(view, shown, slug, width, f"Time and {view.metric_name}", -x)


def _figure(
    view: View, shown: Points, slug: str, width: float, title: str, values: NDArray[np.float64]
) -> ReportFigure:
    """Return a picture with its words: which method has the largest value, and the best mean."""
    known = np.isfinite(values) & np.isfinite(shown.y)
    found = None
    if known.any():
        top, best = (int(np.where(known, each, -np.inf).argmax()) for each in (values, shown.y))
        found = view.shown_names[top], abs(values[top]), view.shown_names[best], shown.y[best]
    words = paragraph("tradeoff", found, shown.is_log, view.metric_name)
    shown = shown._replace(labels=(shown.labels[0], f"mean {view.metric_name}"))
    return ReportFigure(slug, title, words, draw, shown, (width, 320.0), MARGINS)


def draw(ax: Axes, shown: Points, style: FigureStyle) -> None:
    """Draw the means of methods against what they come with, named on the right."""
    style.clean_axes(ax, *shown.labels)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    if shown.is_log:
        ax.set_xscale("log")
    places = np.flatnonzero(np.isfinite(shown.x) & np.isfinite(shown.y))
    if not len(places):
        return
    x, y = shown.x[places], shown.y[places]
    low, high = _style.padded(np.log10(x) if shown.is_log else x, 0.1, 0.5)
    ends = np.array([low, high + (high - low) * LIST / (1 - LIST)])
    ax.set_xlim(*(10**ends if shown.is_log else ends))
    ax.set_ylim(*_style.padded(y, 0.12, 0.02))
    ax.xaxis.set_major_locator(MaxNLocator(6))
    if shown.is_log:
        is_near = ends[1] - ends[0] < 2.5
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if is_near else (1.0,)))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))

    order = places[np.argsort(y, kind="stable")]
    (width, height), limits = _style.size_of(ax), ax.get_ylim()
    size = min(0.92 * rcParams["font.size"], height / len(order) / LINE_HEIGHT)
    line = size * LINE_HEIGHT * (limits[1] - limits[0]) / height
    heights = _style.spread_out(shown.y[order], line, limits[0] + line / 2, limits[1] - line / 2)
    names_from: Any = ax.transLimits.inverted().transform((1 - LIST + 0.04, 0))[0]
    names_from = 10**names_from if shown.is_log else names_from
    for place, at in zip(order.tolist(), heights, strict=True):
        name, point = shown.names[place], (shown.x[place], shown.y[place])
        look = {**_style.method_point(place, style.palette, 7.5), "ls": "none", "zorder": 3}
        n = _style.n_letters(name, (LIST - 0.05) * width, size)
        colour = style.palette.of_class(place)
        with tagged(ax, method=place):
            ax.plot(*zip(point, (names_from, at), strict=True), color=style.palette.line, lw=0.8)
            ax.plot(*point, clip_on=False, **look)
            xy: Any = {"xytext": (3, 0), "size": size, "color": colour}
            style.annotate(ax, style.write(name, n), (names_from, at), **xy)


def similarity_figure(results: Results, size: int | None = None) -> ReportFigure:
    """Return how alike rankings are, for files; the page has a table of shades."""
    side = 30.0 * max(len(results.methods), 4) + 130
    shown = [printable_name(name) for name in results.methods], results.similarity(size)
    words = "The darker, the more alike the rankings of two methods are."
    margins = (122.0, 8.0, 122.0, 8.0)
    title = "Overlap of rankings"
    return ReportFigure("similarity", title, words, draw_shades, shown, (side, side), margins)


def draw_shades(ax: Axes, shown: tuple[list[str], NDArray[np.float64]], style: FigureStyle) -> None:
    """Draw a square for each pair; the darker, the more alike."""
    (names, values), palette = shown, style.palette
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, len(names))
    ax.set_ylim(len(names), 0)
    cell = min(_style.size_of(ax)) / len(names)
    size = min(rcParams["font.size"], 0.7 * cell)
    for i, j in np.argwhere(np.isfinite(values)).tolist():
        shade: Any = {"alpha": DARKEST * float(np.clip(values[i, j], 0, 1)), "lw": 0}
        ax.add_patch(Rectangle((j + 0.03, i + 0.03), 0.94, 0.94, fc=palette.accent, **shade))
        if cell >= MIN_CELL:
            text = f"{values[i, j]:.2f}".removeprefix("0")
            style.annotate(ax, text, (j + 0.5, i + 0.5), ha="center", size=0.36 * cell)
    for i, name in enumerate(names):
        label = style.write(name, _style.n_letters(name, 9 * size, size))
        style.annotate(ax, label, (0, i + 0.5), xytext=(-5, 0), ha="right", size=size)
        upright: Any = {"ha": "center", "va": "bottom", "rotation": 90, "size": size}
        style.annotate(ax, label, (i + 0.5, 0), xytext=(0, 5), **upright)


# --- on axes of the user --------------------------------------------------------------------------


def plot_stability(results: Results, ax: Axes | None = None, **choice: Any) -> Axes:
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


def plot_time(results: Results, ax: Axes | None = None, **choice: Any) -> Axes:
    """Draw the mean figure of each method against the seconds of a ranking.

    Seconds are geometric means over data sets; the parameters are those of `plot_stability`.
    """
    return time_figure(view_of(results, **choice)).on_axes(ax)


def plot_similarity(results: Results, ax: Axes | None = None, *, size: int | None = None) -> Axes:
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
