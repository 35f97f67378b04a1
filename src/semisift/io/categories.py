"""Categorical columns: refused by default, spread over columns or numbered where the user says so.

A categorical variable with the categories red and blue is spread over the columns ``colour=red``
and ``colour=blue`` of zeros and ones; it is ranked as one variable again, by its best column.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._words import count, examples, quoted
from semisift.io.limits import FileError
from semisift.io.numbers import FeatureColumns
from semisift.io.options import said
from semisift.io.table import FileTable

MOST_SHOWN = 5

# A variable with more values than this, and than half of the rows, holds no categories.
MOST_CATEGORIES = 20


def check_categories(table: FileTable, columns: FeatureColumns, categorical: str) -> None:
    """Refuse categorical columns that the user has said nothing about, and identifiers.

    Parameters
    ----------
    table : FileTable
        For messages.
    columns : FeatureColumns
    categorical : {"error", "onehot", "ordinal"}
    """
    n_rows = columns.X.shape[0]
    for j, values in columns.categories.items():
        if len(values) > max(MOST_CATEGORIES, n_rows / 2) or 2 < len(values) == n_rows:
            position = int(columns.positions[j])
            raise FileError(
                f"column {position + 1 + table.column_offset} ({quoted(table.names[position])}) "
                f"holds words, {len(values)} different ones in {n_rows} rows "
                f"({examples(values, 2)}): this looks like an identifier. If it names the rows, "
                f"say {said('id', table.names[position])}; if it names features, which the file "
                f"has in rows, say {said('transpose', True)}; else leave it out with "
                f"{said('drop')}."
            )
    if columns.categories and categorical == "error":
        shown = ", ".join(
            f"{quoted(table.names[columns.positions[j]])} "
            f"({', '.join(values[:3])}{', ...' if len(values) > 3 else ''})"
            for j, values in list(columns.categories.items())[:MOST_SHOWN]
        )
        more = len(columns.categories) - MOST_SHOWN
        shown += f" and {more} more" if more > 0 else ""
        raise FileError(
            f"categories instead of numbers in {len(columns.categories)} of "
            f"{len(columns.positions)} columns: {shown}. Say {said('categorical', 'onehot')} to "
            "give each category a column of its own (they are ranked together, as one variable), "
            f"or {said('categorical', 'ordinal')} to number the categories in their order; or "
            f"leave such columns out with {said('drop')}."
        )


def encode(
    table: FileTable, columns: FeatureColumns, categorical: str, notes: list[str]
) -> tuple[Any, list[str], NDArray[np.int64]]:
    """Turn categories into numbers.

    Parameters
    ----------
    table : FileTable
        For the names.
    columns : FeatureColumns
        Without missing values.
    categorical : {"onehot", "ordinal"}
        Or anything, where there is no categorical column.
    notes : list of str
        Takes a sentence on what was done.

    Returns
    -------
    X : array or sparse array
    names : list of str
        Of its columns.
    variable_of : int array
        Which column of the features each of its columns came from.
    """
    names = [table.names[j] for j in columns.positions.tolist()]
    n_categorical = len(columns.categories)
    if not n_categorical or categorical == "ordinal":
        if n_categorical:
            spread = count(n_categorical, "column")
            notes.append(f"The categories of {spread} were numbered in their order.")
        return columns.X, names, np.arange(len(names))
    parts, spread_names, owners = [], [], []
    for j, name in enumerate(names):
        column, values = columns.X[:, [j]], columns.categories.get(j)
        if values is None:
            parts.append(column)
            spread_names.append(name)
            owners.append(j)
            continue
        codes = [code for code in range(len(values)) if (column == code).any()]
        parts.append((column == np.array(codes)).astype(columns.X.dtype))
        spread_names += [f"{name}={values[code]}" for code in codes]
        owners += [j] * len(codes)
    notes.append(
        f"{count(n_categorical, 'categorical variable')} spread over "
        f"{count(len(owners) - len(names) + n_categorical, 'column')} of zeros and ones and ranked "
        "as one, each by its best column."
    )
    return np.asfortranarray(np.hstack(parts)), spread_names, np.array(owners)
