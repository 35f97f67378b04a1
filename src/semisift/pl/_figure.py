"""What the pictures share: sizes, colours of classes, and how they are handed over."""

import os
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends import BackendFilter, backend_registry
from matplotlib.colors import to_hex, to_rgb
from matplotlib.transforms import ScaledTranslation, Transform

from semisift.report._style import PLAIN

# Names of genes and classes are cut to so many letters.
MAX_NAME = 40

# Inches of a line of small letters, and of one such letter.
LINE, LETTER = 0.17, 0.08

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


def finish_figure(
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
    own = np.array([to_rgb(colour) for colour in PLAIN.classes])
    shares = np.array(SHADES)[:, None, :]
    shades = shares[..., :1] * own + shares[..., 1:2] * np.roll(own, -1, axis=0) + shares[..., 2:]
    found = [to_hex(shade) for shade in shades.reshape(-1, 3)]
    return [found[number % len(found)] for number in range(n_classes)]


def inches_from_corner(ax: Axes, x: float = 1, y: float = 1) -> Transform:
    """Return places in inches from a corner of the axes, by default the upper right one."""
    figure: Any = ax.get_figure(root=True)
    of_axes: Any = ax.transAxes
    return figure.dpi_scale_trans + ScaledTranslation(x, y, of_axes)
