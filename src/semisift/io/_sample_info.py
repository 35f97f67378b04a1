"""What columns of a table say of its rows: groups, batches and weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.io._guards import FileError
from semisift.io._labels import text_of
from semisift.io._options import said
from semisift.io._table import MISSING, FileTable, find_column
from semisift.utils._text import examples, join, quote


def names_of_rows(table: FileTable, wanted: str, option: str) -> tuple[NDArray[Any], str]:
    """Return the group or the batch of each row, and the column of the table that holds them.

    Parameters
    ----------
    table : FileTable
    wanted : str
        The column, by name or number.
    option : {"group", "batch"}
        By which the user named it.

    Returns
    -------
    names : object array of str
    column : str
    """
    column = find_column(table, wanted, option)
    names = np.array(text_of(table, column).to_list(), dtype=object)
    _refuse_without(table, np.isin(names, MISSING), wanted, option)
    return names, column


def weights_of_rows(
    table: FileTable, wanted: str, decimal_comma: bool = False
) -> tuple[NDArray[np.float64], str]:
    """Return the weight of each row, and the column of the table that holds them.

    Parameters
    ----------
    table : FileTable
    wanted : str
        The column, by name or number.
    decimal_comma : bool

    Returns
    -------
    weights : float array
        None of them negative.
    column : str
    """
    column = find_column(table, wanted, "weight")
    cells = text_of(table, column)
    _refuse_without(table, cells.is_in(MISSING).to_numpy(), wanted, "weight")
    plain = cells.str.replace(",", ".", literal=True) if decimal_comma else cells
    weights = plain.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(wrong):
        row = int(wrong[0])
        raise FileError(
            f"{table.place(row)}: the weight ({said('weight', wanted)}) must be a number of 0 or "
            f"more, and this one is {quote(cells[row])}."
        )
    return weights, column


def _refuse_without(
    table: FileTable, is_missing: NDArray[np.bool_], wanted: str, option: str
) -> None:
    """Refuse rows of which a column says nothing."""
    without = np.flatnonzero(is_missing)
    if not len(without):
        return
    places = [table.place(row) for row in without[1:3].tolist()]
    more = f" (also {join(places)}{', ...' if len(without) > 3 else ''})" if places else ""
    raise FileError(
        f"{table.place(int(without[0]))}: no {option} is given ({said(option, wanted)}), and "
        f"{len(without)} of {table.n_rows} rows have none{more}. Each row must have one."
    )


def say_confounded(y: NDArray[Any], batches: NDArray[Any]) -> list[str]:
    """Say which classes are labelled in batches of their own alone.

    Parameters
    ----------
    y : object array of shape (n_rows,)
        None for unlabelled rows.
    batches : object array of shape (n_rows,)

    Returns
    -------
    list of str
        A sentence, or nothing.

    Examples
    --------
    >>> y = np.array(["a", "b", None, "c"], dtype=object)
    >>> say_confounded(y, np.array(["1", "1", "2", "2"]))[0][:46]
    "The labelled rows of 'c' are all in batches wi"
    """
    labelled = np.array([label is not None for label in y], dtype=bool)
    classes, code = np.unique(y[labelled].astype(str), return_inverse=True)
    _, batch = np.unique(batches[labelled].astype(str), return_inverse=True)
    if len(classes) < 2:
        return []
    held = np.zeros((batch.max() + 1, len(classes)), dtype=bool)
    held[batch, code] = True
    is_mixed = held.sum(axis=1) > 1
    alone = [str(name) for name in classes[~held[is_mixed].any(axis=0)]]
    return [_alone(alone)] if alone else []


def _alone(classes: Sequence[str]) -> str:
    each = " each" if len(classes) > 1 else ""
    return (
        f"The labelled rows of {examples(classes)} are{each} all in "
        "batches without labelled rows of another class: taking out the batches takes out part of "
        "the difference."
    )
