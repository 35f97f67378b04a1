"""Dot plot of markers: classes by genes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from semisift.pl._picture import (
    LETTER,
    LINE,
    LITERAL,
    NAME,
    bracket,
    inches_from_corner,
    name_above,
    own_axes,
    room_of,
    scale_beside,
)
from semisift.report.palette import Palette

if TYPE_CHECKING:
    from semisift.pl._markers import Shown

# Inches of a dot's cell, of the legends, and around all.
CELL = 0.24
LEGEND_WIDTH, LEGEND_HEIGHT = 1.5, 2.3
MARGIN = 0.35

# A dot of all cells takes this share of the width of its cell.
WIDEST = 0.92

SHARES = (0.25, 0.5, 0.75, 1.0)


def draw_dots(shown: "Shown", ax: Axes | None, palette: Palette, cmap: Any) -> Axes:
    """Draw a dot for each class and gene: how many cells have a value, and how high it is."""
    n_classes, n_genes = len(shown.classes), len(shown.genes)
    longest = LETTER * max(map(len, shown.classes))
    turned = any(
        LETTER * len(shown.classes[number]) > CELL * (last + 1 - first)
        for number, first, last in shown.blocks
    )
    width = CELL * n_genes + longest + LEGEND_WIDTH + MARGIN
    height = max(CELL * n_classes + LETTER * max(map(len, shown.genes)), LEGEND_HEIGHT)
    ax = own_axes(ax, (width, height + (longest if turned else LINE) + MARGIN))
    _name_lanes(shown, ax, palette, turned)
    shares, means = by_class(shown)
    x, y = np.meshgrid(range(n_genes), range(n_classes))
    look: dict[str, Any] = {"vmin": 0, "vmax": 1, "ec": palette.muted, "lw": 0.4, "zorder": 3}
    dots = ax.scatter(x.ravel(), y.ravel(), c=means.ravel(), cmap=cmap, **look)
    legend = _say_shares(ax, palette)
    scale_beside(ax, dots, "mean by class,\nscaled by gene", LEGEND_HEIGHT - 0.75, palette)
    widest = _widest(ax)
    dots.set_sizes(widest**2 * shares.ravel())
    for handle, share in zip(legend.legend_handles, SHARES, strict=True):
        handle.set_markersize(widest * share**0.5)  # type: ignore[union-attr]
    return ax


def _name_lanes(shown: "Shown", ax: Axes, palette: Palette, turned: bool) -> None:
    """Name genes and classes, and above the genes the class that they mark."""
    n_classes, n_genes = len(shown.classes), len(shown.genes)
    ax.set_xlim(-0.6, n_genes - 0.4)
    ax.set_ylim(n_classes - 0.4, -0.6)
    ax.set_xticks(range(n_genes), shown.genes, rotation=90, fontsize="small", **LITERAL)
    ax.set_yticks(range(n_classes), shown.classes, fontsize="small", **LITERAL)
    ax.tick_params(length=0, labelcolor=palette.ink)
    ax.spines[:].set_color(palette.line)
    for number, first, last in shown.blocks:
        bracket(ax, shown.colours[number], first - 0.4, last + 0.4)
        name_above(ax, shown.classes[number], (first + last) / 2, NAME, palette, turned)


def _widest(ax: Axes) -> float:
    """Return the width of the largest dots in points: they must not touch."""
    width, height = room_of(ax)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return 72 * WIDEST * min(width / (right - left), height / (bottom - top), CELL)


def _say_shares(ax: Axes, palette: Palette) -> Legend:
    """Say beside the axes what the area of a dot means."""
    dot: dict[str, Any] = {"marker": "o", "ls": "none", "mew": 0.4, "mec": palette.muted}
    handles = [
        Line2D([], [], label=f"{share:.0%}", mfc=palette.line, ms=10, **dot) for share in SHARES
    ]
    return ax.legend(
        handles=handles,
        title="cells with a value",
        loc="upper left",
        bbox_to_anchor=(0.12, 0.03),
        bbox_transform=inches_from_corner(ax),
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        borderaxespad=0,
        borderpad=0,
        labelspacing=1.1,
        frameon=False,
        labelcolor=palette.ink,
    )


def by_class(shown: "Shown") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of cells with a value, and the mean from 0 to 1, by class and gene."""
    shares = np.zeros((len(shown.classes), len(shown.genes)))
    means = shares.copy()
    for number in range(len(shown.classes)):
        values = shown.values[shown.codes == number]
        known = ~np.isnan(values)
        n_known = np.maximum(known.sum(axis=0), 1)
        shares[number] = (known & (values != 0)).sum(axis=0) / n_known
        means[number] = np.nansum(values, axis=0) / n_known
    low, high = means.min(axis=0), means.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return shares, np.where(high > low, (means - low) / span, (means > 0) * 1.0)
