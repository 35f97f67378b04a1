"""The pictures of the rows: box plots of single features, and a map on two directions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from semisift.report.palette import Palette, WriteName, bare, marker
from semisift.report.rows import Group, Projection

FEW_POINTS = 5
MANY_POINTS = 40
WHISKERS = (5, 25, 50, 75, 95)


def draw_boxes(
    ax: Axes,
    values: NDArray[np.float64],
    groups: Sequence[Group],
    palette: Palette,
    write: WriteName,
) -> None:
    """Draw one feature: a lane for each group of rows, class under class."""
    bare(ax, palette)
    ax.yaxis.set_visible(False)
    ax.spines["left"].set_visible(False)
    places = lanes(groups)
    shown: list[float] = []
    for group, y in zip(groups, places, strict=True):
        shown += _draw_lane(ax, _finite(values[group.rows]), group, y, palette)
    low, high = (min(shown), max(shown)) if shown else (0.0, 1.0)
    pad = 0.04 * (high - low) or 0.5
    ax.set_xlim(low - pad, high + pad)
    ax.set_ylim(max(places) + 0.7, -0.7)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    for place in dict.fromkeys(group.place for group in groups):
        its = [(group, y) for group, y in zip(groups, places, strict=True) if group.place == place]
        ax.annotate(
            write(its[0][0].name, 13),
            (0, (its[0][1] + its[-1][1]) / 2),
            xycoords=("axes fraction", "data"),
            xytext=(-8, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color=palette.ink,
            annotation_clip=False,
        )


def lanes(groups: Sequence[Group]) -> list[float]:
    """Return the heights of the lanes: those of one class side by side, a gap between classes."""
    places, y = [], 0.0
    for number, group in enumerate(groups):
        if number:
            y += 1.0 if group.place == groups[number - 1].place else 1.5
        places.append(y)
    return places


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[np.isfinite(values)]


def _draw_lane(
    ax: Axes, values: NDArray[np.float64], group: Group, y: float, palette: Palette
) -> list[float]:
    """Draw points, a box or both; return the least and the largest value drawn."""
    if not len(values):
        return []
    colour = palette.of_class(group.place)
    own = group.kind == "labelled"
    drawn: list[float] = []
    if len(values) > FEW_POINTS:
        drawn += draw_box(ax, values, y, colour, filled=own)
    if len(values) <= FEW_POINTS or (own and len(values) <= MANY_POINTS):
        mark = _mark(group, palette, 5)
        ax.plot(values, y + spread(len(values)), ls="none", zorder=4, clip_on=False, **mark)
        drawn += [values.min(), values.max()]
    return drawn


def draw_box(
    ax: Axes, values: NDArray[np.float64], y: float, colour: str, *, filled: bool
) -> list[float]:
    """Draw a box with whiskers, filled or hatched; return the ends of the whiskers."""
    low, first, middle, third, high = np.percentile(values, WHISKERS).tolist()
    ax.plot([low, first], [y, y], color=colour, lw=1)
    ax.plot([third, high], [y, y], color=colour, lw=1)
    place: Any = ((first, y - 0.36), third - first, 0.72)
    hatch = None if filled else "//"
    ax.add_patch(Rectangle(*place, ec=colour, lw=1, zorder=2, fc="none", hatch=hatch))
    if filled:
        ax.add_patch(Rectangle(*place, fc=colour, alpha=0.3, lw=0))
    ax.plot([middle, middle], [y - 0.36, y + 0.36], color=colour, lw=2.6, zorder=3)
    return [low, high]


def spread(n_points: int) -> NDArray[np.floating]:
    """Spread points across a lane by the golden ratio: evenly, and the same in every run."""
    return (np.arange(n_points) * 0.618 % 1 - 0.5) * (0.5 if n_points > 1 else 0)


def _mark(group: Group, palette: Palette, size: float) -> dict[str, Any]:
    colour = palette.of_class(group.place)
    own = group.kind == "labelled"
    return {
        "marker": marker(group.place),
        "ms": 1.35 * size if marker(group.place) in "PX*" else size,
        "mfc": colour if own else "none",
        "mec": palette.paper if own else colour,
        "mew": 0.6 if own else 0.9,
    }


def draw_map(ax: Axes, projection: Projection, groups: Sequence[Group], palette: Palette) -> None:
    """Draw the rows on two directions: labelled ones filled, the others hollow."""
    bare(ax, palette)
    for group in sorted(groups, key=lambda group: group.kind == "labelled"):
        rows = group.rows[projection.shown[group.rows]]
        own = group.kind == "labelled"
        ax.plot(
            *projection.positions[rows].T,
            ls="none",
            clip_on=False,
            alpha=1 if own else 0.75,
            zorder=4 if own else 3,
            **_mark(group, palette, 6.8 if own else 3.6),
        )
    first, second = projection.shares
    ax.set_xlabel(f"first direction, {first:.0%} of the variance", color=palette.muted)
    ax.set_ylabel(f"second direction, {second:.0%} of the variance", color=palette.muted)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(5))
