"""The rows: which class they belong to and by whose word, box plots, and a map of them.

The rows on the two directions in which they differ most.

Rows that the pictures show of a table that does not fit into memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import draw_rows
from semisift.out_of_core._matrix import as_stored
from semisift.report._figures import Pen, ReportFigure, Tip, padded
from semisift.report._style import MARKERS
from semisift.selection import Outcome
from semisift.transduction._positive_unlabelled import with_rest
from semisift.utils._labels import Labels, parse_labels
from semisift.utils._sklearn_compat import safe_indexing
from semisift.utils._text import format_number, join, plural, printable_name

MOST_CLASSES = 8
COLUMNS_AT_ONCE = 256
MOST_BOXES = 12
FEW_POINTS = 5
MANY_POINTS = 40
WHISKERS = (5, 25, 50, 75, 95)
KINDS = {
    "labelled": "Median of the labelled rows",
    "given": "Median of the rows that were given a label",
    "unlabelled": "Median of the unlabelled rows",
}
GROUPS = {"labelled": "{}, labelled", "given": "given the label {}", "unlabelled": "unlabelled"}
Kind = Literal["labelled", "given", "unlabelled"]


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Labels of the rows, and the labels that the ranker gave to the others.

    Attributes
    ----------
    labels : Labels
    given : int array of shape (n_rows,) or None
        Class of every row in the view of the ranker; None where it gives no labels.
    confidence : array of shape (n_rows,) or None
        How sure the ranker is of these; None where it does not tell.
    distributions : array of shape (n_rows, n_classes) or None
        How likely each class is; None where it does not tell.
    row_names : sequence of str or None
        None where the rows have none.
    whole : RowLabels or None
        All rows, where these are some of them.
    """

    labels: Labels
    given: NDArray[np.intp] | None
    confidence: NDArray[np.floating] | None = None
    distributions: NDArray[np.floating] | None = None
    row_names: Sequence[str] | None = None
    whole: "RowLabels | None" = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels.codes)

    @property
    def given_counts(self) -> NDArray[np.intp] | None:
        """How many unlabelled rows the ranker put into each class."""
        if self.given is None:
            return None
        return np.bincount(self.given[self.labels.unlabelled], minlength=self.labels.n_classes)

    @property
    def shown_classes(self) -> NDArray[np.intp]:
        """Codes of the classes that the pictures show: the largest ones, in their own order."""
        if self.whole is not None:
            return self.whole.shown_classes
        sizes = self.labels.counts + (0 if self.given_counts is None else self.given_counts)
        return np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])

    @cached_property
    def names(self) -> list[str]:
        """Names of all classes as they are shown."""
        return [printable_name(name) for name in self.labels.classes]

    def name(self, row: int) -> str:
        """Return the name of a row, or its number, counted from 1."""
        return f"row {row + 1:,}" if self.row_names is None else printable_name(self.row_names[row])

    def part(self, rows: NDArray[np.integer]) -> "RowLabels":
        """Return what is known of some rows, which keep their names or numbers."""
        return RowLabels(
            Labels(self.labels.codes[rows], self.labels.classes, self.labels.rest),
            None if self.given is None else self.given[rows],
            None if self.confidence is None else np.asarray(self.confidence)[rows],
            None if self.distributions is None else np.asarray(self.distributions)[rows],
            [self.name(row) for row in rows.tolist()],
            self,
        )

    def class_of(self, row: int) -> str:
        """Say which label a row carries, or was given and how surely."""
        code = self.labels.codes[row]
        if code >= 0:
            return f"{self.names[code]}, labelled"
        if self.given is None:
            return "unlabelled"
        sure = "" if self.confidence is None else f", confidence {self.confidence[row]:.0%}"
        return f"given the label {self.names[self.given[row]]}{sure}"


@dataclass(frozen=True, eq=False)
class Group:
    """Rows that are drawn alike; `place` is the class's place among those shown."""

    kind: Kind
    place: int | None
    name: str
    rows: NDArray[np.intp]


