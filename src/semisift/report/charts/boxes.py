"""Box plots: a feature by class, with the labelled rows beside the others."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from semisift.report._figure import ReportFigure
from semisift.report._page import paragraph
from semisift.report._rows import Group, RowLabels, group_rows, values_of
from semisift.report._style import FigureStyle, padded, row_points
from semisift.selection import RankingResult
from semisift.utils._text import format_number, plural, printable_name

MAX_BOXES = 12

# Up to so many rows are points alone; labelled ones are points beside their box up to the second.
MIN_POINTS, MANY_POINTS = 5, 40
WHISKERS = (5, 25, 50, 75, 95)


class Lane(NamedTuple):
    """Rows of one kind and class: their finite values, and where they are drawn."""

    group: Group
    rows: NDArray[np.intp]
    values: NDArray[np.float64]
    y: float

    @property
    def has_box(self) -> bool:
        """Whether there are enough rows for a box."""
        return len(self.values) > MIN_POINTS

    @property
    def has_points(self) -> bool:
        """Whether there are few enough rows to draw each."""
        return 0 < len(self.values) <= (MANY_POINTS if self.group.is_labelled else MIN_POINTS)


def figures(outcome: RankingResult, rows: RowLabels | None, X: Any) -> list[ReportFigure]:
    """Return the top features by class; nothing without rows."""
    groups = [] if rows is None or X is None else group_rows(rows)
    best = np.flatnonzero(~np.isnan(outcome.scores))[:MAX_BOXES] if groups else np.arange(0)
    if rows is None or not len(best):
        return []
    values = values_of(X, outcome.columns[best])
    return [
        _figure(place + 1, printable_name(outcome.features[place]), values[:, k], groups, rows)
        for k, place in enumerate(best.tolist())
    ]


def _figure(
    rank: int, name: str, values: NDArray[np.float64], groups: Sequence[Group], rows: RowLabels
) -> ReportFigure:
    lanes = summarize(values, groups)
    medians: dict[str, list[str]] = {"labelled": [], "given": [], "unlabelled": []}
    for group in groups:
        known = values[group.rows][~np.isnan(values[group.rows])]
        middle = format_number(float(np.median(known)) if len(known) else np.nan)
        of = "" if group.kind == "unlabelled" else f" in {group.name}"
        medians[group.kind].append(f"{middle}{of} ({plural(len(known), 'row')})")
    words = paragraph("boxes", medians, int(np.isnan(values).sum()))
    size = (300.0, float(round(30 + 15 * (lanes[-1].y + 1.4))))
    margins, tips = (92.0, 10.0, 4.0, 26.0), [tip for lane in lanes for tip in _tips(lane, rows)]
    return ReportFigure(f"box-{rank}", name, words, draw, lanes, size, margins, tips=tips)


def summarize(values: NDArray[np.float64], groups: Sequence[Group]) -> list[Lane]:
    """Return the lanes of a feature: those of one class side by side, space between classes."""
    lanes: list[Lane] = []
    for group in groups:
        y = 0.0
        if lanes:
            y = lanes[-1].y + (1.0 if group.place == lanes[-1].group.place else 1.5)
        rows = group.rows[np.isfinite(values[group.rows])]
        lanes.append(Lane(group, rows, values[rows], y))
    return lanes


def _tips(lane: Lane, rows: RowLabels) -> list[tuple[float, float, str]]:
    """Return the quartiles of a box, and the name and value of each single row."""
    tips, group = [], lane.group
    if lane.has_box:
        first, middle, third = np.percentile(lane.values, (25, 50, 75)).tolist()
        text = (
            f"{group.words}, {plural(len(lane.rows), 'row')}: median {format_number(middle)}, "
            f"middle half {format_number(first)} to {format_number(third)}"
        )
        tips.append((middle, lane.y, text))
    if lane.has_points:
        heights = (lane.y + spread(len(lane.rows))).tolist()
        tips += [
            (value, y, f"{rows.name(row)}: {format_number(value)} ({rows.class_of(row)})")
            for row, value, y in zip(lane.rows.tolist(), lane.values.tolist(), heights, strict=True)
        ]
    return tips


def draw(ax: Axes, lanes: Sequence[Lane], style: FigureStyle) -> None:
    """Draw one feature: a lane for each group of rows, class under class."""
    style.clean_axes(ax, y=None)
    shown: list[float] = []
    for lane in lanes:
        group, values = lane.group, lane.values
        if lane.has_box:
            colour = style.palette.of_class(group.place)
            shown += draw_box(ax, values, lane.y, colour, filled=group.is_labelled)
        if lane.has_points:
            look = row_points(group.place, group.is_labelled, style.palette, 5)
            ax.plot(values, lane.y + spread(len(values)), zorder=4, clip_on=False, **look)
            shown += [values.min(), values.max()]
    ax.set_xlim(*padded(shown, 0.04, 0.5))
    ax.set_ylim(lanes[-1].y + 0.7, -0.7)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    for place in dict.fromkeys(lane.group.place for lane in lanes):
        own = [lane for lane in lanes if lane.group.place == place]
        style.name_lane(ax, own[0].group.name, 13, (own[0].y + own[-1].y) / 2)


def draw_box(
    ax: Axes, values: NDArray[np.float64], y: float, colour: str, *, filled: bool
) -> list[float]:
    """Draw a box with whiskers, filled or hatched; return the ends of the whiskers."""
    low, first, middle, third, high = np.percentile(values, WHISKERS).tolist()
    for ends in ([low, first], [third, high]):
        ax.plot(ends, [y, y], color=colour, lw=1)
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
