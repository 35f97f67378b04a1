"""A picture of matplotlib, drawn into a page, into a file or on axes of the user.

Pictures of a page are small SVG that follows its theme. Names from the data never reach matplotlib
there: placeholders represent them, and the names are put into the finished tree, so that no name is
read as mathematics, lacks a glyph or escapes its element.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

import numpy as np
from markupsafe import Markup
from matplotlib import style as styles
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semisift.report._style import COLOURS, PLAIN, FigureStyle, Palette, for_user
from semisift.utils._text import shorten

FORMS = ("svg", "pdf")
METADATA = ("Creator", "Date", "Format", "Type")

# Colours that represent those of the theme.
_PLACEHOLDERS = [f"#fe00{number:02x}" for number in range(len(COLOURS))]
_SINGLE = dict(zip(COLOURS[:5], _PLACEHOLDERS[:5], strict=True))
_THEMED = Palette(**_SINGLE, classes=tuple(_PLACEHOLDERS[5:]))
_VARIABLES = {own: f"var(--{name})" for own, name in zip(_PLACEHOLDERS, COLOURS, strict=True)}

# Whatever style the user has set, the page looks the same.
FONT_SIZE = 11.5
_SETTINGS = {
    "svg.fonttype": "none",
    "path.simplify": False,
    "font.size": FONT_SIZE,
    "axes.linewidth": 0.8,
    "text.parse_math": False,
}
_NUMBER = re.compile(r"-?\d+\.\d+")
_OF_FILE = {
    "xmlns": "http://www.w3.org/2000/svg",
    "role": "img",
    "font-family": "Helvetica, Arial, sans-serif",
    "stroke-linejoin": "round",
}
_PLACE = ("x", "y", "href")
_HATCH = {"d": "M-1 1 1-1M0 5 5 0M4 6 6 4", "stroke-width": "1"}


@contextmanager
def tagged(ax: Axes, **data: int) -> Iterator[None]:
    """Tag what is drawn meanwhile: ``method=3`` becomes the attribute ``data-method="3"``."""
    before = {*ax.get_children()}
    yield
    for artist in ax.get_children():
        if artist not in before:
            artist.set_gid(";".join(f"{name}={value}" for name, value in data.items()))


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A picture that is not drawn yet.

    Attributes
    ----------
    slug : str
        Starts its ids, and names its file.
    title, words : str
        What it shows, in short and in full.
    draw : callable
        Takes axes, the summary and a `FigureStyle`.
    summary : object
        What is drawn.
    size : width and height in points
    margins : left, right, top and bottom in points
    small : ReportFigure, optional
        What narrow screens show instead.
    marks : sequence of str
        The decisions that are marked in it.
    tips : sequence of (x, y, text)
        What the page tells of places of the axes, by pointer and by keyboard. The small picture has
        the first of these.
    """

    slug: str
    title: str
    words: str
    draw: Callable[[Axes, Any, FigureStyle], None]
    summary: Any
    size: tuple[float, float]
    margins: tuple[float, float, float, float]
    small: "ReportFigure | None" = None
    marks: Sequence[str] = ()
    tips: Sequence[tuple[float, float, str]] = ()

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
        lines = "\n".join(text for _, _, text in self.tips)
        return Markup('<pre id="{}-tips" hidden>{}</pre>').format(self.slug, lines) * bool(lines)

    def _on_page(self, prefix: str, label: str) -> Markup:
        root, places = self._drawn(_THEMED, prefix)
        own = {"role": "img", "aria-labelledby": label, "class": "picture"}
        root.attrib = {"viewBox": root.attrib["viewBox"], **own}
        picture = Markup(tostring(root, encoding="unicode"))
        if not self.tips:
            return picture
        plot = Markup('<div class="plot" data-tips="{}-tips" data-title="{}" data-at="{}">{}</div>')
        return plot.format(self.slug, self.title, places, picture)

    def to_file(self, path: Path, form: str) -> None:
        """Draw it into a file, in plain colours on white."""
        if form == "pdf":
            with self._settings(PLAIN, ""):
                self._sheet(PLAIN, shorten).savefig(path, metadata={"CreationDate": None})
            return
        root, _ = self._drawn(PLAIN, "p")
        width, height = root.attrib["viewBox"].split()[2:]
        size = {"viewBox": root.attrib["viewBox"], "width": width, "height": height}
        root.attrib = {**_OF_FILE, **size}
        root[:0] = [Element("title"), Element("rect", width=width, height=height, fill=PLAIN.paper)]
        root[0].text = self.title
        path.write_text(tostring(root, encoding="unicode") + "\n", encoding="utf-8", newline="\n")

    def on_axes(self, ax: Axes | None, inches: tuple[float, float] = (6.4, 4.2)) -> Axes:
        """Draw it on axes of the user, or on a new figure of pyplot."""
        ax = own_axes(ax, inches)
        self.draw(ax, self.summary, FigureStyle(for_user()))
        return ax

    def _drawn(self, palette: Palette, prefix: str) -> tuple[Element, str]:
        """Return the picture, and the places of the tips in percent from the top left corner."""
        names: list[tuple[str, str]] = []

        def write(name: str, length: int) -> str:
            names.append((shorten(name, length), name))
            return f"§{len(names) - 1}§"

        with self._settings(palette, prefix):
            sheet, stream = self._sheet(palette, write), io.StringIO()
            sheet.savefig(stream, format="svg", metadata=dict.fromkeys(METADATA))
        points = np.array([tip[:2] for tip in self.tips], dtype=np.float64).reshape(-1, 2)
        at = 100 * sheet.axes[0].transData.transform(points) / self.size
        places = " ".join(f"{x:.1f} {100 - y:.1f}" for x, y in at)
        return _simplified(fromstring(stream.getvalue()), names), places

    def _settings(self, palette: Palette, prefix: str) -> Any:
        own = {"svg.hashsalt": prefix, "text.color": palette.ink}  # ids differ between pictures
        return styles.context(["default", {**_SETTINGS, **own}])

    def _sheet(self, palette: Palette, write: Callable[[str, int], str]) -> Figure:
        (width, height), (left, right, top, bottom) = self.size, self.margins
        sheet = Figure(figsize=(width / 72, height / 72), dpi=72)
        x, y = left / width, bottom / height
        ax = sheet.add_axes((x, y, 1 - x - right / width, 1 - y - top / height))
        for patch in (sheet.patch, ax.patch):
            patch.set_visible(False)
        self.draw(ax, self.summary, FigureStyle(palette, write))
        return sheet


