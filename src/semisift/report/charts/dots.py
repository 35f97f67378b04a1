"""Markers by class: a table for each class, and a dot for each of the best and each class.

The page draws the dots as a grid, which is read by pointer and by keyboard and follows the theme.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.report._page import paragraph
from semisift.report.charts.heatmap import N_STEPS, levels_of, scale_of
from semisift.selection._markers import Markers
from semisift.utils._text import printable_name, shorten

MAX_NAMED = 3

# Features of the picture: of each class, and of all classes unless these are more.
MAX_OF_A_CLASS, MAX_FEATURES = 5, 60

# Pixels of a cell, of the largest dot, of its rim, and of a letter above the picture.
CELL, LARGEST, RIM, LETTER, MAX_NAME = (26, 21.6), 19, 1.2, 6.2, 24

# Areas that are told apart, and those that the legend shows.
N_AREAS, IN_LEGEND = 40, (0.25, 0.5, 1.0)

# Of what the steps of colour are multiples.
ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def figure(markers: Markers | None) -> dict[str, Any] | None:
    """Return the dots: the best of each class, as many as there is room for, by all classes.

    None where there are no markers.

    Returns
    -------
    dict
        Names of the features and columns (classes); for each feature a line of the share of rows
        with a value in percent and the mean, class by class; rims (diameter and places), paths
        (level of colour, diameter, places), and what levels and areas mean; heads (where the name
        of a class starts, as much of it as there is room for, and all of it); sizes in pixels, unit
        and words.
    """
    if markers is None:
        return None
    n_classes = len(markers.classes)
    n_each = max(1, min(MAX_OF_A_CLASS, MAX_FEATURES // n_classes))
    best = [markers.best(number, n_each).tolist() for number in range(n_classes)]
    chosen = np.array([*dict.fromkeys(j for own in best for j in own)], dtype=np.intp)
    shares = np.nan_to_num(markers.shares[:, chosen]).T
    total = max(float(markers.sizes.sum()), np.finfo(np.float64).tiny)
    # how far the mean of each class is from that of all rows
    means = np.nan_to_num((1.0 - markers.sizes / total)[:, None] * markers.differences)[:, chosen].T
    step = _step(float(np.abs(means).max(initial=0.0)))
    rims, paths = _paths(shares, means / step)
    names = [printable_name(name) for name in markers.features[chosen]]
    columns = [printable_name(name) for name in markers.classes]
    unit = "standard deviations" if markers.fold_changes is None else "logarithms"
    heads = [(CELL[0] * (j + 0.5), shorten(name, MAX_NAME), name) for j, name in enumerate(columns)]
    both = np.array([markers.shares, markers.rest_shares])
    longest = max(len(shown) for _, shown, _ in heads)
    found = [
        (printable_name(markers.features[own[0]]), columns[i], *both[:, i, own[0]].tolist())
        for i, own in enumerate(best[:MAX_NAMED])
        if own
    ]
    return {
        "names": names,
        "columns": columns,
        "lines": [
            " ".join(f"{100 * share:.0f} {mean:.2f}" for share, mean in zip(*line, strict=True))
            for line in zip(shares, means, strict=True)
        ],
        "rims": rims,
        "paths": paths,
        "scale": scale_of(step),
        "areas": [(f"{share:.0%}", diameter(share)) for share in IN_LEGEND],
        "heads": heads,
        "width": CELL[0] * n_classes,
        "height": round(CELL[1] * len(names), 1),
        "head_height": round(math.sqrt(0.5) * LETTER * longest + 14, 1),
        "unit": unit,
        "words": paragraph("dots", len(names), n_classes, unit, found),
    }


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
    levels = levels_of(steps).astype(int)
    areas = np.round(np.clip(shares, 0.0, 1.0) * N_AREAS).astype(int)
    rims: dict[float, str] = {}
    dots: dict[tuple[int, float], str] = {}
    for line, place in np.argwhere(areas > 0).tolist():
        wide = diameter(areas[line, place] / N_AREAS)
        key = int(levels[line, place]), round(wide - 2 * RIM, 1)
        at = f"M{CELL[0] * (place + 0.5):g} {CELL[1] * (line + 0.5):.5g}h0"
        rims[wide] = rims.get(wide, "") + at
        dots[key] = dots.get(key, "") + at
    return [*rims.items()], [(level, wide, path) for (level, wide), path in dots.items()]


def diameter(share: float) -> float:
    """Return the diameter of a dot whose area is a share of the largest."""
    return round(LARGEST * math.sqrt(share), 1)