def read_rows(
    ranker: FeatureRanker, X: Any, y: Any, row_names: Sequence[Any] | None = None
) -> RowLabels | None:
    """Read the labels of the rows; None where neither rows nor labels are known.

    Parameters
    ----------
    ranker : fitted FeatureRanker
    X : array-like, frame, sparse matrix or None
    y : array-like or None
    row_names : sequence, optional
        Else the index of a frame, unless it counts the rows.

    Returns
    -------
    RowLabels or None

    Raises
    ------
    ValueError
        If these are not the rows and labels of the fit.
    """
    if X is None and y is None:
        return None
    if y is None and hasattr(ranker, "classes_"):
        raise ValueError("y must be given with X: the labels that the ranker was fitted on.")
    if X is not None and X.shape[1] != ranker.n_features_in_:
        raise ValueError(
            f"X must have the columns of the fit: it has {X.shape[1]}, the ranker has seen "
            f"{ranker.n_features_in_}."
        )
    labels = parse_labels(y, len(y) if X is None else X.shape[0])
    names = _row_names(X, row_names, len(labels.codes))
    if labels.n_classes == 1 and hasattr(ranker, "positive_share_"):
        labels = with_rest(labels)
    transduction = getattr(ranker, "transduction_", None)
    if transduction is None:
        return RowLabels(labels, None, row_names=names)
    if len(transduction) != len(labels.codes):
        raise ValueError(
            f"X and y must be the rows of the fit: they have {len(labels.codes)} rows, the ranker "
            f"was fitted on {len(transduction)}."
        )
    if not np.isin(transduction, labels.classes).all():
        raise ValueError("y must be the labels of the fit: some classes of the ranker are absent.")
    given = np.searchsorted(labels.classes, transduction)
    confidence = getattr(ranker, "confidence_", None)
    return RowLabels(
        labels, given, confidence, getattr(ranker, "label_distributions_", None), names
    )


def _row_names(X: Any, given: Sequence[Any] | None, n_rows: int) -> list[str] | None:
    if given is not None:
        if len(given) != n_rows:
            raise ValueError(f"row_names must have a name for each of {n_rows} rows: {len(given)}.")
        return [str(name) for name in given]
    index = getattr(X, "index", None)  # of a frame of pandas
    if index is None or np.array_equal(index, np.arange(n_rows)):
        return None
    return [str(name) for name in index]


def group_rows(rows: RowLabels) -> list[Group]:
    """Split the rows of the classes that are shown: labelled, given a label, and unlabelled."""
    codes = rows.labels.codes
    unlabelled = codes < 0
    groups = []
    for place, code in enumerate(rows.shown_classes):
        name = rows.names[code]
        groups.append(Group("labelled", place, name, np.flatnonzero(codes == code)))
        if rows.given is not None:
            given = np.flatnonzero(unlabelled & (rows.given == code))
            groups.append(Group("given", place, name, given))
    if rows.given is None:
        groups.append(Group("unlabelled", None, "unlabelled", np.flatnonzero(unlabelled)))
    return [group for group in groups if len(group.rows)]


def values_of(X: Any, columns: Sequence[int] | NDArray[np.integer]) -> NDArray[np.float64]:
    """Return some columns of a frame, an array or a sparse matrix as a dense array."""
    X = X.tocsc() if issparse(X) else X if hasattr(X, "columns") else np.asarray(X)
    part = safe_indexing(X, np.asarray(columns, dtype=np.intp), axis=1)
    part = part.toarray() if issparse(part) else part
    return np.asarray(part, dtype=np.float64)


