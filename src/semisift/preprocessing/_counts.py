"""Counts, as of words in a text or of molecules in a cell, on one scale: logarithms of shares.

Rows that stay in their file are taken block by block, and get the same bits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from semisift.exceptions import OutOfCoreError
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.out_of_core._sources import DerivedSource, Source
from semisift.utils._columns import check_structure, power_of_two
from semisift.utils._typing import Floats


def usual_total(X: Any) -> tuple[float, float]:
    """Return the median total of the rows that have counts, in a unit, and that unit."""
    _, totals, unit = _totals(X)
    return _median_total(totals), unit


def to_log_shares(X: Any, usual: tuple[float, float] | None = None) -> tuple[Any, float]:
    """Return log(1 + x) of counts whose rows are brought to one total, and that total.

    Parameters
    ----------
    X : array, sparse matrix or OutOfCoreMatrix
        An `OutOfCoreMatrix` gives another, with the same names, memory and folder of passes.
    usual : (float, float), optional
        The total in a unit, and the unit, as of `usual_total`; else the median total of the rows,
        which takes a pass over rows in a file.

    Raises
    ------
    OutOfCoreError
        If a value in a file is below 0, with its place.
    """
    if isinstance(X, OutOfCoreMatrix):
        if usual is None:
            made = X.cached("totals of rows", None, lambda: _totals_of_all(X))
            usual = _median_total(made["totals"]), float(made["unit"])
        shares: Any = OutOfCoreMatrix(
            LogShares(X.source, usual),
            max_memory=X.max_memory,
            feature_names=X.feature_names,
            cache_dir=X.cache_dir,
            progress=X.progress,
            name=X.source.name,
        )
    else:  # rows are added up as those in a file are
        X = X if issparse(X) else np.ascontiguousarray(X)
        usual = usual_total(X) if usual is None else usual
        shares = log_of_shares(X, usual)
    return shares, usual[0] * usual[1]


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


def format_total(total: float) -> str:
    """Return a total of counts as notes write it."""
    return f"{total:,.0f}" if total >= 100 else f"{total:.3g}"


def first_no_count(rows: Any, *, allow_infinite: bool = False) -> tuple[int, int, float] | None:
    """Return row, column and value of the first value below 0 or infinite; None if there is none.

    Parameters
    ----------
    rows : array or sparse matrix
    allow_infinite : bool
        Look for values below 0 alone.
    """
    rows = rows.tocsr() if issparse(rows) else rows
    values = rows.data if issparse(rows) else rows
    found = values < 0 if allow_infinite else (values < 0) | np.isinf(values)
    if not found.any():
        return None
    if not issparse(rows):
        row, column = np.argwhere(found)[0].tolist()
        return row, column, float(rows[row, column])
    first = int(found.argmax())
    row = int(np.searchsorted(rows.indptr, first, side="right")) - 1
    return row, int(rows.indices[first]), float(rows.data[first])


def _median_total(totals: Floats) -> float:
    """Return the median of the totals of rows that have counts; 1 where none has."""
    filled = totals[totals > 0]
    return float(np.median(filled)) if len(filled) else 1.0


def _totals(X: Any) -> tuple[Any, Floats, float]:
    """Return counts in a unit in which nothing overflows, the totals of the rows, and the unit."""
    values = X.astype(np.float64)  # a copy
    if issparse(X) and X.format not in ("csc", "csr"):
        values = csc_array(values)
    counts = values.data if issparse(X) else values
    unit = float(power_of_two(np.asarray(np.fmax.reduce(counts, axis=None, initial=0.0))))
    counts /= unit
    totals = np.asarray(values.sum(axis=1)).ravel()
    if np.isnan(totals).any():  # missing values, which add nothing
        totals = np.nansum(values, axis=1)
    return values, totals, unit


# --- rows that stay in their file -----------------------------------------------------------------


class LogShares(DerivedSource):
    """log(1 + x) of the counts of another source, whose rows are brought to one total.

    Parameters
    ----------
    source : Source
        Values of 0 or more.
    usual : (float, float)
        The total of a row in a unit, and that unit, as `usual_total` returns them.
    """

    def __init__(self, source: Source, usual: tuple[float, float]) -> None:
        super().__init__(source, ("log of shares", *usual))
        self.is_log = True
        self.dtype = np.dtype(np.float64)
        self.usual = usual

    def read(self, start: int, stop: int) -> Any:
        """Return rows."""
        return self._logarithms(self.source.read(start, stop))

    def read_some(self, start: int, stop: int, places: NDArray[np.integer]) -> Any:
        """Return some rows; logarithms are taken of no others."""
        return self._logarithms(self.source.read_some(start, stop, places))

    def _logarithms(self, rows: Any) -> Any:
        if not issparse(rows):
            return log_of_shares(np.ascontiguousarray(rows), self.usual)
        check_structure(rows, "it")
        rows = csr_array(rows)
        rows.sum_duplicates()
        return log_of_shares(rows, self.usual)


def _totals_of_all(rows: OutOfCoreMatrix) -> dict[str, Any]:
    """Return the totals of all rows in one unit, in a pass."""
    found: list[tuple[Floats, float]] = []
    for start, block in rows.blocks("adding up rows", rows.many_rows):
        if (wrong := first_no_count(block, allow_infinite=True)) is not None:
            row, column, value = wrong
            named = column if rows.feature_names is None else repr(rows.feature_names[column])
            place = rows.source.place(start + row, start + row + 1)
            rule = f"counts are 0 or more, and this value is {value:g}"
            raise OutOfCoreError(f"{place}, column {named}: {rule}.")
        found.append(_totals(block)[1:])
    unit = max((own for _, own in found), default=1.0)
    totals = [own / unit * totals for totals, own in found]
    return {"totals": np.concatenate(totals), "unit": np.array(unit)}
