"""The pictures of the page with the words that stand for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from semisift._words import count, figure, listed, visible
from semisift.report.curve import Curve
from semisift.report.plots import draw_scores
from semisift.report.ranking import Ranking
from semisift.report.row_plots import draw_boxes, draw_map, lanes
from semisift.report.rows import (
    MOST_CLASSES,
    Group,
    Projection,
    Rows,
    group_rows,
    project,
    values_of,
)
from semisift.report.svg import THEMED, Names, new_axes, new_figure, themed, to_svg
from semisift.report.whiskers import Moves, draw_whiskers

MOST_BOXES = 12
MOST_PROJECTED = 20
MOST_CLASSES_SAID = 4
MOST_NARROW_WHISKERS = 12


@dataclass(frozen=True)
class Picture:
    """A picture, its title and what it shows in words; `slug` starts its ids."""

    slug: str
    title: str
    words: str
    svg: Markup
    narrow: Markup | None = None


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
    wide = _scores(curve, slug, 760, 350, n_names=8)
    narrow = _scores(curve, f"{slug}-narrow", 340, 300, n_names=5, label=slug)
    return Picture(slug, "Scores by rank", curve.words, wide, narrow)


def _scores(
    curve: Curve, slug: str, width: int, height: int, n_names: int, label: str | None = None
) -> Markup:
    names = Names()
    with themed():
        sheet = new_figure(width, height)
        ax = new_axes(sheet, width, height, left=52, right=6, top=20, bottom=40)
        draw_scores(ax, curve, THEMED, names, n_names)
        return to_svg(sheet, slug, names, f"{label or slug}-words")


def small_picture_of_scores(curve: Curve, slug: str) -> Picture:
    """Draw the scores small, for a notebook."""
    svg = _scores(curve, slug, 420, 240, n_names=0)
    return Picture(slug, "Scores by rank", curve.words, svg)


def picture_of_moves(moves: Moves, slug: str = "moves") -> Picture:
    """Draw how far the ranks move, for a wide and for a narrow screen."""
    wide = _moves(moves, slug, 760, slug, room=190)
    narrow = _moves(moves.head(MOST_NARROW_WHISKERS), f"{slug}-narrow", 340, slug)
    words = moves.words
    if len(moves) > MOST_NARROW_WHISKERS:
        words += f" On narrow screens the best {MOST_NARROW_WHISKERS} are drawn."
    return Picture(slug, "Ranks on halves of the rows", words, wide, narrow)


def _moves(moves: Moves, slug: str, width: int, label: str, room: int | None = None) -> Markup:
    names, height = Names(), (18 if room else 32) * len(moves) + 50
    with themed():
        sheet = new_figure(width, height)
        ax = new_axes(sheet, width, height, left=room or 8, right=6, top=6, bottom=40)
        draw_whiskers(ax, moves, THEMED, names, room)
        return to_svg(sheet, slug, names, f"{label}-words")


def pictures_of_rows(ranking: Ranking, rows: Rows, X: Any, n_selected: int) -> RowPictures:
    """Draw the top features by class, and the rows on two directions of them."""
    groups = group_rows(rows)
    usable = np.flatnonzero(~np.isnan(ranking.scores[:MOST_PROJECTED]))
    n_projected = min(MOST_PROJECTED, max(2, n_selected))
    values = values_of(X, ranking.columns[usable])
    boxes = [
        picture_of_boxes(int(place) + 1, visible(ranking.features[place]), values[:, k], groups)
        for k, place in enumerate(usable[:MOST_BOXES])
        if groups
    ]
    n_classes = rows.labels.n_classes
    left_out = ""
    if n_classes > MOST_CLASSES:
        left_out = f"The {MOST_CLASSES} largest of {n_classes:,} classes are drawn."
    return RowPictures(
        boxes=boxes,
        map=picture_of_rows(values[:, :n_projected], rows, groups),
        classes=[visible(rows.labels.classes[code]) for code in rows.shown_classes],
        gives_labels=rows.given is not None,
        classes_left_out=left_out,
    )


def picture_of_boxes(
    rank: int, name: str, values: NDArray[np.float64], groups: Sequence[Group]
) -> Picture:
    """Draw one feature by class."""
    slug, names = f"box-{rank}", Names()
    height = round(30 + 15 * (max(lanes(groups)) + 1.4))
    with themed():
        sheet = new_figure(300, height)
        ax = new_axes(sheet, 300, height, left=92, right=10, top=4, bottom=26)
        draw_boxes(ax, values, groups, THEMED, names)
        svg = to_svg(sheet, slug, names, f"{slug}-title {slug}-words")
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
    values: NDArray[np.float64], rows: Rows, groups: Sequence[Group]
) -> Picture | None:
    """Draw the rows on the two principal directions; None where there are not two."""
    projection = project(values, rows)
    if projection is None or not groups:
        return None
    names = Names()
    with themed():
        sheet = new_figure(420, 360)
        ax = new_axes(sheet, 420, 360, left=46, right=8, top=8, bottom=40)
        draw_map(ax, projection, groups, THEMED)
        svg = to_svg(sheet, "map", names, "map-words")
    return Picture("map", "Rows on two directions", _say_map(projection, rows, groups), svg)


def _say_map(projection: Projection, rows: Rows, groups: Sequence[Group]) -> str:
    n_shown, (first, second) = int(projection.shown.sum()), projection.shares
    shown = f"{n_shown:,} of " if n_shown < rows.n_rows else ""
    words = (
        f"{shown}{count(rows.n_rows, 'row')} by the first two principal components of the best "
        f"{projection.n_features} features, each scaled to the same spread. The first direction "
        f"holds {first:.0%} of their variance, the second {second:.0%}."
    )
    labelled = [group for group in groups if group.kind == "labelled"]
    if 1 < len(labelled) <= MOST_CLASSES_SAID:
        middles = [
            f"{figure(float(np.median(projection.positions[group.rows, 0])))} for {group.name}"
            for group in labelled
        ]
        words += f" Along the first, the median of the labelled rows is {listed(middles)}."
    return words
