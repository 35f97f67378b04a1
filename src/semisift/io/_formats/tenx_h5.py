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
from semisift.io._formats.tenx import gene_names
from semisift.io._guards import FileError
from semisift.io._options import TableOptions, said
from semisift.io._table import FileTable, from_matrix, texts
from semisift.utils._text import examples

PARTS = ("data", "indices", "indptr", "shape", "barcodes")

# Where the ids and the symbols of genes stand: since version 3, and before.
GENES = (("features/id", "features/name"), ("genes", "gene_names"))


def read(path: Path, options: TableOptions) -> FileTable:
    """Read an HDF5 file of 10x.

    Parameters
    ----------
    path : Path
    options : TableOptions
        `matrix` names a genome of an old file that has several.

    Returns
    -------
    FileTable
        Cells in rows, though the file has them in columns: the form says so. Genes are called as
        those of a folder of 10x.
    """
    fixed = "a file of 10x always has genes in rows and cells in columns"
    with (
        reading(path, "10x (HDF5)", fixed=fixed, turn=options.transpose),
        open_hdf5(path, "hdf5") as (h5py, file),
    ):
        group = _choose(h5py, file, options.matrix)
        parts = [read_own(path, h5py, group[name]) for name in PARTS]
        data, indices, indptr, shape, barcodes = map(np.asarray, parts)
        where = next(pair for pair in GENES if _holds(h5py, group, pair))
        ids, symbols = (_texts(read_own(path, h5py, group[name])) for name in where)
        if len(ids) != len(symbols):
            raise FileError(f"{len(ids)} ids for {len(symbols)} names of genes.")
        # by columns, which are cells
        matrix = from_compressed(data, indices, indptr, shape.ravel()[::-1])
        names, notes = gene_names(ids, symbols, options)
        return from_matrix(
            path,
            "10x-h5",
            matrix,
            options,
            names=names,
            row_names=_texts(barcodes),
            notes=notes,
        )


def write(table: FileTable, path: Path) -> None:
    """Write a NumPy archive with the sparse matrix, names and barcodes.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
    """
    X = table.values.tocsr()
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    arrays |= {"feature_names": table.names, "row_names": table.row_names}
    write_arrays(path, {name: np.asarray(array) for name, array in arrays.items()})


def _choose(h5py: Any, file: Any, wanted: str | None) -> Any:
    """Return the group that holds the matrix."""
    found = [
        name
        for name in file
        if isinstance(file[name], h5py.Group)
        and any(_holds(h5py, file[name], (*PARTS, *genes)) for genes in GENES)
    ]
    if not found:
        raise FileError(
            "the file has not the layout of 10x: no group holds data, indices, indptr, shape, "
            "barcodes and the names of genes. If AnnData has written it, say "
            f"{said('format', 'h5ad')}."
        )
    if wanted is not None and wanted not in found:
        raise FileError(
            f"{said('matrix', wanted)}: there is no such genome, but {examples(found)}."
        )
    if wanted is None and len(found) > 1:
        raise FileError(
            f"there are several genomes: {examples(found)}. Name one of them by {said('matrix')}."
        )
    return file[wanted or found[0]]


def _holds(h5py: Any, group: Any, names: tuple[str, ...]) -> bool:
    return all(isinstance(group.get(name), h5py.Dataset) for name in names)


def _texts(array: Any) -> list[str]:
    """Return strings, of a fixed length or not."""
    if array.dtype.kind == "O":
        return [cell.decode() if isinstance(cell, bytes) else str(cell) for cell in array.ravel()]
    return texts(array)
