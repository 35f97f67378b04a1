"""A matplotlib figure as a small SVG that follows the theme of the page around it.

Colours are drawn as placeholders and become CSS variables. Names from the data never reach
matplotlib: placeholders stand for them, and the names are put into the finished tree, so that no
name is read as mathematics, lacks a glyph or escapes its element.

Figures: pictures that are drawn on the page, into a file or on axes of the user.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from semisift.report._style import PLAIN, Palette, WriteName, bare, for_user
from semisift.utils._text import shorten

COLOURS = ("ink", "muted", "line", "accent", "paper", *(f"class-{k}" for k in range(1, 9)))
_PLACEHOLDERS = {name: f"#fe00{number:02x}" for number, name in enumerate(COLOURS, 1)}
_NAMES = {placeholder: f"var(--{name})" for name, placeholder in _PLACEHOLDERS.items()}
THEMED = Palette(
    **{name: _PLACEHOLDERS[name] for name in COLOURS[:5]},
    classes=tuple(_PLACEHOLDERS[name] for name in COLOURS[5:]),
)

# Whatever style the user has set, the page looks the same.
STYLE: list[Any] = [
    "default",
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "semisift",
        "path.simplify": False,
        "font.size": 11.5,
        "axes.linewidth": 0.8,
        "axes.unicode_minus": True,
        "text.parse_math": False,
    },
]


@dataclass
class Names:
    """Placeholders for names that are written into the finished picture."""

    given: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, name: str, length: int) -> str:
        """Keep `name`, of which `length` characters have room, and return its placeholder."""
        self.given.append((shorten(name, length), name))
        return f"§{len(self.given) - 1}§"


@contextmanager
def tagged(ax: Axes, **data: int) -> Iterator[None]:
    """Tag what is drawn meanwhile: ``method=3`` becomes the attribute ``data-method="3"``."""
    before = {*ax.get_children()}
    yield
    for artist in ax.get_children():
        if artist not in before:
            artist.set_gid(";".join(f"{name}={value}" for name, value in data.items()))


def themed() -> Any:
    """Return the context in which figures of the page are drawn."""
    return style.context(STYLE)


def to_svg(figure: Figure, prefix: str, names: Names, label: str) -> Markup:
    """Write a figure as an ``<svg>`` element.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    prefix : str
        Starts the ids, which must differ between the pictures of a page.
    names : Names
    label : str
        Id of the element that describes the picture.

    Returns
    -------
    markupsafe.Markup
    """
    root = _tree(figure, prefix, names)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": label,
        "class": "picture",
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def to_svg_file(figure: Figure, names: Names, title: str) -> str:
    """Write a figure as the text of a file of its own, in plain colours on white.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    names : Names
    title : str

    Returns
    -------
    str
    """
    root = _tree(figure, "p", names)
    _, _, width, height = root.attrib["viewBox"].split()
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": root.attrib["viewBox"],
        "width": width,
        "height": height,
        "role": "img",
        "font-family": "Helvetica, Arial, sans-serif",
        "stroke-linejoin": "round",
    }
    ground = ElementTree.Element("rect", {"width": width, "height": height, "fill": PLAIN.paper})
    root[:0] = [ElementTree.Element("title"), ground]
    root[0].text = title
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r'="var\(--([a-z0-9-]+)\)"', lambda match: f'="{PLAIN.named(match[1])}"', text)


def _tree(figure: Figure, prefix: str, names: Names) -> ElementTree.Element:
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(stream.getvalue())
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
    for node in list(root.iter()):
        node[:] = [child for child in node if child.tag not in ("metadata", "style")]
    for node in list(root.iter()):
        _plain_attributes(node)
        _write_name(node, names)
        _write_tags(node)
    for node in root.iter("pattern"):
        _plain_hatch(node)
    for node in root.iter("g"):
        _lift_style_of_marks(node)
    _rename_ids(root, prefix)
    _flatten(root)
    return root


def _plain_attributes(node: ElementTree.Element) -> None:
    """Turn ``style`` into attributes, which a strict content policy allows, and round numbers."""
    for part in node.attrib.pop("style", "").split("; "):
        key, _, value = part.partition(": ")
        if value and key != "font-family":
            node.set(key, _NAMES.get(value, value))
    if node.tag == "text":
        node.attrib.setdefault("fill", "var(--ink)")
    for key in ("d", "x", "y", "width", "height", "transform"):
        if key in node.attrib:
            node.set(key, _round(node.attrib[key]))
    if node.attrib.get("transform", "").startswith("rotate(0 "):
        del node.attrib["transform"]
    for key in list(node.attrib):
        if key.endswith("}href"):
            node.set("href", node.attrib.pop(key))
    node.text = (node.text or "").strip() or None
    node.tail = None


def _round(text: str) -> str:
    rounded = re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.2f}", text)
    rounded = re.sub(r"(\.\d*?)0+(?=\D|$)", r"\1", rounded)
    rounded = re.sub(r"\.(?=\D|$)", "", rounded)
    return " ".join(re.sub(r"-0(?=[^.\d]|$)", "0", rounded).split())


def _write_name(node: ElementTree.Element, names: Names) -> None:
    if match := re.fullmatch(r"§(\d+)§", node.text or ""):
        node.text, full = names.given[int(match[1])]
        if node.text != full:
            title = ElementTree.SubElement(node, "title")
            title.text, title.tail, node.text = full, node.text, None


def _write_tags(node: ElementTree.Element) -> None:
    for tag in node.attrib.get("id", "").split(";"):
        name, equals, value = tag.partition("=")
        if equals:
            node.set(f"data-{name}", value)


def _plain_hatch(pattern: ElementTree.Element) -> None:
    """Replace matplotlib's tile, a kilobyte of lines, by one diagonal."""
    pattern.attrib.update(width="5", height="5")
    line = pattern.find("path")
    if line is not None:
        colour = line.attrib["stroke"]
        line.attrib = {"d": "M-1 1 1-1M0 5 5 0M4 6 6 4", "stroke": colour, "stroke-width": "1"}
        pattern[:] = [line]


def _lift_style_of_marks(group: ElementTree.Element) -> None:
    looks = [
        {k: mark.attrib[k] for k in mark.attrib if k not in ("x", "y", "href")} for mark in group
    ]
    if any(mark.tag != "use" for mark in group) or not looks or looks != looks[:1] * len(looks):
        return
    for mark in group:
        for key in looks[0]:
            del mark.attrib[key]
    group.attrib.update(looks[0])


def _rename_ids(root: ElementTree.Element, prefix: str) -> None:
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    new: dict[str, str] = {}
    for node in root.iter():
        name = node.attrib.pop("id", "")
        if name in used:
            new[name] = f"{prefix}-{len(new)}"
            node.set("id", new[name])
    for node in root.iter():
        for key, value in node.attrib.items():
            if match := re.fullmatch(r"url\(#(.+)\)", value):
                node.set(key, f"url(#{new[match[1]]})")
            elif key == "href":
                node.set(key, f"#{new[value[1:]]}")


def _flatten(node: ElementTree.Element) -> None:
    """Take out groups that say nothing."""
    kept: list[ElementTree.Element] = []
    for child in node:
        _flatten(child)
        if child.tag == "g" and not child.attrib:
            kept += child
        elif len(child) or child.tag not in ("g", "defs"):
            kept.append(child)
    node[:] = kept


# --- figures --------------------------------------------------------------------------------------


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
