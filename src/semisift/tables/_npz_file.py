"""The container of a NumPy archive: arrays in a zip file, believed only as far as they go."""

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.tables.limits import check_fits

READ_HEADER = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
SUFFIX = ".npy"


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive; nothing in it is ever executed (no pickle).

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of array
    """
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(SUFFIX)]
        check_fits(sum(entry.file_size for entry in entries), path, "its content, unpacked,")
        for entry in entries:
            name = entry.filename.removesuffix(SUFFIX)
            _check_header(path, archive, entry, name)
            with archive.open(entry) as file:
                arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
    if not arrays:
        raise TableError(f"{path}: the archive holds no array. Was it saved by numpy.savez?")
    return arrays


def _check_header(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> None:
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version not in READ_HEADER:
            raise TableError(f"{path}: the array {name!r} is a table of records, not an array.")
        shape, _, dtype = READ_HEADER[version](file)
        size = entry.file_size - file.tell()
    if dtype.hasobject:
        raise TableError(
            f"{path}: the array {name!r} holds Python objects (pickle), which could run any "
            "program and are never loaded. Save it as numbers or as text: array.astype(float), "
            "array.astype(str)."
        )
    claimed = math.prod(shape) * dtype.itemsize
    if claimed != size:
        check_fits(claimed, path, f"the array {name!r} of shape {shape}")
        raise TableError(
            f"{path}: the array {name!r} of shape {shape} and type {dtype} takes {claimed} bytes, "
            f"but the file has {size} for it. It is cut or damaged: make it again."
        )


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as `numpy.savez_compressed` does, whatever their names are."""
    with zipfile.ZipFile(path, "x", compression=zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, array in arrays.items():
            # the same time in every file, so that the same table makes the same file
            entry = zipfile.ZipInfo(name + SUFFIX)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
