"""Opening HDF5 files, after a look at what the HDF5 library itself does not check."""

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from semisift.tables._shared import import_extra

SIGNATURE = b"\x89HDF\r\n\x1a\n"
USER_BLOCK = 512
HEAP = b"GCOL\x01\0\0\0"
HEAD = struct.Struct("<HHIQ")


@contextmanager
def open_hdf5(path: Path, extra: str) -> Iterator[tuple[Any, Any]]:
    """Open a file and yield h5py and the file.

    Parameters
    ----------
    path : Path
    extra : str
        Which of our extras brings h5py.
    """
    h5py = import_extra(path, "h5py", extra)
    _check_heaps(path)
    with h5py.File(path, "r") as file:
        yield h5py, file


def _check_heaps(path: Path) -> None:
    """Refuse stores of text in which the library would walk in circles for ever."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if not _has_long_sizes(data):
            return
        position = data.find(HEAP)
        while position >= 0:
            _check_heap(data, position)
            position = data.find(HEAP, position + 1)


def _has_long_sizes(data: mmap.mmap) -> bool:
    start = 0 if data[:8] == SIGNATURE else USER_BLOCK
    version = data[start + 8] if len(data) > start + 16 else 0
    return len(data) > start + 16 and data[start + (10 if version >= 2 else 14)] == 8


def _check_heap(data: mmap.mmap, start: int) -> None:
    end = start + int.from_bytes(data[start + 8 : start + 16], "little")
    if end > len(data):
        raise ValueError("a store of text is longer than the file")
    position = start + 16
    while position + HEAD.size <= end:
        number, _, _, size = HEAD.unpack_from(data, position)
        # what is free (number 0) counts its own head
        step = size if number == 0 else HEAD.size + -(-size // 8) * 8
        if not HEAD.size <= step <= end - position:
            raise ValueError("a store of text in it is damaged")
        position += step
