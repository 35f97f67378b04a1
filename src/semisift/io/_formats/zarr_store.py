"""Folders of zarr as AnnData writes them: a matrix of cells and genes, and tables of both.

A folder says itself how its arrays are unpacked, and one way to do so runs what the file says. So
nothing is opened before all that is named in it is known to be harmless. A few bytes may also
describe more chunks than could ever be listed, or unpack to more than the memory holds. So chunks
are at most so many for each file that is there, and each unpacks to the size that the array says.
Most ways of packing tell that at their start; what the others make is counted piece by piece.
"""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import math
import os
import shutil
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from semisift.io._formats import _anndata
from semisift.io._formats._common import columns_kept, reading
from semisift.io._formats._hdf5 import n_bytes_of
from semisift.io._guards import DAMAGED, FileError, check_fits, damaged, import_extra
from semisift.io._options import TableOptions
from semisift.io._table import FileTable
from semisift.utils._warnings import warn

FORM = "AnnData (zarr)"

# Ways of packing that do nothing but unpack.
HARMLESS = {
    *("blosc", "zlib", "gzip", "zstd", "lz4", "bz2", "lzma", "shuffle", "delta", "packbits"),
    *("bytes", "transpose", "sharding_indexed", "crc32", "crc32c", "adler32", "fletcher32"),
    *("vlen-utf8", "vlen-bytes", "fixedscaleoffset", "quantize", "bitround"),
}
METADATA = (".zarray", ".zattrs", ".zgroup", ".zmetadata", "zarr.json")
MAX_METADATA = 1 << 24

# Chunks that an array may have in any case, and for each file: AnnData leaves out those of zeros.
ALWAYS_LISTED = 100_000
MAX_CHUNKS_A_FILE = 100

# No chunk is refused that unpacks to less, nor for text of less than so many bytes a cell.
ALWAYS_UNPACKED = 1 << 26
BYTES_A_TEXT = 1 << 10

# What makes things larger when it is undone. What may stand behind it adds a few bytes at the end.
PACKERS = ("blosc", "zlib", "gzip", "zstd", "lz4", "bz2", "lzma")
AT_THE_END = ("crc32c", "fletcher32")
LARGEST_ITEM = 16

