"""Opening HDF5 files, after a look at what the HDF5 library itself does not check."""

import io
import math
import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from semisift.io._guards import FileError, check_fits, damaged, import_extra

SIGNATURE = b"\x89HDF\r\n\x1a\n"
USER_BLOCK = 512
HEAP = b"GCOL\x01\0\0\0"
HEAD = struct.Struct("<HHIQ")

# No packing makes numbers or names so many times smaller; what never was written is smaller still.
MOST_PACKED = 2000
ALWAYS_FITS = 1 << 20

# A search in a large file can be interrupted after so many bytes.
SEARCHED_AT_ONCE = 1 << 28


@contextmanager
def open_hdf5(path: Path, extra: str) -> Iterator[tuple[Any, Any]]:
    """Open a file that links to no other, and yield h5py and the file.

    Parameters
    ----------
    path : Path
    extra : str
        Which of our extras brings h5py.
    """
    h5py = import_extra("h5py", extra)
    _check_heaps(path)
    with h5py.File(path, "r") as file:
        _refuse_links(h5py, file)
        yield h5py, file


@contextmanager
def create_hdf5(path: Path, extra: str, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Create a file, and yield h5py and the file.

    Parameters
    ----------
    path : Path
        That does not exist.
    extra : str
        Which of our extras brings h5py.
    **options
        Of ``h5py.File``.
    """
    h5py = import_extra("h5py", extra)
    with _Unfailing(path, "x+") as raw:
        try:
            with h5py.File(raw, "w", **options) as file:
                yield h5py, file
        finally:
            if raw.error is not None:
                raise raw.error


class _Unfailing(io.FileIO):
    """A file that keeps the first error of writing to itself.

    Where a write fails, as on a full disk, the HDF5 library leaves a file behind that it can
    neither write nor close, and later takes the process with it.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all of it, or nothing any more after an error."""
        left = memoryview(data).cast("B")
        n_bytes = len(left)
        try:
            while len(left) and self.error is None:
                left = left[super().write(left) :]
        except OSError as error:
            self.error = error
        return n_bytes

    def truncate(self, size: int | None = None) -> int:
        """Set the length, unless there was an error."""
        try:
            if self.error is None:
                return super().truncate(size)
        except OSError as error:
            self.error = error
        return size or 0


def read_own(path: Path, h5py: Any, node: Any) -> Any:
    """Return the content of a dataset, which must stand in the file itself and fit into memory."""
    check_own(h5py, node)
    n_bytes = math.prod(node.shape or ()) * node.dtype.itemsize
    if n_bytes > ALWAYS_FITS:
        check_size(path, n_bytes, f"{node.name} of shape {node.shape}")
    return node[()]


def check_own(h5py: Any, node: Any) -> None:
    """Refuse a dataset whose values are those of other files."""
    if isinstance(node, h5py.Dataset):
        made = node.id.get_create_plist()
        if made.get_external_count() or made.get_layout() == h5py.h5d.VIRTUAL:
            kind = "external storage" if made.get_external_count() else "a virtual dataset"
            raise _elsewhere(f"the dataset {node.name} is {kind}")


def check_size(path: Path, n_bytes: int, what: str) -> None:
    """Refuse what would not fit into memory, or not into the file."""
    check_fits(n_bytes, what)
    check_packed(path, n_bytes, what)


def check_packed(path: Path, n_bytes: int, what: str) -> None:
    """Refuse what would not fit into the file."""
    if n_bytes > MOST_PACKED * path.stat().st_size:
        raise damaged(f"{what} claims {n_bytes} bytes, more than the file can hold")


def _refuse_links(h5py: Any, file: Any) -> None:
    """Refuse links that leave the file; where all stay, one through another stays too."""
    own = (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
    visit = file.id.links.visit
    found = visit(lambda name, info: None if info.type in own else name, info=True)
    if found is not None:
        raise _elsewhere(f"/{found.decode(errors='replace')} is a link to another file")


def _elsewhere(what: str) -> FileError:
    return FileError(
        f"{what}, and only what stands in the file itself is read. Write a file that holds its "
        "values: h5repack, or load and save it with the program that made it."
    )


def _check_heaps(path: Path) -> None:
    """Refuse stores of text in which the library would walk in circles for ever."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = 0 if data[:8] == SIGNATURE else USER_BLOCK
        # the size of sizes, whose place depends on the version
        if len(data) <= start + 16 or data[start + (10 if data[start + 8] >= 2 else 14)] != 8:
            return
        for first in range(0, len(data), SEARCHED_AT_ONCE):
            end = first + SEARCHED_AT_ONCE + len(HEAP) - 1
            position = data.find(HEAP, first, end)
            while position >= 0:
                _check_heap(data, position)
                position = data.find(HEAP, position + 1, end)


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