def find_constant(X: Any, columns: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Tell which of these columns have a single value besides gaps, some columns at a time."""
    X = X.tocsc() if issparse(X) else X
    constant = np.zeros(len(columns), dtype=bool)
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        values = values_of(X, columns[part])
        constant[part] = np.fmin.reduce(values, axis=0) == np.fmax.reduce(values, axis=0)
    return constant


# --- box plots ------------------------------------------------------------------------------------


def pictures_of_features(outcome: Outcome, rows: RowLabels | None, X: Any) -> list[ReportFigure]:
    """Return the top features by class; nothing without rows."""
    if rows is None or X is None:
        return []
    groups = group_rows(rows)
    best = np.flatnonzero(~np.isnan(outcome.scores))[:MOST_BOXES] if groups else np.arange(0)
    values = values_of(X, outcome.columns[best])
    return [
        _picture_of_boxes(
            place + 1, printable_name(outcome.features[place]), values[:, k], groups, rows
        )
        for k, place in enumerate(best.tolist())
    ]


def _picture_of_boxes(
    rank: int, name: str, values: NDArray[np.float64], groups: Sequence[Group], rows: RowLabels
) -> ReportFigure:
    said = []
    for kind, start in KINDS.items():
        medians = [
            f"{format_number(float(np.median(values[its]) if len(its) else np.nan))}"
            + ("" if kind == "unlabelled" else f" in {group.name}")
            + f" ({plural(len(its), 'row')})"
            for group in groups
            for its in [group.rows[~np.isnan(values[group.rows])]]
            if group.kind == kind
        ]
        said += [f"{start}: {join(medians)}."] if medians else []
    if n_gaps := int(np.isnan(values).sum()):
        said.append(f"{plural(n_gaps, 'row')} without a value.")
    size = (300, round(30 + 15 * (max(_lanes(groups)) + 1.4)))
    draw, tips = partial(draw_boxes, values, groups), _tips_of_boxes(values, groups, rows)
    margins = (92, 10, 4, 26)
    return ReportFigure(f"box-{rank}", name, " ".join(said), size, margins, draw, tips=tips)


def _tips_of_boxes(
    values: NDArray[np.float64], groups: Sequence[Group], rows: RowLabels
) -> list[Tip]:
    """Tell of each box its quartiles, and of each single row its name and value."""
    tips = []
    for group, y in zip(groups, _lanes(groups), strict=True):
        of = group.rows[np.isfinite(values[group.rows])]
        if _has_box(len(of)):
            first, middle, third = np.percentile(values[of], (25, 50, 75)).tolist()
            told = f"{GROUPS[group.kind].format(group.name)}, {plural(len(of), 'row')}"
            half = f"{format_number(first)} to {format_number(third)}"
            told += f": median {format_number(middle)}, middle half {half}"
            tips.append(Tip(middle, y, told))
        if _has_points(len(of), group):
            tips += [
                Tip(
                    values[row],
                    y + off,
                    f"{rows.name(row)}: {format_number(values[row])} ({rows.class_of(row)})",
                )
                for row, off in zip(of.tolist(), spread(len(of)).tolist(), strict=True)
            ]
    return tips


def _has_box(n_points: int) -> bool:
    return n_points > FEW_POINTS


def _has_points(n_points: int, group: Group) -> bool:
    most = MANY_POINTS if group.kind == "labelled" else FEW_POINTS
    return 0 < n_points <= most


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
    if _has_box(len(values)):
        drawn += draw_box(pen.ax, values, y, pen.palette.of_class(group.place), filled=own)
    if _has_points(len(values), group):
        look = look_of_rows(group, pen, 5)
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


def look_of_rows(group: Group, pen: Pen, size: float) -> dict[str, Any]:
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


# --- row map --------------------------------------------------------------------------------------


MOST_ROWS_SHOWN = 2000
MOST_PROJECTED = 20
MOST_CLASSES_SAID = 4


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows on the two directions in which they differ most.

    Attributes
    ----------
    positions : array of shape (n_rows, 2)
    shown : bool array of shape (n_rows,)
        A random choice of rows where there are too many; labelled ones come first.
    shares : tuple of two floats
        Share of the variance along each direction.
    n_features : int
    n_gaps : int
        Values that are missing, which count as the mean of their column.
    """

    positions: NDArray[np.float64]
    shown: NDArray[np.bool_]
    shares: tuple[float, float]
    n_features: int
    n_gaps: int


def project(values: NDArray[np.float64], rows: RowLabels) -> Projection | None:
    """Find the two principal directions of the standardised columns; None if there are none.

    Parameters
    ----------
    values : array of shape (n_rows, n_features)
    rows : RowLabels

    Returns
    -------
    Projection or None
    """
    filled = np.where(np.isfinite(values), values, np.nan)
    with np.errstate(all="ignore"):
        centred = filled - np.nanmean(filled, axis=0) if len(filled) else filled
        scale = np.sqrt(np.nanmean(centred**2, axis=0)) if len(filled) else np.zeros(0)
    varies = np.isfinite(scale) & (scale > 0)
    if varies.sum() < 2:
        return None
    standard = np.nan_to_num(centred[:, varies] / scale[varies])
    variances, directions = np.linalg.eigh(standard.T @ standard)
    directions = directions[:, [-1, -2]]
    # the sign is free: let the heaviest feature point to the right and up
    heaviest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[heaviest, [0, 1]])
    shares = variances[[-1, -2]] / variances.sum()
    rng, shown = np.random.default_rng(0), np.zeros(rows.n_rows, dtype=bool)
    order = [rng.permutation(rows.labels.labelled), rng.permutation(rows.labels.unlabelled)]
    shown[np.concatenate(order)[:MOST_ROWS_SHOWN]] = True
    return Projection(
        positions=standard @ directions,
        shown=shown,
        shares=(float(shares[0]), float(max(0.0, shares[1]))),
        n_features=int(varies.sum()),
        n_gaps=int(np.isnan(filled[:, varies]).sum()),
    )


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
    tips = [
        Tip(x, y, f"{rows.name(row)}: {rows.class_of(row)}")
        for group in groups
        for row in group.rows[projection.shown[group.rows]].tolist()
        for x, y in [projection.positions[row].tolist()]
    ]
    title, size, margins = "Rows on two directions", (420, 360), (46, 8, 8, 40)
    return ReportFigure("map", title, words, size, margins, draw, tips=tips)


