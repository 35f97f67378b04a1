"""Counts that stay where they are, on one scale: logarithms of shares, block by block."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift.exceptions import OutOfCoreError
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.out_of_core._sources import DerivedSource, Source
from semisift.preprocessing._counts import log_of_shares, middle_of, row_totals
from semisift.utils._columns import check_structure
from semisift.utils._typing import Floats


class LogShares(DerivedSource):
    """log(1 + x) of the counts of another source, whose rows are brought to one total.

    The values have the same bits as those of `semisift.preprocessing._counts.log_of_shares` of all
    rows.

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
        return self._taken(self.source.read(start, stop))

    def read_some(self, start: int, stop: int, places: NDArray[np.integer]) -> Any:
        """Return some rows; logarithms are taken of no others."""
        return self._taken(self.source.read_some(start, stop, places))

    def _taken(self, rows: Any) -> Any:
        if issparse(rows):
            check_structure(rows, "it")
            rows = csr_array(rows)
            rows.sum_duplicates()
            return log_of_shares(rows, self.usual)
        return log_of_shares(np.ascontiguousarray(rows), self.usual)


def as_log_shares(
    rows: OutOfCoreMatrix, usual: tuple[float, float] | None = None
) -> tuple[OutOfCoreMatrix, float]:
    """Return rows of counts as logarithms of shares, and the median total they are brought to.

    Parameters
    ----------
    rows : OutOfCoreMatrix
    usual : (float, float), optional
        That total in a unit, and the unit; else it takes a pass, which is kept as others are.

    Returns
    -------
    shares : OutOfCoreMatrix
        With the same names, memory and folder of passes.
    total : float

    Raises
    ------
    OutOfCoreError
        If a value is below 0, with its place.
    """
    if usual is None:
        made = rows.once("totals of rows", None, lambda: _totals(rows))
        usual = middle_of(made["totals"]), float(made["unit"])
    shares = OutOfCoreMatrix(
        LogShares(rows.source, usual),
        max_memory=rows.max_memory,
        feature_names=rows.feature_names,
        passes=rows.passes,
        progress=rows.progress,
        name=rows.source.name,
    )
    return shares, usual[0] * usual[1]


def _totals(rows: OutOfCoreMatrix) -> dict[str, Any]:
    """Return the totals of all rows in one unit, in a pass."""
    found: list[tuple[Floats, float]] = []
    for start, block in rows.blocks("adding up rows", rows.many_rows):
        _refuse_negative(rows, block, start)
        found.append(row_totals(block))
    unit = max((own for _, own in found), default=1.0)
    totals = [own / unit * totals for totals, own in found]
    return {"totals": np.concatenate(totals), "unit": np.array(unit)}


def _refuse_negative(rows: OutOfCoreMatrix, block: Any, start: int) -> None:
    found = first_negative(block)
    if found is None:
        return
    row, column, value = found
    named = column if rows.feature_names is None else repr(rows.feature_names[column])
    raise OutOfCoreError(
        f"{rows.source.place(start + row, start + row + 1)}, column {named}: counts are 0 or more, "
        f"and this value is {value:g}."
    )


def first_negative(rows: Any) -> tuple[int, int, float] | None:
    """Return the row, the column and the value of the first one below 0; None if there is none."""
    return _first(rows, lambda values: values < 0)


def first_no_count(rows: Any) -> tuple[int, int, float] | None:
    """Return the same of the first value that is below 0 or infinite."""
    return _first(rows, lambda values: (values < 0) | np.isinf(values))


def _first(rows: Any, is_wanted: Callable[[Any], Any]) -> tuple[int, int, float] | None:
    rows = rows.tocsr() if issparse(rows) else rows
    found = is_wanted(rows.data if issparse(rows) else rows)
    if not found.any():
        return None
    if not issparse(rows):
        row, column = np.argwhere(found)[0].tolist()
        return row, column, float(rows[row, column])
    first = int(found.argmax())
    row = int(np.searchsorted(rows.indptr, first, side="right")) - 1
    return row, int(rows.indices[first]), float(rows.data[first])
