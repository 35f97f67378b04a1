"""Counts of cells: brought to one total by row, and taken as logarithms, before they are ranked."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.base._data_kind import LARGEST_LOGARITHM, Kind, kind_of_cells, takes_logarithms
from semisift.exceptions import OutOfCoreError
from semisift.io._guards import FileError, check_fits
from semisift.io._numeric import FeatureColumns
from semisift.io._on_disk import few_rows
from semisift.io._options import OF_CELLS, Reading, said
from semisift.io._table import FileTable
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.preprocessing._counts import to_log_shares, usual_total
from semisift.preprocessing._log_normalized import as_log_shares, first_no_count
from semisift.utils._text import examples, plural


@dataclass(frozen=True)
class Scale:
    """On which scale values are.

    Attributes
    ----------
    is_log : bool
        They are logarithms of counts.
    total : float or None
        The median total that the counts of each row were brought to; None where values are as they
        were read.
    """

    is_log: bool = False
    total: float | None = None


def scale_columns(
    table: FileTable,
    columns: FeatureColumns,
    rows: NDArray[np.int64],
    reading: Reading,
    notes: list[str],
) -> tuple[FeatureColumns, Scale]:
    """Take log(1 + x) of counts whose rows are brought to one total, where that is to be done.

    Parameters
    ----------
    table : FileTable
    columns : FeatureColumns
    rows : int array
        The rows of the table that `columns` has.
    reading : Reading
        Says whether to do so; else it is done for counts in formats of single cells.
    notes : list of str
        Takes sentences on what was done.

    Returns
    -------
    columns : FeatureColumns
    scale : Scale
    """
    if not _may_be_counts(table, reading):
        return columns, Scale()
    X = columns.X
    if columns.categories or first_no_count(X) is not None:
        if reading.normalize:
            raise _error(table, columns, rows)
        return columns, Scale()
    X = X.astype(np.result_type(X.dtype, np.float32), copy=False)
    kind = kind_of_cells(X)
    if not takes_logarithms(kind, reading.normalize):
        return columns, _left(kind, notes)
    n_values = X.nnz if issparse(X) else X.size
    check_fits(2 * 8 * n_values, f"the table as logarithms ({n_values:,} of 8 bytes, and a copy)")
    shares, total = to_log_shares(X)
    notes.append(_say(reading, kind, total))
    shares = shares if issparse(X) else np.asfortranarray(shares)
    return replace(columns, X=shares), Scale(True, total)


def scale_rows(
    table: FileTable, rows: OutOfCoreMatrix, reading: Reading, notes: list[str]
) -> tuple[OutOfCoreMatrix, Scale]:
    """Do the same for rows that stay in the file, which are judged by some of them."""
    if not _may_be_counts(table, reading):
        return rows, Scale()
    kind = kind_of_cells(few_rows(rows))
    if not takes_logarithms(kind, reading.normalize):
        scale = _left(kind, notes)
        rows.is_log = scale.is_log
        return rows, scale
    try:
        usual = usual_total(few_rows(rows)) if reading.judges_by_some else None
        shares, total = as_log_shares(rows, usual)
    except OutOfCoreError as error:
        raise FileError(f"{error} {_way_out()}") from error
    notes.append(_say(reading, kind, total))
    return shares, Scale(True, total)


def _left(kind: Kind, notes: list[str]) -> Scale:
    """Return the scale of values that stay as they are, and say so of logarithms."""
    if kind != "logarithms":
        return Scale()
    notes.append(
        "The values look like logarithms of counts (fractions of at most "
        f"{LARGEST_LOGARITHM:g}, most of them 0), and are taken for that as they are."
    )
    return Scale(is_log=True)


def _may_be_counts(table: FileTable, reading: Reading) -> bool:
    if reading.normalize is None:
        return table.form in OF_CELLS and not reading.log
    return reading.normalize


def _say(reading: Reading, kind: Kind, total: float) -> str:
    shown = f"{total:,.0f}" if total >= 100 else f"{total:.3g}"
    done = f"each row was brought to the median total ({shown}), and log(1 + x) was taken"
    if kind != "counts":
        return (
            f"More than half of the values are other than 0, which is unusual for counts. As "
            f"{said('normalize', True)} says, {done}."
        )
    left = f"; {said('normalize', False)} leaves them as they are" if not reading.normalize else ""
    return f"The table holds counts: {done}{left}."


def _error(table: FileTable, columns: FeatureColumns, rows: NDArray[np.int64]) -> FileError:
    """Return what stands in the way: columns of categories, or the first value that is no count."""
    wanted = f"{said('normalize', True)} takes rows of counts"
    if columns.categories:
        named = [table.names[columns.positions[j]] for j in columns.categories]
        have = f"{plural(len(named), 'column')} of {columns.X.shape[1]} with categories"
        return FileError(f"{wanted}, and there are {have}: {examples(named)}. {_way_out()}")
    found: Any = first_no_count(columns.X)
    row, column, value = found
    place = table.place(int(rows[row]), int(columns.positions[column]))
    return FileError(
        f"{place}: {wanted}, which are 0 or more, and this value is {value:g}. {_way_out()}"
    )


def _way_out() -> str:
    return (
        f"Leave columns that hold none out with {said('drop')}, or say {said('normalize', False)}."
    )
