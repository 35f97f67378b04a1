"""HDF5 files, opened after a check of what the HDF5 library itself does not check."""

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
HEAP_OBJECT = struct.Struct("<HHIQ")

# Values are packed at most so many times smaller; what was never written is smaller still.
MAX_PACKED = 2000
ALWAYS_FITS = 1 << 20


@contextmanager
def open_hdf5(path: Path, extra: str) -> Iterator[tuple[Any, Any]]:
    """Open a file that links to no other, and yield h5py (of the named extra) and the file."""
    h5py = import_extra("h5py", extra)
    _check_heaps(path)
    with h5py.File(path, "r") as file:
        _check_links(h5py, file)
        yield h5py, file


@contextmanager
def create_hdf5(path: Path, extra: str, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Create a new file with options of ``h5py.File``, and yield h5py and the file."""
    h5py = import_extra("h5py", extra)
    with _ErrorKeepingFile(path, "x+") as raw:
        try:
            with h5py.File(raw, "w", **options) as file:
                yield h5py, file
        finally:
            if raw.error is not None:
                raise raw.error


class _ErrorKeepingFile(io.FileIO):
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
    n_bytes = n_bytes_of(node)
    if n_bytes > ALWAYS_FITS:
        check_size(path, n_bytes, f"{node.name} of shape {node.shape}")
    return node[()]


def n_bytes_of(node: Any) -> int:
    """Return what an array of HDF5 or zarr takes in memory."""
    return math.prod(node.shape or ()) * max(1, node.dtype.itemsize)


def check_own(h5py: Any, node: Any) -> None:
    """Refuse a dataset whose values are those of other files."""
    if isinstance(node, h5py.Dataset):
        made = node.id.get_create_plist()
        if made.get_external_count():
            raise _in_other_file(f"the dataset {node.name} is external storage")
        if made.get_layout() == h5py.h5d.VIRTUAL:
            raise _in_other_file(f"the dataset {node.name} is a virtual dataset")


def check_size(path: Path, n_bytes: int, what: str, *, in_memory: bool = True) -> None:
    """Refuse what would not fit into memory (if it is to be there), or not into the file."""
    if in_memory:
        check_fits(n_bytes, what)
    if n_bytes > MAX_PACKED * path.stat().st_size:
        raise damaged(f"{what} claims {n_bytes} bytes, more than the file can hold")


def _check_links(h5py: Any, file: Any) -> None:
    """Refuse links that leave the file; where all stay, one through another stays too."""
    own = (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
    visit = file.id.links.visit
    found = visit(lambda name, info: None if info.type in own else name, info=True)
    if found is not None:
        raise _in_other_file(f"/{found.decode(errors='replace')} is a link to another file")


def _in_other_file(what: str) -> FileError:
    cure = "Write a file that holds its values: h5repack, or load and save it anew"
    return FileError(f"{what}, and only what stands in the file itself is read. {cure}.")


def _check_heaps(path: Path) -> None:
    """Refuse damaged stores of text, in which the library would walk in circles for ever."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = data.find(HEAP)
        while start >= 0:
            end = start + int.from_bytes(data[start + 8 : start + 16], "little")
            position = start + 16
            while position + HEAP_OBJECT.size <= min(end, len(data)):
                number, _, _, size = HEAP_OBJECT.unpack_from(data, position)
                # free space (number 0) counts its own head
                step = size if number == 0 else HEAP_OBJECT.size + -(-size // 8) * 8
                if not HEAP_OBJECT.size <= step <= end - position:
                    raise damaged("a store of text in it is damaged")
                position += step
            start = data.find(HEAP, start + 1)
