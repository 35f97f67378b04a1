"""One look for every picture: colours, marks of decisions and classes, axes and writing.

The page has themes, so its pictures are drawn with placeholders for colours. Decisions and classes
differ by shape and filling, and by colour as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import east_asian_width

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike, NDArray

from semisift.utils._text import shorten

# Takes a name and the number of letters that fit, and returns what is put on the axes.
WriteName = Callable[[str, int], str]

COLOURS = ("ink", "muted", "line", "accent", "paper", *(f"class-{k}" for k in range(1, 9)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Dashes of the lines of methods, in widths of the line.
DASHES = [(), (4, 1.6), (1.1, 1.3), (6, 1.6, 1.1, 1.6), (3, 1.3, 1.1, 1.3, 1.1, 1.3)]
LINE_WIDTH = 1.7

# Text that is never read as mathematics.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}

# Features that are not significant are marked up to this rank.
MAX_MARKED = 60


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
        return self.muted if place is None else self.classes[place % len(self.classes)]

    def named(self, name: str) -> str:
        """Return a colour by its name in `COLOURS`."""
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
    ink, muted = rcParams["text.color"], rcParams["axes.labelcolor"]
    return replace(PLAIN, ink=ink, muted=muted, paper=rcParams["axes.facecolor"])


@dataclass(frozen=True)
class FigureStyle:
    """How a picture is drawn: its colours, and what is written for a name of so many letters."""

    palette: Palette
    write: WriteName = shorten

    def clean_axes(self, ax: Axes, x: str = "", y: str | None = "") -> None:
        """Leave two quiet axes with these labels; where `y` is None, lanes for names instead."""
        line, muted = self.palette.line, self.palette.muted
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(line)
        ax.tick_params(color=line, labelcolor=muted, length=4)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        ax.set_xlabel(x, color=muted)
        ax.set_ylabel(y or "", color=muted)
        if y is None:
            ax.spines["left"].set_visible(False)
            ax.yaxis.set_visible(False)

    def annotate(self, ax: Axes, text: str, xy: Any, **look: Any) -> None:
        """Write what is never read as mathematics."""
        look = {"color": self.palette.ink, "va": "center", "annotation_clip": False, **look}
        if "xytext" in look:
            look.setdefault("textcoords", "offset points")
        ax.annotate(text, xy, **LITERAL, **look)

    def name_lane(self, ax: Axes, name: str, length: int, y: float, **look: Any) -> None:
        """Write a name at the left of the axes, or where `look` says."""
        look = {"xycoords": ("axes fraction", "data"), "xytext": (-8, 0), "ha": "right", **look}
        self.annotate(ax, self.write(name, length), (0, y), **look)


def size_of(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes in points."""
    figure: Any = ax.get_figure(root=True)
    box = ax.get_window_extent()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi


def width_of(text: str, size: float) -> float:
    """Return about how wide a text is at a font size, rather too much than too little.

    Examples
    --------
    >>> width_of("il", 10) < width_of("MW", 10) == width_of("漢字", 10)
    True
    """
    wide = [east_asian_width(letter) in "WF" or letter in "mwMW@%…—" for letter in text]
    widths = zip(text, wide, strict=True)
    return size * sum(1.0 if is_wide else 0.74 if c.isupper() else 0.6 for c, is_wide in widths)


def n_letters(name: str, room: float, size: float) -> int:
    """Return how many letters of a name have room."""
    length = len(name)
    while length > 3 and width_of(shorten(name, length), size) > room:
        length -= 1
    return length


