"""Counts, as of words in a text or of molecules in a cell, on one scale: logarithms of shares."""

from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from semisift.utils._columns import power_of_two
from semisift.utils._typing import Floats


def usual_total(X: Any) -> tuple[float, float]:
    """Return the median total of the rows that have counts, in a unit, and that unit."""
    totals, unit = row_totals(X)
    return middle_of(totals), unit


def row_totals(X: Any) -> tuple[Floats, float]:
    """Return the total of each row in a unit in which nothing overflows, and that unit."""
    return _totals(X)[1:]


def middle_of(totals: Floats) -> float:
    """Return the median of the totals of rows that have counts; 1 where none has."""
    filled = totals[totals > 0]
    return float(np.median(filled)) if len(filled) else 1.0


def to_log_shares(X: Any, total: float | None = None) -> tuple[Any, float]:
    """Return log(1 + x) of counts whose rows are brought to one total, and that total.

    Rows are added up as those are that stay in a file, so that both have the same bits.

    Parameters
    ----------
    X : array or sparse matrix
    total : float, optional
        The median total of the rows, where it is not given.
    """
    X = X if issparse(X) else np.ascontiguousarray(X)
    usual = usual_total(X) if total is None else (float(total), 1.0)
    return log_of_shares(X, usual), usual[0] * usual[1]


def log_of_shares(X: Any, usual: tuple[float, float]) -> Any:
    """Return log(1 + x) of counts that are brought to the usual total of a row."""
    values, totals, _ = _totals(X)
    counts = values.data if issparse(X) else values
    factors = np.divide(usual[0], totals, out=np.zeros_like(totals), where=totals > 0)
    with np.errstate(over="ignore"):
        factors = np.minimum(factors * usual[1], np.finfo(np.float64).max)
        if not issparse(X):
            counts *= factors[:, None]
        elif values.format == "csr":
            counts *= np.repeat(factors, np.diff(values.indptr))
        else:
            counts *= factors[values.indices]
    np.log1p(np.minimum(counts, np.finfo(np.float64).max), out=counts)
    return values


def _totals(X: Any) -> tuple[Any, Floats, float]:
    """Return counts in a unit in which nothing overflows, the totals of the rows, and the unit."""
    values = X.astype(np.float64)  # a copy
    if issparse(X) and X.format not in ("csc", "csr"):
        values = csc_array(values)
    counts = values.data if issparse(X) else values
    unit = float(power_of_two(np.asarray(np.fmax.reduce(counts, axis=None, initial=0.0))))
    counts /= unit
    totals = np.asarray(values.sum(axis=1)).ravel()
    if np.isnan(totals).any():  # gaps, which add nothing
        totals = np.nansum(values, axis=1)
    return values, totals, unit
