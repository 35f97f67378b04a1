"""MATLAB files of versions 5 to 7.2: tagged elements, each perhaps packed by zlib.

Read here: scipy's reader ends the process on some damaged files. Only matrices of numbers, text and
cells of text are understood; anything else is listed and left alone.
"""

import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.io._mat_file import MatFile, Variable
from semisift.io._sparse import from_compressed
from semisift.io.limits import check_fits, read_bytes

HEADER = 128
MATRIX, PACKED = 14, 15
# Types of stored numbers, and of text, which is stored in UTF-8, -16 or -32.
NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
# Classes of arrays by their code, and the types of numbers in memory.
CELL, CHAR, SPARSE = 1, 4, 5
CLASSES = {
    1: "cell",
    2: "struct",
    3: "object",
    4: "char",
    5: "sparse",
    16: "function",
    17: "opaque",
}
TYPES = {
    6: ("double", "f8"),
    7: ("single", "f4"),
    **{8 + i: (name, name) for i, name in enumerate(("int8", "uint8", "int16", "uint16"))},
    **{12 + i: (name, name) for i, name in enumerate(("int32", "uint32", "int64", "uint64"))},
}
# Enough for the flags, the dimensions and the name of an array.
PEEK = 4096


class DamagedError(ValueError):
    """What is read cannot be part of a MATLAB file."""


@dataclass(frozen=True)
class Array:
    """The head of an array, and where its content starts."""

    code: int
    logical: bool
    complex: bool
    shape: tuple[int, ...]
    name: str
    data: memoryview
    start: int


def open_v5(path: Path) -> MatFile:
    """Open a file of version 5 to 7.2."""
    content = memoryview(read_bytes(path))
    order = "<" if bytes(content[126:128]) == b"IM" else ">"
    places: dict[str, tuple[int, memoryview]] = {}
    variables: dict[str, Variable] = {}
    position = HEADER
    while position + 8 <= len(content):
        kind, data, position = _element(content, position, order)
        if kind not in (MATRIX, PACKED):
            raise DamagedError(f"an element of type {kind} stands where a variable must")
        head = _head(_unpacked(path, data, order, PEEK) if kind == PACKED else data, order)
        described = TYPES[head.code][0] if head.code in TYPES else CLASSES.get(head.code, "unknown")
        described = "complex" if head.complex else "logical" if head.logical else described
        sparse = head.code == SPARSE and not head.complex
        variables[head.name] = Variable(head.shape, described, sparse)
        places[head.name] = kind, data

    def load(name: str) -> Any:
        kind, data = places[name]
        whole = _unpacked(path, data, order) if kind == PACKED else data
        return _load(path, _head(whole, order), order)

    return MatFile("5", variables, load)


def _element(data: memoryview, position: int, order: str) -> tuple[int, memoryview, int]:
    """Return the type of an element, its content, and where the next one starts."""
    if position + 8 > len(data):
        raise DamagedError("it ends in the middle of a variable")
    first, size = struct.unpack_from(order + "II", data, position)
    if first >> 16:  # up to four bytes stand inside the tag
        kind, size, start, after = first & 0xFFFF, first >> 16, position + 4, position + 8
        if size > 4:
            raise DamagedError(f"a small element claims {size} bytes")
    else:
        kind, start = first, position + 8
        after = start + size + (0 if kind == PACKED else -size % 8)
    if start + size > len(data):
        raise DamagedError(f"an element claims {size} bytes, and {len(data) - start} are left")
    return kind, data[start : start + size], after


def _unpacked(path: Path, packed: memoryview, order: str, most: int = 0) -> memoryview:
    """Return the content of the variable in a packed element; of a large one the first bytes."""
    machine = zlib.decompressobj()
    start = machine.decompress(packed, max(most, PEEK))
    if len(start) < 8:
        raise DamagedError("a packed variable is empty")
    kind, size = struct.unpack_from(order + "II", start)
    if kind != MATRIX:
        raise DamagedError(f"an element of type {kind} stands where a variable must")
    if most:
        return memoryview(start)[8:]
    check_fits(size, path, "a variable, unpacked,")
    rest = machine.decompress(machine.unconsumed_tail, max(size + 8 - len(start), 1))
    if len(start) + len(rest) < size + 8:
        raise DamagedError("a packed variable is cut")
    return memoryview(start + rest)[8:]


