"""How alike the rankings of methods are, as a map of shades."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from semisift._words import visible
from semisift.evaluation.results import ComparisonResults
from semisift.report.comparison.canvas import on_axes
from semisift.report.comparison.labels import font_size, n_letters, say
from semisift.report.palette import Palette, WriteName
from semisift.report.plots import size_in_points

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
    values = results.similarity(size)
    names = [visible(name) for name in results.methods]
    side = 2.6 + 0.36 * len(names)
    return on_axes(
        ax,
        lambda ax, palette, write: draw_similarity(ax, values, names, palette, write),
        (side, side),
    )


def draw_similarity(
    ax: Axes,
    values: NDArray[np.float64],
    names: Sequence[str],
    palette: Palette,
    write: WriteName,
) -> None:
    """Draw a square for each pair; the darker, the more alike."""
    n_methods = len(names)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, n_methods)
    ax.set_ylim(n_methods, 0)
    cell = min(size_in_points(ax)) / n_methods
    size = min(font_size(), 0.7 * cell)
    for i in range(n_methods):
        for j in range(n_methods):
            _draw_cell(ax, values[i, j], i, j, cell, palette)
        label = write(names[i], n_letters(names[i], 9 * size, size))
        look: dict[str, Any] = {"color": palette.ink, "size": size, "textcoords": "offset points"}
        say(ax, label, (0, i + 0.5), xytext=(-5, 0), ha="right", va="center", **look)
        say(ax, label, (i + 0.5, 0), xytext=(0, 5), ha="center", va="bottom", rotation=90, **look)


def _draw_cell(ax: Axes, value: float, i: int, j: int, cell: float, palette: Palette) -> None:
    if not np.isfinite(value):
        return
    shade: dict[str, Any] = {
        "fc": palette.accent,
        "alpha": DARKEST * float(np.clip(value, 0, 1)),
        "lw": 0,
    }
    ax.add_patch(Rectangle((j + 0.03, i + 0.03), 0.94, 0.94, **shade))
    if cell >= LEAST_CELL:
        look = {"ha": "center", "va": "center", "color": palette.ink}
        say(ax, f"{value:.2f}".removeprefix("0"), (j + 0.5, i + 0.5), size=0.36 * cell, **look)
