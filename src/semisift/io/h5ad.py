"""AnnData files (h5ad): a matrix of cells and genes, with tables that describe both."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from semisift.io._hdf5 import check_own, check_size, open_hdf5, read_own
from semisift.io._shared import columns_kept, reading, told_apart
from semisift.io._sparse import from_compressed, native
from semisift.io.limits import FileError, import_extra
from semisift.io.options import TableOptions, said
from semisift.io.table import FileTable, from_matrix

# Columns of var that tell genes of the same name apart.
IDS = ("gene_ids", "gene_id", "ensembl_id", "feature_id")


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
        Columns of obs, such as cell types, stand beside the values. Genes whose name stands more
        than once have their id in parentheses, if var holds one.
    """
    fixed = "an AnnData file always has cells in rows and genes in columns"
    guard = reading(path, "AnnData (h5ad)", fixed=fixed, turn=options.transpose)
    with guard, _open(path) as (anndata, h5py, file):
        X = _matrix(path, h5py, _find(file, options.matrix))
        read_elem = getattr(anndata, "io", anndata.experimental).read_elem
        for name in ("obs", "var"):
            _check_sizes(path, file[name])
        obs, var = read_elem(file["obs"]), read_elem(file["var"])
        names = [str(name) for name in var.index]
        key = next((key for key in IDS if key in var.columns), None)
        if key is not None:
            names = told_apart(names, [str(id_) for id_ in var[key]])
        return from_matrix(
            path,
            "h5ad",
            X,
            options,
            names=names,
            row_names=[str(name) for name in obs.index],
            rows={str(name): _series(obs[name]) for name in obs.columns},
        )


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
        with _open(table.path) as (anndata, *_):  # it may be another file by now
            data = anndata.read_h5ad(table.path)
        if (data.n_obs, data.n_vars) != (table.n_rows, len(table.details["names"])):
            raise FileError("the file has changed since it was read: start again.")
        kept = columns_kept(table)
        data[:, kept].copy().write_h5ad(path, compression="gzip")


@contextmanager
def _open(path: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Open a file of which anndata may read any part, and yield anndata, h5py and the file."""
    anndata = import_extra("anndata", "anndata")
    with open_hdf5(path, "anndata") as (h5py, file):
        file.visititems(lambda _, node: check_own(h5py, node))
        yield anndata, h5py, file


def _find(file: Any, layer: str | None) -> Any:
    for part in ("obs", "var"):
        if part not in file:
            raise FileError(f"the file holds no {part!r}. Was it written by AnnData?")
    layers = list(file["layers"]) if "layers" in file else []
    if layer in layers:
        return file["layers"][layer]
    if layer in (None, "X") and "X" in file:
        return file["X"]
    listed = ", ".join(map(repr, layers)) or "none"
    raise FileError(
        f"the file holds no {'matrix X' if layer is None else f'layer {layer!r}'}. Its layers: "
        f"{listed}. Name one of them by {said('matrix')}."
    )


def _matrix(path: Path, h5py: Any, node: Any) -> Any:
    """Return X, sparse if it is stored so."""
    if isinstance(node, h5py.Dataset):
        return np.asarray(read_own(path, h5py, node))
    encoding = str(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    if encoding.removesuffix("_matrix") not in ("csr", "csc"):
        raise FileError(f"the matrix is stored in an unknown form, {encoding!r}.")
    shape = node.attrs["shape"] if "shape" in node.attrs else node.attrs["h5sparse_shape"]
    _check_sizes(path, node)
    data, indices, indptr = (node[name][()] for name in ("data", "indices", "indptr"))
    by_columns = encoding.startswith("csc")
    return from_compressed(data, indices, indptr, shape, by_columns=by_columns)


def _check_sizes(path: Path, node: Any) -> None:
    """Refuse a group whose arrays would not fit into memory, or not into the file."""
    datasets: list[Any] = []
    node.visititems(lambda _, item: datasets.append(item) if hasattr(item, "shape") else None)
    sizes = (math.prod(item.shape or ()) * item.dtype.itemsize for item in datasets)
    check_size(path, sum(sizes), f"its part {node.name}")


def _series(column: Any) -> pl.Series:
    """Return a column of pandas; categories become text, as do all things but numbers."""
    is_number = column.dtype.kind in "biuf"
    if is_number and isinstance(column.dtype, np.dtype):
        return pl.Series(native(column.to_numpy()))
    cells = column.astype(object).where(column.notna(), None).tolist()
    if is_number:
        return pl.Series(cells)
    return pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)
