"""What the readers and writers of several formats share."""

import gzip
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.exceptions import OutOfCoreError, TableError
from semisift.io._guards import USABLE_SHARE, FileError, error_context
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, drop_columns, resolve_names
from semisift.utils._files import no_room
from semisift.utils._memory import available_memory, most_addresses
from semisift.utils._text import quote

# Addresses that libraries reserve without using them.
ADDRESSES_OF_LIBRARIES = 4 << 30

MIN_SECONDS_TO_READ = 60
BYTES_A_SECOND = 1 << 20


@contextmanager
def reading(path: Path, form: str, *, fixed: str = "", turn: bool = False) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into an error that a user understands.

    Parameters
    ----------
    path : Path
    form : str
        What the file should be: "Parquet".
    fixed : str
        What stands in rows always, where the form defines it.
    turn : bool
        The user wants to turn the table nevertheless.
    """
    with error_context(path):
        try:
            if fixed and turn:
                cure = f"leave out {format_option('transpose', True)}"
                raise FileError(f"{fixed}, so there is nothing to turn: {cure}.")
            yield
        except (TableError, OutOfCoreError):
            raise
        except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError) as error:
            raise FileError(f"cannot be opened: {error.strerror or error}.") from error
        except MemoryError as error:
            problem = "reading it needs more memory than there is, or its claimed size is damaged"
            raise FileError(f"{problem}.") from error
        except BaseException as error:
            is_panic = type(error).__name__ == "PanicException"  # of polars, and no Exception
            if isinstance(error, Exception):
                if (full := no_room(error)) is not None:  # of the disk that is written to
                    raise full from error
            elif not is_panic:
                raise
            lines = str(error).strip().splitlines()
            reason = (lines[0] if lines else type(error).__name__)[:200].rstrip(". ")
            cure = "It may be cut or damaged, or of another format: make or download it again"
            raise FileError(f"not a readable {form} file: {reason}. {cure}.") from error


def read_in_child(program: str, data: bytes) -> bytes:
    """Return what a program prints that reads a file in a process of its own.

    A foreign reader that dies, eats memory or never ends on a damaged file does so there, and the
    file is refused.

    Parameters
    ----------
    program : str
        In Python, which reads its standard input.
    data : bytes
        The file.
    """
    free = available_memory()
    if free is not None and os.name != "nt":
        # a limit that is there already can be lowered alone
        limit = int(USABLE_SHARE * free) + ADDRESSES_OF_LIBRARIES
        limit = min(limit, most_addresses() or limit)
        setting = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))"
        program = f"{setting}\n{program}"
    folders = [str(Path(__file__).parents[3]), *filter(None, sys.path)]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-W", "ignore", "-c", program],
            input=data,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
            capture_output=True,
            timeout=MIN_SECONDS_TO_READ + len(data) / BYTES_A_SECOND,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError("its reader does not come to an end") from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        lines = [line for line in lines if not line.startswith("note:")]
        reason = re.sub(r"^[\w.]*(Error|Exception): ", "", lines[-1]) if lines else ""
        raise ValueError(reason or f"its reader ends with {done.returncode}")
    return done.stdout


@contextmanager
def create(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file for writing; it is packed if its name ends in .gz."""
    with path.open("xb") as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        # no time and no name inside, so that the same table makes the same file
        # level 6: 9, the default, takes four times as long for some percent
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=6) as packed:
            yield packed  # type: ignore[misc]


def shown(data: bytes, length: int = 60) -> str:
    """Return the start of a line, for messages."""
    return repr(data[:length].decode("utf-8", errors="replace").strip())


def columns_kept(table: FileTable) -> NDArray[np.intp]:
    """Return the positions in the file of the columns that a table still has."""
    position = {name: j for j, name in enumerate(table.details["names"])}
    return np.array([position[name] for name in table.names], dtype=np.intp)


def with_ids(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return the names, with the id in parentheses where a name stands more than once."""
    counts, pairs = Counter(names), zip(names, ids, strict=True)
    return [name if counts[name] == 1 else f"{name} ({id_})" for name, id_ in pairs]


def choose_names(
    columns: Mapping[str, Iterable[str | None]], usual: Sequence[str], wanted: str
) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of features from the column that the user wants, and a note on empty cells.

    Parameters
    ----------
    columns : mapping of name to cells
        The columns that could hold them; None for an empty cell.
    usual : sequence of str
        Names of the features whose cell is empty.
    wanted : str
    """
    if wanted not in columns:
        known = f"There are {', '.join(map(quote, columns))}" if columns else "There is none"
        problem = f"{format_option('names_from', wanted)}: no column of features is called so"
        raise FileError(f"{problem}. {known}.")
    given = [(cell or "").strip() for cell in columns[wanted]]
    names = [name or other for name, other in zip(given, usual, strict=True)]
    if not (n_empty := given.count("")):
        return names, ()
    have = "feature has" if n_empty == 1 else "features have"
    return names, (f"{n_empty:,} {have} no name in {quote(wanted)}, called as usual.",)


# --- features in rows -----------------------------------------------------------------------------


def turn(table: FileTable, options: TableOptions) -> FileTable:
    """Return a table with a row for each sample and a column for each feature.

    Parameters
    ----------
    table : FileTable
        A first column of feature names and a column for each sample.
    options : TableOptions
        Name the columns that hold no sample.

    Returns
    -------
    FileTable
        Numbers where every column of samples holds numbers, else text.
    """
    frame = drop_columns(table, options.drop).values
    if frame.width < 2:
        rule = (
            "with features in rows, the first column holds their names and the others the samples"
        )
        cure = f"Is {format_option('transpose', True)} right for it?"
        raise FileError(f"{rule}; the file has {frame.width} column. {cure}")
    features = frame.to_series(0).cast(pl.String).fill_null("").str.strip_chars().to_list()
    features, notes = resolve_names(features, "feature (row)", options)
    samples = frame.drop(frame.columns[0])
    return replace(
        table,
        values=_transpose(samples, features),
        names=features,
        row_names=samples.columns,
        transposed=True,
        first_line=None,
        notes=(*table.notes, *notes),
        details={**table.details, "first_name": frame.columns[0]},
    )


def _transpose(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    if any(dtype.is_nested() for dtype in frame.dtypes):
        problem = "a column of samples holds lists, and only numbers and words can be ranked"
        raise FileError(f"{problem}. Leave it out with {format_option('drop')}.")
    if not all(dtype.is_numeric() for dtype in frame.dtypes):
        frame = frame.cast(pl.String)
    return frame.transpose(column_names=names)


def turned_back(table: FileTable) -> pl.DataFrame:
    """Return the frame as the file has it, which may have a row for each feature."""
    if not table.transposed:
        return table.values
    features = pl.Series(table.details["first_name"], table.names)
    return _transpose(table.values, table.row_names or []).insert_column(0, features)
