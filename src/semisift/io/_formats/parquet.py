"""Parquet: a frame whose columns keep their types.

A damaged head of a page makes polars ask for an absurd amount of memory, which ends the process. So
a process of its own reads the file and hands over the frame as an Arrow stream; the start of that
takes less than checking all heads here. Of a file that stays where it is, the schema is read here.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.io._formats._common import read_in_child, reading, turn, turned_back
from semisift.io._guards import BYTES_A_NAME, check_fits, read_bytes
from semisift.io._numeric import SMALL
from semisift.io._on_disk import OnDisk, stays_on_disk
from semisift.io._options import Reading, TableOptions
from semisift.io._table import FileTable
from semisift.out_of_core._sources import PartsSource, Source, of_file

READ = """import sys, polars
polars.read_parquet(sys.stdin.buffer.read()).write_ipc_stream(sys.stdout.buffer)"""

# Bytes of the columns that are read at once from a row group.
COLUMN_BYTES = 1 << 24

# A smaller file is read whole unless the user says how much memory there is.
SMALL_FILE = 1 << 20

# Bytes that a value takes at least, where this is not 8.
WIDTHS: dict[pl.DataType, int] = {
    **dict.fromkeys((pl.Boolean(), pl.Int8(), pl.UInt8()), 1),
    **dict.fromkeys((pl.Int16(), pl.UInt16()), 2),
    **dict.fromkeys((pl.Int32(), pl.UInt32(), pl.Float32()), 4),
}


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a Parquet file: a frame, or values that stay in the file as they do not fit into memory.

    With `transpose`, the first column holds the names of the features, and each other column is a
    sample.
    """
    with reading(path, "Parquet"):
        if isinstance(options, Reading) and options.supports_out_of_core and path.is_file():
            stored = _stored(path, options)
            if stored is not None:
                return FileTable(path, "parquet", stored, [*stored.schema])
        data = read_bytes(path)
        schema, n_rows = _claims(pl.scan_parquet(data))
        n_bytes = n_rows * sum(WIDTHS.get(dtype, 8) for dtype in schema.values())
        what = f"a table of {n_rows} rows and {len(schema)} columns"
        check_fits(n_bytes + BYTES_A_NAME * len(schema), what)
        frame = pl.read_ipc_stream(read_in_child(READ, data))
        table = FileTable(path, "parquet", frame, frame.columns)
        return turn(table, options) if options.transpose else table


def write(table: FileTable, path: Path) -> None:
    """Write a Parquet file."""
    if isinstance(table.values, ParquetOnDisk):
        with reading(table.path, "Parquet"):
            table.values.scan(table.names).sink_parquet(path)
        return
    write_frame(turned_back(table), path)


def write_frame(frame: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a frame to a new file.

    Polars loses the error of a full disk where it writes the end of a file, so that is made first.
    """
    content = io.BytesIO()
    frame.write_parquet(content, metadata=metadata)
    with path.open("xb") as file:
        file.write(content.getbuffer())


def _claims(frame: pl.LazyFrame) -> tuple[dict[str, pl.DataType], int]:
    """Return names and types of columns, and how many rows there are, as the end of a file says."""
    n_rows = frame.select(pl.len()).collect().item()  # a repeated value takes hardly any space
    return dict(frame.collect_schema()), int(n_rows)


# --- files whose values stay there ----------------------------------------------------------------


def _stored(path: Path, options: Reading) -> "ParquetOnDisk | None":
    """Return the values of a file that would not fit into memory; None where they do."""
    if path.stat().st_size < SMALL_FILE and options.max_memory is None:
        return None
    schema, n_rows = _claims(_scan(path))
    numbers = [dtype for dtype in schema.values() if _is_number(dtype)]
    if not stays_on_disk(options, (n_rows, len(numbers)), _common(numbers)):
        return None
    check_fits(BYTES_A_NAME * len(schema), f"a table of {len(schema)} columns")
    return ParquetOnDisk(path, schema, n_rows, options)


class ParquetOnDisk(OnDisk):
    """The columns of a Parquet file.

    Parameters
    ----------
    path : Path
    schema : dict of str to polars.DataType
        Names and types of the columns.
    n_rows : int
    options : Reading
    """

    def __init__(self, path: Path, schema: dict[str, Any], n_rows: int, options: Reading) -> None:
        super().__init__((n_rows, len(schema)), np.float64, options)
        self.path, self.schema, self.names = path, schema, [*schema]

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Return some columns, not yet read."""
        return _scan(self.path).select(names)

    def column(self, position: int) -> pl.Series:
        """Return one column, which is read alone."""
        return self.scan([self.names[position]]).collect().to_series()

    def doubtful(self, positions: NDArray[np.integer]) -> list[int]:
        """Return those of some columns that do not hold numbers."""
        types = [*self.schema.values()]
        return [int(j) for j in positions if not _is_number(types[j])]

    def part(self, positions: NDArray[np.integer]) -> "ParquetOnDisk":
        """Return some columns, which stay in the file as well."""
        schema = {self.names[j]: self.schema[self.names[j]] for j in positions}
        return ParquetOnDisk(self.path, schema, self.shape[0], self.options)

    def source(self, positions: NDArray[np.integer]) -> Source:
        """Return the rows of some columns, by the row groups of the file."""
        names = [self.names[j] for j in positions]
        types = [self.schema[name] for name in names]
        # polars tells how a file is divided by how it reads one column of it
        narrow = names[int(np.argmin([WIDTHS.get(dtype, 8) for dtype in types]))]
        heights = self.scan([narrow]).collect().to_series().chunk_lengths()
        starts = np.concatenate([[0], np.cumsum(heights)]).tolist()
        dtype = _common(types)
        kind = pl.Float32 if dtype == np.float32 else pl.Float64

        def read_part(number: int) -> NDArray[Any]:
            start, height = starts[number], heights[number]
            values = np.empty((height, len(names)), dtype)
            # some columns at a time: a frame of all of them would stand beside the array
            width = max(1, COLUMN_BYTES // (height * dtype.itemsize))
            for first in range(0, len(names), width):
                own = slice(first, first + width)
                frame = _collect(self.scan(names[own]).slice(start, height).cast(kind))
                if len(frame) != height:
                    raise ValueError(f"{len(frame):,} rows, where there were {height:,}")
                values[:, own] = frame.to_numpy()
            return values

        return PartsSource(
            heights,
            len(names),
            dtype,
            read_part,
            name=self.path.name,
            fingerprint=(*of_file(self.path), *names),
        )


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _collect(frame: pl.LazyFrame) -> pl.DataFrame:
    """Return what was read; where polars panics on a damaged file, raise an ordinary error."""
    try:
        return frame.collect()
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # which is no Exception
            raise ValueError(str(error)) from None
        raise


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)


def _common(types: Sequence[pl.DataType]) -> np.dtype[Any]:
    """Return the type in which columns are ranked."""
    return np.dtype(np.float32 if all(dtype in SMALL for dtype in types) else np.float64)
