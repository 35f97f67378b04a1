"""HDF5 files of 10x Genomics: a sparse matrix of genes and cells with the names of both.

Cell Ranger writes a group ``matrix`` with a group ``features`` since version 3, and before that a
group for each genome, with ``genes`` and ``gene_names``.
"""

from pathlib import Path
from typing import Any

import numpy as np

from semisift.io._formats._common import reading
from semisift.io._formats._hdf5 import open_hdf5, read_own
from semisift.io._formats._sparse import from_compressed
from semisift.io._formats.npz import write_arrays
from semisift.io._formats.tenx import FIXED, gene_names
from semisift.io._guards import FileError
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, from_matrix, texts
from semisift.utils._text import examples

PARTS = ("data", "indices", "indptr", "shape", "barcodes")

# Where the ids and the symbols of genes stand: since version 3, and before.
GENES = (("features/id", "features/name"), ("genes", "gene_names"))


def read(path: Path, options: TableOptions) -> FileTable:
    """Read an HDF5 file of 10x, with cells in rows.

    Genes are called as those of a folder of 10x; `matrix` names a genome of an old file that has
    several.
    """
    guard = reading(path, "10x (HDF5)", fixed=FIXED, turn=options.transpose)
    with guard, open_hdf5(path, "hdf5") as (h5py, file):
        group, where = _choose(h5py, file, options.matrix)
        parts = [np.asarray(read_own(path, h5py, group[name])) for name in (*PARTS, *where)]
        data, indices, indptr, shape, *named = parts
        barcodes, ids, symbols = map(_texts, named)
        if len(ids) != len(symbols):
            raise FileError(f"{len(ids)} ids for {len(symbols)} names of genes.")
        # by columns, which are cells
        matrix = from_compressed(data, indices, indptr, shape.ravel()[::-1])
        names, notes = gene_names(ids, symbols, options)
        return from_matrix(
            path, "10x-h5", matrix, options, names=names, row_names=barcodes, notes=notes
        )


def write(table: FileTable, path: Path) -> None:
    """Write a NumPy archive with the sparse matrix, names and barcodes."""
    X = table.values.tocsr()
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    arrays |= {"feature_names": table.names, "row_names": table.row_names}
    write_arrays(path, arrays)


def _choose(h5py: Any, file: Any, wanted: str | None) -> tuple[Any, tuple[str, str]]:
    """Return the group that holds the matrix, and where the names of genes stand in it."""
    found = {
        name: genes
        for name in file
        for genes in GENES
        if isinstance(file[name], h5py.Group)
        and all(isinstance(file[name].get(part), h5py.Dataset) for part in (*PARTS, *genes))
    }
    if not found:
        parts = f"no group holds {', '.join(PARTS)} and the names of genes"
        cure = f"If AnnData has written it, pass {format_option('format', 'h5ad')}"
        raise FileError(f"the file has not the layout of 10x: {parts}. {cure}.")
    known = examples(list(found))
    if wanted is not None and wanted not in found:
        raise FileError(f"{format_option('matrix', wanted)}: there is no such genome, but {known}.")
    if wanted is None and len(found) > 1:
        raise FileError(
            f"there are several genomes: {known}. Name one of them by {format_option('matrix')}."
        )
    name = wanted or next(iter(found))
    return file[name], found[name]


def _texts(array: Any) -> list[str]:
    """Return strings, of a fixed length or not."""
    if array.dtype.kind == "O":
        return [cell.decode() if isinstance(cell, bytes) else str(cell) for cell in array.ravel()]
    return texts(array)
