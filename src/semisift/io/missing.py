"""Missing values: refused by default, filled or left out where the user says so."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift._words import count, examples, quoted
from semisift.io.limits import FileError
from semisift.io.numbers import FeatureColumns
from semisift.io.options import said
from semisift.io.table import FileTable

MOST_SHOWN = 5


def settle_missing(
    table: FileTable, columns: FeatureColumns, missing: str, notes: list[str]
) -> tuple[FeatureColumns, NDArray[np.int64] | None]:
    """Refuse, fill or leave out what has missing values.

    Parameters
    ----------
    table : FileTable
        For messages.
    columns : FeatureColumns
    missing : {"error", "median", "drop-columns", "drop-rows"}
        ``"median"`` fills a number with the median of its column and a category with the most
        frequent one; a column without any value is left out.
    notes : list of str
        Takes sentences on what was done.

    Returns
    -------
    columns : FeatureColumns
        Without missing values.
    rows : int array or None
        The rows that were kept; None for all of them.
    """
    counts = _missing_per_column(columns.X)
    affected = np.flatnonzero(counts)
    if not len(affected):
        return columns, None
    if missing == "error":
        raise _error(table, columns, counts, affected)
    if missing == "drop-rows":
        return _without_rows(columns, notes)
    all_missing = np.flatnonzero(counts == columns.X.shape[0])
    gone = affected if missing == "drop-columns" else all_missing
    if len(gone):
        notes.append(
            f"{count(len(gone), 'column')} with missing values, left out: "
            f"{examples([table.names[columns.positions[j]] for j in gone])}."
        )
        if len(gone) == columns.X.shape[1]:
            raise FileError(
                f"{said('missing', missing)} leaves no column: all of them have missing values."
            )
    filled = np.setdiff1d(affected, gone)
    if len(filled):
        notes.append(
            f"{count(int(counts[filled].sum()), 'missing value')} in "
            f"{count(len(filled), 'column')}, replaced by the median of the column (by the most "
            "frequent category, where it is categorical)."
        )
        columns = replace(columns, X=_fill(columns, filled))
    if len(gone):
        kept = np.setdiff1d(np.arange(len(columns.positions)), gone)
        number = {int(old): new for new, old in enumerate(kept)}
        categories = {number[j]: values for j, values in columns.categories.items() if j in number}
        columns = FeatureColumns(columns.positions[kept], columns.X[:, kept], categories)
    return columns, None


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
) -> FileError:
    n_rows = columns.X.shape[0]
    worst = affected[np.argsort(-counts[affected], kind="stable")][:MOST_SHOWN]
    shown = ", ".join(
        f"{quoted(table.names[columns.positions[j]])} ({counts[j]} of {n_rows} rows)" for j in worst
    )
    more = f" and {len(affected) - len(worst)} more" if len(affected) > len(worst) else ""
    values = columns.X[:, [worst[0]]]
    row = int(np.isnan(values.toarray() if issparse(values) else values).argmax())
    return FileError(
        f"values are missing in {len(affected)} of {len(counts)} columns: {shown}{more}. The first "
        f"of them: {table.place(row, int(columns.positions[worst[0]]))}. Say "
        f"{said('missing', 'median')} to fill them, {said('missing', 'drop-columns')} or "
        f"{said('missing', 'drop-rows')} to leave out what has them."
    )


def _without_rows(
    columns: FeatureColumns, notes: list[str]
) -> tuple[FeatureColumns, NDArray[np.int64]]:
    X = columns.X
    if issparse(X):
        bad = np.zeros(X.shape[0], dtype=bool)
        bad[X.tocoo().row[np.isnan(X.tocoo().data)]] = True
    else:
        bad = np.isnan(X).any(axis=1)
    rows = np.flatnonzero(~bad)
    if not len(rows):
        raise FileError(
            f"{said('missing', 'drop-rows')} leaves no row: every row has a missing value. Try "
            f"{said('missing', 'median')} or {said('missing', 'drop-columns')}."
        )
    kept = X[rows] if issparse(X) else np.asfortranarray(X[rows])
    notes.append(f"{count(int(bad.sum()), 'row')} of {len(bad)} with missing values, left out.")
    return replace(columns, X=kept), rows


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
