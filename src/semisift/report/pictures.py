"""The pictures of the page with the words that stand for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from semisift._words import count, figure, listed, visible
from semisift.outcome import Outcome
from semisift.report.curve import Curve
from semisift.report.intervals import RankIntervals, draw_intervals, rank_intervals
from semisift.report.plots import draw_scores
from semisift.report.row_plots import draw_boxes, draw_map, lanes
from semisift.report.rows import (
    MOST_CLASSES,
    Group,
    Projection,
    RowLabels,
    group_rows,
    project,
    values_of,
)
from semisift.report.svg import THEMED, draw

MOST_BOXES = 12
MOST_PROJECTED = 20
MOST_CLASSES_SAID = 4
MOST_NARROW_WHISKERS = 12


@dataclass(frozen=True)
class Picture:
    """A picture, its title and what it shows in words; `slug` starts its ids.

    `marks` are the decisions that are marked in it.
    """

    slug: str
    title: str
    words: str
    svg: Markup
    narrow: Markup | None = None
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class RowPictures:
    """The pictures that need rows; `classes` are the names in the legend."""

    boxes: list[Picture]
    map: Picture | None
    classes: list[str]
    gives_labels: bool
    classes_left_out: str


def picture_of_scores(curve: Curve, slug: str = "scores") -> Picture:
    """Draw the scores, for a wide and for a narrow screen."""
    wide = _scores(curve, slug, (760, 350), n_names=8, label=slug)
    narrow = _scores(curve, f"{slug}-narrow", (340, 300), n_names=5, label=slug)
    return Picture(slug, "Scores by rank", curve.words, wide, narrow, curve.marks)


def small_picture_of_scores(curve: Curve, slug: str) -> Picture:
    """Draw the scores small, for a notebook."""
    svg = _scores(curve, slug, (420, 240), n_names=0, label=slug)
    return Picture(slug, "Scores by rank", curve.words, svg, marks=curve.marks)


def _scores(curve: Curve, slug: str, size: tuple[int, int], n_names: int, label: str) -> Markup:
    return draw(
        lambda ax, write: draw_scores(ax, curve, THEMED, write, n_names),
        slug,
        size,
        (52, 6, 20, 40),
        f"{label}-words",
    )


def picture_of_intervals(outcome: Outcome, slug: str = "moves") -> Picture | None:
    """Draw how far the ranks move, for a wide and for a narrow screen; None if that is unknown."""
    wide, narrow = rank_intervals(outcome), rank_intervals(outcome, MOST_NARROW_WHISKERS)
    if wide is None or narrow is None:
        return None
    words = wide.words
    if len(narrow) < len(wide):
        words += f" On narrow screens the best {MOST_NARROW_WHISKERS} are drawn."
    svg = _intervals(wide, slug, 760, slug, room=190)
    small = _intervals(narrow, f"{slug}-narrow", 340, slug)
    return Picture(slug, "Ranks on halves of the rows", words, svg, small, wide.marks)


def _intervals(
    intervals: RankIntervals, slug: str, width: int, label: str, room: int | None = None
) -> Markup:
    return draw(
        lambda ax, write: draw_intervals(ax, intervals, THEMED, write, room),
        slug,
        (width, (18 if room else 32) * len(intervals) + 50),
        (room or 8, 6, 6, 40),
        f"{label}-words",
    )


def pictures_of_rows(outcome: Outcome, rows: RowLabels, X: Any) -> RowPictures:
    """Draw the top features by class, and the rows on two directions of the selected ones."""
    groups = group_rows(rows)
    is_scored = ~np.isnan(outcome.scores)
    best = np.flatnonzero(is_scored)[:MOST_BOXES] if groups else np.arange(0)
    values = values_of(X, outcome.columns[best])
    n_classes = rows.labels.n_classes
    left_out = ""
    if n_classes > MOST_CLASSES:
        left_out = f"The {MOST_CLASSES} largest of {n_classes:,} classes are drawn."
    is_enough = (outcome.selected & is_scored).sum() > 1
    chosen = np.flatnonzero(outcome.selected) if is_enough else outcome.listed
    chosen = chosen[is_scored[chosen]][:MOST_PROJECTED]
    which = "selected" if is_enough else "best"
    return RowPictures(
        boxes=[
            picture_of_boxes(place + 1, visible(outcome.features[place]), values[:, k], groups)
            for k, place in enumerate(best.tolist())
        ],
        map=picture_of_rows(values_of(X, outcome.columns[chosen]), rows, groups, which),
        classes=[visible(rows.labels.classes[code]) for code in rows.shown_classes],
        gives_labels=rows.given is not None,
        classes_left_out=left_out,
    )


def picture_of_boxes(
    rank: int, name: str, values: NDArray[np.float64], groups: Sequence[Group]
) -> Picture:
    """Draw one feature by class."""
    slug = f"box-{rank}"
    svg = draw(
        lambda ax, write: draw_boxes(ax, values, groups, THEMED, write),
        slug,
        (300, round(30 + 15 * (max(lanes(groups)) + 1.4))),
        (92, 10, 4, 26),
        f"{slug}-title {slug}-words",
    )
    return Picture(slug, name, _say_medians(values, groups), svg)


def _say_medians(values: NDArray[np.float64], groups: Sequence[Group]) -> str:
    kinds = {
        "labelled": "Median of the labelled rows",
        "given": "Median of the rows that were given a label",
        "unlabelled": "Median of the unlabelled rows",
    }
    said = []
    for kind, start in kinds.items():
        parts = [
            f"{figure(float(np.median(values[group.rows])))}"
            + ("" if kind == "unlabelled" else f" in {group.name}")
            + f" ({count(len(group.rows), 'row')})"
            for group in groups
            if group.kind == kind
        ]
        if parts:
            said.append(f"{start}: {listed(parts)}.")
    return " ".join(said)


def picture_of_rows(
    values: NDArray[np.float64], rows: RowLabels, groups: Sequence[Group], which: str = "best"
) -> Picture | None:
    """Draw the rows on the two principal directions; None where there are not two."""
    projection = project(values, rows)
    if projection is None or not groups:
        return None
    svg = draw(
        lambda ax, _: draw_map(ax, projection, groups, THEMED),
        "map",
        (420, 360),
        (46, 8, 8, 40),
        "map-words",
    )
    words = _say_map(projection, rows, groups, which)
    return Picture("map", "Rows on two directions", words, svg)


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
