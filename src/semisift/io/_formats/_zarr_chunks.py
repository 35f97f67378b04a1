"""Chunks of zarr, bounded before any codec sees them: how many there are, what they unpack to.

A few bytes may describe more chunks than could ever be listed, or unpack to more than the memory
holds. So chunks are at most so many for each file that is there, and each unpacks to the size that
the array says. Most ways of packing tell that at their start; what the others make is counted
piece by piece.
"""

import bz2
import gzip
import io
import lzma
import math
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from semisift.io._guards import DAMAGED, FileError, check_fits, damaged

# Chunks that an array may have in any case, and for each file: AnnData leaves out those of zeros.
ALWAYS_LISTED = 100_000
MOST_FOR_A_FILE = 100

# No chunk is refused that unpacks to less, nor for text of less than so many bytes a cell.
ALWAYS_UNPACKED = 1 << 26
BYTES_A_TEXT = 1 << 10

# What makes things larger when it is undone. What may stand behind it adds a few bytes at the end.
PACKERS = ("blosc", "zlib", "gzip", "zstd", "lz4", "bz2", "lzma")
AT_THE_END = ("crc32c", "fletcher32")
LARGEST_ITEM = 16

PIECE = 1 << 20
METADATA = (".zarray", ".zattrs", ".zgroup", ".zmetadata", "zarr.json")


