"""What the pictures share: axes, colours of classes, and how they are handed over."""

import os
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends import BackendFilter, backend_registry
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_hex, to_rgb
from matplotlib.transforms import ScaledTranslation, Transform, blended_transform_factory
from numpy.typing import NDArray

from semisift.report._style import PLAIN, Palette

# Names of genes and classes are cut to so many letters.
LONGEST_NAME = 40

# Inches of a line of small letters, and of one such letter.
LINE, LETTER = 0.17, 0.08

# Inches from the axes to the middle of a bracket, and to the names beyond it.
OUTSIDE, NAME = 0.07, 0.125

# Text that is never read as mathematics.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}

# Classes beyond the colours of the palette have shades of them, in turn: the share of the colour,
# of the next colour of the palette, and of white; the rest is black.
SHADES = (
    (1.0, 0.0, 0.0),
    (0.55, 0.0, 0.45),
    (0.6, 0.0, 0.0),
    (0.5, 0.5, 0.0),
    (0.28, 0.28, 0.44),
    (0.3, 0.3, 0.0),
    (0.3, 0.0, 0.7),
)


def own_axes(ax: Axes | None, inches: tuple[float, float]) -> Axes:
    """Return the axes of the user, or those of a new figure of pyplot."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=inches, layout="constrained")
    return ax


def hand_over(
    ax: Axes, *, given: bool, show: bool | None, save: str | os.PathLike[str] | None
) -> Axes | None:
    """Save and show a picture; return its axes where it was not shown.

    `given` are axes of the user, whose figure may wait for others: it is shown if `show` says so.
    """
    if save is not None:
        ax.get_figure(root=True).savefig(save, bbox_inches="tight")  # type: ignore[union-attr]
    if show is None:
        show = not given and _is_interactive()
    if not show:
        return ax
    from matplotlib import pyplot

    pyplot.show()
    return None


def _is_interactive() -> bool:
    """Whether figures appear on a screen or in a notebook."""
    quiet = backend_registry.list_builtin(BackendFilter.NON_INTERACTIVE)
    return matplotlib.get_backend().lower() not in quiet


def colours(n_classes: int) -> list[str]:
    """Return a colour for each class: those of the palette, then shades of them.

    Examples
    --------
    >>> colours(2), len(set(colours(50)))
    (['#1f5fa8', '#c2500c'], 50)
    """
    palette = np.array([to_rgb(colour) for colour in PLAIN.classes])
    found = []
    for number in range(n_classes):
        turn, place = divmod(number, len(palette))
        own, following, white = SHADES[turn % len(SHADES)]
        mixed = own * palette[place] + following * palette[place - len(palette) + 1] + white
        found.append(to_hex(tuple(mixed)))
    return found


def room_of(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes in inches, after what stands beside them has got its room."""
    figure: Any = ax.get_figure(root=True)
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    box = ax.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def inches_from_corner(ax: Axes, x: float = 1, y: float = 1) -> Transform:
    """Return places in inches from a corner of the axes, by default the upper right one."""
    figure: Any = ax.get_figure(root=True)
    of_axes: Any = ax.transAxes
    return figure.dpi_scale_trans + ScaledTranslation(x, y, of_axes)


def scale_beside(ax: Axes, of: ScalarMappable, words: str, below: float, palette: Palette) -> None:
    """Draw what colours from 0 to 1 mean, so many inches below the upper right corner."""
    bar = ax.inset_axes((0.12, -below - 0.1, 1.0, 0.1), transform=inches_from_corner(ax))
    scale = bar.figure.colorbar(of, cax=bar, orientation="horizontal", ticks=[0, 0.5, 1])
    scale.outline.set_edgecolor(palette.line)
    bar.tick_params(labelsize="small", labelcolor=palette.ink, color=palette.line, length=3)
    bar.set_title(words, fontsize="small", color=palette.ink, loc="left", pad=4)


def above(ax: Axes) -> Transform:
    """Return places along the horizontal axis, and inches above the axes."""
    return blended_transform_factory(ax.transData, inches_from_corner(ax))


def beside(ax: Axes) -> Transform:
    """Return inches right of the left side of the axes, and places along the vertical axis."""
    return blended_transform_factory(inches_from_corner(ax, x=0), ax.transData)


def bracket(
    ax: Axes, colour: str, start: float, end: float, side: Literal["top", "left"] = "top"
) -> None:
    """Draw a thick line along the columns, or rows, of a class, outside the axes."""
    look: dict[str, Any] = {"color": colour, "lw": 4, "solid_capstyle": "butt", "clip_on": False}
    if side == "top":
        ax.plot([start, end], [OUTSIDE, OUTSIDE], transform=above(ax), **look)
    else:
        ax.plot([-OUTSIDE, -OUTSIDE], [start, end], transform=beside(ax), **look)


def name_above(
    ax: Axes, name: str, place: float, inches: float, palette: Palette, turned: bool
) -> None:
    """Write a name so many inches above the axes, upright or not."""
    look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": "small", **LITERAL}
    rotation = 90 if turned else 0
    ax.text(place, inches, name, color=palette.ink, rotation=rotation, transform=above(ax), **look)


def spread_out(
    places: Sequence[float] | NDArray[np.float64], gap: float, low: float, high: float
) -> NDArray[np.float64]:
    """Move rising places as little as needed for a gap between neighbours, within limits.

    Where there is no room for all gaps, they are smaller.

    Examples
    --------
    >>> spread_out([0.0, 0.5, 9.0], 1.0, 0.0, 9.0).tolist()
    [0.0, 1.0, 9.0]
    >>> spread_out([8.0, 8.5, 9.0], 1.0, 0.0, 9.0).tolist()
    [7.0, 8.0, 9.0]
    """
    gap = min(gap, (high - low) / max(1, len(places) - 1))
    steps = gap * np.arange(len(places))
    raised = np.maximum.accumulate(np.maximum(places, low) - steps) + steps
    return np.minimum(raised, high - steps[::-1])
