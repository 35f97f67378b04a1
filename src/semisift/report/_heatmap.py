"""The best features by rows: a cell for each, coloured by how far it is from the mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.report._rows import GROUPS, Group, RowLabels, group_rows, project, values_of
from semisift.selection import Outcome
from semisift.utils._text import join, plural, printable_name, shorten

MOST_FEATURES = 20
MOST_LABELLED = 100
MOST_OTHERS = 200
MOST_SAID = 3

# Steps of the colours in standard deviations: so many on either side of the mean.
STEP = 0.5
N_STEPS = 5

# Units of a picture on a wide screen, for what is written above it.
WIDTH = 640
LETTER_WIDTH = 7
MARK_WIDTH = 16


class Block(NamedTuple):
    """Columns of one class; `place` is the class's place among those shown, None without one."""

    place: int | None
    name: str
    start: int
    end: int


class Cells(NamedTuple):
    """The columns of the picture; each is a row or the mean of neighbouring rows."""

    rows: list[NDArray[np.intp]]
    groups: list[Group]


@dataclass(frozen=True, eq=False)
class Heatmap:
    """What the template draws.

    Attributes
    ----------
    names : list of str
        Of the features, best first.
    columns : list of str
        What each column shows.
    values : list of str
        For each feature its mean, its standard deviation and its values, column by column.
    paths : list of (int, str)
        For each level of colour, the runs of cells that have it, as lines in the units of cells.
    blocks : list of Block
    labelled : list of (int, int)
        First column and number of columns of each run of labelled rows.
    words : str
    """

    names: list[str]
    columns: list[str]
    values: list[str]
    paths: list[tuple[int, str]]
    blocks: list[Block]
    labelled: list[tuple[int, int]]
    words: str

    @property
    def scale(self) -> list[str]:
        """What the levels of colour mean, from the lowest to the highest."""
        return levels_in_words(STEP)

    def room(self, block: Block) -> str:
        """Return what has room above a block: its "mark", "name" with it, or neither."""
        room = WIDTH * (block.end - block.start) / len(self.columns)
        if room >= MARK_WIDTH + LETTER_WIDTH * len(block.name):
            return "name"
        return "mark" if room >= MARK_WIDTH else ""


def levels_in_words(step: float) -> list[str]:
    """Return what the levels of colour mean where they are so far apart."""
    steps = range(-N_STEPS, N_STEPS + 1)
    return [f"{step * each:g}".replace("-", "\N{MINUS SIGN}") for each in steps]


def heatmap(outcome: Outcome, rows: RowLabels | None, X: object) -> Heatmap | None:
    """Return the best features by rows; None without rows or without a feature that varies.

    Parameters
    ----------
    outcome : Outcome
    rows : RowLabels or None
    X : array, frame, sparse matrix or None

    Returns
    -------
    Heatmap or None
    """
    if rows is None or X is None:
        return None
    best = np.flatnonzero(~np.isnan(outcome.scores))[:MOST_FEATURES]
    values = values_of(X, outcome.columns[best])
    values = np.where(np.isfinite(values), values, np.nan)
    means, spreads = _means_and_spreads(values)
    varies = spreads > 0
    best, values, means, spreads = best[varies], values[:, varies], means[varies], spreads[varies]
    cells = order_rows(rows, values)
    if not len(best) or not cells.rows:
        return None
    table = np.array([_mean(values[its]) for its in cells.rows]).T
    standard = (table - means[:, None]) / spreads[:, None]
    names = [printable_name(name) for name in outcome.features[best]]
    return Heatmap(
        names=names,
        columns=[_say_column(rows, *each) for each in zip(*cells, strict=True)],
        values=[
            " ".join(_number(value) for value in (mean, spread, *line))
            for mean, spread, line in zip(means, spreads, table, strict=True)
        ],
        paths=_paths(standard),
        blocks=_blocks(cells.groups),
        labelled=_runs([group.kind == "labelled" for group in cells.groups]),
        words=" ".join(_say(rows, cells, names, (values - means) / spreads)),
    )


def order_rows(rows: RowLabels, values: NDArray[np.float64]) -> Cells:
    """Order the rows by class and label, and put neighbours together where there are many.

    Labelled rows of a class come first, then those that were given its label, the surest first.
    Rows without any label are last, along the first principal direction of `values`.
    """
    groups = group_rows(rows)
    n_labelled = sum(len(group.rows) for group in groups if group.kind == "labelled")
    n_others = sum(len(group.rows) for group in groups) - n_labelled
    sizes = {True: n_labelled / MOST_LABELLED, False: n_others / MOST_OTHERS}
    cells = Cells([], [])
    for group in groups:
        ordered, at_once = group.rows, max(1, math.ceil(sizes[group.kind == "labelled"]))
        if group.kind == "given" and rows.confidence is not None:
            ordered = ordered[np.argsort(-np.asarray(rows.confidence)[ordered], kind="stable")]
        elif group.kind == "unlabelled" and (found := project(values, rows)) is not None:
            ordered = ordered[np.argsort(found.positions[ordered, 0], kind="stable")]
        parts = np.array_split(ordered, math.ceil(len(ordered) / at_once))
        cells.rows.extend(parts)
        cells.groups.extend([group] * len(parts))
    return cells