def _head(data: memoryview, order: str) -> Array:
    _, flags, position = _element(data, 0, order)
    _, sizes, position = _element(data, position, order)
    _, name, position = _element(data, position, order)
    if len(flags) != 8 or len(sizes) < 8 or len(sizes) % 4:
        raise DamagedError("the head of a variable is wrong")
    (word,) = struct.unpack_from(order + "I", flags)
    shape = tuple(np.frombuffer(sizes, dtype=order + "i4").tolist())
    if min(shape) < 0:
        raise DamagedError(f"a variable has the shape {shape}")
    text = bytes(name).decode("utf-8", errors="replace").rstrip("\0")
    return Array(word & 0xFF, bool(word & 0x200), bool(word & 0x800), shape, text, data, position)


def _load(path: Path, array: Array, order: str) -> Any:
    if array.code == SPARSE:
        return _sparse(path, array, order)
    if array.code == CELL:
        return _cells(path, array, order)
    if array.code == CHAR:
        return _characters(array, order)
    if array.code not in TYPES or array.complex:
        raise TableError(f"{path}: the variable {array.name} does not hold numbers or text.")
    values, _ = _numbers(array.data, array.start, order)
    if values.size != math.prod(array.shape):
        raise DamagedError(f"{array.name} has {values.size} values for the shape {array.shape}")
    dtype = bool if array.logical else TYPES[array.code][1]
    return values.astype(dtype).reshape(array.shape, order="F")


def _numbers(data: memoryview, position: int, order: str) -> tuple[NDArray[Any], int]:
    kind, content, after = _element(data, position, order)
    if kind not in NUMBERS:
        raise DamagedError(f"an element of type {kind} stands where numbers must")
    return np.frombuffer(content, dtype=order + NUMBERS[kind]), after


def _sparse(path: Path, array: Array, order: str) -> Any:
    indices, position = _numbers(array.data, array.start, order)
    indptr, position = _numbers(array.data, position, order)
    values, _ = _numbers(array.data, position, order)
    stored = int(indptr[-1]) if indptr.size else 0  # MATLAB may reserve room for more
    if not 0 <= stored <= min(len(indices), len(values)):
        raise DamagedError(f"{array.name} has {len(values)} values, and its columns claim {stored}")
    values = values[:stored].astype(bool if array.logical else values.dtype)
    parts = (values, indices[:stored], indptr)
    return from_compressed(path, *parts, array.shape, by_columns=True)


def _characters(array: Array, order: str) -> list[str]:
    """Return the rows of a matrix of characters, without blanks at their ends."""
    if not math.prod(array.shape):
        return [""] * array.shape[0] if array.shape[0] <= 1 else []
    kind, content, _ = _element(array.data, array.start, order)
    if kind not in ENCODINGS:
        raise DamagedError(f"an element of type {kind} stands where text must")
    encoding = ENCODINGS[kind]
    if encoding in ("utf-16", "utf-32"):
        encoding += "-le" if order == "<" else "-be"
    text = bytes(content).decode(encoding)
    n_rows = array.shape[0]
    if len(text) != math.prod(array.shape):
        if n_rows != 1:
            raise DamagedError(
                f"{array.name} has {len(text)} characters for the shape {array.shape}"
            )
        return [text.strip()]
    return [text[i::n_rows].strip() for i in range(n_rows)]


def _cells(path: Path, array: Array, order: str) -> list[str]:
    n_cells, position = math.prod(array.shape), array.start
    if 8 * n_cells > len(array.data):
        raise DamagedError(f"{array.name} claims {n_cells} cells in {len(array.data)} bytes")
    texts = []
    for _ in range(n_cells):
        kind, content, position = _element(array.data, position, order)
        if kind != MATRIX:
            raise DamagedError(f"an element of type {kind} stands where a cell must")
        texts.append(_cell_text(path, array.name, content, order))
    return texts


def _cell_text(path: Path, name: str, content: memoryview, order: str) -> str:
    if not len(content):
        return ""
    cell = _head(content, order)
    if cell.code == CHAR and cell.shape[0] <= 1:
        return "".join(_characters(cell, order))
    if cell.code in TYPES and math.prod(cell.shape) == 1 and not cell.complex:
        return str(_load(path, cell, order).item())
    raise TableError(
        f"{path}: the cells of {name} must hold text: one of them has the shape {cell.shape}."
    )