def _say_map(projection: Projection, rows: RowLabels, groups: Sequence[Group], which: str) -> str:
    n_shown, (first, second) = int(projection.shown.sum()), projection.shares
    shown = f"{n_shown:,} of " if n_shown < rows.n_rows else ""
    words = (
        f"{shown}{plural(rows.n_rows, 'row')} by the first two principal components of the "
        f"{projection.n_features} {which} features, each scaled to the same spread. The first "
        f"direction holds {first:.0%} of their variance, the second {second:.0%}."
    )
    if projection.n_gaps:
        gaps = plural(projection.n_gaps, "missing value")
        words += f" {gaps} in them, taken as the mean of the feature."
    labelled = [group for group in groups if group.kind == "labelled"]
    if 1 < len(labelled) <= MOST_CLASSES_SAID:
        middles = [
            f"{format_number(float(np.median(projection.positions[group.rows, 0])))} for "
            f"{group.name}"
            for group in labelled
        ]
        words += f" Along the first, the median of the labelled rows is {join(middles)}."
    return words


def draw_map(projection: Projection, groups: Sequence[Group], pen: Pen) -> None:
    """Draw the rows on two directions: labelled ones filled, the others hollow."""
    first, second = (f"direction, {share:.0%} of the variance" for share in projection.shares)
    ax = pen.bare(f"first {first}", f"second {second}")
    for group in sorted(groups, key=lambda group: group.kind == "labelled"):
        rows = group.rows[projection.shown[group.rows]]
        own = group.kind == "labelled"
        look: Any = {"alpha": 1 if own else 0.75, "zorder": 4 if own else 3, "clip_on": False}
        ax.plot(
            *projection.positions[rows].T, **look, **look_of_rows(group, pen, 6.8 if own else 3.6)
        )
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(5))


# --- sampled --------------------------------------------------------------------------------------


# Rows of either kind: more would make boxes no clearer.
MOST_LABELLED = 2000
MOST_UNLABELLED = 3000


class DrawnRows(NamedTuple):
    """What the pictures are drawn from.

    Attributes
    ----------
    X : array, frame, sparse matrix or None
    rows : RowLabels or None
    sentence : str
        Says which rows these are; empty where they are all.
    """

    X: Any
    rows: RowLabels | None
    sentence: str


def draw_some(ranker: FeatureRanker, X: Any, rows: RowLabels | None) -> DrawnRows:
    """Return the rows for the pictures: all of them, or some of those that stay in their file.

    Parameters
    ----------
    ranker : fitted FeatureRanker
        Of the unlabelled rows that it was fitted to, with the same seed, some are drawn.
    X : array, frame, sparse matrix, OutOfCoreMatrix, what `fit` makes one of, or None
    rows : RowLabels or None
        Of all rows.

    Returns
    -------
    DrawnRows
    """
    stored = as_stored(X)
    if stored is None or rows is None:
        return DrawnRows(None if stored is not None else X, rows, "")
    if stored.fits():
        return DrawnRows(stored.load(), rows, "")
    labels, seed = rows.labels, ranker.random_state
    most = max(2, min(MOST_LABELLED + MOST_UNLABELLED, stored.most_held))
    n_labelled = min(len(labels.labelled), MOST_LABELLED, most // 2)
    kept = draw_rows(
        labels, min(MOST_UNLABELLED, most - n_labelled), seed if isinstance(seed, int) else 0
    )
    is_labelled = labels.codes[kept] >= 0
    own = kept[is_labelled]
    if len(own) > n_labelled:
        own = np.random.default_rng(0).choice(own, n_labelled, replace=False)
    drawn = np.sort(np.concatenate([own, kept[~is_labelled]]))
    sentence = (
        f"The rows stay in their file: this picture and those below show {len(drawn):,} of "
        f"{plural(len(stored), 'row')}, drawn at random, of which {len(own):,} carry a label."
    )
    return DrawnRows(stored.take(drawn, "pictures"), rows.part(drawn), sentence)
