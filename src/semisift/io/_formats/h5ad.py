"""AnnData files (h5ad): a matrix of cells and genes, with tables that describe both."""

import math
import warnings
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.io._formats import _anndata
from semisift.io._formats._common import columns_kept, reading
from semisift.io._formats._hdf5 import (
    check_own,
    check_packed,
    check_size,
    create_hdf5,
    open_hdf5,
    read_own,
)
from semisift.io._guards import FileError, import_extra
from semisift.io._options import TableOptions
from semisift.io._table import FileTable
from semisift.out_of_core._sources import Source, of_file

PARTS = ("data", "indices", "indptr")


def read(path: Path, options: TableOptions) -> FileTable:
    """Read the matrix of an AnnData file and what it says of the cells.

    Parameters
    ----------
    path : Path
    options : TableOptions
        `matrix` names a layer to be read instead of X.

    Returns
    -------
    FileTable
        As `semisift.io._formats._anndata.make_table` makes it. A matrix that does not fit into
        memory stays in the file, which stays open as long as its rows are needed.
    """
    fixed = "an AnnData file always has cells in rows and genes in columns"
    guard = reading(path, "AnnData (h5ad)", fixed=fixed, turn=options.transpose)
    with guard, ExitStack() as stack:
        anndata, h5py, file = stack.enter_context(_open(path))
        node = _anndata.find_matrix(file, options.matrix)
        for name in ("obs", "var"):
            _check_sizes(path, file[name])
        X = _source(path, node) if _anndata.stays(options, node) else _matrix(path, h5py, node)
        table = _anndata.make_table(path, "h5ad", X, options, anndata=anndata, root=file)
        if isinstance(X, Source):
            weakref.finalize(X, stack.pop_all().close)
        return table


def write(table: FileTable, path: Path) -> None:
    """Write the AnnData file that was read, with fewer genes and otherwise complete.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns. Everything else (layers, embeddings) is
        taken from the file at its path, which must still be there.
    path : Path
    """
    with reading(table.path, "AnnData (h5ad)"), warnings.catch_warnings():
        # names that stand twice are told apart by position here
        warnings.filterwarnings("ignore", message=".* names are not unique", category=UserWarning)
        for old in (FutureWarning, PendingDeprecationWarning):  # on files of old versions
            warnings.simplefilter("ignore", old)
        kept = columns_kept(table)
        with _open(table.path) as (anndata, _, file):  # it may be another file by now
            if table.is_stored:
                _anndata.check_same(table, file)
                _write_by_blocks(anndata, file, kept, path)
                return
            data = anndata.read_h5ad(table.path)
        if (data.n_obs, data.n_vars) != (table.n_rows, len(table.details["names"])):
            raise FileError("the file has changed since it was read: start again.")
        some = data[:, kept].copy()
        with create_hdf5(path, "anndata") as (_, target):
            _anndata.write_whole(anndata, target, some, compression="gzip")


def _write_by_blocks(anndata: Any, file: Any, kept: NDArray[np.intp], path: Path) -> None:
    with create_hdf5(path, "anndata") as (_, target):
        _anndata.write_reduced(
            anndata,
            file,
            target,
            kept,
            copy=lambda name: file.copy(name, target),
            create=lambda group, *about, **storage: group.create_dataset(*about, **storage),
            compression="gzip",
        )


@contextmanager
def _open(path: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Open a file of which anndata may read any part, and yield anndata, h5py and the file."""
    anndata = import_extra("anndata", "anndata")
    with open_hdf5(path, "anndata") as (h5py, file):
        file.visititems(lambda _, node: check_own(h5py, node))
        yield anndata, h5py, file


def _source(path: Path, node: Any) -> Source:
    """Return X where it is, having made sure that the file can hold what it claims."""
    parts = [node] if _anndata.is_dense(node) else [node[name] for name in PARTS]
    for part in parts:
        n_bytes = math.prod(part.shape) * part.dtype.itemsize
        check_packed(path, n_bytes, f"{part.name} of shape {part.shape}")
    return _anndata.source_of(node, path.name, (*of_file(path), node.name))


def _matrix(path: Path, h5py: Any, node: Any) -> Any:
    """Return X, sparse if it is stored so."""
    if isinstance(node, h5py.Dataset):
        return np.asarray(read_own(path, h5py, node))
    _anndata.sparse_form(node)
    _check_sizes(path, node)
    return _anndata.read_sparse(node)


def _check_sizes(path: Path, node: Any) -> None:
    """Refuse a group whose arrays would not fit into memory, or not into the file."""
    datasets: list[Any] = []
    if hasattr(node, "shape"):  # a table of an old version
        datasets.append(node)
    else:
        node.visititems(lambda _, item: datasets.append(item) if hasattr(item, "shape") else None)
    sizes = (math.prod(item.shape or ()) * item.dtype.itemsize for item in datasets)
    check_size(path, sum(sizes), f"its part {node.name}")
