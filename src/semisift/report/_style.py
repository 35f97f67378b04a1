"""Colours and marks: placeholders for the page, which has themes, and plain ones for Python.

What was decided on a feature is shown by shape and filling, and by colour as well.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from semisift.base._decisions import WORDS

# Takes a name and the number of letters that fit, and returns what is put on the axes.
WriteName = Callable[[str, int], str]

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Features not told from chance, or on which nothing was decided, are marked up to this rank.
MOST_MARKED = 60


@dataclass(frozen=True)
class Palette:
    """The colours of a picture."""

    ink: str
    muted: str
    line: str
    accent: str
    paper: str
    classes: tuple[str, ...]

    def of_class(self, place: int | None) -> str:
        """Return the colour of a class by its place; grey for rows without one."""
        return self.muted if place is None else self.classes[place]

    def named(self, name: str) -> str:
        """Return a colour by its name on the page.

        Examples
        --------
        >>> PLAIN.named("paper"), PLAIN.named("class-2")
        ('#ffffff', '#c2500c')
        """
        kind, _, number = name.partition("-")
        return self.classes[int(number) - 1] if number else str(getattr(self, kind))

    @property
    def chance(self) -> dict[str, Any]:
        """How matplotlib draws the line of chance."""
        return {"color": self.classes[3], "lw": 1.4, "ls": (0, (7, 3))}


# Readable on white with any colour vision; marks and hatches tell classes apart as well.
PLAIN = Palette(
    ink="#1b1f24",
    muted="#5b6570",
    line="#d5dae0",
    accent="#1f5fa8",
    paper="#ffffff",
    classes=(
        "#1f5fa8",
        "#c2500c",
        "#0a7a58",
        "#8a3b8f",
        "#8f6b00",
        "#1d7fa3",
        "#b8326a",
        "#555f6b",
    ),
)


def for_user() -> Palette:
    """Return plain colours, with writing and ground of the user's style: it may be a dark one."""
    return replace(
        PLAIN,
        ink=rcParams["text.color"],
        muted=rcParams["axes.labelcolor"],
        paper=rcParams["axes.facecolor"],
    )


def bare(ax: Axes, palette: Palette) -> None:
    """Leave two quiet axes and plain numbers beside them."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(palette.line)
    ax.tick_params(color=palette.line, labelcolor=palette.muted, length=4)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


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
        colour = palette.named(self.colour)
        face = colour if self.filled else palette.paper
        look = {"marker": self.shape, "mec": colour, "mfc": face, "ms": self.size, "mew": 1.2}
        return {**look, "ls": "none"}


MARKS = {
    "confirmed": Mark(
        "filled circles", "o", "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z", "accent", True, 4.4
    ),
    "tentative": Mark("hollow diamonds", "D", "M6 1 11 6 6 11 1 6z", "class-2", False, 4.2),
    "unconfirmed": Mark(
        "small hollow circles", "o", "M6 3a3 3 0 1 0 0 6a3 3 0 1 0 0-6z", "muted", False, 3.8
    ),
}


def marked(
    ranks: NDArray[np.number], decisions: NDArray[np.str_] | None
) -> dict[str, NDArray[np.bool_]]:
    """Return at which points decisions are drawn, those that are, the confirmed ones first."""
    found = {
        decision: (decisions == decision) & ((decision != "unconfirmed") | (ranks <= MOST_MARKED))
        for decision in (MARKS if decisions is not None else ())
    }
    return {decision: own for decision, own in found.items() if own.any()}


def decided_on(decisions: NDArray[np.str_] | None, n_features: int) -> list[str]:
    """Return what was decided on features, as the end of a list.

    Examples
    --------
    >>> decided_on(np.array(["confirmed"]), 1), decided_on(None, 2)
    ([', confirmed'], ['', ''])
    """
    return [""] * n_features if decisions is None else [f", {WORDS[each]}" for each in decisions]
