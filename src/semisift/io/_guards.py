"""Reading bytes, packed or not, and never more than fits into memory."""

import gzip
import importlib
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from semisift.exceptions import TableError
from semisift.utils._files import no_room
from semisift.utils._memory import shortage

# What a column costs before it holds a value: its name, and its place in lists and sets.
BYTES_A_NAME = 200

# What is left for the ranking, the pictures and everybody else on the machine.
USABLE_SHARE = 0.8


class FileError(TableError):
    """What is wrong with a file, without its name, which `error_context` puts in front."""


def damaged(what: str) -> FileError:
    """Return the error of a file that cannot be what was written."""
    return FileError(f"{what}. It is cut or damaged: make it again.")


@contextmanager
def error_context(path: Path | str) -> Iterator[None]:
    """Say in which file, or where in it, an error is."""
    try:
        yield
    except FileError as error:
        raise TableError(f"{path}: {error}") from error.__cause__


@contextmanager
def writing() -> Iterator[None]:
    """Tell of a full disk as Python does."""
    try:
        yield
    except Exception as error:
        if (full := no_room(error)) is None or full is error:
            raise
        raise full from error


def check_fits(n_bytes: int, what: str) -> None:
    """Refuse what would not fit into memory.

    Parameters
    ----------
    n_bytes : int
        Needed to hold it.
    what : str
        What claims this size, for the message: "the array 'X' of shape (1000000, 1000000)".
    """
    if (lack := shortage(n_bytes, USABLE_SHARE)) is not None:
        cure = "If the file is right, use a larger machine or a sparse format"
        raise FileError(f"{what} {lack}. {cure}.")


# --- bytes of a file ------------------------------------------------------------------------------


CHUNK = 1 << 24

# How gzip files start.
PACKED = b"\x1f\x8b"

# Errors of a packed file that is cut or damaged.
DAMAGED = (EOFError, OSError, zlib.error)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked, refusing what would not fit into memory.

    Parameters
    ----------
    path : Path
        Packed with gzip if it ends in ``.gz`` or starts as such files do.

    Returns
    -------
    bytes
    """
    check_fits(path.stat().st_size, "the file")
    chunks, size, packing = [], 0, ""
    try:
        with path.open("rb") as raw:
            file: Any = raw
            if path.suffix.lower() == ".gz" or raw.peek(len(PACKED)).startswith(PACKED):
                file, packing = gzip.GzipFile(fileobj=raw), " (packed with gzip)"
            while chunk := file.read(CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                # twice: the parts, and the whole that is made of them
                check_fits(2 * size, "the unpacked file")
    except DAMAGED as error:
        cure = "It may be cut or damaged: make or download it again"
        raise FileError(f"the file{packing} cannot be read: {error}. {cure}.") from error
    return b"".join(chunks)


def check_shape(shape: Sequence[int]) -> None:
    """Refuse a sparse matrix whose rows and columns could not even be named."""
    rows, columns = map(int, shape)
    what = f"a table of {rows} rows and {columns} columns"
    check_fits(BYTES_A_NAME * columns + 16 * rows, what)


def import_extra(module: str, extra: str) -> Any:
    """Import a library that is installed on request only."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        cure = f'pip install "semisift[{extra}]"'
        raise FileError(f"this needs the library {library}: {cure}") from error
