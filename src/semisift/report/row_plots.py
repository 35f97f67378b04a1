"""The pictures of the rows: box plots of single features, and a map on two directions."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from semisift._words import count, figure, listed, visible
from semisift.outcome import Outcome
from semisift.report.figures import Pen, ReportFigure, padded
from semisift.report.palette import MARKERS
from semisift.report.rows import Group, Projection, RowLabels, group_rows, project, values_of

MOST_BOXES = 12
MOST_PROJECTED = 20
MOST_CLASSES_SAID = 4
FEW_POINTS = 5
MANY_POINTS = 40
WHISKERS = (5, 25, 50, 75, 95)
KINDS = {
    "labelled": "Median of the labelled rows",
    "given": "Median of the rows that were given a label",
    "unlabelled": "Median of the unlabelled rows",
}


# --- box plots ------------------------------------------------------------------------------------


def pictures_of_features(outcome: Outcome, rows: RowLabels | None, X: Any) -> list[ReportFigure]:
    """Return the top features by class; nothing without rows."""
    if rows is None or X is None:
        return []
    groups = group_rows(rows)
    best = np.flatnonzero(~np.isnan(outcome.scores))[:MOST_BOXES] if groups else np.arange(0)
    values = values_of(X, outcome.columns[best])
    return [
        _picture_of_boxes(place + 1, visible(outcome.features[place]), values[:, k], groups)
        for k, place in enumerate(best.tolist())
    ]


def _picture_of_boxes(
    rank: int, name: str, values: NDArray[np.float64], groups: Sequence[Group]
) -> ReportFigure:
    said = []
    for kind, start in KINDS.items():
        medians = [
            f"{figure(float(np.median(values[group.rows])))}"
            + ("" if kind == "unlabelled" else f" in {group.name}")
            + f" ({count(len(group.rows), 'row')})"
            for group in groups
            if group.kind == kind
        ]
        said += [f"{start}: {listed(medians)}."] if medians else []
    size = (300, round(30 + 15 * (max(_lanes(groups)) + 1.4)))
    draw = partial(draw_boxes, values, groups)
    return ReportFigure(f"box-{rank}", name, " ".join(said), size, (92, 10, 4, 26), draw)


def draw_boxes(values: NDArray[np.float64], groups: Sequence[Group], pen: Pen) -> None:
    """Draw one feature: a lane for each group of rows, class under class."""
    ax = pen.bare(y=None)
    lanes = _lanes(groups)
    shown: list[float] = []
    for group, y in zip(groups, lanes, strict=True):
        found = values[group.rows]
        shown += _draw_lane(pen, found[np.isfinite(found)], group, y)
    ax.set_xlim(*padded(np.array(shown), 0.04, 0.5))
    ax.set_ylim(max(lanes) + 0.7, -0.7)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    for place in dict.fromkeys(group.place for group in groups):
        its = [(group, y) for group, y in zip(groups, lanes, strict=True) if group.place == place]
        pen.name_lane(its[0][0].name, 13, (its[0][1] + its[-1][1]) / 2)


def _lanes(groups: Sequence[Group]) -> list[float]:
    """Return the heights of the lanes: those of one class side by side, a gap between classes."""
    places, y = [], 0.0
    for number, group in enumerate(groups):
        if number:
            y += 1.0 if group.place == groups[number - 1].place else 1.5
        places.append(y)
    return places


def _draw_lane(pen: Pen, values: NDArray[np.float64], group: Group, y: float) -> list[float]:
    """Draw points, a box or both; return the least and the largest value drawn."""
    if not len(values):
        return []
    own = group.kind == "labelled"
    drawn: list[float] = []
    if len(values) > FEW_POINTS:
        drawn += draw_box(pen.ax, values, y, pen.palette.of_class(group.place), filled=own)
    if len(values) <= FEW_POINTS or (own and len(values) <= MANY_POINTS):
        look = _mark(group, pen, 5)
        pen.ax.plot(values, y + spread(len(values)), zorder=4, clip_on=False, **look)
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


def _mark(group: Group, pen: Pen, size: float) -> dict[str, Any]:
    """Return the look of rows: filled where they carry their label, else hollow."""
    colour, own = pen.palette.of_class(group.place), group.kind == "labelled"
    shape = MARKERS[group.place or 0]
    return {
        "marker": shape,
        "ms": 1.35 * size if shape in "PX*" else size,
        "mfc": colour if own else "none",
        "mec": pen.palette.paper if own else colour,
        "mew": 0.6 if own else 0.9,
        "ls": "none",
    }


# --- the map --------------------------------------------------------------------------------------


def picture_of_rows(outcome: Outcome, rows: RowLabels | None, X: Any) -> ReportFigure | None:
    """Return the rows on two directions of the selected features; None where there are not two."""
    if rows is None or X is None:
        return None
    is_scored = ~np.isnan(outcome.scores)
    is_enough = (outcome.selected & is_scored).sum() > 1
    chosen = np.flatnonzero(outcome.selected) if is_enough else outcome.listed
    chosen = chosen[is_scored[chosen]][:MOST_PROJECTED]
    groups, projection = group_rows(rows), project(values_of(X, outcome.columns[chosen]), rows)
    if projection is None or not groups:
        return None
    words = _say_map(projection, rows, groups, "selected" if is_enough else "best")
    draw = partial(draw_map, projection, groups)
    return ReportFigure("map", "Rows on two directions", words, (420, 360), (46, 8, 8, 40), draw)


def _say_map(projection: Projection, rows: RowLabels, groups: Sequence[Group], which: str) -> str:
    n_shown, (first, second) = int(projection.shown.sum()), projection.shares
    shown = f"{n_shown:,} of " if n_shown < rows.n_rows else ""
    words = (
        f"{shown}{count(rows.n_rows, 'row')} by the first two principal components of the "
        f"{projection.n_features} {which} features, each scaled to the same spread. The first "
        f"direction holds {first:.0%} of their variance, the second {second:.0%}."
    )
    labelled = [group for group in groups if group.kind == "labelled"]
    if 1 < len(labelled) <= MOST_CLASSES_SAID:
        middles = [
            f"{figure(float(np.median(projection.positions[group.rows, 0])))} for {group.name}"
            for group in labelled
        ]
        words += f" Along the first, the median of the labelled rows is {listed(middles)}."
    return words


def draw_map(projection: Projection, groups: Sequence[Group], pen: Pen) -> None:
    """Draw the rows on two directions: labelled ones filled, the others hollow."""
    first, second = (f"direction, {share:.0%} of the variance" for share in projection.shares)
    ax = pen.bare(f"first {first}", f"second {second}")
    for group in sorted(groups, key=lambda group: group.kind == "labelled"):
        rows = group.rows[projection.shown[group.rows]]
        own = group.kind == "labelled"
        look: Any = {"alpha": 1 if own else 0.75, "zorder": 4 if own else 3, "clip_on": False}
        ax.plot(*projection.positions[rows].T, **look, **_mark(group, pen, 6.8 if own else 3.6))
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(5))
