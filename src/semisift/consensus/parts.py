"""The rankers that a consensus asks, by the kind of data."""

from typing import Any, Literal

import numpy as np

from semisift._base import FeatureRanker
from semisift._problem import Problem
from semisift.ensembles.enscls import EnsCLS
from semisift.ensembles.ssfi import SSFI
from semisift.filters.c4 import C4
from semisift.filters.sselect import SSelect
from semisift.math.columns import extremes

Kind = Literal["measurements", "counts"]

# Tables of which at least so many values are zero, and none is negative, hold counts.
SHARE_OF_ZEROS = 0.5

# Of the default rankers, in their order.
DEFAULT_WEIGHTS = (2, 1, 1, 1)


def kind_of_data(problem: Problem) -> Kind:
    """Tell counts, as of words or of molecules in a cell, from measurements.

    Counts have one unit and are mostly zero: their distances mean something as they are, and
    rescaling would make the rarest columns the most important ones. Columns with one value besides
    zero, as of categories, do not count unless there are no others.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    {"measurements", "counts"}
    """
    X = problem.X
    low, high = extremes(X)
    if (low < 0).any():
        return "measurements"
    n_filled = np.diff(X.indptr) if problem.is_sparse else np.count_nonzero(X, axis=0)
    total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    with np.errstate(over="ignore"):  # huge values have more than two
        has_two_values = np.isclose(total, n_filled * high.astype(np.float64), rtol=1e-6, atol=0)
    asked = ~has_two_values if not has_two_values.all() else np.ones(len(total), dtype=bool)
    mostly_zero = n_filled[asked].mean() <= (1 - SHARE_OF_ZEROS) * problem.n_rows
    return "counts" if mostly_zero else "measurements"


def default_rankers(
    kind: Kind, n_members: int | Literal["auto"], max_unlabelled: int | None, n_jobs: int | None
) -> list[tuple[str, FeatureRanker]]:
    """Return the rankers that a consensus asks unless told otherwise, by their names.

    Parameters
    ----------
    kind : {"measurements", "counts"}
    n_members : int or "auto"
    max_unlabelled : int or None
    n_jobs : int or None

    Returns
    -------
    list of (str, FeatureRanker)
    """
    committee: dict[str, Any] = {"n_members": n_members, "n_jobs": n_jobs}
    scaled: dict[str, Any] = {"feature_scaling": "minmax" if kind == "measurements" else None}
    return [
        ("ssfi", SSFI(**committee)),
        ("sselect", SSelect(**scaled)),
        ("enscls", EnsCLS(**committee, **scaled, max_unlabelled=max_unlabelled)),
        ("c4", C4(**scaled)),
    ]


def check_rankers(rankers: Any) -> None:
    """Refuse what is no list of rankers with different names."""
    rule = "rankers must be a list of pairs of a name and a ranker"
    if not len(rankers):
        raise ValueError(f"{rule}: got an empty list.")
    for part in rankers:
        if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], str):
            raise TypeError(f"{rule}: got {part!r}.")
        if not isinstance(part[1], FeatureRanker):
            raise TypeError(f"{rule}: got {part[1]!r} for {part[0]!r}, which is no FeatureRanker.")
    names = [name for name, _ in rankers]
    if len(set(names)) < len(names):
        raise ValueError(f"{rule}, each with a name of its own: got {names}.")
