"""Missing values: refused by default, filled or left out where the user says so."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift._words import count, examples, quoted
from semisift.exceptions import TableError
from semisift.io.numbers import FeatureColumns
from semisift.io.options import said
from semisift.io.table import FileTable

MOST_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Settled:
    """FeatureColumns without missing values.

    Attributes
    ----------
    columns : FeatureColumns
    rows : int array or None
        The rows that were kept; None for all of them.
    notes : list of str
    """

    columns: FeatureColumns
    rows: NDArray[np.int64] | None
    notes: list[str]


def settle_missing(table: FileTable, columns: FeatureColumns, missing: str) -> Settled:
    """Refuse, fill or leave out what has missing values.

    Parameters
    ----------
    table : FileTable
        For messages.
    columns : FeatureColumns
    missing : {"error", "median", "drop-columns", "drop-rows"}
        ``"median"`` fills a number with the median of its column and a category with the most
        frequent one; a column without any value is left out.

    Returns
    -------
    Settled
    """
    counts = _missing_per_column(columns.X)
    affected = np.flatnonzero(counts)
    if not len(affected):
        return Settled(columns, None, [])
    if missing == "error":
        raise _error(table, columns, counts, affected)
    n_rows = columns.X.shape[0]
    if missing == "drop-rows":
        return _without_rows(table, columns)
    gone = affected if missing == "drop-columns" else np.flatnonzero(counts == n_rows)
    notes = []
    if len(gone):
        notes.append(
            f"{count(len(gone), 'column')} with missing values, left out: "
            f"{examples([table.names[columns.positions[j]] for j in gone])}."
        )
        if len(gone) == columns.X.shape[1]:
            raise TableError(
                f"{table.path}: {said('missing', missing)} leaves no column: all of them have "
                "missing values."
            )
    filled = np.setdiff1d(affected, gone)
    X = columns.X
    if len(filled):
        X = _fill(columns, filled)
        notes.append(
            f"{count(int(counts[filled].sum()), 'missing value')} in "
            f"{count(len(filled), 'column')}, replaced by the median of the column (by the most "
            "frequent category, where it is categorical)."
        )
    return Settled(_keep(replace(columns, X=X), gone), None, notes)


def _missing_per_column(X: Any) -> NDArray[np.int64]:
    if X.dtype.kind != "f":
        return np.zeros(X.shape[1], dtype=np.int64)
    if issparse(X):
        return np.bincount(X.tocsr().indices[np.isnan(X.data)], minlength=X.shape[1])
    suspects = np.flatnonzero(np.isnan(X.sum(axis=0)))
    counts = np.zeros(X.shape[1], dtype=np.int64)
    counts[suspects] = np.isnan(X[:, suspects]).sum(axis=0)
    return counts


def _error(
    table: FileTable,
    columns: FeatureColumns,
    counts: NDArray[np.int64],
    affected: NDArray[np.int64],
) -> TableError:
    n_rows = columns.X.shape[0]
    worst = affected[np.argsort(-counts[affected], kind="stable")][:MOST_SHOWN]
    shown = ", ".join(
        f"{quoted(table.names[columns.positions[j]])} ({counts[j]} of {n_rows} rows)" for j in worst
    )
    more = f" and {len(affected) - len(worst)} more" if len(affected) > len(worst) else ""
    row = _first_row(columns.X, int(worst[0]))
    return TableError(
        f"{table.path}: values are missing in {len(affected)} of {len(counts)} columns: {shown}"
        f"{more}. The first of them: {table.place(row, int(columns.positions[worst[0]]))}. Say "
        f"{said('missing', 'median')} to fill them, {said('missing', 'drop-columns')} or "
        f"{said('missing', 'drop-rows')} to leave out what has them."
    )


def _first_row(X: Any, column: int) -> int:
    values = X[:, [column]]
    values = values.toarray() if issparse(X) else values
    return int(np.isnan(values).argmax())


def _without_rows(table: FileTable, columns: FeatureColumns) -> Settled:
    X = columns.X
    if issparse(X):
        bad = np.zeros(X.shape[0], dtype=bool)
        bad[X.tocoo().row[np.isnan(X.tocoo().data)]] = True
    else:
        bad = np.isnan(X).any(axis=1)
    rows = np.flatnonzero(~bad)
    if not len(rows):
        raise TableError(
            f"{table.path}: {said('missing', 'drop-rows')} leaves no row: every row has a missing "
            f"value. Try {said('missing', 'median')} or {said('missing', 'drop-columns')}."
        )
    kept = X[rows] if issparse(X) else np.asfortranarray(X[rows])
    note = f"{count(int(bad.sum()), 'row')} of {len(bad)} with missing values, left out."
    return Settled(replace(columns, X=kept), rows, [note])


def _fill(columns: FeatureColumns, filled: NDArray[np.int64]) -> Any:
    X = columns.X.tocsc(copy=True) if issparse(columns.X) else columns.X.copy(order="F")
    for j in filled:
        values = X[:, [j]].toarray().ravel() if issparse(X) else X[:, j]
        known = values[~np.isnan(values)]
        if j in columns.categories:
            fill = float(np.bincount(known.astype(np.int64)).argmax())
        else:
            fill = float(np.median(known))
        if issparse(X):
            stored = X.data[X.indptr[j] : X.indptr[j + 1]]
            stored[np.isnan(stored)] = fill
        else:
            values[np.isnan(values)] = fill
    return X


def _keep(columns: FeatureColumns, gone: NDArray[np.int64]) -> FeatureColumns:
    if not len(gone):
        return columns
    kept = np.setdiff1d(np.arange(len(columns.positions)), gone)
    number = {int(old): new for new, old in enumerate(kept)}
    categories = {number[j]: values for j, values in columns.categories.items() if j in number}
    return FeatureColumns(columns.positions[kept], columns.X[:, kept], categories)
