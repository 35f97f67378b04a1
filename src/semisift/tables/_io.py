"""Reading bytes: whole files, packed or not, never more than fits into memory."""

import gzip
import zlib
from pathlib import Path
from typing import IO, cast

from semisift.exceptions import TableError
from semisift.tables.limits import check_fits

CHUNK = 1 << 24

# Errors of a packed file that is cut or damaged.
DAMAGED = (EOFError, OSError, zlib.error)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading; what ends in .gz is unpacked on the way."""
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked, refusing what would not fit into memory.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bytes
    """
    check_fits(path.stat().st_size, path, "the file")
    chunks, size = [], 0
    try:
        with open_bytes(path) as file:
            while chunk := file.read(CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                # twice: the parts, and the whole that is made of them
                check_fits(2 * size, path, "the unpacked file")
    except DAMAGED as error:
        raise TableError(
            f"{path}: the file cannot be read: {error}. It may be cut or damaged: make or download "
            "it again."
        ) from error
    return b"".join(chunks)
