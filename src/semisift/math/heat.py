"""How heat weights fit the distances of a graph: their scale, and how evenly they are spread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.math.neighbours import Edges


def heat_scale(
    edges: Edges, mean_d2: float, unit: float, kind: str, no_median: float = 1.0
) -> float:
    """Return the squared distance that heat weights are measured in; 1 if all distances are 0.

    The median over edges that all join identical rows is `no_median`.
    """
    if kind == "raw":
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            return float(np.divide(1.0, np.float64(unit) ** 2))
    scale = mean_d2
    if kind == "median":
        scale = weighted_median(edges.d2, edges.share) or no_median
    return scale if scale > 0 else 1.0


def weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the median of positive values, each counted by its weight; 0 if there is none."""
    order = np.argsort(values, kind="stable")
    order = order[values[order] > 0]
    if not len(order):
        return 0.0
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    low = np.searchsorted(below, half * (1 - 1e-12))
    high = np.searchsorted(below, half * (1 + 1e-12), side="right")
    return float(values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2


def effective_edges(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    weights: NDArray[np.float64],
    within: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> float:
    """Return ``(sum w)^2 / sum w^2`` over the pairs of rows; an edge of two nodes is many pairs."""
    total = 2 * weights.sum() + within.sum()
    squares = 2 * float((weights**2 / (counts[first] * counts[second])).sum())
    several = counts > 1
    squares += float((within[several] ** 2 / (counts * (counts - 1.0))[several]).sum())
    return float(total**2 / (2 * squares)) if squares > 0 else 0.0


def cure(options: Any) -> str:
    """Say which of the `GraphOptions` mends heat weights that are too uneven."""
    if options.heat_scale == "raw":
        return (
            f"Set heat_scale='mean' (now 'raw', with heat_constant={options.heat_constant}): it "
            "measures the constant in the mean squared distance of the rows."
        )
    if options.heat_constant < 1:
        return f"Set heat_constant=1 (now {options.heat_constant})."
    return "Set weights='binary'."
