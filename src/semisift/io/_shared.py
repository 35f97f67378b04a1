"""What the readers and writers of several formats share."""

import gzip
import importlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.io.limits import USABLE_SHARE, FileError, available_memory, check_fits, naming
from semisift.io.options import TableOptions, said
from semisift.io.table import FileTable, native

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

# What libraries reserve without using it.
ADDRESSES_OF_LIBRARIES = 4 << 30

SECONDS_TO_READ = 60
BYTES_A_SECOND = 1 << 20

# What a column costs before it holds a value: its name, and its place in lists and sets.
BYTES_A_NAME = 200

LAST_CHARACTER = 0x10FFFF


@contextmanager
def reading(
    path: Path, form: str, options: TableOptions | None = None, orientation: str = ""
) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into an error that a user understands.

    Parameters
    ----------
    path : Path
    form : str
        What the file should be: "Parquet".
    options : TableOptions, optional
        Must not turn the table, because of its `orientation`.
    orientation : str
        A form that defines it has features or samples in rows always.
    """
    try:
        with naming(path):
            if options is not None and options.transpose:
                turn = said("transpose", True)
                raise FileError(f"{orientation}, so there is nothing to turn: leave out {turn}.")
            yield
    except TableError:
        raise
    except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError) as error:
        raise TableError(f"{path}: cannot be opened: {error.strerror or error}.") from error
    except MemoryError as error:
        raise TableError(
            f"{path}: reading it needs more memory than there is, or the file is damaged and "
            "claims to be larger than it is."
        ) from error
    except Exception as error:
        lines = str(error).strip().splitlines()
        reason = (lines[0] if lines else type(error).__name__)[:200].rstrip(". ")
        raise TableError(
            f"{path}: not a readable {form} file: {reason}. It may be cut or damaged, or be of "
            "another format than its name says: make or download it again."
        ) from error


def try_in_child(program: str, data: bytes) -> None:
    """Let a process of its own read a file, and refuse the file if the process comes to grief.

    What a foreign reader does on a damaged file, dying, eating memory or never ending, it then does
    there.

    Parameters
    ----------
    program : str
        In Python, which reads its standard input.
    data : bytes
        The file.
    """
    free = available_memory()
    if free is not None and resource is not None:
        most = int(USABLE_SHARE * free) + ADDRESSES_OF_LIBRARIES
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))\n"
        program = limit + program
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", program],
            input=data,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS_TO_READ + len(data) / BYTES_A_SECOND,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError("its reader does not come to an end") from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(lines[-1] if lines else f"its reader ends with {done.returncode}")


def import_extra(module: str, extra: str) -> Any:
    """Import a library that is installed on request only."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise FileError(
            f"reading this file needs the library {module.partition('.')[0]}: "
            f'pip install "semisift[{extra}]"'
        ) from error


@contextmanager
def create(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file for writing; what is to end in .gz is packed on the way."""
    with path.open("xb") as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        # no time and no name inside, so that the same table makes the same file
        # level 6: 9, the default, takes four times as long for some percent
        with gzip.GzipFile(
            filename="", fileobj=file, mode="wb", mtime=0, compresslevel=6
        ) as packed:
            yield packed  # type: ignore[misc]


def check_shape(shape: Sequence[int]) -> None:
    """Refuse a sparse matrix whose rows and columns could not even be named."""
    rows, columns = shape
    n_bytes = BYTES_A_NAME * int(columns) + 16 * int(rows)
    check_fits(n_bytes, f"a table of {rows} rows and {columns} columns")


def shown(data: bytes, length: int = 60) -> str:
    """Return the start of a line, for messages."""
    return repr(data[:length].decode("utf-8", errors="replace").strip())


def texts(array: NDArray[Any]) -> list[str]:
    """Return the strings of an array of text, of bytes in UTF-8 or of numbers."""
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind == "U" and array.size:
        plain = native(np.ascontiguousarray(array)).ravel()
        codes = plain.view(np.uint32)  # as the file has them, and Python believes anything
        wrong = codes[(codes > LAST_CHARACTER) | ((codes >= 0xD800) & (codes < 0xE000))]
        if len(wrong):
            raise ValueError(f"a text in it holds {wrong[0]:#x}, which is no character")
    return [str(value) for value in array.ravel().tolist()]


def whole(values: NDArray[Any]) -> NDArray[Any] | pl.Series:
    """Return labels that are whole numbers as integers, missing ones as null; others unchanged."""
    if values.dtype.kind != "f":
        return values
    given = values[~np.isnan(values)]
    if np.any(np.abs(given) >= 2**53) or np.any(given != np.floor(given)):
        return values
    return pl.Series(values.astype(np.float64)).fill_nan(None).cast(pl.Int64)


def columns_kept(table: FileTable) -> NDArray[np.intp]:
    """Return where the columns of a matrix, of which some may be gone, stood when it was read."""
    position = {name: j for j, name in enumerate(table.details["names"])}
    return np.array([position[name] for name in table.names], dtype=np.intp)


def told_apart(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return the names, with the id in parentheses where a name stands more than once."""
    often = Counter(names)
    return [
        name if often[name] == 1 else f"{name} ({id_})"
        for name, id_ in zip(names, ids, strict=True)
    ]