def _means_and_spreads(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of the known values; 0 where there are none."""
    known = ~np.isnan(values)
    number = np.maximum(known.sum(axis=0), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.where(known, values, 0).sum(axis=0) / number
        spreads = np.sqrt(np.where(known, (values - means) ** 2, 0).sum(axis=0) / number)
    return means, np.where(np.isfinite(spreads), spreads, 0)


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the known values of each column; NaN where there are none."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(known, values, 0).sum(axis=0) / np.where(
            known.any(axis=0), known.sum(axis=0), np.nan
        )


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


def _runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Return start and length of each run of True.

    Examples
    --------
    >>> _runs([True, True, False, True])
    [(0, 2), (3, 1)]
    """
    edges = np.flatnonzero(np.diff([0, *map(int, flags), 0]))
    return [(int(start), int(end - start)) for start, end in edges.reshape(-1, 2)]


def _paths(standard: NDArray[np.float64]) -> list[tuple[int, str]]:
    """Return the runs of cells of each level, line by line; cells without a value have none."""
    levels = np.clip(np.round(standard / STEP), -N_STEPS, N_STEPS) + N_STEPS
    paths = []
    for level in range(2 * N_STEPS + 1):
        runs = [
            f"M{start} {line}.5h{length}"
            for line, own in enumerate(levels == level)
            for start, length in _runs(own)
        ]
        if runs:
            paths.append((level, "".join(runs)))
    return paths


def _blocks(groups: Sequence[Group]) -> list[Block]:
    """Return the runs of columns of one class."""
    places = [group.place for group in groups]
    starts = [at for at in range(len(places)) if at == 0 or places[at] != places[at - 1]]
    return [
        Block(places[start], groups[start].name, start, end)
        for start, end in zip(starts, [*starts[1:], len(places)], strict=True)
    ]


def _say_column(rows: RowLabels, its: NDArray[np.intp], group: Group) -> str:
    """Say what a column shows: a row, or the mean of some."""
    if len(its) == 1:
        return f"{rows.name(int(its[0]))}, {rows.class_of(int(its[0]))}"
    first, last = rows.name(int(its[0])), rows.name(int(its[-1]))
    return f"mean of {len(its):,} rows ({first} … {last}), {GROUPS[group.kind].format(group.name)}"


def _say(
    rows: RowLabels, cells: Cells, names: list[str], standard: NDArray[np.float64]
) -> list[str]:
    """Say what the picture shows, and in which class the first features are highest."""
    n_rows = sum(len(its) for its in cells.rows)
    vary = "varies" if len(names) == 1 else "vary"
    order = "labelled rows of each class (under the line), then "
    order += "those that were given its label, the surest first"
    if rows.given is None:
        order = "labelled rows by class (under the line), then unlabelled rows, along the "
        order += "direction in which they differ most"
    words = [
        f"The {plural(len(names), 'best feature')} that {vary}, in {plural(n_rows, 'row')}: "
        f"{order}.",
        "Colours tell how far a value is from the mean of its feature, in standard deviations over "
        "all rows.",
    ]
    if n_gaps := int(np.isnan(standard).sum()):
        words.append(
            f"{plural(n_gaps, 'value')} of {standard.size:,} missing: a cell without a colour has "
            "none."
        )
    n_at_once = max(map(len, cells.rows))
    if n_at_once > 1:
        own = [
            len(its)
            for its, group in zip(cells.rows, cells.groups, strict=True)
            if group.kind == "labelled"
        ]
        alone = " Labelled rows stand for themselves." if own and max(own) == 1 else ""
        words.append(
            f"To keep the picture small, a column is the mean of up to {n_at_once:,} neighbouring "
            f"rows.{alone}"
        )
    return [*words, *_say_highest(cells, names, standard)]


def _say_highest(cells: Cells, names: list[str], standard: NDArray[np.float64]) -> list[str]:
    """Say in which class the first features are highest, counting rows that were given a label."""
    members: dict[str, list[NDArray[np.intp]]] = {}
    for its, group in zip(cells.rows, cells.groups, strict=True):
        if group.place is not None:
            members.setdefault(group.name, []).append(its)
    if len(members) < 2:
        return []
    means = {name: _mean(standard[np.concatenate(its)]) for name, its in members.items()}
    said = []
    for at, feature in enumerate(names[:MOST_SAID]):
        known = {name: float(mean[at]) for name, mean in means.items() if not np.isnan(mean[at])}
        if known:
            highest = max(known, key=known.__getitem__)
            said.append(f"{shorten(feature, 40)} in {highest} ({known[highest]:+.1f} on average)")
    return [f"Highest: {join(said)}."] if said else []
