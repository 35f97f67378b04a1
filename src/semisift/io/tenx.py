"""A folder of 10x Genomics: a matrix of genes and cells with the names of both."""

from pathlib import Path
from typing import Any

from semisift.exceptions import TableError
from semisift.io._shared import (
    columns_kept,
    create,
    reading,
    refuse_transpose,
    told_apart,
)
from semisift.io.limits import read_bytes
from semisift.io.mtx import read_matrix, write_matrix
from semisift.io.options import TableOptions
from semisift.io.table import FileTable, from_matrix

MATRIX = ("matrix.mtx.gz", "matrix.mtx")
FEATURES = ("features.tsv.gz", "features.tsv", "genes.tsv.gz", "genes.tsv")
BARCODES = ("barcodes.tsv.gz", "barcodes.tsv")


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a folder of 10x.

    Parameters
    ----------
    path : Path
        With a matrix, features (or genes) and barcodes, packed or not.
    options : TableOptions

    Returns
    -------
    FileTable
        Cells in rows, though the files have them in columns: the form says so. Genes are called by
        their symbols; where a symbol stands more than once, with the id in parentheses.
    """
    refuse_transpose(path, options, "a folder of 10x always has genes in rows and cells in columns")
    with reading(path, "10x"):
        files = {"matrix": _find(path, MATRIX), "features": _find(path, FEATURES)}
        files["barcodes"] = _find(path, BARCODES)
        matrix, pattern = read_matrix(files["matrix"])
        features, barcodes = _lines(files["features"]), _lines(files["barcodes"])
        for file, lines, size, what in (
            (files["features"], features, matrix.shape[0], "genes"),
            (files["barcodes"], barcodes, matrix.shape[1], "cells"),
        ):
            if len(lines) != size:
                raise TableError(
                    f"{file}: {len(lines)} {what} for {size} {what} of {files['matrix'].name}. The "
                    "three files must be of the same run."
                )
        names = _names(features)
        details: dict[str, Any] = {
            "features": features,
            "files": {role: file.name for role, file in files.items()},
            "pattern": pattern,
        }
        row_names = [line.partition("\t")[0] for line in barcodes]
        return from_matrix(
            path, "10x", matrix.T, options, names=names, row_names=row_names, details=details
        )


def write(table: FileTable, path: Path) -> None:
    """Write a folder with the same three files.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
        The new folder.
    """
    path.mkdir()
    details, files = table.details, table.details["files"]
    write_matrix(path / files["matrix"], table.values.T, pattern=details["pattern"])
    kept = [details["features"][j] for j in columns_kept(table)]
    for role, lines in (("features", kept), ("barcodes", table.row_names or [])):
        with create(path / files[role]) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())


def _find(folder: Path, candidates: tuple[str, ...]) -> Path:
    for name in candidates:
        if (folder / name).is_file():
            return folder / name
    raise TableError(
        f"{folder}: the folder has no {' or '.join(candidates)}. A folder of 10x has matrix.mtx, "
        "features.tsv (or genes.tsv) and barcodes.tsv, each of them perhaps packed (.gz)."
    )


def _lines(file: Path) -> list[str]:
    text = read_bytes(file)
    try:
        lines = text.decode().splitlines()
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{file}: line {line} is not text in UTF-8. The file is damaged: make it again."
        ) from error
    empty = next((i for i, line in enumerate(lines, start=1) if not line.strip()), None)
    if empty is not None:
        raise TableError(f"{file}: line {empty} is empty, where a name must stand.")
    return lines


def _names(features: list[str]) -> list[str]:
    """Return the symbols of the genes, told apart; the first column holds their ids."""
    cells = [line.split("\t") for line in features]
    ids = [cell[0] for cell in cells]
    return told_apart([cell[1] if len(cell) > 1 else cell[0] for cell in cells], ids)
