"""Figures: pictures that are drawn on the page, into a file or on axes of the user."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semisift._words import shorten
from semisift.report.palette import PLAIN, Palette, WriteName, for_user
from semisift.report.svg import (
    THEMED,
    Names,
    new_axes,
    new_figure,
    themed,
    to_svg,
    to_svg_file,
)

Draw = Callable[[Axes, Palette, WriteName], None]
FORMS = ("svg", "pdf")


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
        Takes axes, a palette and a function that writes names.
    """

    slug: str
    title: str
    words: str
    size: tuple[float, float]
    margins: tuple[float, float, float, float]
    draw: Draw

    def on_page(self, label: str | None = None, prefix: str | None = None) -> Markup:
        """Draw it for the page; `label` is the id of its words, `prefix` starts its own ids."""
        names = Names()
        label = label or f"{self.slug}-words"
        with themed():
            return to_svg(self._sheet(THEMED, names), prefix or self.slug, names, label)

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
        left, right, top, bottom = self.margins
        sheet = new_figure(*self.size)
        ax = new_axes(sheet, *self.size, left=left, right=right, top=top, bottom=bottom)
        self.draw(ax, palette, write)
        return sheet


def on_axes(ax: Axes | None, draw: Draw, size: tuple[float, float] = (6.4, 4.2)) -> Axes:
    """Draw on axes of the user, or on a new figure of pyplot with `size` in inches."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    draw(ax, for_user(), shorten)
    return ax
