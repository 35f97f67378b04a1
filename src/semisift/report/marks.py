"""How pictures show what was decided on a feature: by shape and filling, and by colour as well."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift.report.palette import Palette
from semisift.report.ranking import Chance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Features that were rejected, or on which nothing was decided, are marked up to this rank.
MOST_MARKED = 60


@dataclass(frozen=True)
class Mark:
    """The mark of a decision.

    Attributes
    ----------
    words : str
        What it looks like.
    shape : str
        Marker of matplotlib.
    path : str
        The same in a square of 12 units, for the legend of the page.
    colour : str
        Name of the colour on the page.
    filled : bool
    size : float
    """

    words: str
    shape: str
    path: str
    colour: str
    filled: bool
    size: float

    def look(self, palette: Palette) -> dict[str, Any]:
        """Return how matplotlib draws it."""
        kind, _, number = self.colour.partition("-")
        colour = palette.classes[int(number) - 1] if number else getattr(palette, kind)
        return {
            "marker": self.shape,
            "ls": "none",
            "mec": colour,
            "mfc": colour if self.filled else palette.paper,
            "ms": self.size,
            "mew": 1.2,
        }


MARKS = {
    "confirmed": Mark(
        "filled circles", "o", "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z", "accent", True, 4.4
    ),
    "tentative": Mark("hollow diamonds", "D", "M6 1 11 6 6 11 1 6z", "class-2", False, 4.2),
    "rejected": Mark(
        "small hollow circles", "o", "M6 3a3 3 0 1 0 0 6a3 3 0 1 0 0-6z", "muted", False, 3.8
    ),
}


def chance(palette: Palette) -> dict[str, Any]:
    """Return how matplotlib draws the line of chance."""
    return {"color": palette.classes[3], "lw": 1.4, "ls": (0, (7, 3))}


def draw_marks(
    ax: "Axes",
    x: NDArray[np.number],
    y: NDArray[np.number],
    decisions: NDArray[np.str_],
    palette: Palette,
) -> None:
    """Draw the points of features, the confirmed ones on top; x are ranks."""
    for decision, mark in reversed(MARKS.items()):
        own = decisions == decision
        if decision == "rejected":
            own = own & (x <= MOST_MARKED)
        if own.any():
            ax.plot(x[own], y[own], zorder=3, **mark.look(palette))


def draw_legend(
    ax: "Axes", decisions: NDArray[np.str_] | None, line: Chance | None, palette: Palette
) -> None:
    """Say above the axes what marks and line mean, where there are any."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], label=decision, **mark.look(palette))
        for decision, mark in MARKS.items()
        if decisions is not None and (decisions == decision).any()
    ]
    if line is not None:
        handles.append(Line2D([], [], label=line.name, **chance(palette)))
    if handles:
        ax.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0, 1.05),  # above the words on how many are selected
            ncols=len(handles),
            fontsize="small",
            handlelength=1.8,
            columnspacing=1.2,
            borderaxespad=0,
            frameon=False,
            labelcolor=palette.muted,
        )
