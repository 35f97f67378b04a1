"""Colours and marks: placeholders for the page, which has themes, and plain ones for Python."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Takes a name and the number of letters that fit, and returns what is put on the axes.
WriteName = Callable[[str, int], str]

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


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
    from matplotlib import rcParams

    return replace(
        PLAIN,
        ink=rcParams["text.color"],
        muted=rcParams["axes.labelcolor"],
        paper=rcParams["axes.facecolor"],
    )


def marker(place: int | None) -> str:
    """Return the mark of a class by its place.

    Examples
    --------
    >>> marker(0), marker(1), marker(None)
    ('o', 's', 'o')
    """
    return "o" if place is None else MARKERS[place]


def bare(ax: "Axes", palette: Palette) -> None:
    """Leave two quiet axes and plain numbers beside them."""
    from matplotlib.ticker import FuncFormatter

    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(palette.line)
    ax.tick_params(color=palette.line, labelcolor=palette.muted, length=4)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
