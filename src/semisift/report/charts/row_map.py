"""The rows on the first two principal components of the selected features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from semisift.report._figure import ReportFigure
from semisift.report._page import paragraph
from semisift.report._rows import Group, RowLabels, group_rows, values_of
from semisift.report._style import FigureStyle, row_points
from semisift.selection import RankingResult

MAX_ROWS, MAX_PROJECTED, MAX_CLASSES_NAMED = 2000, 20, 4


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
    n_missing : int
        Missing values, which count as the mean of their column.
    groups : list of Group
    """

    positions: NDArray[np.float64]
    shown: NDArray[np.bool_]
    shares: tuple[float, float]
    n_features: int
    n_missing: int
    groups: Sequence[Group]


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
    shown[np.concatenate(order)[:MAX_ROWS]] = True
    return Projection(
        positions=standard @ directions,
        shown=shown,
        shares=(float(shares[0]), float(max(0.0, shares[1]))),
        n_features=int(varies.sum()),
        n_missing=int(np.isnan(filled[:, varies]).sum()),
        groups=group_rows(rows),
    )


def figure(outcome: RankingResult, rows: RowLabels | None, X: Any) -> ReportFigure | None:
    """Return the rows on two directions of the selected features; None where there are not two."""
    if rows is None or X is None:
        return None
    is_scored = ~np.isnan(outcome.scores)
    is_enough = (outcome.selected & is_scored).sum() > 1
    chosen = np.flatnonzero(outcome.selected) if is_enough else outcome.listed
    chosen = chosen[is_scored[chosen]][:MAX_PROJECTED]
    found = project(values_of(X, outcome.columns[chosen]), rows)
    if found is None or not found.groups:
        return None
    labelled = [group for group in found.groups if group.is_labelled]
    middles = [(np.median(found.positions[group.rows, 0]), group.name) for group in labelled]
    middles = middles if 1 < len(labelled) <= MAX_CLASSES_NAMED else []
    n_shown, which = int(found.shown.sum()), "selected" if is_enough else "best"
    words = paragraph("row_map", found, n_shown, rows.n_rows, which, middles)
    tips = [
        (*found.positions[row].tolist(), f"{rows.name(row)}: {rows.class_of(row)}")
        for group in found.groups
        for row in group.rows[found.shown[group.rows]].tolist()
    ]
    title, size, margins = "Rows on two directions", (420.0, 360.0), (46.0, 8.0, 8.0, 40.0)
    return ReportFigure("map", title, words, draw, found, size, margins, tips=tips)


def draw(ax: Axes, found: Projection, style: FigureStyle) -> None:
    """Draw the rows on two directions: labelled ones filled, the others hollow."""
    first, second = (f"direction, {share:.0%} of the variance" for share in found.shares)
    style.clean_axes(ax, f"first {first}", f"second {second}")
    for group in sorted(found.groups, key=lambda group: group.is_labelled):
        rows, own = group.rows[found.shown[group.rows]], group.is_labelled
        look = row_points(group.place, own, style.palette, 6.8 if own else 3.6)
        look |= {"alpha": 1 if own else 0.75, "zorder": 4 if own else 3, "clip_on": False}
        ax.plot(*found.positions[rows].T, **look)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(5))
