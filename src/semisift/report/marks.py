"""How pictures show what was decided on a feature: by shape and filling, and by colour as well."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift.outcome.decisions import WORDS
from semisift.outcome.ranking import Chance
from semisift.report.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Features not told from chance, or on which nothing was decided, are marked up to this rank.
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
        face = colour if self.filled else palette.paper
        look = {"marker": self.shape, "mec": colour, "mfc": face, "ms": self.size, "mew": 1.2}
        return {**look, "ls": "none"}


MARKS = {
    "confirmed": Mark(
        "filled circles", "o", "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z", "accent", True, 4.4
    ),
    "tentative": Mark("hollow diamonds", "D", "M6 1 11 6 6 11 1 6z", "class-2", False, 4.2),
    "rejected": Mark(
        "small hollow circles", "o", "M6 3a3 3 0 1 0 0 6a3 3 0 1 0 0-6z", "muted", False, 3.8
    ),
}


def marked(
    ranks: NDArray[np.number], decisions: NDArray[np.str_] | None
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the decisions that are drawn, and at which points, the confirmed ones first."""
    for decision in MARKS if decisions is not None else ():
        own = (decisions == decision) & ((decision != "rejected") | (ranks <= MOST_MARKED))
        if own.any():
            yield decision, own


def chance_line(palette: Palette) -> dict[str, Any]:
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
    for decision, own in reversed([*marked(x, decisions)]):
        ax.plot(x[own], y[own], zorder=3, **MARKS[decision].look(palette))


def draw_legend(ax: "Axes", decisions: list[str], chance: Chance | None, palette: Palette) -> None:
    """Say above the axes what marks and line mean, where there are any."""
    from matplotlib.lines import Line2D

    looks = {WORDS[decision]: MARKS[decision].look(palette) for decision in decisions}
    if chance is not None:
        looks[chance.name] = chance_line(palette)
    if looks:
        ax.legend(
            handles=[Line2D([], [], label=label, **look) for label, look in looks.items()],
            loc="lower left",
            bbox_to_anchor=(0, 1.05),  # above the words on how many are selected
            ncols=len(looks),
            fontsize="small",
            handlelength=1.8,
            columnspacing=1.2,
            borderaxespad=0,
            frameon=False,
            labelcolor=palette.muted,
        )
