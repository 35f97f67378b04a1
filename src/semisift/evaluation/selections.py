"""Selections: how alike the features are that runs, levels and methods rank best.

The best features of some runs are a dict: an index of each run -> features, the best first.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.math import stability

Tops = Mapping[Any, NDArray[np.int64]]


def between_runs(tops: Tops, n_features: int) -> float:
    """Return how alike the selections of different runs are.

    Parameters
    ----------
    tops : dict
        Of one method on one data set.
    n_features : int
        Of the data set.

    Returns
    -------
    float
        1 where they are the same, about 0 where they agree by chance alone; NaN for one run.
    """
    return stability.nogueira(list(tops.values()), n_features).value if len(tops) > 1 else np.nan


def between_levels(before: Tops, after: Tops, n_features: int) -> float:
    """Return how alike the selections of the same runs are at two levels of a sweep.

    Parameters
    ----------
    before, after : dict
        Of one method on one data set.
    n_features : int
        Of the data set.

    Returns
    -------
    float
        Mean of Kuncheva's index over the runs in both; NaN where there are none.
    """
    found = [
        stability.kuncheva(before[run], after[run], n_features)
        for run in sorted(before.keys() & after.keys())
    ]
    return float(np.mean(found)) if found else np.nan


def between_methods(tops: Sequence[Tops]) -> NDArray[np.float64]:
    """Return how alike the rankings of methods are.

    Parameters
    ----------
    tops : sequence of dict
        One for each method, over data sets and runs.

    Returns
    -------
    float array of shape (n_methods, n_methods)
        Mean overlap of the best 1, 2, ... features in the runs of both; NaN where there are none.
    """
    found = np.full((len(tops), len(tops)), np.nan)
    for i, j in combinations_with_replacement(range(len(tops)), 2):
        overlaps = [
            stability.rank_overlap(tops[i][run], tops[j][run], len(tops[i][run]))
            for run in sorted(tops[i].keys() & tops[j].keys())
        ]
        if overlaps:
            found[i, j] = found[j, i] = np.mean(overlaps)
    return found
