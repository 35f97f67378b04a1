"""How alike the rankings of methods are, as a map of shades."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from semisift._words import visible
from semisift.evaluation.results import ComparisonResults
from semisift.report.comparison.labels import font_size, n_letters
from semisift.report.figures import Pen, ReportFigure

# Shades of more strength would hide the numbers on them.
DARKEST = 0.55
LEAST_CELL = 22.0


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
    names = [visible(name) for name in results.methods]
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
    size = min(font_size(), 0.7 * cell)
    look: dict[str, Any] = {"color": pen.palette.ink, "size": size, "textcoords": "offset points"}
    for i, name in enumerate(names):
        for j in np.flatnonzero(np.isfinite(values[i])).tolist():
            _draw_cell(pen, values[i, j], i, j, cell)
        label = pen.write(name, n_letters(name, 9 * size, size))
        pen.say(label, (0, i + 0.5), xytext=(-5, 0), ha="right", va="center", **look)
        upright: dict[str, Any] = {"ha": "center", "va": "bottom", "rotation": 90}
        pen.say(label, (i + 0.5, 0), xytext=(0, 5), **upright, **look)


def _draw_cell(pen: Pen, value: float, i: int, j: int, cell: float) -> None:
    strength = DARKEST * float(np.clip(value, 0, 1))
    shade: dict[str, Any] = {"fc": pen.palette.accent, "alpha": strength, "lw": 0}
    pen.ax.add_patch(Rectangle((j + 0.03, i + 0.03), 0.94, 0.94, **shade))
    if cell >= LEAST_CELL:
        look = {"ha": "center", "va": "center", "color": pen.palette.ink, "size": 0.36 * cell}
        pen.say(f"{value:.2f}".removeprefix("0"), (j + 0.5, i + 0.5), **look)
