"""Markers by class: a table for each class, and a dot for each of the best and each class."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.report._heatmap import N_STEPS, levels_in_words
from semisift.selection._markers import Markers
from semisift.utils._text import format_number, join, plural, printable_name, shorten

MOST_LISTED = 10
MOST_SAID = 3

# Features of the picture: of each class, and of all classes unless these are more.
MOST_OF_A_CLASS = 5
MOST_FEATURES = 60

# Pixels of a cell, of the largest dot, of its rim, and of a letter above the picture.
CELL = (26, 21.6)
LARGEST = 19
RIM = 1.2
LETTER = 6.2
LONGEST_NAME = 24

# Areas that are told apart, and those that the legend shows.
N_AREAS = 40
IN_LEGEND = (0.25, 0.5, 1.0)

# Of what the steps of colour are multiples.
ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


class Listed(NamedTuple):
    """A feature in the table of a class, in words; None where something is not known."""

    feature: str
    score: str
    fold_change: str | None
    share: str
    rest_share: str
    p_value: str | None


class ClassMarkers(NamedTuple):
    """The best features of a class that are higher there than in the rest."""

    name: str
    size: str
    best: list[Listed]


@dataclass(frozen=True, eq=False)
class Dots:
    """What the template draws.

    Attributes
    ----------
    names : list of str
        Of the features.
    columns : list of str
        Of the classes.
    values : list of str
        For each feature, class by class: the share of rows with a value in percent, and the mean.
    rims : list of (float, str)
        For each size of dots their diameter and their places.
    paths : list of (int, float, str)
        For each level of colour and size: the level, the diameter, and the places.
    scale : list of str
        What the levels of colour mean.
    unit : str
    words : str
    """

    names: list[str]
    columns: list[str]
    values: list[str]
    rims: list[tuple[float, str]]
    paths: list[tuple[int, float, str]]
    scale: list[str]
    unit: str
    words: str

    @property
    def width(self) -> float:
        """Of the picture, in pixels."""
        return CELL[0] * len(self.columns)

    @property
    def height(self) -> float:
        """Of the picture, in pixels."""
        return round(CELL[1] * len(self.names), 1)

    @property
    def areas(self) -> list[tuple[str, float]]:
        """Shares for the legend, and the diameters of their dots."""
        return [(f"{share:.0%}", diameter(share)) for share in IN_LEGEND]

    @property
    def heads(self) -> list[tuple[float, str, str]]:
        """Where the name of each class starts, the name as far as there is room, and all of it."""
        return [
            (CELL[0] * (place + 0.5), shorten(name, LONGEST_NAME), name)
            for place, name in enumerate(self.columns)
        ]

    @property
    def head_height(self) -> float:
        """Of the names of the classes, which stand askew."""
        longest = max(len(shown) for _, shown, _ in self.heads)
        return round(math.sqrt(0.5) * LETTER * longest + 14, 1)


@dataclass(frozen=True, eq=False)
class MarkersByClass:
    """The section of the page."""

    classes: list[ClassMarkers]
    dots: Dots
    has_folds: bool
    has_p_values: bool


def markers_by_class(markers: Markers | None) -> MarkersByClass | None:
    """Return what the page shows of markers; None where there are none.

    Parameters
    ----------
    markers : Markers or None

    Returns
    -------
    MarkersByClass or None
    """
    if markers is None:
        return None
    return MarkersByClass(
        classes=[_of_class(markers, number) for number in range(len(markers.classes))],
        dots=_dots(markers),
        has_folds=markers.fold_changes is not None,
        has_p_values=markers.p_values is not None,
    )


def _of_class(markers: Markers, number: int) -> ClassMarkers:
    best = markers.best(number, MOST_LISTED)

    def cells(values: Any, form: str) -> list[str | None]:
        return [None if values is None else format(values[number, j], form) for j in best]

    columns: list[Any] = [
        [printable_name(name) for name in markers.features[best]],
        [format_number(score) for score in markers.scores[number, best].tolist()],
        cells(markers.fold_changes, "+.2f"),
        cells(markers.shares, ".0%"),
        cells(markers.rest_shares, ".0%"),
        cells(markers.p_values, ".3g"),
    ]
    return ClassMarkers(
        printable_name(markers.classes[number]),
        plural(round(float(markers.sizes[number])), "row"),
        [Listed(*each) for each in zip(*columns, strict=True)],
    )


# --- the picture ----------------------------------------------------------------------------------


def _dots(markers: Markers) -> Dots:
    chosen = _chosen(markers)
    shares = np.nan_to_num(markers.shares[:, chosen]).T
    means = _means(markers)[:, chosen].T
    step = _step(float(np.abs(means).max(initial=0.0)))
    rims, paths = _paths(shares, means / step)
    names = [printable_name(name) for name in markers.features[chosen]]
    columns = [printable_name(name) for name in markers.classes]
    is_log = markers.fold_changes is not None
    unit = "logarithms" if is_log else "standard deviations"
    return Dots(
        names=names,
        columns=columns,
        values=[
            " ".join(f"{100 * share:.0f} {mean:.2f}" for share, mean in zip(*line, strict=True))
            for line in zip(shares, means, strict=True)
        ],
        rims=rims,
        paths=paths,
        scale=levels_in_words(step),
        unit=unit,
        words=_say(markers, names, unit),
    )


def _chosen(markers: Markers) -> NDArray[np.intp]:
    """Return the columns of the picture: the best of each class, as many as there is room for."""
    n_classes = len(markers.classes)
    n_each = max(1, min(MOST_OF_A_CLASS, MOST_FEATURES // n_classes))
    best = [markers.best(number, n_each).tolist() for number in range(n_classes)]
    chosen = dict.fromkeys(column for own in best for column in own)
    return np.array([*chosen], dtype=np.intp)


def _means(markers: Markers) -> NDArray[np.float64]:
    """Return how far the mean of each class is from that of all rows."""
    total = max(float(markers.sizes.sum()), np.finfo(np.float64).tiny)
    shares = markers.sizes / total
    return np.nan_to_num((1.0 - shares)[:, None] * markers.differences)


def _step(largest: float) -> float:
    """Return a round number of which so many as there are steps of colour reach the largest value.

    Examples
    --------
    >>> _step(2.4), _step(0.06), _step(0.0)
    (0.5, 0.015, 1.0)
    """
    if not largest or not math.isfinite(largest):
        return 1.0
    least = largest / N_STEPS
    unit = 10.0 ** math.floor(math.log10(least))
    return float(next(round(k * unit, 12) for k in ROUND if k * unit >= least * (1 - 1e-9)))


def _paths(
    shares: NDArray[np.float64], steps: NDArray[np.float64]
) -> tuple[list[tuple[float, str]], list[tuple[int, float, str]]]:
    """Return the dots by size, and by colour and size; shares of hardly more than 0 have none."""
    levels = np.clip(np.round(steps), -N_STEPS, N_STEPS).astype(int) + N_STEPS
    areas = np.round(np.clip(shares, 0.0, 1.0) * N_AREAS).astype(int)
    rims: dict[float, list[str]] = {}
    dots: dict[tuple[int, float], list[str]] = {}
    for line, place in np.argwhere(areas > 0).tolist():
        wide = diameter(areas[line, place] / N_AREAS)
        at = f"M{CELL[0] * (place + 0.5):g} {CELL[1] * (line + 0.5):.5g}h0"
        rims.setdefault(wide, []).append(at)
        dots.setdefault((int(levels[line, place]), wide), []).append(at)
    return (
        [(wide, "".join(own)) for wide, own in rims.items()],
        [(level, round(wide - 2 * RIM, 1), "".join(own)) for (level, wide), own in dots.items()],
    )


def diameter(share: float) -> float:
    """Return the diameter of a dot whose area is a share of the largest."""
    return round(LARGEST * math.sqrt(share), 1)


def _say(markers: Markers, names: list[str], unit: str) -> str:
    """Say what the picture shows, and what marks the first classes."""
    found = []
    for number in range(min(MOST_SAID, len(markers.classes))):
        best = markers.best(number, 1)
        if len(best):
            one, other = markers.shares[number, best[0]], markers.rest_shares[number, best[0]]
            found.append(
                f"{shorten(printable_name(markers.features[best[0]]), 40)} marks "
                f"{printable_name(markers.classes[number])} ({one:.0%} of its rows have a value, "
                f"{other:.0%} of the others)"
            )
    said = f" {join(found)}." if found else ""
    return (
        f"The best of each class, {plural(len(names), 'feature')} by "
        f"{plural(len(markers.classes), 'class', 'classes')}. The area of a dot is the share of "
        "rows of the class with a value other than 0, its colour how far the mean of the class is "
        f"from that of all rows, in {unit}.{said}"
    )
