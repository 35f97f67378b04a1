"""Names on pictures: as long as there is room, and never one over another."""

import math
import unicodedata
from collections.abc import Sequence

from matplotlib import rcParams
from matplotlib.lines import Line2D

from semisift.report._figures import Pen
from semisift.report.comparison import _diagram
from semisift.utils._text import shorten

LINE_HEIGHT = 1.45

# Labels farther from their points have a line that leads there.
NEAR = 14.0

Point = tuple[float, float]
Box = tuple[float, float, float, float]


def width_of(text: str, size: float) -> float:
    """Return about how wide a text is at a font size, rather too much than too little.

    Examples
    --------
    >>> width_of("il", 10) < width_of("MW", 10) == width_of("漢字", 10)
    True
    """
    return size * sum(map(_width, text))


def _width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF" or letter in "mwMW@%…—":
        return 1.0
    return 0.74 if letter.isupper() else 0.6


def n_letters(name: str, room: float, size: float) -> int:
    """Return how many letters of a name have room."""
    length = len(name)
    while length > 3 and width_of(shorten(name, length), size) > room:
        length -= 1
    return length


def font_size() -> float:
    """Return the ordinary size of writing in force."""
    return float(rcParams["font.size"])


def list_methods(pen: Pen, places: Sequence[int], names: Sequence[str]) -> None:
    """List methods with their lines and marks on the right of the axes."""
    size = min(0.92 * font_size(), pen.size[1] / max(len(places), 1) / 1.3)
    legend = pen.ax.legend(
        [Line2D([], [], **_diagram.line(place, pen.palette)) for place in places],
        [str(place) for place in places],
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=size,
        labelcolor=pen.palette.ink,
        labelspacing=0.3,
        handlelength=2.6,
        borderaxespad=0,
    )
    for text, place in zip(legend.get_texts(), places, strict=True):
        text.set_parse_math(False)
        text.set_usetex(False)
        text.set_text(pen.write(names[place], n_letters(names[place], 15 * size, size)))


def place_labels(
    points: Sequence[Point], widths: Sequence[float], height: float, bounds: Box
) -> list[Box | None]:
    """Find room for a label near each point.

    Parameters
    ----------
    points : sequence of (x, y)
    widths : sequence of float
        Of the labels.
    height : float
        Of each label.
    bounds : left, bottom, right and top of all the room there is

    Returns
    -------
    list of boxes
        Left, bottom, right and top; no box touches another one or a point. None where there is no
        room.

    Examples
    --------
    >>> place_labels([(50, 50), (50, 50)], [20, 20], 10, (0, 0, 100, 100))
    [(57.0, 45.0, 77.0, 55.0), (23.0, 45.0, 43.0, 55.0)]
    """
    taken: list[Box] = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    found: list[Box | None] = []
    for point, width in zip(points, widths, strict=True):
        box = _first_free(point, points, width, height, bounds, taken)
        found.append(box)
        if box is not None:
            taken.append(box)
    return found


def _first_free(
    point: Point,
    points: Sequence[Point],
    width: float,
    height: float,
    bounds: Box,
    taken: list[Box],
) -> Box | None:
    left, bottom, right, top = bounds
    others = [other for other in points if other != point]
    for distance in (7.0, 14.0, 24.0, 36.0, 52.0, 72.0, 100.0, 140.0):
        for step in (0, 4, 2, 6, 1, 7, 3, 5):
            dx, dy = math.cos(step * math.pi / 4), math.sin(step * math.pi / 4)
            side = round(dx, 9) and math.copysign(1, dx)
            x = point[0] + distance * dx + width * (side - 1) / 2
            y = point[1] + distance * dy - height / 2
            box = x, y, x + width, y + height
            inside = left <= box[0] and bottom <= box[1] and box[2] <= right and box[3] <= top
            # a label nearer to another point would name that one, unless a line leads to it
            nearest = distance > NEAR or all(_gap(box, p) > _gap(box, point) for p in others)
            if inside and nearest and not any(_meet(box, other) for other in taken):
                return box
    return None


def _gap(box: Box, point: Point) -> float:
    dx = max(box[0] - point[0], 0.0, point[0] - box[2])
    dy = max(box[1] - point[1], 0.0, point[1] - box[3])
    return math.hypot(dx, dy)


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
