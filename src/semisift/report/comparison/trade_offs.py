"""What accuracy comes with: stability of the selection, and time. A point for each method."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from semisift._words import shorten
from semisift.evaluation.results import ComparisonResults
from semisift.report.comparison import styles
from semisift.report.comparison.canvas import on_axes
from semisift.report.comparison.labels import (
    LINE_HEIGHT,
    NEAR,
    font_size,
    n_letters,
    place_labels,
    say,
    width_of,
)
from semisift.report.comparison.view import View, mean_stability, typical_seconds, view_of
from semisift.report.palette import Palette, WriteName, bare
from semisift.report.plots import size_in_points
from semisift.report.svg import tagged

WIDEST_NAME = 12.0


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
    view = view_of(results, **choice)
    return on_axes(ax, lambda ax, palette, write: draw_stability(ax, view, palette, write))


def plot_time(results: ComparisonResults, ax: Axes | None = None, **choice: Any) -> Axes:
    """Draw the mean figure of each method against the seconds of a ranking.

    Seconds are geometric means over data sets; the parameters are those of `plot_stability`.
    """
    view = view_of(results, **choice)
    return on_axes(ax, lambda ax, palette, write: draw_time(ax, view, palette, write))


def draw_stability(ax: Axes, view: View, palette: Palette, write: WriteName) -> None:
    """Draw the means against the stability."""
    bare(ax, palette)
    ax.set_xlabel("stability of the selection", color=palette.muted)
    _draw_points(ax, view, mean_stability(view), palette, write)


def draw_time(ax: Axes, view: View, palette: Palette, write: WriteName) -> None:
    """Draw the means against the seconds."""
    bare(ax, palette)
    ax.set_xscale("log")
    ax.set_xlabel("seconds of a ranking", color=palette.muted)
    _draw_points(ax, view, typical_seconds(view), palette, write)


def _draw_points(
    ax: Axes, view: View, x: NDArray[np.float64], palette: Palette, write: WriteName
) -> None:
    y = view.overall
    ax.set_ylabel(f"mean {view.metric_name}", color=palette.muted)
    places = [int(j) for j in np.flatnonzero(np.isfinite(x) & np.isfinite(y))]
    _set_limits(ax, x[places], y[places])
    for place in places:
        with tagged(ax, method=place):
            look = {**styles.point(place, palette, 7.5), "ls": "none", "zorder": 3}
            ax.plot([x[place]], [y[place]], clip_on=False, **look)
    _name_points(ax, x, y, places, view.methods, palette, write)


def _set_limits(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Leave room for names around the points."""
    ax.yaxis.set_major_locator(MaxNLocator(5))
    is_log = ax.get_xscale() == "log"
    if not len(x):
        return
    low, high = (np.log10(x.min()), np.log10(x.max())) if is_log else (x.min(), x.max())
    pad = 0.22 * (high - low) or 0.5
    ends = np.array([low - pad / 2, high + pad])
    ax.set_xlim(*(10**ends if is_log else ends))
    pad = 0.12 * (y.max() - y.min()) or 0.02
    ax.set_ylim(y.min() - pad, y.max() + pad)
    if is_log:
        near = ends[1] - ends[0] < 2.5
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if near else (1.0,)))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(6))


def _name_points(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    places: Sequence[int],
    methods: Sequence[str],
    palette: Palette,
    write: WriteName,
) -> None:
    width, height = size_in_points(ax)
    scale = 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    corner = ax.get_window_extent().p0
    at = [(ax.transData.transform((x[j], y[j])) - corner) * scale for j in places]
    size = 0.92 * font_size()
    letters = [n_letters(methods[j], min(WIDEST_NAME * size, width / 3), size) for j in places]
    shown = [shorten(methods[j], n) for j, n in zip(places, letters, strict=True)]
    points = [(float(point[0]), float(point[1])) for point in at]
    boxes = place_labels(
        points,
        [width_of(text, size) for text in shown],
        LINE_HEIGHT * size,
        (0.0, 0.0, width, height + LINE_HEIGHT * size),
    )
    for place, n, (px, py), box in zip(places, letters, points, boxes, strict=True):
        if box is None:
            continue
        on_left = box[2] < px
        tip = (box[2] if on_left else box[0], (box[1] + box[3]) / 2)
        with tagged(ax, method=place):
            far = math.hypot(tip[0] - px, tip[1] - py) > NEAR + 2
            say(
                ax,
                write(methods[place], n),
                (x[place], y[place]),
                xytext=(tip[0] - px, tip[1] - py),
                textcoords="offset points",
                ha="right" if on_left else "left",
                va="center",
                size=size,
                color=styles.colour(place, palette),
                arrowprops={"arrowstyle": "-", "color": palette.line, "lw": 0.8} if far else None,
            )
