"""Categorical columns: refused by default, spread over columns or numbered where the user says so.

A categorical variable with the categories red and blue is spread over the columns ``colour=red``
and ``colour=blue`` of zeros and ones; it is ranked as one variable again, by its best column.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._words import count, examples, quoted
from semisift.exceptions import TableError
from semisift.io.numbers import FeatureColumns
from semisift.io.options import said
from semisift.io.table import FileTable

MOST_SHOWN = 5

# A variable with more values than this, and than half of the rows, holds no categories.
MOST_CATEGORIES = 20


@dataclass(frozen=True, eq=False)
class Encoded:
    """FeatureColumns of numbers and the variables that they came from."""

    X: Any
    names: list[str]
    variable_of: NDArray[np.int64]
    notes: list[str]


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
            raise TableError(
                f"{table.path}: column {position + 1 + table.column_offset} "
                f"({quoted(table.names[position])}) holds words, {len(values)} different ones in "
                f"{n_rows} rows ({examples(values, 2)}): this looks like an identifier. If it "
                f"names the rows, say {said('id', table.names[position])}; if it names features, "
                f"which the file has in rows, say {said('transpose', True)}; else leave it out "
                f"with {said('drop')}."
            )
    if columns.categories and categorical == "error":
        shown = ", ".join(
            f"{quoted(table.names[columns.positions[j]])} ({', '.join(values[:3])}"
            f"{', ...' if len(values) > 3 else ''})"
            for j, values in list(columns.categories.items())[:MOST_SHOWN]
        )
        more = len(columns.categories) - MOST_SHOWN
        shown += f" and {more} more" if more > 0 else ""
        raise TableError(
            f"{table.path}: categories instead of numbers in {len(columns.categories)} of "
            f"{len(columns.positions)} columns: {shown}. Say "
            f"{said('categorical', 'onehot')} to give each "
            "category a column of its own (they are ranked together, as one variable), or "
            f"{said('categorical', 'ordinal')} to number the categories in their order; or leave "
            f"such columns out with {said('drop')}."
        )


def encode(table: FileTable, columns: FeatureColumns, categorical: str) -> Encoded:
    """Turn categories into numbers.

    Parameters
    ----------
    table : FileTable
        For the names.
    columns : FeatureColumns
        Without missing values.
    categorical : {"onehot", "ordinal"}
        Or anything, where there is no categorical column.

    Returns
    -------
    Encoded
    """
    names = [table.names[j] for j in columns.positions.tolist()]
    variable_of = np.arange(len(names))
    if not columns.categories:
        return Encoded(columns.X, names, variable_of, [])
    n_categorical = len(columns.categories)
    if categorical == "ordinal":
        note = f"The categories of {count(n_categorical, 'column')} were numbered in their order."
        return Encoded(columns.X, names, variable_of, [note])
    parts, spread_names, owners = [], [], []
    for j, name in enumerate(names):
        column = columns.X[:, j]
        values = columns.categories.get(j)
        if values is None:
            parts.append(column[:, None])
            spread_names.append(name)
            owners.append(j)
            continue
        codes = [code for code in range(len(values)) if (column == code).any()]
        parts.append((column[:, None] == np.array(codes)).astype(columns.X.dtype))
        spread_names += [f"{name}={values[code]}" for code in codes]
        owners += [j] * len(codes)
    note = (
        f"{count(n_categorical, 'categorical variable')} spread over "
        f"{count(len(owners) - len(names) + n_categorical, 'column')} of zeros and ones and ranked "
        "as one, each by its best column."
    )
    X = np.asfortranarray(np.hstack(parts))
    return Encoded(X, spread_names, np.array(owners), [note])
