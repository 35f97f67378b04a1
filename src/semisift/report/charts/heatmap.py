"""The best features by rows: a cell for each, coloured by how far it is from the mean.

The page draws it as a grid, whose cells are read by pointer and by keyboard and follow the theme.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.report._page import paragraph
from semisift.report._rows import Group, RowLabels, group_rows, values_of
from semisift.report.charts.row_map import project
from semisift.selection import RankingResult
from semisift.utils._text import printable_name

MAX_FEATURES, MAX_LABELLED, MAX_OTHERS, MAX_NAMED = 20, 100, 200, 3

# Steps of the colours in standard deviations: so many on either side of the mean.
STEP, N_STEPS = 0.5, 5

# Units of a picture on a wide screen, for what is written above it.
WIDTH, LETTER_WIDTH, MARK_WIDTH = 640, 7, 16


class Block(NamedTuple):
    """Columns of one class; `place` is the class's place among those shown, None without one.

    `room` is what there is room for above it: the "mark" of the class, its "name" too, or nothing.
    """

    place: int | None
    name: str
    start: int
    end: int
    room: str


class Cells(NamedTuple):
    """The columns of the picture; each is a row or the mean of neighbouring rows."""

    rows: list[NDArray[np.intp]]
    groups: list[Group]


def figure(outcome: RankingResult, rows: RowLabels | None, X: Any) -> dict[str, Any] | None:
    """Return the best features by rows; None without rows or without a feature that varies.

    Returns
    -------
    dict
        Names of the features and what each column shows; for each feature a line of its mean, its
        standard deviation and its values; for each level of colour the runs of cells that have it,
        as lines in the units of cells; blocks of columns; runs of labelled rows; what the levels
        mean; and words.
    """
    if rows is None or X is None:
        return None
    best = np.flatnonzero(~np.isnan(outcome.scores))[:MAX_FEATURES]
    values = values_of(X, outcome.columns[best])
    values = np.where(np.isfinite(values), values, np.nan)
    means = _means(values)
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = np.sqrt(_means((values - means) ** 2))
    varies = np.isfinite(spreads) & (spreads > 0)
    best, values, means, spreads = best[varies], values[:, varies], means[varies], spreads[varies]
    cells = order_rows(rows, values)
    if not len(best) or not cells.rows:
        return None
    table = np.array([_means(values[its]) for its in cells.rows]).T
    standard = (values - means) / spreads
    names = [printable_name(name) for name in outcome.features[best]]
    lines = np.column_stack([means, spreads, table])
    return {
        "names": names,
        "columns": [_describe(rows, *each) for each in zip(*cells, strict=True)],
        "lines": [" ".join("" if v != v else f"{v:.4g}" for v in line) for line in lines.tolist()],
        "paths": _paths((table - means[:, None]) / spreads[:, None]),
        "blocks": _blocks(cells.groups),
        "labelled": _runs(np.array([group.is_labelled for group in cells.groups])),
        "scale": scale_of(STEP),
        "words": _words(rows, cells, names, standard),
    }


def order_rows(rows: RowLabels, values: NDArray[np.float64]) -> Cells:
    """Order the rows by class and label, and put neighbours together where there are many.

    Labelled rows of a class come first, then those that were given its label, the surest first.
    Rows without any label are last, along the first principal direction of `values`.
    """
    groups = group_rows(rows)
    n_at_once = {}
    for own, most in ((True, MAX_LABELLED), (False, MAX_OTHERS)):
        n_rows = sum(len(group.rows) for group in groups if group.is_labelled == own)
        n_at_once[own] = max(1, math.ceil(n_rows / most))
    cells = Cells([], [])
    for group in groups:
        ordered, at_once = group.rows, n_at_once[group.is_labelled]
        if group.kind == "given" and rows.confidence is not None:
            ordered = ordered[np.argsort(-rows.confidence[ordered], kind="stable")]
        elif group.kind == "unlabelled" and (found := project(values, rows)) is not None:
            ordered = ordered[np.argsort(found.positions[ordered, 0], kind="stable")]
        parts = np.array_split(ordered, math.ceil(len(ordered) / at_once))
        cells.rows.extend(parts)
        cells.groups.extend([group] * len(parts))
    return cells


def scale_of(step: float) -> list[str]:
    """Return what the levels of colour mean where they are so far apart."""
    steps = range(-N_STEPS, N_STEPS + 1)
    return [f"{step * each:g}".replace("-", "\N{MINUS SIGN}") for each in steps]


def levels_of(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the levels of colour, from 0; NaN where there is no value."""
    return np.clip(np.round(steps), -N_STEPS, N_STEPS) + N_STEPS


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column without missing values; NaN where there is no other."""
    known = ~np.isnan(values)
    number = np.where(known.any(axis=0), known.sum(axis=0), np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(known, values, 0).sum(axis=0) / number


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return start and length of each run of True.

    Examples
    --------
    >>> _runs(np.array([True, True, False, True]))
    [(0, 2), (3, 1)]
    """
    edges = np.flatnonzero(np.diff([0, *flags.astype(int), 0])).reshape(-1, 2)
    return [(start, end - start) for start, end in edges.tolist()]


def _paths(standard: NDArray[np.float64]) -> list[tuple[int, str]]:
    """Return the runs of cells of each level, line by line; cells without a value have none."""
    levels, paths = levels_of(standard / STEP), {}
    for level in range(2 * N_STEPS + 1):
        paths[level] = "".join(
            f"M{start} {line}.5h{length}"
            for line, own in enumerate(levels == level)
            for start, length in _runs(own)
        )
    return [(level, path) for level, path in paths.items() if path]


def _blocks(groups: list[Group]) -> list[Block]:
    """Return the runs of columns of one class."""
    places = [-1 if group.place is None else group.place for group in groups]
    edges = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
    blocks = []
    for start, end in pairwise(edges):
        width, name = WIDTH * (end - start) / len(places) - MARK_WIDTH, groups[start].name
        room = "" if width < 0 else "mark" if width < LETTER_WIDTH * len(name) else "name"
        blocks.append(Block(groups[start].place, name, start, end, room))
    return blocks


def _describe(rows: RowLabels, its: NDArray[np.intp], group: Group) -> str:
    """Return what a column shows: a row, or the mean of some."""
    first, last = int(its[0]), int(its[-1])
    if len(its) == 1:
        return f"{rows.name(first)}, {rows.class_of(first)}"
    return f"mean of {len(its):,} rows ({rows.name(first)} … {rows.name(last)}), {group.words}"


def _words(rows: RowLabels, cells: Cells, names: list[str], standard: NDArray[np.float64]) -> str:
    """Return what the picture shows, and in which class the first features are highest."""
    members: dict[str, list[NDArray[np.intp]]] = {}
    for its, group in zip(cells.rows, cells.groups, strict=True):
        if group.place is not None:
            members.setdefault(group.name, []).append(its)
    means = {name: _means(standard[np.concatenate(its)]) for name, its in members.items()}
    highest = []
    for at, feature in enumerate(names[:MAX_NAMED] if len(means) > 1 else ()):
        known = {name: float(mean[at]) for name, mean in means.items() if not np.isnan(mean[at])}
        if known:
            name = max(known, key=known.__getitem__)
            highest.append((feature, name, known[name]))
    n_labelled = [
        len(its) for its, group in zip(cells.rows, cells.groups, strict=True) if group.is_labelled
    ]
    n_rows, missing = [len(its) for its in cells.rows], np.isnan(standard)
    return paragraph("heatmap", len(names), rows, missing, n_rows, n_labelled, highest)
