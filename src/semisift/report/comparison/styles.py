"""How methods look: colours, dashes and marks that tell forty of them apart."""

from typing import Any

from semisift.report.palette import MARKERS, Palette

# In widths of the line.
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (4, 1.6),
    (1.1, 1.3),
    (6, 1.6, 1.1, 1.6),
    (3, 1.3, 1.1, 1.3, 1.1, 1.3),
)
LINE_WIDTH = 1.7


def colour(place: int, palette: Palette) -> str:
    """Return the colour of a method by its place."""
    return palette.classes[place % len(palette.classes)]


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


def line(place: int, palette: Palette) -> dict[str, Any]:
    """Return the look of a method's line, as matplotlib takes it."""
    pattern = dashes(place)
    style: Any = (0, pattern) if pattern else "solid"
    return {"color": colour(place, palette), "ls": style, "lw": LINE_WIDTH, **point(place, palette)}


def point(place: int, palette: Palette, size: float = 5.2) -> dict[str, Any]:
    """Return the look of a method's mark, as matplotlib takes it."""
    shape = MARKERS[mark(place)]
    return {
        "marker": shape,
        "ms": 1.3 * size if shape in "PX*" else size,
        "mfc": colour(place, palette),
        "mec": palette.paper,
        "mew": 0.6,
    }