PIECE = 1 << 20


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a folder of AnnData."""
    with reading(path, FORM, fixed=_anndata.FIXED, turn=options.transpose):
        root = _open(path)
        if "uns" in root:
            _check_chunks(path, root["uns"])

        def check(node: Any, *, in_memory: bool) -> None:
            _check_chunks(path, node)
            if in_memory:
                n_bytes = sum(map(n_bytes_of, _arrays(node)))
                check_fits(n_bytes, f"the part {node.path} of the folder")
            elif _anndata.is_dense(node):
                _warn_of_missing_chunks(path, node)

        def fingerprint(node: Any) -> tuple[Any, ...]:
            return _fingerprint(path / node.path)

        return _anndata.read_group(path, "zarr", root, options, check, fingerprint)


def write(table: FileTable, path: Path) -> None:
    """Write a new folder with fewer genes than the one that was read, and otherwise complete.

    Everything else (layers, embeddings) is taken from the folder at the path of the table, which
    must still be there.
    """
    with reading(table.path, FORM), warnings.catch_warnings():
        # what the libraries plan for versions to come
        for kind in (UserWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        root = _open(table.path)
        zarr = import_extra("zarr", "anndata")
        _anndata.check_same(table, root)
        _check_chunks(table.path, root)
        target = zarr.open_group(path, mode="w-", zarr_format=root.metadata.zarr_format)
        _anndata.write_reduced(
            root,
            target,
            columns_kept(table),
            copy=lambda name: shutil.copytree(table.path / name, path / name),
            create=lambda group, name, shape, dtype: group.create_array(
                name, shape=shape, dtype=dtype
            ),
        )
        zarr.consolidate_metadata(target.store)


def _open(path: Path) -> Any:
    """Return the group of a folder that may be read."""
    import_extra("anndata", "anndata")
    zarr = import_extra("zarr", "anndata")
    if not path.is_dir():
        raise FileError("zarr is a folder, and this is a file. Unpack it first.")
    _check_folder(path)
    try:
        # what stands in one place for the whole folder is not what was checked
        return zarr.open_group(path, mode="r", use_consolidated=False)
    except FileNotFoundError as error:
        raise FileError("the folder holds no group of zarr. Was it written by AnnData?") from error


def _warn_of_missing_chunks(path: Path, node: Any) -> None:
    if n_missing := node.nchunks - node.nchunks_initialized:
        warn(
            f"{path}: {n_missing:,} of {node.nchunks:,} chunks of {node.path} are not there "
            "and are read as zeros. AnnData leaves out chunks of nothing but zeros; if there "
            "should be other values, the folder is incomplete.",
            UserWarning,
        )


def _fingerprint(folder: Path) -> tuple[Any, ...]:
    """Return what changes when a file of a folder does."""
    found = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        state = file.stat()
        about = state.st_size, state.st_mtime_ns, state.st_ctime_ns
        found.update("\0".join(map(str, (file.relative_to(folder), *about, ""))).encode())
    return str(folder.resolve()), found.hexdigest()


def _arrays(node: Any) -> Iterator[Any]:
    """Yield an array, or all arrays of a group."""
    if _anndata.is_dense(node):
        yield node
        return
    for name in node:
        yield from _arrays(node[name])


# --- what may not be unpacked ---------------------------------------------------------------------


def _check_folder(path: Path) -> None:
    """Refuse links that leave the folder, and ways of packing that could run what a file says."""
    for folder, folders, files in os.walk(path):
        where = Path(folder).relative_to(path)
        for name in (*folders, *files):
            if os.path.islink(os.path.join(folder, name)):
                rule = "only what stands in the folder itself is read"
                cure = "Copy the folder with the files that it links to"
                raise FileError(f"{where / name} is a link, and {rule}. {cure}.")
        for name in {".zarray", "zarr.json"}.intersection(files):
            _check_packing(Path(folder, name), str(where))


def _check_packing(file: Path, array: str) -> None:
    if file.stat().st_size > MAX_METADATA:
        raise ValueError(f"the description of {array} is longer than any description")
    about = json.loads(file.read_text(encoding="utf-8"))
    if about.get("node_type") == "group":
        return
    for name in _packing(about):
        if name not in HARMLESS:
            rule = "which is not read: not every way of packing is safe"
            cure = "Write the folder again with AnnData"
            raise FileError(f"the array {array} is packed by {name!r}, {rule}. {cure}.")


def _packing(about: Any) -> Iterator[str]:
    """Yield the names of all ways in which an array is packed."""
    steps = [about.get("compressor"), *(about.get("filters") or ()), *(about.get("codecs") or ())]
    for step in filter(None, steps):
        yield _name(step)
        for key in ("codecs", "index_codecs"):
            yield from _packing({"codecs": (step.get("configuration") or {}).get(key)})


def _name(step: Any) -> str:
    return str(step.get("id", step.get("name"))).removeprefix("numcodecs.")


def _settings(step: Any) -> Any:
    """Return the settings of a way of packing, as either version of zarr writes them."""
    return step.get("configuration", step) or {}


def _check_chunks(folder: Path, node: Any) -> None:
    """Refuse arrays with more chunks than there could be, or chunks that are too large."""
    for array in _arrays(node):
        paths = [
            Path(each, name) for each, _, names in os.walk(folder / array.path) for name in names
        ]
        files = [path for path in paths if path.name not in METADATA]
        # in the order in which they are undone; either form of zarr has one part of these
        about = array.metadata.to_dict()
        parts = about.get("codecs"), about.get("filters"), [about.get("compressor")]
        steps = [step for part in parts for step in part or () if step][::-1]
        outer, inner, shards = array.shards or array.chunks, array.chunks, None
        _check_number(array, outer, len(files))
        if array.shards is not None:
            # each chunk of a shard takes 16 bytes in its index
            _check_number(array, inner, sum(path.stat().st_size for path in files) // 16)
            while _is_at_the_end(steps[0]):
                steps.pop(0)
            if _name(steps[0]) != "sharding_indexed":
                raise damaged(f"the shards of {array.path} are packed by {_name(steps[0])}")
            shards = steps.pop(0)["configuration"]
            steps += [*reversed(shards["codecs"])]
        packer = _packer(array.path, steps)
        n_cells = math.prod(inner)
        n_bytes = n_cells * array.dtype.itemsize
        check_fits(n_bytes, f"a chunk of {array.path}, of shape {inner},")
        limit = 2 * (n_cells * BYTES_A_TEXT if array.dtype.kind in "OT" else n_bytes)
        for path in files if packer else ():
            with path.open("rb") as file:
                for chunk in [file] if shards is None else _of_shard(file, outer, inner, shards):
                    if _unpacks_to_more(chunk, packer, max(limit, ALWAYS_UNPACKED)):
                        where = path.relative_to(folder)
                        raise damaged(
                            f"{where} unpacks to more than a chunk of shape {inner} holds"
                        )


def _check_number(array: Any, chunks: Any, n_files: int) -> None:
    """Refuse more chunks than could be of so many files."""
    shape = tuple(array.shape)
    n_chunks = math.prod(-(-length // step) for length, step in zip(shape, chunks, strict=True))
    if n_chunks > max(ALWAYS_LISTED, MAX_CHUNKS_A_FILE * n_files):
        what = f"the array {array.path} of shape {shape} in chunks of {tuple(chunks)}"
        raise damaged(
            f"{what} has {n_chunks:,} chunks, and files for {n_files:,} of them are there"
        )


def _is_at_the_end(step: Any) -> bool:
    """Whether a step adds nothing but a few bytes at the end."""
    return _name(step) in AT_THE_END and _settings(step).get("location", "end") == "end"


def _packer(path: str, steps: list[Any]) -> Any:
    """Return the one step that packs, of those that are undone in this order; None if none does."""
    packing = [i for i, step in enumerate(steps) if _name(step) in PACKERS]
    if len(packing) > 1 or not all(map(_is_at_the_end, steps[: (packing or [0])[0]])):
        names = " and ".join(_name(step) for step in reversed(steps))
        cure = "what that unpacks to is not known before. Write the folder again with AnnData"
        raise FileError(f"the array {path} is packed by {names}, and {cure}.")
    for step in steps:
        for key in ("dtype", "astype"):
            dtype = _settings(step).get(key)
            if dtype is not None and np.dtype(dtype).itemsize > LARGEST_ITEM:
                raise damaged(f"the array {path} is packed as values of type {dtype}")
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


def _unpacks_to_more(file: IO[bytes], packer: Any, limit: int) -> bool:
    """Whether a packed file makes more than so many bytes, found without making many more."""
    about = _settings(packer)
    match _name(packer):
        case "blosc":
            _, size, _, packed = struct.unpack("<4sIII", file.read(16).ljust(16, b"\xff"))
            # a start that is damaged is told where the chunk is read
            return bool(limit < size and packed <= file.seek(0, os.SEEK_END))
        case "lz4":
            return int.from_bytes(file.read(4), "little") > limit
        case "zstd":
            return _size_of_zstd(file) > limit
        case "zlib":
            pieces = _zlib_pieces(file)
        case "gzip":
            pieces = _pieces(partial(gzip.GzipFile, fileobj=file))
        case "bz2":
            pieces = _pieces(partial(bz2.BZ2File, file))
        case _:
            form, filters = about.get("format", lzma.FORMAT_XZ), about.get("filters")
            pieces = _pieces(partial(lzma.LZMAFile, file, format=form, filters=filters))
    size = 0
    try:
        return any((size := size + len(piece)) > limit for piece in pieces)
    except (*DAMAGED, lzma.LZMAError):  # as the codec will say
        return False


def _pieces(unpack: Callable[[], Any]) -> Iterator[bytes]:
    with unpack() as unpacked:
        while piece := unpacked.read(PIECE):
            yield piece


def _zlib_pieces(file: IO[bytes]) -> Iterator[bytes]:
    unpacking = zlib.decompressobj()
    while not unpacking.eof:
        packed = unpacking.unconsumed_tail or file.read(PIECE)
        if not packed:
            return
        yield unpacking.decompress(packed, PIECE)


def _size_of_zstd(file: IO[bytes]) -> int:
    """Return what the frames of a file make: as they say, or at most where one does not."""
    declared, most, all_declare = 0, 0, True
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
        declared += int.from_bytes(file.read(width), "little") + 256 * (width == 2)
        all_declare &= width > 0
        is_last = False
        while not is_last and len(head := file.read(3)) == 3:
            number = int.from_bytes(head, "little")
            is_last, kind, size = bool(number & 1), number >> 1 & 3, number >> 3
            most += size if kind < 2 else 1 << 17
            file.seek(1 if kind == 1 else size, os.SEEK_CUR)
        file.seek(4 * (flag >> 2 & 1), os.SEEK_CUR)
    return declared if all_declare else most
