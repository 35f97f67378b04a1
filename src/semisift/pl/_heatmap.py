"""Heatmap of markers: genes by single cells."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from semisift.pl._picture import (
    LETTER,
    LINE,
    LITERAL,
    NAME,
    above,
    bracket,
    name_above,
    own_axes,
    room_of,
    scale_beside,
    spread_out,
)
from semisift.report.palette import Palette

if TYPE_CHECKING:
    from semisift.pl._markers import Shown

# Of each class at most so many cells are drawn.
MOST_CELLS = 500

# Values above this share of those of a gene have the full colour: single cells run far ahead.
FULL = 0.99

# Inches of the cells, of a gene, of the scale beside them, and of lines that lead to names.
WIDTH, GENE, SIDE, LEADER = 6.0, 0.17, 1.4, 0.14


def draw_heatmap(shown: "Shown", ax: Axes | None, palette: Palette, cmap: Any) -> Axes:
    """Draw a line for each gene and a column for each cell, class by class."""
    cells = chosen_cells(shown)
    there = [number for number, its in enumerate(cells) if len(its)]
    names = [shown.classes[number] for number in there]
    longest = LETTER * max(map(len, names))
    width = max(WIDTH, LINE * len(names))
    ax = own_axes(
        ax,
        (
            width + LETTER * max(map(len, shown.genes)) + SIDE,
            max(GENE * len(shown.genes), 1.0) + longest + 0.6,
        ),
    )
    values = scaled(shown.values[np.concatenate(cells)])
    look: dict[str, Any] = {"cmap": cmap, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    image = ax.imshow(values.T, aspect="auto", **look)
    ax.set_yticks(range(len(shown.genes)), shown.genes, fontsize="small", **LITERAL)
    ax.tick_params(length=0, labelcolor=palette.ink, pad=72 * NAME + 2, axis="y")
    ax.set_xticks([])
    ax.spines[:].set_color(palette.line)
    ends = np.cumsum([len(its) for its in cells]) - 0.5
    starts = np.concatenate([[-0.5], ends[:-1]])
    for number in there:
        bracket(ax, shown.colours[number], starts[number], ends[number])
        if ends[number] < ends[-1]:
            ax.axvline(ends[number], color=palette.line, lw=0.8)
    for number, first, last in shown.blocks:
        bracket(ax, shown.colours[number], first - 0.4, last + 0.4, side="left")
    scale_beside(ax, image, "value, scaled\nby gene", 0.45, palette)
    _name_classes(ax, names, starts[there], ends[there], palette)
    return ax


def _name_classes(
    ax: Axes,
    names: list[str],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
    palette: Palette,
) -> None:
    """Write the names above the bars of the classes, upright and apart where they have no room."""
    inch = (ends[-1] - starts[0]) / room_of(ax)[0]
    middles, widths = (starts + ends) / 2, [LETTER * inch * len(name) for name in names]
    turned = bool((widths > ends - starts).any())
    places = spread_out(middles, LINE * inch, starts[0], ends[-1]) if turned else middles
    if turned:
        lines = np.column_stack([middles, places, np.full(len(names), np.nan)]).ravel()
        heights = np.tile([NAME, NAME + LEADER, np.nan], len(names))
        look: dict[str, Any] = {"color": palette.muted, "lw": 0.5, "clip_on": False}
        ax.plot(lines, heights, transform=above(ax), **look)
    for name, place in zip(names, places, strict=True):
        name_above(ax, name, place, NAME + (LEADER + 0.02) * turned, palette, turned)


def chosen_cells(shown: "Shown") -> list[NDArray[np.intp]]:
    """Return the cells of each class, the surest first; of many some, evenly from first to last."""
    chosen = []
    for number in range(len(shown.classes)):
        its = np.flatnonzero(shown.codes == number)
        if shown.confidence is not None:
            its = its[np.argsort(-shown.confidence[its], kind="stable")]
        if len(its) > MOST_CELLS:
            its = its[np.linspace(0, len(its) - 1, MOST_CELLS).round().astype(np.intp)]
        chosen.append(its)
    return chosen


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring the values of each gene to 0 to 1.

    Examples
    --------
    >>> scaled(np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]])).T.tolist()
    [[0.0, 0.5, 1.0], [1.0, 1.0, 1.0]]
    """
    known = np.nan_to_num(values)
    low, most = known.min(axis=0), known.max(axis=0)
    full = np.quantile(known, FULL, axis=0, method="higher")
    span = np.where(full > low, full, most) - low
    return np.where(
        span > 0, np.clip((values - low) / np.where(span > 0, span, 1), 0, 1), values > 0
    )
