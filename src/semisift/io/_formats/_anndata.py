"""What AnnData keeps in a group of HDF5 or zarr: a matrix of cells and genes, tables of both."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from semisift.io._formats._common import choose_names, with_ids
from semisift.io._formats._sparse import as_shape, from_compressed, native
from semisift.io._guards import FileError, check_fits, import_extra
from semisift.io._on_disk import MatrixOnDisk, stays_on_disk
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, from_matrix, texts
from semisift.out_of_core._sources import ArraySource, Source, from_group

# Columns of var that tell genes of the same name apart.
IDS = ("gene_ids", "gene_id", "ensembl_id", "feature_id")

# Bytes of rows that are written at once.
WRITTEN_AT_ONCE = 1 << 26

FIXED = "AnnData always has cells in rows and genes in columns"


# --- reading --------------------------------------------------------------------------------------


class CheckSize(Protocol):
    """Refuses a group or array that cannot be, or does not fit into memory if it is to be there."""

    def __call__(self, node: Any, *, in_memory: bool) -> None: ...


def read_group(
    path: Path,
    form: str,
    root: Any,
    options: TableOptions,
    check_size: CheckSize,
    fingerprint: Callable[[Any], tuple[Any, ...]],
) -> FileTable:
    """Return a table of the matrix in a group and of what it says of cells and genes.

    Parameters
    ----------
    path, form
        Of the file.
    root : group of h5py or zarr
    options : TableOptions
        `matrix` names a layer to be read instead of X.
    check_size : callable
    fingerprint : callable
        Return what changes when a matrix does.

    Returns
    -------
    FileTable
        Columns of obs, such as cell types, stand beside the values. Genes whose name stands more
        than once have their id in parentheses, if var holds one and the user names no column. A
        matrix that does not fit into memory stays in the file.
    """
    node = find_matrix(root, options.matrix)
    for name in ("obs", "var"):
        check_size(root[name], in_memory=True)
    n_stored = None if is_dense(node) else int(node["data"].shape[0])
    data = node if is_dense(node) else node["data"]
    X: Any = None
    if stays_on_disk(options, _shape(node), data.dtype, n_stored):
        check_size(node, in_memory=False)
        source = _source(node, path.name, fingerprint(node))
        X = MatrixOnDisk(source, options)  # type: ignore[arg-type]
    else:
        check_size(node, in_memory=True)
        X = np.asarray(node[...]) if is_dense(node) else _read_sparse(node)
    obs, var = (_frame(root, name) for name in ("obs", "var"))
    names = [str(name) for name in var.index]
    notes: tuple[str, ...] = ()
    key = next((key for key in IDS if key in var.columns), None)
    if options.names_from is not None:
        cells = {str(name): _series(var[name]).cast(pl.String) for name in var.columns}
        names, notes = choose_names(cells, names, options.names_from)
    elif key is not None:
        names = with_ids(names, [str(id_) for id_ in var[key]])
    return from_matrix(
        path,
        form,
        X,
        options,
        names=names,
        row_names=[str(name) for name in obs.index],
        rows={str(name): _series(obs[name]) for name in obs.columns},
        notes=notes,
        details={"matrix": options.matrix},
    )


def find_matrix(root: Any, layer: str | None) -> Any:
    """Return the group or array of X, or of a layer, having made sure that all parts are there."""
    for part in ("obs", "var"):
        if part not in root:
            raise FileError(f"the file holds no {part!r}. Was it written by AnnData?")
    layers = list(root["layers"]) if "layers" in root else []
    if layer in layers:
        return root["layers"][layer]
    if layer in (None, "X") and "X" in root:
        return root["X"]
    wanted = "matrix X" if layer is None else f"layer {layer!r}"
    names_shown = ", ".join(map(repr, layers)) or "none"
    cure = f"Name one of them by {format_option('matrix')}"
    raise FileError(f"the file holds no {wanted}. Its layers: {names_shown}. {cure}.")


def is_dense(node: Any) -> bool:
    """Whether a matrix is an array rather than a group with the parts of a sparse one."""
    return hasattr(node, "dtype")


def _sparse_form(node: Any) -> tuple[str, tuple[int, int]]:
    """Return whether a sparse matrix is stored by rows (csr) or columns (csc), and its shape."""
    encoding = str(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    form = encoding.removesuffix("_matrix")
    if form not in ("csr", "csc"):
        raise FileError(f"the matrix is stored in an unknown form, {encoding!r}.")
    named = "shape" if "shape" in node.attrs else "h5sparse_shape"
    return form, as_shape(node.attrs[named])


def _shape(node: Any) -> tuple[int, ...]:
    return tuple(node.shape) if is_dense(node) else _sparse_form(node)[1]


def _source(node: Any, name: str, fingerprint: tuple[Any, ...]) -> Source:
    if is_dense(node):
        return ArraySource(node, name, fingerprint)
    form, shape = _sparse_form(node)
    check_fits(8 * math.prod(node["indptr"].shape), "the index of its rows")  # which is held
    return from_group(node, shape, form, name, fingerprint)


def _read_sparse(node: Any) -> Any:
    form, shape = _sparse_form(node)
    data, indices, indptr = (np.asarray(node[name][...]) for name in ("data", "indices", "indptr"))
    return from_compressed(data, indices, indptr, shape, by_columns=form == "csc")


def _frame(root: Any, name: str) -> Any:
    """Return what is said of cells or genes as a frame of pandas.

    Before version 0.7, AnnData wrote an array of records with codes of categories, whose names are
    in ``uns``.
    """
    node = root[name]
    if not is_dense(node):
        return _io().read_elem(node)
    fields: tuple[str, ...] = node.dtype.names or ()
    if not fields:
        raise FileError(f"its part {name!r} holds no table. Was it written by AnnData?")
    import pandas as pd

    found = np.atleast_1d(node[()])
    index, *columns = fields
    words = {each: texts(found[each]) for each in fields if found[each].dtype.kind in "SU"}
    for each in columns:
        if f"{each}_categories" in root.get("uns", {}):
            known = texts(np.atleast_1d(root["uns"][f"{each}_categories"][()]))
            words[each] = pd.Categorical.from_codes(found[each], known)
    rows = words.get(index, found[index])
    return pd.DataFrame({each: words.get(each, found[each]) for each in columns}, index=rows)


def _series(column: Any) -> pl.Series:
    """Return a column of pandas; categories become text, as does everything but numbers."""
    is_number = column.dtype.kind in "biuf"
    if is_number and isinstance(column.dtype, np.dtype):
        return pl.Series(native(column.to_numpy()))
    cells = column.astype(object).where(column.notna(), None).tolist()
    if is_number:
        return pl.Series(cells)
    return pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)


def _io() -> Any:
    anndata = import_extra("anndata", "anndata")
    return getattr(anndata, "io", anndata.experimental)


# --- writing --------------------------------------------------------------------------------------


def check_same(table: FileTable, root: Any) -> None:
    """Refuse a file whose matrix has changed since it was read."""
    shape = _shape(find_matrix(root, table.details["matrix"]))
    if shape != (table.n_rows, len(table.details["names"])):
        raise FileError("the file has changed since it was read: start again.")


def write_atomically(target: Any, data: Any, **storage: Any) -> None:
    """Write an AnnData object to an empty group, as its own method does to a file."""
    data.strings_to_categoricals()
    if data.raw is not None:
        data.strings_to_categoricals(data.raw.var)
    _io().write_elem(target, "/", data, dataset_kwargs=storage)


def write_reduced(
    root: Any,
    target: Any,
    kept: NDArray[np.integer],
    *,
    copy: Callable[[str], Any],
    create: Callable[..., Any],
    **storage: Any,
) -> None:
    """Write an AnnData group anew with some of its genes; rows go over in blocks.

    Parameters
    ----------
    root, target : groups of h5py or zarr
        What is read, and an empty one.
    kept : int array
        The genes.
    copy : callable
        Copies what does not change, by its name.
    create : callable
        Makes an array: by group, name, shape and type.
    **storage
        How arrays are packed.
    """
    if any(is_dense(root[name]) for name in ("obs", "var")):
        problem = (
            "a version of AnnData before 0.7 wrote the file, which is written from memory alone"
        )
        cure = (
            f"Allow more of it with {format_option('max_memory')}, or write the file anew with "
            "AnnData"
        )
        raise FileError(f"{problem}. {cure}.")

    def write_matrix(node: Any, group: Any, name: str) -> None:
        if not is_dense(node):
            _write_sparse(node, group, name, kept, storage)
            return
        array = create(group, name, (node.shape[0], len(kept)), node.dtype, **storage)
        array.attrs.update(dict(node.attrs))
        for start, stop in _spans(node.shape[0], node.shape[1] * node.dtype.itemsize):
            array[start:stop] = np.asarray(node[start:stop])[:, kept]

    target.attrs.update(dict(root.attrs))
    for name in root:
        node = root[name]
        if name == "X":
            write_matrix(node, target, name)
        elif name == "var":
            _io().write_elem(target, name, _frame(root, name).iloc[kept], dataset_kwargs=storage)
        elif name in ("layers", "varm", "varp"):
            group = target.create_group(name)
            group.attrs.update(dict(node.attrs))
            for each in node:
                if name == "layers":
                    write_matrix(node[each], group, each)
                    continue
                values = _io().read_elem(node[each])
                part = values.iloc[kept] if hasattr(values, "iloc") else values[kept]
                part = part[:, kept] if name == "varp" else part
                _io().write_elem(group, each, part, dataset_kwargs=storage)
        else:
            copy(name)


def _write_sparse(
    node: Any, group: Any, name: str, kept: NDArray[np.integer], storage: Any
) -> None:
    for number, block in enumerate(_sparse_blocks(node, kept)):
        if number:
            _io().sparse_dataset(group[name]).append(block)
            continue
        block.indptr = block.indptr.astype(np.int64)  # the others may need it
        _io().write_elem(group, name, block, dataset_kwargs=storage)


def _sparse_blocks(node: Any, kept: NDArray[np.integer]) -> Iterator[Any]:
    """Yield the genes that are kept, by rows or, if they are stored so, gene by gene."""
    form, shape = _sparse_form(node)
    data, indices = node["data"], node["indices"]
    if form == "csr":
        source = from_group(node, shape, form)
        row = data.shape[0] * (data.dtype.itemsize + 4) / max(1, shape[0])
        for start, stop in _spans(shape[0], row):
            yield csr_matrix(source.read(start, stop)[:, kept])
        return
    indptr = np.asarray(node["indptr"][...])
    for j in kept.tolist():
        own = slice(int(indptr[j]), int(indptr[j + 1]))
        places = np.array([0, own.stop - own.start])
        parts = np.asarray(data[own]), np.asarray(indices[own]), places
        yield csc_matrix(parts, shape=(shape[0], 1))


def _spans(n_rows: int, row_bytes: float) -> Iterator[tuple[int, int]]:
    height = max(1, int(WRITTEN_AT_ONCE / max(1.0, row_bytes)))
    for start in range(0, n_rows, height):
        yield start, min(start + height, n_rows)
