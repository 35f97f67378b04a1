"""Features of a table whose values stay in its file: which columns a ranker goes through."""

import numpy as np
from numpy.typing import NDArray

from semisift._words import count, quoted
from semisift.io.limits import FileError
from semisift.io.numbers import read_numbers
from semisift.io.on_disk import OnDisk
from semisift.io.options import Reading, said
from semisift.io.settle import check_categories
from semisift.io.table import FileTable
from semisift.stored.rows import StoredRows


def rows_of_features(
    table: FileTable, positions: NDArray[np.int64], reading: Reading, notes: list[str]
) -> StoredRows:
    """Return the rows of the features, or say which column holds no numbers.

    Parameters
    ----------
    table : FileTable
        Whose values stay in the file.
    positions : int array
        Which columns of the values are features.
    reading : Reading
    notes : list of str
        Takes sentences on what is done.

    Returns
    -------
    StoredRows
    """
    values: OnDisk = table.values
    for position in values.doubtful(positions):
        _refuse(table, position, reading)
    names = [table.names[j] for j in positions.tolist()]
    rows = values.rows(positions, names, reading.log)
    if reading.log:
        notes.append(f"log(1 + x) is taken of {count(len(names), 'column')}.")
    return rows


def _refuse(table: FileTable, position: int, reading: Reading) -> None:
    """Raise the error that a column of other things than numbers gets in memory, or another."""
    name, column = table.names[position], table.values.column(position)
    alone = FileTable(
        path=table.path,
        form=table.form,
        values=column.alias(name).to_frame(),
        names=[name],
        column_offset=table.column_offset + position,
    )
    found = read_numbers(alone, np.array([0]), (), reading.decimal_comma)
    check_categories(alone, found, "error")
    raise FileError(
        f"column {position + 1 + table.column_offset} ({quoted(name)}) holds numbers that are "
        "stored as text, which are read from tables in memory only. Write them as numbers, leave "
        f"the column out with {said('drop', name)}, or allow more memory with {said('max_memory')}."
    )
