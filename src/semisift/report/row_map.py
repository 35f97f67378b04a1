"""The rows on the two directions in which they differ most."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from semisift._words import count, figure, listed
from semisift.outcome import Outcome
from semisift.report.figures import Pen, ReportFigure, Tip
from semisift.report.rows import Group, RowLabels, group_rows, look_of_rows, values_of

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
        f"{shown}{count(rows.n_rows, 'row')} by the first two principal components of the "
        f"{projection.n_features} {which} features, each scaled to the same spread. The first "
        f"direction holds {first:.0%} of their variance, the second {second:.0%}."
    )
    if projection.n_gaps:
        gaps = count(projection.n_gaps, "missing value")
        words += f" {gaps} in them, taken as the mean of the feature."
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
        ax.plot(
            *projection.positions[rows].T, **look, **look_of_rows(group, pen, 6.8 if own else 3.6)
        )
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(5))
