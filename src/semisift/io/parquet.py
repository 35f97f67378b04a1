"""Parquet: a frame whose columns keep their types.

A damaged head of a page makes polars ask for an absurd amount of memory, which ends the process. So
a process of its own reads the file first; a quarter of a second, and on wide tables less than it
takes to check all heads here.
"""

from pathlib import Path

import polars as pl

from semisift.io._shared import reading, try_in_child, turn, turned_back
from semisift.io.limits import BYTES_A_NAME, check_fits, read_bytes
from semisift.io.options import TableOptions
from semisift.io.table import FileTable

MAGIC = b"PAR1"
READ = "import sys, polars; polars.read_parquet(sys.stdin.buffer.read())"

# Bytes that a value takes at least, where this is not 8.
WIDTHS: dict[pl.DataType, int] = {
    **dict.fromkeys((pl.Boolean(), pl.Int8(), pl.UInt8()), 1),
    **dict.fromkeys((pl.Int16(), pl.UInt16()), 2),
    **dict.fromkeys((pl.Int32(), pl.UInt32(), pl.Float32()), 4),
}


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a Parquet file.

    Parameters
    ----------
    path : Path
    options : TableOptions
        With `transpose`, the first column holds the names of the features, and each other column
        is a sample.

    Returns
    -------
    FileTable
        With a frame.
    """
    with reading(path, "Parquet"):
        data = read_bytes(path)
        if not (data.startswith(MAGIC) and data.endswith(MAGIC)):
            raise ValueError("it does not start and end with PAR1")
        try_in_child(READ, data)
        _check_size(data)
        frame = pl.read_parquet(data)
        table = FileTable(path=path, form="parquet", values=frame, names=frame.columns)
        return turn(table, options) if options.transpose else table


def write(table: FileTable, path: Path) -> None:
    """Write a Parquet file.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
    """
    with path.open("xb") as file:
        turned_back(table).write_parquet(file)


def _check_size(data: bytes) -> None:
    """Refuse what would not fit: in the file, a value that is repeated takes hardly any space."""
    frame = pl.scan_parquet(data)
    widths = [WIDTHS.get(dtype, 8) for dtype in frame.collect_schema().dtypes()]
    n_rows = frame.select(pl.len()).collect().item()
    what = f"a table of {n_rows} rows and {len(widths)} columns"
    check_fits(n_rows * sum(widths) + BYTES_A_NAME * len(widths), what)