def check_chunks(folder: Path, node: Any) -> None:
    """Refuse an array with more chunks than there could be, or chunks that are too large.

    Parameters
    ----------
    folder : Path
        That the root group of the array stands for.
    node : array of zarr
    """
    about = node.metadata.to_dict()
    files = list(_files(folder / node.path))
    n_bytes = sum(os.path.getsize(file) for file in files)
    outer, inner = node.shards or node.chunks, node.chunks
    check_number(node.path, node.shape, outer, len(files))
    # in the order in which they are undone; either form of zarr has one part of these
    parts = about.get("codecs"), about.get("filters"), [about.get("compressor")]
    steps = [step for part in parts for step in part or () if step][::-1]
    shards = None
    if node.shards is not None:
        # each chunk of a shard takes 16 bytes in its index
        check_number(node.path, node.shape, inner, n_bytes // 16)
        while _is_behind(steps[0]):
            steps.pop(0)
        if _name(steps[0]) != "sharding_indexed":
            raise damaged(f"the shards of {node.path} are packed by {_name(steps[0])}")
        shards = steps.pop(0)["configuration"]
        steps += [*reversed(shards["codecs"])]
    packer = _packer(node.path, steps)
    n_cells = math.prod(inner)
    is_text = node.dtype.kind in "OT"
    size = n_cells * (BYTES_A_TEXT if is_text else node.dtype.itemsize)
    check_fits(n_cells * node.dtype.itemsize, f"a chunk of {node.path}, of shape {inner},")
    if packer is None:
        return
    for name in files:
        with open(name, "rb") as file:
            for chunk in [file] if shards is None else _of_shard(file, outer, inner, shards):
                if unpacks_to_more(chunk, packer, max(2 * size, ALWAYS_UNPACKED)):
                    raise damaged(
                        f"{os.path.relpath(name, folder)} unpacks to more than a chunk of shape "
                        f"{inner} holds"
                    )


def check_number(path: str, shape: Any, chunks: Any, n_files: int) -> None:
    """Refuse more chunks than could be of so many files."""
    n_chunks = math.prod(-(-length // step) for length, step in zip(shape, chunks, strict=True))
    if n_chunks > max(ALWAYS_LISTED, MOST_FOR_A_FILE * n_files):
        raise damaged(
            f"the array {path} of shape {tuple(shape)} in chunks of {tuple(chunks)} has "
            f"{n_chunks:,} chunks, and files for {n_files:,} of them are there"
        )


def _files(folder: Path) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in names if name not in METADATA)


def _name(step: Any) -> str:
    return str(step.get("id", step.get("name"))).removeprefix("numcodecs.")


def _is_behind(step: Any) -> bool:
    """Whether a step adds nothing but a few bytes at the end."""
    about = step.get("configuration", step) or {}
    return _name(step) in AT_THE_END and about.get("location", "end") == "end"


def _packer(path: str, steps: list[Any]) -> Any:
    """Return the one step that packs, of those that are undone in this order; None if none does."""
    names = [_name(step) for step in steps]
    behind = [i for i, step in enumerate(steps) if _is_behind(step)]
    packing = [i for i, name in enumerate(names) if name in PACKERS]
    if len(packing) > 1 or any(i not in behind for i in range(*packing)):
        raise FileError(
            f"the array {path} is packed by {' and '.join(reversed(names))}, and what that "
            "unpacks to is not known before. Write the folder again with AnnData."
        )
    for step in steps:
        about = step.get("configuration", step) or {}
        for key in ("dtype", "astype"):
            if about.get(key) is not None and np.dtype(about[key]).itemsize > LARGEST_ITEM:
                raise damaged(f"the array {path} is packed as values of type {about[key]}")
    return steps[packing[0]] if packing else None


def _of_shard(file: IO[bytes], outer: Any, inner: Any, about: Any) -> Iterator[IO[bytes]]:
    """Yield the chunks of a shard, which an index at its start or end lists."""
    codecs = [_name(step) for step in about["index_codecs"]]
    if set(codecs) - {"bytes", "crc32c"}:
        raise damaged(f"the index of a shard is packed by {', '.join(codecs)}")
    length = math.prod(a // b for a, b in zip(outer, inner, strict=True)) * 16
    checked = 4 * codecs.count("crc32c")
    n_bytes = file.seek(0, os.SEEK_END)
    if n_bytes < length + checked:
        return  # as zarr will say
    file.seek(0 if about.get("index_location") == "start" else n_bytes - length - checked)
    for start, size in np.frombuffer(file.read(length), "<u8").reshape(-1, 2).tolist():
        if start + size <= n_bytes:  # others are not there
            file.seek(start)
            yield io.BytesIO(file.read(size))


# --- what a chunk unpacks to ----------------------------------------------------------------------


def unpacks_to_more(file: IO[bytes], packer: Any, most: int) -> bool:
    """Tell whether a packed file makes more than so many bytes, without making many more."""
    about = packer.get("configuration", packer) or {}
    match _name(packer):
        case "blosc":
            _, size, _, packed = struct.unpack("<4sIII", file.read(16).ljust(16, b"\xff"))
            # a start that is damaged is told where the chunk is read
            return bool(most < size and packed <= file.seek(0, os.SEEK_END))
        case "lz4":
            return int.from_bytes(file.read(4), "little") > most
        case "zstd":
            return _size_of_zstd(file) > most
        case "zlib":
            return _is_longer(_zlib_pieces(file), most)
        case "gzip":
            opened: Any = gzip.GzipFile(fileobj=file)
        case "bz2":
            opened = bz2.BZ2File(file)
        case _:
            form, filters = about.get("format", lzma.FORMAT_XZ), about.get("filters")
            opened = lzma.open(file, format=form, filters=filters)  # noqa: SIM115
    return _is_longer(iter(lambda: opened.read(PIECE), b""), most)


def _is_longer(pieces: Iterator[bytes], most: int) -> bool:
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > most:
                return True
    except (*DAMAGED, lzma.LZMAError):  # as the codec will say
        pass
    return False


def _zlib_pieces(file: IO[bytes]) -> Iterator[bytes]:
    unpacking = zlib.decompressobj()
    while not unpacking.eof:
        packed = unpacking.unconsumed_tail or file.read(PIECE)
        if not packed:
            return
        yield unpacking.decompress(packed, PIECE)


def _size_of_zstd(file: IO[bytes]) -> int:
    """Return what the frames of a file make: as they say, or at most where one does not."""
    said, most, all_say = 0, 0, True
    while len(start := file.read(4)) == 4:
        if start[1:] == b"\x2a\x4d\x18" and start[0] >> 4 == 5:  # a frame to be skipped
            file.seek(int.from_bytes(file.read(4), "little"), os.SEEK_CUR)
            continue
        if start != b"\x28\xb5\x2f\xfd" or not (flags := file.read(1)):
            break
        flag = flags[0]
        is_single = flag >> 5 & 1
        file.seek((not is_single) + (0, 1, 2, 4)[flag & 3], os.SEEK_CUR)
        width = (is_single, 2, 4, 8)[flag >> 6]
        said += int.from_bytes(file.read(width), "little") + 256 * (width == 2)
        all_say &= width > 0
        is_last = False
        while not is_last and len(head := file.read(3)) == 3:
            number = int.from_bytes(head, "little")
            is_last, kind, size = bool(number & 1), number >> 1 & 3, number >> 3
            most += size if kind < 2 else 1 << 17
            file.seek(1 if kind == 1 else size, os.SEEK_CUR)
        file.seek(4 * (flag >> 2 & 1), os.SEEK_CUR)
    return said if all_say else most
