"""AnnData files (h5ad): a matrix of cells and genes, with tables that describe both."""

import warnings
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from semisift.io._formats import _anndata
from semisift.io._formats._common import columns_kept, reading
from semisift.io._formats._hdf5 import check_own, check_size, create_hdf5, n_bytes_of, open_hdf5
from semisift.io._guards import FileError, import_extra
from semisift.io._options import TableOptions
from semisift.io._table import FileTable
from semisift.out_of_core._sources import of_file

FORM = "AnnData (h5ad)"


def read(path: Path, options: TableOptions) -> FileTable:
    """Read an AnnData file, which stays open as long as its rows are needed."""
    guard = reading(path, FORM, fixed=_anndata.FIXED, turn=options.transpose)
    with guard, ExitStack() as stack:
        _, file = stack.enter_context(_open(path))

        def check(node: Any, *, in_memory: bool) -> None:
            if _anndata.is_dense(node):
                arrays, what = [node], f"{node.name} of shape {node.shape}"
            else:  # visited once each, whatever links there are
                arrays, what = [], f"its part {node.name}"
                node.visititems(lambda _, item: arrays.append(item))
                arrays = [each for each in arrays if _anndata.is_dense(each)]
            check_size(path, sum(map(n_bytes_of, arrays)), what, in_memory=in_memory)

        table = _anndata.read_group(
            path, "h5ad", file, options, check, lambda node: (*of_file(path), node.name)
        )
        if table.is_stored:
            source = table.values.source(np.arange(len(table.names)))
            weakref.finalize(source, stack.pop_all().close)
        return table


def write(table: FileTable, path: Path) -> None:
    """Write the AnnData file that was read, with fewer genes and otherwise complete.

    Everything else (layers, embeddings) is taken from the file at the path of the table, which must
    still be there.
    """
    with reading(table.path, FORM), warnings.catch_warnings():
        # names that stand twice are told apart by position here
        warnings.filterwarnings("ignore", message=".* names are not unique", category=UserWarning)
        for old in (FutureWarning, PendingDeprecationWarning):  # on files of old versions
            warnings.simplefilter("ignore", old)
        kept = columns_kept(table)
        with _open(table.path) as (anndata, file):  # it may be another file by now
            if table.is_stored:
                _anndata.check_same(table, file)
                with create_hdf5(path, "anndata") as (_, target):
                    _anndata.write_reduced(
                        file,
                        target,
                        kept,
                        copy=lambda name: file.copy(name, target),
                        create=lambda group, *about, **how: group.create_dataset(*about, **how),
                        compression="gzip",
                    )
                return
            data = anndata.read_h5ad(table.path)
        if (data.n_obs, data.n_vars) != (table.n_rows, len(table.details["names"])):
            raise FileError("the file has changed since it was read: start again.")
        with create_hdf5(path, "anndata") as (_, target):
            _anndata.write_atomically(target, data[:, kept].copy(), compression="gzip")


@contextmanager
def _open(path: Path) -> Iterator[tuple[Any, Any]]:
    """Open a file of which anndata may read any part, and yield anndata and the file."""
    anndata = import_extra("anndata", "anndata")
    with open_hdf5(path, "anndata") as (h5py, file):
        file.visititems(lambda _, node: check_own(h5py, node))
        yield anndata, file
