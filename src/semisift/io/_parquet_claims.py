"""What a Parquet file claims of its own sizes, checked before polars believes it.

A damaged head of a page makes polars ask for an absurd amount of memory, which ends the process. So
the heads (Thrift structures in the compact protocol) are read here first; the values are not.
"""

from pathlib import Path
from typing import Any

from semisift.io.limits import check_fits

MAGIC = b"PAR1"
# Types of the compact protocol; 3 to 6 are integers.
TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY = 1, 2, 3, (4, 5, 6), 7, 8
LISTS, STRUCT = (9, 10), 12
DEEPEST = 16

# Numbers of the fields that are looked at, as parquet.thrift gives them.
NUM_ROWS, ROW_GROUPS = 3, 4
GROUP_COLUMNS, GROUP_ROWS = 1, 3
COLUMN_META = 3
META_VALUES, META_UNPACKED, META_PACKED, META_DATA, META_DICTIONARY = 5, 6, 7, 9, 11
PAGE_UNPACKED, PAGE_PACKED = 2, 3
PAGE_HEADS = (5, 7, 8)  # data, dictionary, data of version 2
HEAD_VALUES = 1
HEAD_LENGTHS = (2, 3, 5, 6)  # of version 2: nulls, rows, bytes of the levels


class Heads:
    """A reader of Thrift structures; each becomes a dict of its numbers, lists and structures."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the structure that starts here, and go behind it."""
        if depth > DEEPEST:
            raise ValueError("its structures are nested too deeply")
        data, fields, number = self.data, {}, 0
        while head := data[self.position]:
            self.position += 1
            number = number + (head >> 4) if head > 15 else self._integer()
            kind = head & 15
            # the two that are met most often go first: a wide table has a million fields
            if kind in INTEGERS:
                fields[number] = self._integer()
            elif kind == BINARY:
                self._skip(self._varint())
            else:
                fields[number] = self._value(kind, depth)
        self.position += 1
        return fields

    def _value(self, kind: int, depth: int, in_list: bool = False) -> Any:
        if kind in INTEGERS:
            return self._integer()
        if kind == BINARY:
            return self._skip(self._varint())
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in LISTS:
            return self._list(depth)
        if kind in (TRUE, FALSE):
            return self._skip(1) if in_list else None
        if kind in (BYTE, DOUBLE):
            return self._skip(1 if kind == BYTE else 8)
        raise ValueError(f"a field of type {kind} has no place in it")

    def _list(self, depth: int) -> list[Any]:
        head = self.data[self.position]
        self.position += 1
        size = head >> 4 if head >> 4 < 15 else self._varint()
        if size > len(self.data) - self.position:
            raise ValueError(f"a list claims {size} members")
        return [self._value(head & 15, depth + 1, in_list=True) for _ in range(size)]

    def _varint(self) -> int:
        position = self.position
        byte = self.data[position]
        value, shift = byte & 127, 7
        while byte > 127:
            position += 1
            byte = self.data[position]
            value |= (byte & 127) << shift
            shift += 7
            if shift > 70:
                raise ValueError("a number in it has no end")
        self.position = position + 1
        return value

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, size: int) -> None:
        if size > len(self.data) - self.position:
            raise ValueError("a text in it is longer than the file")
        self.position += size


def check_claims(path: Path, data: bytes) -> None:
    """Refuse a file whose heads claim what cannot be.

    Parameters
    ----------
    path : Path
        For messages.
    data : bytes
        The whole file.
    """
    if not (data.startswith(MAGIC) and data.endswith(MAGIC)):
        raise ValueError("it does not start and end with PAR1")
    size = int.from_bytes(data[-8:-4], "little")
    if size > len(data) - 12:
        raise ValueError("its summary is longer than the file")
    summary = Heads(data, len(data) - 8 - size).struct()
    groups = summary.get(ROW_GROUPS, [])
    rows = [_count(group, GROUP_ROWS, "rows") for group in groups]
    if sum(rows) != _count(summary, NUM_ROWS, "rows"):
        raise ValueError(f"its parts have {sum(rows)} rows, and the whole claims another number")
    columns = [column for group in groups for column in group.get(GROUP_COLUMNS, [])]
    metas = [column[COLUMN_META] for column in columns if column.get(COLUMN_META)]
    unpacked = sum(_count(meta, META_UNPACKED, "bytes") for meta in metas)
    check_fits(unpacked, path, "its content, unpacked,")
    for meta in metas:
        _check_pages(data, meta)


def _check_pages(data: bytes, meta: dict[int, Any]) -> None:
    """Walk over the pages of a column."""
    n_values = _count(meta, META_VALUES, "values")
    position = min(meta.get(META_DICTIONARY) or meta[META_DATA], meta[META_DATA])
    end = position + _count(meta, META_PACKED, "bytes")
    if position < len(MAGIC) or end > len(data):
        raise ValueError("a column lies outside the file")
    while position < end:
        heads = Heads(data, position)
        page = heads.struct()
        position = heads.position + _count(page, PAGE_PACKED, "bytes")
        room = max(_count(page, PAGE_UNPACKED, "bytes"), n_values)
        for head in (page[number] for number in PAGE_HEADS if number in page):
            counts = [_count(head, HEAD_VALUES, "values")]
            if PAGE_HEADS[-1] in page:
                counts += [_count(head, number, "entries") for number in HEAD_LENGTHS]
            if max(counts) > room:
                raise ValueError(f"a page claims {max(counts)} values of {n_values}")
    if position != end:
        raise ValueError("a page does not end where its column ends")


def _count(fields: dict[int, Any], number: int, what: str) -> int:
    value = fields.get(number, 0)
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"a part of it claims {value} {what}")
    return value