def own_axes(ax: Axes | None, inches: tuple[float, float]) -> Axes:
    """Return the axes of the user, or those of a new figure of pyplot."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=inches, layout="constrained")
    return ax


def _simplified(root: Element, names: Sequence[tuple[str, str]]) -> Element:
    """Return the tree of an SVG with attributes for styles, as a strict content policy asks.

    Numbers are rounded, groups lose their ids, and names take the place of their placeholders.
    """
    for node in list(root.iter()):
        node.tag = node.tag.rpartition("}")[2]
        node[:] = [child for child in node if not child.tag.endswith("}style")]
        style = [part.partition(": ") for part in node.attrib.pop("style", "").split("; ")]
        own = {key.rpartition("}")[2]: value for key, value in node.attrib.items()}
        own |= {key: value for key, _, value in style if value and key != "font-family"}
        if node.tag == "g":
            tags = (tag.partition("=") for tag in own.pop("id", "").split(";"))
            own |= {f"data-{name}": value for name, is_tag, value in tags if is_tag}
        node.attrib = {key: _short(_VARIABLES.get(value, value)) for key, value in own.items()}
        node.text, node.tail = (node.text or "").strip() or None, None
        if match := re.fullmatch(r"§(\d+)§", node.text or ""):
            node.text, full = names[int(match[1])]
            if node.text != full:
                title = Element("title")
                title.text, title.tail, node.text = full, node.text, None
                node.append(title)
    for group in root.iter("g"):
        marks = [node for node in group if node.tag == "use"]
        for mark in marks:  # which look alike: the group says it once
            look = {key: mark.attrib.pop(key) for key in [*mark.attrib] if key not in _PLACE}
            group.attrib |= look
    for pattern in root.iter("pattern"):  # a kilobyte of lines
        stroke = next(node.attrib["stroke"] for node in pattern if "stroke" in node.attrib)
        pattern.attrib |= {"width": "5", "height": "5"}
        pattern[:] = [Element("path", {**_HATCH, "stroke": stroke})]
    return root


def _short(text: str) -> str:
    """Round the numbers of an attribute to two decimals."""
    numbers = _NUMBER.sub(lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), text)
    return " ".join(numbers.split())