def padded(values: ArrayLike, share: float, least: float) -> tuple[float, float]:
    """Return the ends of an axis with a margin around finite values, or around 0 and 1.

    Examples
    --------
    >>> padded([0.0, np.nan, 10.0], 0.1, 0.5)
    (-1.0, 11.0)
    """
    finite = np.asarray(values)[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    pad = share * (high - low) or least
    return float(low - pad), float(high + pad)


def spread_out(places: ArrayLike, gap: float, low: float, high: float) -> NDArray[np.float64]:
    """Move rising places as little as needed for a missing value between neighbours, within limits.

    Where there is no room for all missing values, they are smaller.

    Examples
    --------
    >>> spread_out([0.0, 0.5, 9.0], 1.0, 0.0, 9.0).tolist()
    [0.0, 1.0, 9.0]
    >>> spread_out([8.0, 8.5, 9.0], 1.0, 0.0, 9.0).tolist()
    [7.0, 8.0, 9.0]
    """
    places = np.asarray(places, dtype=np.float64)
    gap = min(gap, (high - low) / max(1, len(places) - 1))
    steps = gap * np.arange(len(places))
    raised = np.maximum.accumulate(np.maximum(places, low) - steps) + steps
    return np.minimum(raised, high - steps[::-1])


# --- decisions on features ------------------------------------------------------------------------


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


_CIRCLE, _DIAMOND = "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z", "M6 1 11 6 6 11 1 6z"
_SMALL_CIRCLE = "M6 3a3 3 0 1 0 0 6a3 3 0 1 0 0-6z"
MARKS = {
    "significant": Mark("filled circles", "o", _CIRCLE, "accent", True, 4.4),
    "suggestive": Mark("hollow diamonds", "D", _DIAMOND, "class-2", False, 4.2),
    "not significant": Mark("small hollow circles", "o", _SMALL_CIRCLE, "muted", False, 3.8),
}


def marked(
    ranks: NDArray[np.number], decisions: NDArray[np.str_] | None
) -> dict[str, NDArray[np.bool_]]:
    """Return which points are marked for each decision, the significant ones first."""
    if decisions is None:
        return {}
    found = {
        decision: (decisions == decision)
        & ((decision != "not significant") | (ranks <= MAX_MARKED))
        for decision in MARKS
    }
    return {decision: own for decision, own in found.items() if own.any()}


def draw_marks(
    ax: Axes, style: FigureStyle, ranks: Any, y: Any, decisions: NDArray[np.str_] | None
) -> None:
    """Draw features at their ranks by what was decided on them, the significant ones on top."""
    if decisions is None:
        ax.plot(ranks, y, "o", color=style.palette.accent, ms=4.4, mew=0, zorder=3)
    for decision, own in reversed(marked(ranks, decisions).items()):
        ax.plot(ranks[own], y[own], zorder=3, **MARKS[decision].look(style.palette))


def draw_legend(
    ax: Axes, looks: Sequence[tuple[str, dict[str, Any]]], colour: str, **place: Any
) -> Any:
    """Draw a legend of these labels and looks without a frame."""
    legend = ax.legend(
        handles=[Line2D([], [], **look) for _, look in looks],
        labels=[str(number) for number in range(len(looks))],
        frameon=False,
        borderaxespad=0,
        labelcolor=colour,
        **{"fontsize": "small", **place},
    )
    for text, (label, _) in zip(legend.get_texts(), looks, strict=True):
        text.set(**LITERAL, text=label)
    return legend


# --- methods and classes --------------------------------------------------------------------------


def dashes(place: int) -> tuple[float, ...]:
    """Return the dashes of a method by its place; none for a solid line."""
    return DASHES[place // len(MARKERS) % len(DASHES)]


def mark(place: int) -> int:
    """Return the number of a method's mark; with its colour it is its own up to 64 methods.

    Examples
    --------
    >>> mark(0), mark(1), mark(8), mark(9)
    (0, 1, 1, 2)
    """
    return (place + place // len(MARKERS)) % len(MARKERS)


def method_line(place: int, palette: Palette) -> dict[str, Any]:
    """Return the look of a method's line, as matplotlib takes it."""
    pattern: Any = (0, dashes(place)) if dashes(place) else "solid"
    look = {"color": palette.of_class(place), "ls": pattern, "lw": LINE_WIDTH}
    return {**look, **method_point(place, palette)}


def method_point(place: int, palette: Palette, size: float = 5.2) -> dict[str, Any]:
    """Return the look of a method's mark, as matplotlib takes it."""
    colours = {"mfc": palette.of_class(place), "mec": palette.paper, "mew": 0.6}
    return {**_marker(mark(place), size), **colours}


def row_points(place: int | None, is_labelled: bool, palette: Palette, size: float) -> Any:
    """Return the look of rows of a class: filled where they carry their label, else hollow."""
    colour = palette.of_class(place)
    colours = {"mfc": "none", "mec": colour, "mew": 0.9}
    if is_labelled:
        colours = {"mfc": colour, "mec": palette.paper, "mew": 0.6}
    return {**_marker(place or 0, size), **colours, "ls": "none"}


def _marker(number: int, size: float) -> dict[str, Any]:
    shape = MARKERS[number]
    return {"marker": shape, "ms": 1.35 * size if shape in "PX*" else size}
