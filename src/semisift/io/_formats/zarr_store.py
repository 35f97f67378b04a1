"""Folders of zarr as AnnData writes them: a matrix of cells and genes, and tables of both.

A folder says itself how its arrays are unpacked, and one way to do so runs what the file says. So
nothing is opened before all that is named in it is known to be harmless.
"""

import hashlib
import json
import math
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from semisift.io._formats import _anndata
from semisift.io._formats._common import columns_kept, reading
from semisift.io._formats._zarr_chunks import check_chunks
from semisift.io._guards import FileError, check_fits, import_extra
from semisift.io._options import TableOptions
from semisift.io._table import FileTable
from semisift.out_of_core._sources import Source
from semisift.utils._warnings import warn

# Ways of packing that do nothing but unpack.
HARMLESS = {
    *("blosc", "zlib", "gzip", "zstd", "lz4", "bz2", "lzma", "shuffle", "delta", "packbits"),
    *("bytes", "transpose", "sharding_indexed", "crc32", "crc32c", "adler32", "fletcher32"),
    *("vlen-utf8", "vlen-bytes", "fixedscaleoffset", "quantize", "bitround"),
}
METADATA = (".zarray", "zarr.json")
LONGEST_METADATA = 1 << 24


def read(path: Path, options: TableOptions) -> FileTable:
    """Read the matrix of a folder of AnnData and what it says of the cells.

    Parameters
    ----------
    path : Path
    options : TableOptions
        `matrix` names a layer to be read instead of X.

    Returns
    -------
    FileTable
        As `semisift.io._formats._anndata.make_table` makes it. A matrix that does not fit into
        memory stays in the folder.
    """
    fixed = "a folder of AnnData always has cells in rows and genes in columns"
    with reading(path, "AnnData (zarr)", fixed=fixed, turn=options.transpose):
        anndata, root = _open(path)
        node = _anndata.find_matrix(root, options.matrix)
        for part in (root["obs"], root["var"], node, *_group(root, "uns")):
            _check_chunks(path, part)
        for name in ("obs", "var"):
            check_fits(sum(map(_size, _arrays(root[name]))), f"its part {name}")
        X = _source(path, node) if _anndata.stays(options, node) else _matrix(node)
        return _anndata.make_table(path, "zarr", X, options, anndata=anndata, root=root)


def write(table: FileTable, path: Path) -> None:
    """Write the folder that was read, with fewer genes and otherwise complete.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns. Everything else (layers, embeddings) is
        taken from the folder at its path, which must still be there.
    path : Path
        A new folder.
    """
    with reading(table.path, "AnnData (zarr)"), warnings.catch_warnings():
        # what the libraries plan for versions to come
        for kind in (UserWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        anndata, root = _open(table.path)
        zarr = import_extra("zarr", "anndata")
        _anndata.check_same(table, root)
        for name in root:
            _check_chunks(table.path, root[name])
        target = zarr.open_group(path, mode="w-", zarr_format=root.metadata.zarr_format)
        _anndata.write_reduced(
            anndata,
            root,
            target,
            columns_kept(table),
            copy=lambda name: _copy(table.path / name, path / name),
            create=_create,
        )
        zarr.consolidate_metadata(target.store)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target)


def _create(group: Any, name: str, shape: tuple[int, int], dtype: Any) -> Any:
    return group.create_array(name, shape=shape, dtype=dtype)


def _open(path: Path) -> tuple[Any, Any]:
    """Return anndata and the group of a folder that may be read."""
    anndata, zarr = (import_extra(name, "anndata") for name in ("anndata", "zarr"))
    if not path.is_dir():
        raise FileError("zarr is a folder, and this is a file. Unpack it first.")
    _check_folder(path)
    try:
        # what stands in one place for the whole folder is not what was checked
        return anndata, zarr.open_group(path, mode="r", use_consolidated=False)
    except FileNotFoundError as error:
        raise FileError("the folder holds no group of zarr. Was it written by AnnData?") from error


def _check_folder(path: Path) -> None:
    """Refuse links that leave the folder, and ways of packing that could run what a file says."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            if os.path.islink(os.path.join(folder, name)):
                where = Path(folder, name).relative_to(path)
                raise FileError(
                    f"{where} is a link, and only what stands in the folder itself is read. Copy "
                    "the folder with the files that it links to."
                )
        for name in METADATA:
            if name in files:
                _check_packing(Path(folder, name), str(Path(folder).relative_to(path)))


def _check_packing(file: Path, array: str) -> None:
    if file.stat().st_size > LONGEST_METADATA:
        raise ValueError(f"the description of {array} is longer than any description")
    about = json.loads(file.read_text(encoding="utf-8"))
    if about.get("node_type") == "group":
        return
    for name in _packing(about):
        if name not in HARMLESS:
            raise FileError(
                f"the array {array} is packed by {name!r}, which is not read: not every way of "
                "packing is safe. Write the folder again with AnnData."
            )


def _packing(about: Any) -> Iterator[str]:
    """Yield the names of all ways in which an array is packed."""
    steps = [about.get("compressor"), *(about.get("filters") or ()), *(about.get("codecs") or ())]
    for step in filter(None, steps):
        yield str(step.get("id", step.get("name"))).removeprefix("numcodecs.")
        inside = step.get("configuration") or {}
        for key in ("codecs", "index_codecs"):
            yield from _packing({"codecs": inside.get(key)})


def _source(path: Path, node: Any) -> Source:
    """Return X where it is, and tell of chunks that are not there."""
    if _anndata.is_dense(node):
        n_missing = node.nchunks - node.nchunks_initialized
        if n_missing:
            warn(
                f"{path}: {n_missing:,} of {node.nchunks:,} chunks of {node.path} are not there "
                "and are read as zeros. AnnData leaves out chunks of nothing but zeros; if there "
                "should be other values, the folder is incomplete.",
                UserWarning,
            )
    return _anndata.source_of(node, path.name, _fingerprint(path / node.path))


def _fingerprint(folder: Path) -> tuple[Any, ...]:
    """Return what changes when a file of a folder does."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    states = {str(file.relative_to(folder)): file.stat() for file in sorted(files)}
    found = hashlib.sha256()
    for name, state in states.items():
        about = name, state.st_size, state.st_mtime_ns, state.st_ctime_ns
        found.update("\0".join(map(str, (*about, ""))).encode())
    return str(folder.resolve()), found.hexdigest()


def _matrix(node: Any) -> Any:
    """Return X, sparse if it is stored so."""
    arrays = [node] if _anndata.is_dense(node) else [*_arrays(node)]
    check_fits(sum(map(_size, arrays)), f"{node.path} of the folder")
    if not _anndata.is_dense(node):
        return _anndata.read_sparse(node)
    return np.asarray(node[...])


def _group(root: Any, name: str) -> list[Any]:
    return [root[name]] if name in root else []


def _check_chunks(path: Path, node: Any) -> None:
    """Refuse chunks that are more than there could be, or that unpack to more than they hold."""
    for array in [node] if _anndata.is_dense(node) else _arrays(node):
        check_chunks(path, array)


def _arrays(group: Any) -> Iterator[Any]:
    """Yield all arrays of a group."""
    for name in group:
        node = group[name]
        if _anndata.is_dense(node):
            yield node
        else:
            yield from _arrays(node)


def _size(array: Any) -> int:
    return math.prod(array.shape) * max(1, array.dtype.itemsize)
