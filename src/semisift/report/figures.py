"""Figures: pictures that are drawn on the page, into a file or on axes of the user."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from semisift._words import shorten
from semisift.report.palette import PLAIN, Palette, WriteName, bare, for_user
from semisift.report.svg import THEMED, Names, themed, to_svg, to_svg_file

FORMS = ("svg", "pdf")


class Pen(NamedTuple):
    """What a picture is drawn with; `write` turns a name and a length into what is put there."""

    ax: Axes
    palette: Palette
    write: WriteName

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the axes in points."""
        box, scale = self.ax.get_window_extent(), self.scale
        return box.width * 72 / scale, box.height * 72 / scale

    @property
    def scale(self) -> float:
        """Pixels of an inch."""
        return self.ax.get_figure(root=True).dpi  # type: ignore[union-attr]

    def bare(self, x: str = "", y: str | None = "") -> Axes:
        """Leave two quiet axes with these labels; where `y` is None, lanes for names instead."""
        bare(self.ax, self.palette)
        self.ax.set_xlabel(x, color=self.palette.muted)
        if y is None:
            self.ax.spines["left"].set_visible(False)
            self.ax.yaxis.set_visible(False)
        else:
            self.ax.set_ylabel(y, color=self.palette.muted)
        return self.ax

    def say(self, text: str, xy: Any, **look: Any) -> Any:
        """Write what is never read as mathematics."""
        plain: Any = {"parse_math": False, "usetex": False, "annotation_clip": False}
        return self.ax.annotate(text, xy, **plain, **look)

    def name_lane(self, name: str, length: int, y: float, **look: Any) -> None:
        """Write a name at the left of the axes, or where `look` says."""
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
        place |= {"textcoords": "offset points", "xytext": (-8, 0), "ha": "right"}
        place["color"] = self.palette.ink
        self.say(self.write(name, length), (0, y), **place | look)


class Tip(NamedTuple):
    """What stands at a place of the axes, in the units of the data."""

    x: float
    y: float
    text: str


Draw = Callable[[Pen], None]


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A picture that is not drawn yet.

    Attributes
    ----------
    slug : str
        Starts its ids, and names its file.
    title, words : str
        What it shows, in short and in full.
    size : width and height in points
    margins : left, right, top and bottom in points
    draw : callable
        Takes a `Pen`.
    small : ReportFigure, optional
        What narrow screens show instead.
    marks : sequence of str
        The decisions that are marked in it.
    tips : sequence of Tip
        What the page tells of single marks, by pointer and by keyboard. The small picture has the
        first of these.
    """

    slug: str
    title: str
    words: str
    size: tuple[float, float]
    margins: tuple[float, float, float, float]
    draw: Draw
    small: "ReportFigure | None" = None
    marks: Sequence[str] = ()
    tips: Sequence[Tip] = ()

    @property
    def svg(self) -> Markup:
        """The picture on the page, described by its words."""
        return self._on_page(self.slug, f"{self.slug}-words") + self._texts

    @property
    def titled(self) -> Markup:
        """The picture on the page, described by its title and its words."""
        return self._on_page(self.slug, f"{self.slug}-title {self.slug}-words") + self._texts

    @property
    def narrow(self) -> Markup:
        """What narrow screens show, described by the same words."""
        return (self.small or self)._on_page(f"{self.slug}-narrow", f"{self.slug}-words")

    @property
    def _texts(self) -> Markup:
        """The texts of the tips, a line each, for the pictures that say where they are."""
        lines = "\n".join(tip.text for tip in self.tips)
        return Markup('<pre id="{}-tips" hidden>{}</pre>').format(self.slug, lines) * bool(lines)

    def _on_page(self, prefix: str, label: str) -> Markup:
        names = Names()
        with themed():
            sheet = self._sheet(THEMED, names)
            picture = to_svg(sheet, prefix, names, label)
        if not self.tips:
            return picture
        plot = Markup('<div class="plot" data-tips="{}-tips" data-title="{}" data-at="{}">{}</div>')
        return plot.format(self.slug, self.title, self._places(sheet), picture)

    def _places(self, sheet: Figure) -> str:
        """Return where the tips are, in percent of width and height from the top left corner."""
        points = np.array([tip[:2] for tip in self.tips], dtype=np.float64)
        places = sheet.axes[0].transData.transform(points) / self.size
        return " ".join(f"{100 * x:.1f} {100 * (1 - y):.1f}" for x, y in places)

    def to_file(self, path: Path, form: str) -> None:
        """Draw it into a file."""
        with themed():
            if form == "pdf":
                self._sheet(PLAIN, shorten).savefig(path, metadata={"CreationDate": None})
                return
            names = Names()
            text = to_svg_file(self._sheet(THEMED, names), names, self.title)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")

    def _sheet(self, palette: Palette, write: WriteName) -> Figure:
        (width, height), (left, right, top, bottom) = self.size, self.margins
        sheet = Figure(figsize=(width / 72, height / 72), dpi=72)
        x, y = left / width, bottom / height
        ax = sheet.add_axes((x, y, 1 - x - right / width, 1 - y - top / height))
        for patch in (sheet.patch, ax.patch):
            patch.set_visible(False)
        self.draw(Pen(ax, palette, write))
        return sheet

    def on_axes(self, ax: Axes | None, inches: tuple[float, float] = (6.4, 4.2)) -> Axes:
        """Draw it on axes of the user, or on a new figure of pyplot."""
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=inches, layout="constrained")
        self.draw(Pen(ax, for_user(), shorten))
        return ax


def padded(values: NDArray[np.float64], share: float, least: float) -> tuple[float, float]:
    """Return the ends of an axis with a margin around finite values, or around 0 and 1.

    Examples
    --------
    >>> padded(np.array([0.0, np.nan, 10.0]), 0.1, 0.5)
    (-1.0, 11.0)
    """
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    pad = share * (high - low) or least
    return float(low - pad), float(high + pad)
